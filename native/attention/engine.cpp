#include "attention/engine.hpp"

#include "attention/blocks.hpp"
#include "attention/geometry.hpp"
#include "kernels/kernels.hpp"
#include "support/pool.hpp"

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

Plan plan(const Problem &problem) noexcept {
  Plan plan;
  plan.problem = problem;
  plan.small = is_small(problem);
  plan_blocks(plan);
  return plan;
}

Outcome run(const Plan &plan, std::span<std::byte *const> addresses,
            std::byte *workspace) noexcept {
  const Problem &p = plan.problem;
  const kernels::Kernels *level = kernels::active();
  if (level == nullptr || !plan.blocks) {
    kernels::record_run("reference", p.batch * p.heads);
    return run_reference(p, addresses);
  }
  Outcome outcome = check_late(p, addresses);
  if (outcome.what != Late::Ok) return outcome;
  kernels::record_run(level->name, block_items(plan));
  store_outside(p, addresses);
  if (!run_blocks(plan, addresses, workspace, *level)) outcome.what = Late::Memory;
  return outcome;
}

void describe(const Outcome &outcome, Text &text) {
  switch (outcome.what) {
    case Late::Ok: text << "no fault"; return;
    case Late::NullAddress:
      text << "the data address of tensor " << outcome.index << " of the call is null";
      return;
    case Late::Block:
      text << "block table entry [batch " << outcome.batch << ", column " << outcome.index << "]";
      break;
    case Late::QueryLength: text << "query length of batch " << outcome.batch; break;
    case Late::KeyLength: text << "key length of batch " << outcome.batch; break;
    case Late::Layer: text << "layer index"; break;
    case Late::MaskIndex:
      text << "the mask element that batch " << outcome.batch << " needs in row " << outcome.index;
      break;
    case Late::Memory: text << "memory is exhausted"; return;
  }
  text << " is " << outcome.value;
  if (outcome.limit <= 0) {
    text << ", no value is valid";
  } else {
    text << ", valid are 0 .. " << outcome.limit - 1;
  }
}

}  // namespace pyaclnn::attention
