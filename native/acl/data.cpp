// Sizes of data types, conversion of float16 numbers, and aclDataBuffer.
#include <mutex>

#include "acl/acl.h"
#include "acl/handle.hpp"
#include "acl/refuse.hpp"
#include "acl/stream_state.hpp"
#include "support/half.hpp"

namespace pyaclnn {
namespace {

struct DataBuffer {
  static constexpr Kind kKind = Kind::DataBuffer;
  std::atomic<void *> data{nullptr};
  std::atomic<size_t> size{0};
};

int32_t refuse_buffer(const char *function) {
  return fail(ACL_ERROR_INVALID_PARAM, "EE1017",
              Text() << function
                     << ": dataBuffer: is not a live data buffer (destroyed, of another "
                        "kind, or never made), a live one is required");
}

}  // namespace
}  // namespace pyaclnn

using namespace pyaclnn;

size_t aclDataTypeSize(aclDataType dataType) {
  switch (static_cast<int32_t>(dataType)) {
    case ACL_DT_UNDEFINED:
    case ACL_STRING: return 0;
    case ACL_BOOL:
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_INT4:
    case ACL_UINT1:
    case 34:  // HIFLOAT8
    case 35:  // FLOAT8_E5M2
    case 36:  // FLOAT8_E4M3FN
    case 37:  // FLOAT8_E8M0
      return 1;
    case ACL_INT16:
    case ACL_UINT16:
    case ACL_FLOAT16:
    case ACL_BF16: return 2;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
    case ACL_COMPLEX32: return 4;
    case ACL_COMPLEX128: return 16;
    default: return 8;  // 64-bit types, and every number without a meaning
  }
}

aclFloat16 aclFloatToFloat16(float value) { return float_to_half(value); }
float aclFloat16ToFloat(aclFloat16 value) { return half_to_float(value); }

aclDataBuffer *aclCreateDataBuffer(void *data, size_t size) {
  void *handle = nullptr;
  auto *buffer = create_handle<DataBuffer>(&handle);
  if (buffer == nullptr) {
    refuse_memory(ACL_ERROR_BAD_ALLOC, "aclCreateDataBuffer", "a data buffer", sizeof(DataBuffer));
    return nullptr;
  }
  buffer->data.store(data, std::memory_order_relaxed);
  buffer->size.store(size, std::memory_order_relaxed);
  return static_cast<aclDataBuffer *>(handle);
}

aclError aclDestroyDataBuffer(const aclDataBuffer *dataBuffer) {
  const char *function = "aclDestroyDataBuffer";
  if (dataBuffer == nullptr) return refuse_null(function, "dataBuffer");
  if (claim_handle<DataBuffer>(dataBuffer) == nullptr) return refuse_buffer(function);
  recycle_handle<DataBuffer>(dataBuffer);
  return ACL_SUCCESS;
}

void *aclGetDataBufferAddr(const aclDataBuffer *dataBuffer) {
  const auto *buffer = find_handle<DataBuffer>(dataBuffer);
  return buffer != nullptr ? buffer->data.load(std::memory_order_relaxed) : nullptr;
}

uint32_t aclGetDataBufferSize(const aclDataBuffer *dataBuffer) {
  return static_cast<uint32_t>(aclGetDataBufferSizeV2(dataBuffer));
}

size_t aclGetDataBufferSizeV2(const aclDataBuffer *dataBuffer) {
  const auto *buffer = find_handle<DataBuffer>(dataBuffer);
  return buffer != nullptr ? buffer->size.load(std::memory_order_relaxed) : 0;
}

aclError aclUpdateDataBuffer(aclDataBuffer *dataBuffer, void *data, size_t size) {
  const char *function = "aclUpdateDataBuffer";
  if (dataBuffer == nullptr) return refuse_null(function, "dataBuffer");
  auto *buffer = find_handle<DataBuffer>(dataBuffer);
  if (buffer == nullptr) return refuse_buffer(function);
  buffer->data.store(data, std::memory_order_relaxed);
  buffer->size.store(size, std::memory_order_relaxed);
  return ACL_SUCCESS;
}
