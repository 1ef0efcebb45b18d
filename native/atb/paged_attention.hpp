// PagedAttentionOperation: what its rules and its lowering know of a call.
#pragma once

#include <memory>
#include <span>

#include "atb/operation.hpp"

namespace pyaclnn::atb {

// Members are capabilities, false where a product lacks them.
struct PagedAttentionLimits : Row {
  bool fractal = false;  // NZ caches and masks, lengths of the keys in device memory
  bool run_status = false, compress = false, mla = false, quant = false;
  bool speculative = false, log_n = false, bnsd = false;
  bool causal_masks = false;      // MASK_FREE and NORM_COMPRESS
  uint32_t masks = 0;             // bits of the mask types that are offered ...
  uint32_t spec_masks = 0;        // ... and of those of CALC_TYPE_SPEC
  int64_t batch_max = INT64_MAX;  // as documented
};

struct PagedAttentionCall : OperationCall<infer::PagedAttentionParam, PagedAttentionLimits> {
  using OperationCall::OperationCall;

  // Inputs in the order of the VariantPack; a parameter leaves out what it does not ask for.
  enum InputSlot : size_t {
    kQuery,
    kKeyCache,
    kValueCache,  // absent with mlaVHeadSize
    kBlockTables,
    kContextLens,  // host; device where caches are NZ
    kMask,
    kBatchRunStatus,  // host, and without effect
    kKDescale,
    kKOffset,
    kVDescale,
    kVOffset,
    kQSeqLen,  // host
    kRazorOffset,
    kPScale,
    kLogN,
    kInputSlots
  };
  enum OutputSlot : size_t { kOutput };

  // ---- of the parameter

  bool run_status() const { return param.batchRunStatusEnable; }
  bool spec() const { return param.calcType == Param::CALC_TYPE_SPEC; }
  bool mla() const { return param.mlaVHeadSize > 0; }
  bool log_n() const { return param.scaleType == Param::SCALE_TYPE_LOGN; }
  bool bnsd() const { return param.inputLayout == infer::TYPE_BNSD; }
  bool compressed() const { return param.compressType != Param::COMPRESS_TYPE_UNDEFINED; }
  bool rope() const { return param.compressType == Param::COMPRESS_TYPE_KVHEAD_ROPE; }
  // Keys and values are stored as int8.
  bool dequant() const { return param.quantType == Param::TYPE_DEQUANT_FUSION; }
  bool offsets() const { return dequant() && param.hasQuantOffset; }
  // Query, keys and values are int8, and so are the weights.
  bool offline() const { return param.quantType == Param::TYPE_QUANT_QKV_OFFLINE; }
  bool online() const { return param.quantType == Param::TYPE_QUANT_QKV_ONLINE; }
  bool int8() const { return offline() || online(); }
  bool masked(Param::MaskType type) const { return param.maskType == type; }
  bool has_mask() const { return param.maskType != Param::UNDEFINED; }
  // Masks that stand for a causal one, whatever they hold.
  bool causal() const {
    return masked(Param::MASK_TYPE_MASK_FREE) || masked(Param::MASK_TYPE_NORM_COMPRESS);
  }
  bool query_scaled() const { return param.qScale != 0 && param.qScale != 1; }

  int64_t heads() const { return param.headNum; }
  int64_t kv_heads() const { return param.kvHeadNum > 0 ? param.kvHeadNum : param.headNum; }
  // That a row of a cache holds; those of a compressed one have rows of their own.
  int64_t cache_heads() const { return compressed() ? 1 : kv_heads(); }

  // ---- of the descriptions; what is not there is -1

  int64_t tokens() const { return dim(kQuery, 0); }
  int64_t head_size() const { return dim(kQuery, 2); }
  int64_t value_head_size() const {
    if (mla()) return param.mlaVHeadSize;
    return limits.fractal ? head_size() : dim(kValueCache, 3);
  }
  // The axes of an ND cache.
  size_t head_axis() const { return bnsd() ? 1 : 2; }
  size_t block_axis() const { return limits.fractal || bnsd() ? 2 : 1; }
  int64_t block_size() const { return dim(kKeyCache, block_axis()); }
  // Rows of the block table.
  int64_t entries() const { return dim(kContextLens, 0); }
  // A mask is planes of rows and columns, whatever its format and rank.
  bool mask_fractal() const { return has(kMask) && desc(kMask)->format == ACL_FORMAT_FRACTAL_NZ; }
  int64_t mask_rows() const { return dim_from_end(desc(kMask), 2); }
  int64_t mask_columns() const {
    const int64_t last = dim_from_end(desc(kMask), 1);
    return mask_fractal() ? dim_from_end(desc(kMask), 3) * last : last;
  }
  int64_t mask_planes() const;

  // The last dimension is number 1.
  static int64_t dim_from_end(const TensorDesc *desc, int64_t number) {
    const int64_t axis = rank_of(desc) - number;
    return axis >= 0 ? desc->shape.dims[axis] : kUnknown;
  }

  // ---- of the data on the host; empty when it is not there

  std::span<const int32_t> contexts() const { return integers(kContextLens); }
  std::span<const int32_t> queries() const { return integers(kQSeqLen); }
  // Whether the lengths of the keys are found only when the task runs.
  bool late_contexts() const {
    return contexts().empty() || (limits.fractal && tensor(kContextLens)->deviceData != nullptr);
  }

 private:
  std::span<const int32_t> integers(size_t slot) const {
    const TensorDesc *d = desc(slot);
    return d != nullptr && d->dtype == ACL_INT32 ? host<int32_t>(slot) : std::span<const int32_t>();
  }
};

// paged_attention_lowering.cpp
std::unique_ptr<Plan> lower(const PagedAttentionCall &call);

}  // namespace pyaclnn::atb
