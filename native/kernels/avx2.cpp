// The kernels for AVX2 with FMA and F16C (x86-64-v3).
#if defined(__x86_64__)

#include <immintrin.h>
#include <stdint.h>

#include "kernels/kernels.hpp"

namespace pyaclnn::kernels {
namespace {

#include "kernels/vec.hpp"
// decode.inl.hpp uses what vec.hpp defines.
#include "kernels/decode.inl.hpp"

}  // namespace

extern "C" const Kernels pyaclnn_kernels_avx2 = {
    "avx2", scores, weights, values, merge, to_float, dequantise, store,
};

}  // namespace pyaclnn::kernels

#endif
