/**
 * Base of the AscendCL interface: scalar and handle types, data types and formats, result codes,
 * and the helpers that need no device.
 *
 * Unless a function says otherwise, 0 means success and every failure leaves a text for
 * aclGetRecentErrMsg(). All functions may be called from any thread.
 */
#ifndef ACL_ACL_BASE_H_
#define ACL_ACL_BASE_H_

#include <stddef.h>
#include <stdint.h>

#include "error_codes/ge_error_codes.h"
#include "error_codes/rt_error_codes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* aclnn/acl_meta.h spells these lines again: keep both token-identical. */
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

/* Deprecation attributes for callers' own declarations. */
#ifdef PYACLNN_CDEF
#define ACL_DEPRECATED
#define ACL_DEPRECATED_MESSAGE(message)
#elif defined(__GNUC__)
#define ACL_DEPRECATED __attribute__((deprecated))
#define ACL_DEPRECATED_MESSAGE(message) __attribute__((deprecated(message)))
#elif defined(_MSC_VER)
#define ACL_DEPRECATED __declspec(deprecated)
#define ACL_DEPRECATED_MESSAGE(message) __declspec(deprecated(message))
#else
#define ACL_DEPRECATED
#define ACL_DEPRECATED_MESSAGE(message)
#endif

/** Number of bounds of one axis in a shape or value range of a tensor description. */
#define ACL_TENSOR_SHAPE_RANGE_NUM 2
#define ACL_TENSOR_VALUE_RANGE_NUM 2
/** Number of dimensions of a tensor description whose rank is unknown. */
#define ACL_UNKNOWN_RANK 0xFFFFFFFFFFFFFFFE

/** Result of every acl function: 0 or one of the ACL_ERROR_* codes. */
typedef int aclError;
/** Ordered queue of work; NULL stands for the default stream of the current context. */
typedef void *aclrtStream;
/** Mark inside a stream. */
typedef void *aclrtEvent;
/** Environment of a device: its default stream, its streams and options. */
typedef void *aclrtContext;
/** Bits of an IEEE 754 binary16 number. */
typedef uint16_t aclFloat16;

/** Address and size of a block of memory, see aclCreateDataBuffer(). */
typedef struct aclDataBuffer aclDataBuffer;
/** Description of a tensor, see aclCreateTensorDesc(). */
typedef struct aclTensorDesc aclTensorDesc;

/*
 * Result codes of the AscendCL layer. First digit: 1 wrong use, 2 environment or resource,
 * 3 limit, 5 internal. They are constants, not macros, hence no case labels in C.
 */
static const int ACL_ERROR_NONE PYACLNN_UNUSED = 0;
static const int ACL_SUCCESS PYACLNN_UNUSED = 0;
static const int ACL_ERROR_INVALID_PARAM PYACLNN_UNUSED = 100000;
static const int ACL_ERROR_UNINITIALIZE PYACLNN_UNUSED = 100001;
static const int ACL_ERROR_REPEAT_INITIALIZE PYACLNN_UNUSED = 100002;
static const int ACL_ERROR_INVALID_FILE PYACLNN_UNUSED = 100003;
static const int ACL_ERROR_WRITE_FILE PYACLNN_UNUSED = 100004;
static const int ACL_ERROR_INVALID_FILE_SIZE PYACLNN_UNUSED = 100005;
static const int ACL_ERROR_PARSE_FILE PYACLNN_UNUSED = 100006;
static const int ACL_ERROR_FILE_MISSING_ATTR PYACLNN_UNUSED = 100007;
static const int ACL_ERROR_FILE_ATTR_INVALID PYACLNN_UNUSED = 100008;
static const int ACL_ERROR_INVALID_DUMP_CONFIG PYACLNN_UNUSED = 100009;
static const int ACL_ERROR_INVALID_PROFILING_CONFIG PYACLNN_UNUSED = 100010;
static const int ACL_ERROR_INVALID_MODEL_ID PYACLNN_UNUSED = 100011;
static const int ACL_ERROR_DESERIALIZE_MODEL PYACLNN_UNUSED = 100012;
static const int ACL_ERROR_PARSE_MODEL PYACLNN_UNUSED = 100013;
static const int ACL_ERROR_READ_MODEL_FAILURE PYACLNN_UNUSED = 100014;
static const int ACL_ERROR_MODEL_SIZE_INVALID PYACLNN_UNUSED = 100015;
static const int ACL_ERROR_MODEL_MISSING_ATTR PYACLNN_UNUSED = 100016;
static const int ACL_ERROR_MODEL_INPUT_NOT_MATCH PYACLNN_UNUSED = 100017;
static const int ACL_ERROR_MODEL_OUTPUT_NOT_MATCH PYACLNN_UNUSED = 100018;
static const int ACL_ERROR_MODEL_NOT_DYNAMIC PYACLNN_UNUSED = 100019;
static const int ACL_ERROR_OP_TYPE_NOT_MATCH PYACLNN_UNUSED = 100020;
static const int ACL_ERROR_OP_INPUT_NOT_MATCH PYACLNN_UNUSED = 100021;
static const int ACL_ERROR_OP_OUTPUT_NOT_MATCH PYACLNN_UNUSED = 100022;
static const int ACL_ERROR_OP_ATTR_NOT_MATCH PYACLNN_UNUSED = 100023;
static const int ACL_ERROR_OP_NOT_FOUND PYACLNN_UNUSED = 100024;
static const int ACL_ERROR_OP_LOAD_FAILED PYACLNN_UNUSED = 100025;
static const int ACL_ERROR_UNSUPPORTED_DATA_TYPE PYACLNN_UNUSED = 100026;
static const int ACL_ERROR_FORMAT_NOT_MATCH PYACLNN_UNUSED = 100027;
static const int ACL_ERROR_BIN_SELECTOR_NOT_REGISTERED PYACLNN_UNUSED = 100028;
static const int ACL_ERROR_KERNEL_NOT_FOUND PYACLNN_UNUSED = 100029;
static const int ACL_ERROR_BIN_SELECTOR_ALREADY_REGISTERED PYACLNN_UNUSED = 100030;
static const int ACL_ERROR_KERNEL_ALREADY_REGISTERED PYACLNN_UNUSED = 100031;
static const int ACL_ERROR_INVALID_QUEUE_ID PYACLNN_UNUSED = 100032;
static const int ACL_ERROR_REPEAT_SUBSCRIBE PYACLNN_UNUSED = 100033;
static const int ACL_ERROR_STREAM_NOT_SUBSCRIBE PYACLNN_UNUSED = 100034;
static const int ACL_ERROR_THREAD_NOT_SUBSCRIBE PYACLNN_UNUSED = 100035;
static const int ACL_ERROR_WAIT_CALLBACK_TIMEOUT PYACLNN_UNUSED = 100036;
static const int ACL_ERROR_REPEAT_FINALIZE PYACLNN_UNUSED = 100037;
static const int ACL_ERROR_NOT_STATIC_AIPP PYACLNN_UNUSED = 100038;
static const int ACL_ERROR_COMPILING_STUB_MODE PYACLNN_UNUSED = 100039;
static const int ACL_ERROR_GROUP_NOT_SET PYACLNN_UNUSED = 100040;
static const int ACL_ERROR_GROUP_NOT_CREATE PYACLNN_UNUSED = 100041;
static const int ACL_ERROR_PROF_ALREADY_RUN PYACLNN_UNUSED = 100042;
static const int ACL_ERROR_PROF_NOT_RUN PYACLNN_UNUSED = 100043;
static const int ACL_ERROR_DUMP_ALREADY_RUN PYACLNN_UNUSED = 100044;
static const int ACL_ERROR_DUMP_NOT_RUN PYACLNN_UNUSED = 100045;
static const int ACL_ERROR_PROF_REPEAT_SUBSCRIBE PYACLNN_UNUSED = 148046;
static const int ACL_ERROR_PROF_API_CONFLICT PYACLNN_UNUSED = 148047;
static const int ACL_ERROR_INVALID_MAX_OPQUEUE_NUM_CONFIG PYACLNN_UNUSED = 148048;
static const int ACL_ERROR_INVALID_OPP_PATH PYACLNN_UNUSED = 148049;
static const int ACL_ERROR_OP_UNSUPPORTED_DYNAMIC PYACLNN_UNUSED = 148050;
static const int ACL_ERROR_RELATIVE_RESOURCE_NOT_CLEARED PYACLNN_UNUSED = 148051;
static const int ACL_ERROR_UNSUPPORTED_JPEG PYACLNN_UNUSED = 148052;
static const int ACL_ERROR_INVALID_BUNDLE_MODEL_ID PYACLNN_UNUSED = 148053;
static const int ACL_ERROR_BAD_ALLOC PYACLNN_UNUSED = 200000;
static const int ACL_ERROR_API_NOT_SUPPORT PYACLNN_UNUSED = 200001;
static const int ACL_ERROR_INVALID_DEVICE PYACLNN_UNUSED = 200002;
static const int ACL_ERROR_MEMORY_ADDRESS_UNALIGNED PYACLNN_UNUSED = 200003;
static const int ACL_ERROR_RESOURCE_NOT_MATCH PYACLNN_UNUSED = 200004;
static const int ACL_ERROR_INVALID_RESOURCE_HANDLE PYACLNN_UNUSED = 200005;
static const int ACL_ERROR_FEATURE_UNSUPPORTED PYACLNN_UNUSED = 200006;
static const int ACL_ERROR_PROF_MODULES_UNSUPPORTED PYACLNN_UNUSED = 200007;
static const int ACL_ERROR_STORAGE_OVER_LIMIT PYACLNN_UNUSED = 300000;
static const int ACL_ERROR_INTERNAL_ERROR PYACLNN_UNUSED = 500000;
static const int ACL_ERROR_FAILURE PYACLNN_UNUSED = 500001;
static const int ACL_ERROR_GE_FAILURE PYACLNN_UNUSED = 500002;
static const int ACL_ERROR_RT_FAILURE PYACLNN_UNUSED = 500003;
static const int ACL_ERROR_DRV_FAILURE PYACLNN_UNUSED = 500004;
static const int ACL_ERROR_PROFILING_FAILURE PYACLNN_UNUSED = 500005;

/** Element types. Values that are missing here are unused. */
typedef enum aclDataType {
  ACL_DT_UNDEFINED = -1,
  ACL_FLOAT = 0,
  ACL_FLOAT16 = 1,
  ACL_INT8 = 2,
  ACL_INT32 = 3,
  ACL_UINT8 = 4,
  ACL_INT16 = 6,
  ACL_UINT16 = 7,
  ACL_UINT32 = 8,
  ACL_INT64 = 9,
  ACL_UINT64 = 10,
  ACL_DOUBLE = 11,
  ACL_BOOL = 12,
  ACL_STRING = 13,
  ACL_COMPLEX64 = 16,
  ACL_COMPLEX128 = 17,
  ACL_BF16 = 27,
  ACL_INT4 = 29,
  ACL_UINT1 = 30,
  ACL_COMPLEX32 = 33,
  ACL_HIFLOAT8 = 34,
  ACL_FLOAT8_E5M2 = 35,
  ACL_FLOAT8_E4M3FN = 36,
  ACL_FLOAT8_E8M0 = 37,
  ACL_FLOAT6_E3M2 = 38,
  ACL_FLOAT6_E2M3 = 39,
  ACL_FLOAT4_E2M1 = 40,
  ACL_FLOAT4_E1M2 = 41
} aclDataType;

/**
 * Meaning of the axes of a tensor. The attention operators treat ND, NCHW, NHWC, NCDHW and NCL
 * alike.
 */
typedef enum aclFormat {
  ACL_FORMAT_UNDEFINED = -1,
  ACL_FORMAT_NCHW = 0,
  ACL_FORMAT_NHWC = 1,
  ACL_FORMAT_ND = 2,
  ACL_FORMAT_NC1HWC0 = 3,
  ACL_FORMAT_FRACTAL_Z = 4,
  ACL_FORMAT_NC1HWC0_C04 = 12,
  ACL_FORMAT_HWCN = 16,
  ACL_FORMAT_NDHWC = 27,
  ACL_FORMAT_FRACTAL_NZ = 29,
  ACL_FORMAT_NCDHW = 30,
  ACL_FORMAT_NDC1HWC0 = 32,
  ACL_FRACTAL_Z_3D = 33,
  ACL_FORMAT_NC = 35,
  ACL_FORMAT_NCL = 47,
  ACL_FORMAT_FRACTAL_NZ_C0_16 = 50,
  ACL_FORMAT_FRACTAL_NZ_C0_32 = 51,
  ACL_FORMAT_FRACTAL_NZ_C0_2 = 52,
  ACL_FORMAT_FRACTAL_NZ_C0_4 = 53,
  ACL_FORMAT_FRACTAL_NZ_C0_8 = 54
} aclFormat;

/** Severity of a log line. */
typedef enum aclLogLevel {
  ACL_DEBUG = 0,
  ACL_INFO = 1,
  ACL_WARNING = 2,
  ACL_ERROR = 3
} aclLogLevel;

/** Where the data of a tensor description lives. */
typedef enum aclMemType {
  ACL_MEMTYPE_DEVICE = 0,
  ACL_MEMTYPE_HOST = 1,
  ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT = 2
} aclMemType;

/** System options, see aclrtSetSysParamOpt(). ACL_OPT_STRONG_CONSISTENCY is deprecated. */
typedef enum aclSysParamOpt {
  ACL_OPT_DETERMINISTIC = 0,
  ACL_OPT_ENABLE_DEBUG_KERNEL = 1,
  ACL_OPT_STRONG_CONSISTENCY = 2,
  ACL_OPT_ENABLE_KERNEL_EARLY_START = 3
} aclSysParamOpt;

/** Properties of the platform, see aclGetCannAttribute(). */
typedef enum aclCannAttr {
  ACL_CANN_ATTR_UNDEFINED = -1,
  ACL_CANN_ATTR_INF_NAN = 0,
  ACL_CANN_ATTR_BF16 = 1,
  ACL_CANN_ATTR_JIT_COMPILE = 2
} aclCannAttr;

/** Properties of a device, see aclGetDeviceCapability(). */
typedef enum aclDeviceInfo {
  ACL_DEVICE_INFO_UNDEFINED = -1,
  ACL_DEVICE_INFO_AI_CORE_NUM = 0,
  ACL_DEVICE_INFO_VECTOR_CORE_NUM = 1,
  ACL_DEVICE_INFO_L2_SIZE = 2
} aclDeviceInfo;

/**
 * Gives the size of one element. The 4-bit and 1-bit integer types count as one byte.
 * @param dataType element type
 * @return size in bytes; 0 for ACL_STRING and ACL_DT_UNDEFINED, 8 for unlisted values
 */
ACL_FUNC_VISIBILITY size_t aclDataTypeSize(aclDataType dataType);

/**
 * Converts to binary16, round to nearest even. Too large values become infinite; infinity and NaN
 * are kept.
 * @param value number to convert
 * @return bits of the binary16 number
 */
ACL_FUNC_VISIBILITY aclFloat16 aclFloatToFloat16(float value);

/**
 * Converts binary16 to float. The conversion is exact.
 * @param value bits of a binary16 number
 * @return the same number as float
 */
ACL_FUNC_VISIBILITY float aclFloat16ToFloat(aclFloat16 value);

/**
 * Makes a record of an address and a size. Neither is checked, nothing is copied.
 * @param data start of the block, may be NULL; stays the caller's
 * @param size bytes
 * @return handle, owned by the caller until aclDestroyDataBuffer(); NULL if no memory is left
 */
ACL_FUNC_VISIBILITY aclDataBuffer *aclCreateDataBuffer(void *data, size_t size);

/**
 * Destroys the record only, never the block it names.
 * @param dataBuffer handle from aclCreateDataBuffer()
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL
 */
ACL_FUNC_VISIBILITY aclError aclDestroyDataBuffer(const aclDataBuffer *dataBuffer);

/**
 * Gives the address of the block.
 * @param dataBuffer handle, may be NULL
 * @return the address; NULL for a NULL handle
 */
ACL_FUNC_VISIBILITY void *aclGetDataBufferAddr(const aclDataBuffer *dataBuffer);

/**
 * Gives the low 32 bits of the block's size. Deprecated, use aclGetDataBufferSizeV2().
 * @param dataBuffer handle, may be NULL
 * @return size in bytes; 0 for a NULL handle
 */
ACL_FUNC_VISIBILITY uint32_t aclGetDataBufferSize(const aclDataBuffer *dataBuffer);

/**
 * Gives the size of the block.
 * @param dataBuffer handle, may be NULL
 * @return size in bytes; 0 for a NULL handle
 */
ACL_FUNC_VISIBILITY size_t aclGetDataBufferSizeV2(const aclDataBuffer *dataBuffer);

/**
 * Replaces address and size of a record.
 * @param dataBuffer handle
 * @param data new start of the block, may be NULL; stays the caller's
 * @param size new size in bytes
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for a NULL handle
 */
ACL_FUNC_VISIBILITY aclError aclUpdateDataBuffer(aclDataBuffer *dataBuffer, void *data,
                                                 size_t size);

/**
 * Describes a tensor of the operator interface that came before aclnn. No data belongs to it.
 * @param dataType element type
 * @param numDims number of dimensions, 0 to 128
 * @param dims numDims dimensions, copied; may be NULL for 0
 * @param format meaning of the axes
 * @return handle, owned by the caller until aclDestroyTensorDesc(); NULL with a text for other
 *     dimensions, or if no memory is left
 */
ACL_FUNC_VISIBILITY aclTensorDesc *aclCreateTensorDesc(aclDataType dataType, int numDims,
                                                       const int64_t *dims, aclFormat format);

/**
 * Destroys a tensor description.
 * @param desc handle; NULL and dead handles are ignored, the latter with a text
 */
ACL_FUNC_VISIBILITY void aclDestroyTensorDesc(const aclTensorDesc *desc);

/**
 * Gives the element type of a tensor description.
 * @param desc handle
 * @return element type; ACL_DT_UNDEFINED with a text for NULL or a dead handle
 */
ACL_FUNC_VISIBILITY aclDataType aclGetTensorDescType(const aclTensorDesc *desc);

/**
 * Gives the format of a tensor description.
 * @param desc handle
 * @return format; ACL_FORMAT_UNDEFINED with a text for NULL or a dead handle
 */
ACL_FUNC_VISIBILITY aclFormat aclGetTensorDescFormat(const aclTensorDesc *desc);

/**
 * Gives the number of elements times the size of one.
 * @param desc handle
 * @return bytes; 0 with a text for NULL, a dead handle, or dimensions that are not known
 */
ACL_FUNC_VISIBILITY size_t aclGetTensorDescSize(const aclTensorDesc *desc);

/**
 * Gives the product of the dimensions, 1 without any.
 * @param desc handle
 * @return number of elements; 0 with a text for NULL, a dead handle, or dimensions that are not
 *     known
 */
ACL_FUNC_VISIBILITY size_t aclGetTensorDescElementCount(const aclTensorDesc *desc);

/**
 * Gives the number of dimensions of a tensor description.
 * @param desc handle
 * @return number of dimensions, ACL_UNKNOWN_RANK for the one dimension -2; 0 with a text for NULL
 *     or a dead handle
 */
ACL_FUNC_VISIBILITY size_t aclGetTensorDescNumDims(const aclTensorDesc *desc);

/**
 * Gives one dimension. Deprecated, use aclGetTensorDescDimV2().
 * @param desc handle
 * @param index axis
 * @return the dimension; -1 with a text for NULL, a dead handle, or an axis that does not exist
 */
ACL_FUNC_VISIBILITY int64_t aclGetTensorDescDim(const aclTensorDesc *desc, size_t index);

/**
 * Gives one dimension.
 * @param desc handle
 * @param index axis
 * @param dimSize [out] the dimension, -1 when it is not known
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL, a dead handle, or an axis that does not
 *     exist
 */
ACL_FUNC_VISIBILITY aclError aclGetTensorDescDimV2(const aclTensorDesc *desc, size_t index,
                                                   int64_t *dimSize);

/**
 * Gives the name of a tensor description.
 * @param desc handle
 * @return the name, "" when it has none, NULL with a text for NULL or a dead handle; valid as long
 *     as the description lives and is not named again
 */
ACL_FUNC_VISIBILITY const char *aclGetTensorDescName(aclTensorDesc *desc);

/**
 * Names a tensor description.
 * @param desc handle; NULL and dead handles are ignored with a text
 * @param name at most 511 characters, copied; NULL for none. A longer one is refused with a text
 */
ACL_FUNC_VISIBILITY void aclSetTensorDescName(aclTensorDesc *desc, const char *name);

/**
 * Replaces the format that data has where it is computed.
 * @param desc handle
 * @param format meaning of the axes
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL or a dead handle
 */
ACL_FUNC_VISIBILITY aclError aclSetTensorFormat(aclTensorDesc *desc, aclFormat format);

/**
 * Replaces the shape that data has where it is computed. The getters go on to give the shape of
 * creation.
 * @param desc handle
 * @param numDims number of dimensions, 0 to 128
 * @param dims numDims dimensions, copied; may be NULL for 0
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL, a dead handle, or other dimensions
 */
ACL_FUNC_VISIBILITY aclError aclSetTensorShape(aclTensorDesc *desc, int numDims,
                                               const int64_t *dims);

/**
 * Tells where the data of a tensor lives.
 * @param desc handle
 * @param memType device or host
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL, a dead handle, or another place
 */
ACL_FUNC_VISIBILITY aclError aclSetTensorPlaceMent(aclTensorDesc *desc, aclMemType memType);

/**
 * Gives the name of the emulated chip, for example "Ascend910B3"; PYACLNN_PRODUCT selects another
 * one.
 * @return static string, never NULL, not to be freed
 */
ACL_FUNC_VISIBILITY const char *aclrtGetSocName(void);

/**
 * Reads a property of a device.
 * @param deviceId device number, 0 to count - 1
 * @param deviceInfo which property
 * @param value [out] number of cores, or bytes for ACL_DEVICE_INFO_L2_SIZE
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for a device that does not exist, an unknown
 *     property, or NULL
 */
ACL_FUNC_VISIBILITY aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo,
                                                    int64_t *value);

/**
 * Tells whether the platform has a property.
 * @param cannAttr which property
 * @param value [out] 1 yes, 0 no
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for an unknown property or NULL
 */
ACL_FUNC_VISIBILITY aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t *value);

/**
 * Lists the properties that the platform has.
 * @param cannAttrList [out] static array, not to be freed
 * @param num [out] number of entries
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL
 */
ACL_FUNC_VISIBILITY aclError aclGetCannAttributeList(const aclCannAttr **cannAttrList, size_t *num);

/**
 * Writes a line of the application into the log, printf style. The level filter is
 * ASCEND_GLOBAL_LOG_LEVEL (0 debug, 1 info, 2 warning, 3 error, 4 none; default 3);
 * ASCEND_SLOG_PRINT_TO_STDOUT=1 prints to the standard output. Nothing happens if func, file or fmt
 * is NULL.
 * @param logLevel severity
 * @param func name of the calling function
 * @param file name of the source file
 * @param line number of the source line
 * @param fmt printf format of the arguments that follow
 */
ACL_FUNC_VISIBILITY void aclAppLog(aclLogLevel logLevel, const char *func, const char *file,
                                   uint32_t line, const char *fmt, ...);

#ifdef __cplusplus
}
#endif

#endif /* ACL_ACL_BASE_H_ */
