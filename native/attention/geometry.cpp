#include "attention/geometry.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "attention/scores.hpp"
#include "support/half.hpp"

namespace pyaclnn::attention {
namespace {

template <class T>
T read(const std::byte *base, int64_t index) {
  T value;
  std::memcpy(&value, base + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

int64_t read_integer(Type type, const std::byte *base, int64_t index) {
  return type == Type::i32 ? read<int32_t>(base, index) : read<int64_t>(base, index);
}

int64_t host_value(std::span<const int64_t> host, int64_t b) {
  return host.size() == 1 ? host[0] : host[static_cast<size_t>(b)];
}

int64_t length_of(const Lengths &lengths, Addresses addresses, int64_t b) {
  switch (lengths.from) {
    case Lengths::Full: return lengths.bound;
    case Lengths::Host: return host_value(lengths.host, b);
    case Lengths::Device: break;
  }
  return read_integer(lengths.type, address(addresses, lengths.slot), b);
}

// Negative: the batch has no rows.
int64_t begin_of(const Begin &begin, Addresses addresses, int64_t b, int64_t length) {
  switch (begin.from) {
    case Begin::Zero: return 0;
    case Begin::Host: return host_value(begin.host, b);
    case Begin::RightAligned: break;
  }
  int64_t padding = 0;
  if (begin.padding != kNone) {
    padding = std::max<int64_t>(read<int64_t>(address(addresses, begin.padding), 0), 0);
  }
  return padding > begin.extent ? -1 : begin.extent - padding - length;
}

// Index of the row in k or v; the ring wraps.
int64_t cache_row(const Problem &p, const Batch &batch, int64_t t) {
  int64_t row = batch.key_begin + t - p.prefixLen;
  return p.cache.ring ? row % p.cache.window : row;
}

float saturate_to_int8(float value) {
  if (std::isnan(value)) return 0;
  return std::clamp(value, -128.0f, 127.0f);
}

// float32 to half, ties away from zero (nearest otherwise).
float half_away(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t sign = bits & 0x80000000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return value;
  if (magnitude >= 0x477ff000u) return std::bit_cast<float>(sign | 0x7f800000u);
  if (magnitude < 0x38800000u) {  // subnormal halves: multiples of 2^-24, exact in float32
    float steps = std::bit_cast<float>(magnitude) * 0x1p24f;
    return std::copysign(std::round(steps) * 0x1p-24f, value);
  }
  return std::bit_cast<float>(sign | ((magnitude + 0x1000u) & ~0x1fffu));
}

int8_t quantise_output(const Problem &p, Addresses addresses, int64_t n, int64_t d, float o) {
  const Out &out = p.out;
  float scale = load(out.scale, addresses, element(out.scale, 0, 0, n, d));
  float offset = 0;
  if (out.offset.given()) offset = load(out.offset, addresses, element(out.offset, 0, 0, n, d));
  auto half = [](float value) { return half_to_float(float_to_half(value)); };
  switch (out.post) {
    case Out::No: break;
    case Out::HalfSteps: {
      float h = half(half(half(o) * half(scale)) + half(offset));
      return static_cast<int8_t>(std::nearbyintf(saturate_to_int8(h)));
    }
    case Out::RoundAway: {
      float product = o * scale;
      float h = half_away(product + offset);
      return static_cast<int8_t>(std::roundf(saturate_to_int8(h)));
    }
    case Out::Fp32: {
      float product = o * scale;
      return static_cast<int8_t>(std::nearbyintf(saturate_to_int8(product + offset)));
    }
  }
  return 0;
}

Outcome null_address(Slot slot) { return {Late::NullAddress, 0, slot, 0, 0}; }

}  // namespace

int64_t type_bits(Type type) {
  switch (type) {
    case Type::f16:
    case Type::bf16: return 16;
    case Type::f32:
    case Type::i32: return 32;
    case Type::i8:
    case Type::u8: return 8;
    case Type::i4: return 4;
    case Type::i64: return 64;
  }
  return 8;
}

Type key_type(const Problem &p) {
  const Cache &cache = p.cache;
  return cache.form == Cache::List && !cache.kList.empty() ? cache.kList[0].type : cache.k.type;
}
Type value_type(const Problem &p) {
  const Cache &cache = p.cache;
  if (cache.valueIsKeyPrefix) return key_type(p);
  return cache.form == Cache::List && !cache.vList.empty() ? cache.vList[0].type : cache.v.type;
}
double key_bytes(const Problem &p) {
  int64_t bits = p.headDim * type_bits(key_type(p));
  if (p.ropeDim > 0) bits += p.ropeDim * type_bits(p.kRope.type);
  if (!p.cache.valueIsKeyPrefix) bits += p.headDimV * type_bits(value_type(p));
  return static_cast<double>(bits) / 8;
}

kernels::Element element_of(Type type) {
  switch (type) {
    case Type::f16: return kernels::Element::F16;
    case Type::bf16: return kernels::Element::BF16;
    case Type::i8: return kernels::Element::I8;
    default: return kernels::Element::F32;
  }
}

float load(Type type, const std::byte *base, int64_t index) {
  switch (type) {
    case Type::f16: return half_to_float(read<uint16_t>(base, index));
    case Type::bf16: return bfloat16_to_float(read<uint16_t>(base, index));
    case Type::f32: return read<float>(base, index);
    case Type::i8: return read<int8_t>(base, index);
    case Type::u8: return read<uint8_t>(base, index);
    case Type::i4: {
      int byte = read<uint8_t>(base, index >> 1);
      int nibble = (index & 1) != 0 ? byte >> 4 : byte & 15;
      return static_cast<float>(nibble >= 8 ? nibble - 16 : nibble);
    }
    case Type::i32: return static_cast<float>(read<int32_t>(base, index));
    case Type::i64: break;
  }
  return std::bit_cast<float>(static_cast<uint32_t>(read<uint64_t>(base, index)) & 0xffffe000u);
}

float to_int8(float value) {
  if (std::isnan(value)) return value;
  return std::clamp(std::nearbyintf(value), -128.0f, 127.0f);
}

void store(Type type, std::byte *base, int64_t index, float value) {
  if (type == Type::f32) {
    std::memcpy(base + index * 4, &value, 4);
    return;
  }
  uint16_t bits = type == Type::f16 ? float_to_half(value) : float_to_bfloat16(value);
  std::memcpy(base + index * 2, &bits, 2);
}

Batch batch_of(const Problem &p, Addresses addresses, int64_t b, int64_t g) {
  Batch batch;
  batch.b = b;
  batch.entry = p.cache.perHead ? b * p.kvHeads + g : b;
  if (p.run != kNone) batch.run = read<int32_t>(address(addresses, p.run), b) != 0;
  if (!batch.run) return batch;
  batch.queries = length_of(p.qLen, addresses, b);
  batch.query_begin = begin_of(p.qBegin, addresses, b, batch.queries);
  if (batch.query_begin < 0) batch.queries = 0;
  int64_t own = length_of(p.kvLen, addresses, batch.entry);
  batch.key_begin = begin_of(p.kvBegin, addresses, b, own);
  batch.keys = batch.key_begin < 0 ? 0 : p.prefixLen + own;
  if (p.cache.layer != kNone) batch.layer = read<int32_t>(address(addresses, p.cache.layer), 0);
  return batch;
}

Outcome check_late(const Problem &p, Addresses addresses) {
  auto missing = [&](Slot slot) { return slot != kNone && address(addresses, slot) == nullptr; };
  // What is read before anything is known about the batches.
  for (Slot slot :
       {p.run, p.qLen.slot, p.kvLen.slot, p.qBegin.padding, p.kvBegin.padding, p.cache.layer}) {
    if (missing(slot)) return null_address(slot);
  }
  if (p.cache.layer != kNone) {
    int64_t layer = read<int32_t>(address(addresses, p.cache.layer), 0);
    if (layer < 0 || layer >= p.cache.layerCount) {
      return {Late::Layer, 0, 0, layer, p.cache.layerCount};
    }
  }
  bool any_query = false, any_key = false, any_own = false;
  const int64_t entries = p.batch * key_heads(p);
  for (int64_t entry = 0; entry < entries; ++entry) {
    const int64_t b = entry / key_heads(p), g = entry % key_heads(p);
    if (p.run != kNone && read<int32_t>(address(addresses, p.run), b) == 0) continue;
    for (bool query : {true, false}) {
      const Lengths &lengths = query ? p.qLen : p.kvLen;
      int64_t length = length_of(lengths, addresses, query ? b : entry);
      if (length < 0 || length > lengths.bound) {
        return {query ? Late::QueryLength : Late::KeyLength, query ? b : entry, 0, length,
                lengths.bound + 1};
      }
    }
    Batch batch = batch_of(p, addresses, b, g);
    any_query |= batch.queries != 0;
    if (batch.queries == 0 || batch.keys == 0) continue;
    any_key = true;
    if (batch.keys <= p.prefixLen) continue;
    any_own = true;
    if (p.cache.form == Cache::List) {
      Slot k = p.cache.kList[static_cast<size_t>(b)].slot;
      if (missing(k)) return null_address(k);
      if (!p.cache.valueIsKeyPrefix && missing(p.cache.vList[static_cast<size_t>(b)].slot)) {
        return null_address(p.cache.vList[static_cast<size_t>(b)].slot);
      }
    }
  }
  if (any_query || p.out.rows > 0) {
    for (Slot slot : {p.out.o.slot, p.out.lse.slot, p.out.max.slot, p.out.sum.slot,
                      p.out.scale.slot, p.out.offset.slot}) {
      if (missing(slot)) return null_address(slot);
    }
  }
  if (!any_key) return {};
  for (Slot slot :
       {p.q.slot, p.qRope.slot, p.mask.m.slot, p.mask.slopes.slot, p.bias.pse.slot,
        p.bias.slopes.slot, p.bias.razor.slot, p.score.logN.slot, p.score.sink.slot,
        p.quant.kScale.slot, p.quant.kOffset.slot, p.quant.vScale.slot, p.quant.vOffset.slot,
        p.quant.qScale.slot, p.quant.pScale.slot, p.quant.pvScale.slot}) {
    if (missing(slot)) return null_address(slot);
  }
  if (p.prefixLen > 0) {
    if (missing(p.kPrefix.slot)) return null_address(p.kPrefix.slot);
    if (missing(p.vPrefix.slot)) return null_address(p.vPrefix.slot);
  }
  if (any_own) {
    if (p.cache.form != Cache::List) {
      if (missing(p.cache.k.slot)) return null_address(p.cache.k.slot);
      if (missing(p.cache.v.slot)) return null_address(p.cache.v.slot);
    }
    if (missing(p.kRope.slot)) return null_address(p.kRope.slot);
    if (missing(p.cache.table)) return null_address(p.cache.table);
  }
  for (int64_t entry = 0; entry < entries; ++entry) {
    const int64_t b = entry / key_heads(p);
    Batch batch = batch_of(p, addresses, b, entry % key_heads(p));
    if (batch.queries == 0 || batch.keys == 0) continue;
    if (p.cache.form == Cache::Paged && batch.keys > p.prefixLen) {
      int64_t first = batch.key_begin, last = batch.key_begin + batch.keys - p.prefixLen;
      Range rows[2] = {{first, last}, {0, 0}};
      if (p.cache.ring && last > p.cache.window) {
        int64_t window = p.cache.window, start = first % window;
        if (last - first >= window) {
          rows[0] = {0, window};
        } else if (start + last - first <= window) {
          rows[0] = {start, start + last - first};
        } else {
          rows[0] = {start, window};
          rows[1] = {0, start + last - first - window};
        }
      }
      const std::byte *table = address(addresses, p.cache.table);
      for (Range range : rows) {
        if (range.first == range.last) continue;
        int64_t end = (range.last - 1) / p.cache.blockSize + 1;
        for (int64_t c = range.first / p.cache.blockSize; c < end; ++c) {
          int64_t block = read<int32_t>(table, entry * p.cache.tableStride + c);
          if (block < 0 || block >= p.cache.blockCount) {
            return {Late::Block, entry, c, block, p.cache.blockCount};
          }
        }
      }
    }
    if (p.mask.how != Mask::None && p.mask.count > 0) {
      // The index is affine in row and head and goes one way with the column, so its extremes are
      // at corners.
      int64_t rows[2] = {row_index(p.mask.rows, batch, 0),
                         row_index(p.mask.rows, batch, batch.queries - 1)};
      int64_t columns[2] = {column_index(p.mask.columns, batch, 0),
                            column_index(p.mask.columns, batch, batch.keys - 1)};
      columns[0] = std::max<int64_t>(columns[0], 0);
      if (p.mask.tile > 0) {
        int64_t last = p.mask.tileForm == Mask::Stripe
                           ? std::max<int64_t>(rows[1], 0)
                           : int64_t{p.mask.tile} * (p.mask.tileForm == Mask::Lower ? 2 : 1) - 1;
        rows[0] = p.mask.tileRow;
        rows[1] = p.mask.tileRow + last;
        columns[0] = p.mask.tileCol;
        columns[1] = int64_t{p.mask.tileCol} + p.mask.tile - 1;
      }
      for (int64_t row : rows) {
        for (int64_t column : columns) {
          for (int64_t n : {int64_t{0}, p.heads - 1}) {
            int64_t at = mask_element(p.mask, b, n, row, column) - p.mask.m.offset;
            if (at < 0 || at >= p.mask.count) return {Late::MaskIndex, b, row, at, p.mask.count};
          }
        }
      }
    }
  }
  return {};
}

Row locate(const Problem &p, Addresses addresses, const Batch &batch, int64_t g, int64_t t,
           Part part) {
  const Cache &cache = p.cache;
  Row row{};
  if (t < p.prefixLen) {
    row.view = part == Part::Value ? &p.vPrefix : &p.kPrefix;
    row.base = element(*row.view, 0, t, g, 0);
    row.block = batch.b;
    row.row = t;
    return row;
  }
  row.row = cache_row(p, batch, t);
  row.block = batch.b;
  if (cache.form == Cache::Paged) {
    // Judged by check_late; a program that writes its table while the task runs gets other numbers,
    // but no read outside the cache.
    int64_t block = read<int32_t>(address(addresses, cache.table),
                                  batch.entry * cache.tableStride + row.row / cache.blockSize);
    row.block = std::max<int64_t>(std::min<int64_t>(block, cache.blockCount - 1), 0);
    row.row %= cache.blockSize;
  }
  row.fractal = part == Part::Rope ? cache.ropeFractal : cache.fractal;
  int64_t layer_stride = cache.layerStride, b = row.block;
  if (part == Part::Rope) {
    row.view = &p.kRope;
    layer_stride = 0;
  } else if (cache.form == Cache::List) {
    const auto &list = part == Part::Value ? cache.vList : cache.kList;
    row.view = &list[static_cast<size_t>(batch.b)];
    b = 0;
  } else {
    row.view = part == Part::Value ? &cache.v : &cache.k;
  }
  if (part == Part::Value) layer_stride = cache.layerStrideV;
  row.base = element(*row.view, b, row.row, 0, 0) + batch.layer * layer_stride;
  if (row.fractal == 0) {
    row.base += g * row.view->h;
  } else {
    row.head = g * row.view->h;
  }
  return row;
}

Dequant dequant_of(const Problem &p, const Batch &batch, const Row &row, int64_t g, int64_t t,
                   Part part) {
  bool value = part == Part::Value;
  Quant::By by = value ? p.quant.v : p.quant.k;
  if (by == Quant::None || part == Part::Rope) return {};
  const View &scale = value ? p.quant.vScale : p.quant.kScale;
  const View &offset = value ? p.quant.vOffset : p.quant.kOffset;
  Dequant dequant{&scale, offset.given() ? &offset : nullptr, batch.b, batch.key_begin + t, g};
  if (by == Quant::PagedToken || by == Quant::PagedTokenHead) {
    dequant.b = row.block;
    dequant.s = row.row;
  }
  return dequant;
}

void load_query(const Problem &p, Addresses addresses, const Batch &batch, int64_t i, int64_t n,
                float *out, float *rope) {
  int64_t row = batch.query_begin + i;
  int64_t first = element(p.q, batch.b, row, n, 0);
  for (int64_t d = 0; d < p.headDim; ++d) {
    float value = load(p.q, addresses, first + d * p.q.d) * p.score.preScaleQ;
    if (p.score.roundQ && p.q.type == Type::f16) value = half_to_float(float_to_half(value));
    if (p.score.roundQ && p.q.type == Type::bf16) {
      value = bfloat16_to_float(float_to_bfloat16(value));
    }
    out[d] = value;
  }
  for (int64_t d = 0; d < p.ropeDim; ++d) {
    rope[d] = load(p.qRope, addresses, element(p.qRope, batch.b, row, n, d));
  }
}

Range visible_range(const Problem &p, const Batch &batch, int64_t i) {
  const Visible &v = p.visible;
  int64_t row = v.anchor == Visible::TopLeft ? i : i + batch.keys - batch.queries;
  int64_t first = 0, last = batch.keys;
  if (v.causal) last = std::min(last, row + 1);
  if (v.band) {
    int64_t begin, end;
    if (!__builtin_sub_overflow(row, v.pre, &begin)) {
      first = std::max(first, begin);
    } else if (v.pre < 0) {
      last = 0;
    }
    if (!__builtin_add_overflow(row, v.next, &end)) {
      if (end < last) last = end + 1;
    } else if (v.next < 0) {
      last = 0;
    }
  }
  if (v.block > 0) {
    int64_t block = row >= 0 ? row / v.block : -((-row - 1) / v.block) - 1;
    last = std::min(last, (block + 1) * v.block);
  }
  if (!v.prefix.empty()) {
    int64_t always = std::min(host_value(v.prefix, batch.b), batch.keys);
    if (always > 0) {
      first = 0;
      last = std::max(last, always);
    }
  }
  return {std::min(first, batch.keys), std::max<int64_t>(last, 0)};
}

bool visible(const Problem &p, const Batch &batch, int64_t i, int64_t t) {
  const Visible &v = p.visible;
  if (!v.prefix.empty() && t < host_value(v.prefix, batch.b)) return true;
  int64_t row = v.anchor == Visible::TopLeft ? i : i + batch.keys - batch.queries;
  if (v.causal && t > row) return false;
  if (v.band) {
    int64_t bound;
    if (__builtin_sub_overflow(row, v.pre, &bound) ? v.pre < 0 : t < bound) return false;
    if (__builtin_add_overflow(row, v.next, &bound) ? v.next < 0 : t > bound) return false;
  }
  if (v.block > 0) {
    if (row < 0) return false;
    if (t / v.block > row / v.block) return false;
  }
  return true;
}

void store_statistics(const Problem &p, Addresses addresses, const Batch &batch, int64_t i,
                      int64_t n, float lse, float max, float sum) {
  auto put = [&](const View &view, float value) {
    if (!view.given()) return;
    for (int64_t j = 0; j < std::max(p.out.repeat, 1); ++j) {
      store(Type::f32, addresses[view.slot], element(view, batch.b, batch.query_begin + i, n, j),
            value);
    }
  };
  put(p.out.lse, lse);
  put(p.out.max, max);
  put(p.out.sum, sum);
}

void store_output(const Problem &p, Addresses addresses, const Batch &batch, int64_t i, int64_t n,
                  const float *o) {
  const View &view = p.out.o;
  if (!view.given()) return;
  std::byte *base = addresses[view.slot];
  int64_t at = element(view, batch.b, batch.query_begin + i, n, 0);
  for (int64_t d = 0; d < p.headDimV; ++d, at += view.d) {
    float value = o != nullptr ? o[d] : 0.0f;
    if (p.out.post == Out::No) {
      store(view.type, base, at, value);
    } else {
      base[at] = static_cast<std::byte>(quantise_output(p, addresses, n, d, value));
    }
  }
}

void store_empty_row(const Problem &p, Addresses addresses, const Batch &batch, int64_t i,
                     int64_t n) {
  store_output(p, addresses, batch, i, n, nullptr);
  store_statistics(p, addresses, batch, i, n, p.empty.lseNoKeys, p.empty.maxNoKeys,
                   p.empty.sumNoKeys);
}

void store_outside(const Problem &p, Addresses addresses) {
  if (p.out.rows == 0 || p.empty.outside != Empty::Zero) return;
  auto fill = [&](int64_t b, int64_t first, int64_t last) {
    Batch rows;
    rows.b = b;
    for (int64_t row = first; row < last; ++row) {
      rows.query_begin = row;
      for (int64_t n = 0; n < p.heads; ++n) store_empty_row(p, addresses, rows, 0, n);
    }
  };
  if (p.qBegin.from != Begin::Host) {
    for (int64_t b = 0; b < p.batch; ++b) {
      Batch batch = batch_of(p, addresses, b, 0);
      if (!batch.run) continue;
      if (batch.queries == 0) {
        fill(b, 0, p.out.rows);
      } else {
        fill(b, 0, batch.query_begin);
        fill(b, batch.query_begin + batch.queries, p.out.rows);
      }
    }
    return;
  }
  // One packed axis; batches stand in ascending order (a skipped batch keeps its rows).
  int64_t next = 0;
  for (int64_t b = 0; b < p.batch; ++b) {
    int64_t begin = host_value(p.qBegin.host, b);
    // The length of a skipped batch was not judged.
    int64_t queries = std::clamp<int64_t>(length_of(p.qLen, addresses, b), 0, p.qLen.bound);
    if (queries == 0) continue;
    fill(0, next, std::min(begin, p.out.rows));
    next = std::max(next, begin + queries);
  }
  fill(0, next, p.out.rows);
}

}  // namespace pyaclnn::attention
