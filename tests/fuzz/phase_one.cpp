// Random first phases: valid calls with a few fields broken, from a printed seed. Whatever the
// arguments are, a call ends at once with a documented code, a refusal leaves its outputs alone,
// and what is accepted with memory behind it runs or reports a fault.
#include <acl/acl.h>
#include <aclnn/aclnn_base.h>
#include <aclnnop/aclnn_incre_flash_attention.h>
#include <aclnnop/aclnn_incre_flash_attention_v2.h>
#include <aclnnop/aclnn_incre_flash_attention_v3.h>
#include <aclnnop/aclnn_incre_flash_attention_v4.h>
#include <pyaclnn/debug.h>

#include <cinttypes>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <limits>
#include <string>
#include <vector>

#include "tap.hpp"

namespace {

constexpr double kLong = 5;  // seconds on the processor

uint64_t g_state;
uint64_t next() {
  uint64_t z = (g_state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
int64_t below(int64_t n) { return static_cast<int64_t>(next() % static_cast<uint64_t>(n)); }
bool chance(int percent) { return below(100) < percent; }
template <class T, size_t N>
T one_of(const T (&values)[N]) {
  return values[below(N)];
}

constexpr int64_t kMin = INT64_MIN, kMax = INT64_MAX;
int64_t extreme() {
  static const int64_t values[] = {kMin,
                                   kMin + 1,
                                   -(int64_t{1} << 33),
                                   INT32_MIN,
                                   -2,
                                   -1,
                                   0,
                                   1,
                                   2,
                                   3,
                                   5,
                                   16,
                                   17,
                                   255,
                                   256,
                                   257,
                                   512,
                                   513,
                                   65535,
                                   65536,
                                   65537,
                                   INT32_MAX,
                                   int64_t{1} << 31,
                                   UINT32_MAX,
                                   int64_t{1} << 32,
                                   (int64_t{1} << 32) + 2,
                                   int64_t{1} << 40,
                                   int64_t{1} << 58,
                                   (int64_t{1} << 59) - 1,
                                   int64_t{1} << 61,
                                   int64_t{1} << 62,
                                   kMax - 1,
                                   kMax};
  return chance(10) ? static_cast<int64_t>(next()) : one_of(values);
}

struct Spec {
  bool given = false;
  std::vector<int64_t> dims, strides, storage;
  bool own_strides = false;
  int64_t offset = 0;
  int dtype = ACL_FLOAT16, format = ACL_FORMAT_ND;
  aclTensor *handle = nullptr;
  void *data = nullptr;     // malloc'ed, exactly what the view needs
  void *address = nullptr;  // what the tensor got
  bool honest = true;
};

size_t element_size(int dtype) {
  size_t size = aclDataTypeSize(static_cast<aclDataType>(dtype));
  return size == 0 ? 1 : size;
}

// The elements a view reaches (written: contiguously). False: too many, or before the start.
bool reach(const Spec &s, bool written, int64_t *elements) {
  __int128 low = s.offset, high = s.offset, count = 1;
  for (int64_t d : s.dims) {
    if (d < 0) return false;
    if (d == 0) count = 0;
  }
  if (count == 0) {
    *elements = 0;
    return true;
  }
  __int128 step = 1;
  for (size_t i = s.dims.size(); i-- > 0;) {
    if (s.dims[i] > (1 << 24)) return false;
    __int128 stride = s.own_strides && !written ? static_cast<__int128>(s.strides[i]) : step;
    __int128 r = stride * (s.dims[i] - 1);
    (r < 0 ? low : high) += r;
    step *= s.dims[i];
    if (step > (1 << 24)) return false;
  }
  if (low < 0 || high >= (1 << 22)) return false;
  *elements = static_cast<int64_t>(high) + 1;
  return true;
}

struct Call {
  int version = 4;
  Spec query, pse, mask, dq1, q1, dq2, q2, qo2, as, ao, table, padding, out;
  std::vector<Spec> key, value;
  bool key_given = true, value_given = true;
  bool lengths_given = false;
  std::vector<int64_t> lengths;
  int64_t heads = 4, kv_heads = 2, block = 0, inner = 1;
  double scale = 0.25;
  std::string layout = "BNSD";
  bool layout_given = true, size_given = true, executor_given = true;
  std::vector<Spec *> tensors() {
    std::vector<Spec *> all = {&query, &pse, &mask, &dq1,   &q1,      &dq2, &q2,
                               &qo2,   &as,  &ao,   &table, &padding, &out};
    for (Spec &s : key) all.push_back(&s);
    for (Spec &s : value) all.push_back(&s);
    return all;
  }
};

Spec tensor(std::vector<int64_t> dims, int dtype = ACL_FLOAT16) {
  Spec s;
  s.given = true;
  s.dims = dims;
  s.storage = std::move(dims);
  s.dtype = dtype;
  return s;
}

// A valid call.
Call sound() {
  Call c;
  static const int64_t batches[] = {1, 2, 3};
  static const int64_t groups[] = {1, 2, 4};
  static const int64_t sizes[] = {1, 8, 16, 17, 32};
  static const int64_t lengths[] = {1, 5, 16, 32, 40};
  const int64_t b = one_of(batches), kv = 1 + below(2), n = kv * one_of(groups);
  const int64_t d = one_of(sizes), s = one_of(lengths);
  const int type = chance(30) ? ACL_BF16 : ACL_FLOAT16;
  c.version = static_cast<int>(1 + below(4));
  const bool int8_cache = c.version >= 3 && chance(25);
  const bool int8_out = c.version >= 2 && chance(25);
  const bool paged = c.version >= 3 && chance(30);
  const int cache_type = int8_cache ? ACL_INT8 : type;
  c.heads = n;
  c.kv_heads = kv == n && chance(50) ? 0 : kv;
  static const char *const layouts[] = {"BSH", "BSND", "BNSD"};
  c.layout = one_of(layouts);
  auto shape = [&](int64_t batch, int64_t heads, int64_t rows) -> std::vector<int64_t> {
    if (c.layout == "BSH") return {batch, rows, heads * d};
    if (c.layout == "BSND") return {batch, rows, heads, d};
    return {batch, heads, rows, d};
  };
  c.query = tensor(shape(b, n, 1), type);
  c.out = tensor(shape(b, n, 1), int8_out ? ACL_INT8 : type);
  int64_t longest = s;
  if (paged) {
    c.block = int8_cache ? 32 : 16;
    const int64_t m = 1 + below(3), blocks = b * m;
    longest = m * c.block;
    std::vector<int64_t> cache = {blocks, c.block, kv * d};
    if (c.layout == "BNSD" && chance(50)) cache = {blocks, kv, c.block, d};
    c.key.push_back(tensor(cache, cache_type));
    c.value.push_back(tensor(cache, cache_type));
    c.table = tensor({b, m}, ACL_INT32);
  } else if (b > 1 && chance(30)) {
    for (int64_t i = 0; i < b; ++i) {
      const int64_t rows = i == 0 ? s : 1 + below(s);
      c.key.push_back(tensor(shape(1, kv, rows), cache_type));
      c.value.push_back(tensor(shape(1, kv, rows), cache_type));
    }
  } else {
    c.key.push_back(tensor(shape(b, kv, s), cache_type));
    c.value.push_back(tensor(shape(b, kv, s), cache_type));
  }
  if (paged || chance(40)) {
    c.lengths_given = true;
    for (int64_t i = 0; i < b; ++i) c.lengths.push_back(below(longest + 1));
    if (c.key.size() > 1) c.lengths.assign(static_cast<size_t>(b), 1);
  }
  if (chance(30)) c.mask = tensor({b, longest}, ACL_BOOL);
  if (c.version >= 3 && chance(20)) c.pse = tensor({chance(50) ? 1 : b, n, 1, longest}, type);
  if (int8_cache) {
    c.as = chance(50) ? tensor({2}, type) : tensor({2, kv * d}, type);
    if (chance(50)) {
      c.ao = c.as;
    }
  }
  if (int8_out) {
    c.q2 = chance(50) ? tensor({1}, ACL_FLOAT) : tensor({n, d}, ACL_FLOAT);
    if (chance(50)) c.qo2 = c.q2;
  }
  if (c.version == 4 && chance(30)) c.padding = tensor({1}, ACL_INT64);
  return c;
}

void break_tensor(Spec &s) {
  switch (below(12)) {
    case 0:
      if (!s.dims.empty())
        s.dims[static_cast<size_t>(below(static_cast<int64_t>(s.dims.size())))] = extreme();
      break;
    case 1: {
      s.dims.resize(static_cast<size_t>(below(26)), 1);
      break;
    }
    case 2:
      for (int64_t &d : s.dims) d = extreme();
      break;
    case 3:
      s.own_strides = true;
      s.strides.clear();
      for (size_t i = 0; i < s.dims.size(); ++i)
        s.strides.push_back(chance(50) ? extreme() : below(5));
      break;
    case 4: s.offset = chance(50) ? extreme() : below(9) - 2; break;
    case 5: s.storage.clear(); break;
    case 6:
      s.storage.resize(static_cast<size_t>(below(26)), 1);
      for (int64_t &d : s.storage) d = chance(60) ? 1 + below(64) : extreme();
      break;
    case 7: s.dtype = static_cast<int>(chance(80) ? below(36) : extreme()); break;
    case 8: s.format = static_cast<int>(chance(80) ? below(40) - 2 : extreme()); break;
    case 9: {  // transposed or padded strides that stay inside
      int64_t step = 1 + below(3);
      s.own_strides = true;
      s.strides.assign(s.dims.size(), 1);
      for (size_t i = s.dims.size(); i-- > 0;) {
        s.strides[i] = step;
        step = step * (s.dims[i] > 0 && s.dims[i] < 100 ? s.dims[i] : 1) + below(3);
      }
      s.storage = {step + 1000};
      break;
    }
    case 10: s.given = false; break;
    default:  // dimensions that carry nothing may have any stride
      s.own_strides = true;
      s.strides.assign(s.dims.size(), 0);
      {
        int64_t step = 1;
        for (size_t i = s.dims.size(); i-- > 0;) {
          s.strides[i] = s.dims[i] == 1 ? extreme() : step;
          step *= s.dims[i] > 0 && s.dims[i] < 4096 ? s.dims[i] : 1;
        }
      }
  }
}

void break_call(Call &c) {
  switch (below(14)) {
    case 0: c.heads = extreme(); break;
    case 1: c.kv_heads = extreme(); break;
    case 2: c.block = extreme(); break;
    case 3: c.inner = extreme(); break;
    case 4: {
      static const double values[] = {0.0,
                                      -1.0,
                                      1e308,
                                      -1e-320,
                                      std::numeric_limits<double>::infinity(),
                                      -std::numeric_limits<double>::infinity(),
                                      std::numeric_limits<double>::quiet_NaN()};
      c.scale = one_of(values);
      break;
    }
    case 5: {
      static const char *const texts[] = {"",    "B",    "BSHX", "bsh", "BNSD_NBSD",
                                          "TND", "BSND", "BNSD", "BSH"};
      c.layout = chance(10) ? std::string(static_cast<size_t>(below(100000)), 'B') : one_of(texts);
      break;
    }
    case 6: c.layout_given = !c.layout_given; break;
    case 7:
      c.lengths_given = true;
      c.lengths.resize(static_cast<size_t>(below(6)));
      for (int64_t &v : c.lengths) v = chance(50) ? extreme() : below(40);
      break;
    case 8: {
      std::vector<Spec> &list = chance(50) ? c.key : c.value;
      if (chance(50) && !list.empty())
        list.pop_back();
      else
        list.resize(list.size() + static_cast<size_t>(chance(10) ? 300 : 1),
                    list.empty() ? Spec() : list[0]);
      break;
    }
    case 9: {
      static const int which[] = {0, 1, 2, 3};
      switch (one_of(which)) {
        case 0: c.key_given = false; break;
        case 1: c.value_given = false; break;
        case 2: c.size_given = false; break;
        default: c.executor_given = false;
      }
      break;
    }
    default: {
      auto all = c.tensors();
      Spec *s = all[static_cast<size_t>(below(static_cast<int64_t>(all.size())))];
      if (!s->given)
        *s = tensor(std::vector<int64_t>(static_cast<size_t>(below(6)), 1 + below(3)),
                    static_cast<int>(below(13)));
      break_tensor(*s);
    }
  }
}

// A value that is no live handle of the wanted kind.
void *forged(const std::vector<void *> &dead) {
  switch (below(4)) {
    case 0: return reinterpret_cast<void *>(next());
    case 1: return reinterpret_cast<void *>(static_cast<uintptr_t>(below(70000)));
    case 2:
      return dead.empty() ? nullptr
                          : dead[static_cast<size_t>(below(static_cast<int64_t>(dead.size())))];
    default: {
      static int64_t stack = 0;
      return &stack;
    }
  }
}

struct Totals {
  int64_t accepted = 0, ran = 0, faults = 0, refused = 0;
  int failures = 0;
};

// Seconds on the processor, of this thread or of all: other processes do not count.
double now(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void complain(Totals &t, uint64_t seed, const char *what, int64_t a = 0, int64_t b = 0) {
  if (++t.failures <= 10) {
    tap::ok(false, "random call", "seed %llu: %s (%lld, %lld) %s",
            static_cast<unsigned long long>(seed), what, static_cast<long long>(a),
            static_cast<long long>(b), aclGetRecentErrMsg());
  }
}

void once(uint64_t seed, Totals &t, std::vector<void *> &dead) {
  g_state = seed;
  Call c = sound();
  const int64_t breaks = below(4);
  for (int64_t i = 0; i < breaks; ++i) break_call(c);
  const bool with_forged = chance(10);

  bool honest = true;
  for (Spec *s : c.tensors()) {
    if (!s->given) continue;
    if (s->own_strides) s->strides.resize(s->dims.size(), 1);
    int64_t elements = 0;
    if (!reach(*s, s == &c.out, &elements)) {
      s->honest = false;
      s->address = nullptr;
    } else {
      size_t bytes = static_cast<size_t>(elements) * element_size(s->dtype);
      s->data = std::malloc(bytes == 0 ? 1 : bytes);
      std::memset(s->data, chance(90) ? 0 : static_cast<int>(below(256)), bytes == 0 ? 1 : bytes);
      s->address = chance(3) ? nullptr : s->data;
    }
    s->handle = aclCreateTensor(s->dims.data(), s->dims.size(), static_cast<aclDataType>(s->dtype),
                                s->own_strides ? s->strides.data() : nullptr, s->offset,
                                static_cast<aclFormat>(s->format), s->storage.data(),
                                s->storage.size(), s->address);
    if (s->handle == nullptr) complain(t, seed, "aclCreateTensor answered NULL");
    honest = honest && s->honest;
  }
  if (c.padding.given && c.padding.data != nullptr && c.padding.dims.size() == 1 &&
      c.padding.dtype == ACL_INT64 && c.padding.dims[0] > 0 && c.padding.offset == 0) {
    int64_t pad = chance(50) ? below(8) : extreme();
    std::memcpy(c.padding.data, &pad, 8);
  }
  auto list_of = [&](std::vector<Spec> &specs) {
    std::vector<aclTensor *> members;
    for (Spec &s : specs) members.push_back(s.handle);
    if (with_forged && chance(30) && !members.empty())
      members[0] = static_cast<aclTensor *>(forged(dead));
    return aclCreateTensorList(members.data(), members.size());
  };
  aclTensorList *keys = c.key_given ? list_of(c.key) : nullptr;
  aclTensorList *values = c.value_given ? list_of(c.value) : nullptr;
  aclIntArray *lengths =
      c.lengths_given ? aclCreateIntArray(c.lengths.data(), c.lengths.size()) : nullptr;

  auto *layout = static_cast<char *>(std::malloc(c.layout.size() + 1));  // exactly, for asan
  std::memcpy(layout, c.layout.c_str(), c.layout.size() + 1);
  uint64_t size = 0x1234567812345678u;
  auto *const untouched = reinterpret_cast<aclOpExecutor *>(uintptr_t{0xabcdef});
  aclOpExecutor *executor = untouched;
  auto h = [&](Spec &s) {
    return with_forged && chance(15) ? static_cast<aclTensor *>(forged(dead)) : s.handle;
  };
  aclTensor *q = h(c.query), *pse = h(c.pse), *mask = h(c.mask), *dq1 = h(c.dq1), *q1 = h(c.q1),
            *dq2 = h(c.dq2), *q2 = h(c.q2), *qo2 = h(c.qo2), *as = h(c.as), *ao = h(c.ao),
            *table = h(c.table), *padding = h(c.padding), *out = h(c.out);
  aclTensorList *k = with_forged && chance(15) ? static_cast<aclTensorList *>(forged(dead)) : keys;
  aclTensorList *v = with_forged && chance(15) ? reinterpret_cast<aclTensorList *>(q) : values;
  aclIntArray *len = with_forged && chance(15) ? reinterpret_cast<aclIntArray *>(keys) : lengths;
  char *text = c.layout_given ? layout : nullptr;
  uint64_t *size_at = c.size_given ? &size : nullptr;
  aclOpExecutor **executor_at = c.executor_given ? &executor : nullptr;

  double start = now(CLOCK_THREAD_CPUTIME_ID);
  int code = 0;
  switch (c.version) {
    case 1:
      code = aclnnIncreFlashAttentionGetWorkspaceSize(q, k, v, pse, mask, len, c.heads, c.scale,
                                                      text, c.kv_heads, out, size_at, executor_at);
      break;
    case 2:
      code = aclnnIncreFlashAttentionV2GetWorkspaceSize(q, k, v, pse, mask, len, dq1, q1, dq2, q2,
                                                        qo2, c.heads, c.scale, text, c.kv_heads,
                                                        out, size_at, executor_at);
      break;
    case 3:
      code = aclnnIncreFlashAttentionV3GetWorkspaceSize(
          q, k, v, pse, mask, len, dq1, q1, dq2, q2, qo2, as, ao, table, c.heads, c.scale, text,
          c.kv_heads, c.block, c.inner, out, size_at, executor_at);
      break;
    default:
      code = aclnnIncreFlashAttentionV4GetWorkspaceSize(
          q, k, v, pse, mask, len, dq1, q1, dq2, q2, qo2, as, ao, table, padding, c.heads, c.scale,
          text, c.kv_heads, c.block, c.inner, out, size_at, executor_at);
  }
  double took = now(CLOCK_THREAD_CPUTIME_ID) - start;
  if (took > kLong)
    complain(t, seed, "the first phase took long", static_cast<int64_t>(took * 1000));
  if (code != 0) {
    ++t.refused;
    if (code != 161001 && code != 161002 && code != 561002) complain(t, seed, "odd code", code);
    if (size != 0x1234567812345678u || executor != untouched) {
      complain(t, seed, "a refusal touched an output", code);
    }
    if (aclGetRecentErrMsg() == nullptr) complain(t, seed, "a refusal without a text", code);
    // The structured reason must be printable, too.
    static char json[1 << 16];
    pyaclnnExplain(json, sizeof json);
  } else {
    ++t.accepted;
    if (!c.size_given || !c.executor_given) complain(t, seed, "accepted without an output");
    if (honest && size <= (1u << 26)) {
      void *workspace = size != 0 ? std::malloc(size) : nullptr;
      start = now(CLOCK_PROCESS_CPUTIME_ID);
      code = aclnnIncreFlashAttentionV4(workspace, size, executor, nullptr);
      int synchronised = aclrtSynchronizeStream(nullptr);
      took = now(CLOCK_PROCESS_CPUTIME_ID) - start;
      if (code != 0) complain(t, seed, "the second phase refused", code);
      if (synchronised == 507015)
        ++t.faults;
      else if (synchronised != 0)
        complain(t, seed, "odd code of synchronise", synchronised);
      else
        ++t.ran;
      if (took > kLong)
        complain(t, seed, "the second phase took long", static_cast<int64_t>(took * 1000));
      std::free(workspace);
      aclGetRecentErrMsg();
    } else if (executor != untouched) {
      if (aclDestroyAclOpExecutor(executor) != 0) complain(t, seed, "executor not destroyed");
    }
  }
  for (Spec *s : c.tensors()) {
    if (s->handle != nullptr) {
      dead.push_back(s->handle);
      aclDestroyTensor(s->handle);
    }
    std::free(s->data);
  }
  if (keys != nullptr) aclDestroyTensorList(keys);
  if (values != nullptr) aclDestroyTensorList(values);
  if (lengths != nullptr) aclDestroyIntArray(lengths);
  if (dead.size() > 64) dead.erase(dead.begin(), dead.begin() + 32);
  std::free(layout);
}

}  // namespace

// phase_one SEED COUNT [trace]
int main(int argc, char **argv) {
  const uint64_t first = argc > 1 ? std::strtoull(argv[1], nullptr, 0) : 1;
  const int64_t count = argc > 2 ? std::atoll(argv[2]) : 2000;
  std::printf("# seed %" PRIu64 ", %" PRId64 " calls\n", first, count);
  aclInit(nullptr);
  aclrtSetDevice(0);
  Totals t;
  std::vector<void *> dead;
  for (uint64_t seed = first; seed != first + static_cast<uint64_t>(count); ++seed) {
    if (argc > 3) std::fprintf(stderr, "seed %" PRIu64 "\n", seed);
    once(seed, t, dead);
  }
  tap::equal(t.failures, 0, "random calls");
  std::printf("# refused %" PRId64 ", accepted %" PRId64 ", ran %" PRId64 ", faults %" PRId64 "\n",
              t.refused, t.accepted, t.ran, t.faults);
  tap::ok(t.ran > count / 20 && t.refused > count / 20 && t.faults > 0, "all outcomes are there");
  for (const char *kind : {"tensor", "executor"}) {
    tap::equal(pyaclnnLiveCount(kind), 0, "nothing is left alive");
  }
  aclFinalize();
  return tap::done();
}
