#include "atb/attention_plan.hpp"

#include "acl/acl_base.h"

namespace pyaclnn::atb {

void AttentionPlan::finish(const attention::Problem &problem, const char *operation) {
  engine_ = attention::plan(problem);
  engine_.function = operation;
  workspace = engine_.workspace;
  small = engine_.small;
}

int32_t AttentionPlan::run(std::span<std::byte *const> addresses, std::byte *workspace,
                           Text &why) const {
  const attention::Outcome outcome =
      attention::run(engine_, addresses.data(), addresses.size(), workspace);
  if (outcome.what == attention::Late::Ok) return 0;
  attention::describe(outcome, why);
  return ACL_ERROR_RT_AICORE_EXCEPTION;
}

}  // namespace pyaclnn::atb
