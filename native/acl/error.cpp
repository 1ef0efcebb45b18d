// Error messages, the last error of a thread, and the log of programs.
#include <cstdarg>
#include <cstdio>

#include "acl/acl.h"
#include "acl/refuse.hpp"
#include "support/log.hpp"
#include "support/record_state.hpp"

namespace pyaclnn {
namespace {

int32_t check_level(const char *function, aclrtLastErrLevel level) {
  if (level == ACL_RT_THREAD_LEVEL) return 0;
  return refuse_value(ACL_ERROR_INVALID_PARAM, function, "level", static_cast<int32_t>(level),
                      "0 (thread)");
}

}  // namespace
}  // namespace pyaclnn

using namespace pyaclnn;

const char *aclGetRecentErrMsg(void) { return take_recent_errors(); }

aclError aclrtPeekAtLastError(aclrtLastErrLevel level) {
  int32_t code = check_level("aclrtPeekAtLastError", level);
  return code != 0 ? code : last_error(false);
}

aclError aclrtGetLastError(aclrtLastErrLevel level) {
  int32_t code = check_level("aclrtGetLastError", level);
  return code != 0 ? code : last_error(true);
}

void aclAppLog(aclLogLevel logLevel, const char *func, const char *file, uint32_t line,
               const char *fmt, ...) {
  if (func == nullptr || file == nullptr || fmt == nullptr) return;
  if (static_cast<uint32_t>(logLevel) > ACL_ERROR) return;
  const auto level = static_cast<LogLevel>(logLevel);
  if (!logs(level)) return;
  char message[Text::kCapacity];
  va_list arguments;
  va_start(arguments, fmt);
  std::vsnprintf(message, sizeof message, fmt, arguments);
  va_end(arguments);
  log(level, Text() << '[' << func << "][" << file << ':' << line << "] " << message);
}
