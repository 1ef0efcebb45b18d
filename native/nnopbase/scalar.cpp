// aclScalar.
#include "nnopbase/misuse.hpp"
#include "nnopbase/tensor.hpp"

namespace pyaclnn {
namespace {

// Bytes of one value of a type a scalar may have; 0 for the others.
size_t scalar_bytes(aclDataType dtype) {
  switch (dtype) {
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_BOOL:
    case ACL_HIFLOAT8:
    case ACL_FLOAT8_E5M2:
    case ACL_FLOAT8_E4M3FN:
    case ACL_FLOAT8_E8M0:
    case ACL_FLOAT6_E3M2:
    case ACL_FLOAT6_E2M3:
    case ACL_FLOAT4_E2M1:
    case ACL_FLOAT4_E1M2: return 1;
    case ACL_INT16:
    case ACL_UINT16:
    case ACL_FLOAT16:
    case ACL_BF16: return 2;
    case ACL_INT32:
    case ACL_UINT32:
    case ACL_FLOAT: return 4;
    case ACL_INT64:
    case ACL_UINT64:
    case ACL_DOUBLE:
    case ACL_COMPLEX64: return 8;
    case ACL_COMPLEX128: return 16;
    default: return 0;
  }
}

}  // namespace
}  // namespace pyaclnn

using namespace pyaclnn;

aclScalar *aclCreateScalar(void *value, aclDataType dataType) {
  const char *function = "aclCreateScalar";
  if (value == nullptr) {
    refuse_null(function, "value", ACLNN_ERR_PARAM_NULLPTR, "the address of one value");
    return nullptr;
  }
  size_t bytes = scalar_bytes(dataType);
  if (bytes == 0) {
    Saying saying;
    saying.value << "type " << static_cast<int32_t>(dataType);
    saying.limit
        << "must be FLOAT, FLOAT16, BF16, DOUBLE, INT8/16/32/64, UINT8/16/32/64, BOOL, COMPLEX64, "
           "COMPLEX128, HIFLOAT8 or an FP8, FP6, FP4 type";
    refuse(function, "META-SCALAR-DTYPE", "dataType", ACLNN_ERR_PARAM_INVALID, saying);
    return nullptr;
  }
  void *handle = nullptr;
  Scalar *s = create_handle<Scalar>(&handle);
  if (s == nullptr) {
    refuse_memory(function, "the scalar", ACLNN_ERR_INNER);
    return nullptr;
  }
  s->dtype = dataType;
  std::memset(s->value, 0, sizeof s->value);
  std::memcpy(s->value, value, bytes);
  return static_cast<aclScalar *>(handle);
}

aclnnStatus aclDestroyScalar(const aclScalar *scalar) {
  if (scalar == nullptr) return 0;
  if (claim_handle<Scalar>(scalar) == nullptr) {
    return refuse_handle("aclDestroyScalar", "META-HANDLE", "scalar", ACLNN_ERR_PARAM_INVALID,
                         scalar, "NULL or a live aclScalar");
  }
  recycle_handle<Scalar>(scalar);
  return 0;
}
