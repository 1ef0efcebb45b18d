// SelfAttentionOperation: from the call to the engine's problem, and the rows that go into the
// caches before.
#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "acl/acl_base.h"
#include "atb/attention_plan.hpp"
#include "atb/cache_rows.hpp"
#include "atb/fractal.hpp"
#include "atb/self_attention_rules.hpp"
#include "support/half.hpp"

namespace pyaclnn::atb {
namespace {

using Call = SelfAttentionCall;
using attention::Bias;
using attention::Cache;
using attention::Mask;
using attention::Problem;
using attention::Quant;
using attention::View;

constexpr int32_t kTile = 128;  // rows and columns of a tile of the compressed masks

// Keys of new tokens, or values, go into rows tokenOffset - seqLen .. of their batch in one layer.
struct CacheWrite {
  std::array<CacheRows, 2> sides{};
  size_t token_offset = 0, seq_len = 0, layer_id = 0;  // addresses; layer_id 0: there is one layer
  std::vector<int64_t> totals, lengths;                // of the host, where the device has none
  std::vector<bool> skipped;                           // batches of status 0
  int64_t rows = 0;                                    // of key and value
  int64_t layers = 1, capacity = 0;                    // capacity: rows of a batch in a layer
};

// The first row of a mask that is multiplied: the values there tell a caller who means to add it.
struct MaskRow {
  size_t at = 0;  // address
  attention::Type type = attention::Type::f16;
  int64_t begin = 0, count = 0;  // elements
  const Product *product = nullptr;
};

class SelfAttentionPlan final : public AttentionPlan {
 public:
  std::unique_ptr<CacheWrite> write;
  MaskRow mask_row;
  size_t members = 0;  // of each list of caches

  size_t address_count(const Given &given) const override {
    return AttentionPlan::address_count(given) + 2 * members;
  }
  void collect(const Given &given, std::byte **addresses) const override {
    AttentionPlan::collect(given, addresses);
    if (members == 0) return;
    addresses += AttentionPlan::address_count(given);
    for (size_t cache : lists) {
      // A pack of Execute may have an ordinary tensor here.
      const Tensor &outer = given.in[cache];
      const auto *list = outer.deviceData != nullptr
                             ? nullptr
                             : static_cast<const std::vector<Tensor> *>(outer.hostData);
      for (size_t b = 0; b < members; ++b) {
        const bool there = list != nullptr && b < list->size();
        *addresses++ = there ? static_cast<std::byte *>((*list)[b].deviceData) : nullptr;
      }
    }
  }

  int32_t run(std::span<std::byte *const> addresses, std::byte *workspace,
              Text &why) const override {
    if (write != nullptr) {
      if (int32_t code = write_rows(addresses, why); code != 0) return code;
    }
    if (mask_row.count != 0 && addresses[mask_row.at] != nullptr) look_at_mask(addresses);
    return AttentionPlan::run(addresses, workspace, why);
  }

  std::array<size_t, 2> lists{};  // addresses of the caches that are lists

 private:
  int32_t write_rows(std::span<std::byte *const> addresses, Text &why) const;
  void look_at_mask(std::span<std::byte *const> addresses) const;
};

void SelfAttentionPlan::look_at_mask(std::span<std::byte *const> addresses) const {
  const auto *row = reinterpret_cast<const uint16_t *>(addresses[mask_row.at]) + mask_row.begin;
  const bool half = mask_row.type == attention::Type::f16;
  for (int64_t i = 0; i < mask_row.count; ++i) {
    const float value = half ? half_to_float(row[i]) : bfloat16_to_float(row[i]);
    if (value >= 0 && value <= 1) continue;
    self_attention_rules::advise_mask_ones(*mask_row.product, value, i);
    return;
  }
}

// Judges everything before the first row is written.
int32_t SelfAttentionPlan::write_rows(std::span<std::byte *const> addresses, Text &why) const {
  const CacheWrite &w = *write;
  const struct {
    size_t at;
    const char *name;
  } needed[] = {{w.sides[0].from, "key"},
                {w.sides[1].from, "value"},
                {w.sides[0].to, "cacheK"},
                {w.sides[1].to, "cacheV"},
                {w.layer_id, "layerId"}};
  for (const auto &each : needed) {
    if (each.at != 0 && addresses[each.at] == nullptr) return null_data(each.name, why);
  }
  const auto integers = [&](size_t at) { return reinterpret_cast<const int32_t *>(addresses[at]); };
  int64_t layer = 0;
  if (w.layer_id != 0) {
    layer = *integers(w.layer_id);
    if (layer < 0 || layer >= w.layers)
      return value_outside("layerId", 0, layer, 0, w.layers - 1, why);
  }
  const int32_t *totals = integers(w.token_offset), *lengths = integers(w.seq_len);
  const bool on_device = totals != nullptr && lengths != nullptr;
  const int64_t batch = static_cast<int64_t>(w.totals.size());
  std::vector<int64_t> slots;
  slots.reserve(static_cast<size_t>(w.rows));
  for (int64_t b = 0; b < batch; ++b) {
    const auto at = static_cast<size_t>(b);
    const int64_t total = on_device ? totals[b] : w.totals[at];
    const int64_t length = on_device ? lengths[b] : w.lengths[at];
    const int64_t left = w.rows - static_cast<int64_t>(slots.size());
    if (length < 0 || length > left) return value_outside("seqLen", b, length, 0, left, why);
    if (w.skipped[at]) {
      slots.insert(slots.end(), static_cast<size_t>(length), -1);
      continue;
    }
    if (length > 0 && (total < length || total > w.capacity)) {
      return value_outside("tokenOffset", b, total, length, w.capacity, why);
    }
    const int64_t first = (layer * batch + b) * w.capacity + total - length;
    for (int64_t j = 0; j < length; ++j) slots.push_back(first + j);
  }
  copy_rows<int64_t>(w.sides, addresses, slots);
  return 0;
}

// ---- the lowering

class Lowering : AttentionTensors {
 public:
  explicit Lowering(const Call &call)
      : AttentionTensors(call),
        c(call),
        key_size(c.query_head_size()),
        value_size(c.value_head_size()),
        plan(std::make_unique<SelfAttentionPlan>()) {}

  std::unique_ptr<Plan> lower() {
    p.batch = c.batch();
    p.heads = c.heads();
    p.kvHeads = c.kv_heads();
    p.headDim = key_size;
    p.headDimV = value_size;
    lengths();
    query();
    if (c.packed()) {
      packed_keys();
    } else if (c.prefix()) {
      paged_keys();
    } else {
      cached_keys();
    }
    score();
    quant();
    mask();
    p.empty.noKeys = attention::Empty::Untouched;
    plan->finish(p, "SelfAttentionOperation", c.layout);
    if (!c.cached() || c.bypass()) return std::move(plan);
    return with_write();
  }

 private:
  // (rows, heads, size), or (batch, heads, rows, size) as BNSD has it.
  View rows_of(View v, int64_t heads, int64_t size, int64_t rows) const {
    v.d = 1;
    if (c.bnsd()) {
      v.s = size;
      v.h = rows * size;
      v.b = heads * v.h;
    } else {
      v.h = size;
      v.s = heads * size;
    }
    return v;
  }

  // Which rows each batch has. Batches without rows or without keys are left out.
  void lengths() {
    const auto query_lengths = c.query_lengths(), kv_lengths = c.kv_lengths(),
               statuses = c.statuses();
    const auto batch = static_cast<size_t>(p.batch);
    std::vector<int64_t> queries(batch), keys(batch), query_begin(batch), key_begin(batch);
    // DECODER computes the first row of a batch in half precision.
    const bool one_row =
        c.decoder() && !c.limits.fractal && c.desc(Call::kQuery)->dtype == ACL_FLOAT16;
    int64_t row = 0, key = 0;
    for (size_t b = 0; b < batch; ++b) {
      query_begin[b] = row;
      key_begin[b] = c.packed() && !c.bnsd() ? key : 0;
      queries[b] = query_lengths[b];
      keys[b] = kv_lengths[b];
      row += c.cached() ? round_up(queries[b], c.row_step()) : queries[b];
      key += keys[b];
      if (queries[b] == 0 || keys[b] == 0 || (c.decoder() && c.run_status() && statuses[b] == 0)) {
        queries[b] = keys[b] = 0;
      }
      if (one_row) queries[b] = std::min<int64_t>(queries[b], 1);
      if (c.decoder() && c.window() > 0 && c.window() < keys[b]) {
        if (!c.ring()) key_begin[b] = keys[b] - c.window();
        keys[b] = c.window();
      }
      p.queryMax = std::max(p.queryMax, queries[b]);
      p.keyMax = std::max(p.keyMax, keys[b]);
    }
    using attention::Begin;
    using attention::Lengths;
    p.qLen = {.from = Lengths::Host, .host = plan->keep(std::move(queries)), .bound = p.queryMax};
    p.kvLen = {.from = Lengths::Host, .host = plan->keep(std::move(keys)), .bound = p.keyMax};
    p.kvBegin = {.from = Begin::Host, .host = plan->keep(std::move(key_begin))};
    if (c.bnsd()) return;  // each batch has its own rows
    p.qBegin = {.from = Begin::Host, .host = plan->keep(std::move(query_begin))};
  }

  void query() {
    const int64_t rows = c.bnsd() ? c.dim(Call::kQuery, 2) : 0;
    p.q = rows_of(view(Call::kQuery), p.heads, key_size, rows);
    p.out.o = rows_of(output_view(Call::kOutput), p.heads, value_size, rows);
  }

  void packed_keys() {
    const int64_t rows = c.bnsd() ? c.dim(Call::kKey, 2) : 0;
    p.cache.k = rows_of(view(Call::kKey), p.kvHeads, key_size, rows);
    p.cache.valueIsKeyPrefix = c.mla();
    if (!c.mla()) p.cache.v = rows_of(view(Call::kValue), p.kvHeads, value_size, rows);
  }

  void paged_keys() {
    Cache &cache = p.cache;
    cache.form = Cache::Paged;
    cache.blockSize = static_cast<int32_t>(c.dim(Call::kKey, 1));
    cache.blockCount = static_cast<int32_t>(c.dim(Call::kKey, 0));
    cache.table = place(Call::kBlockTables);
    cache.tableStride = c.dim(Call::kBlockTables, 1);
    cache.k = rows_of(view(Call::kKey), p.kvHeads, key_size, 0);
    cache.v = rows_of(view(Call::kValue), p.kvHeads, value_size, 0);
    cache.k.b = cache.blockSize * cache.k.s;
    cache.v.b = cache.blockSize * cache.v.s;
  }

  void cached_keys() {
    Cache &cache = p.cache;
    cache.fractal = c.limits.fractal ? kFractal : 0;
    if (!c.run_status()) {
      cache.layer = place(Call::kLayerId);
      cache.layerCount = c.dim(Call::kCacheK, 0);
    }
    if (c.listed()) {
      cache.form = Cache::List;
      plan->members = static_cast<size_t>(p.batch);
      plan->lists = {place(Call::kCacheK), place(Call::kCacheV)};
      size_t first = c.layout.input_count + c.layout.output_count;
      if (first + 2 * plan->members >= attention::kNone) {
        throw std::length_error("too many caches in a list");
      }
      cache.kList = member_views(Call::kCacheK, key_size, first);
      cache.vList = member_views(Call::kCacheV, value_size, first + plan->members);
      return;
    }
    const int64_t rows = c.cache_rows();
    cache.k = cache_view(view(Call::kCacheK), key_size, rows);
    cache.v = cache_view(view(Call::kCacheV), value_size, rows);
    cache.layerStride = p.batch * cache.k.b;
    cache.layerStrideV = p.batch * cache.v.b;
    if (c.ring() && !c.decoder() && c.window() > 0) {
      cache.ring = true;
      cache.window = c.window();
    }
  }

  View cache_view(View v, int64_t size, int64_t rows) const {
    v = rows_of(v, p.kvHeads, size, rows);
    v.b = p.kvHeads * size * rows;
    if (!c.limits.fractal) return v;
    // Groups of columns of all heads, BNSD or not: a head has whole ones.
    v.h = size;
    v.s = kFractal;
    v.d = rows * kFractal;
    return v;
  }

  std::span<const View> member_views(size_t slot, int64_t size, size_t first) {
    std::vector<View> views;
    for (const Tensor &member : c.members(slot)) {
      const auto at = static_cast<attention::Slot>(first + views.size());
      const size_t axis = member.desc.shape.dimNum - 2;
      View v =
          cache_view({.slot = at, .type = view(slot).type}, size, member.desc.shape.dims[axis]);
      v.b = 0;
      views.push_back(v);
    }
    return plan->keep(std::move(views));
  }

  void score() {
    p.score.scale = c.param.qkScale;
    if (c.cached()) {
      p.score.preScaleQ = c.param.qScale;
      p.score.roundQ = c.param.qScale != 1.0f;
      p.score.clamp = c.param.clampType == Call::Param::CLAMP_TYPE_MIN_MAX;
      p.score.lo = c.param.clampMin;
      p.score.hi = c.param.clampMax;
    }
    if (c.log_n()) {
      p.score.logN = view(Call::kLogN);
      (c.decoder() ? p.score.logN.b : p.score.logN.s) = 1;
    }
  }

  void quant() {
    if (!c.quantised()) return;
    p.quant.qScale = per_head(Call::kQkDescale);
    p.quant.pvScale = per_head(Call::kVpvDescale);
    p.quant.scores = c.offline() ? Quant::StaticInt8 : Quant::OnlineInt8;
    if (c.offline()) p.quant.pScale = per_head(Call::kPScale);
  }

  // Masks that hold 1 where a key does not count.
  bool multiplied(const Call::Mask &given) const {
    if (c.limits.fractal || given.per_head || c.alibi()) return false;
    if (c.desc(Call::kQuery)->dtype == ACL_BF16) return true;
    if (c.out_desc(Call::kOutput)->dtype == ACL_BF16) return true;
    return c.high_precision() && !c.decoder() && !c.prefix() && !c.run_status();
  }

  // Edge of the blocks right of the diagonal that isTriuMask leaves out.
  int64_t block_edge() const {
    if (c.mla()) return kTile;
    const int64_t columns =
        std::max<int64_t>(round_up(std::max(key_size, value_size), kFractal), kTile);
    return std::min<int64_t>(16384 / columns / kFractal * kFractal, kTile);
  }

  void mask() {
    using Form = Call::MaskForm;
    const Call::Mask given = c.mask();
    attention::Visible &visible = p.visible;
    // Rows are positions among the keys only behind a prefix.
    if (c.prefix()) visible.anchor = attention::Visible::BottomRight;
    switch (given.form) {
      case Form::None: return;
      case Form::Causal:
      case Form::NormWindow: visible.causal = true; return;
      case Form::SlidingTile: slide(); return;
      case Form::Full:
        if (c.sliding()) {
          slide();
        } else if (c.alibi_compress()) {
          visible.block = kTile;
        } else if (c.triangle() && !c.limits.fractal) {
          visible.block = block_edge();
        }
        break;
      case Form::NormTile:
      case Form::AlibiTile:
      case Form::AlibiStripe: visible.block = kTile; break;
    }

    Mask &m = p.mask;
    m.how = multiplied(given) ? Mask::AddTimes : Mask::Add;
    m.value = kMaskFactor;
    m.rows = c.prefix() ? Mask::Absolute : Mask::Local;
    m.columns = Mask::LocalColumns;
    m.m = view(Call::kMask);
    m.count = static_cast<int64_t>(elements_of(*c.desc(Call::kMask)));
    if (c.desc(Call::kMask)->format == ACL_FORMAT_FRACTAL_NZ) {
      m.fractal = kFractal;
      m.m.s = kFractal;
      m.m.d = given.rows * kFractal;
    } else {
      m.m.s = given.columns;
      m.m.d = 1;
    }
    const int64_t plane = given.rows * given.columns;
    m.m.h = given.per_head ? plane : 0;
    m.m.b = given.per_batch ? plane * (given.per_head ? p.heads : 1) : 0;
    if (m.how == Mask::AddTimes) keep_mask_row(given.columns);
    if (given.form == Form::Full) return;
    m.tile = kTile;
    if (given.form == Form::NormTile) {
      m.tileForm = Mask::Diagonal;
    } else if (given.form == Form::AlibiStripe) {
      m.tileForm = Mask::Stripe;
    } else {
      m.tileForm = Mask::Lower;
      m.slopes = per_head(Call::kSlopes);
      switch (c.param.maskType) {
        case Call::Param::MASK_TYPE_ALIBI_COMPRESS: m.grow = Mask::Distance; break;
        case Call::Param::MASK_TYPE_ALIBI_COMPRESS_SQRT: m.grow = Mask::Root; break;
        default: m.grow = Mask::Column; break;
      }
    }
  }

  // Of the first batch with work; a prefix has whole tiles, so there, too, it begins at row 0.
  void keep_mask_row(int64_t columns) {
    for (size_t b = 0; b < p.qLen.host.size(); ++b) {
      if (p.qLen.host[b] == 0) continue;
      const int64_t keys = c.prefix() ? p.qLen.host[b] : p.kvLen.host[b];
      plan->mask_row = {p.mask.m.slot, p.mask.m.type, static_cast<int64_t>(b) * p.mask.m.b,
                        std::min(columns, keys), &c.product};
      return;
    }
  }

  // Row i sees keys i - windowSize + 1 .. i.
  void slide() {
    p.visible.band = true;
    p.visible.pre = c.window() - 1;
    p.visible.next = 0;
  }

  std::unique_ptr<Plan> with_write() {
    auto write = std::make_unique<CacheWrite>();
    write->token_offset = place(Call::kTokenOffset);
    write->seq_len = place(Call::kSeqLen);
    if (!c.run_status()) {
      write->layer_id = place(Call::kLayerId);
      write->layers = c.dim(Call::kCacheK, 0);
    }
    const auto totals = c.kv_lengths(), lengths = c.query_lengths(), statuses = c.statuses();
    write->totals.assign(totals.begin(), totals.end());
    write->lengths.assign(lengths.begin(), lengths.end());
    write->skipped.assign(write->totals.size(), false);
    for (size_t b = 0; b < statuses.size(); ++b) write->skipped[b] = statuses[b] == 0;
    write->rows = std::min(c.rows(Call::kKey), c.rows(Call::kValue));
    write->capacity = c.cache_rows();
    int64_t bytes = 0;
    for (size_t i = 0; i < 2; ++i) {
      const size_t cache = i == 0 ? Call::kCacheK : Call::kCacheV;
      const auto element = static_cast<int64_t>(aclDataTypeSize(c.desc(cache)->dtype));
      CacheRows &side = write->sides[i];
      side.from = place(i == 0 ? Call::kKey : Call::kValue);
      side.to = place(cache);
      side.row = p.kvHeads * (i == 0 ? key_size : value_size) * element;
      side.blocks = write->layers * p.batch;
      side.block_size = write->capacity;
      side.group = c.limits.fractal ? kFractal * element : side.row;
      side.groups = side.row / side.group;
      bytes += side.row * write->rows;
    }
    plan->small = plan->small && bytes <= kInlineBytes;
    plan->write = std::move(write);
    return std::move(plan);
  }

  const Call &c;
  const int64_t key_size, value_size;
  std::unique_ptr<SelfAttentionPlan> plan;
  Problem p;
};

}  // namespace

std::unique_ptr<Plan> lower(const SelfAttentionCall &call) { return Lowering(call).lower(); }

}  // namespace pyaclnn::atb
