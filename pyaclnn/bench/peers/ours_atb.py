"""The same attention as operations of ATB, for ours.py: planned once, executed on a stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pyaclnn import BFloat16Array, acl, atb

from .peer import Variant
from .problem import Array, Data, to_bf16, to_float

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

    def packed(self, data: Data, full_mask: bool = False) -> Variant:
        """SelfAttention, PA_ENCODER: prompts one behind the other, each as long as it is.

        full_mask: the causal mask as a whole, not as the tile that is known without looking
        """
        s = data.shape
        rows = [np.ascontiguousarray(x.swapaxes(1, 2)) for x in (data.q, data.k, data.v)]
        query, key, value = (x.reshape(-1, *x.shape[2:]) for x in rows)
        param: dict[str, Any] = {
            "calcType": _Self.CalcType.PA_ENCODER,
            "headNum": s.heads,
            "kvHeadNum": s.kv_heads,
            "qkScale": s.scale,
        }
        masks = []
        if s.window:
            param["maskType"] = _Self.MaskType.MASK_TYPE_SLIDING_WINDOW_COMPRESS
            param["windowSize"] = s.window
            masks = [np.zeros((512, 512), query.dtype)]
        elif full_mask:
            param["maskType"] = _Self.MaskType.MASK_TYPE_NORM
            masks = [_triangle(s.keys, s.dtype)]
        elif s.causal:
            param["maskType"] = _Self.MaskType.MASK_TYPE_NORM_COMPRESS
            param["isTriuMask"] = 1
            masks = [_triangle(_BLOCK, s.dtype)]
        out = np.empty((len(query), s.heads, s.dim_v), query.dtype)
        inputs = [stored(x, s.dtype) for x in (query, key, value, *masks)]
        inputs += [np.array(s.lengths or [s.keys] * s.batch, np.int32)]
        run = self.executed(_Self(**param), inputs, stored(out, s.dtype))

        def output() -> Array:
            rows: Array = to_float(out, s.dtype).reshape(s.batch, s.rows, s.heads, -1)
            return np.swapaxes(rows, 1, 2)

        return Variant(run, output)

    def one_batch(self, data: Data) -> Variant:
        """For sequences of unequal lengths: as many of one length with the same work, but for what
        rounding the length makes of it."""
        s = data.shape
        count = len(s.lengths)
        length = round((s.flops / (s.heads * (s.dim + s.dim_v) * count)) ** 0.5)
        shape = replace(s, batch=count, rows=length, keys=length, lengths=())
        equal = Data(shape)
        variant = self.packed(equal)
        variant.data, variant.times = equal, s.flops / shape.flops
        return variant


def _triangle(edge: int, dtype: str) -> Array:
    """What a row does not see: -10000, or in bfloat16 1, which is multiplied by -3e38."""
    later = np.triu(np.ones((edge, edge), np.float32), 1)
    return to_bf16(later) if dtype == "bf16" else (-10000 * later).astype(np.float16)
