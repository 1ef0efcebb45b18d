// The slow, obvious engine: every field of Problem, one loop per formula line, float32. It shares
// with the block engine where things are (rows, masks, biases, outputs: geometry.hpp); what it is
// slow and obvious about is the arithmetic.
#pragma once

#include "attention/geometry.hpp"
#include "attention/problem.hpp"

namespace pyaclnn::attention {

// A whole run, device data judged first: what no kernel takes, and kernel level "reference".
Outcome run_reference(const Problem &problem, Addresses addresses) noexcept;

// One row of one head. Returns false when memory is exhausted.
bool reference_row(const Problem &problem, Addresses addresses, const Batch &batch, int64_t i,
                   int64_t n);

}  // namespace pyaclnn::attention
