// Sizes of the fractal format NZ: columns in groups, each of all rows.
#pragma once

#include <cstdint>

namespace pyaclnn::atb {

// Columns of a group, of elements of two bytes; rows and columns are padded to multiples of it.
inline constexpr int64_t kFractal = 16;

constexpr int64_t round_up(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace pyaclnn::atb
