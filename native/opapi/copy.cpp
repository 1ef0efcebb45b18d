// aclnnInplaceCopy, aclnnCast, and what fills a tensor with one value.
#include "aclnnop/aclnn_cast.h"
#include "aclnnop/aclnn_copy.h"
#include "aclnnop/aclnn_fill_scalar.h"
#include "aclnnop/aclnn_fill_tensor.h"
#include "aclnnop/aclnn_one.h"
#include "aclnnop/aclnn_zero.h"
#include "nnopbase/names.hpp"
#include "opapi/tensor_operator.hpp"

namespace pyaclnn::tensors {
namespace {

using namespace elementwise;

constexpr Parameter kCopyParameters[] = {{"selfRef", Kind::Ref}, {"src", Kind::In}};
constexpr Page kCopy = elementwise_page(kCopyParameters, {.any_cast = true, .order = {1, -1, -1}});

// ---- aclnnCast

constexpr Parameter kCastParameters[] = {
    {"self", Kind::In}, {"dtype", Kind::Dtype}, {"out", Kind::Out}};
constexpr Rule kCastDtype{
    "CAST-DTYPE", "dtype", [](const Call &c) { return c.tensors[2] != nullptr; },
    [](const Call &c) { return c.words[1].integer == static_cast<int64_t>(c.tensors[2]->dtype); },
    [](const Call &c, Saying &s) {
      s.value << dtype_name(static_cast<aclDataType>(c.words[1].integer));
      s.limit << "must be the dtype of out: " << dtype_name(c.tensors[2]->dtype);
    }};
constexpr Check kCastChecks[] = {
    PYACLNN_TENSOR_CHECKS,
    {&kCastDtype, ACLNN_ERR_PARAM_INVALID},
    {&kOutShape, ACLNN_ERR_PARAM_INVALID},
    {.rule = nullptr, .code = 0, .done = nothing_to_write},
};
constexpr Page kCast{.parameters = kCastParameters,
                     .checks = kCastChecks,
                     .lower = lower_elementwise,
                     .run = run_elementwise,
                     .small = small_elementwise};

// ---- one value

constexpr Parameter kFillScalarParameters[] = {{"selfRef", Kind::Ref}, {"value", Kind::Scalar}};
constexpr Page kFillScalar =
    elementwise_page(kFillScalarParameters, {.any_cast = true, .order = {1, -1, -1}});

constexpr Parameter kFillTensorParameters[] = {{"selfRef", Kind::Ref}, {"value", Kind::In}};
constexpr Rule kOneValue{
    "FILL-ONE-VALUE", "value", [](const Call &c) { return c.tensors[1] != nullptr; },
    [](const Call &c) { return c.tensors[1]->count == 1 && c.tensors[1]->rank <= 1; },
    [](const Call &c, Saying &s) {
      s.value << "shape " << c.tensors[1]->shape();
      s.limit << "must be one value: () or (1)";
    }};
constexpr Check kFillTensorChecks[] = {
    PYACLNN_TENSOR_CHECKS,
    {&kOneValue, ACLNN_ERR_PARAM_INVALID},
    {.rule = nullptr, .code = 0, .done = nothing_to_write},
};
constexpr Page kFillTensor{.parameters = kFillTensorParameters,
                           .checks = kFillTensorChecks,
                           .lower =
                               [](const Call &call, ExecutorBuilder &builder) {
                                 // (1) into a tensor of no dimensions would be one too many.
                                 Tensor value = *call.tensors[1];
                                 value.rank = 0;
                                 Call without = call;
                                 without.tensors[1] = &value;
                                 return lower_elementwise(without, builder);
                               },
                           .run = run_elementwise,
                           .small = small_elementwise,
                           .order = {1, -1, -1}};

constexpr Check kSelfRefChecks[] = {
    PYACLNN_TENSOR_CHECKS,
    {.rule = nullptr, .code = 0, .done = nothing_to_write},
};
template <int32_t kValue>
constexpr Page kFilled{
    .parameters = kSelfRef,
    .checks = kSelfRefChecks,
    .lower = [](const Call &call,
                ExecutorBuilder &builder) { return lower_value(call, builder, kValue); },
    .run = run_elementwise,
    .small = small_elementwise};
constexpr const Page &kZero = kFilled<0>, &kOne = kFilled<1>;

}  // namespace
}  // namespace pyaclnn::tensors

PYACLNN_TENSOR_OPERATOR(aclnnInplaceCopy, kCopy, (const aclTensor *selfRef, const aclTensor *src),
                        selfRef, src);
PYACLNN_TENSOR_OPERATOR(aclnnCast, kCast,
                        (const aclTensor *self, const aclDataType dtype, aclTensor *out), self,
                        dtype, out);
PYACLNN_TENSOR_OPERATOR(aclnnInplaceFillScalar, kFillScalar,
                        (const aclTensor *selfRef, const aclScalar *value), selfRef, value);
PYACLNN_TENSOR_OPERATOR(aclnnInplaceFillTensor, kFillTensor,
                        (const aclTensor *selfRef, const aclTensor *value), selfRef, value);
PYACLNN_SELF_REF(aclnnInplaceZero, kZero);
PYACLNN_SELF_REF(aclnnInplaceOne, kOne);
