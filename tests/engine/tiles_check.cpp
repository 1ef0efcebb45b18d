// Checks the products of the level amx_bf16 on processors that need not have AMX: its text on a
// model of the tiles, and its object with the instructions trapped (or done, where the processor
// has them), against the level avx512_bf16 and float64. With an argument n only every n-th case.
#include <immintrin.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "tiles_model.hpp"
#include "tiles_trap.hpp"
#include "kernels/kernels.hpp"
#include "kernels/limits.hpp"
#include "tap.hpp"

namespace pyaclnn::kernels {
namespace {

#include "kernels/vec.hpp"
// The words of kernels/tiles_amx.hpp.
#define PYACLNN_TILES 1
void tiles_shape(const void *shapes) { tiles_model::configure(shapes); }
void tiles_release() { tiles_model::release(); }
template <int kTile>
void tile_zero() {
  tiles_model::zero(kTile);
}
template <int kTile>
void tile_load(const void *from, int64_t stride) {
  tiles_model::load(kTile, from, stride);
}
template <int kTile>
void tile_save(void *to, int64_t stride) {
  tiles_model::save(kTile, to, stride);
}
template <int kSums, int kRows, int kLanes>
void tile_dot() {
  tiles_model::dot(kSums, kRows, kLanes);
}
#include "kernels/block.inl.hpp"

struct Way {
  const char *name;
  PanelScores scores;
  PanelValues values;
  bool tiles;
};
const Way kWays[] = {
    {"avx512_bf16", panel_scores_of<PanelPairs, Element::BF16>,
     panel_values_of<PanelPairs, Element::BF16>, false},
    {"the model", panel_scores_pairs, panel_values_pairs, true},
    {"the object", pyaclnn_kernels_amx_bf16.panel_scores_pairs,
     pyaclnn_kernels_amx_bf16.panel_values_pairs, true},
};

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr uint16_t kHalfNan = 0x7fc0, kHalfInfinity = 0x7f80;

struct Random {
  uint64_t state;
  uint64_t next() {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
  }
  int32_t below(int32_t n) {
    return static_cast<int32_t>((next() >> 20) % static_cast<uint64_t>(n));
  }
  float uniform() { return static_cast<float>(next() >> 40) / 8388608.0f - 1.0f; }  // [-1, 1)
};

uint16_t half_of(float f) {
  uint32_t bits;
  std::memcpy(&bits, &f, 4);
  return static_cast<uint16_t>(bits >> 16);
}
float float_of(uint16_t half) { return bits_to_float(uint32_t{half} << 16); }
int32_t padded(int32_t n) { return (n + kLane - 1) / kLane * kLane; }
bool same_bits(float a, float b) { return std::memcmp(&a, &b, 4) == 0; }

// What rows see: query rows of some heads each, as in the engine.
enum Pattern { Whole, Causal, Window, Middle, Scattered, Few, Nothing, kPatterns };
std::vector<KeyRange> seen_of(Pattern pattern, int32_t rows, int32_t keys, Random &random) {
  const int32_t heads = 1 + random.below(5), queries = (rows + heads - 1) / heads;
  const int32_t width = 1 + random.below(keys), at = random.below(keys);
  std::vector<KeyRange> seen;
  for (int32_t row = 0; row < rows; ++row) {
    const int32_t query = row / heads;
    const int32_t last = std::clamp(keys - queries + query + 1, 0, keys);
    KeyRange one{0, keys};
    if (row % heads != 0) {
      one = seen.back();
    } else if (pattern == Causal) {
      one = {0, last};
    } else if (pattern == Window) {
      one = {std::max(0, last - width), last};
    } else if (pattern == Middle) {
      one = {at, std::min(keys, at + width)};
    } else if (pattern == Scattered || (pattern == Few && random.below(4) == 0)) {
      const int32_t first = random.below(keys);
      one = {first, first + random.below(keys - first + 1)};
    } else if (pattern == Few || pattern == Nothing) {
      const int32_t nowhere = random.below(keys + 1);
      one = {nowhere, nowhere};
    }
    seen.push_back(one);
  }
  return seen;
}

// Whole numbers, whose sums are exact; fractions; fractions with infinity and NaN among what some
// rows see (of scores).
enum Numbers { Exact, Fractions, Special, kNumbers };

struct Case {
  int32_t rows, keys, dim;
  Pattern pattern;
  Numbers numbers;
  bool listed, add;
  uint64_t seed;
  std::string text() const {
    char line[160];
    std::snprintf(line, sizeof line, "rows %d keys %d dim %d pattern %d numbers %d seed %llu", rows,
                  keys, dim, pattern, numbers, static_cast<unsigned long long>(seed));
    return line;
  }
};

// Groups of checks; a group remembers the first case that failed.
struct Group {
  int64_t compared = 0, wrong = 0;
  std::string first;
  void expect(bool good, const Case &c, const char *way, const char *what, int32_t row, int32_t at,
              double got, double wanted) {
    ++compared;
    if (good) return;
    if (wrong++ != 0) return;
    char line[200];
    std::snprintf(line, sizeof line, ", %s: %s at row %d, %d: %.9g, wanted %.9g", way, what, row,
                  at, got, wanted);
    first = c.text() + line;
  }
  void report(const char *name) const {
    tap::ok(compared > 0 && wrong == 0, name, "%lld of %lld, first %s",
            static_cast<long long>(wrong), static_cast<long long>(compared), first.c_str());
  }
};
Group scores_golden, values_golden, scores_same, values_same, alone, untouched, released;

uint16_t number(Numbers numbers, Random &random) {
  if (numbers == Exact) return half_of(static_cast<float>(random.below(17) - 8));
  if (numbers == Special && random.below(64) == 0) {
    return random.below(2) != 0 ? kHalfNan : kHalfInfinity;
  }
  return half_of(random.uniform());
}

// The longest way of a product to the result: each addition on it rounds once. 16 pairs of a tile,
// both of their sums, one sum a tile, and the join; or one product after the other and the join.
double roundings(bool tiles, int32_t pairs) {
  return tiles ? 16 + 1 + (pairs + 15) / 16 + 1 : 2 * pairs + 1;
}

void expect_golden(Group &group, const Case &c, const Way &way, int32_t pairs, int32_t row,
                   int32_t at, float got, double wanted, double size) {
  const double allowed =
      c.numbers == Exact ? 0 : roundings(way.tiles, pairs) * std::ldexp(1.0, -24) * size * 1.0001;
  const bool good = std::isfinite(wanted) ? std::fabs(got - wanted) <= allowed
                    : std::isnan(wanted)  ? std::isnan(got)
                                          : got == static_cast<float>(wanted);
  group.expect(good, c, way.name, "the sum", row, at, got, wanted);
}

// Rows of bf16 values that end with their memory; unaligned and apart if `listed`.
struct Stored16 {
  int32_t step;
  std::vector<uint16_t> memory;
  std::vector<const void *> at;
  Stored16(int32_t count, int32_t dim, bool listed)
      : step(dim + (listed ? 3 : 0)), memory(static_cast<size_t>((count - 1) * step + dim)) {
    if (!listed) return;
    for (int32_t j = 0; j < count + kLane; ++j) at.push_back(row(std::min(j, count - 1)));
  }
  uint16_t *row(int32_t j) { return memory.data() + static_cast<ptrdiff_t>(j) * step; }
  Rows rows() const {
    if (!at.empty()) return {nullptr, 0, at.data()};
    return {reinterpret_cast<const char *>(memory.data()), step * int64_t{2}, nullptr};
  }
};

// Whether a pair of keys lies between the first and the last one that any row sees.
bool pair_between(const std::vector<KeyRange> &seen, int32_t j) {
  const KeyRange any = union_of(seen.data(), static_cast<int32_t>(seen.size()));
  return any.first < any.last && any.first / 2 <= j / 2 && j / 2 < (any.last + 1) / 2;
}

void expect_released(const Case &c, const Way &way) {
  released.expect(!tiles_model::state.configured, c, way.name, "configured", 0, 0, 1, 0);
}

void check_scores(const Case &c) {
  Random random{c.seed * 0x9e3779b97f4a7c15ull + 1};
  const std::vector<KeyRange> seen = seen_of(c.pattern, c.rows, c.keys, random);
  const int32_t q_stride = padded(c.dim), x_stride = c.keys + kLane;
  std::vector<float> q(static_cast<size_t>(c.rows * q_stride));
  auto q_row = [&](int32_t r) { return reinterpret_cast<uint16_t *>(q.data() + r * q_stride); };
  for (int32_t r = 0; r < c.rows; ++r) {
    for (int32_t d = 0; d < c.dim; ++d) q_row(r)[d] = number(c.numbers, random);
  }
  Stored16 keys(c.keys, c.dim, c.listed);
  for (int32_t j = 0; j < c.keys; ++j) {
    const bool used = std::any_of(seen.begin(), seen.end(),
                                  [&](const KeyRange &s) { return s.first <= j && j < s.last; });
    for (int32_t d = 0; d < c.dim; ++d)
      keys.row(j)[d] = used ? number(c.numbers, random) : kHalfNan;
  }
  std::vector<float> before(static_cast<size_t>(c.rows * x_stride), kNan);
  if (c.add) {
    for (float &x : before) x = static_cast<float>(random.below(9) - 4);
  }
  const bool nothing =
      std::none_of(seen.begin(), seen.end(), [](const KeyRange &s) { return s.first < s.last; });

  std::vector<float> first_tiled;
  for (const Way &way : kWays) {
    std::vector<float> panel(static_cast<size_t>(kPanelLanes * padded(c.dim)), kNan), x = before;
    way.scores(q.data(), q_stride, c.rows, seen.data(), keys.rows(), Rows{}, nullptr, c.keys, c.dim,
               c.add, panel.data(), x.data(), x_stride);
    expect_released(c, way);
    if (nothing) {
      untouched.expect(std::memcmp(x.data(), before.data(), x.size() * 4) == 0, c, way.name,
                       "scores", 0, 0, 0, 0);
    }
    for (int32_t r = 0; r < c.rows; ++r) {
      for (int32_t j = seen[static_cast<size_t>(r)].first; j < seen[static_cast<size_t>(r)].last;
           ++j) {
        const auto at = static_cast<size_t>(r * x_stride + j);
        double wanted = c.add ? before[at] : 0, size = std::fabs(wanted);
        for (int32_t d = 0; d < c.dim; ++d) {
          const double product = double{float_of(q_row(r)[d])} * double{float_of(keys.row(j)[d])};
          wanted += product;
          size += std::fabs(product);
        }
        expect_golden(scores_golden, c, way, (c.dim + 1) / 2, r, j, x[at], wanted, size);
        if (way.tiles && !first_tiled.empty()) {
          scores_same.expect(same_bits(x[at], first_tiled[at]), c, way.name, "bytes of the model",
                             r, j, x[at], first_tiled[at]);
        }
      }
    }
    if (!way.tiles || !first_tiled.empty()) continue;
    first_tiled = x;
    const int32_t r = random.below(c.rows);
    std::vector<float> own(before.begin() + r * x_stride, before.begin() + (r + 1) * x_stride);
    const KeyRange see = seen[static_cast<size_t>(r)];
    way.scores(q.data() + r * q_stride, q_stride, 1, &see, keys.rows(), Rows{}, nullptr, c.keys,
               c.dim, c.add, panel.data(), own.data(), x_stride);
    for (int32_t j = see.first; j < see.last; ++j) {
      const float got = own[static_cast<size_t>(j)],
                  with = x[static_cast<size_t>(r * x_stride + j)];
      alone.expect(same_bits(got, with), c, way.name, "score", r, j, got, with);
    }
  }
}

void check_values(const Case &c) {
  Random random{c.seed * 0xd1342543de82ef95ull + 1};
  const std::vector<KeyRange> seen = seen_of(c.pattern, c.rows, c.keys, random);
  const int32_t p_stride = padded(c.keys) + kLane, acc_stride = padded(c.dim);
  std::vector<float> p(static_cast<size_t>(c.rows * p_stride), kNan);
  auto p_row = [&](int32_t r) { return reinterpret_cast<uint16_t *>(p.data() + r * p_stride); };
  for (int32_t r = 0; r < c.rows; ++r) {
    const KeyRange see = seen[static_cast<size_t>(r)];
    for (int32_t j = 0; j < padded(c.keys); ++j) {
      uint16_t weight = 0;
      if (see.first <= j && j < see.last) {
        weight = c.numbers == Exact ? half_of(static_cast<float>(random.below(9)))
                                    : half_of(std::fabs(random.uniform()));
      } else if (j < c.keys / 2 * 2 && !pair_between(seen, j)) {
        weight = kHalfNan;
      }
      p_row(r)[j] = weight;
    }
  }
  Stored16 values(c.keys, c.dim, c.listed);
  const Numbers finite = c.numbers == Special ? Fractions : c.numbers;
  const bool all_see_all = c.pattern == Whole;  // others must not meet infinity with a weight of 0
  for (int32_t j = 0; j < c.keys; ++j) {
    for (int32_t d = 0; d < c.dim; ++d) {
      values.row(j)[d] =
          pair_between(seen, j) ? number(all_see_all ? c.numbers : finite, random) : kHalfNan;
    }
  }
  std::vector<float> before(static_cast<size_t>(c.rows * acc_stride)), factor;
  for (float &sum : before) sum = static_cast<float>(random.below(64) - 32);
  for (const KeyRange &s : seen) {
    factor.push_back(s.first < s.last ? std::ldexp(1.0f, -random.below(3)) : 1.0f);
  }
  std::vector<float> first_tiled;
  for (const Way &way : kWays) {
    std::vector<float> panel(static_cast<size_t>(kPanelLanes * padded(c.keys)), kNan), acc = before;
    way.values(p.data(), p_stride, c.rows, seen.data(), values.rows(), Rows{}, nullptr, c.keys,
               c.dim, factor.data(), panel.data(), acc.data(), acc_stride);
    expect_released(c, way);
    for (int32_t r = 0; r < c.rows; ++r) {
      const KeyRange see = seen[static_cast<size_t>(r)];
      for (int32_t d = 0; d < c.dim; ++d) {
        const auto at = static_cast<size_t>(r * acc_stride + d);
        double wanted = double{before[at]} * double{factor[static_cast<size_t>(r)]};
        double size = std::fabs(wanted);
        for (int32_t j = see.first; j < see.last; ++j) {
          const double product = double{float_of(p_row(r)[j])} * double{float_of(values.row(j)[d])};
          wanted += product;
          size += std::fabs(product);
        }
        expect_golden(values_golden, c, way, (c.keys + 1) / 2, r, d, acc[at], wanted, size);
        if (way.tiles && !first_tiled.empty()) {
          values_same.expect(same_bits(acc[at], first_tiled[at]), c, way.name, "bytes of the model",
                             r, d, acc[at], first_tiled[at]);
        }
      }
    }
    if (!way.tiles || !first_tiled.empty()) continue;
    first_tiled = acc;
    const int32_t r = random.below(c.rows);
    const KeyRange see = seen[static_cast<size_t>(r)];
    std::vector<float> own(before.begin() + r * acc_stride, before.begin() + (r + 1) * acc_stride);
    way.values(p.data() + r * p_stride, p_stride, 1, &see, values.rows(), Rows{}, nullptr, c.keys,
               c.dim, factor.data() + r, panel.data(), own.data(), acc_stride);
    for (int32_t d = 0; d < c.dim; ++d) {
      const float got = own[static_cast<size_t>(d)];
      const float with = acc[static_cast<size_t>(r * acc_stride + d)];
      alone.expect(same_bits(got, with), c, way.name, "sum", r, d, got, with);
    }
  }
}

// Numbers beside the ends of vectors, tiles and panels.
std::vector<int32_t> edges(int32_t last, int32_t step) {
  std::vector<int32_t> found{1, 2, 3};
  for (int32_t n = step; n <= last + 1; n += step) {
    for (int32_t d = -1; d <= 1; ++d) {
      if (n + d > 3 && n + d <= last) found.push_back(n + d);
    }
  }
  return found;
}

void check_cases(uint64_t each) {
  uint64_t number = 0;
  const auto row_edges = edges(130, 16), key_edges = edges(128, 16);
  std::vector<int32_t> dims{1, 2, 3, 8, 15, 16, 17, 31, 32, 33, 40, 47, 48, 49};
  for (int32_t dim :
       {63, 64, 65, 80, 96, 100, 127, 128, 129, 160, 192, 256, 257, 320, 512, 575, 576}) {
    dims.push_back(dim);
  }
  auto run = [&](int32_t rows, int32_t keys, int32_t dim) {
    // Seven patterns, three kinds of numbers, two forms: no two of them go round together.
    const uint64_t n = number++;
    const Case c{rows,
                 keys,
                 dim,
                 static_cast<Pattern>(n % kPatterns),
                 static_cast<Numbers>(n / kPatterns % kNumbers),
                 (n / 3) % 2 != 0,
                 (n / 5) % 2 != 0,
                 n + 1};
    if (n % each != 0) return;
    check_scores(c);
    check_values(c);
  };
  for (int32_t dim : dims) {
    for (int32_t keys : key_edges) run(row_edges[number * 7 % row_edges.size()], keys, dim);
  }
  for (int32_t rows : row_edges) {
    for (int32_t keys : key_edges) run(rows, keys, dims[number * 5 % 20]);
  }
  for (int32_t rows = 1; rows <= 130; ++rows) run(rows, 1 + rows * 37 % 128, dims[number % 20]);
  for (int32_t keys = 1; keys <= 128; ++keys) run(1 + keys * 11 % 70, keys, dims[number % 20]);
  for (int32_t dim = 1; dim <= 576; ++dim) run(1 + dim * 5 % 40, 1 + dim * 3 % 40, dim);
  scores_golden.report("scores lie within the bounds of float64");
  values_golden.report("values lie within the bounds of float64");
  scores_same.report("scores of the object are those of the model");
  values_same.report("values of the object are those of the model");
  alone.report("a row alone has the same bytes");
  untouched.report("nothing is written where nobody looks");
  released.report("tiles are released");
}

// The model itself, by numbers whose sums depend on the order -----------------------------------

// c (+)= pairs (a_k, second of a_k) times pairs (b_k, second of b_k) of one row and one lane.
struct Pair {
  float first, second;
};
float dot_of(float c, const std::vector<Pair> &a, const std::vector<Pair> &b) {
  uint8_t shapes[64] = {1};
  const auto pairs = static_cast<uint8_t>(a.size());
  shapes[16] = 4, shapes[48] = 1;                                // one sum
  shapes[18] = static_cast<uint8_t>(4 * pairs), shapes[49] = 1;  // one row
  shapes[20] = 4, shapes[50] = pairs;                            // one lane
  tiles_model::configure(shapes);
  uint16_t rows[2][32] = {};
  for (size_t k = 0; k < a.size(); ++k) {
    rows[0][2 * k] = half_of(a[k].first), rows[0][2 * k + 1] = half_of(a[k].second);
    rows[1][2 * k] = half_of(b[k].first), rows[1][2 * k + 1] = half_of(b[k].second);
  }
  tiles_model::load(0, &c, 4);
  tiles_model::load(1, rows[0], 64);
  tiles_model::load(2, rows[1], 4);
  tiles_model::dot(0, 1, 2);
  float sum;
  tiles_model::save(0, &sum, 4);
  tiles_model::release();
  return sum;
}

bool aborts(void (*what)()) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    close(2);
    what();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

// Tiles 0 (2 rows), 1 (3 rows) and 2 (4 rows) of 16 bytes each.
void three_tiles() {
  uint8_t shapes[64] = {1};
  for (int i = 0; i < 3; ++i) {
    shapes[16 + 2 * i] = 16;
    shapes[48 + i] = static_cast<uint8_t>(i + 2);
  }
  tiles_model::configure(shapes);
}
void configured(int at, uint8_t value) {
  uint8_t shapes[64] = {1};
  shapes[at] = value;
  tiles_model::configure(shapes);
}

void check_model() {
  const float large = std::ldexp(1.0f, 24), tiny = std::ldexp(1.0f, -127);
  tap::ok(dot_of(large, {{1, 1}}, {{1, 1}}) == large + 2, "both products are added before the sum");
  tap::ok(dot_of(0, {{large, 1}, {-large, 1}}, {{1, 1}, {1, 1}}) == 2,
          "first and second values are summed up apart");
  tap::ok(dot_of(0, {{large, 0}, {1, 0}, {1, 0}}, {{1, 0}, {1, 0}, {1, 0}}) == large,
          "in order, to nearest even");
  tap::ok(dot_of(0, {{3, 5}}, {{7, 11}}) == 3 * 7 + 5 * 11, "pairs meet pairs");
  tap::ok(dot_of(0, {{tiny, 0}}, {{large, 0}}) == 0, "a small factor is 0");
  tap::ok(dot_of(tiny, {{0, 0}}, {{0, 0}}) == 0, "a small sum is 0");
  tap::ok(dot_of(0, {{std::ldexp(1.0f, -70), 0}}, {{std::ldexp(1.0f, -70), 0}}) == 0,
          "a small product is 0");
  three_tiles();
  uint8_t memory[4][16], got[4][16] = {};
  std::memset(memory, 7, sizeof memory);
  tiles_model::load(0, memory, 16);
  tiles_model::save(0, got, 16);
  tap::ok(std::memcmp(got, memory, 32) == 0 && got[2][0] == 0, "a tile is as large as it was told");
  tiles_model::zero(0);
  tiles_model::save(0, got, 16);
  tap::ok(got[0][0] == 0 && got[1][15] == 0, "and can be zero");
  tiles_model::release();
  const bool died[] = {
      aborts([] { tiles_model::zero(0); }),
      aborts([] { three_tiles(), tiles_model::zero(3); }),
      aborts([] { three_tiles(), tiles_model::dot(0, 0, 2); }),
      aborts([] { three_tiles(), tiles_model::dot(0, 1, 2); }),  // 2 rows and 3
      aborts([] { configured(48, 1); }),                         // rows without bytes
      aborts([] { configured(16, 4); }),                         // bytes without rows
      aborts([] { configured(16, 65); }),
      aborts([] { configured(48, 17); }),
      aborts([] { configured(0, 2); }),
      aborts([] { configured(2, 1); }),
      aborts([] { configured(60, 1); }),
  };
  for (const bool one : died) tap::ok(one, "what would fault aborts");
  tap::ok(!aborts([] { three_tiles(); }), "what would not does not");
}

void check_limit() {
  const int64_t before = tiles_model::state.dots, trapped = tiles_trap::trapped;
  const double flops = 1e6, each = 2.0 * 2 * 16 * 16 * 16;
  const float sum = pyaclnn_limits_amx_bf16.dot(flops);
  const auto dots = static_cast<double>(tiles_model::state.dots - before);
  tap::ok(sum > 0, "the limit multiplies numbers");
  if (tiles_trap::trapped == trapped) return;  // the processor did it
  tap::ok(dots * each >= flops && dots * each < flops + 8 * each, "the limit does what it was told",
          "%.0f products of tiles", dots);
}

}  // namespace
}  // namespace pyaclnn::kernels

int main(int count, char **arguments) {
  using namespace pyaclnn::kernels;
  check_model();
  // Where the processor has tiles, Linux wants to be asked for them.
  syscall(SYS_arch_prctl, 0x1023, 18);
  tiles_trap::install();
  check_cases(count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1);
  check_limit();
  std::printf("# %lld instructions trapped, %lld products of tiles by the model\n",
              static_cast<long long>(tiles_trap::trapped),
              static_cast<long long>(tiles_model::state.dots));
  return tap::done();
}
