// Copies and fills, synchronous and on a stream, plain, two-dimensional and in batches.
#include <cstdlib>
#include <cstring>

#include "acl/acl.h"
#include "acl/device_state.hpp"
#include "acl/memory_state.hpp"
#include "acl/refuse.hpp"
#include "acl/stream_state.hpp"
#include "support/log.hpp"

namespace pyaclnn {
namespace {

// Copies up to here are cheaper than waking a worker for them.
constexpr size_t kSmallCopy = 64 * 1024;

// Rows of bytes; a plain copy is one row. `readable` counts the bytes of the whole source that may
// be read, the rest arrives as zeros.
struct Copy {
  char *dst;
  const char *src;
  size_t dpitch, spitch, width, height;
  size_t readable;
  void *staging;  // own copy of pageable host memory, or nullptr
};

size_t extent(size_t pitch, size_t width, size_t height) { return (height - 1) * pitch + width; }

void run_copy(const Copy &copy) {
  if (copy.readable == SIZE_MAX && copy.width == copy.dpitch && copy.width == copy.spitch) {
    std::memmove(copy.dst, copy.src, copy.width * copy.height);
    return;
  }
  for (size_t row = 0; row < copy.height; ++row) {
    const size_t begin = row * copy.spitch;
    size_t there = copy.readable > begin ? copy.readable - begin : 0;
    if (there > copy.width) there = copy.width;
    char *dst = copy.dst + row * copy.dpitch;
    if (there != 0) std::memmove(dst, copy.src + begin, there);
    if (there != copy.width) std::memset(dst + there, 0, copy.width - there);
  }
}

int32_t check_destination(const char *function, const void *dst, size_t bytes, BlockView *block) {
  *block = block_at(dst);
  if (block->left >= bytes) return 0;
  return fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003",
              Text() << function << ": dst: " << block->left
                     << " bytes are left in its block, at least " << bytes << " are required");
}

// Never read beyond a block: programs do copy more than they own, and get zeros here.
void check_source(const char *function, Copy *copy, const BlockView &block) {
  const size_t bytes = extent(copy->spitch, copy->width, copy->height);
  copy->readable = SIZE_MAX;
  if (block.left >= bytes) return;
  copy->readable = block.left;
  log(LogLevel::Error, Text() << function << ": src: only " << block.left << " of " << bytes
                              << " bytes are inside its block, the rest arrives as zeros");
}

int32_t check_kind(const char *function, int32_t kind) {
  if (kind >= ACL_MEMCPY_HOST_TO_HOST && kind <= ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE) return 0;
  return refuse_value(ACL_ERROR_INVALID_PARAM, function, "kind", kind,
                      "0 (host to host) .. 4 (default), 5 (host to buffer to device)");
}

int32_t check_kind_2d(const char *function, int32_t kind) {
  if (kind >= ACL_MEMCPY_HOST_TO_DEVICE && kind <= ACL_MEMCPY_DEFAULT) return 0;
  return refuse_value(ACL_ERROR_INVALID_PARAM, function, "kind", kind,
                      "1 (host to device), 2 (device to host), 3 (device to device), 4 (default)");
}

int32_t check_room(const char *function, size_t room, size_t count) {
  if (room >= count) return 0;
  return fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003",
              Text() << function << ": count: is " << count
                     << ", at most the size of the destination is accepted, " << room);
}

bool source_is_host(int32_t kind, const BlockView &block) {
  if (kind == ACL_MEMCPY_HOST_TO_DEVICE || kind == ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE) return true;
  return kind == ACL_MEMCPY_DEFAULT && block.place != Place::Device;
}

bool destination_is_host(int32_t kind, const BlockView &block) {
  if (kind == ACL_MEMCPY_DEVICE_TO_HOST) return true;
  return kind == ACL_MEMCPY_DEFAULT && block.place != Place::Device;
}

int32_t now(const char *function, Copy copy) {
  BlockView destination;
  int32_t code = check_destination(function, copy.dst, extent(copy.dpitch, copy.width, copy.height),
                                   &destination);
  if (code != 0) return code;
  if (current_context_payload() == nullptr) return refuse_no_context(function);
  if (copy.dst == copy.src && copy.dpitch == copy.spitch) return ACL_SUCCESS;
  check_source(function, &copy, block_at(copy.src));
  run_copy(copy);
  return ACL_SUCCESS;
}

// Pageable destinations are complete at return, as on a device, because the program may take them
// away. So the stream must not be one that waits for this very call.
int32_t check_finish(aclrtStream stream, const char *function) {
  Stream *payload = nullptr;
  std::unique_lock<std::mutex> lock;
  int32_t code = stream_lock(stream, function, &payload, &lock);
  if (code != 0) return code;
  const bool own = own_work_of(payload->self);
  lock.unlock();
  return own ? refuse_own_work(function, "dst (host memory that is not pinned)") : 0;
}

// Waits until a ticket of a stream has passed.
int32_t finish(aclrtStream stream, const char *function, uint64_t ticket) {
  Stream *payload = nullptr;
  std::unique_lock<std::mutex> lock;
  int32_t code = stream_lock(stream, function, &payload, &lock);
  if (code != 0) return code;
  const uint64_t self = payload->self;
  lock.unlock();
  stream_wait(payload, self, ticket, 0);
  return ACL_SUCCESS;
}

int32_t later(const char *function, Copy copy, int32_t kind, bool pinned_only, aclrtStream stream) {
  BlockView destination;
  int32_t code = check_destination(function, copy.dst, extent(copy.dpitch, copy.width, copy.height),
                                   &destination);
  if (code != 0) return code;
  const BlockView source = block_at(copy.src);
  const bool pageable_source = source.place == Place::Unknown && source_is_host(kind, source);
  const bool pageable_destination =
      destination.place == Place::Unknown && destination_is_host(kind, destination);
  if (pinned_only && (pageable_source || pageable_destination)) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003",
                Text() << function << ": " << (pageable_source ? "src" : "dst")
                       << ": is host memory that is not pinned, memory from aclrtMallocHost or "
                          "aclrtHostRegister is required");
  }
  if (pageable_destination) {
    code = check_finish(stream, function);
    if (code != 0) return code;
  }
  check_source(function, &copy, source);
  Task *task = task_new(sizeof(Copy));
  if (task == nullptr) {
    return refuse_memory(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, function, "the copy", sizeof(Copy));
  }
  copy.staging = nullptr;
  if (pageable_source) {
    const size_t bytes = extent(copy.spitch, copy.width, copy.height);
    copy.staging = std::malloc(bytes);
    if (copy.staging == nullptr) {
      task_free(task);
      return refuse_memory(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, function, "the source", bytes);
    }
    // Row by row: what lies between the rows is not ours to read.
    for (size_t row = 0; row < copy.height; ++row) {
      std::memcpy(static_cast<char *>(copy.staging) + row * copy.spitch,
                  copy.src + row * copy.spitch, copy.width);
    }
    copy.src = static_cast<const char *>(copy.staging);
  }
  std::memcpy(task->payload(), &copy, sizeof copy);
  task->small = copy.width * copy.height <= kSmallCopy;
  task->run = [](Task *it, Text &) {
    run_copy(*reinterpret_cast<Copy *>(it->payload()));
    return 0;
  };
  task->release = [](Task *it) { std::free(reinterpret_cast<Copy *>(it->payload())->staging); };
  uint64_t ticket = 0;
  code = stream_push(stream, function, task, Work::Plain, nullptr, &ticket);
  if (code == 0 && pageable_destination) code = finish(stream, function, ticket);
  return code;
}

Copy plain(void *dst, const void *src, size_t count) {
  return {static_cast<char *>(dst),
          static_cast<const char *>(src),
          count,
          count,
          count,
          1,
          SIZE_MAX,
          nullptr};
}

int32_t check_plain(const char *function, const void *dst, size_t destMax, const void *src,
                    size_t count, int32_t kind) {
  if (dst == nullptr) return refuse_null(function, "dst");
  if (src == nullptr) return refuse_null(function, "src");
  if (int32_t code = check_kind(function, kind); code != 0) return code;
  return check_room(function, destMax, count);
}

int32_t copy_async(const char *function, void *dst, size_t destMax, const void *src, size_t count,
                   aclrtMemcpyKind kind, bool pinned_only, aclrtStream stream) {
  if (count == 0) return ACL_SUCCESS;
  auto number = static_cast<int32_t>(kind);
  if (int32_t code = check_plain(function, dst, destMax, src, count, number); code != 0)
    return code;
  if (number == ACL_MEMCPY_HOST_TO_HOST) {
    return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1006",
                Text() << function
                       << ": kind: is 0 (host to host), a copy to or from a device is "
                          "required");
  }
  return later(function, plain(dst, src, count), number, pinned_only, stream);
}

int32_t check_2d(const char *function, const void *dst, size_t dpitch, const void *src,
                 size_t spitch, size_t width, size_t height, int32_t kind) {
  if (dst == nullptr) return refuse_null(function, "dst");
  if (src == nullptr) return refuse_null(function, "src");
  if (int32_t code = check_kind_2d(function, kind); code != 0) return code;
  size_t all = 0;
  if (width > dpitch || width > spitch) {
    return fail(ACL_ERROR_INVALID_PARAM, "EH0007",
                Text() << function << ": width: is " << width
                       << ", at most the pitches are accepted: " << dpitch << " (dst), " << spitch
                       << " (src)");
  }
  if (__builtin_mul_overflow(height, dpitch > spitch ? dpitch : spitch, &all)) {
    return refuse_value(ACL_ERROR_INVALID_PARAM, function, "height", height,
                        "a number of rows whose bytes can be addressed");
  }
  return 0;
}

int32_t check_set(const char *function, const void *devPtr, size_t maxCount, size_t count) {
  if (devPtr == nullptr) return refuse_null(function, "devPtr");
  if (int32_t code = check_room(function, maxCount, count); code != 0) return code;
  BlockView block;
  return check_destination(function, devPtr, count, &block);
}

struct Set {
  void *at;
  int32_t value;
  size_t count;
};

// What aclrtSetMemcpyDesc writes into the caller's memory.
struct Description {
  static constexpr uint64_t kMagic = 0x70796163656c6370;
  uint64_t magic;
  void *dst;
  const void *src;
  size_t count;
  int64_t kind;
};

int32_t run_description(Task *task, Text &why) {
  const auto *description = *reinterpret_cast<const Description **>(task->payload());
  const char *found = nullptr;
  if (description->magic != Description::kMagic) {
    found = "the description was overwritten before the copy ran";
  } else if (block_at(description->dst).left < description->count) {
    found = "the destination block is smaller than the copy";
  }
  if (found != nullptr) {
    why << "aclrtMemcpyAsyncWithDesc: desc: " << found;
    return ACL_ERROR_RT_AICORE_EXCEPTION;
  }
  Copy copy = plain(description->dst, description->src, description->count);
  check_source("aclrtMemcpyAsyncWithDesc", &copy, block_at(copy.src));
  run_copy(copy);
  return 0;
}

// ---- batches

struct Batch {
  void **dsts;
  size_t *destMaxs;
  void **srcs;
  size_t *sizes;
  size_t count;
  aclrtMemcpyBatchAttr *attrs;
  size_t *attrsIndexes;
  size_t numAttrs;
};

bool place_is(const BlockView &block, uint32_t type) {
  const bool device = block.place == Place::Device;
  return device == (type == ACL_MEM_LOCATION_TYPE_DEVICE);
}

// Sets `nothing` when there is nothing to copy.
int32_t check_batch(const char *function, const Batch &batch, size_t *failIndex, bool *nothing) {
  if (failIndex == nullptr) return refuse_null(function, "failIndex");
  *failIndex = SIZE_MAX;
  if (batch.sizes == nullptr) return refuse_null(function, "sizes");
  if (batch.count == 0) {
    return refuse_value(ACL_ERROR_INVALID_PARAM, function, "numBatches", 0, "at least 1");
  }
  *nothing = true;
  for (size_t i = 0; i < batch.count; ++i) *nothing = *nothing && batch.sizes[i] == 0;
  if (*nothing) return 0;
  if (batch.dsts == nullptr) return refuse_null(function, "dsts");
  if (batch.destMaxs == nullptr) return refuse_null(function, "destMaxs");
  if (batch.srcs == nullptr) return refuse_null(function, "srcs");
  if (batch.attrs == nullptr) return refuse_null(function, "attrs");
  if (batch.attrsIndexes == nullptr) return refuse_null(function, "attrsIndexes");
  if (batch.numAttrs == 0 || batch.numAttrs > batch.count) {
    return refuse_value(ACL_ERROR_INVALID_PARAM, function, "numAttrs", batch.numAttrs,
                        "1 .. numBatches");
  }
  for (size_t k = 0; k < batch.numAttrs; ++k) {
    const size_t index = batch.attrsIndexes[k];
    const bool fits = k == 0 ? index == 0 : index > batch.attrsIndexes[k - 1];
    if (!fits || index >= batch.count) {
      return fail(ACL_ERROR_INVALID_PARAM, "EH0007",
                  Text() << function << ": attrsIndexes[" << k << "]: is " << index
                         << ", numbers of copies are accepted, rising from 0");
    }
    for (uint8_t byte : batch.attrs[k].rsv) {
      if (byte != 0) {
        return fail(ACL_ERROR_INVALID_PARAM, "EH0007",
                    Text() << function << ": attrs[" << k << "].rsv: holds " << byte
                           << ", only zero bytes are accepted (reserved)");
      }
    }
  }
  size_t k = 0;
  for (size_t i = 0; i < batch.count; ++i) {
    if (k + 1 < batch.numAttrs && batch.attrsIndexes[k + 1] == i) ++k;
    const char *which = nullptr;
    int32_t code = ACL_ERROR_INVALID_PARAM;
    const char *what = "is NULL, a valid pointer is required";
    if (batch.sizes[i] == 0) continue;
    if (batch.dsts[i] == nullptr) {
      which = "dsts";
    } else if (batch.srcs[i] == nullptr) {
      which = "srcs";
    } else if (batch.destMaxs[i] < batch.sizes[i]) {
      which = "sizes";
      what = "is larger than destMaxs, at most that is accepted";
    } else {
      const BlockView dst = block_at(batch.dsts[i]), src = block_at(batch.srcs[i]);
      const auto to = static_cast<uint32_t>(batch.attrs[k].dstLoc.type);
      const auto from = static_cast<uint32_t>(batch.attrs[k].srcLoc.type);
      code = ACL_ERROR_RT_PARAM_INVALID;
      what = "its kind of memory differs from the declared place";
      if (!place_is(dst, to)) {
        which = "dsts";
      } else if (!place_is(src, from)) {
        which = "srcs";
      } else if ((dst.place == Place::Device) == (src.place == Place::Device)) {
        which = "dsts";
        what = "is in the same kind of memory as the source, host and device are required";
      } else if (dst.left < batch.sizes[i]) {
        which = "dsts";
        what = "its block is smaller than the copy";
      }
      if (which != nullptr) *failIndex = i;
    }
    if (which != nullptr) {
      return fail(code, code == ACL_ERROR_INVALID_PARAM ? "EH0007" : "EE1003",
                  Text() << function << ": " << which << "[" << i << "]: " << what);
    }
  }
  return 0;
}

}  // namespace
}  // namespace pyaclnn

using namespace pyaclnn;

aclError aclrtMemcpy(void *dst, size_t destMax, const void *src, size_t count,
                     aclrtMemcpyKind kind) {
  const char *function = "aclrtMemcpy";
  if (count == 0) return ACL_SUCCESS;
  int32_t code = check_plain(function, dst, destMax, src, count, static_cast<int32_t>(kind));
  return code != 0 ? code : now(function, plain(dst, src, count));
}

aclError aclrtMemcpyAsync(void *dst, size_t destMax, const void *src, size_t count,
                          aclrtMemcpyKind kind, aclrtStream stream) {
  return copy_async("aclrtMemcpyAsync", dst, destMax, src, count, kind, false, stream);
}

aclError aclrtMemcpyAsyncWithCondition(void *dst, size_t destMax, const void *src, size_t count,
                                       aclrtMemcpyKind kind, aclrtStream stream) {
  return copy_async("aclrtMemcpyAsyncWithCondition", dst, destMax, src, count, kind, true, stream);
}

aclError aclrtMemcpy2d(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                       size_t height, aclrtMemcpyKind kind) {
  const char *function = "aclrtMemcpy2d";
  if (width == 0 || height == 0) return ACL_SUCCESS;
  int32_t code =
      check_2d(function, dst, dpitch, src, spitch, width, height, static_cast<int32_t>(kind));
  if (code != 0) return code;
  return now(function, {static_cast<char *>(dst), static_cast<const char *>(src), dpitch, spitch,
                        width, height, SIZE_MAX, nullptr});
}

aclError aclrtMemcpy2dAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                            size_t height, aclrtMemcpyKind kind, aclrtStream stream) {
  const char *function = "aclrtMemcpy2dAsync";
  if (width == 0 || height == 0) return ACL_SUCCESS;
  auto number = static_cast<int32_t>(kind);
  int32_t code = check_2d(function, dst, dpitch, src, spitch, width, height, number);
  if (code != 0) return code;
  return later(function,
               {static_cast<char *>(dst), static_cast<const char *>(src), dpitch, spitch, width,
                height, SIZE_MAX, nullptr},
               number, false, stream);
}

aclError aclrtMemset(void *devPtr, size_t maxCount, int32_t value, size_t count) {
  const char *function = "aclrtMemset";
  if (count == 0) return ACL_SUCCESS;
  if (int32_t code = check_set(function, devPtr, maxCount, count); code != 0) return code;
  if (current_context_payload() == nullptr) return refuse_no_context(function);
  std::memset(devPtr, value & 0xff, count);
  return ACL_SUCCESS;
}

aclError aclrtMemsetAsync(void *devPtr, size_t maxCount, int32_t value, size_t count,
                          aclrtStream stream) {
  const char *function = "aclrtMemsetAsync";
  if (count == 0) return ACL_SUCCESS;
  if (int32_t code = check_set(function, devPtr, maxCount, count); code != 0) return code;
  Task *task = task_new(sizeof(Set));
  if (task == nullptr) {
    return refuse_memory(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, function, "the task", sizeof(Set));
  }
  Set set{devPtr, value, count};
  std::memcpy(task->payload(), &set, sizeof set);
  task->small = count <= kSmallCopy;
  task->run = [](Task *it, Text &) {
    auto *its = reinterpret_cast<Set *>(it->payload());
    std::memset(its->at, its->value & 0xff, its->count);
    return 0;
  };
  return stream_push(stream, function, task);
}

aclError aclrtMemcpyBatch(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes,
                          size_t numBatches, aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes,
                          size_t numAttrs, size_t *failIndex) {
  const char *function = "aclrtMemcpyBatch";
  bool nothing = false;
  const Batch batch{dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs};
  int32_t code = check_batch(function, batch, failIndex, &nothing);
  for (size_t i = 0; code == 0 && !nothing && i < numBatches; ++i) {
    if (sizes[i] == 0) continue;
    code = now(function, plain(dsts[i], srcs[i], sizes[i]));
  }
  return code;
}

aclError aclrtMemcpyBatchAsync(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes,
                               size_t numBatches, aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes,
                               size_t numAttrs, size_t *failIndex, aclrtStream stream) {
  const char *function = "aclrtMemcpyBatchAsync";
  bool nothing = false;
  const Batch batch{dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs};
  int32_t code = check_batch(function, batch, failIndex, &nothing);
  for (size_t i = 0; code == 0 && !nothing && i < numBatches; ++i) {
    if (sizes[i] == 0) continue;
    code = later(function, plain(dsts[i], srcs[i], sizes[i]), ACL_MEMCPY_DEFAULT, false, stream);
  }
  return code;
}

aclError aclrtGetMemcpyDescSize(aclrtMemcpyKind kind, size_t *descSize) {
  const char *function = "aclrtGetMemcpyDescSize";
  if (descSize == nullptr) return refuse_null(function, "descSize");
  if (int32_t code = check_kind(function, static_cast<int32_t>(kind)); code != 0) return code;
  *descSize = sizeof(Description);
  return ACL_SUCCESS;
}

aclError aclrtSetMemcpyDesc(void *desc, aclrtMemcpyKind kind, void *srcAddr, void *dstAddr,
                            size_t count, void *config) {
  const char *function = "aclrtSetMemcpyDesc";
  if (desc == nullptr) return refuse_null(function, "desc");
  if (srcAddr == nullptr) return refuse_null(function, "srcAddr");
  if (dstAddr == nullptr) return refuse_null(function, "dstAddr");
  if (int32_t code = check_kind(function, static_cast<int32_t>(kind)); code != 0) return code;
  if (count == 0) {
    return refuse_value(ACL_ERROR_INVALID_PARAM, function, "count", count, "at least 1");
  }
  if (config != nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "EH0007",
                Text() << function << ": config: is not NULL, only NULL is accepted (reserved)");
  }
  if (block_at(desc).left < sizeof(Description)) {
    return fail(ACL_ERROR_INVALID_PARAM, "EH0007",
                Text() << function << ": desc: " << block_at(desc).left
                       << " bytes are left in its block, " << sizeof(Description)
                       << " are required");
  }
  Description description{Description::kMagic, dstAddr, srcAddr, count, static_cast<int64_t>(kind)};
  std::memcpy(desc, &description, sizeof description);
  return ACL_SUCCESS;
}

aclError aclrtMemcpyAsyncWithDesc(void *desc, aclrtMemcpyKind kind, aclrtStream stream) {
  const char *function = "aclrtMemcpyAsyncWithDesc";
  if (desc == nullptr) return refuse_null(function, "desc");
  if (int32_t code = check_kind(function, static_cast<int32_t>(kind)); code != 0) return code;
  Task *task = task_new(sizeof(void *));
  if (task == nullptr) {
    return refuse_memory(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, function, "the copy", sizeof(Task));
  }
  *reinterpret_cast<void **>(task->payload()) = desc;
  task->run = run_description;
  return stream_push(stream, function, task);
}
