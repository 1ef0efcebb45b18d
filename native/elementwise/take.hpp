// Slices of a tensor, chosen by indices that are device data.
#pragma once

#include "elementwise/engine.hpp"

namespace pyaclnn::elementwise {

// output[o, k, i] = input[o, index[k], i]; negative indices count from the end. Types are equal.
struct Take {
  Source input;                    // its first element; strides below
  Source index;                    // a view of `count` values, INT32 or INT64
  Source output;                   // (outer, count, inner), merged
  View outer, inner;               // of the input
  int64_t extent = 0, stride = 0;  // of the dimension that is indexed
  int64_t count = 0;
};

float estimated_ns(const Take &problem);

// What an index was that points nowhere.
struct Stray {
  bool found = false;
  int64_t position = 0, value = 0;
};
// False when memory is exhausted.
bool run(const Take &problem, std::byte *const *addresses, Stray *stray) noexcept;

}  // namespace pyaclnn::elementwise
