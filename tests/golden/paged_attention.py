"""Golden model of PagedAttentionOperation: decode over a paged cache, and speculative rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
)
from .attention import DeviceFault


@dataclass(frozen=True)
class Entry:
    """Query rows that share a row of the block table."""

    number: int
    """Row of the block table and of contextLens."""
    batch: int
    row: int
    """First row of the query."""
    rows: int
    keys: int
    heads: range


class _Model:
    def __init__(self, call: Call) -> None:
        self.call = call
        self.param = call.param
        self.heads = int(call.param["headNum"])
        self.kv_heads = call.kv_heads
        self.compressed = int(call.param["compressType"]) != atb.COMPRESS_NONE
        self.cache_heads = 1 if self.compressed else self.kv_heads
        self.mask_type = int(call.param["maskType"])
        self.spec = int(call.param["calcType"]) == atb.CALC_SPEC
        self.mla = int(call.param["mlaVHeadSize"])
        self.quant = int(call.param["quantType"])
        query = call.tensors["query"]
        self.kind = query.kind
        self.width = query.dims[-1]
        self.output = Output(call.outputs["output"])
        self.value_width = value_width(call)
        self.readers = {
            name: Reader(tensor)
            for name, tensor in call.tensors.items()
            if tensor.device is not None or tensor.host is not None
        }
        self.arithmetic = Arithmetic(
            scale=float(call.param["qkScale"]),
            kind="f16" if self.kind == "i8" else self.kind,
            out=self.output.tensor.kind,
        )

    def evaluate(self) -> Result:
        contexts = self.call.tensors["contextLens"].numbers()
        self.readers["contextLens"].needed[:] = True
        if self.spec:
            self.speculate(contexts)
        elif self.compressed:
            group = self.heads // self.kv_heads
            for number, keys in enumerate(contexts):
                b, g = divmod(number, self.kv_heads)
                if keys > 0:
                    heads = range(g * group, (g + 1) * group)
                    self.attend(Entry(number, b, b, 1, keys, heads))
        else:
            row = 0  # entries without keys have no query row
            for b, keys in enumerate(contexts):
                if keys > 0:
                    self.attend(Entry(b, b, row, 1, keys, range(self.heads)))
                    row += 1
        needed = {
            name: [reader.needed]
            for name, reader in self.readers.items()
            if self.call.tensors[name].on_device
        }
        return Result({"output": self.output}, needed)

    def speculate(self, contexts: list[int]) -> None:
        row = 0
        for b, (n, keys) in enumerate(
            zip(self.call.tensors["qSeqLen"].numbers(), contexts, strict=True)
        ):
            if keys > 0:
                self.attend(Entry(b, b, row, n, keys, range(self.heads)))
                row += n

    # Caches

    def rows(
        self, name: str, entry: Entry, block: Int64, width: int, which: str
    ) -> Callable[[int, Bools], Float64]:
        """Rows (keys, width) of a head; dequantised with quantType 1."""
        tensor = self.call.tensors[name]
        layout = cache_layout(self.call, name, self.width if which == "k" else self.value_width)
        if self.mla:
            layout = cache_layout(self.call, name, self.width)
        size = block_size(self.call)
        s = np.arange(entry.keys, dtype=np.int64) % size

        def read(h: int, need: Bools) -> Float64:
            d = np.arange(width)[None, :]
            at = layout.index(b=block[:, None], s=s[:, None], h=h, d=d)
            values = np.asarray(self.readers[name].at(at, need[:, None]), np.float64)
            if self.quant != atb.DEQUANT_FUSION or tensor.kind != "i8":
                return values
            # The scales are those of all heads, the compressed cache has one at a time.
            head = entry.number % self.kv_heads if self.compressed else h
            channel = head * width + d
            offset = self.readers.get(f"{which}Offset")
            if offset is not None:
                values = values + offset.at(channel)
            return values * self.descale(f"{which}Descale", channel)

        return read

    def descale(self, name: str, at: Array) -> Float64:
        values = self.readers[name].at(at)
        if self.call.tensors[name].kind == "i64":
            return np.asarray(
                (values.astype(np.int64) & 0xFFFFFFFF).astype(np.uint32).view(np.float32),
                np.float64,
            )
        return np.asarray(values, np.float64)

    # Masks

    def bias(self, entry: Entry, h: int) -> tuple[Bools, Float64]:
        shape = (entry.rows, entry.keys)
        i = np.broadcast_to(np.arange(entry.rows, dtype=np.int64)[:, None], shape)
        j = np.broadcast_to(np.arange(entry.keys, dtype=np.int64)[None, :], shape)
        if self.mask_type in (atb.MASK_FREE, atb.PAGED_NORM_COMPRESS):
            return j <= i + entry.keys - entry.rows, np.zeros(shape)
        everything = np.ones(shape, np.bool_)
        if "mask" not in self.call.tensors:
            return everything, np.zeros(shape)
        values = np.asarray(self.readers["mask"].at(self.element(entry, h, i, j)), np.float64)
        times = self.mla > 0 and self.spec and self.kind == "bf16"
        return everything, atb.masked_times(values) if times else values

    def element(self, entry: Entry, h: int, i: Int64, j: Int64) -> Int64:
        mask = self.call.tensors["mask"]
        if self.mask_type == atb.MASK_SPEC:
            i = i + entry.row
            plane = 0
        elif mask.format == atb.NZ or len(mask.dims) > 2:
            # Planes of batches, of heads, or of heads in batches.
            n = atb.planes(mask.dims, mask.format)[0]
            alibi = self.mask_type == atb.ALIBI and not self.compressed
            both = alibi and n != self.heads
            if mask.format != atb.NZ:
                both = len(mask.dims) == 4
            if both:
                plane = entry.batch * self.heads + h
            else:
                plane = h if alibi else entry.batch
            plane = 0 if n == 1 else plane
        else:
            plane = 0
            if self.spec and mask.dims[0] == mask.dims[1]:
                i = i + entry.keys - entry.rows
        _, r, c = atb.planes(mask.dims, mask.format)
        if mask.format == atb.NZ:
            piece = mask.dims[-1]
            return ((plane * (c // piece) + j // piece) * r + i) * piece + j % piece
        return (plane * r + i) * c + j

    # One entry

    def attend(self, entry: Entry) -> None:
        table = self.call.tensors["blockTables"]
        keys = np.arange(entry.keys, dtype=np.int64)
        size = block_size(self.call)
        blocks = self.call.tensors["keyCache"].dims[0]
        block = atb.block_of(
            self.readers["blockTables"], table.dims[1], entry.number, keys, size, blocks
        )
        key = self.rows("keyCache", entry, block, self.width, "k")
        value = self.rows(
            "keyCache" if self.mla else "valueCache", entry, block, self.value_width, "v"
        )
        out = Layout("SX", (-1, self.heads * self.value_width), self.heads, self.value_width)
        query = Layout("SX", (-1, self.heads * self.width), self.heads, self.width)
        s = np.arange(entry.rows, dtype=np.int64)[:, None] + entry.row
        raw = None
        if "razorOffset" in self.readers:
            raw = np.asarray(self.readers["razorOffset"].at(block * size + keys % size), np.float64)
        times = None
        if int(self.param["scaleType"]) == atb.LOGN:
            times = np.full(entry.rows, self.readers["logN"].one(entry.batch))
        factor = float(self.param["qScale"])
        int8 = self.quant in (atb.QUANT_OFFLINE, atb.QUANT_ONLINE)
        group = self.heads // self.kv_heads
        for h in entry.heads:
            seen, bias = self.bias(entry, h)
            need = np.asarray(seen.any(axis=0), np.bool_)
            q = np.asarray(
                self.readers["query"].at(query.index(s=s, h=h, d=np.arange(self.width)[None, :])),
                np.float64,
            )
            if factor not in (0, 1):
                q = atb.scaled_query(q, factor, self.kind)
            g = 0 if self.compressed else h // group
            interval = self.arithmetic.rows(
                q, key(g, need), value(g, need), seen, bias,
                raw=raw,
                times=times,
                descale=self.readers["kDescale"].one(h) if int8 else 1.0,
                factor=self.readers["vDescale"].one(h) if int8 else 1.0,
                int8=atb.int8_scores(self.quant, self.readers.get("pScale"), h),
            )  # fmt: skip
            self.output.put(out.index(s=s, h=h, d=np.arange(self.value_width)[None, :]), interval)


# Shapes ---------------------------------------------------------------------------------------


def value_width(call: Call) -> int:
    if int(call.param["mlaVHeadSize"]):
        return int(call.param["mlaVHeadSize"])
    if call.nz:
        return call.tensors["query"].dims[-1]
    return call.tensors["valueCache"].dims[-1]


def block_size(call: Call) -> int:
    bnsd = int(call.param["inputLayout"]) == atb.BNSD
    return call.tensors["keyCache"].dims[2 if call.nz or bnsd else 1]


def cache_layout(call: Call, name: str, width: int) -> Layout:
    compressed = int(call.param["compressType"]) != atb.COMPRESS_NONE
    heads = 1 if compressed else call.kv_heads
    if call.nz:
        letters = "BFSf"
    else:
        letters = "BKSD" if int(call.param["inputLayout"]) == atb.BNSD else "BSKD"
    return Layout(letters, call.tensors[name].dims, heads, width)


# Data -----------------------------------------------------------------------------------------


def data(
    name: str, tensor: Tensor, family: str, rng: np.random.Generator, call: Call, item: int = -1
) -> Array:
    """Values of one tensor of a data family."""
    shape = tensor.dims
    width = call.tensors["query"].dims[-1]
    if name == "query":
        layout = Layout("SKD", shape, int(call.param["headNum"]), width)
        head, _, channel = layout.coordinates()
        scale = float(call.param["qkScale"])
        return atb.query_data(head, channel, tensor.kind, family, rng, scale)
    if name == "keyCache":
        return atb.key_data(cache_layout(call, name, width), tensor.kind, family, rng)
    if name == "valueCache":
        layout = cache_layout(call, name, value_width(call))
        return atb.value_data(layout, tensor.kind, family, rng)
    if name == "blockTables":
        return atb.block_data(shape, call.tensors["keyCache"].dims[0], rng)
    if name == "mask":
        return atb.from_planes(mask_data(call, tensor, family, rng), shape, tensor.format)
    if name in ("kDescale", "vDescale") and int(call.param["quantType"]) == atb.DEQUANT_FUSION:
        # Few digits, so that no way of carrying them loses any.
        values = rng.integers(32, 96, shape) / 64 / 128
        if tensor.kind != "i64":
            return values
        return values.astype(np.float32).view(np.uint32).astype(np.int64)
    if name in ("kDescale", "vDescale", "pScale"):
        reach = {"kDescale": 2.0e-4, "vDescale": 1 / 64, "pScale": 1 / 127}[name]
        return rng.uniform(0.5, 1.5, shape) * reach
    if name in ("kOffset", "vOffset"):
        return np.rint(rng.uniform(-8, 8, shape))
    if name == "logN":
        return rng.uniform(0.5, 2, shape)
    if name == "razorOffset":
        return rng.uniform(-2, 2, shape)
    return np.zeros(shape)


def mask_data(call: Call, tensor: Tensor, family: str, rng: np.random.Generator) -> Float64:
    """Random, with a free first column; causal where the operator gives the mask that meaning."""
    shape = atb.planes(tensor.dims, tensor.format)
    r, c = atb.grid(shape)
    times = (
        int(call.param["mlaVHeadSize"]) > 0
        and int(call.param["calcType"]) == atb.CALC_SPEC
        and call.tensors["query"].kind == "bf16"
    )
    blocked = 1.0 if times else -10000.0
    if int(call.param["maskType"]) in (atb.MASK_FREE, atb.PAGED_NORM_COMPRESS):
        return np.where(c > r, blocked, 0.0)
    values = np.zeros(shape) if family == "needle" or times else rng.uniform(-2, 2, shape)
    hidden = (rng.uniform(0, 1, shape) < 0.3) & (c > 0)
    return np.where(hidden, blocked, values)


def evaluate(call: Call) -> Result:
    """What the memory may hold after a valid call; DeviceFault where its task fails."""
    return _Model(call).evaluate()


__all__ = ["FAMILIES", "DeviceFault", "data", "evaluate"]
