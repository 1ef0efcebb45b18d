#include "atb/objects.hpp"

#include <deque>
#include <map>
#include <mutex>
#include <unordered_map>

namespace pyaclnn::atb {
namespace {

struct Block {
  size_t bytes;
  bool live;
};

struct Objects {
  std::mutex mutex;
  std::unordered_map<const void *, Block> blocks;
  std::map<size_t, std::deque<void *>> free;
};

// Never destroyed: programs destroy operations in destructors of their own statics.
Objects &objects() {
  static auto *const all = new Objects();
  return *all;
}

}  // namespace

void *take_object(size_t bytes) {
  Objects &all = objects();
  std::lock_guard lock(all.mutex);
  std::deque<void *> &free = all.free[bytes];
  if (free.empty()) {
    void *fresh = ::operator new(bytes);
    try {
      all.blocks.emplace(fresh, Block{bytes, true});
    } catch (...) {
      ::operator delete(fresh);
      throw;
    }
    return fresh;
  }
  void *again = free.front();
  free.pop_front();
  all.blocks[again].live = true;
  return again;
}

void return_object(void *object) noexcept {
  Objects &all = objects();
  std::lock_guard lock(all.mutex);
  Block &block = all.blocks.at(object);
  block.live = false;
  try {
    all.free[block.bytes].push_back(object);
  } catch (...) {  // then it is not used again
  }
}

Ending end_object(const void *object) noexcept {
  Objects &all = objects();
  std::lock_guard lock(all.mutex);
  const auto found = all.blocks.find(object);
  if (found == all.blocks.end()) return Ending::Foreign;
  if (!found->second.live) return Ending::Before;
  found->second.live = false;
  return Ending::Now;
}

}  // namespace pyaclnn::atb
