/** Helpers around tensors, and the log. */
#ifndef ATB_UTILS_H_
#define ATB_UTILS_H_

#include <cstdint>
#include <string>

#include "atb/types.h"

namespace atb {

/** What the log lets through. */
enum class LogLevel : int { DEBUG = 0, INFO, WARN, ERROR, NONE };

/** Functions without an object. */
class Utils {
 public:
  /** The release whose behaviour this library follows. */
  ACL_FUNC_VISIBILITY static std::string GetAtbVersion();
  /**
   * Bytes of a tensor, from its description.
   * @return 0 for no dimensions, more than MAX_DIM, one below 1, or an unknown dtype;
   *     ACL_DT_UNDEFINED counts one byte an element
   */
  ACL_FUNC_VISIBILITY static uint64_t GetTensorSize(const Tensor &tensor);
  ACL_FUNC_VISIBILITY static uint64_t GetTensorSize(const TensorDesc &tensorDesc);
  /** Elements of a tensor; 0 for no dimensions, more than MAX_DIM, or one below 1. */
  ACL_FUNC_VISIBILITY static uint64_t GetTensorNumel(const Tensor &tensor);
  ACL_FUNC_VISIBILITY static uint64_t GetTensorNumel(const TensorDesc &tensorDesc);
  /**
   * Puts the bits of each float into the low half of a 64-bit number, as some scales are passed.
   * @param src itemCount numbers
   * @param dest [out] as many
   * @param itemCount how many
   */
  ACL_FUNC_VISIBILITY static void QuantParamConvert(const float *src, uint64_t *dest,
                                                    uint64_t itemCount);
  /**
   * Sets what the log of all libraries lets through, instead of ASCEND_GLOBAL_LOG_LEVEL.
   * @return NO_ERROR; ERROR_INVALID_PARAM for another value
   */
  ACL_FUNC_VISIBILITY static Status SetLogLevel(LogLevel level);
  /** Goes back to the environment's level; NO_ERROR. */
  ACL_FUNC_VISIBILITY static Status ResetLogLevel();
};

}  // namespace atb

#endif  // ATB_UTILS_H_
