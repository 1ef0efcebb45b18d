// What a call costs by itself, and what the thread pool costs. A benchmark, not a test. LIB is a
// build's lib64:
//
//     c++ -std=c++20 -O2 -pthread -Iinclude -Inative -Itests tests/bench/calls.cpp -o calls
//         -L"$LIB" -Wl,-rpath,"$LIB" -lopapi -lnnopbase -lascendcl
//     ./calls [calls | pool | streams | idle]...
//
// Times are the best of several rounds; nothing else should run meanwhile.
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "attention_calls.hpp"
#include "pyaclnn/debug.h"
#include "support/pool.hpp"

namespace {

using calls::Call;
using calls::must;
using calls::Shape;
using Clock = std::chrono::steady_clock;

double nanoseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

// Nanoseconds of one call in the best of some rounds.
template <class Function>
double best(Function function, int rounds = 30, int calls = 2000) {
  double fastest = 1e18;
  for (int round = 0; round < rounds; ++round) {
    const auto start = Clock::now();
    for (int i = 0; i < calls; ++i) function();
    fastest = std::min(fastest, nanoseconds_since(start) / calls);
  }
  return fastest;
}

void line(const char *what, double ns) { std::printf("  %-58s %9.0f ns\n", what, ns); }

// ---- calls

// Phase 1 and the destruction of what it made, timed apart.
void first_phase_alone(Call &call, double *plan, double *destroy) {
  constexpr int kMany = 32;
  *plan = *destroy = 1e18;
  for (int round = 0; round < 2000; ++round) {
    aclOpExecutor *executors[kMany];
    uint64_t size = 0;
    auto start = Clock::now();
    for (auto &executor : executors) call.plan(&size, &executor);
    *plan = std::min(*plan, nanoseconds_since(start) / kMany);
    start = Clock::now();
    for (auto *executor : executors) must("destroy", aclDestroyAclOpExecutor(executor));
    *destroy = std::min(*destroy, nanoseconds_since(start) / kMany);
  }
}

void measure_calls() {
  aclrtStream stream = nullptr;
  must("aclrtCreateStream", aclrtCreateStream(&stream));
  for (int64_t keys : {1, 8, 16}) {
    Call call(Shape{1, 1, 1, keys, 16});
    std::printf("B1 1/1 S%ld D16 float16\n", static_cast<long>(keys));
    double plan = 0, destroy = 0;
    first_phase_alone(call, &plan, &destroy);
    line("phase 1", plan);
    line("destruction of an executor that never ran", destroy);
    for (const char *mode : {"blocking", "auto"}) {
      must("mode", pyaclnnSetStreamMode(mode));
      char what[80];
      std::snprintf(what, sizeof what, "both phases, %s", mode);
      line(what, best([&] { call.plan_and_run(stream); }));
      std::snprintf(what, sizeof what, "both phases and synchronise, %s", mode);
      line(what, best([&] {
             call.plan_and_run(stream);
             must("synchronise", aclrtSynchronizeStream(stream));
           }));
      std::snprintf(what, sizeof what, "both phases, tensors made and destroyed, %s", mode);
      line(what, best([&] {
             Call fresh(call);
             fresh.plan_and_run(stream);
           }));
      aclOpExecutor *executor = nullptr;
      uint64_t size = 0;
      call.plan(&size, &executor);
      must("repeatable", aclSetAclOpExecutorRepeatable(executor));
      std::snprintf(what, sizeof what, "phase 2 of a repeatable executor, %s", mode);
      line(what, best([&] { call.run(size, executor, stream); }));
      must("destroy", aclDestroyAclOpExecutor(executor));
    }
    must("mode", pyaclnnSetStreamMode("auto"));
    must("synchronise", aclrtSynchronizeStream(stream));
  }
  must("aclrtDestroyStream", aclrtDestroyStream(stream));
}

// ---- pool

void nothing(void *, int64_t) {}

void measure_pool() {
  std::printf("pool, %d threads\n", static_cast<int>(pyaclnnGetThreads()));
  line("fork and join, empty items, workers spin",
       best([] { pyaclnn::pool_run(pyaclnnGetThreads(), nothing, nullptr); }));
  // From the opening of a job to the first item of another thread.
  struct Arrival {
    std::thread::id caller = std::this_thread::get_id();
    Clock::time_point start;
    std::atomic<int64_t> ns{-1};
  };
  auto arrive = [](void *context, int64_t) {
    auto &arrival = *static_cast<Arrival *>(context);
    if (std::this_thread::get_id() != arrival.caller) {
      int64_t unset = -1;
      arrival.ns.compare_exchange_strong(unset,
                                         static_cast<int64_t>(nanoseconds_since(arrival.start)));
    } else {  // gives the other one time to come
      const auto until = arrival.start + std::chrono::microseconds(300);
      while (arrival.ns.load() < 0 && Clock::now() < until) {
      }
    }
  };
  for (int pause_us : {0, 20, 1000}) {
    std::vector<double> took;
    for (int round = 0; round < 300; ++round) {
      const auto until = Clock::now() + std::chrono::microseconds(pause_us);
      while (Clock::now() < until) {
      }
      Arrival arrival;
      arrival.start = Clock::now();
      pyaclnn::pool_run(2, arrive, &arrival);
      took.push_back(static_cast<double>(arrival.ns.load() < 0 ? 300000 : arrival.ns.load()));
    }
    std::sort(took.begin(), took.end());
    char what[80];
    std::snprintf(what, sizeof what, "first item of another thread after %d us of idleness",
                  pause_us);
    line(what, took[took.size() / 2]);
  }
}

// ---- several streams

// Calls per second of `threads` threads, each with a stream and a call of its own.
double throughput(const Shape &shape, int threads) {
  std::atomic<int> ready{0};
  std::atomic<bool> go{false}, stop{false};
  std::atomic<int64_t> total{0};
  std::vector<std::thread> crowd;
  for (int i = 0; i < threads; ++i) {
    crowd.emplace_back([&] {
      must("aclrtSetDevice", aclrtSetDevice(0));
      aclrtStream stream = nullptr;
      must("aclrtCreateStream", aclrtCreateStream(&stream));
      Call call(shape);
      call.plan_and_run(stream);
      must("synchronise", aclrtSynchronizeStream(stream));
      ready.fetch_add(1);
      while (!go.load()) std::this_thread::yield();
      int64_t count = 0;
      while (!stop.load(std::memory_order_relaxed)) {
        call.plan_and_run(stream);
        must("synchronise", aclrtSynchronizeStream(stream));
        ++count;
      }
      total.fetch_add(count);
      must("aclrtDestroyStream", aclrtDestroyStream(stream));
    });
  }
  while (ready.load() < threads) std::this_thread::yield();
  const auto start = Clock::now();
  go.store(true);
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  stop.store(true);
  const double seconds = nanoseconds_since(start) * 1e-9;
  for (auto &thread : crowd) thread.join();
  return static_cast<double>(total.load()) / seconds;
}

void measure_streams() {
  const Shape shapes[] = {
      {1, 1, 1, 16, 16}, {1, 8, 2, 512, 128}, {1, 32, 8, 4096, 128}, {8, 32, 8, 2048, 128}};
  for (const Shape &shape : shapes) {
    const double alone = throughput(shape, 1);
    std::printf("B%ld %ld/%ld S%ld D%ld: one stream %.0f calls/s", static_cast<long>(shape.batch),
                static_cast<long>(shape.heads), static_cast<long>(shape.kv_heads),
                static_cast<long>(shape.keys), static_cast<long>(shape.size), alone);
    for (int threads : {2, 4}) {
      std::printf(", %d streams %.0f %%", threads, 100 * throughput(shape, threads) / alone);
    }
    std::printf("\n");
  }
}

// ---- idleness

double cpu_ms() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  auto ms = [](const timeval &t) {
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) * 1e-3;
  };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

void measure_idleness() {
  aclrtStream streams[4];
  Call call(Shape{1, 32, 8, 4096, 128});
  for (auto &stream : streams) {
    must("aclrtCreateStream", aclrtCreateStream(&stream));
    call.plan_and_run(stream);
    must("synchronise", aclrtSynchronizeStream(stream));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const double before = cpu_ms();
  std::this_thread::sleep_for(std::chrono::seconds(10));
  std::printf("idle for 10 s with 4 streams and all threads started: %.3f ms of CPU\n",
              cpu_ms() - before);
  for (auto stream : streams) must("aclrtDestroyStream", aclrtDestroyStream(stream));
}

}  // namespace

int main(int count, char **names) {
  must("aclInit", aclInit(nullptr));
  must("aclrtSetDevice", aclrtSetDevice(0));
  auto wanted = [&](std::string_view name) {
    return count == 1 || std::find(names + 1, names + count, name) != names + count;
  };
  if (wanted("calls")) measure_calls();
  if (wanted("pool")) measure_pool();
  if (wanted("streams")) measure_streams();
  if (wanted("idle")) measure_idleness();
  must("aclFinalize", aclFinalize());
}
