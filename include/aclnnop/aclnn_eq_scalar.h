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
 * Second phase of aclnnEqScalar: submits the planned call to a stream and returns.
 *
 * @param workspace not used; may be NULL
 * @param workspaceSize 0
 * @param executor plan from the first phase; consumed unless it was made repeatable
 * @param stream stream, NULL for the default stream of the current context
 * @return 0; 161001: no executor; 161002: executor spent, destroyed or of another operator; 361001:
 * no device on this thread or a bad stream. A missing address is reported by the next synchronising
 *     call as 507015
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
 * Second phase of aclnnInplaceEqScalar: submits the planned call to a stream and returns.
 *
 * @param workspace not used; may be NULL
 * @param workspaceSize 0
 * @param executor plan from the first phase; consumed unless it was made repeatable
 * @param stream stream, NULL for the default stream of the current context
 * @return 0; 161001: no executor; 161002: executor spent, destroyed or of another operator; 361001:
 * no device on this thread or a bad stream. A missing address is reported by the next synchronising
 *     call as 507015
 */
ACLNN_API aclnnStatus aclnnInplaceEqScalar(void *workspace, uint64_t workspaceSize,
                                           aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif /* ACLNNOP_ACLNN_EQ_SCALAR_H_ */
