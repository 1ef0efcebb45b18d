#include "attention/blocks.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <new>

#include "attention/block_rows.hpp"
#include "attention/block_visibility.hpp"
#include "attention/block_step.hpp"
#include "attention/items.hpp"
#include "attention/output.hpp"
#include "attention/reference.hpp"
#include "support/cache.hpp"

namespace pyaclnn::attention {
namespace {

constexpr int64_t kSplit = 1024;         // keys of one partial result; a multiple of kBlock
constexpr int64_t kTileMax = 16;         // query heads of one item: they share a pass over the keys
constexpr int64_t kParallelPlaces = 64;  // with fewer places, their splits run side by side
constexpr int64_t kLanesMax = 64;
constexpr uint64_t kScratchMax = uint64_t{32} << 20;
constexpr int64_t kPartialsMax = int64_t{1}
                                 << 30;  // bytes; beyond them one thread joins as it goes

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

// Weights in int8 follow from the running maximum over all keys before.
int64_t span_of(const Problem &p) {
  return p.quant.scores == Quant::Float ? kSplit : std::numeric_limits<int64_t>::max();
}

int64_t splits_of(const Range &range) {
  return range.first < range.last ? (range.last - 1) / kSplit - range.first / kSplit + 1 : 0;
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

// The number of rows from which packing keys and values into panels pays (measured on Zen 5).
int64_t panel_rows(const Problem &p) {
  return key_type(p) == Type::bf16 && value_type(p) == Type::bf16 ? 32 : 64;
}

// Claims the next item that has keys to compute. Items without keys, or with none visible, are
// finished here. False when no item is left.
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

// The thread that finishes the last split of a place merges all of them, in key order.
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

// Computes items until none is left. The next item is claimed before the last block of the current
// one is computed, so that its first rows are prefetched meanwhile.
void run_lane(void *context, int64_t lane) {
  auto &c = *static_cast<Context *>(context);
  Scratch s(c.plan, c.scratch + lane * static_cast<int64_t>(c.plan.lane_bytes / sizeof(float)));
  std::fill(s.zeros, s.zeros + padded(c.p().headDimV), 0.0f);
  State running(c.plan, s.running), current(c.plan, s.current);
  const Problem &p = c.p();
  UnmaskedIntervals unmasked;
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
  if (c.uses_mask_intervals && work->panel) work->query_norm = max_query_norm(c, s, *work);
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
      if (c.uses_mask_intervals && work->panel) work->query_norm = max_query_norm(c, s, *work);
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

// Whether a block's rows are prefetched while the one before it is computed. Within the last cache
// the hardware's own prefetches do better, unless rows are packed, which waits for them. What
// counts is the most that the call may read (lengths are device data). Many parts of the query rows
// read the same again, which then matters only to rows that are pages apart.
bool prefetches(const Plan &plan) {
  const Problem &p = plan.problem;
  const bool apart =
      p.cache.form != Cache::List && p.cache.k.s > 8 * 2048 / type_bits(p.cache.k.type);
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
  if (uses_mask_intervals(plan))
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
  std::atomic<float> *max_key_norms = nullptr;
  if (uses_mask_intervals(plan)) {
    max_key_norms = reinterpret_cast<std::atomic<float> *>(partials);
    for (int64_t head = 0; head < p.batch * p.kvHeads; ++head) {
      new (max_key_norms + head) std::atomic<float>(-1);
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
                  max_key_norms,
                  splits,
                  span_of(p),
                  places_of(plan) * splits,
                  gaps,
                  simple,
                  p.mask.how == Mask::None || (byte_mask(p.mask) && p.mask.m.h == 0),
                  simple && uses_mask_intervals(plan),
                  k_pairs,
                  v_pairs,
                  prefetches(plan)};
  run_items(plan.small, std::min<int64_t>(plan.lanes, pool_threads()), run_lane, &context);
  kernels::record_threads(context.threads);
  return !context.exhausted;
}

}  // namespace pyaclnn::attention