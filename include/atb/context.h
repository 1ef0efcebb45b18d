/** Where operations run: streams and modes. */
#ifndef ATB_CONTEXT_H_
#define ATB_CONTEXT_H_

#include <acl/acl.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "atb/types.h"

namespace atb {

/** Which part of its work Operation::Execute() does. Kept per thread. */
enum ExecuteType : int {
  EXECUTE_NORMAL = 0,    /**< all of it */
  EXECUTE_PRELAUNCH = 1, /**< checks and preparation */
  EXECUTE_LAUNCH = 2     /**< hands over what was prepared */
};

/** How operations are handed to the device. */
enum LaunchMode : int {
  KERNEL_LAUNCH_MODE = 0,
  GRAPH_LAUNCH_MODE = 1 /**< the first execution fixes the shapes of an operation */
};

/** A context; made by CreateContext(), several operations may share it. */
class Context {
 public:
  Context() = default;
  virtual ~Context() = default;

  /**
   * Sets the stream that operations run on. There is none at first.
   * @param stream from aclrtCreateStream()
   * @return NO_ERROR
   */
  virtual Status SetExecuteStream(aclrtStream stream) = 0;
  /** The first stream; nullptr when none was set. */
  virtual aclrtStream GetExecuteStream() const = 0;
  /** Asks for asynchronous copies of tiling data. No effect on a CPU; NO_ERROR. */
  virtual Status SetAsyncTilingCopyStatus(bool enable) = 0;
  virtual bool GetAsyncTilingCopyStatus() const = 0;
  /**
   * Sets several streams; an operation runs on that of SetExecuteStreamId().
   * @param streams at least one
   * @return NO_ERROR; ERROR_INVALID_PARAM for none
   */
  virtual Status SetExecuteStreams(const std::vector<aclrtStream> &streams) = 0;
  virtual std::vector<aclrtStream> GetExecuteStreams() = 0;
  /** Sets what Execute() does on this thread. ERROR_INVALID_PARAM for another value. */
  virtual Status SetExecuteType(ExecuteType type) = 0;
  virtual ExecuteType GetExecuteType() = 0;
  /** ERROR_INVALID_PARAM for another value. */
  virtual Status SetLaunchMode(LaunchMode mode) = 0;
  virtual LaunchMode GetLaunchMode() = 0;
};

/**
 * Makes a context.
 * @param context [out] the caller's until DestroyContext()
 * @return NO_ERROR; ERROR_INVALID_PARAM for nullptr
 */
ACL_FUNC_VISIBILITY Status CreateContext(Context **context);

/**
 * Makes a context with functions for device memory. Tiling needs no device memory on a CPU, so they
 * are not called.
 * @param context [out] as above
 * @param alloc gives memory; both functions are set or none is
 * @param dealloc takes it back
 * @return NO_ERROR; ERROR_INVALID_PARAM for nullptr, or when only one function is set
 */
ACL_FUNC_VISIBILITY Status CreateContext(Context **context,
                                         const std::function<void *(size_t)> &alloc,
                                         const std::function<void(void *)> &dealloc);

/**
 * Makes a context with a number of blocks for tiling data, which a CPU does not need.
 * @param context [out] as above
 * @param hostTilingBlockNum 128 to 1024
 * @param deviceTilingBlockNum 32 to 1024
 * @return NO_ERROR; ERROR_INVALID_PARAM for nullptr or a number outside
 */
ACL_FUNC_VISIBILITY Status CreateContext(Context **context, uint32_t hostTilingBlockNum,
                                         uint32_t deviceTilingBlockNum);

/**
 * Ends a context. Work that was handed to a stream goes on.
 * @param context from CreateContext(), or nullptr
 * @return NO_ERROR
 */
ACL_FUNC_VISIBILITY Status DestroyContext(Context *context);

}  // namespace atb

#endif  // ATB_CONTEXT_H_
