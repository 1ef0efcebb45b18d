// What InferShape and Setup ask of the descriptions of SelfAttentionOperation's tensors.
#include "atb/self_attention_rule_parts.hpp"

namespace pyaclnn::atb::self_attention_rules {
namespace {

bool status_bsnd(const Call &c) { return with_status(c) && !c.bnsd(); }
bool status_bnsd(const Call &c) { return with_status(c) && c.bnsd(); }
// Another path's copy of a rule, asked of other calls.
constexpr Rule within(Rule rule, bool (*applies)(const Call &)) {
  rule.applies = applies;
  return rule;
}
// A mask tensor whose shape PA_ENCODER and PREFIX_ENCODER look at.
bool mask_judged(const Call &c) { return c.has_mask() && (packed_bsnd(c) || c.prefix()); }
bool alibi_nd(const Call &c) { return mask_judged(c) && c.alibi_compress() && !c.limits.fractal; }
bool compress_judged(const Call &c) { return mask_judged(c) && c.norm_compress(); }

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

size_t wrong_scale(const Call &c) {
  for (size_t slot : {size_t{kVpvDescale}, size_t{kQkDescale}, size_t{kPScale}}) {
    if (c.has(slot) && !has_dims(c, slot, {c.heads()})) return slot;
  }
  return kInputSlots;
}

int64_t batches(const Call &c) {
  return c.bnsd() ? c.dim(kQuery, 0) : c.run_status() ? c.dim(kCacheK, 0) : c.dim(kCacheK, 1);
}
size_t other_batch(const Call &c) {
  for (size_t slot : {size_t{kTokenOffset}, size_t{kSeqLen}, size_t{kBatchRunStatus}}) {
    if (c.has(slot) && c.dim(slot, 0) != batches(c)) return slot;
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

}  // namespace

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
const Rule kLogNCalc{
    "SA-LOGN-CALC",
    "calcType",
    nullptr,
    [](const Call &c) { return c.packed() || c.decoder(); },
    told<&Param::calcType, "must be 3 (PA_ENCODER) or 2 (DECODER) with SCALE_TYPE_LOGN">,
    log_n};
const Rule kLogNKernel{
    "SA-LOGN-KERNEL",
    "kernelType",
    nullptr,
    [](const Call &c) { return c.high_precision(); },
    told<&Param::kernelType,
         "must be 1 (KERNELTYPE_HIGH_PRECISION) for PA_ENCODER with SCALE_TYPE_LOGN">,
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

const Rule kQueryRank{
    "SA-QUERY-RANK",
    "query",
    sound,
    [](const Call &c) { return rank_between(c, kQuery, 2, c.mla() ? 4 : 3); },
    [](const Call &c, Saying &s) {
      blame_shape(c, kQuery, s);
      s.limit << "must have 2 or 3 dimensions, [tokens, hidden] or [tokens, head, size]"
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
               "with 2 dimensions must be [2, batch]: the lengths of queries, then of keys">,
    packed_bsnd};

const Rule kAlibiPrecision{
    "SA-ALIBI-PRECISION",
    "kernelType",
    sound,
    [](const Call &c) {
      return c.desc(kMask)->dtype != ACL_FLOAT16 || c.param.kernelType != Param::KERNELTYPE_DEFAULT;
    },
    told<&Param::kernelType,
         "must be 1 (KERNELTYPE_HIGH_PRECISION) with a compressed ALiBi mask of FLOAT16">,
    alibi_nd};
const Rule kAlibiTile{"SA-ALIBI-TILE",
                      "mask",
                      sound,
                      [](const Call &c) {
                        return c.rank(kMask) != 2 || has_dims(c, kMask, {256, 256});
                      },
                      told_shape<kMask, "with 2 dimensions must be [256, 256]">,
                      alibi_nd};
const Rule kLeftAlignRank{
    "SA-LEFT-ALIGN-RANK",
    "mask",
    sound,
    [](const Call &c) { return c.rank(kMask) != 3; },
    told_shape<kMask, "must be [256, 256] for MASK_TYPE_ALIBI_COMPRESS_LEFT_ALIGN">,
    [](const Call &c) {
      return alibi_nd(c) && c.param.maskType == Param::MASK_TYPE_ALIBI_COMPRESS_LEFT_ALIGN;
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
const Rule kAlibiRank{
    "SA-ALIBI-RANK",
    "mask",
    sound,
    [](const Call &c) { return (c.rank(kMask) == 4) == c.limits.fractal; },
    [](const Call &c, Saying &s) {
      blame_shape(c, kMask, s);
      s.limit << (c.limits.fractal ? "must have 4 dimensions, [n, columns / 16, rows, 16]"
                                   : "must have 2 or 3 dimensions");
    },
    [](const Call &c) {
      return mask_judged(c) && c.alibi_compress() && (c.limits.fractal || c.rank(kMask) == 4);
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
                           s.limit
                               << "must have "
                               << (nz_mask(c) ? "4 dimensions in format FRACTAL_NZ, [1, 8, 128, 16]"
                                              : "2 dimensions in format ND, [128, 128]")
                               << ", with MASK_TYPE_NORM_COMPRESS";
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
                            s.limit
                                << (nz_mask(c) ? "must be [1, 8, 128, 16] or [1, 128, 2048, 16]"
                                               : "must be [128, 128]")
                                << " with MASK_TYPE_NORM_COMPRESS; a mask of all rows and columns "
                                   "is for MASK_TYPE_NORM";
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
const Rule kLongScale{
    "SA-LONG-SCALE",
    "scaleType",
    nullptr,
    [](const Call &c) { return c.param.scaleType == Param::SCALE_TYPE_TOR; },
    told<&Param::scaleType, "must be 0 (SCALE_TYPE_TOR) with a mask [1, 128, 2048, 16]">,
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

const Rule kPrefixQueryRank{
    "SA-PREFIX-QUERY-RANK",
    "query",
    sound,
    [](const Call &c) { return rank_between(c, kQuery, 2, 3); },
    told_shape<kQuery, "must have 2 or 3 dimensions, [tokens, hidden] or [tokens, head, size]">,
    prefix};
const Rule kPrefixCacheRank{
    "SA-PREFIX-CACHE-RANK",
    "key",
    sound,
    [](const Call &c) { return rank_between(c, kKey, 3, 4) && rank_between(c, kValue, 3, 4); },
    [](const Call &c, Saying &s) {
      blame_shape(c, rank_between(c, kKey, 3, 4) ? kValue : kKey, s);
      s.limit << "must be [blocks, block size, hidden], or with the heads apart";
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
const Rule kCachedQueryRank{
    "SA-CACHED-QUERY-RANK",
    "query",
    sound,
    [](const Call &c) { return two_or_four(c.rank(kQuery)); },
    told_shape<kQuery, "must have 2 or 4 dimensions, [tokens, hidden] or [batch, row, head, size]">,
    cached_bsnd};
const Rule kCachedKeyRank{
    "SA-CACHED-KEY-RANK",
    "key",
    sound,
    [](const Call &c) { return two_or_four(c.rank(kKey)) && two_or_four(c.rank(kValue)); },
    [](const Call &c, Saying &s) {
      blame_shape(c, two_or_four(c.rank(kKey)) ? kValue : kKey, s);
      s.limit << "must have 2 or 4 dimensions, [tokens, hidden] or [batch, row, head, size]";
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
constexpr Rule kStatusBypass{
    "SA-STATUS-BYPASS",
    "batchRunStatusEnable",
    nullptr,
    [](const Call &c) { return !c.bypass(); },
    told<&Param::batchRunStatusEnable, "must be false with K_BYPASS_V_BYPASS">,
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
                        s.limit << "must have " << batches(c)
                                << " elements, one for each batch of ";
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
      s.limit << "on this product must be described as ";
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

}  // namespace pyaclnn::atb::self_attention_rules
