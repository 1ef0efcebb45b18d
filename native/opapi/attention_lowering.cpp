#include "opapi/attention_lowering.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>

namespace pyaclnn {

using attention::Slot;
using attention::View;

int64_t stride_of(const Tensor &t, uint32_t axis) {
  return t.dims[axis] == 1 || t.count == 0 ? 0 : t.stride[axis];
}

View view_of(const Tensor &t, Slot slot, Layout layout, int64_t headDim) {
  View v{.slot = slot, .type = type_of(t.dtype)};
  if (t.count == 0) {
    v.d = 1;  // no element is apart from another
    return v;
  }
  auto stride = [&t](uint32_t axis) { return t.dims[axis] == 1 ? 0 : t.stride[axis]; };
  v.b = stride(0);
  if (t.rank == 3) {
    v.s = stride(1);
    v.d = stride(2);
    v.h = headDim * v.d;
  } else {
    bool heads_first = layout == Layout::BNSD;
    v.h = stride(heads_first ? 1 : 2);
    v.s = stride(heads_first ? 2 : 1);
    v.d = stride(3);
  }
  return v;
}

bool is_contiguous(const Tensor &t) {
  int64_t expected = 1;
  for (uint32_t i = t.rank; i-- > 0;) {
    if (t.dims[i] != 1 && t.stride[i] != expected) return false;
    expected *= t.dims[i];
  }
  return true;
}

AttentionLowering::AttentionLowering(const AttentionCall &call,
                                     std::span<const Parameter> parameters, const char *function,
                                     ExecutorBuilder &builder)
    : call_(call), parameters_(parameters), function_(function), builder_(builder) {
  assert(parameters.size() <= kMostParameters);
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Parameter &parameter = parameters[i];
    first_[i] = slots_;
    if (parameter.list != nullptr) {
      auto members = (call.*parameter.list).list->elements();
      builder.add_list(members.data(), members.size(), parameter.output);
      slots_ = static_cast<uint16_t>(slots_ + members.size());
    } else if (parameter.tensor != nullptr && (call.*parameter.tensor).given()) {
      builder.add_tensor((call.*parameter.tensor).handle, parameter.output);
      ++slots_;
    }
  }
}

Gather &AttentionLowering::add_gather(const Tensor &t, size_t parameter) {
  assert(gathers_ < kMostGathers);
  Gather &g = pending_[gathers_++];
  g.from = slot(parameter);
  g.to = static_cast<Slot>(slots_++);
  g.element_bytes = static_cast<uint32_t>(aclDataTypeSize(t.dtype));
  return g;
}

Slot AttentionLowering::flat(const Tensor &t, size_t parameter) {
  if (is_contiguous(t)) return slot(parameter);
  Gather &g = add_gather(t, parameter);
  g.rank = t.rank;
  g.count = t.count;
  std::copy(t.dims, t.dims + t.rank, g.dims);
  std::copy(t.stride, t.stride + t.rank, g.stride);
  return g.to;
}

Slot AttentionLowering::first_element(const Tensor &t, size_t parameter) {
  Gather &g = add_gather(t, parameter);
  g.rank = 0;
  g.count = 1;
  return g.to;
}

std::span<const View> AttentionLowering::views(const ListFact &list, size_t parameter) {
  size_t count = static_cast<size_t>(call_.members);
  View *out = static_cast<View *>(builder_.allocate(count * sizeof(View)));
  if (out == nullptr) return {};
  for (size_t i = 0; i < count; ++i) {
    out[i] =
        view_of(*list.at(i), static_cast<Slot>(slot(parameter) + i), call_.layout, call_.headDim);
  }
  return {out, count};
}

const AttentionPlan *AttentionLowering::finish(const attention::Problem &problem) {
  void *memory = builder_.allocate(sizeof(AttentionPlan));
  if (memory == nullptr) return nullptr;
  auto *plan = new (memory)
      AttentionPlan{attention::plan(problem), {}, parameters_, function_, slots_, first_};
  plan->engine.function = function_;
  if (gathers_ == 0) return plan;
  auto *gathers = static_cast<Gather *>(builder_.allocate(gathers_ * sizeof(Gather)));
  if (gathers == nullptr) return nullptr;
  uint64_t offset = (plan->engine.workspace + 63) / 64 * 64;
  for (size_t i = 0; i < gathers_; ++i) {
    gathers[i] = pending_[i];
    gathers[i].workspace_offset = offset;
    offset += (static_cast<uint64_t>(gathers[i].count) * gathers[i].element_bytes + 63) / 64 * 64;
  }
  plan->gathers = {gathers, gathers_};
  plan->engine.workspace = offset;
  return plan;
}

// ---- the task

namespace {

void gather(const Gather &g, const std::byte *from, std::byte *to) {
  int64_t index[kMaxRank] = {};
  for (int64_t i = 0; i < g.count; ++i) {
    int64_t element = 0;
    for (uint32_t d = 0; d < g.rank; ++d) element += index[d] * g.stride[d];
    std::memcpy(to + i * g.element_bytes, from + element * g.element_bytes, g.element_bytes);
    for (uint32_t d = g.rank; d-- > 0;) {
      if (++index[d] < g.dims[d]) break;
      index[d] = 0;
    }
  }
}

int32_t null_address(const AttentionPlan &plan, int64_t slot, Text &why) {
  for (const Gather &g : plan.gathers) {
    if (g.to == slot) slot = g.from;
  }
  size_t parameter = 0;
  while (parameter + 1 < plan.parameters.size() && plan.first[parameter + 1] <= slot) ++parameter;
  why << plan.function << ": " << plan.parameters[parameter].name
      << ": the data address is null, it must be set before the second phase";
  return kTaskFailed;
}

}  // namespace

int32_t run_attention(const void *opaque, std::byte *const *bound, std::byte *workspace,
                      Text &why) {
  const AttentionPlan &plan = *static_cast<const AttentionPlan *>(opaque);
  std::byte *addresses[kMostSlots];
  std::copy(bound, bound + (plan.slots - plan.gathers.size()), addresses);
  for (const Gather &g : plan.gathers) {
    if (addresses[g.from] == nullptr) return null_address(plan, g.from, why);
    addresses[g.to] = workspace + g.workspace_offset;
    gather(g, addresses[g.from], addresses[g.to]);
  }
  attention::Outcome outcome = attention::run(plan.engine, addresses, plan.slots, workspace);
  if (outcome.what == attention::Fault::Ok) return 0;
  if (outcome.what == attention::Fault::NullAddress) return null_address(plan, outcome.index, why);
  why << plan.function << ": ";
  attention::describe(outcome, why);
  return kTaskFailed;
}

bool small_attention(const void *plan) {
  return static_cast<const AttentionPlan *>(plan)->engine.small;
}

}  // namespace pyaclnn
