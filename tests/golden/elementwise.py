"""What elementwise operators give, in float64, Python's rules and tables written out.

Kinds are named as in `tensor_calls.KINDS`. Values are numpy arrays of float64, int64, bool or
complex128; `encode` and `decode` lead to and from memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from golden import formats

Array = npt.NDArray[Any]

ORDER = "bool u8 i8 i16 i32 i64 f16 bf16 f32 f64 c64 c128".split()
#: The kind that two have in common (the published table of torch.promote_types).
COMMON = {
    "bool": "bool u8 i8 i16 i32 i64 f16 bf16 f32 f64 c64 c128",
    "u8": "u8 u8 i16 i16 i32 i64 f16 bf16 f32 f64 c64 c128",
    "i8": "i8 i16 i8 i16 i32 i64 f16 bf16 f32 f64 c64 c128",
    "i16": "i16 i16 i16 i16 i32 i64 f16 bf16 f32 f64 c64 c128",
    "i32": "i32 i32 i32 i32 i32 i64 f16 bf16 f32 f64 c64 c128",
    "i64": "i64 i64 i64 i64 i64 i64 f16 bf16 f32 f64 c64 c128",
    "f16": "f16 f16 f16 f16 f16 f16 f16 f32 f32 f64 c64 c128",
    "bf16": "bf16 bf16 bf16 bf16 bf16 bf16 f32 bf16 f32 f64 c64 c128",
    "f32": "f32 f32 f32 f32 f32 f32 f32 f32 f32 f64 c64 c128",
    "f64": "f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 c128 c128",
    "c64": "c64 c64 c64 c64 c64 c64 c64 c64 c64 c128 c64 c128",
    "c128": "c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128",
}
COMMON_OF = {(a, b): row.split()[i] for a, row in COMMON.items() for i, b in enumerate(ORDER)}

INTEGERS = "u8 i8 i16 i32 i64".split()
FLOATS = "f16 bf16 f32 f64".split()
COMPLEX = "c64 c128".split()
BITS = {"u8": 8, "i8": 8, "i16": 16, "i32": 32, "i64": 64}
#: Significant bits, and the exponent of the smallest normal number.
FORMAT = {"f16": (11, -14), "bf16": (8, -126), "f32": (24, -126), "f64": (53, -1022)}


def category(kind: str) -> int:
    """bool, integers, floats, complex."""
    if kind == "bool":
        return 0
    return 1 if kind in INTEGERS else 2 if kind in FLOATS else 3


def holds(result: str, out: str) -> bool:
    """Whether a result may be written as another kind."""
    if category(result) == 0:
        return True
    return category(out) >= category(result) and out != "bool"


def decode(memory: Array, kind: str) -> Array:
    if kind == "bool":
        return np.asarray(memory != 0)
    if kind == "bf16":
        return formats.bf16_decode(memory)
    if kind in FLOATS:
        return memory.astype(np.float64)
    return memory.astype(np.complex128 if kind in COMPLEX else np.int64)


def encode(values: Array, kind: str) -> Array:
    """Rounded once, or wrapped around."""
    with np.errstate(all="ignore"):
        if kind == "bool":
            return np.asarray(values != 0).astype(np.uint8)
        if kind in COMPLEX:
            return np.asarray(values).astype("complex64" if kind == "c64" else "complex128")
        real = np.real(values) if np.iscomplexobj(values) else np.asarray(values)
        if kind in INTEGERS:
            if real.dtype.kind == "f":
                real = np.trunc(real).astype(np.int64)
            bits = real.astype(np.int64).astype(np.uint64) & np.uint64(2 ** BITS[kind] - 1)
            signed = "uint8" if kind == "u8" else f"int{BITS[kind]}"
            return np.asarray(bits.astype(f"uint{BITS[kind]}").view(signed))
        if kind == "bf16":
            return formats.bf16_encode(real.astype(np.float64))
        return np.asarray(real).astype({"f16": "float16", "f32": "float32", "f64": "float64"}[kind])


def convert(values: Array, source: str, target: str) -> Array:
    """As values of the target kind."""
    if (category(source) == 1 or source in ("f64", "c128")) and target in ("f16", "bf16"):
        # They become float32 first, as in C and torch.
        if np.iscomplexobj(values):
            values = values.real
        values = values.astype(np.float32)
    return decode(encode(values, target), target)


def spacing(values: Array, kind: str) -> Array:
    """The distance of neighbours in a format at each value."""
    digits, smallest = FORMAT[kind]
    with np.errstate(all="ignore"):
        exponent = np.floor(np.log2(np.maximum(np.abs(values), 2.0**smallest)))
    return np.asarray(2.0 ** (exponent - digits + 1))


def floor_mod(a: Array, b: Array) -> Array:
    with np.errstate(all="ignore"):
        return np.asarray(np.remainder(a, b))


UNARY: Mapping[str, Callable[[Any], Any]] = {
    "Neg": lambda x: -x,
    "Abs": np.abs,
    "Ceil": lambda x: x if x.dtype.kind == "i" else np.ceil(x),
    "Floor": lambda x: x if x.dtype.kind == "i" else np.floor(x),
    "Trunc": lambda x: x if x.dtype.kind == "i" else np.trunc(x),
    "Round": lambda x: x if x.dtype.kind == "i" else np.rint(x),
    "Sqrt": np.sqrt,
    "Rsqrt": lambda x: 1 / np.sqrt(x),
    "Reciprocal": lambda x: 1 / x,
    "Exp": np.exp,
    "Exp2": np.exp2,
    "Expm1": np.expm1,
    "Log": np.log,
    "Log2": np.log2,
    "Log10": np.log10,
    "Log1p": np.log1p,
    "Sin": np.sin,
    "Cos": np.cos,
    "Tan": np.tan,
    "Tanh": np.tanh,
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "Silu": lambda x: x / (1 + np.exp(-x)),
    "Relu": lambda x: np.where(x < 0, np.zeros_like(x), x),
}
#: Rounded correctly; the others to within a few units of the format.
EXACT = "Neg Abs Ceil Floor Trunc Round Sqrt Relu".split()
#: Of real numbers, integers stay integers.
WHOLE = "Neg Abs Ceil Floor Trunc Round Relu".split()

BINARY: Mapping[str, Callable[[Any, Any], Any]] = {
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
    "Div": lambda a, b: a / b,
    "Maximum": np.maximum,
    "Minimum": np.minimum,
}
COMPARISON: Mapping[str, Callable[[Any, Any], Any]] = {
    "Eq": np.equal,
    "Ne": np.not_equal,
    "Gt": np.greater,
    "Ge": np.greater_equal,
    "Lt": np.less,
    "Le": np.less_equal,
}
LOGICAL: Mapping[str, Callable[[Any, Any], Any]] = {
    "And": lambda a, b: (a != 0) & (b != 0),
    "Or": lambda a, b: (a != 0) | (b != 0),
    "Xor": lambda a, b: (a != 0) ^ (b != 0),
}
BITWISE: Mapping[str, Callable[[Any, Any], Any]] = {
    "And": np.bitwise_and,
    "Or": np.bitwise_or,
    "Xor": np.bitwise_xor,
}


def samples(rng: np.random.Generator, shape: tuple[int, ...], kind: str) -> Array:
    """Memory with ordinary values and the ones that need care."""
    if kind == "bool":
        return rng.integers(0, 2, shape).astype(np.uint8)
    if kind in INTEGERS:
        low, high = (0, 256) if kind == "u8" else (-(2 ** (BITS[kind] - 1)), 2 ** (BITS[kind] - 1))
        values = rng.integers(low, high, shape, dtype=np.int64)
        small = rng.integers(0 if kind == "u8" else -5, 6, shape)
        return encode(np.where(rng.random(shape) < 0.5, small, values), kind)
    values = rng.standard_normal(shape) * 2.0 ** rng.integers(-6, 7, shape)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, 2.5, 1e-7, 70000.0])
    values = np.where(rng.random(shape) < 0.2, rng.choice(special, shape), values)
    if kind in COMPLEX:
        return encode(rng.standard_normal(shape) + 1j * rng.standard_normal(shape), kind)
    return encode(values, kind)


def matches(memory: Array, wanted: Array, kind: str, units: float = 0.5) -> None:
    """The memory holds `wanted` (float64, not rounded yet), rounded to within `units` of the
    format's spacing; 0.5 is correct rounding."""
    if kind not in FLOATS:
        np.testing.assert_array_equal(decode(memory, kind), decode(encode(wanted, kind), kind))
        return
    exact = decode(encode(wanted, kind), kind)
    found = decode(memory, kind)
    special = ~np.isfinite(exact)
    if units == 0.5:
        np.testing.assert_array_equal(found, exact)
        return
    # Where rounding decides between the largest number and infinity both will do.
    near = np.isfinite(found) | special
    np.testing.assert_array_equal(
        found[special & ~np.isfinite(found)], exact[special & ~np.isfinite(found)]
    )
    error = np.abs(found - wanted)
    with np.errstate(invalid="ignore"):
        good = (error <= units * spacing(wanted, kind)) | ~np.isfinite(wanted) | special
    assert np.all(good & near), (found[~(good & near)], wanted[~(good & near)])
