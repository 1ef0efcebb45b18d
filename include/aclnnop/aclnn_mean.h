/** aclnnMean. */
#ifndef ACLNNOP_ACLNN_MEAN_H_
#define ACLNNOP_ACLNN_MEAN_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * First phase of aclnnMean: checks the arguments and plans the call.
 *
 * out = the mean over dimensions.
 *
 * @param self input
 * @param dim dimensions that go, negative from the end; NULL or empty: all
 * @param keepDim whether dimensions that went stay as 1
 * @param dtype what is computed in, also the dtype of out
 * @param out output; the shape of self without the dimensions that go, or with 1 in their place
 * @param workspaceSize [out] bytes of device memory that the second phase needs; 0
 * @param executor [out] plan for the second phase, which consumes it
 * @return 0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go
 *     together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different
 *     builds; 561101: no host memory. After a failure the results are unchanged
 */
ACLNN_API aclnnStatus aclnnMeanGetWorkspaceSize(const aclTensor *self, const aclIntArray *dim,
                                                bool keepDim, aclDataType dtype, aclTensor *out,
                                                uint64_t *workspaceSize, aclOpExecutor **executor);

/**
 * Second phase of aclnnMean: submits the planned call to a stream and returns.
 *
 * @param workspace not used; may be NULL
 * @param workspaceSize 0
 * @param executor plan from the first phase; consumed unless it was made repeatable
 * @param stream stream, NULL for the default stream of the current context
 * @return 0; 161001: no executor; 161002: executor spent, destroyed or of another operator; 361001:
 * no device on this thread or a bad stream. A missing address is reported by the next synchronising
 *     call as 507015
 */
ACLNN_API aclnnStatus aclnnMean(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor,
                                const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif /* ACLNNOP_ACLNN_MEAN_H_ */
