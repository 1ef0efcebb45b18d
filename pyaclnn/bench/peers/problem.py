"""The numbers of a shape and what is right: the same in every peer's process."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
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


def slopes(heads: int) -> Floats:
    """Of ALiBi, by head."""
    return np.exp2(-8.0 * np.arange(1, heads + 1) / heads).astype(np.float32)


@dataclass
class Data:
    """The arrays of a shape, (B, N, S, D) and contiguous but for the values of latent attention."""

    shape: Shape
    q: Array = field(init=False)
    k: Array = field(init=False)
    v: Array = field(init=False)

    def __post_init__(self) -> None:
        s = self.shape
        self.q = fill((s.batch, s.heads, s.rows, s.dim), s.dtype, 11)
        self.k = fill((s.batch, s.kv_heads, s.keys, s.dim), s.dtype, 222)
        if s.latent:
            self.v = self.k[..., : s.dim_v]
        else:
            self.v = fill((s.batch, s.kv_heads, s.keys, s.dim_v), s.dtype, 3333)

    def seen_as(self, shape: Shape) -> Data:
        """The same arrays, of which rows see other keys."""
        other = copy(self)
        other.shape = shape
        return other

    def visible(self) -> npt.NDArray[np.bool_]:
        """(rows, keys): what each row sees."""
        s = self.shape
        keys = np.arange(s.keys)
        first, end = np.array([s.seen(row) for row in range(s.rows)]).T[:, :, None]
        seen: npt.NDArray[np.bool_] = (keys >= first) & (keys < end)
        return seen


def verified_rows(shape: Shape) -> list[int]:
    """The rows that are compared: some of all, and the ends of every sequence."""
    rows = {round(part / 23 * (shape.rows - 1)) for part in range(24)}
    for first, count, _ in shape.sequences():
        rows |= {first, first + count - 1}
    return sorted(rows)


def reference(
    data: Data, b: int, h: int, rows: Sequence[int] | None = None
) -> npt.NDArray[np.float64]:
    """Output rows (all, if not said) of one batch and head in float64."""
    s = data.shape
    g = h // s.group
    k, v = (to_float(x[b, g], s.dtype).astype(np.float64) for x in (data.k, data.v))
    result = []
    for row in range(s.rows) if rows is None else rows:
        first, end = s.seen(row)
        x = k[first:end] @ to_float(data.q[b, h, row], s.dtype).astype(np.float64) * s.scale
        if s.alibi:
            x -= float(slopes(s.heads)[h]) * np.arange(end - first)[::-1]
        p = np.exp(x - x.max())
        result.append(p / p.sum() @ v[first:end])
    return np.stack(result)


def error(data: Data, out: Array) -> float:
    """Largest error in the first and the last head of `out` (B, N, S, Dv; S may be missing where
    it is 1), of the largest value there."""
    s = data.shape
    out = out.reshape(s.batch, s.heads, s.rows, s.dim_v)
    rows = verified_rows(s)
    worst = 0.0
    for b, h in {(0, 0), (s.batch - 1, s.heads - 1)}:
        want = reference(data, b, h, rows)
        worst = max(worst, float(np.abs(out[b, h, rows] - want).max() / np.abs(want).max()))
    return worst if np.isfinite(out).all() else math.inf
