// The public functions of streams.
#include <cstring>
#include <new>

#include "acl/acl.h"
#include "acl/device_state.hpp"
#include "acl/refuse.hpp"
#include "acl/stream_state.hpp"

namespace pyaclnn {
namespace {

constexpr uint32_t kLowestPriority = 7;

int32_t create_stream(const char *function, aclrtStream *stream, uint32_t priority, size_t flag) {
  if (stream == nullptr) return refuse_null(function, "stream");
  const Context *context = current_context_payload();
  if (context == nullptr) return refuse_no_context(function);
  uint64_t handle = stream_open(current_context(), context->device.load(),
                                priority < kLowestPriority ? priority : kLowestPriority,
                                static_cast<uint32_t>(flag));
  if (handle == 0) {
    return fail(ACL_ERROR_RT_NO_STREAM_RESOURCE, "EE9999",
                Text() << function << ": no further stream can be made, "
                       << handle_table(Kind::Stream).live() << " are alive");
  }
  *stream = handle_pointer(handle);
  return ACL_SUCCESS;
}

int32_t destroy_stream(const char *function, aclrtStream stream, bool drop) {
  if (stream == nullptr) return refuse_null(function, "stream");
  auto *payload = find_handle<Stream>(stream);
  if (payload == nullptr) return refuse_handle(function, "stream", "stream");
  uint64_t owner = 0;
  {
    std::lock_guard lock(payload->mutex);
    if (payload->self == handle_value(stream)) owner = payload->context;
  }
  // A stream that outlived its context may be destroyed from anywhere.
  if (auto *context = find_handle<Context>(handle_pointer(owner)); context != nullptr) {
    uint64_t current = current_context();
    if (current_context_payload() == nullptr) return refuse_no_context(function);
    if (current != owner) {
      return fail(ACL_ERROR_RT_STREAM_CONTEXT, "EE1001",
                  Text() << function
                         << ": stream: belongs to another context, a stream of this "
                            "thread's current context is required");
    }
    if (context->default_stream.load() == handle_value(stream)) {
      return fail(ACL_ERROR_RT_PARAM_INVALID, "EE1001",
                  Text() << function
                         << ": stream: is the default stream of its context, one made "
                            "by aclrtCreateStream is required");
    }
  }
  if (own_work_of(handle_value(stream))) return refuse_own_work(function, "stream");
  payload = claim_handle<Stream>(stream);
  if (payload == nullptr) return refuse_handle(function, "stream", "stream");
  stream_close(payload, handle_value(stream), drop);
  return ACL_SUCCESS;
}

}  // namespace
}  // namespace pyaclnn

using namespace pyaclnn;

aclError aclrtCreateStream(aclrtStream *stream) {
  return create_stream("aclrtCreateStream", stream, 0, 0);
}

aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t priority, uint32_t flag) {
  return create_stream("aclrtCreateStreamWithConfig", stream, priority, flag);
}

aclError aclrtCreateStreamV2(aclrtStream *stream, const aclrtStreamConfigHandle *handle) {
  return create_stream("aclrtCreateStreamV2", stream, handle != nullptr ? handle->priority : 0,
                       handle != nullptr ? handle->flag : 0);
}

aclrtStreamConfigHandle *aclrtCreateStreamConfigHandle(void) {
  auto *handle = new (std::nothrow) aclrtStreamConfigHandle();
  if (handle == nullptr) {
    refuse_memory(ACL_ERROR_BAD_ALLOC, "aclrtCreateStreamConfigHandle", "stream options",
                  sizeof(aclrtStreamConfigHandle));
  }
  return handle;
}

aclError aclrtDestroyStreamConfigHandle(aclrtStreamConfigHandle *handle) {
  if (handle == nullptr) return refuse_null("aclrtDestroyStreamConfigHandle", "handle");
  delete handle;
  return ACL_SUCCESS;
}

aclError aclrtSetStreamConfigOpt(aclrtStreamConfigHandle *handle, aclrtStreamConfigAttr attr,
                                 const void *attrValue, size_t valueSize) {
  const char *function = "aclrtSetStreamConfigOpt";
  if (handle == nullptr) return refuse_null(function, "handle");
  if (attrValue == nullptr) return refuse_null(function, "attrValue");
  void *target = nullptr;
  size_t size = 8;
  switch (attr) {
    case ACL_RT_STREAM_WORK_ADDR_PTR: target = &handle->workptr; break;
    case ACL_RT_STREAM_WORK_SIZE: target = &handle->workSize; break;
    case ACL_RT_STREAM_FLAG: target = &handle->flag; break;
    case ACL_RT_STREAM_PRIORITY:
      target = &handle->priority;
      size = 4;
      break;
    default:
      return refuse_value(ACL_ERROR_INVALID_PARAM, function, "attr", static_cast<int32_t>(attr),
                          "0 (work address), 1 (work size), 2 (flag), 3 (priority)");
  }
  if (valueSize != size) {
    return refuse_value(ACL_ERROR_INVALID_PARAM, function, "valueSize", valueSize,
                        size == 4 ? "4 for the priority" : "8 for this option");
  }
  if (attr == ACL_RT_STREAM_PRIORITY) {
    uint32_t priority = 0;
    std::memcpy(&priority, attrValue, sizeof priority);
    if (priority > kLowestPriority) {
      return refuse_value(ACL_ERROR_INVALID_PARAM, function, "attrValue (priority)", priority,
                          "0 (highest) .. 7");
    }
  }
  std::memcpy(target, attrValue, size);
  return ACL_SUCCESS;
}

aclError aclrtDestroyStream(aclrtStream stream) {
  return destroy_stream("aclrtDestroyStream", stream, false);
}

aclError aclrtDestroyStreamForce(aclrtStream stream) {
  return destroy_stream("aclrtDestroyStreamForce", stream, true);
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
  return stream_synchronize(stream, "aclrtSynchronizeStream", 0);
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
  const char *function = "aclrtSynchronizeStreamWithTimeout";
  uint64_t deadline = 0;
  if (int32_t code = deadline_of(function, timeout, &deadline); code != 0) return code;
  return stream_synchronize(stream, function, deadline);
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus *status) {
  if (status == nullptr) return refuse_null("aclrtStreamQuery", "status");
  bool complete = false;
  int32_t code = stream_query(stream, "aclrtStreamQuery", &complete);
  if (code == 0) *status = complete ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
  return code;
}

aclError aclrtStreamGetId(aclrtStream stream, int32_t *streamId) {
  if (streamId == nullptr) return refuse_null("aclrtStreamGetId", "streamId");
  Stream *payload = nullptr;
  std::unique_lock<std::mutex> lock;
  int32_t code = stream_lock(stream, "aclrtStreamGetId", &payload, &lock);
  if (code == 0) *streamId = payload->id;
  return code;
}

aclError aclrtStreamAbort(aclrtStream stream) {
  Stream *payload = nullptr;
  std::unique_lock<std::mutex> lock;
  int32_t code = stream_lock(stream, "aclrtStreamAbort", &payload, &lock);
  if (code != 0) return code;
  const uint64_t self = payload->self;
  lock.unlock();
  if (own_work_of(self)) return refuse_own_work("aclrtStreamAbort", "stream");
  stream_drop_work(payload);
  return ACL_SUCCESS;
}

namespace {

int32_t set_failure_mode(const char *function, const char *parameter, aclrtStream stream,
                         uint64_t mode) {
  if (mode > ACL_STOP_ON_FAILURE) {
    return refuse_value(ACL_ERROR_RT_PARAM_INVALID, function, parameter, mode,
                        "0 (continue), 1 (stop)");
  }
  Stream *payload = nullptr;
  std::unique_lock<std::mutex> lock;
  int32_t code = stream_lock(stream, function, &payload, &lock);
  if (code != 0) return code;
  if (payload->failure_mode_set) {
    lock.unlock();
    return fail(ACL_ERROR_RT_PARAM_INVALID, "EE1001",
                Text() << function << ": " << parameter
                       << ": the failure mode of this stream was set before, once is accepted");
  }
  payload->failure_mode_set = true;
  payload->stop_on_failure = mode == ACL_STOP_ON_FAILURE;
  return ACL_SUCCESS;
}

}  // namespace

aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode) {
  return set_failure_mode("aclrtSetStreamFailureMode", "mode", stream, mode);
}

namespace {

// Overflows are not detected; the setting is only stored, for its getter.
int32_t set_overflow_switch(const char *function, const char *parameter, aclrtStream stream,
                            uint32_t flag) {
  if (flag > 1) {
    return refuse_value(ACL_ERROR_INVALID_PARAM, function, parameter, flag, "0 (off), 1 (on)");
  }
  Stream *payload = nullptr;
  std::unique_lock<std::mutex> lock;
  int32_t code = stream_lock(stream, function, &payload, &lock);
  if (code == 0) payload->overflow_switch = flag;
  return code;
}

}  // namespace

aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag) {
  return set_overflow_switch("aclrtSetStreamOverflowSwitch", "flag", stream, flag);
}

aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t *flag) {
  const char *function = "aclrtGetStreamOverflowSwitch";
  if (flag == nullptr) return refuse_null(function, "flag");
  Stream *payload = nullptr;
  std::unique_lock<std::mutex> lock;
  int32_t code = stream_lock(stream, function, &payload, &lock);
  if (code == 0) *flag = payload->overflow_switch;
  return code;
}

aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType,
                                 aclrtStreamAttrValue *value) {
  const char *function = "aclrtSetStreamAttribute";
  if (value == nullptr) return refuse_null(function, "value");
  if (stmAttrType == ACL_STREAM_ATTR_FAILURE_MODE) {
    return set_failure_mode(function, "value->failureMode", stream, value->failureMode);
  }
  if (stmAttrType == ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK) {
    return set_overflow_switch(function, "value->overflowSwitch", stream, value->overflowSwitch);
  }
  Stream *payload = nullptr;
  std::unique_lock<std::mutex> lock;
  int32_t code = 0;
  switch (static_cast<int32_t>(stmAttrType)) {
    case ACL_STREAM_ATTR_PRIORITY:
      if (value->streamPriority > kLowestPriority) {
        return refuse_value(ACL_ERROR_INVALID_PARAM, function, "value->streamPriority",
                            value->streamPriority, "0 (highest) .. 7");
      }
      code = stream_lock(stream, function, &payload, &lock);
      if (code == 0) payload->priority = value->streamPriority;
      return code;
    case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
    case ACL_STREAM_ATTR_CACHE_OP_INFO:  // hints for profilers: no effect here
      return stream_lock(stream, function, &payload, &lock);
    default: break;
  }
  return refuse_value(
      ACL_ERROR_INVALID_PARAM, function, "stmAttrType", static_cast<int32_t>(stmAttrType),
      "1 (failure mode), 2 (overflow check), 3 (tag), 4 (operator info), 5 (priority)");
}
