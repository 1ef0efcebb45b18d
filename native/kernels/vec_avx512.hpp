// Sixteen lanes: AVX-512 (F, BW, VL, DQ). See vec.hpp.

using V = __m512;
constexpr int kWide = 16;
constexpr int kScoreSums = 16;
constexpr int kRegisters = 32;

PYACLNN_INLINE V zero() { return _mm512_setzero_ps(); }
PYACLNN_INLINE V all(float f) { return _mm512_set1_ps(f); }
PYACLNN_INLINE V load(const float *p) { return _mm512_loadu_ps(p); }
PYACLNN_INLINE void save(float *p, V v) { _mm512_storeu_ps(p, v); }
PYACLNN_INLINE V add(V a, V b) { return _mm512_add_ps(a, b); }
PYACLNN_INLINE V sub(V a, V b) { return _mm512_sub_ps(a, b); }
PYACLNN_INLINE V mul(V a, V b) { return _mm512_mul_ps(a, b); }
PYACLNN_INLINE V div(V a, V b) { return _mm512_div_ps(a, b); }
PYACLNN_INLINE V fma(V a, V b, V c) { return _mm512_fmadd_ps(a, b, c); }
PYACLNN_INLINE V fms(V a, V b, V c) { return _mm512_fmsub_ps(a, b, c); }
PYACLNN_INLINE V max(V a, V b) { return _mm512_max_ps(a, b); }
PYACLNN_INLINE V nearest(V a) {
  return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
PYACLNN_INLINE V times_power_of_two(V a, V n) { return _mm512_scalef_ps(a, n); }
PYACLNN_INLINE V where_set(const uint8_t *flags, V yes, V no) {
  __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(flags));
  return _mm512_mask_blend_ps(_mm_test_epi8_mask(bytes, bytes), no, yes);
}

PYACLNN_INLINE __mmask16 first(int32_t count) { return static_cast<__mmask16>((1u << count) - 1); }
PYACLNN_INLINE V f16_to_v(__m256i half) { return _mm512_cvtph_ps(half); }
PYACLNN_INLINE V bf16_to_v(__m256i half) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16));
}
PYACLNN_INLINE V i8_to_v(__m128i bytes) { return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bytes)); }
PYACLNN_INLINE __m256i v_to_f16(V v) { return _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT); }
PYACLNN_INLINE __m256i v_to_bf16(V v) {
  __m512i bits = _mm512_castps_si512(v);
  __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  __m512i rounded = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
  __m512i quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x400000));
  __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
  return _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_mask_blend_epi32(nan, rounded, quiet), 16));
}

PYACLNN_INLINE __m256i load_halves(const void *p) {
  return _mm256_loadu_si256(static_cast<const __m256i *>(p));
}
PYACLNN_INLINE V load_f16(const void *p) { return f16_to_v(load_halves(p)); }
PYACLNN_INLINE V load_bf16(const void *p) { return bf16_to_v(load_halves(p)); }
PYACLNN_INLINE V load_i8(const void *p) {
  return i8_to_v(_mm_loadu_si128(static_cast<const __m128i *>(p)));
}
PYACLNN_INLINE V load_some(const float *p, int32_t count) {
  return _mm512_maskz_loadu_ps(first(count), p);
}
PYACLNN_INLINE V load_f16_some(const void *p, int32_t count) {
  return f16_to_v(_mm256_maskz_loadu_epi16(first(count), p));
}
PYACLNN_INLINE V load_bf16_some(const void *p, int32_t count) {
  return bf16_to_v(_mm256_maskz_loadu_epi16(first(count), p));
}
PYACLNN_INLINE V load_i8_some(const void *p, int32_t count) {
  return i8_to_v(_mm_maskz_loadu_epi8(first(count), p));
}
PYACLNN_INLINE void save_f16(void *p, V v) {
  _mm256_storeu_si256(static_cast<__m256i *>(p), v_to_f16(v));
}
PYACLNN_INLINE void save_bf16(void *p, V v) {
  _mm256_storeu_si256(static_cast<__m256i *>(p), v_to_bf16(v));
}
PYACLNN_INLINE void save_some(float *p, V v, int32_t count) {
  _mm512_mask_storeu_ps(p, first(count), v);
}
PYACLNN_INLINE void save_f16_some(void *p, V v, int32_t count) {
  _mm256_mask_storeu_epi16(p, first(count), v_to_f16(v));
}
PYACLNN_INLINE void save_bf16_some(void *p, V v, int32_t count) {
  _mm256_mask_storeu_epi16(p, first(count), v_to_bf16(v));
}

// Two vectors become one that holds sums of both, in pairs of lanes, of pairs, and of fours. Blends
// under a mask would save a shuffle per step, and are slower where they were tried.
PYACLNN_INLINE V fold_lanes(V a, V b) {
  return add(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
}
PYACLNN_INLINE V fold_pairs(V a, V b) {
  __m512d x = _mm512_castps_pd(a), y = _mm512_castps_pd(b);
  return add(_mm512_castpd_ps(_mm512_unpacklo_pd(x, y)),
             _mm512_castpd_ps(_mm512_unpackhi_pd(x, y)));
}
PYACLNN_INLINE V fold_fours(V a, V b) {
  return add(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xdd));
}
PYACLNN_INLINE V sums_of_four(V a, V b, V c, V d) {
  return fold_pairs(fold_lanes(a, b), fold_lanes(c, d));
}
PYACLNN_INLINE V sums_of_parts(const V (&p)[4]) {
  return fold_fours(fold_fours(p[0], p[1]), fold_fours(p[2], p[3]));
}
PYACLNN_INLINE V sums(const V (&s)[16]) {
  V parts[4] = {sums_of_four(s[0], s[1], s[2], s[3]), sums_of_four(s[4], s[5], s[6], s[7]),
                sums_of_four(s[8], s[9], s[10], s[11]), sums_of_four(s[12], s[13], s[14], s[15])};
  return sums_of_parts(parts);
}
#define PYACLNN_LATE_SUMS 1
struct LateSums {
  static constexpr bool kIs = true;
  static constexpr int kParts = 4;
  alignas(64) float kept[16 * 16];
  __attribute__((always_inline)) LateSums() {
    for (int i = 0; i < 16; ++i) save(kept + i * 16, zero());
  }
  template <int i>
  __attribute__((always_inline)) void keep(V sum) {
    save(kept + i * 16, sum);
  }
  template <int i>
  __attribute__((always_inline)) V part() const {
    const float *s = kept + i * 64;
    return sums_of_four(load(s), load(s + 16), load(s + 32), load(s + 48));
  }
  __attribute__((always_inline)) static V sums(const V (&parts)[4]) { return sums_of_parts(parts); }
};
// In fours of rows first, then the fours change places.
PYACLNN_INLINE void transpose(V (&s)[16]) {
  V fours[16];
  unrolled<4>(PYACLNN_EACH(index) {
    constexpr int i = decltype(index)::value * 4;
    __m512d a = _mm512_castps_pd(_mm512_unpacklo_ps(s[i], s[i + 1]));
    __m512d b = _mm512_castps_pd(_mm512_unpackhi_ps(s[i], s[i + 1]));
    __m512d c = _mm512_castps_pd(_mm512_unpacklo_ps(s[i + 2], s[i + 3]));
    __m512d d = _mm512_castps_pd(_mm512_unpackhi_ps(s[i + 2], s[i + 3]));
    fours[i] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, c));
    fours[i + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, c));
    fours[i + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(b, d));
    fours[i + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(b, d));
  });
  unrolled<4>(PYACLNN_EACH(index) {
    constexpr int i = decltype(index)::value;
    V even = _mm512_shuffle_f32x4(fours[i], fours[4 + i], 0x88);
    V even2 = _mm512_shuffle_f32x4(fours[8 + i], fours[12 + i], 0x88);
    V odd = _mm512_shuffle_f32x4(fours[i], fours[4 + i], 0xdd);
    V odd2 = _mm512_shuffle_f32x4(fours[8 + i], fours[12 + i], 0xdd);
    s[i] = _mm512_shuffle_f32x4(even, even2, 0x88);
    s[4 + i] = _mm512_shuffle_f32x4(odd, odd2, 0x88);
    s[8 + i] = _mm512_shuffle_f32x4(even, even2, 0xdd);
    s[12 + i] = _mm512_shuffle_f32x4(odd, odd2, 0xdd);
  });
}
// Lanes kFirst .. of v to (or added to) `to`.
template <int kFirst, int kCount>
PYACLNN_INLINE void put_lanes(V v, bool accumulate, float *to) {
  if constexpr (kCount == 4 && kFirst % 4 == 0) {
    __m128 part = _mm512_extractf32x4_ps(v, kFirst / 4);
    _mm_storeu_ps(to, accumulate ? _mm_add_ps(part, _mm_loadu_ps(to)) : part);
    return;
  }
  constexpr auto kMask = static_cast<__mmask16>((1u << kCount) - 1);
  __m512i lanes = _mm512_castps_si512(v);
  V part = _mm512_castsi512_ps(_mm512_alignr_epi32(lanes, lanes, kFirst));
  if (accumulate) part = add(part, _mm512_maskz_loadu_ps(kMask, to));
  _mm512_mask_storeu_ps(to, kMask, part);
}
PYACLNN_INLINE float sum_of(V v) { return _mm512_reduce_add_ps(v); }
PYACLNN_INLINE float max_of(V v) { return _mm512_reduce_max_ps(v); }

#if defined(__AVX512BF16__)
// Pairs of bf16 values that one dot product instruction multiplies and adds.
#define PYACLNN_PAIRS 1
#define PYACLNN_HALVES 1
using Pairs = __m512bh;
PYACLNN_INLINE Pairs load_pairs(const void *p) { return (Pairs)_mm512_loadu_si512(p); }
PYACLNN_INLINE Pairs load_pairs_some(const void *p, int32_t count) {
  return (Pairs)_mm512_maskz_loadu_epi16(static_cast<__mmask32>((1ull << count) - 1), p);
}
PYACLNN_INLINE V as_lanes(Pairs pairs) { return _mm512_castsi512_ps((__m512i)pairs); }
PYACLNN_INLINE Pairs no_pairs() { return (Pairs)_mm512_setzero_si512(); }
PYACLNN_INLINE void save_half_pairs(uint16_t *p, V v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i *>(p), (__m256i)_mm512_cvtneps_pbh(v));
}
PYACLNN_INLINE Pairs all_pairs(const uint16_t *p) {
  int32_t pair;
  __builtin_memcpy(&pair, p, 4);
  return (Pairs)_mm512_set1_epi32(pair);
}
// Sixteen values to both halves of the lanes.
PYACLNN_INLINE Pairs load_halved(const void *p) {
  return (Pairs)_mm512_broadcast_i64x4(load_halves(p));
}
PYACLNN_INLINE Pairs load_halved_some(const void *p, int32_t count) {
  return (Pairs)_mm512_broadcast_i64x4(_mm256_maskz_loadu_epi16(first(count), p));
}
// Of eight sums whose halves belong to two heads each, the scores of four heads and four keys: s[k]
// are the first two heads and key k, s[4 + k] the others.
PYACLNN_INLINE V halved_sums(const V (&s)[8]) {
  return fold_fours(sums_of_four(s[0], s[1], s[2], s[3]), sums_of_four(s[4], s[5], s[6], s[7]));
}
PYACLNN_INLINE V dot(V sum, Pairs a, Pairs b) { return _mm512_dpbf16_ps(sum, a, b); }
// 32 columns of two rows, as pairs (row a, row b) of some order of the columns ...
PYACLNN_INLINE void interleave(Pairs a, Pairs b, Pairs &low, Pairs &high) {
  low = (Pairs)_mm512_unpacklo_epi16((__m512i)a, (__m512i)b);
  high = (Pairs)_mm512_unpackhi_epi16((__m512i)a, (__m512i)b);
}
// ... and what was summed in that order, in order of the columns again.
PYACLNN_INLINE void in_order(V low, V high, V &first_half, V &second_half) {
  first_half = _mm512_permutex2var_ps(
      low, _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23), high);
  second_half = _mm512_permutex2var_ps(
      low, _mm512_setr_epi32(8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31), high);
}
#endif
