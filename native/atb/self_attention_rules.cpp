#include "atb/self_attention_rules.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <concepts>

#include "atb/fractal.hpp"
#include "nnopbase/names.hpp"

namespace pyaclnn::atb::self_attention_rules {
namespace {

using Param = Call::Param;
// One by one: clang 14 takes what `using enum` brings for overloaded functions.
constexpr size_t kQuery = Call::kQuery, kKey = Call::kKey, kValue = Call::kValue,
                 kCacheK = Call::kCacheK, kCacheV = Call::kCacheV,
                 kBlockTables = Call::kBlockTables, kMask = Call::kMask,
                 kTokenOffset = Call::kTokenOffset, kSeqLen = Call::kSeqLen,
                 kKvSeqLen = Call::kKvSeqLen, kLayerId = Call::kLayerId,
                 kBatchRunStatus = Call::kBatchRunStatus, kSlopes = Call::kSlopes,
                 kQkDescale = Call::kQkDescale, kVpvDescale = Call::kVpvDescale,
                 kPScale = Call::kPScale, kLogN = Call::kLogN, kInputSlots = Call::kInputSlots;
using Form = Call::MaskForm;

// ---- saying

template <size_t kLength>
struct Words {
  char text[kLength];
  consteval Words(const char (&its_text)[kLength]) { std::copy_n(its_text, kLength, text); }
};

void say_value(bool value, Text &text) { text << (value ? "true (1)" : "false (0)"); }
void say_value(float value, Text &text) { text << static_cast<double>(value); }
template <class Number>
void say_value(Number value, Text &text) {
  if constexpr (std::same_as<Number, uint32_t>) {
    text << value;
  } else {
    text << static_cast<int>(value);  // also enumerators
  }
}

// The value of a field, and what it must be.
template <auto kField, Words kLimit>
void told(const Call &c, Saying &s) {
  say_value(c.param.*kField, s.value);
  s.limit << kLimit.text;
}

template <auto kField, Words kLimit>
void told_product(const Call &c, Saying &s) {
  say_value(c.param.*kField, s.value);
  s.value << " on " << c.product.title;
  s.limit << kLimit.text;
}

template <size_t kSlot, Words kLimit>
void told_shape(const Call &c, Saying &s) {
  say_shape(c.desc(kSlot), s.value);
  s.limit << kLimit.text;
}

// ---- when

bool sound(const Call &c) { return c.sound; }
bool packed_bsnd(const Call &c) { return c.packed() && !c.bnsd(); }
bool cached_bsnd(const Call &c) { return c.cached() && !c.bnsd(); }
bool packed_bnsd(const Call &c) { return c.packed() && c.bnsd(); }
bool cached_bnsd(const Call &c) { return c.cached() && c.bnsd(); }
bool prefix(const Call &c) { return c.prefix(); }
bool bnsd(const Call &c) { return c.bnsd(); }
bool bsnd(const Call &c) { return !c.bnsd(); }
bool mla(const Call &c) { return c.mla(); }
bool log_n(const Call &c) { return c.log_n(); }
bool fractal(const Call &c) { return c.limits.fractal; }
bool with_status(const Call &c) { return c.cached() && c.run_status(); }
bool status_bsnd(const Call &c) { return with_status(c) && !c.bnsd(); }
bool status_bnsd(const Call &c) { return with_status(c) && c.bnsd(); }
// Another path's copy of a rule, asked of other calls.
constexpr Rule within(Rule rule, bool (*applies)(const Call &)) {
  rule.applies = applies;
  return rule;
}
bool writes_cache(const Call &c) { return c.cached() && !c.bypass(); }
// A mask tensor whose shape PA_ENCODER and PREFIX_ENCODER look at.
bool mask_judged(const Call &c) { return c.has_mask() && (packed_bsnd(c) || c.prefix()); }
bool alibi_nd(const Call &c) { return mask_judged(c) && c.alibi_compress() && !c.limits.fractal; }
bool compress_judged(const Call &c) { return mask_judged(c) && c.norm_compress(); }

// ---- shapes

bool rank_between(const Call &c, size_t slot, int64_t low, int64_t high) {
  return !c.has(slot) || (c.rank(slot) >= low && c.rank(slot) <= high);
}
bool has_dims(const Call &c, size_t slot, std::initializer_list<int64_t> dims) {
  if (c.rank(slot) != static_cast<int64_t>(dims.size())) return false;
  size_t axis = 0;
  for (int64_t n : dims) {
    if (c.dim(slot, axis++) != n) return false;
  }
  return true;
}
// The first of some slots whose rank is another one; kInputSlots: none.
size_t wrong_rank(const Call &c, std::initializer_list<size_t> slots, int64_t rank) {
  for (size_t slot : slots) {
    if (!rank_between(c, slot, rank, rank)) return slot;
  }
  return kInputSlots;
}
bool same_leading_dims(const Call &c, size_t a, size_t b) {
  if (c.rank(a) != c.rank(b)) return false;
  for (int64_t i = 0; i + 1 < c.rank(a); ++i) {
    const auto axis = static_cast<size_t>(i);
    if (c.dim(a, axis) != c.dim(b, axis)) return false;
  }
  return true;
}
bool is_multiple(int64_t n, int64_t of) { return n >= 0 && n % of == 0; }

// Head sizes as the device's check has them: the rank of the keys decides for the values, too.
struct HeadSizes {
  int64_t key, value;
  int64_t largest() const { return std::max(key, value); }
};
HeadSizes head_sizes(const Call &c) {
  const size_t key = c.key_slot();
  if (c.limits.fractal) {
    const int64_t size = c.cached() && c.bypass()
                             ? c.hidden(key) / c.kv_heads()
                             : c.last_dim(key) / (c.rank(key) == 2 ? c.kv_heads() : 1);
    return {size, size};
  }
  const int64_t by = c.heads_together() ? c.kv_heads() : 1;
  return {c.last_dim(key) / by,
          c.mla() ? int64_t{c.param.mlaVHeadSize} : c.last_dim(c.value_slot()) / by};
}
bool sizes_differ(const Call &c) {
  const HeadSizes sizes = head_sizes(c);
  return !c.mla() && sizes.key != sizes.value;
}
int64_t head_limit(const Call &c) {
  if (c.alibi_compress()) return 128;
  if (c.limits.fractal) return 256;
  const bool differ = sizes_differ(c);
  if ((c.window() > 0 && !differ) || c.log_n() || (c.quantised() && !c.mla())) return 256;
  return differ ? 1024 : 576;
}

// ---- lengths

bool lengths_known(const Call &c) {
  const auto count = static_cast<size_t>(c.batch());
  return c.sound && c.query_lengths().size() == count && c.kv_lengths().size() == count &&
         (!with_status(c) || c.statuses().size() == count);
}
int64_t longest(std::span<const int32_t> lengths) {
  return *std::max_element(lengths.begin(), lengths.end());
}
int64_t shortest(std::span<const int32_t> lengths) {
  return *std::min_element(lengths.begin(), lengths.end());
}
// Rows of all batches, each a multiple of `step`.
int64_t total(std::span<const int32_t> lengths, int64_t step) {
  int64_t sum = 0;
  for (int32_t n : lengths) sum += round_up(std::max<int64_t>(n, 0), step);
  return sum;
}
// The first batch of which wrong(query length, total length) holds; -1: none.
template <class Wrong>
int64_t first_batch(const Call &c, Wrong wrong) {
  const std::span<const int32_t> q = c.query_lengths(), kv = c.kv_lengths();
  for (size_t b = 0; b < q.size(); ++b) {
    if (wrong(int64_t{q[b]}, int64_t{kv[b]}, b)) return static_cast<int64_t>(b);
  }
  return -1;
}
// "3 with tokenOffset 4 in batch 1"
void say_lengths(const Call &c, int64_t batch, Saying &s) {
  const auto b = static_cast<size_t>(batch);
  s.value << c.query_lengths()[b];
  const size_t other = c.kv_lengths_slot();
  s.value << (other == kSeqLen ? " with kv length" : " with ");
  if (other != kSeqLen) s.value << c.name(other);
  s.value << ' ' << c.kv_lengths()[b] << " in batch " << batch;
}

// Which lengths the device's plan accepts.
enum class LengthRule : uint8_t { None, Equal, Any, Positive, Decoder, Prefix };
LengthRule length_rule(const Call &c) {
  if (c.limits.fractal) return LengthRule::None;
  if (c.prefix()) return LengthRule::Prefix;
  if (c.packed()) {
    if (c.bnsd()) return LengthRule::Any;
    return c.high_precision() || c.mla() ? LengthRule::Positive : LengthRule::Equal;
  }
  if (!c.run_status()) return LengthRule::Positive;
  return c.decoder() ? LengthRule::Decoder : LengthRule::Equal;
}
int64_t out_of_range(const Call &c) {
  const LengthRule rule = length_rule(c);
  const int64_t least_q = rule == LengthRule::Positive || rule == LengthRule::Decoder ? 1 : 0;
  const int64_t least_kv = rule == LengthRule::Positive ? 1 : 0;
  return first_batch(c,
                     [&](int64_t q, int64_t kv, size_t) { return q < least_q || kv < least_kv; });
}
int64_t unrelated(const Call &c) {
  return first_batch(
      c, [](int64_t q, int64_t kv, size_t) { return q > 0 && kv > 0 && kv != q && q != 1; });
}
int64_t not_whole(const Call &c) {
  return first_batch(c, [](int64_t q, int64_t kv, size_t) { return (kv - q) % 128 != 0; });
}

// Whether a batch takes part: writes its cache rows, is attended.
bool runs(const Call &c, size_t b) {
  const std::span<const int32_t> statuses = c.statuses();
  return statuses.empty() || statuses[b] != 0;
}
int64_t bad_write(const Call &c) {
  const int64_t rows = c.cache_rows();
  return first_batch(c, [&](int64_t q, int64_t kv, size_t b) {
    return runs(c, b) && q > 0 && (kv < q || kv > rows);
  });
}
int64_t bad_read(const Call &c) {
  const int64_t rows = c.cache_rows();
  return first_batch(c, [&](int64_t, int64_t kv, size_t b) {
    if (c.decoder() && !runs(c, b)) return false;
    return (c.ring() ? std::min(kv, c.window()) : kv) > rows;
  });
}

int64_t query_rows_needed(const Call &c) {
  const std::span<const int32_t> q = c.query_lengths();
  return c.cached() ? total(q, c.row_step()) : round_up(total(q, 1), c.row_step());
}
int64_t key_rows_needed(const Call &c) {
  if (c.cached()) return total(c.query_lengths(), 1);
  return round_up(total(c.kv_lengths(), 1), c.row_step());
}
// The first of keys and values with too few rows; kInputSlots: none.
size_t few_rows(const Call &c) {
  if (c.bnsd()) return c.dim(kKey, 2) >= longest(c.kv_lengths()) ? kInputSlots : kKey;
  const int64_t needed = key_rows_needed(c);
  for (size_t slot : {size_t{kKey}, size_t{kValue}}) {
    if (c.has(slot) && c.rows(slot) < needed) return slot;
  }
  return kInputSlots;
}

// ---- tensors that several rules look at

size_t wrong_scale(const Call &c) {
  for (size_t slot : {size_t{kVpvDescale}, size_t{kQkDescale}, size_t{kPScale}}) {
    if (c.has(slot) && !has_dims(c, slot, {c.heads()})) return slot;
  }
  return kInputSlots;
}

// The first tensor of a quantised call with another dtype or format; kInputSlots: none.
aclDataType quant_dtype(size_t slot) {
  switch (slot) {
    case kQuery:
    case kKey:
    case kValue: return ACL_INT8;
    case kSeqLen: return ACL_INT32;
    case kSlopes:
    case kQkDescale:
    case kVpvDescale:
    case kPScale: return ACL_FLOAT;
    default: return ACL_DT_UNDEFINED;  // a rule of its own, or nobody reads it
  }
}
size_t wrong_quant_type(const Call &c) {
  for (size_t slot = 0; slot < kInputSlots; ++slot) {
    const aclDataType dtype = quant_dtype(slot);
    if (!c.has(slot) || dtype == ACL_DT_UNDEFINED) continue;
    if (c.desc(slot)->dtype != dtype || c.desc(slot)->format != ACL_FORMAT_ND) return slot;
  }
  return kInputSlots;
}

size_t wrong_heads(const Call &c) {
  for (size_t slot : {size_t{kKey}, size_t{kValue}}) {
    if (!c.has(slot) || !c.heads_apart(slot)) continue;
    if (c.dim(slot, static_cast<size_t>(c.rank(slot) - 2)) != c.kv_heads()) return slot;
  }
  return kInputSlots;
}

size_t other_batch(const Call &c) {
  const int64_t batch = c.bnsd()         ? c.dim(kQuery, 0)
                        : c.run_status() ? c.dim(kCacheK, 0)
                                         : c.dim(kCacheK, 1);
  for (size_t slot : {size_t{kTokenOffset}, size_t{kSeqLen}, size_t{kBatchRunStatus}}) {
    if (c.has(slot) && c.dim(slot, 0) != batch) return slot;
  }
  return kInputSlots;
}

int64_t hidden_of_cache(const Call &c, size_t slot) {
  return c.limits.fractal ? c.dim(slot, 2) * c.dim(slot, 4) : c.last_dim(slot);
}
size_t other_hidden(const Call &c) {
  if (c.hidden(kKey) != hidden_of_cache(c, kCacheK)) return kKey;
  if (c.hidden(kValue) != hidden_of_cache(c, kCacheV)) return kValue;
  return kInputSlots;
}

// Members of a list, all described alike, that hold the rows of one batch of the cache.
bool members_fit(const Call &c, size_t slot) {
  const std::span<const Tensor> list = c.members(slot);
  if (static_cast<int64_t>(list.size()) != c.batch()) return false;
  const TensorDesc &first = list[0].desc;
  const TensorDesc &cache = *c.desc(slot);
  if (first.dtype != cache.dtype || first.format != cache.format || elements_of(first) == 0) {
    return false;
  }
  const int64_t rank = Facts::rank_of(&first);
  const auto dim = [&](size_t axis) { return Facts::dim_of(&first, axis); };
  bool shape = false;
  if (c.limits.fractal) {
    shape = !c.bnsd() && rank == 3 && dim(0) == c.dim(slot, 2) && dim(2) == 16;
  } else if (c.bnsd()) {
    shape = rank == 3 && dim(0) == c.kv_heads() && dim(2) == c.last_dim(slot);
  } else {
    shape = rank == 2 && dim(1) == c.last_dim(slot);
  }
  return shape && dim(static_cast<size_t>(rank - 2)) == c.cache_rows() &&
         std::all_of(list.begin(), list.end(),
                     [&](const Tensor &t) { return same_desc(t.desc, first); });
}

bool is_one(float scale) { return std::fabs(scale - 1) < FLT_EPSILON; }

}  // namespace

// ---- CreateOperation

const Rule kHeads{"SA-HEADS", "headNum", nullptr, [](const Call &c) { return c.param.headNum > 0; },
                  told<&Param::headNum, "must be above 0">};
const Rule kKvHeads{"SA-KV-HEADS", "kvHeadNum", nullptr,
                    [](const Call &c) { return c.param.kvHeadNum >= 0; },
                    told<&Param::kvHeadNum, "must not be negative; 0 is headNum">};
const Rule kHeadsRatio{"SA-HEADS-RATIO",
                       "kvHeadNum",
                       [](const Call &c) { return c.param.kvHeadNum >= 0; },
                       [](const Call &c) { return c.param.headNum % c.param.kvHeadNum == 0; },
                       [](const Call &c, Saying &s) {
                         s.value << c.param.kvHeadNum;
                         s.limit << "must divide headNum " << c.param.headNum;
                       },
                       [](const Call &c) { return c.param.kvHeadNum != 0; }};
const Rule kCacheConfig{
    "SA-CACHE-CONFIG", "kvcacheCfg", nullptr,
    [](const Call &c) { return c.param.kvcacheCfg == Param::K_CACHE_V_CACHE || c.bypass(); },
    told<&Param::kvcacheCfg, "must be 0 or 1">};
const Rule kQuantFusion{
    "SA-QUANT-FUSION", "quantType", nullptr,
    [](const Call &c) { return c.param.quantType != Param::TYPE_DEQUANT_FUSION; },
    told<&Param::quantType, "TYPE_DEQUANT_FUSION is not offered here">};

namespace {
bool quantised(const Call &c) { return c.quantised(); }
}  // namespace
const Rule kQuantOut{"SA-QUANT-OUT",
                     "outDataType",
                     nullptr,
                     [](const Call &c) {
                       return c.param.outDataType == ACL_FLOAT16 || c.param.outDataType == ACL_BF16;
                     },
                     told<&Param::outDataType,
                          "must be ACL_FLOAT16 (1) or ACL_BF16 (27) with "
                          "quantType 2 and 3">,
                     quantised};
const Rule kQuantCalc{"SA-QUANT-CALC",
                      "calcType",
                      nullptr,
                      [](const Call &c) { return c.packed(); },
                      told<&Param::calcType, "must be PA_ENCODER with quantType 2 and 3">,
                      quantised};
const Rule kQuantScale{"SA-QUANT-SCALE",
                       "scaleType",
                       nullptr,
                       [](const Call &c) { return c.param.scaleType == Param::SCALE_TYPE_TOR; },
                       told<&Param::scaleType, "must be SCALE_TYPE_TOR with quantType 2 and 3">,
                       quantised};
const Rule kScaleRange{
    "SA-SCALE-RANGE", "scaleType", nullptr,
    [](const Call &c) { return c.param.scaleType == Param::SCALE_TYPE_TOR || c.log_n(); },
    told<&Param::scaleType, "must be 0 or 1">};
const Rule kPackedBypass{"SA-PACKED-BYPASS",
                         "kvcacheCfg",
                         nullptr,
                         [](const Call &c) { return !c.bypass(); },
                         told<&Param::kvcacheCfg, "must be K_CACHE_V_CACHE for PA_ENCODER">,
                         [](const Call &c) { return c.packed(); }};
const Rule kAlibiCalc{"SA-ALIBI-CALC",
                      "maskType",
                      nullptr,
                      [](const Call &c) { return !c.cached(); },
                      told<&Param::maskType,
                           "compressed ALiBi masks are for PA_ENCODER and "
                           "PREFIX_ENCODER">,
                      [](const Call &c) { return c.alibi_compress(); }};
const Rule kTriangleMask{
    "SA-TRIU-MASK",
    "isTriuMask",
    nullptr,
    [](const Call &c) { return c.param.isTriuMask != 1; },
    told<&Param::isTriuMask, "must be 0 without a mask (maskType 0)">,
    [](const Call &c) { return c.param.maskType == Param::MASK_TYPE_UNDEFINED; }};

const Rule kBnsdScale{"SA-BNSD-SCALE",
                      "scaleType",
                      nullptr,
                      [](const Call &c) { return c.param.scaleType == Param::SCALE_TYPE_TOR; },
                      told<&Param::scaleType, "must be SCALE_TYPE_TOR for TYPE_BNSD">,
                      bnsd};
const Rule kBnsdQuant{"SA-BNSD-QUANT",
                      "quantType",
                      nullptr,
                      [](const Call &c) { return c.param.quantType == Param::TYPE_QUANT_UNQUANT; },
                      told<&Param::quantType, "must be 0 for TYPE_BNSD">,
                      bnsd};
const Rule kBnsdPrefix{"SA-BNSD-PREFIX",
                       "calcType",
                       nullptr,
                       [](const Call &c) { return !c.prefix(); },
                       told<&Param::calcType, "PREFIX_ENCODER has no TYPE_BNSD">,
                       bnsd};
const Rule kBnsdMla{"SA-BNSD-MLA",
                    "mlaVHeadSize",
                    nullptr,
                    [](const Call &c) { return !c.mla(); },
                    told<&Param::mlaVHeadSize, "must be 0 for TYPE_BNSD">,
                    packed_bnsd};
const Rule kBnsdKernel{"SA-BNSD-KERNEL",
                       "kernelType",
                       nullptr,
                       [](const Call &c) { return !c.high_precision(); },
                       told<&Param::kernelType,
                            "PA_ENCODER with TYPE_BNSD has no "
                            "KERNELTYPE_HIGH_PRECISION">,
                       packed_bnsd};
const Rule kBnsdProduct{
    "SA-BNSD-PRODUCT",
    "inputLayout",
    nullptr,
    [](const Call &c) { return c.limits.packed_bnsd || (c.limits.exp_m8v2 && c.exp_m8v2()); },
    told_product<&Param::inputLayout,
                 "PA_ENCODER has no TYPE_BNSD on it, or only with "
                 "KERNELTYPE_EXP_M8V2">,
    packed_bnsd};
const Rule kBnsdMask{
    "SA-BNSD-MASK",
    "maskType",
    nullptr,
    [](const Call &c) { return c.param.maskType == Param::MASK_TYPE_UNDEFINED || c.exp_m8v2(); },
    told<&Param::maskType, "must be 0 for PA_ENCODER with TYPE_BNSD">,
    packed_bnsd};
const Rule kBnsdBypass{"SA-BNSD-BYPASS",
                       "kvcacheCfg",
                       nullptr,
                       [](const Call &c) { return c.bypass(); },
                       told<&Param::kvcacheCfg, "must be K_BYPASS_V_BYPASS for TYPE_BNSD">,
                       cached_bnsd};
const Rule kBnsdNoMask{"SA-BNSD-NO-MASK",
                       "maskType",
                       nullptr,
                       [](const Call &c) { return c.param.maskType != Param::MASK_TYPE_UNDEFINED; },
                       told<&Param::maskType, "TYPE_BNSD with caches needs a mask">,
                       cached_bnsd};

const Rule kMlaCalc{"SA-MLA-CALC",
                    "calcType",
                    nullptr,
                    [](const Call &c) { return c.packed(); },
                    told<&Param::calcType, "must be PA_ENCODER with mlaVHeadSize">,
                    mla};
const Rule kMlaProduct{"SA-MLA-PRODUCT",
                       "mlaVHeadSize",
                       nullptr,
                       [](const Call &c) { return c.limits.mla; },
                       told_product<&Param::mlaVHeadSize, "it has no mlaVHeadSize">,
                       mla};
const Rule kMlaMask{"SA-MLA-MASK",
                    "maskType",
                    nullptr,
                    [](const Call &c) {
                      return c.param.maskType == Param::MASK_TYPE_UNDEFINED ||
                             c.param.maskType == Param::MASK_TYPE_NORM || c.sliding();
                    },
                    told<&Param::maskType, "must be 0, 1, 7 or 8 with mlaVHeadSize">,
                    mla};
const Rule kMlaScale{"SA-MLA-SCALE",
                     "scaleType",
                     nullptr,
                     [](const Call &c) { return c.param.scaleType == Param::SCALE_TYPE_TOR; },
                     told<&Param::scaleType, "must be SCALE_TYPE_TOR with mlaVHeadSize">,
                     mla};
const Rule kMlaClamp{"SA-MLA-CLAMP",
                     "clampType",
                     nullptr,
                     [](const Call &c) { return c.param.clampType == Param::CLAMP_TYPE_UNDEFINED; },
                     told<&Param::clampType, "must be 0 with mlaVHeadSize">,
                     mla};
const Rule kMlaSize{"SA-MLA-SIZE",
                    "mlaVHeadSize",
                    nullptr,
                    [](const Call &c) { return c.param.mlaVHeadSize <= 576; },
                    told<&Param::mlaVHeadSize, "must be 576 at most">,
                    mla};

namespace {
bool windowed(const Call &c) { return c.window() > 0 || c.sliding(); }
}  // namespace
const Rule kRing{"SA-RING",
                 "cacheType",
                 nullptr,
                 [](const Call &c) { return !c.ring(); },
                 told<&Param::cacheType,
                      "CACHE_TYPE_SWA needs a sliding window mask (maskType 7 "
                      "or 8) and windowSize">,
                 [](const Call &c) { return !windowed(c); }};
const Rule kWindow{"SA-WINDOW",
                   "windowSize",
                   nullptr,
                   [](const Call &c) { return c.window() > 0 && c.sliding(); },
                   [](const Call &c, Saying &s) {
                     s.value << c.window() << " with maskType "
                             << static_cast<int>(c.param.maskType);
                     s.limit << "windowSize above 0 and maskType 7 or 8 need each other";
                   },
                   windowed};
const Rule kWindowDecoder{"SA-WINDOW-DECODER",
                          "maskType",
                          nullptr,
                          [](const Call &c) { return !(c.sliding_compress() && c.decoder()); },
                          told<&Param::maskType,
                               "DECODER has no "
                               "MASK_TYPE_SLIDING_WINDOW_COMPRESS">,
                          windowed};
const Rule kWindowStatus{"SA-WINDOW-STATUS",
                         "batchRunStatusEnable",
                         nullptr,
                         [](const Call &c) { return !c.run_status(); },
                         told<&Param::batchRunStatusEnable, "must be false with windowSize">,
                         windowed};
const Rule kWindowKernel{
    "SA-WINDOW-KERNEL",
    "kernelType",
    nullptr,
    [](const Call &c) { return c.param.kernelType == Param::KERNELTYPE_DEFAULT; },
    told<&Param::kernelType, "must be KERNELTYPE_DEFAULT with windowSize">,
    windowed};
const Rule kWindowClamp{
    "SA-WINDOW-CLAMP",
    "clampType",
    nullptr,
    [](const Call &c) { return c.param.clampType == Param::CLAMP_TYPE_UNDEFINED; },
    told<&Param::clampType, "must be 0 with windowSize">,
    windowed};
const Rule kWindowQuant{
    "SA-WINDOW-QUANT",
    "quantType",
    nullptr,
    [](const Call &c) { return c.param.quantType == Param::TYPE_QUANT_UNQUANT; },
    told<&Param::quantType, "must be 0 with windowSize">,
    windowed};
const Rule kWindowScale{"SA-WINDOW-SCALE",
                        "scaleType",
                        nullptr,
                        [](const Call &c) { return c.param.scaleType == Param::SCALE_TYPE_TOR; },
                        told<&Param::scaleType, "must be SCALE_TYPE_TOR with windowSize">,
                        windowed};
const Rule kWindowLayout{"SA-WINDOW-LAYOUT",
                         "inputLayout",
                         nullptr,
                         bsnd,
                         told<&Param::inputLayout, "must be TYPE_BSND with windowSize">,
                         windowed};

const Rule kCompressQuant{
    "SA-COMPRESS-QUANT",
    "quantType",
    nullptr,
    [](const Call &c) { return c.param.quantType == Param::TYPE_QUANT_UNQUANT; },
    told<&Param::quantType,
         "must be 0 with MASK_TYPE_NORM_COMPRESS on this "
         "product">,
    [](const Call &c) { return c.limits.long_window && c.norm_compress(); }};
const Rule kLeftAlignProduct{
    "SA-LEFT-ALIGN-PRODUCT",
    "maskType",
    nullptr,
    [](const Call &c) { return c.limits.left_align; },
    told_product<&Param::maskType, "it has no MASK_TYPE_ALIBI_COMPRESS_LEFT_ALIGN">,
    [](const Call &c) { return c.param.maskType == Param::MASK_TYPE_ALIBI_COMPRESS_LEFT_ALIGN; }};
const Rule kClampProduct{
    "SA-CLAMP-PRODUCT",
    "clampType",
    nullptr,
    [](const Call &c) { return c.limits.clamp; },
    told_product<&Param::clampType, "it has no clampType">,
    [](const Call &c) { return c.param.clampType != Param::CLAMP_TYPE_UNDEFINED; }};
const Rule kQuantProduct{"SA-QUANT-PRODUCT",
                         "quantType",
                         nullptr,
                         [](const Call &c) { return c.limits.quant; },
                         told_product<&Param::quantType, "it has no quantType 2 and 3">,
                         quantised};
const Rule kStatusProduct{
    "SA-STATUS-PRODUCT",
    "batchRunStatusEnable",
    nullptr,
    [](const Call &c) { return c.limits.run_status; },
    told_product<&Param::batchRunStatusEnable, "it has no batchRunStatusEnable">,
    [](const Call &c) { return c.run_status(); }};
const Rule kCalcProduct{"SA-CALC-PRODUCT", "calcType", nullptr,
                        [](const Call &c) { return c.limits.cached || c.packed(); },
                        told_product<&Param::calcType, "must be PA_ENCODER on it">};
const Rule kAlibiProduct{"SA-ALIBI-PRODUCT",
                         "maskType",
                         nullptr,
                         [](const Call &c) { return c.limits.alibi_compress; },
                         told_product<&Param::maskType, "it has no compressed ALiBi masks">,
                         [](const Call &c) { return c.alibi_compress(); }};
const Rule kWindowProduct{"SA-WINDOW-PRODUCT",
                          "windowSize",
                          nullptr,
                          [](const Call &c) { return c.limits.sliding; },
                          told_product<&Param::windowSize, "it has no windowSize">,
                          [](const Call &c) { return c.window() > 0; }};
const Rule kLogNProduct{"SA-LOGN-PRODUCT",
                        "scaleType",
                        nullptr,
                        [](const Call &c) { return c.limits.log_n; },
                        told_product<&Param::scaleType, "it has no SCALE_TYPE_LOGN">,
                        log_n};
const Rule kKernelRange{"SA-KERNEL-RANGE", "kernelType", nullptr,
                        [](const Call &c) {
                          return c.param.kernelType == Param::KERNELTYPE_DEFAULT ||
                                 c.high_precision() || c.exp_m8v2();
                        },
                        told<&Param::kernelType, "must be 0, 1 or 2">};
const Rule kLayoutRange{
    "SA-LAYOUT-RANGE", "inputLayout", nullptr,
    [](const Call &c) { return c.param.inputLayout == infer::TYPE_BSND || c.bnsd(); },
    told<&Param::inputLayout, "must be 0 or 1">};

const Rule kPrefixProduct{"SA-PREFIX-PRODUCT",
                          "calcType",
                          nullptr,
                          [](const Call &c) { return c.limits.prefix; },
                          told_product<&Param::calcType, "it has no PREFIX_ENCODER">,
                          prefix};
const Rule kPrefixQuant{
    "SA-PREFIX-QUANT",
    "quantType",
    nullptr,
    [](const Call &c) { return c.param.quantType == Param::TYPE_QUANT_UNQUANT; },
    told<&Param::quantType, "must be 0 for PREFIX_ENCODER">,
    prefix};
const Rule kPrefixOut{"SA-PREFIX-OUT",
                      "outDataType",
                      nullptr,
                      [](const Call &c) { return c.param.outDataType == ACL_DT_UNDEFINED; },
                      told<&Param::outDataType,
                           "must be ACL_DT_UNDEFINED (-1) for "
                           "PREFIX_ENCODER">,
                      prefix};
const Rule kPrefixQScale{"SA-PREFIX-QSCALE",
                         "qScale",
                         nullptr,
                         [](const Call &c) { return is_one(c.param.qScale); },
                         told<&Param::qScale, "must be 1 for PREFIX_ENCODER">,
                         prefix};
const Rule kPrefixStatus{"SA-PREFIX-STATUS",
                         "batchRunStatusEnable",
                         nullptr,
                         [](const Call &c) { return !c.run_status(); },
                         told<&Param::batchRunStatusEnable, "must be false for PREFIX_ENCODER">,
                         prefix};
const Rule kPrefixTriangle{"SA-PREFIX-TRIU",
                           "isTriuMask",
                           nullptr,
                           [](const Call &c) { return c.param.isTriuMask == 1; },
                           told<&Param::isTriuMask, "must be 1 for PREFIX_ENCODER">,
                           prefix};
const Rule kPrefixKernel{"SA-PREFIX-KERNEL",
                         "kernelType",
                         nullptr,
                         [](const Call &c) { return c.high_precision(); },
                         told<&Param::kernelType,
                              "must be KERNELTYPE_HIGH_PRECISION for "
                              "PREFIX_ENCODER">,
                         prefix};

namespace {
bool no_clamp(const Call &c) {
  return c.param.clampType == Param::CLAMP_TYPE_UNDEFINED && c.param.clampMin == 0 &&
         c.param.clampMax == 0;
}
void say_clamp(const Call &c, Saying &s) {
  s.value << static_cast<int>(c.param.clampType) << " with clampMin "
          << static_cast<double>(c.param.clampMin) << " and clampMax "
          << static_cast<double>(c.param.clampMax);
  s.limit << "must all be 0 for " << (c.prefix() ? "PREFIX_ENCODER" : "KERNELTYPE_EXP_M8V2");
}
}  // namespace
const Rule kPrefixClamp{"SA-PREFIX-CLAMP", "clampType", nullptr, no_clamp, say_clamp, prefix};
const Rule kPrefixMask{"SA-PREFIX-MASK",
                       "maskType",
                       nullptr,
                       [](const Call &c) {
                         return c.norm_compress() || c.causal() ||
                                c.param.maskType == Param::MASK_TYPE_ALIBI_COMPRESS ||
                                c.param.maskType == Param::MASK_TYPE_ALIBI_COMPRESS_SQRT;
                       },
                       told<&Param::maskType, "must be 3, 4, 5 or 9 for PREFIX_ENCODER">,
                       prefix};
const Rule kPrefixBypass{"SA-PREFIX-BYPASS",
                         "kvcacheCfg",
                         nullptr,
                         [](const Call &c) { return !c.bypass(); },
                         told<&Param::kvcacheCfg, "must be K_CACHE_V_CACHE for PREFIX_ENCODER">,
                         prefix};
const Rule kPrefixScale{"SA-PREFIX-SCALE",
                        "scaleType",
                        nullptr,
                        [](const Call &c) { return !c.log_n(); },
                        told<&Param::scaleType, "must be SCALE_TYPE_TOR for PREFIX_ENCODER">,
                        prefix};
const Rule kPrefixCacheType{
    "SA-PREFIX-CACHE-TYPE",
    "cacheType",
    nullptr,
    [](const Call &c) { return c.param.cacheType == Param::CACHE_TYPE_NORM; },
    told<&Param::cacheType, "must be CACHE_TYPE_NORM for PREFIX_ENCODER">,
    prefix};

namespace {
bool exp_m8v2(const Call &c) { return c.exp_m8v2(); }
}  // namespace
const Rule kM8V2Product{"SA-M8V2-PRODUCT",
                        "kernelType",
                        nullptr,
                        [](const Call &c) { return c.limits.exp_m8v2; },
                        told_product<&Param::kernelType, "it has no KERNELTYPE_EXP_M8V2">,
                        exp_m8v2};
const Rule kM8V2Quant{"SA-M8V2-QUANT",
                      "quantType",
                      nullptr,
                      [](const Call &c) { return c.param.quantType == Param::TYPE_QUANT_UNQUANT; },
                      told<&Param::quantType, "must be 0 with KERNELTYPE_EXP_M8V2">,
                      exp_m8v2};
const Rule kM8V2Out{"SA-M8V2-OUT",
                    "outDataType",
                    nullptr,
                    [](const Call &c) { return c.param.outDataType == ACL_DT_UNDEFINED; },
                    told<&Param::outDataType,
                         "must be ACL_DT_UNDEFINED (-1) with "
                         "KERNELTYPE_EXP_M8V2">,
                    exp_m8v2};
const Rule kM8V2QScale{"SA-M8V2-QSCALE",
                       "qScale",
                       nullptr,
                       [](const Call &c) { return is_one(c.param.qScale); },
                       told<&Param::qScale, "must be 1 with KERNELTYPE_EXP_M8V2">,
                       exp_m8v2};
const Rule kM8V2Triangle{"SA-M8V2-TRIU",
                         "isTriuMask",
                         nullptr,
                         [](const Call &c) { return c.param.isTriuMask == 0; },
                         told<&Param::isTriuMask, "must be 0 with KERNELTYPE_EXP_M8V2">,
                         exp_m8v2};
const Rule kM8V2Calc{"SA-M8V2-CALC",
                     "calcType",
                     nullptr,
                     [](const Call &c) { return c.packed(); },
                     told<&Param::calcType, "must be PA_ENCODER with KERNELTYPE_EXP_M8V2">,
                     exp_m8v2};
const Rule kM8V2Clamp{"SA-M8V2-CLAMP", "clampType", nullptr, no_clamp, say_clamp, exp_m8v2};
const Rule kM8V2Mask{"SA-M8V2-MASK",
                     "maskType",
                     nullptr,
                     [](const Call &c) {
                       return c.param.maskType == Param::MASK_TYPE_UNDEFINED ||
                              c.param.maskType == Param::MASK_TYPE_NORM || c.norm_compress();
                     },
                     told<&Param::maskType, "must be 0, 1 or 3 with KERNELTYPE_EXP_M8V2">,
                     exp_m8v2};
const Rule kM8V2Scale{"SA-M8V2-SCALE",
                      "scaleType",
                      nullptr,
                      [](const Call &c) { return !c.log_n(); },
                      told<&Param::scaleType, "must be SCALE_TYPE_TOR with KERNELTYPE_EXP_M8V2">,
                      exp_m8v2};
const Rule kM8V2CacheType{"SA-M8V2-CACHE-TYPE",
                          "cacheType",
                          nullptr,
                          [](const Call &c) { return c.param.cacheType == Param::CACHE_TYPE_NORM; },
                          told<&Param::cacheType,
                               "must be CACHE_TYPE_NORM with "
                               "KERNELTYPE_EXP_M8V2">,
                          exp_m8v2};
const Rule kCausalCalc{"SA-CAUSAL-CALC",
                       "maskType",
                       nullptr,
                       [](const Call &c) { return !c.packed(); },
                       told<&Param::maskType, "MASK_TYPE_CAUSAL_MASK is for PREFIX_ENCODER">,
                       [](const Call &c) { return c.causal(); }};

const Rule kCalcRange{"SA-CALC-RANGE", "calcType", nullptr,
                      [](const Call &c) {
                        return c.param.calcType >= Param::UNDEFINED &&
                               c.param.calcType <= Param::PREFIX_ENCODER;
                      },
                      told<&Param::calcType, "should be 0 .. 4; others are taken for UNDEFINED">};
const Rule kMaskRange{"SA-MASK-RANGE", "maskType", nullptr,
                      [](const Call &c) {
                        return c.param.maskType >= Param::MASK_TYPE_UNDEFINED &&
                               c.param.maskType <= Param::MASK_TYPE_CAUSAL_MASK;
                      },
                      told<&Param::maskType,
                           "should be 0 .. 9; others are taken for "
                           "MASK_TYPE_NORM">};
const Rule kScaleFinite{
    "SA-SCALE-FINITE", "qkScale", nullptr,
    [](const Call &c) { return std::isfinite(c.param.qScale) && std::isfinite(c.param.qkScale); },
    [](const Call &c, Saying &s) {
      const bool query = !std::isfinite(c.param.qScale);
      s.parameter = query ? "qScale" : "qkScale";
      say_value(query ? c.param.qScale : c.param.qkScale, s.value);
      s.limit << "should be a finite number";
    }};
const Rule kClampOrder{
    "SA-CLAMP-ORDER",
    "clampMin",
    nullptr,
    [](const Call &c) { return c.param.clampMin <= c.param.clampMax; },
    [](const Call &c, Saying &s) {
      say_value(c.param.clampMin, s.value);
      s.limit << "should not be above clampMax " << static_cast<double>(c.param.clampMax);
    },
    [](const Call &c) { return c.param.clampType == Param::CLAMP_TYPE_MIN_MAX; }};
const Rule kQScaleUnused{"SA-QSCALE-UNUSED",
                         "qScale",
                         nullptr,
                         [](const Call &c) { return c.param.qScale == 1; },
                         told<&Param::qScale, "has no effect in PA_ENCODER; qkScale has">,
                         [](const Call &c) { return c.packed(); }};
const Rule kClampUnused{
    "SA-CLAMP-UNUSED",
    "clampType",
    nullptr,
    [](const Call &c) { return c.param.clampType == Param::CLAMP_TYPE_UNDEFINED; },
    told<&Param::clampType, "has no effect in PA_ENCODER">,
    [](const Call &c) { return c.packed(); }};

// ---- InferShape and Setup

namespace {
size_t wrong_format(const Call &c) {
  const aclFormat wanted = c.limits.fractal ? ACL_FORMAT_FRACTAL_NZ : ACL_FORMAT_ND;
  for (size_t slot : {size_t{kCacheK}, size_t{kCacheV}}) {
    if (c.desc(slot)->format != wanted) return slot;
  }
  return kInputSlots;
}
}  // namespace
// The paged caches of PREFIX_ENCODER are ND by their combination of types.
const Rule kCacheFormat{"SA-CACHE-FORMAT",
                        "cacheK",
                        sound,
                        [](const Call &c) { return wrong_format(c) == kInputSlots; },
                        [](const Call &c, Saying &s) {
                          const size_t slot = wrong_format(c);
                          s.parameter = c.name(slot);
                          say_type(*c.desc(slot), s.value);
                          s.limit << "must be " << (c.limits.fractal ? "FRACTAL_NZ" : "ND")
                                  << " on this product";
                        },
                        [](const Call &c) { return c.cached(); }};

const Rule kLogNRank{"SA-LOGN-RANK",
                     "logN",
                     sound,
                     [](const Call &c) { return c.rank(kLogN) == 1; },
                     told_shape<kLogN, "must have 1 dimension">,
                     log_n};
const Rule kLogNCalc{"SA-LOGN-CALC",
                     "calcType",
                     nullptr,
                     [](const Call &c) { return c.packed() || c.decoder(); },
                     told<&Param::calcType, "must be PA_ENCODER or DECODER with SCALE_TYPE_LOGN">,
                     log_n};
const Rule kLogNKernel{
    "SA-LOGN-KERNEL",
    "kernelType",
    nullptr,
    [](const Call &c) { return c.high_precision(); },
    told<&Param::kernelType,
         "must be KERNELTYPE_HIGH_PRECISION for PA_ENCODER "
         "with SCALE_TYPE_LOGN">,
    [](const Call &c) { return c.log_n() && c.packed() && c.limits.high_precision; }};
const Rule kLogNType{"SA-LOGN-TYPE",
                     "logN",
                     sound,
                     [](const Call &c) {
                       return c.desc(kLogN)->dtype == (c.limits.fractal ? ACL_FLOAT16 : ACL_FLOAT);
                     },
                     [](const Call &c, Saying &s) {
                       say_type(*c.desc(kLogN), s.value);
                       s.limit << "must be " << (c.limits.fractal ? "FLOAT16" : "FLOAT")
                               << " on this product";
                     },
                     log_n};
const Rule kScales{"SA-SCALES",
                   "qkDescale",
                   sound,
                   [](const Call &c) { return wrong_scale(c) == kInputSlots; },
                   [](const Call &c, Saying &s) {
                     blame_shape(c, wrong_scale(c), s);
                     s.limit << "must be one factor for each of the " << c.heads() << " heads";
                   },
                   quantised};

const Rule kQueryRank{"SA-QUERY-RANK",
                      "query",
                      sound,
                      [](const Call &c) { return rank_between(c, kQuery, 2, c.mla() ? 4 : 3); },
                      [](const Call &c, Saying &s) {
                        blame_shape(c, kQuery, s);
                        s.limit << "must have 2 or 3 dimensions"
                                << (c.mla() ? ", or 4 with mlaVHeadSize" : "");
                      },
                      packed_bsnd};
const Rule kKeyRank{"SA-KEY-RANK",
                    "key",
                    sound,
                    [](const Call &c) {
                      return c.mla() ? rank_between(c, kKey, 2, 4) : c.rank(kKey) == c.rank(kQuery);
                    },
                    [](const Call &c, Saying &s) {
                      blame_shape(c, kKey, s);
                      if (c.mla()) {
                        s.limit << "must have 2 to 4 dimensions";
                      } else {
                        s.limit << "must have as many dimensions as ";
                        say_other(c, kQuery, s.limit);
                      }
                    },
                    packed_bsnd};
const Rule kValueRank{"SA-VALUE-RANK",
                      "value",
                      sound,
                      [](const Call &c) { return c.rank(kValue) == c.rank(kKey); },
                      [](const Call &c, Saying &s) {
                        blame_shape(c, kValue, s);
                        s.limit << "must have as many dimensions as ";
                        say_other(c, kKey, s.limit);
                      },
                      [](const Call &c) { return packed_bsnd(c) && !c.mla(); }};
const Rule kSlopesRank{"SA-SLOPES-RANK",
                       "slopes",
                       sound,
                       [](const Call &c) { return rank_between(c, kSlopes, 1, 1); },
                       told_shape<kSlopes, "must have 1 dimension">,
                       packed_bsnd};
constexpr Rule kSeqLenRank{"SA-SEQLEN-RANK",
                           "seqLen",
                           sound,
                           [](const Call &c) { return rank_between(c, kSeqLen, 1, 2); },
                           told_shape<kSeqLen, "must have 1 dimension, or 2: [2, batch]">,
                           packed_bsnd};
const Rule kValueRows{"SA-VALUE-ROWS",
                      "value",
                      sound,
                      [](const Call &c) { return same_leading_dims(c, kKey, kValue); },
                      [](const Call &c, Saying &s) {
                        blame_shape(c, kValue, s);
                        s.limit << "all dimensions but the last must be those of ";
                        say_other(c, kKey, s.limit);
                      },
                      [](const Call &c) { return packed_bsnd(c) && !c.mla(); }};
const Rule kSlopesCount{"SA-SLOPES-COUNT",
                        "slopes",
                        sound,
                        [](const Call &c) { return c.dim(kSlopes, 0) == c.heads(); },
                        [](const Call &c, Saying &s) {
                          blame_shape(c, kSlopes, s);
                          s.limit << "must be one for each of the " << c.heads() << " heads";
                        },
                        [](const Call &c) { return packed_bsnd(c) && c.has(kSlopes); }};
constexpr Rule kSeqLenRows{
    "SA-SEQLEN-ROWS",
    "seqLen",
    sound,
    [](const Call &c) { return c.rank(kSeqLen) != 2 || c.dim(kSeqLen, 0) == 2; },
    told_shape<kSeqLen,
               "with 2 dimensions must be [2, batch]: the lengths of "
               "queries, then of keys">,
    packed_bsnd};

const Rule kAlibiPrecision{"SA-ALIBI-PRECISION",
                           "kernelType",
                           sound,
                           [](const Call &c) {
                             return c.desc(kMask)->dtype != ACL_FLOAT16 ||
                                    c.param.kernelType != Param::KERNELTYPE_DEFAULT;
                           },
                           told<&Param::kernelType,
                                "must be KERNELTYPE_HIGH_PRECISION with a "
                                "compressed ALiBi mask of FLOAT16">,
                           alibi_nd};
const Rule kAlibiTile{"SA-ALIBI-TILE",
                      "mask",
                      sound,
                      [](const Call &c) {
                        return c.rank(kMask) != 2 || has_dims(c, kMask, {256, 256});
                      },
                      told_shape<kMask, "with 2 dimensions must be [256, 256]">,
                      alibi_nd};
const Rule kLeftAlignRank{"SA-LEFT-ALIGN-RANK",
                          "mask",
                          sound,
                          [](const Call &c) { return c.rank(kMask) != 3; },
                          told_shape<kMask,
                                     "must be [256, 256] for "
                                     "MASK_TYPE_ALIBI_COMPRESS_LEFT_ALIGN">,
                          [](const Call &c) {
                            return alibi_nd(c) &&
                                   c.param.maskType == Param::MASK_TYPE_ALIBI_COMPRESS_LEFT_ALIGN;
                          }};
const Rule kAlibiStripe{
    "SA-ALIBI-STRIPE",
    "mask",
    sound,
    [](const Call &c) {
      return c.rank(kMask) != 3 || c.dim(kMask, 0) == c.heads() || c.dim(kMask, 2) == 128;
    },
    [](const Call &c, Saying &s) {
      blame_shape(c, kMask, s);
      s.limit << "with 3 dimensions must be [" << c.heads() << ", rows, 128], one plane a head";
    },
    alibi_nd};
// NZ has always four.
const Rule kAlibiRank{"SA-ALIBI-RANK",
                      "mask",
                      sound,
                      [](const Call &c) { return (c.rank(kMask) == 4) == c.limits.fractal; },
                      [](const Call &c, Saying &s) {
                        blame_shape(c, kMask, s);
                        s.limit << (c.limits.fractal ? "must have 4 dimensions, [n, columns / 16, "
                                                       "rows, 16]"
                                                     : "must have 2 or 3 dimensions");
                      },
                      [](const Call &c) {
                        return mask_judged(c) && c.alibi_compress() &&
                               (c.limits.fractal || c.rank(kMask) == 4);
                      }};
const Rule kAlibiNz{
    "SA-ALIBI-NZ",
    "mask",
    sound,
    [](const Call &c) { return c.dim(kMask, 3) == 16; },
    told_shape<kMask, "dimension 3 must be 16">,
    [](const Call &c) { return mask_judged(c) && c.alibi_compress() && c.limits.fractal; }};

namespace {
bool nz_mask(const Call &c) { return c.desc(kMask)->format == ACL_FORMAT_FRACTAL_NZ; }
bool long_window(const Call &c) { return nz_mask(c) && has_dims(c, kMask, {1, 128, 2048, 16}); }
}  // namespace
const Rule kCompressRank{"SA-COMPRESS-RANK",
                         "mask",
                         sound,
                         [](const Call &c) { return c.rank(kMask) == (nz_mask(c) ? 4 : 2); },
                         [](const Call &c, Saying &s) {
                           blame_shape(c, kMask, s);
                           s.limit << "must have " << (nz_mask(c) ? 4 : 2)
                                   << " dimensions in its format";
                         },
                         compress_judged};
const Rule kCompressShape{"SA-COMPRESS-SHAPE",
                          "mask",
                          sound,
                          [](const Call &c) {
                            if (!nz_mask(c)) return has_dims(c, kMask, {128, 128});
                            return has_dims(c, kMask, {1, 8, 128, 16}) || long_window(c);
                          },
                          [](const Call &c, Saying &s) {
                            blame_shape(c, kMask, s);
                            s.limit << (nz_mask(c) ? "must be [1, 8, 128, 16] or [1, 128, 2048, 16]"
                                                   : "must be [128, 128]");
                          },
                          compress_judged};

namespace {
bool long_judged(const Call &c) { return compress_judged(c) && c.sound && long_window(c); }
}  // namespace
const Rule kLongProduct{"SA-LONG-PRODUCT",
                        "mask",
                        nullptr,
                        [](const Call &c) { return c.limits.long_window; },
                        told_shape<kMask, "must be [1, 8, 128, 16] on this product">,
                        long_judged};
const Rule kLongType{"SA-LONG-TYPE",
                     "mask",
                     nullptr,
                     [](const Call &c) { return c.desc(kMask)->dtype == ACL_FLOAT16; },
                     [](const Call &c, Saying &s) {
                       say_type(*c.desc(kMask), s.value);
                       s.limit << "must be FLOAT16 as [1, 128, 2048, 16]";
                     },
                     long_judged};
const Rule kLongScale{"SA-LONG-SCALE",
                      "scaleType",
                      nullptr,
                      [](const Call &c) { return c.param.scaleType == Param::SCALE_TYPE_TOR; },
                      told<&Param::scaleType,
                           "must be SCALE_TYPE_TOR with a mask [1, 128, 2048, "
                           "16]">,
                      long_judged};
const Rule kMaskRank{"SA-MASK-RANK",
                     "mask",
                     sound,
                     [](const Call &c) { return rank_between(c, kMask, 2, 4); },
                     told_shape<kMask, "must have 2 to 4 dimensions">,
                     [](const Call &c) {
                       return mask_judged(c) && !c.limits.fractal && !c.alibi_compress() &&
                              !c.norm_compress();
                     }};
const Rule kM8V2MaskBatch{
    "SA-M8V2-MASK-BATCH",
    "mask",
    sound,
    [](const Call &c) { return c.rank(kMask) != 3 || c.dim(kMask, 0) == c.last_dim(kSeqLen); },
    [](const Call &c, Saying &s) {
      blame_shape(c, kMask, s);
      s.limit << "must have a plane for each of the " << c.last_dim(kSeqLen) << " batches";
    },
    [](const Call &c) {
      return mask_judged(c) && c.exp_m8v2() && c.param.maskType == Param::MASK_TYPE_NORM;
    }};

const Rule kPrefixQueryRank{"SA-PREFIX-QUERY-RANK",
                            "query",
                            sound,
                            [](const Call &c) { return rank_between(c, kQuery, 2, 3); },
                            told_shape<kQuery, "must have 2 or 3 dimensions">,
                            prefix};
const Rule kPrefixCacheRank{
    "SA-PREFIX-CACHE-RANK",
    "key",
    sound,
    [](const Call &c) { return rank_between(c, kKey, 3, 4) && rank_between(c, kValue, 3, 4); },
    [](const Call &c, Saying &s) {
      blame_shape(c, rank_between(c, kKey, 3, 4) ? kValue : kKey, s);
      s.limit << "must be [blocks, block size, hidden], or with the heads "
                 "apart";
    },
    prefix};
const Rule kPrefixTableRank{"SA-PREFIX-TABLE-RANK",
                            "blockTables",
                            sound,
                            [](const Call &c) { return c.rank(kBlockTables) == 2; },
                            told_shape<kBlockTables, "must have 2 dimensions">,
                            prefix};
const Rule kPrefixLengthsRank{"SA-PREFIX-LENGTHS-RANK",
                              "seqLen",
                              sound,
                              [](const Call &c) {
                                return wrong_rank(c, {kSeqLen, kKvSeqLen}, 1) == kInputSlots;
                              },
                              [](const Call &c, Saying &s) {
                                blame_shape(c, wrong_rank(c, {kSeqLen, kKvSeqLen}, 1), s);
                                s.limit << "must have 1 dimension";
                              },
                              prefix};
const Rule kPrefixSlopesRank{"SA-PREFIX-SLOPES-RANK",
                             "slopes",
                             sound,
                             [](const Call &c) { return rank_between(c, kSlopes, 1, 1); },
                             told_shape<kSlopes, "must have 1 dimension">,
                             prefix};

namespace {
bool prefix_sizes_fit(const Call &c, bool (*fits)(int64_t size)) {
  return fits(c.key_head_size()) && fits(c.query_head_size());
}
void say_prefix_sizes(const Call &c, bool (*fits)(int64_t size), Saying &s) {
  const bool key = !fits(c.key_head_size());
  s.parameter = key ? "key" : "query";
  s.value << "head size " << (key ? c.key_head_size() : c.query_head_size());
}
bool prefix_size_small(int64_t size) { return size <= 128; }
bool prefix_size_whole(int64_t size) { return is_multiple(size, 16); }
}  // namespace
const Rule kPrefixHead{"SA-PREFIX-HEAD",
                       "key",
                       sound,
                       [](const Call &c) { return prefix_sizes_fit(c, prefix_size_small); },
                       [](const Call &c, Saying &s) {
                         say_prefix_sizes(c, prefix_size_small, s);
                         s.limit << "must be 128 at most for PREFIX_ENCODER";
                       },
                       prefix};
const Rule kPrefixMultiple{"SA-PREFIX-MULTIPLE",
                           "key",
                           sound,
                           [](const Call &c) { return prefix_sizes_fit(c, prefix_size_whole); },
                           [](const Call &c, Saying &s) {
                             say_prefix_sizes(c, prefix_size_whole, s);
                             s.limit << "must be a multiple of 16 for PREFIX_ENCODER";
                           },
                           prefix};
const Rule kPrefixBlock{"SA-PREFIX-BLOCK",
                        "key",
                        [](const Call &c) { return c.key_head_size() > 0; },
                        [](const Call &c) { return c.dim(kKey, 1) <= 16384 / c.key_head_size(); },
                        [](const Call &c, Saying &s) {
                          s.value << "block size " << c.dim(kKey, 1) << " with head size "
                                  << c.key_head_size();
                          s.limit << "their product must be 16384 at most";
                        },
                        prefix};
const Rule kPrefixBatch{"SA-PREFIX-BATCH",
                        "blockTables",
                        sound,
                        [](const Call &c) {
                          return c.dim(kSeqLen, 0) == c.dim(kBlockTables, 0) &&
                                 c.dim(kKvSeqLen, 0) == c.dim(kBlockTables, 0);
                        },
                        [](const Call &c, Saying &s) {
                          s.value << c.dim(kBlockTables, 0) << " rows";
                          s.limit << "must be as many as the " << c.dim(kSeqLen, 0)
                                  << " lengths of seqLen and the " << c.dim(kKvSeqLen, 0)
                                  << " of kvSeqLen";
                        },
                        prefix};

namespace {
bool two_or_four(int64_t rank) { return rank == 2 || rank == 4; }
int64_t cache_rank(const Call &c) { return c.limits.fractal ? 5 : c.run_status() ? 3 : 4; }
}  // namespace
const Rule kCachedQueryRank{"SA-CACHED-QUERY-RANK",
                            "query",
                            sound,
                            [](const Call &c) { return two_or_four(c.rank(kQuery)); },
                            told_shape<kQuery, "must have 2 or 4 dimensions">,
                            cached_bsnd};
const Rule kCachedKeyRank{
    "SA-CACHED-KEY-RANK",
    "key",
    sound,
    [](const Call &c) { return two_or_four(c.rank(kKey)) && two_or_four(c.rank(kValue)); },
    [](const Call &c, Saying &s) {
      blame_shape(c, two_or_four(c.rank(kKey)) ? kValue : kKey, s);
      s.limit << "must have 2 or 4 dimensions";
    },
    [](const Call &c) { return cached_bsnd(c) && !c.bypass(); }};
const Rule kCacheRank{"SA-CACHE-RANK",
                      "cacheK",
                      sound,
                      [](const Call &c) {
                        return wrong_rank(c, {kCacheK, kCacheV}, cache_rank(c)) == kInputSlots;
                      },
                      [](const Call &c, Saying &s) {
                        blame_shape(c, wrong_rank(c, {kCacheK, kCacheV}, cache_rank(c)), s);
                        s.limit << "must have " << cache_rank(c) << " dimensions, "
                                << (c.limits.fractal ? "[layer, batch, hidden / 16, row, 16]"
                                    : c.run_status()
                                        ? "[batch, row, hidden] with batchRunStatusEnable"
                                        : "[layer, batch, row, hidden]");
                      },
                      cached_bsnd};
const Rule kCachedMaskRank{
    "SA-CACHED-MASK-RANK",
    "mask",
    sound,
    [](const Call &c) { return rank_between(c, kMask, 2, 4); },
    told_shape<kMask, "must have 2 to 4 dimensions">,
    [](const Call &c) { return cached_bsnd(c) && c.has_mask() && !c.limits.fractal; }};
constexpr Rule kLengthsRank{
    "SA-LENGTHS-RANK",
    "tokenOffset",
    sound,
    [](const Call &c) {
      return wrong_rank(c, {kTokenOffset, kSeqLen, kLayerId}, 1) == kInputSlots;
    },
    [](const Call &c, Saying &s) {
      blame_shape(c, wrong_rank(c, {kTokenOffset, kSeqLen, kLayerId}, 1), s);
      s.limit << "must have 1 dimension";
    },
    cached_bsnd};
constexpr Rule kStatusBypass{"SA-STATUS-BYPASS",
                             "batchRunStatusEnable",
                             nullptr,
                             [](const Call &c) { return !c.bypass(); },
                             told<&Param::batchRunStatusEnable,
                                  "must be false with "
                                  "K_BYPASS_V_BYPASS">,
                             status_bsnd};
const Rule kStatusRank{"SA-STATUS-RANK",
                       "batchRunStatus",
                       sound,
                       [](const Call &c) { return c.rank(kBatchRunStatus) == 1; },
                       told_shape<kBatchRunStatus, "must have 1 dimension">,
                       status_bsnd};
const Rule kCacheHidden{"SA-CACHE-HIDDEN",
                        "key",
                        sound,
                        [](const Call &c) { return other_hidden(c) == kInputSlots; },
                        [](const Call &c, Saying &s) {
                          const size_t slot = other_hidden(c);
                          blame_shape(c, slot, s);
                          s.limit << "heads times head size must be that of ";
                          say_other(c, slot == kKey ? kCacheK : kCacheV, s.limit);
                        },
                        [](const Call &c) { return cached_bsnd(c) && !c.bypass(); }};
const Rule kHiddenMultiple{"SA-HIDDEN-MULTIPLE",
                           "key",
                           sound,
                           [](const Call &c) {
                             return is_multiple(c.hidden(kKey), 16) &&
                                    is_multiple(c.hidden(kValue), 16);
                           },
                           [](const Call &c, Saying &s) {
                             blame_shape(c, is_multiple(c.hidden(kKey), 16) ? kValue : kKey, s);
                             s.limit << "heads times head size must be a multiple of 16";
                           },
                           [](const Call &c) { return cached_bsnd(c) && !c.bypass(); }};
const Rule kCachesAlike{"SA-CACHES-ALIKE",
                        "cacheV",
                        sound,
                        [](const Call &c) {
                          return same_leading_dims(c, kCacheK, kCacheV) &&
                                 (!c.limits.fractal || c.last_dim(kCacheK) == c.last_dim(kCacheV));
                        },
                        [](const Call &c, Saying &s) {
                          blame_shape(c, kCacheV, s);
                          s.limit << "all dimensions" << (c.limits.fractal ? "" : " but the last")
                                  << " must be those of ";
                          say_other(c, kCacheK, s.limit);
                        },
                        cached_bsnd};
constexpr Rule kBatch{"SA-BATCH",
                      "tokenOffset",
                      sound,
                      [](const Call &c) { return other_batch(c) == kInputSlots; },
                      [](const Call &c, Saying &s) {
                        blame_shape(c, other_batch(c), s);
                        s.limit << "must have one element for each batch of ";
                        say_other(c, c.bnsd() ? kQuery : kCacheK, s.limit);
                      },
                      cached_bsnd};

const Rule kBnsdSeqLenRank = within(kSeqLenRank, packed_bnsd);
const Rule kBnsdSeqLenRows = within(kSeqLenRows, packed_bnsd);
const Rule kBnsdLengthsRank = within(kLengthsRank, cached_bnsd);
const Rule kBnsdStatusBypass = within(kStatusBypass, status_bnsd);
const Rule kBnsdLengthsBatch = within(kBatch, cached_bnsd);
const Rule kBnsdQueryRank{"SA-BNSD-QUERY-RANK",
                          "query",
                          sound,
                          [](const Call &c) { return c.rank(kQuery) == 4; },
                          told_shape<kQuery, "must be [batch, headNum, row, head size]">,
                          bnsd};
const Rule kBnsdKeyRank{"SA-BNSD-KEY-RANK",
                        "key",
                        sound,
                        [](const Call &c) { return c.rank(kKey) == 4; },
                        told_shape<kKey, "must be [batch, kvHeadNum, row, head size]">,
                        packed_bnsd};
const Rule kBnsdCacheRank{"SA-BNSD-CACHE-RANK",
                          "cacheK",
                          sound,
                          [](const Call &c) {
                            return wrong_rank(c, {kCacheK, kCacheV}, 5) == kInputSlots;
                          },
                          [](const Call &c, Saying &s) {
                            blame_shape(c, wrong_rank(c, {kCacheK, kCacheV}, 5), s);
                            s.limit << "must be "
                                    << (c.limits.fractal
                                            ? "[layer, batch * kvHeadNum, head size / 16, row, 16]"
                                            : "[layer, batch, kvHeadNum, row, head size]");
                          },
                          cached_bnsd};
const Rule kBnsdMaskRank{"SA-BNSD-MASK-RANK",
                         "mask",
                         sound,
                         [](const Call &c) { return rank_between(c, kMask, 2, 4); },
                         told_shape<kMask, "must have 2 to 4 dimensions">,
                         [](const Call &c) { return cached_bnsd(c) && !c.limits.fractal; }};
const Rule kBnsdKvAlike{
    "SA-BNSD-KV-ALIKE", "value", sound,
    [](const Call &c) { return same_desc(*c.desc(c.key_slot()), *c.desc(c.value_slot())); },
    [](const Call &c, Saying &s) {
      blame_shape(c, c.value_slot(), s);
      s.limit << "must be described as ";
      say_other(c, c.key_slot(), s.limit);
    },
    // M8V2 has values, too: mlaVHeadSize is refused before.
    bnsd};
namespace {
// The batches that keys or caches have.
int64_t bnsd_batch(const Call &c) {
  if (c.packed()) return c.dim(kKey, 0);
  return c.limits.fractal ? c.dim(kCacheK, 1) / c.kv_heads() : c.dim(kCacheK, 1);
}
}  // namespace
const Rule kBnsdBatch{"SA-BNSD-BATCH",
                      "query",
                      sound,
                      [](const Call &c) {
                        return c.dim(kQuery, 0) == bnsd_batch(c) &&
                               (!c.packed() || c.dim(kQuery, 0) == c.batch());
                      },
                      [](const Call &c, Saying &s) {
                        blame_shape(c, kQuery, s);
                        s.limit << "must have the batches of ";
                        const bool keys = c.dim(kQuery, 0) != bnsd_batch(c);
                        say_other(c, keys ? c.key_slot() : size_t{kSeqLen}, s.limit);
                      },
                      bnsd};
const Rule kBnsdQueryHeads{"SA-BNSD-QUERY-HEADS",
                           "query",
                           sound,
                           [](const Call &c) { return c.dim(kQuery, 1) == c.heads(); },
                           [](const Call &c, Saying &s) {
                             blame_shape(c, kQuery, s);
                             s.limit << "dimension 1 must be headNum " << c.heads();
                           },
                           bnsd};
namespace {
size_t bnsd_heads_axis(const Call &c) { return c.packed() ? 1 : 2; }
}  // namespace
const Rule kBnsdKvHeads{
    "SA-BNSD-KV-HEADS",
    "key",
    sound,
    [](const Call &c) { return c.dim(c.key_slot(), bnsd_heads_axis(c)) == c.kv_heads(); },
    [](const Call &c, Saying &s) {
      blame_shape(c, c.key_slot(), s);
      s.limit << "dimension " << bnsd_heads_axis(c) << " must be the number of key heads, "
              << c.kv_heads();
    },
    [](const Call &c) { return c.bnsd() && (c.packed() || !c.limits.fractal); }};
const Rule kBnsdHeadSize{"SA-BNSD-HEAD-SIZE",
                         "query",
                         sound,
                         [](const Call &c) { return c.dim(kQuery, 3) == c.key_head_size(); },
                         [](const Call &c, Saying &s) {
                           blame_shape(c, kQuery, s);
                           s.limit << "must have the head size of ";
                           say_other(c, c.key_slot(), s.limit);
                         },
                         bnsd};
const Rule kBnsdHeadLimit{"SA-BNSD-HEAD-LIMIT",
                          "query",
                          sound,
                          [](const Call &c) { return c.dim(kQuery, 3) <= 256; },
                          told_shape<kQuery, "the head size must be 256 at most for TYPE_BNSD">,
                          bnsd};
const Rule kBnsdGroup{"SA-BNSD-GROUP",
                      "cacheK",
                      sound,
                      [](const Call &c) { return c.dim(kCacheK, 4) == 16; },
                      told_shape<kCacheK, "dimension 4 must be 16">,
                      [](const Call &c) { return cached_bnsd(c) && c.limits.fractal; }};

const Rule kKvAlike{
    "SA-KV-ALIKE",
    "value",
    sound,
    [](const Call &c) { return same_desc(*c.desc(c.key_slot()), *c.desc(c.value_slot())); },
    [](const Call &c, Saying &s) {
      blame_shape(c, c.value_slot(), s);
      s.limit << "must be described on this product as ";
      say_other(c, c.key_slot(), s.limit);
    },
    [](const Call &c) { return !c.bnsd() && c.limits.fractal; }};

namespace {
bool heads_in(const Call &c, size_t slot) {
  if (c.limits.fractal) {
    if (c.cached() && c.bypass()) return is_multiple(c.hidden(slot), c.kv_heads());
    return c.rank(slot) != 2 || is_multiple(c.last_dim(slot), c.kv_heads());
  }
  return !c.heads_together() || is_multiple(c.last_dim(slot), c.kv_heads());
}
size_t without_heads(const Call &c) {
  if (!heads_in(c, c.key_slot())) return c.key_slot();
  if (!c.mla() && !heads_in(c, c.value_slot())) return c.value_slot();
  return kInputSlots;
}
}  // namespace
const Rule kHeadsInHidden{"SA-HEADS-IN-HIDDEN",
                          "key",
                          sound,
                          [](const Call &c) { return without_heads(c) == kInputSlots; },
                          [](const Call &c, Saying &s) {
                            blame_shape(c, without_heads(c), s);
                            s.limit << "the hidden dimension must be a multiple of the "
                                    << c.kv_heads() << " key heads";
                          },
                          bsnd};
const Rule kMlaHead{"SA-MLA-HEAD",
                    "mlaVHeadSize",
                    sound,
                    [](const Call &c) { return c.param.mlaVHeadSize <= head_sizes(c).key; },
                    [](const Call &c, Saying &s) {
                      s.value << c.param.mlaVHeadSize;
                      s.limit << "must not be above the head size of key, " << head_sizes(c).key;
                    },
                    mla};
const Rule kHeadEqual{
    "SA-HEAD-EQUAL",
    "value",
    sound,
    [](const Call &c) {
      const HeadSizes sizes = head_sizes(c);
      return sizes.key == sizes.value;
    },
    [](const Call &c, Saying &s) {
      s.parameter = c.mla() ? "mlaVHeadSize" : c.name(c.value_slot());
      s.value << "head size " << head_sizes(c).value;
      s.limit << "must be that of the keys, " << head_sizes(c).key << ", with "
              << (c.log_n()       ? "SCALE_TYPE_LOGN"
                  : c.quantised() ? "quantType 2 and 3"
                                  : "windowSize");
    },
    [](const Call &c) {
      return !c.bnsd() && !c.limits.fractal &&
             (c.log_n() || (c.quantised() && !c.mla()) || (c.window() > 0 && c.mla()));
    }};
const Rule kHeadLimit{
    "SA-HEAD-LIMIT",
    "key",
    sound,
    [](const Call &c) { return head_sizes(c).largest() <= head_limit(c); },
    [](const Call &c, Saying &s) {
      const HeadSizes sizes = head_sizes(c);
      const bool key = sizes.key > head_limit(c);
      s.parameter = key ? c.name(c.key_slot()) : c.mla() ? "mlaVHeadSize" : c.name(c.value_slot());
      s.value << "head size " << (key ? sizes.key : sizes.value);
      s.limit << "must be " << head_limit(c) << " at most"
              << (c.alibi_compress() ? " with a compressed ALiBi mask" : "");
    },
    bsnd};
const Rule kHeadMultiple{"SA-HEAD-MULTIPLE",
                         "key",
                         sound,
                         [](const Call &c) { return is_multiple(head_sizes(c).key, 16); },
                         [](const Call &c, Saying &s) {
                           s.parameter = c.name(c.key_slot());
                           s.value << "head size " << head_sizes(c).key;
                           s.limit << "must be a multiple of 16 on this product";
                         },
                         [](const Call &c) { return !c.bnsd() && c.limits.fractal; }};

const Rule kWindowMask{
    "SA-WINDOW-MASK",
    "mask",
    sound,
    [](const Call &c) {
      if (c.rank(kMask) != (c.limits.fractal ? 4 : 2)) return false;
      if (!c.sliding_compress()) return true;
      return c.limits.fractal ? has_dims(c, kMask, {1, 32, 512, 16})
                              : has_dims(c, kMask, {512, 512});
    },
    [](const Call &c, Saying &s) {
      blame_shape(c, kMask, s);
      if (c.sliding_compress()) {
        s.limit << (c.limits.fractal ? "must be [1, 32, 512, 16]" : "must be [512, 512]");
      } else {
        s.limit << "must have " << (c.limits.fractal ? 4 : 2) << " dimensions";
      }
    },
    [](const Call &c) { return c.window() > 0 && !c.decoder(); }};

const Rule kOutRank{
    "SA-OUT-RANK",
    "output",
    sound,
    [](const Call &c) { return Facts::rank_of(c.out_desc(Call::kOutput)) == 3; },
    [](const Call &c, Saying &s) {
      say_shape(c.out_desc(Call::kOutput), s.value);
      s.limit << "must have 3 dimensions, of a query with 4";
    },
    [](const Call &c) { return !c.bnsd() && c.limits.fractal && c.rank(kQuery) == 4; }};
const Rule kOutDesc{"SA-OUT-DESC",
                    "output",
                    [](const Call &c) {
                      return c.sound && rank_between(c, kQuery, 2, 4) &&
                             c.value_head_size() <= 1024;
                    },
                    [](const Call &c) {
                      TensorDesc wanted = described_output(c);
                      const TensorDesc &out = *c.out_desc(Call::kOutput);
                      if (c.limits.fractal && c.rank(kQuery) == 4) {
                        wanted.dtype = out.dtype;
                        wanted.format = out.format;
                      }
                      return same_desc(out, wanted);
                    },
                    [](const Call &c, Saying &s) {
                      const TensorDesc &out = *c.out_desc(Call::kOutput);
                      say_desc(out, s.value);
                      s.limit << "must be ";
                      say_desc(described_output(c), s.limit);
                    },
                    bsnd};
const Rule kHeadSlow{"SA-HEAD-SLOW", "key", sound,
                     [](const Call &c) { return is_multiple(c.key_head_size(), 64); },
                     [](const Call &c, Saying &s) {
                       s.parameter = c.name(c.key_slot());
                       s.value << "head size " << c.key_head_size();
                       s.limit << "should be a multiple of 64; others are slower on the device";
                     }};

// ---- Setup, with the lengths

namespace {
bool listed(const Call &c) { return c.listed(); }
template <int32_t kCode>
bool listed_with(const Call &c) {
  return c.listed() && c.limits.list_code == kCode;
}
bool one_layer(const Call &c) { return c.dim(kCacheK, 0) == 1; }
bool list_of_batch(const Call &c) {
  return static_cast<int64_t>(c.members(kCacheK).size()) == c.batch();
}
void say_list_size(const Call &c, Saying &s) {
  s.value << "a list of " << c.members(kCacheK).size() << " tensors";
  s.limit << "must have one for each of the " << c.batch() << " batches";
}
constexpr Words kOneLayer = "a list of tensors is one layer, so dimension 0 must be 1";
}  // namespace
const Rule kListCalc{"SA-LIST-CALC",
                     "calcType",
                     nullptr,
                     [](const Call &c) { return c.decoder(); },
                     told<&Param::calcType,
                          "must be DECODER with caches that are lists of "
                          "tensors">,
                     listed};
const Rule kListLayer{
    "SA-LIST-LAYER",    "cacheK", sound, one_layer, told_shape<kCacheK, kOneLayer>,
    listed_with<kParam>};
const Rule kListLayerDim{
    "SA-LIST-LAYER", "cacheK", sound, one_layer, told_shape<kCacheK, kOneLayer>, listed_with<kDim>};
const Rule kListSize{"SA-LIST-SIZE", "cacheK",      sound,
                     list_of_batch,  say_list_size, listed_with<kParam>};
const Rule kListSizeDim{"SA-LIST-SIZE", "cacheK",      sound,
                        list_of_batch,  say_list_size, listed_with<kDim>};

const Rule kMlaQueryRank{"SA-MLA-QUERY-RANK",
                         "query",
                         sound,
                         [](const Call &c) { return c.rank(kQuery) != 4; },
                         told_shape<kQuery,
                                    "must have 2 or 3 dimensions; InferShape accepts 4, the "
                                    "kernel does not">,
                         mla};
const Rule kFlatQuery{"SA-FLAT-QUERY",
                      "query",
                      sound,
                      [](const Call &c) { return c.limits.flat_query || c.rank(kQuery) != 2; },
                      told_shape<kQuery, "must have 3 dimensions on this product">,
                      packed_bsnd};
const Rule kMaskType{"SA-MASK-TYPE",
                     "mask",
                     sound,
                     [](const Call &c) {
                       const aclDataType mask = c.desc(kMask)->dtype;
                       const aclDataType query = c.desc(kQuery)->dtype;
                       return (mask == ACL_FLOAT16 || mask == ACL_BF16) &&
                              (query == ACL_INT8 || query == mask);
                     },
                     [](const Call &c, Saying &s) {
                       say_type(*c.desc(kMask), s.value);
                       s.limit << "must be FLOAT16 or BFLOAT16, and that of query unless it is "
                                  "INT8";
                     },
                     [](const Call &c) { return c.has_mask(); }};
// The kernel's; without a mask nobody compares the longest.
const Rule kLengthsMask{
    "SA-LENGTHS-MASK",
    "seqLen",
    lengths_known,
    [](const Call &c) {
      const std::span<const int32_t> q = c.query_lengths(), kv = c.kv_lengths();
      return longest(q) > 0 && longest(kv) > 0 && shortest(q) >= 0 && shortest(kv) >= 0 &&
             longest(kv) >= longest(q);
    },
    [](const Call &c, Saying &s) {
      const std::span<const int32_t> q = c.query_lengths(), kv = c.kv_lengths();
      s.value << shortest(q) << " .. " << longest(q) << ", of keys " << shortest(kv) << " .. "
              << longest(kv);
      s.limit << "with a mask none may be negative, the longest must be above 0, and the longest "
                 "of the keys not below that of the queries";
    },
    [](const Call &c) { return c.has_mask() && !c.limits.fractal; }};
const Rule kWindowOneRow{"SA-WINDOW-ONE-ROW",
                         "seqLen",
                         lengths_known,
                         [](const Call &c) { return longest(c.query_lengths()) != 1; },
                         [](const Call &, Saying &s) {
                           s.value << "1 at most";
                           s.limit << "one query row in every batch needs DECODER with "
                                      "MASK_TYPE_SLIDING_WINDOW_NORM, which has no mask tensor";
                         },
                         [](const Call &c) {
                           return c.has_mask() &&
                                  c.param.maskType == Param::MASK_TYPE_SLIDING_WINDOW_NORM &&
                                  !c.limits.fractal;
                         }};
const Rule kMaskCovers{
    "SA-MASK-COVERS",
    "mask",
    lengths_known,
    [](const Call &c) { return c.mask().fits; },
    [](const Call &c, Saying &s) {
      blame_shape(c, kMask, s);
      s.value << ' ' << format_name(c.desc(kMask)->format);
      s.limit << "must have at least " << longest(c.query_lengths()) << " rows and "
              << longest(c.kv_lengths()) << " columns, in planes for "
              << (c.alibi() ? "heads" : "batches") << " or for batches and heads if any";
      if (c.limits.fractal) {
        s.limit << ", rounded up to 16 as [planes, columns / 16, rows, 16]";
      } else {
        s.limit << ", ND, or the shape of a compressed mask that maskType and isTriuMask "
                << c.param.isTriuMask << " allow";
      }
    },
    [](const Call &c) { return c.has_mask(); }};
const Rule kKvHeadsMissing{"SA-KV-HEADS-MISSING",
                           "kvHeadNum",
                           sound,
                           [](const Call &c) {
                             const int64_t size = c.query_head_size();
                             // Then another kernel runs, which does not look.
                             if (size != c.value_head_size() || size > 256) return true;
                             if (c.rank(kKey) == 3) return c.dim(kKey, 1) == c.heads();
                             return c.hidden(kKey) == c.hidden(kQuery) || c.hidden(kKey) <= size;
                           },
                           [](const Call &c, Saying &s) {
                             s.value << "0 with key ";
                             say_shape(c.desc(kKey), s.value);
                             s.limit << "must be the number of key heads, or key must have the "
                                     << c.heads() << " heads of headNum";
                           },
                           [](const Call &c) {
                             return packed_bsnd(c) && c.param.kvHeadNum == 0 && !c.mla() &&
                                    !c.limits.fractal;
                           }};
const Rule kLogNBatch{"SA-LOGN-BATCH",
                      "logN",
                      sound,
                      [](const Call &c) { return c.dim(kLogN, 0) >= c.batch(); },
                      [](const Call &c, Saying &s) {
                        blame_shape(c, kLogN, s);
                        s.limit << "must have a factor for each of the " << c.batch() << " batches";
                      },
                      [](const Call &c) { return c.log_n() && c.decoder(); }};
const Rule kLogNRows{"SA-LOGN-ROWS",
                     "logN",
                     sound,
                     [](const Call &c) {
                       const int64_t rows = c.rows(kQuery);
                       return c.dim(kLogN, 0) >= (rows + c.batch() - 1) / c.batch();
                     },
                     [](const Call &c, Saying &s) {
                       blame_shape(c, kLogN, s);
                       s.limit << "times the " << c.batch() << " batches must cover the "
                               << c.rows(kQuery) << " rows of query";
                     },
                     [](const Call &c) { return c.log_n() && c.packed() && !c.limits.fractal; }};

// Where the device lists no combinations of types.
const Rule kQuantTypes{"SA-QUANT-TYPES",
                       "query",
                       sound,
                       [](const Call &c) { return wrong_quant_type(c) == kInputSlots; },
                       [](const Call &c, Saying &s) {
                         const size_t slot = wrong_quant_type(c);
                         s.parameter = c.name(slot);
                         say_type(*c.desc(slot), s.value);
                         s.limit << "must be " << dtype_name(quant_dtype(slot)) << " ND";
                       },
                       [](const Call &c) { return c.quantised() && !c.layout.checked; }};
// The combinations leave both types to all products, their kernels read one.
const Rule kSlopesType{
    "SA-SLOPES-TYPE",
    "slopes",
    sound,
    [](const Call &c) {
      return c.desc(kSlopes)->dtype == (c.limits.fractal ? ACL_FLOAT16 : ACL_FLOAT);
    },
    [](const Call &c, Saying &s) {
      say_type(*c.desc(kSlopes), s.value);
      s.limit << "must be " << (c.limits.fractal ? "FLOAT16" : "FLOAT") << " on this product";
    },
    [](const Call &c) { return c.has(kSlopes); }};
const Rule kLengthsNegative{
    "SA-LENGTHS-NEGATIVE",
    "seqLen",
    lengths_known,
    [](const Call &c) {
      return first_batch(c, [](int64_t q, int64_t kv, size_t) { return q < 0 || kv < 0; }) < 0;
    },
    [](const Call &c, Saying &s) {
      say_lengths(c, first_batch(c, [](int64_t q, int64_t kv, size_t) { return q < 0 || kv < 0; }),
                  s);
      s.limit << "must not be negative";
    },
    fractal};
const Rule kQueryHeads{"SA-QUERY-HEADS",
                       "query",
                       sound,
                       [](const Call &c) {
                         if (c.rank(kQuery) == 2) return is_multiple(c.dim(kQuery, 1), c.heads());
                         return c.rank(kQuery) < 3 ||
                                c.dim(kQuery, static_cast<size_t>(c.rank(kQuery) - 2)) == c.heads();
                       },
                       [](const Call &c, Saying &s) {
                         blame_shape(c, kQuery, s);
                         s.limit << "must have headNum " << c.heads() << " heads";
                       },
                       bsnd};
const Rule kKeyHeads{"SA-KEY-HEADS",
                     "key",
                     sound,
                     [](const Call &c) { return wrong_heads(c) == kInputSlots; },
                     [](const Call &c, Saying &s) {
                       blame_shape(c, wrong_heads(c), s);
                       s.limit << "must have " << c.kv_heads() << " heads, kvHeadNum"
                               << (c.param.kvHeadNum == 0 ? " (0: headNum)" : "");
                     },
                     bsnd};
const Rule kNzCache{"SA-NZ-CACHE",
                    "cacheK",
                    sound,
                    [](const Call &c) { return c.last_dim(kCacheK) == 16; },
                    told_shape<kCacheK, "dimension 4 must be 16">,
                    [](const Call &c) { return cached_bsnd(c) && c.limits.fractal; }};
const Rule kHeadsMatch{"SA-HEADS-MATCH",
                       "query",
                       sound,
                       [](const Call &c) {
                         if (!c.cached()) return c.query_head_size() == c.key_head_size();
                         const int64_t hidden = c.hidden(kCacheK);
                         return is_multiple(hidden, c.kv_heads()) &&
                                hidden / c.kv_heads() == c.query_head_size();
                       },
                       [](const Call &c, Saying &s) {
                         s.value << "head size " << c.query_head_size();
                         s.limit << "must be that of the " << c.kv_heads() << " key heads in ";
                         say_other(c, c.cached() ? kCacheK : kKey, s.limit);
                       },
                       bsnd};
const Rule kQueryRows{
    "SA-QUERY-ROWS", "query", lengths_known,
    [](const Call &c) {
      if (c.bnsd()) return c.dim(kQuery, 2) >= longest(c.query_lengths());
      return c.rows(kQuery) >= query_rows_needed(c);
    },
    [](const Call &c, Saying &s) {
      blame_shape(c, kQuery, s);
      s.limit << "must have the rows of seqLen, "
              << (c.bnsd() ? longest(c.query_lengths()) : query_rows_needed(c));
      if (c.limits.fractal && !c.bnsd()) {
        s.limit << (c.cached() ? ", each length rounded up to 16" : ", their sum rounded up to 16");
      }
    }};
const Rule kKeyRows{"SA-KEY-ROWS",
                    "key",
                    lengths_known,
                    [](const Call &c) { return few_rows(c) == kInputSlots; },
                    [](const Call &c, Saying &s) {
                      blame_shape(c, few_rows(c), s);
                      s.limit << "must have the rows of seqLen, "
                              << (c.bnsd() ? longest(c.kv_lengths()) : key_rows_needed(c));
                      if (c.limits.fractal && c.packed()) {
                        s.limit << ", their sum rounded up to 16";
                      }
                    },
                    [](const Call &c) { return c.packed() || writes_cache(c); }};
const Rule kOutRoom{"SA-OUT-ROOM",
                    "output",
                    sound,
                    [](const Call &c) {
                      return elements_of(*c.out_desc(Call::kOutput)) >=
                             elements_of(*c.desc(kQuery));
                    },
                    [](const Call &c, Saying &s) {
                      say_shape(c.out_desc(Call::kOutput), s.value);
                      s.limit << "must have the elements of ";
                      say_other(c, kQuery, s.limit);
                    },
                    bnsd};
const Rule kListMembers{
    "SA-LIST-MEMBERS",
    "cacheK",
    sound,
    [](const Call &c) { return members_fit(c, kCacheK) && members_fit(c, kCacheV); },
    [](const Call &c, Saying &s) {
      const size_t slot = members_fit(c, kCacheK) ? kCacheV : kCacheK;
      s.parameter = c.name(slot);
      const std::span<const Tensor> list = c.members(slot);
      s.value << "a list of " << list.size() << " tensors";
      if (!list.empty()) {
        s.value << ", the first of ";
        say_shape(&list[0].desc, s.value);
      }
      s.limit << "must be " << c.batch() << " tensors described alike, each "
              << "of one batch of ";
      say_other(c, slot, s.limit);
    },
    [](const Call &c) { return c.listed() && c.decoder(); }};
const Rule kCacheWrite{"SA-CACHE-WRITE",
                       "tokenOffset",
                       lengths_known,
                       [](const Call &c) { return bad_write(c) < 0; },
                       [](const Call &c, Saying &s) {
                         const auto b = static_cast<size_t>(bad_write(c));
                         s.value << c.kv_lengths()[b] << " with seqLen " << c.query_lengths()[b]
                                 << " in batch " << b;
                         s.limit << "must be from seqLen to the " << c.cache_rows()
                                 << " rows of the caches, which are written up to there";
                       },
                       writes_cache};
const Rule kCacheRows{"SA-CACHE-ROWS",
                      "tokenOffset",
                      lengths_known,
                      [](const Call &c) { return bad_read(c) < 0; },
                      [](const Call &c, Saying &s) {
                        const auto b = static_cast<size_t>(bad_read(c));
                        s.value << c.kv_lengths()[b] << " in batch " << b;
                        s.limit << "must not be above the " << c.cache_rows()
                                << " rows of the caches"
                                << (c.ring() ? ", nor windowSize if it is smaller" : "");
                      },
                      [](const Call &c) { return c.cached(); }};
const Rule kPrefixValue{"SA-PREFIX-VALUE",
                        "value",
                        sound,
                        [](const Call &c) {
                          return c.dim(kKey, 0) == c.dim(kValue, 0) &&
                                 c.dim(kKey, 1) == c.dim(kValue, 1) &&
                                 c.hidden(kKey) == c.hidden(kValue);
                        },
                        [](const Call &c, Saying &s) {
                          blame_shape(c, kValue, s);
                          s.limit << "must have blocks, block size and hidden of ";
                          say_other(c, kKey, s.limit);
                        },
                        prefix};
const Rule kPrefixTable{"SA-PREFIX-TABLE",
                        "blockTables",
                        lengths_known,
                        [](const Call &c) {
                          const int64_t block = c.dim(kKey, 1);
                          return round_up(longest(c.kv_lengths()), block) / block <=
                                 c.dim(kBlockTables, 1);
                        },
                        [](const Call &c, Saying &s) {
                          blame_shape(c, kBlockTables, s);
                          s.limit << "must have columns for " << longest(c.kv_lengths())
                                  << " keys in blocks of " << c.dim(kKey, 1);
                        },
                        prefix};
const Rule kPrefixSlopes{"SA-PREFIX-SLOPES",
                         "slopes",
                         sound,
                         [](const Call &c) { return c.dim(kSlopes, 0) >= c.heads(); },
                         [](const Call &c, Saying &s) {
                           blame_shape(c, kSlopes, s);
                           s.limit << "must have one for each of the " << c.heads() << " heads";
                         },
                         [](const Call &c) { return c.prefix() && c.has(kSlopes); }};
namespace {
int64_t before_prefix(const Call &c) {
  return first_batch(c, [](int64_t q, int64_t kv, size_t) { return q > 0 && kv > 0 && kv < q; });
}
}  // namespace
const Rule kPrefixLengths{"SA-PREFIX-LENGTHS",
                          "seqLen",
                          lengths_known,
                          [](const Call &c) { return before_prefix(c) < 0; },
                          [](const Call &c, Saying &s) {
                            say_lengths(c, before_prefix(c), s);
                            s.limit << "must not be above kvSeqLen, which counts these rows, too";
                          },
                          prefix};
const Rule kLogNLongest{"SA-LOGN-LONGEST",
                        "logN",
                        lengths_known,
                        [](const Call &c) { return c.dim(kLogN, 0) >= longest(c.query_lengths()); },
                        [](const Call &c, Saying &s) {
                          blame_shape(c, kLogN, s);
                          s.limit << "must have a factor for each of the "
                                  << longest(c.query_lengths()) << " rows of the longest batch";
                        },
                        [](const Call &c) { return c.log_n() && c.packed(); }};
const Rule kMaskRoom{"SA-MASK-ROOM",
                     "mask",
                     lengths_known,
                     [](const Call &c) {
                       const Call::Mask mask = c.mask();
                       return mask.form != Form::Full || (mask.rows >= longest(c.query_lengths()) &&
                                                          mask.columns >= longest(c.kv_lengths()));
                     },
                     [](const Call &c, Saying &s) {
                       blame_shape(c, kMask, s);
                       s.limit << "is a compressed mask, but maskType "
                               << static_cast<int>(c.param.maskType) << " is not; it must have "
                               << longest(c.query_lengths()) << " rows and "
                               << longest(c.kv_lengths()) << " columns";
                     },
                     [](const Call &c) { return c.has_mask(); }};

namespace {
int64_t other_kv_length(const Call &c) {
  return first_batch(c, [](int64_t q, int64_t kv, size_t) { return q != kv; });
}
}  // namespace
const Rule kNzLengths{"SA-NZ-LENGTHS",
                      "seqLen",
                      lengths_known,
                      [](const Call &c) { return other_kv_length(c) < 0; },
                      [](const Call &c, Saying &s) {
                        say_lengths(c, other_kv_length(c), s);
                        s.limit << "the lengths of queries and keys should be equal on this "
                                   "product";
                      },
                      [](const Call &c) { return c.limits.fractal && !c.decoder(); }};
const Rule kMaskChoice{
    "SA-MASK-CHOICE",
    "maskType",
    lengths_known,
    [](const Call &c) { return longest(c.query_lengths()) <= 1; },
    told<&Param::maskType,
         "without a mask every row sees all keys, later ones, "
         "too; a causal model needs MASK_TYPE_NORM or another "
         "one here">,
    [](const Call &c) { return c.param.maskType == Param::MASK_TYPE_UNDEFINED && !c.decoder(); }};

// ---- Execute

const Rule kCacheType{
    "SA-CACHE-TYPE", "cacheType", nullptr,
    [](const Call &c) { return c.param.cacheType == Param::CACHE_TYPE_NORM || c.ring(); },
    told<&Param::cacheType, "must be 0 or 1">};
const Rule kTriangleRange{"SA-TRIU-RANGE", "isTriuMask", nullptr,
                          [](const Call &c) { return c.param.isTriuMask <= 1; },
                          told<&Param::isTriuMask, "must be 0 or 1">};
const Rule kBatchMax{"SA-BATCH-MAX", "seqLen", sound,
                     [](const Call &c) { return c.batch() <= c.limits.batch_max; },
                     [](const Call &c, Saying &s) {
                       s.value << c.batch() << " batches";
                       s.limit << "must be 1 .. " << c.limits.batch_max << " on this product";
                     }};
const Rule kAlibiTriangle{
    "SA-ALIBI-TRIU",
    "isTriuMask",
    sound,
    [](const Call &c) { return c.mask().form != Form::AlibiTile || c.triangle(); },
    told<&Param::isTriuMask, "must be 1 with a mask [1, 16, 256, 16]">,
    [](const Call &c) { return c.alibi_compress() && c.limits.fractal; }};
const Rule kMlaWindow{"SA-MLA-WINDOW",
                      "windowSize",
                      nullptr,
                      [](const Call &c) { return c.window() == 0; },
                      told<&Param::windowSize,
                           "must be 0 with mlaVHeadSize; Create accepts it, the "
                           "kernel does not">,
                      mla};
const Rule kHeadKernel{"SA-HEAD-KERNEL",
                       "value",
                       sound,
                       [](const Call &c) { return head_sizes(c).largest() <= 576; },
                       [](const Call &c, Saying &s) {
                         const HeadSizes sizes = head_sizes(c);
                         s.parameter = c.name(sizes.key > 576 ? c.key_slot() : c.value_slot());
                         s.value << "head size " << sizes.largest();
                         s.limit << "must be 576 at most";
                       },
                       [](const Call &c) { return !c.bnsd() && !c.limits.fractal; }};
const Rule kNormRank{"SA-NORM-RANK",
                     "mask",
                     sound,
                     [](const Call &c) { return c.rank(kMask) != 4; },
                     told_shape<kMask,
                                "must have 2 or 3 dimensions for PA_ENCODER, 4 are for "
                                "MASK_TYPE_ALIBI">,
                     [](const Call &c) {
                       return packed_bsnd(c) && c.has_mask() && !c.alibi() && !c.limits.fractal;
                     }};
const Rule kAlibiFlat{"SA-ALIBI-FLAT",
                      "mask",
                      sound,
                      [](const Call &c) { return c.rank(kMask) != 2 || c.last_dim(kMask) == 256; },
                      told_shape<kMask, "must have a plane for each head">,
                      [](const Call &c) {
                        return packed_bsnd(c) && c.param.maskType == Param::MASK_TYPE_ALIBI &&
                               !c.limits.fractal;
                      }};
const Rule kWindowEdges{
    "SA-WINDOW-EDGES",
    "mask",
    sound,
    [](const Call &c) { return c.dim(kMask, 0) <= c.dim(kMask, 1); },
    told_shape<kMask, "must not have more rows than columns">,
    [](const Call &c) { return c.window() > 0 && c.has_mask() && !c.limits.fractal; }};
const Rule kPrefixBlockSize{"SA-PREFIX-BLOCK-SIZE",
                            "key",
                            sound,
                            [](const Call &c) { return c.dim(kKey, 1) == 128; },
                            told_shape<kKey, "the block size (dimension 1) must be 128">,
                            prefix};
const Rule kLengthsRange{
    "SA-LENGTHS-RANGE",
    "seqLen",
    lengths_known,
    [](const Call &c) { return out_of_range(c) < 0; },
    [](const Call &c, Saying &s) {
      say_lengths(c, out_of_range(c), s);
      const LengthRule rule = length_rule(c);
      s.limit << (rule == LengthRule::Positive  ? "both must be above 0 in this mode"
                  : rule == LengthRule::Decoder ? "must be above 0, and that of the keys not "
                                                  "negative"
                                                : "must not be negative; 0 leaves the batch out");
    },
    [](const Call &c) { return length_rule(c) != LengthRule::None; }};
const Rule kPrefixWhole{"SA-PREFIX-WHOLE",
                        "kvSeqLen",
                        lengths_known,
                        [](const Call &c) { return not_whole(c) < 0; },
                        [](const Call &c, Saying &s) {
                          const auto b = static_cast<size_t>(not_whole(c));
                          s.value << c.kv_lengths()[b] << " with seqLen " << c.query_lengths()[b]
                                  << " in batch " << b;
                          s.limit << "the difference must be a multiple of 128";
                        },
                        prefix};
const Rule kLengthsRelated{"SA-LENGTHS-RELATED",
                           "seqLen",
                           lengths_known,
                           [](const Call &c) { return unrelated(c) < 0; },
                           [](const Call &c, Saying &s) {
                             say_lengths(c, unrelated(c), s);
                             s.limit
                                 << "must be that of the keys, or 1"
                                 << (c.packed() ? "; KERNELTYPE_HIGH_PRECISION takes others" : "");
                           },
                           [](const Call &c) { return length_rule(c) == LengthRule::Equal; }};
const Rule kLengthsWork{
    "SA-LENGTHS-WORK",
    "seqLen",
    lengths_known,
    [](const Call &c) {
      return first_batch(c, [](int64_t q, int64_t kv, size_t) { return q > 0 && kv > 0; }) >= 0;
    },
    [](const Call &c, Saying &s) {
      s.value << "of " << c.batch() << " batches none has queries and keys";
      s.limit << "at least one must";
    },
    [](const Call &c) { return length_rule(c) != LengthRule::None; }};

namespace {
constexpr char kOnesWanted[] =
    "should hold 0, and 1 where a key does not count: BFLOAT16 and high precision multiply it by "
    "-3e38";
}  // namespace
const Rule kMaskOnes{"SA-MASK-ONES",
                     "mask",
                     [](const Call &) { return false; },
                     [](const Call &) { return true; },
                     [](const Call &, Saying &s) { s.limit << kOnesWanted; },
                     [](const Call &c) { return c.has_mask() && !c.alibi(); }};

void advise_mask_ones(const Product &product, float value, int64_t column) {
  Saying saying;
  saying.value << "row 0, column " << column << " is " << static_cast<double>(value);
  saying.limit << kOnesWanted;
  advise("SelfAttentionOperation", &product, kMaskOnes.id, kMaskOnes.parameter, saying,
         kExecuteStep);
}

}  // namespace pyaclnn::atb::self_attention_rules
