// A decode call with its memory and handles, for small programs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_incre_flash_attention_v4.h"

namespace calls {

inline void must(const char *what, int32_t status) {
  if (status == 0) return;
  const char *text = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s: %d: %s\n", what, static_cast<int>(status), text != nullptr ? text : "");
  std::abort();
}

struct Shape {
  int64_t batch, heads, kv_heads, keys, size;
};

// float16, layout BNSD, one query row. Copies share the inputs and have handles and an output of
// their own.
class Call {
 public:
  explicit Call(const Shape &shape) : shape_(shape) {
    auto memory = std::make_shared<Inputs>();
    uint32_t state = 1;
    auto fill = [&state](std::vector<uint16_t> &halves, int64_t count) {
      halves.resize(static_cast<size_t>(count));
      for (uint16_t &half : halves) {  // +-0.5 .. 1
        state = state * 1664525u + 1013904223u;
        half = static_cast<uint16_t>(0x3800u | (state >> 22) | (state >> 16 & 0x8000u));
      }
    };
    fill(memory->query, shape.batch * shape.heads * shape.size);
    fill(memory->key, shape.batch * shape.kv_heads * shape.keys * shape.size);
    fill(memory->value, shape.batch * shape.kv_heads * shape.keys * shape.size);
    inputs_ = std::move(memory);
    out_ = std::make_shared<std::vector<uint16_t>>(inputs_->query.size());
    make_handles();
  }
  // Handles of its own over the same memory, output and workspace included.
  Call(const Call &other)
      : shape_(other.shape_),
        inputs_(other.inputs_),
        out_(other.out_),
        workspace_(other.workspace_),
        workspace_size_(other.workspace_size_) {
    make_handles();
  }
  Call &operator=(const Call &) = delete;
  ~Call() {
    must("aclDestroyTensor", aclDestroyTensor(query_));
    must("aclDestroyTensor", aclDestroyTensor(result_));
    must("aclDestroyTensorList", aclDestroyTensorList(keys_));
    must("aclDestroyTensorList", aclDestroyTensorList(values_));
  }

  void plan(uint64_t *size, aclOpExecutor **executor) {
    char layout[] = "BNSD";
    must("phase 1", aclnnIncreFlashAttentionV4GetWorkspaceSize(
                        query_, keys_, values_, nullptr, nullptr, nullptr, nullptr, nullptr,
                        nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, shape_.heads,
                        0.25, layout, shape_.kv_heads, 0, 1, result_, size, executor));
  }
  void run(uint64_t size, aclOpExecutor *executor, aclrtStream stream) {
    if (size > workspace_size_) grow(size);
    must("phase 2", aclnnIncreFlashAttentionV4(workspace_.get(), size, executor, stream));
  }
  void plan_and_run(aclrtStream stream) {
    uint64_t size = 0;
    aclOpExecutor *executor = nullptr;
    plan(&size, &executor);
    run(size, executor, stream);
  }
  void clear() { std::fill(out_->begin(), out_->end(), uint16_t{0}); }
  const std::vector<uint16_t> &out() const { return *out_; }

 private:
  struct Inputs {
    std::vector<uint16_t> query, key, value;
  };

  void grow(uint64_t size) {
    workspace_ = std::shared_ptr<void>(std::malloc(size), std::free);
    workspace_size_ = size;
  }
  static aclTensor *tensor(const int64_t (&dims)[4], const std::vector<uint16_t> &memory) {
    return aclCreateTensor(dims, 4, ACL_FLOAT16, nullptr, 0, ACL_FORMAT_ND, dims, 4,
                           const_cast<uint16_t *>(memory.data()));
  }
  void make_handles() {
    const int64_t query[] = {shape_.batch, shape_.heads, 1, shape_.size};
    const int64_t cache[] = {shape_.batch, shape_.kv_heads, shape_.keys, shape_.size};
    query_ = tensor(query, inputs_->query);
    result_ = tensor(query, *out_);
    const aclTensor *key = tensor(cache, inputs_->key), *value = tensor(cache, inputs_->value);
    keys_ = aclCreateTensorList(&key, 1);
    values_ = aclCreateTensorList(&value, 1);
  }

  Shape shape_;
  std::shared_ptr<const Inputs> inputs_;
  std::shared_ptr<std::vector<uint16_t>> out_;
  std::shared_ptr<void> workspace_;
  uint64_t workspace_size_ = 0;
  aclTensor *query_ = nullptr, *result_ = nullptr;
  aclTensorList *keys_ = nullptr, *values_ = nullptr;
};

}  // namespace calls
