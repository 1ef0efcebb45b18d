#include "support/cache.hpp"

#include <cstdio>

namespace pyaclnn {
namespace {

int64_t read_sizes() noexcept {
  int64_t largest = 0;
  for (int index = 0; index < 8; ++index) {
    char path[64];
    std::snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
    std::FILE *file = std::fopen(path, "re");
    if (file == nullptr) break;
    long long size = 0;
    char unit = 0;
    if (std::fscanf(file, "%lld%c", &size, &unit) == 2) {
      int64_t bytes = size << (unit == 'M' ? 20 : unit == 'K' ? 10 : 0);
      if (bytes > largest) largest = bytes;
    }
    std::fclose(file);
  }
  return largest > 0 ? largest : int64_t{32} << 20;
}

}  // namespace

int64_t last_cache_bytes() noexcept {
  static const int64_t bytes = read_sizes();
  return bytes;
}

}  // namespace pyaclnn
