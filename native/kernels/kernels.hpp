// The entry points of one instruction set level. The engine walks keys in blocks and hands over row
// pointers, so a kernel knows neither caches nor masks. What a function returns must not depend on
// how many heads or keys one call holds: every (head, key) and every (head, column) has its own
// fixed order of operations.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace pyaclnn::kernels {

enum class Element : uint8_t { F16, BF16, F32 };

inline constexpr int32_t kLane = 8;  // q and score rows are padded to multiples of this

struct Kernels {
  const char *name;

  // x[h][j] (+)= sum over d of q[h][d] * rows[j][d], d < dim. q rows are zero up to the next
  // multiple of kLane. `ahead`: rows to prefetch meanwhile, or null.
  void (*scores)(Element element, const float *q, int64_t q_stride, int32_t heads,
                 const void *const *rows, const void *const *ahead, int32_t keys, int32_t dim,
                 bool add, float *x, int64_t x_stride);

  // One step of the softmax per head: m' = max(m, max x), x = exp(x - m'), factor = exp(m - m'),
  // l = l * factor + sum x. With m' = -infinity nothing has weight yet. x rows have room up to the
  // next multiple of kLane.
  void (*weights)(float *x, int64_t x_stride, int32_t heads, int32_t keys, float *m, float *l,
                  float *factor);

  // acc[h][d] = acc[h][d] * factor[h] + (sum over j of p[h][j] * rows[j][d], keys in order).
  void (*values)(Element element, const float *p, int64_t p_stride, int32_t heads,
                 const void *const *rows, const void *const *ahead, int32_t keys, int32_t dim,
                 const float *factor, float *acc, int64_t acc_stride);

  // Joins the softmax state (m, l, acc) of the following keys (m2, l2, acc2) to the first.
  void (*merge)(float *m, float *l, float *acc, const float *m2, const float *l2, const float *acc2,
                int32_t heads, int32_t dim, int64_t acc_stride);

  void (*to_float)(Element element, const void *from, int64_t count, float *to);
  // to[d] = (float(from[d]) + offset[d]) * scale[d]
  void (*dequantise)(const int8_t *from, const float *scale, const float *offset, int64_t count,
                     float *to);
  // to[d] = acc[d] / l * factor, rounded to nearest even
  void (*store)(Element element, const float *acc, float l, float factor, int64_t count, void *to);
};

// The level in force; null: the reference.
const Kernels *active() noexcept;
// The level's name.
const char *active_name() noexcept;
// For pyaclnnGetRunProfile: a run begins on one thread; a part of it ran on that many.
void record_run(const char *level, int64_t items) noexcept;
void record_threads(int32_t threads) noexcept;

extern "C" {
extern const Kernels pyaclnn_kernels_portable;
#if defined(__x86_64__)
extern const Kernels pyaclnn_kernels_avx2;
#endif
}

}  // namespace pyaclnn::kernels
