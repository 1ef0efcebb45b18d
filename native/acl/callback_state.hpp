// What other files tell the subscriptions of callbacks.
#pragma once

#include <cstdint>

namespace pyaclnn {

// The stream is gone: so is its subscription, and a thread that waited for its reports is told.
void callbacks_forget_stream(uint64_t stream) noexcept;

void callbacks_before_fork() noexcept;
void callbacks_after_fork_in_parent() noexcept;
void callbacks_after_fork_in_child() noexcept;

}  // namespace pyaclnn
