// The refusals that many functions share, one text form: "function: parameter: found, accepted".
#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "support/record.hpp"

namespace pyaclnn {

inline int32_t refuse_null(const char *function, const char *parameter) {
  return fail(ACL_ERROR_INVALID_PARAM, "EH0002",
              Text() << function << ": " << parameter << ": is NULL, a valid pointer is required");
}

template <class Value>
int32_t refuse_value(int32_t code, const char *function, const char *parameter, Value value,
                     const char *accepted) {
  return fail(
      code, code == ACL_ERROR_INVALID_PARAM ? "EH0007" : "EE1003",
      Text() << function << ": " << parameter << ": is " << value << ", accepted: " << accepted);
}

inline int32_t refuse_handle(const char *function, const char *parameter, const char *kind,
                             int32_t code = ACL_ERROR_RT_INVALID_HANDLE) {
  return fail(code, "EE1017",
              Text() << function << ": " << parameter << ": is not a live " << kind
                     << " (destroyed, of another kind, or never made), a live one is required");
}

inline int32_t refuse_no_context(const char *function) {
  return fail(ACL_ERROR_RT_CONTEXT_NULL, "EE1001",
              Text() << function
                     << ": this thread has no current context; call aclrtSetDevice or "
                        "aclrtSetCurrentContext first");
}

inline int32_t refuse_memory(int32_t code, const char *function, const char *what, uint64_t bytes) {
  return fail(code, "EE9999",
              Text() << function << ": out of memory: no " << bytes << " bytes for " << what);
}

}  // namespace pyaclnn
