"""acl.util: between Python's memory and addresses, as in pyACL."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._ffi import ffi
from .._generated import CONSTANTS

__all__ = [
    "bytes_to_ptr",
    "numpy_to_ptr",
    "ptr_to_bytes",
    "ptr_to_numpy",
    "start_thread",
    "stop_thread",
]


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


_threads: dict[int, threading.Thread] = {}


def start_thread(function: Callable[..., object], arguments: Sequence[Any]) -> tuple[int, int]:
    """Calls a function on a new thread, for acl.rt.process_report and the like. Returns (number of
    the thread as acl.rt.subscribe_report takes it, 0). It ends with the interpreter; an exception
    goes to threading.excepthook."""
    thread = threading.Thread(target=function, args=tuple(arguments), daemon=True)
    thread.start()
    number = thread.ident
    assert number is not None
    _threads[number] = thread
    return number, 0


def stop_thread(number: int) -> int:
    """Waits for a thread of start_thread, which must come to its end by itself. Returns the status:
    100000 for another number."""
    thread = _threads.pop(number, None)
    if thread is None:
        return int(CONSTANTS["ACL_ERROR_INVALID_PARAM"])
    thread.join()
    return 0
