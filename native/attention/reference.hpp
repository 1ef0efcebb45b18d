// The reference engine: every field of Problem, one plain float32 loop per line of the formula. It
// shares addressing, masks, biases and output with the block engine (geometry.hpp, scores.hpp); the
// arithmetic is its own.
#pragma once

#include "attention/geometry.hpp"
#include "attention/problem.hpp"

namespace pyaclnn::attention {

// A whole run, device data checked first: for what no kernel takes, and for level "reference".
Outcome run_reference(const Problem &problem, Addresses addresses) noexcept;

// One row of one head. Returns false when memory is exhausted.
bool reference_row(const Problem &problem, Addresses addresses, const Batch &batch, int64_t i,
                   int64_t n);

}  // namespace pyaclnn::attention
