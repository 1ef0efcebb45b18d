#include "nnopbase/tensor.hpp"

#include <new>

#include "nnopbase/misuse.hpp"

namespace pyaclnn {
namespace {

constexpr const char *kLiveTensor = "a live aclTensor";

// Products of nonsense dims may wrap; nobody reads through them before an operator has checked
// them.
void contiguous_strides(Tensor &t) {
  uint64_t step = 1;
  for (uint32_t i = t.rank; i-- > 0;) {
    t.stride[i] = static_cast<int64_t>(step);
    step *= static_cast<uint64_t>(t.dims[i]);
  }
}

int64_t count_elements(const Tensor &t) {
  int64_t count = 1;
  for (int64_t dim : t.shape()) {
    if (dim <= 0) return 0;
    if (__builtin_mul_overflow(count, dim, &count)) count = INT64_MAX;
  }
  return count;
}

constexpr int64_t kAddressable = INT64_MAX / 16;  // elements, with room for the largest dtype

// Elements of the storage, at most kAddressable; -1: a negative dimension.
int64_t storage_elements(const Tensor &t) {
  int64_t count = 1;
  for (uint32_t i = 0; i < t.storage_rank; ++i) {
    if (t.storage[i] < 0) return -1;
    if (__builtin_mul_overflow(count, t.storage[i], &count)) count = kAddressable;
  }
  return count < kAddressable ? count : kAddressable;
}

// The first and last element of the view by its strides; false beyond 64 bits.
bool reach(const Tensor &t, int64_t *low, int64_t *high) {
  *low = *high = t.offset;
  for (uint32_t i = 0; i < t.rank; ++i) {
    int64_t far = 0;
    if (__builtin_mul_overflow(t.dims[i] - 1, t.stride[i], &far)) return false;
    int64_t *end = far < 0 ? low : high;
    if (__builtin_add_overflow(*end, far, end)) return false;
  }
  return true;
}

void derive(Tensor &t) {
  t.count = count_elements(t);
  if (t.count == 0) {
    t.inside = true;
    for (int64_t dim : t.shape()) t.inside &= dim >= 0;
    t.inside_written = t.inside;
    return;
  }
  const int64_t storage = storage_elements(t);
  auto fits = [&](int64_t low, int64_t high) {
    if (t.count > kAddressable || low < -kAddressable || high > kAddressable) return false;
    return t.storage_rank == 0 || (low >= 0 && high < storage);
  };
  int64_t low = 0, high = 0;
  t.inside = reach(t, &low, &high) && fits(low, high);
  t.inside_written = !__builtin_add_overflow(t.offset, t.count - 1, &high) && fits(t.offset, high);
}

void copy_dims(int64_t *to, const int64_t *from, uint32_t count) {
  if (count != 0) std::memcpy(to, from, count * sizeof *to);
}

int32_t refuse_rank(const char *function, const char *parameter, uint64_t rank) {
  Saying saying;
  saying.value << rank << " dimensions";
  saying.limit << "must be at most " << kMaxRank;
  return refuse(function, "META-RANK", parameter, ACLNN_ERR_PARAM_INVALID, saying);
}

int32_t refuse_missing_dims(const char *function, const char *parameter, const char *count_name,
                            uint64_t count) {
  Saying saying;
  saying.value << "NULL with " << count_name << " = " << count;
  saying.limit << "must be an array of that many dimensions (NULL only with 0)";
  return refuse(function, "META-DIMS-NULL", parameter, ACLNN_ERR_PARAM_NULLPTR, saying);
}

// Hands out a copy that the caller releases with delete[]; never null, even for no dimensions.
aclnnStatus get_dims(const char *function, const aclTensor *tensor, int64_t **values,
                     uint64_t *count, const char *values_name, const char *count_name,
                     const int64_t *(*pick)(const Tensor &, uint32_t *)) {
  if (tensor == nullptr)
    return refuse_null(function, "tensor", ACLNN_ERR_PARAM_NULLPTR, kLiveTensor);
  if (values == nullptr)
    return refuse_null(function, values_name, ACLNN_ERR_PARAM_NULLPTR, "the address of the result");
  if (count == nullptr)
    return refuse_null(function, count_name, ACLNN_ERR_PARAM_NULLPTR, "the address of the result");
  const Tensor *t = find_handle<Tensor>(tensor);
  if (t == nullptr) {
    return refuse_handle(function, "META-HANDLE", "tensor", ACLNN_ERR_PARAM_INVALID, tensor,
                         kLiveTensor);
  }
  uint32_t n = 0;
  const int64_t *from = pick(*t, &n);
  int64_t *copy = new (std::nothrow) int64_t[n];
  if (copy == nullptr) return refuse_memory(function, values_name, ACLNN_ERR_INNER);
  copy_dims(copy, from, n);
  *values = copy;
  *count = n;
  return 0;
}

// The getters of one word.
template <class T, class Read>
aclnnStatus get_word(const char *function, const aclTensor *tensor, T *word, const char *word_name,
                     Read read) {
  if (tensor == nullptr)
    return refuse_null(function, "tensor", ACLNN_ERR_PARAM_NULLPTR, kLiveTensor);
  if (word == nullptr)
    return refuse_null(function, word_name, ACLNN_ERR_PARAM_NULLPTR, "the address of the result");
  const Tensor *t = find_handle<Tensor>(tensor);
  if (t == nullptr) {
    return refuse_handle(function, "META-HANDLE", "tensor", ACLNN_ERR_PARAM_INVALID, tensor,
                         kLiveTensor);
  }
  *word = read(*t);
  return 0;
}

}  // namespace

void set_view_shape(const aclTensor *tensor, const int64_t *dims, uint32_t rank) noexcept {
  Tensor *t = find_handle<Tensor>(tensor);
  if (t == nullptr || rank > kMaxRank) return;
  t->rank = rank;
  copy_dims(t->dims, dims, rank);
  contiguous_strides(*t);
  derive(*t);
}

}  // namespace pyaclnn

using namespace pyaclnn;

aclTensor *aclCreateTensor(const int64_t *viewDims, uint64_t viewDimsNum, aclDataType dataType,
                           const int64_t *stride, int64_t offset, aclFormat format,
                           const int64_t *storageDims, uint64_t storageDimsNum, void *tensorData) {
  const char *function = "aclCreateTensor";
  if (viewDims == nullptr && viewDimsNum > 0) {
    refuse_missing_dims(function, "viewDims", "viewDimsNum", viewDimsNum);
    return nullptr;
  }
  if (storageDims == nullptr && storageDimsNum > 0) {
    refuse_missing_dims(function, "storageDims", "storageDimsNum", storageDimsNum);
    return nullptr;
  }
  if (viewDimsNum > kMaxRank) {
    refuse_rank(function, "viewDimsNum", viewDimsNum);
    return nullptr;
  }
  if (storageDimsNum > kMaxRank) {
    refuse_rank(function, "storageDimsNum", storageDimsNum);
    return nullptr;
  }
  void *handle = nullptr;
  Tensor *t = create_handle<Tensor>(&handle);
  if (t == nullptr) {
    refuse_memory(function, "the tensor", ACLNN_ERR_INNER);
    return nullptr;
  }
  t->dtype = dataType;
  t->format = format;
  t->rank = static_cast<uint32_t>(viewDimsNum);
  t->storage_rank = static_cast<uint32_t>(storageDimsNum);
  t->offset = offset;
  t->base = tensorData;
  copy_dims(t->dims, viewDims, t->rank);
  copy_dims(t->storage, storageDims, t->storage_rank);
  if (stride != nullptr) {
    copy_dims(t->stride, stride, t->rank);
  } else {
    contiguous_strides(*t);
  }
  derive(*t);
  return static_cast<aclTensor *>(handle);
}

aclnnStatus aclInitTensor(aclTensor *tensor, const int64_t *viewDims, uint64_t viewDimsNum,
                          aclDataType dataType, const int64_t *stride, int64_t offset,
                          aclFormat format, const int64_t *storageDims, uint64_t storageDimsNum,
                          void *tensorDataAddr) {
  const char *function = "aclInitTensor";
  if (tensor == nullptr)
    return refuse_null(function, "tensor", ACLNN_ERR_PARAM_NULLPTR, kLiveTensor);
  Tensor *t = find_handle<Tensor>(tensor);
  if (t == nullptr) {
    return refuse_handle(function, "META-HANDLE", "tensor", ACLNN_ERR_PARAM_INVALID, tensor,
                         kLiveTensor);
  }
  if (viewDims != nullptr && viewDimsNum > kMaxRank) {
    return refuse_rank(function, "viewDimsNum", viewDimsNum);
  }
  if (storageDims != nullptr && storageDimsNum > kMaxRank) {
    return refuse_rank(function, "storageDimsNum", storageDimsNum);
  }
  if (viewDims != nullptr) {
    t->rank = static_cast<uint32_t>(viewDimsNum);
    copy_dims(t->dims, viewDims, t->rank);
  }
  if (storageDims != nullptr) {
    t->storage_rank = static_cast<uint32_t>(storageDimsNum);
    copy_dims(t->storage, storageDims, t->storage_rank);
  }
  if (stride != nullptr) {
    copy_dims(t->stride, stride, t->rank);
  } else {
    contiguous_strides(*t);
  }
  t->dtype = dataType;
  t->format = format;
  t->offset = offset;
  if (tensorDataAddr != nullptr) t->base = tensorDataAddr;
  derive(*t);
  return 0;
}

aclnnStatus aclDestroyTensor(const aclTensor *tensor) {
  if (tensor == nullptr) return 0;
  if (claim_handle<Tensor>(tensor) == nullptr) {
    return refuse_handle("aclDestroyTensor", "META-HANDLE", "tensor", ACLNN_ERR_PARAM_INVALID,
                         tensor, "NULL or a live aclTensor");
  }
  recycle_handle<Tensor>(tensor);
  return 0;
}

aclnnStatus aclGetViewShape(const aclTensor *tensor, int64_t **viewDims, uint64_t *viewDimsNum) {
  return get_dims("aclGetViewShape", tensor, viewDims, viewDimsNum, "viewDims", "viewDimsNum",
                  [](const Tensor &t, uint32_t *n) -> const int64_t * {
                    *n = t.rank;
                    return t.dims;
                  });
}

aclnnStatus aclGetStorageShape(const aclTensor *tensor, int64_t **storageDims,
                               uint64_t *storageDimsNum) {
  return get_dims("aclGetStorageShape", tensor, storageDims, storageDimsNum, "storageDims",
                  "storageDimsNum", [](const Tensor &t, uint32_t *n) -> const int64_t * {
                    *n = t.storage_rank;
                    return t.storage;
                  });
}

aclnnStatus aclGetViewStrides(const aclTensor *tensor, int64_t **stridesValue,
                              uint64_t *stridesNum) {
  return get_dims("aclGetViewStrides", tensor, stridesValue, stridesNum, "stridesValue",
                  "stridesNum", [](const Tensor &t, uint32_t *n) -> const int64_t * {
                    *n = t.rank;
                    return t.stride;
                  });
}

aclnnStatus aclGetViewOffset(const aclTensor *tensor, int64_t *offset) {
  return get_word("aclGetViewOffset", tensor, offset, "offset",
                  [](const Tensor &t) { return t.offset; });
}

aclnnStatus aclGetFormat(const aclTensor *tensor, aclFormat *format) {
  return get_word("aclGetFormat", tensor, format, "format",
                  [](const Tensor &t) { return t.format; });
}

aclnnStatus aclGetDataType(const aclTensor *tensor, aclDataType *dataType) {
  return get_word("aclGetDataType", tensor, dataType, "dataType",
                  [](const Tensor &t) { return t.dtype; });
}

aclnnStatus aclGetRawTensorAddr(const aclTensor *tensor, void **addr) {
  return get_word("aclGetRawTensorAddr", tensor, addr, "addr",
                  [](const Tensor &t) { return t.base; });
}

aclnnStatus aclSetRawTensorAddr(aclTensor *tensor, void *addr) {
  const char *function = "aclSetRawTensorAddr";
  if (tensor == nullptr)
    return refuse_null(function, "tensor", ACLNN_ERR_PARAM_NULLPTR, kLiveTensor);
  Tensor *t = find_handle<Tensor>(tensor);
  if (t == nullptr) {
    return refuse_handle(function, "META-HANDLE", "tensor", ACLNN_ERR_PARAM_INVALID, tensor,
                         kLiveTensor);
  }
  t->base = addr;
  return 0;
}
