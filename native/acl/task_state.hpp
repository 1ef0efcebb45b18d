// Fork protocol of the shared free lists of tasks (task.cpp).
#pragma once

namespace pyaclnn {

void tasks_before_fork() noexcept;
void tasks_after_fork() noexcept;

}  // namespace pyaclnn
