// Tasks for tests of streams.
#pragma once

#include <acl/acl.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <new>
#include <thread>

#include "acl/stream.hpp"

namespace work {

inline std::atomic<int> released{0};

// Queues a function; it answers the code of the task.
inline int32_t submit(aclrtStream stream, std::function<int32_t(pyaclnn::Text &)> fn,
                      bool small = false) {
  using Function = std::function<int32_t(pyaclnn::Text &)>;
  pyaclnn::Task *task = pyaclnn::task_new(sizeof(Function));
  new (task->payload()) Function(std::move(fn));
  task->small = small;
  task->run = [](pyaclnn::Task *it, pyaclnn::Text &why) {
    return (*reinterpret_cast<Function *>(it->payload()))(why);
  };
  task->release = [](pyaclnn::Task *it) {
    reinterpret_cast<Function *>(it->payload())->~Function();
    released.fetch_add(1);
  };
  return pyaclnn::stream_submit(stream, task);
}

inline int32_t submit(aclrtStream stream, std::function<void()> fn, bool small = false) {
  return submit(
      stream,
      [fn](pyaclnn::Text &) {
        fn();
        return 0;
      },
      small);
}

inline void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

// Work that waits until it is let go.
struct Gate {
  std::atomic<bool> open{false}, reached{false};
  int32_t close(aclrtStream stream) {
    open.store(false);
    reached.store(false);
    return submit(stream, [this] {
      reached.store(true);
      while (!open.load()) std::this_thread::yield();
    });
  }
  bool wait_reached() {
    for (int i = 0; i < 5000 && !reached.load(); ++i) sleep_ms(1);
    return reached.load();
  }
};

}  // namespace work
