// The data shared by the files of the block engine: the run and its plan, the memory of a lane (a
// thread's share), and the current work item. blocks.cpp schedules and walks, block_rows.cpp
// locates keys, values and queries, block_visibility.cpp decides which keys a row sees,
// block_step.cpp computes one block.
#pragma once

#include <algorithm>
#include <atomic>
#include <limits>

#include "attention/engine.hpp"
#include "attention/geometry.hpp"
#include "attention/scores.hpp"
#include "kernels/kernels.hpp"

namespace pyaclnn::attention {

using kernels::Element;
using kernels::Kernels;
using kernels::KeyRange;
using kernels::Rows;

inline constexpr int64_t kBlock = kAdjustMax;  // keys of one softmax step
inline constexpr int64_t kItemRows = 128;      // heads times query rows of one item at most
inline constexpr int64_t kScoreStride = kBlock + kernels::kLane;
inline constexpr int64_t kRowsMax = kBlock + kernels::kLane;
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

inline int64_t padded(int64_t count) {
  return (count + kernels::kLane - 1) / kernels::kLane * kernels::kLane;
}

inline bool kernel_type(Type type) {
  return type == Type::f16 || type == Type::bf16 || type == Type::f32;
}

inline int64_t group(const Problem &p) { return p.heads / p.kvHeads; }

inline bool by_token(Quant::By by) { return by >= Quant::Token; }

// Rows of one item at most: all its heads for its first query row, then for the next.
inline int64_t item_rows(const Plan &plan) { return plan.tile * plan.queries; }

// Floats of the softmax state of one item: m, l, whether any key was kept, and acc.
inline int64_t state_floats(const Plan &plan) {
  return padded(3 * item_rows(plan)) + item_rows(plan) * padded(plan.problem.headDimV);
}

struct State {
  float *m, *l, *kept, *acc;
  State(const Plan &plan, float *memory)
      : m(memory),
        l(m + item_rows(plan)),
        kept(l + item_rows(plan)),
        acc(memory + padded(3 * item_rows(plan))) {}
  void reset(const Plan &plan) const {
    std::fill(m, l, -kInfinity);
    std::fill(l, acc + item_rows(plan) * padded(plan.problem.headDimV), 0.0f);
  }
};

// Whether the kernels read copies of the rows, made just before their block is computed.
inline bool copies(const Plan &plan, Part part) {
  return part == Part::Value ? plan.v == Plan::Converted || plan.v_gathered
                             : plan.k == Plan::Converted || plan.k_gathered;
}

// Where the rows of one block are.
struct BlockRows {
  Rows k, rope, v;
  const void *k_at[kRowsMax], *rope_at[kRowsMax], *v_at[kRowsMax];
};

inline const void *row_at(const Rows &rows, int64_t j) {
  return rows.at != nullptr ? rows.at[j] : rows.base + j * rows.step;
}

// Memory of one lane, in floats.
struct Scratch {
  float *q, *rope, *x, *factor, *current, *running, *zeros;
  float *k_scale, *k_offset, *v_scale, *v_offset;  // per column, or of one key after the other
  float *key_factor, *value_factor;                // per key of the block
  float *k, *k_rope, *v;                           // copies of rows
  float *panel;                                    // what the kernels pack
  int64_t floats;
  Scratch(const Plan &plan, float *memory) {
    const Problem &p = plan.problem;
    int64_t used = 0;
    auto take = [&](bool wanted, int64_t count) {
      if (!wanted) return static_cast<float *>(nullptr);
      float *at = memory != nullptr ? memory + used : nullptr;
      used += padded(count);
      return at;
    };
    int64_t rows = item_rows(plan), dim = padded(p.headDim), dim_v = padded(p.headDimV);
    bool k_stored = plan.k == Plan::Stored, v_stored = plan.v == Plan::Stored;
    q = take(true, rows * dim);
    rope = take(true, rows * padded(p.ropeDim));
    x = take(true, rows * kScoreStride);
    factor = take(true, rows);
    current = take(true, state_floats(plan));
    running = take(true, state_floats(plan));
    zeros = take(true, dim_v);
    k_scale = take(!k_stored, dim);
    k_offset = take(!k_stored, dim);
    v_scale = take(!v_stored, dim_v);
    v_offset = take(!v_stored, dim_v);
    key_factor = take(plan.k == Plan::Int8, kScoreStride);
    value_factor = take(plan.v == Plan::Int8, kScoreStride);
    bool k_copied = copies(plan, Part::Key), v_copied = copies(plan, Part::Value);
    k = take(k_copied, kBlock * dim);
    k_rope = take(k_copied, kBlock * padded(p.ropeDim));
    v = take(v_copied, kBlock * dim_v);
    panel = take(plan.panel, kernels::kPanelLanes * std::max({dim, padded(p.ropeDim), kBlock}));
    floats = used;
  }
};

struct Context {
  const Plan &plan;
  Addresses addresses;
  const Kernels &kernels;
  float *scratch;                     // lanes
  float *partials;                    // one state per item (split mode)
  std::atomic<int32_t> *done;         // finished items per place (split mode)
  std::atomic<float> *max_key_norms;  // per batch and kv head, once known (uses_mask_intervals)
  int64_t splits;                     // of the longest batch (split mode), else 1
  int64_t span;                       // keys of one partial result
  int64_t items;
  bool gaps;                 // Visible drops some keys of a row's range
  bool simple;               // nothing but the scale and the mask lies between the two products
  bool byte_mask;            // ... and the kernels read that mask
  bool uses_mask_intervals;  // what a mask hides may be left out (VisibleBlock)
  bool k_pairs, v_pairs;     // the level's products of bf16 pairs serve
  bool prefetches;           // the rows of the next block
  std::atomic<int64_t> next = 0;
  std::atomic<int32_t> threads = 0;  // that had an item to work on
  std::atomic<bool> exhausted = false;

  const Problem &p() const { return plan.problem; }
};

// One (batch, some query rows, kv head, tile of its query heads).
struct Place {
  int64_t b, i, g, first;  // first query row, first query head
  int32_t queries, heads;
  int32_t rows() const { return queries * heads; }
  int64_t query(int32_t row) const { return i + row / heads; }
  int64_t head(int32_t row) const { return first + row % heads; }
};

// The keys [first, last) of one place, a split of it or all.
struct Work {
  int64_t index;  // of the place
  Place place;
  Batch batch;
  Range ranges[kItemRows];  // what each query row sees
  Range range;              // what any sees
  bool panel;               // its rows are enough for packing keys and values to pay
  float query_norm;         // largest norm of its query rows (uses_mask_intervals)
  int64_t first, last;
};

}  // namespace pyaclnn::attention
