#include "attention/block_rows.hpp"

#include <algorithm>
#include <cstring>

namespace pyaclnn::attention {
namespace {

Rows plain_rows(const Context &c, const Batch &batch, int64_t g, int64_t t0, int64_t count,
                Part part, const void **at) {
  const Problem &p = c.p();
  for (int64_t j = 0; j < count;) {
    int64_t t = t0 + j, run = count - j;
    Row row = locate(p, c.addresses, batch, g, t, part);
    if (t < p.prefixLen) {
      run = std::min(run, p.prefixLen - t);
    } else {
      if (p.cache.form == Cache::Paged) run = std::min(run, p.cache.blockSize - row.row);
      if (p.cache.ring) {
        run = std::min(run, p.cache.window - (batch.key_begin + t - p.prefixLen) % p.cache.window);
      }
    }
    // With one row the stride may be anything.
    int64_t bytes = type_bits(row.view->type) / 8, step = run > 1 ? row.view->s * bytes : 0;
    auto *base =
        reinterpret_cast<const char *>(address(c.addresses, row.view->slot)) + row.base * bytes;
    if (run == count) return {base, step, nullptr};
    const void **to = at + j;
    for (int64_t k = 0; k < run; ++k) to[k] = base + k * step;
    j += run;
  }
  // The block before this one prefetches by its own number of keys, and a tile of scores reads up
  // to kLane rows behind the last: both find the last row again.
  std::fill(at + count, at + kRowsMax, at[count - 1]);
  return {nullptr, 0, at};
}

// Rows of whole bytes with their columns side by side.
bool bytewise(const Problem &p, Part part) {
  const Cache &cache = p.cache;
  if ((part == Part::Rope ? cache.ropeFractal : cache.fractal) != 0) return false;
  auto good = [](const View &view) {
    return view.d == 1 && (kernel_type(view.type) || view.type == Type::i8);
  };
  if (part == Part::Rope) return good(p.kRope);
  bool value = part == Part::Value;
  if (p.prefixLen > 0 && !good(value ? p.vPrefix : p.kPrefix)) return false;
  if (cache.form != Cache::List) return good(value ? cache.v : cache.k);
  const auto &list = value ? cache.vList : cache.kList;
  return std::all_of(list.begin(), list.end(), good);
}

// `count` elements of one axis of a view, from element `at` on.
void read_axis(const Context &c, const View &view, int64_t at, int64_t stride, int64_t count,
               float *to) {
  if (stride == 1 && kernel_type(view.type)) {
    c.kernels.to_float(element_of(view.type),
                       address(c.addresses, view.slot) + at * (type_bits(view.type) / 8), count,
                       to);
  } else if (stride == 0) {
    std::fill(to, to + count, load(view, c.addresses, at));
  } else {
    for (int64_t j = 0; j < count; ++j) to[j] = load(view, c.addresses, at + j * stride);
  }
}

// Scale and offset per column.
void read_columns(const Context &c, const Dequant &dequant, int64_t dim, float *scale,
                  float *offset) {
  auto read = [&](const View *view, float neutral, float *to) {
    if (view == nullptr) {
      std::fill(to, to + dim, neutral);
    } else {
      read_axis(c, *view, element(*view, dequant.b, dequant.s, dequant.g, 0), view->d, dim, to);
    }
    std::fill(to + dim, to + padded(dim), 0.0f);
  };
  read(dequant.scale, 1.0f, scale);
  read(dequant.offset, 0.0f, offset);
}

// Rows put together from columns that are apart (NZ storage, strided views), in their own type.
Rows gathered_rows(const Context &c, const Batch &batch, int64_t g, int64_t t0, int64_t count,
                   Part part, int64_t dim, float *copies) {
  const Problem &p = c.p();
  auto *to = reinterpret_cast<std::byte *>(copies);
  int64_t bytes = 0, step = 0;
  for (int64_t j = 0; j < count; ++j, to += step) {
    Row row = locate(p, c.addresses, batch, g, t0 + j, part);
    bytes = type_bits(row.view->type) / 8;
    step = padded(dim) * bytes;
    const std::byte *base = address(c.addresses, row.view->slot);
    for (int64_t d = 0, some = 1; d < dim; d += some) {
      if (row.fractal > 0) some = std::min(dim - d, row.fractal - (row.head + d) % row.fractal);
      std::memcpy(to + d * bytes, base + row.at(d) * bytes, static_cast<size_t>(some * bytes));
    }
  }
  return {reinterpret_cast<const char *>(copies), step, nullptr};
}

// Rows as float32 copies, dequantised.
Rows converted_rows(const Context &c, const Batch &batch, int64_t g, int64_t t0, int64_t count,
                    Part part, int64_t dim, float *copies, float *scale, float *offset) {
  const Problem &p = c.p();
  int64_t stride = padded(dim);
  Rows rows{reinterpret_cast<const char *>(copies), stride * static_cast<int64_t>(sizeof(float)),
            nullptr};
  if (bytewise(p, part)) {
    Quant::By by = part == Part::Value ? p.quant.v : part == Part::Key ? p.quant.k : Quant::None;
    const void *at[kRowsMax];
    Rows stored = plain_rows(c, batch, g, t0, count, part, at);
    Type type = locate(p, c.addresses, batch, g, t0, part).view->type;
    for (int64_t j = 0; j < count; ++j) {
      const void *from = row_at(stored, j);
      float *to = copies + j * stride;
      if (type != Type::i8) {
        c.kernels.to_float(element_of(type), from, dim, to);
        continue;
      }
      if (j == 0 || by_token(by)) {  // the others serve every key
        Row row = locate(p, c.addresses, batch, g, t0 + j, part);
        read_columns(c, dequant_of(p, batch, row, g, t0 + j, part), dim, scale, offset);
      }
      c.kernels.dequantise(static_cast<const int8_t *>(from), scale, offset, dim, to);
    }
    return rows;
  }
  for (int64_t j = 0; j < count; ++j) {
    float *to = copies + j * stride;
    Row row = locate(p, c.addresses, batch, g, t0 + j, part);
    const std::byte *base = address(c.addresses, row.view->slot);
    Dequant dequant = dequant_of(p, batch, row, g, t0 + j, part);
    for (int64_t d = 0; d < dim; ++d) {
      to[d] = dequant.value(c.addresses, load(row.view->type, base, row.at(d)), d);
    }
  }
  return rows;
}

const std::byte *query_row(const Context &c, const Work &work, const View &view, int32_t row) {
  const Place &place = work.place;
  int64_t at =
      element(view, work.batch.b, work.batch.query_begin + place.query(row), place.head(row), 0);
  return address(c.addresses, view.slot) + at * (type_bits(view.type) / 8);
}

}  // namespace

void read_token_scales(const Context &c, const Batch &batch, int64_t g, int64_t t0, int64_t count,
                       Part part, float *to) {
  const Problem &p = c.p();
  for (int64_t j = 0; j < count;) {
    Row row = locate(p, c.addresses, batch, g, t0 + j, part);
    Dequant dequant = dequant_of(p, batch, row, g, t0 + j, part);
    int64_t run = count - j;
    if (p.cache.form == Cache::Paged) run = std::min(run, p.cache.blockSize - row.row);
    if (p.cache.ring) run = 1;
    const View &scale = *dequant.scale;
    read_axis(c, scale, element(scale, dequant.b, dequant.s, g, 0), run > 1 ? scale.s : 0, run,
              to + j);
    j += run;
  }
  std::fill(to + count, to + kBlock, 0.0f);
}

void find_rows(const Context &c, const Work &work, int64_t t0, int64_t count, BlockRows &rows) {
  const Problem &p = c.p();
  if (!copies(c.plan, Part::Key)) {
    rows.k = plain_rows(c, work.batch, work.place.g, t0, count, Part::Key, rows.k_at);
    if (p.ropeDim > 0) {
      rows.rope = plain_rows(c, work.batch, work.place.g, t0, count, Part::Rope, rows.rope_at);
    }
  }
  if (!copies(c.plan, Part::Value) && !p.cache.valueIsKeyPrefix) {
    rows.v = plain_rows(c, work.batch, work.place.g, t0, count, Part::Value, rows.v_at);
  }
}

void copy_rows(const Context &c, const Scratch &s, const Work &work, int64_t t0, int64_t count,
               BlockRows &rows) {
  const Problem &p = c.p();
  const Plan &plan = c.plan;
  const Batch &batch = work.batch;
  int64_t g = work.place.g;
  if (plan.k == Plan::Converted) {
    rows.k =
        converted_rows(c, batch, g, t0, count, Part::Key, p.headDim, s.k, s.k_scale, s.k_offset);
    if (p.ropeDim > 0) {
      rows.rope =
          converted_rows(c, batch, g, t0, count, Part::Rope, p.ropeDim, s.k_rope, nullptr, nullptr);
    }
  } else if (plan.k_gathered) {
    rows.k = gathered_rows(c, batch, g, t0, count, Part::Key, p.headDim, s.k);
    if (p.ropeDim > 0) {
      rows.rope = gathered_rows(c, batch, g, t0, count, Part::Rope, p.ropeDim, s.k_rope);
    }
  }
  if (p.cache.valueIsKeyPrefix) {
    rows.v = rows.k;
  } else if (plan.v == Plan::Converted) {
    rows.v =
        converted_rows(c, batch, g, t0, count, Part::Value, p.headDimV, s.v, s.v_scale, s.v_offset);
  } else if (plan.v_gathered) {
    rows.v = gathered_rows(c, batch, g, t0, count, Part::Value, p.headDimV, s.v);
  }
}

void prefetch_query(const Context &c, const Work &work) {
  const int64_t bytes = c.p().headDim * type_bits(c.p().q.type) / 8;
  for (int32_t row = 0; row < work.place.rows(); ++row) {
    const std::byte *from = query_row(c, work, c.p().q, row);
    for (int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(from + i, 0, 2);
  }
}

void load_heads(const Context &c, const Scratch &s, const Work &work) {
  const Problem &p = c.p();
  const Batch &batch = work.batch;
  const Place &place = work.place;
  int64_t stride = padded(p.headDim), rope_stride = padded(p.ropeDim);
  auto columns = [&](bool value, int64_t dim, float *scale, float *offset) {
    if (by_token(value ? p.quant.v : p.quant.k)) {  // the scales follow key by key
      std::fill(offset, offset + padded(dim), 0.0f);
      return;
    }
    Part part = value ? Part::Value : Part::Key;
    Row row = locate(p, c.addresses, batch, place.g, work.first, part);
    read_columns(c, dequant_of(p, batch, row, place.g, work.first, part), dim, scale, offset);
  };
  if (c.plan.k == Plan::Int8) columns(false, p.headDim, s.k_scale, s.k_offset);
  if (c.plan.v == Plan::Int8) columns(true, p.headDimV, s.v_scale, s.v_offset);
  auto source = [&](const View &view, int32_t row) { return query_row(c, work, view, row); };
  if (c.k_pairs) {
    auto arrange = [&](const View &view, int64_t dim, float *to) {
      const void *rows[kItemRows];
      for (int32_t row = 0; row < place.rows(); ++row) rows[row] = source(view, row);
      if (work.panel) {
        std::fill(to, to + place.rows() * padded(dim), 0.0f);
        for (int32_t row = 0; row < place.rows(); ++row, to += padded(dim)) {
          std::memcpy(to, rows[row], static_cast<size_t>(dim) * 2);
        }
        return;
      }
      c.kernels.query_pairs(rows, place.rows(), static_cast<int32_t>(dim), to, padded(dim));
    };
    arrange(p.q, p.headDim, s.q);
    if (p.ropeDim > 0) arrange(p.qRope, p.ropeDim, s.rope);
    return;
  }
  for (int32_t row = 0; row < place.rows(); ++row) {
    float *q = s.q + row * stride, *rope = s.rope + row * rope_stride;
    std::fill(q, q + stride, 0.0f);
    std::fill(rope, rope + rope_stride, 0.0f);
    if (p.q.d == 1 && kernel_type(p.q.type) && !p.score.roundQ && p.ropeDim == 0) {
      c.kernels.to_float(element_of(p.q.type), source(p.q, row), p.headDim, q);
      for (int64_t d = 0; d < p.headDim; ++d) q[d] *= p.score.preScaleQ;
    } else {
      load_query(p, c.addresses, batch, place.query(row), place.head(row), q, rope);
    }
    if (c.plan.k == Plan::Int8 && !by_token(p.quant.k)) {
      for (int64_t d = 0; d < p.headDim; ++d) q[d] *= s.k_scale[d];
    }
  }
}

}  // namespace pyaclnn::attention
