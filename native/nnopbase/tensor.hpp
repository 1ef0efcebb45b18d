// Meta objects: what the opaque handles of aclnn/acl_meta.h stand for.
#pragma once

#include <cstdint>
#include <span>

#include "acl/handle.hpp"
#include "aclnn/acl_meta.h"

namespace pyaclnn {

inline constexpr uint64_t kMaxRank = 25;  // aclCreateTensor answers NULL beyond it

struct Tensor {
  static constexpr Kind kKind = Kind::Tensor;
  aclDataType dtype = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_ND;
  uint32_t rank = 0, storage_rank = 0;
  int64_t offset = 0;    // elements
  void *base = nullptr;  // storage base, offset not added
  int64_t dims[kMaxRank], stride[kMaxRank], storage[kMaxRank];

  std::span<const int64_t> shape() const { return {dims, rank}; }
};

struct Scalar {
  static constexpr Kind kKind = Kind::Scalar;
  aclDataType dtype = ACL_DT_UNDEFINED;
  alignas(16) unsigned char value[16] = {};
};

// Arrays and lists: the elements live behind `data`, in memory that stays with the slot.
template <class Element, Kind kKindOf>
struct Array {
  static constexpr Kind kKind = kKindOf;
  Element *data = nullptr;
  uint64_t size = 0, capacity = 0;
  std::span<const Element> elements() const { return {data, size}; }
};
using IntArray = Array<int64_t, Kind::IntArray>;
using FloatArray = Array<float, Kind::FloatArray>;
using BoolArray = Array<bool, Kind::BoolArray>;
using TensorList = Array<const aclTensor *, Kind::TensorList>;  // handles carry their generation
using ScalarList = Array<const aclScalar *, Kind::ScalarList>;

}  // namespace pyaclnn
