// Streams at work: order, modes, events across streams, sticky errors, memory in stream order.
#include <acl/acl.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "pyaclnn/debug.h"
#include "tap.hpp"
#include "work.hpp"

namespace {

using tap::equal;
using tap::ok;
using work::Gate;
using work::sleep_ms;
using work::submit;

std::string last_text() {
  const char *text = aclGetRecentErrMsg();
  return text != nullptr ? text : "";
}
bool told(const char *part) { return last_text().find(part) != std::string::npos; }

aclrtStream stream() {
  aclrtStream s = nullptr;
  aclrtCreateStream(&s);
  return s;
}

bool complete(aclrtStream s) {
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  aclrtStreamQuery(s, &status);
  return status == ACL_STREAM_STATUS_COMPLETE;
}

int32_t failing(pyaclnn::Text &why, int number) {
  why << "block index " << number << " out of range";
  return 507015;
}

void order(const char *mode) {
  equal(pyaclnnSetStreamMode(mode), 0, mode);
  aclrtStream s = stream();
  std::vector<int> seen;
  for (int i = 0; i < 300; ++i) {
    submit(
        s, [&seen, i] { seen.push_back(i); }, i % 3 == 0);
  }
  equal(aclrtSynchronizeStream(s), 0, "order: synchronise");
  bool sorted = seen.size() == 300;
  for (size_t i = 0; i < seen.size(); ++i) sorted = sorted && seen[i] == static_cast<int>(i);
  ok(sorted, "order: tasks ran once and in order");
  ok(pyaclnnStreamSubmitted(s) == 300 && pyaclnnStreamPassed(s) == 300, "order: counters");
  equal(pyaclnnStreamIdle(s), 1, "order: idle");
  equal(aclrtDestroyStream(s), 0, "order: destroy");
  equal(pyaclnnStreamPassed(s), 0u, "order: counter of a dead stream");
  equal(pyaclnnStreamIdle(s), 1, "order: a dead stream has passed everything");
}

// E6: a adds 1, records; b waits, multiplies. In every mode.
void two_streams(const char *mode) {
  equal(pyaclnnSetStreamMode(mode), 0, mode);
  aclrtStream a = stream(), b = stream();
  aclrtEvent e = nullptr;
  aclrtCreateEvent(&e);
  bool right = true;
  for (int i = 0; i < 200; ++i) {
    int value = 1;
    submit(a, [&] { value += 2; });
    aclrtRecordEvent(e, a);
    aclrtStreamWaitEvent(b, e);
    submit(b, [&] { value *= 10; });
    right = right && aclrtSynchronizeStream(b) == 0 && value == 30;
  }
  ok(right, "E6 order between two streams");
  // The event alone brings the work before it.
  int value = 0;
  submit(a, [&] { value = 5; });
  aclrtRecordEvent(e, a);
  equal(aclrtSynchronizeEvent(e), 0, "synchronise an event");
  equal(value, 5, "the work before the record is done");
  aclrtDestroyEvent(e);
  aclrtDestroyStream(a);
  aclrtDestroyStream(b);
}

void does_not_block() {
  pyaclnnSetStreamMode("auto");
  aclrtStream s = stream();
  Gate gate;
  equal(gate.close(s), 0, "a long task is submitted");
  ok(gate.wait_reached(), "a worker runs it");
  int done = 0;
  equal(submit(
            s, [&] { done = 1; }, true),
        0, "a small one behind it");
  ok(done == 0 && !complete(s), "is not ready");
  equal(aclrtSynchronizeStreamWithTimeout(s, 20), 507046, "limit of the synchronise");
  equal(aclrtSynchronizeStreamWithTimeout(s, 0), 507046, "one look");
  equal(aclrtSynchronizeDeviceWithTimeout(20), 507046, "limit of the device");
  aclrtEvent e = nullptr;
  aclrtCreateEvent(&e);
  aclrtRecordEvent(e, s);
  equal(aclrtSynchronizeEventWithTimeout(e, 20), 507047, "limit of the event");
  float ms = 0;
  equal(aclrtEventElapsedTime(&ms, e, e), 107006, "time of an event that is not complete");
  equal(aclrtDestroyEvent(e), 0, "destroyed before it is passed");
  gate.open.store(true);
  equal(aclrtSynchronizeDevice(), 0, "the device comes to rest");
  ok(done == 1 && complete(s), "and all is done");
  aclrtDestroyStream(s);
}

void wait_before_record() {
  for (const char *mode : {"auto", "async", "lazy"}) {
    pyaclnnSetStreamMode(mode);
    aclrtStream a = stream(), b = stream();
    aclrtEvent e = nullptr;
    aclrtCreateEvent(&e);
    int value = 0;
    equal(aclrtStreamWaitEvent(b, e), 0, "wait before record");
    submit(b, [&] { value *= 2; });
    sleep_ms(5);
    ok(!complete(b), "the stream waits");
    aclrtEventWaitStatus status = ACL_EVENT_WAIT_STATUS_COMPLETE;
    equal(aclrtQueryEventWaitStatus(e, &status), 0, "wait status");
    equal(status, ACL_EVENT_WAIT_STATUS_NOT_READY, "a wait is open");
    submit(a, [&] { value = 21; });
    equal(aclrtRecordEvent(e, a), 0, "record");
    equal(aclrtSynchronizeStream(b), 0, "passes");
    equal(value, 42, "in order");
    // A later record does not reach back.
    equal(aclrtStreamWaitEvent(b, e), 0, "wait for a passed record");
    equal(aclrtSynchronizeStream(b), 0, "passes at once");
    aclrtDestroyStream(a);
    aclrtDestroyStream(b);
    aclrtDestroyEvent(e);
  }
  pyaclnnSetStreamMode("auto");
  aclrtStream b = stream();
  aclrtEvent e = nullptr;
  aclrtCreateEvent(&e);
  aclrtStreamWaitEvent(b, e);
  equal(aclrtDestroyEvent(e), 0, "an event dies before its record");
  equal(aclrtSynchronizeStreamWithTimeout(b, 5000), 0, "nobody waits for ever");
  aclrtDestroyStream(b);
}

// More waiting streams than threads, in the worst order.
void chain() {
  for (const char *mode : {"async", "lazy"}) {
    pyaclnnSetStreamMode(mode);
    constexpr int kCount = 100;
    std::vector<aclrtStream> streams(kCount);
    std::vector<aclrtEvent> events(kCount);
    for (auto &s : streams) s = stream();
    for (auto &e : events) aclrtCreateEvent(&e);
    std::vector<int> seen;
    for (int i = kCount - 1; i > 0; --i) {
      aclrtStreamWaitEvent(streams[i], events[i - 1]);
      submit(streams[i], [&seen, i] { seen.push_back(i); });
      aclrtRecordEvent(events[i], streams[i]);
    }
    submit(streams[0], [&seen] { seen.push_back(0); });
    aclrtRecordEvent(events[0], streams[0]);
    equal(aclrtSynchronizeStream(streams[kCount - 1]), 0, "a chain of 100 streams");
    bool sorted = seen.size() == kCount;
    for (size_t i = 0; i < seen.size(); ++i) sorted = sorted && seen[i] == static_cast<int>(i);
    ok(sorted, "ran in order");
    for (auto s : streams) aclrtDestroyStream(s);
    for (auto e : events) aclrtDestroyEvent(e);
  }
}

void errors() {
  for (const char *mode : {"auto", "async", "blocking", "lazy"}) {
    pyaclnnSetStreamMode(mode);
    aclrtStream s = stream(), other = stream();
    int ran = 0;
    equal(submit(
              s, [](pyaclnn::Text &why) { return failing(why, 7); }, true),
          0, "a failing task is submitted");
    submit(s, [](pyaclnn::Text &why) { return failing(why, 8); });
    submit(s, [&] { ++ran; });
    equal(aclrtSynchronizeStream(other), 0, "the other stream is unaffected");
    equal(aclrtSynchronizeStream(s), 507015, "the next synchronise tells");
    const std::string text = last_text();
    ok(text.find("block index 7") != std::string::npos && text.find("index 8") == std::string::npos,
       "the first error wins");
    ok(text.find("EZ9999: Inner Error!\nEZ9999: [PID: ") == 0, "its text has the inner form");
    equal(ran, 1, "later work still ran");
    equal(aclrtSynchronizeStream(s), 0, "told once");
    submit(s, [](pyaclnn::Text &why) { return failing(why, 9); });
    equal(aclrtSynchronizeDevice(), 507015, "the device tells as well");
    ok(told("block index 9"), "with its text");
    equal(aclrtSynchronizeDevice(), 0, "once");
    submit(s, [](pyaclnn::Text &why) { return failing(why, 10); });
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    int32_t code = 0;
    for (int i = 0; i < 5000 && code == 0; ++i) {
      code = aclrtStreamQuery(s, &status);
      if (code == 0) sleep_ms(1);
    }
    equal(code, 507015, "a query tells");
    equal(aclrtSynchronizeStream(s), 507015, "and keeps it for the synchronise");
    // On the thread that observes it, not on the one that submitted.
    last_text();
    aclrtContext context = nullptr;
    aclrtGetCurrentContext(&context);
    submit(s, [](pyaclnn::Text &why) { return failing(why, 11); });
    std::thread([&] {
      aclrtSetCurrentContext(context);
      equal(aclrtSynchronizeStream(s), 507015, "another thread synchronises");
      ok(told("block index 11"), "and has the text");
    }).join();
    ok(aclGetRecentErrMsg() == nullptr, "the submitter has none");
    equal(aclrtDestroyStream(s), 0, "destroy");

    aclrtStream stopping = stream();
    equal(aclrtSetStreamFailureMode(stopping, ACL_STOP_ON_FAILURE), 0, "stop on failure");
    ran = 0;
    work::released.store(0);
    submit(stopping, [](pyaclnn::Text &why) { return failing(why, 12); });
    submit(stopping, [&] { ++ran; });
    aclrtEvent e = nullptr;
    aclrtCreateEvent(&e);
    aclrtRecordEvent(e, stopping);
    equal(aclrtSynchronizeStream(stopping), 507015, "failure");
    equal(ran, 0, "later work is skipped");
    equal(work::released.load(), 2, "but released");
    equal(aclrtSynchronizeEvent(e), 0, "a skipped record leaves nobody waiting");
    equal(aclrtSynchronizeStream(stopping), 507015, "the error stays");
    equal(aclrtDestroyStream(stopping), 0, "until the stream is destroyed");
    aclrtDestroyEvent(e);
    aclrtDestroyStream(other);
  }
}

void modes() {
  const auto self = std::this_thread::get_id();
  std::thread::id ran_on;
  pyaclnnSetStreamMode("auto");
  aclrtStream s = stream();
  submit(
      s, [&] { ran_on = std::this_thread::get_id(); }, true);
  ok(ran_on == self, "auto: small work on an idle stream runs inline");
  pyaclnnSetStreamMode("async");
  std::atomic<bool> done{false};
  submit(
      s,
      [&] {
        ran_on = std::this_thread::get_id();
        done.store(true);
      },
      true);
  for (int i = 0; i < 5000 && !done.load(); ++i) sleep_ms(1);
  ok(done.load() && ran_on != self, "async: never inline, and without a synchronise");
  pyaclnnSetStreamMode("blocking");
  int value = 0;
  submit(s, [&] {
    sleep_ms(5);
    value = 1;
  });
  equal(value, 1, "blocking: done at return");
  pyaclnnSetStreamMode("lazy");
  ok(std::strcmp(pyaclnnGetStreamMode(), "lazy") == 0, "mode is lazy");
  value = 0;
  const uint64_t before = pyaclnnStreamPassed(s);
  submit(
      s, [&] { value = 2; }, true);
  sleep_ms(20);
  equal(pyaclnnStreamIdle(s), 0, "lazy: not idle");
  ok(value == 0 && pyaclnnStreamPassed(s) == before && pyaclnnStreamSubmitted(s) == before + 1,
     "lazy: nothing runs by itself");
  ok(complete(s) && value == 2, "lazy: a query runs it");
  submit(s, [&] { value = 3; });
  equal(aclrtSynchronizeStreamWithTimeout(s, 5000), 0, "lazy: synchronise with a limit");
  equal(value, 3, "lazy: runs it");
  submit(s, [&] { value = 4; });
  sleep_ms(5);
  equal(value, 3, "lazy: still nothing by itself");
  pyaclnnSetStreamMode("auto");
  equal(aclrtSynchronizeStream(s), 0, "switching the mode");
  equal(value, 4, "loses nothing");
  submit(s, [&] {
    sleep_ms(2);
    value = 5;
  });
  equal(aclrtDestroyStream(s), 0, "destroying a stream");
  equal(value, 5, "waits for its work");
}

void refusals() {
  pyaclnnSetStreamMode("auto");
  work::released.store(0);
  aclrtStream s = stream();
  aclrtDestroyStream(s);
  equal(submit(s, [] {}), 107017, "submit to a dead stream");
  equal(submit(&s, [] {}), 107017, "submit to a foreign pointer");
  std::thread([&] { equal(submit(nullptr, [] {}), 107002, "submit without context"); }).join();
  aclrtContext primary = nullptr, c = nullptr;
  aclrtGetCurrentContext(&primary);
  s = stream();
  aclrtCreateContext(&c, 0);
  equal(submit(s, [] {}), 107003, "submit to a stream of another context");
  equal(work::released.load(), 4, "refused tasks are released");
  int value = 0;
  equal(submit(nullptr, [&] { value = 1; }), 0, "default stream of the context");
  equal(aclrtSynchronizeStream(nullptr), 0, "synchronise it");
  equal(value, 1, "ran");
  aclrtDestroyContext(c);
  aclrtSetCurrentContext(primary);
  aclrtDestroyStream(s);
}

void dropping() {
  pyaclnnSetStreamMode("auto");
  aclrtStream s = stream(), t = stream();
  Gate gate;
  gate.close(s);
  gate.wait_reached();
  work::released.store(0);
  int ran = 0;
  for (int i = 0; i < 10; ++i) submit(s, [&] { ++ran; });
  aclrtEvent e = nullptr;
  aclrtCreateEvent(&e);
  aclrtRecordEvent(e, s);
  aclrtStreamWaitEvent(t, e);
  const uint64_t before = pyaclnnStreamPassed(s);
  bool dropped = false, counted = false;
  std::thread opener([&] {
    // The running task alone is left: the rest was dropped while it ran, and passes with it.
    for (int i = 0; i < 30000 && !dropped; ++i) {
      dropped = work::released.load() == 10;
      if (!dropped) sleep_ms(1);
    }
    counted = pyaclnnStreamPassed(s) != before;
    gate.open.store(true);
  });
  equal(aclrtStreamAbort(s), 0, "abort");
  opener.join();
  ok(dropped, "what is queued is dropped before the running task ends");
  ok(!counted, "what is dropped has not passed before the running task ends");
  equal(ran, 0, "nothing behind the running task ran");
  equal(work::released.load(), 11, "all were released");
  equal(aclrtSynchronizeStream(t), 0, "a dropped record leaves nobody waiting");
  equal(submit(s, [&] { ran = 100; }), 0, "the stream still works");
  equal(aclrtSynchronizeStream(s), 0, "synchronise");
  equal(ran, 100, "ran");
  ok(pyaclnnStreamSubmitted(s) == pyaclnnStreamPassed(s), "counters agree");
  aclrtEvent never = nullptr;
  aclrtCreateEvent(&never);
  aclrtStreamWaitEvent(t, never);
  submit(t, [&] { ran = -1; });
  equal(aclrtDestroyStreamForce(t), 0, "destroying a waiting stream by force");
  equal(ran, 100, "its work did not run");
  aclrtDestroyEvent(never);
  aclrtDestroyEvent(e);
  aclrtDestroyStream(s);
}

void deferred_free() {
  pyaclnnSetStreamMode("auto");
  aclrtStream s = stream(), idle = stream();
  const int64_t live = pyaclnnLiveCount("memory");
  Gate gate;
  gate.close(s);
  gate.wait_reached();
  void *p = nullptr, *q = nullptr;
  aclrtMalloc(&p, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMalloc(&q, 64, ACL_MEM_MALLOC_HUGE_FIRST);
  int sum = 0;
  submit(s, [&, p] {
    std::memset(p, 1, 1 << 20);
    for (int i = 0; i < 1 << 20; i += 4096) sum += static_cast<char *>(p)[i];
  });
  equal(aclrtFree(p), 0, "free while work is queued: returns at once");
  equal(aclrtFree(p), 107000, "and is gone for the program");
  equal(aclrtFree(q), 0, "another free");
  equal(pyaclnnLiveCount("memory"), live, "is not counted any more");
  gate.open.store(true);
  equal(aclrtSynchronizeStream(s), 0, "the work passes");
  equal(sum, 256, "with its memory intact");
  aclrtDestroyStream(s);
  aclrtDestroyStream(idle);
}

void copies() {
  pyaclnnSetStreamMode("auto");
  aclrtStream s = stream();
  void *d = nullptr, *h = nullptr;
  aclrtMalloc(&d, 4096, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMallocHost(&h, 4096);
  std::memset(d, 0, 4096);
  Gate gate;
  gate.close(s);
  gate.wait_reached();
  char local[4096];
  std::memset(local, 3, sizeof local);
  equal(aclrtMemcpyAsync(d, 4096, local, 4096, ACL_MEMCPY_HOST_TO_DEVICE, s), 0, "pageable source");
  std::memset(local, 4, sizeof local);
  ok(static_cast<char *>(d)[0] == 0, "is copied in stream order");
  std::memset(h, 5, 4096);
  void *d2 = nullptr;
  aclrtMalloc(&d2, 4096, ACL_MEM_MALLOC_HUGE_FIRST);
  equal(aclrtMemcpyAsync(d2, 4096, h, 4096, ACL_MEMCPY_HOST_TO_DEVICE, s), 0, "pinned source");
  std::memset(h, 6, 4096);
  gate.open.store(true);
  equal(aclrtSynchronizeStream(s), 0, "synchronise");
  ok(static_cast<char *>(d)[4095] == 3, "pageable bytes are those of the call");
  ok(static_cast<char *>(d2)[4095] == 6, "pinned bytes are those of the run");
  char out[4096] = {};
  submit(s, [&] {
    sleep_ms(5);
    std::memset(d, 9, 4096);
  });
  equal(aclrtMemcpyAsync(out, 4096, d, 4096, ACL_MEMCPY_DEVICE_TO_HOST, s), 0,
        "pageable destination");
  ok(out[0] == 9 && out[4095] == 9, "is complete at return");
  equal(aclrtMemcpyAsync(out, 16, local, 16, ACL_MEMCPY_HOST_TO_HOST, s), 207000, "host to host");
  equal(aclrtMemcpyAsync(d, 16, local, 17, ACL_MEMCPY_HOST_TO_DEVICE, s), 107000, "too large");
  equal(aclrtMemcpyAsync(nullptr, 16, local, 16, ACL_MEMCPY_HOST_TO_DEVICE, s), 100000, "NULL");
  equal(aclrtMemcpyAsync(nullptr, 0, nullptr, 0, ACL_MEMCPY_HOST_TO_DEVICE, s), 0, "nothing");
  equal(aclrtMemcpyAsync(d, 16, local, 16, ACL_MEMCPY_HOST_TO_DEVICE, &gate), 107017, "no stream");
  equal(aclrtMemcpyAsyncWithCondition(d, 16, local, 16, ACL_MEMCPY_HOST_TO_DEVICE, s), 107000,
        "pageable is refused on demand");
  equal(aclrtMemcpyAsyncWithCondition(d, 16, h, 16, ACL_MEMCPY_HOST_TO_DEVICE, s), 0,
        "pinned is accepted");
  equal(aclrtMemcpyAsync(out, 4096, static_cast<char *>(d2) + 4090, 100, ACL_MEMCPY_DEVICE_TO_HOST,
                         s),
        0, "beyond the end of a block");
  ok(out[0] == 6 && out[5] == 6 && out[40] == 0 && out[99] == 0, "zeros arrive");
  equal(aclrtMemsetAsync(d, 4096, 0x107, 4096, s), 0, "set");
  equal(aclrtMemsetAsync(d, 4096, 1, 4097, s), 107000, "set too much");
  equal(aclrtSynchronizeStream(s), 0, "synchronise");
  ok(static_cast<char *>(d)[4095] == 7, "is set");
  equal(aclrtMemcpy2dAsync(d2, 64, d, 32, 16, 4, ACL_MEMCPY_DEVICE_TO_DEVICE, s), 0, "rows");
  equal(aclrtSynchronizeStream(s), 0, "synchronise");
  ok(static_cast<char *>(d2)[64 * 3 + 15] == 7 && static_cast<char *>(d2)[16] == 6, "rows arrived");
  size_t size = 0;
  equal(aclrtGetMemcpyDescSize(ACL_MEMCPY_DEVICE_TO_DEVICE, &size), 0, "description");
  equal(aclrtSetMemcpyDesc(h, ACL_MEMCPY_DEVICE_TO_DEVICE, d, d2, 100, nullptr), 0, "fill it");
  equal(aclrtMemcpyAsyncWithDesc(h, ACL_MEMCPY_DEVICE_TO_DEVICE, s), 0, "use it");
  equal(aclrtSynchronizeStream(s), 0, "synchronise");
  ok(static_cast<char *>(d2)[16] == 7, "it was copied");
  std::memset(h, 0, size);
  equal(aclrtMemcpyAsyncWithDesc(h, ACL_MEMCPY_DEVICE_TO_DEVICE, s), 0, "a broken one");
  equal(aclrtSynchronizeStream(s), 507015, "is told by the stream");
  aclrtFree(d);
  aclrtFree(d2);
  aclrtFreeHost(h);
  aclrtDestroyStream(s);
}

void callbacks_run_freely() {
  pyaclnnSetStreamMode("auto");
  aclrtStream a = stream(), b = stream();
  static aclrtStream inner;
  static std::atomic<int> step;
  static aclrtContext context;
  inner = b;
  step.store(0);
  aclrtGetCurrentContext(&context);
  // No lock of ours is held: the callback may use other streams.
  aclrtLaunchHostFunc(
      a,
      [](void *) {
        aclrtSetCurrentContext(context);
        void *p = nullptr;
        aclrtMalloc(&p, 100, ACL_MEM_MALLOC_HUGE_FIRST);
        aclrtMemsetAsync(p, 100, 1, 100, inner);
        aclrtFree(p);
        if (aclrtSynchronizeStream(inner) == 0) step.fetch_add(1);
      },
      nullptr);
  equal(aclrtSynchronizeStream(a), 0, "a callback uses the runtime");
  equal(step.load(), 1, "and comes through");
  // A callback may wait for its submitter, who only queries.
  static std::atomic<bool> go;
  go.store(false);
  aclrtLaunchHostFunc(
      a,
      [](void *) {
        while (!go.load()) std::this_thread::yield();
      },
      nullptr);
  ok(!complete(a), "a query does not run a callback");
  go.store(true);
  equal(aclrtSynchronizeStream(a), 0, "and it ends");
  aclrtDestroyStream(a);
  aclrtDestroyStream(b);
}

}  // namespace

int main() {
  equal(aclInit(nullptr), 0, "init");
  equal(aclrtSetDevice(0), 0, "device");
  for (const char *mode : {"auto", "async", "blocking", "lazy"}) {
    order(mode);
    two_streams(mode);
  }
  does_not_block();
  wait_before_record();
  chain();
  errors();
  modes();
  refusals();
  dropping();
  deferred_free();
  copies();
  callbacks_run_freely();
  equal(pyaclnnLiveCount("memory"), 0, "no block is left");
  equal(pyaclnnLiveCount("stream"), 1, "no stream is left");
  equal(pyaclnnLiveCount("event"), 0, "no event is left");
  equal(aclrtResetDevice(0), 0, "reset");
  equal(aclFinalize(), 0, "finalize");
  return tap::done();
}
