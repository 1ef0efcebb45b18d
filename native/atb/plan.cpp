#include "atb/plan.hpp"

#include "acl/acl_base.h"

namespace pyaclnn::atb {

int32_t null_data(const char *tensor, Text &why) {
  why << tensor << ": deviceData is a null pointer, it must be device memory";
  return ACL_ERROR_RT_AICORE_EXCEPTION;
}

int32_t value_outside(const char *tensor, int64_t index, int64_t value, int64_t low, int64_t high,
                      Text &why) {
  why << tensor << '[' << index << "] is " << value << ", valid are " << low << " .. " << high;
  return ACL_ERROR_RT_AICORE_EXCEPTION;
}

}  // namespace pyaclnn::atb
