// Blocks of memory by address. Device memory is ordinary memory; the map knows which is which.
#pragma once

#include <cstddef>
#include <cstdint>

#include "support/api.hpp"

namespace pyaclnn {

enum class Place : uint8_t { Unknown, Device, Host, Registered };

struct BlockView {
  Place place = Place::Unknown;
  int32_t device = 0;
  size_t left = SIZE_MAX;  // bytes from the address to the end of its block; no limit when unknown
};

PYACLNN_API BlockView block_at(const void *address) noexcept;
// Physical memory that is mapped into reserved addresses: neighbours count as one block, since one
// tensor may lie in several. False when memory is exhausted.
bool enter_mapped_block(void *address, size_t size, int32_t device) noexcept;
void leave_mapped_block(void *address) noexcept;
// Device memory in use without a block of its own.
void count_device_memory(int32_t device, int64_t bytes) noexcept;
int64_t live_blocks() noexcept;
// Physical memory of this machine or container, bytes.
void machine_memory(size_t *free, size_t *total) noexcept;

void memory_before_fork() noexcept;
void memory_after_fork() noexcept;

}  // namespace pyaclnn
