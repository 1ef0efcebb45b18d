"""What a program may rely on once it is warm: see steady.cpp."""

from __future__ import annotations

from pathlib import Path

import pytest
from native_programs import compile_program, library_folder, run_program, sanitizers

HERE = Path(__file__).resolve().parent
FOUND = sanitizers(library_folder() / "libascendcl.so")


@pytest.fixture(scope="module")
def steady(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program(
        [HERE / "steady.cpp"],
        tmp_path_factory.mktemp("steady") / "steady",
        ("opapi", "nnopbase", "ascendcl"),
        flags=[] if FOUND else ["-DCOUNT_ALLOCATIONS"],
    )


def test_no_allocations(steady: Path) -> None:
    """Both phases, in every mode of the streams, with and without kept tensors and executors."""
    if FOUND:
        pytest.skip("the sanitizer has the allocator")
    run_program(steady, ["memory", "25000"])


def test_idle_threads_take_no_time(steady: Path) -> None:
    """Streams are alive, and the threads of streams and pool have been at work."""
    run_program(steady, ["idle"])


def test_a_crowd_computes_the_same_bytes(steady: Path) -> None:
    """Threads, each with streams of its own and tiny and large calls, beside each other."""
    run_program(steady, ["crowd", "20" if FOUND else "200"])
