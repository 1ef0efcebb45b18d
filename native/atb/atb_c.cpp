// The C interface around the C++ one.
#include "pyaclnn/atb_c.h"

#include <cstring>
#include <exception>
#include <forward_list>
#include <functional>
#include <memory>
#include <new>
#include <vector>

#include "atb/operation.hpp"

using namespace pyaclnn::atb;
using pyaclnn::refuse;
using pyaclnn::Saying;

// Lists of tensors that the descriptions of Setup point to: an execution may use those.
using Lists = std::forward_list<std::vector<Tensor>>;

struct pyaclnnAtbOperation {
  OperationBase *operation = nullptr;
  Lists lists;
  ~pyaclnnAtbOperation() { ::atb::DestroyOperation(operation); }
};

namespace {

static_assert(PYACLNN_ATB_MAX_DIM == MAX_DIM);

constexpr int32_t kInvalid = ::atb::ERROR_INVALID_PARAM;
constexpr int32_t kNoOperation = ::atb::ERROR_INVALID_OPERATION_ADDR;

Context *cxx(pyaclnnAtbContext *context) { return reinterpret_cast<Context *>(context); }

int32_t refuse_null(const char *function, const char *parameter, int32_t code = kInvalid) {
  Saying saying;
  saying.value << "is a null pointer";
  saying.limit << "it is required";
  return refuse(function, "ATB-C-POINTER", parameter, code, saying);
}

// Nothing that is thrown leaves the library.
template <class Body>
int32_t guarded(const char *function, Body body) noexcept {
  try {
    return body();
  } catch (const std::exception &error) {
    Saying saying;
    saying.value << "it threw \"" << error.what() << '"';
    saying.limit << "there must be host memory";
    return refuse(function, "ATB-EXCEPTION", "operation", ::atb::ERROR_OUT_OF_HOST_MEMORY, saying);
  }
}

// ---- tensors

TensorDesc desc_of(const pyaclnnAtbTensor &given) {
  TensorDesc desc;
  desc.dtype = given.dtype;
  desc.format = given.format;
  std::memcpy(desc.shape.dims, given.dims, sizeof given.dims);
  desc.shape.dimNum = given.dimNum;
  return desc;
}

Tensor tensor_of(const pyaclnnAtbTensor &given) {
  return {desc_of(given), given.deviceData, given.hostData, given.dataSize};
}

// hostData holds what the operation takes it for: a list nowhere but where it looks for one, and
// there nothing else.
Tensor tensor_of(const pyaclnnAtbTensor &given, bool list, Lists &lists) {
  Tensor t = tensor_of(given);
  if (list || given.items != nullptr) t.hostData = nullptr;
  if (!list || given.items == nullptr) return t;
  std::vector<Tensor> members;
  members.reserve(given.itemCount);
  for (uint64_t i = 0; i < given.itemCount; ++i) members.push_back(tensor_of(given.items[i]));
  lists.push_front(std::move(members));
  t.hostData = &lists.front();
  return t;
}

int32_t refuse_tensors(const char *function, const char *parameter, const pyaclnnAtbTensor *tensors,
                       uint64_t count) {
  if (tensors == nullptr && count != 0) return refuse_null(function, parameter);
  if (count <= ::atb::MAX_SVECTOR_SIZE) return 0;
  Saying saying;
  saying.value << count << " tensors";
  saying.limit << "must be at most " << ::atb::MAX_SVECTOR_SIZE;
  return refuse(function, "ATB-C-COUNT", parameter, kInvalid, saying);
}

// Arguments of Setup and Execute.
struct Tensors {
  const pyaclnnAtbTensor *in;
  uint64_t in_count;
  const pyaclnnAtbTensor *out;
  uint64_t out_count;

  int32_t refused(const char *function) const {
    const int32_t code = refuse_tensors(function, "in", in, in_count);
    return code != 0 ? code : refuse_tensors(function, "out", out, out_count);
  }
  VariantPack pack(const Layout &layout, Lists &lists) const {
    VariantPack pack;
    for (uint64_t i = 0; i < in_count; ++i) {
      const bool list = i < layout.input_count && layout.inputs[i].list;
      pack.inTensors.push_back(tensor_of(in[i], list, lists));
    }
    for (uint64_t i = 0; i < out_count; ++i) {
      pack.outTensors.push_back(tensor_of(out[i], false, lists));
    }
    return pack;
  }
};

// ---- parameters

// Bytes may say anything about the elements of an SVector. In C they are inside it.
bool sound(const void *) { return true; }
bool sound(const infer::TransdataParam *param) {
  const auto *begin = reinterpret_cast<const std::byte *>(param);
  const auto *data = reinterpret_cast<const std::byte *>(param->outCrops.data());
  const bool inside = !std::less<>()(data, begin) && std::less<>()(data, begin + sizeof *param);
  return inside && param->outCrops.size() <= ::atb::DEFAULT_SVECTOR_SIZE;
}

template <class Param>
Status create_from(const void *param, Operation **operation) {
  alignas(Param) std::byte copy[sizeof(Param)];  // the caller's may stand anywhere
  std::memcpy(copy, param, sizeof copy);
  const auto *own = reinterpret_cast<const Param *>(copy);
  if (!sound(own)) {
    Saying saying;
    saying.value << "its bytes are no vector's";
    saying.limit << "must have at most " << ::atb::DEFAULT_SVECTOR_SIZE
                 << " elements and none outside";
    return refuse("pyaclnnAtbCreateOperation", "ATB-C-VECTOR", "outCrops", kInvalid, saying);
  }
  return ::atb::CreateOperation(*own, operation);
}

constexpr struct {
  const char *name;
  size_t size;
  Status (*create)(const void *param, Operation **operation);
} kParams[] = {
#define PYACLNN_PARAM(name) \
  { #name, sizeof(infer::name), create_from < infer::name> }
    PYACLNN_PARAM(SelfAttentionParam),   PYACLNN_PARAM(PagedAttentionParam),
    PYACLNN_PARAM(ReshapeAndCacheParam), PYACLNN_PARAM(ElewiseParam),
    PYACLNN_PARAM(TransdataParam),       PYACLNN_PARAM(RopeParam),
    PYACLNN_PARAM(LinearParam),          PYACLNN_PARAM(RmsNormParam),
    PYACLNN_PARAM(GroupTopkParam),
#undef PYACLNN_PARAM
};

int32_t create(const char *function, const char *name, const void *param, uint64_t size,
               pyaclnnAtbOperation **operation) {
  for (const auto &known : kParams) {
    if (std::strcmp(known.name, name) != 0) continue;
    if (size != known.size) {
      Saying saying;
      saying.value << size << " bytes";
      saying.limit << name << " has " << known.size;
      return refuse(function, "ATB-C-SIZE", "size", kInvalid, saying);
    }
    auto made = std::make_unique<pyaclnnAtbOperation>();
    Operation *inner = nullptr;
    // Without a place for the result the operation's own rule has the word.
    const Status status = known.create(param, operation != nullptr ? &inner : nullptr);
    if (status != ::atb::NO_ERROR) return status;
    made->operation = static_cast<OperationBase *>(inner);
    *operation = made.release();
    return ::atb::NO_ERROR;
  }
  Saying saying;
  saying.value << '"' << name << '"';
  saying.limit << "must be";
  const char *before = " ";
  for (const auto &known : kParams) {
    saying.limit << before << known.name;
    before = ", ";
  }
  return refuse(function, "ATB-C-NAME", "name", kInvalid, saying);
}

int32_t info_of(const char *function, const Place *places, uint32_t count, uint32_t index,
                pyaclnnAtbTensorInfo *info) {
  if (info == nullptr) return refuse_null(function, "info");
  if (index >= count) {
    Saying saying;
    saying.value << index;
    saying.limit << "must be below " << count;
    return refuse(function, "ATB-C-INDEX", "index", kInvalid, saying);
  }
  const Place &place = places[index];
  *info = {place.name, place.host ? 1 : 0, place.written ? 1 : 0, place.in_place};
  return 0;
}

}  // namespace

int32_t pyaclnnAtbCreateContext(pyaclnnAtbContext **context) {
  return ::atb::CreateContext(reinterpret_cast<Context **>(context));
}

int32_t pyaclnnAtbDestroyContext(pyaclnnAtbContext *context) {
  return ::atb::DestroyContext(cxx(context));
}

int32_t pyaclnnAtbSetExecuteStream(pyaclnnAtbContext *context, aclrtStream stream) {
  if (context == nullptr) return refuse_null(__func__, "context");
  return cxx(context)->SetExecuteStream(stream);
}

int32_t pyaclnnAtbSetExecuteType(pyaclnnAtbContext *context, int32_t type) {
  if (context == nullptr) return refuse_null(__func__, "context");
  return cxx(context)->SetExecuteType(static_cast<::atb::ExecuteType>(type));
}

int32_t pyaclnnAtbSetLaunchMode(pyaclnnAtbContext *context, int32_t mode) {
  if (context == nullptr) return refuse_null(__func__, "context");
  return cxx(context)->SetLaunchMode(static_cast<::atb::LaunchMode>(mode));
}

int32_t pyaclnnAtbCreateOperation(const char *name, const void *param, uint64_t size,
                                  pyaclnnAtbOperation **operation) {
  const char *function = __func__;
  if (name == nullptr) return refuse_null(function, "name");
  if (param == nullptr) return refuse_null(function, "param");
  return guarded(function, [&] { return create(function, name, param, size, operation); });
}

int32_t pyaclnnAtbDestroyOperation(pyaclnnAtbOperation *operation) {
  delete operation;
  return 0;
}

const char *pyaclnnAtbGetName(const pyaclnnAtbOperation *operation) {
  return operation != nullptr ? operation->operation->name() : nullptr;
}

uint32_t pyaclnnAtbGetInputNum(const pyaclnnAtbOperation *operation) {
  return operation != nullptr ? operation->operation->GetInputNum() : 0;
}

uint32_t pyaclnnAtbGetOutputNum(const pyaclnnAtbOperation *operation) {
  return operation != nullptr ? operation->operation->GetOutputNum() : 0;
}

int32_t pyaclnnAtbGetInputInfo(const pyaclnnAtbOperation *operation, uint32_t index,
                               pyaclnnAtbTensorInfo *info) {
  if (operation == nullptr) return refuse_null(__func__, "operation", kNoOperation);
  const Layout &layout = operation->operation->layout();
  return info_of(__func__, layout.inputs, layout.input_count, index, info);
}

int32_t pyaclnnAtbGetOutputInfo(const pyaclnnAtbOperation *operation, uint32_t index,
                                pyaclnnAtbTensorInfo *info) {
  if (operation == nullptr) return refuse_null(__func__, "operation", kNoOperation);
  const Layout &layout = operation->operation->layout();
  return info_of(__func__, layout.outputs, layout.output_count, index, info);
}

int32_t pyaclnnAtbInferShape(const pyaclnnAtbOperation *operation, const pyaclnnAtbTensor *in,
                             uint64_t inCount, pyaclnnAtbTensor *out, uint64_t outCount) {
  const char *function = __func__;
  if (operation == nullptr) return refuse_null(function, "operation", kNoOperation);
  if (int32_t code = refuse_tensors(function, "in", in, inCount); code != 0) return code;
  const uint32_t wanted = operation->operation->GetOutputNum();
  if (out == nullptr && wanted != 0) return refuse_null(function, "out");
  if (outCount != wanted) {
    Saying saying;
    saying.value << outCount << " tensors";
    saying.limit << "must be " << wanted;
    return refuse(function, "ATB-C-COUNT", "out", kInvalid, saying);
  }
  return guarded(function, [&] {
    SVector<TensorDesc> inputs, outputs;
    for (uint64_t i = 0; i < inCount; ++i) inputs.push_back(desc_of(in[i]));
    const Status status = operation->operation->InferShape(inputs, outputs);
    if (status != ::atb::NO_ERROR) return status;
    for (uint32_t i = 0; i < wanted; ++i) {
      const TensorDesc &desc = outputs[i];
      out[i] = {};
      out[i].dtype = desc.dtype;
      out[i].format = desc.format;
      std::memcpy(out[i].dims, desc.shape.dims, desc.shape.dimNum * sizeof(int64_t));
      out[i].dimNum = desc.shape.dimNum;
      out[i].dataSize = bytes_of(desc);
    }
    return status;
  });
}

int32_t pyaclnnAtbSetup(pyaclnnAtbOperation *operation, const pyaclnnAtbTensor *in,
                        uint64_t inCount, const pyaclnnAtbTensor *out, uint64_t outCount,
                        uint64_t *workspaceSize, pyaclnnAtbContext *context) {
  const char *function = __func__;
  if (operation == nullptr) return refuse_null(function, "operation", kNoOperation);
  if (workspaceSize == nullptr) return refuse_null(function, "workspaceSize");
  const Tensors tensors{in, inCount, out, outCount};
  if (int32_t code = tensors.refused(function); code != 0) return code;
  return guarded(function, [&] {
    operation->lists.clear();
    const VariantPack pack = tensors.pack(operation->operation->layout(), operation->lists);
    return operation->operation->Setup(pack, *workspaceSize, cxx(context));
  });
}

int32_t pyaclnnAtbExecute(pyaclnnAtbOperation *operation, const pyaclnnAtbTensor *in,
                          uint64_t inCount, const pyaclnnAtbTensor *out, uint64_t outCount,
                          void *workspace, uint64_t workspaceSize, pyaclnnAtbContext *context) {
  const char *function = __func__;
  if (operation == nullptr) return refuse_null(function, "operation", kNoOperation);
  const Tensors tensors{in, inCount, out, outCount};
  if (int32_t code = tensors.refused(function); code != 0) return code;
  return guarded(function, [&] {
    Lists lists;
    const VariantPack pack = tensors.pack(operation->operation->layout(), lists);
    return operation->operation->Execute(pack, static_cast<uint8_t *>(workspace), workspaceSize,
                                         cxx(context));
  });
}
