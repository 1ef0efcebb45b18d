"""Encoding and decoding of the sixteen-bit formats, without any third-party number type.

float16 values live in ``numpy.float16`` arrays, bfloat16 values in ``numpy.uint16`` arrays that
hold the upper half of a float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Float64 = npt.NDArray[np.float64]

#: Cell type name -> (numpy type of the memory, ACL data type number, bytes of one element).
TYPES: dict[str, tuple[str, int, int]] = {
    "f32": ("float32", 0, 4),
    "f16": ("float16", 1, 2),
    "i8": ("int8", 2, 1),
    "i32": ("int32", 3, 4),
    "u8": ("uint8", 4, 1),
    "i16": ("int16", 6, 2),
    "u16": ("uint16", 7, 2),
    "u32": ("uint32", 8, 4),
    "i64": ("int64", 9, 8),
    "u64": ("uint64", 10, 8),
    "f64": ("float64", 11, 8),
    "bool": ("uint8", 12, 1),
    "bf16": ("uint16", 27, 2),
    "i4": ("int8", 29, 1),
}

FLOATS = frozenset({"f16", "bf16", "f32", "f64"})

_LARGEST = {"f16": 65504.0, "bf16": float.fromhex("0x1.fep127")}


def largest(kind: str) -> float:
    """Largest finite value of a sixteen-bit format."""
    return _LARGEST[kind]


def bf16_encode(values: npt.ArrayLike) -> npt.NDArray[np.uint16]:
    """Round to bfloat16, nearest even, in one step from float64."""
    exact = np.asarray(values, np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        single = np.asarray(exact.astype(np.float32))
    # float64 -> float32 -> bfloat16 would round twice. Rounding the first step to odd keeps the
    # information whether the exact value lay above or below a tie of the second step.
    bits = single.view(np.uint32).copy()
    finite = np.isfinite(single)
    wide = single.astype(np.float64)
    inexact = finite & (wide != exact)
    beyond = inexact & (np.abs(wide) > np.abs(exact))
    bits = np.where(beyond, bits - np.uint32(1), bits)
    bits = np.where(inexact, bits | np.uint32(1), bits).astype(np.uint32)
    round_up = np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    rounded = ((bits + round_up) >> np.uint32(16)).astype(np.uint16)
    quiet = ((bits >> np.uint32(16)) | np.uint32(0x40)).astype(np.uint16)
    result: npt.NDArray[np.uint16] = np.where(np.isnan(single), quiet, rounded).astype(np.uint16)
    return result


def bf16_decode(bits: npt.ArrayLike) -> Float64:
    wide = np.asarray(bits, np.uint16).astype(np.uint32) << np.uint32(16)
    return np.asarray(wide.view(np.float32), np.float64)


def encode(values: npt.ArrayLike, kind: str) -> Array:
    """Values -> memory of the given cell type (floats to nearest even)."""
    if kind == "bf16":
        return bf16_encode(values)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(values).astype(TYPES[kind][0])


def decode(memory: Array, kind: str) -> Array:
    """Memory -> float64 for the floating formats; integers stay as they are."""
    if kind == "bf16":
        return bf16_decode(memory)
    if kind in FLOATS:
        return np.asarray(memory, np.float64)
    return memory


def round_trip(values: npt.ArrayLike, kind: str) -> Array:
    """The nearest values that the cell type can hold."""
    return decode(encode(values, kind), kind)


def f16_even(values: npt.ArrayLike) -> Float64:
    """Round to float16, nearest even."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(values, np.float64).astype(np.float16).astype(np.float64)


def f16_away(values: npt.ArrayLike) -> Float64:
    """Round to float16, ties away from zero."""
    exact = np.asarray(values, np.float64)
    near = f16_even(exact)
    with np.errstate(invalid="ignore", over="ignore"):
        towards = np.where(exact > near, np.inf, -np.inf).astype(np.float16)
        other = np.nextafter(near.astype(np.float16), towards).astype(np.float64)
        tie = np.isfinite(near) & (exact != near) & (np.abs(exact - near) == np.abs(exact - other))
    return np.where(tie & (np.abs(other) > np.abs(near)), other, near)


def round_half_away(values: npt.ArrayLike) -> Float64:
    """Round to an integer, ties away from zero."""
    exact = np.asarray(values, np.float64)
    return np.copysign(np.floor(np.abs(exact) + 0.5), exact)
