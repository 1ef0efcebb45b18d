// What chooses between values: where, masked fills, clamps.
#include "aclnnop/aclnn_clamp.h"
#include "aclnnop/aclnn_masked_fill_scalar.h"
#include "aclnnop/aclnn_masked_fill_tensor.h"
#include "aclnnop/aclnn_s_where.h"
#include "nnopbase/names.hpp"
#include "opapi/tensor_operator.hpp"

namespace pyaclnn::tensors {
namespace {

using namespace elementwise;

// ---- conditions

template <int kAt>
constexpr Rule kCondition{
    "WHERE-CONDITION", "condition, mask", [](const Call &c) { return c.tensors[kAt] != nullptr; },
    [](const Call &c) {
      return c.tensors[kAt]->dtype == ACL_BOOL || c.tensors[kAt]->dtype == ACL_UINT8;
    },
    [](const Call &c, Saying &s) {
      s.parameter = c.parameter(kAt).name;
      s.value << dtype_name(c.tensors[kAt]->dtype);
      s.limit << "must be BOOL or UINT8";
    }};
template <int kAt>
constexpr Check kConditionChecks[] = {
    PYACLNN_TENSOR_CHECKS,
    {&kCondition<kAt>, ACLNN_ERR_PARAM_INVALID},
    {&kPromote, ACLNN_ERR_PARAM_INVALID},
    {&kBroadcast, ACLNN_ERR_PARAM_INVALID},
    {&kOutShape, ACLNN_ERR_PARAM_INVALID},
    {&kOutDtype, ACLNN_ERR_PARAM_INVALID},
    {.rule = nullptr, .code = 0, .done = nothing_to_write},
};

constexpr Parameter kWhereParameters[] = {
    {"condition", Kind::In}, {"self", Kind::In}, {"other", Kind::In}, {"out", Kind::Out}};
constexpr Page kWhere{.parameters = kWhereParameters,
                      .checks = kConditionChecks<0>,
                      .lower = lower_elementwise,
                      .run = run_elementwise,
                      .small = small_elementwise,
                      .op = Op::Where};

constexpr Page masked_fill(std::span<const Parameter> parameters) {
  return {.parameters = parameters,
          .checks = kConditionChecks<1>,
          .lower = lower_elementwise,
          .run = run_elementwise,
          .small = small_elementwise,
          .op = Op::Where,
          .keep_self = true,
          .exact_scalars = false,
          .order = {1, 2, 0}};
}
constexpr Parameter kMaskedFillScalarParameters[] = {
    {"selfRef", Kind::Ref}, {"mask", Kind::In}, {"value", Kind::Scalar}};
constexpr Parameter kMaskedFillTensorParameters[] = {
    {"selfRef", Kind::Ref}, {"mask", Kind::In}, {"value", Kind::In}};
constexpr Page kMaskedFillScalar = masked_fill(kMaskedFillScalarParameters);
constexpr Page kMaskedFillTensor = masked_fill(kMaskedFillTensorParameters);

// ---- clamps

constexpr Rule kOneBound{
    "CLAMP-BOUNDS", "clipValueMin, clipValueMax", nullptr,
    [](const Call &c) {
      for (int i = 0; i < c.count(); ++i) {
        if (c.parameter(i).kind == Kind::MaybeScalar && c.words[i].pointer != nullptr) {
          return true;
        }
      }
      return false;
    },
    [](const Call &c, Saying &s) {
      s.parameter = c.parameter(1).name;
      s.value << "NULL, and so is " << c.parameter(2).name;
      s.limit << "one of the two must be given";
    }};
constexpr Check kClampChecks[] = {
    PYACLNN_TENSOR_CHECKS,
    {&kOneBound, ACLNN_ERR_PARAM_INVALID},
    {&kPromote, ACLNN_ERR_PARAM_INVALID},
    {&kOutShape, ACLNN_ERR_PARAM_INVALID},
    {&kOutDtype, ACLNN_ERR_PARAM_INVALID},
    {.rule = nullptr, .code = 0, .done = nothing_to_write},
};
constexpr Parameter kClampParameters[] = {{"self", Kind::In},
                                          {"clipValueMin", Kind::MaybeScalar},
                                          {"clipValueMax", Kind::MaybeScalar},
                                          {"out", Kind::Out}};
constexpr Page kClamp{.parameters = kClampParameters,
                      .checks = kClampChecks,
                      .lower = lower_elementwise,
                      .run = run_elementwise,
                      .small = small_elementwise,
                      .op = Op::Clamp,
                      .common = kReal & ~kBool};
constexpr Page bound(std::span<const Parameter> parameters, Op op) {
  return elementwise_page(parameters, {.op = op, .common = kReal & ~kBool});
}
constexpr Parameter kMin[] = {
    {"self", Kind::In}, {"clipValueMin", Kind::Scalar}, {"out", Kind::Out}};
constexpr Parameter kMax[] = {
    {"self", Kind::In}, {"clipValueMax", Kind::Scalar}, {"out", Kind::Out}};
constexpr Parameter kMinRef[] = {{"selfRef", Kind::Ref}, {"clipValueMin", Kind::Scalar}};
constexpr Parameter kMaxRef[] = {{"selfRef", Kind::Ref}, {"clipValueMax", Kind::Scalar}};
constexpr Parameter kMinTensor[] = {
    {"self", Kind::In}, {"clipValueMin", Kind::In}, {"out", Kind::Out}};
constexpr Parameter kMaxTensor[] = {
    {"self", Kind::In}, {"clipValueMax", Kind::In}, {"out", Kind::Out}};
constexpr Parameter kClampTensorParameters[] = {
    {"self", Kind::In}, {"clipValueMin", Kind::In}, {"clipValueMax", Kind::In}, {"out", Kind::Out}};
constexpr Page kClampMin = bound(kMin, Op::Maximum), kClampMax = bound(kMax, Op::Minimum);
constexpr Page kInplaceClampMin = bound(kMinRef, Op::Maximum);
constexpr Page kInplaceClampMax = bound(kMaxRef, Op::Minimum);
constexpr Page kClampMinTensor = bound(kMinTensor, Op::Maximum);
constexpr Page kClampMaxTensor = bound(kMaxTensor, Op::Minimum);
constexpr Page kClampTensor = bound(kClampTensorParameters, Op::Clamp);

}  // namespace
}  // namespace pyaclnn::tensors

PYACLNN_TENSOR_OPERATOR(aclnnSWhere, kWhere,
                        (const aclTensor *condition, const aclTensor *self, const aclTensor *other,
                         aclTensor *out),
                        condition, self, other, out);
PYACLNN_TENSOR_OPERATOR(aclnnInplaceMaskedFillScalar, kMaskedFillScalar,
                        (const aclTensor *selfRef, const aclTensor *mask, const aclScalar *value),
                        selfRef, mask, value);
PYACLNN_TENSOR_OPERATOR(aclnnInplaceMaskedFillTensor, kMaskedFillTensor,
                        (const aclTensor *selfRef, const aclTensor *mask, const aclTensor *value),
                        selfRef, mask, value);
PYACLNN_TENSOR_OPERATOR(aclnnClamp, kClamp,
                        (const aclTensor *self, const aclScalar *clipValueMin,
                         const aclScalar *clipValueMax, aclTensor *out),
                        self, clipValueMin, clipValueMax, out);
PYACLNN_TENSOR_OPERATOR(aclnnClampMin, kClampMin,
                        (const aclTensor *self, const aclScalar *clipValueMin, aclTensor *out),
                        self, clipValueMin, out);
PYACLNN_TENSOR_OPERATOR(aclnnClampMax, kClampMax,
                        (const aclTensor *self, const aclScalar *clipValueMax, aclTensor *out),
                        self, clipValueMax, out);
PYACLNN_TENSOR_OPERATOR(aclnnInplaceClampMin, kInplaceClampMin,
                        (const aclTensor *selfRef, const aclScalar *clipValueMin), selfRef,
                        clipValueMin);
PYACLNN_TENSOR_OPERATOR(aclnnInplaceClampMax, kInplaceClampMax,
                        (const aclTensor *selfRef, const aclScalar *clipValueMax), selfRef,
                        clipValueMax);
PYACLNN_TENSOR_OPERATOR(aclnnClampMinTensor, kClampMinTensor,
                        (const aclTensor *self, const aclTensor *clipValueMin, aclTensor *out),
                        self, clipValueMin, out);
PYACLNN_TENSOR_OPERATOR(aclnnClampMaxTensor, kClampMaxTensor,
                        (const aclTensor *self, const aclTensor *clipValueMax, aclTensor *out),
                        self, clipValueMax, out);
PYACLNN_TENSOR_OPERATOR(aclnnClampTensor, kClampTensor,
                        (const aclTensor *self, const aclTensor *clipValueMin,
                         const aclTensor *clipValueMax, aclTensor *out),
                        self, clipValueMin, clipValueMax, out);
