// Outputs whose size depends on the data: masked_select and nonzero.
#pragma once

#include "elementwise/engine.hpp"

namespace pyaclnn::elementwise {

// How many elements of a view are not 0.
int64_t count_nonzero(const Source &source, std::byte *const *addresses) noexcept;

// Writes the elements of `input` where `mask` is not 0 contiguously, `room` at most; returns how
// many, -1 when memory is exhausted. Both views have the same dimensions. Another stream may change
// the mask after it was counted.
int64_t pick(const Source &input, const Source &mask, const Source &output,
             std::byte *const *addresses, int64_t room) noexcept;

// Writes where the elements of `input` that are not 0 stand, as 64-bit indices: those of place
// number k and dimension d to element k * place + d * axis of `output`, `room` places at most. The
// input's view is not merged. False when memory is exhausted.
bool places_of_nonzero(const Source &input, const Source &output, std::byte *const *addresses,
                       int64_t place, int64_t axis, int64_t room) noexcept;

}  // namespace pyaclnn::elementwise
