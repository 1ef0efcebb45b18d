/* The least a program does: start, a tensor, an operator's refusal, end. C11 and C++. */
#include <stdio.h>

#include "acl/acl.h"
#include "aclnnop/aclnn_incre_flash_attention_v4.h"

static int failed(const char *what, int status) {
  const char *text = aclGetRecentErrMsg();
  printf("%s: %d\n%s\n", what, status, text != NULL ? text : "");
  return 1;
}

int main(void) {
  const int64_t shape[] = {2, 3};
  aclrtStream stream = NULL;
  aclTensor *tensor;
  uint64_t size = 0;
  aclOpExecutor *executor = NULL;
  int status = aclInit(NULL);
  if (status != 0) return failed("aclInit", status);
  status = aclrtSetDevice(0);
  if (status != 0) return failed("aclrtSetDevice", status);
  status = aclrtCreateStream(&stream);
  if (status != 0) return failed("aclrtCreateStream", status);
  tensor = aclCreateTensor(shape, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, shape, 2, NULL);
  if (tensor == NULL) return failed("aclCreateTensor", -1);
  status = aclnnIncreFlashAttentionV4GetWorkspaceSize(
      NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1,
      1.0, NULL, 1, 0, 1, tensor, &size, &executor);
  if (status != 161001) return failed("no query", status);
  (void)aclGetRecentErrMsg();
  status = aclDestroyTensor(tensor);
  if (status != 0) return failed("aclDestroyTensor", status);
  status = aclrtDestroyStream(stream);
  if (status != 0) return failed("aclrtDestroyStream", status);
  status = aclrtResetDevice(0);
  if (status != 0) return failed("aclrtResetDevice", status);
  status = aclFinalize();
  if (status != 0) return failed("aclFinalize", status);
  printf("fine\n");
  return 0;
}
