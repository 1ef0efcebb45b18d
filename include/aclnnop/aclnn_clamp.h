/** aclnnClamp and the forms of it. */
#ifndef ACLNNOP_ACLNN_CLAMP_H_
#define ACLNNOP_ACLNN_CLAMP_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * First phase of aclnnClamp: checks the arguments and plans the call.
 *
 * out = self, but at least clipValueMin and at most clipValueMax; NaN stays.
 *
 * @param self input
 * @param clipValueMin lower bound; NULL: none
 * @param clipValueMax upper bound; NULL: none
 * @param out output; the shape of the result and a dtype that can hold its kind
 * @param workspaceSize [out] bytes of device memory that the second phase needs; 0
 * @param executor [out] plan for the second phase, which consumes it
 * @return 0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go
 *     together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different
 *     builds; 561101: no host memory. After a failure the results are unchanged
 */
ACLNN_API aclnnStatus aclnnClampGetWorkspaceSize(const aclTensor *self,
                                                 const aclScalar *clipValueMin,
                                                 const aclScalar *clipValueMax, aclTensor *out,
                                                 uint64_t *workspaceSize, aclOpExecutor **executor);

/**
 * Second phase of aclnnClamp: submits the planned call to a stream and returns.
 *
 * @param workspace not used; may be NULL
 * @param workspaceSize 0
 * @param executor plan from the first phase; consumed unless it was made repeatable
 * @param stream stream, NULL for the default stream of the current context
 * @return 0; 161001: no executor; 161002: executor spent, destroyed or of another operator; 361001:
 * no device on this thread or a bad stream. A missing address is reported by the next synchronising
 *     call as 507015
 */
ACLNN_API aclnnStatus aclnnClamp(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor,
                                 const aclrtStream stream);

/**
 * First phase of aclnnClampMin: checks the arguments and plans the call.
 *
 * out = self, but at least clipValueMin; NaN stays.
 *
 * @param self input
 * @param clipValueMin lower bound
 * @param out output; the shape of the result and a dtype that can hold its kind
 * @param workspaceSize [out] bytes of device memory that the second phase needs; 0
 * @param executor [out] plan for the second phase, which consumes it
 * @return 0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go
 *     together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different
 *     builds; 561101: no host memory. After a failure the results are unchanged
 */
ACLNN_API aclnnStatus aclnnClampMinGetWorkspaceSize(const aclTensor *self,
                                                    const aclScalar *clipValueMin, aclTensor *out,
                                                    uint64_t *workspaceSize,
                                                    aclOpExecutor **executor);

/**
 * Second phase of aclnnClampMin: submits the planned call to a stream and returns.
 *
 * @param workspace not used; may be NULL
 * @param workspaceSize 0
 * @param executor plan from the first phase; consumed unless it was made repeatable
 * @param stream stream, NULL for the default stream of the current context
 * @return 0; 161001: no executor; 161002: executor spent, destroyed or of another operator; 361001:
 * no device on this thread or a bad stream. A missing address is reported by the next synchronising
 *     call as 507015
 */
ACLNN_API aclnnStatus aclnnClampMin(void *workspace, uint64_t workspaceSize,
                                    aclOpExecutor *executor, const aclrtStream stream);

/**
 * First phase of aclnnClampMax: checks the arguments and plans the call.
 *
 * out = self, but at most clipValueMax; NaN stays.
 *
 * @param self input
 * @param clipValueMax upper bound
 * @param out output; the shape of the result and a dtype that can hold its kind
 * @param workspaceSize [out] bytes of device memory that the second phase needs; 0
 * @param executor [out] plan for the second phase, which consumes it
 * @return 0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go
 *     together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different
 *     builds; 561101: no host memory. After a failure the results are unchanged
 */
ACLNN_API aclnnStatus aclnnClampMaxGetWorkspaceSize(const aclTensor *self,
                                                    const aclScalar *clipValueMax, aclTensor *out,
                                                    uint64_t *workspaceSize,
                                                    aclOpExecutor **executor);

/**
 * Second phase of aclnnClampMax: submits the planned call to a stream and returns.
 *
 * @param workspace not used; may be NULL
 * @param workspaceSize 0
 * @param executor plan from the first phase; consumed unless it was made repeatable
 * @param stream stream, NULL for the default stream of the current context
 * @return 0; 161001: no executor; 161002: executor spent, destroyed or of another operator; 361001:
 * no device on this thread or a bad stream. A missing address is reported by the next synchronising
 *     call as 507015
 */
ACLNN_API aclnnStatus aclnnClampMax(void *workspace, uint64_t workspaceSize,
                                    aclOpExecutor *executor, const aclrtStream stream);

/**
 * First phase of aclnnInplaceClampMin: checks the arguments and plans the call.
 *
 * selfRef = selfRef, but at least clipValueMin; NaN stays.
 *
 * @param selfRef read and written; the result must have its shape and fit its dtype's kind
 * @param clipValueMin lower bound
 * @param workspaceSize [out] bytes of device memory that the second phase needs; 0
 * @param executor [out] plan for the second phase, which consumes it
 * @return 0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go
 *     together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different
 *     builds; 561101: no host memory. After a failure the results are unchanged
 */
ACLNN_API aclnnStatus aclnnInplaceClampMinGetWorkspaceSize(const aclTensor *selfRef,
                                                           const aclScalar *clipValueMin,
                                                           uint64_t *workspaceSize,
                                                           aclOpExecutor **executor);

/**
 * Second phase of aclnnInplaceClampMin: submits the planned call to a stream and returns.
 *
 * @param workspace not used; may be NULL
 * @param workspaceSize 0
 * @param executor plan from the first phase; consumed unless it was made repeatable
 * @param stream stream, NULL for the default stream of the current context
 * @return 0; 161001: no executor; 161002: executor spent, destroyed or of another operator; 361001:
 * no device on this thread or a bad stream. A missing address is reported by the next synchronising
 *     call as 507015
 */
ACLNN_API aclnnStatus aclnnInplaceClampMin(void *workspace, uint64_t workspaceSize,
                                           aclOpExecutor *executor, const aclrtStream stream);

/**
 * First phase of aclnnInplaceClampMax: checks the arguments and plans the call.
 *
 * selfRef = selfRef, but at most clipValueMax; NaN stays.
 *
 * @param selfRef read and written; the result must have its shape and fit its dtype's kind
 * @param clipValueMax upper bound
 * @param workspaceSize [out] bytes of device memory that the second phase needs; 0
 * @param executor [out] plan for the second phase, which consumes it
 * @return 0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go
 *     together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different
 *     builds; 561101: no host memory. After a failure the results are unchanged
 */
ACLNN_API aclnnStatus aclnnInplaceClampMaxGetWorkspaceSize(const aclTensor *selfRef,
                                                           const aclScalar *clipValueMax,
                                                           uint64_t *workspaceSize,
                                                           aclOpExecutor **executor);

/**
 * Second phase of aclnnInplaceClampMax: submits the planned call to a stream and returns.
 *
 * @param workspace not used; may be NULL
 * @param workspaceSize 0
 * @param executor plan from the first phase; consumed unless it was made repeatable
 * @param stream stream, NULL for the default stream of the current context
 * @return 0; 161001: no executor; 161002: executor spent, destroyed or of another operator; 361001:
 * no device on this thread or a bad stream. A missing address is reported by the next synchronising
 *     call as 507015
 */
ACLNN_API aclnnStatus aclnnInplaceClampMax(void *workspace, uint64_t workspaceSize,
                                           aclOpExecutor *executor, const aclrtStream stream);

/**
 * First phase of aclnnClampMinTensor: checks the arguments and plans the call.
 *
 * out = self, but at least clipValueMin, element by element. The inputs broadcast.
 *
 * @param self input
 * @param clipValueMin lower bounds
 * @param out output; the shape of the result and a dtype that can hold its kind
 * @param workspaceSize [out] bytes of device memory that the second phase needs; 0
 * @param executor [out] plan for the second phase, which consumes it
 * @return 0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go
 *     together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different
 *     builds; 561101: no host memory. After a failure the results are unchanged
 */
ACLNN_API aclnnStatus aclnnClampMinTensorGetWorkspaceSize(const aclTensor *self,
                                                          const aclTensor *clipValueMin,
                                                          aclTensor *out, uint64_t *workspaceSize,
                                                          aclOpExecutor **executor);

/**
 * Second phase of aclnnClampMinTensor: submits the planned call to a stream and returns.
 *
 * @param workspace not used; may be NULL
 * @param workspaceSize 0
 * @param executor plan from the first phase; consumed unless it was made repeatable
 * @param stream stream, NULL for the default stream of the current context
 * @return 0; 161001: no executor; 161002: executor spent, destroyed or of another operator; 361001:
 * no device on this thread or a bad stream. A missing address is reported by the next synchronising
 *     call as 507015
 */
ACLNN_API aclnnStatus aclnnClampMinTensor(void *workspace, uint64_t workspaceSize,
                                          aclOpExecutor *executor, const aclrtStream stream);

/**
 * First phase of aclnnClampMaxTensor: checks the arguments and plans the call.
 *
 * out = self, but at most clipValueMax, element by element. The inputs broadcast.
 *
 * @param self input
 * @param clipValueMax upper bounds
 * @param out output; the shape of the result and a dtype that can hold its kind
 * @param workspaceSize [out] bytes of device memory that the second phase needs; 0
 * @param executor [out] plan for the second phase, which consumes it
 * @return 0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go
 *     together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different
 *     builds; 561101: no host memory. After a failure the results are unchanged
 */
ACLNN_API aclnnStatus aclnnClampMaxTensorGetWorkspaceSize(const aclTensor *self,
                                                          const aclTensor *clipValueMax,
                                                          aclTensor *out, uint64_t *workspaceSize,
                                                          aclOpExecutor **executor);

/**
 * Second phase of aclnnClampMaxTensor: submits the planned call to a stream and returns.
 *
 * @param workspace not used; may be NULL
 * @param workspaceSize 0
 * @param executor plan from the first phase; consumed unless it was made repeatable
 * @param stream stream, NULL for the default stream of the current context
 * @return 0; 161001: no executor; 161002: executor spent, destroyed or of another operator; 361001:
 * no device on this thread or a bad stream. A missing address is reported by the next synchronising
 *     call as 507015
 */
ACLNN_API aclnnStatus aclnnClampMaxTensor(void *workspace, uint64_t workspaceSize,
                                          aclOpExecutor *executor, const aclrtStream stream);

/**
 * First phase of aclnnClampTensor: checks the arguments and plans the call.
 *
 * out = self, but at least clipValueMin and at most clipValueMax, element by element. The inputs
 * broadcast.
 *
 * @param self input
 * @param clipValueMin lower bounds
 * @param clipValueMax upper bounds
 * @param out output; the shape of the result and a dtype that can hold its kind
 * @param workspaceSize [out] bytes of device memory that the second phase needs; 0
 * @param executor [out] plan for the second phase, which consumes it
 * @return 0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go
 *     together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different
 *     builds; 561101: no host memory. After a failure the results are unchanged
 */
ACLNN_API aclnnStatus aclnnClampTensorGetWorkspaceSize(const aclTensor *self,
                                                       const aclTensor *clipValueMin,
                                                       const aclTensor *clipValueMax,
                                                       aclTensor *out, uint64_t *workspaceSize,
                                                       aclOpExecutor **executor);

/**
 * Second phase of aclnnClampTensor: submits the planned call to a stream and returns.
 *
 * @param workspace not used; may be NULL
 * @param workspaceSize 0
 * @param executor plan from the first phase; consumed unless it was made repeatable
 * @param stream stream, NULL for the default stream of the current context
 * @return 0; 161001: no executor; 161002: executor spent, destroyed or of another operator; 361001:
 * no device on this thread or a bad stream. A missing address is reported by the next synchronising
 *     call as 507015
 */
ACLNN_API aclnnStatus aclnnClampTensor(void *workspace, uint64_t workspaceSize,
                                       aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif /* ACLNNOP_ACLNN_CLAMP_H_ */
