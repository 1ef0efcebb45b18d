// Phase 2 on two threads and the destruction of the executor on a third: exactly one succeeds.
#include <acl/acl.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "aclnn/acl_meta.h"
#include "nnopbase/executor.hpp"
#include "pyaclnn/debug.h"
#include "tap.hpp"

namespace {

using tap::equal;
using tap::ok;

std::atomic<int> runs{0};

int32_t run(const void *, std::byte *const *, std::byte *, pyaclnn::Text &) {
  runs.fetch_add(1);
  return 0;
}
pyaclnn::Operator counting{"testCounting", run, nullptr, nullptr};

// Runs inside phase 2, where it tries to destroy its own executor.
aclOpExecutor *running = nullptr;
int32_t destroyed = -1;
int32_t run_and_destroy(const void *, std::byte *const *, std::byte *, pyaclnn::Text &) {
  destroyed = aclDestroyAclOpExecutor(running);
  return 0;
}
pyaclnn::Operator destroying{"testDestroying", run_and_destroy, [](const void *) { return true; },
                             nullptr};

aclOpExecutor *phase_one(const pyaclnn::Operator &op = counting) {
  pyaclnn::ExecutorBuilder builder(op);
  void *plan = builder.allocate(8);
  uint64_t size = 0;
  aclOpExecutor *executor = nullptr;
  if (plan != nullptr) builder.commit(plan, 0, &size, &executor);
  return executor;
}

int32_t phase_two(aclOpExecutor *executor, aclrtStream stream) {
  return pyaclnn::second_phase(counting, "testCounting", nullptr, 0, executor, stream);
}

}  // namespace

int main(int, char **arguments) {
  const int rounds = std::atoi(arguments[1]);
  aclInit(nullptr);
  aclrtSetDevice(0);
  pyaclnnSetStreamMode("async");
  aclrtContext context = nullptr;
  aclrtGetCurrentContext(&context);
  aclrtStream streams[2] = {};
  for (aclrtStream &s : streams) aclrtCreateStream(&s);

  // Three threads that meet before every round.
  std::atomic<int> round{0}, done{0};
  aclOpExecutor *executor = nullptr;
  int32_t codes[3] = {};
  bool texts[3] = {};
  std::thread threads[3];
  for (int who = 0; who < 3; ++who) {
    threads[who] = std::thread([&, who] {
      aclrtSetCurrentContext(context);
      for (int i = 1; i <= rounds; ++i) {
        while (round.load() < i) std::this_thread::yield();
        codes[who] =
            who == 2 ? aclDestroyAclOpExecutor(executor) : phase_two(executor, streams[who]);
        texts[who] = (aclGetRecentErrMsg() != nullptr) == (codes[who] != 0);
        done.fetch_add(1);
      }
    });
  }
  int one = 0, right = 0, told = 0, ran = 0;
  for (int i = 1; i <= rounds; ++i) {
    executor = phase_one();
    runs.store(0);
    done.store(0);
    round.store(i);
    while (done.load() < 3) std::this_thread::yield();
    for (aclrtStream s : streams) aclrtSynchronizeStream(s);
    int winners = 0;
    bool codes_right = true;
    for (int who = 0; who < 3; ++who) {
      if (codes[who] == 0) ++winners;
      codes_right = codes_right && (codes[who] == 0 || codes[who] == (who == 2 ? 561000 : 161002));
    }
    one += winners == 1 ? 1 : 0;
    right += codes_right ? 1 : 0;
    told += texts[0] && texts[1] && texts[2] ? 1 : 0;
    ran += runs.load() == (codes[2] == 0 ? 0 : 1) ? 1 : 0;
  }
  for (std::thread &thread : threads) thread.join();
  equal(one, rounds, "one winner in every round");
  equal(right, rounds, "the losers get their code");
  equal(told, rounds, "and a text");
  equal(ran, rounds, "it runs once, or not at all when it was destroyed");
  equal(pyaclnnLiveCount("executor"), 0, "none is left");

  pyaclnnSetStreamMode("auto");
  running = phase_one(destroying);
  equal(pyaclnn::second_phase(destroying, "testDestroying", nullptr, 0, running, streams[0]), 0,
        "a run that has begun is the winner");
  equal(destroyed, 561000, "not the destruction that comes after it");
  equal(pyaclnnLiveCount("executor"), 0, "the run ends the executor");
  executor = phase_one();
  std::thread([&] { equal(phase_two(executor, streams[0]), 361001, "a refused run"); }).join();
  equal(aclDestroyAclOpExecutor(executor), 0, "leaves the executor to be destroyed");
  executor = phase_one();
  equal(aclSetAclOpExecutorRepeatable(executor), 0, "a repeatable one");
  runs.store(0);
  equal(phase_two(executor, streams[0]), 0, "runs");
  equal(phase_two(executor, streams[1]), 0, "again");
  equal(aclDestroyAclOpExecutor(executor), 0, "and is destroyed by the program only");
  equal(aclDestroyAclOpExecutor(executor), 561000, "once");
  for (aclrtStream s : streams) equal(aclrtDestroyStream(s), 0, "its queued runs pass");
  equal(runs.load(), 2, "both");
  aclrtResetDevice(0);
  aclFinalize();
  return tap::done();
}
