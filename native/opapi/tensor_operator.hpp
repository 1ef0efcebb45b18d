// Both phases of tensor and scalar operators, from their page of data.
#pragma once

#include "opapi/tensor_rules.hpp"

namespace pyaclnn::tensors {

// 0, or the code of the first rule that fails; further codes as for attention.
aclnnStatus first_phase(const char *function, const Page &page, const Operator &op,
                        std::span<const Word> words, uint64_t *workspaceSize,
                        aclOpExecutor **executor) noexcept;

size_t rules_json(const char *name, const Page &page, char *buffer, size_t capacity);

// Binds the tensors of a call, inputs before outputs; the members of a list are consecutive.
struct Slots {
  uint16_t first[kMostParameters] = {};
};
Slots bind(const Call &call, ExecutorBuilder &builder);

// A plan and the names of what its slots hold, for texts. Plans derive from it.
struct TensorPlan {
  static constexpr int kNamed = 12;
  const char *function = nullptr;
  const char *names[kNamed] = {};
  int named = 0;  // slots that must have an address
};
// Fills it in; the slots of tensors without elements need no address.
void name_slots(const Call &call, const Slots &slots, TensorPlan &plan);
// False, with a text, when a slot that is needed has no address.
bool addressed(const TensorPlan &plan, std::byte *const *addresses, Text &why);
int32_t out_of_host_memory(const char *function, Text &why);

// The plan of an elementwise operator.
struct ElementwisePlan : TensorPlan {
  elementwise::Problem problem;
};
const void *lower_elementwise(const Call &call, ExecutorBuilder &builder);
int32_t run_elementwise(const void *plan, std::byte *const *addresses, std::byte *workspace,
                        Text &why);
bool small_elementwise(const void *plan);

// The same where one value fills the output.
const void *lower_value(const Call &call, ExecutorBuilder &builder, int32_t value);

// A tensor of the call as an operand.
elementwise::Source source_of(const Call &call, int parameter, std::span<const int64_t> shape,
                              const Slots &slots);

// A page of an elementwise operator.
constexpr Page elementwise_page(std::span<const Parameter> parameters, Page rest) {
  rest.parameters = parameters;
  rest.checks = kElementwiseChecks;
  rest.lower = lower_elementwise;
  rest.run = run_elementwise;
  rest.small = small_elementwise;
  return rest;
}

}  // namespace pyaclnn::tensors

#define PYACLNN_UNPACK(...) __VA_ARGS__

// An operator's registration.
#define PYACLNN_TENSOR_REGISTER(function, page)                                 \
  namespace pyaclnn::tensors {                                                  \
  namespace {                                                                   \
  Operator g_##function{.name = #function,                                      \
                        .run = page.run,                                        \
                        .small = page.small,                                    \
                        .rules_json = [](char *buffer, size_t capacity) {       \
                          return rules_json(#function, page, buffer, capacity); \
                        }};                                                     \
  RegisterOperator g_register_##function(&g_##function);                        \
  }                                                                             \
  }                                                                             \
  static_assert(true)

// Both entry points of a version of an operator: its name, the operator, the version's page, the
// parameters as the header declares them, and the same as arguments.
#define PYACLNN_TENSOR_ENTRIES(function, op, page, declared, ...)                                 \
  extern "C" aclnnStatus function##GetWorkspaceSize(                                              \
      PYACLNN_UNPACK declared, uint64_t *workspaceSize, aclOpExecutor **executor) {               \
    const pyaclnn::tensors::Word words[] = {__VA_ARGS__};                                         \
    return pyaclnn::tensors::first_phase(#function, pyaclnn::tensors::page, pyaclnn::tensors::op, \
                                         words, workspaceSize, executor);                         \
  }                                                                                               \
  extern "C" aclnnStatus function(void *workspace, uint64_t workspaceSize,                        \
                                  aclOpExecutor *executor, aclrtStream stream) {                  \
    return pyaclnn::second_phase(pyaclnn::tensors::op, #function, workspace, workspaceSize,       \
                                 executor, stream);                                               \
  }                                                                                               \
  static_assert(true)

#define PYACLNN_TENSOR_OPERATOR(function, page, declared, ...) \
  PYACLNN_TENSOR_REGISTER(function, page);                     \
  PYACLNN_TENSOR_ENTRIES(function, g_##function, page, declared, __VA_ARGS__)

// The usual signatures.
#define PYACLNN_SELF_OUT(function, page) \
  PYACLNN_TENSOR_OPERATOR(function, page, (const aclTensor *self, aclTensor *out), self, out)
#define PYACLNN_SELF_REF(function, page) \
  PYACLNN_TENSOR_OPERATOR(function, page, (const aclTensor *selfRef), selfRef)
#define PYACLNN_TENSOR_TENSOR_OUT(function, page)                                                \
  PYACLNN_TENSOR_OPERATOR(function, page,                                                        \
                          (const aclTensor *self, const aclTensor *other, aclTensor *out), self, \
                          other, out)
#define PYACLNN_TENSOR_SCALAR_OUT(function, page)                                                \
  PYACLNN_TENSOR_OPERATOR(function, page,                                                        \
                          (const aclTensor *self, const aclScalar *other, aclTensor *out), self, \
                          other, out)
#define PYACLNN_REF_TENSOR(function, page)                                                    \
  PYACLNN_TENSOR_OPERATOR(function, page, (const aclTensor *selfRef, const aclTensor *other), \
                          selfRef, other)
#define PYACLNN_REF_SCALAR(function, page)                                                    \
  PYACLNN_TENSOR_OPERATOR(function, page, (const aclTensor *selfRef, const aclScalar *other), \
                          selfRef, other)

namespace pyaclnn::tensors {

// The parameters of these.
inline constexpr Parameter kSelfOut[] = {{"self", Kind::In}, {"out", Kind::Out}};
inline constexpr Parameter kSelfRef[] = {{"selfRef", Kind::Ref}};
inline constexpr Parameter kTensorTensorOut[] = {
    {"self", Kind::In}, {"other", Kind::In}, {"out", Kind::Out}};
inline constexpr Parameter kTensorScalarOut[] = {
    {"self", Kind::In}, {"other", Kind::Scalar}, {"out", Kind::Out}};
inline constexpr Parameter kRefTensor[] = {{"selfRef", Kind::Ref}, {"other", Kind::In}};
inline constexpr Parameter kRefScalar[] = {{"selfRef", Kind::Ref}, {"other", Kind::Scalar}};

}  // namespace pyaclnn::tensors
