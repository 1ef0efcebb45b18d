// SelfAttentionOperation's PREFIX_ENCODER as two C functions.
#include "atb/atb_acl.h"
#include "atb/operation.hpp"
#include "atb/refuse.hpp"
#include "nnopbase/tensor.hpp"

namespace pyaclnn::atb {
namespace {

using Param = infer::SelfAttentionParam;

constexpr char kFirst[] = "AtbSelfAttentionPrefixEncoderGetWorkspaceSize",
               kSecond[] = "AtbSelfAttentionPrefixEncoder";

Status refuse_op(const char *function) {
  return refuse_null(function, "ATB-C-POINTER", "op", ::atb::ERROR_INVALID_OPERATION_ADDR);
}

// Collects the tensors of a call; what is missing stays an empty one, for Setup to refuse.
class Pack {
 public:
  void add(const char *name, const aclTensor *handle, bool host = false) {
    pack.inTensors.push_back(tensor_of(name, handle, host));
  }
  void add_output(const char *name, const aclTensor *handle) {
    pack.outTensors.push_back(tensor_of(name, handle, false));
  }

  VariantPack pack;
  Status status = ::atb::NO_ERROR;  // of the first handle that is none

 private:
  Tensor tensor_of(const char *name, const aclTensor *handle, bool host) {
    Tensor t;
    if (handle == nullptr) return t;
    const auto *given = find_handle<pyaclnn::Tensor>(handle);
    if (given == nullptr || given->rank > MAX_DIM) {
      refuse_handle(name, given);
      return t;
    }
    t.desc.dtype = given->dtype;
    t.desc.format = given->format;
    t.desc.shape.dimNum = given->rank;
    for (uint32_t i = 0; i < given->rank; ++i) t.desc.shape.dims[i] = given->dims[i];
    t.dataSize = bytes_of(t.desc);
    auto *data = static_cast<std::byte *>(given->base);
    if (data != nullptr) {
      data += given->offset * static_cast<int64_t>(aclDataTypeSize(given->dtype));
    }
    (host ? t.hostData : t.deviceData) = data;
    return t;
  }

  void refuse_handle(const char *name, const pyaclnn::Tensor *given) {
    if (status != ::atb::NO_ERROR) return;
    status = ::atb::ERROR_INVALID_TENSOR_DIM;
    Saying saying;
    if (given == nullptr) {
      saying.value << "is no aclTensor, or one that was destroyed";
      saying.limit << "must be a handle of aclCreateTensor";
    } else {
      saying.value << given->rank << " dimensions";
      saying.limit << "must have " << MAX_DIM << " at most";
    }
    refuse(kFirst, "ATB-C-TENSOR", name, status, saying);
  }
};

}  // namespace
}  // namespace pyaclnn::atb

using namespace pyaclnn::atb;

::atb::Status AtbSelfAttentionPrefixEncoderGetWorkspaceSize(
    const aclTensor *query, const aclTensor *key, const aclTensor *value,
    const aclTensor *blockTables, const aclTensor *mask, const aclTensor *seqLen,
    const aclTensor *kvSeqLen, const aclTensor *slopes, int maskType, int32_t headNum,
    int32_t kvHeadNum, float qkScale, aclTensor *attnOut, uint64_t *workspaceSize,
    ::atb::Operation **op, ::atb::Context *context) {
  return guarded(kFirst, "op", ::atb::ERROR_OUT_OF_HOST_MEMORY, [&]() -> Status {
    Param param;
    param.calcType = Param::PREFIX_ENCODER;
    param.kernelType = Param::KERNELTYPE_HIGH_PRECISION;
    param.isTriuMask = 1;
    param.maskType = static_cast<Param::MaskType>(maskType);
    param.headNum = headNum;
    param.kvHeadNum = kvHeadNum;
    param.qkScale = qkScale;
    if (op != nullptr && *op == nullptr) {
      const Status status = ::atb::CreateOperation(param, op);
      if (status != ::atb::NO_ERROR) return status;
    }

    const bool alibi = maskType == Param::MASK_TYPE_ALIBI_COMPRESS ||
                       maskType == Param::MASK_TYPE_ALIBI_COMPRESS_SQRT;
    Pack call;
    call.add("query", query);
    call.add("key", key);
    call.add("value", value);
    call.add("blockTables", blockTables);
    if (maskType != Param::MASK_TYPE_CAUSAL_MASK) call.add("mask", mask);
    call.add("seqLen", seqLen, true);
    call.add("kvSeqLen", kvSeqLen, true);
    if (alibi) call.add("slopes", slopes);
    call.add_output("attnOut", attnOut);
    if (call.status != ::atb::NO_ERROR) return call.status;
    if (op == nullptr) return refuse_op(kFirst);
    if (workspaceSize == nullptr) return refuse_null(kFirst, "ATB-C-POINTER", "workspaceSize");
    return (*op)->Setup(call.pack, *workspaceSize, context);
  });
}

::atb::Status AtbSelfAttentionPrefixEncoder(void *workspace, uint64_t workspaceSize,
                                            ::atb::Operation *op, ::atb::Context *context) {
  if (op == nullptr) return refuse_op(kSecond);
  return guarded(kSecond, "op", ::atb::ERROR_RT_FAIL, [&] {
    return op->Execute(VariantPack(), static_cast<uint8_t *>(workspace), workspaceSize, context);
  });
}
