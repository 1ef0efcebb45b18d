"""Random calls of PagedAttentionOperation against the golden model: masks, types, quantised caches,
speculative rows, compressed heads and layouts at once, over blocks in random order.

``PYACLNN_TEST_SEED`` and ``PYACLNN_TEST_RANDOM`` as in test_atb_self_attention_random.py.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import atb_table
import numpy as np
import pytest
from atb_table import Case
from golden import atb
from golden.atb import roundup
from test_atb_cases import run_random

if TYPE_CHECKING:
    from native_call import Native

SEED = int(os.environ.get("PYACLNN_TEST_SEED", "20265"))
COUNT = int(os.environ.get("PYACLNN_TEST_RANDOM", "150"))


class Draw:
    """A random valid call as a line of the case table."""

    def __init__(self, seed: int, number: int) -> None:
        self.rng = np.random.default_rng((seed, number))
        self.form = self.one(
            "plain", "plain", "masked", "fusion", "int8", "spec", "compress", "mla"
        )
        self.nz = self.form in ("plain", "masked") and self.chance(0.25)
        self.kind = "f16" if self.nz else self.one("f16", "bf16")
        self.batch = self.one(1, 2, 3, 6)
        self.kv_heads = 1 if self.form == "mla" else self.one(1, 2, 3)
        self.heads = self.kv_heads * self.one(1, 2, 4, 5)
        self.width = self.one(16, 32, 64) if self.nz else self.one(16, 32, 80, 128)
        self.value_width = self.width
        self.size = self.one(16, 32, 64, 128)
        empty = self.form == "plain" and self.chance(0.2)
        entries = self.batch * (self.kv_heads if self.form == "compress" else 1)
        self.contexts = [int(n) for n in self.rng.integers(1, self.one(8, 90, 400), entries)]
        if empty and entries > 1:
            self.contexts[self.one(*range(entries))] = 0
        self.rows = sum(n > 0 for n in self.contexts) if empty else self.batch
        if not any(self.contexts):
            self.contexts[0] = self.rows = 1
        self.line: dict[str, Any] = {
            "headNum": self.heads,
            "kvHeadNum": self.kv_heads,
            "qkScale": float(np.float32(self.one(0.7, 1.0) * self.width**-0.5)),
        }
        if self.nz:
            self.line["product"] = "atlas-310p"
        getattr(self, self.form)()
        self.tensors()

    def chance(self, p: float) -> bool:
        return bool(self.rng.uniform() < p)

    def one(self, *values: Any) -> Any:
        return values[int(self.rng.integers(len(values)))]

    # Forms

    def plain(self) -> None:
        if not self.nz and self.chance(0.3):
            self.line["inputLayout"] = "BNSD"
        elif self.chance(0.3):
            self.value_width = self.width if self.nz else self.one(16, 48, 96)
        if self.chance(0.3):
            self.line["qScale"] = self.one(0.37, 1.5)

    def masked(self) -> None:
        columns = max(self.contexts) + self.one(0, 7)
        if self.nz:
            self.line["maskType"] = "NORM"
            dims = f"{self.batch},{roundup(columns) // 16},16,16"
            self.line["mask"] = f"f16[{dims}]:FRACTAL_NZ"
        elif self.chance(0.5):
            self.line["maskType"] = "NORM"
            self.line["mask"] = f"{self.kind}[{self.batch},1,{columns}]"
        else:
            self.line["maskType"] = "ALIBI"
            self.line["mask"] = f"{self.kind}[{self.batch},{self.heads},1,{columns}]"

    def fusion(self) -> None:
        channels = self.kv_heads * self.width
        words = self.chance(0.3) and self.size <= self.width
        for which in "kv":
            self.line[f"{which}Descale"] = f"{'i64' if words else 'f32'}[{channels}]"
        if self.chance(0.5):
            self.line["hasQuantOffset"] = True
            self.line |= {f"{which}Offset": f"i32[{channels}]" for which in "kv"}
        self.line["quantType"] = "DEQUANT_FUSION"

    def int8(self) -> None:
        online = self.chance(0.5)
        self.line["quantType"] = "QKV_ONLINE" if online else "QKV_OFFLINE"
        self.line["outDataType"] = "FLOAT16" if self.kind == "f16" else "BF16"
        for name in ("kDescale", "vDescale", *(() if online else ("pScale",))):
            self.line[name] = f"f32[{self.heads}]"

    def spec(self) -> None:
        queries = [int(n) for n in self.rng.integers(1, 6, self.batch)]
        self.contexts = [n + q for n, q in zip(self.contexts, queries, strict=True)]
        self.rows = sum(queries)
        rows, columns = self.rows, max(self.contexts)
        self.line |= {"calcType": "SPEC", "maskType": "SPEC"}
        if self.chance(0.5):
            self.line["maskType"] = "NORM"
            rows = columns
        self.line["mask"] = f"{self.kind}[{rows},{columns}]"
        self.line["qSeqLen"] = f"i32[{self.batch}] = {queries}"

    def compress(self) -> None:
        self.line["compressType"] = self.one("KVHEAD", "KVHEAD_ROPE")

    def mla(self) -> None:
        self.value_width = self.one(16, 64)
        self.width = self.value_width + self.one(0, 16, 32)
        self.line["mlaVHeadSize"] = self.value_width

    # Tensors

    def tensors(self) -> None:
        line, kind = self.line, self.kind
        entries = len(self.contexts)
        columns = max(-(-n // self.size) for n in self.contexts)
        blocks = entries * columns + self.one(1, 3)
        table = [int(n) for n in self.rng.permutation(blocks)[: entries * columns]]
        query = "i8" if self.form == "int8" else kind
        stored = "i8" if self.form in ("int8", "fusion") else kind
        heads = 1 if self.form == "compress" else self.kv_heads
        line["query"] = f"{query}[{self.rows},{self.heads},{self.width}]"
        for name, width in (("keyCache", self.width), ("valueCache", self.value_width)):
            dims = f"{blocks},{self.size},{heads},{width}"
            if line.get("inputLayout") == "BNSD":
                dims = f"{blocks},{heads},{self.size},{width}"
            line[name] = f"{stored}[{dims}]"
            if self.nz:
                line[name] = f"f16[{blocks},{heads * width // 16},{self.size},16]:FRACTAL_NZ"
        if self.form == "mla":
            line["valueCache"] = "absent"
        line["blockTables"] = f"i32[{entries},{columns}] = {table}"
        line["contextLens"] = f"i32[{entries}] = {self.contexts}"
        if line.get("compressType") == "KVHEAD_ROPE":
            line["razorOffset"] = f"f32[{blocks},{self.size}]"


def case_of(seed: int, number: int) -> Case:
    tree = {
        "op": atb.PAGED_ATTENTION,
        "golden": "paged_attention",
        "base": {"random": Draw(seed, number).line},
        "cases": {"random": {f"{seed}-{number}": {"golden": True}}},
    }
    (case,) = atb_table.cases_of("paged_attention", tree)
    return case


@pytest.mark.parametrize("number", range(COUNT), ids=lambda number: f"{SEED}-{number}")
def test_random(native: Native, streams: dict[str, Any], number: int) -> None:
    run_random(native, streams, case_of(SEED, number), number)
