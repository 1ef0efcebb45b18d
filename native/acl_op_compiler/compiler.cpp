// The operator compiler that there is no need for: its options, and what becomes of operators that
// somebody wants compiled.
#include <cstring>
#include <mutex>

#include "acl/acl_op_compiler.h"
#include "acl/build_guard.hpp"
#include "acl/op_attr.hpp"
#include "acl/refuse.hpp"

namespace pyaclnn {
namespace {

constexpr char kDisable[] = "disable";
constexpr int kOptions = ACL_OP_DEBUG_OPTION + 1;

struct Value {
  char text[512];
};

constinit std::mutex g_mutex;
constinit Value g_values[kOptions] = {};  // guarded by g_mutex; "" is not set

// The value in force, under g_mutex; nullptr with a text for an option that does not exist.
const char *value_of(const char *function, aclCompileOpt opt) {
  const auto index = static_cast<uint32_t>(opt);
  if (index >= kOptions) {
    refuse_value(ACL_ERROR_INVALID_PARAM, function, "opt", index, "an aclCompileOpt, 0 .. 16");
    return nullptr;
  }
  const char *set = g_values[index].text;
  return *set == 0 && opt == ACL_OP_JIT_COMPILE ? kDisable : set;
}

int32_t refuse_compilation(const char *function, const char *type, const aclopAttr *attr) {
  Text text;
  text << function << ": opType: is \"" << (type != nullptr ? type : "(NULL)") << '"';
  say_attributes(attr, text);
  text << ", which would have to be compiled for an NPU: compute what was called on the CPU and "
          "move the result, y = f(x.cpu()).npu(). PyTorch's plug-in comes here where libopapi.so "
          "has no aclnn operator for one of the steps of a call (with "
          "torch.npu.set_compile_mode(jit_compile=False), the default here, it takes those first); "
          "python -m pyaclnn ops lists what there is";
  return fail(ACL_ERROR_API_NOT_SUPPORT, "EH0009", text);
}

}  // namespace
}  // namespace pyaclnn

using namespace pyaclnn;

aclError aclSetCompileopt(aclCompileOpt opt, const char *value) {
  const char *function = "aclSetCompileopt";
  if (value == nullptr) return refuse_null(function, "value");
  std::lock_guard lock(g_mutex);
  if (value_of(function, opt) == nullptr) return ACL_ERROR_INVALID_PARAM;
  if (opt == ACL_OP_JIT_COMPILE && std::strcmp(value, kDisable) != 0) {
    return fail(ACL_ERROR_API_NOT_SUPPORT, "EH0009",
                Text() << function << ": value: ACL_OP_JIT_COMPILE is \"" << value
                       << "\", accepted: \"disable\" (torch.npu.set_compile_mode(jit_compile="
                          "False)): operators come from aclnnop/, nothing is compiled");
  }
  const size_t length = std::strlen(value);
  if (length >= sizeof(Value)) {
    return refuse_value(ACL_ERROR_INVALID_PARAM, function, "value", length,
                        "at most 511 characters");
  }
  std::memcpy(g_values[opt].text, value, length + 1);
  return ACL_SUCCESS;
}

size_t aclGetCompileoptSize(aclCompileOpt opt) {
  std::lock_guard lock(g_mutex);
  const char *value = value_of("aclGetCompileoptSize", opt);
  return value != nullptr ? std::strlen(value) + 1 : 0;
}

aclError aclGetCompileopt(aclCompileOpt opt, char *value, size_t length) {
  const char *function = "aclGetCompileopt";
  if (value == nullptr) return refuse_null(function, "value");
  std::lock_guard lock(g_mutex);
  const char *text = value_of(function, opt);
  if (text == nullptr) return ACL_ERROR_INVALID_PARAM;
  const size_t bytes = std::strlen(text) + 1;
  if (length < bytes) {
    return fail(ACL_ERROR_INVALID_PARAM, "EH0007",
                Text() << function << ": length: is " << length << ", accepted: at least " << bytes
                       << " (aclGetCompileoptSize)");
  }
  std::memcpy(value, text, bytes);
  return ACL_SUCCESS;
}

aclError aclopCompileAndExecute(const char *opType, int, const aclTensorDesc *const[],
                                const aclDataBuffer *const[], int, const aclTensorDesc *const[],
                                aclDataBuffer *const[], const aclopAttr *attr, aclopEngineType,
                                aclopCompileType, const char *, aclrtStream) {
  return refuse_compilation("aclopCompileAndExecute", opType, attr);
}

aclError aclopCompileAndExecuteV2(const char *opType, int, aclTensorDesc *[], aclDataBuffer *[],
                                  int, aclTensorDesc *[], aclDataBuffer *[], aclopAttr *attr,
                                  aclopEngineType, aclopCompileType, const char *, aclrtStream) {
  return refuse_compilation("aclopCompileAndExecuteV2", opType, attr);
}
