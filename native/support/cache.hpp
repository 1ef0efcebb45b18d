// The size of the processor's last-level cache.
#pragma once

#include <cstdint>

#include "support/api.hpp"

namespace pyaclnn {

// Bytes of the largest cache of CPU 0, from sysfs (glibc reports the host's figure in some virtual
// machines); 32 MiB where sysfs has none. Read once.
PYACLNN_API int64_t last_cache_bytes() noexcept;

}  // namespace pyaclnn
