"""Starts the engine's native check."""

from __future__ import annotations

from pathlib import Path

from native_programs import compile_program, run_program

HERE = Path(__file__).resolve().parent


def test_engine(tmp_path: Path) -> None:
    """Every field on every kernel level of this machine, invariance of the bytes, refusals."""
    program = compile_program(
        [HERE / "native_check.cpp"], tmp_path / "native_check", ("opapi", "nnopbase", "ascendcl")
    )
    assert run_program(program, timeout=1200).passed
