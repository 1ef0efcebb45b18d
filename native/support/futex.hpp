// Sleeping on a 32-bit number. std::atomic::wait would export tables of the standard library from
// ours.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

namespace pyaclnn {

static_assert(sizeof(std::atomic<int32_t>) == sizeof(int32_t));

// Returns when the number differs from `seen`, or for no reason.
inline void futex_wait(std::atomic<int32_t> &number, int32_t seen) {
  syscall(SYS_futex, reinterpret_cast<int32_t *>(&number), FUTEX_WAIT_PRIVATE, seen, nullptr,
          nullptr, 0);
}
inline void futex_wake_all(std::atomic<int32_t> &number) {
  syscall(SYS_futex, reinterpret_cast<int32_t *>(&number), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr,
          nullptr, 0);
}

}  // namespace pyaclnn
