// Names of enumerators, for texts.
#pragma once

#include "aclnn/acl_meta.h"
#include "support/text.hpp"

namespace pyaclnn {

// nullptr for a number that is not a dtype.
inline const char *known_dtype_name(aclDataType dtype) {
  switch (dtype) {
    case ACL_FLOAT: return "FLOAT";
    case ACL_FLOAT16: return "FLOAT16";
    case ACL_BF16: return "BFLOAT16";
    case ACL_INT8: return "INT8";
    case ACL_UINT8: return "UINT8";
    case ACL_INT16: return "INT16";
    case ACL_UINT16: return "UINT16";
    case ACL_INT32: return "INT32";
    case ACL_UINT32: return "UINT32";
    case ACL_INT64: return "INT64";
    case ACL_UINT64: return "UINT64";
    case ACL_DOUBLE: return "DOUBLE";
    case ACL_BOOL: return "BOOL";
    case ACL_STRING: return "STRING";
    case ACL_COMPLEX32: return "COMPLEX32";
    case ACL_COMPLEX64: return "COMPLEX64";
    case ACL_COMPLEX128: return "COMPLEX128";
    case ACL_INT4: return "INT4";
    case ACL_UINT1: return "UINT1";
    case ACL_DT_UNDEFINED: return "UNDEFINED";
    default: return nullptr;
  }
}

// A dtype in a text: by its name, or by its number.
struct DtypeName {
  aclDataType dtype;
};
inline DtypeName dtype_name(aclDataType dtype) { return {dtype}; }
inline Text &operator<<(Text &text, DtypeName named) {
  if (const char *name = known_dtype_name(named.dtype); name != nullptr) return text << name;
  return text << "aclDataType " << static_cast<int32_t>(named.dtype);
}

inline const char *format_name(aclFormat format) {
  switch (format) {
    case ACL_FORMAT_UNDEFINED: return "UNDEFINED";
    case ACL_FORMAT_NCHW: return "NCHW";
    case ACL_FORMAT_NHWC: return "NHWC";
    case ACL_FORMAT_ND: return "ND";
    case ACL_FORMAT_NC1HWC0: return "NC1HWC0";
    case ACL_FORMAT_FRACTAL_Z: return "FRACTAL_Z";
    case ACL_FORMAT_NC1HWC0_C04: return "NC1HWC0_C04";
    case ACL_FORMAT_HWCN: return "HWCN";
    case ACL_FORMAT_NDHWC: return "NDHWC";
    case ACL_FORMAT_FRACTAL_NZ: return "FRACTAL_NZ";
    case ACL_FORMAT_NCDHW: return "NCDHW";
    case ACL_FORMAT_NDC1HWC0: return "NDC1HWC0";
    case ACL_FRACTAL_Z_3D: return "FRACTAL_Z_3D";
    case ACL_FORMAT_NC: return "NC";
    case ACL_FORMAT_NCL: return "NCL";
    default: return "an unknown format";
  }
}

}  // namespace pyaclnn
