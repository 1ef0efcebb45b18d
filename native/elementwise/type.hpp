// The element types that the engine computes with.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>

namespace pyaclnn::elementwise {

enum class Type : uint8_t {
  f16,
  bf16,
  f32,
  f64,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  b8,
  c64,
  c128,
  none
};
inline constexpr size_t kTypes = static_cast<size_t>(Type::none);

// What arithmetic is done in. Values of a type are exact in its compute type; integers wrap around
// when they are stored, as if they had been computed in their own width.
enum class Compute : uint8_t { f32, f64, i32, i64, u64, c64, c128 };
inline constexpr size_t kComputes = 7;

// A set of types.
using Types = uint32_t;
constexpr Types bit(Type type) { return Types{1} << static_cast<unsigned>(type); }
constexpr bool has(Types types, Type type) { return (types & bit(type)) != 0; }

inline constexpr Types kHalves = bit(Type::f16) | bit(Type::bf16);
inline constexpr Types kFloats = kHalves | bit(Type::f32) | bit(Type::f64);
inline constexpr Types kSigned =
    bit(Type::i8) | bit(Type::i16) | bit(Type::i32) | bit(Type::i64) | bit(Type::u8);
inline constexpr Types kWideUnsigned = bit(Type::u16) | bit(Type::u32) | bit(Type::u64);
inline constexpr Types kIntegers = kSigned | kWideUnsigned;
inline constexpr Types kBool = bit(Type::b8);
inline constexpr Types kComplex = bit(Type::c64) | bit(Type::c128);
inline constexpr Types kReal = kFloats | kIntegers | kBool;
inline constexpr Types kAll = kReal | kComplex;

constexpr bool is_float(Type t) { return has(kFloats, t); }
constexpr bool is_integer(Type t) { return has(kIntegers, t); }
constexpr bool is_complex(Type t) { return has(kComplex, t); }

constexpr size_t size_of(Type type) {
  switch (type) {
    case Type::i8:
    case Type::u8:
    case Type::b8: return 1;
    case Type::f16:
    case Type::bf16:
    case Type::i16:
    case Type::u16: return 2;
    case Type::f32:
    case Type::i32:
    case Type::u32: return 4;
    case Type::c128: return 16;
    default: return 8;
  }
}

constexpr Compute compute_of(Type type) {
  switch (type) {
    case Type::f16:
    case Type::bf16:
    case Type::f32: return Compute::f32;
    case Type::f64: return Compute::f64;
    case Type::u32:
    case Type::i64: return Compute::i64;
    case Type::u64: return Compute::u64;
    case Type::c64: return Compute::c64;
    case Type::c128: return Compute::c128;
    default: return Compute::i32;
  }
}

// The type that holds a compute type's values as they are.
constexpr Type native_type(Compute compute) {
  constexpr Type kNative[] = {Type::f32, Type::f64, Type::i32, Type::i64,
                              Type::u64, Type::c64, Type::c128};
  return kNative[static_cast<size_t>(compute)];
}
constexpr bool is_native(Type type) { return native_type(compute_of(type)) == type; }

// The type that values of two types have in common; none where there is no such rule (unsigned
// types beyond 8 bits with other integers).
constexpr Type promote(Type a, Type b) {
  if (a == b || b == Type::b8) return a;
  if (a == Type::b8) return b;
  if (is_complex(a) || is_complex(b)) {
    const bool wide = a == Type::c128 || b == Type::c128 || a == Type::f64 || b == Type::f64;
    return wide ? Type::c128 : Type::c64;
  }
  if (is_float(a) && is_float(b)) {
    return a == Type::f64 || b == Type::f64 ? Type::f64 : Type::f32;
  }
  if (is_float(a)) return a;
  if (is_float(b)) return b;
  if (has(kWideUnsigned, a) || has(kWideUnsigned, b)) return Type::none;
  if (size_of(a) == size_of(b)) return Type::i16;  // i8 and u8
  return size_of(a) > size_of(b) ? a : b;
}

// The C++ types. Halves and bool are kept apart from the integers of their size.
struct Half {
  uint16_t bits;
};
struct Bfloat16 {
  uint16_t bits;
};
struct Bool {
  uint8_t bits;
};

template <Type kType>
struct MemoryOf;
template <>
struct MemoryOf<Type::f16> {
  using type = Half;
};
template <>
struct MemoryOf<Type::bf16> {
  using type = Bfloat16;
};
template <>
struct MemoryOf<Type::f32> {
  using type = float;
};
template <>
struct MemoryOf<Type::f64> {
  using type = double;
};
template <>
struct MemoryOf<Type::i8> {
  using type = int8_t;
};
template <>
struct MemoryOf<Type::i16> {
  using type = int16_t;
};
template <>
struct MemoryOf<Type::i32> {
  using type = int32_t;
};
template <>
struct MemoryOf<Type::i64> {
  using type = int64_t;
};
template <>
struct MemoryOf<Type::u8> {
  using type = uint8_t;
};
template <>
struct MemoryOf<Type::u16> {
  using type = uint16_t;
};
template <>
struct MemoryOf<Type::u32> {
  using type = uint32_t;
};
template <>
struct MemoryOf<Type::u64> {
  using type = uint64_t;
};
template <>
struct MemoryOf<Type::b8> {
  using type = Bool;
};
template <>
struct MemoryOf<Type::c64> {
  using type = std::complex<float>;
};
template <>
struct MemoryOf<Type::c128> {
  using type = std::complex<double>;
};
template <Type kType>
using Memory = typename MemoryOf<kType>::type;
template <Compute kCompute>
using Value = Memory<native_type(kCompute)>;

// For loops that read and write the same index only, whatever overlaps. (Clang looks at run time,
// and takes its own pragma for an order to make vectors of what cannot become any.)
#if defined(__clang__)
#define PYACLNN_INDEPENDENT
#else
#define PYACLNN_INDEPENDENT _Pragma("GCC ivdep")
#endif

}  // namespace pyaclnn::elementwise
