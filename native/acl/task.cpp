// Free lists of tasks, by size of the payload: one per thread and one shared by all.
#include <pthread.h>

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
constexpr int kOwn = 16;    // tasks a thread keeps for itself per class

struct Pile {
  Task *first = nullptr;
  int count = 0;

  void push(Task *task) {
    task->next = first;
    first = task;
    ++count;
  }
  Task *pop() {
    Task *task = first;
    if (task == nullptr) return nullptr;
    first = task->next;
    --count;
    return task;
  }
};

struct Shelf {
  std::mutex mutex;
  Pile pile;
};
constinit Shelf g_shelves[kClassCount];

// A thread takes from its own piles and gives to them; half a pile at a time moves to or from the
// shelf, so that submitting here and running there locks once for many tasks.
struct Piles {
  Pile of[kClassCount];
  bool watched = false;  // the end of the thread
};
constinit thread_local Piles t_piles;
pthread_key_t g_key;  // gives the piles back at the end of a thread

int class_of(size_t payload_bytes) {
  for (int i = 0; i < kClassCount; ++i) {
    if (payload_bytes <= kClasses[i]) return i;
  }
  return -1;
}

void give_back(Pile &pile, Shelf &shelf, int left) {
  Pile surplus;
  {
    std::lock_guard lock(shelf.mutex);
    while (pile.count > left) {
      (shelf.pile.count < kKept ? shelf.pile : surplus).push(pile.pop());
    }
  }
  while (Task *task = surplus.pop()) std::free(task);
}

void thread_ends(void *memory) {
  auto *piles = static_cast<Piles *>(memory);
  piles->watched = false;  // tasks that later destructors free are given back as well
  for (int i = 0; i < kClassCount; ++i) give_back(piles->of[i], g_shelves[i], 0);
}

Task *take(int at) {
  Pile &mine = t_piles.of[at];
  if (Task *task = mine.pop()) return task;
  Shelf &shelf = g_shelves[at];
  std::lock_guard lock(shelf.mutex);
  while (shelf.pile.count != 0 && mine.count < kOwn / 2) mine.push(shelf.pile.pop());
  return mine.pop();
}

}  // namespace

Task *task_new(size_t payload_bytes) noexcept {
  int at = class_of(payload_bytes);
  size_t capacity = at >= 0 ? kClasses[at] : payload_bytes;
  void *memory = at >= 0 ? take(at) : nullptr;
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
  if (at < 0) {
    std::free(task);
    return;
  }
  Piles &piles = t_piles;
  if (!piles.watched) {
    static const bool made = pthread_key_create(&g_key, thread_ends) == 0;
    piles.watched = made && pthread_setspecific(g_key, &piles) == 0;
  }
  Pile &mine = piles.of[at];
  mine.push(task);
  if (mine.count > kOwn) give_back(mine, g_shelves[at], kOwn / 2);
}

void tasks_before_fork() noexcept {
  for (Shelf &shelf : g_shelves) shelf.mutex.lock();
}
void tasks_after_fork() noexcept {
  for (int i = kClassCount; i-- > 0;) g_shelves[i].mutex.unlock();
}

}  // namespace pyaclnn
