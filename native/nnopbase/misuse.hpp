// Refusals that every meta object shares: a NULL argument, a handle that is not alive.
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

// Writes what a handle of ours stands for now, or that it stands for nothing.
void describe_handle(Text &text, const void *handle) noexcept;

}  // namespace pyaclnn
