// Declared or looked for by known programs, and not available: one line each. Whatever its
// arguments, every one answers a code and a text that names the function and what there is instead.
#include "acl/acl.h"
#include "acl/refuse.hpp"

namespace pyaclnn {
namespace {

// The code of an interface, and what there is instead of it.
struct Instead {
  int32_t code;
  const char *text;
};

constexpr Instead kEvents{ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                          "events (aclrtRecordEvent, aclrtStreamWaitEvent)"};
constexpr Instead kOwnMemory{ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                             "memory of this process (aclrtMalloc, aclrtMallocPhysical)"};
constexpr Instead kOperators{ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                             "the operators of aclnnop/, which are no NPU machine code"};
constexpr Instead kLog{ACL_ERROR_API_NOT_SUPPORT,
                       "copies of the tensors, and the log (ASCEND_GLOBAL_LOG_LEVEL, PYACLNN_LOG)"};

int32_t refuse_function(const char *function, const Instead &instead) {
  return fail(
      instead.code, instead.code == ACL_ERROR_RT_FEATURE_NOT_SUPPORT ? "EE1006" : "EH0009",
      Text() << function << ": is not supported on a CPU, accepted instead: " << instead.text);
}

}  // namespace
}  // namespace pyaclnn

using namespace pyaclnn;

#define UNSUPPORTED(function, parameters, instead) \
  int32_t function parameters { return refuse_function(#function, instead); }

UNSUPPORTED(aclrtValueWrite, (void *, uint64_t, uint32_t, aclrtStream), kEvents)
UNSUPPORTED(aclrtValueWait, (void *, uint64_t, uint32_t, aclrtStream), kEvents)
UNSUPPORTED(aclrtMemExportToShareableHandle,
            (aclrtDrvMemHandle, aclrtMemHandleType, uint64_t, uint64_t *), kOwnMemory)
UNSUPPORTED(aclrtMemImportFromShareableHandle, (uint64_t, int32_t, aclrtDrvMemHandle *), kOwnMemory)
UNSUPPORTED(aclrtMemSetPidToShareableHandle, (uint64_t, int32_t *, size_t), kOwnMemory)
UNSUPPORTED(aclrtBinaryLoadFromData,
            (const void *, size_t, const aclrtBinaryLoadOptions *, aclrtBinHandle *), kOperators)
UNSUPPORTED(aclrtBinaryGetFunction, (aclrtBinHandle, const char *, aclrtFuncHandle *), kOperators)
UNSUPPORTED(aclrtGetFunctionAddr, (aclrtFuncHandle, void **, void **), kOperators)

// No header declares these; native/sdk/exports/libascendcl.txt says who needs them.
extern "C" {
ACL_FUNC_VISIBILITY
UNSUPPORTED(rtDevBinaryRegister, (const void *, void **), kOperators)
ACL_FUNC_VISIBILITY
UNSUPPORTED(rtFunctionRegister, (void *, const void *, const char *, const void *, uint32_t),
            kOperators)
ACL_FUNC_VISIBILITY
UNSUPPORTED(rtKernelLaunch, (const void *, uint32_t, void *, uint32_t, void *, void *), kOperators)
ACL_FUNC_VISIBILITY
UNSUPPORTED(rtGetC2cCtrlAddr, (uint64_t *, uint32_t *), kOperators)
}

UNSUPPORTED(aclmdlInitDump, (void), kLog)
UNSUPPORTED(aclmdlSetDump, (const char *), kLog)
UNSUPPORTED(aclmdlFinalizeDump, (void), kLog)

#undef UNSUPPORTED
