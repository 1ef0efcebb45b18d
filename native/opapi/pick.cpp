// aclnnMaskedSelect, aclnnNonzero, V2: the task finds out how much there is, writes it densely, and
// gives the output's handle that shape, which the caller reads after synchronising.
#include "elementwise/pick.hpp"

#include <new>

#include "aclnnop/aclnn_masked_select.h"
#include "aclnnop/aclnn_nonzero.h"
#include "aclnnop/aclnn_nonzero_v2.h"
#include "nnopbase/names.hpp"
#include "opapi/tensor_operator.hpp"

namespace pyaclnn::tensors {
namespace {

using namespace elementwise;

struct PickPlan : TensorPlan {
  Source input, mask, output;
  const aclTensor *out = nullptr;
  int64_t room = 0;  // elements of the output
  int64_t rank = 0;
  bool by_axis = false;  // the indices of one dimension are contiguous
};

bool few(const void *plan) {
  return static_cast<const PickPlan *>(plan)->input.view.count() < 4096;
}

int32_t too_much(const PickPlan &p, int64_t found, Text &why) {
  why << p.function << ": out: " << p.room << " elements, must be at least " << found
      << " for these data";
  return kTaskFailed;
}

// The output must be dense, as its final shape is.
constexpr Rule kDense{"PICK-OUT-DENSE", "out",
                      [](const Call &c) {
                        const Tensor *t = c.output >= 0 ? c.tensors[c.output] : nullptr;
                        return t != nullptr && t->inside;  // else its strides may be any numbers
                      },
                      [](const Call &c) {
                        const Tensor &t = *c.tensors[c.output];
                        return t.rank > kMostDims || t.count == 0 || merged(view_of(t)).dense();
                      },
                      [](const Call &c, Saying &s) {
                        const Tensor &t = *c.tensors[c.output];
                        s.value << "strides " << std::span<const int64_t>{t.stride, t.rank};
                        s.limit << "must be contiguous";
                      }};

// ---- aclnnMaskedSelect

constexpr Parameter kSelectParameters[] = {
    {"self", Kind::In}, {"mask", Kind::In}, {"out", Kind::Out}};
bool both(const Call &c) { return c.tensors[0] != nullptr && c.tensors[1] != nullptr; }
constexpr Rule kMask{"SELECT-MASK", "mask", both,
                     [](const Call &c) {
                       return c.tensors[1]->dtype == ACL_BOOL || c.tensors[1]->dtype == ACL_UINT8;
                     },
                     [](const Call &c, Saying &s) {
                       s.value << dtype_name(c.tensors[1]->dtype);
                       s.limit << "must be BOOL or UINT8";
                     }};
constexpr Rule kSameDtype{"SELECT-DTYPE", "out",
                          [](const Call &c) { return both(c) && c.tensors[2] != nullptr; },
                          [](const Call &c) { return c.tensors[0]->dtype == c.tensors[2]->dtype; },
                          [](const Call &c, Saying &s) {
                            s.value << dtype_name(c.tensors[2]->dtype);
                            s.limit << "must be self's " << dtype_name(c.tensors[0]->dtype);
                          }};
constexpr Rule kLine{"SELECT-OUT-RANK", "out",
                     [](const Call &c) { return c.tensors[2] != nullptr; },
                     [](const Call &c) { return c.tensors[2]->rank == 1; },
                     [](const Call &c, Saying &s) {
                       s.value << "shape " << c.tensors[2]->shape();
                       s.limit << "must have 1 dimension";
                     }};
constexpr Check kSelectChecks[] = {
    PYACLNN_TENSOR_CHECKS,
    {&kMask, ACLNN_ERR_PARAM_INVALID},
    {&kSameDtype, ACLNN_ERR_PARAM_INVALID},
    {&kBroadcast, ACLNN_ERR_PARAM_INVALID},
    {&kLine, ACLNN_ERR_PARAM_INVALID},
    {&kDense, ACLNN_ERR_PARAM_INVALID},
};
PickPlan *make_plan(const Call &call, ExecutorBuilder &builder) {
  void *memory = builder.allocate(sizeof(PickPlan));
  if (memory == nullptr) return nullptr;
  auto *plan = new (memory) PickPlan;
  const Slots slots = bind(call, builder);
  name_slots(call, slots, *plan);
  const Tensor &out = *call.tensors[call.output];
  plan->out = static_cast<const aclTensor *>(call.words[call.output].pointer);
  plan->room = out.count;
  plan->output = source_of(call, call.output, out.shape(), slots);
  return plan;
}
const void *lower_select(const Call &call, ExecutorBuilder &builder) {
  PickPlan *plan = make_plan(call, builder);
  if (plan == nullptr) return nullptr;
  // Inputs come first.
  const Slots slots{.first = {0, 1, 2}};
  plan->input = source_of(call, 0, call.shape(), slots);
  plan->mask = source_of(call, 1, call.shape(), slots);
  return plan;
}
int32_t run_select(const void *plan, std::byte *const *addresses, std::byte *, Text &why) {
  const auto &p = *static_cast<const PickPlan *>(plan);
  if (!addressed(p, addresses, why)) return kTaskFailed;
  int64_t found = p.input.view.count() == 0 ? 0 : count_nonzero(p.mask, addresses);
  if (found > p.room) return too_much(p, found, why);
  if (found != 0) found = pick(p.input, p.mask, p.output, addresses, p.room);
  if (found < 0) return out_of_host_memory(p.function, why);
  set_view_shape(p.out, &found, 1);
  return 0;
}
constexpr Page kMaskedSelect{.parameters = kSelectParameters,
                             .checks = kSelectChecks,
                             .lower = lower_select,
                             .run = run_select,
                             .small = few,
                             .op = Op::Mul};  // two operands that broadcast

// ---- aclnnNonzero

// Room for every place, in the form of the version.
template <bool kByAxis>
constexpr Rule kRoom{
    "NONZERO-OUT-SHAPE", "out", both,
    [](const Call &c) {
      const Tensor &out = *c.tensors[1];
      return out.rank == 2 && out.dims[kByAxis ? 0 : 1] == c.tensors[0]->rank;
    },
    [](const Call &c, Saying &s) {
      s.value << "shape " << c.tensors[1]->shape();
      s.limit << "must be " << (kByAxis ? "(dimensions of self, n), " : "(n, dimensions of self), ")
              << "n the most elements that are not 0; self has " << c.tensors[0]->rank
              << " dimensions";
    }};
template <bool kByAxis>
constexpr Check kNonzeroChecks[] = {
    PYACLNN_TENSOR_CHECKS,
    {&kRoom<kByAxis>, ACLNN_ERR_PARAM_INVALID},
    {&kDense, ACLNN_ERR_PARAM_INVALID},
};
int32_t run_nonzero(const void *plan, std::byte *const *addresses, std::byte *, Text &why) {
  const auto &p = *static_cast<const PickPlan *>(plan);
  if (!addressed(p, addresses, why)) return kTaskFailed;
  const int64_t found = p.input.view.count() == 0 ? 0 : count_nonzero(p.input, addresses);
  if (found * p.rank > p.room) return too_much(p, found * p.rank, why);
  if (found != 0 && p.rank != 0 &&
      !places_of_nonzero(p.input, p.output, addresses, p.by_axis ? 1 : p.rank,
                         p.by_axis ? found : 1, found)) {
    return out_of_host_memory(p.function, why);
  }
  const int64_t dims[] = {p.by_axis ? p.rank : found, p.by_axis ? found : p.rank};
  set_view_shape(p.out, dims, 2);
  return 0;
}
template <bool kByAxis>
const void *lower_nonzero(const Call &call, ExecutorBuilder &builder) {
  PickPlan *plan = make_plan(call, builder);
  if (plan == nullptr) return nullptr;
  plan->input = source_of(call, 0, call.tensors[0]->shape(), Slots{});
  plan->rank = call.tensors[0]->rank;
  plan->by_axis = kByAxis;
  return plan;
}
template <bool kByAxis>
constexpr Page kNonzeroOf{.parameters = kSelfOut,
                          .checks = kNonzeroChecks<kByAxis>,
                          .lower = lower_nonzero<kByAxis>,
                          .run = run_nonzero,
                          .small = few,
                          .outputs = bit(Type::i64)};
constexpr const Page &kNonzero = kNonzeroOf<false>, &kNonzeroV2 = kNonzeroOf<true>;

}  // namespace
}  // namespace pyaclnn::tensors

PYACLNN_TENSOR_OPERATOR(aclnnMaskedSelect, kMaskedSelect,
                        (const aclTensor *self, const aclTensor *mask, aclTensor *out), self, mask,
                        out);
PYACLNN_SELF_OUT(aclnnNonzero, kNonzero);
PYACLNN_TENSOR_ENTRIES(aclnnNonzeroV2, g_aclnnNonzero, kNonzeroV2,
                       (const aclTensor *self, aclTensor *out), self, out);
