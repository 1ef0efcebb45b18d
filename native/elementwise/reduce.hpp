// Reductions of some dimensions to one value per element of the output.
#pragma once

#include "elementwise/engine.hpp"

namespace pyaclnn::elementwise {

enum class Reduction : uint8_t { Sum, Mean, Max, Min, All, Any, ArgMax, ArgMin };
constexpr bool is_arg(Reduction r) { return r >= Reduction::ArgMax; }

// Values are converted to `common` first. Sums are in float64 or 64-bit integers, in an order that
// does not depend on threads.
struct Reduce {
  Reduction kind = Reduction::Sum;
  Type common = Type::none;
  Source input;         // the dimensions that stay, then those that go
  Source output;        // the dimensions that stay; value
  Source indices;       // likewise, where the value was; constant: not wanted
  int64_t outputs = 0;  // elements of the output
  int64_t length = 0;   // values of each
};

float estimated_ns(const Reduce &problem);
// False when memory is exhausted.
bool run(const Reduce &problem, std::byte *const *addresses) noexcept;

}  // namespace pyaclnn::elementwise
