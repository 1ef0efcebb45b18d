// Rules about key and value (one tensor, a list, or a paged cache with its table and padding) and
// their lengths.
#include "opapi/attention_rule_parts.hpp"

namespace pyaclnn::attention_rules {

namespace {

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
int64_t block_axis(const Tensor &cache) { return cache.rank == 4 ? cache.dims[2] : cache.dims[1]; }

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
bool blocks_counted(const Call &c) {
  return c.paged && c.limits != nullptr && !c.limits->sharedBlocks;
}
bool padding_given(const Call &c) {
  return c.kvPaddingSize.given() && (!c.kvPaddingSize.live() || c.paddingPresent());
}

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
bool unpaged_lengths(const Call &c) { return unpaged(c) && lengths_given(c); }

}  // namespace

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

}  // namespace pyaclnn::attention_rules
