// aclTensorList and aclScalarList.
#include "nnopbase/array.hpp"

namespace pyaclnn {
namespace {

// A list owns its members: they end with it. Members that ended before are skipped; the caller has
// been told, or was right (the same tensor twice in a list).
template <class List, class Member>
aclnnStatus destroy_list(const char *function, const void *handle, const char *live) {
  if (handle == nullptr) return 0;
  List *list = claim_handle<List>(handle);
  if (list == nullptr) {
    return refuse_handle(function, "META-HANDLE", "array", ACLNN_ERR_PARAM_INVALID, handle, live);
  }
  for (const void *member : list->elements()) {
    if (member != nullptr && claim_handle<Member>(member) != nullptr) {
      recycle_handle<Member>(member);
    }
  }
  recycle_handle<List>(handle);
  return 0;
}

}  // namespace
}  // namespace pyaclnn

using namespace pyaclnn;

aclTensorList *aclCreateTensorList(const aclTensor *const *value, uint64_t size) {
  return static_cast<aclTensorList *>(
      create_array<TensorList>("aclCreateTensorList", "size", value, size));
}

aclScalarList *aclCreateScalarList(const aclScalar *const *value, uint64_t size) {
  return static_cast<aclScalarList *>(
      create_array<ScalarList>("aclCreateScalarList", "size", value, size));
}

aclnnStatus aclDestroyTensorList(const aclTensorList *array) {
  return destroy_list<TensorList, Tensor>("aclDestroyTensorList", array,
                                          "NULL or a live aclTensorList");
}

aclnnStatus aclDestroyScalarList(const aclScalarList *array) {
  return destroy_list<ScalarList, Scalar>("aclDestroyScalarList", array,
                                          "NULL or a live aclScalarList");
}

aclnnStatus aclGetTensorListSize(const aclTensorList *tensorList, uint64_t *size) {
  return array_size<TensorList>("aclGetTensorListSize", "tensorList", tensorList, size,
                                "a live aclTensorList");
}

aclnnStatus aclGetScalarListSize(const aclScalarList *scalarList, uint64_t *size) {
  return array_size<ScalarList>("aclGetScalarListSize", "scalarList", scalarList, size,
                                "a live aclScalarList");
}
