// aclnnIncreFlashAttention, V2, V3, V4: one query token per sequence against a key/value cache. The
// four are entry points over one operator; a version that lacks a parameter passes its neutral
// value.
#include <algorithm>
#include <cstring>

#include "aclnnop/aclnn_incre_flash_attention.h"
#include "aclnnop/aclnn_incre_flash_attention_v2.h"
#include "aclnnop/aclnn_incre_flash_attention_v3.h"
#include "aclnnop/aclnn_incre_flash_attention_v4.h"
#include "aclnn/opdev/op_errno.h"
#include "attention/engine.hpp"
#include "nnopbase/executor.hpp"
#include "opapi/attention_rules.hpp"
#include "opapi/first_phase.hpp"
#include "support/log.hpp"

namespace pyaclnn {
namespace {

using namespace attention_rules;

// ---- what each product offers -------------------------------------------------------------------

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

constexpr AttentionLimits kAtlasA2{.product = ProductId::AtlasA2, .tuples = kAllTuples};
constexpr AttentionLimits like(AttentionLimits row, ProductId product) {
  row.product = product;
  return row;
}
constexpr AttentionLimits kAtlasA3 = like(kAtlasA2, ProductId::AtlasA3);
constexpr AttentionLimits kAscend950 = [] {
  AttentionLimits row = like(kAtlasA2, ProductId::Ascend950);
  row.sharedBlocks = false;
  row.paddingWithPaging = false;
  return row;
}();
constexpr AttentionLimits kAtlas310P{.product = ProductId::Atlas310P,
                                     .tuples = kHalfTuples,
                                     .batch = 256,
                                     .headDimMultiple = 16,
                                     .groupedGroup = 32,
                                     .groupedHeadDim = 128,
                                     .groupedLayouts = true,
                                     .keySequence = 65536,
                                     .documentsGrouped = false,
                                     .documentsInt8 = false};
constexpr const AttentionLimits *kLimits[] = {&kAtlasA2, &kAtlasA3, &kAscend950, &kAtlas310P};

const AttentionLimits *limits_of(const Product &product) {
  for (const AttentionLimits *row : kLimits) {
    if (row->product == product.id) return row;
  }
  return nullptr;
}

// ---- rules of this operator alone ---------------------------------------------------------------

constexpr attention_rules::Rule kQueryEmpty{
    "IFA-QUERY-EMPTY", "query", [](const AttentionCall &c) { return c.query.live(); },
    [](const AttentionCall &c) { return element_count(*c.query.t) != 0; },
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
      s.limit << "must be 1: one query token per sequence; longer queries are "
                 "PromptFlashAttention's";
    }};

// ---- the path: rules in the order in which they are asked, with the code each answers
// ------------

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
};

// ---- lowering: the operator's words to the engine's
// ----------------------------------------------

using attention::Problem;
using attention::Slot;
using attention::Type;
using attention::View;

// Small tensors that the engine wants contiguous (masks by flat index, scales, tables) but the
// caller passed strided are copied at the start of the task, as the device's framework does.
struct Gather {
  Slot from, to;
  uint32_t element_bytes;
  uint32_t rank;
  uint64_t workspace_offset;
  int64_t count;
  int64_t dims[kMaxRank], stride[kMaxRank];
};

// The parameters in the order of the operator definition; bindings follow it.
constexpr const char *kParameters[] = {"query",           "key",          "value",
                                       "pseShift",        "attenMask",    "actualSeqLengths",
                                       "dequantScale1",   "quantScale1",  "dequantScale2",
                                       "quantScale2",     "quantOffset2", "antiquantScale",
                                       "antiquantOffset", "blocktable",   "kvPaddingSize",
                                       "attentionOut"};
constexpr size_t kParameterCount = std::size(kParameters);

struct IfaPlan {
  attention::Plan engine;
  std::span<const Gather> gathers;
  const char *function;
  uint16_t slots = 0;                    // bindings plus gathers
  uint16_t first[kParameterCount] = {};  // first binding of each parameter
};

Type type_of(aclDataType dtype) {
  switch (dtype) {
    case ACL_FLOAT16: return Type::f16;
    case ACL_BF16: return Type::bf16;
    case ACL_INT8: return Type::i8;
    case ACL_INT32: return Type::i32;
    case ACL_INT64: return Type::i64;
    case ACL_BOOL:
    case ACL_UINT8: return Type::u8;
    default: return Type::f32;
  }
}

// A query, key, value or cache tensor as (b, s, h, d); `headDim` splits the H axis of BSH.
View view_of(const Tensor &t, Slot slot, Layout layout, int64_t headDim) {
  View v{.slot = slot, .type = type_of(t.dtype)};
  v.b = t.stride[0];
  if (t.rank == 3) {
    v.s = t.stride[1];
    v.h = headDim * t.stride[2];
    v.d = t.stride[2];
  } else if (layout == Layout::BNSD) {
    v.h = t.stride[1];
    v.s = t.stride[2];
    v.d = t.stride[3];
  } else {
    v.s = t.stride[1];
    v.h = t.stride[2];
    v.d = t.stride[3];
  }
  return v;
}

bool is_contiguous(const Tensor &t) {
  int64_t expected = 1;
  for (uint32_t i = t.rank; i-- > 0;) {
    if (t.dims[i] != 1 && t.stride[i] != expected) return false;
    expected *= t.dims[i];
  }
  return true;
}

class Lowering {
 public:
  Lowering(const AttentionCall &call, ExecutorBuilder &builder, IfaPlan &plan)
      : c_(call), builder_(builder), plan_(plan) {}

  // false: memory is exhausted.
  bool run() {
    bind();
    Problem p;
    shape(p);
    if (!keys(p) || !lengths(p)) return false;
    optional(p);
    quantisation(p);
    plan_.engine = attention::plan(p);
    return place_gathers();
  }

 private:
  void bind() {
    const TensorFact *tensors[kParameterCount] = {&c_.query,
                                                  nullptr,
                                                  nullptr,
                                                  c_.usesPseShift ? &c_.pseShift : nullptr,
                                                  &c_.attenMask,
                                                  nullptr,
                                                  &c_.dequantScale1,
                                                  &c_.quantScale1,
                                                  &c_.dequantScale2,
                                                  &c_.quantScale2,
                                                  &c_.quantOffset2,
                                                  &c_.antiquantScale,
                                                  &c_.antiquantOffset,
                                                  &c_.blocktable,
                                                  &c_.kvPaddingSize,
                                                  &c_.attentionOut};
    int count = 0;
    for (size_t i = 0; i < kParameterCount; ++i) {
      plan_.first[i] = static_cast<uint16_t>(count);
      if (i == kKey || i == kValue) {
        auto members = (i == kKey ? c_.key : c_.value).list->elements();
        builder_.add_list(members.data(), members.size(), false);
        count += static_cast<int>(members.size());
      } else {
        builder_.add_tensor(tensors[i] != nullptr ? tensors[i]->handle : nullptr, i == kOut);
        ++count;
      }
    }
    plan_.slots = static_cast<uint16_t>(count);
  }

  Slot slot(size_t parameter) const { return plan_.first[parameter]; }

  // A tensor read by flat index from slot `parameter`; strided ones are gathered first.
  Slot flat(const Tensor &t, size_t parameter) {
    if (is_contiguous(t)) return slot(parameter);
    Gather &g = pending_[gathers_++];
    g.from = slot(parameter);
    g.to = static_cast<Slot>(plan_.slots++);
    g.element_bytes = static_cast<uint32_t>(aclDataTypeSize(t.dtype));
    g.rank = t.rank;
    g.count = element_count(t);
    std::copy(t.dims, t.dims + t.rank, g.dims);
    std::copy(t.stride, t.stride + t.rank, g.stride);
    return g.to;
  }

  void shape(Problem &p) {
    p.batch = c_.batch;
    p.heads = c_.heads;
    p.kvHeads = c_.kvHeads;
    p.headDim = p.headDimV = c_.headDim;
    p.queryMax = 1;
    p.keyMax = c_.keyMax;
    p.qLen.bound = 1;
    p.q = view_of(*c_.query.t, slot(kQuery), c_.layout, c_.headDim);
    p.score.scale = static_cast<float>(c_.scaleValue);
    // The output is written contiguously whatever strides its handle names.
    p.out.o = {.slot = slot(kOut), .type = type_of(c_.attentionOut.t->dtype)};
    p.out.o.d = 1;
    p.out.o.h = c_.headDim;
    p.out.o.b = p.out.o.s = c_.heads * c_.headDim;
  }

  bool keys(Problem &p) {
    auto &cache = p.cache;
    if (c_.listMode) {
      cache.form = attention::Cache::List;
      cache.kList = views(c_.key, kKey);
      cache.vList = views(c_.value, kValue);
      return !cache.kList.empty() && !cache.vList.empty();
    }
    cache.k = view_of(*c_.key0, slot(kKey), c_.layout, c_.headDim);
    cache.v = view_of(*c_.value0, slot(kValue), c_.layout, c_.headDim);
    if (c_.paged) {
      cache.form = attention::Cache::Paged;
      cache.table = flat(*c_.blocktable.t, kTable);
      cache.tableStride = c_.tableColumns;
      cache.blockSize = static_cast<int32_t>(c_.blockSize);
      cache.blockCount = static_cast<int32_t>(std::min<int64_t>(c_.key0->dims[0], INT32_MAX));
    }
    return true;
  }

  std::span<const View> views(const ListFact &list, size_t parameter) {
    size_t count = static_cast<size_t>(c_.members);
    View *out = static_cast<View *>(builder_.allocate(count * sizeof(View)));
    if (out == nullptr) return {};
    for (size_t i = 0; i < count; ++i) {
      out[i] = view_of(*list.at(i), static_cast<Slot>(slot(parameter) + i), c_.layout, c_.headDim);
    }
    return {out, count};
  }

  bool lengths(Problem &p) {
    p.kvLen.bound = c_.keyMax;
    if (c_.lengthsGiven()) {
      auto values = c_.actualSeqLengths.values();
      if (values.size() != 1) values = values.first(static_cast<size_t>(c_.batch));
      return host_lengths(p, values.size(), [&](size_t b) { return values[b]; });
    }
    if (c_.listMode) {
      return host_lengths(p, static_cast<size_t>(c_.members),
                          [&](size_t b) { return key_length(*c_.key.at(b), c_.layout); });
    }
    return true;
  }

  template <class Length>
  bool host_lengths(Problem &p, size_t count, Length length) {
    int64_t *copy = static_cast<int64_t *>(builder_.allocate(count * sizeof(int64_t)));
    if (copy == nullptr) return false;
    for (size_t b = 0; b < count; ++b) copy[b] = length(b);
    p.kvLen.from = attention::Lengths::Host;
    p.kvLen.host = {copy, count};
    return true;
  }

  void optional(Problem &p) {
    if (c_.usesPseShift && c_.pseShift.given()) {
      const Tensor &t = *c_.pseShift.t;
      View &v = p.bias.pse;
      v = {.slot = slot(kPse), .type = type_of(t.dtype)};
      v.b = t.dims[0] == 1 ? 0 : t.stride[0];
      v.h = t.stride[1];
      v.d = t.stride[3];
    }
    if (c_.maskPresent()) {
      // One row per batch by flat index, shared by all heads: what the device reads, whatever the
      // middle dimensions say. A masked position keeps its place with score -1e12.
      const Tensor &t = *c_.attenMask.t;
      p.mask.how = attention::Mask::Replace;
      p.mask.value = -1.0e12f;
      p.mask.m = {.slot = flat(t, kMask), .type = Type::u8, .b = t.dims[t.rank - 1], .d = 1};
      p.mask.count = element_count(t);
    }
    if (c_.paddingPresent() && c_.lengthsGiven() && !c_.paged && !c_.listMode) {
      p.kvBegin.from = attention::Begin::RightAligned;
      p.kvBegin.padding = slot(kPadding);
      p.kvBegin.extent = c_.keyMax;
    }
  }

  void quantisation(Problem &p) {
    if (c_.int8Cache()) {
      const Tensor &scale = *c_.antiquantScale.t;
      bool per_channel = scale.rank > 1;
      p.quant.k = p.quant.v = per_channel ? attention::Quant::Channel : attention::Quant::Tensor;
      halves(scale, kAntiquantScale, per_channel, p.quant.kScale, p.quant.vScale);
      if (c_.antiquantOffset.given()) {
        halves(*c_.antiquantOffset.t, kAntiquantOffset, per_channel, p.quant.kOffset,
               p.quant.vOffset);
      }
    }
    if (c_.int8Output()) {
      const Tensor &scale = *c_.quantScale2.t;
      bool per_channel = element_count(scale) != 1;
      p.out.post = per_channel ? attention::Out::RoundAway : attention::Out::HalfSteps;
      p.out.scale = per_head(scale, kQuantScale2, per_channel);
      if (c_.quantOffset2.given()) {
        p.out.offset = per_head(*c_.quantOffset2.t, kQuantOffset2, per_channel);
      }
    }
  }

  // antiquantScale and antiquantOffset: first the key's half, then the value's.
  void halves(const Tensor &t, size_t parameter, bool per_channel, View &k, View &v) {
    k = {.slot = flat(t, parameter), .type = type_of(t.dtype)};
    if (per_channel) {
      k.h = c_.headDim;
      k.d = 1;
    }
    v = k;
    v.offset = per_channel ? c_.kvHeads * c_.headDim : 1;
  }

  View per_head(const Tensor &t, size_t parameter, bool per_channel) {
    View v{.slot = flat(t, parameter), .type = type_of(t.dtype)};
    if (per_channel) {
      v.h = c_.headDim;
      v.d = 1;
    }
    return v;
  }

  bool place_gathers() {
    if (gathers_ == 0) return true;
    auto *gathers = static_cast<Gather *>(builder_.allocate(gathers_ * sizeof(Gather)));
    if (gathers == nullptr) return false;
    uint64_t offset = (plan_.engine.workspace + 63) / 64 * 64;
    for (size_t i = 0; i < gathers_; ++i) {
      gathers[i] = pending_[i];
      gathers[i].workspace_offset = offset;
      offset += (static_cast<uint64_t>(gathers[i].count) * gathers[i].element_bytes + 63) / 64 * 64;
    }
    plan_.gathers = {gathers, gathers_};
    plan_.engine.workspace = offset;
    return true;
  }

  enum : size_t {
    kQuery = 0,
    kKey = 1,
    kValue = 2,
    kPse = 3,
    kMask = 4,
    kQuantScale2 = 9,
    kQuantOffset2 = 10,
    kAntiquantScale = 11,
    kAntiquantOffset = 12,
    kTable = 13,
    kPadding = 14,
    kOut = 15
  };

  const AttentionCall &c_;
  ExecutorBuilder &builder_;
  IfaPlan &plan_;
  Gather pending_[7] = {};  // mask, table, two antiquant, two quant, and none to spare otherwise
  size_t gathers_ = 0;
};

// ---- the task
// ------------------------------------------------------------------------------------

constexpr int32_t kTaskFailed = ACL_ERROR_RT_AICORE_EXCEPTION;
constexpr size_t kMostSlots = 2 * 256 + kParameterCount + 8;

void gather(const Gather &g, const std::byte *from, std::byte *to) {
  int64_t index[kMaxRank] = {};
  for (int64_t i = 0; i < g.count; ++i) {
    int64_t element = 0;
    for (uint32_t d = 0; d < g.rank; ++d) element += index[d] * g.stride[d];
    std::memcpy(to + i * g.element_bytes, from + element * g.element_bytes, g.element_bytes);
    for (uint32_t d = g.rank; d-- > 0;) {
      if (++index[d] < g.dims[d]) break;
      index[d] = 0;
    }
  }
}

const char *parameter_of(const IfaPlan &plan, int64_t slot) {
  for (const Gather &g : plan.gathers) {
    if (g.to == slot) slot = g.from;
  }
  const char *name = kParameters[0];
  for (size_t i = 0; i < kParameterCount && plan.first[i] <= slot; ++i) name = kParameters[i];
  return name;
}

int32_t null_address(const IfaPlan &plan, int64_t slot, Text &why) {
  why << plan.function << ": " << parameter_of(plan, slot)
      << ": the data address is null, set one before the second phase";
  return kTaskFailed;
}

int32_t run_task(const void *opaque, std::byte *const *bound, std::byte *workspace, Text &why) {
  const IfaPlan &plan = *static_cast<const IfaPlan *>(opaque);
  std::byte *addresses[kMostSlots];
  size_t bindings = plan.slots - plan.gathers.size();
  std::copy(bound, bound + bindings, addresses);
  for (const Gather &g : plan.gathers) {
    if (addresses[g.from] == nullptr) return null_address(plan, g.from, why);
    addresses[g.to] = workspace + g.workspace_offset;
    gather(g, addresses[g.from], addresses[g.to]);
  }
  attention::Outcome outcome = attention::run(plan.engine, {addresses, plan.slots}, workspace);
  if (outcome.what == attention::Late::Ok) return 0;
  if (outcome.what == attention::Late::NullAddress) return null_address(plan, outcome.index, why);
  why << plan.function << ": ";
  attention::describe(outcome, why);
  return kTaskFailed;
}

Operator g_operator{
    .name = "aclnnIncreFlashAttention",
    .run = run_task,
    .small = [](const void *plan) { return static_cast<const IfaPlan *>(plan)->engine.small; },
    .rules_json =
        [](char *buffer, size_t capacity) {
          return rules_json<AttentionCall>("aclnnIncreFlashAttention", kChecks, buffer, capacity);
        },
};
RegisterOperator g_register(&g_operator);

// ---- the first phase
// -----------------------------------------------------------------------------

struct Args {
  const char *function;  // of the second phase: names the version in texts
  const aclTensor *query;
  const aclTensorList *key, *value;
  const aclTensor *pseShift = nullptr;
  bool usesPseShift = false;
  const aclTensor *attenMask;
  const aclIntArray *actualSeqLengths;
  const aclTensor *dequantScale1 = nullptr, *quantScale1 = nullptr, *dequantScale2 = nullptr,
                  *quantScale2 = nullptr, *quantOffset2 = nullptr, *antiquantScale = nullptr,
                  *antiquantOffset = nullptr, *blocktable = nullptr, *kvPaddingSize = nullptr;
  int64_t numHeads;
  double scaleValue;
  const char *inputLayout;
  int64_t numKeyValueHeads;
  int64_t blockSize = 0, innerPrecise = 1;
  const aclTensor *attentionOut;
  uint64_t *workspaceSize;
  aclOpExecutor **executor;
};

TensorFact fact(const aclTensor *tensor) {
  return {tensor, tensor != nullptr ? find_handle<Tensor>(tensor) : nullptr};
}
ListFact fact(const aclTensorList *list) {
  return {list, list != nullptr ? find_handle<TensorList>(list) : nullptr};
}
IntArrayFact fact(const aclIntArray *array) {
  return {array, array != nullptr ? find_handle<IntArray>(array) : nullptr};
}

AttentionCall read(const Args &a, const Product &product) {
  AttentionCall c;
  c.product = &product;
  c.limits = limits_of(product);
  c.usesPseShift = a.usesPseShift;
  c.query = fact(a.query);
  c.key = fact(a.key);
  c.value = fact(a.value);
  c.pseShift = fact(a.pseShift);
  c.attenMask = fact(a.attenMask);
  c.actualSeqLengths = fact(a.actualSeqLengths);
  c.dequantScale1 = fact(a.dequantScale1);
  c.quantScale1 = fact(a.quantScale1);
  c.dequantScale2 = fact(a.dequantScale2);
  c.quantScale2 = fact(a.quantScale2);
  c.quantOffset2 = fact(a.quantOffset2);
  c.antiquantScale = fact(a.antiquantScale);
  c.antiquantOffset = fact(a.antiquantOffset);
  c.blocktable = fact(a.blocktable);
  c.kvPaddingSize = fact(a.kvPaddingSize);
  c.numHeads = a.numHeads;
  c.scaleValue = a.scaleValue;
  c.inputLayout = a.inputLayout;
  c.numKeyValueHeads = a.numKeyValueHeads;
  c.blockSize = a.blockSize;
  c.innerPrecise = a.innerPrecise;
  c.attentionOut = fact(a.attentionOut);
  c.workspaceSize = a.workspaceSize != nullptr;
  c.executor = a.executor != nullptr;
  derive(c);
  return c;
}

aclnnStatus first_phase(const Args &a) {
  const Product *product = product_for_call(a.function);
  if (product == nullptr) return ACLNN_ERR_INNER;
  AttentionCall call = read(a, *product);
  int32_t code = 0;
  Verdict verdict = judge<AttentionCall>(a.function, product, call, kChecks, &code);
  if (verdict == Verdict::Refused) return code;

  ExecutorBuilder builder(g_operator);
  auto *plan = static_cast<IfaPlan *>(builder.ok() ? builder.allocate(sizeof(IfaPlan)) : nullptr);
  if (plan == nullptr) return out_of_memory(a.function);
  if (verdict == Verdict::Done) {  // an empty output: nothing to do
    builder.commit(nullptr, 0, a.workspaceSize, a.executor);
    return ACLNN_SUCCESS;
  }
  new (plan) IfaPlan{};
  plan->function = a.function;
  if (!Lowering(call, builder, *plan).run() || !builder.ok()) return out_of_memory(a.function);
  builder.commit(plan, plan->engine.workspace, a.workspaceSize, a.executor);
  return ACLNN_SUCCESS;
}

aclnnStatus deprecated_first_phase(const Args &a) {
  static std::atomic<bool> said{false};
  if (first_time(said)) {
    Text text;
    text << a.function << " is deprecated on the device: use aclnnIncreFlashAttentionV4 (null for "
         << "pseShift and the added tensors, blockSize 0, innerPrecise 1) or "
         << "aclnnFusedInferAttentionScore. It keeps working here.";
    log(LogLevel::Warning, text);
  }
  return first_phase(a);
}

}  // namespace
}  // namespace pyaclnn

using pyaclnn::Args;

extern "C" {

aclnnStatus aclnnIncreFlashAttentionGetWorkspaceSize(
    const aclTensor *query, const aclTensorList *key, const aclTensorList *value, const aclTensor *,
    const aclTensor *attenMask, const aclIntArray *actualSeqLengths, int64_t numHeads,
    double scaleValue, char *inputLayout, int64_t numKeyValueHeads, const aclTensor *attentionOut,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
  return pyaclnn::deprecated_first_phase({.function = "aclnnIncreFlashAttention",
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
                                          .executor = executor});
}

aclnnStatus aclnnIncreFlashAttentionV2GetWorkspaceSize(
    const aclTensor *query, const aclTensorList *key, const aclTensorList *value, const aclTensor *,
    const aclTensor *attenMask, const aclIntArray *actualSeqLengths, const aclTensor *dequantScale1,
    const aclTensor *quantScale1, const aclTensor *dequantScale2, const aclTensor *quantScale2,
    const aclTensor *quantOffset2, int64_t numHeads, double scaleValue, char *inputLayout,
    int64_t numKeyValueHeads, const aclTensor *attentionOut, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
  return pyaclnn::deprecated_first_phase({.function = "aclnnIncreFlashAttentionV2",
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
                                          .executor = executor});
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
  return pyaclnn::deprecated_first_phase({.function = "aclnnIncreFlashAttentionV3",
                                          .query = query,
                                          .key = key,
                                          .value = value,
                                          .pseShift = pseShift,
                                          .usesPseShift = true,
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
                                          .executor = executor});
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
  return pyaclnn::first_phase({.function = "aclnnIncreFlashAttentionV4",
                               .query = query,
                               .key = key,
                               .value = value,
                               .pseShift = pseShift,
                               .usesPseShift = true,
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
