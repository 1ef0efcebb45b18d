#include "opapi/first_phase.hpp"

#include "aclnn/opdev/op_errno.h"
#include "acl/build_guard.hpp"
#include "support/record.hpp"

namespace pyaclnn {

const Product *product_for_call(const char *function) noexcept {
  if (build_mixture()) {
    Text text;
    text << function << ": libraries of different builds are loaded together; make one "
         << "installation the only one on the library search path";
    queue_error(item_code_of_status(ACLNN_ERR_INNER), text);
    return nullptr;
  }
  const Product *product = current_product();
  if (product == nullptr) {
    Text text;
    text << function << ": " << product_error();
    queue_error(item_code_of_status(ACLNN_ERR_INNER), text);
  }
  return product;
}

int32_t out_of_memory(const char *function) noexcept {
  Text text;
  text << function << ": host memory for the executor is exhausted";
  queue_error(item_code_of_status(ACLNN_ERR_INNER_CREATE_EXECUTOR), text);
  return ACLNN_ERR_INNER_CREATE_EXECUTOR;
}

}  // namespace pyaclnn
