"""The same attention as operations of ATB, for ours.py: planned once, executed on a stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyaclnn import BFloat16Array, acl, atb

from .peer import Variant
from .problem import Array, Data, fill, to_bf16, to_float

_BLOCK = 128
_Self = atb.SelfAttentionParam


def stored(array: Array, dtype: str) -> Any:
    """An array as pyaclnn takes it; bfloat16 is kept as bit patterns here."""
    return BFloat16Array(array) if dtype == "bf16" else array


class AtbOperations:
    """The forms that a row may ask for. Keys of a position lie together, as ATB wants them."""

    def __init__(self, stream: acl.Stream) -> None:
        self.stream = stream
        self.context = atb.Context(stream)

    def executed(self, param: atb.Param, inputs: Sequence[Any], out: Any) -> Any:
        """What executes the planned call and waits for it."""
        operation, context, stream = atb.Operation(param), self.context, self.stream
        workspace = np.empty(operation.setup(inputs, [out], context), np.uint8)

        def run() -> None:
            operation.execute(context, workspace)
            stream.synchronize()

        return run

    def decoder(self, data: Data) -> Variant:
        """SelfAttention, DECODER: the last key and value are written into the cache once more."""
        s = data.shape
        caches = [
            np.ascontiguousarray(x.transpose(0, 2, 1, 3)).reshape(1, s.batch, s.keys, -1)
            for x in (data.k, data.v)
        ]
        new = [np.ascontiguousarray(cache[0, :, -1]) for cache in caches]
        out = np.empty((s.batch, s.heads * s.dim_v), data.q.dtype)
        param = _Self(
            calcType=_Self.CalcType.DECODER,
            headNum=s.heads,
            kvHeadNum=s.kv_heads,
            qkScale=s.scale,
        )
        query = np.ascontiguousarray(data.q.reshape(s.batch, -1))
        lengths = [np.full(s.batch, n, np.int32) for n in (s.keys, 1)]
        inputs = [stored(x, s.dtype) for x in (query, *new, *caches)]
        inputs += [*lengths, np.zeros(1, np.int32)]
        run = self.executed(param, inputs, stored(out, s.dtype))
        return Variant(run, lambda: to_float(out.reshape(s.batch, s.heads, -1), s.dtype))

    def paged(self, data: Data) -> Variant:
        """PagedAttention over blocks that lie in memory in random order."""
        s = data.shape
        count = -(-s.keys // _BLOCK)
        order = np.random.default_rng(1).permutation(s.batch * count)

        def cache(x: Array) -> Array:
            whole = np.zeros((s.batch, count * _BLOCK, s.kv_heads, x.shape[-1]), x.dtype)
            whole[:, : s.keys] = x.transpose(0, 2, 1, 3)
            paged = np.empty((s.batch * count, _BLOCK, *whole.shape[2:]), x.dtype)
            paged[order] = whole.reshape(paged.shape)
            return paged

        out = np.empty((s.batch, s.heads, s.dim_v), data.q.dtype)
        param = atb.PagedAttentionParam(headNum=s.heads, kvHeadNum=s.kv_heads, qkScale=s.scale)
        query = np.ascontiguousarray(data.q[:, :, 0])
        inputs = [stored(x, s.dtype) for x in (query, cache(data.k), cache(data.v))]
        inputs += [order.astype(np.int32).reshape(s.batch, count)]
        inputs += [np.full(s.batch, s.keys, np.int32)]
        run = self.executed(param, inputs, stored(out, s.dtype))
        return Variant(run, lambda: to_float(out, s.dtype))

    def packed(self, data: Data, window: int = 0) -> Variant:
        """SelfAttention, PA_ENCODER: whole prompts, causal; a row sees `window` keys, 0: all.

        The time is that of one row. The last row of each prompt is the query of the shape.
        """
        s = data.shape
        rows = fill((s.batch, s.keys, s.heads, s.dim), s.dtype, 44)
        rows[:, -1] = data.q[:, :, 0]
        query = rows.reshape(-1, s.heads, s.dim)
        key, value = (
            np.ascontiguousarray(x.transpose(0, 2, 1, 3)).reshape(-1, s.kv_heads, x.shape[-1])
            for x in (data.k, data.v)
        )
        masked = np.triu(np.full((128, 128), -10000, np.float32), 1)
        kind = _Self.MaskType.MASK_TYPE_NORM_COMPRESS
        tile: Array = masked.astype(np.float16)
        if s.dtype == "bf16":  # multiplied by -3e38
            tile = to_bf16((masked != 0).astype(np.float32))
        if window:
            kind = _Self.MaskType.MASK_TYPE_SLIDING_WINDOW_COMPRESS
            tile = np.zeros((512, 512), data.q.dtype)  # where it masks is known without looking
        param = _Self(
            calcType=_Self.CalcType.PA_ENCODER,
            headNum=s.heads,
            kvHeadNum=s.kv_heads,
            qkScale=s.scale,
            maskType=kind,
            isTriuMask=0 if window else 1,
            windowSize=window,
        )
        out = np.empty((s.batch * s.keys, s.heads, s.dim_v), data.q.dtype)
        inputs = [stored(x, s.dtype) for x in (query, key, value, tile)]
        inputs += [np.full(s.batch, s.keys, np.int32)]
        run = self.executed(param, inputs, stored(out, s.dtype))

        def last_rows() -> Array:
            return to_float(out.reshape(s.batch, s.keys, s.heads, -1)[:, -1], s.dtype)

        first = max(0, s.keys - window) if window else 0
        return Variant(run, last_rows, times=1 / s.keys, first_key=first)
