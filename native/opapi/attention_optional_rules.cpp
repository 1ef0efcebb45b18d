// Rules about the optional tensors: pseShift, attenMask and the scales and offsets of quantisation.
#include "opapi/attention_rule_parts.hpp"

namespace pyaclnn::attention_rules {

namespace {

bool shape_is(const Tensor &t, std::initializer_list<int64_t> dims) {
  return t.rank == dims.size() && std::equal(dims.begin(), dims.end(), t.dims);
}

bool pse_live(const Call &c) { return c.pseShift.live(); }

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
bool pse_given(const Call &c) { return c.pseShift.given(); }
bool mask_given(const Call &c) {
  return c.attenMask.given() && (!c.attenMask.live() || c.maskPresent());
}
bool int8_output(const Call &c) { return c.int8Output() && c.quantScale2.given(); }
bool int8_output_offset(const Call &c) { return int8_output(c) && c.quantOffset2.given(); }
bool int8_cache(const Call &c) { return c.int8Cache() && c.antiquantScale.given(); }
bool int8_cache_offset(const Call &c) { return int8_cache(c) && c.antiquantOffset.given(); }

}  // namespace

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

}  // namespace pyaclnn::attention_rules
