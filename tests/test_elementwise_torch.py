"""Elementwise operators against torch on the CPU, where torch is installed."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from golden.elementwise import samples
from tensor_calls import KINDS, LAYOUTS, Caller, Ints, Number, Placed, caller

if TYPE_CHECKING:
    from native_call import Native

os.environ.setdefault("TORCH_DEVICE_BACKEND_AUTOLOAD", "0")
torch = pytest.importorskip("torch")

DTYPES: dict[str, Any] = {
    "bool": torch.bool,
    "u8": torch.uint8,
    "i8": torch.int8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64,
    "c64": torch.complex64,
    "c128": torch.complex128,
}
KIND_OF = {dtype: kind for kind, dtype in DTYPES.items()}
REAL = list(DTYPES)[:-2]
SHAPES = [
    ((3, 4), (3, 4)),
    ((3, 4), (4,)),
    ((), (2, 3)),
    ((2, 3), ()),
    ((), ()),
    ((0, 2), (2,)),
    ((900,), (900,)),
]


@pytest.fixture
def call(native: Native, streams: dict[str, Any]) -> Iterator[Caller]:
    with caller(native, streams["auto"]) as made:
        yield made


def as_torch(memory: np.ndarray[Any, Any], kind: str) -> Any:
    memory = np.ascontiguousarray(memory).reshape(memory.shape)
    if kind == "bf16":
        return torch.from_numpy(memory.view(np.int16).copy()).view(torch.bfloat16)
    if kind == "bool":
        return torch.from_numpy(memory.astype(bool))
    return torch.from_numpy(memory.copy())


def compare(out: Placed, wanted: Any, units: int = 0) -> None:
    """Equal, or within units of the format; NaN is NaN."""
    found = as_torch(out.memory, out.kind)
    assert found.shape == wanted.shape and found.dtype == wanted.dtype
    if found.dtype.is_complex:
        tolerance = 1e-5 if found.dtype == torch.complex64 else 1e-13
        # Infinities have no agreed parts.
        finite = torch.isfinite(wanted)
        found, wanted = found[finite], wanted[finite]
        torch.testing.assert_close(found, wanted, rtol=tolerance, atol=tolerance, equal_nan=True)
    elif units == 0 or not found.dtype.is_floating_point:
        torch.testing.assert_close(found, wanted, rtol=0, atol=0, equal_nan=True)
    else:
        eps = torch.finfo(found.dtype).eps * units
        torch.testing.assert_close(found, wanted, rtol=eps, atol=1e-36, equal_nan=True)


def inputs(
    call: Caller, rng: np.random.Generator, kind: str, shape: tuple[int, ...]
) -> tuple[Placed, Any]:
    placed = call.place(kind, samples(rng, shape, kind), str(rng.choice(LAYOUTS)))
    return placed, as_torch(placed.memory, kind)


def rng_of(*names: object) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(repr(names).encode()))


#: Operator -> torch's function, the units by which results may differ.
BINARY = {
    "Add": (torch.add, 0),
    "Sub": (torch.sub, 0),
    "Mul": (torch.mul, 0),
    "Div": (torch.div, 0),
    "Maximum": (torch.maximum, 0),
    "Minimum": (torch.minimum, 0),
    "EqTensor": (torch.eq, 0),
    "NeTensor": (torch.ne, 0),
    "GtTensor": (torch.gt, 0),
    "GeTensor": (torch.ge, 0),
    "LtTensor": (torch.lt, 0),
    "LeTensor": (torch.le, 0),
    "LogicalAnd": (torch.logical_and, 0),
    "LogicalOr": (torch.logical_or, 0),
    "LogicalXor": (torch.logical_xor, 0),
    "BitwiseAndTensor": (torch.bitwise_and, 0),
    "BitwiseOrTensor": (torch.bitwise_or, 0),
    "BitwiseXorTensor": (torch.bitwise_xor, 0),
    "FloorDivide": (torch.floor_divide, 0),
    "RemainderTensorTensor": (torch.remainder, 0),
    "FmodTensor": (torch.fmod, 0),
    "PowTensorTensor": (torch.pow, 4),
}


@pytest.mark.parametrize("name", BINARY)
def test_two_tensors(call: Caller, name: str) -> None:
    rng = rng_of(name)
    function, units = BINARY[name]
    made = 0
    for first in DTYPES:
        for second in DTYPES:
            shapes = SHAPES[rng.integers(len(SHAPES))]
            (a, x), (b, y) = (
                inputs(call, rng, first, shapes[0]),
                inputs(call, rng, second, shapes[1]),
            )
            common = torch.result_type(x, y)
            if name in ("FloorDivide", "RemainderTensorTensor", "FmodTensor"):
                y = torch.where(y == 0, torch.ones_like(y), y)
                b.memory[...] = np.where(b.memory == 0, np.ones_like(b.memory), b.memory)
                if common in (torch.bool, torch.float16, torch.bfloat16) or second == "bf16":
                    call.release()
                    continue  # torch rounds in between
            if name == "PowTensorTensor" and not common.is_floating_point:
                y = y.abs() if not y.dtype.is_complex and y.dtype != torch.bool else y
                b.memory[...] = np.abs(b.memory)
            if common.is_complex and name in ("Mul", "Div", "PowTensorTensor"):
                call.release()
                continue  # the goldens look at these
            if (first in ("c64", "c128") and second in ("f16", "bf16")) or (
                second in ("c64", "c128") and first in ("f16", "bf16")
            ):
                call.release()
                continue  # half of complex64 is no dtype of ours
            try:
                wanted = function(x, y)
            except (RuntimeError, ZeroDivisionError, NotImplementedError):
                call.release()
                continue
            out = call.place(KIND_OF[wanted.dtype], tuple(wanted.shape), str(rng.choice(LAYOUTS)))
            more = (Number("i64", 1),) if name in ("Add", "Sub") else ()
            call.run(f"aclnn{name}", a, b, *more, out)
            # torch does not round one value to a half before it is used.
            compare(out, wanted, max(units, int(not (x.shape and y.shape))))
            made += 1
            call.release()
    assert made > 25


UNARY = {
    "Neg": torch.neg,
    "Abs": torch.abs,
    "Ceil": torch.ceil,
    "Floor": torch.floor,
    "Trunc": torch.trunc,
    "Round": torch.round,
    "Sqrt": torch.sqrt,
    "Rsqrt": torch.rsqrt,
    "Reciprocal": torch.reciprocal,
    "Exp": torch.exp,
    "Exp2": torch.exp2,
    "Expm1": torch.expm1,
    "Log": torch.log,
    "Log2": torch.log2,
    "Log10": torch.log10,
    "Log1p": torch.log1p,
    "Sin": torch.sin,
    "Cos": torch.cos,
    "Tan": torch.tan,
    "Tanh": torch.tanh,
    "Erf": torch.erf,
    "Sigmoid": torch.sigmoid,
    "Silu": torch.nn.functional.silu,
    "Relu": torch.relu,
    "IsFinite": torch.isfinite,
    "IsInf": torch.isinf,
    "Sign": torch.sign,
    "LogicalNot": torch.logical_not,
    "BitwiseNot": torch.bitwise_not,
}


@pytest.mark.parametrize("name", UNARY)
def test_one_tensor(call: Caller, name: str) -> None:
    rng = rng_of(name)
    made = 0
    for kind in REAL:
        for shape in ((5, 40), (), (0,), (1300,)):
            a, x = inputs(call, rng, kind, shape)
            try:
                wanted = UNARY[name](x)
            except (RuntimeError, NotImplementedError):
                continue
            if kind == "bool" and name in ("Ceil", "Floor", "Trunc", "Round", "Abs"):
                continue
            out = call.place(KIND_OF[wanted.dtype], tuple(wanted.shape), str(rng.choice(LAYOUTS)))
            call.run(f"aclnn{name}", a, out)
            if name == "Erf":  # torch's polynomial is 0 for small values
                found = as_torch(out.memory, out.kind)
                torch.testing.assert_close(
                    found, wanted, rtol=2e-2 if kind == "bf16" else 2e-3, atol=2e-7, equal_nan=True
                )
            else:
                compare(out, wanted, 4)
            made += 1
            call.release()
    assert made >= 12


@pytest.mark.parametrize("source", DTYPES)
def test_conversions(call: Caller, source: str) -> None:
    rng = rng_of("cast", source)
    for target, dtype in DTYPES.items():
        a, x = inputs(call, rng, source, (37, 29))
        if source in ("f16", "bf16", "f32", "f64") and target in "u8 i8 i16 i32 i64".split():
            # What does not fit is undefined in torch.
            a.memory[...] = (
                samples(rng, (37, 29), "i8").astype(np.float32) if source != "bf16" else 0
            )
            a.memory[...] = np.abs(a.memory) if source != "bf16" else 0
            x = as_torch(a.memory, source)
        out = call.place(target, (37, 29), str(rng.choice(LAYOUTS)))
        call.run("aclnnInplaceCopy", out, a)
        compare(out, x.to(dtype))
        call.release()


NUMBERS = [("i64", 3), ("f64", 0.3), ("bool", True), ("i64", -7)]
WITH_NUMBER = {
    "Adds": torch.add,
    "Subs": torch.sub,
    "Rsubs": torch.rsub,
    "Muls": torch.mul,
    "Divs": torch.div,
    "EqScalar": torch.eq,
    "NeScalar": torch.ne,
    "GtScalar": torch.gt,
    "GeScalar": torch.ge,
    "LtScalar": torch.lt,
    "LeScalar": torch.le,
    "FloorDivides": torch.floor_divide,
    "RemainderTensorScalar": torch.remainder,
    "FmodScalar": torch.fmod,
    "PowTensorScalar": torch.pow,
    "BitwiseAndScalar": torch.bitwise_and,
    "BitwiseOrScalar": torch.bitwise_or,
    "BitwiseXorScalar": torch.bitwise_xor,
}


@pytest.mark.parametrize("name", WITH_NUMBER)
def test_numbers(call: Caller, name: str) -> None:
    rng = rng_of(name)
    made = 0
    for kind in REAL:
        for number, value in NUMBERS:
            if kind == "u8" and value < 0:
                continue  # torch refuses what wraps
            if kind in ("f16", "bf16") and name in (
                "FloorDivides",
                "RemainderTensorScalar",
                "FmodScalar",
            ):
                continue  # torch rounds in between
            a, x = inputs(call, rng, kind, (11, 13))
            if kind == "bool" and name == "PowTensorScalar":
                continue
            try:
                wanted = WITH_NUMBER[name](x, value)
            except (RuntimeError, NotImplementedError):
                call.release()
                continue
            out = call.place(KIND_OF[wanted.dtype], (11, 13), str(rng.choice(LAYOUTS)))
            more = (Number("i64", 1),) if name in ("Adds", "Subs", "Rsubs") else ()
            call.run(f"aclnn{name}", a, Number(number, value), *more, out)
            # Divided by, torch multiplies with the inverse; powers go other ways.
            units = 8 if name.startswith("Pow") else 1
            compare(out, wanted, units)
            made += 1
            call.release()
    assert made >= 5


def test_choices(call: Caller) -> None:
    rng = rng_of("choices")
    for first in REAL:
        for second in REAL:
            (a, x), (b, y) = inputs(call, rng, first, (4, 5)), inputs(call, rng, second, (5,))
            c, condition = inputs(call, rng, "bool", (4, 1))
            wanted = torch.where(condition, x, y)
            out = call.place(KIND_OF[wanted.dtype], (4, 5))
            call.run("aclnnSWhere", c, a, b, out)
            compare(out, wanted)
            call.release()
    for kind in REAL:
        a, x = inputs(call, rng, kind, (40, 5))
        c, condition = inputs(call, rng, "bool", (5,))
        wanted = x.masked_fill(condition, 1)
        call.run("aclnnInplaceMaskedFillScalar", a, c, Number("i64", 1))
        compare(a, wanted)
        if kind != "bool":
            a, x = inputs(call, rng, kind, (40, 5))
            for low, high in ((-1, 2), (None, 1), (0, None), (-0.25, 0.75)):
                wanted = torch.clamp(x, low, high)
                out = call.place(KIND_OF[wanted.dtype], (40, 5))
                bounds = [
                    None if v is None else Number("f64" if isinstance(v, float) else "i64", v)
                    for v in (low, high)
                ]
                if kind == "u8" and low is not None and low < 0:
                    continue
                call.run("aclnnClamp", a, *bounds, out)
                compare(out, wanted)
        a, x = inputs(call, rng, kind, (3, 6, 5))
        for diagonal in (-9, -2, 0, 1, 7):
            out = call.place(kind, (3, 6, 5), "permuted")
            call.run("aclnnTriu", a, diagonal, out)
            compare(out, torch.triu(x, diagonal))
            call.run("aclnnTril", a, diagonal, out)
            compare(out, torch.tril(x, diagonal))
        call.release()


def test_progressions(call: Caller) -> None:
    for dtype, numbers in (
        ("i64", (0, 5, 1)),
        ("i64", (9, -3, -2)),
        ("i32", (2, 9, 3)),
        ("f32", (0, 1, 0.1)),
        ("f32", (1, 2000, 0.7)),
        ("f64", (0.3, -5.0, -0.7)),
        ("f16", (0, 30, 0.5)),
        ("f32", (0, 0, 1)),
    ):
        wanted = torch.arange(*numbers, dtype=DTYPES[dtype])
        out = call.place(dtype, tuple(wanted.shape), "stepped")
        given = [Number("f64" if isinstance(v, float) else "i64", v) for v in numbers]
        call.run("aclnnArange", *given, out)
        compare(out, wanted, 1)
    for dtype, start, end, steps in (
        ("f32", 0, 1, 5),
        ("f64", -3.0, 7.5, 1000),
        ("i32", 0, 9, 10),
        ("f32", 2, 3, 1),
    ):
        wanted = torch.linspace(start, end, steps, dtype=DTYPES[dtype])
        out = call.place(dtype, (steps,))
        call.run("aclnnLinspace", Number("f64", start), Number("f64", end), steps, out)
        # torch works in the dtype of the output: the values' distance to the ends decides.
        found = as_torch(out.memory, dtype)
        torch.testing.assert_close(found, wanted, rtol=1e-6, atol=1e-6)
    for n, m in ((4, 4), (2, 5), (5, 2), (0, 3)):
        out = call.place("f32", (n, m), "permuted")
        call.run("aclnnEye", n, m, out)
        compare(out, torch.eye(n, m))


def test_joins(call: Caller) -> None:
    rng = rng_of("joins")
    for kind in DTYPES:
        for dim in (0, 1, 2, -1):
            parts = []
            for i in range(3):
                shape = [2, 3, 4]
                shape[dim] = (1, 0, 3)[i]
                parts.append(inputs(call, rng, kind, tuple(shape)))
            parts.append((call.place(kind, (0,)), torch.empty(0, dtype=DTYPES[kind])))
            wanted = torch.cat([x for _, x in parts], dim)
            out = call.place(kind, tuple(wanted.shape), str(rng.choice(LAYOUTS)))
            call.run("aclnnCat", [p for p, _ in parts], dim, out)
            compare(out, wanted)
            equal = [inputs(call, rng, kind, (3, 5)) for _ in range(2)]
            wanted = torch.stack([x for _, x in equal], dim)
            out = call.place(kind, tuple(wanted.shape), str(rng.choice(LAYOUTS)))
            call.run("aclnnStack", [p for p, _ in equal], dim, out)
            compare(out, wanted)
            call.release()
    (a, x), (b, y) = inputs(call, rng, "i32", (2, 2)), inputs(call, rng, "f16", (2, 2))
    out = call.place("f32", (4, 2))
    call.run("aclnnCat", [a, b], 0, out)
    compare(out, torch.cat([x, y], 0).float() if False else torch.cat([x.float(), y.float()]))


DIMS = [
    ((), False),
    ((0,), False),
    ((1,), True),
    ((-1,), False),
    ((0, 2), False),
    ((2, 0), True),
    ((0, 1, 2), True),
]


@pytest.mark.parametrize("kind", DTYPES)
def test_reductions(call: Caller, kind: str) -> None:
    rng = rng_of("reductions", kind)
    for shape in ((3, 4, 5), (2, 70, 40), (1, 3, 2), (70, 3, 33)):
        memory = samples(rng, shape, kind)
        if kind in ("f16", "bf16", "f32", "f64"):
            from golden.elementwise import encode

            memory = encode(rng.standard_normal(shape), kind)
        a = call.place(kind, memory, str(rng.choice(LAYOUTS)))
        x = as_torch(a.memory, kind)
        wide = x.to(torch.complex128 if x.dtype.is_complex else torch.float64)
        for dims, keep in DIMS:
            every = dims or (0, 1, 2)
            whole = "i64" if kind in "bool u8 i8 i16 i32 i64".split() else kind
            wanted = torch.sum(x.to(DTYPES[whole]), every, keepdim=keep)
            out = call.place(whole, tuple(wanted.shape), str(rng.choice(LAYOUTS)))
            call.run("aclnnReduceSum", a, Ints(dims), keep, KINDS[whole][0], out)
            exact = torch.sum(wide, every, keepdim=keep)
            found = as_torch(out.memory, whole)
            if whole == "i64":
                compare(out, wanted)
            else:  # one rounding
                torch.testing.assert_close(
                    found,
                    exact.to(found.dtype),
                    rtol=1e-6 if kind in ("c64", "f32") else 1e-12,
                    atol=1e-12,
                )
                out = call.place(kind, tuple(wanted.shape))
                call.run("aclnnMean", a, Ints(dims), keep, KINDS[kind][0], out)
                exact = torch.mean(wide, every, keepdim=keep)
                torch.testing.assert_close(
                    as_torch(out.memory, kind),
                    exact.to(found.dtype),
                    rtol=1e-6 if kind in ("c64", "f32") else 1e-12,
                    atol=1e-12,
                )
            out = call.place("bool", tuple(wanted.shape))
            call.run("aclnnAny", a, Ints(dims), keep, out)
            compare(out, (x != 0).to(torch.int64).amax(every, keepdim=keep) != 0)
            call.run("aclnnAll", a, Ints(dims), keep, out)
            compare(out, (x != 0).to(torch.int64).amin(every, keepdim=keep) != 0)
            if kind in ("c64", "c128"):
                continue
            out = call.place(kind, tuple(wanted.shape), str(rng.choice(LAYOUTS)))
            call.run("aclnnAmax", a, Ints(dims), keep, out)
            compare(out, torch.amax(x, every, keepdim=keep))
            call.run("aclnnAmin", a, Ints(dims), keep, out)
            compare(out, torch.amin(x, every, keepdim=keep))
        if kind in ("c64", "c128"):
            continue
        out = call.place(kind, ())
        call.run("aclnnMax", a, out)
        compare(out, x.max())
        call.run("aclnnMin", a, out)
        compare(out, x.min())
        for dim in (0, 1, -1):
            values, indices = torch.max(x, dim, keepdim=True)
            out = call.place(kind, tuple(values.shape), "permuted")
            places = call.place("i64", tuple(values.shape), "stepped")
            call.run("aclnnMaxDim", a, dim, True, out, places)
            compare(out, values)
            compare(places, indices)
            values, indices = torch.min(x, dim)
            out, places = (
                call.place(kind, tuple(values.shape)),
                call.place("i64", tuple(values.shape)),
            )
            call.run("aclnnMinDim", a, dim, False, out, places)
            compare(out, values)
            compare(places, indices)
            if kind != "bool":
                call.run("aclnnArgMax", a, dim, False, places)
                compare(places, torch.argmax(x, dim))
                call.run("aclnnArgMin", a, dim, False, places)
                compare(places, torch.argmin(x, dim))
        call.release()


def test_reductions_of_special_values(call: Caller) -> None:
    """NaN wins, the first of equals is taken; large ones are split and joined."""
    nan = float("nan")
    x = torch.tensor([[1.0, nan, 5.0, nan], [2.0, 7.0, 7.0, -1.0], [-np.inf] * 4])
    a = call.place("f32", x.numpy())
    values, places = call.place("f32", (3,)), call.place("i64", (3,))
    call.run("aclnnMaxDim", a, 1, False, values, places)
    compare(values, torch.max(x, 1)[0])
    np.testing.assert_array_equal(places.memory, [1, 1, 0])
    rng = rng_of("large")
    y = torch.from_numpy(rng.integers(-1000, 1000, (2, 300_000)))
    y[1, 200_123] = 5000
    b = call.place("i64", y.numpy())
    total, values, places = (
        call.place("i64", (2,)),
        call.place("i64", (2,)),
        call.place("i64", (2,)),
    )
    call.run("aclnnReduceSum", b, Ints((1,)), False, 9, total)
    compare(total, y.sum(1))
    call.run("aclnnMaxDim", b, 1, False, values, places)
    compare(values, y.max(1)[0])
    assert places.memory[1] == 200_123 and places.memory[0] == int(y[0].argmax())
    empty = call.place("f32", (2, 0))
    out = call.place("f32", (2,))
    call.run("aclnnReduceSum", empty, Ints((1,)), False, 0, out)
    assert (out.memory == 0).all()
    call.run("aclnnMean", empty, Ints((1,)), False, 0, out)
    assert np.isnan(out.memory).all()


def test_picks(call: Caller) -> None:
    rng = rng_of("picks")
    for kind in DTYPES:
        for shape, mask_shape in (
            ((3, 4), (3, 4)),
            ((3, 4), (4,)),
            ((50, 60), (50, 1)),
            ((5,), (5,)),
            ((0,), (0,)),
            ((), ()),
        ):
            (a, x), (m, mask) = (
                inputs(call, rng, kind, shape),
                inputs(call, rng, "bool", mask_shape),
            )
            wanted = torch.masked_select(x, mask)
            room = int(np.prod(shape))
            out = call.place(kind, (room,))
            call.run("aclnnMaskedSelect", a, m, out)
            assert out.view_shape() == tuple(wanted.shape)
            got = as_torch(out.memory[: wanted.numel()], kind)
            torch.testing.assert_close(got, wanted, rtol=0, atol=0, equal_nan=True)
            rank = len(shape)
            wanted = torch.nonzero(x)
            out = call.place("i64", (room, rank))
            call.run("aclnnNonzero", a, out)
            assert out.view_shape() == tuple(wanted.shape)
            flat = out.block.array("int64")[: wanted.numel()]
            np.testing.assert_array_equal(flat, wanted.numpy().ravel())
            out = call.place("i64", (rank, room))
            call.run("aclnnNonzeroV2", a, out)
            assert out.view_shape() == tuple(wanted.T.shape)
            flat = out.block.array("int64")[: wanted.numel()]
            np.testing.assert_array_equal(flat, wanted.T.numpy().ravel())
            call.release()


@pytest.mark.parametrize("kind", DTYPES)
def test_rearrangements(call: Caller, kind: str) -> None:
    rng = rng_of("rearranged", kind)
    for shape in ((3, 4, 5), (7,), (2, 1, 300), (2, 3, 2, 2)):
        a, x = inputs(call, rng, kind, shape)
        for dim in range(-1, len(shape)):
            index = rng.integers(0, shape[dim], 6)
            for number in ("i32", "i64"):
                i = call.place(number, index.astype(number.replace("i", "int")), "stepped")
                wanted = torch.index_select(x, dim, torch.from_numpy(index))
                out = call.place(kind, tuple(wanted.shape), str(rng.choice(LAYOUTS)))
                call.run("aclnnIndexSelect", a, dim, i, out)
                compare(out, wanted)
                two = call.place(number, index.reshape(2, 3).astype(number.replace("i", "int")))
                before, after = shape[: dim % len(shape)], shape[dim % len(shape) + 1 :]
                out = call.place(kind, (*before, 2, 3, *after), str(rng.choice(LAYOUTS)))
                call.run("aclnnGatherV2", a, dim, two, out)
                compare(out, wanted.reshape(out.shape))
        for repeats in ((1,) * len(shape), (2, 3, 1, 2, 2)[: len(shape)], (2, *[1] * len(shape))):
            wanted = x.repeat(*repeats)
            out = call.place(kind, tuple(wanted.shape), str(rng.choice(LAYOUTS)))
            call.run("aclnnRepeat", a, Ints(repeats), out)
            compare(out, wanted)
        for dims in ((), (0,), (-1,), tuple(range(len(shape)))):
            out = call.place(kind, shape, str(rng.choice(LAYOUTS)))
            call.run("aclnnFlip", a, Ints(dims), out)
            compare(out, torch.flip(x, dims))
        call.release()


def test_equality(call: Caller) -> None:
    rng = rng_of("equality")
    out = call.place("bool", ())
    for kind in DTYPES:
        memory = np.ones((40, 50), KINDS[kind][1])
        a, b = call.place(kind, memory, "permuted"), call.place(kind, memory, "stepped")
        call.run("aclnnEqual", a, b, out)
        assert out.memory == 1
        b.memory[rng.integers(40), rng.integers(50)] = 0
        call.run("aclnnEqual", a, b, out)
        assert out.memory == 0
        call.run("aclnnEqual", a, call.place(kind, memory.reshape(50, 40)), out)
        assert out.memory == 0


def test_indices(call: Caller) -> None:
    """Several dimensions at once; beside each other, apart, with and without the others."""
    rng = rng_of("indices")
    shape = (4, 5, 3, 6)
    for kind in ("f32", "i8", "c128", "bool"):
        for given in (
            ((2,),),
            (None, (2, 3)),
            ((2, 1), (3,)),
            (None, (3,), (3,)),
            ((4,), None, (4,)),
            ((1,), None, None, (2, 2)),
            ((), (3,)),
            (None, None, None, (5,)),
        ):
            a, x = inputs(call, rng, kind, shape)
            members, indices = [], []
            for d, size in enumerate(given):
                if size is None:
                    # Both ways to say that a dimension stays.
                    members.append(None if rng.random() < 0.5 else call.place("i64", (0,)))
                    indices.append(slice(None))
                    continue
                values = rng.integers(-shape[d], shape[d], size)
                number = str(rng.choice(["i32", "i64"]))
                memory = np.asarray(values, number.replace("i", "int"))
                members.append(call.place(number, memory, str(rng.choice(LAYOUTS))))
                indices.append(torch.from_numpy(np.asarray(values, np.int64)))
            wanted = x[tuple(indices)]
            out = call.place(kind, tuple(wanted.shape), str(rng.choice(LAYOUTS)))
            call.run("aclnnIndex", a, members, out)
            compare(out, wanted)
            call.release()
