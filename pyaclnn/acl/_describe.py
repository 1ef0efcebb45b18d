"""acl: data buffers, tensor descriptions, properties of the platform, options of the compiler."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from typing import Any

from .._calls import as_text
from .._ffi import NULL, ffi, lib
from .._home import library
from ._status import OUT, array, call, convert, number, out, text

__all__ = [
    "app_log",
    "create_data_buffer",
    "create_tensor_desc",
    "data_type_size",
    "destroy_data_buffer",
    "destroy_tensor_desc",
    "float16_to_float",
    "float_to_float16",
    "get_cann_attribute",
    "get_cann_attribute_list",
    "get_compileopt",
    "get_compileopt_size",
    "get_data_buffer_addr",
    "get_data_buffer_size",
    "get_data_buffer_size_v2",
    "get_device_capability",
    "get_tensor_desc_dim",
    "get_tensor_desc_dim_v2",
    "get_tensor_desc_element_count",
    "get_tensor_desc_format",
    "get_tensor_desc_name",
    "get_tensor_desc_num_dims",
    "get_tensor_desc_size",
    "get_tensor_desc_type",
    "set_compileopt",
    "set_tensor_desc_name",
    "set_tensor_format",
    "set_tensor_place_ment",
    "set_tensor_shape",
    "update_data_buffer",
]


def _handle(function: str, *arguments: Any) -> int:
    return number(getattr(lib, function)(*convert(function, arguments)))


# Numbers


def data_type_size(data_type: int) -> int:
    """aclDataTypeSize, of an ACL_FLOAT16 or the like. Returns bytes of an element: 1 for types of 4
    bits and 1 bit, 0 for ACL_STRING and ACL_DT_UNDEFINED, 8 for unlisted values."""
    return call("aclDataTypeSize", data_type)


def float_to_float16(value: float) -> int:
    """aclFloatToFloat16: rounds to nearest, ties to even. Returns the bits of the binary16
    number."""
    return call("aclFloatToFloat16", value)


def float16_to_float(value: int) -> float:
    """aclFloat16ToFloat, `value` the bits of a binary16 number. Returns the same number."""
    return float(lib.aclFloat16ToFloat(*convert("aclFloat16ToFloat", (value,))))


# Data buffers: records of an address and a size


def create_data_buffer(data: int, size: int) -> int:
    """aclCreateDataBuffer: a record of an address and bytes; nothing is copied or checked. Returns
    a handle, for destroy_data_buffer; 0 if no memory is left."""
    return _handle("aclCreateDataBuffer", data, size)


def destroy_data_buffer(data_buffer: int) -> int:
    """aclDestroyDataBuffer: the record, not the memory. Returns the status: 100000 for 0."""
    return call("aclDestroyDataBuffer", data_buffer)


def get_data_buffer_addr(data_buffer: int) -> int:
    """aclGetDataBufferAddr. Returns the address, 0 for the handle 0."""
    return _handle("aclGetDataBufferAddr", data_buffer)


def get_data_buffer_size(data_buffer: int) -> int:
    """aclGetDataBufferSize, deprecated: get_data_buffer_size_v2. Returns the low 32 bits of the
    bytes, 0 for the handle 0."""
    return call("aclGetDataBufferSize", data_buffer)


def get_data_buffer_size_v2(data_buffer: int) -> int:
    """aclGetDataBufferSizeV2. Returns bytes, 0 for the handle 0."""
    return call("aclGetDataBufferSizeV2", data_buffer)


def update_data_buffer(data_buffer: int, data: int, size: int) -> int:
    """aclUpdateDataBuffer: replaces address and bytes. Returns the status: 100000 for the handle
    0."""
    return call("aclUpdateDataBuffer", data_buffer, data, size)


# Tensor descriptions, of the operators that came before aclnn


def create_tensor_desc(data_type: int, shape: Sequence[int], format: int) -> int:
    """aclCreateTensorDesc: an element type (ACL_FLOAT16, ...), up to 128 dimensions (-1 unknown, -2
    alone for an unknown rank) and a format (ACL_FORMAT_ND, ...). Returns a handle, for
    destroy_tensor_desc; 0 for other dimensions, with a text (get_recent_err_msg)."""
    dims = array("int64_t", shape, "aclCreateTensorDesc: dims")
    return _handle("aclCreateTensorDesc", data_type, len(dims), dims, format)


def destroy_tensor_desc(desc: int) -> None:
    """aclDestroyTensorDesc; 0 and dead handles are ignored."""
    lib.aclDestroyTensorDesc(*convert("aclDestroyTensorDesc", (desc,)))


def get_tensor_desc_type(desc: int) -> int:
    """aclGetTensorDescType. Returns the element type, ACL_DT_UNDEFINED for a dead handle."""
    return call("aclGetTensorDescType", desc)


def get_tensor_desc_format(desc: int) -> int:
    """aclGetTensorDescFormat. Returns the format, ACL_FORMAT_UNDEFINED for a dead handle."""
    return call("aclGetTensorDescFormat", desc)


def get_tensor_desc_size(desc: int) -> int:
    """aclGetTensorDescSize. Returns bytes; 0 for a dead handle and unknown dimensions."""
    return call("aclGetTensorDescSize", desc)


def get_tensor_desc_element_count(desc: int) -> int:
    """aclGetTensorDescElementCount. Returns the product of the dimensions, 1 without any; 0 for a
    dead handle and unknown dimensions."""
    return call("aclGetTensorDescElementCount", desc)


def get_tensor_desc_num_dims(desc: int) -> int:
    """aclGetTensorDescNumDims. Returns the number of dimensions, ACL_UNKNOWN_RANK for the one
    dimension -2; 0 for a dead handle."""
    return call("aclGetTensorDescNumDims", desc)


def get_tensor_desc_dim(desc: int, index: int) -> int:
    """aclGetTensorDescDim, deprecated: get_tensor_desc_dim_v2. Returns a dimension; -1 for a dead
    handle and an axis that does not exist."""
    return call("aclGetTensorDescDim", desc, index)


def get_tensor_desc_dim_v2(desc: int, index: int) -> tuple[int, int]:
    """aclGetTensorDescDimV2. Returns (a dimension, -1 when it is not known; status): 100000 for a
    dead handle and an axis that does not exist."""
    return out("aclGetTensorDescDimV2", desc, index, OUT)


def get_tensor_desc_name(desc: int) -> str | None:
    """aclGetTensorDescName. Returns the name, "" without one, None for a dead handle."""
    name = lib.aclGetTensorDescName(*convert("aclGetTensorDescName", (desc,)))
    return None if name == NULL else ffi.string(name).decode(errors="replace")


def set_tensor_desc_name(desc: int, name: str | None) -> None:
    """aclSetTensorDescName: at most 511 bytes; None for no name. A longer name and a dead handle
    are refused with a text (get_recent_err_msg)."""
    given = text(name, "aclSetTensorDescName: name")
    lib.aclSetTensorDescName(*convert("aclSetTensorDescName", (desc, given)))


def set_tensor_format(desc: int, format: int) -> int:
    """aclSetTensorFormat: the format in which data is computed. Returns the status: 100000 for a
    dead handle."""
    return call("aclSetTensorFormat", desc, format)


def set_tensor_shape(desc: int, shape: Sequence[int]) -> int:
    """aclSetTensorShape: the shape in which data is computed; the getters go on to give that of
    creation. Returns the status: 100000 for a dead handle and more than 128 dimensions."""
    dims = array("int64_t", shape, "aclSetTensorShape: dims")
    return call("aclSetTensorShape", desc, len(dims), dims)


def set_tensor_place_ment(desc: int, mem_type: int) -> int:
    """aclSetTensorPlaceMent: where the data lives, an ACL_MEMTYPE_... Returns the status: 100000
    for a dead handle and another place."""
    return call("aclSetTensorPlaceMent", desc, mem_type)


# The platform


def get_device_capability(device_id: int, device_info: int) -> tuple[int, int]:
    """aclGetDeviceCapability, of an ACL_DEVICE_INFO_... Returns (number of cores, or bytes for
    ACL_DEVICE_INFO_L2_SIZE; status): 100000 for a device that does not exist and an unknown
    property."""
    return out("aclGetDeviceCapability", device_id, device_info, OUT)


def get_cann_attribute(cann_attr: int) -> tuple[int, int]:
    """aclGetCannAttribute, of an ACL_CANN_ATTR_... Returns (1 if the platform has it else 0,
    status): 100000 for an unknown property."""
    return out("aclGetCannAttribute", cann_attr, OUT)


def get_cann_attribute_list() -> tuple[list[int], int]:
    """aclGetCannAttributeList. Returns (the properties that the platform has, status)."""
    attributes, count = ffi.new("const aclCannAttr **"), ffi.new("size_t *")
    status = call("aclGetCannAttributeList", attributes, count)
    return [int(attributes[0][i]) for i in range(count[0])], status


def app_log(log_level: int, func: str, file: str, line: int, message: str) -> None:
    """aclAppLog: a line of the application in the log; the level is ACL_DEBUG, ACL_INFO,
    ACL_WARNING or ACL_ERROR, ASCEND_GLOBAL_LOG_LEVEL is the least that is written. `message` is
    text, no format."""
    given = [text(t, "aclAppLog") for t in (func, file, "%s", message)]
    lib.aclAppLog(log_level, given[0], given[1], line, given[2], given[3])


# Options of the operator compiler. They are kept; nothing is compiled here.


@functools.cache
def _compiler(function: str, *parameters: Any) -> Any:
    # In a library of its own, which nothing else here needs: cffi's tables do not have it.
    result = getattr(ctypes.CDLL(library("acl_op_compiler")), function)
    result.argtypes = parameters
    return result


def set_compileopt(opt: int, value: str) -> int:
    """aclSetCompileopt: an option of the process, an ACL_OP_... or the like. Returns the status:
    100000 for an unknown option and 512 bytes and more, 200001 for ACL_OP_JIT_COMPILE with another
    value than "disable"."""
    function = _compiler("aclSetCompileopt", ctypes.c_int, ctypes.c_char_p)
    return int(function(opt, as_text(value, "aclSetCompileopt: value")))


def get_compileopt_size(opt: int) -> int:
    """aclGetCompileoptSize. Returns the bytes of an option's value with the zero behind it, 0 for
    an unknown option."""
    function = _compiler("aclGetCompileoptSize", ctypes.c_int)
    function.restype = ctypes.c_size_t
    return int(function(opt))


def get_compileopt(opt: int) -> tuple[str, int]:
    """aclGetCompileopt. Returns (what was set, else "disable" for ACL_OP_JIT_COMPILE and "" for the
    others; status): 100000 for an unknown option."""
    function = _compiler("aclGetCompileopt", ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t)
    value = ctypes.create_string_buffer(512)
    status = int(function(opt, value, len(value)))
    return value.value.decode(errors="replace"), status
