// The kernels for the baseline of the target.
#include <stdint.h>

#include "kernels/kernels.hpp"

namespace pyaclnn::kernels {
namespace {

#include "kernels/vec.hpp"
// decode.inl.hpp uses what vec.hpp defines.
#include "kernels/decode.inl.hpp"

}  // namespace

extern "C" const Kernels pyaclnn_kernels_portable = {
    "portable", scores, weights, values, merge, to_float, dequantise, store,
};

}  // namespace pyaclnn::kernels
