// What the rows of an item see of a block: intervals that Visible gives them, masks that come down
// to such intervals, and values that nobody may look at.
#pragma once

#include "attention/block_work.hpp"

namespace pyaclnn::attention {

Seen seen_by(const Work &work, int32_t query, int64_t t0, int32_t keys);
bool all_seen(const Context &c, const Work &work, int64_t t0, int32_t keys);

// Infinity or NaN among the elements of a row; of whole numbers never.
bool all_finite(Type type, const void *row, int64_t count);

// Leaves rows of zeros where none of some query rows sees a key: an invisible value has no part,
// even if it is infinite or NaN. False: some rows see such a value and others do not.
bool hide_values(const Context &c, const Scratch &s, const Work &work, int64_t t0, int32_t keys,
                 Type type, int32_t first, int32_t last, BlockRows &rows);

// Whether hidden_by_mask can tell: it reads keys and values as they are stored.
bool reads_mask(const Plan &plan);
// What hidden_by_mask asks of the queries of an item.
float longest_query(const Context &c, const Scratch &s, const Work &work);
// A mask that is causal, or leaves each row another interval of the block's keys, and that is so
// far below every score that what it hides gets the weight 0: then `seen` becomes those intervals,
// and the mask need not be looked at again. That it is so far below follows from the lengths of
// queries and keys, and from what keys before said (`before`: those of other partial results).
// False: the mask is more than that, and `seen` is as it was.
bool hidden_by_mask(const Context &c, UnmaskedRows &known, const Work &work, int64_t t0,
                    int32_t keys, const State &state, const State &before, Seen *seen);

}  // namespace pyaclnn::attention
