#include "atb/context.hpp"

#include <new>

#include "atb/refuse.hpp"

namespace pyaclnn::atb {
namespace {

using ::atb::Context;
using ::atb::ERROR_INVALID_PARAM;
using ::atb::ERROR_OUT_OF_HOST_MEMORY;
using ::atb::NO_ERROR;
using ::atb::Status;

// Of a thread, whichever context sets it, as on the device.
thread_local ::atb::ExecuteType t_execute_type = ::atb::EXECUTE_NORMAL;

Status refuse_memory(const char *function) {
  Saying saying;
  saying.value << "host memory is exhausted";
  saying.limit << "free some";
  return refuse(function, "ATB-MEMORY", "context", ERROR_OUT_OF_HOST_MEMORY, saying);
}

// A number of the interface that has to lie in a range.
Status refuse_number(const char *function, const char *rule, const char *parameter, int64_t value,
                     int64_t low, int64_t high) {
  Saying saying;
  saying.value << value;
  saying.limit << "must be " << low << " .. " << high;
  return refuse(function, rule, parameter, ERROR_INVALID_PARAM, saying);
}

Status create(const char *function, Context **context) {
  if (context == nullptr) return refuse_null(function, "ATB-CONTEXT", "context");
  try {
    *context = new ContextImpl();
  } catch (const std::bad_alloc &) {
    return refuse_memory(function);
  }
  return NO_ERROR;
}

}  // namespace

Status ContextImpl::SetExecuteStream(aclrtStream stream) {
  streams_[0] = stream;
  return NO_ERROR;
}
aclrtStream ContextImpl::GetExecuteStream() const { return streams_[0]; }

Status ContextImpl::SetAsyncTilingCopyStatus(bool enable) {
  async_tiling_copy_ = enable;
  return NO_ERROR;
}
bool ContextImpl::GetAsyncTilingCopyStatus() const { return async_tiling_copy_; }

Status ContextImpl::SetExecuteStreams(const std::vector<aclrtStream> &streams) {
  const char *function = "Context::SetExecuteStreams";
  if (streams.empty()) {
    Saying saying;
    saying.value << "no stream";
    saying.limit << "must be one or more";
    return refuse(function, "ATB-STREAMS", "streams", ERROR_INVALID_PARAM, saying);
  }
  try {
    streams_ = streams;
  } catch (const std::bad_alloc &) {
    return refuse_memory(function);
  }
  return NO_ERROR;
}
std::vector<aclrtStream> ContextImpl::GetExecuteStreams() { return streams_; }

Status ContextImpl::SetExecuteType(::atb::ExecuteType type) {
  if (type < ::atb::EXECUTE_NORMAL || type > ::atb::EXECUTE_LAUNCH) {
    return refuse_number("Context::SetExecuteType", "ATB-EXECUTE-TYPE", "type", type, 0, 2);
  }
  t_execute_type = type;
  return NO_ERROR;
}
::atb::ExecuteType ContextImpl::GetExecuteType() { return t_execute_type; }

Status ContextImpl::SetLaunchMode(::atb::LaunchMode mode) {
  if (mode < ::atb::KERNEL_LAUNCH_MODE || mode > ::atb::GRAPH_LAUNCH_MODE) {
    return refuse_number("Context::SetLaunchMode", "ATB-LAUNCH-MODE", "mode", mode, 0, 1);
  }
  launch_mode_ = mode;
  return NO_ERROR;
}
::atb::LaunchMode ContextImpl::GetLaunchMode() { return launch_mode_; }

}  // namespace pyaclnn::atb

namespace atb {

using namespace pyaclnn::atb;

Status CreateContext(Context **context) { return create("CreateContext", context); }

Status CreateContext(Context **context, const std::function<void *(size_t)> &alloc,
                     const std::function<void(void *)> &dealloc) {
  if (context != nullptr && (alloc == nullptr) != (dealloc == nullptr)) {
    pyaclnn::Saying saying;
    saying.value << "is empty";
    saying.limit << "alloc and dealloc must both be set, or none of them";
    return pyaclnn::refuse("CreateContext", "ATB-ALLOCATORS",
                           alloc == nullptr ? "alloc" : "dealloc", ERROR_INVALID_PARAM, saying);
  }
  return create("CreateContext", context);
}

Status CreateContext(Context **context, uint32_t hostTilingBlockNum,
                     uint32_t deviceTilingBlockNum) {
  if (context != nullptr && (hostTilingBlockNum < 128 || hostTilingBlockNum > 1024)) {
    return refuse_number("CreateContext", "ATB-TILING-BLOCKS", "hostTilingBlockNum",
                         hostTilingBlockNum, 128, 1024);
  }
  if (context != nullptr && (deviceTilingBlockNum < 32 || deviceTilingBlockNum > 1024)) {
    return refuse_number("CreateContext", "ATB-TILING-BLOCKS", "deviceTilingBlockNum",
                         deviceTilingBlockNum, 32, 1024);
  }
  return create("CreateContext", context);
}

Status DestroyContext(Context *context) {
  if (end_object(context) == Ending::Before) {
    pyaclnn::Saying saying;
    saying.value << "is destroyed already";
    saying.limit << "must be a live context of CreateContext";
    return pyaclnn::refuse("DestroyContext", "ATB-CONTEXT", "context", ERROR_INVALID_PARAM, saying);
  }
  delete context;
  return NO_ERROR;
}

}  // namespace atb
