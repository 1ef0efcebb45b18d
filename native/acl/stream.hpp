// Submitting work to a stream: all that the layers above need of the runtime.
#pragma once

#include <cstddef>
#include <cstdint>

#include "acl/acl_rt.h"
#include "support/api.hpp"
#include "support/text.hpp"

namespace pyaclnn {

// One piece of stream work with its own payload. Tasks come from a free list: no malloc in steady
// state.
struct Task {
  Task *next = nullptr;  // owned by the stream
  // Does the work. 0, or an aclError that becomes the stream's sticky error with `why` as its text.
  int32_t (*run)(Task *task, Text &why) = nullptr;
  // Called exactly once, after run or when the task is dropped (also when submit refuses it); may
  // be nullptr. Runs without any lock held. It releases what the payload holds; the stream frees
  // the task itself.
  void (*release)(Task *task) = nullptr;
  bool small = false;  // auto mode: may run inline when the stream is idle
  uint8_t work = 0;    // owned by the stream
  size_t capacity = 0;
  std::byte *payload() { return reinterpret_cast<std::byte *>(this) + kPayloadOffset; }
  static constexpr size_t kPayloadOffset = 64;  // payloads are 64-byte aligned
};

// A task with room for `payload_bytes`; nullptr when memory is exhausted.
PYACLNN_API Task *task_new(size_t payload_bytes) noexcept;
// Gives back a task that was never submitted (release is not called).
PYACLNN_API void task_free(Task *task) noexcept;

// Queues the task in order on `stream` (NULL: default stream of the current context) and takes
// ownership of it in every case. 0; 107002 no current context; 107003 stream of another context;
// 107017 dead or foreign handle. On refusal an error text is queued and the task is released. In
// blocking mode the call returns after the task has run (its failure stays for the synchronise),
// unless the task is behind an event that is not recorded yet, or behind the caller's own task.
PYACLNN_API int32_t stream_submit(aclrtStream stream, Task *task) noexcept;

}  // namespace pyaclnn
