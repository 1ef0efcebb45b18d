"""The golden model against numbers computed independently of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from golden import bounds, formats
from golden import incre_flash_attention as ifa

Float64 = npt.NDArray[np.float64]


def lattice(dims: tuple[int, ...], steps: tuple[int, ...], m: int, c: int, f: float) -> Float64:
    index = np.indices(dims)
    total = sum(s * i for s, i in zip(steps, index, strict=True))
    return np.asarray((total % m - c) * f, np.float64)


def q(b: int, n: int, d: int) -> Float64:
    return lattice((b, n, 1, d), (7, 3, 0, 5), 11, 5, 1 / 8)


def k(b: int, g: int, s: int, d: int) -> Float64:
    return lattice((b, g, s, d), (5, 3, 7, 2), 13, 6, 1 / 8)


def v(b: int, g: int, s: int, d: int) -> Float64:
    return lattice((b, g, s, d), (3, 11, 5, 7), 17, 8, 1 / 4)


def pse(b: int, n: int, s: int) -> Float64:
    return lattice((b, n, 1, s), (3, 2, 0, 5), 7, 3, 1 / 4)


MASK = np.array([[1, 0, 0, 1, 0], [1, 1, 1, 1, 1]], np.uint8)


def run(heads: int = 2, kv_heads: int = 2, out: str = "f16", **more: Any) -> Any:
    arguments: dict[str, Any] = {
        "query": q(2, heads, 4),
        "key": [k(2, kv_heads, 5, 4)],
        "value": [v(2, kv_heads, 5, 4)],
        "numHeads": heads,
        "numKeyValueHeads": kv_heads,
        "scaleValue": 0.5,
        "inputLayout": "BNSD",
    }
    arguments.update(more)
    return ifa.evaluate(arguments, {"query": "f16", "attentionOut": out})


G1 = {
    (0, 0): [-0.335824, -0.291058, -0.246656, -0.208420],
    (0, 1): [0.745031, -0.187098, -0.004969, -0.073816],
    (1, 0): [-0.476191, 0.635613, -0.380718, -0.114387],
    (1, 1): [-0.112756, -0.257402, 0.688857, -0.264062],
}
ZERO = {(0, 0): [0.0] * 4, (0, 1): [0.0] * 4}
G3 = ZERO | {
    (1, 0): [-0.476524, 1.273476, -1.226524, 0.523476],
    (1, 1): [0.356341, -0.523476, 1.226524, -1.273476],
}
PAD = np.array([1], np.int64)

CASES: dict[str, tuple[dict[str, Any], dict[tuple[int, int], list[float]], float, float]] = {
    "G1": ({}, G1, -0.883856, 2.309335),
    "G2": (
        {"actualSeqLengths": [3, 5]},
        {
            (0, 0): [-0.753200, -0.390251, -0.105269, 0.246800],
            (0, 1): [0.632077, -0.500000, -0.117923, 0.117923],
            (1, 0): G1[1, 0],
            (1, 1): G1[1, 1],
        },
        -1.150889,
        2.880945,
    ),
    "G3": ({"actualSeqLengths": [0, 2]}, G3, -0.120183, 7.154312),
    "G4": (
        {"actualSeqLengths": [4]},
        {
            (0, 0): [-0.115237, -0.481936, 0.176418, -0.198387],
            (1, 1): [0.353734, -0.259231, 0.488358, -0.082153],
        },
        0.169716,
        1.745538,
    ),
    "G5": (
        {"attenMask": MASK},
        {
            (0, 0): [-0.502695, -0.146856, -1.252695, 0.497305],
            (0, 1): [0.873475, -0.258602, 0.123475, -1.008602],
            (1, 0): [-0.45, 0.45, -0.35, -0.30],
            (1, 1): [-0.25, -0.20, 0.70, -0.10],
        },
        -2.175196,
        5.173183,
    ),
    "G5b": (
        {"attenMask": MASK, "actualSeqLengths": [3, 4]},
        {
            (0, 0): [-0.142086, -0.458995, -0.892086, 0.857914],
            (1, 0): [-0.4375, 0.25, -0.125, -0.5],
        },
        -0.983960,
        3.420277,
    ),
    "G6": (
        {"heads": 4, "kv_heads": 2},
        {
            (0, 3): [0.695337, 0.035847, -0.054663, 0.051415],
            (1, 3): [-0.315044, -0.168200, 0.681551, -0.079076],
        },
        -1.556804,
        4.292113,
    ),
    "G7": (
        {"heads": 4, "kv_heads": 1},
        {
            (0, 3): [-0.201265, -0.230475, -0.254226, -0.272459],
            (1, 3): [-0.372119, 0.310433, -0.388473, -0.439567],
        },
        -6.897687,
        4.084406,
    ),
    "G8": (
        {"pseShift": pse(2, 2, 5)},
        {
            (0, 0): [-0.549493, 0.032906, -0.959650, -0.003244],
            (1, 1): [0.186429, -0.629629, 0.760060, -0.216533],
        },
        -2.105271,
        3.103360,
    ),
    "G8b": (
        {"pseShift": pse(1, 2, 5)},
        {
            (0, 0): [-0.549493, 0.032906, -0.959650, -0.003244],
            (1, 0): [-0.289993, 0.957628, -0.636321, 0.207628],
        },
        -0.832305,
        3.102572,
    ),
    "G8c": (
        {"pseShift": pse(2, 2, 5), "scaleValue": 0.25, "actualSeqLengths": [3, 5]},
        {(0, 0): [-0.542583, -0.133852, -0.656532, 0.457417]},
        -2.289194,
        3.148475,
    ),
    "G9": (
        {"kvPaddingSize": PAD, "actualSeqLengths": [3, 2]},
        {
            (0, 0): [0.496690, -0.557239, -0.253310, 0.061873],
            (1, 0): [-0.459558, -0.537684, 1.212316, -1.287684],
        },
        0.757221,
        7.075737,
    ),
    "G9z": (
        {"kvPaddingSize": PAD * 0, "actualSeqLengths": [3, 2]},
        {(0, 0): [0.359749, -0.753200, -0.390251, -0.105269]},
        -1.357880,
        5.157174,
    ),
    "G9z-negative": (
        {"kvPaddingSize": PAD * -7, "actualSeqLengths": [3, 2]},
        {(0, 0): [0.359749, -0.753200, -0.390251, -0.105269]},
        -1.357880,
        5.157174,
    ),
    "G9n": (
        {"kvPaddingSize": PAD * 3, "actualSeqLengths": [3, 2]},
        G3,
        -0.120183,
        7.154312,
    ),
    "G9m": (
        {"kvPaddingSize": PAD, "actualSeqLengths": [3, 2], "attenMask": MASK},
        {
            (0, 0): [-0.142086, -0.458995, -0.892086, 0.857914],
            (1, 0): [-0.25, -0.625, 1.125, -1.375],
            (1, 1): [0.375, 0, -0.375, 1.375],
        },
        -0.546460,
        8.346058,
    ),
    "G9p": (
        {"kvPaddingSize": PAD, "actualSeqLengths": [3, 2], "pseShift": pse(2, 2, 5)},
        {(0, 0): [0.090707, -0.217745, -0.659293, 0.290755]},
        -0.110444,
        9.865263,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_float_rows(name: str) -> None:
    arguments, rows, total, squares = CASES[name]
    value = run(**arguments).value
    for (b, n), row in rows.items():
        np.testing.assert_allclose(value[b, n], row, rtol=0, atol=5.1e-7)
    assert value.sum() == pytest.approx(total, abs=5.1e-7)
    assert (value * value).sum() == pytest.approx(squares, abs=5.1e-7)


def test_layouts_and_pages_give_the_same() -> None:
    plain = run().value
    swapped = run(
        inputLayout="BSND",
        query=q(2, 2, 4).transpose(0, 2, 1, 3),
        key=[k(2, 2, 5, 4).transpose(0, 2, 1, 3).copy()],
        value=[v(2, 2, 5, 4).transpose(0, 2, 1, 3).copy()],
    ).value
    flat = run(
        inputLayout="BSH",
        query=q(2, 2, 4).reshape(2, 1, 8),
        key=[k(2, 2, 5, 4).transpose(0, 2, 1, 3).reshape(2, 5, 8)],
        value=[v(2, 2, 5, 4).transpose(0, 2, 1, 3).reshape(2, 5, 8)],
    ).value
    np.testing.assert_array_equal(plain, swapped)
    np.testing.assert_array_equal(plain, flat)

    listed = run(
        key=[k(2, 2, 5, 4)[b : b + 1] for b in range(2)],
        value=[v(2, 2, 5, 4)[b : b + 1] for b in range(2)],
    ).value
    np.testing.assert_array_equal(plain, listed)

    table = np.array([[3, 1, 0], [2, 5, 4]], np.int32)
    caches = []
    for source in (k(2, 2, 5, 4), v(2, 2, 5, 4)):
        cache = np.full((6, 2, 2, 4), np.nan)
        for b in range(2):
            for t in range(5):
                cache[table[b, t // 2], :, t % 2] = source[b, :, t]
        caches.append(cache)
    common: dict[str, Any] = {"blocktable": table, "blockSize": 2, "actualSeqLengths": [5]}
    four = run(key=[caches[0]], value=[caches[1]], **common).value
    wide = [c.transpose(0, 2, 1, 3).reshape(6, 2, 8) for c in caches]
    three = run(key=[wide[0]], value=[wide[1]], **common).value
    np.testing.assert_array_equal(plain, four)
    np.testing.assert_array_equal(plain, three)


def test_unread_elements_are_those_that_do_not_matter() -> None:
    arguments: dict[str, Any] = {
        "query": q(2, 2, 4),
        "key": [k(2, 2, 5, 4)],
        "value": [v(2, 2, 5, 4)],
        "numHeads": 2,
        "scaleValue": 0.5,
        "inputLayout": "BNSD",
        "actualSeqLengths": [3, 2],
        "kvPaddingSize": PAD,
    }
    types = {"query": "f16", "attentionOut": "f16"}
    plain = ifa.evaluate(arguments, types).value
    free = ifa.unread(arguments)
    assert [int(part.sum()) for part in free["key"]] == [2 * 4 * (2 + 3)]
    for name in ("key", "value"):
        arguments[name][0][free[name][0]] = np.nan
    np.testing.assert_array_equal(plain, ifa.evaluate(arguments, types).value)


@pytest.mark.parametrize("version", ["V1", "V2"])
def test_first_versions_ignore_the_bias(version: str) -> None:
    arguments: dict[str, Any] = {
        "query": q(2, 2, 4),
        "key": [k(2, 2, 5, 4)],
        "value": [v(2, 2, 5, 4)],
        "pseShift": pse(2, 2, 5),
        "numHeads": 2,
        "scaleValue": 0.5,
        "inputLayout": "BNSD",
    }
    got = ifa.evaluate(arguments, {"query": "f16", "attentionOut": "f16"}, version).value
    np.testing.assert_array_equal(got, run().value)


CHANNEL = np.arange(8)


@pytest.mark.parametrize(
    ("scale", "offset", "expected", "slack"),
    [
        ([16.0], [1.0], "-4 -4 -3 -2 13 -2 1 0 -7 11 -5 -1 -1 -3 12 -3", 0),
        (
            8.0 * (1 + CHANNEL % 4),
            2.0 * (CHANNEL % 3 - 1),
            "-5 -5 -4 -9 6 -1 -2 -2 -6 10 -7 -6 -1 -2 15 -8",
            0,
        ),
        ([200.0], None, "-67 -58 -49 -42 127 -37 -1 -15 -95 127 -76 -23 -23 -51 127 -53", 1),
    ],
    ids=["G13", "G14", "G15"],
)
def test_int8_output(scale: Any, offset: Any, expected: str, slack: int) -> None:
    result = run(
        out="i8",
        quantScale2=np.asarray(scale),
        quantOffset2=None if offset is None else np.asarray(offset),
    )
    literal = np.array([int(word) for word in expected.split()], np.float64).reshape(2, 2, 4)
    assert np.abs(result.value - literal).max() <= slack
    assert (result.high - result.low).max() <= 1
    assert ((result.low <= result.value) & (result.value <= result.high)).all()


def int8_cache(**more: Any) -> Float64:
    width = 32
    arguments: dict[str, Any] = {
        "query": q(2, 2, width),
        "key": [lattice((2, 2, 5, width), (5, 3, 7, 2), 13, 6, 9).astype(np.int8)],
        "value": [lattice((2, 2, 5, width), (3, 11, 5, 7), 17, 8, 7).astype(np.int8)],
        "numHeads": 2,
        "numKeyValueHeads": 2,
        "scaleValue": 0.125,
        "inputLayout": "BNSD",
    }
    arguments.update(more)
    types = {"query": "f16", "attentionOut": "f16"}
    return np.asarray(ifa.evaluate(arguments, types).value)


SCALE = (1 + lattice((2, 2, 1, 32), (1, 1, 0, 1), 3, 0, 1)) / 128
OFFSET = lattice((2, 2, 1, 32), (2, 1, 0, 1), 5, 2, 1)


@pytest.mark.parametrize("shape", [(2, 2, 1, 32), (2, 1, 2, 32), (2, 2, 32), (2, 64)])
def test_int8_cache_per_channel(shape: tuple[int, ...]) -> None:
    got = int8_cache(antiquantScale=SCALE.reshape(shape), antiquantOffset=OFFSET.reshape(shape))
    first = [-0.08210, -0.15350, -0.02080, -0.17306, 0.45587, 0.01364]
    last = [0.10574, 0.23722, 0.02567, 0.17734, -0.36829, 0.10756]
    np.testing.assert_allclose(got[0, 0, :6], first, rtol=0, atol=5.1e-6)
    np.testing.assert_allclose(got[1, 1, 26:], last, rtol=0, atol=5.1e-6)
    assert got.sum() == pytest.approx(0.97621, abs=5.1e-6)
    assert (got * got).sum() == pytest.approx(3.53753, abs=5.1e-6)


def test_int8_cache_without_offset() -> None:
    got = int8_cache(antiquantScale=SCALE)
    first = [-0.08210, -0.17694, -0.03642, -0.14181]
    np.testing.assert_allclose(got[0, 0, :4], first, rtol=0, atol=5.1e-6)
    assert got.sum() == pytest.approx(0.85121, abs=5.1e-6)


def test_int8_cache_per_tensor() -> None:
    got = int8_cache(
        antiquantScale=np.array([1 / 64, 1 / 32]), antiquantOffset=np.array([3.0, -2.0])
    )
    first = [-0.26075, -0.32174, -0.18407, -0.34401, 0.55326, -0.04200]
    np.testing.assert_allclose(got[0, 0, :6], first, rtol=0, atol=5.1e-6)
    assert got.sum() == pytest.approx(-7.56442, abs=5.1e-6)
    assert (got * got).sum() == pytest.approx(12.95175, abs=5.1e-6)


# The bounds: correct arithmetic passes, typical defects do not -------------------------------


def example(length: int, family: str) -> tuple[dict[str, Any], dict[str, str]]:
    rng = np.random.default_rng(length)
    arguments: dict[str, Any] = {
        "numHeads": 2,
        "scaleValue": 0.125,
        "inputLayout": "BNSD",
    }
    for name, dims in {
        "query": (1, 2, 1, 64),
        "key": (1, 2, length, 64),
        "value": (1, 2, length, 64),
    }.items():
        made = formats.round_trip(ifa.data(name, dims, "f16", family, rng, arguments), "f16")
        arguments[name] = made if name == "query" else [made]
    return arguments, {"query": "f16", "attentionOut": "f16"}


def in_float32(arguments: dict[str, Any], positions: slice = slice(None)) -> Float64:
    query = arguments["query"].astype(np.float32)[0, :, 0]
    key = arguments["key"][0].astype(np.float32)[0, :, positions]
    value = arguments["value"][0].astype(np.float32)[0, :, positions]
    rows = []
    for n in range(2):
        x = (key[n] @ query[n]) * np.float32(arguments["scaleValue"])
        e = np.exp(x - x.max(), dtype=np.float32)
        rows.append((e @ value[n]) / e.sum(dtype=np.float32))
    return np.asarray(np.stack(rows)[None], np.float64)


@pytest.mark.parametrize("family", ifa.FAMILIES)
@pytest.mark.parametrize("length", [1, 33, 700])
def test_float32_arithmetic_stays_in_bounds(length: int, family: str) -> None:
    arguments, types = example(length, family)
    expected = ifa.evaluate(arguments, types)
    got = formats.f16_even(in_float32(arguments))
    assert bounds.describe(expected, got) == ""


def test_defects_leave_the_bounds() -> None:
    arguments, types = example(700, "uniform")
    expected = ifa.evaluate(arguments, types)
    exact = in_float32(arguments)
    truncated = (exact.astype(np.float32).view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    assert bounds.describe(expected, truncated)
    assert bounds.describe(expected, np.zeros_like(exact))
    lost = formats.f16_even(in_float32(arguments, slice(0, 699)))
    needle, types = example(700, "needle")
    assert bounds.describe(
        ifa.evaluate(needle, types), formats.f16_even(in_float32(needle, slice(0, 699)))
    )
    assert bounds.violations(expected, lost).mean() > 0.1


def test_bfloat16_rounds_once_to_nearest_even() -> None:
    tie = 1 + 2.0**-8
    values = [tie, tie + 2.0**-40, tie - 2.0**-40, 1 + 3 * 2.0**-8, -tie, np.inf, 0.0, 1e39]
    got = formats.round_trip(values, "bf16")
    expected = [1, 1 + 2.0**-7, 1, 1 + 2.0**-6, -1, np.inf, 0, np.inf]
    np.testing.assert_array_equal(got, expected)
    assert np.isnan(formats.round_trip([np.nan], "bf16")).all()


def test_roundings_of_ties() -> None:
    tie = 1 + 2.0**-11
    assert formats.f16_even(tie) == 1
    assert formats.f16_away(tie) == 1 + 2.0**-10
    assert formats.f16_away(-tie) == -1 - 2.0**-10
    np.testing.assert_array_equal(formats.round_half_away([0.5, -0.5, 1.5, 2.4]), [1, -1, 2, 2])
