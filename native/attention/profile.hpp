// PYACLNN_LOG=profile: a line in the log for every execution.
#pragma once

#include <cstdint>

#include "attention/engine.hpp"
#include "attention/geometry.hpp"

namespace pyaclnn::attention {

// Starts the clock; what the line compares with is measured before, at the process's first use.
uint64_t profile_start() noexcept;
// The line of a run that succeeded.
void profile_end(const Plan &plan, Addresses addresses, uint64_t start) noexcept;

}  // namespace pyaclnn::attention
