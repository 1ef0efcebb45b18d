// Reductions over some or all dimensions.
#include "elementwise/reduce.hpp"

#include <new>

#include "aclnnop/aclnn_all.h"
#include "aclnnop/aclnn_amax.h"
#include "aclnnop/aclnn_amin.h"
#include "aclnnop/aclnn_any.h"
#include "aclnnop/aclnn_argmax.h"
#include "aclnnop/aclnn_argmin.h"
#include "aclnnop/aclnn_max.h"
#include "aclnnop/aclnn_max_dim.h"
#include "aclnnop/aclnn_mean.h"
#include "aclnnop/aclnn_min.h"
#include "aclnnop/aclnn_min_dim.h"
#include "aclnnop/aclnn_reduce_sum.h"
#include "nnopbase/names.hpp"
#include "opapi/tensor_operator.hpp"

namespace pyaclnn::tensors {
namespace {

using namespace elementwise;

// Where a page has its parameters; -1: not at all. The input is the first one.
struct Places {
  int dims = -1;     // aclIntArray, or one dimension
  int keep = -1;     // bool
  int dtype = -1;    // what is computed in
  int indices = -1;  // second output
};

// Parameters that a page lacks are never accessed.
constexpr int at(int place) { return place < 0 ? 0 : place; }

// The dimensions that go, as bits; -1: some do not exist or occur twice.
template <const Places &kPlaces>
int64_t reduced(const Call &c) {
  const Tensor &self = *c.tensors[0];
  const int64_t rank = self.rank, most = rank == 0 ? 1 : rank;
  std::span<const int64_t> dims;
  if constexpr (kPlaces.dims >= 0) {
    const bool array = c.parameter(kPlaces.dims).kind != Kind::Integer;
    dims = array ? c.values(kPlaces.dims)
                 : std::span<const int64_t>(&c.words[kPlaces.dims].integer, 1);
  }
  if (dims.empty()) return (int64_t{1} << rank) - 1;
  int64_t bits = 0;
  for (int64_t dim : dims) {
    if (dim < -most || dim >= most) return -1;
    const int64_t bit = int64_t{1} << (dim < 0 ? dim + most : dim);
    if ((bits & bit) != 0) return -1;
    bits |= bit;
  }
  return rank == 0 ? 0 : bits;
}
bool goes(int64_t bits, uint32_t axis) { return (bits >> axis & 1) != 0; }

template <const Places &kPlaces>
bool keeps(const Call &c) {
  if constexpr (kPlaces.keep < 0) {
    return false;
  } else {
    return c.words[kPlaces.keep].integer != 0;
  }
}
template <const Places &kPlaces>
Type common_of(const Call &c) {
  if constexpr (kPlaces.dtype < 0) {
    return type_of(*c.tensors[0]);
  } else {
    return type_of(static_cast<aclDataType>(c.words[kPlaces.dtype].integer));
  }
}

bool usable(const Call &c) {
  return c.tensors[0] != nullptr && c.tensors[0]->rank <= kMostDims &&
         c.tensors[c.output] != nullptr;
}
template <const Places &kPlaces>
bool reducible(const Call &c) {
  return usable(c) && reduced<kPlaces>(c) >= 0;
}
int64_t length_of(const Tensor &self, int64_t bits) {
  int64_t length = 1;
  for (uint32_t i = 0; i < self.rank; ++i) length *= goes(bits, i) ? self.dims[i] : 1;
  return length;
}

// The shape of the output; returns its rank.
template <const Places &kPlaces>
uint32_t result_shape(const Call &c, int64_t *dims) {
  const Tensor &self = *c.tensors[0];
  const int64_t bits = reduced<kPlaces>(c);
  uint32_t rank = 0;
  for (uint32_t i = 0; i < self.rank; ++i) {
    if (!goes(bits, i)) {
      dims[rank++] = self.dims[i];
    } else if (keeps<kPlaces>(c)) {
      dims[rank++] = 1;
    }
  }
  return rank;
}
template <const Places &kPlaces>
int misshapen(const Call &c) {
  int64_t dims[kMostDims];
  const std::span<const int64_t> wanted(dims, result_shape<kPlaces>(c, dims));
  for (int i : {c.output, kPlaces.indices}) {
    if (i < 0 || c.tensors[i] == nullptr) continue;
    const auto shape = c.tensors[i]->shape();
    if (!std::equal(shape.begin(), shape.end(), wanted.begin(), wanted.end())) return i;
  }
  return -1;
}

template <const Places &kPlaces>
constexpr Rule kDim{"REDUCE-DIM",
                    "dim",
                    usable,
                    [](const Call &c) { return reduced<kPlaces>(c) >= 0; },
                    [](const Call &c, Saying &s) {
                      const int64_t rank = std::max<int64_t>(c.tensors[0]->rank, 1);
                      s.parameter = c.parameter(at(kPlaces.dims)).name;
                      if (c.parameter(at(kPlaces.dims)).kind == Kind::Integer) {
                        s.value << c.words[at(kPlaces.dims)].integer;
                      } else {
                        s.value << c.values(at(kPlaces.dims));
                      }
                      s.limit << "must be " << -rank << " .. " << rank - 1 << ", each once";
                    },
                    [](const Call &) { return kPlaces.dims >= 0; }};
template <const Places &kPlaces>
constexpr Rule kDtypeKnown{
    "REDUCE-DTYPE",
    "dtype",
    nullptr,
    [](const Call &c) {
      const Type type = common_of<kPlaces>(c);
      return type != Type::none && has(c.page->common, type);
    },
    [](const Call &c, Saying &s) {
      s.parameter = c.parameter(at(kPlaces.dtype)).name;
      s.value << dtype_name(static_cast<aclDataType>(c.words[at(kPlaces.dtype)].integer));
      s.limit << "must be one that the operator computes in";
    },
    [](const Call &) { return kPlaces.dtype >= 0; }};
template <const Places &kPlaces>
constexpr Rule kSomething{
    "REDUCE-EMPTY", "self", reducible<kPlaces>,
    [](const Call &c) { return length_of(*c.tensors[0], reduced<kPlaces>(c)) != 0; },
    [](const Call &c, Saying &s) {
      s.value << "shape " << c.tensors[0]->shape();
      s.limit << "there must be something to choose from";
    }};
template <const Places &kPlaces>
constexpr Rule kShape{"REDUCE-OUT-SHAPE", "out", reducible<kPlaces>,
                      [](const Call &c) { return misshapen<kPlaces>(c) < 0; },
                      [](const Call &c, Saying &s) {
                        const int i = misshapen<kPlaces>(c);
                        int64_t dims[kMostDims];
                        s.parameter = c.parameter(i).name;
                        s.value << "shape " << c.tensors[i]->shape();
                        s.limit << "must be "
                                << std::span<const int64_t>(dims, result_shape<kPlaces>(c, dims));
                      }};
template <const Places &kPlaces>
constexpr Rule kHolds{"REDUCE-OUT-DTYPE", "out", usable,
                      [](const Call &c) {
                        const Type common = common_of<kPlaces>(c);
                        return common == Type::none ||
                               holds_kind(common, type_of(*c.tensors[c.output]));
                      },
                      [](const Call &c, Saying &s) {
                        s.value << dtype_name(c.tensors[c.output]->dtype);
                        s.limit << "must be a dtype that can hold the result's "
                                << dtype_name(dtype_of(common_of<kPlaces>(c)));
                      }};

template <const Places &kPlaces>
constexpr Check kSumChecks[] = {
    PYACLNN_TENSOR_CHECKS,
    {&kDim<kPlaces>, ACLNN_ERR_PARAM_INVALID},
    {&kDtypeKnown<kPlaces>, ACLNN_ERR_PARAM_INVALID},
    {&kShape<kPlaces>, ACLNN_ERR_PARAM_INVALID},
    {&kHolds<kPlaces>, ACLNN_ERR_PARAM_INVALID},
    {.rule = nullptr, .code = 0, .done = nothing_to_write},
};
template <const Places &kPlaces>
constexpr Check kTruthChecks[] = {
    PYACLNN_TENSOR_CHECKS,
    {&kDim<kPlaces>, ACLNN_ERR_PARAM_INVALID},
    {&kShape<kPlaces>, ACLNN_ERR_PARAM_INVALID},
    {.rule = nullptr, .code = 0, .done = nothing_to_write},
};
template <const Places &kPlaces>
constexpr Check kChoiceChecks[] = {
    PYACLNN_TENSOR_CHECKS,
    {&kDim<kPlaces>, ACLNN_ERR_PARAM_INVALID},
    {&kShape<kPlaces>, ACLNN_ERR_PARAM_INVALID},
    {&kHolds<kPlaces>, ACLNN_ERR_PARAM_INVALID},
    {.rule = nullptr, .code = 0, .done = nothing_to_write},
    {&kSomething<kPlaces>, ACLNN_ERR_PARAM_INVALID},
};
template <const Places &kPlaces>
constexpr Check kArgChecks[] = {
    PYACLNN_TENSOR_CHECKS,
    {&kDim<kPlaces>, ACLNN_ERR_PARAM_INVALID},
    {&kShape<kPlaces>, ACLNN_ERR_PARAM_INVALID},
    {.rule = nullptr, .code = 0, .done = nothing_to_write},
    {&kSomething<kPlaces>, ACLNN_ERR_PARAM_INVALID},
};

struct ReducePlan : TensorPlan {
  Reduce problem;
};

template <Reduction kKind, const Places &kPlaces>
const void *lower_reduce(const Call &call, ExecutorBuilder &builder) {
  void *memory = builder.allocate(sizeof(ReducePlan));
  if (memory == nullptr) return nullptr;
  auto *plan = new (memory) ReducePlan;
  Reduce &p = plan->problem;
  const Slots slots = bind(call, builder);
  name_slots(call, slots, *plan);
  const Tensor &self = *call.tensors[0];
  const int64_t bits = reduced<kPlaces>(call);
  p.kind = kKind;
  p.common = common_of<kPlaces>(call);
  p.outputs = call.tensors[call.output]->count;
  p.length = length_of(self, bits);
  p.input = {.slot = slots.first[0], .type = type_of(self)};
  View &in = p.input.view;
  for (const bool going : {false, true}) {
    for (uint32_t i = 0; i < self.rank; ++i) {
      if (goes(bits, i) != going) continue;
      in.dims[in.rank] = self.dims[i];
      in.strides[in.rank++] = self.dims[i] == 1 ? 0 : self.stride[i];
    }
  }
  // Of the outputs without the dimensions that went.
  auto left = [&](int parameter) {
    Source source{.slot = slots.first[parameter], .type = type_of(*call.tensors[parameter])};
    const Tensor &t = *call.tensors[parameter];
    for (uint32_t i = 0, from = 0; i < self.rank; ++i) {
      const bool going = goes(bits, i);
      if (going && !keeps<kPlaces>(call)) continue;
      if (!going) {
        source.view.dims[source.view.rank] = t.dims[from];
        source.view.strides[source.view.rank++] = t.dims[from] == 1 ? 0 : t.stride[from];
      }
      ++from;
    }
    return source;
  };
  p.output = left(call.output);
  if constexpr (kPlaces.indices >= 0) p.indices = left(kPlaces.indices);
  return plan;
}

int32_t run_reduce(const void *plan, std::byte *const *addresses, std::byte *, Text &why) {
  const auto &p = *static_cast<const ReducePlan *>(plan);
  if (!addressed(p, addresses, why)) return kTaskFailed;
  return run(p.problem, addresses) ? 0 : out_of_host_memory(p.function, why);
}
bool small_reduce(const void *plan) {
  return estimated_ns(static_cast<const ReducePlan *>(plan)->problem) < kSmallNs;
}

template <Reduction kKind, const Places &kPlaces>
constexpr Page reduce_page(std::span<const Parameter> parameters, std::span<const Check> checks,
                           Page rest) {
  rest.parameters = parameters;
  rest.checks = checks;
  rest.lower = lower_reduce<kKind, kPlaces>;
  rest.run = run_reduce;
  rest.small = small_reduce;
  return rest;
}

constexpr Types kIndexTypes = bit(Type::i64) | bit(Type::i32);

constexpr Places kWithDtype{.dims = 1, .keep = 2, .dtype = 3};
constexpr Parameter kSumParameters[] = {{"self", Kind::In},
                                        {"dims", Kind::MaybeInts},
                                        {"keepDims", Kind::Integer},
                                        {"dtype", Kind::Dtype},
                                        {"out", Kind::Out}};
constexpr Parameter kMeanParameters[] = {{"self", Kind::In},
                                         {"dim", Kind::MaybeInts},
                                         {"keepDim", Kind::Integer},
                                         {"dtype", Kind::Dtype},
                                         {"out", Kind::Out}};
constexpr Page kReduceSum =
    reduce_page<Reduction::Sum, kWithDtype>(kSumParameters, kSumChecks<kWithDtype>, {});
constexpr Page kMean = reduce_page<Reduction::Mean, kWithDtype>(
    kMeanParameters, kSumChecks<kWithDtype>, {.common = kFloats | kComplex});

constexpr Places kWhole{};
constexpr Page kMax =
    reduce_page<Reduction::Max, kWhole>(kSelfOut, kChoiceChecks<kWhole>, {.inputs = kReal});
constexpr Page kMin =
    reduce_page<Reduction::Min, kWhole>(kSelfOut, kChoiceChecks<kWhole>, {.inputs = kReal});

constexpr Places kOverDims{.dims = 1, .keep = 2};
constexpr Parameter kOverDimsParameters[] = {
    {"self", Kind::In}, {"dim", Kind::MaybeInts}, {"keepDim", Kind::Integer}, {"out", Kind::Out}};
constexpr Parameter kTruthParameters[] = {
    {"self", Kind::In}, {"dim", Kind::MaybeInts}, {"keepdim", Kind::Integer}, {"out", Kind::Out}};
constexpr Page kAmax = reduce_page<Reduction::Max, kOverDims>(
    kOverDimsParameters, kChoiceChecks<kOverDims>, {.inputs = kReal});
constexpr Page kAmin = reduce_page<Reduction::Min, kOverDims>(
    kOverDimsParameters, kChoiceChecks<kOverDims>, {.inputs = kReal});
constexpr Page kAllOf = reduce_page<Reduction::All, kOverDims>(
    kTruthParameters, kTruthChecks<kOverDims>, {.outputs = kBool | bit(Type::u8)});
constexpr Page kAnyOf = reduce_page<Reduction::Any, kOverDims>(
    kTruthParameters, kTruthChecks<kOverDims>, {.outputs = kBool | bit(Type::u8)});

constexpr Parameter kArgParameters[] = {
    {"self", Kind::In}, {"dim", Kind::Integer}, {"keepdim", Kind::Integer}, {"out", Kind::Out}};
constexpr Page kArgMax = reduce_page<Reduction::ArgMax, kOverDims>(
    kArgParameters, kArgChecks<kOverDims>, {.inputs = kReal, .outputs = kIndexTypes});
constexpr Page kArgMin = reduce_page<Reduction::ArgMin, kOverDims>(
    kArgParameters, kArgChecks<kOverDims>, {.inputs = kReal, .outputs = kIndexTypes});

constexpr Places kWithIndices{.dims = 1, .keep = 2, .indices = 4};
constexpr Parameter kWithIndicesParameters[] = {{"self", Kind::In},
                                                {"dim", Kind::Integer},
                                                {"keepDim", Kind::Integer},
                                                {"out", Kind::Out},
                                                {"indices", Kind::Out}};
constexpr Rule kIndexDtype{"REDUCE-INDEX-DTYPE", "indices",
                           [](const Call &c) { return c.tensors[4] != nullptr; },
                           [](const Call &c) { return has(kIndexTypes, type_of(*c.tensors[4])); },
                           [](const Call &c, Saying &s) {
                             s.value << dtype_name(c.tensors[4]->dtype);
                             s.limit << "must be INT32 or INT64";
                           }};
constexpr Check kIndexChecks[] = {
    PYACLNN_TENSOR_CHECKS,
    {&kDim<kWithIndices>, ACLNN_ERR_PARAM_INVALID},
    {&kShape<kWithIndices>, ACLNN_ERR_PARAM_INVALID},
    {&kHolds<kWithIndices>, ACLNN_ERR_PARAM_INVALID},
    {&kIndexDtype, ACLNN_ERR_PARAM_INVALID},
    {.rule = nullptr, .code = 0, .done = nothing_to_write},
    {&kSomething<kWithIndices>, ACLNN_ERR_PARAM_INVALID},
};
constexpr Page kMaxDim = reduce_page<Reduction::Max, kWithIndices>(kWithIndicesParameters,
                                                                   kIndexChecks, {.inputs = kReal});
constexpr Page kMinDim = reduce_page<Reduction::Min, kWithIndices>(kWithIndicesParameters,
                                                                   kIndexChecks, {.inputs = kReal});

}  // namespace
}  // namespace pyaclnn::tensors

PYACLNN_TENSOR_OPERATOR(aclnnReduceSum, kReduceSum,
                        (const aclTensor *self, const aclIntArray *dims, bool keepDims,
                         aclDataType dtype, aclTensor *out),
                        self, dims, keepDims, dtype, out);
PYACLNN_TENSOR_OPERATOR(aclnnMean, kMean,
                        (const aclTensor *self, const aclIntArray *dim, bool keepDim,
                         aclDataType dtype, aclTensor *out),
                        self, dim, keepDim, dtype, out);
PYACLNN_SELF_OUT(aclnnMax, kMax);
PYACLNN_SELF_OUT(aclnnMin, kMin);
PYACLNN_TENSOR_OPERATOR(aclnnAmax, kAmax,
                        (const aclTensor *self, const aclIntArray *dim, bool keepDim,
                         aclTensor *out),
                        self, dim, keepDim, out);
PYACLNN_TENSOR_OPERATOR(aclnnAmin, kAmin,
                        (const aclTensor *self, const aclIntArray *dim, bool keepDim,
                         aclTensor *out),
                        self, dim, keepDim, out);
PYACLNN_TENSOR_OPERATOR(aclnnAll, kAllOf,
                        (const aclTensor *self, const aclIntArray *dim, bool keepdim,
                         aclTensor *out),
                        self, dim, keepdim, out);
PYACLNN_TENSOR_OPERATOR(aclnnAny, kAnyOf,
                        (const aclTensor *self, const aclIntArray *dim, bool keepdim,
                         aclTensor *out),
                        self, dim, keepdim, out);
PYACLNN_TENSOR_OPERATOR(aclnnArgMax, kArgMax,
                        (const aclTensor *self, int64_t dim, bool keepdim, aclTensor *out), self,
                        dim, keepdim, out);
PYACLNN_TENSOR_OPERATOR(aclnnArgMin, kArgMin,
                        (const aclTensor *self, int64_t dim, bool keepdim, aclTensor *out), self,
                        dim, keepdim, out);
PYACLNN_TENSOR_OPERATOR(aclnnMaxDim, kMaxDim,
                        (const aclTensor *self, int64_t dim, bool keepDim, aclTensor *out,
                         aclTensor *indices),
                        self, dim, keepDim, out, indices);
PYACLNN_TENSOR_OPERATOR(aclnnMinDim, kMinDim,
                        (const aclTensor *self, int64_t dim, bool keepDim, aclTensor *out,
                         aclTensor *indices),
                        self, dim, keepDim, out, indices);
