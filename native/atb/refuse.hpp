// Refusals outside the rules of an operation's steps, and the guard that turns exceptions into
// codes.
#pragma once

#include <exception>

#include "atb/types.h"
#include "nnopbase/rule.hpp"

namespace pyaclnn::atb {

inline void say_null(Saying &saying) {
  saying.value << "is a null pointer";
  saying.limit << "it is required";
}

inline ::atb::Status refuse_null(const char *function, const char *rule, const char *parameter,
                                 ::atb::Status code = ::atb::ERROR_INVALID_PARAM) {
  Saying saying;
  say_null(saying);
  return refuse(function, rule, parameter, code, saying);
}

// Nothing that is thrown leaves the library.
template <class Body>
::atb::Status guarded(const char *function, const char *parameter, ::atb::Status code,
                      Body body) noexcept {
  try {
    return body();
  } catch (const std::exception &error) {
    Saying saying;
    saying.value << "it threw \"" << error.what() << '"';
    saying.limit << "there must be host memory";
    return refuse(function, "ATB-EXCEPTION", parameter, code, saying);
  }
}

}  // namespace pyaclnn::atb
