#include "atb/utils.h"

#include <bit>

#include "atb/facts.hpp"
#include "support/log.hpp"

namespace atb {

std::string Utils::GetAtbVersion() { return "8.5.0"; }

uint64_t Utils::GetTensorSize(const Tensor &tensor) { return GetTensorSize(tensor.desc); }
uint64_t Utils::GetTensorSize(const TensorDesc &tensorDesc) {
  return pyaclnn::atb::bytes_of(tensorDesc);
}

uint64_t Utils::GetTensorNumel(const Tensor &tensor) { return GetTensorNumel(tensor.desc); }
uint64_t Utils::GetTensorNumel(const TensorDesc &tensorDesc) {
  return pyaclnn::atb::elements_of(tensorDesc);
}

void Utils::QuantParamConvert(const float *src, uint64_t *dest, uint64_t itemCount) {
  if (src == nullptr || dest == nullptr) return;
  for (uint64_t i = 0; i < itemCount; ++i) dest[i] = std::bit_cast<uint32_t>(src[i]);
}

Status Utils::SetLogLevel(LogLevel level) {
  if (level < LogLevel::DEBUG || level > LogLevel::NONE) {
    pyaclnn::Saying saying;
    saying.value << static_cast<int>(level);
    saying.limit << "must be 0 (DEBUG) .. 4 (NONE)";
    return pyaclnn::refuse("Utils::SetLogLevel", "ATB-LOG-LEVEL", "level", ERROR_INVALID_PARAM,
                           saying);
  }
  pyaclnn::set_log_level(static_cast<int32_t>(level));
  return NO_ERROR;
}

Status Utils::ResetLogLevel() {
  pyaclnn::set_log_level(-1);
  return NO_ERROR;
}

}  // namespace atb
