/**
 * SVector: the vector that ATB's interface passes tensors in. Programs compile this code into
 * themselves, so its layout is part of the binary interface: up to 64 elements are inside the
 * object, more (at most 256) in one block from malloc.
 */
#ifndef ATB_SVECTOR_H_
#define ATB_SVECTOR_H_

#include <cstddef>
#include <cstdlib>
#include <exception>
#include <initializer_list>
#include <new>
#include <stdexcept>

namespace atb {

/** Elements that need no memory of their own. */
constexpr size_t DEFAULT_SVECTOR_SIZE = 64;
/** The most elements. */
constexpr size_t MAX_SVECTOR_SIZE = 256;

/** Thrown for more than MAX_SVECTOR_SIZE elements. */
struct MaxSizeExceeded : public std::exception {
  const char *what() const noexcept override { return "an SVector holds at most 256 elements"; }
};

/** Elements one behind the other. An index that is not below size() throws std::out_of_range. */
template <class T>
class SVector {
 public:
  SVector() {}
  /** Takes up to 64 elements. As on the device a longer list leaves the vector empty. */
  SVector(std::initializer_list<T> list) {
    check_size(list.size());
    if (list.size() > DEFAULT_SVECTOR_SIZE) return;
    for (const T &value : list) storage_[size_++] = value;
  }
  SVector(size_t size, const T &value = 0) {
    resize(size);
    for (size_t i = 0; i < size_; ++i) data()[i] = value;
  }
  SVector(const SVector &other) { copy(other); }
  ~SVector() { release(); }
  SVector &operator=(const SVector &other) {
    if (this != &other) {
      release();
      copy(other);
    }
    return *this;
  }

  /** Equal elements. A vector on the left whose elements are in a block of their own is equal only
   * to such a vector. */
  bool operator==(const SVector &other) const {
    if (size_ != other.size_ || (heap_ != nullptr && other.heap_ == nullptr)) return false;
    for (size_t i = 0; i < size_; ++i) {
      if (!(data()[i] == other.data()[i])) return false;
    }
    return true;
  }

  T &operator[](size_t i) {
    check_index(i);
    return data()[i];
  }
  const T &operator[](size_t i) const {
    check_index(i);
    return data()[i];
  }
  T &at(size_t i) { return (*this)[i]; }
  const T &at(size_t i) const { return (*this)[i]; }

  T *data() { return heap_ != nullptr ? heap_ : storage_; }
  const T *data() const { return heap_ != nullptr ? heap_ : storage_; }
  T *begin() { return data(); }
  const T *begin() const { return data(); }
  T *end() { return data() + size_; }
  const T *end() const { return data() + size_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  void clear() { size_ = 0; }
  void push_back(const T &value) { insert(size_, value); }
  /** Puts an element before the one at `pos`, which may be size(). */
  void insert(size_t pos, const T &value) {
    if (pos > size_) throw std::out_of_range("SVector: insert behind the end");
    const T copied(value);  // it may be an element that moves
    resize(size_ + 1);
    for (size_t i = size_ - 1; i > pos; --i) data()[i] = data()[i - 1];
    data()[pos] = copied;
  }
  /** Sets the number of elements; new ones are what their place held before. */
  void resize(size_t size) {
    check_size(size);
    if (size > (heap_ != nullptr ? capacity_ : DEFAULT_SVECTOR_SIZE)) {
      T *block = allocate(MAX_SVECTOR_SIZE);
      for (size_t i = 0; i < size_; ++i) block[i] = data()[i];
      release();
      heap_ = block;
      capacity_ = MAX_SVECTOR_SIZE;
    }
    size_ = size;
  }
  /** More than 64: makes a new block for so many elements. The elements are lost, as on the
   * device: reserve before filling. */
  void reserve(size_t capacity) {
    check_size(capacity);
    if (capacity <= DEFAULT_SVECTOR_SIZE) return;
    T *block = allocate(capacity);
    release();
    heap_ = block;
    capacity_ = capacity;
    if (size_ > capacity) size_ = capacity;
  }

 private:
  static void check_size(size_t size) {
    if (size > MAX_SVECTOR_SIZE) throw MaxSizeExceeded();
  }
  void check_index(size_t i) const {
    if (i >= size_) throw std::out_of_range("SVector: index behind the end");
  }
  static T *allocate(size_t count) {
    T *block = static_cast<T *>(std::malloc(count * sizeof(T)));
    if (block == nullptr) throw std::bad_alloc();
    for (size_t i = 0; i < count; ++i) ::new (static_cast<void *>(block + i)) T();
    return block;
  }
  void release() {
    if (heap_ == nullptr) return;
    for (size_t i = 0; i < capacity_; ++i) heap_[i].~T();
    std::free(heap_);
    heap_ = nullptr;
    capacity_ = 0;
  }
  void copy(const SVector &other) {
    if (other.heap_ != nullptr) {
      heap_ = allocate(other.capacity_);
      capacity_ = other.capacity_;
    }
    size_ = other.size_;
    for (size_t i = 0; i < size_; ++i) data()[i] = other.data()[i];
  }

  size_t capacity_ = 0;
  size_t size_ = 0;
  T storage_[DEFAULT_SVECTOR_SIZE + 1];
  T *heap_ = nullptr;
};

}  // namespace atb

#endif  // ATB_SVECTOR_H_
