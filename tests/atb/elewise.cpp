// Elewise and Transdata: numbers against double, and every check with the case just inside.
#include <cmath>
#include <functional>
#include <random>

#include "atb_call.hpp"

using namespace atbtest;
using Elewise = atb::infer::ElewiseParam;
using Transdata = atb::infer::TransdataParam;

namespace {

Session *session;

// ---- values of every dtype as double, and how far a result may be off

float bfloat(uint16_t bits) {
  const uint32_t word = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &word, 4);
  return value;
}

std::vector<double> read(const atb::Tensor &t) {
  std::vector<double> all;
  const auto put = [&](auto example, auto convert) {
    for (auto v : values<decltype(example)>(t)) all.push_back(static_cast<double>(convert(v)));
  };
  const auto same = [](auto v) { return v; };
  switch (t.desc.dtype) {
    case ACL_FLOAT16: put(uint16_t(), [](uint16_t v) { return aclFloat16ToFloat(v); }); break;
    case ACL_BF16: put(uint16_t(), [](uint16_t v) { return bfloat(v); }); break;
    case ACL_FLOAT: put(float(), same); break;
    case ACL_INT32: put(int32_t(), same); break;
    case ACL_INT64: put(int64_t(), same); break;
    default: put(int8_t(), same); break;
  }
  return all;
}

int64_t count_of(const atb::TensorDesc &d) {
  return static_cast<int64_t>(atb::Utils::GetTensorNumel(d));
}

atb::Tensor numbers(const atb::TensorDesc &d, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> real(-3, 3);
  const auto count = static_cast<size_t>(count_of(d));
  if (d.dtype == ACL_FLOAT) {
    std::vector<float> v(count);
    for (float &x : v) x = real(random);
    return device(d, v);
  }
  if (d.dtype == ACL_FLOAT16 || d.dtype == ACL_BF16) {
    std::vector<uint16_t> v(count);
    for (uint16_t &x : v) {
      const float value = real(random);
      uint32_t word;
      std::memcpy(&word, &value, 4);
      x = d.dtype == ACL_FLOAT16 ? aclFloatToFloat16(value) : static_cast<uint16_t>(word >> 16);
    }
    return device(d, v);
  }
  if (d.dtype == ACL_INT32 || d.dtype == ACL_INT64) {
    std::vector<int64_t> v(count);
    for (int64_t &x : v) x = static_cast<int64_t>(random() % 11) - 5;
    if (d.dtype == ACL_INT64) return device(d, v);
    return device(d, std::vector<int32_t>(v.begin(), v.end()));
  }
  std::vector<int8_t> v(count);
  for (int8_t &x : v) x = static_cast<int8_t>(random() % 3 == 0 ? 0 : random());
  return device(d, v);
}

// Half a unit of the format, and the float32 arithmetic before it.
double bound(aclDataType dtype, double wanted) {
  const double inner = std::ldexp(std::fabs(wanted), -22) + std::ldexp(1, -24);
  switch (dtype) {
    case ACL_FLOAT16: return std::ldexp(std::fabs(wanted), -11) + std::ldexp(1, -25) + inner;
    case ACL_BF16: return std::ldexp(std::fabs(wanted), -8) + inner;
    case ACL_FLOAT: return inner;
    default: return 0;
  }
}

Elewise elewise(Elewise::ElewiseType type, float attribute = 0,
                aclDataType out = ACL_DT_UNDEFINED) {
  Elewise p;
  p.elewiseType = type;
  p.mulsParam.varAttr = attribute;
  p.outTensorType = out;
  return p;
}

using Function = std::function<double(double, double)>;

void computes(const char *name, const Elewise &p, const std::vector<atb::TensorDesc> &in,
              aclDataType out_type, const Function &function) {
  atb::Operation *op = make(p);
  if (op == nullptr) {
    tap::ok(false, name);
    return;
  }
  atb::VariantPack pack;
  unsigned seed = 11;
  for (const atb::TensorDesc &d : in) pack.inTensors.push_back(numbers(d, seed++));
  atb::SVector<atb::TensorDesc> out;
  tap::equal(op->InferShape(descs(pack.inTensors), out), 0, name);
  tap::equal(out[0].dtype, out_type, "  dtype of its output");
  pack.outTensors.push_back(
      device(out[0], std::vector<uint8_t>(atb::Utils::GetTensorSize(out[0]), 0x77)));
  tap::equal(session->run(op, pack), 0, "  runs");
  atb::DestroyOperation(op);
  const auto x = read(pack.inTensors[0]), got = read(pack.outTensors[0]);
  const auto y = in.size() == 2 ? read(pack.inTensors[1]) : x;
  // Broadcasting by the definition: an index of the output, dimension by dimension from the last.
  const auto at = [&](const atb::TensorDesc &d, size_t i) {
    size_t index = 0, stride = 1;
    for (uint64_t back = 1; back <= out[0].shape.dimNum; ++back) {
      const auto dim = static_cast<size_t>(out[0].shape.dims[out[0].shape.dimNum - back]);
      if (back <= d.shape.dimNum) {
        const auto own = static_cast<size_t>(d.shape.dims[d.shape.dimNum - back]);
        index += (own == 1 ? 0 : i % dim) * stride;
        stride *= own;
      }
      i /= dim;
    }
    return index;
  };
  size_t wrong = 0;
  double worst = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const double wanted = function(x[at(in[0], i)], y[at(in.back(), i)]);
    const double off = std::fabs(got[i] - wanted);
    if (!(off <= bound(out_type, wanted))) ++wrong;
    worst = std::fmax(worst, off);
  }
  tap::ok(wrong == 0 && !got.empty(), "  its numbers", "%zu of %zu, the worst by %g", wrong,
          got.size(), worst);
}

void elewise_numbers() {
  const auto F16 = ACL_FLOAT16, B16 = ACL_BF16, F32 = ACL_FLOAT, I32 = ACL_INT32, I64 = ACL_INT64,
             I8 = ACL_INT8;
  const auto d = [](aclDataType dtype) { return desc(dtype, {3, 7}); };
  const auto same = [](double x, double) { return x; };
  const auto CAST = Elewise::ELEWISE_CAST;
  computes("CAST f16 -> f32", elewise(CAST), {d(F16)}, F32, same);
  computes("CAST f32 -> f16", elewise(CAST), {d(F32)}, F16, same);
  computes("CAST f32 -> f16, said so", elewise(CAST, 0, F16), {d(F32)}, F16, same);
  computes("CAST f32 -> bf16", elewise(CAST, 0, B16), {d(F32)}, B16, same);
  computes("CAST bf16 -> f32", elewise(CAST), {d(B16)}, F32, same);
  computes("CAST i32 -> i64", elewise(CAST, 0, I64), {d(I32)}, I64, same);
  computes("CAST i64 -> i32", elewise(CAST, 0, I32), {d(I64)}, I32, same);
  computes("CAST of 100000 elements", elewise(CAST), {desc(F32, {100, 1000})}, F16, same);

  const struct {
    const char *name;
    Elewise::ElewiseType type;
    std::vector<aclDataType> dtypes;
    Function function;
  } unary[] = {
      {"MULS", Elewise::ELEWISE_MULS, {F16, F32, B16}, [](double x, double) { return x * 0.75; }},
      {"COS", Elewise::ELEWISE_COS, {F16, F32, B16}, [](double x, double) { return std::cos(x); }},
      {"SIN", Elewise::ELEWISE_SIN, {F16, F32, B16}, [](double x, double) { return std::sin(x); }},
      {"TANH", Elewise::ELEWISE_TANH, {F16, B16}, [](double x, double) { return std::tanh(x); }},
      {"NEG", Elewise::ELEWISE_NEG, {F16, B16}, [](double x, double) { return -x; }},
      {"LOGICAL_NOT", Elewise::ELEWISE_LOGICAL_NOT, {I8}, [](double x, double) { return x == 0; }},
  };
  for (const auto &each : unary) {
    for (aclDataType dtype : each.dtypes) {
      computes(each.name, elewise(each.type, 0.75f), {d(dtype)}, dtype, each.function);
    }
  }
  const struct {
    const char *name;
    Elewise::ElewiseType type;
    std::vector<aclDataType> dtypes;
    bool truth;
    Function function;
  } binary[] = {
      {"ADD", Elewise::ELEWISE_ADD, {F16, F32, B16, I32, I64}, false, std::plus<double>()},
      {"SUB", Elewise::ELEWISE_SUB, {F16, I64, B16}, false, std::minus<double>()},
      {"MUL", Elewise::ELEWISE_MUL, {F16, B16}, false, std::multiplies<double>()},
      {"REALDIV", Elewise::ELEWISE_REALDIV, {F16, F32, B16}, false, std::divides<double>()},
      {"LOGICAL_AND",
       Elewise::ELEWISE_LOGICAL_AND,
       {I8},
       true,
       [](double x, double y) { return x != 0 && y != 0; }},
      {"LOGICAL_OR",
       Elewise::ELEWISE_LOGICAL_OR,
       {I8},
       true,
       [](double x, double y) { return x != 0 || y != 0; }},
      {"LESS", Elewise::ELEWISE_LESS, {I64, F16, F32, B16}, true, std::less<double>()},
      {"GREATER", Elewise::ELEWISE_GREATER, {I64, F16, F32, B16}, true, std::greater<double>()},
      {"EQUAL", Elewise::ELEWISE_EQUAL, {F16, F32, B16}, true, std::equal_to<double>()},
  };
  for (const auto &each : binary) {
    for (aclDataType dtype : each.dtypes) {
      computes(each.name, elewise(each.type), {d(dtype), d(dtype)}, each.truth ? I8 : dtype,
               each.function);
    }
  }
  const auto ADD = Elewise::ELEWISE_ADD, SUB = Elewise::ELEWISE_SUB;
  const auto plus = std::plus<double>();
  const auto minus = std::minus<double>();
  computes("a row on all", elewise(ADD), {desc(F16, {4, 5, 6}), desc(F16, {6})}, F16, plus);
  computes("a column on all", elewise(SUB), {desc(F16, {4, 1}), desc(F16, {2, 4, 9})}, F16, minus);
  computes("both ways", elewise(SUB), {desc(F16, {5, 1, 3, 1}), desc(F16, {4, 1, 7})}, F16, minus);
  computes("one number", elewise(SUB), {desc(F16, {1}), desc(F16, {3, 3})}, F16, minus);
  computes("long rows", elewise(SUB), {desc(F16, {3, 20000}), desc(F16, {3, 1})}, F16, minus);

  // Equal values exist as well, and integers wrap around.
  atb::VariantPack pack;
  pack.inTensors.push_back(device(desc(I32, {2}), std::vector<int32_t>{INT32_MAX, -4}));
  pack.inTensors.push_back(device(desc(I32, {2}), std::vector<int32_t>{1, 4}));
  pack.outTensors.push_back(device(desc(I32, {2}), std::vector<int32_t>{9, 9}));
  atb::Operation *op = make(elewise(ADD));
  tap::equal(session->run(op, pack), 0, "ADD beyond 32 bits");
  tap::ok(values<int32_t>(pack.outTensors[0]) == std::vector<int32_t>{INT32_MIN, 0}, "  wraps");
  atb::DestroyOperation(op);
  atb::VariantPack equal;
  equal.inTensors.push_back(device(desc(F32, {3}), std::vector<float>{1, 2, NAN}));
  equal.inTensors.push_back(device(desc(F32, {3}), std::vector<float>{1, 3, NAN}));
  equal.outTensors.push_back(device(desc(I8, {3}), std::vector<int8_t>{9, 9, 9}));
  op = make(elewise(Elewise::ELEWISE_EQUAL));
  tap::equal(session->run(op, equal), 0, "EQUAL of equal numbers");
  tap::ok(values<int8_t>(equal.outTensors[0]) == std::vector<int8_t>{1, 0, 0}, "  1, 0, not NaN");
  atb::DestroyOperation(op);
}

// ---- checks

// `rule`: nullptr for what only the running task finds.
void refused(int got, int wanted, const char *name, const char *rule, const char *word = "") {
  tap::equal(got, wanted, name);
  const std::string text = message();
  tap::ok((rule == nullptr || by_rule(text, rule)) && holds(text, {word}), "  its text", "%s",
          text.c_str());
}

template <class Param>
int inferred(const Param &p, const std::vector<atb::TensorDesc> &in) {
  atb::Operation *op = make(p);
  atb::SVector<atb::TensorDesc> given, out;
  for (const atb::TensorDesc &d : in) given.push_back(d);
  message();
  const int status = op->InferShape(given, out);
  atb::DestroyOperation(op);
  return status;
}
template <class Param>
int set_up(const Param &p, const std::vector<atb::TensorDesc> &in, const atb::TensorDesc &out) {
  atb::Operation *op = make(p);
  atb::VariantPack pack;
  for (const atb::TensorDesc &d : in) {
    atb::Tensor t;
    t.desc = d;
    pack.inTensors.push_back(t);
  }
  atb::Tensor t;
  t.desc = out;
  pack.outTensors.push_back(t);
  uint64_t size = 0;
  message();
  const int status = op->Setup(pack, size, session->context);
  atb::DestroyOperation(op);
  return status;
}

void elewise_checks() {
  const auto F16 = ACL_FLOAT16;
  const auto type = [](int value) { return elewise(static_cast<Elewise::ElewiseType>(value)); };
  for (int value : {0, -1, 21}) refused(created(type(value)), 1, "no such type", "ELEWISE-TYPE");
  for (int value : {6, 17, 18, 19})
    refused(created(type(value)), 1, "a quantising type", "ELEWISE-QUANT");
  for (int value : {1, 5, 7, 16, 20}) tap::equal(created(type(value)), 0, "a type");
  Elewise p = type(1);
  p.rsv[7] = 1;
  refused(created(p), 1, "a reserved byte", "ATB-RESERVED");
  p = type(1);
  p.quantParam.rsv[19] = 1;
  refused(created(p), 1, "a reserved byte of quantParam", "ELEWISE-RESERVED", "quantParam: rsv");
  p = type(1);
  p.mulsParam.rsv[0] = 1;
  refused(created(p), 1, "a reserved byte of mulsParam", "ELEWISE-RESERVED", "mulsParam: rsv");
  refused(atb::CreateOperation(type(1), static_cast<atb::Operation **>(nullptr)), 1, "no place",
          "ATB-OPERATION");
  pyaclnnSetProduct("ascend-950");
  refused(created(type(1)), 12, "a product without operations", "ATB-PRODUCT");
  pyaclnnSetProduct("atlas-310p");
  refused(inferred(type(1), {desc(ACL_BF16, {2})}), 6, "bfloat16 on a product without it",
          "ATB-BFLOAT16");
  tap::equal(inferred(type(1), {desc(F16, {2})}), 0, "float16 there");
  pyaclnnSetProduct("atlas-a2");

  const auto CAST = Elewise::ELEWISE_CAST, ADD = Elewise::ELEWISE_ADD;
  refused(inferred(elewise(CAST), {desc(F16, {2}), desc(F16, {2})}), 5, "two tensors for CAST",
          "ATB-IN-COUNT");
  refused(inferred(elewise(ADD), {desc(F16, {2})}), 5, "one tensor for ADD", "ATB-IN-COUNT");
  refused(inferred(elewise(CAST), {desc(ACL_INT8, {2})}), 13, "CAST of int8", "ATB-DTYPE-FORMAT");
  refused(inferred(elewise(ADD), {desc(F16, {2}), desc(ACL_FLOAT, {2})}), 13, "ADD of two dtypes",
          "ATB-DTYPE-FORMAT");
  refused(inferred(elewise(Elewise::ELEWISE_NEG), {desc(ACL_FLOAT, {2})}), 13, "NEG of float",
          "ATB-DTYPE-FORMAT");
  refused(inferred(elewise(Elewise::ELEWISE_EQUAL), {desc(ACL_INT64, {2}), desc(ACL_INT64, {2})}),
          13, "EQUAL of int64", "ATB-DTYPE-FORMAT");
  refused(inferred(elewise(CAST, 0, ACL_INT8), {desc(F16, {2})}), 1, "CAST to int8",
          "ELEWISE-OUT-TYPE");
  tap::equal(inferred(elewise(CAST, 0, ACL_INT64), {desc(F16, {2})}), 0,
             "CAST f16 -> int64 at InferShape");
  refused(set_up(elewise(CAST, 0, ACL_INT64), {desc(F16, {2})}, desc(ACL_INT64, {2})), 13,
          "  but not at Setup", "ATB-DTYPE-FORMAT");
  refused(inferred(elewise(ADD), {desc(F16, {2, 3}), desc(F16, {2})}), 8, "shapes that do not fit",
          "ELEWISE-BROADCAST");
  tap::equal(inferred(elewise(ADD), {desc(F16, {2, 3}), desc(F16, {2, 1})}), 0, "shapes that do");
  refused(set_up(elewise(ADD), {desc(F16, {2, 3}), desc(F16, {2, 1})}, desc(F16, {2, 1})), 8,
          "an output too small", "ELEWISE-OUT-SHAPE");
  tap::equal(set_up(elewise(ADD), {desc(F16, {2, 3}), desc(F16, {2, 1})}, desc(F16, {2, 3})), 0,
             "an output that fits");
  refused(set_up(elewise(ADD), {desc(F16, {2, 3}), desc(F16, {2})}, desc(F16, {2, 3})), 8,
          "shapes that do not fit, at Setup", "ELEWISE-BROADCAST");

  atb::VariantPack pack;
  pack.inTensors.push_back(numbers(desc(F16, {2}), 1));
  pack.outTensors.push_back(numbers(desc(ACL_FLOAT, {2}), 1));
  pack.inTensors[0].hostData = pack.inTensors[0].deviceData;
  pack.inTensors[0].deviceData = nullptr;
  atb::Operation *op = make(elewise(CAST));
  refused(session->run(op, pack), 507015, "data on the host only", nullptr,
          "x: deviceData is a null");
  atb::DestroyOperation(op);
}

Transdata transdata(int type, std::initializer_list<int64_t> crops = {0, 0}) {
  Transdata p;
  p.transdataType = static_cast<Transdata::TransdataType>(type);
  p.outCrops = crops;
  return p;
}

void moves(const char *name, aclDataType dtype, std::initializer_list<int64_t> nd_dims) {
  const atb::TensorDesc nd = desc(dtype, nd_dims);
  const auto element = static_cast<int64_t>(aclDataTypeSize(dtype));
  const int64_t *last = nd.shape.dims + nd.shape.dimNum - 1;
  const int64_t rows = last[-1], columns = last[0];
  const int64_t batch = nd.shape.dimNum == 3 ? nd.shape.dims[0] : 1;
  const int64_t width = dtype == ACL_INT8 ? 32 : 16;
  const int64_t groups = (columns + width - 1) / width, padded = (rows + 15) / 16 * 16;
  atb::Operation *op = make(transdata(2));
  atb::VariantPack pack;
  std::mt19937 random(5);
  std::vector<uint8_t> bytes(atb::Utils::GetTensorSize(nd));
  for (uint8_t &byte : bytes) byte = static_cast<uint8_t>(random());
  pack.inTensors.push_back(device(nd, bytes));
  atb::SVector<atb::TensorDesc> out;
  tap::equal(op->InferShape(descs(pack.inTensors), out), 0, name);
  const int64_t *dims = out[0].shape.dims;
  tap::ok(out[0].format == ACL_FORMAT_FRACTAL_NZ && out[0].shape.dimNum == 4 && dims[0] == batch &&
              dims[1] == groups && dims[2] == padded && dims[3] == width,
          "  its shape");
  pack.outTensors.push_back(
      device(out[0], std::vector<uint8_t>(atb::Utils::GetTensorSize(out[0]), 0x77)));
  tap::equal(session->run(op, pack), 0, "  runs");
  atb::DestroyOperation(op);
  std::vector<uint8_t> wanted(atb::Utils::GetTensorSize(out[0]), 0);
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t x = 0; x < columns * element; ++x) {
        const int64_t c = x / element;
        const int64_t to = ((b * groups + c / width) * padded + r) * width + c % width;
        wanted[static_cast<size_t>(to * element + x % element)] =
            bytes[static_cast<size_t>(((b * rows + r) * columns) * element + x)];
      }
    }
  }
  tap::ok(values<uint8_t>(pack.outTensors[0]) == wanted, "  its elements, and zeros");
  if (dtype == ACL_INT8) return;

  op = make(transdata(1, {rows, columns}));
  atb::VariantPack back;
  back.inTensors.push_back(pack.outTensors[0]);
  tap::equal(op->InferShape(descs(back.inTensors), out), 0, "  and back");
  tap::ok(out[0].format == ACL_FORMAT_ND && out[0].shape.dimNum == 3 && dims[0] == batch &&
              dims[1] == rows && dims[2] == columns,
          "  its shape");
  back.outTensors.push_back(device(out[0], std::vector<uint8_t>(bytes.size(), 0x77)));
  tap::equal(session->run(op, back), 0, "  runs");
  tap::ok(values<uint8_t>(back.outTensors[0]) == bytes, "  the same elements");
  atb::DestroyOperation(op);
}

void transdata_rows() {
  moves("ND -> NZ of 2 dimensions", ACL_FLOAT16, {5, 40});
  moves("ND -> NZ of 3 dimensions", ACL_BF16, {3, 17, 16});
  moves("ND -> NZ without padding", ACL_FLOAT16, {2, 32, 48});
  moves("ND -> NZ of int8", ACL_INT8, {2, 3, 33});
  moves("ND -> NZ of many", ACL_FLOAT16, {4, 300, 200});

  const auto F16 = ACL_FLOAT16;
  const auto nz = ACL_FORMAT_FRACTAL_NZ;
  Transdata p = transdata(2);
  p.rsv[7] = 1;
  refused(created(p), 1, "a reserved byte", "ATB-RESERVED");
  pyaclnnSetProduct("ascend-950");
  refused(created(transdata(2)), 12, "a product without operations", "ATB-PRODUCT");
  pyaclnnSetProduct("atlas-a2");
  for (int type : {0, 3}) {
    refused(inferred(transdata(type), {desc(F16, {5, 40})}), 1, "no such type", "TRANSDATA-TYPE");
  }
  refused(inferred(transdata(2), {desc(ACL_FLOAT, {5, 40})}), 13, "ND -> NZ of float",
          "ATB-DTYPE-FORMAT");
  refused(inferred(transdata(2), {desc(F16, {5, 40}, nz)}), 13, "ND -> NZ of NZ",
          "ATB-DTYPE-FORMAT");
  refused(inferred(transdata(1, {5, 40}), {desc(ACL_INT8, {1, 2, 16, 32}, nz)}), 13,
          "NZ -> ND of int8", "ATB-DTYPE-FORMAT");
  for (auto dims : {std::initializer_list<int64_t>{5}, {1, 1, 5, 40}}) {
    refused(inferred(transdata(2), {desc(F16, dims)}), 8, "ND -> NZ of another rank",
            "TRANSDATA-RANK");
  }
  const atb::TensorDesc input = desc(F16, {2, 3, 16, 16}, nz);
  refused(inferred(transdata(1, {5, 40}), {desc(F16, {3, 16, 16}, nz)}), 8, "NZ -> ND of rank 3",
          "TRANSDATA-RANK");
  refused(inferred(transdata(1, {5, 40}), {desc(F16, {1, 3, INT64_MAX, 16}, nz)}), 9,
          "more rows than a number can say", "ATB-TENSOR-SIZE");
  tap::ok(holds(explanation(), {"\"TRANSDATA-CROPS\", \"parameter\": \"outCrops\", \"why\""}),
          "  with which nothing is computed", "%s", explanation().c_str());
  refused(inferred(transdata(1, {5}), {input}), 1, "one crop", "TRANSDATA-CROP-COUNT");
  const struct {
    int64_t rows, columns;
    int status;
  } crops[] = {{0, 40, 1}, {1, 40, 0}, {16, 40, 0}, {17, 40, 1},
               {5, 32, 1}, {5, 33, 0}, {5, 48, 0},  {5, 49, 1}};
  for (const auto &each : crops) {
    const int got = inferred(transdata(1, {each.rows, each.columns}), {input});
    tap::equal(got, each.status, "crops");
    if (got != 0) tap::ok(holds(message(), {"TRANSDATA-CROPS"}), "  their rule");
  }
  refused(set_up(transdata(2), {desc(F16, {5, 40})}, desc(F16, {3, 16, 16}, nz)), 8,
          "ND -> NZ, an output of rank 3", "TRANSDATA-OUT-RANK");
  refused(set_up(transdata(1, {5, 40}), {input}, desc(F16, {2, 1, 5, 40})), 8,
          "NZ -> ND, an output of rank 4", "TRANSDATA-OUT-RANK");
  refused(set_up(transdata(2), {desc(F16, {5, 40})}, desc(F16, {1, 2, 16, 16}, nz)), 8,
          "an output too small", "TRANSDATA-OUT-SHAPE");
  tap::equal(set_up(transdata(2), {desc(F16, {5, 40})}, desc(F16, {1, 3, 16, 16}, nz)), 0,
             "one that fits");
  const atb::TensorDesc uneven = desc(F16, {1, 1, 20, 18}, nz);
  refused(set_up(transdata(1, {21, 18}), {uneven}, desc(F16, {1, 21, 18})), 8,
          "more rows than there are", "TRANSDATA-EXTENT");
  refused(set_up(transdata(1, {20, 19}), {uneven}, desc(F16, {1, 20, 19})), 8, "more columns",
          "TRANSDATA-EXTENT");
  tap::equal(set_up(transdata(1, {20, 18}), {uneven}, desc(F16, {1, 20, 18})), 0,
             "as many as there are");
}

// ---- declared, not offered

void unsupported() {
  refused(created(atb::infer::RopeParam()), 1, "RopeParam", "ATB-UNSUPPORTED", "RopeParam");
  refused(created(atb::infer::LinearParam()), 1, "LinearParam", "ATB-UNSUPPORTED", "LinearParam");
  refused(created(atb::infer::RmsNormParam()), 1, "RmsNormParam", "ATB-UNSUPPORTED",
          "RmsNormParam");
  refused(created(atb::infer::GroupTopkParam()), 1, "GroupTopkParam", "ATB-UNSUPPORTED",
          "GroupTopkParam");
}

}  // namespace

int main() {
  Session s;
  session = &s;
  elewise_numbers();
  elewise_checks();
  transdata_rows();
  unsupported();
  return tap::done();
}
