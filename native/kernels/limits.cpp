// include/pyaclnn/limits.h: the limits over the pool's threads.
#include "kernels/limits.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <mutex>

#include "pyaclnn/limits.h"
#include "support/cache.hpp"
#include "support/clock.hpp"
#include "support/pool.hpp"
#include "support/record.hpp"

namespace pyaclnn::kernels {
namespace {

std::atomic<uint64_t> sink{0};  // where results go, so that they are results

struct ReadPass {
  uint64_t (*read)(const void *from, size_t bytes);
  const void *const *buffers;
  const size_t *bytes;
  uint32_t count;
  int64_t shares;
};

void read_share(void *context, int64_t share) {
  const auto &pass = *static_cast<const ReadPass *>(context);
  uint64_t sum = 0;
  for (uint32_t i = 0; i < pass.count; ++i) {
    // Whole cache lines, but for the ends.
    auto cut = [&](int64_t n) {
      if (n == pass.shares) return pass.bytes[i];
      return pass.bytes[i] / static_cast<size_t>(pass.shares) * static_cast<size_t>(n) / 64 * 64;
    };
    size_t first = cut(share), last = cut(share + 1);
    sum ^= pass.read(static_cast<const char *>(pass.buffers[i]) + first, last - first);
  }
  sink.fetch_xor(sum, std::memory_order_relaxed);
}

struct MultiplyPass {
  float (*multiply)(double flops);
  double flops;  // of one share
};

void multiply_share(void *context, int64_t) {
  const auto &pass = *static_cast<const MultiplyPass *>(context);
  uint32_t bits = 0;
  float result = pass.multiply(pass.flops);
  std::memcpy(&bits, &result, sizeof bits);
  sink.fetch_xor(bits, std::memory_order_relaxed);
}

double timed(int64_t shares, PoolFunction fn, void *context) {
  uint64_t start = monotonic_ns();
  pool_run(shares, fn, context);
  return static_cast<double>(monotonic_ns() - start) * 1e-9;
}

double read_pass(const Limits &limits, int32_t way, const void *const *buffers, const size_t *bytes,
                 uint32_t count) {
  int64_t shares = pool_threads();
  ReadPass pass{limits.read[way], buffers, bytes, count, shares};
  return timed(shares, read_share, &pass);
}

// Four shares a thread: one that wakes late leaves its own to the others.
double multiply_pass(float (*multiply)(double), double flops) {
  int64_t shares = 4 * pool_threads();
  MultiplyPass pass{multiply, flops / static_cast<double>(shares)};
  return timed(shares, multiply_share, &pass);
}

constexpr int32_t kWays = 3;

// The best of three passes each way; the first one also wakes the threads.
double best_read(const Limits &limits, const void *buffer, size_t bytes) {
  double best = read_pass(limits, 0, &buffer, &bytes, 1);
  for (int32_t way = 0; way < kWays; ++way) {
    for (int i = 0; i < 3; ++i) best = std::min(best, read_pass(limits, way, &buffer, &bytes, 1));
  }
  return best;
}

double best_multiply(float (*multiply)(double)) {
  constexpr double kFlops = 1e8;
  double best = multiply_pass(multiply, kFlops);
  for (int i = 0; i < 10; ++i) best = std::min(best, multiply_pass(multiply, kFlops));
  return kFlops / best;
}

Rates measure() {
  const Limits &limits = active_limits();
  Rates rates{};
  rates.multiply_flops = best_multiply(limits.multiply);
  rates.dot_flops = limits.dot != nullptr ? best_multiply(limits.dot) : rates.multiply_flops;
  rates.cache = static_cast<size_t>(last_cache_bytes());
  // Twice the cache is memory, as far as that costs no more time than it adds.
  size_t bytes = std::min<size_t>(2 * rates.cache, size_t{128} << 20);
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {  // then nothing counts as slower than multiplying
    rates.cached_bytes = rates.streamed_bytes = rates.multiply_flops;
    return rates;
  }
  madvise(memory, bytes, MADV_HUGEPAGE);
  std::memset(memory, 1, bytes);
  rates.streamed_bytes = static_cast<double>(bytes) / best_read(limits, memory, bytes);
  size_t cached = std::min(rates.cache / 4, bytes);
  rates.cached_bytes = static_cast<double>(cached) / best_read(limits, memory, cached);
  munmap(memory, bytes);
  return rates;
}

int32_t refuse(const char *item_code, const Text &text) {
  return fail(ACL_ERROR_INVALID_PARAM, item_code, text);
}

}  // namespace

Rates measured_rates() noexcept {
  static std::mutex mutex;
  static const Limits *limits = nullptr;
  static int32_t threads = 0;
  static Rates rates;
  std::lock_guard lock(mutex);
  if (limits != &active_limits() || threads != pool_threads()) {
    limits = &active_limits();
    threads = pool_threads();
    rates = measure();
  }
  return rates;
}

}  // namespace pyaclnn::kernels

using namespace pyaclnn;

extern "C" aclError pyaclnnLimitRead(int32_t way, const void *const *buffers, const size_t *bytes,
                                     uint32_t count, double *seconds) {
  Text text;
  text << "pyaclnnLimitRead: ";
  if (way < 0 || way >= kernels::kWays) {
    text << "way: is " << way << ", accepted: 0 .. " << kernels::kWays - 1;
    return kernels::refuse("EH0001", text);
  }
  const char *missing = count != 0 && buffers == nullptr ? "buffers"
                        : count != 0 && bytes == nullptr ? "bytes"
                        : seconds == nullptr             ? "seconds"
                                                         : nullptr;
  if (missing != nullptr) {
    text << missing << ": is NULL, a pointer is required";
    return kernels::refuse("EH0002", text);
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (buffers[i] != nullptr || bytes[i] == 0) continue;
    text << "buffers[" << i << "]: is NULL, an address is required for its " << bytes[i]
         << " bytes";
    return kernels::refuse("EH0002", text);
  }
  *seconds = kernels::read_pass(kernels::active_limits(), way, buffers, bytes, count);
  return 0;
}

extern "C" aclError pyaclnnLimitMultiply(int32_t kind, double flops, double *seconds) {
  Text text;
  text << "pyaclnnLimitMultiply: ";
  if (seconds == nullptr) {
    text << "seconds: is NULL, a pointer is required";
    return kernels::refuse("EH0002", text);
  }
  if (kind != PYACLNN_LIMIT_FLOAT32 && kind != PYACLNN_LIMIT_BF16_DOT) {
    text << "kind: is " << kind << ", accepted: 0 float32, 1 bf16 dot product";
    return kernels::refuse("EH0001", text);
  }
  if (!(flops > 0 && flops <= 1e15)) {
    text << "flops: is " << flops << ", must be above 0 and at most 1e15";
    return kernels::refuse("EH0001", text);
  }
  const kernels::Limits &limits = kernels::active_limits();
  auto *multiply = kind == PYACLNN_LIMIT_FLOAT32 ? limits.multiply : limits.dot;
  if (multiply == nullptr) {
    text << "kind: is 1, the kernel level in force has no bf16 dot product";
    return kernels::refuse("EH0007", text);
  }
  *seconds = kernels::multiply_pass(multiply, flops);
  return 0;
}
