// Operations: what an operation's file has to say (Definition), and the steps around it.
#pragma once

#include <memory>
#include <new>
#include <span>
#include <vector>

#include "atb/infer_op_params.h"
#include "atb/objects.hpp"
#include "atb/plan.hpp"
#include "atb/rules.hpp"
#include "nnopbase/executor.hpp"

namespace pyaclnn {
struct Task;
}

namespace pyaclnn::atb {

namespace infer = ::atb::infer;

// ---- what an operation's file says

// What a product offers; operations add their own members. A row per product.
struct Row {
  ProductId product;
  bool offered = true;
};

// The call that the rules of an operation look at; operations may derive from it and keep facts
// that several rules need.
template <class P, class L>
struct OperationCall : Facts {
  using Param = P;
  using Limits = L;
  OperationCall(const Facts &facts, const P &its_param, const L &its_limits)
      : Facts(facts), param(its_param), limits(its_limits) {}
  const P &param;
  const L &limits;
};

// A tensor of the definition. Predicates look at parameter and product only.
template <class Call>
struct Slot {
  const char *name;
  bool (*present)(const Call &) = nullptr;  // nullptr: always
  bool (*host)(const Call &) = nullptr;     // its values are read on the host; nullptr: never
  int in_place_of = -1;                     // output: the slot of the input that it is
  // Input: the operation writes into it, though it is no output's; nullptr: never.
  bool (*written)(const Call &) = nullptr;
  bool (*list)(const Call &) = nullptr;  // its hostData may be a list of tensors; nullptr: never
  const char *bytes = nullptr;           // input: what to say to one who gives it BOOL or INT8
};

template <class Call>
struct SignatureGroup {
  bool (*when)(const Call &);  // nullptr: always; the first that holds is in force, without one
                               // dtypes and formats go unchecked
  std::span<const Signature> rows;
};

template <class Call>
struct Definition {
  const char *name;
  std::span<const typename Call::Limits> limits;
  std::span<const Slot<Call>> inputs, outputs;
  std::span<const SignatureGroup<Call>> signatures;
  // The paths: kCreatePath, kInferPath and kSetupPath of rules.hpp around the operation's own
  // checks.
  std::span<const Check<Call>> create, infer, setup;
  // What the device finds out while it plans, so Setup succeeds and Execute refuses.
  std::span<const Check<Call>> execute = {};
  // The descriptions of the outputs, by place; everything has been checked.
  void (*describe)(const Call &, SVector<TensorDesc> &outputs);
  // The plan of a call that has passed all checks.
  std::unique_ptr<Plan> (*lower)(const Call &);
};

// Rules about every parameter, to be put where the operation asks them.
template <class Call>
inline constexpr Rule<Call> kReserved{"ATB-RESERVED", "rsv", nullptr,
                                      [](const Call &c) {
                                        for (uint8_t byte : c.param.rsv) {
                                          if (byte != 0) return false;
                                        }
                                        return true;
                                      },
                                      [](const Call &, Saying &s) {
                                        s.value << "holds bytes that are not 0";
                                        s.limit << "all reserved bytes must be 0";
                                      }};
inline constexpr char kNotOffered[] =
    "the operation is not offered on it; choose another product with PYACLNN_PRODUCT or "
    "pyaclnnSetProduct";
template <class Call>
inline constexpr Rule<Call> kOffered{"ATB-PRODUCT", "product", nullptr,
                                     [](const Call &c) { return c.limits.offered; },
                                     [](const Call &c, Saying &s) {
                                       s.value << c.product.title;
                                       s.limit << kNotOffered;
                                     }};

// The description that the first output of a call must have, `describe` being its Definition's.
template <class Call>
TensorDesc first_output(const Call &c, void (*describe)(const Call &, SVector<TensorDesc> &)) {
  SVector<TensorDesc> outputs;
  outputs.resize(c.layout.output_count);
  describe(c, outputs);
  return outputs[0];
}

// ---- the steps

inline constexpr char kCreateStep[] = "CreateOperation", kInferStep[] = "InferShape",
                      kSetupStep[] = "Setup", kExecuteStep[] = "Execute";

// A refusal that Setup has found and Execute answers.
struct DeferredRefusal {
  const char *rule;
  int32_t code;
  Saying saying;
};

struct Prepared {
  std::shared_ptr<const Plan> plan;
  std::unique_ptr<DeferredRefusal> late;  // instead of a plan
};

class OperationBase : public ::atb::Operation {
 public:
  OperationBase(const char *name, const Product &product) : product_(product), name_(name) {}
  ~OperationBase() override;
  static void *operator new(size_t bytes) { return take_object(bytes); }
  static void operator delete(void *object) noexcept { return_object(object); }
  std::string GetName() const final { return name_; }
  Status InferShape(const SVector<TensorDesc> &inTensorDescs,
                    SVector<TensorDesc> &outTensorDescs) const final;
  uint32_t GetInputNum() const final { return layout_.input_count; }
  uint32_t GetOutputNum() const final { return layout_.output_count; }
  Status Setup(const VariantPack &variantPack, uint64_t &workspaceSize, Context *context) final;
  Status Execute(const VariantPack &variantPack, uint8_t *workspace, uint64_t workspaceSize,
                 Context *context) final;
  const char *name() const { return name_; }
  const Layout &layout() const { return layout_; }

  uint32_t stream_id = 0;

 protected:
  // The steps of an operation, checks included; both answer what the step answers.
  virtual Status infer(const Facts &facts, SVector<TensorDesc> &outputs) const = 0;
  virtual Status setup(const Facts &facts, Prepared &prepared) const = 0;

  const Product &product_;
  Layout layout_;

 private:
  Status execute(const VariantPack &pack, uint8_t *workspace, uint64_t size, Context *context);
  void drop_pending();

  const char *const name_;
  bool set_up_ = false;
  Context *context_ = nullptr;  // of Setup, only compared
  Prepared prepared_;
  uint64_t workspace_ = 0;
  std::vector<Tensor> given_;  // of Setup, inputs then outputs
  bool fixed_ = false;         // an execution in graph mode has fixed their descriptions
  Task *pending_ = nullptr;    // prepared by EXECUTE_PRELAUNCH
};

void log_late(const char *name, const Product &product, const DeferredRefusal &late);

template <class Call>
class OperationOf final : public OperationBase {
 public:
  using Param = typename Call::Param;
  using Limits = typename Call::Limits;
  OperationOf(const Definition<Call> &definition, const Product &product, const Limits &limits,
              const Param &param)
      : OperationBase(definition.name, product),
        definition_(definition),
        limits_(limits),
        param_(param) {
    const Call call(Facts(layout_, product), param_, limits_);
    layout_.input_count = place(call, definition.inputs, layout_.inputs, layout_.input_at);
    layout_.output_count = place(call, definition.outputs, layout_.outputs, layout_.output_at);
    for (const SignatureGroup<Call> &group : definition.signatures) {
      if (group.when != nullptr && !group.when(call)) continue;
      layout_.checked = true;
      layout_.signatures = group.rows;
      break;
    }
  }

 protected:
  Status infer(const Facts &facts, SVector<TensorDesc> &outputs) const override {
    const Call call(facts, param_, limits_);
    int32_t code = 0;
    if (judge<Call>(definition_.name, &product_, call, definition_.infer, &code, kInferStep) ==
        Verdict::Refused) {
      return code;
    }
    outputs.resize(layout_.output_count);
    definition_.describe(call, outputs);
    return ::atb::NO_ERROR;
  }

  Status setup(const Facts &facts, Prepared &prepared) const override {
    const Call call(facts, param_, limits_);
    int32_t code = 0;
    if (judge<Call>(definition_.name, &product_, call, definition_.setup, &code, kSetupStep) ==
        Verdict::Refused) {
      return code;
    }
    if (const Check<Call> *check = first_failure<Call>(call, definition_.execute)) {
      prepared.late = std::make_unique<DeferredRefusal>(
          DeferredRefusal{check->rule->id, check->code, said(*check->rule, call)});
      log_late(definition_.name, product_, *prepared.late);
    } else {
      prepared.plan = definition_.lower(call);
    }
    return ::atb::NO_ERROR;
  }

 private:
  uint8_t place(const Call &call, std::span<const Slot<Call>> slots, Place *places, int8_t *at) {
    int8_t count = 0;
    for (size_t i = 0; i < slots.size(); ++i) {
      const Slot<Call> &slot = slots[i];
      at[i] = slot.present == nullptr || slot.present(call) ? count : int8_t{-1};
      if (at[i] < 0) continue;
      // Inputs are placed first, so an output finds its own.
      const int8_t input = slot.in_place_of >= 0 ? layout_.input_at[slot.in_place_of] : int8_t{-1};
      if (input >= 0) layout_.inputs[input].written = true;
      places[count++] = {slot.name,
                         slot.host != nullptr && slot.host(call),
                         input,
                         slot.written != nullptr && slot.written(call),
                         slot.list != nullptr && slot.list(call),
                         slot.bytes};
    }
    return static_cast<uint8_t>(count);
  }

  const Definition<Call> &definition_;
  const Limits &limits_;
  const Param param_;
};

// The product in force, or nullptr after a refusal (unknown product, mixed libraries).
const Product *product_of(const char *name) noexcept;
// Refuses an operation of a product without a row.
Status refuse_product(const char *name, const Product &product) noexcept;
// Refuses for want of memory, or for what else was thrown.
Status refuse_exception(const char *name, const char *step, const Product &product,
                        const std::exception &error,
                        int32_t code = ::atb::ERROR_OUT_OF_HOST_MEMORY) noexcept;

// CreateOperation of every parameter.
template <class Call>
Status create(const Definition<Call> &definition, const typename Call::Param &param,
              ::atb::Operation **operation) noexcept {
  const Product *product = product_of(definition.name);
  if (product == nullptr) return ::atb::ERROR_CANN_ERROR;
  const typename Call::Limits *limits = nullptr;
  for (const typename Call::Limits &row : definition.limits) {
    if (row.product == product->id) limits = &row;
  }
  if (limits == nullptr) return refuse_product(definition.name, *product);
  try {
    static constexpr Layout kNoTensors{};
    Facts facts(kNoTensors, *product);
    facts.operation_given = operation != nullptr;
    const Call call(facts, param, *limits);
    int32_t code = 0;
    if (judge<Call>(definition.name, product, call, definition.create, &code, kCreateStep) ==
        Verdict::Refused) {
      return code;
    }
    *operation = new OperationOf<Call>(definition, *product, *limits, param);
    return ::atb::NO_ERROR;
  } catch (const std::exception &error) {
    return refuse_exception(definition.name, kCreateStep, *product, error);
  }
}

void add_execute_rules(RulesJson &json);

// Lists an operation for pyaclnnRulesJson; a static object in its file.
template <const auto &kDefinition>
struct Registration {
  Registration() { RegisterOperator{&op}; }
  static size_t rules(char *buffer, size_t capacity) {
    RulesJson json(kDefinition.name, buffer, capacity);
    json.add(kDefinition.create, kCreateStep);
    json.add(kDefinition.infer, kInferStep);
    json.add(kDefinition.setup, kSetupStep);
    add_execute_rules(json);
    json.add(kDefinition.execute, kExecuteStep);
    return json.finish();
  }
  Operator op{.name = kDefinition.name, .run = nullptr, .small = nullptr, .rules_json = rules};
};

}  // namespace pyaclnn::atb
