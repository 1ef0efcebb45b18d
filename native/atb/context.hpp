// The class behind the contexts of CreateContext.
#pragma once

#include <vector>

#include "atb/context.h"
#include "atb/objects.hpp"

namespace pyaclnn::atb {

class ContextImpl final : public ::atb::Context {
 public:
  static void *operator new(size_t bytes) { return take_object(bytes); }
  static void operator delete(void *object) noexcept { return_object(object); }
  ::atb::Status SetExecuteStream(aclrtStream stream) override;
  aclrtStream GetExecuteStream() const override;
  ::atb::Status SetAsyncTilingCopyStatus(bool enable) override;
  bool GetAsyncTilingCopyStatus() const override;
  ::atb::Status SetExecuteStreams(const std::vector<aclrtStream> &streams) override;
  std::vector<aclrtStream> GetExecuteStreams() override;
  ::atb::Status SetExecuteType(::atb::ExecuteType type) override;
  ::atb::ExecuteType GetExecuteType() override;
  ::atb::Status SetLaunchMode(::atb::LaunchMode mode) override;
  ::atb::LaunchMode GetLaunchMode() override;

  // nullptr: never set, or no stream has this number.
  aclrtStream stream(uint32_t id) const { return id < streams_.size() ? streams_[id] : nullptr; }

 private:
  std::vector<aclrtStream> streams_{nullptr};
  bool async_tiling_copy_ = false;
  ::atb::LaunchMode launch_mode_ = ::atb::KERNEL_LAUNCH_MODE;
};

// nullptr for a context that a program has made of its own class.
inline ContextImpl *context_of(::atb::Context *context) {
  return dynamic_cast<ContextImpl *>(context);
}

}  // namespace pyaclnn::atb
