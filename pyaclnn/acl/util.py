"""acl.util: between Python's memory and addresses, as in pyACL."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._ffi import ffi


def numpy_to_ptr(array: npt.NDArray[Any]) -> int:
    """The address of an array's first element. The array must stay alive."""
    address: int = array.__array_interface__["data"][0]
    return address


def bytes_to_ptr(data: bytes) -> int:
    """The address of the bytes, for reading. They must stay alive."""
    return int(ffi.cast("intptr_t", ffi.from_buffer(data)))


def ptr_to_numpy(address: int, shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """A writable array over memory at an address, which must stay valid."""
    kind = np.dtype(dtype)
    size = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
    return np.frombuffer(ffi.buffer(ffi.cast("char *", address), size), kind).reshape(shape)


def ptr_to_bytes(address: int, size: int) -> bytes:
    """A copy of memory at an address."""
    return bytes(ffi.buffer(ffi.cast("char *", address), size))
