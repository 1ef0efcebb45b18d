// Checks the engine against itself through pyaclnnEngineAttention: every kernel level against the
// reference, the same bytes for any number of threads, block size and padding side, literal numbers
// of a few tiny problems, and the refusals. Prints TAP lines.
#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "pyaclnn/debug.h"
#include "pyaclnn/engine.h"
#include "support/half.hpp"

namespace {

int checks = 0, failures = 0;

void check(bool good, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  std::printf("%s %d - %s\n", good ? "ok" : "not ok", ++checks, text);
  if (!good) ++failures;
}

struct Random {
  uint64_t state = 88172645463325252ull;
  uint64_t next() {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
  }
  float uniform() { return static_cast<float>(next() >> 40) / 8388608.0f - 1.0f; }  // [-1, 1)
};

int64_t bits_of(int32_t type) {
  constexpr int64_t kBits[] = {0, 16, 16, 32, 8, 8, 4, 32, 64};
  return kBits[type];
}

// A problem and the memory it points to; every buffer has exactly the bytes it needs.
struct Case {
  pyaclnnEngineProblem p{};
  std::vector<std::vector<uint8_t>> memory;
  std::vector<std::vector<int64_t>> arrays;
  std::vector<std::vector<pyaclnnEngineView>> views;
  Random random;

  Case() {
    arrays.reserve(16);
    views.reserve(4);
    p.size = sizeof p;
    p.version = PYACLNN_ENGINE_VERSION;
    p.score.scale = p.score.preScaleQ = 1;
    p.empty.allMasked = PYACLNN_ENGINE_EMPTY_FORMULA;
  }

  int32_t buffer(std::vector<uint8_t> bytes) {
    memory.push_back(std::move(bytes));
    return static_cast<int32_t>(memory.size());
  }
  template <class T>
  int32_t values(const std::vector<T> &list) {
    std::vector<uint8_t> bytes(list.size() * sizeof(T));
    std::memcpy(bytes.data(), list.data(), bytes.size());
    return buffer(std::move(bytes));
  }
  pyaclnnEngineInts ints(std::vector<int64_t> list) {
    arrays.push_back(std::move(list));
    return {arrays.back().data(), static_cast<int64_t>(arrays.back().size())};
  }
  void put(int32_t number, int32_t type, int64_t index, float value) {
    uint8_t *at = memory[static_cast<size_t>(number) - 1].data();
    uint16_t half;
    auto whole = static_cast<int8_t>(value);
    switch (type) {
      case PYACLNN_ENGINE_F16:
        half = pyaclnn::float_to_half(value);
        std::memcpy(at + index * 2, &half, 2);
        break;
      case PYACLNN_ENGINE_BF16:
        half = pyaclnn::float_to_bfloat16(value);
        std::memcpy(at + index * 2, &half, 2);
        break;
      case PYACLNN_ENGINE_F32: std::memcpy(at + index * 4, &value, 4); break;
      case PYACLNN_ENGINE_I4:
        at[index / 2] =
            static_cast<uint8_t>((index & 1) != 0 ? (at[index / 2] & 15) | (whole << 4)
                                                  : (at[index / 2] & 240) | (whole & 15));
        break;
      default: at[index] = static_cast<uint8_t>(whole);
    }
  }
  // Random elements: floats in [-1, 1), integers over their range.
  int32_t tensor(int32_t type, int64_t count) {
    int32_t number =
        buffer(std::vector<uint8_t>(static_cast<size_t>((count * bits_of(type) + 7) / 8)));
    float range = type == PYACLNN_ENGINE_I8 ? 127.0f : type == PYACLNN_ENGINE_I4 ? 7.0f : 1.0f;
    for (int64_t i = 0; i < count; ++i) put(number, type, i, random.uniform() * range);
    return number;
  }
  // Contiguous [nb, ns, nh, nd].
  pyaclnnEngineView bsnd(int32_t type, int64_t nb, int64_t ns, int64_t nh, int64_t nd) {
    return {tensor(type, nb * ns * nh * nd), type, ns * nh * nd, nh * nd, nd, 1, 0};
  }
  // Contiguous [nb, nh, ns, nd].
  pyaclnnEngineView bnsd(int32_t type, int64_t nb, int64_t nh, int64_t ns, int64_t nd) {
    return {tensor(type, nb * ns * nh * nd), type, nh * ns * nd, nd, ns * nd, 1, 0};
  }

  // batch x rows of q against `keys` keys, output and statistics in float32.
  void base(int64_t batch, int64_t heads, int64_t kv_heads, int64_t rows, int64_t keys, int64_t dim,
            int64_t dim_v, int32_t type) {
    p.batch = batch;
    p.heads = heads;
    p.kvHeads = kv_heads;
    p.headDim = dim;
    p.headDimV = dim_v;
    p.queryMax = p.qLen.bound = rows;
    p.keyMax = p.kvLen.bound = keys;
    p.q = bsnd(type, batch, rows, heads, dim);
    p.cache.k = bsnd(type, batch, keys, kv_heads, dim);
    p.cache.v = bnsd(type, batch, kv_heads, keys, dim_v);
    p.score.scale = 1.0f / std::sqrt(static_cast<float>(dim)) * 3.0f;
    p.out.rows = rows;
    p.out.o = bsnd(PYACLNN_ENGINE_F32, batch, rows, heads, dim_v);
    for (auto *view : {&p.out.lse, &p.out.max, &p.out.sum}) {
      *view = bsnd(PYACLNN_ENGINE_F32, batch, rows, heads, 1);
    }
  }
  void key_lengths(std::vector<int64_t> list) {
    p.kvLen.from = PYACLNN_ENGINE_LENGTHS_HOST;
    p.kvLen.host = ints(std::move(list));
  }

  int32_t run() {
    std::vector<pyaclnnEngineBuffer> table;
    for (auto &bytes : memory) {
      // Outputs start from the same rubbish every time.
      table.push_back({bytes.data(), static_cast<int64_t>(bytes.size())});
    }
    p.buffers = table.data();
    p.bufferCount = static_cast<int64_t>(table.size());
    for (const auto *view : {&p.out.o, &p.out.lse, &p.out.max, &p.out.sum}) {
      if (view->type != 0 && view->buffer <= static_cast<int32_t>(memory.size())) {
        auto &bytes = memory[static_cast<size_t>(view->buffer) - 1];
        std::fill(bytes.begin(), bytes.end(), uint8_t{0x55});
      }
    }
    return pyaclnnEngineAttention(&p);
  }
  std::vector<uint8_t> &bytes_of(const pyaclnnEngineView &view) {
    return memory[static_cast<size_t>(view.buffer) - 1];
  }
  std::vector<uint8_t> outputs() {
    std::vector<uint8_t> all;
    for (const auto *view : {&p.out.o, &p.out.lse, &p.out.max, &p.out.sum}) {
      if (view->type == 0) continue;
      auto &bytes = bytes_of(*view);
      all.insert(all.end(), bytes.begin(), bytes.end());
    }
    return all;
  }
};

std::vector<std::string> levels() {
  std::istringstream names(pyaclnnIsaLevels());
  std::vector<std::string> list;
  for (std::string name; names >> name;) list.push_back(name);
  return list;
}

float float_at(const std::vector<uint8_t> &bytes, size_t i) {
  float f;
  std::memcpy(&f, bytes.data() + i * 4, 4);
  return f;
}

// Floats (or int8 when the output has a post) of two runs agree.
bool agree(const std::vector<uint8_t> &a, const std::vector<uint8_t> &b, size_t int8_bytes,
           double *worst) {
  *worst = 0;
  for (size_t i = 0; i < int8_bytes; ++i) {
    *worst = std::max(*worst, std::abs(double(int8_t(a[i])) - double(int8_t(b[i]))));
  }
  if (*worst > 1) return false;  // a value next to a tie may move by one
  *worst = 0;
  std::vector<uint8_t> fa(a.begin() + int8_bytes, a.end()), fb(b.begin() + int8_bytes, b.end());
  for (size_t i = 0; i < fa.size() / 4; ++i) {
    float x = float_at(fa, i), y = float_at(fb, i);
    if (std::isnan(x) && std::isnan(y)) continue;
    if (x == y) continue;
    double error = std::abs(double(x) - double(y)) / std::max(1.0, std::abs(double(y)));
    if (!(error <= 2e-5)) return false;
    *worst = std::max(*worst, error);
  }
  return true;
}

// Every level gives the reference's numbers, and the same bytes for 1, 2 and 3 threads.
void all_levels(const char *name, Case &c) {
  pyaclnnSetIsa("reference");
  int32_t status = c.run();
  check(status == 0, "%s: reference returns 0 # %d %s", name, status,
        status != 0 ? aclGetRecentErrMsg() : "");
  if (status != 0) return;
  std::vector<uint8_t> expected = c.outputs();
  size_t int8_bytes = c.p.out.post != 0 ? c.bytes_of(c.p.out.o).size() : 0;
  for (const std::string &level : levels()) {
    pyaclnnSetIsa(level.c_str());
    std::vector<uint8_t> first;
    bool same = true;
    for (int32_t threads : {1, 2, 3}) {
      pyaclnnSetThreads(threads);
      c.run();
      if (threads == 1) first = c.outputs();
      same &= c.outputs() == first;
    }
    double worst = 0;
    bool good = agree(first, expected, int8_bytes, &worst);
    check(good, "%s: %s agrees with the reference # %.1e", name, level.c_str(), worst);
    check(same, "%s: %s gives the same bytes for 1, 2, 3 threads", name, level.c_str());
  }
}

void same_bytes(const char *what, Case &a, Case &b) {
  for (const std::string &level : levels()) {
    pyaclnnSetIsa(level.c_str());
    int32_t sa = a.run(), sb = b.run();
    check(sa == 0 && sb == 0 && a.outputs() == b.outputs(), "%s: same bytes on %s # %d, %d", what,
          level.c_str(), sa, sb);
  }
}

// The contiguous cache of `c` moved into blocks in a scrambled order, unused rows poisoned.
Case paged(const Case &from, int32_t block) {
  Case c = from;
  const auto &old = from.p;
  int64_t columns = (old.keyMax + block - 1) / block, blocks = columns * old.batch + 3;
  std::vector<int32_t> table;
  for (int64_t i = 0; i < columns * old.batch; ++i) {
    table.push_back(static_cast<int32_t>((i * 7 + 2) % (columns * old.batch) + 1));
  }
  while (columns * old.batch % 7 == 0) {  // 7 must be coprime to the count for a permutation
    for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<int32_t>(table.size() - i);
    break;
  }
  auto move = [&](pyaclnnEngineView view, int64_t dim) {
    int64_t size = bits_of(view.type) / 8;
    pyaclnnEngineView to{0, view.type, block * old.kvHeads * dim, old.kvHeads * dim, dim, 1, 0};
    std::vector<uint8_t> bytes(static_cast<size_t>(blocks * to.b * size), uint8_t{0xff});
    for (int64_t b = 0; b < old.batch; ++b) {
      for (int64_t s = 0; s < old.keyMax; ++s) {
        for (int64_t g = 0; g < old.kvHeads; ++g) {
          int64_t at = table[static_cast<size_t>(b * columns + s / block)] * to.b +
                       s % block * to.s + g * to.h;
          std::memcpy(bytes.data() + at * size,
                      from.memory[static_cast<size_t>(view.buffer) - 1].data() +
                          (b * view.b + s * view.s + g * view.h) * size,
                      static_cast<size_t>(dim * size));
        }
      }
    }
    to.buffer = c.buffer(std::move(bytes));
    return to;
  };
  c.p.cache.k = move(old.cache.k, old.headDim);
  c.p.cache.v = move(old.cache.v, old.headDimV);
  c.p.cache.form = PYACLNN_ENGINE_CACHE_PAGED;
  c.p.cache.blockSize = block;
  c.p.cache.blockCount = static_cast<int32_t>(blocks);
  c.p.cache.tableStride = columns;
  c.p.cache.table = c.values(table);
  return c;
}

constexpr int32_t F16 = PYACLNN_ENGINE_F16, BF16 = PYACLNN_ENGINE_BF16, F32 = PYACLNN_ENGINE_F32,
                  I8 = PYACLNN_ENGINE_I8, U8 = PYACLNN_ENGINE_U8, I4 = PYACLNN_ENGINE_I4;

void shapes() {
  struct {
    const char *name;
    int64_t batch, heads, kv, rows, keys, dim, dim_v;
    int32_t type;
  } list[] = {
      {"f16 grouped", 2, 8, 2, 1, 2500, 64, 64, F16},
      {"bf16 grouped", 2, 8, 2, 1, 2500, 64, 64, BF16},
      {"f32 grouped", 2, 8, 2, 1, 2500, 64, 64, F32},
      {"f16 ungrouped", 1, 5, 5, 1, 1300, 128, 128, F16},
      {"group of 7", 1, 7, 1, 1, 1025, 80, 96, BF16},
      {"group of 40", 1, 40, 1, 2, 1100, 24, 16, F16},
      {"group of 3, odd sizes", 2, 6, 2, 1, 333, 37, 21, F16},
      {"tiny", 1, 1, 1, 1, 1, 1, 1, F16},
      {"rows", 1, 4, 2, 5, 300, 32, 32, F16},
      {"many rows", 2, 4, 4, 9, 1100, 16, 16, BF16},
  };
  for (const auto &s : list) {
    Case c;
    c.base(s.batch, s.heads, s.kv, s.rows, s.keys, s.dim, s.dim_v, s.type);
    all_levels(s.name, c);
  }
}

struct Feature {
  const char *name;
  std::function<void(Case &)> apply;
};

// One field at a time on a small base: 3 batches, 6 heads in groups of 3, 2 rows, 700 keys.
void features() {
  constexpr int64_t kBatch = 3, kHeads = 6, kKv = 2, kRows = 2, kKeys = 1400, kDim = 24, kDimV = 16;
  auto factor = [](Case &c, int64_t count, int32_t type = F32) {
    return pyaclnnEngineView{c.tensor(type, count), type, 0, 0, 0, 0, 0};
  };
  auto causal = [](Case &c) {
    c.p.visible.causal = 1;
    c.p.visible.anchor = PYACLNN_ENGINE_BOTTOM_RIGHT;
  };
  auto quantised = [](Case &c, int32_t type, int32_t by, int32_t scale_type) {
    auto &p = c.p;
    p.cache.k = c.bsnd(type, kBatch, kKeys, kKv, kDim);
    p.cache.v = c.bnsd(type, kBatch, kKv, kKeys, kDimV);
    p.quant.k = p.quant.v = by;
    bool token = by >= PYACLNN_ENGINE_QUANT_TOKEN;
    bool channel = by == PYACLNN_ENGINE_QUANT_CHANNEL;
    bool head = by == PYACLNN_ENGINE_QUANT_HEAD || channel || by == PYACLNN_ENGINE_QUANT_TOKEN_HEAD;
    int64_t d = channel ? kDim : 1, h = head ? kKv : 1, s = token ? kKeys : 1;
    for (auto *view : {&p.quant.kScale, &p.quant.kOffset, &p.quant.vScale, &p.quant.vOffset}) {
      *view = {c.tensor(scale_type, kBatch * s * h * d),
               scale_type,
               token ? s * h * d : 0,
               token ? h * d : 0,
               head ? d : 0,
               channel ? 1 : 0,
               0};
    }
    p.score.scale /= 64;
  };
  const Feature list[] = {
      {"plain", [](Case &) {}},
      {"lengths",
       [](Case &c) {
         c.key_lengths({1400, 0, 1025});
       }},
      {"device lengths",
       [](Case &c) {
         c.p.kvLen.from = c.p.qLen.from = PYACLNN_ENGINE_LENGTHS_DEVICE;
         c.p.kvLen.type = PYACLNN_ENGINE_I32;
         c.p.kvLen.buffer = c.values<int32_t>({1, 1400, 129});
         c.p.qLen.type = PYACLNN_ENGINE_I64;
         c.p.qLen.buffer = c.values<int64_t>({2, 1, 0});
         c.p.empty.lseNoKeys = 7;
       }},
      {"query padding",
       [](Case &c) {
         c.p.qLen.from = PYACLNN_ENGINE_LENGTHS_HOST;
         c.p.qLen.host = c.ints({1, 0, 2});
         c.p.qBegin.from = PYACLNN_ENGINE_BEGIN_RIGHT_ALIGNED;
         c.p.qBegin.extent = kRows;
       }},
      {"run",
       [](Case &c) {
         c.p.run = c.values<int32_t>({1, 0, 1});
       }},
      {"causal", causal},
      {"causal, few keys",
       [&](Case &c) {
         causal(c);
         c.key_lengths({1, 2, 129});
         c.p.empty.lseAllMasked = 5;
       }},
      {"causal from the left", [](Case &c) { c.p.visible.causal = 1; }},
      {"band",
       [](Case &c) {
         c.p.visible.band = 1;
         c.p.visible.anchor = PYACLNN_ENGINE_BOTTOM_RIGHT;
         c.p.visible.pre = 300;
         c.p.visible.next = -20;
       }},
      {"band and prefix",
       [](Case &c) {
         c.p.visible.band = 1;
         c.p.visible.pre = 0;
         c.p.visible.next = INT64_MAX;
         c.p.visible.block = 64;
         c.p.visible.prefix = c.ints({0, 200, 5000});
       }},
      {"mask",
       [](Case &c) {
         c.p.mask = {PYACLNN_ENGINE_MASK_REPLACE,
                     -1e12f,
                     c.bsnd(U8, kBatch, 1, 1, kKeys),
                     0,
                     0,
                     0,
                     0,
                     0,
                     0,
                     0,
                     0,
                     0,
                     {}};
         c.p.mask.m.s = c.p.mask.m.h = 0;
         for (auto &byte : c.bytes_of(c.p.mask.m)) byte = c.random.next() % 3 == 0;
       }},
      {"whole row masked",
       [](Case &c) {
         c.p.mask = {PYACLNN_ENGINE_MASK_REPLACE,
                     -1e12f,
                     c.bsnd(U8, kBatch, 1, 1, kKeys),
                     0,
                     0,
                     0,
                     0,
                     0,
                     0,
                     kBatch * kKeys,
                     0,
                     0,
                     {}};
         c.p.mask.m.s = c.p.mask.m.h = 0;
         for (auto &byte : c.bytes_of(c.p.mask.m)) byte = 1;
       }},
      {"whole row masked, zero",
       [&](Case &c) {
         causal(c);
         c.p.mask = {PYACLNN_ENGINE_MASK_REPLACE,
                     -1e12f,
                     c.bsnd(U8, kBatch, kRows, 1, kKeys),
                     0,
                     0,
                     0,
                     0,
                     0,
                     0,
                     0,
                     0,
                     0,
                     {}};
         c.p.mask.m.h = 0;
         for (size_t i = 0; i < kKeys * 3; ++i) c.bytes_of(c.p.mask.m)[i] = 1;
         c.p.empty.allMasked = PYACLNN_ENGINE_EMPTY_ZERO;
         c.p.empty.lseAllMasked = std::numeric_limits<float>::infinity();
       }},
      {"whole row masked, mean",
       [](Case &c) {
         c.p.visible.band = 1;
         c.p.visible.pre = -1400;
         c.p.visible.next = INT64_MAX;
         c.p.empty.allMasked = PYACLNN_ENGINE_EMPTY_MEAN;
       }},
      {"added mask",
       [](Case &c) {
         c.p.mask = {PYACLNN_ENGINE_MASK_ADD,
                     0,
                     c.bnsd(F16, kBatch, kHeads, kRows, kKeys),
                     PYACLNN_ENGINE_ROWS_PADDED,
                     0,
                     0,
                     0,
                     0,
                     0,
                     0,
                     0,
                     0,
                     {}};
       }},
      {"multiplied mask, tail",
       [](Case &c) {
         c.p.mask = {PYACLNN_ENGINE_MASK_ADD_TIMES,
                     -3e38f,
                     c.bnsd(BF16, 1, 1, kRows, kRows),
                     0,
                     PYACLNN_ENGINE_COLUMNS_TAIL,
                     0,
                     0,
                     0,
                     0,
                     0,
                     0,
                     0,
                     {}};
         c.p.mask.m.b = c.p.mask.m.h = 0;
         c.key_lengths({1400, 1, 2});
       }},
      {"diagonal tile",
       [](Case &c) {
         c.p.mask = {PYACLNN_ENGINE_MASK_ADD,
                     0,
                     c.bnsd(F16, 1, 1, 128, 128),
                     PYACLNN_ENGINE_ROWS_ABSOLUTE,
                     0,
                     128,
                     PYACLNN_ENGINE_TILE_DIAGONAL,
                     0,
                     0,
                     0,
                     0,
                     0,
                     {}};
         c.p.mask.m.b = c.p.mask.m.h = 0;
         c.p.visible.block = 128;
         c.p.visible.anchor = PYACLNN_ENGINE_BOTTOM_RIGHT;
       }},
      {"stripe tile",
       [](Case &c) {
         c.p.mask = {PYACLNN_ENGINE_MASK_ADD,
                     0,
                     c.bnsd(F16, 1, kHeads, kKeys, 128),
                     PYACLNN_ENGINE_ROWS_ABSOLUTE,
                     0,
                     128,
                     PYACLNN_ENGINE_TILE_STRIPE,
                     0,
                     0,
                     0,
                     0,
                     0,
                     {}};
         c.p.mask.m.b = 0;
       }},
      {"lower tiles that grow",
       [](Case &c) {
         c.p.mask = {PYACLNN_ENGINE_MASK_ADD,
                     0,
                     c.bnsd(F16, 1, 1, 256, 128),
                     PYACLNN_ENGINE_ROWS_ABSOLUTE,
                     PYACLNN_ENGINE_COLUMNS_LOCAL,
                     128,
                     PYACLNN_ENGINE_TILE_LOWER,
                     0,
                     0,
                     0,
                     0,
                     PYACLNN_ENGINE_GROW_DISTANCE,
                     c.bnsd(F32, 1, kHeads, 1, 1)};
         c.p.mask.m.b = c.p.mask.m.h = 0;
         c.p.mask.slopes.b = 0;
         c.p.visible.block = 128;
         c.p.visible.anchor = PYACLNN_ENGINE_BOTTOM_RIGHT;
       }},
      {"pse", [](Case &c) { c.p.bias.pse = c.bnsd(F16, kBatch, kHeads, kRows, kKeys); }},
      {"pse before the scale, strided",
       [](Case &c) {
         c.p.bias.pse = c.bsnd(BF16, kBatch, kKeys, kRows, kHeads);
         auto &v = c.p.bias.pse;
         v = {v.buffer, v.type, v.b, kHeads, 1, kRows * kHeads, 0};
         c.p.bias.beforeScale = 1;
       }},
      {"tail pse",
       [](Case &c) {
         c.p.bias.pse = c.bnsd(F32, kBatch, kHeads, kRows, kRows);
         c.p.bias.pseColumns = PYACLNN_ENGINE_COLUMNS_TAIL;
       }},
      {"clamp and logN",
       [](Case &c) {
         c.p.score.clamp = 1;
         c.p.score.lo = -0.5f;
         c.p.score.hi = 0.7f;
         c.p.score.logN = {c.tensor(F32, kBatch * kRows), F32, kRows, 1, 0, 0, 0};
       }},
      {"sink",
       [&](Case &c) {
         causal(c);
         c.key_lengths({1, 2, 1400});
         c.p.score.sink = {c.tensor(BF16, kHeads), BF16, 0, 0, 1, 0, 0};
       }},
      {"scaled query",
       [](Case &c) {
         c.p.score.preScaleQ = 0.3f;
         c.p.score.roundQ = 1;
         c.p.quant.qScale = {
             c.tensor(F32, kBatch * kRows * kHeads), F32, kRows * kHeads, kHeads, 1, 0, 0};
         c.p.quant.pvScale = {c.tensor(F16, kHeads), F16, 0, 0, 1, 0, 0};
       }},
      {"list",
       [](Case &c) {
         std::vector<pyaclnnEngineView> k, v;
         for (int64_t b = 0; b < kBatch; ++b) {
           k.push_back(c.bsnd(F16, 1, 500 * (b + 1) - 100, kKv, kDim));
           v.push_back(c.bsnd(F16, 1, 500 * (b + 1) - 100, kKv, kDimV));
         }
         c.views.push_back(k);
         c.p.cache.kList = {c.views.back().data(), kBatch};
         c.views.push_back(v);
         c.p.cache.vList = {c.views.back().data(), kBatch};
         c.p.cache.form = PYACLNN_ENGINE_CACHE_LIST;
         c.key_lengths({400, 900, 1400});
       }},
      {"shared prefix",
       [&](Case &c) {
         causal(c);
         c.p.prefixLen = 150;
         c.p.kPrefix = c.bsnd(F16, 1, 150, kKv, kDim);
         c.p.vPrefix = c.bnsd(F16, 1, kKv, 150, kDimV);
         c.key_lengths({0, 1400, 77});
       }},
      {"latent cache with rope",
       [](Case &c) {
         c.p.cache.valueIsKeyPrefix = 1;
         c.p.cache.v = {};
         c.p.ropeDim = 12;
         c.p.qRope = c.bsnd(F16, kBatch, kRows, kHeads, 12);
         c.p.kRope = c.bsnd(F16, kBatch, kKeys, kKv, 12);
       }},
      {"ring",
       [](Case &c) {
         c.p.cache.k = c.bsnd(F16, kBatch, 900, kKv, kDim);
         c.p.cache.v = c.bsnd(F16, kBatch, 900, kKv, kDimV);
         c.p.cache.ring = 1;
         c.p.cache.window = 900;
       }},
      {"keys of each head",
       [](Case &c) {
         constexpr int32_t kBlock = 128, kColumns = (kKeys + kBlock - 1) / kBlock;
         constexpr int32_t kEntries = kBatch * kKv;
         c.p.cache.form = PYACLNN_ENGINE_CACHE_PAGED;
         c.p.cache.perHead = 1;
         c.p.cache.k = c.bsnd(F16, kEntries * kColumns, kBlock, 1, kDim);
         c.p.cache.v = c.bsnd(F16, kEntries * kColumns, kBlock, 1, kDimV);
         c.p.cache.k.h = c.p.cache.v.h = 0;
         c.p.cache.blockSize = kBlock;
         c.p.cache.blockCount = kEntries * kColumns;
         c.p.cache.tableStride = kColumns;
         std::vector<int32_t> table;
         for (int32_t i = kEntries * kColumns; i-- > 0;) table.push_back(i);
         c.p.cache.table = c.values(table);
         std::vector<int64_t> lengths;
         for (int64_t i = 0; i < kEntries; ++i) lengths.push_back(kKeys - i * 131);
         c.key_lengths(lengths);
       }},
      {"layer",
       [](Case &c) {
         c.p.cache.k = c.bsnd(F16, kBatch * 3, kKeys, kKv, kDim);
         c.p.cache.v = c.bsnd(F16, kBatch * 3, kKeys, kKv, kDimV);
         c.p.cache.layerStride = kBatch * kKeys * kKv * kDim;
         c.p.cache.layerStrideV = kBatch * kKeys * kKv * kDimV;
         c.p.cache.layerCount = 3;
         c.p.cache.layer = c.values<int32_t>({2});
       }},
      {"NZ cache",
       [](Case &c) {
         c.p.cache.fractal = 16;
         c.p.cache.k = {
             c.tensor(F16, kBatch * 3 * kKeys * 16), F16, 3 * kKeys * 16, 16, kDim, kKeys * 16, 0};
         c.p.cache.v = {
             c.tensor(F16, kBatch * 2 * kKeys * 16), F16, 2 * kKeys * 16, 16, kDimV, kKeys * 16, 0};
       }},
      {"strided columns",
       [](Case &c) {
         c.p.cache.v = {c.tensor(F16, kBatch * kDimV * kKv * kKeys),
                        F16,
                        kDimV * kKv * kKeys,
                        1,
                        kKeys,
                        kKv * kKeys,
                        0};
       }},
      {"int8 by tensor", [&](Case &c) { quantised(c, I8, PYACLNN_ENGINE_QUANT_TENSOR, F16); }},
      {"int8 by channel", [&](Case &c) { quantised(c, I8, PYACLNN_ENGINE_QUANT_CHANNEL, BF16); }},
      {"int8 by token", [&](Case &c) { quantised(c, I8, PYACLNN_ENGINE_QUANT_TOKEN, F32); }},
      {"int8 by token and head",
       [&](Case &c) { quantised(c, I8, PYACLNN_ENGINE_QUANT_TOKEN_HEAD, F32); }},
      {"int4 by head", [&](Case &c) { quantised(c, I4, PYACLNN_ENGINE_QUANT_HEAD, F16); }},
      {"int8 probabilities",
       [&](Case &c) {
         c.p.q = c.bsnd(I8, kBatch, kRows, kHeads, kDim);
         c.p.cache.k = c.bsnd(I8, kBatch, kKeys, kKv, kDim);
         c.p.cache.v = c.bsnd(I8, kBatch, kKeys, kKv, kDimV);
         c.p.score.scale = 1e-4f;
         c.p.quant.scores = PYACLNN_ENGINE_SCORES_ONLINE_INT8;
       }},
      {"int8 output",
       [&](Case &c) {
         c.p.out.o = c.bsnd(I8, kBatch, kRows, kHeads, kDimV);
         c.p.out.post = PYACLNN_ENGINE_POST_HALF_STEPS;
         c.p.out.scale = factor(c, 1);
         c.put(c.p.out.scale.buffer, F32, 0, 300.0f);
         c.p.out.offset = factor(c, 1);
         c.key_lengths({3, 0, 20});
       }},
      {"int8 output by channel",
       [&](Case &c) {
         c.p.out.o = c.bsnd(I8, kBatch, kRows, kHeads, kDimV);
         c.p.out.post = PYACLNN_ENGINE_POST_ROUND_AWAY;
         c.p.out.scale = {c.tensor(BF16, kHeads * kDimV), BF16, 0, 0, kDimV, 1, 0};
       }},
      {"packed queries",
       [](Case &c) {
         c.p.q = c.bsnd(F16, 1, 6, kHeads, kDim);
         c.p.out.o = c.bsnd(F32, 1, 6, kHeads, kDimV);
         c.p.out.lse = c.p.out.max = c.p.out.sum = {};
         c.p.q.b = c.p.out.o.b = 0;
         c.p.out.rows = 6;
         c.p.qLen.from = PYACLNN_ENGINE_LENGTHS_HOST;
         c.p.qLen.host = c.ints({1, 2, 1});
         c.p.qBegin.from = PYACLNN_ENGINE_BEGIN_HOST;
         c.p.qBegin.host = c.ints({0, 1, 4});
       }},
  };
  for (const Feature &feature : list) {
    Case c;
    c.base(kBatch, kHeads, kKv, kRows, kKeys, kDim, kDimV, F16);
    feature.apply(c);
    all_levels(feature.name, c);
  }
  for (int32_t alibi = 1; alibi <= 5; ++alibi) {
    Case c;
    c.base(kBatch, kHeads, kKv, kRows, kKeys, kDim, kDimV, F16);
    c.p.bias.alibi = alibi;
    c.p.bias.alibiRows = PYACLNN_ENGINE_ROWS_ABSOLUTE;
    c.p.bias.slopes = {c.tensor(F32, kHeads), F32, 0, 0, 1, 0, 0};
    for (int64_t h = 0; h < kHeads; ++h) {
      c.put(c.p.bias.slopes.buffer, F32, h, static_cast<float>(h + 1) / 64);
    }
    all_levels(("alibi " + std::to_string(alibi)).c_str(), c);
  }
}

// What the cache looks like must not be seen in the bytes.
void invariance() {
  Case plain;
  plain.base(2, 8, 2, 1, 2304, 64, 64, F16);
  plain.key_lengths({2304, 1300});
  for (int32_t block : {16, 48, 128, 512}) {
    Case other = paged(plain, block);
    same_bytes(("blocks of " + std::to_string(block)).c_str(), plain, other);
  }
  // Keys and values moved right by 100 rows of padding behind them, poison everywhere else.
  Case padded = plain;
  for (auto *view : {&padded.p.cache.k, &padded.p.cache.v}) {
    int64_t dim = 64, rows = 2304 + 100;
    std::vector<uint8_t> bytes(static_cast<size_t>(2 * rows * 2 * dim * 2), uint8_t{0xff});
    int64_t lengths[] = {2304, 1300};
    for (int64_t b = 0; b < 2; ++b) {
      for (int64_t s = 0; s < lengths[b]; ++s) {
        for (int64_t g = 0; g < 2; ++g) {
          std::memcpy(bytes.data() + ((b * rows + rows - 100 - lengths[b] + s) * 2 + g) * dim * 2,
                      plain.bytes_of(*view).data() + (b * view->b + s * view->s + g * view->h) * 2,
                      static_cast<size_t>(dim * 2));
        }
      }
    }
    *view = {padded.buffer(std::move(bytes)), F16, rows * 2 * dim, 2 * dim, dim, 1, 0};
  }
  padded.p.kvBegin.from = PYACLNN_ENGINE_BEGIN_RIGHT_ALIGNED;
  padded.p.kvBegin.extent = 2304 + 100;
  padded.p.kvBegin.padding = padded.values<int64_t>({100});
  same_bytes("padding side", plain, padded);

  // Two rows at once equal two rows alone, but for the order in which lanes are added up.
  Case both, alone;
  both.base(1, 4, 2, 2, 1500, 40, 40, BF16);
  alone = both;
  alone.p.queryMax = alone.p.qLen.bound = 1;
  alone.p.out.rows = 0;
  for (const std::string &level : levels()) {
    pyaclnnSetIsa(level.c_str());
    both.run();
    alone.run();
    auto *a = reinterpret_cast<const float *>(both.bytes_of(both.p.out.o).data());
    auto *b = reinterpret_cast<const float *>(alone.bytes_of(alone.p.out.o).data());
    bool same = true;
    for (int i = 0; i < 4 * 40; ++i)
      same &= std::fabs(a[i] - b[i]) <= 1e-6f + 1e-6f * std::fabs(b[i]);
    check(same, "a row alone: same numbers on %s", level.c_str());
  }
}

// A row whose every key has the value -1e12 gives the mean of v, also over several splits.
void masked_mean() {
  Case c;
  c.base(1, 4, 2, 1, 3000, 16, 16, F16);
  c.p.mask = {
      PYACLNN_ENGINE_MASK_REPLACE, -1e12f, {0, U8, 0, 0, 0, 1, 0}, 0, 0, 0, 0, 0, 0, 0, 0, 0, {}};
  c.p.mask.m.buffer = c.values(std::vector<uint8_t>(3000, 1));
  for (const std::string &level : levels()) {
    pyaclnnSetIsa(level.c_str());
    c.run();
    double worst = 0;
    for (int64_t n = 0; n < 4; ++n) {
      for (int64_t d = 0; d < 16; ++d) {
        double mean = 0;
        for (int64_t t = 0; t < 3000; ++t) {
          uint16_t half;
          std::memcpy(&half,
                      c.bytes_of(c.p.cache.v).data() + (n / 2 * c.p.cache.v.h + t * 16 + d) * 2, 2);
          mean += double(pyaclnn::half_to_float(half)) / 3000;
        }
        float got = float_at(c.bytes_of(c.p.out.o), static_cast<size_t>(n * 16 + d));
        worst = std::max(worst, std::abs(got - mean));
      }
    }
    check(worst < 1e-6, "masked rows are the mean on %s # %.1e", level.c_str(), worst);
  }
}

// What a result in bf16 may differ by, from the float64 numbers: |error| <= 2^-8 |o| + 2^-7 R with
// R = sqrt(sum of p^2 v^2). Levels that multiply pairs of bf16 values do so for these calls only,
// and round p to bf16.
void bf16_results(int64_t group, int64_t keys, int64_t dim) {
  Case c;
  c.base(1, group, 1, 1, keys, dim, dim, BF16);
  c.p.out.o = c.bsnd(BF16, 1, 1, group, dim);
  c.p.out.lse = c.p.out.max = c.p.out.sum = {};
  auto element = [&](const pyaclnnEngineView &view, int64_t index) {
    uint16_t half;
    std::memcpy(&half, c.bytes_of(view).data() + index * 2, 2);
    return double(pyaclnn::bfloat16_to_float(half));
  };
  std::vector<double> expected, bound;
  for (int64_t h = 0; h < group; ++h) {
    std::vector<double> p;
    double total = 0;
    for (int64_t s = 0; s < keys; ++s) {
      double score = 0;
      for (int64_t d = 0; d < dim; ++d) {
        score += element(c.p.q, h * dim + d) * element(c.p.cache.k, s * dim + d);
      }
      p.push_back(std::exp(score * double(c.p.score.scale)));
      total += p.back();
    }
    for (int64_t d = 0; d < dim; ++d) {
      double o = 0, squares = 0;
      for (int64_t s = 0; s < keys; ++s) {
        double part = p[static_cast<size_t>(s)] / total * element(c.p.cache.v, s * dim + d);
        o += part;
        squares += part * part;
      }
      expected.push_back(o);
      bound.push_back(std::abs(o) / 256 + std::sqrt(squares) / 128);
    }
  }
  for (const std::string &level : levels()) {
    pyaclnnSetIsa(level.c_str());
    int32_t status = c.run();
    double worst = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      double got = element(c.p.out.o, static_cast<int64_t>(i));
      worst = std::max(worst, std::abs(got - expected[i]) / bound[i]);
    }
    check(status == 0 && worst <= 1, "bf16, %d heads, %d keys, D %d on %s # %.2f of the bound",
          int(group), int(keys), int(dim), level.c_str(), worst);
  }
}

// Literal numbers: query row -0.335824 ... of the plain IncreFlashAttention problem.
void literal_numbers() {
  Case c;
  c.base(2, 2, 2, 1, 5, 4, 4, F16);
  c.p.score.scale = 0.5f;
  c.p.cache.v = c.bsnd(F16, 2, 5, 2, 4);
  for (int64_t b = 0; b < 2; ++b) {
    for (int64_t n = 0; n < 2; ++n) {
      for (int64_t d = 0; d < 4; ++d) {
        c.put(c.p.q.buffer, F16, b * 8 + n * 4 + d,
              static_cast<float>((7 * b + 3 * n + 5 * d) % 11 - 5) / 8);
        for (int64_t s = 0; s < 5; ++s) {
          c.put(c.p.cache.k.buffer, F16, b * 40 + s * 8 + n * 4 + d,
                static_cast<float>((5 * b + 3 * n + 7 * s + 2 * d) % 13 - 6) / 8);
          c.put(c.p.cache.v.buffer, F16, b * 40 + s * 8 + n * 4 + d,
                static_cast<float>((3 * b + 11 * n + 5 * s + 7 * d) % 17 - 8) / 4);
        }
      }
    }
  }
  const float plain[] = {-0.335824f, -0.291058f, -0.246656f, -0.208420f, 0.745031f,  -0.187098f,
                         -0.004969f, -0.073816f, -0.476191f, 0.635613f,  -0.380718f, -0.114387f,
                         -0.112756f, -0.257402f, 0.688857f,  -0.264062f};
  for (const std::string &level : levels()) {
    pyaclnnSetIsa(level.c_str());
    c.run();
    double worst = 0;
    for (size_t i = 0; i < 16; ++i) {
      worst = std::max(worst, std::abs(double(float_at(c.bytes_of(c.p.out.o), i)) - plain[i]));
    }
    check(worst < 1.5e-6, "literal numbers on %s # %.1e", level.c_str(), worst);
  }
}

void refusals() {
  auto expect = [](const char *name, int32_t code, const std::function<void(Case &)> &change) {
    Case c;
    c.base(2, 4, 2, 1, 64, 16, 16, F16);
    c = paged(c, 16);
    c.p.mask = {PYACLNN_ENGINE_MASK_REPLACE,
                -1e12f,
                c.bsnd(U8, 2, 1, 1, 64),
                0,
                0,
                0,
                0,
                0,
                0,
                128,
                0,
                0,
                {}};
    c.p.mask.m.s = c.p.mask.m.h = 0;
    change(c);
    int32_t status = c.run();
    const char *recent = status != 0 ? aclGetRecentErrMsg() : nullptr;
    std::string text = recent != nullptr ? recent : "";
    std::replace(text.begin(), text.end(), '\n', ' ');
    check(status == code, "%s: returns %d # %d %s", name, code, status, text.c_str());
  };
  constexpr int32_t kBad = 100000, kFault = 507015;
  expect("unchanged", 0, [](Case &) {});
  expect("size", kBad, [](Case &c) { c.p.size -= 8; });
  expect("version", kBad, [](Case &c) { c.p.version = 2; });
  expect("heads", kBad, [](Case &c) { c.p.kvHeads = 3; });
  expect("buffer number", kBad, [](Case &c) { c.p.q.buffer = 100; });
  expect("type", kBad, [](Case &c) { c.p.q.type = U8; });
  expect("query outside", kBad, [](Case &c) { c.p.q.offset = 1; });
  expect("query before", kBad, [](Case &c) { c.p.q.offset = -1; });
  expect("key stride", kBad, [](Case &c) { c.p.cache.k.s += 1; });
  expect("overflowing stride", kBad, [](Case &c) { c.p.cache.k.b = INT64_MAX; });
  expect("output outside", kBad, [](Case &c) { c.p.out.o.h += 1; });
  expect("short table", kBad, [](Case &c) { c.p.cache.tableStride = 5; });
  expect("mask outside", kBad, [](Case &c) { c.p.mask.count = 129; });
  expect("late mask index", kFault, [](Case &c) { c.p.mask.count = 127; });
  expect("block number", kFault, [](Case &c) { c.p.cache.blockCount = 3; });
  expect("length", kFault, [](Case &c) {
    c.p.kvLen.from = PYACLNN_ENGINE_LENGTHS_DEVICE;
    c.p.kvLen.type = PYACLNN_ENGINE_I32;
    c.p.kvLen.buffer = c.values<int32_t>({3, 65});
  });
  expect("layer", kFault, [](Case &c) {
    c.p.cache.layer = c.values<int32_t>({1});
    c.p.cache.layerCount = 1;
  });
}

}  // namespace

int main() {
  literal_numbers();
  masked_mean();
  for (int64_t group = 1; group <= 8; ++group) bf16_results(group, 120 + group, 59 + 9 * group);
  shapes();
  features();
  invariance();
  refusals();
  std::printf("1..%d\n", checks);
  return failures != 0;
}
