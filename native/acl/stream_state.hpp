// Streams inside the library. A stream is an intrusive queue with one drain token: whoever holds it
// runs the tasks in order -- a worker, a synchroniser, or a submitter. A task that has to wait
// parks the stream, it never blocks a thread.
//
// Lock order: device list > stream list > one stream > marks > ready list. No lock is held while a
// task or its release runs.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "acl/handle.hpp"
#include "acl/stream.hpp"
#include "support/env.hpp"
#include "support/text.hpp"

namespace pyaclnn {

struct Stream;

// A point that streams and threads can wait for: the pass of a record, or the end of a callback.
// Counted references; every field but the count is guarded by the mutex of marks.
struct Mark {
  std::atomic<int32_t> references{1};
  bool recorded = false;     // some stream will reach it (or has)
  bool done = false;         // ask mark_passed, which knows about forks
  uint32_t forks = 0;        // how often the process had forked when it was recorded
  uint64_t time_ns = 0;      // when it was passed; 0 when it was dropped
  Stream *stream = nullptr;  // where it was recorded, for helpers; `self` tells whether it still is
  uint64_t stream_self = 0;
  uint64_t ticket = 0;
  Stream *parked = nullptr;  // streams that wait here
  int32_t waits = 0;         // wait tasks that have not passed
};

Mark *mark_new() noexcept;
void mark_keep(Mark *mark) noexcept;
void mark_drop(Mark *mark) noexcept;
void mark_finish(Mark *mark, bool reached) noexcept;
// With marks locked: whether it is done, or was recorded by work that a fork dropped.
bool mark_passed(const Mark *mark) noexcept;
std::mutex &marks_mutex() noexcept;
// A task that waits for the mark (which it keeps); nullptr when memory is exhausted.
Task *mark_wait_task(Mark *mark) noexcept;
// Waits until the mark is done; false on expiry. `deadline_ns` is monotonic, 0 waits for ever.
bool mark_wait(Mark *mark, uint64_t deadline_ns) noexcept;

struct Stream {
  static constexpr Kind kKind = Kind::Stream;

  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<uint64_t> submitted{0}, passed{0};  // written under the mutex

  // Guarded by mutex.
  uint64_t self = 0;  // own handle, 0 while the slot is not in use
  uint64_t context = 0;
  int32_t device = 0, id = 0;
  uint32_t priority = 0, flags = 0, overflow_switch = 0;
  Task *head = nullptr, *tail = nullptr;
  uint64_t allowed = 0;         // tickets up to here may run; behind submitted only in lazy mode
  bool running = false;         // the drain token is taken
  bool at_task = false;         // ... by who is at a task right now
  uint64_t dropped_behind = 0;  // tasks dropped behind that one: they pass with it, not before
  bool parked = false;
  bool stop_on_failure = false, failure_mode_set = false;
  bool lost_at_fork = false;  // the error is the one-time report of dropped work
  uint32_t sleepers = 0;
  uint64_t wake_at = UINT64_MAX;  // the lowest ticket a sleeper waits for
  int32_t error = 0;
  Text error_text;
  Task *dropped = nullptr;  // of the parent process, released at the next use

  Stream *park_next = nullptr;                            // guarded by marks_mutex
  Mark *parked_on = nullptr;                              // guarded by marks_mutex
  bool ready = false;                                     // in the ready list; guarded by its mutex
  Stream *ready_next = nullptr;                           // likewise
  Stream *list_next = nullptr, *list_previous = nullptr;  // guarded by the stream list
};

// Who a stream is and where it belongs.
struct Home {
  uint64_t stream = 0, context = 0;  // handles
  int32_t device = 0;
};

// Stands on the stack of a thread while it runs something that a stream waits for: a task, or a
// callback that blocks. A call here that would wait for that stream would wait for itself, so each
// of them refuses it (refuse_own_work): synchronise, abort and destroy a stream, synchronise an
// event, a copy to pageable memory, synchronise or reset a device, destroy a context.
class Duty {
 public:
  explicit Duty(const Home &home) noexcept;
  ~Duty();
  Duty(const Duty &) = delete;
  Duty &operator=(const Duty &) = delete;

  Home home;
  Duty *outer;
};
// Whether this thread has a duty for the stream; for any stream of a device (-1: of all) and of a
// context (0: of all).
bool own_work_of(uint64_t stream) noexcept;
bool own_work_within(int32_t device, uint64_t context) noexcept;
// ACL_ERROR_RT_PARAM_INVALID (107000): as for any stream, event or device that a call cannot take
// where it is made.
int32_t refuse_own_work(const char *function, const char *parameter) noexcept;

StreamMode stream_mode() noexcept;
void set_stream_mode(StreamMode mode) noexcept;

// A new stream of the context; 0 when memory is exhausted.
uint64_t stream_open(uint64_t context, int32_t device, uint32_t priority, uint32_t flags) noexcept;
// Ends a stream whose handle was claimed: waits for its work, or drops it. Not from its own work.
void stream_close(Stream *stream, uint64_t handle, bool drop) noexcept;

// Finds the stream an argument means and locks it. 0, or a code after a refusal in the name of
// `function`.
int32_t stream_lock(aclrtStream argument, const char *function, Stream **stream,
                    std::unique_lock<std::mutex> *lock) noexcept;

// What is special about a piece of work.
enum class Work : uint8_t {
  Plain,
  User,  // runs code of the program: only ever on a worker thread
  Wait,  // payload begins with a Mark *: parks the stream until it is done
};
// As stream_submit, in the name of `function`. `recorded` becomes recorded at this task.
int32_t stream_push(aclrtStream argument, const char *function, Task *task, Work work = Work::Plain,
                    Mark *recorded = nullptr, uint64_t *ticket = nullptr) noexcept;

// Waits until `ticket` has passed, helping; `deadline_ns` monotonic, 0: for ever. False on expiry,
// and true as well when the stream has died meanwhile.
bool stream_wait(Stream *stream, uint64_t self, uint64_t ticket, uint64_t deadline_ns) noexcept;
// Lets the stream run up to `ticket` and runs here what can run at once; never waits.
void stream_help(Stream *stream, uint64_t self, uint64_t ticket) noexcept;
// Waits for everything submitted so far and reports the sticky error.
int32_t stream_synchronize(aclrtStream argument, const char *function,
                           uint64_t deadline_ns) noexcept;
// Whether everything submitted so far has passed; a sticky error is reported and stays. In lazy
// mode the work runs here.
int32_t stream_query(aclrtStream argument, const char *function, bool *complete) noexcept;
// The same as stream_synchronize for all streams of a device, or of a context (0: of all).
int32_t streams_synchronize(int32_t device, uint64_t context, const char *function,
                            uint64_t deadline_ns) noexcept;
// Pushes a task made by `make` to every stream that has unfinished work; the number of streams.
int32_t streams_push_behind_work(Task *(*make)(void *context), void *context) noexcept;
bool streams_busy() noexcept;

// Lets the work of a context finish as far as it can, and drops what waits for something that
// nobody has recorded.
void streams_settle(uint64_t context) noexcept;

// Drops queued work of a stream (aclrtStreamAbort). Not from its own work.
void stream_drop_work(Stream *stream) noexcept;

// Lets all work finish that can, drops what waits for something that nobody will do, and ends the
// workers. They start again with the next work.
void streams_shut_down() noexcept;
// The process exits: the running tasks finish, queued ones are discarded.
void streams_at_exit() noexcept;

void streams_before_fork() noexcept;
void streams_after_fork_in_parent() noexcept;
void streams_after_fork_in_child() noexcept;

// Turns a time limit in milliseconds (-1: none) into a deadline, or refuses it.
int32_t deadline_of(const char *function, int32_t timeout, uint64_t *deadline) noexcept;

inline uint64_t handle_value(const void *handle) { return reinterpret_cast<uint64_t>(handle); }
inline void *handle_pointer(uint64_t handle) { return reinterpret_cast<void *>(handle); }

}  // namespace pyaclnn
