"""Model of the checks of ReshapeAndCacheOperation."""

from __future__ import annotations

import math
from dataclasses import replace

from . import atb
from .atb import Call, Tensor
from .atb_checks import Failures, Row, Rules, expanded


class ReshapeAndCacheRules(Rules):
    def __init__(self, call: Call, fault: str = "") -> None:
        super().__init__(call, fault)
        self.compress = self.value("compressType")
        self.config = self.value("kvCacheCfg")
        self.single = self.config == atb.V_BYPASS
        self.outputs_needed = 1 if self.single else 2
        self.inputs_needed = 3 if self.single else 5
        self.inputs_needed += {atb.KVHEAD: 2, atb.KVHEAD_ROPE: 3}.get(self.compress, 0)

    def create(self) -> Failures:
        if self.fault == "operation-null":
            yield 1, "5b.5 operation"
        if any(self.param["rsv"]):
            yield 1, "5b.5 rsv"
        if not self.a2 and self.compress:
            yield 1, "5b.5 product compressType"
        if self.nz and self.config == atb.V_BYPASS:
            yield 1, "5b.5 product kvCacheCfg"
        if self.compress not in (0, 1, 2):
            yield 1, "5b.5 compressType"
        if self.config not in (0, 1, 2):
            yield 1, "5b.5 kvCacheCfg"
        if self.config and self.compress:
            yield 1, "5b.5 kvCacheCfg compressType"
        if self.a950:
            yield 12, "5b.5 product"

    def rows(self) -> list[Row] | None:
        if self.config == atb.V_CACHE_NZ and self.a2:
            pairs = (("i8", "h"), ("i8", "b"), ("h", "h"), ("b", "b"), ("h", "b"), ("b", "h"))
            return expanded(*(f"{k} {v} {k}Z {v}Z i4 {k}Z {v}Z" for k, v in pairs))
        if self.single:
            return expanded(*(f"{one} {one} i4 {one}" for one in ("h", "b", "i8")))
        if self.nz:
            return expanded(*(f"{x} {x} {x}Z {x}Z i4 {x}Z {x}Z" for x in ("h", "i8", "b")))
        more = {atb.KVHEAD: "i4 i4", atb.KVHEAD_ROPE: "i4 i4 i4"}.get(self.compress, "")
        kinds = ("h", "b") if self.compress == atb.KVHEAD_ROPE else ("h", "b", "i8")
        return expanded(*(f"{x} {x} {x} {x} i4 {more} {x} {x}" for x in kinds))

    def own_infer(self) -> Failures:
        slots = self.need("slotMapping")
        key, cache = self.need("key"), self.need("keyCache")
        ranks = [(key, 3), (cache, 4), (slots, 1)]
        if not self.single:
            ranks += [(self.need("value"), 3), (self.need("valueCache"), 4)]
        ranks += [(self.need(n), 1) for n in ("wins", "seqLen", "offsetIndex") if self.tensor(n)]
        if any(tensor.rank != rank for tensor, rank in ranks):
            yield 16, "5b.5 rank"
        if self.single:
            if slots.dims[0] != key.dims[0]:
                yield 8, "5b.5 cfg 1 slots"
            if key.dims[1:] != cache.dims[2:]:
                yield 8, "5b.5 cfg 1 shape"
            return
        value, other = self.need("value"), self.need("valueCache")
        if key.dims[0] != value.dims[0]:
            yield 8, "5b.5 tokens"
        if key.dims[1] != value.dims[1]:
            yield 8, "5b.5 heads"
        if self.config == atb.V_CACHE_NZ:
            yield from self.fractal_shapes()
            return
        at = 2 if self.nz else 1
        if cache.dims[0] != other.dims[0]:
            yield 8, "5b.5 blocks"
        if cache.dims[at] != other.dims[at]:
            yield 8, "5b.5 block size"
        if self.nz:
            if key.dims[2] != value.dims[2]:
                yield 8, "5b.5 NZ equal"
            if cache.dims[2] % 16:
                yield 8, "5b.5 NZ block size 16"
            for one in (cache, other):
                if key.dims[1] * key.dims[2] != one.dims[1] * 16 or one.dims[3] != 16:
                    yield 8, "5b.5 NZ cache shape"
        elif self.compress:
            if not key.dims[2] == value.dims[2] == cache.dims[3] == other.dims[3]:
                yield 8, "5b.5 compress head size"
            if cache.dims[2] != 1 or other.dims[2] != 1:
                yield 8, "5b.5 compress cache heads"
            if key.dims[2] % 32:
                yield 8, "5b.5 compress multiple of 32"
        elif key.dims[1:] != cache.dims[2:] or value.dims[1:] != other.dims[2:]:
            yield 8, "5b.5 cache shape"

    def fractal_shapes(self) -> Failures:
        key, cache = self.need("key"), self.need("keyCache")
        value, other = self.need("value"), self.need("valueCache")
        if cache.dims[2] != other.dims[2]:
            yield 8, "5b.5 cfg 2 block size"
        if cache.dims[2] % 16:
            yield 8, "5b.5 cfg 2 block size 16"
        piece = 32 if key.kind == "i8" else 16
        if math.prod(key.dims[1:]) != cache.dims[1] * piece or cache.dims[3] != piece:
            yield 8, "5b.5 cfg 2 keyCache shape"
        if math.prod(value.dims[1:]) != other.dims[1] * 16 or other.dims[3] != 16:
            yield 8, "5b.5 cfg 2 valueCache shape"

    def own_setup(self) -> Failures:
        yield from self.own_infer()
        for output, cache in zip(self.outputs, self.infer_outputs(), strict=True):
            if output.description != cache.description:
                yield 8, "5b.5 output"
        tokens, slots = self.need("key").dims[0], self.need("slotMapping").dims[0]
        if self.config == 0 and not self.compress and slots != tokens:
            yield 4, "5b.5 slots"
        if self.config == atb.V_CACHE_NZ and slots < tokens:
            yield 8, "00 ours cfg 2 slots"
        if self.compress:
            entries = self.need("seqLen").dims[0] * self.need("key").dims[1]
            names = [n for n in ("slotMapping", "wins", "offsetIndex") if self.tensor(n)]
            if any(self.need(name).dims[0] < entries for name in names):
                yield 8, "00 ours compress entries"
        if self.fault == "output-elsewhere":
            yield 8, "00 ours in place"

    def infer_outputs(self) -> list[Tensor]:
        names = ["keyCache"] if self.single else ["keyCache", "valueCache"]
        return [replace(self.need(name), host=None, device=None) for name in names]
