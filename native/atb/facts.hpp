// What a step of an operation was given, before anybody has judged it. Accessors are total: what is
// not there is nullptr or -1, so rules may look at broken calls.
#pragma once

#include <cstdint>
#include <span>

#include "atb/context.h"
#include "atb/operation.h"
#include "atb/signature.hpp"
#include "atb/types.h"
#include "nnopbase/rule.hpp"
#include "product/product.hpp"

namespace pyaclnn::atb {

// nnopbase has a Tensor as well; here it is the interface's.
using ::atb::Context;
using ::atb::MAX_DIM;
using ::atb::Operation;
using ::atb::Status;
using ::atb::SVector;
using ::atb::Tensor;
using ::atb::TensorDesc;
using ::atb::VariantPack;

inline constexpr size_t kMostSlots = 24;  // tensors of an operation, in one direction

// A tensor that the parameter asks for.
struct Place {
  const char *name;
  bool host;          // its values are read from hostData at Setup
  int8_t in_place;    // output: the input whose memory it must share; -1: none
  bool written;       // input: its memory is written
  bool list;          // hostData may be a std::vector of tensors
  const char *bytes;  // input: advice for one that is BOOL or INT8 and must not be; nullptr: none
};

inline constexpr char kMaskOfBytes[] =
    "a mask of ATB is added to the scores, with 0 where a key counts";

// The tensors of an operation, fixed by its parameter and product: each of its definition's slots
// has a place in inTensors or outTensors, or is absent.
struct Layout {
  uint8_t input_count = 0, output_count = 0;
  Place inputs[kMostSlots] = {}, outputs[kMostSlots] = {};
  int8_t input_at[kMostSlots] = {}, output_at[kMostSlots] = {};  // slot -> place; -1: absent
  // The dtype and format combinations; `checked` false: the device looks at none.
  bool checked = false;
  std::span<const Signature> signatures;

  // Names the tensor of a place as the one at fault.
  void blame(bool output, size_t place, Saying &saying) const;
};

inline constexpr int64_t kUnknown = -1;

class Facts {
 public:
  Facts(const Layout &its_layout, const Product &its_product)
      : layout(its_layout), product(its_product) {}

  const Layout &layout;
  const Product &product;
  const SVector<TensorDesc> *descs = nullptr;  // InferShape
  const VariantPack *pack = nullptr;           // Setup
  Context *context = nullptr;                  // Setup
  bool operation_given = true;                 // CreateOperation
  // The descriptions that an execution in graph mode has fixed, inputs then outputs; empty: none.
  std::span<const Tensor> fixed;

  size_t input_count() const { return descs != nullptr ? descs->size() : pack_inputs(); }
  size_t output_count() const { return pack != nullptr ? pack->outTensors.size() : 0; }
  bool with_outputs() const { return pack != nullptr; }
  bool counts_fit() const {
    return input_count() == layout.input_count &&
           (!with_outputs() || output_count() == layout.output_count);
  }

  // By place.
  const TensorDesc *input_desc(size_t place) const {
    if (place >= input_count()) return nullptr;
    return descs != nullptr ? &(*descs)[place] : &pack->inTensors[place].desc;
  }
  const TensorDesc *output_desc(size_t place) const {
    return place < output_count() ? &pack->outTensors[place].desc : nullptr;
  }

  // By the definition's slot.
  bool has(size_t slot) const { return layout.input_at[slot] >= 0; }
  const TensorDesc *desc(size_t slot) const {
    return has(slot) ? input_desc(static_cast<size_t>(layout.input_at[slot])) : nullptr;
  }
  const TensorDesc *out_desc(size_t slot) const {
    const int8_t place = layout.output_at[slot];
    return place >= 0 ? output_desc(static_cast<size_t>(place)) : nullptr;
  }
  const Tensor *tensor(size_t slot) const {
    return pack != nullptr && desc(slot) != nullptr
               ? &pack->inTensors[static_cast<size_t>(layout.input_at[slot])]
               : nullptr;
  }
  // "" where the parameter leaves the tensor out.
  const char *name(size_t slot) const {
    return has(slot) ? layout.inputs[layout.input_at[slot]].name : "";
  }
  int64_t rank(size_t slot) const { return rank_of(desc(slot)); }
  int64_t dim(size_t slot, size_t axis) const { return dim_of(desc(slot), axis); }
  // Values on the host, as many as the description has elements; empty when they are not there.
  template <class T>
  std::span<const T> host(size_t slot) const;

  static int64_t rank_of(const TensorDesc *desc) {
    return desc != nullptr && desc->shape.dimNum <= MAX_DIM
               ? static_cast<int64_t>(desc->shape.dimNum)
               : kUnknown;
  }
  static int64_t dim_of(const TensorDesc *desc, size_t axis) {
    const int64_t rank = rank_of(desc);
    return rank > 0 && axis < static_cast<size_t>(rank) ? desc->shape.dims[axis] : kUnknown;
  }

  // Puts the place of the tensor that a refusal names into it; see said().
  void locate(Saying &saying) const;

 private:
  size_t pack_inputs() const { return pack != nullptr ? pack->inTensors.size() : 0; }
};

// Elements and bytes of a description; 0 when it is none (Utils::GetTensorSize has the words).
uint64_t elements_of(const TensorDesc &desc) noexcept;
uint64_t bytes_of(const TensorDesc &desc) noexcept;
// Less memory than described. dataSize 0 says nothing: before Execute the device does not look.
inline bool is_short(const Tensor &t) noexcept {
  return t.dataSize != 0 && t.dataSize < bytes_of(t.desc);
}
bool same_desc(const TensorDesc &a, const TensorDesc &b) noexcept;

template <class T>
std::span<const T> Facts::host(size_t slot) const {
  const Tensor *t = tensor(slot);
  if (t == nullptr || t->hostData == nullptr || is_short(*t)) return {};
  return {static_cast<const T *>(t->hostData), static_cast<size_t>(elements_of(t->desc))};
}

// Words about a description.
void say_shape(const TensorDesc *desc, Text &text);
void say_type(const TensorDesc &desc, Text &text);  // "FLOAT16 ND"
void say_desc(const TensorDesc &desc, Text &text);  // both
// The input of a slot is at fault for its shape.
void blame_shape(const Facts &f, size_t slot, Saying &saying);
// "keyCache shape (4, 1, 32)": an input that the one at fault is compared with.
void say_other(const Facts &f, size_t slot, Text &text);

}  // namespace pyaclnn::atb
