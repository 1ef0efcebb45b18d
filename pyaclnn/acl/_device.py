"""acl.rt: devices, contexts, options of the process and of contexts, time limits, versions."""

from __future__ import annotations

from .. import _keep
from .._ffi import NULL, ffi, lib
from ._status import OUT, call, out, outs, read

__all__ = [
    "create_context",
    "ctx_get_sys_param_opt",
    "ctx_set_sys_param_opt",
    "destroy_context",
    "device_can_access_peer",
    "device_disable_peer_access",
    "device_enable_peer_access",
    "device_get_bare_tgid",
    "get_context",
    "get_device",
    "get_device_count",
    "get_device_info",
    "get_device_sat_mode",
    "get_device_utilization_rate",
    "get_last_error",
    "get_primary_ctx_state",
    "get_run_mode",
    "get_soc_name",
    "get_sys_param_opt",
    "get_version",
    "peek_at_last_error",
    "query_device_status",
    "reset_device",
    "reset_device_force",
    "set_context",
    "set_device",
    "set_device_sat_mode",
    "set_op_execute_time_out",
    "set_op_execute_time_out_v2",
    "set_op_execute_time_out_with_ms",
    "set_op_wait_timeout",
    "set_sys_param_opt",
    "set_ts_device",
    "synchronize_device",
    "synchronize_device_with_timeout",
]

# Devices


def set_device(device_id: int) -> int:
    """aclrtSetDevice: makes a device, 0 to count - 1, current on this thread; each call is a
    reference. Returns the status: 107001 for a device that does not exist."""
    return call("aclrtSetDevice", device_id)


def _reset(function: str, device_id: int) -> int:
    context = _keep.current_context()
    status = call(function, device_id)
    if status == 0 and context != 0 and _keep.current_context() == 0:
        _keep.forget_context(context)
    _keep.prune()
    return status


def reset_device(device_id: int) -> int:
    """aclrtResetDevice: drops a reference; the last one waits for the work and ends the default
    context. Returns the status: 107001 for a device that does not exist, 507007 without a
    set_device that matches."""
    return _reset("aclrtResetDevice", device_id)


def reset_device_force(device_id: int) -> int:
    """aclrtResetDeviceForce: drops all references at once; work that waits for an event that was
    never recorded is dropped. Returns the status: 107001, 507007 as reset_device."""
    return _reset("aclrtResetDeviceForce", device_id)


def get_device() -> tuple[int, int]:
    """aclrtGetDevice. Returns (number of this thread's device, status): 107002 if the thread has
    none."""
    return out("aclrtGetDevice", OUT)


def get_device_count() -> tuple[int, int]:
    """aclrtGetDeviceCount. Returns (number of devices, status)."""
    return out("aclrtGetDeviceCount", OUT)


def get_run_mode() -> tuple[int, int]:
    """aclrtGetRunMode. Returns (run mode, status); the mode is always ACL_HOST, 1, here."""
    return out("aclrtGetRunMode", OUT)


def get_soc_name() -> str | None:
    """aclrtGetSocName. Returns the name of the emulated chip, such as "Ascend910B3"."""
    name = lib.aclrtGetSocName()
    return None if name == NULL else ffi.string(name).decode()


def set_ts_device(ts_id: int) -> int:
    """aclrtSetTsDevice: chooses a task scheduler, ACL_TS_ID_AICORE or ACL_TS_ID_AIVECTOR, without
    effect. Returns the status: 100000 for another value."""
    return call("aclrtSetTsDevice", ts_id)


def synchronize_device() -> int:
    """aclrtSynchronizeDevice: waits for all streams of this thread's device. Returns the status:
    107002 without a device, 507015 if a task failed."""
    status = call("aclrtSynchronizeDevice")
    _keep.prune()
    return status


def synchronize_device_with_timeout(timeout: int) -> int:
    """aclrtSynchronizeDeviceWithTimeout: waits at most `timeout` milliseconds, -1 for no limit.
    Returns the status: 107000 for less than -1, 507046 when the time is over, 507015 if a task
    failed."""
    status = call("aclrtSynchronizeDeviceWithTimeout", timeout)
    _keep.prune()
    return status


def query_device_status(device_id: int) -> tuple[int, int]:
    """aclrtQueryDeviceStatus. Returns (ACL_RT_DEVICE_STATUS_NORMAL or _ABNORMAL, status): 107001
    for a device that does not exist."""
    return out("aclrtQueryDeviceStatus", device_id, OUT)


def get_device_utilization_rate(device_id: int) -> tuple[dict[str, int], int]:
    """aclrtGetDeviceUtilizationRate. Returns (how busy the device is, status): a dict with
    cube_utilization, vector_utilization, aicpu_utilization and memory_utilization in percent, -1
    for unknown, and utilization_extend, 0. 107001 for a device that does not exist."""
    info = ffi.new("aclrtUtilizationInfo *")
    status = call("aclrtGetDeviceUtilizationRate", device_id, info)
    return read(info[0]), status


def get_device_info(device_id: int, attr: int) -> tuple[int, int]:
    """aclrtGetDeviceInfo, `attr` an ACL_DEV_ATTR_... Returns (value, status); sizes are in bytes.
    207000 for a property that a CPU does not have, 107001 for a device that does not exist."""
    return out("aclrtGetDeviceInfo", device_id, attr, OUT)


def get_primary_ctx_state(device_id: int) -> tuple[int, int]:
    """aclrtGetPrimaryCtxState. Returns (1 if the device's default context exists else 0, status):
    107001 for a device that does not exist."""
    return out("aclrtGetPrimaryCtxState", device_id, None, OUT)


def device_can_access_peer(device_id: int, peer_device_id: int) -> tuple[int, int]:
    """aclrtDeviceCanAccessPeer: whether a device can use another one's memory. Returns (1 or 0,
    status): 100000 for twice the same device, 107001 for one that does not exist."""
    return out("aclrtDeviceCanAccessPeer", OUT, device_id, peer_device_id)


def device_enable_peer_access(peer_device_id: int, flags: int = 0) -> int:
    """aclrtDeviceEnablePeerAccess: lets this thread's device use another one's memory. Returns the
    status: 200006 for flags other than 0, 100000 for the device itself, 107001 for one that does
    not exist."""
    return call("aclrtDeviceEnablePeerAccess", peer_device_id, flags)


def device_disable_peer_access(peer_device_id: int) -> int:
    """aclrtDeviceDisablePeerAccess: takes device_enable_peer_access back. Returns the status:
    100000 for the device itself, 107001 for one that does not exist."""
    return call("aclrtDeviceDisablePeerAccess", peer_device_id)


def device_get_bare_tgid() -> tuple[int, int]:
    """aclrtDeviceGetBareTgid. Returns (the process number by which devices know this process: that
    of os.getpid() here, status)."""
    return out("aclrtDeviceGetBareTgid", OUT)


# Contexts


def create_context(device_id: int) -> tuple[int, int]:
    """aclrtCreateContext: a context with a default stream of its own, current on this thread at
    once. Returns (handle, for destroy_context; status): 107001 for a device that does not exist."""
    return out("aclrtCreateContext", OUT, device_id)


def destroy_context(context: int) -> int:
    """aclrtDestroyContext. The thread has no context afterwards if it was its. Returns the status:
    100000 for 0, 107002 for a device's default context and for a destroyed one, 507007 while
    another thread destroys it."""
    status = call("aclrtDestroyContext", context)
    if status == 0:
        _keep.forget_context(int(context))
    _keep.prune()
    return status


def set_context(context: int) -> int:
    """aclrtSetCurrentContext: makes a context this thread's; threads may share one. Returns the
    status: 100000 for 0, 107000 for a destroyed one."""
    return call("aclrtSetCurrentContext", context)


def get_context() -> tuple[int, int]:
    """aclrtGetCurrentContext. Returns (handle of this thread's context, status): 107002 if it has
    none."""
    return out("aclrtGetCurrentContext", OUT)


# Options


def get_sys_param_opt(opt: int) -> tuple[int, int]:
    """aclrtGetSysParamOpt: an option of the process, `opt` an ACL_OPT_... Returns (value, status):
    100000 for an unknown option, 107021 for one that was not set; ACL_OPT_DETERMINISTIC is 0 until
    then."""
    return out("aclrtGetSysParamOpt", opt, OUT)


def set_sys_param_opt(opt: int, value: int) -> int:
    """aclrtSetSysParamOpt: sets an option of the process, usually 0 off, 1 on. Returns the status:
    100000 for an unknown option."""
    return call("aclrtSetSysParamOpt", opt, value)


def ctx_get_sys_param_opt(opt: int) -> tuple[int, int]:
    """aclrtCtxGetSysParamOpt: an option of this thread's context. Returns (value, status): 100000
    for an unknown option, 107002 without a context, 107021 for one that was not set."""
    return out("aclrtCtxGetSysParamOpt", opt, OUT)


def ctx_set_sys_param_opt(opt: int, value: int) -> int:
    """aclrtCtxSetSysParamOpt: sets an option of this thread's context. Returns the status: 100000
    for an unknown option, 107002 without a context."""
    return call("aclrtCtxSetSysParamOpt", opt, value)


def set_device_sat_mode(mode: int) -> int:
    """aclrtSetDeviceSatMode: what an overflow gives, an ACL_RT_OVERFLOW_MODE_... Operators here
    follow IEEE 754. Returns the status: 107002 without a context, 107000 for an unknown mode,
    207000 for one that the product does not have here."""
    return call("aclrtSetDeviceSatMode", mode)


def get_device_sat_mode() -> tuple[int, int]:
    """aclrtGetDeviceSatMode. Returns (the mode that was set, else the product's; status): 107002
    without a context."""
    return out("aclrtGetDeviceSatMode", OUT)


def set_op_execute_time_out(timeout: int) -> int:
    """aclrtSetOpExecuteTimeOut: how long an operator may run, in seconds, 0 for the longest. No
    effect here, which the log says once. Returns the status, 0."""
    return call("aclrtSetOpExecuteTimeOut", timeout)


def set_op_execute_time_out_with_ms(timeout: int) -> int:
    """aclrtSetOpExecuteTimeOutWithMs: as set_op_execute_time_out, in milliseconds."""
    return call("aclrtSetOpExecuteTimeOutWithMs", timeout)


def set_op_execute_time_out_v2(timeout: int) -> tuple[int, int]:
    """aclrtSetOpExecuteTimeOutV2: as set_op_execute_time_out, in microseconds. Returns (the limit
    in force in microseconds: the largest number, here; status)."""
    return out("aclrtSetOpExecuteTimeOutV2", timeout, OUT)


def set_op_wait_timeout(timeout: int) -> int:
    """aclrtSetOpWaitTimeout: how long stream_wait_event lets a stream wait, in seconds, 0 for no
    limit. No effect here, which the log says once. Returns the status, 0."""
    return call("aclrtSetOpWaitTimeout", timeout)


# Versions and errors


def get_version() -> tuple[int, int, int, int]:
    """aclrtGetVersion. Returns (major, minor, patch of the AscendCL interface, status)."""
    (major, minor, patch), status = outs("aclrtGetVersion", OUT, OUT, OUT)
    return major, minor, patch, status


def peek_at_last_error(level: int = 0) -> int:
    """aclrtPeekAtLastError, `level` ACL_RT_THREAD_LEVEL. Returns the status of this thread's last
    failure, which stays; 0 if there was none; 100000 for another level."""
    return call("aclrtPeekAtLastError", level)


def get_last_error(level: int = 0) -> int:
    """aclrtGetLastError: as peek_at_last_error, and clears it."""
    return call("aclrtGetLastError", level)
