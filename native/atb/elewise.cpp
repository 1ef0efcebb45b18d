// ElewiseOperation: a function of each element of one tensor, or of two.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "acl/acl_base.h"
#include "atb/infer_op_params.h"
#include "atb/operation.hpp"
#include "support/half.hpp"
#include "support/pool.hpp"

namespace pyaclnn::atb {
namespace {

using Param = infer::ElewiseParam;
using Type = Param::ElewiseType;

struct Limits : Row {};
constexpr Limits kLimits[] = {
    {{ProductId::AtlasA2}},   {{ProductId::AtlasA3}},  {{ProductId::Ascend950, false}},
    {{ProductId::Atlas310P}}, {{ProductId::Atlas910}},
};

using Call = OperationCall<Param, Limits>;
using Rule = pyaclnn::Rule<Call>;

enum : size_t { kX, kY };
enum : size_t { kOut };

Type type(const Call &c) { return c.param.elewiseType; }
template <Type... kTypes>
bool is(const Call &c) {
  return ((type(c) == kTypes) || ...);
}
constexpr auto is_cast = is<Param::ELEWISE_CAST>;
constexpr auto is_quant = is<Param::ELEWISE_QUANT, Param::ELEWISE_QUANT_PER_CHANNEL,
                             Param::ELEWISE_DEQUANT_PER_CHANNEL, Param::ELEWISE_DYNAMIC_QUANT>;
constexpr auto compares = is<Param::ELEWISE_LESS, Param::ELEWISE_GREATER, Param::ELEWISE_EQUAL>;
bool binary(const Call &c) {
  return compares(c) ||
         is<Param::ELEWISE_ADD, Param::ELEWISE_MUL, Param::ELEWISE_REALDIV,
            Param::ELEWISE_LOGICAL_AND, Param::ELEWISE_LOGICAL_OR, Param::ELEWISE_SUB>(c);
}

constexpr Slot<Call> kInputs[] = {{"x"}, {"y", binary}};
constexpr Slot<Call> kOutputs[] = {{"out"}};

// x y > out
constexpr Signature kCast[] = {"h * > f",    "f * > h", "i4 * > i64",
                               "i64 * > i4", "b * > f", "f * > b"};
constexpr Signature kFloats[] = {"h h > h", "f f > f", "b b > b"};
constexpr Signature kHalves[] = {"h h > h", "b b > b"};
constexpr Signature kAdd[] = {"h h > h", "f f > f", "b b > b", "i4 i4 > i4", "i64 i64 > i64"};
constexpr Signature kSub[] = {"h h > h", "i64 i64 > i64", "b b > b"};
constexpr Signature kLogical[] = {"i8 i8 > i8"};
constexpr Signature kOrder[] = {"i64 i64 > i8", "h h > i8", "f f > i8", "b b > i8"};
constexpr Signature kEqual[] = {"h h > i8", "f f > i8", "b b > i8"};
constexpr SignatureGroup<Call> kSignatures[] = {
    {is_cast, kCast},
    {is<Param::ELEWISE_MULS, Param::ELEWISE_COS, Param::ELEWISE_SIN, Param::ELEWISE_REALDIV>,
     kFloats},
    {is<Param::ELEWISE_NEG, Param::ELEWISE_TANH, Param::ELEWISE_MUL>, kHalves},
    {is<Param::ELEWISE_ADD>, kAdd},
    {is<Param::ELEWISE_SUB>, kSub},
    {is<Param::ELEWISE_LESS, Param::ELEWISE_GREATER>, kOrder},
    {is<Param::ELEWISE_EQUAL>, kEqual},
    {nullptr, kLogical},
};

// ---- rules

template <size_t kSize>
bool zero(const uint8_t (&bytes)[kSize]) {
  return std::all_of(bytes, bytes + kSize, [](uint8_t byte) { return byte == 0; });
}
// Of the structures inside; kReserved looks at the outer one.
constexpr Rule kReservedInside{
    "ELEWISE-RESERVED", "quantParam, mulsParam", nullptr,
    [](const Call &c) { return zero(c.param.quantParam.rsv) && zero(c.param.mulsParam.rsv); },
    [](const Call &c, Saying &s) {
      s.parameter = zero(c.param.quantParam.rsv) ? "mulsParam" : "quantParam";
      s.value << "rsv holds bytes that are not 0";
      s.limit << "all reserved bytes must be 0";
    }};
constexpr Rule kType{"ELEWISE-TYPE", "elewiseType", nullptr,
                     [](const Call &c) {
                       return type(c) > Param::ELEWISE_UNDEFINED &&
                              type(c) < Param::ELEWISE_TYPE_MAX;
                     },
                     [](const Call &c, Saying &s) {
                       s.value << static_cast<int>(type(c));
                       s.limit << "must be 1 .. 20";
                     }};
constexpr Rule kQuant{"ELEWISE-QUANT", "elewiseType", nullptr,
                      [](const Call &c) { return !is_quant(c); },
                      [](const Call &c, Saying &s) {
                        s.value << static_cast<int>(type(c));
                        s.limit << "quantising types (6, 17, 18, 19) are not supported on a CPU";
                      }};
constexpr Check<Call> kCreate[] = {
    {&kReserved<Call>, ::atb::ERROR_INVALID_PARAM}, {&kReservedInside, ::atb::ERROR_INVALID_PARAM},
    {&kType, ::atb::ERROR_INVALID_PARAM},           {&kQuant, ::atb::ERROR_INVALID_PARAM},
    {&kOffered<Call>, ::atb::ERROR_CANN_ERROR},
};

// The dimension that broadcasting gives, counted from the last one; -1: the two do not fit.
int64_t joint_dim(const TensorDesc &x, const TensorDesc &y, size_t from_last) {
  const auto dim = [from_last](const TensorDesc &t) {
    const auto rank = static_cast<size_t>(t.shape.dimNum);
    return from_last < rank ? t.shape.dims[rank - 1 - from_last] : 1;
  };
  const int64_t a = dim(x), b = dim(y);
  return a == b || b == 1 ? a : a == 1 ? b : -1;
}
size_t joint_rank(const Call &c) {
  return static_cast<size_t>(std::max(c.rank(kX), binary(c) ? c.rank(kY) : 0));
}
bool ranked(const Call &c) {
  return counted(c) && c.rank(kX) > 0 && (!binary(c) || c.rank(kY) > 0);
}
bool broadcasts(const Call &c) {
  for (size_t i = 0; i < joint_rank(c); ++i) {
    if (joint_dim(*c.desc(kX), *c.desc(kY), i) < 0) return false;
  }
  return true;
}
bool castable(aclDataType dtype) {
  return dtype == ACL_FLOAT16 || dtype == ACL_FLOAT || dtype == ACL_INT32 || dtype == ACL_INT64 ||
         dtype == ACL_BF16;
}

constexpr Rule kOutType{"ELEWISE-OUT-TYPE",
                        "outTensorType",
                        nullptr,
                        [](const Call &c) {
                          return c.param.outTensorType == ACL_DT_UNDEFINED ||
                                 castable(c.param.outTensorType);
                        },
                        [](const Call &c, Saying &s) {
                          s.value << static_cast<int>(c.param.outTensorType);
                          s.limit << "must be FLOAT16, FLOAT, INT32, INT64, BFLOAT16 or UNDEFINED";
                        },
                        is_cast};
constexpr Rule kBroadcast{"ELEWISE-BROADCAST",
                          "y",
                          ranked,
                          broadcasts,
                          [](const Call &c, Saying &s) {
                            say_shape(c.desc(kY), s.value);
                            s.limit << "dimensions must be equal to those of x or 1, from the "
                                       "last one on: ";
                            say_shape(c.desc(kX), s.limit);
                          },
                          binary};
constexpr Check<Call> kInfer[] = {
    {&kOutType, ::atb::ERROR_INVALID_PARAM},
    {&kBroadcast, ::atb::ERROR_INVALID_TENSOR_DIM},
};

aclDataType cast_type(const Call &c) {
  if (c.param.outTensorType != ACL_DT_UNDEFINED) return c.param.outTensorType;
  return c.desc(kX)->dtype == ACL_FLOAT ? ACL_FLOAT16 : ACL_FLOAT;
}

void describe(const Call &c, SVector<TensorDesc> &outputs) {
  TensorDesc out = *c.desc(kX);
  if (is_cast(c)) out.dtype = cast_type(c);
  if (compares(c)) out.dtype = ACL_INT8;
  if (binary(c)) {
    const size_t rank = joint_rank(c);
    out.shape.dimNum = rank;
    for (size_t i = 0; i < rank; ++i) {
      out.shape.dims[rank - 1 - i] = joint_dim(*c.desc(kX), *c.desc(kY), i);
    }
  }
  outputs[kOut] = out;
}

bool described(const Call &c) { return ranked(c) && (!binary(c) || broadcasts(c)); }
bool out_shape_fits(const Call &c) {
  const TensorDesc wanted = first_output(c, describe);
  TensorDesc out = *c.out_desc(kOut);
  out.dtype = wanted.dtype;  // judged by the signature
  return same_desc(wanted, out);
}
// Not looked at by the device, which would write behind the end.
constexpr Rule kOutShape{"ELEWISE-OUT-SHAPE", "out", described, out_shape_fits,
                         [](const Call &c, Saying &s) {
                           const TensorDesc wanted = first_output(c, describe);
                           say_shape(c.out_desc(kOut), s.value);
                           s.limit << "must be as InferShape says: ";
                           say_shape(&wanted, s.limit);
                         }};
constexpr Check<Call> kKernelChecks[] = {{&kOutShape, ::atb::ERROR_INVALID_TENSOR_DIM}};

// ---- the work

struct Half {
  uint16_t bits;
};
struct Bfloat16 {
  uint16_t bits;
};
float widened(Half v) { return half_to_float(v.bits); }
float widened(Bfloat16 v) { return bfloat16_to_float(v.bits); }
template <class T>
T widened(T v) {
  return v;
}
template <class T, class V>
T narrowed(V v) {
  if constexpr (std::is_same_v<T, Half>) {
    return {float_to_half(v)};
  } else if constexpr (std::is_same_v<T, Bfloat16>) {
    return {float_to_bfloat16(v)};
  } else {
    return static_cast<T>(v);
  }
}

// Integers wrap around.
template <class V>
using Wrapping = typename std::conditional_t<std::is_integral_v<V>, std::make_unsigned<V>,
                                             std::type_identity<V>>::type;

struct Same {
  template <class V>
  V operator()(V x, V, float) const {
    return x;
  }
};
struct Muls {
  float operator()(float x, float, float factor) const { return x * factor; }
};
struct Cos {
  float operator()(float x, float, float) const { return std::cos(x); }
};
struct Sin {
  float operator()(float x, float, float) const { return std::sin(x); }
};
struct Tanh {
  float operator()(float x, float, float) const { return std::tanh(x); }
};
struct Neg {
  float operator()(float x, float, float) const { return -x; }
};
struct Add {
  template <class V>
  V operator()(V x, V y, float) const {
    return static_cast<V>(static_cast<Wrapping<V>>(x) + static_cast<Wrapping<V>>(y));
  }
};
struct Sub {
  template <class V>
  V operator()(V x, V y, float) const {
    return static_cast<V>(static_cast<Wrapping<V>>(x) - static_cast<Wrapping<V>>(y));
  }
};
struct Mul {
  float operator()(float x, float y, float) const { return x * y; }
};
struct Div {
  float operator()(float x, float y, float) const { return x / y; }
};
struct Not {
  bool operator()(int8_t x, int8_t, float) const { return x == 0; }
};
struct And {
  bool operator()(int8_t x, int8_t y, float) const { return x != 0 && y != 0; }
};
struct Or {
  bool operator()(int8_t x, int8_t y, float) const { return x != 0 || y != 0; }
};
struct Less {
  template <class V>
  bool operator()(V x, V y, float) const {
    return x < y;
  }
};
struct Greater {
  template <class V>
  bool operator()(V x, V y, float) const {
    return x > y;
  }
};
struct Equal {
  template <class V>
  bool operator()(V x, V y, float) const {
    return x == y;
  }
};

// `count` elements; a step is 0 where the operand is broadcast. Without a second operand y is x.
using Loop = void (*)(const std::byte *x, int64_t x_step, const std::byte *y, int64_t y_step,
                      std::byte *out, int64_t count, float attribute);
template <class T, class Result, class Function>
void loop(const std::byte *x, int64_t x_step, const std::byte *y, int64_t y_step, std::byte *out,
          int64_t count, float attribute) {
  const Function function;
  for (int64_t i = 0; i < count; ++i) {
    T a, b;
    std::memcpy(&a, x + i * x_step * static_cast<int64_t>(sizeof(T)), sizeof(T));
    std::memcpy(&b, y + i * y_step * static_cast<int64_t>(sizeof(T)), sizeof(T));
    const auto result = narrowed<Result>(function(widened(a), widened(b), attribute));
    std::memcpy(out + i * static_cast<int64_t>(sizeof(Result)), &result, sizeof(Result));
  }
}

// The loop of a row of kSignatures' tables.
template <class Function, class... Types>
Loop loop_of(aclDataType dtype) {
  const struct {
    aclDataType dtype;
    Loop loop;
  } all[] = {{Types::kDtype, loop<typename Types::Element, typename Types::Result, Function>}...};
  for (const auto &each : all) {
    if (each.dtype == dtype) return each.loop;
  }
  return nullptr;
}
template <aclDataType kType, class T, class R = T>
struct Typed {
  static constexpr aclDataType kDtype = kType;
  using Element = T;
  using Result = R;
};
using F16 = Typed<ACL_FLOAT16, Half>;
using F32 = Typed<ACL_FLOAT, float>;
using B16 = Typed<ACL_BF16, Bfloat16>;
using I32 = Typed<ACL_INT32, int32_t>;
using I64 = Typed<ACL_INT64, int64_t>;
using I8 = Typed<ACL_INT8, int8_t>;
template <class T>
using Truth = Typed<T::kDtype, typename T::Element, int8_t>;

Loop cast_loop(aclDataType from, aclDataType to) {
  if (from == ACL_FLOAT16) return loop<Half, float, Same>;
  if (from == ACL_BF16) return loop<Bfloat16, float, Same>;
  if (from == ACL_INT32) return loop<int32_t, int64_t, Same>;
  if (from == ACL_INT64) return loop<int64_t, int32_t, Same>;
  return to == ACL_FLOAT16 ? loop<float, Half, Same> : loop<float, Bfloat16, Same>;
}

Loop choose(Type type, aclDataType x, aclDataType out) {
  switch (type) {
    case Param::ELEWISE_CAST: return cast_loop(x, out);
    case Param::ELEWISE_MULS: return loop_of<Muls, F16, F32, B16>(x);
    case Param::ELEWISE_COS: return loop_of<Cos, F16, F32, B16>(x);
    case Param::ELEWISE_SIN: return loop_of<Sin, F16, F32, B16>(x);
    case Param::ELEWISE_NEG: return loop_of<Neg, F16, B16>(x);
    case Param::ELEWISE_TANH: return loop_of<Tanh, F16, B16>(x);
    case Param::ELEWISE_LOGICAL_NOT: return loop_of<Not, I8>(x);
    case Param::ELEWISE_ADD: return loop_of<Add, F16, F32, B16, I32, I64>(x);
    case Param::ELEWISE_SUB: return loop_of<Sub, F16, I64, B16>(x);
    case Param::ELEWISE_MUL: return loop_of<Mul, F16, B16>(x);
    case Param::ELEWISE_REALDIV: return loop_of<Div, F16, F32, B16>(x);
    case Param::ELEWISE_LOGICAL_AND: return loop_of<And, I8>(x);
    case Param::ELEWISE_LOGICAL_OR: return loop_of<Or, I8>(x);
    case Param::ELEWISE_LESS:
      return loop_of<Less, Truth<I64>, Truth<F16>, Truth<F32>, Truth<B16>>(x);
    case Param::ELEWISE_GREATER:
      return loop_of<Greater, Truth<I64>, Truth<F16>, Truth<F32>, Truth<B16>>(x);
    case Param::ELEWISE_EQUAL: return loop_of<Equal, Truth<F16>, Truth<F32>, Truth<B16>>(x);
    default: return nullptr;
  }
}

constexpr int64_t kChunk = 16 * 1024;          // elements of one item
constexpr int64_t kInlineElements = 8 * 1024;  // about 30 us of the dearest function

struct ElewisePlan final : Plan {
  Loop loop = nullptr;
  float attribute = 0;
  bool two = false;
  int64_t count = 0;
  int64_t in_bytes = 0, out_bytes = 0;  // of an element
  // The output's dimensions and the operands' strides in elements, 0 where they are broadcast.
  size_t rank = 0;
  std::array<int64_t, MAX_DIM> dims{}, x_stride{}, y_stride{};

  int32_t run(std::span<std::byte *const> addresses, std::byte *, Text &why) const override {
    const char *const names[] = {"x", two ? "y" : "out", "out"};
    for (size_t i = 0; i < addresses.size(); ++i) {
      if (addresses[i] == nullptr) return null_data(names[i], why);
    }
    struct Work {
      const ElewisePlan *plan;
      const std::byte *x, *y;
      std::byte *out;
    } work{this, addresses[0], addresses[two ? 1 : 0], addresses.back()};
    auto one = [](void *context, int64_t item) {
      const Work &w = *static_cast<const Work *>(context);
      w.plan->compute(w.x, w.y, w.out, item * kChunk, std::min((item + 1) * kChunk, w.plan->count));
    };
    pool_run((count + kChunk - 1) / kChunk, one, &work);
    return 0;
  }

  // Elements [begin, end) of the output, a stretch of its last dimension at a time.
  void compute(const std::byte *x, const std::byte *y, std::byte *out, int64_t begin,
               int64_t end) const {
    const size_t last = rank - 1;
    while (begin < end) {
      int64_t rest = begin, x_at = 0, y_at = 0;
      for (size_t d = rank; d-- > 0;) {
        x_at += rest % dims[d] * x_stride[d];
        y_at += rest % dims[d] * y_stride[d];
        rest /= dims[d];
      }
      const int64_t stretch = std::min(end - begin, dims[last] - begin % dims[last]);
      loop(x + x_at * in_bytes, x_stride[last], y + y_at * in_bytes, y_stride[last],
           out + begin * out_bytes, stretch, attribute);
      begin += stretch;
    }
  }
};

void set_strides(const TensorDesc &operand, size_t rank, std::array<int64_t, MAX_DIM> &strides) {
  int64_t stride = 1;
  const auto own = static_cast<size_t>(operand.shape.dimNum);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t dim = i < own ? operand.shape.dims[own - 1 - i] : 1;
    strides[rank - 1 - i] = dim == 1 ? 0 : stride;
    stride *= dim;
  }
}

std::unique_ptr<Plan> lower(const Call &c) {
  auto plan = std::make_unique<ElewisePlan>();
  const TensorDesc &x = *c.desc(kX), &out = *c.out_desc(kOut);
  const TensorDesc &y = binary(c) ? *c.desc(kY) : x;
  plan->loop = choose(type(c), x.dtype, out.dtype);
  plan->attribute = c.param.mulsParam.varAttr;
  plan->two = binary(c);
  plan->count = static_cast<int64_t>(elements_of(out));
  plan->in_bytes = static_cast<int64_t>(aclDataTypeSize(x.dtype));
  plan->out_bytes = static_cast<int64_t>(aclDataTypeSize(out.dtype));
  if (elements_of(x) == elements_of(out) && elements_of(y) == elements_of(out)) {
    // Nothing is broadcast: one long dimension.
    plan->rank = 1;
    plan->dims[0] = plan->count;
    plan->x_stride[0] = plan->y_stride[0] = 1;
  } else {
    plan->rank = static_cast<size_t>(out.shape.dimNum);
    std::copy(out.shape.dims, out.shape.dims + plan->rank, plan->dims.begin());
    set_strides(x, plan->rank, plan->x_stride);
    set_strides(y, plan->rank, plan->y_stride);
  }
  plan->small = plan->count <= kInlineElements;
  return plan;
}

constexpr Definition<Call> kDefinition{
    .name = "ElewiseOperation",
    .limits = kLimits,
    .inputs = kInputs,
    .outputs = kOutputs,
    .signatures = kSignatures,
    .create = kCreatePath<Call, kCreate>,
    .infer = kInferPath<Call, kInfer>,
    .setup = kSetupPath<Call, kInfer, kKernelChecks>,
    .describe = describe,
    .lower = lower,
};
Registration<kDefinition> g_registration;

}  // namespace
}  // namespace pyaclnn::atb

template <>
ACL_FUNC_VISIBILITY atb::Status atb::CreateOperation(const infer::ElewiseParam &opParam,
                                                     Operation **operation) {
  return pyaclnn::atb::create(pyaclnn::atb::kDefinition, opParam, operation);
}
