// Attributes of an operator of the interface before aclnn, for the text of its refusal.
#pragma once

#include "acl/acl_op.h"
#include "support/api.hpp"
#include "support/text.hpp"

namespace pyaclnn {

// " (name = value, ...)", or nothing where there are none.
PYACLNN_API void say_attributes(const aclopAttr *attr, Text &text) noexcept;

}  // namespace pyaclnn
