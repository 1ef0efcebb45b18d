#include "nnopbase/array.hpp"

namespace pyaclnn {
namespace {

template <class ArrayType>
aclnnStatus destroy_array(const char *function, const void *array, const char *live) {
  if (array == nullptr) return 0;
  if (claim_handle<ArrayType>(array) == nullptr) {
    return refuse_handle(function, "META-HANDLE", "array", ACLNN_ERR_PARAM_INVALID, array, live);
  }
  recycle_handle<ArrayType>(array);
  return 0;
}

}  // namespace
}  // namespace pyaclnn

using namespace pyaclnn;

aclIntArray *aclCreateIntArray(const int64_t *value, uint64_t size) {
  return static_cast<aclIntArray *>(
      create_array<IntArray>("aclCreateIntArray", "size", value, size));
}

aclFloatArray *aclCreateFloatArray(const float *value, uint64_t size) {
  return static_cast<aclFloatArray *>(
      create_array<FloatArray>("aclCreateFloatArray", "size", value, size));
}

aclBoolArray *aclCreateBoolArray(const bool *value, uint64_t size) {
  return static_cast<aclBoolArray *>(
      create_array<BoolArray>("aclCreateBoolArray", "size", value, size));
}

aclnnStatus aclDestroyIntArray(const aclIntArray *array) {
  return destroy_array<IntArray>("aclDestroyIntArray", array, "NULL or a live aclIntArray");
}

aclnnStatus aclDestroyFloatArray(const aclFloatArray *array) {
  return destroy_array<FloatArray>("aclDestroyFloatArray", array, "NULL or a live aclFloatArray");
}

aclnnStatus aclDestroyBoolArray(const aclBoolArray *array) {
  return destroy_array<BoolArray>("aclDestroyBoolArray", array, "NULL or a live aclBoolArray");
}

aclnnStatus aclGetIntArraySize(const aclIntArray *array, uint64_t *size) {
  return array_size<IntArray>("aclGetIntArraySize", "array", array, size, "a live aclIntArray");
}

aclnnStatus aclGetFloatArraySize(const aclFloatArray *array, uint64_t *size) {
  return array_size<FloatArray>("aclGetFloatArraySize", "array", array, size,
                                "a live aclFloatArray");
}

aclnnStatus aclGetBoolArraySize(const aclBoolArray *array, uint64_t *size) {
  return array_size<BoolArray>("aclGetBoolArraySize", "array", array, size, "a live aclBoolArray");
}
