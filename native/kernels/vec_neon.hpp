// Four lanes: NEON of AArch64. See vec.hpp.

using V = float32x4_t;
constexpr int kWide = 4;
constexpr int kScoreSums = 16;
constexpr int kRegisters = 32;

PYACLNN_INLINE V zero() { return vdupq_n_f32(0); }
PYACLNN_INLINE V all(float f) { return vdupq_n_f32(f); }
PYACLNN_INLINE V load(const float *p) { return vld1q_f32(p); }
PYACLNN_INLINE void save(float *p, V v) { vst1q_f32(p, v); }
PYACLNN_INLINE V add(V a, V b) { return vaddq_f32(a, b); }
PYACLNN_INLINE V sub(V a, V b) { return vsubq_f32(a, b); }
PYACLNN_INLINE V mul(V a, V b) { return vmulq_f32(a, b); }
PYACLNN_INLINE V div(V a, V b) { return vdivq_f32(a, b); }
PYACLNN_INLINE V fma(V a, V b, V c) { return vfmaq_f32(c, a, b); }
PYACLNN_INLINE V fms(V a, V b, V c) { return vfmaq_f32(vnegq_f32(c), a, b); }
// FMAX would give NaN where either is.
PYACLNN_INLINE V max(V a, V b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }
PYACLNN_INLINE V nearest(V a) { return vrndnq_f32(a); }
PYACLNN_INLINE V times_power_of_two(V a, V n) {
  // In two steps: n reaches down to where the result is subnormal.
  int32x4_t whole = vcvtq_s32_f32(n), half = vshrq_n_s32(whole, 1);
  auto power = [](int32x4_t exponent) {
    return vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(exponent, vdupq_n_s32(127)), 23));
  };
  return mul(mul(a, power(half)), power(vsubq_s32(whole, half)));
}
PYACLNN_INLINE V where_set(const uint8_t *flags, V yes, V no) {
  uint16x8_t wide = vmovl_u8(vcreate_u8(read<uint32_t>(flags)));
  return vbslq_f32(vceqzq_u32(vmovl_u16(vget_low_u16(wide))), no, yes);
}

PYACLNN_INLINE V f16_to_v(uint16x4_t half) { return vcvt_f32_f16(vreinterpret_f16_u16(half)); }
PYACLNN_INLINE V bf16_to_v(uint16x4_t half) { return vreinterpretq_f32_u32(vshll_n_u16(half, 16)); }
PYACLNN_INLINE V i8_to_v(int8x8_t bytes) {
  return vcvtq_f32_s32(vmovl_s16(vget_low_s16(vmovl_s8(bytes))));
}
PYACLNN_INLINE uint16x4_t v_to_f16(V v) { return vreinterpret_u16_f16(vcvt_f16_f32(v)); }
PYACLNN_INLINE uint16x4_t v_to_bf16(V v) {
  uint32x4_t bits = vreinterpretq_u32_f32(v);
  uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
  uint32x4_t rounded = vaddq_u32(vaddq_u32(bits, vdupq_n_u32(0x7fff)), odd);
  uint32x4_t quiet = vorrq_u32(bits, vdupq_n_u32(0x400000));
  return vshrn_n_u32(vbslq_u32(vceqq_f32(v, v), rounded, quiet), 16);
}

PYACLNN_INLINE V load_f16(const void *p) { return f16_to_v(read<uint16x4_t>(p)); }
PYACLNN_INLINE V load_bf16(const void *p) { return bf16_to_v(read<uint16x4_t>(p)); }
PYACLNN_INLINE V load_i8(const void *p) { return i8_to_v(vcreate_s8(read<uint32_t>(p))); }
PYACLNN_INLINE uint64x2_t load_bytes(const void *p, int32_t count) {
  Sixteen bytes = first_bytes(p, count);
  return vcombine_u64(vcreate_u64(bytes.low), vcreate_u64(bytes.high));
}
PYACLNN_INLINE V load_some(const float *p, int32_t count) {
  return vreinterpretq_f32_u64(load_bytes(p, count * 4));
}
PYACLNN_INLINE V load_f16_some(const void *p, int32_t count) {
  return f16_to_v(vcreate_u16(first_bytes(p, count * 2).low));
}
PYACLNN_INLINE V load_bf16_some(const void *p, int32_t count) {
  return bf16_to_v(vcreate_u16(first_bytes(p, count * 2).low));
}
PYACLNN_INLINE V load_i8_some(const void *p, int32_t count) {
  return i8_to_v(vcreate_s8(first_bytes(p, count).low));
}

PYACLNN_INLINE void save_f16(void *p, V v) {
  uint16x4_t half = v_to_f16(v);
  __builtin_memcpy(p, &half, sizeof half);
}
PYACLNN_INLINE void save_bf16(void *p, V v) {
  uint16x4_t half = v_to_bf16(v);
  __builtin_memcpy(p, &half, sizeof half);
}
template <class T>
PYACLNN_INLINE void save_lanes(void *p, const T (&lanes)[kWide], int32_t count) {
  for (int32_t i = 0; i < count; ++i)
    __builtin_memcpy(static_cast<T *>(p) + i, lanes + i, sizeof(T));
}
PYACLNN_INLINE void save_some(float *p, V v, int32_t count) {
  float lanes[kWide];
  save(lanes, v);
  save_lanes(p, lanes, count);
}
PYACLNN_INLINE void save_f16_some(void *p, V v, int32_t count) {
  uint16_t lanes[kWide];
  save_f16(lanes, v);
  save_lanes(p, lanes, count);
}
PYACLNN_INLINE void save_bf16_some(void *p, V v, int32_t count) {
  uint16_t lanes[kWide];
  save_bf16(lanes, v);
  save_lanes(p, lanes, count);
}

PYACLNN_INLINE V sums(const V (&s)[4]) {
  return vpaddq_f32(vpaddq_f32(s[0], s[1]), vpaddq_f32(s[2], s[3]));
}
PYACLNN_INLINE void transpose(V (&s)[4]) {
  auto two = [](V a, V b) { return vreinterpretq_f64_f32(vtrn1q_f32(a, b)); };
  auto two_odd = [](V a, V b) { return vreinterpretq_f64_f32(vtrn2q_f32(a, b)); };
  float64x2_t a = two(s[0], s[1]), b = two_odd(s[0], s[1]);
  float64x2_t c = two(s[2], s[3]), d = two_odd(s[2], s[3]);
  s[0] = vreinterpretq_f32_f64(vtrn1q_f64(a, c));
  s[1] = vreinterpretq_f32_f64(vtrn1q_f64(b, d));
  s[2] = vreinterpretq_f32_f64(vtrn2q_f64(a, c));
  s[3] = vreinterpretq_f32_f64(vtrn2q_f64(b, d));
}
PYACLNN_INLINE float sum_of(V v) { return vaddvq_f32(v); }
PYACLNN_INLINE float max_of(V v) { return vmaxvq_f32(v); }

#if defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
// Pairs of bf16 values that BFDOT multiplies and adds. The products are exact. The sum of the two,
// and its sum with `sum`, are rounded to odd: off by less than one unit in the last place of
// float32 each, where rounding to nearest is off by half of one, and as often up as down.
// Subnormal values, products and sums count as 0, as with AVX-512. A processor with FEAT_EBF16 does
// the same unless FPCR.EBF is set, and Linux starts programs with it clear.
#define PYACLNN_PAIRS 1
using Pairs = uint16x8_t;
PYACLNN_INLINE Pairs load_pairs(const void *p) { return read<Pairs>(p); }
PYACLNN_INLINE Pairs load_pairs_some(const void *p, int32_t count) {
  return vreinterpretq_u16_u64(load_bytes(p, count * 2));
}
PYACLNN_INLINE V as_lanes(Pairs pairs) { return vreinterpretq_f32_u16(pairs); }
PYACLNN_INLINE Pairs no_pairs() { return vdupq_n_u16(0); }
PYACLNN_INLINE void save_half_pairs(uint16_t *p, V v) {
  bfloat16x4_t half = vcvt_bf16_f32(v);
  __builtin_memcpy(p, &half, sizeof half);
}
PYACLNN_INLINE Pairs all_pairs(const uint16_t *p) {
  return vreinterpretq_u16_u32(vdupq_n_u32(read<uint32_t>(p)));
}
PYACLNN_INLINE V dot(V sum, Pairs a, Pairs b) {
  return vbfdotq_f32(sum, vreinterpretq_bf16_u16(a), vreinterpretq_bf16_u16(b));
}
// Eight columns of two rows, as pairs (row a, row b) in order of the columns ...
PYACLNN_INLINE void interleave(Pairs a, Pairs b, Pairs &low, Pairs &high) {
  low = vzip1q_u16(a, b);
  high = vzip2q_u16(a, b);
}
// ... so that what was summed is in order, too.
PYACLNN_INLINE void in_order(V low, V high, V &first_half, V &second_half) {
  first_half = low;
  second_half = high;
}
#endif
