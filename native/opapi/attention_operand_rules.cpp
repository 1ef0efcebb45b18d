// Rules about pointers, handles, formats and dtypes, and about views, attributes and query.
#include "opapi/attention_rule_parts.hpp"

namespace pyaclnn::attention_rules {

namespace {

void say_null(const Call &, Saying &s) {
  s.value << "is a null pointer";
  s.limit << "it is required";
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

}  // namespace pyaclnn::attention_rules
