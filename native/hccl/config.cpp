// Settings of collective communication, for programs that make them before they communicate.
#include <atomic>

#include "acl/build_guard.hpp"
#include "acl/refuse.hpp"
#include "hccl/hccl.h"

namespace pyaclnn {
namespace {

constinit std::atomic<int32_t> g_deterministic{0};

HcclResult refuse_setting(const char *function, const char *parameter, int64_t value,
                          const char *accepted) {
  queue_error("EI0003", Text() << function << ": " << parameter << ": is " << value
                               << ", accepted: " << accepted);
  return HCCL_E_PARA;
}

}  // namespace
}  // namespace pyaclnn

using namespace pyaclnn;

HcclResult HcclSetConfig(HcclConfig config, HcclConfigValue configValue) {
  const char *function = "HcclSetConfig";
  if (config != HCCL_DETERMINISTIC) {
    return refuse_setting(function, "config", config, "0 (deterministic)");
  }
  if (configValue.value < 0 || configValue.value > 2) {
    return refuse_setting(function, "configValue", configValue.value, "0, 1, 2");
  }
  g_deterministic.store(configValue.value, std::memory_order_relaxed);
  return HCCL_SUCCESS;
}

HcclResult HcclGetConfig(HcclConfig config, HcclConfigValue *configValue) {
  const char *function = "HcclGetConfig";
  if (configValue == nullptr) {
    queue_error("EI0003",
                Text() << function << ": configValue: is NULL, a valid pointer is required");
    return HCCL_E_PTR;
  }
  if (config != HCCL_DETERMINISTIC) {
    return refuse_setting(function, "config", config, "0 (deterministic)");
  }
  configValue->value = g_deterministic.load(std::memory_order_relaxed);
  return HCCL_SUCCESS;
}
