"""python -m pyaclnn bench: the arithmetic by hand-made numbers, the command by tiny shapes."""

from __future__ import annotations

import json
import math
import sys
import time
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
from pyaclnn.bench.peers.problem import Data, error, reference, to_bf16, to_float
from pyaclnn.bench.peers.process import fastest
from pyaclnn.bench.peers.shape import Shape
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


@pytest.mark.parametrize("shape", [TINY, Shape(1, 4, 1, 30, 24, "bf16", 16)])
def test_error(shape: Shape) -> None:
    data = Data(shape)
    out = np.stack(
        [[reference(data, b, h) for h in range(shape.heads)] for b in range(shape.batch)]
    ).astype(np.float32)
    assert out.shape == (shape.batch, shape.heads, shape.dim_v)
    assert error(data, out) < 1e-6
    wrong = out.copy()
    wrong[-1, -1, 3] += 0.01 * np.abs(out[-1, -1]).max()
    assert error(data, wrong) == pytest.approx(0.01, rel=1e-3)
    wrong[0, 1, 0] = np.nan  # of a head that is not compared
    assert error(data, wrong) == math.inf


def test_error_of_later_keys() -> None:
    """Of a window: the keys before it are not there."""
    data, later = Data(TINY), Data(TINY)
    later.k, later.v = data.k[:, :, 30:], data.v[:, :, 30:]
    out = np.stack(
        [[reference(later, b, h) for h in range(TINY.heads)] for b in range(TINY.batch)]
    ).astype(np.float32)
    assert error(data, out, first_key=30) < 1e-6 < 0.1 < error(data, out)


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
    ],
)
def test_classes(shape: Shape, name: str | None) -> None:
    assert result.class_of(shape) == name


def test_each_class_has_rows_in_the_sets_that_are_judged() -> None:
    judged = {result.class_of(row.shape) for row in shapes.rows_of(["gate", "odd"])}
    assert judged == set(result.GOALS)
    assert len(shapes.GATE) == 18
    assert len(shapes.HEADS) >= 8


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
    rows = [
        Row("extras", Shape(2, 4, 2, 290, 32, dtype), tuple(dict.fromkeys(wanted)))
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
        (["nothing"], "'nothing' is no set, there are gate"),
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
