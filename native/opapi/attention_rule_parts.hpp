// What the files of the attention family's rules share: conditions and sayings.
#pragma once

#include <algorithm>
#include <cstring>

#include "nnopbase/names.hpp"
#include "opapi/attention_rules.hpp"

namespace pyaclnn::attention_rules {

using Call = AttentionCall;

inline bool nd_format(aclFormat format) {
  return format == ACL_FORMAT_ND || format == ACL_FORMAT_NCHW || format == ACL_FORMAT_NHWC ||
         format == ACL_FORMAT_NCDHW || format == ACL_FORMAT_NCL || static_cast<int>(format) == 31;
}

inline void say_format(const Tensor &tensor, Saying &s) {
  s.value << "format " << format_name(tensor.format) << " (" << static_cast<int>(tensor.format)
          << ')';
  s.limit << "must be ND, NCHW, NHWC, NCDHW or NCL";
}

// Where the head size comes from, for rules that hold another tensor against it.
inline void say_head_size(const Call &c, Text &text) {
  if (c.layout == Layout::BSH) {
    text << "query H " << c.query.t->dims[2] << " over numHeads " << c.heads;
  } else {
    text << "the query's D";
  }
}
inline void say_shape(const Tensor &tensor, Saying &s) { s.value << "shape " << tensor.shape(); }
inline void say_dtype(const Tensor &tensor, Saying &s) {
  s.value << "dtype " << dtype_name(tensor.dtype);
}

inline const char *layout_name(const Call &c) {
  switch (c.layout) {
    case Layout::BSH: return "BSH";
    case Layout::BSND: return "BSND";
    case Layout::BNSD: return "BNSD";
    case Layout::Unknown: break;
  }
  return "?";
}
inline uint32_t layout_rank(const Call &c) { return c.layout == Layout::BSH ? 3 : 4; }
inline void say_rank(const Call &c, Saying &s) {
  s.limit << "inputLayout " << layout_name(c) << " needs " << layout_rank(c) << " dimensions, "
          << (c.layout == Layout::BSH    ? "(B, S, H)"
              : c.layout == Layout::BSND ? "(B, S, N, D)"
                                         : "(B, N, S, D)");
}
inline int heads_axis(const Call &c) { return c.layout == Layout::BNSD ? 1 : 2; }

inline bool layout_known(const Call &c) { return c.layout != Layout::Unknown; }
inline bool batch_known(const Call &c) { return c.batch != kAbsent; }
inline bool heads_known(const Call &c) { return c.heads != kAbsent && c.kvHeads != kAbsent; }
// The bound keeps heads * headDim inside 64 bits while broken calls are being explained; LIMIT-D
// judges the head size itself.
inline bool geometry_known(const Call &c) {
  return heads_known(c) && c.headDim >= 0 && c.headDim <= INT32_MAX && c.batch != kAbsent;
}

// Rules about key and value members: `strided` is the unpaged form whose member count is known.
inline bool strided(const Call &c) {
  return !c.paged && c.members != kAbsent && c.key0 != nullptr && layout_known(c);
}
inline bool key_rank_fits(const Call &c) {
  return c.key0 != nullptr && c.key0->rank == layout_rank(c);
}

inline bool same_shape(const Tensor &a, const Tensor &b) {
  return a.rank == b.rank && std::equal(a.dims, a.dims + a.rank, b.dims);
}

// The first optional tensor parameter for which `wrong` holds, by the header's order.
struct Named {
  const char *parameter;
  const TensorFact *fact;
};
template <class Wrong>
inline Named first_tensor(const Call &c, Wrong wrong) {
  for (uint32_t i = 0; i < c.tensorsGiven; ++i) {
    const TensorParameter &parameter = kTensorParameters[c.tensors[i]];
    if (Named named{parameter.name, &(c.*parameter.fact)}; wrong(named)) return named;
  }
  return {nullptr, nullptr};
}
inline bool lengths_judged(const Call &c) {
  return c.lengthsGiven() && c.lengthMax != kAbsent && c.batch > 0;
}

// What a rule is about; see Rule::applies.
inline bool paged(const Call &c) { return c.paged; }
inline bool lengths_given(const Call &c) { return c.lengthsGiven(); }
inline bool unpaged(const Call &c) { return !c.paged; }
inline bool bsh(const Call &c) { return c.layout == Layout::BSH; }
inline bool heads_axis_layout(const Call &c) { return c.layout != Layout::BSH; }
inline bool unpaged_heads_axis(const Call &c) { return unpaged(c) && heads_axis_layout(c); }

}  // namespace pyaclnn::attention_rules
