"""Random calls of SelfAttentionOperation against the golden model: modes, masks, types, head
groups and ragged lengths at once.

``PYACLNN_TEST_SEED`` chooses the calls and ``PYACLNN_TEST_RANDOM`` how many; a test's name holds
both its seed and its number, which together make the same call again.
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

SEED = int(os.environ.get("PYACLNN_TEST_SEED", "20264"))
COUNT = int(os.environ.get("PYACLNN_TEST_RANDOM", "200"))

#: Query elements times keys that a call may have.
BUDGET = 1_500_000


class Draw:
    """A random valid call as a line of the case table."""

    def __init__(self, seed: int, number: int) -> None:
        self.rng = np.random.default_rng((seed, number))
        self.line: dict[str, Any] = {}
        self.nz = self.chance(0.2)
        self.kind = self.one("f16", "bf16") if not self.nz else "f16"
        if self.nz:
            self.line["product"] = "atlas-310p"
        self.batch = self.one(1, 2, 3, 5)
        self.kv_heads = self.one(1, 2, 3)
        self.heads = self.kv_heads * self.one(1, 2, 4, 5)
        self.width = self.one(16, 32, 48, 64, 128) if self.nz else self.one(16, 24, 64, 80, 128)
        self.value_width = self.width
        self.high = not self.nz and self.chance(0.4)
        self.line |= {"headNum": self.heads, "kvHeadNum": self.kv_heads}
        self.line["kernelType"] = int(self.high)
        self.line["qkScale"] = float(np.float32(self.one(1.0, 0.7, 1.3) * self.width**-0.5))
        if self.kv_heads == self.heads and self.chance(0.5):
            self.line["kvHeadNum"] = 0
        mode = self.one("packed", "packed", "cached", "cached", "decoder")
        if not self.nz and self.chance(0.2):
            mode = "prefix"
        self.mode = mode
        getattr(self, mode)()

    def chance(self, p: float) -> bool:
        return bool(self.rng.uniform() < p)

    def one(self, *values: Any) -> Any:
        return values[int(self.rng.integers(len(values)))]

    def lengths(self, low: int, high: int) -> list[int]:
        return [int(n) for n in self.rng.integers(low, high + 1, self.batch)]

    def longest(self) -> int:
        """Rows that a batch may have, within the budget."""
        most = int((BUDGET / (self.batch * self.heads * self.width)) ** 0.5)
        return max(min(int(self.one(3, 40, 150, 290)), most), 2)

    def rows(self, total: int, heads: int, width: int) -> str:
        flat = self.chance(0.4) and not (self.nz and self.mode == "packed")
        dims = f"{heads * width}" if flat else f"{heads},{width}"
        return f"{self.kind}[{total},{dims}]"

    def integers(self, values: list[int], kind: str = "i32") -> str:
        return f"{kind}[{len(values)}] = {values}"

    # Modes

    def packed(self) -> None:
        line = self.line
        line["calcType"] = "PA_ENCODER"
        rank = 3 if self.nz else self.one(2, 3)
        longest = self.longest()
        queries = self.lengths(1, longest)
        if not self.high and self.batch > 1 and self.chance(0.3):
            queries[self.one(*range(self.batch))] = 0
        if not any(queries):
            queries[0] = 1
        self.full = all(queries)
        keys = list(queries)
        mla = not self.nz and self.chance(0.15)
        if self.high and self.chance(0.5):
            keys = [n + int(self.rng.integers(0, 30)) for n in queries]
        if mla:
            line["kvHeadNum"], self.kv_heads = 1, 1
            self.width, self.value_width = self.one((96, 64), (80, 80), (192, 128))
            line["mlaVHeadSize"] = self.value_width
            queries = keys = [max(n, 1) for n in queries]
        elif not self.nz and rank == 3 and self.chance(0.2):
            self.value_width = self.one(16, 40, 96)
        total, key_total = sum(queries), sum(keys)
        rows = roundup(total) if self.nz else total

        def tensor(count: int, heads: int, width: int) -> str:
            dims = f"{heads * width}" if rank == 2 else f"{heads},{width}"
            return f"{self.kind}[{count},{dims}]"

        line["query"] = tensor(rows, self.heads, self.width)
        line["key"] = tensor(
            roundup(key_total) if self.nz else key_total, self.kv_heads, self.width
        )
        if not mla:
            count = roundup(key_total) if self.nz else key_total
            line["value"] = tensor(count, self.kv_heads, self.value_width)
        line["seqLen"] = self.integers(queries)
        if keys != queries:
            line["seqLen"] = f"i32[2,{self.batch}] = {queries + keys}"
        same = keys == queries
        equal = self.width == self.value_width
        quantised = not self.nz and not mla and equal and self.chance(0.15)
        if quantised:
            self.quantised()
        self.masked(max(queries), max(keys), same, mla, quantised, equal)

    def quantised(self) -> None:
        line = self.line
        online = self.chance(0.5)
        line["quantType"] = "QKV_ONLINE" if online else "QKV_OFFLINE"
        line["outDataType"] = "FLOAT16" if self.kind == "f16" else "BF16"
        for name in ("query", "key", "value"):
            line[name] = line[name].replace(self.kind, "i8", 1)
        for name in ("qkDescale", "vpvDescale", *(() if online else ("pScale",))):
            line[name] = f"f32[{self.heads}]"
        for name in ("qkOffset", "vpvOffset"):
            line[name] = f"i32[{self.heads}] = 0"

    def mask_of(self, *dims: int) -> str:
        if not self.nz:
            return f"{self.kind}[{','.join(map(str, dims))}]"
        *planes, rows, columns = dims
        n = planes[0] if planes else 1
        return f"{self.kind}[{n},{roundup(columns) // 16},{roundup(rows)},16]:FRACTAL_NZ"

    def masked(
        self, queries: int, keys: int, same: bool, mla: bool, quantised: bool, equal: bool
    ) -> None:
        line = self.line
        more = self.one(0, 0, 3)
        rows, columns = queries + more, keys + more
        kind = self.one("none", "norm", "norm", "alibi", "tile", "alibi-tile", "window", "logn")
        if mla and kind in ("alibi", "tile", "alibi-tile", "window", "logn"):
            kind = "norm"
        if quantised and kind in ("alibi-tile", "window", "logn", "tile"):
            kind = "norm"
        if kind == "norm":
            line["maskType"] = "NORM"
            line["mask"] = self.mask_of(
                *self.one((), (self.batch,)), rows + (columns == 128), columns + (columns == 128)
            )
            if not self.nz and self.chance(0.3):
                line["isTriuMask"] = 1
        elif kind == "alibi":
            line["maskType"] = "ALIBI"
            if (rows, columns) != (256, 256) and columns != 128:
                line["mask"] = self.mask_of(self.heads, rows, columns)
            else:
                del line["maskType"]
        elif kind == "tile":
            line |= {"maskType": "NORM_COMPRESS", "isTriuMask": 1, "mask": self.mask_of(128, 128)}
        elif kind == "alibi-tile" and max(self.width, self.value_width) <= 128 and self.full:
            self.alibi_tile(keys)
        elif kind == "window" and same and equal and queries > 1 and not self.high:
            compress = self.chance(0.5)
            line["maskType"] = f"SLIDING_WINDOW_{'COMPRESS' if compress else 'NORM'}"
            line["windowSize"] = self.one(1, 5, 64, 200)
            line["mask"] = self.mask_of(512, 512) if compress else self.mask_of(rows, columns)
        elif kind == "logn" and equal and (self.high or self.nz):
            line["scaleType"] = "LOGN"
            if not self.nz:
                line["logN"] = f"f32[{sum_of(line['seqLen'])}]"
            else:
                line["logN"] = f"f16[{queries}]"

    def alibi_tile(self, keys: int) -> None:
        line = self.line
        names = ["ALIBI_COMPRESS", "ALIBI_COMPRESS_SQRT"]
        if not self.nz:
            names.append("ALIBI_COMPRESS_LEFT_ALIGN")
        line["maskType"] = self.one(*names)
        line["slopes"] = f"{'f16' if self.nz else 'f32'}[{self.heads}]"
        line["mask"] = self.mask_of(256, 256)
        if self.nz:
            line["isTriuMask"] = 1
        else:
            line["kernelType"] = 1
            self.high = True
        if line["maskType"] == "ALIBI_COMPRESS" and self.chance(0.4):
            line["mask"] = self.mask_of(self.heads, max(keys, 129), 128)

    def cached(self) -> None:
        line = self.line
        line["calcType"] = self.one("UNDEFINED", "ENCODER")
        self.caches(self.lengths(1, self.longest()))
        if not self.nz and self.chance(0.3):
            line |= {"clampType": "MIN_MAX", "clampMin": -0.5, "clampMax": 0.7}
        queries, keys = self.queries, self.totals
        if self.chance(0.5) and max(keys) != 128:
            line["maskType"] = "NORM"
            rows, columns = max(queries), max(keys)
            line["mask"] = self.mask_of(*self.one((), (self.batch,)), rows, columns)
            if not self.nz and self.chance(0.2):
                line["mask"] = self.mask_of(self.batch, self.heads, rows, columns)

    def decoder(self) -> None:
        line = self.line
        line["calcType"] = "DECODER"
        self.caches([1] * self.batch)
        kind = self.one("none", "norm", "window", "logn")
        if kind == "norm" and max(self.totals) != 128:
            line["maskType"] = "NORM"
            line["mask"] = self.mask_of(self.batch, 1, max(self.totals))
        elif kind == "window" and not line.get("batchRunStatusEnable"):
            if "clampType" not in line and line["kernelType"] == 0:
                line |= {"maskType": "SLIDING_WINDOW_NORM", "windowSize": self.one(1, 7, 50)}
        elif kind == "logn":
            line["scaleType"] = "LOGN"
            line["logN"] = f"{'f16' if self.nz else 'f32'}[{self.batch}]"

    def caches(self, queries: list[int]) -> None:
        line, batch = self.line, self.batch
        hidden = self.kv_heads * self.width
        line["kvcacheCfg"] = int(hidden % 16 != 0 or self.chance(0.4))
        status = not self.nz and not line["kvcacheCfg"] and self.chance(0.2)
        totals = [n + int(self.rng.integers(0, 60)) for n in queries]
        if status:
            line["kernelType"] = 0
            totals = list(queries) if line["calcType"] != "DECODER" else totals
        self.queries, self.totals = queries, totals
        layers, rows = self.one(1, 3), max(totals) + self.one(0, 5)
        rows = roundup(rows) if self.nz else rows
        shape = f"{batch},{rows},{hidden}"
        if self.nz:
            shape = f"{layers},{batch},{hidden // 16},{rows},16"
        elif not status:
            shape = f"{layers},{shape}"
        for name in ("cacheK", "cacheV"):
            line[name] = f"{self.kind}[{shape}]" + (":FRACTAL_NZ" if self.nz else "")
        total = sum(queries)
        count = sum(roundup(n) for n in queries) if self.nz else total
        line["query"] = f"{self.kind}[{count},{self.heads * self.width}]"
        if not line["kvcacheCfg"]:
            line["key"] = line["value"] = f"{self.kind}[{total},{hidden}]"
        line["tokenOffset"], line["seqLen"] = self.integers(totals), self.integers(queries)
        line["layerId"] = f"i32[1] = {self.one(*range(layers))}"
        if status:
            line["batchRunStatusEnable"] = True
            line["batchRunStatus"] = self.integers([1, *self.lengths(0, 1)[1:]])
        if self.chance(0.3):
            line["qScale"] = self.one(0.37, 1.5)

    def prefix(self) -> None:
        line = self.line
        self.width = self.value_width = self.one(16, 64, 128)
        line |= {"calcType": "PREFIX_ENCODER", "isTriuMask": 1, "kernelType": 1}
        queries = self.lengths(1, min(self.longest(), 60))
        totals = [n + 128 * int(self.rng.integers(0, 3)) for n in queries]
        columns = max(-(-n // 128) for n in totals)
        blocks = self.batch * columns + 2
        table = [int(n) for n in self.rng.permutation(blocks)[: self.batch * columns]]
        cache = f"{self.kv_heads},{self.width}"
        if self.chance(0.5):
            cache = f"{self.kv_heads * self.width}"
        line["query"] = self.rows(sum(queries), self.heads, self.width)
        line["key"] = line["value"] = f"{self.kind}[{blocks},128,{cache}]"
        line["blockTables"] = f"i32[{self.batch},{columns}] = {table}"
        line["seqLen"], line["kvSeqLen"] = self.integers(queries), self.integers(totals)
        kind = self.one("CAUSAL_MASK", "NORM_COMPRESS", "ALIBI_COMPRESS", "ALIBI_COMPRESS_SQRT")
        line["maskType"] = kind
        if kind == "NORM_COMPRESS":
            line["mask"] = self.mask_of(128, 128)
        elif kind != "CAUSAL_MASK":
            line["mask"] = self.mask_of(256, 256)
            line["slopes"] = f"f32[{self.heads}]"


def sum_of(lengths: str) -> int:
    """Rows of all batches: a logN that is long enough for either rule about it."""
    dims, values = lengths.split(" = ")
    numbers = [int(n) for n in values.strip("[]").split(",")]
    return sum(numbers[: len(numbers) // 2] if "[2," in dims else numbers)


def case_of(seed: int, number: int) -> Case:
    line = Draw(seed, number).line
    tree = {
        "op": atb.SELF_ATTENTION,
        "golden": "self_attention",
        "base": {"random": line},
        "cases": {"random": {f"{seed}-{number}": {"golden": True}}},
    }
    (case,) = atb_table.cases_of("self_attention", tree)
    return case


@pytest.mark.parametrize("number", range(COUNT), ids=lambda number: f"{SEED}-{number}")
def test_random(native: Native, streams: dict[str, Any], number: int) -> None:
    run_random(native, streams, case_of(SEED, number), number)
