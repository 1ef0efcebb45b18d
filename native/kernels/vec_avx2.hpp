// Eight lanes: AVX2 with FMA and F16C. See vec.hpp.

using V = __m256;
constexpr int kWide = 8;
constexpr int kScoreSums = 8;
constexpr int kRegisters = 16;

PYACLNN_INLINE V zero() { return _mm256_setzero_ps(); }
PYACLNN_INLINE V all(float f) { return _mm256_set1_ps(f); }
PYACLNN_INLINE V load(const float *p) { return _mm256_loadu_ps(p); }
PYACLNN_INLINE void save(float *p, V v) { _mm256_storeu_ps(p, v); }
PYACLNN_INLINE V add(V a, V b) { return _mm256_add_ps(a, b); }
PYACLNN_INLINE V sub(V a, V b) { return _mm256_sub_ps(a, b); }
PYACLNN_INLINE V mul(V a, V b) { return _mm256_mul_ps(a, b); }
PYACLNN_INLINE V div(V a, V b) { return _mm256_div_ps(a, b); }
PYACLNN_INLINE V fma(V a, V b, V c) { return _mm256_fmadd_ps(a, b, c); }
PYACLNN_INLINE V fms(V a, V b, V c) { return _mm256_fmsub_ps(a, b, c); }
PYACLNN_INLINE V max(V a, V b) { return _mm256_max_ps(a, b); }
PYACLNN_INLINE V nearest(V a) {
  return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
PYACLNN_INLINE V times_power_of_two(V a, V n) {
  // In two steps: n reaches down to where the result is subnormal.
  __m256i whole = _mm256_cvtps_epi32(n), half = _mm256_srai_epi32(whole, 1);
  auto power = [](__m256i exponent) {
    return _mm256_castsi256_ps(
        _mm256_slli_epi32(_mm256_add_epi32(exponent, _mm256_set1_epi32(127)), 23));
  };
  return mul(mul(a, power(half)), power(_mm256_sub_epi32(whole, half)));
}
PYACLNN_INLINE V where_set(const uint8_t *flags, V yes, V no) {
  __m256i wide = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(flags)));
  __m256i clear = _mm256_cmpeq_epi32(wide, _mm256_setzero_si256());
  return _mm256_blendv_ps(yes, no, _mm256_castsi256_ps(clear));
}

PYACLNN_INLINE V load_f16(const void *p) {
  return _mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i *>(p)));
}
PYACLNN_INLINE V bf16_to_v(__m128i half) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(half), 16));
}
PYACLNN_INLINE V load_bf16(const void *p) {
  return bf16_to_v(_mm_loadu_si128(static_cast<const __m128i *>(p)));
}
PYACLNN_INLINE V i8_to_v(__m128i bytes) { return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes)); }
PYACLNN_INLINE V load_i8(const void *p) {
  return i8_to_v(_mm_loadl_epi64(static_cast<const __m128i *>(p)));
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

PYACLNN_INLINE __m128i load_bytes(const void *p, int32_t count) {
  Sixteen bytes = first_bytes(p, count);
  return _mm_set_epi64x(static_cast<int64_t>(bytes.high), static_cast<int64_t>(bytes.low));
}
PYACLNN_INLINE __m256i first(int32_t count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
PYACLNN_INLINE V load_some(const float *p, int32_t count) {
  return _mm256_maskload_ps(p, first(count));
}
PYACLNN_INLINE V load_f16_some(const void *p, int32_t count) {
  return _mm256_cvtph_ps(load_bytes(p, count * 2));
}
PYACLNN_INLINE V load_bf16_some(const void *p, int32_t count) {
  return bf16_to_v(load_bytes(p, count * 2));
}
PYACLNN_INLINE V load_i8_some(const void *p, int32_t count) {
  return i8_to_v(load_bytes(p, count));
}
PYACLNN_INLINE void save_some(float *p, V v, int32_t count) {
  _mm256_maskstore_ps(p, first(count), v);
}
PYACLNN_INLINE void save_f16_some(void *p, V v, int32_t count) {
  uint16_t halves[kWide];
  save_f16(halves, v);
  for (int32_t i = 0; i < count; ++i)
    __builtin_memcpy(static_cast<uint16_t *>(p) + i, halves + i, 2);
}
PYACLNN_INLINE void save_bf16_some(void *p, V v, int32_t count) {
  uint16_t halves[kWide];
  save_bf16(halves, v);
  for (int32_t i = 0; i < count; ++i)
    __builtin_memcpy(static_cast<uint16_t *>(p) + i, halves + i, 2);
}

// Two vectors become one, in which the lanes with a bit clear hold sums of a and those with it set
// sums of b. A blend costs less than a shuffle, so only one operand of each addition is shuffled.
PYACLNN_INLINE V fold_bit1(V a, V b) {
  return add(_mm256_blend_ps(a, b, 0xcc), _mm256_shuffle_ps(a, b, 0x4e));
}
PYACLNN_INLINE V fold_bit2(V a, V b) {
  return add(_mm256_blend_ps(a, b, 0xf0), _mm256_permute2f128_ps(a, b, 0x21));
}
PYACLNN_INLINE V fold_bit0(V a, V b) {
  return add(_mm256_blend_ps(a, b, 0xaa), _mm256_permute_ps(_mm256_blend_ps(b, a, 0xaa), 0xb1));
}
PYACLNN_INLINE V sums(const V (&s)[8]) {
  V a0 = fold_bit1(s[0], s[2]), a1 = fold_bit1(s[1], s[3]);
  V a2 = fold_bit1(s[4], s[6]), a3 = fold_bit1(s[5], s[7]);
  return fold_bit0(fold_bit2(a0, a2), fold_bit2(a1, a3));
}
PYACLNN_INLINE void transpose(V (&s)[8]) {
  V fours[8];
  unrolled<2>(PYACLNN_EACH(index) {
    constexpr int i = decltype(index)::value * 4;
    __m256d a = _mm256_castps_pd(_mm256_unpacklo_ps(s[i], s[i + 1]));
    __m256d b = _mm256_castps_pd(_mm256_unpackhi_ps(s[i], s[i + 1]));
    __m256d c = _mm256_castps_pd(_mm256_unpacklo_ps(s[i + 2], s[i + 3]));
    __m256d d = _mm256_castps_pd(_mm256_unpackhi_ps(s[i + 2], s[i + 3]));
    fours[i] = _mm256_castpd_ps(_mm256_unpacklo_pd(a, c));
    fours[i + 1] = _mm256_castpd_ps(_mm256_unpackhi_pd(a, c));
    fours[i + 2] = _mm256_castpd_ps(_mm256_unpacklo_pd(b, d));
    fours[i + 3] = _mm256_castpd_ps(_mm256_unpackhi_pd(b, d));
  });
  unrolled<4>(PYACLNN_EACH(index) {
    constexpr int i = decltype(index)::value;
    s[i] = _mm256_permute2f128_ps(fours[i], fours[4 + i], 0x20);
    s[4 + i] = _mm256_permute2f128_ps(fours[i], fours[4 + i], 0x31);
  });
}
// Lanes kFirst .. of v to (or added to) `to`: two, four or all.
template <int kFirst, int kCount>
PYACLNN_INLINE void put_lanes(V v, bool accumulate, float *to) {
  if constexpr (kCount == 8) {
    save(to, accumulate ? add(v, load(to)) : v);
  } else {
    __m128 part = _mm256_extractf128_ps(v, kFirst / 4);
    if constexpr (kCount == 4) {
      _mm_storeu_ps(to, accumulate ? _mm_add_ps(part, _mm_loadu_ps(to)) : part);
    } else {
      if constexpr (kFirst % 4 != 0) part = _mm_movehl_ps(part, part);
      auto *pair = reinterpret_cast<__m64 *>(to);
      if (accumulate) part = _mm_add_ps(part, _mm_loadl_pi(part, pair));
      _mm_storel_pi(pair, part);
    }
  }
}
PYACLNN_INLINE float sum_of(V v) {
  V a = _mm256_hadd_ps(v, v);
  a = _mm256_hadd_ps(a, a);
  return _mm_cvtss_f32(_mm_add_ss(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1)));
}
PYACLNN_INLINE float max_of(V v) {
  __m128 a = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  a = _mm_max_ps(a, _mm_movehl_ps(a, a));
  return _mm_cvtss_f32(_mm_max_ss(a, _mm_shuffle_ps(a, a, 1)));
}
