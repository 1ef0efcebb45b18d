// What InferShape and Setup ask of the tensors' descriptions.
#include <iterator>

#include "atb/paged_attention_rule_parts.hpp"
#include "nnopbase/names.hpp"

namespace pyaclnn::atb::paged_attention_rules {
namespace {

constexpr int64_t kHeadMostStrict = 256;  // of the modes with one head size
constexpr int64_t kMlaBatchMost = 8192;
int64_t nz_head_size(const Call &c) { return c.dim(Call::kKeyCache, 1) * 16 / c.kv_heads(); }

}  // namespace

constexpr Rule kRank{"PA-RANK", "query", sound,
                     [](const Call &c) { return wrong_rank(c) == Call::kInputSlots; },
                     [](const Call &c, Saying &s) {
                       const size_t slot = wrong_rank(c);
                       blame_shape(c, slot, s);
                       s.limit << "must have " << wanted_rank(slot) << " dimensions";
                       if (slot == Call::kQuery) s.limit << ", (tokens, heads, head size)";
                       if (slot == Call::kBlockTables) s.limit << ", (batch, blocks)";
                     }};
constexpr Rule kHeadSize{"PA-HEAD-SIZE",
                         "keyCache",
                         ranked,
                         [](const Call &c) { return key_head_size(c) == c.head_size(); },
                         [](const Call &c, Saying &s) {
                           say_it<Call::kKeyCache>(c, s);
                           s.limit << "dimension 3 must be the head size of query, "
                                   << c.head_size();
                         },
                         nd};
constexpr Rule kOneHeadSize{"PA-ONE-HEAD-SIZE",
                            "valueCache",
                            ranked,
                            [](const Call &c) { return c.value_head_size() == key_head_size(c); },
                            [](const Call &c, Saying &s) {
                              say_it<Call::kValueCache>(c, s);
                              s.limit << "dimension 3 must be the head size of keyCache, "
                                      << key_head_size(c);
                            },
                            [](const Call &c) { return nd_bnsd(c) || strict(c); }};
constexpr Rule kBnsdBlocks{"PA-BNSD-BLOCKS",
                           "valueCache",
                           ranked,
                           [](const Call &c) {
                             return c.dim(Call::kKeyCache, 0) == c.dim(Call::kValueCache, 0) &&
                                    c.dim(Call::kKeyCache, 2) == c.dim(Call::kValueCache, 2);
                           },
                           [](const Call &c, Saying &s) {
                             say_it<Call::kValueCache>(c, s);
                             s.limit << "dimensions 0 and 2 must be those of keyCache, "
                                     << c.dim(Call::kKeyCache, 0) << " and "
                                     << c.dim(Call::kKeyCache, 2);
                           },
                           nd_bnsd};
constexpr Rule kRunStatusRows{
    "PA-RUN-STATUS-ROWS",
    "query",
    ranked,
    [](const Call &c) { return c.tokens() <= std::min(c.dim(Call::kBlockTables, 0), c.entries()); },
    [](const Call &c, Saying &s) {
      s.value << c.tokens() << " tokens";
      s.limit << "must be at most the rows of blockTables, " << c.dim(Call::kBlockTables, 0)
              << ", and of contextLens, " << c.entries();
    },
    [](const Call &c) { return c.run_status() && !nd_bnsd(c); }};

namespace {

bool same_caches(const Call &c) {
  for (size_t axis = 0; axis < 3; ++axis) {
    if (c.dim(Call::kKeyCache, axis) != c.dim(Call::kValueCache, axis)) return false;
  }
  return true;
}
void say_caches(const Call &c, Saying &s) {
  say_it<Call::kValueCache>(c, s);
  s.limit << "dimensions 0 to 2 must be those of keyCache, ";
  say_shape(c.desc(Call::kKeyCache), s.limit);
}

}  // namespace

constexpr Rule kCaches{"PA-CACHES", "valueCache",
                       ranked,      same_caches,
                       say_caches,  [](const Call &c) { return !c.mla() && !nd_bnsd(c); }};

namespace {

void say_nz_head_size(const Call &c, Saying &s) {
  say_it<Call::kKeyCache>(c, s);
  s.value << ", head size " << nz_head_size(c);
}
template <size_t kCache>
constexpr Rule nz_columns(const char *id) {
  return {id,
          kCache == Call::kKeyCache ? "keyCache" : "valueCache",
          ranked,
          [](const Call &c) { return c.dim(kCache, 3) == 16; },
          [](const Call &c, Saying &s) {
            say_it<kCache>(c, s);
            s.limit << "dimension 3 must be 16";
          },
          nz};
}

}  // namespace

constexpr Rule kNzKey = nz_columns<Call::kKeyCache>("PA-NZ-KEY");
constexpr Rule kNzValue = nz_columns<Call::kValueCache>("PA-NZ-VALUE");
constexpr Rule kNzMultiple{"PA-NZ-MULTIPLE",
                           "keyCache",
                           ranked,
                           [](const Call &c) { return nz_head_size(c) % 16 == 0; },
                           [](const Call &c, Saying &s) {
                             say_nz_head_size(c, s);
                             s.limit << "dimension 1 * 16 / kvHeadNum must be a multiple of 16";
                           },
                           nz};
constexpr Rule kNzMost{"PA-NZ-MOST",
                       "keyCache",
                       ranked,
                       [](const Call &c) { return nz_head_size(c) <= kHeadMostStrict; },
                       [](const Call &c, Saying &s) {
                         say_nz_head_size(c, s);
                         s.limit << "must be at most " << kHeadMostStrict;
                       },
                       nz};
constexpr Rule kNzBlock{"PA-NZ-BLOCK",
                        "keyCache",
                        ranked,
                        [](const Call &c) { return block_fits(c, nz_head_size(c)); },
                        [](const Call &c, Saying &s) { say_block(c, nz_head_size(c), s); },
                        nz};
constexpr Rule kNzHeadSize{"PA-NZ-HEAD-SIZE",
                           "keyCache",
                           ranked,
                           [](const Call &c) { return nz_head_size(c) == c.head_size(); },
                           [](const Call &c, Saying &s) {
                             say_nz_head_size(c, s);
                             s.limit << "must be that of query, " << c.head_size();
                           },
                           nz};
constexpr Rule kStrictMost{"PA-HEAD-MOST-STRICT",
                           "keyCache",
                           ranked,
                           [](const Call &c) { return key_head_size(c) <= kHeadMostStrict; },
                           [](const Call &c, Saying &s) {
                             say_heads(c, s);
                             s.limit << "must be at most " << kHeadMostStrict
                                     << " with quantType, compressType, calcType 1 or scaleType 1";
                           },
                           strict};
constexpr Rule kStrictBlock{"PA-BLOCK-STRICT",
                            "keyCache",
                            ranked,
                            [](const Call &c) { return block_fits(c, key_head_size(c)); },
                            [](const Call &c, Saying &s) { say_block(c, key_head_size(c), s); },
                            strict};
constexpr Rule kMlaHead{"PA-MLA-HEAD",
                        "mlaVHeadSize",
                        ranked,
                        [](const Call &c) { return c.value_head_size() <= key_head_size(c); },
                        [](const Call &c, Saying &s) {
                          s.value << c.param.mlaVHeadSize;
                          s.limit << "must be at most the head size of keyCache, "
                                  << key_head_size(c);
                        },
                        [](const Call &c) { return lenient(c) && c.mla(); }};
constexpr Rule kMost{"PA-HEAD-MOST", "keyCache", ranked, head_fits, say_head_most, lenient};
constexpr Rule kMlaBatch{"PA-MLA-BATCH",
                         "contextLens",
                         ranked,
                         [](const Call &c) { return c.entries() <= kMlaBatchMost; },
                         [](const Call &c, Saying &s) {
                           s.value << c.entries() << " lengths";
                           s.limit << "must be at most " << kMlaBatchMost << " with mlaVHeadSize";
                         },
                         kMla.chosen};
constexpr Rule kWideBlock{"PA-WIDE-BLOCK", "keyCache", ranked, wide_block, say_wide_block, lenient};

namespace {

struct Shape {
  uint64_t rank;
  int64_t dims[4];
};
template <size_t kCount>
bool one_of(const TensorDesc &desc, const Shape (&shapes)[kCount]) {
  return std::any_of(shapes, shapes + kCount, [&](const Shape &shape) {
    return desc.shape.dimNum == shape.rank &&
           std::equal(shape.dims, shape.dims + shape.rank, desc.shape.dims);
  });
}
constexpr Shape kLongMasks[] = {{2, {2048, 2048}}, {3, {1, 2048, 2048}}, {4, {1, 1, 2048, 2048}}};
constexpr Shape kLongMasksNz[] = {{4, {1, 128, 2048, 16}}};
constexpr Shape kTileMasks[] = {{4, {1, 8, 128, 16}}};

}  // namespace

constexpr Rule kNormCompressShape{
    "PA-NORM-COMPRESS-SHAPE",
    "mask",
    sound,
    [](const Call &c) {
      const TensorDesc &mask = *c.desc(Call::kMask);
      return c.mask_fractal() ? one_of(mask, kLongMasksNz) : one_of(mask, kLongMasks);
    },
    [](const Call &c, Saying &s) {
      say_it<Call::kMask>(c, s);
      s.limit << "must be (2048, 2048) or (1, 2048, 2048), or NZ (1, 128, 2048, 16), with "
                 "MASK_TYPE_NORM_COMPRESS";
    },
    kNormCompress.chosen};
constexpr Rule kMaskFreeProduct{"PA-MASK-FREE-PRODUCT",
                                "maskType",
                                nullptr,
                                [](const Call &c) { return c.limits.causal_masks; },
                                [](const Call &, Saying &s) {
                                  s.value << "4 (MASK_TYPE_MASK_FREE)";
                                  s.limit << "must be another one on this product, although "
                                             "CreateOperation accepts it";
                                },
                                mask_free};
constexpr Rule kMaskFreeShape{
    "PA-MASK-FREE-SHAPE",
    "mask",
    sound,
    [](const Call &c) { return one_of(*c.desc(Call::kMask), kTileMasks); },
    [](const Call &c, Saying &s) {
      say_it<Call::kMask>(c, s);
      s.limit << "must be (1, 8, 128, 16) with MASK_TYPE_MASK_FREE";
    },
    mask_free};
constexpr Rule kMaskFreeBlock{"PA-MASK-FREE-BLOCK",
                              "keyCache",
                              ranked,
                              [](const Call &c) {
                                return c.dim(Call::kKeyCache, 2) == 128 &&
                                       c.dim(Call::kValueCache, 2) == 128;
                              },
                              [](const Call &c, Saying &s) {
                                s.value << "block size " << c.block_size();
                                s.limit << "must be 128 with MASK_TYPE_MASK_FREE";
                              },
                              mask_free};

namespace {

int64_t out_dim(const Call &c, size_t axis) {
  return Facts::dim_of(c.out_desc(Call::kOutput), axis);
}
void say_output(const Call &c, Saying &s) { say_shape(c.out_desc(Call::kOutput), s.value); }

}  // namespace

constexpr Rule kOutTokens{"PA-OUT-TOKENS",
                          "output",
                          ranked,
                          [](const Call &c) { return out_dim(c, 0) == c.tokens(); },
                          [](const Call &c, Saying &s) {
                            say_output(c, s);
                            s.limit << "dimension 0 must be the tokens of query, " << c.tokens();
                          },
                          kRunStatus.chosen};
constexpr Rule kOutHeadSize{
    "PA-OUT-HEAD-SIZE", "output", ranked,
    [](const Call &c) {
      return Call::dim_from_end(c.out_desc(Call::kOutput), 1) == c.value_head_size();
    },
    [](const Call &c, Saying &s) {
      say_output(c, s);
      s.limit << "the last dimension must be the head size of the values, " << c.value_head_size();
    }};
constexpr Rule kOutHeads{"PA-OUT-HEADS", "output", ranked,
                         [](const Call &c) { return out_dim(c, 1) == c.dim(Call::kQuery, 1); },
                         [](const Call &c, Saying &s) {
                           say_output(c, s);
                           s.limit << "dimension 1 must be the heads of query, "
                                   << c.dim(Call::kQuery, 1);
                         }};
constexpr Rule kRazor{"PA-RAZOR",
                      "razorOffset",
                      ranked,
                      [](const Call &c) {
                        return c.rank(Call::kRazorOffset) == 2 &&
                               c.dim(Call::kRazorOffset, 0) == c.dim(Call::kKeyCache, 0) &&
                               c.dim(Call::kRazorOffset, 1) == c.block_size();
                      },
                      [](const Call &c, Saying &s) {
                        say_it<Call::kRazorOffset>(c, s);
                        s.limit << "must be (" << c.dim(Call::kKeyCache, 0) << ", "
                                << c.block_size() << "), a value for each row of keyCache";
                      },
                      kRope.chosen};
constexpr Rule kLogNLength{
    "PA-LOGN-LENGTH",
    "logN",
    ranked,
    [](const Call &c) {
      return c.rank(Call::kLogN) == 1 && c.dim(Call::kLogN, 0) == c.entries() &&
             (!c.run_status() || c.dim(Call::kLogN, 0) == c.dim(Call::kBatchRunStatus, 0));
    },
    [](const Call &c, Saying &s) {
      say_it<Call::kLogN>(c, s);
      s.limit << "must be (" << c.entries() << "), a value for each of contextLens";
      if (c.run_status()) {
        s.limit << " and of the " << c.dim(Call::kBatchRunStatus, 0) << " of batchRunStatus";
      }
    },
    kLogN.chosen};

namespace {

bool query_heads(const Call &c) { return c.dim(Call::kQuery, 1) == c.heads(); }
void say_query_heads(const Call &c, Saying &s) {
  say_it<Call::kQuery>(c, s);
  s.limit << "dimension 1 must be headNum, " << c.heads();
}

}  // namespace

constexpr Rule kQueryHeads{"PA-QUERY-HEADS", "query", ranked, query_heads, say_query_heads, nd};
constexpr Rule kCompressKvHeads{"PA-COMPRESS-KV-HEADS",
                                "kvHeadNum",
                                nullptr,
                                [](const Call &c) { return c.param.kvHeadNum > 0; },
                                [](const Call &, Saying &s) {
                                  s.value << 0;
                                  s.limit << "must be the number of key heads with compressType";
                                },
                                kCompress.chosen};
constexpr Rule kCacheHeads{
    "PA-CACHE-HEADS",
    "keyCache",
    ranked,
    [](const Call &c) { return c.dim(Call::kKeyCache, c.head_axis()) == c.cache_heads(); },
    [](const Call &c, Saying &s) {
      say_it<Call::kKeyCache>(c, s);
      s.limit << "dimension " << c.head_axis() << " must be " << c.cache_heads()
              << (c.compressed() ? " with compressType" : ", the heads of keys and values");
    },
    nd};
constexpr Rule kCompressRows{"PA-COMPRESS-ROWS",
                             "contextLens",
                             ranked,
                             [](const Call &c) {
                               return c.entries() % c.kv_heads() == 0 &&
                                      c.entries() / c.kv_heads() == c.tokens();
                             },
                             [](const Call &c, Saying &s) {
                               s.value << c.entries() << " lengths";
                               s.limit << "must be one for each of " << c.tokens() << " tokens and "
                                       << c.kv_heads() << " heads of keys and values";
                             },
                             kCompress.chosen};
constexpr Rule kBnsdCaches{"PA-BNSD-CACHES", "valueCache", ranked,
                           same_caches,      say_caches,   nd_bnsd};
constexpr Rule kDescales{
    "PA-DESCALES",
    "vDescale",
    sound,
    [](const Call &c) { return same_desc(*c.desc(Call::kKDescale), *c.desc(Call::kVDescale)); },
    [](const Call &c, Saying &s) {
      say_it<Call::kVDescale>(c, s);
      s.limit << "must have the shape of kDescale, ";
      say_shape(c.desc(Call::kKDescale), s.limit);
    },
    kDequant.chosen};

namespace {

uint64_t columns(const Call &c) {
  return static_cast<uint64_t>(c.kv_heads()) * static_cast<uint64_t>(key_head_size(c));
}
size_t wrong_columns(const Call &c) {
  return first_wrong(c, {Call::kKDescale, Call::kKOffset, Call::kVDescale, Call::kVOffset},
                     [&](size_t slot) { return elements_of(*c.desc(slot)) == columns(c); });
}

}  // namespace

constexpr Rule kDescaleLength{"PA-DESCALE-LENGTH",
                              "kDescale",
                              ranked,
                              [](const Call &c) { return wrong_columns(c) == Call::kInputSlots; },
                              [](const Call &c, Saying &s) {
                                blame_shape(c, wrong_columns(c), s);
                                s.limit << "must have " << columns(c) << " values, one for each of "
                                        << c.kv_heads() << " heads and " << key_head_size(c)
                                        << " columns";
                              },
                              kDequant.chosen};
constexpr Rule kDescaleWords{
    "PA-DESCALE-WORDS",
    "kDescale",
    ranked,
    [](const Call &c) { return key_head_size(c) <= 128 && c.block_size() <= key_head_size(c); },
    [](const Call &c, Saying &s) {
      s.value << "dtype INT64 with head size " << key_head_size(c) << " and block size "
              << c.block_size();
      s.limit << "the head size must be at most 128, and the block size at most the head size";
    },
    [](const Call &c) {
      return c.dequant() && c.counts_fit() && c.desc(Call::kKDescale)->dtype == ACL_INT64;
    }};
constexpr Rule kCompressDequant{
    "PA-COMPRESS-DEQUANT",
    "query",
    sound,
    [](const Call &c) { return c.desc(Call::kQuery)->dtype == ACL_FLOAT16; },
    [](const Call &c, Saying &s) {
      s.value << "dtype " << dtype_name(c.desc(Call::kQuery)->dtype);
      s.limit << "must be FLOAT16 with quantType 1 and compressType";
    },
    [](const Call &c) { return c.dequant() && c.compressed(); }};

namespace {

size_t wrong_head_tensor(const Call &c) {
  return first_wrong(c, {Call::kKDescale, Call::kVDescale, Call::kPScale},
                     [&](size_t slot) { return c.rank(slot) == 1 && c.dim(slot, 0) == c.heads(); });
}

}  // namespace

constexpr Rule kHeadScales{"PA-HEAD-SCALES",
                           "kDescale",
                           sound,
                           [](const Call &c) { return wrong_head_tensor(c) == Call::kInputSlots; },
                           [](const Call &c, Saying &s) {
                             blame_shape(c, wrong_head_tensor(c), s);
                             s.limit << "must be (" << c.heads()
                                     << "), a value for each head of the query";
                           },
                           kInt8.chosen};
constexpr Rule kLogNRows{"PA-LOGN-ROWS",
                         "logN",
                         ranked,
                         [](const Call &c) { return c.dim(Call::kLogN, 0) >= c.tokens(); },
                         [](const Call &c, Saying &s) {
                           say_it<Call::kLogN>(c, s);
                           s.limit << "must have a value for each of " << c.tokens() << " tokens";
                         },
                         [](const Call &c) { return nd(c) && c.log_n(); }};
constexpr Rule kCacheFormat{
    "PA-CACHE-FORMAT",
    "keyCache",
    sound,
    [](const Call &c) { return c.desc(Call::kKeyCache)->format == ACL_FORMAT_ND; },
    [](const Call &c, Saying &s) {
      say_type(*c.desc(Call::kKeyCache), s.value);
      s.limit << "the format must be ND on this product";
    },
    nd};

namespace {

// The device looks at no dtypes here.
constexpr Signature kUncheckedRows[] = {
    "h hZ hZ i4 i4 * * * * * * i4 * * * > h",
    "h h h i4 i4 * * * * * * i4 * * * > h",
};

}  // namespace

constexpr Rule kSpecDtypes{
    "PA-SPEC-DTYPES",
    "query",
    sound,
    [](const Call &c) {
      return std::any_of(std::begin(kUncheckedRows), std::end(kUncheckedRows),
                         [&](const Signature &row) { return row.fit(c).whole; });
    },
    [](const Call &c, Saying &s) {
      const Signature::Fit nz_fit = kUncheckedRows[0].fit(c), nd_fit = kUncheckedRows[1].fit(c);
      const Signature::Fit &fit = nd_fit.fitting > nz_fit.fitting ? nd_fit : nz_fit;
      c.layout.blame(fit.output, fit.place, s);
      say_type(fit.output ? *c.output_desc(fit.place) : *c.input_desc(fit.place), s.value);
      s.limit << "must be " << dtype_name(fit.dtype) << ' ' << format_name(fit.format);
    },
    [](const Call &c) { return nz(c) && c.spec() && !c.has_mask(); }};
// There is no integer that a fraction of one could be rounded to.
constexpr Rule kInt8QScale{
    "PA-INT8-QSCALE",
    "qScale",
    sound,
    [](const Call &c) { return !c.query_scaled(); },
    [](const Call &c, Saying &s) {
      s.value << static_cast<double>(c.param.qScale);
      s.limit << "must be 0 or 1 for a query of INT8";
    },
    [](const Call &c) { return c.counts_fit() && c.desc(Call::kQuery)->dtype == ACL_INT8; }};
constexpr Rule kInt8Out{
    "PA-INT8-OUT",
    "output",
    sound,
    [](const Call &c) { return c.out_desc(Call::kOutput)->dtype == c.param.outDataType; },
    [](const Call &c, Saying &s) {
      s.value << "dtype " << dtype_name(c.out_desc(Call::kOutput)->dtype);
      s.limit << "must be outDataType, " << dtype_name(c.param.outDataType);
    },
    kInt8.chosen};
constexpr Rule kNzQueryHeads{"PA-NZ-QUERY-HEADS", "query",         ranked,
                             query_heads,         say_query_heads, nz};
constexpr Rule kTableRows{"PA-TABLE-ROWS", "blockTables", ranked,
                          [](const Call &c) { return c.dim(Call::kBlockTables, 0) >= c.entries(); },
                          [](const Call &c, Saying &s) {
                            say_it<Call::kBlockTables>(c, s);
                            s.limit << "must have a row for each of the " << c.entries()
                                    << " contextLens";
                          }};
constexpr Rule kOutRows{"PA-OUT-ROWS", "output", ranked,
                        [](const Call &c) {
                          const auto room =
                              static_cast<int64_t>(elements_of(*c.out_desc(Call::kOutput)));
                          return room / c.heads() / c.value_head_size() >= c.tokens();
                        },
                        [](const Call &c, Saying &s) {
                          say_output(c, s);
                          s.limit << "must have room for " << c.tokens() << " tokens, " << c.heads()
                                  << " heads and head size " << c.value_head_size();
                        }};
constexpr Rule kNzBlockMultiple{"PA-NZ-BLOCK-MULTIPLE",
                                "keyCache",
                                ranked,
                                block_in_sixteens,
                                [](const Call &c, Saying &s) {
                                  s.value << "block size " << c.block_size();
                                  s.limit << "a multiple of 16 is documented";
                                },
                                nz};
constexpr Rule kBatchMost{"PA-BATCH", "contextLens", ranked,
                          [](const Call &c) { return c.entries() <= c.limits.batch_max; },
                          [](const Call &c, Saying &s) {
                            s.value << c.entries() << " batches";
                            s.limit << "at most " << c.limits.batch_max << " are documented";
                          }};

}  // namespace pyaclnn::atb::paged_attention_rules
