// Eight lanes by the compiler's own vectors: whatever the baseline of the target offers. See
// vec.hpp.

typedef float V __attribute__((vector_size(32)));
typedef int32_t VInt __attribute__((vector_size(32)));
constexpr int kWide = 8;
constexpr int kScoreSums = 8;
constexpr int kRegisters = 10;  // a vector may take two of them; more would only be more code

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
PYACLNN_INLINE V fms(V a, V b, V c) { return a * b - c; }
PYACLNN_INLINE V max(V a, V b) { return a > b ? a : b; }
// Adding and taking away 1.5 * 2^23 rounds |a| < 2^22 to a whole number.
PYACLNN_INLINE V nearest(V a) {
  V shifted = a + all(12582912.0f);
  return shifted - all(12582912.0f);
}
PYACLNN_INLINE V times_power_of_two(V a, V n) {
  // In two steps: n reaches down to where the result is subnormal.
  VInt whole = __builtin_convertvector(n, VInt), half = whole >> 1;
  auto power = [](VInt exponent) {
    VInt bits = (exponent + 127) << 23;
    V v;
    __builtin_memcpy(&v, &bits, sizeof v);
    return v;
  };
  return a * power(half) * power(whole - half);
}
PYACLNN_INLINE V where_set(const uint8_t *flags, V yes, V no) {
  V v{};
  for (int i = 0; i < kWide; ++i) v[i] = flags[i] != 0 ? yes[i] : no[i];
  return v;
}

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
PYACLNN_INLINE V load_i8(const void *p) {
  V v{};
  for (int i = 0; i < 8; ++i) v[i] = static_cast<float>(static_cast<const int8_t *>(p)[i]);
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

// Lanes kFirst .. of v to (or added to) `to`.
template <int kFirst, int kCount>
PYACLNN_INLINE void put_lanes(V v, bool accumulate, float *to) {
  for (int i = 0; i < kCount; ++i) to[i] = accumulate ? to[i] + v[kFirst + i] : v[kFirst + i];
}
PYACLNN_INLINE float sum_of(V v) {
  return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}
PYACLNN_INLINE float max_of(V v) {
  float best = v[0];
  for (int i = 1; i < kWide; ++i) best = v[i] > best ? v[i] : best;
  return best;
}
PYACLNN_INLINE V sums(const V (&s)[8]) {
  V v{};
  for (int i = 0; i < 8; ++i) v[i] = sum_of(s[i]);
  return v;
}

PYACLNN_INLINE void transpose(V (&s)[8]) {
  for (int i = 0; i < kWide; ++i) {
    for (int j = 0; j < i; ++j) {
      const float lane = s[i][j];
      s[i][j] = s[j][i];
      s[j][i] = lane;
    }
  }
}

// By way of a small buffer, so that nothing is read or written beside the elements.
PYACLNN_INLINE void copy_bytes(void *to, const void *from, int32_t bytes) {
  for (int32_t i = 0; i < bytes; ++i)
    static_cast<char *>(to)[i] = static_cast<const char *>(from)[i];
}

PYACLNN_INLINE V load_some(const float *p, int32_t count) {
  float buffer[kWide] = {};
  copy_bytes(buffer, p, count * 4);
  return load(buffer);
}
PYACLNN_INLINE V load_f16_some(const void *p, int32_t count) {
  uint16_t buffer[kWide] = {};
  copy_bytes(buffer, p, count * 2);
  return load_f16(buffer);
}
PYACLNN_INLINE V load_bf16_some(const void *p, int32_t count) {
  uint16_t buffer[kWide] = {};
  copy_bytes(buffer, p, count * 2);
  return load_bf16(buffer);
}
PYACLNN_INLINE V load_i8_some(const void *p, int32_t count) {
  int8_t buffer[kWide] = {};
  copy_bytes(buffer, p, count);
  return load_i8(buffer);
}
PYACLNN_INLINE void save_some(float *p, V v, int32_t count) {
  float buffer[kWide];
  save(buffer, v);
  copy_bytes(p, buffer, count * 4);
}
PYACLNN_INLINE void save_f16_some(void *p, V v, int32_t count) {
  uint16_t buffer[kWide];
  save_f16(buffer, v);
  copy_bytes(p, buffer, count * 2);
}
PYACLNN_INLINE void save_bf16_some(void *p, V v, int32_t count) {
  uint16_t buffer[kWide];
  save_bf16(buffer, v);
  copy_bytes(p, buffer, count * 2);
}
