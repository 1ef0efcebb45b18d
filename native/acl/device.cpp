#include <unistd.h>

#include "acl/acl.h"
#include "acl/device_state.hpp"
#include "acl/memory_state.hpp"
#include "acl/refuse.hpp"
#include "acl/stream_state.hpp"
#include "product/product.hpp"
#include "support/env.hpp"

namespace pyaclnn {
namespace {

struct Device {
  int64_t references = 0;
  uint64_t primary = 0;  // handle of the primary context, 0 when closed
};

constinit std::mutex g_mutex;  // first in the lock order
constinit Device g_devices[kMaxDevices];
std::atomic<int32_t> g_default_device{-1};

// Context of this thread, a handle. Dead ones are noticed at the next look-up.
thread_local uint64_t t_current = 0;

// Ends a primary context that is already out of the table. By force: work that waits for something
// nobody has recorded is dropped, not waited for.
int32_t close_primary(uint64_t primary, const char *function, bool force) {
  if (force) streams_settle(primary);
  int32_t code = streams_synchronize(-1, primary, function, 0);
  auto *context = claim_handle<Context>(handle_pointer(primary));
  if (context == nullptr) return code;
  uint64_t stream = context->default_stream.exchange(0);
  if (auto *payload = claim_handle<Stream>(handle_pointer(stream)); payload != nullptr) {
    stream_close(payload, stream, false);
  }
  recycle_handle<Context>(handle_pointer(primary));
  return code;
}

int32_t refuse_device(const char *function, const char *parameter, int64_t id) {
  Text text;
  text << function << ": " << parameter << ": is " << id << ", accepted: 0 .. "
       << device_count() - 1;
  return fail(ACL_ERROR_RT_INVALID_DEVICEID, "EE1001", text);
}

bool is_device(int64_t id) { return id >= 0 && id < device_count(); }

int32_t release_device(const char *function, int32_t id, bool force) {
  if (!is_device(id)) return refuse_device(function, "deviceId", id);
  uint64_t closing = 0;
  bool own = false;
  {
    std::lock_guard lock(g_mutex);
    Device &device = g_devices[id];
    if (device.references > 1 && !force) {
      --device.references;
      return 0;
    }
    own = device.primary != 0 && own_work_within(-1, device.primary);
    if (device.references != 0 && !own) {
      device.references = 0;
      closing = device.primary;
      device.primary = 0;
    }
  }
  if (own) return refuse_own_work(function, "deviceId");
  if (closing == 0) {
    return fail(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, "EE9999",
                Text() << function << ": deviceId: device " << id
                       << " is not set or was released already, one reset per set is accepted");
  }
  return close_primary(closing, function, force);
}

}  // namespace

int32_t device_count() noexcept { return env().device_count; }

void set_default_device(int32_t device) noexcept { g_default_device.store(device); }

uint64_t open_primary(int32_t id) noexcept {
  std::lock_guard lock(g_mutex);
  Device &device = g_devices[id];
  if (device.primary == 0) {
    void *handle = nullptr;
    auto *context = create_handle<Context>(&handle);
    if (context == nullptr) return 0;
    context->device.store(id);
    context->primary.store(true);
    context->options.set.store(0);
    uint64_t stream = stream_open(handle_value(handle), id, 0, 0);
    if (stream == 0) {
      claim_handle<Context>(handle);
      recycle_handle<Context>(handle);
      return 0;
    }
    context->default_stream.store(stream, std::memory_order_release);
    device.primary = handle_value(handle);
  }
  ++device.references;
  return device.primary;
}

uint64_t current_context() noexcept {
  if (t_current != 0) [[likely]]
    return t_current;
  int32_t device = g_default_device.load(std::memory_order_relaxed);
  if (device >= 0) t_current = open_primary(device);
  return t_current;
}

Context *current_context_payload() noexcept {
  return find_handle<Context>(handle_pointer(current_context()));
}

void set_current_context(uint64_t context) noexcept { t_current = context; }

void devices_before_fork() noexcept { g_mutex.lock(); }
void devices_after_fork() noexcept { g_mutex.unlock(); }

}  // namespace pyaclnn

using namespace pyaclnn;

aclError aclrtSetDevice(int32_t deviceId) {
  if (!is_device(deviceId)) return refuse_device("aclrtSetDevice", "deviceId", deviceId);
  uint64_t primary = open_primary(deviceId);
  if (primary == 0) {
    return refuse_memory(ACL_ERROR_RT_MEMORY_ALLOCATION, "aclrtSetDevice", "a context",
                         sizeof(Context));
  }
  set_current_context(primary);
  return ACL_SUCCESS;
}

aclError aclrtResetDevice(int32_t deviceId) {
  return release_device("aclrtResetDevice", deviceId, false);
}

aclError aclrtResetDeviceForce(int32_t deviceId) {
  return release_device("aclrtResetDeviceForce", deviceId, true);
}

aclError aclrtGetDevice(int32_t *deviceId) {
  if (deviceId == nullptr) return refuse_null("aclrtGetDevice", "deviceId");
  const Context *context = current_context_payload();
  if (context == nullptr) return refuse_no_context("aclrtGetDevice");
  *deviceId = context->device.load(std::memory_order_relaxed);
  return ACL_SUCCESS;
}

aclError aclrtGetDeviceCount(uint32_t *count) {
  if (count == nullptr) return refuse_null("aclrtGetDeviceCount", "count");
  *count = static_cast<uint32_t>(device_count());
  return ACL_SUCCESS;
}

aclError aclrtGetRunMode(aclrtRunMode *runMode) {
  if (runMode == nullptr) return refuse_null("aclrtGetRunMode", "runMode");
  *runMode = ACL_HOST;
  return ACL_SUCCESS;
}

aclError aclrtSynchronizeDevice(void) {
  const Context *context = current_context_payload();
  if (context == nullptr) return refuse_no_context("aclrtSynchronizeDevice");
  return streams_synchronize(context->device.load(), 0, "aclrtSynchronizeDevice", 0);
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) {
  const char *function = "aclrtSynchronizeDeviceWithTimeout";
  uint64_t deadline = 0;
  if (int32_t code = deadline_of(function, timeout, &deadline); code != 0) return code;
  const Context *context = current_context_payload();
  if (context == nullptr) return refuse_no_context(function);
  return streams_synchronize(context->device.load(), 0, function, deadline);
}

aclError aclrtQueryDeviceStatus(int32_t deviceId, aclrtDeviceStatus *deviceStatus) {
  if (deviceStatus == nullptr) return refuse_null("aclrtQueryDeviceStatus", "deviceStatus");
  if (!is_device(deviceId)) return refuse_device("aclrtQueryDeviceStatus", "deviceId", deviceId);
  *deviceStatus = ACL_RT_DEVICE_STATUS_NORMAL;
  return ACL_SUCCESS;
}

aclError aclrtGetDeviceUtilizationRate(int32_t deviceId, aclrtUtilizationInfo *utilizationInfo) {
  const char *function = "aclrtGetDeviceUtilizationRate";
  if (utilizationInfo == nullptr) return refuse_null(function, "utilizationInfo");
  if (utilizationInfo->utilizationExtend != nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "EH0007",
                Text() << function
                       << ": utilizationInfo->utilizationExtend: is not NULL, only "
                          "NULL is accepted (reserved)");
  }
  if (!is_device(deviceId)) return refuse_device(function, "deviceId", deviceId);
  utilizationInfo->cubeUtilization = -1;  // -1: not available
  utilizationInfo->vectorUtilization = -1;
  utilizationInfo->aicpuUtilization = -1;
  size_t free = 0, total = 0;
  machine_memory(&free, &total);
  utilizationInfo->memoryUtilization =
      total != 0 ? static_cast<int32_t>((total - free) * 100 / total) : -1;
  return ACL_SUCCESS;
}

aclError aclrtSetTsDevice(aclrtTsId tsId) {
  if (tsId != ACL_TS_ID_AICORE && tsId != ACL_TS_ID_AIVECTOR) {
    return refuse_value(ACL_ERROR_INVALID_PARAM, "aclrtSetTsDevice", "tsId",
                        static_cast<int32_t>(tsId), "0 (AI core), 1 (vector core)");
  }
  return ACL_SUCCESS;
}

aclError aclrtDeviceCanAccessPeer(int32_t *canAccessPeer, int32_t deviceId, int32_t peerDeviceId) {
  const char *function = "aclrtDeviceCanAccessPeer";
  if (deviceId == peerDeviceId) {
    return refuse_value(ACL_ERROR_INVALID_PARAM, function, "peerDeviceId", peerDeviceId,
                        "another device than deviceId");
  }
  if (!is_device(deviceId)) return refuse_device(function, "deviceId", deviceId);
  if (!is_device(peerDeviceId)) return refuse_device(function, "peerDeviceId", peerDeviceId);
  if (canAccessPeer == nullptr) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "EE1004",
                Text() << function << ": canAccessPeer: is NULL, a valid pointer is required");
  }
  *canAccessPeer = 1;  // all devices are the memory of this machine
  return ACL_SUCCESS;
}

namespace {

int32_t check_peer(const char *function, int32_t peer) {
  const Context *context = current_context_payload();
  if (context == nullptr) return refuse_no_context(function);
  if (!is_device(peer)) return refuse_device(function, "peerDeviceId", peer);
  if (peer == context->device.load()) {
    return refuse_value(ACL_ERROR_INVALID_PARAM, function, "peerDeviceId", peer,
                        "another device than the current one");
  }
  return 0;
}

}  // namespace

aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags) {
  if (flags != 0) {
    return refuse_value(ACL_ERROR_FEATURE_UNSUPPORTED, "aclrtDeviceEnablePeerAccess", "flags",
                        flags, "0 (reserved)");
  }
  return check_peer("aclrtDeviceEnablePeerAccess", peerDeviceId);
}

aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId) {
  return check_peer("aclrtDeviceDisablePeerAccess", peerDeviceId);
}

aclError aclrtDeviceGetBareTgid(int32_t *pid) {
  if (pid == nullptr) return refuse_null("aclrtDeviceGetBareTgid", "pid");
  *pid = getpid();
  return ACL_SUCCESS;
}

namespace {

int32_t refuse_product(const char *function) {
  return fail(ACL_ERROR_INTERNAL_ERROR, "EH9999",
              Text() << function << ": PYACLNN_PRODUCT: is \"" << env().product
                     << "\", accepted: " << product_names());
}

}  // namespace

const char *aclrtGetSocName(void) { return current_soc(); }

aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t *value) {
  const char *function = "aclGetDeviceCapability";
  if (value == nullptr) return refuse_null(function, "value");
  if (!is_device(deviceId)) {
    return refuse_value(ACL_ERROR_INVALID_PARAM, function, "deviceId", deviceId,
                        "a device below aclrtGetDeviceCount");
  }
  const Product *row = current_product();
  if (row == nullptr) return refuse_product(function);
  switch (deviceInfo) {
    case ACL_DEVICE_INFO_AI_CORE_NUM: *value = row->ai_cores; return ACL_SUCCESS;
    case ACL_DEVICE_INFO_VECTOR_CORE_NUM: *value = row->vector_cores; return ACL_SUCCESS;
    case ACL_DEVICE_INFO_L2_SIZE: *value = row->l2_bytes; return ACL_SUCCESS;
    default: break;
  }
  return refuse_value(ACL_ERROR_INVALID_PARAM, function, "deviceInfo",
                      static_cast<int32_t>(deviceInfo), "0 (AI cores), 1 (vector cores), 2 (L2)");
}

aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t *value) {
  const char *function = "aclGetCannAttribute";
  if (value == nullptr) return refuse_null(function, "value");
  const Product *row = current_product();
  if (row == nullptr) return refuse_product(function);
  switch (cannAttr) {
    case ACL_CANN_ATTR_INF_NAN: *value = row->bf16 ? 1 : 0; return ACL_SUCCESS;
    case ACL_CANN_ATTR_BF16: *value = row->bf16 ? 1 : 0; return ACL_SUCCESS;
    case ACL_CANN_ATTR_JIT_COMPILE: *value = 0; return ACL_SUCCESS;  // nothing is ever compiled
    default: break;
  }
  return refuse_value(ACL_ERROR_INVALID_PARAM, function, "cannAttr", static_cast<int32_t>(cannAttr),
                      "0 (INF_NAN), 1 (BF16), 2 (JIT_COMPILE)");
}

aclError aclGetCannAttributeList(const aclCannAttr **cannAttrList, size_t *num) {
  const char *function = "aclGetCannAttributeList";
  if (cannAttrList == nullptr) return refuse_null(function, "cannAttrList");
  if (num == nullptr) return refuse_null(function, "num");
  static const aclCannAttr kWithBf16[] = {ACL_CANN_ATTR_INF_NAN, ACL_CANN_ATTR_BF16};
  const Product *row = current_product();
  if (row == nullptr) return refuse_product(function);
  *cannAttrList = kWithBf16;
  *num = row->bf16 ? 2 : 0;
  return ACL_SUCCESS;
}

aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t *value) {
  const char *function = "aclrtGetDeviceInfo";
  if (value == nullptr) return refuse_null(function, "value");
  if (!is_device(deviceId)) return refuse_device(function, "deviceId", deviceId);
  const Product *row = current_product();
  if (row == nullptr) return refuse_product(function);
  size_t free = 0, total = 0;
  switch (static_cast<int32_t>(attr)) {
    case ACL_DEV_ATTR_AICORE_CORE_NUM: *value = row->ai_cores; return ACL_SUCCESS;
    case ACL_DEV_ATTR_CUBE_CORE_NUM: *value = row->cube_cores; return ACL_SUCCESS;
    case ACL_DEV_ATTR_VECTOR_CORE_NUM: *value = row->vector_cores; return ACL_SUCCESS;
    case ACL_DEV_ATTR_L2_CACHE_SIZE: *value = row->l2_bytes; return ACL_SUCCESS;
    case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE:
      machine_memory(&free, &total);
      *value = static_cast<int64_t>(total);
      return ACL_SUCCESS;
    case ACL_DEV_ATTR_IS_VIRTUAL: *value = 0; return ACL_SUCCESS;
    default: break;
  }
  return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1006",
              Text() << function << ": attr: is " << static_cast<int32_t>(attr)
                     << ", accepted here: 101, 102 (AI, cube cores), 201 (vector cores), 301 "
                        "(memory), 302 (L2), 501 (virtual)");
}

aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t *flags, int32_t *active) {
  const char *function = "aclrtGetPrimaryCtxState";
  if (active == nullptr) return refuse_null(function, "active");
  if (flags != nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "EH0007",
                Text() << function << ": flags: is not NULL, only NULL is accepted (reserved)");
  }
  if (!is_device(deviceId)) return refuse_device(function, "deviceId", deviceId);
  std::lock_guard lock(g_mutex);
  *active = g_devices[deviceId].primary != 0 ? 1 : 0;
  return ACL_SUCCESS;
}
