#include "nnopbase/executor.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

#include "acl/acl_base.h"
#include "nnopbase/executor_slot.hpp"
#include "nnopbase/misuse.hpp"
#include "nnopbase/room.hpp"
#include "nnopbase/tensor.hpp"
#include "pyaclnn/debug.h"
#include "support/log.hpp"

namespace pyaclnn {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kSmallestChunk = 16 * 1024;
constexpr size_t kKeptChunkBytes =
    256 * 1024;  // more than this goes back to the system at recycling
constexpr const char *kLiveExecutor = "a live aclOpExecutor";

// A null base stays null, whatever the offset: the operator recognises a missing buffer by it.
std::byte *effective_address(const Binding &binding) {
  if (binding.base == nullptr) return nullptr;
  return reinterpret_cast<std::byte *>(reinterpret_cast<uintptr_t>(binding.base) +
                                       static_cast<uintptr_t>(binding.offset_bytes));
}

void store_address(std::byte *&place, std::byte *address) {
  std::atomic_ref(place).store(address, std::memory_order_relaxed);
}

void *allocate_in(Executor &ex, size_t bytes) {
  if (bytes > SIZE_MAX / 2) return nullptr;
  bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (bytes <= Executor::kArenaBytes - ex.arena_used) {
    void *memory = ex.arena + ex.arena_used;
    ex.arena_used += bytes;
    return memory;
  }
  Chunk *last = ex.chunk;
  for (Chunk *c = last != nullptr ? last : ex.chunks; c != nullptr; c = c->next) {
    size_t used = c == ex.chunk ? ex.chunk_used : 0;
    if (bytes <= c->capacity - used) {
      ex.chunk = c;
      ex.chunk_used = used + bytes;
      return c->data() + used;
    }
    last = c;
  }
  size_t capacity = bytes < kSmallestChunk ? kSmallestChunk : bytes;
  void *memory = std::aligned_alloc(kAlignment, sizeof(Chunk) + capacity);
  if (memory == nullptr) return nullptr;
  Chunk *fresh = new (memory) Chunk();
  fresh->capacity = capacity;
  (last != nullptr ? last->next : ex.chunks) = fresh;
  ex.chunk = fresh;
  ex.chunk_used = bytes;
  return fresh->data();
}

// Keeps the first chunks for the next executor of this slot and gives large extras back.
void trim_chunks(Executor &ex) {
  size_t kept = 0;
  for (Chunk **link = &ex.chunks; *link != nullptr;) {
    Chunk *c = *link;
    if (kept + c->capacity <= kKeptChunkBytes) {
      kept += c->capacity;
      link = &c->next;
    } else {
      *link = c->next;
      std::free(c);
    }
  }
}

// Room for more bindings than fit; the old arrays stay behind in the arena.
bool grow_bindings(Executor &ex, uint64_t more) {
  uint64_t capacity = 2 * (uint64_t{ex.count} + more);
  if (more > UINT32_MAX / 4 || capacity > UINT32_MAX) return false;
  auto *bindings = static_cast<Binding *>(allocate_in(ex, capacity * sizeof(Binding)));
  auto **addresses = static_cast<std::byte **>(allocate_in(ex, capacity * sizeof(std::byte *)));
  if (bindings == nullptr || addresses == nullptr) return false;
  std::memcpy(bindings, ex.bindings, ex.count * sizeof(Binding));
  std::memcpy(addresses, ex.addresses, ex.count * sizeof(std::byte *));
  ex.bindings = bindings;
  ex.addresses = addresses;
  ex.capacity = static_cast<uint32_t>(capacity);
  return true;
}

bool reserve_bindings(Executor &ex, uint64_t more) {
  if (more <= ex.capacity - ex.count || grow_bindings(ex, more)) return true;
  ex.failed = true;
  return false;
}

void bind(Executor &ex, const aclTensor *tensor, bool output) {
  const uint32_t at = ex.count++;
  Binding &binding = ex.bindings[at];
  binding = {tensor, nullptr, 0, output};
  ex.addresses[at] = nullptr;
  if (tensor == nullptr) return;
  const Tensor *t = find_handle<Tensor>(tensor);
  if (t == nullptr) return;
  binding.base = static_cast<std::byte *>(t->base);
  if (t->offset != 0) binding.offset_bytes = bytes_of_elements(t->offset, t->dtype);
  ex.addresses[at] = effective_address(binding);
  if (ex.looks) look_for_room(ex.op->name, *t, ex.addresses[at], output);
}

}  // namespace

Executor *pin_executor(const aclOpExecutor *handle) noexcept {
  Executor *ex = find_handle<Executor>(handle);
  if (ex == nullptr) return nullptr;
  uint32_t pins = ex->pins.load(std::memory_order_relaxed);
  do {
    if (pins == 0) return nullptr;  // ended, and no longer in use
  } while (!ex->pins.compare_exchange_weak(pins, pins + 1, std::memory_order_acquire,
                                           std::memory_order_relaxed));
  // Between the look-up and the pin the slot may have changed its owner; from here on it cannot.
  if (find_handle<Executor>(handle) == ex && ex->op != nullptr) return ex;
  unpin_executor(ex);
  return nullptr;
}

void unpin_executor(Executor *ex) noexcept {
  if (ex->pins.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  trim_chunks(*ex);
  recycle_handle<Executor>(ex->handle);
}

bool end_executor(const void *handle) noexcept {
  Executor *ex = claim_handle<Executor>(handle);
  if (ex == nullptr) return false;
  unpin_executor(ex);
  return true;
}

ExecutorBuilder::ExecutorBuilder(const Operator &op) noexcept : slot_(nullptr), handle_(nullptr) {
  Executor *ex = create_handle<Executor>(&handle_);
  if (ex == nullptr) return;
  slot_ = ex;
  ex->repeatable.store(false, std::memory_order_relaxed);
  ex->ending.store(false, std::memory_order_relaxed);
  ex->small = false;
  ex->failed = false;
  ex->looks = logs(LogLevel::Warning);
  ex->handle = handle_;
  ex->op = &op;
  ex->plan = nullptr;
  ex->workspace_bytes = 0;
  ex->count = 0;
  ex->capacity = Executor::kInlineBindings;
  ex->bindings = ex->inline_bindings;
  ex->addresses = ex->inline_addresses;
  ex->arena_used = 0;
  ex->chunk_used = 0;
  ex->chunk = nullptr;
  ex->pins.store(1, std::memory_order_release);
}

ExecutorBuilder::~ExecutorBuilder() {
  if (handle_ != nullptr) end_executor(handle_);
}

bool ExecutorBuilder::ok() const noexcept { return slot_ != nullptr && !slot_->failed; }

void *ExecutorBuilder::allocate(size_t bytes) noexcept {
  return slot_ != nullptr ? allocate_in(*slot_, bytes) : nullptr;
}

int ExecutorBuilder::add_tensor(const aclTensor *tensor, bool output) noexcept {
  if (slot_ == nullptr || !reserve_bindings(*slot_, 1)) return -1;
  bind(*slot_, tensor, output);
  return static_cast<int>(slot_->count) - 1;
}

int ExecutorBuilder::add_list(const aclTensor *const *members, uint64_t count,
                              bool output) noexcept {
  if (slot_ == nullptr || !reserve_bindings(*slot_, count)) return -1;
  for (uint64_t i = 0; i < count; ++i) bind(*slot_, members[i], output);
  return static_cast<int>(slot_->count - count);
}

void ExecutorBuilder::commit(const void *plan, uint64_t workspace_bytes, uint64_t *workspaceSize,
                             aclOpExecutor **executor) noexcept {
  if (!ok()) return;
  slot_->plan = plan;
  slot_->workspace_bytes = workspace_bytes;
  slot_->small = plan == nullptr || (slot_->op->small != nullptr && slot_->op->small(plan));
  *workspaceSize = workspace_bytes;
  *executor = static_cast<aclOpExecutor *>(handle_);
  handle_ = nullptr;
  slot_ = nullptr;
}

namespace {

enum class Role : uint8_t { Input, Output, Any };

// The handle decides which argument gets the new address (all that use it): indices only matter to
// operators of another make. A tensor of the other direction is therefore accepted, and mentioned.
aclnnStatus set_address(const char *function, aclOpExecutor *executor, const char *parameter,
                        const aclTensor *tensor, void *addr, Role role) {
  if (tensor == nullptr) {
    return refuse_null(function, parameter, ACLNN_ERR_INNER_NULLPTR,
                       "a tensor that was given to phase 1");
  }
  Tensor *t = find_handle<Tensor>(tensor);
  if (t == nullptr) {
    return refuse_handle(function, "META-HANDLE", parameter, ACLNN_ERR_PARAM_INVALID, tensor,
                         "a live aclTensor");
  }
  if (executor == nullptr) {
    // As on the device, where the tensor takes the address before anybody looks at the executor.
    t->base = addr;
    return refuse_null(function, "executor", ACLNN_ERR_INNER_NULLPTR, kLiveExecutor);
  }
  Executor *ex = pin_executor(executor);
  if (ex == nullptr) {
    return refuse_handle(function, "EXEC-LIVE", "executor", ACLNN_ERR_PARAM_INVALID, executor,
                         kLiveExecutor);
  }
  t->base = addr;
  bool found = false, wanted = false;
  for (uint32_t i = 0; i < ex->count; ++i) {
    Binding &binding = ex->bindings[i];
    if (binding.tensor != tensor) continue;
    found = true;
    wanted |= role == Role::Any || binding.output == (role == Role::Output);
    Binding moved = binding;
    moved.base = static_cast<std::byte *>(addr);
    store_address(ex->addresses[i], effective_address(moved));
  }
  const char *name = ex->op->name;
  unpin_executor(ex);
  if (!found) {
    Saying saying;
    describe_handle(saying.value, tensor);
    saying.value << " that phase 1 did not get";
    saying.limit << "must be a tensor that was given to phase 1 of " << name;
    return refuse(function, "EXEC-TENSOR", parameter, ACLNN_ERR_PARAM_INVALID, saying);
  }
  static std::atomic<bool> said;
  if (!wanted && first_time(said)) {
    Text text;
    text << function << ": the tensor is an " << (role == Role::Input ? "output" : "input")
         << " of " << name << "; the handle decides, so its address was changed all the same";
    log(LogLevel::Warning, text);
  }
  return 0;
}

aclnnStatus set_member_address(const char *function, aclOpExecutor *executor, size_t index,
                               const aclTensorList *tensors, void *addr, Role role) {
  if (tensors == nullptr) {
    return refuse_null(function, "tensors", ACLNN_ERR_INNER_NULLPTR,
                       "a list that was given to phase 1");
  }
  const TensorList *list = find_handle<TensorList>(tensors);
  if (list == nullptr) {
    return refuse_handle(function, "META-HANDLE", "tensors", ACLNN_ERR_PARAM_INVALID, tensors,
                         "a live aclTensorList");
  }
  std::span<const aclTensor *const> members = list->elements();
  if (index >= members.size()) {
    Saying saying;
    saying.value << index;
    saying.limit << "must be below the list's size " << members.size();
    return refuse(function, "EXEC-RELATIVE-INDEX", "relativeIndex", ACLNN_ERR_PARAM_INVALID,
                  saying);
  }
  return set_address(function, executor, "tensors[relativeIndex]", members[index], addr, role);
}

}  // namespace
}  // namespace pyaclnn

using namespace pyaclnn;

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor *executor) {
  const char *function = "aclSetAclOpExecutorRepeatable";
  if (executor == nullptr)
    return refuse_null(function, "executor", ACLNN_ERR_INNER_NULLPTR, kLiveExecutor);
  Executor *ex = pin_executor(executor);
  if (ex == nullptr) {
    return refuse_handle(function, "EXEC-LIVE", "executor", ACLNN_ERR_INNER, executor,
                         kLiveExecutor);
  }
  ex->repeatable.store(true, std::memory_order_relaxed);
  unpin_executor(ex);
  return 0;
}

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor *executor) {
  const char *function = "aclDestroyAclOpExecutor";
  if (executor == nullptr)
    return refuse_null(function, "executor", ACLNN_ERR_INNER_NULLPTR, kLiveExecutor);
  Executor *ex = pin_executor(executor);
  if (ex == nullptr) {
    return refuse_handle(function, "EXEC-LIVE", "executor", ACLNN_ERR_INNER, executor,
                         "a live aclOpExecutor (one that is not repeatable ends with its run)");
  }
  const bool lost = ex->ending.exchange(true, std::memory_order_acquire);
  if (!lost) end_executor(executor);
  unpin_executor(ex);
  if (!lost) return 0;
  Saying saying;
  saying.value << "an executor that another thread is running or destroying";
  saying.limit << "must be one that nobody else ends (one that is not repeatable ends with its "
                  "run)";
  return refuse(function, "EXEC-LIVE", "executor", ACLNN_ERR_INNER, saying);
}

// Names with a capital A are older spellings of the same functions.
#define PYACLNN_TENSOR_ADDRESS(name, role)                                              \
  aclnnStatus acl##name(aclOpExecutor *executor, const size_t index, aclTensor *tensor, \
                        void *addr) {                                                   \
    (void)index;                                                                        \
    return set_address("acl" #name, executor, "tensor", tensor, addr, role);            \
  }                                                                                     \
  aclnnStatus Acl##name(aclOpExecutor *executor, const size_t index, aclTensor *tensor, \
                        void *addr) {                                                   \
    (void)index;                                                                        \
    return set_address("Acl" #name, executor, "tensor", tensor, addr, role);            \
  }
#define PYACLNN_MEMBER_ADDRESS(name, role)                                                   \
  aclnnStatus acl##name(aclOpExecutor *executor, size_t irIndex, const size_t relativeIndex, \
                        aclTensorList *tensors, void *addr) {                                \
    (void)irIndex;                                                                           \
    return set_member_address("acl" #name, executor, relativeIndex, tensors, addr, role);    \
  }                                                                                          \
  aclnnStatus Acl##name(aclOpExecutor *executor, size_t irIndex, const size_t relativeIndex, \
                        aclTensorList *tensors, void *addr) {                                \
    (void)irIndex;                                                                           \
    return set_member_address("Acl" #name, executor, relativeIndex, tensors, addr, role);    \
  }
PYACLNN_TENSOR_ADDRESS(SetInputTensorAddr, Role::Input)
PYACLNN_TENSOR_ADDRESS(SetOutputTensorAddr, Role::Output)
PYACLNN_TENSOR_ADDRESS(SetTensorAddr, Role::Any)
PYACLNN_MEMBER_ADDRESS(SetDynamicInputTensorAddr, Role::Input)
PYACLNN_MEMBER_ADDRESS(SetDynamicOutputTensorAddr, Role::Output)
PYACLNN_MEMBER_ADDRESS(SetDynamicTensorAddr, Role::Any)
#undef PYACLNN_TENSOR_ADDRESS
#undef PYACLNN_MEMBER_ADDRESS

aclnnStatus pyaclnnSetTensorAddrs(aclOpExecutor *executor, uint64_t count,
                                  aclTensor *const *tensors, void *const *addrs) {
  const char *function = "pyaclnnSetTensorAddrs";
  if (count > 0 && (tensors == nullptr || addrs == nullptr)) {
    return refuse_null(function, tensors == nullptr ? "tensors" : "addrs", ACLNN_ERR_INNER_NULLPTR,
                       "an array of count members");
  }
  for (uint64_t i = 0; i < count; ++i) {
    aclnnStatus status =
        set_address(function, executor, "tensors[i]", tensors[i], addrs[i], Role::Any);
    if (status != 0) return status;
  }
  return 0;
}
