"""Golden model of SelfAttentionOperation: all calculation types, masks and products."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import atb
from .atb import (
    FAMILIES,
    Arithmetic,
    Array,
    Bools,
    Call,
    Float64,
    Int64,
    Layout,
    Output,
    Reader,
    Result,
    Tensor,
    roundup,
)
from .attention import DeviceFault

#: Rows and columns of a block of the compressed masks.
TILE = 128

ALIBI_COMPRESSED = (atb.ALIBI_COMPRESS, atb.ALIBI_SQRT, atb.LEFT_ALIGN)


def block_edge(width: int, mla: bool) -> int:
    """Edge of the blocks that isTriuMask skips by."""
    if mla:
        return TILE
    return min(16384 // max(roundup(width), TILE) // 16 * 16, TILE)


def multiplied(call: Call, rank: int) -> bool:
    """The mask holds 1 where a position does not count."""
    param = call.param
    kinds = (atb.NORM, atb.NORM_COMPRESS, atb.SWA_NORM, atb.SWA_COMPRESS)
    if not call.a2 or int(param["maskType"]) not in kinds:
        return False
    if rank == 4:  # a head dimension
        return False
    if "bf16" in (call.tensors["query"].kind, call.outputs["output"].kind):
        return True
    if int(param["calcType"]) in (atb.DECODER, atb.PREFIX_ENCODER) or param["batchRunStatusEnable"]:
        return False
    return int(param["kernelType"]) == atb.HIGH_PRECISION


@dataclass(frozen=True)
class Batch:
    """Query rows of one batch and the keys that they attend to."""

    number: int
    rows: int
    start: int
    """Row of the query tensor; 0 where each batch has its own rows."""
    keys: int
    absolute: int
    """Position of the first row among the keys."""
    k: Callable[[int, Bools], Float64]
    v: Callable[[int, Bools], Float64]


class _Model:
    def __init__(self, call: Call) -> None:
        self.call = call
        self.param = call.param
        self.calc = int(call.param["calcType"])
        if self.calc not in (atb.DECODER, atb.PA_ENCODER, atb.PREFIX_ENCODER):
            self.calc = atb.ENCODER  # UNDEFINED and everything else compute the same
        self.heads = int(call.param["headNum"])
        self.kv_heads = call.kv_heads
        self.mask_type = int(call.param["maskType"])
        self.layout = int(call.param["inputLayout"])
        self.bypass = int(call.param["kvcacheCfg"]) == atb.BYPASS
        self.dynamic = bool(call.param["batchRunStatusEnable"])
        self.window = int(call.param["windowSize"])
        self.mla = int(call.param["mlaVHeadSize"])
        self.quant = int(call.param["quantType"])
        self.triu = bool(call.param["isTriuMask"]) and self.calc != atb.DECODER
        if call.generation == "310P" and self.mask_type == atb.NORM_COMPRESS:
            self.triu = True
        self.batch = call.tensors["seqLen"].dims[-1]
        self.kind = call.tensors["query"].kind
        self.output = Output(call.outputs["output"])
        self.readers = {
            name: Reader(tensor)
            for name, tensor in call.tensors.items()
            if not tensor.items and (tensor.device is not None or tensor.host is not None)
        }
        self.items = {
            name: [Reader(item) for item in tensor.items]
            for name, tensor in call.tensors.items()
            if tensor.items
        }
        clamped = self.calc not in (atb.PA_ENCODER, atb.PREFIX_ENCODER)
        clamped = clamped and int(call.param["clampType"]) == 1
        self.arithmetic = Arithmetic(
            scale=float(call.param["qkScale"]),
            kind="f16" if self.kind == "i8" else self.kind,
            out=self.output.tensor.kind,
            clamp=(call.param["clampMin"], call.param["clampMax"]) if clamped else None,
        )
        self.width, self.value_width = head_sizes(call)

    # Lengths

    def lengths(self, name: str) -> list[int]:
        return self.call.tensors[name].numbers()

    def evaluate(self) -> Result:
        outputs = {"output": self.output}
        if self.calc == atb.PA_ENCODER:
            self.encoder()
        elif self.calc == atb.PREFIX_ENCODER:
            self.prefix()
        else:
            outputs |= self.cached()
        needed = {
            name: [reader.needed]
            for name, reader in self.readers.items()
            if self.call.tensors[name].on_device
        }
        needed |= {name: [one.needed for one in many] for name, many in self.items.items()}
        return Result(outputs, needed)

    # PA_ENCODER

    def encoder(self) -> None:
        lengths = self.call.tensors["seqLen"]
        numbers = lengths.numbers()
        half = len(numbers) // 2 if len(lengths.dims) == 2 else 0
        queries, keys = (numbers[:half], numbers[half:]) if half else (numbers, numbers)
        source = "key" if self.mla else "value"
        key = rows_layout(self.call, "key", self.width)
        value = rows_layout(self.call, source, self.width if self.mla else self.value_width)
        row = first = 0
        for b, (n, count) in enumerate(zip(queries, keys, strict=True)):
            if n > 0 and count > 0:
                own = self.layout == atb.BNSD
                s = np.arange(count, dtype=np.int64)[:, None] + (0 if own else first)
                self.attend(
                    Batch(
                        b, n, 0 if own else row, count, 0,
                        self.rows_of(self.readers["key"], key, self.width, b=b, s=s),
                        self.rows_of(self.readers[source], value, self.value_width, b=b, s=s),
                    )
                )  # fmt: skip
            row, first = row + n, first + count
        if self.call.nz and self.layout == atb.BSND:
            self.output.free[row * self.heads * self.value_width :] = True

    def rows_of(
        self, reader: Reader, layout: Layout, used: int, **at: Any
    ) -> Callable[[int, Bools], Float64]:
        """The first columns of the rows of a head; at: their coordinates, one per row."""

        def rows(h: int, need: Bools) -> Float64:
            index = layout.index(h=h, d=np.arange(used)[None, :], **at)
            return np.asarray(reader.at(index, need[:, None]), np.float64)

        return rows

    # PREFIX_ENCODER

    def prefix(self) -> None:
        table = self.call.tensors["blockTables"]
        blocks, size = self.call.tensors["key"].dims[:2]
        key = rows_layout(self.call, "key", self.width)
        value = rows_layout(self.call, "value", self.value_width)
        row = 0
        for b, (n, count) in enumerate(
            zip(self.lengths("seqLen"), self.lengths("kvSeqLen"), strict=True)
        ):
            if n > 0 and count > 0:
                t = np.arange(count, dtype=np.int64)
                block = atb.block_of(self.readers["blockTables"], table.dims[1], b, t, size, blocks)
                at = {"b": block[:, None], "s": (t % size)[:, None]}
                self.attend(
                    Batch(
                        b, n, row, count, count - n,
                        self.rows_of(self.readers["key"], key, self.width, **at),
                        self.rows_of(self.readers["value"], value, self.value_width, **at),
                    )
                )  # fmt: skip
            row += n

    # UNDEFINED, ENCODER, DECODER

    def cached(self) -> dict[str, Output]:
        layer = 0
        if not self.dynamic:
            layer = int(self.readers["layerId"].one(0))
            layers = self.call.tensors["cacheK"].dims[0]
            if not 0 <= layer < layers:
                raise DeviceFault("layer", 0, layer, layers)
        totals, counts = self.lengths("tokenOffset"), self.lengths("seqLen")
        runs = self.lengths("batchRunStatus") if self.dynamic else [1] * len(counts)
        if not self.bypass:
            self.write(layer, runs)
        row = 0
        for b, (n, count, run) in enumerate(zip(counts, totals, runs, strict=True)):
            own = self.layout == atb.BNSD
            skipped = self.calc == atb.DECODER and not run
            if n > 0 and count > 0 and not skipped:
                at = self.cache_rows(count)
                one = self.call.a2 and self.calc == atb.DECODER and self.kind == "f16"
                self.attend(
                    Batch(
                        b, 1 if one else n, 0 if own else row, len(at), 0,
                        self.cache("cacheK", layer, b, at, self.width),
                        self.cache("cacheV", layer, b, at, self.value_width),
                    )
                )  # fmt: skip
            if self.call.nz and not own:
                width = self.heads * self.value_width
                self.output.free[(row + n) * width : (row + roundup(n)) * width] = True
            row += roundup(n) if self.call.nz else n
        if self.call.nz and self.layout == atb.BSND:
            self.output.free[row * self.heads * self.value_width :] = True
        if self.bypass:
            return {}
        return {
            name: atb.in_place(self.call.tensors[name], self.readers[name])
            for name in ("cacheK", "cacheV")
        }

    def cache_rows(self, count: int) -> Int64:
        """Rows of the cache that hold the keys of a batch."""
        at = np.arange(count, dtype=np.int64)
        ring = int(self.param["cacheType"]) == atb.CACHE_SWA
        if 0 < self.window < count:
            if self.calc == atb.DECODER:
                at = at[: self.window] if ring else at[count - self.window :]
            elif ring:
                at = at % self.window
        return at

    def write(self, layer: int, runs: Sequence[int]) -> None:
        tensors = [self.call.tensors[name] for name in ("tokenOffset", "seqLen")]
        if all(tensor.on_device for tensor in tensors):
            totals, counts = (
                [int(x) for x in self.readers[name].at(np.arange(len(runs)))]
                for name in ("tokenOffset", "seqLen")
            )
        else:
            totals, counts = (tensor.numbers() for tensor in tensors)
        names = (("key", "cacheK", self.width), ("value", "cacheV", self.value_width))
        for name, cache, width in names:
            first = 0
            source, target = (rows_layout(self.call, one, width) for one in (name, cache))
            for b, (n, total, run) in enumerate(zip(counts, totals, runs, strict=True)):
                j = np.arange(n, dtype=np.int64)[:, None, None]
                h, d = np.arange(self.kv_heads)[None, :, None], np.arange(width)[None, None, :]
                if run:
                    values = self.readers[name].at(source.index(s=first + j, h=h, d=d))
                    at = target.index(layer=layer, b=b, s=total - n + j, h=h, d=d)
                    self.readers[cache].write(at, values)
                first += n

    def cache(
        self, name: str, layer: int, b: int, s: Int64, width: int
    ) -> Callable[[int, Bools], Float64]:
        layout = rows_layout(self.call, name, width)
        if name in self.items:
            return self.rows_of(self.items[name][b], layout, width, s=s[:, None])
        return self.rows_of(self.readers[name], layout, width, layer=layer, b=b, s=s[:, None])

    # Masks

    def planes(self, rows: Int64, columns: Int64, b: int, h: int) -> Int64:
        """Elements [row, column] of a full mask, for a batch and a head."""
        mask = self.call.tensors["mask"]
        n, r, c = atb.planes(mask.dims, mask.format)
        by_head = self.mask_type in (atb.ALIBI, *ALIBI_COMPRESSED)
        if n == 1:
            plane = 0
        elif n == (self.heads if by_head else self.batch):
            plane = h if by_head else b
        else:
            plane = b * self.heads + h
        if mask.format == atb.NZ:
            piece = mask.dims[-1]
            return ((plane * (c // piece) + columns // piece) * r + rows) * piece + columns % piece
        return (plane * r + rows) * c + columns

    def bias(self, batch: Batch, h: int) -> tuple[Bools, Float64]:
        """What each row attends to, and what is added to its scores: (rows, keys)."""
        shape = (batch.rows, batch.keys)
        i = np.broadcast_to(np.arange(batch.rows, dtype=np.int64)[:, None], shape)
        i = i + batch.absolute
        j = np.broadcast_to(np.arange(batch.keys, dtype=np.int64)[None, :], shape)
        none = np.zeros(shape)
        everything = np.ones(shape, np.bool_)
        if self.mask_type == atb.CAUSAL:
            return j <= i, none
        if self.window and self.calc == atb.DECODER:
            return everything, none
        window = (i - j >= 0) & (i - j < self.window)
        if self.mask_type == atb.SWA_COMPRESS:
            return window, none
        if "mask" not in self.call.tensors:
            return everything, none
        dims = self.call.tensors["mask"].dims
        if self.mask_type in ALIBI_COMPRESSED:
            return self.alibi(h, i, j)
        if self.mask_type == atb.SWA_NORM:
            return window, self.element(self.planes(i, j, batch.number, h), window, len(dims))
        _, _, columns = atb.planes(dims, self.call.tensors["mask"].format)
        tile = self.triu and columns == TILE and self.mask_type in (atb.NORM, atb.NORM_COMPRESS)
        if tile:
            m, n = i // TILE, j // TILE
            at = self.planes(i % TILE, j % TILE, batch.number, h)
            return n <= m, self.element(at, n == m, len(dims))
        if self.triu and self.mask_type == atb.NORM_COMPRESS:
            # The tile of the long window has the causal meaning, whatever it holds.
            return j <= i, none
        seen = everything
        if self.triu and self.call.a2:
            edge = block_edge(max(self.width, self.value_width), self.mla > 0)
            seen = j // edge <= i // edge
        return seen, self.element(self.planes(i, j, batch.number, h), seen, len(dims))

    def element(self, at: Int64, where: Bools, rank: int) -> Float64:
        result = np.zeros(where.shape)
        values = np.asarray(self.readers["mask"].at(at[where]), np.float64)
        result[where] = atb.masked_times(values) if multiplied(self.call, rank) else values
        return result

    def alibi(self, h: int, i: Int64, j: Int64) -> tuple[Bools, Float64]:
        mask = self.call.tensors["mask"]
        planes, rows, columns = atb.planes(mask.dims, mask.format)
        m, n = i // TILE, j // TILE
        seen = n <= m
        square = (rows, columns) == (2 * TILE, 2 * TILE)
        by_head = len(mask.dims) > 2 and not (mask.format == atb.NZ and planes == 1 and square)
        if by_head:
            stripes = columns == TILE
            at = self.planes(i - TILE * n if stripes else i, j % TILE if stripes else j, 0, h)
            return seen, self.element(np.where(seen, at, 0), seen, len(mask.dims))
        same = n == m
        at = self.planes(np.where(same, i % TILE, TILE + i % TILE), j % TILE, 0, 0)
        c = self.element(at, seen, len(mask.dims))
        slope = self.readers["slopes"].one(h)
        away = TILE * (m - n) - TILE
        with np.errstate(invalid="ignore"):
            if self.mask_type == atb.ALIBI_COMPRESS:
                c = np.where(same, c, c + away)
            elif self.mask_type == atb.ALIBI_SQRT:
                c = np.where(same, c, np.sqrt(np.where(same, 0.0, c * c + away)))
            else:
                c = c + TILE * n
            return seen, np.where(seen, c * slope, 0.0)

    # One batch

    def attend(self, batch: Batch) -> None:
        group = self.heads // self.kv_heads
        query = rows_layout(self.call, "query", self.width)
        dims = self.output.tensor.dims
        if self.layout == atb.BSND:
            dims = (-1, self.heads * self.value_width)
        out = Layout(
            "SX" if self.layout == atb.BSND else "BKSD", dims, self.heads, self.value_width
        )
        s = np.arange(batch.rows, dtype=np.int64)[:, None] + batch.start
        times = self.logn(batch)
        for h in range(self.heads):
            seen, bias = self.bias(batch, h)
            need = np.asarray(seen.any(axis=0), np.bool_)
            k, v = batch.k(h // group, need), batch.v(h // group, need)
            at = query.index(b=batch.number, s=s, h=h, d=np.arange(self.width)[None, :])
            q = np.asarray(self.readers["query"].at(at), np.float64)
            factor = float(self.param["qScale"])
            if factor != 1 and self.calc not in (atb.PA_ENCODER, atb.PREFIX_ENCODER):
                q = atb.scaled_query(q, factor, self.kind)
            quantised = self.quant in (atb.QUANT_OFFLINE, atb.QUANT_ONLINE)
            interval = self.arithmetic.rows(
                q, k, v, seen, bias,
                times=times,
                descale=self.readers["qkDescale"].one(h) if quantised else 1.0,
                factor=self.readers["vpvDescale"].one(h) if quantised else 1.0,
                int8=atb.int8_scores(self.quant, self.readers.get("pScale"), h),
            )  # fmt: skip
            at = out.index(b=batch.number, s=s, h=h, d=np.arange(self.value_width)[None, :])
            self.output.put(at, interval)

    def logn(self, batch: Batch) -> Float64 | None:
        if int(self.param["scaleType"]) != atb.LOGN:
            return None
        if self.calc == atb.DECODER:
            return np.full(batch.rows, self.readers["logN"].one(batch.number))
        return np.asarray(self.readers["logN"].at(np.arange(batch.rows)), np.float64)


# Shapes ---------------------------------------------------------------------------------------


def head_sizes(call: Call) -> tuple[int, int]:
    """Head sizes of query and key, and of value."""
    heads, kv_heads = int(call.param["headNum"]), call.kv_heads
    query = call.tensors["query"].dims
    width = query[-1] // heads if len(query) == 2 else query[-1]
    if int(call.param["mlaVHeadSize"]):
        return width, int(call.param["mlaVHeadSize"])
    if int(call.param["inputLayout"]) == atb.BNSD:
        return width, width
    value = call.tensors["value" if "value" in call.tensors else "cacheV"]
    if value.format == atb.NZ:
        return width, value.dims[-3] * value.dims[-1] // kv_heads
    split = len(value.dims) == 2 or value is call.tensors.get("cacheV")
    if int(call.param["calcType"]) == atb.PREFIX_ENCODER:
        split = len(value.dims) == 3
    return width, value.dims[-1] // kv_heads if split else value.dims[-1]


def rows_layout(call: Call, name: str, width: int) -> Layout:
    """The layout of query, key, value or a cache; of an item for a list."""
    param, tensor = call.param, call.tensors[name]
    dims = tensor.dims
    heads = int(param["headNum"]) if name == "query" else call.kv_heads
    bnsd = int(param["inputLayout"]) == atb.BNSD
    if name in ("cacheK", "cacheV"):
        if tensor.items:
            letters = "KSD" if bnsd else "FSf" if call.nz else "SX"
            return Layout(letters, tensor.items[0].dims, heads, width)
        if call.nz:
            return Layout("LPFSf" if bnsd else "LBFSf", dims, heads, width)
        letters = "BKSD" if bnsd else "BSX"
        return Layout(letters if len(dims) == len(letters) else f"L{letters}", dims, heads, width)
    if bnsd:
        return Layout("BKSD", dims, heads, width)
    if int(param["calcType"]) == atb.PREFIX_ENCODER and name != "query":
        return Layout("BSX" if len(dims) == 3 else "BSKD", dims, heads, width)
    return Layout("SX", (math.prod(dims) // (heads * width), heads * width), heads, width)


# Data -----------------------------------------------------------------------------------------


def data(
    name: str, tensor: Tensor, family: str, rng: np.random.Generator, call: Call, item: int = -1
) -> Array:
    """Values of one tensor of a data family; item: of its list."""
    shape = tensor.dims
    width, value_width = head_sizes(call)
    if name == "query":
        layout = rows_layout(call, name, width)
        head, _, channel = layout.coordinates()
        scale = float(call.param["qkScale"])
        values = atb.query_data(head, channel, tensor.kind, family, rng, scale)
        return values.reshape(shape)
    if name in ("key", "cacheK"):
        layout = rows_layout(call, name, width)
        return atb.key_data(layout, tensor.kind, family, rng).reshape(shape)
    if name in ("value", "cacheV"):
        layout = rows_layout(call, name, value_width)
        return atb.value_data(layout, tensor.kind, family, rng).reshape(shape)
    if name == "mask":
        return atb.from_planes(mask_data(call, tensor, family, rng), shape, tensor.format)
    if name == "slopes":
        return -(2.0 ** -(1.0 + np.arange(math.prod(shape)) % 8)).reshape(shape)
    if name == "blockTables":
        return atb.block_data(shape, call.tensors["key"].dims[0], rng)
    if name in ("qkDescale", "vpvDescale", "pScale"):
        reach = {"qkDescale": 2.0e-4, "vpvDescale": 1 / 64, "pScale": 1 / 127}[name]
        return rng.uniform(0.5, 1.5, shape) * reach
    if name == "logN":
        return rng.uniform(0.5, 2, shape)
    return np.zeros(shape)


def masked_value(call: Call) -> float:
    """What a mask of this call holds where a position does not count."""
    return 1.0 if multiplied(call, len(call.tensors["mask"].dims)) else -10000.0


def mask_data(call: Call, tensor: Tensor, family: str, rng: np.random.Generator) -> Float64:
    """Masks that suit their kind; those of positions are random with a free diagonal."""
    mask_type = int(call.param["maskType"])
    shape = atb.planes(tensor.dims, tensor.format)
    r, c = atb.grid(shape)
    blocked = masked_value(call)
    if mask_type in ALIBI_COMPRESSED:
        if shape[1:] == (2 * TILE, 2 * TILE):
            made = {atb.ALIBI_COMPRESS: r - c, atb.ALIBI_SQRT: np.sqrt(np.abs(r - c))}
            return np.where(c > r, 60000.0, made.get(mask_type, c))
        values = rng.uniform(-2, 0, shape)
        return values if shape[2] == TILE else np.where(c > r, -10000.0, values)
    if mask_type == atb.NORM_COMPRESS or shape[2] == TILE:
        return np.where(c > r, blocked, 0.0)
    if mask_type in (atb.SWA_NORM, atb.SWA_COMPRESS):
        window = int(call.param["windowSize"])
        return np.where((r - c >= 0) & (r - c < window), 0.0, blocked)
    values = np.zeros(shape)
    if family != "needle" and blocked != 1:
        values = rng.uniform(-2, 2, shape)
    hidden = (rng.uniform(0, 1, shape) < 0.3) & (r != c)
    return np.where(hidden, blocked, values)


def evaluate(call: Call) -> Result:
    """What the memory may hold after a valid call; DeviceFault where its task fails."""
    return _Model(call).evaluate()


__all__ = ["FAMILIES", "DeviceFault", "block_edge", "data", "evaluate", "head_sizes"]
