// Plan once, run often. plan() never reads device data and allocates nothing; run() reads the device
// data (lengths, padding, tables) first, checks it, and then computes over the pool. The bytes of the
// result depend on the problem and the kernel level only: not on the number of threads, the cache's
// block size or the padding side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "attention/problem.hpp"

namespace pyaclnn::attention {

// Trivially copyable; spans in `problem` point to memory that outlives every run (the executor's).
struct Plan {
  Problem problem;
  uint64_t workspace = 0;   // bytes, a function of shapes and kernel level, not of lengths or threads
  bool small = false;       // cheap enough to run inline
  uint8_t kernel = 0;       // chosen kernel family (engine.cpp); 0 is the reference
  int64_t split = 0;        // keys per work item, counted from the first valid key
  int64_t splitMax = 0;     // items per (batch, head group) at keyMax
};

Plan plan(const Problem &problem) noexcept;

// addresses[slot]: base of the buffer of a slot (null: absent; a null address that is needed is
// Late::NullAddress). workspace: at least plan.workspace bytes, any alignment.
Outcome run(const Plan &plan, std::span<std::byte *const> addresses, std::byte *workspace) noexcept;

// The slow, obvious engine: every field of Problem, float64 nowhere, one loop per formula line. Used
// by run() for what no kernel takes, and as kernel level "reference".
Outcome run_reference(const Problem &problem, std::span<std::byte *const> addresses) noexcept;

}  // namespace pyaclnn::attention
