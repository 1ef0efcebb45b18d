/**
 * Parameters of the operations, one structure each. The layout is that of ATB from CANN 8.0 on and
 * part of the binary interface. Reserved bytes (rsv) must be 0.
 */
#ifndef ATB_INFER_OP_PARAMS_H_
#define ATB_INFER_OP_PARAMS_H_

#include <acl/acl.h>
#include <hccl/hccl_types.h>

#include <cstdint>

#include "atb/svector.h"

namespace atb {
namespace infer {

/** The order of the axes of query, key and value. */
enum InputLayout : int {
  TYPE_BSND = 0, /**< batch, sequence, head, head size */
  TYPE_BNSD = 1  /**< batch, head, sequence, head size */
};

/** Attention with a cache of its own, over packed batches, or over a paged prefix. */
struct SelfAttentionParam {
  /** What kind of call it is: which tensors there are, and where keys come from. */
  enum CalcType : int {
    UNDEFINED = 0,
    ENCODER = 1,
    DECODER = 2,       /**< one query row a batch */
    PA_ENCODER = 3,    /**< packed batches, no cache */
    PREFIX_ENCODER = 4 /**< queries behind a paged prefix */
  };
  /** Precision of the inner steps. */
  enum KernelType : int {
    KERNELTYPE_DEFAULT = 0,
    KERNELTYPE_HIGH_PRECISION = 1,
    KERNELTYPE_EXP_M8V2 = 2
  };
  enum ClampType : int { CLAMP_TYPE_UNDEFINED = 0, CLAMP_TYPE_MIN_MAX = 1 };
  enum MaskType : int {
    MASK_TYPE_UNDEFINED = 0,
    MASK_TYPE_NORM = 1,
    MASK_TYPE_ALIBI = 2,
    MASK_TYPE_NORM_COMPRESS = 3,
    MASK_TYPE_ALIBI_COMPRESS = 4,
    MASK_TYPE_ALIBI_COMPRESS_SQRT = 5,
    MASK_TYPE_ALIBI_COMPRESS_LEFT_ALIGN = 6,
    MASK_TYPE_SLIDING_WINDOW_NORM = 7,
    MASK_TYPE_SLIDING_WINDOW_COMPRESS = 8,
    MASK_TYPE_CAUSAL_MASK = 9
  };
  enum KvCacheCfg : int {
    K_CACHE_V_CACHE = 0,  /**< new keys and values are written into the caches */
    K_BYPASS_V_BYPASS = 1 /**< the caches hold them already */
  };
  enum ScaleType : int { SCALE_TYPE_TOR = 0, SCALE_TYPE_LOGN = 1, SCALE_TYPE_MAX = 2 };
  enum QuantType : int {
    TYPE_QUANT_UNDEFINED = 0,
    TYPE_QUANT_UNQUANT = 0,
    TYPE_DEQUANT_FUSION = 1,
    TYPE_QUANT_QKV_OFFLINE = 2,
    TYPE_QUANT_QKV_ONLINE = 3
  };
  enum CacheType : int8_t {
    CACHE_TYPE_NORM = 0,
    CACHE_TYPE_SWA = 1 /**< a ring of windowSize rows */
  };

  QuantType quantType = TYPE_QUANT_UNQUANT;
  aclDataType outDataType = ACL_DT_UNDEFINED; /**< ACL_FLOAT16 or ACL_BF16 with quantType 2 and 3 */
  int32_t headNum = 0;
  int32_t kvHeadNum = 0; /**< 0: headNum */
  float qScale = 1;      /**< of the query; UNDEFINED, ENCODER and DECODER only */
  float qkScale = 1;     /**< of the scores */
  bool batchRunStatusEnable = false;
  uint32_t isTriuMask = 0; /**< 1: key blocks right of the diagonal are left out */
  CalcType calcType = UNDEFINED;
  KernelType kernelType = KERNELTYPE_DEFAULT;
  ClampType clampType = CLAMP_TYPE_UNDEFINED;
  float clampMin = 0;
  float clampMax = 0;
  MaskType maskType = MASK_TYPE_UNDEFINED;
  KvCacheCfg kvcacheCfg = K_CACHE_V_CACHE;
  ScaleType scaleType = SCALE_TYPE_TOR;
  InputLayout inputLayout = TYPE_BSND;
  uint32_t mlaVHeadSize = 0; /**< above 0: values are the first columns of the keys */
  CacheType cacheType = CACHE_TYPE_NORM;
  uint32_t windowSize = 0;
  uint8_t rsv[64] = {0};
};

/** Attention of single tokens, or a few, over a paged cache. */
struct PagedAttentionParam {
  enum MaskType : int {
    UNDEFINED = 0,
    MASK_TYPE_NORM = 1,
    MASK_TYPE_ALIBI = 2,
    MASK_TYPE_SPEC = 3,
    MASK_TYPE_MASK_FREE = 4,
    MASK_TYPE_NORM_COMPRESS = 5
  };
  enum QuantType : int {
    TYPE_QUANT_UNDEFINED = 0,
    TYPE_QUANT_UNQUANT = 0,
    TYPE_DEQUANT_FUSION = 1,
    TYPE_QUANT_QKV_OFFLINE = 2,
    TYPE_QUANT_QKV_ONLINE = 3
  };
  enum CompressType : int {
    COMPRESS_TYPE_UNDEFINED = 0,
    COMPRESS_TYPE_KVHEAD = 1,
    COMPRESS_TYPE_KVHEAD_ROPE = 2,
    COMPRESS_TYPE_MAX = 3
  };
  enum CalcType : int { CALC_TYPE_UNDEFINED = 0, CALC_TYPE_SPEC = 1 };
  enum ScaleType : int { SCALE_TYPE_TOR = 0, SCALE_TYPE_LOGN = 1, SCALE_TYPE_MAX = 2 };

  int32_t headNum = 0;
  float qkScale = 1;
  int32_t kvHeadNum = 0; /**< 0: headNum */
  MaskType maskType = UNDEFINED;
  bool batchRunStatusEnable = false;
  QuantType quantType = TYPE_QUANT_UNQUANT;
  aclDataType outDataType = ACL_DT_UNDEFINED; /**< ACL_FLOAT16 or ACL_BF16 with quantType 2 and 3 */
  bool hasQuantOffset = false;
  CompressType compressType = COMPRESS_TYPE_UNDEFINED;
  CalcType calcType = CALC_TYPE_UNDEFINED;
  ScaleType scaleType = SCALE_TYPE_TOR;
  InputLayout inputLayout = TYPE_BSND;
  uint32_t mlaVHeadSize = 0; /**< above 0: values are the first columns of the keys */
  float qScale = 0;          /**< of the query; 0 and 1: none */
  uint8_t rsv[64] = {0};
};

/** Writes keys and values of new tokens into paged caches. */
struct ReshapeAndCacheParam {
  enum CompressType : int {
    COMPRESS_TYPE_UNDEFINED = 0,
    COMPRESS_TYPE_KVHEAD = 1,     /**< the last tokens of each batch and head */
    COMPRESS_TYPE_KVHEAD_ROPE = 2 /**< all of them, a stretch replaced by its mean */
  };
  enum KvCacheCfg : int {
    K_CACHE_V_CACHE = 0,
    K_CACHE_V_BYPASS = 1, /**< keys only */
    K_CACHE_V_CACHE_NZ = 2
  };
  CompressType compressType = COMPRESS_TYPE_UNDEFINED;
  KvCacheCfg kvCacheCfg = K_CACHE_V_CACHE;
  uint8_t rsv[16] = {0};
};

/** A function of each element of one tensor, or of two. */
struct ElewiseParam {
  enum ElewiseType : int {
    ELEWISE_UNDEFINED = 0,
    ELEWISE_CAST = 1,
    ELEWISE_MULS = 2,
    ELEWISE_COS = 3,
    ELEWISE_SIN = 4,
    ELEWISE_NEG = 5,
    ELEWISE_QUANT = 6,
    ELEWISE_LOGICAL_NOT = 7,
    ELEWISE_ADD = 8,
    ELEWISE_MUL = 9,
    ELEWISE_REALDIV = 10,
    ELEWISE_LOGICAL_AND = 11,
    ELEWISE_LOGICAL_OR = 12,
    ELEWISE_LESS = 13,
    ELEWISE_GREATER = 14,
    ELEWISE_SUB = 15,
    ELEWISE_EQUAL = 16,
    ELEWISE_QUANT_PER_CHANNEL = 17,
    ELEWISE_DEQUANT_PER_CHANNEL = 18,
    ELEWISE_DYNAMIC_QUANT = 19,
    ELEWISE_TANH = 20,
    ELEWISE_TYPE_MAX = 21
  };
  struct QuantParam {
    float inputScale = 1;
    bool asymmetric = false;
    int inputOffset = 0;
    uint8_t rsv[20] = {0};
  };
  struct MulsParam {
    float varAttr = 0; /**< the factor of ELEWISE_MULS */
    uint8_t rsv[12] = {0};
  };

  ElewiseType elewiseType = ELEWISE_UNDEFINED;
  QuantParam quantParam;
  MulsParam mulsParam;
  aclDataType outTensorType = ACL_DT_UNDEFINED; /**< of ELEWISE_CAST */
  uint8_t rsv[8] = {0};
};

/** Changes between ND and the fractal format NZ. */
struct TransdataParam {
  enum TransdataType : int { UNDEFINED = 0, FRACTAL_NZ_TO_ND = 1, ND_TO_FRACTAL_NZ = 2 };
  TransdataType transdataType = UNDEFINED;
  SVector<int64_t> outCrops = {0, 0}; /**< NZ to ND: the last two dimensions of the output */
  uint8_t rsv[8] = {0};
};

/*
 * The structures below are declared for programs that are linked with their operations;
 * CreateOperation() answers ERROR_INVALID_PARAM for them.
 */

struct RopeParam {
  int32_t rotaryCoeff = 4;
  int32_t cosFormat = 0;
  uint8_t rsv[8] = {0};
};

struct LinearParam {
  enum MatmulType : uint8_t { MATMUL_UNDEFINED = 0 };
  enum QuantMode : uint8_t { QUANT_UNDEFINED = 0 };
  bool transposeA = false;
  bool transposeB = true;
  bool hasBias = true;
  aclDataType outDataType = ACL_DT_UNDEFINED;
  bool enAccum = false;
  MatmulType matmulType = MATMUL_UNDEFINED;
  QuantMode quantMode = QUANT_UNDEFINED;
  uint8_t rsv[21] = {0};
};

struct RmsNormParam {
  enum RmsNormType : int {
    RMS_NORM_UNDEFINED = 0,
    RMS_NORM_NORM = 1,
    RMS_NORM_PRENORM = 2,
    RMS_NORM_POSTNORM = 3
  };
  struct NormParam {
    alignas(8) uint8_t rsv[64] = {0};
  };
  struct PreNormParam {
    alignas(8) uint8_t rsv[32] = {0};
  };
  struct PostNormParam {
    alignas(8) uint8_t rsv[32] = {0};
  };
  RmsNormType layerType = RMS_NORM_UNDEFINED;
  NormParam normParam;
  PreNormParam preNormParam;
  PostNormParam postNormParam;
  uint8_t rsv[8] = {0};
};

struct GroupTopkParam {
  enum GroupMultiFlag : uint16_t { UNDEFINED = 0 };
  int32_t groupNum = 1;
  int32_t k = 0;
  GroupMultiFlag groupMultiFlag = UNDEFINED;
  uint16_t n = 1;
  uint8_t rsv[12] = {0};
};

}  // namespace infer
}  // namespace atb

#endif  // ATB_INFER_OP_PARAMS_H_
