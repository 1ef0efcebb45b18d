#include "attention/output.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "support/half.hpp"

namespace pyaclnn::attention {
namespace {

float saturate_to_int8(float value) {
  if (std::isnan(value)) return 0;
  return std::clamp(value, -128.0f, 127.0f);
}

// float32 to half, ties away from zero (nearest otherwise).
float half_away(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t sign = bits & 0x80000000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return value;
  if (magnitude >= 0x477ff000u) return std::bit_cast<float>(sign | 0x7f800000u);
  if (magnitude < 0x38800000u) {  // subnormal halves: multiples of 2^-24, exact in float32
    float steps = std::bit_cast<float>(magnitude) * 0x1p24f;
    return std::copysign(std::round(steps) * 0x1p-24f, value);
  }
  return std::bit_cast<float>(sign | ((magnitude + 0x1000u) & ~0x1fffu));
}

int8_t quantise_output(const Problem &p, Addresses addresses, int64_t n, int64_t d, float o) {
  const Out &out = p.out;
  float scale = load(out.scale, addresses, element(out.scale, 0, 0, n, d));
  float offset = 0;
  if (out.offset.given()) offset = load(out.offset, addresses, element(out.offset, 0, 0, n, d));
  auto half = [](float value) { return half_to_float(float_to_half(value)); };
  switch (out.post) {
    case Out::No: break;
    case Out::HalfSteps: {
      float h = half(half(half(o) * half(scale)) + half(offset));
      return static_cast<int8_t>(std::nearbyintf(saturate_to_int8(h)));
    }
    case Out::RoundAway: {
      float product = o * scale;
      float h = half_away(product + offset);
      return static_cast<int8_t>(std::roundf(saturate_to_int8(h)));
    }
    case Out::Fp32: {
      float product = o * scale;
      return static_cast<int8_t>(std::nearbyintf(saturate_to_int8(product + offset)));
    }
  }
  return 0;
}

}  // namespace

void store_statistics(const Problem &p, Addresses addresses, const Batch &batch, int64_t i,
                      int64_t n, float lse, float max, float sum) {
  auto put = [&](const View &view, float value) {
    if (!view.given()) return;
    for (int64_t j = 0; j < std::max(p.out.repeat, 1); ++j) {
      store(Type::f32, addresses[view.slot], element(view, batch.b, batch.query_begin + i, n, j),
            value);
    }
  };
  put(p.out.lse, lse);
  put(p.out.max, max);
  put(p.out.sum, sum);
}

void store_output(const Problem &p, Addresses addresses, const Batch &batch, int64_t i, int64_t n,
                  const float *o) {
  const View &view = p.out.o;
  if (!view.given()) return;
  std::byte *base = addresses[view.slot];
  int64_t at = element(view, batch.b, batch.query_begin + i, n, 0);
  for (int64_t d = 0; d < p.headDimV; ++d, at += view.d) {
    float value = o != nullptr ? o[d] : 0.0f;
    if (p.out.post == Out::No) {
      store(view.type, base, at, value);
    } else {
      base[at] = static_cast<std::byte>(quantise_output(p, addresses, n, d, value));
    }
  }
}

void store_empty_row(const Problem &p, Addresses addresses, const Batch &batch, int64_t i,
                     int64_t n) {
  store_output(p, addresses, batch, i, n, nullptr);
  store_statistics(p, addresses, batch, i, n, p.empty.lseNoKeys, p.empty.maxNoKeys,
                   p.empty.sumNoKeys);
}

void store_outside(const Problem &p, Addresses addresses) {
  if (p.out.rows == 0 || p.empty.outside != Empty::Zero) return;
  auto fill = [&](int64_t b, int64_t first, int64_t last) {
    Batch rows;
    rows.b = b;
    for (int64_t row = first; row < last; ++row) {
      rows.query_begin = row;
      for (int64_t n = 0; n < p.heads; ++n) store_empty_row(p, addresses, rows, 0, n);
    }
  };
  if (p.qBegin.from != Begin::Host) {
    for (int64_t b = 0; b < p.batch; ++b) {
      Batch batch = batch_of(p, addresses, b, 0);
      if (!batch.run) continue;
      if (batch.queries == 0) {
        fill(b, 0, p.out.rows);
      } else {
        fill(b, 0, batch.query_begin);
        fill(b, batch.query_begin + batch.queries, p.out.rows);
      }
    }
    return;
  }
  // One packed axis; batches stand in ascending order (a skipped batch keeps its rows).
  int64_t next = 0;
  for (int64_t b = 0; b < p.batch; ++b) {
    int64_t begin = host_value(p.qBegin.host, b);
    // The length of a skipped batch was not judged.
    int64_t queries = std::clamp<int64_t>(length_of(p.qLen, addresses, b), 0, p.qLen.bound);
    if (queries == 0) continue;
    fill(0, next, std::min(begin, p.out.rows));
    next = std::max(next, begin + queries);
  }
  fill(0, next, p.out.rows);
}

}  // namespace pyaclnn::attention
