// The kernels for NEON, which every AArch64 has.
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

extern "C" constexpr Kernels pyaclnn_kernels_neon = table_of("neon");
extern "C" constexpr Limits pyaclnn_limits_neon = {PYACLNN_LIMIT_TABLE};

}  // namespace pyaclnn::kernels

#endif
