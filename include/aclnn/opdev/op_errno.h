/**
 * Result codes of the aclnn functions (aclnnStatus). First digit of a non-zero code: 1 wrong
 * argument, 3 a runtime call failed, 5 internal. On a CPU only 0, 161001, 161002, 361001, 561000,
 * 561001, 561002, 561003, 561101 and 561103 occur; 561003 then means that the call is valid for
 * the emulated product but not implemented here.
 */
#ifndef ACLNN_OPDEV_OP_ERRNO_H_
#define ACLNN_OPDEV_OP_ERRNO_H_

/** Success. */
#define ACLNN_SUCCESS 0
/** A required pointer argument is null. */
#define ACLNN_ERR_PARAM_NULLPTR 161001
/** Dtype/shape/format/attribute not acceptable. */
#define ACLNN_ERR_PARAM_INVALID 161002
/** A runtime call made inside the operator failed. */
#define ACLNN_ERR_RUNTIME_ERROR 361001
/** Other internal failure. */
#define ACLNN_ERR_INNER 561000
/** Output shape inference failed. */
#define ACLNN_ERR_INNER_INFERSHAPE_ERROR 561001
/** Kernel tiling (host-side planning) failed. */
#define ACLNN_ERR_INNER_TILING_ERROR 561002
/** No kernel binary for the combination. */
#define ACLNN_ERR_INNER_FIND_KERNEL_ERROR 561003
/** Executor could not be created. */
#define ACLNN_ERR_INNER_CREATE_EXECUTOR 561101
/** Executor ownership never handed to the caller. */
#define ACLNN_ERR_INNER_NOT_TRANS_EXECUTOR 561102
/** Null pointer met inside (also from the executor functions). */
#define ACLNN_ERR_INNER_NULLPTR 561103
/** Wrong number of operator attributes. */
#define ACLNN_ERR_INNER_WRONG_ATTR_INFO_SIZE 561104
/** Hash clash while matching kernels. */
#define ACLNN_ERR_INNER_KEY_CONFILICT 561105
/** The same code, spelled as newer releases spell it. */
#define ACLNN_ERR_INNER_KEY_CONFLICT 561105
/** Implementation mode invalid. */
#define ACLNN_ERR_INNER_INVALID_IMPL_MODE 561106
/** ASCEND_OPP_PATH missing. */
#define ACLNN_ERR_INNER_OPP_PATH_NOT_FOUND 561107
/** Kernel description unreadable. */
#define ACLNN_ERR_INNER_LOAD_JSON_FAILED 561108
/** Field missing in it. */
#define ACLNN_ERR_INNER_JSON_VALUE_NOT_FOUND 561109
/** Format field invalid. */
#define ACLNN_ERR_INNER_JSON_FORMAT_INVALID 561110
/** Dtype field invalid. */
#define ACLNN_ERR_INNER_JSON_DTYPE_INVALID 561111
/** Kernel package not installed. */
#define ACLNN_ERR_INNER_OPP_KERNEL_PKG_NOT_FOUND 561112
/** Operator description file unusable. */
#define ACLNN_ERR_INNER_OP_FILE_INVALID 561113
/** More attributes than the kernel description lists. */
#define ACLNN_ERR_INNER_ATTR_NUM_OUT_OF_BOUND 561114
/** Fewer attributes than the kernel description lists. */
#define ACLNN_ERR_INNER_ATTR_LEN_NOT_ENOUGH 561115
/** More than 32 inputs. */
#define ACLNN_ERR_INNER_INPUT_NUM_IN_JSON_TOO_LARGE 561116
/** Operator description incomplete. */
#define ACLNN_ERR_INNER_INPUT_JSON_IS_NULL 561117
/** Workspace entry of a static kernel unreadable. */
#define ACLNN_ERR_INNER_STATIC_WORKSPACE_INVALID 561118
/** Core-count entry of a static kernel unreadable. */
#define ACLNN_ERR_INNER_STATIC_BLOCK_DIM_INVALID 561119

#endif /* ACLNN_OPDEV_OP_ERRNO_H_ */
