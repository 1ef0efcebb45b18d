// PagedAttentionOperation: attention of single tokens, or a few of each batch, over paged caches.
#include "atb/paged_attention.hpp"
#include "atb/paged_attention_rules.hpp"

namespace pyaclnn::atb {
namespace {

using Call = PagedAttentionCall;
using Param = Call::Param;

constexpr uint32_t mask_bits(std::initializer_list<Param::MaskType> types) {
  uint32_t bits = 0;
  for (Param::MaskType type : types) bits |= 1u << type;
  return bits;
}

// MASK_FREE is refused by InferShape.
constexpr PagedAttentionLimits nd_row(ProductId product) {
  PagedAttentionLimits row{{product}};
  row.run_status = row.compress = row.mla = row.quant = true;
  row.speculative = row.log_n = row.bnsd = true;
  row.masks = mask_bits({Param::UNDEFINED, Param::MASK_TYPE_NORM, Param::MASK_TYPE_ALIBI,
                         Param::MASK_TYPE_SPEC, Param::MASK_TYPE_MASK_FREE});
  row.spec_masks = mask_bits({Param::MASK_TYPE_NORM, Param::MASK_TYPE_SPEC});
  return row;
}

constexpr PagedAttentionLimits plain_nz_row(ProductId product) {
  PagedAttentionLimits row{{product}};
  row.fractal = true;
  row.masks = mask_bits({Param::UNDEFINED, Param::MASK_TYPE_NORM, Param::MASK_TYPE_ALIBI});
  return row;
}

constexpr PagedAttentionLimits nz_row(ProductId product) {
  PagedAttentionLimits row = plain_nz_row(product);
  row.speculative = row.log_n = row.bnsd = row.causal_masks = true;
  row.spec_masks = mask_bits({Param::UNDEFINED, Param::MASK_TYPE_SPEC, Param::MASK_TYPE_MASK_FREE,
                              Param::MASK_TYPE_NORM_COMPRESS});
  row.masks |= row.spec_masks;
  row.batch_max = 2000;
  return row;
}

constexpr PagedAttentionLimits kLimits[] = {
    nd_row(ProductId::AtlasA2),      nd_row(ProductId::AtlasA3),
    nz_row(ProductId::Atlas310P),    plain_nz_row(ProductId::Atlas910),
    {{ProductId::Ascend950, false}},
};

constexpr char kCachesOfBytes[] =
    "INT8 caches need quantType: 1 beside a query of FLOAT16 or BFLOAT16, 2 or 3 beside INT8";

constexpr Slot<Call> kInputs[] = {
    {"query"},
    {.name = "keyCache", .bytes = kCachesOfBytes},
    {.name = "valueCache",
     .present = [](const Call &c) { return !c.mla(); },
     .bytes = kCachesOfBytes},
    {"blockTables"},
    {.name = "contextLens",
     .host =
         [](const Call &c) {
           return !c.limits.fractal || (c.spec() && c.masked(Param::MASK_TYPE_MASK_FREE));
         }},
    {.name = "mask", .present = [](const Call &c) { return c.has_mask(); }, .bytes = kMaskOfBytes},
    {"batchRunStatus", [](const Call &c) { return c.run_status(); },
     [](const Call &) { return true; }},
    {"kDescale", [](const Call &c) { return c.dequant() || c.int8(); }},
    {"kOffset", [](const Call &c) { return c.offsets(); }},
    {"vDescale", [](const Call &c) { return c.dequant() || c.int8(); }},
    {"vOffset", [](const Call &c) { return c.offsets(); }},
    {"qSeqLen", [](const Call &c) { return c.spec(); }, [](const Call &) { return true; }},
    {"razorOffset", [](const Call &c) { return c.rope(); }},
    {"pScale", [](const Call &c) { return c.offline(); }},
    {"logN", [](const Call &c) { return c.log_n(); }},
};
static_assert(std::size(kInputs) == Call::kInputSlots);
constexpr Slot<Call> kOutputs[] = {{"output"}};

// query keyCache valueCache blockTables contextLens mask batchRunStatus kDescale kOffset vDescale
// vOffset qSeqLen razorOffset pScale logN > output
constexpr Signature kMlaInt8[] = {"i8 i8 * i4 i4 T i4 f * f * * * f * > T"};
constexpr Signature kMla[] = {"T T * i4 i4 T i4 * * * * i4 * * * > T"};
constexpr Signature kDequant[] = {
    "T i8 i8 i4 i4 T i4 f i4 f i4 * f * * > T",
    "T i8 i8 i4 i4 T i4 i64 i4 i64 i4 * f * * > T",
};
// The device lets the last two pass as well.
constexpr Signature kInt8[] = {
    "i8 i8 i8 i4 i4 T i4 f * f * * * f * > T",
    "T T T i4 i4 T i4 f * f * * * f * > T",
    "T TZ TZ i4 i4 TZ i4 f * f * * * f * > T",
};
constexpr Signature kSpec[] = {
    "T T T i4 i4 T * * * * * i4 * * * > T",
    "h hZ hZ i4 i4 hZ * * * * * i4 * * * > h",
    "h hZ hZ i4 i4 h * * * * * i4 * * * > h",
};
constexpr Signature kPlain[] = {
    "T T T i4 i4 T i4 * * * * * f * f > T",
    "T TZ TZ i4 i4 TZ * * * * * * * * h > T",
};
constexpr SignatureGroup<Call> kSignatures[] = {
    {[](const Call &c) { return c.mla() && c.int8(); }, kMlaInt8},
    {[](const Call &c) { return c.mla(); }, kMla},
    {[](const Call &c) { return c.dequant(); }, kDequant},
    {[](const Call &c) { return c.int8(); }, kInt8},
    {[](const Call &c) { return c.spec() && c.has_mask(); }, kSpec},
    {[](const Call &c) { return !c.spec() && (c.run_status() || c.rope()); }, std::span(kPlain, 1)},
    {[](const Call &c) { return !c.spec(); }, kPlain},
};

void describe(const Call &c, SVector<TensorDesc> &outputs) {
  outputs[0] = *c.desc(Call::kQuery);
  if (c.int8()) outputs[0].dtype = c.param.outDataType;
  outputs[0].shape.dims[2] = c.value_head_size();
}

constexpr Definition<Call> kDefinition{
    .name = "PagedAttentionOperation",
    .limits = kLimits,
    .inputs = kInputs,
    .outputs = kOutputs,
    .signatures = kSignatures,
    .create = kCreatePath<Call, paged_attention_rules::kCreate>,
    .infer = kInferPath<Call, paged_attention_rules::kInfer>,
    .setup = kSetupPath<Call, paged_attention_rules::kSetup, paged_attention_rules::kKernelChecks>,
    .execute = paged_attention_rules::kExecute,
    .describe = describe,
    .lower = lower,
};
Registration<kDefinition> g_registration;

}  // namespace

int64_t PagedAttentionCall::mask_planes() const {
  const int64_t inner = mask_fractal() ? 3 : 2;
  int64_t planes = 1;
  for (int64_t axis = 0; axis < rank(kMask) - inner; ++axis) {
    planes *= dim(kMask, static_cast<size_t>(axis));
  }
  return planes;
}

}  // namespace pyaclnn::atb

template <>
ACL_FUNC_VISIBILITY atb::Status atb::CreateOperation(const infer::PagedAttentionParam &opParam,
                                                     Operation **operation) {
  return pyaclnn::atb::create(pyaclnn::atb::kDefinition, opParam, operation);
}
