// Whether device memory has room for what a call does with it. Executor::looks says when to look:
// it takes a lock for each tensor.
#pragma once

#include "nnopbase/tensor.hpp"

namespace pyaclnn {

// Logs that a tensor of an operator reaches behind the end of its block of aclrtMalloc. `address`
// is that of its first element. Outputs are written contiguously.
void look_for_room(const char *op, const Tensor &tensor, const std::byte *address,
                   bool output) noexcept;
// The same of a workspace.
void look_for_room(const char *op, const void *workspace, uint64_t bytes) noexcept;

}  // namespace pyaclnn
