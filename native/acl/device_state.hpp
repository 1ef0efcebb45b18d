// Devices, contexts and the current context of a thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "acl/handle.hpp"

namespace pyaclnn {

inline constexpr int kMaxDevices = 64;

struct Stream;

// System options (aclSysParamOpt), process-wide or of a context.
struct Options {
  static constexpr int32_t kCount = 4;
  std::atomic<int64_t> value[kCount] = {};
  std::atomic<uint32_t> set{0};  // bit per option
};

struct Context {
  static constexpr Kind kKind = Kind::Context;
  std::atomic<int32_t> device{0};
  std::atomic<bool> primary{false};
  std::atomic<uint64_t> default_stream{0};  // handle
  Options options;
};

int32_t device_count() noexcept;
// The current context of this thread: its handle, or 0. Opens the default device of the aclInit
// file when there is one and the thread has none.
uint64_t current_context() noexcept;
// Its payload, or nullptr.
Context *current_context_payload() noexcept;
// Binds the thread to a context (0: to none).
void set_current_context(uint64_t context) noexcept;
// Takes a reference on the primary context of a device that exists; 0 when memory is exhausted.
uint64_t open_primary(int32_t device) noexcept;
// Device for threads that never chose one; -1: none.
void set_default_device(int32_t device) noexcept;

void devices_before_fork() noexcept;
void devices_after_fork() noexcept;

}  // namespace pyaclnn
