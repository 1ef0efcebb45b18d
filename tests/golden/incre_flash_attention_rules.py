"""Model of the first phase of aclnnIncreFlashAttention, V2, V3 and V4: which rule fails first.

Works on case-table values, needs no library, and keeps the case table honest: a failing line
whose rule is not the first that the model finds is a mistake in one of the two.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

_ND_LIKE = frozenset({0, 1, 2, 30, 31, 47})

_TUPLES_A2 = frozenset(
    {
        ("f16", "f16", "f16"), ("bf16", "bf16", "bf16"), ("f16", "f16", "i8"),
        ("f16", "i8", "f16"), ("f16", "i8", "i8"), ("bf16", "i8", "bf16"),
        ("bf16", "i8", "i8"), ("bf16", "bf16", "i8"),
    }
)  # fmt: skip
_TUPLES_310P = frozenset({("f16", "f16", "f16"), ("f16", "i8", "f16")})


@dataclass(frozen=True)
class Product:
    offered: bool = True
    small: bool = False  # the limits of the inference cards
    strict_pages: bool = False  # enough blocks for all lengths, and no left padding
    tuples: frozenset[tuple[str, str, str]] = _TUPLES_A2
    batch: int = 65536


PRODUCTS = {
    "atlas-a2": Product(),
    "atlas-a3": Product(),
    "ascend-950": Product(strict_pages=True),
    "atlas-310p": Product(small=True, tuples=_TUPLES_310P, batch=256),
    "atlas-910": Product(offered=False),
}

#: Elements that can be addressed: with 16 bytes each, up to the end of a signed 64-bit number.
_ADDRESSABLE = (2**63 - 1) // 16

_NULLS = {"workspaceSize", "executor"}


class Done(Exception):
    """The call is complete: an empty output."""


@dataclass
class Model:
    """One call; ``first`` gives (status, rule) of the first failure, or (0, "")."""

    values: Mapping[str, Any]
    version: str
    product: Product
    found: list[tuple[int, str]] = field(default_factory=list)

    def get(self, name: str) -> Any:
        """A tensor, list or array; None when absent or a null pointer."""
        value = self.values.get(name)
        if getattr(value, "special", "") == "null":
            return None
        return value

    def null(self, name: str) -> bool:
        value = self.values.get(name)
        if name in _NULLS:
            return name in self.values
        return value is None or getattr(value, "special", "") == "null"

    def first(self) -> tuple[int, str]:
        try:
            for status, rule in self.checks():
                return status, rule
        except Done:
            pass
        return 0, ""

    # In order; each part yields its failures.

    def checks(self) -> Iterator[tuple[int, str]]:
        yield from self.pointers()
        yield from self.descriptors()
        out = self.get("attentionOut")
        if out.count == 0:
            raise Done
        for part in (
            self.views,
            self.attributes,
            self.paged if self.get("blocktable") is not None else self.continuous,
            self.equalities,
            self.limits,
            self.lengths,
            self.bias_and_mask,
            self.quantisation,
            self.late,
        ):
            for rule in part():
                yield 561002, rule

    def pointers(self) -> Iterator[tuple[int, str]]:
        for name in ("query", "key", "value", "attentionOut"):
            if self.null(name):
                yield 161001, f"PTR-{name.upper()}"
        if not self.product.offered:
            yield 161001, "OP-PRODUCT"
        if self.null("executor"):
            yield 161001, "PTR-EXECUTOR"
        lists = [(n, self.get(n)) for n in ("key", "value") if isinstance(self.get(n), tuple)]
        for name, members in lists:
            if len(members) > 256:
                yield 161002, f"LIST-{name.upper()}-COUNT"
        for name, members in lists:
            if not members or members[0].special == "null":
                yield 161002, f"LIST-{name.upper()}-FIRST"
        if self.null("workspaceSize"):
            yield 161001, "PTR-WORKSPACESIZE"
        for value in self.values.values():
            for cell in value if isinstance(value, tuple) else (value,):
                if getattr(cell, "special", "") in ("dead", "foreign"):
                    yield 161002, "HANDLE-LIVE"

    def descriptors(self) -> Iterator[tuple[int, str]]:
        four = {
            "QUERY": self.get("query"),
            "KEY": self.get("key")[0],
            "VALUE": self.get("value")[0],
            "ATTENTIONOUT": self.get("attentionOut"),
        }
        for name, cell in four.items():
            if cell.format not in _ND_LIKE:
                yield 161002, f"FORMAT-{name}"
        kinds = (four["QUERY"].kind, four["KEY"].kind, four["ATTENTIONOUT"].kind)
        if four["KEY"].kind != four["VALUE"].kind or kinds not in self.product.tuples:
            yield 161002, "DTYPE-TUPLE"

    @property
    def layout(self) -> str:
        layout = self.values.get("inputLayout")
        return "BSH" if layout is None else str(layout)

    @property
    def heads(self) -> int:
        return int(self.values.get("numHeads") or 0)

    @property
    def kv_heads(self) -> int:
        return int(self.values.get("numKeyValueHeads") or 0) or self.heads

    @property
    def width(self) -> int:
        dims = self.get("query").dims
        return int(dims[2] // self.heads if self.layout == "BSH" else dims[3])

    @property
    def batch(self) -> int:
        return int(self.get("query").dims[0])

    @property
    def listed(self) -> bool:
        return self.get("blocktable") is None and self.get("key")[0].dims[0] != self.batch

    @property
    def used(self) -> int:
        return self.batch if self.listed else 1

    def extent(self, cell: Any) -> int:
        if cell.count == 0:
            return 0
        return int(cell.dims[2 if self.layout == "BNSD" else 1])

    @property
    def span(self) -> int:
        table = self.get("blocktable")
        if table is not None:
            return int(table.dims[1] * self.values.get("blockSize", 0))
        return max(self.extent(cell) for cell in self.get("key")[: self.used])

    def attributes(self) -> Iterator[str]:
        query, out = self.get("query"), self.get("attentionOut")
        if query.count == 0:
            yield "IFA-QUERY-EMPTY"
        if not 0 <= self.heads <= 2147483647:
            yield "ATTN-HEADS-RANGE"
        if not 0 <= int(self.values.get("numKeyValueHeads") or 0) <= 2147483647:
            yield "ATTN-KVHEADS-RANGE"
        if self.heads == 0:
            yield "ATTN-HEADS-ZERO"
        if self.kv_heads > self.heads or self.heads % self.kv_heads:
            yield "ATTN-HEADS-RATIO"
        if self.layout not in ("BSH", "BNSD", "BSND"):
            yield "ATTN-LAYOUT"
        rank = 3 if self.layout == "BSH" else 4
        if len(query.dims) != rank:
            yield "ATTN-QUERY-RANK"
        if len(out.dims) != rank:
            yield "ATTN-OUT-RANK"
        if self.layout == "BSH":
            if query.dims[2] % self.heads:
                yield "ATTN-QUERY-H"
        elif query.dims[1 if self.layout == "BNSD" else 2] != self.heads:
            yield "ATTN-QUERY-N"
        if query.dims[2 if self.layout == "BNSD" else 1] != 1:
            yield "IFA-QUERY-S"
        if self.version in ("V3", "V4") and self.values.get("innerPrecise", 0) not in (0, 1):
            yield "ATTN-INNERPRECISE"
        table = self.get("blocktable")
        if table is not None and table.count == 0:
            yield "PAGED-TABLE-EMPTY"

    def continuous(self) -> Iterator[str]:
        keys, values = self.get("key"), self.get("value")
        rank = 3 if self.layout == "BSH" else 4
        if len(keys[0].dims) != rank:
            yield "ATTN-KEY-RANK"
        for members in (keys, values):
            part = members[: self.used]
            if len(part) < self.used or any(cell.special for cell in part):
                yield "LIST-MEMBERS"
        for members in (keys, values):
            if any(cell.kind != members[0].kind for cell in members[: self.used]):
                yield "LIST-MEMBER-DTYPE"
        pairs = list(zip(keys, values, strict=False))[: self.used]
        if any(key.dims != value.dims for key, value in pairs):
            yield "ATTN-KV-SHAPE"
        part = keys[: self.used]
        if any(len(cell.dims) != rank for cell in part):
            yield "LIST-MEMBER-RANK"
        if self.listed and any(cell.dims[0] != 1 for cell in part):
            yield "LIST-MEMBER-BATCH"
        axis = {"BSH": 2, "BSND": 2, "BNSD": 1}[self.layout]
        step = self.width if self.layout == "BSH" else 1
        # One tensor of layout BSH is judged by its width, later.
        counted = part if self.listed or self.layout != "BSH" else ()
        if any(cell.dims[axis] // step != self.kv_heads for cell in counted):
            yield "ATTN-KV-N"
        free = 2 if self.layout == "BNSD" else 1
        fixed = [tuple(n for i, n in enumerate(cell.dims) if i != free) for cell in part]
        if any(dims != fixed[0] for dims in fixed):
            yield "LIST-MEMBER-DIM"

    def paged(self) -> Iterator[str]:
        key, value = self.get("key")[0], self.get("value")[0]
        table = self.get("blocktable")
        if len(key.dims) not in (3, 4):
            yield "PAGED-CACHE-RANK"
        if len(key.dims) == 4 and self.layout != "BNSD":
            yield "PAGED-CACHE-LAYOUT"
        if key.dims != value.dims:
            yield "PAGED-KV-SHAPE"
        if table.kind != "i32":
            yield "PAGED-TABLE-DTYPE"
        if len(table.dims) != 2 or table.dims[0] != self.batch:
            yield "PAGED-TABLE-SHAPE"
        if key.dims[2 if len(key.dims) == 4 else 1] != self.values.get("blockSize", 0):
            yield "PAGED-BLOCK-AXIS"
        if len(key.dims) == 4:
            if key.dims[1] != self.kv_heads or key.dims[3] != self.width:
                yield "PAGED-CACHE-N"
        elif key.dims[2] != self.kv_heads * self.width:
            yield "PAGED-CACHE-N"

    def equalities(self) -> Iterator[str]:
        query, key = self.get("query"), self.get("key")[0]
        if len(key.dims) == 4:
            if key.dims[3] != self.width:
                yield "ATTN-D-EQUAL"
        elif key.dims[2] != self.kv_heads * self.width:
            yield "ATTN-KV-H"
        if query.dims != self.get("attentionOut").dims:
            yield "ATTN-OUT-SHAPE"
        for name in ("attenMask", "kvPaddingSize", "antiquantScale", "antiquantOffset"):
            cell = self.get(name)
            absent = cell is None or (name in ("attenMask", "kvPaddingSize") and cell.count == 0)
            if not absent and cell.format not in _ND_LIKE:
                yield "FORMAT-OPTIONAL"

    def limits(self) -> Iterator[str]:
        group = self.heads // self.kv_heads
        key = self.get("key")[0]
        paged = self.get("blocktable") is not None
        if group > 64:
            yield "ATTN-GROUP-MAX"
        if paged and self.values.get("blockSize", 0) % (32 if key.kind == "i8" else 16):
            yield "PAGED-BLOCK-ALIGN"
        if self.product.small and group != 1:
            if self.width > 128 or group > 32:
                yield "LIMIT-GQA"
            if (self.layout == "BNSD") == paged:
                yield "LIMIT-GQA-LAYOUT"
        if self.batch > self.product.batch:
            yield "LIMIT-B"
        if self.product.small:
            if self.span > 65536:
                yield "LIMIT-S"
            if self.width % 16:
                yield "LIMIT-D-ALIGN"
        if self.width > 512:
            yield "LIMIT-D"
        if self.kv_heads > 256:
            yield "LIMIT-KVHEADS"

    def given(self) -> list[int]:
        return [int(n) for n in self.get("actualSeqLengths") or ()]

    def per_batch(self) -> list[int]:
        given = self.given()
        if not given:
            table = self.get("blocktable")
            if table is not None:
                return [self.span] * self.batch
            keys = self.get("key")
            return [self.extent(keys[b if self.listed else 0]) for b in range(self.batch)]
        return given * self.batch if len(given) == 1 else given[: self.batch]

    def lengths(self) -> Iterator[str]:
        given, paged = self.given(), self.get("blocktable") is not None
        if paged and not given:
            yield "SEQ-MISSING"
        if not given:
            return
        if 1 < len(given) < self.batch:
            yield "SEQ-COUNT"
        lengths = self.per_batch()
        if min(lengths) < 0:
            yield "SEQ-NEGATIVE"
        if not paged:
            keys = self.get("key")
            for b, length in enumerate(lengths):
                if length > self.extent(keys[b if self.listed else 0]):
                    yield "SEQ-MAX"

    def bias_and_mask(self) -> Iterator[str]:
        pse, query = self.get("pseShift"), self.get("query")
        if pse is not None and self.version in ("V3", "V4"):
            if pse.kind != query.kind:
                yield "PSE-DTYPE"
            leading = {(n, self.heads, 1) for n in (1, self.batch)}
            if len(pse.dims) != 4 or pse.dims[:3] not in leading or pse.count == 0:
                yield "PSE-SHAPE"
            if pse.dims[3] < self.span:
                yield "PSE-LAST"
        mask = self.get("attenMask")
        if mask is not None and mask.count > 0:
            if mask.kind not in ("bool", "i8", "u8"):
                yield "MASK-DTYPE"
            if len(mask.dims) < 2:
                yield "MASK-RANK"
            if mask.dims[0] != self.batch:
                yield "MASK-BATCH"
            paged = self.get("blocktable") is not None
            if mask.dims[-1] < (self.span if paged else max(self.per_batch())):
                yield "MASK-LAST"

    def quantisation(self) -> Iterator[str]:
        for name in ("dequantScale1", "quantScale1", "dequantScale2"):
            if self.get(name) is not None:
                yield "QUANT1-NULL"
        yield from self.output_scales()
        yield from self.cache_scales()

    def output_scales(self) -> Iterator[str]:
        scale, offset = self.get("quantScale2"), self.get("quantOffset2")
        query = self.get("query")
        if self.get("attentionOut").kind != "i8":
            if scale is not None or offset is not None:
                yield "QUANT2-UNUSED"
            return
        if scale is None:
            yield "QUANT2-NEEDED"
        if scale.kind != "f32" and not (scale.kind == "bf16" and query.kind == "bf16"):
            yield "QUANT2-DTYPE"
        if offset is not None and offset.kind != scale.kind:
            yield "QUANT2-OFFSET-DTYPE"
        n, d = self.heads, self.width
        shapes = {
            (1, n, 1, d), (n, 1, d), (n, d), (1, 1, n, d), (1, n, d), (1, n * d), (1, 1, n * d),
            (n * d,),
        }  # fmt: skip
        cells = [scale] if offset is None else [scale, offset]
        if any(cell.count != 1 and cell.dims not in shapes for cell in cells):
            yield "QUANT2-SHAPE"
        if len({cell.count == 1 for cell in cells}) == 2:
            yield "QUANT2-SHAPE"

    def cache_scales(self) -> Iterator[str]:
        scale, offset = self.get("antiquantScale"), self.get("antiquantOffset")
        if self.get("key")[0].kind != "i8":
            if scale is not None or offset is not None:
                yield "ANTIQUANT-UNUSED"
            return
        if scale is None:
            yield "ANTIQUANT-NEEDED"
        if offset is not None and len(offset.dims) != len(scale.dims):
            yield "ANTIQUANT-RANK"
        n, d = self.kv_heads, self.width
        shapes = {(2, n, 1, d), (2, 1, n, d), (2, n, d), (2, n * d), (2,)}
        cells = [scale] if offset is None else [scale, offset]
        if any(cell.dims not in shapes for cell in cells):
            yield "ANTIQUANT-SHAPE"
        if scale.kind != self.get("query").kind:
            yield "ANTIQUANT-DTYPE"
        if offset is not None and offset.kind != scale.kind:
            yield "ANTIQUANT-OFFSET-DTYPE"

    def late(self) -> Iterator[str]:
        key, block = self.get("key")[0], self.values.get("blockSize", 0)
        table = self.get("blocktable")
        if table is not None:
            if len(key.dims) == 3 and self.kv_heads * self.width > 65535:
                yield "PAGED-CACHE-WIDTH"
            if not 1 <= block <= 512:
                yield "PAGED-BLOCK-RANGE"
            if max(self.per_batch()) > self.span:
                yield "PAGED-MAX-LEN"
            blocks = sum(-(-length // block) for length in self.per_batch())
            if self.product.strict_pages and key.dims[0] < blocks:
                yield "PAGED-BLOCK-COUNT"
        padding = self.get("kvPaddingSize")
        if padding is not None and padding.count > 0 and padding.kind != "i64":
            yield "PADDING-DTYPE"
        if padding is not None and padding.count > 0 and table is not None:
            if self.product.strict_pages:
                yield "PADDING-PAGED"

    def views(self) -> Iterator[str]:
        """Comes first: the other rules compute with the dimensions."""
        for name, value in self.values.items():
            # Members that nobody uses are not looked at.
            cells = value[: self.used] if isinstance(value, tuple) else (value,)
            for cell in cells:
                if hasattr(cell, "storage") and not cell.special and self.leaves(name, cell):
                    yield "VIEW-BOUNDS"

    @staticmethod
    def leaves(name: str, cell: Any) -> bool:
        if min(cell.dims, default=0) < 0:
            return True
        if cell.count == 0:
            return False
        steps = [(n - 1) * s for n, s in zip(cell.dims, cell.view_strides, strict=True)]
        if name == "attentionOut":
            steps = [cell.count - 1]
        low = cell.offset + sum(step for step in steps if step < 0)
        high = cell.offset + sum(step for step in steps if step > 0)
        if max(cell.count, -low, high) > _ADDRESSABLE:
            return True
        # Without storage dimensions nobody knows where the memory ends.
        if not cell.storage_dims:
            return False
        held = min(math.prod(cell.storage_dims), _ADDRESSABLE)
        return bool(min(cell.storage_dims) < 0 or low < 0 or high >= held)


def advice(values: Mapping[str, Any], version: str, product: str) -> list[str]:
    """The documented-only rules that an accepted call breaks, in order."""
    model = Model(values, version, PRODUCTS[product])
    if model.get("attentionOut").count == 0:
        return []
    given = model.given()
    broken = {
        "DOC-KVHEADS": model.product.small and int(values.get("numKeyValueHeads") or 0) != 0,
        "DOC-KV-INT8": model.product.small and model.get("key")[0].kind == "i8",
        "DOC-HEADS": model.heads > 256,
        "DOC-SEQ-COUNT": len(given) == model.batch + 1 and given[0] == 0,
    }
    return [rule for rule, is_broken in broken.items() if is_broken]


def first_failure(values: Mapping[str, Any], version: str, product: str) -> tuple[int, str]:
    """Status and rule of a call described by case-table values; (0, "") when it is accepted."""
    return Model(values, version, PRODUCTS[product]).first()
