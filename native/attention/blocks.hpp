// The block engine, which runs the kernels: keys in blocks of 128 and splits of 1024, both counted
// from the first valid key.
#pragma once

#include "attention/engine.hpp"
#include "attention/geometry.hpp"
#include "kernels/kernels.hpp"

namespace pyaclnn::attention {

// Fills the plan's fields from `blocks` on.
void plan_blocks(Plan &plan);

// Device data has been judged. Returns false when memory is exhausted.
bool run_blocks(const Plan &plan, Addresses addresses, std::byte *workspace,
                const kernels::Kernels &kernels);

// Work items of a run, for its profile.
int64_t block_items(const Plan &plan);

}  // namespace pyaclnn::attention
