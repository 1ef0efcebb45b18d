/* One decoding step with grouped heads, aclnnIncreFlashAttentionV4, checked against a plain loop.
 * In the checkout, after sh examples/run.sh:
 *   . "$(.venv/bin/python -m pyaclnn home)/set_env.sh"
 *   g++ -std=c++17 examples/cpp/incre_flash_attention.cpp -o .venv/decode_cpp \
 *     -I"$ASCEND_TOOLKIT_HOME/include" -L"$ASCEND_TOOLKIT_HOME/lib64" \
 *     -lascendcl -lnnopbase -lopapi && .venv/decode_cpp
 */
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_incre_flash_attention_v4.h"

namespace {

// Two sequences of 32 and 7 tokens; 4 query heads share 2 key/value heads.
constexpr int64_t kBatch = 2, kHeads = 4, kKvHeads = 2, kSequence = 32, kHeadDim = 64;
const std::vector<int64_t> kLengths = {32, 7};

void check(const char *what, int status) {
  if (status == 0) return;
  const char *text = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s failed: %d\n%s\n", what, status, text != nullptr ? text : "");
  std::exit(1);
}

template <class Handle>
Handle *made(const char *what, Handle *handle) {
  if (handle == nullptr) check(what, -1);
  return handle;
}

std::vector<aclFloat16> random_halves(int64_t count) {
  std::vector<aclFloat16> halves(static_cast<size_t>(count));
  for (aclFloat16 &half : halves) {
    half = aclFloatToFloat16(2.0f * static_cast<float>(std::rand()) / RAND_MAX - 1.0f);
  }
  return halves;
}

// Device memory with these numbers, and a tensor over it.
aclTensor *upload(const std::vector<aclFloat16> &host, const std::vector<int64_t> &shape,
                  void **device) {
  size_t bytes = host.size() * sizeof(aclFloat16);
  check("aclrtMalloc", aclrtMalloc(device, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  check("aclrtMemcpy", aclrtMemcpy(*device, bytes, host.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  return made("aclCreateTensor",
              aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT16, nullptr, 0, ACL_FORMAT_ND,
                              shape.data(), shape.size(), *device));
}

// softmax(scale * q k^T) v, one head of one sequence at a time.
std::vector<float> expected(const std::vector<aclFloat16> &query,
                            const std::vector<aclFloat16> &key,
                            const std::vector<aclFloat16> &value, float scale) {
  std::vector<float> out(query.size());
  for (int64_t b = 0; b < kBatch; ++b) {
    for (int64_t n = 0; n < kHeads; ++n) {
      const aclFloat16 *q = &query[(b * kHeads + n) * kHeadDim];
      int64_t g = n / (kHeads / kKvHeads);
      const aclFloat16 *k = &key[(b * kKvHeads + g) * kSequence * kHeadDim];
      const aclFloat16 *v = &value[(b * kKvHeads + g) * kSequence * kHeadDim];
      std::vector<float> score(static_cast<size_t>(kLengths[b]));
      for (size_t t = 0; t < score.size(); ++t) {
        for (int64_t d = 0; d < kHeadDim; ++d) {
          score[t] += aclFloat16ToFloat(q[d]) * aclFloat16ToFloat(k[t * kHeadDim + d]);
        }
        score[t] *= scale;
      }
      float highest = *std::max_element(score.begin(), score.end()), sum = 0.0f;
      for (float &s : score) sum += s = std::exp(s - highest);
      for (int64_t d = 0; d < kHeadDim; ++d) {
        float o = 0.0f;
        for (size_t t = 0; t < score.size(); ++t) {
          o += score[t] / sum * aclFloat16ToFloat(v[t * kHeadDim + d]);
        }
        out[(b * kHeads + n) * kHeadDim + d] = o;
      }
    }
  }
  return out;
}

}  // namespace

int main() {
  aclrtStream stream = nullptr;
  check("aclInit", aclInit(nullptr));
  check("aclrtSetDevice", aclrtSetDevice(0));
  check("aclrtCreateStream", aclrtCreateStream(&stream));

  const std::vector<int64_t> query_shape = {kBatch, kHeads, 1, kHeadDim};
  const std::vector<int64_t> cache_shape = {kBatch, kKvHeads, kSequence, kHeadDim};
  const auto query = random_halves(kBatch * kHeads * kHeadDim);
  const auto key = random_halves(kBatch * kKvHeads * kSequence * kHeadDim);
  const auto value = random_halves(kBatch * kKvHeads * kSequence * kHeadDim);
  std::vector<aclFloat16> result(query.size());

  void *query_device, *key_device, *value_device, *out_device;
  aclTensor *query_tensor = upload(query, query_shape, &query_device);
  aclTensor *key_tensor = upload(key, cache_shape, &key_device);
  aclTensor *value_tensor = upload(value, cache_shape, &value_device);
  aclTensor *out_tensor = upload(result, query_shape, &out_device);
  // Key and value are lists, here of one tensor for all sequences.
  aclTensorList *keys = made("aclCreateTensorList", aclCreateTensorList(&key_tensor, 1));
  aclTensorList *values = made("aclCreateTensorList", aclCreateTensorList(&value_tensor, 1));
  aclIntArray *lengths =
      made("aclCreateIntArray", aclCreateIntArray(kLengths.data(), kLengths.size()));

  const double scale = 1.0 / std::sqrt(static_cast<double>(kHeadDim));
  char layout[] = "BNSD";
  uint64_t workspace_size = 0;
  aclOpExecutor *executor = nullptr;
  check("aclnnIncreFlashAttentionV4GetWorkspaceSize",
        aclnnIncreFlashAttentionV4GetWorkspaceSize(
            query_tensor, keys, values, /*pseShift=*/nullptr, /*attenMask=*/nullptr, lengths,
            /*dequantScale1=*/nullptr, /*quantScale1=*/nullptr, /*dequantScale2=*/nullptr,
            /*quantScale2=*/nullptr, /*quantOffset2=*/nullptr, /*antiquantScale=*/nullptr,
            /*antiquantOffset=*/nullptr, /*blocktable=*/nullptr, /*kvPaddingSize=*/nullptr, kHeads,
            scale, layout, kKvHeads, /*blockSize=*/0, /*innerPrecise=*/1, out_tensor,
            &workspace_size, &executor));
  void *workspace = nullptr;
  if (workspace_size != 0) {
    check("aclrtMalloc", aclrtMalloc(&workspace, workspace_size, ACL_MEM_MALLOC_HUGE_FIRST));
  }
  check("aclnnIncreFlashAttentionV4",
        aclnnIncreFlashAttentionV4(workspace, workspace_size, executor, stream));
  check("aclrtSynchronizeStream", aclrtSynchronizeStream(stream));

  size_t bytes = result.size() * sizeof(aclFloat16);
  check("aclrtMemcpy",
        aclrtMemcpy(result.data(), bytes, out_device, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  const auto reference = expected(query, key, value, static_cast<float>(scale));
  float worst = 0.0f;
  for (size_t i = 0; i < result.size(); ++i) {
    // fmax would drop a NaN.
    float error = std::fabs(aclFloat16ToFloat(result[i]) - reference[i]);
    if (!(error <= worst)) worst = error;
  }
  for (int i = 0; i < 4; ++i) std::printf("out[%d] = %f\n", i, aclFloat16ToFloat(result[i]));
  std::printf("max error %g\n", worst);

  // A list destroys its tensors.
  check("aclDestroyTensorList", aclDestroyTensorList(keys));
  check("aclDestroyTensorList", aclDestroyTensorList(values));
  check("aclDestroyTensor", aclDestroyTensor(query_tensor));
  check("aclDestroyTensor", aclDestroyTensor(out_tensor));
  check("aclDestroyIntArray", aclDestroyIntArray(lengths));
  for (void *device : {query_device, key_device, value_device, out_device, workspace}) {
    if (device != nullptr) check("aclrtFree", aclrtFree(device));
  }
  check("aclrtDestroyStream", aclrtDestroyStream(stream));
  check("aclrtResetDevice", aclrtResetDevice(0));
  check("aclFinalize", aclFinalize());
  const bool good = worst <= 1e-3f;  // half of the spacing of halves below 1 is 2.4e-4
  std::printf("%s: %zu numbers of attention with grouped heads against a plain loop\n",
              good ? "ok" : "WRONG", result.size());
  return good ? 0 : 1;
}
