"""Starts the engine's native check, and looks for shared inline code in the kernel objects."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path

import pytest
from native_programs import REPOSITORY, compile_program, run_program, start

HERE = Path(__file__).resolve().parent
KERNELS = REPOSITORY / "native" / "kernels"
BUILD = (REPOSITORY / "CMakeLists.txt").read_text()
#: Level -> the flags of its own that its file is compiled with.
LEVELS = {"portable": list[str]()} | {
    level: flags.split(";")
    for level, flags in re.findall(
        r"set_source_files_properties\(native/kernels/(\w+)\.cpp PROPERTIES\s+"
        r'COMPILE_OPTIONS "([^"]+)"\)',
        BUILD,
    )
}
#: General flags of the library's files that change the code.
GENERAL = re.findall(
    r"-f(?!sanitize|no-omit)[\w-]+(?:=\w+)?",
    " ".join(re.findall(r"target_compile_options\((?:\$\{name\}|opapi) PRIVATE ([^$)]*)", BUILD)),
)
# What a kernel may take from outside: the compiler's own helpers.
ALLOWED = {"memcpy", "memset", "memmove", "_GLOBAL_OFFSET_TABLE_", "__stack_chk_fail"}


def test_engine(tmp_path: Path) -> None:
    """Every field on every kernel level of this machine, invariance of the bytes, refusals."""
    program = compile_program(
        [HERE / "native_check.cpp"], tmp_path / "native_check", ("opapi", "nnopbase", "ascendcl")
    )
    assert run_program(program, timeout=1200).passed


def test_flags_are_found() -> None:
    """Each file that exports kernels is among the levels, with the flags of CMakeLists.txt."""
    exporting = {
        path.stem
        for path in KERNELS.glob("*.cpp")
        if f"pyaclnn_kernels_{path.stem}" in path.read_text()
    }
    assert set(LEVELS) == exporting
    assert len(LEVELS) - 1 == BUILD.count("set_source_files_properties(native/kernels/")
    assert {"-fno-rtti", "-fno-exceptions", "-ffp-contract=off"} <= set(GENERAL)


# Compiled without inlining, functions that could be shared show as weak symbols.
@pytest.mark.parametrize("level", sorted(LEVELS))
@pytest.mark.parametrize("optimise", [("-O0",), ("-O1", "-fno-inline"), ("-O3",)], ids="-".join)
def test_kernel_symbols(level: str, optimise: tuple[str, ...], tmp_path: Path) -> None:
    """A kernel object has no weak symbol: the linker could keep the widest level's copy of it."""
    if level != "portable" and platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip(f"the {level} level is for x86-64")
    target = tmp_path / f"{level}.o"
    done = start(
        *(os.environ.get("CXX", "c++"), "-std=c++20", "-fPIC", "-Wno-psabi", *GENERAL),
        *(*LEVELS[level], *optimise, f"-I{REPOSITORY / 'native'}", f"-I{REPOSITORY / 'include'}"),
        *("-c", KERNELS / f"{level}.cpp", "-o", target),
    )
    assert done.returncode == 0, done.stderr
    listing = start("nm", "-P", target)
    assert listing.returncode == 0, listing.stderr
    foreign = set()
    for line in listing.stdout.splitlines():
        name, kind = line.split()[:2]
        if kind not in "tTrRdDbB" and not (kind == "U" and name in ALLOWED):
            foreign.add(f"{kind} {name}")
        if kind in "TRDB" and name != f"pyaclnn_kernels_{level}":
            foreign.add(f"{kind} {name}")
    assert not foreign
