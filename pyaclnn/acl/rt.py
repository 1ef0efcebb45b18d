"""acl.rt: devices, contexts, streams, events, memory, as in pyACL."""

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
    return _call("aclrtSetDevice", device_id)


def reset_device(device_id: int) -> int:
    context = _keep.current_context()
    status = _call("aclrtResetDevice", device_id)
    if status == 0 and context != 0 and _keep.current_context() == 0:
        _keep.forget_context(context)
    _keep.prune()
    return status


def get_device() -> tuple[int, int]:
    return _out("int32_t", "aclrtGetDevice")


def get_device_count() -> tuple[int, int]:
    return _out("uint32_t", "aclrtGetDeviceCount")


def get_run_mode() -> tuple[int, int]:
    return _out("aclrtRunMode", "aclrtGetRunMode")


def get_soc_name() -> str | None:
    name = lib.aclrtGetSocName()
    return None if name == NULL else ffi.string(name).decode()


def synchronize_device() -> int:
    status = _call("aclrtSynchronizeDevice")
    _keep.prune()
    return status


def create_context(device_id: int) -> tuple[int, int]:
    return _out("aclrtContext", "aclrtCreateContext", device_id)


def destroy_context(context: int) -> int:
    status = _call("aclrtDestroyContext", context)
    if status == 0:
        _keep.forget_context(int(context))
    _keep.prune()
    return status


def set_context(context: int) -> int:
    return _call("aclrtSetCurrentContext", context)


def get_context() -> tuple[int, int]:
    return _out("aclrtContext", "aclrtGetCurrentContext")


# Streams


def create_stream() -> tuple[int, int]:
    return _out("aclrtStream", "aclrtCreateStream")


def create_stream_with_config(priority: int, flag: int) -> tuple[int, int]:
    return _out("aclrtStream", "aclrtCreateStreamWithConfig", priority, flag)


def destroy_stream(stream: Any) -> int:
    status = _call("aclrtDestroyStream", stream)
    _keep.prune()
    return status


def synchronize_stream(stream: Any) -> int:
    status = _call("aclrtSynchronizeStream", stream)
    _keep.prune(_stream(stream))
    return status


def synchronize_stream_with_timeout(stream: Any, timeout: int) -> int:
    """`timeout` in milliseconds, -1 for ever."""
    status = _call("aclrtSynchronizeStreamWithTimeout", stream, timeout)
    _keep.prune(_stream(stream))
    return status


def stream_query(stream: Any) -> tuple[int, int]:
    status_cell = ffi.new("aclrtStreamStatus *")
    status = _call("aclrtStreamQuery", stream, status_cell)
    _keep.prune(_stream(stream))
    return int(status_cell[0]), status


def stream_wait_event(stream: Any, event: int) -> int:
    return _call("aclrtStreamWaitEvent", stream, event)


# Events


def create_event() -> tuple[int, int]:
    return _out("aclrtEvent", "aclrtCreateEvent")


def create_event_with_flag(flag: int) -> tuple[int, int]:
    return _out("aclrtEvent", "aclrtCreateEventWithFlag", flag)


def destroy_event(event: int) -> int:
    return _call("aclrtDestroyEvent", event)


def record_event(event: int, stream: Any) -> int:
    return _call("aclrtRecordEvent", event, stream)


def query_event_status(event: int) -> tuple[int, int]:
    cell = ffi.new("aclrtEventRecordedStatus *")
    status = _call("aclrtQueryEventStatus", event, cell)
    return int(cell[0]), status


def synchronize_event(event: int) -> int:
    return _call("aclrtSynchronizeEvent", event)


def event_elapsed_time(start: int, end: int) -> tuple[float, int]:
    """Milliseconds."""
    cell = ffi.new("float *")
    status = _call("aclrtEventElapsedTime", cell, start, end)
    return float(cell[0]), status


# Memory. Addresses are ints.


def malloc(size: int, policy: int = 0) -> tuple[int, int]:
    return _out("void *", "aclrtMalloc", size, policy)


def free(address: int) -> int:
    return _call("aclrtFree", address)


def malloc_host(size: int) -> tuple[int, int]:
    return _out("void *", "aclrtMallocHost", size)


def free_host(address: int) -> int:
    return _call("aclrtFreeHost", address)


def memcpy(dst: int, dest_max: int, src: int, count: int, kind: int) -> int:
    return _call("aclrtMemcpy", dst, dest_max, src, count, kind)


def memcpy_async(dst: int, dest_max: int, src: int, count: int, kind: int, stream: Any) -> int:
    return _call("aclrtMemcpyAsync", dst, dest_max, src, count, kind, stream)


def memset(address: int, max_count: int, value: int, count: int) -> int:
    return _call("aclrtMemset", address, max_count, value, count)


def get_mem_info(attr: int) -> tuple[int, int, int]:
    """(free, total, status)."""
    free_cell, total_cell = ffi.new("size_t *"), ffi.new("size_t *")
    status = _call("aclrtGetMemInfo", attr, free_cell, total_cell)
    return int(free_cell[0]), int(total_cell[0]), status
