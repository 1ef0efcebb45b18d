// The elementwise operations and their kernels.
#pragma once

#include "elementwise/type.hpp"

namespace pyaclnn::elementwise {

enum class Op : uint8_t {
  Move,  // as it is; types may differ
  Neg,
  Abs,
  Sign,
  Ceil,
  Floor,
  Trunc,
  Round,  // halves to even
  Sqrt,
  Rsqrt,
  Reciprocal,
  Exp,
  Exp2,
  Expm1,
  Log,
  Log2,
  Log10,
  Log1p,
  Sin,
  Cos,
  Tan,
  Tanh,
  Erf,
  Sigmoid,
  Silu,
  Relu,
  BitwiseNot,
  LogicalNot,
  IsFinite,
  IsInf,
  Add,  // a + factor * b
  Sub,  // a - factor * b
  Mul,
  Div,        // floats
  DivTrunc,   // integers: 0 where b is 0
  DivFloor,   // likewise
  Remainder,  // the sign of b; integers: 0 where b is 0
  Fmod,       // the sign of a; likewise
  Pow,
  Minimum,  // NaN wins
  Maximum,
  BitwiseAnd,
  BitwiseOr,
  BitwiseXor,
  LogicalAnd,
  LogicalOr,
  LogicalXor,
  Eq,
  Ne,
  Gt,
  Ge,
  Lt,
  Le,
  Close,     // equal, or |a - b| <= atol + |rtol * b| and finite; `factor`: rtol and atol, doubles
  CloseNan,  // likewise, and NaN is close to NaN
  Clamp,     // min(max(a, b), c), NaN of a stays
  Where,     // a != 0 ? b : c
  Count
};

constexpr int inputs_of(Op op) {
  if (op >= Op::Clamp) return 3;
  return op >= Op::Add ? 2 : 1;
}
// Whether it gives bytes 0 and 1 instead of values.
constexpr bool is_predicate(Op op) {
  return (op >= Op::LogicalNot && op <= Op::IsInf) || (op >= Op::LogicalAnd && op <= Op::CloseNan);
}
// About what a value costs, in nanoseconds.
float cost_of(Op op);

// Dense runs; `out` may be one of the inputs. `factor`: a value of the compute type, or nullptr for
// 1; Close: see there.
using Kernel = void (*)(const void *const *in, void *out, int64_t n, const void *factor);

// nullptr: not defined for these values.
Kernel kernel_of(Op op, Compute compute);

}  // namespace pyaclnn::elementwise
