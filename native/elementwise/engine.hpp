// The elementwise engine: one operation over broadcast, strided operands of mixed types. Every
// element is read before it is written, so the output may be one of the inputs.
#pragma once

#include <span>

#include "elementwise/kernels.hpp"
#include "elementwise/view.hpp"

namespace pyaclnn::elementwise {

inline constexpr uint16_t kConstant = 65535;
inline constexpr int kMostInputs = 3;

// Where values come from: memory, or one value for all.
struct Source {
  uint16_t slot = kConstant;  // index into the addresses
  Type type = Type::none;
  View view = {};
  int64_t first = 0;                     // elements from the address to the view's first one
  alignas(16) std::byte value[16] = {};  // of the common type's compute type; Where's first: a byte
};

// Where a source's first element lies.
inline std::byte *start_of(const Source &source, std::byte *const *addresses) {
  return addresses[source.slot] + source.first * static_cast<int64_t>(size_of(source.type));
}

// output = op(inputs), computed in `common`: inputs are converted to it first, the result is
// rounded to it and then converted to the output's type.
struct Problem {
  Op op = Op::Move;
  Type common = Type::none;
  Source inputs[kMostInputs];
  Source output;
  bool scaled = false;  // Add and Sub: `factor` is not 1
  alignas(16) std::byte factor[16] = {};
  int64_t count = 0;
};

// Orders the dimensions by the strides of the output and merges them. All views have the
// output's dimensions, broadcast ones with stride 0.
void settle(Problem &problem);

// An input that keeps its values while the output is written: the input itself, or a copy where it
// overlaps the output under another view.
class Steady {
 public:
  Steady() = default;
  ~Steady();
  Steady(const Steady &) = delete;
  Steady &operator=(const Steady &) = delete;
  // False when memory is exhausted.
  bool take(const Source &input, const Source &output, std::byte *const *addresses);
  bool is_copy() const { return copy_ != nullptr; }

  std::byte *base = nullptr;
  View view;

 private:
  void *copy_ = nullptr;
};

// How long it may take, in nanoseconds, on one thread.
float estimated_ns(const Problem &problem);
// Work below this is not worth another thread.
inline constexpr float kSmallNs = 30000;

// Calls fn(context, 0 .. items - 1), each for `item` of `count` elements (a multiple of `unit`),
// over the pool where the whole takes long enough.
void run_over_pool(int64_t count, float ns, int64_t *item, void (*fn)(void *, int64_t),
                   void *context, int64_t unit = 1024);

// False when memory for a copy of an overlapping input is exhausted.
bool run(const Problem &problem, std::byte *const *addresses) noexcept;

}  // namespace pyaclnn::elementwise
