// The kernels for AVX2 with FMA and F16C (x86-64-v3).
#if defined(__x86_64__)

#include <immintrin.h>
#include <stdint.h>

#include "kernels/kernels.hpp"

namespace pyaclnn::kernels {
namespace {

#include "kernels/vec.hpp"
// block.inl.hpp uses what vec.hpp defines.
#include "kernels/block.inl.hpp"

}  // namespace

extern "C" constexpr Kernels pyaclnn_kernels_avx2 = table_of("avx2");

}  // namespace pyaclnn::kernels

#endif
