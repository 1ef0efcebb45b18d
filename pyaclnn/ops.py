"""Operators as one call on arrays, with torch_npu's names and defaults."""

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
    start = -raw.__array_interface__["data"][0] % 64
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

    query         float16 or bfloat16: (B, 1, N*D) with "BSH", (B, 1, N, D) with "BSND",
                  (B, N, 1, D) with "BNSD"
    key, value    the cache in the same layout with its own S and heads, or a list of B such tensors
                  of batch 1, or a paged cache with block_table
    padding_mask  reserved by torch_npu; only None

    The other keywords are those of aclnnIncreFlashAttentionV4, which does the work; its header says
    what each one takes. Unlike torch_npu, key and value may be lists. The result is complete on
    return: an array of query's shape and dtype (a BFloat16Array where query is a bfloat16 tensor
    that is no numpy array), or int8 when quant_scale2 is given. A refusal raises AclnnError.
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
