// aclnnIncreFlashAttention, V2, V3, V4: one query token per sequence against a key/value cache. The
// four are entry points over one operator; a version that lacks a parameter passes its neutral
// value.
#include <algorithm>
#include <atomic>
#include <iterator>

#include "aclnnop/aclnn_incre_flash_attention.h"
#include "aclnnop/aclnn_incre_flash_attention_v2.h"
#include "aclnnop/aclnn_incre_flash_attention_v3.h"
#include "aclnnop/aclnn_incre_flash_attention_v4.h"
#include "aclnn/opdev/op_errno.h"
#include "nnopbase/executor.hpp"
#include "opapi/attention_rules.hpp"
#include "opapi/first_phase.hpp"
#include "support/log.hpp"

namespace pyaclnn {
namespace {

using namespace attention_rules;

// ---- what each product offers

constexpr DtypeTuple kAllTuples[] = {
    {ACL_FLOAT16, ACL_FLOAT16, ACL_FLOAT16}, {ACL_BF16, ACL_BF16, ACL_BF16},
    {ACL_FLOAT16, ACL_FLOAT16, ACL_INT8},    {ACL_FLOAT16, ACL_INT8, ACL_FLOAT16},
    {ACL_FLOAT16, ACL_INT8, ACL_INT8},       {ACL_BF16, ACL_INT8, ACL_BF16},
    {ACL_BF16, ACL_INT8, ACL_INT8},          {ACL_BF16, ACL_BF16, ACL_INT8},
};
constexpr DtypeTuple kHalfTuples[] = {
    {ACL_FLOAT16, ACL_FLOAT16, ACL_FLOAT16},
    {ACL_FLOAT16, ACL_INT8, ACL_FLOAT16},
};

constexpr AttentionLimits kAtlasA2Limits{.product = ProductId::AtlasA2, .tuples = kAllTuples};
constexpr AttentionLimits like(AttentionLimits row, ProductId product) {
  row.product = product;
  return row;
}
constexpr AttentionLimits kAtlasA3Limits = like(kAtlasA2Limits, ProductId::AtlasA3);
constexpr AttentionLimits kAscend950Limits = [] {
  AttentionLimits row = like(kAtlasA2Limits, ProductId::Ascend950);
  row.sharedBlocks = false;
  row.paddingWithPaging = false;
  return row;
}();
constexpr AttentionLimits kAtlas310PLimits{.product = ProductId::Atlas310P,
                                           .tuples = kHalfTuples,
                                           .batch = 256,
                                           .headDimMultiple = 16,
                                           .groupedGroup = 32,
                                           .groupedHeadDim = 128,
                                           .groupedLayouts = true,
                                           .keySequence = 65536,
                                           .documentsGrouped = false,
                                           .documentsInt8 = false};
constexpr const AttentionLimits *kLimits[] = {&kAtlasA2Limits, &kAtlasA3Limits, &kAscend950Limits,
                                              &kAtlas310PLimits};

// ---- rules of this operator alone

constexpr attention_rules::Rule kQueryEmpty{
    "IFA-QUERY-EMPTY", "query", [](const AttentionCall &c) { return c.query.live(); },
    [](const AttentionCall &c) { return c.query.t->count != 0; },
    [](const AttentionCall &c, Saying &s) {
      s.value << "shape " << c.query.t->shape();
      s.limit << "must not be empty while attentionOut is not";
    }};
int64_t query_sequence(const AttentionCall &c) {
  return c.query.t->dims[c.layout == Layout::BNSD ? 2 : 1];
}
constexpr attention_rules::Rule kQueryS{
    "IFA-QUERY-S", "query", [](const AttentionCall &c) { return c.batch != kAbsent; },
    [](const AttentionCall &c) { return query_sequence(c) == 1; },
    [](const AttentionCall &c, Saying &s) {
      s.value << "sequence length " << query_sequence(c);
      s.limit << "must be 1: one query token per sequence; longer queries are for "
                 "SelfAttentionOperation, or PagedAttentionOperation with CALC_TYPE_SPEC";
    }};

// ---- the path: rules in the order in which they are asked, with the code each answers

using Check = pyaclnn::Check<AttentionCall>;
constexpr int32_t kNull = ACLNN_ERR_PARAM_NULLPTR;
constexpr int32_t kInvalid = ACLNN_ERR_PARAM_INVALID;
constexpr int32_t kTiling = ACLNN_ERR_INNER_TILING_ERROR;

bool output_empty(const AttentionCall &c) {
  if (!c.attentionOut.live()) return false;
  auto shape = c.attentionOut.t->shape();
  return std::find(shape.begin(), shape.end(), 0) != shape.end();
}

constexpr Check kChecks[] = {
    {&kPtrQuery, kNull},
    {&kPtrKey, kNull},
    {&kPtrValue, kNull},
    {&kPtrAttentionOut, kNull},
    {&kProduct, kNull},
    {&kPtrExecutor, kNull},
    {&kKeyCount, kInvalid},
    {&kValueCount, kInvalid},
    {&kKeyFirst, kInvalid},
    {&kValueFirst, kInvalid},
    {&kPtrWorkspaceSize, kNull},
    {&kHandleLive, kInvalid},
    {&kFormatQuery, kInvalid},
    {&kFormatKey, kInvalid},
    {&kFormatValue, kInvalid},
    {&kFormatAttentionOut, kInvalid},
    {&kDtypeTuple, kInvalid},
    {.rule = nullptr, .code = 0, .done = output_empty},
    {&kViewBounds, kTiling},
    {&kQueryEmpty, kTiling},
    {&kHeadsRange, kTiling},
    {&kKvHeadsRange, kTiling},
    {&kHeadsZero, kTiling},
    {&kHeadsRatio, kTiling},
    {&kLayout, kTiling},
    {&kQueryRank, kTiling},
    {&kOutRank, kTiling},
    {&kQueryH, kTiling},
    {&kQueryN, kTiling},
    {&kQueryS, kTiling},
    {&kInnerPrecise, kTiling},
    {&kTableEmpty, kTiling},
    {&kKeyRank, kTiling},
    {&kListMembers, kTiling},
    {&kListMemberDtype, kTiling},
    {&kKvShape, kTiling},
    {&kListMemberRank, kTiling},
    {&kListMemberBatch, kTiling},
    {&kKvN, kTiling},
    {&kListMemberDim, kTiling},
    {&kCacheRank, kTiling},
    {&kCacheLayout, kTiling},
    {&kCacheKvShape, kTiling},
    {&kTableDtype, kTiling},
    {&kTableShape, kTiling},
    {&kBlockAxis, kTiling},
    {&kCacheN, kTiling},
    {&kDEqual, kTiling},
    {&kKvH, kTiling},
    {&kOutShape, kTiling},
    {&kFormatOptional, kTiling},
    {&kGroupMax, kTiling},
    {&kBlockAlign, kTiling},
    {&kLimitGqa, kTiling},
    {&kLimitGqaLayout, kTiling},
    {&kLimitB, kTiling},
    {&kLimitS, kTiling},
    {&kLimitDAlign, kTiling},
    {&kLimitD, kTiling},
    {&kLimitKvHeads, kTiling},
    {&kSeqMissing, kTiling},
    {&kSeqCount, kTiling},
    {&kSeqNegative, kTiling},
    {&kSeqMax, kTiling},
    {&kPseDtype, kTiling},
    {&kPseShape, kTiling},
    {&kPseLast, kTiling},
    {&kMaskDtype, kTiling},
    {&kMaskRank, kTiling},
    {&kMaskBatch, kTiling},
    {&kMaskLast, kTiling},
    {&kQuant1Null, kTiling},
    {&kQuant2Needed, kTiling},
    {&kQuant2Dtype, kTiling},
    {&kQuant2OffsetDtype, kTiling},
    {&kQuant2Shape, kTiling},
    {&kQuant2Unused, kTiling},
    {&kAntiquantUnused, kTiling},
    {&kAntiquantNeeded, kTiling},
    {&kAntiquantRank, kTiling},
    {&kAntiquantShape, kTiling},
    {&kAntiquantDtype, kTiling},
    {&kAntiquantOffsetDtype, kTiling},
    {&kCacheWidth, kTiling},
    {&kBlockRange, kTiling},
    {&kPagedMaxLen, kTiling},
    {&kBlockCount, kTiling},
    {&kPaddingDtype, kTiling},
    {&kPaddingPaged, kTiling},
    {&kDocumentedGqa, 0},
    {&kDocumentedInt8, 0},
    {&kDocumentedHeads, 0},
    {&kDocumentedLengths, 0},
};

// ---- lowering: the operator's words to the engine's

using attention::Problem;
using attention::Type;
using attention::View;

// The parameters of the operator definition, which has actualSeqLengths among its inputs.
enum : size_t {
  kQuery,
  kKey,
  kValue,
  kPseShift,
  kAttenMask,
  kActualSeqLengths,
  kDequantScale1,
  kQuantScale1,
  kDequantScale2,
  kQuantScale2,
  kQuantOffset2,
  kAntiquantScale,
  kAntiquantOffset,
  kBlocktable,
  kKvPaddingSize,
  kAttentionOut
};
using Call = AttentionCall;
constexpr Parameter kParameters[] = {
    {.name = "query", .tensor = &Call::query},
    {.name = "key", .list = &Call::key},
    {.name = "value", .list = &Call::value},
    {.name = "pseShift", .tensor = &Call::pseShift},
    {.name = "attenMask", .tensor = &Call::attenMask},
    {.name = "actualSeqLengths"},
    {.name = "dequantScale1", .tensor = &Call::dequantScale1},
    {.name = "quantScale1", .tensor = &Call::quantScale1},
    {.name = "dequantScale2", .tensor = &Call::dequantScale2},
    {.name = "quantScale2", .tensor = &Call::quantScale2},
    {.name = "quantOffset2", .tensor = &Call::quantOffset2},
    {.name = "antiquantScale", .tensor = &Call::antiquantScale},
    {.name = "antiquantOffset", .tensor = &Call::antiquantOffset},
    {.name = "blocktable", .tensor = &Call::blocktable},
    {.name = "kvPaddingSize", .tensor = &Call::kvPaddingSize},
    {.name = "attentionOut", .tensor = &Call::attentionOut, .output = true},
};
static_assert(std::size(kParameters) == kAttentionOut + 1);

void lower_shape(const Call &c, const AttentionLowering &lowering, Problem &p) {
  p.batch = c.batch;
  p.heads = c.heads;
  p.kvHeads = c.kvHeads;
  p.headDim = p.headDimV = c.headDim;
  p.queryMax = 1;
  p.keyMax = c.keyMax;
  p.qLen.bound = 1;
  p.q = view_of(*c.query.t, lowering.slot(kQuery), c.layout, c.headDim);
  p.score.scale = static_cast<float>(c.scaleValue);
  // The output is written contiguously whatever strides its handle names.
  p.out.o = {.slot = lowering.slot(kAttentionOut), .type = type_of(c.attentionOut.t->dtype)};
  p.out.o.d = 1;
  p.out.o.h = c.headDim;
  p.out.o.b = p.out.o.s = c.heads * c.headDim;
}

// false, here and below: memory is exhausted.
bool lower_keys(const Call &c, AttentionLowering &lowering, Problem &p) {
  auto &cache = p.cache;
  if (c.listMode) {
    cache.form = attention::Cache::List;
    cache.kList = lowering.views(c.key, kKey);
    cache.vList = lowering.views(c.value, kValue);
    return !cache.kList.empty() && !cache.vList.empty();
  }
  cache.k = view_of(*c.key0, lowering.slot(kKey), c.layout, c.headDim);
  cache.v = view_of(*c.value0, lowering.slot(kValue), c.layout, c.headDim);
  if (c.paged) {
    cache.form = attention::Cache::Paged;
    cache.table = lowering.flat(*c.blocktable.t, kBlocktable);
    cache.tableStride = c.tableColumns;
    cache.blockSize = static_cast<int32_t>(c.blockSize);
    cache.blockCount = static_cast<int32_t>(std::min<int64_t>(c.key0->dims[0], INT32_MAX));
  }
  return true;
}

bool lower_lengths(const Call &c, AttentionLowering &lowering, Problem &p) {
  p.kvLen.bound = c.keyMax;
  if (c.lengthsGiven()) {
    auto values = c.actualSeqLengths.values();
    if (values.size() != 1) values = values.first(static_cast<size_t>(c.batch));
    return lowering.host_lengths(
        values.size(), [&](size_t b) { return values[b]; }, &p.kvLen);
  }
  if (c.listMode) {
    return lowering.host_lengths(
        static_cast<size_t>(c.members),
        [&](size_t b) { return key_length(*c.key.at(b), c.layout); }, &p.kvLen);
  }
  return true;
}

void lower_optional(const Call &c, AttentionLowering &lowering, Problem &p) {
  if (c.pseShift.given()) {
    const Tensor &t = *c.pseShift.t;
    View &v = p.bias.pse;
    v = {.slot = lowering.slot(kPseShift), .type = type_of(t.dtype)};
    v.b = stride_of(t, 0);  // 0: one for all batches
    v.h = stride_of(t, 1);
    v.d = stride_of(t, 3);
  }
  if (c.maskPresent()) {
    // One row per batch by flat index, shared by all heads: what the device reads, whatever the
    // middle dimensions say. A masked position keeps its place with score -1e12.
    const Tensor &t = *c.attenMask.t;
    p.mask.how = attention::Mask::Replace;
    p.mask.value = -1.0e12f;
    p.mask.m = {.slot = lowering.flat(t, kAttenMask), .type = Type::u8};
    p.mask.m.b = t.dims[t.rank - 1];
    p.mask.m.d = 1;
    p.mask.count = t.count;
  }
  if (c.paddingPresent() && c.lengthsGiven() && !c.paged && !c.listMode) {
    p.kvBegin.from = attention::Begin::RightAligned;
    p.kvBegin.padding = lowering.first_element(*c.kvPaddingSize.t, kKvPaddingSize);
    p.kvBegin.extent = c.keyMax;
  }
}

// A scale or offset per (head, d), or one value.
View per_channel_view(const Call &c, const Tensor &t, size_t parameter, bool per_channel,
                      AttentionLowering &lowering) {
  View v{.slot = lowering.flat(t, parameter), .type = type_of(t.dtype)};
  if (per_channel) {
    v.h = c.headDim;
    v.d = 1;
  }
  return v;
}

void lower_quantisation(const Call &c, AttentionLowering &lowering, Problem &p) {
  if (c.int8Cache()) {
    // Both tensors hold the key's half first, then the value's.
    bool per_channel = c.antiquantScale.t->rank > 1;
    int64_t half = per_channel ? c.kvHeads * c.headDim : 1;
    p.quant.k = p.quant.v = per_channel ? attention::Quant::Channel : attention::Quant::Tensor;
    p.quant.kScale = p.quant.vScale =
        per_channel_view(c, *c.antiquantScale.t, kAntiquantScale, per_channel, lowering);
    p.quant.vScale.offset = half;
    if (c.antiquantOffset.given()) {
      p.quant.kOffset = p.quant.vOffset =
          per_channel_view(c, *c.antiquantOffset.t, kAntiquantOffset, per_channel, lowering);
      p.quant.vOffset.offset = half;
    }
  }
  if (c.int8Output()) {
    bool per_channel = c.quantScale2.t->count != 1;
    p.out.post = per_channel ? attention::Out::RoundAway : attention::Out::HalfSteps;
    p.out.scale = per_channel_view(c, *c.quantScale2.t, kQuantScale2, per_channel, lowering);
    if (c.quantOffset2.given()) {
      p.out.offset = per_channel_view(c, *c.quantOffset2.t, kQuantOffset2, per_channel, lowering);
    }
  }
}

const AttentionPlan *lower(const Call &call, const char *function, ExecutorBuilder &builder) {
  AttentionLowering lowering(call, kParameters, function, builder);
  Problem problem;
  lower_shape(call, lowering, problem);
  if (!lower_keys(call, lowering, problem) || !lower_lengths(call, lowering, problem)) {
    return nullptr;
  }
  lower_optional(call, lowering, problem);
  lower_quantisation(call, lowering, problem);
  return lowering.finish(problem);
}

Operator g_operator{
    .name = "aclnnIncreFlashAttention",
    .run = run_attention,
    .small = small_attention,
    .rules_json =
        [](char *buffer, size_t capacity) {
          return rules_json<AttentionCall>("aclnnIncreFlashAttention", kChecks, buffer, capacity);
        },
};
RegisterOperator g_register(&g_operator);

// ---- the first phase

constexpr AttentionOperator kOperator{.op = g_operator,
                                      .limits = kLimits,
                                      .checks = kChecks,
                                      .all_pass = all_pass<kChecks, Call>,
                                      .lower = lower};

// V1 to V3: the device deprecates them. One line per version, with what a move to V4 takes.
aclnnStatus deprecated_first_phase(const AttentionArgs &args, const char *change,
                                   std::atomic<bool> &said) {
  if (first_time(said)) {
    Text text;
    text << args.function << " is deprecated on the device, it keeps working here; "
         << "aclnnIncreFlashAttentionV4 takes the same arguments and " << change;
    log(LogLevel::Warning, text);
  }
  return first_phase(kOperator, args);
}

}  // namespace
}  // namespace pyaclnn

extern "C" {

aclnnStatus aclnnIncreFlashAttentionGetWorkspaceSize(
    const aclTensor *query, const aclTensorList *key, const aclTensorList *value, const aclTensor *,
    const aclTensor *attenMask, const aclIntArray *actualSeqLengths, int64_t numHeads,
    double scaleValue, char *inputLayout, int64_t numKeyValueHeads, const aclTensor *attentionOut,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
  static std::atomic<bool> said;
  return pyaclnn::deprecated_first_phase(
      {.function = "aclnnIncreFlashAttention",
       .query = query,
       .key = key,
       .value = value,
       .attenMask = attenMask,
       .actualSeqLengths = actualSeqLengths,
       .numHeads = numHeads,
       .scaleValue = scaleValue,
       .inputLayout = inputLayout,
       .numKeyValueHeads = numKeyValueHeads,
       .attentionOut = attentionOut,
       .workspaceSize = workspaceSize,
       .executor = executor},
      "null for pseShift (ignored so far) and the nine added tensors, blockSize 0, innerPrecise 1",
      said);
}

aclnnStatus aclnnIncreFlashAttentionV2GetWorkspaceSize(
    const aclTensor *query, const aclTensorList *key, const aclTensorList *value, const aclTensor *,
    const aclTensor *attenMask, const aclIntArray *actualSeqLengths, const aclTensor *dequantScale1,
    const aclTensor *quantScale1, const aclTensor *dequantScale2, const aclTensor *quantScale2,
    const aclTensor *quantOffset2, int64_t numHeads, double scaleValue, char *inputLayout,
    int64_t numKeyValueHeads, const aclTensor *attentionOut, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
  static std::atomic<bool> said;
  return pyaclnn::deprecated_first_phase(
      {.function = "aclnnIncreFlashAttentionV2",
       .query = query,
       .key = key,
       .value = value,
       .attenMask = attenMask,
       .actualSeqLengths = actualSeqLengths,
       .dequantScale1 = dequantScale1,
       .quantScale1 = quantScale1,
       .dequantScale2 = dequantScale2,
       .quantScale2 = quantScale2,
       .quantOffset2 = quantOffset2,
       .numHeads = numHeads,
       .scaleValue = scaleValue,
       .inputLayout = inputLayout,
       .numKeyValueHeads = numKeyValueHeads,
       .attentionOut = attentionOut,
       .workspaceSize = workspaceSize,
       .executor = executor},
      "null for pseShift (ignored so far) and the four added tensors, blockSize 0, innerPrecise 1",
      said);
}

aclnnStatus aclnnIncreFlashAttentionV3GetWorkspaceSize(
    const aclTensor *query, const aclTensorList *key, const aclTensorList *value,
    const aclTensor *pseShift, const aclTensor *attenMask, const aclIntArray *actualSeqLengths,
    const aclTensor *dequantScale1, const aclTensor *quantScale1, const aclTensor *dequantScale2,
    const aclTensor *quantScale2, const aclTensor *quantOffset2, const aclTensor *antiquantScale,
    const aclTensor *antiquantOffset, const aclTensor *blocktable, int64_t numHeads,
    double scaleValue, char *inputLayout, int64_t numKeyValueHeads, int64_t blockSize,
    int64_t innerPrecise, const aclTensor *attentionOut, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
  static std::atomic<bool> said;
  return pyaclnn::deprecated_first_phase({.function = "aclnnIncreFlashAttentionV3",
                                          .query = query,
                                          .key = key,
                                          .value = value,
                                          .pseShift = pseShift,
                                          .attenMask = attenMask,
                                          .actualSeqLengths = actualSeqLengths,
                                          .dequantScale1 = dequantScale1,
                                          .quantScale1 = quantScale1,
                                          .dequantScale2 = dequantScale2,
                                          .quantScale2 = quantScale2,
                                          .quantOffset2 = quantOffset2,
                                          .antiquantScale = antiquantScale,
                                          .antiquantOffset = antiquantOffset,
                                          .blocktable = blocktable,
                                          .numHeads = numHeads,
                                          .scaleValue = scaleValue,
                                          .inputLayout = inputLayout,
                                          .numKeyValueHeads = numKeyValueHeads,
                                          .blockSize = blockSize,
                                          .innerPrecise = innerPrecise,
                                          .attentionOut = attentionOut,
                                          .workspaceSize = workspaceSize,
                                          .executor = executor},
                                         "null for kvPaddingSize after blocktable", said);
}

aclnnStatus aclnnIncreFlashAttentionV4GetWorkspaceSize(
    const aclTensor *query, const aclTensorList *key, const aclTensorList *value,
    const aclTensor *pseShift, const aclTensor *attenMask, const aclIntArray *actualSeqLengths,
    const aclTensor *dequantScale1, const aclTensor *quantScale1, const aclTensor *dequantScale2,
    const aclTensor *quantScale2, const aclTensor *quantOffset2, const aclTensor *antiquantScale,
    const aclTensor *antiquantOffset, const aclTensor *blocktable, const aclTensor *kvPaddingSize,
    int64_t numHeads, double scaleValue, char *inputLayout, int64_t numKeyValueHeads,
    int64_t blockSize, int64_t innerPrecise, const aclTensor *attentionOut, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
  return pyaclnn::first_phase(pyaclnn::kOperator, {.function = "aclnnIncreFlashAttentionV4",
                                                   .query = query,
                                                   .key = key,
                                                   .value = value,
                                                   .pseShift = pseShift,
                                                   .attenMask = attenMask,
                                                   .actualSeqLengths = actualSeqLengths,
                                                   .dequantScale1 = dequantScale1,
                                                   .quantScale1 = quantScale1,
                                                   .dequantScale2 = dequantScale2,
                                                   .quantScale2 = quantScale2,
                                                   .quantOffset2 = quantOffset2,
                                                   .antiquantScale = antiquantScale,
                                                   .antiquantOffset = antiquantOffset,
                                                   .blocktable = blocktable,
                                                   .kvPaddingSize = kvPaddingSize,
                                                   .numHeads = numHeads,
                                                   .scaleValue = scaleValue,
                                                   .inputLayout = inputLayout,
                                                   .numKeyValueHeads = numKeyValueHeads,
                                                   .blockSize = blockSize,
                                                   .innerPrecise = innerPrecise,
                                                   .attentionOut = attentionOut,
                                                   .workspaceSize = workspaceSize,
                                                   .executor = executor});
}

aclnnStatus aclnnIncreFlashAttention(void *workspace, uint64_t workspaceSize,
                                     aclOpExecutor *executor, const aclrtStream stream) {
  return pyaclnn::second_phase(pyaclnn::g_operator, "aclnnIncreFlashAttention", workspace,
                               workspaceSize, executor, stream);
}

aclnnStatus aclnnIncreFlashAttentionV2(void *workspace, uint64_t workspaceSize,
                                       aclOpExecutor *executor, const aclrtStream stream) {
  return pyaclnn::second_phase(pyaclnn::g_operator, "aclnnIncreFlashAttentionV2", workspace,
                               workspaceSize, executor, stream);
}

aclnnStatus aclnnIncreFlashAttentionV3(void *workspace, uint64_t workspaceSize,
                                       aclOpExecutor *executor, const aclrtStream stream) {
  return pyaclnn::second_phase(pyaclnn::g_operator, "aclnnIncreFlashAttentionV3", workspace,
                               workspaceSize, executor, stream);
}

aclnnStatus aclnnIncreFlashAttentionV4(void *workspace, uint64_t workspaceSize,
                                       aclOpExecutor *executor, const aclrtStream stream) {
  return pyaclnn::second_phase(pyaclnn::g_operator, "aclnnIncreFlashAttentionV4", workspace,
                               workspaceSize, executor, stream);
}

}  // extern "C"
