// The thread pool, one per process. Results never depend on it: items are independent, and any
// thread may run any item.
#pragma once

#include <cstdint>

#include "support/api.hpp"

namespace pyaclnn {

using PoolFunction = void (*)(void *context, int64_t item);

// Calls fn(context, item) once for every item in [0, items) and returns when all are done. The
// calling thread takes part. When the pool is taken by another stream, or the call is nested, or
// only one thread is configured, all items run on the caller. Items must not depend on each other.
// Returns the number of threads that ran at least one item.
PYACLNN_API int32_t pool_run(int64_t items, PoolFunction fn, void *context) noexcept;

// PYACLNN_NUM_THREADS, else the CPUs this process may use (affinity and cgroup quota).
PYACLNN_API int32_t pool_threads() noexcept;

// Changes the number for later calls (1 .. 256); returns false and changes nothing otherwise. Waits
// for a running pool_run.
PYACLNN_API bool pool_set_threads(int32_t threads) noexcept;

}  // namespace pyaclnn
