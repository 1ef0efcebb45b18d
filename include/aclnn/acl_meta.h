/**
 * Handles that aclnn operators take: tensors, scalars, host arrays, lists, executors.
 *
 * Handles are created and destroyed by the caller. Operators copy what they need (shapes, strides,
 * addresses, scalars, arrays) in their first phase; the memory behind a tensor must stay valid
 * until the stream has passed the work. A create function returns NULL on failure and leaves a text
 * for aclGetRecentErrMsg(); the other functions return 0 or a code of aclnn/opdev/op_errno.h.
 * A destroyed or foreign handle is answered with 161002, never with a crash.
 */
#ifndef ACLNN_ACL_META_H_
#define ACLNN_ACL_META_H_

#include <acl/acl_base.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#ifndef __cplusplus
#include <stdbool.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* acl/acl_base.h spells these lines too: keep both token-identical. */
#if defined(_MSC_VER)
#ifdef FUNC_VISIBILITY
#define ACL_FUNC_VISIBILITY _declspec(dllexport)
#else
#define ACL_FUNC_VISIBILITY
#endif
#else
#ifdef FUNC_VISIBILITY
#define ACL_FUNC_VISIBILITY __attribute__((visibility("default")))
#else
#define ACL_FUNC_VISIBILITY
#endif
#endif

/* A program may define ACLNN_META to bring its own declarations of these opaque types. */
#ifndef ACLNN_META
#define ACLNN_META
/** A view of device memory: shape, strides, offset, data type, format. */
typedef struct aclTensor aclTensor;
/** A number of any type, on the host. */
typedef struct aclScalar aclScalar;
/** An array of int64_t, on the host. */
typedef struct aclIntArray aclIntArray;
/** An array of float, on the host. */
typedef struct aclFloatArray aclFloatArray;
/** An array of bool, on the host. */
typedef struct aclBoolArray aclBoolArray;
/** A list of tensors, which it owns. */
typedef struct aclTensorList aclTensorList;
/** A list of scalars, which it owns. */
typedef struct aclScalarList aclScalarList;
/** The plan of one operator call, made by its first phase and run by its second. */
typedef struct aclOpExecutor aclOpExecutor;
#endif

/** Result of every aclnn function: 0 or one of the ACLNN_ERR_* codes. */
typedef int32_t aclnnStatus;

/** The successful result. */
#ifdef __cplusplus
constexpr aclnnStatus OK PYACLNN_UNUSED = 0;
#else
static const aclnnStatus OK PYACLNN_UNUSED = 0;
#endif

/* ---- Tensors --------------------------------------------------------------------------------- */

/**
 * Creates a tensor handle. Dimensions, strides and storage dimensions are copied; the data is not.
 * Element (i0, i1, ...) lives at tensorData + (offset + i0 * stride[0] + i1 * stride[1] + ...) *
 * element size.
 * @param viewDims shape, elements; NULL only if viewDimsNum is 0
 * @param viewDimsNum number of dimensions, 0 (one element) to 25
 * @param dataType element type
 * @param stride viewDimsNum strides in elements; NULL means contiguous
 * @param offset position of the first element from tensorData, in elements
 * @param format meaning of the axes, for the view and the storage
 * @param storageDims shape of the memory block, elements; NULL only if storageDimsNum is 0
 * @param storageDimsNum number of storage dimensions, 0 to 25
 * @param tensorData device address of the storage's base, stays the caller's; may be NULL and set
 *     later. 32-byte alignment is recommended
 * @return handle, owned by the caller until aclDestroyTensor() or until it belongs to a list; NULL
 *     for a NULL array with a non-zero count or for more than 25 dimensions
 */
ACL_FUNC_VISIBILITY aclTensor *aclCreateTensor(const int64_t *viewDims, uint64_t viewDimsNum,
                                               aclDataType dataType, const int64_t *stride,
                                               int64_t offset, aclFormat format,
                                               const int64_t *storageDims, uint64_t storageDimsNum,
                                               void *tensorData);

/**
 * Destroys a tensor handle, never the data. Work that was submitted with it is not affected.
 * @param tensor handle, may be NULL
 * @return 0; ACLNN_ERR_PARAM_INVALID (161002) for a dead or foreign handle
 */
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyTensor(const aclTensor *tensor);

/**
 * Gives the shape of the view.
 * @param tensor handle
 * @param viewDims [out] new array, never NULL on success; the caller releases it with delete[]
 *     (C++) or pyaclnnFreeDims() (any language, pyaclnn/debug.h)
 * @param viewDimsNum [out] number of entries
 * @return 0; ACLNN_ERR_PARAM_NULLPTR (161001) for NULL (nothing is written);
 *     ACLNN_ERR_PARAM_INVALID (161002) for a dead or foreign handle
 */
ACL_FUNC_VISIBILITY aclnnStatus aclGetViewShape(const aclTensor *tensor, int64_t **viewDims,
                                                uint64_t *viewDimsNum);

/**
 * Gives the shape of the storage.
 * @param tensor handle
 * @param storageDims [out] new array, released as in aclGetViewShape()
 * @param storageDimsNum [out] number of entries
 * @return 0; ACLNN_ERR_PARAM_NULLPTR (161001) for NULL (nothing is written);
 *     ACLNN_ERR_PARAM_INVALID (161002) for a dead or foreign handle
 */
ACL_FUNC_VISIBILITY aclnnStatus aclGetStorageShape(const aclTensor *tensor, int64_t **storageDims,
                                                   uint64_t *storageDimsNum);

/**
 * Gives the strides of the view, in elements.
 * @param tensor handle
 * @param stridesValue [out] new array, released as in aclGetViewShape()
 * @param stridesNum [out] number of entries
 * @return 0; ACLNN_ERR_PARAM_NULLPTR (161001) for NULL (nothing is written);
 *     ACLNN_ERR_PARAM_INVALID (161002) for a dead or foreign handle
 */
ACL_FUNC_VISIBILITY aclnnStatus aclGetViewStrides(const aclTensor *tensor, int64_t **stridesValue,
                                                  uint64_t *stridesNum);

/**
 * Gives the position of the first element from the base address, in elements.
 * @param tensor handle
 * @param offset [out] elements
 * @return 0; ACLNN_ERR_PARAM_NULLPTR (161001) for NULL (nothing is written);
 *     ACLNN_ERR_PARAM_INVALID (161002) for a dead or foreign handle
 */
ACL_FUNC_VISIBILITY aclnnStatus aclGetViewOffset(const aclTensor *tensor, int64_t *offset);

/**
 * Gives the format of the view.
 * @param tensor handle
 * @param format [out] format
 * @return 0; ACLNN_ERR_PARAM_NULLPTR (161001) for NULL (nothing is written);
 *     ACLNN_ERR_PARAM_INVALID (161002) for a dead or foreign handle
 */
ACL_FUNC_VISIBILITY aclnnStatus aclGetFormat(const aclTensor *tensor, aclFormat *format);

/**
 * Gives the element type.
 * @param tensor handle
 * @param dataType [out] element type
 * @return 0; ACLNN_ERR_PARAM_NULLPTR (161001) for NULL (nothing is written);
 *     ACLNN_ERR_PARAM_INVALID (161002) for a dead or foreign handle
 */
ACL_FUNC_VISIBILITY aclnnStatus aclGetDataType(const aclTensor *tensor, aclDataType *dataType);

/**
 * Gives an existing handle new properties. Data type, offset and format are always replaced; the
 * strides are replaced, NULL meaning contiguous.
 * @param tensor handle
 * @param viewDims new shape; NULL keeps the present one
 * @param viewDimsNum number of dimensions, at most 25
 * @param dataType new element type
 * @param stride viewDimsNum strides in elements, or NULL
 * @param offset new offset in elements
 * @param format new format
 * @param storageDims new storage shape; NULL keeps the present one
 * @param storageDimsNum number of storage dimensions, at most 25
 * @param tensorDataAddr new base address, stays the caller's; NULL keeps the present one
 * @return 0; ACLNN_ERR_PARAM_NULLPTR (161001) for a NULL handle; ACLNN_ERR_PARAM_INVALID (161002)
 *     for a dead or foreign handle
 */
ACL_FUNC_VISIBILITY aclnnStatus aclInitTensor(aclTensor *tensor, const int64_t *viewDims,
                                              uint64_t viewDimsNum, aclDataType dataType,
                                              const int64_t *stride, int64_t offset,
                                              aclFormat format, const int64_t *storageDims,
                                              uint64_t storageDimsNum, void *tensorDataAddr);

/**
 * Replaces the base address. Not to be used between the two phases of a call.
 * @param tensor handle
 * @param addr device address, may be NULL; stays the caller's
 * @return 0; ACLNN_ERR_PARAM_NULLPTR (161001) for a NULL handle; ACLNN_ERR_PARAM_INVALID (161002)
 *     for a dead or foreign handle
 */
ACL_FUNC_VISIBILITY aclnnStatus aclSetRawTensorAddr(aclTensor *tensor, void *addr);

/**
 * Gives the base address; the offset is not added.
 * @param tensor handle
 * @param addr [out] device address
 * @return 0; ACLNN_ERR_PARAM_NULLPTR (161001) for NULL (nothing is written);
 *     ACLNN_ERR_PARAM_INVALID (161002) for a dead or foreign handle
 */
ACL_FUNC_VISIBILITY aclnnStatus aclGetRawTensorAddr(const aclTensor *tensor, void **addr);

/* ---- Scalars --------------------------------------------------------------------------------- */

/**
 * Creates a scalar from a host value, which is copied.
 * @param value host address of a number of the given type
 * @param dataType any floating, integer, BOOL, COMPLEX64 or COMPLEX128 type; not STRING, INT4,
 *     UINT1, COMPLEX32, UNDEFINED
 * @return handle, owned by the caller until aclDestroyScalar() or until it belongs to a list; NULL
 *     for a NULL value or another type
 */
ACL_FUNC_VISIBILITY aclScalar *aclCreateScalar(void *value, aclDataType dataType);

/**
 * Destroys a scalar.
 * @param scalar handle, may be NULL
 * @return 0; ACLNN_ERR_PARAM_INVALID (161002) for a dead or foreign handle
 */
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyScalar(const aclScalar *scalar);

/* ---- Host arrays ----------------------------------------------------------------------------- */

/**
 * Creates an array of 64-bit integers; the values are copied. A NULL value or size 0 gives an empty
 * array, which is not the same for an operator as no array (NULL).
 * @param value size numbers on the host
 * @param size number of entries
 * @return handle, owned by the caller until aclDestroyIntArray()
 */
ACL_FUNC_VISIBILITY aclIntArray *aclCreateIntArray(const int64_t *value, uint64_t size);

/**
 * Creates an array of floats; the values are copied. A NULL value or size 0 gives an empty array.
 * @param value size numbers on the host
 * @param size number of entries
 * @return handle, owned by the caller until aclDestroyFloatArray()
 */
ACL_FUNC_VISIBILITY aclFloatArray *aclCreateFloatArray(const float *value, uint64_t size);

/**
 * Creates an array of bools; the values are copied. A NULL value or size 0 gives an empty array.
 * @param value size one-byte bools on the host
 * @param size number of entries
 * @return handle, owned by the caller until aclDestroyBoolArray()
 */
ACL_FUNC_VISIBILITY aclBoolArray *aclCreateBoolArray(const bool *value, uint64_t size);

/**
 * Destroys an array.
 * @param array handle, may be NULL
 * @return 0; ACLNN_ERR_PARAM_INVALID (161002) for a dead or foreign handle
 */
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyIntArray(const aclIntArray *array);

/**
 * Destroys an array.
 * @param array handle, may be NULL
 * @return 0; ACLNN_ERR_PARAM_INVALID (161002) for a dead or foreign handle
 */
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyFloatArray(const aclFloatArray *array);

/**
 * Destroys an array.
 * @param array handle, may be NULL
 * @return 0; ACLNN_ERR_PARAM_INVALID (161002) for a dead or foreign handle
 */
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyBoolArray(const aclBoolArray *array);

/**
 * Gives the number of entries.
 * @param array handle
 * @param size [out] number of entries
 * @return 0; ACLNN_ERR_PARAM_NULLPTR (161001) for NULL; ACLNN_ERR_PARAM_INVALID (161002) for a dead
 *     or foreign handle
 */
ACL_FUNC_VISIBILITY aclnnStatus aclGetIntArraySize(const aclIntArray *array, uint64_t *size);

/**
 * Gives the number of entries.
 * @param array handle
 * @param size [out] number of entries
 * @return 0; ACLNN_ERR_PARAM_NULLPTR (161001) for NULL; ACLNN_ERR_PARAM_INVALID (161002) for a dead
 *     or foreign handle
 */
ACL_FUNC_VISIBILITY aclnnStatus aclGetFloatArraySize(const aclFloatArray *array, uint64_t *size);

/**
 * Gives the number of entries.
 * @param array handle
 * @param size [out] number of entries
 * @return 0; ACLNN_ERR_PARAM_NULLPTR (161001) for NULL; ACLNN_ERR_PARAM_INVALID (161002) for a dead
 *     or foreign handle
 */
ACL_FUNC_VISIBILITY aclnnStatus aclGetBoolArraySize(const aclBoolArray *array, uint64_t *size);

/* ---- Lists ----------------------------------------------------------------------------------- */

/**
 * Creates a list of tensors. The handles are copied and from now on belong to the list:
 * aclDestroyTensorList() destroys them, nobody else should. A NULL value or size 0 gives an empty
 * list.
 * @param value size handles; entries may be NULL
 * @param size number of entries
 * @return handle, owned by the caller until aclDestroyTensorList()
 */
ACL_FUNC_VISIBILITY aclTensorList *aclCreateTensorList(const aclTensor *const *value,
                                                       uint64_t size);

/**
 * Creates a list of scalars, which from now on belong to the list. A NULL value or size 0 gives an
 * empty list.
 * @param value size handles; entries may be NULL
 * @param size number of entries
 * @return handle, owned by the caller until aclDestroyScalarList()
 */
ACL_FUNC_VISIBILITY aclScalarList *aclCreateScalarList(const aclScalar *const *value,
                                                       uint64_t size);

/**
 * Destroys a list and every tensor in it; members that are already dead are skipped.
 * @param array handle, may be NULL
 * @return 0; ACLNN_ERR_PARAM_INVALID (161002) for a dead or foreign handle
 */
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyTensorList(const aclTensorList *array);

/**
 * Destroys a list and every scalar in it; members that are already dead are skipped.
 * @param array handle, may be NULL
 * @return 0; ACLNN_ERR_PARAM_INVALID (161002) for a dead or foreign handle
 */
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyScalarList(const aclScalarList *array);

/**
 * Gives the number of entries, NULL entries included.
 * @param tensorList handle
 * @param size [out] number of entries
 * @return 0; ACLNN_ERR_PARAM_NULLPTR (161001) for NULL; ACLNN_ERR_PARAM_INVALID (161002) for a dead
 *     or foreign handle
 */
ACL_FUNC_VISIBILITY aclnnStatus aclGetTensorListSize(const aclTensorList *tensorList,
                                                     uint64_t *size);

/**
 * Gives the number of entries, NULL entries included.
 * @param scalarList handle
 * @param size [out] number of entries
 * @return 0; ACLNN_ERR_PARAM_NULLPTR (161001) for NULL; ACLNN_ERR_PARAM_INVALID (161002) for a dead
 *     or foreign handle
 */
ACL_FUNC_VISIBILITY aclnnStatus aclGetScalarListSize(const aclScalarList *scalarList,
                                                     uint64_t *size);

/* ---- Executors ------------------------------------------------------------------------------- */

/**
 * Makes an executor reusable: the second phase may then run any number of times, and the executor
 * lives until aclDestroyAclOpExecutor(). Call it right after the first phase. The tensors stay the
 * caller's and must outlive the executor. Without this call the second phase consumes the executor.
 * @param executor executor from a first phase
 * @return 0; ACLNN_ERR_INNER_NULLPTR (561103) for NULL; ACLNN_ERR_INNER (561000) if it cannot be
 *     repeated or is spent
 */
ACL_FUNC_VISIBILITY aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor *executor);

/**
 * Destroys an executor: a repeatable one, or a one-shot one that was never run.
 * @param executor executor
 * @return 0; ACLNN_ERR_INNER_NULLPTR (561103) for NULL; ACLNN_ERR_INNER (561000) for one that is
 *     spent, destroyed or foreign
 */
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor *executor);

/**
 * Makes the following runs of a repeatable executor use another base address for an input. The
 * tensor's offset is kept; work already submitted is not affected. AclSetInputTensorAddr is the
 * older name.
 * @param executor repeatable executor
 * @param index position among the inputs; the handle decides for the attention operators
 * @param tensor the tensor given to the first phase
 * @param addr new device address of the storage's base, stays the caller's
 * @return 0; ACLNN_ERR_INNER_NULLPTR (561103) for a NULL executor or tensor;
 *     ACLNN_ERR_PARAM_INVALID (161002) for an index out of range, or a dead or foreign handle
 */
ACL_FUNC_VISIBILITY aclnnStatus aclSetInputTensorAddr(aclOpExecutor *executor, const size_t index,
                                                      aclTensor *tensor, void *addr);
ACL_FUNC_VISIBILITY aclnnStatus AclSetInputTensorAddr(aclOpExecutor *executor, const size_t index,
                                                      aclTensor *tensor, void *addr);

/**
 * The same for an output. AclSetOutputTensorAddr is the older name.
 * @param executor repeatable executor
 * @param index position among the outputs; the handle decides for the attention operators
 * @param tensor the tensor given to the first phase
 * @param addr new device address of the storage's base, stays the caller's
 * @return as aclSetInputTensorAddr()
 */
ACL_FUNC_VISIBILITY aclnnStatus aclSetOutputTensorAddr(aclOpExecutor *executor, const size_t index,
                                                       aclTensor *tensor, void *addr);
ACL_FUNC_VISIBILITY aclnnStatus AclSetOutputTensorAddr(aclOpExecutor *executor, const size_t index,
                                                       aclTensor *tensor, void *addr);

/**
 * The same for an input or output. AclSetTensorAddr is the older name.
 * @param executor repeatable executor
 * @param index position over inputs followed by outputs: list members count singly, absent optional
 *     tensors keep their place; the handle decides for the attention operators
 * @param tensor the tensor given to the first phase
 * @param addr new device address of the storage's base, stays the caller's
 * @return as aclSetInputTensorAddr()
 */
ACL_FUNC_VISIBILITY aclnnStatus aclSetTensorAddr(aclOpExecutor *executor, const size_t index,
                                                 aclTensor *tensor, void *addr);
ACL_FUNC_VISIBILITY aclnnStatus AclSetTensorAddr(aclOpExecutor *executor, const size_t index,
                                                 aclTensor *tensor, void *addr);

/**
 * The same for a member of an input list. AclSetDynamicInputTensorAddr is the older name.
 * @param executor repeatable executor
 * @param irIndex which argument the list is, counted over the inputs
 * @param relativeIndex position in the list
 * @param tensors the list given to the first phase
 * @param addr new device address of the storage's base, stays the caller's
 * @return 0; ACLNN_ERR_INNER_NULLPTR (561103) for a NULL executor, list or member;
 *     ACLNN_ERR_PARAM_INVALID (161002) for a position out of range, or a dead or foreign handle
 */
ACL_FUNC_VISIBILITY aclnnStatus aclSetDynamicInputTensorAddr(aclOpExecutor *executor,
                                                             size_t irIndex,
                                                             const size_t relativeIndex,
                                                             aclTensorList *tensors, void *addr);
ACL_FUNC_VISIBILITY aclnnStatus AclSetDynamicInputTensorAddr(aclOpExecutor *executor,
                                                             size_t irIndex,
                                                             const size_t relativeIndex,
                                                             aclTensorList *tensors, void *addr);

/**
 * The same for a member of an output list. AclSetDynamicOutputTensorAddr is the older name.
 * @param executor repeatable executor
 * @param irIndex which argument the list is, counted over the outputs
 * @param relativeIndex position in the list
 * @param tensors the list given to the first phase
 * @param addr new device address of the storage's base, stays the caller's
 * @return as aclSetDynamicInputTensorAddr()
 */
ACL_FUNC_VISIBILITY aclnnStatus aclSetDynamicOutputTensorAddr(aclOpExecutor *executor,
                                                              size_t irIndex,
                                                              const size_t relativeIndex,
                                                              aclTensorList *tensors, void *addr);
ACL_FUNC_VISIBILITY aclnnStatus AclSetDynamicOutputTensorAddr(aclOpExecutor *executor,
                                                              size_t irIndex,
                                                              const size_t relativeIndex,
                                                              aclTensorList *tensors, void *addr);

/**
 * The same for a member of an input or output list. AclSetDynamicTensorAddr is the older name.
 * @param executor repeatable executor
 * @param irIndex which argument the list is, counted over inputs followed by outputs
 * @param relativeIndex position in the list
 * @param tensors the list given to the first phase
 * @param addr new device address of the storage's base, stays the caller's
 * @return as aclSetDynamicInputTensorAddr()
 */
ACL_FUNC_VISIBILITY aclnnStatus aclSetDynamicTensorAddr(aclOpExecutor *executor, size_t irIndex,
                                                        const size_t relativeIndex,
                                                        aclTensorList *tensors, void *addr);
ACL_FUNC_VISIBILITY aclnnStatus AclSetDynamicTensorAddr(aclOpExecutor *executor, size_t irIndex,
                                                        const size_t relativeIndex,
                                                        aclTensorList *tensors, void *addr);

#ifdef __cplusplus
}
#endif

#endif /* ACLNN_ACL_META_H_ */
