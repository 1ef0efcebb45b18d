// A bounded text builder: no allocation, no exceptions, usable on failure paths and across our
// libraries (its layout is plain data, so it may cross an exported pyaclnn:: function).
#pragma once

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string_view>

namespace pyaclnn {

class Text {
 public:
  // The error text of one item is at most 1023 characters.
  static constexpr size_t kCapacity = 1024;

  Text() { buffer_[0] = '\0'; }

  Text &operator<<(std::string_view s) {
    size_t room = kCapacity - 1 - size_;
    size_t n = s.size() < room ? s.size() : room;
    if (n != 0) std::memcpy(buffer_ + size_, s.data(), n);
    size_ += n;
    buffer_[size_] = '\0';
    return *this;
  }
  Text &operator<<(const char *s) { return *this << std::string_view(s != nullptr ? s : "(null)"); }
  Text &operator<<(char c) { return *this << std::string_view(&c, 1); }
  Text &operator<<(bool v) { return *this << (v ? "true" : "false"); }
  template <class Integer>
  requires std::is_integral_v<Integer> Text &operator<<(Integer v) {
    char digits[24];
    int n;
    if constexpr (std::is_signed_v<Integer>) {
      n = std::snprintf(digits, sizeof digits, "%" PRId64, static_cast<int64_t>(v));
    } else {
      n = std::snprintf(digits, sizeof digits, "%" PRIu64, static_cast<uint64_t>(v));
    }
    return *this << std::string_view(digits, static_cast<size_t>(n));
  }
  Text &operator<<(double v) {
    char digits[32];
    int n = std::snprintf(digits, sizeof digits, "%g", v);
    return *this << std::string_view(digits, static_cast<size_t>(n));
  }
  // A shape: (2, 4, 1, 16).
  Text &operator<<(std::span<const int64_t> dims) {
    *this << '(';
    for (size_t i = 0; i < dims.size(); ++i) {
      if (i != 0) *this << ", ";
      *this << dims[i];
    }
    return *this << ')';
  }

  const char *c_str() const { return buffer_; }
  size_t size() const { return size_; }
  std::string_view view() const { return {buffer_, size_}; }
  bool empty() const { return size_ == 0; }
  void clear() {
    size_ = 0;
    buffer_[0] = '\0';
  }

 private:
  size_t size_ = 0;
  char buffer_[kCapacity];
};

}  // namespace pyaclnn
