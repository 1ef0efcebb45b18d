"""acl.rt: memory of devices and hosts, copies, virtual memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._ffi import NULL, ffi
from .._generated import CONSTANTS
from ._status import OUT, array, call, fill, out, outs, read, same_length

__all__ = [
    "cmo_async",
    "free",
    "free_host",
    "free_physical",
    "get_mem_info",
    "get_mem_usage_info",
    "get_memcpy_desc_size",
    "host_register",
    "host_register_v2",
    "host_unregister",
    "malloc",
    "malloc_align32",
    "malloc_cached",
    "malloc_for_task_scheduler",
    "malloc_host",
    "malloc_host_with_cfg",
    "malloc_physical",
    "malloc_with_cfg",
    "map_mem",
    "mem_flush",
    "mem_get_allocation_granularity",
    "mem_invalidate",
    "memcpy",
    "memcpy_2d",
    "memcpy_2d_async",
    "memcpy_async",
    "memcpy_async_with_condition",
    "memcpy_async_with_desc",
    "memcpy_batch",
    "memcpy_batch_async",
    "memset",
    "memset_async",
    "pointer_get_attributes",
    "release_mem_address",
    "reserve_mem_address",
    "set_memcpy_desc",
    "unmap_mem",
]

# Allocation. Addresses are ints. What is allocated here is ordinary memory of this process.


def malloc(size: int, policy: int = 0) -> tuple[int, int]:
    """aclrtMalloc: device memory, `size` bytes rounded up to 32 and 32 more, 64-byte aligned;
    `policy` is a hint, ACL_MEM_MALLOC_... Returns (address, for free; status): 100000 for size 0,
    107002 without a context, 207001 if no memory is left."""
    return out("aclrtMalloc", OUT, size, policy)


def malloc_align32(size: int, policy: int = 0) -> tuple[int, int]:
    """aclrtMallocAlign32: as malloc, without the spare bytes."""
    return out("aclrtMallocAlign32", OUT, size, policy)


def malloc_cached(size: int, policy: int = 0) -> tuple[int, int]:
    """aclrtMallocCached: as malloc, for memory that the host reads as well (mem_flush)."""
    return out("aclrtMallocCached", OUT, size, policy)


def _config(cfg: Sequence[Mapping[str, int]] | None, function: str) -> tuple[Any, Any]:
    """aclrtMallocConfig, and what it points to."""
    if cfg is None:
        return NULL, None
    members = {
        CONSTANTS["ACL_RT_MEM_ATTR_MODULE_ID"]: "module_id",
        CONSTANTS["ACL_RT_MEM_ATTR_DEVICE_ID"]: "device_id",
        CONSTANTS["ACL_RT_MEM_ATTR_VA_FLAG"]: "va_flag",
    }
    attributes = ffi.new("aclrtMallocAttribute[]", len(cfg))
    for i, given in enumerate(cfg):
        where = f"{function}: cfg[{i}]"
        fill(attributes[i], {"attr": given["attr"]}, where)
        fill(attributes[i].value, {members.get(given["attr"], "va_flag"): given["value"]}, where)
    return ffi.new("aclrtMallocConfig *", (attributes, len(cfg))), attributes


def malloc_with_cfg(
    size: int, policy: int, cfg: Sequence[Mapping[str, int]] | None = None
) -> tuple[int, int]:
    """aclrtMallocWithCfg: as malloc, with options: dicts of "attr", an ACL_RT_MEM_ATTR_..., and
    "value"."""
    config, _kept = _config(cfg, "aclrtMallocWithCfg")
    return out("aclrtMallocWithCfg", OUT, size, policy, config)


def malloc_for_task_scheduler(
    size: int, policy: int, cfg: Sequence[Mapping[str, int]] | None = None
) -> tuple[int, int]:
    """aclrtMallocForTaskScheduler: as malloc_with_cfg, for memory of the task scheduler."""
    config, _kept = _config(cfg, "aclrtMallocForTaskScheduler")
    return out("aclrtMallocForTaskScheduler", OUT, size, policy, config)


def free(address: int) -> int:
    """aclrtFree: at once; the memory is released when all work submitted before has passed. Returns
    the status: 100000 for 0, 107000 for other addresses than those of malloc and its variants."""
    return call("aclrtFree", address)


def malloc_host(size: int) -> tuple[int, int]:
    """aclrtMallocHost: pinned host memory, `size` bytes, 64-byte aligned, from 4096 bytes on at a
    page. Returns (address, for free_host; status): 100000 for size 0, 207001 if no memory is
    left."""
    return out("aclrtMallocHost", OUT, size)


def malloc_host_with_cfg(
    size: int, cfg: Sequence[Mapping[str, int]] | None = None
) -> tuple[int, int]:
    """aclrtMallocHostWithCfg: as malloc_host, with options as malloc_with_cfg."""
    config, _kept = _config(cfg, "aclrtMallocHostWithCfg")
    return out("aclrtMallocHostWithCfg", OUT, size, config)


def free_host(address: int) -> int:
    """aclrtFreeHost. Returns the status: 100000 for 0, 107000 for other addresses than those of
    malloc_host."""
    return call("aclrtFreeHost", address)


# Copies and fills


def memcpy(dst: int, dest_max: int, src: int, count: int, kind: int) -> int:
    """aclrtMemcpy: copies `count` bytes, of `dest_max` that fit, and returns when they are copied;
    `kind` is an ACL_MEMCPY_..., the ranges must not overlap. Returns the status: 100000 for 0 as
    address and another kind, 107000 if count exceeds dest_max."""
    return call("aclrtMemcpy", dst, dest_max, src, count, kind)


def memcpy_async(dst: int, dest_max: int, src: int, count: int, kind: int, stream: Any) -> int:
    """aclrtMemcpyAsync: as memcpy, in stream order. Memory of malloc_host must stay untouched until
    then; other host memory has been read when this returns. The memory must stay allocated. Returns
    the status: 207000 for host to host, 107017 for a dead stream; else as memcpy."""
    return call("aclrtMemcpyAsync", dst, dest_max, src, count, kind, stream)


def memcpy_async_with_condition(
    dst: int, dest_max: int, src: int, count: int, kind: int, stream: Any
) -> int:
    """aclrtMemcpyAsyncWithCondition: as memcpy_async, but 107000 for host memory that is not
    pinned."""
    return call("aclrtMemcpyAsyncWithCondition", dst, dest_max, src, count, kind, stream)


def memcpy_2d(
    dst: int, dpitch: int, src: int, spitch: int, width: int, height: int, kind: int
) -> int:
    """aclrtMemcpy2d: copies `height` rows of `width` bytes that begin `dpitch` and `spitch` bytes
    apart. Returns the status: 100000 for 0 as address, a pitch below width, and kinds other than
    host to device, device to host, device to device and default."""
    return call("aclrtMemcpy2d", dst, dpitch, src, spitch, width, height, kind)


def memcpy_2d_async(
    dst: int, dpitch: int, src: int, spitch: int, width: int, height: int, kind: int, stream: Any
) -> int:
    """aclrtMemcpy2dAsync: as memcpy_2d, in stream order; 107017 for a dead stream."""
    return call("aclrtMemcpy2dAsync", dst, dpitch, src, spitch, width, height, kind, stream)


def memset(address: int, max_count: int, value: int, count: int) -> int:
    """aclrtMemset: sets `count` bytes, of `max_count` that there are, to the low byte of `value`.
    Returns the status: 100000 for 0 as address, 107000 if count exceeds max_count."""
    return call("aclrtMemset", address, max_count, value, count)


def memset_async(address: int, max_count: int, value: int, count: int, stream: Any) -> int:
    """aclrtMemsetAsync: as memset, in stream order; 107017 for a dead stream."""
    return call("aclrtMemsetAsync", address, max_count, value, count, stream)


def _batch(
    function: str,
    dsts: Sequence[int],
    dest_maxs: Sequence[int],
    srcs: Sequence[int],
    sizes: Sequence[int],
    attrs: Sequence[Mapping[str, Any]],
    attrs_indexes: Sequence[int],
    *stream: Any,
) -> tuple[int, int]:
    copies = same_length(function, dsts=dsts, dest_maxs=dest_maxs, srcs=srcs, sizes=sizes)
    places = same_length(function, attrs=attrs, attrs_indexes=attrs_indexes)
    attributes = ffi.new("aclrtMemcpyBatchAttr[]", places)
    for i, given in enumerate(attrs):
        fill(attributes[i], given, f"{function}: attrs[{i}]")
    return out(
        function,
        array("void *", dsts, f"{function}: dsts"),
        array("size_t", dest_maxs, f"{function}: destMaxs"),
        array("void *", srcs, f"{function}: srcs"),
        array("size_t", sizes, f"{function}: sizes"),
        copies,
        attributes,
        array("size_t", attrs_indexes, f"{function}: attrsIndexes"),
        places,
        OUT,
        *stream,
    )


def memcpy_batch(
    dsts: Sequence[int],
    dest_maxs: Sequence[int],
    srcs: Sequence[int],
    sizes: Sequence[int],
    attrs: Sequence[Mapping[str, Any]],
    attrs_indexes: Sequence[int],
) -> tuple[int, int]:
    """aclrtMemcpyBatch: copies between host and device, `sizes[i]` bytes from `srcs[i]` to
    `dsts[i]`. `attrs[k]` holds for the copies from `attrs_indexes[k]` on: a dict of "dst_loc" and
    "src_loc", each a dict of "type", an ACL_MEM_LOCATION_TYPE_..., and "id", the device's number.
    Returns (the copy that is not as its places say, else 2**64 - 1; status): 100000 for no copies
    and a size above its dest_max, 107000 for a copy that is not between host and device or not as
    its places say. ValueError for lists that do not belong together."""
    return _batch("aclrtMemcpyBatch", dsts, dest_maxs, srcs, sizes, attrs, attrs_indexes)


def memcpy_batch_async(
    dsts: Sequence[int],
    dest_maxs: Sequence[int],
    srcs: Sequence[int],
    sizes: Sequence[int],
    attrs: Sequence[Mapping[str, Any]],
    attrs_indexes: Sequence[int],
    stream: Any,
) -> tuple[int, int]:
    """aclrtMemcpyBatchAsync: as memcpy_batch, in stream order; 107017 for a dead stream. Host
    memory that is not pinned has been read when this returns."""
    return _batch(
        "aclrtMemcpyBatchAsync", dsts, dest_maxs, srcs, sizes, attrs, attrs_indexes, stream
    )


def get_memcpy_desc_size(kind: int) -> tuple[int, int]:
    """aclrtGetMemcpyDescSize. Returns (bytes of a copy description, status): 100000 for an unknown
    kind."""
    return out("aclrtGetMemcpyDescSize", kind, OUT)


def set_memcpy_desc(
    desc: int, kind: int, src_addr: int, dst_addr: int, count: int, config: None = None
) -> int:
    """aclrtSetMemcpyDesc: fills a description, device memory of get_memcpy_desc_size bytes, with a
    copy of `count` bytes. `config` is reserved. Returns the status: 100000 for 0 as address and an
    unknown kind."""
    return call("aclrtSetMemcpyDesc", desc, kind, src_addr, dst_addr, count, config)


def memcpy_async_with_desc(desc: int, kind: int, stream: Any) -> int:
    """aclrtMemcpyAsyncWithDesc: makes the copy of a description, in stream order; it must stay
    unchanged until then. Returns the status: 100000 for 0 and an unknown kind, 107017 for a dead
    stream."""
    return call("aclrtMemcpyAsyncWithDesc", desc, kind, stream)


# Caches


def mem_flush(address: int, size: int) -> int:
    """aclrtMemFlush: writes cached data back; nothing to do here. Returns the status: 100000 for 0
    as address or size."""
    return call("aclrtMemFlush", address, size)


def mem_invalidate(address: int, size: int) -> int:
    """aclrtMemInvalidate: drops cached data; nothing to do here. Returns the status: 100000 for 0
    as address or size."""
    return call("aclrtMemInvalidate", address, size)


def cmo_async(src: int, size: int, cmo_type: int, stream: Any) -> int:
    """aclrtCmoAsync: prefetches `size` bytes, without effect here. Returns the status: 107000 for
    another operation than ACL_RT_CMO_TYPE_PREFETCH, 100000 for 0 as address or size."""
    return call("aclrtCmoAsync", src, size, cmo_type, stream)


# Questions


def get_mem_info(attr: int) -> tuple[int, int, int]:
    """aclrtGetMemInfo, `attr` an ACL_HBM_MEM or the like, which all answer the same. Returns (free
    bytes, total bytes, status): 107002 without a device."""
    (available, total), status = outs("aclrtGetMemInfo", attr, OUT, OUT)
    return available, total, status


def get_mem_usage_info(device_id: int, input_num: int) -> tuple[list[dict[str, Any]], int]:
    """aclrtGetMemUsageInfo: memory use by component, of `input_num` components at most. Returns
    (dicts of "name", "cur_mem_size" and "mem_peak_size" in bytes; status): 100000 for 0 entries,
    107001 for a device that does not exist."""
    entries = ffi.new("aclrtMemUsageInfo[]", max(input_num, 1))
    count, status = out("aclrtGetMemUsageInfo", device_id, entries, input_num, OUT)
    return [read(entries[i]) for i in range(count)], status


def pointer_get_attributes(address: int) -> tuple[dict[str, Any], int]:
    """aclrtPointerGetAttributes: whose memory an address belongs to. Returns (dict, status):
    "location" with "type", an ACL_MEM_LOCATION_TYPE_..., and "id", the device's number; and
    "page_size" in bytes. 100000 for 0."""
    attributes = ffi.new("aclrtPtrAttributes *")
    status = call("aclrtPointerGetAttributes", address, attributes)
    return read(attributes[0]), status


# Host memory as device memory


def host_register(ptr: int, size: int, register_type: int) -> tuple[int, int]:
    """aclrtHostRegister: makes `size` bytes of host memory, from a multiple of 4096 on, usable as
    device memory; the type is an ACL_HOST_REGISTER_... Returns (device address, which is `ptr`
    here; status): 100000 for 0 as address or size, 107000 for an unknown type."""
    return out("aclrtHostRegister", ptr, size, register_type, OUT)


def host_register_v2(ptr: int, size: int, flag: int) -> int:
    """aclrtHostRegisterV2: as host_register, `flag` of ACL_HOST_REG_... bits. Returns the status:
    107000 for unknown bits."""
    return call("aclrtHostRegisterV2", ptr, size, flag)


def host_unregister(ptr: int) -> int:
    """aclrtHostUnregister: takes a registration back. Returns the status: 100000 for 0, 107000 for
    memory that is not registered."""
    return call("aclrtHostUnregister", ptr)


# Virtual memory


def reserve_mem_address(
    size: int, alignment: int = 0, expect_ptr: int = 0, flags: int = 0
) -> tuple[int, int]:
    """aclrtReserveMemAddress: `size` bytes of addresses without memory; `flags` 1 for huge pages,
    alignment and expect_ptr 0. Returns (address, for release_mem_address; status): 100000 for size
    0, 107000 for other arguments, 207001 if there is no such range."""
    return out("aclrtReserveMemAddress", OUT, size, alignment, expect_ptr, flags)


def release_mem_address(vir_ptr: int) -> int:
    """aclrtReleaseMemAddress: gives addresses back, in which nothing may be mapped. Returns the
    status: 100000 for 0, 107000 for another address."""
    return call("aclrtReleaseMemAddress", vir_ptr)


def _properties(prop: Mapping[str, Any], function: str) -> Any:
    struct = ffi.new("aclrtPhysicalMemProp *")
    fill(struct[0], prop, f"{function}: prop")
    return struct


def malloc_physical(size: int, prop: Mapping[str, Any], flags: int = 0) -> tuple[int, int]:
    """aclrtMallocPhysical: memory without an address, `size` bytes, a multiple of the granularity.
    `prop` is a dict of "handle_type", "allocation_type", "mem_attr" (ACL_HBM_MEM_HUGE, ...) and
    "location", a dict of "type" and "id"; `flags` is 0. Returns (handle, for free_physical;
    status): 100000 for size 0, 107000 for other arguments, 207001 if no memory is left. TypeError
    for an unknown key."""
    function = "aclrtMallocPhysical"
    return out(function, OUT, size, _properties(prop, function), flags)


def free_physical(handle: int) -> int:
    """aclrtFreePhysical; while it is mapped, the release waits for unmap_mem. Returns the status:
    100000 for 0, 107000 for a dead handle."""
    return call("aclrtFreePhysical", handle)


def map_mem(vir_ptr: int, size: int, offset: int, handle: int, flags: int = 0) -> int:
    """aclrtMapMem: puts physical memory at an address inside a reserved range, a multiple of the
    page size; all its `size` bytes, offset and flags 0. Returns the status: 100000 for 0 as address
    or size, 107000 for other arguments."""
    return call("aclrtMapMem", vir_ptr, size, offset, handle, flags)


def unmap_mem(vir_ptr: int) -> int:
    """aclrtUnmapMem: takes physical memory from its address, at once: work that uses it must have
    passed. Returns the status: 100000 for 0, 107000 for another address."""
    return call("aclrtUnmapMem", vir_ptr)


def mem_get_allocation_granularity(prop: Mapping[str, Any], option: int) -> tuple[int, int]:
    """aclrtMemGetAllocationGranularity: the unit of malloc_physical; `option` is
    ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM or _RECOMMENDED. Returns (bytes, status): 107000 for
    another option."""
    function = "aclrtMemGetAllocationGranularity"
    return out(function, _properties(prop, function), option, OUT)
