#include "attention/blocks.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>

#include "attention/items.hpp"
#include "attention/reference.hpp"

namespace pyaclnn::attention {
namespace {

using kernels::Element;
using kernels::Kernels;

constexpr int64_t kBlock = kAdjustMax;   // keys of one softmax step
constexpr int64_t kSplit = 1024;         // keys of one partial result; a multiple of kBlock
constexpr int64_t kTileMax = 16;         // query heads of one item: they share a pass over the keys
constexpr int64_t kParallelPlaces = 64;  // with fewer places, their splits run side by side
constexpr int64_t kSlotsMax = 64;
constexpr uint64_t kScratchMax = uint64_t{32} << 20;
constexpr int64_t kPartialsMax = int64_t{1} << 40;  // bytes
constexpr float kInfinity = std::numeric_limits<float>::infinity();

int64_t padded(int64_t count) {
  return (count + kernels::kLane - 1) / kernels::kLane * kernels::kLane;
}

bool kernel_type(Type type) { return type == Type::f16 || type == Type::bf16 || type == Type::f32; }

Element element_of(Type type) {
  return type == Type::f16 ? Element::F16 : type == Type::bf16 ? Element::BF16 : Element::F32;
}

int64_t group(const Problem &p) { return p.heads / p.kvHeads; }

// Floats of the softmax state of one tile of heads: m, l, whether any key was kept, and acc.
int64_t state_floats(const Plan &plan) { return plan.tile * (padded(plan.problem.headDimV) + 3); }

struct State {
  float *m, *l, *kept, *acc;
  State(const Plan &plan, float *memory)
      : m(memory), l(m + plan.tile), kept(l + plan.tile), acc(kept + plan.tile) {}
  void reset(const Plan &plan) const {
    std::fill(m, l, -kInfinity);
    std::fill(l, acc + plan.tile * padded(plan.problem.headDimV), 0.0f);
  }
};

// Scratch of one slot, in floats.
struct Scratch {
  float *q, *rope, *x, *factor, *current, *running, *k, *k_rope, *v, *k_scale, *k_offset, *v_scale,
      *v_offset, *zeros;
  int64_t floats;
  Scratch(const Plan &plan, float *memory) {
    const Problem &p = plan.problem;
    int64_t used = 0;
    auto take = [&](int64_t count) {
      float *at = memory != nullptr ? memory + used : nullptr;
      used += (count + 15) / 16 * 16;
      return at;
    };
    int64_t heads = plan.tile;
    q = take(heads * padded(p.headDim));
    rope = take(heads * padded(p.ropeDim));
    x = take(heads * kBlock);
    factor = take(heads);
    current = take(state_floats(plan));
    running = take(state_floats(plan));
    zeros = take(padded(p.headDimV));
    k = take(plan.convert_k ? kBlock * padded(p.headDim) : 0);
    k_rope = take(plan.convert_k ? kBlock * padded(p.ropeDim) : 0);
    k_scale = take(plan.convert_k ? padded(p.headDim) : 0);
    k_offset = take(plan.convert_k ? padded(p.headDim) : 0);
    v = take(plan.convert_v ? kBlock * padded(p.headDimV) : 0);
    v_scale = take(plan.convert_v ? padded(p.headDimV) : 0);
    v_offset = take(plan.convert_v ? padded(p.headDimV) : 0);
    floats = used;
  }
};

struct Context {
  const Plan &plan;
  Addresses addresses;
  const Kernels &kernels;
  float *scratch;   // slots
  float *partials;  // one state per item (split mode)
  int64_t items;
  int64_t pool_items;
  bool limited;  // Visible drops some keys
  std::atomic<bool> exhausted = false;

  const Problem &p() const { return plan.problem; }
};

// One (batch, query row, kv head, tile of its query heads).
struct Place {
  int64_t b, i, g, first;  // first query head
  int32_t heads;
};
int64_t tiles_of(const Plan &plan) { return (group(plan.problem) + plan.tile - 1) / plan.tile; }
int64_t places_of(const Plan &plan) {
  const Problem &p = plan.problem;
  return p.batch * p.queryMax * p.kvHeads * tiles_of(plan);
}
Place place_of(const Plan &plan, int64_t index) {
  const Problem &p = plan.problem;
  int64_t first = index % tiles_of(plan) * plan.tile, row = index / tiles_of(plan);
  int64_t g = row % p.kvHeads;
  return {row / p.kvHeads / p.queryMax, row / p.kvHeads % p.queryMax, g, g * group(p) + first,
          static_cast<int32_t>(std::min(plan.tile, group(p) - first))};
}

void plain_rows(const Context &c, const Batch &batch, int64_t g, int64_t t0, int64_t count,
                Part part, const void **rows) {
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
    const std::byte *first = address(c.addresses, row.view->slot) + row.base * bytes;
    for (int64_t k = 0; k < run; ++k) rows[j++] = first + k * step;
  }
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

// Rows as float32 copies: dequantised, out of NZ storage, gathered.
void converted_rows(const Context &c, const Batch &batch, int64_t g, int64_t t0, int64_t count,
                    Part part, int64_t dim, float *copies, float *scale, float *offset,
                    const void **rows) {
  const Problem &p = c.p();
  Quant::By by = part == Part::Value ? p.quant.v : part == Part::Key ? p.quant.k : Quant::None;
  bool per_token = by >= Quant::Token;
  auto factors = [&](const Dequant &dequant) {
    for (int64_t d = 0; d < dim; ++d) {
      bool same = d > 0 && by != Quant::Channel;
      scale[d] = same ? scale[0]
                      : load(*dequant.scale, c.addresses,
                             element(*dequant.scale, dequant.b, dequant.s, dequant.g, d));
      offset[d] = same ? offset[0]
                  : dequant.offset == nullptr
                      ? 0.0f
                      : load(*dequant.offset, c.addresses,
                             element(*dequant.offset, dequant.b, dequant.s, dequant.g, d));
    }
  };
  if (bytewise(p, part)) {
    const void *stored[kBlock];
    plain_rows(c, batch, g, t0, count, part, stored);
    Type type = locate(p, c.addresses, batch, g, t0, part).view->type;
    for (int64_t j = 0; j < count; ++j) {
      float *to = copies + j * padded(dim);
      rows[j] = to;
      if (type != Type::i8) {
        c.kernels.to_float(element_of(type), stored[j], dim, to);
        continue;
      }
      if (by == Quant::None) {
        if (j == 0) {
          std::fill(scale, scale + dim, 1.0f);
          std::fill(offset, offset + dim, 0.0f);
        }
      } else if (j == 0 || per_token) {  // the others serve every key
        Row row = locate(p, c.addresses, batch, g, t0 + j, part);
        factors(dequant_of(p, batch, row, g, t0 + j, part));
      }
      c.kernels.dequantise(static_cast<const int8_t *>(stored[j]), scale, offset, dim, to);
    }
    return;
  }
  for (int64_t j = 0; j < count; ++j) {
    float *to = copies + j * padded(dim);
    rows[j] = to;
    Row row = locate(p, c.addresses, batch, g, t0 + j, part);
    const std::byte *base = address(c.addresses, row.view->slot);
    Dequant dequant = dequant_of(p, batch, row, g, t0 + j, part);
    for (int64_t d = 0; d < dim; ++d) {
      to[d] = dequant.value(c.addresses, load(row.view->type, base, row.at(d)), d);
    }
  }
}

struct Rows {
  const void *k[kBlock], *rope[kBlock], *v[kBlock];
};

void fill_rows(const Context &c, const Scratch &s, const Batch &batch, int64_t g, int64_t t0,
               int64_t count, Rows &rows) {
  const Problem &p = c.p();
  const Plan &plan = c.plan;
  if (plan.convert_k) {
    converted_rows(c, batch, g, t0, count, Part::Key, p.headDim, s.k, s.k_scale, s.k_offset,
                   rows.k);
  } else {
    plain_rows(c, batch, g, t0, count, Part::Key, rows.k);
  }
  if (p.ropeDim > 0) {
    if (plan.convert_k) {
      converted_rows(c, batch, g, t0, count, Part::Rope, p.ropeDim, s.k_rope, nullptr, nullptr,
                     rows.rope);
    } else {
      plain_rows(c, batch, g, t0, count, Part::Rope, rows.rope);
    }
  }
  if (p.cache.valueIsKeyPrefix) {
    std::copy(rows.k, rows.k + count, rows.v);
  } else if (plan.convert_v) {
    converted_rows(c, batch, g, t0, count, Part::Value, p.headDimV, s.v, s.v_scale, s.v_offset,
                   rows.v);
  } else {
    plain_rows(c, batch, g, t0, count, Part::Value, rows.v);
  }
}

Type key_type(const Problem &p) {
  return p.cache.form == Cache::List ? p.cache.kList[0].type : p.cache.k.type;
}
Type value_type(const Problem &p) {
  if (p.cache.valueIsKeyPrefix) return key_type(p);
  return p.cache.form == Cache::List ? p.cache.vList[0].type : p.cache.v.type;
}

void load_group(const Context &c, const Scratch &s, const Batch &batch, const Place &place) {
  const Problem &p = c.p();
  int64_t q_stride = padded(p.headDim), rope_stride = padded(p.ropeDim);
  for (int64_t h = 0; h < place.heads; ++h) {
    int64_t n = place.first + h;
    float *q = s.q + h * q_stride, *rope = s.rope + h * rope_stride;
    if (p.q.d == 1 && kernel_type(p.q.type) && !p.score.roundQ && p.ropeDim == 0) {
      int64_t at = element(p.q, batch.b, batch.query_begin + place.i, n, 0);
      c.kernels.to_float(element_of(p.q.type),
                         address(c.addresses, p.q.slot) + at * (type_bits(p.q.type) / 8), p.headDim,
                         q);
      for (int64_t d = 0; d < p.headDim; ++d) q[d] *= p.score.preScaleQ;
    } else {
      load_query(p, c.addresses, batch, place.i, n, q, rope);
    }
    std::fill(q + p.headDim, q + q_stride, 0.0f);
    std::fill(rope + p.ropeDim, rope + rope_stride, 0.0f);
  }
}

thread_local const Kernels *kernels_of_thread;
void fast_to_float(Type type, const std::byte *from, int64_t count, float *to) {
  kernels_of_thread->to_float(element_of(type), from, count, to);
}

// The keys [first, last) of one split, for all heads of the place, into `state`.
void run_split(const Context &c, const Scratch &s, const Batch &batch, const Place &place,
               int64_t first, int64_t last, const State &state) {
  const Problem &p = c.p();
  const Plan &plan = c.plan;
  int32_t heads = place.heads;
  auto dim = static_cast<int32_t>(p.headDim), dim_v = static_cast<int32_t>(p.headDimV);
  auto dim_rope = static_cast<int32_t>(p.ropeDim);
  Element k_element = plan.convert_k ? Element::F32 : element_of(key_type(p));
  bool v_converted = p.cache.valueIsKeyPrefix ? plan.convert_k : plan.convert_v;
  Element v_element = v_converted ? Element::F32 : element_of(value_type(p));
  bool ahead = !plan.convert_k && !plan.convert_v;

  state.reset(c.plan);
  Rows buffers[2];
  Rows *now = &buffers[0], *next = &buffers[1];
  int64_t begin = first, end = std::min(last, (begin / kBlock + 1) * kBlock);
  fill_rows(c, s, batch, place.g, begin, end - begin, *now);
  while (begin < last) {
    int64_t next_end = std::min(last, end + kBlock);
    auto keys = static_cast<int32_t>(end - begin);
    // A shorter next block cannot stand in for the rows to prefetch.
    bool prefetch = ahead && next_end - end >= keys;
    if (ahead && end < last) fill_rows(c, s, batch, place.g, end, next_end - end, *next);

    c.kernels.scores(k_element, s.q, padded(p.headDim), heads, now->k, prefetch ? next->k : nullptr,
                     keys, dim, false, s.x, kBlock);
    if (dim_rope > 0) {
      Element rope = plan.convert_k ? Element::F32 : element_of(p.kRope.type);
      c.kernels.scores(rope, s.rope, padded(p.ropeDim), heads, now->rope, nullptr, keys, dim_rope,
                       true, s.x, kBlock);
    }
    Adjusted adjusted;
    for (int32_t h = 0; h < heads; ++h) {
      adjusted = adjust_scores(p, c.addresses, batch, place.i, place.first + h, begin, keys,
                               fast_to_float, s.x + h * kBlock);
      if (adjusted.kept > 0) state.kept[h] = 1;
    }
    if (c.limited && adjusted.visible < keys) {  // an invisible value has no part, even if NaN
      for (int32_t j = 0; j < keys; ++j) {
        if (!visible(p, batch, place.i, begin + j)) now->v[j] = s.zeros;
      }
    }
    c.kernels.weights(s.x, kBlock, heads, keys, state.m, state.l, s.factor);
    c.kernels.values(v_element, s.x, kBlock, heads, now->v,
                     prefetch && !p.cache.valueIsKeyPrefix ? next->v : nullptr, keys, dim_v,
                     s.factor, state.acc, padded(p.headDimV));

    begin = end;
    end = next_end;
    if (ahead) {
      std::swap(now, next);
    } else if (begin < last) {
      fill_rows(c, s, batch, place.g, begin, end - begin, *now);
    }
  }
}

void join(const Context &c, const Place &place, const State &to, const State &from) {
  const Problem &p = c.p();
  int32_t heads = place.heads;
  c.kernels.merge(to.m, to.l, to.acc, from.m, from.l, from.acc, heads,
                  static_cast<int32_t>(p.headDimV), padded(p.headDimV));
  for (int32_t h = 0; h < heads; ++h) to.kept[h] = std::max(to.kept[h], from.kept[h]);
}

void finish(Context &c, const Batch &batch, const Place &place, const State &state) {
  const Problem &p = c.p();
  for (int64_t h = 0; h < place.heads; ++h) {
    int64_t n = place.first + h;
    float m = state.m[h], l = state.l[h], *acc = state.acc + h * padded(p.headDimV);
    // Rows without any weight, and what Empty says about masked rows: the reference knows.
    if (m == -kInfinity || (state.kept[h] == 0 && p.empty.allMasked != Empty::Formula)) {
      if (!reference_row(p, c.addresses, batch, place.i, n)) c.exhausted = true;
      continue;
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
      int64_t at = element(o, batch.b, batch.query_begin + place.i, n, 0);
      c.kernels.store(element_of(o.type), acc, l, scale, p.headDimV,
                      c.addresses[o.slot] + at * (type_bits(o.type) / 8));
    } else {
      c.kernels.store(Element::F32, acc, l, scale, p.headDimV, acc);
      store_output(p, c.addresses, batch, place.i, n, acc);
    }
    store_statistics(p, c.addresses, batch, place.i, n, m + std::log(l), m, l);
  }
}

// Rows without keys. Returns whether the row is done.
bool without_keys(const Context &c, const Batch &batch, const Place &place) {
  const Problem &p = c.p();
  if (place.i >= batch.queries) return true;
  if (batch.keys > 0) return false;
  if (p.empty.noKeys != Empty::Untouched) {
    for (int64_t h = 0; h < place.heads; ++h) {
      store_empty_row(p, c.addresses, batch, place.i, place.first + h);
    }
  }
  return true;
}

Scratch prepare(const Context &c, int64_t slot) {
  Scratch s(c.plan, c.scratch + slot * static_cast<int64_t>(c.plan.slot_bytes / sizeof(float)));
  std::fill(s.zeros, s.zeros + padded(c.p().headDimV), 0.0f);
  kernels_of_thread = &c.kernels;
  return s;
}

// All splits of the rows of one slot.
void whole_rows(void *context, int64_t slot) {
  auto &c = *static_cast<Context *>(context);
  const Problem &p = c.p();
  Scratch s = prepare(c, slot);
  State current(c.plan, s.current), running(c.plan, s.running);
  for (int64_t item = slot; item < c.items; item += c.pool_items) {
    Place place = place_of(c.plan, item);
    Batch batch = batch_of(p, c.addresses, place.b);
    if (without_keys(c, batch, place)) continue;
    Range range = visible_range(p, batch, place.i);
    load_group(c, s, batch, place);
    bool any = false;
    for (int64_t first = range.first; first < range.last;) {
      int64_t last = std::min(range.last, (first / kSplit + 1) * kSplit);
      run_split(c, s, batch, place, first, last, any ? current : running);
      if (any) join(c, place, running, current);
      any = true;
      first = last;
    }
    if (!any) running.reset(c.plan);
    finish(c, batch, place, running);
  }
}

// One split of one row.
void one_split(void *context, int64_t slot) {
  auto &c = *static_cast<Context *>(context);
  const Problem &p = c.p();
  Scratch s = prepare(c, slot);
  for (int64_t item = slot; item < c.items; item += c.pool_items) {
    Place place = place_of(c.plan, item / c.plan.split_max);
    Batch batch = batch_of(p, c.addresses, place.b);
    if (place.i >= batch.queries || batch.keys == 0) continue;
    Range range = visible_range(p, batch, place.i);
    int64_t begin = item % c.plan.split_max * kSplit;
    int64_t first = std::max(begin, range.first), last = std::min(begin + kSplit, range.last);
    if (first >= last) continue;
    load_group(c, s, batch, place);
    run_split(c, s, batch, place, first, last,
              State(c.plan, c.partials + item * state_floats(c.plan)));
  }
}

void merge_row(void *context, int64_t index) {
  auto &c = *static_cast<Context *>(context);
  const Problem &p = c.p();
  Place place = place_of(c.plan, index);
  Batch batch = batch_of(p, c.addresses, place.b);
  if (without_keys(c, batch, place)) return;
  Range range = visible_range(p, batch, place.i);
  float *partials = c.partials + index * c.plan.split_max * state_floats(c.plan);
  int64_t split = range.first < range.last ? range.first / kSplit : 0;
  State total(c.plan, partials + split * state_floats(c.plan));
  if (range.first >= range.last) {
    total.reset(c.plan);
  } else {
    while (++split * kSplit < range.last) {
      join(c, place, total, State(c.plan, partials + split * state_floats(c.plan)));
    }
  }
  finish(c, batch, place, total);
}

bool contiguous(const View &view) { return view.d == 1 && kernel_type(view.type); }

}  // namespace

void plan_blocks(Plan &plan) {
  const Problem &p = plan.problem;
  plan.blocks = p.quant.scores == Quant::Float && p.batch > 0 && p.queryMax > 0;
  if (!plan.blocks) return;
  const Cache &cache = p.cache;
  bool k_plain = cache.fractal == 0 && p.quant.k == Quant::None;
  bool v_plain = cache.fractal == 0 && p.quant.v == Quant::None;
  if (cache.form == Cache::List) {
    for (const View &view : cache.kList) k_plain &= contiguous(view);
    for (const View &view : cache.vList) v_plain &= contiguous(view);
  } else {
    k_plain &= contiguous(cache.k);
    v_plain &= contiguous(cache.v);
  }
  if (p.prefixLen > 0) {
    k_plain &= contiguous(p.kPrefix);
    v_plain &= contiguous(p.vPrefix);
  }
  if (p.ropeDim > 0) k_plain &= cache.ropeFractal == 0 && contiguous(p.kRope);
  plan.convert_k = !k_plain;
  plan.convert_v = !v_plain && !cache.valueIsKeyPrefix;

  plan.tile = std::min(group(p), kTileMax);
  int64_t places = places_of(plan);
  plan.split_max = std::max<int64_t>((p.prefixLen + p.keyMax + kSplit - 1) / kSplit, 1);
  // The key bound may come from a table far wider than any memory: then no partial results are
  // kept.
  __extension__ typedef __int128 Wide;
  Wide partials =
      Wide{places} * plan.split_max * state_floats(plan) * static_cast<int64_t>(sizeof(float));
  plan.split = places < kParallelPlaces && plan.split_max > 1 && partials <= kPartialsMax;
  plan.slot_bytes = static_cast<uint64_t>(Scratch(plan, nullptr).floats) * sizeof(float);
  auto fitting = static_cast<int64_t>(kScratchMax / plan.slot_bytes);
  plan.slots = std::min(block_items(plan), std::clamp<int64_t>(fitting, 8, kSlotsMax));
  plan.workspace = 64 + static_cast<uint64_t>(plan.slots) * plan.slot_bytes;
  if (plan.split) {
    plan.workspace += static_cast<uint64_t>(partials);
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
  auto *partials = scratch + plan.slots * static_cast<int64_t>(plan.slot_bytes / sizeof(float));
  const Visible &v = p.visible;
  Context context{plan,     addresses,         kernels,    scratch,
                  partials, block_items(plan), plan.slots, v.causal || v.band || v.block > 0};
  if (plan.split) {
    run_items(plan.small, plan.slots, one_split, &context);
    run_items(plan.small, places_of(plan), merge_row, &context);
  } else {
    run_items(plan.small, plan.slots, whole_rows, &context);
  }
  return !context.exhausted;
}

}  // namespace pyaclnn::attention
