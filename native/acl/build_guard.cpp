#define PYACLNN_BUILD_GUARD_OWNER
#include "acl/build_guard.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "support/record.hpp"

namespace pyaclnn {
namespace {

std::atomic<bool> g_mixture{false};

// The threads, fork handlers and exit handlers of this library outlive any dlclose, so it must stay
// loaded.
__attribute__((constructor)) void stay_loaded() {
  static const char here = 0;
  Dl_info info{};
  if (dladdr(&here, &info) != 0 && info.dli_fname != nullptr) {
    dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  }
}

const char *file_of(const void *address) {
  Dl_info info{};
  return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "(unknown)";
}

}  // namespace

void check_build(const char *library_build_id, const void *address) noexcept {
  if (std::strcmp(library_build_id, PYACLNN_BUILD_ID) == 0) return;
  g_mixture.store(true);
  static const char here = 0;
  Text text;
  text << "pyaclnn: libraries of different builds were loaded together: " << PYACLNN_BUILD_ID
       << " (" << file_of(&here) << ") and " << library_build_id << " (" << file_of(address)
       << "); install all of them from one build";
  queue_error("EH9999", text);
  text << '\n';
  // Also when the log is off: nothing works from here on.
  ssize_t ignored = write(STDERR_FILENO, text.c_str(), text.size());
  (void)ignored;
}

bool build_mixture() noexcept { return g_mixture.load(std::memory_order_relaxed); }
const char *build_id() noexcept { return PYACLNN_BUILD_ID; }

}  // namespace pyaclnn
