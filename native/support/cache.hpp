// The size of the processor's last cache.
#pragma once

#include <cstdint>

#include "support/api.hpp"

namespace pyaclnn {

// Bytes of the largest cache that the first processor uses, as the kernel tells (glibc's figure is
// that of the host in some virtual machines); 32 MiB where it does not. Read once.
PYACLNN_API int64_t last_cache_bytes() noexcept;

}  // namespace pyaclnn
