#include "elementwise/pick.hpp"

#include <algorithm>
#include <cstring>

#include "elementwise/convert.hpp"

namespace pyaclnn::elementwise {
namespace {

// A view read as bytes that say what is not 0.
class Truths {
 public:
  Truths(const Source &source, std::byte *base, const View &view)
      : type_(source.type), walker_(view, size_of(source.type), base, 0) {}
  const uint8_t *next(int64_t n) {
    walker_.gather(raw_, n);
    convert_run(raw_, type_, truths_, Type::b8, n);
    // A bool in memory may be any byte.
    if (type_ == Type::b8) {
      for (int64_t i = 0; i < n; ++i) truths_[i] = truths_[i] != 0;
    }
    return truths_;
  }

 private:
  Type type_;
  Walker walker_;
  std::byte raw_[kChunk * 16];
  uint8_t truths_[kChunk];
};

}  // namespace

int64_t count_nonzero(const Source &source, std::byte *const *addresses) noexcept {
  const View view = merged(source.view);
  Truths truths(source, start_of(source, addresses), view);
  const int64_t count = view.count();
  int64_t found = 0;
  for (int64_t at = 0; at < count; at += kChunk) {
    const int64_t n = std::min(kChunk, count - at);
    const uint8_t *t = truths.next(n);
    for (int64_t i = 0; i < n; ++i) found += t[i];
  }
  return found;
}

int64_t pick(const Source &input, const Source &mask, const Source &output,
             std::byte *const *addresses, int64_t room) noexcept {
  Steady values, where;
  Source in = input, condition = mask;
  in.view = merged(input.view);
  condition.view = merged(mask.view);
  if (!values.take(in, output, addresses) || !where.take(condition, output, addresses)) return -1;
  const int64_t count = input.view.count();
  const size_t size = size_of(input.type);
  Walker from(values.view, size, values.base, 0);
  Truths truths(condition, where.base, where.view);
  alignas(64) std::byte raw[kChunk * 16];
  alignas(64) std::byte picked[kChunk * 16];
  const View out_view = merged(output.view);
  Walker out(out_view, size, start_of(output, addresses), 0);
  int64_t found = 0;
  for (int64_t at = 0; at < count; at += kChunk) {
    const int64_t n = std::min(kChunk, count - at);
    from.gather(raw, n);
    const uint8_t *t = truths.next(n);
    int64_t kept = 0;
    for (int64_t i = 0; i < n && found + kept < room; ++i) {
      if (t[i] == 0) continue;
      std::memcpy(picked + static_cast<size_t>(kept++) * size, raw + static_cast<size_t>(i) * size,
                  size);
    }
    out.scatter(picked, kept);
    found += kept;
  }
  return found;
}

bool places_of_nonzero(const Source &input, const Source &output, std::byte *const *addresses,
                       int64_t place, int64_t axis, int64_t room) noexcept {
  // Places written over values that are still to be read would make more of them than were counted.
  Steady values;
  Source in = input;
  in.view = merged(input.view);
  if (!values.take(in, output, addresses)) return false;
  const int64_t count = input.view.count();
  Truths truths(in, values.base, values.view);
  auto *out = reinterpret_cast<int64_t *>(start_of(output, addresses));
  int64_t index[kMostDims] = {};
  const uint32_t rank = input.view.rank;
  for (int64_t at = 0; at < count; at += kChunk) {
    const int64_t n = std::min(kChunk, count - at);
    const uint8_t *t = truths.next(n);
    for (int64_t i = 0; i < n; ++i) {
      if (t[i] != 0 && room-- > 0) {
        for (uint32_t d = 0; d < rank; ++d) out[d * axis] = index[d];
        out += place;
      }
      for (uint32_t d = rank; d-- > 0 && ++index[d] == input.view.dims[d];) index[d] = 0;
    }
  }
  return true;
}

}  // namespace pyaclnn::elementwise
