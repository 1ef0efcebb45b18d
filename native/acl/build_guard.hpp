// Refuses a mixture of builds. Each library above libascendcl includes this header in exactly one
// source file; loading it compares build ids.
#pragma once

#include "support/api.hpp"

namespace pyaclnn {

// Called while a library is loaded. `address` is any object of that library.
PYACLNN_API void check_build(const char *library_build_id, const void *address) noexcept;

// True once libraries of different builds were loaded: aclInit answers 500000, first phases 561000.
PYACLNN_API bool build_mixture() noexcept;

// The build id of libascendcl; static string.
PYACLNN_API const char *build_id() noexcept;

#ifndef PYACLNN_BUILD_GUARD_OWNER
namespace {
__attribute__((constructor)) void guard_build() {
  static const char here = 0;
  check_build(PYACLNN_BUILD_ID, &here);
}
}  // namespace
#endif

}  // namespace pyaclnn
