// The first phase of attention operators, from packed arguments to the executor, and the parts of
// it that all operators share.
#pragma once

#include <span>

#include "nnopbase/rule.hpp"
#include "opapi/attention_lowering.hpp"

namespace pyaclnn {

// The description of an attention operator; static data in its file.
struct AttentionOperator {
  const Operator &op;
  // A row per product that offers it.
  std::span<const AttentionLimits *const> limits;
  // The rules in the order in which they are asked.
  std::span<const Check<AttentionCall>> checks;
  // all_pass of the same.
  bool (*all_pass)(const AttentionCall &call);
  // The plan of the engine's problem, after all rules have passed; nullptr when memory is
  // exhausted.
  const AttentionPlan *(*lower)(const AttentionCall &call, const char *function,
                                ExecutorBuilder &builder);
};

// 0, or the code of the first rule that fails; 561000 when the libraries are a mixture of builds or
// the environment names no known product; 561101 when memory is exhausted. Outputs are written on
// success only.
aclnnStatus first_phase(const AttentionOperator &attention, const AttentionArgs &args) noexcept;

// The product in force, which the first phase of every operator needs first. nullptr after a
// refusal (unknown product, mixed libraries), whose code is in `*code`.
const Product *product_in_force(const char *function, int32_t *code);

// Reports that memory for the executor is exhausted and returns the code for it.
int32_t refuse_executor_memory(const char *function);

}  // namespace pyaclnn
