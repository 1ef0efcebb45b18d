// Allocation of device and pinned host memory, and the map of blocks by address.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <set>

#include "acl/acl.h"
#include "acl/device_state.hpp"
#include "acl/memory_state.hpp"
#include "acl/refuse.hpp"
#include "acl/stream_state.hpp"

namespace pyaclnn {
namespace {

struct Block {
  size_t size;  // accessible bytes
  Place place;
  int32_t device;
  bool mapped = false;  // by aclrtMapMem, which has its own way to release and to count it
};

using Blocks = std::map<uintptr_t, Block>;

constinit std::mutex g_mutex;
std::atomic<int64_t> g_live{0};
constinit uint64_t g_used[kMaxDevices] = {}, g_peak[kMaxDevices] = {};  // bytes; guarded by g_mutex

Blocks &blocks() {  // guarded by g_mutex; never destroyed
  static Blocks *const once = new Blocks();
  return *once;
}

// Addresses inside blocks of aclrtMallocHost that are registered as well; guarded by g_mutex.
std::set<uintptr_t> &registered_inside() {
  static auto *const once = new std::set<uintptr_t>();
  return *once;
}

uintptr_t number(const void *address) { return reinterpret_cast<uintptr_t>(address); }

constexpr size_t kAlignment = 64;
constexpr size_t kPage = 4096;
constexpr size_t kHugePage = size_t{2} << 20;

size_t first_number_in(const char *path) {
  std::FILE *file = std::fopen(path, "re");
  if (file == nullptr) return SIZE_MAX;
  unsigned long long value = 0;
  bool got = std::fscanf(file, "%llu", &value) == 1;  // "max" is no number: no limit
  std::fclose(file);
  return got ? static_cast<size_t>(value) : SIZE_MAX;
}

size_t available_kib() {
  std::FILE *file = std::fopen("/proc/meminfo", "re");
  if (file == nullptr) return SIZE_MAX;
  char line[128];
  unsigned long long value = 0;
  bool got = false;
  while (!got && std::fgets(line, sizeof line, file) != nullptr) {
    got = std::sscanf(line, "MemAvailable: %llu", &value) == 1;
  }
  std::fclose(file);
  return got ? static_cast<size_t>(value) : SIZE_MAX;
}

size_t physical_memory() {
  static const size_t once =
      static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return once;
}

void *take(size_t bytes, size_t alignment) {
  // More than the machine has: overcommit would grant it and kill the process later.
  if (bytes > physical_memory()) return nullptr;
  void *memory = nullptr;
  if (posix_memalign(&memory, alignment, bytes) != 0) return nullptr;
  if (alignment == kHugePage) madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

void count(int32_t device, uint64_t bytes) {  // under g_mutex
  g_used[device] += bytes;
  if (g_peak[device] < g_used[device]) g_peak[device] = g_used[device];
}

bool enter(void *memory, const Block &block) {
  std::lock_guard lock(g_mutex);
  try {
    if (!blocks().emplace(number(memory), block).second) return false;
    if (block.place == Place::Device && !block.mapped) count(block.device, block.size);
    return true;
  } catch (...) {
    return false;
  }
}

int32_t allocate_device(const char *function, void **devPtr, size_t size, uint32_t policy,
                        size_t spare) {
  if (devPtr == nullptr) return refuse_null(function, "devPtr");
  if (size == 0 || size > SIZE_MAX - 64) {
    return refuse_value(ACL_ERROR_INVALID_PARAM, function, "size", size,
                        "1 .. SIZE_MAX - 64 (it is rounded up to 32 bytes, plus 32)");
  }
  const Context *context = current_context_payload();
  if (context == nullptr) return refuse_no_context(function);
  const size_t bytes = (size + 31) / 32 * 32 + spare;
  const bool huge = (policy & 0xff) != ACL_MEM_MALLOC_NORMAL_ONLY &&
                    (policy & 0xff) != ACL_MEM_MALLOC_NORMAL_ONLY_P2P;
  void *memory = take(bytes, huge && bytes >= 2 * kHugePage ? kHugePage : kAlignment);
  if (memory == nullptr || !enter(memory, {bytes, Place::Device, context->device.load()})) {
    std::free(memory);
    return refuse_memory(ACL_ERROR_RT_MEMORY_ALLOCATION, function, "device memory", bytes);
  }
  // Bytes after the requested size are the same on every run, in case a copy reads them.
  std::memset(static_cast<char *>(memory) + size, 0, bytes - size);
  g_live.fetch_add(1, std::memory_order_relaxed);
  *devPtr = memory;
  return ACL_SUCCESS;
}

size_t spare_of(uint32_t policy) {
  return (policy & 0xff) == ACL_MEM_MALLOC_HUGE1G_ONLY ||
                 (policy & 0xff) == ACL_MEM_MALLOC_HUGE1G_ONLY_P2P
             ? 0
             : 32;
}

int32_t check_config(const char *function, const aclrtMallocConfig *cfg) {
  if (cfg != nullptr && cfg->numAttrs != 0 && cfg->attrs == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "EH0002",
                Text() << function << ": cfg->attrs: is NULL although cfg->numAttrs is "
                       << cfg->numAttrs << ", an array of that many entries is required");
  }
  return 0;
}

int32_t allocate_host(const char *function, const char *parameter, void **hostPtr, uint64_t size) {
  if (hostPtr == nullptr) return refuse_null(function, parameter);
  if (size == 0) return refuse_value(ACL_ERROR_INVALID_PARAM, function, "size", size, "at least 1");
  // Whole pages start at a page: clients register them, which goes by pages.
  const size_t alignment = size >= kPage ? kPage : kAlignment;
  void *memory = size <= SIZE_MAX - 64 ? take((size + 63) / 64 * 64, alignment) : nullptr;
  if (memory == nullptr || !enter(memory, {static_cast<size_t>(size), Place::Host, 0})) {
    std::free(memory);
    return refuse_memory(ACL_ERROR_RT_MEMORY_ALLOCATION, function, "host memory", size);
  }
  g_live.fetch_add(1, std::memory_order_relaxed);
  *hostPtr = memory;
  return ACL_SUCCESS;
}

// Memory that waits until the work submitted before its release has passed.
struct Farewell {
  std::atomic<int32_t> references{1};
  void *memory;
};

void leave(Farewell *farewell) {
  if (farewell->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  std::free(farewell->memory);
  delete farewell;
}

Task *farewell_task(void *context) {
  auto *farewell = static_cast<Farewell *>(context);
  Task *task = task_new(sizeof(Farewell *));
  if (task == nullptr) {
    farewell->references.fetch_add(1, std::memory_order_relaxed);  // leaks rather than dangles
    return nullptr;
  }
  farewell->references.fetch_add(1, std::memory_order_relaxed);
  *reinterpret_cast<Farewell **>(task->payload()) = farewell;
  task->release = [](Task *it) { leave(*reinterpret_cast<Farewell **>(it->payload())); };
  return task;
}

int32_t release(const char *function, const char *parameter, void *memory, Place place) {
  if (memory == nullptr) return refuse_null(function, parameter);
  const char *found = nullptr;
  {
    std::lock_guard lock(g_mutex);
    auto at = blocks().find(number(memory));
    if (at == blocks().end()) {
      found = "was not allocated here or was freed before";
    } else if (at->second.mapped) {
      found = "is mapped memory, which aclrtUnmapMem takes back";
    } else if (at->second.place != place) {
      found = at->second.place == Place::Device ? "is device memory"
              : at->second.place == Place::Host ? "is host memory of aclrtMallocHost"
                                                : "is registered host memory";
    } else {
      if (place == Place::Device) g_used[at->second.device] -= at->second.size;
      auto &inside = registered_inside();
      inside.erase(inside.lower_bound(at->first), inside.lower_bound(at->first + at->second.size));
      blocks().erase(at);
    }
  }
  if (found != nullptr) {
    return fail(
        ACL_ERROR_RT_PARAM_INVALID, "EE1003",
        Text() << function << ": " << parameter << ": " << found << ", a start address from "
               << (place == Place::Device ? "aclrtMalloc" : "aclrtMallocHost") << " is required");
  }
  g_live.fetch_sub(1, std::memory_order_relaxed);
  // Queued work may still use it, and waiting here could wait for a callback that waits for us.
  if (!streams_busy()) {
    std::free(memory);
    return ACL_SUCCESS;
  }
  auto *farewell = new (std::nothrow) Farewell();
  if (farewell == nullptr) return ACL_SUCCESS;  // leaks; there is no memory to do better
  farewell->memory = memory;
  streams_push_behind_work(farewell_task, farewell);
  leave(farewell);
  return ACL_SUCCESS;
}

}  // namespace

BlockView block_at(const void *address) noexcept {
  BlockView view;
  std::lock_guard lock(g_mutex);
  auto at = blocks().upper_bound(number(address));
  if (at == blocks().begin()) return view;
  --at;
  const uintptr_t offset = number(address) - at->first;
  if (offset >= at->second.size) return view;
  view.place = at->second.place;
  view.device = at->second.device;
  view.left = at->second.size - offset;
  for (auto next = std::next(at); at->second.mapped && next != blocks().end(); ++at, ++next) {
    if (!next->second.mapped || next->first != at->first + at->second.size) break;
    view.left += next->second.size;
  }
  return view;
}

bool enter_mapped_block(void *address, size_t size, int32_t device) noexcept {
  return enter(address, {size, Place::Device, device, true});
}

void leave_mapped_block(void *address) noexcept {
  std::lock_guard lock(g_mutex);
  blocks().erase(number(address));
}

void count_device_memory(int32_t device, int64_t bytes) noexcept {
  std::lock_guard lock(g_mutex);
  count(device, static_cast<uint64_t>(bytes));
}

int64_t live_blocks() noexcept { return g_live.load(std::memory_order_relaxed); }

void machine_memory(size_t *free, size_t *total) noexcept {
  size_t limit = first_number_in("/sys/fs/cgroup/memory.max");
  const char *usage = "/sys/fs/cgroup/memory.current";
  if (limit == SIZE_MAX) {
    limit = first_number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes");
    usage = "/sys/fs/cgroup/memory/memory.usage_in_bytes";
  }
  *total = physical_memory();
  size_t kib = available_kib();
  *free = kib != SIZE_MAX ? kib * 1024 : *total;
  if (limit < *total) {
    *total = limit;
    size_t used = first_number_in(usage);
    size_t left = used < limit ? limit - used : 0;
    if (left < *free) *free = left;
  }
  if (*free > *total) *free = *total;
}

void memory_before_fork() noexcept { g_mutex.lock(); }
void memory_after_fork() noexcept { g_mutex.unlock(); }

}  // namespace pyaclnn

using namespace pyaclnn;

aclError aclrtMalloc(void **devPtr, size_t size, aclrtMemMallocPolicy policy) {
  auto bits = static_cast<uint32_t>(policy);
  return allocate_device("aclrtMalloc", devPtr, size, bits, spare_of(bits));
}

aclError aclrtMallocAlign32(void **devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return allocate_device("aclrtMallocAlign32", devPtr, size, static_cast<uint32_t>(policy), 0);
}

aclError aclrtMallocCached(void **devPtr, size_t size, aclrtMemMallocPolicy policy) {
  auto bits = static_cast<uint32_t>(policy);
  return allocate_device("aclrtMallocCached", devPtr, size, bits, spare_of(bits));
}

aclError aclrtMallocWithCfg(void **devPtr, size_t size, aclrtMemMallocPolicy policy,
                            aclrtMallocConfig *cfg) {
  const char *function = "aclrtMallocWithCfg";
  if (devPtr == nullptr) return refuse_null(function, "devPtr");
  if (int32_t code = check_config(function, cfg); code != 0) return code;
  auto bits = static_cast<uint32_t>(policy);
  return allocate_device(function, devPtr, size, bits, spare_of(bits));
}

aclError aclrtMallocForTaskScheduler(void **devPtr, size_t size, aclrtMemMallocPolicy policy,
                                     aclrtMallocConfig *cfg) {
  const char *function = "aclrtMallocForTaskScheduler";
  if (devPtr == nullptr) return refuse_null(function, "devPtr");
  if (int32_t code = check_config(function, cfg); code != 0) return code;
  auto bits = static_cast<uint32_t>(policy);
  return allocate_device(function, devPtr, size, bits, spare_of(bits));
}

aclError aclrtFree(void *devPtr) { return release("aclrtFree", "devPtr", devPtr, Place::Device); }

aclError aclrtMallocHost(void **hostPtr, size_t size) {
  return allocate_host("aclrtMallocHost", "hostPtr", hostPtr, size);
}

aclError aclrtMallocHostWithCfg(void **ptr, uint64_t size, aclrtMallocConfig *cfg) {
  const char *function = "aclrtMallocHostWithCfg";
  if (ptr == nullptr) return refuse_null(function, "ptr");
  if (int32_t code = check_config(function, cfg); code != 0) return code;
  return allocate_host(function, "ptr", ptr, size);
}

aclError aclrtFreeHost(void *hostPtr) {
  return release("aclrtFreeHost", "hostPtr", hostPtr, Place::Host);
}

namespace {

int32_t check_range(const char *function, const void *address, size_t size) {
  if (address == nullptr) return refuse_null(function, "devPtr");
  if (size == 0) return refuse_value(ACL_ERROR_INVALID_PARAM, function, "size", size, "at least 1");
  return 0;
}

}  // namespace

// Caches of a CPU are coherent: nothing to flush.
aclError aclrtMemFlush(void *devPtr, size_t size) {
  return check_range("aclrtMemFlush", devPtr, size);
}
aclError aclrtMemInvalidate(void *devPtr, size_t size) {
  return check_range("aclrtMemInvalidate", devPtr, size);
}

aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t *free, size_t *total) {
  const char *function = "aclrtGetMemInfo";
  if (free == nullptr) return refuse_null(function, "free");
  if (total == nullptr) return refuse_null(function, "total");
  if (static_cast<uint32_t>(attr) > 17) {
    return refuse_value(ACL_ERROR_INVALID_PARAM, function, "attr", static_cast<uint32_t>(attr),
                        "an aclrtMemAttr, 0 .. 17");
  }
  if (current_context_payload() == nullptr) return refuse_no_context(function);
  machine_memory(free, total);
  return ACL_SUCCESS;
}

aclError aclrtPointerGetAttributes(const void *ptr, aclrtPtrAttributes *attributes) {
  const char *function = "aclrtPointerGetAttributes";
  if (ptr == nullptr) return refuse_null(function, "ptr");
  if (attributes == nullptr) return refuse_null(function, "attributes");
  BlockView block = block_at(ptr);
  *attributes = aclrtPtrAttributes();
  attributes->pageSize = static_cast<uint32_t>(sysconf(_SC_PAGESIZE));
  switch (block.place) {
    case Place::Device:
      attributes->location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
      attributes->location.id = static_cast<uint32_t>(block.device);
      break;
    case Place::Host:
    case Place::Registered: attributes->location.type = ACL_MEM_LOCATION_TYPE_HOST; break;
    case Place::Unknown: attributes->location.type = ACL_MEM_LOCATION_TYPE_UNREGISTERED; break;
  }
  return ACL_SUCCESS;
}

namespace {

int32_t register_host(const char *function, void *ptr, uint64_t size) {
  if (ptr == nullptr) return refuse_null(function, "ptr");
  if (size == 0) return refuse_value(ACL_ERROR_INVALID_PARAM, function, "size", size, "at least 1");
  const BlockView block = block_at(ptr);
  const bool inside = block.place == Place::Host && size <= block.left;
  bool entered = false;
  if (inside) {
    std::lock_guard lock(g_mutex);
    try {
      entered = registered_inside().insert(number(ptr)).second;
    } catch (...) {
    }
  } else if (block.place == Place::Unknown) {
    entered = enter(ptr, {static_cast<size_t>(size), Place::Registered, 0});
  }
  if (entered) return ACL_SUCCESS;
  return fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003",
              Text() << function
                     << ": ptr: is registered already, device memory, or no size bytes of "
                        "aclrtMallocHost, other host memory is required");
}

}  // namespace

aclError aclrtHostRegister(void *ptr, uint64_t size, aclrtHostRegisterType type, void **devPtr) {
  const char *function = "aclrtHostRegister";
  if (ptr == nullptr) return refuse_null(function, "ptr");
  if (size == 0) return refuse_value(ACL_ERROR_INVALID_PARAM, function, "size", size, "at least 1");
  if (devPtr == nullptr) return refuse_null(function, "devPtr");
  auto kind = static_cast<uint32_t>(type);
  if (kind != ACL_HOST_REGISTER_MAPPED && kind != ACL_HOST_REGISTER_IOMEMORY &&
      kind != ACL_HOST_REGISTER_READONLY) {
    return refuse_value(ACL_ERROR_RT_PARAM_INVALID, function, "type", kind,
                        "0 (mapped), 4 (I/O memory), 8 (read only)");
  }
  int32_t code = register_host(function, ptr, size);
  if (code == 0) *devPtr = ptr;
  return code;
}

aclError aclrtHostRegisterV2(void *ptr, uint64_t size, uint32_t flag) {
  const char *function = "aclrtHostRegisterV2";
  constexpr uint32_t kKnown =
      ACL_HOST_REG_MAPPED | ACL_HOST_REG_IOMEMORY | ACL_HOST_REG_READONLY | ACL_HOST_REG_PINNED;
  if ((flag & ~kKnown) != 0) {
    return refuse_value(ACL_ERROR_RT_PARAM_INVALID, function, "flag", flag,
                        "an OR of 2 (mapped), 4 (I/O memory), 8 (read only), 0x10000000 (pinned)");
  }
  return register_host(function, ptr, size);
}

aclError aclrtHostUnregister(void *ptr) {
  const char *function = "aclrtHostUnregister";
  if (ptr == nullptr) return refuse_null(function, "ptr");
  std::lock_guard lock(g_mutex);
  if (registered_inside().erase(number(ptr)) != 0) return ACL_SUCCESS;
  auto at = blocks().find(number(ptr));
  if (at == blocks().end() || at->second.place != Place::Registered) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003",
                Text() << function
                       << ": ptr: is not registered, a start address given to "
                          "aclrtHostRegister is required");
  }
  blocks().erase(at);
  return ACL_SUCCESS;
}

aclError aclrtCmoAsync(void *src, size_t size, aclrtCmoType cmoType, aclrtStream stream) {
  const char *function = "aclrtCmoAsync";
  if (src == nullptr) return refuse_null(function, "src");
  if (size == 0) return refuse_value(ACL_ERROR_INVALID_PARAM, function, "size", size, "at least 1");
  if (cmoType != ACL_RT_CMO_TYPE_PREFETCH) {
    return refuse_value(ACL_ERROR_RT_PARAM_INVALID, function, "cmoType",
                        static_cast<int32_t>(cmoType), "0 (prefetch)");
  }
  Stream *payload = nullptr;
  std::unique_lock<std::mutex> lock;
  return stream_lock(stream, function, &payload, &lock);
}

aclError aclrtGetMemUsageInfo(int32_t deviceId, aclrtMemUsageInfo *memUsageInfo, size_t inputNum,
                              size_t *outputNum) {
  const char *function = "aclrtGetMemUsageInfo";
  if (memUsageInfo == nullptr) return refuse_null(function, "memUsageInfo");
  if (outputNum == nullptr) return refuse_null(function, "outputNum");
  if (inputNum == 0) {
    return refuse_value(ACL_ERROR_INVALID_PARAM, function, "inputNum", inputNum, "at least 1");
  }
  if (deviceId < 0 || deviceId >= device_count()) {
    return fail(ACL_ERROR_RT_INVALID_DEVICEID, "EE1001",
                Text() << function << ": deviceId: is " << deviceId << ", accepted: 0 .. "
                       << device_count() - 1);
  }
  // One component uses device memory here: the program itself.
  aclrtMemUsageInfo info{};
  std::strcpy(info.name, "APP");
  std::lock_guard lock(g_mutex);
  info.curMemSize = g_used[deviceId];
  info.memPeakSize = g_peak[deviceId];
  memUsageInfo[0] = info;
  *outputNum = 1;
  return ACL_SUCCESS;
}
