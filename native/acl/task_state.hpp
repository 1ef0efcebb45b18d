// Fork protocol of the task shelves.
#pragma once

namespace pyaclnn {

void tasks_before_fork() noexcept;
void tasks_after_fork() noexcept;

}  // namespace pyaclnn
