// Fork protocol of the reserved ranges and their mappings.
#pragma once

namespace pyaclnn {

void virtual_memory_before_fork() noexcept;
void virtual_memory_after_fork() noexcept;

}  // namespace pyaclnn
