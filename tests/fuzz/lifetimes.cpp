// Lifetimes under attack, one scenario a run: everything ends within its time limit, whoever
// destroys, aborts, resets or switches in between.
#include <acl/acl.h>
#include <aclnn/aclnn_base.h>
#include <aclnnop/aclnn_incre_flash_attention_v4.h>
#include <pyaclnn/debug.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tap.hpp"

namespace {

using Dims = std::vector<int64_t>;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
void sleep_ms(int64_t ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

// A hang is a failed line, not a test that never ends.
void watch(int seconds, const char *what) {
  std::thread([seconds, what] {
    sleep_ms(seconds * 1000);
    tap::ok(false, what, "has not ended after %d s", seconds);
    _exit(3);
  }).detach();
}

// One small attention with memory of its own.
class Op {
 public:
  explicit Op(int64_t rows = 64) : rows_(rows) {
    for (size_t i = 0; i < 4; ++i) {
      const size_t bytes = i < 2 ? 256 : static_cast<size_t>(rows) * 128;
      // Another thread may have reset the device: any memory will do.
      void *memory = nullptr;
      on_device_[i] = aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_NORMAL_ONLY) == 0;
      if (!on_device_[i]) memory = std::malloc(bytes);
      std::memset(memory, 0, bytes);
      memory_[i] = memory;
    }
    query_ = tensor({2, 4, 1, 16}, memory_[0]);
    out_ = tensor({2, 4, 1, 16}, memory_[1]);
    aclTensor *key = tensor({2, 2, rows_, 16}, memory_[2]);
    aclTensor *value = tensor({2, 2, rows_, 16}, memory_[3]);
    keys_ = aclCreateTensorList(&key, 1);
    values_ = aclCreateTensorList(&value, 1);
  }
  // Frees what queued work may still use: that is deferred.
  ~Op() {
    aclDestroyTensor(query_);
    aclDestroyTensor(out_);
    aclDestroyTensorList(keys_);
    aclDestroyTensorList(values_);
    for (size_t i = 0; i < 4; ++i) {
      if (on_device_[i])
        aclrtFree(memory_[i]);
      else
        std::free(memory_[i]);
    }
    if (workspace_ != nullptr) aclrtFreeHost(workspace_);
  }
  Op(const Op &) = delete;
  Op &operator=(const Op &) = delete;

  int first() {
    char layout[] = "BNSD";
    int code = aclnnIncreFlashAttentionV4GetWorkspaceSize(
        query_, keys_, values_, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
        nullptr, nullptr, nullptr, nullptr, nullptr, 4, 0.25, layout, 2, 0, 1, out_, &size_,
        &executor);
    if (code == 0 && size_ != 0 && workspace_ == nullptr) aclrtMallocHost(&workspace_, size_);
    return code;
  }
  int second(aclrtStream stream) {
    return aclnnIncreFlashAttentionV4(workspace_, size_, executor, stream);
  }
  int both(aclrtStream stream) {
    int code = first();
    return code != 0 ? code : second(stream);
  }

  // Later runs write where `to` writes.
  int readdress(const Op &to) { return aclSetOutputTensorAddr(executor, 0, out_, to.memory_[1]); }

  aclOpExecutor *executor = nullptr;

 private:
  static aclTensor *tensor(const Dims &dims, void *data) {
    return aclCreateTensor(dims.data(), dims.size(), ACL_FLOAT16, nullptr, 0, ACL_FORMAT_ND,
                           dims.data(), dims.size(), data);
  }
  int64_t rows_;
  void *memory_[4] = {};
  bool on_device_[4] = {};
  void *workspace_ = nullptr;
  uint64_t size_ = 0;
  aclTensor *query_, *out_;
  aclTensorList *keys_, *values_;
};

struct World {
  aclrtContext context = nullptr;
  aclrtStream a = nullptr, b = nullptr;
  aclrtEvent e = nullptr;
  World() {
    aclrtGetCurrentContext(&context);
    aclrtCreateStream(&a);
    aclrtCreateStream(&b);
    aclrtCreateEvent(&e);
  }
};

void nothing(void *) {}

// Threads that start together.
class Start {
 public:
  explicit Start(int count) : count_(count) {}
  void line_up() {
    here_.fetch_add(1);
    while (here_.load() < count_) std::this_thread::yield();
  }

 private:
  int count_;
  std::atomic<int> here_{0};
};

void destroyed(World &w) {
  aclrtRecordEvent(w.e, w.b);
  for (int i = 0; i < 60; ++i) {
    aclrtStream stream = nullptr;
    aclrtCreateStream(&stream);
    Start start(3);
    auto use = [&] {
      aclrtSetCurrentContext(w.context);
      Op op;
      start.line_up();
      op.both(stream);
      aclrtLaunchHostFunc(stream, nothing, nullptr);
      aclrtRecordEvent(w.e, stream);
      aclrtSynchronizeStream(stream);
      aclrtStreamWaitEvent(w.b, w.e);
      aclDestroyAclOpExecutor(op.executor);  // for a stream that was gone before its run
      aclrtSynchronizeStream(w.b);
      aclGetRecentErrMsg();
    };
    std::thread x(use), y(use), z([&] {
      aclrtSetCurrentContext(w.context);
      start.line_up();
      if (i % 3 == 0) aclrtStreamAbort(stream);
      if (i % 3 == 1)
        aclrtDestroyStreamForce(stream);
      else
        aclrtDestroyStream(stream);
    });
    x.join();
    y.join();
    z.join();
  }
  tap::ok(true, "streams destroyed and aborted under two users");
  tap::equal(pyaclnnLiveCount("executor"), 0, "no executor is left");
  tap::equal(pyaclnnLiveCount("tensor"), 0, "no tensor is left");
}

void resets(World &) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!stop.load()) {
        aclrtSetDevice(0);
        aclrtStream stream = nullptr;
        aclrtCreateStream(&stream);
        {
          Op op;
          op.both(stream);
          op.second(nullptr);
          aclrtSynchronizeStream(stream);
          aclrtSynchronizeDevice();
          aclDestroyAclOpExecutor(op.executor);
        }
        if (stream != nullptr) aclrtDestroyStream(stream);
        aclrtResetDevice(0);
        aclGetRecentErrMsg();
      }
    });
  }
  const double until = now() + 0.7;
  while (now() < until) {
    aclrtResetDeviceForce(0);
    aclrtSetDevice(0);
    aclGetRecentErrMsg();
  }
  stop.store(true);
  for (std::thread &thread : threads) thread.join();
  tap::ok(true, "forced resets under three users");
  tap::equal(pyaclnnLiveCount("executor"), 0, "no executor is left");
}

void contexts(World &) {
  std::atomic<int> odd{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 12; ++i) {
    threads.emplace_back([&odd, i] {
      for (int n = 0; n < 25; ++n) {
        const int device = (i + n) % 4;
        aclrtContext context = nullptr;
        aclrtStream stream = nullptr;
        aclrtEvent event = nullptr;
        int code = aclrtSetDevice(device);
        code |= aclrtCreateContext(&context, (device + 1) % 4);
        code |= aclrtCreateStream(&stream);
        code |= aclrtCreateEvent(&event);
        {
          Op op;
          code |= op.both(stream);
          code |= aclrtRecordEvent(event, stream);
          code |= aclrtSynchronizeEvent(event);
        }
        code |= aclrtDestroyEvent(event);
        // A stream may outlive its context.
        if (n % 2 == 0) code |= aclrtDestroyStream(stream);
        code |= aclrtDestroyContext(context);
        if (n % 2 != 0) code |= aclrtDestroyStream(stream);
        code |= aclrtResetDevice(device);
        if (code != 0) odd.fetch_add(1);
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  tap::equal(odd.load(), 0, "twelve threads with contexts on four devices");
  tap::equal(pyaclnnLiveCount("context"), 1, "one context is left");
  tap::equal(pyaclnnLiveCount("memory"), 0, "no block is left");
}

void repeated(World &w) {
  {
    Op op(512), other(512);
    op.first();
    aclSetAclOpExecutorRepeatable(op.executor);
    std::atomic<int> runs{0}, odd{0};
    std::vector<std::thread> threads;
    // The second runner stops when the executor is gone.
    threads.emplace_back([&] {
      aclrtSetCurrentContext(w.context);
      while (op.second(w.a) == 0) {
        if (runs.fetch_add(1) % 16 == 15 && aclrtSynchronizeStream(w.a) != 0) odd.fetch_add(1);
      }
      aclGetRecentErrMsg();
    });
    threads.emplace_back([&] {
      for (int i = 0; op.readdress(i % 2 == 0 ? op : other) == 0; ++i) {
      }
      aclGetRecentErrMsg();
    });
    const double until = now() + 0.5;
    while (now() < until || runs.load() < 100) sleep_ms(1);
    tap::equal(aclDestroyAclOpExecutor(op.executor), 0, "destroyed while it runs and moves");
    for (std::thread &thread : threads) thread.join();
    tap::equal(aclrtSynchronizeStream(w.a), 0, "queued runs end");
    tap::equal(odd.load(), 0, "no run failed");
  }
  tap::equal(pyaclnnLiveCount("executor"), 0, "no executor is left");
}

void switches(World &w) {
  std::atomic<bool> stop{false};
  std::atomic<int> odd{0};
  std::thread turner([&] {
    const char *const modes[] = {"auto", "async", "blocking", "lazy"};
    std::vector<std::string> levels;
    std::istringstream names(pyaclnnIsaLevels());
    for (std::string name; names >> name;) levels.push_back(name);
    for (unsigned n = 0; !stop.load(); ++n) {
      pyaclnnSetThreads(static_cast<int32_t>(1 + n % 9));
      pyaclnnSetStreamMode(modes[n % 4]);
      pyaclnnSetIsa(levels[n % levels.size()].c_str());
      sleep_ms(1);
    }
  });
  auto use = [&](aclrtStream stream) {
    aclrtSetCurrentContext(w.context);
    Op op(1024);
    for (int i = 0; i < 60; ++i) {
      if (op.both(stream) != 0 || (i % 5 == 0 && aclrtSynchronizeStream(stream) != 0)) {
        odd.fetch_add(1);
      }
    }
    if (aclrtSynchronizeStream(stream) != 0) odd.fetch_add(1);
  };
  std::thread other(use, w.b);
  use(w.a);
  other.join();
  stop.store(true);
  turner.join();
  tap::equal(odd.load(), 0, "threads, modes and levels switched under two users");
}

void memory(World &w) {
  for (int i = 0; i < 30; ++i) {
    Op op(2048);
    aclrtLaunchHostFunc(
        w.a, [](void *) { sleep_ms(1); }, nullptr);
    op.both(w.a);
  }
  tap::equal(aclrtSynchronizeStream(w.a), 0, "memory freed under queued work");
  tap::equal(pyaclnnLiveCount("memory"), 0, "no block is left");
}

}  // namespace

int main(int argc, char **argv) {
  const struct {
    std::string_view name;
    void (*run)(World &);
  } scenarios[] = {
      {"destroyed", destroyed}, {"resets", resets},     {"contexts", contexts},
      {"repeated", repeated},   {"switches", switches}, {"memory", memory},
  };
  const std::string_view wanted = argc > 1 ? argv[1] : "";
  aclInit(nullptr);
  aclrtSetDevice(0);
  for (const auto &scenario : scenarios) {
    if (scenario.name != wanted) continue;
    watch(argc > 2 ? std::atoi(argv[2]) : 20, argv[1]);
    World world;
    scenario.run(world);
  }
  return tap::done();
}
