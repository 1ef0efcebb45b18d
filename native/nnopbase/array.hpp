// What arrays and lists share: filling a slot's block, the size getter, destruction.
#pragma once

#include <cstdlib>
#include <cstring>
#include <new>

#include "nnopbase/misuse.hpp"
#include "nnopbase/tensor.hpp"

namespace pyaclnn {

// Copies `size` elements into the slot's block, growing it first when it is too small. False when
// memory is exhausted.
template <class ArrayType, class Element>
bool fill(ArrayType &array, const Element *values, uint64_t size) {
  using Block = typename ArrayType::Block;
  constexpr uint64_t kSmallest = 128 / sizeof(Element);
  constexpr uint64_t kLargest = (uint64_t{1} << 62) / sizeof(Element);
  Block *block = array.block.load(std::memory_order_relaxed);
  if (block == nullptr || block->capacity < size) {
    if (size > kLargest) return false;
    uint64_t capacity = block == nullptr ? kSmallest : 2 * block->capacity;
    if (capacity < size) capacity = size;
    void *memory = std::malloc(sizeof(Block) + capacity * sizeof(Element));
    if (memory == nullptr) return false;
    Block *grown = new (memory) Block();
    grown->capacity = capacity;
    grown->outgrown = block;
    array.block.store(grown, std::memory_order_release);
    block = grown;
  }
  if (size != 0) std::memcpy(block->data(), values, size * sizeof(Element));
  block->size.store(size, std::memory_order_relaxed);
  return true;
}

template <class ArrayType, class Element>
void *create_array(const char *function, const char *what, const Element *values, uint64_t size) {
  void *handle = nullptr;
  ArrayType *array = create_handle<ArrayType>(&handle);
  if (array != nullptr) {
    if (fill(*array, values, values != nullptr ? size : 0)) return handle;
    claim_handle<ArrayType>(handle);
    recycle_handle<ArrayType>(handle);
  }
  Saying saying;
  saying.value << size << " elements";
  saying.limit << "no more than host memory holds";
  refuse(function, "META-MEMORY", what, ACLNN_ERR_INNER, saying);
  return nullptr;
}

template <class ArrayType>
aclnnStatus array_size(const char *function, const char *parameter, const void *handle,
                       uint64_t *size, const char *live) {
  if (handle == nullptr) return refuse_null(function, parameter, ACLNN_ERR_PARAM_NULLPTR, live);
  if (size == nullptr)
    return refuse_null(function, "size", ACLNN_ERR_PARAM_NULLPTR, "where to store");
  const ArrayType *array = find_handle<ArrayType>(handle);
  if (array == nullptr) {
    return refuse_handle(function, "META-HANDLE", parameter, ACLNN_ERR_PARAM_INVALID, handle, live);
  }
  *size = array->elements().size();
  return 0;
}

}  // namespace pyaclnn
