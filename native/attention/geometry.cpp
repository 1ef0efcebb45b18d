#include "attention/geometry.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "support/half.hpp"

namespace pyaclnn::attention {
namespace {

int64_t read_integer(Type type, const std::byte *base, int64_t index) {
  return type == Type::i32 ? read<int32_t>(base, index) : read<int64_t>(base, index);
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

int64_t length_of(const Lengths &lengths, Addresses addresses, int64_t b) {
  switch (lengths.from) {
    case Lengths::Full: return lengths.bound;
    case Lengths::Host: return host_value(lengths.host, b);
    case Lengths::Device: break;
  }
  return read_integer(lengths.type, address(addresses, lengths.slot), b);
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
    // Judged by check_device_data; a program that writes its table while the task runs gets other
    // numbers, but no read outside the cache.
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

}  // namespace pyaclnn::attention
