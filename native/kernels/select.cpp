// Which kernel level runs: the best one of this CPU, PYACLNN_ISA, or pyaclnnSetIsa.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include "kernels/kernels.hpp"
#include "kernels/limits.hpp"
#include "pyaclnn/debug.h"
#include "support/env.hpp"
#include "support/log.hpp"
#include "support/record.hpp"

namespace pyaclnn::kernels {
namespace {

struct Level {
  const char *name;
  const Kernels *kernels;  // null: the reference
  const Limits *limits;
  bool (*runs_here)();
};

bool always() { return true; }
#if defined(__x86_64__)
// Not every compiler's __builtin_cpu_supports knows f16c; that AVX2 is usable it does know.
bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
}
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}
bool has_avx512_bf16() { return has_avx512() && __builtin_cpu_supports("avx512bf16"); }
// Linux keeps the state of tiles for processes that have asked for it: all threads of this one and
// its children may use them from then on. Headers before Linux 5.16 lack the names.
bool may_use_tiles() {
  constexpr int kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr int kTileData = 18;               // XFEATURE_XTILE_DATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}
bool has_amx_bf16() {
  constexpr unsigned kAmxBf16 = 1u << 22, kAmxTile = 1u << 24;
  constexpr unsigned kTileState = 3u << 17;  // configuration and data, in XCR0
  static const bool has = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!has_avx512_bf16() || __get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
    if ((d & kAmxBf16) == 0 || (d & kAmxTile) == 0) return false;
    unsigned low = 0, high = 0;  // with AVX-512 there is XGETBV
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & kTileState) == kTileState && may_use_tiles();
  }();
  return has;
}
#elif defined(__aarch64__)
bool has_neon_bf16() {
  constexpr unsigned long kBf16 = 1ul << 14;  // HWCAP2_BF16: headers before Linux 5.7 lack the name
  return (getauxval(AT_HWCAP2) & kBf16) != 0;
}
#endif

// Best first.
constexpr Level kLevels[] = {
#if defined(__x86_64__)
    {"amx_bf16", &pyaclnn_kernels_amx_bf16, &pyaclnn_limits_amx_bf16, has_amx_bf16},
    {"avx512_bf16", &pyaclnn_kernels_avx512_bf16, &pyaclnn_limits_avx512_bf16, has_avx512_bf16},
    {"avx512", &pyaclnn_kernels_avx512, &pyaclnn_limits_avx512, has_avx512},
    {"avx2", &pyaclnn_kernels_avx2, &pyaclnn_limits_avx2, has_avx2},
#elif defined(__aarch64__)
    {"neon_bf16", &pyaclnn_kernels_neon_bf16, &pyaclnn_limits_neon_bf16, has_neon_bf16},
    {"neon", &pyaclnn_kernels_neon, &pyaclnn_limits_neon, always},
#endif
    {"portable", &pyaclnn_kernels_portable, &pyaclnn_limits_portable, always},
    {"reference", nullptr, &pyaclnn_limits_portable, always},
};

std::atomic<const Level *> level_in_force{nullptr};

const Level *find(std::string_view name) {
  for (const Level &level : kLevels) {
    if (name == level.name && level.runs_here()) return &level;
  }
  return nullptr;
}

const Level *first_choice() {
  if (env().isa != nullptr) {
    if (const Level *wanted = find(env().isa)) return wanted;
  }
  const Level *best = std::find_if(std::begin(kLevels), std::prev(std::end(kLevels)),
                                   [](const Level &level) { return level.runs_here(); });
  if (env().isa != nullptr) {
    Text text;
    text << "PYACLNN_ISA is '" << env().isa << "', which this machine does not run; it takes "
         << pyaclnnIsaLevels() << "; " << best->name << " runs";
    log(LogLevel::Error, text);
  }
  return best;
}

const Level *current() {
  const Level *level = level_in_force.load(std::memory_order_acquire);
  if (level != nullptr) return level;
  const Level *choice = first_choice();
  if (level_in_force.compare_exchange_strong(level, choice)) return choice;
  return level;
}

std::atomic<const char *> last_level{nullptr};
std::atomic<int32_t> last_threads{0};
std::atomic<int64_t> last_items{0};
thread_local Run run_here{"", 1, 0};

}  // namespace

const Kernels *active() noexcept { return current()->kernels; }
const char *active_name() noexcept { return current()->name; }
const Limits &active_limits() noexcept { return *current()->limits; }

void record_run(const char *level, int64_t items) noexcept {
  run_here = {level, 1, items};
  last_level = level;
  last_threads = 1;
  last_items = items;
}

void record_threads(int32_t threads) noexcept {
  if (threads <= run_here.threads) return;
  run_here.threads = threads;
  last_threads = threads;
}

const Run &run_of_thread() noexcept { return run_here; }

}  // namespace pyaclnn::kernels

using namespace pyaclnn;

extern "C" aclError pyaclnnSetIsa(const char *level) {
  const kernels::Level *found = level != nullptr ? kernels::find(level) : nullptr;
  if (found == nullptr) {
    Text text;
    text << "pyaclnnSetIsa: level: is " << (level != nullptr ? level : "NULL")
         << ", accepted: " << pyaclnnIsaLevels();
    return fail(ACL_ERROR_INVALID_PARAM, "EH0007", text);
  }
  kernels::level_in_force = found;
  return 0;
}

extern "C" const char *pyaclnnGetIsa(void) { return kernels::active_name(); }

extern "C" const char *pyaclnnIsaLevels(void) {
  static const Text names = [] {
    Text text;
    for (const kernels::Level &level : kernels::kLevels) {
      if (!level.runs_here()) continue;
      if (!text.empty()) text << ' ';
      text << level.name;
    }
    return text;
  }();
  return names.c_str();
}

extern "C" aclError pyaclnnGetRunProfile(pyaclnnRunProfile *profile) {
  if (profile == nullptr) {
    Text text;
    text << "pyaclnnGetRunProfile: profile: is NULL, a pointer to a pyaclnnRunProfile is required";
    return fail(ACL_ERROR_INVALID_PARAM, "EH0002", text);
  }
  *profile = {};
  if (const char *level = kernels::last_level) {
    std::strncpy(profile->level, level, sizeof profile->level - 1);
  }
  profile->threads = kernels::last_threads;
  profile->items = kernels::last_items;
  return 0;
}
