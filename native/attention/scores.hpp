// What happens to scores between the two products: scale, biases, masks. Shared by the reference
// and the block engine.
#pragma once

#include <cstdint>

#include "attention/geometry.hpp"

namespace pyaclnn::attention {

// Row of query row i in a mask or bias.
int64_t row_index(Mask::Rows rows, const Batch &batch, int64_t i);
// Column of key t; negative (Tail only): the key has none.
int64_t column_index(Mask::Columns columns, const Batch &batch, int64_t t);
// Element of the mask in the row and column that its tile has made of those of the score.
int64_t mask_element(const Mask &mask, int64_t b, int64_t n, int64_t row, int64_t column);

// Turns `count` (at most kAdjustMax) raw dot products of row i, head n, keys t0 .. of its range
// into scores; invisible ones become -infinity. `kernels` convert what is contiguous (null: element
// by element).
inline constexpr int64_t kAdjustMax = 128;
struct Adjusted {
  int64_t visible = 0;  // keys that Visible lets through ...
  int64_t kept = 0;     // ... and that the mask does not replace
};
Adjusted adjust_scores(const Problem &p, Addresses addresses, const Batch &batch, int64_t i,
                       int64_t n, int64_t t0, int64_t count, const kernels::Kernels *kernels,
                       float *x);

// A mask of bytes that replaces scores, its elements side by side.
bool byte_mask(const Mask &mask);
// For such a mask: its elements for keys t0 .. into `replaced`; returns how many are not 0.
int64_t replaced_keys(const Problem &p, Addresses addresses, const Batch &batch, int64_t i,
                      int64_t n, int64_t t0, int64_t count, uint8_t *replaced);

// Whether the mask may say something about some key from `t_first` to `t_last` for some query row
// from `first` to `last`.
bool mask_given(const Mask &mask, const Batch &batch, int64_t first, int64_t last, int64_t t_first,
                int64_t t_last);

// What a mask says about keys t0 .. (one block) for query row i of every head, as far as an
// interval can say: the keys in it are left alone; `most` is the greatest of what replaces the
// scores of the others, or is added to them. Not known: more than an interval would be needed.
struct UnmaskedInterval {
  bool known = false;
  int32_t first = 0, last = 0;
  float most = 0;
};
class UnmaskedIntervals {
 public:
  const UnmaskedInterval &find(const Problem &p, Addresses addresses, const Batch &batch, int64_t i,
                               int64_t t0, int32_t keys);

 private:
  // The tiles of a compressed mask come again and again.
  static constexpr int64_t kKnown = 128;
  struct Known {
    int64_t at = -1;
    int32_t keys = 0;
    UnmaskedInterval unmasked;
  } known_[kKnown];
  UnmaskedInterval none_;
};

}  // namespace pyaclnn::attention
