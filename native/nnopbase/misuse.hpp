// Refusals that all functions on tensors, scalars, arrays, lists and executors share: a NULL
// argument, a dead handle, exhausted memory.
#pragma once

#include "aclnn/acl_meta.h"
#include "aclnn/opdev/op_errno.h"
#include "nnopbase/rule.hpp"

namespace pyaclnn {

// "NULL, <limit>".
int32_t refuse_null(const char *function, const char *parameter, int32_t code,
                    const char *limit) noexcept;

// "handle 0x... (not alive: ...), a live <kind>".
int32_t refuse_handle(const char *function, const char *rule, const char *parameter, int32_t code,
                      const void *handle, const char *limit) noexcept;

// Host memory is exhausted.
int32_t refuse_memory(const char *function, const char *parameter, int32_t code) noexcept;

// Describes a handle in a message: live, dead, or not one of this library.
void describe_handle(Text &text, const void *handle) noexcept;

}  // namespace pyaclnn
