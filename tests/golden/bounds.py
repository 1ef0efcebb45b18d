"""Error bounds of attention outputs, shared by the golden models of all operators.

The bounds follow from the data of each output element, so that a lost tile, a truncated result or
a wrong position fails although a fixed tolerance would let it pass. With p the normalised weights
of the visible positions and o the exact result:

* ``A = sum p|v|``, ``R = sqrt(sum p^2 v^2)``;
* ``T_t = |scale| sum_d |q k| + |bias|``: the size of what was summed up to the score;
* ``W = sum p T |v - o| + (sum p T)(sum p |v - o|)``: how float32 errors of the scores move o.

The factor of the term that stands for the last rounding is exactly one. The others, which bound
accumulated errors statistically, are allowed three times.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import formats

Float64 = npt.NDArray[np.float64]

SLACK = 3.0


@dataclass(frozen=True)
class Terms:
    """The sums of one or several rows; every member has the shape of the output."""

    o: Float64
    a: Float64
    r: Float64
    w: Float64

    @staticmethod
    def of_row(p: Float64, t: Float64, v: Float64) -> Terms:
        """One row: p and t of shape (L,), v of shape (L, D)."""
        o = p @ v
        size = np.abs(v)
        spread = np.abs(v - o)
        pt = p * t
        w = pt @ spread + float(pt.sum()) * (p @ spread)
        return Terms(o, p @ size, np.sqrt((p * p) @ (size * size)), w)

    @staticmethod
    def zeros(width: int) -> Terms:
        zero = np.zeros(width)
        return Terms(zero, zero, zero, zero)


def accumulated(terms: Terms, kind: str) -> Float64:
    """Bound of the float32 result before its last rounding; kind is the query's type."""
    if kind == "bf16":
        return SLACK * 2.0**-7 * terms.r
    return SLACK * (2.0**-19 * terms.a + 2.0**-24 * terms.w)


def rounded(terms: Terms, kind: str) -> Float64:
    """Bound of the result after the cast to the output format."""
    if kind == "bf16":
        last = 2.0**-8 * np.abs(terms.o)
    else:
        # The smallest step of float16 is 2^-24: below 2^-14 half of it is the rounding error.
        last = np.maximum(1.01 * 2.0**-11 * np.abs(terms.o), 2.0**-25)
        last = np.where(terms.a == 0, 0.0, last)
    return last + accumulated(terms, kind)


@dataclass(frozen=True)
class Expectation:
    """What an output may hold: every element in the closed interval [low, high].

    ``value`` is the golden value (NaN: the output must be NaN), ``bound`` half of the interval for
    float outputs; for int8 outputs low and high are the extreme admissible integers.
    """

    value: Float64
    low: Float64
    high: Float64
    kind: str

    @property
    def bound(self) -> Float64:
        return np.maximum(self.high - self.value, self.value - self.low)


def of_float(terms: Terms, kind: str) -> Expectation:
    bound = rounded(terms, kind)
    return Expectation(terms.o, terms.o - bound, terms.o + bound, kind)


def _saturate(values: Float64) -> Float64:
    return np.clip(values, -128, 127)


def quantise_tensor(o: Float64, scale: float, offset: float) -> Float64:
    """Per tensor: every step in float16, nearest even."""
    half_scale = formats.f16_even(scale)
    half_offset = formats.f16_even(offset)
    h = formats.f16_even(formats.f16_even(o) * half_scale)
    h = formats.f16_even(h + half_offset)
    return _saturate(np.rint(h))


def quantise_channel(r: Float64) -> Float64:
    """Per channel: r = o * scale + offset in float32; both roundings away from zero."""
    return _saturate(formats.round_half_away(formats.f16_away(r)))


def of_int8(
    terms: Terms, kind: str, scale: npt.ArrayLike, offset: npt.ArrayLike, per_channel: bool
) -> Expectation:
    """The admissible integers of a quantised output.

    Both ways are monotone in o, so the images of the ends of the interval of o enclose the set.
    """
    bound = accumulated(terms, kind)
    scales = np.asarray(scale, np.float64)
    offsets = np.asarray(offset, np.float64)
    if per_channel:
        exact = terms.o * scales + offsets
        # product and sum are rounded to float32
        slip = 2.0**-23 * (np.abs(terms.o * scales) + np.abs(offsets))
        reach = bound * np.abs(scales) + slip
        ends = [quantise_channel(exact - reach), quantise_channel(exact + reach)]
        value = quantise_channel(exact)
    else:
        one, zero = float(scales.reshape(-1)[0]), float(offsets.reshape(-1)[0])
        ends = [quantise_tensor(terms.o + side * bound, one, zero) for side in (-1.0, 1.0)]
        value = quantise_tensor(terms.o, one, zero)
    return Expectation(value, np.minimum(*ends), np.maximum(*ends), "i8")


def violations(expected: Expectation, actual: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which elements of the decoded output lie outside what is admissible."""
    got = np.asarray(actual, np.float64).reshape(expected.value.shape)
    nan = np.isnan(expected.value)
    with np.errstate(invalid="ignore"):
        inside = (got >= expected.low) & (got <= expected.high)
        if expected.kind != "i8":
            top = formats.largest(expected.kind)
            inside |= (got == np.inf) & (expected.high > top)
            inside |= (got == -np.inf) & (expected.low < -top)
            inside |= np.isinf(expected.value) & (got == expected.value)
    result: npt.NDArray[np.bool_] = np.where(nan, ~np.isnan(got), ~inside)
    return result


def describe(expected: Expectation, actual: npt.NDArray[Any]) -> str:
    """Empty when everything is admissible; else a report with the worst element."""
    bad = violations(expected, actual)
    if not bad.any():
        return ""
    got = np.asarray(actual, np.float64).reshape(expected.value.shape)
    with np.errstate(invalid="ignore", divide="ignore"):
        excess = np.abs(got - expected.value) / np.maximum(expected.bound, 2.0**-60)
    excess = np.where(bad & np.isnan(excess), np.inf, np.where(bad, excess, -1.0))
    index = tuple(int(i) for i in np.unravel_index(int(np.argmax(excess)), bad.shape))
    return (
        f"{int(bad.sum())} of {bad.size} elements outside their bound; worst at {index}: "
        f"got {got[index]!r}, golden {expected.value[index]!r}, "
        f"admissible [{expected.low[index]!r}, {expected.high[index]!r}]"
    )
