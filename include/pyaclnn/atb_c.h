/* The operations of libatb from C and from languages that call C: what atb/operation.h and
 * atb/context.h offer C++, on plain structs. Exported by libatb. C11 and C++.
 *
 * Functions return 0 or an ErrorType of atb/types.h; then aclGetRecentErrMsg and pyaclnnExplain
 * have the text, as for the C++ interface. An operation belongs to one thread at a time.
 *
 *   pyaclnnAtbContext *context;    pyaclnnAtbCreateContext(&context);
 *                                  pyaclnnAtbSetExecuteStream(context, stream);
 *   pyaclnnAtbOperation *op;       pyaclnnAtbCreateOperation("ElewiseParam", &param, 64, &op);
 *   uint64_t size;                 pyaclnnAtbSetup(op, in, 2, out, 1, &size, context);
 *                                  pyaclnnAtbExecute(op, in, 2, out, 1, workspace, size, context);
 *                                  aclrtSynchronizeStream(stream);
 */
#ifndef PYACLNN_ATB_C_H_
#define PYACLNN_ATB_C_H_

#include <stdint.h>

#include "acl/acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* atb::MAX_DIM */
#define PYACLNN_ATB_MAX_DIM 8

/* An operation of pyaclnnAtbCreateOperation. */
typedef struct pyaclnnAtbOperation pyaclnnAtbOperation;
/* The address of an atb::Context: the functions of atb/atb_acl.h take it, too. */
typedef struct pyaclnnAtbContext pyaclnnAtbContext;

/* An atb::Tensor. Elements are one behind the other. */
typedef struct pyaclnnAtbTensor {
  aclDataType dtype;
  aclFormat format;
  int64_t dims[PYACLNN_ATB_MAX_DIM]; /* the first dimNum are read */
  uint64_t dimNum;
  void *deviceData;
  void *hostData;
  uint64_t dataSize; /* bytes, those of dtype and dims */
  /* A tensor whose hostData is a list of tensors, where an operation takes one: its itemCount
   * members. hostData is not looked at then, nor where there could be a list; the items of members
   * are not looked at. */
  const struct pyaclnnAtbTensor *items;
  uint64_t itemCount;
} pyaclnnAtbTensor;

/* What an operation says about one of its tensors. */
typedef struct pyaclnnAtbTensorInfo {
  const char *name;  /* "seqLen"; static string */
  int32_t onHost;    /* 1: its values are read from hostData, during Setup */
  int32_t written;   /* of an input: 1: the operation writes into it, too */
  int32_t inPlaceOf; /* of an output: the input whose memory it is; -1: none */
} pyaclnnAtbTensorInfo;

/* A context without a stream, the caller's until it is destroyed (NULL is allowed there). Work that
 * was handed to a stream goes on. */
ACL_FUNC_VISIBILITY int32_t pyaclnnAtbCreateContext(pyaclnnAtbContext **context);
ACL_FUNC_VISIBILITY int32_t pyaclnnAtbDestroyContext(pyaclnnAtbContext *context);
/* atb::Context: the stream that operations run on; what Execute does on this thread (ExecuteType);
 * how work is handed over (LaunchMode). */
ACL_FUNC_VISIBILITY int32_t pyaclnnAtbSetExecuteStream(pyaclnnAtbContext *context,
                                                       aclrtStream stream);
ACL_FUNC_VISIBILITY int32_t pyaclnnAtbSetExecuteType(pyaclnnAtbContext *context, int32_t type);
ACL_FUNC_VISIBILITY int32_t pyaclnnAtbSetLaunchMode(pyaclnnAtbContext *context, int32_t mode);

/* Makes an operation. `name` is that of a structure of atb/infer_op_params.h
 * ("SelfAttentionParam"), `param` the bytes of such a structure, `size` their number: what the same
 * declaration gives in C, with the underlying type for each enumeration. They are copied.
 * `*operation` is the caller's until it is destroyed (NULL is allowed there), and untouched on
 * failure. ERROR_INVALID_PARAM (1) for an unknown name or another size, besides what
 * CreateOperation refuses. */
ACL_FUNC_VISIBILITY int32_t pyaclnnAtbCreateOperation(const char *name, const void *param,
                                                      uint64_t size,
                                                      pyaclnnAtbOperation **operation);
ACL_FUNC_VISIBILITY int32_t pyaclnnAtbDestroyOperation(pyaclnnAtbOperation *operation);

/* "SelfAttentionOperation", static string; NULL for NULL. */
ACL_FUNC_VISIBILITY const char *pyaclnnAtbGetName(const pyaclnnAtbOperation *operation);
/* How many tensors it takes; 0 for NULL. */
ACL_FUNC_VISIBILITY uint32_t pyaclnnAtbGetInputNum(const pyaclnnAtbOperation *operation);
ACL_FUNC_VISIBILITY uint32_t pyaclnnAtbGetOutputNum(const pyaclnnAtbOperation *operation);
/* What stands at a place. ERROR_INVALID_PARAM for a place behind the last one. */
ACL_FUNC_VISIBILITY int32_t pyaclnnAtbGetInputInfo(const pyaclnnAtbOperation *operation,
                                                   uint32_t index, pyaclnnAtbTensorInfo *info);
ACL_FUNC_VISIBILITY int32_t pyaclnnAtbGetOutputInfo(const pyaclnnAtbOperation *operation,
                                                    uint32_t index, pyaclnnAtbTensorInfo *info);

/* Derives the outputs: dtype, format, dims and dataSize of pyaclnnAtbGetOutputNum tensors, which
 * outCount must be; their addresses are NULL. Of the inputs only dtype, format and dims are read.
 * Outputs are untouched on failure. */
ACL_FUNC_VISIBILITY int32_t pyaclnnAtbInferShape(const pyaclnnAtbOperation *operation,
                                                 const pyaclnnAtbTensor *in, uint64_t inCount,
                                                 pyaclnnAtbTensor *out, uint64_t outCount);

/* Checks and plans a call: Operation::Setup. At most 256 tensors in each direction. */
ACL_FUNC_VISIBILITY int32_t pyaclnnAtbSetup(pyaclnnAtbOperation *operation,
                                            const pyaclnnAtbTensor *in, uint64_t inCount,
                                            const pyaclnnAtbTensor *out, uint64_t outCount,
                                            uint64_t *workspaceSize, pyaclnnAtbContext *context);

/* Hands the call to the context's stream: Operation::Execute. No tensors at all (both counts 0)
 * stand for those of Setup. */
ACL_FUNC_VISIBILITY int32_t pyaclnnAtbExecute(pyaclnnAtbOperation *operation,
                                              const pyaclnnAtbTensor *in, uint64_t inCount,
                                              const pyaclnnAtbTensor *out, uint64_t outCount,
                                              void *workspace, uint64_t workspaceSize,
                                              pyaclnnAtbContext *context);

#ifdef __cplusplus
}
#endif

#endif /* PYACLNN_ATB_C_H_ */
