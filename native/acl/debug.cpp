// The functions of pyaclnn/debug.h that libascendcl exports.
#include <cstring>
#include <iterator>

#include "acl/device_state.hpp"
#include "acl/memory_state.hpp"
#include "acl/refuse.hpp"
#include "acl/stream_state.hpp"
#include "product/product.hpp"
#include "pyaclnn/debug.h"
#include "pyaclnn/version.h"
#include "support/env.hpp"
#include "support/pool.hpp"
#include "support/record_state.hpp"

namespace pyaclnn {
namespace {

struct KindName {
  const char *name;
  Kind kind;
};
constexpr KindName kKindNames[] = {
    {"context", Kind::Context},       {"stream", Kind::Stream},
    {"event", Kind::Event},           {"databuffer", Kind::DataBuffer},
    {"tensordesc", Kind::TensorDesc}, {"physicalmemory", Kind::PhysicalMemory},
    {"opattr", Kind::OpAttr},         {"tensor", Kind::Tensor},
    {"scalar", Kind::Scalar},         {"intarray", Kind::IntArray},
    {"floatarray", Kind::FloatArray}, {"boolarray", Kind::BoolArray},
    {"tensorlist", Kind::TensorList}, {"scalarlist", Kind::ScalarList},
    {"executor", Kind::Executor},
};

// Counters answer 0 where other functions refuse, and leave no text.
const Stream *stream_of(aclrtStream argument) {
  uint64_t handle = handle_value(argument);
  if (argument == nullptr) {
    const Context *context = current_context_payload();
    handle = context != nullptr ? context->default_stream.load(std::memory_order_acquire) : 0;
  }
  auto *live = find_handle<Stream>(handle_pointer(handle));
  if (live != nullptr) return live;
  // Its work may still run while another thread waits to destroy it.
  return static_cast<const Stream *>(handle_table(Kind::Stream).find_ending(handle));
}

uint64_t counter_of(aclrtStream argument, std::atomic<uint64_t> Stream::*counter) {
  const Stream *stream = stream_of(argument);
  return stream != nullptr ? (stream->*counter).load(std::memory_order_acquire) : 0;
}

}  // namespace
}  // namespace pyaclnn

using namespace pyaclnn;

const char *pyaclnnVersion(void) { return PYACLNN_VERSION; }

aclError pyaclnnSetProduct(const char *name) {
  if (name != nullptr && set_product(name)) return ACL_SUCCESS;
  return fail(
      ACL_ERROR_INVALID_PARAM, "EH0007",
      Text() << "pyaclnnSetProduct: name: is " << name << ", accepted: " << product_names());
}

const char *pyaclnnGetProduct(void) {
  const Product *product = current_product();
  return product != nullptr ? product->key : nullptr;
}

aclError pyaclnnSetThreads(int32_t threads) {
  if (pool_set_threads(threads)) return ACL_SUCCESS;
  return refuse_value(ACL_ERROR_INVALID_PARAM, "pyaclnnSetThreads", "threads", threads, "1 .. 256");
}

int32_t pyaclnnGetThreads(void) { return pool_threads(); }

aclError pyaclnnSetStreamMode(const char *mode) {
  for (size_t i = 0; mode != nullptr && i < std::size(kStreamModes); ++i) {
    if (std::strcmp(mode, kStreamModes[i]) != 0) continue;
    set_stream_mode(static_cast<StreamMode>(i));
    return ACL_SUCCESS;
  }
  return fail(ACL_ERROR_INVALID_PARAM, "EH0007",
              Text() << "pyaclnnSetStreamMode: mode: is " << mode
                     << ", accepted: auto, async, blocking, lazy");
}

const char *pyaclnnGetStreamMode(void) { return kStreamModes[static_cast<int>(stream_mode())]; }

aclrtContext pyaclnnCurrentContext(void) {
  return current_context_payload() != nullptr ? handle_pointer(current_context()) : nullptr;
}

const char *pyaclnnEnvironmentError(void) {
  return env().error != nullptr ? env().error : product_error();
}

aclrtStream pyaclnnDefaultStream(void) {
  const Context *context = current_context_payload();
  return context != nullptr
             ? handle_pointer(context->default_stream.load(std::memory_order_acquire))
             : nullptr;
}

uint64_t pyaclnnStreamSubmitted(aclrtStream stream) {
  return counter_of(stream, &Stream::submitted);
}
uint64_t pyaclnnStreamPassed(aclrtStream stream) { return counter_of(stream, &Stream::passed); }
int32_t pyaclnnStreamIdle(aclrtStream argument) {
  const Stream *stream = stream_of(argument);
  if (stream == nullptr) return 1;
  const uint64_t submitted = stream->submitted.load(std::memory_order_acquire);
  return stream->passed.load(std::memory_order_acquire) >= submitted ? 1 : 0;
}

int64_t pyaclnnLiveCount(const char *kind) {
  if (kind == nullptr) return -1;
  if (std::strcmp(kind, "memory") == 0) return live_blocks();
  for (const KindName &each : kKindNames) {
    if (std::strcmp(kind, each.name) == 0) return handle_table(each.kind).live();
  }
  return -1;
}

size_t pyaclnnExplain(char *buffer, size_t capacity) { return copy_explanation(buffer, capacity); }
