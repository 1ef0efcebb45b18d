// Contexts: public functions, and the system options of a context.
#include "acl/acl.h"
#include "acl/device_state.hpp"
#include "acl/refuse.hpp"
#include "acl/stream_state.hpp"

using namespace pyaclnn;

namespace {

int32_t refuse_context_memory(const char *function) {
  return refuse_memory(ACL_ERROR_RT_MEMORY_ALLOCATION, function, "a context", sizeof(Context));
}

}  // namespace

aclError aclrtCreateContext(aclrtContext *context, int32_t deviceId) {
  const char *function = "aclrtCreateContext";
  if (context == nullptr) return refuse_null(function, "context");
  if (deviceId < 0 || deviceId >= device_count()) {
    return fail(ACL_ERROR_RT_INVALID_DEVICEID, "EE1001",
                Text() << function << ": deviceId: is " << deviceId << ", accepted: 0 .. "
                       << device_count() - 1);
  }
  void *handle = nullptr;
  auto *payload = create_handle<Context>(&handle);
  if (payload == nullptr) return refuse_context_memory(function);
  payload->device.store(deviceId);
  payload->primary.store(false);
  payload->options.set.store(0);
  const uint64_t stream = stream_open(handle_value(handle), deviceId, 0, 0);
  if (stream == 0) {
    claim_handle<Context>(handle);
    recycle_handle<Context>(handle);
    return refuse_context_memory(function);
  }
  payload->default_stream.store(stream, std::memory_order_release);
  set_current_context(handle_value(handle));
  *context = handle;
  return ACL_SUCCESS;
}

aclError aclrtDestroyContext(aclrtContext context) {
  const char *function = "aclrtDestroyContext";
  if (context == nullptr) return refuse_null(function, "context");
  auto *payload = find_handle<Context>(context);
  if (payload != nullptr && payload->primary.load()) {
    return fail(ACL_ERROR_RT_CONTEXT_NULL, "EE1017",
                Text() << function
                       << ": context: is the default context of a device, one made by "
                          "aclrtCreateContext is required (aclrtResetDevice ends it)");
  }
  if (own_work_within(-1, handle_value(context))) return refuse_own_work(function, "context");
  payload = claim_handle<Context>(context);
  if (payload == nullptr) {
    return refuse_handle(function, "context", "context", ACL_ERROR_RT_CONTEXT_NULL);
  }
  int32_t code = streams_synchronize(-1, handle_value(context), function, 0);
  uint64_t stream = payload->default_stream.exchange(0);
  if (auto *its = claim_handle<Stream>(handle_pointer(stream)); its != nullptr) {
    stream_close(its, stream, false);
  }
  recycle_handle<Context>(context);
  return code;
}

aclError aclrtSetCurrentContext(aclrtContext context) {
  const char *function = "aclrtSetCurrentContext";
  if (context == nullptr) return refuse_null(function, "context");
  if (find_handle<Context>(context) == nullptr) {
    return refuse_handle(function, "context", "context", ACL_ERROR_RT_PARAM_INVALID);
  }
  set_current_context(handle_value(context));
  return ACL_SUCCESS;
}

aclError aclrtGetCurrentContext(aclrtContext *context) {
  const char *function = "aclrtGetCurrentContext";
  if (context == nullptr) return refuse_null(function, "context");
  if (current_context_payload() == nullptr) return refuse_no_context(function);
  *context = handle_pointer(current_context());
  return ACL_SUCCESS;
}

namespace {

// Programs may read ACL_OPT_DETERMINISTIC before it was set.
constinit Options g_options{.set = 1u << ACL_OPT_DETERMINISTIC};

int32_t check_option(const char *function, int32_t opt) {
  if (opt >= 0 && opt < Options::kCount) return 0;
  return refuse_value(
      ACL_ERROR_INVALID_PARAM, function, "opt", opt,
      "0 (deterministic), 1 (debug kernel), 2 (strong consistency), 3 (early start)");
}

// `opt` has been checked; the mask lets the compiler see it.
int32_t get_option(const char *function, int32_t opt, int64_t *value, const Options &options) {
  if ((options.set.load(std::memory_order_acquire) >> opt & 1u) == 0) {
    return fail(ACL_ERROR_RT_SYSPARAMOPT_NOT_SET, "EE1001",
                Text() << function << ": opt: option " << opt << " has not been set");
  }
  *value = options.value[opt & (Options::kCount - 1)].load(std::memory_order_relaxed);
  return ACL_SUCCESS;
}

int32_t set_option(int32_t opt, int64_t value, Options &options) {
  options.value[opt & (Options::kCount - 1)].store(value, std::memory_order_relaxed);
  options.set.fetch_or(1u << opt, std::memory_order_release);
  return ACL_SUCCESS;
}

}  // namespace

aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t *value) {
  const char *function = "aclrtCtxGetSysParamOpt";
  if (value == nullptr) return refuse_null(function, "value");
  if (int32_t code = check_option(function, static_cast<int32_t>(opt)); code != 0) return code;
  const Context *context = current_context_payload();
  if (context == nullptr) return refuse_no_context(function);
  return get_option(function, static_cast<int32_t>(opt), value, context->options);
}

aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  const char *function = "aclrtCtxSetSysParamOpt";
  if (int32_t code = check_option(function, static_cast<int32_t>(opt)); code != 0) return code;
  Context *context = current_context_payload();
  if (context == nullptr) return refuse_no_context(function);
  return set_option(static_cast<int32_t>(opt), value, context->options);
}

aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t *value) {
  const char *function = "aclrtGetSysParamOpt";
  if (value == nullptr) return refuse_null(function, "value");
  if (int32_t code = check_option(function, static_cast<int32_t>(opt)); code != 0) return code;
  return get_option(function, static_cast<int32_t>(opt), value, g_options);
}

aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  if (int32_t code = check_option("aclrtSetSysParamOpt", static_cast<int32_t>(opt)); code != 0) {
    return code;
  }
  return set_option(static_cast<int32_t>(opt), value, g_options);
}
