"""Reads DLPack capsules. numpy refuses bfloat16 and, in older versions, read-only memory; we do
not.

The capsule is kept, never consumed: when the last user of the memory is gone, the capsule's own
destructor hands it back to its producer.
"""

from __future__ import annotations

import ctypes
from typing import Any

from .arrays import Description

_CPU = (1, 3, 11)  # ordinary memory, and what CUDA and ROCm have pinned
_TYPES = {
    (0, 8): "int8",
    (0, 16): "int16",
    (0, 32): "int32",
    (0, 64): "int64",
    (1, 8): "uint8",
    (1, 16): "uint16",
    (1, 32): "uint32",
    (1, 64): "uint64",
    (2, 16): "float16",
    (2, 32): "float32",
    (2, 64): "float64",
    (4, 16): "bfloat16",
    (5, 64): "complex64",
    (5, 128): "complex128",
    (6, 8): "bool",
}
_READ_ONLY = 1


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _DLTensor),
    ]


_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype = ctypes.c_void_p
_get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.restype = ctypes.c_int
_is_valid.argtypes = [ctypes.py_object, ctypes.c_char_p]


def _capsule(value: Any) -> Any:
    try:
        return value.__dlpack__(max_version=(1, 0))
    except TypeError:  # a producer from before DLPack 1.0
        return value.__dlpack__()


def describe_dlpack(value: Any, name: str) -> Description:
    """The memory behind an object with ``__dlpack__``. TypeError for memory that is not the CPU's
    and for what the producer does not share."""
    try:
        device = int(value.__dlpack_device__()[0])
        if device in _CPU:
            if getattr(value, "requires_grad", False):
                value = value.detach()  # torch shares the memory of a parameter only after this
            if getattr(value, "is_neg", bool)():
                # Its memory holds the numbers with the other sign, which DLPack does not say.
                raise TypeError("its negation is pending; hand over resolve_neg()")
            capsule = _capsule(value)
    except Exception as error:
        raise TypeError(f"{name}: a {type(value).__name__} without DLPack: {error}") from error
    if device not in _CPU:
        raise TypeError(f"{name}: a tensor on DLPack device type {device}, accepted is 1, the CPU")
    writable = True
    if _is_valid(capsule, b"dltensor_versioned"):
        versioned = _Versioned.from_address(_get_pointer(capsule, b"dltensor_versioned"))
        if versioned.major != 1:
            raise TypeError(f"{name}: DLPack version {versioned.major}, accepted is 1")
        writable = not versioned.flags & _READ_ONLY
        tensor = versioned.tensor
    elif _is_valid(capsule, b"dltensor"):
        tensor = _DLTensor.from_address(_get_pointer(capsule, b"dltensor"))
    else:
        raise TypeError(f"{name}: __dlpack__ returned no DLPack capsule")
    dtype = _TYPES.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
    if dtype is None:
        raise TypeError(
            f"{name}: DLPack type code {tensor.code} with {tensor.bits} bits and {tensor.lanes} "
            "lanes has no aclDataType"
        )
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    strides: list[int] = []
    for i in reversed(range(tensor.ndim)):
        following = strides[-1] * max(shape[i + 1], 1) if strides else 1
        strides.append(tensor.strides[i] if tensor.strides and shape[i] > 1 else following)
    strides.reverse()
    if 0 not in shape and any(stride < 0 for stride in strides):
        raise ValueError(f"{name}: negative strides {tuple(strides)}, accepted are positive ones")
    address = (tensor.data or 0) + tensor.byte_offset
    return Description(dtype, shape, tuple(strides), address, writable, (value, capsule))
