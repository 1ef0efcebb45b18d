// The kernels for the baseline of the target.
#include <stdint.h>

#if defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "kernels/kernels.hpp"
#include "kernels/limits.hpp"

namespace pyaclnn::kernels {
namespace {

#include "kernels/vec.hpp"
// The others use what vec.hpp defines.
#include "kernels/block.inl.hpp"
#include "kernels/limits.inl.hpp"

}  // namespace

extern "C" constexpr Kernels pyaclnn_kernels_portable = table_of("portable");
extern "C" constexpr Limits pyaclnn_limits_portable = {PYACLNN_LIMIT_TABLE};

}  // namespace pyaclnn::kernels
