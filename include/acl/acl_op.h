/**
 * The single-operator interface that came before aclnn. Its kernels are NPU machine code, so no
 * operator runs (acl_op_compiler.h); attributes are kept for the text of its refusal.
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

/**
 * Makes an empty list of attributes.
 * @return the list, for aclopDestroyAttr(); NULL without memory
 */
ACL_FUNC_VISIBILITY aclopAttr *aclopCreateAttr(void);

/**
 * Destroys a list of attributes.
 * @param attr list, or NULL
 */
ACL_FUNC_VISIBILITY void aclopDestroyAttr(const aclopAttr *attr);

/**
 * Sets an attribute; each type of values has its function.
 * @param attr list of attributes
 * @param attrName name of the attribute
 * @param attrValue its value
 * @return ACL_ERROR_INVALID_PARAM (100000): attr is not a live list, a pointer is NULL, or a number
 * of values is negative
 */
ACL_FUNC_VISIBILITY aclError aclopSetAttrBool(aclopAttr *attr, const char *attrName,
                                              uint8_t attrValue);
ACL_FUNC_VISIBILITY aclError aclopSetAttrInt(aclopAttr *attr, const char *attrName,
                                             int64_t attrValue);
ACL_FUNC_VISIBILITY aclError aclopSetAttrFloat(aclopAttr *attr, const char *attrName,
                                               float attrValue);
ACL_FUNC_VISIBILITY aclError aclopSetAttrString(aclopAttr *attr, const char *attrName,
                                                const char *attrValue);
ACL_FUNC_VISIBILITY aclError aclopSetAttrDataType(aclopAttr *attr, const char *attrName,
                                                  aclDataType attrValue);

/**
 * Sets an attribute to several values; each type of values has its function.
 * @param attr list of attributes
 * @param attrName name of the attribute
 * @param numValues number of values
 * @param values the values
 * @return ACL_ERROR_INVALID_PARAM (100000): attr is not a live list, a pointer is NULL, or a number
 * of values is negative
 */
ACL_FUNC_VISIBILITY aclError aclopSetAttrListBool(aclopAttr *attr, const char *attrName,
                                                  int numValues, const uint8_t *values);
ACL_FUNC_VISIBILITY aclError aclopSetAttrListInt(aclopAttr *attr, const char *attrName,
                                                 int numValues, const int64_t *values);
ACL_FUNC_VISIBILITY aclError aclopSetAttrListFloat(aclopAttr *attr, const char *attrName,
                                                   int numValues, const float *values);

/**
 * Sets an attribute to several lists.
 * @param attr list of attributes
 * @param attrName name of the attribute
 * @param numLists number of lists
 * @param numValues number of values of each
 * @param values the values of each
 * @return ACL_ERROR_INVALID_PARAM (100000): attr is not a live list, a pointer is NULL, or a number
 * of values is negative
 */
ACL_FUNC_VISIBILITY aclError aclopSetAttrListListInt(aclopAttr *attr, const char *attrName,
                                                     int numLists, const int *numValues,
                                                     const int64_t *const values[]);

#ifdef __cplusplus
}
#endif

#endif /* ACL_ACL_OP_H_ */
