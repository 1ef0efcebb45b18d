"""A first phase from a description of its arguments, without the memory behind the tensors.

The grammar of descriptions is in explain.py."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .._calls import SUFFIX
from .._ffi import NULL, ffi, lib
from .._generated import CONSTANTS, DEFAULTS, FUNCTIONS
from ..errors import explain, recent_text

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
    """What is described is no call; the text names the parameter."""


@dataclass(frozen=True)
class Answer:
    """What a first phase has said.

    code          its status
    text          aclGetRecentErrMsg
    workspace     the workspace size of an accepted call
    findings, unevaluated   as pyaclnn.explain() has them
    """

    code: int
    text: str
    workspace: int | None
    findings: list[dict[str, Any]] = field(default_factory=list)
    unevaluated: list[dict[str, Any]] = field(default_factory=list)


def _numbers(text: str) -> list[int]:
    return [int(word) for word in text.split(",")] if text.strip() else []


def _constant(prefix: str, names: Mapping[str, str], name: str) -> int:
    value = CONSTANTS.get(f"{prefix}{names.get(name, name.upper())}")
    if not isinstance(value, int):
        raise DescriptionError(f"{name!r} is no name of {prefix.rstrip('_')}")
    return value


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
                near = difflib.get_close_matches(name, parameters, n=1, cutoff=0.5)
                advice = f" ({near[0]} is meant?)" if near else ""
                raise DescriptionError(f"{name}: no parameter of {operator}{advice}")
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
        parts = _CELL.fullmatch(value) if isinstance(value, str) else None
        if parts is None:
            raise DescriptionError('accepted is null or a tensor such as "f16[2,8,1,64]"')
        if parts["count"] is not None:
            raise DescriptionError("a list where one tensor is wanted")
        dims = _numbers(parts["dims"])
        offset = int(parts["offset"] or 0)
        strides = [math.prod(dims[at + 1 :]) for at in range(len(dims))]
        storage = dims
        if parts["strides"] is not None:
            strides = _numbers(parts["strides"])
            if len(strides) != len(dims):
                raise DescriptionError("a stride for each dimension")
        if parts["strides"] is not None or offset:
            pairs = zip(dims, strides, strict=True)
            storage = [offset + 1 + sum(max(d - 1, 0) * s for d, s in pairs)]
        if parts["storage"] is not None:
            storage = _numbers(parts["storage"])
        handle = lib.aclCreateTensor(
            dims, len(dims), _constant("ACL_", _TYPES, parts["type"]), strides, offset,
            _constant("ACL_FORMAT_", _FORMATS, parts["format"] or "ND"), storage, len(storage),
            _NOWHERE,
        )  # fmt: skip
        if handle == NULL:
            raise DescriptionError(recent_text())
        return handle

    def _list(self, value: Any) -> Any:
        if value is None:
            return NULL
        if isinstance(value, str):
            text, star, count = value.rpartition("*")
            if not star:
                raise DescriptionError(f'a list of tensors is wanted: "{value}*1"')
            value = [text] * int(count)
        before = len(self._ends)
        members = [self._owned(lib.aclDestroyTensor, self._tensor(each)) for each in value]
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
            code, text, int(size[0]) if code == 0 else None, record.get("findings", []),
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
