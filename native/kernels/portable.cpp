// The kernels for the baseline of the target.
#include <stdint.h>

#include "kernels/kernels.hpp"

namespace pyaclnn::kernels {
namespace {

#include "kernels/vec.hpp"
// block.inl.hpp uses what vec.hpp defines.
#include "kernels/block.inl.hpp"

}  // namespace

extern "C" constexpr Kernels pyaclnn_kernels_portable = table_of("portable");

}  // namespace pyaclnn::kernels
