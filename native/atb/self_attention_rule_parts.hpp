// What rules of SelfAttentionOperation say and ask, whichever step they belong to.
#pragma once

#include <algorithm>
#include <concepts>

#include "atb/self_attention_rules.hpp"

namespace pyaclnn::atb::self_attention_rules {

using Param = Call::Param;
// One by one: clang 14 takes what `using enum` brings for overloaded functions.
inline constexpr size_t kQuery = Call::kQuery, kKey = Call::kKey, kValue = Call::kValue,
                        kCacheK = Call::kCacheK, kCacheV = Call::kCacheV,
                        kBlockTables = Call::kBlockTables, kMask = Call::kMask,
                        kTokenOffset = Call::kTokenOffset, kSeqLen = Call::kSeqLen,
                        kKvSeqLen = Call::kKvSeqLen, kLayerId = Call::kLayerId,
                        kBatchRunStatus = Call::kBatchRunStatus, kSlopes = Call::kSlopes,
                        kQkDescale = Call::kQkDescale, kVpvDescale = Call::kVpvDescale,
                        kPScale = Call::kPScale, kLogN = Call::kLogN,
                        kInputSlots = Call::kInputSlots;

// ---- saying

template <size_t kLength>
struct Words {
  char text[kLength];
  consteval Words(const char (&its_text)[kLength]) { std::copy_n(its_text, kLength, text); }
};

inline void say_value(bool value, Text &text) { text << (value ? "true (1)" : "false (0)"); }
inline void say_value(float value, Text &text) { text << static_cast<double>(value); }
template <class Number>
void say_value(Number value, Text &text) {
  if constexpr (std::same_as<Number, uint32_t>) {
    text << value;
  } else {
    text << static_cast<int>(value);  // also enumerators
  }
}

// The value of a field, and what it must be.
template <auto kField, Words kLimit>
void told(const Call &c, Saying &s) {
  say_value(c.param.*kField, s.value);
  s.limit << kLimit.text;
}

template <size_t kSlot, Words kLimit>
void told_shape(const Call &c, Saying &s) {
  say_shape(c.desc(kSlot), s.value);
  s.limit << kLimit.text;
}

// ---- when

inline bool sound(const Call &c) { return c.sound; }
inline bool packed_bsnd(const Call &c) { return c.packed() && !c.bnsd(); }
inline bool cached_bsnd(const Call &c) { return c.cached() && !c.bnsd(); }
inline bool packed_bnsd(const Call &c) { return c.packed() && c.bnsd(); }
inline bool cached_bnsd(const Call &c) { return c.cached() && c.bnsd(); }
inline bool prefix(const Call &c) { return c.prefix(); }
inline bool bnsd(const Call &c) { return c.bnsd(); }
inline bool bsnd(const Call &c) { return !c.bnsd(); }
inline bool mla(const Call &c) { return c.mla(); }
inline bool quantised(const Call &c) { return c.quantised(); }
inline bool log_n(const Call &c) { return c.log_n(); }
inline bool fractal(const Call &c) { return c.limits.fractal; }
inline bool with_status(const Call &c) { return c.cached() && c.run_status(); }

// ---- shapes

inline bool is_multiple(int64_t n, int64_t of) { return n >= 0 && n % of == 0; }

// Head sizes as the device's check has them: the rank of the keys decides for the values, too.
struct HeadSizes {
  int64_t key, value;
  int64_t largest() const { return std::max(key, value); }
};
inline HeadSizes head_sizes(const Call &c) {
  const size_t key = c.key_slot();
  if (c.limits.fractal) {
    const int64_t size = c.cached() && c.bypass()
                             ? c.hidden(key) / c.kv_heads()
                             : c.last_dim(key) / (c.rank(key) == 2 ? c.kv_heads() : 1);
    return {size, size};
  }
  const int64_t by = c.heads_together() ? c.kv_heads() : 1;
  return {c.last_dim(key) / by,
          c.mla() ? int64_t{c.param.mlaVHeadSize} : c.last_dim(c.value_slot()) / by};
}

}  // namespace pyaclnn::atb::self_attention_rules
