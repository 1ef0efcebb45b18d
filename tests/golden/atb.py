"""What the models of the ATB operators share: calls, layouts, reading, attention rows, data.

Parameters carry the names of the header, tensors those of the operators' documentation. Floating
tensors are float64 arrays that hold what the formats held; integers stay integers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from . import attention, bounds, formats
from .attention import DeviceFault, Int8Scores, Interval

Array = npt.NDArray[Any]
Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

ND, NZ = 2, 29

#: Elements of one fractal column: 32 bytes.
FRACTAL = 16

#: Data families that each numeric case runs.
FAMILIES = ("uniform", "needle", "peaked")

#: What the products are to the operators.
GENERATION = {
    "atlas-a2": "A2",
    "atlas-a3": "A2",
    "atlas-310p": "310P",
    "atlas-910": "910A",
    "ascend-950": "950",
}

SELF_ATTENTION = "SelfAttentionOperation"
PAGED_ATTENTION = "PagedAttentionOperation"
RESHAPE_AND_CACHE = "ReshapeAndCacheOperation"

#: Fields of the parameter structs with their defaults; rsv: its first bytes, the others are 0.
PARAMETERS: Mapping[str, Mapping[str, Any]] = {
    SELF_ATTENTION: {
        "quantType": 0,
        "outDataType": -1,
        "headNum": 0,
        "kvHeadNum": 0,
        "qScale": 1.0,
        "qkScale": 1.0,
        "batchRunStatusEnable": False,
        "isTriuMask": 0,
        "calcType": 0,
        "kernelType": 0,
        "clampType": 0,
        "clampMin": 0.0,
        "clampMax": 0.0,
        "maskType": 0,
        "kvcacheCfg": 0,
        "scaleType": 0,
        "inputLayout": 0,
        "mlaVHeadSize": 0,
        "cacheType": 0,
        "windowSize": 0,
        "rsv": (),
    },
    PAGED_ATTENTION: {
        "headNum": 0,
        "qkScale": 1.0,
        "kvHeadNum": 0,
        "maskType": 0,
        "batchRunStatusEnable": False,
        "quantType": 0,
        "outDataType": -1,
        "hasQuantOffset": False,
        "compressType": 0,
        "calcType": 0,
        "scaleType": 0,
        "inputLayout": 0,
        "mlaVHeadSize": 0,
        "qScale": 0.0,
        "rsv": (),
    },
    RESHAPE_AND_CACHE: {"compressType": 0, "kvCacheCfg": 0, "rsv": ()},
}

#: Bytes of rsv.
RESERVED = {SELF_ATTENTION: 64, PAGED_ATTENTION: 64, RESHAPE_AND_CACHE: 16}

#: Names of the inputs in the order of the VariantPack, whichever of them a mode has.
INPUTS: Mapping[str, tuple[str, ...]] = {
    SELF_ATTENTION: (
        "query", "key", "value", "cacheK", "cacheV", "blockTables", "mask", "tokenOffset",
        "seqLen", "kvSeqLen", "layerId", "batchRunStatus", "slopes", "qkDescale", "qkOffset",
        "vpvDescale", "vpvOffset", "pScale", "logN",
    ),
    PAGED_ATTENTION: (
        "query", "keyCache", "valueCache", "blockTables", "contextLens", "mask", "batchRunStatus",
        "kDescale", "kOffset", "vDescale", "vOffset", "qSeqLen", "razorOffset", "pScale", "logN",
    ),
    RESHAPE_AND_CACHE: (
        "key", "value", "keyCache", "valueCache", "slotMapping", "wins", "seqLen", "offsetIndex",
    ),
}  # fmt: skip

OUTPUTS: Mapping[str, tuple[str, ...]] = {
    SELF_ATTENTION: ("output",),
    PAGED_ATTENTION: ("output",),
    RESHAPE_AND_CACHE: ("keyCacheOut", "valueCacheOut"),
}

# SelfAttentionParam
FULL_PHASE, ENCODER, DECODER, PA_ENCODER, PREFIX_ENCODER = range(5)
KERNEL_DEFAULT, HIGH_PRECISION, EXP_M8V2 = range(3)
MASK_NONE, NORM, ALIBI, NORM_COMPRESS, ALIBI_COMPRESS, ALIBI_SQRT, LEFT_ALIGN = range(7)
SWA_NORM, SWA_COMPRESS, CAUSAL = 7, 8, 9
CACHES, BYPASS = range(2)
TOR, LOGN = range(2)
BSND, BNSD = range(2)
QUANT_NONE, DEQUANT_FUSION, QUANT_OFFLINE, QUANT_ONLINE = range(4)
CACHE_NORM, CACHE_SWA = range(2)
# PagedAttentionParam
MASK_SPEC, MASK_FREE, PAGED_NORM_COMPRESS = 3, 4, 5
COMPRESS_NONE, KVHEAD, KVHEAD_ROPE = range(3)
CALC_UNDEFINED, CALC_SPEC = range(2)
# ReshapeAndCacheParam
V_CACHE, V_BYPASS, V_CACHE_NZ = range(3)

#: The factor of masks that hold 1 where a position does not count.
MASKED = np.float32(-3e38)


# Calls ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tensor:
    """A tensor of a VariantPack. ``where``: which of its two pointers are set."""

    kind: str
    dims: tuple[int, ...]
    format: int = ND
    where: str = "device"  # device, host, both, none
    host: Array | None = None
    device: Array | None = None
    items: tuple[Tensor, ...] = ()
    """hostData points to a vector of these."""

    @property
    def on_host(self) -> bool:
        return self.where in ("host", "both")

    @property
    def on_device(self) -> bool:
        return self.where in ("device", "both")

    @property
    def rank(self) -> int:
        return len(self.dims)

    @property
    def count(self) -> int:
        return math.prod(self.dims)

    @property
    def description(self) -> tuple[str, int, tuple[int, ...]]:
        return self.kind, self.format, self.dims

    def numbers(self) -> list[int]:
        """Integers that the host reads if it can."""
        held = self.host if self.host is not None else self.device
        assert held is not None
        return [int(number) for number in np.asarray(held).reshape(-1)]


@dataclass(frozen=True)
class Call:
    """A parameter with all its fields, and the tensors by name in the order of the VariantPack."""

    operator: str
    product: str
    param: Mapping[str, Any]
    tensors: Mapping[str, Tensor]
    outputs: Mapping[str, Tensor] = field(default_factory=dict)

    @property
    def generation(self) -> str:
        return GENERATION[self.product]

    @property
    def a2(self) -> bool:
        return self.generation == "A2"

    @property
    def nz(self) -> bool:
        """Caches and masks are NZ, rows of a batch are aligned."""
        return self.generation in ("310P", "910A")

    @property
    def kv_heads(self) -> int:
        return int(self.param["kvHeadNum"]) or int(self.param["headNum"])


def roundup(number: int, step: int = FRACTAL) -> int:
    return -(-number // step) * step


# Layouts --------------------------------------------------------------------------------------


class Layout:
    """Where the element of a head, position and channel is.

    Letters name the axes: L layer, B batch or block, S position, K head, D channel, X head and
    channel together, P batch and head together, F and f the column cut into pieces of the last
    axis; the column is the channel where P is an axis, else head and channel together.
    """

    def __init__(self, letters: str, dims: Sequence[int], heads: int, width: int) -> None:
        assert len(letters) == len(dims), (letters, dims)
        self.letters, self.dims, self.heads, self.width = letters, tuple(dims), heads, width

    def index(self, *, layer: Any = 0, b: Any = 0, s: Any = 0, h: Any = 0, d: Any = 0) -> Int64:
        h, d = np.asarray(h, np.int64), np.asarray(d, np.int64)
        flat = h * self.width + d
        column = d if "P" in self.letters else flat
        piece = self.dims[-1]
        at = {
            "L": layer,
            "B": b,
            "S": s,
            "K": h,
            "D": d,
            "X": flat,
            "P": np.asarray(b, np.int64) * self.heads + h,
            "F": column // piece,
            "f": column % piece,
        }
        result = np.zeros((), np.int64)
        for letter, extent in zip(self.letters, self.dims, strict=True):
            result = result * extent + np.asarray(at[letter], np.int64)
        return result

    def coordinates(self) -> tuple[Int64, Int64, Int64]:
        """Head, position and channel of every element; positions go on over batches and blocks."""
        axes = dict(zip(self.letters, np.indices(self.dims, dtype=np.int64), strict=True))
        zero = np.zeros(self.dims, np.int64)
        column = axes["F"] * self.dims[-1] + axes["f"] if "F" in axes else axes.get("X", zero)
        channel = axes.get("D", column if "P" in axes else column % self.width)
        head = axes.get("K", axes["P"] % self.heads if "P" in axes else column // self.width)
        outer = axes["P"] // self.heads if "P" in axes else axes.get("B", zero)
        return head, outer * self.dims[self.letters.index("S")] + axes["S"], channel


def fractal(values: Array, piece: int = FRACTAL) -> Array:
    """[n, R, C] -> NZ [n, ceil(C / piece), roundup(R, 16), piece], padding 0."""
    n, rows, columns = values.shape
    wide = np.zeros((n, roundup(rows), roundup(columns, piece)), values.dtype)
    wide[:, :rows, :columns] = values
    split = wide.reshape(n, wide.shape[1], wide.shape[2] // piece, piece)
    return np.ascontiguousarray(split.transpose(0, 2, 1, 3))


def plain(values: Array) -> Array:
    """NZ [n, C / piece, R, piece] -> [n, R, C]."""
    n, pieces, rows, piece = values.shape
    return np.ascontiguousarray(values.transpose(0, 2, 1, 3).reshape(n, rows, pieces * piece))


# Reading and writing --------------------------------------------------------------------------


class Reader:
    """Elements of a tensor, and which of them the answer depends on."""

    def __init__(self, tensor: Tensor) -> None:
        held = tensor.device if tensor.device is not None else tensor.host
        assert held is not None, tensor
        self.values = np.array(held).reshape(-1)
        self.needed = np.zeros(self.values.size, np.bool_)
        self.written = np.zeros(self.values.size, np.bool_)

    def at(self, index: Array | int, need: Bools | None = None) -> Array:
        where = np.asarray(index, np.int64)
        if where.size and (where.min() < 0 or where.max() >= self.values.size):
            raise IndexError(f"element outside {self.values.size}")
        wanted = where if need is None else where[np.broadcast_to(need, where.shape)]
        self.needed[wanted] |= ~self.written[wanted]
        return np.asarray(self.values[where])

    def one(self, index: int) -> float:
        return float(self.at(index))

    def write(self, index: Array, values: Array) -> None:
        self.values[index] = values
        self.written[index] = True


class Output:
    """What the memory of an output may hold after the call."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor
        self.value, self.low, self.high = (np.zeros(tensor.count) for _ in range(3))
        self.written = np.zeros(tensor.count, np.bool_)
        self.free = np.zeros(tensor.count, np.bool_)
        """May hold anything. Elements neither written nor free stay as they were."""

    def put(self, index: Array, interval: Interval) -> None:
        for name in ("value", "low", "high"):
            getattr(self, name)[index] = getattr(interval, name)
        self.written[index] = True

    def describe(self, before: Array, after: Array) -> str:
        """Empty when the memory is admissible; memory is in the format of the tensor."""
        kind = self.tensor.kind
        old, new = before.reshape(-1), after.reshape(-1)
        kept = ~self.written & ~self.free
        size = old.dtype.itemsize
        changed = (
            old.view(np.uint8).reshape(-1, size) != new.view(np.uint8).reshape(-1, size)
        ).any(axis=1) & kept
        if changed.any():
            first = int(np.flatnonzero(changed)[0])
            return f"{int(changed.sum())} elements written that must stay, first {first}"
        expected = bounds.Expectation(
            self.value[self.written], self.low[self.written], self.high[self.written], kind
        )
        return bounds.describe(expected, formats.decode(new, kind)[self.written])


@dataclass(frozen=True)
class Result:
    outputs: Mapping[str, Output]
    """By the name of the output, or of the input that is written in place."""
    needed: Mapping[str, Sequence[Bools]]
    """Per tensor in device memory, or per item of its list, the elements that are read."""


def in_place(tensor: Tensor, reader: Reader) -> Output:
    output = Output(tensor)
    index = np.flatnonzero(reader.written)
    output.put(index, Interval.exactly(reader.values[index]))
    return output


# Attention ------------------------------------------------------------------------------------


def to_float32(number: float) -> float:
    return float(np.float32(number))


@dataclass(frozen=True)
class Arithmetic:
    """How scores and outputs of a call are computed, the same for all rows."""

    scale: float
    kind: str
    """The type that weights may be rounded to before the second product."""
    out: str
    clamp: tuple[float, float] | None = None

    def rows(
        self,
        q: Float64,
        k: Float64,
        v: Float64,
        seen: Bools,
        bias: Float64,
        raw: Float64 | None = None,
        times: Float64 | None = None,
        descale: float = 1.0,
        factor: float = 1.0,
        int8: Int8Scores | None = None,
    ) -> Interval:
        """(rows, width of v) of one head.

        raw: added to the scores before the scale, per key; times: factor per row, before the
        scale; descale: of int8 products; factor: of the values.
        """
        x = q @ k.T * descale
        t = np.abs(q) @ np.abs(k).T * abs(descale)
        if raw is not None:
            x, t = x + raw, t + np.abs(raw)
        if times is not None:
            x, t = x * times[:, None], t * np.abs(times[:, None])
        scale = to_float32(self.scale)
        x, t = x * scale, t * abs(scale)
        if self.clamp is not None:
            low, high = (to_float32(end) for end in self.clamp)
            x = np.minimum(np.maximum(x, low), high)
        # A bias that absorbs the score leaves no error of the score.
        with np.errstate(invalid="ignore"):
            absorbed = np.isfinite(bias) & (np.abs(bias) * 2.0**-26 > t)
            x = np.where(absorbed, bias, x + bias)
            t = np.where(absorbed, 0.0, t + np.abs(bias))
        parts = [self._row(x[i], t[i], v, seen[i], q.shape[1], factor, int8) for i in range(len(q))]
        return Interval(
            *(
                np.array([getattr(part, name) for part in parts]).reshape(len(q), v.shape[1])
                for name in ("value", "low", "high")
            )
        )

    def _row(
        self,
        x: Float64,
        t: Float64,
        v: Float64,
        seen: Bools,
        depth: int,
        factor: float,
        int8: Int8Scores | None,
    ) -> Interval:
        if not seen.any():
            return Interval.exactly(np.zeros(v.shape[1]))
        row = attention.softmax_row(x, t, v, seen, self.kind, depth, int8=int8).times(factor)
        last = attention.last_rounding(row.terms, attention.NUMBERS[self.out])
        return Interval.around(row.terms.o, last + row.reach)


def masked_times(mask: Float64) -> Float64:
    """A mask of ones as the bias it stands for; in float32, where 10000 of it are infinite."""
    with np.errstate(over="ignore"):
        return np.asarray(mask.astype(np.float32) * MASKED, np.float64)


def scaled_query(q: Float64, factor: float, kind: str) -> Float64:
    """The product is a tensor of its own."""
    product = q.astype(np.float32) * np.float32(factor)
    return np.asarray(formats.round_trip(product.astype(np.float64), kind), np.float64)


def int8_scores(quant: int, p_scale: Reader | None, head: int) -> Int8Scores | None:
    if quant == QUANT_OFFLINE:
        assert p_scale is not None
        return Int8Scores(attention.STATIC_INT8, p_scale.one(head))
    return Int8Scores(attention.ONLINE_INT8) if quant == QUANT_ONLINE else None


def block_of(tables: Reader, columns: int, row: int, keys: Int64, size: int, count: int) -> Int64:
    """The block of each key by a row of the block table."""
    at = row * columns + keys // size
    blocks = np.asarray(tables.at(at), np.int64)
    for index, value in zip(at, blocks, strict=True):
        if not 0 <= value < count:
            raise DeviceFault("block", int(index), int(value), count)
    return blocks


# Data -----------------------------------------------------------------------------------------


def query_data(
    heads: Int64, channel: Int64, kind: str, family: str, rng: np.random.Generator, scale: float
) -> Array:
    """needle: even heads have q = 0, so that each visible position counts alike; odd heads see
    only every fifth position. peaked: scores about 30 apart."""
    scale = abs(scale) or 1.0
    width = int(channel.max()) + 1 if channel.size else 1
    if kind == "i8":
        if family == "needle":
            return np.where((heads % 2 == 1) & (channel == 0), 127, 0)
        return rng.integers(-127, 128, heads.shape)
    if family == "needle":
        peak = min(40.0 / scale, 3e4)
        return np.where((heads % 2 == 1) & (channel == 0), peak, 0.0)
    reach = min(30.0 / (scale * math.sqrt(width)), 3e3) if family == "peaked" else 1.0
    return rng.uniform(-reach, reach, heads.shape)


def key_data(layout: Layout, kind: str, family: str, rng: np.random.Generator) -> Array:
    shape = layout.dims
    if family == "needle":
        head, position, channel = layout.coordinates()
        first = np.where((position + head) % 5 == 2, 1.0, -1.0)
        values = np.where(channel == 0, first, np.rint(rng.uniform(-8, 8, shape)) / 8)
        return np.rint(values * 100) if kind == "i8" else values
    if kind == "i8":
        return rng.integers(-127, 128, shape)
    return rng.uniform(-2, 2, shape) + 2.0 if family == "peaked" else rng.uniform(-1, 1, shape)


def value_data(layout: Layout, kind: str, family: str, rng: np.random.Generator) -> Array:
    """needle: v tells positions apart."""
    shape = layout.dims
    if family == "needle":
        head, position, channel = layout.coordinates()
        mine = (position * 7 + head) % layout.width == channel
        values = np.where(mine, 1.0 + (position // layout.width + head) % 7 / 8.0, 0.0)
        return np.rint(values * 64) if kind == "i8" else values
    if kind == "i8":
        return rng.integers(-127, 128, shape)
    return rng.uniform(-2, 2, shape) + 8.0 if family == "peaked" else rng.uniform(-1, 1, shape)


def planes(dims: Sequence[int], format: int) -> tuple[int, int, int]:
    """A mask as planes of rows and columns: (n, R, C)."""
    if format == NZ:
        return math.prod(dims[:-3]), dims[-2], dims[-3] * dims[-1]
    return math.prod(dims[:-2]), dims[-2], dims[-1]


def from_planes(values: Array, dims: Sequence[int], format: int) -> Array:
    return (fractal(values, dims[-1]) if format == NZ else values).reshape(dims)


def grid(shape: tuple[int, int, int]) -> tuple[Int64, Int64]:
    """Row and column numbers of planes."""
    _, r, c = np.indices(shape, dtype=np.int64)
    return r, c


def block_data(shape: tuple[int, ...], blocks: int, rng: np.random.Generator) -> Array:
    count = math.prod(shape)
    if count <= blocks:
        return rng.permutation(blocks)[:count].reshape(shape)
    return rng.integers(0, max(blocks, 1), shape)
