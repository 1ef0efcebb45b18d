// What the programs of this folder share: a device, tensors of it, one call through all steps.
#pragma once

#include <acl/acl.h>

#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "atb/atb_infer.h"
#include "pyaclnn/debug.h"
#include "tap.hpp"

namespace atbtest {

inline atb::TensorDesc desc(aclDataType dtype, std::initializer_list<int64_t> dims,
                            aclFormat format = ACL_FORMAT_ND) {
  atb::TensorDesc d;
  d.dtype = dtype;
  d.format = format;
  for (int64_t dim : dims) d.shape.dims[d.shape.dimNum++] = dim;
  return d;
}

// A tensor in device memory.
template <class T>
atb::Tensor device(const atb::TensorDesc &d, const std::vector<T> &values) {
  atb::Tensor t;
  t.desc = d;
  t.dataSize = atb::Utils::GetTensorSize(d);
  if (values.size() * sizeof(T) != t.dataSize) std::abort();
  aclrtMalloc(&t.deviceData, t.dataSize, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMemcpy(t.deviceData, t.dataSize, values.data(), t.dataSize, ACL_MEMCPY_HOST_TO_DEVICE);
  return t;
}

template <class T>
std::vector<T> values(const atb::Tensor &t) {
  std::vector<T> host(t.dataSize / sizeof(T));
  aclrtMemcpy(host.data(), t.dataSize, t.deviceData, t.dataSize, ACL_MEMCPY_DEVICE_TO_HOST);
  return host;
}

inline atb::Tensor empty(const atb::TensorDesc &d) {
  return device(d, std::vector<uint8_t>(atb::Utils::GetTensorSize(d)));
}

using Tensors = std::vector<atb::Tensor>;

inline atb::VariantPack pack(const Tensors &in, const atb::TensorDesc &out) {
  atb::VariantPack p;
  for (const atb::Tensor &t : in) p.inTensors.push_back(t);
  p.outTensors.push_back(empty(out));
  return p;
}

inline void release(const atb::VariantPack &p) {
  for (const atb::Tensor &t : p.inTensors) {
    if (t.deviceData != nullptr) aclrtFree(t.deviceData);
  }
  aclrtFree(p.outTensors[0].deviceData);
}

inline atb::SVector<atb::TensorDesc> descs(const atb::SVector<atb::Tensor> &tensors) {
  atb::SVector<atb::TensorDesc> all;
  for (const atb::Tensor &t : tensors) all.push_back(t.desc);
  return all;
}

// The last error text, and whether it holds all these words.
inline std::string message() {
  const char *text = aclGetRecentErrMsg();
  return text != nullptr ? text : "";
}
inline bool holds(const std::string &text, std::initializer_list<const char *> words) {
  for (const char *word : words) {
    if (text.find(word) == std::string::npos) return false;
  }
  return true;
}

// Whether a text is the refusal of this rule, not of one whose id begins so.
inline bool by_rule(const std::string &text, const char *rule) {
  const std::string named = std::string("[rule ") + rule;
  return holds(text, {(named + ',').c_str()}) || holds(text, {(named + ']').c_str()});
}

inline std::string explanation() {
  std::string text(pyaclnnExplain(nullptr, 0), '\0');
  pyaclnnExplain(&text[0], text.size() + 1);
  return text;
}

inline bool explained(const char *rule) {
  return holds(explanation(), {(std::string("\"rule\": \"") + rule + '"').c_str()});
}

struct Session {
  aclrtStream stream = nullptr;
  atb::Context *context = nullptr;
  Session() {
    aclInit(nullptr);
    aclrtSetDevice(0);
    aclrtCreateStream(&stream);
    atb::CreateContext(&context);
    context->SetExecuteStream(stream);
  }
  ~Session() {
    atb::DestroyContext(context);
    aclrtDestroyStream(stream);
    aclrtResetDevice(0);
    aclFinalize();
  }

  // The status of Setup alone; the tensors are released.
  int setup(atb::Operation *op, const Tensors &in, const atb::TensorDesc &out) {
    const atb::VariantPack tensors = pack(in, out);
    uint64_t size = 0;
    const int status = op->Setup(tensors, size, context);
    release(tensors);
    return status;
  }

  // Setup, Execute and the synchronisation: the first status that is not 0.
  int run(atb::Operation *op, const atb::VariantPack &pack, uint64_t *asked = nullptr) {
    uint64_t size = 0;
    int status = op->Setup(pack, size, context);
    if (status != 0) return status;
    if (asked != nullptr) *asked = size;
    void *workspace = nullptr;
    if (size != 0) aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST);
    status = op->Execute(pack, static_cast<uint8_t *>(workspace), size, context);
    if (status == 0) status = aclrtSynchronizeStream(stream);
    if (workspace != nullptr) aclrtFree(workspace);
    return status;
  }
};

// Makes an operation, or nullptr.
template <class Param>
atb::Operation *make(const Param &param) {
  atb::Operation *op = nullptr;
  atb::CreateOperation(param, &op);
  return op;
}
template <class Param>
int created(const Param &param) {
  atb::Operation *op = nullptr;
  const int status = atb::CreateOperation(param, &op);
  if ((status == 0) != (op != nullptr)) return -1;
  atb::DestroyOperation(op);
  return status;
}

}  // namespace atbtest
