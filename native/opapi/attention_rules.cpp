#include "opapi/attention_rules.hpp"

#include <algorithm>
#include <cstring>

#include "nnopbase/names.hpp"

namespace pyaclnn::attention_rules {

namespace {

using Call = AttentionCall;

// ---- shared pieces

bool nd_format(aclFormat format) {
  return format == ACL_FORMAT_ND || format == ACL_FORMAT_NCHW || format == ACL_FORMAT_NHWC ||
         format == ACL_FORMAT_NCDHW || format == ACL_FORMAT_NCL || static_cast<int>(format) == 31;
}

void say_format(const Tensor &tensor, Saying &s) {
  s.value << "format " << format_name(tensor.format) << " (" << static_cast<int>(tensor.format)
          << ')';
  s.limit << "must be ND, NCHW, NHWC, NCDHW or NCL";
}

void say_null(const Call &, Saying &s) {
  s.value << "is a null pointer";
  s.limit << "it is required";
}

// Where the head size comes from, for rules that hold another tensor against it.
void say_head_size(const Call &c, Text &text) {
  if (c.layout == Layout::BSH) {
    text << "query H " << c.query.t->dims[2] << " over numHeads " << c.heads;
  } else {
    text << "the query's D";
  }
}
void say_shape(const Tensor &tensor, Saying &s) { s.value << "shape " << tensor.shape(); }
void say_dtype(const Tensor &tensor, Saying &s) { s.value << "dtype " << dtype_name(tensor.dtype); }

const char *layout_name(const Call &c) {
  switch (c.layout) {
    case Layout::BSH: return "BSH";
    case Layout::BSND: return "BSND";
    case Layout::BNSD: return "BNSD";
    case Layout::Unknown: break;
  }
  return "?";
}
uint32_t layout_rank(const Call &c) { return c.layout == Layout::BSH ? 3 : 4; }
void say_rank(const Call &c, Saying &s) {
  s.limit << "inputLayout " << layout_name(c) << " needs " << layout_rank(c) << " dimensions, "
          << (c.layout == Layout::BSH    ? "(B, S, H)"
              : c.layout == Layout::BSND ? "(B, S, N, D)"
                                         : "(B, N, S, D)");
}
int heads_axis(const Call &c) { return c.layout == Layout::BNSD ? 1 : 2; }

bool layout_known(const Call &c) { return c.layout != Layout::Unknown; }
bool batch_known(const Call &c) { return c.batch != kAbsent; }
bool heads_known(const Call &c) { return c.heads != kAbsent && c.kvHeads != kAbsent; }
// The bound keeps heads * headDim inside 64 bits while broken calls are being explained; LIMIT-D
// judges the head size itself.
bool geometry_known(const Call &c) {
  return heads_known(c) && c.headDim >= 0 && c.headDim <= INT32_MAX && c.batch != kAbsent;
}
int64_t group(const Call &c) { return c.heads / c.kvHeads; }

// Rules about key and value members: `strided` is the unpaged form whose member count is known.
bool strided(const Call &c) {
  return !c.paged && c.members != kAbsent && c.key0 != nullptr && layout_known(c);
}
bool strided_geometry(const Call &c) { return strided(c) && geometry_known(c); }
bool key_rank_fits(const Call &c) { return c.key0 != nullptr && c.key0->rank == layout_rank(c); }
bool paged_cache(const Call &c) {
  return c.paged && layout_known(c) && c.key0 != nullptr && c.value0 != nullptr;
}

// What every member in use must fulfil.
using Fits = bool (*)(const Call &, const Tensor &key, const Tensor &value);

// The first member index that fails; -1 when all fit. Missing members are not judged here
// (LIST-MEMBERS does).
int64_t first_member(const Call &c, Fits fits) {
  for (int64_t i = 0; i < c.members; ++i) {
    const Tensor *key = c.key.at(static_cast<uint64_t>(i));
    const Tensor *value = c.value.at(static_cast<uint64_t>(i));
    if (key == nullptr || value == nullptr) return -1;
    if (!fits(c, *key, *value)) return i;
  }
  return -1;
}
template <Fits kFits>
bool all_members(const Call &c) {
  return first_member(c, kFits) < 0;
}

bool same_shape(const Tensor &a, const Tensor &b) {
  return a.rank == b.rank && std::equal(a.dims, a.dims + a.rank, b.dims);
}

bool dtype_of_first(const Call &c, const Tensor &key, const Tensor &value) {
  return key.dtype == c.key0->dtype && value.dtype == c.key0->dtype;
}
bool shapes_alike(const Call &, const Tensor &key, const Tensor &value) {
  return same_shape(key, value);
}
bool rank_of_layout(const Call &c, const Tensor &key, const Tensor &) {
  return key.rank == layout_rank(c);
}
bool batch_of_one(const Call &, const Tensor &key, const Tensor &) {
  return key.rank != 0 && key.dims[0] == 1;
}
bool heads_of_call(const Call &c, const Tensor &key, const Tensor &) {
  return key.rank == 4 && key.dims[heads_axis(c)] == c.kvHeads;
}
// Every axis but the sequence axis is member 0's.
bool dims_of_first(const Call &c, const Tensor &key, const Tensor &) {
  if (key.rank != c.key0->rank) return false;
  uint32_t sequence = c.layout == Layout::BNSD ? 2 : 1;
  for (uint32_t i = 0; i < key.rank; ++i) {
    if (i != sequence && key.dims[i] != c.key0->dims[i]) return false;
  }
  return true;
}

void say_member(const Call &c, int64_t i, const ListFact &list, Saying &s) {
  if (c.listMode) s.value << "member " << i << ' ';
  say_shape(*list.at(static_cast<uint64_t>(i)), s);
}

bool shape_is(const Tensor &t, std::initializer_list<int64_t> dims) {
  return t.rank == dims.size() && std::equal(dims.begin(), dims.end(), t.dims);
}

bool pse_live(const Call &c) { return c.pseShift.live(); }

// The first optional tensor parameter for which `wrong` holds, by the header's order.
struct Named {
  const char *parameter;
  const TensorFact *fact;
};
template <class Wrong>
Named first_tensor(const Call &c, Wrong wrong) {
  for (uint32_t i = 0; i < c.tensorsGiven; ++i) {
    const TensorParameter &parameter = kTensorParameters[c.tensors[i]];
    if (Named named{parameter.name, &(c.*parameter.fact)}; wrong(named)) return named;
  }
  return {nullptr, nullptr};
}

// A list member in use whose handle is dead: {list name, index}.
struct DeadMember {
  const char *parameter = nullptr;
  int64_t index = 0;
};
DeadMember dead_member(const Call &c) {
  const struct {
    const char *parameter;
    const ListFact *list;
  } lists[] = {{"key", &c.key}, {"value", &c.value}};
  for (const auto &entry : lists) {
    uint64_t used = c.members != kAbsent ? static_cast<uint64_t>(c.members) : 1;
    for (uint64_t i = 0; i < std::min(used, entry.list->size()); ++i) {
      if (entry.list->handle_at(i) != nullptr && entry.list->at(i) == nullptr) {
        return {entry.parameter, static_cast<int64_t>(i)};
      }
    }
  }
  return {};
}

Named dead_tensor(const Call &c) {
  return first_tensor(c, [](const Named &n) { return !n.fact->live(); });
}

const char *dead_list(const Call &c) {
  if (c.key.given() && !c.key.live()) return "key";
  if (c.value.given() && !c.value.live()) return "value";
  if (c.actualSeqLengths.given() && !c.actualSeqLengths.live()) return "actualSeqLengths";
  return nullptr;
}

struct Outside {
  const char *parameter = nullptr;
  const Tensor *tensor = nullptr;
};
Outside view_outside(const Call &c) {
  const struct {
    const char *parameter;
    const ListFact *list;
  } lists[] = {{"key", &c.key}, {"value", &c.value}};
  Named named = first_tensor(c, [&c](const Named &n) {
    if (!n.fact->live()) return false;
    const Tensor &t = *n.fact->t;
    return n.fact == &c.attentionOut ? !t.inside_written : !t.inside;
  });
  if (named.fact == &c.query) return {named.parameter, named.fact->t};
  for (const auto &entry : lists) {
    uint64_t used = c.members != kAbsent ? static_cast<uint64_t>(c.members) : 1;
    for (uint64_t i = 0; i < std::min(used, entry.list->size()); ++i) {
      const Tensor *t = entry.list->at(i);
      if (t != nullptr && !t->inside) return {entry.parameter, t};
    }
  }
  if (named.fact != nullptr) return {named.parameter, named.fact->t};
  return {};
}

// quantScale2 and quantOffset2: one value, or one per (head, d) in one of the accepted shapes.
bool quant2_per_channel(const Call &c, const Tensor &t) {
  int64_t n = c.heads, d = c.headDim;
  return shape_is(t, {1, n, 1, d}) || shape_is(t, {n, 1, d}) || shape_is(t, {n, d}) ||
         shape_is(t, {1, 1, n, d}) || shape_is(t, {1, n, d}) || shape_is(t, {1, n * d}) ||
         shape_is(t, {1, 1, n * d}) || shape_is(t, {n * d});
}
bool quant2_shape_fits(const Call &c, const Tensor &t) {
  return t.count == 1 || quant2_per_channel(c, t);
}

bool antiquant_shape_fits(const Call &c, const Tensor &t) {
  int64_t n = c.kvHeads, d = c.headDim;
  return shape_is(t, {2}) || shape_is(t, {2, n, 1, d}) || shape_is(t, {2, 1, n, d}) ||
         shape_is(t, {2, n, d}) || shape_is(t, {2, n * d});
}

int64_t cache_alignment(const Call &c) { return c.int8Cache() ? 32 : 16; }
int64_t block_axis(const Tensor &cache) { return cache.rank == 4 ? cache.dims[2] : cache.dims[1]; }

// What SEQ-MAX compares with: the tensor's own S in list mode.
int64_t length_limit(const Call &c, int64_t b) {
  const Tensor *key = c.key.at(static_cast<uint64_t>(c.listMode ? b : 0));
  return key != nullptr ? key_length(*key, c.layout) : kAbsent;
}
int64_t first_bad_length(const Call &c) {
  for (int64_t b = 0; b < c.batch; ++b) {
    if (c.length(b) > length_limit(c, b)) return b;
    if (!c.listMode && c.actualSeqLengths.values().size() == 1) break;
  }
  return -1;
}
bool lengths_judged(const Call &c) {
  return c.lengthsGiven() && c.lengthMax != kAbsent && c.batch > 0;
}

__int128 blocks_of(const Call &c, int64_t length) {
  return (static_cast<__int128>(length) + c.blockSize - 1) / c.blockSize;
}
__int128 blocks_needed(const Call &c) {
  auto values = c.actualSeqLengths.values();
  if (values.size() == 1) return static_cast<__int128>(c.batch) * blocks_of(c, values[0]);
  __int128 sum = 0;
  for (int64_t b = 0; b < c.batch; ++b) sum += blocks_of(c, values[static_cast<size_t>(b)]);
  return sum;
}

// What a rule is about; see Rule::applies.
bool paged(const Call &c) { return c.paged; }
bool unpaged(const Call &c) { return !c.paged; }
bool bsh(const Call &c) { return c.layout == Layout::BSH; }
bool heads_axis_layout(const Call &c) { return c.layout != Layout::BSH; }
bool unpaged_bsh(const Call &c) { return unpaged(c) && bsh(c); }
bool unpaged_heads_axis(const Call &c) { return unpaged(c) && heads_axis_layout(c); }
bool lengths_given(const Call &c) { return c.lengthsGiven(); }
bool unpaged_lengths(const Call &c) { return unpaged(c) && lengths_given(c); }
bool pse_given(const Call &c) { return c.pseShift.given(); }
bool mask_given(const Call &c) {
  return c.attenMask.given() && (!c.attenMask.live() || c.maskPresent());
}
bool int8_output(const Call &c) { return c.int8Output() && c.quantScale2.given(); }
bool int8_output_offset(const Call &c) { return int8_output(c) && c.quantOffset2.given(); }
bool int8_cache(const Call &c) { return c.int8Cache() && c.antiquantScale.given(); }
bool int8_cache_offset(const Call &c) { return int8_cache(c) && c.antiquantOffset.given(); }
bool blocks_counted(const Call &c) {
  return c.paged && c.limits != nullptr && !c.limits->sharedBlocks;
}
bool padding_given(const Call &c) {
  return c.kvPaddingSize.given() && (!c.kvPaddingSize.live() || c.paddingPresent());
}

}  // namespace

// ---- the operator layer

constexpr Rule kPtrQuery{"PTR-QUERY", "query", nullptr,
                         [](const Call &c) { return c.query.given(); }, say_null};
constexpr Rule kPtrKey{"PTR-KEY", "key", nullptr, [](const Call &c) { return c.key.given(); },
                       say_null};
constexpr Rule kPtrValue{"PTR-VALUE", "value", nullptr,
                         [](const Call &c) { return c.value.given(); }, say_null};
constexpr Rule kPtrAttentionOut{"PTR-ATTENTIONOUT", "attentionOut", nullptr,
                                [](const Call &c) { return c.attentionOut.given(); }, say_null};
constexpr Rule kPtrExecutor{"PTR-EXECUTOR", "executor", nullptr,
                            [](const Call &c) { return c.executor; }, say_null};
constexpr Rule kPtrWorkspaceSize{"PTR-WORKSPACESIZE", "workspaceSize", nullptr,
                                 [](const Call &c) { return c.workspaceSize; }, say_null};

constexpr Rule kProduct{
    "OP-PRODUCT", "product", nullptr, [](const Call &c) { return c.limits != nullptr; },
    [](const Call &c, Saying &s) {
      s.value << c.product->title;
      s.limit
          << "the operator is not offered on it; choose another product with PYACLNN_PRODUCT or "
             "pyaclnnSetProduct";
    }};

constexpr Rule kKeyCount{"LIST-KEY-COUNT", "key", [](const Call &c) { return c.key.live(); },
                         [](const Call &c) { return c.key.size() <= kMostListMembers; },
                         [](const Call &c, Saying &s) {
                           s.value << "a list of " << c.key.size() << " tensors";
                           s.limit << "must hold at most " << kMostListMembers;
                         }};
constexpr Rule kValueCount{"LIST-VALUE-COUNT", "value",
                           [](const Call &c) { return c.value.live(); },
                           [](const Call &c) { return c.value.size() <= kMostListMembers; },
                           [](const Call &c, Saying &s) {
                             s.value << "a list of " << c.value.size() << " tensors";
                             s.limit << "must hold at most " << kMostListMembers;
                           }};
static void say_first(const ListFact &list, Saying &s) {
  if (list.size() == 0)
    s.value << "an empty list";
  else
    s.value << "member 0 is a null pointer";
  s.limit << "must hold at least one tensor, and member 0 must not be null";
}
constexpr Rule kKeyFirst{"LIST-KEY-FIRST", "key", [](const Call &c) { return c.key.live(); },
                         [](const Call &c) { return c.key.handle_at(0) != nullptr; },
                         [](const Call &c, Saying &s) { say_first(c.key, s); }};
constexpr Rule kValueFirst{"LIST-VALUE-FIRST", "value",
                           [](const Call &c) { return c.value.live(); },
                           [](const Call &c) { return c.value.handle_at(0) != nullptr; },
                           [](const Call &c, Saying &s) { say_first(c.value, s); }};

constexpr Rule kHandleLive{"HANDLE-LIVE", "query", nullptr,
                           [](const Call &c) {
                             return dead_tensor(c).fact == nullptr && dead_list(c) == nullptr &&
                                    dead_member(c).parameter == nullptr;
                           },
                           [](const Call &c, Saying &s) {
                             if (Named named = dead_tensor(c); named.fact != nullptr) {
                               s.parameter = named.parameter;
                               s.value << "not a live aclTensor";
                             } else if (const char *list = dead_list(c); list != nullptr) {
                               s.parameter = list;
                               s.value << "not a live handle of its type";
                             } else {
                               DeadMember member = dead_member(c);
                               s.parameter = member.parameter;
                               s.value << "member " << member.index << " is not a live aclTensor";
                             }
                             s.limit << "it was destroyed or never created here";
                           }};

constexpr Rule kFormatQuery{"FORMAT-QUERY", "query", [](const Call &c) { return c.query.live(); },
                            [](const Call &c) { return nd_format(c.query.t->format); },
                            [](const Call &c, Saying &s) { say_format(*c.query.t, s); }};
constexpr Rule kFormatKey{"FORMAT-KEY", "key", [](const Call &c) { return c.key0 != nullptr; },
                          [](const Call &c) { return nd_format(c.key0->format); },
                          [](const Call &c, Saying &s) { say_format(*c.key0, s); }};
constexpr Rule kFormatValue{"FORMAT-VALUE", "value",
                            [](const Call &c) { return c.value0 != nullptr; },
                            [](const Call &c) { return nd_format(c.value0->format); },
                            [](const Call &c, Saying &s) { say_format(*c.value0, s); }};
constexpr Rule kFormatAttentionOut{
    "FORMAT-ATTENTIONOUT", "attentionOut", [](const Call &c) { return c.attentionOut.live(); },
    [](const Call &c) { return nd_format(c.attentionOut.t->format); },
    [](const Call &c, Saying &s) { say_format(*c.attentionOut.t, s); }};

// The first parameter after which no offered combination is left.
static const char *odd_dtype(const Call &c) {
  auto any = [&c](auto fits) {
    return std::any_of(c.limits->tuples.begin(), c.limits->tuples.end(), fits);
  };
  aclDataType query = c.query.t->dtype, key = c.key0->dtype;
  if (!any([&](const DtypeTuple &t) { return t.query == query; })) return "query";
  if (!any([&](const DtypeTuple &t) { return t.query == query && t.keyValue == key; }))
    return "key";
  return c.value0->dtype != key ? "value" : "attentionOut";
}
constexpr Rule kDtypeTuple{
    "DTYPE-TUPLE", "query, key, value, attentionOut",
    [](const Call &c) {
      return c.limits != nullptr && c.query.live() && c.key0 != nullptr && c.value0 != nullptr &&
             c.attentionOut.live();
    },
    [](const Call &c) {
      return c.key0->dtype == c.value0->dtype &&
             std::any_of(
                 c.limits->tuples.begin(), c.limits->tuples.end(), [&c](const DtypeTuple &tuple) {
                   return tuple.query == c.query.t->dtype && tuple.keyValue == c.key0->dtype &&
                          tuple.attentionOut == c.attentionOut.t->dtype;
                 });
    },
    [](const Call &c, Saying &s) {
      s.parameter = odd_dtype(c);
      s.value << "dtypes of query, key, value, attentionOut are " << dtype_name(c.query.t->dtype)
              << ", " << dtype_name(c.key0->dtype) << ", " << dtype_name(c.value0->dtype) << ", "
              << dtype_name(c.attentionOut.t->dtype);
      s.limit << "offered are (query, key = value, attentionOut):";
      const char *separator = " ";
      for (const DtypeTuple &tuple : c.limits->tuples) {
        s.limit << separator << '(' << dtype_name(tuple.query) << ", " << dtype_name(tuple.keyValue)
                << ", " << dtype_name(tuple.attentionOut) << ')';
        separator = ", ";
      }
    }};

// ---- views, attributes, query

constexpr Rule kViewBounds{
    "VIEW-BOUNDS", "query", nullptr,
    [](const Call &c) { return view_outside(c).tensor == nullptr; },
    [](const Call &c, Saying &s) {
      Outside outside = view_outside(c);
      const Tensor &t = *outside.tensor;
      s.parameter = outside.parameter;
      s.value << "shape " << t.shape() << ", strides " << std::span<const int64_t>(t.stride, t.rank)
              << ", offset " << t.offset;
      s.limit
          << "dimensions must not be negative, and the view must be addressable and stay inside "
             "its storage "
          << std::span<const int64_t>(t.storage, t.storage_rank);
    }};

constexpr Rule kHeadsRange{"ATTN-HEADS-RANGE", "numHeads", nullptr,
                           [](const Call &c) { return c.numHeads >= 0 && c.numHeads <= INT32_MAX; },
                           [](const Call &c, Saying &s) {
                             s.value << c.numHeads;
                             s.limit << "must be 1 .. 2147483647";
                           }};
constexpr Rule kKvHeadsRange{
    "ATTN-KVHEADS-RANGE", "numKeyValueHeads", nullptr,
    [](const Call &c) { return c.numKeyValueHeads >= 0 && c.numKeyValueHeads <= INT32_MAX; },
    [](const Call &c, Saying &s) {
      s.value << c.numKeyValueHeads;
      s.limit << "must be 0 (the same as numHeads) .. 2147483647";
    }};
constexpr Rule kHeadsZero{"ATTN-HEADS-ZERO", "numHeads", nullptr,
                          [](const Call &c) { return c.numHeads != 0; },
                          [](const Call &, Saying &s) {
                            s.value << 0;
                            s.limit << "must be the number of query heads";
                          }};
constexpr Rule kHeadsRatio{"ATTN-HEADS-RATIO", "numKeyValueHeads",
                           [](const Call &c) {
                             return c.heads != kAbsent && c.numKeyValueHeads >= 0 &&
                                    c.numKeyValueHeads <= INT32_MAX;
                           },
                           [](const Call &c) { return c.kvHeads != kAbsent; },
                           [](const Call &c, Saying &s) {
                             s.value << c.numKeyValueHeads;
                             s.limit << "numHeads (" << c.numHeads << ") must be a multiple of it";
                           }};
// The layout that was passed, for a text. It may lack its NUL, so the next page is left alone.
static std::string_view layout_text(const char *text) {
  constexpr size_t kPage = 4096, kMost = 32;
  size_t to_page_end = kPage - reinterpret_cast<uintptr_t>(text) % kPage;
  return {text, strnlen(text, std::min(kMost, to_page_end))};
}
constexpr Rule kLayout{"ATTN-LAYOUT", "inputLayout", nullptr, layout_known,
                       [](const Call &c, Saying &s) {
                         const std::string_view layout = layout_text(c.inputLayout);
                         s.value << '"' << layout << '"';
                         s.limit << "must be \"BSH\", \"BSND\" or \"BNSD\"";
                         if (layout.starts_with("TND")) {
                           s.limit << "; packed sequences of several tokens are for "
                                      "SelfAttentionOperation with PA_ENCODER";
                         }
                       }};

constexpr Rule kQueryRank{"ATTN-QUERY-RANK", "query",
                          [](const Call &c) { return layout_known(c) && c.query.live(); },
                          [](const Call &c) { return c.query.t->rank == layout_rank(c); },
                          [](const Call &c, Saying &s) {
                            say_shape(*c.query.t, s);
                            say_rank(c, s);
                          }};
constexpr Rule kOutRank{"ATTN-OUT-RANK", "attentionOut",
                        [](const Call &c) { return layout_known(c) && c.attentionOut.live(); },
                        [](const Call &c) { return c.attentionOut.t->rank == layout_rank(c); },
                        [](const Call &c, Saying &s) {
                          say_shape(*c.attentionOut.t, s);
                          say_rank(c, s);
                        }};
constexpr Rule kQueryH{
    "ATTN-QUERY-H",
    "query",
    [](const Call &c) { return c.layout == Layout::BSH && batch_known(c) && c.heads != kAbsent; },
    [](const Call &c) { return c.query.t->dims[2] % c.heads == 0; },
    [](const Call &c, Saying &s) {
      s.value << "H = " << c.query.t->dims[2];
      s.limit << "must be a multiple of numHeads (" << c.heads << ')';
    },
    bsh};
constexpr Rule kQueryN{
    "ATTN-QUERY-N",
    "numHeads",
    [](const Call &c) { return c.layout != Layout::BSH && batch_known(c) && c.heads != kAbsent; },
    [](const Call &c) { return c.query.t->dims[heads_axis(c)] == c.heads; },
    [](const Call &c, Saying &s) {
      s.value << c.heads;
      s.limit << "must be " << c.query.t->dims[heads_axis(c)] << ", the heads of query "
              << c.query.t->shape() << " in inputLayout " << layout_name(c);
    },
    heads_axis_layout};
constexpr Rule kInnerPrecise{
    "ATTN-INNERPRECISE", "innerPrecise", nullptr,
    [](const Call &c) { return c.innerPrecise == 0 || c.innerPrecise == 1; },
    [](const Call &c, Saying &s) {
      s.value << c.innerPrecise;
      s.limit << "must be 0 (high precision) or 1 (high performance) for one query token";
    }};

// ---- key and value: one tensor or a list

constexpr Rule kKeyRank{
    "ATTN-KEY-RANK",
    "key",
    [](const Call &c) { return !c.paged && layout_known(c) && c.key0 != nullptr; },
    key_rank_fits,
    [](const Call &c, Saying &s) {
      say_shape(*c.key0, s);
      say_rank(c, s);
    },
    unpaged};
constexpr Rule kListMembers{
    "LIST-MEMBERS",
    "key",
    strided,
    [](const Call &c) {
      for (int64_t i = 0; i < c.members; ++i) {
        if (c.key.handle_at(static_cast<uint64_t>(i)) == nullptr ||
            c.value.handle_at(static_cast<uint64_t>(i)) == nullptr) {
          return false;
        }
      }
      return true;
    },
    [](const Call &c, Saying &s) {
      uint64_t needed = static_cast<uint64_t>(c.members);
      const ListFact &list = c.key.size() < needed     ? c.key
                             : c.value.size() < needed ? c.value
                                                       : c.key;
      if (&list == &c.value) s.parameter = "value";
      if (list.size() < needed) {
        s.value << list.size() << " tensors, dimension 0 of the first is " << c.key0->dims[0];
      } else {
        uint64_t i = 0;
        while (c.key.handle_at(i) != nullptr && c.value.handle_at(i) != nullptr) ++i;
        s.parameter = c.key.handle_at(i) == nullptr ? "key" : "value";
        s.value << "member " << i << " is a null pointer";
      }
      s.limit << "must be either one tensor whose dimension 0 is the batch size " << c.batch
              << ", or " << c.batch << " tensors of batch size 1";
    },
    unpaged};
static bool list_strided(const Call &c) { return strided(c) && c.listMode; }
constexpr Rule kListMemberDtype{
    "LIST-MEMBER-DTYPE",
    "key",
    strided,
    all_members<dtype_of_first>,
    [](const Call &c, Saying &s) {
      int64_t i = first_member(c, dtype_of_first);
      const Tensor &key = *c.key.at(static_cast<uint64_t>(i));
      bool at_key = key.dtype != c.key0->dtype;
      if (!at_key) s.parameter = "value";
      s.value << "member " << i << ' ';
      say_dtype(at_key ? key : *c.value.at(static_cast<uint64_t>(i)), s);
      s.limit << "all members must have the dtype of member 0, " << dtype_name(c.key0->dtype);
    },
    unpaged};
constexpr Rule kKvShape{"ATTN-KV-SHAPE",
                        "value",
                        strided,
                        all_members<shapes_alike>,
                        [](const Call &c, Saying &s) {
                          int64_t i = first_member(c, shapes_alike);
                          say_member(c, i, c.value, s);
                          s.limit << "must equal the shape of key, "
                                  << c.key.at(static_cast<uint64_t>(i))->shape();
                        },
                        unpaged};
constexpr Rule kListMemberRank{"LIST-MEMBER-RANK",
                               "key",
                               list_strided,
                               all_members<rank_of_layout>,
                               [](const Call &c, Saying &s) {
                                 say_member(c, first_member(c, rank_of_layout), c.key, s);
                                 say_rank(c, s);
                               },
                               unpaged};
constexpr Rule kListMemberBatch{
    "LIST-MEMBER-BATCH",
    "key",
    list_strided,
    all_members<batch_of_one>,
    [](const Call &c, Saying &s) {
      say_member(c, first_member(c, batch_of_one), c.key, s);
      s.limit
          << "dimension 0 of a list member must be 1; one tensor for the whole batch would need "
          << c.batch;
    },
    unpaged};
constexpr Rule kKvN{
    "ATTN-KV-N",
    "key",
    [](const Call &c) {
      return strided(c) && heads_known(c) && c.layout != Layout::BSH && key_rank_fits(c);
    },
    all_members<heads_of_call>,
    [](const Call &c, Saying &s) {
      say_member(c, first_member(c, heads_of_call), c.key, s);
      s.limit << "dimension " << heads_axis(c) << " must be the number of key/value heads, "
              << c.kvHeads
              << (c.numKeyValueHeads == 0 ? " (numKeyValueHeads 0 means numHeads)" : "");
    },
    unpaged_heads_axis};
constexpr Rule kListMemberDim{"LIST-MEMBER-DIM",
                              "key",
                              list_strided,
                              all_members<dims_of_first>,
                              [](const Call &c, Saying &s) {
                                say_member(c, first_member(c, dims_of_first), c.key, s);
                                s.limit << "only the sequence axis may differ from member 0, "
                                        << c.key0->shape();
                              },
                              unpaged};

// ---- key and value: paged

constexpr Rule kTableEmpty{
    "PAGED-TABLE-EMPTY",
    "blocktable",
    [](const Call &c) { return c.blocktable.live(); },
    [](const Call &c) { return c.blocktable.t->count != 0; },
    [](const Call &c, Saying &s) {
      say_shape(*c.blocktable.t, s);
      s.limit << "a block table must not be empty; pass a null pointer for no paging";
    },
    paged};
constexpr Rule kCacheRank{
    "PAGED-CACHE-RANK",
    "key",
    paged_cache,
    [](const Call &c) { return c.key0->rank == 3 || c.key0->rank == 4; },
    [](const Call &c, Saying &s) {
      say_shape(*c.key0, s);
      s.limit
          << "a paged cache is (blocks, blockSize, N*D), or (blocks, N, blockSize, D) with BNSD";
    },
    paged};
constexpr Rule kCacheLayout{
    "PAGED-CACHE-LAYOUT",
    "key",
    paged_cache,
    [](const Call &c) { return c.key0->rank != 4 || c.layout == Layout::BNSD; },
    [](const Call &c, Saying &s) {
      say_shape(*c.key0, s);
      s.limit << "a 4-dimensional paged cache needs inputLayout BNSD, found " << layout_name(c);
    },
    paged};
constexpr Rule kCacheKvShape{"PAGED-KV-SHAPE",
                             "value",
                             paged_cache,
                             [](const Call &c) { return same_shape(*c.key0, *c.value0); },
                             [](const Call &c, Saying &s) {
                               say_shape(*c.value0, s);
                               s.limit << "must equal the shape of key, " << c.key0->shape();
                             },
                             paged};
constexpr Rule kTableDtype{"PAGED-TABLE-DTYPE",
                           "blocktable",
                           [](const Call &c) { return c.blocktable.live(); },
                           [](const Call &c) { return c.blocktable.t->dtype == ACL_INT32; },
                           [](const Call &c, Saying &s) {
                             say_dtype(*c.blocktable.t, s);
                             s.limit << "must be INT32";
                           },
                           paged};
constexpr Rule kTableShape{
    "PAGED-TABLE-SHAPE",
    "blocktable",
    [](const Call &c) { return c.blocktable.live() && batch_known(c); },
    [](const Call &c) { return c.blocktable.t->rank == 2 && c.blocktable.t->dims[0] == c.batch; },
    [](const Call &c, Saying &s) {
      say_shape(*c.blocktable.t, s);
      s.limit << "must be (" << c.batch << ", blocks per sequence)";
    },
    paged};
static bool paged_rank_fits(const Call &c) {
  return paged_cache(c) && (c.key0->rank == 3 || (c.key0->rank == 4 && c.layout == Layout::BNSD));
}
constexpr Rule kBlockAxis{"PAGED-BLOCK-AXIS",
                          "blockSize",
                          paged_rank_fits,
                          [](const Call &c) { return block_axis(*c.key0) == c.blockSize; },
                          [](const Call &c, Saying &s) {
                            s.value << c.blockSize;
                            s.limit << "must equal the block axis of key " << c.key0->shape()
                                    << ", " << block_axis(*c.key0);
                          },
                          paged};
constexpr Rule kCacheN{
    "PAGED-CACHE-N",
    "key",
    [](const Call &c) { return paged_rank_fits(c) && geometry_known(c); },
    [](const Call &c) {
      if (c.key0->rank == 3) return c.key0->dims[2] == c.kvHeads * c.headDim;
      return c.key0->dims[1] == c.kvHeads && c.key0->dims[3] == c.headDim;
    },
    [](const Call &c, Saying &s) {
      say_shape(*c.key0, s);
      s.limit << "needs " << c.kvHeads << " key/value heads of size " << c.headDim << " (";
      say_head_size(c, s.limit);
      s.limit << "): ";
      if (c.key0->rank == 3)
        s.limit << "dimension 2 must be " << c.kvHeads * c.headDim;
      else
        s.limit << "dimensions 1 and 3 must be " << c.kvHeads << " and " << c.headDim;
    },
    paged};

// ---- head size, output, formats, group

constexpr Rule kDEqual{"ATTN-D-EQUAL",
                       "key",
                       [](const Call &c) {
                         return strided(c) && c.layout != Layout::BSH && c.headDim != kAbsent &&
                                key_rank_fits(c);
                       },
                       [](const Call &c) { return c.key0->dims[3] == c.headDim; },
                       [](const Call &c, Saying &s) {
                         s.value << "head size D = " << c.key0->dims[3];
                         s.limit << "must equal the query's, " << c.headDim;
                       },
                       unpaged_heads_axis};
constexpr Rule kKvH{
    "ATTN-KV-H",
    "key",
    [](const Call &c) {
      return strided_geometry(c) && c.layout == Layout::BSH && key_rank_fits(c);
    },
    [](const Call &c) { return c.key0->dims[2] == c.kvHeads * c.headDim; },
    [](const Call &c, Saying &s) {
      s.value << "H = " << c.key0->dims[2];
      s.limit << "must be " << c.kvHeads << " key/value heads times head size " << c.headDim
              << " (";
      say_head_size(c, s.limit);
      s.limit << ") = " << c.kvHeads * c.headDim
              << (c.numKeyValueHeads == 0 ? " (numKeyValueHeads 0 means numHeads)" : "");
    },
    unpaged_bsh};
constexpr Rule kOutShape{"ATTN-OUT-SHAPE", "attentionOut",
                         [](const Call &c) { return c.query.live() && c.attentionOut.live(); },
                         [](const Call &c) { return same_shape(*c.query.t, *c.attentionOut.t); },
                         [](const Call &c, Saying &s) {
                           say_shape(*c.attentionOut.t, s);
                           s.limit << "must equal the query's shape " << c.query.t->shape();
                         }};
static Named optional_format(const Call &c) {
  return first_tensor(c, [&c](const Named &n) {
    bool looked_at = n.fact == &c.antiquantScale || n.fact == &c.antiquantOffset ||
                     (n.fact == &c.attenMask && c.maskPresent()) ||
                     (n.fact == &c.kvPaddingSize && c.paddingPresent());
    return looked_at && n.fact->live() && !nd_format(n.fact->t->format);
  });
}
constexpr Rule kFormatOptional{"FORMAT-OPTIONAL", "attenMask", nullptr,
                               [](const Call &c) { return optional_format(c).fact == nullptr; },
                               [](const Call &c, Saying &s) {
                                 Named named = optional_format(c);
                                 s.parameter = named.parameter;
                                 say_format(*named.fact->t, s);
                               }};
constexpr Rule kGroupMax{
    "ATTN-GROUP-MAX", "numHeads",
    [](const Call &c) { return c.limits != nullptr && heads_known(c); },
    [](const Call &c) { return group(c) <= c.limits->group; },
    [](const Call &c, Saying &s) {
      s.value << c.heads << " query heads over " << c.kvHeads << " key/value heads";
      s.limit << "must be at most " << c.limits->group << " query heads per key/value head";
    }};
constexpr Rule kBlockAlign{"PAGED-BLOCK-ALIGN",
                           "blockSize",
                           [](const Call &c) { return c.paged && c.key0 != nullptr; },
                           [](const Call &c) { return c.blockSize % cache_alignment(c) == 0; },
                           [](const Call &c, Saying &s) {
                             s.value << c.blockSize;
                             s.limit << "must be a multiple of " << cache_alignment(c)
                                     << " for a cache of " << dtype_name(c.key0->dtype);
                           },
                           paged};

// ---- limits of the product

static bool grouped(const Call &c) {
  return c.limits != nullptr && heads_known(c) && group(c) != 1;
}
constexpr Rule kLimitGqa{"LIMIT-GQA", "numKeyValueHeads",
                         [](const Call &c) { return grouped(c) && c.headDim != kAbsent; },
                         [](const Call &c) {
                           return c.headDim <= c.limits->groupedHeadDim &&
                                  group(c) <= c.limits->groupedGroup;
                         },
                         [](const Call &c, Saying &s) {
                           s.value << c.kvHeads << " key/value heads for " << c.heads
                                   << " query heads of size " << c.headDim;
                           s.limit << "grouped heads allow at most " << c.limits->groupedGroup
                                   << " per group and a head size of " << c.limits->groupedHeadDim
                                   << " on " << c.product->title;
                         }};
constexpr Rule kLimitGqaLayout{
    "LIMIT-GQA-LAYOUT", "inputLayout", [](const Call &c) { return grouped(c) && layout_known(c); },
    [](const Call &c) {
      return !c.limits->groupedLayouts || (c.layout == Layout::BNSD) != c.paged;
    },
    [](const Call &c, Saying &s) {
      s.value << layout_name(c);
      s.limit << "grouped heads need " << (c.paged ? "BSH or BSND with" : "BNSD without")
              << " a block table on " << c.product->title;
    }};
constexpr Rule kLimitB{
    "LIMIT-B", "query", [](const Call &c) { return c.limits != nullptr && batch_known(c); },
    [](const Call &c) { return c.batch <= c.limits->batch; },
    [](const Call &c, Saying &s) {
      s.value << "batch size " << c.batch;
      s.limit << "must be at most " << c.limits->batch << " on " << c.product->title;
    }};
constexpr Rule kLimitS{
    "LIMIT-S", "key", [](const Call &c) { return c.limits != nullptr && c.keyMax != kAbsent; },
    [](const Call &c) { return c.keyMax <= c.limits->keySequence; },
    [](const Call &c, Saying &s) {
      s.value << "sequence length " << c.keyMax;
      s.limit << "must be at most " << c.limits->keySequence << " on " << c.product->title;
    }};
constexpr Rule kLimitDAlign{
    "LIMIT-D-ALIGN", "query",
    [](const Call &c) { return c.limits != nullptr && c.headDim != kAbsent; },
    [](const Call &c) { return c.headDim % c.limits->headDimMultiple == 0; },
    [](const Call &c, Saying &s) {
      const int64_t multiple = c.limits->headDimMultiple;
      s.value << "head size " << c.headDim;
      s.limit << "must be a multiple of " << multiple << " on " << c.product->title;
      if (c.headDim > 0 && c.headDim < c.limits->headDim) {
        s.limit << "; heads padded with zeros to size "
                << (c.headDim + multiple - 1) / multiple * multiple << " give the same result";
      }
    }};
constexpr Rule kLimitD{"LIMIT-D", "query",
                       [](const Call &c) { return c.limits != nullptr && c.headDim != kAbsent; },
                       [](const Call &c) { return c.headDim <= c.limits->headDim; },
                       [](const Call &c, Saying &s) {
                         s.value << "head size " << c.headDim;
                         s.limit << "must be at most " << c.limits->headDim;
                       }};
constexpr Rule kLimitKvHeads{"LIMIT-KVHEADS", "numKeyValueHeads",
                             [](const Call &c) { return c.limits != nullptr && heads_known(c); },
                             [](const Call &c) { return c.kvHeads <= c.limits->kvHeads; },
                             [](const Call &c, Saying &s) {
                               s.value << c.kvHeads << " key/value heads";
                               s.limit << "must be at most " << c.limits->kvHeads;
                             }};

// ---- lengths

constexpr Rule kSeqMissing{
    "SEQ-MISSING",
    "actualSeqLengths",
    [](const Call &c) { return c.paged; },
    [](const Call &c) { return c.lengthsGiven(); },
    [](const Call &c, Saying &s) {
      s.value << (c.actualSeqLengths.given() ? "an empty array" : "a null pointer");
      s.limit << "a paged cache needs one length per batch, or one for all";
    },
    paged};
constexpr Rule kSeqCount{"SEQ-COUNT",
                         "actualSeqLengths",
                         [](const Call &c) { return c.lengthsGiven() && c.batch > 0; },
                         [](const Call &c) {
                           uint64_t size = c.actualSeqLengths.values().size();
                           return size == 1 || size >= static_cast<uint64_t>(c.batch);
                         },
                         [](const Call &c, Saying &s) {
                           s.value << c.actualSeqLengths.values().size() << " lengths";
                           s.limit << "must be one for all, or at least one for each of the "
                                   << c.batch << " batches";
                         },
                         lengths_given};
constexpr auto kFirstNegative = [](const Call &c) -> int64_t {
  auto values = c.actualSeqLengths.values();
  int64_t used = values.size() == 1 ? 1 : c.batch;
  for (int64_t b = 0; b < used; ++b) {
    if (values[static_cast<size_t>(b)] < 0) return b;
  }
  return -1;
};
constexpr Rule kSeqNegative{"SEQ-NEGATIVE",
                            "actualSeqLengths",
                            lengths_judged,
                            [](const Call &c) { return kFirstNegative(c) < 0; },
                            [](const Call &c, Saying &s) {
                              int64_t b = kFirstNegative(c);
                              s.value << c.length(b) << " at index " << b;
                              s.limit << "lengths must not be negative";
                            },
                            lengths_given};
// Where lengths that are too long could be running sums of lengths that are not.
static void hint_at_sums(const Call &c, int64_t most, Saying &s) {
  const auto values = c.actualSeqLengths.values();
  if (values.size() < 2 || values[0] < 0 || values[0] > most) return;
  for (size_t b = 1; b < values.size(); ++b) {
    if (values[b] <= values[b - 1] || values[b] - values[b - 1] > most) return;
  }
  s.limit << "; these rise like running sums, but each is the length of one sequence";
}
constexpr Rule kSeqMax{
    "SEQ-MAX",
    "actualSeqLengths",
    [](const Call &c) { return !c.paged && lengths_judged(c) && c.keyMax != kAbsent; },
    [](const Call &c) { return first_bad_length(c) < 0; },
    [](const Call &c, Saying &s) {
      int64_t b = first_bad_length(c);
      s.value << c.length(b) << " for batch " << b;
      s.limit << "must be at most the sequence length of key, " << length_limit(c, b);
      if (!c.listMode) hint_at_sums(c, length_limit(c, b), s);
    },
    unpaged_lengths};

// ---- pseShift and attenMask

static bool truth_dtype(const Tensor &tensor) {
  return tensor.dtype == ACL_BOOL || tensor.dtype == ACL_INT8 || tensor.dtype == ACL_UINT8;
}

constexpr Rule kPseDtype{"PSE-DTYPE",
                         "pseShift",
                         [](const Call &c) { return pse_live(c) && c.query.live(); },
                         [](const Call &c) { return c.pseShift.t->dtype == c.query.t->dtype; },
                         [](const Call &c, Saying &s) {
                           say_dtype(*c.pseShift.t, s);
                           s.limit << "must be the query's, " << dtype_name(c.query.t->dtype);
                           if (truth_dtype(*c.pseShift.t)) {
                             s.limit << "; a mask belongs into attenMask, the next parameter";
                           }
                         },
                         pse_given};
constexpr Rule kPseShape{
    "PSE-SHAPE",
    "pseShift",
    [](const Call &c) { return pse_live(c) && batch_known(c) && c.heads != kAbsent; },
    [](const Call &c) {
      const Tensor &t = *c.pseShift.t;
      return t.rank == 4 && (t.dims[0] == 1 || t.dims[0] == c.batch) && t.dims[1] == c.heads &&
             t.dims[2] == 1 && t.count != 0;
    },
    [](const Call &c, Saying &s) {
      say_shape(*c.pseShift.t, s);
      s.limit << "must be (" << c.batch << " or 1, " << c.heads << ", 1, S), not empty";
    },
    pse_given};
constexpr Rule kPseLast{
    "PSE-LAST",
    "pseShift",
    [](const Call &c) { return pse_live(c) && c.pseShift.t->rank == 4 && c.keyMax != kAbsent; },
    [](const Call &c) { return c.pseShift.t->dims[3] >= c.keyMax; },
    [](const Call &c, Saying &s) {
      s.value << "last dimension " << c.pseShift.t->dims[3];
      s.limit << "must cover the whole sequence axis, " << c.keyMax;
    },
    pse_given};

static bool mask_present(const Call &c) { return c.maskPresent(); }
static void say_mask_shapes(const Call &c, Saying &s) {
  Text batch;
  if (batch_known(c)) {
    batch << c.batch;
  } else {
    batch << 'B';
  }
  s.limit << '(' << batch.view() << ", S), (" << batch.view() << ", 1, S) or (" << batch.view()
          << ", 1, 1, S)";
}
constexpr Rule kMaskDtype{
    "MASK-DTYPE",
    "attenMask",
    mask_present,
    [](const Call &c) { return truth_dtype(*c.attenMask.t); },
    [](const Call &c, Saying &s) {
      say_dtype(*c.attenMask.t, s);
      s.limit << "must be BOOL, INT8 or UINT8 (not 0 = masked out); what is added "
                 "to the scores belongs into pseShift";
    },
    mask_given};
constexpr Rule kMaskRank{"MASK-RANK",
                         "attenMask",
                         mask_present,
                         [](const Call &c) { return c.attenMask.t->rank >= 2; },
                         [](const Call &c, Saying &s) {
                           say_shape(*c.attenMask.t, s);
                           s.limit << "must have at least 2 dimensions: ";
                           say_mask_shapes(c, s);
                         },
                         mask_given};
constexpr Rule kMaskBatch{
    "MASK-BATCH",
    "attenMask",
    [](const Call &c) { return c.maskPresent() && batch_known(c) && c.attenMask.t->rank >= 1; },
    [](const Call &c) { return c.attenMask.t->dims[0] == c.batch; },
    [](const Call &c, Saying &s) {
      say_shape(*c.attenMask.t, s);
      s.limit << "dimension 0 must be the batch size " << c.batch << ", one row per batch: ";
      say_mask_shapes(c, s);
    },
    mask_given};
static int64_t mask_cover(const Call &c) { return c.paged ? c.keyMax : c.lengthMax; }
constexpr Rule kMaskLast{
    "MASK-LAST",
    "attenMask",
    [](const Call &c) {
      return c.maskPresent() && c.attenMask.t->rank >= 1 && mask_cover(c) != kAbsent;
    },
    [](const Call &c) { return c.attenMask.t->dims[c.attenMask.t->rank - 1] >= mask_cover(c); },
    [](const Call &c, Saying &s) {
      s.value << "last dimension " << c.attenMask.t->dims[c.attenMask.t->rank - 1];
      s.limit << "must cover "
              << (c.paged ? "blockSize times the table's columns, " : "the largest actual length, ")
              << mask_cover(c);
    },
    mask_given};

// ---- quantisation

static Named quant1(const Call &c) {
  return first_tensor(c, [&c](const Named &n) {
    return n.fact == &c.dequantScale1 || n.fact == &c.quantScale1 || n.fact == &c.dequantScale2;
  });
}
constexpr Rule kQuant1Null{
    "QUANT1-NULL", "dequantScale1", nullptr,
    [](const Call &c) { return quant1(c).fact == nullptr; },
    [](const Call &c, Saying &s) {
      s.parameter = quant1(c).parameter;
      s.value << "a tensor is given";
      s.limit << "must be a null pointer: the INT8 query it serves is not offered";
    }};
static bool out_live(const Call &c) { return c.attentionOut.live(); }
constexpr Rule kQuant2Needed{"QUANT2-NEEDED", "quantScale2", out_live,
                             [](const Call &c) { return !c.int8Output() || c.quantScale2.given(); },
                             [](const Call &, Saying &s) {
                               s.value << "is a null pointer";
                               s.limit << "an INT8 attentionOut needs it";
                             }};
static bool quant2_live(const Call &c) {
  return c.int8Output() && c.quantScale2.live() && c.query.live();
}
constexpr Rule kQuant2Dtype{
    "QUANT2-DTYPE",
    "quantScale2",
    quant2_live,
    [](const Call &c) {
      return c.quantScale2.t->dtype == ACL_FLOAT ||
             (c.quantScale2.t->dtype == ACL_BF16 && c.query.t->dtype == ACL_BF16);
    },
    [](const Call &c, Saying &s) {
      say_dtype(*c.quantScale2.t, s);
      s.limit << "must be FLOAT, or BFLOAT16 beside a BFLOAT16 query";
    },
    int8_output};
constexpr Rule kQuant2OffsetDtype{
    "QUANT2-OFFSET-DTYPE",
    "quantOffset2",
    [](const Call &c) { return quant2_live(c) && c.quantOffset2.live(); },
    [](const Call &c) { return c.quantOffset2.t->dtype == c.quantScale2.t->dtype; },
    [](const Call &c, Saying &s) {
      say_dtype(*c.quantOffset2.t, s);
      s.limit << "must be quantScale2's, " << dtype_name(c.quantScale2.t->dtype);
    },
    int8_output_offset};
constexpr Rule kQuant2Shape{
    "QUANT2-SHAPE",
    "quantScale2",
    [](const Call &c) { return quant2_live(c) && geometry_known(c); },
    [](const Call &c) {
      if (!quant2_shape_fits(c, *c.quantScale2.t)) return false;
      if (!c.quantOffset2.live()) return true;
      return quant2_shape_fits(c, *c.quantOffset2.t) &&
             c.quantScale2.t->count == c.quantOffset2.t->count;
    },
    [](const Call &c, Saying &s) {
      bool at_scale = !quant2_shape_fits(c, *c.quantScale2.t);
      if (!at_scale) s.parameter = "quantOffset2";
      say_shape(at_scale ? *c.quantScale2.t : *c.quantOffset2.t, s);
      s.limit
          << "must hold one value, or " << c.heads << " x " << c.headDim
          << " values as (N, D), (N*D) or with unit dimensions; quantScale2 and quantOffset2 alike";
    },
    int8_output};
constexpr Rule kQuant2Unused{
    "QUANT2-UNUSED", "quantScale2", out_live,
    [](const Call &c) {
      return c.int8Output() || (!c.quantScale2.given() && !c.quantOffset2.given());
    },
    [](const Call &c, Saying &s) {
      if (!c.quantScale2.given()) s.parameter = "quantOffset2";
      s.value << "a tensor is given";
      s.limit << "must be a null pointer unless attentionOut is INT8 (it is "
              << dtype_name(c.attentionOut.t->dtype) << ')';
    }};

static bool key_live(const Call &c) { return c.key0 != nullptr; }
constexpr Rule kAntiquantUnused{
    "ANTIQUANT-UNUSED", "antiquantScale", key_live,
    [](const Call &c) {
      return c.int8Cache() || (!c.antiquantScale.given() && !c.antiquantOffset.given());
    },
    [](const Call &c, Saying &s) {
      if (!c.antiquantScale.given()) s.parameter = "antiquantOffset";
      s.value << "a tensor is given";
      s.limit << "must be a null pointer unless key and value are INT8 (they are "
              << dtype_name(c.key0->dtype) << ')';
    }};
constexpr Rule kAntiquantNeeded{
    "ANTIQUANT-NEEDED", "antiquantScale", key_live,
    [](const Call &c) { return !c.int8Cache() || c.antiquantScale.given(); },
    [](const Call &, Saying &s) {
      s.value << "is a null pointer";
      s.limit << "INT8 key and value need their scales, of shape (2) or one for each channel; "
                 "V3 and V4 have the parameter";
    }};
static bool antiquant_live(const Call &c) { return c.int8Cache() && c.antiquantScale.live(); }
constexpr Rule kAntiquantRank{
    "ANTIQUANT-RANK",
    "antiquantOffset",
    [](const Call &c) { return antiquant_live(c) && c.antiquantOffset.live(); },
    [](const Call &c) { return c.antiquantOffset.t->rank == c.antiquantScale.t->rank; },
    [](const Call &c, Saying &s) {
      say_shape(*c.antiquantOffset.t, s);
      s.limit << "must have as many dimensions as antiquantScale " << c.antiquantScale.t->shape();
    },
    int8_cache_offset};
constexpr Rule kAntiquantShape{
    "ANTIQUANT-SHAPE",
    "antiquantScale",
    [](const Call &c) { return antiquant_live(c) && geometry_known(c); },
    [](const Call &c) {
      return antiquant_shape_fits(c, *c.antiquantScale.t) &&
             (!c.antiquantOffset.live() || antiquant_shape_fits(c, *c.antiquantOffset.t));
    },
    [](const Call &c, Saying &s) {
      bool at_scale = !antiquant_shape_fits(c, *c.antiquantScale.t);
      if (!at_scale) s.parameter = "antiquantOffset";
      say_shape(at_scale ? *c.antiquantScale.t : *c.antiquantOffset.t, s);
      const int64_t n = c.kvHeads, d = c.headDim;
      s.limit << "must be (2), (2, " << n * d << "), (2, " << n << ", " << d << "), (2, " << n
              << ", 1, " << d << ") or (2, 1, " << n << ", " << d << ") for " << n
              << " key/value heads of size " << d;
    },
    int8_cache};
constexpr Rule kAntiquantDtype{
    "ANTIQUANT-DTYPE",
    "antiquantScale",
    [](const Call &c) { return antiquant_live(c) && c.query.live(); },
    [](const Call &c) { return c.antiquantScale.t->dtype == c.query.t->dtype; },
    [](const Call &c, Saying &s) {
      say_dtype(*c.antiquantScale.t, s);
      s.limit << "must be the query's, " << dtype_name(c.query.t->dtype);
    },
    int8_cache};
constexpr Rule kAntiquantOffsetDtype{
    "ANTIQUANT-OFFSET-DTYPE",
    "antiquantOffset",
    [](const Call &c) { return antiquant_live(c) && c.antiquantOffset.live(); },
    [](const Call &c) { return c.antiquantOffset.t->dtype == c.antiquantScale.t->dtype; },
    [](const Call &c, Saying &s) {
      say_dtype(*c.antiquantOffset.t, s);
      s.limit << "must be antiquantScale's, " << dtype_name(c.antiquantScale.t->dtype);
    },
    int8_cache_offset};

// ---- paging and padding

constexpr int64_t kMostCacheWidth = 65535;
constexpr Rule kCacheWidth{
    "PAGED-CACHE-WIDTH",
    "key",
    [](const Call &c) { return paged_rank_fits(c) && c.key0->rank == 3; },
    [](const Call &c) { return c.key0->dims[2] <= kMostCacheWidth; },
    [](const Call &c, Saying &s) {
      s.value << "N*D = " << c.key0->dims[2];
      s.limit << "must be at most " << kMostCacheWidth
              << " in a 3-dimensional cache; (blocks, N, blockSize, D) with BNSD has no such limit";
    },
    paged};
constexpr int64_t kMostBlockSize = 512;
constexpr Rule kBlockRange{
    "PAGED-BLOCK-RANGE",
    "blockSize",
    [](const Call &c) { return c.paged; },
    [](const Call &c) { return c.blockSize >= 1 && c.blockSize <= kMostBlockSize; },
    [](const Call &c, Saying &s) {
      s.value << c.blockSize;
      s.limit << "must be 1 .. " << kMostBlockSize;
    },
    paged};
constexpr Rule kPagedMaxLen{
    "PAGED-MAX-LEN",
    "actualSeqLengths",
    [](const Call &c) { return c.paged && lengths_judged(c) && c.keyMax != kAbsent; },
    [](const Call &c) { return c.lengthMax <= c.keyMax; },
    [](const Call &c, Saying &s) {
      s.value << "the longest is " << c.lengthMax;
      s.limit << "must be at most " << c.tableColumns << " columns of blocktable times blockSize "
              << c.blockSize << " = " << c.keyMax;
      hint_at_sums(c, c.keyMax, s);
    },
    paged};
constexpr Rule kBlockCount{"PAGED-BLOCK-COUNT",
                           "key",
                           [](const Call &c) {
                             return c.limits != nullptr && !c.limits->sharedBlocks &&
                                    paged_rank_fits(c) && lengths_judged(c) && c.keyMax != kAbsent;
                           },
                           [](const Call &c) { return c.key0->dims[0] >= blocks_needed(c); },
                           [](const Call &c, Saying &s) {
                             s.value << c.key0->dims[0] << " blocks";
                             s.limit << "must be at least the "
                                     << static_cast<int64_t>(blocks_needed(c))
                                     << " that the lengths need; blocks are not shared between "
                                        "sequences on "
                                     << c.product->title;
                           },
                           blocks_counted};
constexpr Rule kPaddingDtype{"PADDING-DTYPE",
                             "kvPaddingSize",
                             [](const Call &c) { return c.paddingPresent(); },
                             [](const Call &c) { return c.kvPaddingSize.t->dtype == ACL_INT64; },
                             [](const Call &c, Saying &s) {
                               say_dtype(*c.kvPaddingSize.t, s);
                               s.limit << "must be INT64";
                             },
                             padding_given};
constexpr Rule kPaddingPaged{
    "PADDING-PAGED",
    "kvPaddingSize",
    [](const Call &c) { return c.limits != nullptr && !c.limits->paddingWithPaging; },
    [](const Call &c) { return !c.paged || !c.paddingPresent(); },
    [](const Call &c, Saying &s) {
      s.value << "given beside blocktable";
      s.limit << "a paged cache takes no left padding on " << c.product->title;
    },
    padding_given};

// ---- documented only

constexpr Rule kDocumentedGqa{
    "DOC-KVHEADS", "numKeyValueHeads",
    [](const Call &c) { return c.limits != nullptr && !c.limits->documentsGrouped; },
    [](const Call &c) { return c.numKeyValueHeads == 0; },
    [](const Call &c, Saying &s) {
      s.value << c.numKeyValueHeads;
      s.limit << "the documents allow only 0 on " << c.product->title << "; accepted";
    }};
constexpr Rule kDocumentedInt8{
    "DOC-KV-INT8", "key",
    [](const Call &c) { return c.limits != nullptr && !c.limits->documentsInt8; },
    [](const Call &c) { return !c.int8Cache(); },
    [](const Call &c, Saying &s) {
      s.value << "dtype INT8";
      s.limit << "the documents allow only FLOAT16 on " << c.product->title << "; accepted";
    }};
constexpr Rule kDocumentedLengths{
    "DOC-SEQ-COUNT",
    "actualSeqLengths",
    [](const Call &c) { return c.lengthsGiven() && c.batch > 0; },
    [](const Call &c) {
      const auto values = c.actualSeqLengths.values();
      return values.size() != static_cast<uint64_t>(c.batch) + 1 || values[0] != 0;
    },
    [](const Call &c, Saying &s) {
      s.value << c.actualSeqLengths.values().size() << " lengths for " << c.batch
              << " batches, the first is 0";
      s.limit << "the documents allow one for each batch; accepted, the last is ignored. Running "
                 "sums with a leading 0 are no lengths of sequences";
    },
    lengths_given};
constexpr Rule kDocumentedHeads{
    "DOC-HEADS", "numHeads", [](const Call &c) { return c.limits != nullptr; },
    [](const Call &c) { return c.numHeads <= c.limits->heads; },
    [](const Call &c, Saying &s) {
      s.value << c.numHeads;
      s.limit << "the documents allow at most " << c.limits->heads << "; accepted";
    }};

}  // namespace pyaclnn::attention_rules
