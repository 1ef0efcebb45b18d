// The log: one line per message, filtered by ASCEND_GLOBAL_LOG_LEVEL (or ATB_LOG_LEVEL), to stderr,
// or to stdout with ASCEND_SLOG_PRINT_TO_STDOUT=1 or ATB_LOG_TO_STDOUT=1.
#pragma once

#include <atomic>

#include "support/api.hpp"
#include "support/text.hpp"

namespace pyaclnn {

enum class LogLevel : int32_t { Debug = 0, Info = 1, Warning = 2, Error = 3 };

// Whether a line of this level is written.
PYACLNN_API bool logs(LogLevel level) noexcept;
PYACLNN_API void log_line(LogLevel level, const char *text, size_t size) noexcept;
inline void log(LogLevel level, const Text &text) { log_line(level, text.c_str(), text.size()); }

// Overrides the level of the environment for the whole process; -1 restores it.
PYACLNN_API void set_log_level(int32_t level) noexcept;

// A line that PYACLNN_LOG asked for: written whatever the level is.
PYACLNN_API void profile_line(const Text &text) noexcept;

// True once per process, for messages that must not be repeated:
// `static std::atomic<bool> said; if (first_time(said)) log(...)`.
inline bool first_time(std::atomic<bool> &said) {
  return !said.load(std::memory_order_relaxed) && !said.exchange(true);
}

}  // namespace pyaclnn
