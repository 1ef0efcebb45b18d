/**
 * Types of the single-operator interface that came before aclnn. Its kernels are NPU machine code:
 * no function of that interface exists here, use aclnnop/ instead.
 */
#ifndef ACL_ACL_OP_H_
#define ACL_ACL_OP_H_

#include <stddef.h>
#include <stdint.h>

#include "acl_base.h"
#include "acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Kind of dump: arguments of AI core operators. */
#define ACL_OP_DUMP_OP_AICORE_ARGS 1U
/** Kernel that a selector function chooses. */
#define ACL_COMPILE_FLAG_BIN_SELECTOR 1

/** An operator that is ready to run. */
typedef struct aclopHandle aclopHandle;
/** Attributes of an operator. */
typedef struct aclopAttr aclopAttr;
/** Description of a kernel. */
typedef struct aclopKernelDesc aclopKernelDesc;

/** Releases a block of length bytes that was handed over. */
typedef void (*aclDataDeallocator)(void *data, size_t length);

/** Chooses a kernel for the given inputs, outputs and attributes; returns 0 or a code. */
typedef aclError (*aclopCompileFunc)(int numInputs, const aclTensorDesc *const inputDesc[],
                                     int numOutputs, const aclTensorDesc *const outputDesc[],
                                     const aclopAttr *opAttr, aclopKernelDesc *kernelDesc);

/** Unit that runs a kernel. */
typedef enum aclEngineType {
  ACL_ENGINE_SYS = 0,
  ACL_ENGINE_AICORE = 1,
  ACL_ENGINE_VECTOR = 2
} aclopEngineType;

#ifdef __cplusplus
}
#endif

#endif /* ACL_ACL_OP_H_ */
