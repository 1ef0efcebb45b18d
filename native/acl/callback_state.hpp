// Fork protocol of callback subscriptions.
#pragma once

namespace pyaclnn {

void callbacks_before_fork() noexcept;
void callbacks_after_fork_in_parent() noexcept;
void callbacks_after_fork_in_child() noexcept;

}  // namespace pyaclnn
