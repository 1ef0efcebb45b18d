"""acl.op: attributes of the operators that came before aclnn, as in pyACL.

Those operators are NPU machine code and do not run here; aclnn's are in pyaclnn.aclnn. Every
setter returns the status: 100000 if the list of attributes is no live one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._ffi import ffi, lib
from ._status import array, call, convert, number, text

__all__ = [
    "create_attr",
    "destroy_attr",
    "set_attr_bool",
    "set_attr_data_type",
    "set_attr_float",
    "set_attr_int",
    "set_attr_list_bool",
    "set_attr_list_float",
    "set_attr_list_int",
    "set_attr_list_list_int",
    "set_attr_string",
]


def create_attr() -> int:
    """aclopCreateAttr: an empty list of attributes. Returns a handle, for destroy_attr; 0 if no
    memory is left."""
    return number(lib.aclopCreateAttr())


def destroy_attr(attr: int) -> None:
    """aclopDestroyAttr; 0 is ignored."""
    lib.aclopDestroyAttr(*convert("aclopDestroyAttr", (attr,)))


def _set(function: str, attr: int, name: str, *values: Any) -> int:
    return call(function, attr, text(name, f"{function}: attrName"), *values)


def set_attr_bool(attr: int, name: str, value: bool) -> int:
    """aclopSetAttrBool: sets an attribute to a truth value."""
    return _set("aclopSetAttrBool", attr, name, value)


def set_attr_int(attr: int, name: str, value: int) -> int:
    """aclopSetAttrInt: sets an attribute to a whole number of 64 bits."""
    return _set("aclopSetAttrInt", attr, name, value)


def set_attr_float(attr: int, name: str, value: float) -> int:
    """aclopSetAttrFloat: sets an attribute to a number, rounded to float32."""
    return _set("aclopSetAttrFloat", attr, name, value)


def set_attr_string(attr: int, name: str, value: str) -> int:
    """aclopSetAttrString: sets an attribute to a text."""
    return _set("aclopSetAttrString", attr, name, text(value, "aclopSetAttrString: attrValue"))


def set_attr_data_type(attr: int, name: str, value: int) -> int:
    """aclopSetAttrDataType: sets an attribute to an element type, ACL_FLOAT16 or the like."""
    return _set("aclopSetAttrDataType", attr, name, value)


def _set_list(function: str, kind: str, attr: int, name: str, values: Sequence[Any]) -> int:
    members = array(kind, values, f"{function}: values")
    return _set(function, attr, name, len(members), members)


def set_attr_list_bool(attr: int, name: str, values: Sequence[bool]) -> int:
    """aclopSetAttrListBool: sets an attribute to several truth values."""
    return _set_list("aclopSetAttrListBool", "uint8_t", attr, name, values)


def set_attr_list_int(attr: int, name: str, values: Sequence[int]) -> int:
    """aclopSetAttrListInt: sets an attribute to several whole numbers of 64 bits."""
    return _set_list("aclopSetAttrListInt", "int64_t", attr, name, values)


def set_attr_list_float(attr: int, name: str, values: Sequence[float]) -> int:
    """aclopSetAttrListFloat: sets an attribute to several numbers, rounded to float32."""
    return _set_list("aclopSetAttrListFloat", "float", attr, name, values)


def set_attr_list_list_int(attr: int, name: str, values: Sequence[Sequence[int]]) -> int:
    """aclopSetAttrListListInt: sets an attribute to several lists of whole numbers."""
    function = "aclopSetAttrListListInt"
    lists = [array("int64_t", each, f"{function}: values[{i}]") for i, each in enumerate(values)]
    lengths = ffi.new("int[]", [len(each) for each in lists])
    return _set(function, attr, name, len(lists), lengths, ffi.new("const int64_t *[]", lists))
