// ReshapeAndCacheOperation: its numbers, and every check with the case just inside.
#include <cmath>
#include <random>

#include "atb_call.hpp"

using namespace atbtest;
using Param = atb::infer::ReshapeAndCacheParam;

namespace {

Session *session;

Param param(int config, int compress = 0) {
  Param p;
  p.kvCacheCfg = static_cast<Param::KvCacheCfg>(config);
  p.compressType = static_cast<Param::CompressType>(compress);
  return p;
}

// ---- numbers

// A cache to write into; what nobody writes keeps this byte.
constexpr uint8_t kUntouched = 0x5a;
atb::Tensor cache(const atb::TensorDesc &d) {
  return device(d, std::vector<uint8_t>(atb::Utils::GetTensorSize(d), kUntouched));
}
atb::Tensor noise(const atb::TensorDesc &d, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> bytes(atb::Utils::GetTensorSize(d));
  for (uint8_t &byte : bytes) byte = static_cast<uint8_t>(random());
  return device(d, bytes);
}
atb::Tensor integers(const std::vector<int32_t> &values) {
  return device(desc(ACL_INT32, {static_cast<int64_t>(values.size())}), values);
}
atb::VariantPack pack(const std::vector<atb::Tensor> &in, const std::vector<size_t> &caches) {
  atb::VariantPack p;
  for (const atb::Tensor &t : in) p.inTensors.push_back(t);
  for (size_t i : caches) p.outTensors.push_back(p.inTensors[i]);
  return p;
}
int run(const Param &p, const atb::VariantPack &tensors) {
  atb::Operation *op = make(p);
  if (op == nullptr) return -1;
  const int status = session->run(op, tensors);
  atb::DestroyOperation(op);
  return status;
}

// Where byte x of a token's row is in a cache, by the definition: ND [block, row, x]; NZ [block,
// x / width, row, x % width], width in bytes.
size_t place(const atb::TensorDesc &d, int64_t slot, int64_t x, int64_t row_bytes,
             int64_t element) {
  const int64_t *dims = d.shape.dims;
  const bool nz = d.format == ACL_FORMAT_FRACTAL_NZ;
  const int64_t rows = nz ? dims[2] : dims[1];
  const int64_t block = slot / rows, row = slot % rows;
  if (!nz) return static_cast<size_t>((block * rows + row) * row_bytes + x);
  const int64_t width = dims[3] * element;
  return static_cast<size_t>(((block * dims[1] + x / width) * rows + row) * width + x % width);
}

// The cache that these tokens leave.
std::vector<uint8_t> written(const atb::Tensor &rows, const atb::Tensor &to,
                             const std::vector<int32_t> &slots, int64_t element) {
  const auto from = values<uint8_t>(rows);
  std::vector<uint8_t> wanted(to.dataSize, kUntouched);
  const auto row_bytes = static_cast<int64_t>(from.size()) / rows.desc.shape.dims[0];
  for (size_t t = 0; t < slots.size(); ++t) {
    for (int64_t x = 0; slots[t] >= 0 && x < row_bytes; ++x) {
      wanted[place(to.desc, slots[t], x, row_bytes, element)] =
          from[t * static_cast<size_t>(row_bytes) + static_cast<size_t>(x)];
    }
  }
  return wanted;
}

void plain(const char *name, const Param &p, const atb::TensorDesc &key,
           const atb::TensorDesc &value, const atb::TensorDesc &key_cache,
           const atb::TensorDesc &value_cache, const std::vector<int32_t> &slots) {
  auto tensors =
      pack({noise(key, 1), noise(value, 2), cache(key_cache), cache(value_cache), integers(slots)},
           {2, 3});
  tap::equal(run(p, tensors), 0, name);
  const atb::SVector<atb::Tensor> &in = tensors.inTensors;
  const auto size = [](const atb::TensorDesc &d) {
    return static_cast<int64_t>(aclDataTypeSize(d.dtype));
  };
  tap::ok(values<uint8_t>(in[2]) == written(in[0], in[2], slots, size(key)), "  its keys");
  tap::ok(values<uint8_t>(in[3]) == written(in[1], in[3], slots, size(value)), "  its values");
}

void copies() {
  const std::vector<int32_t> slots = {3, -1, 0};
  plain("C1: float16, another head size for values", param(0), desc(ACL_FLOAT16, {3, 2, 4}),
        desc(ACL_FLOAT16, {3, 2, 6}), desc(ACL_FLOAT16, {2, 2, 2, 4}),
        desc(ACL_FLOAT16, {2, 2, 2, 6}), slots);
  plain("bfloat16", param(0), desc(ACL_BF16, {3, 2, 4}), desc(ACL_BF16, {3, 2, 4}),
        desc(ACL_BF16, {2, 2, 2, 4}), desc(ACL_BF16, {2, 2, 2, 4}), slots);
  plain("int8", param(0), desc(ACL_INT8, {3, 1, 5}), desc(ACL_INT8, {3, 1, 5}),
        desc(ACL_INT8, {2, 2, 1, 5}), desc(ACL_INT8, {2, 2, 1, 5}), slots);
  const std::vector<int32_t> far = {33, 2, -5, 16, 47};
  const auto nz = ACL_FORMAT_FRACTAL_NZ;
  plain("C2: NZ, int8 keys and float16 values", param(2), desc(ACL_INT8, {5, 2, 32}),
        desc(ACL_FLOAT16, {5, 2, 8}), desc(ACL_INT8, {3, 2, 16, 32}, nz),
        desc(ACL_FLOAT16, {4, 1, 16, 16}, nz), far);
  plain("NZ, float16 keys and bfloat16 values", param(2), desc(ACL_FLOAT16, {5, 2, 32}),
        desc(ACL_BF16, {5, 2, 32}), desc(ACL_FLOAT16, {3, 4, 16, 16}, nz),
        desc(ACL_BF16, {3, 4, 16, 16}, nz), far);
  plain("NZ, spare slots are not read", param(2), desc(ACL_FLOAT16, {5, 1, 16}),
        desc(ACL_FLOAT16, {5, 1, 16}), desc(ACL_FLOAT16, {3, 1, 16, 16}, nz),
        desc(ACL_FLOAT16, {3, 1, 16, 16}, nz), far);

  // Large enough for several threads; of equal slots the last token stays.
  std::vector<int32_t> many(700);
  for (size_t i = 0; i < many.size(); ++i) many[i] = static_cast<int32_t>((i * 37) % 640);
  plain("700 tokens", param(0), desc(ACL_FLOAT16, {700, 8, 130}), desc(ACL_FLOAT16, {700, 8, 64}),
        desc(ACL_FLOAT16, {10, 64, 8, 130}), desc(ACL_FLOAT16, {10, 64, 8, 64}), many);
  plain("700 tokens, NZ", param(2), desc(ACL_FLOAT16, {700, 8, 128}),
        desc(ACL_FLOAT16, {700, 8, 64}), desc(ACL_FLOAT16, {10, 64, 64, 16}, nz),
        desc(ACL_FLOAT16, {10, 32, 64, 16}, nz), many);

  auto alone = pack(
      {noise(desc(ACL_INT8, {3, 2, 4}), 5), cache(desc(ACL_INT8, {2, 2, 2, 4})), integers(slots)},
      {1});
  tap::equal(run(param(1), alone), 0, "C6: keys alone");
  tap::ok(values<uint8_t>(alone.inTensors[1]) ==
              written(alone.inTensors[0], alone.inTensors[1], slots, 1),
          "  its keys");
}

std::vector<uint16_t> halves(const std::vector<float> &values) {
  std::vector<uint16_t> bits;
  for (float v : values) bits.push_back(aclFloatToFloat16(v));
  return bits;
}

// Tokens, heads and a head size of 32, every element its token's and head's value.
atb::Tensor rows_of(const std::vector<std::vector<float>> &tokens) {
  std::vector<float> all;
  for (const auto &heads : tokens) {
    for (float v : heads) all.insert(all.end(), 32, v);
  }
  return device(desc(ACL_FLOAT16, {static_cast<int64_t>(tokens.size()),
                                   static_cast<int64_t>(tokens[0].size()), 32}),
                halves(all));
}
// Element `column` of every slot of a cache; -1: untouched.
std::vector<float> column(const atb::Tensor &cache, size_t column) {
  const auto bits = values<uint16_t>(cache);
  std::vector<float> all;
  for (size_t slot = 0; slot * 32 < bits.size(); ++slot) {
    const uint16_t h = bits[slot * 32 + column];
    all.push_back(h == 0x5a5a ? -1 : aclFloat16ToFloat(h));
  }
  return all;
}
atb::Tensor compressed_cache(int64_t blocks) {
  return cache(desc(ACL_FLOAT16, {blocks, 16, 1, 32}));
}
bool rows_at(const atb::Tensor &cache, size_t first, const std::vector<float> &wanted) {
  for (size_t at : {size_t{0}, size_t{31}}) {
    const auto all = column(cache, at);
    for (size_t slot = 0; slot < all.size(); ++slot) {
      const bool inside = slot >= first && slot < first + wanted.size();
      if (all[slot] != (inside ? wanted[slot - first] : -1)) return false;
    }
  }
  return true;
}

void compressed() {
  const atb::Tensor key = rows_of({{0, 100}, {10, 110}, {20, 120}, {30, 130}});
  auto p = pack({key, key, compressed_cache(2), compressed_cache(2), integers({0, 16}),
                 integers({2, 3}), integers({4})},
                {2, 3});
  tap::equal(run(param(0, 1), p), 0, "C3: KVHEAD");
  for (size_t i : {size_t{2}, size_t{3}}) {
    auto all = column(p.inTensors[i], 7);
    tap::ok(all[0] == 20 && all[1] == 30 && all[2] == -1 && all[15] == -1 && all[16] == 110 &&
                all[17] == 120 && all[18] == 130 && all[19] == -1,
            "  the last tokens of each head");
  }
  // Two batches: the second one's tokens begin behind the first one's.
  const atb::Tensor two = rows_of({{1}, {2}, {3}, {4}, {5}});
  auto q = pack({two, two, compressed_cache(1), compressed_cache(1), integers({-1, 4}),
                 integers({1, 2}), integers({2, 3})},
                {2, 3});
  tap::equal(run(param(0, 1), q), 0, "KVHEAD of two batches, the first one skipped");
  tap::ok(rows_at(q.inTensors[2], 4, {4, 5}), "  tokens of the second batch");

  const atb::Tensor five = rows_of({{0}, {10}, {20}, {30}, {40}});
  const auto rope = [&](int32_t offset, int32_t wins, int32_t slot) {
    return pack({five, five, compressed_cache(1), compressed_cache(1), integers({slot}),
                 integers({wins}), integers({5}), integers({offset})},
                {2, 3});
  };
  const struct {
    const char *name;
    int32_t offset, wins;
    std::vector<float> wanted;
  } cases[] = {
      {"C4: KVHEAD_ROPE", 1, 3, {0, 20, 40}},
      {"C5: KVHEAD_ROPE without a mean", -1, 3, {0, 10, 20, 30, 40}},
      {"KVHEAD_ROPE, an empty mean", 2, 0, {0, 10, 20, 30, 40}},
      {"KVHEAD_ROPE, all one mean", 0, 5, {20}},
      {"KVHEAD_ROPE, the mean of the end", 3, 2, {0, 10, 20, 35}},
  };
  for (const auto &each : cases) {
    auto r = rope(each.offset, each.wins, 3);
    tap::equal(run(param(0, 2), r), 0, each.name);
    tap::ok(rows_at(r.inTensors[2], 3, each.wanted) && rows_at(r.inTensors[3], 3, each.wanted),
            "  its rows");
  }

  // Means against float64, in bfloat16: half a unit of the format and the float32 sum's own error.
  constexpr int64_t kTokens = 7;
  std::mt19937 random(3);
  std::vector<uint16_t> bits(kTokens * 32);
  std::vector<double> exact(32, 0);
  for (size_t i = 0; i < bits.size(); ++i) {
    const float v = std::uniform_real_distribution<float>(0.5f, 1.5f)(random);
    uint32_t word;
    std::memcpy(&word, &v, 4);
    bits[i] = static_cast<uint16_t>(word >> 16);
    word &= 0xffff0000u;
    float stored;
    std::memcpy(&stored, &word, 4);
    exact[i % 32] += static_cast<double>(stored) / kTokens;
  }
  const atb::Tensor bfloats = device(desc(ACL_BF16, {kTokens, 1, 32}), bits);
  auto m = pack({bfloats, bfloats, cache(desc(ACL_BF16, {1, 16, 1, 32})),
                 cache(desc(ACL_BF16, {1, 16, 1, 32})), integers({0}), integers({7}), integers({7}),
                 integers({0})},
                {2, 3});
  tap::equal(run(param(0, 2), m), 0, "KVHEAD_ROPE in bfloat16");
  const auto means = values<uint16_t>(m.inTensors[3]);
  double worst = 0;
  for (size_t i = 0; i < 32; ++i) {
    const uint32_t word = static_cast<uint32_t>(means[i]) << 16;
    float got;
    std::memcpy(&got, &word, 4);
    worst = std::fmax(worst, std::fabs(static_cast<double>(got) - exact[i]) / exact[i]);
  }
  tap::ok(worst <= std::ldexp(1, -8) + std::ldexp(8, -24), "  its mean", "error %g", worst);
}

// ---- faults in device data: found while the task runs, and nothing is written

void fault(const char *name, const Param &p, const atb::VariantPack &tensors,
           std::initializer_list<const char *> words) {
  message();
  tap::equal(run(p, tensors), 507015, name);
  const std::string text = message();
  tap::ok(holds(text, words) && holds(text, {"ReshapeAndCacheOperation"}), "  its text", "%s",
          text.c_str());
  bool untouched = true;
  for (const atb::Tensor &t : tensors.outTensors) {
    for (uint8_t byte : values<uint8_t>(t)) untouched = untouched && byte == kUntouched;
  }
  tap::ok(untouched, "  nothing is written");
}

void faults() {
  const auto half = ACL_FLOAT16;
  const auto slots = [&](const std::vector<int32_t> &values) {
    return pack(
        {noise(desc(half, {3, 2, 4}), 1), noise(desc(half, {3, 2, 4}), 2),
         cache(desc(half, {2, 2, 2, 4})), cache(desc(half, {2, 2, 2, 4})), integers(values)},
        {2, 3});
  };
  fault("a slot behind the cache", param(0), slots({0, 1, 4}), {"slotMapping[2] is 4", "0 .. 3"});
  tap::equal(run(param(0), slots({0, 1, 3})), 0, "the last slot");
  const auto nz = ACL_FORMAT_FRACTAL_NZ;
  fault("a slot behind the smaller cache", param(2),
        pack({noise(desc(half, {1, 1, 16}), 1), noise(desc(half, {1, 1, 16}), 2),
              cache(desc(half, {2, 1, 16, 16}, nz)), cache(desc(half, {1, 1, 16, 16}, nz)),
              integers({16})},
             {2, 3}),
        {"slotMapping[0] is 16", "0 .. 15"});

  const atb::Tensor five = rows_of({{0}, {10}, {20}, {30}, {40}});
  const auto window = [&](int32_t slot, int32_t wins, int32_t length) {
    return pack({five, five, compressed_cache(1), compressed_cache(1), integers({slot}),
                 integers({wins}), integers({length})},
                {2, 3});
  };
  fault("more tokens than there are", param(0, 1), window(0, 1, 6), {"seqLen[0] is 6", "0 .. 5"});
  fault("a negative length", param(0, 1), window(0, 0, -1), {"seqLen[0] is -1"});
  fault("more tokens than the batch has", param(0, 1), window(0, 4, 3), {"wins[0] is 4", "0 .. 3"});
  fault("a negative number of tokens", param(0, 1), window(0, -1, 3), {"wins[0] is -1"});
  fault("rows behind the cache", param(0, 1), window(14, 3, 5), {"slotMapping[0] is 14", "16"});
  tap::equal(run(param(0, 1), window(13, 3, 5)), 0, "the last rows");
  const auto rope = [&](int32_t slot, int32_t wins, int32_t offset) {
    return pack({five, five, compressed_cache(1), compressed_cache(1), integers({slot}),
                 integers({wins}), integers({5}), integers({offset})},
                {2, 3});
  };
  fault("an offset below -1", param(0, 2), rope(0, 1, -2), {"offsetIndex[0] is -2"});
  fault("a mean behind the batch", param(0, 2), rope(0, 3, 3), {"offsetIndex[0] is 3", "-1 .. 2"});
  fault("the mean behind the cache", param(0, 2), rope(14, 2, 3), {"slotMapping[0] is 14"});
  tap::equal(run(param(0, 2), rope(12, 2, 3)), 0, "the mean in the last row");

  auto host_only = slots({0, 1, 2});
  host_only.inTensors[4].hostData = host_only.inTensors[4].deviceData;
  host_only.inTensors[4].deviceData = nullptr;
  fault("slots on the host only", param(0), host_only, {"slotMapping: deviceData is a null"});
}

// ---- checks

void product(const char *name) { pyaclnnSetProduct(name); }

void create() {
  tap::equal(created(param(0)), 0, "kvCacheCfg 0");
  tap::equal(created(param(2)), 0, "kvCacheCfg 2");
  tap::equal(atb::CreateOperation(param(0), static_cast<atb::Operation **>(nullptr)), 1,
             "E22: no place for the operation");
  tap::ok(holds(message(), {"ATB-OPERATION", "ReshapeAndCacheOperation::CreateOperation"}),
          "  its text");
  const auto refused = [](const char *name, const Param &p, int status, const char *rule) {
    message();
    tap::equal(created(p), status, name);
    const std::string text = message();
    tap::ok(by_rule(text, rule), "  its rule", "%s", text.c_str());
  };
  for (size_t i : {size_t{0}, size_t{15}}) {
    Param p = param(0);
    p.rsv[i] = 1;
    refused("E6: a reserved byte", p, 1, "ATB-RESERVED");
  }
  refused("E24: compressType 5", param(0, 5), 1, "RAC-COMPRESS-RANGE");
  refused("compressType 3", param(0, 3), 1, "RAC-COMPRESS-RANGE");
  refused("compressType -1", param(0, -1), 1, "RAC-COMPRESS-RANGE");
  tap::equal(created(param(0, 2)), 0, "compressType 2");
  refused("E24: kvCacheCfg 3", param(3), 1, "RAC-CONFIG-RANGE");
  refused("E24: kvCacheCfg -1", param(-1), 1, "RAC-CONFIG-RANGE");
  refused("E24: keys alone, compressed", param(1, 1), 1, "RAC-COMPRESS-CONFIG");
  refused("NZ, compressed", param(2, 2), 1, "RAC-COMPRESS-CONFIG");
  for (const char *key : {"atlas-310p", "atlas-910"}) {
    product(key);
    refused("E24: keys alone on a product without it", param(1), 1, "RAC-CONFIG-PRODUCT");
    refused("compressed on a product without it", param(0, 1), 1, "RAC-COMPRESS-PRODUCT");
    tap::equal(created(param(0)), 0, "kvCacheCfg 0 there");
    tap::equal(created(param(2)), 0, "kvCacheCfg 2 there");
  }
  product("ascend-950");
  refused("a product without operations", param(0), 12, "ATB-PRODUCT");
  refused("compressed there", param(0, 1), 1, "RAC-COMPRESS-PRODUCT");
  product("atlas-a3");
  tap::equal(created(param(1)), 0, "keys alone on the newer product");
  product("atlas-a2");
}

using Descs = std::vector<atb::TensorDesc>;

// InferShape, and Setup with outputs as described by the inputs, answer the same.
void judged(const char *name, const Param &p, const Descs &in, int infer, int setup,
            const char *rule = nullptr, const char *parameter = "") {
  atb::Operation *op = make(p);
  atb::SVector<atb::TensorDesc> given, out;
  atb::VariantPack tensors;
  for (const atb::TensorDesc &d : in) {
    given.push_back(d);
    atb::Tensor t;
    t.desc = d;
    tensors.inTensors.push_back(t);
  }
  const bool alone = p.kvCacheCfg == Param::K_CACHE_V_BYPASS;
  for (size_t i : alone ? std::vector<size_t>{1} : std::vector<size_t>{2, 3}) {
    atb::Tensor t;
    t.desc = in[i];
    tensors.outTensors.push_back(t);
  }
  message();
  tap::equal(op->InferShape(given, out), infer, name);
  std::string text = message();
  if (infer == 0) {
    bool same = out.size() == tensors.outTensors.size();
    for (size_t i = 0; same && i < out.size(); ++i) {
      const atb::TensorDesc &wanted = tensors.outTensors[i].desc;
      same = std::memcmp(&out[i], &wanted, 8 + 8 * wanted.shape.dimNum) == 0 &&
             out[i].shape.dimNum == wanted.shape.dimNum;
    }
    tap::ok(same, "  outputs are the caches");
  } else {
    tap::ok(by_rule(text, rule) && holds(text, {parameter, "ReshapeAndCacheOperation::InferShape"}),
            "  its text", "%s", text.c_str());
  }
  uint64_t size = 77;
  tap::equal(op->Setup(tensors, size, session->context), setup, "  at Setup");
  text = message();
  if (setup != 0) {
    tap::ok(by_rule(text, rule) && holds(text, {parameter, "ReshapeAndCacheOperation::Setup"}) &&
                size == 77,
            "  its text, and no workspace", "%s", text.c_str());
  }
  atb::DestroyOperation(op);
}
void refused(const char *name, const Param &p, const Descs &in, int status, const char *rule,
             const char *parameter) {
  judged(name, p, in, status, status, rule, parameter);
}
void accepted(const char *name, const Param &p, const Descs &in) { judged(name, p, in, 0, 0); }

Descs with(Descs base, size_t at, const atb::TensorDesc &d) {
  base[at] = d;
  return base;
}

void shapes() {
  const auto half = ACL_FLOAT16;
  const auto nz = ACL_FORMAT_FRACTAL_NZ;
  const atb::TensorDesc slots = desc(ACL_INT32, {4});
  const Descs norm = {desc(half, {4, 8, 64}), desc(half, {4, 8, 64}), desc(half, {16, 128, 8, 64}),
                      desc(half, {16, 128, 8, 64}), slots};
  accepted("cfg 0", param(0), norm);
  const Param p = param(0);
  Descs fewer = norm;
  fewer.pop_back();
  refused("four tensors", p, fewer, 5, "ATB-IN-COUNT", "must be 5");
  refused("no dimensions", p, with(norm, 1, desc(half, {})), 8, "ATB-DIM-NUM", "inTensors[1]");
  refused("nine dimensions", p,
          with(norm, 1,
               [] {
                 auto d = desc(ACL_FLOAT16, {1, 1, 1, 1, 1, 1, 1, 1});
                 d.shape.dimNum = 9;
                 return d;
               }()),
          8, "ATB-DIM-NUM", "value (inTensors[1])");
  refused("a dimension of 0", p, with(norm, 4, desc(ACL_INT32, {0})), 9, "ATB-TENSOR-SIZE",
          "slotMapping (inTensors[4])");
  refused("more than 256 GiB", p, with(norm, 2, desc(half, {1 << 20, 128, 8, 129})), 9,
          "ATB-TENSOR-SIZE", "keyCache");
  refused("more rows than a number can say", param(2),
          with(norm, 0, desc(half, {4, INT64_MAX, 64})), 9, "ATB-TENSOR-SIZE",
          "key (inTensors[0])");
  tap::ok(holds(explanation(), {"\"RAC-KEY-CACHE-NZ\", \"parameter\": \"keyCache\", \"why\""}),
          "  with which nothing is computed", "%s", explanation().c_str());
  refused("an unknown dtype", p, with(norm, 0, desc(static_cast<aclDataType>(99), {4, 8, 64})), 9,
          "ATB-TENSOR-SIZE", "key");
  refused("RI1: slots in float16", p, with(norm, 4, desc(half, {4})), 13, "ATB-DTYPE-FORMAT",
          "slotMapping (inTensors[4])");
  refused("an undefined dtype", p, with(norm, 0, desc(ACL_DT_UNDEFINED, {4, 8, 64})), 13,
          "ATB-DTYPE-FORMAT", "key");
  refused("values of another dtype", p, with(norm, 1, desc(ACL_BF16, {4, 8, 64})), 13,
          "ATB-DTYPE-FORMAT", "must be FLOAT16 ND");
  refused("NZ caches", p, with(norm, 2, desc(half, {16, 128, 8, 64}, nz)), 13, "ATB-DTYPE-FORMAT",
          "FRACTAL_NZ");
  refused("float keys", p, with(norm, 0, desc(ACL_FLOAT, {4, 8, 64})), 13, "ATB-DTYPE-FORMAT",
          "FLOAT16 ND, BFLOAT16 ND, INT8 ND");
  refused("keys of rank 2", p, with(norm, 0, desc(half, {4, 512})), 16, "RAC-RANK", "key");
  refused("a cache of rank 3", p, with(norm, 3, desc(half, {16, 128, 512})), 16, "RAC-RANK",
          "valueCache (inTensors[3])");
  refused("slots of rank 2", p, with(norm, 4, desc(ACL_INT32, {4, 1})), 16, "RAC-RANK",
          "slotMapping");
  refused("RI1: other tokens", p, with(norm, 1, desc(half, {3, 8, 64})), 8, "RAC-TOKENS", "value");
  refused("other heads", p, with(norm, 1, desc(half, {4, 4, 64})), 8, "RAC-TOKENS", "value");
  refused("RI1: other blocks", p, with(norm, 3, desc(half, {17, 128, 8, 64})), 8, "RAC-BLOCK-COUNT",
          "valueCache");
  refused("RI1: another block size", p, with(norm, 3, desc(half, {16, 129, 8, 64})), 8,
          "RAC-BLOCK-SIZE", "valueCache");
  refused("RI1: another head size", p, with(norm, 0, desc(half, {4, 8, 32})), 8, "RAC-KEY-CACHE",
          "keyCache");
  refused("values of another head size than their cache", p, with(norm, 1, desc(half, {4, 8, 32})),
          8, "RAC-VALUE-CACHE", "valueCache");
  refused("a cache with other heads", p, with(norm, 2, desc(half, {16, 128, 4, 64})), 8,
          "RAC-KEY-CACHE", "keyCache");
  judged("slots for other tokens: Setup finds it", p, with(norm, 4, desc(ACL_INT32, {5})), 0, 4,
         "RAC-SLOTS", "slotMapping");

  const Descs alone = {desc(half, {4, 8, 64}), desc(half, {16, 128, 8, 64}), slots};
  accepted("cfg 1", param(1), alone);
  refused("RI2: 5 slots for 4 tokens", param(1), with(alone, 2, desc(ACL_INT32, {5})), 8,
          "RAC-KEY-SLOTS", "slotMapping (inTensors[2])");
  refused("keys alone of another head size", param(1), with(alone, 0, desc(half, {4, 8, 32})), 8,
          "RAC-KEY-CACHE", "keyCache (inTensors[1])");
  refused("keys alone of rank 4", param(1), with(alone, 0, desc(half, {1, 4, 8, 64})), 16,
          "RAC-RANK", "key");

  const Descs chosen = {desc(ACL_INT8, {4, 2, 64}), desc(half, {4, 2, 64}),
                        desc(ACL_INT8, {16, 4, 128, 32}, nz), desc(half, {16, 8, 128, 16}, nz),
                        slots};
  accepted("cfg 2, int8 keys", param(2), chosen);
  accepted("cfg 2, other blocks for values", param(2),
           with(chosen, 3, desc(half, {17, 8, 128, 16}, nz)));
  refused("RI3: int8 keys in groups of 16", param(2),
          with(chosen, 2, desc(ACL_INT8, {16, 8, 128, 16}, nz)), 8, "RAC-KEY-CACHE-NZ",
          "must be 32");
  refused("values in groups of 32", param(2), with(chosen, 3, desc(half, {16, 4, 128, 32}, nz)), 8,
          "RAC-VALUE-CACHE-NZ", "must be 16");
  refused("too few groups", param(2), with(chosen, 3, desc(half, {16, 7, 128, 16}, nz)), 8,
          "RAC-VALUE-CACHE-NZ", "valueCache");
  refused("cfg 2, other tokens", param(2), with(chosen, 1, desc(half, {5, 2, 64})), 8, "RAC-TOKENS",
          "value");
  refused("cfg 2, another block size", param(2), with(chosen, 3, desc(half, {16, 8, 64, 16}, nz)),
          8, "RAC-BLOCK-SIZE", "valueCache");
  refused("cfg 2, a block size that is no multiple of 16", param(2),
          with(with(chosen, 2, desc(ACL_INT8, {16, 4, 24, 32}, nz)), 3,
               desc(half, {16, 8, 24, 16}, nz)),
          8, "RAC-BLOCK-MULTIPLE", "keyCache");
  refused("cfg 2, ND caches", param(2), with(chosen, 2, desc(ACL_INT8, {16, 4, 128, 32})), 13,
          "ATB-DTYPE-FORMAT", "keyCache");
  refused(
      "cfg 2, int8 values", param(2),
      with(with(chosen, 1, desc(ACL_INT8, {4, 2, 64})), 3, desc(ACL_INT8, {16, 8, 128, 16}, nz)),
      13, "ATB-DTYPE-FORMAT", "value");
  judged("cfg 2, too few slots: Setup finds it", param(2), with(chosen, 4, desc(ACL_INT32, {3})), 0,
         8, "RAC-SLOTS-ENOUGH", "slotMapping");

  const Descs compressed = {desc(half, {6, 2, 64}),       desc(half, {6, 2, 64}),
                            desc(half, {16, 128, 1, 64}), desc(half, {16, 128, 1, 64}),
                            desc(ACL_INT32, {4}),         desc(ACL_INT32, {4}),
                            desc(ACL_INT32, {2})};
  const Param kvhead = param(0, 1);
  accepted("KVHEAD", kvhead, compressed);
  refused("KVHEAD, values of another head size", kvhead,
          with(compressed, 1, desc(half, {6, 2, 32})), 8, "RAC-HEAD-SIZES", "value");
  refused("KVHEAD, caches with heads", kvhead, with(compressed, 3, desc(half, {16, 128, 2, 64})), 8,
          "RAC-COMPRESS-CACHE", "valueCache");
  refused("KVHEAD, a cache of another head size", kvhead,
          with(compressed, 2, desc(half, {16, 128, 1, 32})), 8, "RAC-COMPRESS-CACHE", "keyCache");
  Descs narrow = compressed;
  narrow[0] = narrow[1] = desc(half, {6, 2, 48});
  narrow[2] = narrow[3] = desc(half, {16, 128, 1, 48});
  refused("KVHEAD, a head size of 48", kvhead, narrow, 8, "RAC-COMPRESS-MULTIPLE", "key");
  refused("KVHEAD, wins of rank 2", kvhead, with(compressed, 5, desc(ACL_INT32, {4, 1})), 16,
          "RAC-RANK", "wins (inTensors[5])");
  for (size_t at : {size_t{4}, size_t{5}}) {
    judged("KVHEAD, too few entries: Setup finds it", kvhead,
           with(compressed, at, desc(ACL_INT32, {3})), 0, 8, "RAC-ENTRIES", "2 batches");
  }
  Descs rope = compressed;
  rope.push_back(desc(ACL_INT32, {4}));
  accepted("KVHEAD_ROPE", param(0, 2), rope);
  judged("KVHEAD_ROPE, too few offsets", param(0, 2), with(rope, 7, desc(ACL_INT32, {3})), 0, 8,
         "RAC-ENTRIES", "offsetIndex (inTensors[7])");
  Descs bytes = rope;
  for (size_t i = 0; i < 4; ++i) bytes[i].dtype = ACL_INT8;
  refused("KVHEAD_ROPE of int8", param(0, 2), bytes, 13, "ATB-DTYPE-FORMAT", "key");
  bytes.pop_back();
  accepted("KVHEAD of int8", kvhead, bytes);

  for (const char *key : {"atlas-310p", "atlas-910"}) {
    product(key);
    const Descs fractal = {desc(half, {4, 2, 64}), desc(half, {4, 2, 64}),
                           desc(half, {16, 8, 128, 16}, nz), desc(half, {16, 8, 128, 16}, nz),
                           slots};
    accepted("NZ product", param(0), fractal);
    refused("RI3: ND caches there", param(0), with(fractal, 2, desc(half, {16, 8, 128, 16})), 13,
            "ATB-DTYPE-FORMAT", "keyCache");
    refused("RI3: groups of 17", param(0), with(fractal, 2, desc(half, {16, 8, 128, 17}, nz)), 8,
            "RAC-KEY-CACHE-NZ", "keyCache");
    refused("RI3: groups of 32", param(0), with(fractal, 3, desc(half, {16, 4, 128, 32}, nz)), 8,
            "RAC-VALUE-CACHE-NZ", "valueCache");
    refused("values of another head size there", param(0),
            with(with(fractal, 1, desc(half, {4, 2, 32})), 3, desc(half, {16, 4, 128, 16}, nz)), 8,
            "RAC-HEAD-SIZES", "value");
    refused("other blocks there", param(0), with(fractal, 3, desc(half, {17, 8, 128, 16}, nz)), 8,
            "RAC-BLOCK-COUNT", "valueCache");
    refused(
        "a block size of 24 there", param(0),
        with(with(fractal, 2, desc(half, {16, 8, 24, 16}, nz)), 3, desc(half, {16, 8, 24, 16}, nz)),
        8, "RAC-BLOCK-MULTIPLE", "keyCache");
    accepted("cfg 2 there", param(2), fractal);
    accepted("cfg 2 there, values of another head size", param(2),
             with(with(fractal, 1, desc(half, {4, 2, 32})), 3, desc(half, {16, 4, 128, 16}, nz)));
    Descs bfloats = fractal;
    for (size_t i = 0; i < 4; ++i) bfloats[i].dtype = ACL_BF16;
    refused("bfloat16 there", param(0), bfloats, 6, "ATB-BFLOAT16", "key");
    plain("numbers there", param(0), desc(half, {5, 2, 32}), desc(half, {5, 2, 32}),
          desc(half, {3, 4, 16, 16}, nz), desc(half, {3, 4, 16, 16}, nz), {33, 2, -5, 16, 47});
  }
  product("atlas-a2");
}

// What only Setup looks at.
void outputs() {
  const auto half = ACL_FLOAT16;
  auto tensors =
      pack({noise(desc(half, {3, 2, 4}), 1), noise(desc(half, {3, 2, 4}), 2),
            cache(desc(half, {2, 2, 2, 4})), cache(desc(half, {2, 2, 2, 4})), integers({0, 1, 2})},
           {2, 3});
  atb::Operation *op = make(param(0));
  const auto setup = [&](const atb::VariantPack &p) {
    uint64_t size = 0;
    message();
    return op->Setup(p, size, session->context);
  };
  auto other = tensors;
  other.outTensors[1].desc.shape.dims[0] = 3;
  tap::equal(setup(other), 8, "RI2: an output of another shape");
  tap::ok(holds(message(), {"RAC-OUT-DESC", "valueCache (outTensors[1])"}), "  its text");
  other = tensors;
  other.outTensors[0].desc.dtype = ACL_BF16;
  tap::equal(setup(other), 13, "an output of another dtype");
  tap::ok(holds(message(), {"ATB-DTYPE-FORMAT", "keyCache (outTensors[0])"}), "  its text");
  other = tensors;
  other.outTensors[1].deviceData = tensors.inTensors[2].deviceData;
  tap::equal(setup(other), 8, "an output in other memory");
  tap::ok(holds(message(), {"ATB-IN-PLACE", "valueCache (outTensors[1])", "inTensors[3]"}),
          "  its text");
  other = tensors;
  for (size_t i = 0; i < 2; ++i) other.outTensors[i].deviceData = nullptr;
  tap::equal(setup(other), 0, "outputs without memory yet");
  tap::equal(setup(tensors), 0, "outputs as they should be");
  tap::ok(op->GetName() == "ReshapeAndCacheOperation" && op->GetInputNum() == 5 &&
              op->GetOutputNum() == 2,
          "its name and numbers");
  atb::DestroyOperation(op);
}

}  // namespace

int main() {
  Session s;
  session = &s;
  copies();
  compressed();
  faults();
  create();
  shapes();
  outputs();
  return tap::done();
}
