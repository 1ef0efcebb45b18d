/* A decoder's loop with ATB: each step puts the new tokens into a paged cache (ReshapeAndCache) and
 * attends to all tokens so far (PagedAttention); only the end waits. Checked against a plain loop.
 * In the checkout, after sh examples/run.sh:
 *   . "$(.venv/bin/python -m pyaclnn home)/set_env.sh"
 *   g++ -std=c++17 examples/cpp/atb_decode_loop.cpp -o .venv/atb_decode_loop \
 *     -I"$ASCEND_TOOLKIT_HOME/include" -L"$ASCEND_TOOLKIT_HOME/lib64" \
 *     -latb -lascendcl && .venv/atb_decode_loop
 */
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <vector>

#include "acl/acl.h"
#include "atb/atb_infer.h"

namespace {

// Two sequences of 40 steps; 4 query heads share 2 key/value heads; blocks of 16 tokens.
constexpr int64_t kBatch = 2, kSteps = 40, kHeads = 4, kKvHeads = 2, kHeadDim = 32;
constexpr int64_t kBlockSize = 16, kBlocksEach = (kSteps + kBlockSize - 1) / kBlockSize;
constexpr int64_t kQuery = kBatch * kHeads * kHeadDim;  // numbers of one step
constexpr int64_t kToken = kBatch * kKvHeads * kHeadDim;

void check(const char *what, int status) {
  if (status == 0) return;
  const char *text = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s failed: %d\n%s\n", what, status, text != nullptr ? text : "");
  std::exit(1);
}

void *device_memory(size_t bytes, const void *host = nullptr) {
  void *device = nullptr;
  check("aclrtMalloc", aclrtMalloc(&device, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  if (host != nullptr) {
    check("aclrtMemcpy", aclrtMemcpy(device, bytes, host, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  }
  return device;
}
void *upload(const std::vector<aclFloat16> &host) {
  return device_memory(host.size() * sizeof(aclFloat16), host.data());
}
void *upload(const std::vector<int32_t> &host) {
  return device_memory(host.size() * sizeof(int32_t), host.data());
}

atb::Tensor tensor(aclDataType dtype, std::initializer_list<int64_t> dims, void *device,
                   void *host = nullptr) {
  atb::Tensor made;
  made.desc.dtype = dtype;
  made.desc.format = ACL_FORMAT_ND;
  for (int64_t dim : dims) made.desc.shape.dims[made.desc.shape.dimNum++] = dim;
  made.dataSize = atb::Utils::GetTensorSize(made.desc);
  made.deviceData = device;
  made.hostData = host;
  return made;
}

std::vector<aclFloat16> random_halves(int64_t count) {
  std::vector<aclFloat16> halves(static_cast<size_t>(count));
  for (aclFloat16 &half : halves) {
    half = aclFloatToFloat16(2.0f * static_cast<float>(std::rand()) / RAND_MAX - 1.0f);
  }
  return halves;
}

// softmax(scale * q k^T) v of every step over the steps so far.
std::vector<float> expected(const std::vector<aclFloat16> &query,
                            const std::vector<aclFloat16> &key,
                            const std::vector<aclFloat16> &value, float scale) {
  std::vector<float> out(query.size());
  for (int64_t step = 0; step < kSteps; ++step) {
    for (int64_t b = 0; b < kBatch; ++b) {
      for (int64_t n = 0; n < kHeads; ++n) {
        const int64_t at = step * kQuery + (b * kHeads + n) * kHeadDim;
        const int64_t g = n / (kHeads / kKvHeads);
        auto row = [&](int64_t t) { return t * kToken + (b * kKvHeads + g) * kHeadDim; };
        std::vector<float> score(static_cast<size_t>(step + 1));
        for (int64_t t = 0; t <= step; ++t) {
          for (int64_t d = 0; d < kHeadDim; ++d) {
            score[t] += aclFloat16ToFloat(query[at + d]) * aclFloat16ToFloat(key[row(t) + d]);
          }
          score[t] *= scale;
        }
        float highest = *std::max_element(score.begin(), score.end()), sum = 0.0f;
        for (float &s : score) sum += s = std::exp(s - highest);
        for (int64_t t = 0; t <= step; ++t) {
          for (int64_t d = 0; d < kHeadDim; ++d) {
            out[at + d] += score[t] / sum * aclFloat16ToFloat(value[row(t) + d]);
          }
        }
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
  atb::Context *context = nullptr;
  check("CreateContext", atb::CreateContext(&context));
  check("SetExecuteStream", context->SetExecuteStream(stream));

  atb::Operation *append = nullptr, *attention = nullptr;
  check("CreateOperation", atb::CreateOperation(atb::infer::ReshapeAndCacheParam(), &append));
  atb::infer::PagedAttentionParam param;
  param.headNum = kHeads;
  param.kvHeadNum = kKvHeads;
  param.qkScale = 1.0f / std::sqrt(static_cast<float>(kHeadDim));
  check("CreateOperation", atb::CreateOperation(param, &attention));

  // What a model computes for each step: (step, sequence, head, channel).
  const auto query = random_halves(kSteps * kQuery);
  const auto key = random_halves(kSteps * kToken);
  const auto value = random_halves(kSteps * kToken);
  // The sequences take blocks of the cache in turn.
  std::vector<int32_t> table(kBatch * kBlocksEach), slots(kSteps * kBatch);
  for (int64_t b = 0; b < kBatch; ++b) {
    for (int64_t i = 0; i < kBlocksEach; ++i) {
      table[b * kBlocksEach + i] = static_cast<int32_t>(i * kBatch + b);
    }
    for (int64_t t = 0; t < kSteps; ++t) {
      const int64_t block = table[b * kBlocksEach + t / kBlockSize];
      slots[t * kBatch + b] = static_cast<int32_t>(block * kBlockSize + t % kBlockSize);
    }
  }
  constexpr int64_t kBlocks = kBatch * kBlocksEach;
  constexpr size_t kCacheBytes = kBlocks * kBlockSize * kKvHeads * kHeadDim * sizeof(aclFloat16);
  auto *query_device = static_cast<aclFloat16 *>(upload(query));
  auto *key_device = static_cast<aclFloat16 *>(upload(key));
  auto *value_device = static_cast<aclFloat16 *>(upload(value));
  auto *slots_device = static_cast<int32_t *>(upload(slots));
  void *table_device = upload(table);
  auto *out_device = static_cast<aclFloat16 *>(device_memory(query.size() * sizeof(aclFloat16)));
  const atb::Tensor key_cache =
      tensor(ACL_FLOAT16, {kBlocks, kBlockSize, kKvHeads, kHeadDim}, device_memory(kCacheBytes));
  const atb::Tensor value_cache =
      tensor(ACL_FLOAT16, {kBlocks, kBlockSize, kKvHeads, kHeadDim}, device_memory(kCacheBytes));

  std::vector<void *> workspaces;
  auto queue = [&](atb::Operation *operation, const atb::VariantPack &pack) {
    uint64_t size = 0;
    check("Setup", operation->Setup(pack, size, context));
    if (size != 0) workspaces.push_back(device_memory(size));
    void *workspace = size != 0 ? workspaces.back() : nullptr;
    check("Execute", operation->Execute(pack, static_cast<uint8_t *>(workspace), size, context));
  };
  for (int64_t step = 0; step < kSteps; ++step) {
    atb::VariantPack pack;
    pack.inTensors = {
        tensor(ACL_FLOAT16, {kBatch, kKvHeads, kHeadDim}, key_device + step * kToken),
        tensor(ACL_FLOAT16, {kBatch, kKvHeads, kHeadDim}, value_device + step * kToken),
        key_cache,
        value_cache,
        tensor(ACL_INT32, {kBatch}, slots_device + step * kBatch),
    };
    pack.outTensors = {key_cache, value_cache};  // written in place
    queue(append, pack);

    // Read on the host, during Setup.
    std::vector<int32_t> lengths(kBatch, static_cast<int32_t>(step + 1));
    pack.inTensors = {
        tensor(ACL_FLOAT16, {kBatch, kHeads, kHeadDim}, query_device + step * kQuery),
        key_cache,
        value_cache,
        tensor(ACL_INT32, {kBatch, kBlocksEach}, table_device),
        tensor(ACL_INT32, {kBatch}, nullptr, lengths.data()),
    };
    pack.outTensors = {tensor(ACL_FLOAT16, {kBatch, kHeads, kHeadDim}, out_device + step * kQuery)};
    queue(attention, pack);
  }
  check("aclrtSynchronizeStream", aclrtSynchronizeStream(stream));

  std::vector<aclFloat16> result(query.size());
  const size_t bytes = result.size() * sizeof(aclFloat16);
  check("aclrtMemcpy",
        aclrtMemcpy(result.data(), bytes, out_device, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  const auto reference = expected(query, key, value, param.qkScale);
  float worst = 0.0f;
  for (size_t i = 0; i < result.size(); ++i) {
    // fmax would drop a NaN.
    const float error = std::fabs(aclFloat16ToFloat(result[i]) - reference[i]);
    if (!(error <= worst)) worst = error;
  }
  std::printf("max error %g\n", worst);

  check("DestroyOperation", atb::DestroyOperation(append));
  check("DestroyOperation", atb::DestroyOperation(attention));
  check("DestroyContext", atb::DestroyContext(context));
  for (void *device : {static_cast<void *>(query_device), static_cast<void *>(key_device),
                       static_cast<void *>(value_device), static_cast<void *>(slots_device),
                       static_cast<void *>(out_device), table_device, key_cache.deviceData,
                       value_cache.deviceData}) {
    workspaces.push_back(device);
  }
  for (void *device : workspaces) check("aclrtFree", aclrtFree(device));
  check("aclrtDestroyStream", aclrtDestroyStream(stream));
  check("aclrtResetDevice", aclrtResetDevice(0));
  check("aclFinalize", aclFinalize());
  const bool good = worst <= 1e-3f;  // half of the spacing of halves below 1 is 2.4e-4
  std::printf("%s: %d decoding steps over a paged cache against a plain loop\n",
              good ? "ok" : "WRONG", static_cast<int>(kSteps));
  return good ? 0 : 1;
}
