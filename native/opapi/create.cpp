// Tensors whose values follow from their places: progressions, unit matrices, triangles.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>

#include "aclnnop/aclnn_arange.h"
#include "aclnnop/aclnn_eye.h"
#include "aclnnop/aclnn_linspace.h"
#include "aclnnop/aclnn_tril.h"
#include "aclnnop/aclnn_triu.h"
#include "elementwise/convert.hpp"
#include "elementwise/places.hpp"
#include "opapi/tensor_operator.hpp"

namespace pyaclnn::tensors {
namespace {

using namespace elementwise;

constexpr Types kRealNumbers = kReal & ~kBool;

double real_value(const Scalar &scalar) {
  double value = 0;
  scalar_value(scalar, Type::f64, true, reinterpret_cast<std::byte *>(&value));
  return value;
}
int64_t whole_value(const Scalar &scalar) {
  int64_t value = 0;
  scalar_value(scalar, Type::i64, true, reinterpret_cast<std::byte *>(&value));
  return value;
}
bool is_whole(const Scalar &scalar) {
  const Type type = type_of(scalar.dtype);
  return is_integer(type) || type == Type::b8;
}

struct ProgressionPlan : TensorPlan {
  Progression problem;
};
int32_t run_progression(const void *plan, std::byte *const *addresses, std::byte *, Text &why) {
  const auto &p = *static_cast<const ProgressionPlan *>(plan);
  if (!addressed(p, addresses, why)) return kTaskFailed;
  run(p.problem, addresses);
  return 0;
}
bool small_progression(const void *plan) {
  return estimated_ns(static_cast<const ProgressionPlan *>(plan)->problem) < kSmallNs;
}
// With the output in place.
ProgressionPlan *make_progression(const Call &call, ExecutorBuilder &builder) {
  void *memory = builder.allocate(sizeof(ProgressionPlan));
  if (memory == nullptr) return nullptr;
  auto *plan = new (memory) ProgressionPlan;
  const Slots slots = bind(call, builder);
  name_slots(call, slots, *plan);
  const Tensor &out = *call.tensors[call.output];
  plan->problem.output = source_of(call, call.output, out.shape(), slots);
  plan->problem.output.view = merged(plan->problem.output.view);
  plan->problem.count = out.count;
  return plan;
}

// ---- aclnnArange

enum : int { kStart, kEnd, kStep, kArangeOut };
constexpr Parameter kArangeParameters[] = {
    {"start", Kind::Scalar}, {"end", Kind::Scalar}, {"step", Kind::Scalar}, {"out", Kind::Out}};
bool has_numbers(const Call &c) {
  for (int i : {kStart, kEnd, kStep}) {
    if (c.scalars[i] == nullptr || type_of(c.scalars[i]->dtype) == Type::none) return false;
  }
  return true;
}
double steps_of(const Call &c) {
  return (real_value(*c.scalars[kEnd]) - real_value(*c.scalars[kStart])) /
         real_value(*c.scalars[kStep]);
}
constexpr Rule kArangeStep{"ARANGE-STEP", "step", has_numbers,
                           [](const Call &c) {
                             const double step = real_value(*c.scalars[kStep]);
                             return step != 0 && std::isfinite(steps_of(c)) && steps_of(c) >= 0;
                           },
                           [](const Call &c, Saying &s) {
                             s.value << real_value(*c.scalars[kStep]) << " from "
                                     << real_value(*c.scalars[kStart]) << " to "
                                     << real_value(*c.scalars[kEnd]);
                             s.limit << "must lead from start to end, and not be 0";
                           }};
constexpr Rule kArangeCount{
    "ARANGE-COUNT", "out",
    [](const Call &c) { return has_numbers(c) && c.tensors[kArangeOut] != nullptr; },
    [](const Call &c) {
      const double steps = steps_of(c);
      const auto count = static_cast<double>(c.tensors[kArangeOut]->count);
      // Where the steps end at the end, rounding of the numbers decides.
      return count == std::ceil(steps) || std::abs(count - steps) <= 1e-6 * std::max(1.0, steps);
    },
    [](const Call &c, Saying &s) {
      s.value << c.tensors[kArangeOut]->count << " elements";
      s.limit << "must be the number of steps, " << std::ceil(steps_of(c));
    }};
constexpr Check kArangeChecks[] = {
    PYACLNN_TENSOR_CHECKS,
    {&kArangeStep, ACLNN_ERR_PARAM_INVALID},
    {&kArangeCount, ACLNN_ERR_PARAM_INVALID},
    {.rule = nullptr, .code = 0, .done = nothing_to_write},
};
constexpr Page kArange{.parameters = kArangeParameters,
                       .checks = kArangeChecks,
                       .lower = [](const Call &call, ExecutorBuilder &builder) -> const void * {
                         ProgressionPlan *plan = make_progression(call, builder);
                         if (plan == nullptr) return nullptr;
                         Progression &p = plan->problem;
                         const Scalar &start = *call.scalars[kStart], &step = *call.scalars[kStep];
                         p.integers = is_whole(start) && is_whole(step);
                         if (p.integers) {
                           p.first = whole_value(start);
                           p.distance = whole_value(step);
                         } else {
                           p.start = real_value(start);
                           p.step = real_value(step);
                         }
                         p.middle = p.count;
                         return plan;
                       },
                       .run = run_progression,
                       .small = small_progression,
                       .outputs = kRealNumbers};

// ---- aclnnLinspace

enum : int { kSteps = 2, kLinspaceOut };
constexpr Parameter kLinspaceParameters[] = {
    {"start", Kind::Scalar}, {"end", Kind::Scalar}, {"steps", Kind::Integer}, {"out", Kind::Out}};
constexpr Rule kLinspaceCount{
    "LINSPACE-STEPS", "steps", [](const Call &c) { return c.tensors[kLinspaceOut] != nullptr; },
    [](const Call &c) { return c.words[kSteps].integer == c.tensors[kLinspaceOut]->count; },
    [](const Call &c, Saying &s) {
      s.value << c.words[kSteps].integer;
      s.limit << "must be the number of elements of out, " << c.tensors[kLinspaceOut]->count;
    }};
constexpr Check kLinspaceChecks[] = {
    PYACLNN_TENSOR_CHECKS,
    {&kLinspaceCount, ACLNN_ERR_PARAM_INVALID},
    {.rule = nullptr, .code = 0, .done = nothing_to_write},
};
constexpr Page kLinspace{
    .parameters = kLinspaceParameters,
    .checks = kLinspaceChecks,
    .lower = [](const Call &call, ExecutorBuilder &builder) -> const void * {
      ProgressionPlan *plan = make_progression(call, builder);
      if (plan == nullptr) return nullptr;
      Progression &p = plan->problem;
      p.start = real_value(*call.scalars[kStart]);
      p.end = real_value(*call.scalars[kEnd]);
      p.step = p.count > 1 ? (p.end - p.start) / static_cast<double>(p.count - 1) : 0;
      p.middle = p.count > 1 ? p.count / 2 : 1;
      return plan;
    },
    .run = run_progression,
    .small = small_progression,
    .outputs = kRealNumbers};

// ---- bands of matrices

struct BandPlan : TensorPlan {
  Band problem;
};
int32_t run_band(const void *plan, std::byte *const *addresses, std::byte *, Text &why) {
  const auto &p = *static_cast<const BandPlan *>(plan);
  if (!addressed(p, addresses, why)) return kTaskFailed;
  return run(p.problem, addresses) ? 0 : out_of_host_memory(p.function, why);
}
bool small_band(const void *plan) {
  return estimated_ns(static_cast<const BandPlan *>(plan)->problem) < kSmallNs;
}
BandPlan *make_band(const Call &call, ExecutorBuilder &builder, int input) {
  void *memory = builder.allocate(sizeof(BandPlan));
  if (memory == nullptr) return nullptr;
  auto *plan = new (memory) BandPlan;
  Band &p = plan->problem;
  const Slots slots = bind(call, builder);
  name_slots(call, slots, *plan);
  const Tensor &out = *call.tensors[call.output];
  if (input >= 0) {
    p.input = source_of(call, input, out.shape(), slots);
    p.input.view = merged(p.input.view);
  }
  p.output = source_of(call, call.output, out.shape(), slots);
  p.output.view = merged(p.output.view);
  p.rows = out.dims[out.rank - 2];
  p.columns = out.dims[out.rank - 1];
  p.count = out.count;
  return plan;
}

constexpr Rule kMatrix{"TRIANGLE-RANK", "self",
                       [](const Call &c) { return c.tensors[0] != nullptr; },
                       [](const Call &c) { return c.tensors[0]->rank >= 2; },
                       [](const Call &c, Saying &s) {
                         s.parameter = c.parameter(0).name;
                         s.value << "shape " << c.tensors[0]->shape();
                         s.limit << "must have at least 2 dimensions";
                       }};
constexpr Check kTriangleChecks[] = {
    PYACLNN_TENSOR_CHECKS,
    {&kMatrix, ACLNN_ERR_PARAM_INVALID},
    {&kOutShape, ACLNN_ERR_PARAM_INVALID},
    {.rule = nullptr, .code = 0, .done = nothing_to_write},
};
constexpr int64_t kFar = int64_t{1} << 62;
template <bool kUpper>
const void *lower_triangle(const Call &call, ExecutorBuilder &builder) {
  BandPlan *plan = make_band(call, builder, 0);
  if (plan == nullptr) return nullptr;
  const int64_t diagonal = std::clamp(call.words[1].integer, -kFar, kFar);
  plan->problem.low = kUpper ? diagonal : -kFar;
  plan->problem.high = kUpper ? kFar : diagonal;
  return plan;
}
constexpr Parameter kTriangleParameters[] = {
    {"self", Kind::In}, {"diagonal", Kind::Integer}, {"out", Kind::Out}};
constexpr Parameter kTriangleRef[] = {{"selfRef", Kind::Ref}, {"diagonal", Kind::Integer}};
template <bool kUpper>
constexpr Page triangle(std::span<const Parameter> parameters) {
  return {.parameters = parameters,
          .checks = kTriangleChecks,
          .lower = lower_triangle<kUpper>,
          .run = run_band,
          .small = small_band};
}
constexpr Page kTriu = triangle<true>(kTriangleParameters),
               kTril = triangle<false>(kTriangleParameters);
constexpr Page kInplaceTriu = triangle<true>(kTriangleRef),
               kInplaceTril = triangle<false>(kTriangleRef);

// ---- aclnnEye

constexpr Parameter kEyeParameters[] = {
    {"n", Kind::Integer}, {"m", Kind::Integer}, {"out", Kind::Out}};
constexpr Rule kEyeShape{"EYE-SHAPE", "n, m", [](const Call &c) { return c.tensors[2] != nullptr; },
                         [](const Call &c) {
                           const Tensor &out = *c.tensors[2];
                           return out.rank == 2 && out.dims[0] == c.words[0].integer &&
                                  out.dims[1] == c.words[1].integer;
                         },
                         [](const Call &c, Saying &s) {
                           s.parameter = "out";
                           s.value << "shape " << c.tensors[2]->shape();
                           s.limit << "must be (n, m), (" << c.words[0].integer << ", "
                                   << c.words[1].integer << ')';
                         }};
constexpr Check kEyeChecks[] = {
    PYACLNN_TENSOR_CHECKS,
    {&kEyeShape, ACLNN_ERR_PARAM_INVALID},
    {.rule = nullptr, .code = 0, .done = nothing_to_write},
};
constexpr Page kEye{.parameters = kEyeParameters,
                    .checks = kEyeChecks,
                    .lower = [](const Call &call, ExecutorBuilder &builder) -> const void * {
                      BandPlan *plan = make_band(call, builder, -1);
                      if (plan == nullptr) return nullptr;
                      const int32_t one = 1;
                      const Type type = plan->problem.output.type;
                      convert_run(&one, Type::i32, plan->problem.input.value,
                                  native_type(compute_of(type)), 1);
                      return plan;
                    },
                    .run = run_band,
                    .small = small_band};

}  // namespace
}  // namespace pyaclnn::tensors

PYACLNN_TENSOR_OPERATOR(aclnnArange, kArange,
                        (const aclScalar *start, const aclScalar *end, const aclScalar *step,
                         aclTensor *out),
                        start, end, step, out);
PYACLNN_TENSOR_OPERATOR(aclnnLinspace, kLinspace,
                        (const aclScalar *start, const aclScalar *end, int64_t steps,
                         aclTensor *out),
                        start, end, steps, out);
PYACLNN_TENSOR_OPERATOR(aclnnEye, kEye, (int64_t n, int64_t m, aclTensor *out), n, m, out);
PYACLNN_TENSOR_OPERATOR(aclnnTriu, kTriu, (const aclTensor *self, int64_t diagonal, aclTensor *out),
                        self, diagonal, out);
PYACLNN_TENSOR_OPERATOR(aclnnTril, kTril, (const aclTensor *self, int64_t diagonal, aclTensor *out),
                        self, diagonal, out);
PYACLNN_TENSOR_OPERATOR(aclnnInplaceTriu, kInplaceTriu,
                        (const aclTensor *selfRef, int64_t diagonal), selfRef, diagonal);
PYACLNN_TENSOR_OPERATOR(aclnnInplaceTril, kInplaceTril,
                        (const aclTensor *selfRef, int64_t diagonal), selfRef, diagonal);
