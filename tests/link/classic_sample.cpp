// The habits of published samples, which a library for their readers has to bear: float numbers in
// a buffer that is described as FLOAT16 (twice the bytes it needs), a layout name without room for
// its end, blockSize 1 without a block table, the result read back as float, and as double with a
// copy of twice the buffer; tensors destroyed one by one and their lists never.
//
//     classic_sample V1|V2|V3|V4 docs|repository
//
// docs: 16 key positions, nothing masked. repository: 2 key positions, all masked.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_incre_flash_attention.h"
#include "aclnnop/aclnn_incre_flash_attention_v2.h"
#include "aclnnop/aclnn_incre_flash_attention_v3.h"
#include "aclnnop/aclnn_incre_flash_attention_v4.h"

namespace {

void check(const char *what, int status) {
  if (status == 0) return;
  const char *text = aclGetRecentErrMsg();
  std::printf("%s failed: %d\n%s\n", what, status, text != nullptr ? text : "");
  std::exit(1);
}

// A buffer of `elements` elements of T holding ones (T), described as `type`.
template <class T>
aclTensor *make_tensor(const std::vector<int64_t> &shape, T number, aclDataType type,
                       void **device) {
  size_t elements = 1;
  for (int64_t extent : shape) elements *= static_cast<size_t>(extent);
  std::vector<T> host(elements, number);
  check("aclrtMalloc", aclrtMalloc(device, elements * sizeof(T), ACL_MEM_MALLOC_HUGE_FIRST));
  check("aclrtMemcpy", aclrtMemcpy(*device, elements * sizeof(T), host.data(), elements * sizeof(T),
                                   ACL_MEMCPY_HOST_TO_DEVICE));
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * shape[i];
  aclTensor *tensor = aclCreateTensor(shape.data(), shape.size(), type, strides.data(), 0,
                                      ACL_FORMAT_ND, shape.data(), shape.size(), *device);
  if (tensor == nullptr) check("aclCreateTensor", -1);
  return tensor;
}

template <class T>
void print_result(const char *name, const void *device, size_t elements) {
  std::vector<T> result(elements, T(-1));
  check("aclrtMemcpy", aclrtMemcpy(result.data(), elements * sizeof(T), device,
                                   elements * sizeof(T), ACL_MEMCPY_DEVICE_TO_HOST));
  for (size_t i = 0; i < elements; ++i) {
    std::printf("%s result[%zu] is: %f\n", name, i, static_cast<double>(result[i]));
  }
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  const char version = argv[1][1];
  const bool docs = std::strcmp(argv[2], "docs") == 0;
  const int64_t heads = 2, positions = docs ? 16 : 2, head_dim = 16;

  aclrtStream stream = nullptr;
  check("aclInit", aclInit(nullptr));
  check("aclrtSetDevice", aclrtSetDevice(0));
  check("aclrtCreateStream", aclrtCreateStream(&stream));

  const std::vector<int64_t> query_shape = {1, heads, 1, head_dim};
  const std::vector<int64_t> cache_shape = {1, heads, positions, head_dim};
  const std::vector<int64_t> mask_shape = version <= '2'
                                              ? std::vector<int64_t>{1, heads, 1, positions}
                                              : std::vector<int64_t>{1, 1, 1, positions};
  void *query_device, *key_device, *value_device, *mask_device, *out_device;
  aclTensor *query = make_tensor(query_shape, 1.0f, ACL_FLOAT16, &query_device);
  aclTensor *key = make_tensor(cache_shape, 1.0f, ACL_FLOAT16, &key_device);
  aclTensor *value = make_tensor(cache_shape, 1.0f, ACL_FLOAT16, &value_device);
  aclTensor *mask = make_tensor<int8_t>(mask_shape, docs ? 0 : 1, ACL_BOOL, &mask_device);
  aclTensor *out = make_tensor(query_shape, 1.0f, ACL_FLOAT16, &out_device);
  aclTensorList *keys = aclCreateTensorList(&key, 1);
  aclTensorList *values = aclCreateTensorList(&value, 1);
  const int64_t length = positions;
  aclIntArray *lengths = aclCreateIntArray(&length, 1);

  // The name fills its array. What ends it is a neighbour, here one that is certain to be zero.
  const char name[] = "BNSD";
  struct {
    char text[sizeof name - 1];
    char neighbour;
  } layout{};
  std::memcpy(layout.text, name, sizeof layout.text);
  char *input_layout = reinterpret_cast<char *>(&layout);

  const double scale = 1.0 / std::sqrt(static_cast<double>(head_dim));
  uint64_t size = 0;
  aclOpExecutor *executor = nullptr;
  int status = -1;
  switch (version) {
    case '1':
      status = aclnnIncreFlashAttentionGetWorkspaceSize(query, keys, values, nullptr, mask, lengths,
                                                        heads, scale, input_layout, heads, out,
                                                        &size, &executor);
      break;
    case '2':
      status = aclnnIncreFlashAttentionV2GetWorkspaceSize(
          query, keys, values, nullptr, mask, lengths, nullptr, nullptr, nullptr, nullptr, nullptr,
          heads, scale, input_layout, heads, out, &size, &executor);
      break;
    case '3':
      status = aclnnIncreFlashAttentionV3GetWorkspaceSize(
          query, keys, values, nullptr, mask, lengths, nullptr, nullptr, nullptr, nullptr, nullptr,
          nullptr, nullptr, nullptr, heads, scale, input_layout, heads, /*blockSize=*/1,
          /*innerPrecise=*/1, out, &size, &executor);
      break;
    case '4':
      status = aclnnIncreFlashAttentionV4GetWorkspaceSize(
          query, keys, values, nullptr, mask, lengths, nullptr, nullptr, nullptr, nullptr, nullptr,
          nullptr, nullptr, nullptr, nullptr, heads, scale, input_layout, heads, /*blockSize=*/1,
          /*innerPrecise=*/1, out, &size, &executor);
      break;
    default: return 2;
  }
  check("the first phase", status);
  void *workspace = nullptr;
  if (size != 0) check("aclrtMalloc", aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
  decltype(&aclnnIncreFlashAttention) run[] = {aclnnIncreFlashAttention, aclnnIncreFlashAttentionV2,
                                               aclnnIncreFlashAttentionV3,
                                               aclnnIncreFlashAttentionV4};
  check("the second phase", run[version - '1'](workspace, size, executor, stream));
  check("aclrtSynchronizeStream", aclrtSynchronizeStream(stream));

  const size_t elements = static_cast<size_t>(heads * head_dim);
  print_result<float>("float", out_device, elements);
  print_result<double>("double", out_device, elements);

  for (aclTensor *tensor : {query, key, value, mask, out}) {
    check("aclDestroyTensor", aclDestroyTensor(tensor));
  }
  check("aclDestroyIntArray", aclDestroyIntArray(lengths));
  for (void *device : {query_device, key_device, value_device, mask_device, out_device}) {
    check("aclrtFree", aclrtFree(device));
  }
  if (workspace != nullptr) check("aclrtFree", aclrtFree(workspace));
  check("aclrtDestroyStream", aclrtDestroyStream(stream));
  check("aclrtResetDevice", aclrtResetDevice(0));
  check("aclFinalize", aclFinalize());
  return 0;
}
