// Test lines in the TAP form, for small programs that pytest starts. Thread-safe.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <mutex>

namespace tap {

static std::mutex lock;  // a program is one file; C++11 has no inline variables
static int lines = 0, failures = 0;

// One line: "ok 3 - name", or "not ok 3 - name # detail".
__attribute__((format(printf, 3, 4))) inline bool ok(bool passed, const char *name,
                                                     const char *detail, ...) {
  std::lock_guard<std::mutex> guard(lock);
  ++lines;
  std::printf("%s %d - %s", passed ? "ok" : "not ok", lines, name);
  if (!passed) {
    ++failures;
    std::printf(" # ");
    va_list arguments;
    va_start(arguments, detail);
    std::vprintf(detail, arguments);
    va_end(arguments);
  }
  std::printf("\n");
  std::fflush(stdout);
  return passed;
}
inline bool ok(bool passed, const char *name) { return ok(passed, name, "%s", "is false"); }

template <class A, class B>
bool equal(A got, B wanted, const char *name) {
  return ok(got == static_cast<A>(wanted), name, "got %lld, wanted %lld",
            static_cast<long long>(got), static_cast<long long>(wanted));
}

// Prints the plan; the exit code of the program.
inline int done() {
  std::printf("1..%d\n", lines);
  std::fflush(stdout);
  return failures == 0 ? 0 : 1;
}

}  // namespace tap
