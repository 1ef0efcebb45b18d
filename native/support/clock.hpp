// Wall-clock stamps for texts, and a monotonic clock for waits and event times.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <ctime>

namespace pyaclnn {

// "2025-04-01-12:34:56.789.012", local time.
struct Stamp {
  char text[40];
  Stamp() {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    tm local{};
    localtime_r(&now.tv_sec, &local);
    size_t n = std::strftime(text, sizeof text, "%Y-%m-%d-%H:%M:%S", &local);
    long micro = now.tv_nsec / 1000;
    std::snprintf(text + n, sizeof text - n, ".%03d.%03d", static_cast<int>(micro / 1000 % 1000),
                  static_cast<int>(micro % 1000));
  }
};

inline uint64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

inline int64_t thread_id() { return static_cast<int64_t>(syscall(SYS_gettid)); }

inline void cpu_relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Polls `ready` for about 50 us: shorter than the two system calls of a sleep and a wake.
template <class Ready>
bool spin_until(Ready ready) {
  uint64_t end = 0;
  for (;;) {
    for (int i = 0; i < 64; ++i) {
      if (ready()) return true;
      cpu_relax();
    }
    uint64_t now = monotonic_ns();
    if (end == 0) end = now + 50000;
    if (now >= end) return false;
  }
}

}  // namespace pyaclnn
