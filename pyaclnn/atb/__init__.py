"""ATB's operations on arrays, in the shape of torch_atb.

    param = atb.PagedAttentionParam(headNum=32, kvHeadNum=8, qkScale=0.088)
    (out,) = atb.Operation(param).forward([q, keyCache, valueCache, blockTables, contextLens])

A parameter has the fields of the structure of its name in atb/infer_op_params.h. Refusals raise
AtbError with the step, the rule and the tensor or field at fault; pyaclnn.explain() then has
everything that was wrong. Which tensors there are depends on the parameter: Operation.inputs names
them in their order. With B batches, T tokens (rows of all batches, packed), H =
headNum, K = kvHeadNum or H, D and Dv head sizes, S positions of a cache, N blocks of P positions,
on Atlas A2; float is float16 or bfloat16, the same in all tensors; host: read during setup:

SelfAttentionParam, PA_ENCODER: query (T, H, D) or (T, H*D), key (T, K, D) or (T, K*D), value
    likewise with Dv: float, or int8 with quantType 2 and 3; mask, with maskType: float (S, S), (B,
    S, S), (H, S, S), (B, H, S, S) or a tile; seqLen: int32 (B,) or (2, B) with lengths of the keys,
    host; slopes (H,) float32, for masks 4 to 6; with quantType qkDescale (H,) float32, qkOffset
    int32, vpvDescale (H,) float32, vpvOffset int32, offline pScale (H,) float32; logN (S,) float32.
    -> (T, H, Dv) or (T, H*Dv)
SelfAttentionParam, UNDEFINED, ENCODER, DECODER: query (T, H*D) or (B, S, H, D), key, value
    likewise (not with kvcacheCfg 1), cacheK (layers, B, S, K*D), cacheV likewise: written in place
    from the new keys and values; lists of B tensors (S, K*D) with DECODER and kvcacheCfg 1; mask;
    tokenOffset, seqLen: int32 or uint32 (B,), host: keys with the new ones, queries; layerId
    int32 (1,); batchRunStatus (B,), host; logN. -> (T, H*Dv), for four dimensions (B, S, H*Dv)
SelfAttentionParam, PREFIX_ENCODER: query (T, H, D), key, value (N, P, K, D), blockTables int32 (B,
    blocks), mask, seqLen, kvSeqLen (B,), host, slopes. -> like query
PagedAttentionParam: query (T, H, D), keyCache (N, P, K, D), valueCache (N, P, K, Dv) (not with
    mlaVHeadSize), blockTables int32 (T, blocks), contextLens int32 (T,), host; then, as far as the
    parameter asks for them, mask, batchRunStatus (host), kDescale, kOffset, vDescale, vOffset,
    qSeqLen (host), razorOffset, pScale, logN. -> (T, H, Dv)
ReshapeAndCacheParam: key (T, K, D), value (T, K, Dv), keyCache (N, P, K, D), valueCache (N, P, K,
    Dv), slotMapping int32 (T,): float or int8; with compressType wins, seqLen, offsetIndex.
    -> the caches, written in place
ElewiseParam: one tensor, or two that broadcast. -> like them; int8 for comparisons
TransdataParam: ND (n, rows, columns) or NZ (n, pieces, rows, piece). -> the other

What fits together exactly, also on other products, is the operation's to say: every refusal names
the tensor, what it is and what it must be. pyaclnn.rules("SelfAttentionOperation") lists the rules.
"""

from __future__ import annotations

from typing import Any

from ..errors import AtbError, AtbInvalidError, AtbMemoryError
from ._generated import (
    PARAMS,
    ElewiseParam,
    ErrorType,
    ExecuteType,
    InputLayout,
    LaunchMode,
    PagedAttentionParam,
    ReshapeAndCacheParam,
    SelfAttentionParam,
    TransdataParam,
)
from .operation import Context, Operation, TensorDesc, TensorInfo
from .param import Param

#: The names of the operations.
OPERATIONS = tuple(f"{param.__name__.removesuffix('Param')}Operation" for param in PARAMS)

__all__ = [
    "AtbError",
    "AtbInvalidError",
    "AtbMemoryError",
    "Context",
    "ElewiseParam",
    "ErrorType",
    "ExecuteType",
    "InputLayout",
    "LaunchMode",
    "OPERATIONS",
    "Operation",
    "PagedAttentionParam",
    "Param",
    "ReshapeAndCacheParam",
    "SelfAttentionParam",
    "TensorDesc",
    "TensorInfo",
    "TransdataParam",
]

_DECLARED_ONLY = ("RopeParam", "LinearParam", "RmsNormParam", "GroupTopkParam", "GraphParam")


def __getattr__(name: str) -> Any:
    offered = ", ".join(param.__name__ for param in PARAMS)
    if name in _DECLARED_ONLY:
        raise AttributeError(f"pyaclnn.atb.{name}: not offered; operations here are of {offered}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
