// What libascendcl itself needs of the record beyond record.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pyaclnn {

// err_msg_mode of aclInit: errors are kept per thread (false) or per process (true).
void record_per_process(bool per_process) noexcept;
// The text behind aclGetRecentErrMsg; nullptr when nothing is new.
const char *take_recent_errors() noexcept;
// The last runtime-layer error of this thread; `clear` forgets it.
int32_t last_error(bool clear) noexcept;
size_t copy_explanation(char *buffer, size_t capacity) noexcept;

void record_before_fork() noexcept;
void record_after_fork() noexcept;

}  // namespace pyaclnn
