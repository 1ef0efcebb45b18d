#include "nnopbase/misuse.hpp"

#include "acl/handle.hpp"

namespace pyaclnn {
namespace {

const char *kind_name(Kind kind) {
  switch (kind) {
    case Kind::Context: return "context";
    case Kind::Stream: return "stream";
    case Kind::Event: return "event";
    case Kind::DataBuffer: return "aclDataBuffer";
    case Kind::TensorDesc: return "aclTensorDesc";
    case Kind::PhysicalMemory: return "physical memory";
    case Kind::OpAttr: return "aclopAttr";
    case Kind::Tensor: return "aclTensor";
    case Kind::Scalar: return "aclScalar";
    case Kind::IntArray: return "aclIntArray";
    case Kind::FloatArray: return "aclFloatArray";
    case Kind::BoolArray: return "aclBoolArray";
    case Kind::TensorList: return "aclTensorList";
    case Kind::ScalarList: return "aclScalarList";
    case Kind::Executor: return "aclOpExecutor";
    case Kind::Count: break;
  }
  return nullptr;
}

}  // namespace

void describe_handle(Text &text, const void *handle) noexcept {
  uint64_t value = reinterpret_cast<uint64_t>(handle);
  char hex[24];
  std::snprintf(hex, sizeof hex, "0x%016" PRIx64, value);
  text << "handle " << hex;
  Kind kind = static_cast<Kind>(value & 0xffu);
  const char *name = kind_name(kind);
  if (name == nullptr) {
    text << " (not a handle of this library)";
  } else if (handle_table(kind).find(value) != nullptr) {
    text << " (a live " << name << ")";
  } else {
    text << " (a dead " << name << ": " << (kind == Kind::Executor ? "spent or " : "")
         << "destroyed already, or never created)";
  }
}

int32_t refuse_null(const char *function, const char *parameter, int32_t code,
                    const char *limit) noexcept {
  Saying saying;
  saying.value << "is NULL";
  saying.limit << "must be " << limit;
  return refuse(function, "META-NULL", parameter, code, saying);
}

int32_t refuse_handle(const char *function, const char *rule, const char *parameter, int32_t code,
                      const void *handle, const char *limit) noexcept {
  Saying saying;
  describe_handle(saying.value, handle);
  saying.limit << "must be " << limit;
  return refuse(function, rule, parameter, code, saying);
}

int32_t refuse_memory(const char *function, const char *parameter, int32_t code) noexcept {
  Saying saying;
  saying.value << "no host memory left for it";
  saying.limit << "free memory and call again";
  return refuse(function, "META-MEMORY", parameter, code, saying);
}

}  // namespace pyaclnn
