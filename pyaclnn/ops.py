"""Operators as one call on arrays, with torch_npu's names and defaults.

A call needs no preparation. The first one on a thread that has no context binds device 0 to that
thread, as aclrtSetDevice(0) does; a thread with a context uses that.

From its third time on, a call whose numpy arrays (or BFloat16Arrays) have the data types, shapes
and strides of earlier ones, and whose other arguments are equal, only passes addresses: it takes a
few microseconds besides the work. For this each thread keeps up to 32 executors, each with at most
1 MiB of workspace, but no array; `clear_cache` drops them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from . import _oneshot, arrays
from ._calls import TensorLike
from .arrays import Array, BFloat16Array

KeyValue: TypeAlias = TensorLike | Sequence[TensorLike]


def clear_cache() -> None:
    """Drops what is kept ready for further calls, on all threads."""
    _oneshot.clear()


def _result(query: Any, quantised: bool) -> Array | BFloat16Array:
    if not quantised:  # as below, but faster
        if type(query) is np.ndarray and arrays.dtype_name(query.dtype):
            return np.empty(query.shape, query.dtype)
        if type(query) is BFloat16Array:
            return BFloat16Array(np.empty(query.bits.shape, np.uint16))
    view = arrays.describe(query, "npu_incre_flash_attention: query")
    if quantised:
        return np.empty(view.shape, np.int8)
    if isinstance(query, np.ndarray):
        return np.empty(view.shape, query.dtype)
    if view.dtype == "bfloat16":
        return BFloat16Array(np.empty(view.shape, np.uint16))
    return np.empty(view.shape, view.dtype)


def npu_incre_flash_attention(
    query: TensorLike,
    key: KeyValue,
    value: KeyValue,
    *,
    padding_mask: None = None,
    pse_shift: TensorLike | None = None,
    atten_mask: TensorLike | None = None,
    actual_seq_lengths: Sequence[int] | None = None,
    dequant_scale1: TensorLike | None = None,
    quant_scale1: TensorLike | None = None,
    dequant_scale2: TensorLike | None = None,
    quant_scale2: TensorLike | None = None,
    quant_offset2: TensorLike | None = None,
    antiquant_scale: TensorLike | None = None,
    antiquant_offset: TensorLike | None = None,
    block_table: TensorLike | None = None,
    kv_padding_size: TensorLike | None = None,
    num_heads: int = 1,
    scale_value: float = 1.0,
    input_layout: str = "BSH",
    num_key_value_heads: int = 0,
    block_size: int = 0,
    inner_precise: int = 1,
    out: Array | BFloat16Array | None = None,
) -> Array | BFloat16Array:
    """Attention of one new token per sequence over a cache, as torch_npu.npu_incre_flash_attention.

        softmax(scale_value * query @ key^T + pse_shift, masked) @ value

    B batch, N query heads, Nkv key and value heads, S positions of the cache, D head dimension
    (at most 512). Query head n reads key head n // (N / Nkv). Tensors may be numpy arrays (also of
    ml_dtypes), BFloat16Array or CPU tensors with DLPack, and may be strided views.

    query               float16 or bfloat16. "BSH": (B, 1, N*D); "BSND": (B, 1, N, D); "BNSD":
                        (B, N, 1, D)
    key, value          query's dtype, or int8 with antiquant_scale. "BSH": (B, S, Nkv*D); "BSND":
                        (B, S, Nkv, D); "BNSD": (B, Nkv, S, D); or a list of B such tensors with
                        first dimension 1 and an S each; or, with block_table, a paged cache
                        (blocks, block_size, Nkv*D) or, for "BNSD", (blocks, Nkv, block_size, D)
    padding_mask        reserved by torch_npu; only None
    pse_shift           query's dtype, (B or 1, N, 1, at least S; paged: at least
                        M * block_size): added to the scaled scores
    atten_mask          bool, int8 or uint8, (B, S), (B, 1, S) or (B, 1, 1, S): not 0 hides a
                        position
    actual_seq_lengths  ints from 0 to S, B of them or one for all: how many positions count,
                        default S. Required with block_table. 0 gives zeros
    dequant_scale1, quant_scale1, dequant_scale2
                        reserved; only None
    quant_scale2        float32 (or bfloat16 if query is), one number or N*D numbers, for example of
                        shape (N, D): makes the result int8, round(o * quant_scale2 + quant_offset2)
    quant_offset2       like quant_scale2; default 0
    antiquant_scale     query's dtype, (2) or (2, Nkv, 1, D), (2, Nkv, D), (2, Nkv*D): first the
                        keys', then the values'; int8 numbers count as
                        (number + antiquant_offset) * antiquant_scale
    antiquant_offset    like antiquant_scale; default 0
    block_table         int32 (B, M): the blocks of each sequence, in order
    kv_padding_size     int64 (1): unused positions at the end; the sequence lies right before them
    num_heads           N
    scale_value         factor of the scores, usually 1 / sqrt(D)
    input_layout        "BSH", "BSND" or "BNSD"
    num_key_value_heads Nkv; 0: N
    block_size          positions per block of a paged cache: a multiple of 16 (int8: 32), up to 512
    inner_precise       0 high precision, 1 high performance; the results are the same here
    out                 where the result goes, contiguous, of any accepted kind; a new array without
                        it

    Returns `out`, or an array of query's shape and dtype, int8 with quant_scale2; bfloat16 comes as
    BFloat16Array unless query is a numpy array. It is complete on return. Unlike torch_npu, key and
    value may be lists, and there is `out`.

    Raises TypeError or ValueError for values that are not tensors, and AclnnError for what the
    operator refuses: AclnnInvalidParameterError (161002) for dtypes that do not go together,
    AclnnTilingError (561002) for shapes, heads, lengths and optional tensors,
    AclDeviceFaultError (507015) for a block number outside the cache. They name the parameter as
    the header of aclnnIncreFlashAttentionV4 spells it; after a refusal pyaclnn.explain() has
    all that was wrong.

    On a thread without a context the call binds device 0 to it first.
    """
    if padding_mask is not None:
        raise ValueError(
            "npu_incre_flash_attention: padding_mask: given, but it is reserved: accepted is None"
        )
    if out is None:
        out = _result(query, quant_scale2 is not None)
    if type(actual_seq_lengths) is np.ndarray and actual_seq_lengths.ndim == 1:
        actual_seq_lengths = actual_seq_lengths.tolist()
    _oneshot.call(
        "aclnnIncreFlashAttentionV4",
        (
            query,
            key,
            value,
            pse_shift,
            atten_mask,
            actual_seq_lengths,
            dequant_scale1,
            quant_scale1,
            dequant_scale2,
            quant_scale2,
            quant_offset2,
            antiquant_scale,
            antiquant_offset,
            block_table,
            kv_padding_size,
            num_heads,
            scale_value,
            input_layout,
            num_key_value_heads,
            block_size,
            inner_precise,
            out,
        ),
    )
    return out
