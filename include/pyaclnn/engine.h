/* The attention engine on its own: one synchronous call on a plain struct, below every operator.
 * Tests, fuzzing and benchmarks use it to reach shapes no operator reaches; ported code never needs
 * it. Exported by libopapi. C11 and C++; no function pointers, fixed-width fields, zero means
 * "absent" or "default" everywhere: start from an all-zero struct.
 *
 * WHAT IS COMPUTED
 *
 * Names: batch b, query head n, key/value head g = n / (heads / kvHeads) (integer division), query
 * row i = 0 .. Lq(b)-1 with Lq = qLen, own keys Lkv(b) = kvLen, P = prefixLen, L = P + Lkv(b), key
 * position t = 0 .. L-1. Keys t < P come from the shared prefix, key t >= P is row r = st + t - P
 * of the batch's own keys, where st = begin of kvBegin; a ring cache uses r modulo window.
 * qb = begin of qBegin.
 * q, k, v below are already dequantised (see Quant). Everything is float32.
 *
 *   q'     = q[b, qb+i, n, :] * preScaleQ, rounded to the type of q when roundQ is 1   (not qRope)
 *   x      = sum_d q'[d] * k[t, g, d]  +  sum_r qRope[b, qb+i, n, r] * kRope[t, g, r]   (if given)
 *   x     *= qScale[b, qb+i, n]                                     if qScale is given
 *   x     *= logN[b, i]                                             if logN is given
 *   x     += razor[block, row]                                      if razor is given (paged only)
 *   x     += pse                                                    if pse is given and beforeScale
 *   x     *= scale
 *   x      = min(max(x, lo), hi)                                    if clamp
 *   x     += pse                                                    if pse is given otherwise
 *   x     += ALiBi                                                  (see Bias)
 *   x      mask: REPLACE x = value where the mask is not 0; ADD x += mask;
 *          ADD_TIMES x += mask * value
 *   positions that Visible drops take no part from here on
 *   m      = max over visible t of x, and of sink[n] if given
 *   e[t]   = exp(x - m);  sum = sum over visible t of e[t]  (+ exp(sink[n] - m) if given)
 *   o[d]   = pvScale[n] * (sum over visible t of p[t] * v[t, g, d]) / sum
 *          p = e unless quant.scores says int8
 *   lse    = m + ln(sum)
 *
 * Weights e below 2^-126 may count as 0. The output is rounded once, to nearest even (or goes
 * through Out.post). A position that is visible but masked with REPLACE keeps its (tiny or zero)
 * weight, so a NaN in its value may reach the output. Positions t >= L, unused blocks, table
 * columns that no key needs and padding rows are never read; positions dropped by Visible may be.
 * The bytes of the result do not depend on the number of threads, on blockSize or on the padding
 * side.
 */
#ifndef PYACLNN_ENGINE_H_
#define PYACLNN_ENGINE_H_

#include <stdint.h>

#include "acl/acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PYACLNN_ENGINE_VERSION 1

/* Element types. I4: two's complement nibbles, element e in byte e / 2, the low nibble first. A
 * scale of type I64 is a UINT64 dequantisation word: the float whose bits are the low 32 with the
 * lowest 13 cleared. */
typedef enum pyaclnnEngineType {
  PYACLNN_ENGINE_ABSENT = 0, /* the view is not given */
  PYACLNN_ENGINE_F16 = 1,
  PYACLNN_ENGINE_BF16 = 2,
  PYACLNN_ENGINE_F32 = 3,
  PYACLNN_ENGINE_I8 = 4,
  PYACLNN_ENGINE_U8 = 5, /* also BOOL */
  PYACLNN_ENGINE_I4 = 6,
  PYACLNN_ENGINE_I32 = 7,
  PYACLNN_ENGINE_I64 = 8
} pyaclnnEngineType;

/* Memory of the caller; outputs are written through it. Any alignment of the address; NULL only
 * with 0 bytes. */
typedef struct pyaclnnEngineBuffer {
  void *data;
  int64_t bytes;
} pyaclnnEngineBuffer;

/* A strided view. Its element [b, s, h, d] is number offset + b*B + s*S + h*H + d*D (in elements of
 * `type`, from the start of the buffer), where b, s, h, d are the strides below: 0 broadcasts,
 * negative ones are allowed. What the four indices are is said where the view is used. */
typedef struct pyaclnnEngineView {
  int32_t buffer; /* number in the table, counted from 1 */
  int32_t type;   /* pyaclnnEngineType; ABSENT: the view is not given */
  int64_t b, s, h, d, offset;
} pyaclnnEngineView;

typedef struct pyaclnnEngineInts {
  const int64_t *data;
  int64_t count;
} pyaclnnEngineInts;

typedef struct pyaclnnEngineViews {
  const pyaclnnEngineView *data;
  int64_t count;
} pyaclnnEngineViews;

/* A length per batch.
 * FULL: `bound` for every batch.
 * HOST: host[b]; with count 1 host[0] for every batch; count is 1 or at least batch and every value
 * in [0, bound].
 * DEVICE: element b of a buffer of type I32 or I64, read when the call runs; outside [0, bound] is
 * a fault in device data.
 * kvLen of a cache that is perHead has batch * kvHeads values. */
typedef enum pyaclnnEngineLengthsFrom {
  PYACLNN_ENGINE_LENGTHS_FULL = 0,
  PYACLNN_ENGINE_LENGTHS_HOST = 1,
  PYACLNN_ENGINE_LENGTHS_DEVICE = 2
} pyaclnnEngineLengthsFrom;
typedef struct pyaclnnEngineLengths {
  int32_t from;
  int32_t buffer; /* DEVICE: number in the table */
  int32_t type;   /* DEVICE: I32 or I64 */
  int32_t reserved;
  pyaclnnEngineInts host;
  int64_t bound; /* queryMax for qLen, keyMax for kvLen */
} pyaclnnEngineLengths;

/* The first row of a batch.
 * ZERO: 0. HOST: host[b] >= 0, count at least batch (batches packed in one row axis: give the
 * tensor's views batch stride 0). RIGHT_ALIGNED: extent - max(padding, 0) - len(b), `padding` one
 * I64 in a buffer, read when the call runs (0: none, 0 rows); if that is negative the batch has no
 * rows: a query batch computes nothing, a key batch has no keys (whole L = 0). */
typedef enum pyaclnnEngineBeginFrom {
  PYACLNN_ENGINE_BEGIN_ZERO = 0,
  PYACLNN_ENGINE_BEGIN_HOST = 1,
  PYACLNN_ENGINE_BEGIN_RIGHT_ALIGNED = 2
} pyaclnnEngineBeginFrom;
typedef struct pyaclnnEngineBegin {
  int32_t from;
  int32_t padding; /* RIGHT_ALIGNED: buffer number, 0: no padding */
  pyaclnnEngineInts host;
  int64_t extent; /* RIGHT_ALIGNED: rows of the padded axis */
} pyaclnnEngineBegin;

/* Where the own keys and values are; row r as defined at the top, kv head g, column d.
 * STRIDED: k[b, r, g, d], v[b, r, g, d].
 * LIST: kList.data[b][0, r, g, d] and vList (counts at least batch, all of one type).
 * PAGED: k[block, r mod blockSize, g, d] with block = table[b * tableStride + r / blockSize] (I32);
 * a block outside [0, blockCount) that a key needs is a fault in device data. perHead (PAGED): each
 * kv head has keys of its own; b * kvHeads + g takes the place of b in the table and in kvLen, and
 * L is that of the head. kRope is addressed like k (LIST: like STRIDED), own strides, ropeFractal
 * in place of fractal. fractal c > 0 (16 or 32): column x = g * h + d of a row is element offset +
 * b*B + s*S + (x / c) * d_stride + x mod c: NZ storage; h is then the number of columns of a head.
 * valueIsKeyPrefix: v[.., d] = k[.., d] (dequantised as k; quant.v, vScale, vOffset are ignored)
 * for d < headDimV <= headDim; v is not given.
 * layer: buffer with one I32, read when the call runs: k moves by layer * layerStride elements, v
 * by layer * layerStrideV; outside [0, layerCount) is a fault in device data. */
typedef enum pyaclnnEngineCacheForm {
  PYACLNN_ENGINE_CACHE_STRIDED = 0,
  PYACLNN_ENGINE_CACHE_LIST = 1,
  PYACLNN_ENGINE_CACHE_PAGED = 2
} pyaclnnEngineCacheForm;
typedef struct pyaclnnEngineCache {
  int32_t form;
  int32_t valueIsKeyPrefix;
  pyaclnnEngineView k, v;
  pyaclnnEngineViews kList, vList;
  int32_t table; /* buffer number */
  int32_t blockSize, blockCount;
  int32_t fractal, ropeFractal; /* 0, 16 or 32 */
  int32_t layer;                /* buffer number, 0: none */
  int64_t tableStride;
  int64_t layerStride, layerStrideV, layerCount;
  int64_t window; /* ring: > 0; rows r >= window wrap to r mod window */
  int32_t ring;
  int32_t perHead; /* 0 or 1 */
} pyaclnnEngineCache;

/* Quantised keys and values (types I8, I4; the prefix with the same parameters):
 *   k = (float(k8) + kOffset) * kScale,  v = (float(v8) + vOffset) * vScale;  offset not given: 0
 *   (floats, or I32).
 * Scale and offset are read at [b, r', g, d] by their view's strides: b is the batch and
 * r' = st + t for TENSOR .. TOKEN_HEAD (st = 0 with a prefix), or b is the block and r' the row in
 * the block for PAGED_TOKEN and PAGED_TOKEN_HEAD (paged caches, not with a prefix). Strides that
 * may differ from 0: TENSOR none, HEAD b h, CHANNEL b h d, TOKEN b s, TOKEN_HEAD b s h,
 * PAGED_TOKEN b s, PAGED_TOKEN_HEAD b s h.
 * NONE with an integer type: the integer itself is the value.
 *
 * qScale[b, qb+i, n]: factor of the dot product, pvScale[0, 0, n] of the second product (both:
 * query head). scores, with p below replacing e in the second product only (sum always adds e):
 *   FLOAT          p = e
 *   TIMES_INT8     p = int8(e * pScale[n]), int8(): nearest even, clipped to [-128, 127]
 *   STATIC_INT8    blocks of 128 keys (t / 128) in order with running maximum m' (including the
 *                  block): e' = exp(x - m'), p = int8(e' / pScale[n]) * pScale[n]; the accumulated
 *                  o and sum are multiplied by exp(m'_old - m'_new) between blocks
 *   ONLINE_INT8    the same with a = max(a of earlier blocks, max of |e'| of the block), s = a /
 *                  127, p = int8(e' / s) * s
 * Blocks without a visible key are skipped. With STATIC_INT8 and ONLINE_INT8 no sink. */
typedef enum pyaclnnEngineQuantBy {
  PYACLNN_ENGINE_QUANT_NONE = 0,
  PYACLNN_ENGINE_QUANT_TENSOR = 1,
  PYACLNN_ENGINE_QUANT_HEAD = 2,
  PYACLNN_ENGINE_QUANT_CHANNEL = 3,
  PYACLNN_ENGINE_QUANT_TOKEN = 4,
  PYACLNN_ENGINE_QUANT_TOKEN_HEAD = 5,
  PYACLNN_ENGINE_QUANT_PAGED_TOKEN = 6,
  PYACLNN_ENGINE_QUANT_PAGED_TOKEN_HEAD = 7
} pyaclnnEngineQuantBy;
typedef enum pyaclnnEngineScores {
  PYACLNN_ENGINE_SCORES_FLOAT = 0,
  PYACLNN_ENGINE_SCORES_STATIC_INT8 = 1,
  PYACLNN_ENGINE_SCORES_ONLINE_INT8 = 2,
  PYACLNN_ENGINE_SCORES_TIMES_INT8 = 3
} pyaclnnEngineScores;
typedef struct pyaclnnEngineQuant {
  int32_t k, v;   /* pyaclnnEngineQuantBy */
  int32_t scores; /* pyaclnnEngineScores */
  int32_t reserved;
  pyaclnnEngineView kScale, kOffset, vScale, vOffset;
  pyaclnnEngineView qScale, pScale, pvScale;
} pyaclnnEngineQuant;

/* Which keys a row sees. row = i (TOP_LEFT) or i + L - Lq (BOTTOM_RIGHT). Key t is visible when
 *   t < prefix[b]   (prefix given: count at least batch)   or all of:
 *   causal:     t <= row
 *   band:       row - pre <= t <= row + next                 (exact integers, no overflow)
 *   block > 0:  floor(t / block) <= floor(row / block) */
typedef enum pyaclnnEngineAnchor {
  PYACLNN_ENGINE_TOP_LEFT = 0,
  PYACLNN_ENGINE_BOTTOM_RIGHT = 1
} pyaclnnEngineAnchor;
typedef struct pyaclnnEngineVisible {
  int32_t causal, band; /* 0 or 1 */
  int32_t anchor;
  int32_t reserved;
  int64_t pre, next;
  int64_t block;
  pyaclnnEngineInts prefix;
} pyaclnnEngineVisible;

/* Row and column index of masks and biases.
 * Rows: LOCAL i; PADDED qb + i; ABSOLUTE i + L - Lq.
 * Columns: PADDED st + t (st = 0 when P > 0); LOCAL t; TAIL t - (L - Lq), and columns below 0 are
 * not masked / not biased. */
typedef enum pyaclnnEngineRows {
  PYACLNN_ENGINE_ROWS_LOCAL = 0,
  PYACLNN_ENGINE_ROWS_PADDED = 1,
  PYACLNN_ENGINE_ROWS_ABSOLUTE = 2
} pyaclnnEngineRows;
typedef enum pyaclnnEngineColumns {
  PYACLNN_ENGINE_COLUMNS_PADDED = 0,
  PYACLNN_ENGINE_COLUMNS_LOCAL = 1,
  PYACLNN_ENGINE_COLUMNS_TAIL = 2
} pyaclnnEngineColumns;

/* An explicit mask, element m[b, R, n, C] with R, C from rows and columns (a view's d stride is the
 * column stride). How: see the order above; REPLACE takes any type (not 0: masked), ADD and
 * ADD_TIMES floats. fractal c > 0 (16 or 32): column C, after what a tile makes of it, is element
 * (C / c) * d_stride + C mod c of its row.
 * tile T > 0, a compressed mask:
 *   DIAGONAL  used only where R / T == C / T, element m[b, R mod T + tileRow, n, C mod T + tileCol]
 *   STRIPE    element m[b, R - T * (C / T) + tileRow, n, C mod T + tileCol]; not used where
 *             C / T > R / T
 *   LOWER     element m[b, R mod T + tileRow, n, C mod T + tileCol] where R / T == C / T,
 *             m[b, T + R mod T + tileRow, n, C mod T + tileCol] where C / T < R / T; not used
 *             where C / T > R / T
 * elsewhere, and for R < 0, the score stays as it is. ADD and ADD_TIMES may make something else of
 * an element, x:
 *   grow (LOWER only), with A = R / T and B = C / T
 *     FIXED     x
 *     DISTANCE  x + T * (A - B) - T where B < A, else x
 *     ROOT      sqrt(x * x + (T * (A - B) - T)) where B < A, else x
 *     COLUMN    x + T * B
 *   slopes[b, 0, n], if given (floats), is then its factor.
 * count > 0: elements from `offset` on that may
 * be read; an index outside [0, count) that a valid key needs is a fault in device data (0: the
 * buffer's size alone decides). */
typedef enum pyaclnnEngineMaskHow {
  PYACLNN_ENGINE_MASK_NONE = 0,
  PYACLNN_ENGINE_MASK_REPLACE = 1,
  PYACLNN_ENGINE_MASK_ADD = 2,
  PYACLNN_ENGINE_MASK_ADD_TIMES = 3
} pyaclnnEngineMaskHow;
typedef enum pyaclnnEngineTile {
  PYACLNN_ENGINE_TILE_DIAGONAL = 0,
  PYACLNN_ENGINE_TILE_STRIPE = 1,
  PYACLNN_ENGINE_TILE_LOWER = 2
} pyaclnnEngineTile;
typedef enum pyaclnnEngineGrow {
  PYACLNN_ENGINE_GROW_FIXED = 0,
  PYACLNN_ENGINE_GROW_DISTANCE = 1,
  PYACLNN_ENGINE_GROW_ROOT = 2,
  PYACLNN_ENGINE_GROW_COLUMN = 3
} pyaclnnEngineGrow;
typedef struct pyaclnnEngineMask {
  int32_t how;
  float value;
  pyaclnnEngineView m;
  int32_t rows, columns;
  int32_t tile, tileForm, tileRow, tileCol;
  int64_t count;
  int32_t fractal; /* 0, 16 or 32 */
  int32_t grow;
  pyaclnnEngineView slopes;
} pyaclnnEngineMask;

/* Additive biases.
 * pse[b, R, n, C] (float types; d stride: column), R and C from pseRows and pseColumns.
 * razor[block, row in block]: view strides b and s; paged caches only.
 * ALiBi, slopes[b, 0, n] (floats), dist = R + qStart - (t + kStart), R from alibiRows:
 *   LINEAR -slope * |dist|;  SQRT -slope * sqrt(|dist|);  LEFT_ALIGN slope * t;
 *   DIST_LINEAR slope * dist;  DIST_SQRT slope * sqrt(max(dist, 0)) */
typedef enum pyaclnnEngineAlibi {
  PYACLNN_ENGINE_ALIBI_NO = 0,
  PYACLNN_ENGINE_ALIBI_LINEAR = 1,
  PYACLNN_ENGINE_ALIBI_SQRT = 2,
  PYACLNN_ENGINE_ALIBI_LEFT_ALIGN = 3,
  PYACLNN_ENGINE_ALIBI_DIST_LINEAR = 4,
  PYACLNN_ENGINE_ALIBI_DIST_SQRT = 5
} pyaclnnEngineAlibi;
typedef struct pyaclnnEngineBias {
  pyaclnnEngineView pse;
  int32_t beforeScale;
  int32_t pseRows, pseColumns;
  int32_t alibi, alibiRows;
  int32_t reserved;
  pyaclnnEngineView slopes;
  int64_t qStart, kStart;
  pyaclnnEngineView razor;
} pyaclnnEngineBias;

/* scale and preScaleQ are used as given: 0 is a factor of 0, not a default. logN[b, i] by the
 * view's b and s strides; sink[0, 0, n]. */
typedef struct pyaclnnEngineScore {
  float scale, preScaleQ;
  int32_t roundQ, clamp;
  float lo, hi;
  pyaclnnEngineView logN, sink;
} pyaclnnEngineScore;

/* Special rows.
 * noKeys: L = 0. ZERO: o = 0 and the ...NoKeys constants as lse, max, sum; UNTOUCHED: nothing is
 *   written.
 * allMasked: L > 0 and every key is dropped by Visible or replaced by the mask (REPLACE, not 0),
 *   or, unless FORMULA, m is -infinity.
 *   FORMULA    as the formulas say; if no key is visible and there is no sink: o = 0 and the
 *              ...AllMasked constants
 *   ZERO       o = 0 and the ...AllMasked constants
 *   MEAN       o = pvScale * the mean of v over all L keys, and the ...AllMasked constants
 *   UNTOUCHED  nothing is written
 * outside: rows of the output that no batch computes (see Out.rows): ZERO (with the ...NoKeys
 *   constants) or UNTOUCHED.
 * "o = 0" with an int8 output means what post makes of 0. */
typedef enum pyaclnnEngineEmptyWhat {
  PYACLNN_ENGINE_EMPTY_ZERO = 0,
  PYACLNN_ENGINE_EMPTY_UNTOUCHED = 1,
  PYACLNN_ENGINE_EMPTY_MEAN = 2,
  PYACLNN_ENGINE_EMPTY_FORMULA = 3
} pyaclnnEngineEmptyWhat;
typedef struct pyaclnnEngineEmpty {
  int32_t noKeys, allMasked, outside;
  float lseNoKeys, maxNoKeys, sumNoKeys;
  float lseAllMasked, maxAllMasked, sumAllMasked;
  int32_t reserved;
} pyaclnnEngineEmpty;

/* Outputs, each if given. o[b, qb+i, n, d] (F16, BF16, F32, or I8 with a post); lse, max, sum (F32)
 * at [b, qb+i, n, j] for j < repeat (0 counts as 1): the same value `repeat` times.
 * rows: row extent of the outputs for Empty.outside; of each batch, or (qBegin HOST) of the one
 * packed axis; 0: no outside rows.
 * post, scale[0, 0, n, d] and offset[0, 0, n, d] (floats; offset not given: 0; products and sums
 * are rounded to float32 one by one; results beyond int8 saturate; NaN gives 0):
 *   NO          o rounded to its type
 *   HALF_STEPS  h = half(o); h = half(h * half(scale)); h = half(h + half(offset));
 *               int8 nearest even of h
 *   ROUND_AWAY  h = half of o * scale + offset, ties away from zero; int8 of h, ties away from zero
 *   FP32        int8 nearest even of o * scale + offset */
typedef enum pyaclnnEnginePost {
  PYACLNN_ENGINE_POST_NO = 0,
  PYACLNN_ENGINE_POST_HALF_STEPS = 1,
  PYACLNN_ENGINE_POST_ROUND_AWAY = 2,
  PYACLNN_ENGINE_POST_FP32 = 3
} pyaclnnEnginePost;
typedef struct pyaclnnEngineOut {
  pyaclnnEngineView o, lse, max, sum;
  int32_t post;
  int32_t repeat;
  int64_t rows;
  pyaclnnEngineView scale, offset;
} pyaclnnEngineOut;

/* One attention. q[b, qb+i, n, d], qRope[b, qb+i, n, r], kRope as k; kPrefix[0, t, g, d],
 * vPrefix[0, t, g, d] for t < prefixLen (type of k and v; kvBegin ZERO; not with kRope or
 * valueIsKeyPrefix).
 * q: F16, BF16, F32, I8; k and v: F16, BF16, F32, I8, I4; ropes: F16, BF16, F32; in any mixture.
 * run: buffer with one I32 per batch, read when the call runs: 0 skips the batch, none of whose
 * rows is written, not even as an outside row (0: no such buffer).
 * kvHeads divides heads. Limits: batch 1 .. 2^20, heads and kvHeads 1 .. 2^14, headDim and headDimV
 * 1 .. 2^16, ropeDim 0 .. 2^16; queryMax and keyMax (the bounds of qLen and kvLen) and prefixLen
 * 0 .. 2^28. */
typedef struct pyaclnnEngineProblem {
  uint32_t size;    /* sizeof(pyaclnnEngineProblem) */
  uint32_t version; /* PYACLNN_ENGINE_VERSION */
  const pyaclnnEngineBuffer *buffers;
  int64_t bufferCount; /* at most 1024 */
  int64_t batch, heads, kvHeads;
  int64_t headDim, headDimV, ropeDim; /* ropeDim 0: no ropes */
  int64_t queryMax, keyMax;
  pyaclnnEngineView q, qRope, kRope;
  pyaclnnEngineView kPrefix, vPrefix;
  int64_t prefixLen;
  pyaclnnEngineLengths qLen, kvLen;
  pyaclnnEngineBegin qBegin, kvBegin;
  int32_t run;
  int32_t reserved;
  pyaclnnEngineCache cache;
  pyaclnnEngineQuant quant;
  pyaclnnEngineVisible visible;
  pyaclnnEngineMask mask;
  pyaclnnEngineBias bias;
  pyaclnnEngineScore score;
  pyaclnnEngineEmpty empty;
  pyaclnnEngineOut out;
} pyaclnnEngineProblem;

/* Computes one attention and returns when it is done; needs no context, device or stream. Reads the
 * struct and its arrays during the call only. Inputs and outputs must not overlap (refused where an
 * output lies in the buffer of run, a length, a padding, the layer or the table).
 * Returns 0; 100000 for a struct it does not take (aclGetRecentErrMsg says which field, what was
 * found and what is accepted; nothing was written): every slot, type and size is checked, and every
 * view must stay inside its buffer for all indices it may be used with (lengths that are read late
 * count with their bound);
 * 507015 for a fault in device data (a length, block, layer or mask index out of range; the text
 * names it);
 * 207000 when memory is exhausted. */
ACL_FUNC_VISIBILITY int32_t pyaclnnEngineAttention(const pyaclnnEngineProblem *problem);

#ifdef __cplusplus
}
#endif

#endif /* PYACLNN_ENGINE_H_ */
