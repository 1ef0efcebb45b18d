// Blocks of memory by address. Device memory is ordinary memory; the map knows which is which.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pyaclnn {

enum class Place : uint8_t { Unknown, Device, Host, Registered };

struct BlockView {
  Place place = Place::Unknown;
  int32_t device = 0;
  size_t left = SIZE_MAX;  // bytes from the address to the end of its block; no limit when unknown
};

BlockView block_at(const void *address) noexcept;
int64_t live_blocks() noexcept;
// Physical memory of this machine or container, bytes.
void machine_memory(size_t *free, size_t *total) noexcept;

void memory_before_fork() noexcept;
void memory_after_fork() noexcept;

}  // namespace pyaclnn
