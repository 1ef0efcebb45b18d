"""pyaclnn/limits.h: reads stay inside the buffers, work follows the numbers, refusals say why."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
from guarded import PLACES, Block

import pyaclnn
from pyaclnn._ffi import NULL, ffi, lib

LEVELS = [level for level in pyaclnn.isa_levels() if level != "reference"]
WAYS = (
    lib.PYACLNN_LIMIT_READ_PLAIN,
    lib.PYACLNN_LIMIT_READ_AHEAD_L2,
    lib.PYACLNN_LIMIT_READ_AHEAD_L1,
)


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    threads, isa = pyaclnn.get_threads(), pyaclnn.get_isa()
    yield
    pyaclnn.set_threads(threads)
    pyaclnn.set_isa(isa)


def text() -> str:
    return str(ffi.string(lib.aclGetRecentErrMsg()).decode())


def read(way: int, *blocks: Block) -> float:
    seconds = ffi.new("double *", math.nan)
    buffers = ffi.new("void *[]", [ffi.cast("void *", block.address) for block in blocks])
    sizes = ffi.new("size_t[]", [block.size for block in blocks])
    assert lib.pyaclnnLimitRead(way, buffers, sizes, len(blocks), seconds) == 0
    return float(seconds[0])


def multiply(kind: int, flops: float) -> tuple[int, float]:
    seconds = ffi.new("double *", math.nan)
    return lib.pyaclnnLimitMultiply(kind, flops, seconds), float(seconds[0])


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("place", PLACES)
def test_reads_nothing_else(level: str, threads: int, place: str) -> None:
    pyaclnn.set_isa(level)
    pyaclnn.set_threads(threads)
    for way in WAYS:
        for size in (0, 1, 15, 64, 255, 256, 257, 4096 + 17):
            assert read(way, Block(size, place), Block(size + 1, place)) >= 0
        assert read(way) >= 0


def test_more_takes_longer() -> None:
    pyaclnn.set_threads(1)  # waking one costs more than reading a page
    small, large = Block(1 << 12), Block(1 << 24)
    for way in WAYS:
        assert min(read(way, large) for _ in range(3)) > 20 * min(
            read(way, small) for _ in range(9)
        )


@pytest.mark.parametrize("level", LEVELS)
def test_multiplies_as_much_as_asked(level: str) -> None:
    pyaclnn.set_isa(level)
    pyaclnn.set_threads(1)
    for kind in (lib.PYACLNN_LIMIT_FLOAT32, lib.PYACLNN_LIMIT_BF16_DOT):
        status, _ = multiply(kind, 1.0)
        if kind == lib.PYACLNN_LIMIT_BF16_DOT and status != 0:
            assert status == 100000
            assert "the kernel level in force has no bf16 dot product" in text()
            continue
        assert status == 0
        # The best of many: whoever else runs here only makes single ones longer.
        little = min(multiply(kind, 1e7)[1] for _ in range(200))
        much = min(multiply(kind, 1e8)[1] for _ in range(20))
        assert 7 < much / little < 13
        # Neither is any machine's core so slow, nor so fast.
        assert 1e9 < 1e8 / much < 1e12


def refusals() -> list[tuple[str, Any]]:
    out = ffi.new("double *")
    one, size = ffi.new("void *[]", [NULL]), ffi.new("size_t[]", [1])
    read, multiply = lib.pyaclnnLimitRead, lib.pyaclnnLimitMultiply
    return [
        ("way: is 3, accepted: 0 .. 2", lambda: read(3, one, size, 1, out)),
        ("way: is -1, accepted: 0 .. 2", lambda: read(-1, one, size, 1, out)),
        ("buffers: is NULL", lambda: read(0, NULL, size, 1, out)),
        ("bytes: is NULL", lambda: read(0, one, NULL, 1, out)),
        ("seconds: is NULL", lambda: read(0, one, size, 1, NULL)),
        ("seconds: is NULL", lambda: read(0, NULL, NULL, 0, NULL)),
        ("buffers[0]: is NULL", lambda: read(0, one, size, 1, out)),
        ("kind: is 2, accepted: 0 float32, 1 bf16", lambda: multiply(2, 1.0, out)),
        ("flops: is 0, must be above 0", lambda: multiply(0, 0.0, out)),
        ("flops: is nan, must be above 0", lambda: multiply(0, math.nan, out)),
        ("flops: is 1e+16, must be", lambda: multiply(0, 1e16, out)),
        ("seconds: is NULL", lambda: multiply(0, 1.0, NULL)),
    ]


def test_refusals() -> None:
    for wanted, call in refusals():
        assert call() == 100000
        assert wanted in text()
