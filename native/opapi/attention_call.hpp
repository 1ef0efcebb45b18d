// An attention call before its rules are checked. Facts are read from the handles once; a fact that
// cannot be derived from broken input is absent (kAbsent), and rules that need it are not
// evaluated.
#pragma once

#include <cstdint>
#include <iterator>
#include <span>

#include "nnopbase/tensor.hpp"
#include "product/product.hpp"

namespace pyaclnn {

inline constexpr int64_t kAbsent = INT64_MIN;
inline constexpr uint64_t kMostListMembers = 256;  // of an aclTensorList that an operator accepts

// One dtype combination a product offers.
struct DtypeTuple {
  aclDataType query, keyValue, attentionOut;
};

// What a product offers and how far it goes; one row per product and operator.
struct AttentionLimits {
  ProductId product;
  std::span<const DtypeTuple> tuples;
  int64_t batch = 65536;
  int64_t heads = 256;  // documented for numHeads; enforced for kvHeads only
  int64_t kvHeads = 256;
  int64_t headDim = 512;
  int64_t headDimMultiple = 1;
  int64_t group = 64;                                            // numHeads / numKeyValueHeads
  int64_t groupedGroup = INT64_MAX, groupedHeadDim = INT64_MAX;  // when the group is not 1
  bool groupedLayouts = false;  // group not 1: BNSD without a block table, BSH or BSND with one
  int64_t keySequence = INT64_MAX;
  bool sharedBlocks = true;       // a block may occur in several rows of the table
  bool paddingWithPaging = true;  // kvPaddingSize is ignored, not refused, beside a block table
  bool documentsGrouped = true;   // the documents allow numKeyValueHeads other than 0 ...
  bool documentsInt8 = true;      // ... and INT8 key and value
};

// A tensor parameter as given: `given` says the pointer was not null, `t` is null for dead handles.
struct TensorFact {
  const aclTensor *handle = nullptr;
  const Tensor *t = nullptr;
  bool given() const { return handle != nullptr; }
  bool live() const { return t != nullptr; }
};

struct ListFact {
  const aclTensorList *handle = nullptr;
  const TensorList *list = nullptr;
  const Tensor *first = nullptr;  // member 0, which most rules ask for
  bool given() const { return handle != nullptr; }
  bool live() const { return list != nullptr; }
  uint64_t size() const { return list != nullptr ? list->elements().size() : 0; }
  const aclTensor *handle_at(uint64_t i) const {
    return i < size() ? list->elements()[static_cast<size_t>(i)] : nullptr;
  }
  const Tensor *at(uint64_t i) const {
    if (i == 0) return first;
    const aclTensor *member = handle_at(i);
    return member != nullptr ? find_handle<Tensor>(member) : nullptr;
  }
};

struct IntArrayFact {
  const aclIntArray *handle = nullptr;
  const IntArray *array = nullptr;
  bool given() const { return handle != nullptr; }
  bool live() const { return array != nullptr; }
  std::span<const int64_t> values() const {
    return array != nullptr ? array->elements() : std::span<const int64_t>{};
  }
};

enum class Layout : uint8_t { Unknown, BSH, BSND, BNSD };

// The arguments as given. A version of an operator that lacks (or ignores) a parameter leaves it at
// its neutral value.
struct AttentionArgs {
  const char *function = nullptr;  // of the second phase: names the version in texts
  const aclTensor *query = nullptr;
  const aclTensorList *key = nullptr, *value = nullptr;
  const aclTensor *pseShift = nullptr, *attenMask = nullptr;
  const aclIntArray *actualSeqLengths = nullptr;
  const aclTensor *dequantScale1 = nullptr, *quantScale1 = nullptr, *dequantScale2 = nullptr,
                  *quantScale2 = nullptr, *quantOffset2 = nullptr, *antiquantScale = nullptr,
                  *antiquantOffset = nullptr, *blocktable = nullptr, *kvPaddingSize = nullptr;
  int64_t numHeads = 0;
  double scaleValue = 1.0;
  const char *inputLayout = nullptr;
  int64_t numKeyValueHeads = 0, blockSize = 0, innerPrecise = 1;
  const aclTensor *attentionOut = nullptr;
  uint64_t *workspaceSize = nullptr;
  aclOpExecutor **executor = nullptr;
};

struct AttentionCall {
  const Product *product = nullptr;
  const AttentionLimits *limits = nullptr;  // null: not offered on this product

  // As given.
  TensorFact query, pseShift, attenMask, dequantScale1, quantScale1, dequantScale2, quantScale2,
      quantOffset2, antiquantScale, antiquantOffset, blocktable, kvPaddingSize, attentionOut;
  uint32_t tensorsGiven = 0;  // how many of them ...
  uint8_t tensors[13] = {};   // ... and which, as indices into kTensorParameters, in order
  ListFact key, value;
  IntArrayFact actualSeqLengths;
  int64_t numHeads = 0, numKeyValueHeads = 0, blockSize = 0, innerPrecise = 1;
  double scaleValue = 1.0;
  const char *inputLayout = nullptr;
  bool workspaceSize = false, executor = false;  // given

  // Derived; kAbsent where the input does not say.
  Layout layout = Layout::Unknown;
  int64_t batch = kAbsent;    // B of the query
  int64_t heads = kAbsent;    // numHeads, once it is in range
  int64_t kvHeads = kAbsent;  // numKeyValueHeads, or numHeads when that is 0
  int64_t headDim = kAbsent;  // D of the query
  const Tensor *key0 = nullptr, *value0 = nullptr;
  bool paged = false;
  bool listMode = false;      // B tensors of batch 1 instead of one tensor
  int64_t members = kAbsent;  // list members in use
  int64_t keyMax = kAbsent;   // largest S over the members in use; paged: blockSize * table columns
  int64_t tableColumns = kAbsent;
  int64_t lengthMax = kAbsent;  // largest actual length (keyMax without actualSeqLengths)

  bool lengthsGiven() const { return !actualSeqLengths.values().empty(); }
  int64_t length(int64_t b) const {
    auto values = actualSeqLengths.values();
    return values.size() == 1 ? values[0] : values[static_cast<size_t>(b)];
  }
  bool int8Cache() const { return key0 != nullptr && key0->dtype == ACL_INT8; }
  bool int8Output() const { return attentionOut.live() && attentionOut.t->dtype == ACL_INT8; }
  bool maskPresent() const;  // given and not empty
  bool paddingPresent() const;
};

// The tensor parameters by the header's order.
struct TensorParameter {
  const char *name;
  const aclTensor *AttentionArgs::*argument;
  TensorFact AttentionCall::*fact;
};
inline constexpr TensorParameter kTensorParameters[] = {
    {"query", &AttentionArgs::query, &AttentionCall::query},
    {"pseShift", &AttentionArgs::pseShift, &AttentionCall::pseShift},
    {"attenMask", &AttentionArgs::attenMask, &AttentionCall::attenMask},
    {"dequantScale1", &AttentionArgs::dequantScale1, &AttentionCall::dequantScale1},
    {"quantScale1", &AttentionArgs::quantScale1, &AttentionCall::quantScale1},
    {"dequantScale2", &AttentionArgs::dequantScale2, &AttentionCall::dequantScale2},
    {"quantScale2", &AttentionArgs::quantScale2, &AttentionCall::quantScale2},
    {"quantOffset2", &AttentionArgs::quantOffset2, &AttentionCall::quantOffset2},
    {"antiquantScale", &AttentionArgs::antiquantScale, &AttentionCall::antiquantScale},
    {"antiquantOffset", &AttentionArgs::antiquantOffset, &AttentionCall::antiquantOffset},
    {"blocktable", &AttentionArgs::blocktable, &AttentionCall::blocktable},
    {"kvPaddingSize", &AttentionArgs::kvPaddingSize, &AttentionCall::kvPaddingSize},
    {"attentionOut", &AttentionArgs::attentionOut, &AttentionCall::attentionOut},
};
static_assert(std::size(kTensorParameters) == std::size(AttentionCall{}.tensors));

// S of a key or value tensor in a layout; kAbsent when the rank does not fit.
int64_t key_length(const Tensor &tensor, Layout layout);

// Reads the facts of a call and derives the rest. `limits`: null when the product does not offer
// it.
AttentionCall read_call(const AttentionArgs &args, const Product &product,
                        const AttentionLimits *limits);

}  // namespace pyaclnn
