// Many rows against a block of keys, included by block.inl.hpp. Both products are one here: rows
// times a panel of panel_vectors() vectors, whose lanes are keys (scores) or columns of the values,
// for one step after the other. A step is a column of the keys (a key of the values), or with pairs
// two of them. Packing a panel takes the place of a conversion and of a sum over lanes for every
// row, and it stays in the first-level cache while all rows go by.

// What a panel multiplies: float32, or pairs of bf16 values.
struct PanelFloats {
  using Vector = V;
  static constexpr int kEach = 1;  // columns, or keys, of a step
  PYACLNN_INLINE V lanes(const float *p) { return load(p); }
  PYACLNN_INLINE V repeated(const float *p) { return all(*p); }
  PYACLNN_INLINE V multiply(V sum, V lane, V row) { return fma(lane, row, sum); }
};
#if defined(PYACLNN_PAIRS)
struct PanelPairs {
  using Vector = Pairs;
  static constexpr int kEach = 2;
  PYACLNN_INLINE Pairs lanes(const float *p) { return load_pairs(p); }
  PYACLNN_INLINE Pairs repeated(const float *p) {
    return all_pairs(reinterpret_cast<const uint16_t *>(p));
  }
  PYACLNN_INLINE V multiply(V sum, Pairs lane, Pairs row) { return dot(sum, lane, row); }
};
#endif

// The sums of a tile, a vector of each part of the panel and a repeated value stay in registers.
constexpr int kPanelRows = kRegisters >= 16 ? 6 : 4;
constexpr int kPanelVectors = (kRegisters - 1) / (kPanelRows + 1);

// Vectors of a panel, for a matrix of so many: panels of like size.
PYACLNN_INLINE int32_t panel_vectors(int32_t vectors) {
  const int32_t panels = (vectors + kPanelVectors - 1) / kPanelVectors;
  return (vectors + panels - 1) / panels;
}
PYACLNN_INLINE int32_t vectors_of(int32_t lanes) { return (lanes + kWide - 1) / kWide; }

// to (+)= sum; with a factor to = to * factor + sum.
PYACLNN_INLINE void put_panel(V sum, bool accumulate, const float *factor, float *to) {
  if (factor != nullptr) {
    sum = fma(load(to), all(*factor), sum);
  } else if (accumulate) {
    sum = add(load(to), sum);
  }
  save(to, sum);
}

// kRows rows and kVectors vectors of a panel: x (+)= sum over the steps; with a factor for each row
// x = x * factor + sum.
template <class P, int kRows, int kVectors>
PYACLNN_TILE void panel_tile(const float *rows, int64_t rows_stride, const float *panel,
                             int64_t panel_stride, int32_t steps, bool accumulate,
                             const float *factor, float *x, int64_t x_stride) {
  V sum[kRows * kVectors];
  unrolled<kRows * kVectors>(PYACLNN_EACH(index) { sum[decltype(index)::value] = zero(); });
  for (int32_t t = 0; t < steps; ++t, ++rows, panel += panel_stride) {
    typename P::Vector lanes[kVectors];
    unrolled<kVectors>(PYACLNN_EACH(index) {
      lanes[decltype(index)::value] = P::lanes(panel + decltype(index)::value * kWide);
    });
    unrolled<kRows>(PYACLNN_EACH(row) {
      constexpr int r = decltype(row)::value;
      typename P::Vector value = P::repeated(rows + r * rows_stride);
      unrolled<kVectors>(PYACLNN_EACH(index) {
        constexpr int i = r * kVectors + decltype(index)::value;
        sum[i] = P::multiply(sum[i], lanes[decltype(index)::value], value);
      });
    });
  }
  unrolled<kRows * kVectors>(PYACLNN_EACH(index) {
    constexpr int i = decltype(index)::value;
    put_panel(sum[i], accumulate, factor != nullptr ? factor + i / kVectors : nullptr,
              x + (i / kVectors) * x_stride + (i % kVectors) * kWide);
  });
}

template <class P, int kRows>
PYACLNN_INLINE void panel_rows(int32_t vectors, const float *rows, int64_t rows_stride,
                               const float *panel, int64_t panel_stride, int32_t steps,
                               bool accumulate, const float *factor, float *x, int64_t x_stride) {
  unrolled<kPanelVectors>(PYACLNN_EACH(index) {
    constexpr int n = decltype(index)::value + 1;
    if (vectors == n) {
      panel_tile<P, kRows, n>(rows, rows_stride, panel, panel_stride, steps, accumulate, factor, x,
                              x_stride);
    }
  });
}

// What any of some rows sees.
PYACLNN_INLINE KeyRange union_of(const KeyRange *ranges, int32_t rows) {
  KeyRange any = ranges[0];
  for (int32_t r = 1; r < rows; ++r) {
    if (ranges[r].first >= ranges[r].last) continue;
    any = any.first >= any.last
              ? ranges[r]
              : KeyRange{any.first < ranges[r].first ? any.first : ranges[r].first,
                         any.last > ranges[r].last ? any.last : ranges[r].last};
  }
  return any;
}

// Calls tile(Index<rows of the tile>{}, first row, what any of these rows sees).
template <class Tile>
PYACLNN_INLINE void for_rows(int32_t rows, const KeyRange *ranges, int32_t keys, Tile &&tile) {
  for (int32_t first = 0; first < rows;) {
    const int32_t left = rows - first;
    const int32_t now = left <= kPanelRows      ? left
                        : left < 2 * kPanelRows ? (left + 1) / 2
                                                : kPanelRows;
    const KeyRange any = ranges == nullptr ? KeyRange{0, keys} : union_of(ranges + first, now);
    unrolled<kPanelRows>(PYACLNN_EACH(index) {
      constexpr int n = decltype(index)::value + 1;
      if (now == n && any.first < any.last) tile(Index<n>{}, first, any);
    });
    first += now;
  }
}

// Lane j of step t is step t of key j: get(row, t) are the kWide steps of a row from t on,
// get_some(row, t) those up to the last. The last of the steps may lack its second half: `whole`
// do not.
template <class Get, class GetSome>
PYACLNN_INLINE void pack_keys(const char *const *row, int32_t keys, int32_t steps, int32_t whole,
                              int32_t stride, float *panel, Get &&get, GetSome &&get_some) {
  for (int32_t j = 0; j < keys; j += kWide, row += kWide, panel += kWide) {
    for (int32_t t = 0; t < steps; t += kWide) {
      V lanes[kWide];
      // What a square that is not whole asks for would cost a whole one as much again.
      if (keys - j >= kWide && whole - t >= kWide) {
        unrolled<kWide>(PYACLNN_EACH(index) {
          lanes[decltype(index)::value] = get(row[decltype(index)::value], t);
        });
        transpose(lanes);
        unrolled<kWide>(PYACLNN_EACH(index) {
          save(panel + (t + decltype(index)::value) * stride, lanes[decltype(index)::value]);
        });
        continue;
      }
      unrolled<kWide>(PYACLNN_EACH(index) {
        constexpr int k = decltype(index)::value;
        lanes[k] = k >= keys - j        ? zero()
                   : whole - t >= kWide ? get(row[k], t)
                                        : get_some(row[k], t);
      });
      transpose(lanes);
      unrolled<kWide>(PYACLNN_EACH(index) {
        constexpr int k = decltype(index)::value;
        if (k < steps - t) save(panel + (t + k) * stride, lanes[k]);
      });
    }
  }
}

template <Element E>
PYACLNN_TILE void pack_panel_keys(PanelFloats, const char *const *rows, const float *offset,
                                  int32_t keys, int32_t dim, int32_t stride, float *panel) {
  constexpr int kBytes = Stored<E>::kBytes;
  const int32_t rest = dim % kWide;
  pack_keys(
      rows, keys, dim, dim, stride, panel,
      [&](const char *row, int32_t d)
          __attribute__((always_inline)) { return Stored<E>::get(row + d * kBytes, offset + d); },
      [&](const char *row, int32_t d) __attribute__((always_inline)) {
        return Stored<E>::get_some(row + d * kBytes, offset + d, rest);
      });
}

// The values are in the right order already. Zeros behind the last column.
template <Element E>
PYACLNN_TILE void pack_panel_values(PanelFloats, const Rows &rows, const float *offset,
                                    int32_t column, int32_t keys, int32_t columns, int32_t stride,
                                    float *panel) {
  constexpr int kBytes = Stored<E>::kBytes;
  const int32_t whole = columns / kWide * kWide, rest = columns % kWide;
  offset += column;
  for (int32_t j = 0; j < keys; ++j, panel += stride) {
    const char *row = row_of(rows, j) + column * kBytes;
    for (int32_t d = 0; d < whole; d += kWide) {
      save(panel + d, Stored<E>::get(row + d * kBytes, offset + d));
    }
    if (rest != 0) {
      save(panel + whole, Stored<E>::get_some(row + whole * kBytes, offset + whole, rest));
    }
  }
}

#if defined(PYACLNN_PAIRS)
template <Element E>
PYACLNN_TILE void pack_panel_keys(PanelPairs, const char *const *rows, const float *, int32_t keys,
                                  int32_t dim, int32_t stride, float *panel) {
  const int32_t rest = dim % kTwice;
  pack_keys(
      rows, keys, (dim + 1) / 2, dim / 2, stride, panel,
      [&](const char *row, int32_t t)
          __attribute__((always_inline)) { return as_lanes(load_pairs(row + t * 4)); },
      [&](const char *row, int32_t t)
          __attribute__((always_inline)) { return as_lanes(load_pairs_some(row + t * 4, rest)); });
}

// Pairs of the same column of two keys; a 0 behind an odd number of keys.
template <Element E>
PYACLNN_TILE void pack_panel_values(PanelPairs, const Rows &rows, const float *, int32_t column,
                                    int32_t keys, int32_t columns, int32_t stride, float *panel) {
  for (int32_t j = 0; j < keys; j += 2, panel += stride) {
    const char *row = row_of(rows, j) + column * 2;
    const char *second = j + 1 < keys ? row_of(rows, j + 1) + column * 2 : nullptr;
    for (int32_t d = 0; d < columns; d += kTwice) {
      auto get = [&](const char *from) __attribute__((always_inline)) {
        return columns - d >= kTwice ? load_pairs(from + d * 2)
                                     : load_pairs_some(from + d * 2, columns - d);
      };
      Pairs low, high;
      interleave(get(row), second != nullptr ? get(second) : no_pairs(), low, high);
      V first_half, second_half;
      in_order(as_lanes(low), as_lanes(high), first_half, second_half);
      save(panel + d, first_half);
      if (columns - d > kWide) save(panel + d + kWide, second_half);
    }
  }
}
#endif

// Prefetches rows in like parts, one with every tile.
class Ahead {
 public:
  Ahead(const Rows &rows, int32_t count, int64_t bytes, int32_t tiles)
      : rows_(rows), left_(some(rows) ? count : 0), bytes_(bytes), each_(count / tiles + 1) {}
  void step() {
    for (int32_t k = 0; k < each_ && left_ > 0; ++k) prefetch(row_of(rows_, --left_), bytes_);
  }

 private:
  const Rows &rows_;
  int32_t left_;
  const int64_t bytes_;
  const int32_t each_;
};
PYACLNN_INLINE int32_t tiles_of(int32_t lanes, int32_t width, int32_t rows) {
  return ((lanes + width - 1) / width) * ((rows + kPanelRows - 1) / kPanelRows);
}

template <class P, Element E>
static void panel_scores_of(const float *q, int64_t q_stride, int32_t rows, const KeyRange *ranges,
                            Rows key_rows, Rows ahead, const float *offset, int32_t keys,
                            int32_t dim, bool accumulate, float *panel, float *x,
                            int64_t x_stride) {
  const RowList list(key_rows, keys);
  const int32_t steps = (dim + P::kEach - 1) / P::kEach;
  const int32_t width = panel_vectors(vectors_of(keys)) * kWide;
  Ahead next(ahead, keys, static_cast<int64_t>(dim) * Stored<E>::kBytes,
             tiles_of(keys, width, rows));
  for (int32_t j = 0; j < keys; j += width) {
    const int32_t most = keys - j < width ? keys - j : width;
    pack_panel_keys<E>(P{}, list.row + j, offset, most, dim, width, panel);
    for_rows(rows, ranges, keys, [&](auto n, int32_t first, KeyRange any) {
      next.step();
      const int32_t last = any.last - j < most ? any.last - j : most;
      if (last <= 0 || any.first >= j + most) return;
      panel_rows<P, decltype(n)::value>(vectors_of(last), q + first * q_stride, q_stride, panel,
                                        width, steps, accumulate, nullptr, x + first * x_stride + j,
                                        x_stride);
    });
  }
}

template <class P, Element E>
static void panel_values_of(const float *p, int64_t p_stride, int32_t rows, const KeyRange *ranges,
                            Rows value_rows, Rows ahead, const float *offset, int32_t keys,
                            int32_t dim, const float *factor, float *panel, float *acc,
                            int64_t acc_stride) {
  const int32_t width = panel_vectors(vectors_of(dim)) * kWide;
  Ahead next(ahead, keys, static_cast<int64_t>(dim) * Stored<E>::kBytes,
             tiles_of(dim, width, rows));
  for (int32_t d = 0; d < dim; d += width) {
    const int32_t columns = dim - d < width ? dim - d : width;
    pack_panel_values<E>(P{}, value_rows, offset, d, keys, columns, width, panel);
    for_rows(rows, ranges, keys, [&](auto n, int32_t first, KeyRange any) {
      next.step();
      const int32_t begin = any.first / P::kEach, end = (any.last + P::kEach - 1) / P::kEach;
      panel_rows<P, decltype(n)::value>(vectors_of(columns), p + first * p_stride + begin, p_stride,
                                        panel + begin * width, width, end - begin, true,
                                        factor + first, acc + first * acc_stride + d, acc_stride);
    });
  }
}
