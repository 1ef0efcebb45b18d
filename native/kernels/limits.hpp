// The peak rates of a level, for the roofline: reading memory, and multiplying in registers. One
// table per level, next to its kernels.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace pyaclnn::kernels {

// Every function returns a value that depends on all its work, so that no compiler drops it.
struct Limits {
  // By pyaclnnLimitWay.
  uint64_t (*read[3])(const void *from, size_t bytes);
  // At least that many floating point operations.
  float (*multiply)(double flops);
  float (*dot)(double flops);  // null: the level has no bfloat16 dot product
};

// Of the level in force (of the portable one for the reference).
const Limits &active_limits() noexcept;

// Rates of all pool threads together at the level in force, measured (0.1 s) when either is another
// than at the last call.
struct Rates {
  double cached_bytes;    // a second, from the last-level cache
  double streamed_bytes;  // a second, from memory
  double multiply_flops, dot_flops;
  size_t cache;  // bytes up to which a working set counts as cached
};
Rates measured_rates() noexcept;

extern "C" {
extern const Limits pyaclnn_limits_portable;
#if defined(__x86_64__)
extern const Limits pyaclnn_limits_avx2;
extern const Limits pyaclnn_limits_avx512;
extern const Limits pyaclnn_limits_avx512_bf16;
extern const Limits pyaclnn_limits_amx_bf16;
#elif defined(__aarch64__)
extern const Limits pyaclnn_limits_neon;
extern const Limits pyaclnn_limits_neon_bf16;
#endif
}

}  // namespace pyaclnn::kernels
