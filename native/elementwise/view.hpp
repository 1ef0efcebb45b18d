// Strided views, walked in the order of their elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "elementwise/type.hpp"

namespace pyaclnn::elementwise {

// Elements of one step of a walk. Its buffers are on the stack of whoever runs the work, which may
// be a thread of the program with a small one, and stay in the first cache.
inline constexpr int64_t kChunk = 128;

inline constexpr uint32_t kMostDims = 8;       // of a tensor
inline constexpr uint32_t kMostViewDims = 16;  // of a view: a dimension may be split in two

// Strides in elements; any sign, 0 repeats. Its first element is where the address points.
struct View {
  uint32_t rank = 0;
  int64_t dims[kMostViewDims] = {}, strides[kMostViewDims] = {};

  int64_t count() const {
    int64_t n = 1;
    for (uint32_t i = 0; i < rank; ++i) n *= dims[i];
    return n;
  }
  bool dense() const { return rank == 0 || (rank == 1 && (strides[0] == 1 || dims[0] == 1)); }
  bool operator==(const View &other) const;
};

// Numbers the dimensions from the largest step to the smallest, equal ones as they stand.
void order_by_stride(std::span<const int64_t> strides, uint32_t *order);

// The same elements in the same order with as few dimensions as possible.
View merged(const View &view);

// Bytes from the address to the first and behind the last byte that the view reaches.
struct Extent {
  int64_t begin, end;
};
Extent extent_of(const View &view, size_t element);

// A place in a view. The view must be merged and outlive the walker.
class Walker {
 public:
  Walker() = default;
  Walker(const View &view, size_t element, std::byte *base, int64_t start);

  // The next n elements where they lie, if they are dense, stepping behind them; else nullptr, and
  // the place stays.
  std::byte *direct(int64_t n);
  void gather(std::byte *to, int64_t n);
  void scatter(const std::byte *from, int64_t n);
  void fill(const std::byte *value, int64_t n);

 private:
  void step(int64_t n);
  template <class Move>
  void runs(int64_t n, Move move);

  const View *view_ = nullptr;
  size_t element_ = 0;
  std::byte *at_ = nullptr;
  uint32_t inner_ = 0;  // the last dimension
  int64_t extent_ = 1, stride_ = 1;
  int64_t index_[kMostViewDims] = {};
};

}  // namespace pyaclnn::elementwise
