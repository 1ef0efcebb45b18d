#include "elementwise/places.hpp"

#include <algorithm>
#include <cstring>

#include "elementwise/convert.hpp"

namespace pyaclnn::elementwise {
namespace {

struct ProgressionWork {
  const Progression &problem;
  std::byte *out;
  int64_t item = 0;
};

void progress(void *context, int64_t number) {
  const auto &work = *static_cast<const ProgressionWork *>(context);
  const Progression &p = work.problem;
  const Type to = p.output.type;
  const int64_t begin = number * work.item, end = std::min(begin + work.item, p.count);
  alignas(64) std::byte values[kChunk * 8];
  alignas(64) std::byte memory[kChunk * 16];
  const Convert store = store_of(p.integers ? Compute::i64 : Compute::f64, to);
  Walker out(p.output.view, size_of(to), work.out, begin);
  for (int64_t at = begin; at < end; at += kChunk) {
    const int64_t n = std::min(kChunk, end - at);
    if (p.integers) {
      auto *v = reinterpret_cast<int64_t *>(values);
      const auto first = static_cast<uint64_t>(p.first),
                 distance = static_cast<uint64_t>(p.distance);
      for (int64_t i = 0; i < n; ++i) {
        v[i] = static_cast<int64_t>(first + static_cast<uint64_t>(at + i) * distance);
      }
    } else {
      auto *v = reinterpret_cast<double *>(values);
      for (int64_t i = 0; i < n; ++i) {
        const int64_t k = at + i;
        v[i] = k < p.middle ? p.start + static_cast<double>(k) * p.step
                            : p.end - static_cast<double>(p.count - 1 - k) * p.step;
      }
    }
    store(values, memory, n);
    out.scatter(memory, n);
  }
}

struct BandWork {
  const Band &problem;
  std::byte *out;
  Steady input = {};
  int64_t item = 0;
};

void cut(void *context, int64_t number) {
  const auto &work = *static_cast<const BandWork *>(context);
  const Band &p = work.problem;
  const Type to = p.output.type;
  const size_t size = size_of(to);
  const bool constant = p.input.slot == kConstant;
  const int64_t begin = number * work.item, end = std::min(begin + work.item, p.count);
  alignas(64) std::byte raw[kChunk * 16];
  alignas(64) std::byte memory[kChunk * 16];
  std::byte value[16];
  Walker in, out(p.output.view, size, work.out, begin);
  if (constant) {
    store_of(compute_of(to), to)(p.input.value, value, 1);
  } else {
    in = Walker(work.input.view, size_of(p.input.type), work.input.base, begin);
  }
  for (int64_t at = begin; at < end;) {
    // As far as this row goes.
    const int64_t row = at / p.columns % p.rows, column = at % p.columns;
    const int64_t n = std::min({kChunk, end - at, p.columns - column});
    const auto from = std::clamp(row + p.low - column, int64_t{0}, n);
    const auto until = std::clamp(row + p.high - column + 1, from, n);
    if (constant) {
      const View all{.rank = 1, .dims = {kChunk}, .strides = {1}};
      Walker(all, size, memory, 0).fill(value, n);
    } else {
      in.gather(raw, n);
      convert_run(raw, p.input.type, memory, to, n);
    }
    std::memset(memory, 0, static_cast<size_t>(from) * size);
    std::memset(memory + static_cast<size_t>(until) * size, 0,
                static_cast<size_t>(n - until) * size);
    out.scatter(memory, n);
    at += n;
  }
}

}  // namespace

float estimated_ns(const Progression &problem) { return 2 * static_cast<float>(problem.count); }

void run(const Progression &problem, std::byte *const *addresses) noexcept {
  ProgressionWork work{.problem = problem, .out = start_of(problem.output, addresses)};
  run_over_pool(problem.count, estimated_ns(problem), &work.item, progress, &work);
}

float estimated_ns(const Band &problem) { return 2 * static_cast<float>(problem.count); }

bool run(const Band &problem, std::byte *const *addresses) noexcept {
  BandWork work{.problem = problem, .out = start_of(problem.output, addresses)};
  if (problem.input.slot != kConstant &&
      !work.input.take(problem.input, problem.output, addresses)) {
    return false;
  }
  run_over_pool(problem.count, estimated_ns(problem), &work.item, cut, &work);
  return true;
}

}  // namespace pyaclnn::elementwise
