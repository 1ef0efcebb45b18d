// The lanes of float32 that the kernel text is written over, for the instruction set that the
// including file is compiled for. Included inside an unnamed namespace, after <stdint.h> (and
// <immintrin.h> or <arm_neon.h>): nothing here may have external linkage, or the linker could keep
// the form of the wrong level. Each vec_*.hpp gives the same words:
//   V                   kWide lanes
//   kScoreSums          sums that a tile of scores keeps in registers, a multiple of kWide
//   kRegisters          vector registers that a tile may count on
//   load*, save*        memory as float32 lanes; *_some: the first `count` (below kWide) elements,
//                       zeros behind; nothing beside them is read or written
//   add .. fma, fms     fms(a, b, c) = a * b - c
//   max(a, b)           b where either is NaN
//   nearest             whole numbers, |a| < 2^22
//   times_power_of_two  a * 2^n for whole n in [-151, 0], below the smallest number 0
//   where_set           per lane: yes where the flag is not 0
//   sums                lane i: the sum of the lanes of s[i], in one order for every i
//   transpose           lane j of s[i] and lane i of s[j] change places
//   put_lanes           some lanes to memory (where kScoreSums is kWide)
// with PYACLNN_LATE_SUMS (kScoreSums is kWide) besides
//   LateSums            a tile's sums in memory: keep<i>, then part<0> .. part<3>, joined by sums
// and, with PYACLNN_PAIRS, products of pairs of bf16 values (Pairs: 2 * kWide values); with
// PYACLNN_HALVES besides, vectors whose halves belong to different heads.

#define PYACLNN_INLINE static inline __attribute__((always_inline))

PYACLNN_INLINE float bits_to_float(uint32_t bits) {
  float f;
  __builtin_memcpy(&f, &bits, 4);
  return f;
}

// A value that need not be aligned, whatever its memory was written as.
template <class T>
PYACLNN_INLINE T read(const void *p) {
  T value;
  __builtin_memcpy(&value, p, sizeof value);
  return value;
}

// The first `count` (below 16) bytes in the low end of sixteen, by loads that overlap: a copy
// through memory would cost the tiles their registers.
struct Sixteen {
  uint64_t low, high;
};
PYACLNN_INLINE Sixteen first_bytes(const void *from, int32_t count) {
  auto *p = static_cast<const char *>(from);
  uint64_t low = 0, high = 0;
  if (count >= 8) {
    low = read<uint64_t>(p);
    if (count > 8) high = read<uint64_t>(p + count - 8) >> (8 * (16 - count));
  } else if (count >= 4) {
    low = read<uint32_t>(p) | uint64_t{read<uint32_t>(p + count - 4)} << (8 * (count - 4));
  } else if (count >= 2) {
    low = read<uint16_t>(p) | uint64_t{read<uint16_t>(p + count - 2)} << (8 * (count - 2));
  } else if (count == 1) {
    low = read<uint8_t>(p);
  }
  return {low, high};
}

// A loop whose index is a constant in every pass.
template <int I>
struct Index {
  static constexpr int value = I;
};

template <int N, class F>
PYACLNN_INLINE void unrolled(F &&f) {
  if constexpr (N > 0) {
    unrolled<N - 1>(f);
    f(Index<N - 1>{});
  }
}

#define PYACLNN_EACH(index) [&](auto index) __attribute__((always_inline))
#define PYACLNN_TILE __attribute__((noinline)) static

#if defined(__AVX512F__)
#include "kernels/vec_avx512.hpp"
#elif defined(__AVX2__)
#include "kernels/vec_avx2.hpp"
#elif defined(PYACLNN_NEON)
#include "kernels/vec_neon.hpp"
#else
#include "kernels/vec_portable.hpp"
#endif

// exp for x <= 0, with a relative error of at most 2.1e-7 + 1.3e-8 * |x|: with n the nearest whole
// number of x / ln 2 and |f| <= 1/2 the rest, 2^n 2^f. exp(0) is 1, below -104 it is 0, NaN stays
// NaN. The polynomial has the smallest largest error of its degree (7.5e-8).
PYACLNN_INLINE V exp_of(V x) {
  const V kLog2e = all(1.44269504088896341f);
  V clamped = max(all(-104.0f), x);
  V n = nearest(mul(clamped, kLog2e));
  V f = fms(clamped, kLog2e, n);
  V y = all(1.327647245e-03f);
  y = fma(y, f, all(9.675540961e-03f));
  y = fma(y, f, all(5.550713092e-02f));
  y = fma(y, f, all(2.402212024e-01f));
  y = fma(y, f, all(6.931469440e-01f));
  y = fma(y, f, all(1.0f));
  return times_power_of_two(y, n);
}
PYACLNN_INLINE float exp_of(float x) {
  float lanes[kWide];
  save(lanes, exp_of(all(x)));
  return lanes[0];
}
