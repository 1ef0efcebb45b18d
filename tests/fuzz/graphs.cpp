// Random graphs of streams, events and callbacks that cannot deadlock: everything waits only for
// what was submitted before it. Each step must see the steps it depends on.
#include <acl/acl.h>
#include <pyaclnn/debug.h>
#include <unistd.h>

#include <atomic>
#include <cinttypes>
#include <cstdint>
#include <cstdlib>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "tap.hpp"

namespace {

uint64_t g_state;
uint64_t next() {
  uint64_t z = (g_state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
int64_t below(int64_t n) { return static_cast<int64_t>(next() % static_cast<uint64_t>(n)); }

aclrtContext g_context;
std::atomic<int> g_odd{0};
std::atomic<uint64_t> g_doing{0};

struct Step {
  std::vector<Step *> before;  // must be over when this one begins
  aclrtEvent awaited = nullptr;
  Step *behind = nullptr;  // over once `awaited` is complete
  std::atomic<bool> over{false};
};

void run(void *argument) {
  auto *step = static_cast<Step *>(argument);
  for (Step *other : step->before) {
    if (!other->over.load()) g_odd.fetch_add(1);
  }
  if (step->awaited != nullptr) {
    aclrtSetCurrentContext(g_context);
    if (aclrtSynchronizeEvent(step->awaited) != 0) {
      std::printf("# %s\n", aclGetRecentErrMsg());
      g_odd.fetch_add(1);
    }
    if (step->behind != nullptr && !step->behind->over.load()) g_odd.fetch_add(1);
  }
  step->over.store(true);
}

void graph(int streams) {
  std::vector<aclrtStream> s(static_cast<size_t>(streams));
  std::vector<Step *> last(s.size(), nullptr);
  std::vector<std::vector<Step *>> waits(s.size());  // for the next step of a stream
  for (aclrtStream &stream : s) aclrtCreateStream(&stream);
  struct Recorded {
    aclrtEvent event;
    Step *step;
  };
  std::vector<Recorded> events;
  std::vector<std::unique_ptr<Step>> steps;
  for (int i = 0; i < 60; ++i) {
    const auto at = static_cast<size_t>(below(streams));
    switch (below(4)) {
      case 0: {
        aclrtEvent event = nullptr;
        aclrtCreateEvent(&event);
        if (aclrtRecordEvent(event, s[at]) != 0) g_odd.fetch_add(1);
        events.push_back({event, last[at]});
        break;
      }
      case 1:
        if (events.empty()) break;
        {
          const Recorded &r =
              events[static_cast<size_t>(below(static_cast<int64_t>(events.size())))];
          if (aclrtStreamWaitEvent(s[at], r.event) != 0) g_odd.fetch_add(1);
          if (r.step != nullptr) waits[at].push_back(r.step);
        }
        break;
      default: {
        steps.push_back(std::make_unique<Step>());
        Step *step = steps.back().get();
        step->before = std::move(waits[at]);
        waits[at].clear();
        if (last[at] != nullptr) step->before.push_back(last[at]);
        if (!events.empty() && below(3) == 0) {
          const Recorded &r =
              events[static_cast<size_t>(below(static_cast<int64_t>(events.size())))];
          step->awaited = r.event;
          step->behind = r.step;
        }
        last[at] = step;
        if (aclrtLaunchHostFunc(s[at], run, step) != 0) g_odd.fetch_add(1);
      }
    }
  }
  for (size_t i = s.size(); i-- > 0;) {
    const int code = below(2) == 0 ? aclrtSynchronizeStream(s[i]) : aclrtDestroyStream(s[i]);
    if (code != 0) g_odd.fetch_add(1);
    if (last[i] != nullptr && !last[i]->over.load()) g_odd.fetch_add(1);
  }
  for (aclrtStream stream : s) aclrtDestroyStream(stream);
  for (const Recorded &r : events) aclrtDestroyEvent(r.event);
  aclGetRecentErrMsg();
}

}  // namespace

// graphs SEED COUNT
int main(int argc, char **argv) {
  const uint64_t first = argc > 1 ? std::strtoull(argv[1], nullptr, 0) : 1;
  const int64_t count = argc > 2 ? std::atoll(argv[2]) : 100;
  std::printf("# seed %" PRIu64 ", %" PRId64 " graphs\n", first, count);
  aclInit(nullptr);
  aclrtSetDevice(0);
  aclrtGetCurrentContext(&g_context);
  std::thread([] {
    uint64_t seen = 0;
    for (;;) {
      std::this_thread::sleep_for(std::chrono::seconds(15));
      if (g_doing.load() == seen) {
        tap::ok(false, "graph", "seed %" PRIu64 " hangs", seen);
        _exit(3);
      }
      seen = g_doing.load();
    }
  }).detach();
  int failures = 0;
  for (uint64_t seed = first; seed != first + static_cast<uint64_t>(count); ++seed) {
    g_doing.store(seed);
    g_state = seed;
    g_odd.store(0);
    graph(static_cast<int>(2 + below(7)));
    if (g_odd.load() != 0 && ++failures <= 5) {
      tap::ok(false, "graph", "seed %" PRIu64 ": %d odd steps", seed, g_odd.load());
    }
  }
  tap::equal(failures, 0, "graphs of streams, events and callbacks");
  aclrtResetDevice(0);
  aclFinalize();
  tap::equal(pyaclnnLiveCount("stream"), 0, "no stream is left");
  return tap::done();
}
