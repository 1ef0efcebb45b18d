// The kernel text: what happens to one block of keys. Included once by the small file of each level
// inside an unnamed namespace, after vec.hpp. Tiles are templates with fully unrolled loops: gcc
// keeps an array of vectors in registers only when every index is a constant before its first
// passes, and a tile must be a function of its own.

// How an element is stored: `get` makes float32 lanes of it. `offset` belongs to I8.
template <Element E>
struct Stored;
template <>
struct Stored<Element::F16> {
  static constexpr int kBytes = 2;
  PYACLNN_INLINE V get(const void *p, const float *) { return load_f16(p); }
  PYACLNN_INLINE V get_some(const void *p, const float *, int32_t n) { return load_f16_some(p, n); }
  PYACLNN_INLINE void put(void *p, V v) { save_f16(p, v); }
  PYACLNN_INLINE void put_some(void *p, V v, int32_t n) { save_f16_some(p, v, n); }
};
template <>
struct Stored<Element::BF16> {
  static constexpr int kBytes = 2;
  PYACLNN_INLINE V get(const void *p, const float *) { return load_bf16(p); }
  PYACLNN_INLINE V get_some(const void *p, const float *, int32_t n) {
    return load_bf16_some(p, n);
  }
  PYACLNN_INLINE void put(void *p, V v) { save_bf16(p, v); }
  PYACLNN_INLINE void put_some(void *p, V v, int32_t n) { save_bf16_some(p, v, n); }
};
template <>
struct Stored<Element::F32> {
  static constexpr int kBytes = 4;
  PYACLNN_INLINE V get(const void *p, const float *) { return load(static_cast<const float *>(p)); }
  PYACLNN_INLINE V get_some(const void *p, const float *, int32_t n) {
    return load_some(static_cast<const float *>(p), n);
  }
  PYACLNN_INLINE void put(void *p, V v) { save(static_cast<float *>(p), v); }
  PYACLNN_INLINE void put_some(void *p, V v, int32_t n) {
    save_some(static_cast<float *>(p), v, n);
  }
};
template <>
struct Stored<Element::I8> {
  static constexpr int kBytes = 1;
  PYACLNN_INLINE V get(const void *p, const float *offset) { return add(load_i8(p), load(offset)); }
  PYACLNN_INLINE V get_some(const void *p, const float *offset, int32_t n) {
    return add(load_i8_some(p, n), load(offset));
  }
};

PYACLNN_INLINE const char *at(const void *p, int64_t bytes) {
  return static_cast<const char *>(p) + bytes;
}
PYACLNN_INLINE const char *row_of(const Rows &rows, int64_t j) {
  return rows.at != nullptr ? static_cast<const char *>(rows.at[j]) : rows.base + j * rows.step;
}
// All of them; behind the last key a tile of scores finds it again.
struct RowList {
  const char *made[kKeysMax + kScoreSums];
  const char *const *row;
  explicit RowList(const Rows &rows, int32_t keys) {
    if (rows.at != nullptr) {
      row = reinterpret_cast<const char *const *>(rows.at);
      return;
    }
    for (int32_t j = 0; j < keys; ++j) made[j] = rows.base + j * rows.step;
    for (int32_t j = keys; j < keys + kScoreSums; ++j) made[j] = made[keys - 1];
    row = made;
  }
};
PYACLNN_INLINE bool some(const Rows &rows) { return rows.at != nullptr || rows.base != nullptr; }

// The second-level cache is the target: the first-level fill buffers would be the bottleneck.
PYACLNN_INLINE void prefetch(const char *row, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(row + i, 0, 2);
}
template <int kKeys>
PYACLNN_INLINE void prefetch_tile(const Rows &ahead, int32_t j, int32_t keys, int64_t bytes) {
  if (!some(ahead)) return;
  for (int k = 0; k < kKeys && j + k < keys; ++k) prefetch(row_of(ahead, j + k), bytes);
}

// Scores, that of head h and key k in lane h * kKeys + k, to, or added to, their rows. Behind
// the last key a row of x may be written up to the width of the tile.
template <int kHeads>
PYACLNN_INLINE void put_scores(V scores, bool accumulate, float *x, int64_t x_stride) {
  constexpr int kKeys = kWide / kHeads;
  unrolled<kHeads>(PYACLNN_EACH(head) {
    constexpr int h = decltype(head)::value;
    put_lanes<h * kKeys, kKeys>(scores, accumulate, x + h * x_stride);
  });
}

// The lanes of sum i = h * kKeys + k added up, as the score of head h and key k.
template <int kHeads, int kSums>
PYACLNN_INLINE void put_sums(const V (&s)[kSums], bool accumulate, float *x, int64_t x_stride) {
  constexpr int kKeys = kSums / kHeads;
  if constexpr (kSums == kWide) {
    put_scores<kHeads>(sums(s), accumulate, x, x_stride);
  } else {
    float sum[kSums];
    unrolled<kSums / kWide>(PYACLNN_EACH(index) {
      constexpr int first = decltype(index)::value * kWide;
      V part[kWide];
      unrolled<kWide>(
          PYACLNN_EACH(lane) { part[decltype(lane)::value] = s[first + decltype(lane)::value]; });
      save(sum + first, sums(part));
    });
    for (int h = 0; h < kHeads; ++h) {
      float *row = x + h * x_stride;
      if (accumulate) {
        for (int k = 0; k < kKeys; ++k) sum[h * kKeys + k] += row[k];
      }
      __builtin_memcpy(row, sum + h * kKeys, kKeys * sizeof(float));
    }
  }
}

// In place of LateSums (vec.hpp) where sums are added up at once.
struct NotLate {
  static constexpr bool kIs = false;
};

// What a tile of scores multiplies: float32 lanes of q and of converted keys.
template <Element E, class LateOrNot>
struct Lanes {
  using Vector = V;
  static constexpr int kStep = kWide, kBytes = Stored<E>::kBytes;
  using Late = LateOrNot;
  PYACLNN_INLINE V query(const float *q, int64_t d) { return load(q + d); }
  PYACLNN_INLINE V key(const void *p, const float *offset) { return Stored<E>::get(p, offset); }
  PYACLNN_INLINE V key_some(const void *p, const float *offset, int32_t n) {
    return Stored<E>::get_some(p, offset, n);
  }
  PYACLNN_INLINE V multiply(V sum, V key, V query) { return fma(key, query, sum); }
};

// kHeads heads against all keys, kKeys keys at a time. Adding up the lanes of a tile's sums is a
// chain of shuffles that the processor cannot begin before the tile's last product: with P::Late
// the sums wait in memory and are added up between the products of the next tile.
template <class P, int kHeads>
PYACLNN_TILE void scores_tile(const float *q, int64_t q_stride, const char *const *rows,
                              const Rows &ahead, const float *offset, int32_t keys, int32_t dim,
                              bool accumulate, float *x, int64_t x_stride) {
  constexpr int kKeys = kScoreSums / kHeads, kStep = P::kStep, kBytes = P::kBytes;
  using Vector = typename P::Vector;
  const int64_t whole = dim / kStep * kStep;
  const auto rest = static_cast<int32_t>(dim - whole);
  typename P::Late late;
  for (int32_t j = 0; j < keys; j += kKeys) {
    prefetch_tile<kKeys>(ahead, j, keys, static_cast<int64_t>(dim) * kBytes);
    V s[kScoreSums];
    unrolled<kScoreSums>(PYACLNN_EACH(index) { s[decltype(index)::value] = zero(); });
    auto step = [&](int64_t d, auto get) __attribute__((always_inline)) {
      Vector query[kHeads];
      unrolled<kHeads>(PYACLNN_EACH(head) {
        query[decltype(head)::value] = P::query(q + decltype(head)::value * q_stride, d);
      });
      unrolled<kKeys>(PYACLNN_EACH(index) {
        constexpr int k = decltype(index)::value;
        Vector key = get(rows[j + k] + d * kBytes);
        unrolled<kHeads>(PYACLNN_EACH(head) {
          constexpr int h = decltype(head)::value;
          s[h * kKeys + k] = P::multiply(s[h * kKeys + k], key, query[h]);
        });
      });
    };
    auto whole_step = [&](int64_t d) __attribute__((always_inline)) {
      step(
          d, PYACLNN_EACH(p) { return P::key(p, offset + d); });
    };
    int64_t d = 0;
    if constexpr (P::Late::kIs) {
      V part[P::Late::kParts];
      unrolled<P::Late::kParts>(PYACLNN_EACH(index) {
        constexpr int i = decltype(index)::value;
        whole_step(i * kStep);
        part[i] = late.template part<i>();
      });
      // Zeros in the first round. A condition here would draw the sums behind it.
      const int32_t before = j > 0 ? j - kKeys : 0;
      put_scores<kHeads>(late.sums(part), accumulate, x + before, x_stride);
      d = P::Late::kParts * kStep;
    }
    for (; d < whole; d += kStep) whole_step(d);
    if (rest != 0)
      step(
          whole, PYACLNN_EACH(p) { return P::key_some(p, offset + whole, rest); });
    if constexpr (P::Late::kIs) {
      unrolled<kScoreSums>(PYACLNN_EACH(index) {
        late.template keep<decltype(index)::value>(s[decltype(index)::value]);
      });
    } else {
      put_sums<kHeads>(s, accumulate, x + j, x_stride);
    }
  }
  if constexpr (P::Late::kIs) {
    V part[P::Late::kParts];
    unrolled<P::Late::kParts>(PYACLNN_EACH(index) {
      part[decltype(index)::value] = late.template part<decltype(index)::value>();
    });
    const int32_t last = (keys - 1) / kKeys * kKeys;
    put_scores<kHeads>(late.sums(part), accumulate, x + last, x_stride);
  }
}

// Heads of the next tile, of kMost (4, 5 or 6) at most and without a single one left behind.
template <int kMost>
PYACLNN_INLINE int32_t next_heads(int32_t heads) {
  if (heads <= kMost) return heads;
  if (heads == 5 || heads == 6) return 3;
  return heads < 9 || heads >= 2 * kMost ? 4 : (heads + 1) / 2;
}

// Calls tile(Index<heads of the tile>{}, first head, rows to prefetch: only the first tile does).
template <int kMost, class Tile>
PYACLNN_INLINE void for_heads(int32_t heads, Rows ahead, Tile &&tile) {
  for (int32_t first = 0; first < heads;) {
    int32_t now = next_heads<kMost>(heads - first);
    unrolled<kMost>(PYACLNN_EACH(index) {
      constexpr int n = decltype(index)::value + 1;
      if (now == n) tile(Index<n>{}, first, ahead);
    });
    ahead = {nullptr, 0, nullptr};
    first += now;
  }
}

template <Element E>
static void scores_of(const float *q, int64_t q_stride, int32_t heads, Rows rows, Rows ahead,
                      const float *offset, int32_t keys, int32_t dim, bool accumulate, float *x,
                      int64_t x_stride) {
  const RowList list(rows, keys);
  for_heads<4>(heads, ahead, [&](auto n, int32_t first, const Rows &next) {
    constexpr int kHeads = decltype(n)::value;
    auto tile = scores_tile<Lanes<E, NotLate>, kHeads>;
#if defined(PYACLNN_LATE_SUMS)
    // With fewer heads the conversions are the limit, not the wait for the sums.
    if constexpr (kHeads == 4) {
      if (dim >= LateSums::kParts * kWide) tile = scores_tile<Lanes<E, LateSums>, kHeads>;
    }
#endif
    tile(q + first * q_stride, q_stride, list.row, next, offset, keys, dim, accumulate,
         x + first * x_stride, x_stride);
  });
}

// kHeads heads and kVectors * kWide columns against all keys; with kPartial the last `count`
// columns (kVectors is 1). The same columns of the rows ahead are prefetched.
template <Element E, int kHeads, int kVectors, bool kPartial>
PYACLNN_TILE void values_tile(const float *p, int64_t p_stride, const Rows &rows, const Rows &ahead,
                              const float *offset, int64_t column, int32_t keys, int32_t count,
                              const float *factor, float *acc, int64_t acc_stride) {
  constexpr int kBytes = Stored<E>::kBytes;
  offset += E == Element::I8 ? column : 0;
  const bool prefetches = some(ahead);
  V sum[kHeads * kVectors];
  unrolled<kHeads * kVectors>(PYACLNN_EACH(index) { sum[decltype(index)::value] = zero(); });
  for (int32_t j = 0; j < keys; ++j) {
    const char *row = row_of(rows, j) + column * kBytes;
    if (prefetches) prefetch(row_of(ahead, j) + column * kBytes, kVectors * kWide * kBytes);
    // Else the offsets would be kept in registers that the sums need.
    if constexpr (E == Element::I8) __asm__("" : "+r"(offset));
    V weight[kHeads];
    unrolled<kHeads>(PYACLNN_EACH(head) {
      constexpr int h = decltype(head)::value;
      weight[h] = all(p[h * p_stride + j]);
    });
    unrolled<kVectors>(PYACLNN_EACH(index) {
      constexpr int c = decltype(index)::value;
      V value = kPartial ? Stored<E>::get_some(row, offset, count)
                         : Stored<E>::get(row + c * kWide * kBytes, offset + c * kWide);
      unrolled<kHeads>(PYACLNN_EACH(head) {
        constexpr int h = decltype(head)::value;
        sum[h * kVectors + c] = fma(value, weight[h], sum[h * kVectors + c]);
      });
    });
  }
  unrolled<kHeads * kVectors>(PYACLNN_EACH(index) {
    constexpr int i = decltype(index)::value;
    float *to = acc + (i / kVectors) * acc_stride + column + (i % kVectors) * kWide;
    save(to, fma(load(to), all(factor[i / kVectors]), sum[i]));
  });
}

// The sums of a tile of values, a weight per head and a value stay in registers.
constexpr int32_t most_vectors(int32_t heads) {
  int32_t most = (kRegisters - heads - 1) / heads;
  return most < 8 ? most : 8;
}
// Six heads leave too few registers for the conversions.
constexpr int kValueHeads = kRegisters >= 32 ? 5 : 4;

// How many vectors of columns kHeads heads take at once: as many as the sums fit into registers,
// but in parts of like size rather than a large and a tiny one.
template <int kHeads>
PYACLNN_INLINE int32_t next_vectors(int32_t left) {
  constexpr int32_t kMost = most_vectors(kHeads);
  if (left <= kMost) return left == 7 ? 4 : left;
  if (left < kMost + kMost / 2) return (left + 1) / 2;
  static_assert(kMost != 7);
  return kMost;
}

template <Element E, int kHeads>
static void values_heads(const float *p, int64_t p_stride, const Rows &rows, const Rows &ahead,
                         const float *offset, int32_t keys, int32_t dim, const float *factor,
                         float *acc, int64_t acc_stride) {
  int32_t left = dim / kWide, column = 0;
  while (left > 0) {
    int32_t now = next_vectors<kHeads>(left);
    unrolled<8>(PYACLNN_EACH(index) {
      constexpr int n = decltype(index)::value + 1;
      if constexpr (n != 7 && n <= most_vectors(kHeads)) {
        if (now == n) {
          values_tile<E, kHeads, n, false>(p, p_stride, rows, ahead, offset, column, keys, 0,
                                           factor, acc, acc_stride);
        }
      }
    });
    column += now * kWide;
    left -= now;
  }
  if (column < dim) {
    values_tile<E, kHeads, 1, true>(p, p_stride, rows, ahead, offset, column, keys, dim - column,
                                    factor, acc, acc_stride);
  }
}

template <Element E>
static void values_of(const float *p, int64_t p_stride, int32_t heads, Rows rows, Rows ahead,
                      const float *offset, int32_t keys, int32_t dim, const float *factor,
                      float *acc, int64_t acc_stride) {
  for_heads<kValueHeads>(heads, ahead, [&](auto n, int32_t first, const Rows &next) {
    values_heads<E, decltype(n)::value>(p + first * p_stride, p_stride, rows, next, offset, keys,
                                        dim, factor + first, acc + first * acc_stride, acc_stride);
  });
}

static void adjust(float *x, int64_t x_stride, int32_t heads, int32_t keys, const float *key_scale,
                   float scale, const uint8_t *replaced, float value) {
  const V factor = all(scale), other = all(value);
  for (int32_t h = 0; h < heads; ++h, x += x_stride) {
    for (int32_t j = 0; j < keys; j += kWide) {
      V score = load(x + j);
      if (key_scale != nullptr) score = mul(score, load(key_scale + j));
      score = mul(score, factor);
      if (replaced != nullptr) score = where_set(replaced + j, other, score);
      save(x + j, score);
    }
  }
}

PYACLNN_INLINE void put_weights(float *x, int32_t j, V p, bool pairs) {
#if defined(PYACLNN_PAIRS)
  if (pairs) {
    save_half_pairs(reinterpret_cast<uint16_t *>(x) + j, p);
    return;
  }
#else
  (void)pairs;
#endif
  save(x + j, p);
}

// A row without any weight yet: its scores are -infinity, or NaN, which goes on.
static void no_weights(float *x, int32_t padded, bool pairs, float *l) {
  const float kNone = -__builtin_inff();
  float sum = 0;
  for (int32_t j = 0; j < padded; j += kWide) {
    float lanes[kWide];
    save(lanes, load(x + j));
    for (float &lane : lanes) {
      lane = lane == kNone ? 0 : lane;
      sum += lane;
    }
    put_weights(x, j, load(lanes), pairs);
  }
  *l += sum;
}

// kHeads rows side by side: the steps of one hide the latencies of the others.
template <int kHeads>
PYACLNN_TILE void weights_tile(float *x, int64_t x_stride, int32_t keys, float scale,
                               const float *value_scale, bool pairs, float *m, float *l,
                               float *factor) {
  const float kNone = -__builtin_inff();
  const int32_t padded = (keys + kLane - 1) & ~(kLane - 1);
  V best[kHeads];
  unrolled<kHeads>(PYACLNN_EACH(head) {
    constexpr int h = decltype(head)::value;
    best[h] = all(kNone);
    for (int32_t j = keys; j < padded; ++j) x[h * x_stride + j] = kNone;
  });
  for (int32_t j = 0; j < padded; j += kWide) {
    unrolled<kHeads>(PYACLNN_EACH(head) {
      constexpr int h = decltype(head)::value;
      best[h] = max(load(x + h * x_stride + j), best[h]);
    });
  }
  float most[kHeads];
  bool none = false;
  unrolled<kHeads>(PYACLNN_EACH(head) {
    constexpr int h = decltype(head)::value;
    float block = max_of(best[h]) * scale;
    most[h] = block > m[h] ? block : m[h];
    none = none || most[h] == kNone;
  });
  if (none) {
    if constexpr (kHeads == 1) {
      *factor = 1;
      no_weights(x, padded, pairs, l);
    } else {
      for (int h = 0; h < kHeads; ++h) {
        weights_tile<1>(x + h * x_stride, x_stride, keys, scale, value_scale, pairs, m + h, l + h,
                        factor + h);
      }
    }
    return;
  }
  const V times = all(scale);
  V shift[kHeads], sum[kHeads];
  unrolled<kHeads>(PYACLNN_EACH(head) {
    constexpr int h = decltype(head)::value;
    shift[h] = all(most[h]);
    sum[h] = zero();
  });
  for (int32_t j = 0; j < padded; j += kWide) {
    unrolled<kHeads>(PYACLNN_EACH(head) {
      constexpr int h = decltype(head)::value;
      float *row = x + h * x_stride;
      // Not fused: a score must be the same whether the scale is applied here or before.
      V e = exp_of(sub(mul(load(row + j), times), shift[h]));
      sum[h] = add(sum[h], e);
      if (value_scale != nullptr) e = mul(e, load(value_scale + j));
      put_weights(row, j, e, pairs);
    });
  }
  unrolled<kHeads>(PYACLNN_EACH(head) {
    constexpr int h = decltype(head)::value;
    factor[h] = exp_of(m[h] - most[h]);
    l[h] = l[h] * factor[h] + sum_of(sum[h]);
    m[h] = most[h];
  });
}

static void weights(float *x, int64_t x_stride, int32_t heads, int32_t keys, float scale,
                    const float *value_scale, bool pairs, float *m, float *l, float *factor) {
  for (int32_t h = 0; h < heads;) {
    constexpr int kMost = kRegisters >= 32 ? 4 : 1;
    int32_t now = heads - h >= kMost ? kMost : 1;
    auto tile = now == kMost ? weights_tile<kMost> : weights_tile<1>;
    tile(x + h * x_stride, x_stride, keys, scale, value_scale, pairs, m + h, l + h, factor + h);
    h += now;
  }
}

static void merge(float *m, float *l, float *acc, const float *m2, const float *l2,
                  const float *acc2, int32_t heads, int32_t dim, int64_t acc_stride) {
  const float kNone = -__builtin_inff();
  for (int32_t h = 0; h < heads; ++h, acc += acc_stride, acc2 += acc_stride) {
    float m_new = m2[h] > m[h] ? m2[h] : m[h];
    float fa = 1, fb = 1;
    if (m_new != kNone) {
      fa = exp_of(m[h] - m_new);
      fb = exp_of(m2[h] - m_new);
    }
    m[h] = m_new;
    l[h] = l[h] * fa + l2[h] * fb;
    V va = all(fa), vb = all(fb);
    for (int32_t d = 0; d < dim; d += kWide) {
      save(acc + d, fma(load(acc + d), va, mul(load(acc2 + d), vb)));
    }
  }
}

template <Element E, int kRows>
PYACLNN_INLINE void squares(const Rows &rows, int32_t first, int32_t dim, float (&sum)[kRows]) {
  constexpr int kBytes = Stored<E>::kBytes;
  const int32_t whole = dim / kWide * kWide;
  const char *row[kRows];
  V s[kRows];
  unrolled<kRows>(PYACLNN_EACH(index) {
    row[decltype(index)::value] = row_of(rows, first + decltype(index)::value);
    s[decltype(index)::value] = zero();
  });
  for (int32_t d = 0; d < whole; d += kWide) {
    unrolled<kRows>(PYACLNN_EACH(index) {
      V v = Stored<E>::get(row[decltype(index)::value] + d * kBytes, nullptr);
      s[decltype(index)::value] = fma(v, v, s[decltype(index)::value]);
    });
  }
  unrolled<kRows>(PYACLNN_EACH(index) {
    constexpr int k = decltype(index)::value;
    if (whole < dim) {
      V v = Stored<E>::get_some(row[k] + whole * kBytes, nullptr, dim - whole);
      s[k] = fma(v, v, s[k]);
    }
    sum[k] = sum_of(s[k]);
  });
}

template <Element E>
static float most_squares_of(Rows rows, int32_t keys, int32_t dim) {
  constexpr int kRows = 4;
  float most = 0, sum[kRows], one[1];
  bool numbers = true;
  auto join = [&](float other) {
    numbers = numbers && other == other;
    most = other > most ? other : most;
  };
  int32_t j = 0;
  for (; j + kRows <= keys; j += kRows) {
    squares<E>(rows, j, dim, sum);
    for (float other : sum) join(other);
  }
  for (; j < keys; ++j) {
    squares<E>(rows, j, dim, one);
    join(one[0]);
  }
  return numbers ? most : __builtin_nanf("");
}

static float max_squared_norm(Element element, Rows rows, int32_t keys, int32_t dim) {
  auto fn = element == Element::F16    ? most_squares_of<Element::F16>
            : element == Element::BF16 ? most_squares_of<Element::BF16>
                                       : most_squares_of<Element::F32>;
  return fn(rows, keys, dim);
}

template <Element E>
static void to_float_of(const void *from, int64_t count, float *to) {
  constexpr int kBytes = Stored<E>::kBytes;
  int64_t d = 0;
  for (; d + kWide <= count; d += kWide) {
    save(to + d, Stored<E>::get(at(from, d * kBytes), nullptr));
  }
  if (d < count) {
    int32_t rest = static_cast<int32_t>(count - d);
    save_some(to + d, Stored<E>::get_some(at(from, d * kBytes), nullptr, rest), rest);
  }
}

static void to_float(Element element, const void *from, int64_t count, float *to) {
  auto fn = element == Element::F16    ? to_float_of<Element::F16>
            : element == Element::BF16 ? to_float_of<Element::BF16>
                                       : to_float_of<Element::F32>;
  fn(from, count, to);
}

static void dequantise(const int8_t *from, const float *scale, const float *offset, int64_t count,
                       float *to) {
  int64_t d = 0;
  for (; d + kWide <= count; d += kWide) {
    save(to + d, mul(add(load_i8(from + d), load(offset + d)), load(scale + d)));
  }
  for (; d < count; ++d) to[d] = (static_cast<float>(from[d]) + offset[d]) * scale[d];
}

template <Element E>
static void store_of(const float *acc, float l, float factor, int64_t count, void *to) {
  constexpr int kBytes = Stored<E>::kBytes;
  V sum = all(l), scale = all(factor);
  char *out = static_cast<char *>(to);
  int64_t d = 0;
  for (; d + kWide <= count; d += kWide) {
    Stored<E>::put(out + d * kBytes, mul(div(load(acc + d), sum), scale));
  }
  if (d < count) {
    Stored<E>::put_some(out + d * kBytes, mul(div(load(acc + d), sum), scale),
                        static_cast<int32_t>(count - d));
  }
}

static void store(Element element, const float *acc, float l, float factor, int64_t count,
                  void *to) {
  auto fn = element == Element::F16    ? store_of<Element::F16>
            : element == Element::BF16 ? store_of<Element::BF16>
                                       : store_of<Element::F32>;
  fn(acc, l, factor, count, to);
}

#if defined(PYACLNN_PAIRS)
#include "kernels/pairs.inl.hpp"
#endif
#include "kernels/panel.inl.hpp"
#if defined(PYACLNN_TILES)
#include "kernels/tiles.inl.hpp"
#elif defined(PYACLNN_PAIRS)
constexpr PanelScores panel_scores_pairs = panel_scores_of<PanelPairs, Element::BF16>;
constexpr PanelValues panel_values_pairs = panel_values_of<PanelPairs, Element::BF16>;
#else
constexpr Scores scores_pairs = nullptr;
constexpr Values values_pairs = nullptr;
constexpr decltype(Kernels::query_pairs) query_pairs = nullptr;
constexpr PanelScores panel_scores_pairs = nullptr;
constexpr PanelValues panel_values_pairs = nullptr;
#endif
template <Element E>
constexpr PanelScores panel_scores_floats = panel_scores_of<PanelFloats, E>;
template <Element E>
constexpr PanelValues panel_values_floats = panel_values_of<PanelFloats, E>;

// The level's table, for its file to name.
constexpr Kernels table_of(const char *name) {
  return {
      name,
      {scores_of<Element::F16>, scores_of<Element::BF16>, scores_of<Element::F32>,
       scores_of<Element::I8>},
      {values_of<Element::F16>, values_of<Element::BF16>, values_of<Element::F32>,
       values_of<Element::I8>},
      scores_pairs,
      values_pairs,
      query_pairs,
      {panel_scores_floats<Element::F16>, panel_scores_floats<Element::BF16>,
       panel_scores_floats<Element::F32>, panel_scores_floats<Element::I8>},
      panel_scores_pairs,
      {panel_values_floats<Element::F16>, panel_values_floats<Element::BF16>,
       panel_values_floats<Element::F32>, panel_values_floats<Element::I8>},
      panel_values_pairs,
      adjust,
      weights,
      merge,
      max_squared_norm,
      to_float,
      dequantise,
      store,
  };
}
