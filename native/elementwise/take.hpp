// Gather: slices of a tensor, selected by indices that are device data.
#pragma once

#include "elementwise/engine.hpp"

namespace pyaclnn::elementwise {

// output[o, k, i] = input[o, index[k], i], where the index may be one of several dimensions, each
// with its own values; negative ones count from the end. Types are equal.
struct Take {
  struct Axis {
    Source index;  // a view of `count` values, INT32 or INT64
    int64_t extent = 0, stride = 0;
  };
  Source input;       // its first element; strides below
  Source output;      // (outer, count, inner), merged
  View outer, inner;  // of the input, without the dimensions that are indexed
  std::span<const Axis> axes;
  int64_t count = 0;
};

float estimated_ns(const Take &problem);

// An index that is out of range.
struct Stray {
  bool found = false;
  size_t axis = 0;
  int64_t position = 0, value = 0;
};
// False when memory is exhausted.
bool run(const Take &problem, std::byte *const *addresses, Stray *stray) noexcept;

}  // namespace pyaclnn::elementwise
