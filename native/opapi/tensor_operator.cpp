#include "opapi/tensor_operator.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "elementwise/convert.hpp"
#include "opapi/first_phase.hpp"

namespace pyaclnn::tensors {

using namespace elementwise;

aclnnStatus first_phase(const char *function, const Page &page, const Operator &op,
                        std::span<const Word> words, uint64_t *workspaceSize,
                        aclOpExecutor **executor) noexcept {
  int32_t code = 0;
  const Product *product = product_in_force(function, &code);
  if (product == nullptr) return code;
  const Call call =
      read_call(page, *product, function, words, workspaceSize != nullptr, executor != nullptr);
  const Verdict verdict = judge<Call>(function, product, call, page.checks, &code);
  if (verdict == Verdict::Refused) return code;

  ExecutorBuilder builder(op);
  if (!builder.ok()) return refuse_executor_memory(function);
  if (verdict == Verdict::Done) {
    builder.commit(nullptr, 0, workspaceSize, executor);
    return ACLNN_SUCCESS;
  }
  const void *plan = page.lower(call, builder);
  if (plan == nullptr || !builder.ok()) return refuse_executor_memory(function);
  builder.commit(plan, 0, workspaceSize, executor);
  return ACLNN_SUCCESS;
}

size_t rules_json(const char *name, const Page &page, char *buffer, size_t capacity) {
  // Shared rules say the parameter themselves; the table names all it may be.
  Text all;
  for (const Parameter &parameter : page.parameters) {
    if (!all.empty()) all << ", ";
    all << parameter.name;
  }
  RulesJson json(name, buffer, capacity);
  for (const Check &check : page.checks) {
    if (check.rule == nullptr) continue;
    Rule rule = *check.rule;
    rule.parameter = all.c_str();
    const Check named{&rule, check.code};
    json.add(std::span<const Check>(&named, 1));
  }
  return json.finish();
}

Slots bind(const Call &call, ExecutorBuilder &builder) {
  Slots slots;
  for (const bool outputs : {false, true}) {
    for (int i = 0; i < call.count(); ++i) {
      const Kind kind = call.parameter(i).kind;
      if (is_list(kind) && !outputs) {
        const auto members = call.lists[i]->elements();
        slots.first[i] =
            static_cast<uint16_t>(builder.add_list(members.data(), members.size(), false));
      } else if (is_tensor(kind) && (kind == Kind::Out) == outputs) {
        const auto *tensor = static_cast<const aclTensor *>(call.words[i].pointer);
        slots.first[i] = static_cast<uint16_t>(builder.add_tensor(tensor, is_output(kind)));
      }
    }
  }
  return slots;
}

void name_slots(const Call &call, const Slots &slots, TensorPlan &plan) {
  plan.function = call.function;
  for (int i = 0; i < call.count(); ++i) {
    if (call.tensors[i] == nullptr || call.tensors[i]->count == 0) continue;
    const int slot = slots.first[i];
    if (slot >= TensorPlan::kNamed) continue;
    plan.names[slot] = call.parameter(i).name;
    plan.named = std::max(plan.named, slot + 1);
  }
}

bool addressed(const TensorPlan &plan, std::byte *const *addresses, Text &why) {
  for (int slot = 0; slot < plan.named; ++slot) {
    if (plan.names[slot] == nullptr || addresses[slot] != nullptr) continue;
    why << plan.function << ": " << plan.names[slot]
        << ": the data address is NULL, must be device memory";
    return false;
  }
  return true;
}

int32_t out_of_host_memory(const char *function, Text &why) {
  why << function << ": host memory is exhausted";
  return kTaskFailed;
}

Source source_of(const Call &call, int parameter, std::span<const int64_t> shape,
                 const Slots &slots) {
  const Tensor &tensor = *call.tensors[parameter];
  return {.slot = slots.first[parameter], .type = type_of(tensor), .view = view_of(tensor, shape)};
}

const void *lower_elementwise(const Call &call, ExecutorBuilder &builder) {
  void *memory = builder.allocate(sizeof(ElementwisePlan));
  if (memory == nullptr) return nullptr;
  auto *plan = new (memory) ElementwisePlan;
  Problem &problem = plan->problem;
  const Page &page = *call.page;
  const Slots slots = bind(call, builder);
  name_slots(call, slots, *plan);
  const auto shape = call.tensors[call.output]->shape();
  problem.op = page.op;
  problem.common = call.common;
  int used = 0;
  for (int i = 0; i < inputs_of(page.op); ++i) {
    const int p = call.operands[i];
    if (call.tensors[p] != nullptr) {
      problem.inputs[used++] = source_of(call, p, shape, slots);
      continue;
    }
    const Scalar *scalar = call.scalars[p];
    if (scalar == nullptr) {  // one bound of a clamp
      problem.op = i == 1 ? Op::Minimum : Op::Maximum;
      continue;
    }
    // A number that is only moved keeps its own type until it is stored.
    if (page.op == Op::Move) problem.common = native_type(compute_of(type_of(scalar->dtype)));
    const bool exact = page.exact_scalars || page.op == Op::Move;
    scalar_value(*scalar, problem.common, exact, problem.inputs[used++].value);
  }
  if (page.op == Op::Clamp && used == 1) problem.op = Op::Move;
  problem.output = source_of(call, call.output, shape, slots);
  for (int i = 0; i < call.count(); ++i) {
    if (call.parameter(i).kind != Kind::Factor) continue;
    const Type type = call.common;
    std::byte one[16];
    const int32_t unit = 1;
    convert_run(&unit, Type::i32, one, native_type(compute_of(type)), 1);
    scalar_value(*call.scalars[i], type, true, problem.factor);
    problem.scaled = std::memcmp(one, problem.factor, size_of(native_type(compute_of(type)))) != 0;
  }
  // Without ones below 0 and 1, bool says what is true.
  if (problem.op == Op::BitwiseNot && problem.common == Type::b8) problem.op = Op::LogicalNot;
  settle(problem);
  return plan;
}

const void *lower_value(const Call &call, ExecutorBuilder &builder, int32_t value) {
  void *memory = builder.allocate(sizeof(ElementwisePlan));
  if (memory == nullptr) return nullptr;
  auto *plan = new (memory) ElementwisePlan;
  const Slots slots = bind(call, builder);
  name_slots(call, slots, *plan);
  Problem &problem = plan->problem;
  problem.common = Type::i32;
  std::memcpy(problem.inputs[0].value, &value, sizeof value);
  problem.output = source_of(call, call.output, call.tensors[call.output]->shape(), slots);
  settle(problem);
  return plan;
}

int32_t run_elementwise(const void *plan, std::byte *const *addresses, std::byte *, Text &why) {
  const auto &p = *static_cast<const ElementwisePlan *>(plan);
  if (!addressed(p, addresses, why)) return kTaskFailed;
  return run(p.problem, addresses) ? 0 : out_of_host_memory(p.function, why);
}

bool small_elementwise(const void *plan) {
  return estimated_ns(static_cast<const ElementwisePlan *>(plan)->problem) < kSmallNs;
}

}  // namespace pyaclnn::tensors
