// The least a program does with ATB: a context, an operation, its refusal, end. C++11.
#include <cstdio>

#include "acl/acl.h"
#include "atb/atb_infer.h"

static int failed(const char *what, int status) {
  const char *text = aclGetRecentErrMsg();
  std::printf("%s: %d\n%s\n", what, status, text != nullptr ? text : "");
  return 1;
}

int main() {
  int status = aclInit(nullptr);
  if (status != 0) return failed("aclInit", status);
  status = aclrtSetDevice(0);
  if (status != 0) return failed("aclrtSetDevice", status);
  atb::Context *context = nullptr;
  status = atb::CreateContext(&context);
  if (status != 0) return failed("CreateContext", status);
  atb::Operation *operation = nullptr;
  status = atb::CreateOperation(atb::infer::ReshapeAndCacheParam(), &operation);
  if (status != 0) return failed("CreateOperation", status);
  uint64_t size = 0;
  status = operation->Setup(atb::VariantPack(), size, context);
  if (status != atb::ERROR_INVALID_IN_TENSOR_NUM) return failed("no tensors", status);
  (void)aclGetRecentErrMsg();
  status = atb::DestroyOperation(operation);
  if (status != 0) return failed("DestroyOperation", status);
  status = atb::DestroyContext(context);
  if (status != 0) return failed("DestroyContext", status);
  status = aclrtResetDevice(0);
  if (status != 0) return failed("aclrtResetDevice", status);
  status = aclFinalize();
  if (status != 0) return failed("aclFinalize", status);
  std::printf("fine\n");
  return 0;
}
