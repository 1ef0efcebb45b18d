#include "elementwise/convert.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "support/half.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace pyaclnn::elementwise {
namespace {

template <class T>
inline constexpr bool kIsComplex = false;
template <class T>
inline constexpr bool kIsComplex<std::complex<T>> = true;

template <class M>
auto widened(M v) {
  if constexpr (std::is_same_v<M, Half>) {
    return half_to_float(v.bits);
  } else if constexpr (std::is_same_v<M, Bfloat16>) {
    return bfloat16_to_float(v.bits);
  } else if constexpr (std::is_same_v<M, Bool>) {
    return static_cast<int32_t>(v.bits != 0);
  } else {
    return v;
  }
}

// What the processor's truncating conversion gives: the smallest integer for values that do not
// fit and for NaN. Written out, because C++ leaves it undefined.
template <class I, class F>
I truncated(F v) {
  constexpr F kEnd = static_cast<F>(I{1} << (sizeof(I) * 8 - 2)) * 2;
  const bool fits = v >= -kEnd && v < kEnd;
  return fits ? static_cast<I>(v) : std::numeric_limits<I>::min();
}

template <class M, class F>
M integer_of(F v) {
  if constexpr (std::is_same_v<M, uint64_t>) {
    constexpr F kHalf = static_cast<F>(uint64_t{1} << 63);
    return v >= kHalf ? static_cast<uint64_t>(truncated<int64_t>(v - kHalf)) + (uint64_t{1} << 63)
                      : static_cast<uint64_t>(truncated<int64_t>(v));
  } else if constexpr (std::is_same_v<M, int8_t> || std::is_same_v<M, int16_t> ||
                       std::is_same_v<M, uint16_t> || std::is_same_v<M, int32_t>) {
    return static_cast<M>(truncated<int32_t>(v));
  } else {
    return static_cast<M>(truncated<int64_t>(v));
  }
}

template <class M, class C>
M narrowed(C v) {
  if constexpr (std::is_same_v<M, Bool>) {
    return {static_cast<uint8_t>(v != C(0))};
  } else if constexpr (kIsComplex<C>) {
    if constexpr (kIsComplex<M>) {
      return M(v);
    } else {
      return narrowed<M>(v.real());
    }
  } else if constexpr (kIsComplex<M>) {
    return M(static_cast<typename M::value_type>(v));
  } else if constexpr (std::is_same_v<M, Half>) {
    return {float_to_half(static_cast<float>(v))};
  } else if constexpr (std::is_same_v<M, Bfloat16>) {
    return {float_to_bfloat16(static_cast<float>(v))};
  } else if constexpr (std::is_floating_point_v<C> && std::is_integral_v<M>) {
    return integer_of<M>(v);
  } else {
    return static_cast<M>(v);
  }
}

template <Type kType>
void load(const void *from, void *to, int64_t n) {
  using M = Memory<kType>;
  using C = Value<compute_of(kType)>;
  const M *in = static_cast<const M *>(from);
  C *out = static_cast<C *>(to);
  PYACLNN_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<C>(widened(in[i]));
}

template <class C, class M>
void store(const void *from, void *to, int64_t n) {
  const C *in = static_cast<const C *>(from);
  M *out = static_cast<M *>(to);
  PYACLNN_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) out[i] = narrowed<M>(in[i]);
}

template <size_t... kAt>
constexpr std::array<Convert, kTypes> loads(std::index_sequence<kAt...>) {
  return {load<static_cast<Type>(kAt)>...};
}
template <size_t kFrom, size_t... kAt>
constexpr std::array<Convert, kTypes> stores_from(std::index_sequence<kAt...>) {
  return {store<Value<static_cast<Compute>(kFrom)>, Memory<static_cast<Type>(kAt)>>...};
}
template <size_t... kFrom>
constexpr std::array<std::array<Convert, kTypes>, kComputes> stores(std::index_sequence<kFrom...>) {
  return {stores_from<kFrom>(std::make_index_sequence<kTypes>())...};
}

#if defined(__x86_64__)
// The processor's own conversions; the same bits.
__attribute__((target("avx,f16c"))) void load_half_f16c(const void *from, void *to, int64_t n) {
  const auto *in = static_cast<const uint16_t *>(from);
  auto *out = static_cast<float *>(to);
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    _mm256_storeu_ps(out + i,
                     _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(in + i))));
  }
  for (; i < n; ++i) out[i] = half_to_float(in[i]);
}
__attribute__((target("avx,f16c"))) void store_half_f16c(const void *from, void *to, int64_t n) {
  const auto *in = static_cast<const float *>(from);
  auto *out = static_cast<uint16_t *>(to);
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    _mm_storeu_si128(reinterpret_cast<__m128i *>(out + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT));
  }
  for (; i < n; ++i) out[i] = float_to_half(in[i]);
}
bool has_f16c() {
  // Every processor with AVX2 has F16C, for which not every compiler can ask.
  static const bool has = __builtin_cpu_supports("avx2");
  return has;
}
#endif

}  // namespace

Convert load_of(Type type) {
  static constexpr auto kLoads = loads(std::make_index_sequence<kTypes>());
#if defined(__x86_64__)
  if (type == Type::f16 && has_f16c()) return load_half_f16c;
#endif
  return kLoads[static_cast<size_t>(type)];
}

Convert store_of(Compute from, Type to) {
  static constexpr auto kStores = stores(std::make_index_sequence<kComputes>());
#if defined(__x86_64__)
  if (from == Compute::f32 && to == Type::f16 && has_f16c()) return store_half_f16c;
#endif
  return kStores[static_cast<size_t>(from)][static_cast<size_t>(to)];
}

void convert_run(const void *from, Type from_type, void *to, Type to_type, int64_t n) {
  if (from_type == to_type) {
    std::memcpy(to, from, static_cast<size_t>(n) * size_of(from_type));
    return;
  }
  const Convert load = load_of(from_type), store = store_of(compute_of(from_type), to_type);
  if (is_native(from_type)) return store(from, to, n);
  constexpr int64_t kPiece = 512;
  alignas(64) std::byte piece[kPiece * 8];  // types that are not their own compute type need 8
  for (int64_t at = 0; at < n; at += kPiece) {
    const int64_t count = std::min(kPiece, n - at);
    load(static_cast<const std::byte *>(from) + at * static_cast<int64_t>(size_of(from_type)),
         piece, count);
    store(piece, static_cast<std::byte *>(to) + at * static_cast<int64_t>(size_of(to_type)), count);
  }
}

}  // namespace pyaclnn::elementwise
