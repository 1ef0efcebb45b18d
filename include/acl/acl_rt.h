/**
 * AscendCL runtime: initialisation, devices, contexts, streams, events, memory, virtual memory,
 * host callbacks, graph capture.
 *
 * Rules for all functions, unless one says otherwise:
 *  - 0 means success. ACL_ERROR_INVALID_PARAM (100000) answers a NULL output or required pointer
 *    and a size of 0 where bytes are needed. Every failure leaves a text for aclGetRecentErrMsg().
 *  - Functions that need a device answer ACL_ERROR_RT_CONTEXT_NULL (107002) on a thread without
 *    aclrtSetDevice() or aclrtSetCurrentContext(). Handles that were destroyed or are of another
 *    kind answer ACL_ERROR_RT_INVALID_HANDLE (107017).
 *  - A NULL stream is the default stream of the current context, except where streams are
 *    destroyed or captured.
 *  - Success of an asynchronous call means "submitted". A task that fails later is reported by the
 *    next synchronising call on its stream or device, as ACL_ERROR_RT_AICORE_EXCEPTION (507015).
 *  - Time limits are in milliseconds; -1 waits for ever.
 *  - Device memory is ordinary host memory here, but programs that want to run on a device as well
 *    should copy with the functions below.
 */
#ifndef ACL_ACL_RT_H_
#define ACL_ACL_RT_H_

#include <stddef.h>
#include <stdint.h>
#ifndef __cplusplus
#include <stdbool.h>
#endif

#include "acl_base.h"
#include "acl_rt_allocator.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Constants ------------------------------------------------------------------------------- */

/* Flags of aclrtCreateEventWithFlag() and aclrtCreateEventExWithFlag(). */
#define ACL_EVENT_SYNC 0x00000001U
#define ACL_EVENT_CAPTURE_STREAM_PROGRESS 0x00000002U
#define ACL_EVENT_TIME_LINE 0x00000008U
#define ACL_EVENT_DEVICE_USE_ONLY 0x00000010U
#define ACL_EVENT_EXTERNAL 0x00000020U
#define ACL_EVENT_IPC 0x00000040U

/* Flags of aclrtCreateStreamWithConfig(). */
#define ACL_STREAM_FAST_LAUNCH 0x00000001U
#define ACL_STREAM_FAST_SYNC 0x00000002U
#define ACL_STREAM_PERSISTENT 0x00000004U
#define ACL_STREAM_HUGE 0x00000008U
#define ACL_STREAM_CPU_SCHEDULE 0x00000010U
#define ACL_STREAM_DEVICE_USE_ONLY 0x00000020U

/* Modes of aclrtSetStreamFailureMode(). */
#define ACL_CONTINUE_ON_FAILURE 0x00000000U
#define ACL_STOP_ON_FAILURE 0x00000001U

/* Conditions of aclrtValueWait(). */
#define ACL_STREAM_WAIT_VALUE_GEQ 0x00000000U
#define ACL_STREAM_WAIT_VALUE_EQ 0x00000001U
#define ACL_STREAM_WAIT_VALUE_AND 0x00000002U
#define ACL_STREAM_WAIT_VALUE_NOR 0x00000003U

/* Flags of aclrtHostRegisterV2(). */
#define ACL_HOST_REG_MAPPED 0x00000002U
#define ACL_HOST_REG_IOMEMORY 0x00000004U
#define ACL_HOST_REG_READONLY 0x00000008U
#define ACL_HOST_REG_PINNED 0x10000000U

/* Flags of functions that newer releases have; the functions do not exist here. */
#define ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT 0x0U
#define ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION 0x1U
#define ACL_RT_IPC_MEM_IMPORT_FLAG_DEFAULT 0x0U
#define ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS 0x1U
#define ACL_RT_VMM_EXPORT_FLAG_DEFAULT 0x0U
#define ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION 0x1U
#define ACL_EVENT_RECORD_DEFAULT 0x0U
#define ACL_EVENT_RECORD_EXTERNAL 0x1U
#define ACL_EVENT_WAIT_DEFAULT 0x0U
#define ACL_EVENT_WAIT_EXTERNAL 0x1U
#define ACL_MDLRI_DEBUG_JSON_PRINT_SUMMARY 0U
#define ACL_MDLRI_DEBUG_JSON_PRINT_VERBOSE 1U
#define ACL_DEV_FEATURE_SUPPORT 0x00000001
#define ACL_DEV_FEATURE_NOT_SUPPORT 0x00000000
#define ACL_RT_BINARY_MAGIC_ELF_AICORE 0x43554245U
#define ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE 0x41415246U
#define ACL_RT_BINARY_MAGIC_ELF_CUBE_CORE 0x41494343U

/* Sizes of arrays in the structures below. */
#define ACL_PKG_VERSION_MAX_SIZE 128
#define ACL_PKG_VERSION_PARTS_MAX_SIZE 64
#define MAX_MEM_UCE_INFO_ARRAY_SIZE 128
#define UCE_INFO_RESERVED_SIZE 14
#define ACL_RT_MEM_UCE_INFO_MAX_NUM 20
#define ACL_IPC_EVENT_HANDLE_SIZE 64

/* ---- Handles and callbacks ------------------------------------------------------------------- */

/** Tasks of a captured graph that can be replaced together. */
typedef void *aclrtTaskGrp;
/** Physical memory, see aclrtMallocPhysical(). */
typedef void *aclrtDrvMemHandle;
/** A captured graph. */
typedef void *aclmdlRI;
/** A task of a captured graph. */
typedef void *aclmdlRITask;
/** A condition of a captured graph. */
typedef void *aclmdlRICondHandle;
/* Kernels, their arguments, and objects of functions that do not exist here. */
typedef void *aclrtBinary;
typedef void *aclrtBinHandle;
typedef void *aclrtFuncHandle;
typedef void *aclrtArgsHandle;
typedef void *aclrtParamHandle;
typedef void *aclrtNotify;
typedef void *aclrtCntNotify;
typedef void *aclrtLabel;
typedef void *aclrtLabelList;
typedef void *aclrtMbuf;
typedef void *aclrtMemPool;

/** Groups of cores. */
typedef struct tagRtGroupInfo aclrtGroupInfo;
/** Description of a failed task. */
typedef struct rtExceptionInfo aclrtExceptionInfo;
/** Reserved: further utilisation figures. */
typedef struct aclrtUtilizationExtendInfo aclrtUtilizationExtendInfo;

/** Host function started by aclrtLaunchCallback(). */
typedef void (*aclrtCallback)(void *userData);
/** Host function started by aclrtLaunchHostFunc(). */
typedef void (*aclrtHostFunc)(void *args);
/** Host function called when a task fails. */
typedef void (*aclrtExceptionInfoCallback)(aclrtExceptionInfo *exceptionInfo);

/* ---- Enumerations ---------------------------------------------------------------------------- */

/** Where the program runs. Host is 1. */
typedef enum aclrtRunMode { ACL_DEVICE = 0, ACL_HOST = 1 } aclrtRunMode;

/** Task schedulers of a device. */
typedef enum aclrtTsId {
  ACL_TS_ID_AICORE = 0,
  ACL_TS_ID_AIVECTOR = 1,
  ACL_TS_ID_RESERVED = 2
} aclrtTsId;

/** State of an event, aclrtQueryEvent(). Complete is 0, unlike aclrtEventRecordedStatus. */
typedef enum aclrtEventStatus {
  ACL_EVENT_STATUS_COMPLETE = 0,
  ACL_EVENT_STATUS_NOT_READY = 1,
  ACL_EVENT_STATUS_RESERVED = 2
} aclrtEventStatus;

/** State of an event, aclrtQueryEventStatus(). Complete is 1, unlike aclrtEventStatus. */
typedef enum aclrtEventRecordedStatus {
  ACL_EVENT_RECORDED_STATUS_NOT_READY = 0,
  ACL_EVENT_RECORDED_STATUS_COMPLETE = 1
} aclrtEventRecordedStatus;

/** State of an event, aclrtQueryEventWaitStatus(). */
typedef enum aclrtEventWaitStatus {
  ACL_EVENT_WAIT_STATUS_COMPLETE = 0,
  ACL_EVENT_WAIT_STATUS_NOT_READY = 1,
  ACL_EVENT_WAIT_STATUS_RESERVED = 65535
} aclrtEventWaitStatus;

/** State of a stream, aclrtStreamQuery(). */
typedef enum aclrtStreamStatus {
  ACL_STREAM_STATUS_COMPLETE = 0,
  ACL_STREAM_STATUS_NOT_READY = 1,
  ACL_STREAM_STATUS_RESERVED = 65535
} aclrtStreamStatus;

/** Whether later work of the stream waits for a callback. */
typedef enum aclrtCallbackBlockType {
  ACL_CALLBACK_NO_BLOCK = 0,
  ACL_CALLBACK_BLOCK = 1
} aclrtCallbackBlockType;

/** Direction of a copy. A hint only: the addresses decide. */
typedef enum aclrtMemcpyKind {
  ACL_MEMCPY_HOST_TO_HOST = 0,
  ACL_MEMCPY_HOST_TO_DEVICE = 1,
  ACL_MEMCPY_DEVICE_TO_HOST = 2,
  ACL_MEMCPY_DEVICE_TO_DEVICE = 3,
  ACL_MEMCPY_DEFAULT = 4,
  ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE = 5,
  ACL_MEMCPY_INNER_DEVICE_TO_DEVICE = 6,
  ACL_MEMCPY_INTER_DEVICE_TO_DEVICE = 7
} aclrtMemcpyKind;

/**
 * Page size and place of device memory. The last three may be combined with the others by OR.
 */
typedef enum aclrtMemMallocPolicy {
  ACL_MEM_MALLOC_HUGE_FIRST = 0,
  ACL_MEM_MALLOC_HUGE_ONLY = 1,
  ACL_MEM_MALLOC_NORMAL_ONLY = 2,
  ACL_MEM_MALLOC_HUGE_FIRST_P2P = 3,
  ACL_MEM_MALLOC_HUGE_ONLY_P2P = 4,
  ACL_MEM_MALLOC_NORMAL_ONLY_P2P = 5,
  ACL_MEM_MALLOC_HUGE1G_ONLY = 6,
  ACL_MEM_MALLOC_HUGE1G_ONLY_P2P = 7,
  ACL_MEM_TYPE_LOW_BAND_WIDTH = 256,
  ACL_MEM_TYPE_HIGH_BAND_WIDTH = 4096,
  ACL_MEM_ACCESS_USER_SPACE_READONLY = 1048576
} aclrtMemMallocPolicy;

/** How host memory is registered. */
typedef enum aclrtHostRegisterType {
  ACL_HOST_REGISTER_MAPPED = 0,
  ACL_HOST_REGISTER_IOMEMORY = 4,
  ACL_HOST_REGISTER_READONLY = 8
} aclrtHostRegisterType;

/** Which member of aclrtMallocAttrValue is set. */
typedef enum aclrtMallocAttrType {
  ACL_RT_MEM_ATTR_RSV = 0,
  ACL_RT_MEM_ATTR_MODULE_ID = 1,
  ACL_RT_MEM_ATTR_DEVICE_ID = 2,
  ACL_RT_MEM_ATTR_VA_FLAG = 3
} aclrtMallocAttrType;

/** Kinds of device memory. */
typedef enum aclrtMemAttr {
  ACL_DDR_MEM = 0,
  ACL_HBM_MEM = 1,
  ACL_DDR_MEM_HUGE = 2,
  ACL_DDR_MEM_NORMAL = 3,
  ACL_HBM_MEM_HUGE = 4,
  ACL_HBM_MEM_NORMAL = 5,
  ACL_DDR_MEM_P2P_HUGE = 6,
  ACL_DDR_MEM_P2P_NORMAL = 7,
  ACL_HBM_MEM_P2P_HUGE = 8,
  ACL_HBM_MEM_P2P_NORMAL = 9,
  ACL_HBM_MEM_HUGE1G = 10,
  ACL_HBM_MEM_P2P_HUGE1G = 11,
  ACL_MEM_NORMAL = 12,
  ACL_MEM_HUGE = 13,
  ACL_MEM_HUGE1G = 14,
  ACL_MEM_P2P_NORMAL = 15,
  ACL_MEM_P2P_HUGE = 16,
  ACL_MEM_P2P_HUGE1G = 17
} aclrtMemAttr;

/** Properties of a group of cores. */
typedef enum aclrtGroupAttr {
  ACL_GROUP_AICORE_INT = 0,
  ACL_GROUP_AIV_INT = 1,
  ACL_GROUP_AIC_INT = 2,
  ACL_GROUP_SDMANUM_INT = 3,
  ACL_GROUP_ASQNUM_INT = 4,
  ACL_GROUP_GROUPID_INT = 5
} aclrtGroupAttr;

/** What an overflow of a floating-point number gives. */
typedef enum aclrtFloatOverflowMode {
  ACL_RT_OVERFLOW_MODE_SATURATION = 0,
  ACL_RT_OVERFLOW_MODE_INFNAN = 1,
  ACL_RT_OVERFLOW_MODE_UNDEF = 2
} aclrtFloatOverflowMode;

/** Members of aclrtStreamConfigHandle, see aclrtSetStreamConfigOpt(). */
typedef enum aclrtStreamConfigAttr {
  ACL_RT_STREAM_WORK_ADDR_PTR = 0,
  ACL_RT_STREAM_WORK_SIZE = 1,
  ACL_RT_STREAM_FLAG = 2,
  ACL_RT_STREAM_PRIORITY = 3
} aclrtStreamConfigAttr;

/** Whose memory an address belongs to. */
typedef enum aclrtMemLocationType {
  ACL_MEM_LOCATION_TYPE_HOST = 0,
  ACL_MEM_LOCATION_TYPE_DEVICE = 1,
  ACL_MEM_LOCATION_TYPE_UNREGISTERED = 2,
  ACL_MEM_LOCATION_TYPE_MANAGED = 3,
  ACL_MEM_LOCATION_TYPE_HOST_NUMA = 4
} aclrtMemLocationType;

/** How physical memory is allocated. */
typedef enum aclrtMemAllocationType { ACL_MEM_ALLOCATION_TYPE_PINNED = 0 } aclrtMemAllocationType;

/** How physical memory can be shared with other processes. */
typedef enum aclrtMemHandleType {
  ACL_MEM_HANDLE_TYPE_NONE = 0,
  ACL_MEM_HANDLE_TYPE_POSIX = 2
} aclrtMemHandleType;

/** Which granularity aclrtMemGetAllocationGranularity() gives. */
typedef enum aclrtMemGranularityOptions {
  ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM = 0,
  ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED = 1,
  ACL_RT_MEM_ALLOC_GRANULARITY_UNDEF = 65535
} aclrtMemGranularityOptions;

/** State of a device. */
typedef enum aclrtDeviceStatus {
  ACL_RT_DEVICE_STATUS_NORMAL = 0,
  ACL_RT_DEVICE_STATUS_ABNORMAL = 1,
  ACL_RT_DEVICE_STATUS_END = 65535
} aclrtDeviceStatus;

/** Cache operations. */
typedef enum aclrtCmoType {
  ACL_RT_CMO_TYPE_PREFETCH = 0,
  ACL_RT_CMO_TYPE_WRITEBACK = 1,
  ACL_RT_CMO_TYPE_INVALID = 2,
  ACL_RT_CMO_TYPE_FLUSH = 3
} aclrtCmoType;

/** Scope of aclrtGetLastError(). */
typedef enum aclrtLastErrLevel { ACL_RT_THREAD_LEVEL = 0 } aclrtLastErrLevel;

/** Options for loading kernels. */
typedef enum aclrtBinaryLoadOptionType {
  ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD = 1,
  ACL_RT_BINARY_LOAD_OPT_LAZY_MAGIC = 2,
  ACL_RT_BINARY_LOAD_OPT_MAGIC = 2,
  ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE = 3
} aclrtBinaryLoadOptionType;

/** Options for launching kernels. */
typedef enum aclrtLaunchKernelAttrId {
  ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE = 1,
  ACL_RT_LAUNCH_KERNEL_ATTR_LOCAL_MEMORY_SIZE = 2,
  ACL_RT_LAUNCH_KERNEL_ATTR_DYN_UBUF_SIZE = 2,
  ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE = 3,
  ACL_RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET = 4,
  ACL_RT_LAUNCH_KERNEL_ATTR_BLOCK_TASK_PREFETCH = 5,
  ACL_RT_LAUNCH_KERNEL_ATTR_DATA_DUMP = 6,
  ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT = 7,
  ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US = 8,
  ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING = 9
} aclrtLaunchKernelAttrId;

/** Which calls are forbidden during a capture: of all threads, of the capturing thread, none. */
typedef enum aclmdlRICaptureMode {
  ACL_MODEL_RI_CAPTURE_MODE_GLOBAL = 0,
  ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL = 1,
  ACL_MODEL_RI_CAPTURE_MODE_RELAXED = 2
} aclmdlRICaptureMode;

/** State of the capture of a stream. */
typedef enum aclmdlRICaptureStatus {
  ACL_MODEL_RI_CAPTURE_STATUS_NONE = 0,
  ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE = 1,
  ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED = 2
} aclmdlRICaptureStatus;

/** Packages of CANN. */
typedef enum aclCANNPackageName {
  ACL_PKG_NAME_CANN = 0,
  ACL_PKG_NAME_RUNTIME = 1,
  ACL_PKG_NAME_COMPILER = 2,
  ACL_PKG_NAME_HCCL = 3,
  ACL_PKG_NAME_TOOLKIT = 4,
  ACL_PKG_NAME_OPP = 5,
  ACL_PKG_NAME_OPP_KERNEL = 6,
  ACL_PKG_NAME_DRIVER = 7
} aclCANNPackageName;

/* Enumerations that are newer than CANN 8.1. */

/** Advice about the use of managed memory. */
typedef enum aclrtMemManagedAdviseType {
  ACL_MEM_ADVISE_SET_READ_MOSTLY = 0,
  ACL_MEM_ADVISE_UNSET_READ_MOSTLY = 1,
  ACL_MEM_ADVISE_SET_PREFERRED_LOCATION = 2,
  ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION = 3,
  ACL_MEM_ADVISE_SET_ACCESSED_BY = 4,
  ACL_MEM_ADVISE_UNSET_ACCESSED_BY = 5
} aclrtMemManagedAdviseType;

/** Places of managed memory. */
typedef enum aclrtMemManagedLocationType {
  ACL_MEM_LOCATIONTYPE_INVALID = 0,
  ACL_MEM_LOCATIONTYPE_DEVICE = 1,
  ACL_MEM_LOCATIONTYPE_HOST = 2,
  ACL_MEM_LOCATIONTYPE_HOST_NUMA = 3,
  ACL_MEM_LOCATIONTYPE_HOST_NUMA_CURRENT = 4
} aclrtMemManagedLocationType;

/** Page sizes. */
enum aclrtMemPgType { NORMAL_PAGE_TYPE = 0, HUGE_PAGE_TYPE = 1, HUGE1G_PAGE_TYPE = 2 };

/** Memory types. */
enum aclrtMemType { HBM_TYPE = 0, DDR_TYPE = 1, P2P_HBM_TYPE = 2, P2P_DDR_TYPE = 3 };

/** Properties of shared memory. */
typedef enum aclrtIpcMemAttrType { ACL_RT_IPC_MEM_ATTR_ACCESS_LINK = 0 } aclrtIpcMemAttrType;

/** Properties of a range of managed memory. */
typedef enum aclrtMemManagedRangeAttribute {
  ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY = 1,
  ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION = 2,
  ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY = 3,
  ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE = 4,
  ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID = 5,
  ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION = 6,
  ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE = 7,
  ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID = 8
} aclrtMemManagedRangeAttribute;

/** Kinds of handles of shared physical memory. */
typedef enum aclrtMemSharedHandleType {
  ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT = 1,
  ACL_MEM_SHARE_HANDLE_TYPE_FABRIC = 2
} aclrtMemSharedHandleType;

/** Kinds of device errors. */
typedef enum aclrtErrorType {
  ACL_RT_NO_ERROR = 0,
  ACL_RT_ERROR_MEMORY = 1,
  ACL_RT_ERROR_L2 = 2,
  ACL_RT_ERROR_AICORE = 3,
  ACL_RT_ERROR_LINK = 4,
  ACL_RT_ERROR_L3_PORT = 5,
  ACL_RT_ERROR_OTHERS = 65535
} aclrtErrorType;

/** Kinds of core errors. */
typedef enum aclrtAicoreErrorType {
  ACL_RT_AICORE_ERROR_UNKNOWN = 0,
  ACL_RT_AICORE_ERROR_SW = 1,
  ACL_RT_AICORE_ERROR_HW_LOCAL = 2
} aclrtAicoreErrorType;

/** Kinds of cores that run a kernel. */
typedef enum aclrtEngineType {
  ACL_RT_ENGINE_TYPE_AIC = 0,
  ACL_RT_ENGINE_TYPE_AIV = 1
} aclrtEngineType;

/** Which member of aclrtStreamAttrValue is set. */
typedef enum aclrtStreamAttr {
  ACL_STREAM_ATTR_FAILURE_MODE = 1,
  ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK = 2,
  ACL_STREAM_ATTR_USER_CUSTOM_TAG = 3,
  ACL_STREAM_ATTR_CACHE_OP_INFO = 4,
  ACL_STREAM_ATTR_PRIORITY = 5
} aclrtStreamAttr;

/** Kinds of tasks in a captured graph. */
typedef enum aclmdlRITaskType {
  ACL_MODEL_RI_TASK_DEFAULT = 0,
  ACL_MODEL_RI_TASK_KERNEL = 1,
  ACL_MODEL_RI_TASK_EVENT_RECORD = 2,
  ACL_MODEL_RI_TASK_EVENT_WAIT = 3,
  ACL_MODEL_RI_TASK_EVENT_RESET = 4,
  ACL_MODEL_RI_TASK_VALUE_WRITE = 5,
  ACL_MODEL_RI_TASK_VALUE_WAIT = 6
} aclmdlRITaskType;

/** Properties of a device, see aclrtGetDeviceInfo(). */
typedef enum aclrtDevAttr {
  ACL_DEV_ATTR_AICPU_CORE_NUM = 1,
  ACL_DEV_ATTR_AICORE_CORE_NUM = 101,
  ACL_DEV_ATTR_CUBE_CORE_NUM = 102,
  ACL_DEV_ATTR_VECTOR_CORE_NUM = 201,
  ACL_DEV_ATTR_WARP_SIZE = 202,
  ACL_DEV_ATTR_MAX_THREAD_PER_VECTOR_CORE = 203,
  ACL_DEV_ATTR_LOCAL_MEM_PER_VECTOR_CORE = 204,
  ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE = 204,
  ACL_DEV_ATTR_MAX_GRID_DIM_X = 205,
  ACL_DEV_ATTR_MAX_GRID_DIM_Y = 206,
  ACL_DEV_ATTR_MAX_GRID_DIM_Z = 207,
  ACL_DEV_ATTR_MAX_BLOCK_PER_GRID = 208,
  ACL_DEV_ATTR_MAX_THREADS_PER_BLOCK = 209,
  ACL_DEV_ATTR_MAX_BLOCK_DIM_X = 210,
  ACL_DEV_ATTR_MAX_BLOCK_DIM_Y = 211,
  ACL_DEV_ATTR_MAX_BLOCK_DIM_Z = 212,
  ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE = 301,
  ACL_DEV_ATTR_L2_CACHE_SIZE = 302,
  ACL_DEV_ATTR_SMP_ID = 401,
  ACL_DEV_ATTR_PHY_CHIP_ID = 402,
  ACL_DEV_ATTR_SUPER_POD_DEVIDE_ID = 403,
  ACL_DEV_ATTR_SUPER_POD_DEVICE_ID = 403,
  ACL_DEV_ATTR_SUPER_POD_SERVER_ID = 404,
  ACL_DEV_ATTR_SUPER_POD_ID = 405,
  ACL_DEV_ATTR_CUST_OP_PRIVILEGE = 406,
  ACL_DEV_ATTR_MAINBOARD_ID = 407,
  ACL_DEV_ATTR_HD_CONNECT_TYPE = 408,
  ACL_DEV_ATTR_DEVICE_FORM_FACTOR = 409,
  ACL_DEV_ATTR_IS_VIRTUAL = 501,
  ACL_DEV_ATTR_NPU_ARCH = 601
} aclrtDevAttr;

/** Optional features of a device. */
typedef enum aclrtDevFeatureType {
  ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV = 1,
  ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV = 21
} aclrtDevFeatureType;

/** Reductions of a copying device. */
typedef enum aclrtReduceKind {
  ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM = 10,
  ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX = 11,
  ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN = 12,
  ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL = 13
} aclrtReduceKind;

/** Resources that can be limited. */
typedef enum aclrtDevResLimitType {
  ACL_RT_DEV_RES_CUBE_CORE = 0,
  ACL_RT_DEV_RES_VECTOR_CORE = 1
} aclrtDevResLimitType;

/** Comparisons. */
typedef enum aclrtCondition {
  ACL_RT_EQUAL = 0,
  ACL_RT_NOT_EQUAL = 1,
  ACL_RT_GREATER = 2,
  ACL_RT_GREATER_OR_EQUAL = 3,
  ACL_RT_LESS = 4,
  ACL_RT_LESS_OR_EQUAL = 5
} aclrtCondition;

/** Types of compared numbers. */
typedef enum aclrtCompareDataType {
  ACL_RT_SWITCH_INT32 = 0,
  ACL_RT_SWITCH_INT64 = 1
} aclrtCompareDataType;

/** Random number distributions. */
typedef enum aclrtRandomNumFuncType {
  ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK = 0,
  ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS = 1,
  ACL_RT_RANDOM_NUM_FUNC_TYPE_NORMAL_DIS = 2,
  ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS = 3
} aclrtRandomNumFuncType;

/** Stages of an abort. */
typedef enum aclrtDeviceTaskAbortStage {
  ACL_RT_DEVICE_TASK_ABORT_PRE = 0,
  ACL_RT_DEVICE_TASK_ABORT_POST = 1
} aclrtDeviceTaskAbortStage;

/** Kinds of task updates. */
typedef enum aclrtUpdateTaskAttrId {
  ACL_RT_UPDATE_RANDOM_TASK = 1,
  ACL_RT_UPDATE_AIC_AIV_TASK = 2
} aclrtUpdateTaskAttrId;

/** Changes of a device's state. */
typedef enum aclrtDeviceState {
  ACL_RT_DEVICE_STATE_SET_PRE = 0,
  ACL_RT_DEVICE_STATE_SET_POST = 1,
  ACL_RT_DEVICE_STATE_RESET_PRE = 2,
  ACL_RT_DEVICE_STATE_RESET_POST = 3
} aclrtDeviceState;

/** Stages of a snapshot. */
typedef enum aclrtSnapShotStage {
  ACL_RT_SNAPSHOT_LOCK_PRE = 0,
  ACL_RT_SNAPSHOT_BACKUP_PRE = 1,
  ACL_RT_SNAPSHOT_BACKUP_POST = 2,
  ACL_RT_SNAPSHOT_RESTORE_PRE = 3,
  ACL_RT_SNAPSHOT_RESTORE_POST = 4,
  ACL_RT_SNAPSHOT_UNLOCK_POST = 5
} aclrtSnapShotStage;

/** Changes of a stream's state. */
typedef enum aclrtStreamState {
  ACL_RT_STREAM_STATE_CREATE_POST = 1,
  ACL_RT_STREAM_STATE_DESTROY_PRE = 2
} aclrtStreamState;

/** Properties of a kernel. */
typedef enum aclrtFuncAttribute {
  ACL_FUNC_ATTR_KERNEL_TYPE = 1,
  ACL_FUNC_ATTR_KERNEL_RATIO = 2,
  ACL_FUNC_ATTR_KERNEL_SCHED_MODE = 3
} aclrtFuncAttribute;

/** Kinds of kernels. */
typedef enum aclrtKernelType {
  ACL_KERNEL_TYPE_AICORE = 0,
  ACL_KERNEL_TYPE_CUBE = 1,
  ACL_KERNEL_TYPE_VECTOR = 2,
  ACL_KERNEL_TYPE_MIX = 3,
  ACL_KERNEL_TYPE_AICPU = 100
} aclrtKernelType;

/** How a counting notification is recorded. */
typedef enum aclrtCntNotifyRecordMode {
  ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE = 0,
  ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE = 1,
  ACL_RT_CNT_NOTIFY_RECORD_BIT_OR_MODE = 2,
  ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE = 4
} aclrtCntNotifyRecordMode;

/** How a counting notification is waited for. */
typedef enum aclrtCntNotifyWaitMode {
  ACL_RT_CNT_NOTIFY_WAIT_LESS_MODE = 0,
  ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE = 1,
  ACL_RT_CNT_NOTIFY_WAIT_BIGGER_MODE = 2,
  ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE = 3,
  ACL_RT_CNT_NOTIFY_WAIT_EQUAL_WITH_BITMASK_MODE = 4
} aclrtCntNotifyWaitMode;

/** Access to memory. */
typedef enum aclrtMemAccessFlags {
  ACL_RT_MEM_ACCESS_FLAGS_NONE = 0,
  ACL_RT_MEM_ACCESS_FLAGS_READ = 1,
  ACL_RT_MEM_ACCESS_FLAGS_READWRITE = 3
} aclrtMemAccessFlags;

/** Hardware units. */
typedef enum aclrtHacType {
  ACL_RT_HAC_TYPE_STARS = 0,
  ACL_RT_HAC_TYPE_AICPU = 1,
  ACL_RT_HAC_TYPE_AIC = 2,
  ACL_RT_HAC_TYPE_AIV = 3,
  ACL_RT_HAC_TYPE_PCIEDMA = 4,
  ACL_RT_HAC_TYPE_RDMA = 5,
  ACL_RT_HAC_TYPE_SDMA = 6,
  ACL_RT_HAC_TYPE_DVPP = 7,
  ACL_RT_HAC_TYPE_UDMA = 8,
  ACL_RT_HAC_TYPE_CCU = 9
} aclrtHacType;

/** Whether a unit can read mapped host memory. */
typedef enum aclrtHostMemMapCapability {
  ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED = 0,
  ACL_RT_HOST_MEM_MAP_SUPPORTED = 1
} aclrtHostMemMapCapability;

/** Links between memories. */
typedef enum aclrtMemLinkType {
  ACL_RT_MEM_ACCESS_LINK_SIO = 0,
  ACL_RT_MEM_ACCESS_LINK_HCCS = 1,
  ACL_RT_MEM_ACCESS_UB_ONE_PORT_PATH = 2,
  ACL_RT_MEM_ACCESS_UB_MULTI_PORT_PATH = 3
} aclrtMemLinkType;

/** Which operand types of an atomic operation are possible (bits). */
typedef enum aclrtAtomicOperationCapability {
  ACL_RT_ATOMIC_CAPABILITY_SIGNED = 1,
  ACL_RT_ATOMIC_CAPABILITY_UNSIGNED = 2,
  ACL_RT_ATOMIC_CAPABILITY_REDUCATION = 4,
  ACL_RT_ATOMIC_CAPABILITY_REDUCTION = 4,
  ACL_RT_ATOMIC_CAPABILITY_SCALAR8 = 8,
  ACL_RT_ATOMIC_CAPABILITY_SCALAR16 = 16,
  ACL_RT_ATOMIC_CAPABILITY_SCALAR32 = 32,
  ACL_RT_ATOMIC_CAPABILITY_SCALAR64 = 64,
  ACL_RT_ATOMIC_CAPABILITY_SCALAR128 = 128,
  ACL_RT_ATOMIC_CAPABILITY_VECTOR32X4 = 256
} aclrtAtomicOperationCapability;

/** Atomic operations. */
typedef enum aclrtAtomicOperation {
  ACL_RT_ATOMIC_OPERATION_INTEGER_ADD = 0,
  ACL_RT_ATOMIC_OPERATION_INTEGER_MIN = 1,
  ACL_RT_ATOMIC_OPERATION_INTEGER_MAX = 2,
  ACL_RT_ATOMIC_OPERATION_INTEGER_INCREMENT = 3,
  ACL_RT_ATOMIC_OPERATION_INTEGER_DECREMENT = 4,
  ACL_RT_ATOMIC_OPERATION_AND = 5,
  ACL_RT_ATOMIC_OPERATION_OR = 6,
  ACL_RT_ATOMIC_OPERATION_XOR = 7,
  ACL_RT_ATOMIC_OPERATION_EXCHANGE = 8,
  ACL_RT_ATOMIC_OPERATION_CAS = 9,
  ACL_RT_ATOMIC_OPERATION_FLOAT_ADD = 10,
  ACL_RT_ATOMIC_OPERATION_FLOAT_MIN = 11,
  ACL_RT_ATOMIC_OPERATION_FLOAT_MAX = 12,
  ACL_RT_ATOMIC_OPERATION_DMA_ADD = 30,
  ACL_RT_ATOMIC_OPERATION_DMA_MIN = 31,
  ACL_RT_ATOMIC_OPERATION_DMA_MAX = 32,
  ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_ADD = 40,
  ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_MIN = 41,
  ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_MAX = 42,
  ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_CAS = 43,
  ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_EXCH = 44
} aclrtAtomicOperation;

/** Flags of a condition of a captured graph. */
typedef enum aclmdlRICondHandleFlag {
  ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT = 1
} aclmdlRICondHandleFlag;

/** Kinds of conditional tasks of a captured graph. */
typedef enum aclmdlRICondTaskType {
  ACL_MODEL_RI_COND_TYPE_IF = 0,
  ACL_MODEL_RI_COND_TYPE_WHILE = 1,
  ACL_MODEL_RI_COND_TYPE_SWITCH = 2
} aclmdlRICondTaskType;

/** Limits of a device. */
typedef enum aclrtDeviceLimit {
  ACL_RT_DEV_LIMIT_SIMT_STACK_SIZE = 0,
  ACL_RT_DEV_LIMIT_SIMT_DVG_WARP_STACK_SIZE = 1,
  ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE = 2,
  ACL_RT_DEV_LIMIT_SIMD_PRINTF_FIFO_SIZE_PER_CORE = 3,
  ACL_RT_DEV_LIMIT_SIMT_PRINTF_FIFO_SIZE = 4
} aclrtDeviceLimit;

/** Components that can register initialisation callbacks. */
typedef enum aclRegisterCallbackType {
  ACL_REG_TYPE_ACL_MODEL = 0,
  ACL_REG_TYPE_ACL_OP_EXECUTOR = 1,
  ACL_REG_TYPE_ACL_OP_CBLAS = 2,
  ACL_REG_TYPE_ACL_OP_COMPILER = 3,
  ACL_REG_TYPE_ACL_TDT_CHANNEL = 4,
  ACL_REG_TYPE_ACL_TDT_QUEUE = 5,
  ACL_REG_TYPE_ACL_DVPP = 6,
  ACL_REG_TYPE_ACL_RETR = 7,
  ACL_REG_TYPE_OTHER = 65535
} aclRegisterCallbackType;

/** State of the process. */
typedef enum aclrtProcessState {
  ACL_RT_PROCESS_STATE_RUNNING = 0,
  ACL_RT_PROCESS_STATE_LOCKED = 1
} aclrtProcessState;

/** Properties of a memory pool. */
typedef enum aclrtMemPoolAttr {
  ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES = 1,
  ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC = 2,
  ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES = 3,
  ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD = 4,
  ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT = 5,
  ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH = 6,
  ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT = 7,
  ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH = 8
} aclrtMemPoolAttr;

/* ---- Structures ------------------------------------------------------------------------------ */

/** Whose memory: a kind, and the device number for device memory. */
typedef struct aclrtMemLocation {
  uint32_t id;
  aclrtMemLocationType type;
} aclrtMemLocation;

/** What is known about an address, see aclrtPointerGetAttributes(). pageSize in bytes. */
typedef struct aclrtPtrAttributes {
  aclrtMemLocation location;
  uint32_t pageSize;
  uint32_t rsv[4];
} aclrtPtrAttributes;

/** Kind of physical memory, see aclrtMallocPhysical(). reserve must be 0. */
typedef struct aclrtPhysicalMemProp {
  aclrtMemHandleType handleType;
  aclrtMemAllocationType allocationType;
  aclrtMemAttr memAttr;
  aclrtMemLocation location;
  uint64_t reserve;
} aclrtPhysicalMemProp;

/** Value of an allocation option; zero the whole union before setting a member. */
typedef union aclrtMallocAttrValue {
  uint16_t moduleId;
  uint32_t deviceId;
  uint32_t vaFlag;
  uint8_t rsv[8];
} aclrtMallocAttrValue;

/** One allocation option. */
typedef struct aclrtMallocAttribute {
  aclrtMallocAttrType attr;
  aclrtMallocAttrValue value;
} aclrtMallocAttribute;

/** Allocation options: numAttrs entries of attrs, owned by the caller. */
typedef struct aclrtMallocConfig {
  aclrtMallocAttribute *attrs;
  size_t numAttrs;
} aclrtMallocConfig;

/** Options of a new stream: memory for its use (bytes), flags, priority 0 (highest) to 7. */
typedef struct aclrtStreamConfigHandle {
  void *workptr;
  size_t workSize;
  size_t flag;
  uint32_t priority;
} aclrtStreamConfigHandle;

/** How busy a device is, in percent; -1 is unknown. utilizationExtend must be NULL. */
typedef struct aclrtUtilizationInfo {
  int32_t cubeUtilization;
  int32_t vectorUtilization;
  int32_t aicpuUtilization;
  int32_t memoryUtilization;
  aclrtUtilizationExtendInfo *utilizationExtend;
} aclrtUtilizationInfo;

/** A damaged range of device memory: address and bytes. */
typedef struct aclrtMemUceInfo {
  void *addr;
  size_t len;
  size_t reserved[UCE_INFO_RESERVED_SIZE];
} aclrtMemUceInfo;

/** Version of a package: the whole text and its parts, NUL-terminated. */
typedef struct aclCANNPackageVersion {
  char version[ACL_PKG_VERSION_MAX_SIZE];
  char majorVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
  char minorVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
  char releaseVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
  char patchVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
  char reserved[ACL_PKG_VERSION_MAX_SIZE];
} aclCANNPackageVersion;

/** Value of an option for loading kernels. */
typedef union aclrtBinaryLoadOptionValue {
  uint32_t isLazyLoad;
  uint32_t magic;
  int32_t cpuKernelMode;
  uint32_t rsv[4];
} aclrtBinaryLoadOptionValue;

/** One option for loading kernels. */
typedef struct aclrtBinaryLoadOption {
  aclrtBinaryLoadOptionType type;
  aclrtBinaryLoadOptionValue value;
} aclrtBinaryLoadOption;

/** Options for loading kernels: numOpt entries of options. */
typedef struct aclrtBinaryLoadOptions {
  aclrtBinaryLoadOption *options;
  size_t numOpt;
} aclrtBinaryLoadOptions;

/** A time limit in microseconds, as two halves. */
typedef struct aclrtTimeoutUs {
  uint32_t timeoutLow;
  uint32_t timeoutHigh;
} aclrtTimeoutUs;

/** Value of an option for launching kernels. */
typedef union aclrtLaunchKernelAttrValue {
  uint8_t schemMode;
  uint32_t localMemorySize;
  uint32_t dynUBufSize;
  aclrtEngineType engineType;
  uint32_t blockDimOffset;
  uint8_t isBlockTaskPrefetch;
  uint8_t isDataDump;
  uint16_t timeout;
  aclrtTimeoutUs timeoutUs;
  uint8_t enableProfiling;
  uint32_t rsv[4];
} aclrtLaunchKernelAttrValue;

/** One option for launching kernels. */
typedef struct aclrtLaunchKernelAttr {
  aclrtLaunchKernelAttrId id;
  aclrtLaunchKernelAttrValue value;
} aclrtLaunchKernelAttr;

/** Options for launching kernels: numAttrs entries of attrs. */
typedef struct aclrtLaunchKernelCfg {
  aclrtLaunchKernelAttr *attrs;
  size_t numAttrs;
} aclrtLaunchKernelCfg;

/* Structures that are newer than CANN 8.1. */

/** Where the two ends of copies are, see aclrtMemcpyBatch(). rsv must be 0. */
typedef struct aclrtMemcpyBatchAttr {
  aclrtMemLocation dstLoc;
  aclrtMemLocation srcLoc;
  uint8_t rsv[16];
} aclrtMemcpyBatchAttr;

/** Identity of a device. */
typedef struct aclrtUuid {
  char bytes[16];
} aclrtUuid;

/** Memory use of a component, in bytes, see aclrtGetMemUsageInfo(). */
typedef struct aclrtMemUsageInfo {
  char name[32];
  uint64_t curMemSize;
  uint64_t memPeakSize;
  size_t reserved[8];
} aclrtMemUsageInfo;

/** Value of a stream property, see aclrtSetStreamAttribute(). */
typedef union aclrtStreamAttrValue {
  uint64_t failureMode;
  uint32_t overflowSwitch;
  uint32_t userCustomTag;
  uint32_t cacheOpInfoSwitch;
  uint32_t streamPriority;
  uint32_t reserve[4];
} aclrtStreamAttrValue;

/** An event that another process can open. */
typedef struct aclrtIpcEventHandle {
  char reserved[ACL_IPC_EVENT_HANDLE_SIZE];
} aclrtIpcEventHandle;

/** A conditional task of a captured graph: size entries of modelRIArray. */
typedef struct tagAclmdlRICondTaskParams {
  aclmdlRICondHandle handle;
  aclmdlRICondTaskType type;
  uint32_t size;
  aclmdlRI *modelRIArray;
} aclmdlRICondTaskParams;

/** Place of managed memory. */
typedef struct aclrtMemManagedLocation {
  aclrtMemManagedLocationType type;
  int32_t id;
} aclrtMemManagedLocation;

/* Types of functions that do not exist here; only their sizes are part of the interface. */

/** Details of a device error. */
typedef union aclrtErrorInfoDetail {
  uint64_t reserved[321];
} aclrtErrorInfoDetail;

/** A device error. */
typedef struct aclrtErrorInfo {
  uint64_t reserved[322];
} aclrtErrorInfo;

/** Parameters of a task of a captured graph. */
typedef struct aclmdlRITaskParams {
  uint64_t reserved[25];
} aclmdlRITaskParams;

/** Handle of memory shared between servers. */
typedef struct aclrtMemFabricHandle {
  uint8_t reserved[128];
} aclrtMemFabricHandle;

/** Place of an address inside kernel arguments. */
typedef struct aclrtPlaceHolderInfo {
  uint32_t reserved[2];
} aclrtPlaceHolderInfo;

/** Processes of a server. */
typedef struct aclrtServerPid {
  uint64_t reserved[3];
} aclrtServerPid;

/** Access to a range of memory. */
typedef struct aclrtMemAccessDesc {
  uint32_t reserved[6];
} aclrtMemAccessDesc;

/** Extent of a kernel launch. */
typedef struct dim3 {
  uint32_t x;
  uint32_t y;
  uint32_t z;
#ifdef __cplusplus
  constexpr dim3(uint32_t x_ = 1, uint32_t y_ = 1, uint32_t z_ = 1) : x(x_), y(y_), z(z_) {}
#endif
} dim3;

/* ---- Initialisation, versions, errors -------------------------------------------------------- */

/**
 * Starts AscendCL. Most functions work without it, portable programs call it first.
 * @param configPath JSON file with settings (err_msg_mode "0": error texts per thread, "1": per
 *     process; defaultDevice.default_device; other known keys are accepted without effect); NULL or
 *     "" for none
 * @return 0; ACL_ERROR_REPEAT_INITIALIZE (100002) on a repetition (harmless);
 *     ACL_ERROR_INVALID_FILE (100003) for an unreadable file; ACL_ERROR_PARSE_FILE (100006) for
 *     malformed JSON; ACL_ERROR_INVALID_PARAM (100000) for a bad value; ACL_ERROR_INTERNAL_ERROR
 *     (500000) for a value of the wrong type or an unknown PYACLNN_PRODUCT
 */
ACL_FUNC_VISIBILITY aclError aclInit(const char *configPath);

/**
 * Ends AscendCL at once, however often aclInit() was called. Streams and devices should be released
 * before.
 * @return 0; ACL_ERROR_REPEAT_FINALIZE (100037) on a repetition
 */
ACL_FUNC_VISIBILITY aclError aclFinalize(void);

/**
 * Takes back one aclInit() and ends AscendCL with the last one. Newer than CANN 8.1.
 * @param refCount [out] remaining count, may be NULL
 * @return 0; ACL_ERROR_REPEAT_FINALIZE (100037) if the count is already 0
 */
ACL_FUNC_VISIBILITY aclError aclFinalizeReference(uint64_t *refCount);

/**
 * Gives the version of the AscendCL interface (ACL_MAJOR_VERSION and so on in acl.h).
 * @param majorVersion [out] major version
 * @param minorVersion [out] minor version
 * @param patchVersion [out] patch version
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL
 */
ACL_FUNC_VISIBILITY aclError aclrtGetVersion(int32_t *majorVersion, int32_t *minorVersion,
                                             int32_t *patchVersion);

/**
 * Gives the version of the emulated CANN release.
 * @param name package
 * @param version [out] filled by the call
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL or an unknown package;
 *     ACL_ERROR_INVALID_FILE (100003) if the version is not known
 */
ACL_FUNC_VISIBILITY aclError aclsysGetCANNVersion(aclCANNPackageName name,
                                                  aclCANNPackageVersion *version);

/**
 * Gives the version of the emulated CANN release as text. Newer than CANN 8.1.
 * @param pkgName name of a package, such as "runtime" or "ops_nn", NUL-terminated
 * @param versionStr [out] at least ACL_PKG_VERSION_MAX_SIZE (128) bytes of the caller
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL or an unknown package;
 *     ACL_ERROR_INVALID_FILE (100003) if the version is not known
 */
ACL_FUNC_VISIBILITY aclError aclsysGetVersionStr(char *pkgName, char *versionStr);

/**
 * Gives the texts of all failures of this thread since the last call, newest first, and clears
 * them. Successful calls do not clear them.
 * @return text, valid until the next call on this thread, not to be freed; NULL if there was no
 *     failure
 */
ACL_FUNC_VISIBILITY const char *aclGetRecentErrMsg(void);

/**
 * Gives the last runtime error of this thread and keeps it.
 * @param level must be ACL_RT_THREAD_LEVEL
 * @return the code of the last failure, 0 if there was none; ACL_ERROR_INVALID_PARAM (100000) for
 *     another level
 */
ACL_FUNC_VISIBILITY aclError aclrtPeekAtLastError(aclrtLastErrLevel level);

/**
 * Gives the last runtime error of this thread and clears it.
 * @param level must be ACL_RT_THREAD_LEVEL
 * @return the code of the last failure, 0 if there was none; ACL_ERROR_INVALID_PARAM (100000) for
 *     another level
 */
ACL_FUNC_VISIBILITY aclError aclrtGetLastError(aclrtLastErrLevel level);

/* ---- Devices --------------------------------------------------------------------------------- */

/**
 * Makes a device, with its default context and default stream, current on this thread. Every call
 * adds a reference.
 * @param deviceId device number, 0 to count - 1
 * @return 0; ACL_ERROR_RT_INVALID_DEVICEID (107001) for a device that does not exist
 */
ACL_FUNC_VISIBILITY aclError aclrtSetDevice(int32_t deviceId);

/**
 * Drops a reference; the last one waits for the work and destroys the default context. Streams and
 * events that were created should be destroyed before.
 * @param deviceId device number
 * @return 0; ACL_ERROR_RT_INVALID_DEVICEID (107001) for a device that does not exist;
 *     ACL_ERROR_RT_CONTEXT_RELEASE_ERROR (507007) without a matching aclrtSetDevice()
 *     ACL_ERROR_RT_PARAM_INVALID (107000) from a callback that a stream of the device waits for
 */
ACL_FUNC_VISIBILITY aclError aclrtResetDevice(int32_t deviceId);

/**
 * Drops all references at once.
 * Work that waits for an event nobody has recorded is dropped.
 * @param deviceId device number
 * @return 0; ACL_ERROR_RT_INVALID_DEVICEID (107001) for a device that does not exist;
 *     ACL_ERROR_RT_CONTEXT_RELEASE_ERROR (507007) if it is not set
 *     ACL_ERROR_RT_PARAM_INVALID (107000) from a callback that a stream of the device waits for
 */
ACL_FUNC_VISIBILITY aclError aclrtResetDeviceForce(int32_t deviceId);

/**
 * Gives the current device of this thread.
 * @param deviceId [out] device number
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_CONTEXT_NULL (107002) if the
 *     thread has none
 */
ACL_FUNC_VISIBILITY aclError aclrtGetDevice(int32_t *deviceId);

/**
 * Gives the number of devices.
 * @param count [out] number of devices
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL
 */
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceCount(uint32_t *count);

/**
 * Tells where the program runs: always ACL_HOST here.
 * @param runMode [out] run mode
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL
 */
ACL_FUNC_VISIBILITY aclError aclrtGetRunMode(aclrtRunMode *runMode);

/**
 * Waits for all streams of the current device.
 * @return 0; ACL_ERROR_RT_CONTEXT_NULL (107002) without a device; ACL_ERROR_RT_AICORE_EXCEPTION
 *     (507015) if a task failed
 *     ACL_ERROR_RT_PARAM_INVALID (107000) from a callback that a stream of the device waits for
 */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeDevice(void);

/**
 * Waits for all streams of the current device, but not longer than a limit.
 * @param timeout milliseconds, -1 for ever
 * @return 0; ACL_ERROR_RT_PARAM_INVALID (107000) for less than -1; ACL_ERROR_RT_STREAM_SYNC_TIMEOUT
 *     (507046) when the limit has passed; ACL_ERROR_RT_CONTEXT_NULL (107002);
 *     ACL_ERROR_RT_AICORE_EXCEPTION (507015) if a task failed
 */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout);

/**
 * Tells whether a device works.
 * @param deviceId device number
 * @param deviceStatus [out] status
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_INVALID_DEVICEID (107001) for
 *     a device that does not exist
 */
ACL_FUNC_VISIBILITY aclError aclrtQueryDeviceStatus(int32_t deviceId,
                                                    aclrtDeviceStatus *deviceStatus);

/**
 * Tells how busy a device is.
 * @param deviceId device number
 * @param utilizationInfo [in, out] set utilizationExtend to NULL; the other members are filled, in
 *     percent, -1 for unknown
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL or a utilizationExtend that is not NULL;
 *     ACL_ERROR_RT_INVALID_DEVICEID (107001) for a device that does not exist
 */
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceUtilizationRate(int32_t deviceId,
                                                           aclrtUtilizationInfo *utilizationInfo);

/**
 * Chooses a task scheduler; no effect.
 * @param tsId ACL_TS_ID_AICORE or ACL_TS_ID_AIVECTOR
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for another value
 */
ACL_FUNC_VISIBILITY aclError aclrtSetTsDevice(aclrtTsId tsId);

/**
 * Tells whether a device can use the memory of another one.
 * @param canAccessPeer [out] 1 yes, 0 no
 * @param deviceId device number
 * @param peerDeviceId number of another device
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for twice the same device;
 *     ACL_ERROR_RT_INVALID_DEVICEID (107001) for a device that does not exist;
 *     ACL_ERROR_RT_PARAM_INVALID (107000) for a NULL output
 */
ACL_FUNC_VISIBILITY aclError aclrtDeviceCanAccessPeer(int32_t *canAccessPeer, int32_t deviceId,
                                                      int32_t peerDeviceId);

/**
 * Lets the current device use the memory of another one.
 * @param peerDeviceId number of another device
 * @param flags must be 0
 * @return 0; ACL_ERROR_FEATURE_UNSUPPORTED (200006) for flags; ACL_ERROR_INVALID_PARAM (100000) for
 *     the current device; ACL_ERROR_RT_INVALID_DEVICEID (107001) for a device that does not exist
 */
ACL_FUNC_VISIBILITY aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags);

/**
 * Takes back aclrtDeviceEnablePeerAccess().
 * @param peerDeviceId number of another device
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for the current device; ACL_ERROR_RT_INVALID_DEVICEID
 *     (107001) for a device that does not exist
 */
ACL_FUNC_VISIBILITY aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId);

/**
 * Gives the process number by which devices know this process.
 * @param pid [out] process number, on a CPU that of getpid()
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL
 */
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetBareTgid(int32_t *pid);

/**
 * Reads a property of a device. Newer than CANN 8.1.
 * @param deviceId device number
 * @param attr which property
 * @param value [out] number, or bytes for sizes
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL or an unknown property;
 *     ACL_ERROR_RT_INVALID_DEVICEID (107001) for a device that does not exist
 */
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr,
                                                int64_t *value);

/**
 * Tells whether the default context of a device exists. Newer than CANN 8.1.
 * @param deviceId device number
 * @param flags reserved, must be NULL
 * @param active [out] 1 yes, 0 no
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for a NULL active or flags that are not NULL;
 *     ACL_ERROR_RT_INVALID_DEVICEID (107001) for a device that does not exist
 */
ACL_FUNC_VISIBILITY aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t *flags,
                                                     int32_t *active);

/* ---- Contexts and system options ------------------------------------------------------------- */

/**
 * Creates a context with a default stream of its own and makes it current on this thread.
 * @param context [out] handle, owned by the caller until aclrtDestroyContext()
 * @param deviceId device number
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_INVALID_DEVICEID (107001) for
 *     a device that does not exist
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateContext(aclrtContext *context, int32_t deviceId);

/**
 * Destroys a context. If it is current on this thread, the thread has none afterwards.
 * @param context handle from aclrtCreateContext()
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_CONTEXT_NULL (107002) for the
 *     default context of a device or a destroyed one; ACL_ERROR_RT_CONTEXT_RELEASE_ERROR (507007)
 *     while another thread destroys it
 *     ACL_ERROR_RT_PARAM_INVALID (107000) from a callback that a stream of the context waits for
 */
ACL_FUNC_VISIBILITY aclError aclrtDestroyContext(aclrtContext context);

/**
 * Makes a context current on this thread. Several threads may share one.
 * @param context handle
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_PARAM_INVALID (107000) for a
 *     destroyed one
 */
ACL_FUNC_VISIBILITY aclError aclrtSetCurrentContext(aclrtContext context);

/**
 * Gives the current context of this thread.
 * @param context [out] handle, stays owned by whoever created it
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_CONTEXT_NULL (107002) if the
 *     thread has none
 */
ACL_FUNC_VISIBILITY aclError aclrtGetCurrentContext(aclrtContext *context);

/**
 * Reads a system option of the current context.
 * @param opt option
 * @param value [out] value
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL or an unknown option;
 *     ACL_ERROR_RT_CONTEXT_NULL (107002) without a context; ACL_ERROR_RT_SYSPARAMOPT_NOT_SET
 *     (107021) if it was not set
 */
ACL_FUNC_VISIBILITY aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t *value);

/**
 * Sets a system option of the current context.
 * @param opt option
 * @param value new value, usually 0 off, 1 on
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for an unknown option; ACL_ERROR_RT_CONTEXT_NULL
 *     (107002) without a context
 */
ACL_FUNC_VISIBILITY aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value);

/**
 * Reads a system option of the process. ACL_OPT_DETERMINISTIC is 0 until it is set.
 * @param opt option
 * @param value [out] value
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL or an unknown option;
 *     ACL_ERROR_RT_SYSPARAMOPT_NOT_SET (107021) if another option was not set
 */
ACL_FUNC_VISIBILITY aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t *value);

/**
 * Sets a system option of the process.
 * @param opt option
 * @param value new value, usually 0 off, 1 on
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for an unknown option
 */
ACL_FUNC_VISIBILITY aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value);

/* ---- Time limits and overflow ---------------------------------------------------------------- */

/**
 * Limits how long an operator may run.
 * @param timeout seconds, 0 for the longest limit
 * @return 0; on a CPU the limit has no effect, which the log says once
 */
ACL_FUNC_VISIBILITY aclError aclrtSetOpExecuteTimeOut(uint32_t timeout);

/**
 * As aclrtSetOpExecuteTimeOut(), in another unit.
 * @param timeout milliseconds, 0 for the longest limit
 * @return 0; on a CPU the limit has no effect, which the log says once
 */
ACL_FUNC_VISIBILITY aclError aclrtSetOpExecuteTimeOutWithMs(uint32_t timeout);

/**
 * As aclrtSetOpExecuteTimeOut(), in another unit. Newer than CANN 8.1.
 * @param timeout microseconds, 0 for the longest limit
 * @param actualTimeout [out] the limit in force, microseconds: on a CPU the largest number
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; on a CPU the limit has no effect, which the
 *     log says once
 */
ACL_FUNC_VISIBILITY aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t *actualTimeout);

/**
 * Chooses what an overflow of a floating-point number gives on the current device. Operators here
 * follow IEEE 754: infinity and NaN.
 * @param mode ACL_RT_OVERFLOW_MODE_INFNAN; ACL_RT_OVERFLOW_MODE_SATURATION where the product knows
 *     no other one
 * @return 0; ACL_ERROR_RT_CONTEXT_NULL (107002) without a context; ACL_ERROR_RT_PARAM_INVALID
 *     (107000) for an unknown mode; ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000) for a mode that the
 *     product does not have here
 */
ACL_FUNC_VISIBILITY aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode);

/**
 * Reads what an overflow of a floating-point number gives on the current device.
 * @param mode [out] the mode set by aclrtSetDeviceSatMode(), else that of the product
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_CONTEXT_NULL (107002) without
 *     a context
 */
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode *mode);

/* ---- Streams --------------------------------------------------------------------------------- */

/**
 * Creates a stream in the current context.
 * @param stream [out] handle, owned by the caller until aclrtDestroyStream()
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_CONTEXT_NULL (107002) without
 *     a context; ACL_ERROR_RT_NO_STREAM_RESOURCE (207008) if there are too many
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateStream(aclrtStream *stream);

/**
 * Creates a stream with a priority and flags.
 * @param stream [out] handle, owned by the caller until aclrtDestroyStream()
 * @param priority 0 (highest) to 7; larger values count as 7
 * @param flag ACL_STREAM_* bits; they only tune latency, unknown ones are ignored
 * @return as aclrtCreateStream()
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t priority,
                                                         uint32_t flag);

/**
 * Creates a stream with options.
 * @param stream [out] handle, owned by the caller until aclrtDestroyStream()
 * @param handle options, or NULL for the defaults
 * @return as aclrtCreateStream()
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateStreamV2(aclrtStream *stream,
                                                 const aclrtStreamConfigHandle *handle);

/**
 * Creates a set of stream options, all zero.
 * @return structure, owned by the caller until aclrtDestroyStreamConfigHandle(); NULL if no memory
 *     is left
 */
ACL_FUNC_VISIBILITY aclrtStreamConfigHandle *aclrtCreateStreamConfigHandle(void);

/**
 * Destroys a set of stream options.
 * @param handle structure from aclrtCreateStreamConfigHandle()
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL
 */
ACL_FUNC_VISIBILITY aclError aclrtDestroyStreamConfigHandle(aclrtStreamConfigHandle *handle);

/**
 * Sets a stream option.
 * @param handle structure
 * @param attr which option
 * @param attrValue address of the value, which is copied
 * @param valueSize bytes: 8 for the work address (a pointer), the work size and the flag (size_t);
 *     4 for the priority (uint32_t, at most 7)
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL, an unknown option, another size or a larger
 *     priority
 */
ACL_FUNC_VISIBILITY aclError aclrtSetStreamConfigOpt(aclrtStreamConfigHandle *handle,
                                                     aclrtStreamConfigAttr attr,
                                                     const void *attrValue, size_t valueSize);

/**
 * Waits for the work of a stream and destroys it.
 * @param stream handle
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_STREAM_CONTEXT (107003) for a
 *     stream of another context; ACL_ERROR_RT_INVALID_HANDLE (107017) for a dead or foreign handle;
 *     ACL_ERROR_RT_STREAM_CAPTURED (107027) during its capture
 *     ACL_ERROR_RT_PARAM_INVALID (107000) from a callback that the stream waits for
 */
ACL_FUNC_VISIBILITY aclError aclrtDestroyStream(aclrtStream stream);

/**
 * Destroys a stream without running the work that has not started.
 * @param stream handle
 * @return as aclrtDestroyStream()
 *     ACL_ERROR_RT_PARAM_INVALID (107000) from a callback that the stream waits for
 */
ACL_FUNC_VISIBILITY aclError aclrtDestroyStreamForce(aclrtStream stream);

/**
 * Waits for the work of a stream.
 * @param stream handle, NULL for the default stream
 * @return 0; ACL_ERROR_RT_AICORE_EXCEPTION (507015) if a task failed since the last report;
 *     ACL_ERROR_RT_INVALID_HANDLE (107017) for a dead or foreign handle;
 *     ACL_ERROR_RT_STREAM_CAPTURED (107027) during its capture
 *     ACL_ERROR_RT_PARAM_INVALID (107000) from a callback that the stream waits for
 */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeStream(aclrtStream stream);

/**
 * Waits for the work of a stream, but not longer than a limit.
 * @param stream handle, NULL for the default stream
 * @param timeout milliseconds; -1 for ever, 0 only looks
 * @return as aclrtSynchronizeStream(); ACL_ERROR_RT_PARAM_INVALID (107000) for less than -1;
 *     ACL_ERROR_RT_STREAM_SYNC_TIMEOUT (507046) when the limit has passed
 */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout);

/**
 * Tells whether all work of a stream is done.
 * @param stream handle, NULL for the default stream
 * @param status [out] ACL_STREAM_STATUS_COMPLETE or ACL_STREAM_STATUS_NOT_READY
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_INVALID_HANDLE (107017) for a
 *     dead or foreign handle; ACL_ERROR_RT_STREAM_CAPTURED (107027) during its capture
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus *status);

/**
 * Makes later work of a stream wait for the latest record of an event. Asynchronous.
 * @param stream handle, NULL for the default stream
 * @param event event; one made with flags needs ACL_EVENT_SYNC
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for a NULL event; ACL_ERROR_RT_INVALID_HANDLE
 *     (107017) for a dead or foreign handle; ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000) for an event
 *     without ACL_EVENT_SYNC
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event);

/**
 * Gives a number of a stream that no other live stream has.
 * @param stream handle, NULL for the default stream
 * @param streamId [out] number, not negative
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_INVALID_HANDLE (107017) for a
 *     dead or foreign handle
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamGetId(aclrtStream stream, int32_t *streamId);

/**
 * Discards the work of a stream that has not started.
 * @param stream handle
 * @return 0; ACL_ERROR_RT_INVALID_HANDLE (107017) for a dead or foreign handle
 *     ACL_ERROR_RT_PARAM_INVALID (107000) from a callback that the stream waits for
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamAbort(aclrtStream stream);

/**
 * Chooses what happens to later work after a failed task. Once per stream.
 * @param stream handle
 * @param mode ACL_CONTINUE_ON_FAILURE (default) or ACL_STOP_ON_FAILURE
 * @return 0; ACL_ERROR_RT_PARAM_INVALID (107000) for another mode or on a repetition;
 *     ACL_ERROR_RT_INVALID_HANDLE (107017) for a dead or foreign handle
 */
ACL_FUNC_VISIBILITY aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode);

/**
 * Says whether overflows of a stream's operators are wanted to be noticed. On a CPU nothing looks
 * for them; the switch is kept.
 * @param stream handle, NULL for the default stream
 * @param flag 0 off (default), 1 on
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for another flag; ACL_ERROR_RT_INVALID_HANDLE
 *     (107017) for a dead or foreign handle
 */
ACL_FUNC_VISIBILITY aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag);

/**
 * Reads the switch of aclrtSetStreamOverflowSwitch().
 * @param stream handle, NULL for the default stream
 * @param flag [out] 0 off, 1 on
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_INVALID_HANDLE (107017) for a
 *     dead or foreign handle
 */
ACL_FUNC_VISIBILITY aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t *flag);

/**
 * Sets a property of a stream. Newer than CANN 8.1.
 * @param stream handle, NULL for the default stream
 * @param stmAttrType which property
 * @param value address of the value, which is copied
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL or an unknown property;
 *     ACL_ERROR_RT_INVALID_HANDLE (107017) for a dead or foreign handle
 */
ACL_FUNC_VISIBILITY aclError aclrtSetStreamAttribute(aclrtStream stream,
                                                     aclrtStreamAttr stmAttrType,
                                                     aclrtStreamAttrValue *value);

/* ---- Events ---------------------------------------------------------------------------------- */

/**
 * Creates an event for waiting, timing and progress.
 * @param event [out] handle, owned by the caller until aclrtDestroyEvent()
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_CONTEXT_NULL (107002) without
 *     a context
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateEvent(aclrtEvent *event);

/**
 * Creates an event for certain uses.
 * @param event [out] handle, owned by the caller until aclrtDestroyEvent()
 * @param flag OR of ACL_EVENT_SYNC, ACL_EVENT_CAPTURE_STREAM_PROGRESS, ACL_EVENT_TIME_LINE; or
 *     ACL_EVENT_DEVICE_USE_ONLY or ACL_EVENT_EXTERNAL alone
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_PARAM_INVALID (107000) for
 *     other flags; ACL_ERROR_RT_CONTEXT_NULL (107002) without a context
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag);

/**
 * Creates an event that is recycled by itself: it cannot be reset, and only aclrtQueryEventStatus()
 * can query it.
 * @param event [out] handle, owned by the caller until aclrtDestroyEvent()
 * @param flag OR of ACL_EVENT_SYNC, ACL_EVENT_CAPTURE_STREAM_PROGRESS, ACL_EVENT_TIME_LINE; or
 *     ACL_EVENT_IPC alone
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_PARAM_INVALID (107000) for
 *     other flags; ACL_ERROR_RT_CONTEXT_NULL (107002) without a context
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag);

/**
 * Destroys an event; a pending record or wait still takes its course.
 * @param event handle
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_INVALID_HANDLE (107017) for a
 *     dead or foreign handle
 */
ACL_FUNC_VISIBILITY aclError aclrtDestroyEvent(aclrtEvent event);

/**
 * Marks the present end of a stream's work. A repetition moves the mark. Asynchronous.
 * @param event handle
 * @param stream handle, NULL for the default stream
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for a NULL event; ACL_ERROR_RT_STREAM_CONTEXT
 * (107003) for an event of another context; ACL_ERROR_RT_INVALID_HANDLE (107017) for a dead or
 * foreign handle
 */
ACL_FUNC_VISIBILITY aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream);

/**
 * Takes back the record of an event, in stream order. Asynchronous.
 * @param event handle, not from aclrtCreateEventExWithFlag()
 * @param stream handle, NULL for the default stream
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for a NULL event; ACL_ERROR_RT_PARAM_INVALID (107000)
 *     for an event that cannot be reset; ACL_ERROR_RT_INVALID_HANDLE (107017) for a dead or foreign
 *     handle
 */
ACL_FUNC_VISIBILITY aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream);

/**
 * Tells whether an event is complete. Deprecated, use aclrtQueryEventStatus().
 * @param event handle, not from aclrtCreateEventExWithFlag()
 * @param status [out] ACL_EVENT_STATUS_COMPLETE (0) or ACL_EVENT_STATUS_NOT_READY
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_PARAM_INVALID (107000) for an
 *     event that cannot be queried so; ACL_ERROR_RT_INVALID_HANDLE (107017) for a dead or foreign
 *     handle; ACL_ERROR_RT_EVENT_CAPTURED (107028) for a captured one
 */
ACL_FUNC_VISIBILITY aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus *status);

/**
 * Tells whether the recorded point has been passed.
 * @param event handle
 * @param status [out] ACL_EVENT_RECORDED_STATUS_COMPLETE (1) or
 *     ACL_EVENT_RECORDED_STATUS_NOT_READY; an event from aclrtCreateEventExWithFlag() that was
 *     never recorded is complete
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_INVALID_HANDLE (107017) for a
 *     dead or foreign handle; ACL_ERROR_RT_EVENT_CAPTURED (107028) for a captured one
 */
ACL_FUNC_VISIBILITY aclError aclrtQueryEventStatus(aclrtEvent event,
                                                   aclrtEventRecordedStatus *status);

/**
 * Tells whether all waits for an event are over.
 * @param event handle, not from aclrtCreateEventExWithFlag()
 * @param status [out] ACL_EVENT_WAIT_STATUS_COMPLETE (0) or ACL_EVENT_WAIT_STATUS_NOT_READY
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_PARAM_INVALID (107000) for an
 *     event that cannot be queried so; ACL_ERROR_RT_INVALID_HANDLE (107017) for a dead or foreign
 *     handle; ACL_ERROR_RT_EVENT_CAPTURED (107028) for a captured one
 */
ACL_FUNC_VISIBILITY aclError aclrtQueryEventWaitStatus(aclrtEvent event,
                                                       aclrtEventWaitStatus *status);

/**
 * Waits on the host until the recorded point has been passed.
 * @param event handle
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_INTERNAL_ERROR (507000) for an
 *     event that was never recorded; ACL_ERROR_RT_INVALID_HANDLE (107017) for a dead or foreign
 *     handle; ACL_ERROR_RT_EVENT_CAPTURED (107028) for a captured one
 *     ACL_ERROR_RT_PARAM_INVALID (107000) from a callback that the stream behind it waits for
 */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeEvent(aclrtEvent event);

/**
 * Waits on the host until the recorded point has been passed, but not longer than a limit.
 * @param event handle
 * @param timeout milliseconds, -1 for ever
 * @return as aclrtSynchronizeEvent(); ACL_ERROR_RT_PARAM_INVALID (107000) for less than -1;
 *     ACL_ERROR_RT_EVENT_SYNC_TIMEOUT (507047) when the limit has passed
 */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout);

/**
 * Gives the time between two events.
 * @param ms [out] milliseconds, negative if the end came first
 * @param startEvent event with ACL_EVENT_TIME_LINE
 * @param endEvent event with ACL_EVENT_TIME_LINE
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_INTERNAL_ERROR (507000) for an
 *     event that was not recorded; ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID (107006) for one that is
 *     not complete or without ACL_EVENT_TIME_LINE; ACL_ERROR_RT_EVENT_CAPTURED (107028) for a
 *     captured one
 */
ACL_FUNC_VISIBILITY aclError aclrtEventElapsedTime(float *ms, aclrtEvent startEvent,
                                                   aclrtEvent endEvent);

/**
 * Gives the time at which an event was passed.
 * @param event event with ACL_EVENT_TIME_LINE
 * @param timestamp [out] microseconds from an arbitrary origin
 * @return as aclrtEventElapsedTime()
 */
ACL_FUNC_VISIBILITY aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t *timestamp);

/**
 * Limits how long aclrtStreamWaitEvent() lets a stream wait.
 * @param timeout seconds, 0 for no limit
 * @return 0; on a CPU the limit has no effect, which the log says once
 */
ACL_FUNC_VISIBILITY aclError aclrtSetOpWaitTimeout(uint32_t timeout);

/* ---- Memory ---------------------------------------------------------------------------------- */

/**
 * Allocates device memory, at least 64-byte aligned, rounded up to 32 bytes plus 32 spare ones. The
 * contents are undefined.
 * @param devPtr [out] address, owned by the caller until aclrtFree()
 * @param size bytes, not 0
 * @param policy hint, any value
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL, size 0 or an overflow;
 *     ACL_ERROR_RT_CONTEXT_NULL (107002) without a context; ACL_ERROR_RT_MEMORY_ALLOCATION (207001)
 *     if no memory is left
 */
ACL_FUNC_VISIBILITY aclError aclrtMalloc(void **devPtr, size_t size, aclrtMemMallocPolicy policy);

/**
 * As aclrtMalloc(), without the spare bytes.
 * @param devPtr [out] address, owned by the caller until aclrtFree()
 * @param size bytes, not 0
 * @param policy hint, any value
 * @return as aclrtMalloc()
 */
ACL_FUNC_VISIBILITY aclError aclrtMallocAlign32(void **devPtr, size_t size,
                                                aclrtMemMallocPolicy policy);

/**
 * As aclrtMalloc(), for memory that the host reads as well; see aclrtMemFlush().
 * @param devPtr [out] address, owned by the caller until aclrtFree()
 * @param size bytes, not 0
 * @param policy hint, any value
 * @return as aclrtMalloc()
 */
ACL_FUNC_VISIBILITY aclError aclrtMallocCached(void **devPtr, size_t size,
                                               aclrtMemMallocPolicy policy);

/**
 * As aclrtMalloc(), with options.
 * @param devPtr [out] address, owned by the caller until aclrtFree()
 * @param size bytes, not 0
 * @param policy hint, any value
 * @param cfg options, or NULL
 * @return as aclrtMalloc(); ACL_ERROR_INVALID_PARAM (100000) for a NULL attrs with a numAttrs that
 *     is not 0
 */
ACL_FUNC_VISIBILITY aclError aclrtMallocWithCfg(void **devPtr, size_t size,
                                                aclrtMemMallocPolicy policy,
                                                aclrtMallocConfig *cfg);

/**
 * As aclrtMallocWithCfg(), for memory of the task scheduler.
 * @param devPtr [out] address, owned by the caller until aclrtFree()
 * @param size bytes, not 0
 * @param policy hint, any value
 * @param cfg options, or NULL
 * @return as aclrtMallocWithCfg()
 */
ACL_FUNC_VISIBILITY aclError aclrtMallocForTaskScheduler(void **devPtr, size_t size,
                                                         aclrtMemMallocPolicy policy,
                                                         aclrtMallocConfig *cfg);

/**
 * Frees device memory. Returns at once; the memory is released when all work submitted before has
 * passed. Needs no context.
 * @param devPtr address from aclrtMalloc() and its kin
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_PARAM_INVALID (107000) for any
 *     other address
 */
ACL_FUNC_VISIBILITY aclError aclrtFree(void *devPtr);

/**
 * Allocates pinned host memory, 64-byte aligned, from 4096 bytes on at a page. The contents are
 * undefined.
 * @param hostPtr [out] address, owned by the caller until aclrtFreeHost()
 * @param size bytes, not 0
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL or size 0; ACL_ERROR_RT_MEMORY_ALLOCATION
 *     (207001) if no memory is left
 */
ACL_FUNC_VISIBILITY aclError aclrtMallocHost(void **hostPtr, size_t size);

/**
 * As aclrtMallocHost(), with options.
 * @param ptr [out] address, owned by the caller until aclrtFreeHost()
 * @param size bytes, not 0
 * @param cfg options, or NULL
 * @return as aclrtMallocHost(); ACL_ERROR_INVALID_PARAM (100000) for a NULL attrs with a numAttrs
 *     that is not 0
 */
ACL_FUNC_VISIBILITY aclError aclrtMallocHostWithCfg(void **ptr, uint64_t size,
                                                    aclrtMallocConfig *cfg);

/**
 * Frees pinned host memory.
 * @param hostPtr address from aclrtMallocHost() or aclrtMallocHostWithCfg()
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_PARAM_INVALID (107000) for any
 *     other address
 */
ACL_FUNC_VISIBILITY aclError aclrtFreeHost(void *hostPtr);

/**
 * Copies, and returns when the copy is done. Does not wait for streams. The ranges must not
 * overlap.
 * @param dst destination
 * @param destMax bytes available at dst, at least count
 * @param src source. If it lies in an aclrtMalloc() block, bytes beyond the block arrive as zeros
 * @param count bytes; 0 is always a success
 * @param kind ACL_MEMCPY_HOST_TO_HOST to ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL or another kind; ACL_ERROR_RT_PARAM_INVALID
 *     (107000) if count exceeds destMax; ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT (107030) during a
 *     capture that forbids it
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpy(void *dst, size_t destMax, const void *src, size_t count,
                                         aclrtMemcpyKind kind);

/**
 * Copies in stream order. Memory of aclrtMallocHost() must stay untouched until the stream has
 * passed; other host memory may be reused after the return.
 * @param dst destination
 * @param destMax bytes available at dst, at least count
 * @param src source
 * @param count bytes; 0 is always a success
 * @param kind as in aclrtMemcpy(), but not ACL_MEMCPY_HOST_TO_HOST
 * @param stream handle, NULL for the default stream
 * @return as aclrtMemcpy(); ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000) for host to host;
 *     ACL_ERROR_RT_INVALID_HANDLE (107017) for a dead or foreign stream
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyAsync(void *dst, size_t destMax, const void *src,
                                              size_t count, aclrtMemcpyKind kind,
                                              aclrtStream stream);

/**
 * As aclrtMemcpyAsync(), but refuses host memory that is not pinned.
 * @param dst destination
 * @param destMax bytes available at dst, at least count
 * @param src source
 * @param count bytes; 0 is always a success
 * @param kind as in aclrtMemcpyAsync()
 * @param stream handle, NULL for the default stream
 * @return as aclrtMemcpyAsync(); ACL_ERROR_RT_PARAM_INVALID (107000) for host memory that is not
 *     pinned
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyAsyncWithCondition(void *dst, size_t destMax,
                                                           const void *src, size_t count,
                                                           aclrtMemcpyKind kind,
                                                           aclrtStream stream);

/**
 * Copies height rows of width bytes, and returns when the copy is done.
 * @param dst destination
 * @param dpitch bytes from row to row at dst, at least width
 * @param src source
 * @param spitch bytes from row to row at src, at least width
 * @param width bytes of a row; 0 is always a success
 * @param height number of rows; 0 is always a success
 * @param kind ACL_MEMCPY_HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE or DEFAULT
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL, a pitch below width or another kind
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpy2d(void *dst, size_t dpitch, const void *src, size_t spitch,
                                           size_t width, size_t height, aclrtMemcpyKind kind);

/**
 * As aclrtMemcpy2d(), in stream order.
 * @param dst destination
 * @param dpitch bytes from row to row at dst, at least width
 * @param src source
 * @param spitch bytes from row to row at src, at least width
 * @param width bytes of a row; 0 is always a success
 * @param height number of rows; 0 is always a success
 * @param kind as in aclrtMemcpy2d()
 * @param stream handle, NULL for the default stream
 * @return as aclrtMemcpy2d(); ACL_ERROR_RT_INVALID_HANDLE (107017) for a dead or foreign stream
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpy2dAsync(void *dst, size_t dpitch, const void *src,
                                                size_t spitch, size_t width, size_t height,
                                                aclrtMemcpyKind kind, aclrtStream stream);

/**
 * Sets bytes, and returns when they are set.
 * @param devPtr start
 * @param maxCount bytes available at devPtr, at least count
 * @param value its low byte is used
 * @param count bytes; 0 is always a success
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_PARAM_INVALID (107000) if
 *     count exceeds maxCount
 */
ACL_FUNC_VISIBILITY aclError aclrtMemset(void *devPtr, size_t maxCount, int32_t value,
                                         size_t count);

/**
 * As aclrtMemset(), in stream order.
 * @param devPtr start
 * @param maxCount bytes available at devPtr, at least count
 * @param value its low byte is used
 * @param count bytes; 0 is always a success
 * @param stream handle, NULL for the default stream
 * @return as aclrtMemset(); ACL_ERROR_RT_INVALID_HANDLE (107017) for a dead or foreign stream
 */
ACL_FUNC_VISIBILITY aclError aclrtMemsetAsync(void *devPtr, size_t maxCount, int32_t value,
                                              size_t count, aclrtStream stream);

/**
 * Makes numBatches copies between host and device, in any order, and returns when they are done.
 * Newer than CANN 8.1.
 * @param dsts destinations
 * @param destMaxs bytes available at each destination
 * @param srcs sources
 * @param sizes bytes of each copy; all 0 is a success at once
 * @param numBatches number of copies, not 0
 * @param attrs numAttrs pairs of places; entry k holds for the copies from attrsIndexes[k] up to
 *     the next entry. Places must match the addresses, rsv must be 0
 * @param attrsIndexes numAttrs numbers of copies
 * @param numAttrs number of entries
 * @param failIndex [out] the copy that failed; SIZE_MAX if no single copy is to blame
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL, numBatches 0, a size above its destMax or
 *     rsv bytes that are not 0; ACL_ERROR_RT_PARAM_INVALID (107000) for a copy that is not between
 *     host and device or does not match its places
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyBatch(void **dsts, size_t *destMaxs, void **srcs,
                                              size_t *sizes, size_t numBatches,
                                              aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes,
                                              size_t numAttrs, size_t *failIndex);

/**
 * As aclrtMemcpyBatch(), in stream order; host memory that is not pinned may be reused after the
 * return. Newer than CANN 8.1.
 * @param dsts destinations
 * @param destMaxs bytes available at each destination
 * @param srcs sources
 * @param sizes bytes of each copy; all 0 is a success at once
 * @param numBatches number of copies, not 0
 * @param attrs as in aclrtMemcpyBatch()
 * @param attrsIndexes numAttrs numbers of copies
 * @param numAttrs number of entries
 * @param failIndex [out] as in aclrtMemcpyBatch()
 * @param stream handle, NULL for the default stream
 * @return as aclrtMemcpyBatch(); ACL_ERROR_RT_INVALID_HANDLE (107017) for a dead or foreign stream
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyBatchAsync(void **dsts, size_t *destMaxs, void **srcs,
                                                   size_t *sizes, size_t numBatches,
                                                   aclrtMemcpyBatchAttr *attrs,
                                                   size_t *attrsIndexes, size_t numAttrs,
                                                   size_t *failIndex, aclrtStream stream);

/**
 * Gives the size of a copy description.
 * @param kind direction of the copy
 * @param descSize [out] bytes
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL or an unknown kind
 */
ACL_FUNC_VISIBILITY aclError aclrtGetMemcpyDescSize(aclrtMemcpyKind kind, size_t *descSize);

/**
 * Fills a copy description.
 * @param desc [out] device memory of the caller, as large as aclrtGetMemcpyDescSize() says
 * @param kind direction of the copy
 * @param srcAddr source
 * @param dstAddr destination
 * @param count bytes
 * @param config reserved, NULL
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL or an unknown kind
 */
ACL_FUNC_VISIBILITY aclError aclrtSetMemcpyDesc(void *desc, aclrtMemcpyKind kind, void *srcAddr,
                                                void *dstAddr, size_t count, void *config);

/**
 * Makes the copy of a description, in stream order.
 * @param desc description; must stay unchanged until the stream has passed
 * @param kind direction of the copy, as in the description
 * @param stream handle, NULL for the default stream
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL or an unknown kind;
 *     ACL_ERROR_RT_INVALID_HANDLE (107017) for a dead or foreign stream
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyAsyncWithDesc(void *desc, aclrtMemcpyKind kind,
                                                      aclrtStream stream);

/**
 * Writes cached data back to device memory; there is nothing to do on a CPU.
 * @param devPtr start
 * @param size bytes, not 0
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL or size 0
 */
ACL_FUNC_VISIBILITY aclError aclrtMemFlush(void *devPtr, size_t size);

/**
 * Drops cached data of device memory; there is nothing to do on a CPU.
 * @param devPtr start
 * @param size bytes, not 0
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL or size 0
 */
ACL_FUNC_VISIBILITY aclError aclrtMemInvalidate(void *devPtr, size_t size);

/**
 * Gives free and total device memory. Every kind answers with the same memory.
 * @param attr kind of memory
 * @param free [out] bytes
 * @param total [out] bytes
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_CONTEXT_NULL (107002) without
 *     a device
 */
ACL_FUNC_VISIBILITY aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t *free, size_t *total);

/**
 * Gives the memory use of the components of a device. Newer than CANN 8.1.
 * @param deviceId device number
 * @param memUsageInfo [out] inputNum entries of the caller
 * @param inputNum number of entries, not 0
 * @param outputNum [out] number of entries filled
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL or 0 entries; ACL_ERROR_RT_INVALID_DEVICEID
 *     (107001) for a device that does not exist
 */
ACL_FUNC_VISIBILITY aclError aclrtGetMemUsageInfo(int32_t deviceId, aclrtMemUsageInfo *memUsageInfo,
                                                  size_t inputNum, size_t *outputNum);

/**
 * Tells whose memory an address belongs to.
 * @param ptr address
 * @param attributes [out] kind of memory, device, page size in bytes; memory that was not allocated
 *     or registered here is ACL_MEM_LOCATION_TYPE_UNREGISTERED
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL
 */
ACL_FUNC_VISIBILITY aclError aclrtPointerGetAttributes(const void *ptr,
                                                       aclrtPtrAttributes *attributes);

/**
 * Makes host memory usable as device memory, also that of aclrtMallocHost().
 * @param ptr start, 4096-byte aligned
 * @param size bytes, not 0
 * @param type how
 * @param devPtr [out] device address, equal to ptr here; valid until aclrtHostUnregister()
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL or size 0; ACL_ERROR_RT_PARAM_INVALID
 *     (107000) for an unknown type
 */
ACL_FUNC_VISIBILITY aclError aclrtHostRegister(void *ptr, uint64_t size, aclrtHostRegisterType type,
                                               void **devPtr);

/**
 * Registers host memory. Newer than CANN 8.1.
 * @param ptr start, 4096-byte aligned
 * @param size bytes, not 0
 * @param flag ACL_HOST_REG_* bits
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL or size 0; ACL_ERROR_RT_PARAM_INVALID
 *     (107000) for unknown bits
 */
ACL_FUNC_VISIBILITY aclError aclrtHostRegisterV2(void *ptr, uint64_t size, uint32_t flag);

/**
 * Takes back a registration.
 * @param ptr start of registered memory
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_PARAM_INVALID (107000) for any
 *     other address
 */
ACL_FUNC_VISIBILITY aclError aclrtHostUnregister(void *ptr);

/**
 * Prefetches into the cache of the device; no effect on a CPU.
 * @param src start
 * @param size bytes, not 0
 * @param cmoType must be ACL_RT_CMO_TYPE_PREFETCH
 * @param stream handle, NULL for the default stream
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL or size 0; ACL_ERROR_RT_PARAM_INVALID
 *     (107000) for another operation
 */
ACL_FUNC_VISIBILITY aclError aclrtCmoAsync(void *src, size_t size, aclrtCmoType cmoType,
                                           aclrtStream stream);

/**
 * Writes a 64-bit number in stream order. Newer than CANN 8.1.
 * @param devAddr destination, 8-byte aligned
 * @param value number
 * @param flag must be 0
 * @param stream handle, NULL for the default stream
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_PARAM_INVALID (107000) for a
 *     flag or an unaligned address; ACL_ERROR_RT_INVALID_HANDLE (107017) for a dead or foreign
 *     stream
 *     On a CPU: ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000).
 */
ACL_FUNC_VISIBILITY aclError aclrtValueWrite(void *devAddr, uint64_t value, uint32_t flag,
                                             aclrtStream stream);

/**
 * Makes a stream wait until a 64-bit number in memory fulfils a condition. Newer than CANN 8.1.
 * @param devAddr address of the number, 8-byte aligned
 * @param value number to compare with
 * @param flag ACL_STREAM_WAIT_VALUE_GEQ (the signed difference is not negative), _EQ, _AND (a
 *     common bit) or _NOR
 * @param stream handle, NULL for the default stream
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_PARAM_INVALID (107000) for
 *     another flag or an unaligned address; ACL_ERROR_RT_INVALID_HANDLE (107017) for a dead or
 *     foreign stream
 *     On a CPU: ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000).
 */
ACL_FUNC_VISIBILITY aclError aclrtValueWait(void *devAddr, uint64_t value, uint32_t flag,
                                            aclrtStream stream);

/* ---- Virtual memory -------------------------------------------------------------------------- */

/**
 * Reserves a range of addresses without memory.
 * @param virPtr [out] start, owned by the caller until aclrtReleaseMemAddress()
 * @param size bytes, not 0
 * @param alignment must be 0
 * @param expectPtr must be NULL
 * @param flags 0 for normal pages, 1 for huge pages
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL or size 0; ACL_ERROR_RT_PARAM_INVALID
 *     (107000) for other arguments; ACL_ERROR_RT_MEMORY_ALLOCATION (207001) if the range cannot be
 *     had
 */
ACL_FUNC_VISIBILITY aclError aclrtReserveMemAddress(void **virPtr, size_t size, size_t alignment,
                                                    void *expectPtr, uint64_t flags);

/**
 * Gives a range of addresses back. Everything in it must be unmapped.
 * @param virPtr start from aclrtReserveMemAddress()
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_PARAM_INVALID (107000) for any
 *     other address
 */
ACL_FUNC_VISIBILITY aclError aclrtReleaseMemAddress(void *virPtr);

/**
 * Allocates physical memory without an address.
 * @param handle [out] handle, owned by the caller until aclrtFreePhysical()
 * @param size bytes, a multiple of the granularity
 * @param prop kind of memory
 * @param flags must be 0
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL or size 0; ACL_ERROR_RT_PARAM_INVALID
 *     (107000) for other arguments; ACL_ERROR_RT_MEMORY_ALLOCATION (207001) if no memory is left
 */
ACL_FUNC_VISIBILITY aclError aclrtMallocPhysical(aclrtDrvMemHandle *handle, size_t size,
                                                 const aclrtPhysicalMemProp *prop, uint64_t flags);

/**
 * Frees physical memory; while it is mapped, the release waits for aclrtUnmapMem().
 * @param handle handle
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_PARAM_INVALID (107000) for a
 *     dead or foreign handle
 */
ACL_FUNC_VISIBILITY aclError aclrtFreePhysical(aclrtDrvMemHandle handle);

/**
 * Puts physical memory at an address.
 * @param virPtr address inside a reserved range, a multiple of the page size, free for size bytes
 * @param size bytes, all of the physical memory
 * @param offset must be 0
 * @param handle physical memory that is not mapped elsewhere
 * @param flags must be 0
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL or size 0; ACL_ERROR_RT_PARAM_INVALID
 *     (107000) for other arguments
 */
ACL_FUNC_VISIBILITY aclError aclrtMapMem(void *virPtr, size_t size, size_t offset,
                                         aclrtDrvMemHandle handle, uint64_t flags);

/**
 * Takes physical memory away from an address, at once: work that uses it must have passed.
 * @param virPtr start from aclrtMapMem()
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_PARAM_INVALID (107000) for any
 *     other address
 */
ACL_FUNC_VISIBILITY aclError aclrtUnmapMem(void *virPtr);

/**
 * Gives the unit of sizes for aclrtMallocPhysical().
 * @param prop kind of memory
 * @param option minimum or recommended
 * @param granularity [out] bytes
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_PARAM_INVALID (107000) for an
 *     unknown option
 */
ACL_FUNC_VISIBILITY aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp *prop,
                                                              aclrtMemGranularityOptions option,
                                                              size_t *granularity);

/* ---- Memory of other processes ---------------------------------------------------------------
 * Declared for programs that link it. On a CPU each answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT
 * (207000) with a text, whatever its arguments. */

/**
 * Makes physical memory known to other processes.
 * @param handle physical memory
 * @param handleType must be ACL_MEM_HANDLE_TYPE_NONE
 * @param flags 0, or 1 to share without the check of aclrtMemSetPidToShareableHandle()
 * @param shareableHandle [out] number for aclrtMemImportFromShareableHandle()
 * @return ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000)
 */
ACL_FUNC_VISIBILITY aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle,
                                                             aclrtMemHandleType handleType,
                                                             uint64_t flags,
                                                             uint64_t *shareableHandle);

/**
 * Opens physical memory of another process.
 * @param shareableHandle number from aclrtMemExportToShareableHandle()
 * @param deviceId device number
 * @param handle [out] physical memory
 * @return ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000)
 */
ACL_FUNC_VISIBILITY aclError aclrtMemImportFromShareableHandle(uint64_t shareableHandle,
                                                               int32_t deviceId,
                                                               aclrtDrvMemHandle *handle);

/**
 * Names the processes that may open physical memory.
 * @param shareableHandle number from aclrtMemExportToShareableHandle()
 * @param pid process numbers
 * @param pidNum how many
 * @return ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000)
 */
ACL_FUNC_VISIBILITY aclError aclrtMemSetPidToShareableHandle(uint64_t shareableHandle, int32_t *pid,
                                                             size_t pidNum);

/* ---- Kernels ---------------------------------------------------------------------------------
 * Kernels are NPU machine code. Declared for programs that link it; each answers
 * ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000) with a text, whatever its arguments. */

/**
 * Loads kernels from memory. Newer than CANN 8.1.
 * @param data contents of a kernel file
 * @param length bytes
 * @param options options
 * @param binHandle [out] loaded kernels
 * @return ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000)
 */
ACL_FUNC_VISIBILITY aclError aclrtBinaryLoadFromData(const void *data, size_t length,
                                                     const aclrtBinaryLoadOptions *options,
                                                     aclrtBinHandle *binHandle);

/**
 * Finds a kernel by its name.
 * @param binHandle loaded kernels
 * @param kernelName name of the kernel
 * @param funcHandle [out] kernel
 * @return ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000)
 */
ACL_FUNC_VISIBILITY aclError aclrtBinaryGetFunction(const aclrtBinHandle binHandle,
                                                    const char *kernelName,
                                                    aclrtFuncHandle *funcHandle);

/**
 * Gives the addresses of a kernel.
 * @param funcHandle kernel
 * @param aicAddr [out] address for cube cores
 * @param aivAddr [out] address for vector cores
 * @return ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000)
 */
ACL_FUNC_VISIBILITY aclError aclrtGetFunctionAddr(aclrtFuncHandle funcHandle, void **aicAddr,
                                                  void **aivAddr);

/* ---- Host callbacks -------------------------------------------------------------------------- */

/**
 * Lets a thread run the callbacks of a stream.
 * @param threadId the thread, as pthread_self() names it
 * @param stream handle, NULL for the default stream
 * @return 0; ACL_ERROR_RT_STREAM_SUBSCRIBE (107011) if the stream is already subscribed;
 *     ACL_ERROR_RT_INVALID_HANDLE (107017) for a dead or foreign stream
 */
ACL_FUNC_VISIBILITY aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream);

/**
 * Runs waiting callbacks on this thread.
 * @param timeout milliseconds to wait for one, -1 for ever
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for 0 or less than -1; ACL_ERROR_RT_THREAD_SUBSCRIBE
 *     (107012) if the thread is not subscribed; ACL_ERROR_RT_REPORT_TIMEOUT (507012) if there was
 *     none in time
 */
ACL_FUNC_VISIBILITY aclError aclrtProcessReport(int32_t timeout);

/**
 * Takes back aclrtSubscribeReport().
 * @param threadId the thread
 * @param stream handle, NULL for the default stream
 * @return 0; ACL_ERROR_RT_THREAD_SUBSCRIBE (107012) or ACL_ERROR_RT_STREAM_NO_CB_REG (107015) if
 *     they are not subscribed
 */
ACL_FUNC_VISIBILITY aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream);

/**
 * Lets the subscribed thread call a function, in stream order.
 * @param fn function
 * @param userData argument, passed on; stays the caller's
 * @param blockType ACL_CALLBACK_BLOCK: later work of the stream waits for the function
 * @param stream handle, NULL for the default stream
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for another blockType; ACL_ERROR_RT_PARAM_INVALID
 *     (107000) for a NULL fn; ACL_ERROR_RT_STREAM_NO_CB_REG (107015) if the stream is not
 *     subscribed
 */
ACL_FUNC_VISIBILITY aclError aclrtLaunchCallback(aclrtCallback fn, void *userData,
                                                 aclrtCallbackBlockType blockType,
                                                 aclrtStream stream);

/**
 * Calls a function on a thread of the library, in stream order; later work waits for it. The
 * function must not allocate, synchronise or launch. Newer than CANN 8.1.
 * @param stream handle, NULL for the default stream
 * @param fn function
 * @param args argument, passed on; stays the caller's
 * @return 0; ACL_ERROR_RT_PARAM_INVALID (107000) for a NULL fn; ACL_ERROR_RT_INVALID_HANDLE
 *     (107017) for a dead or foreign stream
 */
ACL_FUNC_VISIBILITY aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void *args);

/**
 * Older twin of aclrtSubscribeReport().
 * @param hostFuncThreadId the thread, as pthread_self() names it
 * @param exeStream handle, NULL for the default stream
 * @return as aclrtSubscribeReport()
 */
ACL_FUNC_VISIBILITY aclError aclrtSubscribeHostFunc(uint64_t hostFuncThreadId,
                                                    aclrtStream exeStream);

/**
 * Older twin of aclrtProcessReport().
 * @param timeout milliseconds to wait, -1 for ever
 * @return as aclrtProcessReport()
 */
ACL_FUNC_VISIBILITY aclError aclrtProcessHostFunc(int32_t timeout);

/**
 * Older twin of aclrtUnSubscribeReport().
 * @param hostFuncThreadId the thread
 * @param exeStream handle, NULL for the default stream
 * @return as aclrtUnSubscribeReport()
 */
ACL_FUNC_VISIBILITY aclError aclrtUnSubscribeHostFunc(uint64_t hostFuncThreadId,
                                                      aclrtStream exeStream);

/* ---- Graph capture --------------------------------------------------------------------------- */

/**
 * From now on work submitted to a stream is recorded instead of run. Other streams join by waiting
 * for an event recorded in it, and must rejoin before the end.
 * @param stream handle, not the default stream
 * @param mode which calls are forbidden meanwhile
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_PARAM_INVALID (107000) for an
 *     unknown mode; ACL_ERROR_RT_STREAM_CONTEXT (107003) for a stream of another context;
 *     ACL_ERROR_RT_STREAM_CAPTURED (107027) if it is captured already;
 *     ACL_ERROR_RT_FEATURE_NOT_SUPPORT (207000) for the default stream, and for every stream on a
 * CPU, where graphs are not captured
 */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode);

/**
 * Tells whether a stream is captured.
 * @param stream handle
 * @param status [out] state, may be NULL
 * @param modelRI [out] graph, may be NULL but not both; stays the library's until
 *     aclmdlRICaptureEnd()
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for a NULL stream or two NULL outputs
 */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureGetInfo(aclrtStream stream,
                                                    aclmdlRICaptureStatus *status,
                                                    aclmdlRI *modelRI);

/**
 * Ends a capture. In the modes other than RELAXED on the thread that began it.
 * @param stream handle
 * @param modelRI [out] graph, owned by the caller until aclmdlRIDestroy(). Tensors and workspaces
 *     used in it must stay allocated
 * @return 0; ACL_ERROR_RT_PARAM_INVALID (107000) for a NULL modelRI; ACL_ERROR_RT_STREAM_UNJOINED
 *     (107025) if a stream did not rejoin; ACL_ERROR_RT_STREAM_NOT_CAPTURED (107029) if the stream
 *     is not captured; ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD (107038) on another thread;
 *     ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED (507903) if the capture was broken
 */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI *modelRI);

/**
 * Runs all tasks of a graph in stream order, with the recorded addresses. Any number of times.
 * @param modelRI graph
 * @param stream handle, NULL for the default stream
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for a NULL graph; ACL_ERROR_RT_INVALID_HANDLE
 *     (107017) for a dead or foreign handle; a failing task is reported as
 *     ACL_ERROR_RT_MODEL_EXECUTE (507011)
 */
ACL_FUNC_VISIBILITY aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream);

/**
 * Destroys a graph.
 * @param modelRI graph
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_INVALID_HANDLE (107017) for a
 *     dead or foreign handle
 */
ACL_FUNC_VISIBILITY aclError aclmdlRIDestroy(aclmdlRI modelRI);

/**
 * Writes the tasks of a graph into the log.
 * @param modelRI graph
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_INVALID_HANDLE (107017) for a
 *     dead or foreign handle
 */
ACL_FUNC_VISIBILITY aclError aclmdlRIDebugPrint(aclmdlRI modelRI);

/**
 * Exchanges the mode of this thread.
 * @param mode [in, out] new mode; gets the previous one
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_PARAM_INVALID (107000) for an
 *     unknown mode
 */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode *mode);

/**
 * Begins a group of tasks that can be replaced later.
 * @param stream captured stream
 * @return 0; ACL_ERROR_RT_STREAM_NOT_CAPTURED (107029) if it is not captured;
 *     ACL_ERROR_STREAM_TASK_GROUP_STATUS (107033) inside another group
 */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream);

/**
 * Ends a group of tasks.
 * @param stream captured stream
 * @param handle [out] group, owned by the graph
 * @return 0; ACL_ERROR_INVALID_PARAM (100000) for NULL; ACL_ERROR_RT_STREAM_NOT_CAPTURED (107029)
 *     if the stream is not captured; ACL_ERROR_STREAM_TASK_GROUP_STATUS (107033) without a
 *     beginning; ACL_ERROR_STREAM_TASK_GROUP_INTR (107034) if the group was broken
 */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp *handle);

/**
 * From now on work submitted to a stream replaces the parameters of a group's tasks, one by one.
 * @param stream stream that is not captured
 * @param handle group
 * @return 0; ACL_ERROR_RT_STREAM_CAPTURED (107027) if the stream is captured;
 *     ACL_ERROR_STREAM_TASK_GROUP_STATUS (107033) inside another update
 */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream,
                                                            aclrtTaskGrp handle);

/**
 * Ends the replacement of parameters.
 * @param stream the stream of aclmdlRICaptureTaskUpdateBegin()
 * @return 0; ACL_ERROR_STREAM_TASK_GROUP_STATUS (107033) without a beginning
 */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif /* ACL_ACL_RT_H_ */
