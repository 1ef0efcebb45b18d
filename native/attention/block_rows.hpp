// The rows of a block: read where they are, or copied (gathered, converted) when they are due; and
// what a place's query rows become before the first product.
#pragma once

#include "attention/block_work.hpp"

namespace pyaclnn::attention {

// The rows of a block that are read where they are.
void find_rows(const Context &c, const Work &work, int64_t t0, int64_t count, BlockRows &rows);
// ... and those that are copied, when their turn has come.
void copy_rows(const Context &c, const Scratch &s, const Work &work, int64_t t0, int64_t count,
               BlockRows &rows);

// The scales of keys t0 .. (int8 by token).
void read_keys(const Context &c, const Batch &batch, int64_t g, int64_t t0, int64_t count,
               Part part, float *to);

// The query rows of a place as the first product takes them, with the scales of int8 by column.
void load_heads(const Context &c, const Scratch &s, const Work &work);
// Many rows wait long for memory where each lies in a page of its own.
void prefetch_query(const Context &c, const Work &work);

}  // namespace pyaclnn::attention
