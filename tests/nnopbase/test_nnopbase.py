"""Starts the programs of this folder and checks what they print."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from native_programs import (
    Report,
    compile_program,
    library_folder,
    run_program,
    sanitizers,
    start,
)

HERE = Path(__file__).resolve().parent
LIBRARIES = ("nnopbase", "ascendcl")


def build_and_run(name: str, folder: Path, **environment: str) -> Report:
    program = compile_program([HERE / f"{name}.cpp"], folder / name, LIBRARIES)
    return run_program(program, environment=environment)


def test_meta(tmp_path: Path) -> None:
    """Tensors, scalars, arrays, lists."""
    build_and_run("meta", tmp_path)


def test_what_is_kept_is_no_leak(tmp_path: Path) -> None:
    if sanitizers(library_folder() / "libascendcl.so"):
        pytest.skip("libraries without sanitizers are meant")
    program = compile_program(
        [HERE / "leaks.cpp"], tmp_path / "leaks", LIBRARIES, flags=["-fsanitize=address"]
    )
    done = start(program, environment=os.environ | {"ASAN_OPTIONS": "detect_leaks=1"})
    if "LeakSanitizer has encountered a fatal error" in done.stderr:
        pytest.skip("LeakSanitizer does not run here")
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def executors(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return build_and_run("executors", tmp_path_factory.mktemp("executors"))


def test_executors(executors: Report) -> None:
    """Both phases, lifetime, threads (the program's own lines)."""
    assert executors.passed


def test_explanation(executors: Report) -> None:
    """The explanation is JSON, with every failing rule and hostile bytes escaped."""
    [text] = [note[8:] for note in executors.notes if note.startswith("explain ")]
    explanation = json.loads(text)
    assert explanation["function"] == "testSumGetWorkspaceSize"
    assert explanation["product"] == "atlas-a2"
    assert explanation["code"] == 161001
    assert explanation["rule"] == "SUM-PTR-SOURCE"
    assert [(f["rule"], f["code"], f["parameter"]) for f in explanation["findings"]] == [
        ("SUM-PTR-SOURCE", 161001, "source"),
        ("SUM-PTR-OUT", 161001, "out"),
        ("SUM-LABEL", 561002, "label"),
    ]
    label = explanation["findings"][2]
    assert label["value"] == 'a"b\\c\n\x01 \xe4 \ufffd|'
    assert label["limit"] == 'no "label"'
    assert label["text"] == (
        f'testSumGetWorkspaceSize: label: {label["value"]}, no "label"'
        " [rule SUM-LABEL, product Atlas A2]"
    )
    assert [u["rule"] for u in explanation["unevaluated"]] == [
        "SUM-DTYPE",
        "SUM-SHAPE",
        "SUM-RANK",
    ]
    assert all(u["parameter"] and u["why"] for u in explanation["unevaluated"])


@pytest.mark.parametrize("library", ["libnnopbase.so", "libopapi.so"])
def test_reload(library: str, tmp_path: Path) -> None:
    """Closing and opening the libraries again, with threads that live on."""
    program = compile_program([HERE / "reload.cpp"], tmp_path / "reload", (), flags=["-ldl"])
    run_program(program, [str(library_folder() / library)])
