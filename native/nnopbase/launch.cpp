// Phase 2 of every operator.
#include <new>

#include "acl/stream.hpp"
#include "nnopbase/executor_slot.hpp"
#include "nnopbase/misuse.hpp"
#include "nnopbase/room.hpp"

namespace pyaclnn {
namespace {

// What a queued run needs. A repeatable executor's addresses are copied behind it, because they may
// change before the task runs; a one-shot executor's own cannot.
struct Run {
  Executor *executor;
  std::byte *workspace;
  std::byte *const *addresses;
};

int32_t run_task(Task *task, Text &why) {
  const Run *run = reinterpret_cast<const Run *>(task->payload());
  const Executor &ex = *run->executor;
  return ex.plan == nullptr ? 0 : ex.op->run(ex.plan, run->addresses, run->workspace, why);
}

void release_task(Task *task) {
  unpin_executor(reinterpret_cast<Run *>(task->payload())->executor);
}

int32_t refuse_executor(const char *function, const char *rule, Saying &saying) {
  saying.limit << "must be a live executor from phase 1 of the same operator; it runs once, unless "
                  "aclSetAclOpExecutorRepeatable was called for it";
  return refuse(function, rule, "executor", ACLNN_ERR_PARAM_INVALID, saying);
}

// The checks of phase 2 after the executor itself; none of them consumes it.
int32_t check_workspace(const char *function, const Executor &ex, const void *workspace,
                        uint64_t size) {
  if (workspace == nullptr && size > 0) {
    Saying saying;
    saying.value << "NULL with workspaceSize = " << size;
    saying.limit << "must be device memory of that size";
    return refuse(function, "EXEC-WORKSPACE-NULL", "workspace", ACLNN_ERR_PARAM_NULLPTR, saying);
  }
  if (size < ex.workspace_bytes) {
    Saying saying;
    saying.value << size;
    saying.limit << "must be at least the " << ex.workspace_bytes
                 << " bytes that phase 1 asked for";
    return refuse(function, "EXEC-WORKSPACE-SIZE", "workspaceSize", ACLNN_ERR_PARAM_INVALID,
                  saying);
  }
  if (ex.looks) look_for_room(function, workspace, ex.workspace_bytes);
  return 0;
}

// Takes over one pin of `ex`, also when it fails.
int32_t submit(const char *function, Executor *ex, bool copy_addresses, void *workspace,
               aclrtStream stream) {
  size_t address_bytes = copy_addresses ? ex->count * sizeof(std::byte *) : 0;
  Task *task = task_new(sizeof(Run) + address_bytes);
  if (task == nullptr) {
    unpin_executor(ex);
    return refuse_memory(function, "stream", ACLNN_ERR_INNER);
  }
  Run *run = new (task->payload()) Run{ex, static_cast<std::byte *>(workspace), ex->addresses};
  if (copy_addresses) {
    auto **copies = reinterpret_cast<std::byte **>(run + 1);
    for (uint32_t i = 0; i < ex->count; ++i) {
      copies[i] = std::atomic_ref(ex->addresses[i]).load(std::memory_order_relaxed);
    }
    run->addresses = copies;
  }
  task->run = run_task;
  task->release = release_task;
  task->small = ex->small;
  int32_t error = stream_submit(stream, task);
  if (error == 0) return 0;
  Saying saying;
  saying.value << "the runtime refused the work with " << error;
  saying.limit
      << "must be a live stream of this thread's current context (aclrtSetDevice makes one)";
  return refuse(function, "EXEC-SUBMIT", "stream", ACLNN_ERR_RUNTIME_ERROR, saying);
}

}  // namespace

aclnnStatus second_phase(const Operator &op, const char *function, void *workspace,
                         uint64_t workspaceSize, aclOpExecutor *executor,
                         aclrtStream stream) noexcept {
  if (executor == nullptr) {
    return refuse_null(function, "executor", ACLNN_ERR_PARAM_NULLPTR,
                       "the executor that phase 1 returned");
  }
  Executor *ex = pin_executor(executor);
  if (ex == nullptr) {
    Saying saying;
    describe_handle(saying.value, executor);
    return refuse_executor(function, "EXEC-LIVE", saying);
  }
  if (ex->op != &op) {
    Saying saying;
    saying.value << "an executor of " << ex->op->name;
    unpin_executor(ex);
    return refuse_executor(function, "EXEC-OPERATOR", saying);
  }
  if (int32_t code = check_workspace(function, *ex, workspace, workspaceSize)) {
    unpin_executor(ex);
    return code;
  }
  if (ex->repeatable.load(std::memory_order_relaxed)) {
    return submit(function, ex, true, workspace, stream);  // takes our pin
  }
  // One run only: whoever sets `ending` first has it. The handle, whose own pin keeps the slot
  // until then, ends after the stream has taken the work: a refused call leaves the executor as it
  // was.
  if (ex->ending.exchange(true, std::memory_order_acquire)) {
    unpin_executor(ex);
    Saying saying;
    saying.value << "an executor that another thread is running or destroying";
    return refuse_executor(function, "EXEC-LIVE", saying);
  }
  int32_t code = submit(function, ex, false, workspace, stream);  // takes our pin
  if (code == 0) {
    end_executor(executor);
  } else {
    ex->ending.store(false, std::memory_order_release);
  }
  return code;
}

}  // namespace pyaclnn
