// Wall-clock stamps for messages, a monotonic clock for waits and event times, and spinning.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <ctime>

namespace pyaclnn {

// "2025-04-01-12:34:56.789.012", local time; takes no lock, so that a forked child may use it.
struct Stamp {
  char text[28];
  Stamp() noexcept;
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
