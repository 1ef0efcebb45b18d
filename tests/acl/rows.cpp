// The rows of the interface's test table that need no operator, in one process.
#include <acl/acl.h>
#include <pthread.h>

#include <atomic>
#include <climits>
#include <cmath>
#include <cstring>
#include <thread>
#include <vector>

#include "pyaclnn/debug.h"
#include "pyaclnn/version.h"
#include "tap.hpp"

namespace {

using tap::equal;
using tap::ok;

bool told(const char *part) {
  const char *text = aclGetRecentErrMsg();
  return text != nullptr && std::strstr(text, part) != nullptr;
}

void before_any_failure() { ok(aclGetRecentErrMsg() == nullptr, "X1 no failure, no text"); }

void versions() {
  int32_t a = 0, b = 0, c = 0;
  equal(aclrtGetVersion(&a, &b, &c), 0, "V1 version");
  ok(a == 1 && b == 13 && c == 0, "V1 is 1.13.0");
  equal(aclrtGetVersion(nullptr, &b, &c), 100000, "V2 NULL");
  equal(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, nullptr), 100000, "V3 NULL");
  aclCANNPackageVersion version;
  equal(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, &version), 0, "release");
  ok(std::strcmp(version.version, "8.5.0") == 0 && std::strcmp(version.majorVersion, "8") == 0 &&
         std::strcmp(version.minorVersion, "5") == 0,
     "release is 8.5.0");
  equal(aclsysGetCANNVersion(static_cast<aclCANNPackageName>(99), &version), 100000,
        "release of an unknown package");
  char text[ACL_PKG_VERSION_MAX_SIZE], name[] = "runtime", wrong[] = "x";
  equal(aclsysGetVersionStr(name, text), 0, "release as text");
  equal(aclsysGetVersionStr(wrong, text), 100000, "release as text of an unknown package");
}

void without_device() {
  int32_t d = -1;
  aclrtStream s = nullptr;
  aclrtEvent e = nullptr;
  void *p = nullptr;
  size_t f = 0, t = 0;
  equal(aclrtGetDevice(&d), 107002, "D3 no device");
  equal(aclrtCreateStream(&s), 107002, "S2 no device");
  equal(aclrtCreateEvent(&e), 107002, "event without device");
  equal(aclrtMalloc(&p, 16, ACL_MEM_MALLOC_HUGE_FIRST), 107002, "memory without device");
  equal(aclrtGetMemInfo(ACL_HBM_MEM, &f, &t), 107002, "memory info without device");
  equal(aclrtSynchronizeDevice(), 107002, "synchronise without device");
  aclrtContext c = nullptr;
  equal(aclrtGetCurrentContext(&c), 107002, "context without device");
  int64_t v = 0;
  equal(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &v), 107002, "context option without device");
}

void devices() {
  uint32_t n = 0;
  equal(aclrtGetDeviceCount(&n), 0, "D1 count");
  ok(n >= 1, "D1 at least one");
  equal(aclrtGetDeviceCount(nullptr), 100000, "D2 NULL");
  equal(aclrtSetDevice(-1), 107001, "D4 below");
  equal(aclrtSetDevice(static_cast<int32_t>(n)), 107001, "D4 above");
  equal(aclrtSetDevice(0), 0, "D5 set");
  int32_t d = -1;
  equal(aclrtGetDevice(&d), 0, "D5 get");
  equal(d, 0, "D5 is 0");
  equal(aclrtGetDevice(nullptr), 100000, "D5 NULL");
  equal(aclrtResetDevice(0), 0, "D6 reset");
  equal(aclrtResetDevice(0), 507007, "D6 second reset");
  equal(aclrtGetDevice(&d), 107002, "D6 unbound then");
  equal(aclrtSetDevice(0), 0, "D7 set");
  equal(aclrtSetDevice(0), 0, "D7 set again");
  equal(aclrtResetDevice(0), 0, "D7 reset");
  equal(aclrtGetDevice(&d), 0, "D7 still bound");
  equal(aclrtResetDevice(0), 0, "D7 second reset");
  equal(aclrtResetDevice(0), 507007, "D7 third reset");
  equal(aclrtResetDevice(5000), 107001, "reset of no device");
  equal(aclrtSetDevice(0), 0, "set");
  equal(aclrtSetDevice(0), 0, "set again");
  equal(aclrtResetDeviceForce(0), 0, "forced reset");
  equal(aclrtResetDeviceForce(0), 507007, "second forced reset");
  equal(aclrtSetDevice(0), 0, "D0");
  std::thread([] {
    int32_t other = -1;
    equal(aclrtGetDevice(&other), 107002, "D8 another thread is not bound");
  }).join();
  aclrtRunMode mode = ACL_DEVICE;
  equal(aclrtGetRunMode(&mode), 0, "D9 run mode");
  equal(mode, ACL_HOST, "D9 is host");
  equal(aclrtGetRunMode(nullptr), 100000, "D9 NULL");
  int32_t can = -1;
  equal(aclrtDeviceCanAccessPeer(&can, 0, 0), 100000, "D10 same device");
  equal(aclrtDeviceCanAccessPeer(nullptr, 0, 0), 100000, "D10 same device comes first");
  equal(aclrtDeviceCanAccessPeer(&can, 0, 77), 107001, "D10 no such device");
  equal(aclrtDeviceEnablePeerAccess(0, 1), 200006, "D11 flags");
  equal(aclrtDeviceEnablePeerAccess(0, 0), 100000, "D11 own device");
  equal(aclrtDeviceEnablePeerAccess(77, 0), 107001, "D11 no such device");
  ok(aclrtGetSocName() != nullptr && std::strcmp(aclrtGetSocName(), "Ascend910B3") == 0,
     "D12 SoC name");
  int64_t v = 0;
  equal(aclGetDeviceCapability(0, ACL_DEVICE_INFO_AI_CORE_NUM, &v), 0, "AI cores");
  equal(v, 20, "20 AI cores");
  equal(aclGetDeviceCapability(0, ACL_DEVICE_INFO_VECTOR_CORE_NUM, &v), 0, "vector cores");
  equal(v, 40, "40 vector cores");
  equal(aclGetDeviceCapability(0, ACL_DEVICE_INFO_L2_SIZE, &v), 0, "L2");
  equal(v, 201326592, "L2 size");
  equal(aclGetDeviceCapability(9, ACL_DEVICE_INFO_L2_SIZE, &v), 100000, "capability of no device");
  equal(aclGetDeviceCapability(0, ACL_DEVICE_INFO_UNDEFINED, &v), 100000, "unknown capability");
  equal(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_CUBE_CORE_NUM, &v), 0, "device info");
  equal(v, 20, "20 cube cores");
  int32_t attribute = -1;
  equal(aclGetCannAttribute(ACL_CANN_ATTR_BF16, &attribute), 0, "BF16 attribute");
  equal(attribute, 1, "BF16 is there");
  equal(aclGetCannAttribute(ACL_CANN_ATTR_UNDEFINED, &attribute), 100000, "unknown attribute");
  equal(aclrtSetTsDevice(ACL_TS_ID_AIVECTOR), 0, "TS device");
  equal(aclrtSetTsDevice(ACL_TS_ID_RESERVED), 100000, "unknown TS device");
  uint32_t flags = 0;
  int32_t active = -1;
  equal(aclrtGetPrimaryCtxState(0, nullptr, &active), 0, "primary context");
  equal(active, 1, "is active");
  equal(aclrtGetPrimaryCtxState(0, &flags, &active), 100000, "flags are reserved");
  equal(aclrtGetPrimaryCtxState(0, nullptr, nullptr), 100000, "primary context NULL");
  aclrtUtilizationInfo utilization = {};
  equal(aclrtGetDeviceUtilizationRate(0, &utilization), 0, "utilisation");
  equal(aclrtGetDeviceUtilizationRate(0, nullptr), 100000, "utilisation NULL");
}

void contexts() {
  aclrtContext primary = nullptr, c = nullptr, x = nullptr;
  equal(aclrtGetCurrentContext(&primary), 0, "C2 primary");
  equal(aclrtCreateContext(&c, 0), 0, "C1 create");
  equal(aclrtGetCurrentContext(&x), 0, "C1 get");
  ok(x == c && c != primary, "C1 is current");
  aclrtStream s = nullptr, t = nullptr;
  equal(aclrtCreateStream(&s), 0, "stream of the new context");
  equal(aclrtSetCurrentContext(primary), 0, "switch back");
  equal(aclrtSynchronizeStream(s), 107003, "stream of another context");
  equal(aclrtDestroyStream(s), 107003, "destroying it");
  aclrtEvent e = nullptr;
  equal(aclrtCreateEvent(&e), 0, "event");
  equal(aclrtSetCurrentContext(c), 0, "switch");
  equal(aclrtRecordEvent(e, nullptr), 107003, "event of another context");
  equal(aclrtDestroyEvent(e), 0, "destroyed from anywhere");
  equal(aclrtDestroyContext(c), 0, "C1 destroy");
  equal(aclrtGetCurrentContext(&x), 107002, "no context then");
  equal(aclrtDestroyContext(c), 107002, "C1 destroy again");
  equal(aclrtSetCurrentContext(c), 107000, "destroyed context");
  equal(aclrtDestroyStream(s), 0, "a stream outlives its context");
  equal(aclrtSetCurrentContext(primary), 0, "primary again");
  equal(aclrtDestroyContext(primary), 107002, "C2 primary cannot be destroyed");
  ok(told("aclrtDestroyContext"), "C2 leaves a text");
  equal(aclrtDestroyContext(nullptr), 100000, "C2 NULL");
  equal(aclrtSetCurrentContext(nullptr), 100000, "C3 NULL");
  equal(aclrtCreateContext(nullptr, 0), 100000, "create NULL");
  equal(aclrtCreateContext(&c, 99), 107001, "create on no device");
  int64_t v = -1;
  equal(aclrtGetSysParamOpt(ACL_OPT_STRONG_CONSISTENCY, &v), 107021, "C4 not set");
  equal(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &v), 0, "C4 the one with a default");
  equal(v, 0, "C4 its default");
  equal(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1), 0, "C4 set");
  equal(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &v), 0, "C4 get");
  equal(v, 1, "C4 value");
  equal(aclrtSetSysParamOpt(static_cast<aclSysParamOpt>(50), 1), 100000, "C4 unknown option");
  equal(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &v), 107021, "C4 the context has its own");
  equal(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 0), 0, "C4 set in the context");
  (void)t;
}

void streams() {
  aclrtStream s = nullptr, t = nullptr;
  equal(aclrtCreateStream(nullptr), 100000, "S1 NULL");
  equal(aclrtCreateStream(&s), 0, "create");
  equal(aclrtSynchronizeStream(nullptr), 0, "S3 default stream");
  equal(aclrtDestroyStream(nullptr), 100000, "S4 NULL");
  equal(aclrtSynchronizeStreamWithTimeout(s, -2), 107000, "S6 below -1");
  equal(aclrtSynchronizeStreamWithTimeout(s, -1), 0, "S6 no limit");
  equal(aclrtSynchronizeStreamWithTimeout(s, 0), 0, "S6 0 looks once");
  aclrtStreamStatus q = ACL_STREAM_STATUS_NOT_READY;
  equal(aclrtStreamQuery(s, &q), 0, "S7 query");
  equal(q, ACL_STREAM_STATUS_COMPLETE, "S7 complete");
  equal(aclrtStreamQuery(s, nullptr), 100000, "S7 NULL");
  equal(aclrtCreateStreamWithConfig(&t, 99, 3), 0, "S8 large priority");
  int32_t id = -1, other = -1;
  equal(aclrtStreamGetId(s, &id), 0, "id");
  equal(aclrtStreamGetId(t, &other), 0, "other id");
  ok(id >= 0 && other >= 0 && id != other, "ids differ");
  equal(aclrtStreamGetId(s, nullptr), 100000, "id NULL");
  aclrtStreamConfigHandle *h = aclrtCreateStreamConfigHandle();
  uint32_t priority = 8;
  size_t flag = 1;
  equal(aclrtSetStreamConfigOpt(h, ACL_RT_STREAM_PRIORITY, &priority, 4), 100000, "S9 priority 8");
  priority = 7;
  equal(aclrtSetStreamConfigOpt(h, ACL_RT_STREAM_PRIORITY, &priority, 4), 0, "S9 priority 7");
  equal(aclrtSetStreamConfigOpt(h, ACL_RT_STREAM_PRIORITY, &flag, 8), 100000, "S9 wrong size");
  equal(aclrtSetStreamConfigOpt(h, ACL_RT_STREAM_FLAG, &flag, 8), 0, "S9 flag");
  equal(aclrtSetStreamConfigOpt(nullptr, ACL_RT_STREAM_FLAG, &flag, 8), 100000, "S9 NULL handle");
  equal(aclrtSetStreamConfigOpt(h, ACL_RT_STREAM_FLAG, nullptr, 8), 100000, "S9 NULL value");
  equal(aclrtSetStreamConfigOpt(h, static_cast<aclrtStreamConfigAttr>(9), &flag, 8), 100000,
        "S9 unknown option");
  aclrtStream u = nullptr;
  equal(aclrtCreateStreamV2(&u, h), 0, "create with options");
  equal(aclrtDestroyStreamConfigHandle(h), 0, "destroy the options");
  equal(aclrtDestroyStreamConfigHandle(nullptr), 100000, "destroy no options");
  equal(aclrtSetStreamFailureMode(u, 2), 107000, "unknown failure mode");
  equal(aclrtSetStreamFailureMode(u, 1), 0, "failure mode");
  equal(aclrtSetStreamFailureMode(u, 0), 107000, "failure mode twice");
  equal(aclrtDestroyStream(u), 0, "destroy");
  equal(aclrtDestroyStream(t), 0, "destroy");
  equal(aclrtDestroyStream(s), 0, "destroy");
  equal(aclrtSynchronizeStream(s), 107017, "S5 destroyed stream");
  ok(told("EE1017"), "S5 text has its code");
  equal(aclrtDestroyStream(s), 107017, "destroyed twice");
  equal(aclrtDestroyStreamForce(s), 107017, "destroyed by force");
  int local = 0;
  equal(aclrtSynchronizeStream(&local), 107017, "a foreign pointer");
  equal(aclrtSynchronizeStream(reinterpret_cast<aclrtStream>(UINT64_MAX)), 107017, "nonsense");
}

void events() {
  aclrtStream s = nullptr;
  aclrtEvent e = nullptr, f = nullptr;
  equal(aclrtCreateStream(&s), 0, "stream");
  equal(aclrtCreateEvent(nullptr), 100000, "create NULL");
  equal(aclrtCreateEventWithFlag(&e, 0), 107000, "E1 no flag");
  equal(aclrtCreateEventWithFlag(&e, 0x800), 107000, "E1 unknown flag");
  equal(aclrtCreateEventWithFlag(&e, ACL_EVENT_EXTERNAL | ACL_EVENT_SYNC), 107000,
        "E1 external stands alone");
  equal(aclrtCreateEventExWithFlag(&e, ACL_EVENT_EXTERNAL), 107000, "E1 external Ex");
  equal(aclrtCreateEvent(&e), 0, "E2 create");
  aclrtEventStatus old = ACL_EVENT_STATUS_COMPLETE;
  aclrtEventRecordedStatus q = ACL_EVENT_RECORDED_STATUS_COMPLETE;
  equal(aclrtQueryEvent(e, &old), 0, "query of a never recorded event");
  equal(old, ACL_EVENT_STATUS_NOT_READY, "is not ready");
  equal(aclrtSynchronizeEvent(e), 507000, "synchronise a never recorded event");
  equal(aclrtRecordEvent(e, s), 0, "E2 record");
  equal(aclrtSynchronizeEvent(e), 0, "E2 synchronise");
  equal(aclrtQueryEventStatus(e, &q), 0, "E2 query");
  equal(q, ACL_EVENT_RECORDED_STATUS_COMPLETE, "E2 complete is 1");
  equal(aclrtQueryEvent(e, &old), 0, "E2 old query");
  equal(old, ACL_EVENT_STATUS_COMPLETE, "E2 complete is 0");
  aclrtEventWaitStatus w = ACL_EVENT_WAIT_STATUS_NOT_READY;
  equal(aclrtQueryEventWaitStatus(e, &w), 0, "wait query");
  equal(w, ACL_EVENT_WAIT_STATUS_COMPLETE, "no wait is open");
  equal(aclrtSynchronizeEventWithTimeout(e, -2), 107000, "limit below -1");
  equal(aclrtSynchronizeEventWithTimeout(e, 10), 0, "limit");
  aclrtEvent e0 = nullptr, e1 = nullptr;
  float ms = -1;
  equal(aclrtCreateEventWithFlag(&e0, ACL_EVENT_TIME_LINE), 0, "E3 create");
  equal(aclrtCreateEventWithFlag(&e1, ACL_EVENT_TIME_LINE), 0, "E3 create");
  equal(aclrtEventElapsedTime(&ms, e0, e1), 507000, "E4 never recorded");
  equal(aclrtRecordEvent(e0, s), 0, "E3 record");
  equal(aclrtRecordEvent(e1, s), 0, "E3 record");
  equal(aclrtSynchronizeStream(s), 0, "E3 synchronise");
  equal(aclrtEventElapsedTime(&ms, e0, e1), 0, "E3 elapsed");
  ok(ms >= 0, "E3 is not negative");
  equal(aclrtEventElapsedTime(&ms, e1, e0), 0, "E3 reversed");
  ok(ms <= 0, "E3 reversed is not positive");
  equal(aclrtEventElapsedTime(nullptr, e0, e1), 100000, "E3 NULL");
  uint64_t a = 0, b = 0;
  equal(aclrtEventGetTimestamp(e0, &a), 0, "time stamp");
  equal(aclrtEventGetTimestamp(e1, &b), 0, "time stamp");
  ok(a > 0 && a <= b, "time stamps rise");
  equal(aclrtStreamWaitEvent(s, e0), 207000, "wait for an event without SYNC");
  equal(aclrtCreateEventWithFlag(&f, ACL_EVENT_SYNC), 0, "SYNC event");
  equal(aclrtRecordEvent(f, s), 0, "record it");
  equal(aclrtStreamWaitEvent(s, f), 0, "wait for it");
  equal(aclrtSynchronizeStream(s), 0, "passes");
  equal(aclrtEventElapsedTime(&ms, f, e1), 107006, "no time line");
  equal(aclrtResetEvent(f, s), 0, "reset");
  equal(aclrtQueryEventStatus(f, &q), 0, "query after reset");
  equal(q, ACL_EVENT_RECORDED_STATUS_NOT_READY, "not ready after reset");
  aclrtEvent x = nullptr;
  equal(aclrtCreateEventExWithFlag(&x, ACL_EVENT_SYNC), 0, "Ex event");
  equal(aclrtQueryEventStatus(x, &q), 0, "query Ex");
  equal(q, ACL_EVENT_RECORDED_STATUS_COMPLETE, "never recorded Ex is complete");
  equal(aclrtQueryEvent(x, &old), 107000, "old query of Ex");
  equal(aclrtQueryEventWaitStatus(x, &w), 107000, "wait query of Ex");
  equal(aclrtResetEvent(x, s), 107000, "reset of Ex");
  equal(aclrtStreamWaitEvent(s, x), 0, "wait for a never recorded Ex event");
  equal(aclrtSynchronizeStream(s), 0, "does not wait");
  equal(aclrtDestroyEvent(nullptr), 100000, "E5 NULL");
  equal(aclrtRecordEvent(nullptr, s), 100000, "record NULL");
  equal(aclrtStreamWaitEvent(s, nullptr), 100000, "wait NULL");
  equal(aclrtSynchronizeEvent(nullptr), 100000, "synchronise NULL");
  for (aclrtEvent each : {e, e0, e1, f, x}) equal(aclrtDestroyEvent(each), 0, "destroy");
  equal(aclrtDestroyEvent(e), 107017, "destroyed twice");
  equal(aclrtRecordEvent(e, s), 107017, "record a destroyed event");
  equal(aclrtDestroyEvent(s), 107017, "a stream is no event");
  equal(aclrtDestroyStream(s), 0, "destroy");
}

void memory() {
  void *p = nullptr, *d = nullptr, *h = nullptr;
  const int64_t live = pyaclnnLiveCount("memory");
  equal(aclrtMalloc(&p, 0, ACL_MEM_MALLOC_HUGE_FIRST), 100000, "M1 size 0");
  equal(aclrtMalloc(nullptr, 16, ACL_MEM_MALLOC_HUGE_FIRST), 100000, "M2 NULL");
  equal(aclrtMalloc(&p, 1, ACL_MEM_MALLOC_HUGE_FIRST), 0, "M3 one byte");
  ok(reinterpret_cast<uintptr_t>(p) % 64 == 0, "M3 alignment");
  std::memset(p, 1, 64);
  equal(aclrtFree(p), 0, "M3 free");
  equal(aclrtFree(p), 107000, "freed twice");
  equal(aclrtMalloc(&p, SIZE_MAX, ACL_MEM_MALLOC_HUGE_FIRST), 100000, "M4 rounding overflows");
  equal(aclrtMalloc(&p, 1ull << 60, ACL_MEM_MALLOC_HUGE_FIRST), 207001, "M5 too much");
  equal(aclrtFree(nullptr), 100000, "M6 NULL");
  ok(told("EH"), "X5 text has an EH code");
  equal(aclrtFreeHost(nullptr), 100000, "host NULL");
  equal(aclrtMalloc(&d, 1000, ACL_MEM_MALLOC_HUGE_FIRST), 0, "device block");
  equal(aclrtFreeHost(d), 107000, "M7 device block as host block");
  equal(aclrtMallocHost(&h, 1000), 0, "host block");
  ok(reinterpret_cast<uintptr_t>(h) % 64 == 0, "host alignment");
  equal(aclrtFree(h), 107000, "host block as device block");
  equal(aclrtMemcpy(d, 16, h, 32, ACL_MEMCPY_HOST_TO_DEVICE), 107000, "M8 too large");
  equal(aclrtMemcpy(nullptr, 16, h, 16, ACL_MEMCPY_HOST_TO_DEVICE), 100000, "M9 NULL");
  equal(aclrtMemcpy(d, 16, h, 16, static_cast<aclrtMemcpyKind>(9)), 100000, "M10 kind");
  equal(aclrtMemcpy(d, 16, h, 16, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE), 100000, "M10 kind 6");
  equal(aclrtMemcpy(nullptr, 0, nullptr, 0, ACL_MEMCPY_HOST_TO_DEVICE), 0, "M11 nothing");
  char in[1000], out[1000];
  for (int i = 0; i < 1000; ++i) in[i] = static_cast<char>(i * 7);
  void *d2 = nullptr;
  equal(aclrtMalloc(&d2, 1000, ACL_MEM_MALLOC_NORMAL_ONLY), 0, "second block");
  equal(aclrtMemcpy(d, 1000, in, 1000, ACL_MEMCPY_HOST_TO_DEVICE), 0, "M12 to device");
  equal(aclrtMemcpy(d2, 1000, d, 1000, ACL_MEMCPY_DEVICE_TO_DEVICE), 0, "M12 on device");
  equal(aclrtMemcpy(out, 1000, d2, 1000, ACL_MEMCPY_DEVICE_TO_HOST), 0, "M12 to host");
  ok(std::memcmp(in, out, 1000) == 0, "M12 same bytes");
  equal(aclrtMemset(d, 16, 0x1FF, 16), 0, "M13 set");
  bool all = true;
  for (int i = 0; i < 16; ++i) all = all && static_cast<unsigned char *>(d)[i] == 0xff;
  ok(all, "M13 low byte");
  equal(aclrtMemset(d, 16, 0, 17), 107000, "M14 too large");
  equal(aclrtMemset(nullptr, 16, 0, 16), 100000, "M14 NULL");
  equal(aclrtMemset(nullptr, 16, 0, 0), 0, "M14 nothing");
  equal(aclrtMemcpy2d(d, 8, h, 16, 12, 2, ACL_MEMCPY_HOST_TO_DEVICE), 100000,
        "M15 width over pitch");
  equal(aclrtMemcpy2d(nullptr, 8, nullptr, 16, 0, 2, ACL_MEMCPY_HOST_TO_DEVICE), 0, "M15 width 0");
  equal(aclrtMemcpy2d(d, 16, h, 16, 12, 2, ACL_MEMCPY_HOST_TO_HOST), 100000, "M15 kind");
  equal(aclrtMemcpy2d(d, 100, in, 50, 20, 10, ACL_MEMCPY_HOST_TO_DEVICE), 0, "M15 rows");
  all = true;
  for (int r = 0; r < 10; ++r) {
    all = all && std::memcmp(static_cast<char *>(d) + r * 100, in + r * 50, 20) == 0;
  }
  ok(all, "M15 rows arrived");
  size_t f = 1, t = 0;
  equal(aclrtGetMemInfo(ACL_HBM_MEM, &f, &t), 0, "M16 info");
  ok(f <= t && t > 0, "M16 free is at most total");
  equal(aclrtGetMemInfo(ACL_HBM_MEM, nullptr, &t), 100000, "M16 NULL");
  aclrtPtrAttributes attributes;
  equal(aclrtPointerGetAttributes(static_cast<char *>(d) + 5, &attributes), 0, "M17 attributes");
  ok(attributes.location.type == ACL_MEM_LOCATION_TYPE_DEVICE && attributes.location.id == 0,
     "M17 device 0");
  equal(aclrtPointerGetAttributes(h, &attributes), 0, "M17 host");
  equal(attributes.location.type, ACL_MEM_LOCATION_TYPE_HOST, "M17 is host");
  equal(aclrtPointerGetAttributes(in, &attributes), 0, "M17 stack");
  equal(attributes.location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED, "M17 is unregistered");

  void *dsts[2] = {d, d2}, *srcs[2] = {in, out};
  size_t sizes[2] = {10, 20}, maxima[2] = {10, 20}, indexes[1] = {0}, fail = 7;
  aclrtMemcpyBatchAttr attr[1] = {};
  attr[0].dstLoc.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  attr[0].srcLoc.type = ACL_MEM_LOCATION_TYPE_HOST;
  attr[0].rsv[0] = 1;
  equal(aclrtMemcpyBatch(dsts, maxima, srcs, sizes, 2, attr, indexes, 1, &fail), 100000,
        "M18 reserved byte");
  attr[0].rsv[0] = 0;
  equal(aclrtMemcpyBatch(dsts, maxima, srcs, sizes, 2, attr, indexes, 1, &fail), 0, "M18 batch");
  ok(std::memcmp(d, in, 10) == 0 && std::memcmp(d2, out, 20) == 0, "M18 arrived");
  void *wrong[2] = {d2, out};
  equal(aclrtMemcpyBatch(dsts, maxima, wrong, sizes, 2, attr, indexes, 1, &fail), 107000,
        "M18 wrong place");
  equal(fail, size_t{0}, "M18 tells the copy");
  size_t none[2] = {0, 0};
  fail = 7;
  equal(aclrtMemcpyBatch(nullptr, nullptr, nullptr, none, 2, nullptr, nullptr, 0, &fail), 0,
        "M19 nothing");
  ok(fail == SIZE_MAX, "M19 no copy failed");
  equal(aclrtMemcpyBatch(dsts, maxima, srcs, sizes, 2, attr, indexes, 1, nullptr), 100000,
        "M19 failIndex NULL");

  // A source that ends early: zeros, and no byte beyond the block is read.
  char large[4096];
  std::memset(large, 0x55, sizeof large);
  std::memset(d2, 0x11, 1000);
  equal(aclrtMemcpy(large, sizeof large, d2, 2000, ACL_MEMCPY_DEVICE_TO_HOST), 0,
        "a copy from beyond the end");
  all = true;
  for (int i = 0; i < 2000; ++i) all = all && large[i] == (i < 1000 ? 0x11 : 0);
  ok(all, "bytes beyond the end are zeros");
  ok(large[2000] == 0x55, "nothing further is written");
  equal(aclrtMemcpy(d2, 5000, large, 4000, ACL_MEMCPY_HOST_TO_DEVICE), 107000,
        "a destination that ends early");

  void *r = nullptr;
  static char page[8192] __attribute__((aligned(4096)));
  equal(aclrtHostRegister(page, 4096, ACL_HOST_REGISTER_MAPPED, &r), 0, "register");
  ok(r == page, "same address");
  equal(aclrtHostRegister(page, 4096, ACL_HOST_REGISTER_MAPPED, &r), 107000, "register again");
  equal(aclrtPointerGetAttributes(page, &attributes), 0, "registered memory");
  equal(attributes.location.type, ACL_MEM_LOCATION_TYPE_HOST, "is host");
  equal(aclrtHostUnregister(page), 0, "unregister");
  equal(aclrtHostUnregister(page), 107000, "unregister again");
  void *pinned = nullptr, *on_device = nullptr;
  equal(aclrtMallocHost(&pinned, 8192), 0, "pinned memory");
  ok(reinterpret_cast<uintptr_t>(pinned) % 4096 == 0, "starts at a page");
  equal(aclrtHostRegister(pinned, 8192, ACL_HOST_REGISTER_MAPPED, &r), 0, "is registered as well");
  ok(r == pinned, "same address");
  equal(aclrtHostRegister(pinned, 8192, ACL_HOST_REGISTER_MAPPED, &r), 107000, "once");
  equal(aclrtHostUnregister(pinned), 0, "unregister it");
  equal(aclrtHostUnregister(pinned), 107000, "once");
  char *part = static_cast<char *>(pinned) + 4096;
  equal(aclrtHostRegister(part, 4096, ACL_HOST_REGISTER_MAPPED, &r), 0, "a part of it");
  equal(aclrtHostRegister(part + 64, 4096, ACL_HOST_REGISTER_MAPPED, &r), 107000, "over its end");
  equal(aclrtFreeHost(pinned), 0, "its end ends the registration");
  equal(aclrtHostUnregister(part), 107000, "which is gone");
  equal(aclrtMalloc(&on_device, 4096, ACL_MEM_MALLOC_HUGE_FIRST), 0, "device memory");
  equal(aclrtHostRegister(on_device, 4096, ACL_HOST_REGISTER_MAPPED, &r), 107000, "is none of it");
  equal(aclrtFree(on_device), 0, "free it");
  aclrtMemUsageInfo usage[2];
  size_t entries = 0;
  equal(aclrtGetMemUsageInfo(0, usage, 2, &entries), 0, "usage");
  ok(entries == 1 && usage[0].curMemSize >= 2000 && usage[0].memPeakSize >= usage[0].curMemSize,
     "usage counts the blocks");

  equal(aclrtFree(d), 0, "free");
  equal(aclrtFree(d2), 0, "free");
  equal(aclrtFreeHost(h), 0, "free host");
  equal(pyaclnnLiveCount("memory"), live, "no block is left");
}

void texts() {
  while (aclGetRecentErrMsg() != nullptr) {
  }
  aclrtFree(nullptr);
  std::thread([] { ok(aclGetRecentErrMsg() == nullptr, "X4 texts are per thread"); }).join();
  aclrtFreeHost(nullptr);
  const char *text = aclGetRecentErrMsg();
  const char *newest = text != nullptr ? std::strstr(text, "aclrtFreeHost") : nullptr;
  const char *trace =
      text != nullptr ? std::strstr(text, "TraceBack (most recent call last):\n") : nullptr;
  const char *older = trace != nullptr ? std::strstr(trace, "aclrtFree:") : nullptr;
  ok(newest != nullptr && trace != nullptr && newest < trace && older != nullptr,
     "X6 newest first, older below the trace line");
  ok(text != nullptr && std::strncmp(text, "EH0002: [PID: ", 14) == 0,
     "X6 begins with code and PID");
  ok(aclGetRecentErrMsg() == nullptr, "X3 a read clears");
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);
  equal(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), 0, "no last error");
  int x = 0;
  aclrtSynchronizeStream(&x);
  equal(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), 107017, "peek");
  equal(aclrtGetLastError(ACL_RT_THREAD_LEVEL), 107017, "get");
  equal(aclrtGetLastError(ACL_RT_THREAD_LEVEL), 0, "get clears");
  equal(aclrtGetLastError(static_cast<aclrtLastErrLevel>(3)), 100000, "unknown level");
}

void helpers() {
  struct {
    int type;
    size_t size;
  } const sizes[] = {{-1, 0}, {0, 4},   {1, 2},  {2, 1},  {3, 4},  {4, 1},  {6, 2},
                     {7, 2},  {8, 4},   {9, 8},  {10, 8}, {11, 8}, {12, 1}, {13, 0},
                     {16, 8}, {17, 16}, {27, 2}, {29, 1}, {30, 1}, {33, 4}, {34, 1},
                     {35, 1}, {36, 1},  {37, 1}, {38, 8}, {99, 8}};
  bool all = true;
  for (const auto &each : sizes) {
    all = all && aclDataTypeSize(static_cast<aclDataType>(each.type)) == each.size;
  }
  ok(all, "F1 sizes of the data types");
  equal(aclFloatToFloat16(65504.f), 0x7BFF, "F2 largest");
  equal(aclFloatToFloat16(1.f), 0x3C00, "F2 one");
  equal(aclFloatToFloat16(-2.f), 0xC000, "F2 minus two");
  ok(aclFloat16ToFloat(0x7BFF) == 65504.f && aclFloat16ToFloat(0x3C00) == 1.f &&
         aclFloat16ToFloat(0xC000) == -2.f,
     "F2 and back");
  ok(std::isnan(aclFloat16ToFloat(aclFloatToFloat16(NAN))), "F2 NaN stays");
  equal(aclFloatToFloat16(INFINITY), 0x7C00, "F2 infinity");
  all = true;
  for (uint32_t h = 0; h < 0x10000; ++h) {
    float value = aclFloat16ToFloat(static_cast<aclFloat16>(h));
    if (!std::isnan(value)) all = all && aclFloatToFloat16(value) == h;
  }
  ok(all, "F2 every half survives");
  int x = 0;
  aclDataBuffer *b = aclCreateDataBuffer(&x, 4);
  ok(b != nullptr && aclGetDataBufferAddr(b) == &x && aclGetDataBufferSizeV2(b) == 4 &&
         aclGetDataBufferSize(b) == 4,
     "data buffer");
  equal(aclUpdateDataBuffer(b, nullptr, 9), 0, "update");
  ok(aclGetDataBufferAddr(b) == nullptr && aclGetDataBufferSizeV2(b) == 9, "updated");
  equal(aclDestroyDataBuffer(b), 0, "destroy");
  equal(aclDestroyDataBuffer(b), 100000, "destroyed twice");
  equal(aclDestroyDataBuffer(nullptr), 100000, "destroy NULL");
  ok(aclGetDataBufferAddr(nullptr) == nullptr && aclGetDataBufferSize(nullptr) == 0, "NULL buffer");
  equal(aclUpdateDataBuffer(nullptr, &x, 4), 100000, "update NULL");
}

std::atomic<int> calls{0};
std::atomic<uint64_t> called_on{0};
void *called_with = nullptr;

void count_call(void *argument) {
  called_with = argument;
  called_on.store(static_cast<uint64_t>(pthread_self()));
  calls.fetch_add(1);
}

void callbacks() {
  aclrtStream s = nullptr;
  int u = 0;
  equal(aclrtCreateStream(&s), 0, "stream");
  equal(aclrtLaunchCallback(count_call, &u, ACL_CALLBACK_BLOCK, s), 107015, "H1 not subscribed");
  equal(aclrtLaunchCallback(nullptr, &u, static_cast<aclrtCallbackBlockType>(7), s), 100000,
        "H1 block type first");
  equal(aclrtLaunchCallback(nullptr, &u, ACL_CALLBACK_BLOCK, s), 107000, "H1 function");
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> id{0};
  std::thread helper([&] {
    id.store(static_cast<uint64_t>(pthread_self()));
    while (!stop.load()) aclrtProcessReport(20);
  });
  while (id.load() == 0) std::this_thread::yield();
  equal(aclrtSubscribeReport(id.load(), s), 0, "H2 subscribe");
  equal(aclrtSubscribeReport(id.load(), s), 107011, "H2 subscribe twice");
  for (auto block : {ACL_CALLBACK_BLOCK, ACL_CALLBACK_NO_BLOCK}) {
    calls.store(0);
    equal(aclrtLaunchCallback(count_call, &u, block, s), 0, "H2 launch");
    equal(aclrtSynchronizeStream(s), 0, "H2 synchronise");
    for (int i = 0; i < 2000 && calls.load() == 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    equal(calls.load(), 1, "H2 ran once");
    ok(called_with == &u && called_on.load() == id.load(), "H2 with its argument, in its thread");
  }
  equal(aclrtUnSubscribeReport(id.load(), s), 0, "H2 unsubscribe");
  equal(aclrtUnSubscribeReport(id.load(), s), 107012, "H2 unsubscribe twice");
  aclrtStream gone = nullptr;
  equal(aclrtCreateStream(&gone), 0, "H2 a stream");
  equal(aclrtSubscribeReport(static_cast<uint64_t>(pthread_self()), gone), 0, "H2 subscribed");
  equal(aclrtDestroyStream(gone), 0, "H2 and destroyed");
  equal(aclrtProcessReport(-1), 107012, "H2 leaves no subscription");
  stop.store(true);
  helper.join();
  calls.store(0);
  equal(aclrtLaunchHostFunc(s, count_call, &u), 0, "H3 host function");
  equal(aclrtSynchronizeStream(s), 0, "H3 synchronise");
  equal(calls.load(), 1, "H3 ran once");
  ok(called_on.load() != static_cast<uint64_t>(pthread_self()), "H3 on a thread of the library");
  equal(aclrtLaunchHostFunc(s, nullptr, &u), 107000, "H3 NULL");
  equal(aclrtProcessReport(0), 100000, "H4 limit 0");
  equal(aclrtProcessReport(-2), 100000, "H4 limit below -1");
  equal(aclrtProcessReport(1), 107012, "H4 not subscribed");
  equal(aclrtSubscribeReport(static_cast<uint64_t>(pthread_self()), s), 0, "H4 subscribe");
  equal(aclrtProcessReport(5), 507012, "H4 nothing to report");
  equal(aclrtUnSubscribeReport(static_cast<uint64_t>(pthread_self()), s), 0, "H4 unsubscribe");
  equal(aclrtDestroyStream(s), 0, "destroy");
}

void captures() {
  aclrtStream s = nullptr;
  aclmdlRI m = nullptr;
  equal(aclrtCreateStream(&s), 0, "stream");
  equal(aclmdlRICaptureEnd(s, &m), 107029, "G4 end without begin");
  equal(aclmdlRICaptureEnd(s, nullptr), 107000, "G4 NULL");
  equal(aclmdlRICaptureBegin(nullptr, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), 100000, "G5 NULL");
  equal(aclmdlRICaptureBegin(s, static_cast<aclmdlRICaptureMode>(3)), 107000, "G6 mode");
  equal(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), 207000, "not supported");
  ok(told("aclmdlRICaptureBegin"), "the text names the function");
  aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
  equal(aclmdlRICaptureGetInfo(s, &status, nullptr), 0, "capture info");
  equal(status, ACL_MODEL_RI_CAPTURE_STATUS_NONE, "is not captured");
  equal(aclrtDestroyStream(s), 0, "destroy");
}

void switches() {
  ok(std::strcmp(pyaclnnGetProduct(), "atlas-a2") == 0, "product");
  equal(pyaclnnSetProduct("atlas-310p"), 0, "set product");
  ok(std::strcmp(aclrtGetSocName(), "Ascend310P3") == 0, "its SoC");
  int32_t attribute = -1;
  equal(aclGetCannAttribute(ACL_CANN_ATTR_BF16, &attribute), 0, "BF16 there");
  equal(attribute, 0, "is missing");
  const struct {
    const char *soc, *key;
  } names[] = {{"Ascend910B1", "atlas-a2"},       {"Ascend910B4-1", "atlas-a2"},
               {"Ascend910_9391", "atlas-a3"},    {"Ascend950PR_9599", "ascend-950"},
               {"Ascend310P7", "atlas-310p"},     {"Ascend910A", "atlas-910"},
               {"Ascend910B", "atlas-910"},       {"Ascend910ProA", "atlas-910"},
               {"Ascend910PremiumA", "atlas-910"}};
  for (const auto &name : names) {
    ok(pyaclnnSetProduct(name.soc) == 0 && std::strcmp(pyaclnnGetProduct(), name.key) == 0 &&
           std::strcmp(aclrtGetSocName(), name.soc) == 0,
       name.soc);
  }
  for (const char *wrong : {"", "Ascend", "Ascend910C", "Ascend310P2", "Ascend910B9", "atlas"}) {
    equal(pyaclnnSetProduct(wrong), 100000, "unknown product");
  }
  equal(pyaclnnSetProduct(nullptr), 100000, "product NULL");
  ok(told("atlas-a2"), "the text lists the names");
  equal(pyaclnnSetProduct("atlas-a2"), 0, "and back");
  equal(pyaclnnSetThreads(0), 100000, "no thread");
  equal(pyaclnnSetThreads(257), 100000, "too many threads");
  equal(pyaclnnSetThreads(3), 0, "three threads");
  equal(pyaclnnGetThreads(), 3, "are three");
  equal(pyaclnnSetStreamMode("quick"), 100000, "unknown mode");
  equal(pyaclnnSetStreamMode(nullptr), 100000, "mode NULL");
  equal(pyaclnnLiveCount("dragon"), -1, "unknown kind");
  char text[4] = "xyz";
  equal(pyaclnnExplain(text, sizeof text), size_t{0}, "nothing to explain");
  ok(text[0] == '\0', "and an empty text");
  ok(std::strcmp(pyaclnnVersion(), PYACLNN_VERSION) == 0, "version");
}

}  // namespace

int main() {
  before_any_failure();
  equal(aclInit(nullptr), 0, "I1 init");
  versions();
  without_device();
  devices();
  contexts();
  streams();
  events();
  memory();
  texts();
  helpers();
  callbacks();
  captures();
  switches();
  equal(pyaclnnLiveCount("stream"), 1, "only the default stream is left");
  equal(pyaclnnLiveCount("event"), 0, "no event is left");
  equal(aclrtResetDevice(0), 0, "reset");
  equal(pyaclnnLiveCount("stream"), 0, "no stream is left");
  equal(pyaclnnLiveCount("context"), 0, "no context is left");
  equal(aclFinalize(), 0, "finalize");
  return tap::done();
}
