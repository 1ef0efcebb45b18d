"""Golden model of ReshapeAndCacheOperation."""

from __future__ import annotations

import numpy as np

from . import atb, formats
from .atb import Array, Call, Float64, Layout, Output, Reader, Result, Tensor
from .attention import NUMBERS, DeviceFault, Interval, last_rounding
from .bounds import Terms

#: Everything is copied; only means are computed, and one family of data shows what they are.
FAMILIES = ("uniform",)


class _Model:
    def __init__(self, call: Call) -> None:
        self.call = call
        self.compress = int(call.param["compressType"])
        self.readers = {
            name: Reader(tensor)
            for name, tensor in call.tensors.items()
            if tensor.device is not None
        }
        names = [("key", "keyCache")]
        if "value" in call.tensors:
            names.append(("value", "valueCache"))
        self.pairs = names
        self.outputs = {cache: Output(call.tensors[cache]) for _, cache in names}

    def evaluate(self) -> Result:
        for source, cache in self.pairs:
            if self.compress == atb.COMPRESS_NONE:
                self.scatter(source, cache)
            else:
                self.compact(source, cache)
        needed = {name: [reader.needed] for name, reader in self.readers.items()}
        return Result(self.outputs, needed)

    def copy(self, source: str, cache: str, rows: Array, head: Array, slots: Array) -> None:
        """Rows of a head to slots, element by element."""
        dims = self.call.tensors[source].dims
        d = np.arange(dims[2], dtype=np.int64)
        at = (rows[..., None] * dims[1] + head[..., None]) * dims[2] + d
        values = self.readers[source].at(at)
        self.put(cache, slots, head, Interval.exactly(values))

    def put(self, cache: str, slots: Array, head: Array, interval: Interval) -> None:
        layout = cache_layout(self.call, cache)
        size = block_size(self.call)
        limit = self.call.tensors[cache].dims[0] * size
        for slot in slots.reshape(-1):
            if not 0 <= slot < limit:
                raise DeviceFault("slot", int(slot), int(slot), limit)
        h = np.zeros_like(head) if self.compress else head
        d = np.arange(layout.width, dtype=np.int64)
        at = layout.index(
            b=slots[..., None] // size, s=slots[..., None] % size, h=h[..., None], d=d
        )
        self.outputs[cache].put(at, interval)

    def scatter(self, source: str, cache: str) -> None:
        dims = self.call.tensors[source].dims
        slots = np.asarray(self.readers["slotMapping"].at(np.arange(dims[0])), np.int64)
        rows = np.flatnonzero(slots >= 0)
        heads = np.arange(dims[1], dtype=np.int64)[None, :]
        rows, heads = np.broadcast_arrays(rows[:, None], heads)
        self.copy(source, cache, rows, heads, slots[rows])

    def compact(self, source: str, cache: str) -> None:
        tokens, heads, _ = self.call.tensors[source].dims
        batch = self.call.tensors["seqLen"].dims[0]
        first = 0
        for b in range(batch):
            length = int(self.readers["seqLen"].at(b))
            if not 0 <= length <= tokens - first:
                raise DeviceFault("seqLen", b, length, tokens - first)
            for h in range(heads):
                entry = b * heads + h
                slot = int(self.readers["slotMapping"].at(entry))
                wins = int(self.readers["wins"].at(entry))
                if slot < 0:
                    continue
                if self.compress == atb.KVHEAD:
                    if not 0 <= wins <= length:
                        raise DeviceFault("wins", entry, wins, length)
                    self.run(source, cache, h, range(first + length - wins, first + length), slot)
                else:
                    offset = int(self.readers["offsetIndex"].at(entry))
                    self.rope(source, cache, h, first, length, wins, offset, slot, entry)
            first += length

    def run(self, source: str, cache: str, h: int, rows: range, slot: int) -> None:
        at = np.arange(rows.start, rows.stop, dtype=np.int64)
        self.copy(source, cache, at, np.full(len(at), h), slot + np.arange(len(at)))

    def rope(
        self, source: str, cache: str, h: int, first: int, length: int, wins: int, offset: int,
        slot: int, entry: int,
    ) -> None:  # fmt: skip
        """Tokens before the offset, the mean of those in the window, the tokens after it."""
        if offset == -1:
            self.run(source, cache, h, range(first, first + length), slot)
            return
        if offset < 0 or wins < 0 or offset + wins > length:
            raise DeviceFault("offsetIndex", entry, offset, length)
        self.run(source, cache, h, range(first, first + offset), slot)
        slot += offset
        if wins:
            rows = np.arange(first + offset, first + offset + wins, dtype=np.int64)
            self.put(cache, np.array([slot]), np.array([h]), self.mean(source, h, rows))
            slot += 1
        self.run(source, cache, h, range(first + offset + wins, first + length), slot)

    def mean(self, source: str, h: int, rows: Array) -> Interval:
        tensor = self.call.tensors[source]
        _, heads, width = tensor.dims
        at = (rows[:, None] * heads + h) * width + np.arange(width)
        values: Float64 = np.asarray(self.readers[source].at(at), np.float64)
        mean = values.mean(axis=0)
        size = np.abs(values).mean(axis=0)
        last = last_rounding(Terms(mean, size, size, size), NUMBERS[tensor.kind])
        # The sum of n terms in float32, and the division.
        return Interval.around(mean[None], (last + (len(rows) + 1) * 2.0**-24 * size)[None])


def block_size(call: Call) -> int:
    nz = call.nz or int(call.param["kvCacheCfg"]) == atb.V_CACHE_NZ
    return call.tensors["keyCache"].dims[2 if nz else 1]


def cache_layout(call: Call, name: str) -> Layout:
    source = call.tensors["key" if name == "keyCache" else "value"]
    nz = call.nz or int(call.param["kvCacheCfg"]) == atb.V_CACHE_NZ
    heads = 1 if int(call.param["compressType"]) else source.dims[1]
    return Layout("BFSf" if nz else "BSKD", call.tensors[name].dims, heads, source.dims[2])


def data(
    name: str, tensor: Tensor, family: str, rng: np.random.Generator, call: Call, item: int = -1
) -> Array:
    """Values of one tensor; slots are distinct and one of eight tokens has none."""
    shape = tensor.dims
    if name == "slotMapping":
        count = call.tensors["keyCache"].dims[0] * block_size(call)
        slots = rng.permutation(count)[: shape[0]]
        return np.where(rng.uniform(0, 1, shape) < 0.125, -1, slots)
    if tensor.kind == "i8":
        return rng.integers(-128, 128, shape)
    if tensor.kind in formats.FLOATS:
        return rng.uniform(-2, 2, shape)
    return np.zeros(shape)


def evaluate(call: Call) -> Result:
    """What the caches may hold after a valid call; DeviceFault where its task fails."""
    return _Model(call).evaluate()


__all__ = ["FAMILIES", "DeviceFault", "data", "evaluate"]
