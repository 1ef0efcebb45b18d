// Reading memory and multiplying in registers as fast as the including file's instruction set can.
// Included inside an unnamed namespace, after vec.hpp: see there why nothing has external linkage.

#if defined(__AVX512F__)
#define PYACLNN_LIMIT_BYTES 64
#elif defined(__AVX2__)
#define PYACLNN_LIMIT_BYTES 32
#else
#define PYACLNN_LIMIT_BYTES 16
#endif

typedef uint64_t Words __attribute__((vector_size(PYACLNN_LIMIT_BYTES), aligned(1)));
typedef float Floats __attribute__((vector_size(PYACLNN_LIMIT_BYTES)));
static constexpr int64_t kLimitFloats = PYACLNN_LIMIT_BYTES / 4;

// kHint as __builtin_prefetch takes it, -1 for none: 4 KiB or 64 lines ahead.
template <int kHint>
__attribute__((noinline)) static uint64_t read_all(const void *from, size_t bytes) {
  constexpr size_t kWords = PYACLNN_LIMIT_BYTES, kStep = 4 * kWords, kAhead = 4096;
  const char *p = static_cast<const char *>(from);
  // Named, because gcc keeps an array of vectors in memory.
  Words a{}, b{}, c{}, d{};
  size_t at = 0;
  for (; at + kStep <= bytes; at += kStep) {
    if constexpr (kHint >= 0) {
      for (size_t line = 0; line < kStep; line += 64) {
        __builtin_prefetch(p + at + kAhead + line, 0, kHint);
      }
    }
    a ^= *reinterpret_cast<const Words *>(p + at);
    b ^= *reinterpret_cast<const Words *>(p + at + kWords);
    c ^= *reinterpret_cast<const Words *>(p + at + 2 * kWords);
    d ^= *reinterpret_cast<const Words *>(p + at + 3 * kWords);
  }
  a ^= b ^ c ^ d;
  uint64_t sum = a[0];
  for (size_t i = 1; i < kWords / 8; ++i) sum ^= a[i];
  for (; at < bytes; ++at) sum ^= static_cast<unsigned char>(p[at]);
  return sum;
}

#define PYACLNN_LIMIT_EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
static constexpr int64_t kLimitSums = 12;  // enough to hide the latency of two units

PYACLNN_INLINE Floats limit_fma(Floats a, Floats b, Floats c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_ps(a, b, c);
#elif defined(__AVX2__)
  return _mm256_fmadd_ps(a, b, c);
#elif defined(__aarch64__)
  return __builtin_bit_cast(
      Floats, vfmaq_f32(__builtin_bit_cast(float32x4_t, c), __builtin_bit_cast(float32x4_t, a),
                        __builtin_bit_cast(float32x4_t, b)));
#else
  return a * b + c;
#endif
}

// Rounds of kLimitSums independent sums. The empty statement keeps the compiler from joining
// rounds.
#if defined(__x86_64__)
#define PYACLNN_LIMIT_KEEP(i) __asm__ volatile("" : "+v"(s##i));
#elif defined(__aarch64__)
#define PYACLNN_LIMIT_KEEP(i) __asm__ volatile("" : "+w"(s##i));
#else
#define PYACLNN_LIMIT_KEEP(i) __asm__ volatile("" : "+m"(s##i));
#endif
#define PYACLNN_LIMIT_START(i) Floats s##i = Floats{} + static_cast<float>(i);
#define PYACLNN_LIMIT_ADD(i) total += s##i;
#define PYACLNN_LIMIT_ROUNDS(flops_of_one, STEP)                                               \
  PYACLNN_LIMIT_EACH(PYACLNN_LIMIT_START)                                                      \
  for (int64_t n = static_cast<int64_t>(flops / (kLimitSums * (flops_of_one))); n >= 0; --n) { \
    PYACLNN_LIMIT_EACH(STEP)                                                                   \
  }                                                                                            \
  Floats total{};                                                                              \
  PYACLNN_LIMIT_EACH(PYACLNN_LIMIT_ADD)                                                        \
  return total[0]

// Halving and adding converges: no overflow and no subnormal slows it down.
__attribute__((noinline)) static float multiply_most(double flops) {
  const Floats half = Floats{} + 0.5f, small = Floats{} + 1e-3f;
#define PYACLNN_LIMIT_STEP(i)          \
  s##i = limit_fma(s##i, half, small); \
  PYACLNN_LIMIT_KEEP(i)
  PYACLNN_LIMIT_ROUNDS(2 * kLimitFloats, PYACLNN_LIMIT_STEP);
#undef PYACLNN_LIMIT_STEP
}

#if defined(PYACLNN_TILES)
__attribute__((noinline)) static float dot_most(double flops) {
  constexpr int64_t kFlops = 4 * 4 * kTileRows * kTileSteps * kWide;  // of a round
  // 1.0 and 2^-32.
  uint32_t values[2][kTileRows * kWide];
  for (uint32_t &pair : values[0]) pair = 0x3f803f80;
  for (uint32_t &pair : values[1]) pair = 0x2f802f80;
  Tiles tiles;
  tiles.shape(kTallRows);
  tile_load<4>(values[0], 64);
  tile_load<5>(values[0], 64);
  tile_load<6>(values[1], 64);
  tile_load<7>(values[1], 64);
  for (int64_t n = static_cast<int64_t>(flops / kFlops); n >= 0; --n) {
    tile_dot<0, 4, 6>();
    tile_dot<1, 4, 7>();
    tile_dot<2, 5, 6>();
    tile_dot<3, 5, 7>();
  }
  float sums[kTileRows * kWide];
  tile_save<0>(sums, 64);
  return sums[0];
}
#define PYACLNN_LIMIT_DOT dot_most
#elif defined(__AVX512BF16__) || defined(__ARM_FEATURE_BF16)
__attribute__((noinline)) static float dot_most(double flops) {
#if defined(__AVX512BF16__)
  // 1.0 and 2^-32.
  const auto one = __builtin_bit_cast(__m512bh, _mm512_set1_epi32(0x3f803f80));
  const auto tiny = __builtin_bit_cast(__m512bh, _mm512_set1_epi32(0x2f802f80));
#define PYACLNN_LIMIT_STEP(i)               \
  s##i = _mm512_dpbf16_ps(s##i, one, tiny); \
  PYACLNN_LIMIT_KEEP(i)
#else
  const auto one = vreinterpretq_bf16_u16(vdupq_n_u16(0x3f80));
  const auto tiny = vreinterpretq_bf16_u16(vdupq_n_u16(0x2f80));
#define PYACLNN_LIMIT_STEP(i)                                                                    \
  s##i =                                                                                         \
      __builtin_bit_cast(Floats, vbfdotq_f32(__builtin_bit_cast(float32x4_t, s##i), one, tiny)); \
  PYACLNN_LIMIT_KEEP(i)
#endif
  PYACLNN_LIMIT_ROUNDS(4 * kLimitFloats, PYACLNN_LIMIT_STEP);
#undef PYACLNN_LIMIT_STEP
}
#define PYACLNN_LIMIT_DOT dot_most
#else
#define PYACLNN_LIMIT_DOT nullptr
#endif

// The members of a Limits table.
#define PYACLNN_LIMIT_TABLE \
  {read_all<-1>, read_all<2>, read_all<3>}, multiply_most, PYACLNN_LIMIT_DOT
