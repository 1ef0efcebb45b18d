// The engine's input: semantics and geometry of one attention, without addresses, operator names or
// status codes. Operators lower to it once all their rules have passed. include/pyaclnn/engine.h
// states every field's formula; the comments here say what a lowering needs to choose.
//
// For batch b, query head n (key/value head g = n / (heads / kvHeads)), query row i and key
// position t = 0 .. L - 1 (shared prefix first, then the batch's own keys from st(b) on), a score
// goes through, in this order:
//   dot (+ rope dot) -> qScale -> logN[i] -> razor -> scale -> clamp -> bias (pse, ALiBi) -> mask
//   -> invisible positions (Visible) are dropped -> softmax (with sink) -> * value -> out
// All of it in float32; the output is rounded once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "support/api.hpp"
#include "support/text.hpp"

namespace pyaclnn::attention {

enum class Type : uint8_t { f16, bf16, f32, i8, u8, i4, i32, i64 };

using Slot = uint16_t;  // index into the addresses of a run
inline constexpr Slot kNone = 0xffff;

// A strided view of one buffer, strides and offset in elements; a stride of 0 broadcasts. For
// ragged tensors (all batches packed in one row axis) b is 0 and the row is begin(b) + i.
struct View {
  Slot slot = kNone;
  Type type = Type::f32;
  int64_t b = 0, s = 0, h = 0, d = 0, offset = 0;
  bool given() const { return slot != kNone; }
};

// Lengths per batch. Full: `bound` for every batch. Host: values of phase 1, one per batch (or one
// for all when size is 1). Device: int32/int64 values read when the task runs, each checked against
// [0, bound].
struct Lengths {
  enum From : uint8_t { Full, Host, Device } from = Full;
  std::span<const int64_t> host;
  Slot slot = kNone;
  Type type = Type::i64;
  int64_t bound = 0;
};

// First row of a batch. Zero: 0. Host: given per batch (ragged packing). RightAligned: the valid
// rows end `padding` rows before `extent`: begin = extent - max(padding, 0) - len, `padding` an
// int64 read when the task runs (slot kNone: 0); a negative begin means the batch has no rows.
struct Begin {
  enum From : uint8_t { Zero, Host, RightAligned } from = Zero;
  std::span<const int64_t> host;
  Slot padding = kNone;
  int64_t extent = 0;
};

// Where keys and values are. Strided: k and v. List: kList/vList, one view per batch (b stride
// unused). Paged: k and v with b = stride of a block, s = stride of a row inside a block;
// block = table[b * tableStride + row / blockSize]; a used block outside [0, blockCount) is a
// fault, unused table entries are never read. perHead: each key/value head has its own keys; row b
// * kvHeads + g of the table and of kvLen is that of head g of batch b.
struct Cache {
  enum Form : uint8_t { Strided, List, Paged } form = Strided;
  View k, v;
  bool valueIsKeyPrefix = false;  // v is the first headDimV columns of k (MLA); v is not given
  std::span<const View> kList, vList;
  Slot table = kNone;  // int32
  int64_t tableStride = 0;
  bool perHead = false;
  int32_t blockSize = 0, blockCount = 0;
  // NZ, 0 = no: columns in groups of 16 or 32; h is then the columns of a head, d the stride
  // between column groups.
  int8_t fractal = 0, ropeFractal = 0;
  // int32 scalar read when the task runs: caches of all layers in one buffer, layerStride
  // (layerStrideV) elements apart; checked against layerCount.
  Slot layer = kNone;
  int64_t layerStride = 0, layerStrideV = 0, layerCount = 0;
  int64_t window = 0;  // ring: rows wrap modulo window
  bool ring = false;
};

// Quantised keys and values: k = (k8 + offset) * scale, per Tensor, Head, Channel (head x d), Token
// (b x s), TokenHead (b x h x s), or paged by (block, row) and (block, head, row). View strides: b
// (batch or block), s (row), h (kv head), d. qScale[b, row, n] multiplies the dot product,
// pvScale[n] the second product; Scores other than Float quantise the probabilities: StaticInt8 and
// OnlineInt8 by blocks of 128 keys (pScale as divisor; or from the row's running maximum),
// TimesInt8 the whole row (pScale as factor).
struct Quant {
  enum By : uint8_t { None, Tensor, Head, Channel, Token, TokenHead, PagedToken, PagedTokenHead };
  By k = None, v = None;
  View kScale, kOffset, vScale, vOffset;
  enum Scores : uint8_t { Float, StaticInt8, OnlineInt8, TimesInt8 } scores = Float;
  View qScale, pScale, pvScale;
};

// Which keys a query row sees, besides the lengths: row = i (TopLeft) or i + L - queryLen
// (BottomRight). causal: t <= row; band: row - pre <= t <= row + next; block: t / block <= row /
// block. prefix[b]: keys t < prefix[b] are always visible.
struct Visible {
  bool causal = false, band = false;
  enum Anchor : uint8_t { TopLeft, BottomRight } anchor = TopLeft;
  int64_t pre = INT64_MAX, next = INT64_MAX;
  int64_t block = 0;
  std::span<const int64_t> prefix;
};

// An explicit mask. Replace: score = value where the element is not 0. Add: score += mask.
// AddTimes: score += mask * value. The element is m[b, row, head, column] by the view's strides;
// fractal as for caches, with columns in place of those of a row.
// Rows: Local i, Padded (i + begin of the query), Absolute (i + L - queryLen). Columns: Padded
// st(b) + t, Local t, Tail t - (L - queryLen) (below 0: nothing happens). tile > 0: a compressed
// mask; Diagonal: only where row and column are in the same tile, taken modulo tile; Stripe: row
// less the column's tile begin; Lower: two tiles below one another, for pairs in the same tile and
// for those left of it, whose elements `grow` with their distance, `slopes` being factors of both
// per head. `count`: elements behind offset; an index outside is a fault (0: not checked).
struct Mask {
  enum How : uint8_t { None, Replace, Add, AddTimes } how = None;
  float value = 0;
  View m;
  enum Rows : uint8_t { Local, Padded, Absolute } rows = Local;
  enum Columns : uint8_t { PaddedColumns, LocalColumns, Tail } columns = PaddedColumns;
  enum TileForm : uint8_t { Diagonal, Stripe, Lower } tileForm = Diagonal;
  int32_t tile = 0, tileRow = 0, tileCol = 0;
  int64_t count = 0;
  int8_t fractal = 0;
  enum Grow : uint8_t { Fixed, Distance, Root, Column } grow = Fixed;
  View slopes;
};

// Additive biases. pse[b, row, n, column]. ALiBi with slopes[b, n] (float types), dist = row +
// qStart - (t + kStart): Linear -slope*|dist|, Sqrt -slope*sqrt|dist|, LeftAlign slope*t,
// DistLinear slope*dist, DistSqrt slope*sqrt(max(dist, 0)). razor[block, row in block] is added
// before scaling.
struct Bias {
  View pse;
  bool beforeScale = false;  // pse is added before the multiplication by scale
  Mask::Rows pseRows = Mask::Local, alibiRows = Mask::Local;
  Mask::Columns pseColumns = Mask::PaddedColumns;
  enum Alibi : uint8_t { No, Linear, Sqrt, LeftAlign, DistLinear, DistSqrt } alibi = No;
  View slopes;
  int64_t qStart = 0, kStart = 0;
  View razor;
};

struct Score {
  float scale = 1.0f;
  float preScaleQ = 1.0f;  // q is multiplied by it first ...
  bool roundQ = false;     // ... and rounded to its own type
  View logN;               // one factor per query row (s) and batch (b)
  bool clamp = false;
  float lo = 0, hi = 0;
  View sink;  // one extra score per head (h) that takes part in the softmax and has no value
};

// Rows without a valid key (noKeys: Zero or Untouched), rows whose every key is invisible or
// replaced by the mask (allMasked), and rows of the output that no batch computes (outside: Zero or
// Untouched; see Out::rows). Zero of an int8 output is the quantised zero.
struct Empty {
  enum What : uint8_t { Zero, Untouched, Mean, Formula } noKeys = Zero, allMasked = Formula, outside = Zero;
  float lseNoKeys = 0, maxNoKeys = 0, sumNoKeys = 0;
  float lseAllMasked = 0, maxAllMasked = 0, sumAllMasked = 0;
};

// Outputs. o[b, i, n, d]; lse, max, sum (f32, [b, i, n], written `repeat` times along d) if given.
// Post, for an int8 o:
// HalfSteps  h = half(o); h = half(h * half(scale)); h = half(h + half(offset)); int8 nearest even
// RoundAway  r = o * scale + offset; h = half(r) away from zero; int8 away from zero
// Fp32       int8 nearest even of o * scale + offset
// scale/offset views: h and d strides (0 for one value). rows: the row extent for Empty::outside
// (of each batch, or of the packed axis when qBegin is Host); 0: there are no outside rows.
struct Out {
  View o, lse, max, sum;
  enum Post : uint8_t { No, HalfSteps, RoundAway, Fp32 } post = No;
  int32_t repeat = 1;
  int64_t rows = 0;
  View scale, offset;
};

struct Problem {
  int64_t batch = 0, heads = 0, kvHeads = 0;
  int64_t headDim = 0, headDimV = 0, ropeDim = 0;
  int64_t queryMax = 0,
          keyMax = 0;  // rows a batch may have at most: plans and workspaces depend on these
  View q, qRope, kRope;
  View kPrefix, vPrefix;  // shared prefix of prefixLen rows that comes before every batch's keys
  int64_t prefixLen = 0;
  Lengths qLen, kvLen;
  Begin qBegin, kvBegin;
  Slot run = kNone;  // int32 per batch read when the task runs: 0 skips the batch
  Cache cache;
  Quant quant;
  Visible visible;
  Mask mask;
  Bias bias;
  Score score;
  Empty empty;
  Out out;
};

// Faults that are only found when a task runs, mostly in device data. The caller of the engine
// turns them into its own code and message.
enum class Fault : uint8_t {
  Ok,
  NullAddress,
  Block,
  QueryLength,
  KeyLength,
  Layer,
  MaskIndex,
  Memory
};
// batch and index (table column or slot), the value found, and its limit: valid are 0 .. limit - 1.
struct Outcome {
  Fault what = Fault::Ok;
  int64_t batch = 0, index = 0, value = 0, limit = 0;
};

// "block table entry [row 1, column 3] is 99, valid are 0 .. 15" and the like.
PYACLNN_API void describe(const Outcome &outcome, Text &text);

}  // namespace pyaclnn::attention
