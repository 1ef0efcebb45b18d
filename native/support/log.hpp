// The log: ASCEND_GLOBAL_LOG_LEVEL filters, ASCEND_SLOG_PRINT_TO_STDOUT=1 sends it to stdout, else
// stderr for errors the level lets through.
#pragma once

#include <atomic>

#include "support/api.hpp"
#include "support/text.hpp"

namespace pyaclnn {

enum class LogLevel : int32_t { Debug = 0, Info = 1, Warning = 2, Error = 3 };

PYACLNN_API void log_line(LogLevel level, const char *text, size_t size) noexcept;
inline void log(LogLevel level, const Text &text) { log_line(level, text.c_str(), text.size()); }

// What the log lets through from now on; -1: what the environment says.
PYACLNN_API void set_log_level(int32_t level) noexcept;

// A line that was asked for (PYACLNN_LOG): no level keeps it back.
PYACLNN_API void profile_line(const Text &text) noexcept;

// One line per process for one place: `static std::atomic<bool> said; if (first_time(said))
// log(...)`.
inline bool first_time(std::atomic<bool> &said) {
  return !said.load(std::memory_order_relaxed) && !said.exchange(true);
}

}  // namespace pyaclnn
