"""What the tensor and scalar operators refuse: every rule, by a call that breaks it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensor_operators
from tensor_calls import KINDS, Caller, Ints, Number, Placed, caller

if TYPE_CHECKING:
    from native_call import Native

FUNCTIONS = tensor_operators.functions()


@pytest.fixture
def call(native: Native, streams: dict[str, Any]) -> Iterator[Caller]:
    with caller(native, streams["auto"]) as made:
        yield made


#: Arguments that are not told by their names.
OTHERS: dict[str, dict[str, Any]] = {
    "aclnnCast": {"dtype": 0},
    "aclnnArange": {"start": 0, "end": 4, "step": 1},
    "aclnnLinspace": {"start": 0, "end": 1, "steps": 4},
    "aclnnEye": {"n": 2, "m": 2},
    "aclnnReduceSum": {"dtype": 0},
    "aclnnMean": {"dtype": 0},
}
SCALAR_SHAPES = {
    "aclnnMax",
    "aclnnMin",
    "aclnnReduceSum",
    "aclnnMean",
    "aclnnAmax",
    "aclnnAmin",
    "aclnnAll",
    "aclnnAny",
}
ONE_LESS = {"aclnnArgMax", "aclnnArgMin", "aclnnMaxDim", "aclnnMinDim"}


def shape_of(function: str, name: str) -> tuple[int, ...]:
    if name in ("out", "indices") and function in SCALAR_SHAPES:
        return ()
    if name in ("out", "indices") and function in ONE_LESS:
        return (2,)
    if function in ("aclnnMaskedSelect",) and name == "out":
        return (4,)
    if function == "aclnnNonzero" and name == "out":
        return (4, 2)
    if function == "aclnnNonzeroV2" and name == "out":
        return (2, 4)
    if function == "aclnnEqual" and name == "out":
        return ()
    if name == "index":
        return (2,)
    if function == "aclnnGatherV2" and name == "out":
        return (2, 2)
    if function == "aclnnCat" and name == "out":
        return (4, 2)
    if function == "aclnnStack" and name == "out":
        return (2, 2, 2)
    if function == "aclnnInplaceFillTensor" and name == "value":
        return ()
    return (2, 2)


def kind_of(function: str, name: str) -> str:
    if name in ("condition", "mask") or (function in ("aclnnAll", "aclnnAny") and name == "out"):
        return "bool"
    if function == "aclnnEqual" and name == "out":
        return "bool"
    if name in ("indices", "index") or (
        name == "out"
        and function in ("aclnnArgMax", "aclnnArgMin", "aclnnNonzero", "aclnnNonzeroV2")
    ):
        return "i64"
    return "i32" if "Bitwise" in function else "f32"


Maker = Callable[[str, str, tuple[int, ...]], Any]


def valid(call: Caller, function: str, make: Maker | None = None) -> dict[str, Any]:
    """A call that is accepted; `make` gives other tensors: parameter, kind, shape."""
    arguments: dict[str, Any] = {}
    for name, ctype in FUNCTIONS[function]:
        if function == "aclnnIndex" and name == "indices":
            arguments[name] = [call.place("i64", np.ones(2, np.int64))]
        elif "aclTensorList" in ctype:
            arguments[name] = [call.place("f32", np.ones((2, 2), np.float32)) for _ in range(2)]
        elif "aclTensor" in ctype:
            kind, shape = kind_of(function, name), shape_of(function, name)
            made = make(name, kind, shape) if make else None
            arguments[name] = made or call.place(kind, np.ones(shape, KINDS[kind][1]))
        elif "aclScalar" in ctype:
            arguments[name] = Number("i64", OTHERS.get(function, {}).get(name, 1))
        elif "aclIntArray" in ctype:
            arguments[name] = Ints((1, 1) if name == "repeats" else ())
        else:
            arguments[name] = OTHERS.get(function, {}).get(name, 0)
    return arguments


def tensors(function: str) -> list[str]:
    return [name for name, ctype in FUNCTIONS[function] if re.search(r"aclTensor \*", ctype)]


def outputs(function: str) -> list[str]:
    return [n for n in tensors(function) if n.endswith("Ref") or n in ("out", "result", "indices")]


EACH = pytest.mark.parametrize("function", FUNCTIONS)


@EACH
def test_the_call_is_accepted(call: Caller, function: str) -> None:
    """Otherwise the rows below would prove nothing."""
    call.run(function, *valid(call, function).values())


@EACH
def test_pointers(call: Caller, native: Native, function: str) -> None:
    for name, ctype in FUNCTIONS[function]:
        optional = ("aclIntArray" in ctype and function not in ("aclnnRepeat", "aclnnFlip")) or (
            function == "aclnnClamp" and name.startswith("clip")
        )
        if "*" not in ctype or optional:
            continue
        arguments = {**valid(call, function), name: None}
        found = call.refused(function, *arguments.values(), code=161001)
        assert (found["rule"], found["parameter"], found["value"]) == ("TENSOR-NULL", name, "NULL")
    ffi, lib = native.ffi, native.lib
    for name, results in (
        ("workspaceSize", (ffi.NULL, ffi.new("aclOpExecutor **"))),
        ("executor", (ffi.new("uint64_t *"), ffi.NULL)),
    ):
        done: list[Any] = []
        given = [call._argument(v, done) for v in valid(call, function).values()]
        assert getattr(lib, f"{function}GetWorkspaceSize")(*given, *results) == 161001
        assert native.explain()["findings"][0]["parameter"] == name
        native.message()
        for destroy, handle in done:
            getattr(lib, destroy)(handle)
    call.release()


def tensors_except(function: str, wanted: str, replacement: Placed) -> Maker:
    return lambda name, kind, shape: replacement if name == wanted else None


@EACH
def test_dead_tensors(call: Caller, native: Native, function: str) -> None:
    for name in tensors(function):
        dead = call.place("f32", (2, 2))
        native.check(native.lib.aclDestroyTensor(dead.handle))
        arguments = valid(call, function, tensors_except(function, name, dead))
        found = call.refused(function, *arguments.values())
        assert (found["rule"], found["parameter"]) == ("TENSOR-LIVE", name)
        dead.handle = None
    call.release()


class Odd(Placed):
    """A tensor that is not as its memory is."""

    def __init__(self, call: Caller, kind: str, shape: tuple[int, ...], **odd: Any) -> None:
        super().__init__(call.native, kind, np.zeros(shape, KINDS[kind][1]), "dense")
        call._placed.append(self)
        ffi, lib = call.native.ffi, call.native.lib
        lib.aclDestroyTensor(self.handle)
        dims = list(odd.get("dims", shape))
        strides = list(odd.get("strides", self.strides if "dims" not in odd else [1] * len(dims)))
        storage = odd.get("storage", [self.elements])
        self.handle = lib.aclCreateTensor(
            ffi.new("int64_t[]", dims or [0]), len(dims), odd.get("dtype", KINDS[kind][0]),
            ffi.new("int64_t[]", strides or [0]), 0, odd.get("format", 2),
            ffi.new("int64_t[]", storage), len(storage), ffi.cast("void *", self.block.address),
        )  # fmt: skip


@EACH
def test_dtypes_formats_ranks_storage(call: Caller, function: str) -> None:
    for name in tensors(function):
        kind, shape = kind_of(function, name), shape_of(function, name)
        for rule, odd in (
            ("TENSOR-DTYPE", {"dtype": 29}),  # INT4
            ("TENSOR-DTYPE", {"dtype": 33}),  # COMPLEX32
            ("TENSOR-FORMAT", {"format": 29}),  # FRACTAL_NZ
            ("TENSOR-RANK", {"dims": (1,) * 9, "strides": (1,) * 9}),
            ("TENSOR-STORAGE", {"storage": [0]}),
        ):
            tensor = Odd(call, kind, shape, **odd)
            arguments = valid(call, function, tensors_except(function, name, tensor))
            found = call.refused(function, *arguments.values())
            assert (found["rule"], found["parameter"]) == (rule, name)
            call.release()


@EACH
def test_outputs_that_overlap_themselves(call: Caller, function: str) -> None:
    for name in outputs(function):
        shape = shape_of(function, name)
        if not shape:
            continue
        tensor = Odd(call, kind_of(function, name), shape, strides=(0,) * len(shape))
        arguments = valid(call, function, tensors_except(function, name, tensor))
        found = call.refused(function, *arguments.values())
        assert (found["rule"], found["parameter"]) == ("TENSOR-OVERLAP", name)
    call.release()


@EACH
def test_dtypes_of_numbers(call: Caller, native: Native, function: str) -> None:
    ffi, lib = native.ffi, native.lib
    for name, ctype in FUNCTIONS[function]:
        if "aclScalar" not in ctype:
            continue
        arguments = valid(call, function)
        byte = ffi.new("uint8_t *", 1)
        strange = lib.aclCreateScalar(ffi.cast("void *", byte), lib.ACL_HIFLOAT8)
        arguments[name] = strange
        found = call.refused(function, *arguments.values())
        assert (found["rule"], found["parameter"]) == ("TENSOR-SCALAR", name)
        lib.aclDestroyScalar(strange)
        arguments[name] = strange
        found = call.refused(function, *arguments.values())
        assert (found["rule"], found["parameter"]) == ("TENSOR-LIVE", name)
    call.release()


def test_products_without_bfloat16(call: Caller, native: Native) -> None:
    x = call.place("bf16", np.zeros((2, 2), np.uint16))
    try:
        native.product("atlas-910")
        found = call.refused("aclnnAbs", x, x)
        assert found["rule"] == "TENSOR-DTYPE" and "BFLOAT16" not in found["limit"]
        half = call.place("f16", np.zeros((2, 2), np.float16))
        call.run("aclnnAbs", half, half)
    finally:
        native.product("atlas-a2")
    call.run("aclnnAbs", x, x)


def f32(call: Caller, *shape: int) -> Placed:
    return call.place("f32", np.ones(shape, np.float32))


def of(call: Caller, kind: str, *shape: int) -> Placed:
    return call.place(kind, np.ones(shape, KINDS[kind][1]))


def one(kind: str = "i64", value: complex = 1) -> Number:
    return Number(kind, value)


#: Rule, operator, arguments that break it, the parameter at fault, arguments just inside.
Row = tuple[str, str, Callable[[Caller], list[Any]], str, Callable[[Caller], list[Any]]]
ROWS: list[Row] = [
    (
        "ELEM-PROMOTE",
        "aclnnSub",
        lambda c: [of(c, "bool", 2), of(c, "bool", 2), one(), of(c, "bool", 2)],
        "self",
        lambda c: [of(c, "bool", 2), of(c, "u8", 2), one(), of(c, "u8", 2)],
    ),
    (
        "ELEM-PROMOTE",
        "aclnnAdd",
        lambda c: [of(c, "u32", 2), of(c, "i32", 2), one(), of(c, "i64", 2)],
        "self",
        lambda c: [of(c, "u32", 2), of(c, "u32", 2), one(), of(c, "u32", 2)],
    ),
    (
        "ELEM-PROMOTE",
        "aclnnBitwiseAndTensor",
        lambda c: [f32(c, 2), of(c, "i32", 2), f32(c, 2)],
        "self",
        lambda c: [of(c, "bool", 2), of(c, "i32", 2), of(c, "i32", 2)],
    ),
    (
        "ELEM-PROMOTE",
        "aclnnGtTensor",
        lambda c: [of(c, "c64", 2), f32(c, 2), of(c, "bool", 2)],
        "self",
        lambda c: [of(c, "f64", 2), f32(c, 2), of(c, "bool", 2)],
    ),
    (
        "ELEM-FACTOR",
        "aclnnAdd",
        lambda c: [of(c, "i32", 2), of(c, "i32", 2), one("f64", 1.5), of(c, "i32", 2)],
        "alpha",
        lambda c: [f32(c, 2), of(c, "i32", 2), one("f64", 1.5), f32(c, 2)],
    ),
    (
        "ELEM-BROADCAST",
        "aclnnMul",
        lambda c: [f32(c, 2, 3), f32(c, 2), f32(c, 2, 3)],
        "other",
        lambda c: [f32(c, 2, 3), f32(c, 2, 1), f32(c, 2, 3)],
    ),
    (
        "ELEM-BROADCAST",
        "aclnnSWhere",
        lambda c: [of(c, "bool", 3), f32(c, 2), f32(c, 1), f32(c, 3)],
        "other",
        lambda c: [of(c, "bool", 2), f32(c, 2), f32(c, 1), f32(c, 2)],
    ),
    (
        "ELEM-OUT-SHAPE",
        "aclnnMul",
        lambda c: [f32(c, 2, 3), f32(c, 3), f32(c, 1, 2, 3)],
        "out",
        lambda c: [f32(c, 2, 3), f32(c, 3), f32(c, 2, 3)],
    ),
    (
        "ELEM-OUT-SHAPE",
        "aclnnInplaceMul",
        lambda c: [f32(c, 1, 3), f32(c, 2, 3)],
        "selfRef",
        lambda c: [f32(c, 2, 3), f32(c, 1, 3)],
    ),
    (
        "ELEM-OUT-SHAPE",
        "aclnnInplaceCopy",
        lambda c: [f32(c, 3), f32(c, 1, 3)],
        "selfRef",
        lambda c: [f32(c, 2, 3), f32(c, 3)],
    ),
    (
        "ELEM-OUT-DTYPE",
        "aclnnMul",
        lambda c: [f32(c, 2), f32(c, 2), of(c, "i32", 2)],
        "out",
        lambda c: [f32(c, 2), f32(c, 2), of(c, "f16", 2)],
    ),
    (
        "ELEM-OUT-DTYPE",
        "aclnnExp",
        lambda c: [of(c, "i32", 2), of(c, "i32", 2)],
        "out",
        lambda c: [of(c, "i32", 2), f32(c, 2)],
    ),
    (
        "ELEM-OUT-DTYPE",
        "aclnnInplaceDivs",
        lambda c: [of(c, "i32", 2), one("i64", 2)],
        "selfRef",
        lambda c: [f32(c, 2), one("i64", 2)],
    ),
    (
        "ELEM-OUT-DTYPE",
        "aclnnAdds",
        lambda c: [of(c, "i32", 2), one(), one(), of(c, "bool", 2)],
        "out",
        lambda c: [of(c, "i32", 2), one(), one(), of(c, "i8", 2)],
    ),
    (
        "CAST-DTYPE",
        "aclnnCast",
        lambda c: [f32(c, 2), 1, f32(c, 2)],
        "dtype",
        lambda c: [f32(c, 2), 1, of(c, "f16", 2)],
    ),
    (
        "FILL-ONE-VALUE",
        "aclnnInplaceFillTensor",
        lambda c: [f32(c, 2), f32(c, 2)],
        "value",
        lambda c: [f32(c, 2), f32(c, 1)],
    ),
    (
        "WHERE-CONDITION",
        "aclnnSWhere",
        lambda c: [f32(c, 2), f32(c, 2), f32(c, 2), f32(c, 2)],
        "condition",
        lambda c: [of(c, "u8", 2), f32(c, 2), f32(c, 2), f32(c, 2)],
    ),
    (
        "WHERE-CONDITION",
        "aclnnInplaceMaskedFillScalar",
        lambda c: [f32(c, 2), f32(c, 2), one()],
        "mask",
        lambda c: [f32(c, 2), of(c, "u8", 2), one()],
    ),
    (
        "CLAMP-BOUNDS",
        "aclnnClamp",
        lambda c: [f32(c, 2), None, None, f32(c, 2)],
        "clipValueMin",
        lambda c: [f32(c, 2), None, one(), f32(c, 2)],
    ),
    (
        "ARANGE-STEP",
        "aclnnArange",
        lambda c: [one("i64", 0), one("i64", 4), one("i64", 0), f32(c, 4)],
        "step",
        lambda c: [one("i64", 4), one("i64", 0), one("i64", -1), f32(c, 4)],
    ),
    (
        "ARANGE-STEP",
        "aclnnArange",
        lambda c: [one("i64", 0), one("i64", 4), one("i64", -1), f32(c, 4)],
        "step",
        lambda c: [one("i64", 4), one("i64", 4), one("i64", -1), f32(c, 0)],
    ),
    (
        "ARANGE-COUNT",
        "aclnnArange",
        lambda c: [one("i64", 0), one("i64", 4), one("i64", 1), f32(c, 5)],
        "out",
        lambda c: [one("i64", 0), one("i64", 4), one("i64", 1), f32(c, 2, 2)],
    ),
    (
        "LINSPACE-STEPS",
        "aclnnLinspace",
        lambda c: [one("i64", 0), one("i64", 4), 3, f32(c, 4)],
        "steps",
        lambda c: [one("i64", 0), one("i64", 4), 4, f32(c, 4)],
    ),
    (
        "EYE-SHAPE",
        "aclnnEye",
        lambda c: [2, 3, f32(c, 3, 2)],
        "out",
        lambda c: [2, 3, f32(c, 2, 3)],
    ),
    (
        "TRIANGLE-RANK",
        "aclnnTriu",
        lambda c: [f32(c, 4), 0, f32(c, 4)],
        "self",
        lambda c: [f32(c, 1, 4), 0, f32(c, 1, 4)],
    ),
    (
        "JOIN-MEMBERS",
        "aclnnCat",
        lambda c: [[], 0, f32(c, 4)],
        "tensors",
        lambda c: [[f32(c, 4)], 0, f32(c, 4)],
    ),
    (
        "JOIN-DIM",
        "aclnnCat",
        lambda c: [[f32(c, 4)], 1, f32(c, 4)],
        "dim",
        lambda c: [[f32(c, 4)], -1, f32(c, 4)],
    ),
    (
        "JOIN-DIM",
        "aclnnCat",
        lambda c: [[f32(c), f32(c)], 0, f32(c)],
        "dim",
        lambda c: [[f32(c, 1), f32(c, 1)], 0, f32(c, 2)],
    ),
    (
        "JOIN-DIM",
        "aclnnStack",
        lambda c: [[f32(c)], -1, f32(c)],
        "dim",
        lambda c: [[f32(c)], -1, f32(c, 1)],
    ),
    (
        "JOIN-DTYPE",
        "aclnnCat",
        lambda c: [[f32(c, 4)], 0, of(c, "i32", 4)],
        "tensors",
        lambda c: [[f32(c, 4)], 0, of(c, "f16", 4)],
    ),
    (
        "JOIN-SHAPE",
        "aclnnCat",
        lambda c: [[f32(c, 2, 2), f32(c, 2, 3)], 0, f32(c, 4, 2)],
        "tensors",
        lambda c: [[f32(c, 2, 2), f32(c, 2, 3)], 1, f32(c, 2, 5)],
    ),
    (
        "JOIN-SHAPE",
        "aclnnCat",
        lambda c: [[f32(c, 2, 2), f32(c, 2, 2)], 0, f32(c, 5, 2)],
        "out",
        lambda c: [[f32(c, 2, 2), f32(c, 0)], 0, f32(c, 2, 2)],
    ),
    (
        "JOIN-SHAPE",
        "aclnnStack",
        lambda c: [[f32(c, 2), f32(c, 3)], 0, f32(c, 2, 2)],
        "tensors",
        lambda c: [[f32(c, 2), f32(c, 2)], 1, f32(c, 2, 2)],
    ),
    (
        "REDUCE-DIM",
        "aclnnReduceSum",
        lambda c: [f32(c, 2, 3), Ints((2,)), False, 0, f32(c, 2)],
        "dims",
        lambda c: [f32(c, 2, 3), Ints((-1,)), False, 0, f32(c, 2)],
    ),
    (
        "REDUCE-DIM",
        "aclnnAmax",
        lambda c: [f32(c, 2, 3), Ints((0, -2)), False, f32(c, 3)],
        "dim",
        lambda c: [f32(c, 2, 3), Ints((0, -1)), False, f32(c)],
    ),
    (
        "REDUCE-DIM",
        "aclnnArgMax",
        lambda c: [f32(c, 2, 3), -3, False, of(c, "i64", 3)],
        "dim",
        lambda c: [f32(c, 2, 3), -2, False, of(c, "i64", 3)],
    ),
    (
        "REDUCE-DTYPE",
        "aclnnMean",
        lambda c: [of(c, "i32", 2), Ints(()), False, 3, f32(c)],
        "dtype",
        lambda c: [of(c, "i32", 2), Ints(()), False, 0, f32(c)],
    ),
    (
        "REDUCE-EMPTY",
        "aclnnMax",
        lambda c: [f32(c, 0, 3), f32(c)],
        "self",
        lambda c: [f32(c, 1, 3), f32(c)],
    ),
    (
        "REDUCE-EMPTY",
        "aclnnMaxDim",
        lambda c: [f32(c, 2, 0), 1, False, f32(c, 2), of(c, "i64", 2)],
        "self",
        lambda c: [f32(c, 0, 2), 1, False, f32(c, 0), of(c, "i64", 0)],
    ),
    (
        "REDUCE-OUT-SHAPE",
        "aclnnReduceSum",
        lambda c: [f32(c, 2, 3), Ints((0,)), True, 0, f32(c, 3)],
        "out",
        lambda c: [f32(c, 2, 3), Ints((0,)), True, 0, f32(c, 1, 3)],
    ),
    (
        "REDUCE-OUT-SHAPE",
        "aclnnMaxDim",
        lambda c: [f32(c, 2, 3), 0, False, f32(c, 3), of(c, "i64", 2)],
        "indices",
        lambda c: [f32(c, 2, 3), 0, False, f32(c, 3), of(c, "i64", 3)],
    ),
    (
        "REDUCE-OUT-DTYPE",
        "aclnnMax",
        lambda c: [f32(c, 2), of(c, "i32")],
        "out",
        lambda c: [of(c, "i32", 2), f32(c)],
    ),
    (
        "REDUCE-INDEX-DTYPE",
        "aclnnMinDim",
        lambda c: [f32(c, 2, 3), 0, False, f32(c, 3), of(c, "i16", 3)],
        "indices",
        lambda c: [f32(c, 2, 3), 0, False, f32(c, 3), of(c, "i32", 3)],
    ),
    (
        "SELECT-MASK",
        "aclnnMaskedSelect",
        lambda c: [f32(c, 2), f32(c, 2), f32(c, 2)],
        "mask",
        lambda c: [f32(c, 2), of(c, "u8", 2), f32(c, 2)],
    ),
    (
        "SELECT-DTYPE",
        "aclnnMaskedSelect",
        lambda c: [f32(c, 2), of(c, "bool", 2), of(c, "f16", 2)],
        "out",
        lambda c: [of(c, "f16", 2), of(c, "bool", 2), of(c, "f16", 2)],
    ),
    (
        "SELECT-OUT-RANK",
        "aclnnMaskedSelect",
        lambda c: [f32(c, 2), of(c, "bool", 2), f32(c, 2, 1)],
        "out",
        lambda c: [f32(c, 2), of(c, "bool", 2), f32(c, 2)],
    ),
    (
        "PICK-OUT-DENSE",
        "aclnnMaskedSelect",
        lambda c: [f32(c, 2), of(c, "bool", 2), c.place("f32", (2,), "stepped")],
        "out",
        lambda c: [f32(c, 2), of(c, "bool", 2), c.place("f32", (2,), "offset")],
    ),
    (
        "NONZERO-OUT-SHAPE",
        "aclnnNonzero",
        lambda c: [f32(c, 2, 3), of(c, "i64", 2, 6)],
        "out",
        lambda c: [f32(c, 2, 3), of(c, "i64", 6, 2)],
    ),
    (
        "NONZERO-OUT-SHAPE",
        "aclnnNonzeroV2",
        lambda c: [f32(c, 2, 3), of(c, "i64", 6, 2)],
        "out",
        lambda c: [f32(c, 2, 3), of(c, "i64", 2, 6)],
    ),
    (
        "CLOSE-TOLERANCE",
        "aclnnIsClose",
        lambda c: [f32(c, 2), f32(c, 2), -1e-9, 0.0, False, f32(c, 2)],
        "rtol",
        lambda c: [f32(c, 2), f32(c, 2), 0.0, 0.0, False, f32(c, 2)],
    ),
    (
        "CLOSE-TOLERANCE",
        "aclnnIsClose",
        lambda c: [f32(c, 2), f32(c, 2), 0.0, float("nan"), False, f32(c, 2)],
        "atol",
        lambda c: [f32(c, 2), f32(c, 2), 0.0, float("inf"), False, f32(c, 2)],
    ),
    (
        "EQUAL-OUT",
        "aclnnEqual",
        lambda c: [f32(c, 2), f32(c, 2), f32(c)],
        "out",
        lambda c: [f32(c, 2), f32(c, 3), of(c, "bool")],
    ),
    (
        "INDEX-DTYPE",
        "aclnnIndexSelect",
        lambda c: [f32(c, 2), 0, f32(c, 1), f32(c, 1)],
        "index",
        lambda c: [f32(c, 2), 0, of(c, "i32", 1), f32(c, 1)],
    ),
    (
        "INDEX-DIM",
        "aclnnGatherV2",
        lambda c: [f32(c, 2), 1, of(c, "i64", 1), f32(c, 1)],
        "dim",
        lambda c: [f32(c, 2), -1, of(c, "i64", 1), f32(c, 1)],
    ),
    (
        "INDEX-RANK",
        "aclnnIndexSelect",
        lambda c: [f32(c, 2), 0, of(c, "i64", 1, 1), f32(c, 1)],
        "index",
        lambda c: [f32(c, 2), 0, of(c, "i64"), f32(c, 1)],
    ),
    (
        "INDEX-RANK",
        "aclnnIndexSelect",
        lambda c: [f32(c), 0, of(c, "i64", 2), f32(c)],
        "index",
        lambda c: [f32(c), 0, c.place("i64", np.zeros(1)), f32(c)],
    ),
    (
        "INDEX-RANK",
        "aclnnIndexSelect",
        lambda c: [f32(c), 0, of(c, "i64", 0), f32(c)],
        "index",
        lambda c: [f32(c), -1, c.place("i64", np.zeros(())), f32(c)],
    ),
    (
        "INDEX-OUT-SHAPE",
        "aclnnGatherV2",
        lambda c: [f32(c, 2, 3), 0, of(c, "i64", 4), f32(c, 2, 4)],
        "out",
        lambda c: [f32(c, 2, 3), 0, of(c, "i64", 4), f32(c, 4, 3)],
    ),
    (
        "REPEAT-COUNTS",
        "aclnnRepeat",
        lambda c: [f32(c, 2, 3), Ints((2,)), f32(c, 4, 3)],
        "repeats",
        lambda c: [f32(c, 2, 3), Ints((2, 1)), f32(c, 4, 3)],
    ),
    (
        "REPEAT-OUT-SHAPE",
        "aclnnRepeat",
        lambda c: [f32(c, 2, 3), Ints((2, 1)), f32(c, 2, 6)],
        "out",
        lambda c: [f32(c, 2, 3), Ints((1, 2)), f32(c, 2, 6)],
    ),
    (
        "FLIP-DIMS",
        "aclnnFlip",
        lambda c: [f32(c, 2, 3), Ints((1, -1)), f32(c, 2, 3)],
        "dims",
        lambda c: [f32(c, 2, 3), Ints((0, -1)), f32(c, 2, 3)],
    ),
    (
        "MOVE-DTYPE",
        "aclnnFlip",
        lambda c: [f32(c, 2), Ints((0,)), of(c, "f16", 2)],
        "out",
        lambda c: [of(c, "f16", 2), Ints((0,)), of(c, "f16", 2)],
    ),
    (
        "INDEX-COUNT",
        "aclnnIndex",
        lambda c: [f32(c, 2), [None, of(c, "i64", 1)], f32(c, 1)],
        "indices",
        lambda c: [f32(c, 2, 2), [None, of(c, "i64", 1)], f32(c, 2, 1)],
    ),
    (
        "INDEX-DTYPE",
        "aclnnIndex",
        lambda c: [f32(c, 2), [of(c, "bool", 2)], f32(c, 2)],
        "indices",
        lambda c: [f32(c, 2), [of(c, "i32", 2)], f32(c, 2)],
    ),
    (
        "INDEX-BROADCAST",
        "aclnnIndex",
        lambda c: [f32(c, 2, 2), [of(c, "i64", 2), of(c, "i64", 3)], f32(c, 3)],
        "indices",
        lambda c: [f32(c, 2, 2), [of(c, "i64", 1), of(c, "i64", 3)], f32(c, 3)],
    ),
    (
        "INDEX-OUT-SHAPE",
        "aclnnIndex",
        lambda c: [f32(c, 2, 3), [None, of(c, "i64", 4)], f32(c, 4, 2)],
        "out",
        lambda c: [f32(c, 2, 3), [of(c, "i64", 4)], f32(c, 4, 3)],
    ),
]

#: Rules that the parametrised tests above break for every operator.
OF_ALL = "NULL LIVE DTYPE SCALAR FORMAT RANK STORAGE OVERLAP".split()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}-{row[1]}")
def test_rules(call: Caller, row: Row) -> None:
    rule, function, broken, parameter, inside = row
    found = call.refused(function, *broken(call))
    assert (found["rule"], found["parameter"]) == (rule, parameter)
    call.run(function, *inside(call))


def test_every_rule_has_a_row(native: Native) -> None:
    known = {rule["rule"] for name in tensor_operators.operators() for rule in native.rules(name)}
    assert {row[0] for row in ROWS} | {f"TENSOR-{name}" for name in OF_ALL} == known


def test_lists(call: Caller, native: Native) -> None:
    """A dead or odd member is named by its place."""
    good, bad = f32(call, 2), Odd(call, "f32", (2,), format=29)
    found = call.refused("aclnnCat", [good, bad], 0, f32(call, 4))
    assert found["rule"] == "TENSOR-FORMAT" and "member 1" in found["value"]
    good, dead = f32(call, 2), f32(call, 2)
    native.check(native.lib.aclDestroyTensor(dead.handle))
    members = [good, dead]
    found = call.refused("aclnnCat", members, 0, f32(call, 4))
    assert found["rule"] == "TENSOR-LIVE" and "member 1" in found["value"]
    native.message()


def test_strides_that_nobody_follows(call: Caller, native: Native) -> None:
    """A dimension of 1 may have any stride; others are judged before anybody counts with them."""
    far = -(2**63)
    value = np.zeros((1, 1), np.float32)
    out = Odd(call, "f32", (1, 1), strides=(far, 1))
    call.run("aclnnMuls", call.place("f32", value), Number("f32", 2), out)
    found = call.refused(
        "aclnnNonzero", f32(call, 4, 4), Odd(call, "i64", (16, 2), strides=(far, 1))
    )
    assert found["rule"] == "TENSOR-STORAGE"


def test_missing_addresses(call: Caller, native: Native) -> None:
    """They are found when the task runs, and the stream says so."""
    a, b = f32(call, 2), f32(call, 2)
    native.lib.aclSetRawTensorAddr(b.handle, native.ffi.NULL)
    call.run("aclnnMul", a, b, f32(call, 2), sync=507015)
    assert "other: the data address is NULL" in native.message()
    c = f32(call, 2)
    native.lib.aclSetRawTensorAddr(c.handle, native.ffi.NULL)
    call.run("aclnnCat", [f32(call, 2), c], 0, f32(call, 4), sync=507015)
    assert "tensors: the data address is NULL" in native.message()


def test_indices_that_point_nowhere(call: Caller, native: Native) -> None:
    for value in (2, -3):
        index = call.place("i64", np.array([0, value]))
        call.run("aclnnIndex", f32(call, 2), [index], f32(call, 2), sync=507015)
        text = native.message()
        assert f"indices: element 1 is {value}, must be -2 .. 1" in text
        index = call.place("i64", np.array([0, value]))
        out = f32(call, 2)
        call.run("aclnnIndexSelect", f32(call, 2), 0, index, out, sync=507015)
        text = native.message()
        assert f"index: element 1 is {value}, must be -2 .. 1" in text


def test_outputs_that_are_too_small(call: Caller, native: Native) -> None:
    call.run("aclnnMaskedSelect", f32(call, 3), of(call, "bool", 3), f32(call, 2), sync=507015)
    assert "out: 2 elements, must be at least 3" in native.message()


def test_executors_belong_to_their_operator(call: Caller, native: Native) -> None:
    a, out = f32(call, 2), f32(call, 2)
    status, executor = call.first_phase("aclnnMuls", a, one(), out)
    assert status == 0
    assert native.lib.aclnnAdds(native.ffi.NULL, 0, executor, call.stream) == 161002
    assert "an executor of aclnnMuls" in native.message()
    native.check(native.lib.aclnnMuls(native.ffi.NULL, 0, executor, call.stream))
    native.check(native.lib.aclrtSynchronizeStream(call.stream))


def test_repeated_executors(call: Caller, native: Native) -> None:
    """A kept executor follows the addresses that it is given."""
    ffi, lib = native.ffi, native.lib
    a, b = f32(call, 3), call.place("f32", np.array([5, 6, 7], np.float32))
    out = f32(call, 3)
    status, executor = call.first_phase("aclnnMuls", a, one("i64", 2), out)
    assert status == 0
    native.check(lib.aclSetAclOpExecutorRepeatable(executor))
    for source, wanted in ((a, [2, 2, 2]), (b, [10, 12, 14])):
        native.check(
            lib.aclSetInputTensorAddr(
                executor, 0, a.handle, ffi.cast("void *", source.block.address)
            )
        )
        native.check(lib.aclnnMuls(ffi.NULL, 0, executor, call.stream))
        native.check(lib.aclrtSynchronizeStream(call.stream))
        np.testing.assert_array_equal(out.memory, wanted)
    native.check(lib.aclDestroyAclOpExecutor(executor))


def test_nothing_leaks(call: Caller, native: Native) -> None:
    kinds = ("tensor", "scalar", "executor")

    def live() -> list[int]:
        return [int(native.lib.pyaclnnLiveCount(kind.encode())) for kind in kinds]

    a, out = f32(call, 3), f32(call, 3)
    before = live()
    for _ in range(300):
        call.run("aclnnAdds", a, one(), one(), out)
    assert live() == before
