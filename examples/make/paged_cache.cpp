// The same attention twice: once over a contiguous cache, once over the same keys and values spread
// over the blocks of a paged cache in any order. The results are equal to the last bit.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_incre_flash_attention_v4.h"

namespace {

constexpr int64_t kBatch = 2, kHeads = 8, kKvHeads = 2, kHeadDim = 64;
constexpr int64_t kBlock = 16, kBlocksPerSequence = 4, kBlocks = kBatch * kBlocksPerSequence;
constexpr int64_t kRow = kKvHeads * kHeadDim;  // one token's keys: layout BSH

void check(const char *what, int status) {
  if (status == 0) return;
  const char *text = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s failed: %d\n%s\n", what, status, text != nullptr ? text : "");
  std::exit(1);
}

// Device memory and a tensor over it; both go at the end of the scope.
struct Tensor {
  void *device = nullptr;
  aclTensor *handle = nullptr;
  bool in_list = false;

  Tensor(const void *host, size_t bytes, const std::vector<int64_t> &shape, aclDataType type) {
    check("aclrtMalloc", aclrtMalloc(&device, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    check("aclrtMemcpy", aclrtMemcpy(device, bytes, host, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    handle = aclCreateTensor(shape.data(), shape.size(), type, nullptr, 0, ACL_FORMAT_ND,
                             shape.data(), shape.size(), device);
    if (handle == nullptr) check("aclCreateTensor", -1);
  }
  Tensor(const Tensor &) = delete;
  Tensor &operator=(const Tensor &) = delete;
  ~Tensor() {
    if (!in_list) aclDestroyTensor(handle);
    aclrtFree(device);
  }
  // A list owns its tensors.
  aclTensorList *list() {
    in_list = true;
    aclTensorList *made = aclCreateTensorList(&handle, 1);
    if (made == nullptr) check("aclCreateTensorList", -1);
    return made;
  }
};

using Halves = std::vector<aclFloat16>;

Halves attention(const Halves &query, const Halves &key, const Halves &value,
                 const std::vector<int64_t> &cache_shape, const std::vector<int32_t> *blocks,
                 aclrtStream stream) {
  Halves result(query.size());
  const size_t query_bytes = query.size() * sizeof query[0],
               cache_bytes = key.size() * sizeof key[0];
  const std::vector<int64_t> query_shape = {kBatch, 1, kHeads * kHeadDim};
  Tensor q(query.data(), query_bytes, query_shape, ACL_FLOAT16);
  Tensor k(key.data(), cache_bytes, cache_shape, ACL_FLOAT16);
  Tensor v(value.data(), cache_bytes, cache_shape, ACL_FLOAT16);
  Tensor o(result.data(), query_bytes, query_shape, ACL_FLOAT16);
  const std::vector<int32_t> no_blocks(kBlocks);
  Tensor table((blocks != nullptr ? *blocks : no_blocks).data(), kBlocks * sizeof(int32_t),
               {kBatch, kBlocksPerSequence}, ACL_INT32);
  aclTensorList *keys = k.list(), *values = v.list();
  const int64_t lengths[] = {50, 33};
  aclIntArray *length_array = aclCreateIntArray(lengths, kBatch);

  char layout[] = "BSH";
  uint64_t size = 0;
  void *workspace = nullptr;
  aclOpExecutor *executor = nullptr;
  check("aclnnIncreFlashAttentionV4GetWorkspaceSize",
        aclnnIncreFlashAttentionV4GetWorkspaceSize(
            q.handle, keys, values, /*pseShift=*/nullptr, /*attenMask=*/nullptr, length_array,
            /*dequantScale1=*/nullptr, /*quantScale1=*/nullptr, /*dequantScale2=*/nullptr,
            /*quantScale2=*/nullptr, /*quantOffset2=*/nullptr, /*antiquantScale=*/nullptr,
            /*antiquantOffset=*/nullptr, blocks != nullptr ? table.handle : nullptr,
            /*kvPaddingSize=*/nullptr, kHeads, /*scaleValue=*/0.125, layout, kKvHeads,
            blocks != nullptr ? kBlock : 0, /*innerPrecise=*/1, o.handle, &size, &executor));
  if (size != 0) check("aclrtMalloc", aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
  check("aclnnIncreFlashAttentionV4",
        aclnnIncreFlashAttentionV4(workspace, size, executor, stream));
  check("aclrtSynchronizeStream", aclrtSynchronizeStream(stream));
  check("aclrtMemcpy",
        aclrtMemcpy(result.data(), query_bytes, o.device, query_bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  if (workspace != nullptr) check("aclrtFree", aclrtFree(workspace));
  aclDestroyTensorList(keys);
  aclDestroyTensorList(values);
  aclDestroyIntArray(length_array);
  return result;
}

}  // namespace

int main() {
  aclrtStream stream = nullptr;
  check("aclInit", aclInit(nullptr));
  check("aclrtSetDevice", aclrtSetDevice(0));
  check("aclrtCreateStream", aclrtCreateStream(&stream));

  Halves query(kBatch * kHeads * kHeadDim), key(kBlocks * kBlock * kRow), value(key.size());
  for (Halves *halves : {&query, &key, &value}) {
    for (aclFloat16 &half : *halves) {
      half = aclFloatToFloat16(2.0f * static_cast<float>(std::rand()) / RAND_MAX - 1.0f);
    }
  }
  // Block i of the contiguous cache goes to block table[i] of the paged one.
  const std::vector<int32_t> table = {6, 1, 3, 0, 2, 7, 5, 4};
  Halves paged_key(key.size()), paged_value(value.size());
  constexpr size_t kStep = kBlock * kRow;
  for (size_t i = 0; i < table.size(); ++i) {
    std::memcpy(&paged_key[table[i] * kStep], &key[i * kStep], kStep * sizeof(aclFloat16));
    std::memcpy(&paged_value[table[i] * kStep], &value[i * kStep], kStep * sizeof(aclFloat16));
  }
  const Halves plain =
      attention(query, key, value, {kBatch, kBlocksPerSequence * kBlock, kRow}, nullptr, stream);
  const Halves paged =
      attention(query, paged_key, paged_value, {kBlocks, kBlock, kRow}, &table, stream);
  const bool equal = plain == paged;
  std::printf("out[0] = %f, contiguous and paged %s\n", aclFloat16ToFloat(plain[0]),
              equal ? "agree" : "differ");

  check("aclrtDestroyStream", aclrtDestroyStream(stream));
  check("aclrtResetDevice", aclrtResetDevice(0));
  check("aclFinalize", aclFinalize());
  std::printf("%s: attention over a paged and a contiguous cache, all %zu numbers bit by bit\n",
              equal ? "ok" : "WRONG", plain.size());
  return equal ? 0 : 1;
}
