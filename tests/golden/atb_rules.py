"""Model of the checks of ATB's operations: what each step of a call answers, and by which clause.

Works on descriptions, host data and parameters, needs no library, and keeps the case tables honest.
A clause is named by the section of the specification and a few words. Where a check cannot be
evaluated because an earlier one failed it does not matter what it would say: the first failure of
a step is its answer.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from . import atb, formats
from .atb import ND, NZ, Call, Tensor, roundup
from .self_attention import ALIBI_COMPRESSED, TILE

#: ErrorType and the clause.
Failure = tuple[int, str]
Failures = Iterator[Failure]

#: One accepted combination: (cell type, format) per tensor, the outputs last.
Row = tuple[tuple[str, int], ...]

SAFE = (0, "")

_LARGEST = 256 << 30

_OUT_KINDS = {1: "f16", 27: "bf16"}


def _integers(tensor: Tensor | None) -> list[int]:
    if tensor is None or tensor.host is None:
        return []
    return [int(number) for number in tensor.host.reshape(-1)]


def _rank(tensor: Tensor) -> int:
    return len(tensor.dims)


class Rules:
    """One call; each step yields its failures in order."""

    inputs_needed = 0
    outputs_needed = 1

    def __init__(self, call: Call, fault: str = "") -> None:
        self.call, self.fault = call, fault
        self.param = call.param
        self.a2 = call.a2
        self.nz = call.nz
        self.p310 = call.generation == "310P"
        self.a910 = call.generation == "910A"
        self.a950 = call.generation == "950"
        self.inputs = list(call.tensors.values())
        self.outputs = list(call.outputs.values())

    def value(self, name: str) -> int:
        return int(self.param[name])

    def tensor(self, name: str) -> Tensor | None:
        return self.call.tensors.get(name)

    def need(self, name: str) -> Tensor:
        return self.call.tensors[name]

    # Steps

    def create(self) -> Failures:
        raise NotImplementedError

    def infer(self) -> Failures:
        if len(self.inputs) != self.inputs_needed:
            yield 5, "4.5 input count"
        yield from self.described(self.inputs)
        if not self.listed(self.inputs):
            yield 13, "4.5 types"
        yield from self.half_floats()
        yield from self.own_infer()

    def setup(self) -> Failures:
        if self.fault == "setup-context-null":
            yield 1, "4.6 Setup context"
        if self.fault == "c-setup-op-null":
            yield 24, "4.9 op of the first function"
        if self.fault == "c-mask-null":
            yield 8, "4.9 null tensor"
        if len(self.inputs) != self.inputs_needed:
            yield 5, "4.6 input count"
        if len(self.outputs) != self.outputs_needed:
            yield 5, "4.6 output count"
        yield from self.described([*self.inputs, *self.outputs])
        if not self.listed([*self.inputs, *self.outputs]):
            yield 13, "4.6 types"
        yield from self.half_floats()
        yield from self.own_setup()
        if self.fault == "graph-changed":
            yield 8, "4.6 changed after capture"

    def execute(self) -> Failures:
        if self.fault == "c-execute-op-null":
            yield 24, "4.9 op of the second function"
        if self.fault == "execute-context-null":
            yield 1, "4.6 Execute context"
        if self.fault in ("execute-first", "setup-failed"):
            yield 1, "4.6 not set up"
        if self.fault == "stream-null":
            yield 1, "4.6 stream"
        if self.fault == "context-other":
            yield 1, "4.6 other context"
        if self.fault == "workspace-smaller":
            yield 1, "4.6 workspace size"
        if self.fault == "workspace-null":
            yield 1, "4.6 workspace null"
        if self.fault in ("execute-input-less", "execute-output-less"):
            yield 1, "4.6 tensor count"
        if any(tensor.size_error for tensor in (*self.inputs, *self.outputs)):
            yield 1, "4.6 dataSize"
        if any(tensor.where == "none" for tensor in (*self.inputs, *self.outputs)):
            yield 1, "4.6 both pointers null"
        yield from self.tiling()

    # Parts that operations have

    def rows(self) -> list[Row] | None:
        """Accepted types; None: there is no entry, nothing is checked."""
        raise NotImplementedError

    def own_infer(self) -> Failures:
        raise NotImplementedError

    def own_setup(self) -> Failures:
        raise NotImplementedError

    def tiling(self) -> Failures:
        yield from ()

    # Common parts

    def described(self, tensors: Iterable[Tensor]) -> Failures:
        for tensor in tensors:
            if not 1 <= _rank(tensor) <= 8:
                yield 8, "4.5 rank"
            size = formats.TYPES[tensor.kind][2]
            if min(tensor.dims, default=0) <= 0 or math.prod(tensor.dims) * size > _LARGEST:
                yield 9, "4.5 size"

    def listed(self, tensors: Sequence[Tensor]) -> bool:
        rows = self.rows()
        if rows is None:
            return True
        if len(self.inputs) + self.outputs_needed != len(rows[0]):
            return False
        given = tuple((tensor.kind, tensor.format) for tensor in tensors)
        return any(row[: len(given)] == given for row in rows)

    def half_floats(self) -> Failures:
        if self.nz and any(tensor.kind == "bf16" for tensor in self.inputs):
            yield 6, "4.5 bf16"

    def infer_outputs(self) -> list[Tensor]:
        raise NotImplementedError


def _row(text: str) -> Row:
    """``f16 f16Z i32`` -> types and formats."""
    words = text.split()
    return tuple((word.removesuffix("Z"), NZ if word.endswith("Z") else ND) for word in words)


def _expanded(*patterns: str) -> list[Row]:
    """T: f16 or bf16, I: i32 or u32, h b f i8 i4 i64: as in the specification; Z: FRACTAL_NZ."""
    found = []
    plain = {"h": "f16", "b": "bf16", "f": "f32", "i4": "i32", "u4": "u32"}
    for pattern in patterns:
        for t, i in itertools.product(("f16", "bf16"), ("i32", "u32")):
            words = []
            for word in pattern.split():
                kind, mark = word.removesuffix("Z"), "Z" if word.endswith("Z") else ""
                kind = {"T": t, "I": i}.get(kind, plain.get(kind, kind))
                words.append(kind + mark)
            row = _row(" ".join(words))
            if row not in found:
                found.append(row)
    return found


# SelfAttention --------------------------------------------------------------------------------


class SelfAttentionRules(Rules):
    def __init__(self, call: Call, fault: str = "") -> None:
        super().__init__(call, fault)
        self.calc = self.value("calcType")
        self.pa = self.calc == atb.PA_ENCODER
        self.prefix = self.calc == atb.PREFIX_ENCODER
        self.decoder = self.calc == atb.DECODER
        self.fa = not self.pa and not self.prefix
        self.mask_type = self.value("maskType")
        self.heads = self.value("headNum")
        self.kv_heads = call.kv_heads
        self.bypass = self.value("kvcacheCfg") == atb.BYPASS
        self.bnsd = self.value("inputLayout") == atb.BNSD
        self.mla = self.value("mlaVHeadSize")
        self.window = self.value("windowSize")
        self.dynamic = bool(self.param["batchRunStatusEnable"])
        self.logn = self.value("scaleType") == atb.LOGN
        self.quant = self.value("quantType") in (atb.QUANT_OFFLINE, atb.QUANT_ONLINE)
        self.default = self.value("kernelType") == atb.KERNEL_DEFAULT
        self.high = self.value("kernelType") == atb.HIGH_PRECISION
        self.m8v2 = self.value("kernelType") == atb.EXP_M8V2
        self.triu = self.value("isTriuMask") == 1
        if self.p310 and self.mask_type == atb.NORM_COMPRESS:
            self.triu = True
        self.alibi = self.mask_type in ALIBI_COMPRESSED
        self.has_mask = self.mask_type not in (atb.MASK_NONE, atb.CAUSAL)
        if self.decoder and self.mask_type == atb.SWA_NORM:
            self.has_mask = False
        self.inputs_needed = self.input_count()

    def input_count(self) -> int:
        if self.pa:
            count = 4 if self.mask_type == 0 else 6 if self.alibi else 5
            count += {atb.QUANT_ONLINE: 4, atb.QUANT_OFFLINE: 5}.get(self.value("quantType"), 0)
            return count + self.logn - (self.mla > 0)
        if self.prefix:
            return {atb.NORM_COMPRESS: 7, atb.CAUSAL: 6}.get(self.mask_type, 8)
        with_mask = self.mask_type != 0 and not (self.decoder and self.mask_type == atb.SWA_NORM)
        return (6 if self.bypass else 8) + self.dynamic + with_mask + self.logn

    # 5.1

    def create(self) -> Failures:
        p = self.value
        if self.fault == "operation-null":
            yield 1, "5.1.1 operation"
        if any(self.param["rsv"]):
            yield 1, "5.1.2 rsv"
        if self.heads <= 0:
            yield 1, "5.1.3 headNum"
        if p("kvHeadNum") < 0:
            yield 1, "5.1.3 kvHeadNum"
        if p("kvHeadNum") > 0 and self.heads % p("kvHeadNum"):
            yield 1, "5.1.3 ratio"
        if p("kvcacheCfg") not in (0, 1):
            yield 1, "5.1.4 kvcacheCfg"
        if p("quantType") == atb.DEQUANT_FUSION:
            yield 1, "5.1.5 quantType"
        if self.a950:
            yield 12, "5.1.6 product"
        if self.quant:
            if p("outDataType") not in _OUT_KINDS:
                yield 1, "5.1.7 outDataType"
            if not self.pa:
                yield 1, "5.1.7 calcType"
            if p("scaleType") != atb.TOR:
                yield 1, "5.1.7 scaleType"
        if p("scaleType") not in (0, 1):
            yield 1, "5.1.8 scaleType"
        if self.pa and self.bypass:
            yield 1, "5.1.9 bypass"
        if self.alibi and self.fa:
            yield 1, "5.1.10 alibi mask"
        if self.mask_type == 0 and p("isTriuMask") == 1:
            yield 1, "5.1.11 isTriuMask"
        if self.bnsd:
            yield from self.create_bnsd()
        if self.mla:
            yield from self.create_mla()
        yield from self.create_window()
        yield from self.create_product()
        if p("kernelType") not in (0, 1, 2):
            yield 1, "5.1.16 kernelType"
        if p("inputLayout") not in (0, 1):
            yield 1, "5.1.17 inputLayout"
        if self.prefix:
            yield from self.create_prefix()
        if self.m8v2:
            yield from self.create_m8v2()
        if self.pa and self.mask_type == atb.CAUSAL:
            yield 1, "3.1 causal"

    def create_bnsd(self) -> Failures:
        p = self.value
        if p("scaleType") != atb.TOR:
            yield 1, "5.1.12 scaleType"
        if p("quantType") != 0:
            yield 1, "5.1.12 quantType"
        if self.prefix:
            yield 1, "5.1.12 calcType"
        if self.pa:
            if self.mla:
                yield 1, "5.1.12 mlaVHeadSize"
            if self.high:
                yield 1, "5.1.12 kernelType"
            if not self.a2 and not (self.p310 and self.m8v2):
                yield 1, "5.1.12 product"
            if self.mask_type != 0 and not self.m8v2:
                yield 1, "5.1.12 maskType"
        else:
            if not self.bypass:
                yield 1, "5.1.12 kvcacheCfg"
            if self.mask_type == 0:
                yield 1, "5.1.12 no mask"

    def create_mla(self) -> Failures:
        if not self.pa:
            yield 1, "5.1.13 calcType"
        if not self.a2:
            yield 1, "5.1.13 product"
        if self.mask_type not in (atb.MASK_NONE, atb.NORM, atb.SWA_NORM, atb.SWA_COMPRESS):
            yield 1, "5.1.13 maskType"
        if self.logn:
            yield 1, "5.1.13 scaleType"
        if self.value("clampType"):
            yield 1, "5.1.13 clampType"
        if self.mla > 576:
            yield 1, "5.1.13 mlaVHeadSize"

    def create_window(self) -> Failures:
        masked = self.mask_type in (atb.SWA_NORM, atb.SWA_COMPRESS)
        if not masked and self.window == 0:
            if self.value("cacheType") == atb.CACHE_SWA:
                yield 1, "5.1.14 cacheType"
            return
        if not masked or self.window == 0:
            yield 1, "5.1.14 mixture"
        if self.mask_type == atb.SWA_COMPRESS and self.decoder:
            yield 1, "5.1.14 decoder"
        if self.dynamic:
            yield 1, "5.1.14 batchRunStatusEnable"
        if not self.default:
            yield 1, "5.1.14 kernelType"
        if self.value("clampType"):
            yield 1, "5.1.14 clampType"
        if self.value("quantType"):
            yield 1, "5.1.14 quantType"
        if self.value("scaleType") != atb.TOR:
            yield 1, "5.1.14 scaleType"
        if self.bnsd:
            yield 1, "5.1.14 inputLayout"

    def create_product(self) -> Failures:
        if self.p310 and self.mask_type == atb.NORM_COMPRESS and self.value("quantType"):
            yield 1, "5.1.15 NORM_COMPRESS quantType"
        if not self.a2:
            if self.mask_type == atb.LEFT_ALIGN:
                yield 1, "5.1.15 LEFT_ALIGN"
            if self.value("clampType"):
                yield 1, "5.1.15 clampType"
            if self.quant:
                yield 1, "5.1.15 quantType"
            if self.dynamic:
                yield 1, "5.1.15 batchRunStatusEnable"
        if self.a910:
            if not self.pa:
                yield 1, "5.1.15 910 calcType"
            if self.alibi:
                yield 1, "5.1.15 910 alibi mask"
            if self.window:
                yield 1, "5.1.15 910 windowSize"
            if self.logn:
                yield 1, "5.1.15 910 scaleType"

    def create_prefix(self) -> Failures:
        p = self.value
        if not self.a2:
            yield 1, "5.1.18 product"
        if p("quantType"):
            yield 1, "5.1.18 quantType"
        if p("outDataType") != -1:
            yield 1, "5.1.18 outDataType"
        if self.heads < p("kvHeadNum"):
            yield 1, "5.1.18 kvHeadNum"
        if abs(float(self.param["qScale"]) - 1) >= 2.0**-23:
            yield 1, "5.1.18 qScale"
        if self.dynamic:
            yield 1, "5.1.18 batchRunStatusEnable"
        if p("isTriuMask") != 1:
            yield 1, "5.1.18 isTriuMask"
        if not self.high:
            yield 1, "5.1.18 kernelType"
        if p("clampType"):
            yield 1, "5.1.18 clampType"
        if float(self.param["clampMin"]) != 0 or float(self.param["clampMax"]) != 0:
            yield 1, "5.1.18 clampMin clampMax"
        if self.mask_type not in (
            atb.NORM_COMPRESS,
            atb.ALIBI_COMPRESS,
            atb.ALIBI_SQRT,
            atb.CAUSAL,
        ):
            yield 1, "5.1.18 maskType"
        if self.bypass:
            yield 1, "5.1.18 kvcacheCfg"
        if p("scaleType") != atb.TOR:
            yield 1, "5.1.18 scaleType"
        if p("cacheType"):
            yield 1, "5.1.18 cacheType"

    def create_m8v2(self) -> Failures:
        p = self.value
        if not self.p310:
            yield 1, "5.1.19 product"
        if p("outDataType") != -1:
            yield 1, "5.1.19 outDataType"
        if float(self.param["qScale"]) != 1:
            yield 1, "5.1.19 qScale"
        if p("isTriuMask"):
            yield 1, "5.1.19 isTriuMask"
        if not self.pa:
            yield 1, "5.1.19 calcType"
        if float(self.param["clampMin"]) != 0 or float(self.param["clampMax"]) != 0:
            yield 1, "5.1.19 clampMin clampMax"
        if self.mask_type not in (atb.MASK_NONE, atb.NORM, atb.NORM_COMPRESS):
            yield 1, "5.1.19 maskType"
        if p("scaleType") != atb.TOR:
            yield 1, "5.1.19 scaleType"
        if p("cacheType"):
            yield 1, "5.1.19 cacheType"

    # Appendix A

    def rows(self) -> list[Row] | None:
        if self.prefix:
            mask = "T" if self.has_mask else ""
            slopes = "f" if self.mask_type not in (atb.NORM_COMPRESS, atb.CAUSAL) else ""
            return _expanded(f"T T T i4 {mask} I I {slopes} T")
        if self.fa:
            kv = "" if self.bypass else "T T"
            batch = "I" if self.dynamic else ""
            nd, nz = ("T T", "T T"), ("TZ TZ", "TZ TZ")
            found = []
            for caches, masks, logn in ((nd[0], ("T",), "f"), (nz[0], ("T", "TZ"), "h")):
                for mask in masks if self.has_mask else ("",):
                    tail = logn if self.logn else ""
                    found.append(f"T {kv} {caches} {mask} I I I {batch} {tail} T")
            return _expanded(*found)
        if self.m8v2:
            return _expanded(
                *(("h h h I I h", "h h h IZ I h") if self.has_mask else ("h h h I h",))
            )
        if self.bnsd:
            return _expanded("b b b I b")
        return self.encoder_rows()

    def encoder_rows(self) -> list[Row] | None:
        offline = self.value("quantType") == atb.QUANT_OFFLINE
        quant = "f i4 f i4 f" if offline else "f i4 f i4"
        if self.mla:
            if self.quant:
                if self.has_mask:
                    return _expanded(f"i8 i8 T i4 {quant} T")
                return _expanded(f"i8 i8 i4 {quant} T")
            return _expanded("T T T i4 T" if self.has_mask else "T T i4 T")
        if self.quant:
            if not offline or not self.has_mask:
                return None
            if self.alibi:
                return _expanded(f"i8 i8 i8 T i4 f {quant} T", f"i8 i8 i8 h i4 h {quant} h")
            return _expanded(f"i8 i8 i8 T i4 {quant} T")
        if self.logn:
            if self.alibi:
                return _expanded("T T T T i4 f f T", "h h h h i4 h f h", "h h h hZ i4 h h h")
            if self.has_mask:
                return _expanded("T T T T i4 f T", "T T T TZ i4 h T")
            return _expanded("T T T i4 f T", "h h h i4 h h")
        if self.alibi:
            return _expanded("T T T T i4 f T", "h h h h i4 h h", "h h h hZ i4 h h")
        if self.has_mask:
            return _expanded("T T T T i4 T", "T T T TZ i4 T")
        return _expanded("T T T i4 T")

    # 5.3

    def own_infer(self) -> Failures:
        yield from self.cache_format()
        if self.logn:
            last = self.inputs[-1]
            if _rank(last) != 1:
                yield 8, "5.3.2 rank"
            if not self.pa and not self.decoder:
                yield 1, "5.3.2 calcType"
            if self.a2 and self.pa and not self.high:
                yield 1, "5.3.2 kernelType"
            if last.kind != ("f32" if self.a2 else "f16"):
                yield 6, "5.3.2 type"
        if self.quant:
            names = ["vpvDescale", "qkDescale"]
            if self.value("quantType") == atb.QUANT_OFFLINE:
                names.append("pScale")
            for name in names:
                if _rank(self.need(name)) != 1:
                    yield 8, "5.3.3 rank"
                if self.need(name).dims[0] != self.heads:
                    yield 8, "5.3.3 length"
        if self.bnsd:
            yield from self.bnsd_shapes()
            return
        yield from self.head_size()
        yield from self.window_mask()
        yield from self.shapes()

    def own_setup(self) -> Failures:
        yield from self.cache_format()
        if self.bnsd:
            yield from self.bnsd_shapes()
        else:
            yield from self.shapes()
            yield from self.head_size()
            yield from self.output_shape()
            yield from self.window_mask()
        yield from self.runner()
        yield from self.ours()

    def cache_format(self) -> Failures:
        if self.pa:
            return
        first = 1 if self.bypass or self.prefix else 3
        for cache in self.inputs[first : first + 2]:
            if cache.format != (NZ if self.nz else ND):
                yield 6, "5.3.1 cache format"

    def shapes(self) -> Failures:
        if self.pa:
            yield from self.encoder_shapes()
        elif self.prefix:
            yield from self.prefix_shapes()
        else:
            yield from self.cached_shapes()

    def output_shape(self) -> Failures:
        query, output = self.need("query"), self.outputs[0]
        if self.nz and _rank(query) == 4:
            if _rank(output) != 3:
                yield 9, "5.3 output rank"
            if output.dims != (*query.dims[:2], query.dims[2] * query.dims[3]):
                yield 8, "5.3 output shape"
        elif output.description != self.infer_outputs()[0].description:
            yield 8, "5.3 output shape"

    # 5.4

    def head_sizes(self) -> tuple[int, int]:
        """Of key and value, after the checks of 5.4."""
        key, value = self.inputs[1], self.inputs[2]
        if not self.a2:
            if self.bypass:
                return (key.dims[2] * key.dims[-1] // self.kv_heads,) * 2
            return (key.dims[-1] // (self.kv_heads if _rank(key) == 2 else 1),) * 2
        split = self.bypass or _rank(key) == 2 or (self.prefix and _rank(key) == 3)
        by = self.kv_heads if split else 1
        return key.dims[-1] // by, self.mla or value.dims[-1] // by

    def head_size(self) -> Failures:
        key, value = self.inputs[1], self.inputs[2]
        if not self.a2:
            if key.description != value.description:
                yield 8, "5.4 key equals value"
            if self.bypass and (_rank(key) < 3 or key.dims[2] * 16 % self.kv_heads):
                yield 8, "5.4 divisible"
            if not self.bypass and _rank(key) == 2 and key.dims[1] % self.kv_heads:
                yield 8, "5.4 divisible"
            width, _ = self.head_sizes()
            if self.alibi and width > 128:
                yield 8, "5.4 alibi limit"
            if width > 256:
                yield 8, "5.4 limit"
            if width % 16:
                yield 8, "5.4 multiple of 16"
            return
        if self.bypass or _rank(key) == 2 or (self.prefix and _rank(key) == 3):
            if key.dims[-1] % self.kv_heads:
                yield 8, "5.4 divisible"
            if not self.mla and value.dims[-1] % self.kv_heads:
                yield 8, "5.4 divisible"
        width, value_width = self.head_sizes()
        if self.mla > width:
            yield 8, "5.4 mlaVHeadSize"
        differ = not self.mla and width != value_width
        limit = 1024 if differ else 576
        if (self.window and not differ) or self.logn or (self.quant and not self.mla):
            if width != value_width:
                yield 8, "5.4 equal"
            limit = 256
        if self.alibi:
            limit = 128
        if max(width, value_width) > limit:
            yield 8, "5.4 alibi limit" if self.alibi else "5.4 limit"

    # 5.5

    def encoder_shapes(self) -> Failures:
        query, key = self.need("query"), self.need("key")
        if self.mla:
            if _rank(query) not in (2, 3, 4):
                yield 9, "5.5a query rank"
            if _rank(key) not in (2, 3, 4):
                yield 9, "5.5a key rank"
        else:
            if _rank(query) not in (2, 3):
                yield 9, "5.5a query rank"
            if _rank(query) != _rank(key):
                yield 9, "5.5a key rank"
            if _rank(self.need("value")) != _rank(key):
                yield 9, "5.5a value rank"
        slopes, lengths = self.tensor("slopes"), self.need("seqLen")
        if slopes is not None and _rank(slopes) != 1:
            yield 9, "5.5a slopes rank"
        if _rank(lengths) not in (1, 2):
            yield 16, "5.5a seqLen rank"
        if not self.mla and key.dims[:-1] != self.need("value").dims[:-1]:
            yield 8, "5.5c value"
        yield from self.mask_shape()
        if slopes is not None and slopes.dims[0] != self.heads:
            yield 8, "5.5e slopes"
        if _rank(lengths) == 2 and lengths.dims[0] != 2:
            yield 8, "5.5e seqLen"

    def mask_shape(self) -> Failures:
        mask = self.tensor("mask")
        if mask is None or not self.has_mask:
            return
        dims = mask.dims
        if self.mask_type == atb.NORM_COMPRESS:
            yield from self.compressed_norm(mask)
        elif self.nz:
            if self.alibi:
                if len(dims) != 4:
                    yield 9, "5.5d NZ alibi rank"
                if dims[3] != 16:
                    yield 8, "5.5d NZ alibi shape"
            if self.m8v2 and self.mask_type == atb.NORM and len(dims) == 3:
                if dims[0] != self.need("seqLen").dims[-1]:
                    yield 9, "5.5d M8V2 mask"
        elif self.alibi:
            if mask.kind == "f16" and self.default:
                yield 1, "5.5d alibi precision"
            if len(dims) == 2 and dims != (256, 256):
                yield 8, "5.5d alibi shape"
            if len(dims) == 3 and self.mask_type == atb.LEFT_ALIGN:
                yield 8, "5.5d LEFT_ALIGN"
            if len(dims) == 3 and dims[0] != self.heads and dims[2] != TILE:
                yield 8, "5.5d alibi shape"
            if len(dims) == 4:
                yield 9, "5.5d alibi rank"
        elif len(dims) not in (2, 3, 4):
            yield 9, "5.5d mask rank"

    def compressed_norm(self, mask: Tensor) -> Failures:
        if mask.format != NZ:
            if _rank(mask) != 2:
                yield 9, "5.5d NORM_COMPRESS rank"
            if mask.dims != (TILE, TILE):
                yield 8, "5.5d NORM_COMPRESS shape"
            return
        if _rank(mask) != 4:
            yield 9, "5.5d NORM_COMPRESS NZ rank"
        if mask.dims not in ((1, 8, TILE, 16), (1, TILE, 2048, 16)):
            yield 8, "5.5d NORM_COMPRESS NZ shape"
        if mask.dims == (1, TILE, 2048, 16):
            if not self.p310:
                yield 1, "5.5d long window product"
            if mask.kind != "f16":
                yield 6, "5.5d long window type"
            if self.logn:
                yield 1, "5.5d long window scaleType"

    def window_mask(self) -> Failures:
        if not self.window or self.decoder:
            return
        at = 2 if self.mla else 3 if self.pa or self.bypass else 5
        mask = self.inputs[at]
        rank, compressed = (4, (1, 32, 512, 16)) if self.nz else (2, (512, 512))
        if _rank(mask) != rank:
            yield 8, "5.5d window rank"
        if self.mask_type == atb.SWA_COMPRESS and mask.dims != compressed:
            yield 8, "5.5d window tile"

    # 5.6, 5.7

    def bnsd_shapes(self) -> Failures:
        if self.pa:
            yield from self.encoder_bnsd()
        else:
            yield from self.bypass_bnsd()

    def encoder_bnsd(self) -> Failures:
        query, key, lengths = self.need("query"), self.need("key"), self.need("seqLen")
        if _rank(query) != 4:
            yield 16, "5.6 query rank"
        if _rank(key) != 4:
            yield 16, "5.6 key rank"
        if _rank(lengths) not in (1, 2):
            yield 16, "5.6 seqLen rank"
        if key.description != self.need("value").description:
            yield 8, "5.6 key equals value"
        if _rank(lengths) == 2 and lengths.dims[0] != 2:
            yield 8, "5.6 seqLen"
        batch = lengths.dims[-1]
        if query.dims[0] != batch:
            yield 8, "5.6 query batch"
        if key.dims[0] != batch:
            yield 8, "5.6 key batch"
        if query.dims[1] != self.heads:
            yield 8, "5.6 query heads"
        if key.dims[1] != self.kv_heads:
            yield 8, "5.6 key heads"
        if query.dims[3] != key.dims[3]:
            yield 8, "5.6 head size"
        if query.dims[3] > 256:
            yield 8, "5.6 limit"

    def bypass_bnsd(self) -> Failures:
        query, key, value = self.need("query"), self.need("cacheK"), self.need("cacheV")
        if _rank(query) != 4:
            yield 16, "5.7 query rank"
        if _rank(key) != 5 or _rank(value) != 5:
            yield 16, "5.7 cache rank"
        mask = self.tensor("mask")
        if self.a2 and mask is not None and _rank(mask) not in (2, 3, 4):
            yield 16, "5.7 mask rank"
        if any(_rank(self.need(name)) != 1 for name in ("tokenOffset", "seqLen", "layerId")):
            yield 16, "5.7 length rank"
        if self.dynamic:
            yield 27, "3.2 bypass with batchRunStatusEnable"
        if key.description != value.description:
            yield 8, "5.7 cacheK equals cacheV"
        batch = query.dims[0]
        if self.a2:
            if key.dims[1] != batch:
                yield 8, "5.7 batch"
            if key.dims[2] != self.kv_heads:
                yield 8, "5.7 cache heads"
        elif key.dims[1] != batch * self.kv_heads:
            yield 8, "5.7 NZ batch"
        if query.dims[1] != self.heads:
            yield 8, "5.7 query heads"
        if query.dims[3] > 256:
            yield 8, "5.7 limit"
        if self.a2 and key.dims[4] != query.dims[3]:
            yield 8, "5.7 head size"
        if not self.a2:
            if key.dims[4] != 16:
                yield 8, "5.7 NZ column"
            if key.dims[2] * 16 != query.dims[3]:
                yield 8, "5.7 NZ head size"
        for name in ("tokenOffset", "seqLen"):
            if self.need(name).dims[0] != batch:
                yield 8, "5.7 lengths"

    # 5.8

    def prefix_shapes(self) -> Failures:
        query, key, value = self.need("query"), self.need("key"), self.need("value")
        table = self.need("blockTables")
        if _rank(query) not in (2, 3):
            yield 16, "5.8 query rank"
        if _rank(key) not in (3, 4) or _rank(value) not in (3, 4):
            yield 16, "5.8 cache rank"
        if _rank(table) != 2:
            yield 16, "5.8 blockTables rank"
        lengths = [self.need("seqLen"), self.need("kvSeqLen")]
        if any(_rank(one) != 1 for one in lengths):
            yield 16, "5.8 length rank"
        slopes = self.tensor("slopes")
        if slopes is not None and _rank(slopes) != 1:
            yield 16, "5.8 slopes rank"
        yield from self.mask_shape()
        width, _ = self.head_sizes()
        own = query.dims[-1] // self.heads if _rank(query) == 2 else query.dims[-1]
        if width > 128:
            yield 8, "5.8 key head size"
        if own > 128:
            yield 8, "5.8 query head size"
        if width % 16 or own % 16:
            yield 8, "5.8 multiple of 16"
        if key.dims[1] * width > 16384:
            yield 8, "5.8 block"
        if any(one.dims[0] != table.dims[0] for one in lengths):
            yield 8, "5.8 lengths"

    # 5.9

    def cached_shapes(self) -> Failures:
        query, caches = self.need("query"), [self.need("cacheK"), self.need("cacheV")]
        if _rank(query) not in (2, 4):
            yield 16, "5.9 query rank"
        rows = [] if self.bypass else [self.need("key"), self.need("value")]
        if any(_rank(one) not in (2, 4) for one in rows):
            yield 16, "5.9 key rank"
        rank = 5 if self.nz else 3 if self.dynamic else 4
        if any(_rank(cache) != rank for cache in caches):
            yield 16, "5.9 cache rank"
        mask = self.tensor("mask")
        if self.a2 and mask is not None and self.has_mask and _rank(mask) not in (2, 3, 4):
            yield 9, "5.9 mask rank"
        names = ["tokenOffset", "seqLen", "layerId"]
        if any(_rank(self.need(name)) != 1 for name in names):
            yield 16, "5.9 length rank"
        if self.dynamic:
            if self.bypass:
                yield 27, "3.2 bypass with batchRunStatusEnable"
            if _rank(self.need("batchRunStatus")) != 1:
                yield 16, "5.9 batchRunStatus rank"
        if rows:
            hidden = [
                math.prod(one.dims[-2:] if _rank(one) == 4 else one.dims[-1:]) for one in rows
            ]
            held = [c.dims[2] * c.dims[4] if self.nz else c.dims[-1] for c in caches]
            if hidden[0] != held[0]:
                yield 8, "5.9 cacheK hidden"
            if hidden[1] != held[1]:
                yield 8, "5.9 cacheV hidden"
            if hidden[0] % 16 or hidden[1] % 16:
                yield 8, "5.9 hidden multiple of 16"
        end = None if self.nz else -1
        if caches[0].dims[:end] != caches[1].dims[:end]:
            yield 8, "5.9 caches"
        batch = caches[0].dims[0 if self.dynamic else 1]
        counted = ["tokenOffset", "seqLen", *(["batchRunStatus"] if self.dynamic else [])]
        if any(self.need(name).dims[0] != batch for name in counted):
            yield 8, "5.9 lengths"

    # 5.10 and section 00: what the runner finds

    def lengths(self) -> tuple[list[int], list[int]]:
        """Of queries and of keys."""
        if self.pa:
            given = self.need("seqLen")
            numbers = _integers(given)
            if _rank(given) == 1:
                return numbers, numbers
            half = len(numbers) // 2
            return numbers[:half], numbers[half:]
        other = "kvSeqLen" if self.prefix else "tokenOffset"
        return _integers(self.tensor("seqLen")), _integers(self.tensor(other))

    def runner(self) -> Failures:
        hosts = ["seqLen"]
        if self.prefix:
            hosts.append("kvSeqLen")
        if self.fa:
            hosts += ["tokenOffset", *(["batchRunStatus"] if self.dynamic else [])]
        if any(not self.need(name).on_host for name in hosts):
            yield 1, "5.10 hostData"
        yield from self.listed_caches()
        queries, keys = self.lengths()
        most, longest = max(queries), max(keys)
        mask = self.tensor("mask") if self.has_mask else None
        if self.pa and self.mla and _rank(self.need("query")) == 4:
            yield 4, "00 mla query rank"
        if self.pa and self.p310 and _rank(self.need("query")) == 2:
            yield 4, "R1b query rank"
        if mask is not None and not self.nz:
            yield from self.mask_covers(mask, queries, keys)
        if mask is not None and self.nz:
            yield from self.fractal_covers(mask, len(queries), most, longest)
        if self.pa and self.a2 and not self.bnsd and not self.mla:
            yield from self.heads_missing()
        if self.logn:
            length = self.inputs[-1].dims[0]
            if self.decoder and length < len(queries):
                yield 4, "5.10 logN batch"
            if self.pa and self.a2 and length * len(queries) < self.need("query").dims[0]:
                yield 4, "5.10 logN rows"

    def listed_caches(self) -> Failures:
        caches = [self.tensor("cacheK"), self.tensor("cacheV")]
        if not self.bypass or not any(cache is not None and cache.items for cache in caches):
            return
        cache = self.need("cacheK")
        if not self.decoder:
            yield 1, "3.2 list calcType"
        layers, count = cache.dims[0], len(cache.items)
        if self.a2:
            if layers != 1:
                yield 8, "3.2 list layers"
            if count != len(_integers(self.tensor("seqLen"))):
                yield 8, "3.2 list size"
        else:
            if layers != 1:
                yield 1, "3.2 NZ list layers"
            if count != len(_integers(self.tensor("seqLen"))):
                yield 1, "3.2 NZ list size"

    def mask_covers(self, mask: Tensor, queries: list[int], keys: list[int]) -> Failures:
        if mask.kind not in ("f16", "bf16"):
            yield 4, "5.10 mask type"
        most, longest = max(queries), max(keys)
        if most <= 0 or longest <= 0:
            yield 4, "00 largest length"
        if min(*queries, *keys, 0) < 0:
            yield 4, "00 negative length"
        if longest < most:
            yield 4, "R13 kv shorter than q"
        if self.mask_type == atb.SWA_NORM and most == 1:
            yield 4, "00 window with one row"
        if self.mask_type == atb.NORM_COMPRESS and self.decoder and longest > TILE:
            yield 4, "00 NORM_COMPRESS decoder"
        if not self.mask_matches(mask, len(queries), most, longest):
            yield 4, "5.10 mask shape"
        if self.prefix and _rank(mask) == 3 and mask.dims[1] < longest:
            yield 4, "00 PREFIX alibi rows"

    def mask_matches(self, mask: Tensor, batch: int, most: int, longest: int) -> bool:
        dims = mask.dims
        triu = self.triu and not self.decoder
        alibi = self.alibi or self.mask_type == atb.ALIBI
        covers = dims[-2] >= most and dims[-1] >= longest
        if len(dims) == 2:
            if dims == (TILE, TILE) and triu and self.mask_type in (atb.NORM, atb.NORM_COMPRESS):
                return True
            if dims == (256, 256) and alibi:
                return True
            if dims == (512, 512) and self.mask_type == atb.SWA_COMPRESS:
                return True
            return covers
        if len(dims) == 3:
            if alibi:
                strip = dims[-2] >= most and dims[-2] != TILE and dims[-1] == TILE
                return dims[0] == self.heads and (covers or strip)
            return dims[0] == batch and (covers or (dims[-2:] == (TILE, TILE) and triu))
        return dims[:2] == (batch, self.heads) and covers

    def fractal_covers(self, mask: Tensor, batch: int, most: int, longest: int) -> Failures:
        """NZ masks, and ND ones that are converted."""
        if mask.format == ND and _rank(mask) == 2:
            yield 4, "00 ND mask rank"
        tiles = {
            atb.NORM_COMPRESS: ((1, 8, TILE, 16), (1, TILE, 2048, 16)),
            atb.SWA_COMPRESS: ((1, 32, 512, 16),),
        }
        alibi = ((1, 16, 256, 16),) if self.alibi else ()
        if mask.dims in tiles.get(self.mask_type, alibi) and self.triu_or_other():
            return
        if mask.dims in alibi:
            return  # refused by the tiling
        n, rows, columns = atb.planes(mask.dims, mask.format)
        strip = self.alibi and columns == TILE
        if rows < roundup(most) or (columns < roundup(longest) and not strip):
            yield 4, "R6 mask size"
        if n not in (1, batch, self.heads, batch * self.heads):
            yield 4, "R6 mask planes"

    def triu_or_other(self) -> bool:
        return self.triu or self.mask_type == atb.SWA_COMPRESS

    def heads_missing(self) -> Failures:
        query, key = self.need("query"), self.need("key")
        width, value_width = self.query_width(), self.head_sizes()[1]
        if self.value("kvHeadNum") or width != value_width or width > 256:
            return
        if _rank(key) == 3 and key.dims[1] != self.heads:
            yield 4, "5.10 kv head missing"
        if _rank(key) == 2 and key.dims[1] != query.dims[1] and key.dims[1] > width:
            yield 4, "5.10 kv head missing"

    # Ours: what the device would read or write out of bounds

    def query_width(self) -> int:
        query = self.need("query")
        return query.dims[-1] // self.heads if _rank(query) == 2 else query.dims[-1]

    def ours(self) -> Failures:
        query = self.need("query")
        queries, keys = self.lengths()
        if self.nz and min(*queries, *keys, 0) < 0:
            yield 8, "00 ours negative length"
        if _rank(query) == 2 and query.dims[1] % self.heads:
            yield 8, "00 ours query heads"
        if not self.bnsd and _rank(query) in (3, 4) and query.dims[-2] != self.heads:
            yield 8, "00 ours query heads"
        if self.pa:
            yield from self.ours_encoder(queries, keys)
        elif self.prefix:
            yield from self.ours_prefix(queries, keys)
        else:
            yield from self.ours_cached(queries, keys)

    def positive(self, numbers: list[int]) -> int:
        return sum(max(number, 0) for number in numbers)

    def ours_encoder(self, queries: list[int], keys: list[int]) -> Failures:
        query, key = self.need("query"), self.need("key")
        if self.bnsd:
            if max(queries) > query.dims[2]:
                yield 8, "00 ours query rows"
            if max(keys) > key.dims[2]:
                yield 8, "00 ours key rows"
            return
        if _rank(key) in (3, 4) and key.dims[-2] != self.kv_heads:
            yield 8, "00 ours key heads"
        if self.query_width() != self.head_sizes()[0]:
            yield 8, "00 ours head size"
        step = 16 if self.nz else 1
        if query.dims[0] < roundup(self.positive(queries), step):
            yield 8, "00 ours query rows"
        if math.prod(key.dims[: -2 if _rank(key) > 2 else -1]) < roundup(self.positive(keys), step):
            yield 8, "00 ours key rows"
        if self.logn and self.inputs[-1].dims[0] < max(queries):
            yield 8, "00 ours logN"

    def ours_prefix(self, queries: list[int], keys: list[int]) -> Failures:
        query, key = self.need("query"), self.need("key")
        if key.dims != self.need("value").dims:
            yield 8, "00 ours value"
        if _rank(key) == 4 and key.dims[2] != self.kv_heads:
            yield 8, "00 ours key heads"
        if self.query_width() != self.head_sizes()[0]:
            yield 8, "00 ours head size"
        slopes = self.tensor("slopes")
        if slopes is not None and slopes.dims[0] < self.heads:
            yield 8, "00 ours slopes"
        if query.dims[0] < self.positive(queries):
            yield 8, "00 ours query rows"
        if max(keys) > self.need("blockTables").dims[1] * key.dims[1]:
            yield 8, "00 ours block table"

    def ours_cached(self, queries: list[int], keys: list[int]) -> Failures:
        query, cache = self.need("query"), self.need("cacheK")
        if self.bnsd:
            if max(queries) > query.dims[2]:
                yield 8, "00 ours query rows"
        else:
            rows = math.prod(query.dims[: -2 if _rank(query) == 4 else -1])
            needed = [roundup(max(n, 0)) for n in queries] if self.nz else queries
            if rows < self.positive(needed):
                yield 8, "00 ours query rows"
            for name in () if self.bypass else ("key", "value"):
                one = self.need(name)
                if _rank(one) == 4 and one.dims[2] != self.kv_heads:
                    yield 8, "00 ours key heads"
                if math.prod(one.dims[: -2 if _rank(one) == 4 else -1]) < self.positive(queries):
                    yield 8, "00 ours key rows"
            held = cache.dims[2] * 16 if self.nz else cache.dims[-1]
            if self.query_width() * self.kv_heads != held:
                yield 8, "00 ours head size"
        yield from self.ours_lengths(queries, keys)

    def ours_lengths(self, queries: list[int], keys: list[int]) -> Failures:
        cache = self.need("cacheK")
        stored = cache.dims[-2]
        if cache.items:
            one = cache.items[0]
            width = self.query_width()
            outer = {"KSD": (self.kv_heads, width), "SX": (width * self.kv_heads,)}
            shape = outer["KSD" if self.bnsd else "SX"]
            kept = (*one.dims[:-2], one.dims[-1])
            if self.nz:
                shape, kept = (width * self.kv_heads // 16, 16), (one.dims[0], one.dims[-1])
            items = [*cache.items, *self.need("cacheV").items]
            if kept != shape or any(item.description != one.description for item in items):
                yield 8, "00 ours list members"
            stored = one.dims[-2]
        ring = self.value("cacheType") == atb.CACHE_SWA
        for n, total in zip(queries, keys, strict=True):
            if not self.bypass and (total < n or total > stored):
                yield 8, "00 ours tokenOffset"
            if (min(total, self.window) if ring else total) > stored:
                yield 8, "00 ours cache rows"

    # Tiling

    def tiling(self) -> Failures:
        queries, keys = self.lengths()
        if self.value("cacheType") not in (0, 1):
            yield 1, "5.10 cacheType"
        if self.value("isTriuMask") not in (0, 1):
            yield 1, "5.10 isTriuMask"
        if self.nz:
            if len(queries) > 2000:
                yield 1, "R3 batch"
            mask = self.tensor("mask")
            if self.alibi and mask is not None and mask.dims == (1, 16, 256, 16) and not self.triu:
                yield 1, "5.10 alibi tile without isTriuMask"
            return
        if self.mla and self.window:
            yield 1, "00 mla window"
        if not self.bnsd and max(self.head_sizes()) > 576:
            yield 1, "5.10 head size"
        yield from self.tiling_mask()
        yield from self.tiling_lengths(queries, keys)

    def tiling_mask(self) -> Failures:
        mask = self.tensor("mask") if self.has_mask else None
        if mask is None:
            return
        if self.pa and not self.bnsd:
            norm = not self.alibi and self.mask_type != atb.ALIBI
            if norm and _rank(mask) == 4:
                yield 1, "5.10 norm mask rank"
            if self.mask_type == atb.ALIBI and _rank(mask) == 2 and mask.dims[1] != 256:
                yield 1, "5.10 alibi mask rank"
        if self.window and mask.dims[0] > mask.dims[1]:
            yield 1, "5.10 window mask"

    def tiling_lengths(self, queries: list[int], keys: list[int]) -> Failures:
        work = [n > 0 and total > 0 for n, total in zip(queries, keys, strict=True)]
        pairs = list(zip(queries, keys, strict=True))
        if self.prefix:
            if self.need("key").dims[1] != 128:
                yield 1, "3.4 block size"
            if any(n < 0 or total < 0 for n, total in pairs):
                yield 1, "00 lengths prefix"
            if any((total - n) % 128 for n, total in pairs):
                yield 1, "3.4 whole blocks"
        elif self.pa and self.bnsd:
            if any(n < 0 or total < 0 for n, total in pairs):
                yield 1, "00 lengths BNSD"
        elif self.fa and self.dynamic and self.decoder:
            if any(n <= 0 or total < 0 for n, total in pairs):
                yield 1, "00 lengths decoder"
            work = [total > 0 for total in keys]
        elif (self.pa and not self.high and not self.mla) or (self.fa and self.dynamic):
            if any(n < 0 or total < 0 for n, total in pairs):
                yield 1, "00 lengths default negative"
            if any(n > 0 and total > 0 and total != n and n != 1 for n, total in pairs):
                yield 1, "00 lengths default"
        elif any(n <= 0 or total <= 0 for n, total in pairs):
            yield 1, "00 lengths high precision"
        if not any(work):
            yield 1, "00 no work"

    # Outputs

    def infer_outputs(self) -> list[Tensor]:
        query = self.need("query")
        kind = _OUT_KINDS[self.value("outDataType")] if self.quant else query.kind
        dims = query.dims
        if self.bnsd or self.prefix:
            pass
        elif self.nz:
            if self.fa and len(dims) == 4:
                dims = (*dims[:2], dims[2] * dims[3])
        elif self.pa:
            width = self.head_sizes()[1]
            dims = (dims[0], self.heads * width) if len(dims) == 2 else (*dims[:2], width)
            if _rank(query) == 4:
                dims = (*query.dims[:2], query.dims[2] * width)
        else:
            value = self.inputs[2]
            width = value.dims[-1]
            if self.bypass or _rank(value) == 2:
                width //= self.kv_heads
            heads = dims[2] if len(dims) == 4 else self.heads
            dims = (*dims[: 2 if len(dims) == 4 else 1], heads * width)
        return [Tensor(kind, dims, query.format)]


# PagedAttention -------------------------------------------------------------------------------


class PagedAttentionRules(Rules):
    def __init__(self, call: Call, fault: str = "") -> None:
        super().__init__(call, fault)
        self.heads = self.value("headNum")
        self.kv_heads = call.kv_heads
        self.mask_type = self.value("maskType")
        self.spec = self.value("calcType") == atb.CALC_SPEC
        self.mla = self.value("mlaVHeadSize")
        self.bnsd = self.value("inputLayout") == atb.BNSD
        self.fusion = self.value("quantType") == atb.DEQUANT_FUSION
        self.qkv = self.value("quantType") in (atb.QUANT_OFFLINE, atb.QUANT_ONLINE)
        self.offset = bool(self.param["hasQuantOffset"])
        self.dynamic = bool(self.param["batchRunStatusEnable"])
        self.compress = self.value("compressType")
        self.rope = self.compress == atb.KVHEAD_ROPE
        self.logn = self.value("scaleType") == atb.LOGN
        count = 5 + (self.mask_type != 0) + self.dynamic + self.spec + self.rope + self.logn
        if self.fusion:
            count += 4 if self.offset else 2
        if self.qkv:
            count += 3 if self.value("quantType") == atb.QUANT_OFFLINE else 2
        self.inputs_needed = count - (self.mla > 0)

    # 5b.1

    def create(self) -> Failures:
        p = self.value
        if self.fault == "operation-null":
            yield 1, "5b.1 operation"
        if any(self.param["rsv"]):
            yield 1, "5b.1 rsv"
        if self.a950:
            yield 12, "5b.1 product"
        if self.heads <= 0:
            yield 1, "5b.1 headNum"
        if p("kvHeadNum") < 0:
            yield 1, "5b.1 kvHeadNum"
        if p("kvHeadNum") and self.heads % p("kvHeadNum"):
            yield 1, "5b.1 ratio"
        if self.mask_type == atb.PAGED_NORM_COMPRESS:
            if not self.p310:
                yield 1, "5b.1 NORM_COMPRESS product"
            if p("quantType"):
                yield 1, "5b.1 NORM_COMPRESS quantType"
        if not self.a2:
            if self.dynamic:
                yield 1, "5b.1 product batchRunStatusEnable"
            if self.compress:
                yield 1, "5b.1 product compressType"
            if self.mla:
                yield 1, "5b.1 product mlaVHeadSize"
            if p("quantType"):
                yield 1, "5b.1 product quantType"
        if self.a910:
            if self.mask_type in (atb.MASK_SPEC, atb.MASK_FREE):
                yield 1, "5b.1 910 maskType"
            if self.spec:
                yield 1, "5b.1 910 calcType"
            if p("scaleType") != atb.TOR:
                yield 1, "5b.1 910 scaleType"
            if self.bnsd:
                yield 1, "5b.1 910 inputLayout"
        if self.compress not in (0, 1, 2):
            yield 1, "5b.1 compressType"
        if self.rope:
            if self.mask_type:
                yield 1, "5b.1 ROPE maskType"
            if self.dynamic:
                yield 1, "5b.1 ROPE batchRunStatusEnable"
        yield from self.create_spec()
        if self.qkv:
            if p("outDataType") not in _OUT_KINDS:
                yield 1, "5b.1 outDataType"
            if self.offset:
                yield 1, "5b.1 hasQuantOffset"
            if self.compress:
                yield 1, "5b.1 quant compressType"
            if self.spec:
                yield 1, "5b.1 quant SPEC"
        if p("scaleType") not in (0, 1):
            yield 1, "5b.1 scaleType"
        if self.logn:
            if p("quantType"):
                yield 1, "5b.1 logN quantType"
            if self.spec:
                yield 1, "5b.1 logN SPEC"
            if self.compress:
                yield 1, "5b.1 logN compressType"
        if self.bnsd:
            if self.spec:
                yield 1, "5b.1 BNSD SPEC"
            if self.compress:
                yield 1, "5b.1 BNSD compressType"
            if p("quantType"):
                yield 1, "5b.1 BNSD quantType"
            if self.logn:
                yield 1, "5b.1 BNSD logN"
        if self.mla:
            yield from self.create_mla()

    def create_spec(self) -> Failures:
        if self.value("calcType") == 0:
            return
        if self.dynamic:
            yield 1, "5b.1 SPEC batchRunStatusEnable"
        if self.compress:
            yield 1, "5b.1 SPEC compressType"
        if self.a2 and not self.mla and self.mask_type not in (atb.NORM, atb.MASK_SPEC):
            yield 1, "5b.1 SPEC maskType"
        if not self.a2 and self.mask_type not in (0, atb.MASK_SPEC, atb.MASK_FREE, 5):
            yield 1, "5b.1 NZ SPEC maskType"
        if self.fusion:
            yield 1, "5b.1 SPEC dequant fusion"

    def create_mla(self) -> Failures:
        if self.mask_type == atb.ALIBI:
            yield 1, "5b.1 mla ALIBI"
        if self.spec and self.mask_type == atb.NORM:
            yield 1, "5b.1 mla SPEC NORM"
        if self.compress:
            yield 1, "5b.1 mla compressType"
        if self.fusion:
            yield 1, "5b.1 mla dequant fusion"
        if self.logn:
            yield 1, "5b.1 mla logN"
        if self.bnsd:
            yield 1, "5b.1 mla BNSD"
        if self.value("kvHeadNum") != 1:
            yield 1, "5b.1 mla kvHeadNum"
        if self.mla > 576:
            yield 1, "5b.1 mlaVHeadSize"

    # Appendix A

    def rows(self) -> list[Row] | None:
        mask = "T" if self.mask_type else ""
        batch = "i4" if self.dynamic else ""
        razor = "f" if self.rope else ""
        scales = "f f f" if self.value("quantType") == atb.QUANT_OFFLINE else "f f"
        if self.mla:
            if self.qkv:
                return _expanded(f"i8 i8 i4 i4 {mask} {batch} {scales} T")
            tail = "i4" if self.spec else ""
            return _expanded(f"T T i4 i4 {mask} {batch} {tail} T")
        if self.fusion:
            found = []
            for one in ("f", "i64"):
                given = f"{one} i4 {one} i4" if self.offset else f"{one} {one}"
                found.append(f"T i8 i8 i4 i4 {mask} {batch} {given} {razor} T")
            return _expanded(*found)
        if self.qkv:
            fractal = "TZ" if self.mask_type else ""
            return _expanded(
                f"i8 i8 i8 i4 i4 {mask} {batch} {scales} T",
                f"T T T i4 i4 {mask} {batch} {scales} T",
                f"T TZ TZ i4 i4 {fractal} {batch} {scales} T",
            )
        if self.spec:
            if not self.mask_type:
                return None
            return _expanded("T T T i4 i4 T i4 T", "h hZ hZ i4 i4 hZ i4 h", "h hZ hZ i4 i4 h i4 h")
        found = [f"T T T i4 i4 {mask} {batch} {razor} {'f' if self.logn else ''} T"]
        if not self.dynamic and not self.rope:
            fractal = "TZ" if self.mask_type else ""
            found.append(f"T TZ TZ i4 i4 {fractal} {'h' if self.logn else ''} T")
        return _expanded(*found)

    # 5b.3

    def own_infer(self) -> Failures:
        if self.bnsd and self.a2:
            yield from self.bnsd_shapes()
        else:
            yield from self.shapes()
        yield from self.special_masks()

    def bnsd_shapes(self) -> Failures:
        query, key, value = self.need("query"), self.need("keyCache"), self.need("valueCache")
        if _rank(query) != 3:
            yield 16, "5b.3 BNSD query rank"
        if _rank(key) != 4 or _rank(value) != 4:
            yield 16, "5b.3 BNSD cache rank"
        if _rank(self.need("blockTables")) != 2:
            yield 16, "5b.3 BNSD blockTables rank"
        if _rank(self.need("contextLens")) != 1:
            yield 16, "5b.3 BNSD contextLens rank"
        if not query.dims[2] == key.dims[3] == value.dims[3]:
            yield 8, "5b.3 BNSD head size"
        if key.dims[0] != value.dims[0] or key.dims[2] != value.dims[2]:
            yield 8, "5b.3 BNSD blocks"

    def shapes(self) -> Failures:
        query, key, table = self.need("query"), self.need("keyCache"), self.need("blockTables")
        contexts = self.need("contextLens")
        value = self.tensor("valueCache")
        if value is not None and _rank(value) != 4:
            yield 16, "5b.3 valueCache rank"
        if _rank(query) != 3:
            yield 16, "5b.3 query rank"
        if _rank(key) != 4:
            yield 16, "5b.3 keyCache rank"
        if _rank(table) != 2:
            yield 16, "5b.3 blockTables rank"
        if _rank(contexts) != 1:
            yield 16, "5b.3 contextLens rank"
        if self.dynamic and query.dims[0] > min(table.dims[0], contexts.dims[0]):
            yield 8, "5b.3 batchRunStatus tokens"
        if value is not None and key.dims[:3] != value.dims[:3]:
            yield 8, "5b.3 caches"
        if self.nz:
            yield from self.fractal_shapes(query, key, value)
        else:
            yield from self.head_sizes(query, key, value)

    def fractal_shapes(self, query: Tensor, key: Tensor, value: Tensor | None) -> Failures:
        if key.dims[3] != 16:
            yield 8, "5b.3 NZ key column"
        if value is not None and value.dims[3] != 16:
            yield 8, "5b.3 NZ value column"
        width = key.dims[1] * 16 // self.kv_heads
        if width % 16:
            yield 8, "5b.3 NZ multiple of 16"
        if width > 256:
            yield 8, "5b.3 NZ limit"
        if width * key.dims[2] > 16384:
            yield 8, "5b.3 NZ block"
        if width != query.dims[2]:
            yield 8, "5b.3 NZ head size"

    def head_sizes(self, query: Tensor, key: Tensor, value: Tensor | None) -> Failures:
        width, size = key.dims[3], key.dims[1]
        value_width = self.mla or (value.dims[3] if value is not None else 0)
        if width != query.dims[2]:
            yield 8, "5b.3 head size"
        strict = self.fusion or self.logn or bool(self.compress)
        strict = strict or ((self.spec or self.qkv) and not self.mla)
        if strict:
            if width != value_width:
                yield 8, "5b.3 equal"
            if width > 256:
                yield 8, "5b.3 limit 256"
            if width * size > 16384:
                yield 8, "5b.3 block"
            return
        if self.mla > width:
            yield 8, "5b.3 mlaVHeadSize"
        if max(width, value_width) > 576:
            yield 8, "5b.3 limit 576"
        if self.mla and self.need("contextLens").dims[0] > 8192:
            yield 8, "5b.3 mla batch"
        special = (
            self.mla == 512
            and size == 256
            and self.kv_heads == 1
            and self.heads in (16, 32)
            and width == 576
            and not self.spec
        )
        if max(width, value_width) > 256 and size > 128 and not special:
            yield 8, "5b.3 wide block"

    def special_masks(self) -> Failures:
        mask = self.tensor("mask")
        if mask is None:
            return
        if self.mask_type == atb.PAGED_NORM_COMPRESS:
            plain = ((2048, 2048), (1, 2048, 2048), (1, 1, 2048, 2048))
            if (
                mask.dims not in ((1, 128, 2048, 16),)
                if mask.format == NZ
                else mask.dims not in plain
            ):
                yield 8, "5b.3 NORM_COMPRESS shape"
        if self.mask_type == atb.MASK_FREE:
            if not self.p310:
                yield 8, "5b.3 MASK_FREE product"
            if mask.dims != (1, 8, 128, 16):
                yield 8, "5b.3 MASK_FREE shape"
            if any(self.need(name).dims[2] != 128 for name in ("keyCache", "valueCache")):
                yield 1, "5b.3 MASK_FREE block size"

    def own_setup(self) -> Failures:
        if _rank(self.need("keyCache")) != 4:
            yield 16, "5b.3 keyCache rank"
        yield from self.own_infer()
        query, output = self.need("query"), self.outputs[0]
        expected = self.infer_outputs()[0]
        if self.dynamic and output.dims[0] != query.dims[0]:
            yield 8, "5b.3 output tokens"
        if output.dims[-1] != expected.dims[-1]:
            yield 8, "5b.3 output width"
        if _rank(output) < 2 or output.dims[1] != query.dims[1]:
            yield 8, "5b.3 output heads"
        contexts = self.need("contextLens")
        if self.rope:
            razor, key = self.need("razorOffset"), self.need("keyCache")
            if _rank(razor) != 2 or razor.dims != key.dims[:2]:
                yield 8, "5b.3 razorOffset"
        if self.logn:
            logn = self.need("logN")
            if _rank(logn) != 1:
                yield 8, "5b.3 logN rank"
            if logn.dims[0] != contexts.dims[0]:
                yield 8, "5b.3 logN length"
            if self.dynamic and logn.dims[0] != self.need("batchRunStatus").dims[0]:
                yield 8, "5b.3 logN batchRunStatus"
        if self.mask_type == atb.MASK_FREE and self.spec:
            pairs = zip(_integers(contexts), _integers(self.tensor("qSeqLen")), strict=False)
            if any(n < q or (n - q) % 128 for n, q in pairs):
                yield 1, "5b.3 MASK_FREE lengths"
        yield from self.runner()
        yield from self.ours()

    # Section 00, late checks

    def runner(self) -> Failures:
        hosts = ["qSeqLen"] if self.spec else []
        hosts += ["contextLens"] if self.a2 else []
        hosts += ["batchRunStatus"] if self.dynamic else []
        if any(not self.need(name).on_host for name in hosts):
            yield 1, "5b.2 hostData"
        if not self.a2:
            return
        query, key, value = self.need("query"), self.need("keyCache"), self.tensor("valueCache")
        contexts = self.need("contextLens")
        if query.dims[1] != self.heads:
            yield 4, "00 PA query heads"
        held = key.dims[1 if self.bnsd else 2]
        if self.compress:
            if self.value("kvHeadNum") == 0:
                yield 4, "00 PA compress kvHeadNum"
            if held != 1:
                yield 4, "00 PA compress cache heads"
            if query.dims[0] * self.kv_heads != contexts.dims[0]:
                yield 4, "00 PA compress contextLens"
        elif self.mla:
            if held != 1:
                yield 4, "00 PA mla cache heads"
        elif held != self.kv_heads:
            yield 4, "00 PA cache heads"
        if value is not None and key.dims[:3] != value.dims[:3]:
            yield 4, "00 PA caches"
        yield from self.runner_scales()
        if self.logn and self.need("logN").dims[0] < query.dims[0]:
            yield 4, "00 PA logN"
        if self.mask_type and not self.mla:
            yield from self.mask_covers()

    def runner_scales(self) -> Failures:
        key = self.need("keyCache")
        if self.fusion:
            scales = [self.need("kDescale"), self.need("vDescale")]
            if scales[0].description != scales[1].description:
                yield 4, "00 PA descales alike"
            names = ["kDescale", "kOffset", "vDescale", "vOffset"] if self.offset else ["kDescale"]
            if any(self.need(name).count != self.kv_heads * key.dims[3] for name in names):
                yield 4, "00 PA descale length"
            if scales[0].kind == "i64":
                if key.dims[3] > 128:
                    yield 4, "00 PA i64 head size"
                if key.dims[1] > key.dims[3]:
                    yield 4, "00 PA i64 block size"
            if self.compress and self.need("query").kind != "f16":
                yield 4, "00 PA compress type"
        if self.qkv:
            names = ["kDescale", "vDescale"]
            if self.value("quantType") == atb.QUANT_OFFLINE:
                names.append("pScale")
            if any(self.need(name).dims != (self.heads,) for name in names):
                yield 4, "00 PA head scales"

    def mask_covers(self) -> Failures:
        contexts = _integers(self.tensor("contextLens"))
        queries = _integers(self.tensor("qSeqLen")) if self.spec else [1]
        longest, most = max(contexts), max(queries)
        if longest <= 0 or min(contexts) < 0:
            yield 4, "00 PA mask contextLens"
        if most <= 0 or min(queries) < 0:
            yield 4, "00 PA mask qSeqLen"
        if longest < most:
            yield 4, "00 PA mask kv shorter"
        if not self.mask_matches(len(contexts), most, longest):
            yield 4, "00 PA mask shape"

    def mask_matches(self, batch: int, most: int, longest: int) -> bool:
        dims = self.need("mask").dims
        if len(dims) < 2 or dims[-1] < longest:
            return False
        batch = batch // self.kv_heads if self.compress else batch
        if self.mask_type == atb.MASK_SPEC:
            return len(dims) == 2 and dims[0] == self.need("query").dims[0]
        if dims[-2] < most:
            return False
        if len(dims) == 2:
            return True
        if len(dims) == 3:
            alibi = self.mask_type == atb.ALIBI and not self.compress
            return dims[0] == (self.heads if alibi else batch)
        return len(dims) == 4 and dims[:2] == (batch, self.heads)

    def ours(self) -> Failures:
        query, table = self.need("query"), self.need("blockTables")
        contexts = _integers(self.tensor("contextLens"))
        size = self.block_size()
        if table.dims[0] < self.need("contextLens").dims[0]:
            yield 8, "00 ours table rows"
        if contexts and min(contexts) < 0:
            yield 8, "00 ours contextLens"
        if contexts and max(contexts) > table.dims[1] * size:
            yield 8, "00 ours block table"
        rows = sum(n > 0 for n in contexts)
        if self.spec:
            queries = _integers(self.tensor("qSeqLen"))
            if len(queries) != self.need("contextLens").dims[0]:
                yield 8, "00 ours qSeqLen count"
            if contexts and any(q > n > 0 for q, n in zip(queries, contexts, strict=True)):
                yield 8, "00 ours qSeqLen"
            held = contexts or [1] * len(queries)
            rows = sum(max(q, 0) for q, n in zip(queries, held, strict=True) if n > 0)
        if self.compress:
            rows = 0  # one query row per token, counted above
        if query.dims[0] < rows:
            yield 8, "00 ours query rows"
        if self.outputs[0].dims[0] < query.dims[0]:
            yield 8, "00 ours output rows"

    def block_size(self) -> int:
        return self.need("keyCache").dims[2 if self.nz or self.bnsd else 1]

    # Tiling

    def tiling(self) -> Failures:
        size, key = self.block_size(), self.need("keyCache")
        queries = _integers(self.tensor("qSeqLen")) if self.spec else []
        if self.nz:
            if any(q <= 0 for q in queries):
                yield 1, "00 PA NZ qSeqLen"
            return
        width = key.dims[3]
        value = self.tensor("valueCache")
        value_width = self.mla or (value.dims[3] if value is not None else 0)
        if size % 16:
            yield 1, "00 PA block size 16"
        if max(width, value_width) > 576:
            yield 1, "00 PA head size"
        if self.bnsd and max(width, value_width) > 256 and size > 128:
            yield 1, "00 PA wide block"
        if width == value_width:
            if width == 256 and size >= 128:
                if size % 128:
                    yield 1, "00 PA block of 256"
            elif width * size > 16384:
                yield 1, "00 PA block limit"
        if (self.spec and max(queries) > 1) or self.mask_type == atb.MASK_SPEC:
            yield from self.tiling_spec(width, value_width, size)

    def tiling_spec(self, width: int, value_width: int, size: int) -> Failures:
        if self.need("contextLens").dims[0] > 2000:
            yield 1, "00 PA SPEC batch"
        if self.heads > 256:
            yield 1, "00 PA SPEC heads"
        if size > 128:
            yield 1, "00 PA SPEC block size"
        if not self.mla and width * self.heads > 16384:
            yield 1, "00 PA SPEC width"
        if self.bnsd:
            yield 1, "00 PA SPEC layout"
        if self.need("query").kind not in ("f16", "bf16"):
            yield 1, "00 PA SPEC type"
        if self.mask_type not in (atb.NORM, atb.MASK_SPEC) and not self.mla:
            yield 1, "00 PA SPEC mask"

    def infer_outputs(self) -> list[Tensor]:
        query = self.need("query")
        kind = _OUT_KINDS[self.value("outDataType")] if self.qkv else query.kind
        if self.nz:
            return [Tensor(kind, query.dims, query.format)]
        width = self.mla or self.need("valueCache").dims[-1]
        return [Tensor(kind, (*query.dims[:-1], width), query.format)]


# ReshapeAndCache ------------------------------------------------------------------------------


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
            return _expanded(*(f"{k} {v} {k}Z {v}Z i4 {k}Z {v}Z" for k, v in pairs))
        if self.single:
            return _expanded(*(f"{one} {one} i4 {one}" for one in ("h", "b", "i8")))
        if self.nz:
            return _expanded(*(f"{x} {x} {x}Z {x}Z i4 {x}Z {x}Z" for x in ("h", "i8", "b")))
        more = {atb.KVHEAD: "i4 i4", atb.KVHEAD_ROPE: "i4 i4 i4"}.get(self.compress, "")
        kinds = ("h", "b") if self.compress == atb.KVHEAD_ROPE else ("h", "b", "i8")
        return _expanded(*(f"{x} {x} {x} {x} i4 {more} {x} {x}" for x in kinds))

    def own_infer(self) -> Failures:
        slots = self.need("slotMapping")
        key, cache = self.need("key"), self.need("keyCache")
        ranks = [(key, 3), (cache, 4), (slots, 1)]
        if not self.single:
            ranks += [(self.need("value"), 3), (self.need("valueCache"), 4)]
        ranks += [(self.need(n), 1) for n in ("wins", "seqLen", "offsetIndex") if self.tensor(n)]
        if any(_rank(tensor) != rank for tensor, rank in ranks):
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
        if self.config == atb.V_CACHE_NZ and slots != tokens:
            yield 8, "00 ours cfg 2 slots"
        if self.compress:
            entries = self.need("seqLen").dims[0] * self.need("key").dims[1]
            names = [n for n in ("slotMapping", "wins", "offsetIndex") if self.tensor(n)]
            if any(self.need(name).dims[0] != entries for name in names):
                yield 8, "00 ours compress entries"
        if self.fault == "output-elsewhere":
            yield 8, "00 ours in place"

    def infer_outputs(self) -> list[Tensor]:
        names = ["keyCache"] if self.single else ["keyCache", "valueCache"]
        return [replace(self.need(name), host=None, device=None) for name in names]


# Answers --------------------------------------------------------------------------------------

_RULES: dict[str, type[Rules]] = {
    atb.SELF_ATTENTION: SelfAttentionRules,
    atb.PAGED_ATTENTION: PagedAttentionRules,
    atb.RESHAPE_AND_CACHE: ReshapeAndCacheRules,
}


def answer(call: Call, step: str, fault: str = "") -> Failure:
    """What a step answers when those before it succeeded, or were left out."""
    rules = _RULES[call.operator](call, fault)
    steps = {
        "Create": rules.create,
        "Infer": rules.infer,
        "Setup": rules.setup,
        "Execute": rules.execute,
    }
    return next(steps[step](), SAFE)


def first_failure(call: Call, fault: str = "", infer: bool = True) -> tuple[str, int, str]:
    """Step, ErrorType and clause; ("", 0, "") for a call that every step accepts."""
    for step in ("Create", "Infer", "Setup", "Execute"):
        if step == "Infer" and not infer:
            continue
        code, clause = answer(call, step, fault)
        if code:
            return step, code, clause
    return "", 0, ""


def inferred_outputs(call: Call) -> dict[str, Tensor]:
    """The outputs that InferShape describes; nothing for a call that it refuses."""
    if answer(call, "Create")[0] or answer(call, "Infer")[0]:
        return {}
    found = _RULES[call.operator](call).infer_outputs()
    return dict(zip(atb.OUTPUTS[call.operator], found, strict=False))


def input_count(call: Call) -> int:
    """GetInputNum."""
    return _RULES[call.operator](call).inputs_needed
