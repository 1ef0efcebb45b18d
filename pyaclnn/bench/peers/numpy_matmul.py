"""numpy: a group's query rows times the keys, in float32."""

from __future__ import annotations

import numpy as np

from .peer import Offer, Variant
from .problem import Array, Data, Floats, to_float


class Numpy:
    def versions(self) -> str:
        return f"numpy {np.__version__}"

    def offer(self, data: Data, wanted: tuple[str, ...]) -> Offer:
        s = data.shape
        out = np.empty((s.batch, s.heads, s.dim_v), np.float32)

        def floats(stored: Array) -> Floats:
            return to_float(np.ascontiguousarray(stored), s.dtype)

        def run() -> None:
            for b in range(s.batch):
                for g in range(s.kv_heads):
                    rows = slice(g * s.group, (g + 1) * s.group)
                    k, v = floats(data.k[b, g]), floats(data.v[b, g])
                    x = floats(data.q[b, rows, 0]) @ k.T
                    x *= np.float32(s.scale)
                    x -= x.max(1, keepdims=True)
                    np.exp(x, out=x)
                    x /= x.sum(1, keepdims=True)
                    out[b, rows] = x @ v

        return Offer({"numpy": Variant(run, lambda: out)})


def make(threads: int) -> Numpy:
    return Numpy()
