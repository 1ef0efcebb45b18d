/** aclnnEqScalar, aclnnInplaceEqScalar. */
#ifndef ACLNNOP_ACLNN_EQ_SCALAR_H_
#define ACLNNOP_ACLNN_EQ_SCALAR_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * First phase of aclnnEqScalar: checks the arguments and plans the call.
 *
 * out = self == other with a number, which is converted to the dtype of self first.
 *
 * @param self first operand
 * @param other second operand
 * @param out output, 1 where it is true and 0 elsewhere; the shape of the result, any dtype
 * @param workspaceSize [out] bytes of device memory that the second phase needs; 0
 * @param executor [out] plan for the second phase, which consumes it
 * @return 0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go
 *     together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different
 *     builds; 561101: no host memory. After a failure the results are unchanged
 */
ACLNN_API aclnnStatus aclnnEqScalarGetWorkspaceSize(const aclTensor *self, const aclScalar *other,
                                                    aclTensor *out, uint64_t *workspaceSize,
                                                    aclOpExecutor **executor);

/**
 * Second phase of aclnnEqScalar: submits the planned call to a stream and returns. NULL as
 * workspace is allowed with size 0.
 */
ACLNN_API aclnnStatus aclnnEqScalar(void *workspace, uint64_t workspaceSize,
                                    aclOpExecutor *executor, const aclrtStream stream);

/**
 * First phase of aclnnInplaceEqScalar: checks the arguments and plans the call.
 *
 * selfRef = selfRef == other with a number, which is converted to the dtype of selfRef first.
 *
 * @param selfRef read and written; the result must have its shape and fit its dtype's kind
 * @param other second operand
 * @param workspaceSize [out] bytes of device memory that the second phase needs; 0
 * @param executor [out] plan for the second phase, which consumes it
 * @return 0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go
 *     together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different
 *     builds; 561101: no host memory. After a failure the results are unchanged
 */
ACLNN_API aclnnStatus aclnnInplaceEqScalarGetWorkspaceSize(const aclTensor *selfRef,
                                                           const aclScalar *other,
                                                           uint64_t *workspaceSize,
                                                           aclOpExecutor **executor);

/**
 * Second phase of aclnnInplaceEqScalar: submits the planned call to a stream and returns. NULL as
 * workspace is allowed with size 0.
 */
ACLNN_API aclnnStatus aclnnInplaceEqScalar(void *workspace, uint64_t workspaceSize,
                                           aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif /* ACLNNOP_ACLNN_EQ_SCALAR_H_ */
