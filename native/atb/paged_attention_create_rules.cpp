// What CreateOperation asks of PagedAttentionParam.
#include "atb/paged_attention_rule_parts.hpp"

namespace pyaclnn::atb::paged_attention_rules {
namespace {

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
            s.limit << "they cannot be chosen together: leave one of them at 0";
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
  const char *before = " ";
  for (int type = 0; type < 32; ++type) {
    if ((masks >> type & 1u) == 0) continue;
    s.limit << before << type;
    before = ", ";
  }
  s.limit << " on this product";
}

}  // namespace

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
                            s.limit << "must be at least 0, which stands for headNum";
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

namespace {

// The device does not check these ranges; its behaviour for other values is unknown.
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

}  // namespace

constexpr Rule kEnum{"PA-ENUM", "maskType", nullptr,
                     [](const Call &c) { return outside_enum(c) == nullptr; },
                     [](const Call &c, Saying &s) {
                       const EnumField &field = *outside_enum(c);
                       s.parameter = field.parameter;
                       s.value << field.value(c);
                       s.limit << "must be 0 .. " << field.last;
                     }};

}  // namespace pyaclnn::atb::paged_attention_rules
