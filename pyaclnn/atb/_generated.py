# Generated from the headers below include/ by .ci/gen. Do not edit.
"""Parameters and enumerations of include/atb."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Sequence

from .param import Param


class ErrorType(enum.IntEnum):
    """What a Status says. Every failure leaves a text for aclGetRecentErrMsg()."""

    NO_ERROR = 0
    ERROR_INVALID_PARAM = 1
    ERROR_INVALID_GRAPH = 2
    ERROR_INTERNAL_ERROR = 3
    ERROR_RT_FAIL = 4
    ERROR_INVALID_IN_TENSOR_NUM = 5
    ERROR_INVALID_TENSOR_DTYPE = 6
    ERROR_INVALID_TENSOR_FORMAT = 7
    ERROR_INVALID_TENSOR_DIM = 8
    ERROR_INVALID_TENSOR_SIZE = 9
    ERROR_OPERATION_NULL_RUNNER = 10
    ERROR_GRAPH_INFERSHAPE_FUNC_FAIL = 11
    ERROR_CANN_ERROR = 12
    ERROR_INVALID_TENSOR_INI_MATCH = 13
    ERROR_INVALID_TENSOR_ADDR = 14
    ERROR_INVALID_TENSOR_NUM = 15
    ERROR_INVALID_TENSOR_DIM_NUM = 16
    ERROR_INVALID_SINGLE_OPERATION_PARAM = 17
    ERROR_GRAPH_NODE_RESHAPE_FUNC_FAIL = 18
    ERROR_INVALID_GRAPH_NODE_CHUNK = 19
    ERROR_INVALID_CONTEXT_ADDR = 20
    ERROR_INVALID_STREAM = 21
    ERROR_INVALID_WORKSPACE_SIZE = 22
    ERROR_INVALID_WORKSPACE_ADDR = 23
    ERROR_INVALID_OPERATION_ADDR = 24
    ERROR_HCCL_FAIL = 25
    ERROR_OUT_OF_DEVICE_MEMORY = 26
    ERROR_OUT_OF_HOST_MEMORY = 27
    ERROR_COMM_EMPTY = 28
    ERROR_COPY_HOST_MEMORY_FAIL = 29


class ExecuteType(enum.IntEnum):
    """Which part of its work Operation::Execute() does. Kept per thread."""

    EXECUTE_NORMAL = 0  # all of it
    EXECUTE_PRELAUNCH = 1  # checks and preparation
    EXECUTE_LAUNCH = 2  # hands over what was prepared


class LaunchMode(enum.IntEnum):
    """How operations are handed to the device."""

    KERNEL_LAUNCH_MODE = 0
    GRAPH_LAUNCH_MODE = 1  # the first execution fixes the shapes of an operation


class InputLayout(enum.IntEnum):
    """The order of the axes of query, key and value."""

    TYPE_BSND = 0  # batch, sequence, head, head size
    TYPE_BNSD = 1  # batch, head, sequence, head size


@dataclasses.dataclass(kw_only=True, repr=False)
class SelfAttentionParam(Param):
    """Attention with a cache of its own, over packed batches, or over a paged prefix.

    The fields, their types in the header and their defaults:

    quantType             QuantType = TYPE_QUANT_UNQUANT
    outDataType           aclDataType = ACL_DT_UNDEFINED; ACL_FLOAT16 or ACL_BF16 with quantType 2 and 3
    headNum               int32_t = 0
    kvHeadNum             int32_t = 0; 0: headNum
    qScale                float = 1; of the query; UNDEFINED, ENCODER and DECODER only
    qkScale               float = 1; of the scores
    batchRunStatusEnable  bool = false
    isTriuMask            uint32_t = 0; 1: key blocks right of the diagonal are left out
    calcType              CalcType = UNDEFINED
    kernelType            KernelType = KERNELTYPE_DEFAULT
    clampType             ClampType = CLAMP_TYPE_UNDEFINED
    clampMin              float = 0
    clampMax              float = 0
    maskType              MaskType = MASK_TYPE_UNDEFINED
    kvcacheCfg            KvCacheCfg = K_CACHE_V_CACHE
    scaleType             ScaleType = SCALE_TYPE_TOR
    inputLayout           InputLayout = TYPE_BSND
    mlaVHeadSize          uint32_t = 0; above 0: values are the first columns of the keys
    cacheType             CacheType = CACHE_TYPE_NORM
    windowSize            uint32_t = 0
    rsv                   uint8_t[64] = all 0
    """

    class CalcType(enum.IntEnum):
        """What kind of call it is: which tensors there are, and where keys come from."""

        UNDEFINED = 0
        ENCODER = 1
        DECODER = 2  # one query row a batch
        PA_ENCODER = 3  # packed batches, no cache
        PREFIX_ENCODER = 4  # queries behind a paged prefix

    class KernelType(enum.IntEnum):
        """Precision of the inner steps."""

        KERNELTYPE_DEFAULT = 0
        KERNELTYPE_HIGH_PRECISION = 1
        KERNELTYPE_EXP_M8V2 = 2

    class ClampType(enum.IntEnum):
        CLAMP_TYPE_UNDEFINED = 0
        CLAMP_TYPE_MIN_MAX = 1

    class MaskType(enum.IntEnum):
        MASK_TYPE_UNDEFINED = 0
        MASK_TYPE_NORM = 1
        MASK_TYPE_ALIBI = 2
        MASK_TYPE_NORM_COMPRESS = 3
        MASK_TYPE_ALIBI_COMPRESS = 4
        MASK_TYPE_ALIBI_COMPRESS_SQRT = 5
        MASK_TYPE_ALIBI_COMPRESS_LEFT_ALIGN = 6
        MASK_TYPE_SLIDING_WINDOW_NORM = 7
        MASK_TYPE_SLIDING_WINDOW_COMPRESS = 8
        MASK_TYPE_CAUSAL_MASK = 9

    class KvCacheCfg(enum.IntEnum):
        K_CACHE_V_CACHE = 0  # new keys and values are written into the caches
        K_BYPASS_V_BYPASS = 1  # the caches hold them already

    class ScaleType(enum.IntEnum):
        SCALE_TYPE_TOR = 0
        SCALE_TYPE_LOGN = 1
        SCALE_TYPE_MAX = 2

    class QuantType(enum.IntEnum):
        TYPE_QUANT_UNDEFINED = 0
        TYPE_QUANT_UNQUANT = 0
        TYPE_DEQUANT_FUSION = 1
        TYPE_QUANT_QKV_OFFLINE = 2
        TYPE_QUANT_QKV_ONLINE = 3

    class CacheType(enum.IntEnum):
        CACHE_TYPE_NORM = 0
        CACHE_TYPE_SWA = 1  # a ring of windowSize rows

    quantType: QuantType | int = QuantType.TYPE_QUANT_UNQUANT
    outDataType: int | str = -1
    headNum: int = 0
    kvHeadNum: int = 0
    qScale: float = 1.0
    qkScale: float = 1.0
    batchRunStatusEnable: bool = False
    isTriuMask: int = 0
    calcType: CalcType | int = CalcType.UNDEFINED
    kernelType: KernelType | int = KernelType.KERNELTYPE_DEFAULT
    clampType: ClampType | int = ClampType.CLAMP_TYPE_UNDEFINED
    clampMin: float = 0.0
    clampMax: float = 0.0
    maskType: MaskType | int = MaskType.MASK_TYPE_UNDEFINED
    kvcacheCfg: KvCacheCfg | int = KvCacheCfg.K_CACHE_V_CACHE
    scaleType: ScaleType | int = ScaleType.SCALE_TYPE_TOR
    inputLayout: InputLayout | int = InputLayout.TYPE_BSND
    mlaVHeadSize: int = 0
    cacheType: CacheType | int = CacheType.CACHE_TYPE_NORM
    windowSize: int = 0
    rsv: bytes = bytes(64)


@dataclasses.dataclass(kw_only=True, repr=False)
class PagedAttentionParam(Param):
    """Attention of single tokens, or a few, over a paged cache.

    The fields, their types in the header and their defaults:

    headNum               int32_t = 0
    qkScale               float = 1
    kvHeadNum             int32_t = 0; 0: headNum
    maskType              MaskType = UNDEFINED
    batchRunStatusEnable  bool = false
    quantType             QuantType = TYPE_QUANT_UNQUANT
    outDataType           aclDataType = ACL_DT_UNDEFINED; ACL_FLOAT16 or ACL_BF16 with quantType 2 and 3
    hasQuantOffset        bool = false
    compressType          CompressType = COMPRESS_TYPE_UNDEFINED
    calcType              CalcType = CALC_TYPE_UNDEFINED
    scaleType             ScaleType = SCALE_TYPE_TOR
    inputLayout           InputLayout = TYPE_BSND
    mlaVHeadSize          uint32_t = 0; above 0: values are the first columns of the keys
    qScale                float = 0; of the query; 0 and 1: none
    rsv                   uint8_t[64] = all 0
    """

    class MaskType(enum.IntEnum):
        UNDEFINED = 0
        MASK_TYPE_NORM = 1
        MASK_TYPE_ALIBI = 2
        MASK_TYPE_SPEC = 3
        MASK_TYPE_MASK_FREE = 4
        MASK_TYPE_NORM_COMPRESS = 5

    class QuantType(enum.IntEnum):
        TYPE_QUANT_UNDEFINED = 0
        TYPE_QUANT_UNQUANT = 0
        TYPE_DEQUANT_FUSION = 1
        TYPE_QUANT_QKV_OFFLINE = 2
        TYPE_QUANT_QKV_ONLINE = 3

    class CompressType(enum.IntEnum):
        COMPRESS_TYPE_UNDEFINED = 0
        COMPRESS_TYPE_KVHEAD = 1
        COMPRESS_TYPE_KVHEAD_ROPE = 2
        COMPRESS_TYPE_MAX = 3

    class CalcType(enum.IntEnum):
        CALC_TYPE_UNDEFINED = 0
        CALC_TYPE_SPEC = 1

    class ScaleType(enum.IntEnum):
        SCALE_TYPE_TOR = 0
        SCALE_TYPE_LOGN = 1
        SCALE_TYPE_MAX = 2

    headNum: int = 0
    qkScale: float = 1.0
    kvHeadNum: int = 0
    maskType: MaskType | int = MaskType.UNDEFINED
    batchRunStatusEnable: bool = False
    quantType: QuantType | int = QuantType.TYPE_QUANT_UNQUANT
    outDataType: int | str = -1
    hasQuantOffset: bool = False
    compressType: CompressType | int = CompressType.COMPRESS_TYPE_UNDEFINED
    calcType: CalcType | int = CalcType.CALC_TYPE_UNDEFINED
    scaleType: ScaleType | int = ScaleType.SCALE_TYPE_TOR
    inputLayout: InputLayout | int = InputLayout.TYPE_BSND
    mlaVHeadSize: int = 0
    qScale: float = 0.0
    rsv: bytes = bytes(64)


@dataclasses.dataclass(kw_only=True, repr=False)
class ReshapeAndCacheParam(Param):
    """Writes keys and values of new tokens into paged caches.

    The fields, their types in the header and their defaults:

    compressType          CompressType = COMPRESS_TYPE_UNDEFINED
    kvCacheCfg            KvCacheCfg = K_CACHE_V_CACHE
    rsv                   uint8_t[16] = all 0
    """

    class CompressType(enum.IntEnum):
        COMPRESS_TYPE_UNDEFINED = 0
        COMPRESS_TYPE_KVHEAD = 1  # the last tokens of each batch and head
        COMPRESS_TYPE_KVHEAD_ROPE = 2  # all of them, a stretch replaced by its mean

    class KvCacheCfg(enum.IntEnum):
        K_CACHE_V_CACHE = 0
        K_CACHE_V_BYPASS = 1  # keys only
        K_CACHE_V_CACHE_NZ = 2

    compressType: CompressType | int = CompressType.COMPRESS_TYPE_UNDEFINED
    kvCacheCfg: KvCacheCfg | int = KvCacheCfg.K_CACHE_V_CACHE
    rsv: bytes = bytes(16)


@dataclasses.dataclass(kw_only=True, repr=False)
class ElewiseParam(Param):
    """A function of each element of one tensor, or of two.

    The fields, their types in the header and their defaults:

    elewiseType           ElewiseType = ELEWISE_UNDEFINED
    quantParam            QuantParam
    mulsParam             MulsParam
    outTensorType         aclDataType = ACL_DT_UNDEFINED; of ELEWISE_CAST
    rsv                   uint8_t[8] = all 0
    """

    class ElewiseType(enum.IntEnum):
        ELEWISE_UNDEFINED = 0
        ELEWISE_CAST = 1
        ELEWISE_MULS = 2
        ELEWISE_COS = 3
        ELEWISE_SIN = 4
        ELEWISE_NEG = 5
        ELEWISE_QUANT = 6
        ELEWISE_LOGICAL_NOT = 7
        ELEWISE_ADD = 8
        ELEWISE_MUL = 9
        ELEWISE_REALDIV = 10
        ELEWISE_LOGICAL_AND = 11
        ELEWISE_LOGICAL_OR = 12
        ELEWISE_LESS = 13
        ELEWISE_GREATER = 14
        ELEWISE_SUB = 15
        ELEWISE_EQUAL = 16
        ELEWISE_QUANT_PER_CHANNEL = 17
        ELEWISE_DEQUANT_PER_CHANNEL = 18
        ELEWISE_DYNAMIC_QUANT = 19
        ELEWISE_TANH = 20
        ELEWISE_TYPE_MAX = 21

    @dataclasses.dataclass(kw_only=True, repr=False)
    class QuantParam(Param):
        """The fields, their types in the header and their defaults:

        inputScale            float = 1
        asymmetric            bool = false
        inputOffset           int = 0
        rsv                   uint8_t[20] = all 0
        """

        inputScale: float = 1.0
        asymmetric: bool = False
        inputOffset: int = 0
        rsv: bytes = bytes(20)

    @dataclasses.dataclass(kw_only=True, repr=False)
    class MulsParam(Param):
        """The fields, their types in the header and their defaults:

        varAttr               float = 0; the factor of ELEWISE_MULS
        rsv                   uint8_t[12] = all 0
        """

        varAttr: float = 0.0
        rsv: bytes = bytes(12)

    elewiseType: ElewiseType | int = ElewiseType.ELEWISE_UNDEFINED
    quantParam: QuantParam = dataclasses.field(default_factory=QuantParam)
    mulsParam: MulsParam = dataclasses.field(default_factory=MulsParam)
    outTensorType: int | str = -1
    rsv: bytes = bytes(8)


@dataclasses.dataclass(kw_only=True, repr=False)
class TransdataParam(Param):
    """Changes between ND and the fractal format NZ.

    The fields, their types in the header and their defaults:

    transdataType         TransdataType = UNDEFINED
    outCrops              SVector<int64_t> = {0, 0}; NZ to ND: the last two dimensions of the output
    rsv                   uint8_t[8] = all 0
    """

    class TransdataType(enum.IntEnum):
        UNDEFINED = 0
        FRACTAL_NZ_TO_ND = 1
        ND_TO_FRACTAL_NZ = 2

    transdataType: TransdataType | int = TransdataType.UNDEFINED
    outCrops: Sequence[int] = (0, 0)
    rsv: bytes = bytes(8)


PARAMS = (SelfAttentionParam, PagedAttentionParam, ReshapeAndCacheParam, ElewiseParam, TransdataParam)
