// The tiles of AMX (AMX-TILE and AMX-BF16): eight registers of up to 16 rows of up to 64 bytes,
// chosen by number. Included inside an unnamed namespace, after vec.hpp; see there why. In
// assembly, because gcc 12's intrinsics do not tell the compiler what memory they read.
//   tiles_shape         the shape of every tile, 64 bytes as LDTILECFG wants them; all become zero
//   tiles_release       no tile is in use any more
//   tile_load, _save    memory as the rows of a tile, `stride` bytes apart
//   tile_dot<c, a, b>   adds to row m, lane n of c the products of the pairs k of row m of a and of
//                       the pairs n of row k of b: the first values of all pairs, the second ones,
//                       both sums together, and that to c
#define PYACLNN_TILES 1

PYACLNN_INLINE void tiles_shape(const void *shapes) {
  __asm__ volatile("ldtilecfg %0" : : "m"(*static_cast<const char(*)[64]>(shapes)));
}
PYACLNN_INLINE void tiles_release() { __asm__ volatile("tilerelease"); }
template <int kTile>
PYACLNN_INLINE void tile_zero() {
  __asm__ volatile("tilezero %%tmm%c0" : : "i"(kTile));
}
template <int kTile>
PYACLNN_INLINE void tile_load(const void *from, int64_t stride) {
  __asm__ volatile("tileloadd (%0,%1,1), %%tmm%c2"
                   :
                   : "r"(from), "r"(stride), "i"(kTile)
                   : "memory");
}
template <int kTile>
PYACLNN_INLINE void tile_save(void *to, int64_t stride) {
  __asm__ volatile("tilestored %%tmm%c2, (%0,%1,1)"
                   :
                   : "r"(to), "r"(stride), "i"(kTile)
                   : "memory");
}
template <int kSums, int kRows, int kLanes>
PYACLNN_INLINE void tile_dot() {
  __asm__ volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0"
                   :
                   : "i"(kSums), "i"(kRows), "i"(kLanes));
}
