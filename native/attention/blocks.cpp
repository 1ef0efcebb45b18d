#include "attention/blocks.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>

#include "attention/items.hpp"
#include "attention/reference.hpp"
#include "attention/scores.hpp"
#include "support/cache.hpp"

namespace pyaclnn::attention {
namespace {

using kernels::Element;
using kernels::Kernels;
using kernels::Rows;
using kernels::Seen;

constexpr int64_t kBlock = kAdjustMax;   // keys of one softmax step
constexpr int64_t kSplit = 1024;         // keys of one partial result; a multiple of kBlock
constexpr int64_t kTileMax = 16;         // query heads of one item: they share a pass over the keys
constexpr int64_t kItemRows = 128;       // ... with those of further query rows, up to so many
constexpr int64_t kParallelPlaces = 64;  // with fewer places, their splits run side by side
constexpr int64_t kLanesMax = 64;
constexpr uint64_t kScratchMax = uint64_t{32} << 20;
constexpr int64_t kPartialsMax = int64_t{1}
                                 << 30;  // bytes; beyond them one thread joins as it goes
constexpr int64_t kScoreStride = kBlock + kernels::kLane;
constexpr int64_t kRowsMax = kBlock + kernels::kLane;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

int64_t padded(int64_t count) {
  return (count + kernels::kLane - 1) / kernels::kLane * kernels::kLane;
}

bool kernel_type(Type type) { return type == Type::f16 || type == Type::bf16 || type == Type::f32; }

int64_t group(const Problem &p) { return p.heads / p.kvHeads; }

bool by_token(Quant::By by) { return by >= Quant::Token; }

// Rows of one item at most: all its heads for its first query row, then for the next.
int64_t item_rows(const Plan &plan) { return plan.tile * plan.queries; }

// Floats of the softmax state of one item: m, l, whether any key was kept, and acc.
int64_t state_floats(const Plan &plan) {
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

// Whether the kernels read copies of the rows, made when their block is due.
bool copies(const Plan &plan, Part part) {
  return part == Part::Value ? plan.v == Plan::Converted || plan.v_gathered
                             : plan.k == Plan::Converted || plan.k_gathered;
}

// Where the rows of one block are.
struct BlockRows {
  Rows k, rope, v;
  const void *k_at[kRowsMax], *rope_at[kRowsMax], *v_at[kRowsMax];
};

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
  float *scratch;                    // lanes
  float *partials;                   // one state per item (split mode)
  std::atomic<int32_t> *done;        // finished items per place (split mode)
  std::atomic<float> *longest_keys;  // per batch and kv head, once known (reads_mask)
  int64_t splits;                    // of the longest batch (split mode), else 1
  int64_t span;                      // keys of one partial result
  int64_t items;
  bool gaps;              // Visible drops some keys of a row's range
  bool simple;            // nothing but the scale and the mask lies between the two products
  bool byte_mask;         // ... and the kernels read that mask
  bool reads_mask;        // what a mask hides may be left out (hidden_by_mask)
  bool k_pairs, v_pairs;  // the level's products of bf16 pairs serve
  bool prefetches;        // the rows of the next block
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
int64_t tiles_of(const Plan &plan) { return (group(plan.problem) + plan.tile - 1) / plan.tile; }
int64_t parts_of(const Plan &plan) {  // of the query rows of a batch
  return (plan.problem.queryMax + plan.queries - 1) / plan.queries;
}
int64_t places_of(const Plan &plan) {
  const Problem &p = plan.problem;
  return p.batch * parts_of(plan) * p.kvHeads * tiles_of(plan);
}
// Places with the same keys follow each other. The last query rows come first: where they see the
// most keys, the smallest items end the run.
Place place_of(const Plan &plan, int64_t index) {
  const Problem &p = plan.problem;
  const int64_t parts = parts_of(plan), part = parts - 1 - index % parts;
  const int64_t tile = index / parts % tiles_of(plan), pair = index / parts / tiles_of(plan);
  const int64_t g = pair % p.kvHeads, first = tile * plan.tile;
  return {pair / p.kvHeads,
          part * plan.queries,
          g,
          g * group(p) + first,
          static_cast<int32_t>(plan.queries),
          static_cast<int32_t>(std::min(plan.tile, group(p) - first))};
}

// The keys [first, last) of one place, a split of it or all.
struct Work {
  int64_t index;  // of the place
  Place place;
  Batch batch;
  Range ranges[kItemRows];  // what each query row sees
  Range range;              // what any sees
  bool panel;               // its rows are enough for packing keys and values to pay
  float q_most;             // the longest of them (reads_mask)
  int64_t first, last;
};

// Weights in int8 follow from the running maximum over all keys before.
int64_t span_of(const Problem &p) {
  return p.quant.scores == Quant::Float ? kSplit : std::numeric_limits<int64_t>::max();
}

int64_t splits_of(const Range &range) {
  return range.first < range.last ? (range.last - 1) / kSplit - range.first / kSplit + 1 : 0;
}

Rows plain_rows(const Context &c, const Batch &batch, int64_t g, int64_t t0, int64_t count,
                Part part, const void **at) {
  const Problem &p = c.p();
  for (int64_t j = 0; j < count;) {
    int64_t t = t0 + j, run = count - j;
    Row row = locate(p, c.addresses, batch, g, t, part);
    if (t < p.prefixLen) {
      run = std::min(run, p.prefixLen - t);
    } else {
      if (p.cache.form == Cache::Paged) run = std::min(run, p.cache.blockSize - row.row);
      if (p.cache.ring) {
        run = std::min(run, p.cache.window - (batch.key_begin + t - p.prefixLen) % p.cache.window);
      }
    }
    // With one row the stride may be anything.
    int64_t bytes = type_bits(row.view->type) / 8, step = run > 1 ? row.view->s * bytes : 0;
    auto *base =
        reinterpret_cast<const char *>(address(c.addresses, row.view->slot)) + row.base * bytes;
    if (run == count) return {base, step, nullptr};
    const void **to = at + j;
    for (int64_t k = 0; k < run; ++k) to[k] = base + k * step;
    j += run;
  }
  // The block before this one prefetches by its own number of keys, and a tile of scores reads up
  // to kLane rows behind the last: both find the last row again.
  std::fill(at + count, at + kRowsMax, at[count - 1]);
  return {nullptr, 0, at};
}

// Rows of whole bytes with their columns side by side.
bool bytewise(const Problem &p, Part part) {
  const Cache &cache = p.cache;
  if ((part == Part::Rope ? cache.ropeFractal : cache.fractal) != 0) return false;
  auto good = [](const View &view) {
    return view.d == 1 && (kernel_type(view.type) || view.type == Type::i8);
  };
  if (part == Part::Rope) return good(p.kRope);
  bool value = part == Part::Value;
  if (p.prefixLen > 0 && !good(value ? p.vPrefix : p.kPrefix)) return false;
  if (cache.form != Cache::List) return good(value ? cache.v : cache.k);
  const auto &list = value ? cache.vList : cache.kList;
  return std::all_of(list.begin(), list.end(), good);
}

// `count` elements of one axis of a view, from element `at` on.
void read_axis(const Context &c, const View &view, int64_t at, int64_t stride, int64_t count,
               float *to) {
  if (stride == 1 && kernel_type(view.type)) {
    c.kernels.to_float(element_of(view.type),
                       address(c.addresses, view.slot) + at * (type_bits(view.type) / 8), count,
                       to);
  } else if (stride == 0) {
    std::fill(to, to + count, load(view, c.addresses, at));
  } else {
    for (int64_t j = 0; j < count; ++j) to[j] = load(view, c.addresses, at + j * stride);
  }
}

// Scale and offset per column.
void read_columns(const Context &c, const Dequant &dequant, int64_t dim, float *scale,
                  float *offset) {
  auto read = [&](const View *view, float neutral, float *to) {
    if (view == nullptr) {
      std::fill(to, to + dim, neutral);
    } else {
      read_axis(c, *view, element(*view, dequant.b, dequant.s, dequant.g, 0), view->d, dim, to);
    }
    std::fill(to + dim, to + padded(dim), 0.0f);
  };
  read(dequant.scale, 1.0f, scale);
  read(dequant.offset, 0.0f, offset);
}

// The scales of keys t0 .. (int8 by token).
void read_keys(const Context &c, const Batch &batch, int64_t g, int64_t t0, int64_t count,
               Part part, float *to) {
  const Problem &p = c.p();
  for (int64_t j = 0; j < count;) {
    Row row = locate(p, c.addresses, batch, g, t0 + j, part);
    Dequant dequant = dequant_of(p, batch, row, g, t0 + j, part);
    int64_t run = count - j;
    if (p.cache.form == Cache::Paged) run = std::min(run, p.cache.blockSize - row.row);
    if (p.cache.ring) run = 1;
    const View &scale = *dequant.scale;
    read_axis(c, scale, element(scale, dequant.b, dequant.s, g, 0), run > 1 ? scale.s : 0, run,
              to + j);
    j += run;
  }
  std::fill(to + count, to + kBlock, 0.0f);
}

// Rows put together from columns that are apart (NZ storage, strided views), in their own type.
Rows gathered_rows(const Context &c, const Batch &batch, int64_t g, int64_t t0, int64_t count,
                   Part part, int64_t dim, float *copies) {
  const Problem &p = c.p();
  auto *to = reinterpret_cast<std::byte *>(copies);
  int64_t bytes = 0, step = 0;
  for (int64_t j = 0; j < count; ++j, to += step) {
    Row row = locate(p, c.addresses, batch, g, t0 + j, part);
    bytes = type_bits(row.view->type) / 8;
    step = padded(dim) * bytes;
    const std::byte *base = address(c.addresses, row.view->slot);
    for (int64_t d = 0, some = 1; d < dim; d += some) {
      if (row.fractal > 0) some = std::min(dim - d, row.fractal - (row.head + d) % row.fractal);
      std::memcpy(to + d * bytes, base + row.at(d) * bytes, static_cast<size_t>(some * bytes));
    }
  }
  return {reinterpret_cast<const char *>(copies), step, nullptr};
}

// Rows as float32 copies, dequantised.
Rows converted_rows(const Context &c, const Batch &batch, int64_t g, int64_t t0, int64_t count,
                    Part part, int64_t dim, float *copies, float *scale, float *offset) {
  const Problem &p = c.p();
  int64_t stride = padded(dim);
  Rows rows{reinterpret_cast<const char *>(copies), stride * static_cast<int64_t>(sizeof(float)),
            nullptr};
  if (bytewise(p, part)) {
    Quant::By by = part == Part::Value ? p.quant.v : part == Part::Key ? p.quant.k : Quant::None;
    const void *at[kRowsMax];
    Rows stored = plain_rows(c, batch, g, t0, count, part, at);
    Type type = locate(p, c.addresses, batch, g, t0, part).view->type;
    for (int64_t j = 0; j < count; ++j) {
      const void *from = stored.at != nullptr ? stored.at[j] : stored.base + j * stored.step;
      float *to = copies + j * stride;
      if (type != Type::i8) {
        c.kernels.to_float(element_of(type), from, dim, to);
        continue;
      }
      if (j == 0 || by_token(by)) {  // the others serve every key
        Row row = locate(p, c.addresses, batch, g, t0 + j, part);
        read_columns(c, dequant_of(p, batch, row, g, t0 + j, part), dim, scale, offset);
      }
      c.kernels.dequantise(static_cast<const int8_t *>(from), scale, offset, dim, to);
    }
    return rows;
  }
  for (int64_t j = 0; j < count; ++j) {
    float *to = copies + j * stride;
    Row row = locate(p, c.addresses, batch, g, t0 + j, part);
    const std::byte *base = address(c.addresses, row.view->slot);
    Dequant dequant = dequant_of(p, batch, row, g, t0 + j, part);
    for (int64_t d = 0; d < dim; ++d) {
      to[d] = dequant.value(c.addresses, load(row.view->type, base, row.at(d)), d);
    }
  }
  return rows;
}

// The rows of a block that are read where they are.
void find_rows(const Context &c, const Work &work, int64_t t0, int64_t count, BlockRows &rows) {
  const Problem &p = c.p();
  if (!copies(c.plan, Part::Key)) {
    rows.k = plain_rows(c, work.batch, work.place.g, t0, count, Part::Key, rows.k_at);
    if (p.ropeDim > 0) {
      rows.rope = plain_rows(c, work.batch, work.place.g, t0, count, Part::Rope, rows.rope_at);
    }
  }
  if (!copies(c.plan, Part::Value) && !p.cache.valueIsKeyPrefix) {
    rows.v = plain_rows(c, work.batch, work.place.g, t0, count, Part::Value, rows.v_at);
  }
}

// ... and those that are copied, when their turn has come.
void copy_rows(const Context &c, const Scratch &s, const Work &work, int64_t t0, int64_t count,
               BlockRows &rows) {
  const Problem &p = c.p();
  const Plan &plan = c.plan;
  const Batch &batch = work.batch;
  int64_t g = work.place.g;
  if (plan.k == Plan::Converted) {
    rows.k =
        converted_rows(c, batch, g, t0, count, Part::Key, p.headDim, s.k, s.k_scale, s.k_offset);
    if (p.ropeDim > 0) {
      rows.rope =
          converted_rows(c, batch, g, t0, count, Part::Rope, p.ropeDim, s.k_rope, nullptr, nullptr);
    }
  } else if (plan.k_gathered) {
    rows.k = gathered_rows(c, batch, g, t0, count, Part::Key, p.headDim, s.k);
    if (p.ropeDim > 0) {
      rows.rope = gathered_rows(c, batch, g, t0, count, Part::Rope, p.ropeDim, s.k_rope);
    }
  }
  if (p.cache.valueIsKeyPrefix) {
    rows.v = rows.k;
  } else if (plan.v == Plan::Converted) {
    rows.v =
        converted_rows(c, batch, g, t0, count, Part::Value, p.headDimV, s.v, s.v_scale, s.v_offset);
  } else if (plan.v_gathered) {
    rows.v = gathered_rows(c, batch, g, t0, count, Part::Value, p.headDimV, s.v);
  }
}

const std::byte *query_row(const Context &c, const Work &work, const View &view, int32_t row) {
  const Place &place = work.place;
  int64_t at =
      element(view, work.batch.b, work.batch.query_begin + place.query(row), place.head(row), 0);
  return address(c.addresses, view.slot) + at * (type_bits(view.type) / 8);
}

// Many rows wait long for memory where each lies in a page of its own.
void prefetch_query(const Context &c, const Work &work) {
  const int64_t bytes = c.p().headDim * type_bits(c.p().q.type) / 8;
  for (int32_t row = 0; row < work.place.rows(); ++row) {
    const std::byte *from = query_row(c, work, c.p().q, row);
    for (int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(from + i, 0, 2);
  }
}

void load_heads(const Context &c, const Scratch &s, const Work &work) {
  const Problem &p = c.p();
  const Batch &batch = work.batch;
  const Place &place = work.place;
  int64_t stride = padded(p.headDim), rope_stride = padded(p.ropeDim);
  auto columns = [&](bool value, int64_t dim, float *scale, float *offset) {
    if (by_token(value ? p.quant.v : p.quant.k)) {  // the scales follow key by key
      std::fill(offset, offset + padded(dim), 0.0f);
      return;
    }
    Part part = value ? Part::Value : Part::Key;
    Row row = locate(p, c.addresses, batch, place.g, work.first, part);
    read_columns(c, dequant_of(p, batch, row, place.g, work.first, part), dim, scale, offset);
  };
  if (c.plan.k == Plan::Int8) columns(false, p.headDim, s.k_scale, s.k_offset);
  if (c.plan.v == Plan::Int8) columns(true, p.headDimV, s.v_scale, s.v_offset);
  auto source = [&](const View &view, int32_t row) { return query_row(c, work, view, row); };
  if (c.k_pairs) {
    auto arrange = [&](const View &view, int64_t dim, float *to) {
      const void *rows[kItemRows];
      for (int32_t row = 0; row < place.rows(); ++row) rows[row] = source(view, row);
      if (work.panel) {
        std::fill(to, to + place.rows() * padded(dim), 0.0f);
        for (int32_t row = 0; row < place.rows(); ++row, to += padded(dim)) {
          std::memcpy(to, rows[row], static_cast<size_t>(dim) * 2);
        }
        return;
      }
      c.kernels.query_pairs(rows, place.rows(), static_cast<int32_t>(dim), to, padded(dim));
    };
    arrange(p.q, p.headDim, s.q);
    if (p.ropeDim > 0) arrange(p.qRope, p.ropeDim, s.rope);
    return;
  }
  for (int32_t row = 0; row < place.rows(); ++row) {
    float *q = s.q + row * stride, *rope = s.rope + row * rope_stride;
    std::fill(q, q + stride, 0.0f);
    std::fill(rope, rope + rope_stride, 0.0f);
    if (p.q.d == 1 && kernel_type(p.q.type) && !p.score.roundQ && p.ropeDim == 0) {
      c.kernels.to_float(element_of(p.q.type), source(p.q, row), p.headDim, q);
      for (int64_t d = 0; d < p.headDim; ++d) q[d] *= p.score.preScaleQ;
    } else {
      load_query(p, c.addresses, batch, place.query(row), place.head(row), q, rope);
    }
    if (c.plan.k == Plan::Int8 && !by_token(p.quant.k)) {
      for (int64_t d = 0; d < p.headDim; ++d) q[d] *= s.k_scale[d];
    }
  }
}

Seen seen_by(const Work &work, int32_t query, int64_t t0, int32_t keys) {
  const Range &range = work.ranges[query];
  auto first = std::clamp<int64_t>(range.first - t0, 0, keys);
  return {static_cast<int32_t>(first),
          static_cast<int32_t>(std::clamp<int64_t>(range.last - t0, first, keys))};
}
void hide_scores(const Seen &seen, int32_t keys, float *x) {
  std::fill(x, x + seen.first, -kInfinity);
  std::fill(x + seen.last, x + keys, -kInfinity);
}
bool all_seen(const Context &c, const Work &work, int64_t t0, int32_t keys) {
  if (c.gaps) return false;
  for (int32_t query = 0; query < work.place.queries; ++query) {
    if (work.ranges[query].first > t0 || work.ranges[query].last < t0 + keys) return false;
  }
  return true;
}

// The scale that is left for the softmax step after what else lies between the products.
float adjust_block(const Context &c, const Scratch &s, const Work &work, int64_t t0, int32_t keys,
                   const Seen *seen, bool masked, const State &state) {
  const Problem &p = c.p();
  const Place &place = work.place;
  const float *key_factor = nullptr;
  if (c.plan.k == Plan::Int8 && by_token(p.quant.k)) {
    read_keys(c, work.batch, place.g, t0, keys, Part::Key, s.key_factor);
    key_factor = s.key_factor;
  }
  if (c.simple && (c.byte_mask || !masked)) {
    float scale = p.score.scale;
    const bool scaled = masked || key_factor != nullptr || !(scale > 0) || std::isinf(scale);
    if (seen == nullptr && !scaled) {
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
      const Seen all{0, keys}, &sees = seen == nullptr ? all : seen[row];
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
    const auto [first, last] = seen == nullptr ? Seen{0, keys} : seen[row];
    float *x = s.x + row * kScoreStride;
    hide_scores({first, last}, keys, x);
    if (first == last) continue;
    Adjusted adjusted = adjust_scores(p, c.addresses, work.batch, place.query(row), place.head(row),
                                      t0 + first, last - first, &c.kernels, x + first);
    if (adjusted.kept > 0) state.kept[row] = 1;
  }
  return 1;
}

// Infinity or NaN among the elements of a row; of whole numbers never.
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

const void *row_at(const Rows &rows, int32_t j) {
  return rows.at != nullptr ? rows.at[j] : rows.base + j * rows.step;
}

// Leaves rows of zeros where none of some query rows sees a key: an invisible value has no part,
// even if it is infinite or NaN. False: some rows see such a value and others do not.
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
    bool seen = in(some, t), by_all = in(every, t);
    if (c.gaps) {
      int32_t seeing = 0;
      for (int32_t query = first; query < last; ++query) {
        seeing += visible(c.p(), work.batch, work.place.i + query, t);
      }
      seen = seeing > 0;
      by_all = seeing == last - first;
    }
    const void *row = row_at(rows.v, j);
    rows.v_at[j] = seen ? row : s.zeros;
    if (seen && !by_all) agree &= all_finite(type, row, c.p().headDimV);
  }
  return agree;
}

// The softmax step of a block that some rows do not see whole, with a factor for each value that is
// no number where a row does not look: there it must not meet the weight 0.
void weights_of_seen(const Context &c, const Scratch &s, const Work &work, int64_t t0, int32_t keys,
                     float scale, const float *factors, const State &state) {
  float own[kScoreStride];
  for (int32_t query = 0; query < work.place.queries; ++query) {
    std::copy_n(factors, kScoreStride, own);
    const Seen seen = seen_by(work, query, t0, keys);
    for (int32_t j = 0; j < keys; ++j) {
      const bool sees = c.gaps ? visible(c.p(), work.batch, work.place.i + query, t0 + j)
                               : seen.first <= j && j < seen.last;
      if (!sees) own[j] = 0;
    }
    const int32_t row = query * work.place.heads;
    c.kernels.weights(s.x + row * kScoreStride, kScoreStride, work.place.heads, keys, scale, own,
                      c.v_pairs, state.m + row, state.l + row, s.factor + row);
  }
}

// The softmax step of many rows, up to the last key that some of a few see; behind it they are 0.
void weights_of_rows(const Context &c, const Scratch &s, int32_t rows, int32_t keys, float scale,
                     const float *value_factor, const Seen *seen, const State &state) {
  const int64_t bytes = c.v_pairs ? 2 : sizeof(float);  // of a weight
  for (int32_t first = 0; first < rows;) {
    int32_t last = seen[first].last, end = first + 1;
    // Those that share a last block of lanes go together.
    while (end < rows && padded(seen[end].last) == padded(last))
      last = std::max(last, seen[end++].last);
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

// Weights of a block become whole multiples of the head's step, as int8 holds them; `value_factor`
// as in Kernels::weights.
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

// The length of rows, as long as their products can be (what rounding adds to them included).
float length_of(float squares) { return std::sqrt(squares) * 1.001f; }

float longest_query(const Context &c, const Scratch &s, const Work &work) {
  const Problem &p = c.p();
  auto most = [&](const float *q, int64_t dim) {
    const auto step = static_cast<int64_t>(sizeof(float)) * padded(dim);
    return c.kernels.most_squares(c.k_pairs ? Element::BF16 : Element::F32,
                                  {reinterpret_cast<const char *>(q), step, nullptr},
                                  work.place.rows(), static_cast<int32_t>(dim));
  };
  return length_of(most(s.q, p.headDim) + (p.ropeDim > 0 ? most(s.rope, p.ropeDim) : 0));
}

// The longest key of a batch and kv head; infinite if a value is no number, which makes the result
// one whatever its weight. Found once in a run.
float longest_key(const Context &c, const Work &work) {
  const Problem &p = c.p();
  std::atomic<float> &known = c.longest_keys[work.place.b * p.kvHeads + work.place.g];
  float longest = known.load(std::memory_order_relaxed);
  if (longest >= 0) return longest;
  BlockRows rows;
  float most = 0;
  for (int64_t t0 = 0; t0 < work.batch.keys; t0 += kBlock) {
    const auto keys = static_cast<int32_t>(std::min(kBlock, work.batch.keys - t0));
    find_rows(c, work, t0, keys, rows);
    auto squares = [&](Type type, const Rows &of, int64_t dim) {
      return c.kernels.most_squares(element_of(type), of, keys, static_cast<int32_t>(dim));
    };
    float sum = squares(key_type(p), rows.k, p.headDim);
    if (p.ropeDim > 0) sum += squares(p.kRope.type, rows.rope, p.ropeDim);
    const float values =
        p.cache.valueIsKeyPrefix ? sum : squares(value_type(p), rows.v, p.headDimV);
    most = std::isfinite(sum) && std::isfinite(values) ? std::max(most, sum) : kInfinity;
  }
  longest = length_of(most);
  known.store(longest, std::memory_order_relaxed);
  return longest;
}

// A mask that is causal, or leaves each row another interval of the block's keys, and that is so
// far below every score that what it hides gets the weight 0: then `seen` becomes those intervals,
// and the mask need not be looked at again. That it is so far below follows from the lengths of
// queries and keys, and from what keys before said (`before`: those of other partial results).
// False: the mask is more than that, and `seen` is as it was.
bool hidden_by_mask(const Context &c, UnmaskedRows &known, const Work &work, int64_t t0,
                    int32_t keys, const State &state, const State &before, Seen *seen) {
  const Problem &p = c.p();
  const Place &place = work.place;
  constexpr float kNoWeight = 105;  // exp of less is 0 (Kernels::weights)
  Seen left[kItemRows];
  bool hides = false;
  float most = -kInfinity;
  for (int32_t query = 0; query < place.queries; ++query) {
    const Seen &all = seen[query * place.heads];
    Seen &now = left[query];
    now = all;
    if (all.first == all.last) continue;
    const Unmasked &u = known.find(p, c.addresses, work.batch, place.i + query, t0, keys);
    if (!u.known) return false;
    now.first = std::clamp(u.first, all.first, all.last);
    now.last = std::clamp(u.last, now.first, all.last);
    if (now.first == all.first && now.last == all.last) continue;
    if (!(u.most < -kNoWeight)) return false;
    most = std::max(most, u.most);
    hides = true;
  }
  if (hides) {
    const float bound = work.q_most * longest_key(c, work) * p.score.scale;
    const float highest = p.mask.how == Mask::Replace ? most : most + bound;
    for (int32_t row = 0; row < place.rows(); ++row) {
      const Seen &all = seen[row], &now = left[row / place.heads];
      if (now.first == all.first && now.last == all.last) continue;
      float least = std::max(state.m[row], before.m[row]);
      if (now.first < now.last) least = std::max(least, -bound);
      if (!(highest - least < -kNoWeight)) return false;
    }
  }
  for (int32_t row = 0; row < place.rows(); ++row) {
    if (p.mask.how != Mask::Replace && seen[row].first < seen[row].last) state.kept[row] = 1;
    seen[row] = left[row / place.heads];
  }
  return true;
}

// The keys t0 .. of one block, for all rows of the place, into `state`; `next`: the rows of the
// block that comes after it, or null; `before`: of keys before that have a state of their own.
void run_block(const Context &c, const Scratch &s, UnmaskedRows &unmasked, const Work &work,
               int64_t t0, int32_t keys, BlockRows &rows, const BlockRows *next, const State &state,
               const State &before) {
  const Problem &p = c.p();
  const Plan &plan = c.plan;
  const Kernels &kernels = c.kernels;
  const int32_t heads = work.place.rows();  // to the kernels every row is a head
  auto dim = static_cast<int32_t>(p.headDim), dim_v = static_cast<int32_t>(p.headDimV);
  constexpr Rows kNoRows{nullptr, 0, nullptr};

  const bool whole = all_seen(c, work, t0, keys);
  bool masked = p.mask.how != Mask::None;
  const bool narrows = c.reads_mask && work.panel;
  if (narrows &&
      !mask_given(p.mask, work.batch, work.place.i, work.place.i + work.place.queries - 1, t0)) {
    masked = false;
  }
  Seen rows_seen[kItemRows];
  const Seen *seen = nullptr;  // every row sees every key
  if (!whole || (narrows && masked)) {
    for (int32_t row = 0; row < heads; ++row) {
      rows_seen[row] = whole ? Seen{0, keys} : seen_by(work, row / work.place.heads, t0, keys);
    }
    if (narrows && masked &&
        hidden_by_mask(c, unmasked, work, t0, keys, state, before, rows_seen)) {
      masked = false;
      keys = 0;  // behind the last one that a row sees there is nothing to do
      for (int32_t row = 0; row < heads; ++row) {
        Seen &of_row = rows_seen[row];
        if (of_row.first == of_row.last) of_row = {0, 0};
        keys = std::max(keys, of_row.last);
      }
      if (keys == 0) return;
    }
    auto everything = [&](const Seen &of_row) { return of_row.first == 0 && of_row.last == keys; };
    if (!std::all_of(rows_seen, rows_seen + heads, everything)) seen = rows_seen;
  }
  const bool v_converted =
      p.cache.valueIsKeyPrefix ? plan.k == Plan::Converted : plan.v == Plan::Converted;
  const Type v_type = v_converted ? Type::f32 : value_type(p);
  auto multiply_keys = [&](const float *q, const Rows &from, const Rows &ahead, Type type,
                           int32_t columns, bool add) {
    const auto element =
        static_cast<size_t>(plan.k == Plan::Converted ? Element::F32 : element_of(type));
    if (work.panel) {
      auto multiply = c.k_pairs ? kernels.panel_scores_pairs : kernels.panel_scores[element];
      multiply(q, padded(columns), heads, seen, from, ahead, s.k_offset, keys, columns, add,
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
  const float scale = adjust_block(c, s, work, t0, keys, seen, masked, state);
  const float *value_factor = nullptr;
  if (plan.v == Plan::Int8 && by_token(p.quant.v)) {
    read_keys(c, work.batch, work.place.g, t0, keys, Part::Value, s.value_factor);
    value_factor = s.value_factor;
  }
  const bool in_int8 = p.quant.scores != Quant::Float;
  if (!whole && !in_int8 && value_factor != nullptr && !all_finite(Type::f32, value_factor, keys)) {
    weights_of_seen(c, s, work, t0, keys, scale, value_factor, state);
  } else if (seen == nullptr || !work.panel || in_int8) {
    kernels.weights(s.x, kScoreStride, heads, keys, scale, in_int8 ? nullptr : value_factor,
                    c.v_pairs, state.m, state.l, s.factor);
  } else {
    weights_of_rows(c, s, heads, keys, scale, value_factor, seen, state);
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
      values(x, kScoreStride, count, seen == nullptr ? nullptr : seen + first, from, ahead,
             s.v_offset, keys, dim_v, s.factor + first, s.panel, acc, padded(dim_v));
      return;
    }
    auto values = c.v_pairs ? kernels.values_pairs : kernels.values[v_element];
    values(x, kScoreStride, count, from, ahead, s.v_offset, keys, dim_v, s.factor + first, acc,
           padded(dim_v));
  };
  if (whole) {
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

void join(const Context &c, const Place &place, const State &to, const State &from) {
  const Problem &p = c.p();
  const int32_t heads = place.rows();
  c.kernels.merge(to.m, to.l, to.acc, from.m, from.l, from.acc, heads,
                  static_cast<int32_t>(p.headDimV), padded(p.headDimV));
  for (int32_t h = 0; h < heads; ++h) to.kept[h] = std::max(to.kept[h], from.kept[h]);
}

void finish(Context &c, const Scratch &s, const Work &work, const State &state) {
  const Problem &p = c.p();
  const Batch &batch = work.batch;
  const Place &place = work.place;
  for (int32_t row = 0; row < place.rows(); ++row) {
    const int64_t i = place.query(row), n = place.head(row);
    float m = state.m[row], l = state.l[row], *acc = state.acc + row * padded(p.headDimV);
    // Rows without any weight, and what Empty says about masked rows: the reference knows.
    if (m == -kInfinity || (state.kept[row] == 0 && p.empty.allMasked != Empty::Formula)) {
      if (!reference_row(p, c.addresses, batch, i, n)) c.exhausted = true;
      continue;
    }
    if (c.plan.v == Plan::Int8 && !by_token(p.quant.v)) {
      for (int64_t d = 0; d < p.headDimV; ++d) acc[d] *= s.v_scale[d];
    }
    float scale = 1;
    if (p.score.sink.given()) {
      float sink = load(p.score.sink, c.addresses, element(p.score.sink, 0, 0, n, 0));
      float m_new = std::max(m, sink), factor = std::exp(m - m_new);
      l = l * factor + std::exp(sink - m_new);
      m = m_new;
      scale = factor;
    }
    if (p.quant.pvScale.given()) {
      scale *= load(p.quant.pvScale, c.addresses, element(p.quant.pvScale, 0, 0, n, 0));
    }
    // The kernels' maximum leaves a NaN out; the sum knows it.
    if (std::isnan(l) && !std::isinf(m)) m = std::numeric_limits<float>::quiet_NaN();
    const View &o = p.out.o;
    if (o.given() && o.d == 1 && p.out.post == Out::No) {
      int64_t at = element(o, batch.b, batch.query_begin + i, n, 0);
      c.kernels.store(element_of(o.type), acc, l, scale, p.headDimV,
                      c.addresses[o.slot] + at * (type_bits(o.type) / 8));
    } else {
      c.kernels.store(Element::F32, acc, l, scale, p.headDimV, acc);
      store_output(p, c.addresses, batch, i, n, acc);
    }
    store_statistics(p, c.addresses, batch, i, n, m + std::log(l), m, l);
  }
}

// Rows of an item for which packing pays (measured on Zen 5).
int64_t panel_rows(const Problem &p) {
  return key_type(p) == Type::bf16 && value_type(p) == Type::bf16 ? 32 : 64;
}

// Takes items until one has keys to work on; those without are done here. False: none is left.
bool claim(Context &c, Work &work) {
  const Problem &p = c.p();
  for (;;) {
    int64_t item = c.next.fetch_add(1, std::memory_order_relaxed);
    if (item >= c.items) return false;
    int64_t split = item % c.splits;
    work.index = item / c.splits;
    work.place = place_of(c.plan, work.index);
    work.batch = batch_of(p, c.addresses, work.place.b, work.place.g);
    Place &place = work.place;
    place.queries =
        static_cast<int32_t>(std::min<int64_t>(place.queries, work.batch.queries - place.i));
    if (place.queries <= 0) continue;
    work.panel = place.rows() >= panel_rows(p);
    if (work.batch.keys == 0) {
      if (split == 0 && p.empty.noKeys != Empty::Untouched) {
        for (int32_t row = 0; row < place.rows(); ++row) {
          store_empty_row(p, c.addresses, work.batch, place.query(row), place.head(row));
        }
      }
      continue;
    }
    work.range = {work.batch.keys, 0};
    for (int32_t query = 0; query < place.queries; ++query) {
      const Range range = visible_range(p, work.batch, place.i + query);
      work.ranges[query] = range;
      if (range.first >= range.last) continue;
      work.range.first = std::min(work.range.first, range.first);
      work.range.last = std::max(work.range.last, range.last);
    }
    work.first = work.range.first;
    work.last = work.range.last;
    if (c.plan.split) {
      work.first = std::max(work.first, split * kSplit);
      work.last = std::min(work.last, (split + 1) * kSplit);
    }
    if (work.first < work.last) return true;
    if (split == 0 && work.range.first >= work.range.last) {
      for (int32_t row = 0; row < place.rows(); ++row) {  // nothing is visible
        if (!reference_row(p, c.addresses, work.batch, place.query(row), place.head(row))) {
          c.exhausted = true;
        }
      }
    }
  }
}

// Whoever finishes the last split of a place joins them all, in order of the keys.
void close_split(Context &c, const Scratch &s, const Work &work) {
  int32_t splits = static_cast<int32_t>(splits_of(work.range));
  if (c.done[work.index].fetch_add(1, std::memory_order_acq_rel) + 1 < splits) return;
  float *partials = c.partials + (work.index * c.plan.split_max + work.range.first / kSplit) *
                                     state_floats(c.plan);
  State total(c.plan, partials);
  for (int32_t split = 1; split < splits; ++split) {
    join(c, work.place, total, State(c.plan, partials + split * state_floats(c.plan)));
  }
  finish(c, s, work, total);
}

// Works on items until none is left. The next item is claimed before the last block of the one in
// hand is computed: so its first rows are on their way meanwhile.
void run_lane(void *context, int64_t lane) {
  auto &c = *static_cast<Context *>(context);
  Scratch s(c.plan, c.scratch + lane * static_cast<int64_t>(c.plan.lane_bytes / sizeof(float)));
  std::fill(s.zeros, s.zeros + padded(c.p().headDimV), 0.0f);
  State running(c.plan, s.running), current(c.plan, s.current);
  const Problem &p = c.p();
  UnmaskedRows unmasked;
  Work works[2], *work = &works[0], *next_work = &works[1];
  BlockRows buffers[2], *rows = &buffers[0], *next_rows = &buffers[1];

  auto block_end = [](const Work &w, int64_t begin) {
    return std::min(w.last, (begin / kBlock + 1) * kBlock);
  };
  if (!claim(c, *work)) return;
  c.threads.fetch_add(1, std::memory_order_relaxed);
  int64_t begin = work->first, end = block_end(*work, begin);
  find_rows(c, *work, begin, end - begin, *rows);
  load_heads(c, s, *work);
  if (c.reads_mask && work->panel) work->q_most = longest_query(c, s, *work);
  for (;;) {
    bool item_ends = end == work->last, split_begins = begin == work->first || begin % c.span == 0;
    State state =
        c.plan.split
            ? State(c.plan, c.partials + (work->index * c.plan.split_max + begin / kSplit) *
                                             state_floats(c.plan))
        : begin / c.span == work->first / c.span ? running
                                                 : current;
    if (split_begins) state.reset(c.plan);

    bool more = true;
    if (item_ends) {
      more = claim(c, *next_work);
      if (more && next_work->panel && p.q.d == 1) prefetch_query(c, *next_work);
    }
    const Work &next = item_ends ? *next_work : *work;
    int64_t next_begin = item_ends ? next.first : end;
    int64_t next_end = more ? block_end(next, next_begin) : 0;
    if (more) find_rows(c, next, next_begin, next_end - next_begin, *next_rows);

    copy_rows(c, s, *work, begin, end - begin, *rows);
    run_block(c, s, unmasked, *work, begin, static_cast<int32_t>(end - begin), *rows,
              more && c.prefetches ? next_rows : nullptr, state, c.plan.split ? state : running);

    if (c.plan.split) {
      if (item_ends) close_split(c, s, *work);
    } else {
      bool joins = begin / c.span != work->first / c.span;
      if (joins && (item_ends || end % c.span == 0)) join(c, work->place, running, current);
      if (item_ends) finish(c, s, *work, running);
    }
    if (!more) return;
    if (item_ends) {
      std::swap(work, next_work);
      load_heads(c, s, *work);
      if (c.reads_mask && work->panel) work->q_most = longest_query(c, s, *work);
    }
    std::swap(rows, next_rows);
    begin = next_begin;
    end = next_end;
  }
}

// How the kernels get at the keys, or the values, and whether their columns are apart.
Plan::Form form_of(const Problem &p, bool value, bool &gathered) {
  const Cache &cache = p.cache;
  Quant::By by = value ? p.quant.v : p.quant.k;
  bool stored = by == Quant::None, bytes = p.prefixLen == 0;
  gathered = cache.fractal != 0;
  auto look = [&](const View &view) {
    stored &= kernel_type(view.type);
    bytes &= view.type == Type::i8;
    gathered |= view.d != 1;
  };
  if (cache.form == Cache::List) {
    for (const View &view : value ? cache.vList : cache.kList) look(view);
  } else {
    look(value ? cache.v : cache.k);
  }
  if (p.prefixLen > 0) look(value ? p.vPrefix : p.kPrefix);
  if (!value && p.ropeDim > 0) {
    stored &= kernel_type(p.kRope.type);
    bytes &= kernel_type(p.kRope.type) && !by_token(by);  // a key's factor is not the rope part's
    gathered |= cache.ropeFractal != 0 || p.kRope.d != 1;
  }
  if (by_token(by)) bytes &= !(value ? p.quant.vOffset : p.quant.kOffset).given();
  return stored ? Plan::Stored : bytes ? Plan::Int8 : Plan::Converted;
}

// Whether adjust_block needs nothing of adjust_scores but the mask.
bool simple_scores(const Problem &p) {
  return !p.quant.qScale.given() && !p.score.logN.given() && !p.score.clamp &&
         !p.bias.razor.given() && !p.bias.pse.given() && p.bias.alibi == Bias::No;
}

// Whether hidden_by_mask can tell: it reads keys and values as they are stored.
bool reads_mask(const Plan &plan) {
  const Problem &p = plan.problem;
  const Mask &mask = p.mask;
  return plan.panel && mask.how != Mask::None && mask.m.h == 0 && mask.fractal == 0 &&
         !mask.slopes.given() && mask.grow == Mask::Fixed && plan.k == Plan::Stored &&
         plan.v == Plan::Stored && !copies(plan, Part::Key) && !copies(plan, Part::Value) &&
         p.quant.scores == Quant::Float && p.score.scale > 0;
}

// Whether a block's rows are prefetched while the one before it is computed. Within the last cache
// the hardware's own prefetches do better, unless rows are packed, which waits for them. What
// counts is the most that the call may read (lengths are device data). Many parts of the query rows
// read the same again, which then matters only to rows that are pages apart.
bool prefetches(const Plan &plan) {
  const Problem &p = plan.problem;
  const bool apart =
      p.cache.form != Cache::List && p.cache.k.s * type_bits(p.cache.k.type) > 8 * 2048;
  if (parts_of(plan) > 4) return plan.panel && apart;
  if (plan.panel) return true;
  double keys = static_cast<double>(p.kvHeads) *
                (static_cast<double>(p.batch) * static_cast<double>(p.keyMax) +
                 static_cast<double>(p.prefixLen));
  return keys * key_bytes(p) > 0.75 * static_cast<double>(last_cache_bytes());
}

}  // namespace

void plan_blocks(Plan &plan) {
  const Problem &p = plan.problem;
  plan.blocks = p.quant.scores != Quant::TimesInt8 && p.batch > 0 && p.queryMax > 0;
  if (!plan.blocks) return;
  plan.k = form_of(p, false, plan.k_gathered);
  if (!p.cache.valueIsKeyPrefix) plan.v = form_of(p, true, plan.v_gathered);
  // The values of a key prefix have the key's scales, which the folded forms do not apply to them.
  if (p.cache.valueIsKeyPrefix && plan.k == Plan::Int8) plan.k = Plan::Converted;

  int64_t tiles = (group(p) + kTileMax - 1) / kTileMax;
  plan.tile = (group(p) + tiles - 1) / tiles;
  plan.queries = std::min(kItemRows / plan.tile, p.queryMax);
  plan.panel = item_rows(plan) >= panel_rows(p);
  int64_t places = places_of(plan);
  plan.split_max = std::max<int64_t>((p.prefixLen + p.keyMax + kSplit - 1) / kSplit, 1);
  // The key bound may come from a table far wider than any memory: then no partial results are
  // kept.
  __extension__ typedef __int128 Wide;
  Wide partials =
      Wide{places} * plan.split_max * state_floats(plan) * static_cast<int64_t>(sizeof(float));
  plan.split = span_of(p) == kSplit && places < kParallelPlaces && plan.split_max > 1 &&
               partials <= kPartialsMax;
  plan.lane_bytes = static_cast<uint64_t>(Scratch(plan, nullptr).floats) * sizeof(float);
  auto fitting = static_cast<int64_t>(kScratchMax / plan.lane_bytes);
  plan.lanes = std::min(block_items(plan), std::clamp<int64_t>(fitting, 8, kLanesMax));
  plan.workspace = 64 + static_cast<uint64_t>(plan.lanes) * plan.lane_bytes;
  if (reads_mask(plan))
    plan.workspace += static_cast<uint64_t>(p.batch * p.kvHeads) * sizeof(float);
  if (plan.split) {
    plan.workspace += static_cast<uint64_t>(partials) + kParallelPlaces * sizeof(int32_t);
  }
}

int64_t block_items(const Plan &plan) {
  return plan.split ? places_of(plan) * plan.split_max : places_of(plan);
}

bool run_blocks(const Plan &plan, Addresses addresses, std::byte *workspace,
                const Kernels &kernels) {
  const Problem &p = plan.problem;
  auto aligned = (reinterpret_cast<uintptr_t>(workspace) + 63) & ~uintptr_t{63};
  auto *scratch = reinterpret_cast<float *>(aligned);
  auto *partials = scratch + plan.lanes * static_cast<int64_t>(plan.lane_bytes / sizeof(float));
  const bool gaps = has_gaps(p.visible), simple = !gaps && simple_scores(p);
  std::atomic<float> *longest_keys = nullptr;
  if (reads_mask(plan)) {
    longest_keys = reinterpret_cast<std::atomic<float> *>(partials);
    for (int64_t head = 0; head < p.batch * p.kvHeads; ++head) {
      new (longest_keys + head) std::atomic<float>(-1);
    }
    partials += p.batch * p.kvHeads;
  }
  std::atomic<int32_t> *done = nullptr;
  int64_t splits = 1;
  if (plan.split) {
    done =
        reinterpret_cast<std::atomic<int32_t> *>(partials + block_items(plan) * state_floats(plan));
    for (int64_t place = 0; place < places_of(plan); ++place) {
      new (done + place) std::atomic<int32_t>(0);
    }
    // The plan has room for the most keys that there may be; a table may be far wider than the
    // lengths of this run.
    for (int64_t entry = 0; entry < p.batch * key_heads(p); ++entry) {
      int64_t keys = batch_of(p, addresses, entry / key_heads(p), entry % key_heads(p)).keys;
      splits = std::max(splits, (keys + kSplit - 1) / kSplit);
    }
  }
  // A product of pairs takes q as it is, and rounds the weights of the values to bf16: that is for
  // calls whose result is bf16.
  bool k_pairs = kernels.scores_pairs != nullptr && plan.k == Plan::Stored &&
                 key_type(p) == Type::bf16 && p.q.type == Type::bf16 && p.q.d == 1 &&
                 p.score.preScaleQ == 1.0f;
  if (p.ropeDim > 0) {
    k_pairs &= p.kRope.type == Type::bf16 && p.qRope.type == Type::bf16 && p.qRope.d == 1;
  }
  bool v_stored = p.cache.valueIsKeyPrefix ? plan.k == Plan::Stored : plan.v == Plan::Stored;
  bool v_pairs = kernels.values_pairs != nullptr && v_stored && value_type(p) == Type::bf16 &&
                 p.out.o.type == Type::bf16 && p.quant.scores == Quant::Float;
  Context context{plan,
                  addresses,
                  kernels,
                  scratch,
                  partials,
                  done,
                  longest_keys,
                  splits,
                  span_of(p),
                  places_of(plan) * splits,
                  gaps,
                  simple,
                  p.mask.how == Mask::None || (byte_mask(p.mask) && p.mask.m.h == 0),
                  simple && reads_mask(plan),
                  k_pairs,
                  v_pairs,
                  prefetches(plan)};
  run_items(plan.small, std::min<int64_t>(plan.lanes, pool_threads()), run_lane, &context);
  kernels::record_threads(context.threads);
  return !context.exhausted;
}

}  // namespace pyaclnn::attention
