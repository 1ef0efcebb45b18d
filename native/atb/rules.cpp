#include "atb/rules.hpp"

#include <tuple>

#include "atb/context.hpp"
#include "nnopbase/names.hpp"

namespace pyaclnn::atb {
namespace {

constexpr uint64_t kMostBytes = uint64_t{256} << 30;

struct DescAt {
  const TensorDesc *desc = nullptr;  // none
  bool output = false;
  size_t place = 0;
};
// The first tensor for which is(where it stands) holds, inputs before outputs.
template <class Is>
DescAt first_desc(const Facts &f, Is is) {
  for (size_t i = 0; i < f.input_count(); ++i) {
    if (const DescAt at{f.input_desc(i), false, i}; is(at)) return at;
  }
  for (size_t i = 0; i < f.output_count(); ++i) {
    if (const DescAt at{f.output_desc(i), true, i}; is(at)) return at;
  }
  return {};
}

void say_names(const Place *places, size_t count, Text &text) {
  text << "must be " << count << " (";
  for (size_t i = 0; i < count; ++i) text << (i == 0 ? "" : ", ") << places[i].name;
  text << ')';
}

BadDesc::What fault_of(const TensorDesc &desc) {
  if (desc.shape.dimNum == 0 || desc.shape.dimNum > MAX_DIM) return BadDesc::Rank;
  const uint64_t bytes = bytes_of(desc);
  return bytes == 0 || bytes > kMostBytes ? BadDesc::Size : BadDesc::None;
}

DescAt first_bfloat16(const Facts &f) {
  return first_desc(f, [](const DescAt &at) { return at.desc->dtype == ACL_BF16; });
}

// The first that is no longer as an execution in graph mode has fixed it.
DescAt first_changed(const Facts &f) {
  return first_desc(f, [&](const DescAt &at) {
    const size_t i = at.output ? f.input_count() + at.place : at.place;
    return i >= f.fixed.size() || !same_desc(*at.desc, f.fixed[i].desc);
  });
}

}  // namespace

void say_input_count(const Facts &f, Saying &s) {
  s.value << f.input_count() << " tensors";
  say_names(f.layout.inputs, f.layout.input_count, s.limit);
}

void say_output_count(const Facts &f, Saying &s) {
  s.value << f.output_count() << " tensors";
  say_names(f.layout.outputs, f.layout.output_count, s.limit);
}

BadDesc bad_desc(const Facts &f) {
  const DescAt at =
      first_desc(f, [](const DescAt &one) { return fault_of(*one.desc) != BadDesc::None; });
  if (at.desc == nullptr) return {};
  return {fault_of(*at.desc), at.output, at.place};
}

void say_bad_desc(const Facts &f, Saying &s) {
  const BadDesc bad = bad_desc(f);
  f.layout.blame(bad.output, bad.place, s);
  const TensorDesc &desc = bad.output ? *f.output_desc(bad.place) : *f.input_desc(bad.place);
  if (bad.what == BadDesc::Rank) {
    s.value << desc.shape.dimNum << " dimensions";
    s.limit << "must have 1 .. " << MAX_DIM;
  } else {
    say_shape(&desc, s.value);
    s.value << " of " << dtype_name(desc.dtype);
    s.limit << "must have dimensions from 1 on, a known dtype, and at most 256 GiB";
  }
}

bool signature_fits(const Facts &f) {
  for (const Signature &signature : f.layout.signatures) {
    if (signature.fit(f).whole) return true;
  }
  return false;
}

// Says what the row wants that fits furthest: usually one tensor is wrong.
void say_signature(const Facts &f, Saying &s) {
  Signature::Fit nearest;
  for (const Signature &signature : f.layout.signatures) {
    const Signature::Fit fit = signature.fit(f);
    if (nearest.dtype == ACL_DT_UNDEFINED || fit.fitting > nearest.fitting) nearest = fit;
  }
  if (nearest.dtype == ACL_DT_UNDEFINED) {
    s.value << f.input_count() << " tensors";
    s.limit << "no combination of dtypes is offered for these fields of the parameter: change "
               "maskType or "
               "calcType";
    return;
  }
  f.layout.blame(nearest.output, nearest.place, s);
  say_type(nearest.output ? *f.output_desc(nearest.place) : *f.input_desc(nearest.place), s.value);
  s.limit << "must be ";
  // Every row that fits as far wants something here; several may want the same.
  const auto wants = [&](size_t row) {
    const Signature::Fit fit = f.layout.signatures[row].fit(f);
    const bool there = fit.fitting == nearest.fitting && fit.place == nearest.place;
    return std::tuple(there, fit.dtype, fit.other, fit.format);
  };
  const char *before = "";
  for (size_t row = 0; row < f.layout.signatures.size(); ++row) {
    const auto wanted = wants(row);
    bool said = !std::get<0>(wanted);
    for (size_t earlier = 0; earlier < row; ++earlier) said |= wants(earlier) == wanted;
    if (said) continue;
    s.limit << before << dtype_name(std::get<1>(wanted));
    if (std::get<2>(wanted) != ACL_DT_UNDEFINED) {
      s.limit << " or " << dtype_name(std::get<2>(wanted));
    }
    s.limit << ' ' << format_name(std::get<3>(wanted));
    before = ", ";
  }
  s.limit << " beside the other tensors";
  if (nearest.output || f.layout.inputs[nearest.place].bytes == nullptr) return;
  const aclDataType dtype = f.input_desc(nearest.place)->dtype;
  if (dtype == ACL_BOOL || dtype == ACL_INT8 || dtype == ACL_UINT8) {
    s.limit << "; " << f.layout.inputs[nearest.place].bytes;
  }
}

bool has_bfloat16(const Facts &f) { return first_bfloat16(f).desc != nullptr; }

void say_bfloat16(const Facts &f, Saying &s) {
  const DescAt at = first_bfloat16(f);
  f.layout.blame(at.output, at.place, s);
  s.value << "dtype BFLOAT16";
  s.limit << "must be another dtype, as FLOAT16: this product has no BFLOAT16";
}

bool own_context(const Facts &f) { return context_of(f.context) != nullptr; }

void say_foreign_context(const Facts &, Saying &s) {
  s.value << "an object of another class";
  s.limit << "must be a context of CreateContext";
}

bool as_fixed(const Facts &f) { return first_changed(f).desc == nullptr; }

void say_fixed(const Facts &f, Saying &s) {
  const DescAt at = first_changed(f);
  f.layout.blame(at.output, at.place, s);
  say_desc(*at.desc, s.value);
  s.value << ", another dtype, format or shape than at the first execution";
  s.limit << "in GRAPH_LAUNCH_MODE they must stay what they were";
}

int missing_host_data(const Facts &f) {
  for (size_t i = 0; i < f.layout.input_count; ++i) {
    const Tensor &t = f.pack->inTensors[i];
    if (f.layout.inputs[i].host && (t.hostData == nullptr || is_short(t))) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

void say_host_data(const Facts &f, Saying &s) {
  const auto place = static_cast<size_t>(missing_host_data(f));
  const Tensor &t = f.pack->inTensors[place];
  f.layout.blame(false, place, s);
  if (t.hostData == nullptr) {
    s.value << "hostData is a null pointer";
  } else {
    s.value << "dataSize " << t.dataSize;
  }
  s.limit << "its values are read on the host: hostData must point to all " << bytes_of(t.desc)
          << " bytes of its description";
}

int moved_output(const Facts &f) {
  for (size_t i = 0; i < f.layout.output_count; ++i) {
    const int8_t input = f.layout.outputs[i].in_place;
    if (input < 0) continue;
    const void *out = f.pack->outTensors[i].deviceData;
    const void *in = f.pack->inTensors[static_cast<size_t>(input)].deviceData;
    // Memory that is still missing is no other memory; Execute looks again.
    if (out != nullptr && in != nullptr && out != in) return static_cast<int>(i);
  }
  return -1;
}

void say_moved_output(const Facts &f, Saying &s) {
  const auto output = static_cast<size_t>(moved_output(f));
  f.layout.blame(true, output, s);
  s.value << "deviceData is other memory than the input's";
  s.limit << "the operation writes in place, so it must be that of inTensors["
          << static_cast<int>(f.layout.outputs[output].in_place) << ']';
}

}  // namespace pyaclnn::atb
