// Fork protocol of the handle tables: no refill is under way while the process forks.
#pragma once

namespace pyaclnn {

void handles_before_fork() noexcept;
void handles_after_fork() noexcept;

}  // namespace pyaclnn
