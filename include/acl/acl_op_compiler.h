/**
 * The operator compiler, libacl_op_compiler.so. There is nothing to compile on a CPU: options are
 * kept and given back, and operators come from aclnnop/.
 */
#ifndef ACL_ACL_OP_COMPILER_H_
#define ACL_ACL_OP_COMPILER_H_

#include "acl_base.h"
#include "acl_op.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Settings of a graph dump. */
typedef struct aclGraphDumpOption aclGraphDumpOption;

/** Whether an operator is a built-in one. */
typedef enum aclCompileType { ACL_COMPILE_SYS = 0, ACL_COMPILE_UNREGISTERED = 1 } aclopCompileType;

/** Options of the operator compiler. */
typedef enum aclCompileOpt {
  ACL_PRECISION_MODE = 0,
  ACL_AICORE_NUM = 1,
  ACL_AUTO_TUNE_MODE = 2,
  ACL_OP_SELECT_IMPL_MODE = 3,
  ACL_OPTYPELIST_FOR_IMPLMODE = 4,
  ACL_OP_DEBUG_LEVEL = 5,
  ACL_DEBUG_DIR = 6,
  ACL_OP_COMPILER_CACHE_MODE = 7,
  ACL_OP_COMPILER_CACHE_DIR = 8,
  ACL_OP_PERFORMANCE_MODE = 9,
  ACL_OP_JIT_COMPILE = 10,
  ACL_OP_DETERMINISTIC = 11,
  ACL_CUSTOMIZE_DTYPES = 12,
  ACL_OP_PRECISION_MODE = 13,
  ACL_ALLOW_HF32 = 14,
  ACL_PRECISION_MODE_V2 = 15,
  ACL_OP_DEBUG_OPTION = 16
} aclCompileOpt;

/** Whether a compiled operator serves other shapes as well. */
typedef enum aclCompileFlag {
  ACL_OP_COMPILE_DEFAULT = 0,
  ACL_OP_COMPILE_FUZZ = 1
} aclOpCompileFlag;

/**
 * Would compile an operator and run it.
 * @param opType name of the operator
 * @param numInputs number of inputs
 * @param inputDesc their descriptions
 * @param inputs their data
 * @param numOutputs number of outputs
 * @param outputDesc their descriptions
 * @param outputs their data
 * @param attr attributes
 * @param engineType unit that runs it
 * @param compileFlag whether it is a built-in operator
 * @param opPath path of an operator that is not
 * @param stream stream it runs on
 * @return ACL_ERROR_API_NOT_SUPPORT (200001), with a text that names the operator and what serves
 *     operators here
 */
ACL_FUNC_VISIBILITY aclError aclopCompileAndExecute(
    const char *opType, int numInputs, const aclTensorDesc *const inputDesc[],
    const aclDataBuffer *const inputs[], int numOutputs, const aclTensorDesc *const outputDesc[],
    aclDataBuffer *const outputs[], const aclopAttr *attr, aclopEngineType engineType,
    aclopCompileType compileFlag, const char *opPath, aclrtStream stream);

/**
 * Would compile an operator, run it, and tell the shapes of its outputs.
 * @param opType name of the operator
 * @param numInputs number of inputs
 * @param inputDesc their descriptions
 * @param inputs their data
 * @param numOutputs number of outputs
 * @param outputDesc [out] their descriptions
 * @param outputs their data
 * @param attr attributes
 * @param engineType unit that runs it
 * @param compileFlag whether it is a built-in operator
 * @param opPath path of an operator that is not
 * @param stream stream it runs on
 * @return ACL_ERROR_API_NOT_SUPPORT (200001), as aclopCompileAndExecute()
 */
ACL_FUNC_VISIBILITY aclError
aclopCompileAndExecuteV2(const char *opType, int numInputs, aclTensorDesc *inputDesc[],
                         aclDataBuffer *inputs[], int numOutputs, aclTensorDesc *outputDesc[],
                         aclDataBuffer *outputs[], aclopAttr *attr, aclopEngineType engineType,
                         aclopCompileType compileFlag, const char *opPath, aclrtStream stream);

/**
 * Sets an option of the operator compiler for this process. It is kept for aclGetCompileopt();
 * nothing is compiled.
 * @param opt which option
 * @param value text, copied
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for an unknown option, NULL, or 512 characters and
 *     more; ACL_ERROR_API_NOT_SUPPORT (200001) for ACL_OP_JIT_COMPILE with another value than
 *     "disable"
 */
ACL_FUNC_VISIBILITY aclError aclSetCompileopt(aclCompileOpt opt, const char *value);

/**
 * Gives the number of bytes aclGetCompileopt() writes.
 * @param opt which option
 * @return bytes with the terminating zero; 0 with a text for an unknown option
 */
ACL_FUNC_VISIBILITY size_t aclGetCompileoptSize(aclCompileOpt opt);

/**
 * Gives the value of an option: what aclSetCompileopt() set, else "disable" for ACL_OP_JIT_COMPILE
 * and "" for the others.
 * @param opt which option
 * @param value [out] text with a terminating zero
 * @param length room in value, bytes
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for an unknown option, NULL, or too little room
 */
ACL_FUNC_VISIBILITY aclError aclGetCompileopt(aclCompileOpt opt, char *value, size_t length);

#ifdef __cplusplus
}
#endif

#endif /* ACL_ACL_OP_COMPILER_H_ */
