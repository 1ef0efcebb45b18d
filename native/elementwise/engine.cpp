#include "elementwise/engine.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "elementwise/convert.hpp"
#include "support/pool.hpp"

namespace pyaclnn::elementwise {
namespace {

using Buffer = std::byte[kChunk * 16];

// Something a thread may work on while others work on the rest.
struct Work {
  const Problem &problem;
  std::byte *out;
  int64_t item;  // elements
  Steady inputs[kMostInputs] = {};
};

bool counts_as_bytes(Op op, int input) { return op == Op::Where && input == 0; }

// A run of an input as dense values: raw memory, its own type, the common type, then the compute
// type.
class Input {
 public:
  void begin(const Work &work, int number, int64_t start) {
    const Problem &problem = work.problem;
    const Source &source = problem.inputs[number];
    const bool bytes = counts_as_bytes(problem.op, number);
    constant_ = source.slot == kConstant;
    if (constant_) {
      const Type type = bytes ? Type::u8 : native_type(compute_of(problem.common));
      const View all{.rank = 1, .dims = {kChunk}, .strides = {1}};
      Walker(all, size_of(type), values_, 0).fill(source.value, kChunk);
      return;
    }
    type_ = source.type;
    // Bool of a condition: any byte that is not 0.
    common_ = bytes ? source.type : problem.common;
    as_bytes_ = bytes;
    walker_ = Walker(work.inputs[number].view, size_of(type_), work.inputs[number].base, start);
  }

  const void *next(int64_t n) {
    if (constant_) return values_;
    const std::byte *raw = walker_.direct(n);
    if (raw == nullptr) {
      walker_.gather(raw_, n);
      raw = raw_;
    }
    if (as_bytes_) {
      if (size_of(type_) == 1) return raw;
      convert_run(raw, type_, values_, Type::b8, n);
      return values_;
    }
    if (type_ != common_) {
      convert_run(raw, type_, common_values_, common_, n);
      raw = common_values_;
    }
    if (is_native(common_)) return raw;
    load_of(common_)(raw, values_, n);
    return values_;
  }

 private:
  bool constant_ = true, as_bytes_ = false;
  Type type_ = Type::none, common_ = Type::none;
  Walker walker_;
  alignas(64) Buffer raw_;
  alignas(64) Buffer common_values_;
  alignas(64) Buffer values_;
};

void compute(const Work &work, int64_t begin, int64_t end) {
  const Problem &p = work.problem;
  const Compute in = compute_of(p.common);
  const Kernel kernel = kernel_of(p.op, in);
  const int count = inputs_of(p.op);
  const Type result = is_predicate(p.op) ? Type::b8 : p.common;
  const Type to = p.output.type;
  // What the kernel writes is already what the memory wants.
  const bool finished = result == to && (is_predicate(p.op) || is_native(to));

  Input inputs[kMostInputs];
  for (int i = 0; i < count; ++i) inputs[i].begin(work, i, begin);
  alignas(64) Buffer values;
  alignas(64) Buffer rounded;
  alignas(64) Buffer memory;
  Walker out(p.output.view, size_of(to), work.out, begin);
  for (int64_t at = begin; at < end; at += kChunk) {
    const int64_t n = std::min(kChunk, end - at);
    const void *operands[kMostInputs] = {};
    for (int i = 0; i < count; ++i) operands[i] = inputs[i].next(n);
    std::byte *direct = out.direct(n);
    std::byte *place = direct != nullptr ? direct : memory;
    kernel(operands, finished ? place : values, n, p.scaled ? p.factor : nullptr);
    if (!finished) {
      const std::byte *from = values;
      if (result == to) {
        store_of(in, to)(values, place, n);
      } else {
        if (!is_predicate(p.op) && !is_native(result)) {
          store_of(in, result)(values, rounded, n);
          from = rounded;
        }
        convert_run(from, result, place, to, n);
      }
    }
    if (direct == nullptr) out.scatter(memory, n);
  }
}

void move(const Work &work, int64_t begin, int64_t end) {
  const Problem &p = work.problem;
  const Source &source = p.inputs[0];
  const Type to = p.output.type;
  Walker out(p.output.view, size_of(to), work.out, begin);
  if (source.slot == kConstant) {
    alignas(16) std::byte value[16];
    store_of(compute_of(p.common), to)(source.value, value, 1);
    out.fill(value, end - begin);
    return;
  }
  const Type from = source.type;
  Walker in(work.inputs[0].view, size_of(from), work.inputs[0].base, begin);
  alignas(64) Buffer raw;
  alignas(64) Buffer converted;
  for (int64_t at = begin; at < end;) {
    // Where both sides are dense, in one piece.
    const bool dense = from == to && work.inputs[0].view.dense() && p.output.view.dense();
    const int64_t n = dense ? end - at : std::min(kChunk, end - at);
    const std::byte *values = in.direct(n);
    if (values == nullptr) {
      in.gather(raw, n);
      values = raw;
    }
    at += n;
    std::byte *direct = out.direct(n);
    if (direct != nullptr) {
      if (from == to) {
        std::memmove(direct, values, static_cast<size_t>(n) * size_of(to));
      } else {
        convert_run(values, from, direct, to, n);
      }
      continue;
    }
    if (from != to) {
      convert_run(values, from, converted, to, n);
      values = converted;
    }
    out.scatter(values, n);
  }
}

// A matrix read by columns and written by rows: in tiles, so that a cache line of the input serves
// all its rows before it is gone.
constexpr int64_t kTile = 64;

bool is_transposition(const Problem &p, const View &in) {
  return p.op == Op::Move && p.inputs[0].slot != kConstant && p.inputs[0].type == p.output.type &&
         in.rank == 2 && in.strides[0] == 1 && in.dims[0] >= kTile && in.dims[1] >= kTile &&
         p.output.view.dense();
}

template <class Unit>
void transpose(const Work &work, int64_t begin, int64_t end) {
  const View &in = work.inputs[0].view;
  const auto *from = reinterpret_cast<const Unit *>(work.inputs[0].base);
  auto *to = reinterpret_cast<Unit *>(work.out);
  const int64_t columns = in.dims[1], step = in.strides[1];
  constexpr int64_t kSide = sizeof(Unit) <= 4 ? kTile : kTile / 2;  // at most 16 KB of stack
  for (int64_t row = begin; row < end; row += kSide) {
    const int64_t rows = std::min(kSide, end - row);
    for (int64_t column = 0; column < columns; column += kSide) {
      const int64_t n = std::min(kSide, columns - column);
      Unit tile[kSide * kSide];
      for (int64_t c = 0; c < n; ++c) {
        const Unit *line = from + row + (column + c) * step;
        for (int64_t r = 0; r < rows; ++r) tile[r * kSide + c] = line[r];
      }
      for (int64_t r = 0; r < rows; ++r) {
        std::memcpy(to + (row + r) * columns + column, tile + r * kSide,
                    static_cast<size_t>(n) * sizeof(Unit));
      }
    }
  }
}

// Of rows.
void transpose_item(void *context, int64_t item) {
  const Work &work = *static_cast<const Work *>(context);
  const int64_t begin = item * work.item;
  const int64_t end = std::min(begin + work.item, work.inputs[0].view.dims[0]);
  switch (size_of(work.problem.output.type)) {
    case 1: return transpose<uint8_t>(work, begin, end);
    case 2: return transpose<uint16_t>(work, begin, end);
    case 4: return transpose<uint32_t>(work, begin, end);
    case 8: return transpose<uint64_t>(work, begin, end);
    default: return transpose<std::complex<double>>(work, begin, end);
  }
}

void run_item(void *context, int64_t item) {
  const Work &work = *static_cast<const Work *>(context);
  const int64_t begin = item * work.item;
  const int64_t end = std::min(begin + work.item, work.problem.count);
  if (work.problem.op == Op::Move) {
    move(work, begin, end);
  } else {
    compute(work, begin, end);
  }
}

}  // namespace

void settle(Problem &problem) {
  View &out = problem.output.view;
  uint32_t order[kMostViewDims];
  order_by_stride({out.strides, out.rank}, order);
  auto sorted = [&](View &view) {
    View result{.rank = view.rank};
    for (uint32_t i = 0; i < view.rank; ++i) {
      result.dims[i] = view.dims[order[i]];
      result.strides[i] = view.strides[order[i]];
    }
    view = merged(result);
  };
  problem.count = out.count();
  for (int i = 0; i < inputs_of(problem.op); ++i) {
    if (problem.inputs[i].slot != kConstant) sorted(problem.inputs[i].view);
  }
  sorted(out);
}

float estimated_ns(const Problem &problem) {
  float bytes = static_cast<float>(size_of(problem.output.type));
  for (int i = 0; i < inputs_of(problem.op); ++i) {
    if (problem.inputs[i].slot != kConstant) {
      bytes += static_cast<float>(size_of(problem.inputs[i].type));
    }
  }
  return static_cast<float>(problem.count) * (bytes / 8 + cost_of(problem.op));
}

Steady::~Steady() { std::free(copy_); }

bool Steady::take(const Source &input, const Source &output, std::byte *const *addresses) {
  const size_t size = size_of(input.type), output_size = size_of(output.type);
  std::byte *out = start_of(output, addresses);
  base = start_of(input, addresses);
  view = input.view;
  if (base == out && size == output_size && view == output.view) return true;
  const Extent a = extent_of(view, size), b = extent_of(output.view, output_size);
  const bool apart = base + a.end <= out + b.begin || out + b.end <= base + a.begin;
  if (apart) return true;
  const int64_t count = view.count();
  copy_ = std::malloc(static_cast<size_t>(count) * size);
  if (copy_ == nullptr) return false;
  Walker(input.view, size, base, 0).gather(static_cast<std::byte *>(copy_), count);
  base = static_cast<std::byte *>(copy_);
  view = View{.rank = 1, .dims = {count}, .strides = {1}};
  return true;
}

bool run(const Problem &problem, std::byte *const *addresses) noexcept {
  Work work{.problem = problem, .out = start_of(problem.output, addresses), .item = problem.count};
  for (int i = 0; i < inputs_of(problem.op); ++i) {
    const Source &input = problem.inputs[i];
    if (input.slot != kConstant && !work.inputs[i].take(input, problem.output, addresses)) {
      return false;
    }
  }
  const float ns = estimated_ns(problem);
  if (is_transposition(problem, work.inputs[0].view)) {
    run_over_pool(work.inputs[0].view.dims[0], ns, &work.item, transpose_item, &work, kTile);
  } else {
    run_over_pool(problem.count, ns, &work.item, run_item, &work);
  }
  return true;
}

void run_over_pool(int64_t count, float ns, int64_t *item, void (*fn)(void *, int64_t),
                   void *context, int64_t unit) {
  *item = count;
  if (ns < 2 * kSmallNs) return fn(context, 0);
  const auto pieces = static_cast<int64_t>(ns / kSmallNs) + 1;
  *item = std::max(unit, (count / pieces + unit - 1) / unit * unit);
  pool_run((count + *item - 1) / *item, fn, context);
}

}  // namespace pyaclnn::elementwise
