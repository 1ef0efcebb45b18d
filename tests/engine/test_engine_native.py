"""Starts the engine's native check, and looks for shared inline code in the kernel objects."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path

import pytest
from native_programs import REPOSITORY, compile_program, run_program

HERE = Path(__file__).resolve().parent
KERNELS = REPOSITORY / "native" / "kernels"
FLAGS = {"portable": [], "avx2": ["-mavx2", "-mfma", "-mf16c"]}
# What a kernel may take from outside: the compiler's own helpers.
ALLOWED = {"memcpy", "memset", "memmove", "_GLOBAL_OFFSET_TABLE_", "__stack_chk_fail"}


def test_engine(tmp_path: Path) -> None:
    """Every field on every kernel level of this machine, invariance of the bytes, refusals."""
    program = compile_program(
        [HERE / "native_check.cpp"], tmp_path / "native_check", ("opapi", "nnopbase", "ascendcl")
    )
    assert run_program(program, timeout=1200).passed


@pytest.mark.parametrize("level", sorted(FLAGS))
@pytest.mark.parametrize("optimise", ["-O0", "-O3"])
def test_kernel_symbols(level: str, optimise: str, tmp_path: Path) -> None:
    """A kernel object has no weak symbol: the linker could keep the widest level's copy of it."""
    if level != "portable" and platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip(f"the {level} level is for x86-64")
    compiler = os.environ.get("CXX", "c++")
    target = tmp_path / f"{level}.o"
    subprocess.run(
        [
            compiler,
            "-std=c++20",
            optimise,
            "-fPIC",
            "-fno-exceptions",
            "-Wno-psabi",
            *FLAGS[level],
            "-c",
        ]
        + [f"-I{REPOSITORY / 'native'}", str(KERNELS / f"{level}.cpp"), "-o", str(target)],
        check=True,
        timeout=300,
    )
    listing = subprocess.run(
        ["nm", "-P", str(target)], capture_output=True, text=True, check=True, timeout=60
    )
    foreign = set()
    for line in listing.stdout.splitlines():
        name, kind = line.split()[:2]
        if kind not in "tTrRdDbB" and not (kind == "U" and name in ALLOWED):
            foreign.add(f"{kind} {name}")
        if kind in "TRDB" and name != f"pyaclnn_kernels_{level}":
            foreign.add(f"{kind} {name}")
    assert not foreign
