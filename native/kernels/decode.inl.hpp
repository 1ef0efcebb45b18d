// The kernel text, included once by the small file of each level inside an unnamed namespace, after
// vec.hpp. Tiles are templates with fully unrolled loops: gcc keeps an array of vectors in
// registers only when every index is a constant before its first passes.

template <int I>
struct Index {
  static constexpr int value = I;
};

template <int N, class F>
PYACLNN_INLINE void unrolled(F &&f) {
  if constexpr (N > 0) {
    unrolled<N - 1>(f);
    f(Index<N - 1>{});
  }
}

#define PYACLNN_EACH [&](auto index) __attribute__((always_inline))

template <Element E>
struct Stored;
template <>
struct Stored<Element::F16> {
  static constexpr int kBytes = 2;
  PYACLNN_INLINE V get(const void *p) { return load_f16(p); }
  PYACLNN_INLINE void put(void *p, V v) { save_f16(p, v); }
};
template <>
struct Stored<Element::BF16> {
  static constexpr int kBytes = 2;
  PYACLNN_INLINE V get(const void *p) { return load_bf16(p); }
  PYACLNN_INLINE void put(void *p, V v) { save_bf16(p, v); }
};
template <>
struct Stored<Element::F32> {
  static constexpr int kBytes = 4;
  PYACLNN_INLINE V get(const void *p) { return load(static_cast<const float *>(p)); }
  PYACLNN_INLINE void put(void *p, V v) { save(static_cast<float *>(p), v); }
};

PYACLNN_INLINE const char *at(const void *p, int64_t bytes) {
  return static_cast<const char *>(p) + bytes;
}

// `count` < 8 elements and zeros; reads nothing behind them.
template <Element E>
PYACLNN_INLINE V get_some(const void *p, int32_t count) {
  constexpr int kBytes = Stored<E>::kBytes;
  char buffer[8 * kBytes] = {};
  for (int32_t i = 0; i < count * kBytes; ++i) buffer[i] = static_cast<const char *>(p)[i];
  return Stored<E>::get(buffer);
}

PYACLNN_INLINE V load_some(const float *p, int32_t count) {
  float buffer[8] = {};
  for (int32_t i = 0; i < count; ++i) buffer[i] = p[i];
  return load(buffer);
}

PYACLNN_INLINE void save_some(float *p, V v, int32_t count) {
  float buffer[8];
  save(buffer, v);
  for (int32_t i = 0; i < count; ++i) p[i] = buffer[i];
}

// The second-level cache is the target: the first-level fill buffers would be the bottleneck.
PYACLNN_INLINE void prefetch(const void *row, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(at(row, i), 0, 2);
}

// kHeads heads against all keys, 8 / kHeads keys at a time.
template <Element E, int kHeads>
__attribute__((noinline)) static void scores_tile(const float *q, int64_t q_stride,
                                                  const void *const *rows, const void *const *ahead,
                                                  int32_t keys, int32_t dim, bool accumulate,
                                                  float *x, int64_t x_stride) {
  constexpr int kKeys = 8 / kHeads, kBytes = Stored<E>::kBytes;
  const int32_t whole = dim & ~7, rest = dim & 7;
  for (int32_t j = 0; j < keys; j += kKeys) {
    const void *row[kKeys];
    unrolled<kKeys>(PYACLNN_EACH {
      constexpr int k = decltype(index)::value;
      row[k] = rows[j + k < keys ? j + k : j];
      if (ahead != nullptr && j + k < keys) prefetch(ahead[j + k], dim * kBytes);
    });
    V s[8];
    unrolled<8>(PYACLNN_EACH { s[decltype(index)::value] = zero(); });
    for (int32_t d = 0; d < whole; d += 8) {
      V key[kKeys];
      unrolled<kKeys>(PYACLNN_EACH {
        constexpr int k = decltype(index)::value;
        key[k] = Stored<E>::get(at(row[k], static_cast<int64_t>(d) * kBytes));
      });
      unrolled<kHeads * kKeys>(PYACLNN_EACH {
        constexpr int i = decltype(index)::value;
        s[i] = fma(load(q + (i / kKeys) * q_stride + d), key[i % kKeys], s[i]);
      });
    }
    if (rest != 0) {
      unrolled<kHeads * kKeys>(PYACLNN_EACH {
        constexpr int i = decltype(index)::value;
        V key = get_some<E>(at(row[i % kKeys], static_cast<int64_t>(whole) * kBytes), rest);
        s[i] = fma(load(q + (i / kKeys) * q_stride + whole), key, s[i]);
      });
    }
    float sum[8];
    save(sum, sums(s));
    for (int h = 0; h < kHeads; ++h) {
      for (int k = 0; k < kKeys && j + k < keys; ++k) {
        float &to = x[h * x_stride + j + k];
        to = accumulate ? to + sum[h * kKeys + k] : sum[h * kKeys + k];
      }
    }
  }
}

template <Element E>
static void scores_of(const float *q, int64_t q_stride, int32_t heads, const void *const *rows,
                      const void *const *ahead, int32_t keys, int32_t dim, bool accumulate,
                      float *x, int64_t x_stride) {
  while (heads > 0) {
    int32_t now = heads >= 4 ? 4 : heads >= 2 ? 2 : 1;
    auto tile = now == 4 ? scores_tile<E, 4> : now == 2 ? scores_tile<E, 2> : scores_tile<E, 1>;
    tile(q, q_stride, rows, ahead, keys, dim, accumulate, x, x_stride);
    ahead = nullptr;
    q += now * q_stride;
    x += now * x_stride;
    heads -= now;
  }
}

static void scores(Element element, const float *q, int64_t q_stride, int32_t heads,
                   const void *const *rows, const void *const *ahead, int32_t keys, int32_t dim,
                   bool accumulate, float *x, int64_t x_stride) {
  auto fn = element == Element::F16    ? scores_of<Element::F16>
            : element == Element::BF16 ? scores_of<Element::BF16>
                                       : scores_of<Element::F32>;
  fn(q, q_stride, heads, rows, ahead, keys, dim, accumulate, x, x_stride);
}

static void weights(float *x, int64_t x_stride, int32_t heads, int32_t keys, float *m, float *l,
                    float *factor) {
  const float kNone = -__builtin_inff();
  const int32_t padded = (keys + 7) & ~7;
  for (int32_t h = 0; h < heads; ++h, x += x_stride) {
    for (int32_t j = keys; j < padded; ++j) x[j] = kNone;
    V best = all(kNone);
    for (int32_t j = 0; j < padded; j += 8) best = max(load(x + j), best);
    float lanes[8], m_new = m[h];
    save(lanes, best);
    for (float lane : lanes) m_new = lane > m_new ? lane : m_new;
    V sum = zero();
    if (m_new == kNone) {  // no weight yet; a NaN goes on
      factor[h] = 1;
      for (int32_t j = 0; j < padded; ++j) x[j] = x[j] == kNone ? 0 : x[j];
      for (int32_t j = 0; j < padded; j += 8) sum = add(sum, load(x + j));
      l[h] += sum_of(sum);
      continue;
    }
    V shift = all(m_new);
    for (int32_t j = 0; j < padded; j += 8) {
      V e = exp_of(sub(load(x + j), shift));
      save(x + j, e);
      sum = add(sum, e);
    }
    save(lanes, exp_of(all(m[h] - m_new)));
    factor[h] = lanes[0];
    l[h] = l[h] * factor[h] + sum_of(sum);
    m[h] = m_new;
  }
}

// kHeads heads and kVectors * 8 columns against all keys. The sum of these keys is joined to acc at
// the end: beside one large weight many small ones would vanish one by one. `some`: columns of a
// last partial vector (then kVectors is 1), else 8.
template <Element E, int kHeads, int kVectors, bool kPartial>
__attribute__((noinline)) static void values_tile(const float *p, int64_t p_stride,
                                                  const void *const *rows, const void *const *ahead,
                                                  int64_t ahead_bytes, int64_t column, int32_t keys,
                                                  int32_t some, const float *factor, float *acc,
                                                  int64_t acc_stride) {
  constexpr int kBytes = Stored<E>::kBytes;
  V sum[kHeads * kVectors];
  unrolled<kHeads * kVectors>(PYACLNN_EACH { sum[decltype(index)::value] = zero(); });
  for (int32_t j = 0; j < keys; ++j) {
    const char *row = at(rows[j], column * kBytes);
    if (ahead != nullptr) prefetch(ahead[j], ahead_bytes);
    V value[kVectors];
    unrolled<kVectors>(PYACLNN_EACH {
      constexpr int c = decltype(index)::value;
      if constexpr (kPartial) {
        value[c] = get_some<E>(row, some);
      } else {
        value[c] = Stored<E>::get(row + c * 8 * kBytes);
      }
    });
    unrolled<kHeads>(PYACLNN_EACH {
      constexpr int h = decltype(index)::value;
      V weight = all(p[h * p_stride + j]);
      unrolled<kVectors>([&](auto inner) __attribute__((always_inline)) {
        constexpr int c = decltype(inner)::value;
        sum[h * kVectors + c] = fma(weight, value[c], sum[h * kVectors + c]);
      });
    });
  }
  unrolled<kHeads * kVectors>(PYACLNN_EACH {
    constexpr int i = decltype(index)::value;
    float *to = acc + (i / kVectors) * acc_stride + column + (i % kVectors) * 8;
    V scale = all(factor[i / kVectors]);
    if constexpr (kPartial) {
      save_some(to, fma(load_some(to, some), scale, sum[i]), some);
    } else {
      save(to, fma(load(to), scale, sum[i]));
    }
  });
}

template <Element E, int kHeads>
static void values_heads(const float *p, int64_t p_stride, const void *const *rows,
                         const void *const *ahead, int32_t keys, int32_t dim, const float *factor,
                         float *acc, int64_t acc_stride) {
  constexpr int kVectors = 8 / kHeads;
  const int64_t bytes = static_cast<int64_t>(dim) * Stored<E>::kBytes;
  int32_t column = 0;
  for (; column + kVectors * 8 <= dim; column += kVectors * 8) {
    values_tile<E, kHeads, kVectors, false>(p, p_stride, rows, ahead, bytes, column, keys, 8,
                                            factor, acc, acc_stride);
    ahead = nullptr;
  }
  for (; column + 8 <= dim; column += 8) {
    values_tile<E, kHeads, 1, false>(p, p_stride, rows, ahead, bytes, column, keys, 8, factor, acc,
                                     acc_stride);
    ahead = nullptr;
  }
  if (column < dim) {
    values_tile<E, kHeads, 1, true>(p, p_stride, rows, ahead, bytes, column, keys, dim - column,
                                    factor, acc, acc_stride);
  }
}

template <Element E>
static void values_of(const float *p, int64_t p_stride, int32_t heads, const void *const *rows,
                      const void *const *ahead, int32_t keys, int32_t dim, const float *factor,
                      float *acc, int64_t acc_stride) {
  while (heads > 0) {
    int32_t now = heads >= 4 ? 4 : heads >= 2 ? 2 : 1;
    auto fn = now == 4 ? values_heads<E, 4> : now == 2 ? values_heads<E, 2> : values_heads<E, 1>;
    fn(p, p_stride, rows, ahead, keys, dim, factor, acc, acc_stride);
    ahead = nullptr;
    p += now * p_stride;
    factor += now;
    acc += now * acc_stride;
    heads -= now;
  }
}

static void values(Element element, const float *p, int64_t p_stride, int32_t heads,
                   const void *const *rows, const void *const *ahead, int32_t keys, int32_t dim,
                   const float *factor, float *acc, int64_t acc_stride) {
  auto fn = element == Element::F16    ? values_of<Element::F16>
            : element == Element::BF16 ? values_of<Element::BF16>
                                       : values_of<Element::F32>;
  fn(p, p_stride, heads, rows, ahead, keys, dim, factor, acc, acc_stride);
}

static void merge(float *m, float *l, float *acc, const float *m2, const float *l2,
                  const float *acc2, int32_t heads, int32_t dim, int64_t acc_stride) {
  const float kNone = -__builtin_inff();
  for (int32_t h = 0; h < heads; ++h, acc += acc_stride, acc2 += acc_stride) {
    float m_new = m2[h] > m[h] ? m2[h] : m[h];
    float fa = 1, fb = 1;
    if (m_new != kNone) {
      float lanes[8];
      save(lanes, exp_of(all(m[h] - m_new)));
      fa = lanes[0];
      save(lanes, exp_of(all(m2[h] - m_new)));
      fb = lanes[0];
    }
    m[h] = m_new;
    l[h] = l[h] * fa + l2[h] * fb;
    V va = all(fa), vb = all(fb);
    int32_t d = 0;
    for (; d + 8 <= dim; d += 8) save(acc + d, fma(load(acc + d), va, mul(load(acc2 + d), vb)));
    if (d < dim) {
      V a = load_some(acc + d, dim - d), b = load_some(acc2 + d, dim - d);
      save_some(acc + d, fma(a, va, mul(b, vb)), dim - d);
    }
  }
}

template <Element E>
static void to_float_of(const void *from, int64_t count, float *to) {
  constexpr int kBytes = Stored<E>::kBytes;
  int64_t d = 0;
  for (; d + 8 <= count; d += 8) save(to + d, Stored<E>::get(at(from, d * kBytes)));
  if (d < count) {
    int32_t rest = static_cast<int32_t>(count - d);
    save_some(to + d, get_some<E>(at(from, d * kBytes), rest), rest);
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
  for (; d + 8 <= count; d += 8) {
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
  for (; d + 8 <= count; d += 8) {
    Stored<E>::put(out + d * kBytes, mul(div(load(acc + d), sum), scale));
  }
  if (d < count) {
    int32_t rest = static_cast<int32_t>(count - d);
    char buffer[8 * kBytes];
    Stored<E>::put(buffer, mul(div(load_some(acc + d, rest), sum), scale));
    for (int32_t i = 0; i < rest * kBytes; ++i) out[d * kBytes + i] = buffer[i];
  }
}

static void store(Element element, const float *acc, float l, float factor, int64_t count,
                  void *to) {
  auto fn = element == Element::F16    ? store_of<Element::F16>
            : element == Element::BF16 ? store_of<Element::BF16>
                                       : store_of<Element::F32>;
  fn(acc, l, factor, count, to);
}
