// What libascendcl itself needs of the pool beyond pool.hpp.
#pragma once

#include <cstdint>

namespace pyaclnn {

// CPUs this process may use: affinity mask, bounded by the cgroup quota.
int32_t usable_cpus() noexcept;
// The child of a fork has no workers: the pool starts anew there.
void pool_after_fork_in_child() noexcept;

}  // namespace pyaclnn
