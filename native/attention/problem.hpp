// The engine's words: semantics and geometry of one attention, no address, no operator name, no
// status code. Operators lower to it once all their rules have passed.
//
// For batch b, query head n (key/value head g = n / (heads / kvHeads)), query row i and key position
// t = 0 .. len(b) - 1, counted from the first valid key st(b), a score goes through, in this order:
//   dot (+ rope dot) -> logN[i] -> scale -> clamp -> bias (pse, ALiBi) -> mask (Add*, then Replace)
//   -> invisible positions (Visible) are dropped -> softmax (with sink) -> * value -> out
// All of it in float32; the output is rounded once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "support/text.hpp"

namespace pyaclnn::attention {

enum class Type : uint8_t { f16, bf16, f32, i8, u8, i4, i32, i64 };

using Slot = uint16_t;  // index into Buffers
inline constexpr Slot kNone = 0xffff;

// A strided view of one buffer, strides and offset in elements; a stride of 0 broadcasts. For ragged
// tensors (all batches packed in one row axis) b is unused and the row is begin(b) + s.
struct View {
  Slot slot = kNone;
  Type type = Type::f32;
  int64_t b = 0, s = 0, h = 0, d = 0, offset = 0;
  bool given() const { return slot != kNone; }
};

// Lengths per batch. Full: `bound` for every batch. Host: values of phase 1, one per batch (or one for
// all when size is 1). Device: int32/int64 values read when the task runs, each checked against
// [0, bound].
struct Lengths {
  enum From : uint8_t { Full, Host, Device } from = Full;
  std::span<const int64_t> host;
  Slot slot = kNone;
  Type type = Type::i64;
  int64_t bound = 0;
};

// First row of a batch. Zero: 0. Host: given per batch (ragged packing). RightAligned: the valid rows
// end `padding` rows before `extent`: begin = extent - max(padding, 0) - len, `padding` an int64 read
// when the task runs (slot kNone: 0); a negative begin means the batch has no rows.
struct Begin {
  enum From : uint8_t { Zero, Host, RightAligned } from = Zero;
  std::span<const int64_t> host;
  Slot padding = kNone;
  int64_t extent = 0;
};

// Where keys and values are. Strided: k and v. List: kList/vList, one view per batch (b stride
// unused). Paged: k and v with b = stride of a block, s = stride of a row inside a block;
// block = table[b * tableStride + t / blockSize] (tablePerHead: table[(b * kvHeads + g) * tableStride
// + ...]); a used block outside [0, blockCount) is a fault, unused table entries are never read.
struct Cache {
  enum Form : uint8_t { Strided, List, Paged } form = Strided;
  View k, v;
  bool valueIsKeyPrefix = false;  // v is the first headDimV columns of k (MLA); v is not given
  std::span<const View> kList, vList;
  Slot table = kNone;  // int32
  int64_t tableStride = 0;
  bool tablePerHead = false;
  int32_t blockSize = 0, blockCount = 0;
  int8_t fractal = 0;  // 0: rows contiguous by d; 16 or 32: NZ, [.., D/fractal, S, fractal] (d stride:
                       // the stride between column groups)
  Slot layer = kNone;  // int32 scalar read when the task runs: caches of all layers in one buffer,
  int64_t layerStride = 0, layerCount = 0;  // layerStride elements apart; checked against layerCount
  int64_t window = 0;  // ring: positions wrap modulo window
  bool ring = false;
};

// Quantised keys and values: k = (k8 + offset) * scale, per Tensor, Head, Channel (head x d), Token
// (b x s), TokenHead (b x h x s), or paged by (block, row) and (block, head, row). View strides: b
// (batch or block), s (row), h (kv head), d. Scores: Float converts first; StaticInt8 / OnlineInt8
// quantise q (given scale, or from its row maximum) and multiply in integers.
struct Quant {
  enum By : uint8_t { None, Tensor, Head, Channel, Token, TokenHead, PagedToken, PagedTokenHead };
  By k = None, v = None;
  View kScale, kOffset, vScale, vOffset;
  enum Scores : uint8_t { Float, StaticInt8, OnlineInt8 } scores = Float;
  View qScale, pScale;
};

// Which keys a query row sees, besides the lengths. Row i of queryLen, key t of kvLen (both counted
// from the first valid one), anchored: TopLeft row = i; BottomRight row = i + kvLen - queryLen;
// Absolute row = i + qStart. Band: visible when t >= row - pre and t <= row + next; causal is
// next = 0 with pre unlimited. prefix[b]: keys t < prefix[b] are always visible.
struct Visible {
  bool causal = false, band = false;
  enum Anchor : uint8_t { TopLeft, BottomRight, Absolute } anchor = TopLeft;
  int64_t pre = INT64_MAX, next = INT64_MAX;
  std::span<const int64_t> prefix;
};

// An explicit mask. Replace: score = value where the byte is not 0. Add: score += mask. AddTimes:
// score += mask * value. The element is m[b, row, head, key] by the view's strides; row: Local i,
// Padded (i + begin of the query), Absolute (i + kvLen - queryLen); the key index is absolute
// (st(b) + t). tile > 0: a compressed mask, row and key taken modulo tile (tileRow, tileCol: first
// element used). `count`: elements behind offset; an index outside is a fault (0: not checked).
struct Mask {
  enum How : uint8_t { None, Replace, Add, AddTimes } how = None;
  float value = 0;
  View m;
  enum Rows : uint8_t { Local, Padded, Absolute } rows = Local;
  int16_t tile = 0, tileRow = 0, tileCol = 0;
  int64_t count = 0;
};

// Additive biases. pse[b, i, n, key] with the absolute key index. ALiBi with slopes[n] (f32), distance
// dist = row - t (anchored BottomRight unless qStart/kStart are given): Linear -slope*|dist|, Sqrt
// -slope*sqrt|dist|, LeftAlign slope*(t - (kvLen - 1)) , DistLinear slope*(t - row), DistSqrt
// -slope*sqrt(max(row - t, 0)).
struct Bias {
  View pse;
  bool beforeScale = false;  // pse is added before the multiplication by scale
  enum Alibi : uint8_t { No, Linear, Sqrt, LeftAlign, DistLinear, DistSqrt } alibi = No;
  View slopes, qStart, kStart;
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

// Rows without a valid key (noKeys) and rows whose every key is invisible (allMasked).
struct Empty {
  enum What : uint8_t { Zero, Untouched, Mean, Formula } noKeys = Zero, allMasked = Formula;
  float lseNoKeys = 0, lseAllMasked = 0;
};

// Outputs. o[b, i, n, d]; lse, max, sum (f32, [b, i, n]) if given. Post, for an int8 o:
// HalfSteps  h = half(o); h = half(h * half(scale)); h = half(h + half(offset)); int8 nearest even
// RoundAway  r = o * scale + offset; h = half(r) away from zero; int8 away from zero
// Fp32       int8 nearest even of o * scale + offset
// scale/offset views: h and d strides (0 for one value).
struct Out {
  View o, lse, max, sum;
  enum Post : uint8_t { No, HalfSteps, RoundAway, Fp32 } post = No;
  View scale, offset;
};

struct Problem {
  int64_t batch = 0, heads = 0, kvHeads = 0;
  int64_t headDim = 0, headDimV = 0, ropeDim = 0;
  int64_t queryMax = 0, keyMax = 0;  // rows a batch may have at most: plans and workspaces depend on these
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

// What a task could not accept in device data. The front end turns it into its own code and text.
enum class Late : uint8_t { Ok, NullAddress, Block, Length, Layer, MaskIndex, Run };
struct Outcome {
  Late what = Late::Ok;
  int64_t batch = 0, index = 0, value = 0, limit = 0;  // index: table column, slot, ...
};

// "block table entry [batch 1, column 3] is 99, valid are 0 .. 15" and the like.
void describe(const Outcome &outcome, Text &text);

}  // namespace pyaclnn::attention
