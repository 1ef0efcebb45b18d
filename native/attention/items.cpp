#include "attention/items.hpp"

#include "attention/geometry.hpp"

namespace pyaclnn::attention {
namespace {

// What one core does in a microsecond: multiply-adds of converted values, and reading keys and
// values while it converts them. The sum of both times is within 15 % of what decode takes.
constexpr double kFlopsPerUs = 1e5, kBytesPerUs = 6e4;
// A sleeping thread comes 15 to 50 us after it was called.
constexpr double kSmallUs = 30;

}  // namespace

bool is_small(const Problem &p) {
  const double keys = static_cast<double>(p.prefixLen + p.keyMax);
  const double dims = static_cast<double>(p.headDim + p.headDimV + p.ropeDim);
  const double rows = static_cast<double>(p.batch * p.heads) * static_cast<double>(p.queryMax);
  const double flops = 2 * rows * keys * dims;
  const double bytes = static_cast<double>(p.batch * p.kvHeads) * keys * key_bytes(p);
  return flops / kFlopsPerUs + bytes / kBytesPerUs <= kSmallUs;
}

int32_t run_items(bool small, int64_t items, PoolFunction fn, void *context) {
  if (!small && items > 1) return pool_run(items, fn, context);
  for (int64_t item = 0; item < items; ++item) fn(context, item);
  return 1;
}

}  // namespace pyaclnn::attention
