// Virtual memory: reserved ranges are address space without access, physical memory is a file in
// memory (its contents outlive a mapping), mapping puts one over the other.
#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <mutex>

#include "acl/acl.h"
#include "acl/device_state.hpp"
#include "acl/memory_state.hpp"
#include "acl/refuse.hpp"
#include "acl/stream_state.hpp"
#include "acl/virtual_memory_state.hpp"

namespace pyaclnn {
namespace {

constexpr size_t kGranularity = size_t{2} << 20;

struct PhysicalMemory {
  static constexpr Kind kKind = Kind::PhysicalMemory;
  int file;
  size_t size;
  int32_t device;
  bool mapped;
};

struct Mapping {
  size_t size;
  uint64_t handle;
};

constinit std::mutex g_mutex;  // guards everything here; taken before that of the blocks

// By first address; never destroyed.
std::map<uintptr_t, size_t> &ranges() {
  static auto *const once = new std::map<uintptr_t, size_t>();
  return *once;
}
std::map<uintptr_t, Mapping> &mappings() {
  static auto *const once = new std::map<uintptr_t, Mapping>();
  return *once;
}

uintptr_t number(const void *address) { return reinterpret_cast<uintptr_t>(address); }

int32_t refuse_flags(const char *function, uint64_t flags, const char *accepted) {
  return refuse_value(ACL_ERROR_RT_PARAM_INVALID, function, "flags", flags, accepted);
}

int32_t refuse_address(const char *function, const char *required) {
  return fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003",
              Text() << function << ": virPtr: is not " << required);
}

int32_t check_prop(const char *function, const aclrtPhysicalMemProp &prop) {
  const auto refuse = [function](const char *member, uint64_t value, const char *accepted) {
    return refuse_value(ACL_ERROR_RT_PARAM_INVALID, function, member, value, accepted);
  };
  if (prop.handleType != ACL_MEM_HANDLE_TYPE_NONE) {
    return refuse("prop->handleType", prop.handleType, "0 (none)");
  }
  if (prop.allocationType != ACL_MEM_ALLOCATION_TYPE_PINNED) {
    return refuse("prop->allocationType", prop.allocationType, "0 (pinned)");
  }
  if (static_cast<uint32_t>(prop.memAttr) > ACL_MEM_P2P_HUGE1G) {
    return refuse("prop->memAttr", prop.memAttr, "an aclrtMemAttr, 0 .. 17");
  }
  if (prop.location.type != ACL_MEM_LOCATION_TYPE_DEVICE) {
    return refuse("prop->location.type", prop.location.type, "1 (device)");
  }
  if (prop.location.id >= static_cast<uint32_t>(device_count())) {
    return fail(ACL_ERROR_RT_INVALID_DEVICEID, "EE1001",
                Text() << function << ": prop->location.id: is " << prop.location.id
                       << ", accepted: 0 .. " << device_count() - 1);
  }
  return prop.reserve != 0 ? refuse("prop->reserve", prop.reserve, "0 (reserved)") : 0;
}

// Under g_mutex, when nothing refers to it any more.
void give_back(uint64_t handle, PhysicalMemory &memory) {
  close(memory.file);
  count_device_memory(memory.device, -static_cast<int64_t>(memory.size));
  recycle_handle<PhysicalMemory>(handle_pointer(handle));
}

bool overlaps_mapping(uintptr_t start, size_t size) {
  auto after = mappings().lower_bound(start);
  if (after != mappings().end() && after->first - start < size) return true;
  if (after == mappings().begin()) return false;
  --after;
  return start - after->first < after->second.size;
}

bool lies_in_range(uintptr_t start, size_t size) {
  auto after = ranges().upper_bound(start);
  if (after == ranges().begin()) return false;
  --after;
  const uintptr_t offset = start - after->first;
  return offset < after->second && size <= after->second - offset;
}

}  // namespace

void virtual_memory_before_fork() noexcept { g_mutex.lock(); }
void virtual_memory_after_fork() noexcept { g_mutex.unlock(); }

}  // namespace pyaclnn

using namespace pyaclnn;

aclError aclrtReserveMemAddress(void **virPtr, size_t size, size_t alignment, void *expectPtr,
                                uint64_t flags) {
  const char *function = "aclrtReserveMemAddress";
  if (virPtr == nullptr) return refuse_null(function, "virPtr");
  if (size == 0) return refuse_value(ACL_ERROR_INVALID_PARAM, function, "size", size, "at least 1");
  if (alignment != 0) {
    return refuse_value(ACL_ERROR_RT_PARAM_INVALID, function, "alignment", alignment,
                        "0 (reserved)");
  }
  if (expectPtr != nullptr) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003",
                Text() << function << ": expectPtr: is not NULL, only NULL is accepted (reserved)");
  }
  if (flags > 1) return refuse_flags(function, flags, "0 (normal pages), 1 (huge pages)");
  void *memory = MAP_FAILED;
  size_t bytes = 0;
  if (size <= SIZE_MAX / 2) {
    bytes = (size + kGranularity - 1) / kGranularity * kGranularity;
    memory = mmap(nullptr, bytes + kGranularity, PROT_NONE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  if (memory == MAP_FAILED) {
    return refuse_memory(ACL_ERROR_RT_MEMORY_ALLOCATION, function, "addresses", size);
  }
  const uintptr_t first = number(memory);
  const uintptr_t start = (first + kGranularity - 1) / kGranularity * kGranularity;
  if (start != first) munmap(memory, start - first);
  munmap(reinterpret_cast<void *>(start + bytes), first + kGranularity - start);
  std::lock_guard lock(g_mutex);
  try {
    ranges().emplace(start, bytes);
  } catch (...) {
    munmap(reinterpret_cast<void *>(start), bytes);
    return refuse_memory(ACL_ERROR_RT_MEMORY_ALLOCATION, function, "addresses", size);
  }
  *virPtr = reinterpret_cast<void *>(start);
  return ACL_SUCCESS;
}

aclError aclrtReleaseMemAddress(void *virPtr) {
  const char *function = "aclrtReleaseMemAddress";
  if (virPtr == nullptr) return refuse_null(function, "virPtr");
  std::lock_guard lock(g_mutex);
  auto at = ranges().find(number(virPtr));
  if (at == ranges().end()) {
    return refuse_address(function, "the start of a range from aclrtReserveMemAddress");
  }
  if (overlaps_mapping(at->first, at->second)) {
    return refuse_address(function, "without mappings, aclrtUnmapMem is required before");
  }
  munmap(virPtr, at->second);
  ranges().erase(at);
  return ACL_SUCCESS;
}

aclError aclrtMallocPhysical(aclrtDrvMemHandle *handle, size_t size,
                             const aclrtPhysicalMemProp *prop, uint64_t flags) {
  const char *function = "aclrtMallocPhysical";
  if (handle == nullptr) return refuse_null(function, "handle");
  if (size == 0) return refuse_value(ACL_ERROR_INVALID_PARAM, function, "size", size, "at least 1");
  if (prop == nullptr) return refuse_null(function, "prop");
  if (flags != 0) return refuse_flags(function, flags, "0 (reserved)");
  if (size % kGranularity != 0) {
    return refuse_value(ACL_ERROR_RT_PARAM_INVALID, function, "size", size,
                        "a multiple of 2097152 (aclrtMemGetAllocationGranularity)");
  }
  if (int32_t code = check_prop(function, *prop); code != 0) return code;
  size_t free = 0, total = 0;
  machine_memory(&free, &total);
  // More than the machine has would be granted and kill the process later.
  int file = size <= total ? memfd_create("pyaclnn", MFD_CLOEXEC) : -1;
  void *made = nullptr;
  PhysicalMemory *memory = nullptr;
  if (file >= 0 && ftruncate(file, static_cast<off_t>(size)) == 0) {
    memory = create_handle<PhysicalMemory>(&made);
  }
  if (memory == nullptr) {
    if (file >= 0) close(file);
    return refuse_memory(ACL_ERROR_RT_MEMORY_ALLOCATION, function, "physical memory", size);
  }
  std::lock_guard lock(g_mutex);
  *memory = {file, size, static_cast<int32_t>(prop->location.id), false};
  count_device_memory(memory->device, static_cast<int64_t>(size));
  *handle = made;
  return ACL_SUCCESS;
}

aclError aclrtFreePhysical(aclrtDrvMemHandle handle) {
  const char *function = "aclrtFreePhysical";
  if (handle == nullptr) return refuse_null(function, "handle");
  std::lock_guard lock(g_mutex);
  auto *memory = claim_handle<PhysicalMemory>(handle);
  if (memory == nullptr) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "EE1017",
                Text() << function
                       << ": handle: is not live physical memory (freed, of another "
                          "kind, or never made), live memory is required");
  }
  if (!memory->mapped) give_back(handle_value(handle), *memory);
  return ACL_SUCCESS;
}

aclError aclrtMapMem(void *virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle,
                     uint64_t flags) {
  const char *function = "aclrtMapMem";
  if (virPtr == nullptr) return refuse_null(function, "virPtr");
  if (size == 0) return refuse_value(ACL_ERROR_INVALID_PARAM, function, "size", size, "at least 1");
  if (handle == nullptr) return refuse_null(function, "handle");
  if (offset != 0) {
    return refuse_value(ACL_ERROR_RT_PARAM_INVALID, function, "offset", offset, "0 (reserved)");
  }
  if (flags != 0) return refuse_flags(function, flags, "0 (reserved)");
  std::lock_guard lock(g_mutex);
  auto *memory = find_handle<PhysicalMemory>(handle);
  if (memory == nullptr || memory->mapped) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, memory == nullptr ? "EE1017" : "EE1003",
                Text() << function << ": handle: is "
                       << (memory == nullptr ? "not live physical memory (freed, of another kind, "
                                               "or never made), live memory is required"
                                             : "mapped already, one mapping is accepted"));
  }
  if (size != memory->size) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003",
                Text() << function << ": size: is " << size << ", accepted: " << memory->size
                       << ", all of the physical memory");
  }
  const uintptr_t start = number(virPtr);
  if (start % static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)) != 0 || !lies_in_range(start, size)) {
    return refuse_address(function,
                          "a multiple of the page size with size bytes of one reserved range");
  }
  if (overlaps_mapping(start, size)) {
    return refuse_address(function, "free for size bytes, something is mapped there");
  }
  try {
    mappings().emplace(start, Mapping{size, handle_value(handle)});
  } catch (...) {
    return refuse_memory(ACL_ERROR_RT_MEMORY_ALLOCATION, function, "a mapping", size);
  }
  const bool entered = enter_mapped_block(virPtr, size, memory->device);
  if (!entered || mmap(virPtr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory->file,
                       0) == MAP_FAILED) {
    if (entered) leave_mapped_block(virPtr);
    mappings().erase(start);
    return refuse_memory(ACL_ERROR_RT_MEMORY_ALLOCATION, function, "a mapping", size);
  }
  madvise(virPtr, size, MADV_HUGEPAGE);
  memory->mapped = true;
  return ACL_SUCCESS;
}

aclError aclrtUnmapMem(void *virPtr) {
  const char *function = "aclrtUnmapMem";
  if (virPtr == nullptr) return refuse_null(function, "virPtr");
  std::lock_guard lock(g_mutex);
  auto at = mappings().find(number(virPtr));
  if (at == mappings().end()) return refuse_address(function, "the start of a mapping");
  const Mapping mapping = at->second;
  mappings().erase(at);
  leave_mapped_block(virPtr);
  // The addresses stay reserved.
  mmap(virPtr, mapping.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
       0);
  auto *memory = find_handle<PhysicalMemory>(handle_pointer(mapping.handle));
  if (memory != nullptr) {
    memory->mapped = false;
    return ACL_SUCCESS;
  }
  memory =
      static_cast<PhysicalMemory *>(handle_table(Kind::PhysicalMemory).find_ending(mapping.handle));
  if (memory != nullptr) give_back(mapping.handle, *memory);
  return ACL_SUCCESS;
}

aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp *prop,
                                          aclrtMemGranularityOptions option, size_t *granularity) {
  const char *function = "aclrtMemGetAllocationGranularity";
  if (prop == nullptr) return refuse_null(function, "prop");
  if (granularity == nullptr) return refuse_null(function, "granularity");
  if (static_cast<uint32_t>(option) > ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED) {
    return refuse_value(ACL_ERROR_RT_PARAM_INVALID, function, "option",
                        static_cast<uint32_t>(option), "0 (minimum), 1 (recommended)");
  }
  if (int32_t code = check_prop(function, *prop); code != 0) return code;
  *granularity = kGranularity;
  return ACL_SUCCESS;
}
