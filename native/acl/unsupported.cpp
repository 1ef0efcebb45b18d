// Declared, linked by known programs, and not available: one code, and a text that names the
// function.
#include "acl/acl.h"
#include "acl/refuse.hpp"

namespace pyaclnn {
namespace {

int32_t refuse_function(const char *function, const char *instead) {
  return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1006",
              Text() << function << ": is not supported on a CPU, accepted instead: " << instead);
}

constexpr char kAllocate[] = "aclrtMalloc and aclrtFree";
constexpr char kEvents[] = "events (aclrtRecordEvent, aclrtStreamWaitEvent)";

}  // namespace
}  // namespace pyaclnn

using namespace pyaclnn;

aclError aclrtReserveMemAddress(void **, size_t, size_t, void *, uint64_t) {
  return refuse_function("aclrtReserveMemAddress", kAllocate);
}
aclError aclrtReleaseMemAddress(void *) {
  return refuse_function("aclrtReleaseMemAddress", kAllocate);
}
aclError aclrtMallocPhysical(aclrtDrvMemHandle *, size_t, const aclrtPhysicalMemProp *, uint64_t) {
  return refuse_function("aclrtMallocPhysical", kAllocate);
}
aclError aclrtFreePhysical(aclrtDrvMemHandle) {
  return refuse_function("aclrtFreePhysical", kAllocate);
}
aclError aclrtMapMem(void *, size_t, size_t, aclrtDrvMemHandle, uint64_t) {
  return refuse_function("aclrtMapMem", kAllocate);
}
aclError aclrtUnmapMem(void *) { return refuse_function("aclrtUnmapMem", kAllocate); }
aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp *, aclrtMemGranularityOptions,
                                          size_t *) {
  return refuse_function("aclrtMemGetAllocationGranularity", kAllocate);
}
aclError aclrtValueWrite(void *, uint64_t, uint32_t, aclrtStream) {
  return refuse_function("aclrtValueWrite", kEvents);
}
aclError aclrtValueWait(void *, uint64_t, uint32_t, aclrtStream) {
  return refuse_function("aclrtValueWait", kEvents);
}
