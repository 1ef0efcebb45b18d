// What a run writes: output rows with their post-processing, and the statistics of a row.
#pragma once

#include "attention/geometry.hpp"

namespace pyaclnn::attention {

// Writes one output row from its float32 values (null: zeros), with post-processing; an output that
// is not given is left out.
void store_output(const Problem &p, Addresses addresses, const Batch &batch, int64_t i, int64_t n,
                  const float *o);
void store_statistics(const Problem &p, Addresses addresses, const Batch &batch, int64_t i,
                      int64_t n, float lse, float max, float sum);
// A whole row of noKeys / outside values.
void store_empty_row(const Problem &p, Addresses addresses, const Batch &batch, int64_t i,
                     int64_t n);

// Fills the rows that no batch computes (Empty::outside).
void store_outside(const Problem &p, Addresses addresses);

}  // namespace pyaclnn::attention
