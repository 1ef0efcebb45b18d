// The kernels for AVX-512 with BF16 dot products.
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

extern "C" constexpr Kernels pyaclnn_kernels_avx512_bf16 = table_of("avx512_bf16");

}  // namespace pyaclnn::kernels

#endif
