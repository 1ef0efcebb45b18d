// Comparisons, and the logic of truth values and of bits.
#include <cstdlib>
#include <cstring>
#include <algorithm>
#include <new>

#include "aclnnop/aclnn_bitwise_and_scalar.h"
#include "aclnnop/aclnn_bitwise_and_tensor.h"
#include "aclnnop/aclnn_bitwise_not.h"
#include "aclnnop/aclnn_bitwise_or_scalar.h"
#include "aclnnop/aclnn_bitwise_or_tensor.h"
#include "aclnnop/aclnn_bitwise_xor_scalar.h"
#include "aclnnop/aclnn_bitwise_xor_tensor.h"
#include "aclnnop/aclnn_equal.h"
#include "aclnnop/aclnn_eq_scalar.h"
#include "aclnnop/aclnn_eq_tensor.h"
#include "aclnnop/aclnn_ge_scalar.h"
#include "aclnnop/aclnn_ge_tensor.h"
#include "aclnnop/aclnn_gt_scalar.h"
#include "aclnnop/aclnn_gt_tensor.h"
#include "aclnnop/aclnn_isclose.h"
#include "aclnnop/aclnn_le_scalar.h"
#include "aclnnop/aclnn_le_tensor.h"
#include "aclnnop/aclnn_logical_and.h"
#include "aclnnop/aclnn_logical_not.h"
#include "aclnnop/aclnn_logical_or.h"
#include "aclnnop/aclnn_logical_xor.h"
#include "aclnnop/aclnn_lt_scalar.h"
#include "aclnnop/aclnn_lt_tensor.h"
#include "aclnnop/aclnn_ne_scalar.h"
#include "aclnnop/aclnn_ne_tensor.h"
#include "nnopbase/names.hpp"
#include "opapi/tensor_operator.hpp"

namespace pyaclnn::tensors {
namespace {

using namespace elementwise;

constexpr Types kBits = kIntegers | kBool;

// A number is compared as the tensor's dtype would hold it.
constexpr Page kEqOf{.op = Op::Eq, .common = kAll, .exact_scalars = false};
constexpr Page kNeOf{.op = Op::Ne, .common = kAll, .exact_scalars = false};
constexpr Page kGtOf{.op = Op::Gt, .common = kReal, .exact_scalars = false};
constexpr Page kGeOf{.op = Op::Ge, .common = kReal, .exact_scalars = false};
constexpr Page kLtOf{.op = Op::Lt, .common = kReal, .exact_scalars = false};
constexpr Page kLeOf{.op = Op::Le, .common = kReal, .exact_scalars = false};
constexpr Page kLogicalAndOf{.op = Op::LogicalAnd};
constexpr Page kLogicalOrOf{.op = Op::LogicalOr};
constexpr Page kLogicalXorOf{.op = Op::LogicalXor};
constexpr Page kBitwiseAndOf{.op = Op::BitwiseAnd, .common = kBits};
constexpr Page kBitwiseOrOf{.op = Op::BitwiseOr, .common = kBits};
constexpr Page kBitwiseXorOf{.op = Op::BitwiseXor, .common = kBits};

constexpr Page kEqTensor = elementwise_page(kTensorTensorOut, kEqOf);
constexpr Page kInplaceEqTensor = elementwise_page(kRefTensor, kEqOf);
constexpr Page kEqScalar = elementwise_page(kTensorScalarOut, kEqOf);
constexpr Page kInplaceEqScalar = elementwise_page(kRefScalar, kEqOf);
constexpr Page kNeTensor = elementwise_page(kTensorTensorOut, kNeOf);
constexpr Page kInplaceNeTensor = elementwise_page(kRefTensor, kNeOf);
constexpr Page kNeScalar = elementwise_page(kTensorScalarOut, kNeOf);
constexpr Page kInplaceNeScalar = elementwise_page(kRefScalar, kNeOf);
constexpr Page kGtTensor = elementwise_page(kTensorTensorOut, kGtOf);
constexpr Page kInplaceGtTensor = elementwise_page(kRefTensor, kGtOf);
constexpr Page kGtScalar = elementwise_page(kTensorScalarOut, kGtOf);
constexpr Page kInplaceGtScalar = elementwise_page(kRefScalar, kGtOf);
constexpr Page kGeTensor = elementwise_page(kTensorTensorOut, kGeOf);
constexpr Page kInplaceGeTensor = elementwise_page(kRefTensor, kGeOf);
constexpr Page kGeScalar = elementwise_page(kTensorScalarOut, kGeOf);
constexpr Page kInplaceGeScalar = elementwise_page(kRefScalar, kGeOf);
constexpr Page kLtTensor = elementwise_page(kTensorTensorOut, kLtOf);
constexpr Page kInplaceLtTensor = elementwise_page(kRefTensor, kLtOf);
constexpr Page kLtScalar = elementwise_page(kTensorScalarOut, kLtOf);
constexpr Page kInplaceLtScalar = elementwise_page(kRefScalar, kLtOf);
constexpr Page kLeTensor = elementwise_page(kTensorTensorOut, kLeOf);
constexpr Page kInplaceLeTensor = elementwise_page(kRefTensor, kLeOf);
constexpr Page kLeScalar = elementwise_page(kTensorScalarOut, kLeOf);
constexpr Page kInplaceLeScalar = elementwise_page(kRefScalar, kLeOf);
constexpr Page kLogicalAnd = elementwise_page(kTensorTensorOut, kLogicalAndOf);
constexpr Page kInplaceLogicalAnd = elementwise_page(kRefTensor, kLogicalAndOf);
constexpr Page kLogicalOr = elementwise_page(kTensorTensorOut, kLogicalOrOf);
constexpr Page kInplaceLogicalOr = elementwise_page(kRefTensor, kLogicalOrOf);
constexpr Page kLogicalXor = elementwise_page(kTensorTensorOut, kLogicalXorOf);
constexpr Page kLogicalNot = elementwise_page(kSelfOut, {.op = Op::LogicalNot});
constexpr Page kInplaceLogicalNot = elementwise_page(kSelfRef, {.op = Op::LogicalNot});
constexpr Page kBitwiseAndTensor = elementwise_page(kTensorTensorOut, kBitwiseAndOf);
constexpr Page kInplaceBitwiseAndTensor = elementwise_page(kRefTensor, kBitwiseAndOf);
constexpr Page kBitwiseAndScalar = elementwise_page(kTensorScalarOut, kBitwiseAndOf);
constexpr Page kInplaceBitwiseAndScalar = elementwise_page(kRefScalar, kBitwiseAndOf);
constexpr Page kBitwiseOrTensor = elementwise_page(kTensorTensorOut, kBitwiseOrOf);
constexpr Page kInplaceBitwiseOrTensor = elementwise_page(kRefTensor, kBitwiseOrOf);
constexpr Page kBitwiseOrScalar = elementwise_page(kTensorScalarOut, kBitwiseOrOf);
constexpr Page kInplaceBitwiseOrScalar = elementwise_page(kRefScalar, kBitwiseOrOf);
constexpr Page kBitwiseXorTensor = elementwise_page(kTensorTensorOut, kBitwiseXorOf);
constexpr Page kInplaceBitwiseXorTensor = elementwise_page(kRefTensor, kBitwiseXorOf);
constexpr Page kBitwiseXorScalar = elementwise_page(kTensorScalarOut, kBitwiseXorOf);
constexpr Page kInplaceBitwiseXorScalar = elementwise_page(kRefScalar, kBitwiseXorOf);
constexpr Page kBitwiseNot = elementwise_page(kSelfOut, {.op = Op::BitwiseNot, .common = kBits});

// ---- aclnnIsClose: equal but for tolerances

enum : int { kRelative = 2, kAbsolute, kEqualNan };
constexpr Parameter kCloseParameters[] = {{"self", Kind::In},           {"other", Kind::In},
                                          {"rtol", Kind::Real},         {"atol", Kind::Real},
                                          {"equal_nan", Kind::Integer}, {"out", Kind::Out}};
template <int kParameter>
constexpr Rule kTolerance{"CLOSE-TOLERANCE", kCloseParameters[kParameter].name, nullptr,
                          [](const Call &c) { return c.words[kParameter].real >= 0; },
                          [](const Call &c, Saying &s) {
                            s.value << c.words[kParameter].real;
                            s.limit << "must be at least 0";
                          }};
constexpr Check kCloseChecks[] = {
    PYACLNN_TENSOR_CHECKS,
    {&kPromote, ACLNN_ERR_PARAM_INVALID},
    {&kTolerance<kRelative>, ACLNN_ERR_PARAM_INVALID},
    {&kTolerance<kAbsolute>, ACLNN_ERR_PARAM_INVALID},
    {&kBroadcast, ACLNN_ERR_PARAM_INVALID},
    {&kOutShape, ACLNN_ERR_PARAM_INVALID},
    {&kOutDtype, ACLNN_ERR_PARAM_INVALID},
    {.rule = nullptr, .code = 0, .done = nothing_to_write},
};
const void *lower_close(const Call &call, ExecutorBuilder &builder) {
  void *memory = const_cast<void *>(lower_elementwise(call, builder));
  if (memory == nullptr) return nullptr;
  Problem &p = static_cast<ElementwisePlan *>(memory)->problem;
  const double bounds[] = {call.words[kRelative].real, call.words[kAbsolute].real};
  static_assert(sizeof bounds == sizeof p.factor);
  std::memcpy(p.factor, bounds, sizeof bounds);
  p.scaled = true;
  if (call.words[kEqualNan].integer != 0) p.op = Op::CloseNan;
  return memory;
}
constexpr Page kIsClose{.parameters = kCloseParameters,
                        .checks = kCloseChecks,
                        .lower = lower_close,
                        .run = run_elementwise,
                        .small = small_elementwise,
                        .op = Op::Close,
                        .common = kReal};

// ---- aclnnEqual: whether two tensors are the same

constexpr Rule kVerdict{
    "EQUAL-OUT", "out", [](const Call &c) { return c.tensors[2] != nullptr; },
    [](const Call &c) { return c.tensors[2]->count == 1 && c.tensors[2]->dtype == ACL_BOOL; },
    [](const Call &c, Saying &s) {
      s.value << dtype_name(c.tensors[2]->dtype) << ' ' << c.tensors[2]->shape();
      s.limit << "must be one BOOL";
    }};
constexpr Check kEqualChecks[] = {
    PYACLNN_TENSOR_CHECKS,
    {&kPromote, ACLNN_ERR_PARAM_INVALID},
    {&kVerdict, ACLNN_ERR_PARAM_INVALID},
};

struct EqualPlan : TensorPlan {
  bool shapes_differ = false;
  Problem problem;  // into slot 3, a byte for each element
};
const void *lower_equal(const Call &call, ExecutorBuilder &builder) {
  void *memory = builder.allocate(sizeof(EqualPlan));
  if (memory == nullptr) return nullptr;
  auto *plan = new (memory) EqualPlan;
  const Slots slots = bind(call, builder);
  name_slots(call, slots, *plan);
  const auto shape = call.tensors[0]->shape(), other = call.tensors[1]->shape();
  plan->shapes_differ = !std::equal(shape.begin(), shape.end(), other.begin(), other.end());
  if (plan->shapes_differ) return plan;
  Problem &p = plan->problem;
  p.op = Op::Eq;
  p.common = call.common;
  for (int i : {0, 1}) p.inputs[i] = source_of(call, i, shape, slots);
  p.output = {.slot = 3, .type = Type::b8, .view = p.inputs[0].view};
  int64_t step = 1;
  for (uint32_t i = p.output.view.rank; i-- > 0; step *= shape[i]) p.output.view.strides[i] = step;
  settle(p);
  return plan;
}
int32_t run_equal(const void *plan, std::byte *const *addresses, std::byte *, Text &why) {
  const auto &p = *static_cast<const EqualPlan *>(plan);
  if (!addressed(p, addresses, why)) return kTaskFailed;
  bool same = !p.shapes_differ;
  if (same && p.problem.count != 0) {
    void *answers = std::malloc(static_cast<size_t>(p.problem.count));
    std::byte *places[] = {addresses[0], addresses[1], nullptr, static_cast<std::byte *>(answers)};
    const bool ran = answers != nullptr && run(p.problem, places);
    if (ran) same = std::memchr(answers, 0, static_cast<size_t>(p.problem.count)) == nullptr;
    std::free(answers);
    if (!ran) return out_of_host_memory(p.function, why);
  }
  *addresses[2] = static_cast<std::byte>(same);
  return 0;
}
bool small_equal(const void *plan) {
  return estimated_ns(static_cast<const EqualPlan *>(plan)->problem) < kSmallNs;
}
constexpr Page kEqual{.parameters = kTensorTensorOut,
                      .checks = kEqualChecks,
                      .lower = lower_equal,
                      .run = run_equal,
                      .small = small_equal,
                      .op = Op::Eq};

}  // namespace
}  // namespace pyaclnn::tensors

PYACLNN_TENSOR_TENSOR_OUT(aclnnEqTensor, kEqTensor);
PYACLNN_REF_TENSOR(aclnnInplaceEqTensor, kInplaceEqTensor);
PYACLNN_TENSOR_SCALAR_OUT(aclnnEqScalar, kEqScalar);
PYACLNN_REF_SCALAR(aclnnInplaceEqScalar, kInplaceEqScalar);
PYACLNN_TENSOR_TENSOR_OUT(aclnnNeTensor, kNeTensor);
PYACLNN_REF_TENSOR(aclnnInplaceNeTensor, kInplaceNeTensor);
PYACLNN_TENSOR_SCALAR_OUT(aclnnNeScalar, kNeScalar);
PYACLNN_REF_SCALAR(aclnnInplaceNeScalar, kInplaceNeScalar);
PYACLNN_TENSOR_TENSOR_OUT(aclnnGtTensor, kGtTensor);
PYACLNN_REF_TENSOR(aclnnInplaceGtTensor, kInplaceGtTensor);
PYACLNN_TENSOR_SCALAR_OUT(aclnnGtScalar, kGtScalar);
PYACLNN_REF_SCALAR(aclnnInplaceGtScalar, kInplaceGtScalar);
PYACLNN_TENSOR_TENSOR_OUT(aclnnGeTensor, kGeTensor);
PYACLNN_REF_TENSOR(aclnnInplaceGeTensor, kInplaceGeTensor);
PYACLNN_TENSOR_SCALAR_OUT(aclnnGeScalar, kGeScalar);
PYACLNN_REF_SCALAR(aclnnInplaceGeScalar, kInplaceGeScalar);
PYACLNN_TENSOR_TENSOR_OUT(aclnnLtTensor, kLtTensor);
PYACLNN_REF_TENSOR(aclnnInplaceLtTensor, kInplaceLtTensor);
PYACLNN_TENSOR_SCALAR_OUT(aclnnLtScalar, kLtScalar);
PYACLNN_REF_SCALAR(aclnnInplaceLtScalar, kInplaceLtScalar);
PYACLNN_TENSOR_TENSOR_OUT(aclnnLeTensor, kLeTensor);
PYACLNN_REF_TENSOR(aclnnInplaceLeTensor, kInplaceLeTensor);
PYACLNN_TENSOR_SCALAR_OUT(aclnnLeScalar, kLeScalar);
PYACLNN_REF_SCALAR(aclnnInplaceLeScalar, kInplaceLeScalar);
PYACLNN_TENSOR_TENSOR_OUT(aclnnLogicalAnd, kLogicalAnd);
PYACLNN_REF_TENSOR(aclnnInplaceLogicalAnd, kInplaceLogicalAnd);
PYACLNN_TENSOR_TENSOR_OUT(aclnnLogicalOr, kLogicalOr);
PYACLNN_REF_TENSOR(aclnnInplaceLogicalOr, kInplaceLogicalOr);
PYACLNN_TENSOR_TENSOR_OUT(aclnnLogicalXor, kLogicalXor);
PYACLNN_SELF_OUT(aclnnLogicalNot, kLogicalNot);
PYACLNN_SELF_REF(aclnnInplaceLogicalNot, kInplaceLogicalNot);
PYACLNN_TENSOR_TENSOR_OUT(aclnnBitwiseAndTensor, kBitwiseAndTensor);
PYACLNN_REF_TENSOR(aclnnInplaceBitwiseAndTensor, kInplaceBitwiseAndTensor);
PYACLNN_TENSOR_SCALAR_OUT(aclnnBitwiseAndScalar, kBitwiseAndScalar);
PYACLNN_REF_SCALAR(aclnnInplaceBitwiseAndScalar, kInplaceBitwiseAndScalar);
PYACLNN_TENSOR_TENSOR_OUT(aclnnBitwiseOrTensor, kBitwiseOrTensor);
PYACLNN_REF_TENSOR(aclnnInplaceBitwiseOrTensor, kInplaceBitwiseOrTensor);
PYACLNN_TENSOR_SCALAR_OUT(aclnnBitwiseOrScalar, kBitwiseOrScalar);
PYACLNN_REF_SCALAR(aclnnInplaceBitwiseOrScalar, kInplaceBitwiseOrScalar);
PYACLNN_TENSOR_TENSOR_OUT(aclnnBitwiseXorTensor, kBitwiseXorTensor);
PYACLNN_REF_TENSOR(aclnnInplaceBitwiseXorTensor, kInplaceBitwiseXorTensor);
PYACLNN_TENSOR_SCALAR_OUT(aclnnBitwiseXorScalar, kBitwiseXorScalar);
PYACLNN_REF_SCALAR(aclnnInplaceBitwiseXorScalar, kInplaceBitwiseXorScalar);
PYACLNN_SELF_OUT(aclnnBitwiseNot, kBitwiseNot);
PYACLNN_TENSOR_TENSOR_OUT(aclnnEqual, kEqual);
PYACLNN_TENSOR_OPERATOR(aclnnIsClose, kIsClose,
                        (const aclTensor *self, const aclTensor *other, double rtol, double atol,
                         bool equal_nan, aclTensor *out),
                        self, other, rtol, atol, equal_nan, out);
