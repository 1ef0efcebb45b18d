// The loop of a decoder: each step appends one token's key and value to the cache, queues the
// attention of the new token behind the copies, and only the last step waits. The tensors are made
// once; what changes from step to step is the length.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_incre_flash_attention_v4.h"

namespace {

constexpr int64_t kHeads = 4, kKvHeads = 1, kHeadDim = 32, kSequence = 24;
constexpr size_t kToken = kKvHeads * kHeadDim * sizeof(aclFloat16);
constexpr size_t kOut = kHeads * kHeadDim * sizeof(aclFloat16);

void check(const char *what, int status) {
  if (status == 0) return;
  const char *text = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s failed: %d\n%s\n", what, status, text != nullptr ? text : "");
  std::exit(1);
}

void *device_memory(size_t bytes) {
  void *device = nullptr;
  check("aclrtMalloc", aclrtMalloc(&device, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  return device;
}

aclTensor *half_tensor(const std::vector<int64_t> &shape, void *device) {
  aclTensor *made = aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT16, nullptr, 0,
                                    ACL_FORMAT_ND, shape.data(), shape.size(), device);
  if (made == nullptr) check("aclCreateTensor", -1);
  return made;
}

}  // namespace

int main() {
  aclrtStream stream = nullptr;
  check("aclInit", aclInit(nullptr));
  check("aclrtSetDevice", aclrtSetDevice(0));
  check("aclrtCreateStream", aclrtCreateStream(&stream));

  char *key = static_cast<char *>(device_memory(kSequence * kToken));
  char *value = static_cast<char *>(device_memory(kSequence * kToken));
  void *query = device_memory(kOut);
  char *out = static_cast<char *>(device_memory(kSequence * kOut));
  check("aclrtMemset", aclrtMemset(query, kOut, 0, kOut));  // all keys count alike: a running mean

  std::vector<aclFloat16> tokens(kSequence * kKvHeads * kHeadDim);
  for (int64_t t = 0; t < kSequence; ++t) {
    for (int64_t d = 0; d < kHeadDim; ++d) {
      tokens[t * kHeadDim + d] = aclFloatToFloat16(static_cast<float>(t));
    }
  }
  aclTensor *query_tensor = half_tensor({1, 1, kHeads, kHeadDim}, query);
  aclTensor *key_tensor = half_tensor({1, kSequence, kKvHeads, kHeadDim}, key);
  aclTensor *value_tensor = half_tensor({1, kSequence, kKvHeads, kHeadDim}, value);
  aclTensorList *keys = aclCreateTensorList(&key_tensor, 1);
  aclTensorList *values = aclCreateTensorList(&value_tensor, 1);

  std::vector<void *> workspaces;
  char layout[] = "BSND";
  for (int64_t t = 0; t < kSequence; ++t) {
    for (char *cache : {key, value}) {
      check("aclrtMemcpyAsync", aclrtMemcpyAsync(cache + t * kToken, kToken, &tokens[t * kHeadDim],
                                                 kToken, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    }
    const int64_t length = t + 1;
    aclIntArray *lengths = aclCreateIntArray(&length, 1);
    aclTensor *out_tensor = half_tensor({1, 1, kHeads, kHeadDim}, out + t * kOut);
    uint64_t size = 0;
    aclOpExecutor *executor = nullptr;
    check("aclnnIncreFlashAttentionV4GetWorkspaceSize",
          aclnnIncreFlashAttentionV4GetWorkspaceSize(
              query_tensor, keys, values, nullptr, nullptr, lengths, nullptr, nullptr, nullptr,
              nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, kHeads,
              1.0 / std::sqrt(static_cast<double>(kHeadDim)), layout, kKvHeads, 0, 1, out_tensor,
              &size, &executor));
    void *workspace = size != 0 ? device_memory(size) : nullptr;
    workspaces.push_back(workspace);
    check("aclnnIncreFlashAttentionV4",
          aclnnIncreFlashAttentionV4(workspace, size, executor, stream));
    // The queued call has what it needs of these.
    aclDestroyIntArray(lengths);
    aclDestroyTensor(out_tensor);
  }
  check("aclrtSynchronizeStream", aclrtSynchronizeStream(stream));

  std::vector<aclFloat16> result(kSequence * kHeads * kHeadDim);
  const size_t bytes = kSequence * kOut;
  check("aclrtMemcpy", aclrtMemcpy(result.data(), bytes, out, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  float worst = 0.0f;
  for (size_t i = 0; i < result.size(); ++i) {
    const float mean = static_cast<float>(i / (kHeads * kHeadDim)) / 2.0f;
    const float error = std::fabs(aclFloat16ToFloat(result[i]) - mean);
    if (!(error <= worst)) worst = error;
  }
  std::printf("mean after step %d: %f\nmax error %g\n", static_cast<int>(kSequence),
              aclFloat16ToFloat(result.back()), worst);

  aclDestroyTensorList(keys);
  aclDestroyTensorList(values);
  aclDestroyTensor(query_tensor);
  for (void *workspace : workspaces) {
    if (workspace != nullptr) check("aclrtFree", aclrtFree(workspace));
  }
  for (void *device :
       {static_cast<void *>(key), static_cast<void *>(value), query, static_cast<void *>(out)}) {
    check("aclrtFree", aclrtFree(device));
  }
  check("aclrtDestroyStream", aclrtDestroyStream(stream));
  check("aclrtResetDevice", aclrtResetDevice(0));
  check("aclFinalize", aclFinalize());
  const bool good = worst <= 4e-3f;  // half of the spacing of halves below 16
  std::printf("%s: %d decoding steps over a growing cache against the known means\n",
              good ? "ok" : "WRONG", static_cast<int>(kSequence));
  return good ? 0 : 1;
}
