// The slot behind an aclOpExecutor, and the count that keeps it while anybody uses it.
#pragma once

#include "nnopbase/executor.hpp"

namespace pyaclnn {

// Overflow memory of a slot; the usable bytes follow the header.
struct alignas(64) Chunk {
  Chunk *next = nullptr;
  size_t capacity = 0;
  std::byte *data() { return reinterpret_cast<std::byte *>(this + 1); }
};

struct Executor {
  static constexpr Kind kKind = Kind::Executor;
  static constexpr size_t kArenaBytes = 3072;
  static constexpr uint32_t kInlineBindings = 32;

  // One for the live handle, one for each queued run, one for each call that is looking at it. The
  // slot goes back to the table when the last one leaves, so a pinned slot never
  // changes its owner.
  std::atomic<uint32_t> pins{0};
  std::atomic<bool> repeatable{false};
  // Whoever sets it may end the handle: phase 2 of a one-shot executor, or its destruction. So only
  // one of them succeeds; phase 2 takes it back when it is refused.
  std::atomic<bool> ending{false};
  bool small = false;
  bool failed = false;  // memory ran out while it was built
  bool looks = false;  // whether tensors and workspace have room (room.hpp): the log shows warnings
  void *handle = nullptr;
  const Operator *op = nullptr;
  const void *plan = nullptr;
  uint64_t workspace_bytes = 0;

  uint32_t count = 0, capacity = kInlineBindings;
  Binding *bindings = nullptr;
  std::byte **addresses = nullptr;  // base + offset of each binding; written through atomic_ref

  size_t arena_used = 0, chunk_used = 0;
  Chunk *chunks = nullptr, *chunk = nullptr;  // all of them in order; the one in use
  Binding inline_bindings[kInlineBindings];
  std::byte *inline_addresses[kInlineBindings];
  alignas(64) std::byte arena[kArenaBytes];
};

// The executor of a live handle, pinned; nullptr for every other value. Each pin wants an unpin.
Executor *pin_executor(const aclOpExecutor *handle) noexcept;
void unpin_executor(Executor *executor) noexcept;

// Ends the handle and drops its own pin. False when another thread has ended it before.
bool end_executor(const void *handle) noexcept;

}  // namespace pyaclnn
