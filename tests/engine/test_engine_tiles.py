"""The level amx_bf16 on processors that need not have AMX: its text on a model of the tiles, and
its object with the instructions trapped. Whatever else runs on all levels of a machine takes it in
where the processor has it."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path

import pytest
from native_programs import REPOSITORY, compile_program, run_program

from engine.engine_cases import library
from engine.test_kernel_objects import LEVELS, compiled, disassembly, tool

HERE = Path(__file__).resolve().parent
AMX = "amx_bf16"

pytestmark = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="tiles are x86-64's"
)


def test_products_by_tiles(tmp_path: Path) -> None:
    """All edges of rows, keys, columns and of what rows see, against float64 and avx512_bf16."""
    if "avx512_bf16" not in library().levels():
        pytest.skip("what the tiles are compared with needs AVX-512 with BF16")
    flags = ("-ffp-contract=off", "-fno-sanitize=undefined", "-Wno-psabi", "-Wno-unused-function")
    program = compile_program(
        [HERE / "tiles_check.cpp", REPOSITORY / "native" / "kernels" / f"{AMX}.cpp"],
        tmp_path / "tiles_check",
        (),
        flags=(*flags, *LEVELS[AMX].flags),
    )
    every = "5" if "PYACLNN_TEST_CAPPED" in os.environ else "1"
    run_program(program, [every], timeout=1800)


#: Feature names in /proc/cpuinfo that a level needs.
FEATURES = {
    "avx2": {"avx2", "fma", "f16c"},
    "avx512": {"avx512f", "avx512bw", "avx512vl", "avx512dq"},
    "avx512_bf16": {"avx512_bf16"},
    AMX: {"amx_tile", "amx_bf16"},
}


def test_levels_are_those_of_the_processor() -> None:
    """Each level needs what the ones below it need. Linux names what it lets processes use."""
    line = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    if line is None:
        pytest.skip("no list of features")
    has, expected = set(line[1].split()), list[str]()
    for level, features in FEATURES.items():
        if not features <= has:
            break
        expected.insert(0, level)
    assert library().levels() == [*expected, "portable", "reference"]


WORDS = """
#include <immintrin.h>
#include <stdint.h>
#include "kernels/vec.hpp"
#include "kernels/tiles_amx.hpp"
extern "C" void words(const char *from, char *to, int64_t stride) {
  tiles_shape(from);
  tile_load<1>(from, stride);
  tile_load<2>(from, stride);
  tile_zero<3>();
  tile_dot<3, 1, 2>();
  tile_save<3>(to, stride);
  tiles_release();
}
extern "C" void intrinsics(const char *from, char *to, int64_t stride) {
  _tile_loadconfig(from);
  _tile_loadd(1, from, stride);
  _tile_loadd(2, from, stride);
  _tile_zero(3);
  _tile_dpbf16ps(3, 1, 2);
  _tile_stored(3, to, stride);
  _tile_release();
}
"""


@pytest.mark.skipif("PYACLNN_TEST_SANITIZER" in os.environ, reason="about code, not what runs")
def test_words_are_the_intrinsics(tmp_path: Path) -> None:
    """The assembly of tiles_amx.hpp has the operands in the order of the compiler's intrinsics."""
    source = tmp_path / "words.cpp"
    source.write_text(WORDS)
    machine = platform.machine()
    flags = ("-O2", *LEVELS[AMX].flags)
    target = compiled(tool("g++", machine) or "c++", source, tmp_path / "words.o", flags)
    parts = re.split(r"^[0-9a-f]+ <(\w+)>:$", disassembly(target, machine), flags=re.MULTILINE)
    code = {
        name: re.findall(r"\b(?:tile|ldtile|tdp).*$", body, re.MULTILINE)
        for name, body in zip(parts[1::2], parts[2::2], strict=True)
    }
    assert len(code["words"]) == 7
    assert code["words"] == code["intrinsics"]
