#include "attention/device_data.hpp"

#include <algorithm>
#include <initializer_list>

#include "attention/scores.hpp"

namespace pyaclnn::attention {
namespace {

bool ok(const Outcome &outcome) { return outcome.what == Fault::Ok; }

// The first slot of these that is used and has no address.
Outcome check_addresses(Addresses addresses, std::initializer_list<Slot> slots) {
  for (Slot slot : slots) {
    if (slot != kNone && address(addresses, slot) == nullptr) {
      return {Fault::NullAddress, 0, slot, 0, 0};
    }
  }
  return {};
}

Outcome check_layer(const Problem &p, Addresses addresses) {
  if (p.cache.layer == kNone) return {};
  const int64_t layer = read<int32_t>(address(addresses, p.cache.layer), 0);
  if (layer >= 0 && layer < p.cache.layerCount) return {};
  return {Fault::Layer, 0, 0, layer, p.cache.layerCount};
}

Outcome check_length(const Lengths &lengths, Addresses addresses, int64_t at, Fault what) {
  const int64_t length = length_of(lengths, addresses, at);
  if (length >= 0 && length <= lengths.bound) return {};
  return {what, at, 0, length, lengths.bound + 1};
}

// Which tensors a run touches.
struct Used {
  bool query = false;  // some batch has query rows
  bool key = false;    // one that has keys as well
  bool own = false;    // and keys behind the shared prefix
};

// Lengths of every batch that runs, and the members of a list that it needs.
Outcome check_batches(const Problem &p, Addresses addresses, Used &used) {
  const int64_t entries = p.batch * key_heads(p);
  for (int64_t entry = 0; entry < entries; ++entry) {
    const int64_t b = entry / key_heads(p), g = entry % key_heads(p);
    if (p.run != kNone && read<int32_t>(address(addresses, p.run), b) == 0) continue;
    Outcome found = check_length(p.qLen, addresses, b, Fault::QueryLength);
    if (ok(found)) found = check_length(p.kvLen, addresses, entry, Fault::KeyLength);
    if (!ok(found)) return found;
    const Batch batch = batch_of(p, addresses, b, g);
    used.query |= batch.queries != 0;
    if (batch.queries == 0 || batch.keys == 0) continue;
    used.key = true;
    if (batch.keys <= p.prefixLen) continue;
    used.own = true;
    if (p.cache.form != Cache::List) continue;
    const auto member = static_cast<size_t>(b);
    found =
        check_addresses(addresses, {p.cache.kList[member].slot,
                                    p.cache.valueIsKeyPrefix ? kNone : p.cache.vList[member].slot});
    if (!ok(found)) return found;
  }
  return {};
}

Outcome check_tensors(const Problem &p, Addresses addresses, const Used &used) {
  Outcome found;
  if (used.query || p.out.rows > 0) {
    found = check_addresses(addresses, {p.out.o.slot, p.out.lse.slot, p.out.max.slot,
                                        p.out.sum.slot, p.out.scale.slot, p.out.offset.slot});
  }
  if (ok(found) && used.key) {
    found = check_addresses(
        addresses,
        {p.q.slot, p.qRope.slot, p.mask.m.slot, p.mask.slopes.slot, p.bias.pse.slot,
         p.bias.slopes.slot, p.bias.razor.slot, p.score.logN.slot, p.score.sink.slot,
         p.quant.kScale.slot, p.quant.kOffset.slot, p.quant.vScale.slot, p.quant.vOffset.slot,
         p.quant.qScale.slot, p.quant.pScale.slot, p.quant.pvScale.slot});
    if (ok(found) && p.prefixLen > 0) {
      found = check_addresses(addresses, {p.kPrefix.slot, p.vPrefix.slot});
    }
  }
  if (ok(found) && used.own) {
    const bool list = p.cache.form == Cache::List;
    found =
        check_addresses(addresses, {list ? kNone : p.cache.k.slot, list ? kNone : p.cache.v.slot,
                                    p.kRope.slot, p.cache.table});
  }
  return found;
}

// The blocks of cache rows [rows.first, rows.last).
Outcome check_blocks(const Problem &p, Addresses addresses, int64_t entry, Range rows) {
  if (rows.first == rows.last) return {};
  const std::byte *table = address(addresses, p.cache.table);
  const int64_t end = (rows.last - 1) / p.cache.blockSize + 1;
  for (int64_t column = rows.first / p.cache.blockSize; column < end; ++column) {
    const int64_t block = read<int32_t>(table, entry * p.cache.tableStride + column);
    if (block < 0 || block >= p.cache.blockCount) {
      return {Fault::Block, entry, column, block, p.cache.blockCount};
    }
  }
  return {};
}

Outcome check_table(const Problem &p, Addresses addresses, const Batch &batch) {
  const int64_t first = batch.key_begin, count = batch.keys - p.prefixLen, last = first + count;
  const int64_t window = p.cache.window;
  if (!p.cache.ring || last <= window) {
    return check_blocks(p, addresses, batch.entry, {first, last});
  }
  if (count >= window) return check_blocks(p, addresses, batch.entry, {0, window});
  const int64_t start = first % window, end = start + count;
  const Outcome found = check_blocks(p, addresses, batch.entry, {start, std::min(end, window)});
  if (!ok(found) || end <= window) return found;
  return check_blocks(p, addresses, batch.entry, {0, end - window});
}

// The index is affine in row and head and goes one way with the column, so its extremes are at
// corners.
Outcome check_mask(const Problem &p, const Batch &batch) {
  const Mask &mask = p.mask;
  int64_t rows[2] = {row_index(mask.rows, batch, 0),
                     row_index(mask.rows, batch, batch.queries - 1)};
  int64_t columns[2] = {std::max<int64_t>(column_index(mask.columns, batch, 0), 0),
                        column_index(mask.columns, batch, batch.keys - 1)};
  if (mask.tile > 0) {
    const int64_t last = mask.tileForm == Mask::Stripe
                             ? std::max<int64_t>(rows[1], 0)
                             : int64_t{mask.tile} * (mask.tileForm == Mask::Lower ? 2 : 1) - 1;
    rows[0] = mask.tileRow;
    rows[1] = mask.tileRow + last;
    columns[0] = mask.tileCol;
    columns[1] = int64_t{mask.tileCol} + mask.tile - 1;
  }
  for (int64_t row : rows) {
    for (int64_t column : columns) {
      for (int64_t n : {int64_t{0}, p.heads - 1}) {
        const int64_t at = mask_element(mask, batch.b, n, row, column) - mask.m.offset;
        if (at < 0 || at >= mask.count) return {Fault::MaskIndex, batch.b, row, at, mask.count};
      }
    }
  }
  return {};
}

}  // namespace

Outcome check_device_data(const Problem &p, Addresses addresses) {
  // What is read before anything is known about the batches.
  Outcome found = check_addresses(addresses, {p.run, p.qLen.slot, p.kvLen.slot, p.qBegin.padding,
                                              p.kvBegin.padding, p.cache.layer});
  if (ok(found)) found = check_layer(p, addresses);
  Used used;
  if (ok(found)) found = check_batches(p, addresses, used);
  if (ok(found)) found = check_tensors(p, addresses, used);
  if (!ok(found) || !used.key) return found;
  const int64_t entries = p.batch * key_heads(p);
  for (int64_t entry = 0; entry < entries; ++entry) {
    const Batch batch = batch_of(p, addresses, entry / key_heads(p), entry % key_heads(p));
    if (batch.queries == 0 || batch.keys == 0) continue;
    if (p.cache.form == Cache::Paged && batch.keys > p.prefixLen) {
      found = check_table(p, addresses, batch);
    }
    if (ok(found) && p.mask.how != Mask::None && p.mask.count > 0) {
      found = check_mask(p, batch);
    }
    if (!ok(found)) return found;
  }
  return {};
}

}  // namespace pyaclnn::attention
