#include "elementwise/kernels.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

namespace pyaclnn::elementwise {
namespace {

template <class C>
concept Integer = std::is_integral_v<C>;
template <class C>
concept Float = std::is_floating_point_v<C>;
template <class C>
concept Real = Integer<C> || Float<C>;
template <class C>
concept Complex = !Real<C>;

// Integers wrap around.
template <class C>
using Wrapping = typename std::conditional_t<std::is_integral_v<C>, std::make_unsigned<C>,
                                             std::type_identity<C>>::type;

template <Integer C>
C negated(C v) {
  return static_cast<C>(Wrapping<C>{0} - static_cast<Wrapping<C>>(v));
}

// ---- of one value

struct Neg {
  template <class C>
  C operator()(C v) const {
    if constexpr (Integer<C>) {
      return negated(v);
    } else {
      return -v;
    }
  }
};
struct Abs {
  template <Real C>
  C operator()(C v) const {
    if constexpr (Integer<C>) {
      return v < C(0) ? negated(v) : v;
    } else {
      return std::abs(v);
    }
  }
};
struct Sign {
  template <class C>
  C operator()(C v) const {
    if constexpr (Real<C>) {
      return static_cast<C>((C(0) < v) - (v < C(0)));
    } else {
      const auto size = std::abs(v);
      return size == 0 ? C(0) : v / size;
    }
  }
};
struct Ceil {
  template <Real C>
  C operator()(C v) const {
    if constexpr (Float<C>) return std::ceil(v);
    return v;
  }
};
struct Floor {
  template <Real C>
  C operator()(C v) const {
    if constexpr (Float<C>) return std::floor(v);
    return v;
  }
};
struct Trunc {
  template <Real C>
  C operator()(C v) const {
    if constexpr (Float<C>) return std::trunc(v);
    return v;
  }
};
struct Round {
  template <Real C>
  C operator()(C v) const {
    if constexpr (Float<C>) return std::nearbyint(v);
    return v;
  }
};
struct Sqrt {
  template <class C>
  requires(!Integer<C>) C operator()(C v) const { return std::sqrt(v); }
};
struct Rsqrt {
  template <class C>
  requires(!Integer<C>) C operator()(C v) const { return C(1) / std::sqrt(v); }
};
struct Reciprocal {
  template <class C>
  requires(!Integer<C>) C operator()(C v) const { return C(1) / v; }
};
struct Exp {
  template <class C>
  requires(!Integer<C>) C operator()(C v) const { return std::exp(v); }
};
struct Exp2 {
  template <Float C>
  C operator()(C v) const {
    return std::exp2(v);
  }
};
struct Expm1 {
  template <Float C>
  C operator()(C v) const {
    return std::expm1(v);
  }
};
struct Log {
  template <class C>
  requires(!Integer<C>) C operator()(C v) const { return std::log(v); }
};
struct Log2 {
  template <Float C>
  C operator()(C v) const {
    return std::log2(v);
  }
};
struct Log10 {
  template <Float C>
  C operator()(C v) const {
    return std::log10(v);
  }
};
struct Log1p {
  template <Float C>
  C operator()(C v) const {
    return std::log1p(v);
  }
};
struct Sin {
  template <class C>
  requires(!Integer<C>) C operator()(C v) const { return std::sin(v); }
};
struct Cos {
  template <class C>
  requires(!Integer<C>) C operator()(C v) const { return std::cos(v); }
};
struct Tan {
  template <Float C>
  C operator()(C v) const {
    return std::tan(v);
  }
};
struct Tanh {
  template <Float C>
  C operator()(C v) const {
    return std::tanh(v);
  }
};
struct Erf {
  template <Float C>
  C operator()(C v) const {
    return std::erf(v);
  }
};
struct Sigmoid {
  template <Float C>
  C operator()(C v) const {
    return C(1) / (C(1) + std::exp(-v));
  }
};
struct Silu {
  template <Float C>
  C operator()(C v) const {
    return v / (C(1) + std::exp(-v));
  }
};
struct Relu {
  template <Real C>
  C operator()(C v) const {
    return v < C(0) ? C(0) : v;  // NaN stays
  }
};
struct BitwiseNot {
  template <Integer C>
  C operator()(C v) const {
    return static_cast<C>(~v);
  }
};
struct LogicalNot {
  template <class C>
  bool operator()(C v) const {
    return v == C(0);
  }
};
struct IsFinite {
  template <class C>
  bool operator()(C v) const {
    if constexpr (Integer<C>) {
      return true;
    } else if constexpr (Float<C>) {
      return std::abs(v) <= std::numeric_limits<C>::max();
    } else {
      return (*this)(v.real()) && (*this)(v.imag());
    }
  }
};
struct IsInf {
  template <class C>
  bool operator()(C v) const {
    if constexpr (Integer<C>) {
      return false;
    } else if constexpr (Float<C>) {
      return std::abs(v) > std::numeric_limits<C>::max();
    } else {
      return (*this)(v.real()) || (*this)(v.imag());
    }
  }
};

// ---- of two

// By the plain formula, as other libraries do: the product of C repairs infinite results.
template <class C>
C product(C a, C b) {
  if constexpr (Complex<C>) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  } else {
    return static_cast<C>(static_cast<Wrapping<C>>(a) * static_cast<Wrapping<C>>(b));
  }
}
struct Mul {
  template <class C>
  C operator()(C a, C b) const {
    return product(a, b);
  }
};
struct Div {
  template <class C>
  requires(!Integer<C>) C operator()(C a, C b) const { return a / b; }
};
// The quotient toward zero; 0 for b = 0, and the smallest integer by -1 wraps around.
template <Integer C>
C quotient(C a, C b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<C>) {
    if (b == -1) return negated(a);
  }
  return a / b;
}
// a - quotient * b
template <Integer C>
C rest(C a, C b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<C>) {
    if (b == -1) return 0;
  }
  return a % b;
}
struct DivTrunc {
  template <Real C>
  C operator()(C a, C b) const {
    if constexpr (Integer<C>) {
      return quotient(a, b);
    } else {
      return std::trunc(a / b);
    }
  }
};
struct Remainder {
  template <Real C>
  C operator()(C a, C b) const {
    if constexpr (Integer<C>) {
      const C r = rest(a, b);
      return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    } else {
      const C r = std::fmod(a, b);
      return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    }
  }
};
struct DivFloor {
  template <Real C>
  C operator()(C a, C b) const {
    if constexpr (Integer<C>) {
      const C q = quotient(a, b), r = rest(a, b);
      return r != 0 && (r < 0) != (b < 0) ? q - 1 : q;
    } else {  // Python's: exact where a / b would round up to the next integer
      if (b == 0) return a / b;
      const C r = std::fmod(a, b);
      C q = (a - r) / b;
      if (r != 0 && (b < 0) != (r < 0)) q -= C(1);
      if (q == 0) return std::copysign(C(0), a / b);
      const C whole = std::floor(q);
      return q - whole > C(0.5) ? whole + C(1) : whole;
    }
  }
};
struct Fmod {
  template <Real C>
  C operator()(C a, C b) const {
    if constexpr (Integer<C>) {
      return rest(a, b);
    } else {
      return std::fmod(a, b);
    }
  }
};
struct Pow {
  template <class C>
  C operator()(C a, C b) const {
    if constexpr (Integer<C>) {
      if (b < C(0)) {  // 1 / a^-b, toward zero
        if (a == C(1)) return C(1);
        return a == static_cast<C>(-1) ? static_cast<C>(b % 2 == 0 ? 1 : -1) : C(0);
      }
      using W = Wrapping<C>;
      W result = 1, base = static_cast<W>(a);
      for (W left = static_cast<W>(b); left != 0; left >>= 1) {
        if ((left & 1) != 0) result *= base;
        base *= base;
      }
      return static_cast<C>(result);
    } else {
      return std::pow(a, b);
    }
  }
};
struct Minimum {
  template <Real C>
  C operator()(C a, C b) const {
    return a != a || a < b ? a : b;
  }
};
struct Maximum {
  template <Real C>
  C operator()(C a, C b) const {
    return a != a || a > b ? a : b;
  }
};
struct BitwiseAnd {
  template <Integer C>
  C operator()(C a, C b) const {
    return a & b;
  }
};
struct BitwiseOr {
  template <Integer C>
  C operator()(C a, C b) const {
    return a | b;
  }
};
struct BitwiseXor {
  template <Integer C>
  C operator()(C a, C b) const {
    return a ^ b;
  }
};
struct LogicalAnd {
  template <class C>
  bool operator()(C a, C b) const {
    return a != C(0) && b != C(0);
  }
};
struct LogicalOr {
  template <class C>
  bool operator()(C a, C b) const {
    return a != C(0) || b != C(0);
  }
};
struct LogicalXor {
  template <class C>
  bool operator()(C a, C b) const {
    return (a != C(0)) != (b != C(0));
  }
};
struct Eq {
  template <class C>
  bool operator()(C a, C b) const {
    return a == b;
  }
};
struct Ne {
  template <class C>
  bool operator()(C a, C b) const {
    return a != b;
  }
};
struct Gt {
  template <Real C>
  bool operator()(C a, C b) const {
    return a > b;
  }
};
struct Ge {
  template <Real C>
  bool operator()(C a, C b) const {
    return a >= b;
  }
};
struct Lt {
  template <Real C>
  bool operator()(C a, C b) const {
    return a < b;
  }
};
struct Le {
  template <Real C>
  bool operator()(C a, C b) const {
    return a <= b;
  }
};

// ---- of three

struct Clamp {
  template <Real C>
  C operator()(C v, C low, C high) const {
    return Minimum()(Maximum()(v, low), high);
  }
};

// ---- loops

// What a functor's result is stored as.
template <class R>
using Stored = std::conditional_t<std::is_same_v<R, bool>, uint8_t, R>;

template <class F, class C>
void unary(const void *const *in, void *out, int64_t n, const void *) {
  const C *a = static_cast<const C *>(in[0]);
  using R = Stored<decltype(F()(C()))>;
  R *to = static_cast<R *>(out);
  PYACLNN_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<R>(F()(a[i]));
}
template <class F, class C>
void binary(const void *const *in, void *out, int64_t n, const void *) {
  const C *a = static_cast<const C *>(in[0]), *b = static_cast<const C *>(in[1]);
  using R = Stored<decltype(F()(C(), C()))>;
  R *to = static_cast<R *>(out);
  PYACLNN_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<R>(F()(a[i], b[i]));
}
template <class F, class C>
void ternary(const void *const *in, void *out, int64_t n, const void *) {
  const C *a = static_cast<const C *>(in[0]), *b = static_cast<const C *>(in[1]),
          *c = static_cast<const C *>(in[2]);
  C *to = static_cast<C *>(out);
  PYACLNN_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) to[i] = F()(a[i], b[i], c[i]);
}
// The first input is bytes, whatever the compute type.
template <class C>
void where(const void *const *in, void *out, int64_t n, const void *) {
  const auto *a = static_cast<const uint8_t *>(in[0]);
  const C *b = static_cast<const C *>(in[1]), *c = static_cast<const C *>(in[2]);
  C *to = static_cast<C *>(out);
  PYACLNN_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) to[i] = a[i] != 0 ? b[i] : c[i];
}
template <bool kNan, class C>
void close(const void *const *in, void *out, int64_t n, const void *factor) {
  const C *a = static_cast<const C *>(in[0]), *b = static_cast<const C *>(in[1]);
  const auto *bounds = static_cast<const double *>(factor);
  auto *to = static_cast<uint8_t *>(out);
  for (int64_t i = 0; i < n; ++i) {
    const auto x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
    const double apart = std::abs(x - y);
    to[i] = a[i] == b[i] || (kNan && x != x && y != y) ||
            (std::isfinite(apart) && apart <= bounds[1] + std::abs(bounds[0] * y));
  }
}
template <bool kMinus, class C>
void sum(const void *const *in, void *out, int64_t n, const void *factor) {
  using W = Wrapping<C>;
  const C *a = static_cast<const C *>(in[0]), *b = static_cast<const C *>(in[1]);
  C *to = static_cast<C *>(out);
  if (factor == nullptr) {
    PYACLNN_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      const W x = static_cast<W>(a[i]), y = static_cast<W>(b[i]);
      to[i] = static_cast<C>(kMinus ? x - y : x + y);
    }
    return;
  }
  const W times = static_cast<W>(*static_cast<const C *>(factor));
  PYACLNN_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    const W x = static_cast<W>(a[i]), y = product(times, static_cast<W>(b[i]));
    to[i] = static_cast<C>(kMinus ? x - y : x + y);
  }
}

template <class F, class C>
constexpr Kernel kernel() {
  if constexpr (requires(F f, C v) { f(v); }) {
    return unary<F, C>;
  } else if constexpr (requires(F f, C v) { f(v, v); }) {
    return binary<F, C>;
  } else if constexpr (requires(F f, C v) { f(v, v, v); }) {
    return ternary<F, C>;
  } else {
    return nullptr;
  }
}

using Row = std::array<Kernel, kComputes>;
template <class F, size_t... kAt>
constexpr Row row(std::index_sequence<kAt...>) {
  return {kernel<F, Value<static_cast<Compute>(kAt)>>()...};
}
template <class F>
inline constexpr Row kRow = row<F>(std::make_index_sequence<kComputes>());
template <bool kMinus, size_t... kAt>
constexpr Row sums(std::index_sequence<kAt...>) {
  return {sum<kMinus, Value<static_cast<Compute>(kAt)>>...};
}
template <size_t... kAt>
constexpr Row wheres(std::index_sequence<kAt...>) {
  return {where<Value<static_cast<Compute>(kAt)>>...};
}
// Of complex numbers: not defined.
template <bool kNan, class C>
constexpr Kernel close_of() {
  if constexpr (Real<C>) {
    return close<kNan, C>;
  } else {
    return nullptr;
  }
}
template <bool kNan, size_t... kAt>
constexpr Row closes(std::index_sequence<kAt...>) {
  return {close_of<kNan, Value<static_cast<Compute>(kAt)>>()...};
}

const Row *row_of(Op op) {
  static constexpr Row kAdd = sums<false>(std::make_index_sequence<kComputes>());
  static constexpr Row kSub = sums<true>(std::make_index_sequence<kComputes>());
  static constexpr Row kClose = closes<false>(std::make_index_sequence<kComputes>());
  static constexpr Row kCloseNan = closes<true>(std::make_index_sequence<kComputes>());
  static constexpr Row kWhere = wheres(std::make_index_sequence<kComputes>());
  switch (op) {
    case Op::Neg: return &kRow<Neg>;
    case Op::Abs: return &kRow<Abs>;
    case Op::Sign: return &kRow<Sign>;
    case Op::Ceil: return &kRow<Ceil>;
    case Op::Floor: return &kRow<Floor>;
    case Op::Trunc: return &kRow<Trunc>;
    case Op::Round: return &kRow<Round>;
    case Op::Sqrt: return &kRow<Sqrt>;
    case Op::Rsqrt: return &kRow<Rsqrt>;
    case Op::Reciprocal: return &kRow<Reciprocal>;
    case Op::Exp: return &kRow<Exp>;
    case Op::Exp2: return &kRow<Exp2>;
    case Op::Expm1: return &kRow<Expm1>;
    case Op::Log: return &kRow<Log>;
    case Op::Log2: return &kRow<Log2>;
    case Op::Log10: return &kRow<Log10>;
    case Op::Log1p: return &kRow<Log1p>;
    case Op::Sin: return &kRow<Sin>;
    case Op::Cos: return &kRow<Cos>;
    case Op::Tan: return &kRow<Tan>;
    case Op::Tanh: return &kRow<Tanh>;
    case Op::Erf: return &kRow<Erf>;
    case Op::Sigmoid: return &kRow<Sigmoid>;
    case Op::Silu: return &kRow<Silu>;
    case Op::Relu: return &kRow<Relu>;
    case Op::BitwiseNot: return &kRow<BitwiseNot>;
    case Op::LogicalNot: return &kRow<LogicalNot>;
    case Op::IsFinite: return &kRow<IsFinite>;
    case Op::IsInf: return &kRow<IsInf>;
    case Op::Add: return &kAdd;
    case Op::Sub: return &kSub;
    case Op::Mul: return &kRow<Mul>;
    case Op::Div: return &kRow<Div>;
    case Op::DivTrunc: return &kRow<DivTrunc>;
    case Op::DivFloor: return &kRow<DivFloor>;
    case Op::Remainder: return &kRow<Remainder>;
    case Op::Fmod: return &kRow<Fmod>;
    case Op::Pow: return &kRow<Pow>;
    case Op::Minimum: return &kRow<Minimum>;
    case Op::Maximum: return &kRow<Maximum>;
    case Op::BitwiseAnd: return &kRow<BitwiseAnd>;
    case Op::BitwiseOr: return &kRow<BitwiseOr>;
    case Op::BitwiseXor: return &kRow<BitwiseXor>;
    case Op::LogicalAnd: return &kRow<LogicalAnd>;
    case Op::LogicalOr: return &kRow<LogicalOr>;
    case Op::LogicalXor: return &kRow<LogicalXor>;
    case Op::Eq: return &kRow<Eq>;
    case Op::Ne: return &kRow<Ne>;
    case Op::Gt: return &kRow<Gt>;
    case Op::Ge: return &kRow<Ge>;
    case Op::Lt: return &kRow<Lt>;
    case Op::Le: return &kRow<Le>;
    case Op::Close: return &kClose;
    case Op::CloseNan: return &kCloseNan;
    case Op::Clamp: return &kRow<Clamp>;
    case Op::Where: return &kWhere;
    case Op::Move:
    case Op::Count: return nullptr;
  }
  return nullptr;
}

}  // namespace

Kernel kernel_of(Op op, Compute compute) {
  const Row *row = row_of(op);
  return row != nullptr ? (*row)[static_cast<size_t>(compute)] : nullptr;
}

float cost_of(Op op) {
  if (op >= Op::Exp && op <= Op::Silu) return 8;
  if (op >= Op::DivTrunc && op <= Op::Pow) return 8;
  return 0.5f;
}

}  // namespace pyaclnn::elementwise
