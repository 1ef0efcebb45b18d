// The kernels for AVX-512 with BF16 dot products, and tiles of BF16 values for many rows (AMX).
#if defined(__x86_64__)

#include <immintrin.h>
#include <stdint.h>

#include "kernels/kernels.hpp"
#include "kernels/limits.hpp"

namespace pyaclnn::kernels {
namespace {

#include "kernels/vec.hpp"
// Before what uses them.
#include "kernels/tiles_amx.hpp"
// The others use what vec.hpp defines.
#include "kernels/block.inl.hpp"
#include "kernels/limits.inl.hpp"

}  // namespace

extern "C" constexpr Kernels pyaclnn_kernels_amx_bf16 = table_of("amx_bf16");
extern "C" constexpr Limits pyaclnn_limits_amx_bf16 = {PYACLNN_LIMIT_TABLE};

}  // namespace pyaclnn::kernels

#endif
