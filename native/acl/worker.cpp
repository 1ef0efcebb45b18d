#include "acl/worker.hpp"

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <new>

#include "acl/stream_state.hpp"
#include "support/clock.hpp"
#include "support/log.hpp"
#include "support/pool_state.hpp"

namespace pyaclnn {
namespace {

constexpr int kMaxBusy = 16;  // threads that run work at a time: one per CPU, at least 2, so that
                              // a long task of one stream does not hold up all others
constexpr int kMaxWorkers = 256;  // threads in all: many callbacks may wait for each other

struct Worker {
  pthread_t thread;
  bool alive = false;
  bool joinable = false;  // started and not joined, alive or not
  int user_code = 0;      // calls of the program it is inside of
};

struct Crew {
  std::mutex mutex;
  std::condition_variable wake;    // for workers
  std::condition_variable recall;  // for workers that rest
  std::condition_variable ended;   // for workers_stop
  std::mutex stopping;             // one workers_stop at a time; taken before the other
  // Guarded by mutex.
  Stream *first = nullptr, *last = nullptr;
  int alive = 0, sleeping = 0, spinning = 0;
  int in_user_code = 0;
  int resting = 0;   // those that others have replaced while they were in code of the program
  int recalled = 0;  // resting ones that have been called and are not counted there any more
  bool stop = false;
  Worker workers[kMaxWorkers];
  // Read without the mutex by spinning workers.
  std::atomic<int> length{0};
};

alignas(Crew) unsigned char g_memory[sizeof(Crew)];

Crew &crew() {
  static Crew *const once = new (g_memory) Crew();
  return *once;
}

std::atomic<bool> g_exiting{false};
thread_local Worker *t_worker = nullptr;

void *worker_main(void *argument);

int busy_limit() {
  static const int limit = [] {
    int cpus = usable_cpus();
    return cpus < 2 ? 2 : cpus > kMaxBusy ? kMaxBusy : cpus;
  }();
  return limit;
}

// With the mutex held: the workers that count against the limit.
int counted(const Crew &c) { return c.alive - c.in_user_code - c.resting; }

// With the mutex held. Signal handlers of the program never run on our threads.
bool start_one(Crew &c) {
  if (counted(c) >= busy_limit() || c.stop || g_exiting.load()) return false;
  if (c.resting > 0) {
    --c.resting;
    ++c.recalled;
    ++c.spinning;
    c.recall.notify_one();
    return true;
  }
  static const int registered = std::atexit([] { streams_at_exit(); });
  (void)registered;
  for (Worker &worker : c.workers) {
    if (worker.joinable) continue;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    worker = Worker();
    worker.alive = true;
    int code = pthread_create(&worker.thread, nullptr, worker_main, &worker);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (code != 0) {
      worker.alive = false;
      return false;  // a thread that synchronises will run the work
    }
    worker.joinable = true;
    ++c.alive;
    ++c.spinning;  // it looks for work before anything else
    return true;
  }
  return false;
}

// With the mutex held: makes sure that a worker looks at the list.
void call_one(Crew &c) {
  if (c.spinning > 0) return;
  if (c.sleeping > 0) {
    c.wake.notify_one();
    return;
  }
  start_one(c);
}

void *worker_main(void *argument) {
  Crew &c = crew();
  auto *self = static_cast<Worker *>(argument);
  t_worker = self;
  std::unique_lock lock(c.mutex);
  // Counted as spinning by the thread that started this one.
  for (;;) {
    if (c.first == nullptr && !c.stop) {
      lock.unlock();
      spin_until([&c] { return c.length.load(std::memory_order_relaxed) != 0; });
      lock.lock();
    }
    --c.spinning;
    while (c.first == nullptr && !c.stop) {
      ++c.sleeping;
      c.wake.wait(lock);
      --c.sleeping;
    }
    if (c.stop) break;
    Stream *stream = c.first;
    c.first = stream->ready_next;
    if (c.first == nullptr) c.last = nullptr;
    stream->ready_next = nullptr;
    stream->ready = false;
    c.length.store(c.length.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    if (c.first != nullptr) call_one(c);
    lock.unlock();
    worker_drain(stream);
    if (t_worker != self) return nullptr;  // the child of a fork in a callback: nothing to serve
    lock.lock();
    if (counted(c) > busy_limit() && !c.stop) {
      ++c.resting;
      c.recall.wait(lock, [&c] { return c.stop || c.recalled != 0; });
      if (c.recalled != 0) {
        --c.recalled;  // counted as spinning by the thread that recalled it
        continue;
      }
      --c.resting;
    }
    ++c.spinning;
  }
  self->alive = false;
  --c.alive;
  c.ended.notify_all();
  return nullptr;
}

}  // namespace

void ready_push(Stream *stream) noexcept {
  Crew &c = crew();
  std::lock_guard lock(c.mutex);
  if (stream->ready || g_exiting.load(std::memory_order_relaxed)) return;
  stream->ready = true;
  stream->ready_next = nullptr;
  if (c.last != nullptr) {
    c.last->ready_next = stream;
  } else {
    c.first = stream;
  }
  c.last = stream;
  c.length.store(c.length.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  call_one(c);
}

void ready_remove(Stream *stream) noexcept {
  Crew &c = crew();
  std::lock_guard lock(c.mutex);
  if (!stream->ready) return;
  Stream *before = nullptr;
  for (Stream *at = c.first; at != stream; at = at->ready_next) before = at;
  if (before != nullptr) {
    before->ready_next = stream->ready_next;
  } else {
    c.first = stream->ready_next;
  }
  if (c.last == stream) c.last = before;
  stream->ready_next = nullptr;
  stream->ready = false;
  c.length.store(c.length.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
}

bool is_worker() noexcept { return t_worker != nullptr; }
bool exiting() noexcept { return g_exiting.load(std::memory_order_relaxed); }

void worker_in_user_code(bool inside) noexcept {
  if (t_worker == nullptr) return;
  Crew &c = crew();
  std::lock_guard lock(c.mutex);
  if (!inside) {
    if (--t_worker->user_code == 0) --c.in_user_code;
    return;
  }
  if (t_worker->user_code++ != 0) return;
  ++c.in_user_code;
  c.ended.notify_all();
  if (c.first != nullptr) call_one(c);  // there is room for another one now
}

void workers_stop(bool at_exit) noexcept {
  if (t_worker != nullptr && !at_exit) return;
  if (at_exit) g_exiting.store(true);
  Crew &c = crew();
  std::lock_guard alone(c.stopping);
  std::unique_lock lock(c.mutex);
  c.stop = true;
  c.wake.notify_all();
  c.recall.notify_all();
  pthread_t over[kMaxWorkers];
  int count = 0;
  for (Worker &worker : c.workers) {
    if (!worker.joinable || &worker == t_worker) continue;
    c.ended.wait(lock, [&] { return !worker.alive || (at_exit && worker.user_code != 0); });
    if (worker.alive) continue;
    worker.joinable = false;
    over[count++] = worker.thread;
  }
  lock.unlock();
  for (int i = 0; i < count; ++i) pthread_join(over[i], nullptr);
  if (at_exit) return;
  lock.lock();
  c.stop = false;
  if (c.first != nullptr) call_one(c);  // work that came meanwhile
}

void workers_before_fork() noexcept { crew().mutex.lock(); }
void workers_after_fork_in_parent() noexcept { crew().mutex.unlock(); }
void workers_after_fork_in_child() noexcept {
  // The threads, and the waiters the condition variables count, exist in the parent only.
  Crew &c = crew();
  for (Stream *stream = c.first; stream != nullptr;) {
    Stream *next = stream->ready_next;
    stream->ready_next = nullptr;
    stream->ready = false;
    stream = next;
  }
  new (g_memory) Crew();
  t_worker = nullptr;
}

}  // namespace pyaclnn
