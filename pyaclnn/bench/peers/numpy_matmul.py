"""numpy: a group's query rows times the keys, in float32."""

from __future__ import annotations

import numpy as np

from .peer import Offer, Variant
from .problem import Array, Data, Floats, to_float

_MOST_SCORES = 1 << 22  # at once


class Numpy:
    def versions(self) -> str:
        return f"numpy {np.__version__}"

    def offer(self, data: Data, wanted: tuple[str, ...]) -> Offer:
        s = data.shape
        if s.lengths:
            return Offer(skipped={"numpy": "sequences of one length only"})
        out = np.empty((s.batch, s.heads, s.rows, s.dim_v), np.float32)
        step = max(1, _MOST_SCORES // (s.group * s.keys))
        hidden = None if s.decode or not (s.causal or s.window) else ~data.visible()

        def floats(stored: Array) -> Floats:
            return to_float(np.ascontiguousarray(stored), s.dtype)

        def run() -> None:
            for b in range(s.batch):
                for g in range(s.kv_heads):
                    heads = slice(g * s.group, (g + 1) * s.group)
                    k, v = floats(data.k[b, g]), floats(data.v[b, g])
                    for first in range(0, s.rows, step):
                        rows = slice(first, first + step)
                        x = floats(data.q[b, heads, rows]).reshape(-1, s.dim) @ k.T
                        x *= np.float32(s.scale)
                        if hidden is not None:
                            x.reshape(s.group, -1, s.keys)[:, hidden[rows]] = -np.inf
                        x -= x.max(-1, keepdims=True)
                        np.exp(x, out=x)
                        x /= x.sum(-1, keepdims=True)
                        out[b, heads, rows] = (x @ v).reshape(s.group, -1, s.dim_v)

        return Offer({"numpy": Variant(run, lambda: out)})


def make(threads: int) -> Numpy:
    return Numpy()
