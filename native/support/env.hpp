// The environment, read once in env.cpp (the only file that calls getenv). docs/environment.md
// lists every variable.
#pragma once

#include <cstdint>

#include "support/api.hpp"

namespace pyaclnn {

enum class StreamMode : uint8_t { Auto, Async, Blocking, Lazy };
inline constexpr const char *kStreamModes[] = {"auto", "async", "blocking", "lazy"};

// Every kernel level of the project, whether this machine runs it or not.
inline constexpr const char *kIsaLevels[] = {"amx_bf16",  "avx512_bf16", "avx512",   "avx2",
                                             "neon_bf16", "neon",        "portable", "reference"};

struct Env {
  const char *product;  // PYACLNN_PRODUCT, or nullptr
  const char *isa;      // PYACLNN_ISA, or nullptr
  int32_t threads;      // PYACLNN_NUM_THREADS, 0 = not given
  // PYACLNN_STREAM auto|async|blocking|lazy; ASCEND_LAUNCH_BLOCKING=1 is blocking
  StreamMode stream_mode;
  int32_t device_count;  // PYACLNN_DEVICE_COUNT, default 1
  int32_t log_level;     // ASCEND_GLOBAL_LOG_LEVEL 0 debug .. 4 none, else ATB_LOG_LEVEL, default 3
  bool log_to_stdout;    // ASCEND_SLOG_PRINT_TO_STDOUT=1 or ATB_LOG_TO_STDOUT=1
  bool profile;          // PYACLNN_LOG=profile
  const char *error;     // a message about the first invalid PYACLNN_ variable, or nullptr
};

// Read at the first call, constant afterwards.
PYACLNN_API const Env &env() noexcept;

}  // namespace pyaclnn
