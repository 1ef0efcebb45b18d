"""Random and racing calls of the C interface, bounded in time and from printed seeds.

PYACLNN_TEST_SEED chooses another start, PYACLNN_TEST_RANDOM another number of calls.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from native_programs import compile_program, run_program

if TYPE_CHECKING:
    from native_call import Native

HERE = Path(__file__).resolve().parent
LIBRARIES = ("opapi", "nnopbase", "ascendcl")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with all programs."""
    folder = tmp_path_factory.mktemp("fuzz")
    for name in ("phase_one", "engine", "lifetimes", "graphs"):
        compile_program([HERE / f"{name}.cpp"], folder / name, LIBRARIES)
    return folder


def seed_and_count(count: int) -> list[str]:
    """The arguments of the random programs."""
    return [
        os.environ.get("PYACLNN_TEST_SEED", "1"),
        os.environ.get("PYACLNN_TEST_RANDOM", str(count)),
    ]


@pytest.mark.parametrize("mode", ["auto", "async"])
def test_phase_one(built: Path, mode: str) -> None:
    """Calls with broken arguments: no odd code, no touched output, nothing outside memory."""
    run_program(built / "phase_one", seed_and_count(10000), environment={"PYACLNN_STREAM": mode})


def test_engine(built: Path, native: Native) -> None:
    """Engine problems with overwritten words, on every kernel level of this machine."""
    for level in native.levels():
        print(f"level {level}")
        run_program(built / "engine", seed_and_count(6000), environment={"PYACLNN_ISA": level})


def test_engine_overlap(built: Path) -> None:
    """An output over memory that is read late does not lead the engine out of its buffers."""
    run_program(built / "engine", ["overlap"])


@pytest.mark.parametrize("mode", ["auto", "async", "lazy"])
@pytest.mark.parametrize(
    "scenario", ["destroyed", "resets", "contexts", "repeated", "switches", "memory"]
)
def test_lifetimes(built: Path, scenario: str, mode: str) -> None:
    """Objects that end while others use them."""
    environment = {"PYACLNN_STREAM": mode, "PYACLNN_DEVICE_COUNT": "4"}
    run_program(built / "lifetimes", [scenario], environment=environment, timeout=60)


@pytest.mark.parametrize("mode", ["auto", "async", "blocking", "lazy"])
def test_graphs(built: Path, mode: str) -> None:
    """Streams, events and callbacks that wait for each other without a cycle: none hangs or is
    refused, and the order holds."""
    run_program(built / "graphs", seed_and_count(400), environment={"PYACLNN_STREAM": mode})
