// Part vectors for levels without masked loads and stores: by way of a small
// buffer, so that nothing is read or written beside the elements. See vec.hpp.

PYACLNN_INLINE void copy_bytes(void *to, const void *from, int32_t bytes) {
  for (int32_t i = 0; i < bytes; ++i)
    static_cast<char *>(to)[i] = static_cast<const char *>(from)[i];
}

PYACLNN_INLINE V load_some(const float *p, int32_t count) {
  float buffer[kWide] = {};
  copy_bytes(buffer, p, count * 4);
  return load(buffer);
}
PYACLNN_INLINE V load_f16_some(const void *p, int32_t count) {
  uint16_t buffer[kWide] = {};
  copy_bytes(buffer, p, count * 2);
  return load_f16(buffer);
}
PYACLNN_INLINE V load_bf16_some(const void *p, int32_t count) {
  uint16_t buffer[kWide] = {};
  copy_bytes(buffer, p, count * 2);
  return load_bf16(buffer);
}
PYACLNN_INLINE V load_i8_some(const void *p, int32_t count) {
  int8_t buffer[kWide] = {};
  copy_bytes(buffer, p, count);
  return load_i8(buffer);
}
PYACLNN_INLINE void save_some(float *p, V v, int32_t count) {
  float buffer[kWide];
  save(buffer, v);
  copy_bytes(p, buffer, count * 4);
}
PYACLNN_INLINE void save_f16_some(void *p, V v, int32_t count) {
  uint16_t buffer[kWide];
  save_f16(buffer, v);
  copy_bytes(p, buffer, count * 2);
}
PYACLNN_INLINE void save_bf16_some(void *p, V v, int32_t count) {
  uint16_t buffer[kWide];
  save_bf16(buffer, v);
  copy_bytes(p, buffer, count * 2);
}
