// The tiles of AMX in plain C++, from the public description of the instructions (Intel's manual of
// the architecture, LDTILECFG to TDPBF16PS), under the names of kernels/tiles_amx.hpp. Where an
// instruction would fault, the program says so and aborts.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tiles_model {

struct Tile {
  int rows, bytes;  // 0: not configured
  uint8_t data[16][64];
};
struct State {
  bool configured;
  Tile tiles[8];
  int64_t dots;  // how many have run
};
inline State state{};

inline void demand(bool holds, const char *what) {
  if (holds) return;
  std::fprintf(stderr, "tiles_model: %s\n", what);
  std::abort();
}

inline void release() {
  state.configured = false;
  for (Tile &tile : state.tiles) tile = Tile{};
}

inline void configure(const void *from) {
  uint8_t bytes[64];
  std::memcpy(bytes, from, sizeof bytes);
  if (bytes[0] == 0) return release();
  demand(bytes[0] == 1, "#GP: a palette that does not exist");
  demand(bytes[1] == 0, "a row to go on from, which nothing has left");
  for (int i = 2; i < 16; ++i) demand(bytes[i] == 0, "#GP: reserved bytes that are not 0");
  for (int i = 32; i < 48; ++i) demand(bytes[i] == 0, "#GP: sizes of tiles that do not exist");
  for (int i = 56; i < 64; ++i) demand(bytes[i] == 0, "#GP: rows of tiles that do not exist");
  for (int i = 0; i < 8; ++i) {
    const int columns = bytes[16 + 2 * i] | bytes[17 + 2 * i] << 8, rows = bytes[48 + i];
    demand(columns <= 64, "#GP: rows of more than 64 bytes");
    demand(rows <= 16, "#GP: more than 16 rows");
    demand((rows == 0) == (columns == 0), "#GP: rows without bytes or bytes without rows");
    state.tiles[i] = Tile{};
    state.tiles[i].rows = rows;
    state.tiles[i].bytes = columns;
  }
  state.configured = true;
}

inline Tile &tile_of(int number) {
  demand(number >= 0 && number < 8, "#UD: a tile that does not exist");
  demand(state.configured, "#UD: no tile is configured");
  demand(state.tiles[number].rows != 0, "#UD: the tile is not configured");
  return state.tiles[number];
}

inline void zero(int number) {
  Tile &tile = tile_of(number);
  std::memset(tile.data, 0, sizeof tile.data);
}

// What is read and written goes through byte loops that a sanitizer watches.
inline void load(int number, const void *from, int64_t stride) {
  Tile &tile = tile_of(number);
  std::memset(tile.data, 0, sizeof tile.data);
  for (int row = 0; row < tile.rows; ++row) {
    const auto *bytes = static_cast<const uint8_t *>(from) + row * stride;
    for (int i = 0; i < tile.bytes; ++i) tile.data[row][i] = bytes[i];
  }
}
inline void save(int number, void *to, int64_t stride) {
  Tile &tile = tile_of(number);
  for (int row = 0; row < tile.rows; ++row) {
    auto *bytes = static_cast<uint8_t *>(to) + row * stride;
    for (int i = 0; i < tile.bytes; ++i) bytes[i] = tile.data[row][i];
  }
}

// Numbers below the smallest normal one count as 0, before and after an operation.
inline float flushed(float f) {
  return std::fpclassify(f) == FP_SUBNORMAL ? std::copysign(0.0f, f) : f;
}
inline float float_at(const Tile &tile, int row, int n) {
  float f;
  std::memcpy(&f, tile.data[row] + 4 * n, 4);
  return f;
}
inline float half_at(const Tile &tile, int row, int n) {
  uint16_t half;
  std::memcpy(&half, tile.data[row] + 2 * n, 2);
  const uint32_t bits = uint32_t{half} << 16;
  float f;
  std::memcpy(&f, &bits, 4);
  return flushed(f);
}

inline void dot(int sums, int rows, int lanes) {
  demand(sums != rows && sums != lanes && rows != lanes, "#UD: one tile twice");
  Tile &c = tile_of(sums);
  const Tile &a = tile_of(rows), &b = tile_of(lanes);
  demand(a.bytes % 4 == 0 && b.bytes % 4 == 0 && c.bytes % 4 == 0, "#UD: half a pair");
  demand(a.rows == c.rows, "#UD: rows of the sums and of the first factor differ");
  demand(a.bytes / 4 == b.rows, "#UD: pairs of the first factor, rows of the second differ");
  demand(b.bytes == c.bytes, "#UD: lanes of the sums and of the second factor differ");
  for (int m = 0; m < c.rows; ++m) {
    float even[16] = {}, odd[16] = {};
    for (int k = 0; k < a.bytes / 4; ++k) {
      const float first = half_at(a, m, 2 * k), second = half_at(a, m, 2 * k + 1);
      for (int n = 0; n < c.bytes / 4; ++n) {
        even[n] = flushed(std::fma(first, half_at(b, k, 2 * n), even[n]));
        odd[n] = flushed(std::fma(second, half_at(b, k, 2 * n + 1), odd[n]));
      }
    }
    for (int n = 0; n < c.bytes / 4; ++n) {
      const float sum = flushed(flushed(float_at(c, m, n)) + flushed(even[n] + odd[n]));
      std::memcpy(c.data[m] + 4 * n, &sum, 4);
    }
  }
  ++state.dots;
}

}  // namespace tiles_model
