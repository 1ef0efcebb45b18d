"""Model of the checks of PagedAttentionOperation."""

from __future__ import annotations

from . import atb
from .atb import NZ, Call, Tensor
from .atb_checks import OUT_KINDS, Failures, Row, Rules, expanded, integers


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
            if p("outDataType") not in OUT_KINDS:
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
        most = {"maskType": 5, "quantType": 3, "calcType": 1, "inputLayout": 1}
        if any(not 0 <= p(name) <= last for name, last in most.items()):
            yield 1, "ours enumerators"

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
                return expanded(f"i8 i8 i4 i4 {mask} {batch} {scales} T")
            tail = "i4" if self.spec else ""
            return expanded(f"T T i4 i4 {mask} {batch} {tail} T")
        if self.fusion:
            found = []
            for one in ("f", "i64"):
                given = f"{one} i4 {one} i4" if self.offset else f"{one} {one}"
                found.append(f"T i8 i8 i4 i4 {mask} {batch} {given} {razor} T")
            return expanded(*found)
        if self.qkv:
            fractal = "TZ" if self.mask_type else ""
            return expanded(
                f"i8 i8 i8 i4 i4 {mask} {batch} {scales} T",
                f"T T T i4 i4 {mask} {batch} {scales} T",
                f"T TZ TZ i4 i4 {fractal} {batch} {scales} T",
            )
        if self.spec:
            if not self.mask_type:
                return None
            return expanded("T T T i4 i4 T i4 T", "h hZ hZ i4 i4 hZ i4 h", "h hZ hZ i4 i4 h i4 h")
        found = [f"T T T i4 i4 {mask} {batch} {razor} {'f' if self.logn else ''} T"]
        if not self.dynamic and not self.rope:
            fractal = "TZ" if self.mask_type else ""
            found.append(f"T TZ TZ i4 i4 {fractal} {'h' if self.logn else ''} T")
        return expanded(*found)

    # 5b.3

    def own_infer(self) -> Failures:
        if self.bnsd and self.a2:
            yield from self.bnsd_shapes()
        else:
            yield from self.shapes()
        yield from self.special_masks()

    def bnsd_shapes(self) -> Failures:
        query, key, value = self.need("query"), self.need("keyCache"), self.need("valueCache")
        if query.rank != 3:
            yield 16, "5b.3 BNSD query rank"
        if key.rank != 4 or value.rank != 4:
            yield 16, "5b.3 BNSD cache rank"
        if self.need("blockTables").rank != 2:
            yield 16, "5b.3 BNSD blockTables rank"
        if self.need("contextLens").rank != 1:
            yield 16, "5b.3 BNSD contextLens rank"
        if not query.dims[2] == key.dims[3] == value.dims[3]:
            yield 8, "5b.3 BNSD head size"
        if key.dims[0] != value.dims[0] or key.dims[2] != value.dims[2]:
            yield 8, "5b.3 BNSD blocks"

    def shapes(self) -> Failures:
        query, key, table = self.need("query"), self.need("keyCache"), self.need("blockTables")
        contexts = self.need("contextLens")
        value = self.tensor("valueCache")
        if value is not None and value.rank != 4:
            yield 16, "5b.3 valueCache rank"
        if query.rank != 3:
            yield 16, "5b.3 query rank"
        if key.rank != 4:
            yield 16, "5b.3 keyCache rank"
        if table.rank != 2:
            yield 16, "5b.3 blockTables rank"
        if contexts.rank != 1:
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
            shapes = {(2048, 2048), (1, 2048, 2048), (1, 1, 2048, 2048)}
            if mask.dims not in ({(1, 128, 2048, 16)} if mask.format == NZ else shapes):
                yield 8, "5b.3 NORM_COMPRESS shape"
        if self.mask_type == atb.MASK_FREE:
            if not self.p310:
                yield 8, "5b.3 MASK_FREE product"
            if mask.dims != (1, 8, 128, 16):
                yield 8, "5b.3 MASK_FREE shape"
            if any(self.need(name).dims[2] != 128 for name in ("keyCache", "valueCache")):
                yield 1, "5b.3 MASK_FREE block size"

    def own_setup(self) -> Failures:
        if self.need("keyCache").rank != 4:
            yield 16, "5b.3 keyCache rank"
        yield from self.own_infer()
        query, output = self.need("query"), self.outputs[0]
        expected = self.infer_outputs()[0]
        if self.dynamic and output.dims[0] != query.dims[0]:
            yield 8, "5b.3 output tokens"
        if output.dims[-1] != expected.dims[-1]:
            yield 8, "5b.3 output width"
        if output.rank < 2 or output.dims[1] != query.dims[1]:
            yield 8, "5b.3 output heads"
        contexts = self.need("contextLens")
        if self.rope:
            razor, key = self.need("razorOffset"), self.need("keyCache")
            if razor.rank != 2 or razor.dims != key.dims[:2]:
                yield 8, "5b.3 razorOffset"
        if self.logn:
            logn = self.need("logN")
            if logn.rank != 1:
                yield 8, "5b.3 logN rank"
            if logn.dims[0] != contexts.dims[0]:
                yield 8, "5b.3 logN length"
            if self.dynamic and logn.dims[0] != self.need("batchRunStatus").dims[0]:
                yield 8, "5b.3 logN batchRunStatus"
        if self.mask_type == atb.MASK_FREE and self.spec:
            pairs = zip(integers(contexts), integers(self.tensor("qSeqLen")), strict=False)
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
        contexts = integers(self.tensor("contextLens"))
        queries = integers(self.tensor("qSeqLen")) if self.spec else [1]
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
        contexts = integers(self.tensor("contextLens"))
        size = self.block_size()
        if table.dims[0] < self.need("contextLens").dims[0]:
            yield 8, "00 ours table rows"
        if contexts and min(contexts) < 0:
            yield 8, "00 ours contextLens"
        if contexts and max(contexts) > table.dims[1] * size:
            yield 8, "00 ours block table"
        rows = sum(n > 0 for n in contexts)
        if self.spec:
            queries = integers(self.tensor("qSeqLen"))
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
        yield from self.ours_alone(query)

    def ours_alone(self, query: Tensor) -> Failures:
        """What the library refuses beside the specification: nobody could say what it means."""
        mask = self.tensor("mask")
        if not self.nz and self.need("keyCache").format == NZ:
            yield 8, "ours cache format"
        if self.nz and self.spec and mask is None:
            kinds = [tensor.kind for tensor in [*self.inputs, *self.outputs]]
            if kinds != ["f16", "f16", "f16", "i32", "i32", "i32", "f16"]:
                yield 8, "ours SPEC types"
        if query.kind == "i8":
            if float(self.param["qScale"]) not in (0, 1):
                yield 8, "ours int8 qScale"
            if self.outputs[0].kind != OUT_KINDS[self.value("outDataType")]:
                yield 8, "ours int8 output"
        if self.nz and query.dims[1] != self.heads:
            yield 8, "ours NZ heads"
        if mask is not None and self.mla:
            contexts, queries = integers(self.need("contextLens")), [1]
            if self.spec:
                queries = integers(self.need("qSeqLen"))
            if not self.mask_matches(len(contexts), max(queries), max(contexts)):
                yield 8, "ours mla mask"
        if mask is not None and self.nz and not self.nz_mask_matches(mask):
            yield 8, "ours NZ mask"

    def nz_mask_matches(self, mask: Tensor) -> bool:
        if self.mask_type in (atb.MASK_FREE, atb.PAGED_NORM_COMPRESS):
            return True
        if mask.format == NZ:
            if mask.rank != 4 or mask.dims[3] != 16:
                return False
        elif not self.spec or mask.rank < 2:
            return False
        n, rows, columns = atb.planes(mask.dims, mask.format)
        if columns < max(integers(self.need("contextLens")), default=0):
            return False
        batch = self.need("contextLens").dims[0]
        if self.mask_type == atb.MASK_SPEC:
            return rows >= self.need("query").dims[0]
        if self.mask_type == atb.ALIBI:
            return n == self.heads or n >= batch * self.heads
        return n == 1 or n >= batch

    def block_size(self) -> int:
        return self.need("keyCache").dims[2 if self.nz or self.bnsd else 1]

    # Tiling

    def tiling(self) -> Failures:
        size, key = self.block_size(), self.need("keyCache")
        queries = integers(self.tensor("qSeqLen")) if self.spec else []
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
        if not self.mla and width != value_width:
            yield 1, "00 PA SPEC head sizes"
        if self.bnsd:
            yield 1, "00 PA SPEC layout"
        if self.need("query").kind not in ("f16", "bf16"):
            yield 1, "00 PA SPEC type"
        if self.mask_type not in (atb.NORM, atb.MASK_SPEC) and not self.mla:
            yield 1, "00 PA SPEC mask"

    def infer_outputs(self) -> list[Tensor]:
        query = self.need("query")
        kind = OUT_KINDS[self.value("outDataType")] if self.qkv else query.kind
        if self.nz:
            return [Tensor(kind, query.dims, query.format)]
        width = self.mla or self.need("valueCache").dims[-1]
        return [Tensor(kind, (*query.dims[:-1], width), query.format)]
