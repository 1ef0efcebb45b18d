"""The pyACL-like runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyaclnn import AclError, acl
from pyaclnn._ffi import NULL, ffi
from pyaclnn.errors import AclInvalidError

pytestmark = pytest.mark.usefixtures("no_leak")


def test_init_twice_is_harmless() -> None:
    assert acl.init() == 100002
    assert "aclInit" in (acl.get_recent_err_msg() or "")
    assert acl.get_recent_err_msg() is None


def test_memory() -> None:
    data = np.arange(100, dtype=np.uint8)
    address, status = acl.rt.malloc(100, acl.ACL_MEM_MALLOC_HUGE_FIRST)
    assert status == 0 and address % 64 == 0
    source = acl.util.numpy_to_ptr(data)
    assert acl.rt.memcpy(address, 100, source, 100, acl.ACL_MEMCPY_HOST_TO_DEVICE) == 0
    assert acl.util.ptr_to_bytes(address, 100) == data.tobytes()
    view = acl.util.ptr_to_numpy(address, (10, 10), np.uint8)
    assert view[3, 4] == 34
    assert acl.rt.memset(address, 100, 7, 50) == 0
    assert view[0, 0] == 7 and view[9, 9] == 99
    raw = b"0123456789"
    assert acl.rt.memcpy(address, 100, acl.util.bytes_to_ptr(raw), 10, 1) == 0
    assert acl.util.ptr_to_bytes(address, 10) == raw
    assert acl.rt.memcpy(address, 5, source, 10, 1) == 107000
    assert acl.rt.free(address) == 0
    host, status = acl.rt.malloc_host(64)
    assert status == 0
    assert acl.rt.free_host(host) == 0
    free, total, status = acl.rt.get_mem_info(acl.ACL_HBM_MEM)
    assert status == 0 and 0 < free <= total


def test_device_questions() -> None:
    assert acl.rt.get_device() == (0, 0)
    count, status = acl.rt.get_device_count()
    assert status == 0 and count >= 1
    assert acl.rt.get_run_mode() == (acl.ACL_HOST, 0)
    assert (acl.rt.get_soc_name() or "").startswith("Ascend")


def test_streams_and_events() -> None:
    stream, status = acl.rt.create_stream()
    assert status == 0 and stream != 0
    other, status = acl.rt.create_stream_with_config(0, 0)
    assert status == 0
    start, status = acl.rt.create_event()
    assert status == 0
    end, status = acl.rt.create_event()
    assert status == 0
    buffer, _ = acl.rt.malloc(64)
    assert acl.rt.record_event(start, stream) == 0
    assert acl.rt.memcpy_async(buffer, 64, buffer + 32, 32, 3, stream) == 0
    assert acl.rt.record_event(end, stream) == 0
    assert acl.rt.stream_wait_event(other, end) == 0
    assert acl.rt.synchronize_event(end) == 0
    assert acl.rt.synchronize_stream(stream) == acl.rt.synchronize_stream(other) == 0
    assert acl.rt.synchronize_stream_with_timeout(stream, 1000) == 0
    assert acl.rt.query_event_status(end) == (acl.ACL_EVENT_RECORDED_STATUS_COMPLETE, 0)
    elapsed, status = acl.rt.event_elapsed_time(start, end)
    assert status == 0 and elapsed >= 0
    assert acl.rt.stream_query(stream) == (acl.ACL_STREAM_STATUS_COMPLETE, 0)
    for event in (start, end):
        assert acl.rt.destroy_event(event) == 0
    for s in (stream, other):
        assert acl.rt.destroy_stream(s) == 0
    assert acl.rt.free(buffer) == 0


def test_contexts() -> None:
    before, status = acl.rt.get_context()
    assert status == 0
    context, status = acl.rt.create_context(0)
    assert status == 0
    assert acl.rt.get_context() == (context, 0)
    assert acl.rt.set_context(before) == 0
    assert acl.rt.destroy_context(context) == 0


def test_managers() -> None:
    with acl.Device(0) as device, acl.Stream() as stream:
        assert int(stream) == stream.handle != 0
        assert stream.idle()
        stream.synchronize()
        stream.synchronize(timeout=1.0)
        device.synchronize()
    assert stream.handle != 0
    with pytest.raises(AclError) as caught, acl.Device(99):
        pass
    assert caught.value.code == 107001
    assert caught.value.operator == "aclrtSetDevice"


def test_a_dropped_stream_is_destroyed() -> None:
    stream = acl.Stream()
    assert stream.idle()
    del stream  # no_leak looks


def test_a_refusal_raises_with_its_text() -> None:
    with pytest.raises(AclInvalidError) as caught, acl.Stream() as stream:
        stream.synchronize(timeout=-5)
    assert caught.value.code == 107000
    assert "aclrtSynchronizeStreamWithTimeout" in str(caught.value)


untyped: Any = acl.rt  # what a checker of types would refuse


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: untyped.set_device("0"),
            "aclrtSetDevice: deviceId: '0', accepted is a whole number",
        ),
        (lambda: untyped.malloc(1.5), "aclrtMalloc: size: 1.5, accepted is a whole number"),
        (
            lambda: untyped.free("x"),
            "aclrtFree: devPtr: a str, accepted are pyaclnn.acl objects, handles",
        ),
        (
            lambda: untyped.free(np.zeros(3)),
            "aclrtFree: devPtr: a ndarray, accepted are pyaclnn.acl objects",
        ),
        (lambda: untyped.synchronize_stream(2.0), "aclrtSynchronizeStream: stream: a float"),
        (lambda: untyped.record_event("e", None), "aclrtRecordEvent: event: a str"),
    ],
)
def test_wrong_types_are_named(call: Any, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        call()


def test_streams_in_any_dress() -> None:
    with acl.Stream() as stream:
        for dress in (stream, int(stream), ffi.cast("aclrtStream", int(stream)), np.int64(stream)):
            assert acl.rt.synchronize_stream(dress) == 0
    for default in (None, 0, NULL):
        assert acl.rt.synchronize_stream(default) == 0


def test_unknown_names() -> None:
    with pytest.raises(AttributeError, match="ACL_NONSENSE"):
        acl.ACL_NONSENSE  # noqa: B018
