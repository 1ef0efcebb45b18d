"""The runtime library by itself: starts the programs of this folder and checks what they print."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from native_programs import compile_program, library_folder, run_program, sanitizers

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with all programs."""
    folder = tmp_path_factory.mktemp("acl")
    for name in ("rows", "init", "async", "hammer", "ends", "waits"):
        compile_program([HERE / f"{name}.cpp"], folder / name, ["ascendcl"])
    compile_program(
        [HERE / "plug_in.cpp"], folder / "plug_in", ["hccl", "acl_op_compiler", "ascendcl"]
    )
    compile_program([HERE / "one_winner.cpp"], folder / "one_winner", ["nnopbase", "ascendcl"])
    return folder


def under_tsan() -> bool:
    return "thread" in sanitizers(library_folder() / "libascendcl.so")


def test_rows(built: Path) -> None:
    """The interface's own test table."""
    run_program(built / "rows")


@pytest.mark.parametrize(
    "which", ["repeat", "finalize_first", "files", "good_file", "process_mode"]
)
def test_init(built: Path, tmp_path: Path, which: str) -> None:
    """aclInit and its configuration file."""
    run_program(built / "init", [which, str(tmp_path)])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PYACLNN_PRODUCT", "atlas-9000"),
        ("PYACLNN_NUM_THREADS", "many"),
        ("PYACLNN_NUM_THREADS", "0"),
        ("PYACLNN_STREAM", "sometimes"),
        ("PYACLNN_DEVICE_COUNT", "-1"),
    ],
)
def test_unusable_variable(built: Path, tmp_path: Path, name: str, value: str) -> None:
    """aclInit refuses an environment that makes no sense, and says which part."""
    environment = {name: value, "BAD_NAME": name}
    run_program(built / "init", ["bad_variable", str(tmp_path)], environment=environment)


@pytest.mark.parametrize("mode", ["auto", "async", "lazy"])
def test_rows_in_mode(built: Path, mode: str) -> None:
    """The table once more in every mode of the streams, one with a single thread."""
    run_program(built / "rows", environment={"PYACLNN_STREAM": mode})


def test_rows_with_one_thread(built: Path) -> None:
    run_program(built / "rows", environment={"PYACLNN_NUM_THREADS": "1"})


def test_plug_in(built: Path) -> None:
    """What framework plug-ins ask for on top."""
    run_program(built / "plug_in")


def test_async(built: Path) -> None:
    """Order, modes, events across streams, sticky errors, memory in stream order."""
    run_program(built / "async")


def test_hammer(built: Path) -> None:
    """Many threads at once, stale and forged handles."""
    run_program(built / "hammer", ["60" if under_tsan() else "400"])


@pytest.mark.parametrize(
    "which",
    ["fork", "fork_storm", "finalize", "exit", "exit_in_callback", "exit_from_callback"],
)
def test_ends(built: Path, which: str) -> None:
    """Fork, finalize and exit with work under way."""
    if which.startswith("fork") and under_tsan():
        pytest.skip("the thread sanitizer does not follow a fork with several threads")
    if which == "fork_storm" and "address" in sanitizers(library_folder() / "libascendcl.so"):
        pytest.skip("the sanitizer's allocator keeps a lock that another thread held at the fork")
    run_program(built / "ends", [which], timeout=120)


@pytest.mark.parametrize(
    "which",
    [
        "queries",
        "own_stream",
        "own_report",
        "many_callbacks",
        "blocking",
        "force",
        "fork_events",
        "fork_in_callback",
    ],
)
def test_waits(built: Path, which: str) -> None:
    """No call waits for what nobody can do."""
    if which.startswith("fork") and under_tsan():
        pytest.skip("the thread sanitizer does not follow a fork with several threads")
    run_program(built / "waits", [which], timeout=120)


def test_one_winner(built: Path) -> None:
    """An executor is run or destroyed, never both."""
    run_program(built / "one_winner", ["200" if under_tsan() else "2000"], timeout=120)


def test_unload(tmp_path: Path) -> None:
    """dlopen and dlclose, from plain C."""
    program = compile_program([HERE / "unload.c"], tmp_path / "unload", [], flags=["-Wno-pedantic"])
    run_program(program, [str(library_folder() / "libascendcl.so")])


def test_mixture(built: Path, tmp_path: Path) -> None:
    """A library of another build is noticed when it is loaded."""
    source = tmp_path / "other.cpp"
    source.write_text('#include "acl/build_guard.hpp"\n')
    other = compile_program(
        [source],
        tmp_path / "libother.so",
        ["ascendcl"],
        flags=["-shared", "-fPIC", '-DPYACLNN_BUILD_ID="another-build"'],
    )
    environment = dict(os.environ, LD_PRELOAD=str(other))
    if sanitizers(library_folder() / "libascendcl.so"):
        pytest.skip("a preloaded library would come before the sanitizer's own")
    done = subprocess.run(
        [str(built / "init"), "good_file", str(tmp_path)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "not ok 1 - a full file # got 500000, wanted 0" in done.stdout
    assert "another-build" in done.stderr
    assert "libother.so" in done.stderr
    assert "libascendcl.so" in done.stderr
