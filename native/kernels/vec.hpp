// Eight float32 lanes and the few operations the kernel texts need, over the instruction set that
// the including file is compiled for. Included inside an unnamed namespace, after <stdint.h> (and
// <immintrin.h>): nothing here may have external linkage, or the linker could keep the form of the
// wrong level.

#define PYACLNN_INLINE static inline __attribute__((always_inline))

PYACLNN_INLINE float bits_to_float(uint32_t bits) {
  float f;
  __builtin_memcpy(&f, &bits, 4);
  return f;
}

#if defined(__AVX2__)

using V = __m256;

PYACLNN_INLINE V zero() { return _mm256_setzero_ps(); }
PYACLNN_INLINE V all(float f) { return _mm256_set1_ps(f); }
PYACLNN_INLINE V load(const float *p) { return _mm256_loadu_ps(p); }
PYACLNN_INLINE void save(float *p, V v) { _mm256_storeu_ps(p, v); }
PYACLNN_INLINE V add(V a, V b) { return _mm256_add_ps(a, b); }
PYACLNN_INLINE V sub(V a, V b) { return _mm256_sub_ps(a, b); }
PYACLNN_INLINE V mul(V a, V b) { return _mm256_mul_ps(a, b); }
PYACLNN_INLINE V div(V a, V b) { return _mm256_div_ps(a, b); }
PYACLNN_INLINE V fma(V a, V b, V c) { return _mm256_fmadd_ps(a, b, c); }
// b where either is NaN.
PYACLNN_INLINE V max(V a, V b) { return _mm256_max_ps(a, b); }
PYACLNN_INLINE V nearest(V a) {
  return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
// 2^n for whole n in [-126, 127].
PYACLNN_INLINE V power_of_two(V n) {
  __m256i bits = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
  return _mm256_castsi256_ps(_mm256_slli_epi32(bits, 23));
}
// a where x < limit, else b (b also for NaN).
PYACLNN_INLINE V where_less(V x, V limit, V a, V b) {
  return _mm256_blendv_ps(b, a, _mm256_cmp_ps(x, limit, _CMP_LT_OQ));
}

PYACLNN_INLINE V load_f16(const void *p) {
  return _mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i *>(p)));
}
PYACLNN_INLINE V load_bf16(const void *p) {
  __m128i half = _mm_loadu_si128(static_cast<const __m128i *>(p));
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(half), 16));
}
PYACLNN_INLINE V load_i8(const int8_t *p) {
  return _mm256_cvtepi32_ps(
      _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(p))));
}
PYACLNN_INLINE void save_f16(void *p, V v) {
  _mm_storeu_si128(static_cast<__m128i *>(p), _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}
PYACLNN_INLINE void save_bf16(void *p, V v) {
  __m256i bits = _mm256_castps_si256(v);
  __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  __m256i rounded = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
  __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
  __m256 nan = _mm256_cmp_ps(v, v, _CMP_UNORD_Q);
  __m256i top =
      _mm256_srli_epi32(_mm256_castps_si256(_mm256_blendv_ps(_mm256_castsi256_ps(rounded),
                                                             _mm256_castsi256_ps(quiet), nan)),
                        16);
  __m128i packed = _mm_packus_epi32(_mm256_castsi256_si128(top), _mm256_extracti128_si256(top, 1));
  _mm_storeu_si128(static_cast<__m128i *>(p), packed);
}

// Lane i of the result: the sum of the lanes of s[i], ((0+1)+(2+3))+((4+5)+(6+7)).
PYACLNN_INLINE V sums(const V (&s)[8]) {
  V a = _mm256_hadd_ps(_mm256_hadd_ps(s[0], s[1]), _mm256_hadd_ps(s[2], s[3]));
  V b = _mm256_hadd_ps(_mm256_hadd_ps(s[4], s[5]), _mm256_hadd_ps(s[6], s[7]));
  return add(_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31));
}
PYACLNN_INLINE float sum_of(V v) {
  V a = _mm256_hadd_ps(v, v);
  a = _mm256_hadd_ps(a, a);
  return _mm_cvtss_f32(_mm_add_ss(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1)));
}

#else

// Lanes by the compiler's own vectors: whatever the baseline offers.
typedef float V __attribute__((vector_size(32)));
typedef int32_t VInt __attribute__((vector_size(32)));

PYACLNN_INLINE V zero() { return V{}; }
PYACLNN_INLINE V all(float f) { return V{f, f, f, f, f, f, f, f}; }
PYACLNN_INLINE V load(const float *p) {
  V v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
PYACLNN_INLINE void save(float *p, V v) { __builtin_memcpy(p, &v, sizeof v); }
PYACLNN_INLINE V add(V a, V b) { return a + b; }
PYACLNN_INLINE V sub(V a, V b) { return a - b; }
PYACLNN_INLINE V mul(V a, V b) { return a * b; }
PYACLNN_INLINE V div(V a, V b) { return a / b; }
PYACLNN_INLINE V fma(V a, V b, V c) { return a * b + c; }
PYACLNN_INLINE V max(V a, V b) { return a > b ? a : b; }
// Adding and taking away 1.5 * 2^23 rounds |a| < 2^22 to a whole number.
PYACLNN_INLINE V nearest(V a) {
  V shifted = a + all(12582912.0f);
  return shifted - all(12582912.0f);
}
PYACLNN_INLINE V power_of_two(V n) {
  VInt whole = __builtin_convertvector(n, VInt);
  VInt bits = (whole + 127) << 23;
  V v;
  __builtin_memcpy(&v, &bits, sizeof v);
  return v;
}
PYACLNN_INLINE V where_less(V x, V limit, V a, V b) { return x < limit ? a : b; }

PYACLNN_INLINE float half_to_float(uint16_t h) {
  uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
  uint32_t exponent = (h >> 10) & 0x1fu, mantissa = h & 0x3ffu;
  if (exponent == 0x1fu) return bits_to_float(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0) return bits_to_float(sign | ((exponent + 112u) << 23) | (mantissa << 13));
  float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return sign != 0 ? -magnitude : magnitude;
}
PYACLNN_INLINE uint16_t float_to_half(float f) {
  uint32_t bits;
  __builtin_memcpy(&bits, &f, 4);
  uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {
    return static_cast<uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x1ffu));
  }
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {
    float scaled = bits_to_float(magnitude) + 0.5f;
    uint32_t rounded;
    __builtin_memcpy(&rounded, &scaled, 4);
    return static_cast<uint16_t>(sign | (rounded - 0x3f000000u));
  }
  uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}
PYACLNN_INLINE uint16_t float_to_bfloat16(float f) {
  uint32_t bits;
  __builtin_memcpy(&bits, &f, 4);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

PYACLNN_INLINE V load_f16(const void *p) {
  uint16_t h[8];
  __builtin_memcpy(h, p, sizeof h);
  V v{};
  for (int i = 0; i < 8; ++i) v[i] = half_to_float(h[i]);
  return v;
}
PYACLNN_INLINE V load_bf16(const void *p) {
  uint16_t h[8];
  __builtin_memcpy(h, p, sizeof h);
  V v{};
  for (int i = 0; i < 8; ++i) v[i] = bits_to_float(static_cast<uint32_t>(h[i]) << 16);
  return v;
}
PYACLNN_INLINE V load_i8(const int8_t *p) {
  V v{};
  for (int i = 0; i < 8; ++i) v[i] = static_cast<float>(p[i]);
  return v;
}
PYACLNN_INLINE void save_f16(void *p, V v) {
  uint16_t h[8];
  for (int i = 0; i < 8; ++i) h[i] = float_to_half(v[i]);
  __builtin_memcpy(p, h, sizeof h);
}
PYACLNN_INLINE void save_bf16(void *p, V v) {
  uint16_t h[8];
  for (int i = 0; i < 8; ++i) h[i] = float_to_bfloat16(v[i]);
  __builtin_memcpy(p, h, sizeof h);
}

PYACLNN_INLINE float sum_of(V v) {
  return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}
PYACLNN_INLINE V sums(const V (&s)[8]) {
  V v{};
  for (int i = 0; i < 8; ++i) v[i] = sum_of(s[i]);
  return v;
}

#endif

// exp for x <= 0 to about 2 units in the last place; 0 below -87.3; NaN stays NaN.
PYACLNN_INLINE V exp_of(V x) {
  const V limit = all(-87.3f);
  V clamped = max(limit, x);
  V n = nearest(mul(clamped, all(1.44269504088896341f)));
  V r = fma(n, all(-0.693359375f), clamped);
  r = fma(n, all(2.12194440e-4f), r);
  V y = all(1.9875691500e-4f);
  y = fma(y, r, all(1.3981999507e-3f));
  y = fma(y, r, all(8.3334519073e-3f));
  y = fma(y, r, all(4.1665795894e-2f));
  y = fma(y, r, all(1.6666665459e-1f));
  y = fma(y, r, all(5.0000001201e-1f));
  y = fma(y, mul(r, r), add(r, all(1.0f)));
  return where_less(x, limit, zero(), mul(y, power_of_two(n)));
}
