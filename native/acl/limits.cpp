// Operator time-outs and the saturation mode of floating-point numbers. Settings with a getter are
// stored; a setting without effect is logged once.
#include <atomic>

#include "acl/acl.h"
#include "acl/device_state.hpp"
#include "acl/refuse.hpp"
#include "product/product.hpp"
#include "support/log.hpp"

namespace pyaclnn {
namespace {

constinit std::atomic<uint32_t> g_overflow_mode[kMaxDevices] = {};  // mode + 1; 0: not set

// A task blocks no hardware that others wait for, so it may run as long as it takes.
int32_t accept_limit(const char *function, uint64_t timeout, const char *unit) {
  static std::atomic<bool> said{false};
  if (timeout != 0 && first_time(said)) {
    log(LogLevel::Warning, Text() << function << ": timeout " << timeout << ' ' << unit
                                  << ": accepted, operators have no limit");
  }
  return ACL_SUCCESS;
}

aclrtFloatOverflowMode product_mode() {
  const Product *row = current_product();
  return row != nullptr && !row->bf16 ? ACL_RT_OVERFLOW_MODE_SATURATION
                                      : ACL_RT_OVERFLOW_MODE_INFNAN;
}

}  // namespace
}  // namespace pyaclnn

using namespace pyaclnn;

aclError aclrtSetOpExecuteTimeOut(uint32_t timeout) {
  return accept_limit("aclrtSetOpExecuteTimeOut", timeout, "s");
}

aclError aclrtSetOpExecuteTimeOutWithMs(uint32_t timeout) {
  return accept_limit("aclrtSetOpExecuteTimeOutWithMs", timeout, "ms");
}

aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t *actualTimeout) {
  const char *function = "aclrtSetOpExecuteTimeOutV2";
  if (actualTimeout == nullptr) return refuse_null(function, "actualTimeout");
  *actualTimeout = UINT64_MAX;
  return accept_limit(function, timeout, "us");
}

aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode) {
  const char *function = "aclrtSetDeviceSatMode";
  const Context *context = current_context_payload();
  if (context == nullptr) return refuse_no_context(function);
  const auto number = static_cast<uint32_t>(mode);
  if (number >= ACL_RT_OVERFLOW_MODE_UNDEF) {
    return refuse_value(ACL_ERROR_RT_PARAM_INVALID, function, "mode", number,
                        "0 (saturation), 1 (infinity and NaN)");
  }
  if (mode == ACL_RT_OVERFLOW_MODE_SATURATION && product_mode() != mode) {
    return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1006",
                Text() << function
                       << ": mode: is 0 (saturation), which operators on a CPU do not do, "
                          "accepted: 1 (infinity and NaN)");
  }
  g_overflow_mode[context->device.load()].store(number + 1, std::memory_order_relaxed);
  return ACL_SUCCESS;
}

aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode *mode) {
  const char *function = "aclrtGetDeviceSatMode";
  if (mode == nullptr) return refuse_null(function, "mode");
  const Context *context = current_context_payload();
  if (context == nullptr) return refuse_no_context(function);
  const uint32_t set = g_overflow_mode[context->device.load()].load(std::memory_order_relaxed);
  *mode = set != 0 ? static_cast<aclrtFloatOverflowMode>(set - 1) : product_mode();
  return ACL_SUCCESS;
}
