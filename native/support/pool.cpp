#include "support/pool.hpp"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <new>

#include "support/clock.hpp"
#include "support/env.hpp"
#include "support/futex.hpp"
#include "support/pool_state.hpp"

namespace pyaclnn {
namespace {

constexpr int32_t kMaxThreads = 256;

// The number a quota file of cgroup v2 ("200000 100000") or v1 (two files) allows; 0: no limit.
int32_t quota_cpus() {
  char line[64];
  long long quota = 0, period = 0;
  auto first_line = [&line](const char *path) {
    std::FILE *file = std::fopen(path, "re");
    if (file == nullptr) return false;
    bool got = std::fgets(line, sizeof line, file) != nullptr;
    std::fclose(file);
    return got;
  };
  if (first_line("/sys/fs/cgroup/cpu.max")) {
    if (std::sscanf(line, "%lld %lld", &quota, &period) != 2) return 0;
  } else if (first_line("/sys/fs/cgroup/cpu/cpu.cfs_quota_us")) {
    if (std::sscanf(line, "%lld", &quota) != 1) return 0;
    if (!first_line("/sys/fs/cgroup/cpu/cpu.cfs_period_us")) return 0;
    if (std::sscanf(line, "%lld", &period) != 1) return 0;
  }
  if (quota <= 0 || period <= 0) return 0;
  long long cpus = (quota + period - 1) / period;
  return cpus > kMaxThreads ? kMaxThreads : static_cast<int32_t>(cpus);
}

// Items are claimed one by one, so a late or preempted worker delays no other; which thread runs an
// item never shows in the results.
struct Pool {
  std::mutex use;       // held by the one pool_run that has the workers, and while the size changes
  int32_t threads = 0;  // guarded by use when written; 0: not decided yet
  int32_t started = 0;  // workers that exist, guarded by use
  std::atomic<int32_t> configured{0};
  std::atomic<int32_t> epoch{0};  // a new job was opened; workers sleep on it
  std::atomic<int32_t> sleeping{0};

  // Low bit: the job is open. Above: twice the number of workers inside. The fields of the job are
  // written only while this is 0.
  std::atomic<int32_t> gate{0};
  PoolFunction fn = nullptr;
  void *context = nullptr;
  int64_t items = 0;
  int32_t lanes = 0;
  std::atomic<int64_t> next{0};
  std::atomic<int32_t> took{0};  // threads that ran an item of the job
};

Pool &pool() {
  alignas(Pool) static unsigned char memory[sizeof(Pool)];
  static Pool *const once = new (memory) Pool();
  return *once;
}

thread_local bool t_inside = false;

void work(Pool &p) {
  int64_t item = p.next.fetch_add(1, std::memory_order_relaxed);
  if (item >= p.items) return;
  p.took.fetch_add(1, std::memory_order_relaxed);
  do {
    p.fn(p.context, item);
    item = p.next.fetch_add(1, std::memory_order_relaxed);
  } while (item < p.items);
}

void join_job(Pool &p, int32_t lane) {
  int32_t gate = p.gate.load(std::memory_order_relaxed);
  do {
    if ((gate & 1) == 0) return;
  } while (!p.gate.compare_exchange_weak(gate, gate + 2, std::memory_order_acquire,
                                         std::memory_order_relaxed));
  if (lane < p.lanes) work(p);
  if (p.gate.fetch_sub(2, std::memory_order_release) == 2) futex_wake_all(p.gate);
}

void *worker_main(void *argument) {
  Pool &p = pool();
  auto lane = static_cast<int32_t>(reinterpret_cast<intptr_t>(argument));
  t_inside = true;  // nested use is serial
  int32_t seen = 0;
  for (;;) {
    auto changed = [&] { return p.epoch.load(std::memory_order_acquire) != seen; };
    if (!spin_until(changed)) {
      p.sleeping.fetch_add(1);
      while (!changed()) futex_wait(p.epoch, seen);
      p.sleeping.fetch_sub(1);
    }
    seen = p.epoch.load(std::memory_order_acquire);
    join_job(p, lane);
  }
  return nullptr;
}

// Workers never run the program's signal handlers, and are not waited for at exit: they only ever
// touch memory of a pool_run that is still waiting for them.
bool start_worker(int32_t lane) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  int code = pthread_create(&thread, &attributes, worker_main,
                            reinterpret_cast<void *>(static_cast<intptr_t>(lane)));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return code == 0;
}

void decide_size(Pool &p) {
  if (p.threads != 0) return;
  p.threads = env().threads != 0 ? env().threads : usable_cpus();
  p.configured.store(p.threads, std::memory_order_relaxed);
}

// Marks this thread as running items, so that a nested call stays on it.
struct Inside {
  bool before = t_inside;
  Inside() { t_inside = true; }
  ~Inside() { t_inside = before; }
};

int32_t run_alone(int64_t items, PoolFunction fn, void *context) {
  Inside inside;
  for (int64_t item = 0; item < items; ++item) fn(context, item);
  return 1;
}

}  // namespace

int32_t usable_cpus() noexcept {
  int32_t cpus = 1;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) cpus = CPU_COUNT(&set);
  int32_t quota = quota_cpus();
  if (quota != 0 && quota < cpus) cpus = quota;
  return cpus < 1 ? 1 : cpus > kMaxThreads ? kMaxThreads : cpus;
}

int32_t pool_run(int64_t items, PoolFunction fn, void *context) noexcept {
  if (items <= 0) return 0;
  Pool &p = pool();
  if (items == 1 || t_inside || !p.use.try_lock()) {
    return run_alone(items, fn, context);
  }
  std::lock_guard held(p.use, std::adopt_lock);
  decide_size(p);
  while (p.started < p.threads - 1 && start_worker(p.started + 1)) ++p.started;
  if (p.threads == 1 || p.started == 0) {
    return run_alone(items, fn, context);
  }
  p.fn = fn;
  p.context = context;
  p.items = items;
  p.lanes = p.threads;
  p.next.store(0, std::memory_order_relaxed);
  p.took.store(0, std::memory_order_relaxed);
  p.gate.store(1, std::memory_order_release);
  p.epoch.fetch_add(1);
  if (p.sleeping.load() != 0) futex_wake_all(p.epoch);

  {
    Inside inside;
    work(p);
  }

  int32_t gate =
      p.gate.fetch_sub(1, std::memory_order_acquire) - 1;  // close: nobody joins any more
  if (gate != 0 && !spin_until([&p] { return p.gate.load(std::memory_order_acquire) == 0; })) {
    while ((gate = p.gate.load(std::memory_order_acquire)) != 0) futex_wait(p.gate, gate);
  }
  return p.took.load(std::memory_order_relaxed);
}

int32_t pool_threads() noexcept {
  Pool &p = pool();
  int32_t threads = p.configured.load(std::memory_order_relaxed);
  if (threads != 0) return threads;
  if (t_inside) return 1;
  std::lock_guard held(p.use);
  decide_size(p);
  return p.threads;
}

bool pool_set_threads(int32_t threads) noexcept {
  if (threads < 1 || threads > kMaxThreads) return false;
  Pool &p = pool();
  std::lock_guard held(p.use);
  p.threads = threads;
  p.configured.store(threads, std::memory_order_relaxed);
  return true;
}

void pool_after_fork_in_child() noexcept {
  Pool &p = pool();
  int32_t threads = p.configured.load(std::memory_order_relaxed);
  new (&p) Pool();  // the mutex may have been held by a thread that does not exist here
  p.threads = threads;
  p.configured.store(threads, std::memory_order_relaxed);
  t_inside = false;
}

}  // namespace pyaclnn
