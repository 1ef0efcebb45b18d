// The checks of PagedAttentionOperation, in the device's order.
#include <algorithm>
#include <iterator>

#include "atb/paged_attention.hpp"
#include "nnopbase/names.hpp"

namespace pyaclnn::atb {

int64_t PagedAttentionCall::mask_planes() const {
  const int64_t inner = mask_fractal() ? 3 : 2;
  int64_t planes = 1;
  for (int64_t axis = 0; axis < rank(kMask) - inner; ++axis) {
    planes *= dim(kMask, static_cast<size_t>(axis));
  }
  return planes;
}

namespace {

using Call = PagedAttentionCall;
using Param = Call::Param;
using Limits = Call::Limits;
using Rule = pyaclnn::Rule<Call>;

constexpr int64_t kHeadMost = 576;         // of keys, queries and values
constexpr int64_t kHeadMostStrict = 256;   // of the modes with one head size
constexpr int64_t kBlockElements = 16384;  // of a head in a block
constexpr int64_t kMlaBatchMost = 8192;

// ---- CreateOperation

// A parameter that says whether the operation has something, and is refused beside another one or
// on some products.
struct Choice {
  const char *parameter;
  bool (*chosen)(const Call &);
  int64_t (*value)(const Call &);
};

constexpr Choice kMask{"maskType", [](const Call &c) { return c.has_mask(); },
                       [](const Call &c) -> int64_t { return c.param.maskType; }};
constexpr Choice kNorm{"maskType", [](const Call &c) { return c.masked(Param::MASK_TYPE_NORM); },
                       kMask.value};
constexpr Choice kAlibi{"maskType", [](const Call &c) { return c.masked(Param::MASK_TYPE_ALIBI); },
                        kMask.value};
constexpr Choice kNormCompress{
    "maskType", [](const Call &c) { return c.masked(Param::MASK_TYPE_NORM_COMPRESS); },
    kMask.value};
constexpr Choice kRunStatus{"batchRunStatusEnable", [](const Call &c) { return c.run_status(); },
                            [](const Call &) -> int64_t { return 1; }};
constexpr Choice kQuant{
    "quantType", [](const Call &c) { return c.param.quantType != Param::TYPE_QUANT_UNQUANT; },
    [](const Call &c) -> int64_t { return c.param.quantType; }};
constexpr Choice kDequant{"quantType", [](const Call &c) { return c.dequant(); }, kQuant.value};
constexpr Choice kInt8{"quantType", [](const Call &c) { return c.int8(); }, kQuant.value};
constexpr Choice kOffset{"hasQuantOffset", [](const Call &c) { return c.param.hasQuantOffset; },
                         [](const Call &) -> int64_t { return 1; }};
constexpr Choice kCompress{"compressType", [](const Call &c) { return c.compressed(); },
                           [](const Call &c) -> int64_t { return c.param.compressType; }};
constexpr Choice kRope{"compressType", [](const Call &c) { return c.rope(); }, kCompress.value};
constexpr Choice kSpec{"calcType",
                       [](const Call &c) { return c.param.calcType != Param::CALC_TYPE_UNDEFINED; },
                       [](const Call &c) -> int64_t { return c.param.calcType; }};
constexpr Choice kLogN{"scaleType", [](const Call &c) { return c.log_n(); },
                       [](const Call &c) -> int64_t { return c.param.scaleType; }};
constexpr Choice kScale{"scaleType",
                        [](const Call &c) { return c.param.scaleType != Param::SCALE_TYPE_TOR; },
                        kLogN.value};
constexpr Choice kBnsd{"inputLayout", [](const Call &c) { return c.bnsd(); },
                       [](const Call &c) -> int64_t { return c.param.inputLayout; }};
constexpr Choice kMla{"mlaVHeadSize", [](const Call &c) { return c.mla(); },
                      [](const Call &c) -> int64_t { return c.param.mlaVHeadSize; }};

template <const Choice &kThis, bool Limits::*kOffers>
constexpr Rule offered(const char *id) {
  return {id,
          kThis.parameter,
          nullptr,
          [](const Call &c) { return c.limits.*kOffers; },
          [](const Call &c, Saying &s) {
            s.value << kThis.value(c);
            s.limit << "must be 0 on this product";
          },
          kThis.chosen};
}

template <const Choice &kThis, const Choice &kOther>
constexpr Rule apart(const char *id) {
  return {id,
          kThis.parameter,
          nullptr,
          [](const Call &c) { return !kOther.chosen(c); },
          [](const Call &c, Saying &s) {
            s.value << kThis.value(c) << " with " << kOther.parameter << ' ' << kOther.value(c);
            s.limit << "they cannot be chosen together";
          },
          kThis.chosen};
}

bool offers_mask(uint32_t masks, const Call &c) {
  const auto type = static_cast<uint32_t>(c.param.maskType);
  return type < 32 && (masks >> type & 1u) != 0;
}

void say_mask(uint32_t masks, const Call &c, Saying &s) {
  s.value << kMask.value(c);
  s.limit << "must be one of";
  for (int type = 0; type < 32; ++type) {
    if ((masks >> type & 1u) != 0) s.limit << ' ' << type;
  }
}

constexpr Rule kHeadNum{"PA-HEADS", "headNum", nullptr,
                        [](const Call &c) { return c.param.headNum > 0; },
                        [](const Call &c, Saying &s) {
                          s.value << c.param.headNum;
                          s.limit << "must be at least 1";
                        }};
constexpr Rule kKvHeadNum{"PA-KV-HEADS", "kvHeadNum", nullptr,
                          [](const Call &c) { return c.param.kvHeadNum >= 0; },
                          [](const Call &c, Saying &s) {
                            s.value << c.param.kvHeadNum;
                            s.limit << "must be at least 0";
                          }};
constexpr Rule kHeadsRatio{
    "PA-HEADS-RATIO", "kvHeadNum",
    [](const Call &c) { return c.param.headNum > 0 && c.param.kvHeadNum >= 0; },
    [](const Call &c) {
      return c.param.kvHeadNum == 0 || c.param.headNum % c.param.kvHeadNum == 0;
    },
    [](const Call &c, Saying &s) {
      s.value << c.param.kvHeadNum;
      s.limit << "must divide headNum, " << c.param.headNum;
    }};
constexpr Rule kNormCompressProduct =
    offered<kNormCompress, &Limits::causal_masks>("PA-NORM-COMPRESS-PRODUCT");
constexpr Rule kNormCompressQuant = apart<kNormCompress, kQuant>("PA-NORM-COMPRESS-QUANT");
constexpr Rule kRunStatusProduct =
    offered<kRunStatus, &Limits::run_status>("PA-RUN-STATUS-PRODUCT");
constexpr Rule kCompressProduct = offered<kCompress, &Limits::compress>("PA-COMPRESS-PRODUCT");
constexpr Rule kMlaProduct = offered<kMla, &Limits::mla>("PA-MLA-PRODUCT");
constexpr Rule kQuantProduct = offered<kQuant, &Limits::quant>("PA-QUANT-PRODUCT");
// A type that there is; PA-ENUM has the others.
constexpr Rule kMaskProduct{"PA-MASK-PRODUCT",
                            "maskType",
                            nullptr,
                            [](const Call &c) { return offers_mask(c.limits.masks, c); },
                            [](const Call &c, Saying &s) { say_mask(c.limits.masks, c, s); },
                            [](const Call &c) {
                              return c.param.maskType >= 0 &&
                                     c.param.maskType <= Param::MASK_TYPE_NORM_COMPRESS;
                            }};
constexpr Rule kSpecProduct = offered<kSpec, &Limits::speculative>("PA-SPEC-PRODUCT");
constexpr Rule kScaleProduct = offered<kScale, &Limits::log_n>("PA-SCALE-PRODUCT");
constexpr Rule kBnsdProduct = offered<kBnsd, &Limits::bnsd>("PA-BNSD-PRODUCT");
constexpr Rule kCompressRange{"PA-COMPRESS-RANGE", "compressType", nullptr,
                              [](const Call &c) {
                                return c.param.compressType >= 0 &&
                                       c.param.compressType < Param::COMPRESS_TYPE_MAX;
                              },
                              [](const Call &c, Saying &s) {
                                s.value << kCompress.value(c);
                                s.limit << "must be 0, 1 or 2";
                              }};
constexpr Rule kRopeMask = apart<kRope, kMask>("PA-ROPE-MASK");
constexpr Rule kRopeRunStatus = apart<kRope, kRunStatus>("PA-ROPE-RUN-STATUS");
constexpr Rule kSpecRunStatus = apart<kSpec, kRunStatus>("PA-SPEC-RUN-STATUS");
constexpr Rule kSpecCompress = apart<kSpec, kCompress>("PA-SPEC-COMPRESS");
constexpr Rule kSpecMask{"PA-SPEC-MASK",
                         "maskType",
                         nullptr,
                         [](const Call &c) { return offers_mask(c.limits.spec_masks, c); },
                         [](const Call &c, Saying &s) {
                           say_mask(c.limits.spec_masks, c, s);
                           s.limit << " with calcType 1";
                         },
                         [](const Call &c) { return kSpec.chosen(c) && !c.mla(); }};
constexpr Rule kSpecDequant = apart<kSpec, kDequant>("PA-SPEC-DEQUANT");
constexpr Rule kOutDataType{
    "PA-OUT-DATA-TYPE",
    "outDataType",
    nullptr,
    [](const Call &c) {
      return c.param.outDataType == ACL_FLOAT16 || c.param.outDataType == ACL_BF16;
    },
    [](const Call &c, Saying &s) {
      s.value << static_cast<int>(c.param.outDataType);
      s.limit << "must be ACL_FLOAT16 (1) or ACL_BF16 (27) with quantType 2 or 3";
    },
    kInt8.chosen};
constexpr Rule kInt8Offset = apart<kInt8, kOffset>("PA-INT8-OFFSET");
constexpr Rule kInt8Compress = apart<kInt8, kCompress>("PA-INT8-COMPRESS");
constexpr Rule kInt8Spec = apart<kInt8, kSpec>("PA-INT8-SPEC");
constexpr Rule kScaleRange{"PA-SCALE-RANGE", "scaleType", nullptr,
                           [](const Call &c) {
                             return c.param.scaleType >= 0 &&
                                    c.param.scaleType < Param::SCALE_TYPE_MAX;
                           },
                           [](const Call &c, Saying &s) {
                             s.value << kScale.value(c);
                             s.limit << "must be 0 or 1";
                           }};
constexpr Rule kLogNQuant = apart<kLogN, kQuant>("PA-LOGN-QUANT");
constexpr Rule kLogNSpec = apart<kLogN, kSpec>("PA-LOGN-SPEC");
constexpr Rule kLogNCompress = apart<kLogN, kCompress>("PA-LOGN-COMPRESS");
constexpr Rule kBnsdSpec = apart<kBnsd, kSpec>("PA-BNSD-SPEC");
constexpr Rule kBnsdCompress = apart<kBnsd, kCompress>("PA-BNSD-COMPRESS");
constexpr Rule kBnsdQuant = apart<kBnsd, kQuant>("PA-BNSD-QUANT");
constexpr Rule kBnsdLogN = apart<kBnsd, kLogN>("PA-BNSD-LOGN");
constexpr Rule kMlaAlibi = apart<kMla, kAlibi>("PA-MLA-ALIBI");
constexpr Rule kMlaSpecNorm{"PA-MLA-SPEC-NORM",
                            "maskType",
                            nullptr,
                            [](const Call &c) { return !kNorm.chosen(c); },
                            [](const Call &c, Saying &s) {
                              s.value << kNorm.value(c) << " with mlaVHeadSize "
                                      << c.param.mlaVHeadSize;
                              s.limit << "must not be 1 with calcType 1";
                            },
                            [](const Call &c) { return c.mla() && kSpec.chosen(c); }};
constexpr Rule kMlaCompress = apart<kMla, kCompress>("PA-MLA-COMPRESS");
constexpr Rule kMlaDequant = apart<kMla, kDequant>("PA-MLA-DEQUANT");
constexpr Rule kMlaLogN = apart<kMla, kLogN>("PA-MLA-LOGN");
constexpr Rule kMlaBnsd = apart<kMla, kBnsd>("PA-MLA-BNSD");
constexpr Rule kMlaKvHeads{"PA-MLA-KV-HEADS",
                           "kvHeadNum",
                           nullptr,
                           [](const Call &c) { return c.param.kvHeadNum == 1; },
                           [](const Call &c, Saying &s) {
                             s.value << c.param.kvHeadNum;
                             s.limit << "must be 1 with mlaVHeadSize";
                           },
                           kMla.chosen};
constexpr Rule kMlaSize{"PA-MLA-SIZE", "mlaVHeadSize", nullptr,
                        [](const Call &c) { return c.param.mlaVHeadSize <= kHeadMost; },
                        [](const Call &c, Saying &s) {
                          s.value << c.param.mlaVHeadSize;
                          s.limit << "must be at most " << kHeadMost;
                        }};
// The device looks at no range here, and nobody knows what it would make of other values.
struct EnumField {
  const char *parameter;
  int64_t (*value)(const Call &);
  int64_t last;
};
constexpr EnumField kEnums[] = {{"maskType", kMask.value, Param::MASK_TYPE_NORM_COMPRESS},
                                {"quantType", kQuant.value, Param::TYPE_QUANT_QKV_ONLINE},
                                {"calcType", kSpec.value, Param::CALC_TYPE_SPEC},
                                {"inputLayout", kBnsd.value, infer::TYPE_BNSD}};
const EnumField *outside_enum(const Call &c) {
  const EnumField *found = std::find_if(std::begin(kEnums), std::end(kEnums), [&](const auto &e) {
    return e.value(c) < 0 || e.value(c) > e.last;
  });
  return found == std::end(kEnums) ? nullptr : found;
}
constexpr Rule kEnum{"PA-ENUM", "maskType", nullptr,
                     [](const Call &c) { return outside_enum(c) == nullptr; },
                     [](const Call &c, Saying &s) {
                       const EnumField &field = *outside_enum(c);
                       s.parameter = field.parameter;
                       s.value << field.value(c);
                       s.limit << "must be one of 0 .. " << field.last;
                     }};

constexpr Check<Call> kCreate[] = {
    {&kReserved<Call>, ::atb::ERROR_INVALID_PARAM},
    {&kOffered<Call>, ::atb::ERROR_CANN_ERROR},
    {&kHeadNum, ::atb::ERROR_INVALID_PARAM},
    {&kKvHeadNum, ::atb::ERROR_INVALID_PARAM},
    {&kHeadsRatio, ::atb::ERROR_INVALID_PARAM},
    {&kNormCompressProduct, ::atb::ERROR_INVALID_PARAM},
    {&kNormCompressQuant, ::atb::ERROR_INVALID_PARAM},
    {&kRunStatusProduct, ::atb::ERROR_INVALID_PARAM},
    {&kCompressProduct, ::atb::ERROR_INVALID_PARAM},
    {&kMlaProduct, ::atb::ERROR_INVALID_PARAM},
    {&kQuantProduct, ::atb::ERROR_INVALID_PARAM},
    {&kMaskProduct, ::atb::ERROR_INVALID_PARAM},
    {&kSpecProduct, ::atb::ERROR_INVALID_PARAM},
    {&kScaleProduct, ::atb::ERROR_INVALID_PARAM},
    {&kBnsdProduct, ::atb::ERROR_INVALID_PARAM},
    {&kCompressRange, ::atb::ERROR_INVALID_PARAM},
    {&kRopeMask, ::atb::ERROR_INVALID_PARAM},
    {&kRopeRunStatus, ::atb::ERROR_INVALID_PARAM},
    {&kSpecRunStatus, ::atb::ERROR_INVALID_PARAM},
    {&kSpecCompress, ::atb::ERROR_INVALID_PARAM},
    {&kSpecMask, ::atb::ERROR_INVALID_PARAM},
    {&kSpecDequant, ::atb::ERROR_INVALID_PARAM},
    {&kOutDataType, ::atb::ERROR_INVALID_PARAM},
    {&kInt8Offset, ::atb::ERROR_INVALID_PARAM},
    {&kInt8Compress, ::atb::ERROR_INVALID_PARAM},
    {&kInt8Spec, ::atb::ERROR_INVALID_PARAM},
    {&kScaleRange, ::atb::ERROR_INVALID_PARAM},
    {&kLogNQuant, ::atb::ERROR_INVALID_PARAM},
    {&kLogNSpec, ::atb::ERROR_INVALID_PARAM},
    {&kLogNCompress, ::atb::ERROR_INVALID_PARAM},
    {&kBnsdSpec, ::atb::ERROR_INVALID_PARAM},
    {&kBnsdCompress, ::atb::ERROR_INVALID_PARAM},
    {&kBnsdQuant, ::atb::ERROR_INVALID_PARAM},
    {&kBnsdLogN, ::atb::ERROR_INVALID_PARAM},
    {&kMlaAlibi, ::atb::ERROR_INVALID_PARAM},
    {&kMlaSpecNorm, ::atb::ERROR_INVALID_PARAM},
    {&kMlaCompress, ::atb::ERROR_INVALID_PARAM},
    {&kMlaDequant, ::atb::ERROR_INVALID_PARAM},
    {&kMlaLogN, ::atb::ERROR_INVALID_PARAM},
    {&kMlaBnsd, ::atb::ERROR_INVALID_PARAM},
    {&kMlaKvHeads, ::atb::ERROR_INVALID_PARAM},
    {&kMlaSize, ::atb::ERROR_INVALID_PARAM},
    {&kEnum, ::atb::ERROR_INVALID_PARAM},
};

// ---- InferShape

// The first of some slots whose tensor is there and does not fit; kInputSlots: none.
template <class Fits>
size_t first_wrong(const Call &c, std::initializer_list<size_t> slots, Fits fits) {
  for (size_t slot : slots) {
    if (c.has(slot) && !fits(slot)) return slot;
  }
  return Call::kInputSlots;
}

int64_t wanted_rank(size_t slot) {
  switch (slot) {
    case Call::kQuery: return 3;
    case Call::kBlockTables: return 2;
    case Call::kContextLens: return 1;
    default: return 4;
  }
}
size_t wrong_rank(const Call &c) {
  return first_wrong(
      c, {Call::kValueCache, Call::kQuery, Call::kKeyCache, Call::kBlockTables, Call::kContextLens},
      [&](size_t slot) { return c.rank(slot) == wanted_rank(slot); });
}

bool ranked(const Call &c) { return sound(c) && wrong_rank(c) == Call::kInputSlots; }

bool nz(const Call &c) { return c.limits.fractal; }
bool nd(const Call &c) { return !c.limits.fractal; }
// A path of its own on the device.
bool nd_bnsd(const Call &c) { return nd(c) && c.bnsd(); }
bool nd_bsnd(const Call &c) { return nd(c) && !c.bnsd(); }
// Modes with one head size, and a smaller one.
bool strict(const Call &c) {
  return nd_bsnd(c) && (c.dequant() || c.log_n() || c.compressed() ||
                        ((kSpec.chosen(c) || c.int8()) && !c.mla()));
}
bool lenient(const Call &c) { return nd_bsnd(c) && !strict(c); }

int64_t key_head_size(const Call &c) { return c.dim(Call::kKeyCache, 3); }
int64_t larger_head_size(const Call &c) { return std::max(key_head_size(c), c.value_head_size()); }
int64_t nz_head_size(const Call &c) { return c.dim(Call::kKeyCache, 1) * 16 / c.kv_heads(); }
bool block_fits(const Call &c, int64_t head_size) {
  return head_size * c.block_size() <= kBlockElements;
}

// "shape (9, 16, 2, 32)"
template <size_t kSlot>
void say_it(const Call &c, Saying &s) {
  say_shape(c.desc(kSlot), s.value);
}
void say_heads(const Call &c, Saying &s) {
  s.value << "head size " << key_head_size(c);
  if (c.value_head_size() != key_head_size(c)) s.value << " and of values " << c.value_head_size();
}
void say_block(const Call &c, int64_t head_size, Saying &s) {
  s.value << "block size " << c.block_size() << " with head size " << head_size;
  s.limit << "their product must be at most " << kBlockElements;
}

constexpr Rule kRank{"PA-RANK", "query", sound,
                     [](const Call &c) { return wrong_rank(c) == Call::kInputSlots; },
                     [](const Call &c, Saying &s) {
                       const size_t slot = wrong_rank(c);
                       blame_shape(c, slot, s);
                       s.limit << "must have " << wanted_rank(slot) << " dimensions";
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
constexpr Rule kCaches{"PA-CACHES", "valueCache",
                       ranked,      same_caches,
                       say_caches,  [](const Call &c) { return !c.mla() && !nd_bnsd(c); }};

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
constexpr Rule kMost{"PA-HEAD-MOST",
                     "keyCache",
                     ranked,
                     [](const Call &c) { return larger_head_size(c) <= kHeadMost; },
                     [](const Call &c, Saying &s) {
                       say_heads(c, s);
                       s.limit << "must be at most " << kHeadMost;
                     },
                     lenient};
constexpr Rule kMlaBatch{"PA-MLA-BATCH",
                         "contextLens",
                         ranked,
                         [](const Call &c) { return c.entries() <= kMlaBatchMost; },
                         [](const Call &c, Saying &s) {
                           s.value << c.entries() << " lengths";
                           s.limit << "must be at most " << kMlaBatchMost << " with mlaVHeadSize";
                         },
                         kMla.chosen};
// The one shape of large blocks.
bool deep_mla(const Call &c) {
  return c.mla() && c.block_size() == 256 && c.param.kvHeadNum == 1 &&
         (c.param.headNum == 16 || c.param.headNum == 32) && key_head_size(c) == 576 &&
         c.value_head_size() == 512 && !kSpec.chosen(c);
}
bool wide_block(const Call &c) {
  return larger_head_size(c) <= 256 || c.block_size() <= 128 || deep_mla(c);
}
void say_wide_block(const Call &c, Saying &s) {
  s.value << "block size " << c.block_size() << " with head size " << larger_head_size(c);
  s.limit << "must be at most 128 with head sizes above 256";
}
constexpr Rule kWideBlock{"PA-WIDE-BLOCK", "keyCache", ranked, wide_block, say_wide_block, lenient};

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
      s.limit << "must be (2048, 2048) with leading 1, or NZ (1, 128, 2048, 16)";
    },
    kNormCompress.chosen};
bool mask_free(const Call &c) { return c.masked(Param::MASK_TYPE_MASK_FREE); }
constexpr Rule kMaskFreeProduct{"PA-MASK-FREE-PRODUCT",
                                "maskType",
                                nullptr,
                                [](const Call &c) { return c.limits.causal_masks; },
                                [](const Call &, Saying &s) {
                                  s.value << "MASK_TYPE_MASK_FREE";
                                  s.limit << "is not offered on this product";
                                },
                                mask_free};
constexpr Rule kMaskFreeShape{
    "PA-MASK-FREE-SHAPE",
    "mask",
    sound,
    [](const Call &c) { return one_of(*c.desc(Call::kMask), kTileMasks); },
    [](const Call &c, Saying &s) {
      say_it<Call::kMask>(c, s);
      s.limit << "must be (1, 8, 128, 16)";
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

constexpr Check<Call> kInfer[] = {
    {&kRank, ::atb::ERROR_INVALID_TENSOR_DIM_NUM},
    {&kRunStatusRows, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kCaches, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kNzKey, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kNzValue, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kNzMultiple, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kNzMost, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kNzBlock, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kNzHeadSize, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kHeadSize, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kOneHeadSize, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kBnsdBlocks, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kStrictMost, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kStrictBlock, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kMlaHead, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kMost, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kMlaBatch, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kWideBlock, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kNormCompressShape, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kMaskFreeProduct, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kMaskFreeShape, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kMaskFreeBlock, ::atb::ERROR_INVALID_PARAM},
};

// ---- Setup

int64_t out_dim(const Call &c, size_t axis) {
  return Facts::dim_of(c.out_desc(Call::kOutput), axis);
}
void say_output(const Call &c, Saying &s) { say_shape(c.out_desc(Call::kOutput), s.value); }

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
      if (c.run_status()) s.limit << " and of batchRunStatus";
    },
    kLogN.chosen};
// The first batch whose keys before the query are not whole tiles of the mask; -1: none.
int64_t apart_from_tile(const Call &c) {
  const size_t count = std::min(c.contexts().size(), c.queries().size());
  for (size_t b = 0; b < count; ++b) {
    const int64_t before = int64_t{c.contexts()[b]} - c.queries()[b];
    if (before < 0 || before % 128 != 0) return static_cast<int64_t>(b);
  }
  return -1;
}
constexpr Rule kMaskFreeLengths{
    "PA-MASK-FREE-LENGTHS",
    "contextLens",
    [](const Call &c) { return ranked(c) && !c.contexts().empty() && !c.queries().empty(); },
    [](const Call &c) { return apart_from_tile(c) < 0; },
    [](const Call &c, Saying &s) {
      const auto b = static_cast<size_t>(apart_from_tile(c));
      s.value << "length " << b << " is " << c.contexts()[b] << " with qSeqLen " << c.queries()[b];
      s.limit << "their difference must be a multiple of 128 from 0 on";
    },
    [](const Call &c) { return mask_free(c) && c.spec(); }};

constexpr Check<Call> kOwnSetup[] = {
    {&kOutTokens, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kOutHeadSize, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kOutHeads, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kRazor, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kLogNLength, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kMaskFreeLengths, ::atb::ERROR_INVALID_PARAM},
};
constexpr auto kSetup = joined<Call>(kInfer, kOwnSetup);

// ---- what the kernel of ND caches asks at Setup

bool query_heads(const Call &c) { return c.dim(Call::kQuery, 1) == c.heads(); }
void say_query_heads(const Call &c, Saying &s) {
  say_it<Call::kQuery>(c, s);
  s.limit << "dimension 1 must be headNum, " << c.heads();
}
constexpr Rule kQueryHeads{"PA-QUERY-HEADS", "query", ranked, query_heads, say_query_heads, nd};
constexpr Rule kCompressKvHeads{"PA-COMPRESS-KV-HEADS",
                                "kvHeadNum",
                                nullptr,
                                [](const Call &c) { return c.param.kvHeadNum > 0; },
                                [](const Call &, Saying &s) {
                                  s.value << 0;
                                  s.limit << "must be given with compressType";
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
uint64_t columns(const Call &c) {
  return static_cast<uint64_t>(c.kv_heads()) * static_cast<uint64_t>(key_head_size(c));
}
size_t wrong_columns(const Call &c) {
  return first_wrong(c, {Call::kKDescale, Call::kKOffset, Call::kVDescale, Call::kVOffset},
                     [&](size_t slot) { return elements_of(*c.desc(slot)) == columns(c); });
}
constexpr Rule kDescaleLength{"PA-DESCALE-LENGTH",
                              "kDescale",
                              ranked,
                              [](const Call &c) { return wrong_columns(c) == Call::kInputSlots; },
                              [](const Call &c, Saying &s) {
                                blame_shape(c, wrong_columns(c), s);
                                s.limit << "must have a value for each of " << c.kv_heads()
                                        << " heads and " << key_head_size(c) << " columns";
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
size_t wrong_head_tensor(const Call &c) {
  return first_wrong(c, {Call::kKDescale, Call::kVDescale, Call::kPScale},
                     [&](size_t slot) { return c.rank(slot) == 1 && c.dim(slot, 0) == c.heads(); });
}
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

int64_t longest(std::span<const int32_t> lengths) {
  return *std::max_element(lengths.begin(), lengths.end());
}
bool negative(std::span<const int32_t> lengths) {
  return std::any_of(lengths.begin(), lengths.end(), [](int32_t n) { return n < 0; });
}
// Query rows of a batch, at most.
int64_t most_rows(const Call &c) { return c.spec() ? longest(c.queries()) : 1; }
bool contexts_known(const Call &c) { return ranked(c) && !c.contexts().empty(); }
bool queries_known(const Call &c) { return ranked(c) && !c.queries().empty(); }
bool lengths_known(const Call &c) { return contexts_known(c) && (!c.spec() || queries_known(c)); }
void say_lengths(std::span<const int32_t> lengths, Saying &s) {
  const auto low = std::min_element(lengths.begin(), lengths.end());
  if (*low < 0) {
    s.value << "length " << low - lengths.begin() << " is " << *low;
  } else {
    s.value << "all lengths are 0";
  }
}

bool kernel_mask(const Call &c) { return nd(c) && c.has_mask() && !c.mla(); }
constexpr Rule kMaskContexts{
    "PA-MASK-CONTEXTS",
    "contextLens",
    contexts_known,
    [](const Call &c) { return longest(c.contexts()) > 0 && !negative(c.contexts()); },
    [](const Call &c, Saying &s) {
      say_lengths(c.contexts(), s);
      s.limit << "with a mask none may be negative, and one must be at least 1";
    },
    kernel_mask};
constexpr Rule kMaskQueries{
    "PA-MASK-QUERIES",
    "qSeqLen",
    queries_known,
    [](const Call &c) { return longest(c.queries()) > 0 && !negative(c.queries()); },
    [](const Call &c, Saying &s) {
      say_lengths(c.queries(), s);
      s.limit << "with a mask none may be negative, and one must be at least 1";
    },
    [](const Call &c) { return kernel_mask(c) && c.spec(); }};
constexpr Rule kMaskOrder{"PA-MASK-ORDER",
                          "contextLens",
                          lengths_known,
                          [](const Call &c) { return longest(c.contexts()) >= most_rows(c); },
                          [](const Call &c, Saying &s) {
                            s.value << "the longest is " << longest(c.contexts());
                            s.limit << "must be at least the longest of qSeqLen, " << most_rows(c);
                          },
                          kernel_mask};
// The planes of a mask by its rank, and that it covers all rows and columns.
bool mask_fits(const Call &c) {
  const int64_t planes = c.rank(Call::kMask);
  if (planes < 2 || c.mask_columns() < longest(c.contexts())) return false;
  if (c.masked(Param::MASK_TYPE_SPEC)) return planes == 2 && c.mask_rows() == c.tokens();
  if (c.mask_rows() < most_rows(c)) return false;
  const int64_t batch = c.compressed() ? c.entries() / c.kv_heads() : c.entries();
  const int64_t first = c.dim(Call::kMask, 0);
  switch (planes) {
    case 2: return true;
    case 3: return first == (kAlibi.chosen(c) && !c.compressed() ? c.heads() : batch);
    case 4: return first == batch && c.dim(Call::kMask, 1) == c.heads();
    default: return false;
  }
}
void say_mask_shape(const Call &c, Saying &s) {
  say_it<Call::kMask>(c, s);
  if (c.masked(Param::MASK_TYPE_SPEC)) {
    s.limit << "must be " << c.tokens() << " rows, one for each token, of at least "
            << longest(c.contexts()) << " columns";
    return;
  }
  s.limit << "must have at least " << most_rows(c) << " rows and " << longest(c.contexts())
          << " columns, alone, with a plane for each "
          << (kAlibi.chosen(c) && !c.compressed() ? "head" : "batch")
          << ", or for each batch and head";
}
constexpr Rule kMaskShape{"PA-MASK-SHAPE", "mask",         lengths_known,
                          mask_fits,       say_mask_shape, kernel_mask};

// ---- what the device does not look at, and would read or write outside for or compute anyhow

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
// The device looks at no dtypes here.
constexpr Signature kUncheckedRows[] = {
    "h hZ hZ i4 i4 * * * * * * i4 * * * > h",
    "h h h i4 i4 * * * * * * i4 * * * > h",
};
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
constexpr Rule kContexts{"PA-CONTEXTS", "contextLens", contexts_known,
                         [](const Call &c) { return !negative(c.contexts()); },
                         [](const Call &c, Saying &s) {
                           say_lengths(c.contexts(), s);
                           s.limit << "must be at least 0";
                         }};
constexpr Rule kTableColumns{"PA-TABLE-COLUMNS", "blockTables", contexts_known,
                             [](const Call &c) {
                               const int64_t blocks =
                                   (longest(c.contexts()) + c.block_size() - 1) / c.block_size();
                               return blocks <= c.dim(Call::kBlockTables, 1);
                             },
                             [](const Call &c, Saying &s) {
                               say_it<Call::kBlockTables>(c, s);
                               s.limit << "the longest of contextLens, " << longest(c.contexts())
                                       << ", needs more columns with block size " << c.block_size();
                             }};
constexpr Rule kQueryCount{
    "PA-QUERY-COUNT",
    "qSeqLen",
    queries_known,
    [](const Call &c) { return static_cast<int64_t>(c.queries().size()) == c.entries(); },
    [](const Call &c, Saying &s) {
      s.value << c.queries().size() << " lengths";
      s.limit << "must be as many as contextLens, " << c.entries();
    },
    kSpec.chosen};
// The first batch with a negative number of query rows, which the device of NZ caches refuses
// later, or with more of them than keys; -1: none.
int64_t wrong_queries(const Call &c) {
  for (size_t b = 0; b < c.queries().size(); ++b) {
    const int64_t rows = c.queries()[b];
    const int64_t keys = b < c.contexts().size() ? c.contexts()[b] : 0;
    if ((rows < 0 && nd(c)) || (keys > 0 && rows > keys)) return static_cast<int64_t>(b);
  }
  return -1;
}
constexpr Rule kQueryLengths{"PA-QUERY-LENGTHS",
                             "qSeqLen",
                             queries_known,
                             [](const Call &c) { return wrong_queries(c) < 0; },
                             [](const Call &c, Saying &s) {
                               const auto b = static_cast<size_t>(wrong_queries(c));
                               s.value << "length " << b << " is " << c.queries()[b];
                               s.limit << "must be at least 0 and at most that of contextLens";
                             },
                             kSpec.chosen};
// Rows of the query that are read, as far as they are known: entries without keys have none.
int64_t needed_rows(const Call &c) {
  int64_t rows = 0;
  if (c.spec()) {
    for (size_t b = 0; b < c.queries().size(); ++b) {
      const bool keys = b >= c.contexts().size() || c.contexts()[b] > 0;
      if (keys) rows += std::max(c.queries()[b], 0);
    }
  } else if (!c.compressed()) {
    for (int32_t keys : c.contexts()) rows += keys > 0;
  }
  return rows;
}
constexpr Rule kQueryRows{"PA-QUERY-ROWS", "query", ranked,
                          [](const Call &c) { return needed_rows(c) <= c.tokens(); },
                          [](const Call &c, Saying &s) {
                            s.value << c.tokens() << " tokens";
                            s.limit << "must be at least the " << needed_rows(c) << " rows that "
                                    << (c.spec() ? "qSeqLen" : "contextLens") << " needs";
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
constexpr Rule kMlaMask{"PA-MLA-MASK",  "mask",
                        lengths_known,  mask_fits,
                        say_mask_shape, [](const Call &c) { return c.mla() && c.has_mask(); }};
// Of NZ, or ND for the rows of single tokens.
bool nz_mask_fits(const Call &c) {
  const bool spec = c.masked(Param::MASK_TYPE_SPEC);
  const int64_t rank = c.rank(Call::kMask);
  if (c.mask_fractal() ? rank != 4 || c.dim(Call::kMask, 3) != 16 : !c.spec() || rank < 2) {
    return false;
  }
  if (!c.contexts().empty() && c.mask_columns() < longest(c.contexts())) return false;
  const int64_t planes = c.mask_planes();
  if (spec) return c.mask_rows() >= c.tokens();
  return kAlibi.chosen(c) ? planes == c.heads() || planes / c.heads() >= c.entries()
                          : planes == 1 || planes >= c.entries();
}
constexpr Rule kNzMask{"PA-NZ-MASK",
                       "mask",
                       ranked,
                       nz_mask_fits,
                       [](const Call &c, Saying &s) {
                         say_it<Call::kMask>(c, s);
                         s.limit << (c.spec() ? "must be NZ or ND" : "must be NZ")
                                 << " with a plane for all batches or for each of " << c.entries();
                         if (kAlibi.chosen(c)) s.limit << ", times " << c.heads() << " heads";
                         if (c.masked(Param::MASK_TYPE_SPEC)) {
                           s.limit << ", with rows for " << c.tokens() << " tokens";
                         }
                         if (!c.contexts().empty()) {
                           s.limit << ", and columns for " << longest(c.contexts()) << " keys";
                         }
                       },
                       [](const Call &c) { return nz(c) && c.has_mask() && !c.causal(); }};
constexpr Rule kNzBlockMultiple{"PA-NZ-BLOCK-MULTIPLE",
                                "keyCache",
                                ranked,
                                [](const Call &c) { return c.block_size() % 16 == 0; },
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

constexpr Check<Call> kLate[] = {
    {&kQueryHeads, ::atb::ERROR_RT_FAIL},
    {&kCompressKvHeads, ::atb::ERROR_RT_FAIL},
    {&kCacheHeads, ::atb::ERROR_RT_FAIL},
    {&kCompressRows, ::atb::ERROR_RT_FAIL},
    {&kBnsdCaches, ::atb::ERROR_RT_FAIL},
    {&kDescales, ::atb::ERROR_RT_FAIL},
    {&kDescaleLength, ::atb::ERROR_RT_FAIL},
    {&kDescaleWords, ::atb::ERROR_RT_FAIL},
    {&kCompressDequant, ::atb::ERROR_RT_FAIL},
    {&kHeadScales, ::atb::ERROR_RT_FAIL},
    {&kLogNRows, ::atb::ERROR_RT_FAIL},
    {&kMaskContexts, ::atb::ERROR_RT_FAIL},
    {&kMaskQueries, ::atb::ERROR_RT_FAIL},
    {&kMaskOrder, ::atb::ERROR_RT_FAIL},
    {&kMaskShape, ::atb::ERROR_RT_FAIL},
    {&kCacheFormat, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kSpecDtypes, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kInt8QScale, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kInt8Out, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kNzQueryHeads, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kTableRows, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kContexts, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kTableColumns, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kQueryCount, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kQueryLengths, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kQueryRows, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kOutRows, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kMlaMask, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kNzMask, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kNzBlockMultiple, 0},
    {&kBatchMost, 0},
};

// ---- Execute

constexpr Rule kBlockMultiple{"PA-BLOCK-MULTIPLE",
                              "keyCache",
                              ranked,
                              [](const Call &c) { return c.block_size() % 16 == 0; },
                              [](const Call &c, Saying &s) {
                                s.value << "block size " << c.block_size();
                                s.limit << "must be a multiple of 16";
                              },
                              nd};
constexpr Rule kBnsdMost{"PA-BNSD-HEAD-MOST", kMost.parameter, ranked, kMost.ok,
                         kMost.say,           nd_bnsd};
constexpr Rule kBnsdWideBlock{"PA-BNSD-WIDE-BLOCK", "keyCache",     ranked,
                              wide_block,           say_wide_block, nd_bnsd};
bool one_head_size(const Call &c) { return nd(c) && c.value_head_size() == key_head_size(c); }
// Blocks of 128 rows and their multiples, which that head size may have.
bool full_block(const Call &c) { return key_head_size(c) == 256 && c.block_size() >= 128; }
constexpr Rule kFullBlock{"PA-BLOCK-128",
                          "keyCache",
                          ranked,
                          [](const Call &c) { return c.block_size() % 128 == 0; },
                          [](const Call &c, Saying &s) {
                            s.value << "block size " << c.block_size();
                            s.limit << "must be a multiple of 128, or less, with head size 256";
                          },
                          [](const Call &c) { return one_head_size(c) && full_block(c); }};
constexpr Rule kBlockLimit{"PA-BLOCK-LIMIT",
                           "keyCache",
                           ranked,
                           [](const Call &c) { return block_fits(c, key_head_size(c)); },
                           [](const Call &c, Saying &s) { say_block(c, key_head_size(c), s); },
                           [](const Call &c) { return one_head_size(c) && !full_block(c); }};

// Served by the kernel for several rows of a batch.
bool several_rows(const Call &c) {
  return nd(c) && (c.masked(Param::MASK_TYPE_SPEC) ||
                   (c.spec() && !c.queries().empty() && longest(c.queries()) > 1));
}
constexpr Rule kSpecBatch{"PA-SPEC-BATCH",
                          "contextLens",
                          ranked,
                          [](const Call &c) { return c.entries() <= 2000; },
                          [](const Call &c, Saying &s) {
                            s.value << c.entries() << " batches";
                            s.limit << "must be at most 2000 with several query rows a batch";
                          },
                          several_rows};
constexpr Rule kSpecHeads{"PA-SPEC-HEADS",
                          "headNum",
                          nullptr,
                          [](const Call &c) { return c.heads() <= 256; },
                          [](const Call &c, Saying &s) {
                            s.value << c.heads();
                            s.limit << "must be at most 256 with several query rows a batch";
                          },
                          several_rows};
constexpr Rule kSpecBlock{"PA-SPEC-BLOCK",
                          "keyCache",
                          ranked,
                          [](const Call &c) { return c.block_size() <= 128; },
                          [](const Call &c, Saying &s) {
                            s.value << "block size " << c.block_size();
                            s.limit << "must be at most 128 with several query rows a batch";
                          },
                          several_rows};
constexpr Rule kSpecWidth{
    "PA-SPEC-WIDTH",
    "query",
    ranked,
    [](const Call &c) { return c.heads() * key_head_size(c) <= kBlockElements; },
    [](const Call &c, Saying &s) {
      s.value << c.heads() << " heads of head size " << key_head_size(c);
      s.limit << "their product must be at most " << kBlockElements
              << " with several query rows a batch";
    },
    [](const Call &c) { return several_rows(c) && !c.mla(); }};
constexpr Rule kSpecLayout{"PA-SPEC-LAYOUT",
                           "inputLayout",
                           nullptr,
                           [](const Call &c) { return !c.bnsd(); },
                           [](const Call &, Saying &s) {
                             s.value << "TYPE_BNSD";
                             s.limit << "must be TYPE_BSND with MASK_TYPE_SPEC";
                           },
                           several_rows};
constexpr Rule kSpecDtype{"PA-SPEC-DTYPE",
                          "query",
                          sound,
                          [](const Call &c) { return c.desc(Call::kQuery)->dtype != ACL_INT8; },
                          [](const Call &, Saying &s) {
                            s.value << "dtype INT8";
                            s.limit << "must be FLOAT16 or BFLOAT16 with MASK_TYPE_SPEC";
                          },
                          several_rows};
constexpr Rule kSpecHeadSize{"PA-SPEC-HEAD-SIZE",
                             "valueCache",
                             ranked,
                             [](const Call &c) { return c.value_head_size() == key_head_size(c); },
                             [](const Call &c, Saying &s) {
                               say_it<Call::kValueCache>(c, s);
                               s.limit << "dimension 3 must be the head size of keyCache, "
                                       << key_head_size(c) << ", with MASK_TYPE_SPEC";
                             },
                             [](const Call &c) { return several_rows(c) && !c.mla(); }};
constexpr Rule kNzQueries{
    "PA-NZ-QUERIES",
    "qSeqLen",
    queries_known,
    [](const Call &c) { return *std::min_element(c.queries().begin(), c.queries().end()) > 0; },
    [](const Call &c, Saying &s) {
      const auto low = std::min_element(c.queries().begin(), c.queries().end());
      s.value << "length " << low - c.queries().begin() << " is " << *low;
      s.limit << "must be at least 1";
    },
    [](const Call &c) { return nz(c) && c.spec(); }};

constexpr Check<Call> kExecute[] = {
    {&kBlockMultiple, ::atb::ERROR_INVALID_PARAM}, {&kBnsdMost, ::atb::ERROR_INVALID_PARAM},
    {&kBnsdWideBlock, ::atb::ERROR_INVALID_PARAM}, {&kFullBlock, ::atb::ERROR_INVALID_PARAM},
    {&kBlockLimit, ::atb::ERROR_INVALID_PARAM},    {&kSpecBatch, ::atb::ERROR_INVALID_PARAM},
    {&kSpecHeads, ::atb::ERROR_INVALID_PARAM},     {&kSpecBlock, ::atb::ERROR_INVALID_PARAM},
    {&kSpecWidth, ::atb::ERROR_INVALID_PARAM},     {&kSpecLayout, ::atb::ERROR_INVALID_PARAM},
    {&kSpecDtype, ::atb::ERROR_INVALID_PARAM},     {&kSpecHeadSize, ::atb::ERROR_INVALID_PARAM},
    {&kNzQueries, ::atb::ERROR_INVALID_PARAM},
};

}  // namespace

constinit const std::span<const Check<Call>> kPagedAttentionCreate = kCreatePath<Call, kCreate>;
constinit const std::span<const Check<Call>> kPagedAttentionInfer = kInferPath<Call, kInfer>;
constinit const std::span<const Check<Call>> kPagedAttentionSetup = kSetupPath<Call, kSetup, kLate>;
constinit const std::span<const Check<Call>> kPagedAttentionExecute = kExecute;

}  // namespace pyaclnn::atb
