// The queues of streams, the drain token, event marks, waiting, shutdown and fork.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/callback_state.hpp"
#include "acl/device_state.hpp"
#include "acl/refuse.hpp"
#include "acl/stream_state.hpp"
#include "acl/worker.hpp"
#include "support/clock.hpp"
#include "support/log.hpp"

namespace pyaclnn {
namespace {

struct StreamList {
  std::mutex mutex;
  Stream *first = nullptr;
  std::atomic<int32_t> next_id{0};
};
constinit StreamList g_list;
constinit std::mutex g_marks;
std::atomic<int64_t> g_unfinished{0};  // tasks of all streams
std::atomic<uint32_t> g_fork_count{0};
std::atomic<int32_t> g_mode{-1};

std::condition_variable &marks_changed() {
  alignas(std::condition_variable) static unsigned char memory[sizeof(std::condition_variable)];
  static auto *const once = new (memory) std::condition_variable();
  return *once;
}

thread_local Duty *t_duty = nullptr;

void release_task(Task *task) {
  if (task->release != nullptr) task->release(task);
  task_free(task);
}

void release_list(Task *task) {
  while (task != nullptr) {
    Task *next = task->next;
    release_task(task);
    task = next;
  }
}

// With the stream locked.
void kick(Stream &s) {
  if (s.head != nullptr && !s.running && !s.parked &&
      s.passed.load(std::memory_order_relaxed) < s.allowed) {
    ready_push(&s);
  }
}

void wake_sleepers(Stream &s) {
  if (s.sleepers != 0 && s.passed.load(std::memory_order_relaxed) >= s.wake_at) {
    s.wake_at = UINT64_MAX;
    s.changed.notify_all();
  }
}

// With marks locked.
void unlink_parked(Stream *s) {
  if (s->parked_on == nullptr) return;
  Stream **at = &s->parked_on->parked;
  while (*at != s) at = &(*at)->park_next;
  *at = s->park_next;
  s->park_next = nullptr;
  s->parked_on = nullptr;
}

Mark *mark_of(Task *task) { return *reinterpret_cast<Mark **>(task->payload()); }

// A stream that others wait for may run that far, whatever the mode.
void allow(Stream *stream, uint64_t self, uint64_t ticket) {
  std::lock_guard lock(stream->mutex);
  if (stream->self != self) return;
  if (stream->allowed < ticket) stream->allowed = ticket;
  kick(*stream);
}

// Whether a parked stream waits for a record that nobody has made, itself or over the streams it
// waits for, or in a circle, or for a task of this thread. With marks locked. A mark that has not
// passed keeps its stream alive: the record is still in its queue.
bool hopeless(const Stream &s) {
  const Stream *at = &s;
  for (int64_t steps = handle_table(Kind::Stream).live(); at->parked_on != nullptr; --steps) {
    const Mark *mark = at->parked_on;
    if (mark_passed(mark)) return false;
    if (!mark->recorded || steps < 0 || own_work_of(mark->stream_self)) return true;
    at = mark->stream;
  }
  return false;
}

// Parks the stream at its wait task. True: the mark is done already, go on.
bool pass_wait(Stream &s, std::unique_lock<std::mutex> &lock) {
  Stream *other = nullptr;
  uint64_t self = 0, ticket = 0;
  {
    std::lock_guard marks(g_marks);
    Mark *mark = mark_of(s.head);
    unlink_parked(&s);
    if (mark_passed(mark)) return true;
    s.park_next = mark->parked;
    mark->parked = &s;
    s.parked_on = mark;
    s.parked = true;
    if (mark->recorded && mark->stream != &s) {
      other = mark->stream;
      self = mark->stream_self;
      ticket = mark->ticket;
    }
  }
  s.running = false;
  // In blocking mode a submitter must not wait for a parked stream.
  if (s.sleepers != 0) s.changed.notify_all();
  if (other != nullptr) {
    lock.unlock();
    allow(other, self, ticket);
    lock.lock();
  }
  return false;
}

// Who may run code of the program here and now: a worker, and everybody when there are none left.
bool runs_user_code() { return is_worker() || exiting(); }

// Runs tasks in order up to `until`, code of the program only if `user`; the caller holds the lock,
// and the token is free. Returns with the lock held and the token given back.
void drain(Stream &s, std::unique_lock<std::mutex> &lock, uint64_t until, bool user) {
  const Home home{s.self, s.context, s.device};
  s.running = true;
  while (s.head != nullptr) {
    uint64_t passed = s.passed.load(std::memory_order_relaxed);
    if (passed >= until || passed >= s.allowed) break;
    if (exiting() && is_worker()) break;
    Task *task = s.head;
    auto work = static_cast<Work>(task->work);
    const bool skip = s.stop_on_failure && s.error != 0;
    if (work == Work::User && !user) break;
    if (work == Work::Wait && !skip && !pass_wait(s, lock)) return;
    s.head = task->next;
    if (s.head == nullptr) s.tail = nullptr;
    const uint32_t forks = g_fork_count.load(std::memory_order_relaxed);
    s.at_task = true;
    lock.unlock();

    Text why;
    int32_t code = 0;
    if (work == Work::User) worker_in_user_code(true);
    {
      Duty duty(home);
      if (!skip && task->run != nullptr) code = task->run(task, why);
    }
    if (work == Work::User) worker_in_user_code(false);
    release_task(task);

    lock.lock();
    // A task that forked: in the child the stream was reset and the token is not ours any more.
    if (g_fork_count.load(std::memory_order_relaxed) != forks) return;
    if (code != 0 && s.error == 0) {
      s.error = code;
      s.error_text = why;
    }
    s.at_task = false;
    s.passed.store(s.passed.load(std::memory_order_relaxed) + 1 + s.dropped_behind,
                   std::memory_order_release);
    s.dropped_behind = 0;
    // Release: who reads 0 may free what the task used.
    g_unfinished.fetch_sub(1, std::memory_order_release);
    wake_sleepers(s);
  }
  s.running = false;
  // The token is free: a waiting thread may take it.
  if (s.sleepers != 0) s.changed.notify_all();
  kick(s);
}

// Takes the queue away; the lock is held and stays held. The caller releases what it gets.
Task *take_queue(Stream &s) {
  {
    std::lock_guard marks(g_marks);
    unlink_parked(&s);
  }
  Task *list = s.head;
  int64_t count = 0;
  for (Task *task = list; task != nullptr; task = task->next) ++count;
  s.head = s.tail = nullptr;
  s.parked = false;
  if (s.at_task) {
    s.dropped_behind += static_cast<uint64_t>(count);
  } else {
    s.passed.store(s.passed.load(std::memory_order_relaxed) + static_cast<uint64_t>(count),
                   std::memory_order_release);
  }
  g_unfinished.fetch_sub(count, std::memory_order_release);
  wake_sleepers(s);
  return list;
}

// Work of the parent process is released at the first use in the child, not while forking.
void release_dropped(Stream &s, std::unique_lock<std::mutex> &lock) {
  if (s.dropped == nullptr) [[likely]]
    return;
  Task *list = s.dropped;
  s.dropped = nullptr;
  lock.unlock();
  release_list(list);
  lock.lock();
}

// Reports the sticky error of a locked stream and forgets it, unless failures stop the stream.
int32_t report(Stream &s, std::unique_lock<std::mutex> &lock, const char *function) {
  if (s.error == 0) return 0;
  int32_t code = s.error;
  Text text;
  text << function << ": stream " << s.id << ": " << s.error_text.view();
  if (!s.stop_on_failure || s.lost_at_fork) {
    s.error = 0;
    s.error_text.clear();
    s.lost_at_fork = false;
  }
  lock.unlock();
  return fail(code, "EZ9999", text);
}

// Waits with the lock held; true when the ticket has passed or the stream is gone. `submitter`: in
// blocking mode, who must not wait while the stream is parked and only a later record can free it,
// because that may be his own next call. What made it so may have happened on other streams, so he
// looks again every now and then.
bool wait_locked(Stream &s, std::unique_lock<std::mutex> &lock, uint64_t self, uint64_t ticket,
                 uint64_t deadline_ns, bool submitter = false) {
  constexpr auto kLookAgain = std::chrono::milliseconds(1);
  bool spun = false;
  for (;;) {
    if (s.self != self || s.passed.load(std::memory_order_relaxed) >= ticket) return true;
    if (deadline_ns != 0 && monotonic_ns() >= deadline_ns) return false;
    if (s.allowed < ticket) s.allowed = ticket;
    const bool free = s.head != nullptr && !s.running && !s.parked;
    // With a limit the work is left to the workers: a task here could outlast the limit.
    const bool mine = deadline_ns == 0 || exiting();
    if (free && mine && (static_cast<Work>(s.head->work) != Work::User || runs_user_code())) {
      drain(s, lock, ticket, runs_user_code());
      spun = false;
      continue;
    }
    if (free) kick(s);
    if (submitter && s.parked) {
      std::lock_guard marks(g_marks);
      if (hopeless(s)) return false;
    }
    if (!spun) {
      spun = true;
      lock.unlock();
      spin_until([&] { return s.passed.load(std::memory_order_acquire) >= ticket; });
      lock.lock();
      continue;
    }
    ++s.sleepers;
    if (s.wake_at > ticket) s.wake_at = ticket;
    if (submitter && s.parked) {
      s.changed.wait_for(lock, kLookAgain);
    } else if (deadline_ns == 0) {
      s.changed.wait(lock);
    } else {
      uint64_t now = monotonic_ns();
      if (now < deadline_ns) {
        s.changed.wait_for(lock, std::chrono::nanoseconds(deadline_ns - now));
      }
    }
    --s.sleepers;
  }
}

struct Target {
  Stream *stream;
  uint64_t self, ticket;
};

// The streams of a device or a context and how far they were submitted.
std::vector<Target> targets_of(int32_t device, uint64_t context) {
  std::vector<Target> targets;
  std::lock_guard list(g_list.mutex);
  for (Stream *s = g_list.first; s != nullptr; s = s->list_next) {
    std::lock_guard lock(s->mutex);
    if (device >= 0 && s->device != device) continue;
    if (context != 0 && s->context != context) continue;
    targets.push_back({s, s->self, s->submitted.load(std::memory_order_relaxed)});
  }
  return targets;
}

void reset(Stream &s) {
  s.context = 0;
  s.error = 0;
  s.error_text.clear();
  s.stop_on_failure = s.failure_mode_set = s.lost_at_fork = false;
  s.overflow_switch = 0;
  s.submitted.store(0, std::memory_order_relaxed);
  s.passed.store(0, std::memory_order_relaxed);
  s.allowed = 0;
  s.wake_at = UINT64_MAX;
}

}  // namespace

// ---- duties

Duty::Duty(const Home &its_home) noexcept : home(its_home), outer(t_duty) { t_duty = this; }
Duty::~Duty() {
  if (t_duty == this) t_duty = outer;  // else the process forked inside, and has none
}

bool own_work_of(uint64_t stream) noexcept {
  for (const Duty *duty = t_duty; duty != nullptr; duty = duty->outer) {
    if (duty->home.stream == stream) return true;
  }
  return false;
}

bool own_work_within(int32_t device, uint64_t context) noexcept {
  for (const Duty *duty = t_duty; duty != nullptr; duty = duty->outer) {
    if ((device < 0 || duty->home.device == device) &&
        (context == 0 || duty->home.context == context)) {
      return true;
    }
  }
  return false;
}

int32_t refuse_own_work(const char *function, const char *parameter) noexcept {
  return fail(ACL_ERROR_RT_PARAM_INVALID, "EE1001",
              Text() << function << ": " << parameter
                     << ": waits for the callback that makes this call and so can never be "
                        "finished by it, a call from outside that callback is required");
}

// ---- marks

std::mutex &marks_mutex() noexcept { return g_marks; }

Mark *mark_new() noexcept { return new (std::nothrow) Mark(); }
void mark_keep(Mark *mark) noexcept { mark->references.fetch_add(1, std::memory_order_relaxed); }
void mark_drop(Mark *mark) noexcept {
  if (mark != nullptr && mark->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete mark;
}

bool mark_passed(const Mark *mark) noexcept {
  return mark->done ||
         (mark->recorded && mark->forks != g_fork_count.load(std::memory_order_relaxed));
}

void mark_finish(Mark *mark, bool reached) noexcept {
  {
    std::lock_guard marks(g_marks);
    if (mark->done) return;
    mark->done = true;
    mark->time_ns = reached ? monotonic_ns() : 0;
    marks_changed().notify_all();
  }
  for (;;) {
    Stream *stream = nullptr;
    {
      std::lock_guard marks(g_marks);
      stream = mark->parked;
      if (stream == nullptr) return;
      mark->parked = stream->park_next;
      stream->park_next = nullptr;
      stream->parked_on = nullptr;
    }
    // Should the slot have been reused meanwhile, this only makes its holder look again.
    std::lock_guard lock(stream->mutex);
    stream->parked = false;
    kick(*stream);
    if (stream->sleepers != 0) stream->changed.notify_all();
  }
}

Task *mark_wait_task(Mark *mark) noexcept {
  Task *task = task_new(sizeof(Mark *));
  if (task == nullptr) return nullptr;
  mark_keep(mark);
  {
    std::lock_guard marks(g_marks);
    ++mark->waits;
  }
  *reinterpret_cast<Mark **>(task->payload()) = mark;
  task->release = [](Task *it) {
    Mark *awaited = mark_of(it);
    {
      std::lock_guard marks(g_marks);
      --awaited->waits;
    }
    mark_drop(awaited);
  };
  return task;
}

bool mark_wait(Mark *mark, uint64_t deadline_ns) noexcept {
  Stream *stream = nullptr;
  uint64_t self = 0, ticket = 0;
  {
    std::lock_guard marks(g_marks);
    if (mark_passed(mark)) return true;
    if (mark->recorded) {
      stream = mark->stream;
      self = mark->stream_self;
      ticket = mark->ticket;
    }
  }
  if (stream != nullptr && !stream_wait(stream, self, ticket, deadline_ns)) return false;
  std::unique_lock lock(g_marks);
  while (!mark_passed(mark)) {
    if (deadline_ns == 0) {
      marks_changed().wait(lock);
      continue;
    }
    uint64_t now = monotonic_ns();
    if (now >= deadline_ns) return false;
    marks_changed().wait_for(lock, std::chrono::nanoseconds(deadline_ns - now));
  }
  return true;
}

// ---- mode

StreamMode stream_mode() noexcept {
  int32_t mode = g_mode.load(std::memory_order_relaxed);
  return mode >= 0 ? static_cast<StreamMode>(mode) : env().stream_mode;
}

void set_stream_mode(StreamMode mode) noexcept {
  g_mode.store(static_cast<int32_t>(mode), std::memory_order_relaxed);
  if (mode == StreamMode::Lazy) return;
  std::lock_guard list(g_list.mutex);  // what was kept back in lazy mode may run now
  for (Stream *s = g_list.first; s != nullptr; s = s->list_next) {
    std::lock_guard lock(s->mutex);
    s->allowed = s->submitted.load(std::memory_order_relaxed);
    kick(*s);
  }
}

// ---- life

uint64_t stream_open(uint64_t context, int32_t device, uint32_t priority, uint32_t flags) noexcept {
  void *handle = nullptr;
  auto *s = create_handle<Stream>(&handle);
  if (s == nullptr) return 0;
  std::lock_guard list(g_list.mutex);
  std::lock_guard lock(s->mutex);
  reset(*s);
  s->self = handle_value(handle);
  s->context = context;
  s->device = device;
  s->priority = priority;
  s->flags = flags;
  s->id = g_list.next_id.fetch_add(1, std::memory_order_relaxed) & 0x7fffffff;
  s->list_previous = nullptr;
  s->list_next = g_list.first;
  if (g_list.first != nullptr) g_list.first->list_previous = s;
  g_list.first = s;
  return s->self;
}

void stream_close(Stream *s, uint64_t handle, bool drop) noexcept {
  if (drop) stream_drop_work(s);
  {
    std::unique_lock lock(s->mutex);
    release_dropped(*s, lock);
    wait_locked(*s, lock, handle, s->submitted.load(std::memory_order_relaxed), 0);
    // Deferred releases of memory may still come behind the last task: the list lock keeps them
    // out.
  }
  for (;;) {
    std::unique_lock list(g_list.mutex);
    std::unique_lock lock(s->mutex);
    if (s->passed.load(std::memory_order_relaxed) < s->submitted.load(std::memory_order_relaxed)) {
      list.unlock();
      wait_locked(*s, lock, handle, s->submitted.load(std::memory_order_relaxed), 0);
      continue;
    }
    if (s->error != 0) {
      log(LogLevel::Warning,
          Text() << "stream " << s->id
                 << " ends with an error that was never reported: " << s->error_text.view());
    }
    if (s->list_previous != nullptr) {
      s->list_previous->list_next = s->list_next;
    } else {
      g_list.first = s->list_next;
    }
    if (s->list_next != nullptr) s->list_next->list_previous = s->list_previous;
    s->list_next = s->list_previous = nullptr;
    ready_remove(s);
    s->self = 0;
    if (s->sleepers != 0) s->changed.notify_all();
    reset(*s);
    break;
  }
  callbacks_forget_stream(handle);
  recycle_handle<Stream>(handle_pointer(handle));
}

void stream_drop_work(Stream *s) noexcept {
  Task *list = nullptr;
  {
    std::unique_lock lock(s->mutex);
    release_dropped(*s, lock);
    const uint64_t self = s->self;
    list = take_queue(*s);
    // A task that is running cannot be stopped; the dropped ones pass with it.
    if (s->running) {
      const uint64_t running = s->submitted.load(std::memory_order_relaxed);
      lock.unlock();
      release_list(list);
      list = nullptr;
      lock.lock();
      wait_locked(*s, lock, self, running, 0);
    }
  }
  release_list(list);
}

// ---- use

int32_t stream_lock(aclrtStream argument, const char *function, Stream **stream,
                    std::unique_lock<std::mutex> *lock) noexcept {
  const uint64_t current = current_context();
  Context *context = current != 0 ? find_handle<Context>(handle_pointer(current)) : nullptr;
  if (context == nullptr) return refuse_no_context(function);
  uint64_t handle = handle_value(argument);
  if (argument == nullptr) handle = context->default_stream.load(std::memory_order_acquire);
  auto *s = find_handle<Stream>(handle_pointer(handle));
  if (s == nullptr) return refuse_handle(function, "stream", "stream");
  std::unique_lock held(s->mutex);
  release_dropped(*s, held);
  if (s->self != handle) {
    held.unlock();
    return refuse_handle(function, "stream", "stream");
  }
  if (s->context != current) {
    Text text;
    text << function << ": stream: stream " << s->id
         << " belongs to another context, a stream of this thread's current context is required";
    held.unlock();
    return fail(ACL_ERROR_RT_STREAM_CONTEXT, "EE1001", text);
  }
  *stream = s;
  *lock = std::move(held);
  return 0;
}

int32_t stream_push(aclrtStream argument, const char *function, Task *task, Work work,
                    Mark *recorded, uint64_t *ticket_out) noexcept {
  Stream *stream = nullptr;
  std::unique_lock<std::mutex> lock;
  int32_t code = stream_lock(argument, function, &stream, &lock);
  if (code != 0) {
    release_task(task);
    return code;
  }
  Stream &s = *stream;
  task->next = nullptr;
  task->work = static_cast<uint8_t>(work);
  const uint64_t ticket = s.submitted.load(std::memory_order_relaxed) + 1;
  const bool idle = s.head == nullptr && !s.running;
  s.submitted.store(ticket, std::memory_order_release);
  g_unfinished.fetch_add(1, std::memory_order_relaxed);
  if (s.tail != nullptr) {
    s.tail->next = task;
  } else {
    s.head = task;
  }
  s.tail = task;
  if (ticket_out != nullptr) *ticket_out = ticket;

  const StreamMode mode = stream_mode();
  if (mode != StreamMode::Lazy) s.allowed = ticket;
  if (recorded != nullptr) {
    std::lock_guard marks(g_marks);
    recorded->recorded = true;
    recorded->forks = g_fork_count.load(std::memory_order_relaxed);
    recorded->stream = &s;
    recorded->stream_self = s.self;
    recorded->ticket = ticket;
    // A stream or thread waits for the mark already: the work up to here may run.
    if (recorded->parked != nullptr && s.allowed < ticket) s.allowed = ticket;
  }
  if (mode == StreamMode::Auto && idle && task->small && work == Work::Plain) {
    drain(s, lock, ticket, false);
    return 0;
  }
  // Waiting for an event does not block: the record may come from this very thread. Nor does work
  // behind the task that submits it.
  if (mode == StreamMode::Blocking && work != Work::Wait && !own_work_of(s.self)) {
    wait_locked(s, lock, s.self, ticket, 0, true);  // runs it here if it can: no worker is woken
  } else {
    kick(s);
  }
  return 0;
}

int32_t stream_submit(aclrtStream stream, Task *task) noexcept {
  return stream_push(stream, "submit", task);
}

void worker_drain(Stream *stream) noexcept {
  std::unique_lock lock(stream->mutex);
  if (!stream->running && !stream->parked && stream->head != nullptr) {
    drain(*stream, lock, UINT64_MAX, true);
  }
}

bool stream_wait(Stream *stream, uint64_t self, uint64_t ticket, uint64_t deadline_ns) noexcept {
  std::unique_lock lock(stream->mutex);
  release_dropped(*stream, lock);
  return wait_locked(*stream, lock, self, ticket, deadline_ns);
}

void stream_help(Stream *stream, uint64_t self, uint64_t ticket) noexcept {
  std::unique_lock lock(stream->mutex);
  release_dropped(*stream, lock);
  if (stream->self != self) return;
  if (stream->allowed < ticket) stream->allowed = ticket;
  if (stream->head != nullptr && !stream->running && !stream->parked) {
    drain(*stream, lock, ticket, false);
  }
  kick(*stream);
}

int32_t stream_synchronize(aclrtStream argument, const char *function,
                           uint64_t deadline_ns) noexcept {
  Stream *stream = nullptr;
  std::unique_lock<std::mutex> lock;
  int32_t code = stream_lock(argument, function, &stream, &lock);
  if (code != 0) return code;
  Stream &s = *stream;
  const uint64_t self = s.self;
  if (own_work_of(self)) {
    lock.unlock();
    return refuse_own_work(function, "stream");
  }
  if (!wait_locked(s, lock, self, s.submitted.load(std::memory_order_relaxed), deadline_ns)) {
    Text text;
    text << function << ": stream " << s.id
         << " has not finished within the limit: " << s.passed.load(std::memory_order_relaxed)
         << " of " << s.submitted.load(std::memory_order_relaxed) << " tasks have passed";
    lock.unlock();
    return fail(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "EE1001", text);
  }
  if (s.self != self) {
    lock.unlock();
    return refuse_handle(function, "stream", "stream");
  }
  return report(s, lock, function);
}

int32_t stream_query(aclrtStream argument, const char *function, bool *complete) noexcept {
  Stream *stream = nullptr;
  std::unique_lock<std::mutex> lock;
  int32_t code = stream_lock(argument, function, &stream, &lock);
  if (code != 0) return code;
  Stream &s = *stream;
  const uint64_t submitted = s.submitted.load(std::memory_order_relaxed);
  s.allowed = submitted;
  // Only lazy mode helps: a query must return soon, and a callback may wait for its caller.
  if (stream_mode() == StreamMode::Lazy && s.head != nullptr && !s.running && !s.parked) {
    drain(s, lock, submitted, false);
  }
  kick(s);
  *complete = s.passed.load(std::memory_order_relaxed) >= submitted;
  if (s.error == 0) return 0;
  Text text;
  text << function << ": stream " << s.id << ": " << s.error_text.view();
  code = s.error;
  lock.unlock();
  return fail(code, "EZ9999", text);
}

int32_t streams_synchronize(int32_t device, uint64_t context, const char *function,
                            uint64_t deadline_ns) noexcept {
  if (own_work_within(device, context)) {
    return refuse_own_work(function, context != 0 ? "context" : "device");
  }
  std::vector<Target> targets;
  try {
    targets = targets_of(device, context);
  } catch (...) {
    return refuse_memory(ACL_ERROR_BAD_ALLOC, function, "the list of streams", 0);
  }
  int32_t first = 0;
  for (const Target &target : targets) {
    std::unique_lock lock(target.stream->mutex);
    release_dropped(*target.stream, lock);
    if (!wait_locked(*target.stream, lock, target.self, target.ticket, deadline_ns)) {
      lock.unlock();
      return fail(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "EE1001",
                  Text() << function << ": the device has not finished within the limit");
    }
    if (target.stream->self != target.self) continue;
    int32_t code = report(*target.stream, lock, function);
    if (first == 0) first = code;
  }
  return first;
}

void streams_settle(uint64_t context) noexcept {
  std::vector<Target> targets;
  try {
    targets = targets_of(-1, context);
  } catch (...) {
    return;  // a later synchronisation waits for what is left
  }
  for (;;) {
    Stream *stuck = nullptr;
    bool moving = false;
    for (const Target &target : targets) {
      Stream &s = *target.stream;
      std::unique_lock lock(s.mutex);
      release_dropped(s, lock);
      if (s.self != target.self || s.passed.load(std::memory_order_relaxed) >= target.ticket) {
        continue;
      }
      if (s.allowed < target.ticket) s.allowed = target.ticket;
      kick(s);
      std::lock_guard marks(g_marks);
      if (s.parked && hopeless(s)) {
        stuck = &s;
      } else {
        moving = true;
      }
    }
    if (moving) {
      timespec pause{0, 200000};
      nanosleep(&pause, nullptr);
      continue;
    }
    if (stuck == nullptr) return;
    Task *list = nullptr;
    {
      std::lock_guard lock(stuck->mutex);
      bool still = false;
      {
        std::lock_guard marks(g_marks);
        still = stuck->parked && stuck->context == context && hopeless(*stuck);
      }
      if (still) list = take_queue(*stuck);
    }
    release_list(list);  // its records let others go on
  }
}

bool streams_busy() noexcept { return g_unfinished.load(std::memory_order_acquire) != 0; }

int32_t streams_push_behind_work(Task *(*make)(void *context), void *context) noexcept {
  int32_t count = 0;
  std::lock_guard list(g_list.mutex);
  for (Stream *s = g_list.first; s != nullptr; s = s->list_next) {
    std::lock_guard lock(s->mutex);
    if (s->passed.load(std::memory_order_relaxed) == s->submitted.load(std::memory_order_relaxed)) {
      continue;
    }
    Task *task = make(context);
    if (task == nullptr) continue;
    task->next = nullptr;
    const uint64_t ticket = s->submitted.load(std::memory_order_relaxed) + 1;
    s->submitted.store(ticket, std::memory_order_release);
    g_unfinished.fetch_add(1, std::memory_order_relaxed);
    // What was wholly released to the workers stays so; in lazy mode nothing new may run.
    if (s->allowed == ticket - 1) s->allowed = ticket;
    if (s->tail != nullptr) {
      s->tail->next = task;
    } else {
      s->head = task;
    }
    s->tail = task;
    ++count;
  }
  return count;
}

int32_t deadline_of(const char *function, int32_t timeout, uint64_t *deadline) noexcept {
  if (timeout < -1) {
    return refuse_value(ACL_ERROR_RT_PARAM_INVALID, function, "timeout", timeout,
                        "-1 (no limit), or milliseconds from 0");
  }
  *deadline = timeout == -1 ? 0 : monotonic_ns() + static_cast<uint64_t>(timeout) * 1000000u;
  return 0;
}

// ---- the end

void streams_shut_down() noexcept {
  if (is_worker()) return;
  for (;;) {
    bool waiting = false, moving = false;
    {
      std::lock_guard list(g_list.mutex);
      for (Stream *s = g_list.first; s != nullptr; s = s->list_next) {
        std::lock_guard lock(s->mutex);
        s->allowed = s->submitted.load(std::memory_order_relaxed);
        if (s->running || (s->head != nullptr && !s->parked)) moving = true;
        if (s->parked) waiting = true;
        kick(*s);
      }
    }
    if (moving) {
      timespec pause{0, 200000};
      nanosleep(&pause, nullptr);
      continue;
    }
    if (!waiting) break;
    // All that is left waits for events that can no longer be recorded.
    Task *list = nullptr;
    {
      std::lock_guard guard(g_list.mutex);
      for (Stream *s = g_list.first; s != nullptr && list == nullptr; s = s->list_next) {
        std::lock_guard lock(s->mutex);
        if (s->parked) list = take_queue(*s);
      }
    }
    release_list(list);
  }
  workers_stop(false);
}

void streams_at_exit() noexcept {
  workers_stop(true);
  std::lock_guard list(g_list.mutex);
  for (Stream *s = g_list.first; s != nullptr; s = s->list_next) {
    std::lock_guard lock(s->mutex);
    take_queue(*s);  // not released: that could run code of libraries that are gone already
  }
}

// ---- fork

void streams_before_fork() noexcept {
  g_list.mutex.lock();
  for (Stream *s = g_list.first; s != nullptr; s = s->list_next) s->mutex.lock();
  g_marks.lock();
  workers_before_fork();
}

void streams_after_fork_in_parent() noexcept {
  workers_after_fork_in_parent();
  g_marks.unlock();
  for (Stream *s = g_list.first; s != nullptr; s = s->list_next) s->mutex.unlock();
  g_list.mutex.unlock();
}

void streams_after_fork_in_child() noexcept {
  g_fork_count.fetch_add(1);
  t_duty = nullptr;
  workers_after_fork_in_child();
  new (&marks_changed()) std::condition_variable();
  int64_t lost = 0;
  for (Stream *s = g_list.first; s != nullptr; s = s->list_next) {
    unlink_parked(s);
    uint64_t submitted = s->submitted.load(std::memory_order_relaxed);
    uint64_t passed = s->passed.load(std::memory_order_relaxed);
    if (passed != submitted) {
      lost += static_cast<int64_t>(submitted - passed - s->dropped_behind);
      s->error = ACL_ERROR_RT_STREAM_ABORT;
      s->error_text.clear();
      s->error_text << "work submitted before fork runs in the parent process only; "
                    << submitted - passed << " tasks were dropped here";
      s->lost_at_fork = true;
      if (s->tail != nullptr) {
        s->tail->next = s->dropped;
        s->dropped = s->head;
      }
      s->head = s->tail = nullptr;
      s->passed.store(submitted, std::memory_order_relaxed);
    }
    s->running = s->parked = s->at_task = false;
    s->dropped_behind = 0;
    s->sleepers = 0;
    s->wake_at = UINT64_MAX;
    new (&s->changed) std::condition_variable();
  }
  g_unfinished.fetch_sub(lost);
  g_marks.unlock();
  for (Stream *s = g_list.first; s != nullptr; s = s->list_next) s->mutex.unlock();
  g_list.mutex.unlock();
}

}  // namespace pyaclnn
