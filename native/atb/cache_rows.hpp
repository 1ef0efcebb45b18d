// Rows of keys or values on their way into a cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace pyaclnn::atb {

struct CacheRows {
  size_t from, to;  // addresses
  int64_t row;      // bytes
  int64_t blocks, block_size;
  int64_t groups, group;  // NZ: groups of columns and their bytes; ND: 1 group, the whole row

  int64_t capacity() const { return blocks * block_size; }
  // The place of a group's columns in a row of the cache.
  int64_t offset(int64_t slot, int64_t at) const {
    return (((slot / block_size) * groups + at) * block_size + slot % block_size) * group;
  }
};

// Copies row t of each side to slots[t]; rows whose slot is negative or beyond the cache are left
// out, and of those with the same slot the last one stays. Slots are int32 or int64.
template <class Slot>
void copy_rows(std::span<const CacheRows> sides, std::span<std::byte *const> addresses,
               std::span<const Slot> slots);

}  // namespace pyaclnn::atb
