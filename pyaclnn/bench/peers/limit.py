"""The machine's own limits on the bytes and the arithmetic of a shape, by pyaclnn/limits.h."""

from __future__ import annotations

from typing import Any

import pyaclnn
from pyaclnn._ffi import ffi, lib
from pyaclnn.errors import check

from .peer import Offer, Variant
from .problem import Data
from .shape import MULTIPLY, READS

_MOST_FLOPS = 4e9  # of one run; the rest is proportion


class Limit:
    def __init__(self) -> None:
        pyaclnn.get_isa()  # loads the libraries, or says why not

    def versions(self) -> str:
        return f"level {pyaclnn.get_isa()}, {pyaclnn.get_threads()} threads"

    def offer(self, data: Data, wanted: tuple[str, ...]) -> Offer:
        s = data.shape
        took = ffi.new("double *")
        parts = [data.k] if s.latent else [data.k, data.v]
        buffers = ffi.new("void *[]", [ffi.cast("void *", a.ctypes.data) for a in parts])
        sizes = ffi.new("size_t[]", [a.nbytes for a in parts])

        def read(way: int) -> Variant:
            def run() -> None:
                check(
                    lib.pyaclnnLimitRead(way, buffers, sizes, len(parts), took), "pyaclnnLimitRead"
                )

            return Variant(run, seconds=lambda: float(took[0]))

        def multiply(kind: int) -> Variant:
            flops = min(s.flops, _MOST_FLOPS)

            def run() -> None:
                check(lib.pyaclnnLimitMultiply(kind, flops, took), "pyaclnnLimitMultiply")

            return Variant(run, times=s.flops / flops, seconds=lambda: float(took[0]))

        offer = Offer({name: read(way) for way, name in enumerate(READS)})
        # fp16 is computed in float32; so is bf16 where there is no instruction for it.
        dots: Any = lib.PYACLNN_LIMIT_BF16_DOT
        if s.dtype == "bf16" and lib.pyaclnnLimitMultiply(dots, 1.0, took) == 0:
            offer.variants[MULTIPLY] = multiply(dots)
        else:
            offer.variants[MULTIPLY] = multiply(lib.PYACLNN_LIMIT_FLOAT32)
        return offer


def make(threads: int) -> Limit:
    return Limit()
