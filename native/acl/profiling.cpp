// Reports to CANN's profiler, which does not exist here: they succeed and are discarded; functions
// that return a value return a real one. No header declares these functions;
// native/sdk/exports/libascendcl.txt names the programs that need them.
#include <cstddef>
#include <cstdint>

#include "support/api.hpp"
#include "support/clock.hpp"

extern "C" {

PYACLNN_API int32_t MsprofRegisterCallback(uint32_t, void *) { return 0; }
PYACLNN_API int32_t MsprofReportApi(uint32_t, const void *) { return 0; }
PYACLNN_API int32_t MsprofReportCompactInfo(uint32_t, const void *, uint32_t) { return 0; }
PYACLNN_API int32_t MsprofReportAdditionalInfo(uint32_t, const void *, uint32_t) { return 0; }

PYACLNN_API uint64_t MsprofSysCycleTime(void) { return pyaclnn::monotonic_ns(); }

// FNV-1a: the same number for the same bytes, in every process.
PYACLNN_API uint64_t MsprofGetHashId(const char *text, size_t length) {
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t i = 0; text != nullptr && i < length; ++i) {
    hash = (hash ^ static_cast<unsigned char>(text[i])) * 0x100000001b3;
  }
  return hash;
}

}  // extern "C"
