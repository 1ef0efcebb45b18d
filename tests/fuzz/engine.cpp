// Random engine problems: a sound struct with a few words overwritten. Every pointer holds what its
// count says, so whatever the words are, the call answers a documented code and touches nothing
// outside the buffers (which the address sanitizer watches).
#include <pyaclnn/debug.h>
#include <pyaclnn/engine.h>

#include <acl/acl.h>

#include <cinttypes>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include "tap.hpp"

namespace {

uint64_t g_state;
uint64_t next() {
  uint64_t z = (g_state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
int64_t below(int64_t n) { return static_cast<int64_t>(next() % static_cast<uint64_t>(n)); }
bool chance(int percent) { return below(100) < percent; }
// Seconds on the processor, of all threads: other processes do not count.
double now() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

constexpr double kLong = 5;

using P = pyaclnnEngineProblem;
constexpr int kBuffers = 12;
constexpr int64_t kBytes[kBuffers] = {4096, 4096, 4096, 8192, 8192, 512, 512, 64, 1000, 333, 40, 4};

// Words that hold pointers or say how much is behind one.
bool guarded(size_t at) {
  static const size_t fields[] = {offsetof(P, buffers), offsetof(P, bufferCount),
#define INTS(x) offsetof(P, x.data), offsetof(P, x.count)
                                  INTS(qLen.host),      INTS(kvLen.host),         INTS(qBegin.host),
                                  INTS(kvBegin.host),   INTS(visible.prefix),     INTS(cache.kList),
                                  INTS(cache.vList)
#undef INTS
  };
  for (size_t f : fields) {
    if (at + 4 > f && at < f + 8) return true;
  }
  return false;
}

pyaclnnEngineView view(int buffer, int type, int64_t b, int64_t s, int64_t h, int64_t d) {
  return {buffer, type, b, s, h, d, 0};
}

struct Storage {
  pyaclnnEngineBuffer buffers[kBuffers];
  int64_t ints[5][16];
  pyaclnnEngineView lists[2][8];
};

void sound(P &p, Storage &s) {
  std::memset(&p, 0, sizeof p);
  p.size = sizeof p;
  p.version = PYACLNN_ENGINE_VERSION;
  p.buffers = s.buffers;
  p.bufferCount = kBuffers;
  p.batch = 1 + below(3);
  p.kvHeads = 1 + below(2);
  p.heads = p.kvHeads * (1 + below(2));
  p.headDim = p.headDimV = 1 + below(17);
  p.queryMax = 1 + below(3);
  p.keyMax = below(20);
  const int64_t row = p.heads * p.headDim, kvrow = p.kvHeads * p.headDim;
  const int type = static_cast<int>(1 + below(3)), kvtype = static_cast<int>(1 + below(4));
  p.q = view(1, type, p.queryMax * row, row, p.headDim, 1);
  p.cache.k = view(4, kvtype, p.keyMax * kvrow, kvrow, p.headDim, 1);
  p.cache.v = view(5, kvtype, p.keyMax * kvrow, kvrow, p.headDim, 1);
  p.out.o = view(2, static_cast<int>(1 + below(3)), p.queryMax * row, row, p.headDim, 1);
  p.qLen.bound = p.queryMax;
  p.kvLen.bound = p.keyMax;
  p.score.scale = 0.5f;
  p.score.preScaleQ = 1;
  if (chance(30)) p.visible.causal = 1;
  if (chance(20)) {
    p.visible.band = 1;
    p.visible.pre = below(30) - 5;
    p.visible.next = below(30) - 5;
  }
  if (chance(20)) {
    p.kvLen.from = PYACLNN_ENGINE_LENGTHS_HOST;
    p.kvLen.host = {s.ints[0], p.batch};
    for (int i = 0; i < 16; ++i) s.ints[0][i] = below(p.keyMax + 1);
  }
  if (chance(20)) {
    p.kvLen.from = PYACLNN_ENGINE_LENGTHS_DEVICE;
    p.kvLen.buffer = 8;
    p.kvLen.type = PYACLNN_ENGINE_I64;
  }
  if (chance(25)) {
    p.mask.how = static_cast<int>(1 + below(3));
    p.mask.m = view(6, p.mask.how == 1 ? PYACLNN_ENGINE_U8 : PYACLNN_ENGINE_F16, 0, 20, 0, 1);
    p.mask.value = -1e12f;
    if (chance(30)) {
      p.mask.tile = static_cast<int>(1 + below(8));
      p.mask.tileForm = static_cast<int>(below(3));
      if (p.mask.how != 1 && p.mask.tileForm == PYACLNN_ENGINE_TILE_LOWER) {
        p.mask.grow = static_cast<int>(below(4));
        p.mask.slopes = view(8, PYACLNN_ENGINE_F32, 0, 0, 1, 0);
      }
    }
    if (chance(20)) {
      p.mask.fractal = 16;
      p.mask.m.d = 16 * 20;
    }
  }
  if (chance(20)) p.bias.pse = view(7, PYACLNN_ENGINE_F32, 0, 20, 0, 1);
  if (chance(15)) {
    p.bias.alibi = static_cast<int>(1 + below(5));
    p.bias.slopes = view(8, PYACLNN_ENGINE_F32, 0, 0, 1, 0);
  }
  if (chance(25)) {
    p.cache.form = PYACLNN_ENGINE_CACHE_PAGED;
    p.cache.blockSize = static_cast<int>(1 + below(8));
    p.cache.blockCount = 4;
    p.cache.table = 8;
    p.cache.tableStride = 4;
    p.cache.k.b = p.cache.v.b = p.cache.blockSize * kvrow;
    p.cache.perHead = chance(20) ? 1 : 0;
    if (chance(30)) {
      p.cache.ring = 1;
      p.cache.window = 1 + below(16);
    }
  } else if (chance(20)) {
    p.cache.form = PYACLNN_ENGINE_CACHE_LIST;
    for (int i = 0; i < 8; ++i) {
      s.lists[0][i] = p.cache.k;
      s.lists[1][i] = p.cache.v;
      s.lists[1][i].b = s.lists[0][i].b = 0;
    }
    p.cache.kList = {s.lists[0], p.batch + below(3)};
    p.cache.vList = {s.lists[1], p.batch + below(3)};
    p.cache.k.type = p.cache.v.type = 0;
  }
  if (chance(15)) p.cache.fractal = 16;
  if (chance(15)) {
    p.ropeDim = 1 + below(9);
    p.qRope = view(3, type, 60, 20, 10, 1);
    p.kRope = view(9, type, 60, 20, 10, 1);
  }
  if (chance(15)) {
    p.prefixLen = 1 + below(10);
    p.kPrefix = p.cache.k;
    p.vPrefix = p.cache.v;
  }
  if (kvtype == PYACLNN_ENGINE_I8 && chance(70)) {
    p.quant.k = static_cast<int>(below(8));
    p.quant.v = static_cast<int>(below(8));
    p.quant.kScale = view(6, PYACLNN_ENGINE_F16, 4, 1, 2, 1);
    p.quant.vScale = view(6, PYACLNN_ENGINE_F16, 4, 1, 2, 1);
    if (chance(50)) p.quant.scores = static_cast<int>(below(4));
    if (chance(50)) p.quant.pScale = view(8, PYACLNN_ENGINE_F32, 0, 0, 1, 0);
  }
  if (chance(25)) {
    p.out.post = static_cast<int>(1 + below(3));
    p.out.o.type = PYACLNN_ENGINE_I8;
    p.out.scale = view(6, PYACLNN_ENGINE_F32, 0, 0, 17, 1);
  }
  if (chance(20)) p.out.lse = view(9, PYACLNN_ENGINE_F32, 12, 4, 1, 0);
  if (chance(20)) p.out.max = view(10, PYACLNN_ENGINE_F32, 12, 4, 1, 0);
  if (chance(15)) {
    p.kvBegin.from = PYACLNN_ENGINE_BEGIN_RIGHT_ALIGNED;
    p.kvBegin.extent = p.keyMax + below(3);
    p.kvBegin.padding = 8;
  }
  if (chance(10)) {
    p.qBegin.from = PYACLNN_ENGINE_BEGIN_HOST;
    p.qBegin.host = {s.ints[1], 16};
    for (int i = 0; i < 16; ++i) s.ints[1][i] = below(4);
  }
  if (chance(10)) {
    p.visible.prefix = {s.ints[2], 16};
    for (int i = 0; i < 16; ++i)
      s.ints[2][i] = chance(50) ? below(30) : static_cast<int64_t>(next());
  }
  if (chance(10)) p.run = 8;
  if (chance(10)) {
    p.cache.layer = 12;
    p.cache.layerCount = 1 + below(3);
    p.cache.layerStride = p.cache.layerStrideV = below(100);
  }
  if (chance(15)) p.out.rows = 1 + below(6);
  p.empty.noKeys = static_cast<int>(below(2));
  p.empty.allMasked = static_cast<int>(below(4));
  p.empty.outside = static_cast<int>(below(2));
}

// Outputs over what is read late: the header forbids it, and nobody checks it.
bool overlaps(const P &p) {
  const int32_t late[] = {p.qLen.buffer, p.kvLen.buffer, p.qBegin.padding, p.kvBegin.padding,
                          p.run,         p.cache.table,  p.cache.layer};
  for (const pyaclnnEngineView *v : {&p.out.o, &p.out.lse, &p.out.max, &p.out.sum}) {
    for (int32_t buffer : late) {
      if (v->type != 0 && v->buffer == buffer && buffer != 0) return true;
    }
  }
  return false;
}

int64_t extreme() {
  static const int64_t values[] = {INT64_MIN,
                                   INT64_MIN + 1,
                                   INT64_MAX,
                                   INT64_MAX - 1,
                                   -1,
                                   -2,
                                   0,
                                   1,
                                   2,
                                   3,
                                   7,
                                   8,
                                   16,
                                   31,
                                   32,
                                   100,
                                   128,
                                   1000,
                                   1 << 14,
                                   (1 << 14) + 1,
                                   1 << 16,
                                   1 << 20,
                                   1 << 28,
                                   INT32_MAX,
                                   INT32_MIN,
                                   int64_t{1} << 32,
                                   int64_t{1} << 40,
                                   int64_t{1} << 60,
                                   int64_t{1} << 62};
  return chance(10) ? static_cast<int64_t>(next()) : values[below(sizeof values / sizeof *values)];
}

// Random contents; small numbers where lengths, tables and layers are read.
void fill(Storage &s) {
  for (int b = 0; b < kBuffers; ++b) {
    auto *bytes = static_cast<unsigned char *>(s.buffers[b].data);
    const bool small = b == 7 || b == 11 || chance(50);
    const int64_t width = b == 7 && chance(50) ? 8 : 4;
    const uint64_t mask = !small ? 255 : chance(90) ? 3 : 255;
    for (int64_t k = 0; k < kBytes[b]; ++k) {
      bytes[k] = small && k % width != 0 ? 0 : static_cast<unsigned char>(next() & mask);
    }
  }
}

void break_words(P &p) {
  for (int64_t left = chance(30) ? 0 : 1 + below(3); left > 0; --left) {
    const bool wide = chance(60);
    size_t at = static_cast<size_t>(below(sizeof p / 4)) * 4;
    if (wide) at = at / 8 * 8;
    if (at < 8 || guarded(at) || (wide && guarded(at + 4))) continue;
    const int64_t value = extreme();
    std::memcpy(reinterpret_cast<char *>(&p) + at, &value, wide ? 8 : 4);
  }
}

// The log-sum-exps go where the key length was read: at most the outputs may be odd.
void overlapping() {
  std::vector<float> q(16, 1.0f), k(64, 1.0f), v(64, 1.0f), o(16);
  int64_t length = 4;
  const pyaclnnEngineBuffer buffers[] = {
      {q.data(), 64}, {k.data(), 256}, {v.data(), 256}, {o.data(), 64}, {&length, 8}};
  P p;
  std::memset(&p, 0, sizeof p);
  p.size = sizeof p;
  p.version = PYACLNN_ENGINE_VERSION;
  p.buffers = buffers;
  p.bufferCount = 5;
  p.batch = 1;
  p.heads = p.kvHeads = 2;
  p.headDim = p.headDimV = 8;
  p.queryMax = p.qLen.bound = 1;
  p.keyMax = p.kvLen.bound = 4;
  p.q = view(1, PYACLNN_ENGINE_F32, 16, 16, 8, 1);
  p.cache.k = view(2, PYACLNN_ENGINE_F32, 64, 16, 8, 1);
  p.cache.v = view(3, PYACLNN_ENGINE_F32, 64, 16, 8, 1);
  p.out.o = view(4, PYACLNN_ENGINE_F32, 16, 16, 8, 1);
  p.out.lse = view(5, PYACLNN_ENGINE_F32, 2, 2, 1, 0);
  p.kvLen.from = PYACLNN_ENGINE_LENGTHS_DEVICE;
  p.kvLen.buffer = 5;
  p.kvLen.type = PYACLNN_ENGINE_I64;
  p.score.scale = p.score.preScaleQ = 1;
  const int code = pyaclnnEngineAttention(&p);
  tap::ok(code == 0 || code == 100000, "an output over the lengths", "code %d", code);
}

}  // namespace

// engine overlap | engine SEED COUNT [trace]
int main(int argc, char **argv) {
  if (argc > 1 && std::strcmp(argv[1], "overlap") == 0) {
    overlapping();
    return tap::done();
  }
  const uint64_t first = argc > 1 ? std::strtoull(argv[1], nullptr, 0) : 1;
  const int64_t count = argc > 2 ? std::atoll(argv[2]) : 2000;
  std::printf("# seed %" PRIu64 ", %" PRId64 " problems\n", first, count);
  static Storage s;
  for (int i = 0; i < kBuffers; ++i) {
    s.buffers[i] = {std::malloc(static_cast<size_t>(kBytes[i])), kBytes[i]};
  }
  int64_t taken = 0, refused = 0, faults = 0;
  int failures = 0;
  for (uint64_t seed = first; seed != first + static_cast<uint64_t>(count); ++seed) {
    g_state = seed;
    P p;
    sound(p, s);
    fill(s);
    break_words(p);
    if (overlaps(p)) continue;
    if (argc > 3) std::fprintf(stderr, "seed %" PRIu64 "\n", seed);
    const double before = now();
    const int code = pyaclnnEngineAttention(&p);
    const double took = now() - before;
    const char *text = code != 0 ? aclGetRecentErrMsg() : "";
    taken += code == 0;
    refused += code == 100000;
    faults += code == 507015;
    const char *what = nullptr;
    if (code != 0 && code != 100000 && code != 507015 && code != 207000) what = "odd code";
    if (text == nullptr) what = "no text";
    if (took > kLong) what = "took long";
    if (what != nullptr && ++failures <= 10) {
      tap::ok(false, "problem", "seed %" PRIu64 ": %s, code %d after %.1f s: %s", seed, what, code,
              took, text != nullptr ? text : "");
    }
  }
  tap::equal(failures, 0, "random problems");
  std::printf("# %" PRId64 " taken, %" PRId64 " refused, %" PRId64 " faults\n", taken, refused,
              faults);
  tap::ok(taken > count / 20 && refused > count / 20 && faults > 0, "all outcomes are there");
  return tap::done();
}
