// One block of keys: both products and the softmax step between them.
#pragma once

#include "attention/block_work.hpp"

namespace pyaclnn::attention {

// Whether nothing but the scale and the mask lies between the two products.
bool simple_scores(const Problem &p);

// The keys t0 .. of one block, for all rows of the place, into `state`; `next`: the rows of the
// block that comes after it, or null; `before`: of keys before that have a state of their own.
void run_block(const Context &c, const Scratch &s, UnmaskedIntervals &unmasked, const Work &work,
               int64_t t0, int32_t keys, BlockRows &rows, const BlockRows *next, const State &state,
               const State &before);

}  // namespace pyaclnn::attention
