// What the rows of an item see of a block: intervals that Visible gives them, masks that come down
// to such intervals, and values that nobody may look at.
#pragma once

#include "attention/block_work.hpp"

namespace pyaclnn::attention {

// What a query row sees of a block, as far as its range can say.
Seen seen_by(const Work &work, int32_t query, int64_t t0, int32_t keys);

// Infinity or NaN among the elements of a row; of whole numbers never.
bool all_finite(Type type, const void *row, int64_t count);

// Leaves rows of zeros where none of some query rows sees a key: an invisible value has no part,
// even if it is infinite or NaN. False: some rows see such a value and others do not.
bool hide_values(const Context &c, const Scratch &s, const Work &work, int64_t t0, int32_t keys,
                 Type type, int32_t first, int32_t last, BlockRows &rows);

// Whether BlockView can tell what a mask hides: it reads keys and values as they are stored.
bool reads_mask(const Plan &plan);
// What it asks of the queries of an item.
float longest_query(const Context &c, const Scratch &s, const Work &work);

// What is left to do of a block of keys.
struct BlockView {
  // `before`: the state of keys that have a partial result of their own.
  BlockView(const Context &c, UnmaskedRows &unmasked, const Work &work, int64_t t0, int32_t keys,
            const State &state, const State &before);
  BlockView(const BlockView &) = delete;
  BlockView &operator=(const BlockView &) = delete;

  bool whole;                  // Visible lets every row see every key
  bool masked;                 // the mask has something to say that `seen` does not
  int32_t keys;                // up to the last one that a row sees; 0: nothing is left
  const Seen *seen = nullptr;  // by row; null: every row sees every key

 private:
  Seen rows_[kItemRows];
};

}  // namespace pyaclnn::attention
