#include "support/record.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "support/clock.hpp"
#include "support/log.hpp"
#include "support/record_state.hpp"

namespace pyaclnn {
namespace {

constexpr int kMaxItems = 1000;

struct Item {
  Item *older;
  char code[8];
  char head[80];  // "[PID: 1] 2025-... ": kept, because it is the time of the failure
  char text[Text::kCapacity];
};

struct Queue {
  Item *newest = nullptr;
  int count = 0;

  void add(const char *code, const char *head, const char *text, size_t size) {
    if (newest != nullptr && std::strcmp(newest->code, code) == 0 &&
        std::strlen(newest->text) == size && std::memcmp(newest->text, text, size) == 0) {
      return;
    }
    for (Item *item = newest; item != nullptr; item = item->older) {
      if (std::strcmp(item->code, code) == 0 && std::strlen(item->text) == size &&
          std::memcmp(item->text, text, size) == 0) {
        return;
      }
    }
    if (count >= kMaxItems) drop_oldest();
    auto *item = static_cast<Item *>(std::malloc(sizeof(Item)));
    if (item == nullptr) return;
    std::snprintf(item->code, sizeof item->code, "%s", code);
    std::snprintf(item->head, sizeof item->head, "%s", head);
    std::memcpy(item->text, text, size);
    item->text[size] = '\0';
    item->older = newest;
    newest = item;
    ++count;
  }
  void drop_oldest() {
    Item **at = &newest;
    while ((*at)->older != nullptr) at = &(*at)->older;
    std::free(*at);
    *at = nullptr;
    --count;
  }
  void clear() {
    while (newest != nullptr) {
      Item *item = newest;
      newest = item->older;
      std::free(item);
    }
    count = 0;
  }
};

struct ThreadRecord {
  Queue queue;
  int32_t last = 0;
  char *told = nullptr;  // the string aclGetRecentErrMsg handed out
  char *explanation = nullptr;
  size_t explanation_size = 0;
};

std::atomic<bool> g_per_process{false};
std::mutex g_mutex;  // guards g_queue
Queue g_queue;
pthread_key_t g_key;

// A plain pointer, freed by a pthread key: usable from destructors that run after thread_local
// objects are gone, and in the main thread until the very end.
thread_local ThreadRecord *t_record = nullptr;

void forget_thread(void *record) {
  auto *mine = static_cast<ThreadRecord *>(record);
  t_record = nullptr;
  mine->queue.clear();
  std::free(mine->told);
  std::free(mine->explanation);
  delete mine;
}

ThreadRecord *record_of_thread() {
  if (t_record == nullptr) {
    static const bool made = pthread_key_create(&g_key, forget_thread) == 0;
    t_record = new (std::nothrow) ThreadRecord();
    if (made && t_record != nullptr) pthread_setspecific(g_key, t_record);
  }
  return t_record;
}

bool is_inner(const char *code) { return std::strcmp(code + 2, "9999") == 0; }

// A growing malloc buffer: several thousand items may come together.
struct Buffer {
  char *data = nullptr;
  size_t size = 0, capacity = 0;
  void add(const char *text) {
    size_t n = std::strlen(text);
    if (size + n + 1 > capacity) {
      size_t wanted = (size + n + 1) * 2;
      auto *grown = static_cast<char *>(std::realloc(data, wanted));
      if (grown == nullptr) return;
      data = grown;
      capacity = wanted;
    }
    std::memcpy(data + size, text, n + 1);
    size += n;
  }
};

// The layout of release 8.1: the newest item with its code at the left margin, older ones indented
// below the trace line.
char *tell(const Queue &queue) {
  Buffer out;
  const Item *first = queue.newest;
  if (is_inner(first->code)) {
    out.add(first->code);
    out.add(": Inner Error!\n");
  }
  out.add(first->code);
  out.add(": ");
  out.add(first->head);
  out.add(first->text);
  out.add("\n");
  if (first->older != nullptr) {
    out.add("        TraceBack (most recent call last):\n");
    for (const Item *item = first->older; item != nullptr; item = item->older) {
      out.add("        ");
      out.add(item->code);
      out.add(": ");
      out.add(item->text);
      out.add("\n");
    }
  }
  return out.data;
}

}  // namespace

void queue_error(const char *item_code, const char *text, size_t size) noexcept {
  if (size > Text::kCapacity - 1) size = Text::kCapacity - 1;
  char head[80];
  Stamp now;
  if (g_per_process.load(std::memory_order_relaxed)) {
    std::snprintf(head, sizeof head, "[PID: %d][THREAD: %lld] %s ", static_cast<int>(getpid()),
                  static_cast<long long>(thread_id()), now.text);
    std::lock_guard lock(g_mutex);
    g_queue.add(item_code, head, text, size);
  } else if (ThreadRecord *mine = record_of_thread(); mine != nullptr) {
    std::snprintf(head, sizeof head, "[PID: %d] %s ", static_cast<int>(getpid()), now.text);
    mine->queue.add(item_code, head, text, size);
  }
  Text line;
  line << item_code << ": " << std::string_view(text, size);
  log(LogLevel::Error, line);
}

const char *item_code_of_status(int32_t status) noexcept {
  if (status > 0 && status < 100) {
    switch (status) {
      case 3:   // internal error
      case 10:  // nothing to run it
      case 12:  // product or installation
      case 25:  // communication
      case 26:  // device memory
      case 27:  // host memory
      case 29: return "EZ9999";
      default: return "EZ1001";
    }
  }
  while (status >= 10) status /= 10;
  return status == 1 ? "EZ1001" : status == 3 ? "EZ9903" : "EZ9999";
}

int32_t fail(int32_t code, const char *item_code, const Text &text) noexcept {
  queue_error(item_code, text);
  int32_t layer = code / 1000;
  if (layer == 107 || layer == 207 || layer == 507) {
    ThreadRecord *mine = record_of_thread();
    if (mine == nullptr) return code;
    mine->last = code;
    // The refusal explained last is no longer what went wrong last.
    if (layer == 507) mine->explanation_size = 0;
  }
  return code;
}

void record_explanation(const char *json, size_t size) noexcept {
  ThreadRecord *mine = record_of_thread();
  if (mine == nullptr) return;
  auto *copy = static_cast<char *>(std::malloc(size + 1));
  if (copy == nullptr) return;
  std::memcpy(copy, json, size);
  copy[size] = '\0';
  std::free(mine->explanation);
  mine->explanation = copy;
  mine->explanation_size = size;
}

size_t copy_explanation(char *buffer, size_t capacity) noexcept {
  const ThreadRecord *mine = t_record;
  size_t size = mine != nullptr ? mine->explanation_size : 0;
  if (buffer != nullptr && capacity != 0) {
    size_t n = size < capacity - 1 ? size : capacity - 1;
    if (n != 0) std::memcpy(buffer, mine->explanation, n);
    buffer[n] = '\0';
  }
  return size;
}

void record_per_process(bool per_process) noexcept { g_per_process.store(per_process); }

const char *take_recent_errors() noexcept {
  if (g_per_process.load(std::memory_order_relaxed)) {
    Queue taken;
    {
      std::lock_guard lock(g_mutex);
      taken = g_queue;
      g_queue = Queue();
    }
    if (taken.newest == nullptr) return nullptr;
    char *told = tell(taken);
    taken.clear();
    ThreadRecord *mine = record_of_thread();
    if (mine == nullptr) {
      std::free(told);
      return nullptr;
    }
    std::free(mine->told);
    return mine->told = told;
  }
  ThreadRecord *mine = t_record;
  if (mine == nullptr || mine->queue.newest == nullptr) return nullptr;
  std::free(mine->told);
  mine->told = tell(mine->queue);
  mine->queue.clear();
  return mine->told;
}

int32_t last_error(bool clear) noexcept {
  ThreadRecord *mine = t_record;
  if (mine == nullptr) return 0;
  int32_t code = mine->last;
  if (clear) mine->last = 0;
  return code;
}

void record_before_fork() noexcept { g_mutex.lock(); }
void record_after_fork() noexcept { g_mutex.unlock(); }

}  // namespace pyaclnn
