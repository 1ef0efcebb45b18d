#include "attention/scores.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace pyaclnn::attention {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The elements of the mask for a row and the columns from one on, as far as they are `step` apart.
struct MaskRun {
  bool given = false;  // false: these pairs have none
  int64_t count = 1;
  int64_t at = 0, step = 0;
  int64_t tile_row = 0, tile_column = 0;
  // Wraps, as element does: behind the last one it is not read.
  void next() {
    at = static_cast<int64_t>(static_cast<uint64_t>(at) + static_cast<uint64_t>(step));
  }
};
MaskRun mask_run(const Mask &mask, int64_t b, int64_t n, int64_t row, int64_t column,
                 int64_t count) {
  MaskRun run;
  if (column < 0) return run;
  run.count = count;
  run.given = true;
  if (mask.tile > 0) {
    if (row < 0) return {false, count};
    run.tile_row = row / mask.tile;
    run.tile_column = column / mask.tile;
    int64_t left = run.tile_row - run.tile_column;
    run.count = std::min(count, mask.tile - column % mask.tile);
    run.given = mask.tileForm == Mask::Diagonal ? left == 0 : left >= 0;
    switch (mask.tileForm) {
      case Mask::Diagonal: row %= mask.tile; break;
      case Mask::Stripe: row -= run.tile_column * mask.tile; break;
      case Mask::Lower: row = row % mask.tile + (left > 0 ? mask.tile : 0); break;
    }
    row += mask.tileRow;
    column = column % mask.tile + mask.tileCol;
  }
  if (mask.fractal > 0) {
    run.count = std::min(run.count, mask.fractal - column % mask.fractal);
  }
  run.step = mask.fractal > 0 ? 1 : mask.m.d;
  run.at = mask_element(mask, b, n, row, column);
  return run;
}

// What the elements x of a run become before they are added.
void grow_mask(const Mask &mask, const MaskRun &run, float slope, float *x) {
  auto tile = static_cast<float>(mask.tile);
  bool same = run.tile_row == run.tile_column;
  float away = tile * static_cast<float>(run.tile_row - run.tile_column) - tile;
  auto each = [&](auto grown) {
    for (int64_t j = 0; j < run.count; ++j) x[j] = grown(x[j]) * slope;
  };
  switch (same && mask.grow != Mask::Column ? Mask::Fixed : mask.grow) {
    case Mask::Fixed: each([](float v) { return v; }); break;
    case Mask::Distance: each([=](float v) { return v + away; }); break;
    case Mask::Root: each([=](float v) { return std::sqrt(v * v + away); }); break;
    case Mask::Column: {
      float begin = tile * static_cast<float>(run.tile_column);
      each([=](float v) { return v + begin; });
    }
  }
}

template <class Word>
Word read(const std::byte *at) {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

bool not_zero(Type type, const std::byte *base, int64_t index) {
  if (type == Type::i64) return read<int64_t>(base + index * 8) != 0;
  return load(type, base, index) != 0;
}

// The words of a mask row; a word is zero where no bit of `bits` is set. value(j): element j.
template <class Word, class Value>
UnmaskedInterval interval_of(const std::byte *row, int32_t keys, Word bits, Value value) {
  auto word = [&](int32_t j) { return read<Word>(row + j * static_cast<int64_t>(sizeof(Word))); };
  const Word first = word(0), end = word(keys - 1);
  Word set = 0, differs = 0;
  int32_t zeros = 0;
  for (int32_t j = 0; j < keys; ++j) {
    set |= static_cast<Word>(word(j) & bits);
    differs |= static_cast<Word>(word(j) ^ first);
  }
  if (set == 0) return {true, 0, keys, -kInfinity};
  if (differs == 0) return {true, 0, 0, value(0)};
  // Causal: zeros, then one and the same word.
  for (int32_t j = 0; j < keys; ++j) zeros += (word(j) & bits) == 0;
  differs = 0;
  for (int32_t j = 0; j < zeros; ++j) differs |= static_cast<Word>(word(j) & bits);
  for (int32_t j = zeros; j < keys; ++j) differs |= static_cast<Word>(word(j) ^ end);
  if (differs == 0) return {true, 0, zeros, value(keys - 1)};

  UnmaskedInterval found{true, 0, 0, -kInfinity};
  bool any = false;
  for (int32_t j = 0; j < keys; ++j) {
    if ((word(j) & bits) == 0) {
      if (!any) found.first = j;
      any = true;
      found.last = j + 1;
    } else if (j == 0 || word(j) != word(j - 1)) {
      const float other = value(j);
      if (std::isnan(other)) return {};
      found.most = std::max(found.most, other);
    }
  }
  found.known = zeros == found.last - found.first;
  return found;
}

UnmaskedInterval interval_of(const Mask &mask, const std::byte *base, int64_t at, int32_t keys) {
  const std::byte *row = base + at * (type_bits(mask.m.type) / 8);
  auto value = [&](int32_t j) {
    if (mask.how == Mask::Replace) return mask.value;
    const float element = load(mask.m.type, base, at + j);
    return mask.how == Mask::AddTimes ? element * mask.value : element;
  };
  switch (mask.m.type) {
    case Type::f16:
    case Type::bf16: return interval_of<uint16_t>(row, keys, 0x7fff, value);
    case Type::f32: return interval_of<uint32_t>(row, keys, 0x7fffffff, value);
    case Type::i8:
    case Type::u8: return interval_of<uint8_t>(row, keys, 0xff, value);
    default: return {};
  }
}

void add_pse(const Problem &p, Addresses addresses, const Batch &batch, int64_t i, int64_t n,
             int64_t t0, int64_t count, const kernels::Kernels *kernels, float *x) {
  const Bias &bias = p.bias;
  int64_t pse_row = row_index(bias.pseRows, batch, i);
  int64_t j = 0;
  if (bias.pseColumns == Mask::Tail) {
    while (j < count && column_index(bias.pseColumns, batch, t0 + j) < 0) ++j;
  }
  if (j == count) return;
  int64_t at = element(bias.pse, batch.b, pse_row, n, column_index(bias.pseColumns, batch, t0 + j));
  const std::byte *base = address(addresses, bias.pse.slot);
  if (bias.pse.d == 1 && kernels != nullptr) {
    float buffer[kAdjustMax];
    int64_t some = count - j;
    kernels->to_float(element_of(bias.pse.type), base + at * (type_bits(bias.pse.type) / 8), some,
                      buffer);
    for (int64_t c = 0; c < some; ++c) x[j + c] += buffer[c];
  } else {
    for (; j < count; ++j, at += bias.pse.d) x[j] += load(bias.pse.type, base, at);
  }
}

void add_alibi(const Problem &p, Addresses addresses, const Batch &batch, int64_t i, int64_t n,
               int64_t t0, int64_t count, float *x) {
  const Bias &bias = p.bias;
  float slope = load(bias.slopes, addresses, element(bias.slopes, batch.b, 0, n, 0));
  int64_t from = row_index(bias.alibiRows, batch, i) + bias.qStart - bias.kStart;
  auto distances = [&](auto wide, auto term) {
    using Integer = decltype(wide);
    const auto far = static_cast<Integer>(from - t0), first = static_cast<Integer>(t0);
    for (int32_t j = 0; j < static_cast<int32_t>(count); ++j) {
      x[j] += term(static_cast<float>(far - j), static_cast<float>(first + j));
    }
  };
  auto each = [&](auto term) {  // processors convert 32 bits side by side
    constexpr int64_t kFits = int64_t{1} << 30;
    if (-kFits < from && from < kFits && t0 < kFits) {
      distances(int32_t{}, term);
    } else {
      distances(int64_t{}, term);
    }
  };
  switch (bias.alibi) {
    case Bias::No: break;
    case Bias::Linear: each([=](float dist, float) { return -(slope * std::fabs(dist)); }); break;
    case Bias::Sqrt:
      each([=](float dist, float) { return -(slope * std::sqrt(std::fabs(dist))); });
      break;
    case Bias::LeftAlign: each([=](float, float t) { return slope * t; }); break;
    case Bias::DistLinear: each([=](float dist, float) { return slope * dist; }); break;
    case Bias::DistSqrt:
      each([=](float dist, float) { return slope * std::sqrt(std::max(dist, 0.0f)); });
      break;
  }
}

// Marks what the mask replaces in `replaced`; returns how many keys that are.
int64_t apply_mask(const Problem &p, Addresses addresses, const Batch &batch, int64_t i, int64_t n,
                   int64_t t0, int64_t count, const kernels::Kernels *kernels, float *x,
                   uint8_t *replaced) {
  const Mask &mask = p.mask;
  if (byte_mask(mask)) {
    const int64_t found = replaced_keys(p, addresses, batch, i, n, t0, count, replaced);
    for (int64_t j = 0; j < count; ++j) x[j] = replaced[j] != 0 ? mask.value : x[j];
    return found;
  }
  const std::byte *base = address(addresses, mask.m.slot);
  int64_t mask_row = row_index(mask.rows, batch, i);
  float slope = 1;
  if (mask.slopes.given()) {
    slope = load(mask.slopes, addresses, element(mask.slopes, batch.b, 0, n, 0));
  }
  bool grows = mask.slopes.given() || mask.grow != Mask::Fixed;
  int64_t found = 0;
  MaskRun run;
  for (int64_t t = 0; t < count; t += run.count) {
    run =
        mask_run(mask, batch.b, n, mask_row, column_index(mask.columns, batch, t0 + t), count - t);
    if (!run.given) continue;
    if (mask.how == Mask::Replace) {
      for (int64_t j = t; j < t + run.count; ++j, run.next()) {
        if (!not_zero(mask.m.type, base, run.at)) continue;
        x[j] = mask.value;
        replaced[j] = 1;
        ++found;
      }
      continue;
    }
    float m[kAdjustMax];
    if (run.step == 1 && kernels != nullptr) {
      kernels->to_float(element_of(mask.m.type), base + run.at * (type_bits(mask.m.type) / 8),
                        run.count, m);
    } else {
      for (int64_t j = 0; j < run.count; ++j, run.next()) {
        m[j] = load(mask.m.type, base, run.at);
      }
    }
    if (grows) grow_mask(mask, run, slope, m);
    if (mask.how == Mask::AddTimes) {
      for (int64_t j = 0; j < run.count; ++j) m[j] *= mask.value;
    }
    for (int64_t j = 0; j < run.count; ++j) x[t + j] += m[j];
  }
  return found;
}

}  // namespace

int64_t row_index(Mask::Rows rows, const Batch &batch, int64_t i) {
  switch (rows) {
    case Mask::Local: return i;
    case Mask::Padded: return batch.query_begin + i;
    case Mask::Absolute: break;
  }
  return i + batch.keys - batch.queries;
}

int64_t column_index(Mask::Columns columns, const Batch &batch, int64_t t) {
  switch (columns) {
    case Mask::PaddedColumns: return batch.key_begin + t;
    case Mask::LocalColumns: return t;
    case Mask::Tail: break;
  }
  return std::max<int64_t>(t - (batch.keys - batch.queries), -1);
}

int64_t mask_element(const Mask &mask, int64_t b, int64_t n, int64_t row, int64_t column) {
  if (mask.fractal == 0) return element(mask.m, b, row, n, column);
  return element(mask.m, b, row, n, column / mask.fractal) + column % mask.fractal;
}

bool byte_mask(const Mask &mask) {
  return mask.how == Mask::Replace && (mask.m.type == Type::i8 || mask.m.type == Type::u8) &&
         mask.tile == 0 && mask.fractal == 0 && mask.columns != Mask::Tail && mask.m.d == 1;
}

int64_t replaced_keys(const Problem &p, Addresses addresses, const Batch &batch, int64_t i,
                      int64_t n, int64_t t0, int64_t count, uint8_t *replaced) {
  const Mask &mask = p.mask;
  int64_t at = element(mask.m, batch.b, row_index(mask.rows, batch, i), n,
                       column_index(mask.columns, batch, t0));
  std::memcpy(replaced, address(addresses, mask.m.slot) + at, static_cast<size_t>(count));
  int64_t not_zero = 0;
  for (int64_t j = 0; j < count; ++j) not_zero += replaced[j] != 0;
  return not_zero;
}

bool mask_given(const Mask &mask, const Batch &batch, int64_t first, int64_t last, int64_t t_first,
                int64_t t_last) {
  if (mask.tile == 0 || mask.tileForm != Mask::Diagonal) return true;
  auto row = [&](int64_t i) { return row_index(mask.rows, batch, i) / mask.tile; };
  auto column = [&](int64_t t) { return column_index(mask.columns, batch, t) / mask.tile; };
  return row(first) <= column(t_last) && column(t_first) <= row(last);
}

const UnmaskedInterval &UnmaskedIntervals::find(const Problem &p, Addresses addresses,
                                                const Batch &batch, int64_t i, int64_t t0,
                                                int32_t keys) {
  static constexpr UnmaskedInterval kNotKnown;
  const Mask &mask = p.mask;
  const MaskRun run = mask_run(mask, batch.b, 0, row_index(mask.rows, batch, i),
                               column_index(mask.columns, batch, t0), keys);
  const bool in_one = run.count >= keys && (!run.given || run.step == 1);
  if (!in_one) return kNotKnown;
  if (!run.given) return none_ = {true, 0, keys, -kInfinity};
  Known &known = known_[i % kKnown];
  if (known.at != run.at || known.keys != keys) {
    known = {run.at, keys, interval_of(mask, address(addresses, mask.m.slot), run.at, keys)};
  }
  return known.unmasked;
}

Adjusted adjust_scores(const Problem &p, Addresses addresses, const Batch &batch, int64_t i,
                       int64_t n, int64_t t0, int64_t count, const kernels::Kernels *kernels,
                       float *x) {
  const Score &score = p.score;
  const Bias &bias = p.bias;
  int64_t b = batch.b, row = batch.query_begin + i;

  if (p.quant.qScale.given()) {
    float factor = load(p.quant.qScale, addresses, element(p.quant.qScale, b, row, n, 0));
    for (int64_t j = 0; j < count; ++j) x[j] *= factor;
  }
  if (score.logN.given()) {
    float factor = load(score.logN, addresses, element(score.logN, b, i, 0, 0));
    for (int64_t j = 0; j < count; ++j) x[j] *= factor;
  }
  if (bias.razor.given()) {
    for (int64_t j = 0; j < count; ++j) {
      Row key = locate(p, addresses, batch, 0, t0 + j, Part::Key);
      x[j] += load(bias.razor, addresses, element(bias.razor, key.block, key.row, 0, 0));
    }
  }
  if (bias.pse.given() && bias.beforeScale) {
    add_pse(p, addresses, batch, i, n, t0, count, kernels, x);
  }
  for (int64_t j = 0; j < count; ++j) x[j] *= score.scale;
  if (score.clamp) {
    for (int64_t j = 0; j < count; ++j) x[j] = std::min(std::max(x[j], score.lo), score.hi);
  }
  if (bias.pse.given() && !bias.beforeScale) {
    add_pse(p, addresses, batch, i, n, t0, count, kernels, x);
  }
  if (bias.alibi != Bias::No) add_alibi(p, addresses, batch, i, n, t0, count, x);

  uint8_t replaced[kAdjustMax] = {};
  int64_t replaced_count = 0;
  if (p.mask.how != Mask::None) {
    replaced_count = apply_mask(p, addresses, batch, i, n, t0, count, kernels, x, replaced);
  }
  Adjusted adjusted{count, count - replaced_count};
  if (has_gaps(p.visible)) {
    adjusted = {};
    for (int64_t j = 0; j < count; ++j) {
      if (visible(p, batch, i, t0 + j)) {
        ++adjusted.visible;
        adjusted.kept += replaced[j] == 0;
      } else {
        x[j] = -kInfinity;
      }
    }
  }
  return adjusted;
}

}  // namespace pyaclnn::attention
