#include "elementwise/view.hpp"

#include <algorithm>
#include <cstring>

namespace pyaclnn::elementwise {
namespace {

struct Bytes16 {
  uint64_t low, high;
};

template <class Unit>
void gather_units(const std::byte *from, int64_t stride, std::byte *to, int64_t n) {
  const auto step = stride * static_cast<int64_t>(sizeof(Unit));
  for (int64_t i = 0; i < n; ++i) {
    std::memcpy(to + i * static_cast<int64_t>(sizeof(Unit)), from + i * step, sizeof(Unit));
  }
}
template <class Unit>
void scatter_units(const std::byte *from, std::byte *to, int64_t stride, int64_t n) {
  const auto step = stride * static_cast<int64_t>(sizeof(Unit));
  for (int64_t i = 0; i < n; ++i) {
    std::memcpy(to + i * step, from + i * static_cast<int64_t>(sizeof(Unit)), sizeof(Unit));
  }
}
template <class Unit>
void fill_units(const std::byte *value, std::byte *to, int64_t stride, int64_t n) {
  Unit unit;
  std::memcpy(&unit, value, sizeof unit);
  if (stride == 1) {
    for (int64_t i = 0; i < n; ++i) {
      std::memcpy(to + i * static_cast<int64_t>(sizeof(Unit)), &unit, sizeof unit);
    }
    return;
  }
  const auto step = stride * static_cast<int64_t>(sizeof(Unit));
  for (int64_t i = 0; i < n; ++i) std::memcpy(to + i * step, &unit, sizeof unit);
}

// Calls with a unit of the element's size.
template <class Call>
void by_size(size_t element, Call call) {
  switch (element) {
    case 1: return call(uint8_t{});
    case 2: return call(uint16_t{});
    case 4: return call(uint32_t{});
    case 8: return call(uint64_t{});
    default: return call(Bytes16{});
  }
}

}  // namespace

bool View::operator==(const View &other) const {
  return rank == other.rank && std::equal(dims, dims + rank, other.dims) &&
         std::equal(strides, strides + rank, other.strides);
}

void order_by_stride(std::span<const int64_t> strides, uint32_t *order) {
  // A dimension of 1 may have any stride, also the smallest number.
  auto step = [&](uint32_t i) {
    const auto bits = static_cast<uint64_t>(strides[i]);
    return strides[i] < 0 ? 0 - bits : bits;
  };
  for (uint32_t i = 0; i < strides.size(); ++i) {
    uint32_t at = i;
    for (; at > 0 && step(order[at - 1]) < step(i); --at) {
      order[at] = order[at - 1];
    }
    order[at] = i;
  }
}

View merged(const View &view) {
  View result;
  for (uint32_t i = 0; i < view.rank; ++i) {
    if (view.dims[i] == 1) continue;
    const uint32_t last = result.rank - 1;
    if (result.rank != 0 && result.strides[last] == view.dims[i] * view.strides[i]) {
      result.dims[last] *= view.dims[i];
      result.strides[last] = view.strides[i];
    } else {
      result.dims[result.rank] = view.dims[i];
      result.strides[result.rank++] = view.strides[i];
    }
  }
  return result;
}

Extent extent_of(const View &view, size_t element) {
  Extent extent{0, static_cast<int64_t>(element)};
  for (uint32_t i = 0; i < view.rank; ++i) {
    const int64_t far = (view.dims[i] - 1) * view.strides[i] * static_cast<int64_t>(element);
    (far < 0 ? extent.begin : extent.end) += far;
  }
  return extent;
}

Walker::Walker(const View &view, size_t element, std::byte *base, int64_t start)
    : view_(&view), element_(element), at_(base) {
  if (view.rank == 0) return;
  inner_ = view.rank - 1;
  extent_ = view.dims[inner_];
  stride_ = view.strides[inner_];
  for (uint32_t i = view.rank; i-- > 0;) {
    index_[i] = start % view.dims[i];
    start /= view.dims[i];
    at_ += index_[i] * view.strides[i] * static_cast<int64_t>(element);
  }
}

// n stays within the last dimension.
void Walker::step(int64_t n) {
  const auto element = static_cast<int64_t>(element_);
  index_[inner_] += n;
  at_ += n * stride_ * element;
  for (uint32_t i = inner_; index_[i] == (view_->rank != 0 ? view_->dims[i] : 1) && i > 0; --i) {
    at_ += (view_->strides[i - 1] - index_[i] * view_->strides[i]) * element;
    index_[i] = 0;
    ++index_[i - 1];
  }
}

template <class Move>
void Walker::runs(int64_t n, Move move) {
  for (int64_t done = 0; done < n;) {
    const int64_t run = std::min(n - done, extent_ - index_[inner_]);
    move(done, run);
    done += run;
    step(run);
  }
}

std::byte *Walker::direct(int64_t n) {
  if (stride_ != 1 || extent_ - index_[inner_] < n) return nullptr;
  std::byte *here = at_;
  step(n);
  return here;
}

void Walker::gather(std::byte *to, int64_t n) {
  by_size(element_, [&](auto unit) {
    using Unit = decltype(unit);
    runs(n, [&](int64_t done, int64_t run) {
      std::byte *place = to + done * static_cast<int64_t>(sizeof(Unit));
      if (stride_ == 1) {
        std::memcpy(place, at_, static_cast<size_t>(run) * sizeof(Unit));
      } else if (stride_ == 0) {
        fill_units<Unit>(at_, place, 1, run);
      } else {
        gather_units<Unit>(at_, stride_, place, run);
      }
    });
  });
}

void Walker::scatter(const std::byte *from, int64_t n) {
  by_size(element_, [&](auto unit) {
    using Unit = decltype(unit);
    runs(n, [&](int64_t done, int64_t run) {
      const std::byte *place = from + done * static_cast<int64_t>(sizeof(Unit));
      if (stride_ == 1) {
        std::memcpy(at_, place, static_cast<size_t>(run) * sizeof(Unit));
      } else {
        scatter_units<Unit>(place, at_, stride_, run);
      }
    });
  });
}

void Walker::fill(const std::byte *value, int64_t n) {
  by_size(element_, [&](auto unit) {
    using Unit = decltype(unit);
    runs(n, [&](int64_t, int64_t run) { fill_units<Unit>(value, at_, stride_, run); });
  });
}

}  // namespace pyaclnn::elementwise
