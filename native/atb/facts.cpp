#include "atb/facts.hpp"

#include <algorithm>
#include <cstring>

#include "acl/acl.h"
#include "nnopbase/names.hpp"

namespace pyaclnn::atb {
namespace {

uint64_t element_bytes(aclDataType dtype) {
  if (dtype == ACL_DT_UNDEFINED) return 1;  // as on the device
  return known_dtype_name(dtype) != nullptr ? aclDataTypeSize(dtype) : 0;
}

}  // namespace

void Layout::blame(bool output, size_t place, Saying &saying) const {
  saying.parameter = (output ? outputs : inputs)[place].name;
  saying.list = output ? "outTensors" : "inTensors";
  saying.index = static_cast<int32_t>(place);
}

void Facts::locate(Saying &saying) const {
  auto find = [&](const char *list, const Place *places, size_t count) {
    if (saying.list != nullptr && std::strcmp(saying.list, list) != 0) return false;
    for (size_t i = 0; i < count; ++i) {
      if (std::strcmp(places[i].name, saying.parameter) != 0) continue;
      saying.list = list;
      saying.index = static_cast<int32_t>(i);
      return true;
    }
    return false;
  };
  if (find("inTensors", layout.inputs, layout.input_count)) return;
  find("outTensors", layout.outputs, layout.output_count);
}

uint64_t elements_of(const TensorDesc &desc) noexcept {
  if (desc.shape.dimNum == 0 || desc.shape.dimNum > MAX_DIM) return 0;
  uint64_t count = 1;
  for (uint64_t i = 0; i < desc.shape.dimNum; ++i) {
    const int64_t dim = desc.shape.dims[i];
    if (dim <= 0 || __builtin_mul_overflow(count, static_cast<uint64_t>(dim), &count)) return 0;
  }
  return count;
}

uint64_t bytes_of(const TensorDesc &desc) noexcept {
  uint64_t bytes = 0;
  return __builtin_mul_overflow(elements_of(desc), element_bytes(desc.dtype), &bytes) ? 0 : bytes;
}

bool same_desc(const TensorDesc &a, const TensorDesc &b) noexcept {
  return a.dtype == b.dtype && a.format == b.format && a.shape.dimNum == b.shape.dimNum &&
         a.shape.dimNum <= MAX_DIM &&
         std::equal(a.shape.dims, a.shape.dims + a.shape.dimNum, b.shape.dims);
}

void say_shape(const TensorDesc *desc, Text &text) {
  if (desc == nullptr) {
    text << "no tensor";
  } else if (desc->shape.dimNum > MAX_DIM) {
    text << desc->shape.dimNum << " dimensions";
  } else {
    text << "shape "
         << std::span<const int64_t>(desc->shape.dims, static_cast<size_t>(desc->shape.dimNum));
  }
}

void say_type(const TensorDesc &desc, Text &text) {
  text << dtype_name(desc.dtype) << ' ' << format_name(desc.format);
}

void say_desc(const TensorDesc &desc, Text &text) {
  say_type(desc, text);
  text << ' ';
  say_shape(&desc, text);
}

void blame_shape(const Facts &f, size_t slot, Saying &saying) {
  saying.parameter = f.name(slot);
  say_shape(f.desc(slot), saying.value);
}

void say_other(const Facts &f, size_t slot, Text &text) {
  text << f.name(slot) << ' ';
  say_shape(f.desc(slot), text);
}

}  // namespace pyaclnn::atb
