#include "opapi/first_phase.hpp"

#include "acl/build_guard.hpp"  // in one file of each library: compares builds when it is loaded
#include "aclnn/opdev/op_errno.h"
#include "product/product.hpp"
#include "support/record.hpp"

namespace pyaclnn {
namespace {

int32_t refuse_whole(const char *function, int32_t code, const char *why) {
  Text text;
  text << function << ": " << why;
  queue_error(item_code_of_status(code), text);
  return code;
}

const AttentionLimits *limits_of(std::span<const AttentionLimits *const> rows,
                                 const Product &product) {
  for (const AttentionLimits *row : rows) {
    if (row->product == product.id) return row;
  }
  return nullptr;
}

}  // namespace

const Product *product_in_force(const char *function, int32_t *code) {
  if (build_mixture()) {
    *code =
        refuse_whole(function, ACLNN_ERR_INNER,
                     "libraries of different builds are loaded together; one installation must be "
                     "the only one on the library search path");
    return nullptr;
  }
  const Product *product = current_product();
  if (product == nullptr) *code = refuse_whole(function, ACLNN_ERR_INNER, product_error());
  return product;
}

int32_t refuse_executor_memory(const char *function) {
  return refuse_whole(function, ACLNN_ERR_INNER_CREATE_EXECUTOR,
                      "host memory for the executor is exhausted");
}

aclnnStatus first_phase(const AttentionOperator &attention, const AttentionArgs &args) noexcept {
  int32_t code = 0;
  const Product *product = product_in_force(args.function, &code);
  if (product == nullptr) return code;

  AttentionCall call = read_call(args, *product, limits_of(attention.limits, *product));
  Verdict verdict = Verdict::Pass;
  if (!attention.all_pass(call)) {
    verdict = judge<AttentionCall>(args.function, product, call, attention.checks, &code);
  }
  if (verdict == Verdict::Refused) return code;

  ExecutorBuilder builder(attention.op);
  if (!builder.ok()) return refuse_executor_memory(args.function);
  if (verdict == Verdict::Done) {  // an empty output: nothing to do
    builder.commit(nullptr, 0, args.workspaceSize, args.executor);
    return ACLNN_SUCCESS;
  }
  const AttentionPlan *plan = attention.lower(call, args.function, builder);
  if (plan == nullptr || !builder.ok()) return refuse_executor_memory(args.function);
  builder.commit(plan, plan->engine.workspace, args.workspaceSize, args.executor);
  return ACLNN_SUCCESS;
}

}  // namespace pyaclnn
