// The kernels for NEON with BF16 dot products (FEAT_BF16).
#if defined(__aarch64__)

#include <arm_neon.h>
#include <stdint.h>

#include "kernels/kernels.hpp"
#include "kernels/limits.hpp"

// The portable level is compiled for the same instructions.
#define PYACLNN_NEON 1

namespace pyaclnn::kernels {
namespace {

#include "kernels/vec.hpp"
// The others use what vec.hpp defines.
#include "kernels/block.inl.hpp"
#include "kernels/limits.inl.hpp"

}  // namespace

extern "C" constexpr Kernels pyaclnn_kernels_neon_bf16 = table_of("neon_bf16");
extern "C" constexpr Limits pyaclnn_limits_neon_bf16 = {PYACLNN_LIMIT_TABLE};

}  // namespace pyaclnn::kernels

#endif
