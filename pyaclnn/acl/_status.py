"""How pyACL calls C: a status alone, or outputs and a status; structures as dicts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from .._calls import as_text, convert_plain, whole_number
from .._ffi import NULL, ffi, lib
from .._generated import FUNCTIONS

#: Stands in a call for an output of the C function.
OUT = object()


def convert(function: str, arguments: Iterable[Any]) -> list[Any]:
    """C arguments; what cannot become one raises TypeError or OverflowError by name."""
    return [
        argument
        if isinstance(argument, ffi.CData)
        else convert_plain(argument, kind, f"{function}: {name}")
        for argument, (name, kind) in zip(arguments, FUNCTIONS[function], strict=True)
    ]


def call(function: str, *arguments: Any) -> int:
    """The status of a C function, or another number that it returns."""
    return int(getattr(lib, function)(*convert(function, arguments)))


def outs(function: str, *arguments: Any) -> tuple[list[int], int]:
    """(values at OUT, status). An output that a refusal leaves alone is 0."""
    cells = [
        ffi.new(kind) if argument is OUT else None
        for argument, (_, kind) in zip(arguments, FUNCTIONS[function], strict=True)
    ]
    status = call(
        function, *(a if cell is None else cell for a, cell in zip(arguments, cells, strict=True))
    )
    return [number(cell[0]) for cell in cells if cell is not None], status


def out(function: str, *arguments: Any) -> tuple[int, int]:
    """(value at OUT, status)."""
    (value,), status = outs(function, *arguments)
    return value, status


def number(value: Any) -> int:
    """A C number, or the address in a pointer."""
    return int(ffi.cast("intptr_t", value) if isinstance(value, ffi.CData) else value)


def text(value: Any, where: str) -> Any:
    """A C string, NULL for None; it lives as long as the result."""
    return NULL if value is None else ffi.new("char[]", as_text(value, where))


def array(kind: str, values: Iterable[Any], where: str) -> Any:
    """A C array of numbers, or of addresses for `void *`."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"{where}: a {type(values).__name__}, accepted is a list of numbers")
    members = [convert_plain(v, kind, f"{where}[{i}]") for i, v in enumerate(values)]
    return ffi.new(f"{kind}[]", members)


def same_length(function: str, **lists: Any) -> int:
    """The length that lists have in common."""
    lengths = {name: len(values) for name, values in lists.items()}
    if len(set(lengths.values())) > 1:
        each = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise ValueError(f"{function}: lists of different lengths: {each}")
    return next(iter(lengths.values()))


def _snake(name: str) -> str:
    return re.sub("[A-Z]", lambda match: "_" + match[0].lower(), name)


def _members(struct: Any) -> dict[str, tuple[str, Any]]:
    """Python's name -> C's name and type; reserved members are no one's business."""
    return {
        _snake(name): (name, field.type)
        for name, field in ffi.typeof(struct).fields
        if not name.startswith(("rsv", "reserve"))
    }


def fill(struct: Any, values: Mapping[str, Any], where: str) -> None:
    """Writes a dict into a structure; members that are absent stay 0."""
    members = _members(struct)
    for key, value in values.items():
        if key not in members:
            raise TypeError(f"{where}: {key!r}, accepted are {', '.join(members)}")
        name, kind = members[key]
        if kind.kind == "struct":
            fill(getattr(struct, name), value, f"{where}: {key}")
        else:
            unsigned = kind.kind == "primitive" and kind.cname.startswith("uint")
            limits = kind.cname if unsigned else "int32_t"
            setattr(struct, name, whole_number(value, limits, f"{where}: {key}"))


def read(struct: Any) -> dict[str, Any]:
    """A structure as a dict."""
    result: dict[str, Any] = {}
    for key, (name, kind) in _members(struct).items():
        value = getattr(struct, name)
        if kind.kind == "struct":
            result[key] = read(value)
        elif kind.kind == "array":
            result[key] = ffi.string(value).decode(errors="replace")
        else:
            result[key] = number(value)
    return result
