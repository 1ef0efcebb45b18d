/** aclnnRemainderTensorTensor and the forms of it. */
#ifndef ACLNNOP_ACLNN_REMAINDER_H_
#define ACLNNOP_ACLNN_REMAINDER_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * First phase of aclnnRemainderTensorTensor: checks the arguments and plans the call.
 *
 * out = self - floor(self / other) * other. It has the sign of other; integers divided by 0 give 0.
 * The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.
 *
 * @param self dividend
 * @param other divisor
 * @param out output; the shape of the result and a dtype that can hold its kind
 * @param workspaceSize [out] bytes of device memory that the second phase needs; 0
 * @param executor [out] plan for the second phase, which consumes it
 * @return 0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go
 *     together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different
 *     builds; 561101: no host memory. After a failure the results are unchanged
 */
ACLNN_API aclnnStatus aclnnRemainderTensorTensorGetWorkspaceSize(const aclTensor *self,
                                                                 const aclTensor *other,
                                                                 aclTensor *out,
                                                                 uint64_t *workspaceSize,
                                                                 aclOpExecutor **executor);

/**
 * Second phase of aclnnRemainderTensorTensor: submits the planned call to a stream and returns.
 *
 * @param workspace not used; may be NULL
 * @param workspaceSize 0
 * @param executor plan from the first phase; consumed unless it was made repeatable
 * @param stream stream, NULL for the default stream of the current context
 * @return 0; 161001: no executor; 161002: executor spent, destroyed or of another operator; 361001:
 * no device on this thread or a bad stream. A missing address is reported by the next synchronising
 *     call as 507015
 */
ACLNN_API aclnnStatus aclnnRemainderTensorTensor(void *workspace, uint64_t workspaceSize,
                                                 aclOpExecutor *executor, const aclrtStream stream);

/**
 * First phase of aclnnRemainderTensorScalar: checks the arguments and plans the call.
 *
 * out = self - floor(self / other) * other with a number. It has the sign of other; integers
 * divided by 0 give 0.
 *
 * @param self dividend
 * @param other divisor
 * @param out output; the shape of the result and a dtype that can hold its kind
 * @param workspaceSize [out] bytes of device memory that the second phase needs; 0
 * @param executor [out] plan for the second phase, which consumes it
 * @return 0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go
 *     together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different
 *     builds; 561101: no host memory. After a failure the results are unchanged
 */
ACLNN_API aclnnStatus aclnnRemainderTensorScalarGetWorkspaceSize(const aclTensor *self,
                                                                 const aclScalar *other,
                                                                 aclTensor *out,
                                                                 uint64_t *workspaceSize,
                                                                 aclOpExecutor **executor);

/**
 * Second phase of aclnnRemainderTensorScalar: submits the planned call to a stream and returns.
 *
 * @param workspace not used; may be NULL
 * @param workspaceSize 0
 * @param executor plan from the first phase; consumed unless it was made repeatable
 * @param stream stream, NULL for the default stream of the current context
 * @return 0; 161001: no executor; 161002: executor spent, destroyed or of another operator; 361001:
 * no device on this thread or a bad stream. A missing address is reported by the next synchronising
 *     call as 507015
 */
ACLNN_API aclnnStatus aclnnRemainderTensorScalar(void *workspace, uint64_t workspaceSize,
                                                 aclOpExecutor *executor, const aclrtStream stream);

/**
 * First phase of aclnnRemainderScalarTensor: checks the arguments and plans the call.
 *
 * out = self - floor(self / other) * other with a number on the left. It has the sign of other;
 * integers divided by 0 give 0.
 *
 * @param self dividend
 * @param other divisor
 * @param out output; the shape of the result and a dtype that can hold its kind
 * @param workspaceSize [out] bytes of device memory that the second phase needs; 0
 * @param executor [out] plan for the second phase, which consumes it
 * @return 0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go
 *     together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different
 *     builds; 561101: no host memory. After a failure the results are unchanged
 */
ACLNN_API aclnnStatus aclnnRemainderScalarTensorGetWorkspaceSize(const aclScalar *self,
                                                                 const aclTensor *other,
                                                                 aclTensor *out,
                                                                 uint64_t *workspaceSize,
                                                                 aclOpExecutor **executor);

/**
 * Second phase of aclnnRemainderScalarTensor: submits the planned call to a stream and returns.
 *
 * @param workspace not used; may be NULL
 * @param workspaceSize 0
 * @param executor plan from the first phase; consumed unless it was made repeatable
 * @param stream stream, NULL for the default stream of the current context
 * @return 0; 161001: no executor; 161002: executor spent, destroyed or of another operator; 361001:
 * no device on this thread or a bad stream. A missing address is reported by the next synchronising
 *     call as 507015
 */
ACLNN_API aclnnStatus aclnnRemainderScalarTensor(void *workspace, uint64_t workspaceSize,
                                                 aclOpExecutor *executor, const aclrtStream stream);

/**
 * First phase of aclnnInplaceRemainderTensorTensor: checks the arguments and plans the call.
 *
 * selfRef = selfRef - floor(selfRef / other) * other. It has the sign of other; integers divided by
 * 0 give 0. The inputs broadcast; they are computed in the dtype they have in common, by torch's
 * rules.
 *
 * @param selfRef read and written; the result must have its shape and fit its dtype's kind
 * @param other divisor
 * @param workspaceSize [out] bytes of device memory that the second phase needs; 0
 * @param executor [out] plan for the second phase, which consumes it
 * @return 0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go
 *     together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different
 *     builds; 561101: no host memory. After a failure the results are unchanged
 */
ACLNN_API aclnnStatus aclnnInplaceRemainderTensorTensorGetWorkspaceSize(const aclTensor *selfRef,
                                                                        const aclTensor *other,
                                                                        uint64_t *workspaceSize,
                                                                        aclOpExecutor **executor);

/**
 * Second phase of aclnnInplaceRemainderTensorTensor: submits the planned call to a stream and
 * returns.
 *
 * @param workspace not used; may be NULL
 * @param workspaceSize 0
 * @param executor plan from the first phase; consumed unless it was made repeatable
 * @param stream stream, NULL for the default stream of the current context
 * @return 0; 161001: no executor; 161002: executor spent, destroyed or of another operator; 361001:
 * no device on this thread or a bad stream. A missing address is reported by the next synchronising
 *     call as 507015
 */
ACLNN_API aclnnStatus aclnnInplaceRemainderTensorTensor(void *workspace, uint64_t workspaceSize,
                                                        aclOpExecutor *executor,
                                                        const aclrtStream stream);

/**
 * First phase of aclnnInplaceRemainderTensorScalar: checks the arguments and plans the call.
 *
 * selfRef = selfRef - floor(selfRef / other) * other with a number. It has the sign of other;
 * integers divided by 0 give 0.
 *
 * @param selfRef read and written; the result must have its shape and fit its dtype's kind
 * @param other divisor
 * @param workspaceSize [out] bytes of device memory that the second phase needs; 0
 * @param executor [out] plan for the second phase, which consumes it
 * @return 0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go
 *     together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different
 *     builds; 561101: no host memory. After a failure the results are unchanged
 */
ACLNN_API aclnnStatus aclnnInplaceRemainderTensorScalarGetWorkspaceSize(const aclTensor *selfRef,
                                                                        const aclScalar *other,
                                                                        uint64_t *workspaceSize,
                                                                        aclOpExecutor **executor);

/**
 * Second phase of aclnnInplaceRemainderTensorScalar: submits the planned call to a stream and
 * returns.
 *
 * @param workspace not used; may be NULL
 * @param workspaceSize 0
 * @param executor plan from the first phase; consumed unless it was made repeatable
 * @param stream stream, NULL for the default stream of the current context
 * @return 0; 161001: no executor; 161002: executor spent, destroyed or of another operator; 361001:
 * no device on this thread or a bad stream. A missing address is reported by the next synchronising
 *     call as 507015
 */
ACLNN_API aclnnStatus aclnnInplaceRemainderTensorScalar(void *workspace, uint64_t workspaceSize,
                                                        aclOpExecutor *executor,
                                                        const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif /* ACLNNOP_ACLNN_REMAINDER_H_ */
