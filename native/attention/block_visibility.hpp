// Which keys of a block the rows of an item see: intervals from Visible, masks that amount to such
// intervals, and values that must not take part.
#pragma once

#include "attention/block_work.hpp"

namespace pyaclnn::attention {

// The keys of a block inside a query row's range; with gaps (Context::gaps) not all of them.
KeyRange visible_keys(const Work &work, int32_t query, int64_t t0, int32_t keys);

// False if an element of the row is infinite or NaN; integer types have none.
bool all_finite(Type type, const void *row, int64_t count);

// Points rows.v_at to zeros for keys that none of the query rows [first, last) sees: an invisible
// value must not take part, even multiplied by weight 0 it could be NaN. False if some of these
// rows see a non-finite value and others do not; then they need a product of their own.
bool hide_values(const Context &c, const Scratch &s, const Work &work, int64_t t0, int32_t keys,
                 Type type, int32_t first, int32_t last, BlockRows &rows);

// Whether VisibleBlock may replace the mask of this plan by intervals.
bool uses_mask_intervals(const Plan &plan);
// The largest norm of an item's query rows, for that purpose.
float max_query_norm(const Context &c, const Scratch &s, const Work &work);

// Which part of a block of keys is left to compute, and with which rows.
struct VisibleBlock {
  // `before`: the state of keys that have a partial result of their own.
  VisibleBlock(const Context &c, UnmaskedIntervals &unmasked, const Work &work, int64_t t0,
               int32_t keys, const State &state, const State &before);
  VisibleBlock(const VisibleBlock &) = delete;
  VisibleBlock &operator=(const VisibleBlock &) = delete;

  bool whole;                        // Visible lets every row see every key
  bool masked;                       // the mask has something to say that `ranges` does not
  int32_t keys;                      // up to the last one that a row sees; 0: nothing is left
  const KeyRange *ranges = nullptr;  // by row; null: every row sees every key

 private:
  KeyRange rows_[kItemRows];
};

}  // namespace pyaclnn::attention
