// Elements in other places: slices by index, repetitions, reversals.
#include <algorithm>
#include <new>

#include "aclnnop/aclnn_flip.h"
#include "aclnnop/aclnn_gather_v2.h"
#include "aclnnop/aclnn_index.h"
#include "aclnnop/aclnn_index_select.h"
#include "aclnnop/aclnn_repeat.h"
#include "elementwise/take.hpp"
#include "nnopbase/names.hpp"
#include "opapi/tensor_operator.hpp"

namespace pyaclnn::tensors {
namespace {

using namespace elementwise;

bool equal(std::span<const int64_t> a, std::span<const int64_t> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

template <int kOut>
constexpr Rule kSame{
    "MOVE-DTYPE", "out",
    [](const Call &c) { return c.tensors[0] != nullptr && c.tensors[kOut] != nullptr; },
    [](const Call &c) { return c.tensors[0]->dtype == c.tensors[kOut]->dtype; },
    [](const Call &c, Saying &s) {
      s.value << dtype_name(c.tensors[kOut]->dtype);
      s.limit << "must be self's " << dtype_name(c.tensors[0]->dtype);
    }};

// ---- aclnnIndexSelect, aclnnGatherV2

enum : int { kSelf, kDim, kIndex, kOut };
constexpr Parameter kTakeParameters[] = {
    {"self", Kind::In}, {"dim", Kind::Integer}, {"index", Kind::In}, {"out", Kind::Out}};

bool usable(const Call &c) {
  return c.tensors[kSelf] != nullptr && c.tensors[kIndex] != nullptr &&
         c.tensors[kOut] != nullptr && c.tensors[kSelf]->rank <= kMostDims &&
         c.tensors[kIndex]->rank <= kMostDims && c.tensors[kOut]->rank <= kMostDims;
}
// -1: there is none.
int64_t axis(const Call &c) {
  const int64_t rank = std::max<int64_t>(c.tensors[kSelf]->rank, 1), dim = c.words[kDim].integer;
  if (dim < -rank || dim >= rank) return -1;
  return dim < 0 ? dim + rank : dim;
}
bool with_axis(const Call &c) { return usable(c) && axis(c) >= 0; }

constexpr Rule kIndexDtype{"INDEX-DTYPE", "index", usable,
                           [](const Call &c) {
                             const aclDataType dtype = c.tensors[kIndex]->dtype;
                             return dtype == ACL_INT32 || dtype == ACL_INT64;
                           },
                           [](const Call &c, Saying &s) {
                             s.value << dtype_name(c.tensors[kIndex]->dtype);
                             s.limit << "must be INT32 or INT64";
                           }};
constexpr Rule kIndexDim{"INDEX-DIM", "dim", usable, [](const Call &c) { return axis(c) >= 0; },
                         [](const Call &c, Saying &s) {
                           const int64_t rank = std::max<int64_t>(c.tensors[kSelf]->rank, 1);
                           s.value << c.words[kDim].integer;
                           s.limit << "must be " << -rank << " .. " << rank - 1
                                   << ", a dimension of self";
                         }};
constexpr Rule kIndexRank{
    "INDEX-RANK", "index", usable,
    [](const Call &c) {
      const Tensor &index = *c.tensors[kIndex];
      return index.rank <= 1 && (c.tensors[kSelf]->rank != 0 || index.count == 1);
    },
    [](const Call &c, Saying &s) {
      s.value << "shape " << c.tensors[kIndex]->shape();
      s.limit << (c.tensors[kSelf]->rank != 0 ? "must have 1 dimension, or none"
                                              : "must be one element, as self has no dimensions");
    }};
// The shape of self with that of the index in the place of the dimension. Selecting keeps one
// dimension there, whatever the index has.
template <bool kKeeps>
uint32_t taken_shape(const Call &c, int64_t *dims) {
  const Tensor &self = *c.tensors[kSelf], &index = *c.tensors[kIndex];
  uint32_t rank = 0;
  const uint32_t whole = std::max(self.rank, 1u);
  for (uint32_t i = 0; i < whole; ++i) {
    if (i != axis(c)) {
      dims[rank++] = self.dims[i];
    } else if (kKeeps) {
      if (self.rank != 0) dims[rank++] = index.count;
    } else {
      for (int64_t dim : index.shape()) dims[rank++] = dim;
    }
  }
  return rank;
}
template <bool kKeeps>
constexpr Rule kTakenShape{
    "INDEX-OUT-SHAPE", "out", with_axis,
    [](const Call &c) {
      int64_t dims[2 * kMostDims];
      return equal(c.tensors[kOut]->shape(), {dims, taken_shape<kKeeps>(c, dims)});
    },
    [](const Call &c, Saying &s) {
      int64_t dims[2 * kMostDims];
      s.value << "shape " << c.tensors[kOut]->shape();
      s.limit << "must be " << std::span<const int64_t>(dims, taken_shape<kKeeps>(c, dims));
    }};
constexpr Check kSelectChecks[] = {
    PYACLNN_TENSOR_CHECKS,
    {&kIndexDtype, ACLNN_ERR_PARAM_INVALID},
    {&kIndexDim, ACLNN_ERR_PARAM_INVALID},
    {&kIndexRank, ACLNN_ERR_PARAM_INVALID},
    {&kTakenShape<true>, ACLNN_ERR_PARAM_INVALID},
    {&kSame<kOut>, ACLNN_ERR_PARAM_INVALID},
    {.rule = nullptr, .code = 0, .done = nothing_to_write},
};
constexpr Check kGatherChecks[] = {
    PYACLNN_TENSOR_CHECKS,
    {&kIndexDtype, ACLNN_ERR_PARAM_INVALID},
    {&kIndexDim, ACLNN_ERR_PARAM_INVALID},
    {&kTakenShape<false>, ACLNN_ERR_PARAM_INVALID},
    {&kSame<kOut>, ACLNN_ERR_PARAM_INVALID},
    {.rule = nullptr, .code = 0, .done = nothing_to_write},
};

struct TakePlan : TensorPlan {
  Take problem;
  Take::Axis axes[kMostDims];
  const char *index = nullptr;  // the parameter
};
TakePlan *make_take(const Call &call, ExecutorBuilder &builder, int index, Slots *slots) {
  void *memory = builder.allocate(sizeof(TakePlan));
  if (memory == nullptr) return nullptr;
  auto *plan = new (memory) TakePlan;
  *slots = bind(call, builder);
  name_slots(call, *slots, *plan);
  const Tensor &self = *call.tensors[kSelf];
  plan->index = call.parameter(index).name;
  plan->problem.input = {.slot = slots->first[kSelf], .type = type_of(self)};
  plan->problem.output = source_of(call, call.output, call.tensors[call.output]->shape(), *slots);
  plan->problem.output.view = merged(plan->problem.output.view);
  return plan;
}
void add_dim(View &view, const Tensor &self, uint32_t axis) {
  view.dims[view.rank] = self.dims[axis];
  view.strides[view.rank++] = self.dims[axis] == 1 ? 0 : self.stride[axis];
}
const void *lower_take(const Call &call, ExecutorBuilder &builder) {
  Slots slots;
  TakePlan *plan = make_take(call, builder, kIndex, &slots);
  if (plan == nullptr) return nullptr;
  Take &p = plan->problem;
  const Tensor &self = *call.tensors[kSelf], &index = *call.tensors[kIndex];
  const auto at = static_cast<uint32_t>(axis(call));
  for (uint32_t i = 0; i < self.rank; ++i) {
    if (i != at) add_dim(i < at ? p.outer : p.inner, self, i);
  }
  p.outer = merged(p.outer);
  p.inner = merged(p.inner);
  plan->axes[0] = {.index = source_of(call, kIndex, index.shape(), slots),
                   .extent = self.rank != 0 ? self.dims[at] : 1,
                   .stride = self.rank != 0 ? self.stride[at] : 0};
  plan->axes[0].index.view = merged(plan->axes[0].index.view);
  p.axes = {plan->axes, 1};
  p.count = index.count;
  return plan;
}
int32_t run_take(const void *plan, std::byte *const *addresses, std::byte *, Text &why) {
  const auto &p = *static_cast<const TakePlan *>(plan);
  if (!addressed(p, addresses, why)) return kTaskFailed;
  for (const Take::Axis &axis : p.problem.axes) {
    if (addresses[axis.index.slot] != nullptr) continue;
    why << p.function << ": " << p.index << ": the data address is NULL, must be device memory";
    return kTaskFailed;
  }
  Stray stray;
  if (!run(p.problem, addresses, &stray)) return out_of_host_memory(p.function, why);
  if (!stray.found) return 0;
  const int64_t extent = p.problem.axes[stray.axis].extent;
  why << p.function << ": " << p.index << ": element " << stray.position << " is " << stray.value
      << ", must be " << -extent << " .. " << extent - 1;
  return kTaskFailed;
}
bool small_take(const void *plan) {
  return estimated_ns(static_cast<const TakePlan *>(plan)->problem) < kSmallNs;
}
constexpr Page take_page(std::span<const Check> checks) {
  return {.parameters = kTakeParameters,
          .checks = checks,
          .lower = lower_take,
          .run = run_take,
          .small = small_take};
}
constexpr Page kIndexSelect = take_page(kSelectChecks), kGatherV2 = take_page(kGatherChecks);

// ---- aclnnIndex

enum : int { kIndices = 1, kIndexed };
constexpr Parameter kIndexParameters[] = {
    {"self", Kind::In}, {"indices", Kind::Holes}, {"out", Kind::Out}};

// The index of a dimension; nullptr: the dimension stays. An empty one in a call with an output
// stands for none, too.
const Tensor *index_of(const Call &c, uint32_t axis) {
  const auto members = c.lists[kIndices]->elements();
  if (axis >= members.size() || members[axis] == nullptr) return nullptr;
  const Tensor *t = find_handle<Tensor>(members[axis]);
  return t->count == 0 && c.tensors[kIndexed]->count != 0 ? nullptr : t;
}
bool listed(const Call &c) {
  if (c.tensors[kSelf] == nullptr || c.tensors[kIndexed] == nullptr ||
      c.lists[kIndices] == nullptr || c.tensors[kSelf]->rank > kMostDims) {
    return false;
  }
  for (const aclTensor *member : c.lists[kIndices]->elements()) {
    const Tensor *t = member != nullptr ? find_handle<Tensor>(member) : nullptr;
    if (member != nullptr && (t == nullptr || t->rank > kMostDims)) return false;
  }
  return true;
}
// What the indices broadcast to; false: they do not.
struct Joint {
  bool fits = true;
  uint32_t rank = 0, first = 0, last = 0, indexed = 0;  // dimensions of self with an index
  int64_t dims[kMostDims] = {};
};
Joint joint(const Call &c) {
  Joint j;
  for (uint32_t i = 0; i < c.tensors[kSelf]->rank; ++i) {
    const Tensor *t = index_of(c, i);
    if (t == nullptr) continue;
    if (j.indexed++ == 0) j.first = i;
    j.last = i;
    const uint32_t rank = std::max(j.rank, t->rank);
    std::move_backward(j.dims, j.dims + j.rank, j.dims + rank);
    std::fill_n(j.dims, rank - j.rank, 1);
    j.rank = rank;
    for (uint32_t k = 0; k < t->rank; ++k) {
      int64_t &dim = j.dims[rank - t->rank + k];
      if (dim == 1) {
        dim = t->dims[k];
      } else if (t->dims[k] != 1 && t->dims[k] != dim) {
        j.fits = false;
      }
    }
  }
  return j;
}
// Indices of neighbouring dimensions are answered in their place, others in front.
bool in_place(const Joint &j) { return j.last - j.first + 1 == j.indexed; }
uint32_t indexed_shape(const Call &c, int64_t *dims) {
  const Joint j = joint(c);
  const Tensor &self = *c.tensors[kSelf];
  uint32_t rank = 0;
  auto add_joint = [&] {
    rank = static_cast<uint32_t>(std::copy_n(j.dims, j.rank, dims + rank) - dims);
  };
  if (!in_place(j)) add_joint();
  for (uint32_t i = 0; i < self.rank; ++i) {
    if (in_place(j) && i == j.first) add_joint();
    if (index_of(c, i) == nullptr) dims[rank++] = self.dims[i];
  }
  return rank;
}

constexpr Rule kListLength{"INDEX-COUNT", "indices", listed,
                           [](const Call &c) {
                             const size_t count = c.lists[kIndices]->elements().size();
                             return count <= c.tensors[kSelf]->rank && joint(c).indexed != 0;
                           },
                           [](const Call &c, Saying &s) {
                             s.value << c.lists[kIndices]->elements().size() << " tensors, "
                                     << joint(c).indexed << " of them indices";
                             s.limit << "must be 1 .. " << c.tensors[kSelf]->rank
                                     << ", the dimensions of self";
                           }};
constexpr Rule kListDtype{"INDEX-DTYPE", "indices", listed,
                          [](const Call &c) {
                            for (uint32_t i = 0; i < c.tensors[kSelf]->rank; ++i) {
                              const Tensor *t = index_of(c, i);
                              if (t != nullptr && t->dtype != ACL_INT32 && t->dtype != ACL_INT64) {
                                return false;
                              }
                            }
                            return true;
                          },
                          [](const Call &c, Saying &s) {
                            for (uint32_t i = 0; i < c.tensors[kSelf]->rank; ++i) {
                              const Tensor *t = index_of(c, i);
                              if (t != nullptr && t->dtype != ACL_INT32 && t->dtype != ACL_INT64) {
                                s.value << "member " << i << ": " << dtype_name(t->dtype) << ' ';
                              }
                            }
                            s.limit << "must be INT32 or INT64";
                          }};
constexpr Rule kListShapes{"INDEX-BROADCAST", "indices", listed,
                           [](const Call &c) { return joint(c).fits; },
                           [](const Call &c, Saying &s) {
                             for (uint32_t i = 0; i < c.tensors[kSelf]->rank; ++i) {
                               if (const Tensor *t = index_of(c, i)) s.value << t->shape() << ' ';
                             }
                             s.limit << "shapes must be equal or 1, from the last dimension on";
                           }};
constexpr Rule kListOut{
    "INDEX-OUT-SHAPE", "out", [](const Call &c) { return listed(c) && joint(c).fits; },
    [](const Call &c) {
      int64_t dims[2 * kMostDims];
      return equal(c.tensors[kIndexed]->shape(), {dims, indexed_shape(c, dims)});
    },
    [](const Call &c, Saying &s) {
      int64_t dims[2 * kMostDims];
      s.value << "shape " << c.tensors[kIndexed]->shape();
      s.limit << "must be " << std::span<const int64_t>(dims, indexed_shape(c, dims));
    }};
constexpr Check kIndexChecks[] = {
    PYACLNN_TENSOR_CHECKS,
    {&kListLength, ACLNN_ERR_PARAM_INVALID},
    {&kListDtype, ACLNN_ERR_PARAM_INVALID},
    {&kListShapes, ACLNN_ERR_PARAM_INVALID},
    {&kListOut, ACLNN_ERR_PARAM_INVALID},
    {&kSame<kIndexed>, ACLNN_ERR_PARAM_INVALID},
    {.rule = nullptr, .code = 0, .done = nothing_to_write},
};
const void *lower_index(const Call &call, ExecutorBuilder &builder) {
  Slots slots;
  TakePlan *plan = make_take(call, builder, kIndices, &slots);
  if (plan == nullptr) return nullptr;
  Take &p = plan->problem;
  const Tensor &self = *call.tensors[kSelf];
  const Joint j = joint(call);
  size_t used = 0;
  for (uint32_t i = 0; i < self.rank; ++i) {
    const Tensor *t = index_of(call, i);
    if (t == nullptr) {
      add_dim(in_place(j) && i < j.first ? p.outer : p.inner, self, i);
      continue;
    }
    plan->axes[used++] = {.index = {.slot = static_cast<uint16_t>(slots.first[kIndices] + i),
                                    .type = type_of(*t),
                                    .view = merged(view_of(*t, {j.dims, j.rank}))},
                          .extent = self.dims[i],
                          .stride = self.stride[i]};
  }
  p.outer = merged(p.outer);
  p.inner = merged(p.inner);
  p.axes = {plan->axes, used};
  p.count = 1;
  for (uint32_t k = 0; k < j.rank; ++k) p.count *= j.dims[k];
  return plan;
}
constexpr Page kIndexPage{.parameters = kIndexParameters,
                          .checks = kIndexChecks,
                          .lower = lower_index,
                          .run = run_take,
                          .small = small_take};

// ---- aclnnRepeat, aclnnFlip: copies from another view of self

// A copy plan with the output's view as given and the input's made by `view`.
const void *copy_from(const Call &call, ExecutorBuilder &builder, const View &in, int64_t first,
                      const View &out) {
  void *memory = builder.allocate(sizeof(ElementwisePlan));
  if (memory == nullptr) return nullptr;
  auto *plan = new (memory) ElementwisePlan;
  const Slots slots = bind(call, builder);
  name_slots(call, slots, *plan);
  plan->problem.inputs[0] = {
      .slot = slots.first[0], .type = type_of(*call.tensors[0]), .view = in, .first = first};
  plan->problem.output = {.slot = slots.first[2], .type = type_of(*call.tensors[2]), .view = out};
  settle(plan->problem);
  return plan;
}

constexpr Parameter kRepeatParameters[] = {
    {"self", Kind::In}, {"repeats", Kind::Ints}, {"out", Kind::Out}};
bool repeatable(const Call &c) {
  return c.tensors[0] != nullptr && c.ints[1] != nullptr && c.tensors[2] != nullptr &&
         c.tensors[0]->rank <= kMostDims && c.tensors[2]->rank <= kMostDims;
}
constexpr Rule kRepeats{
    "REPEAT-COUNTS", "repeats", repeatable,
    [](const Call &c) {
      const auto repeats = c.values(1);
      return repeats.size() >= c.tensors[0]->rank && repeats.size() <= kMostDims &&
             std::all_of(repeats.begin(), repeats.end(), [](int64_t r) { return r >= 0; });
    },
    [](const Call &c, Saying &s) {
      s.value << c.values(1);
      s.limit << "must be at least " << c.tensors[0]->rank << " and at most " << kMostDims
              << " numbers that are not negative";
    }};
constexpr Rule kRepeatShape{
    "REPEAT-OUT-SHAPE", "out", [](const Call &c) { return repeatable(c) && kRepeats.ok(c); },
    [](const Call &c) {
      const Tensor &self = *c.tensors[0], &out = *c.tensors[2];
      const auto repeats = c.values(1);
      if (out.rank != repeats.size()) return false;
      const uint32_t missing = out.rank - self.rank;
      for (uint32_t i = 0; i < out.rank; ++i) {
        int64_t dim = 0;
        const int64_t own = i < missing ? 1 : self.dims[i - missing];
        if (__builtin_mul_overflow(own, repeats[i], &dim) || dim != out.dims[i]) return false;
      }
      return true;
    },
    [](const Call &c, Saying &s) {
      s.value << "shape " << c.tensors[2]->shape();
      s.limit << "must be the shape of self " << c.tensors[0]->shape() << " times repeats "
              << c.values(1);
    }};
constexpr Check kRepeatChecks[] = {
    PYACLNN_TENSOR_CHECKS,
    {&kRepeats, ACLNN_ERR_PARAM_INVALID},
    {&kRepeatShape, ACLNN_ERR_PARAM_INVALID},
    {&kSame<2>, ACLNN_ERR_PARAM_INVALID},
    {.rule = nullptr, .code = 0, .done = nothing_to_write},
};
const void *lower_repeat(const Call &call, ExecutorBuilder &builder) {
  const Tensor &self = *call.tensors[0], &out = *call.tensors[2];
  const uint32_t missing = out.rank - self.rank;
  // Each dimension becomes (repeats, own).
  View from{.rank = 2 * out.rank}, to{.rank = 2 * out.rank};
  for (uint32_t i = 0; i < out.rank; ++i) {
    const bool own = i >= missing;
    const int64_t dim = own ? self.dims[i - missing] : 1;
    to.dims[2 * i] = from.dims[2 * i] = call.values(1)[i];
    to.dims[2 * i + 1] = from.dims[2 * i + 1] = dim;
    from.strides[2 * i + 1] = own && dim != 1 ? self.stride[i - missing] : 0;
    to.strides[2 * i] = dim * out.stride[i];
    to.strides[2 * i + 1] = out.stride[i];
  }
  return copy_from(call, builder, from, 0, to);
}
constexpr Page kRepeat{.parameters = kRepeatParameters,
                       .checks = kRepeatChecks,
                       .lower = lower_repeat,
                       .run = run_elementwise,
                       .small = small_elementwise};

constexpr Parameter kFlipParameters[] = {
    {"self", Kind::In}, {"dims", Kind::Ints}, {"out", Kind::Out}};
// The dimensions that turn, as bits; -1: some do not exist or occur twice.
int64_t turning(const Call &c) {
  const int64_t rank = c.tensors[0]->rank;
  int64_t bits = 0;
  for (int64_t dim : c.values(1)) {
    if (dim < -rank || dim >= rank) return -1;
    const int64_t bit = int64_t{1} << (dim < 0 ? dim + rank : dim);
    if ((bits & bit) != 0) return -1;
    bits |= bit;
  }
  return bits;
}
constexpr Rule kFlipDims{"FLIP-DIMS", "dims", repeatable,
                         [](const Call &c) { return turning(c) >= 0; },
                         [](const Call &c, Saying &s) {
                           const int64_t rank = c.tensors[0]->rank;
                           s.value << c.values(1);
                           s.limit << "must be " << -rank << " .. " << rank - 1 << ", each once";
                         }};
constexpr Check kFlipChecks[] = {
    PYACLNN_TENSOR_CHECKS,
    {&kFlipDims, ACLNN_ERR_PARAM_INVALID},
    {&kOutShape, ACLNN_ERR_PARAM_INVALID},
    {&kSame<2>, ACLNN_ERR_PARAM_INVALID},
    {.rule = nullptr, .code = 0, .done = nothing_to_write},
};
const void *lower_flip(const Call &call, ExecutorBuilder &builder) {
  const Tensor &self = *call.tensors[0];
  View from = view_of(self);
  const int64_t bits = turning(call);
  int64_t first = 0;
  for (uint32_t i = 0; i < from.rank; ++i) {
    if ((bits >> i & 1) == 0) continue;
    first += (from.dims[i] - 1) * from.strides[i];
    from.strides[i] = -from.strides[i];
  }
  return copy_from(call, builder, from, first, view_of(*call.tensors[2]));
}
constexpr Page kFlip{.parameters = kFlipParameters,
                     .checks = kFlipChecks,
                     .lower = lower_flip,
                     .run = run_elementwise,
                     .small = small_elementwise};

}  // namespace
}  // namespace pyaclnn::tensors

PYACLNN_TENSOR_OPERATOR(aclnnIndexSelect, kIndexSelect,
                        (const aclTensor *self, int64_t dim, const aclTensor *index,
                         aclTensor *out),
                        self, dim, index, out);
PYACLNN_TENSOR_OPERATOR(aclnnGatherV2, kGatherV2,
                        (const aclTensor *self, int64_t dim, const aclTensor *index,
                         aclTensor *out),
                        self, dim, index, out);
PYACLNN_TENSOR_OPERATOR(aclnnIndex, kIndexPage,
                        (const aclTensor *self, const aclTensorList *indices, aclTensor *out), self,
                        indices, out);
PYACLNN_TENSOR_OPERATOR(aclnnRepeat, kRepeat,
                        (const aclTensor *self, const aclIntArray *repeats, aclTensor *out), self,
                        repeats, out);
PYACLNN_TENSOR_OPERATOR(aclnnFlip, kFlip,
                        (const aclTensor *self, const aclIntArray *dims, aclTensor *out), self,
                        dims, out);
