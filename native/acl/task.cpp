#include <cstdlib>
#include <mutex>
#include <new>

#include "acl/stream.hpp"
#include "acl/task_state.hpp"

namespace pyaclnn {
namespace {

static_assert(sizeof(Task) <= Task::kPayloadOffset);

// Size classes of payloads; larger ones are allocated as they come.
constexpr size_t kClasses[] = {192, 960, 4032};
constexpr int kClassCount = 3;
constexpr int kKept = 256;  // tasks kept per class; a long queue gives its memory back

struct Shelf {
  std::mutex mutex;
  Task *first = nullptr;
  int count = 0;
};
constinit Shelf g_shelves[kClassCount];

int class_of(size_t payload_bytes) {
  for (int i = 0; i < kClassCount; ++i) {
    if (payload_bytes <= kClasses[i]) return i;
  }
  return -1;
}

}  // namespace

Task *task_new(size_t payload_bytes) noexcept {
  int at = class_of(payload_bytes);
  size_t capacity = at >= 0 ? kClasses[at] : payload_bytes;
  void *memory = nullptr;
  if (at >= 0) {
    Shelf &shelf = g_shelves[at];
    std::lock_guard lock(shelf.mutex);
    if (shelf.first != nullptr) {
      memory = shelf.first;
      shelf.first = shelf.first->next;
      --shelf.count;
    }
  }
  if (memory == nullptr) {
    if (capacity > SIZE_MAX / 2) return nullptr;
    size_t bytes = (Task::kPayloadOffset + capacity + 63) / 64 * 64;
    memory = std::aligned_alloc(64, bytes);
    if (memory == nullptr) return nullptr;
  }
  Task *task = new (memory) Task();
  task->capacity = capacity;
  return task;
}

void task_free(Task *task) noexcept {
  if (task == nullptr) return;
  int at = class_of(task->capacity);
  if (at >= 0) {
    Shelf &shelf = g_shelves[at];
    std::lock_guard lock(shelf.mutex);
    if (shelf.count < kKept) {
      task->next = shelf.first;
      shelf.first = task;
      ++shelf.count;
      return;
    }
  }
  std::free(task);
}

void tasks_before_fork() noexcept {
  for (Shelf &shelf : g_shelves) shelf.mutex.lock();
}
void tasks_after_fork() noexcept {
  for (int i = kClassCount; i-- > 0;) g_shelves[i].mutex.unlock();
}

}  // namespace pyaclnn
