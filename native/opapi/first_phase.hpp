// The first phase of an operator of the attention family, from packed arguments to the executor.
#pragma once

#include <span>

#include "nnopbase/rule.hpp"
#include "opapi/attention_lowering.hpp"

namespace pyaclnn {

// All that an operator's file has to say; static data.
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

// What the first phase of every operator asks before anything else: the product in force. nullptr:
// reported, with the code to answer.
const Product *product_in_force(const char *function, int32_t *code);

// Reports that memory for the executor is exhausted and returns the code for it.
int32_t refuse_executor_memory(const char *function);

}  // namespace pyaclnn
