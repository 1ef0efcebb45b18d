/** aclnnStack. */
#ifndef ACLNNOP_ACLNN_STACK_H_
#define ACLNNOP_ACLNN_STACK_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * First phase of aclnnStack: checks the arguments and plans the call.
 *
 * out = the tensors one behind the other along a new dimension. Each is converted to the dtype of
 * out.
 *
 * @param tensors at least one tensor, all of one shape
 * @param dim the new dimension, negative from the end
 * @param out output; its dimension dim is their number
 * @param workspaceSize [out] bytes of device memory that the second phase needs; 0
 * @param executor [out] plan for the second phase, which consumes it
 * @return 0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go
 *     together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different
 *     builds; 561101: no host memory. After a failure the results are unchanged
 */
ACLNN_API aclnnStatus aclnnStackGetWorkspaceSize(const aclTensorList *tensors, int64_t dim,
                                                 aclTensor *out, uint64_t *workspaceSize,
                                                 aclOpExecutor **executor);

/**
 * Second phase of aclnnStack: submits the planned call to a stream and returns.
 *
 * @param workspace not used; may be NULL
 * @param workspaceSize 0
 * @param executor plan from the first phase; consumed unless it was made repeatable
 * @param stream stream, NULL for the default stream of the current context
 * @return 0; 161001: no executor; 161002: executor spent, destroyed or of another operator; 361001:
 * no device on this thread or a bad stream. A missing address is reported by the next synchronising
 *     call as 507015
 */
ACLNN_API aclnnStatus aclnnStack(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor,
                                 const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif /* ACLNNOP_ACLNN_STACK_H_ */
