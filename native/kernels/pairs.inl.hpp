// The two products over pairs of bf16 values. Included by block.inl.hpp where the level has an
// instruction that multiplies two pairs and adds both products to a float32 sum.

constexpr int kTwice = 2 * kWide;  // values of one vector of pairs

// What a tile of scores multiplies here; a row of q holds bf16 values. Few products and many sums:
// the way through memory would cost more than the wait for the sums (measured on Zen 5).
struct PairLanes {
  using Vector = Pairs;
  static constexpr int kStep = kTwice, kBytes = 2;
  using Late = NotLate;
  PYACLNN_INLINE Pairs query(const float *q, int64_t d) { return load_pairs(at(q, d * kBytes)); }
  PYACLNN_INLINE Pairs key(const void *p, const float *) { return load_pairs(p); }
  PYACLNN_INLINE Pairs key_some(const void *p, const float *, int32_t n) {
    return load_pairs_some(p, n);
  }
  PYACLNN_INLINE V multiply(V sum, Pairs key, Pairs query) { return dot(sum, key, query); }
};

#if defined(PYACLNN_HALVES)
// Four heads at once, two of them in the halves of a vector: of the sums of a key half as many
// lanes are left to add up, for more loads. q is in the order of query_pairs.
PYACLNN_TILE void scores_halved_tile(const float *q, const char *const *rows, const Rows &ahead,
                                     int32_t keys, int32_t dim, bool accumulate, float *x,
                                     int64_t x_stride) {
  constexpr int kKeys = 4, kBytes = 2;
  const int64_t whole = dim / kWide * kWide;
  const auto rest = static_cast<int32_t>(dim - whole);
  for (int32_t j = 0; j < keys; j += kKeys) {
    prefetch_tile<kKeys>(ahead, j, keys, static_cast<int64_t>(dim) * kBytes);
    V s[2 * kKeys];
    unrolled<2 * kKeys>(PYACLNN_EACH(index) { s[decltype(index)::value] = zero(); });
    auto step = [&](int64_t d, auto get) __attribute__((always_inline)) {
      Pairs query[2] = {load_pairs(q + d * 2), load_pairs(q + d * 2 + kWide)};
      unrolled<kKeys>(PYACLNN_EACH(index) {
        constexpr int k = decltype(index)::value;
        Pairs key = get(rows[j + k] + d * kBytes);
        s[k] = dot(s[k], key, query[0]);
        s[kKeys + k] = dot(s[kKeys + k], key, query[1]);
      });
    };
    for (int64_t d = 0; d < whole; d += kWide) {
      step(
          d, PYACLNN_EACH(p) { return load_halved(p); });
    }
    if (rest != 0)
      step(
          whole, PYACLNN_EACH(p) { return load_halved_some(p, rest); });
    V scores = halved_sums(s);
    unrolled<4>(PYACLNN_EACH(head) {
      constexpr int h = decltype(head)::value;
      put_lanes<h * kKeys, kKeys>(scores, accumulate, x + h * x_stride + j);
    });
  }
}
// Where the loads are fewer than what they save (measured on Zen 4).
constexpr bool halved(int32_t heads, int32_t dim) { return heads == 4 && dim < 128; }
#else
constexpr bool halved(int32_t, int32_t) { return false; }
#endif

static void scores_pairs(const float *q, int64_t q_stride, int32_t heads, Rows rows, Rows ahead,
                         const float *, int32_t keys, int32_t dim, bool accumulate, float *x,
                         int64_t x_stride) {
  const RowList list(rows, keys);
  for_heads<4>(heads, ahead, [&](auto n, int32_t first, const Rows &next) {
    const float *query = q + first * q_stride;
    float *to = x + first * x_stride;
#if defined(PYACLNN_HALVES)
    if (halved(decltype(n)::value, dim)) {
      scores_halved_tile(query, list.row, next, keys, dim, accumulate, to, x_stride);
      return;
    }
#endif
    scores_tile<PairLanes, decltype(n)::value>(query, q_stride, list.row, next, nullptr, keys, dim,
                                               accumulate, to, x_stride);
  });
}

// Rows of q in the order in which scores_pairs reads them: one after the other, or of four heads
// kWide values in turn; zeros behind the last value.
static void query_pairs(const void *const *q, int32_t heads, int32_t dim, float *to,
                        int64_t stride) {
  for (int32_t first = 0; first < heads;) {
    const int32_t now = next_heads<4>(heads - first);
    const bool in_turn = halved(now, dim);
    auto *tile = reinterpret_cast<uint16_t *>(to + first * stride);
    __builtin_memset(tile, 0, static_cast<size_t>(now * stride) * sizeof(float));
    for (int32_t h = 0; h < now; ++h) {
      auto *row = static_cast<const char *>(q[first + h]);
      const int32_t step = in_turn ? kWide : dim;
      for (int32_t d = 0; d < dim; d += step) {
        const int32_t count = dim - d < step ? dim - d : step;
        uint16_t *part = in_turn ? tile + d * 4 + h * kWide : tile + h * stride * 2;
        __builtin_memcpy(part, row + d * 2, static_cast<size_t>(count) * 2);
      }
    }
    first += now;
  }
}

// As values_tile, two keys at a time, over kParts * kTwice columns, with kPartial `count` in the
// last part; a row of p holds bf16 values, and a 0 behind an odd number of keys.
template <int kHeads, int kParts, bool kPartial>
PYACLNN_TILE void values_pairs_tile(const float *p, int64_t p_stride, const Rows &rows,
                                    const Rows &ahead, int64_t column, int32_t keys, int32_t count,
                                    const float *factor, float *acc, int64_t acc_stride) {
  const bool prefetches = some(ahead);
  V sum[kHeads * kParts * 2];
  unrolled<kHeads * kParts * 2>(PYACLNN_EACH(index) { sum[decltype(index)::value] = zero(); });
  auto get = [&](const char *row, auto c) __attribute__((always_inline)) {
    const char *from = row + column * 2 + decltype(c)::value * kTwice * 2;
    if constexpr (kPartial && decltype(c)::value == kParts - 1) {
      return load_pairs_some(from, count);
    } else {
      return load_pairs(from);
    }
  };
  auto step = [&](int32_t j, auto second) __attribute__((always_inline)) {
    const char *row = row_of(rows, j);
    Pairs value[kParts * 2];
    unrolled<kParts>(PYACLNN_EACH(c) {
      constexpr int i = decltype(c)::value * 2;
      interleave(get(row, c), second(c), value[i], value[i + 1]);
    });
    unrolled<kHeads>(PYACLNN_EACH(head) {
      constexpr int h = decltype(head)::value;
      Pairs weight = all_pairs(reinterpret_cast<const uint16_t *>(p + h * p_stride) + j);
      unrolled<kParts * 2>(PYACLNN_EACH(index) {
        constexpr int i = h * kParts * 2 + decltype(index)::value;
        sum[i] = dot(sum[i], value[decltype(index)::value], weight);
      });
    });
  };
  int32_t j = 0;
  for (; j + 2 <= keys; j += 2) {
    if (prefetches) {
      prefetch(row_of(ahead, j) + column * 2, kParts * kTwice * 2);
      prefetch(row_of(ahead, j + 1) + column * 2, kParts * kTwice * 2);
    }
    const char *row = row_of(rows, j + 1);
    step(
        j, PYACLNN_EACH(c) { return get(row, c); });
  }
  if (j < keys) {
    step(
        j, PYACLNN_EACH(c) {
          (void)c;
          return no_pairs();
        });
  }
  unrolled<kHeads * kParts>(PYACLNN_EACH(index) {
    constexpr int i = decltype(index)::value;
    float *to = acc + (i / kParts) * acc_stride + column + (i % kParts) * kTwice;
    V scale = all(factor[i / kParts]), first_half, second_half;
    in_order(sum[2 * i], sum[2 * i + 1], first_half, second_half);
    save(to, fma(load(to), scale, first_half));
    save(to + kWide, fma(load(to + kWide), scale, second_half));
  });
}

template <int kHeads>
static void values_pairs_heads(const float *p, int64_t p_stride, const Rows &rows,
                               const Rows &ahead, int32_t keys, int32_t dim, const float *factor,
                               float *acc, int64_t acc_stride) {
  // The sums of a part, its values and a weight stay in registers.
  constexpr int kFitting = (kRegisters - 1) / (2 * kHeads + 2);
  constexpr int kMost = kFitting < 4 ? kFitting : 4;
  const int32_t rest = dim % kTwice;
  int32_t left = (dim + kTwice - 1) / kTwice, column = 0;
  while (left > 0) {
    const int32_t now = left <= kMost ? left : left == kMost + 1 ? (left + 1) / 2 : kMost;
    const bool partial = rest != 0 && now == left;
    unrolled<kMost>(PYACLNN_EACH(index) {
      constexpr int n = decltype(index)::value + 1;
      if (now == n) {
        auto tile =
            partial ? values_pairs_tile<kHeads, n, true> : values_pairs_tile<kHeads, n, false>;
        tile(p, p_stride, rows, ahead, column, keys, rest, factor, acc, acc_stride);
      }
    });
    column += now * kTwice;
    left -= now;
  }
}

static void values_pairs(const float *p, int64_t p_stride, int32_t heads, Rows rows, Rows ahead,
                         const float *, int32_t keys, int32_t dim, const float *factor, float *acc,
                         int64_t acc_stride) {
  for_heads<6>(heads, ahead, [&](auto n, int32_t first, const Rows &next) {
    values_pairs_heads<decltype(n)::value>(p + first * p_stride, p_stride, rows, next, keys, dim,
                                           factor + first, acc + first * acc_stride, acc_stride);
  });
}
