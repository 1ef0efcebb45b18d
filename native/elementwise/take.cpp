#include "elementwise/take.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "elementwise/convert.hpp"

namespace pyaclnn::elementwise {
namespace {

struct Free {
  void operator()(void *memory) const { std::free(memory); }
};

struct Work {
  const Take &problem;
  const int64_t *offsets;
  const std::byte *in;
  std::byte *out;
  int64_t inner;
  int64_t item = 0;
};

// Slices number begin .. end - 1 of outer x count.
void take_slices(void *context, int64_t number) {
  const auto &work = *static_cast<const Work *>(context);
  const Take &p = work.problem;
  const auto size = static_cast<int64_t>(size_of(p.input.type));
  const int64_t slices = p.outer.count() * p.count;
  const int64_t begin = number * work.item, end = std::min(begin + work.item, slices);
  alignas(64) std::byte raw[kChunk * 16];
  Walker out(p.output.view, static_cast<size_t>(size), work.out, begin * work.inner);
  for (int64_t s = begin; s < end; ++s) {
    int64_t outer = s / p.count, offset = work.offsets[s % p.count];
    for (uint32_t d = p.outer.rank; d-- > 0; outer /= p.outer.dims[d]) {
      offset += outer % p.outer.dims[d] * p.outer.strides[d];
    }
    Walker in(p.inner, static_cast<size_t>(size), const_cast<std::byte *>(work.in) + offset * size,
              0);
    for (int64_t at = 0; at < work.inner; at += kChunk) {
      const int64_t n = std::min(kChunk, work.inner - at);
      in.gather(raw, n);
      out.scatter(raw, n);
    }
  }
}

}  // namespace

float estimated_ns(const Take &problem) {
  const auto slices = static_cast<float>(problem.outer.count() * problem.count);
  return slices * (20 + static_cast<float>(problem.inner.count()));
}

bool run(const Take &problem, std::byte *const *addresses, Stray *stray) noexcept {
  // Kept as offsets: what has been checked must not change.
  const std::unique_ptr<int64_t, Free> offsets(
      static_cast<int64_t *>(std::calloc(static_cast<size_t>(problem.count), sizeof(int64_t))));
  if (offsets == nullptr) return false;
  for (size_t a = 0; a < problem.axes.size(); ++a) {
    const Take::Axis &axis = problem.axes[a];
    Walker walker(axis.index.view, size_of(axis.index.type), start_of(axis.index, addresses), 0);
    for (int64_t k = 0; k < problem.count; ++k) {
      std::byte value[8];
      int64_t i = 0;
      walker.gather(value, 1);
      convert_run(value, axis.index.type, &i, Type::i64, 1);
      if (i < -axis.extent || i >= axis.extent) {
        *stray = {true, a, k, i};
        return true;
      }
      offsets.get()[k] += (i < 0 ? i + axis.extent : i) * axis.stride;
    }
  }
  Work work{.problem = problem,
            .offsets = offsets.get(),
            .in = start_of(problem.input, addresses),
            .out = start_of(problem.output, addresses),
            .inner = problem.inner.count()};
  run_over_pool(problem.outer.count() * problem.count, estimated_ns(problem), &work.item,
                take_slices, &work, 1);
  return true;
}

}  // namespace pyaclnn::elementwise
