// Handles: opaque 64-bit values [generation 24 | index 32 | kind 8], never pointers. A table per
// kind holds type-stable slots that are never unmapped, so a stale, foreign or forged handle is
// answered by one compare and no freed memory is ever touched.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "support/api.hpp"

namespace pyaclnn {

enum class Kind : uint8_t {
  Context = 1,
  Stream,
  Event,
  DataBuffer,
  TensorDesc,
  PhysicalMemory,
  OpAttr,  // libascendcl
  Tensor,
  Scalar,
  IntArray,
  FloatArray,
  BoolArray,
  TensorList,
  ScalarList,
  Executor,  // libnnopbase
  Count
};

// What a table needs to know of a payload: how large it is and how to construct one in fresh
// memory. Payloads are constructed once per slot and recycled without destruction.
struct PayloadType {
  size_t size, align;
  void (*construct)(void *payload);
};

class PYACLNN_API HandleTable {
 public:
  // Takes a free slot (growing the table if needed), marks it live, returns its payload and handle;
  // nullptr when memory is exhausted.
  void *create(Kind kind, const PayloadType &type, uint64_t *handle) noexcept;
  // The payload of a live handle of this table, or nullptr.
  void *find(uint64_t handle) noexcept;
  // Ends the handle: exactly one caller gets the payload, everybody else nullptr. The winner cleans
  // the payload and then calls recycle with the same handle.
  void *claim(uint64_t handle) noexcept;
  // The payload of a handle between claim and recycle, or nullptr: whoever reads it must bear that
  // it is being cleaned.
  void *find_ending(uint64_t handle) noexcept;
  void recycle(uint64_t handle) noexcept;
  int64_t live() const noexcept;

  // Private in spirit; plain members so that find can be inlined by the implementation.
  struct Chunk;
  std::atomic<Chunk *> chunks_[4096] = {};
  std::atomic<int64_t> live_{0};
  std::atomic<uint32_t> slots_{0};
};

// The table of a kind. Leaky: usable after static destructors have run.
PYACLNN_API HandleTable &handle_table(Kind kind) noexcept;
// handle_table(kind).find(handle) in one call across libraries: the most frequent one.
PYACLNN_API void *find_payload(Kind kind, uint64_t handle) noexcept;

// Typed access. T has `static constexpr Kind kKind` and is default constructible.
template <class T>
inline constexpr PayloadType kPayloadType{sizeof(T), alignof(T), [](void *p) { new (p) T(); }};

template <class T>
T *create_handle(void **handle) noexcept {
  uint64_t value = 0;
  void *payload = handle_table(T::kKind).create(T::kKind, kPayloadType<T>, &value);
  if (payload != nullptr) *handle = reinterpret_cast<void *>(value);
  return static_cast<T *>(payload);
}
template <class T>
T *find_handle(const void *handle) noexcept {
  return static_cast<T *>(find_payload(T::kKind, reinterpret_cast<uint64_t>(handle)));
}
template <class T>
T *claim_handle(const void *handle) noexcept {
  return static_cast<T *>(handle_table(T::kKind).claim(reinterpret_cast<uint64_t>(handle)));
}
template <class T>
void recycle_handle(const void *handle) noexcept {
  handle_table(T::kKind).recycle(reinterpret_cast<uint64_t>(handle));
}

}  // namespace pyaclnn
