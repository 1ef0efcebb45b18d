// The entry points of one instruction set level. The engine walks keys in blocks and hands over
// rows, so a kernel knows neither caches nor masks. What a function returns may depend on the heads
// of the call (the problem fixes them), never on its keys: every (head, key) and every (head,
// column) has its own fixed order of operations.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace pyaclnn::kernels {

enum class Element : uint8_t { F16, BF16, F32, I8 };
inline constexpr int32_t kElements = 4;
static_assert(static_cast<int32_t>(Element::I8) == kElements - 1);

// Rows of q, of scores and of sums have room up to the next multiple of this.
inline constexpr int32_t kLane = 32;
// Lanes of a panel at most.
inline constexpr int32_t kPanelLanes = 64;
// Keys of one call at most.
inline constexpr int32_t kKeysMax = 128;

// Row j: at[j], or base + j * step bytes where at is null. With neither there are no rows. Scores
// read up to kLane entries of `at` behind the last key, which repeat the last row.
struct Rows {
  const char *base;
  int64_t step;
  const void *const *at;
};

// x[h][j] (+)= sum over d of q[h][d] * (rows[j][d] + offset[d]), d < dim; q rows are zero from dim
// on. Strides in floats. `offset` (I8 only) has kLane room. `ahead`: rows to prefetch meanwhile;
// as many addresses are formed as there are keys, and only prefetched. Rows of x have kLane more
// room than keys; it may be written.
using Scores = void (*)(const float *q, int64_t q_stride, int32_t heads, Rows rows, Rows ahead,
                        const float *offset, int32_t keys, int32_t dim, bool add, float *x,
                        int64_t x_stride);

// acc[h][d] = acc[h][d] * factor[h] + (sum over j of p[h][j] * (rows[j][d] + offset[d]), keys in
// order). The sum of these keys is joined to acc at the end: beside one large weight many small
// ones would vanish one by one.
using Values = void (*)(const float *p, int64_t p_stride, int32_t heads, Rows rows, Rows ahead,
                        const float *offset, int32_t keys, int32_t dim, const float *factor,
                        float *acc, int64_t acc_stride);

// Keys [first, last) of a block: those that a row sees, as far as an interval can say.
struct KeyRange {
  int32_t first, last;
};

// As Scores and Values, faster for many rows (panel.inl.hpp), which need not see all keys (`ranges`
// null: they do): x is left as it is where no row near by sees the key, and p counts only where
// some row near by does. The rows of keys and values are read once. `panel` has kPanelLanes * dim,
// or kPanelLanes * keys, floats, dim and keys rounded up to kLane. With pairs a row of q holds bf16
// values in order, with zeros behind them, and p is as `weights` leaves it. The numbers of a row do
// not depend on the rows around it if its p is 0 wherever it does not look.
using PanelScores = void (*)(const float *q, int64_t q_stride, int32_t rows, const KeyRange *ranges,
                             Rows key_rows, Rows ahead, const float *offset, int32_t keys,
                             int32_t dim, bool add, float *panel, float *x, int64_t x_stride);
using PanelValues = void (*)(const float *p, int64_t p_stride, int32_t rows, const KeyRange *ranges,
                             Rows value_rows, Rows ahead, const float *offset, int32_t keys,
                             int32_t dim, const float *factor, float *panel, float *acc,
                             int64_t acc_stride);

struct Kernels {
  const char *name;

  Scores scores[kElements];
  Values values[kElements];
  // Products of pairs of bf16 values by one instruction, elements BF16: q as query_pairs leaves it,
  // p bf16 in the front of its float rows. Null where the level has none.
  Scores scores_pairs;
  Values values_pairs;
  // to = bf16 rows of q in the order that scores_pairs wants for that number of heads; stride in
  // floats.
  void (*query_pairs)(const void *const *q, int32_t heads, int32_t dim, float *to, int64_t stride);

  PanelScores panel_scores[kElements], panel_scores_pairs;
  PanelValues panel_values[kElements], panel_values_pairs;

  // x[h][j] = x[h][j] * key_scale[j] * scale, or `value` where replaced[j] is not 0. key_scale and
  // replaced may be null and have kLane room.
  void (*adjust)(float *x, int64_t x_stride, int32_t heads, int32_t keys, const float *key_scale,
                 float scale, const uint8_t *replaced, float value);

  // One step of the softmax per head over x * scale (scale > 0): m' = max(m, max x * scale),
  // p = exp(x * scale - m'), factor = exp(m - m'), l = l * factor + sum p. With m' = -infinity
  // nothing has weight yet. p takes the place of x: multiplied by value_scale[j] (may be null;
  // kLane room), in bf16 if `pairs`; behind the last key it is 0 up to the next multiple of kLane.
  void (*weights)(float *x, int64_t x_stride, int32_t heads, int32_t keys, float scale,
                  const float *value_scale, bool pairs, float *m, float *l, float *factor);

  // Joins the softmax state (m, l, acc) of the following keys (m2, l2, acc2) to the first.
  void (*merge)(float *m, float *l, float *acc, const float *m2, const float *l2, const float *acc2,
                int32_t heads, int32_t dim, int64_t acc_stride);

  // The largest squared norm of a row; NaN if that of any row is; not I8.
  float (*max_squared_norm)(Element element, Rows rows, int32_t keys, int32_t dim);
  void (*to_float)(Element element, const void *from, int64_t count, float *to);
  // to[d] = (float(from[d]) + offset[d]) * scale[d]
  void (*dequantise)(const int8_t *from, const float *scale, const float *offset, int64_t count,
                     float *to);
  // to[d] = acc[d] / l * factor, rounded to nearest even; not I8
  void (*store)(Element element, const float *acc, float l, float factor, int64_t count, void *to);
};

// The level in force; null: the reference.
const Kernels *active() noexcept;
// The level's name.
const char *active_name() noexcept;
// For pyaclnnGetRunProfile: a run begins on this thread; a part of it ran on that many.
void record_run(const char *level, int64_t items) noexcept;
void record_threads(int32_t threads) noexcept;
// The last run that began on this thread.
struct Run {
  const char *level;
  int32_t threads;
  int64_t items;
};
const Run &run_of_thread() noexcept;

extern "C" {
extern const Kernels pyaclnn_kernels_portable;
#if defined(__x86_64__)
extern const Kernels pyaclnn_kernels_avx2;
extern const Kernels pyaclnn_kernels_avx512;
extern const Kernels pyaclnn_kernels_avx512_bf16;
extern const Kernels pyaclnn_kernels_amx_bf16;
#elif defined(__aarch64__)
extern const Kernels pyaclnn_kernels_neon;
extern const Kernels pyaclnn_kernels_neon_bf16;
#endif
}

}  // namespace pyaclnn::kernels
