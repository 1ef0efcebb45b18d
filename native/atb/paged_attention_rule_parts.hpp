// What rules of PagedAttentionOperation say and ask, whichever step they belong to.
#pragma once

#include <algorithm>
#include <initializer_list>

#include "atb/paged_attention_rules.hpp"

namespace pyaclnn::atb::paged_attention_rules {

using Param = Call::Param;
using Limits = Call::Limits;

inline constexpr int64_t kHeadMost = 576;         // of keys, queries and values
inline constexpr int64_t kBlockElements = 16384;  // of a head in a block

// ---- what a call asks for

// A parameter that says whether the operation has something, and is refused beside another one or
// on some products.
struct Choice {
  const char *parameter;
  bool (*chosen)(const Call &);
  int64_t (*value)(const Call &);
};

inline constexpr Choice kMask{"maskType", [](const Call &c) { return c.has_mask(); },
                              [](const Call &c) -> int64_t { return c.param.maskType; }};
inline constexpr Choice kNorm{
    "maskType", [](const Call &c) { return c.masked(Param::MASK_TYPE_NORM); }, kMask.value};
inline constexpr Choice kAlibi{
    "maskType", [](const Call &c) { return c.masked(Param::MASK_TYPE_ALIBI); }, kMask.value};
inline constexpr Choice kNormCompress{
    "maskType", [](const Call &c) { return c.masked(Param::MASK_TYPE_NORM_COMPRESS); },
    kMask.value};
inline constexpr Choice kRunStatus{"batchRunStatusEnable",
                                   [](const Call &c) { return c.run_status(); },
                                   [](const Call &) -> int64_t { return 1; }};
inline constexpr Choice kQuant{
    "quantType", [](const Call &c) { return c.param.quantType != Param::TYPE_QUANT_UNQUANT; },
    [](const Call &c) -> int64_t { return c.param.quantType; }};
inline constexpr Choice kDequant{"quantType", [](const Call &c) { return c.dequant(); },
                                 kQuant.value};
inline constexpr Choice kInt8{"quantType", [](const Call &c) { return c.int8(); }, kQuant.value};
inline constexpr Choice kOffset{"hasQuantOffset",
                                [](const Call &c) { return c.param.hasQuantOffset; },
                                [](const Call &) -> int64_t { return 1; }};
inline constexpr Choice kCompress{"compressType", [](const Call &c) { return c.compressed(); },
                                  [](const Call &c) -> int64_t { return c.param.compressType; }};
inline constexpr Choice kRope{"compressType", [](const Call &c) { return c.rope(); },
                              kCompress.value};
inline constexpr Choice kSpec{
    "calcType", [](const Call &c) { return c.param.calcType != Param::CALC_TYPE_UNDEFINED; },
    [](const Call &c) -> int64_t { return c.param.calcType; }};
inline constexpr Choice kLogN{"scaleType", [](const Call &c) { return c.log_n(); },
                              [](const Call &c) -> int64_t { return c.param.scaleType; }};
inline constexpr Choice kScale{
    "scaleType", [](const Call &c) { return c.param.scaleType != Param::SCALE_TYPE_TOR; },
    kLogN.value};
inline constexpr Choice kBnsd{"inputLayout", [](const Call &c) { return c.bnsd(); },
                              [](const Call &c) -> int64_t { return c.param.inputLayout; }};
inline constexpr Choice kMla{"mlaVHeadSize", [](const Call &c) { return c.mla(); },
                             [](const Call &c) -> int64_t { return c.param.mlaVHeadSize; }};

// ---- shapes

// The first of some slots whose tensor is there and does not fit; kInputSlots: none.
template <class Fits>
size_t first_wrong(const Call &c, std::initializer_list<size_t> slots, Fits fits) {
  for (size_t slot : slots) {
    if (c.has(slot) && !fits(slot)) return slot;
  }
  return Call::kInputSlots;
}
inline int64_t wanted_rank(size_t slot) {
  switch (slot) {
    case Call::kQuery: return 3;
    case Call::kBlockTables: return 2;
    case Call::kContextLens: return 1;
    default: return 4;
  }
}
inline size_t wrong_rank(const Call &c) {
  return first_wrong(
      c, {Call::kValueCache, Call::kQuery, Call::kKeyCache, Call::kBlockTables, Call::kContextLens},
      [&](size_t slot) { return c.rank(slot) == wanted_rank(slot); });
}
inline bool ranked(const Call &c) { return sound(c) && wrong_rank(c) == Call::kInputSlots; }
inline bool nz(const Call &c) { return c.limits.fractal; }
inline bool nd(const Call &c) { return !c.limits.fractal; }
// A path of its own on the device.
inline bool nd_bnsd(const Call &c) { return nd(c) && c.bnsd(); }
inline bool nd_bsnd(const Call &c) { return nd(c) && !c.bnsd(); }
// Modes with one head size, and a smaller one.
inline bool strict(const Call &c) {
  return nd_bsnd(c) && (c.dequant() || c.log_n() || c.compressed() ||
                        ((kSpec.chosen(c) || c.int8()) && !c.mla()));
}
inline bool lenient(const Call &c) { return nd_bsnd(c) && !strict(c); }
inline int64_t key_head_size(const Call &c) { return c.dim(Call::kKeyCache, 3); }
inline int64_t larger_head_size(const Call &c) {
  return std::max(key_head_size(c), c.value_head_size());
}
inline bool block_fits(const Call &c, int64_t head_size) {
  return head_size * c.block_size() <= kBlockElements;
}
inline bool block_in_sixteens(const Call &c) { return c.block_size() % 16 == 0; }
// "shape (9, 16, 2, 32)"
template <size_t kSlot>
void say_it(const Call &c, Saying &s) {
  say_shape(c.desc(kSlot), s.value);
}
inline void say_heads(const Call &c, Saying &s) {
  s.value << "head size " << key_head_size(c);
  if (c.value_head_size() != key_head_size(c)) s.value << " and of values " << c.value_head_size();
}
inline bool head_fits(const Call &c) { return larger_head_size(c) <= kHeadMost; }
inline void say_head_most(const Call &c, Saying &s) {
  say_heads(c, s);
  s.limit << "must be at most " << kHeadMost;
}
inline void say_block(const Call &c, int64_t head_size, Saying &s) {
  s.value << "block size " << c.block_size() << " with head size " << head_size;
  s.limit << "their product must be at most " << kBlockElements;
}
// The one shape of large blocks.
inline bool deep_mla(const Call &c) {
  return c.mla() && c.block_size() == 256 && c.param.kvHeadNum == 1 &&
         (c.param.headNum == 16 || c.param.headNum == 32) && key_head_size(c) == 576 &&
         c.value_head_size() == 512 && !kSpec.chosen(c);
}
inline bool wide_block(const Call &c) {
  return larger_head_size(c) <= 256 || c.block_size() <= 128 || deep_mla(c);
}
inline void say_wide_block(const Call &c, Saying &s) {
  s.value << "block size " << c.block_size() << " with head size " << larger_head_size(c);
  s.limit << "must be at most 128 with head sizes above 256";
}
inline bool mask_free(const Call &c) { return c.masked(Param::MASK_TYPE_MASK_FREE); }

}  // namespace pyaclnn::atb::paged_attention_rules
