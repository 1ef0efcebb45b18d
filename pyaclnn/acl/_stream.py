"""acl.rt: streams and events."""

from __future__ import annotations

from typing import Any

from .. import _keep
from .._calls import convert_plain, whole_number
from .._ffi import ffi, lib
from .._generated import CONSTANTS
from . import _callback
from ._status import OUT, call, number, out

__all__ = [
    "create_event",
    "create_event_ex_with_flag",
    "create_event_with_flag",
    "create_stream",
    "create_stream_config_handle",
    "create_stream_v2",
    "create_stream_with_config",
    "destroy_event",
    "destroy_stream",
    "destroy_stream_config_handle",
    "destroy_stream_force",
    "event_elapsed_time",
    "event_get_timestamp",
    "get_stream_overflow_switch",
    "query_event",
    "query_event_status",
    "query_event_wait_status",
    "record_event",
    "reset_event",
    "set_stream_attribute",
    "set_stream_config_opt",
    "set_stream_failure_mode",
    "set_stream_overflow_switch",
    "stream_abort",
    "stream_get_id",
    "stream_query",
    "stream_wait_event",
    "synchronize_event",
    "synchronize_event_with_timeout",
    "synchronize_stream",
    "synchronize_stream_with_timeout",
]


def _passed(stream: Any) -> None:
    _keep.prune(convert_plain(stream, "aclrtStream", "stream"))


# Streams. A stream is a handle, an acl.Stream, or 0 or None for the default stream of the context.


def create_stream() -> tuple[int, int]:
    """aclrtCreateStream, in this thread's context. Returns (handle, for destroy_stream; status):
    107002 without a context, 207008 if there are too many."""
    return out("aclrtCreateStream", OUT)


def create_stream_with_config(priority: int, flag: int) -> tuple[int, int]:
    """aclrtCreateStreamWithConfig, `priority` 0 (highest) to 7, `flag` of ACL_STREAM_... bits,
    which only tune latency. Returns (handle, status) as create_stream."""
    return out("aclrtCreateStreamWithConfig", OUT, priority, flag)


def create_stream_config_handle() -> int:
    """aclrtCreateStreamConfigHandle: options of a stream, all 0. Returns a handle, for
    destroy_stream_config_handle; 0 if no memory is left."""
    return number(lib.aclrtCreateStreamConfigHandle())


def set_stream_config_opt(handle: int, attr: int, value: int) -> int:
    """aclrtSetStreamConfigOpt, `attr` an ACL_RT_STREAM_...: the work address, the work size in
    bytes, the flag, or the priority, 0 to 7. Returns the status: 100000 for an unknown option and a
    larger priority."""
    function = "aclrtSetStreamConfigOpt"
    kind = "uint32_t" if attr == CONSTANTS["ACL_RT_STREAM_PRIORITY"] else "uint64_t"
    cell = ffi.new(f"{kind} *", whole_number(value, kind, f"{function}: attrValue"))
    return call(function, handle, attr, ffi.cast("void *", cell), ffi.sizeof(kind))


def create_stream_v2(handle: int | None) -> tuple[int, int]:
    """aclrtCreateStreamV2, with options of create_stream_config_handle, or None. Returns (handle of
    the stream, status) as create_stream."""
    return out("aclrtCreateStreamV2", OUT, handle)


def destroy_stream_config_handle(handle: int) -> int:
    """aclrtDestroyStreamConfigHandle. Returns the status: 100000 for 0."""
    return call("aclrtDestroyStreamConfigHandle", handle)


def _destroy(function: str, stream: Any) -> int:
    status = call(function, stream)
    _keep.prune()
    if status == 0:
        _callback.forget_unreachable(stream)
    return status


def destroy_stream(stream: Any) -> int:
    """aclrtDestroyStream: waits for the work and destroys the stream. Returns the status: 100000
    for the default stream, 107003 for a stream of another context, 107017 for a dead handle, 107000
    from a callback that the stream waits for."""
    return _destroy("aclrtDestroyStream", stream)


def destroy_stream_force(stream: Any) -> int:
    """aclrtDestroyStreamForce: as destroy_stream, but work that has not begun is dropped."""
    return _destroy("aclrtDestroyStreamForce", stream)


def synchronize_stream(stream: Any) -> int:
    """aclrtSynchronizeStream: waits for the work. Returns the status: 507015 if a task failed since
    the last report, 107017 for a dead handle, 107000 from a callback that the stream waits for."""
    status = call("aclrtSynchronizeStream", stream)
    _passed(stream)
    return status


def synchronize_stream_with_timeout(stream: Any, timeout: int) -> int:
    """aclrtSynchronizeStreamWithTimeout: waits at most `timeout` milliseconds; -1 for no limit, 0
    only looks. Returns the status: 507046 when the time is over, 107000 for less than -1; else as
    synchronize_stream."""
    status = call("aclrtSynchronizeStreamWithTimeout", stream, timeout)
    _passed(stream)
    return status


def stream_query(stream: Any) -> tuple[int, int]:
    """aclrtStreamQuery: whether all work is over. Returns (ACL_STREAM_STATUS_COMPLETE or
    ACL_STREAM_STATUS_NOT_READY, status): 107017 for a dead handle."""
    result = out("aclrtStreamQuery", stream, OUT)
    _passed(stream)
    return result


def stream_wait_event(stream: Any, event: int) -> int:
    """aclrtStreamWaitEvent: later work of the stream waits for the event's latest record. Returns
    the status: 100000 for 0, 107017 for dead handles, 207000 for an event made with flags but
    without ACL_EVENT_SYNC."""
    return call("aclrtStreamWaitEvent", stream, event)


def stream_get_id(stream: Any) -> tuple[int, int]:
    """aclrtStreamGetId. Returns (a number that no other live stream has, status): 107017 for a dead
    handle."""
    return out("aclrtStreamGetId", stream, OUT)


def stream_abort(stream: Any) -> int:
    """aclrtStreamAbort: drops work that has not begun. Returns the status: 107017 for a dead
    handle, 107000 from a callback that the stream waits for."""
    status = call("aclrtStreamAbort", stream)
    _passed(stream)
    _callback.forget_unreachable()
    return status


def set_stream_failure_mode(stream: Any, mode: int) -> int:
    """aclrtSetStreamFailureMode: what happens to work after a task that failed,
    ACL_CONTINUE_ON_FAILURE or ACL_STOP_ON_FAILURE, once for a stream. Returns the status: 107000
    for another mode and on a repetition, 107017 for a dead handle."""
    return call("aclrtSetStreamFailureMode", stream, mode)


def set_stream_overflow_switch(stream: Any, flag: int) -> int:
    """aclrtSetStreamOverflowSwitch: 1 if overflows are wanted to be noticed, else 0. It is kept;
    nothing looks for them here. Returns the status: 100000 for another flag, 107017 for a dead
    handle."""
    return call("aclrtSetStreamOverflowSwitch", stream, flag)


def get_stream_overflow_switch(stream: Any) -> tuple[int, int]:
    """aclrtGetStreamOverflowSwitch. Returns (0 or 1, status): 107017 for a dead handle."""
    return out("aclrtGetStreamOverflowSwitch", stream, OUT)


def set_stream_attribute(stream: Any, attr: int, value: int) -> int:
    """aclrtSetStreamAttribute, `attr` an ACL_STREAM_ATTR_... Returns the status: 100000 for an
    unknown property, 107017 for a dead handle."""
    function = "aclrtSetStreamAttribute"
    cell = ffi.new("aclrtStreamAttrValue *")
    if attr == CONSTANTS["ACL_STREAM_ATTR_FAILURE_MODE"]:
        cell.failureMode = whole_number(value, "uint64_t", f"{function}: value")
    else:  # the other members share type and place
        cell.overflowSwitch = whole_number(value, "uint32_t", f"{function}: value")
    return call(function, stream, attr, cell)


# Events


def create_event() -> tuple[int, int]:
    """aclrtCreateEvent: for waiting, timing and progress. Returns (handle, for destroy_event;
    status): 107002 without a context."""
    return out("aclrtCreateEvent", OUT)


def create_event_with_flag(flag: int) -> tuple[int, int]:
    """aclrtCreateEventWithFlag, `flag` of ACL_EVENT_SYNC, ACL_EVENT_CAPTURE_STREAM_PROGRESS and
    ACL_EVENT_TIME_LINE, or ACL_EVENT_DEVICE_USE_ONLY or ACL_EVENT_EXTERNAL alone. Returns (handle,
    status): 107000 for other flags, 107002 without a context."""
    return out("aclrtCreateEventWithFlag", OUT, flag)


def create_event_ex_with_flag(flag: int) -> tuple[int, int]:
    """aclrtCreateEventExWithFlag: an event that is recycled by itself; it cannot be reset, and only
    query_event_status queries it. `flag` as create_event_with_flag, or ACL_EVENT_IPC alone. Returns
    (handle, status): 107000 for other flags, 107002 without a context."""
    return out("aclrtCreateEventExWithFlag", OUT, flag)


def destroy_event(event: int) -> int:
    """aclrtDestroyEvent; a record or wait that is queued takes its course. Returns the status:
    100000 for 0, 107017 for a dead handle."""
    return call("aclrtDestroyEvent", event)


def record_event(event: int, stream: Any) -> int:
    """aclrtRecordEvent: marks the present end of the stream's work; a repetition moves the mark.
    Returns the status: 100000 for 0, 107003 for an event of another context, 107017 for dead
    handles."""
    return call("aclrtRecordEvent", event, stream)


def reset_event(event: int, stream: Any) -> int:
    """aclrtResetEvent: takes the record back, in stream order. Returns the status: 107000 for an
    event of create_event_ex_with_flag, 107017 for dead handles."""
    return call("aclrtResetEvent", event, stream)


def query_event(event: int) -> tuple[int, int]:
    """aclrtQueryEvent, deprecated: query_event_status. Returns (ACL_EVENT_STATUS_COMPLETE, which is
    0, or ACL_EVENT_STATUS_NOT_READY; status): 107000 for an event of create_event_ex_with_flag,
    107017 for a dead handle."""
    return out("aclrtQueryEvent", event, OUT)


def query_event_status(event: int) -> tuple[int, int]:
    """aclrtQueryEventStatus: whether the mark has been passed. Returns
    (ACL_EVENT_RECORDED_STATUS_COMPLETE, which is 1, or ACL_EVENT_RECORDED_STATUS_NOT_READY;
    status): 107017 for a dead handle."""
    return out("aclrtQueryEventStatus", event, OUT)


def query_event_wait_status(event: int) -> tuple[int, int]:
    """aclrtQueryEventWaitStatus: whether all waits are over. Returns
    (ACL_EVENT_WAIT_STATUS_COMPLETE, which is 0, or ACL_EVENT_WAIT_STATUS_NOT_READY; status): 107000
    for an event of create_event_ex_with_flag, 107017 for a dead handle."""
    return out("aclrtQueryEventWaitStatus", event, OUT)


def synchronize_event(event: int) -> int:
    """aclrtSynchronizeEvent: waits until the mark has been passed. Returns the status: 507000 for
    an event that was never recorded, 107017 for a dead handle, 107000 from a callback that the
    stream behind it waits for."""
    status = call("aclrtSynchronizeEvent", event)
    _keep.prune()
    return status


def synchronize_event_with_timeout(event: int, timeout: int) -> int:
    """aclrtSynchronizeEventWithTimeout: waits at most `timeout` milliseconds, -1 for no limit.
    Returns the status: 507047 when the time is over, 107000 for less than -1; else as
    synchronize_event."""
    status = call("aclrtSynchronizeEventWithTimeout", event, timeout)
    _keep.prune()
    return status


def event_elapsed_time(start: int, end: int) -> tuple[float, int]:
    """aclrtEventElapsedTime, of events with ACL_EVENT_TIME_LINE. Returns (milliseconds from start
    to end, status): 507000 for an event that was not recorded, 107006 for one that is not complete
    or has no time."""
    cell = ffi.new("float *")
    status = call("aclrtEventElapsedTime", cell, start, end)
    return float(cell[0]), status


def event_get_timestamp(event: int) -> tuple[int, int]:
    """aclrtEventGetTimestamp. Returns (microseconds from an arbitrary origin at which the event was
    passed, status) as event_elapsed_time."""
    return out("aclrtEventGetTimestamp", event, OUT)
