"""What the parameter classes have in common: fields that are checked when they are set."""

from __future__ import annotations

import dataclasses
import difflib
import enum
import functools
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._calls import whole_number
from .._ffi import ffi
from ..arrays import acl_dtype

_MOST_ITEMS = 64  # of an SVector without memory of its own


class Param:
    """A parameter structure of atb/infer_op_params.h.

    Its attributes are the fields, spelled as there, with the header's defaults; they may also be
    given by name to the constructor. Enumerations and numbers take any number of their C type (what
    is acceptable is up to the operation), data types also names such as "float16". Another
    attribute raises AttributeError, another type TypeError, a number that the C type cannot hold
    OverflowError.
    """

    def _set(self, name: str, value: Any) -> None:
        kind: Any = type(self)
        fields = _fields(kind)
        if name not in fields:
            spelled = {field.lower(): field for field in fields}
            near = difflib.get_close_matches(name.replace("_", "").lower(), spelled, 1)
            hint = f"; did you mean {spelled[near[0]]}?" if near else "."
            raise AttributeError(
                f"{type(self).__name__} has no field {name!r}{hint} It has {', '.join(fields)}"
            )
        default = fields[name]
        where = f"{type(self).__name__}.{name}"
        object.__setattr__(self, name, _converted(value, _c_fields(kind)[name], default, where))

    if not TYPE_CHECKING:  # which would take any name for a field then
        __setattr__ = _set

    def __repr__(self) -> str:
        """The fields that are not as the header has them."""
        kind: Any = type(self)
        given = [
            f"{name}={getattr(self, name)!r}"
            for name, default in _fields(kind).items()
            if getattr(self, name) != default
        ]
        return f"{kind.__qualname__}({', '.join(given)})"

    def fill(self, struct: Any) -> None:
        """Writes the fields into the C structure."""
        own: Any = type(self)
        for name, kind in _c_fields(own).items():
            value = getattr(self, name)
            if isinstance(value, Param):
                value.fill(getattr(struct, name))
            elif kind.kind == "struct":
                vector = getattr(struct, name)
                vector.size_ = len(value)
                vector.storage_[0 : len(value)] = list(value)
            else:
                setattr(struct, name, value)


@functools.cache
def _fields(kind: type[Any]) -> dict[str, Any]:
    """The fields and their defaults."""
    made = {}
    for field in dataclasses.fields(kind):
        factory = field.default_factory
        made[field.name] = field.default if factory is dataclasses.MISSING else factory()
    return made


@functools.cache
def _c_fields(kind: type[Any]) -> dict[str, Any]:
    """The fields and their C types."""
    return {field: info.type for field, info in ffi.typeof(f"struct {kind.__name__}").fields}


def _converted(value: Any, kind: Any, default: Any, where: str) -> Any:
    """A value as its field keeps it."""
    if isinstance(default, Param):
        if not isinstance(value, type(default)):
            raise TypeError(f"{where}: a {type(value).__name__}, accepted is {type(default)!r}")
        return value
    if kind.kind == "struct":
        return _whole_numbers(value, where)
    if kind.kind == "array":
        return _bytes(value, kind.length, where)
    if kind.kind == "enum":  # aclDataType
        return whole_number(value, "int32_t", where) if _is_whole(value) else acl_dtype(value)
    if kind.cname in ("float", "double"):
        if isinstance(value, bool) or not hasattr(value, "__float__"):
            raise TypeError(f"{where}: {value!r}, accepted is a number")
        return float(value)
    if kind.cname in ("bool", "_Bool"):
        return bool(value if isinstance(value, np.bool_) else whole_number(value, "bool", where))
    number = whole_number(value, _int_name(kind), where)
    if isinstance(default, enum.IntEnum) and number in set(type(default)):
        return type(default)(number)
    return number


def _is_whole(value: Any) -> bool:
    return hasattr(value, "__index__")


def _int_name(kind: Any) -> str:
    signed = not re.match(r"unsigned|uint", kind.cname)
    return f"{'' if signed else 'u'}int{8 * ffi.sizeof(kind)}_t"


def _whole_numbers(value: Any, where: str) -> tuple[int, ...]:
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        raise TypeError(f"{where}: a {type(value).__name__}, accepted is a list of whole numbers")
    if len(value) > _MOST_ITEMS:
        raise ValueError(f"{where}: {len(value)} numbers, accepted are at most {_MOST_ITEMS}")
    return tuple(whole_number(item, "int64_t", f"{where}[{i}]") for i, item in enumerate(value))


def _bytes(value: Any, size: int, where: str) -> bytes:
    if not isinstance(value, (bytes, bytearray)):
        raise TypeError(f"{where}: a {type(value).__name__}, accepted are bytes")
    if len(value) > size:
        raise ValueError(f"{where}: {len(value)} bytes, accepted are at most {size}")
    return bytes(value).ljust(size, b"\0")
