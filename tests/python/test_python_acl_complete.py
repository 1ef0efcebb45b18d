"""pyaclnn.acl has every function of include/acl, under its name, and each does what C's does."""

from __future__ import annotations

import inspect
import os
import re
import threading
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest
from python_support import run_python

from pyaclnn import acl
from pyaclnn._ffi import ffi, lib
from pyaclnn._generated import FUNCTIONS, HEADERS
from pyaclnn.acl import _absent

pytestmark = pytest.mark.usefixtures("no_leak")

DECLARED = {name for name in FUNCTIONS if HEADERS[name].startswith("acl/")}
MODULES: dict[str, ModuleType] = {"aclrt": acl.rt, "aclop": acl.op, "aclsys": acl.sys, "acl": acl}
# pyACL's names where the rule gives another one.
NAMES = {
    "aclrtGetCurrentContext": "get_context",
    "aclrtMemcpy2d": "memcpy_2d",
    "aclrtMemcpy2dAsync": "memcpy_2d_async",
    "aclrtSetCurrentContext": "set_context",
    "aclrtSubscribeHostFunc": "subscribe_host_func",
    "aclrtUnSubscribeHostFunc": "unsubscribe_host_func",
    "aclrtUnSubscribeReport": "unsubscribe_report",
    "aclsysGetCANNVersion": "get_cann_version",
}


def python_name(function: str) -> tuple[ModuleType, str]:
    prefix = next(p for p in MODULES if function.startswith(p))
    words = re.findall("[A-Z][a-z0-9]*", function.removeprefix(prefix))
    return MODULES[prefix], NAMES.get(function, "_".join(words).lower())


def wrappers() -> Iterator[tuple[str, Callable[..., Any]]]:
    for module in MODULES.values():
        for name in module.__all__:
            value = getattr(module, name)
            if isinstance(value, FunctionType):
                yield f"{module.__name__}.{name}", value


def test_every_function_is_there_or_absent_for_a_reason() -> None:
    assert set(_absent.ABSENT) <= DECLARED
    for function in sorted(DECLARED):
        module, name = python_name(function)
        if function in _absent.ABSENT:
            assert not hasattr(module, name), function
            continue
        wrapper = getattr(module, name)
        assert name in module.__all__, function
        assert (inspect.getdoc(wrapper) or "?").split()[0].rstrip(",:;.") == function
        # Its code names the C function, besides its description.
        code = wrapper.__code__
        assert {function} & {*code.co_consts, *code.co_names} or any(
            function in (*c.co_consts, *c.co_names) for c in code.co_consts if inspect.iscode(c)
        ), function


def test_there_is_nothing_else() -> None:
    known = {python_name(f) for f in DECLARED}
    for where, wrapper in wrappers():
        module, _, name = where.rpartition(".")
        assert any(m.__name__ == module and n == name for m, n in known), where
        assert inspect.getdoc(wrapper)


def test_absent_functions_refuse_in_c() -> None:
    """Those without an output or with harmless ones: whatever the arguments."""
    for function in ("aclmdlInitDump", "aclmdlFinalizeDump"):
        assert getattr(lib, function)() == 200001
    address, _ = acl.rt.malloc(64)
    try:
        assert lib.aclrtValueWrite(acl_pointer(address), 1, 0, acl_pointer(0)) == 207000
        assert lib.aclrtValueWait(acl_pointer(address), 1, 0, acl_pointer(0)) == 207000
        assert lib.aclmdlRICaptureBegin(acl_pointer(0), 0) != 0
        stream, _ = acl.rt.create_stream()
        assert lib.aclmdlRICaptureBegin(acl_pointer(stream), 0) == 207000
        assert acl.rt.destroy_stream(stream) == 0
    finally:
        assert acl.rt.free(address) == 0
    acl.get_recent_err_msg()


def acl_pointer(address: int) -> Any:
    return ffi.cast("void *", address)


untyped: Any = acl  # what a checker of types would refuse


# Devices


def test_devices() -> None:
    assert acl.rt.query_device_status(0) == (acl.ACL_RT_DEVICE_STATUS_NORMAL, 0)
    assert acl.rt.query_device_status(99)[1] == 107001
    info, status = acl.rt.get_device_utilization_rate(0)
    assert status == 0 and set(info) == {
        "cube_utilization", "vector_utilization", "aicpu_utilization", "memory_utilization",
        "utilization_extend",
    }  # fmt: skip
    assert all(-1 <= value <= 100 for value in info.values())
    cores, status = acl.rt.get_device_info(0, acl.ACL_DEV_ATTR_AICORE_CORE_NUM)
    assert status == 0 and cores > 0
    assert acl.rt.get_device_info(0, 12345) == (0, 207000)
    assert acl.rt.get_primary_ctx_state(0) == (1, 0)
    assert acl.rt.device_can_access_peer(0, 0)[1] == 100000
    assert acl.rt.device_enable_peer_access(0, 0) == 100000
    assert acl.rt.device_disable_peer_access(99) == 107001
    pid, status = acl.rt.device_get_bare_tgid()
    assert (pid, status) == (os.getpid(), 0)
    assert acl.rt.set_ts_device(acl.ACL_TS_ID_AICORE) == 0
    assert acl.rt.set_ts_device(7) == 100000
    assert acl.rt.synchronize_device_with_timeout(1000) == 0
    assert acl.rt.synchronize_device_with_timeout(-2) == 107000
    cores_too, status = acl.get_device_capability(0, acl.ACL_DEVICE_INFO_AI_CORE_NUM)
    assert (cores_too, status) == (cores, 0)
    attributes, status = acl.get_cann_attribute_list()
    assert status == 0
    for attribute in (acl.ACL_CANN_ATTR_INF_NAN, acl.ACL_CANN_ATTR_BF16):
        assert acl.get_cann_attribute(attribute) == (int(attribute in attributes), 0)


def test_a_device_is_reset_by_force() -> None:
    results: list[Any] = []

    def work() -> None:
        count, _ = acl.rt.get_device_count()
        device = count - 1
        if device == 0:
            results.append("one device")
            return
        results.extend([acl.rt.set_device(device), acl.rt.set_device(device)])
        results.append(acl.rt.reset_device_force(device))
        results.append(acl.rt.reset_device(device))
        results.append(acl.rt.get_device()[1])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert results in ([0, 0, 0, 507007, 107002], ["one device"])


def test_options() -> None:
    before, status = acl.rt.get_sys_param_opt(acl.ACL_OPT_DETERMINISTIC)
    assert status == 0
    assert acl.rt.set_sys_param_opt(acl.ACL_OPT_DETERMINISTIC, 1) == 0
    assert acl.rt.get_sys_param_opt(acl.ACL_OPT_DETERMINISTIC) == (1, 0)
    assert acl.rt.set_sys_param_opt(acl.ACL_OPT_DETERMINISTIC, before) == 0
    assert acl.rt.get_sys_param_opt(77) == (0, 100000)
    context, _ = acl.rt.get_context()
    own, status = acl.rt.create_context(0)
    assert status == 0
    assert acl.rt.ctx_get_sys_param_opt(acl.ACL_OPT_STRONG_CONSISTENCY) == (0, 107021)
    assert acl.rt.ctx_set_sys_param_opt(acl.ACL_OPT_STRONG_CONSISTENCY, 5) == 0
    assert acl.rt.ctx_get_sys_param_opt(acl.ACL_OPT_STRONG_CONSISTENCY) == (5, 0)
    assert acl.rt.set_context(context) == 0
    assert acl.rt.destroy_context(own) == 0
    mode, status = acl.rt.get_device_sat_mode()
    assert (mode, status) == (acl.ACL_RT_OVERFLOW_MODE_INFNAN, 0)
    assert acl.rt.set_device_sat_mode(mode) == 0
    assert acl.rt.set_device_sat_mode(9) == 107000
    assert acl.rt.set_op_execute_time_out(3) == 0
    assert acl.rt.set_op_execute_time_out_with_ms(3000) == 0
    assert acl.rt.set_op_execute_time_out_v2(3000000) == (2**64 - 1, 0)
    assert acl.rt.set_op_wait_timeout(0) == 0


def test_versions_and_errors() -> None:
    major, minor, patch, status = acl.rt.get_version()
    assert (status, major) == (0, 1) and minor >= 0 and patch >= 0
    version, status = acl.sys.get_cann_version(acl.ACL_PKG_NAME_RUNTIME)
    assert status == 0
    assert version["version"].startswith(f"{version['major_version']}.{version['minor_version']}")
    assert acl.sys.get_version_str("runtime") == (version["version"], 0)
    assert acl.sys.get_version_str("nonsense") == ("", 100000)
    acl.rt.get_last_error()
    assert acl.rt.peek_at_last_error() == 0
    assert acl.rt.free(1) == 107000
    assert acl.rt.peek_at_last_error(acl.ACL_RT_THREAD_LEVEL) == 107000
    assert acl.rt.get_last_error() == 107000
    assert acl.rt.get_last_error() == 0


def test_finalize_by_reference() -> None:
    done = run_python(
        "from pyaclnn import acl\n"
        "print(acl.init(), acl.init(), acl.finalize_reference(), acl.finalize_reference(),\n"
        "      acl.finalize_reference())"
    )
    assert done.stdout == "0 100002 (1, 0) (0, 0) (0, 100037)\n", done.stderr


# Streams and events


def test_streams() -> None:
    handle = acl.rt.create_stream_config_handle()
    assert handle != 0
    assert acl.rt.set_stream_config_opt(handle, acl.ACL_RT_STREAM_PRIORITY, 3) == 0
    assert acl.rt.set_stream_config_opt(handle, acl.ACL_RT_STREAM_PRIORITY, 8) == 100000
    assert acl.rt.set_stream_config_opt(handle, acl.ACL_RT_STREAM_FLAG, 1) == 0
    assert acl.rt.set_stream_config_opt(handle, 17, 1) == 100000
    stream, status = acl.rt.create_stream_v2(handle)
    assert status == 0
    assert acl.rt.destroy_stream_config_handle(handle) == 0
    assert acl.rt.destroy_stream_config_handle(0) == 100000
    other, status = acl.rt.create_stream_v2(None)
    assert status == 0
    first, status = acl.rt.stream_get_id(stream)
    assert status == 0 and first >= 0
    assert acl.rt.stream_get_id(other)[0] != first
    assert acl.rt.get_stream_overflow_switch(stream) == (0, 0)
    assert acl.rt.set_stream_overflow_switch(stream, 1) == 0
    assert acl.rt.get_stream_overflow_switch(stream) == (1, 0)
    overflow = acl.ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK
    assert acl.rt.set_stream_attribute(stream, overflow, 0) == 0
    assert acl.rt.get_stream_overflow_switch(stream) == (0, 0)
    assert acl.rt.set_stream_failure_mode(stream, acl.ACL_STOP_ON_FAILURE) == 0
    assert acl.rt.set_stream_failure_mode(stream, acl.ACL_STOP_ON_FAILURE) == 107000
    failure = acl.ACL_STREAM_ATTR_FAILURE_MODE
    assert acl.rt.set_stream_attribute(other, failure, acl.ACL_CONTINUE_ON_FAILURE) == 0
    assert acl.rt.set_stream_attribute(other, 99, 0) == 100000
    assert acl.rt.stream_abort(stream) == 0
    assert acl.rt.destroy_stream_force(stream) == acl.rt.destroy_stream(other) == 0
    assert acl.rt.stream_abort(stream) == 107017
    with pytest.raises(OverflowError, match="aclrtSetStreamAttribute: value"):
        acl.rt.set_stream_attribute(0, overflow, 2**32)


def test_abort_drops_what_has_not_begun() -> None:
    memory, _ = acl.rt.malloc(64)
    assert acl.rt.memset(memory, 64, 0, 64) == 0
    event, _ = acl.rt.create_event_with_flag(acl.ACL_EVENT_SYNC)
    with acl.Stream() as gate, acl.Stream() as stream:
        assert acl.rt.record_event(event, gate) == 0
        gate.synchronize()
        assert acl.rt.reset_event(event, gate) == 0
        gate.synchronize()
        assert acl.rt.stream_wait_event(stream, event) == 0
        assert acl.rt.memset_async(memory, 64, 7, 64, stream) == 0
        assert acl.rt.synchronize_stream_with_timeout(stream, 1) == 507046
        assert acl.rt.query_event(event) == (acl.ACL_EVENT_STATUS_NOT_READY, 0)
        assert acl.rt.query_event_wait_status(event)[1] == 0
        assert acl.rt.synchronize_event_with_timeout(event, 1) in (507000, 507047)
        assert acl.rt.stream_abort(stream) == 0
        assert acl.rt.stream_query(stream) == (acl.ACL_STREAM_STATUS_COMPLETE, 0)
    assert acl.util.ptr_to_bytes(memory, 64) == bytes(64)
    assert acl.rt.destroy_event(event) == 0
    assert acl.rt.free(memory) == 0


def test_events() -> None:
    timed, status = acl.rt.create_event_with_flag(acl.ACL_EVENT_SYNC | acl.ACL_EVENT_TIME_LINE)
    assert status == 0
    later, status = acl.rt.create_event_ex_with_flag(acl.ACL_EVENT_SYNC | acl.ACL_EVENT_TIME_LINE)
    assert status == 0
    assert acl.rt.create_event_with_flag(0x1000) == (0, 107000)
    with acl.Stream() as stream:
        assert acl.rt.event_get_timestamp(timed)[1] == 507000
        assert acl.rt.record_event(timed, stream) == acl.rt.record_event(later, stream) == 0
        assert acl.rt.synchronize_event_with_timeout(later, 5000) == 0
        assert acl.rt.query_event(timed) == (acl.ACL_EVENT_STATUS_COMPLETE, 0)
        assert acl.rt.query_event(later)[1] == 107000
        assert acl.rt.query_event_wait_status(timed) == (acl.ACL_EVENT_WAIT_STATUS_COMPLETE, 0)
        first, status = acl.rt.event_get_timestamp(timed)
        assert status == 0
        second, status = acl.rt.event_get_timestamp(later)
        elapsed, _ = acl.rt.event_elapsed_time(timed, later)
        assert status == 0 and elapsed == pytest.approx((second - first) / 1000, abs=2e-3)
        assert acl.rt.reset_event(later, stream) == 107000
    assert acl.rt.destroy_event(timed) == acl.rt.destroy_event(later) == 0


# Memory


def test_allocation() -> None:
    for allocate in (
        acl.rt.malloc_align32,
        acl.rt.malloc_cached,
        lambda size, policy: acl.rt.malloc_with_cfg(
            size, policy, [{"attr": acl.ACL_RT_MEM_ATTR_MODULE_ID, "value": 33}]
        ),
        acl.rt.malloc_for_task_scheduler,
    ):
        address, status = allocate(100, acl.ACL_MEM_MALLOC_NORMAL_ONLY)
        assert status == 0 and address % 64 == 0
        assert acl.rt.mem_flush(address, 100) == acl.rt.mem_invalidate(address, 100) == 0
        assert acl.rt.cmo_async(address, 100, acl.ACL_RT_CMO_TYPE_PREFETCH, 0) == 0
        assert acl.rt.cmo_async(address, 100, acl.ACL_RT_CMO_TYPE_FLUSH, 0) == 107000
        where, status = acl.rt.pointer_get_attributes(address)
        assert status == 0
        assert where["location"] == {"id": 0, "type": acl.ACL_MEM_LOCATION_TYPE_DEVICE}
        assert where["page_size"] > 0
        assert acl.rt.free(address) == 0
        assert allocate(0, 0) == (0, 100000)
    host, status = acl.rt.malloc_host_with_cfg(4096)
    assert status == 0
    where, status = acl.rt.pointer_get_attributes(host)
    assert where["location"]["type"] == acl.ACL_MEM_LOCATION_TYPE_HOST
    assert acl.rt.free_host(host) == 0
    with pytest.raises(OverflowError, match=r"aclrtMallocWithCfg: cfg\[0\]: module_id"):
        acl.rt.malloc_with_cfg(64, 0, [{"attr": 1, "value": 2**16}])
    usage, status = acl.rt.get_mem_usage_info(0, 4)
    assert status == 0
    assert all(set(u) == {"name", "cur_mem_size", "mem_peak_size"} for u in usage)
    assert acl.rt.get_mem_usage_info(0, 0) == ([], 100000)


def test_copies() -> None:
    source = np.arange(256, dtype=np.uint8)
    device, _ = acl.rt.malloc(256)
    to, back = acl.ACL_MEMCPY_HOST_TO_DEVICE, acl.ACL_MEMCPY_DEVICE_TO_HOST
    start = acl.util.numpy_to_ptr(source)
    # 4 rows of 8 bytes out of rows of 16.
    assert acl.rt.memcpy_2d(device, 8, start, 16, 8, 4, to) == 0
    assert acl.util.ptr_to_bytes(device, 32) == source[:64].reshape(4, 16)[:, :8].tobytes()
    assert acl.rt.memcpy_2d(device, 4, start, 16, 8, 4, to) == 100000
    with acl.Stream() as stream:
        assert acl.rt.memset_async(device, 256, 9, 256, stream) == 0
        assert acl.rt.memcpy_2d_async(device, 16, start, 8, 8, 2, to, stream) == 0
        assert acl.rt.memcpy_async_with_condition(device, 8, start, 8, to, stream) == 107000
    expected = bytes([*range(8), *[9] * 8, *range(8, 16), *[9] * 8])
    assert acl.util.ptr_to_bytes(device, 32) == expected
    size, status = acl.rt.get_memcpy_desc_size(acl.ACL_MEMCPY_DEVICE_TO_DEVICE)
    assert status == 0 and size > 0
    description, _ = acl.rt.malloc(size)
    kind = acl.ACL_MEMCPY_DEVICE_TO_DEVICE
    assert acl.rt.set_memcpy_desc(description, kind, device, device + 128, 32) == 0
    with acl.Stream() as stream:
        assert acl.rt.memcpy_async_with_desc(description, kind, stream) == 0
    assert acl.util.ptr_to_bytes(device + 128, 32) == expected
    assert acl.rt.memcpy(start, 32, device, 32, back) == 0
    assert source[:32].tobytes() == expected
    assert acl.rt.free(description) == acl.rt.free(device) == 0


@pytest.mark.parametrize("asynchronous", [False, True])
def test_batches_of_copies(asynchronous: bool) -> None:
    source = np.arange(64, dtype=np.uint8)
    start = acl.util.numpy_to_ptr(source)
    device, _ = acl.rt.malloc(64)
    place = {
        "dst_loc": {"type": acl.ACL_MEM_LOCATION_TYPE_DEVICE, "id": 0},
        "src_loc": {"type": acl.ACL_MEM_LOCATION_TYPE_HOST},
    }

    def batch(dsts: Any, dest_maxs: Any, srcs: Any, sizes: Any, attrs: Any, at: Any) -> Any:
        if not asynchronous:
            return acl.rt.memcpy_batch(dsts, dest_maxs, srcs, sizes, attrs, at)
        result = acl.rt.memcpy_batch_async(dsts, dest_maxs, srcs, sizes, attrs, at, None)
        assert acl.rt.synchronize_stream(None) == 0
        return result

    lists = [device, device + 32], [32, 32], [start + 8, start], [4, 16]
    assert batch(*lists, [place], [0])[1] == 0
    assert acl.util.ptr_to_bytes(device, 4) == source[8:12].tobytes()
    assert acl.util.ptr_to_bytes(device + 32, 16) == source[:16].tobytes()
    assert batch(lists[0], [32, 8], *lists[2:], [place], [0]) == (2**64 - 1, 100000)
    assert batch(*lists[:2], [start, device], lists[3], [place], [0]) == (1, 107000)
    assert batch([], [], [], [], [place], [0])[1] == 100000
    with pytest.raises(ValueError, match="lists of different lengths: dsts 2, dest_maxs 1"):
        batch(lists[0], [32], *lists[2:], [place], [0])
    with pytest.raises(TypeError, match=r"attrs\[0\]: 'dst', accepted are dst_loc, src_loc"):
        batch(*lists, [{"dst": {}}], [0])
    assert acl.rt.free(device) == 0


def test_registered_host_memory() -> None:
    memory = np.zeros(3 * 4096, np.uint8)
    start = -(-acl.util.numpy_to_ptr(memory) // 4096) * 4096
    assert acl.rt.host_register(start, 4096, acl.ACL_HOST_REGISTER_MAPPED) == (start, 0)
    assert acl.rt.host_unregister(start) == 0
    assert acl.rt.host_unregister(start) == 107000
    assert acl.rt.host_register_v2(start, 4096, acl.ACL_HOST_REG_MAPPED) == 0
    assert acl.rt.host_unregister(start) == 0
    assert acl.rt.host_register_v2(start, 4096, 1) == 107000


def test_virtual_memory() -> None:
    prop = {
        "handle_type": acl.ACL_MEM_HANDLE_TYPE_NONE,
        "allocation_type": acl.ACL_MEM_ALLOCATION_TYPE_PINNED,
        "mem_attr": acl.ACL_HBM_MEM_NORMAL,
        "location": {"id": 0, "type": acl.ACL_MEM_LOCATION_TYPE_DEVICE},
    }
    option = acl.ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM
    unit, status = acl.rt.mem_get_allocation_granularity(prop, option)
    assert status == 0 and unit % 4096 == 0
    assert acl.rt.mem_get_allocation_granularity(prop, 5) == (0, 107000)
    addresses, status = acl.rt.reserve_mem_address(2 * unit)
    assert status == 0
    handle, status = acl.rt.malloc_physical(unit, prop)
    assert status == 0 and handle > 2**31  # a handle is no small number
    assert acl.rt.map_mem(addresses + unit, unit, 0, handle) == 0
    assert acl.rt.memset(addresses + unit, unit, 5, unit) == 0
    assert acl.util.ptr_to_bytes(addresses + 2 * unit - 4, 4) == b"\5" * 4
    assert acl.rt.map_mem(addresses, unit, 0, handle) == 107000
    assert acl.rt.unmap_mem(addresses + unit) == 0
    assert acl.rt.free_physical(handle) == 0
    assert acl.rt.free_physical(handle) == 107000
    assert acl.rt.release_mem_address(addresses) == 0
    with pytest.raises(TypeError, match="aclrtMallocPhysical: prop: location: 'device'"):
        acl.rt.malloc_physical(unit, {"location": {"device": 0}})


# What has no stream: descriptions, buffers, attributes, options


def test_tensor_descriptions() -> None:
    desc = acl.create_tensor_desc(acl.ACL_FLOAT16, [2, 3, 4], acl.ACL_FORMAT_ND)
    assert desc != 0
    assert acl.get_tensor_desc_type(desc) == acl.ACL_FLOAT16
    assert acl.get_tensor_desc_format(desc) == acl.ACL_FORMAT_ND
    assert acl.get_tensor_desc_size(desc) == 48
    assert acl.get_tensor_desc_element_count(desc) == 24
    assert acl.get_tensor_desc_num_dims(desc) == 3
    assert [acl.get_tensor_desc_dim(desc, i) for i in range(4)] == [2, 3, 4, -1]
    assert acl.get_tensor_desc_dim_v2(desc, 2) == (4, 0)
    assert acl.get_tensor_desc_dim_v2(desc, 3) == (0, 100000)
    assert acl.get_tensor_desc_name(desc) == ""
    acl.set_tensor_desc_name(desc, "größe")
    assert acl.get_tensor_desc_name(desc) == "größe"
    acl.get_recent_err_msg()
    acl.set_tensor_desc_name(desc, "x" * 512)
    assert "aclSetTensorDescName" in (acl.get_recent_err_msg() or "")
    assert acl.set_tensor_format(desc, acl.ACL_FORMAT_NCHW) == 0
    assert acl.set_tensor_shape(desc, [1] * 129) == 100000
    assert acl.set_tensor_shape(desc, (4, 6)) == 0
    assert acl.set_tensor_place_ment(desc, acl.ACL_MEMTYPE_HOST) == 0
    assert acl.set_tensor_place_ment(desc, 9) == 100000
    acl.destroy_tensor_desc(desc)
    assert acl.get_tensor_desc_type(desc) == acl.ACL_DT_UNDEFINED
    assert acl.get_tensor_desc_name(desc) is None
    unknown = acl.create_tensor_desc(acl.ACL_FLOAT, [-2], acl.ACL_FORMAT_ND)
    assert acl.get_tensor_desc_num_dims(unknown) == acl.ACL_UNKNOWN_RANK
    acl.destroy_tensor_desc(unknown)
    assert acl.create_tensor_desc(acl.ACL_FLOAT, [1] * 129, acl.ACL_FORMAT_ND) == 0
    with pytest.raises(TypeError, match=r"aclCreateTensorDesc: dims\[1\]: 'x'"):
        untyped.create_tensor_desc(acl.ACL_FLOAT, [1, "x"], acl.ACL_FORMAT_ND)


def test_data_buffers() -> None:
    buffer = acl.create_data_buffer(4096, 2**32 + 5)
    assert acl.get_data_buffer_addr(buffer) == 4096
    assert acl.get_data_buffer_size(buffer) == 5
    assert acl.get_data_buffer_size_v2(buffer) == 2**32 + 5
    assert acl.update_data_buffer(buffer, 8192, 7) == 0
    assert (acl.get_data_buffer_addr(buffer), acl.get_data_buffer_size_v2(buffer)) == (8192, 7)
    assert acl.destroy_data_buffer(buffer) == 0
    assert acl.destroy_data_buffer(0) == 100000


def test_numbers() -> None:
    assert acl.data_type_size(acl.ACL_BF16) == 2
    for value in (0.1, -65504.0, 1e9, 2.0**-24):
        with np.errstate(over="ignore"):
            bits = int(np.float16(value).view(np.uint16))
        assert acl.float_to_float16(value) == bits
        assert acl.float16_to_float(bits) == float(np.uint16(bits).view(np.float16))


def test_attributes() -> None:
    attr = acl.op.create_attr()
    assert attr != 0
    assert acl.op.set_attr_bool(attr, "a", True) == 0
    assert acl.op.set_attr_int(attr, "b", -(2**40)) == 0
    assert acl.op.set_attr_float(attr, "c", 0.5) == 0
    assert acl.op.set_attr_string(attr, "d", "text") == 0
    assert acl.op.set_attr_data_type(attr, "e", acl.ACL_FLOAT16) == 0
    assert acl.op.set_attr_list_bool(attr, "f", [True, False]) == 0
    assert acl.op.set_attr_list_int(attr, "g", [1, -2]) == 0
    assert acl.op.set_attr_list_float(attr, "h", [0.5, 1]) == 0
    assert acl.op.set_attr_list_list_int(attr, "i", [[1], [2, 3], []]) == 0
    acl.op.destroy_attr(attr)
    assert acl.op.set_attr_int(attr, "b", 1) == 100000
    acl.op.destroy_attr(0)


def test_compiler_options() -> None:
    assert acl.get_compileopt(acl.ACL_OP_JIT_COMPILE) == ("disable", 0)
    assert acl.set_compileopt(acl.ACL_OP_JIT_COMPILE, "enable") == 200001
    assert acl.set_compileopt(acl.ACL_OP_DEBUG_LEVEL, "3") == 0
    assert acl.get_compileopt_size(acl.ACL_OP_DEBUG_LEVEL) == 2
    assert acl.get_compileopt(acl.ACL_OP_DEBUG_LEVEL) == ("3", 0)
    assert acl.set_compileopt(acl.ACL_OP_DEBUG_LEVEL, "") == 0
    assert acl.get_compileopt(99) == ("", 100000)


def test_log_lines_are_no_formats() -> None:
    done = run_python(
        "from pyaclnn import acl\nacl.app_log(acl.ACL_ERROR, 'main', 'a.py', 12, '100 %s %n')",
        environment={"ASCEND_SLOG_PRINT_TO_STDOUT": "1", "ASCEND_GLOBAL_LOG_LEVEL": "0"},
    )
    assert done.returncode == 0, done.stderr
    assert "100 %s %n" in done.stdout and "a.py" in done.stdout
