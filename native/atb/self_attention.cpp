// SelfAttentionOperation: its tensors and their types, and what a call of it is.
#include "atb/self_attention.hpp"

#include <algorithm>
#include <vector>

#include "acl/acl_base.h"
#include "atb/fractal.hpp"
#include "atb/self_attention_rules.hpp"

namespace pyaclnn::atb {

using Call = SelfAttentionCall;

// ---- facts

Call::SelfAttentionCall(const Facts &facts, const Param &its_param, const Limits &its_limits)
    : OperationCall(facts, its_param, its_limits),
      sound(layout.input_count != 0 && counts_fit() && bad_desc(*this).what == BadDesc::None) {}

namespace {

bool is_length_type(const TensorDesc *desc) {
  return desc != nullptr && (desc->dtype == ACL_INT32 || desc->dtype == ACL_UINT32);
}

// What does not fit into int32 is negative here.
std::span<const int32_t> integers(const Call &c, size_t slot) {
  if (!c.sound || !is_length_type(c.desc(slot))) return {};
  return c.host<int32_t>(slot);
}

int64_t longest(std::span<const int32_t> lengths) {
  return lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
}

}  // namespace

int64_t Call::query_head_size() const {
  if (!sound) return kUnknown;
  return rank(kQuery) == 2 ? dim(kQuery, 1) / heads() : last_dim(kQuery);
}

int64_t Call::key_head_size() const {
  if (!sound) return kUnknown;
  if (cached() && bypass()) {
    if (bnsd()) return limits.fractal ? dim(kCacheK, 2) * kFractal : last_dim(kCacheK);
    return hidden(kCacheK) / kv_heads();
  }
  return heads_apart(kKey) ? last_dim(kKey) : last_dim(kKey) / kv_heads();
}

int64_t Call::value_head_size() const {
  if (!sound) return kUnknown;
  if (mla()) return param.mlaVHeadSize;
  if (cached() && bypass()) {
    if (bnsd()) return limits.fractal ? dim(kCacheV, 2) * kFractal : last_dim(kCacheV);
    return hidden(kCacheV) / kv_heads();
  }
  return heads_apart(kValue) ? last_dim(kValue) : last_dim(kValue) / kv_heads();
}

bool Call::heads_apart(size_t slot) const {
  return rank(slot) == 4 || (rank(slot) == 3 && !(prefix() && slot != kQuery));
}

bool Call::heads_together() const {
  return (cached() && bypass() && !bnsd()) || rank(key_slot()) == 2 ||
         (prefix() && rank(kKey) == 3);
}

int64_t Call::rows(size_t slot) const {
  if (!sound || rank(slot) < 2) return kUnknown;
  const int64_t leading = rank(slot) - (heads_apart(slot) ? 2 : 1);
  int64_t count = 1;
  for (int64_t i = 0; i < leading; ++i) count *= dim(slot, static_cast<size_t>(i));
  return count;
}

int64_t Call::hidden(size_t slot) const {
  if (!sound || rank(slot) < 2) return kUnknown;
  if (slot == kCacheK || slot == kCacheV) {
    return limits.fractal ? dim(slot, 2) * kFractal : last_dim(slot);
  }
  const int64_t last = last_dim(slot);
  return heads_apart(slot) ? dim(slot, static_cast<size_t>(rank(slot) - 2)) * last : last;
}

int64_t Call::batch() const { return dim(kSeqLen, packed() && rank(kSeqLen) == 2 ? 1 : 0); }

int64_t Call::cache_rows() const {
  const std::span<const Tensor> list = members(kCacheK);
  const TensorDesc *cache = list.empty() ? desc(kCacheK) : &list[0].desc;
  return rank_of(cache) < 2 ? kUnknown : dim_of(cache, static_cast<size_t>(rank_of(cache) - 2));
}

std::span<const int32_t> Call::query_lengths() const {
  const std::span<const int32_t> all = integers(*this, kSeqLen);
  return packed() && rank(kSeqLen) == 2 ? all.first(all.size() / 2) : all;
}

std::span<const int32_t> Call::kv_lengths() const {
  const std::span<const int32_t> all = integers(*this, kv_lengths_slot());
  return packed() && rank(kSeqLen) == 2 ? all.subspan(all.size() / 2) : all;
}

std::span<const int32_t> Call::statuses() const {
  return run_status() ? integers(*this, kBatchRunStatus) : std::span<const int32_t>();
}

bool Call::listed(size_t slot) const {
  const Tensor *cache = tensor(slot);
  return lists() && cache != nullptr && cache->deviceData == nullptr && cache->hostData != nullptr;
}

std::span<const Tensor> Call::members(size_t slot) const {
  if (!decoder() || !listed(slot)) return {};
  const auto &list = *static_cast<const std::vector<Tensor> *>(tensor(slot)->hostData);
  return {list.data(), list.size()};
}

Call::Mask Call::mask() const {
  Mask m;
  if (!has_mask()) {
    if (causal()) m.form = MaskForm::Causal;
    return m;
  }
  m.form = MaskForm::Full;
  const int64_t r = rank(kMask);
  if (!sound || r < 2 || r > 4) {
    m.fits = false;
    return m;
  }
  const int64_t queries = longest(query_lengths()), keys = longest(kv_lengths());
  const bool nz = desc(kMask)->format == ACL_FORMAT_FRACTAL_NZ;
  m.rows = dim(kMask, static_cast<size_t>(r - 2));
  m.columns = last_dim(kMask);
  if (nz) {
    m.columns *= dim(kMask, 1);
    m.fits = limits.fractal && r == 4 && last_dim(kMask) == 16;
  }
  const auto is = [&](int64_t edge) { return m.rows == edge && m.columns == edge; };
  const int64_t step = row_step();
  const bool covers = m.rows >= round_up(queries, step) && m.columns >= round_up(keys, step);
  const bool norm = !alibi() && !sliding();
  // Planes, of which NZ knows only how many.
  const int64_t planes = nz || r == 3 ? dim(kMask, 0) : 1;
  if (r == 4 && !nz) {
    m.per_batch = m.per_head = true;
    m.fits = m.fits && dim(kMask, 0) == batch() && dim(kMask, 1) == heads();
  } else if (r == 2) {
    // The converter of these products has no form for it.
    m.fits = m.fits && !limits.fractal;
  } else if (!limits.fractal || planes != 1 || (alibi() && heads() == 1)) {
    const bool both = limits.fractal && planes == batch() * heads();
    m.per_batch = both || !alibi();
    m.per_head = both || alibi();
    m.fits = m.fits && (both || planes == (alibi() ? heads() : batch()));
  }

  const bool stripe = alibi() && m.columns == 128 && (m.rows != 128 || limits.fractal) &&
                      m.rows >= round_up(queries, step) && m.per_head && !m.per_batch;

  if (norm && triangle() && is(128) && !m.per_head) {
    m.form = MaskForm::NormTile;
  } else if (norm_compress() && triangle() && limits.long_window && nz && is(2048)) {
    m.form = MaskForm::NormWindow;
  } else if (alibi_compress() && is(256) && (r == 2 || (nz && planes == 1))) {
    m.form = MaskForm::AlibiTile;
  } else if (sliding_compress() && is(512)) {
    m.form = MaskForm::SlidingTile;
  } else if (alibi_compress() && stripe) {
    m.form = MaskForm::AlibiStripe;
  } else {
    // The device takes the compressed shapes for ALIBI, too; see SA-MASK-ROOM.
    m.fits = m.fits && (covers || stripe || (alibi() && r == 2 && is(256)));
  }
  // Behind a prefix rows are positions.
  if (prefix() && r == 3) m.fits = m.fits && m.rows >= keys;
  return m;
}

// ---- tensors

namespace {

constexpr SelfAttentionLimits full(ProductId product) {
  SelfAttentionLimits row{{product}};
  row.cached = row.prefix = true;
  row.clamp = row.quant = row.run_status = row.mla = true;
  row.alibi_compress = row.left_align = row.sliding = row.log_n = true;
  row.high_precision = row.packed_bnsd = row.flat_query = true;
  row.list = true;
  row.list_code = ::atb::ERROR_INVALID_TENSOR_DIM;
  return row;
}
constexpr SelfAttentionLimits inference(ProductId product) {
  SelfAttentionLimits row{{product}};
  row.fractal = row.cached = true;
  row.alibi_compress = row.sliding = row.log_n = true;
  row.exp_m8v2 = row.long_window = true;
  row.list = true;
  row.list_code = ::atb::ERROR_INVALID_PARAM;
  row.batch_max = 2000;
  return row;
}
constexpr SelfAttentionLimits training(ProductId product) {
  SelfAttentionLimits row{{product}};
  row.fractal = row.flat_query = true;
  return row;
}
constexpr SelfAttentionLimits kLimits[] = {
    full(ProductId::AtlasA2),        full(ProductId::AtlasA3),      {{ProductId::Ascend950, false}},
    inference(ProductId::Atlas310P), training(ProductId::Atlas910),
};

bool has_slopes(const Call &c) {
  return c.alibi_compress() || (c.prefix() && !c.norm_compress() && !c.causal());
}
bool always(const Call &) { return true; }
bool cached(const Call &c) { return c.cached(); }
bool writes(const Call &c) { return !c.bypass(); }
bool lists(const Call &c) { return c.lists(); }

constexpr Slot<Call> kInputs[] = {
    {"query"},
    {"key", [](const Call &c) { return !(c.cached() && c.bypass()); }},
    {"value", [](const Call &c) { return !(c.cached() && c.bypass()) && !c.mla(); }},
    {.name = "cacheK", .present = cached, .written = writes, .list = lists},
    {.name = "cacheV", .present = cached, .written = writes, .list = lists},
    {"blockTables", [](const Call &c) { return c.prefix(); }},
    // CAUSAL has none where it is offered; elsewhere the device counts one all the same.
    {.name = "mask",
     .present = [](const Call &c) { return c.has_mask() || (c.causal() && !c.prefix()); },
     .bytes = kMaskOfBytes},
    {"tokenOffset", cached, always},
    {"seqLen", nullptr, always},
    {"kvSeqLen", [](const Call &c) { return c.prefix(); }, always},
    {"layerId", cached},
    {"batchRunStatus", [](const Call &c) { return c.cached() && c.run_status(); }, always},
    {"slopes", has_slopes},
    {"qkDescale", [](const Call &c) { return c.quantised(); }},
    {"qkOffset", [](const Call &c) { return c.quantised(); }},
    {"vpvDescale", [](const Call &c) { return c.quantised(); }},
    {"vpvOffset", [](const Call &c) { return c.quantised(); }},
    {"pScale", [](const Call &c) { return c.offline(); }},
    {"logN", [](const Call &c) { return c.log_n(); }},
};
static_assert(std::size(kInputs) == Call::kInputSlots);
constexpr Slot<Call> kOutputs[] = {{"output"}};

// Words: query key value cacheK cacheV blockTables mask tokenOffset seqLen kvSeqLen layerId
// batchRunStatus slopes qkDescale qkOffset vpvDescale vpvOffset pScale logN > output. A mode skips
// those it does not have; - stands where none of a group's modes has one.
constexpr Signature kCached[] = {
    "T T T T T - T I I - I I - - - - - - f > T",
    "T T T TZ TZ - T I I - I I - - - - - - h > T",
    "T T T TZ TZ - TZ I I - I I - - - - - - h > T",
};
constexpr Signature kPrefix[] = {
    "T T T - - i4 T - S S - - f - - - - - - > T",
};
constexpr Signature kM8V2[] = {
    "h h h - - - I - I - - - - - - - - - - > h",
    "h h h - - - IZ - I - - - - - - - - - - > h",
};
constexpr Signature kBnsd[] = {
    "b b b - - - - - I - - - - - - - - - - > b",
};
constexpr Signature kMlaQuant[] = {
    "i8 i8 - - - - T - i4 - - - - f i4 f i4 f - > T",
};
constexpr Signature kOfflineMask[] = {
    "i8 i8 i8 - - - T - i4 - - - f f i4 f i4 f - > T",
    "i8 i8 i8 - - - h - i4 - - - h f i4 f i4 f - > h",
};
constexpr Signature kSlopes[] = {
    "T T T - - - T - i4 - - - f - - - - - f > T",
    "h h h - - - h - i4 - - - h - - - - - f > h",
    "h h h - - - hZ - i4 - - - h - - - - - h > h",
};
constexpr Signature kPacked[] = {
    "T T T - - - T - i4 - - - - - - - - - f > T",
    "T T T - - - TZ - i4 - - - - - - - - - h > T",
};
constexpr Signature kPackedMla[] = {
    "T T - - - - T - i4 - - - - - - - - - - > T",
};
constexpr Signature kPackedNoMask[] = {
    "T T T - - - - - i4 - - - - - - - - - f > T",
    "h h h - - - - - i4 - - - - - - - - - h > h",
};
constexpr SignatureGroup<Call> kSignatures[] = {
    // A mask is counted for which no combination has a place.
    {[](const Call &c) { return c.cached() && c.causal(); }, {}},
    {cached, kCached},
    {[](const Call &c) { return c.prefix(); }, kPrefix},
    {[](const Call &c) { return c.exp_m8v2(); }, kM8V2},
    {[](const Call &c) { return c.bnsd(); }, kBnsd},
    {[](const Call &c) { return c.mla() && c.quantised(); }, kMlaQuant},
    {[](const Call &c) { return c.mla(); }, kPackedMla},
    {[](const Call &c) { return c.offline() && c.has_mask(); }, kOfflineMask},
    {[](const Call &c) { return !c.quantised() && c.alibi_compress(); }, kSlopes},
    {[](const Call &c) { return !c.quantised() && c.has_mask(); }, kPacked},
    {[](const Call &c) { return !c.quantised(); }, kPackedNoMask},
    // The other quantised forms are checked by us, at Setup.
};

void describe(const Call &c, SVector<TensorDesc> &outputs) { outputs[0] = described_output(c); }

constexpr Definition<Call> kDefinition{
    .name = "SelfAttentionOperation",
    .limits = kLimits,
    .inputs = kInputs,
    .outputs = kOutputs,
    .signatures = kSignatures,
    .create = kCreatePath<Call, self_attention_rules::kCreate>,
    .infer = kInferPath<Call, self_attention_rules::kInfer>,
    .setup = kSetupPath<Call, self_attention_rules::kSetup, self_attention_rules::kKernelChecks>,
    .execute = self_attention_rules::kExecute,
    .describe = describe,
    .lower = lower,
};
Registration<kDefinition> g_registration;

}  // namespace

TensorDesc described_output(const Call &c) {
  TensorDesc out = *c.desc(Call::kQuery);
  if (c.quantised()) out.dtype = c.param.outDataType;
  if (c.bnsd() || c.prefix()) return out;
  const int64_t rank = c.rank(Call::kQuery);
  int64_t *dims = out.shape.dims;
  if (c.limits.fractal) {
    if (rank == 4) {
      out.shape.dimNum = 3;
      dims[2] *= dims[3];
    }
    return out;
  }
  const int64_t size = c.value_head_size();
  if (rank == 2) {
    dims[1] = c.heads() * size;
  } else if (rank == 3) {
    dims[2] = size;
  } else {
    out.shape.dimNum = 3;
    dims[2] = (c.bypass() ? c.heads() : dims[2]) * size;
  }
  return out;
}

}  // namespace pyaclnn::atb

template <>
ACL_FUNC_VISIBILITY atb::Status atb::CreateOperation(const infer::SelfAttentionParam &opParam,
                                                     Operation **operation) {
  return pyaclnn::atb::create(pyaclnn::atb::kDefinition, opParam, operation);
}
