"""The attention engine below the operators, on numpy arrays: pyaclnn/engine.h in Python.

    out = engine.attention(q, k, v, scale=0.25)         # arrays of shape (B, N, S, D)
    engine.attention(q, k, v, out, scale=0.25, visible=engine.Visible(causal=True))

engine.h says what is computed and what each field means. The dataclasses here have the fields of
its structs by the same names, with these conveniences:

* a view is an array, or View(array, axes) where the letters of `axes` say which of the header's
  indices b, s, h, d each array axis is; a missing letter broadcasts
* a buffer slot (table, layer, padding, run) is an int32 or int64 array
* an enumeration is the last word of its enumerators in lower case: Mask(how="replace")
* None is "not given"

Calls are synchronous and need no device.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeAlias

import numpy as np

from . import arrays
from ._ffi import ffi, lib
from ._generated import CONSTANTS
from .arrays import Array, BFloat16Array
from .errors import check

__all__ = [
    "Begin",
    "Bias",
    "Cache",
    "Empty",
    "Lengths",
    "Mask",
    "Out",
    "Prepared",
    "Quant",
    "Score",
    "View",
    "Visible",
    "attention",
    "prepare",
]

_TYPES = {
    "float16": "F16",
    "bfloat16": "BF16",
    "float32": "F32",
    "int8": "I8",
    "uint8": "U8",
    "bool": "U8",
    "int32": "I32",
    "int64": "I64",
    "uint64": "I64",
}


@dataclass
class View:
    """A strided view: the array, its axes in the header's letters, and what deviates from them.

    type      an element type of the header where the array's dtype does not say it: "I4" (the array
              then holds bytes, two elements each; give all strides)
    strides   strides in elements by letter, instead of the array's own
    offset    elements to skip
    """

    array: Any
    axes: str = ""
    type: str | None = None
    strides: Mapping[str, int] = field(default_factory=dict)
    offset: int = 0


ViewLike: TypeAlias = View | Array | BFloat16Array | Any | None
Slot: TypeAlias = Array | Any | None
Ints: TypeAlias = Sequence[int] | Array | None


@dataclass
class Lengths:
    """Lengths per batch: `host` (ints), `device` (an int32 or int64 array, read when the call
    runs), or `bound` for every batch. kvLen of a perHead cache has batch * kvHeads values."""

    host: Ints = None
    device: Slot = None
    bound: int | None = None


@dataclass
class Begin:
    """The first row of each batch: 0, `host` (ints), or right-aligned in `extent` rows with
    `padding` (an int64 array of one value, read when the call runs)."""

    host: Ints = None
    rightAligned: bool = False
    padding: Slot = None
    extent: int = 0


@dataclass
class Cache:
    """Where the keys and values are. form: strided, list, paged."""

    form: str = "strided"
    valueIsKeyPrefix: bool = False
    k: ViewLike = None
    v: ViewLike = None
    kList: Sequence[ViewLike] | None = None
    vList: Sequence[ViewLike] | None = None
    table: Slot = None
    tableStride: int = 0
    blockSize: int = 0
    blockCount: int = 0
    fractal: int = 0
    ropeFractal: int = 0
    layer: Slot = None
    layerStride: int = 0
    layerStrideV: int = 0
    layerCount: int = 0
    window: int = 0
    ring: bool = False
    perHead: bool = False


@dataclass
class Quant:
    """k and v: none, tensor, head, channel, token, token_head, paged_token, paged_token_head.
    scores: float, static_int8, online_int8, times_int8."""

    k: str = "none"
    v: str = "none"
    scores: str = "float"
    kScale: ViewLike = None
    kOffset: ViewLike = None
    vScale: ViewLike = None
    vOffset: ViewLike = None
    qScale: ViewLike = None
    pScale: ViewLike = None
    pvScale: ViewLike = None


@dataclass
class Visible:
    """anchor: top_left, bottom_right."""

    causal: bool = False
    band: bool = False
    anchor: str = "top_left"
    pre: int = 0
    next: int = 0
    block: int = 0
    prefix: Ints = None


@dataclass
class Mask:
    """how: none, replace, add, add_times; rows: local, padded, absolute; columns: padded, local,
    tail; tileForm: diagonal, stripe, lower; grow: fixed, distance, root, column."""

    m: ViewLike = None
    how: str = "replace"
    value: float = -1e12
    rows: str = "local"
    columns: str = "padded"
    tile: int = 0
    tileForm: str = "diagonal"
    tileRow: int = 0
    tileCol: int = 0
    count: int = 0
    fractal: int = 0
    grow: str = "fixed"
    slopes: ViewLike = None


@dataclass
class Bias:
    """pseRows, alibiRows: local, padded, absolute; pseColumns: padded, local, tail; alibi: no,
    linear, sqrt, left_align, dist_linear, dist_sqrt."""

    pse: ViewLike = None
    beforeScale: bool = False
    pseRows: str = "local"
    pseColumns: str = "padded"
    alibi: str = "no"
    alibiRows: str = "local"
    slopes: ViewLike = None
    qStart: int = 0
    kStart: int = 0
    razor: ViewLike = None


@dataclass
class Score:
    """Factors; clamp is (low, high)."""

    scale: float = 1.0
    preScaleQ: float = 1.0
    roundQ: bool = False
    clamp: tuple[float, float] | None = None
    logN: ViewLike = None
    sink: ViewLike = None


@dataclass
class Empty:
    """Rows without keys: zero, untouched, mean, formula (see the header for which go where)."""

    noKeys: str = "zero"
    allMasked: str = "formula"
    outside: str = "zero"
    lseNoKeys: float = 0.0
    maxNoKeys: float = 0.0
    sumNoKeys: float = 0.0
    lseAllMasked: float = 0.0
    maxAllMasked: float = 0.0
    sumAllMasked: float = 0.0


@dataclass
class Out:
    """Outputs. post: no, half_steps, round_away, fp32."""

    o: ViewLike = None
    lse: ViewLike = None
    max: ViewLike = None
    sum: ViewLike = None
    post: str = "no"
    repeat: int = 0
    rows: int = 0
    scale: ViewLike = None
    offset: ViewLike = None


# Struct and field -> the prefix of the enumerators that the field takes.
_ENUMS = {
    ("pyaclnnEngineCache", "form"): "CACHE",
    ("pyaclnnEngineQuant", "k"): "QUANT",
    ("pyaclnnEngineQuant", "v"): "QUANT",
    ("pyaclnnEngineQuant", "scores"): "SCORES",
    ("pyaclnnEngineVisible", "anchor"): "",
    ("pyaclnnEngineMask", "how"): "MASK",
    ("pyaclnnEngineMask", "rows"): "ROWS",
    ("pyaclnnEngineMask", "columns"): "COLUMNS",
    ("pyaclnnEngineMask", "tileForm"): "TILE",
    ("pyaclnnEngineMask", "grow"): "GROW",
    ("pyaclnnEngineBias", "pseRows"): "ROWS",
    ("pyaclnnEngineBias", "pseColumns"): "COLUMNS",
    ("pyaclnnEngineBias", "alibi"): "ALIBI",
    ("pyaclnnEngineBias", "alibiRows"): "ROWS",
    ("pyaclnnEngineEmpty", "noKeys"): "EMPTY",
    ("pyaclnnEngineEmpty", "allMasked"): "EMPTY",
    ("pyaclnnEngineEmpty", "outside"): "EMPTY",
    ("pyaclnnEngineOut", "post"): "POST",
}
_SLOTS = frozenset({"table", "layer", "padding"})
# Which of the header's indices the axes of an array are by default.
_AXES = {
    "razor": "bs",
    "logN": "bs",
    "sink": "h",
    "slopes": "h",
    "m": "bshd",
    "pse": "bhsd",
    "pvScale": "h",
    "pScale": "h",
    "scale": "hd",
    "offset": "hd",
    "lse": "bhs",
    "max": "bhs",
    "sum": "bhs",
    "qScale": "bhs",
}


class _Builder:
    """Fills one problem: a table of buffers, and C arrays that live until the call is over."""

    def __init__(self, axes: str) -> None:
        self.axes = axes
        self.buffers: list[tuple[int, int]] = []
        self.known: dict[tuple[int, int], int] = {}
        self.alive: list[Any] = []

    def slot(self, address: int, size: int) -> int:
        key = (address, size)
        if key not in self.known:
            self.buffers.append(key)
            self.known[key] = len(self.buffers)
        return self.known[key]

    def array_slot(self, value: Slot, name: str) -> tuple[int, int]:
        """(buffer number, element type) of a contiguous array."""
        if value is None:
            return 0, 0
        d = arrays.describe(value, name)
        if not d.contiguous or d.dtype not in ("int32", "int64"):
            raise ValueError(
                f"engine: {name}: dtype {d.dtype} with strides {d.strides}, accepted are "
                "contiguous arrays of int32 or int64"
            )
        self.alive.append(value)
        size = d.extent * (4 if d.dtype == "int32" else 8)
        kind = CONSTANTS[f"PYACLNN_ENGINE_{_TYPES[d.dtype]}"]
        assert isinstance(kind, int)
        return self.slot(d.address, size), kind

    def ints(self, target: Any, value: Ints) -> None:
        if value is None:
            return
        numbers = [int(number) for number in value]
        data = ffi.new("int64_t[]", numbers)
        self.alive.append(data)
        target.data, target.count = data, len(numbers)

    def view(self, target: Any, value: ViewLike, name: str, write: bool = False) -> None:
        if value is None:
            return
        view = value if isinstance(value, View) else View(value)
        source = arrays.as_numpy(view.array, name)
        bits = source.bits if isinstance(source, BFloat16Array) else source
        dtype = "bfloat16" if isinstance(source, BFloat16Array) else bits.dtype.name
        kind = view.type or _TYPES.get(dtype)
        if kind is None:
            raise TypeError(f"engine: {name}: dtype {dtype}, accepted are {', '.join(_TYPES)}")
        if write and not bits.flags.writeable:
            raise ValueError(f"engine: {name}: a read-only array, an output needs a writable one")
        axes = view.axes or _AXES.get(name.rpartition(".")[2], self.axes)
        if bits.ndim != len(axes) and not view.strides:
            raise ValueError(
                f"engine: {name}: {bits.ndim} dimensions, accepted is one for each letter of "
                f"{axes!r}"
            )
        self.alive.append((view.array, source))
        size = bits.itemsize
        # Negative strides are fine here: the buffer starts at the lowest address.
        reach = [(n - 1) * s for n, s in zip(bits.shape, bits.strides, strict=True) if n > 0]
        below = sum(r for r in reach if r < 0)
        above = sum(r for r in reach if r > 0)
        address = bits.__array_interface__["data"][0]
        if any(s % size for s in bits.strides):
            raise ValueError(
                f"engine: {name}: strides {bits.strides} split elements of {size} bytes"
            )
        target.buffer = self.slot(address + below, (above - below + size) if bits.size else 0)
        target.type = CONSTANTS[f"PYACLNN_ENGINE_{kind}"]
        if not view.strides:
            for letter, n, stride in zip(axes, bits.shape, bits.strides, strict=True):
                setattr(target, letter, stride // size if n != 1 else 0)
        for letter, stride in view.strides.items():
            setattr(target, letter, stride)
        target.offset = -below // size + view.offset

    def group(self, target: Any, value: Any, name: str, write: bool = False) -> None:
        """Copies a dataclass into the struct of the same fields."""
        struct = ffi.typeof(target).cname.removeprefix("struct ").removesuffix(" &")
        fields = dict(ffi.typeof(struct).fields)
        for item in dataclasses.fields(value):
            given = getattr(value, item.name)
            where = f"{name}.{item.name}"
            kind = fields[item.name].type.cname.removeprefix("struct ")
            if item.name == "clamp":
                target.clamp, (target.lo, target.hi) = given is not None, given or (0.0, 0.0)
            elif kind == "pyaclnnEngineView":
                outputs = write and item.name in ("o", "lse", "max", "sum")
                self.view(getattr(target, item.name), given, where, outputs)
            elif kind == "pyaclnnEngineViews":
                self.views(getattr(target, item.name), given, where)
            elif kind == "pyaclnnEngineInts":
                self.ints(getattr(target, item.name), given)
            elif item.name in _SLOTS:
                setattr(target, item.name, self.array_slot(given, where)[0])
            elif (struct, item.name) in _ENUMS:
                setattr(target, item.name, self.enumerator(struct, item.name, given))
            else:
                setattr(target, item.name, given)

    @staticmethod
    def enumerator(struct: str, name: str, given: str) -> int:
        prefix = f"PYACLNN_ENGINE_{_ENUMS[struct, name]}_".replace("__", "_")
        value = CONSTANTS.get(prefix + given.upper())
        if not isinstance(value, int):
            known = [k[len(prefix) :].lower() for k in CONSTANTS if k.startswith(prefix)]
            raise ValueError(f"engine: {name}: {given!r}, accepted are {', '.join(known)}")
        return value

    def views(self, target: Any, value: Sequence[ViewLike] | None, name: str) -> None:
        if value is None:
            return
        data = ffi.new("pyaclnnEngineView[]", len(value))
        self.alive.append(data)
        for i, item in enumerate(value):
            member = item if isinstance(item, View) else View(item)
            axes = member.axes or self.axes
            self.view(data[i], dataclasses.replace(member, axes=axes), f"{name}[{i}]")
        target.data, target.count = data, len(value)

    def lengths(self, target: Any, value: Lengths | Ints, bound: int, name: str) -> None:
        lengths = value if isinstance(value, Lengths) else Lengths(value)
        target.bound = bound if lengths.bound is None else lengths.bound
        if lengths.device is not None:
            setattr(target, "from", CONSTANTS["PYACLNN_ENGINE_LENGTHS_DEVICE"])
            target.buffer, target.type = self.array_slot(lengths.device, name)
        elif lengths.host is not None:
            setattr(target, "from", CONSTANTS["PYACLNN_ENGINE_LENGTHS_HOST"])
            self.ints(target.host, lengths.host)

    def begin(self, target: Any, value: Begin | Ints, name: str) -> None:
        begin = value if isinstance(value, Begin) else Begin(value)
        if begin.rightAligned:
            setattr(target, "from", CONSTANTS["PYACLNN_ENGINE_BEGIN_RIGHT_ALIGNED"])
            target.padding = self.array_slot(begin.padding, f"{name}.padding")[0]
            target.extent = begin.extent
        elif begin.host is not None:
            setattr(target, "from", CONSTANTS["PYACLNN_ENGINE_BEGIN_HOST"])
            self.ints(target.host, begin.host)


def _extent(value: ViewLike, letter: str, axes: str) -> int | None:
    """The extent of an index of a view, None when the array does not tell."""
    if value is None:
        return None
    view = value if isinstance(value, View) else View(value)
    order = view.axes or axes
    shape = arrays.as_numpy(view.array).shape
    if view.strides or letter not in order or len(order) != len(shape):
        return None
    return shape[order.index(letter)]


class Prepared:
    """An attention whose arguments are converted: calling it computes, as often as wanted, on the
    arrays' contents of that moment. It holds the arrays.

    out   the output array
    """

    def __init__(self, problem: Any, alive: tuple[Any, ...], out: Array | BFloat16Array) -> None:
        self._problem = problem
        self._alive = alive
        self.out = out

    def __call__(self) -> Array | BFloat16Array:
        """Computes and returns the output array. Raises as attention() does."""
        check(lib.pyaclnnEngineAttention(self._problem), "pyaclnnEngineAttention")
        return self.out


def prepare(
    q: ViewLike,
    k: ViewLike = None,
    v: ViewLike = None,
    o: ViewLike = None,
    *,
    axes: str = "bhsd",
    scale: float | None = None,
    batch: int | None = None,
    heads: int | None = None,
    kvHeads: int | None = None,
    headDim: int | None = None,
    headDimV: int | None = None,
    ropeDim: int | None = None,
    queryMax: int | None = None,
    keyMax: int | None = None,
    qRope: ViewLike = None,
    kRope: ViewLike = None,
    kPrefix: ViewLike = None,
    vPrefix: ViewLike = None,
    prefixLen: int = 0,
    qLen: Lengths | Ints = None,
    kvLen: Lengths | Ints = None,
    qBegin: Begin | Ints = None,
    kvBegin: Begin | Ints = None,
    run: Slot = None,
    cache: Cache | None = None,
    quant: Quant | None = None,
    visible: Visible | None = None,
    mask: Mask | None = None,
    bias: Bias | None = None,
    score: Score | None = None,
    empty: Empty | None = None,
    out: Out | None = None,
) -> Prepared:
    """Converts the arguments of one attention; calling the result computes it.

    q      float16, bfloat16 (BFloat16Array or ml_dtypes), float32 or int8, (B, N, Sq, D)
    k, v   the same types, or int8 with quant: (B, Nkv, S, D) and (B, Nkv, S, Dv)
    o      where the result goes, (B, N, Sq, Dv); without it (and without out.o) a new array of q's
           type, float32 for an int8 q
    axes   the letters of q, k, v, o, ropes and prefixes where no View says otherwise: "bhsd" for
           the shapes above, "bshd" for (B, S, N, D)
    scale  factor of the scores, 1 without it
    batch .. keyMax   taken from the shapes of q, k and v where these determine them

    k, v, o and scale are short for cache=Cache(k=, v=), out=Out(o=) and score=Score(scale=). Every
    other keyword is a field of pyaclnnEngineProblem.

    Raises TypeError or ValueError for arrays that cannot be converted; what the engine refuses is
    raised when the result is called.
    """
    cache = dataclasses.replace(cache or Cache())
    out = dataclasses.replace(out or Out())
    score = dataclasses.replace(score or Score())
    if k is not None:
        cache.k = k
    if v is not None:
        cache.v = v
    if scale is not None:
        score.scale = scale
    paged, listed = cache.form == "paged", cache.form == "list"
    first_k = cache.kList[0] if listed and cache.kList else cache.k
    first_v = cache.vList[0] if listed and cache.vList else cache.v

    def number(given: int | None, *derived: int | None, what: str) -> int:
        for candidate in (given, *derived):
            if candidate is not None:
                return candidate
        raise ValueError(f"engine: {what}: not given, and the arrays' shapes do not tell it")

    sizes = {
        "batch": number(batch, _extent(q, "b", axes), what="batch"),
        "heads": number(heads, _extent(q, "h", axes), what="heads"),
        "headDim": number(headDim, _extent(q, "d", axes), what="headDim"),
        "queryMax": number(queryMax, _extent(q, "s", axes), what="queryMax"),
    }
    sizes["kvHeads"] = number(kvHeads, _extent(first_k, "h", axes), what="kvHeads")
    prefix = sizes["headDim"] if cache.valueIsKeyPrefix else None
    sizes["headDimV"] = number(headDimV, _extent(first_v, "d", axes), prefix, what="headDimV")
    sizes["ropeDim"] = number(ropeDim, _extent(qRope, "d", axes), 0, what="ropeDim")
    longest = None if paged else _extent(first_k, "s", axes)
    if listed and cache.kList:
        longest = max((_extent(item, "s", axes) or 0) for item in cache.kList)
    bound = kvLen.bound if isinstance(kvLen, Lengths) else None
    sizes["keyMax"] = number(keyMax, bound, longest, what="keyMax")

    if o is not None:
        out.o = o
    if out.o is None:
        out.o = _output_like(q, sizes["headDimV"], axes)

    problem = ffi.new("pyaclnnEngineProblem *")
    problem.size = ffi.sizeof("pyaclnnEngineProblem")
    problem.version = CONSTANTS["PYACLNN_ENGINE_VERSION"]
    for name, size in sizes.items():
        setattr(problem, name, size)
    build = _Builder(axes)
    for name, view in (("q", q), ("qRope", qRope), ("kRope", kRope)):
        build.view(getattr(problem, name), view, name)
    for name, view in (("kPrefix", kPrefix), ("vPrefix", vPrefix)):
        build.view(getattr(problem, name), view, name)
    problem.prefixLen = prefixLen
    build.lengths(problem.qLen, qLen, sizes["queryMax"], "qLen")
    build.lengths(problem.kvLen, kvLen, sizes["keyMax"], "kvLen")
    build.begin(problem.qBegin, qBegin, "qBegin")
    build.begin(problem.kvBegin, kvBegin, "kvBegin")
    problem.run = build.array_slot(run, "run")[0]
    if paged:
        # By default the blocks are the first axis and the table has one row per batch, or head.
        cache.blockCount = cache.blockCount or (_extent(cache.k, "b", axes) or 0)
        cache.blockSize = cache.blockSize or (_extent(cache.k, "s", axes) or 0)
        if cache.tableStride == 0 and cache.table is not None:
            cache.tableStride = arrays.describe(cache.table, "table").shape[-1]
    build.group(problem.cache, cache, "cache")
    build.group(problem.quant, quant or Quant(), "quant")
    build.group(problem.visible, visible or Visible(), "visible")
    build.group(problem.mask, mask or Mask(how="none"), "mask")
    build.group(problem.bias, bias or Bias(), "bias")
    build.group(problem.score, score, "score")
    build.group(problem.empty, empty or Empty(), "empty")
    build.group(problem.out, out, "out", write=True)
    buffers = ffi.new("pyaclnnEngineBuffer[]", len(build.buffers))
    for i, (address, size) in enumerate(build.buffers):
        buffers[i].data, buffers[i].bytes = ffi.cast("void *", address), size
    problem.buffers, problem.bufferCount = buffers, len(build.buffers)
    result = out.o.array if isinstance(out.o, View) else out.o
    return Prepared(problem, (buffers, build.alive), arrays.as_numpy(result))


_P = ParamSpec("_P")


def _computed(prepare: Callable[_P, Prepared]) -> Callable[_P, Array | BFloat16Array]:
    def attention(*args: _P.args, **kwargs: _P.kwargs) -> Array | BFloat16Array:
        """Computes one attention and returns the output array; parameters as of prepare().

        Raises AclError (100000) for what the engine refuses, and AclDeviceFaultError (507015) for
        faults in data that is only read when the call runs.
        """
        return prepare(*args, **kwargs)()

    attention.__signature__ = inspect.signature(prepare).replace(  # type: ignore[attr-defined]
        return_annotation="Array | BFloat16Array"
    )
    attention.__qualname__ = "attention"
    return attention


attention = _computed(prepare)


def _output_like(q: ViewLike, columns: int, axes: str) -> ViewLike:
    view = q if isinstance(q, View) else View(q)
    source = arrays.as_numpy(view.array, "q")
    order = view.axes or axes
    shape = tuple(columns if c == "d" else n for c, n in zip(order, source.shape, strict=True))
    if isinstance(source, BFloat16Array):
        return View(BFloat16Array(np.zeros(shape, np.uint16)), order)
    dtype = source.dtype if source.dtype.name != "int8" else np.dtype(np.float32)
    return View(np.zeros(shape, dtype), order)
