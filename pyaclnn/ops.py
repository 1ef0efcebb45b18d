"""Operators as one call on arrays, with torch_npu's names and defaults.

A call needs no preparation. The first one on a thread that has no context binds device 0 to that
thread, as aclrtSetDevice(0) does; a thread with a context uses that.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from . import _keep, aclnn, arrays
from ._calls import TensorLike
from .acl import Stream, rt
from .arrays import Array, BFloat16Array
from .errors import check

KeyValue: TypeAlias = TensorLike | Sequence[TensorLike]

_lock = threading.Lock()
_idle: dict[int, list[Stream]] = {}  # per context


def _ensure_device() -> int:
    """The thread's context; device 0 is bound to a thread that has none."""
    context = _keep.current_context()
    if context == 0:
        check(rt.set_device(0), "aclrtSetDevice")
        context = _keep.current_context()
    return context


def _forget_context(context: int) -> None:
    """The context is over; its streams outlive it until they are destroyed, from anywhere."""
    with _lock:
        left = _idle.pop(context, [])
    for stream in left:
        stream.destroy()


_keep.at_context_end.append(_forget_context)


def _after_fork() -> None:
    # Another thread of the parent may have held the lock; it does not exist here.
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


class _BorrowedStream:
    """A stream of our own for one call, so that nobody else's work or failure gets into it."""

    def __enter__(self) -> Stream:
        self.context = _ensure_device()
        with _lock:
            idle = _idle.get(self.context)
            self.stream = idle.pop() if idle else None
        if self.stream is None:
            self.stream = Stream()
        return self.stream

    def __exit__(self, kind: object, *exception: object) -> None:
        if kind is None and self.stream is not None:
            with _lock:
                _idle.setdefault(self.context, []).append(self.stream)


def _workspace(size: int) -> Array | None:
    """Memory aligned like aclrtMalloc's."""
    if size == 0:
        return None
    raw = np.empty(size + 64, np.uint8)
    start = -arrays.data_address(raw) % 64
    return raw[start : start + size]


def _empty(shape: tuple[int, ...], dtype: str, like: Any) -> Array | BFloat16Array:
    if dtype != "bfloat16":
        return np.empty(shape, dtype)
    if isinstance(like, np.ndarray):
        return np.empty(shape, like.dtype)
    return BFloat16Array(np.empty(shape, np.uint16))


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


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
    pse_shift           query's dtype, (B or 1, N, 1, at least S): added to the scaled scores
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

    Returns an array of query's shape and dtype, int8 with quant_scale2; bfloat16 comes as
    BFloat16Array unless query is a numpy array. It is complete on return. Unlike torch_npu, key and
    value may be lists.

    Raises TypeError or ValueError for what is no tensor at all, and AclnnError for what the
    operator refuses: AclnnInvalidParameterError (161002) for dtypes that do not go together,
    AclnnTilingError (561002) for shapes, heads, lengths and optional tensors,
    AclDeviceFaultError (507015) for a block number outside the cache. They name the parameter as
    the header of aclnnIncreFlashAttentionV4 spells it; pyaclnn.explain() has all that was wrong.

    On a thread without a context the call binds device 0 to it first.
    """
    if padding_mask is not None:
        raise ValueError(
            "npu_incre_flash_attention: padding_mask: given, but it is reserved: accepted is None"
        )
    view = arrays.describe(query, "npu_incre_flash_attention: query")
    dtype = "int8" if quant_scale2 is not None else view.dtype
    out = _empty(view.shape, dtype, query)
    size, executor = aclnn.aclnnIncreFlashAttentionV4GetWorkspaceSize(
        query=query,
        key=_as_list(key),
        value=_as_list(value),
        pseShift=pse_shift,
        attenMask=atten_mask,
        actualSeqLengths=actual_seq_lengths,
        dequantScale1=dequant_scale1,
        quantScale1=quant_scale1,
        dequantScale2=dequant_scale2,
        quantScale2=quant_scale2,
        quantOffset2=quant_offset2,
        antiquantScale=antiquant_scale,
        antiquantOffset=antiquant_offset,
        blocktable=block_table,
        kvPaddingSize=kv_padding_size,
        numHeads=num_heads,
        scaleValue=scale_value,
        inputLayout=input_layout,
        numKeyValueHeads=num_key_value_heads,
        blockSize=block_size,
        innerPrecise=inner_precise,
        attentionOut=out,
    )
    with _BorrowedStream() as stream:
        aclnn.aclnnIncreFlashAttentionV4(_workspace(size), size, executor, stream)
        stream.synchronize()
    return out
