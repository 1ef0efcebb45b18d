// What framework plug-ins ask of the runtime beyond what programs do: tensor descriptions, virtual
// memory, limits, overflow, compile options, profiling, and a refusal that names the function for
// the rest.
#include <acl/acl.h>
#include <acl/acl_op_compiler.h>
#include <hccl/hccl.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "pyaclnn/debug.h"
#include "tap.hpp"

extern "C" {
int32_t MsprofRegisterCallback(uint32_t, void *);
int32_t MsprofReportApi(uint32_t, const void *);
int32_t MsprofReportCompactInfo(uint32_t, const void *, uint32_t);
int32_t MsprofReportAdditionalInfo(uint32_t, const void *, uint32_t);
uint64_t MsprofSysCycleTime(void);
uint64_t MsprofGetHashId(const char *, size_t);
int32_t rtDevBinaryRegister(const void *, void **);
int32_t rtFunctionRegister(void *, const void *, const char *, const void *, uint32_t);
int32_t rtKernelLaunch(const void *, uint32_t, void *, uint32_t, void *, void *);
int32_t rtGetC2cCtrlAddr(uint64_t *, uint32_t *);
}

namespace {

using tap::equal;
using tap::ok;

bool told(const char *part) {
  const char *text = aclGetRecentErrMsg();
  return text != nullptr && std::strstr(text, part) != nullptr;
}

void tensor_descriptions() {
  const int64_t dims[] = {2, 3, 4}, other[] = {6, 4}, unknown[] = {2, -1}, no_rank[] = {-2};
  aclTensorDesc *d = aclCreateTensorDesc(ACL_FLOAT16, 3, dims, ACL_FORMAT_ND);
  ok(d != nullptr, "create");
  equal(aclGetTensorDescType(d), ACL_FLOAT16, "type");
  equal(aclGetTensorDescFormat(d), ACL_FORMAT_ND, "format");
  equal(aclGetTensorDescNumDims(d), 3u, "number of dimensions");
  equal(aclGetTensorDescElementCount(d), 24u, "elements");
  equal(aclGetTensorDescSize(d), 48u, "bytes");
  int64_t size = 0;
  equal(aclGetTensorDescDimV2(d, 2, &size), 0, "a dimension");
  equal(size, 4, "its value");
  equal(aclGetTensorDescDim(d, 1), 3, "the old way");
  equal(aclGetTensorDescDimV2(d, 3, &size), 100000, "an axis too far");
  ok(told("aclGetTensorDescDimV2: index"), "its text");
  equal(aclGetTensorDescDim(d, 3), -1, "the old way, an axis too far");
  equal(aclGetTensorDescDimV2(d, 0, nullptr), 100000, "nowhere to store");
  ok(aclGetTensorDescName(d) != nullptr && *aclGetTensorDescName(d) == 0, "no name");
  aclSetTensorDescName(d, "x");
  ok(std::strcmp(aclGetTensorDescName(d), "x") == 0, "a name");
  const std::string longest(511, 'n'), longer(512, 'n');
  aclSetTensorDescName(d, longest.c_str());
  ok(longest == aclGetTensorDescName(d), "the longest name");
  ok(!told("aclSetTensorDescName"), "without a text");
  aclSetTensorDescName(d, longer.c_str());
  ok(told("aclSetTensorDescName: name"), "a longer name leaves a text");
  ok(longest == aclGetTensorDescName(d), "and the name as it was");
  aclSetTensorDescName(d, nullptr);
  ok(*aclGetTensorDescName(d) == 0, "the name is gone");
  equal(aclSetTensorFormat(d, ACL_FORMAT_FRACTAL_NZ), 0, "storage format");
  equal(aclGetTensorDescFormat(d), ACL_FORMAT_ND, "does not change the format");
  equal(aclSetTensorShape(d, 2, other), 0, "storage shape");
  equal(aclGetTensorDescNumDims(d), 3u, "does not change the shape");
  equal(aclSetTensorShape(d, 129, other), 100000, "too many dimensions");
  equal(aclSetTensorShape(d, 1, nullptr), 100000, "no dimensions");
  equal(aclSetTensorPlaceMent(d, ACL_MEMTYPE_HOST), 0, "on the host");
  equal(aclSetTensorPlaceMent(d, static_cast<aclMemType>(3)), 100000, "an unknown place");
  aclDestroyTensorDesc(d);
  equal(aclGetTensorDescType(d), ACL_DT_UNDEFINED, "type of a dead one");
  ok(told("aclGetTensorDescType: desc"), "its text");
  equal(aclSetTensorFormat(d, ACL_FORMAT_ND), 100000, "format of a dead one");
  ok(aclGetTensorDescName(d) == nullptr, "name of a dead one");
  aclDestroyTensorDesc(d);
  ok(told("aclDestroyTensorDesc: desc"), "destroyed twice: a text");
  aclDestroyTensorDesc(nullptr);
  ok(!told("aclDestroyTensorDesc"), "NULL is nothing to destroy");
  equal(aclGetTensorDescSize(nullptr), 0u, "size of NULL");

  d = aclCreateTensorDesc(ACL_FLOAT, 0, nullptr, ACL_FORMAT_ND);
  equal(aclGetTensorDescElementCount(d), 1u, "a scalar has one element");
  aclDestroyTensorDesc(d);
  d = aclCreateTensorDesc(ACL_FLOAT, 2, unknown, ACL_FORMAT_ND);
  equal(aclGetTensorDescElementCount(d), 0u, "an unknown dimension");
  ok(told("dimension 1 is -1"), "its text");
  aclDestroyTensorDesc(d);
  d = aclCreateTensorDesc(ACL_FLOAT, 1, no_rank, ACL_FORMAT_ND);
  ok(aclGetTensorDescNumDims(d) == ACL_UNKNOWN_RANK, "an unknown rank");
  aclDestroyTensorDesc(d);
  const std::vector<int64_t> most(128, 1);
  d = aclCreateTensorDesc(ACL_FLOAT, 128, most.data(), ACL_FORMAT_ND);
  ok(d != nullptr, "as many dimensions as there may be");
  aclDestroyTensorDesc(d);
  ok(aclCreateTensorDesc(ACL_FLOAT, 129, most.data(), ACL_FORMAT_ND) == nullptr, "one more");
  ok(told("aclCreateTensorDesc: numDims"), "its text");
  ok(aclCreateTensorDesc(ACL_FLOAT, -1, dims, ACL_FORMAT_ND) == nullptr, "less than none");
  ok(aclCreateTensorDesc(ACL_FLOAT, 1, nullptr, ACL_FORMAT_ND) == nullptr, "NULL");
  equal(pyaclnnLiveCount("tensordesc"), 0, "all are gone");
}

constexpr size_t kUnit = size_t{2} << 20;

aclrtPhysicalMemProp of_device(uint32_t device) {
  aclrtPhysicalMemProp prop{};
  prop.memAttr = ACL_HBM_MEM_HUGE;
  prop.location = {device, ACL_MEM_LOCATION_TYPE_DEVICE};
  return prop;
}

uint64_t used() {
  aclrtMemUsageInfo info{};
  size_t count = 0;
  equal(aclrtGetMemUsageInfo(0, &info, 1, &count), 0, "memory in use");
  return info.curMemSize;
}

void virtual_memory() {
  aclrtPhysicalMemProp prop = of_device(0);
  size_t unit = 0;
  equal(aclrtMemGetAllocationGranularity(&prop, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &unit), 0,
        "granularity");
  ok(unit == kUnit, "is 2 MiB");
  equal(aclrtMemGetAllocationGranularity(nullptr, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &unit),
        100000, "granularity of NULL");
  equal(aclrtMemGetAllocationGranularity(&prop, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, nullptr),
        100000, "granularity, nowhere to store");
  equal(aclrtMemGetAllocationGranularity(&prop, static_cast<aclrtMemGranularityOptions>(2), &unit),
        107000, "granularity of an unknown kind");

  void *range = nullptr;
  equal(aclrtReserveMemAddress(&range, 8 * kUnit, 0, nullptr, 1), 0, "reserve");
  ok(reinterpret_cast<uintptr_t>(range) % kUnit == 0, "aligned to the granularity");
  void *none = nullptr;
  equal(aclrtReserveMemAddress(nullptr, kUnit, 0, nullptr, 0), 100000, "reserve: NULL");
  equal(aclrtReserveMemAddress(&none, 0, 0, nullptr, 0), 100000, "reserve: nothing");
  equal(aclrtReserveMemAddress(&none, kUnit, 4096, nullptr, 0), 107000, "reserve: alignment");
  equal(aclrtReserveMemAddress(&none, kUnit, 0, range, 0), 107000, "reserve: a wish");
  equal(aclrtReserveMemAddress(&none, kUnit, 0, nullptr, 2), 107000, "reserve: flags");
  equal(aclrtReserveMemAddress(&none, SIZE_MAX, 0, nullptr, 0), 207001, "reserve: everything");
  ok(none == nullptr, "refusals store nothing");

  const uint64_t before = used();
  aclrtDrvMemHandle one = nullptr, two = nullptr, bad = nullptr;
  equal(aclrtMallocPhysical(&one, kUnit, &prop, 0), 0, "physical memory");
  equal(aclrtMallocPhysical(&two, 2 * kUnit, &prop, 0), 0, "more");
  ok(used() == before + 3 * kUnit, "it counts");
  equal(aclrtMallocPhysical(nullptr, kUnit, &prop, 0), 100000, "physical: NULL");
  equal(aclrtMallocPhysical(&bad, 0, &prop, 0), 100000, "physical: nothing");
  equal(aclrtMallocPhysical(&bad, kUnit, nullptr, 0), 100000, "physical: no kind");
  equal(aclrtMallocPhysical(&bad, kUnit + 4096, &prop, 0), 107000, "physical: a fraction");
  equal(aclrtMallocPhysical(&bad, kUnit, &prop, 1), 107000, "physical: flags");
  equal(aclrtMallocPhysical(&bad, size_t{1} << 60, &prop, 0), 207001, "physical: too much");
  aclrtPhysicalMemProp wrong = of_device(99);
  equal(aclrtMallocPhysical(&bad, kUnit, &wrong, 0), 107001, "physical: no such device");
  wrong = prop;
  wrong.location.type = ACL_MEM_LOCATION_TYPE_HOST;
  equal(aclrtMallocPhysical(&bad, kUnit, &wrong, 0), 107000, "physical: on the host");
  wrong = prop;
  wrong.handleType = ACL_MEM_HANDLE_TYPE_POSIX;
  equal(aclrtMallocPhysical(&bad, kUnit, &wrong, 0), 107000, "physical: to share");
  wrong = prop;
  wrong.reserve = 1;
  equal(aclrtMallocPhysical(&bad, kUnit, &wrong, 0), 107000, "physical: reserved bits");
  ok(bad == nullptr, "refusals store nothing");

  char *base = static_cast<char *>(range);
  equal(aclrtMapMem(base, kUnit, 0, one, 0), 0, "map");
  equal(aclrtMapMem(base + kUnit, 2 * kUnit, 0, two, 0), 0, "map behind it");
  equal(aclrtMapMem(nullptr, kUnit, 0, one, 0), 100000, "map: NULL");
  equal(aclrtMapMem(base + 4 * kUnit, 0, 0, one, 0), 100000, "map: nothing");
  equal(aclrtMapMem(base + 4 * kUnit, kUnit, 0, nullptr, 0), 100000, "map: no memory");
  equal(aclrtMapMem(base + 4 * kUnit, kUnit, 0, one, 0), 107000, "map: mapped already");
  ok(told("aclrtMapMem: handle: is mapped already"), "its text");
  aclrtDrvMemHandle three = nullptr;
  equal(aclrtMallocPhysical(&three, kUnit, &prop, 0), 0, "a third");
  equal(aclrtMapMem(base + 4 * kUnit, kUnit, 4096, three, 0), 107000, "map: offset");
  equal(aclrtMapMem(base + 4 * kUnit, kUnit, 0, three, 1), 107000, "map: flags");
  equal(aclrtMapMem(base + 4 * kUnit, 2 * kUnit, 0, three, 0), 107000, "map: another size");
  equal(aclrtMapMem(base + 2 * kUnit, kUnit, 0, three, 0), 107000, "map: over another one");
  equal(aclrtMapMem(base + 4 * kUnit + 1, kUnit, 0, three, 0), 107000, "map: inside a page");
  equal(aclrtMapMem(base + 8 * kUnit, kUnit, 0, three, 0), 107000, "map: behind the range");
  equal(aclrtMapMem(base + 7 * kUnit + 4096, kUnit, 0, three, 0), 107000, "map: over its end");
  equal(aclrtMapMem(base + 7 * kUnit, kUnit, 0, three, 0), 0, "map: the last of the range");

  // One tensor over both mappings: neighbours are one block to a copy.
  std::vector<char> in(3 * kUnit), out(3 * kUnit);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<char>(i * 7 + i / 4096);
  equal(aclrtMemcpy(base, 3 * kUnit, in.data(), 3 * kUnit, ACL_MEMCPY_HOST_TO_DEVICE), 0,
        "copy in");
  equal(aclrtMemcpy(out.data(), 3 * kUnit, base, 3 * kUnit, ACL_MEMCPY_DEVICE_TO_HOST), 0,
        "copy out");
  ok(in == out, "what went in comes out");
  aclrtPtrAttributes attributes{};
  equal(aclrtPointerGetAttributes(base + kUnit, &attributes), 0, "attributes");
  equal(attributes.location.type, ACL_MEM_LOCATION_TYPE_DEVICE, "it is device memory");
  equal(aclrtFree(base), 107000, "aclrtFree does not take it");
  ok(told("aclrtUnmapMem"), "and says who does");
  equal(aclrtReleaseMemAddress(base), 107000, "a range with mappings stays");
  ok(told("aclrtUnmapMem is required"), "its text");

  equal(aclrtUnmapMem(nullptr), 100000, "unmap: NULL");
  equal(aclrtUnmapMem(base + 4096), 107000, "unmap: not a start");
  equal(aclrtUnmapMem(base), 0, "unmap");
  equal(aclrtUnmapMem(base), 107000, "unmap: again");
  equal(aclrtMapMem(base + 5 * kUnit, kUnit, 0, one, 0), 0, "map elsewhere");
  ok(std::memcmp(base + 5 * kUnit, in.data(), kUnit) == 0, "with its contents");
  equal(aclrtFreePhysical(two), 0, "free what is mapped");
  equal(aclrtFreePhysical(two), 107000, "once");
  equal(aclrtFreePhysical(nullptr), 100000, "free: NULL");
  ok(std::memcmp(base + kUnit, in.data() + kUnit, kUnit) == 0, "it is there until it is unmapped");
  ok(used() == before + 4 * kUnit, "and counts");
  equal(aclrtUnmapMem(base + kUnit), 0, "unmap it");
  ok(used() == before + 2 * kUnit, "then it does not");
  equal(aclrtMapMem(base, 2 * kUnit, 0, two, 0), 107000, "map: freed memory");
  equal(aclrtUnmapMem(base + 5 * kUnit), 0, "unmap the first");
  equal(aclrtUnmapMem(base + 7 * kUnit), 0, "unmap the third");
  equal(aclrtFreePhysical(one), 0, "free the first");
  equal(aclrtFreePhysical(three), 0, "free the third");
  equal(aclrtReleaseMemAddress(base + kUnit), 107000, "release: not a start");
  equal(aclrtReleaseMemAddress(nullptr), 100000, "release: NULL");
  equal(aclrtReleaseMemAddress(base), 0, "release");
  equal(aclrtReleaseMemAddress(base), 107000, "release: again");
  ok(used() == before, "nothing is in use");
  equal(pyaclnnLiveCount("physicalmemory"), 0, "all are gone");
}

void limits() {
  aclrtFloatOverflowMode mode = ACL_RT_OVERFLOW_MODE_UNDEF;
  equal(aclrtGetDeviceSatMode(&mode), 0, "overflow mode");
  equal(mode, ACL_RT_OVERFLOW_MODE_INFNAN, "is infinity and NaN");
  equal(aclrtGetDeviceSatMode(nullptr), 100000, "overflow mode: NULL");
  equal(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_INFNAN), 0, "set it");
  equal(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_SATURATION), 207000, "saturation");
  ok(told("aclrtSetDeviceSatMode: mode"), "its text");
  equal(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_UNDEF), 107000, "no mode");
  equal(pyaclnnSetProduct("atlas-310p"), 0, "a product without infinity and NaN");
  equal(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_SATURATION), 0, "has saturation");
  equal(aclrtGetDeviceSatMode(&mode), 0, "as it says");
  equal(mode, ACL_RT_OVERFLOW_MODE_SATURATION, "when asked");
  equal(pyaclnnSetProduct("atlas-a2"), 0, "back");
  equal(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_INFNAN), 0, "to the usual");

  aclrtStream stream = nullptr;
  uint32_t flag = 7;
  equal(aclrtCreateStream(&stream), 0, "a stream");
  equal(aclrtGetStreamOverflowSwitch(stream, &flag), 0, "its overflow switch");
  equal(flag, 0u, "is off");
  equal(aclrtSetStreamOverflowSwitch(stream, 1), 0, "on");
  equal(aclrtGetStreamOverflowSwitch(stream, &flag), 0, "read it");
  equal(flag, 1u, "is on");
  equal(aclrtSetStreamOverflowSwitch(stream, 2), 100000, "neither on nor off");
  equal(aclrtGetStreamOverflowSwitch(stream, nullptr), 100000, "nowhere to store");
  equal(aclrtSetStreamOverflowSwitch(nullptr, 0), 0, "of the default stream");
  equal(aclrtDestroyStream(stream), 0, "destroy it");
  equal(aclrtSetStreamOverflowSwitch(stream, 1), 107017, "of a dead stream");
  equal(aclrtGetStreamOverflowSwitch(stream, &flag), 107017, "read that");

  equal(aclrtSetOpExecuteTimeOut(10), 0, "operators' limit in seconds");
  equal(aclrtSetOpExecuteTimeOutWithMs(10), 0, "in milliseconds");
  uint64_t actual = 0;
  equal(aclrtSetOpExecuteTimeOutV2(10, &actual), 0, "in microseconds");
  ok(actual == UINT64_MAX, "there is none");
  equal(aclrtSetOpExecuteTimeOutV2(10, nullptr), 100000, "nowhere to store");

  int32_t pid = 0;
  equal(aclrtDeviceGetBareTgid(&pid), 0, "process number");
  equal(pid, getpid(), "is ours");
  equal(aclrtDeviceGetBareTgid(nullptr), 100000, "process number: NULL");
  int64_t value = -1;
  equal(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), 0, "determinism has a default");
  equal(value, 0, "which is 0");
  equal(aclrtGetSysParamOpt(ACL_OPT_ENABLE_DEBUG_KERNEL, &value), 107021, "others have none");
  char text[ACL_PKG_VERSION_MAX_SIZE], package[] = "ops_transformer";
  equal(aclsysGetVersionStr(package, text), 0, "packages of operators have a version");
}

void compile_options() {
  equal(aclGetCompileoptSize(ACL_OP_JIT_COMPILE), 8u, "size of the JIT option");
  char value[16] = "";
  equal(aclGetCompileopt(ACL_OP_JIT_COMPILE, value, 8), 0, "the JIT option");
  ok(std::strcmp(value, "disable") == 0, "is disable");
  equal(aclGetCompileopt(ACL_OP_JIT_COMPILE, value, 7), 100000, "too little room");
  ok(told("aclGetCompileopt: length"), "its text");
  equal(aclGetCompileopt(ACL_OP_JIT_COMPILE, nullptr, 8), 100000, "nowhere to store");
  equal(aclSetCompileopt(ACL_OP_JIT_COMPILE, "disable"), 0, "disable it");
  equal(aclSetCompileopt(ACL_OP_JIT_COMPILE, "enable"), 200001, "enable it");
  ok(told("set_compile_mode(jit_compile=False)"), "says what to do instead");
  equal(aclGetCompileoptSize(ACL_PRECISION_MODE), 1u, "an option that is not set");
  equal(aclGetCompileopt(ACL_PRECISION_MODE, value, 1), 0, "gives");
  ok(*value == 0, "nothing");
  equal(aclSetCompileopt(ACL_PRECISION_MODE, "force_fp32"), 0, "set it");
  equal(aclGetCompileopt(ACL_PRECISION_MODE, value, sizeof value), 0, "get it");
  ok(std::strcmp(value, "force_fp32") == 0, "is what was set");
  equal(aclSetCompileopt(ACL_PRECISION_MODE, std::string(512, 'x').c_str()), 100000, "too long");
  equal(aclSetCompileopt(ACL_PRECISION_MODE, std::string(511, 'x').c_str()), 0, "the longest");
  equal(aclSetCompileopt(ACL_PRECISION_MODE, nullptr), 100000, "NULL");
  const auto unknown = static_cast<aclCompileOpt>(17);
  equal(aclSetCompileopt(unknown, "x"), 100000, "set an unknown option");
  equal(aclGetCompileopt(unknown, value, sizeof value), 100000, "get it");
  equal(aclGetCompileoptSize(unknown), 0u, "its size");

  HcclConfigValue setting{1};
  equal(HcclSetConfig(HCCL_DETERMINISTIC, setting), HCCL_SUCCESS, "a setting of communication");
  setting.value = -1;
  equal(HcclGetConfig(HCCL_DETERMINISTIC, &setting), HCCL_SUCCESS, "get it");
  equal(setting.value, 1, "is what was set");
  setting.value = 3;
  equal(HcclSetConfig(HCCL_DETERMINISTIC, setting), HCCL_E_PARA, "an unknown value");
  ok(told("HcclSetConfig: configValue"), "its text");
  equal(HcclSetConfig(HCCL_CONFIG_RESERVED, setting), HCCL_E_PARA, "an unknown setting");
  equal(HcclGetConfig(HCCL_CONFIG_RESERVED, &setting), HCCL_E_PARA, "get that");
  equal(HcclGetConfig(HCCL_DETERMINISTIC, nullptr), HCCL_E_PTR, "nowhere to store");
}

void profiling() {
  equal(MsprofRegisterCallback(0, nullptr), 0, "register");
  equal(MsprofReportApi(0, nullptr), 0, "report a call");
  equal(MsprofReportCompactInfo(0, nullptr, 0), 0, "report");
  equal(MsprofReportAdditionalInfo(0, nullptr, 0), 0, "report more");
  const uint64_t first = MsprofSysCycleTime();
  usleep(1000);
  ok(MsprofSysCycleTime() > first, "time goes on");
  ok(MsprofGetHashId("abc", 3) == MsprofGetHashId("abcd", 3), "a hash of the first bytes");
  ok(MsprofGetHashId("abc", 3) != MsprofGetHashId("abd", 3), "another text, another hash");
}

#define REFUSED(code, call, function)             \
  do {                                            \
    equal(call, code, function);                  \
    ok(told(function ": "), "the text names it"); \
  } while (false)

void refusals() {
  uint64_t number = 0;
  REFUSED(207000, aclrtMemExportToShareableHandle(nullptr, ACL_MEM_HANDLE_TYPE_NONE, 0, &number),
          "aclrtMemExportToShareableHandle");
  REFUSED(207000, aclrtMemImportFromShareableHandle(1, 0, nullptr),
          "aclrtMemImportFromShareableHandle");
  REFUSED(207000, aclrtMemSetPidToShareableHandle(1, nullptr, 0),
          "aclrtMemSetPidToShareableHandle");
  REFUSED(207000, aclrtBinaryLoadFromData(nullptr, 0, nullptr, nullptr), "aclrtBinaryLoadFromData");
  REFUSED(207000, aclrtBinaryGetFunction(nullptr, "f", nullptr), "aclrtBinaryGetFunction");
  REFUSED(207000, aclrtGetFunctionAddr(nullptr, nullptr, nullptr), "aclrtGetFunctionAddr");
  REFUSED(207000, rtDevBinaryRegister(nullptr, nullptr), "rtDevBinaryRegister");
  REFUSED(207000, rtFunctionRegister(nullptr, nullptr, "", nullptr, 0), "rtFunctionRegister");
  REFUSED(207000, rtKernelLaunch(nullptr, 1, nullptr, 0, nullptr, nullptr), "rtKernelLaunch");
  REFUSED(207000, rtGetC2cCtrlAddr(nullptr, nullptr), "rtGetC2cCtrlAddr");
  REFUSED(200001, aclmdlInitDump(), "aclmdlInitDump");
  REFUSED(200001, aclmdlSetDump("x"), "aclmdlSetDump");
  REFUSED(200001, aclmdlFinalizeDump(), "aclmdlFinalizeDump");
}

#define INVALID(call, text)                \
  do {                                     \
    equal(call, 100000, text);             \
    ok(told(text), "the text says " text); \
  } while (false)

void op_attributes() {
  equal(pyaclnnLiveCount("opattr"), 0, "no attributes yet");
  aclopAttr *attr = aclopCreateAttr();
  ok(attr != nullptr, "attributes");
  const int64_t axes[] = {1, -2};
  const uint8_t flags[] = {1, 0};
  const float scales[] = {0.5f};
  const int64_t *const lists[] = {axes, axes + 1};
  const int lengths[] = {2, 1};
  equal(aclopSetAttrBool(attr, "flag", 7), 0, "bool");
  equal(aclopSetAttrInt(attr, "int", INT64_MIN), 0, "int");
  equal(aclopSetAttrFloat(attr, "float", 1.5f), 0, "float");
  equal(aclopSetAttrString(attr, "text", "b"), 0, "text");
  equal(aclopSetAttrDataType(attr, "type", ACL_BF16), 0, "type");
  equal(aclopSetAttrListBool(attr, "flags", 2, flags), 0, "bools");
  equal(aclopSetAttrListInt(attr, "axes", 2, axes), 0, "ints");
  equal(aclopSetAttrListFloat(attr, "scales", 1, scales), 0, "floats");
  equal(aclopSetAttrListListInt(attr, "lists", 2, lengths, lists), 0, "lists");
  equal(aclopSetAttrListInt(attr, "none", 0, nullptr), 0, "an empty list");
  equal(aclopCompileAndExecute("Add", 0, nullptr, nullptr, 0, nullptr, nullptr, attr,
                               ACL_ENGINE_SYS, ACL_COMPILE_SYS, nullptr, nullptr),
        200001, "aclopCompileAndExecute");
  ok(told(
         "aclopCompileAndExecute: opType: is \"Add\" (flag = true, int = -9223372036854775808, "
         "float = 1.5, text = b, type = 27, flags = [1, 0], axes = [1, -2], scales = [0.5], "
         "lists = [[1, -2], [-2]], none = []), which would have to be compiled for an NPU: compute "
         "what was called on the CPU and move the result, y = f(x.cpu()).npu()"),
     "the text names the operator, its attributes, and what to do instead");
  for (int i = 0; i < 100; ++i) equal(aclopSetAttrInt(attr, "more", i), 0, "more than fits");

  INVALID(aclopSetAttrBool(nullptr, "a", 1), "aclopSetAttrBool: attr: is NULL");
  INVALID(aclopSetAttrInt(attr, nullptr, 1), "attrName");
  INVALID(aclopSetAttrString(attr, "a", nullptr), "attrValue");
  INVALID(aclopSetAttrListFloat(attr, "a", 1, nullptr), "values");
  INVALID(aclopSetAttrListBool(attr, "a", -1, flags), "numValues: is -1");
  INVALID(aclopSetAttrListListInt(attr, "a", -1, lengths, lists), "numLists: is -1");
  INVALID(aclopSetAttrListListInt(attr, "a", 1, nullptr, lists), "numValues");
  aclopDestroyAttr(attr);
  aclopDestroyAttr(nullptr);
  INVALID(aclopSetAttrInt(attr, "a", 1), "no live list of attributes");
  aclopDestroyAttr(attr);
  ok(told("aclopDestroyAttr"), "a second destruction is answered");
  equal(aclopCompileAndExecuteV2(nullptr, 0, nullptr, nullptr, 0, nullptr, nullptr, attr,
                                 ACL_ENGINE_SYS, ACL_COMPILE_SYS, nullptr, nullptr),
        200001, "aclopCompileAndExecuteV2");
  ok(told("set_compile_mode(jit_compile=False)"), "and which option sends it to aclnn");
  equal(pyaclnnLiveCount("opattr"), 0, "no attributes any more");
}

}  // namespace

int main() {
  equal(aclInit(nullptr), 0, "init");
  aclrtFloatOverflowMode mode;
  equal(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_INFNAN), 107002, "set overflow mode, no device");
  equal(aclrtGetDeviceSatMode(&mode), 107002, "overflow mode, no device");
  equal(aclrtSetDevice(0), 0, "device");
  tensor_descriptions();
  virtual_memory();
  limits();
  compile_options();
  profiling();
  refusals();
  op_attributes();
  equal(aclrtResetDevice(0), 0, "reset");
  equal(aclFinalize(), 0, "finalize");
  return tap::done();
}
