"""Model of the checks of SelfAttentionOperation."""

from __future__ import annotations

import math

from . import atb
from .atb import ND, NZ, Call, Tensor, roundup
from .atb_checks import OUT_KINDS, Failures, Row, Rules, expanded, integers
from .self_attention import ALIBI_COMPRESSED, TILE


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
            if p("outDataType") not in OUT_KINDS:
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
        if p("quantType"):
            yield 1, "5.1.19 quantType"
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
            return expanded(f"T T T i4 {mask} I I {slopes} T")
        if self.fa:
            kv = "" if self.bypass else "T T"
            batch = "I" if self.dynamic else ""
            nd, nz = ("T T", "T T"), ("TZ TZ", "TZ TZ")
            found = []
            for caches, masks, logn in ((nd[0], ("T",), "f"), (nz[0], ("T", "TZ"), "h")):
                for mask in masks if self.has_mask else ("",):
                    tail = logn if self.logn else ""
                    found.append(f"T {kv} {caches} {mask} I I I {batch} {tail} T")
            return expanded(*found)
        if self.m8v2:
            return expanded(*(("h h h I I h", "h h h IZ I h") if self.has_mask else ("h h h I h",)))
        if self.bnsd:
            return expanded("b b b I b")
        return self.encoder_rows()

    def encoder_rows(self) -> list[Row] | None:
        offline = self.value("quantType") == atb.QUANT_OFFLINE
        quant = "f i4 f i4 f" if offline else "f i4 f i4"
        if self.mla:
            if self.quant:
                if self.has_mask:
                    return expanded(f"i8 i8 T i4 {quant} T")
                return expanded(f"i8 i8 i4 {quant} T")
            return expanded("T T T i4 T" if self.has_mask else "T T i4 T")
        if self.quant:
            if not offline or not self.has_mask:
                return None
            if self.alibi:
                return expanded(f"i8 i8 i8 T i4 f {quant} T", f"i8 i8 i8 h i4 h {quant} h")
            return expanded(f"i8 i8 i8 T i4 {quant} T")
        if self.logn:
            if self.alibi:
                return expanded("T T T T i4 f f T", "h h h h i4 h f h", "h h h hZ i4 h h h")
            if self.has_mask:
                return expanded("T T T T i4 f T", "T T T TZ i4 h T")
            return expanded("T T T i4 f T", "h h h i4 h h")
        if self.alibi:
            return expanded("T T T T i4 f T", "h h h h i4 h h", "h h h hZ i4 h h")
        if self.has_mask:
            return expanded("T T T T i4 T", "T T T TZ i4 T")
        return expanded("T T T i4 T")

    # 5.3

    def own_infer(self) -> Failures:
        yield from self.cache_format()
        if self.logn:
            last = self.inputs[-1]
            if last.rank != 1:
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
                if self.need(name).rank != 1:
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
        if self.nz and query.rank == 4:
            if output.rank != 3:
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
            return (key.dims[-1] // (self.kv_heads if key.rank == 2 else 1),) * 2
        split = self.bypass or key.rank == 2 or (self.prefix and key.rank == 3)
        by = self.kv_heads if split else 1
        return key.dims[-1] // by, self.mla or value.dims[-1] // by

    def head_size(self) -> Failures:
        key, value = self.inputs[1], self.inputs[2]
        if not self.a2:
            if key.description != value.description:
                yield 8, "5.4 key equals value"
            if self.bypass and (key.rank < 3 or key.dims[2] * 16 % self.kv_heads):
                yield 8, "5.4 divisible"
            if not self.bypass and key.rank == 2 and key.dims[1] % self.kv_heads:
                yield 8, "5.4 divisible"
            width, _ = self.head_sizes()
            if self.alibi and width > 128:
                yield 8, "5.4 alibi limit"
            if width > 256:
                yield 8, "5.4 limit"
            if width % 16:
                yield 8, "5.4 multiple of 16"
            return
        if self.bypass or key.rank == 2 or (self.prefix and key.rank == 3):
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
        if self.alibi and max(width, value_width) > limit:
            yield 8, "5.4 alibi limit"
        if max(width, value_width) > limit:
            yield 8, "5.4 limit"

    # 5.5

    def encoder_shapes(self) -> Failures:
        query, key = self.need("query"), self.need("key")
        if self.mla:
            if query.rank not in (2, 3, 4):
                yield 9, "5.5a query rank"
            if key.rank not in (2, 3, 4):
                yield 9, "5.5a key rank"
        else:
            if query.rank not in (2, 3):
                yield 9, "5.5a query rank"
            if query.rank != key.rank:
                yield 9, "5.5a key rank"
            if self.need("value").rank != key.rank:
                yield 9, "5.5a value rank"
        slopes, lengths = self.tensor("slopes"), self.need("seqLen")
        if slopes is not None and slopes.rank != 1:
            yield 9, "5.5a slopes rank"
        if lengths.rank not in (1, 2):
            yield 16, "5.5a seqLen rank"
        if not self.mla and key.dims[:-1] != self.need("value").dims[:-1]:
            yield 8, "5.5c value"
        yield from self.mask_shape()
        if slopes is not None and slopes.dims[0] != self.heads:
            yield 8, "5.5e slopes"
        if lengths.rank == 2 and lengths.dims[0] != 2:
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
            if mask.rank != 2:
                yield 9, "5.5d NORM_COMPRESS rank"
            if mask.dims != (TILE, TILE):
                yield 8, "5.5d NORM_COMPRESS shape"
            return
        if mask.rank != 4:
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
        if mask.rank != rank:
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
        if query.rank != 4:
            yield 16, "5.6 query rank"
        if key.rank != 4:
            yield 16, "5.6 key rank"
        if lengths.rank not in (1, 2):
            yield 16, "5.6 seqLen rank"
        if key.description != self.need("value").description:
            yield 8, "5.6 key equals value"
        if lengths.rank == 2 and lengths.dims[0] != 2:
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
        if query.rank != 4:
            yield 16, "5.7 query rank"
        if key.rank != 5 or value.rank != 5:
            yield 16, "5.7 cache rank"
        mask = self.tensor("mask")
        if self.a2 and mask is not None and mask.rank not in (2, 3, 4):
            yield 16, "5.7 mask rank"
        if any(self.need(name).rank != 1 for name in ("tokenOffset", "seqLen", "layerId")):
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
        if query.rank not in (2, 3):
            yield 16, "5.8 query rank"
        if key.rank not in (3, 4) or value.rank not in (3, 4):
            yield 16, "5.8 cache rank"
        if table.rank != 2:
            yield 16, "5.8 blockTables rank"
        lengths = [self.need("seqLen"), self.need("kvSeqLen")]
        if any(one.rank != 1 for one in lengths):
            yield 16, "5.8 length rank"
        slopes = self.tensor("slopes")
        if slopes is not None and slopes.rank != 1:
            yield 16, "5.8 slopes rank"
        yield from self.mask_shape()
        width, _ = self.head_sizes()
        own = query.dims[-1] // self.heads if query.rank == 2 else query.dims[-1]
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
        if query.rank not in (2, 4):
            yield 16, "5.9 query rank"
        rows = [] if self.bypass else [self.need("key"), self.need("value")]
        if any(one.rank not in (2, 4) for one in rows):
            yield 16, "5.9 key rank"
        rank = 5 if self.nz else 3 if self.dynamic else 4
        if any(cache.rank != rank for cache in caches):
            yield 16, "5.9 cache rank"
        mask = self.tensor("mask")
        if self.a2 and mask is not None and self.has_mask and mask.rank not in (2, 3, 4):
            yield 9, "5.9 mask rank"
        names = ["tokenOffset", "seqLen", "layerId"]
        if any(self.need(name).rank != 1 for name in names):
            yield 16, "5.9 length rank"
        if self.dynamic:
            if self.bypass:
                yield 27, "3.2 bypass with batchRunStatusEnable"
            if self.need("batchRunStatus").rank != 1:
                yield 16, "5.9 batchRunStatus rank"
        if rows:
            hidden = [math.prod(one.dims[-2:] if one.rank == 4 else one.dims[-1:]) for one in rows]
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
            numbers = integers(given)
            if given.rank == 1:
                return numbers, numbers
            half = len(numbers) // 2
            return numbers[:half], numbers[half:]
        other = "kvSeqLen" if self.prefix else "tokenOffset"
        return integers(self.tensor("seqLen")), integers(self.tensor(other))

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
        if self.pa and self.mla and self.need("query").rank == 4:
            yield 4, "00 mla query rank"
        if self.pa and self.p310 and self.need("query").rank == 2:
            yield 4, "R1b query rank"
        if mask is not None and not self.nz:
            yield from self.mask_covers(mask, queries, keys)
        if mask is not None and self.nz:
            yield from self.fractal_covers(mask, len(queries), most, longest)
        if self.pa and self.a2 and not self.bnsd and not self.mla:
            yield from self.heads_missing()
        if mask is not None and self.m8v2 and mask.kind != self.need("query").kind:
            yield 4, "8.2 M8V2 mask type"
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
            if count != len(integers(self.tensor("seqLen"))):
                yield 8, "3.2 list size"
        else:
            if layers != 1:
                yield 1, "3.2 NZ list layers"
            if count != len(integers(self.tensor("seqLen"))):
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
        if self.prefix and mask.rank == 3 and mask.dims[1] < longest:
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
        if mask.format == ND and mask.rank == 2:
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
        each = self.heads if self.alibi or self.mask_type == atb.ALIBI else batch
        if n not in (1, each, batch * self.heads):
            yield 4, "R6 mask planes"

    def triu_or_other(self) -> bool:
        return self.triu or self.mask_type == atb.SWA_COMPRESS

    def heads_missing(self) -> Failures:
        query, key = self.need("query"), self.need("key")
        width, value_width = self.query_width(), self.head_sizes()[1]
        if self.value("kvHeadNum") or width != value_width or width > 256:
            return
        if key.rank == 3 and key.dims[1] != self.heads:
            yield 4, "5.10 kv head missing"
        if key.rank == 2 and key.dims[1] != query.dims[1] and key.dims[1] > width:
            yield 4, "5.10 kv head missing"

    # Ours: what the device would read or write out of bounds

    def query_width(self) -> int:
        query = self.need("query")
        return query.dims[-1] // self.heads if query.rank == 2 else query.dims[-1]

    def ours(self) -> Failures:
        query = self.need("query")
        queries, keys = self.lengths()
        if self.nz and min(*queries, *keys, 0) < 0:
            yield 8, "00 ours negative length"
        if query.rank == 2 and query.dims[1] % self.heads:
            yield 8, "00 ours query heads"
        if not self.bnsd and query.rank in (3, 4) and query.dims[-2] != self.heads:
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
        if key.rank in (3, 4) and key.dims[-2] != self.kv_heads:
            yield 8, "00 ours key heads"
        if self.query_width() != self.head_sizes()[0]:
            yield 8, "00 ours head size"
        step = 16 if self.nz else 1
        if query.dims[0] < roundup(self.positive(queries), step):
            yield 8, "00 ours query rows"
        if math.prod(key.dims[: -2 if key.rank > 2 else -1]) < roundup(self.positive(keys), step):
            yield 8, "00 ours key rows"
        if self.logn and self.inputs[-1].dims[0] < max(queries):
            yield 8, "00 ours logN"

    def ours_prefix(self, queries: list[int], keys: list[int]) -> Failures:
        query, key = self.need("query"), self.need("key")
        if key.dims != self.need("value").dims:
            yield 8, "00 ours value"
        if key.rank == 4 and key.dims[2] != self.kv_heads:
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
            rows = math.prod(query.dims[: -2 if query.rank == 4 else -1])
            needed = [roundup(max(n, 0)) for n in queries] if self.nz else queries
            if rows < self.positive(needed):
                yield 8, "00 ours query rows"
            for name in () if self.bypass else ("key", "value"):
                one = self.need(name)
                if one.rank == 4 and one.dims[2] != self.kv_heads:
                    yield 8, "00 ours key heads"
                if math.prod(one.dims[: -2 if one.rank == 4 else -1]) < self.positive(queries):
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
            if norm and mask.rank == 4:
                yield 1, "5.10 norm mask rank"
            if self.mask_type == atb.ALIBI and mask.rank == 2 and mask.dims[1] != 256:
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
        kind = OUT_KINDS[self.value("outDataType")] if self.quant else query.kind
        dims = query.dims
        if self.bnsd or self.prefix:
            pass
        elif self.nz:
            if self.fa and len(dims) == 4:
                dims = (*dims[:2], dims[2] * dims[3])
        elif self.pa:
            width = self.head_sizes()[1]
            dims = (dims[0], self.heads * width) if len(dims) == 2 else (*dims[:2], width)
            if query.rank == 4:
                dims = (*query.dims[:2], query.dims[2] * width)
        else:
            value = self.inputs[2]
            width = value.dims[-1]
            if self.bypass or value.rank == 2:
                width //= self.kv_heads
            heads = dims[2] if len(dims) == 4 else self.heads
            dims = (*dims[: 2 if len(dims) == 4 else 1], heads * width)
        return [Tensor(kind, dims, query.format)]
