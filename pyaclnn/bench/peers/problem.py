"""The numbers of a shape and what is right: the same in every peer's process."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .shape import Shape

Array: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float32]


def to_bf16(x: Floats) -> npt.NDArray[np.uint16]:
    """Bit patterns of bfloat16, rounded to nearest even."""
    bits = x.view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def to_float(stored: Array, dtype: str) -> Floats:
    """float32 of stored numbers; bfloat16 is stored as its bit patterns."""
    if dtype == "bf16":
        return (stored.astype(np.uint32) << 16).view(np.float32)
    return stored.astype(np.float32)


@cache
def _tile(dtype: str) -> Array:
    normal = np.random.default_rng(7).standard_normal(1_000_003, np.float32)
    return to_bf16(normal) if dtype == "bf16" else normal.astype(np.float16)


def fill(shape: tuple[int, ...], dtype: str, start: int) -> Array:
    """Normal numbers, the same everywhere: a tile repeated, `start` tells arrays apart."""
    tile = np.roll(_tile(dtype), start)
    out = np.empty(shape, tile.dtype)
    flat = out.reshape(-1)
    for first in range(0, flat.size, tile.size):
        flat[first : first + tile.size] = tile[: flat.size - first]
    return out


@dataclass
class Data:
    """The arrays of a shape, (B, N, S, D) and contiguous but for the values of latent attention."""

    shape: Shape
    q: Array = field(init=False)
    k: Array = field(init=False)
    v: Array = field(init=False)

    def __post_init__(self) -> None:
        s = self.shape
        self.q = fill((s.batch, s.heads, 1, s.dim), s.dtype, 11)
        self.k = fill((s.batch, s.kv_heads, s.keys, s.dim), s.dtype, 222)
        if s.latent:
            self.v = self.k[..., : s.dim_v]
        else:
            self.v = fill((s.batch, s.kv_heads, s.keys, s.dim_v), s.dtype, 3333)


def reference(data: Data, b: int, h: int, first_key: int = 0) -> npt.NDArray[np.float64]:
    """The output row of one batch and head in float64, over the keys from `first_key` on."""
    s = data.shape
    g = h // s.group
    q = to_float(data.q[b, h, 0], s.dtype).astype(np.float64)
    k = to_float(data.k[b, g, first_key:], s.dtype).astype(np.float64)
    v = to_float(data.v[b, g, first_key:], s.dtype).astype(np.float64)
    x = k @ q * s.scale
    p = np.exp(x - x.max())
    row: npt.NDArray[np.float64] = p / p.sum() @ v
    return row


def error(data: Data, out: Array, first_key: int = 0) -> float:
    """Largest error of the first and the last head of `out` (B, N, Dv), of the largest value."""
    s = data.shape
    worst = 0.0
    for b, h in {(0, 0), (s.batch - 1, s.heads - 1)}:
        want = reference(data, b, h, first_key)
        worst = max(worst, float(np.abs(out[b, h] - want).max() / np.abs(want).max()))
    return worst if np.isfinite(out).all() else math.inf
