"""ATB's operations: starts the programs of this folder and checks what they print."""

from __future__ import annotations

from pathlib import Path

from native_programs import compile_program, run_program

HERE = Path(__file__).resolve().parent


def build_and_run(name: str, folder: Path) -> None:
    """A program as a user of ATB builds it."""
    program = compile_program([HERE / f"{name}.cpp"], folder / name, ["atb", "ascendcl"])
    run_program(program)


def test_reshape_and_cache(tmp_path: Path) -> None:
    build_and_run("reshape_and_cache", tmp_path)
