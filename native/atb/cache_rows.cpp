#include "atb/cache_rows.hpp"

#include <algorithm>
#include <cstring>

#include "support/pool.hpp"

namespace pyaclnn::atb {
namespace {

constexpr int64_t kAloneBytes = 256 * 1024;  // less wakes no second thread
constexpr int64_t kChunkBytes = 512;         // of a row, for one thread

int64_t parts_of(const CacheRows &side) { return std::max<int64_t>(1, side.row / kChunkBytes); }

// Part `item` of `items` of the columns of all rows.
template <class Slot>
void copy_columns(const CacheRows &side, std::span<std::byte *const> addresses,
                  std::span<const Slot> slots, int64_t item, int64_t items) {
  const std::byte *row = addresses[side.from];
  std::byte *to = addresses[side.to];
  // A stretch of one row (ND), or some of its groups (NZ).
  const bool nz = side.groups > 1;
  const int64_t units = nz ? side.groups : side.group;
  const int64_t begin = units * item / items, end = units * (item + 1) / items;
  for (size_t t = 0; t < slots.size(); ++t, row += side.row) {
    const int64_t slot = slots[t];  // read once: it may be device data
    if (slot < 0 || slot >= side.capacity()) continue;
    if (!nz) {
      std::memcpy(to + side.offset(slot, 0) + begin, row + begin, static_cast<size_t>(end - begin));
      continue;
    }
    for (int64_t g = begin; g < end; ++g) {
      std::memcpy(to + side.offset(slot, g), row + g * side.group, static_cast<size_t>(side.group));
    }
  }
}

}  // namespace

template <class Slot>
void copy_rows(std::span<const CacheRows> sides, std::span<std::byte *const> addresses,
               std::span<const Slot> slots) {
  // Items are columns, not rows: so the last of several rows for a slot stays, whatever the number
  // of threads.
  struct Work {
    std::span<const CacheRows> sides;
    std::span<std::byte *const> addresses;
    std::span<const Slot> slots;
  } work{sides, addresses, slots};
  auto one = [](void *context, int64_t item) {
    const Work &w = *static_cast<const Work *>(context);
    for (const CacheRows &side : w.sides) {
      const int64_t items = parts_of(side);
      if (item < items) return copy_columns(side, w.addresses, w.slots, item, items);
      item -= items;
    }
  };
  int64_t items = 0, bytes = 0;
  for (const CacheRows &side : sides) {
    items += parts_of(side);
    bytes += side.row * static_cast<int64_t>(slots.size());
  }
  if (bytes >= kAloneBytes) {
    pool_run(items, one, &work);
  } else {
    for (int64_t i = 0; i < items; ++i) one(&work, i);
  }
}

template void copy_rows(std::span<const CacheRows>, std::span<std::byte *const>,
                        std::span<const int32_t>);
template void copy_rows(std::span<const CacheRows>, std::span<std::byte *const>,
                        std::span<const int64_t>);

}  // namespace pyaclnn::atb
