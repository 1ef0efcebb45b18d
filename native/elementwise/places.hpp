// Values that depend on their position: arithmetic progressions (arange, linspace) and bands of
// matrices (eye, tril, triu).
#pragma once

#include "elementwise/engine.hpp"

namespace pyaclnn::elementwise {

// output[i] = start + i * step, or counted back from `end` in the second half where `middle` is not
// the whole.
struct Progression {
  Source output;
  bool integers = false;
  int64_t first = 0, distance = 0;      // integers; wrap around
  double start = 0, step = 0, end = 0;  // else
  int64_t middle = 0;                   // from here on: end - (count - 1 - i) * step
  int64_t count = 0;
};
void run(const Progression &problem, std::byte *const *addresses) noexcept;
float estimated_ns(const Progression &problem);

// output = input where low <= column - row <= high, else 0, in every matrix of the last two
// dimensions. Views are merged, their elements in row-major order.
struct Band {
  Source input;  // a constant: the value of output's compute type
  Source output;
  int64_t rows = 0, columns = 0;
  int64_t low = 0, high = 0;
  int64_t count = 0;
};
// False when memory is exhausted.
bool run(const Band &problem, std::byte *const *addresses) noexcept;
float estimated_ns(const Band &problem);

}  // namespace pyaclnn::elementwise
