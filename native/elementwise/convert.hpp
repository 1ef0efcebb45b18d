// Conversions of dense runs between memory and compute types; with load and store every type
// becomes every other: memory -> its compute type -> memory.
#pragma once

#include "elementwise/type.hpp"

namespace pyaclnn::elementwise {

using Convert = void (*)(const void *from, void *to, int64_t n);

// Values of a type, exactly, in its own compute type.
Convert load_of(Type type);

// Rounds (floats: to nearest even), truncates (floats to integers: toward zero, what does not fit
// becomes the smallest integer of 32 or 64 bits, then wraps) or drops (imaginary parts).
Convert store_of(Compute from, Type to);

// n values of one type as another; through a buffer of its own, in pieces.
void convert_run(const void *from, Type from_type, void *to, Type to_type, int64_t n);

}  // namespace pyaclnn::elementwise
