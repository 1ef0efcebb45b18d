// What a program may rely on once it is warm: no call asks the system for memory, idle threads cost
// no CPU, and streams, threads and the pool never show in the bytes.
#include <acl/acl.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "attention_calls.hpp"
#include "pyaclnn/debug.h"
#include "tap.hpp"
#include "acl/work.hpp"

namespace {

std::atomic<int64_t> allocations{0};

}  // namespace

// The program's own definitions come before the C library's, for all libraries of the process. Not
// beside a sanitizer's.
#ifdef COUNT_ALLOCATIONS
extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void *malloc(size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_calloc(count, size);
}
void *realloc(void *old, size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_realloc(old, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_memalign(alignment, size);
}
int posix_memalign(void **memory, size_t alignment, size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}
}
#endif

namespace {

using calls::Call;
using calls::must;
using calls::Shape;
using tap::equal;
using tap::ok;

const Shape kTiny{1, 2, 1, 16, 16};
const Shape kLarge{2, 8, 2, 1500, 64};  // split over the pool

aclrtStream new_stream() {
  aclrtStream stream = nullptr;
  must("aclrtCreateStream", aclrtCreateStream(&stream));
  return stream;
}

// Allocations of `count` rounds, after as many to warm up.
template <class Round>
int64_t allocations_of(int count, Round round) {
  for (int i = 0; i < count; ++i) round();
  const int64_t before = allocations.load();
  for (int i = 0; i < count; ++i) round();
  return allocations.load() - before;
}

// Starts every thread that runs streams, lets each finish calls, and leaves more free tasks behind
// than threads keep for themselves.
void warm_up() {
  must("mode", pyaclnnSetStreamMode("async"));
  constexpr int32_t kMost = 16;  // threads that run streams
  const int32_t workers = std::clamp(pyaclnnGetThreads(), 2, kMost);
  std::array<work::Gate, kMost> gates;
  std::vector<aclrtStream> streams;
  Call call(kTiny);
  for (int32_t i = 0; i < workers; ++i) {
    streams.push_back(new_stream());
    gates[static_cast<size_t>(i)].close(streams.back());
    for (int k = 0; k < 40; ++k) call.plan_and_run(streams.back());
  }
  bool all = true;
  for (int32_t i = 0; i < workers; ++i) all &= gates[static_cast<size_t>(i)].wait_reached();
  ok(all, "every worker runs a stream");
  for (work::Gate &gate : gates) gate.open.store(true);
  for (aclrtStream stream : streams) {
    must("synchronise", aclrtSynchronizeStream(stream));
    must("aclrtDestroyStream", aclrtDestroyStream(stream));
  }
}

void memory(int count) {
  warm_up();
  const int64_t before = allocations.load();
  std::free(std::malloc(1));
  ok(allocations.load() > before, "allocations are counted");
  for (const char *mode : {"auto", "async", "blocking", "lazy"}) {
    must("mode", pyaclnnSetStreamMode(mode));
    for (const Shape &shape : {kTiny, kLarge}) {
      const int rounds = shape.keys == kTiny.keys ? count : count / 100;
      aclrtStream stream = new_stream();
      Call call(shape);
      std::string of = std::string(shape.keys == kTiny.keys ? "tiny, " : "large, ") + mode;
      equal(allocations_of(rounds,
                           [&] {
                             call.plan_and_run(stream);
                             must("synchronise", aclrtSynchronizeStream(stream));
                           }),
            0, (of + ": both phases").c_str());
      equal(allocations_of(rounds,
                           [&] {
                             Call fresh(call);
                             fresh.plan_and_run(stream);
                             must("synchronise", aclrtSynchronizeStream(stream));
                           }),
            0, (of + ": with tensors and lists made and destroyed").c_str());
      uint64_t size = 0;
      aclOpExecutor *executor = nullptr;
      call.plan(&size, &executor);
      must("repeatable", aclSetAclOpExecutorRepeatable(executor));
      equal(allocations_of(rounds,
                           [&] {
                             call.run(size, executor, stream);
                             call.run(size, executor, stream);
                             must("synchronise", aclrtSynchronizeStream(stream));
                           }),
            0, (of + ": a repeatable executor").c_str());
      must("destroy", aclDestroyAclOpExecutor(executor));
      must("aclrtDestroyStream", aclrtDestroyStream(stream));
    }
  }
  must("mode", pyaclnnSetStreamMode("auto"));
}

double cpu_ms() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  auto ms = [](const timeval &t) {
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) * 1e-3;
  };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

// A thread that polled, even once a millisecond, would take far more than a hundredth of the time.
void idleness() {
  must("threads", pyaclnnSetThreads(4));
  std::vector<aclrtStream> streams;
  Call call(kLarge);
  for (const char *mode : {"auto", "async"}) {
    must("mode", pyaclnnSetStreamMode(mode));
    streams.push_back(new_stream());
    for (int i = 0; i < 20; ++i) call.plan_and_run(streams.back());
    must("synchronise", aclrtSynchronizeStream(streams.back()));
  }
  work::sleep_ms(200);
  const double before = cpu_ms();
  work::sleep_ms(2000);
  const double used = cpu_ms() - before;
  ok(used < 20, "idle streams and threads take no CPU", "%.3f ms in 2 s", used);
  for (aclrtStream stream : streams) must("aclrtDestroyStream", aclrtDestroyStream(stream));
}

// Threads with streams of their own, tiny and large calls in turn, beside each other and the pool.
void crowd(int rounds) {
  must("threads", pyaclnnSetThreads(3));
  std::vector<std::vector<uint16_t>> wanted;
  for (const Shape &shape : {kTiny, kLarge}) {
    Call call(shape);
    aclrtStream stream = new_stream();
    call.plan_and_run(stream);
    must("synchronise", aclrtSynchronizeStream(stream));
    must("aclrtDestroyStream", aclrtDestroyStream(stream));
    wanted.push_back(call.out());
  }
  for (const char *mode : {"auto", "async", "blocking", "lazy"}) {
    must("mode", pyaclnnSetStreamMode(mode));
    std::atomic<int> different{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        must("aclrtSetDevice", aclrtSetDevice(0));
        aclrtStream streams[] = {new_stream(), new_stream()};
        Call tiny(kTiny), large(kLarge);
        for (int round = 0; round < rounds; ++round) {
          const bool turned = ((round + i) & 1) != 0;
          tiny.clear();
          large.clear();
          tiny.plan_and_run(streams[turned ? 1 : 0]);
          large.plan_and_run(streams[turned ? 0 : 1]);
          for (aclrtStream stream : streams) must("synchronise", aclrtSynchronizeStream(stream));
          if (tiny.out() != wanted[0] || large.out() != wanted[1]) different.fetch_add(1);
        }
        for (aclrtStream stream : streams) {
          must("aclrtDestroyStream", aclrtDestroyStream(stream));
        }
      });
    }
    for (std::thread &thread : threads) thread.join();
    equal(different.load(), 0, (std::string(mode) + ": the same bytes as alone").c_str());
  }
}

}  // namespace

int main(int count, char **arguments) {
  must("aclInit", aclInit(nullptr));
  must("aclrtSetDevice", aclrtSetDevice(0));
  const int rounds = count > 2 ? std::atoi(arguments[2]) : 0;
  if (std::strcmp(arguments[1], "memory") == 0) memory(rounds);
  if (std::strcmp(arguments[1], "idle") == 0) idleness();
  if (std::strcmp(arguments[1], "crowd") == 0) crowd(rounds);
  must("aclrtResetDevice", aclrtResetDevice(0));
  must("aclFinalize", aclFinalize());
  return tap::done();
}
