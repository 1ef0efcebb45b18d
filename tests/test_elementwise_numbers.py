"""Elementwise operators against float64 and Python's integers, over dtypes, broadcasts, layouts."""

from __future__ import annotations

import itertools
import os
import threading
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from golden import elementwise as golden
from golden.elementwise import COMMON_OF, COMPLEX, FLOATS, INTEGERS, ORDER, samples
from tensor_calls import KINDS, LAYOUTS, Caller, Ints, Number, Placed, caller

if TYPE_CHECKING:
    from native_call import Native

#: Shapes of two operands; the last dimensions of 1 repeat.
SHAPES = [
    ((3, 4), (3, 4)),
    ((3, 4), (4,)),
    ((3, 1), (1, 5)),
    ((), (2, 3)),
    ((2, 3), ()),
    ((), ()),
    ((2, 1, 3), (4, 1)),
    ((0, 3), (1, 3)),
    ((7,), (7,)),
    ((2, 2, 2, 2, 2, 2, 2, 2), (2, 1)),
    ((1500,), (1500,)),
    ((3, 700), (700,)),
]


@pytest.fixture
def call(native: Native, streams: dict[str, Any]) -> Iterator[Caller]:
    with caller(native, streams["auto"]) as made:
        yield made


def rng_of(*names: object) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(repr(names).encode()))


def laid(call: Caller, rng: np.random.Generator, kind: str, shape: tuple[int, ...]) -> Placed:
    """An input in some layout, some of its dimensions repeated."""
    expand = [d for d in range(len(shape)) if shape[d] > 0 and rng.random() < 0.15]
    memory = samples(rng, shape, kind)
    for d in expand:
        memory = np.broadcast_to(np.take(memory, [0], d), memory.shape)
    layout = str(rng.choice(LAYOUTS))
    place = str(rng.choice(["end", "begin", "odd"]))
    return call.place(kind, memory, layout, expand, place=place)


def output(call: Caller, rng: np.random.Generator, kind: str, shape: tuple[int, ...]) -> Placed:
    return call.place(kind, shape, str(rng.choice(LAYOUTS)))


def common(a: Placed, b: Placed) -> str:
    """Tensors with dimensions decide, unless the other one's kind is above theirs."""
    if bool(a.shape) == bool(b.shape):
        return COMMON_OF[a.kind, b.kind]
    strong, weak = (a, b) if a.shape else (b, a)
    if golden.category(weak.kind) <= golden.category(strong.kind):
        return strong.kind
    if golden.category(strong.kind) == 2:  # complex numbers in the width of the floats
        return "c128" if strong.kind == "f64" else "c64"
    return COMMON_OF[strong.kind, weak.kind]


def check(out: Placed, wanted: np.ndarray[Any, Any], result: str, units: float = 0.5) -> None:
    """`wanted` is in the kind of the result, not rounded yet."""
    assert out.only_elements_written()
    if out.kind != result:  # rounded twice
        wanted = golden.convert(golden.convert(wanted, result, result), result, out.kind)
    if out.kind in COMPLEX:
        # Products and quotients of infinities have no agreed parts.
        finite = np.isfinite(np.broadcast_to(wanted, out.shape))
        eps = 2.0**-20 if "c64" in (out.kind, result) else 1e-14
        error = np.abs(out.memory[finite] - np.broadcast_to(wanted, out.shape)[finite])
        assert np.all(error <= eps * (np.abs(np.broadcast_to(wanted, out.shape)[finite]) + 1))
        return
    golden.matches(out.memory, np.broadcast_to(wanted, out.shape), out.kind, units)


PAIRS = list(itertools.product(ORDER, ORDER))


@pytest.mark.parametrize("name", golden.BINARY)
@pytest.mark.parametrize("turn", range(3))
def test_arithmetic(call: Caller, name: str, turn: int) -> None:
    rng = rng_of(name, turn)
    for first, second in PAIRS:
        shapes = SHAPES[rng.integers(len(SHAPES))]
        a, b = laid(call, rng, first, shapes[0]), laid(call, rng, second, shapes[1])
        result = common(a, b)
        if name == "Div" and golden.category(result) < 2:
            result = "f32"
        if (name == "Sub" and result == "bool") or (
            name in ("Maximum", "Minimum") and result in COMPLEX
        ):
            continue
        others = [kind for kind in ORDER if golden.holds(result, kind)]
        out_kind = result if rng.random() < 0.7 else str(rng.choice(others))
        out = output(call, rng, out_kind, np.broadcast_shapes(*shapes))
        x = golden.convert(golden.decode(a.memory, first), first, result)
        y = golden.convert(golden.decode(b.memory, second), second, result)
        alpha = 1
        more: tuple[Any, ...] = ()
        if name in ("Add", "Sub"):
            alpha = 1 if rng.random() < 0.5 or result == "bool" else 2
            more = (Number("i64", alpha),)
        with np.errstate(all="ignore"):
            if result == "bool" and name == "Add":
                wanted = x | y
            else:
                wanted = golden.BINARY[name](x, y if alpha == 1 else alpha * y)
        call.run(f"aclnn{name}", a, b, *more, out)
        check(out, np.asarray(wanted), result)
        call.release()


@pytest.mark.parametrize("name", golden.COMPARISON)
@pytest.mark.parametrize("turn", range(2))
def test_comparisons(call: Caller, name: str, turn: int) -> None:
    rng = rng_of(name, turn)
    for first, second in PAIRS:
        shapes = SHAPES[rng.integers(len(SHAPES))]
        a, b = laid(call, rng, first, shapes[0]), laid(call, rng, second, shapes[1])
        kind = common(a, b)
        if kind in COMPLEX and name not in ("Eq", "Ne"):
            continue
        # Some equal pairs.
        out = output(
            call, rng, str(rng.choice(["bool", "f32", "i32"])), np.broadcast_shapes(*shapes)
        )
        x = golden.convert(golden.decode(a.memory, first), first, kind)
        y = golden.convert(golden.decode(b.memory, second), second, kind)
        call.run(f"aclnn{name}Tensor", a, b, out)
        check(out, np.asarray(golden.COMPARISON[name](x, y)), "bool")
        call.release()


@pytest.mark.parametrize("equal_nan", [False, True])
@pytest.mark.parametrize(("rtol", "atol"), [(0.0, 0.0), (1e-5, 1e-8), (0.25, 0.0), (0.0, 3.0)])
def test_closeness(call: Caller, rtol: float, atol: float, equal_nan: bool) -> None:
    """Of real kinds in common, judged in float64."""
    rng = rng_of("close", rtol, atol, equal_nan)
    real = [kind for kind in ORDER if kind not in COMPLEX]
    for first, second in itertools.product(real, real):
        a, b = laid(call, rng, first, (5, 1, 7)), laid(call, rng, second, (3, 7))
        kind = common(a, b)
        x, y = (
            golden.convert(golden.decode(each.memory, each.kind), each.kind, kind)
            for each in (a, b)
        )
        x, y = x.astype(np.float64), y.astype(np.float64)
        with np.errstate(invalid="ignore", over="ignore"):
            apart = np.abs(x - y)
            wanted = (x == y) | (np.isfinite(apart) & (apart <= atol + np.abs(rtol * y)))
        if equal_nan:
            wanted |= np.isnan(x) & np.isnan(y)
        out = output(call, rng, "bool", wanted.shape)
        call.run("aclnnIsClose", a, b, rtol, atol, equal_nan, out)
        np.testing.assert_array_equal(out.memory != 0, wanted, err_msg=f"{first} {second}")
        call.release()


@pytest.mark.parametrize("name", golden.LOGICAL)
def test_logic(call: Caller, name: str) -> None:
    rng = rng_of(name)
    for first, second in PAIRS:
        shapes = SHAPES[rng.integers(len(SHAPES))]
        a, b = laid(call, rng, first, shapes[0]), laid(call, rng, second, shapes[1])
        kind = common(a, b)
        shape = np.broadcast_shapes(*shapes)
        x = golden.convert(golden.decode(a.memory, first), first, kind)
        y = golden.convert(golden.decode(b.memory, second), second, kind)
        out = output(call, rng, "bool", shape)
        call.run(f"aclnnLogical{name}", a, b, out)
        check(out, np.asarray(golden.LOGICAL[name](x, y)), "bool")
        if golden.category(kind) < 2:
            out = output(call, rng, kind, shape)
            call.run(f"aclnnBitwise{name}Tensor", a, b, out)
            check(out, np.asarray(golden.BITWISE[name](x, y)), kind)
        call.release()


@pytest.mark.parametrize("name", golden.UNARY)
def test_functions(call: Caller, name: str) -> None:
    rng = rng_of(name)
    kinds = ORDER[:-2]
    for kind, (shape, _), inplace in itertools.product(kinds, SHAPES, (False, True)):
        if inplace and name in ("Abs", "Silu"):
            continue
        if kind == "bool" and name in ("Neg", "Ceil", "Floor", "Trunc", "Round"):
            continue
        a = laid(call, rng, kind, shape)
        result = kind if name in golden.WHOLE or kind in FLOATS else "f32"
        x = golden.decode(a.memory, kind)
        x = golden.convert(x, kind, result) if result != kind else x
        if kind == "bool":
            x = x.astype(np.int64) if result == "bool" else x
        with np.errstate(all="ignore"):
            wanted = np.asarray(golden.UNARY[name](x))
        if inplace:
            if result != kind:
                continue
            a = call.place(kind, a.memory.copy(), str(rng.choice(LAYOUTS)))
            out = a
            call.run(f"aclnnInplace{name}", a)
        else:
            out = output(call, rng, result, shape)
            call.run(f"aclnn{name}", a, out)
        if result in FLOATS and name not in golden.EXACT:
            # Arithmetic in float32 (float64) of a few steps, then one rounding.
            units = 3.0 if result in ("f32", "f64") else 0.51
            if result in ("f16", "bf16") and name in ("Rsqrt", "Silu", "Sigmoid", "Tan"):
                units = 0.6
            # exp(-x) becomes infinite before x / exp(-x) becomes 0.
            slack = 1e-36 if name in ("Sigmoid", "Silu") else 0
            check_near(out, wanted, result, units, slack)
        else:
            check(out, wanted, result)
        call.release()


def check_near(
    out: Placed, wanted: np.ndarray[Any, Any], kind: str, units: float, slack: float = 0
) -> None:
    assert out.only_elements_written()
    found = golden.decode(out.memory, kind)
    exact = golden.decode(golden.encode(wanted, kind), kind)
    with np.errstate(invalid="ignore"):
        close = np.abs(found - wanted) <= units * golden.spacing(wanted, kind) + slack
    same = (found == exact) | (np.isnan(found) & np.isnan(exact))
    assert np.all(close | same), (found[~(close | same)], wanted[~(close | same)])


def test_signs_and_finiteness(call: Caller) -> None:
    rng = rng_of("signs")
    for kind in ORDER[:-2]:
        a = laid(call, rng, kind, (5, 40))
        x = golden.decode(a.memory, kind)
        finite, infinite = output(call, rng, "bool", (5, 40)), output(call, rng, "bool", (5, 40))
        call.run("aclnnIsFinite", a, finite)
        check(finite, np.isfinite(x), "bool")
        call.run("aclnnIsInf", a, infinite)
        check(infinite, np.isinf(x), "bool")
        sign = output(call, rng, kind, (5, 40))
        call.run("aclnnSign", a, sign)
        check(sign, (x > 0).astype(np.int64) - (x < 0), kind)
        wrong = output(call, rng, "bool", (5, 40))
        call.run("aclnnLogicalNot", a, wrong)
        check(wrong, np.asarray(x == 0), "bool")
        if golden.category(kind) < 2:
            out = output(call, rng, kind, (5, 40))
            call.run("aclnnBitwiseNot", a, out)
            check(out, ~x, kind)
        call.release()


@pytest.mark.parametrize("source", ORDER)
def test_copies(call: Caller, source: str) -> None:
    """Every kind into every other, broadcast, strided on both sides; casts are the same."""
    rng = rng_of("copy", source)
    for target, (shape, other), cast in itertools.product(ORDER, SHAPES, (False, True)):
        src = laid(call, rng, source, shape)
        # What does not fit into an integer is tested by itself.
        if source in FLOATS and golden.category(target) == 1:
            src = call.place(source, golden.encode(rng.uniform(0, 100, shape), source), "stepped")
        wanted = golden.convert(golden.decode(src.memory, source), source, target)
        if cast:
            out = output(call, rng, target, shape)
            call.run("aclnnCast", src, KINDS[target][0], out)
        else:
            try:
                whole = np.broadcast_shapes(shape, other)
            except ValueError:
                whole = shape
            out = output(call, rng, target, whole)
            call.run("aclnnInplaceCopy", out, src)
            wanted = np.broadcast_to(wanted, whole)
        assert out.only_elements_written()
        np.testing.assert_array_equal(golden.decode(out.memory, target), wanted)
        call.release()


@pytest.mark.parametrize("kind", ["i8", "f16", "f32", "i64", "c128"])
def test_transpositions(call: Caller, kind: str) -> None:
    """Large enough for tiles, of which the last ones are not full."""
    rng = rng_of("transposed", kind)
    for shape in ((64, 64), (100, 130), (65, 1000), (63, 70)):
        memory = samples(rng, shape, kind)
        src, out = call.place(kind, memory, "permuted"), call.place(kind, shape)
        call.run("aclnnInplaceCopy", out, src)
        assert out.only_elements_written()
        np.testing.assert_array_equal(out.memory, memory)
        back = call.place(kind, shape, "permuted")
        call.run("aclnnInplaceCopy", back, out)
        assert back.only_elements_written()
        np.testing.assert_array_equal(back.memory, memory)
    call.release()


def test_unsigned_kinds_are_copied(call: Caller) -> None:
    values = np.array([0, 1, 255, 65535, 2**31, 2**32 - 1])
    for source, target in itertools.product(
        ("u16", "u32", "u64"), ("u16", "u32", "u64", "i64", "f64")
    ):
        src = call.place(source, values.astype(f"uint{source[1:]}"), "stepped")
        out = call.place(target, (6,))
        call.run("aclnnInplaceCopy", out, src)
        np.testing.assert_array_equal(out.memory, src.memory.astype(out.memory.dtype))


def test_floats_that_no_integer_holds(call: Caller) -> None:
    """The processor's conversion: the smallest integer of 32 or 64 bits, wrapped."""
    memory = np.array([np.nan, np.inf, -np.inf, 3e9, -3e9, 1e30, -1.9, 300.7, -129.2])
    low32, low64 = -(2**31), -(2**63)
    wanted = {
        "i32": [low32, low32, low32, low32, low32, low32, -1, 300, -129],
        "i64": [low64, low64, low64, 3 * 10**9, -3 * 10**9, low64, -1, 300, -129],
        "i16": [0, 0, 0, 0, 0, 0, -1, 300, -129],
        "i8": [0, 0, 0, 0, 0, 0, -1, 44, 127],
    }
    for source, (target, values) in itertools.product(("f32", "f64"), wanted.items()):
        src = call.place(source, memory.astype({"f32": "float32", "f64": "float64"}[source]))
        out = call.place(target, (9,))
        call.run("aclnnInplaceCopy", out, src)
        np.testing.assert_array_equal(out.memory, values)


@pytest.mark.parametrize("kind", ORDER)
def test_fills(call: Caller, kind: str) -> None:
    rng = rng_of("fill", kind)
    for shape in ((), (3, 4), (0, 2), (1500,), (2, 3, 4)):
        for function, arguments, wanted in (
            ("aclnnInplaceZero", (), 0),
            ("aclnnInplaceOne", (), 1),
            ("aclnnInplaceFillScalar", (Number("i64", 3),), 3),
            ("aclnnInplaceFillScalar", (Number("f64", 2.75),), 2.75),
            ("aclnnInplaceFillTensor", (call.place("f32", np.full(1, 2.5, np.float32)),), 2.5),
            ("aclnnInplaceFillTensor", (call.place("i8", np.asarray(5, np.int8)),), 5),
        ):
            out = output(call, rng, kind, shape)
            call.run(function, out, *arguments)
            assert out.only_elements_written()
            expected = golden.encode(np.full(shape, wanted), kind)
            np.testing.assert_array_equal(out.memory, expected)
    call.release()


SCALARS = [("i64", 3), ("i64", -2), ("f64", 0.1), ("f64", 2.5), ("bool", 1), ("i32", 7)]


def with_number(kind: str, number: str) -> str:
    """The common kind with a bare number: its kind matters only where it is above the tensor's."""
    default = {"i64": "i64", "i32": "i64", "f64": "f32", "bool": "bool"}[number]
    if golden.category(default) <= golden.category(kind):
        return kind
    return default


@pytest.mark.parametrize("name", ["Add", "Sub", "Rsub", "Mul", "Div"])
def test_arithmetic_with_numbers(call: Caller, name: str) -> None:
    rng = rng_of("numbers", name)
    for kind, (number, value), inplace in itertools.product(ORDER[:-2], SCALARS, (False, True)):
        result = with_number(kind, number)
        if name == "Div" and golden.category(result) < 2:
            result = "f32"
        if (name in ("Sub", "Rsub") and result == "bool") or (inplace and name == "Rsub"):
            continue
        if inplace and not golden.holds(result, kind):
            continue
        a = call.place(kind, samples(rng, (4, 9), kind), str(rng.choice(LAYOUTS)))
        x = golden.convert(golden.decode(a.memory, kind), kind, result)
        # A factor is rounded to what arithmetic is done in, a summand to the tensor's kind.
        wide = float(np.float32(value)) if result in ("f16", "bf16", "f32") else value
        if name in ("Add", "Sub", "Rsub") and golden.category(result) == 2:
            wide = float(golden.convert(np.asarray(float(value)), "f32", result))
        y = np.asarray(bool(value)) if result == "bool" else np.asarray(wide)
        if golden.category(result) == 1:
            y = np.asarray(int(value))
        with np.errstate(all="ignore"):
            if name == "Rsub":
                wanted = y - x
            elif name == "Add" and result == "bool":
                wanted = x | y
            else:
                wanted = golden.BINARY[name](x, y)
        more = (Number("i64", 1),) if name in ("Add", "Sub", "Rsub") else ()
        out = a if inplace else output(call, rng, result, (4, 9))
        last = () if inplace else (out,)
        call.run(
            f"aclnn{'Inplace' if inplace else ''}{name}s", a, Number(number, value), *more, *last
        )
        if result in ("f16", "bf16") and name in (
            "Mul",
            "Div",
        ):  # in float32, then rounded once more
            check_near(out, np.asarray(wanted), result, 0.501)
        else:
            check(out, np.asarray(wanted), result)
        call.release()


@pytest.mark.parametrize("name", golden.COMPARISON)
def test_comparisons_with_numbers(call: Caller, name: str) -> None:
    rng = rng_of("numbers", name)
    for kind, (number, value) in itertools.product(
        ORDER[:-2], [*SCALARS, ("i64", 300), ("i64", -(2**40)), ("f64", np.inf), ("f64", np.nan)]
    ):
        common_kind = with_number(kind, number)
        a = call.place(kind, samples(rng, (4, 9), kind), str(rng.choice(LAYOUTS)))
        x = golden.convert(golden.decode(a.memory, kind), kind, common_kind)
        y = np.asarray(value)
        if golden.category(common_kind) >= 2:
            y = golden.convert(np.asarray(float(value)), "f64", common_kind)
        out = output(call, rng, "bool", (4, 9))
        call.run(f"aclnn{name}Scalar", a, Number(number, value), out)
        check(out, np.asarray(golden.COMPARISON[name](x, y)), "bool")
        call.release()


@pytest.mark.parametrize("kind", INTEGERS)
def test_whole_division(call: Caller, kind: str) -> None:
    """Floor, remainder and fmod as Python has them; nothing happens at 0 and at the ends."""
    rng = rng_of("division", kind)
    x, y = samples(rng, (40, 40), kind), samples(rng, (40,), kind)
    low = golden.encode(np.asarray(-(2**62) * 2), kind) if kind == "i64" else None
    x[0, 0] = np.iinfo(x.dtype).min if low is None else low
    y[0], y[1] = (-1 if kind != "u8" else 1), 0
    a, b = call.place(kind, x), call.place(kind, y)
    n, d = [[int(v) for v in np.broadcast_to(m, x.shape).ravel()] for m in (x, y)]
    wanted = {
        "aclnnFloorDivide": [p // q if q else 0 for p, q in zip(n, d, strict=True)],
        "aclnnRemainderTensorTensor": [p % q if q else 0 for p, q in zip(n, d, strict=True)],
        "aclnnFmodTensor": [
            (abs(p) % abs(q)) * (1 if p >= 0 else -1) if q else 0 for p, q in zip(n, d, strict=True)
        ],
    }
    bits = golden.BITS[kind]
    for function, values in wanted.items():
        out = call.place(kind, x.shape)
        call.run(function, a, b, out)
        half = 0 if kind == "u8" else 2 ** (bits - 1)
        expected = [(v + half) % 2**bits - half for v in values]
        assert [int(v) for v in out.memory.ravel()] == expected, function


@pytest.mark.parametrize("kind", FLOATS)
def test_float_division(call: Caller, kind: str) -> None:
    rng = rng_of("division", kind)
    x, y = samples(rng, (40, 40), kind), samples(rng, (40,), kind)
    a, b = call.place(kind, x), call.place(kind, y)
    n, d = golden.decode(x, kind), golden.decode(y, kind)
    narrow = kind in ("f16", "bf16")
    with np.errstate(all="ignore"):
        if kind == "f32":
            n, d = n.astype(np.float32), d.astype(np.float32)
        rests = {"aclnnRemainderTensorTensor": np.mod(n, d), "aclnnFmodTensor": np.fmod(n, d)}
        whole = np.floor_divide(n, d)
    for function, values in rests.items():
        out = call.place(kind, x.shape)
        call.run(function, a, b, out)
        got = golden.decode(out.memory, kind)
        exact = golden.decode(golden.encode(values, kind), kind)
        # An infinite divisor: torch's formula and Python's differ.
        finite = np.isfinite(np.broadcast_to(d, n.shape))
        with np.errstate(invalid="ignore"):
            near = np.abs(got - exact) <= (golden.spacing(exact, kind) if narrow else 0)
        assert np.all((near | (np.isnan(got) & np.isnan(exact)))[finite]), function
    out = call.place(kind, x.shape)
    call.run("aclnnFloorDivide", a, b, out)
    got, exact = golden.decode(out.memory, kind), golden.decode(golden.encode(whole, kind), kind)
    usual = np.isfinite(n) & np.isfinite(np.broadcast_to(d, n.shape)) & (d != 0)
    np.testing.assert_array_equal(got[usual], exact[usual])


def test_powers(call: Caller) -> None:
    rng = rng_of("powers")
    for kind in INTEGERS:
        base, exponent = samples(rng, (60,), kind), rng.integers(0, 9, 60)
        a, b = call.place(kind, base), call.place("i64", exponent)
        out = call.place("i64", (60,))
        call.run("aclnnPowTensorTensor", a, b, out)
        wanted = [
            (int(x) ** int(y) + 2**63) % 2**64 - 2**63 for x, y in zip(base, exponent, strict=True)
        ]
        assert [int(v) for v in out.memory] == wanted
    for kind in FLOATS:
        base = golden.encode(rng.uniform(0.01, 20, 300), kind)
        a = call.place(kind, base)
        for value in (2, 0.5, -1.5, 3, 0):
            out = call.place(kind, (300,))
            number = Number("f64" if isinstance(value, float) else "i64", value)
            call.run("aclnnPowTensorScalar", a, number, out)
            powers = golden.decode(base, kind) ** value
            check_near(out, powers, kind, 2.0 if kind in ("f32", "f64") else 0.51)
            out = call.place(kind, (300,))
            call.run("aclnnPowScalarTensor", Number("f64", 1.5), a, out)
            check_near(
                out, 1.5 ** golden.decode(base, kind), kind, 2.0 if kind in ("f32", "f64") else 0.51
            )


def test_a_number_on_the_left(call: Caller) -> None:
    a = call.place("f32", np.arange(6, dtype=np.float32).reshape(2, 3), "permuted")
    out = call.place("f32", (2, 3))
    call.run("aclnnAddV3", Number("f64", 2.5), a, Number("i64", 3), out)
    np.testing.assert_array_equal(out.memory, 2.5 + 3 * a.memory)
    call.run("aclnnRemainderScalarTensor", Number("i64", 5), a, out)
    np.testing.assert_array_equal(out.memory[0, 1:], np.array([0, 1]))


# ---- in place ------------------------------------------------------------------------------------


def over(call: Caller, placed: Placed, shape: tuple[int, ...]) -> Placed:
    """A dense tensor at the start of another one's memory."""
    other = call.place(placed.kind, shape)
    call.native.check(
        call.native.lib.aclSetRawTensorAddr(
            other.handle, call.native.ffi.cast("void *", placed.block.address)
        )
    )
    return other


@pytest.mark.parametrize("function", ["aclnnNonzero", "aclnnNonzeroV2"])
def test_places_written_over_the_input(call: Caller, function: str) -> None:
    """No more of them than the input had before."""
    n = 4096
    values = np.zeros((n, 2), np.int64)
    values[: n // 2] = 7
    a = call.place("i64", values)
    by_axis = function.endswith("V2")
    out = over(call, a, (2, n) if by_axis else (n, 2))
    call.run(function, a, out)
    expected = np.argwhere(values)
    assert out.view_shape() == (expected.T.shape if by_axis else expected.shape)
    np.testing.assert_array_equal(
        a.memory.reshape(-1), (expected.T if by_axis else expected).reshape(-1)
    )


def test_indices_written_over_the_input(call: Caller) -> None:
    values = rng_of("indices").integers(-100, 100, (64, 64))
    a = call.place("i64", values)
    call.run("aclnnMaxDim", a, 1, False, call.place("i64", (64,)), over(call, a, (64,)))
    np.testing.assert_array_equal(a.memory[0], values.argmax(1))


@pytest.mark.parametrize("kind", ["f32", "f16", "i8", "c64"])
def test_output_is_an_input(call: Caller, native: Native, kind: str) -> None:
    """The same view, a shifted one, a transposed one: as if the inputs had been read before."""
    rng = rng_of("overlap", kind)
    memory = samples(rng, (64, 64), kind)
    if kind in FLOATS:
        memory = golden.encode(rng.standard_normal((64, 64)), kind)
    number = KINDS[kind][0]
    ffi, lib = native.ffi, native.lib

    def view(placed: Placed, shape: list[int], strides: list[int], offset: int) -> Any:
        return lib.aclCreateTensor(
            ffi.new("int64_t[]", shape), 2, number, ffi.new("int64_t[]", strides), offset, 2,
            ffi.new("int64_t[]", [64 * 64]), 1, ffi.cast("void *", placed.block.address),
        )  # fmt: skip

    views = [
        (([64, 64], [64, 1], 0), ([64, 64], [64, 1], 0)),
        (([63, 64], [64, 1], 64), ([63, 64], [64, 1], 0)),
        (([63, 64], [64, 1], 0), ([63, 64], [64, 1], 64)),
        (([64, 64], [64, 1], 0), ([64, 64], [1, 64], 0)),
    ]
    for target, source in views:
        whole = call.place(kind, memory.copy())
        flat = memory.reshape(-1)

        def as_numpy(what: Any, flat: Any = flat) -> Any:
            shape, strides, offset = what
            step = flat.itemsize
            return np.lib.stride_tricks.as_strided(
                flat[offset:], shape, [s * step for s in strides]
            )

        wanted_source = as_numpy(source).copy()
        wanted_target = as_numpy(target).copy()
        out, other = view(whole, *target), view(whole, *source)
        for function, expected in (
            ("aclnnInplaceCopy", wanted_source),
            ("aclnnInplaceAdd", wanted_target + wanted_source),
        ):
            whole.memory[...] = memory
            more = [call._argument(Number("i64", 1), [])] if function.endswith("Add") else []
            size, executor = ffi.new("uint64_t *"), ffi.new("aclOpExecutor **")
            native.check(
                getattr(lib, f"{function}GetWorkspaceSize")(out, other, *more, size, executor)
            )
            native.check(getattr(lib, function)(ffi.NULL, 0, executor[0], call.stream))
            native.check(lib.aclrtSynchronizeStream(call.stream))
            found = np.lib.stride_tricks.as_strided(
                whole.memory.reshape(-1)[target[2] :],
                target[0],
                [s * memory.itemsize for s in target[1]],
            )
            np.testing.assert_array_equal(found, expected)
            for scalar in more:
                lib.aclDestroyScalar(scalar)
        lib.aclDestroyTensor(out)
        lib.aclDestroyTensor(other)
        call.release()


@pytest.mark.skipif("PYACLNN_TEST_SANITIZER" in os.environ, reason="sanitizers need more stack")
def test_a_thread_with_a_small_stack(call: Caller, native: Native) -> None:
    """Small work runs on the thread of the caller, which may have chosen how large its stack is."""
    x = np.arange(2000, dtype=np.float16) / 16
    a, b = call.place("f16", x, "stepped"), call.place("f32", x.astype(np.float32), "stepped")
    out = call.place("bf16", x.shape, "stepped")
    square = call.place("c128", np.arange(96 * 96).reshape(96, 96) * 1j, "permuted")
    dense = call.place("c128", (96, 96))
    finished = []

    def work() -> None:
        native.check(native.lib.aclrtSetDevice(0))
        call.run("aclnnAdd", a, b, Number("f32", 2.5), out)
        call.run("aclnnInplaceCopy", dense, square)
        finished.append(True)

    before = threading.stack_size(64 * 1024)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert finished
    np.testing.assert_array_equal(dense.memory, square.memory)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_large_tensors(call: Caller, native: Native, threads: int) -> None:
    """Over the pool: the same bytes for any number of threads."""
    native.check(native.lib.pyaclnnSetThreads(threads))
    rng = np.random.default_rng(5)
    x, y = (rng.standard_normal((1031, 577)).astype(np.float32) for _ in range(2))
    a, b = call.place("f32", x), call.place("f32", y, "permuted")
    out = call.place("f32", x.shape)
    call.run("aclnnAdd", a, b, Number("i64", 1), out)
    np.testing.assert_array_equal(out.memory, x + y)
    half = call.place("f16", x.shape, "permuted")
    call.run("aclnnInplaceCopy", half, a)
    np.testing.assert_array_equal(half.memory, x.astype(np.float16))
    call.run("aclnnInplaceFillScalar", half, Number("f64", 0.5))
    assert (half.memory == 0.5).all()
    total = call.place("f32", ())
    call.run("aclnnReduceSum", a, Ints(), False, 0, total)
    assert abs(float(total.memory) - x.astype(np.float64).sum()) < 1e-4
    key = test_large_tensors.__name__
    seen = SEEN.setdefault(key, total.memory.tobytes())
    assert seen == total.memory.tobytes()


SEEN: dict[str, bytes] = {}


def test_formats_are_equal(call: Caller) -> None:
    """The tags of plain formats do not change what a tensor is."""
    x = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
    for format in (-1, 0, 1, 2, 16, 27, 30, 35, 47):
        a, out = call.place("f32", x, format=format), call.place("f32", x.shape, format=0)
        call.run("aclnnMuls", a, Number("f64", 2.0), out)
        np.testing.assert_array_equal(out.memory, 2 * x)
