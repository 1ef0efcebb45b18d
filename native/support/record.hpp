// What went wrong lately, per thread: the queue behind aclGetRecentErrMsg, the last runtime error
// behind aclrtGetLastError, and the JSON behind pyaclnnExplain. Written at failure only.
#pragma once

#include <cstdint>

#include "support/api.hpp"
#include "support/text.hpp"

namespace pyaclnn {

// Queues `text` under an item code such as "EZ1001" or "EH0002" for aclGetRecentErrMsg of this
// thread, and logs it at error level.
PYACLNN_API void queue_error(const char *item_code, const char *text, size_t size) noexcept;
inline void queue_error(const char *item_code, const Text &text) {
  queue_error(item_code, text.c_str(), text.size());
}

// The item code of an aclnn status: only its first digit decides (1: EZ1001, 3: EZ9903, 5: EZ9999).
// Numbers below 100 are ATB's: EZ9999 for what lies in this machine or installation (no memory, no
// product), EZ1001 for everything that a call got wrong.
PYACLNN_API const char *item_code_of_status(int32_t status) noexcept;

// Queues a text for a runtime (AscendCL) failure, remembers `code` for aclrtGetLastError, and
// returns `code`, so that callers can write `return fail(107001, "EE1001", text);`.
PYACLNN_API int32_t fail(int32_t code, const char *item_code, const Text &text) noexcept;

// Keeps the JSON that pyaclnnExplain hands out for the last refused operator call of this thread.
PYACLNN_API void record_explanation(const char *json, size_t size) noexcept;

}  // namespace pyaclnn
