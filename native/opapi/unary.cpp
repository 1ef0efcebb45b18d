// Functions of one tensor.
#include "aclnnop/aclnn_abs.h"
#include "aclnnop/aclnn_ceil.h"
#include "aclnnop/aclnn_cos.h"
#include "aclnnop/aclnn_erf.h"
#include "aclnnop/aclnn_exp.h"
#include "aclnnop/aclnn_exp2.h"
#include "aclnnop/aclnn_expm1.h"
#include "aclnnop/aclnn_floor.h"
#include "aclnnop/aclnn_isfinite.h"
#include "aclnnop/aclnn_isinf.h"
#include "aclnnop/aclnn_log.h"
#include "aclnnop/aclnn_log10.h"
#include "aclnnop/aclnn_log1p.h"
#include "aclnnop/aclnn_log2.h"
#include "aclnnop/aclnn_neg.h"
#include "aclnnop/aclnn_reciprocal.h"
#include "aclnnop/aclnn_relu.h"
#include "aclnnop/aclnn_round.h"
#include "aclnnop/aclnn_rsqrt.h"
#include "aclnnop/aclnn_sigmoid.h"
#include "aclnnop/aclnn_sign.h"
#include "aclnnop/aclnn_silu.h"
#include "aclnnop/aclnn_sin.h"
#include "aclnnop/aclnn_sqrt.h"
#include "aclnnop/aclnn_tan.h"
#include "aclnnop/aclnn_tanh.h"
#include "aclnnop/aclnn_trunc.h"
#include "opapi/tensor_operator.hpp"

namespace pyaclnn::tensors {
namespace {

using namespace elementwise;

constexpr Types kRealNumbers = kReal & ~kBool;
constexpr Types kFractions = kFloats | kComplex;

constexpr Page kAbs = elementwise_page(kSelfOut, {.op = Op::Abs, .common = kAll & ~kComplex});
constexpr Page kNeg = elementwise_page(kSelfOut, {.op = Op::Neg, .common = kAll & ~kBool});
constexpr Page kInplaceNeg = elementwise_page(kSelfRef, {.op = Op::Neg, .common = kAll & ~kBool});
constexpr Page kCeil = elementwise_page(kSelfOut, {.op = Op::Ceil, .common = kRealNumbers});
constexpr Page kInplaceCeil = elementwise_page(kSelfRef, {.op = Op::Ceil, .common = kRealNumbers});
constexpr Page kFloor = elementwise_page(kSelfOut, {.op = Op::Floor, .common = kRealNumbers});
constexpr Page kInplaceFloor =
    elementwise_page(kSelfRef, {.op = Op::Floor, .common = kRealNumbers});
constexpr Page kTrunc = elementwise_page(kSelfOut, {.op = Op::Trunc, .common = kRealNumbers});
constexpr Page kInplaceTrunc =
    elementwise_page(kSelfRef, {.op = Op::Trunc, .common = kRealNumbers});
constexpr Page kRound = elementwise_page(kSelfOut, {.op = Op::Round, .common = kRealNumbers});
constexpr Page kInplaceRound =
    elementwise_page(kSelfRef, {.op = Op::Round, .common = kRealNumbers});
constexpr Page kSqrt =
    elementwise_page(kSelfOut, {.op = Op::Sqrt, .common = kFractions, .floats = true});
constexpr Page kInplaceSqrt =
    elementwise_page(kSelfRef, {.op = Op::Sqrt, .common = kFractions, .floats = true});
constexpr Page kRsqrt =
    elementwise_page(kSelfOut, {.op = Op::Rsqrt, .common = kFractions, .floats = true});
constexpr Page kInplaceRsqrt =
    elementwise_page(kSelfRef, {.op = Op::Rsqrt, .common = kFractions, .floats = true});
constexpr Page kReciprocal =
    elementwise_page(kSelfOut, {.op = Op::Reciprocal, .common = kFractions, .floats = true});
constexpr Page kInplaceReciprocal =
    elementwise_page(kSelfRef, {.op = Op::Reciprocal, .common = kFractions, .floats = true});
constexpr Page kExp =
    elementwise_page(kSelfOut, {.op = Op::Exp, .common = kFractions, .floats = true});
constexpr Page kInplaceExp =
    elementwise_page(kSelfRef, {.op = Op::Exp, .common = kFractions, .floats = true});
constexpr Page kExp2 =
    elementwise_page(kSelfOut, {.op = Op::Exp2, .common = kFloats, .floats = true});
constexpr Page kInplaceExp2 =
    elementwise_page(kSelfRef, {.op = Op::Exp2, .common = kFloats, .floats = true});
constexpr Page kExpm1 =
    elementwise_page(kSelfOut, {.op = Op::Expm1, .common = kFloats, .floats = true});
constexpr Page kInplaceExpm1 =
    elementwise_page(kSelfRef, {.op = Op::Expm1, .common = kFloats, .floats = true});
constexpr Page kLog =
    elementwise_page(kSelfOut, {.op = Op::Log, .common = kFractions, .floats = true});
constexpr Page kInplaceLog =
    elementwise_page(kSelfRef, {.op = Op::Log, .common = kFractions, .floats = true});
constexpr Page kLog2 =
    elementwise_page(kSelfOut, {.op = Op::Log2, .common = kFloats, .floats = true});
constexpr Page kInplaceLog2 =
    elementwise_page(kSelfRef, {.op = Op::Log2, .common = kFloats, .floats = true});
constexpr Page kLog10 =
    elementwise_page(kSelfOut, {.op = Op::Log10, .common = kFloats, .floats = true});
constexpr Page kInplaceLog10 =
    elementwise_page(kSelfRef, {.op = Op::Log10, .common = kFloats, .floats = true});
constexpr Page kLog1p =
    elementwise_page(kSelfOut, {.op = Op::Log1p, .common = kFloats, .floats = true});
constexpr Page kInplaceLog1p =
    elementwise_page(kSelfRef, {.op = Op::Log1p, .common = kFloats, .floats = true});
constexpr Page kSin =
    elementwise_page(kSelfOut, {.op = Op::Sin, .common = kFractions, .floats = true});
constexpr Page kInplaceSin =
    elementwise_page(kSelfRef, {.op = Op::Sin, .common = kFractions, .floats = true});
constexpr Page kCos =
    elementwise_page(kSelfOut, {.op = Op::Cos, .common = kFractions, .floats = true});
constexpr Page kInplaceCos =
    elementwise_page(kSelfRef, {.op = Op::Cos, .common = kFractions, .floats = true});
constexpr Page kTan =
    elementwise_page(kSelfOut, {.op = Op::Tan, .common = kFloats, .floats = true});
constexpr Page kInplaceTan =
    elementwise_page(kSelfRef, {.op = Op::Tan, .common = kFloats, .floats = true});
constexpr Page kTanh =
    elementwise_page(kSelfOut, {.op = Op::Tanh, .common = kFloats, .floats = true});
constexpr Page kInplaceTanh =
    elementwise_page(kSelfRef, {.op = Op::Tanh, .common = kFloats, .floats = true});
constexpr Page kErf =
    elementwise_page(kSelfOut, {.op = Op::Erf, .common = kFloats, .floats = true});
constexpr Page kInplaceErf =
    elementwise_page(kSelfRef, {.op = Op::Erf, .common = kFloats, .floats = true});
constexpr Page kSigmoid =
    elementwise_page(kSelfOut, {.op = Op::Sigmoid, .common = kFloats, .floats = true});
constexpr Page kInplaceSigmoid =
    elementwise_page(kSelfRef, {.op = Op::Sigmoid, .common = kFloats, .floats = true});
constexpr Page kSilu =
    elementwise_page(kSelfOut, {.op = Op::Silu, .common = kFloats, .floats = true});
constexpr Page kRelu = elementwise_page(kSelfOut, {.op = Op::Relu, .common = kReal});
constexpr Page kInplaceRelu = elementwise_page(kSelfRef, {.op = Op::Relu, .common = kReal});
constexpr Page kIsFinite = elementwise_page(kSelfOut, {.op = Op::IsFinite});
constexpr Page kIsInf = elementwise_page(kSelfOut, {.op = Op::IsInf});
constexpr Parameter kSelfResult[] = {{"self", Kind::In}, {"result", Kind::Out}};
constexpr Page kSign = elementwise_page(kSelfResult, {.op = Op::Sign});

}  // namespace
}  // namespace pyaclnn::tensors

PYACLNN_SELF_OUT(aclnnAbs, kAbs);
PYACLNN_SELF_OUT(aclnnNeg, kNeg);
PYACLNN_SELF_REF(aclnnInplaceNeg, kInplaceNeg);
PYACLNN_SELF_OUT(aclnnCeil, kCeil);
PYACLNN_SELF_REF(aclnnInplaceCeil, kInplaceCeil);
PYACLNN_SELF_OUT(aclnnFloor, kFloor);
PYACLNN_SELF_REF(aclnnInplaceFloor, kInplaceFloor);
PYACLNN_SELF_OUT(aclnnTrunc, kTrunc);
PYACLNN_SELF_REF(aclnnInplaceTrunc, kInplaceTrunc);
PYACLNN_SELF_OUT(aclnnRound, kRound);
PYACLNN_SELF_REF(aclnnInplaceRound, kInplaceRound);
PYACLNN_SELF_OUT(aclnnSqrt, kSqrt);
PYACLNN_SELF_REF(aclnnInplaceSqrt, kInplaceSqrt);
PYACLNN_SELF_OUT(aclnnRsqrt, kRsqrt);
PYACLNN_SELF_REF(aclnnInplaceRsqrt, kInplaceRsqrt);
PYACLNN_SELF_OUT(aclnnReciprocal, kReciprocal);
PYACLNN_SELF_REF(aclnnInplaceReciprocal, kInplaceReciprocal);
PYACLNN_SELF_OUT(aclnnExp, kExp);
PYACLNN_SELF_REF(aclnnInplaceExp, kInplaceExp);
PYACLNN_SELF_OUT(aclnnExp2, kExp2);
PYACLNN_SELF_REF(aclnnInplaceExp2, kInplaceExp2);
PYACLNN_SELF_OUT(aclnnExpm1, kExpm1);
PYACLNN_SELF_REF(aclnnInplaceExpm1, kInplaceExpm1);
PYACLNN_SELF_OUT(aclnnLog, kLog);
PYACLNN_SELF_REF(aclnnInplaceLog, kInplaceLog);
PYACLNN_SELF_OUT(aclnnLog2, kLog2);
PYACLNN_SELF_REF(aclnnInplaceLog2, kInplaceLog2);
PYACLNN_SELF_OUT(aclnnLog10, kLog10);
PYACLNN_SELF_REF(aclnnInplaceLog10, kInplaceLog10);
PYACLNN_SELF_OUT(aclnnLog1p, kLog1p);
PYACLNN_SELF_REF(aclnnInplaceLog1p, kInplaceLog1p);
PYACLNN_SELF_OUT(aclnnSin, kSin);
PYACLNN_SELF_REF(aclnnInplaceSin, kInplaceSin);
PYACLNN_SELF_OUT(aclnnCos, kCos);
PYACLNN_SELF_REF(aclnnInplaceCos, kInplaceCos);
PYACLNN_SELF_OUT(aclnnTan, kTan);
PYACLNN_SELF_REF(aclnnInplaceTan, kInplaceTan);
PYACLNN_SELF_OUT(aclnnTanh, kTanh);
PYACLNN_SELF_REF(aclnnInplaceTanh, kInplaceTanh);
PYACLNN_SELF_OUT(aclnnErf, kErf);
PYACLNN_SELF_REF(aclnnInplaceErf, kInplaceErf);
PYACLNN_SELF_OUT(aclnnSigmoid, kSigmoid);
PYACLNN_SELF_REF(aclnnInplaceSigmoid, kInplaceSigmoid);
PYACLNN_SELF_OUT(aclnnSilu, kSilu);
PYACLNN_SELF_OUT(aclnnRelu, kRelu);
PYACLNN_SELF_REF(aclnnInplaceRelu, kInplaceRelu);
PYACLNN_SELF_OUT(aclnnIsFinite, kIsFinite);
PYACLNN_SELF_OUT(aclnnIsInf, kIsInf);
PYACLNN_TENSOR_OPERATOR(aclnnSign, kSign, (const aclTensor *self, aclTensor *result), self, result);
