/** Status codes and tensors of ATB's interface. */
#ifndef ATB_TYPES_H_
#define ATB_TYPES_H_

#include <acl/acl.h>

#include <cstdint>

#include "atb/svector.h"

namespace atb {

/** The result of a function: NO_ERROR or another ErrorType. */
using Status = int32_t;

/** What a Status says. Every failure leaves a text for aclGetRecentErrMsg(). */
enum ErrorType : int {
  NO_ERROR = 0,
  ERROR_INVALID_PARAM = 1,
  ERROR_INVALID_GRAPH = 2,
  ERROR_INTERNAL_ERROR = 3,
  ERROR_RT_FAIL = 4,
  ERROR_INVALID_IN_TENSOR_NUM = 5,
  ERROR_INVALID_TENSOR_DTYPE = 6,
  ERROR_INVALID_TENSOR_FORMAT = 7,
  ERROR_INVALID_TENSOR_DIM = 8,
  ERROR_INVALID_TENSOR_SIZE = 9,
  ERROR_OPERATION_NULL_RUNNER = 10,
  ERROR_GRAPH_INFERSHAPE_FUNC_FAIL = 11,
  ERROR_CANN_ERROR = 12,
  /** dtypes and formats are no combination that the operation offers. */
  ERROR_INVALID_TENSOR_INI_MATCH = 13,
  ERROR_INVALID_TENSOR_ADDR = 14,
  ERROR_INVALID_TENSOR_NUM = 15,
  ERROR_INVALID_TENSOR_DIM_NUM = 16,
  ERROR_INVALID_SINGLE_OPERATION_PARAM = 17,
  ERROR_GRAPH_NODE_RESHAPE_FUNC_FAIL = 18,
  ERROR_INVALID_GRAPH_NODE_CHUNK = 19,
  ERROR_INVALID_CONTEXT_ADDR = 20,
  ERROR_INVALID_STREAM = 21,
  ERROR_INVALID_WORKSPACE_SIZE = 22,
  ERROR_INVALID_WORKSPACE_ADDR = 23,
  ERROR_INVALID_OPERATION_ADDR = 24,
  ERROR_HCCL_FAIL = 25,
  ERROR_OUT_OF_DEVICE_MEMORY = 26,
  ERROR_OUT_OF_HOST_MEMORY = 27,
  ERROR_COMM_EMPTY = 28,
  ERROR_COPY_HOST_MEMORY_FAIL = 29
};

/** The most dimensions of a tensor. */
constexpr uint32_t MAX_DIM = 8;

/** A shape. */
struct Dims {
  int64_t dims[MAX_DIM] = {}; /**< the first dimNum are set */
  uint64_t dimNum = 0;
};

/** What a tensor is, without its data. */
struct TensorDesc {
  aclDataType dtype = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_UNDEFINED;
  Dims shape;
};

/** A tensor; elements are one behind the other. Which data an operation reads, the device's or the
 * host's, stands on its page in docs/ops. */
struct Tensor {
  TensorDesc desc;
  void *deviceData = nullptr;
  void *hostData = nullptr;
  uint64_t dataSize = 0; /**< bytes, Utils::GetTensorSize(); 0 during Setup(): as described */
};

/** The tensors of one call in the order of the operation's page in docs/ops; pyaclnnAtbGetInputInfo
 * (pyaclnn/atb_c.h) and refusals name them. */
struct VariantPack {
  SVector<Tensor> inTensors;
  SVector<Tensor> outTensors;
};

}  // namespace atb

#endif  // ATB_TYPES_H_
