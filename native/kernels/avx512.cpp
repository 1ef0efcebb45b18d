// The kernels for AVX-512 F, BW, VL and DQ (x86-64-v4).
#if defined(__x86_64__)

#include <immintrin.h>
#include <stdint.h>

#include "kernels/kernels.hpp"
#include "kernels/limits.hpp"

namespace pyaclnn::kernels {
namespace {

#include "kernels/vec.hpp"
// The others use what vec.hpp defines.
#include "kernels/block.inl.hpp"
#include "kernels/limits.inl.hpp"

}  // namespace

extern "C" constexpr Kernels pyaclnn_kernels_avx512 = table_of("avx512");
extern "C" constexpr Limits pyaclnn_limits_avx512 = {PYACLNN_LIMIT_TABLE};

}  // namespace pyaclnn::kernels

#endif
