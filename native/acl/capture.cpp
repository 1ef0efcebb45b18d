// Graph capture is not available: no stream is ever captured, and every question about captures is
// answered accordingly.
#include "acl/acl.h"
#include "acl/refuse.hpp"
#include "acl/stream_state.hpp"

namespace pyaclnn {
namespace {

// 0 when the stream argument is usable, which then is a stream that is not captured.
int32_t check_stream(const char *function, aclrtStream stream) {
  Stream *payload = nullptr;
  std::unique_lock<std::mutex> lock;
  return stream_lock(stream, function, &payload, &lock);
}

int32_t refuse_not_captured(const char *function) {
  return fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED, "EE1001",
              Text() << function << ": stream: is not captured, a captured stream is required");
}

int32_t refuse_model(const char *function, aclmdlRI model) {
  if (model == nullptr) return refuse_null(function, "modelRI");
  return refuse_handle(function, "modelRI", "graph");
}

int32_t check_mode(const char *function, int64_t mode) {
  if (mode >= ACL_MODEL_RI_CAPTURE_MODE_GLOBAL && mode <= ACL_MODEL_RI_CAPTURE_MODE_RELAXED)
    return 0;
  return refuse_value(ACL_ERROR_RT_PARAM_INVALID, function, "mode", mode,
                      "0 (global), 1 (thread local), 2 (relaxed)");
}

}  // namespace
}  // namespace pyaclnn

using namespace pyaclnn;

aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode) {
  const char *function = "aclmdlRICaptureBegin";
  if (stream == nullptr) return refuse_null(function, "stream");
  if (int32_t code = check_mode(function, static_cast<int64_t>(mode)); code != 0) return code;
  if (int32_t code = check_stream(function, stream); code != 0) return code;
  return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1006",
              Text() << function
                     << ": graph capture is not supported on a CPU, accepted instead: "
                        "submitting the work without a capture");
}

aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus *status,
                                aclmdlRI *modelRI) {
  const char *function = "aclmdlRICaptureGetInfo";
  if (stream == nullptr) return refuse_null(function, "stream");
  if (status == nullptr && modelRI == nullptr) return refuse_null(function, "status and modelRI");
  if (int32_t code = check_stream(function, stream); code != 0) return code;
  if (status != nullptr) *status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  if (modelRI != nullptr) *modelRI = nullptr;
  return ACL_SUCCESS;
}

aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI *modelRI) {
  const char *function = "aclmdlRICaptureEnd";
  if (modelRI == nullptr) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "EE1004",
                Text() << function << ": modelRI: is NULL, a valid pointer is required");
  }
  int32_t code = check_stream(function, stream);
  return code != 0 ? code : refuse_not_captured(function);
}

aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream) {
  return refuse_model("aclmdlRIExecuteAsync", modelRI);
}
aclError aclmdlRIDestroy(aclmdlRI modelRI) { return refuse_model("aclmdlRIDestroy", modelRI); }
aclError aclmdlRIDebugPrint(aclmdlRI modelRI) {
  return refuse_model("aclmdlRIDebugPrint", modelRI);
}

aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode *mode) {
  const char *function = "aclmdlRICaptureThreadExchangeMode";
  if (mode == nullptr) return refuse_null(function, "mode");
  if (int32_t code = check_mode(function, static_cast<int64_t>(*mode)); code != 0) return code;
  static thread_local aclmdlRICaptureMode of_thread = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
  aclmdlRICaptureMode before = of_thread;
  of_thread = *mode;
  *mode = before;
  return ACL_SUCCESS;
}

aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream) {
  const char *function = "aclmdlRICaptureTaskGrpBegin";
  int32_t code = check_stream(function, stream);
  return code != 0 ? code : refuse_not_captured(function);
}

aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp *handle) {
  const char *function = "aclmdlRICaptureTaskGrpEnd";
  if (handle == nullptr) return refuse_null(function, "handle");
  int32_t code = check_stream(function, stream);
  return code != 0 ? code : refuse_not_captured(function);
}

aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream, aclrtTaskGrp handle) {
  const char *function = "aclmdlRICaptureTaskUpdateBegin";
  if (int32_t code = check_stream(function, stream); code != 0) return code;
  if (handle == nullptr) return refuse_null(function, "handle");
  return refuse_handle(function, "handle", "task group");
}

aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream) {
  const char *function = "aclmdlRICaptureTaskUpdateEnd";
  if (int32_t code = check_stream(function, stream); code != 0) return code;
  return fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, "EE1001",
              Text() << function
                     << ": stream: no update was begun on it, "
                        "aclmdlRICaptureTaskUpdateBegin is required before");
}
