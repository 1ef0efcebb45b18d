"""The runtime in the shape of pyACL: acl.init(), acl.rt.set_device(0), acl.rt.create_stream().

Handles and addresses are ints. A function returns its status alone, or outputs and the status, as
pyACL does; nothing raises for a status (acl.rt says more). Every C function of include/acl that
does something on a CPU is here: aclrt's in acl.rt, aclop's in acl.op, aclsys' in acl.sys, the
others by their names without "acl". Constants have their C names. For Python's own style there are
Device and Stream, which raise AclError:

    with acl.Device(0), acl.Stream() as stream:
        ...
        stream.synchronize()
"""

from __future__ import annotations

from typing import Any

# ruff: noqa: F403, F405
from .. import _keep
from .._ffi import NULL, ffi, lib
from .._generated import CONSTANTS
from ..errors import check
from . import op, rt, sys, util
from ._describe import *
from ._status import OUT, out, text

__all__ = [
    "Device",
    "Stream",
    "app_log",
    "create_data_buffer",
    "create_tensor_desc",
    "data_type_size",
    "destroy_data_buffer",
    "destroy_tensor_desc",
    "finalize",
    "finalize_reference",
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
    "get_recent_err_msg",
    "get_tensor_desc_dim",
    "get_tensor_desc_dim_v2",
    "get_tensor_desc_element_count",
    "get_tensor_desc_format",
    "get_tensor_desc_name",
    "get_tensor_desc_num_dims",
    "get_tensor_desc_size",
    "get_tensor_desc_type",
    "init",
    "op",
    "rt",
    "set_compileopt",
    "set_tensor_desc_name",
    "set_tensor_format",
    "set_tensor_place_ment",
    "set_tensor_shape",
    "sys",
    "update_data_buffer",
    "util",
]


def __getattr__(name: str) -> Any:
    """Constants by their C names: acl.ACL_MEMCPY_HOST_TO_DEVICE."""
    if name in CONSTANTS:
        return CONSTANTS[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def init(config: str | None = None) -> int:
    """aclInit; `config` is the path of a JSON file of settings. Returns the status: 100002 for a
    second call, which is harmless, 100003 for a file that cannot be read, 100006 for malformed
    JSON, 500000 for an unknown PYACLNN_PRODUCT."""
    return int(lib.aclInit(text(config, "aclInit: configPath")))


def finalize() -> int:
    """aclFinalize: ends AscendCL, however often it was started. Returns the status: 100037 on a
    repetition."""
    status = int(lib.aclFinalize())
    _keep.prune()
    return status


def finalize_reference() -> tuple[int, int]:
    """aclFinalizeReference: takes one init back; the last one ends AscendCL. Returns (how many are
    left, status): 100037 if there were none."""
    result = out("aclFinalizeReference", OUT)
    _keep.prune()
    return result


def get_recent_err_msg() -> str | None:
    """aclGetRecentErrMsg. Returns the texts of this thread's failures since the last call, newest
    first; None when there were none."""
    message = lib.aclGetRecentErrMsg()
    return None if message == NULL else ffi.string(message).decode(errors="replace")


_synchronize, _kept = lib.aclrtSynchronizeStream, _keep.kept  # used often


class Device:
    """A device, bound to the calling thread inside ``with``; the way out undoes aclrtSetDevice."""

    def __init__(self, index: int = 0) -> None:
        self.index = index

    def __enter__(self) -> Device:
        check(rt.set_device(self.index), "aclrtSetDevice")
        return self

    def __exit__(self, *exception: object) -> None:
        check(rt.reset_device(self.index), "aclrtResetDevice")

    def synchronize(self) -> None:
        """Waits for all streams of the device; raises for work that failed."""
        check(rt.synchronize_device(), "aclrtSynchronizeDevice")


class Stream:
    """An owned stream; `int(stream)` is the handle. Destroying it waits for its work.

    A stream that is forgotten while its context is not the thread's stays until the process ends.

    The handle of a destroyed stream is dead, never the default stream: the runtime answers 107017
    for it, a second phase 361001.
    """

    def __init__(self) -> None:
        self._owned = False
        self._handle, status = rt.create_stream()
        check(status, "aclrtCreateStream")
        self.pointer: Any = ffi.cast("aclrtStream", self._handle)  # for the C functions of `lib`
        self._context = lib.pyaclnnCurrentContext()
        self._owned = True

    @property
    def handle(self) -> int:
        """The C handle, also that of a destroyed stream."""
        return self._handle

    def __repr__(self) -> str:
        return f"<Stream {self._handle:#x}{'' if self._owned else ': destroyed'}>"

    def synchronize(self, timeout: float | None = None) -> None:
        """Waits, at most `timeout` seconds. AclDeviceFaultError for work that failed,
        AclTimeoutError when the time is over."""
        if timeout is None:
            status = _synchronize(self.pointer)
            if _kept:
                _keep.prune(self.pointer)
            if status != 0:
                check(status, "aclrtSynchronizeStream")
        else:
            check(
                rt.synchronize_stream_with_timeout(self._handle, round(timeout * 1000)),
                "aclrtSynchronizeStreamWithTimeout",
            )

    def idle(self) -> bool:
        """Whether everything submitted is over. AclError for a destroyed stream."""
        complete, status = rt.stream_query(self._handle)
        check(status, "aclrtStreamQuery")
        return complete == CONSTANTS["ACL_STREAM_STATUS_COMPLETE"]

    def destroy(self) -> None:
        """aclrtDestroyStream; a second call does nothing."""
        owned, self._owned = self._owned, False
        if owned:
            check(rt.destroy_stream(self._handle), "aclrtDestroyStream")

    def __int__(self) -> int:
        return self._handle

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, kind: object, *exception: object) -> None:
        if kind is None:
            self.synchronize()
        self.destroy()

    def __del__(self) -> None:
        if lib is not None and self.__dict__.get("_owned"):
            # The thread that collects may have another context, and may not destroy it then.
            self._owned = False
            if lib.pyaclnnCurrentContext() == self._context:
                rt.destroy_stream(self._handle)
