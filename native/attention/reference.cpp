// One head of one query row at a time, in plain float32 loops.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>

#include "attention/reference.hpp"
#include "attention/items.hpp"
#include "attention/device_data.hpp"
#include "attention/output.hpp"
#include "attention/scores.hpp"

namespace pyaclnn::attention {
namespace {

constexpr int64_t kInt8Block = 128;  // keys of one step of the int8 probability forms

struct Free {
  void operator()(float *memory) const { std::free(memory); }
};
using Floats = std::unique_ptr<float[], Free>;

Floats allocate(int64_t count) {
  return Floats(static_cast<float *>(std::malloc(static_cast<size_t>(count) * sizeof(float))));
}

// Eight sums side by side: a single one would lose several bits over a long row.
struct Dot {
  float part[8] = {};
  void add(int64_t d, float product) { part[d & 7] += product; }
  float total() const {
    return ((part[0] + part[1]) + (part[2] + part[3])) +
           ((part[4] + part[5]) + (part[6] + part[7]));
  }
};

float key_dot(const Problem &p, Addresses addresses, const Batch &batch, int64_t g, int64_t t,
              const float *q, const float *q_rope) {
  Row row = locate(p, addresses, batch, g, t, Part::Key);
  Dequant dequant = dequant_of(p, batch, row, g, t, Part::Key);
  const std::byte *base = address(addresses, row.view->slot);
  Dot dot, rope;
  for (int64_t d = 0; d < p.headDim; ++d) {
    dot.add(d, q[d] * dequant.value(addresses, load(row.view->type, base, row.at(d)), d));
  }
  if (p.ropeDim == 0) return dot.total();
  row = locate(p, addresses, batch, g, t, Part::Rope);
  base = address(addresses, row.view->slot);
  for (int64_t d = 0; d < p.ropeDim; ++d) {
    rope.add(d, q_rope[d] * load(row.view->type, base, row.at(d)));
  }
  return dot.total() + rope.total();
}

// o += weight * v[t]
void add_value(const Problem &p, Addresses addresses, const Batch &batch, int64_t g, int64_t t,
               float weight, float *o) {
  Part part = p.cache.valueIsKeyPrefix ? Part::Key : Part::Value;
  Row row = locate(p, addresses, batch, g, t, part);
  Dequant dequant = dequant_of(p, batch, row, g, t, part);
  const std::byte *base = address(addresses, row.view->slot);
  for (int64_t d = 0; d < p.headDimV; ++d) {
    o[d] += weight * dequant.value(addresses, load(row.view->type, base, row.at(d)), d);
  }
}

// Sums over keys in steps of 128, so that a long one does not drown its last terms.
struct Sums {
  float *total, *step;  // headDimV values each
  int64_t columns, in_step = 0;
  float weight = 0, step_weight = 0;

  void close() {
    for (int64_t d = 0; d < columns; ++d) total[d] += step[d];
    std::fill(step, step + columns, 0.0f);
    weight += step_weight;
    step_weight = 0;
    in_step = 0;
  }
  void next_key() {
    if (++in_step == 128) close();
  }
};

struct Blockwise {
  float m, sum;
};

// The second product with probabilities in int8, 128 keys at a time with a running maximum.
Blockwise int8_values(const Problem &p, Addresses addresses, const Batch &batch, int64_t g,
                      const float *x, float p_scale, float *o) {
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  float m = kNone, sum = 0, a = 0;
  for (int64_t t0 = 0; t0 < batch.keys; t0 += kInt8Block) {
    int64_t end = std::min(t0 + kInt8Block, batch.keys);
    float block = kNone;
    for (int64_t t = t0; t < end; ++t) block = std::max(block, x[t]);
    if (block == kNone) continue;
    float m_new = std::max(m, block), factor = std::exp(m - m_new);
    m = m_new;
    sum *= factor;
    for (int64_t d = 0; d < p.headDimV; ++d) o[d] *= factor;
    for (int64_t t = t0; t < end; ++t) a = std::max(a, std::exp(x[t] - m));
    float step = p.quant.scores == Quant::OnlineInt8 ? a / 127.0f : p_scale;
    for (int64_t t = t0; t < end; ++t) {
      if (x[t] == kNone) continue;
      float e = std::exp(x[t] - m);
      sum += e;
      add_value(p, addresses, batch, g, t, to_int8(e / step) * step, o);
    }
  }
  return {m, sum};
}

struct Context {
  const Problem &p;
  Addresses addresses;
  std::atomic<bool> exhausted = false;
};

void head_of_batch(void *context, int64_t item) {
  auto &c = *static_cast<Context *>(context);
  const int64_t n = item % c.p.heads;
  Batch batch = batch_of(c.p, c.addresses, item / c.p.heads, n / (c.p.heads / c.p.kvHeads));
  for (int64_t i = 0; i < batch.queries; ++i) {
    if (!reference_row(c.p, c.addresses, batch, i, n)) c.exhausted = true;
  }
}

}  // namespace

bool reference_row(const Problem &p, Addresses addresses, const Batch &batch, int64_t i,
                   int64_t n) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  int64_t g = n / (p.heads / p.kvHeads), keys = batch.keys;
  if (keys == 0) {
    if (p.empty.noKeys != Empty::Untouched) store_empty_row(p, addresses, batch, i, n);
    return true;
  }
  Floats memory = allocate(keys + p.headDim + p.ropeDim + 2 * p.headDimV);
  if (memory == nullptr) return false;
  float *x = memory.get(), *q = x + keys, *q_rope = q + p.headDim, *o = q_rope + p.ropeDim;

  load_query(p, addresses, batch, i, n, q, q_rope);
  std::fill(x, x + keys, -kInfinity);
  std::fill(o, o + 2 * p.headDimV, 0.0f);
  Sums sums{o, o + p.headDimV, p.headDimV};
  Range range = visible_range(p, batch, i);
  int64_t visible_keys = 0, kept = 0;
  for (int64_t t0 = range.first; t0 < range.last; t0 += kAdjustMax) {
    int64_t count = std::min(kAdjustMax, range.last - t0);
    for (int64_t j = 0; j < count; ++j) {
      x[t0 + j] = key_dot(p, addresses, batch, g, t0 + j, q, q_rope);
    }
    Adjusted adjusted = adjust_scores(p, addresses, batch, i, n, t0, count, nullptr, x + t0);
    visible_keys += adjusted.visible;
    kept += adjusted.kept;
  }

  float m = -kInfinity;
  bool has_nan = false;
  for (int64_t t = 0; t < keys; ++t) {
    m = x[t] > m ? x[t] : m;
    has_nan |= std::isnan(x[t]);
  }
  float sink = 0;
  if (p.score.sink.given()) {
    sink = load(p.score.sink, addresses, element(p.score.sink, 0, 0, n, 0));
    m = std::max(m, sink);
  }
  float pv_scale = 1;
  if (p.quant.pvScale.given()) {
    pv_scale = load(p.quant.pvScale, addresses, element(p.quant.pvScale, 0, 0, n, 0));
  }

  bool nothing = visible_keys == 0 && !p.score.sink.given();
  bool all_masked = kept == 0 || (m == -kInfinity && !has_nan);
  if (nothing || (all_masked && p.empty.allMasked != Empty::Formula)) {
    if (p.empty.allMasked == Empty::Untouched) return true;
    if (p.empty.allMasked == Empty::Mean) {
      for (int64_t t = 0; t < keys; ++t) {
        add_value(p, addresses, batch, g, t, 1, sums.step);
        sums.next_key();
      }
      sums.close();
      for (int64_t d = 0; d < p.headDimV; ++d) o[d] = o[d] / static_cast<float>(keys) * pv_scale;
    }
    store_output(p, addresses, batch, i, n, o);
    store_statistics(p, addresses, batch, i, n, p.empty.lseAllMasked, p.empty.maxAllMasked,
                     p.empty.sumAllMasked);
    return true;
  }

  if (has_nan && !std::isinf(m)) m = std::numeric_limits<float>::quiet_NaN();
  float sum = 0, p_scale = 1;
  if (p.quant.pScale.given()) {
    p_scale = load(p.quant.pScale, addresses, element(p.quant.pScale, 0, 0, n, 0));
  }
  if (p.quant.scores == Quant::StaticInt8 || p.quant.scores == Quant::OnlineInt8) {
    Blockwise result = int8_values(p, addresses, batch, g, x, p_scale, o);
    m = result.m;
    sum = result.sum;
  } else {
    for (int64_t t = 0; t < keys; ++t) {
      if (x[t] == -kInfinity && m != -kInfinity && !visible(p, batch, i, t)) continue;
      float e = std::exp(x[t] - m);
      float weight = p.quant.scores == Quant::TimesInt8 ? to_int8(e * p_scale) : e;
      sums.step_weight += e;
      add_value(p, addresses, batch, g, t, weight, sums.step);
      sums.next_key();
    }
    sums.close();
    sum = sums.weight;
    if (p.score.sink.given()) sum += std::exp(sink - m);
  }
  for (int64_t d = 0; d < p.headDimV; ++d) o[d] = o[d] / sum * pv_scale;
  store_output(p, addresses, batch, i, n, o);
  store_statistics(p, addresses, batch, i, n, m + std::log(sum), m, sum);
  return true;
}

Outcome run_reference(const Problem &problem, std::span<std::byte *const> addresses) noexcept {
  Outcome outcome = check_device_data(problem, addresses);
  if (outcome.what != Fault::Ok) return outcome;
  store_outside(problem, addresses);
  Context context{problem, addresses};
  kernels::record_threads(
      run_items(is_small(problem), problem.batch * problem.heads, head_of_batch, &context));
  return {context.exhausted ? Fault::Memory : Fault::Ok, 0, 0, 0, 0};
}

}  // namespace pyaclnn::attention
