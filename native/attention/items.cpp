#include "attention/items.hpp"

#include "kernels/kernels.hpp"

namespace pyaclnn::attention {
namespace {

// About 30 us of one core: less is done before another thread is awake.
constexpr double kSmallFlops = 1.5e6;

}  // namespace

bool is_small(const Problem &p) {
  double dims = static_cast<double>(p.headDim + p.headDimV + p.ropeDim);
  return 2.0 * static_cast<double>(p.batch * p.heads) * static_cast<double>(p.queryMax) *
             static_cast<double>(p.prefixLen + p.keyMax) * dims <=
         kSmallFlops;
}

void run_items(bool small, int64_t items, PoolFunction fn, void *context) {
  if (!small && items > 1) {
    kernels::record_threads(pool_run(items, fn, context));
    return;
  }
  for (int64_t item = 0; item < items; ++item) fn(context, item);
}

}  // namespace pyaclnn::attention
