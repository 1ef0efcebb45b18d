// A plan that the attention engine runs.
#pragma once

#include <memory>
#include <vector>

#include "atb/facts.hpp"
#include "atb/plan.hpp"
#include "attention/engine.hpp"

namespace pyaclnn::atb {

// Of masks that hold 1 where a key does not count.
inline constexpr float kMaskFactor = -3e38f;

// The tensors of a call in the engine's words; strides are the operation's to set. For a call that
// has passed all checks.
class AttentionTensors {
 public:
  explicit AttentionTensors(const Facts &facts) : facts_(facts) {}
  attention::Slot place(size_t slot) const {
    return static_cast<attention::Slot>(facts_.layout.input_at[slot]);
  }
  attention::View view(size_t slot) const;
  // A value for each head of the query.
  attention::View per_head(size_t slot) const;
  attention::View output_view(size_t slot) const;

 private:
  const Facts &facts_;
};

// Slots of the problem are the indices of Plan::collect: as it comes, the places of the inputs,
// then those of the outputs.
class AttentionPlan : public Plan {
 public:
  // Host arrays that spans of the problem point to live as long as the plan.
  template <class T>
  std::span<const T> keep(std::vector<T> values) {
    auto kept = std::make_shared<const std::vector<T>>(std::move(values));
    arrays_.push_back(kept);
    return {kept->data(), kept->size()};
  }
  // Plans the problem; once, after all arrays are kept.
  void finish(const attention::Problem &problem, const char *operation, const Layout &layout);

  int32_t run(std::span<std::byte *const> addresses, std::byte *workspace,
              Text &why) const override {
    return run_engine(engine_, addresses, workspace, why);
  }

 protected:
  const attention::Plan &engine() const { return engine_; }
  // Runs the plan, or a copy of it that knows more about the task.
  int32_t run_engine(const attention::Plan &engine, std::span<std::byte *const> addresses,
                     std::byte *workspace, Text &why) const;

 private:
  attention::Plan engine_;
  std::vector<const char *> names_;  // of the tensors, by slot
  std::vector<std::shared_ptr<const void>> arrays_;
};

}  // namespace pyaclnn::atb
