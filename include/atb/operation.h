/**
 * Operations: CreateOperation() with a parameter of infer_op_params.h, then InferShape(), Setup()
 * and Execute() as often as wanted, then DestroyOperation().
 *
 * The product (PYACLNN_PRODUCT) is read when an operation is made. An operation belongs to one
 * thread at a time. Every failure leaves a text for aclGetRecentErrMsg() that names the tensor or
 * field, its value, and what is accepted.
 */
#ifndef ATB_OPERATION_H_
#define ATB_OPERATION_H_

#include <cstdint>
#include <string>

#include "atb/context.h"
#include "atb/svector.h"
#include "atb/types.h"

namespace atb {

/** An operation. */
class Operation {
 public:
  Operation() = default;
  virtual ~Operation() = default;

  /** "SelfAttentionOperation", "ReshapeAndCacheOperation", ... */
  virtual std::string GetName() const = 0;
  /**
   * Derives the descriptions of the outputs.
   * @param inTensorDescs a description of each input
   * @param outTensorDescs [out] resized to GetOutputNum(); untouched on failure
   * @return NO_ERROR or what is wrong with the inputs
   */
  virtual Status InferShape(const SVector<TensorDesc> &inTensorDescs,
                            SVector<TensorDesc> &outTensorDescs) const = 0;
  virtual uint32_t GetInputNum() const = 0;
  virtual uint32_t GetOutputNum() const = 0;
  /**
   * Checks and plans a call. Values on the host are read here, those on the device are not.
   * @param variantPack the tensors; their device memory may still be missing
   * @param workspaceSize [out] bytes of device memory that Execute() needs
   * @param context the context that Execute() will get
   * @return NO_ERROR or what is wrong
   */
  virtual Status Setup(const VariantPack &variantPack, uint64_t &workspaceSize,
                       Context *context) = 0;
  /**
   * Hands the call to the context's stream and returns; outputs are there once the stream is
   * synchronised, which also reports what is wrong with values on the device.
   * @param variantPack tensors of the same sizes as at Setup(); an empty one stands for those
   * @param workspace device memory, or nullptr if Setup() asked for none
   * @param workspaceSize its size, at least that of Setup()
   * @param context the context of Setup(), with a stream
   * @return NO_ERROR or what is wrong
   */
  virtual Status Execute(const VariantPack &variantPack, uint8_t *workspace, uint64_t workspaceSize,
                         Context *context) = 0;
};

/**
 * Makes an operation. The parameter is copied.
 * @param opParam a structure of infer_op_params.h
 * @param operation [out] the caller's until DestroyOperation(); untouched on failure
 * @return NO_ERROR; ERROR_INVALID_PARAM for a parameter that the product does not accept;
 *     ERROR_CANN_ERROR where the product offers no operation at all
 */
template <typename OpParam>
Status CreateOperation(const OpParam &opParam, Operation **operation);

/**
 * Ends an operation. Work that was handed to a stream goes on.
 * @param operation from CreateOperation(), or nullptr
 * @return NO_ERROR
 */
ACL_FUNC_VISIBILITY Status DestroyOperation(Operation *operation);

/** Copies the parameter of an operation. No operation has it, as on the device: a call does not
 * link. */
template <typename OpParam>
Status CloneOperationParam(const Operation *operation, OpParam &opParam);

/** Replaces the parameter of an operation. No operation has it, as on the device: a call does not
 * link. */
template <typename OpParam>
Status UpdateOperationParam(Operation *operation, const OpParam &opParam);

/**
 * Chooses among the streams of Context::SetExecuteStreams().
 * @param operation an operation
 * @param streamId index, 0 at first
 * @return NO_ERROR; ERROR_INVALID_PARAM for nullptr
 */
ACL_FUNC_VISIBILITY Status SetExecuteStreamId(Operation *operation, uint32_t streamId);

/** The index of SetExecuteStreamId(); 0 for nullptr. */
ACL_FUNC_VISIBILITY uint32_t GetExecuteStreamId(Operation *operation);

}  // namespace atb

#endif  // ATB_OPERATION_H_
