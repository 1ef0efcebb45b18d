"""python -m pyaclnn bench: the arithmetic by hand-made numbers, the command by tiny shapes."""

from __future__ import annotations

import json
import math
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from python_support import run_python

import pyaclnn
from pyaclnn.__main__ import main
from pyaclnn.arrays import to_bfloat16
from pyaclnn.bench import command, result, shapes, show
from pyaclnn.bench.measure import PEERS_FOLDER, Measurement, Settings
from pyaclnn.bench.peers.peer import Variant
from pyaclnn.bench.peers.problem import Data, error, reference, slopes, to_bf16, to_float
from pyaclnn.bench.peers.process import fastest
from pyaclnn.bench.peers.shape import ALL_KEYS, ONE_BATCH, Shape, ragged
from pyaclnn.bench.result import Report, Result
from pyaclnn.bench.shapes import Row

TINY = Shape(2, 4, 2, 40, 16)


# ---- problem


def test_shape() -> None:
    plain = Shape(2, 8, 2, 100, 64, "bf16")
    assert (plain.dim_v, plain.group, plain.latent) == (64, 4, False)
    assert plain.bytes == 2 * 2 * 100 * (64 + 64) * 2
    assert plain.flops == 2 * 8 * 100 * (64 + 64) * 2
    latent = Shape(1, 16, 1, 100, 576, "fp16", 512)
    assert latent.latent and latent.bytes == 100 * 576 * 2
    assert latent.flops == 16 * 100 * (576 + 512) * 2
    assert [str(plain), str(latent)] == [
        "B2 H8/2 S100 D64 bf16",
        "B1 H16/1 S100 D576/512 fp16",
    ]
    assert Shape(**latent.to_json()) == latent


def test_bfloat16() -> None:
    x = np.random.default_rng(1).standard_normal(1000, np.float32)
    np.testing.assert_array_equal(to_bf16(x), to_bfloat16(x).bits)
    np.testing.assert_array_equal(to_float(to_bf16(x), "bf16"), to_bfloat16(x).float32())


#: Shapes with several query rows, and what each row sees.
PROMPTS = {
    "causal": (Shape(1, 4, 2, 5, 16, rows=5, causal=True), "1.... 11... 111.. 1111. 11111"),
    "all": (Shape(2, 4, 2, 3, 16, rows=2), "111 111"),
    "later": (Shape(1, 4, 2, 5, 16, rows=2, causal=True), "1111. 11111"),
    "window": (Shape(1, 4, 2, 4, 16, rows=4, window=2), "1... 11.. .11. ..11"),
    "ragged": (ragged((2, 1, 2), 4, 2, 16), "1.... 11... ..1.. ...1. ...11"),
}


@pytest.mark.parametrize("name", PROMPTS)
def test_what_rows_see(name: str) -> None:
    shape, seen = PROMPTS[name]
    drawn = ["".join(".1"[int(see)] for see in row) for row in Data(shape).visible()]
    assert drawn == seen.split()
    pairs = shape.batch * seen.count("1")
    assert shape.flops == pairs * shape.heads * (shape.dim + shape.dim_v) * 2
    assert Shape(**json.loads(json.dumps(shape.to_json()))) == shape
    assert not shape.decode and shape.prompt == (name in ("causal", "window", "ragged"))


def test_names_of_prompts() -> None:
    assert [str(shape) for shape, _ in PROMPTS.values()] == [
        "B1 H4/2 Q5 S5 D16 causal fp16",
        "B2 H4/2 Q2 S3 D16 fp16",
        "B1 H4/2 Q2 S5 D16 causal fp16",
        "B1 H4/2 Q4 S4 D16 window 2 fp16",
        "B3 H4/2 Q1-2 S1-2 D16 causal fp16",
    ]
    assert str(Shape(1, 2, 2, 4, rows=4, causal=True, alibi=True)).endswith("causal ALiBi fp16")
    with pytest.raises(ValueError, match="batch, rows and keys"):
        Shape(1, 4, 2, 5, lengths=(2, 1, 1))


def references(shape: Shape) -> Any:
    """What is right, of all heads."""
    data = Data(shape)
    return np.stack(
        [[reference(data, b, h) for h in range(shape.heads)] for b in range(shape.batch)]
    ).astype(np.float32)


@pytest.mark.parametrize(
    "shape", [TINY, Shape(1, 4, 1, 30, 24, "bf16", 16), *(shape for shape, _ in PROMPTS.values())]
)
def test_error(shape: Shape) -> None:
    data, out = Data(shape), references(shape)
    assert out.shape == (shape.batch, shape.heads, shape.rows, shape.dim_v)
    assert error(data, out) < 1e-6
    if shape.decode:
        assert error(data, out[:, :, 0]) < 1e-6
    wrong = out.copy()
    wrong[-1, -1, -1, 3] += 0.01 * np.abs(out[-1, -1]).max()
    assert error(data, wrong) == pytest.approx(0.01, rel=1e-3)
    wrong[0, 1, 0, 0] = np.nan  # of a head that is not compared
    assert error(data, wrong) == math.inf


@pytest.mark.parametrize("name", PROMPTS)
def test_reference_by_a_matrix(name: str) -> None:
    """The same with all scores at once and what is not seen at minus infinity."""
    shape, _ = PROMPTS[name]
    data = Data(shape)
    q, k, v = (to_float(x, "fp16").astype(np.float64) for x in (data.q, data.k, data.v))
    k, v = (np.repeat(x, shape.group, 1) for x in (k, v))
    x = np.where(data.visible(), q @ k.swapaxes(2, 3) * shape.scale, -np.inf)
    p = np.exp(x - x.max(-1, keepdims=True))
    np.testing.assert_allclose(
        references(shape), p / p.sum(-1, keepdims=True) @ v, rtol=1e-5, atol=1e-6
    )


def test_reference_of_alibi() -> None:
    """A slope of the head for each position between a row and a key."""
    shape = Shape(1, 2, 2, 3, 16, rows=3, causal=True)
    data = Data(shape).seen_as(replace(shape, alibi=True))
    assert slopes(2).tolist() == [2.0**-4, 2.0**-8]
    q, k, v = (to_float(x[0, 1], "fp16").astype(np.float64) for x in (data.q, data.k, data.v))
    p = np.exp(k @ q[2] / 4 - 2.0**-8 * np.array([2, 1, 0]))
    np.testing.assert_allclose(reference(data, 0, 1)[2], p / p.sum() @ v)
    assert error(data, references(shape)) > 1e-3


def test_the_end_of_every_sequence_is_verified() -> None:
    shape = ragged((40, 1, 30, 60), 2, 2, 16)
    data, out = Data(shape), references(shape)
    for row in (0, 39, 40, 41, 70, 71, 130):
        wrong = out.copy()
        wrong[0, 1, row] *= 1.5
        assert error(data, wrong) > 0.01, row


def test_data_is_the_same_everywhere() -> None:
    first, second = Data(TINY), Data(TINY)
    for name in ("q", "k", "v"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    assert not np.array_equal(first.k, first.v)


def test_fastest() -> None:
    def variant(*seconds: float, times: float = 1.0) -> Variant:
        left = list(seconds)
        return Variant(lambda: None, times=times, seconds=lambda: left.pop(0))

    # The first run warms up, unless it takes all the time there is.
    assert fastest(variant(0.1, 0.3, 0.2, times=2.0), 10.0, most=3) == 0.4
    assert fastest(variant(7.0, 1.0), 0.5) == 7.0
    assert fastest(variant(0.1, 7.0, 1.0), 0.5) == 7.0
    runs = []

    def wait() -> None:
        runs.append(time.perf_counter())
        time.sleep(0.002)

    assert fastest(Variant(wait), 0.03) >= 0.002
    assert len(runs) > 1 and time.perf_counter() - runs[0] >= 0.03


# ---- arithmetic


@pytest.mark.parametrize(
    ("shape", "name"),
    [
        (Shape(1, 32, 8, 2048), "fp16-cache"),
        (Shape(1, 32, 8, 2048, dtype="bf16"), "bf16-cache"),
        (Shape(1, 32, 8, 32768), "fp16-memory"),
        (Shape(8, 32, 8, 2048, dtype="bf16"), "bf16-memory"),
        (Shape(1, 32, 32, 8192), "single"),
        (Shape(1, 28, 4, 4096), "odd"),
        (Shape(1, 32, 32, 4096, 96), "odd"),
        (Shape(8, 32, 8, 2048, 64), "odd"),
        (Shape(1, 16, 1, 4096, 576, "fp16", 512), "latent"),
        (Shape(1, 16, 8, 4096, 256), None),
        (Shape(1, 32, 8, 2048, rows=2048), "prefill-fp16-long"),
        (Shape(1, 32, 32, 2047, rows=2047, causal=True), "prefill-fp16"),
        (Shape(1, 28, 4, 512, 64, "bf16", rows=512), "prefill-bf16"),
        (Shape(1, 32, 8, 8192, dtype="bf16", rows=8192, causal=True), "prefill-bf16-long"),
        (Shape(1, 32, 8, 511, rows=511, causal=True), None),
        (Shape(1, 32, 8, 8192, rows=8192, window=256), None),
        (Shape(1, 32, 8, 4096, rows=2, causal=True), "queries"),
        (Shape(1, 32, 8, 4096, rows=8, causal=True), "queries"),
        (Shape(1, 32, 8, 4096, rows=9, causal=True), None),
        (ragged((17, 2048), 32, 8), "ragged"),
    ],
)
def test_classes(shape: Shape, name: str | None) -> None:
    assert result.class_of(shape) == name


def test_each_class_has_rows_in_the_sets_that_are_judged() -> None:
    sets = ["gate", "odd", "prefill", "prefill-extras", "queries"]
    judged = {result.class_of(row.shape) for row in shapes.rows_of(sets)}
    assert judged - {None} == set(result.GOALS)
    assert None not in {result.class_of(row.shape) for row in shapes.rows_of(["gate", "odd"])}
    assert len(shapes.GATE) == 18
    assert len(shapes.HEADS) >= 8
    assert len({row.name for row in shapes.PREFILL_MODELS}) >= 8
    assert {row.shape.rows for row in shapes.QUERIES} == {1, 2, 3, 4, 8, 16, 32}
    assert {row.shape.keys for row in shapes.PREFILL_LADDER} == {128 << n for n in range(7)}


def made(shape: Shape, set_name: str = "gate", **rounds: list[float | None]) -> Result:
    """A result; limits are read 1 (of 3, 1, 2) and multiply 2 unless given."""
    made = Result(Row(set_name, shape))
    plain: dict[str, list[float | None]] = {
        "pyaclnn": [4.0, 4.0, 5.0],
        "read": [3.0, 3.0, 3.0],
        "read ahead into L2": [1.0, 1.0, 1.0],
        "read ahead into L1": [2.0, 2.0, 2.0],
        "multiply": [2.0, 2.0, 3.0],
    }
    made.rounds = plain | {name.replace("_", " "): times for name, times in rounds.items()}
    made.errors = {"pyaclnn": 3e-4}
    return made


def test_ratios_are_medians_of_rounds() -> None:
    r = made(Shape(1, 32, 8, 2048), vLLM=[8.0, 6.0, 5.0], ggml=[3.0, 3.0, 3.0])
    assert r.limits() == [2.0, 2.0, 3.0]
    assert (r.limit, r.bound) == (2.0, "multiply")
    assert r.share() == 0.5  # of 0.5, 0.5, 0.6
    assert r.times_faster("vLLM") == 1.5  # of 2, 1.5, 1
    assert r.peers == ["ggml", "vLLM"] and r.best_peer == "ggml"
    r.errors["ggml"] = 3e-3
    assert r.best_peer == "vLLM"
    r.rounds["multiply"] = [0.5, 0.5, 0.5]
    assert (r.limit, r.bound) == (1.0, "read")


def test_admissible_by_the_format() -> None:
    for dtype, bound in (("fp16", 2e-3), ("bf16", 8e-3)):
        r = made(Shape(1, 32, 8, 2048, dtype=dtype))
        r.errors = {"at": bound, "above": bound * 1.01}
        assert r.admissible("at") and r.admissible("unverified") and not r.admissible("above")


def test_rounds_that_failed() -> None:
    r = made(TINY, vLLM=[None, 6.0, None], SGLang=[None, None, None])
    assert r.best_peer == "vLLM" and r.times_faster("vLLM") == 1.5
    assert "SGLang" not in r.measured
    r.rounds["read ahead into L2"][0] = None
    assert r.limits()[0] == 2.0
    r.rounds["multiply"][1] = None
    assert r.limits() == [2.0, None, 3.0]
    del r.rounds["multiply"]
    assert (r.limits(), r.limit, r.share()) == ([], None, None)


def test_summaries() -> None:
    fast = made(Shape(1, 32, 8, 2048), vLLM=[8.0, 8.0, 10.0], torch_SDPA=[80.0, 80.0, 100.0])
    slow = made(Shape(1, 32, 4, 2048), vLLM=[2.0, 2.0, 2.5], torch_SDPA=[320.0, 320.0, 400.0])
    odd = made(Shape(1, 28, 4, 4096), "odd", vLLM=[4.0, 4.0, 5.0])
    extra = made(Shape(1, 32, 8, 2048), vLLM=[1.0, 1.0, 1.0])
    extra.row = Row("extras", extra.row.shape, ("mask",))
    every = [fast, slow, odd, extra]
    cached, odds = result.by_class(every)
    assert (cached.rows, odds.rows) == (2, 1)
    assert cached.ratio == pytest.approx((0.5, 1.0)) and odds.ratio == (1.0, 1.0)
    assert cached.share == pytest.approx((0.5, 0.5))
    gate = result.of_gate(every)
    assert gate is not None and gate.rows == 2 and gate.ratio == pytest.approx((0.5, 1.0))
    assert result.of_gate([odd]) is None
    assert result.over_torch(every) == pytest.approx((20.0, 40.0))
    assert result.over_torch([odd]) is None


def test_classes_of_prompts() -> None:
    prompt = Shape(1, 32, 8, 2048, rows=2048, causal=True)
    fast = made(prompt, "prefill", vLLM=[6.0, 6.0, 7.5], torch_SDPA=[8.0, 8.0, 10.0])
    two = Shape(1, 32, 8, 4096, rows=2, causal=True)
    few = made(two, "queries", vLLM=[2.0] * 3, torch_SDPA=[40.0] * 3, torch_SDPA_folded=[8.0] * 3)
    assert (few.best_peer, few.rival, fast.rival) == ("vLLM", "torch SDPA folded", "vLLM")
    few.errors["torch SDPA folded"] = 0.1
    assert few.rival == "torch SDPA"
    del few.errors["torch SDPA folded"]
    long, queries = result.by_class([few, fast])
    assert long.ratio == pytest.approx((1.5, 1.5)) and queries.ratio == pytest.approx((2.0, 2.0))
    assert result.over_torch([few, fast]) is None
    assert result.prefill_over_torch([few, fast], "fp16") == pytest.approx((2.0, 2.0))
    assert result.prefill_over_torch([few, fast], "bf16") is None


def test_a_form_beside() -> None:
    shape = ragged((17, 100), 4, 2)
    r = made(shape, "prefill-extras", vLLM=[2.0, 2.0, 2.0])
    r.row = Row("prefill-extras", shape, beside=ONE_BATCH)
    r.rounds[ONE_BATCH] = [5.0, 3.2, 4.0]
    assert r.cost_beside() == 1.25  # of 0.8, 1.25, 1.25
    assert r.peers == ["vLLM"]
    told = r.to_json()
    assert (told["beside"], told["cost_beside"]) == (ONE_BATCH, 1.25)
    (table,) = [t for t in show.tables(Report({}, {}, results=[r]), False) if "beside" in t.title]
    assert [cell.marked for cell in table.rows[0]] == [
        str(shape), ONE_BATCH, "3200", "4000", "1.25x of 1.10x ✗",
    ]  # fmt: skip


def test_marks() -> None:
    assert [result.mark(v, 1.1, 1.3) for v in (1.0, 1.1, 1.29, 1.3)] == [
        "below",
        "floor",
        "floor",
        "goal",
    ]
    single = Shape(1, 32, 32, 8192)
    assert result.cost_bound(single, "int8 per token") == pytest.approx(1 / 1.5)
    assert result.cost_bound(Shape(1, 32, 8, 8192), "int8 per token") is None
    assert result.cost_bound(single, "paged 16") == 1.10


# ---- tables


def report() -> Report:
    r = made(Shape(1, 32, 8, 2048), vLLM=[8.0, 8.0, 8.0], ggml=[3.0, 3.0, 3.0])
    r.errors["ggml"] = 4e-3
    r.skipped["SGLang"] = "no such kernel"
    e = made(Shape(1, 32, 8, 2048), "extras", mask=[8.0, 8.0, 10.0])
    e.row = Row("extras", e.row.shape, ("mask",))
    e.errors["mask"] = 0.5
    made_report = Report({"cpu": "Some", "cpus": 2, "system": "Linux", "date": "today"}, {})
    made_report.settings = {"rounds": 3, "seconds": 0.1}
    made_report.absent = {"torch": "ImportError: no torch"}
    made_report.results = [r, e]
    made_report.notes = ["A note."]
    return made_report


def test_markdown() -> None:
    lines = show.markdown(report()).splitlines()
    verdict = "2000 m | 4000 | 50.0% ✗ | 8000 vLLM | 2.00x ✓✓"
    assert f"| B1 H32/8 S2048 fp16 | 8.4 | {verdict} | 8000 | 3000* |" in lines
    assert "| B1 H32/8 S2048 fp16 | mask | 8000 | 2.00x of 1.15x ✗ |" in lines
    remarks = [line for line in lines if line.startswith("- ")]
    assert len(remarks) == 5
    for remark, words in zip(
        remarks,
        ("ggml: below", "error of our own mask", "torch: not measured", "SGLang: left", "A note"),
        strict=True,
    ):
        assert words in remark
    heads = [line.count("|") for line in lines if line.startswith("|")]
    assert heads == [10] * 3 + [9] * 4 + [5] * 3


def test_markdown_of_prompts() -> None:
    prompt = Shape(1, 32, 8, 2048, rows=2048, causal=True)
    r = made(prompt, "prefill", vLLM=[8.0] * 3, torch_SDPA=[20.0] * 3)
    told = report()
    told.results.append(r)
    lines = show.markdown(told).splitlines()
    verdict = "2000 m | 4000 | 50.0% ✗ | 8000 vLLM | 2.00x ✓✓"
    assert f"| B1 H32/8 Q2048 S2048 causal fp16 | 34.4 | {verdict} | 8000 | 20000 |" in lines
    assert any(
        line.startswith("| prefill fp16, over torch SDPA as called |  | 5.00x ✓✓") for line in lines
    )
    assert "| shape | GFLOP | limit ms | pyaclnn ms |" in "\n".join(lines)


def test_numbers() -> None:
    assert [show.milliseconds(s) for s in (1e-4, 1.5e-3, 0.0123, 0.4567)] == [
        "0.100",
        "1.500",
        "12.3",
        "457",
    ]


# ---- the command

PROGRAM = """
import os, sys
sys.path.append({folder!r})
from peers import process
from peers.numpy_matmul import Numpy
from peers.peer import Offer, Variant
class Fake(Numpy):
    def offer(self, data, wanted):
        exact = super().offer(data, wanted).variants["numpy"]
        {body}
def make():
    {make}
process.serve(make)
"""
INEXACT = 'return Offer({"inexact": Variant(exact.run, lambda: exact.output() * 1.1)})'
CRASHING = 'return Offer({"crashing": Variant(os.abort, exact.output)})'
LATE = """runs = []
        def run():
            runs.append(1)
            exact.run()
            if len(runs) > 3: os._exit(3)
        return Offer({"late": Variant(run, exact.output)})"""
SLOW = """
        return Offer({"late": Variant(exact.run, exact.output, seconds=lambda: 1.5)})"""
RAISING = 'raise ValueError("not this shape")'


def fake(body: str, make: str = "return Fake()") -> list[str]:
    text = PROGRAM.format(folder=str(PEERS_FOLDER.parent), body=body, make=make)
    return [sys.executable, "-c", text]


def test_peers_that_misbehave(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Inexact ones do not count, broken ones do not stop the run."""
    programs = {
        "inexact": fake(INEXACT),
        "crashing": fake(CRASHING),
        "late": fake(LATE),
        "raising": fake(RAISING),
        "missing": fake("", 'raise ImportError("no such library")'),
        "dead": [sys.executable, "-c", "raise SystemExit(3)"],
        "nowhere": [str(tmp_path / "nothing")],
    }
    settings = Settings(rounds=3, seconds=0.0, peers=["numpy", *programs], programs=programs)
    rows = [Row("odd", TINY), Row("odd", Shape(1, 2, 1, 9, 16, "bf16"))]
    file = tmp_path / "out.json"
    assert command.measure(settings, rows, file, as_markdown=False) == 0
    told = json.loads(file.read_text())
    assert set(told["absent"]) == {"missing", "dead", "nowhere"}
    assert "no such library" in told["absent"]["missing"]
    assert "status 3" in told["absent"]["dead"]
    for row in told["results"]:
        assert row["best_peer"] in ("numpy", "late")
        assert row["errors"]["inexact"] == pytest.approx(0.1, rel=0.01)
        assert row["errors"]["pyaclnn"] < 4e-3
        assert "not this shape" in row["skipped"]["raising"]
        assert "ended with status" in row["skipped"]["crashing"]
        assert row["rounds"]["late"][-1] is None
        for name in ("pyaclnn", "numpy", *result.LIMITS):
            assert len(row["rounds"][name]) == 3
            assert all(0 < t < 10 for t in row["rounds"][name])
        assert row["ratio"] > 0 and row["share"] > 0 and row["limit"] > 0
    printed = capsys.readouterr().out
    assert "inexact: below the format's precision on 2 rows" in printed
    assert "missing: not measured" in printed


def test_extras_and_calls(tmp_path: Path) -> None:
    """All variants of ours run and are right."""
    wanted = tuple(name for row in (*shapes.EXTRAS, *shapes.ATB) for name in row.wanted)
    of_prompts = next(row.wanted for row in shapes.PREFILL_EXTRAS if row.wanted)
    rows = [
        Row("extras", Shape(2, 4, 2, 290, 32, dtype), tuple(dict.fromkeys(wanted)))
        for dtype in shapes.DTYPES
    ]
    rows += [
        Row("prefill-extras", Shape(2, 4, 2, 150, 32, dtype, rows=150, causal=True), of_prompts)
        for dtype in shapes.DTYPES
    ]
    rows += [Row("gate", Shape(2, 4, 1, 50, 72, "bf16", 64)), *shapes.CALLS]
    with Measurement(Settings(rounds=1, seconds=0.0)) as measurement:
        measurement.run(rows, lambda number, what, part: None)
    *extras, latent, half, bfloat = measurement.report.results
    for r in extras:
        assert r.skipped == {} and set(r.row.wanted) < set(r.measured)
        assert {v for v in r.errors if r.admissible(v)} == {
            "pyaclnn", *(v for v in r.row.wanted if not v.startswith("int8"))
        }  # fmt: skip
        assert all(r.cost(v) is not None for v in r.row.wanted)
    assert latent.errors["pyaclnn"] < 8e-3
    for calls in (half, bfloat):
        assert set(result.CALLS) <= set(calls.measured)
        assert all(1e-8 < calls.best(v) < 1e-2 for v in result.CALLS)


def test_prompts() -> None:
    """Ours and numpy on every kind of row, and the forms beside them."""
    kinds: list[tuple[Shape, str]] = [
        (Shape(2, 4, 2, 140, 32, rows=140, causal=True), ""),
        (Shape(2, 4, 2, 140, 32, rows=140), ""),
        (Shape(2, 4, 2, 140, 32, rows=3, causal=True), ""),
        (Shape(1, 4, 1, 70, 72, dim_v=64, rows=70, causal=True), ""),
        (ragged((17, 1, 200, 64), 4, 2, 32), ONE_BATCH),
        (Shape(1, 4, 2, 300, 32, rows=300, window=100), ALL_KEYS),
    ]
    rows = [
        Row("prefill", replace(shape, dtype=dtype), beside=beside)
        for shape, beside in kinds
        for dtype in shapes.DTYPES
    ]
    with Measurement(Settings(rounds=1, seconds=0.0, peers=["numpy"])) as measurement:
        measurement.run(rows, lambda number, what, part: None)
    for r in measurement.report.results:
        ours = {"pyaclnn", *([r.row.beside] if r.row.beside else [])}
        assert set(r.errors) == ours | (set() if r.row.shape.lengths else {"numpy"})
        assert all(r.admissible(name) for name in r.errors), (str(r.row), r.errors)
        assert r.share() is not None
        assert (r.cost_beside() is not None) == bool(r.row.beside)


def test_slow_variants_sit_out() -> None:
    """Not ours, not fast ones, and nothing that is short anyway."""
    measurement = Measurement(Settings())
    r = made(TINY)
    r.rounds |= {"pyaclnn": [0.5], "pyaclnn beside": [9.0], "slow": [2.1], "near": [1.9]}
    r.rounds |= {"failed": [None]}
    names = ("pyaclnn", "pyaclnn beside", "slow", "near", "failed")
    assert [name for name in names if measurement.sits_out(r, name)] == ["slow"]
    r.rounds |= {"pyaclnn": [0.001], "slow": [0.9]}
    assert not measurement.sits_out(r, "slow")
    programs = {"late": fake(SLOW)}
    settings = Settings(rounds=3, seconds=0.0, peers=["late"], programs=programs)
    with Measurement(settings) as measurement:
        measurement.run([Row("odd", TINY)], lambda number, what, part: None)
    (r,) = measurement.report.results
    assert [t is None for t in r.rounds["late"]] == [False, True, True]
    assert None not in r.rounds["pyaclnn"]
    assert r.times_faster("late") is not None


def test_settings_reach_the_process() -> None:
    with Measurement(Settings(threads=3, isa="portable", rounds=1)) as measurement:
        versions = measurement.report.versions
    assert versions["pyaclnn"] == f"pyaclnn {pyaclnn.__version__}, level portable, 3 threads"
    assert versions["limit"] == "level portable, 3 threads"


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "out.json"
    options = ["--peers", "none", "--rounds", "1", "--seconds", "0", "--json", str(file)]
    assert main(["bench", "ladder", "--rows", "B1 .* S128 fp16", *options, "--markdown"]) == 0
    assert "| B1 H32/8 S128 fp16 | 0.5 |" in capsys.readouterr().out
    (row,) = json.loads(file.read_text())["results"]
    assert row["set"] == "ladder" and row["class"] == "fp16-cache" and row["bytes"] == 524288
    assert main(["bench", "gate", "odd", "--list"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert len(listed) == len(shapes.GATE) + len(shapes.ODD)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing"], "'nothing' is not a set, there are gate"),
        (["--rows", "B9999"], "no row of gate matches"),
        (["--rows", "("], "--rows (:"),
        (["--peers", "torch,abacus"], "'abacus' is none of numpy"),
        (["--peer-python", "abacus=/bin/python"], "NAME is one of numpy"),
        (["--peer-path", "/somewhere"], "NAME is one of numpy"),
        (["--peer-path", "numpy"], "--peer-path numpy"),
        (["--peer-python", ""], "--peer-python"),
        (["--peer-python", "numpy="], "--peer-python numpy="),
        (["--rounds", "0"], "at least 1"),
        (["gate", "calls", "--rows", "S2048"], "no row of calls matches"),
        (["--isa", "abacus"], "--isa abacus: this machine has"),
        (["--threads", "300"], "--threads 300: 1 .. 256"),
        (["--json", "/nowhere/out.json"], "--json /nowhere/out.json: No such file"),
        (["--plot", "out.jpeg"], "--plot out.jpeg: the name ends with .png or .svg"),
    ],
)
def test_refusals(arguments: list[str], words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if "--isa" not in arguments:
        monkeypatch.setattr(command, "measure", lambda *_: pytest.fail("measures"))
    with pytest.raises(SystemExit, match=words.replace("(", r"\(")):
        main(["bench", *arguments])


@pytest.mark.parametrize("file", ["missing/out.json", "."])
def test_a_file_that_cannot_be_written_is_refused_first(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before minutes of measuring, not behind them."""
    monkeypatch.setattr(Measurement, "run", lambda *_: pytest.fail("measures"))
    with pytest.raises(SystemExit, match="--json"):
        main(["bench", "ladder", "--peers", "none", "--json", str(tmp_path / file)])


def test_a_full_disk_does_not_hide_what_was_measured(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--peers", "none", "--rounds", "1", "--seconds", "0", "--markdown"]
    with pytest.raises(SystemExit, match="/dev/full"):
        main(["bench", "ladder", "--rows", "B1 .* S128 fp16", *options, "--json", "/dev/full"])
    assert "| B1 H32/8 S128 fp16 | 0.5 |" in capsys.readouterr().out


def test_output_that_nobody_reads() -> None:
    """`bench --list | head -1`: the reader has gone, which is no failure to report."""
    done = run_python(
        "import os, sys; from pyaclnn.__main__ import main\n"
        "reader, writer = os.pipe(); os.close(reader); os.dup2(writer, 1)\n"
        "sys.exit(main(['bench', '--list']))"
    )
    assert "Traceback" not in done.stderr and "BrokenPipeError" not in done.stderr


def test_other_commands_do_not_pay_for_it() -> None:
    done = run_python("import sys, pyaclnn.__main__; print('numpy' in sys.modules)")
    assert (done.stdout, done.stderr) == ("False\n", "")


@pytest.mark.parametrize("json_file", [False, True])
def test_without_rich(json_file: bool, tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    arguments: list[Any] = ["bench", "ladder", "--rows", "B1 .* S128 fp16", "--peers", "none"]
    arguments += ["--rounds", "1", "--seconds", "0", *(["--json", str(file)] * json_file)]
    done = run_python(
        "import sys; sys.modules['rich'] = None\n"
        f"from pyaclnn.__main__ import main; sys.exit(main({arguments!r}))"
    )
    assert done.stderr.strip() == ("bench: tables and progress need rich: pip install rich")
    assert (done.returncode, file.exists()) == ((0, True) if json_file else (1, False))


# ---- the roofline


def test_plot_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr(command, "measure", lambda *_: pytest.fail("measures"))
    file = tmp_path / "roofline.svg"
    with pytest.raises(
        SystemExit, match=r"roofline\.svg: needs matplotlib: pip install matplotlib"
    ):
        main(["bench", "--plot", str(file)])
    assert not file.exists()


def test_roofs() -> None:
    pytest.importorskip("matplotlib", reason="the roofline needs matplotlib")
    from pyaclnn.bench import plot

    small, large = made(Shape(1, 32, 8, 2048)), made(Shape(8, 32, 8, 2048, dtype="bf16"))
    prompt = made(Shape(1, 32, 8, 2048, rows=2048), multiply=[1.0, 2.0, 2.0])
    flops, megabytes = prompt.row.shape.flops / 1e9, small.row.shape.bytes / 1e9
    assert plot.intensity(prompt) == pytest.approx(2048 * plot.intensity(small))
    bfloat = large.row.shape.flops / 2.0 / 1e9
    assert plot.roofs([small, large, prompt]) == [
        (f"multiplying, fp16: {flops:.0f} GFLOP/s", 0.0, pytest.approx(flops)),
        (f"multiplying, bf16: {bfloat:.0f} GFLOP/s", 0.0, pytest.approx(bfloat)),
        (f"reading the last cache: {megabytes:.0f} GB/s", pytest.approx(megabytes), flops),
        (f"reading memory: {8 * megabytes:.0f} GB/s", pytest.approx(8 * megabytes), flops),
    ]


def test_roofline_points() -> None:
    pytest.importorskip("matplotlib", reason="the roofline needs matplotlib")
    from pyaclnn.bench import plot

    told = report()
    told.results += [made(Shape(1, 32, 8, 2048, rows=2048)), made(Shape(1, 16, 8, 4096, 256))]
    (axes,) = plot.roofline(told).axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    points = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    assert set(points) == {
        "fp16, group >= 4, in cache", "prefill fp16, S >= 2048", "other rows", "best peer",
    }  # fmt: skip
    ((x, y),) = points["prefill fp16, S >= 2048"].get_offsets()
    shape = told.results[2].row.shape
    assert (x, y) == pytest.approx((shape.flops / shape.bytes, shape.flops / 4.0 / 1e9))


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_plot(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib", reason="the roofline needs matplotlib")
    file = tmp_path / f"roofline.{kind}"
    options = ["--peers", "none", "--rounds", "1", "--seconds", "0", "--plot", str(file)]
    rows = ["ladder", "queries", "--rows", "B1 H32/8 (Q2 S4096|S128) .*fp16"]
    assert main(["bench", *rows, *options]) == 0
    assert "B1 H32/8 S128 fp16" in capsys.readouterr().out
    drawn = file.read_bytes()
    assert drawn.startswith(b"\x89PNG" if kind == "png" else b"<?xml")
    if kind == "svg":
        assert b"FLOP per byte" in drawn or b"<path" in drawn
