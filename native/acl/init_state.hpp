// Fork protocol of aclInit and aclFinalize.
#pragma once

namespace pyaclnn {

void init_before_fork() noexcept;
void init_after_fork() noexcept;

}  // namespace pyaclnn
