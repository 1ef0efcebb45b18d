// aclnnCat and aclnnStack.
#include <new>

#include "aclnnop/aclnn_cat.h"
#include "aclnnop/aclnn_stack.h"
#include "nnopbase/names.hpp"
#include "opapi/tensor_operator.hpp"

namespace pyaclnn::tensors {
namespace {

using namespace elementwise;

enum : int { kTensorList, kDim, kJoined };
constexpr Parameter kParameters[] = {
    {"tensors", Kind::List}, {"dim", Kind::Integer}, {"out", Kind::Out}};

constexpr uint64_t kMostMembers = 512;

std::span<const aclTensor *const> members(const Call &c) {
  return c.lists[kTensorList] != nullptr ? c.lists[kTensorList]->elements()
                                         : std::span<const aclTensor *const>{};
}
const Tensor *member(const Call &c, size_t i) { return find_handle<Tensor>(members(c)[i]); }

// torch lets tensors of shape (0) join anything.
bool left_out(const Tensor &t) { return t.rank == 1 && t.dims[0] == 0; }

// The dimension of the output, counted from the front; -1: there is none. (An output without
// dimensions has none to join along.)
int64_t axis(const Call &c) {
  const int64_t rank = c.tensors[kJoined]->rank, dim = c.words[kDim].integer;
  if (dim < -rank || dim >= rank) return -1;
  return dim < 0 ? dim + rank : dim;
}

bool usable(const Call &c) {
  if (c.lists[kTensorList] == nullptr || c.tensors[kJoined] == nullptr) return false;
  for (size_t i = 0; i < members(c).size(); ++i) {
    if (member(c, i) == nullptr) return false;
  }
  return true;
}

constexpr Rule kMembers{
    "JOIN-MEMBERS", "tensors", usable,
    [](const Call &c) { return !members(c).empty() && members(c).size() <= kMostMembers; },
    [](const Call &c, Saying &s) {
      s.value << members(c).size() << " tensors";
      s.limit << "must be 1 .. " << kMostMembers;
    }};
constexpr Rule kDimRule{"JOIN-DIM", "dim", usable, [](const Call &c) { return axis(c) >= 0; },
                        [](const Call &c, Saying &s) {
                          const int64_t rank = c.tensors[kJoined]->rank;
                          s.value << c.words[kDim].integer;
                          if (rank == 0) {
                            s.limit << "out must have dimensions, has shape ()";
                            return;
                          }
                          s.limit << "must be " << -rank << " .. " << rank - 1
                                  << ", a dimension of out";
                        }};
constexpr Rule kKind{"JOIN-DTYPE", "tensors", usable,
                     [](const Call &c) {
                       for (size_t i = 0; i < members(c).size(); ++i) {
                         if (!holds_kind(type_of(*member(c, i)), type_of(*c.tensors[kJoined]))) {
                           return false;
                         }
                       }
                       return true;
                     },
                     [](const Call &c, Saying &s) {
                       size_t i = 0;
                       while (holds_kind(type_of(*member(c, i)), type_of(*c.tensors[kJoined]))) ++i;
                       s.value << "member " << i << ": " << dtype_name(member(c, i)->dtype);
                       s.limit << "must be of a kind that out's "
                               << dtype_name(c.tensors[kJoined]->dtype) << " can hold";
                     }};

// What a member may be: the first that is not, or -1.
template <bool kNew>
int64_t misfit(const Call &c) {
  const Tensor &out = *c.tensors[kJoined];
  const int64_t at = axis(c);
  int64_t sum = 0;
  for (size_t i = 0; i < members(c).size(); ++i) {
    const Tensor &t = *member(c, i);
    if (kNew) {
      bool same = t.rank + 1 == out.rank;
      for (uint32_t k = 0; same && k < t.rank; ++k) {
        same = t.dims[k] == out.dims[k < at ? k : k + 1];
      }
      if (!same) return static_cast<int64_t>(i);
      ++sum;
      continue;
    }
    if (left_out(t)) continue;
    bool same = t.rank == out.rank;
    for (uint32_t k = 0; same && k < t.rank; ++k) same = k == at || t.dims[k] == out.dims[k];
    if (!same) return static_cast<int64_t>(i);
    sum += t.dims[at];
  }
  return at >= 0 && sum == out.dims[at] ? -1 : static_cast<int64_t>(members(c).size());
}
template <bool kNew>
constexpr Rule kShapes{
    "JOIN-SHAPE", "tensors", [](const Call &c) { return usable(c) && axis(c) >= 0; },
    [](const Call &c) { return misfit<kNew>(c) < 0; },
    [](const Call &c, Saying &s) {
      const int64_t i = misfit<kNew>(c);
      const Tensor &out = *c.tensors[kJoined];
      if (i == static_cast<int64_t>(members(c).size())) {
        s.parameter = "out";
        s.value << "shape " << out.shape();
        s.limit << "dimension " << axis(c) << " must be the sum of those of the tensors";
        return;
      }
      s.value << "member " << i << ": shape " << member(c, static_cast<size_t>(i))->shape();
      s.limit << (kNew ? "must be the shape of out without dimension "
                       : "must be the shape of out but for dimension ")
              << axis(c) << ": " << out.shape();
    }};

template <bool kNew>
constexpr Check kChecks[] = {
    PYACLNN_TENSOR_CHECKS,
    {&kMembers, ACLNN_ERR_PARAM_INVALID},
    {&kDimRule, ACLNN_ERR_PARAM_INVALID},
    {&kKind, ACLNN_ERR_PARAM_INVALID},
    {&kShapes<kNew>, ACLNN_ERR_PARAM_INVALID},
    {.rule = nullptr, .code = 0, .done = nothing_to_write},
};

// A copy for each member that has elements.
struct JoinPlan : TensorPlan {
  std::span<const Problem> copies;
  float ns = 0;
};

template <bool kNew>
const void *lower_join(const Call &call, ExecutorBuilder &builder) {
  const size_t count = members(call).size();
  void *memory = builder.allocate(sizeof(JoinPlan));
  void *pieces = builder.allocate(count * sizeof(Problem));
  if (memory == nullptr || pieces == nullptr) return nullptr;
  auto *plan = new (memory) JoinPlan;
  auto *copies = static_cast<Problem *>(pieces);
  const Slots slots = bind(call, builder);
  const Tensor &out = *call.tensors[kJoined];
  const auto at = static_cast<uint32_t>(axis(call));
  plan->function = call.function;
  int64_t offset = 0;
  size_t used = 0;
  for (size_t i = 0; i < count; ++i) {
    const Tensor &t = *member(call, i);
    if (!kNew && left_out(t)) continue;
    const int64_t begin = offset, extent = kNew ? 1 : t.dims[at];
    offset += extent;
    if (t.count == 0) continue;
    Problem &copy = *new (copies + used++) Problem;
    // The part of the output that the member fills, in the member's own dimensions and one of 1.
    int64_t dims[kMostDims];
    View read{.rank = out.rank};
    for (uint32_t k = 0; k < out.rank; ++k) {
      dims[k] = k == at ? extent : out.dims[k];
      read.dims[k] = dims[k];
      if (kNew && k == at) continue;
      read.strides[k] = t.stride[kNew && k > at ? k - 1 : k];
    }
    copy.inputs[0] = {.slot = static_cast<uint16_t>(slots.first[kTensorList] + i),
                      .type = type_of(t),
                      .view = read};
    copy.output = source_of(call, kJoined, out.shape(), slots);
    copy.output.view.dims[at] = extent;
    copy.output.first = begin * out.stride[at];
    settle(copy);
    plan->ns += estimated_ns(copy);
  }
  plan->copies = {copies, used};
  return plan;
}

int32_t run_join(const void *plan, std::byte *const *addresses, std::byte *, Text &why) {
  const auto &p = *static_cast<const JoinPlan *>(plan);
  for (const Problem &copy : p.copies) {
    for (uint16_t slot : {copy.inputs[0].slot, copy.output.slot}) {
      if (addresses[slot] != nullptr) continue;
      why << p.function << ": " << (slot == copy.output.slot ? "out" : "tensors")
          << ": the data address is NULL, must be device memory";
      return kTaskFailed;
    }
    if (!run(copy, addresses)) return out_of_host_memory(p.function, why);
  }
  return 0;
}
bool small_join(const void *plan) { return static_cast<const JoinPlan *>(plan)->ns < kSmallNs; }

template <bool kNew>
constexpr Page kJoin{.parameters = kParameters,
                     .checks = kChecks<kNew>,
                     .lower = lower_join<kNew>,
                     .run = run_join,
                     .small = small_join};
constexpr const Page &kCat = kJoin<false>, &kStack = kJoin<true>;

}  // namespace
}  // namespace pyaclnn::tensors

PYACLNN_TENSOR_OPERATOR(aclnnCat, kCat, (const aclTensorList *tensors, int64_t dim, aclTensor *out),
                        tensors, dim, out);
PYACLNN_TENSOR_OPERATOR(aclnnStack, kStack,
                        (const aclTensorList *tensors, int64_t dim, aclTensor *out), tensors, dim,
                        out);
