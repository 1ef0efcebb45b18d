// How work items run: over the thread pool, or inline when there is little work.
#pragma once

#include <cstdint>

#include "attention/problem.hpp"
#include "support/pool.hpp"

namespace pyaclnn::attention {

// Too little work to wake another thread or to leave the caller's.
bool is_small(const Problem &problem);
// Runs fn over the pool, or on the caller when the work is small. Returns the number of threads
// that ran an item.
int32_t run_items(bool small, int64_t items, PoolFunction fn, void *context);

}  // namespace pyaclnn::attention
