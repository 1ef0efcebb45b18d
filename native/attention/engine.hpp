// Plan once, run often. plan() never reads device data and allocates nothing; run() reads the
// device data (lengths, padding, tables) first, checks it, and then computes over the pool. The
// bytes of the result depend on the problem and the kernel level only: not on the number of
// threads, the cache's block size or the padding side. Exported: libatb runs its operations here.
#pragma once

#include <cstddef>
#include <cstdint>

#include "attention/problem.hpp"
#include "support/api.hpp"

namespace pyaclnn::attention {

// Trivially copyable; spans in `problem` point to memory that outlives every run (the executor's).
struct Plan {
  Problem problem;
  const char *function = "pyaclnnEngineAttention";  // who asks, for the profile
  bool profile = false;                             // PYACLNN_LOG=profile
  // Bytes, a function of shapes alone: not of lengths, threads or the kernel level.
  uint64_t workspace = 0;
  bool small = false;   // cheap enough to run inline
  bool blocks = false;  // the block engine (blocks.cpp) takes it; otherwise the reference
  bool split = false;   // key splits are work items of their own, merged afterwards
  // How the kernels read keys and values: as they are stored, as int8 whose scales are applied to
  // what is multiplied with them, or from float32 copies made block by block. Gathered: rows whose
  // columns are apart are put together first, in their own type.
  enum Form : uint8_t { Stored, Int8, Converted } k = Stored, v = Stored;
  bool k_gathered = false, v_gathered = false;
  int64_t tile = 1;       // query heads of one item ...
  int64_t queries = 1;    // ... and query rows, which share a pass over the keys
  bool panel = false;     // some items have rows enough for packing keys and values to pay
  int64_t split_max = 0;  // splits of keyMax
  int64_t lanes = 0;      // threads that can work at once, each with its scratch memory
  uint64_t lane_bytes = 0;
};

PYACLNN_API Plan plan(const Problem &problem) noexcept;

// addresses[slot], slot < count: base of the buffer of a slot (null: absent; a null address that is
// needed is Fault::NullAddress). workspace: at least plan.workspace bytes, any alignment.
PYACLNN_API Outcome run(const Plan &plan, std::byte *const *addresses, size_t count,
                        std::byte *workspace) noexcept;

}  // namespace pyaclnn::attention
