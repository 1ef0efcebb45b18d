/* Prompts of different lengths, one behind the other, through ATB's SelfAttentionOperation
 * (PA_ENCODER) with a causal mask, checked against a plain loop.
 * In the checkout, after sh examples/run.sh:
 *   . "$(.venv/bin/python -m pyaclnn home)/set_env.sh"
 *   g++ -std=c++17 examples/cpp/atb_pa_encoder.cpp -o .venv/atb_pa_encoder \
 *     -I"$ASCEND_TOOLKIT_HOME/include" -L"$ASCEND_TOOLKIT_HOME/lib64" \
 *     -latb -lascendcl && .venv/atb_pa_encoder
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

// Three prompts; 4 query heads share 2 key/value heads.
std::vector<int32_t> lengths = {5, 32, 11};
constexpr int64_t kTokens = 48, kHeads = 4, kKvHeads = 2, kHeadDim = 64, kLongest = 32;

void check(const char *what, int status) {
  if (status == 0) return;
  const char *text = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s failed: %d\n%s\n", what, status, text != nullptr ? text : "");
  std::exit(1);
}

atb::TensorDesc described(aclDataType dtype, std::initializer_list<int64_t> dims) {
  atb::TensorDesc desc;
  desc.dtype = dtype;
  desc.format = ACL_FORMAT_ND;
  for (int64_t dim : dims) desc.shape.dims[desc.shape.dimNum++] = dim;
  return desc;
}

atb::Tensor device_tensor(const atb::TensorDesc &desc) {
  atb::Tensor tensor;
  tensor.desc = desc;
  tensor.dataSize = atb::Utils::GetTensorSize(desc);
  check("aclrtMalloc", aclrtMalloc(&tensor.deviceData, tensor.dataSize, ACL_MEM_MALLOC_HUGE_FIRST));
  return tensor;
}

atb::Tensor upload(const atb::TensorDesc &desc, const std::vector<aclFloat16> &host) {
  atb::Tensor tensor = device_tensor(desc);
  check("aclrtMemcpy", aclrtMemcpy(tensor.deviceData, tensor.dataSize, host.data(), tensor.dataSize,
                                   ACL_MEMCPY_HOST_TO_DEVICE));
  return tensor;
}

std::vector<aclFloat16> random_halves(int64_t count) {
  std::vector<aclFloat16> halves(static_cast<size_t>(count));
  for (aclFloat16 &half : halves) {
    half = aclFloatToFloat16(2.0f * static_cast<float>(std::rand()) / RAND_MAX - 1.0f);
  }
  return halves;
}

// softmax(scale * q k^T) v over the tokens of the same prompt up to the query's own.
std::vector<float> expected(const std::vector<aclFloat16> &query,
                            const std::vector<aclFloat16> &key,
                            const std::vector<aclFloat16> &value, float scale) {
  std::vector<float> out(query.size());
  int64_t begin = 0;
  for (int32_t length : lengths) {
    for (int64_t i = 0; i < length; ++i) {
      for (int64_t n = 0; n < kHeads; ++n) {
        const int64_t at = ((begin + i) * kHeads + n) * kHeadDim, g = n / (kHeads / kKvHeads);
        auto row = [&](int64_t t) { return ((begin + t) * kKvHeads + g) * kHeadDim; };
        std::vector<float> score(static_cast<size_t>(i + 1));
        for (int64_t t = 0; t <= i; ++t) {
          for (int64_t d = 0; d < kHeadDim; ++d) {
            score[t] += aclFloat16ToFloat(query[at + d]) * aclFloat16ToFloat(key[row(t) + d]);
          }
          score[t] *= scale;
        }
        float highest = *std::max_element(score.begin(), score.end()), sum = 0.0f;
        for (float &s : score) sum += s = std::exp(s - highest);
        for (int64_t t = 0; t <= i; ++t) {
          for (int64_t d = 0; d < kHeadDim; ++d) {
            out[at + d] += score[t] / sum * aclFloat16ToFloat(value[row(t) + d]);
          }
        }
      }
    }
    begin += length;
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

  atb::infer::SelfAttentionParam param;
  param.calcType = atb::infer::SelfAttentionParam::PA_ENCODER;
  param.headNum = kHeads;
  param.kvHeadNum = kKvHeads;
  param.qkScale = 1.0f / std::sqrt(static_cast<float>(kHeadDim));
  param.maskType = atb::infer::SelfAttentionParam::MASK_TYPE_NORM;
  param.isTriuMask = 1;
  atb::Operation *attention = nullptr;
  check("CreateOperation", atb::CreateOperation(param, &attention));

  const auto query = random_halves(kTokens * kHeads * kHeadDim);
  const auto key = random_halves(kTokens * kKvHeads * kHeadDim);
  const auto value = random_halves(kTokens * kKvHeads * kHeadDim);
  // For FLOAT16 the mask is added; it holds a large negative number where a key is not seen.
  std::vector<aclFloat16> mask(kLongest * kLongest, aclFloatToFloat16(0.0f));
  for (int64_t i = 0; i < kLongest; ++i) {
    for (int64_t t = i + 1; t < kLongest; ++t) {
      mask[i * kLongest + t] = aclFloatToFloat16(-10000.0f);
    }
  }

  atb::VariantPack pack;
  pack.inTensors.push_back(upload(described(ACL_FLOAT16, {kTokens, kHeads, kHeadDim}), query));
  pack.inTensors.push_back(upload(described(ACL_FLOAT16, {kTokens, kKvHeads, kHeadDim}), key));
  pack.inTensors.push_back(upload(described(ACL_FLOAT16, {kTokens, kKvHeads, kHeadDim}), value));
  pack.inTensors.push_back(upload(described(ACL_FLOAT16, {kLongest, kLongest}), mask));
  atb::Tensor seq_len;  // its values are read on the host, during Setup
  seq_len.desc = described(ACL_INT32, {static_cast<int64_t>(lengths.size())});
  seq_len.dataSize = atb::Utils::GetTensorSize(seq_len.desc);
  seq_len.hostData = lengths.data();
  pack.inTensors.push_back(seq_len);

  atb::SVector<atb::TensorDesc> inputs, outputs;
  for (const atb::Tensor &tensor : pack.inTensors) inputs.push_back(tensor.desc);
  check("InferShape", attention->InferShape(inputs, outputs));
  pack.outTensors.push_back(device_tensor(outputs[0]));

  uint64_t workspace_size = 0;
  void *workspace = nullptr;
  check("Setup", attention->Setup(pack, workspace_size, context));
  if (workspace_size != 0) {
    check("aclrtMalloc", aclrtMalloc(&workspace, workspace_size, ACL_MEM_MALLOC_HUGE_FIRST));
  }
  check("Execute",
        attention->Execute(pack, static_cast<uint8_t *>(workspace), workspace_size, context));
  check("aclrtSynchronizeStream", aclrtSynchronizeStream(stream));

  std::vector<aclFloat16> result(query.size());
  const size_t bytes = result.size() * sizeof(aclFloat16);
  check("aclrtMemcpy", aclrtMemcpy(result.data(), bytes, pack.outTensors[0].deviceData, bytes,
                                   ACL_MEMCPY_DEVICE_TO_HOST));
  const auto reference = expected(query, key, value, param.qkScale);
  float worst = 0.0f;
  for (size_t i = 0; i < result.size(); ++i) {
    // fmax would drop a NaN.
    const float error = std::fabs(aclFloat16ToFloat(result[i]) - reference[i]);
    if (!(error <= worst)) worst = error;
  }
  std::printf("max error %g\n", worst);

  check("DestroyOperation", atb::DestroyOperation(attention));
  check("DestroyContext", atb::DestroyContext(context));
  for (const atb::Tensor &tensor : pack.inTensors) {
    if (tensor.deviceData != nullptr) check("aclrtFree", aclrtFree(tensor.deviceData));
  }
  check("aclrtFree", aclrtFree(pack.outTensors[0].deviceData));
  if (workspace != nullptr) check("aclrtFree", aclrtFree(workspace));
  check("aclrtDestroyStream", aclrtDestroyStream(stream));
  check("aclrtResetDevice", aclrtResetDevice(0));
  check("aclFinalize", aclFinalize());
  const bool good = worst <= 1e-3f;  // half of the spacing of halves below 1 is 2.4e-4
  std::printf("%s: %zu numbers of %zu prompts against a plain loop\n", good ? "ok" : "WRONG",
              result.size(), lengths.size());
  return good ? 0 : 1;
}
