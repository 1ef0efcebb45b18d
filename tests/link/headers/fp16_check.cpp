// op::fp16_t against the definition of binary16: all 65536 values, and the edges of rounding.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <type_traits>

#include "aclnn/opdev/fp16_t.h"

using op::fp16_t;

static_assert(sizeof(fp16_t) == 2, "two bytes");
static_assert(std::is_trivially_copyable<fp16_t>::value, "copied like a number");
static_assert(std::is_same<decltype(fp16_t() + fp16_t()), fp16_t>::value, "stays fp16_t");
static_assert(std::is_same<decltype(fp16_t() * 2.0F), float>::value, "mixed: other operand's type");
static_assert(std::is_same<decltype(2.0 - fp16_t()), double>::value, "mixed: other operand's type");

namespace {

int failures = 0;

void expect(bool condition, const char *what, unsigned detail = 0) {
  if (condition) return;
  std::printf("not ok: %s (%#x)\n", what, detail);
  ++failures;
}

// The value of a bit pattern, from the definition.
double value_of(unsigned bits) {
  const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
  const int exponent = static_cast<int>((bits >> 10) & 31U);
  const double fraction = static_cast<double>(bits & 1023U);
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024.0 + fraction, exponent - 25);
}

void every_value() {
  for (unsigned bits = 0; bits < 65536U; ++bits) {
    const fp16_t half = fp16_t::from_bits(static_cast<uint16_t>(bits));
    const float value = half;
    const fp16_t back = value;
    if ((bits & 0x7C00U) == 0x7C00U) {
      const bool nan = (bits & 0x3FFU) != 0;
      expect(nan ? std::isnan(value) : std::isinf(value), "NaN or infinity", bits);
      expect(nan ? std::isnan(static_cast<float>(back)) : back.val == bits, "kept", bits);
      continue;
    }
    expect(static_cast<double>(value) == value_of(bits), "value", bits);
    expect(back.val == bits, "there and back", bits);
  }
}

// Between each two neighbours: the middle goes to the even one, anything else to the nearer one.
void every_gap() {
  for (unsigned bits = 0; bits < 0x7C00U; ++bits) {
    const double low = value_of(bits);
    const double high = bits == 0x7BFFU ? 65536.0 : value_of(bits + 1);
    const double middle = (low + high) / 2;
    const unsigned even = (bits & 1U) == 0 ? bits : bits + 1;
    expect(fp16_t(middle).val == even, "tie", bits);
    expect(fp16_t(static_cast<float>(middle)).val == even, "tie from float", bits);
    expect(fp16_t(-middle).val == (even | 0x8000U), "negative tie", bits);
    expect(fp16_t(std::nextafter(middle, 0.0)).val == bits, "below the middle", bits);
    expect(fp16_t(std::nextafter(middle, 1e9)).val == bits + 1, "above the middle", bits);
  }
}

void conversions() {
  expect(fp16_t().val == 0, "default is zero");
  expect(fp16_t(1).val == 0x3C00U, "from int");
  expect(fp16_t(-2).val == 0xC000U, "from negative int");
  expect(fp16_t(2049).val == fp16_t(2048).val, "int is rounded");
  expect(fp16_t(70000).val == 0x7C00U, "int overflows");
  expect(fp16_t(static_cast<long long>(3)).val == 0x4200U, "from long long");
  expect(fp16_t(static_cast<uint64_t>(1) << 63).val == 0x7C00U, "from unsigned 64 bits");
  expect(fp16_t(1.0 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40)).val == 0x3C01U,
         "double is rounded once, not by way of float");
  expect(fp16_t(-0.0).val == 0x8000U, "negative zero");
  expect(fp16_t(std::numeric_limits<double>::denorm_min()).val == 0, "tiny");
  expect(fp16_t(-std::numeric_limits<float>::infinity()).val == 0xFC00U, "infinity");
  expect(std::isnan(static_cast<float>(fp16_t(std::nan("")))), "NaN");
  const fp16_t x = 2.75F;
  const double as_double = x;
  const int as_int = static_cast<int>(x);
  expect(as_double == 2.75, "to double");
  expect(as_int == 2, "to int");
}

void arithmetic() {
  const fp16_t a = 1.5F;
  const fp16_t b = 0.25F;
  expect((a + b).val == fp16_t(1.75F).val, "sum");
  expect((a - b).val == fp16_t(1.25F).val, "difference");
  expect((a * b).val == fp16_t(0.375F).val, "product");
  expect((a / b).val == fp16_t(6.0F).val, "quotient");
  expect((fp16_t(1) / fp16_t(3)).val == 0x3555U, "quotient is rounded");
  expect((fp16_t(2048) + fp16_t(1)).val == fp16_t(2048).val, "sum ties to even");
  expect((fp16_t(2050) + fp16_t(1)).val == fp16_t(2052).val, "sum ties to even, upwards");
  expect((fp16_t(60000.0F) + fp16_t(60000.0F)).val == 0x7C00U, "sum overflows");
  expect((-a).val == 0xBE00U && (+a).val == 0x3E00U, "signs");
  expect(a + 1.0F == 2.5F && 1.0F + a == 2.5F && a + 1 == 2.5F && 2.0 * a == 3.0, "mixed");
  fp16_t c = a;
  c += b;
  c -= 0.75F;
  c *= 4;
  c /= 2.0;
  expect(c.val == fp16_t(2).val, "compound");
}

void comparison() {
  const fp16_t small = 1;
  const fp16_t large = 2;
  const fp16_t nan = std::nanf("");
  expect(small < large && small <= large && large > small && large >= small, "order");
  expect(small == fp16_t(1.0F) && small != large && small == 1 && 2.0F == large, "equality");
  expect(fp16_t(0.0F) == fp16_t(-0.0F), "zeros are equal");
  expect(!(nan == nan) && nan != nan && !(nan < small) && !(nan >= small), "NaN");
}

}  // namespace

int main() {
  every_value();
  every_gap();
  conversions();
  arithmetic();
  comparison();
  return failures == 0 ? 0 : 1;
}
