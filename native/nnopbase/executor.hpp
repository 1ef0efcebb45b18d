// Executors: what phase 1 leaves for phase 2. A slot holds a copy of everything (plan, host arrays,
// addresses), so every handle of the caller may die after phase 1.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "acl/acl_rt.h"
#include "acl/handle.hpp"
#include "aclnn/acl_meta.h"
#include "support/api.hpp"
#include "support/text.hpp"

namespace pyaclnn {

// What a task answers for faults found in device data.
inline constexpr int32_t kTaskFailed = ACL_ERROR_RT_AICORE_EXCEPTION;

// One tensor of the call, flattened (list members count singly; absent ones of a list keep their
// place with tensor == nullptr). The address at run time is base + offset_bytes.
struct Binding {
  const aclTensor *tensor;  // handle, only compared
  std::byte *base;
  int64_t offset_bytes;
  bool output;
};

// An operator: static data in its own file. Versions V1, V2, ... of one operator share one.
struct Operator {
  const char *name;
  // Runs a plan. `addresses` has one entry per binding (nullptr: absent, or a null data address).
  // Returns 0, or an aclError for the stream (such as kTaskFailed) with `why`.
  int32_t (*run)(const void *plan, std::byte *const *addresses, std::byte *workspace, Text &why);
  // Small enough to run inline on an idle stream (auto mode), decided from the plan; nullptr:
  // never.
  bool (*small)(const void *plan);
  // Writes the rule table as JSON (pyaclnnRulesJson protocol); nullptr: none.
  size_t (*rules_json)(char *buffer, size_t capacity);
  const Operator *next = nullptr;  // registry chain
};

// Operators register themselves with a static object in their own file.
struct PYACLNN_API RegisterOperator {
  explicit RegisterOperator(Operator *op) noexcept;
};
PYACLNN_API const Operator *first_operator() noexcept;

// What phase 1 hands over. `plan` is copied bytewise (trivially copyable, may contain offsets but
// no pointers into itself except through ExecutorBuilder::allocate memory).
class PYACLNN_API ExecutorBuilder {
 public:
  // Takes a slot. ok() is false when memory is exhausted, now or in an add_... call: ask it once
  // more before commit.
  explicit ExecutorBuilder(const Operator &op) noexcept;
  ~ExecutorBuilder();  // gives the slot back unless commit was called
  ExecutorBuilder(const ExecutorBuilder &) = delete;
  ExecutorBuilder &operator=(const ExecutorBuilder &) = delete;
  bool ok() const noexcept;

  // Memory that lives as long as the executor and its queued runs; 64-byte aligned; nullptr when
  // exhausted. The first about 3 kB need no malloc.
  void *allocate(size_t bytes) noexcept;
  // Adds an argument: a tensor handle (may be NULL) or the members of a list. Returns the binding
  // index of the (first) tensor.
  int add_tensor(const aclTensor *tensor, bool output) noexcept;
  int add_list(const aclTensor *const *members, uint64_t count, bool output) noexcept;
  // `plan` must come from allocate (nullptr: an executor that does nothing). Publishes the
  // executor.
  void commit(const void *plan, uint64_t workspace_bytes, uint64_t *workspaceSize,
              aclOpExecutor **executor) noexcept;

 private:
  struct Executor *slot_;
  void *handle_;
};

// Phase 2 of every operator: checks (NULL executor 161001; dead, spent or another operator's
// 161002; workspace NULL with a size 161001; size too small 161002; no context 361001), consumes a
// one-shot executor, submits to the stream.
PYACLNN_API aclnnStatus second_phase(const Operator &op, const char *function, void *workspace,
                                     uint64_t workspaceSize, aclOpExecutor *executor,
                                     aclrtStream stream) noexcept;

}  // namespace pyaclnn
