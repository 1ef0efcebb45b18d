// Helpers for lowering an attention call to the engine's Problem, and the task that runs the plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <array>
#include <span>

#include "attention/dtype.hpp"
#include "attention/engine.hpp"
#include "nnopbase/executor.hpp"
#include "opapi/attention_call.hpp"

namespace pyaclnn {

using attention::type_of;

// The stride of an axis; 0 where it can never matter (one position, or no elements at all), because
// a caller may have left anything there.
int64_t stride_of(const Tensor &tensor, uint32_t axis);

// A query, key, value or cache tensor as (b, s, h, d); headDim splits the H axis of BSH.
attention::View view_of(const Tensor &tensor, attention::Slot slot, Layout layout, int64_t headDim);

bool is_contiguous(const Tensor &tensor);

// A parameter of the operator definition, in its order: a tensor, a list, or a place that holds no
// device data (both null).
struct Parameter {
  const char *name;
  TensorFact AttentionCall::*tensor = nullptr;
  ListFact AttentionCall::*list = nullptr;
  bool output = false;
};

inline constexpr size_t kMostParameters = 32;
inline constexpr size_t kMostGathers = 8;
// Two lists of the most members, every other parameter once, and the gathered copies.
inline constexpr size_t kMostSlots = 2 * kMostListMembers + kMostParameters + kMostGathers;

// Small tensors that the engine wants contiguous (masks by flat index, scales, tables) but the
// caller passed strided are copied at the start of the task, as the device's framework does.
struct Gather {
  attention::Slot from, to;
  uint32_t element_bytes, rank;
  uint64_t workspace_offset;
  int64_t count;
  int64_t dims[kMaxRank], stride[kMaxRank];
};

// What an attention executor holds.
struct AttentionPlan {
  attention::Plan engine;
  std::span<const Gather> gathers;
  std::span<const Parameter> parameters;
  const char *function;                         // names the version in texts
  uint16_t slots;                               // bindings plus gathers
  std::array<uint16_t, kMostParameters> first;  // first binding of each parameter, or of the next
};

// Binds the parameters and turns tensors into views. Its memory comes from the builder.
class AttentionLowering {
 public:
  AttentionLowering(const AttentionCall &call, std::span<const Parameter> parameters,
                    const char *function, ExecutorBuilder &builder);

  attention::Slot slot(size_t parameter) const { return first_[parameter]; }
  // The slot of a tensor that the engine reads by flat index; a strided one is gathered first.
  attention::Slot flat(const Tensor &tensor, size_t parameter);
  // The slot of a copy of element 0, made when the task begins: a value that decides where the task
  // reads must not change while it runs.
  attention::Slot first_element(const Tensor &tensor, size_t parameter);
  // One view per member in use; empty when memory is exhausted.
  std::span<const attention::View> views(const ListFact &list, size_t parameter);
  // count host lengths, the b-th given by length(b); false when memory is exhausted.
  template <class Length>
  bool host_lengths(size_t count, Length length, attention::Lengths *lengths) {
    auto *copy = static_cast<int64_t *>(builder_.allocate(count * sizeof(int64_t)));
    if (copy == nullptr) return false;
    for (size_t b = 0; b < count; ++b) copy[b] = length(b);
    lengths->from = attention::Lengths::Host;
    lengths->host = {copy, count};
    return true;
  }
  // Plans the problem and places the gathered copies behind the engine's workspace; nullptr when
  // memory is exhausted.
  const AttentionPlan *finish(const attention::Problem &problem);

 private:
  Gather &add_gather(const Tensor &tensor, size_t parameter);

  const AttentionCall &call_;
  std::span<const Parameter> parameters_;
  const char *function_;
  ExecutorBuilder &builder_;
  uint16_t slots_ = 0;
  std::array<uint16_t, kMostParameters> first_ = {};
  Gather pending_[kMostGathers];  // the first `gathers_` are set
  size_t gathers_ = 0;
};

// Operator::run and Operator::small of an operator whose plan is an AttentionPlan.
int32_t run_attention(const void *plan, std::byte *const *addresses, std::byte *workspace,
                      Text &why);
bool small_attention(const void *plan);

}  // namespace pyaclnn
