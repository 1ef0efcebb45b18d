"""Golden model of the attention engine: every field of ``pyaclnn/engine.h`` in float64.

A problem is described by the same words as the C struct, field for field, over buffers that are
arrays of bytes. The model reads elements exactly where the header says they are, so it also knows
which bytes an engine has a right to look at: everything else may be poisoned (``Result.needed``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from . import bounds, formats

Array = npt.NDArray[Any]
Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]

F16, BF16, F32, I8, U8, I4, I32, I64 = range(1, 9)
KINDS = {
    F16: "f16",
    BF16: "bf16",
    F32: "f32",
    I8: "i8",
    U8: "u8",
    I4: "i4",
    I32: "i32",
    I64: "i64",
}
NUMBERS = {kind: number for number, kind in KINDS.items()}

FULL, HOST, DEVICE = range(3)
ZERO_BEGIN, HOST_BEGIN, RIGHT_ALIGNED = range(3)
STRIDED, LIST, PAGED = range(3)
NONE, TENSOR, HEAD, CHANNEL, TOKEN, TOKEN_HEAD, PAGED_TOKEN, PAGED_TOKEN_HEAD = range(8)
SCORES_FLOAT, STATIC_INT8, ONLINE_INT8, TIMES_INT8 = range(4)
TOP_LEFT, BOTTOM_RIGHT = range(2)
ROWS_LOCAL, ROWS_PADDED, ROWS_ABSOLUTE = range(3)
COLUMNS_PADDED, COLUMNS_LOCAL, COLUMNS_TAIL = range(3)
MASK_NONE, REPLACE, ADD, ADD_TIMES = range(4)
DIAGONAL, STRIPE, LOWER = range(3)
FIXED, DISTANCE, ROOT, COLUMN = range(4)
ALIBI_NO, LINEAR, SQRT, LEFT_ALIGN, DIST_LINEAR, DIST_SQRT = range(6)
EMPTY_ZERO, UNTOUCHED, MEAN, FORMULA = range(4)
POST_NO, HALF_STEPS, ROUND_AWAY, FP32 = range(4)

#: Keys per block of the two int8 score modes that work block by block.
SCORE_BLOCK = 128

#: Smallest normal float32: what lies below may count as 0.
TINY = 2.0**-126

#: Relative error that a weight exp(x - m) and a sum of weights may have beside that of x.
EXP_ERROR = 2.0**-22
SUM_ERROR = 2.0**-19


class DeviceFault(Exception):
    """Data found while running makes the call fail."""

    def __init__(self, what: str, index: int, value: int, limit: int) -> None:
        super().__init__(f"{what} {index}: {value} outside the limit {limit}")
        self.what, self.index, self.value, self.limit = what, index, value, limit


# The struct ---------------------------------------------------------------------------------


@dataclass
class View:
    buffer: int = 0
    type: int = 0
    b: int = 0
    s: int = 0
    h: int = 0
    d: int = 0
    offset: int = 0

    def __bool__(self) -> bool:
        return self.type != 0


@dataclass
class Lengths:
    from_: int = FULL
    buffer: int = 0
    type: int = 0
    host: list[int] = field(default_factory=list)
    bound: int = 0


@dataclass
class Begin:
    from_: int = ZERO_BEGIN
    padding: int = 0
    host: list[int] = field(default_factory=list)
    extent: int = 0


@dataclass
class Cache:
    form: int = STRIDED
    valueIsKeyPrefix: int = 0
    k: View = field(default_factory=View)
    v: View = field(default_factory=View)
    kList: list[View] = field(default_factory=list)
    vList: list[View] = field(default_factory=list)
    table: int = 0
    blockSize: int = 0
    blockCount: int = 0
    fractal: int = 0
    ropeFractal: int = 0
    layer: int = 0
    tableStride: int = 0
    layerStride: int = 0
    layerStrideV: int = 0
    layerCount: int = 0
    window: int = 0
    ring: int = 0
    perHead: int = 0


@dataclass
class Quant:
    k: int = NONE
    v: int = NONE
    scores: int = SCORES_FLOAT
    kScale: View = field(default_factory=View)
    kOffset: View = field(default_factory=View)
    vScale: View = field(default_factory=View)
    vOffset: View = field(default_factory=View)
    qScale: View = field(default_factory=View)
    pScale: View = field(default_factory=View)
    pvScale: View = field(default_factory=View)


@dataclass
class Visible:
    causal: int = 0
    band: int = 0
    anchor: int = TOP_LEFT
    pre: int = 0
    next: int = 0
    block: int = 0
    prefix: list[int] = field(default_factory=list)


@dataclass
class Mask:
    how: int = MASK_NONE
    value: float = 0.0
    m: View = field(default_factory=View)
    rows: int = ROWS_LOCAL
    columns: int = COLUMNS_PADDED
    tile: int = 0
    tileForm: int = DIAGONAL
    tileRow: int = 0
    tileCol: int = 0
    count: int = 0
    fractal: int = 0
    grow: int = FIXED
    slopes: View = field(default_factory=View)


@dataclass
class Bias:
    pse: View = field(default_factory=View)
    beforeScale: int = 0
    pseRows: int = ROWS_LOCAL
    pseColumns: int = COLUMNS_PADDED
    alibi: int = ALIBI_NO
    alibiRows: int = ROWS_LOCAL
    slopes: View = field(default_factory=View)
    qStart: int = 0
    kStart: int = 0
    razor: View = field(default_factory=View)


@dataclass
class Score:
    scale: float = 1.0
    preScaleQ: float = 1.0
    roundQ: int = 0
    clamp: int = 0
    lo: float = 0.0
    hi: float = 0.0
    logN: View = field(default_factory=View)
    sink: View = field(default_factory=View)


@dataclass
class Empty:
    noKeys: int = EMPTY_ZERO
    allMasked: int = FORMULA
    outside: int = UNTOUCHED
    lseNoKeys: float = 0.0
    maxNoKeys: float = 0.0
    sumNoKeys: float = 0.0
    lseAllMasked: float = 0.0
    maxAllMasked: float = 0.0
    sumAllMasked: float = 0.0


@dataclass
class Out:
    o: View = field(default_factory=View)
    lse: View = field(default_factory=View)
    max: View = field(default_factory=View)
    sum: View = field(default_factory=View)
    post: int = POST_NO
    repeat: int = 0
    rows: int = 0
    scale: View = field(default_factory=View)
    offset: View = field(default_factory=View)


@dataclass
class Problem:
    buffers: list[Bytes] = field(default_factory=list)
    batch: int = 1
    heads: int = 1
    kvHeads: int = 1
    headDim: int = 1
    headDimV: int = 1
    ropeDim: int = 0
    queryMax: int = 0
    keyMax: int = 0
    q: View = field(default_factory=View)
    qRope: View = field(default_factory=View)
    kRope: View = field(default_factory=View)
    kPrefix: View = field(default_factory=View)
    vPrefix: View = field(default_factory=View)
    prefixLen: int = 0
    qLen: Lengths = field(default_factory=Lengths)
    kvLen: Lengths = field(default_factory=Lengths)
    qBegin: Begin = field(default_factory=Begin)
    kvBegin: Begin = field(default_factory=Begin)
    run: int = 0
    cache: Cache = field(default_factory=Cache)
    quant: Quant = field(default_factory=Quant)
    visible: Visible = field(default_factory=Visible)
    mask: Mask = field(default_factory=Mask)
    bias: Bias = field(default_factory=Bias)
    score: Score = field(default_factory=Score)
    empty: Empty = field(default_factory=Empty)
    out: Out = field(default_factory=Out)

    def outputs(self) -> dict[str, View]:
        found = {name: getattr(self.out, name) for name in ("o", "lse", "max", "sum")}
        return {name: view for name, view in found.items() if view}


# Reading ------------------------------------------------------------------------------------

_MEMORY = {F16: np.float16, BF16: np.uint16, F32: np.float32, I8: np.int8, U8: np.uint8}
_MEMORY |= {I32: np.int32, I64: np.int64}


def size_of(kind: int) -> int:
    """Bytes of one element; one for I4, whose two elements share a byte."""
    return 1 if kind == I4 else np.dtype(_MEMORY[kind]).itemsize


def read(buffer: Bytes, kind: int, at: Int64) -> Array:
    """Elements by number; floats decoded to float64, integers as int64."""
    if kind == I4:
        byte = buffer[at // 2].astype(np.int64)
        nibble = np.where(at % 2 == 0, byte & 15, byte >> 4)
        return np.asarray(np.where(nibble > 7, nibble - 16, nibble))
    size = size_of(kind)
    raw = np.ascontiguousarray(buffer[at[..., None] * size + np.arange(size)])
    values = raw.view(_MEMORY[kind])[..., 0]
    if kind in (F16, BF16, F32):
        return formats.decode(values, KINDS[kind])
    return np.asarray(values.astype(np.int64))


class _Memory:
    """The buffers of a problem, and which of their bytes the answer depends on."""

    def __init__(self, buffers: Sequence[Bytes]) -> None:
        self.buffers = buffers
        self.needed = [np.zeros(len(buffer), np.bool_) for buffer in buffers]

    def at(self, number: int, kind: int, at: Int64, need: Bools | None = None) -> Array:
        buffer, needed = self.buffers[number - 1], self.needed[number - 1]
        size = size_of(kind)
        first = at // 2 if kind == I4 else at * size
        if at.size and (first.min() < 0 or first.max() + size > len(buffer)):
            raise IndexError(f"buffer {number}: element outside {len(buffer)} bytes")
        wanted = first if need is None else first[np.broadcast_to(need, at.shape)]
        for byte in range(size):
            needed[wanted + byte] = True
        return read(buffer, kind, at)

    def view(
        self,
        view: View,
        b: Any = 0,
        s: Any = 0,
        h: Any = 0,
        d: Any = 0,
        need: Bools | None = None,
        fractal: int = 0,
        moved: int = 0,
        words: bool = True,
    ) -> Float64:
        """Elements [b, s, h, d] (broadcast against each other) as float64.

        words: I64 elements are dequantisation words.
        """
        base = np.asarray(b, np.int64) * view.b + np.asarray(s, np.int64) * view.s
        if fractal:
            column = np.asarray(h, np.int64) * view.h + np.asarray(d, np.int64)
            inner = column // fractal * view.d + column % fractal
        else:
            inner = np.asarray(h, np.int64) * view.h + np.asarray(d, np.int64) * view.d
        at = np.asarray(view.offset + moved + base + inner)
        values = self.at(view.buffer, view.type, at, need)
        if view.type == I64 and words:
            low = (values & 0xFFFFFFFF).astype(np.uint32) & np.uint32(0xFFFFE000)
            return np.asarray(low.view(np.float32), np.float64)
        return np.asarray(values, np.float64)


# Batches ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Batch:
    """One batch, or a head of it with keys of its own, with everything known that is read late."""

    number: int
    entry: int
    """Row of the block table."""
    heads: range
    """Kv heads."""
    skipped: bool
    rows: int
    first: int
    """Row of the query axis where the batch begins."""
    own: int
    """Keys of its own."""
    start: int
    """First row of its own keys."""
    keys: int
    """All keys, the shared prefix included."""


def _length(memory: _Memory, lengths: Lengths, name: str, b: int) -> int:
    if lengths.from_ == FULL:
        return lengths.bound
    if lengths.from_ == HOST:
        return lengths.host[0 if len(lengths.host) == 1 else b]
    value = int(memory.at(lengths.buffer, lengths.type, np.asarray(b, np.int64)))
    if not 0 <= value <= lengths.bound:
        raise DeviceFault(name, b, value, lengths.bound)
    return value


def _begin(memory: _Memory, begin: Begin, b: int, length: int) -> int:
    if begin.from_ == ZERO_BEGIN:
        return 0
    if begin.from_ == HOST_BEGIN:
        return begin.host[b]
    padding = 0
    if begin.padding:
        padding = int(memory.at(begin.padding, I64, np.asarray(0, np.int64)))
    return begin.extent - max(padding, 0) - length


def _batches(problem: Problem, memory: _Memory) -> list[Batch]:
    found = []
    for b in range(problem.batch):
        runs = 1
        if problem.run:
            runs = int(memory.at(problem.run, I32, np.asarray(b, np.int64)))
        rows = _length(memory, problem.qLen, "qLen", b)
        first = _begin(memory, problem.qBegin, b, rows)
        if first < 0:
            rows, first = 0, 0
        for g in range(problem.kvHeads if problem.cache.perHead else 1):
            entry, heads = b, range(problem.kvHeads)
            if problem.cache.perHead:
                entry, heads = b * problem.kvHeads + g, range(g, g + 1)
            own = _length(memory, problem.kvLen, "kvLen", entry)
            start = _begin(memory, problem.kvBegin, b, own)
            keys = problem.prefixLen + own
            if start < 0:
                keys, own, start = 0, 0, 0
            found.append(Batch(b, entry, heads, runs == 0, rows, first, own, start, keys))
    return found


def _visible(problem: Problem, batch: Batch) -> Bools:
    """(rows, keys)"""
    rule = problem.visible
    t = np.arange(batch.keys, dtype=np.int64)
    seen = np.ones((batch.rows, batch.keys), np.bool_)
    for i in range(batch.rows):
        row = i + (batch.keys - batch.rows if rule.anchor == BOTTOM_RIGHT else 0)
        if rule.causal:
            seen[i] &= t <= row
        if rule.band:
            # Python's integers do not overflow; numpy compares them as they are.
            low, high = row - rule.pre, row + rule.next
            seen[i] &= (t >= min(max(low, -1), batch.keys)) & (t <= min(max(high, -1), batch.keys))
        if rule.block > 0:
            seen[i] &= t // rule.block <= row // rule.block
        if rule.prefix:
            seen[i] |= t < rule.prefix[batch.number]
    return seen


def _row_index(problem: Problem, batch: Batch, rows: int) -> Int64:
    i = np.arange(batch.rows, dtype=np.int64)
    if rows == ROWS_PADDED:
        return i + batch.first
    if rows == ROWS_ABSOLUTE:
        return i + batch.keys - batch.rows
    return i


def _column_index(problem: Problem, batch: Batch, columns: int) -> Int64:
    t = np.arange(batch.keys, dtype=np.int64)
    if columns == COLUMNS_PADDED:
        return t + (batch.start if problem.prefixLen == 0 else 0)
    if columns == COLUMNS_TAIL:
        return t - (batch.keys - batch.rows)
    return t


@dataclass(frozen=True)
class Rows:
    """Where the own keys of one batch are: per key the block (or batch) and the row in it."""

    block: Int64
    row: Int64


def _own_rows(problem: Problem, memory: _Memory, batch: Batch) -> Rows:
    cache = problem.cache
    row = np.arange(batch.own, dtype=np.int64) + batch.start
    if cache.ring:
        row = row % cache.window
    if cache.form != PAGED:
        return Rows(np.full(batch.own, batch.number, np.int64), row)
    entry = batch.entry * cache.tableStride + row // cache.blockSize
    block = np.asarray(memory.at(cache.table, I32, entry))
    for index, value in zip(entry, block, strict=True):
        if not 0 <= value < cache.blockCount:
            raise DeviceFault("block", int(index), int(value), cache.blockCount)
    return Rows(block, row % cache.blockSize)


def _layer(problem: Problem, memory: _Memory) -> int:
    cache = problem.cache
    if not cache.layer:
        return 0
    value = int(memory.at(cache.layer, I32, np.asarray(0, np.int64)))
    if not 0 <= value < cache.layerCount:
        raise DeviceFault("layer", 0, value, cache.layerCount)
    return value


def _parameter(
    problem: Problem,
    memory: _Memory,
    view: View,
    by: int,
    batch: Batch,
    own: Rows,
    g: int,
    width: int,
    need: Bools,
) -> Float64:
    """Scale or offset of all keys of one head: (keys, width)."""
    d = np.arange(width)[None, :]
    if by in (PAGED_TOKEN, PAGED_TOKEN_HEAD):
        return memory.view(view, own.block[:, None], own.row[:, None], g, d, need[:, None])
    t = np.arange(batch.keys, dtype=np.int64)
    row = t + (batch.start if problem.prefixLen == 0 else 0)
    return memory.view(view, batch.number, row[:, None], g, d, need[:, None])


def _keys_or_values(
    problem: Problem,
    memory: _Memory,
    batch: Batch,
    own: Rows,
    g: int,
    width: int,
    need: Bools,
    layer: int,
    values: bool,
) -> Float64:
    """Dequantised keys or values of one head: (keys, width)."""
    cache, quant = problem.cache, problem.quant
    d = np.arange(width)[None, :]
    as_key = not values or bool(cache.valueIsKeyPrefix)
    prefix = problem.prefixLen
    parts = []
    if prefix and batch.keys:
        t = np.arange(prefix, dtype=np.int64)[:, None]
        shared = problem.kPrefix if as_key else problem.vPrefix
        parts.append(memory.view(shared, 0, t, g, d, need[:prefix, None]))
    wanted = need[batch.keys - batch.own :, None]
    tensor, block = cache.k if as_key else cache.v, own.block[:, None]
    if cache.form == LIST:
        tensor = (cache.kList if as_key else cache.vList)[batch.number]
        block = np.zeros_like(block)
    moved = layer * (cache.layerStride if as_key else cache.layerStrideV)
    row = own.row[:, None]
    parts.append(memory.view(tensor, block, row, g, d, wanted, cache.fractal, moved))
    rows = np.concatenate(parts) if len(parts) > 1 else parts[0]
    by = quant.k if as_key else quant.v
    if by == NONE:
        return rows
    scale, offset = (quant.kScale, quant.kOffset) if as_key else (quant.vScale, quant.vOffset)
    if offset:
        rows = rows + _parameter(problem, memory, offset, by, batch, own, g, width, need)
    if scale:
        rows = rows * _parameter(problem, memory, scale, by, batch, own, g, width, need)
    return rows


# Scores -------------------------------------------------------------------------------------


@dataclass
class Scores:
    """x, the size t of what was summed up to it, and where the mask replaced it."""

    x: Float64
    t: Float64
    replaced: Bools


def _add(scores: Scores, term: Float64) -> None:
    with np.errstate(invalid="ignore"):
        scores.x = scores.x + term
    scores.t = scores.t + np.abs(term)


def _alibi(problem: Problem, memory: _Memory, batch: Batch, n: int) -> Float64:
    bias = problem.bias
    slope = memory.view(bias.slopes, batch.number, 0, n, 0)
    row = _row_index(problem, batch, bias.alibiRows)[:, None] + bias.qStart
    t = np.arange(batch.keys, dtype=np.int64)[None, :]
    dist = (row - (t + bias.kStart)).astype(np.float64)
    if bias.alibi == LINEAR:
        return -slope * np.abs(dist)
    if bias.alibi == SQRT:
        return -slope * np.sqrt(np.abs(dist))
    if bias.alibi == LEFT_ALIGN:
        return np.broadcast_to(slope * t, dist.shape)
    if bias.alibi == DIST_LINEAR:
        return slope * dist
    return slope * np.sqrt(np.maximum(dist, 0))


def _mask(
    problem: Problem, memory: _Memory, batch: Batch, n: int, seen: Bools
) -> tuple[Float64, Bools]:
    """Mask elements and where they apply, (rows, keys)."""
    mask = problem.mask
    row = _row_index(problem, batch, mask.rows)[:, None]
    column = _column_index(problem, batch, mask.columns)[None, :]
    used = np.broadcast_to(column >= 0, seen.shape)
    if mask.tile > 0:
        size = mask.tile
        same = row // size == column // size
        below = column // size <= row // size
        used = used & (row >= 0)
        away = row // size - column // size
        begin = size * (column // size)
        used = used & (same if mask.tileForm == DIAGONAL else below)
        if mask.tileForm == STRIPE:
            row = row - begin
        elif mask.tileForm == LOWER:
            row = row % size + np.where(same, 0, size)
        else:
            row = row % size
        row, column = row + mask.tileRow, column % size + mask.tileCol
    row, column = np.broadcast_arrays(row, column)
    wanted = used & seen
    view = mask.m
    if mask.count > 0:
        inner = column * view.d
        if mask.fractal:
            inner = column // mask.fractal * view.d + column % mask.fractal
        index = batch.number * view.b + row * view.s + n * view.h + inner
        for value in index[wanted]:
            if not 0 <= value < mask.count:
                raise DeviceFault("mask", int(value), int(value), mask.count)
    values = np.zeros(seen.shape)
    values[wanted] = memory.view(
        view,
        batch.number,
        row[wanted],
        0,
        column[wanted],
        fractal=mask.fractal,
        moved=n * view.h,
        words=False,
    )
    if mask.grow in (DISTANCE, ROOT):
        more = (size * away - size).astype(np.float64)
        grown = values + more
        if mask.grow == ROOT:
            grown = np.sqrt(np.where(wanted & ~same, values * values + more, 0.0))
        values = np.where(wanted & ~same, grown, values)
    elif mask.grow == COLUMN:
        values = np.where(wanted, values + begin, values)
    if mask.slopes:
        with np.errstate(invalid="ignore"):
            slope = memory.view(mask.slopes, batch.number, 0, n, 0)
            values = np.where(wanted, values * slope, values)
    return values, wanted


def _scores(
    problem: Problem,
    memory: _Memory,
    batch: Batch,
    own: Rows,
    n: int,
    k: Float64,
    rope: Float64 | None,
    seen: Bools,
) -> Scores:
    score, bias = problem.score, problem.bias
    i = np.arange(batch.rows, dtype=np.int64)[:, None] + batch.first
    b = batch.number
    q = memory.view(problem.q, b, i, n, np.arange(problem.headDim)[None, :])
    # The product is a float32 before it is rounded to the type of q.
    q = (q.astype(np.float32) * np.float32(score.preScaleQ)).astype(np.float64)
    if score.roundQ and problem.q.type in (F16, BF16):
        q = formats.round_trip(q, KINDS[problem.q.type])
    with np.errstate(invalid="ignore", over="ignore"):
        scores = Scores(q @ k.T, np.abs(q) @ np.abs(k).T, np.zeros(seen.shape, np.bool_))
    if rope is not None:
        r = memory.view(problem.qRope, b, i, n, np.arange(problem.ropeDim)[None, :])
        scores.x = scores.x + r @ rope.T
        scores.t = scores.t + np.abs(r) @ np.abs(rope).T

    def times(factor: Float64) -> None:
        scores.x = scores.x * factor
        scores.t = scores.t * np.abs(factor)

    if problem.quant.qScale:
        times(memory.view(problem.quant.qScale, b, i, n, 0))
    if score.logN:
        times(memory.view(score.logN, b, i - batch.first, 0, 0))
    if bias.razor:
        need = np.asarray(seen.any(axis=0), np.bool_)
        _add(scores, memory.view(bias.razor, own.block, own.row, 0, 0, need)[None, :])
    pse = np.zeros(seen.shape)
    if bias.pse:
        row = _row_index(problem, batch, bias.pseRows)[:, None]
        column = _column_index(problem, batch, bias.pseColumns)[None, :]
        row, column = np.broadcast_arrays(row, column)
        wanted = seen & (column >= 0)
        pse[wanted] = memory.view(bias.pse, b, row[wanted], n, column[wanted])
    if bias.beforeScale:
        _add(scores, pse)
    times(np.asarray(np.float32(score.scale), np.float64))
    if score.clamp:
        low, high = float(np.float32(score.lo)), float(np.float32(score.hi))
        scores.x = np.minimum(np.maximum(scores.x, low), high)
    if not bias.beforeScale:
        _add(scores, pse)
    if bias.alibi != ALIBI_NO:
        _add(scores, _alibi(problem, memory, batch, n))
    if problem.mask.how != MASK_NONE:
        values, wanted = _mask(problem, memory, batch, n, seen)
        value = float(np.float32(problem.mask.value))
        if problem.mask.how == REPLACE:
            scores.replaced = wanted & (values != 0)
            scores.x = np.where(scores.replaced, value, scores.x)
            scores.t = np.where(scores.replaced, 0.0, scores.t)
        else:
            _add(scores, values if problem.mask.how == ADD else values * value)
    return scores


# Softmax and the second product -------------------------------------------------------------


@dataclass(frozen=True)
class Interval:
    value: Float64
    low: Float64
    high: Float64

    @staticmethod
    def exactly(value: npt.ArrayLike) -> Interval:
        exact = np.asarray(value, np.float64)
        return Interval(exact, exact, exact)

    @staticmethod
    def anything(value: npt.ArrayLike) -> Interval:
        """Not specified; even NaN."""
        return Interval.around(value, np.inf)

    @staticmethod
    def around(value: npt.ArrayLike, bound: npt.ArrayLike) -> Interval:
        exact, reach = np.asarray(value, np.float64), np.asarray(bound, np.float64)
        return Interval(exact, exact - reach, exact + reach)


def _scaled(terms: bounds.Terms, factor: float) -> bounds.Terms:
    size = abs(factor)
    return bounds.Terms(terms.o * factor, terms.a * size, terms.r * size, terms.w * size)


@dataclass(frozen=True)
class Row:
    """One row before the output is made of it; ``reach`` bounds its float32 error."""

    terms: bounds.Terms
    reach: Float64
    lse: Interval
    max: Interval
    sum: Interval

    def times(self, factor: float) -> Row:
        """The values were stored divided by the factor."""
        return Row(
            _scaled(self.terms, factor), self.reach * abs(factor), self.lse, self.max, self.sum
        )


def _reach(terms: bounds.Terms, kind: str) -> Float64:
    """Bound before the last rounding. The float32 error of a score moves bfloat16 results too."""
    reach = bounds.accumulated(terms, kind)
    if kind == "bf16":
        reach = reach + bounds.SLACK * 2.0**-24 * terms.w
    return reach


def _int8(values: Float64) -> Float64:
    return np.clip(np.rint(values), -128, 127)


@dataclass(frozen=True)
class Weights:
    """Weights of the second product over the sum, and how far a tie may move each."""

    p: Float64
    step: Float64


@dataclass(frozen=True)
class Int8Scores:
    """How the weights become int8 before the second product; the factor is pScale where given."""

    mode: int
    factor: float = 1.0


def _int8_weights(
    int8: Int8Scores, x: Float64, seen: Bools, m: float, total: float, slip: Float64
) -> Weights:
    """p of the int8 score modes; slip: relative error that each e may have."""
    p, step = np.zeros(x.shape), np.zeros(x.shape)
    mode, factor = int8.mode, int8.factor
    if mode == TIMES_INT8:
        u = np.exp(np.where(seen, x, -np.inf) - m) * factor
        ends = [_int8(u * (1 - slip)), _int8(u * (1 + slip))]
        return Weights(_int8(u) / total, np.abs(ends[1] - ends[0]) / total)
    running, largest = -np.inf, 0.0
    for start in range(0, len(x), SCORE_BLOCK):
        at = slice(start, start + SCORE_BLOCK)
        if not seen[at].any():
            continue
        here = np.where(seen[at], x[at], -np.inf)
        running = max(running, float(here.max()))
        e = np.exp(here - running)
        if mode == ONLINE_INT8:
            largest = max(largest, float(np.abs(e).max()))
            factor = largest / 127.0
        u = e / factor
        ends = [_int8(u * (1 - slip[at])), _int8(u * (1 + slip[at]))]
        later = np.exp(running - m) / total * factor
        p[at] = _int8(u) * later
        step[at] = np.abs((ends[1] - ends[0]) * later)
    return Weights(p, step)


def softmax_row(
    x: Float64,
    t: Float64,
    v: Float64,
    seen: Bools,
    kind: str,
    depth: int,
    sink: float | None = None,
    int8: Int8Scores | None = None,
) -> Row:
    """One row by the formulas; at least one key is visible or there is a sink.

    x, t: the scores and the sizes of what was summed up to them; v: the values (keys, width);
    kind: the type that the weights may be rounded to; depth: terms of a score's dot product.
    """
    # The sink is a key without a value.
    x_all = x[seen] if sink is None else np.append(x[seen], sink)
    t_all = t[seen] if sink is None else np.append(t[seen], abs(sink))
    v_all = v[seen] if sink is None else np.concatenate([v[seen], np.zeros((1, v.shape[1]))])
    m = float(x_all.max())
    with np.errstate(invalid="ignore", over="ignore"):
        e = np.exp(x_all - m)
        # What has no weight at all has no error either, even when it is infinite.
        t_all = np.where((e == 0) | ~np.isfinite(t_all), 0.0, t_all)
        total = float(e.sum())
        p = e / total
        terms = bounds.Terms.of_row(p, t_all, v_all)
        # A dot product of n terms in float32, whatever the order of the sums.
        eps = bounds.SLACK * 2.0**-24 * math.sqrt(depth)
        wide = eps * t_all + np.where(np.isfinite(x_all), 2.0**-24 * np.abs(x_all), 0.0)
        low, high = float((x_all - wide).max()), float((x_all + wide).max())
        near = wide[x_all + wide >= low]
        slip_max = float(near.max()) if len(near) else 0.0
        shift = eps * float(p @ t_all) + bounds.SLACK * SUM_ERROR
        lse = m + np.log(total)
        lse_interval = Interval.around(lse, shift + 2.0**-23 * (abs(m) + abs(lse)))
        grown = np.exp(shift + slip_max)
        sum_interval = Interval(
            np.asarray(total), np.asarray(total / grown), np.asarray(total * grown)
        )
    extra = np.zeros(v.shape[1])
    if int8 is not None:
        finite = np.where(np.isfinite(t), t, 0.0)
        slip = eps * finite + bounds.SLACK * EXP_ERROR + slip_max
        weights = _int8_weights(int8, x, seen, m, total, slip)
        size = np.abs(v[seen])
        q = weights.p[seen]
        terms = bounds.Terms(
            q @ v[seen],
            np.abs(q) @ size,
            np.sqrt((q * q) @ (size * size)),
            terms.w * max(float(q.sum()), 1.0),
        )
        # A rounded numerator does not follow an error of the sum, so the two do not cancel.
        extra = weights.step[seen] @ size + np.abs(terms.o) * (grown - 1.0)
    # Weights, products and sums may underflow.
    size = np.where(np.isfinite(v_all), np.abs(v_all), 0.0)
    reach = _reach(terms, kind) + extra + TINY * (len(v_all) + size.sum(axis=0))
    # Whether a NaN among the scores wins against numbers is left open; o, sum and lse are NaN.
    max_interval = Interval(np.asarray(m), np.asarray(low), np.asarray(high))
    if np.isnan(m):
        max_interval = Interval.anything(0.0)
    return Row(terms, reach, lse_interval, max_interval, sum_interval)


# Outputs ------------------------------------------------------------------------------------


@dataclass
class Written:
    """Elements of one output: their numbers in the buffer and what they may hold."""

    at: list[Int64] = field(default_factory=list)
    parts: list[Interval] = field(default_factory=list)

    def put(self, at: Int64, interval: Interval) -> None:
        flat = at.reshape(-1)
        self.at.append(flat)
        self.parts.append(
            Interval(
                *(
                    np.broadcast_to(np.asarray(getattr(interval, name), np.float64), at.shape)
                    .reshape(-1)
                    .astype(np.float64)
                    for name in ("value", "low", "high")
                )
            )
        )

    def elements(self) -> Int64:
        return np.concatenate(self.at) if self.at else np.zeros(0, np.int64)

    def interval(self) -> Interval:
        def joined(name: str) -> Float64:
            found = [getattr(part, name) for part in self.parts]
            return np.concatenate(found) if found else np.zeros(0)

        return Interval(joined("value"), joined("low"), joined("high"))


@dataclass(frozen=True)
class Result:
    outputs: dict[str, Written]
    needed: list[Bools]
    """Per buffer the bytes that the answer depends on; the others must not matter."""


_LARGEST = {F16: formats.largest("f16"), BF16: formats.largest("bf16")}
_LARGEST[F32] = float(np.finfo(np.float32).max)


def last_rounding(terms: bounds.Terms, kind: int) -> Float64:
    if kind == F32:
        return np.asarray(2.0**-24 * np.abs(terms.o) + TINY)
    name = KINDS[kind]
    with np.errstate(invalid="ignore"):
        last = bounds.rounded(terms, name) - bounds.accumulated(terms, name)
    return last + TINY if kind == BF16 else last


def _round_fp32(r: Float64) -> Float64:
    return np.clip(np.rint(r), -128, 127)


def _quantise(post: int, o: Float64, scale: Float64, offset: Float64, side: float) -> Float64:
    """Int8 of o; side -1 or 1 adds the float32 roundings of product and sum, 0 none."""
    with np.errstate(invalid="ignore", over="ignore"):
        if post == HALF_STEPS:
            h = formats.f16_even(formats.f16_even(o) * formats.f16_even(scale))
            h = formats.f16_even(h + formats.f16_even(offset))
            result = np.clip(np.rint(h), -128, 127)
        else:
            r = o * scale + offset
            r = r + side * 2.0**-23 * (np.abs(o * scale) + np.abs(offset))
            result = bounds.quantise_channel(r) if post == ROUND_AWAY else _round_fp32(r)
    return np.where(np.isnan(result), 0.0, result)


class _Writer:
    def __init__(self, problem: Problem, memory: _Memory) -> None:
        self.problem = problem
        self.memory = memory
        self.outputs = {name: Written() for name in problem.outputs()}

    def _at(self, view: View, b: int, s: int, n: int, width: int) -> Int64:
        d = np.arange(width, dtype=np.int64)
        return np.asarray(view.offset + b * view.b + s * view.s + n * view.h + d * view.d)

    def put_o(self, b: int, s: int, n: int, terms: bounds.Terms, reach: Float64 | None) -> None:
        """reach None: o is exactly that."""
        view, out = self.problem.out.o, self.problem.out
        if not view:
            return
        at = self._at(view, b, s, n, self.problem.headDimV)
        if out.post == POST_NO:
            if reach is None:
                interval = Interval.exactly(terms.o)
            else:
                interval = Interval.around(terms.o, last_rounding(terms, view.type) + reach)
        else:
            d = np.arange(self.problem.headDimV)
            scale = self.memory.view(out.scale, 0, 0, n, d)
            offset = self.memory.view(out.offset, 0, 0, n, d) if out.offset else np.zeros(len(d))
            wide = np.zeros(len(d)) if reach is None else reach
            ends = []
            # The image of an interval under a monotone function, with float32 slips on top.
            for end in (-1.0, 1.0):
                for side in (-1.0, 1.0):
                    ends.append(_quantise(out.post, terms.o + end * wide, scale, offset, side))
            value = _quantise(out.post, terms.o, scale, offset, 0.0)
            interval = Interval(value, np.minimum.reduce(ends), np.maximum.reduce(ends))
        self.outputs["o"].put(at, interval)

    def put_statistic(self, name: str, b: int, s: int, n: int, interval: Interval) -> None:
        if name in self.outputs:
            view = getattr(self.problem.out, name)
            at = self._at(view, b, s, n, max(self.problem.out.repeat, 1))
            self.outputs[name].put(at, interval)

    def put_row(self, b: int, s: int, n: int, row: Row) -> None:
        self.put_o(b, s, n, row.terms, row.reach)
        for name in ("lse", "max", "sum"):
            self.put_statistic(name, b, s, n, getattr(row, name))

    def put_constants(self, b: int, s: int, n: int, which: str) -> None:
        for name in ("lse", "max", "sum"):
            value = float(np.float32(getattr(self.problem.empty, name + which)))
            self.put_statistic(name, b, s, n, Interval.exactly(value))

    def put_zero(self, b: int, s: int, n: int, which: str) -> None:
        self.put_o(b, s, n, bounds.Terms.zeros(self.problem.headDimV), None)
        self.put_constants(b, s, n, which)


def _int8_scores(problem: Problem, memory: _Memory, n: int) -> Int8Scores | None:
    quant = problem.quant
    if quant.scores == SCORES_FLOAT:
        return None
    if not quant.pScale:
        return Int8Scores(quant.scores)
    return Int8Scores(quant.scores, float(memory.view(quant.pScale, 0, 0, n, 0)))


def _batch(problem: Problem, memory: _Memory, writer: _Writer, batch: Batch, layer: int) -> None:
    b, first = batch.number, batch.first
    group = problem.heads // problem.kvHeads
    if batch.keys == 0:
        if problem.empty.noKeys == EMPTY_ZERO:
            for i in range(batch.rows):
                for n in range(batch.heads.start * group, batch.heads.stop * group):
                    writer.put_zero(b, first + i, n, "NoKeys")
        return
    own = _own_rows(problem, memory, batch)
    seen = _visible(problem, batch)
    need = np.asarray(seen.any(axis=0), np.bool_)
    value_type = (problem.cache.kList if problem.cache.form == LIST else [problem.cache.k])[0].type
    kind = "bf16" if BF16 in (problem.q.type, value_type) else "f16"
    for g in batch.heads:
        k = _keys_or_values(problem, memory, batch, own, g, problem.headDim, need, layer, False)
        rope = None
        if problem.ropeDim:
            d = np.arange(problem.ropeDim)[None, :]
            rope = memory.view(
                problem.kRope,
                own.block[:, None],
                own.row[:, None],
                g,
                d,
                need[:, None],
                problem.cache.ropeFractal,
            )
        v = _keys_or_values(problem, memory, batch, own, g, problem.headDimV, need, layer, True)
        for n in range(g * group, (g + 1) * group):
            scores = _scores(problem, memory, batch, own, n, k, rope, seen)
            sink = None
            if problem.score.sink:
                sink = float(memory.view(problem.score.sink, 0, 0, n, 0))
            int8 = _int8_scores(problem, memory, n)
            factor = 1.0
            if problem.quant.pvScale:
                factor = float(memory.view(problem.quant.pvScale, 0, 0, n, 0))
            for i in range(batch.rows):
                x, t = scores.x[i], scores.t[i]
                policy = problem.empty.allMasked
                nothing = not (seen[i] & ~scores.replaced[i]).any()
                if not nothing and policy != FORMULA:
                    m = float(x[seen[i]].max())
                    m = m if sink is None else max(m, sink)
                    nothing = m == -np.inf
                if nothing and policy == UNTOUCHED:
                    continue
                if nothing and policy == MEAN:
                    every = np.ones(batch.keys, np.bool_)
                    v_all = _keys_or_values(
                        problem, memory, batch, own, g, problem.headDimV, every, layer, True
                    )
                    p = np.full(batch.keys, 1.0 / batch.keys)
                    mean = _scaled(bounds.Terms.of_row(p, np.zeros(batch.keys), v_all), factor)
                    writer.put_o(b, first + i, n, mean, _reach(mean, kind))
                    writer.put_constants(b, first + i, n, "AllMasked")
                    continue
                blind = not seen[i].any() and not problem.score.sink
                if nothing and (policy == EMPTY_ZERO or blind):
                    writer.put_zero(b, first + i, n, "AllMasked")
                    continue
                row = softmax_row(
                    x, t, v, seen[i], kind, problem.headDim + problem.ropeDim, sink, int8
                )
                writer.put_row(b, first + i, n, row.times(factor))


def _outside(problem: Problem, writer: _Writer, batches: Sequence[Batch]) -> None:
    if problem.empty.outside != EMPTY_ZERO or problem.out.rows == 0:
        return
    rows = problem.out.rows
    if problem.qBegin.from_ == HOST_BEGIN:
        free = np.ones(rows, np.bool_)
        for batch in batches:
            free[batch.first : batch.first + batch.rows] = False
        places = [(0, free)]
    else:
        places = []
        for batch in batches:
            free = np.ones(rows, np.bool_)
            free[batch.first : batch.first + batch.rows] = False
            if not batch.skipped and batch.heads.start == 0:
                places.append((batch.number, free))
    for b, free in places:
        for s in np.flatnonzero(free):
            for n in range(problem.heads):
                writer.put_zero(b, int(s), n, "NoKeys")


def evaluate(problem: Problem) -> Result:
    """The answer of a valid problem; DeviceFault when its late data is at fault."""
    memory = _Memory(problem.buffers)
    batches = _batches(problem, memory)
    layer = _layer(problem, memory)
    writer = _Writer(problem, memory)
    for batch in batches:
        if not batch.skipped:
            _batch(problem, memory, writer, batch, layer)
    _outside(problem, writer, batches)
    return Result(writer.outputs, memory.needed)


# Comparing ----------------------------------------------------------------------------------


def differences(
    problem: Problem, result: Result, before: Sequence[Bytes], after: Sequence[Bytes]
) -> list[str]:
    """What is wrong with the buffers after a call; empty when everything is admissible."""
    found = []
    free = [np.ones(len(buffer), np.bool_) for buffer in before]
    for name, view in problem.outputs().items():
        written = result.outputs[name]
        at = written.elements()
        size = size_of(view.type)
        for byte in range(size):
            free[view.buffer - 1][at * size + byte] = False
        got = np.asarray(read(after[view.buffer - 1], view.type, at), np.float64)
        text = _misfit(written.interval(), got, view.type)
        if text:
            found.append(f"{name}: {text}")
    for number, (old, new, untouched) in enumerate(zip(before, after, free, strict=True), 1):
        changed = np.flatnonzero(untouched & (old != new))
        if len(changed):
            found.append(
                f"buffer {number}: {len(changed)} bytes written that must stay, first {changed[0]}"
            )
    return found


def _misfit(expected: Interval, got: Float64, kind: int) -> str:
    nan = np.isnan(expected.value)
    with np.errstate(invalid="ignore"):
        inside = (got >= expected.low) & (got <= expected.high)
        if kind in _LARGEST:
            inside |= (got == np.inf) & (expected.high > _LARGEST[kind])
            inside |= (got == -np.inf) & (expected.low < -_LARGEST[kind])
            inside |= np.isinf(expected.value) & (got == expected.value)
            # An unbounded interval (infinite score errors) admits every number.
            inside |= np.isnan(expected.low) & ~nan & ~np.isnan(got)
            inside |= (expected.low == -np.inf) & (expected.high == np.inf)
    bad = np.where(nan, ~np.isnan(got), ~inside)
    if not bad.any():
        return ""
    with np.errstate(invalid="ignore", divide="ignore"):
        excess = np.abs(got - expected.value) / np.maximum(expected.high - expected.low, 2.0**-60)
    excess = np.where(bad, np.where(np.isnan(excess), np.inf, excess), -1.0)
    worst = int(np.argmax(excess))
    return (
        f"{int(bad.sum())} of {bad.size} elements outside their bound; worst is number {worst}: "
        f"got {got[worst]!r}, golden {expected.value[worst]!r}, "
        f"admissible [{expected.low[worst]!r}, {expected.high[worst]!r}]"
    )
