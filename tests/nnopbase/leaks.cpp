// A program that is built with LeakSanitizer while the libraries are not, as users do it: what the
// libraries keep for the next object is no leak.
#include "acl/acl.h"
#include "aclnn/acl_meta.h"

int main() {
  aclInit(nullptr);
  aclrtSetDevice(0);
  const int64_t values[] = {1, 2};
  for (int i = 0; i < 3; ++i) {
    const aclIntArray *array = aclCreateIntArray(values, 2);
    const aclTensor *tensors[] = {
        aclCreateTensor(values, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, values, 2, nullptr)};
    aclDestroyTensorList(aclCreateTensorList(tensors, 1));
    aclDestroyIntArray(array);
  }
  aclrtResetDevice(0);
  return aclFinalize();
}
