#include "acl/handle.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <cstdlib>
#include <mutex>

#include "acl/handle_state.hpp"

// Of LeakSanitizer, in programs that are built with it: slots keep memory for their next object,
// and it does not look into mapped memory by itself.
extern "C" __attribute__((weak)) void __lsan_register_root_region(const void *begin, size_t size);

namespace pyaclnn {
namespace {

constexpr int kKinds = static_cast<int>(Kind::Count);
constexpr uint32_t kSlotsPerChunk = 1024;
constexpr uint32_t kChunks = 4096;
constexpr uint32_t kGenerationMask = 0xffffffu;
constexpr uint32_t kMagazine = 64;
constexpr size_t kHeader = 64;  // keeps payloads on cache lines of their own

struct Slot {
  std::atomic<uint64_t> tag;  // the live handle, with kEnding once it is claimed, 0 when free
  // The rest belongs to whoever holds the free slot.
  uint32_t generation;
  uint32_t next_free;  // index + 1, 0 ends the list
  bool constructed;
};
static_assert(sizeof(Slot) <= kHeader);

constexpr uint64_t kEnding = 0x80;  // no kind has this bit

// NULL, small numbers and what never was a handle; free slots have tag 0.
bool no_handle(uint64_t handle) { return (handle >> 40) == 0 || (handle & kEnding) != 0; }

uint32_t index_of(uint64_t handle) { return static_cast<uint32_t>(handle >> 8); }

struct FreeList {
  std::mutex mutex;
  uint32_t first = 0;  // index + 1
};

// No destructors anywhere: handles are looked up from destructors of other libraries.
constinit HandleTable g_tables[kKinds];
constinit FreeList g_free[kKinds];

// Free indices of one thread; half of them move to or from the shared list at a time.
struct Magazine {
  uint32_t count = 0;
  uint32_t index[kMagazine];
};
struct Magazines {
  Magazine of[kKinds];
};
thread_local Magazines *t_magazines = nullptr;
pthread_key_t g_key;

Slot *slot_at(HandleTable &table, uint32_t index);

// The caller holds the mutex of the list.
void push_free(HandleTable &table, FreeList &list, uint32_t index) {
  slot_at(table, index)->next_free = list.first;
  list.first = index + 1;
}

void return_magazines(void *memory) {
  auto *mine = static_cast<Magazines *>(memory);
  t_magazines = nullptr;
  for (int kind = 0; kind < kKinds; ++kind) {
    Magazine &magazine = mine->of[kind];
    if (magazine.count == 0) continue;
    std::lock_guard lock(g_free[kind].mutex);
    while (magazine.count != 0) {
      push_free(g_tables[kind], g_free[kind], magazine.index[--magazine.count]);
    }
  }
  delete mine;
}

Magazines *magazines() {
  if (t_magazines == nullptr) {
    static const bool made = pthread_key_create(&g_key, return_magazines) == 0;
    t_magazines = new (std::nothrow) Magazines();
    if (made && t_magazines != nullptr) pthread_setspecific(g_key, t_magazines);
  }
  return t_magazines;
}

}  // namespace

// Memory of a chunk is mapped, not allocated: slots that were never taken cost address space only.
struct HandleTable::Chunk {
  size_t stride;
  std::byte *slots;
};

namespace {

Slot *slot_at(HandleTable &table, uint32_t index) {
  uint32_t at = index / kSlotsPerChunk;
  if (at >= kChunks) return nullptr;
  HandleTable::Chunk *chunk = table.chunks_[at].load(std::memory_order_acquire);
  if (chunk == nullptr) return nullptr;
  return reinterpret_cast<Slot *>(chunk->slots + chunk->stride * (index % kSlotsPerChunk));
}

// Both with the mutex of the free list held.
bool grow(HandleTable &table, FreeList &list, const PayloadType &type) {
  uint32_t slots = table.slots_.load(std::memory_order_relaxed);
  uint32_t at = slots / kSlotsPerChunk;
  if (at >= kChunks) return false;
  size_t stride = kHeader + (type.size + kHeader - 1) / kHeader * kHeader;
  void *memory = mmap(nullptr, stride * kSlotsPerChunk, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  auto *chunk = new (std::nothrow) HandleTable::Chunk{stride, static_cast<std::byte *>(memory)};
  if (chunk == nullptr) {
    munmap(memory, stride * kSlotsPerChunk);
    return false;
  }
  if (__lsan_register_root_region != nullptr) {
    __lsan_register_root_region(memory, stride * kSlotsPerChunk);
  }
  table.chunks_[at].store(chunk, std::memory_order_release);
  for (uint32_t i = kSlotsPerChunk; i-- > 0;) push_free(table, list, slots + i);
  table.slots_.store(slots + kSlotsPerChunk, std::memory_order_relaxed);
  return true;
}

bool take_free(HandleTable &table, FreeList &list, const PayloadType &type, uint32_t *index) {
  if (list.first == 0 && !grow(table, list, type)) return false;
  *index = list.first - 1;
  list.first = slot_at(table, *index)->next_free;
  return true;
}

}  // namespace

HandleTable &handle_table(Kind kind) noexcept { return g_tables[static_cast<int>(kind)]; }

void *HandleTable::create(Kind kind, const PayloadType &type, uint64_t *handle) noexcept {
  auto at = static_cast<int>(kind);
  FreeList &list = g_free[at];
  uint32_t index = 0;
  Magazines *mine = magazines();
  if (mine != nullptr && mine->of[at].count != 0) {
    index = mine->of[at].index[--mine->of[at].count];
  } else {
    std::lock_guard lock(list.mutex);
    if (!take_free(*this, list, type, &index)) return nullptr;
    // Some more for next time, but never by growing: threads that create little stay small.
    while (mine != nullptr && mine->of[at].count < kMagazine / 2 && list.first != 0) {
      take_free(*this, list, type, &mine->of[at].index[mine->of[at].count++]);
    }
  }
  Slot *slot = slot_at(*this, index);
  void *payload = reinterpret_cast<std::byte *>(slot) + kHeader;
  if (!slot->constructed) {
    type.construct(payload);
    slot->constructed = true;
  }
  slot->generation = (slot->generation + 1) & kGenerationMask;
  if (slot->generation == 0) slot->generation = 1;
  *handle = static_cast<uint64_t>(slot->generation) << 40 | static_cast<uint64_t>(index) << 8 |
            static_cast<uint64_t>(kind);
  live_.fetch_add(1, std::memory_order_relaxed);
  slot->tag.store(*handle, std::memory_order_release);
  return payload;
}

void *HandleTable::find(uint64_t handle) noexcept {
  if (no_handle(handle)) return nullptr;
  Slot *slot = slot_at(*this, index_of(handle));
  if (slot == nullptr || slot->tag.load(std::memory_order_acquire) != handle) return nullptr;
  return reinterpret_cast<std::byte *>(slot) + kHeader;
}

void *HandleTable::find_ending(uint64_t handle) noexcept {
  if (no_handle(handle)) return nullptr;
  Slot *slot = slot_at(*this, index_of(handle));
  if (slot == nullptr || slot->tag.load(std::memory_order_acquire) != (handle | kEnding)) {
    return nullptr;
  }
  return reinterpret_cast<std::byte *>(slot) + kHeader;
}

void *find_payload(Kind kind, uint64_t handle) noexcept { return handle_table(kind).find(handle); }

void *HandleTable::claim(uint64_t handle) noexcept {
  if (no_handle(handle)) return nullptr;
  Slot *slot = slot_at(*this, index_of(handle));
  uint64_t expected = handle;
  if (slot == nullptr ||
      !slot->tag.compare_exchange_strong(expected, handle | kEnding, std::memory_order_acq_rel)) {
    return nullptr;
  }
  live_.fetch_sub(1, std::memory_order_relaxed);
  return reinterpret_cast<std::byte *>(slot) + kHeader;
}

void HandleTable::recycle(uint64_t handle) noexcept {
  auto at = static_cast<int>(handle & 0xff);
  FreeList &list = g_free[at];
  slot_at(*this, index_of(handle))->tag.store(0, std::memory_order_release);
  Magazines *mine = magazines();
  if (mine == nullptr) {
    std::lock_guard lock(list.mutex);
    push_free(*this, list, index_of(handle));
    return;
  }
  Magazine &magazine = mine->of[at];
  if (magazine.count == kMagazine) {
    std::lock_guard lock(list.mutex);
    while (magazine.count > kMagazine / 2) {
      push_free(*this, list, magazine.index[--magazine.count]);
    }
  }
  magazine.index[magazine.count++] = index_of(handle);
}

int64_t HandleTable::live() const noexcept { return live_.load(std::memory_order_relaxed); }

void handles_before_fork() noexcept {
  for (FreeList &list : g_free) list.mutex.lock();
}
void handles_after_fork() noexcept {
  for (int kind = kKinds; kind-- > 0;) g_free[kind].mutex.unlock();
}

}  // namespace pyaclnn
