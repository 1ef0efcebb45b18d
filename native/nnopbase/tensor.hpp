// Meta objects: what the opaque handles of aclnn/acl_meta.h stand for.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "acl/handle.hpp"
#include "aclnn/acl_meta.h"
#include "support/api.hpp"

namespace pyaclnn {

inline constexpr uint64_t kMaxRank = 25;  // aclCreateTensor answers NULL beyond it

struct Tensor {
  static constexpr Kind kKind = Kind::Tensor;
  aclDataType dtype = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_ND;
  uint32_t rank = 0, storage_rank = 0;
  int64_t offset = 0;    // elements
  void *base = nullptr;  // storage base, offset not added

  // Derived when the tensor is made, because every call asks for them. Elements: saturates; 0 with
  // a dimension that is 0 or negative.
  int64_t count = 0;
  // No dimension is negative, and the view with its strides can be addressed and stays inside its
  // storage where that is known (storage dimensions were given) ...
  bool inside = false;
  // ... or the same elements, contiguous from the offset on, as outputs are written, do.
  bool inside_written = false;

  int64_t dims[kMaxRank], stride[kMaxRank], storage[kMaxRank];

  std::span<const int64_t> shape() const { return {dims, rank}; }
};

// Gives a live tensor, whose storage stays, another view shape, dense from its offset on: outputs
// whose size only the data say. Does nothing for a dead handle.
PYACLNN_API void set_view_shape(const aclTensor *tensor, const int64_t *dims,
                                uint32_t rank) noexcept;

// Elements times their size; packed types share bytes.
inline int64_t bytes_of_elements(int64_t elements, aclDataType dtype) {
  switch (dtype) {
    case ACL_INT4:
    case ACL_FLOAT4_E2M1:
    case ACL_FLOAT4_E1M2: return elements / 2;
    case ACL_UINT1: return elements / 8;
    default: return static_cast<int64_t>(static_cast<uint64_t>(elements) * aclDataTypeSize(dtype));
  }
}

struct Scalar {
  static constexpr Kind kKind = Kind::Scalar;
  aclDataType dtype = ACL_DT_UNDEFINED;
  alignas(16) unsigned char value[16] = {};
};

// Arrays and lists. Elements and their count live in one block that stays with the slot; when a
// slot needs a larger block, the outgrown one is kept behind it. So whoever reads a handle that
// another thread is destroying (a bug of the caller) still reads inside memory that is never given
// back.
template <class Element, Kind kKindOf>
struct Array {
  static constexpr Kind kKind = kKindOf;
  struct alignas(16) Block {
    uint64_t capacity = 0;
    std::atomic<uint64_t> size{0};  // never above capacity
    Block *outgrown = nullptr;
    Element *data() { return reinterpret_cast<Element *>(this + 1); }
  };
  std::atomic<Block *> block{nullptr};

  std::span<const Element> elements() const {
    Block *b = block.load(std::memory_order_acquire);
    if (b == nullptr) return {};
    return {b->data(), static_cast<size_t>(b->size.load(std::memory_order_relaxed))};
  }
};
using IntArray = Array<int64_t, Kind::IntArray>;
using FloatArray = Array<float, Kind::FloatArray>;
using BoolArray = Array<bool, Kind::BoolArray>;
using TensorList = Array<const aclTensor *, Kind::TensorList>;  // handles carry their generation
using ScalarList = Array<const aclScalar *, Kind::ScalarList>;

}  // namespace pyaclnn
