// What the reference and the block engine share: the lengths and first rows of a batch (from host
// arrays or device data), checks of device data, addresses of rows and elements, and output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "attention/problem.hpp"
#include "kernels/kernels.hpp"

namespace pyaclnn::attention {

using Addresses = std::span<std::byte *const>;

inline const std::byte *address(Addresses addresses, Slot slot) {
  return slot < addresses.size() ? addresses[slot] : nullptr;
}

// Element `index` of a buffer that may not be aligned.
template <class T>
T read(const std::byte *base, int64_t index) {
  T value;
  std::memcpy(&value, base + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

// Element `index` of a buffer as float32. I64 is a UINT64 dequantisation word.
float load(Type type, const std::byte *base, int64_t index);
inline float load(const View &view, Addresses addresses, int64_t index) {
  return load(view.type, address(addresses, view.slot), index);
}
void store(Type type, std::byte *base, int64_t index, float value);  // float types
int64_t type_bits(Type type);
// How keys and values are stored; those of a list all alike.
Type key_type(const Problem &p);
Type value_type(const Problem &p);
// Bytes of a key of one head: its key, rope part and value. A key prefix is the value as well.
double key_bytes(const Problem &p);
// The kernels' name of a type they take: f16, bf16, f32, i8.
kernels::Element element_of(Type type);

// Wraps instead of overflowing: a mask index may be computed before it is judged, and the stride of
// an axis with one index may be anything.
inline int64_t element(const View &v, int64_t b, int64_t s, int64_t h, int64_t d) {
  auto times = [](int64_t index, int64_t stride) {
    return static_cast<uint64_t>(index) * static_cast<uint64_t>(stride);
  };
  return static_cast<int64_t>(static_cast<uint64_t>(v.offset) + times(b, v.b) + times(s, v.s) +
                              times(h, v.h) + times(d, v.d));
}

// Lengths and first rows of one batch in this run, as a kv head of it sees them (with
// Cache::perHead they differ between heads).
struct Batch {
  int64_t b = 0;
  int64_t entry = 0;  // row of the block table and of the key lengths
  bool run = true;
  int64_t queries = 0;      // Lq; 0 also when the query begins before row 0
  int64_t query_begin = 0;  // qb
  int64_t keys = 0;         // L, prefix included; 0 also when the keys begin before row 0
  int64_t key_begin = 0;    // st
  int64_t layer = 0;
};

// How many kv heads of a batch have a block table row and a key length of their own; otherwise all
// share one.
inline int64_t key_heads(const Problem &p) { return p.cache.perHead ? p.kvHeads : 1; }

// Of the host: one value for all batches, or one for each.
inline int64_t host_value(std::span<const int64_t> host, int64_t b) {
  return host.size() == 1 ? host[0] : host[static_cast<size_t>(b)];
}
int64_t length_of(const Lengths &lengths, Addresses addresses, int64_t b);

// Trusts device data; check_device_data has judged it.
Batch batch_of(const Problem &p, Addresses addresses, int64_t b, int64_t g);

// Which tensor of the cache a row is wanted from.
enum class Part : uint8_t { Key, Value, Rope };

// Key position t of a batch as view, element of column 0 of kv head g, and NZ group width.
struct Row {
  const View *view;
  int64_t base;  // without the head when fractal
  int64_t head;  // columns before the head when fractal
  int64_t fractal;
  int64_t block, row;  // paged: block and row in it; else batch and row (index of a scale)
  int64_t at(int64_t d) const {
    if (fractal == 0) return base + d * view->d;
    int64_t x = head + d;
    return base + (x / fractal) * view->d + x % fractal;
  }
};
Row locate(const Problem &p, Addresses addresses, const Batch &batch, int64_t g, int64_t t,
           Part part);

// Scale and offset of a quantised key or value element; scale 1 and offset 0 without quantisation.
struct Dequant {
  const View *scale, *offset;
  int64_t b, s, g;
  float value(Addresses addresses, float stored, int64_t d) const {
    if (scale == nullptr) return stored;
    if (offset != nullptr) stored += load(*offset, addresses, element(*offset, b, s, g, d));
    return stored * load(*scale, addresses, element(*scale, b, s, g, d));
  }
};
Dequant dequant_of(const Problem &p, const Batch &batch, const Row &row, int64_t g, int64_t t,
                   Part part);

// Query row i of head n as float32: out[headDim], then the rope part out[ropeDim] behind `rope`.
void load_query(const Problem &p, Addresses addresses, const Batch &batch, int64_t i, int64_t n,
                float *out, float *rope);

// Keys outside [first, last) are invisible to row i; those inside are visible, unless has_gaps.
struct Range {
  int64_t first, last;
};
Range visible_range(const Problem &p, const Batch &batch, int64_t i);
// Only a prefix in front of what else a row sees leaves keys out in between.
inline bool has_gaps(const Visible &v) {
  return !v.prefix.empty() && (v.causal || v.band || v.block > 0);
}
bool visible(const Problem &p, const Batch &batch, int64_t i, int64_t t);

// The nearest whole number that int8 holds, as a float.
float to_int8(float value);

}  // namespace pyaclnn::attention
