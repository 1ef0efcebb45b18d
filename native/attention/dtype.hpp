// aclDataType as the engine's Type.
#pragma once

#include <cassert>

#include "acl/acl_base.h"
#include "attention/problem.hpp"

namespace pyaclnn::attention {

// For a dtype that the rules of an operator accept.
inline Type type_of(aclDataType dtype) {
  switch (dtype) {
    case ACL_FLOAT16: return Type::f16;
    case ACL_BF16: return Type::bf16;
    case ACL_INT8: return Type::i8;
    case ACL_INT32: return Type::i32;
    case ACL_INT64: return Type::i64;
    case ACL_BOOL:
    case ACL_UINT8: return Type::u8;
    default: break;
  }
  assert(dtype == ACL_FLOAT);
  return Type::f32;
}

}  // namespace pyaclnn::attention
