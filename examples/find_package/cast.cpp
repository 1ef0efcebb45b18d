// FLOAT to FLOAT16 with ATB's Elewise operation, compared with the runtime's own conversion.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"
#include "atb/atb_infer.h"

namespace {

constexpr int64_t kRows = 5, kColumns = 77;

void check(const char *what, int status) {
  if (status == 0) return;
  const char *text = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s failed: %d\n%s\n", what, status, text != nullptr ? text : "");
  std::exit(1);
}

atb::Tensor matrix(aclDataType dtype) {
  atb::Tensor tensor;
  tensor.desc.dtype = dtype;
  tensor.desc.format = ACL_FORMAT_ND;
  tensor.desc.shape.dimNum = 2;
  tensor.desc.shape.dims[0] = kRows;
  tensor.desc.shape.dims[1] = kColumns;
  tensor.dataSize = atb::Utils::GetTensorSize(tensor.desc);
  check("aclrtMalloc", aclrtMalloc(&tensor.deviceData, tensor.dataSize, ACL_MEM_MALLOC_HUGE_FIRST));
  return tensor;
}

}  // namespace

int main() {
  aclrtStream stream = nullptr;
  check("aclInit", aclInit(nullptr));
  check("aclrtSetDevice", aclrtSetDevice(0));
  check("aclrtCreateStream", aclrtCreateStream(&stream));
  atb::Context *context = nullptr;
  check("CreateContext", atb::CreateContext(&context));
  check("SetExecuteStream", context->SetExecuteStream(stream));

  atb::infer::ElewiseParam param;
  param.elewiseType = atb::infer::ElewiseParam::ELEWISE_CAST;
  param.outTensorType = ACL_FLOAT16;
  atb::Operation *cast = nullptr;
  check("CreateOperation", atb::CreateOperation(param, &cast));

  std::vector<float> host(kRows * kColumns);
  for (float &number : host) number = 100.0f * static_cast<float>(std::rand()) / RAND_MAX - 50.0f;
  atb::VariantPack pack;
  pack.inTensors.push_back(matrix(ACL_FLOAT));
  pack.outTensors.push_back(matrix(ACL_FLOAT16));
  const atb::Tensor &in = pack.inTensors[0], &out = pack.outTensors[0];
  check("aclrtMemcpy", aclrtMemcpy(in.deviceData, in.dataSize, host.data(), in.dataSize,
                                   ACL_MEMCPY_HOST_TO_DEVICE));

  uint64_t size = 0;
  void *workspace = nullptr;
  check("Setup", cast->Setup(pack, size, context));
  if (size != 0) check("aclrtMalloc", aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
  check("Execute", cast->Execute(pack, static_cast<uint8_t *>(workspace), size, context));
  check("aclrtSynchronizeStream", aclrtSynchronizeStream(stream));
  std::vector<aclFloat16> halves(host.size());
  check("aclrtMemcpy", aclrtMemcpy(halves.data(), out.dataSize, out.deviceData, out.dataSize,
                                   ACL_MEMCPY_DEVICE_TO_HOST));
  size_t wrong = 0;
  for (size_t i = 0; i < host.size(); ++i) wrong += halves[i] != aclFloatToFloat16(host[i]);
  std::printf("%g became %g\n", host[0], aclFloat16ToFloat(halves[0]));

  check("DestroyOperation", atb::DestroyOperation(cast));
  check("DestroyContext", atb::DestroyContext(context));
  if (workspace != nullptr) check("aclrtFree", aclrtFree(workspace));
  check("aclrtFree", aclrtFree(in.deviceData));
  check("aclrtFree", aclrtFree(out.deviceData));
  check("aclrtDestroyStream", aclrtDestroyStream(stream));
  check("aclrtResetDevice", aclrtResetDevice(0));
  check("aclFinalize", aclFinalize());
  std::printf("%s: %zu numbers cast by ATB\n", wrong == 0 ? "ok" : "WRONG", halves.size());
  return wrong == 0 ? 0 : 1;
}
