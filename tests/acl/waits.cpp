// Waits that nobody could end: each is refused, dropped, or not begun. One fresh process per
// argument; an alarm ends what hangs.
#include <acl/acl.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "pyaclnn/debug.h"
#include "tap.hpp"
#include "work.hpp"

namespace {

using tap::equal;
using tap::ok;
using work::sleep_ms;
using work::submit;

constexpr unsigned kSeconds = 60;  // for a busy machine with sanitizers; a good run needs one

aclrtContext context = nullptr;

void start(const char *mode) {
  alarm(kSeconds);
  aclInit(nullptr);
  aclrtSetDevice(0);
  aclrtGetCurrentContext(&context);
  equal(pyaclnnSetStreamMode(mode), 0, mode);
}

aclrtStream stream() {
  aclrtStream s = nullptr;
  aclrtCreateStream(&s);
  return s;
}

aclrtEvent event() {
  aclrtEvent e = nullptr;
  aclrtCreateEvent(&e);
  return e;
}

bool told(const char *part) {
  const char *text = aclGetRecentErrMsg();
  return text != nullptr && std::strstr(text, part) != nullptr;
}

int recorded(aclrtEvent e) {
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  const int code = aclrtQueryEventStatus(e, &status);
  return code != 0 ? -1 : status == ACL_EVENT_RECORDED_STATUS_COMPLETE ? 1 : 0;
}

// A query becomes true some time later, with nobody synchronising.
template <class Ready>
bool becomes(Ready ready) {
  for (int i = 0; i < 10000; ++i) {
    if (ready()) return true;
    sleep_ms(1);
  }
  return false;
}

// Runs code of the program on a stream and waits for its end, whatever the stream does.
struct Call {
  std::function<void()> fn;
  std::atomic<bool> over{false};
};
void in_callback(aclrtStream s, std::function<void()> fn) {
  Call call{std::move(fn), {}};
  aclrtLaunchHostFunc(
      s,
      [](void *argument) {
        auto *its = static_cast<Call *>(argument);
        aclrtSetCurrentContext(context);
        its->fn();
        its->over.store(true);
      },
      &call);
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  ok(becomes([&] {
       aclrtStreamQuery(s, &status);  // lets it begin in lazy mode
       return call.over.load();
     }),
     "the callback comes to its end");
  equal(aclrtSynchronizeStream(s), 0, "and its stream too");
}

void queries() {
  for (const char *mode : {"auto", "async", "blocking", "lazy"}) {
    start(mode);
    aclrtStream a = stream(), b = stream(), c = stream();
    aclrtEvent first = event(), second = event(), third = event();
    int ran = 0;
    aclrtStreamWaitEvent(a, first);
    submit(a, [&] { ++ran; });
    aclrtRecordEvent(second, a);
    aclrtStreamWaitEvent(b, second);
    aclrtRecordEvent(third, b);
    equal(recorded(second), 0, "behind a wait without a record: not ready");
    equal(recorded(third), 0, "nor what waits for that");
    aclrtEventStatus status = ACL_EVENT_STATUS_COMPLETE;
    equal(aclrtQueryEvent(third, &status), 0, "the older query");
    equal(status, ACL_EVENT_STATUS_NOT_READY, "answers the same");
    equal(ran, 0, "nothing ran");
    aclrtRecordEvent(first, c);
    ok(becomes([&] { return recorded(third) == 1; }), "queries alone bring it to its end");
    equal(recorded(second), 1, "and what was before it");
    equal(ran, 1, "the work ran");
    // An event behind its own wait, and one behind a callback.
    aclrtEvent own = event();
    aclrtStreamWaitEvent(a, own);
    aclrtRecordEvent(own, a);
    equal(recorded(own), 0, "an event behind its own wait: not ready");
    equal(aclrtSynchronizeStreamWithTimeout(a, 20), 507046, "nor is its stream");
    equal(aclrtDestroyStreamForce(a), 0, "which can be destroyed");
    equal(recorded(own), 1, "and leaves nobody waiting");
    if (std::strcmp(mode, "blocking") != 0) {
      static std::atomic<bool> go;
      go.store(false);
      aclrtLaunchHostFunc(
          b,
          [](void *) {
            while (!go.load()) std::this_thread::yield();
          },
          nullptr);
      aclrtRecordEvent(third, b);
      equal(recorded(third), 0, "behind a callback that waits for its caller: not ready");
      go.store(true);
      ok(becomes([&] { return recorded(third) == 1; }), "then ready");
    }
    for (aclrtEvent e : {first, second, third, own}) aclrtDestroyEvent(e);
    for (aclrtStream s : {b, c}) aclrtDestroyStream(s);
    aclrtResetDevice(0);
    aclFinalize();
  }
}

void refused(int32_t code, const char *function) {
  equal(code, 107000, function);
  const char *text = aclGetRecentErrMsg();
  ok(text != nullptr && std::strstr(text, function) != nullptr &&
         std::strstr(text, "waits for the callback that makes this call") != nullptr,
     "its text", "is \"%s\"", text != nullptr ? text : "");
}

void own_stream() {
  for (const char *mode : {"auto", "async", "blocking", "lazy"}) {
    start(mode);
    aclrtStream a = stream(), b = stream();
    aclrtEvent e = event(), before = event();
    void *device = nullptr;
    char pageable[16] = {};
    aclrtMalloc(&device, sizeof pageable, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMemset(device, sizeof pageable, 7, sizeof pageable);
    aclrtRecordEvent(before, a);
    std::atomic<int> ran{0};
    in_callback(a, [&] {
      refused(aclrtSynchronizeStream(a), "aclrtSynchronizeStream");
      refused(aclrtSynchronizeStreamWithTimeout(a, -1), "aclrtSynchronizeStreamWithTimeout");
      refused(aclrtSynchronizeDevice(), "aclrtSynchronizeDevice");
      refused(aclrtSynchronizeDeviceWithTimeout(-1), "aclrtSynchronizeDeviceWithTimeout");
      refused(aclrtStreamAbort(a), "aclrtStreamAbort");
      refused(aclrtDestroyStream(a), "aclrtDestroyStream");
      refused(aclrtDestroyStreamForce(a), "aclrtDestroyStreamForce");
      refused(aclrtResetDevice(0), "aclrtResetDevice");
      refused(aclrtResetDeviceForce(0), "aclrtResetDeviceForce");
      refused(aclrtMemcpyAsync(pageable, sizeof pageable, device, sizeof pageable,
                               ACL_MEMCPY_DEVICE_TO_HOST, a),
              "aclrtMemcpyAsync");
      equal(submit(a, [&] { ran.fetch_add(1); }), 0, "work for the own stream is accepted");
      equal(aclrtRecordEvent(e, a), 0, "a record as well");
      refused(aclrtSynchronizeEvent(e), "aclrtSynchronizeEvent");
      refused(aclrtSynchronizeEventWithTimeout(e, -1), "aclrtSynchronizeEventWithTimeout");
      equal(aclrtSynchronizeEvent(before), 0, "an event before the callback is passed");
      aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
      equal(aclrtStreamQuery(a, &status), 0, "a query is always possible");
      equal(status, ACL_STREAM_STATUS_NOT_READY, "and says not ready");
      // Behind the own stream, by a detour.
      aclrtStreamWaitEvent(b, e);
      equal(submit(b, [&] { ran.fetch_add(1); }), 0, "so is work that waits for it elsewhere");
      equal(aclrtSynchronizeStream(nullptr), 0, "another stream can be synchronised");
    });
    equal(aclrtSynchronizeStream(b), 0, "the other stream passes as well");
    equal(ran.load(), 2, "what the callback submitted has run");
    equal(pageable[0], 0, "the refused copy did nothing");
    // One set of two is given back without any wait.
    aclrtSetDevice(0);
    in_callback(a, [&] { equal(aclrtResetDevice(0), 0, "a reset that is not the last"); });
    aclrtContext mine = nullptr;
    aclrtCreateContext(&mine, 0);
    context = mine;
    in_callback(nullptr, [&] { refused(aclrtDestroyContext(mine), "aclrtDestroyContext"); });
    equal(aclrtDestroyContext(mine), 0, "from outside it is destroyed");
    aclrtSetDevice(0);
    aclrtResetDevice(0);
    aclrtDestroyEvent(e);
    aclrtDestroyEvent(before);
    aclrtFree(device);
    equal(aclrtDestroyStream(a), 0, "as is the stream");
    aclrtDestroyStream(b);
    aclrtResetDevice(0);
    aclFinalize();
  }
}

// The same for a callback that the program's own thread runs.
void own_report() {
  start("auto");
  aclrtStream a = stream(), b = stream();
  const auto self = static_cast<uint64_t>(pthread_self());
  aclrtSubscribeReport(self, a);
  static aclrtStream its;
  static int calls;
  its = a;
  aclrtLaunchCallback(
      [](void *) {
        ++calls;
        refused(aclrtSynchronizeStream(its), "aclrtSynchronizeStream");
        refused(aclrtDestroyStream(its), "aclrtDestroyStream");
        refused(aclrtSynchronizeDevice(), "aclrtSynchronizeDevice");
      },
      nullptr, ACL_CALLBACK_BLOCK, a);
  equal(aclrtProcessReport(5000), 0, "a callback that its stream waits for");
  equal(aclrtSynchronizeStream(a), 0, "the stream goes on");
  aclrtLaunchCallback(
      [](void *) {
        ++calls;
        equal(aclrtSynchronizeStream(its), 0, "one that it does not wait for may synchronise it");
      },
      nullptr, ACL_CALLBACK_NO_BLOCK, a);
  equal(aclrtProcessReport(5000), 0, "a callback that does not block");
  equal(calls, 2, "both were called");
  aclrtUnSubscribeReport(self, a);
  equal(aclrtDestroyStream(a), 0, "destroy");
  aclrtDestroyStream(b);
}

// Callbacks that need each other, more than there are CPUs; plain work meanwhile; and again, when
// the threads they needed are there already.
void many_callbacks() {
  for (const char *mode : {"auto", "async"}) {
    start(mode);
    constexpr int kCount = 40;
    static std::atomic<int> met;
    static std::atomic<bool> go;
    std::vector<aclrtStream> streams(kCount);
    for (aclrtStream &s : streams) s = stream();
    aclrtStream plain = stream();
    for (int round = 0; round < 3; ++round) {
      met.store(0);
      go.store(false);
      for (aclrtStream s : streams) {
        aclrtLaunchHostFunc(
            s,
            [](void *) {
              met.fetch_add(1);
              while (!go.load()) sleep_ms(1);
            },
            nullptr);
      }
      ok(becomes([&] { return met.load() == kCount; }), "all callbacks are under way at once");
      std::atomic<int> ran{0};
      for (int i = 0; i < 10; ++i) submit(plain, [&] { ran.fetch_add(1); });
      aclrtEvent e = event();
      aclrtRecordEvent(e, plain);
      ok(becomes([&] { return recorded(e) == 1; }), "plain work goes on, and nobody helps");
      submit(plain, [&] { ran.fetch_add(1); });
      equal(aclrtSynchronizeStreamWithTimeout(plain, 10000), 0, "also with a limit");
      equal(ran.load(), 11, "all of it ran");
      aclrtDestroyEvent(e);
      go.store(true);
      equal(aclrtSynchronizeDevice(), 0, "the callbacks end");
      std::atomic<int> after{0};
      for (int i = 0; i < 200; ++i) {
        submit(streams[i % kCount], [&] { after.fetch_add(1); });
      }
      ok(becomes([&] { return after.load() == 200; }), "and the workers serve all streams again");
      equal(aclrtSynchronizeDevice(), 0, "synchronise");
    }
    for (aclrtStream s : streams) aclrtDestroyStream(s);
    aclrtDestroyStream(plain);
    aclrtResetDevice(0);
    equal(aclFinalize(), 0, "finalize ends them all");
  }
}

// Blocking mode: nobody waits for a record that only his own next call can make.
void blocking() {
  start("blocking");
  constexpr int kCount = 50;
  std::vector<aclrtStream> streams(kCount);
  std::vector<aclrtEvent> events(kCount + 1);
  for (aclrtStream &s : streams) s = stream();
  for (aclrtEvent &e : events) e = event();
  std::vector<int> seen;
  for (int i = 0; i < kCount; ++i) {
    aclrtStreamWaitEvent(streams[i], events[i]);
    submit(streams[i], [&seen, i] { seen.push_back(i); });
    aclrtRecordEvent(events[i + 1], streams[i]);
  }
  ok(seen.empty(), "a chain behind an event without a record waits");
  aclrtRecordEvent(events[0], nullptr);
  equal(aclrtSynchronizeStream(streams[kCount - 1]), 0, "until it is recorded");
  bool sorted = seen.size() == kCount;
  for (size_t i = 0; i < seen.size(); ++i) sorted = sorted && seen[i] == static_cast<int>(i);
  ok(sorted, "then runs in order");
  int value = 0;
  submit(streams[0], [&] {
    sleep_ms(5);
    value = 1;
  });
  aclrtRecordEvent(events[0], streams[0]);
  aclrtStreamWaitEvent(streams[1], events[0]);
  submit(streams[1], [&] { value *= 2; });
  equal(value, 2, "behind a recorded event a call still returns when its work is done");
  // A circle.
  aclrtEvent e = event(), f = event();
  aclrtStreamWaitEvent(streams[0], f);
  aclrtRecordEvent(e, streams[0]);
  aclrtStreamWaitEvent(streams[1], e);
  aclrtRecordEvent(f, streams[1]);
  ok(recorded(e) == 0 && recorded(f) == 0, "a circle blocks its streams, not their caller");
  equal(aclrtStreamAbort(streams[0]), 0, "abort one");
  equal(aclrtSynchronizeStream(streams[1]), 0, "the other goes on");
  for (aclrtStream s : streams) aclrtDestroyStream(s);
  for (aclrtEvent each : events) aclrtDestroyEvent(each);
  aclrtDestroyEvent(e);
  aclrtDestroyEvent(f);
  aclrtResetDevice(0);
  aclFinalize();
}

void force() {
  for (const char *mode : {"auto", "async", "blocking", "lazy"}) {
    start(mode);
    aclrtStream a = stream(), b = stream(), c = stream(), d = stream();
    aclrtEvent e = event(), f = event(), never = event(), late = event();
    std::atomic<int> ran{0}, dropped{0};
    work::released.store(0);
    aclrtStreamWaitEvent(a, f);
    aclrtRecordEvent(e, a);
    aclrtStreamWaitEvent(b, e);
    aclrtRecordEvent(f, b);
    aclrtStreamWaitEvent(c, never);
    submit(c, [&] { dropped.fetch_add(1); });
    // What can run still does, also behind an event.
    submit(d, [&] {
      sleep_ms(20);
      ran.fetch_add(1);
    });
    aclrtRecordEvent(late, d);
    aclrtStreamWaitEvent(nullptr, late);
    submit(nullptr, [&] { ran.fetch_add(1); });
    equal(aclrtResetDeviceForce(0), 0, "reset by force, with a circle and a wait without a record");
    equal(ran.load(), 2, "what could run has run");
    equal(dropped.load(), 0, "what could not was dropped");
    equal(work::released.load(), 3, "and released");
    for (aclrtStream s : {a, b, c, d}) equal(aclrtDestroyStream(s), 0, "its streams are at rest");
    for (aclrtEvent each : {e, f, never, late}) aclrtDestroyEvent(each);
    equal(aclrtSetDevice(0), 0, "the device can be set again");
    equal(submit(nullptr, [&] { ran.fetch_add(1); }), 0, "and used");
    equal(aclrtSynchronizeDevice(), 0, "synchronise");
    equal(ran.load(), 3, "ran");
    aclrtResetDevice(0);
    aclFinalize();
  }
}

// The exit code of a child that checks; it says on stderr what went wrong.
template <class Child>
int forked(Child child) {
  std::fflush(stdout);
  const pid_t id = fork();
  if (id == 0) {
    alarm(kSeconds);
    int failures = 0;
    child([&](bool good, const char *what) {
      if (good) return;
      ++failures;
      std::fprintf(stderr, "in the child: %s\n", what);
    });
    _exit(failures);
  }
  int status = -1;
  waitpid(id, &status, 0);
  return status;
}

// Events that the parent recorded behind work which the child does not have.
void forked_events() {
  start("auto");
  aclrtStream a = stream(), b = stream(), c = stream();
  aclrtEvent queued = event(), ahead = event(), open = event(), awaited = event();
  work::Gate gate;
  gate.close(a);
  ok(gate.wait_reached(), "a task runs while the process forks");
  aclrtRecordEvent(queued, a);
  aclrtStreamWaitEvent(c, open);
  aclrtRecordEvent(ahead, c);
  for (bool touch : {false, true}) {
    const int status = forked([&](auto check) {
      if (touch) check(aclrtSynchronizeStream(a) != 0, "the stream answers an error");
      check(recorded(queued) == 1 && recorded(ahead) == 1, "the records count as dropped");
      check(aclrtSynchronizeEvent(ahead) == 0, "nobody waits for one");
      check(aclrtStreamWaitEvent(b, queued) == 0, "a stream accepts the wait");
      check(aclrtSynchronizeStreamWithTimeout(b, 20000) == 0, "and passes it");
      float ms = 0;
      check(aclrtEventElapsedTime(&ms, queued, queued) == 107006 && told("dropped"),
            "there is no time of it");
      int ran = 0;
      check(aclrtStreamWaitEvent(b, open) == 0 && submit(b, [&] { ran = 1; }) == 0,
            "an event that was not recorded is as it was");
      check(recorded(open) == 0 && ran == 0, "it is waited for");
      aclrtSynchronizeStream(a);
      check(aclrtRecordEvent(open, a) == 0 && aclrtSynchronizeStream(b) == 0 && ran == 1,
            "until the child records it");
      check(aclrtRecordEvent(queued, b) == 0 && aclrtSynchronizeEvent(queued) == 0 &&
                recorded(queued) == 1,
            "the others can be recorded again");
      check(aclrtEventElapsedTime(&ms, queued, queued) == 0, "and have a time then");
    });
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 0,
       touch ? "the child, in the other order" : "the child", "status %d", status);
  }
  equal(recorded(queued), 0, "in the parent nothing has changed");
  gate.open.store(true);
  equal(aclrtSynchronizeEvent(queued), 0, "it is passed there");
  equal(aclrtRecordEvent(open, b), 0, "so is the other");
  equal(aclrtSynchronizeStream(c), 0, "after its record");
  for (aclrtEvent e : {queued, ahead, open, awaited}) aclrtDestroyEvent(e);
  for (aclrtStream s : {a, b, c}) aclrtDestroyStream(s);
}

// A callback forks; the child works, or comes back from the callback and ends with its thread.
void forked_in_callback() {
  for (bool nested : {false, true}) {
    start("async");
    static aclrtStream a, b;
    static int status;
    a = stream();
    b = stream();
    in_callback(a, [] {
      status = forked([](auto check) {
        check(aclrtSynchronizeStream(a) == 107023, "the own stream is one like others here");
        int ran = 0;
        check(submit(a, [&] { ran = 1; }) == 0 && aclrtSynchronizeDevice() == 0 && ran == 1,
              "and works");
      });
    });
    equal(status, 0, "a child inside a callback");
    static pid_t id;
    id = -1;
    auto leave = [](void *) {
      id = fork();
      if (id == 0) return;
      waitpid(id, &status, 0);
    };
    status = -1;
    if (nested) {
      // The callback that forks may run on the thread of another one that waits for it.
      static aclrtHostFunc its;
      its = leave;
      aclrtLaunchHostFunc(
          a,
          [](void *) {
            aclrtSetCurrentContext(context);
            aclrtLaunchHostFunc(b, its, nullptr);
            aclrtSynchronizeStream(b);
          },
          nullptr);
    } else {
      aclrtLaunchHostFunc(a, leave, nullptr);
    }
    equal(aclrtSynchronizeStream(a), 0, "the parent goes on");
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child that came back has ended",
       "status %d", status);
    aclrtDestroyStream(a);
    aclrtDestroyStream(b);
    aclrtResetDevice(0);
    aclFinalize();
  }
}

}  // namespace

int main(int, char **arguments) {
  const std::string which = arguments[1];
  if (which == "queries") queries();
  if (which == "own_stream") own_stream();
  if (which == "own_report") own_report();
  if (which == "many_callbacks") many_callbacks();
  if (which == "blocking") blocking();
  if (which == "force") force();
  if (which == "fork_events") forked_events();
  if (which == "fork_in_callback") forked_in_callback();
  return tap::done();
}
