// The products of panel.inl.hpp over pairs, by tiles. Included after it by block.inl.hpp where the
// level's file has included a header of tiles (tiles_amx.hpp). A packed panel is what an
// instruction wants for its second factor, rows of q or p are what it wants for its first.
//
// The steps of a row are always summed up in the same sixteens, counted from the first step, and a
// step that is left out adds nothing: a row has the same sums whatever rows are around it.

constexpr int kTileRows = 16, kTileSteps = 16;
constexpr int kTallRows = 2 * kTileRows, kWideLanes = 2 * kWide;
static_assert(kWide == 16);

// As LDTILECFG reads it.
struct TileShapes {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t bytes[16] = {};
  uint8_t rows[16] = {};
};
static_assert(sizeof(TileShapes) == 64);

// Tiles 0 to 3 are the sums of two tiles of rows, 4 and 5, with two of lanes, 6 and 7. Shapes for
// one number of rows hold until the next; released at the end.
class Tiles {
 public:
  ~Tiles() { tiles_release(); }
  void shape(int32_t rows) {
    if (rows == rows_) return;
    rows_ = rows;
    const int32_t above = rows < kTileRows ? rows : kTileRows, below = rows - above;
    const int32_t heights[8] = {above, above, below, below, above, below, kTileSteps, kTileSteps};
    TileShapes shapes;
    for (int tile = 0; tile < 8; ++tile) {
      shapes.rows[tile] = static_cast<uint8_t>(heights[tile]);
      shapes.bytes[tile] = heights[tile] != 0 ? 64 : 0;
    }
    tiles_shape(&shapes);
  }

 private:
  int32_t rows_ = 0;
};

// Memory between tiles and vectors.
struct TileRoom {
  alignas(64) float rows[kTallRows * kTileSteps];
  alignas(64) float lanes[kTileSteps * kWideLanes];
  alignas(64) float sums[kTallRows * kWideLanes];
};

// Rows of q or p and one or two vectors of a panel, which has zeros behind its last step up to a
// whole tile.
struct TileFactors {
  const float *rows;
  int64_t rows_stride;
  int32_t count;
  const float *panel;
  int64_t panel_stride;
  bool wide;
};

// The steps [begin, end) of a tile, with zeros in place of the others: they may hold NaN.
PYACLNN_TILE void cut_steps(const TileFactors &f, int32_t t, int32_t begin, int32_t end,
                            TileRoom &room) {
  const auto kept = static_cast<__mmask16>(first(end) & ~first(begin));
  for (int32_t r = 0; r < f.count; ++r) {
    save(room.rows + r * kTileSteps,
         _mm512_maskz_mov_ps(kept, load(f.rows + r * f.rows_stride + t)));
  }
  for (int32_t s = 0; s < kTileSteps; ++s) {
    const bool keeps = begin <= s && s < end;
    const float *lanes = f.panel + (t + s) * f.panel_stride;
    float *to = room.lanes + s * kWideLanes;
    save(to, keeps ? load(lanes) : zero());
    if (f.wide) save(to + kWide, keeps ? load(lanes + kWide) : zero());
  }
}

// to = the sums over the steps [begin, end) of `steps`; behind the last step rows have zeros.
PYACLNN_TILE void tile_sums(const TileFactors &f, int32_t begin, int32_t end, int32_t steps,
                            TileRoom &room, float *to, int64_t to_stride) {
  constexpr int64_t kBytes = sizeof(float);
  const bool tall = f.count > kTileRows, wide = f.wide;
  tile_zero<0>();
  tile_zero<1>();
  if (tall) {
    tile_zero<2>();
    tile_zero<3>();
  }
  for (int32_t t = begin / kTileSteps * kTileSteps; t < end; t += kTileSteps) {
    const float *rows = f.rows + t, *panel = f.panel + t * f.panel_stride;
    int64_t rows_stride = f.rows_stride, panel_stride = f.panel_stride;
    if (t < begin || (t + kTileSteps > end && end < steps)) {
      const int32_t before = t < begin ? begin - t : 0;
      cut_steps(f, t, before, end - t < kTileSteps ? end - t : kTileSteps, room);
      rows = room.rows;
      rows_stride = kTileSteps;
      panel = room.lanes;
      panel_stride = kWideLanes;
    }
    tile_load<4>(rows, rows_stride * kBytes);
    tile_load<6>(panel, panel_stride * kBytes);
    tile_dot<0, 4, 6>();
    if (wide) {
      tile_load<7>(panel + kWide, panel_stride * kBytes);
      tile_dot<1, 4, 7>();
    }
    if (tall) {
      tile_load<5>(rows + kTileRows * rows_stride, rows_stride * kBytes);
      tile_dot<2, 5, 6>();
      if (wide) tile_dot<3, 5, 7>();
    }
  }
  tile_save<0>(to, to_stride * kBytes);
  if (wide) tile_save<1>(to + kWide, to_stride * kBytes);
  if (tall) {
    tile_save<2>(to + kTileRows * to_stride, to_stride * kBytes);
    if (wide) tile_save<3>(to + kTileRows * to_stride + kWide, to_stride * kBytes);
  }
}

PYACLNN_TILE void join_sums(const float *sums, int32_t rows, bool wide, bool accumulate,
                            const float *factor, float *x, int64_t x_stride) {
  for (int32_t r = 0; r < rows; ++r, sums += kWideLanes, x += x_stride) {
    const float *own = factor != nullptr ? factor + r : nullptr;
    put_panel(load(sums), accumulate, own, x);
    if (wide) put_panel(load(sums + kWide), accumulate, own, x + kWide);
  }
}

// As panel_rows, for `count` rows that the tiles have the shape for.
static void tile_rows(int32_t vectors, TileFactors f, int32_t begin, int32_t end, int32_t steps,
                      bool accumulate, const float *factor, TileRoom &room, float *x,
                      int64_t x_stride) {
  for (; vectors > 0; vectors -= 2, f.panel += kWideLanes, x += kWideLanes) {
    f.wide = vectors > 1;
    if (!accumulate) {
      tile_sums(f, begin, end, steps, room, x, x_stride);
      continue;
    }
    tile_sums(f, begin, end, steps, room, room.sums, kWideLanes);
    join_sums(room.sums, f.count, f.wide, accumulate, factor, x, x_stride);
  }
}

// Calls each(first row, rows, what any of these rows sees).
template <class Each>
PYACLNN_INLINE void for_tall_rows(int32_t rows, const KeyRange *ranges, int32_t keys, Each &&each) {
  for (int32_t at = 0; at < rows; at += kTallRows) {
    const int32_t now = rows - at < kTallRows ? rows - at : kTallRows;
    each(at, now, ranges == nullptr ? KeyRange{0, keys} : union_of(ranges + at, now));
  }
}
PYACLNN_INLINE int32_t tall_tiles(int32_t lanes, int32_t width, int32_t rows) {
  return ((lanes + width - 1) / width) * ((rows + kTallRows - 1) / kTallRows);
}

PYACLNN_INLINE void zero_behind(int32_t steps, int32_t width, float *panel) {
  const int32_t padded = (steps + kTileSteps - 1) / kTileSteps * kTileSteps;
  __builtin_memset(panel + steps * width, 0,
                   static_cast<size_t>((padded - steps) * width) * sizeof(float));
}

static void panel_scores_pairs(const float *q, int64_t q_stride, int32_t rows,
                               const KeyRange *ranges, Rows key_rows, Rows ahead,
                               const float *offset, int32_t keys, int32_t dim, bool accumulate,
                               float *panel, float *x, int64_t x_stride) {
  const RowList list(key_rows, keys);
  const int32_t steps = (dim + 1) / 2;
  const int32_t width = panel_vectors(vectors_of(keys)) * kWide;
  Ahead next(ahead, keys, static_cast<int64_t>(dim) * 2, tall_tiles(keys, width, rows));
  Tiles tiles;
  TileRoom room;
  for (int32_t j = 0; j < keys; j += width) {
    const int32_t most = keys - j < width ? keys - j : width;
    pack_panel_keys<Element::BF16>(PanelPairs{}, list.row + j, offset, most, dim, width, panel);
    zero_behind(steps, width, panel);
    for_tall_rows(rows, ranges, keys, [&](int32_t at, int32_t now, KeyRange any) {
      next.step();
      const int32_t last = any.last - j < most ? any.last - j : most;
      if (any.first >= any.last || last <= 0 || any.first >= j + most) return;
      tiles.shape(now);
      tile_rows(vectors_of(last), {q + at * q_stride, q_stride, now, panel, width, false}, 0, steps,
                steps, accumulate, nullptr, room, x + at * x_stride + j, x_stride);
    });
  }
}

static void panel_values_pairs(const float *p, int64_t p_stride, int32_t rows,
                               const KeyRange *ranges, Rows value_rows, Rows ahead,
                               const float *offset, int32_t keys, int32_t dim, const float *factor,
                               float *panel, float *acc, int64_t acc_stride) {
  const int32_t steps = (keys + 1) / 2;
  const int32_t width = panel_vectors(vectors_of(dim)) * kWide;
  Ahead next(ahead, keys, static_cast<int64_t>(dim) * 2, tall_tiles(dim, width, rows));
  Tiles tiles;
  TileRoom room;
  for (int32_t d = 0; d < dim; d += width) {
    const int32_t columns = dim - d < width ? dim - d : width;
    pack_panel_values<Element::BF16>(PanelPairs{}, value_rows, offset, d, keys, columns, width,
                                     panel);
    zero_behind(steps, width, panel);
    for_tall_rows(rows, ranges, keys, [&](int32_t at, int32_t now, KeyRange any) {
      next.step();
      if (any.first >= any.last) return;
      tiles.shape(now);
      tile_rows(vectors_of(columns), {p + at * p_stride, p_stride, now, panel, width, false},
                any.first / 2, (any.last + 1) / 2, steps, true, factor + at, room,
                acc + at * acc_stride + d, acc_stride);
    });
  }
}
