// ReshapeAndCacheOperation: keys and values of new tokens go into paged caches.
#include <algorithm>
#include <cstring>

#include "acl/acl_base.h"
#include "atb/cache_rows.hpp"
#include "atb/infer_op_params.h"
#include "atb/operation.hpp"
#include "support/half.hpp"

namespace pyaclnn::atb {
namespace {

using Param = infer::ReshapeAndCacheParam;

struct Limits : Row {
  bool compress = false;   // compressType
  bool keysAlone = false;  // K_CACHE_V_BYPASS
  bool fractal = false;    // caches are NZ whatever kvCacheCfg says
};

constexpr Limits kLimits[] = {
    {{ProductId::AtlasA2}, true, true, false},
    {{ProductId::AtlasA3}, true, true, false},
    {{ProductId::Ascend950, false}, false, true, false},
    {{ProductId::Atlas310P}, false, false, true},
    {{ProductId::Atlas910}, false, false, true},
};

using Call = OperationCall<Param, Limits>;
using Rule = pyaclnn::Rule<Call>;

enum : size_t { kKey, kValue, kKeyCache, kValueCache, kSlotMapping, kWins, kSeqLen, kOffsetIndex };
enum : size_t { kKeyCacheOut, kValueCacheOut };

bool with_values(const Call &c) { return c.param.kvCacheCfg != Param::K_CACHE_V_BYPASS; }
bool keys_alone(const Call &c) { return !with_values(c); }
bool compressed(const Call &c) { return c.param.compressType != Param::COMPRESS_TYPE_UNDEFINED; }
bool rope(const Call &c) { return c.param.compressType == Param::COMPRESS_TYPE_KVHEAD_ROPE; }
// The NZ rules for A2's caches, which the device applies wherever this configuration is chosen ...
bool chosen_nz(const Call &c) { return c.param.kvCacheCfg == Param::K_CACHE_V_CACHE_NZ; }
// ... and the product's own.
bool product_nz(const Call &c) { return c.limits.fractal && !chosen_nz(c); }
bool any_nz(const Call &c) { return chosen_nz(c) || c.limits.fractal; }
bool plain(const Call &c) { return c.param.kvCacheCfg == Param::K_CACHE_V_CACHE; }
bool plain_nd(const Call &c) { return plain(c) && !c.limits.fractal && !compressed(c); }

constexpr Slot<Call> kInputs[] = {
    {"key"},         {"value", with_values}, {"keyCache"},           {"valueCache", with_values},
    {"slotMapping"}, {"wins", compressed},   {"seqLen", compressed}, {"offsetIndex", rope},
};
constexpr Slot<Call> kOutputs[] = {
    {.name = "keyCache", .in_place_of = kKeyCache},
    {.name = "valueCache", .present = with_values, .in_place_of = kValueCache},
};

// key value keyCache valueCache slotMapping wins seqLen offsetIndex > keyCache valueCache
constexpr Signature kPlain[] = {
    "h h h h i4 i4 i4 i4 > h h",
    "b b b b i4 i4 i4 i4 > b b",
    "i8 i8 i8 i8 i4 i4 i4 i4 > i8 i8",
};
constexpr Signature kRope[] = {
    "h h h h i4 i4 i4 i4 > h h",
    "b b b b i4 i4 i4 i4 > b b",
};
constexpr Signature kNz[] = {
    "h h hZ hZ i4 i4 i4 i4 > hZ hZ",
    "b b bZ bZ i4 i4 i4 i4 > bZ bZ",
    "i8 i8 i8Z i8Z i4 i4 i4 i4 > i8Z i8Z",
};
constexpr Signature kChosenNz[] = {
    "i8 h i8Z hZ i4 i4 i4 i4 > i8Z hZ", "i8 b i8Z bZ i4 i4 i4 i4 > i8Z bZ",
    "h h hZ hZ i4 i4 i4 i4 > hZ hZ",    "b b bZ bZ i4 i4 i4 i4 > bZ bZ",
    "h b hZ bZ i4 i4 i4 i4 > hZ bZ",    "b h bZ hZ i4 i4 i4 i4 > bZ hZ",
};
constexpr SignatureGroup<Call> kSignatures[] = {
    {[](const Call &c) { return c.limits.fractal; }, kNz},
    {chosen_nz, kChosenNz},
    {rope, kRope},
    {nullptr, kPlain},
};

// ---- CreateOperation

constexpr Rule kCompressProduct{"RAC-COMPRESS-PRODUCT", "compressType", nullptr,
                                [](const Call &c) { return !compressed(c) || c.limits.compress; },
                                [](const Call &c, Saying &s) {
                                  s.value << static_cast<int>(c.param.compressType);
                                  s.limit << "must be 0 on this product";
                                }};
constexpr Rule kConfigProduct{"RAC-CONFIG-PRODUCT", "kvCacheCfg", nullptr,
                              [](const Call &c) { return with_values(c) || c.limits.keysAlone; },
                              [](const Call &, Saying &s) {
                                s.value << "1 (K_CACHE_V_BYPASS)";
                                s.limit << "must be 0 on this product, where keys are not cached "
                                           "alone";
                              }};
constexpr Rule kCompressRange{"RAC-COMPRESS-RANGE", "compressType", nullptr,
                              [](const Call &c) {
                                return c.param.compressType >= 0 &&
                                       c.param.compressType <= Param::COMPRESS_TYPE_KVHEAD_ROPE;
                              },
                              [](const Call &c, Saying &s) {
                                s.value << static_cast<int>(c.param.compressType);
                                s.limit << "must be 0, 1 or 2";
                              }};
constexpr Rule kConfigRange{"RAC-CONFIG-RANGE", "kvCacheCfg", nullptr,
                            [](const Call &c) {
                              return c.param.kvCacheCfg >= 0 &&
                                     c.param.kvCacheCfg <= Param::K_CACHE_V_CACHE_NZ;
                            },
                            [](const Call &c, Saying &s) {
                              s.value << static_cast<int>(c.param.kvCacheCfg);
                              s.limit << "must be 0, 1 or 2";
                            }};
constexpr Rule kCompressConfig{"RAC-COMPRESS-CONFIG", "kvCacheCfg", nullptr,
                               [](const Call &c) { return !compressed(c) || plain(c); },
                               [](const Call &c, Saying &s) {
                                 s.value << static_cast<int>(c.param.kvCacheCfg)
                                         << " with compressType "
                                         << static_cast<int>(c.param.compressType);
                                 s.limit << "must be 0 when compressType is not 0";
                               }};

constexpr Check<Call> kCreate[] = {
    {&kReserved<Call>, ::atb::ERROR_INVALID_PARAM}, {&kCompressProduct, ::atb::ERROR_INVALID_PARAM},
    {&kConfigProduct, ::atb::ERROR_INVALID_PARAM},  {&kCompressRange, ::atb::ERROR_INVALID_PARAM},
    {&kConfigRange, ::atb::ERROR_INVALID_PARAM},    {&kCompressConfig, ::atb::ERROR_INVALID_PARAM},
    {&kOffered<Call>, ::atb::ERROR_CANN_ERROR},
};

// ---- InferShape and Setup

int64_t wanted_rank(size_t slot) {
  constexpr int64_t kRanks[] = {3, 3, 4, 4, 1, 1, 1, 1};
  return kRanks[slot];
}
// The first slot whose tensor has another rank; kOffsetIndex + 1: none.
size_t wrong_rank(const Call &c) {
  size_t slot = kKey;
  while (slot <= kOffsetIndex && (!c.has(slot) || c.rank(slot) == wanted_rank(slot))) ++slot;
  return slot;
}
bool ranked(const Call &c) { return sound(c) && wrong_rank(c) > kOffsetIndex; }

int64_t block_axis(const Call &c) { return any_nz(c) ? 2 : 1; }
int64_t block_count(const Call &c, size_t cache) { return c.dim(cache, 0); }
int64_t block_size(const Call &c, size_t cache) {
  return c.dim(cache, static_cast<size_t>(block_axis(c)));
}
int64_t row_elements(const Call &c, size_t slot) { return c.dim(slot, 1) * c.dim(slot, 2); }

// Columns in a group of an NZ cache.
int64_t group(const Call &c, size_t tensor) {
  return chosen_nz(c) && tensor == kKey && c.desc(kKey)->dtype == ACL_INT8 ? 32 : 16;
}
bool nz_fits(const Call &c, size_t tensor, size_t cache) {
  return c.dim(cache, 3) == group(c, tensor) &&
         row_elements(c, tensor) == c.dim(cache, 1) * c.dim(cache, 3);
}

constexpr Rule kRank{"RAC-RANK", "key", sound,
                     [](const Call &c) { return wrong_rank(c) > kOffsetIndex; },
                     [](const Call &c, Saying &s) {
                       const size_t slot = wrong_rank(c);
                       blame_shape(c, slot, s);
                       s.limit << "must have " << wanted_rank(slot) << " dimensions";
                       if (slot == kKey || slot == kValue) {
                         s.limit << ", (tokens, heads, head size)";
                       } else if (wanted_rank(slot) == 4) {
                         s.limit << (any_nz(c) ? ", (blocks, hidden / 16, block size, 16)"
                                               : ", (blocks, block size, heads, head size)");
                       }
                     }};

bool slot_for_each_token(const Call &c) { return c.dim(kSlotMapping, 0) == c.dim(kKey, 0); }
void say_slots(const Call &c, Saying &s) {
  s.value << c.dim(kSlotMapping, 0) << " slots";
  s.limit << "must be one for each of the " << c.dim(kKey, 0) << " tokens of key";
}
constexpr Rule kKeySlots{"RAC-KEY-SLOTS",     "slotMapping", ranked,
                         slot_for_each_token, say_slots,     keys_alone};
constexpr Rule kTokens{"RAC-TOKENS",
                       "value",
                       ranked,
                       [](const Call &c) {
                         return c.dim(kKey, 0) == c.dim(kValue, 0) &&
                                c.dim(kKey, 1) == c.dim(kValue, 1);
                       },
                       [](const Call &c, Saying &s) {
                         blame_shape(c, kValue, s);
                         s.limit << "must have the tokens and heads of ";
                         say_other(c, kKey, s.limit);
                       },
                       with_values};
constexpr Rule kBlockCount{
    "RAC-BLOCK-COUNT",
    "valueCache",
    ranked,
    [](const Call &c) { return block_count(c, kKeyCache) == block_count(c, kValueCache); },
    [](const Call &c, Saying &s) {
      blame_shape(c, kValueCache, s);
      s.limit << "must have the " << block_count(c, kKeyCache) << " blocks of keyCache";
    },
    plain};
constexpr Rule kBlockSize{
    "RAC-BLOCK-SIZE",
    "valueCache",
    ranked,
    [](const Call &c) { return block_size(c, kKeyCache) == block_size(c, kValueCache); },
    [](const Call &c, Saying &s) {
      blame_shape(c, kValueCache, s);
      s.limit << "must have the block size of keyCache, " << block_size(c, kKeyCache)
              << " (dimension " << block_axis(c) << ')';
    },
    with_values};
constexpr Rule kHeadSizes{"RAC-HEAD-SIZES",
                          "value",
                          ranked,
                          [](const Call &c) { return c.dim(kKey, 2) == c.dim(kValue, 2); },
                          [](const Call &c, Saying &s) {
                            blame_shape(c, kValue, s);
                            s.limit << "must have the head size of key, " << c.dim(kKey, 2);
                          },
                          [](const Call &c) { return product_nz(c) || compressed(c); }};
constexpr Rule kBlockMultiple{"RAC-BLOCK-MULTIPLE",
                              "keyCache",
                              ranked,
                              [](const Call &c) { return block_size(c, kKeyCache) % 16 == 0; },
                              [](const Call &c, Saying &s) {
                                blame_shape(c, kKeyCache, s);
                                s.limit << "the block size (dimension 2) must be a multiple of 16";
                              },
                              any_nz};

// A cache of the layout's shape around rows of its tensor.
template <size_t kTensor, size_t kCache>
constexpr Rule nd_rule(const char *id, bool (*applies)(const Call &)) {
  return {id,
          kCache == kKeyCache ? "keyCache" : "valueCache",
          ranked,
          [](const Call &c) {
            return c.dim(kCache, 2) == c.dim(kTensor, 1) && c.dim(kCache, 3) == c.dim(kTensor, 2);
          },
          [](const Call &c, Saying &s) {
            blame_shape(c, kCache, s);
            s.limit << "dimensions 2 and 3 must be heads and head size of ";
            say_other(c, kTensor, s.limit);
          },
          applies};
}
constexpr Rule kKeyCacheNd = nd_rule<kKey, kKeyCache>(
    "RAC-KEY-CACHE", [](const Call &c) { return keys_alone(c) || plain_nd(c); });
constexpr Rule kValueCacheNd = nd_rule<kValue, kValueCache>("RAC-VALUE-CACHE", plain_nd);

template <size_t kTensor, size_t kCache>
constexpr Rule nz_rule(const char *id) {
  return {id,
          kCache == kKeyCache ? "keyCache" : "valueCache",
          ranked,
          [](const Call &c) { return nz_fits(c, kTensor, kCache); },
          [](const Call &c, Saying &s) {
            blame_shape(c, kCache, s);
            s.limit << "dimension 3 must be " << group(c, kTensor)
                    << ", and dimensions 1 and 3 together heads * head size of ";
            say_other(c, kTensor, s.limit);
          },
          any_nz};
}
constexpr Rule kKeyCacheNz = nz_rule<kKey, kKeyCache>("RAC-KEY-CACHE-NZ");
constexpr Rule kValueCacheNz = nz_rule<kValue, kValueCache>("RAC-VALUE-CACHE-NZ");

constexpr Rule kCompressCache{
    "RAC-COMPRESS-CACHE",
    "keyCache",
    ranked,
    [](const Call &c) {
      for (size_t cache : {size_t{kKeyCache}, size_t{kValueCache}}) {
        if (c.dim(cache, 2) != 1 || c.dim(cache, 3) != c.dim(kKey, 2)) return false;
      }
      return true;
    },
    [](const Call &c, Saying &s) {
      const bool key = c.dim(kKeyCache, 2) != 1 || c.dim(kKeyCache, 3) != c.dim(kKey, 2);
      blame_shape(c, key ? kKeyCache : kValueCache, s);
      s.limit << "with compressType dimension 2 must be 1 and dimension 3 the head size "
              << c.dim(kKey, 2);
    },
    compressed};
constexpr Rule kCompressMultiple{"RAC-COMPRESS-MULTIPLE",
                                 "key",
                                 ranked,
                                 [](const Call &c) { return c.dim(kKey, 2) % 32 == 0; },
                                 [](const Call &c, Saying &s) {
                                   blame_shape(c, kKey, s);
                                   s.limit << "with compressType the head size must be a multiple "
                                              "of 32";
                                 },
                                 compressed};

// The output that is described otherwise than its input; nullptr: none.
const char *other_output(const Call &c) {
  if (!same_desc(*c.out_desc(kKeyCacheOut), *c.desc(kKeyCache))) return "keyCache";
  if (with_values(c) && !same_desc(*c.out_desc(kValueCacheOut), *c.desc(kValueCache))) {
    return "valueCache";
  }
  return nullptr;
}
constexpr Rule kOutDesc{"RAC-OUT-DESC", "keyCache", sound,
                        [](const Call &c) { return other_output(c) == nullptr; },
                        [](const Call &c, Saying &s) {
                          s.parameter = other_output(c);
                          s.list = "outTensors";
                          const bool key = std::strcmp(s.parameter, "keyCache") == 0;
                          const TensorDesc &out = *c.out_desc(key ? kKeyCacheOut : kValueCacheOut);
                          say_desc(out, s.value);
                          s.limit << "must be described as the input: ";
                          say_desc(*c.desc(key ? kKeyCache : kValueCache), s.limit);
                        }};

constexpr Rule kSlots{"RAC-SLOTS", "slotMapping",
                      ranked,      slot_for_each_token,
                      say_slots,   [](const Call &c) { return plain(c) && !compressed(c); }};
// Not looked at by the device, which would read behind the end.
constexpr Rule kSlotsEnough{"RAC-SLOTS-ENOUGH",
                            "slotMapping",
                            ranked,
                            [](const Call &c) { return c.dim(kSlotMapping, 0) >= c.dim(kKey, 0); },
                            [](const Call &c, Saying &s) {
                              s.value << c.dim(kSlotMapping, 0) << " slots";
                              s.limit << "must be at least the " << c.dim(kKey, 0)
                                      << " tokens of key";
                            },
                            chosen_nz};
int64_t entries(const Call &c) {
  int64_t count;
  return __builtin_mul_overflow(c.dim(kSeqLen, 0), c.dim(kKey, 1), &count) ? INT64_MAX : count;
}
size_t short_entries(const Call &c) {
  for (size_t slot : {size_t{kSlotMapping}, size_t{kWins}, size_t{kOffsetIndex}}) {
    if (c.has(slot) && c.dim(slot, 0) < entries(c)) return slot;
  }
  return kKey;
}
constexpr Rule kEntries{"RAC-ENTRIES",
                        "slotMapping",
                        ranked,
                        [](const Call &c) { return short_entries(c) == kKey; },
                        [](const Call &c, Saying &s) {
                          blame_shape(c, short_entries(c), s);
                          s.limit << "must have one entry for each of " << c.dim(kSeqLen, 0)
                                  << " batches and " << c.dim(kKey, 1) << " heads";
                        },
                        compressed};

constexpr Check<Call> kInfer[] = {
    {&kRank, ::atb::ERROR_INVALID_TENSOR_DIM_NUM},
    {&kKeySlots, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kTokens, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kBlockCount, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kBlockSize, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kHeadSizes, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kBlockMultiple, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kKeyCacheNd, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kValueCacheNd, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kKeyCacheNz, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kValueCacheNz, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kCompressCache, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kCompressMultiple, ::atb::ERROR_INVALID_TENSOR_DIM},
};
constexpr Check<Call> kOutputCheck[] = {{&kOutDesc, ::atb::ERROR_INVALID_TENSOR_DIM}};
constexpr auto kSetup = joined<Call>(kInfer, kOutputCheck);
constexpr Check<Call> kKernelChecks[] = {
    {&kSlots, ::atb::ERROR_RT_FAIL},
    {&kSlotsEnough, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kEntries, ::atb::ERROR_INVALID_TENSOR_DIM},
};

void describe(const Call &c, SVector<TensorDesc> &outputs) {
  outputs[0] = *c.desc(kKeyCache);
  if (with_values(c)) outputs[1] = *c.desc(kValueCache);
}

// ---- the work

// Of compressed calls: `count` rows from a token on become rows from a slot on, or one row, their
// mean.
struct Stretch {
  int64_t token, head, count, slot;
  bool mean;
};

class ReshapeAndCachePlan final : public Plan {
 public:
  CacheRows sides[2];
  size_t side_count = 0;
  int64_t tokens = 0, heads = 0, batch = 0;
  int64_t head = 0;       // bytes of a head, of compressed calls
  bool bfloat16 = false;  // as well
  size_t slot_mapping = 0;
  size_t wins = 0, seq_len = 0, offset_index = 0;  // 0: not given
  int64_t bytes = 0;

  int32_t run(std::span<std::byte *const> addresses, std::byte *, Text &why) const override {
    const auto data = [&](size_t at) { return reinterpret_cast<const int32_t *>(addresses[at]); };
    const struct {
      size_t at;
      const char *name;
    } needed[] = {{sides[0].from, "key"},
                  {sides[0].to, "keyCache"},
                  {sides[side_count - 1].from, "value"},
                  {sides[side_count - 1].to, "valueCache"},
                  {slot_mapping, "slotMapping"},
                  {wins, "wins"},
                  {seq_len, "seqLen"},
                  {offset_index, "offsetIndex"}};
    for (const auto &each : needed) {
      if ((each.at != 0 || each.at == sides[0].from) && addresses[each.at] == nullptr) {
        return null_data(each.name, why);
      }
    }
    return seq_len != 0 ? run_compressed(addresses, data, why)
                        : run_tokens(addresses, data(slot_mapping), why);
  }

 private:
  bool slot_fits(int64_t slot, int64_t count) const {
    for (size_t i = 0; i < side_count; ++i) {
      if (slot + count > sides[i].capacity()) return false;
    }
    return true;
  }
  int64_t least_capacity() const {
    return side_count == 1 ? sides[0].capacity()
                           : std::min(sides[0].capacity(), sides[1].capacity());
  }

  int32_t run_tokens(std::span<std::byte *const> addresses, const int32_t *slots, Text &why) const {
    for (int64_t t = 0; t < tokens; ++t) {
      if (slots[t] >= 0 && !slot_fits(slots[t], 1)) {
        why << "slotMapping[" << t << "] is " << slots[t] << ", valid are negative ones and 0 .. "
            << least_capacity() - 1;
        return ACL_ERROR_RT_AICORE_EXCEPTION;
      }
    }
    copy_rows({sides, side_count}, addresses, std::span(slots, static_cast<size_t>(tokens)));
    return 0;
  }

  template <class Data>
  int32_t run_compressed(std::span<std::byte *const> addresses, Data data, Text &why) const {
    std::vector<Stretch> stretches;
    if (int32_t code = find_stretches(data, stretches, why); code != 0) return code;
    for (size_t i = 0; i < side_count; ++i) {
      const CacheRows &side = sides[i];
      const std::byte *from = addresses[side.from];
      std::byte *to = addresses[side.to];
      for (const Stretch &s : stretches) {
        const std::byte *rows = from + s.token * side.row + s.head * head;
        if (s.mean) {
          store_mean(rows, side.row, s.count, to + s.slot * head);
          continue;
        }
        for (int64_t j = 0; j < s.count; ++j) {
          std::memcpy(to + (s.slot + j) * head, rows + j * side.row, static_cast<size_t>(head));
        }
      }
    }
    return 0;
  }

  // What every batch and head writes; checks all device data on the way, so that nothing is written
  // when some of it is wrong.
  template <class Data>
  int32_t find_stretches(Data data, std::vector<Stretch> &stretches, Text &why) const {
    int64_t token = 0;
    for (int64_t b = 0; b < batch; ++b) {
      const int64_t length = data(seq_len)[b];
      if (length < 0 || length > tokens - token) {
        return value_outside("seqLen", b, length, 0, tokens - token, why);
      }
      for (int64_t h = 0; h < heads; ++h) {
        const int64_t e = b * heads + h;
        const int64_t slot = data(slot_mapping)[e], window = data(wins)[e];
        if (slot < 0) continue;
        if (window < 0 || window > length) return value_outside("wins", e, window, 0, length, why);
        const size_t before = stretches.size();
        if (offset_index == 0) {
          stretches.push_back({token + length - window, h, window, slot, false});
        } else {
          const int64_t offset = data(offset_index)[e];
          if (offset < -1 || offset > length - window) {
            return value_outside("offsetIndex", e, offset, -1, length - window, why);
          }
          if (offset == -1) {
            stretches.push_back({token, h, length, slot, false});
          } else {
            const int64_t mean = window > 0 ? 1 : 0;
            const int64_t rest = offset + window;
            stretches.push_back({token, h, offset, slot, false});
            if (mean != 0) stretches.push_back({token + offset, h, window, slot + offset, true});
            stretches.push_back({token + rest, h, length - rest, slot + offset + mean, false});
          }
        }
        for (size_t i = before; i < stretches.size(); ++i) {
          const Stretch &s = stretches[i];
          const int64_t rows = s.mean ? 1 : s.count;
          if (rows == 0 || slot_fits(s.slot, rows)) continue;
          why << "slotMapping[" << e << "] is " << slot << ", from which " << s.slot + rows - slot
              << " rows and more do not fit into a cache of " << least_capacity();
          return ACL_ERROR_RT_AICORE_EXCEPTION;
        }
      }
      token += length;
    }
    return 0;
  }

  void store_mean(const std::byte *rows, int64_t stride, int64_t count, std::byte *to) const {
    for (int64_t d = 0; d < head; d += 2) {
      float sum = 0;
      for (int64_t j = 0; j < count; ++j) {
        uint16_t bits;
        std::memcpy(&bits, rows + j * stride + d, sizeof bits);
        sum += bfloat16 ? bfloat16_to_float(bits) : half_to_float(bits);
      }
      const float mean = sum / static_cast<float>(count);
      const uint16_t bits = bfloat16 ? float_to_bfloat16(mean) : float_to_half(mean);
      std::memcpy(to + d, &bits, sizeof bits);
    }
  }
};

std::unique_ptr<Plan> lower(const Call &c) {
  auto plan = std::make_unique<ReshapeAndCachePlan>();
  const auto place = [&](size_t slot) { return static_cast<size_t>(c.layout.input_at[slot]); };
  const auto add = [&](size_t tensor, size_t cache, size_t output) {
    const auto element = static_cast<int64_t>(aclDataTypeSize(c.desc(tensor)->dtype));
    CacheRows side{};
    side.from = place(tensor);
    side.to = c.layout.input_count + static_cast<size_t>(c.layout.output_at[output]);
    side.row = row_elements(c, tensor) * element;
    side.blocks = block_count(c, cache);
    side.block_size = block_size(c, cache);
    side.groups = any_nz(c) ? c.dim(cache, 1) : 1;
    side.group = any_nz(c) ? c.dim(cache, 3) * element : side.row;
    plan->sides[plan->side_count++] = side;
    plan->bytes += c.dim(tensor, 0) * side.row;
  };
  add(kKey, kKeyCache, kKeyCacheOut);
  if (with_values(c)) add(kValue, kValueCache, kValueCacheOut);
  plan->tokens = c.dim(kKey, 0);
  plan->heads = c.dim(kKey, 1);
  plan->slot_mapping = place(kSlotMapping);
  if (compressed(c)) {
    plan->head = c.dim(kKey, 2) * static_cast<int64_t>(aclDataTypeSize(c.desc(kKey)->dtype));
    plan->bfloat16 = c.desc(kKey)->dtype == ACL_BF16;
    plan->batch = c.dim(kSeqLen, 0);
    plan->wins = place(kWins);
    plan->seq_len = place(kSeqLen);
    if (rope(c)) plan->offset_index = place(kOffsetIndex);
  }
  plan->small = plan->bytes <= kInlineBytes;
  return plan;
}

constexpr Definition<Call> kDefinition{
    .name = "ReshapeAndCacheOperation",
    .limits = kLimits,
    .inputs = kInputs,
    .outputs = kOutputs,
    .signatures = kSignatures,
    .create = kCreatePath<Call, kCreate>,
    .infer = kInferPath<Call, kInfer>,
    .setup = kSetupPath<Call, kSetup, kKernelChecks>,
    .describe = describe,
    .lower = lower,
};
Registration<kDefinition> g_registration;

}  // namespace
}  // namespace pyaclnn::atb

template <>
ACL_FUNC_VISIBILITY atb::Status atb::CreateOperation(const infer::ReshapeAndCacheParam &opParam,
                                                     Operation **operation) {
  return pyaclnn::atb::create(pyaclnn::atb::kDefinition, opParam, operation);
}
