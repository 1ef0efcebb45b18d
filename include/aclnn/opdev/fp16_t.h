/**
 * op::fp16_t: an IEEE 754 binary16 number of two bytes that acts like a built-in type (C++ only).
 *
 * Arithmetic is done in float and rounded once, to nearest even; sums, differences, products and
 * quotients of two binary16 numbers are therefore correctly rounded. Overflow gives infinity.
 */
#ifndef ACLNN_OPDEV_FP16_T_H_
#define ACLNN_OPDEV_FP16_T_H_

#ifdef __cplusplus

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace op {

struct fp16_t {
 private:
  template <typename T>
  using enable_if_number = typename std::enable_if<std::is_arithmetic<T>::value &&
                                                   !std::is_same<T, long double>::value>::type;

 public:
  /** The bits: sign 1, exponent 5, fraction 10. */
  uint16_t val;

  fp16_t() : val(0) {}

  /** From any number; 64-bit integers that a double cannot hold become infinity anyway. */
  template <typename T, typename = enable_if_number<T>>
  fp16_t(T value) : val(from_double(static_cast<double>(value))) {}

  /** Makes a number from its bits. */
  static fp16_t from_bits(uint16_t bits) {
    fp16_t result;
    result.val = bits;
    return result;
  }

  /** Exact. Every other conversion, every comparison and mixed arithmetic goes through it. */
  operator float() const { return to_float(val); }

  fp16_t operator+() const { return *this; }
  fp16_t operator-() const { return from_bits(static_cast<uint16_t>(val ^ 0x8000U)); }

  template <typename T>
  fp16_t &operator+=(T other) {
    return *this = fp16_t(to_float(val) + other);
  }
  template <typename T>
  fp16_t &operator-=(T other) {
    return *this = fp16_t(to_float(val) - other);
  }
  template <typename T>
  fp16_t &operator*=(T other) {
    return *this = fp16_t(to_float(val) * other);
  }
  template <typename T>
  fp16_t &operator/=(T other) {
    return *this = fp16_t(to_float(val) / other);
  }

 private:
  /* Everything passes through double, which holds every float and int exactly: one rounding. */
  static uint16_t from_double(double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    const uint16_t sign = static_cast<uint16_t>((bits >> 48) & 0x8000U);
    const int exponent = static_cast<int>((bits >> 52) & 0x7FFU) - 1023;
    const uint64_t fraction = bits & 0xFFFFFFFFFFFFFULL;
    if (exponent == 1024 && fraction != 0) {
      /* The quiet bit keeps a NaN a NaN even if only low bits of it were set. */
      return static_cast<uint16_t>(sign | 0x7E00U | (fraction >> 42));
    }
    if (exponent > 15) return static_cast<uint16_t>(sign | 0x7C00U);
    if (exponent < -25) return sign;
    /* Bits that drop out: 42 of the fraction, one more per step below the normal range. */
    const int drop = exponent < -14 ? 42 - 14 - exponent : 42;
    const uint64_t whole = fraction | (1ULL << 52);
    const uint64_t kept = whole >> drop;
    const uint64_t rest = whole & ((1ULL << drop) - 1);
    const uint64_t half = 1ULL << (drop - 1);
    const uint64_t up = rest > half || (rest == half && (kept & 1U) != 0) ? 1 : 0;
    /* The leading one of a normal number adds one to the exponent field, hence + 14; a carry
       out of the fraction does the same, up to infinity. */
    const uint64_t base = exponent < -14 ? 0 : static_cast<uint64_t>(exponent + 14) << 10;
    return static_cast<uint16_t>(sign | (base + kept + up));
  }

  static float to_float(uint16_t half) {
    const uint32_t sign = static_cast<uint32_t>(half & 0x8000U) << 16;
    const uint32_t exponent = (half >> 10) & 0x1FU;
    const uint32_t fraction = half & 0x3FFU;
    uint32_t bits;
    float result;
    if (exponent == 0) {
      /* Subnormal: fraction * 2^-24, exact in float. */
      result = static_cast<float>(fraction) * 5.9604644775390625e-8F;
      return sign != 0 ? -result : result;
    }
    if (exponent == 31) {
      bits = sign | 0x7F800000U | (fraction << 13);
    } else {
      bits = sign | ((exponent + 112) << 23) | (fraction << 13);
    }
    std::memcpy(&result, &bits, sizeof(result));
    return result;
  }
};

/*
 * Templates serve two fp16_t only: with plain functions, a + 1.0F could convert either side.
 * Mixed operands use the built-in operators and give the other operand's type (float for integers).
 */
template <typename T>
using enable_if_fp16 = typename std::enable_if<std::is_same<T, fp16_t>::value, fp16_t>::type;

template <typename T>
enable_if_fp16<T> operator+(T a, T b) {
  return fp16_t(static_cast<float>(a) + static_cast<float>(b));
}
template <typename T>
enable_if_fp16<T> operator-(T a, T b) {
  return fp16_t(static_cast<float>(a) - static_cast<float>(b));
}
template <typename T>
enable_if_fp16<T> operator*(T a, T b) {
  return fp16_t(static_cast<float>(a) * static_cast<float>(b));
}
template <typename T>
enable_if_fp16<T> operator/(T a, T b) {
  return fp16_t(static_cast<float>(a) / static_cast<float>(b));
}

static_assert(sizeof(fp16_t) == 2, "fp16_t has the size of a binary16 number");

}  // namespace op

#endif /* __cplusplus */

#endif /* ACLNN_OPDEV_FP16_T_H_ */
