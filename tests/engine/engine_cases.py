"""Problems for the attention engine, and calls of its C entry in memory that tells on it.

``Maker`` lays tensors out in buffers; ``call`` turns a problem into the C struct, with every buffer
between inaccessible pages; ``check`` runs it under everything that must not matter.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
from golden import attention as att
from golden import formats
from golden.attention import Problem, View
from guarded import Block

Array = npt.NDArray[Any]
Bytes = npt.NDArray[np.uint8]

FAMILIES = ("uniform", "needle", "peaked")

#: What stands in bytes that nobody may depend on: as floats of any type the first is NaN, the
#: second NaN or huge; as integers -1 and large, as blocks and lengths out of range.
POISON = (0xFF, 0x7F)

#: What must not change a byte of the result: threads, place in memory, poison.
ROUNDS = ((1, "end", 0), (2, "begin", 1), (3, "odd", 0))

FILL = 0xA5


# The library --------------------------------------------------------------------------------


class Library:
    def __init__(self) -> None:
        from pyaclnn._ffi import ffi, lib

        self.ffi: Any = ffi
        self.lib: Any = lib

    def message(self) -> str:
        text = self.lib.aclGetRecentErrMsg()
        return "" if text == self.ffi.NULL else self.ffi.string(text).decode()

    def levels(self) -> list[str]:
        return str(self.ffi.string(self.lib.pyaclnnIsaLevels()).decode()).split()

    def kernel_levels(self) -> list[str]:
        """The levels with kernels: all but the reference."""
        return [level for level in self.levels() if level != "reference"]

    def set_threads(self, threads: int) -> None:
        assert self.lib.pyaclnnSetThreads(threads) == 0, self.message()

    def set_level(self, level: str) -> None:
        assert self.lib.pyaclnnSetIsa(level.encode()) == 0, self.message()

    def profile(self) -> tuple[str, int]:
        record = self.ffi.new("pyaclnnRunProfile *")
        assert self.lib.pyaclnnGetRunProfile(record) == 0
        return self.ffi.string(record.level).decode(), int(record.threads)

    @contextmanager
    def as_found(self) -> Iterator[None]:
        """Restores threads and level."""
        threads = int(self.lib.pyaclnnGetThreads())
        level = self.ffi.string(self.lib.pyaclnnGetIsa())
        try:
            yield
        finally:
            self.lib.pyaclnnSetThreads(threads)
            self.lib.pyaclnnSetIsa(level)


_library: list[Library] = []


def library() -> Library:
    if not _library:
        _library.append(Library())
    return _library[0]


# The struct ---------------------------------------------------------------------------------


def _fill(ffi: Any, struct: Any, value: Any, keep: list[Any]) -> None:
    """Copies a dataclass into the C struct with the same fields."""
    for item in dataclasses.fields(value):
        if item.name == "buffers":
            continue
        name = "from" if item.name == "from_" else item.name
        given = getattr(value, item.name)
        if dataclasses.is_dataclass(given):
            _fill(ffi, getattr(struct, name), given, keep)
        elif isinstance(given, list):
            target = getattr(struct, name)
            if not given:
                continue
            if isinstance(given[0], View):
                array = ffi.new("pyaclnnEngineView[]", len(given))
                for number, view in enumerate(given):
                    _fill(ffi, array[number], view, keep)
            else:
                array = ffi.new("int64_t[]", given)
            keep.append(array)
            target.data, target.count = array, len(given)
        else:
            setattr(struct, name, given)


@dataclasses.dataclass
class Struct:
    """A C struct with what it points to."""

    struct: Any
    keep: list[Any]


def to_c(problem: Problem, addresses: Sequence[int], sizes: Sequence[int]) -> Struct:
    ffi = library().ffi
    keep: list[Any] = []
    struct = ffi.new("pyaclnnEngineProblem *")
    _fill(ffi, struct, problem, keep)
    struct.size = ffi.sizeof("pyaclnnEngineProblem")
    struct.version = 1
    buffers = ffi.new("pyaclnnEngineBuffer[]", max(len(sizes), 1))
    for number, (address, size) in enumerate(zip(addresses, sizes, strict=True)):
        buffers[number].data = ffi.cast("void *", address)
        buffers[number].bytes = size
    keep.append(buffers)
    struct.buffers, struct.bufferCount = buffers, len(sizes)
    return Struct(struct, keep)


# Calling ------------------------------------------------------------------------------------


@dataclasses.dataclass
class Outcome:
    status: int
    message: str
    before: list[Bytes]
    after: list[Bytes]
    stray: list[int]
    """Buffers around which something was written."""

    def untouched(self) -> bool:
        same = all(np.array_equal(a, b) for a, b in zip(self.before, self.after, strict=True))
        return same and not self.stray


class Placed:
    """A problem whose buffers lie between inaccessible pages. Used as a context."""

    def __init__(
        self,
        problem: Problem,
        place: str = "end",
        poison: int | None = None,
        needed: Sequence[npt.NDArray[np.bool_]] | None = None,
    ) -> None:
        self.problem = problem
        self.outputs = {view.buffer for view in problem.outputs().values()}
        self.blocks: list[Block] = []
        self.before: list[Bytes] = []
        for number, buffer in enumerate(problem.buffers, 1):
            block = Block(len(buffer), place)
            self.blocks.append(block)
            memory = block.bytes()
            if number in self.outputs:
                memory[:] = FILL
            else:
                memory[:] = buffer
                if poison is not None and needed is not None:
                    memory[~needed[number - 1]] = POISON[poison]
            self.before.append(memory.copy())
        sizes = [len(memory) for memory in self.before]
        self.built = to_c(problem, [block.address for block in self.blocks], sizes)

    def clear(self) -> None:
        """Outputs hold nothing of an earlier call."""
        for number, block in enumerate(self.blocks, 1):
            if number in self.outputs:
                block.bytes()[:] = FILL

    def run(self) -> Outcome:
        """One call, into outputs that hold nothing of an earlier one."""
        self.clear()
        lib = library()
        lib.message()
        status = int(lib.lib.pyaclnnEngineAttention(self.built.struct))
        return self.outcome(status, lib.message())

    def outcome(self, status: int, message: str) -> Outcome:
        """What is in memory now."""
        after = [block.bytes().copy() for block in self.blocks]
        stray = [number for number, block in enumerate(self.blocks, 1) if not block.intact()]
        return Outcome(status, message, self.before, after, stray)

    def __enter__(self) -> Placed:
        return self

    def __exit__(self, *_: object) -> None:
        for block in self.blocks:
            block.release()


def call(problem: Problem, change: Callable[[Any], None] | None = None) -> Outcome:
    """One call. ``change`` may spoil the C struct first."""
    with Placed(problem) as placed:
        if change is not None:
            change(placed.built.struct)
        return placed.run()


def output_bytes(problem: Problem, outcome: Outcome) -> bytes:
    numbers = sorted({view.buffer for view in problem.outputs().values()})
    return b"".join(outcome.after[number - 1].tobytes() for number in numbers)


def _without_nan(problem: Problem, outcome: Outcome) -> bytes:
    """The output bytes with every NaN alike: where the answer is NaN, its bits are left open."""
    parts = []
    for view in problem.outputs().values():
        memory = outcome.after[view.buffer - 1].copy()
        size = att.size_of(view.type)
        if view.type in (att.F16, att.BF16, att.F32):
            cells = memory[: len(memory) // size * size].reshape(-1, size)
            cells[np.isnan(att.read(memory, view.type, np.arange(len(cells))))] = 0
        parts.append(memory.tobytes())
    return b"".join(parts)


def check(problem: Problem, levels: Sequence[str] | None = None) -> None:
    """Golden within bounds at every level, equal bytes whatever must not matter."""
    lib = library()
    result = att.evaluate(problem)
    first: dict[str, Outcome] = {}
    with lib.as_found():
        for threads, place, poison in ROUNDS:
            lib.set_threads(threads)
            with Placed(problem, place, poison, result.needed) as placed:
                for level in levels or lib.levels():
                    lib.set_level(level)
                    what = (
                        f"level {level}, {threads} threads, place {place}, "
                        f"poison {POISON[poison]:#x}"
                    )
                    outcome = placed.run()
                    assert outcome.status == 0, f"{what}: {outcome.status} {outcome.message}"
                    assert not outcome.stray, f"{what}: wrote around buffers {outcome.stray}"
                    wrong = att.differences(problem, result, outcome.before, outcome.after)
                    assert not wrong, f"{what}: " + "; ".join(wrong)
                    one = first.setdefault(level, outcome)
                    same = output_bytes if poison == ROUNDS[0][2] else _without_nan
                    equal = same(problem, outcome) == same(problem, one)
                    assert equal, f"{what}: other bytes than with the first round"


def run_bytes(problem: Problem) -> bytes:
    """The output bytes of one plain call."""
    outcome = call(problem)
    assert outcome.status == 0, outcome.message
    return output_bytes(problem, outcome)


# Making problems ----------------------------------------------------------------------------


def encode(values: Array, kind: int) -> Array:
    """Values as memory of an element type (not I4)."""
    name = att.KINDS[kind]
    if kind in (att.F16, att.BF16, att.F32):
        return formats.encode(values, name)
    return np.rint(values).astype(formats.TYPES[name][0])


class Maker:
    """Adds tensors to a problem."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.problem = Problem()

    def buffer(self, memory: Array) -> int:
        raw = np.frombuffer(np.ascontiguousarray(memory).tobytes(), np.uint8).copy()
        self.problem.buffers.append(raw)
        return len(self.problem.buffers)

    def tensor(
        self,
        kind: int,
        values: Array,
        order: str = "bshd",
        pads: Mapping[str, int] | None = None,
        offset: int = 0,
        negative: str = "",
    ) -> View:
        """A tensor of logical shape (b, s, h, d), stored with the axes in `order`.

        ``pads`` adds unused elements after each run of an axis, axes in ``negative`` run backwards.
        An axis of extent 1 gets stride 0.
        """
        values = np.asarray(values, np.float64)
        assert values.ndim == 4
        extents = dict(zip("bshd", values.shape, strict=True))
        strides: dict[str, int] = {}
        step = 1
        for axis in reversed(order):
            strides[axis] = step
            step *= extents[axis]
            step += (pads or {}).get(axis, 0)
        first = offset
        for axis in negative:
            first += (extents[axis] - 1) * strides[axis]
            strides[axis] = -strides[axis]
        at = np.full(values.shape, first, np.int64)
        for number, axis in enumerate("bshd"):
            shape = [1] * 4
            shape[number] = extents[axis]
            at = at + (np.arange(extents[axis]) * strides[axis]).reshape(shape)
        count = int(at.max()) + 1 if at.size else offset
        number = self._store(kind, at, values, count)
        flat = {axis: 0 if extents[axis] == 1 else strides[axis] for axis in "bshd"}
        return View(number, kind, flat["b"], flat["s"], flat["h"], flat["d"], first)

    def _store(self, kind: int, at: npt.NDArray[np.int64], values: Array, count: int) -> int:
        if kind == att.I4:
            memory = self.rng.integers(0, 256, (count + 1) // 2).astype(np.uint8)
            nibbles = np.zeros(2 * len(memory), np.uint8)
            nibbles[0::2], nibbles[1::2] = memory & 15, memory >> 4
            nibbles[at] = np.rint(values).astype(np.int64) & 15
            return self.buffer(nibbles[0::2] | (nibbles[1::2] << 4))
        cells = np.zeros(count, encode(np.zeros(1), kind).dtype)
        cells[at] = encode(values, kind)
        return self.buffer(cells)

    def fractal(self, kind: int, values: Array, c: int, gap: int = 0, tight: bool = False) -> View:
        """(b, s, h, d) in NZ storage: per b the columns in slabs of c, each with all rows.

        tight: the buffer ends with the last element that is used, not with its slab.
        """
        values = np.asarray(values, np.float64)
        b, s, h, d = values.shape
        columns = h * d
        slabs = -(-columns // c)
        d_stride = s * c + gap
        b_stride = slabs * d_stride
        flat = values.reshape(b, s, columns)
        x = np.arange(columns)
        at = (
            np.arange(b)[:, None, None] * b_stride
            + np.arange(s)[None, :, None] * c
            + (x // c * d_stride + x % c)[None, None, :]
        )
        last = int(at.max()) + 1 if tight else b * b_stride
        number = self._store(kind, at, flat, last)
        return View(number, kind, b_stride, c, d, d_stride, 0)

    def output(
        self,
        kind: int,
        shape: Sequence[int],
        order: str = "bshd",
        pads: Mapping[str, int] | None = None,
        offset: int = 0,
    ) -> View:
        return self.tensor(kind, np.zeros(tuple(shape)), order, pads, offset)

    def words(self, values: Sequence[int] | Array, kind: int = att.I32) -> int:
        return self.buffer(np.asarray(values, np.int32 if kind == att.I32 else np.int64))


# Data ---------------------------------------------------------------------------------------


def query_values(
    rng: np.random.Generator,
    family: str,
    shape: Sequence[int],
    scale: float,
    integral: bool = False,
) -> Array:
    """uniform: anything. peaked: scores about 30 apart. needle: every other head is 0 and weighs
    all keys alike, the others look for one channel."""
    shape = tuple(shape)
    size = abs(scale) or 1.0
    if integral:
        reach = {"uniform": 100, "needle": 0, "peaked": 127}[family]
        values = rng.integers(-reach, reach + 1, shape).astype(np.float64)
        if family == "needle":
            values[:, :, 1::2, 0] = 127
        return values
    if family == "needle":
        values = np.zeros(shape)
        values[:, :, 1::2, 0] = min(40.0 / size, 3e4)
        return values
    if family == "peaked":
        reach_of = min(30.0 / (size * np.sqrt(max(shape[3], 1))), 3e3)
        return rng.uniform(-reach_of, reach_of, shape)
    return rng.uniform(-1, 1, shape)


def cache_values(
    rng: np.random.Generator, family: str, shape: Sequence[int], values: bool, kind: int
) -> Array:
    """Keys or values of logical shape (b, s, h, d)."""
    shape = tuple(shape)
    top = {att.I8: 127, att.I4: 7}.get(kind)
    if family == "needle":
        b, s, h, d = np.indices(shape)
        if values:
            width = max(shape[3], 1)
            mine = (s * 7 + h + 3 * b) % width == d
            result = np.where(mine, 1.0 + (s // width + h + b) % 7 / 8.0, 0.0)
        else:
            first = np.where((s + h + b) % 5 == 2, 1.0, -1.0)
            result = np.where(d == 0, first, np.rint(rng.uniform(-8, 8, shape)) / 8)
        return np.rint(result * (top * 0.5)) if top else result
    if top:
        return rng.integers(-top - 1, top + 1, shape).astype(np.float64)
    if family == "peaked":
        return rng.uniform(-2, 2, shape) + (8.0 if values else 2.0)
    return rng.uniform(-1, 1, shape)


# A plain problem to vary --------------------------------------------------------------------


@dataclasses.dataclass
class Shape:
    """What a strided problem needs to be laid out."""

    batch: int = 2
    heads: int = 4
    kvHeads: int = 2
    headDim: int = 16
    headDimV: int = 16
    ropeDim: int = 0
    rows: int = 3
    keys: int = 37
    prefix: int = 0
    qType: int = att.F16
    kvType: int = att.F16
    outType: int = att.F16
    ropeType: int = att.F16
    family: str = "uniform"
    scale: float = 0.25


class Plain(Maker):
    """A problem with strided tensors, full lengths, all four outputs; methods replace its parts."""

    def __init__(self, seed: int = 0, **given: Any) -> None:
        super().__init__(np.random.default_rng(seed))
        self.shape = shape = Shape(**given)
        p = self.problem
        for name in ("batch", "heads", "kvHeads", "headDim", "headDimV", "ropeDim"):
            setattr(p, name, getattr(shape, name))
        p.queryMax, p.keyMax, p.prefixLen = shape.rows, shape.keys, shape.prefix
        p.qLen.bound, p.kvLen.bound = shape.rows, shape.keys
        p.score.scale = shape.scale
        #: Batches and rows of the query's and of the own keys' tensors.
        self.query_axes = (shape.batch, shape.rows)
        self.key_axes = (shape.batch, shape.keys)
        self.queries()
        self.strided()
        if shape.prefix:
            p.kPrefix = self.tensor(shape.kvType, self.keys((1, shape.prefix)))
            p.vPrefix = self.tensor(shape.kvType, self.values((1, shape.prefix)))
        self.results()

    # Data

    def query(self, axes: tuple[int, int]) -> Array:
        shape = self.shape
        full = (*axes, shape.heads, shape.headDim)
        return query_values(self.rng, shape.family, full, shape.scale, shape.qType == att.I8)

    def keys(self, axes: tuple[int, int]) -> Array:
        shape = self.shape
        full = (*axes, shape.kvHeads, shape.headDim)
        return cache_values(self.rng, shape.family, full, False, shape.kvType)

    def values(self, axes: tuple[int, int]) -> Array:
        shape = self.shape
        full = (*axes, shape.kvHeads, shape.headDimV)
        return cache_values(self.rng, shape.family, full, True, shape.kvType)

    def ropes(self, axes: tuple[int, int], heads: int) -> Array:
        reach = 3.0 if self.shape.family == "peaked" else 1.0
        return self.rng.uniform(-reach, reach, (*axes, heads, self.shape.ropeDim))

    # Tensors

    def queries(
        self,
        order: str = "bshd",
        pads: Mapping[str, int] | None = None,
        offset: int = 0,
        negative: str = "",
    ) -> None:
        p, shape = self.problem, self.shape
        how = (order, pads, offset, negative)
        p.q = self.tensor(shape.qType, self.query(self.query_axes), *how)
        if shape.ropeDim:
            ropes = self.ropes(self.query_axes, shape.heads)
            p.qRope = self.tensor(shape.ropeType, ropes, *how)

    def results(
        self,
        order: str = "bshd",
        pads: Mapping[str, int] | None = None,
        offset: int = 0,
        names: Sequence[str] = ("o", "lse", "max", "sum"),
    ) -> None:
        p, shape = self.problem, self.shape
        for name in ("o", "lse", "max", "sum"):
            width = shape.headDimV if name == "o" else max(p.out.repeat, 1)
            kind = shape.outType if name == "o" else att.F32
            view = View()
            if name in names:
                view = self.output(
                    kind, (*self.query_axes, shape.heads, width), order, pads, offset
                )
            setattr(p.out, name, view)

    def _layered(self, view: View, layers: int, batches: int, fractal: int) -> tuple[View, int]:
        """A tensor whose batch axis holds all layers: one of them, and the distance of two."""
        if layers == 1:
            return view, 0
        step = view.b * batches
        return (dataclasses.replace(view, b=0) if batches == 1 else view), step

    def _lay_cache(
        self,
        axes: tuple[int, int],
        order: str,
        pads: Mapping[str, int] | None,
        fractal: int,
        rope_fractal: int,
        layers: int,
        offset: int = 0,
        negative: str = "",
    ) -> None:
        p, shape = self.problem, self.shape
        all_layers = (axes[0] * layers, axes[1])

        def lay(kind: int, values: Array, c: int) -> View:
            if c:
                return self.fractal(kind, values, c, 3)
            return self.tensor(kind, values, order, pads, offset, negative)

        cache = p.cache
        cache.fractal, cache.ropeFractal = fractal, rope_fractal
        cache.k, cache.layerStride = self._layered(
            lay(shape.kvType, self.keys(all_layers), fractal), layers, axes[0], fractal
        )
        if not cache.valueIsKeyPrefix:
            cache.v, cache.layerStrideV = self._layered(
                lay(shape.kvType, self.values(all_layers), fractal), layers, axes[0], fractal
            )
        if layers > 1:
            cache.layerCount = layers
            cache.layer = self.words([int(self.rng.integers(layers))])
        if shape.ropeDim:
            p.kRope = lay(shape.ropeType, self.ropes(axes, shape.kvHeads), rope_fractal)

    def strided(
        self,
        order: str = "bshd",
        pads: Mapping[str, int] | None = None,
        fractal: int = 0,
        rope_fractal: int = 0,
        layers: int = 1,
        offset: int = 0,
        negative: str = "",
    ) -> None:
        cache = self.problem.cache
        cache.form = att.STRIDED
        axes = (self.key_axes[0], cache.window) if cache.ring else self.key_axes
        self._lay_cache(axes, order, pads, fractal, rope_fractal, layers, offset, negative)

    def listed(self, orders: Sequence[str] = ("bshd", "bhsd", "bsdh")) -> None:
        """One tensor per batch, each with its own order of axes."""
        p, shape = self.problem, self.shape
        p.cache.form, p.cache.k, p.cache.v = att.LIST, View(), View()
        p.cache.kList, p.cache.vList = [], []
        axes = (1, p.cache.window if p.cache.ring else self.key_axes[1])
        if shape.ropeDim:
            ropes = self.ropes((shape.batch, axes[1]), shape.kvHeads)
            p.kRope = self.tensor(shape.ropeType, ropes)
        for b in range(shape.batch):
            order = orders[b % len(orders)]
            p.cache.kList.append(self.tensor(shape.kvType, self.keys(axes), order))
            if not p.cache.valueIsKeyPrefix:
                p.cache.vList.append(self.tensor(shape.kvType, self.values(axes), order))

    def paged(
        self,
        block: int = 16,
        order: str = "bshd",
        pads: Mapping[str, int] | None = None,
        fractal: int = 0,
        rope_fractal: int = 0,
        layers: int = 1,
        spare: int = 2,
        more_columns: int = 1,
    ) -> None:
        """Blocks in random order behind a table that has columns to spare, with the rows that
        perHead asks for."""
        cache = self.problem.cache
        entries = self.shape.batch * (self.shape.kvHeads if cache.perHead else 1)
        rows = cache.window if cache.ring else self.key_axes[1]
        columns = -(-rows // block) + more_columns
        count = entries * columns + spare
        table = self.rng.permutation(count)[: entries * columns]
        cache.form = att.PAGED
        cache.table, cache.tableStride = self.words(table), columns
        cache.blockSize, cache.blockCount = block, count
        self._lay_cache((count, block), order, pads, fractal, rope_fractal, layers)

    # Quantisation

    def scale_shape(self, by: int, width: int) -> tuple[int, int, int, int]:
        p = self.problem
        heads, batch = p.kvHeads, p.batch
        rows = max(p.prefixLen + self.key_axes[1], 1)
        paged = (p.cache.blockCount, p.cache.blockSize)
        return {
            att.TENSOR: (1, 1, 1, 1),
            att.HEAD: (batch, 1, heads, 1),
            att.CHANNEL: (batch, 1, heads, width),
            att.TOKEN: (batch, rows, 1, 1),
            att.TOKEN_HEAD: (batch, rows, heads, 1),
            att.PAGED_TOKEN: (*paged, 1, 1),
            att.PAGED_TOKEN_HEAD: (*paged, heads, 1),
        }[by]

    def scale_values(self, kind: int, shape: Sequence[int], top: float) -> View:
        values = self.rng.uniform(0.5, 1.5, tuple(shape)) / top
        if kind != att.I64:
            return self.tensor(kind, values)
        view = self.tensor(att.F32, values)
        floats = self.problem.buffers[view.buffer - 1].view(np.uint32)
        junk = self.rng.integers(0, 1 << 32, len(floats), dtype=np.uint64) << np.uint64(32)
        low = floats.astype(np.uint64) | np.uint64(0x1ABC)
        return dataclasses.replace(view, buffer=self.buffer(junk | low), type=att.I64)

    def quantised(self, k: int, v: int, scale: int = att.F32, offset: int = 0) -> None:
        """Scales (and offsets of type `offset`) of the integer cache."""
        p, shape = self.problem, self.shape
        top = 7.0 if shape.kvType == att.I4 else 127.0
        quant = p.quant
        quant.k, quant.v = k, v
        for name, by, width in (("k", k, shape.headDim), ("v", v, shape.headDimV)):
            if by == att.NONE or (name == "v" and p.cache.valueIsKeyPrefix):
                continue
            axes = self.scale_shape(by, width)
            setattr(quant, name + "Scale", self.scale_values(scale, axes, top))
            if offset:
                values = np.rint(self.rng.uniform(-top / 8, top / 8, axes))
                setattr(quant, name + "Offset", self.tensor(offset, values))

    # Packing

    def packed_queries(self, lengths: Sequence[int], gap: int = 0) -> None:
        begins = [sum(lengths[:b]) + b * gap for b in range(len(lengths))]
        p = self.problem
        self.query_axes = (1, max(begins[-1] + lengths[-1] + gap, 1))
        p.qLen = att.Lengths(att.HOST, host=list(lengths), bound=p.queryMax)
        p.qBegin = att.Begin(att.HOST_BEGIN, host=begins)
        self.queries()
        self.results()

    def packed_keys(self, lengths: Sequence[int], gap: int = 0) -> None:
        begins = [sum(lengths[:b]) + b * gap for b in range(len(lengths))]
        p = self.problem
        self.key_axes = (1, max(begins[-1] + lengths[-1] + gap, 1))
        p.kvLen = att.Lengths(att.HOST, host=list(lengths), bound=p.keyMax)
        p.kvBegin = att.Begin(att.HOST_BEGIN, host=begins)
        self.strided()
