#include "opapi/attention_call.hpp"

#include <algorithm>
#include <string_view>

namespace pyaclnn {

bool AttentionCall::maskPresent() const { return attenMask.live() && attenMask.t->count != 0; }

bool AttentionCall::paddingPresent() const {
  return kvPaddingSize.live() && kvPaddingSize.t->count != 0;
}

int64_t key_length(const Tensor &tensor, Layout layout) {
  if (tensor.rank != (layout == Layout::BSH ? 3u : 4u)) return kAbsent;
  // A tensor without elements has no positions, whichever dimension is 0.
  if (tensor.count == 0) return 0;
  return tensor.dims[layout == Layout::BNSD ? 2 : 1];
}

namespace {

Layout parse_layout(const char *text) {
  if (text == nullptr) return Layout::BSH;  // the attribute's default
  // Published samples pass arrays without room for the NUL, so nothing behind the first difference
  // is read.
  auto is = [text](std::string_view name) {
    for (size_t i = 0; i < name.size(); ++i) {
      if (text[i] != name[i]) return false;
    }
    return text[name.size()] == '\0';
  };
  if (is("BSH")) return Layout::BSH;
  if (is("BSND")) return Layout::BSND;
  if (is("BNSD")) return Layout::BNSD;
  return Layout::Unknown;
}

void derive_heads(AttentionCall &call) {
  constexpr int64_t kMost = INT32_MAX;
  if (call.numHeads >= 1 && call.numHeads <= kMost) call.heads = call.numHeads;
  if (call.numKeyValueHeads < 0 || call.numKeyValueHeads > kMost || call.heads == kAbsent) return;
  int64_t kv = call.numKeyValueHeads == 0 ? call.heads : call.numKeyValueHeads;
  if (kv <= call.heads && call.heads % kv == 0) call.kvHeads = kv;
}

void derive_query(AttentionCall &call) {
  if (!call.query.live() || call.layout == Layout::Unknown) return;
  const Tensor &query = *call.query.t;
  if (query.rank != (call.layout == Layout::BSH ? 3u : 4u)) return;
  call.batch = query.dims[0];
  if (call.layout != Layout::BSH) {
    call.headDim = query.dims[3];
  } else if (call.heads != kAbsent && query.dims[2] % call.heads == 0) {
    call.headDim = query.dims[2] / call.heads;
  }
}

void derive_keys(AttentionCall &call) {
  if (call.paged) {
    call.members = 1;
    if (call.blocktable.live() && call.blocktable.t->rank == 2 && call.blockSize > 0) {
      call.tableColumns = call.blocktable.t->dims[1];
      int64_t rows = 0;
      if (call.tableColumns >= 0 &&
          !__builtin_mul_overflow(call.tableColumns, call.blockSize, &rows)) {
        call.keyMax = rows;
      }
    }
    return;
  }
  if (call.batch == kAbsent || call.key0 == nullptr || call.key0->rank == 0) return;
  call.listMode = call.key0->dims[0] != call.batch;
  call.members = call.listMode ? call.batch : 1;
  int64_t longest = 0;
  for (int64_t i = 0; i < call.members; ++i) {
    const Tensor *key = call.key.at(static_cast<uint64_t>(i));
    int64_t length = key != nullptr ? key_length(*key, call.layout) : kAbsent;
    if (length == kAbsent) return;
    longest = std::max(longest, length);
  }
  call.keyMax = longest;
}

void derive_lengths(AttentionCall &call) {
  if (!call.lengthsGiven()) {
    call.lengthMax = call.paged ? kAbsent : call.keyMax;
    return;
  }
  auto values = call.actualSeqLengths.values();
  if (call.batch < 0) return;
  if (values.size() != 1) {
    if (values.size() < static_cast<uint64_t>(call.batch)) return;
    values = values.first(static_cast<size_t>(call.batch));
  }
  call.lengthMax = 0;
  for (int64_t length : values) call.lengthMax = std::max(call.lengthMax, length);
}

ListFact fact(const aclTensorList *handle) {
  ListFact fact{.handle = handle};
  if (handle == nullptr) return fact;
  fact.list = find_handle<TensorList>(handle);
  if (const aclTensor *first = fact.handle_at(0)) fact.first = find_handle<Tensor>(first);
  return fact;
}
IntArrayFact fact(const aclIntArray *array) {
  return {array, array != nullptr ? find_handle<IntArray>(array) : nullptr};
}

}  // namespace

AttentionCall read_call(const AttentionArgs &a, const Product &product,
                        const AttentionLimits *limits) {
  AttentionCall c;
  c.product = &product;
  c.limits = limits;
  for (uint8_t i = 0; i < std::size(kTensorParameters); ++i) {
    const aclTensor *tensor = a.*kTensorParameters[i].argument;
    if (tensor == nullptr) continue;
    c.*kTensorParameters[i].fact = {tensor, find_handle<Tensor>(tensor)};
    c.tensors[c.tensorsGiven++] = i;
  }
  c.key = fact(a.key);
  c.value = fact(a.value);
  c.actualSeqLengths = fact(a.actualSeqLengths);
  c.numHeads = a.numHeads;
  c.numKeyValueHeads = a.numKeyValueHeads;
  c.blockSize = a.blockSize;
  c.innerPrecise = a.innerPrecise;
  c.scaleValue = a.scaleValue;
  c.inputLayout = a.inputLayout;
  c.workspaceSize = a.workspaceSize != nullptr;
  c.executor = a.executor != nullptr;

  c.layout = parse_layout(c.inputLayout);
  c.key0 = c.key.at(0);
  c.value0 = c.value.at(0);
  c.paged = c.blocktable.given();
  derive_heads(c);
  derive_query(c);
  derive_keys(c);
  derive_lengths(c);
  return c;
}

}  // namespace pyaclnn
