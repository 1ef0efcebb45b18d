"""Golden model of aclnnIncreFlashAttention, V2, V3 and V4.

One query position per batch, attention over a key/value cache that is one tensor, a list with one
tensor per batch, or paged. Arguments carry the names of the header; floating tensors are float64
arrays that hold what the sixteen-bit formats held, integers stay integers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import bounds, formats

Array = npt.NDArray[Any]
Float64 = npt.NDArray[np.float64]

MASKED = float(np.float32(-1.0e12))

#: Data families that each numeric case runs.
FAMILIES = ("uniform", "needle", "peaked")


class DeviceFault(Exception):
    """Data found while running makes the task fail."""


def heads_first(tensor: Array, layout: str, heads: int) -> Array:
    """A view with axes (batch, head, position, channel) of a query, key, value or output."""
    if layout == "BSH":
        batch, rows, width = tensor.shape
        split: Array = tensor.reshape(batch, rows, heads, width // heads)
        return np.transpose(split, (0, 2, 1, 3))
    if layout == "BSND":
        return np.transpose(tensor, (0, 2, 1, 3))
    return tensor


@dataclass(frozen=True)
class Cache:
    """How a (batch, head) finds its rows; the same object serves key and value.

    ``pick`` returns a view or copy (L, D) of the rows start..start+length-1 of one head.
    """

    layout: str
    kv_heads: int
    width: int
    listed: bool
    table: Array | None
    block: int

    def rows(self, members: Sequence[Array], batch: int, head: int, at: range) -> Array:
        index = self.index(members, batch, head, at)
        flat = members[index[0]].reshape(-1)
        return np.asarray(flat[index[1]])

    def index(
        self, members: Sequence[Array], batch: int, head: int, at: range
    ) -> tuple[int, npt.NDArray[np.int64]]:
        """Member number and flat element indices (L, D)."""
        positions = np.arange(at.start, at.stop, dtype=np.int64)[:, None]
        channel = np.arange(self.width, dtype=np.int64)[None, :]
        n, d = self.kv_heads, self.width
        if self.table is not None:
            shape = members[0].shape
            columns = self.table.shape[1]
            used = self.table.reshape(-1)[batch * columns + positions[:, 0] // self.block]
            for entry in used:
                if not 0 <= entry < shape[0]:
                    raise DeviceFault(f"block {entry} of batch {batch} outside [0, {shape[0]})")
            block = np.asarray(used, np.int64)[:, None]
            inside = positions % self.block
            if len(shape) == 4:
                return 0, ((block * n + head) * self.block + inside) * d + channel
            return 0, ((block * self.block + inside) * n + head) * d + channel
        member, row = (batch, 0) if self.listed else (0, batch)
        shape = members[member].shape
        if self.layout == "BNSD":
            return member, ((row * n + head) * shape[2] + positions) * d + channel
        return member, ((row * shape[1] + positions) * n + head) * d + channel

    def extent(self, members: Sequence[Array], batch: int) -> int:
        """Number of positions that the cache holds for one batch."""
        if self.table is not None:
            return int(self.table.shape[1]) * self.block
        shape = members[batch if self.listed else 0].shape
        if math.prod(shape) == 0:
            return 0
        return int(shape[2 if self.layout == "BNSD" else 1])


@dataclass(frozen=True)
class Geometry:
    batch: int
    heads: int
    kv_heads: int
    width: int
    cache: Cache
    visible: tuple[range, ...]
    """Per batch the positions that count; empty when the output is zeros."""


def _present(tensor: Array | None) -> bool:
    return tensor is not None and tensor.size > 0


def geometry(arguments: Mapping[str, Any]) -> Geometry:
    query: Array = arguments["query"]
    keys: Sequence[Array] = arguments["key"]
    layout: str = arguments.get("inputLayout") or "BSH"
    heads = int(arguments["numHeads"])
    kv_heads = int(arguments.get("numKeyValueHeads") or 0) or heads
    batch = int(query.shape[0])
    width = int(heads_first(query, layout, heads).shape[3])
    table: Array | None = arguments.get("blocktable")
    listed = table is None and keys[0].shape[0] != batch
    cache = Cache(layout, kv_heads, width, listed, table, int(arguments.get("blockSize") or 0))

    given = list(arguments.get("actualSeqLengths") or [])
    whole = [cache.extent(keys, b) for b in range(batch)]
    if not given:
        lengths = whole
    elif len(given) == 1:
        lengths = [int(given[0])] * batch
    else:
        lengths = [int(n) for n in given[:batch]]

    padding: Array | None = arguments.get("kvPaddingSize")
    starts = [0] * batch
    if given and not listed and table is None and padding is not None and padding.size > 0:
        pad = max(int(padding.reshape(-1)[0]), 0)
        starts = [whole[b] - pad - lengths[b] for b in range(batch)]
    visible = tuple(
        range(s, s + n) if s >= 0 else range(0, 0) for s, n in zip(starts, lengths, strict=True)
    )
    return Geometry(batch, heads, kv_heads, width, cache, visible)


def _mask_row(mask: Array | None, batch: int, at: range) -> npt.NDArray[np.bool_] | None:
    if mask is None or not _present(mask):
        return None
    step = mask.shape[-1]
    first, last = batch * step + at.start, batch * step + at.stop
    if last > mask.size:
        raise DeviceFault(f"mask position {last - 1} of batch {batch} outside {mask.size} elements")
    result: npt.NDArray[np.bool_] = mask.reshape(-1)[first:last] != 0
    return result


def _antiquant(arguments: Mapping[str, Any], which: int, head: int, rows: Array) -> Float64:
    """Key (0) or value (1) rows of one head as real numbers."""
    scale: Array | None = arguments.get("antiquantScale")
    if scale is None:
        return np.asarray(rows, np.float64)
    offset: Array | None = arguments.get("antiquantOffset")
    width = rows.shape[1]

    def part(tensor: Array | None) -> Float64:
        if tensor is None:
            return np.zeros(1)
        flat: Float64 = np.asarray(tensor, np.float64).reshape(2, -1)[which]
        return flat if flat.size == 1 else flat[head * width : (head + 1) * width]

    shifted = np.asarray(rows, np.float64) + part(offset)
    return np.asarray(shifted * part(scale), np.float64)


def _terms(arguments: Mapping[str, Any], version: str) -> tuple[Geometry, bounds.Terms]:
    """All sums with axes (batch, head, channel)."""
    shape = geometry(arguments)
    layout = arguments.get("inputLayout") or "BSH"
    query = heads_first(arguments["query"], layout, shape.heads)[:, :, 0, :]
    scale = float(np.float32(arguments.get("scaleValue", 0.0)))
    # V1 and V2 take the parameter and never use it.
    pse = arguments.get("pseShift") if version in ("V3", "V4") else None
    group = shape.heads // shape.kv_heads
    collected: list[bounds.Terms] = []
    for b in range(shape.batch):
        at = shape.visible[b]
        masked = _mask_row(arguments.get("attenMask"), b, at) if len(at) else None
        for g in range(shape.kv_heads):
            if len(at):
                k = _antiquant(arguments, 0, g, shape.cache.rows(arguments["key"], b, g, at))
                v = _antiquant(arguments, 1, g, shape.cache.rows(arguments["value"], b, g, at))
            for n in range(g * group, (g + 1) * group):
                if not len(at):
                    collected.append(bounds.Terms.zeros(shape.width))
                    continue
                q = query[b, n]
                x = (k @ q) * scale
                t = (np.abs(k) @ np.abs(q)) * abs(scale)
                if pse is not None:
                    row = pse[0 if pse.shape[0] == 1 else b, n, 0, at.start : at.stop]
                    x = x + row
                    t = t + np.abs(row)
                if masked is not None:
                    x = np.where(masked, MASKED, x)
                    t = np.where(masked, 0.0, t)
                with np.errstate(invalid="ignore", over="ignore"):
                    e = np.exp(x - x.max())
                    collected.append(bounds.Terms.of_row(e / e.sum(), t, v))
    full = (shape.batch, shape.heads, shape.width)
    stacked = [
        np.array([getattr(row, name) for row in collected], np.float64).reshape(full)
        for name in ("o", "a", "r", "w")
    ]
    return shape, bounds.Terms(*stacked)


def _per_channel(tensor: Array, shape: Geometry) -> Float64:
    flat = np.asarray(tensor, np.float64).reshape(-1)
    return flat.reshape(1, shape.heads, shape.width)


def evaluate(
    arguments: Mapping[str, Any], types: Mapping[str, str], version: str = "V4"
) -> bounds.Expectation:
    """The expectation for attentionOut, in the memory order of the output.

    ``arguments``: header name -> decoded tensor, list of tensors, list of integers, or attribute;
    absent or None where the caller passes a null pointer. ``types``: header name -> cell type of
    the tensor (of member 0 for lists). Raises DeviceFault where the task must fail.
    """
    kind = types["query"]
    shape, terms = _terms(arguments, version)
    if types["attentionOut"] != "i8":
        return bounds.of_float(terms, kind)
    scale: Array = arguments["quantScale2"]
    offset: Array | None = arguments.get("quantOffset2")
    if scale.size == 1:
        zero = np.zeros(1) if offset is None else offset
        return bounds.of_int8(terms, kind, scale, zero, per_channel=False)
    channels = np.zeros((1, 1, 1)) if offset is None else _per_channel(offset, shape)
    return bounds.of_int8(terms, kind, _per_channel(scale, shape), channels, per_channel=True)


def unread(
    arguments: Mapping[str, Any], version: str = "V4"
) -> dict[str, list[npt.NDArray[np.bool_]]]:
    """Which elements no correct implementation reads: they may hold anything."""
    shape = geometry(arguments)
    result: dict[str, list[npt.NDArray[np.bool_]]] = {}
    pse = arguments.get("pseShift")
    if pse is not None:
        spare = np.ones(pse.shape, np.bool_)
        if version in ("V3", "V4"):
            for b, at in enumerate(shape.visible):
                spare[0 if pse.shape[0] == 1 else b, :, 0, at.start : at.stop] = False
        result["pseShift"] = [spare]
    mask = arguments.get("attenMask")
    if mask is not None and _present(mask):
        rows = np.ones(mask.size, np.bool_)
        for b, at in enumerate(shape.visible):
            first = b * mask.shape[-1]
            rows[first + at.start : first + at.stop] = False
        result["attenMask"] = [rows.reshape(mask.shape)]
    for name in ("key", "value"):
        given: Sequence[Array] = arguments[name]
        free = [np.ones(member.size, np.bool_) for member in given]
        for b, at in enumerate(shape.visible):
            for g in range(shape.kv_heads):
                if len(at):
                    member, index = shape.cache.index(given, b, g, at)
                    free[member][index.reshape(-1)] = False
        result[name] = [flat.reshape(one.shape) for flat, one in zip(free, given, strict=True)]
    table = arguments.get("blocktable")
    if table is not None:
        spare = np.ones(table.shape, np.bool_)
        for b, at in enumerate(shape.visible):
            spare[b, : -(-at.stop // shape.cache.block)] = False
        result["blocktable"] = [spare]
    return result


# Data ---------------------------------------------------------------------------------------


def _axes(dims: Sequence[int], layout: str, heads: int, paged: bool) -> tuple[Array, Array, Array]:
    """For every element of a key or value its head, position and channel."""
    index = np.indices(tuple(dims), dtype=np.int64)
    if len(dims) == 3:
        width = max(dims[2] // max(heads, 1), 1)
        position = index[1] + (index[0] * dims[1] if paged else 0)
        return index[2] // width, position, index[2] % width
    if paged:
        return index[1], index[0] * dims[2] + index[2], index[3]
    if layout == "BNSD":
        return index[1], index[2], index[3]
    return index[2], index[1], index[3]


def data(
    parameter: str,
    dims: Sequence[int],
    kind: str,
    family: str,
    rng: np.random.Generator,
    arguments: Mapping[str, Any],
) -> Array:
    """Values of one tensor of a data family.

    uniform: everything random. needle: even heads have q = 0, so that each visible position counts
    alike, and v tells positions apart; odd heads see only every fifth position. peaked: scores
    about 30 apart over a large common part, v with a large common part.
    """
    layout = arguments.get("inputLayout") or "BSH"
    heads = max(int(arguments.get("numHeads") or 1), 1)
    kv_heads = int(arguments.get("numKeyValueHeads") or 0) or heads
    scale = abs(float(arguments.get("scaleValue") or 0.0)) or 1.0
    paged = arguments.get("blocktable") is not None
    shape = tuple(dims)
    integral = kind == "i8"

    def spread(low: float, high: float) -> Float64:
        return rng.uniform(low, high, shape)

    if parameter == "query":
        if family == "needle":
            width = shape[2] // heads if layout == "BSH" else shape[-1]
            flat = np.zeros(math.prod(shape)).reshape(-1, max(width, 1))
            peak = min(40.0 / scale, 3e4)
            flat[1::2, 0] = peak
            return flat.reshape(shape)
        if family == "peaked":
            width = shape[2] // heads if layout == "BSH" else shape[-1]
            reach = min(30.0 / (scale * math.sqrt(max(width, 1))), 3e3)
            return spread(-reach, reach)
        return spread(-1, 1)
    if parameter in ("key", "value"):
        if family == "needle":
            head, position, channel = _axes(shape, layout, kv_heads, paged)
            if parameter == "key":
                first = np.where((position + head) % 5 == 2, 1.0, -1.0)
                rest = np.rint(spread(-8, 8)) / 8
                values = np.where(channel == 0, first, rest)
                return np.rint(values * 100) if integral else values
            width = int(channel.max()) + 1 if channel.size else 1
            mine = (position * 7 + head) % width == channel
            values = np.where(mine, 1.0 + (position // width + head) % 7 / 8.0, 0.0)
            return np.rint(values * 64) if integral else values
        if integral:
            return rng.integers(-127, 128, shape)
        if family == "peaked":
            return spread(-2, 2) + (2.0 if parameter == "key" else 8.0)
        return spread(-1, 1)
    if parameter == "pseShift":
        if family == "needle":
            return np.zeros(shape)
        reach = 30.0 if family == "peaked" else 2.0
        return spread(-reach, reach)
    if parameter == "attenMask":
        return (rng.uniform(0, 1, shape) < 0.3).astype(np.int8)
    if parameter == "quantScale2":
        return spread(8, 24)
    if parameter == "quantOffset2":
        return spread(-4, 4)
    if parameter == "antiquantScale":
        return spread(0.5, 1.5) / 128
    if parameter == "antiquantOffset":
        return np.rint(spread(-8, 8))
    if parameter == "blocktable":
        count = math.prod(shape)
        blocks = int(arguments["key"][0].shape[0])
        if count <= blocks:
            return rng.permutation(blocks)[:count].reshape(shape)
        return rng.integers(0, max(blocks, 1), shape)
    return np.zeros(shape)


__all__ = ["FAMILIES", "DeviceFault", "data", "evaluate", "geometry", "unread", "formats"]
