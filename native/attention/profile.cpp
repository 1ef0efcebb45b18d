#include "attention/profile.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "kernels/kernels.hpp"
#include "kernels/limits.hpp"
#include "support/clock.hpp"
#include "support/log.hpp"

namespace pyaclnn::attention {
namespace {

const char *name_of(Type type) {
  static const char *const kNames[] = {"f16", "bf16", "f32", "i8", "u8", "i4", "i32", "i64"};
  return kNames[static_cast<size_t>(type)];
}

// What the visible keys of all query rows cost.
struct Work {
  double bytes = 0;  // of keys and values, read once for each batch
  double flops = 0;
  int64_t queries = 0, keys = 0;  // the longest
};

Work work_of(const Problem &p, Addresses addresses) {
  double row_flops = 2.0 * static_cast<double>(p.headDim + p.ropeDim + p.headDimV);
  Work work;
  // Heads that share their keys.
  const int64_t heads = p.heads / key_heads(p), kv_heads = p.kvHeads / key_heads(p);
  for (int64_t entry = 0; entry < p.batch * key_heads(p); ++entry) {
    Batch batch = batch_of(p, addresses, entry / key_heads(p), entry % key_heads(p));
    if (!batch.run || batch.queries == 0) continue;
    int64_t pairs = 0, first = batch.keys, last = 0;
    for (int64_t i = 0; i < batch.queries; ++i) {
      Range range = visible_range(p, batch, i);
      if (range.first >= range.last) continue;
      pairs += range.last - range.first;
      first = std::min(first, range.first);
      last = std::max(last, range.last);
    }
    work.bytes += static_cast<double>(std::max<int64_t>(last - first, 0) * kv_heads) * key_bytes(p);
    work.flops += static_cast<double>(pairs * heads) * row_flops;
    work.queries = std::max(work.queries, batch.queries);
    work.keys = std::max(work.keys, batch.keys);
  }
  return work;
}

Text &operator<<(Text &text, const Work &work) {
  if (work.queries != 1) text << " Q" << work.queries;
  return text << " S" << work.keys;
}

}  // namespace

uint64_t profile_start() noexcept {
  kernels::measured_rates();
  return monotonic_ns();
}

void profile_end(const Plan &plan, Addresses addresses, uint64_t start) noexcept {
  double seconds = static_cast<double>(monotonic_ns() - start) * 1e-9;
  const Problem &p = plan.problem;
  const Type k = key_type(p);
  const Work work = work_of(p, addresses);
  const kernels::Run &run = kernels::run_of_thread();
  const kernels::Rates rates = kernels::measured_rates();
  double bytes_rate =
      work.bytes <= static_cast<double>(rates.cache) ? rates.cached_bytes : rates.streamed_bytes;
  double read = work.bytes / bytes_rate;
  double multiply = work.flops / (k == Type::bf16 && p.q.type == Type::bf16 ? rates.dot_flops
                                                                            : rates.multiply_flops);

  Text line;
  line << plan.function << ": B" << p.batch << " H" << p.heads << '/' << p.kvHeads << work << " D"
       << p.headDim;
  if (p.headDimV != p.headDim) line << '/' << p.headDimV;
  if (p.ropeDim != 0) line << '+' << p.ropeDim;
  line << ' ' << name_of(p.q.type);
  if (k != p.q.type) line << " keys " << name_of(k);
  if (p.cache.form == Cache::Paged) line << " paged " << p.cache.blockSize;
  bool reference = std::strcmp(run.level, "reference") == 0;
  line << ", "
       << (reference    ? "reference"
           : plan.split ? "blocks by splits"
                        : "blocks by rows")
       << " of " << run.items << " items, " << run.level << ", " << run.threads
       << (run.threads == 1 ? " thread, " : " threads, ");
  char numbers[128];
  int size = std::snprintf(
      numbers, sizeof numbers, "%.3f ms, %.1f GB/s, %.1f GFLOP/s, %.0f %% of the limit (%s)",
      seconds * 1e3, work.bytes / seconds * 1e-9, work.flops / seconds * 1e-9,
      std::max(read, multiply) / seconds * 100, read >= multiply ? "reading" : "multiplying");
  line << std::string_view(numbers, static_cast<size_t>(size));
  profile_line(line);
}

}  // namespace pyaclnn::attention
