// The kernels for AVX2 with FMA and F16C (x86-64-v3).
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

extern "C" constexpr Kernels pyaclnn_kernels_avx2 = table_of("avx2");
extern "C" constexpr Limits pyaclnn_limits_avx2 = {PYACLNN_LIMIT_TABLE};

}  // namespace pyaclnn::kernels

#endif
