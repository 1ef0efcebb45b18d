// What Setup asks of PagedAttentionOperation once the lengths are known, and what Execute refuses.
#include "atb/paged_attention_rule_parts.hpp"
#include "nnopbase/names.hpp"

namespace pyaclnn::atb::paged_attention_rules {
namespace {

// The first batch whose keys before the query are not whole tiles of the mask; -1: none.
int64_t apart_from_tile(const Call &c) {
  const size_t count = std::min(c.contexts().size(), c.queries().size());
  for (size_t b = 0; b < count; ++b) {
    const int64_t before = int64_t{c.contexts()[b]} - c.queries()[b];
    if (before < 0 || before % 128 != 0) return static_cast<int64_t>(b);
  }
  return -1;
}

}  // namespace

constexpr Rule kMaskFreeLengths{
    "PA-MASK-FREE-LENGTHS",
    "contextLens",
    [](const Call &c) { return ranked(c) && !c.contexts().empty() && !c.queries().empty(); },
    [](const Call &c) { return apart_from_tile(c) < 0; },
    [](const Call &c, Saying &s) {
      const auto b = static_cast<size_t>(apart_from_tile(c));
      s.value << "length " << b << " is " << c.contexts()[b] << " with qSeqLen " << c.queries()[b];
      s.limit << "their difference must be a multiple of 128 from 0 on";
    },
    [](const Call &c) { return mask_free(c) && c.spec(); }};

namespace {

int64_t longest(std::span<const int32_t> lengths) {
  return *std::max_element(lengths.begin(), lengths.end());
}
bool negative(std::span<const int32_t> lengths) {
  return std::any_of(lengths.begin(), lengths.end(), [](int32_t n) { return n < 0; });
}
// Query rows of a batch, at most.
int64_t most_rows(const Call &c) { return c.spec() ? longest(c.queries()) : 1; }
bool contexts_known(const Call &c) { return ranked(c) && !c.contexts().empty(); }
bool queries_known(const Call &c) { return ranked(c) && !c.queries().empty(); }
bool lengths_known(const Call &c) { return contexts_known(c) && (!c.spec() || queries_known(c)); }
void say_lengths(std::span<const int32_t> lengths, Saying &s) {
  const auto low = std::min_element(lengths.begin(), lengths.end());
  if (*low < 0) {
    s.value << "length " << low - lengths.begin() << " is " << *low;
  } else {
    s.value << "all lengths are 0";
  }
}
bool kernel_mask(const Call &c) { return nd(c) && c.has_mask() && !c.mla(); }

}  // namespace

constexpr Rule kMaskContexts{
    "PA-MASK-CONTEXTS",
    "contextLens",
    contexts_known,
    [](const Call &c) { return longest(c.contexts()) > 0 && !negative(c.contexts()); },
    [](const Call &c, Saying &s) {
      say_lengths(c.contexts(), s);
      s.limit << "with a mask none may be negative, and one must be at least 1";
    },
    kernel_mask};
constexpr Rule kMaskQueries{
    "PA-MASK-QUERIES",
    "qSeqLen",
    queries_known,
    [](const Call &c) { return longest(c.queries()) > 0 && !negative(c.queries()); },
    [](const Call &c, Saying &s) {
      say_lengths(c.queries(), s);
      s.limit << "with a mask none may be negative, and one must be at least 1";
    },
    [](const Call &c) { return kernel_mask(c) && c.spec(); }};
constexpr Rule kMaskOrder{"PA-MASK-ORDER",
                          "contextLens",
                          lengths_known,
                          [](const Call &c) { return longest(c.contexts()) >= most_rows(c); },
                          [](const Call &c, Saying &s) {
                            s.value << "the longest is " << longest(c.contexts());
                            s.limit << "must be at least the longest of qSeqLen, " << most_rows(c);
                          },
                          kernel_mask};

namespace {

// The planes of a mask by its rank, and that it covers all rows and columns.
bool mask_fits(const Call &c) {
  const int64_t planes = c.rank(Call::kMask);
  if (planes < 2 || c.mask_columns() < longest(c.contexts())) return false;
  if (c.masked(Param::MASK_TYPE_SPEC)) return planes == 2 && c.mask_rows() == c.tokens();
  if (c.mask_rows() < most_rows(c)) return false;
  const int64_t batch = c.compressed() ? c.entries() / c.kv_heads() : c.entries();
  const int64_t first = c.dim(Call::kMask, 0);
  switch (planes) {
    case 2: return true;
    case 3: return first == (kAlibi.chosen(c) && !c.compressed() ? c.heads() : batch);
    case 4: return first == batch && c.dim(Call::kMask, 1) == c.heads();
    default: return false;
  }
}
void say_mask_shape(const Call &c, Saying &s) {
  say_it<Call::kMask>(c, s);
  if (c.masked(Param::MASK_TYPE_SPEC)) {
    s.limit << "must be " << c.tokens() << " rows, one for each token, of at least "
            << longest(c.contexts()) << " columns";
    return;
  }
  s.limit << "must have at least " << most_rows(c) << " rows and " << longest(c.contexts())
          << " columns, alone, with a plane for each "
          << (kAlibi.chosen(c) && !c.compressed() ? "head" : "batch")
          << ", or for each batch and head";
}

}  // namespace

constexpr Rule kMaskShape{"PA-MASK-SHAPE", "mask",         lengths_known,
                          mask_fits,       say_mask_shape, kernel_mask};
constexpr Rule kContexts{"PA-CONTEXTS", "contextLens", contexts_known,
                         [](const Call &c) { return !negative(c.contexts()); },
                         [](const Call &c, Saying &s) {
                           say_lengths(c.contexts(), s);
                           s.limit << "must be at least 0";
                         }};
constexpr Rule kTableColumns{
    "PA-TABLE-COLUMNS", "blockTables", contexts_known,
    [](const Call &c) {
      const int64_t blocks = (longest(c.contexts()) + c.block_size() - 1) / c.block_size();
      return blocks <= c.dim(Call::kBlockTables, 1);
    },
    [](const Call &c, Saying &s) {
      say_it<Call::kBlockTables>(c, s);
      const int64_t size = c.block_size(), keys = longest(c.contexts());
      s.limit << "must have at least " << (keys + size - 1) / size << " columns, blocks of " << size
              << " for the longest of contextLens, " << keys;
    }};
constexpr Rule kQueryCount{
    "PA-QUERY-COUNT",
    "qSeqLen",
    queries_known,
    [](const Call &c) { return static_cast<int64_t>(c.queries().size()) == c.entries(); },
    [](const Call &c, Saying &s) {
      s.value << c.queries().size() << " lengths";
      s.limit << "must be as many as contextLens, " << c.entries();
    },
    kSpec.chosen};

namespace {

// The first batch with a negative number of query rows, which the device of NZ caches refuses
// later, or with more of them than keys; -1: none.
int64_t wrong_queries(const Call &c) {
  for (size_t b = 0; b < c.queries().size(); ++b) {
    const int64_t rows = c.queries()[b];
    const int64_t keys = b < c.contexts().size() ? c.contexts()[b] : 0;
    if ((rows < 0 && nd(c)) || (keys > 0 && rows > keys)) return static_cast<int64_t>(b);
  }
  return -1;
}

}  // namespace

constexpr Rule kQueryLengths{"PA-QUERY-LENGTHS",
                             "qSeqLen",
                             queries_known,
                             [](const Call &c) { return wrong_queries(c) < 0; },
                             [](const Call &c, Saying &s) {
                               const auto b = static_cast<size_t>(wrong_queries(c));
                               s.value << "length " << b << " is " << c.queries()[b];
                               s.limit << "must be at least 0 and at most that of contextLens";
                               if (b < c.contexts().size()) s.limit << ", " << c.contexts()[b];
                             },
                             kSpec.chosen};

namespace {

// Rows of the query that are read, as far as they are known: entries without keys have none.
int64_t needed_rows(const Call &c) {
  int64_t rows = 0;
  if (c.spec()) {
    for (size_t b = 0; b < c.queries().size(); ++b) {
      const bool keys = b >= c.contexts().size() || c.contexts()[b] > 0;
      if (keys) rows += std::max(c.queries()[b], 0);
    }
  } else if (!c.compressed()) {
    for (int32_t keys : c.contexts()) rows += keys > 0;
  }
  return rows;
}

}  // namespace

constexpr Rule kQueryRows{"PA-QUERY-ROWS", "query", ranked,
                          [](const Call &c) { return needed_rows(c) <= c.tokens(); },
                          [](const Call &c, Saying &s) {
                            s.value << c.tokens() << " tokens";
                            s.limit << "must be at least the " << needed_rows(c) << " rows that "
                                    << (c.spec() ? "qSeqLen" : "contextLens") << " needs";
                          }};
constexpr Rule kMlaMask{"PA-MLA-MASK",  "mask",
                        lengths_known,  mask_fits,
                        say_mask_shape, [](const Call &c) { return c.mla() && c.has_mask(); }};

namespace {

// Of NZ, or ND for the rows of single tokens.
bool nz_mask_fits(const Call &c) {
  const bool spec = c.masked(Param::MASK_TYPE_SPEC);
  const int64_t rank = c.rank(Call::kMask);
  if (c.mask_fractal() ? rank != 4 || c.dim(Call::kMask, 3) != 16 : !c.spec() || rank < 2) {
    return false;
  }
  if (!c.contexts().empty() && c.mask_columns() < longest(c.contexts())) return false;
  const int64_t planes = c.mask_planes();
  if (spec) return c.mask_rows() >= c.tokens();
  return kAlibi.chosen(c) ? planes == c.heads() || planes / c.heads() >= c.entries()
                          : planes == 1 || planes >= c.entries();
}

}  // namespace

constexpr Rule kNzMask{
    "PA-NZ-MASK",
    "mask",
    ranked,
    nz_mask_fits,
    [](const Call &c, Saying &s) {
      say_it<Call::kMask>(c, s);
      s.limit << (c.spec() ? "must be NZ, (planes, columns / 16, rows, 16), or ND"
                           : "must be NZ, (planes, columns / 16, rows, 16),")
              << " with 1 plane for all batches or one for each of " << c.entries();
      if (kAlibi.chosen(c)) s.limit << ", times " << c.heads() << " heads";
      if (c.masked(Param::MASK_TYPE_SPEC)) {
        s.limit << ", with rows for " << c.tokens() << " tokens";
      }
      if (!c.contexts().empty()) {
        s.limit << ", and columns for " << longest(c.contexts()) << " keys";
      }
    },
    [](const Call &c) { return nz(c) && c.has_mask() && !c.causal(); }};

// ---- Execute

constexpr Rule kBlockMultiple{"PA-BLOCK-MULTIPLE",
                              "keyCache",
                              ranked,
                              block_in_sixteens,
                              [](const Call &c, Saying &s) {
                                s.value << "block size " << c.block_size();
                                s.limit << "must be a multiple of 16";
                              },
                              nd};
constexpr Rule kBnsdMost{"PA-BNSD-HEAD-MOST", "keyCache",    ranked,
                         head_fits,           say_head_most, nd_bnsd};
constexpr Rule kBnsdWideBlock{"PA-BNSD-WIDE-BLOCK", "keyCache",     ranked,
                              wide_block,           say_wide_block, nd_bnsd};

namespace {

bool one_head_size(const Call &c) { return nd(c) && c.value_head_size() == key_head_size(c); }
// Blocks of 128 rows and their multiples, which that head size may have.
bool full_block(const Call &c) { return key_head_size(c) == 256 && c.block_size() >= 128; }

}  // namespace

constexpr Rule kFullBlock{"PA-BLOCK-128",
                          "keyCache",
                          ranked,
                          [](const Call &c) { return c.block_size() % 128 == 0; },
                          [](const Call &c, Saying &s) {
                            s.value << "block size " << c.block_size();
                            s.limit << "must be below 128 or a multiple of it with head size 256";
                          },
                          [](const Call &c) { return one_head_size(c) && full_block(c); }};
constexpr Rule kBlockLimit{"PA-BLOCK-LIMIT",
                           "keyCache",
                           ranked,
                           [](const Call &c) { return block_fits(c, key_head_size(c)); },
                           [](const Call &c, Saying &s) { say_block(c, key_head_size(c), s); },
                           [](const Call &c) { return one_head_size(c) && !full_block(c); }};

namespace {

// Served by the kernel for several rows of a batch.
bool several_rows(const Call &c) {
  return nd(c) && (c.masked(Param::MASK_TYPE_SPEC) ||
                   (c.spec() && !c.queries().empty() && longest(c.queries()) > 1));
}

}  // namespace

constexpr Rule kSpecBatch{"PA-SPEC-BATCH",
                          "contextLens",
                          ranked,
                          [](const Call &c) { return c.entries() <= 2000; },
                          [](const Call &c, Saying &s) {
                            s.value << c.entries() << " batches";
                            s.limit << "must be at most 2000 with several query rows a batch";
                          },
                          several_rows};
constexpr Rule kSpecHeads{"PA-SPEC-HEADS",
                          "headNum",
                          nullptr,
                          [](const Call &c) { return c.heads() <= 256; },
                          [](const Call &c, Saying &s) {
                            s.value << c.heads();
                            s.limit << "must be at most 256 with several query rows a batch";
                          },
                          several_rows};
constexpr Rule kSpecBlock{"PA-SPEC-BLOCK",
                          "keyCache",
                          ranked,
                          [](const Call &c) { return c.block_size() <= 128; },
                          [](const Call &c, Saying &s) {
                            s.value << "block size " << c.block_size();
                            s.limit << "must be at most 128 with several query rows a batch";
                          },
                          several_rows};
constexpr Rule kSpecWidth{
    "PA-SPEC-WIDTH",
    "query",
    ranked,
    [](const Call &c) { return c.heads() * key_head_size(c) <= kBlockElements; },
    [](const Call &c, Saying &s) {
      s.value << c.heads() << " heads of head size " << key_head_size(c);
      s.limit << "their product must be at most " << kBlockElements
              << " with several query rows a batch";
    },
    [](const Call &c) { return several_rows(c) && !c.mla(); }};
constexpr Rule kSpecLayout{"PA-SPEC-LAYOUT",
                           "inputLayout",
                           nullptr,
                           [](const Call &c) { return !c.bnsd(); },
                           [](const Call &, Saying &s) {
                             s.value << "1 (TYPE_BNSD)";
                             s.limit << "must be 0 (TYPE_BSND) with MASK_TYPE_SPEC";
                           },
                           several_rows};
constexpr Rule kSpecDtype{"PA-SPEC-DTYPE",
                          "query",
                          sound,
                          [](const Call &c) { return c.desc(Call::kQuery)->dtype != ACL_INT8; },
                          [](const Call &, Saying &s) {
                            s.value << "dtype INT8";
                            s.limit << "must be FLOAT16 or BFLOAT16 with MASK_TYPE_SPEC";
                          },
                          several_rows};
constexpr Rule kSpecHeadSize{"PA-SPEC-HEAD-SIZE",
                             "valueCache",
                             ranked,
                             [](const Call &c) { return c.value_head_size() == key_head_size(c); },
                             [](const Call &c, Saying &s) {
                               say_it<Call::kValueCache>(c, s);
                               s.limit << "dimension 3 must be the head size of keyCache, "
                                       << key_head_size(c) << ", with MASK_TYPE_SPEC";
                             },
                             [](const Call &c) { return several_rows(c) && !c.mla(); }};
constexpr Rule kNzQueries{
    "PA-NZ-QUERIES",
    "qSeqLen",
    queries_known,
    [](const Call &c) { return *std::min_element(c.queries().begin(), c.queries().end()) > 0; },
    [](const Call &c, Saying &s) {
      const auto low = std::min_element(c.queries().begin(), c.queries().end());
      s.value << "length " << low - c.queries().begin() << " is " << *low;
      s.limit << "must be at least 1";
    },
    [](const Call &c) { return nz(c) && c.spec(); }};

}  // namespace pyaclnn::atb::paged_attention_rules
