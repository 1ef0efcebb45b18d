#include "opapi/tensor_rules.hpp"

#include <algorithm>

#include "nnopbase/names.hpp"

namespace pyaclnn::tensors {

using namespace elementwise;

void point(const Call &call, const Place &place, Saying &saying) {
  saying.parameter = call.parameter(place.parameter).name;
  if (place.member >= 0) saying.value << "member " << place.member << ": ";
}

namespace {

// The parameter is said by the rule itself, out of the operator's page.
constexpr const char *kOfPage = "parameters of the operator";

// ---- what is given

constexpr int kWorkspaceSize = -2, kExecutor = -3;

int missing(const Call &c) {
  for (int i = 0; i < c.count(); ++i) {
    if (is_required(c.parameter(i).kind) && c.words[i].pointer == nullptr) return i;
  }
  if (!c.workspaceSize) return kWorkspaceSize;
  return c.executor ? -1 : kExecutor;
}

bool live(const Call &c, int i) {
  if (!is_pointer(c.parameter(i).kind) || c.words[i].pointer == nullptr) return true;
  return c.tensors[i] != nullptr || c.scalars[i] != nullptr || c.lists[i] != nullptr ||
         c.ints[i] != nullptr;
}
Place dead(const Call &c) {
  for (int i = 0; i < c.count(); ++i) {
    if (!live(c, i)) return {i};
    if (c.lists[i] == nullptr) continue;
    const auto members = c.lists[i]->elements();
    for (size_t m = 0; m < members.size(); ++m) {
      if (members[m] == nullptr && c.parameter(i).kind == Kind::Holes) continue;
      if (find_handle<Tensor>(members[m]) == nullptr) return {i, static_cast<int64_t>(m)};
    }
  }
  return {};
}

const char *kind_name(Kind kind) {
  if (is_tensor(kind)) return "aclTensor";
  if (is_scalar(kind)) return "aclScalar";
  return is_list(kind) ? "aclTensorList" : "aclIntArray";
}

// ---- dtypes

Types offered(const Call &c, int i) {
  Types types = c.parameter(i).kind == Kind::Out ? c.page->outputs : c.page->inputs;
  if (c.parameter(i).kind == Kind::Ref) types &= c.page->outputs;
  return c.product->bf16 ? types : types & ~bit(Type::bf16);
}
Place wrong_dtype(const Call &c) {
  return first_tensor(c, [&](int i, const Tensor &t) {
    const Type type = type_of(t);
    return type == Type::none || !has(offered(c, i), type);
  });
}
void say_types(Types types, Text &text) {
  const char *between = "";
  for (size_t i = 0; i < kTypes; ++i) {
    const Type type = static_cast<Type>(i);
    if (!has(types, type)) continue;
    text << between << dtype_name(dtype_of(type));
    between = ", ";
  }
}

int wrong_scalar(const Call &c) {
  for (int i = 0; i < c.count(); ++i) {
    if (c.scalars[i] != nullptr && type_of(c.scalars[i]->dtype) == Type::none) return i;
  }
  return -1;
}

// ---- layout

bool is_plain(aclFormat format) {
  switch (format) {
    case ACL_FORMAT_UNDEFINED:
    case ACL_FORMAT_NCHW:
    case ACL_FORMAT_NHWC:
    case ACL_FORMAT_ND:
    case ACL_FORMAT_HWCN:
    case ACL_FORMAT_NDHWC:
    case ACL_FORMAT_NCDHW:
    case ACL_FORMAT_NC:
    case ACL_FORMAT_NCL: return true;
    default: return false;
  }
}
Place wrong_format(const Call &c) {
  return first_tensor(c, [](int, const Tensor &t) { return !is_plain(t.format); });
}
Place wrong_rank(const Call &c) {
  return first_tensor(c, [](int, const Tensor &t) { return t.rank > kMostDims; });
}
Place outside(const Call &c) {
  return first_tensor(c, [](int, const Tensor &t) { return !t.inside; });
}

// Whether two elements may share memory, judged as if dimensions were nested: exact for views that
// come from slicing, transposing and expanding.
bool overlaps_itself(const Tensor &t) {
  if (t.count <= 1 || t.rank > kMostDims) return false;
  uint32_t order[kMostDims];
  order_by_stride({t.stride, t.rank}, order);
  int64_t reach = 0;  // of the smaller dimensions
  for (uint32_t k = t.rank; k-- > 0;) {
    const uint32_t i = order[k];
    if (t.dims[i] <= 1) continue;
    const int64_t stride = std::abs(t.stride[i]);
    if (stride <= reach) return true;
    reach += (t.dims[i] - 1) * stride;
  }
  return false;
}
Place overlapping(const Call &c) {
  return first_tensor(c, [&](int i, const Tensor &t) {
    return is_output(c.parameter(i).kind) && t.inside && overlaps_itself(t);
  });
}

// ---- elementwise

bool readable(const Call &c) {
  return missing(c) == -1 && !dead(c).found() && !wrong_dtype(c).found() && wrong_scalar(c) < 0;
}
bool computes(const Call &c) { return c.page->op != Op::Move; }
bool has_common(const Call &c) { return c.common != Type::none && has(c.page->common, c.common); }

int factor_of(const Call &c) {
  for (int i = 0; i < c.count(); ++i) {
    if (c.parameter(i).kind == Kind::Factor) return i;
  }
  return -1;
}

// What the result is before the output's dtype.
Type result_of(const Call &c) { return is_predicate(c.page->op) ? Type::b8 : c.common; }

bool shape_fits(const Call &c) {
  const Tensor &out = *c.tensors[c.output];
  const auto dims = out.shape();
  if (c.parameter(c.output).kind == Kind::Out) {
    return std::equal(dims.begin(), dims.end(), c.shape().begin(), c.shape().end());
  }
  if (c.rank > out.rank) return false;
  for (uint32_t i = 0; i < c.rank; ++i) {
    if (c.dims[i] != 1 && c.dims[i] != dims[out.rank - c.rank + i]) return false;
  }
  return true;
}

}  // namespace

constexpr Rule kGiven{"TENSOR-NULL", kOfPage, nullptr,
                      [](const Call &c) { return missing(c) == -1; },
                      [](const Call &c, Saying &s) {
                        const int i = missing(c);
                        s.parameter = i == kWorkspaceSize ? "workspaceSize"
                                      : i == kExecutor    ? "executor"
                                                          : c.parameter(i).name;
                        s.value << "NULL";
                        s.limit << "must be given";
                      }};
constexpr Rule kLive{
    "TENSOR-LIVE", kOfPage, nullptr, [](const Call &c) { return !dead(c).found(); },
    [](const Call &c, Saying &s) {
      const Place place = dead(c);
      point(c, place, s);
      s.value << "a handle that is not alive, or of another kind";
      s.limit << "must be a live "
              << (place.member < 0 ? kind_name(c.parameter(place.parameter).kind) : "aclTensor");
    }};
constexpr Rule kDtype{"TENSOR-DTYPE", kOfPage, nullptr,
                      [](const Call &c) { return !wrong_dtype(c).found(); },
                      [](const Call &c, Saying &s) {
                        const Place place = wrong_dtype(c);
                        point(c, place, s);
                        s.value << dtype_name(place.tensor->dtype);
                        s.limit << "must be one of ";
                        say_types(offered(c, place.parameter), s.limit);
                      }};
constexpr Rule kNumber{"TENSOR-SCALAR", kOfPage, nullptr,
                       [](const Call &c) { return wrong_scalar(c) < 0; },
                       [](const Call &c, Saying &s) {
                         const int i = wrong_scalar(c);
                         s.parameter = c.parameter(i).name;
                         s.value << dtype_name(c.scalars[i]->dtype);
                         s.limit << "must be one of ";
                         say_types(kAll, s.limit);
                       }};
constexpr Rule kFormat{"TENSOR-FORMAT", kOfPage, nullptr,
                       [](const Call &c) { return !wrong_format(c).found(); },
                       [](const Call &c, Saying &s) {
                         const Place place = wrong_format(c);
                         point(c, place, s);
                         s.value << format_name(place.tensor->format);
                         s.limit << "must be ND, NCHW, NHWC, HWCN, NDHWC, NCDHW, NC or NCL";
                       }};
constexpr Rule kRank{"TENSOR-RANK", kOfPage, nullptr,
                     [](const Call &c) { return !wrong_rank(c).found(); },
                     [](const Call &c, Saying &s) {
                       const Place place = wrong_rank(c);
                       point(c, place, s);
                       s.value << place.tensor->rank << " dimensions";
                       s.limit << "must be at most " << kMostDims;
                     }};
constexpr Rule kStorage{
    "TENSOR-STORAGE", kOfPage, nullptr, [](const Call &c) { return !outside(c).found(); },
    [](const Call &c, Saying &s) {
      const Place place = outside(c);
      const Tensor &t = *place.tensor;
      point(c, place, s);
      s.value << "shape " << t.shape() << ", strides " << std::span<const int64_t>{t.stride, t.rank}
              << ", offset " << t.offset;
      s.limit << "must stay inside the storage "
              << std::span<const int64_t>{t.storage, t.storage_rank};
    }};
constexpr Rule kOverlap{"TENSOR-OVERLAP", kOfPage, nullptr,
                        [](const Call &c) { return !overlapping(c).found(); },
                        [](const Call &c, Saying &s) {
                          const Place place = overlapping(c);
                          const Tensor &t = *place.tensor;
                          point(c, place, s);
                          s.value << "shape " << t.shape() << ", strides "
                                  << std::span<const int64_t>{t.stride, t.rank};
                          s.limit << "no two elements of a written tensor may share memory";
                        }};
constexpr Rule kPromote{"ELEM-PROMOTE",
                        kOfPage,
                        readable,
                        has_common,
                        [](const Call &c, Saying &s) {
                          for (int i : c.operands) {
                            if (i < 0) continue;
                            if (s.parameter == nullptr) s.parameter = c.parameter(i).name;
                            if (!s.value.empty()) s.value << " with ";
                            if (c.tensors[i] != nullptr) {
                              s.value << dtype_name(c.tensors[i]->dtype);
                            } else if (c.scalars[i] != nullptr) {
                              s.value << "the number's " << dtype_name(c.scalars[i]->dtype);
                            }
                          }
                          s.limit << "their common dtype must be one of ";
                          say_types(c.page->common, s.limit);
                        },
                        computes};
constexpr Rule kFactor{
    "ELEM-FACTOR",
    kOfPage,
    [](const Call &c) { return readable(c) && has_common(c); },
    [](const Call &c) {
      return holds_kind(type_of(c.scalars[factor_of(c)]->dtype), c.common) || c.common == Type::b8;
    },
    [](const Call &c, Saying &s) {
      const int i = factor_of(c);
      s.parameter = c.parameter(i).name;
      s.value << dtype_name(c.scalars[i]->dtype);
      s.limit << "must be a number that " << dtype_name(dtype_of(c.common)) << " can hold";
    },
    [](const Call &c) { return factor_of(c) >= 0; }};
constexpr Rule kBroadcast{"ELEM-BROADCAST", kOfPage, readable,
                          [](const Call &c) { return c.broadcasts; },
                          [](const Call &c, Saying &s) {
                            for (int i : c.operands) {
                              if (i < 0 || c.tensors[i] == nullptr) continue;
                              s.parameter = c.parameter(i).name;
                              if (!s.value.empty()) s.value << " with ";
                              s.value << "shape " << c.tensors[i]->shape();
                            }
                            s.limit << "dimensions must be equal or 1, from the last one on";
                          }};
constexpr Rule kOutShape{
    "ELEM-OUT-SHAPE", kOfPage, [](const Call &c) { return readable(c) && c.broadcasts; },
    shape_fits,
    [](const Call &c, Saying &s) {
      s.parameter = c.parameter(c.output).name;
      s.value << "shape " << c.tensors[c.output]->shape();
      const bool whole = c.parameter(c.output).kind == Kind::Out;
      s.limit << (whole ? "must be the shape of the inputs: " : "the inputs must broadcast to it: ")
              << c.shape();
    }};
constexpr Rule kOutDtype{
    "ELEM-OUT-DTYPE",
    kOfPage,
    [](const Call &c) { return readable(c) && has_common(c); },
    [](const Call &c) { return holds_kind(result_of(c), type_of(*c.tensors[c.output])); },
    [](const Call &c, Saying &s) {
      s.parameter = c.parameter(c.output).name;
      s.value << dtype_name(c.tensors[c.output]->dtype);
      s.limit << "must be a dtype that can hold the result's "
              << dtype_name(dtype_of(result_of(c)));
    },
    [](const Call &c) { return computes(c) && !c.page->any_cast; }};

const Check kElementwiseChecks[] = {
    PYACLNN_TENSOR_CHECKS,
    {&kPromote, ACLNN_ERR_PARAM_INVALID},
    {&kFactor, ACLNN_ERR_PARAM_INVALID},
    {&kBroadcast, ACLNN_ERR_PARAM_INVALID},
    {&kOutShape, ACLNN_ERR_PARAM_INVALID},
    {&kOutDtype, ACLNN_ERR_PARAM_INVALID},
    {.rule = nullptr, .code = 0, .done = nothing_to_write},
};

bool nothing_to_write(const Call &c) {
  return c.output >= 0 && c.tensors[c.output] != nullptr && c.tensors[c.output]->count == 0;
}

}  // namespace pyaclnn::tensors
