#include "attention/block_step.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "attention/block_rows.hpp"
#include "attention/block_visibility.hpp"

namespace pyaclnn::attention {
namespace {

void hide_scores(const KeyRange &ranges, int32_t keys, float *x) {
  std::fill(x, x + ranges.first, -kInfinity);
  std::fill(x + ranges.last, x + keys, -kInfinity);
}

// Turns the dot products of a block into scores; returns the factor that the softmax step still has
// to apply (the scale, where nothing else needed a pass over the scores).
float adjust_block(const Context &c, const Scratch &s, const Work &work, int64_t t0, int32_t keys,
                   const KeyRange *ranges, bool masked, const State &state) {
  const Problem &p = c.p();
  const Place &place = work.place;
  const float *key_factor = nullptr;
  if (c.plan.k == Plan::Int8 && by_token(p.quant.k)) {
    read_token_scales(c, work.batch, place.g, t0, keys, Part::Key, s.key_factor);
    key_factor = s.key_factor;
  }
  if (c.simple && (c.byte_mask || !masked)) {
    float scale = p.score.scale;
    const bool scaled = masked || key_factor != nullptr || !(scale > 0) || std::isinf(scale);
    if (ranges == nullptr && !scaled) {
      std::fill(state.kept, state.kept + place.rows(), 1.0f);
      return scale;
    }
    uint8_t replaced[kScoreStride];
    for (int32_t query = 0; query < place.queries; ++query) {
      const int32_t row = query * place.heads;
      float *x = s.x + row * kScoreStride;
      if (masked) {
        replaced_keys(p, c.addresses, work.batch, place.i + query, 0, t0, keys, replaced);
        std::fill(replaced + keys, replaced + kScoreStride, uint8_t{0});
      }
      if (scaled) {
        c.kernels.adjust(x, kScoreStride, place.heads, keys, key_factor, scale,
                         masked ? replaced : nullptr, p.mask.value);
      }
      const KeyRange all{0, keys}, &sees = ranges == nullptr ? all : ranges[row];
      const uint8_t *first = replaced + sees.first, *last = replaced + sees.last;
      const bool kept = masked ? std::find(first, last, 0) != last : first < last;
      for (int32_t h = 0; h < place.heads; ++h, x += kScoreStride) {
        hide_scores(sees, keys, x);
        if (kept) state.kept[row + h] = 1;
      }
    }
    return scaled ? 1 : scale;
  }
  if (key_factor != nullptr) {
    c.kernels.adjust(s.x, kScoreStride, place.rows(), keys, key_factor, 1, nullptr, 0);
  }
  for (int32_t row = 0; row < place.rows(); ++row) {
    const auto [first, last] = ranges == nullptr ? KeyRange{0, keys} : ranges[row];
    float *x = s.x + row * kScoreStride;
    hide_scores({first, last}, keys, x);
    if (first == last) continue;
    Adjusted adjusted = adjust_scores(p, c.addresses, work.batch, place.query(row), place.head(row),
                                      t0 + first, last - first, &c.kernels, x + first);
    if (adjusted.kept > 0) state.kept[row] = 1;
  }
  return 1;
}

// The softmax step of a block in which some row does not see every key and a value factor is not
// finite: for the keys that a row does not see the factor is replaced by 0, since 0 * NaN is NaN.
void weights_of_seen(const Context &c, const Scratch &s, const Work &work, int64_t t0, int32_t keys,
                     float scale, const float *factors, const State &state) {
  float own[kScoreStride];
  for (int32_t query = 0; query < work.place.queries; ++query) {
    std::copy_n(factors, kScoreStride, own);
    const KeyRange ranges = visible_keys(work, query, t0, keys);
    for (int32_t j = 0; j < keys; ++j) {
      const bool sees = c.gaps ? visible(c.p(), work.batch, work.place.i + query, t0 + j)
                               : ranges.first <= j && j < ranges.last;
      if (!sees) own[j] = 0;
    }
    const int32_t row = query * work.place.heads;
    c.kernels.weights(s.x + row * kScoreStride, kScoreStride, work.place.heads, keys, scale, own,
                      c.v_pairs, state.m + row, state.l + row, s.factor + row);
  }
}

// The softmax step of many rows, each group of rows up to the last key that any of them sees;
// weights after that key are 0.
void weights_of_rows(const Context &c, const Scratch &s, int32_t rows, int32_t keys, float scale,
                     const float *value_factor, const KeyRange *ranges, const State &state) {
  const int64_t bytes = c.v_pairs ? 2 : sizeof(float);  // of a weight
  for (int32_t first = 0; first < rows;) {
    int32_t last = ranges[first].last, end = first + 1;
    // Those that share a last block of lanes go together.
    while (end < rows && padded(ranges[end].last) == padded(last))
      last = std::max(last, ranges[end++].last);
    float *x = s.x + first * kScoreStride;
    c.kernels.weights(x, kScoreStride, end - first, last, scale, value_factor, c.v_pairs,
                      state.m + first, state.l + first, s.factor + first);
    for (int32_t row = first; row < end; ++row, x += kScoreStride) {
      std::memset(reinterpret_cast<std::byte *>(x) + padded(last) * bytes, 0,
                  static_cast<size_t>((padded(keys) - padded(last)) * bytes));
    }
    first = end;
  }
}

// Rounds the weights of a block to multiples of the head's step, as int8 weights would be;
// `value_factor` as in Kernels::weights.
void quantise_weights(const Context &c, const Place &place, int32_t keys, const float *value_factor,
                      float *x) {
  const Problem &p = c.p();
  for (int32_t row = 0; row < place.rows(); ++row, x += kScoreStride) {
    // OnlineInt8: the greatest weight so far is the 1 of the first block's maximum.
    float step = 1.0f / 127.0f;
    if (p.quant.scores == Quant::StaticInt8) {
      step = load(p.quant.pScale, c.addresses, element(p.quant.pScale, 0, 0, place.head(row), 0));
    }
    for (int32_t j = 0; j < keys; ++j) x[j] = to_int8(x[j] / step) * step;
    if (value_factor == nullptr) continue;
    for (int32_t j = 0; j < keys; ++j) x[j] *= value_factor[j];
  }
}

}  // namespace

bool simple_scores(const Problem &p) {
  return !p.quant.qScale.given() && !p.score.logN.given() && !p.score.clamp &&
         !p.bias.razor.given() && !p.bias.pse.given() && p.bias.alibi == Bias::No;
}

void run_block(const Context &c, const Scratch &s, UnmaskedIntervals &unmasked, const Work &work,
               int64_t t0, int32_t keys, BlockRows &rows, const BlockRows *next, const State &state,
               const State &before) {
  const Problem &p = c.p();
  const Plan &plan = c.plan;
  const Kernels &kernels = c.kernels;
  const int32_t heads = work.place.rows();  // to the kernels every row is a head
  auto dim = static_cast<int32_t>(p.headDim), dim_v = static_cast<int32_t>(p.headDimV);
  constexpr Rows kNoRows{nullptr, 0, nullptr};

  const VisibleBlock view(c, unmasked, work, t0, keys, state, before);
  if (view.keys == 0) return;
  const KeyRange *ranges = view.ranges;
  keys = view.keys;
  const bool v_converted =
      p.cache.valueIsKeyPrefix ? plan.k == Plan::Converted : plan.v == Plan::Converted;
  const Type v_type = v_converted ? Type::f32 : value_type(p);
  auto multiply_keys = [&](const float *q, const Rows &from, const Rows &ahead, Type type,
                           int32_t columns, bool add) {
    const auto element =
        static_cast<size_t>(plan.k == Plan::Converted ? Element::F32 : element_of(type));
    if (work.panel) {
      auto multiply = c.k_pairs ? kernels.panel_scores_pairs : kernels.panel_scores[element];
      multiply(q, padded(columns), heads, ranges, from, ahead, s.k_offset, keys, columns, add,
               s.panel, s.x, kScoreStride);
    } else {
      auto multiply = c.k_pairs ? kernels.scores_pairs : kernels.scores[element];
      multiply(q, padded(columns), heads, from, ahead, s.k_offset, keys, columns, add, s.x,
               kScoreStride);
    }
  };
  const bool k_ahead = next != nullptr && !copies(plan, Part::Key);
  multiply_keys(s.q, rows.k, k_ahead ? next->k : kNoRows, key_type(p), dim, false);
  if (p.ropeDim > 0) {
    multiply_keys(s.rope, rows.rope, k_ahead ? next->rope : kNoRows, p.kRope.type,
                  static_cast<int32_t>(p.ropeDim), true);
  }
  const float scale = adjust_block(c, s, work, t0, keys, ranges, view.masked, state);
  const float *value_factor = nullptr;
  if (plan.v == Plan::Int8 && by_token(p.quant.v)) {
    read_token_scales(c, work.batch, work.place.g, t0, keys, Part::Value, s.value_factor);
    value_factor = s.value_factor;
  }
  const bool in_int8 = p.quant.scores != Quant::Float;
  if (!view.whole && !in_int8 && value_factor != nullptr &&
      !all_finite(Type::f32, value_factor, keys)) {
    weights_of_seen(c, s, work, t0, keys, scale, value_factor, state);
  } else if (ranges == nullptr || !work.panel || in_int8) {
    kernels.weights(s.x, kScoreStride, heads, keys, scale, in_int8 ? nullptr : value_factor,
                    c.v_pairs, state.m, state.l, s.factor);
  } else {
    weights_of_rows(c, s, heads, keys, scale, value_factor, ranges, state);
  }
  if (in_int8) quantise_weights(c, work.place, keys, value_factor, s.x);
  auto v_element = static_cast<size_t>(element_of(v_type));
  const Rows ahead = next != nullptr && !copies(plan, Part::Value) && !p.cache.valueIsKeyPrefix
                         ? next->v
                         : kNoRows;
  auto multiply = [&](int32_t first, int32_t count, const Rows &from) {
    float *x = s.x + first * kScoreStride, *acc = state.acc + first * padded(dim_v);
    if (work.panel) {
      auto values = c.v_pairs ? kernels.panel_values_pairs : kernels.panel_values[v_element];
      values(x, kScoreStride, count, ranges == nullptr ? nullptr : ranges + first, from, ahead,
             s.v_offset, keys, dim_v, s.factor + first, s.panel, acc, padded(dim_v));
      return;
    }
    auto values = c.v_pairs ? kernels.values_pairs : kernels.values[v_element];
    values(x, kScoreStride, count, from, ahead, s.v_offset, keys, dim_v, s.factor + first, acc,
           padded(dim_v));
  };
  if (view.whole) {
    multiply(0, heads, rows.v);
    return;
  }
  const Rows stored = rows.v;
  const void *stored_at[kBlock];
  if (stored.at != nullptr) std::copy_n(stored.at, keys, stored_at);
  auto hide = [&](int32_t first, int32_t last) {
    rows.v = stored.at != nullptr ? Rows{nullptr, 0, stored_at} : stored;
    return hide_values(c, s, work, t0, keys, v_type, first, last, rows);
  };
  const Rows hidden{nullptr, 0, rows.v_at};
  if (hide(0, work.place.queries)) {
    multiply(0, heads, hidden);
    return;
  }
  for (int32_t query = 0; query < work.place.queries; ++query) {
    hide(query, query + 1);
    multiply(query * work.place.heads, work.place.heads, hidden);
  }
}

}  // namespace pyaclnn::attention
