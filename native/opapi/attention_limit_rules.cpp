// Rules about head size, output and groups, the limits of the product, and what is only
// documented.
#include "opapi/attention_rule_parts.hpp"

namespace pyaclnn::attention_rules {

namespace {

int64_t group(const Call &c) { return c.heads / c.kvHeads; }
bool strided_geometry(const Call &c) { return strided(c) && geometry_known(c); }

int64_t cache_alignment(const Call &c) { return c.int8Cache() ? 32 : 16; }

bool unpaged_bsh(const Call &c) { return unpaged(c) && bsh(c); }

}  // namespace

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
