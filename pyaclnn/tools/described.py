"""Calls made from a description of their arguments; they are checked, not run.

A first phase needs no memory behind its tensors; ATB operations get memory that is never touched.
The grammar of descriptions is in explain.py.
"""

from __future__ import annotations

import difflib
import enum
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import arrays, atb
from .._calls import SUFFIX
from .._ffi import NULL, ffi, lib
from .._generated import CONSTANTS, DEFAULTS, FUNCTIONS
from ..errors import AtbError, explain, recent_text

_TYPES = {
    "f16": "FLOAT16", "bf16": "BF16", "f32": "FLOAT", "f64": "DOUBLE", "i4": "INT4", "i8": "INT8",
    "i16": "INT16", "i32": "INT32", "i64": "INT64", "u8": "UINT8", "u16": "UINT16",
    "u32": "UINT32", "u64": "UINT64", "bool": "BOOL",
}  # fmt: skip
_FORMATS = {"NZ": "FRACTAL_NZ"}
_CELL = re.compile(
    r"(?P<type>\w+)\[(?P<dims>[-\d, ]*)\]"
    r"(?:\s*@strided\((?P<strides>[-\d, ]*)\))?(?:\s*/\[(?P<storage>[-\d, ]*)\])?"
    r"(?:\s*\+(?P<offset>\d+))?(?:\s*:(?P<format>\w+))?(?:\s*\*(?P<count>\d+))?"
)
#: Phase 1 never reads what tensors point to, so all of them point here.
_NOWHERE = ffi.new("char[64]")


class DescriptionError(ValueError):
    """The description is not a valid call; the message names the parameter."""


@dataclass(frozen=True)
class Answer:
    """What a first phase, or the steps of an operation of ATB, have said.

    code          the status
    text          aclGetRecentErrMsg
    rule          the rule that refused, None when no rule did
    workspace     the workspace size of an accepted call
    findings, unevaluated   as pyaclnn.explain() has them
    step          of ATB: the step that refused
    """

    code: int
    text: str
    rule: str | None
    workspace: int | None
    findings: list[dict[str, Any]] = field(default_factory=list)
    unevaluated: list[dict[str, Any]] = field(default_factory=list)
    step: str | None = None


@dataclass(frozen=True)
class _Cell:
    """A tensor as it is written."""

    dtype: int
    dims: list[int]
    format: int
    strides: list[int] | None
    offset: int
    storage: list[int] | None


def _numbers(text: str) -> list[int]:
    return [int(word) for word in text.split(",")] if text.strip() else []


def _constant(prefix: str, names: Mapping[str, str], name: str) -> int:
    value = CONSTANTS.get(f"{prefix}{names.get(name, name.upper())}")
    if not isinstance(value, int):
        raise DescriptionError(f"{name!r} is not a name of {prefix.rstrip('_')}")
    return value


def _cell(value: Any) -> _Cell:
    parts = _CELL.fullmatch(value) if isinstance(value, str) else None
    if parts is None:
        raise DescriptionError('accepted is null or a tensor such as "f16[2,8,1,64]"')
    if parts["count"] is not None:
        raise DescriptionError("a list where one tensor is wanted")
    cell = _Cell(
        _constant("ACL_", _TYPES, parts["type"]),
        _numbers(parts["dims"]),
        _constant("ACL_FORMAT_", _FORMATS, parts["format"] or "ND"),
        None if parts["strides"] is None else _numbers(parts["strides"]),
        int(parts["offset"] or 0),
        None if parts["storage"] is None else _numbers(parts["storage"]),
    )
    if cell.strides is not None and len(cell.strides) != len(cell.dims):
        raise DescriptionError("a stride for each dimension")
    return cell


def _members(value: Any) -> list[Any]:
    """The texts of a list's tensors."""
    if not isinstance(value, str):
        return list(value)
    text, star, count = value.rpartition("*")
    if not star:
        raise DescriptionError(f'a list of tensors is wanted: "{value}*1"')
    return [text] * int(count)


def _near(name: str, known: Any) -> str:
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f" (did you mean {close[0]}?)" if close else ""


class Call:
    """The handles of a described call; a context that destroys them."""

    def __init__(self, operator: str, description: Mapping[str, Any]) -> None:
        self.function = f"{operator}{SUFFIX}"
        self._ends: list[tuple[Callable[[Any], Any], Any]] = []
        self._held: list[Any] = []
        self._arguments: list[Any] = []
        parameters = dict(FUNCTIONS[self.function][:-2])  # without workspaceSize, executor
        for name in description:
            if name not in parameters:
                near = _near(name, parameters)
                raise DescriptionError(f"{name}: no parameter of {operator}{near}")
        defaults = DEFAULTS.get(self.function, {})
        try:
            for name, kind in parameters.items():
                value = description.get(name, defaults.get(name))
                try:
                    self._arguments.append(self._argument(kind.replace("const ", ""), value))
                except (DescriptionError, TypeError, ValueError, OverflowError) as error:
                    raise DescriptionError(f"{name}: {value!r}: {error}") from None
        except DescriptionError:
            self.destroy()
            raise

    def _argument(self, kind: str, value: Any) -> Any:
        if kind == "aclTensor *":
            return self._owned(lib.aclDestroyTensor, self._tensor(value))
        if kind == "aclTensorList *":
            return self._list(value)
        if kind.endswith("Array *") and kind.startswith("acl"):
            return self._array(kind.removeprefix("acl").removesuffix("Array *"), value)
        if kind == "char *":
            if value is not None and not isinstance(value, str):
                raise DescriptionError("accepted is a text")
            return NULL if value is None else self._hold(ffi.new("char[]", value.encode()))
        if kind.endswith("*"):
            if value is not None:
                raise DescriptionError(f"a {kind} cannot be described; only null")
            return NULL
        # Judged as the C type would be, with its range.
        return 0 if value is None else ffi.new(f"{kind}[1]", [value])[0]

    def _hold(self, thing: Any) -> Any:
        self._held.append(thing)
        return thing

    def _owned(self, destroy: Callable[[Any], Any], handle: Any) -> Any:
        if handle != NULL:
            self._ends.append((destroy, handle))
        return handle

    def _tensor(self, value: Any) -> Any:
        if value is None:
            return NULL
        cell = _cell(value)
        dims, strides, storage = cell.dims, cell.strides, cell.storage
        if strides is None:
            strides = [math.prod(dims[at + 1 :]) for at in range(len(dims))]
        if storage is None and (cell.strides is not None or cell.offset):
            pairs = zip(dims, strides, strict=True)
            storage = [cell.offset + 1 + sum(max(d - 1, 0) * s for d, s in pairs)]
        storage = dims if storage is None else storage
        handle = lib.aclCreateTensor(
            dims, len(dims), cell.dtype, strides, cell.offset, cell.format, storage, len(storage),
            _NOWHERE,
        )  # fmt: skip
        if handle == NULL:
            raise DescriptionError(recent_text())
        return handle

    def _list(self, value: Any) -> Any:
        if value is None:
            return NULL
        before = len(self._ends)
        members = [
            self._owned(lib.aclDestroyTensor, self._tensor(each)) for each in _members(value)
        ]
        handle = lib.aclCreateTensorList(members, len(members))
        if handle == NULL:
            raise DescriptionError(recent_text())
        # A list destroys its members.
        del self._ends[before:]
        return self._owned(lib.aclDestroyTensorList, handle)

    def _array(self, kind: str, value: Any) -> Any:
        if value is None:
            return NULL
        element = {"Int": "int64_t[]", "Float": "float[]", "Bool": "bool[]"}[kind]
        values = ffi.new(element, list(value))
        handle = getattr(lib, f"aclCreate{kind}Array")(values, len(values))
        return self._owned(getattr(lib, f"aclDestroy{kind}Array"), handle)

    def ask(self) -> Answer:
        """The first phase's answer on the product in force."""
        size, executor = ffi.new("uint64_t *"), ffi.new("aclOpExecutor **")
        recent_text()
        code = int(getattr(lib, self.function)(*self._arguments, size, executor))
        text = recent_text()
        if code == 0:
            lib.aclDestroyAclOpExecutor(executor[0])
        record = explain() or {}
        # The record may be an older one, of another call.
        product = ffi.string(lib.pyaclnnGetProduct()).decode()
        about = (self.function.removesuffix(SUFFIX), product, code)
        if (record.get("function"), record.get("product"), record.get("code")) != about:
            record = {}
        return Answer(
            code, text, record.get("rule") if code != 0 else None,
            int(size[0]) if code == 0 else None, record.get("findings", []),
            record.get("unevaluated", []),
        )  # fmt: skip

    def destroy(self) -> None:
        while self._ends:
            destroy, handle = self._ends.pop()
            destroy(handle)

    def __enter__(self) -> Call:
        return self

    def __exit__(self, *exception: object) -> None:
        self.destroy()


class AtbCall:
    """The parameter and tensors of a described operation of ATB."""

    def __init__(self, operation: str, description: Mapping[str, Any]) -> None:
        for name in description:
            if name not in ("param", "inTensors"):
                raise DescriptionError(f"{name}: accepted are param and inTensors")
        self.operation = operation
        kind = getattr(atb, operation.removesuffix("Operation") + "Param")
        self._param = self._filled(kind(), description.get("param", {}), "param")
        self._given = description.get("inTensors", [])
        if not isinstance(self._given, (list, dict)):
            raise DescriptionError("inTensors: accepted is an object of names, or a list")

    def _filled(self, param: atb.Param, values: Mapping[str, Any], where: str) -> atb.Param:
        if not isinstance(values, dict):
            raise DescriptionError(f"{where}: accepted is an object of fields")
        for name, value in values.items():
            try:
                default = getattr(param, name, None)
                if isinstance(default, atb.Param):
                    self._filled(default, value, f"{where}.{name}")
                    continue
                if isinstance(value, str) and isinstance(default, enum.IntEnum):
                    if value not in type(default).__members__:
                        near = _near(value, type(default).__members__)
                        raise DescriptionError(f"no {type(default).__name__}{near}")
                    value = type(default)[value]
                setattr(param, name, value)
            except (AttributeError, TypeError, ValueError, OverflowError) as error:
                if isinstance(error, DescriptionError) and str(error).startswith(where):
                    raise
                raise DescriptionError(f"{where}.{name}: {value!r}: {error}") from None
        return param

    @staticmethod
    def _memory(shape: Sequence[int], dtype: str, format: int) -> Any:
        # Never touched, so the system gives none.
        if dtype == "bfloat16":
            made: Any = arrays.BFloat16Array(np.empty(shape, np.uint16))
        else:
            made = np.empty(shape, dtype)
        return made if format == CONSTANTS["ACL_FORMAT_ND"] else arrays.Tensor(made, format=format)

    def _tensor(self, value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, list) and all(isinstance(each, (int, float)) for each in value):
            whole = all(isinstance(each, int) for each in value)
            return np.array(value, np.int32 if whole else np.float32)
        if isinstance(value, list) or (isinstance(value, str) and "*" in value):
            return [self._tensor(each) for each in _members(value)]
        cell = _cell(value)
        if cell.strides is not None or cell.storage is not None or cell.offset:
            raise DescriptionError("tensors of ATB are contiguous")
        if cell.dtype not in arrays.DTYPE_NAMES:
            raise DescriptionError("a data type that has no name in numpy")
        return self._memory(cell.dims, arrays.DTYPE_NAMES[cell.dtype], cell.format)

    def _inputs(self, names: list[str]) -> list[Any]:
        given = self._given
        if isinstance(given, dict):
            for name in given:
                if name not in names:
                    raise DescriptionError(
                        f"inTensors: {name}: with this param there are {', '.join(names)}"
                    )
            given = [given.get(name) for name in names]
        made = []
        for at, value in enumerate(given):
            try:
                made.append(self._tensor(value))
            except (TypeError, ValueError, MemoryError) as error:
                raise DescriptionError(f"inTensors[{at}]: {value!r}: {error}") from None
        return made

    def ask(self) -> Answer:
        """What CreateOperation, InferShape and Setup say on the product in force."""
        findings: list[dict[str, Any]] = []
        product = ffi.string(lib.pyaclnnGetProduct()).decode()

        def note(step: str, code: int) -> dict[str, Any]:
            record = explain() or {}
            about = tuple(record.get(key) for key in ("function", "product", "step", "code"))
            if about != (self.operation, product, step, code):
                return {}  # of another call
            findings.extend(each for each in record["findings"] if each not in findings)
            return record

        try:
            operation = atb.Operation(self._param)
            note("CreateOperation", 0)
            inputs = self._inputs([info.name for info in operation.inputs])
            descs = operation.infer_shape(inputs)
            note("InferShape", 0)
            outputs = [
                self._memory(desc.shape, desc.dtype, desc.format)
                if info.in_place_of is None
                else inputs[info.in_place_of]
                for info, desc in zip(operation.outputs, descs, strict=True)
            ]
            size = operation.setup(inputs, outputs, atb.Context())
            note("Setup", 0)
        except AtbError as error:
            step = error.step or ""
            unevaluated = note(step, error.code).get("unevaluated", [])
            return Answer(error.code, str(error), error.rule, None, findings, unevaluated, step)
        return Answer(0, "", None, size, findings)
