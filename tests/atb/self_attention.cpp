// SelfAttentionOperation: the checks that its case table cannot have, because only this library
// makes them or because they are advice, each with the case just inside. The table has the others.
#include <cmath>
#include <cstdlib>
#include <deque>

#include "atb_call.hpp"

using namespace atbtest;
using Param = atb::infer::SelfAttentionParam;
using Desc = atb::TensorDesc;

namespace {

Session *session;
constexpr auto kHalf = ACL_FLOAT16;
constexpr auto kNz = ACL_FORMAT_FRACTAL_NZ;

std::deque<std::vector<int32_t>> kept;  // host data

// Lengths and the like, on the host.
atb::Tensor host(const Desc &d, std::vector<int32_t> values) {
  kept.push_back(std::move(values));
  atb::Tensor t;
  t.desc = d;
  t.hostData = kept.back().data();
  t.dataSize = atb::Utils::GetTensorSize(d);
  return t;
}
atb::Tensor host(std::vector<int32_t> values) {
  const Desc d = desc(ACL_INT32, {static_cast<int64_t>(values.size())});
  return host(d, std::move(values));
}

// So that the explanation is another call's, and no text is left.
void forget() {
  created(Param());
  message();
}

void check(const char *name, int got, int status, const char *rule) {
  tap::equal(got, status, name);
  const bool said = explained(rule);
  tap::ok(said, "  by its rule", "%s", explanation().c_str());
  if (status == 0) return;
  const std::string text = message();
  tap::ok(by_rule(text, rule), "  in the text", "%s", text.c_str());
}

void check_absent(const char *name, int got, const char *rule) {
  tap::equal(got, 0, name);
  tap::ok(!explained(rule), "  without the rule", "%s", explanation().c_str());
}

int infer(const Param &p, const Tensors &in) {
  atb::SVector<Desc> descs, out;
  for (const atb::Tensor &t : in) descs.push_back(t.desc);
  atb::Operation *op = make(p);
  if (op == nullptr) return -1;
  const int status = op->InferShape(descs, out);
  atb::DestroyOperation(op);
  return status;
}

int setup(const Param &p, const Tensors &in, const Desc &out) {
  atb::Operation *op = make(p);
  if (op == nullptr) return -1;
  const int status = session->setup(op, in, out);
  atb::DestroyOperation(op);
  return status;
}

// Setup alone, as clients do who know the shapes.
void refused(const char *name, const Param &p, const Tensors &in, const Desc &out, int status,
             const char *rule) {
  forget();
  check(name, setup(p, in, out), status, rule);
}
void accepted(const char *name, const Param &p, const Tensors &in, const Desc &out,
              const char *rule) {
  forget();
  check_absent(name, setup(p, in, out), rule);
}

Param packed() {
  Param p;
  p.calcType = Param::PA_ENCODER;
  p.headNum = 1;
  return p;
}
Param bypass(Param::CalcType calc) {
  Param p;
  p.calcType = calc;
  p.headNum = 1;
  p.kvcacheCfg = Param::K_BYPASS_V_BYPASS;
  return p;
}

// ---- what CreateOperation says without refusing

void create_advice() {
  const auto advised = [](const char *name, const Param &p, const Param &inside, const char *rule) {
    forget();
    check(name, created(p), 0, rule);
    forget();
    check_absent("  just inside", created(inside), rule);
  };
  Param p = packed(), inside = packed();
  p.calcType = static_cast<Param::CalcType>(5);
  inside.calcType = Param::DECODER;
  advised("calcType 5", p, inside, "SA-CALC-RANGE");
  p = packed();
  inside = bypass(Param::DECODER);
  p.maskType = static_cast<Param::MaskType>(10);
  inside.maskType = Param::MASK_TYPE_CAUSAL_MASK;
  advised("maskType 10", p, inside, "SA-MASK-RANGE");
  p = inside = packed();
  p.qkScale = NAN;
  inside.qkScale = -1e30f;
  advised("qkScale NaN", p, inside, "SA-SCALE-FINITE");
  p.qkScale = 1;
  p.qScale = INFINITY;
  advised("qScale infinite", p, inside, "SA-SCALE-FINITE");
  p = inside = bypass(Param::ENCODER);
  p.clampType = inside.clampType = Param::CLAMP_TYPE_MIN_MAX;
  p.clampMin = 1;
  inside.clampMin = inside.clampMax = 1;
  advised("clampMin above clampMax", p, inside, "SA-CLAMP-ORDER");
  p = inside = packed();
  p.qScale = 2;
  advised("qScale in PA_ENCODER", p, inside, "SA-QSCALE-UNUSED");
  p = packed();
  p.clampType = Param::CLAMP_TYPE_MIN_MAX;
  advised("clampType in PA_ENCODER", p, bypass(Param::ENCODER), "SA-CLAMP-UNUSED");
}

// ---- the other steps, without refusing

Tensors rows(int64_t count, int64_t size, const atb::Tensor &lengths) {
  const Desc d = desc(kHalf, {count, 1, size});
  return {empty(d), empty(d), empty(d), lengths};
}

void advice() {
  forget();
  check("a head size of 80", infer(packed(), rows(3, 80, host({3}))), 0, "SA-HEAD-SLOW");
  forget();
  check_absent("of 192", infer(packed(), rows(3, 192, host({3}))), "SA-HEAD-SLOW");

  const Desc out = desc(kHalf, {3, 1, 64});
  forget();
  check("rows without a mask", setup(packed(), rows(3, 64, host({2, 1})), out), 0,
        "SA-MASK-CHOICE");
  accepted("one row a batch", packed(), rows(3, 64, host({1, 1, 1})), out, "SA-MASK-CHOICE");

  pyaclnnSetProduct("atlas-310p");
  const Desc lengths = desc(ACL_INT32, {2, 2});
  const Desc small_out = desc(kHalf, {16, 1, 16});
  forget();
  check("other lengths of keys on Atlas 310P",
        setup(packed(), rows(16, 16, host(lengths, {1, 2, 2, 2})), small_out), 0, "SA-NZ-LENGTHS");
  accepted("the same", packed(), rows(16, 16, host(lengths, {1, 2, 1, 2})), small_out,
           "SA-NZ-LENGTHS");
  pyaclnnSetProduct("atlas-a2");
}

// ---- what only this library refuses

Tensors caches(int64_t query_rows, const Desc &cache, const atb::Tensor &totals,
               const atb::Tensor &lengths) {
  return {empty(desc(kHalf, {query_rows, 16})), empty(cache), empty(cache), totals, lengths,
          empty(desc(ACL_INT32, {1}))};
}
Tensors with_mask(Tensors in, const Desc &mask) {
  in.insert(in.begin() + 3, empty(mask));
  return in;
}

void masks() {
  Param p = bypass(Param::ENCODER);
  p.maskType = Param::MASK_TYPE_ALIBI;
  const Desc out = desc(kHalf, {1, 16});
  const Desc square = desc(kHalf, {256, 256});
  const auto keys = [&](int32_t count) {
    return with_mask(caches(1, desc(kHalf, {1, 1, 300, 16}), host({count}), host({1})), square);
  };
  refused("an ALIBI mask that only the compressed ones could be", p, keys(257), out, 8,
          "SA-MASK-ROOM");
  accepted("as many keys as columns", p, keys(256), out, "SA-MASK-ROOM");

  pyaclnnSetProduct("atlas-310p");
  p = packed();
  p.kernelType = Param::KERNELTYPE_EXP_M8V2;
  p.maskType = Param::MASK_TYPE_NORM_COMPRESS;
  const auto tile = [](int64_t edge) {
    Tensors in = rows(16, 16, host({16}));
    atb::Tensor mask;  // looked at by InferShape only
    mask.desc = desc(ACL_INT32, {1, edge / 16, edge, 16}, kNz);
    in.insert(in.begin() + 3, mask);
    return in;
  };
  forget();
  check("a window of 2048 that is not FLOAT16", infer(p, tile(2048)), 6, "SA-LONG-TYPE");
  forget();
  check_absent("of 128", infer(p, tile(128)), "SA-LONG-TYPE");
  pyaclnnSetProduct("atlas-a2");
}

void geometry() {
  pyaclnnSetProduct("atlas-310p");
  const auto nz = [](int64_t group) {
    return caches(16, desc(kHalf, {1, 1, 1, 16, group}, kNz), host({3}), host({1}));
  };
  const Desc nz_out = desc(kHalf, {16, 16});
  refused("NZ groups of 8", bypass(Param::DECODER), nz(8), nz_out, 8, "SA-NZ-CACHE");
  accepted("of 16", bypass(Param::DECODER), nz(16), nz_out, "SA-NZ-CACHE");
  pyaclnnSetProduct("atlas-a2");

  Param p = packed();
  p.inputLayout = atb::infer::TYPE_BNSD;
  const Desc bnsd = desc(ACL_BF16, {1, 1, 4, 16});
  const auto batch = [&] { return Tensors{empty(bnsd), empty(bnsd), empty(bnsd), host({4})}; };
  refused("an output smaller than the query", p, batch(), desc(ACL_BF16, {1, 1, 3, 16}), 8,
          "SA-OUT-ROOM");
  accepted("of its size", p, batch(), desc(ACL_BF16, {1, 4, 1, 16}), "SA-OUT-ROOM");

  p = packed();
  p.calcType = Param::PREFIX_ENCODER;
  p.kernelType = Param::KERNELTYPE_HIGH_PRECISION;
  p.isTriuMask = 1;
  p.maskType = Param::MASK_TYPE_CAUSAL_MASK;
  const Desc query = desc(kHalf, {129, 1, 16}), paged = desc(kHalf, {3, 128, 1, 16});
  const auto prefix = [&](int32_t keys) {
    return Tensors{empty(query), empty(paged), empty(paged), empty(desc(ACL_INT32, {1, 3})),
                   host({129}),  host({keys})};
  };
  refused("more queries than keys, of which they are the last", p, prefix(1), query, 8,
          "SA-PREFIX-LENGTHS");
  accepted("as many", p, prefix(129), query, "SA-PREFIX-LENGTHS");
  accepted("more", p, prefix(257), query, "SA-PREFIX-LENGTHS");
}

void types() {
  Param p = packed();
  p.quantType = Param::TYPE_QUANT_QKV_ONLINE;
  p.outDataType = kHalf;
  const auto quantised = [](aclDataType query, aclDataType scale, int64_t scales) {
    const Desc d = desc(ACL_INT8, {3, 1, 16});
    return Tensors{empty(desc(query, {3, 1, 16})),
                   empty(d),
                   empty(d),
                   host({3}),
                   empty(desc(scale, {scales})),
                   empty(desc(ACL_INT32, {1})),
                   empty(desc(ACL_FLOAT, {1})),
                   empty(desc(ACL_INT32, {1}))};
  };
  const Desc out = desc(kHalf, {3, 1, 16});
  refused("a query that is not quantised", p, quantised(kHalf, ACL_FLOAT, 1), out, 8,
          "SA-QUANT-TYPES");
  refused("a factor that is not FLOAT", p, quantised(ACL_INT8, kHalf, 1), out, 8, "SA-QUANT-TYPES");
  refused("factors for two heads", p, quantised(ACL_INT8, ACL_FLOAT, 2), out, 8, "SA-SCALES");
  accepted("all as they must be", p, quantised(ACL_INT8, ACL_FLOAT, 1), out, "SA-QUANT-TYPES");

  p = packed();
  p.maskType = Param::MASK_TYPE_ALIBI_COMPRESS;
  p.kernelType = Param::KERNELTYPE_HIGH_PRECISION;
  const auto slopes = [](aclDataType dtype) {
    Tensors in = rows(3, 16, host({3}));
    in.insert(in.begin() + 3, empty(desc(kHalf, {256, 256})));
    in.push_back(empty(desc(dtype, {1})));
    return in;
  };
  refused("slopes of FLOAT16", p, slopes(kHalf), out, 8, "SA-SLOPES-TYPE");
  accepted("of FLOAT", p, slopes(ACL_FLOAT), out, "SA-SLOPES-TYPE");
}

// InferShape asks these with other codes, and a caller may leave it out.
void asked_again() {
  Param p = packed();
  p.scaleType = Param::SCALE_TYPE_LOGN;
  const Desc out = desc(kHalf, {3, 1, 16});
  const auto log_n = [](const Desc &factors) {
    Tensors in = rows(3, 16, host({3}));
    in.push_back(empty(factors));
    return in;
  };
  refused("logN in the default kernel", p, log_n(desc(ACL_FLOAT, {3})), out, 4, "SA-LOGN-KERNEL");
  p.kernelType = Param::KERNELTYPE_HIGH_PRECISION;
  accepted("in high precision", p, log_n(desc(ACL_FLOAT, {3})), out, "SA-LOGN-KERNEL");
  refused("logN of two dimensions", p, log_n(desc(ACL_FLOAT, {3, 1})), out, 8, "SA-LOGN-RANK");
  refused("logN of FLOAT16", p, log_n(desc(kHalf, {3})), out, 8, "SA-LOGN-TYPE");

  p = bypass(Param::ENCODER);
  p.scaleType = Param::SCALE_TYPE_LOGN;
  const auto cached = [] {
    Tensors in = caches(1, desc(kHalf, {1, 1, 4, 16}), host({4}), host({1}));
    in.push_back(empty(desc(ACL_FLOAT, {1})));
    return in;
  };
  refused("logN in ENCODER", p, cached(), desc(kHalf, {1, 16}), 4, "SA-LOGN-CALC");
  p.calcType = Param::DECODER;
  accepted("in DECODER", p, cached(), desc(kHalf, {1, 16}), "SA-LOGN-CALC");
}

// Batches that do not run write no rows, so their lengths need no room.
void idle_batches() {
  Param p;
  p.calcType = Param::DECODER;
  p.headNum = 1;
  p.batchRunStatusEnable = true;
  const Desc row = desc(kHalf, {2, 16}), cache = desc(kHalf, {2, 4, 16});
  const auto statuses = [&](int32_t second) {
    return Tensors{empty(row),       empty(row),   empty(row),   empty(cache),
                   empty(cache),     host({4, 0}), host({1, 1}), empty(desc(ACL_INT32, {1})),
                   host({1, second})};
  };
  refused("a batch that runs, without room", p, statuses(1), row, 8, "SA-CACHE-WRITE");
  accepted("one that does not", p, statuses(0), row, "SA-CACHE-WRITE");
}

// What the values of a multiplied mask should be; the log says it ("SA-MASK-ONES"), once.
void mask_values(float masked) {
  const Desc d = desc(ACL_BF16, {2, 1, 16});
  Param p = packed();
  p.maskType = Param::MASK_TYPE_NORM;
  uint32_t bits;
  std::memcpy(&bits, &masked, sizeof bits);
  const auto high = static_cast<uint16_t>(bits >> 16);
  for (int run = 0; run < 2; ++run) {
    const Tensors in = {empty(d), empty(d), empty(d),
                        device(desc(ACL_BF16, {2, 2}), std::vector<uint16_t>{0, high, 0, 0}),
                        host({2})};
    const atb::VariantPack tensors = pack(in, d);
    atb::Operation *op = make(p);
    tap::equal(session->run(op, tensors), 0, "a mask in BFLOAT16");
    atb::DestroyOperation(op);
    release(tensors);
  }
}

}  // namespace

int main(int count, char **arguments) {
  Session s;
  session = &s;
  if (count > 1) {
    mask_values(std::strtof(arguments[1], nullptr));
    return tap::done();
  }
  create_advice();
  advice();
  masks();
  geometry();
  types();
  asked_again();
  idle_batches();
  return tap::done();
}
