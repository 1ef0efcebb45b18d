/* A call that Atlas A2 takes and Atlas inference products (310P) refuse: what each of them says,
 * from one program. pyaclnn/debug.h is pyaclnn's own; on a device the product is what is plugged
 * in. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "aclnnop/aclnn_incre_flash_attention_v4.h"
#include "pyaclnn/debug.h"

enum { BATCH = 2, HEADS = 4, LENGTH = 64, SIZE = 40 };

static void check(const char *what, int status) {
  if (status == 0) return;
  const char *text = aclGetRecentErrMsg();
  fprintf(stderr, "%s failed: %d\n%s\n", what, status, text != NULL ? text : "");
  exit(1);
}

static aclTensor *tensor(int64_t rows, void *memory) {
  const int64_t dims[] = {BATCH, HEADS, rows, SIZE};
  aclTensor *made = aclCreateTensor(dims, 4, ACL_FLOAT16, NULL, 0, ACL_FORMAT_ND, dims, 4, memory);
  if (made == NULL) check("aclCreateTensor", -1);
  return made;
}

/* The status of the first phase. */
static int ask(const char *product, void *memory) {
  check("pyaclnnSetProduct", pyaclnnSetProduct(product));
  aclTensor *query = tensor(1, memory), *out = tensor(1, memory);
  aclTensor *key = tensor(LENGTH, memory), *value = tensor(LENGTH, memory);
  aclTensorList *keys = aclCreateTensorList(&key, 1), *values = aclCreateTensorList(&value, 1);
  uint64_t size = 0;
  aclOpExecutor *executor = NULL;
  char layout[] = "BNSD";
  const int status = aclnnIncreFlashAttentionV4GetWorkspaceSize(
      query, keys, values, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
      HEADS, 0.125, layout, HEADS, 0, 1, out, &size, &executor);
  const char *text = status != 0 ? aclGetRecentErrMsg() : NULL;
  printf("%s: %d, %s\n", product, status, text != NULL ? text : "accepted");
  if (status == 0) aclDestroyAclOpExecutor(executor);
  aclDestroyTensorList(keys);
  aclDestroyTensorList(values);
  aclDestroyTensor(query);
  aclDestroyTensor(out);
  return status;
}

int main(void) {
  void *memory = NULL;
  check("aclInit", aclInit(NULL));
  check("aclrtSetDevice", aclrtSetDevice(0));
  const size_t bytes = sizeof(aclFloat16) * BATCH * HEADS * LENGTH * SIZE;
  check("aclrtMalloc", aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  const int large = ask("atlas-a2", memory), small = ask("atlas-310p", memory);
  check("aclrtFree", aclrtFree(memory));
  check("aclrtResetDevice", aclrtResetDevice(0));
  check("aclFinalize", aclFinalize());
  const int good = large == 0 && small == 561002;
  printf("%s: a head size of %d on two products\n", good ? "ok" : "WRONG", SIZE);
  return good ? 0 : 1;
}
