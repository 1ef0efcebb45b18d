#include "elementwise/reduce.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "elementwise/convert.hpp"

namespace pyaclnn::elementwise {
namespace {

// Values that one thread reduces at a stretch: what belongs together is never split elsewhere.
constexpr int64_t kBlock = 65536;

// What has been found so far: in the type of the sum, or of the values.
struct Found {
  alignas(16) std::byte value[16];
  int64_t index;
};

template <class C>
concept Float = std::is_floating_point_v<C>;
template <class C>
concept Integer = std::is_integral_v<C>;

template <class C>
using Wide = std::conditional_t<Float<C>, double,
                                std::conditional_t<Integer<C>, uint64_t, std::complex<double>>>;

struct Sum {
  template <class C>
  using State = Wide<C>;
  template <class C>
  static State<C> start() {
    return State<C>(0);
  }
  template <class C>
  static State<C> of(C v, int64_t) {
    return static_cast<State<C>>(v);
  }
  template <class S>
  static S join(S a, S b) {
    return a + b;
  }
};
template <bool kAll>
struct Truth {
  template <class C>
  using State = uint64_t;
  template <class C>
  static State<C> start() {
    return kAll;
  }
  template <class C>
  static State<C> of(C v, int64_t) {
    return v != C(0);
  }
  template <class S>
  static S join(S a, S b) {
    return kAll ? a & b : a | b;
  }
};

// The first of the largest (smallest) values, or the first NaN.
template <class C>
struct Best {
  C value;
  int64_t index;
};
template <bool kMax>
struct Extreme {
  template <class C>
  using State = Best<C>;
  template <class C>
  static State<C> start() {
    using L = std::numeric_limits<C>;
    if constexpr (Float<C>) return {kMax ? -L::infinity() : L::infinity(), INT64_MAX};
    return {kMax ? L::lowest() : L::max(), INT64_MAX};
  }
  template <class C>
  static State<C> of(C v, int64_t i) {
    return {v, i};
  }
  template <class S>
  static S join(S a, S b) {
    const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
    if (a_nan || b_nan) return a_nan && (!b_nan || a.index < b.index) ? a : b;
    const bool better = kMax ? b.value > a.value : b.value < a.value;
    return better || (b.value == a.value && b.index < a.index) ? b : a;
  }
};

// What the reduction knows of a compute type.
struct Steps {
  void (*start)(Found *found);
  // Takes n values, the first of which is the index-th.
  void (*take)(const void *values, int64_t n, int64_t index, Found *found);
  // Takes one value for each of n.
  void (*take_each)(const void *values, int64_t n, int64_t index, Found *found);
  void (*join)(Found *into, const Found *next);
};

template <class S>
S state_of(const Found &found) {
  S state;
  static_assert(sizeof(S) <= sizeof(Found));
  std::memcpy(static_cast<void *>(&state), &found, sizeof state);
  return state;
}
template <class S>
void keep(const S &state, Found *found) {
  std::memcpy(static_cast<void *>(found), &state, sizeof state);
}

template <class R, class C>
struct Implementation {
  using State = typename R::template State<C>;
  static void start(Found *found) { keep(R::template start<C>(), found); }
  static void take(const void *values, int64_t n, int64_t index, Found *found) {
    const C *v = static_cast<const C *>(values);
    constexpr int kLanes = 8;  // independent, so that the processor need not wait for each
    State lanes[kLanes];
    for (State &lane : lanes) lane = R::template start<C>();
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
      for (int k = 0; k < kLanes; ++k) {
        lanes[k] = R::join(lanes[k], R::template of<C>(v[i + k], index + i + k));
      }
    }
    State state = state_of<State>(*found);
    for (const State &lane : lanes) state = R::join(state, lane);
    for (; i < n; ++i) state = R::join(state, R::template of<C>(v[i], index + i));
    keep(state, found);
  }
  static void take_each(const void *values, int64_t n, int64_t index, Found *found) {
    const C *v = static_cast<const C *>(values);
    for (int64_t i = 0; i < n; ++i) {
      keep(R::join(state_of<State>(found[i]), R::template of<C>(v[i], index)), found + i);
    }
  }
  static void join(Found *into, const Found *next) {
    keep(R::join(state_of<State>(*into), state_of<State>(*next)), into);
  }
  static constexpr Steps kSteps{start, take, take_each, join};
};

template <class R, Compute kCompute>
constexpr const Steps *steps() {
  using C = Value<kCompute>;
  if constexpr (requires(C a) {
                  std::numeric_limits<C>::lowest();
                  a < a;
                } ||
                !std::is_same_v<typename R::template State<float>, Best<float>>) {
    return &Implementation<R, C>::kSteps;
  } else {
    return nullptr;  // complex values have no order
  }
}
using Row = std::array<const Steps *, kComputes>;
template <class R, size_t... kAt>
constexpr Row row(std::index_sequence<kAt...>) {
  return {steps<R, static_cast<Compute>(kAt)>()...};
}

const Steps *steps_of(Reduction kind, Compute compute) {
  constexpr auto kAll = std::make_index_sequence<kComputes>();
  static constexpr Row kSum = row<Sum>(kAll), kMax = row<Extreme<true>>(kAll),
                       kMin = row<Extreme<false>>(kAll), kEvery = row<Truth<true>>(kAll),
                       kSome = row<Truth<false>>(kAll);
  const auto at = static_cast<size_t>(compute);
  switch (kind) {
    case Reduction::Sum:
    case Reduction::Mean: return kSum[at];
    case Reduction::Max:
    case Reduction::ArgMax: return kMax[at];
    case Reduction::Min:
    case Reduction::ArgMin: return kMin[at];
    case Reduction::All: return kEvery[at];
    case Reduction::Any: return kSome[at];
  }
  return nullptr;
}

// The type of a state's value.
Type value_type(Reduction kind, Compute compute) {
  if (kind == Reduction::All || kind == Reduction::Any) return Type::i64;
  if (kind != Reduction::Sum && kind != Reduction::Mean) return native_type(compute);
  switch (compute) {
    case Compute::f32:
    case Compute::f64: return Type::f64;
    case Compute::c64:
    case Compute::c128: return Type::c128;
    default: return Type::i64;
  }
}
// Where a Best keeps its index.
size_t index_offset(Compute compute) {
  return std::max<size_t>(size_of(native_type(compute)), alignof(int64_t));
}

struct Work {
  const Reduce &problem;
  const Steps &steps;
  Steady input = {};
  std::byte *out = nullptr, *indices = nullptr;
  int64_t item = 0;
  int64_t blocks = 1;        // of each output
  Found *partial = nullptr;  // outputs x blocks, where there is more than one block
};

// Dense values of the compute type out of raw memory.
const void *values_of(const Reduce &p, const std::byte *raw, std::byte *common, std::byte *values,
                      int64_t n) {
  if (p.input.type != p.common) {
    convert_run(raw, p.input.type, common, p.common, n);
    raw = common;
  }
  if (is_native(p.common)) return raw;
  load_of(p.common)(raw, values, n);
  return values;
}

void finish(const Work &work, const Found *found, int64_t first, int64_t n) {
  const Reduce &p = work.problem;
  const Compute compute = compute_of(p.common);
  const Type from = value_type(p.kind, compute), to = p.output.type;
  Walker out(p.output.view, size_of(to), work.out, first);
  Walker indices;
  const bool wants_indices = p.indices.slot != kConstant;
  if (wants_indices) {
    indices = Walker(p.indices.view, size_of(p.indices.type), work.indices, first);
  }
  for (int64_t i = 0; i < n; ++i) {
    std::byte value[16], index[8];
    const std::byte *at = reinterpret_cast<const std::byte *>(found + i);
    const std::byte *place = at + index_offset(compute);
    if (is_arg(p.kind)) {
      convert_run(place, Type::i64, value, to, 1);
    } else if (p.kind == Reduction::Mean) {
      std::complex<double> mean;
      convert_run(at, from, &mean, Type::c128, 1);
      mean /= static_cast<double>(p.length);
      convert_run(&mean, Type::c128, value, to, 1);
    } else {
      convert_run(at, from, value, to, 1);
    }
    out.scatter(value, 1);
    if (wants_indices) {
      convert_run(place, Type::i64, index, p.indices.type, 1);
      indices.scatter(index, 1);
    }
  }
}

// One output, or a block of one.
void reduce_block(const Work &work, int64_t output, int64_t begin, int64_t end, Found *found) {
  const Reduce &p = work.problem;
  const size_t size = size_of(p.input.type);
  alignas(64) std::byte raw[kChunk * 16];
  alignas(64) std::byte common[kChunk * 16];
  alignas(64) std::byte values[kChunk * 16];
  Walker in(work.input.view, size, work.input.base, output * p.length + begin);
  work.steps.start(found);
  for (int64_t at = begin; at < end; at += kChunk) {
    const int64_t n = std::min(kChunk, end - at);
    const std::byte *memory = in.direct(n);
    if (memory == nullptr) {
      in.gather(raw, n);
      memory = raw;
    }
    work.steps.take(values_of(p, memory, common, values, n), n, at, found);
  }
}

void reduce_outputs(void *context, int64_t number) {
  const auto &work = *static_cast<const Work *>(context);
  const Reduce &p = work.problem;
  const int64_t begin = number * work.item, end = std::min(begin + work.item, p.outputs);
  for (int64_t o = begin; o < end; ++o) {
    Found found;
    reduce_block(work, o, 0, p.length, &found);
    finish(work, &found, o, 1);
  }
}

void reduce_blocks(void *context, int64_t number) {
  const auto &work = *static_cast<const Work *>(context);
  const Reduce &p = work.problem;
  const int64_t begin = number * work.item;
  const int64_t end = std::min(begin + work.item, p.outputs * work.blocks);
  for (int64_t i = begin; i < end; ++i) {
    const int64_t first = i % work.blocks * kBlock;
    reduce_block(work, i / work.blocks, first, std::min(first + kBlock, p.length),
                 work.partial + i);
  }
}

// Neighbouring outputs together, where their values lie side by side.
void reduce_columns(void *context, int64_t number) {
  const auto &work = *static_cast<const Work *>(context);
  const Reduce &p = work.problem;
  const size_t size = size_of(p.input.type);
  alignas(64) std::byte raw[kChunk * 16];
  alignas(64) std::byte common[kChunk * 16];
  alignas(64) std::byte values[kChunk * 16];
  Found found[kChunk];
  const int64_t begin = number * work.item, end = std::min(begin + work.item, p.outputs);
  for (int64_t at = begin; at < end; at += kChunk) {
    const int64_t n = std::min(kChunk, end - at);
    for (int64_t i = 0; i < n; ++i) work.steps.start(found + i);
    for (int64_t k = 0; k < p.length; ++k) {
      // work.input's view has the dimensions that go in front here.
      Walker in(work.input.view, size, work.input.base, k * p.outputs + at);
      const std::byte *memory = in.direct(n);
      if (memory == nullptr) {
        in.gather(raw, n);
        memory = raw;
      }
      work.steps.take_each(values_of(p, memory, common, values, n), n, k, found);
    }
    finish(work, found, at, n);
  }
}

// The dimensions that go in front of those that stay; false when that is no better way to walk.
bool turned(const Reduce &p, View *view) {
  const View &in = p.input.view;
  const uint32_t stay = p.output.view.rank;
  if (stay == 0 || stay == in.rank || p.outputs < 16) return false;
  if (std::abs(in.strides[stay - 1]) >= std::abs(in.strides[in.rank - 1])) return false;
  View result{.rank = in.rank};
  for (uint32_t i = 0; i < in.rank; ++i) {
    const uint32_t from = (i + stay) % in.rank;
    result.dims[i] = in.dims[from];
    result.strides[i] = in.strides[from];
  }
  *view = merged(result);
  return true;
}

}  // namespace

float estimated_ns(const Reduce &problem) {
  return static_cast<float>(problem.outputs) *
         (static_cast<float>(problem.length) * (is_arg(problem.kind) ? 3.0f : 1.0f) + 20);
}

bool run(const Reduce &problem, std::byte *const *addresses) noexcept {
  const Steps *steps = steps_of(problem.kind, compute_of(problem.common));
  Reduce settled = problem;
  settled.output.view = merged(problem.output.view);
  settled.indices.view = merged(problem.indices.view);
  const bool columns = problem.length > 0 && turned(problem, &settled.input.view);
  if (!columns) settled.input.view = merged(problem.input.view);
  Work work{.problem = settled, .steps = *steps};
  work.out = start_of(problem.output, addresses);
  const bool wants_indices = problem.indices.slot != kConstant;
  if (wants_indices) work.indices = start_of(problem.indices, addresses);
  // Without values there is nothing to read.
  if (problem.length > 0) {
    if (!work.input.take(settled.input, settled.output, addresses)) return false;
    if (wants_indices && !work.input.is_copy() &&
        !work.input.take(settled.input, settled.indices, addresses)) {
      return false;
    }
  }
  const float ns = estimated_ns(problem);
  if (columns) {
    run_over_pool(problem.outputs, ns, &work.item, reduce_columns, &work);
    return true;
  }
  work.blocks = (problem.length + kBlock - 1) / kBlock;
  if (work.blocks <= 1) {
    run_over_pool(problem.outputs, ns, &work.item, reduce_outputs, &work, 1);
    return true;
  }
  const int64_t parts = problem.outputs * work.blocks;
  work.partial = static_cast<Found *>(std::malloc(static_cast<size_t>(parts) * sizeof(Found)));
  if (work.partial == nullptr) return false;
  run_over_pool(parts, ns, &work.item, reduce_blocks, &work, 1);
  for (int64_t o = 0; o < problem.outputs; ++o) {
    Found *found = work.partial + o * work.blocks;
    for (int64_t b = 1; b < work.blocks; ++b) steps->join(found, found + b);
    finish(work, found, o, 1);
  }
  std::free(work.partial);
  return true;
}

}  // namespace pyaclnn::elementwise
