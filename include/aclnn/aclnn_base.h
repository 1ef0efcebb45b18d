/** Start and end of the aclnn layer; optional, aclInit() suffices. */
#ifndef ACLNN_ACLNN_BASE_H_
#define ACLNN_ACLNN_BASE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Prepares the aclnn layer. May be called repeatedly and together with aclInit().
 * @param configPath JSON file, or NULL; a file that does not exist is ignored
 * @return 0
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnInit(const char *configPath);

/**
 * Ends the use of the aclnn layer. May be called repeatedly, also without aclnnInit().
 * @return 0
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnFinalize(void);

#ifdef __cplusplus
}
#endif

#endif /* ACLNN_ACLNN_BASE_H_ */
