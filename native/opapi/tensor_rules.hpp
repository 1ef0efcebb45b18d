// The rules that tensor and scalar operators share. They find what is at fault, so each names
// the parameter of the operator at hand.
#pragma once

#include "aclnn/opdev/op_errno.h"
#include "opapi/tensor_call.hpp"

namespace pyaclnn::tensors {

using Rule = pyaclnn::Rule<Call>;
using Check = pyaclnn::Check<Call>;

// Of every operator.
extern const Rule kGiven;    // TENSOR-NULL
extern const Rule kLive;     // TENSOR-LIVE
extern const Rule kDtype;    // TENSOR-DTYPE
extern const Rule kFormat;   // TENSOR-FORMAT
extern const Rule kRank;     // TENSOR-RANK
extern const Rule kStorage;  // TENSOR-STORAGE
extern const Rule kOverlap;  // TENSOR-OVERLAP: elements of the output share memory
extern const Rule kNumber;   // TENSOR-SCALAR: dtypes of scalars

// Of elementwise operators.
extern const Rule kPromote;    // ELEM-PROMOTE
extern const Rule kFactor;     // ELEM-FACTOR
extern const Rule kBroadcast;  // ELEM-BROADCAST
extern const Rule kOutShape;   // ELEM-OUT-SHAPE
extern const Rule kOutDtype;   // ELEM-OUT-DTYPE

bool nothing_to_write(const Call &call);

// A place among the tensors of a call: of a list, also the member.
struct Place {
  int parameter = -1;
  int64_t member = -1;
  const Tensor *tensor = nullptr;
  bool found() const { return parameter >= 0; }
};
// Names the parameter, and the member, in what a rule says.
void point(const Call &call, const Place &place, Saying &saying);

// The first tensor of which `wrong` is true.
template <class Wrong>
Place first_tensor(const Call &call, Wrong wrong) {
  for (int i = 0; i < call.count(); ++i) {
    if (call.tensors[i] != nullptr && wrong(i, *call.tensors[i])) return {i, -1, call.tensors[i]};
    if (call.lists[i] == nullptr) continue;
    const auto members = call.lists[i]->elements();
    for (size_t m = 0; m < members.size(); ++m) {
      const Tensor *t = find_handle<Tensor>(members[m]);
      if (t != nullptr && wrong(i, *t)) return {i, static_cast<int64_t>(m), t};
    }
  }
  return {};
}

// What every path begins with.
#define PYACLNN_TENSOR_CHECKS                                                  \
  {&kGiven, ACLNN_ERR_PARAM_NULLPTR}, {&kLive, ACLNN_ERR_PARAM_INVALID},       \
      {&kDtype, ACLNN_ERR_PARAM_INVALID}, {&kNumber, ACLNN_ERR_PARAM_INVALID}, \
      {&kFormat, ACLNN_ERR_PARAM_INVALID}, {&kRank, ACLNN_ERR_PARAM_INVALID},  \
      {&kStorage, ACLNN_ERR_PARAM_INVALID}, {                                  \
    &kOverlap, ACLNN_ERR_PARAM_INVALID                                         \
  }

// The path of elementwise operators.
extern const Check kElementwiseChecks[14];

}  // namespace pyaclnn::tensors
