"""acl.rt: devices, contexts, streams, events, memory, as in pyACL."""

from __future__ import annotations

from typing import Any

from .. import _keep
from .._ffi import NULL, ffi, lib


def _stream(stream: Any) -> Any:
    return ffi.cast("aclrtStream", int(stream) if stream is not None else 0)


def _pointer(address: Any) -> Any:
    return ffi.cast("void *", int(address) if address is not None else 0)


def _address(pointer: Any) -> int:
    return int(ffi.cast("intptr_t", pointer))


def _out(kind: str, function: Any, *arguments: Any) -> tuple[int, int]:
    """(integer output, status) of a function whose first parameter is the output."""
    cell = ffi.new(f"{kind} *")
    status = int(function(cell, *arguments))
    value = cell[0]
    return (_address(value) if isinstance(value, ffi.CData) else int(value)), status


# Devices and contexts


def set_device(device_id: int) -> int:
    return int(lib.aclrtSetDevice(device_id))


def reset_device(device_id: int) -> int:
    status = int(lib.aclrtResetDevice(device_id))
    _keep.prune()
    return status


def get_device() -> tuple[int, int]:
    return _out("int32_t", lib.aclrtGetDevice)


def get_device_count() -> tuple[int, int]:
    return _out("uint32_t", lib.aclrtGetDeviceCount)


def get_run_mode() -> tuple[int, int]:
    return _out("aclrtRunMode", lib.aclrtGetRunMode)


def get_soc_name() -> str | None:
    name = lib.aclrtGetSocName()
    return None if name == NULL else ffi.string(name).decode()


def synchronize_device() -> int:
    status = int(lib.aclrtSynchronizeDevice())
    _keep.prune()
    return status


def create_context(device_id: int) -> tuple[int, int]:
    return _out("aclrtContext", lib.aclrtCreateContext, device_id)


def destroy_context(context: int) -> int:
    status = int(lib.aclrtDestroyContext(_pointer(context)))
    if status == 0:
        _keep.forget_context(int(context))
    _keep.prune()
    return status


def set_context(context: int) -> int:
    return int(lib.aclrtSetCurrentContext(_pointer(context)))


def get_context() -> tuple[int, int]:
    return _out("aclrtContext", lib.aclrtGetCurrentContext)


# Streams


def create_stream() -> tuple[int, int]:
    return _out("aclrtStream", lib.aclrtCreateStream)


def create_stream_with_config(priority: int, flag: int) -> tuple[int, int]:
    return _out("aclrtStream", lib.aclrtCreateStreamWithConfig, priority, flag)


def destroy_stream(stream: Any) -> int:
    status = int(lib.aclrtDestroyStream(_stream(stream)))
    _keep.prune()
    return status


def synchronize_stream(stream: Any) -> int:
    status = int(lib.aclrtSynchronizeStream(_stream(stream)))
    _keep.prune(_stream(stream))
    return status


def synchronize_stream_with_timeout(stream: Any, timeout: int) -> int:
    """`timeout` in milliseconds, -1 for ever."""
    status = int(lib.aclrtSynchronizeStreamWithTimeout(_stream(stream), timeout))
    _keep.prune(_stream(stream))
    return status


def stream_query(stream: Any) -> tuple[int, int]:
    status_cell = ffi.new("aclrtStreamStatus *")
    status = int(lib.aclrtStreamQuery(_stream(stream), status_cell))
    _keep.prune(_stream(stream))
    return int(status_cell[0]), status


def stream_wait_event(stream: Any, event: int) -> int:
    return int(lib.aclrtStreamWaitEvent(_stream(stream), _pointer(event)))


# Events


def create_event() -> tuple[int, int]:
    return _out("aclrtEvent", lib.aclrtCreateEvent)


def create_event_with_flag(flag: int) -> tuple[int, int]:
    return _out("aclrtEvent", lib.aclrtCreateEventWithFlag, flag)


def destroy_event(event: int) -> int:
    return int(lib.aclrtDestroyEvent(_pointer(event)))


def record_event(event: int, stream: Any) -> int:
    return int(lib.aclrtRecordEvent(_pointer(event), _stream(stream)))


def query_event_status(event: int) -> tuple[int, int]:
    cell = ffi.new("aclrtEventRecordedStatus *")
    status = int(lib.aclrtQueryEventStatus(_pointer(event), cell))
    return int(cell[0]), status


def synchronize_event(event: int) -> int:
    return int(lib.aclrtSynchronizeEvent(_pointer(event)))


def event_elapsed_time(start: int, end: int) -> tuple[float, int]:
    """Milliseconds."""
    cell = ffi.new("float *")
    status = int(lib.aclrtEventElapsedTime(cell, _pointer(start), _pointer(end)))
    return float(cell[0]), status


# Memory. Addresses are ints.


def malloc(size: int, policy: int = 0) -> tuple[int, int]:
    return _out("void *", lib.aclrtMalloc, size, policy)


def free(address: int) -> int:
    return int(lib.aclrtFree(_pointer(address)))


def malloc_host(size: int) -> tuple[int, int]:
    return _out("void *", lib.aclrtMallocHost, size)


def free_host(address: int) -> int:
    return int(lib.aclrtFreeHost(_pointer(address)))


def memcpy(dst: int, dest_max: int, src: int, count: int, kind: int) -> int:
    return int(lib.aclrtMemcpy(_pointer(dst), dest_max, _pointer(src), count, kind))


def memcpy_async(dst: int, dest_max: int, src: int, count: int, kind: int, stream: Any) -> int:
    return int(
        lib.aclrtMemcpyAsync(_pointer(dst), dest_max, _pointer(src), count, kind, _stream(stream))
    )


def memset(address: int, max_count: int, value: int, count: int) -> int:
    return int(lib.aclrtMemset(_pointer(address), max_count, value, count))


def get_mem_info(attr: int) -> tuple[int, int, int]:
    """(free, total, status)."""
    free_cell, total_cell = ffi.new("size_t *"), ffi.new("size_t *")
    status = int(lib.aclrtGetMemInfo(attr, free_cell, total_cell))
    return int(free_cell[0]), int(total_cell[0]), status
