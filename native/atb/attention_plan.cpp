#include "atb/attention_plan.hpp"

#include "acl/acl_base.h"
#include "attention/dtype.hpp"

namespace pyaclnn::atb {

attention::View AttentionTensors::view(size_t slot) const {
  return {.slot = place(slot), .type = attention::type_of(facts_.desc(slot)->dtype)};
}

attention::View AttentionTensors::per_head(size_t slot) const {
  attention::View v = view(slot);
  v.h = 1;
  return v;
}

attention::View AttentionTensors::output_view(size_t slot) const {
  const auto at =
      static_cast<attention::Slot>(facts_.layout.input_count + facts_.layout.output_at[slot]);
  return {.slot = at, .type = attention::type_of(facts_.out_desc(slot)->dtype)};
}

void AttentionPlan::finish(const attention::Problem &problem, const char *operation,
                           const Layout &layout) {
  for (size_t i = 0; i < layout.input_count; ++i) names_.push_back(layout.inputs[i].name);
  for (size_t i = 0; i < layout.output_count; ++i) names_.push_back(layout.outputs[i].name);
  engine_ = attention::plan(problem);
  engine_.function = operation;
  workspace = engine_.workspace;
  small = engine_.small;
}

int32_t AttentionPlan::run_engine(const attention::Plan &engine,
                                  std::span<std::byte *const> addresses, std::byte *workspace,
                                  Text &why) const {
  const attention::Outcome outcome =
      attention::run(engine, addresses.data(), addresses.size(), workspace);
  if (outcome.what == attention::Fault::Ok) return 0;
  const auto slot = static_cast<size_t>(outcome.index);
  if (outcome.what == attention::Fault::NullAddress && slot < names_.size()) {
    return null_data(names_[slot], why);
  }
  attention::describe(outcome, why);
  return ACL_ERROR_RT_AICORE_EXCEPTION;
}

}  // namespace pyaclnn::atb
