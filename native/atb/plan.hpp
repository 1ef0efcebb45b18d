// What Setup leaves for Execute: a copy of everything, so that the operation may be set up again or
// destroyed while its work is still queued.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "atb/types.h"
#include "support/text.hpp"

namespace pyaclnn::atb {

// The tensors of a call: those of its pack, or those of Setup when that is empty.
struct Given {
  std::span<const ::atb::Tensor> in, out;
};

// Bytes that are copied in about 30 us: a plan of no more work is small.
inline constexpr int64_t kInlineBytes = 128 * 1024;

class Plan {
 public:
  Plan() = default;
  Plan(const Plan &) = delete;
  Plan &operator=(const Plan &) = delete;
  virtual ~Plan() = default;

  uint64_t workspace = 0;  // bytes
  bool small = false;      // about 30 us of work at most: may run inline on an idle stream

  // The addresses of a run: as they are, one for each tensor, inputs then outputs. A plan that
  // needs others (addresses on the host) gives their number and collects them itself.
  virtual size_t address_count(const Given &given) const {
    return given.in.size() + given.out.size();
  }
  virtual void collect(const Given &given, std::byte **addresses) const {
    for (const ::atb::Tensor &t : given.in) *addresses++ = static_cast<std::byte *>(t.deviceData);
    for (const ::atb::Tensor &t : given.out) *addresses++ = static_cast<std::byte *>(t.deviceData);
  }

  // Does the work, on the stream. 0, or an aclError for the stream (507015 for faults found in
  // device data) with `why`.
  virtual int32_t run(std::span<std::byte *const> addresses, std::byte *workspace,
                      Text &why) const = 0;
};

// What run answers for a tensor whose deviceData it needs and that has none.
int32_t null_data(const char *tensor, Text &why);
// The same for a value on the device: "seqLen[1] is 9, valid are 0 .. 8".
int32_t value_outside(const char *tensor, int64_t index, int64_t value, int64_t low, int64_t high,
                      Text &why);

}  // namespace pyaclnn::atb
