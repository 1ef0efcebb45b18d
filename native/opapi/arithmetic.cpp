// Sums, products, quotients, powers; each with a tensor or a number on the right, and in place.
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_add_v3.h"
#include "aclnnop/aclnn_div.h"
#include "aclnnop/aclnn_floor_divide.h"
#include "aclnnop/aclnn_fmod_scalar.h"
#include "aclnnop/aclnn_fmod_tensor.h"
#include "aclnnop/aclnn_maximum.h"
#include "aclnnop/aclnn_minimum.h"
#include "aclnnop/aclnn_mul.h"
#include "aclnnop/aclnn_pow.h"
#include "aclnnop/aclnn_pow_tensor_tensor.h"
#include "aclnnop/aclnn_remainder.h"
#include "aclnnop/aclnn_rsub.h"
#include "aclnnop/aclnn_sub.h"
#include "opapi/tensor_operator.hpp"

namespace pyaclnn::tensors {
namespace {

using namespace elementwise;

constexpr Types kNumbers = kAll & ~kBool;
constexpr Types kRealNumbers = kReal & ~kBool;
constexpr Types kFractions = kFloats | kComplex;

// alpha beside the parameters of both sides.
constexpr Parameter kScaledTensor[] = {
    {"self", Kind::In}, {"other", Kind::In}, {"alpha", Kind::Factor}, {"out", Kind::Out}};
constexpr Parameter kScaledScalar[] = {
    {"self", Kind::In}, {"other", Kind::Scalar}, {"alpha", Kind::Factor}, {"out", Kind::Out}};
constexpr Parameter kScaledNumber[] = {
    {"self", Kind::Scalar}, {"other", Kind::In}, {"alpha", Kind::Factor}, {"out", Kind::Out}};
constexpr Parameter kScaledTensorRef[] = {
    {"selfRef", Kind::Ref}, {"other", Kind::In}, {"alpha", Kind::Factor}};
constexpr Parameter kScaledScalarRef[] = {
    {"selfRef", Kind::Ref}, {"other", Kind::Scalar}, {"alpha", Kind::Factor}};
constexpr Parameter kTensorExponent[] = {
    {"self", Kind::In}, {"exponent", Kind::In}, {"out", Kind::Out}};
constexpr Parameter kScalarExponent[] = {
    {"self", Kind::In}, {"exponent", Kind::Scalar}, {"out", Kind::Out}};
constexpr Parameter kTensorExponentRef[] = {{"selfRef", Kind::Ref}, {"exponent", Kind::In}};
constexpr Parameter kScalarExponentRef[] = {{"selfRef", Kind::Ref}, {"exponent", Kind::Scalar}};
constexpr Parameter kScalarBase[] = {
    {"self", Kind::Scalar}, {"exponent", Kind::In}, {"out", Kind::Out}};
constexpr Parameter kScalarTensor[] = {
    {"self", Kind::Scalar}, {"other", Kind::In}, {"out", Kind::Out}};

// A number is added as the tensor's dtype would hold it, but multiplies in full.
constexpr Page kAddOf{.op = Op::Add, .exact_scalars = false};
constexpr Page kSubOf{.op = Op::Sub, .common = kNumbers, .exact_scalars = false};
constexpr Page kRsubOf{
    .op = Op::Sub, .common = kNumbers, .exact_scalars = false, .order = {1, 0, -1}};
constexpr Page kMulOf{.op = Op::Mul};
constexpr Page kDivOf{.op = Op::Div, .common = kFractions, .floats = true};
constexpr Page kFloorOf{.op = Op::DivFloor, .common = kRealNumbers};
constexpr Page kRemainderOf{.op = Op::Remainder, .common = kRealNumbers};
constexpr Page kFmodOf{.op = Op::Fmod, .common = kRealNumbers};
constexpr Page kPowOf{.op = Op::Pow, .common = kNumbers};

constexpr Page kAdd = elementwise_page(kScaledTensor, kAddOf);
constexpr Page kAdds = elementwise_page(kScaledScalar, kAddOf);
constexpr Page kAddV3 = elementwise_page(kScaledNumber, kAddOf);
constexpr Page kInplaceAdd = elementwise_page(kScaledTensorRef, kAddOf);
constexpr Page kInplaceAdds = elementwise_page(kScaledScalarRef, kAddOf);
constexpr Page kSub = elementwise_page(kScaledTensor, kSubOf);
constexpr Page kSubs = elementwise_page(kScaledScalar, kSubOf);
constexpr Page kInplaceSub = elementwise_page(kScaledTensorRef, kSubOf);
constexpr Page kInplaceSubs = elementwise_page(kScaledScalarRef, kSubOf);
constexpr Page kRsub = elementwise_page(kScaledTensor, kRsubOf);
constexpr Page kRsubs = elementwise_page(kScaledScalar, kRsubOf);
constexpr Page kMul = elementwise_page(kTensorTensorOut, kMulOf);
constexpr Page kMuls = elementwise_page(kTensorScalarOut, kMulOf);
constexpr Page kInplaceMul = elementwise_page(kRefTensor, kMulOf);
constexpr Page kInplaceMuls = elementwise_page(kRefScalar, kMulOf);
constexpr Page kDiv = elementwise_page(kTensorTensorOut, kDivOf);
constexpr Page kDivs = elementwise_page(kTensorScalarOut, kDivOf);
constexpr Page kInplaceDiv = elementwise_page(kRefTensor, kDivOf);
constexpr Page kInplaceDivs = elementwise_page(kRefScalar, kDivOf);
constexpr Page kFloorDivide = elementwise_page(kTensorTensorOut, kFloorOf);
constexpr Page kFloorDivides = elementwise_page(kTensorScalarOut, kFloorOf);
constexpr Page kInplaceFloorDivide = elementwise_page(kRefTensor, kFloorOf);
constexpr Page kInplaceFloorDivides = elementwise_page(kRefScalar, kFloorOf);
constexpr Page kRemainder = elementwise_page(kTensorTensorOut, kRemainderOf);
constexpr Page kRemainders = elementwise_page(kTensorScalarOut, kRemainderOf);
constexpr Page kRemainderOfScalar = elementwise_page(kScalarTensor, kRemainderOf);
constexpr Page kInplaceRemainder = elementwise_page(kRefTensor, kRemainderOf);
constexpr Page kInplaceRemainders = elementwise_page(kRefScalar, kRemainderOf);
constexpr Page kFmod = elementwise_page(kTensorTensorOut, kFmodOf);
constexpr Page kFmods = elementwise_page(kTensorScalarOut, kFmodOf);
constexpr Page kInplaceFmod = elementwise_page(kRefTensor, kFmodOf);
constexpr Page kInplaceFmods = elementwise_page(kRefScalar, kFmodOf);
constexpr Page kPow = elementwise_page(kTensorExponent, kPowOf);
constexpr Page kPows = elementwise_page(kScalarExponent, kPowOf);
constexpr Page kPowOfScalar = elementwise_page(kScalarBase, kPowOf);
constexpr Page kInplacePow = elementwise_page(kTensorExponentRef, kPowOf);
constexpr Page kInplacePows = elementwise_page(kScalarExponentRef, kPowOf);
constexpr Page kMaximum = elementwise_page(kTensorTensorOut, {.op = Op::Maximum, .common = kReal});
constexpr Page kMinimum = elementwise_page(kTensorTensorOut, {.op = Op::Minimum, .common = kReal});

}  // namespace
}  // namespace pyaclnn::tensors

#define PYACLNN_SCALED_TENSOR_OUT(function, page)                                              \
  PYACLNN_TENSOR_OPERATOR(                                                                     \
      function, page,                                                                          \
      (const aclTensor *self, const aclTensor *other, const aclScalar *alpha, aclTensor *out), \
      self, other, alpha, out)
#define PYACLNN_SCALED_SCALAR_OUT(function, page)                                              \
  PYACLNN_TENSOR_OPERATOR(                                                                     \
      function, page,                                                                          \
      (const aclTensor *self, const aclScalar *other, const aclScalar *alpha, aclTensor *out), \
      self, other, alpha, out)
#define PYACLNN_REF_SCALED_TENSOR(function, page)                                                 \
  PYACLNN_TENSOR_OPERATOR(                                                                        \
      function, page, (const aclTensor *selfRef, const aclTensor *other, const aclScalar *alpha), \
      selfRef, other, alpha)
#define PYACLNN_REF_SCALED_SCALAR(function, page)                                                 \
  PYACLNN_TENSOR_OPERATOR(                                                                        \
      function, page, (const aclTensor *selfRef, const aclScalar *other, const aclScalar *alpha), \
      selfRef, other, alpha)

PYACLNN_SCALED_TENSOR_OUT(aclnnAdd, kAdd);
PYACLNN_SCALED_SCALAR_OUT(aclnnAdds, kAdds);
PYACLNN_REF_SCALED_TENSOR(aclnnInplaceAdd, kInplaceAdd);
PYACLNN_REF_SCALED_SCALAR(aclnnInplaceAdds, kInplaceAdds);
PYACLNN_TENSOR_ENTRIES(aclnnAddV3, g_aclnnAdd, kAddV3,
                       (const aclScalar *self, const aclTensor *other, const aclScalar *alpha,
                        aclTensor *out),
                       self, other, alpha, out);
PYACLNN_SCALED_TENSOR_OUT(aclnnSub, kSub);
PYACLNN_SCALED_SCALAR_OUT(aclnnSubs, kSubs);
PYACLNN_REF_SCALED_TENSOR(aclnnInplaceSub, kInplaceSub);
PYACLNN_REF_SCALED_SCALAR(aclnnInplaceSubs, kInplaceSubs);
PYACLNN_SCALED_TENSOR_OUT(aclnnRsub, kRsub);
PYACLNN_SCALED_SCALAR_OUT(aclnnRsubs, kRsubs);
PYACLNN_TENSOR_TENSOR_OUT(aclnnMul, kMul);
PYACLNN_TENSOR_SCALAR_OUT(aclnnMuls, kMuls);
PYACLNN_REF_TENSOR(aclnnInplaceMul, kInplaceMul);
PYACLNN_REF_SCALAR(aclnnInplaceMuls, kInplaceMuls);
PYACLNN_TENSOR_TENSOR_OUT(aclnnDiv, kDiv);
PYACLNN_TENSOR_SCALAR_OUT(aclnnDivs, kDivs);
PYACLNN_REF_TENSOR(aclnnInplaceDiv, kInplaceDiv);
PYACLNN_REF_SCALAR(aclnnInplaceDivs, kInplaceDivs);
PYACLNN_TENSOR_TENSOR_OUT(aclnnFloorDivide, kFloorDivide);
PYACLNN_TENSOR_SCALAR_OUT(aclnnFloorDivides, kFloorDivides);
PYACLNN_REF_TENSOR(aclnnInplaceFloorDivide, kInplaceFloorDivide);
PYACLNN_REF_SCALAR(aclnnInplaceFloorDivides, kInplaceFloorDivides);
PYACLNN_TENSOR_TENSOR_OUT(aclnnRemainderTensorTensor, kRemainder);
PYACLNN_TENSOR_SCALAR_OUT(aclnnRemainderTensorScalar, kRemainders);
PYACLNN_TENSOR_OPERATOR(aclnnRemainderScalarTensor, kRemainderOfScalar,
                        (const aclScalar *self, const aclTensor *other, aclTensor *out), self,
                        other, out);
PYACLNN_REF_TENSOR(aclnnInplaceRemainderTensorTensor, kInplaceRemainder);
PYACLNN_REF_SCALAR(aclnnInplaceRemainderTensorScalar, kInplaceRemainders);
PYACLNN_TENSOR_TENSOR_OUT(aclnnFmodTensor, kFmod);
PYACLNN_TENSOR_SCALAR_OUT(aclnnFmodScalar, kFmods);
PYACLNN_REF_TENSOR(aclnnInplaceFmodTensor, kInplaceFmod);
PYACLNN_REF_SCALAR(aclnnInplaceFmodScalar, kInplaceFmods);
PYACLNN_TENSOR_OPERATOR(aclnnPowTensorTensor, kPow,
                        (const aclTensor *self, const aclTensor *exponent, aclTensor *out), self,
                        exponent, out);
PYACLNN_TENSOR_OPERATOR(aclnnPowTensorScalar, kPows,
                        (const aclTensor *self, const aclScalar *exponent, aclTensor *out), self,
                        exponent, out);
PYACLNN_TENSOR_OPERATOR(aclnnPowScalarTensor, kPowOfScalar,
                        (const aclScalar *self, const aclTensor *exponent, aclTensor *out), self,
                        exponent, out);
PYACLNN_TENSOR_OPERATOR(aclnnInplacePowTensorTensor, kInplacePow,
                        (const aclTensor *selfRef, const aclTensor *exponent), selfRef, exponent);
PYACLNN_TENSOR_OPERATOR(aclnnInplacePowTensorScalar, kInplacePows,
                        (const aclTensor *selfRef, const aclScalar *exponent), selfRef, exponent);
PYACLNN_TENSOR_TENSOR_OUT(aclnnMaximum, kMaximum);
PYACLNN_TENSOR_TENSOR_OUT(aclnnMinimum, kMinimum);
