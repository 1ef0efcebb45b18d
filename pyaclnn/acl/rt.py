"""acl.rt: devices, contexts, streams, events, memory, as in pyACL.

Handles (contexts, streams, events) and addresses are ints. A stream may also be an acl.Stream; 0 or
None is the default stream of the current context, except for destroy_stream. Functions return a
status or (value, status): 0, or the code of the C function, whose message is in
acl.get_recent_err_msg(). They raise only TypeError and OverflowError, for arguments that are no C
values.
"""

from __future__ import annotations

from typing import Any

from .. import _keep
from .._calls import convert_plain
from .._ffi import NULL, ffi, lib
from .._generated import FUNCTIONS


def _call(function: str, *arguments: Any) -> int:
    """The status of a C function; arguments that are no C values raise TypeError by name."""
    parameters = FUNCTIONS[function]
    converted = [
        argument
        if isinstance(argument, ffi.CData)
        else convert_plain(argument, kind, f"{function}: {name}")
        for argument, (name, kind) in zip(arguments, parameters, strict=True)
    ]
    return int(getattr(lib, function)(*converted))


def _address(pointer: Any) -> int:
    return int(ffi.cast("intptr_t", pointer))


def _out(kind: str, function: str, *arguments: Any) -> tuple[int, int]:
    """(integer output, status) of a function whose first parameter is the output."""
    cell = ffi.new(f"{kind} *")
    status = _call(function, cell, *arguments)
    value = cell[0]
    return (_address(value) if isinstance(value, ffi.CData) else int(value)), status


def _stream(stream: Any) -> Any:
    return convert_plain(stream, "aclrtStream", "stream")


# Devices and contexts


def set_device(device_id: int) -> int:
    """aclrtSetDevice: binds the device and its primary context to this thread."""
    return _call("aclrtSetDevice", device_id)


def reset_device(device_id: int) -> int:
    """aclrtResetDevice: undoes one set_device; the last one waits for the work of the device."""
    context = _keep.current_context()
    status = _call("aclrtResetDevice", device_id)
    if status == 0 and context != 0 and _keep.current_context() == 0:
        _keep.forget_context(context)
    _keep.prune()
    return status


def get_device() -> tuple[int, int]:
    """aclrtGetDevice: (device of this thread, status)."""
    return _out("int32_t", "aclrtGetDevice")


def get_device_count() -> tuple[int, int]:
    """aclrtGetDeviceCount: (number of devices, status)."""
    return _out("uint32_t", "aclrtGetDeviceCount")


def get_run_mode() -> tuple[int, int]:
    """aclrtGetRunMode: (ACL_DEVICE or ACL_HOST, status)."""
    return _out("aclrtRunMode", "aclrtGetRunMode")


def get_soc_name() -> str | None:
    """aclrtGetSocName: the SoC name of the product in force, for example "Ascend910B3"."""
    name = lib.aclrtGetSocName()
    return None if name == NULL else ffi.string(name).decode()


def synchronize_device() -> int:
    """aclrtSynchronizeDevice: waits for all streams of the device; 507015 for work that failed."""
    status = _call("aclrtSynchronizeDevice")
    _keep.prune()
    return status


def create_context(device_id: int) -> tuple[int, int]:
    """aclrtCreateContext: (handle, status); the new context becomes that of this thread."""
    return _out("aclrtContext", "aclrtCreateContext", device_id)


def destroy_context(context: int) -> int:
    """aclrtDestroyContext: waits for the work of its streams."""
    status = _call("aclrtDestroyContext", context)
    if status == 0:
        _keep.forget_context(int(context))
    _keep.prune()
    return status


def set_context(context: int) -> int:
    """aclrtSetCurrentContext."""
    return _call("aclrtSetCurrentContext", context)


def get_context() -> tuple[int, int]:
    """aclrtGetCurrentContext: (handle, status)."""
    return _out("aclrtContext", "aclrtGetCurrentContext")


# Streams


def create_stream() -> tuple[int, int]:
    """aclrtCreateStream: (handle, status), in the context of this thread."""
    return _out("aclrtStream", "aclrtCreateStream")


def create_stream_with_config(priority: int, flag: int) -> tuple[int, int]:
    """aclrtCreateStreamWithConfig: (handle, status); flag holds bits of ACL_STREAM_...."""
    return _out("aclrtStream", "aclrtCreateStreamWithConfig", priority, flag)


def destroy_stream(stream: Any) -> int:
    """aclrtDestroyStream: waits for the work of the stream."""
    status = _call("aclrtDestroyStream", stream)
    _keep.prune()
    return status


def synchronize_stream(stream: Any) -> int:
    """aclrtSynchronizeStream: waits for the work of the stream; 507015 for work that failed."""
    status = _call("aclrtSynchronizeStream", stream)
    _keep.prune(_stream(stream))
    return status


def synchronize_stream_with_timeout(stream: Any, timeout: int) -> int:
    """aclrtSynchronizeStreamWithTimeout: `timeout` in milliseconds, -1 for no limit; 507046 when it
    expires."""
    status = _call("aclrtSynchronizeStreamWithTimeout", stream, timeout)
    _keep.prune(_stream(stream))
    return status


def stream_query(stream: Any) -> tuple[int, int]:
    """aclrtStreamQuery: (ACL_STREAM_STATUS_COMPLETE or ..._NOT_READY, status); never waits."""
    status_cell = ffi.new("aclrtStreamStatus *")
    status = _call("aclrtStreamQuery", stream, status_cell)
    _keep.prune(_stream(stream))
    return int(status_cell[0]), status


def stream_wait_event(stream: Any, event: int) -> int:
    """aclrtStreamWaitEvent: later work of the stream waits for the recorded event."""
    return _call("aclrtStreamWaitEvent", stream, event)


# Events


def create_event() -> tuple[int, int]:
    """aclrtCreateEvent: (handle, status)."""
    return _out("aclrtEvent", "aclrtCreateEvent")


def create_event_with_flag(flag: int) -> tuple[int, int]:
    """aclrtCreateEventWithFlag: (handle, status); flag holds bits of ACL_EVENT_...."""
    return _out("aclrtEvent", "aclrtCreateEventWithFlag", flag)


def destroy_event(event: int) -> int:
    """aclrtDestroyEvent."""
    return _call("aclrtDestroyEvent", event)


def record_event(event: int, stream: Any) -> int:
    """aclrtRecordEvent: the event is complete when the stream has passed this point."""
    return _call("aclrtRecordEvent", event, stream)


def query_event_status(event: int) -> tuple[int, int]:
    """aclrtQueryEventStatus: (ACL_EVENT_RECORDED_STATUS_..., status); never waits."""
    cell = ffi.new("aclrtEventRecordedStatus *")
    status = _call("aclrtQueryEventStatus", event, cell)
    return int(cell[0]), status


def synchronize_event(event: int) -> int:
    """aclrtSynchronizeEvent: waits until the event is complete."""
    return _call("aclrtSynchronizeEvent", event)


def event_elapsed_time(start: int, end: int) -> tuple[float, int]:
    """aclrtEventElapsedTime: (milliseconds between two completed events, status)."""
    cell = ffi.new("float *")
    status = _call("aclrtEventElapsedTime", cell, start, end)
    return float(cell[0]), status


# Memory. Addresses are ints.


def malloc(size: int, policy: int = 0) -> tuple[int, int]:
    """aclrtMalloc: (address, status), `size` bytes of device memory; policy: ACL_MEM_MALLOC_...."""
    return _out("void *", "aclrtMalloc", size, policy)


def free(address: int) -> int:
    """aclrtFree: returns at once; the release waits for work submitted before."""
    return _call("aclrtFree", address)


def malloc_host(size: int) -> tuple[int, int]:
    """aclrtMallocHost: (address, status) of `size` bytes of pinned host memory."""
    return _out("void *", "aclrtMallocHost", size)


def free_host(address: int) -> int:
    """aclrtFreeHost."""
    return _call("aclrtFreeHost", address)


def memcpy(dst: int, dest_max: int, src: int, count: int, kind: int) -> int:
    """aclrtMemcpy: copies `count` bytes; dest_max is the room at dst, kind is ACL_MEMCPY_...."""
    return _call("aclrtMemcpy", dst, dest_max, src, count, kind)


def memcpy_async(dst: int, dest_max: int, src: int, count: int, kind: int, stream: Any) -> int:
    """aclrtMemcpyAsync: the same on a stream; the memory must stay valid until it has run."""
    return _call("aclrtMemcpyAsync", dst, dest_max, src, count, kind, stream)


def memset(address: int, max_count: int, value: int, count: int) -> int:
    """aclrtMemset: sets `count` bytes to `value`; max_count is the room at the address."""
    return _call("aclrtMemset", address, max_count, value, count)


def get_mem_info(attr: int) -> tuple[int, int, int]:
    """aclrtGetMemInfo: (free bytes, total bytes, status); attr is ACL_HBM_MEM and its kind."""
    free_cell, total_cell = ffi.new("size_t *"), ffi.new("size_t *")
    status = _call("aclrtGetMemInfo", attr, free_cell, total_cell)
    return int(free_cell[0]), int(total_cell[0]), status
