// The key and value rows of a block, read in place or copied (gathered, converted) just before they
// are used, and the query rows of a place in the form that the kernels take.
#pragma once

#include "attention/block_work.hpp"

namespace pyaclnn::attention {

// Locates the rows of a block that kernels read in place.
void find_rows(const Context &c, const Work &work, int64_t t0, int64_t count, BlockRows &rows);
// Copies those that they cannot; called just before the block is computed.
void copy_rows(const Context &c, const Scratch &s, const Work &work, int64_t t0, int64_t count,
               BlockRows &rows);

// The per-token scales of the int8 keys (or values) t0 .. t0 + count - 1.
void read_token_scales(const Context &c, const Batch &batch, int64_t g, int64_t t0, int64_t count,
                       Part part, float *to);

// The query rows of a place in the form that the first product takes, multiplied by the per-column
// scales of int8 keys.
void load_heads(const Context &c, const Scratch &s, const Work &work);
// Prefetches the query rows of the next place: with each row in a page of its own, loading many of
// them would stall.
void prefetch_query(const Context &c, const Work &work);

}  // namespace pyaclnn::attention
