#include "atb/signature.hpp"

#include "atb/facts.hpp"

namespace pyaclnn::atb {

Signature::Fit Signature::fit(const Facts &facts) const {
  Fit fit;
  aclDataType bound[128];  // of the named types met so far
  bool known[128] = {};
  auto match = [&](const Word &word, const TensorDesc *desc) {
    if (desc == nullptr) return false;
    if (word.any) return true;
    fit.dtype = word.first;
    fit.other = word.second;
    const auto name = static_cast<unsigned char>(word.name);
    if (name != 0 && known[name]) {
      fit.dtype = bound[name];
      fit.other = ACL_DT_UNDEFINED;
    }
    fit.format = word.nz ? ACL_FORMAT_FRACTAL_NZ : ACL_FORMAT_ND;
    if (desc->dtype == ACL_DT_UNDEFINED) return false;
    if (desc->dtype != fit.dtype && desc->dtype != fit.other) return false;
    if (name != 0) {
      known[name] = true;
      bound[name] = desc->dtype;
    }
    return desc->format == fit.format;
  };
  for (size_t i = 0; i < (facts.with_outputs() ? count_ : outputs_); ++i) {
    fit.output = i >= outputs_;
    const size_t slot = fit.output ? i - outputs_ : i;
    const int8_t place = (fit.output ? facts.layout.output_at : facts.layout.input_at)[slot];
    if (place < 0) continue;
    fit.place = static_cast<size_t>(place);
    if (!match(words_[i],
               fit.output ? facts.output_desc(fit.place) : facts.input_desc(fit.place))) {
      return fit;
    }
    ++fit.fitting;
  }
  fit.whole = true;
  return fit;
}

}  // namespace pyaclnn::atb
