// What CreateOperation asks of SelfAttentionParam.
#include <cfloat>
#include <cmath>

#include "atb/self_attention_rule_parts.hpp"

namespace pyaclnn::atb::self_attention_rules {
namespace {

bool is_one(float scale) { return std::fabs(scale - 1) < FLT_EPSILON; }

}  // namespace

const Rule kHeads{"SA-HEADS", "headNum", nullptr, [](const Call &c) { return c.param.headNum > 0; },
                  told<&Param::headNum, "must be at least 1">};
const Rule kKvHeads{"SA-KV-HEADS", "kvHeadNum", nullptr,
                    [](const Call &c) { return c.param.kvHeadNum >= 0; },
                    told<&Param::kvHeadNum, "must be at least 0, which stands for headNum">};
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
    told<&Param::quantType, "must be 0, 2 or 3: TYPE_DEQUANT_FUSION is not offered here">};

const Rule kQuantOut{
    "SA-QUANT-OUT",
    "outDataType",
    nullptr,
    [](const Call &c) {
      return c.param.outDataType == ACL_FLOAT16 || c.param.outDataType == ACL_BF16;
    },
    told<&Param::outDataType, "must be ACL_FLOAT16 (1) or ACL_BF16 (27) with quantType 2 and 3">,
    quantised};
const Rule kQuantCalc{"SA-QUANT-CALC",
                      "calcType",
                      nullptr,
                      [](const Call &c) { return c.packed(); },
                      told<&Param::calcType, "must be 3 (PA_ENCODER) with quantType 2 and 3">,
                      quantised};
const Rule kQuantScale{"SA-QUANT-SCALE",
                       "scaleType",
                       nullptr,
                       [](const Call &c) { return c.param.scaleType == Param::SCALE_TYPE_TOR; },
                       told<&Param::scaleType, "must be 0 (SCALE_TYPE_TOR) with quantType 2 and 3">,
                       quantised};
const Rule kScaleRange{
    "SA-SCALE-RANGE", "scaleType", nullptr,
    [](const Call &c) { return c.param.scaleType == Param::SCALE_TYPE_TOR || c.log_n(); },
    told<&Param::scaleType, "must be 0 or 1">};
const Rule kPackedBypass{"SA-PACKED-BYPASS",
                         "kvcacheCfg",
                         nullptr,
                         [](const Call &c) { return !c.bypass(); },
                         told<&Param::kvcacheCfg, "must be 0 (K_CACHE_V_CACHE) for PA_ENCODER">,
                         [](const Call &c) { return c.packed(); }};
const Rule kAlibiCalc{
    "SA-ALIBI-CALC",
    "maskType",
    nullptr,
    [](const Call &c) { return !c.cached(); },
    told<&Param::maskType,
         "compressed ALiBi masks (4, 5 and 6) need calcType 3 (PA_ENCODER) or 4 (PREFIX_ENCODER)">,
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
                      told<&Param::scaleType, "must be 0 (SCALE_TYPE_TOR) for TYPE_BNSD">,
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
                       told<&Param::calcType, "must not be 4 (PREFIX_ENCODER) with TYPE_BNSD">,
                       bnsd};
const Rule kBnsdMla{"SA-BNSD-MLA",
                    "mlaVHeadSize",
                    nullptr,
                    [](const Call &c) { return !c.mla(); },
                    told<&Param::mlaVHeadSize, "must be 0 for TYPE_BNSD">,
                    packed_bnsd};
const Rule kBnsdKernel{
    "SA-BNSD-KERNEL",
    "kernelType",
    nullptr,
    [](const Call &c) { return !c.high_precision(); },
    told<&Param::kernelType,
         "must not be 1 (KERNELTYPE_HIGH_PRECISION) for PA_ENCODER with TYPE_BNSD">,
    packed_bnsd};
const Rule kBnsdProduct{
    "SA-BNSD-PRODUCT",
    "inputLayout",
    nullptr,
    [](const Call &c) { return c.limits.packed_bnsd || (c.limits.exp_m8v2 && c.exp_m8v2()); },
    [](const Call &c, Saying &s) {
      say_value(c.param.inputLayout, s.value);
      s.limit << "must be 0 (TYPE_BSND) for PA_ENCODER on this product";
      if (c.limits.exp_m8v2) s.limit << ", unless kernelType is 2 (KERNELTYPE_EXP_M8V2)";
    },
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
                       told<&Param::kvcacheCfg, "must be 1 (K_BYPASS_V_BYPASS) for TYPE_BNSD">,
                       cached_bnsd};
const Rule kBnsdNoMask{"SA-BNSD-NO-MASK",
                       "maskType",
                       nullptr,
                       [](const Call &c) { return c.param.maskType != Param::MASK_TYPE_UNDEFINED; },
                       told<&Param::maskType, "must not be 0: TYPE_BNSD with caches needs a mask">,
                       cached_bnsd};

const Rule kMlaCalc{"SA-MLA-CALC",
                    "calcType",
                    nullptr,
                    [](const Call &c) { return c.packed(); },
                    told<&Param::calcType, "must be 3 (PA_ENCODER) with mlaVHeadSize">,
                    mla};
const Rule kMlaProduct{"SA-MLA-PRODUCT",
                       "mlaVHeadSize",
                       nullptr,
                       [](const Call &c) { return c.limits.mla; },
                       told<&Param::mlaVHeadSize, "must be 0 on this product">,
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
                     told<&Param::scaleType, "must be 0 (SCALE_TYPE_TOR) with mlaVHeadSize">,
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
                      "must be 0 without a sliding window mask (maskType 7 or 8) and windowSize">,
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
const Rule kWindowDecoder{
    "SA-WINDOW-DECODER",
    "maskType",
    nullptr,
    [](const Call &c) { return !(c.sliding_compress() && c.decoder()); },
    told<&Param::maskType, "must be 7 (MASK_TYPE_SLIDING_WINDOW_NORM) for DECODER">,
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
    told<&Param::kernelType, "must be 0 (KERNELTYPE_DEFAULT) with windowSize">,
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
                        told<&Param::scaleType, "must be 0 (SCALE_TYPE_TOR) with windowSize">,
                        windowed};
const Rule kWindowLayout{"SA-WINDOW-LAYOUT",
                         "inputLayout",
                         nullptr,
                         bsnd,
                         told<&Param::inputLayout, "must be 0 (TYPE_BSND) with windowSize">,
                         windowed};

const Rule kCompressQuant{
    "SA-COMPRESS-QUANT",
    "quantType",
    nullptr,
    [](const Call &c) { return c.param.quantType == Param::TYPE_QUANT_UNQUANT; },
    told<&Param::quantType, "must be 0 with MASK_TYPE_NORM_COMPRESS on this product">,
    [](const Call &c) { return c.limits.long_window && c.norm_compress(); }};
const Rule kLeftAlignProduct{
    "SA-LEFT-ALIGN-PRODUCT",
    "maskType",
    nullptr,
    [](const Call &c) { return c.limits.left_align; },
    told<&Param::maskType, "must not be 6 (MASK_TYPE_ALIBI_COMPRESS_LEFT_ALIGN) on this product">,
    [](const Call &c) { return c.param.maskType == Param::MASK_TYPE_ALIBI_COMPRESS_LEFT_ALIGN; }};
const Rule kClampProduct{
    "SA-CLAMP-PRODUCT",
    "clampType",
    nullptr,
    [](const Call &c) { return c.limits.clamp; },
    told<&Param::clampType, "must be 0 on this product">,
    [](const Call &c) { return c.param.clampType != Param::CLAMP_TYPE_UNDEFINED; }};
const Rule kQuantProduct{"SA-QUANT-PRODUCT",
                         "quantType",
                         nullptr,
                         [](const Call &c) { return c.limits.quant; },
                         told<&Param::quantType, "must be 0 on this product">,
                         quantised};
const Rule kStatusProduct{"SA-STATUS-PRODUCT",
                          "batchRunStatusEnable",
                          nullptr,
                          [](const Call &c) { return c.limits.run_status; },
                          told<&Param::batchRunStatusEnable, "must be false on this product">,
                          [](const Call &c) { return c.run_status(); }};
const Rule kCalcProduct{"SA-CALC-PRODUCT", "calcType", nullptr,
                        [](const Call &c) { return c.limits.cached || c.packed(); },
                        told<&Param::calcType, "must be 3 (PA_ENCODER) on this product">};
const Rule kAlibiProduct{
    "SA-ALIBI-PRODUCT",
    "maskType",
    nullptr,
    [](const Call &c) { return c.limits.alibi_compress; },
    told<&Param::maskType, "must not be 4, 5 or 6, compressed ALiBi masks, on this product">,
    [](const Call &c) { return c.alibi_compress(); }};
const Rule kWindowProduct{"SA-WINDOW-PRODUCT",
                          "windowSize",
                          nullptr,
                          [](const Call &c) { return c.limits.sliding; },
                          told<&Param::windowSize, "must be 0 on this product">,
                          [](const Call &c) { return c.window() > 0; }};
const Rule kLogNProduct{"SA-LOGN-PRODUCT",
                        "scaleType",
                        nullptr,
                        [](const Call &c) { return c.limits.log_n; },
                        told<&Param::scaleType, "must be 0 (SCALE_TYPE_TOR) on this product">,
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
                          told<&Param::calcType, "must not be 4 (PREFIX_ENCODER) on this product">,
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
                      told<&Param::outDataType, "must be ACL_DT_UNDEFINED (-1) for PREFIX_ENCODER">,
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
const Rule kPrefixKernel{
    "SA-PREFIX-KERNEL",
    "kernelType",
    nullptr,
    [](const Call &c) { return c.high_precision(); },
    told<&Param::kernelType, "must be 1 (KERNELTYPE_HIGH_PRECISION) for PREFIX_ENCODER">,
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
                         told<&Param::kvcacheCfg, "must be 0 (K_CACHE_V_CACHE) for PREFIX_ENCODER">,
                         prefix};
const Rule kPrefixScale{"SA-PREFIX-SCALE",
                        "scaleType",
                        nullptr,
                        [](const Call &c) { return !c.log_n(); },
                        told<&Param::scaleType, "must be 0 (SCALE_TYPE_TOR) for PREFIX_ENCODER">,
                        prefix};
const Rule kPrefixCacheType{
    "SA-PREFIX-CACHE-TYPE",
    "cacheType",
    nullptr,
    [](const Call &c) { return c.param.cacheType == Param::CACHE_TYPE_NORM; },
    told<&Param::cacheType, "must be 0 (CACHE_TYPE_NORM) for PREFIX_ENCODER">,
    prefix};

namespace {
bool exp_m8v2(const Call &c) { return c.exp_m8v2(); }
}  // namespace
const Rule kM8V2Product{
    "SA-M8V2-PRODUCT",
    "kernelType",
    nullptr,
    [](const Call &c) { return c.limits.exp_m8v2; },
    told<&Param::kernelType, "must be 0 or 1 on this product, which has no KERNELTYPE_EXP_M8V2">,
    exp_m8v2};
const Rule kM8V2Quant{"SA-M8V2-QUANT",
                      "quantType",
                      nullptr,
                      [](const Call &c) { return c.param.quantType == Param::TYPE_QUANT_UNQUANT; },
                      told<&Param::quantType, "must be 0 with KERNELTYPE_EXP_M8V2">,
                      exp_m8v2};
const Rule kM8V2Out{
    "SA-M8V2-OUT",
    "outDataType",
    nullptr,
    [](const Call &c) { return c.param.outDataType == ACL_DT_UNDEFINED; },
    told<&Param::outDataType, "must be ACL_DT_UNDEFINED (-1) with KERNELTYPE_EXP_M8V2">,
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
                     told<&Param::calcType, "must be 3 (PA_ENCODER) with KERNELTYPE_EXP_M8V2">,
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
const Rule kM8V2Scale{
    "SA-M8V2-SCALE",
    "scaleType",
    nullptr,
    [](const Call &c) { return !c.log_n(); },
    told<&Param::scaleType, "must be 0 (SCALE_TYPE_TOR) with KERNELTYPE_EXP_M8V2">,
    exp_m8v2};
const Rule kM8V2CacheType{
    "SA-M8V2-CACHE-TYPE",
    "cacheType",
    nullptr,
    [](const Call &c) { return c.param.cacheType == Param::CACHE_TYPE_NORM; },
    told<&Param::cacheType, "must be 0 (CACHE_TYPE_NORM) with KERNELTYPE_EXP_M8V2">,
    exp_m8v2};
const Rule kCausalCalc{
    "SA-CAUSAL-CALC",
    "maskType",
    nullptr,
    [](const Call &c) { return !c.packed(); },
    told<&Param::maskType, "MASK_TYPE_CAUSAL_MASK needs calcType 4 (PREFIX_ENCODER)">,
    [](const Call &c) { return c.causal(); }};

const Rule kCalcRange{"SA-CALC-RANGE", "calcType", nullptr,
                      [](const Call &c) {
                        return c.param.calcType >= Param::UNDEFINED &&
                               c.param.calcType <= Param::PREFIX_ENCODER;
                      },
                      told<&Param::calcType, "should be 0 .. 4; others are taken for UNDEFINED">};
const Rule kMaskRange{
    "SA-MASK-RANGE", "maskType", nullptr,
    [](const Call &c) {
      return c.param.maskType >= Param::MASK_TYPE_UNDEFINED &&
             c.param.maskType <= Param::MASK_TYPE_CAUSAL_MASK;
    },
    told<&Param::maskType, "should be 0 .. 9; others are taken for MASK_TYPE_NORM">};
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

}  // namespace pyaclnn::atb::self_attention_rules
