// pyaclnnEngineAttention: judges the plain struct completely, so that nothing outside the given
// buffers can be touched, and runs it.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "attention/engine.hpp"
#include "attention/geometry.hpp"
#include "pyaclnn/engine.h"
#include "support/record.hpp"

namespace pyaclnn::attention {
namespace {

constexpr int32_t kBadStruct = 100000, kDeviceFault = 507015, kNoMemory = 207000;
constexpr int64_t kBuffersMax = 1024, kBatchMax = int64_t{1} << 20, kHeadsMax = int64_t{1} << 14,
                  kDimMax = int64_t{1} << 16, kRowsMax = int64_t{1} << 28,
                  kBeginMax = int64_t{1} << 40;

__extension__ typedef __int128 Wide;

// Half-open range of an index.
struct Span {
  int64_t first = 0, last = 1;
  bool empty() const { return first >= last; }
};

enum Types : uint32_t {
  kFloats = 1u << PYACLNN_ENGINE_F16 | 1u << PYACLNN_ENGINE_BF16 | 1u << PYACLNN_ENGINE_F32,
  kF32 = 1u << PYACLNN_ENGINE_F32,
  kI8 = 1u << PYACLNN_ENGINE_I8,
  kI4 = 1u << PYACLNN_ENGINE_I4,
  kI32 = 1u << PYACLNN_ENGINE_I32,
  kAny = (2u << PYACLNN_ENGINE_I64) - 2u,
  kWord = 1u << PYACLNN_ENGINE_I64,
};

struct FreeMemory {
  void operator()(void *memory) const { std::free(memory); }
};

class Reader {
 public:
  explicit Reader(const pyaclnnEngineProblem &in) : in_(in) {}

  bool read() {
    return header() && dimensions() && lengths() && cache() && quant() && visible() && mask() &&
           bias() && score() && empty_rows() && output();
  }

  Problem problem;
  Text text;  // why read() refused
  bool exhausted = false;

 private:
  static constexpr const char *kTypeNames[] = {"ABSENT", "F16", "BF16", "F32", "I8",
                                               "U8",     "I4",  "I32",  "I64"};

  Text &begin() {
    text.clear();
    return text << "pyaclnnEngineAttention: ";
  }

  bool in_range(const char *name, int64_t value, int64_t low, int64_t high) {
    if (value >= low && value <= high) return true;
    begin() << name << " is " << value << ", accepted are " << low << " .. " << high;
    return false;
  }

  bool buffer(const char *name, int32_t number, int64_t bytes, Slot *slot) {
    if (!in_range(name, number, 1, in_.bufferCount)) return false;
    int64_t have = in_.buffers[number - 1].bytes;
    if (have < bytes) {
      begin() << name << " is buffer " << number << " with " << have << " bytes, " << bytes
              << " are needed";
      return false;
    }
    *slot = static_cast<Slot>(number - 1);
    return true;
  }

  static Type type_of(int32_t type) {
    switch (type) {
      case PYACLNN_ENGINE_F16: return Type::f16;
      case PYACLNN_ENGINE_BF16: return Type::bf16;
      case PYACLNN_ENGINE_F32: return Type::f32;
      case PYACLNN_ENGINE_I8: return Type::i8;
      case PYACLNN_ENGINE_U8: return Type::u8;
      case PYACLNN_ENGINE_I4: return Type::i4;
      case PYACLNN_ENGINE_I32: return Type::i32;
      default: return Type::i64;
    }
  }

  // Takes over a view. `needed`: absence is refused; otherwise presence is left to the caller.
  bool view(const char *name, const pyaclnnEngineView &from, uint32_t types, bool needed,
            View *to) {
    if (from.type == PYACLNN_ENGINE_ABSENT) {
      if (!needed) return true;
      begin() << name << " is not given, it is needed here";
      return false;
    }
    if (from.type < 0 || from.type > PYACLNN_ENGINE_I64 || (types >> from.type & 1u) == 0) {
      begin() << name << ".type is " << from.type << ", accepted are";
      for (int32_t t = 1; t <= PYACLNN_ENGINE_I64; ++t) {
        if ((types >> t & 1u) != 0) text << ' ' << t << " (" << kTypeNames[t] << ')';
      }
      return false;
    }
    Slot slot = kNone;
    if (!in_range(name, from.buffer, 1, in_.bufferCount)) return false;
    slot = static_cast<Slot>(from.buffer - 1);
    *to = {slot, type_of(from.type), from.b, from.s, from.h, from.d, from.offset};
    return true;
  }

  bool absent(const char *name, const pyaclnnEngineView &from, const char *because) {
    if (from.type == PYACLNN_ENGINE_ABSENT) return true;
    begin() << name << " is given, it must be absent " << because;
    return false;
  }

  // All elements of the index box lie inside the buffer.
  bool inside(const char *name, const View &v, Span b, Span s, Span h, Span d, Wide extra_low = 0,
              Wide extra_high = 0) {
    if (!v.given() || b.empty() || s.empty() || h.empty() || d.empty()) return true;
    Wide low = Wide{v.offset} + extra_low, high = Wide{v.offset} + extra_high;
    auto axis = [&](Span span, int64_t stride) {
      Wide x = Wide{span.first} * stride, y = Wide{span.last - 1} * stride;
      low += std::min(x, y);
      high += std::max(x, y);
    };
    axis(b, v.b);
    axis(s, v.s);
    axis(h, v.h);
    axis(d, v.d);
    return fits(name, v, low, high);
  }

  bool fits(const char *name, const View &v, Wide low, Wide high) {
    Wide bits = Wide{in_.buffers[v.slot].bytes} * 8;
    if (low >= 0 && (high + 1) * type_bits(v.type) <= bits) return true;
    auto clip = [](Wide value) {
      return static_cast<int64_t>(std::clamp<Wide>(value, INT64_MIN, INT64_MAX));
    };
    begin() << name << " reaches elements " << clip(low) << " .. " << clip(high) << " of buffer "
            << v.slot + 1 << ", which holds " << clip(bits / type_bits(v.type));
    return false;
  }

  bool flag(const char *name, int32_t value, bool *to) {
    *to = value == 1;
    return in_range(name, value, 0, 1);
  }

  bool fractal(const char *name, int32_t value, int8_t *to) {
    *to = static_cast<int8_t>(value);
    if (value == 0 || value == 16 || value == 32) return true;
    begin() << name << " is " << value << ", accepted are 0, 16, 32";
    return false;
  }

  template <class Enum>
  bool choice(const char *name, int32_t value, int32_t last, Enum *to) {
    *to = static_cast<Enum>(value);
    return in_range(name, value, 0, last);
  }

  // --- what the batches can look like, before device data is known ---

  // Host lengths of a batch: one, or one for each kv head.
  std::span<const int64_t> host_lengths(const Lengths &lengths, int64_t b) const {
    if (lengths.host.size() == 1) return lengths.host;
    const auto each = static_cast<size_t>(&lengths == &problem.kvLen ? key_heads(problem) : 1);
    return lengths.host.subspan(static_cast<size_t>(b) * each, each);
  }
  int64_t most(const Lengths &lengths, int64_t b) const {
    if (lengths.from != Lengths::Host) return lengths.bound;
    return std::ranges::max(host_lengths(lengths, b));
  }
  int64_t least(const Lengths &lengths, int64_t b) const {
    if (lengths.from == Lengths::Host) return std::ranges::min(host_lengths(lengths, b));
    return lengths.from == Lengths::Device ? 0 : lengths.bound;
  }
  static Span rows_of(const Begin &begin, int64_t b, int64_t length) {
    if (length == 0) return {0, 0};
    switch (begin.from) {
      case Begin::Zero: return {0, length};
      case Begin::Host: {
        int64_t first = begin.host[static_cast<size_t>(b)];
        return {first, first + length};
      }
      case Begin::RightAligned: break;
    }
    return {0, begin.extent};
  }
  Span query_rows(int64_t b) const { return rows_of(problem.qBegin, b, most(problem.qLen, b)); }
  Span key_rows(int64_t b) const { return rows_of(problem.kvBegin, b, most(problem.kvLen, b)); }
  // st + t, prefix included (then st is 0).
  Span key_positions(int64_t b) const {
    if (problem.prefixLen > 0) return {0, keys_most(b)};
    return key_rows(b);
  }
  int64_t keys_most(int64_t b) const { return problem.prefixLen + most(problem.kvLen, b); }

  // The indices of a mask or bias row and column.
  Span row_span(Mask::Rows rows, int64_t b) const {
    int64_t queries = most(problem.qLen, b);
    if (queries == 0 || keys_most(b) == 0) return {0, 0};
    if (rows == Mask::Local) return {0, queries};
    if (rows == Mask::Padded) return query_rows(b);
    int64_t keys = std::max<int64_t>(problem.prefixLen + least(problem.kvLen, b), 1);
    return {keys - queries, keys_most(b)};
  }
  Span column_span(Mask::Columns columns, int64_t b) const {
    if (columns == Mask::PaddedColumns) return key_positions(b);
    if (columns == Mask::LocalColumns) return {0, keys_most(b)};
    return {0, most(problem.qLen, b)};
  }

  template <class Check>
  bool each_batch(Check check) {
    for (int64_t b = 0; b < problem.batch; ++b) {
      if (!check(b, Span{b, b + 1})) return false;
    }
    return true;
  }

  Span heads() const { return {0, problem.heads}; }
  Span kv_heads() const { return {0, problem.kvHeads}; }

  // --- the parts of the struct, in its order ---

  bool header() {
    if (!in_range("bufferCount", in_.bufferCount, 0, kBuffersMax)) return false;
    if (in_.bufferCount > 0 && in_.buffers == nullptr) {
      begin() << "buffers is NULL, bufferCount is " << in_.bufferCount;
      return false;
    }
    for (int64_t i = 0; i < in_.bufferCount; ++i) {
      const pyaclnnEngineBuffer &buffer = in_.buffers[i];
      if (buffer.bytes < 0) {
        begin() << "buffers[" << i << "].bytes is " << buffer.bytes << ", at least 0 is accepted";
        return false;
      }
      if (buffer.bytes > 0 && buffer.data == nullptr) {
        begin() << "buffers[" << i << "].data is NULL with " << buffer.bytes
                << " bytes, NULL is accepted with 0 bytes";
        return false;
      }
    }
    return true;
  }

  bool dimensions() {
    Problem &p = problem;
    p.batch = in_.batch;
    p.heads = in_.heads;
    p.kvHeads = in_.kvHeads;
    p.headDim = in_.headDim;
    p.headDimV = in_.headDimV;
    p.ropeDim = in_.ropeDim;
    p.queryMax = in_.queryMax;
    p.keyMax = in_.keyMax;
    p.prefixLen = in_.prefixLen;
    if (!in_range("batch", p.batch, 1, kBatchMax) || !in_range("heads", p.heads, 1, kHeadsMax) ||
        !in_range("kvHeads", p.kvHeads, 1, p.heads) ||
        !in_range("headDim", p.headDim, 1, kDimMax) ||
        !in_range("headDimV", p.headDimV, 1, kDimMax) ||
        !in_range("ropeDim", p.ropeDim, 0, kDimMax) ||
        !in_range("queryMax", p.queryMax, 0, kRowsMax) ||
        !in_range("keyMax", p.keyMax, 0, kRowsMax) ||
        !in_range("prefixLen", p.prefixLen, 0, kRowsMax)) {
      return false;
    }
    if (p.heads % p.kvHeads != 0) {
      begin() << "kvHeads is " << p.kvHeads << ", a divisor of heads = " << p.heads
              << " is accepted";
      return false;
    }
    return true;
  }

  bool length(const char *name, const pyaclnnEngineLengths &from, int64_t max, int64_t count,
              Lengths *to) {
    if (!choice(name, from.from, PYACLNN_ENGINE_LENGTHS_DEVICE, &to->from)) return false;
    to->bound = from.bound;
    if (from.bound != max) {
      begin() << name << ".bound is " << from.bound << ", " << max << " is accepted";
      return false;
    }
    if (to->from == Lengths::Host) {
      if (!array(name, from.host, count, true, &to->host)) return false;
      for (int64_t value : to->host) {
        if (!in_range(name, value, 0, max)) return false;
      }
    }
    if (to->from == Lengths::Device) {
      if (from.type != PYACLNN_ENGINE_I32 && from.type != PYACLNN_ENGINE_I64) {
        begin() << name << ".type is " << from.type << ", accepted are 7 (I32) 8 (I64)";
        return false;
      }
      to->type = type_of(from.type);
      return buffer(name, from.buffer, count * type_bits(to->type) / 8, &to->slot);
    }
    return true;
  }

  // The first `count` values of a host array, or its only one.
  bool array(const char *name, const pyaclnnEngineInts &from, int64_t count, bool one_for_all,
             std::span<const int64_t> *to) {
    bool single = one_for_all && from.count == 1;
    if (from.data == nullptr || (from.count < count && !single)) {
      begin() << name << " has " << (from.data == nullptr ? 0 : from.count) << " values, " << count
              << (one_for_all ? " or 1" : "") << " are needed";
      return false;
    }
    *to = {from.data, static_cast<size_t>(single ? 1 : count)};
    return true;
  }

  bool begin_rows(const char *name, const pyaclnnEngineBegin &from, Begin *to) {
    if (!choice(name, from.from, PYACLNN_ENGINE_BEGIN_RIGHT_ALIGNED, &to->from)) return false;
    if (to->from == Begin::Host) {
      if (!array(name, from.host, problem.batch, false, &to->host)) return false;
      for (int64_t value : to->host) {
        if (!in_range(name, value, 0, kBeginMax)) return false;
      }
    }
    if (to->from == Begin::RightAligned) {
      to->extent = from.extent;
      if (!in_range(name, from.extent, 0, kBeginMax)) return false;
      if (from.padding != 0) return buffer(name, from.padding, 8, &to->padding);
    }
    return true;
  }

  bool lengths() {
    Problem &p = problem;
    if (!flag("cache.perHead", in_.cache.perHead, &p.cache.perHead) ||
        !length("qLen", in_.qLen, p.queryMax, p.batch, &p.qLen) ||
        !length("kvLen", in_.kvLen, p.keyMax, p.batch * key_heads(p), &p.kvLen) ||
        !begin_rows("qBegin", in_.qBegin, &p.qBegin) ||
        !begin_rows("kvBegin", in_.kvBegin, &p.kvBegin)) {
      return false;
    }
    if (p.prefixLen > 0 && p.kvBegin.from != Begin::Zero) {
      begin() << "kvBegin.from is " << in_.kvBegin.from << ", 0 (ZERO) is accepted with a prefix";
      return false;
    }
    if (in_.run != 0 && !buffer("run", in_.run, p.batch * 4, &p.run)) return false;
    bool rope = p.ropeDim > 0;
    if (!view("q", in_.q, kFloats | kI8, true, &p.q)) return false;
    if (!rope && (!absent("qRope", in_.qRope, "when ropeDim is 0") ||
                  !absent("kRope", in_.kRope, "when ropeDim is 0"))) {
      return false;
    }
    if (!view("qRope", in_.qRope, kFloats, rope, &p.qRope)) return false;
    return each_batch([&](int64_t b, Span batch) {
      return inside("q", p.q, batch, query_rows(b), heads(), {0, p.headDim}) &&
             inside("qRope", p.qRope, batch, query_rows(b), heads(), {0, p.ropeDim});
    });
  }

  // One tensor of the cache, wherever its rows may be.
  bool cache_view(const char *name, const View &v, Span blocks, Span rows, int64_t dim,
                  int64_t fractal, int64_t layer_stride) {
    if (blocks.empty() || rows.empty()) return true;
    Wide low = 0, high = 0;
    if (problem.cache.layer != kNone) {
      if (problem.cache.layerCount == 0) return true;
      Wide far = Wide{problem.cache.layerCount - 1} * layer_stride;
      low = std::min<Wide>(far, 0);
      high = std::max<Wide>(far, 0);
    }
    if (fractal == 0) return inside(name, v, blocks, rows, kv_heads(), {0, dim}, low, high);
    if (!in_range(name, v.h, 0, kDimMax)) return false;
    int64_t columns = (problem.kvHeads - 1) * v.h + dim;
    View flat = v;
    flat.h = 1;
    int64_t whole = columns / fractal, rest = columns % fractal;
    return inside(name, flat, blocks, rows, {0, fractal}, {0, whole}, low, high) &&
           inside(name, flat, blocks, rows, {0, rest}, {whole, whole + 1}, low, high);
  }

  bool list(const char *name, const pyaclnnEngineViews &from,
            std::unique_ptr<View[], FreeMemory> *own, std::span<const View> *to) {
    if (from.data == nullptr || from.count < problem.batch) {
      begin() << name << " has " << (from.data == nullptr ? 0 : from.count) << " views, "
              << problem.batch << " are needed";
      return false;
    }
    auto count = static_cast<size_t>(problem.batch);
    own->reset(static_cast<View *>(std::malloc(count * sizeof(View))));
    if (*own == nullptr) {
      exhausted = true;
      return false;
    }
    for (size_t b = 0; b < count; ++b) {
      View *v = new (own->get() + b) View;
      if (!view(name, from.data[b], kFloats | kI8 | kI4, true, v)) return false;
      if (from.data[b].type != from.data[0].type) {
        begin() << name << " has types " << from.data[0].type << " and " << from.data[b].type
                << ", one type is accepted";
        return false;
      }
    }
    *to = {own->get(), count};
    return true;
  }

  bool cache() {
    Problem &p = problem;
    Cache &c = p.cache;
    const pyaclnnEngineCache &from = in_.cache;
    constexpr uint32_t kTypes = kFloats | kI8 | kI4;
    if (!choice("cache.form", from.form, PYACLNN_ENGINE_CACHE_PAGED, &c.form) ||
        !flag("cache.valueIsKeyPrefix", from.valueIsKeyPrefix, &c.valueIsKeyPrefix) ||
        !flag("cache.ring", from.ring, &c.ring)) {
      return false;
    }
    if (c.perHead && c.form != Cache::Paged) {
      begin() << "cache.perHead is 1 with form " << from.form << ", 0 is accepted without PAGED";
      return false;
    }
    if (!fractal("cache.fractal", from.fractal, &c.fractal) ||
        !fractal("cache.ropeFractal", from.ropeFractal, &c.ropeFractal)) {
      return false;
    }
    c.window = from.window;
    if (c.ring && !in_range("cache.window", c.window, 1, kBeginMax)) return false;
    if (from.layer != 0) {
      if (!buffer("cache.layer", from.layer, 4, &c.layer)) return false;
      c.layerStride = from.layerStride;
      c.layerStrideV = from.layerStrideV;
      c.layerCount = from.layerCount;
      if (!in_range("cache.layerCount", c.layerCount, 0, INT32_MAX)) return false;
    }
    if (c.valueIsKeyPrefix) {
      if (!in_range("headDimV", p.headDimV, 1, p.headDim)) return false;
      if (!absent("cache.v", from.v, "with valueIsKeyPrefix")) return false;
    }
    if (c.form == Cache::List) {
      if (!list("cache.kList", from.kList, &k_list_, &c.kList)) return false;
      if (!c.valueIsKeyPrefix && !list("cache.vList", from.vList, &v_list_, &c.vList)) return false;
    } else if (!view("cache.k", from.k, kTypes, true, &c.k) ||
               !view("cache.v", from.v, kTypes, !c.valueIsKeyPrefix, &c.v)) {
      return false;
    }
    if (!view("kRope", in_.kRope, kFloats, p.ropeDim > 0, &p.kRope)) return false;

    if (c.form == Cache::Paged) {
      c.blockSize = from.blockSize;
      c.blockCount = from.blockCount;
      c.tableStride = from.tableStride;
      if (!in_range("cache.blockSize", c.blockSize, 1, INT32_MAX) ||
          !in_range("cache.blockCount", c.blockCount, 0, INT32_MAX) ||
          !buffer("cache.table", from.table, 0, &c.table)) {
        return false;
      }
      Span blocks{0, c.blockCount}, rows{0, c.blockSize};
      if (!cache_view("cache.k", c.k, blocks, rows, p.headDim, c.fractal, c.layerStride) ||
          !cache_view("kRope", p.kRope, blocks, rows, p.ropeDim, c.ropeFractal, 0)) {
        return false;
      }
      if (!c.valueIsKeyPrefix &&
          !cache_view("cache.v", c.v, blocks, rows, p.headDimV, c.fractal, c.layerStrideV)) {
        return false;
      }
    }
    bool good = each_batch([&](int64_t b, Span batch) {
      Span rows = key_rows(b);
      if (rows.empty()) return true;
      if (c.ring && rows.last > c.window) rows = {0, c.window};
      if (c.form == Cache::Paged) {
        View table{c.table, Type::i32, c.tableStride, 1, 0, 0, 0};
        const int64_t each = key_heads(p);
        return inside("cache.table", table, {batch.first * each, batch.last * each},
                      {rows.first / c.blockSize, (rows.last - 1) / c.blockSize + 1}, {}, {});
      }
      if (!cache_view("kRope", p.kRope, batch, rows, p.ropeDim, c.ropeFractal, 0)) return false;
      if (c.form == Cache::List) {
        auto at = static_cast<size_t>(b);
        return cache_view("cache.kList", c.kList[at], {}, rows, p.headDim, c.fractal,
                          c.layerStride) &&
               (c.valueIsKeyPrefix || cache_view("cache.vList", c.vList[at], {}, rows, p.headDimV,
                                                 c.fractal, c.layerStrideV));
      }
      return cache_view("cache.k", c.k, batch, rows, p.headDim, c.fractal, c.layerStride) &&
             (c.valueIsKeyPrefix ||
              cache_view("cache.v", c.v, batch, rows, p.headDimV, c.fractal, c.layerStrideV));
    });
    return good && prefix();
  }

  int32_t cache_type(bool value) const {
    const pyaclnnEngineCache &from = in_.cache;
    if (from.form == PYACLNN_ENGINE_CACHE_LIST) {
      return value ? from.vList.data[0].type : from.kList.data[0].type;
    }
    return value ? from.v.type : from.k.type;
  }

  bool prefix() {
    Problem &p = problem;
    if (p.prefixLen == 0) {
      return absent("kPrefix", in_.kPrefix, "when prefixLen is 0") &&
             absent("vPrefix", in_.vPrefix, "when prefixLen is 0");
    }
    if (p.ropeDim > 0 || p.cache.valueIsKeyPrefix) {
      begin() << "prefixLen is " << p.prefixLen << ", 0 is accepted with ropes or valueIsKeyPrefix";
      return false;
    }
    Span rows{0, p.prefixLen};
    return view("kPrefix", in_.kPrefix, 1u << cache_type(false), true, &p.kPrefix) &&
           view("vPrefix", in_.vPrefix, 1u << cache_type(true), true, &p.vPrefix) &&
           inside("kPrefix", p.kPrefix, {}, rows, kv_heads(), {0, p.headDim}) &&
           inside("vPrefix", p.vPrefix, {}, rows, kv_heads(), {0, p.headDimV});
  }

  bool quant_view(const char *name, const pyaclnnEngineView &from, Quant::By by, uint32_t types,
                  bool needed, int64_t dim, View *to) {
    if (by == Quant::None) return absent(name, from, "without quantisation");
    if (!view(name, from, types, needed, to)) return false;
    if (!to->given()) return true;
    bool paged = by == Quant::PagedToken || by == Quant::PagedTokenHead;
    bool token = by >= Quant::Token, channel = by == Quant::Channel;
    bool head =
        by == Quant::Head || channel || by == Quant::TokenHead || by == Quant::PagedTokenHead;
    if ((by == Quant::Tensor && to->b != 0) || (!token && to->s != 0) || (!head && to->h != 0) ||
        (!channel && to->d != 0)) {
      begin() << name << " has strides b " << to->b << ", s " << to->s << ", h " << to->h << ", d "
              << to->d << ", for quantisation " << static_cast<int>(by)
              << " those it does not use must be 0";
      return false;
    }
    if (paged) {
      if (problem.cache.form != Cache::Paged || problem.prefixLen > 0) {
        begin() << name << " is by paged token, accepted with a paged cache and no prefix";
        return false;
      }
      return inside(name, *to, {0, problem.cache.blockCount}, {0, problem.cache.blockSize},
                    kv_heads(), {0, dim});
    }
    return each_batch([&](int64_t b, Span batch) {
      return inside(name, *to, batch, key_positions(b), kv_heads(), {0, dim});
    });
  }

  bool quant() {
    Problem &p = problem;
    Quant &q = p.quant;
    const pyaclnnEngineQuant &from = in_.quant;
    constexpr int32_t kLast = PYACLNN_ENGINE_QUANT_PAGED_TOKEN_HEAD;
    if (!choice("quant.k", from.k, kLast, &q.k) || !choice("quant.v", from.v, kLast, &q.v) ||
        !choice("quant.scores", from.scores, PYACLNN_ENGINE_SCORES_TIMES_INT8, &q.scores)) {
      return false;
    }
    const bool own_value = !p.cache.valueIsKeyPrefix;
    if (!own_value) q.v = Quant::None;
    for (bool value : {false, true}) {
      if ((value ? q.v : q.k) == Quant::None) continue;
      int32_t type = cache_type(value);
      if (type != PYACLNN_ENGINE_I8 && type != PYACLNN_ENGINE_I4) {
        begin() << (value ? "quant.v is " : "quant.k is ") << (value ? from.v : from.k)
                << " for a cache of type " << type << ", accepted are 4 (I8) 6 (I4)";
        return false;
      }
    }
    constexpr uint32_t kScales = kFloats | kWord, kOffsets = kFloats | kI32;
    if (!quant_view("quant.kScale", from.kScale, q.k, kScales, true, p.headDim, &q.kScale) ||
        !quant_view("quant.kOffset", from.kOffset, q.k, kOffsets, false, p.headDim, &q.kOffset)) {
      return false;
    }
    if (own_value &&
        (!quant_view("quant.vScale", from.vScale, q.v, kScales, true, p.headDimV, &q.vScale) ||
         !quant_view("quant.vOffset", from.vOffset, q.v, kOffsets, false, p.headDimV,
                     &q.vOffset))) {
      return false;
    }
    bool p_scale = q.scores == Quant::StaticInt8 || q.scores == Quant::TimesInt8;
    if (!p_scale && !absent("quant.pScale", from.pScale, "for these scores")) return false;
    if (!view("quant.qScale", from.qScale, kScales, false, &q.qScale) ||
        !view("quant.pScale", from.pScale, kFloats, p_scale, &q.pScale) ||
        !view("quant.pvScale", from.pvScale, kScales, false, &q.pvScale)) {
      return false;
    }
    return inside("quant.pScale", q.pScale, {}, {}, heads(), {}) &&
           inside("quant.pvScale", q.pvScale, {}, {}, heads(), {}) &&
           each_batch([&](int64_t b, Span batch) {
             return inside("quant.qScale", q.qScale, batch, query_rows(b), heads(), {});
           });
  }

  bool visible() {
    Visible &v = problem.visible;
    const pyaclnnEngineVisible &from = in_.visible;
    if (!flag("visible.causal", from.causal, &v.causal) ||
        !flag("visible.band", from.band, &v.band) ||
        !choice("visible.anchor", from.anchor, PYACLNN_ENGINE_BOTTOM_RIGHT, &v.anchor) ||
        !in_range("visible.block", from.block, 0, kBeginMax)) {
      return false;
    }
    v.pre = from.pre;
    v.next = from.next;
    v.block = from.block;
    return from.prefix.count == 0 ||
           array("visible.prefix", from.prefix, problem.batch, false, &v.prefix);
  }

  bool mask() {
    Mask &m = problem.mask;
    const pyaclnnEngineMask &from = in_.mask;
    if (!choice("mask.how", from.how, PYACLNN_ENGINE_MASK_ADD_TIMES, &m.how)) return false;
    if (m.how == Mask::None) {
      return absent("mask.m", from.m, "when mask.how is 0 (NONE)") &&
             absent("mask.slopes", from.slopes, "when mask.how is 0 (NONE)");
    }
    if (!choice("mask.rows", from.rows, PYACLNN_ENGINE_ROWS_ABSOLUTE, &m.rows) ||
        !choice("mask.columns", from.columns, PYACLNN_ENGINE_COLUMNS_TAIL, &m.columns) ||
        !choice("mask.tileForm", from.tileForm, PYACLNN_ENGINE_TILE_LOWER, &m.tileForm) ||
        !choice("mask.grow", from.grow, PYACLNN_ENGINE_GROW_COLUMN, &m.grow) ||
        !fractal("mask.fractal", from.fractal, &m.fractal) ||
        !in_range("mask.tile", from.tile, 0, INT32_MAX) ||
        !in_range("mask.tileRow", from.tileRow, 0, INT32_MAX) ||
        !in_range("mask.tileCol", from.tileCol, 0, INT32_MAX) ||
        !in_range("mask.count", from.count, 0, INT64_MAX) ||
        !view("mask.m", from.m, m.how == Mask::Replace ? kAny : kFloats, true, &m.m)) {
      return false;
    }
    m.value = from.value;
    m.tile = from.tile;
    m.tileRow = from.tileRow;
    m.tileCol = from.tileCol;
    m.count = from.count;
    if (m.grow != Mask::Fixed && (m.tile == 0 || m.tileForm != Mask::Lower)) {
      begin() << "mask.grow is " << from.grow << ", 0 (FIXED) is accepted without tiles in LOWER";
      return false;
    }
    if (m.how == Mask::Replace) {
      if (m.grow != Mask::Fixed) {
        begin() << "mask.grow is " << from.grow << ", 0 (FIXED) is accepted with REPLACE";
        return false;
      }
      if (!absent("mask.slopes", from.slopes, "with REPLACE")) return false;
    }
    if (!view("mask.slopes", from.slopes, kFloats, false, &m.slopes) ||
        !each_batch([&](int64_t, Span batch) {
          return inside("mask.slopes", m.slopes, batch, {}, heads(), {});
        })) {
      return false;
    }
    if (m.count > 0) return fits("mask.m", m.m, m.m.offset, Wide{m.m.offset} + m.count - 1);
    return each_batch([&](int64_t b, Span batch) {
      Span rows = row_span(m.rows, b), columns = column_span(m.columns, b);
      if (rows.empty() || columns.empty()) return true;
      if (m.tile > 0) {
        int64_t last = m.tileForm == Mask::Stripe
                           ? std::max<int64_t>(rows.last, 1)
                           : int64_t{m.tile} * (m.tileForm == Mask::Lower ? 2 : 1);
        rows = {m.tileRow, m.tileRow + last};
        columns = {m.tileCol, int64_t{m.tileCol} + m.tile};
      }
      if (m.fractal == 0) return inside("mask.m", m.m, batch, rows, heads(), columns);
      // Column groups: whole ones, and the last that is not.
      int64_t c = m.fractal, whole = columns.last / c, rest = columns.last % c;
      return inside("mask.m", m.m, batch, rows, heads(), {columns.first / c, whole}, 0, c - 1) &&
             (rest == 0 ||
              inside("mask.m", m.m, batch, rows, heads(), {whole, whole + 1}, 0, rest - 1));
    });
  }

  bool bias() {
    Problem &p = problem;
    Bias &to = p.bias;
    const pyaclnnEngineBias &from = in_.bias;
    if (!flag("bias.beforeScale", from.beforeScale, &to.beforeScale) ||
        !choice("bias.pseRows", from.pseRows, PYACLNN_ENGINE_ROWS_ABSOLUTE, &to.pseRows) ||
        !choice("bias.pseColumns", from.pseColumns, PYACLNN_ENGINE_COLUMNS_TAIL, &to.pseColumns) ||
        !choice("bias.alibi", from.alibi, PYACLNN_ENGINE_ALIBI_DIST_SQRT, &to.alibi) ||
        !choice("bias.alibiRows", from.alibiRows, PYACLNN_ENGINE_ROWS_ABSOLUTE, &to.alibiRows) ||
        !in_range("bias.qStart", from.qStart, -kBeginMax, kBeginMax) ||
        !in_range("bias.kStart", from.kStart, -kBeginMax, kBeginMax)) {
      return false;
    }
    to.qStart = from.qStart;
    to.kStart = from.kStart;
    bool alibi = to.alibi != Bias::No;
    if (!alibi && !absent("bias.slopes", from.slopes, "when bias.alibi is 0 (NO)")) return false;
    if (!view("bias.pse", from.pse, kFloats, false, &to.pse) ||
        !view("bias.slopes", from.slopes, kFloats, alibi, &to.slopes) ||
        !view("bias.razor", from.razor, kFloats, false, &to.razor)) {
      return false;
    }
    if (to.razor.given()) {
      if (p.cache.form != Cache::Paged || p.prefixLen > 0) {
        begin() << "bias.razor is given, accepted with a paged cache and no prefix";
        return false;
      }
      if (!inside("bias.razor", to.razor, {0, p.cache.blockCount}, {0, p.cache.blockSize}, {},
                  {})) {
        return false;
      }
    }
    return each_batch([&](int64_t b, Span batch) {
      return inside("bias.pse", to.pse, batch, row_span(to.pseRows, b), heads(),
                    column_span(to.pseColumns, b)) &&
             inside("bias.slopes", to.slopes, batch, {}, heads(), {});
    });
  }

  bool score() {
    Score &to = problem.score;
    const pyaclnnEngineScore &from = in_.score;
    to.scale = from.scale;
    to.preScaleQ = from.preScaleQ;
    to.lo = from.lo;
    to.hi = from.hi;
    if (!flag("score.roundQ", from.roundQ, &to.roundQ) ||
        !flag("score.clamp", from.clamp, &to.clamp) ||
        !view("score.logN", from.logN, kFloats, false, &to.logN) ||
        !view("score.sink", from.sink, kFloats, false, &to.sink)) {
      return false;
    }
    Quant::Scores scores = problem.quant.scores;
    if ((scores == Quant::StaticInt8 || scores == Quant::OnlineInt8) &&
        !absent("score.sink", from.sink, "for these quant.scores")) {
      return false;
    }
    return inside("score.sink", to.sink, {}, {}, heads(), {}) &&
           each_batch([&](int64_t b, Span batch) {
             return inside("score.logN", to.logN, batch, {0, most(problem.qLen, b)}, {}, {});
           });
  }

  bool empty_rows() {
    Empty &to = problem.empty;
    const pyaclnnEngineEmpty &from = in_.empty;
    to.lseNoKeys = from.lseNoKeys;
    to.maxNoKeys = from.maxNoKeys;
    to.sumNoKeys = from.sumNoKeys;
    to.lseAllMasked = from.lseAllMasked;
    to.maxAllMasked = from.maxAllMasked;
    to.sumAllMasked = from.sumAllMasked;
    return choice("empty.noKeys", from.noKeys, PYACLNN_ENGINE_EMPTY_UNTOUCHED, &to.noKeys) &&
           choice("empty.allMasked", from.allMasked, PYACLNN_ENGINE_EMPTY_FORMULA, &to.allMasked) &&
           choice("empty.outside", from.outside, PYACLNN_ENGINE_EMPTY_UNTOUCHED, &to.outside);
  }

  bool output() {
    Problem &p = problem;
    Out &to = p.out;
    const pyaclnnEngineOut &from = in_.out;
    if (!choice("out.post", from.post, PYACLNN_ENGINE_POST_FP32, &to.post) ||
        !in_range("out.repeat", from.repeat, 0, kDimMax) ||
        !in_range("out.rows", from.rows, 0, kBeginMax)) {
      return false;
    }
    bool post = to.post != Out::No;
    to.repeat = std::max(from.repeat, 1);
    to.rows = from.rows;
    if (!post && (!absent("out.scale", from.scale, "when out.post is 0 (NO)") ||
                  !absent("out.offset", from.offset, "when out.post is 0 (NO)"))) {
      return false;
    }
    if (!view("out.o", from.o, post ? kI8 : kFloats, post, &to.o) ||
        !view("out.lse", from.lse, kF32, false, &to.lse) ||
        !view("out.max", from.max, kF32, false, &to.max) ||
        !view("out.sum", from.sum, kF32, false, &to.sum) ||
        !view("out.scale", from.scale, kFloats | kWord, post, &to.scale) ||
        !view("out.offset", from.offset, kFloats, false, &to.offset) ||
        !inside("out.scale", to.scale, {}, {}, heads(), {0, p.headDimV}) ||
        !inside("out.offset", to.offset, {}, {}, heads(), {0, p.headDimV})) {
      return false;
    }
    auto rows_inside = [&](Span batch, Span rows) {
      Span repeat{0, to.repeat};
      return inside("out.o", to.o, batch, rows, heads(), {0, p.headDimV}) &&
             inside("out.lse", to.lse, batch, rows, heads(), repeat) &&
             inside("out.max", to.max, batch, rows, heads(), repeat) &&
             inside("out.sum", to.sum, batch, rows, heads(), repeat);
    };
    if (to.rows > 0) {
      Span batch{0, p.qBegin.from == Begin::Host ? 1 : p.batch};
      if (!rows_inside(batch, {0, to.rows})) return false;
    }
    return each_batch([&](int64_t b, Span batch) { return rows_inside(batch, query_rows(b)); }) &&
           late_data_apart();
  }

  // Device data that decides where the run reads is judged first and read again while outputs are
  // written: it must not change in between.
  bool late_data_apart() {
    const Problem &p = problem;
    const std::pair<const char *, Slot> late[] = {
        {"run", p.run},
        {"qLen", p.qLen.slot},
        {"kvLen", p.kvLen.slot},
        {"qBegin.padding", p.qBegin.padding},
        {"kvBegin.padding", p.kvBegin.padding},
        {"cache.layer", p.cache.layer},
        {"cache.table", p.cache.table},
    };
    const std::pair<const char *, Slot> outputs[] = {{"out.o", p.out.o.slot},
                                                     {"out.lse", p.out.lse.slot},
                                                     {"out.max", p.out.max.slot},
                                                     {"out.sum", p.out.sum.slot}};
    for (const auto &[read_name, read_slot] : late) {
      for (const auto &[write_name, write_slot] : outputs) {
        if (read_slot == kNone || write_slot == kNone) continue;
        const pyaclnnEngineBuffer &a = in_.buffers[read_slot], &b = in_.buffers[write_slot];
        auto first = [](const pyaclnnEngineBuffer &x) {
          return reinterpret_cast<uintptr_t>(x.data);
        };
        if (first(a) + static_cast<uint64_t>(a.bytes) <= first(b) ||
            first(b) + static_cast<uint64_t>(b.bytes) <= first(a)) {
          continue;
        }
        begin() << write_name << " is in the memory of " << read_name
                << ", which must not change while the call runs";
        return false;
      }
    }
    return true;
  }

  const pyaclnnEngineProblem &in_;
  std::unique_ptr<View[], FreeMemory> k_list_, v_list_;
};

int32_t refuse(const Text &text) { return fail(kBadStruct, item_code_of_status(kBadStruct), text); }

int32_t no_memory() {
  Text text;
  text << "pyaclnnEngineAttention: memory is exhausted";
  return fail(kNoMemory, item_code_of_status(kNoMemory), text);
}

}  // namespace
}  // namespace pyaclnn::attention

extern "C" int32_t pyaclnnEngineAttention(const pyaclnnEngineProblem *problem) {
  using namespace pyaclnn;
  using namespace pyaclnn::attention;
  Text text;
  text << "pyaclnnEngineAttention: ";
  if (problem == nullptr) {
    text << "problem is NULL, a pointer to a pyaclnnEngineProblem is needed";
    return refuse(text);
  }
  if (problem->size != sizeof(pyaclnnEngineProblem)) {
    text << "size is " << problem->size << ", " << sizeof(pyaclnnEngineProblem) << " is accepted";
    return refuse(text);
  }
  if (problem->version != PYACLNN_ENGINE_VERSION) {
    text << "version is " << problem->version << ", " << PYACLNN_ENGINE_VERSION << " is accepted";
    return refuse(text);
  }
  Reader reader(*problem);
  if (!reader.read()) return reader.exhausted ? no_memory() : refuse(reader.text);

  Plan engine_plan = plan(reader.problem);
  std::byte *addresses[kBuffersMax];
  for (int64_t i = 0; i < problem->bufferCount; ++i) {
    addresses[i] = static_cast<std::byte *>(problem->buffers[i].data);
  }
  std::unique_ptr<std::byte, FreeMemory> workspace(
      static_cast<std::byte *>(std::malloc(std::max<uint64_t>(engine_plan.workspace, 1))));
  if (workspace == nullptr) return no_memory();
  Outcome outcome =
      run(engine_plan, addresses, static_cast<size_t>(problem->bufferCount), workspace.get());
  if (outcome.what == Fault::Ok) return 0;
  if (outcome.what == Fault::Memory) return no_memory();
  describe(outcome, text);
  return fail(kDeviceFault, item_code_of_status(kDeviceFault), text);
}
