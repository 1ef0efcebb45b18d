// PYACLNN_LOG=profile: a line in the log for every execution.
#pragma once

#include <cstdint>

#include "attention/engine.hpp"
#include "attention/geometry.hpp"

namespace pyaclnn::attention {

// Starts the clock. The machine's rates, which the line compares with, are measured before that,
// once per process and setting.
uint64_t profile_start() noexcept;
// The line of a run that succeeded.
void profile_end(const Plan &plan, Addresses addresses, uint64_t start) noexcept;

}  // namespace pyaclnn::attention
