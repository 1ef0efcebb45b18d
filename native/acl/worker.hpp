// The worker threads that run streams. They start with the first work and serve all streams.
#pragma once

namespace pyaclnn {

struct Stream;

// Puts a stream into the ready list unless it is there already. The caller holds its mutex.
void ready_push(Stream *stream) noexcept;
// Takes it out if it is there. The caller holds its mutex.
void ready_remove(Stream *stream) noexcept;
// Runs on a worker what the stream allows; defined in stream_core.cpp.
void worker_drain(Stream *stream) noexcept;

bool is_worker() noexcept;
// Marks that this worker runs code of the program (may nest). That may wait for other work and may
// never return, so such a worker does not count against the limit of workers.
void worker_in_user_code(bool inside) noexcept;
// Ends the workers after their current task. With `at_exit` nothing starts again, and a worker
// inside user code is left alone. No effect from a worker itself.
void workers_stop(bool at_exit) noexcept;
// The process is exiting: queued work is no longer run by workers.
bool exiting() noexcept;

void workers_before_fork() noexcept;
void workers_after_fork_in_parent() noexcept;
void workers_after_fork_in_child() noexcept;

}  // namespace pyaclnn
