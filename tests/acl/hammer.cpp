// Many threads on handles, streams, events, memory and the pool at once; stale and forged handles.
#include <acl/acl.h>

#include <cstdlib>
#include <vector>

#include "acl/handle.hpp"
#include "pyaclnn/debug.h"
#include "support/pool.hpp"
#include "tap.hpp"
#include "work.hpp"

namespace {

using tap::equal;
using tap::ok;

int rounds = 400;
constexpr int kThreads = 4;

template <class Body>
void threads(Body body) {
  std::vector<std::thread> all;
  for (int i = 0; i < kThreads; ++i) {
    all.emplace_back([body, i] {
      aclrtSetDevice(0);
      body(i);
      aclrtResetDevice(0);
    });
  }
  for (auto &thread : all) thread.join();
}

void handles() {
  // Everybody destroys everything: exactly one wins.
  std::vector<aclDataBuffer *> shared(static_cast<size_t>(rounds));
  for (auto &buffer : shared) buffer = aclCreateDataBuffer(&shared, 8);
  std::atomic<int> winners{0}, wrong{0};
  threads([&](int) {
    for (auto *buffer : shared) {
      size_t size = aclGetDataBufferSizeV2(buffer);
      if (size != 8 && size != 0) wrong.fetch_add(1);
      if (aclDestroyDataBuffer(buffer) == 0) winners.fetch_add(1);
    }
  });
  equal(winners.load(), rounds, "each buffer was destroyed once");
  equal(wrong.load(), 0, "look-ups saw a live buffer or none");

  // Made here, destroyed there: slots come back.
  std::vector<std::atomic<void *>> mail(kThreads);
  threads([&](int me) {
    for (int i = 0; i < rounds * 10; ++i) {
      void *fresh = aclCreateDataBuffer(nullptr, 1);
      void *old = mail[static_cast<size_t>((me + 1) % kThreads)].exchange(fresh);
      if (old != nullptr) aclDestroyDataBuffer(static_cast<aclDataBuffer *>(old));
    }
  });
  for (auto &box : mail) {
    if (box.load() != nullptr) aclDestroyDataBuffer(static_cast<aclDataBuffer *>(box.load()));
  }
  equal(pyaclnnLiveCount("databuffer"), 0, "no buffer is left");
  ok(pyaclnn::handle_table(pyaclnn::Kind::DataBuffer).slots_.load() <= 4096,
     "the table did not grow with the number of calls");

  // Forged values: any answer but a crash.
  std::srand(1);
  int accepted = 0;
  for (int i = 0; i < 100000; ++i) {
    uint64_t value = static_cast<uint64_t>(std::rand()) << 33 ^
                     static_cast<uint64_t>(std::rand()) << 8 ^ static_cast<uint64_t>(i & 15);
    if (aclGetDataBufferAddr(reinterpret_cast<aclDataBuffer *>(value)) != nullptr) ++accepted;
  }
  equal(accepted, 0, "no forged handle is accepted");
  aclDataBuffer *one = aclCreateDataBuffer(&rounds, 4);
  const auto value = reinterpret_cast<uint64_t>(one);
  const uint64_t neighbours[] = {value ^ 1, value ^ (1ull << 40), value ^ (1ull << 20),
                                 value & 0xffffffffffull};
  for (uint64_t other : neighbours) {
    ok(aclGetDataBufferAddr(reinterpret_cast<aclDataBuffer *>(other)) == nullptr,
       "a neighbour of a handle is none");
  }
  aclDestroyDataBuffer(one);
}

void streams() {
  std::atomic<int> bad{0};
  std::atomic<int64_t> ran{0};
  threads([&](int) {
    for (int i = 0; i < rounds; ++i) {
      aclrtStream s = nullptr;
      aclrtEvent e = nullptr;
      if (aclrtCreateStream(&s) != 0 || aclrtCreateEvent(&e) != 0) bad.fetch_add(1);
      for (int k = 0; k < 5; ++k) {
        if (work::submit(
                s, [&ran] { ran.fetch_add(1); }, k % 2 == 0) != 0)
          bad.fetch_add(1);
      }
      if (aclrtRecordEvent(e, s) != 0) bad.fetch_add(1);
      if (aclrtStreamWaitEvent(nullptr, e) != 0) bad.fetch_add(1);  // the shared default stream
      if (i % 3 == 0 && aclrtSynchronizeStream(s) != 0) bad.fetch_add(1);
      if (i % 7 == 0 && aclrtSynchronizeDevice() != 0) bad.fetch_add(1);
      if (aclrtDestroyEvent(e) != 0) bad.fetch_add(1);
      if (aclrtDestroyStream(s) != 0) bad.fetch_add(1);
      if (aclrtDestroyStream(s) != 107017) bad.fetch_add(1);
    }
  });
  equal(bad.load(), 0, "no call answered wrongly");
  equal(ran.load(), static_cast<int64_t>(kThreads) * rounds * 5, "every task ran");

  // One stream, many submitters: each thread's own order holds.
  aclrtStream shared = nullptr;
  aclrtCreateStream(&shared);
  std::vector<int> last(kThreads, -1);
  std::atomic<int> disorder{0};
  threads([&](int me) {
    for (int i = 0; i < rounds * 5; ++i) {
      work::submit(
          shared,
          [&, me, i] {
            if (last[static_cast<size_t>(me)] != i - 1) disorder.fetch_add(1);
            last[static_cast<size_t>(me)] = i;
          },
          i % 2 == 0);
      if (i % 64 == 0) aclrtSynchronizeStream(shared);
    }
  });
  equal(aclrtSynchronizeStream(shared), 0, "synchronise");
  equal(disorder.load(), 0, "each submitter's order holds");

  // Destroyed by one thread while others use it: codes, no crash.
  std::atomic<aclrtStream> current{shared};
  std::atomic<bool> stop{false};
  std::atomic<int> odd{0};
  std::thread user([&] {
    aclrtSetDevice(0);
    while (!stop.load()) {
      int32_t code = work::submit(
          current.load(), [] {}, true);
      if (code != 0 && code != 107017) odd.fetch_add(1);
      code = aclrtSynchronizeStream(current.load());
      if (code != 0 && code != 107017) odd.fetch_add(1);
    }
    aclrtResetDevice(0);
  });
  for (int i = 0; i < rounds; ++i) {
    aclrtStream fresh = nullptr;
    aclrtCreateStream(&fresh);
    aclrtStream old = current.exchange(fresh);
    aclrtDestroyStream(old);
  }
  stop.store(true);
  user.join();
  aclrtDestroyStream(current.load());
  equal(odd.load(), 0, "a dying stream answers 0 or 107017");
}

void events() {
  aclrtStream s = nullptr;
  aclrtCreateStream(&s);
  aclrtEvent e = nullptr;
  aclrtCreateEvent(&e);
  aclrtRecordEvent(e, s);  // else a stream could wait for a record that is queued behind the wait
  std::atomic<int> bad{0};
  threads([&](int me) {
    for (int i = 0; i < rounds; ++i) {
      int32_t code = 0;
      switch ((i + me) % 4) {
        case 0: code = aclrtRecordEvent(e, s); break;
        case 1: code = aclrtSynchronizeEventWithTimeout(e, 5000); break;
        case 2: code = aclrtStreamWaitEvent(s, e); break;
        default: {
          aclrtEventRecordedStatus status;
          code = aclrtQueryEventStatus(e, &status);
        }
      }
      if (code != 0) bad.fetch_add(1);
    }
  });
  aclrtRecordEvent(e, s);
  equal(aclrtSynchronizeDevice(), 0, "synchronise");
  equal(bad.load(), 0, "one event, many threads");
  aclrtDestroyEvent(e);
  aclrtDestroyStream(s);
}

void memory() {
  std::atomic<int> bad{0};
  aclrtStream s = nullptr;
  aclrtCreateStream(&s);
  threads([&](int me) {
    for (int i = 0; i < rounds; ++i) {
      void *p = nullptr;
      char byte = static_cast<char>(me * 50 + i), back = 0;
      const size_t size = 64 + static_cast<size_t>(i) * 16;
      if (aclrtMalloc(&p, size, ACL_MEM_MALLOC_HUGE_FIRST) != 0) bad.fetch_add(1);
      if (aclrtMemsetAsync(p, size, byte, size, s) != 0) bad.fetch_add(1);
      if (i % 8 == 0) {
        if (aclrtMemcpyAsync(&back, 1, p, 1, ACL_MEMCPY_DEVICE_TO_HOST, s) != 0) bad.fetch_add(1);
        if (back != byte) bad.fetch_add(1);
      }
      if (aclrtFree(p) != 0) bad.fetch_add(1);
    }
  });
  equal(aclrtSynchronizeStream(s), 0, "synchronise");
  equal(bad.load(), 0, "memory in flight");
  equal(pyaclnnLiveCount("memory"), 0, "no block is left");
  aclrtDestroyStream(s);
}

void pool() {
  equal(pyaclnnSetThreads(3), 0, "three threads");
  std::atomic<int> bad{0};
  threads([&](int) {
    for (int i = 0; i < rounds; ++i) {
      struct Job {
        std::vector<std::atomic<int>> hits;
        std::atomic<int> bad{0};
      } job{std::vector<std::atomic<int>>(static_cast<size_t>(i % 40)), {}};
      pyaclnn::pool_run(
          i % 40,
          [](void *context, int64_t item) {
            auto &mine = *static_cast<Job *>(context);
            mine.hits[static_cast<size_t>(item)].fetch_add(1);
            int64_t nested = 0;
            int32_t alone = pyaclnn::pool_run(
                3, [](void *sum, int64_t inner) { *static_cast<int64_t *>(sum) += inner; },
                &nested);
            if (nested != 3 || alone != 1) mine.bad.fetch_add(1);
          },
          &job);
      for (auto &hit : job.hits) {
        if (hit.load() != 1) bad.fetch_add(1);
      }
      bad.fetch_add(job.bad.load());
    }
  });
  equal(bad.load(), 0, "every item ran once, nested ones in line");
  for (int n : {1, 2, 5, 3}) {
    pyaclnnSetThreads(n);
    std::atomic<int> count{0};
    int32_t took_part = pyaclnn::pool_run(
        64,
        [](void *context, int64_t) {
          static_cast<std::atomic<int> *>(context)->fetch_add(1);
          std::this_thread::sleep_for(std::chrono::microseconds(200));
        },
        &count);
    ok(count.load() == 64 && took_part <= n, "no more threads than were set take part");
    if (n > 1) ok(took_part > 1, "and more than one does");
  }
}

}  // namespace

int main(int count, char **arguments) {
  if (count > 1) rounds = std::atoi(arguments[1]);
  equal(aclInit(nullptr), 0, "init");
  equal(aclrtSetDevice(0), 0, "device");
  handles();
  for (const char *mode : {"auto", "async", "lazy"}) {
    pyaclnnSetStreamMode(mode);
    streams();
    events();
    memory();
  }
  pool();
  equal(aclrtResetDevice(0), 0, "reset");
  equal(aclFinalize(), 0, "finalize");
  return tap::done();
}
