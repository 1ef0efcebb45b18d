#include "attention/engine.hpp"

#include "attention/blocks.hpp"
#include "attention/items.hpp"
#include "attention/device_data.hpp"
#include "attention/output.hpp"
#include "attention/profile.hpp"
#include "attention/reference.hpp"
#include "kernels/kernels.hpp"
#include "support/env.hpp"

namespace pyaclnn::attention {
namespace {

Outcome compute(const Plan &plan, Addresses addresses, std::byte *workspace) {
  const Problem &p = plan.problem;
  const kernels::Kernels *level = kernels::active();
  if (level == nullptr || !plan.blocks) {
    kernels::record_run("reference", p.batch * p.heads);
    return run_reference(p, addresses);
  }
  Outcome outcome = check_device_data(p, addresses);
  if (outcome.what != Fault::Ok) return outcome;
  kernels::record_run(level->name, block_items(plan));
  store_outside(p, addresses);
  if (!run_blocks(plan, addresses, workspace, *level)) outcome.what = Fault::Memory;
  return outcome;
}

}  // namespace

Plan plan(const Problem &problem) noexcept {
  Plan plan;
  plan.problem = problem;
  plan.profile = env().profile;
  plan.small = is_small(problem);
  plan_blocks(plan);
  return plan;
}

Outcome run(const Plan &plan, std::byte *const *bases, size_t count,
            std::byte *workspace) noexcept {
  const Addresses addresses{bases, count};
  if (!plan.profile) return compute(plan, addresses, workspace);
  uint64_t start = profile_start();
  Outcome outcome = compute(plan, addresses, workspace);
  if (outcome.what == Fault::Ok) profile_end(plan, addresses, start);
  return outcome;
}

void describe(const Outcome &outcome, Text &text) {
  switch (outcome.what) {
    case Fault::Ok: return;
    case Fault::NullAddress:
      text << "the data address of tensor " << outcome.index << " of the call is null";
      return;
    case Fault::Block:
      text << "block table entry [row " << outcome.batch << ", column " << outcome.index << "]";
      break;
    case Fault::QueryLength: text << "query length of batch " << outcome.batch; break;
    case Fault::KeyLength: text << "key length of batch " << outcome.batch; break;
    case Fault::Layer: text << "layer index"; break;
    case Fault::MaskIndex:
      text << "the mask element that batch " << outcome.batch << " needs in row " << outcome.index;
      break;
    case Fault::Memory: text << "memory is exhausted"; return;
  }
  text << " is " << outcome.value;
  if (outcome.limit <= 0) {
    text << ", no value is valid";
  } else {
    text << ", valid are 0 .. " << outcome.limit - 1;
  }
}

}  // namespace pyaclnn::attention
