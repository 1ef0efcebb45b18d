/**
 * The whole AscendCL interface except acl_op_compiler.h: include this file.
 *
 * A program calls aclInit(), aclrtSetDevice(), works, then aclrtResetDevice() and aclFinalize().
 * These functions, the version queries and aclGetRecentErrMsg() are declared in acl_rt.h, so that
 * programs that include only that file find them too.
 */
#ifndef ACL_ACL_H_
#define ACL_ACL_H_

#include "acl_mdl.h"
#include "acl_op.h"
#include "acl_rt.h"

#define ACL_MAJOR_VERSION 1
#define ACL_MINOR_VERSION 13
#define ACL_PATCH_VERSION 0

#endif /* ACL_ACL_H_ */
