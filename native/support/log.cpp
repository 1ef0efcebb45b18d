#include "support/log.hpp"

#include <unistd.h>

#include "support/clock.hpp"
#include "support/env.hpp"

namespace pyaclnn {
namespace {

std::atomic<int32_t> g_level{-1};

// One write per line: lines of several threads do not mix, and nothing is lost when the process
// ends without flushing.
void write_line(const char *kind, const char *text, size_t size) {
  char line[Text::kCapacity + 128];
  Stamp now;
  int head = std::snprintf(line, sizeof line, "[%s] PYACLNN(%d,%d):%s ", kind,
                           static_cast<int>(getpid()), static_cast<int>(thread_id()), now.text);
  size_t used = static_cast<size_t>(head);
  size_t room = sizeof line - 1 - used;
  size_t n = size < room ? size : room;
  std::memcpy(line + used, text, n);
  used += n;
  line[used++] = '\n';
  int fd = env().log_to_stdout ? STDOUT_FILENO : STDERR_FILENO;
  for (size_t done = 0; done < used;) {
    ssize_t wrote = write(fd, line + done, used - done);
    if (wrote <= 0) return;  // nowhere to complain
    done += static_cast<size_t>(wrote);
  }
}

}  // namespace

bool logs(LogLevel level) noexcept {
  const int32_t chosen = g_level.load(std::memory_order_relaxed);
  return static_cast<int32_t>(level) >= (chosen >= 0 ? chosen : env().log_level);
}

void log_line(LogLevel level, const char *text, size_t size) noexcept {
  if (!logs(level)) return;
  static const char *const kNames[] = {"DEBUG", "INFO", "WARNING", "ERROR"};
  write_line(kNames[static_cast<int32_t>(level) & 3], text, size);
}

void set_log_level(int32_t level) noexcept { g_level.store(level, std::memory_order_relaxed); }

void profile_line(const Text &text) noexcept { write_line("PROFILE", text.c_str(), text.size()); }

}  // namespace pyaclnn
