// Tensor descriptions: the data type, shape and format of a tensor without data.
#include <cstring>
#include <mutex>

#include "acl/acl.h"
#include "acl/handle.hpp"
#include "acl/refuse.hpp"

namespace pyaclnn {
namespace {

constexpr int kMaxDims = 128;

struct Shape {
  int dims = 0;
  int64_t size[kMaxDims];
};

struct TensorDesc {
  static constexpr Kind kKind = Kind::TensorDesc;
  aclDataType dtype;
  aclFormat format, storage_format;
  aclMemType place;
  Shape shape, storage_shape;
  char name[512];
};

// One for all: nothing here is on a path that has to be fast.
constinit std::mutex g_mutex;

TensorDesc *find_desc(const char *function, const aclTensorDesc *desc) {
  if (desc == nullptr) {
    refuse_null(function, "desc");
    return nullptr;
  }
  auto *found = find_handle<TensorDesc>(desc);
  if (found == nullptr) {
    refuse_handle(function, "desc", "tensor description", ACL_ERROR_INVALID_PARAM);
  }
  return found;
}

int32_t check_dims(const char *function, int dims, const int64_t *sizes) {
  if (dims < 0 || dims > kMaxDims) {
    return refuse_value(ACL_ERROR_INVALID_PARAM, function, "numDims", dims, "0 .. 128");
  }
  return dims != 0 && sizes == nullptr ? refuse_null(function, "dims") : 0;
}

void set_shape(Shape &shape, int dims, const int64_t *sizes) {
  shape.dims = dims;
  if (dims != 0) std::memcpy(shape.size, sizes, dims * sizeof *sizes);
}

// The product of the dimensions, or 0 with a text.
size_t elements(const char *function, const TensorDesc &desc) {
  size_t count = 1;
  for (int i = 0; i < desc.shape.dims; ++i) {
    const int64_t size = desc.shape.size[i];
    if (size < 0 || __builtin_mul_overflow(count, static_cast<size_t>(size), &count)) {
      fail(ACL_ERROR_INVALID_PARAM, "EH0007",
           Text() << function << ": desc: dimension " << i << " is " << size
                  << ", accepted: known dimensions whose product is below 2^64");
      return 0;
    }
  }
  return count;
}

bool is_axis(const char *function, const TensorDesc &desc, size_t index) {
  if (index < static_cast<size_t>(desc.shape.dims)) return true;
  fail(ACL_ERROR_INVALID_PARAM, "EH0007",
       Text() << function << ": index: is " << index << ", accepted: below " << desc.shape.dims
              << ", the number of dimensions");
  return false;
}

}  // namespace
}  // namespace pyaclnn

using namespace pyaclnn;

aclTensorDesc *aclCreateTensorDesc(aclDataType dataType, int numDims, const int64_t *dims,
                                   aclFormat format) {
  const char *function = "aclCreateTensorDesc";
  if (check_dims(function, numDims, dims) != 0) return nullptr;
  void *handle = nullptr;
  auto *desc = create_handle<TensorDesc>(&handle);
  if (desc == nullptr) {
    refuse_memory(ACL_ERROR_BAD_ALLOC, function, "a tensor description", sizeof(TensorDesc));
    return nullptr;
  }
  std::lock_guard lock(g_mutex);
  desc->dtype = dataType;
  desc->format = desc->storage_format = format;
  desc->place = ACL_MEMTYPE_DEVICE;
  set_shape(desc->shape, numDims, dims);
  set_shape(desc->storage_shape, numDims, dims);
  desc->name[0] = 0;
  return static_cast<aclTensorDesc *>(handle);
}

void aclDestroyTensorDesc(const aclTensorDesc *desc) {
  if (desc == nullptr) return;
  if (claim_handle<TensorDesc>(desc) != nullptr) {
    recycle_handle<TensorDesc>(desc);
  } else {
    find_desc("aclDestroyTensorDesc", desc);
  }
}

aclDataType aclGetTensorDescType(const aclTensorDesc *desc) {
  const TensorDesc *found = find_desc("aclGetTensorDescType", desc);
  std::lock_guard lock(g_mutex);
  return found != nullptr ? found->dtype : ACL_DT_UNDEFINED;
}

aclFormat aclGetTensorDescFormat(const aclTensorDesc *desc) {
  const TensorDesc *found = find_desc("aclGetTensorDescFormat", desc);
  std::lock_guard lock(g_mutex);
  return found != nullptr ? found->format : ACL_FORMAT_UNDEFINED;
}

size_t aclGetTensorDescSize(const aclTensorDesc *desc) {
  const char *function = "aclGetTensorDescSize";
  const TensorDesc *found = find_desc(function, desc);
  std::lock_guard lock(g_mutex);
  return found != nullptr ? elements(function, *found) * aclDataTypeSize(found->dtype) : 0;
}

size_t aclGetTensorDescElementCount(const aclTensorDesc *desc) {
  const char *function = "aclGetTensorDescElementCount";
  const TensorDesc *found = find_desc(function, desc);
  std::lock_guard lock(g_mutex);
  return found != nullptr ? elements(function, *found) : 0;
}

size_t aclGetTensorDescNumDims(const aclTensorDesc *desc) {
  const TensorDesc *found = find_desc("aclGetTensorDescNumDims", desc);
  std::lock_guard lock(g_mutex);
  if (found == nullptr) return 0;
  const Shape &shape = found->shape;
  return shape.dims == 1 && shape.size[0] == -2 ? ACL_UNKNOWN_RANK : shape.dims;
}

int64_t aclGetTensorDescDim(const aclTensorDesc *desc, size_t index) {
  const char *function = "aclGetTensorDescDim";
  const TensorDesc *found = find_desc(function, desc);
  std::lock_guard lock(g_mutex);
  return found != nullptr && is_axis(function, *found, index) ? found->shape.size[index] : -1;
}

aclError aclGetTensorDescDimV2(const aclTensorDesc *desc, size_t index, int64_t *dimSize) {
  const char *function = "aclGetTensorDescDimV2";
  const TensorDesc *found = find_desc(function, desc);
  if (found == nullptr) return ACL_ERROR_INVALID_PARAM;
  if (dimSize == nullptr) return refuse_null(function, "dimSize");
  std::lock_guard lock(g_mutex);
  if (!is_axis(function, *found, index)) return ACL_ERROR_INVALID_PARAM;
  *dimSize = found->shape.size[index];
  return ACL_SUCCESS;
}

const char *aclGetTensorDescName(aclTensorDesc *desc) {
  const TensorDesc *found = find_desc("aclGetTensorDescName", desc);
  return found != nullptr ? found->name : nullptr;
}

void aclSetTensorDescName(aclTensorDesc *desc, const char *name) {
  const char *function = "aclSetTensorDescName";
  TensorDesc *found = find_desc(function, desc);
  if (found == nullptr) return;
  const size_t length = name != nullptr ? std::strlen(name) : 0;
  if (length >= sizeof found->name) {
    fail(ACL_ERROR_INVALID_PARAM, "EH0007",
         Text() << function << ": name: has " << length << " characters, accepted: at most "
                << sizeof found->name - 1);
    return;
  }
  std::lock_guard lock(g_mutex);
  std::memcpy(found->name, length != 0 ? name : "", length + 1);
}

aclError aclSetTensorFormat(aclTensorDesc *desc, aclFormat format) {
  TensorDesc *found = find_desc("aclSetTensorFormat", desc);
  if (found == nullptr) return ACL_ERROR_INVALID_PARAM;
  std::lock_guard lock(g_mutex);
  found->storage_format = format;
  return ACL_SUCCESS;
}

aclError aclSetTensorShape(aclTensorDesc *desc, int numDims, const int64_t *dims) {
  const char *function = "aclSetTensorShape";
  TensorDesc *found = find_desc(function, desc);
  if (found == nullptr) return ACL_ERROR_INVALID_PARAM;
  if (int32_t code = check_dims(function, numDims, dims); code != 0) return code;
  std::lock_guard lock(g_mutex);
  set_shape(found->storage_shape, numDims, dims);
  return ACL_SUCCESS;
}

aclError aclSetTensorPlaceMent(aclTensorDesc *desc, aclMemType memType) {
  const char *function = "aclSetTensorPlaceMent";
  TensorDesc *found = find_desc(function, desc);
  if (found == nullptr) return ACL_ERROR_INVALID_PARAM;
  if (static_cast<uint32_t>(memType) > ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT) {
    return refuse_value(ACL_ERROR_INVALID_PARAM, function, "memType",
                        static_cast<uint32_t>(memType),
                        "0 (device), 1 (host), 2 (host, independent of compilation)");
  }
  std::lock_guard lock(g_mutex);
  found->place = memType;
  return ACL_SUCCESS;
}
