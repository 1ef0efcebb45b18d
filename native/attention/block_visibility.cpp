#include "attention/block_visibility.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "attention/block_rows.hpp"

namespace pyaclnn::attention {
namespace {

// An upper bound of a vector's norm from its squared norm: rounding, and squares that are
// subnormal, are allowed for.
float norm_bound(float squares) { return std::sqrt(squares + 1e-38f) * 1.001f; }

// The largest norm of a key of a batch and kv head; infinity if a key or value is not finite,
// because such a value reaches the result whatever its weight is. Computed once per run.
float max_key_norm(const Context &c, const Work &work) {
  const Problem &p = c.p();
  std::atomic<float> &known = c.max_key_norms[work.place.b * p.kvHeads + work.place.g];
  float longest = known.load(std::memory_order_relaxed);
  if (longest >= 0) return longest;
  BlockRows rows;
  float most = 0;
  for (int64_t t0 = 0; t0 < work.batch.keys; t0 += kBlock) {
    const auto keys = static_cast<int32_t>(std::min(kBlock, work.batch.keys - t0));
    find_rows(c, work, t0, keys, rows);
    auto squares = [&](Type type, const Rows &of, int64_t dim) {
      return c.kernels.max_squared_norm(element_of(type), of, keys, static_cast<int32_t>(dim));
    };
    float sum = squares(key_type(p), rows.k, p.headDim);
    if (p.ropeDim > 0) sum += squares(p.kRope.type, rows.rope, p.ropeDim);
    const float values =
        p.cache.valueIsKeyPrefix ? sum : squares(value_type(p), rows.v, p.headDimV);
    most = std::isfinite(sum) && std::isfinite(values) ? std::max(most, sum) : kInfinity;
  }
  longest = norm_bound(most);
  known.store(longest, std::memory_order_relaxed);
  return longest;
}

bool all_visible(const Context &c, const Work &work, int64_t t0, int32_t keys) {
  if (c.gaps) return false;
  for (int32_t query = 0; query < work.place.queries; ++query) {
    if (work.ranges[query].first > t0 || work.ranges[query].last < t0 + keys) return false;
  }
  return true;
}

// Replaces a mask by intervals. If the mask leaves each row one interval of the block's keys (a
// causal mask does), and is so far below every possible score that the masked keys get weight 0,
// `ranges` becomes these intervals and the block needs no mask. The bound on the scores follows
// from the norms of queries and keys and from the maxima of preceding keys (`state`; `before`: of
// another partial result). False, with `ranges` unchanged, if that cannot be shown.
bool intervals_from_mask(const Context &c, UnmaskedIntervals &known, const Work &work, int64_t t0,
                         int32_t keys, const State &state, const State &before, KeyRange *ranges) {
  const Problem &p = c.p();
  const Place &place = work.place;
  constexpr float kNoWeight = 105;  // exp of less is 0 (Kernels::weights)
  KeyRange left[kItemRows];
  bool hides = false;
  float most = -kInfinity;
  for (int32_t query = 0; query < place.queries; ++query) {
    const KeyRange &all = ranges[query * place.heads];
    KeyRange &now = left[query];
    now = all;
    if (all.first == all.last) continue;
    const UnmaskedInterval &u = known.find(p, c.addresses, work.batch, place.i + query, t0, keys);
    if (!u.known) return false;
    now.first = std::clamp(u.first, all.first, all.last);
    now.last = std::clamp(u.last, now.first, all.last);
    if (now.first == all.first && now.last == all.last) continue;
    if (!(u.most < -kNoWeight)) return false;
    most = std::max(most, u.most);
    hides = true;
  }
  if (hides) {
    const float bound = work.query_norm * max_key_norm(c, work) * p.score.scale;
    if (!std::isfinite(bound)) return false;
    const float highest = p.mask.how == Mask::Replace ? most : most + bound;
    for (int32_t row = 0; row < place.rows(); ++row) {
      const KeyRange &all = ranges[row], &now = left[row / place.heads];
      if (now.first == all.first && now.last == all.last) continue;
      float least = std::max(state.m[row], before.m[row]);
      if (now.first < now.last) least = std::max(least, -bound);
      if (!(highest - least < -kNoWeight)) return false;
    }
  }
  for (int32_t row = 0; row < place.rows(); ++row) {
    if (p.mask.how != Mask::Replace && ranges[row].first < ranges[row].last) state.kept[row] = 1;
    ranges[row] = left[row / place.heads];
  }
  return true;
}

}  // namespace

KeyRange visible_keys(const Work &work, int32_t query, int64_t t0, int32_t keys) {
  const Range &range = work.ranges[query];
  auto first = std::clamp<int64_t>(range.first - t0, 0, keys);
  return {static_cast<int32_t>(first),
          static_cast<int32_t>(std::clamp<int64_t>(range.last - t0, first, keys))};
}

bool all_finite(Type type, const void *row, int64_t count) {
  // The largest exponent; signed words, whose maximum every processor finds side by side.
  auto none = [&](auto exponent) {
    using Word = decltype(exponent);
    Word most = 0;
    for (int64_t d = 0; d < count; ++d) {
      Word word;
      std::memcpy(&word, static_cast<const char *>(row) + d * static_cast<int64_t>(sizeof word),
                  sizeof word);
      most = std::max(most, static_cast<Word>(word & exponent));
    }
    return most != exponent;
  };
  switch (type) {
    case Type::f16: return none(int16_t{0x7c00});
    case Type::bf16: return none(int16_t{0x7f80});
    case Type::f32: return none(int32_t{0x7f800000});
    default: return true;
  }
}

bool hide_values(const Context &c, const Scratch &s, const Work &work, int64_t t0, int32_t keys,
                 Type type, int32_t first, int32_t last, BlockRows &rows) {
  // Ranges move with the rows and leave no gap, so the keys that some and that all rows see are
  // ranges as well.
  Range some{work.batch.keys, 0}, every{0, work.batch.keys};
  for (int32_t query = first; query < last; ++query) {
    const Range &range = work.ranges[query];
    every = {std::max(every.first, range.first), std::min(every.last, range.last)};
    if (range.first >= range.last) continue;
    some = {std::min(some.first, range.first), std::max(some.last, range.last)};
  }
  auto in = [](const Range &range, int64_t t) { return range.first <= t && t < range.last; };
  bool agree = true;
  for (int32_t j = 0; j < keys; ++j) {
    const int64_t t = t0 + j;
    bool by_some = in(some, t), by_all = in(every, t);
    if (c.gaps) {
      int32_t seeing = 0;
      for (int32_t query = first; query < last; ++query) {
        seeing += visible(c.p(), work.batch, work.place.i + query, t);
      }
      by_some = seeing > 0;
      by_all = seeing == last - first;
    }
    const void *row = row_at(rows.v, j);
    rows.v_at[j] = by_some ? row : s.zeros;
    if (by_some && !by_all) agree &= all_finite(type, row, c.p().headDimV);
  }
  return agree;
}

bool uses_mask_intervals(const Plan &plan) {
  const Problem &p = plan.problem;
  const Mask &mask = p.mask;
  return plan.panel && mask.how != Mask::None && mask.m.h == 0 && mask.fractal == 0 &&
         !mask.slopes.given() && mask.grow == Mask::Fixed && plan.k == Plan::Stored &&
         plan.v == Plan::Stored && !copies(plan, Part::Key) && !copies(plan, Part::Value) &&
         p.quant.scores == Quant::Float && p.score.scale > 0;
}

float max_query_norm(const Context &c, const Scratch &s, const Work &work) {
  const Problem &p = c.p();
  auto most = [&](const float *q, int64_t dim) {
    const auto step = static_cast<int64_t>(sizeof(float)) * padded(dim);
    return c.kernels.max_squared_norm(c.k_pairs ? Element::BF16 : Element::F32,
                                      {reinterpret_cast<const char *>(q), step, nullptr},
                                      work.place.rows(), static_cast<int32_t>(dim));
  };
  return norm_bound(most(s.q, p.headDim) + (p.ropeDim > 0 ? most(s.rope, p.ropeDim) : 0));
}

VisibleBlock::VisibleBlock(const Context &c, UnmaskedIntervals &unmasked, const Work &work,
                           int64_t t0, int32_t keys, const State &state, const State &before)
    : whole(all_visible(c, work, t0, keys)), masked(c.p().mask.how != Mask::None), keys(keys) {
  const Place &place = work.place;
  const bool narrows = c.uses_mask_intervals && work.panel;
  if (narrows && !mask_given(c.p().mask, work.batch, place.i, place.i + place.queries - 1, t0,
                             t0 + keys - 1)) {
    masked = false;
  }
  if (whole && !(narrows && masked)) return;
  const int32_t rows = place.rows();
  for (int32_t row = 0; row < rows; ++row) {
    rows_[row] = whole ? KeyRange{0, keys} : visible_keys(work, row / place.heads, t0, keys);
  }
  if (narrows && masked && intervals_from_mask(c, unmasked, work, t0, keys, state, before, rows_)) {
    masked = false;
    this->keys = 0;
    for (int32_t row = 0; row < rows; ++row) {
      KeyRange &of_row = rows_[row];
      if (of_row.first == of_row.last) of_row = {0, 0};
      this->keys = std::max(this->keys, of_row.last);
    }
  }
  auto everything = [&](const KeyRange &of_row) {
    return of_row.first == 0 && of_row.last == this->keys;
  };
  if (!std::all_of(rows_, rows_ + rows, everything)) ranges = rows_;
}

}  // namespace pyaclnn::attention
