// What Setup asks of SelfAttentionOperation once the lengths are known, and what Execute refuses.
#include "atb/fractal.hpp"
#include "atb/self_attention_rule_parts.hpp"
#include "nnopbase/names.hpp"

namespace pyaclnn::atb::self_attention_rules {
namespace {

using Form = Call::MaskForm;

bool writes_cache(const Call &c) { return c.cached() && !c.bypass(); }

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

// Rows against lengths, with what these are mistaken for most often. `rounding`: of the sum.
void say_rows(const Call &c, size_t slot, std::span<const int32_t> lengths, int64_t needed,
              const char *rounding, Saying &s) {
  const int64_t rows = c.rows(slot);
  blame_shape(c, slot, s);
  s.value << " has " << rows << " rows";
  s.limit << "must have at least " << needed << " rows, the sum of the " << lengths.size()
          << " lengths in seqLen" << rounding;
  if (lengths.size() > 1 && std::is_sorted(lengths.begin(), lengths.end()) &&
      round_up(int64_t{lengths.back()}, c.row_step()) == rows) {
    s.limit << "; these rise to " << lengths.back() << " like running sums"
            << (lengths.front() == 0 ? " with a leading 0" : "")
            << ", but each is the length of one sequence";
  }
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

// ---- tensors

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
    default: return ACL_DT_UNDEFINED;  // checked by a rule of its own, or not read
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

}  // namespace

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
const Rule kListCalc{
    "SA-LIST-CALC",
    "calcType",
    nullptr,
    [](const Call &c) { return c.decoder(); },
    told<&Param::calcType, "must be 2 (DECODER) with caches that are lists of tensors">,
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

const Rule kMlaQueryRank{
    "SA-MLA-QUERY-RANK",
    "query",
    sound,
    [](const Call &c) { return c.rank(kQuery) != 4; },
    told_shape<kQuery, "must have 2 or 3 dimensions; InferShape accepts 4, the kernel does not">,
    mla};
const Rule kFlatQuery{
    "SA-FLAT-QUERY",
    "query",
    sound,
    [](const Call &c) { return c.limits.flat_query || c.rank(kQuery) != 2; },
    told_shape<kQuery, "must have 3 dimensions, [tokens, head, size], on this product">,
    packed_bsnd};
const Rule kMaskType{
    "SA-MASK-TYPE",
    "mask",
    sound,
    [](const Call &c) {
      const aclDataType mask = c.desc(kMask)->dtype;
      const aclDataType query = c.desc(kQuery)->dtype;
      return (mask == ACL_FLOAT16 || mask == ACL_BF16) && (query == ACL_INT8 || query == mask);
    },
    [](const Call &c, Saying &s) {
      say_type(*c.desc(kMask), s.value);
      s.limit << "must be FLOAT16 or BFLOAT16, and that of query unless it is INT8";
    },
    [](const Call &c) { return c.has_mask(); }};
// A check of the kernel; without a mask the longest length is not compared.
const Rule kLengthsMask{"SA-LENGTHS-MASK",
                        "seqLen",
                        lengths_known,
                        [](const Call &c) {
                          const std::span<const int32_t> q = c.query_lengths(), kv = c.kv_lengths();
                          return longest(q) > 0 && longest(kv) > 0 && shortest(q) >= 0 &&
                                 shortest(kv) >= 0 && longest(kv) >= longest(q);
                        },
                        [](const Call &c, Saying &s) {
                          const std::span<const int32_t> q = c.query_lengths(), kv = c.kv_lengths();
                          s.value << shortest(q) << " .. " << longest(q) << ", of keys "
                                  << shortest(kv) << " .. " << longest(kv);
                          s.limit << "with a mask none may be negative, the longest must be above "
                                     "0, and the longest of the keys not below that of the queries";
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
              << longest(c.kv_lengths()) << " columns, alone or in planes, one for each "
              << (c.alibi() ? "head" : "batch") << " or for each batch and head";
      if (c.limits.fractal) {
        s.limit << "; as FRACTAL_NZ [planes, columns / 16, rows, 16] both are rounded up to 16";
      } else if (c.alibi_compress()) {
        s.limit << "; a compressed one must be [256, 256] or [" << c.heads() << ", rows, 128]";
      } else if (c.sliding_compress()) {
        s.limit << "; a compressed one must be [512, 512]";
      } else if (!c.alibi() && !c.sliding()) {
        s.limit << "; a compressed one must be [128, 128], with isTriuMask 1 (it is "
                << c.param.isTriuMask << ')';
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
                         s.limit << (c.rank(kQuery) == 2
                                         ? "dimension 1 must be a multiple of headNum, "
                                         : "must have headNum heads, ")
                                 << c.heads();
                       },
                       bsnd};
const Rule kKeyHeads{"SA-KEY-HEADS",
                     "key",
                     sound,
                     [](const Call &c) { return wrong_heads(c) == kInputSlots; },
                     [](const Call &c, Saying &s) {
                       blame_shape(c, wrong_heads(c), s);
                       s.limit << "must have kvHeadNum heads, " << c.kv_heads()
                               << (c.param.kvHeadNum == 0 ? " (kvHeadNum 0 means headNum)" : "");
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
const Rule kQueryRows{"SA-QUERY-ROWS", "query", lengths_known,
                      [](const Call &c) {
                        if (c.bnsd()) return c.dim(kQuery, 2) >= longest(c.query_lengths());
                        return c.rows(kQuery) >= query_rows_needed(c);
                      },
                      [](const Call &c, Saying &s) {
                        if (c.bnsd()) {
                          blame_shape(c, kQuery, s);
                          s.limit << "must have rows for the longest of seqLen, "
                                  << longest(c.query_lengths());
                        } else {
                          say_rows(c, kQuery, c.query_lengths(), query_rows_needed(c),
                                   !c.limits.fractal ? ""
                                   : c.cached()      ? ", each rounded up to 16"
                                                     : ", rounded up to 16",
                                   s);
                        }
                      }};
const Rule kKeyRows{
    "SA-KEY-ROWS",
    "key",
    lengths_known,
    [](const Call &c) { return few_rows(c) == kInputSlots; },
    [](const Call &c, Saying &s) {
      const size_t slot = few_rows(c);
      if (c.bnsd()) {
        blame_shape(c, slot, s);
        s.limit << "must have rows for the longest of seqLen, " << longest(c.kv_lengths());
      } else {
        say_rows(c, slot, c.cached() ? c.query_lengths() : c.kv_lengths(), key_rows_needed(c),
                 c.limits.fractal && c.packed() ? ", rounded up to 16" : "", s);
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
                       s.limit << "must have at least " << longest(c.query_lengths())
                               << " rows and " << longest(c.kv_lengths())
                               << " columns with maskType " << static_cast<int>(c.param.maskType)
                               << "; compressed masks have types of their own, as "
                                  "MASK_TYPE_NORM_COMPRESS (3)";
                     },
                     [](const Call &c) { return c.has_mask(); }};

namespace {
int64_t other_kv_length(const Call &c) {
  return first_batch(c, [](int64_t q, int64_t kv, size_t) { return q != kv; });
}
}  // namespace
const Rule kNzLengths{
    "SA-NZ-LENGTHS",
    "seqLen",
    lengths_known,
    [](const Call &c) { return other_kv_length(c) < 0; },
    [](const Call &c, Saying &s) {
      say_lengths(c, other_kv_length(c), s);
      s.limit << "the lengths of queries and keys should be equal on this product";
    },
    [](const Call &c) { return c.limits.fractal && !c.decoder(); }};
const Rule kMaskChoice{
    "SA-MASK-CHOICE",
    "maskType",
    lengths_known,
    [](const Call &c) { return longest(c.query_lengths()) <= 1; },
    told<&Param::maskType,
         "without a mask every row sees all keys, later ones, too; a causal model needs "
         "MASK_TYPE_NORM or another one here">,
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
const Rule kMlaWindow{
    "SA-MLA-WINDOW",
    "windowSize",
    nullptr,
    [](const Call &c) { return c.window() == 0; },
    told<&Param::windowSize, "must be 0 with mlaVHeadSize; Create accepts it, the kernel does not">,
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
const Rule kNormRank{
    "SA-NORM-RANK",
    "mask",
    sound,
    [](const Call &c) { return c.rank(kMask) != 4; },
    told_shape<kMask, "must have 2 or 3 dimensions for PA_ENCODER, 4 are for MASK_TYPE_ALIBI">,
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
const Rule kLengthsRange{"SA-LENGTHS-RANGE",
                         "seqLen",
                         lengths_known,
                         [](const Call &c) { return out_of_range(c) < 0; },
                         [](const Call &c, Saying &s) {
                           say_lengths(c, out_of_range(c), s);
                           const LengthRule rule = length_rule(c);
                           s.limit << (rule == LengthRule::Positive
                                           ? "both must be above 0 in this mode"
                                       : rule == LengthRule::Decoder
                                           ? "must be above 0, and that of the keys not negative"
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
  // The result is NaN or wrong, and nothing else shows it.
  advise("SelfAttentionOperation", &product, kMaskOnes.id, kMaskOnes.parameter, saying,
         kExecuteStep, LogLevel::Error);
}

}  // namespace pyaclnn::atb::self_attention_rules
