// Fork, finalize and exit while work is under way; one fresh process per argument.
#include <acl/acl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "pyaclnn/debug.h"
#include "support/pool.hpp"
#include "tap.hpp"
#include "work.hpp"

namespace {

using tap::equal;
using tap::ok;
using work::Gate;
using work::submit;

aclrtStream stream() {
  aclrtStream s = nullptr;
  aclrtCreateStream(&s);
  return s;
}

void start() {
  aclInit(nullptr);
  aclrtSetDevice(0);
}

bool told(const char *part) {
  const char *text = aclGetRecentErrMsg();
  return text != nullptr && std::strstr(text, part) != nullptr;
}

int add(int items) {
  std::atomic<int> sum{0};
  pyaclnn::pool_run(
      items,
      [](void *context, int64_t item) {
        static_cast<std::atomic<int> *>(context)->fetch_add(static_cast<int>(item));
      },
      &sum);
  return sum.load();
}

void forked() {
  start();
  pyaclnnSetThreads(2);
  add(10);
  aclrtStream busy = stream(), idle = stream();
  static Gate gate;
  gate.close(busy);
  ok(gate.wait_reached(), "a task runs while the process forks");
  static int ran = 0;
  submit(busy, [] { ++ran; });
  void *p = nullptr;
  aclrtMalloc(&p, 100, ACL_MEM_MALLOC_HUGE_FIRST);
  submit(idle, [] {});
  equal(aclrtSynchronizeStream(idle), 0, "the other stream is idle");
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    int failures = 0;
    auto check = [&](bool good, const char *what) {
      if (good) return;
      ++failures;
      std::fprintf(stderr, "in the child: %s\n", what);
    };
    check(aclrtSynchronizeStream(idle) == 0, "the idle stream has no error");
    check(aclrtSynchronizeStream(busy) != 0, "the busy stream answers an error");
    check(told("submitted before fork"), "its text");
    check(aclrtSynchronizeStream(busy) == 0, "once");
    check(ran == 0, "the dropped work did not run");
    int again = 0;
    check(submit(busy, [&] { ++again; }) == 0, "the stream accepts work");
    check(aclrtSynchronizeStream(busy) == 0 && again == 1, "and runs it");
    check(add(100) == 4950, "the pool works");
    check(aclrtFree(p) == 0, "memory of the parent can be freed");
    aclrtStream fresh = stream();
    aclrtEvent e = nullptr;
    check(aclrtCreateEvent(&e) == 0 && aclrtRecordEvent(e, fresh) == 0 &&
              aclrtStreamWaitEvent(busy, e) == 0 && aclrtSynchronizeStream(busy) == 0,
          "new streams and events work");
    check(aclrtLaunchHostFunc(
              fresh, [](void *n) { ++*static_cast<int *>(n); }, &again) == 0 &&
              aclrtSynchronizeStream(fresh) == 0 && again == 2,
          "callbacks work: there are workers again");
    check(aclrtDestroyStream(fresh) == 0 && aclrtDestroyStream(busy) == 0,
          "streams can be destroyed");
    check(aclrtResetDevice(0) == 0 && aclFinalize() == 0, "the end");
    std::exit(failures);
  }
  int status = -1;
  waitpid(child, &status, 0);
  ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child", "status %d", status);
  gate.open.store(true);
  equal(aclrtSynchronizeStream(busy), 0, "the parent's work goes on");
  equal(ran, 1, "and was run");
  equal(aclrtFree(p), 0, "the parent's memory is its own");
}

// Forks in a storm: no child may hang on a lock that some thread held.
void fork_storm() {
  start();
  std::atomic<bool> stop{false};
  std::vector<std::thread> noise;
  for (int i = 0; i < 2; ++i) {
    noise.emplace_back([&] {
      aclrtSetDevice(0);
      aclrtStream s = stream();
      while (!stop.load()) {
        void *p = nullptr;
        aclrtMalloc(&p, 64, ACL_MEM_MALLOC_HUGE_FIRST);
        submit(s, [] {});
        aclrtMemsetAsync(p, 64, 0, 64, s);
        aclrtFree(p);
        aclrtFree(nullptr);
        add(3);
        aclDestroyDataBuffer(aclCreateDataBuffer(nullptr, 0));
      }
      aclrtDestroyStream(s);
    });
  }
  int good = 0;
  for (int i = 0; i < 40; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      int ran = 0;
      aclrtStream s = stream();
      submit(s, [&] { ++ran; });
      bool fine = aclrtSynchronizeStream(s) == 0 && ran == 1 && add(5) == 10;
      void *p = nullptr;
      fine = fine && aclrtMalloc(&p, 64, ACL_MEM_MALLOC_HUGE_FIRST) == 0 && aclrtFree(p) == 0;
      aclrtSynchronizeDevice();  // reports what was lost
      fine = fine && aclrtSynchronizeDevice() == 0;
      _exit(fine ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) ++good;
  }
  stop.store(true);
  for (auto &thread : noise) thread.join();
  equal(good, 40, "every child of a busy process works");
}

void finalize() {
  start();
  aclrtStream a = stream(), b = stream(), c = stream();
  static std::atomic<int> ran{0};
  for (int i = 0; i < 20; ++i) {
    submit(i % 2 == 0 ? a : b, [] {
      work::sleep_ms(1);
      ran.fetch_add(1);
    });
  }
  aclrtEvent never = nullptr;
  aclrtCreateEvent(&never);
  aclrtStreamWaitEvent(c, never);
  work::released.store(0);
  submit(c, [] { ran.fetch_add(1000); });
  equal(aclFinalize(), 0, "finalize with work in flight");
  equal(ran.load(), 20, "all work that could run has run");
  ok(work::released.load() >= 1, "what waited for nothing was dropped");
  equal(aclInit(nullptr), 0, "init again");
  submit(a, [] { ran.fetch_add(1); });
  equal(aclrtSynchronizeStream(a), 0, "streams still work");
  equal(ran.load(), 21, "ran");
  pyaclnnSetStreamMode("lazy");
  submit(b, [] { ran.fetch_add(1); });
  equal(aclFinalize(), 0, "finalize in lazy mode");
  equal(ran.load(), 22, "ran");
}

std::atomic<int> finished{0};

// Prints its last line when everything else is over.
struct Last {
  ~Last() {
    if (!armed) return;
    const bool good = finished.load() == 1;
    aclrtSynchronizeStream(nullptr);  // late calls answer something, and return
    aclrtFree(nullptr);
    aclGetRecentErrMsg();
    std::printf("%s 1 - the running task ended, queued ones were discarded\n1..1\n",
                good ? "ok" : "not ok");
    std::fflush(stdout);
    if (!good) _exit(1);
  }
  bool armed = false;
} last;

void exit_with_work() {
  start();
  last.armed = true;
  aclrtStream s = stream();
  static std::atomic<bool> started{false};
  submit(s, [] {
    started.store(true);
    work::sleep_ms(50);
    finished.fetch_add(1);
  });
  for (int i = 0; i < 100; ++i) {
    submit(s, [] {
      work::sleep_ms(500);
      finished.fetch_add(1);
    });
  }
  while (!started.load()) work::sleep_ms(1);
  std::exit(0);
}

// A callback that never comes back does not keep the process.
void exit_in_callback() {
  start();
  aclrtStream s = stream();
  static std::atomic<bool> inside{false};
  aclrtLaunchHostFunc(
      s,
      [](void *) {
        inside.store(true);
        for (;;) work::sleep_ms(1000);
      },
      nullptr);
  while (!inside.load()) work::sleep_ms(1);
  ok(true, "a callback hangs and the process ends");
  tap::done();
  std::exit(0);
}

void exit_from_callback() {
  start();
  aclrtStream s = stream();
  ok(true, "a callback ends the process");
  tap::done();
  aclrtLaunchHostFunc(
      s, [](void *) { std::exit(0); }, nullptr);
  for (;;) work::sleep_ms(1000);
}

}  // namespace

int main(int, char **arguments) {
  const std::string which = arguments[1];
  if (which == "fork") forked();
  if (which == "fork_storm") fork_storm();
  if (which == "finalize") finalize();
  if (which == "exit") exit_with_work();
  if (which == "exit_in_callback") exit_in_callback();
  if (which == "exit_from_callback") exit_from_callback();
  return tap::done();
}
