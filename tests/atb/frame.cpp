// The steps around every operation: an operation of the test's own on the frame, with the attention
// engine behind it. Order of the checks, contexts, streams, asynchronous faults, lifetimes.
#include "atb/operation.hpp"

#include <cmath>

#include "atb/attention_plan.hpp"
#include "atb_call.hpp"

using namespace atbtest;

// q attends to the first lengths[b] rows of x[b], and the result replaces q.
struct MeanParam {
  int32_t kind = 0;  // 1: another number of tensors than any row of the table has
  uint8_t rsv[4] = {0};
};

namespace pyaclnn::atb {
namespace {

struct Limits : Row {
  bool checked = true;
};
constexpr Limits kLimits[] = {{{ProductId::AtlasA2}}, {{ProductId::Atlas310P}, false}};

using Call = OperationCall<MeanParam, Limits>;
using Rule = pyaclnn::Rule<Call>;

enum : size_t { kQ, kX, kExtra, kLengths };

bool extra(const Call &c) { return c.param.kind == 1; }
constexpr Slot<Call> kInputs[] = {
    {"q"}, {"x"}, {"extra", extra}, {"lengths", nullptr, [](const Call &) { return true; }}};
constexpr Slot<Call> kOutputs[] = {{.name = "q", .in_place_of = kQ}};
constexpr Signature kRows[] = {"T T * I > T"};
constexpr SignatureGroup<Call> kSignatures[] = {
    {extra, {}}, {[](const Call &c) { return c.limits.checked; }, kRows}};

constexpr Rule kKind{"MEAN-KIND", "kind", nullptr,
                     [](const Call &c) { return c.param.kind >= 0 && c.param.kind <= 1; },
                     [](const Call &c, Saying &s) {
                       s.value << c.param.kind;
                       s.limit << "must be 0 or 1";
                     }};
constexpr Rule kRank{"MEAN-RANK", "x", [](const Call &c) { return c.counts_fit(); },
                     [](const Call &c) { return c.rank(kX) == 3; },
                     [](const Call &c, Saying &s) {
                       say_shape(c.desc(kX), s.value);
                       s.limit << "must have 3 dimensions";
                     }};
// Of Setup alone, of the kernel, of the plan, and one that is only documented.
constexpr Rule kWidth{"MEAN-WIDTH", "x", [](const Call &c) { return c.rank(kX) == 3; },
                      [](const Call &c) { return c.dim(kX, 2) <= 64; },
                      [](const Call &c, Saying &s) {
                        say_shape(c.desc(kX), s.value);
                        s.limit << "must have at most 64 columns";
                      }};
constexpr Rule kNegative{"MEAN-NEGATIVE", "lengths",
                         [](const Call &c) { return !c.host<int32_t>(kLengths).empty(); },
                         [](const Call &c) { return c.host<int32_t>(kLengths)[0] >= 0; },
                         [](const Call &c, Saying &s) {
                           s.value << c.host<int32_t>(kLengths)[0];
                           s.limit << "must not be negative";
                         }};
constexpr Rule kLong{"MEAN-LONG", "lengths",
                     [](const Call &c) { return !c.host<int32_t>(kLengths).empty(); },
                     [](const Call &c) { return c.host<int32_t>(kLengths)[0] <= c.dim(kX, 1); },
                     [](const Call &c, Saying &s) {
                       s.value << c.host<int32_t>(kLengths)[0];
                       s.limit << "must be at most " << c.dim(kX, 1);
                     }};
constexpr Rule kOdd{"MEAN-ODD", "x", [](const Call &c) { return c.rank(kX) == 3; },
                    [](const Call &c) { return c.dim(kX, 2) % 8 == 0; },
                    [](const Call &c, Saying &s) {
                      say_shape(c.desc(kX), s.value);
                      s.limit << "should have a multiple of 8 columns";
                    }};

constexpr Check<Call> kCreate[] = {{&kReserved<Call>, 1}, {&kKind, 1}};
constexpr Check<Call> kInfer[] = {{&kRank, 16}, {&kOdd, 0}};
constexpr Check<Call> kOwn[] = {{&kWidth, 8}};
constexpr auto kSetup = joined<Call>(kInfer, kOwn);
constexpr Check<Call> kLate[] = {{&kNegative, 4}};
constexpr Check<Call> kPlanned[] = {{&kLong, 1}};

// So many rows stand for an operation that goes wrong inside.
constexpr int64_t kThrowingRows = 3;

void describe(const Call &c, SVector<TensorDesc> &outputs) {
  outputs[c.dim(kX, 1) == kThrowingRows ? 1 : 0] = *c.desc(kQ);
}

std::unique_ptr<Plan> lower(const Call &c) {
  if (c.dim(kX, 1) == kThrowingRows) throw std::bad_alloc();
  auto plan = std::make_unique<AttentionPlan>();
  attention::Problem p;
  const int64_t rows = c.dim(kX, 1), columns = c.dim(kX, 2);
  const attention::Type type =
      c.desc(kX)->dtype == ACL_BF16 ? attention::Type::bf16 : attention::Type::f16;
  p.batch = c.dim(kX, 0);
  p.heads = p.kvHeads = 1;
  p.headDim = p.headDimV = columns;
  p.queryMax = 1;
  p.keyMax = rows;
  p.q = {.slot = static_cast<attention::Slot>(c.layout.input_at[kQ]),
         .type = type,
         .b = columns,
         .s = columns,
         .d = 1};
  p.cache.k = {.slot = static_cast<attention::Slot>(c.layout.input_at[kX]),
               .type = type,
               .b = rows * columns,
               .s = columns,
               .d = 1};
  p.cache.v = p.cache.k;
  std::vector<int64_t> lengths;
  for (int32_t length : c.host<int32_t>(kLengths)) lengths.push_back(length);
  p.qLen.bound = 1;
  p.kvLen = {
      .from = attention::Lengths::Host, .host = plan->keep(std::move(lengths)), .bound = rows};
  p.out.o = p.q;
  p.out.o.slot = c.layout.input_count;
  plan->finish(p, "MeanOperation", c.layout);
  return plan;
}

constexpr Definition<Call> kDefinition{
    .name = "MeanOperation",
    .limits = kLimits,
    .inputs = kInputs,
    .outputs = kOutputs,
    .signatures = kSignatures,
    .create = kCreatePath<Call, kCreate>,
    .infer = kInferPath<Call, kInfer>,
    .setup = kSetupPath<Call, kSetup, kLate>,
    .execute = kPlanned,
    .describe = describe,
    .lower = lower,
};
Registration<kDefinition> g_registration;

}  // namespace
}  // namespace pyaclnn::atb

template <>
atb::Status atb::CreateOperation(const MeanParam &param, Operation **operation) {
  return pyaclnn::atb::create(pyaclnn::atb::kDefinition, param, operation);
}

namespace {

Session *session;

constexpr int64_t kRows = 5, kColumns = 16;

// q is zero, so all scores are equal: the result is the mean of the first rows of x, which count
// up.
struct Tensors {
  std::vector<int32_t> lengths;
  atb::VariantPack pack;
  explicit Tensors(const std::vector<int32_t> &its_lengths, int64_t columns = kColumns)
      : lengths(its_lengths) {
    const auto batch = static_cast<int64_t>(lengths.size());
    std::vector<uint16_t> rows;
    for (int64_t i = 0; i < batch * kRows; ++i) {
      rows.insert(rows.end(), static_cast<size_t>(columns),
                  aclFloatToFloat16(static_cast<float>(i)));
    }
    const std::vector<uint16_t> zeros(static_cast<size_t>(batch * columns), 0);
    pack.inTensors.push_back(device(desc(ACL_FLOAT16, {batch, 1, columns}), zeros));
    pack.inTensors.push_back(device(desc(ACL_FLOAT16, {batch, kRows, columns}), rows));
    atb::Tensor host;
    host.desc = desc(ACL_INT32, {batch});
    host.hostData = lengths.data();
    host.dataSize = atb::Utils::GetTensorSize(host);
    pack.inTensors.push_back(host);
    pack.outTensors.push_back(pack.inTensors[0]);
  }
  float result(size_t batch) const {
    return aclFloat16ToFloat(values<uint16_t>(pack.outTensors[0])[batch * kColumns + 3]);
  }
  bool right() const {
    for (size_t b = 0; b < lengths.size(); ++b) {
      const double wanted = static_cast<double>(b) * kRows + (lengths[b] - 1) / 2.0;
      if (std::fabs(static_cast<double>(result(b)) - wanted) > std::ldexp(wanted, -11))
        return false;
    }
    return true;
  }
};

MeanParam kind(int32_t value) {
  MeanParam p;
  p.kind = value;
  return p;
}

void refused(int got, int wanted, const char *name, std::initializer_list<const char *> words) {
  tap::equal(got, wanted, name);
  const std::string text = message();
  tap::ok(holds(text, words), "  its text", "%s", text.c_str());
}

void create() {
  tap::equal(created(kind(0)), 0, "CreateOperation");
  refused(created(kind(2)), 1, "an own rule of Create",
          {"MeanOperation::CreateOperation: kind: 2, must be 0 or 1", "MEAN-KIND", "Atlas A2"});
  MeanParam p = kind(2);
  p.rsv[3] = 1;
  refused(created(p), 1, "rules in their order", {"rsv", "ATB-RESERVED"});
  refused(atb::CreateOperation(p, static_cast<atb::Operation **>(nullptr)), 1, "no place for it",
          {"operation", "ATB-OPERATION"});
  pyaclnnSetProduct("atlas-910");
  refused(created(kind(0)), 12, "a product without a row", {"ATB-PRODUCT", "Atlas 910"});
  pyaclnnSetProduct("atlas-a2");
}

void infer() {
  atb::Operation *op = make(kind(0));
  const Tensors t({2, 5});
  atb::SVector<atb::TensorDesc> in = descs(t.pack.inTensors), out;
  tap::equal(op->InferShape(in, out), 0, "InferShape");
  tap::ok(out.size() == 1 && out[0].shape.dims[2] == kColumns, "  its output");
  in[1].shape.dimNum = 4;
  in[1].shape.dims[3] = 2;
  refused(op->InferShape(in, out), 16, "an own rule of InferShape",
          {"MeanOperation::InferShape: x (inTensors[1]): shape (2, 5, 16, 2)", "MEAN-RANK"});
  tap::ok(out.size() == 1, "  outputs stay");
  // What comes earlier answers.
  in[1].dtype = ACL_INT8;
  refused(op->InferShape(in, out), 13, "13 before the own rules",
          {"ATB-DTYPE-FORMAT", "x (inTensors[1]): INT8 ND, must be FLOAT16 ND"});
  in[2].shape.dims[0] = 0;
  refused(op->InferShape(in, out), 9, "9 before 13", {"ATB-TENSOR-SIZE", "lengths (inTensors[2])"});
  in[1].shape.dimNum = 0;
  refused(op->InferShape(in, out), 8, "8 of an earlier tensor",
          {"ATB-DIM-NUM", "x (inTensors[1])"});
  in[0].shape.dims[0] = -1;
  refused(op->InferShape(in, out), 9, "9 of an earlier tensor",
          {"ATB-TENSOR-SIZE", "q (inTensors[0])"});
  in.push_back(in[0]);
  refused(op->InferShape(in, out), 5, "5 before all",
          {"ATB-IN-COUNT", "4 tensors", "must be 3 (q, x, lengths)"});
  in = descs(t.pack.inTensors);
  in[1].shape.dims[1] = 3;
  refused(op->InferShape(in, out), 27, "an exception", {"ATB-EXCEPTION", "behind the end"});
  atb::DestroyOperation(op);

  op = make(kind(1));
  in = descs(t.pack.inTensors);
  in.insert(2, in[0]);
  tap::equal(op->GetInputNum(), 4u, "an optional tensor");
  refused(op->InferShape(in, out), 13, "no combination at all",
          {"ATB-DTYPE-FORMAT", "no combination"});
  atb::DestroyOperation(op);

  pyaclnnSetProduct("atlas-310p");
  op = make(kind(0));
  pyaclnnSetProduct("atlas-a2");
  in = descs(t.pack.inTensors);
  in[0].dtype = ACL_FLOAT;
  tap::equal(op->InferShape(in, out), 0, "a product that looks at no dtypes, kept from Create");
  in[1].dtype = ACL_BF16;
  refused(op->InferShape(in, out), 6, "bfloat16 there",
          {"ATB-BFLOAT16", "x (inTensors[1])", "310P"});
  atb::DestroyOperation(op);
}

void setup() {
  atb::Operation *op = make(kind(0));
  Tensors t({2, 5});
  uint64_t size = 77;
  tap::equal(op->Setup(t.pack, size, session->context), 0, "Setup");
  tap::ok(size % 512 == 0 && size != 77, "  its workspace");
  const auto fails = [&](const atb::VariantPack &pack, atb::Context *context, int wanted,
                         const char *name, std::initializer_list<const char *> words) {
    size = 77;
    refused(op->Setup(pack, size, context), wanted, name, words);
    tap::equal(size, 77u, "  no workspace");
  };
  // From the last check to the first: what comes earlier answers.
  atb::VariantPack p = t.pack;
  Tensors other({2, 5});
  p.outTensors[0].deviceData = other.pack.outTensors[0].deviceData;
  fails(p, session->context, 8, "an output in other memory", {"ATB-IN-PLACE", "q (outTensors[0])"});
  t.lengths[0] = -1;
  fails(p, session->context, 4, "the kernel's rule before it",
        {"MEAN-NEGATIVE", "lengths (inTensors[2]): -1"});
  p.inTensors[2].dataSize -= 1;
  fails(p, session->context, 1, "less host data than described",
        {"ATB-HOST-DATA", "lengths (inTensors[2])"});
  p.inTensors[2].dataSize = 0;
  fails(p, session->context, 4, "an unknown size of it", {"MEAN-NEGATIVE"});
  p.inTensors[2].hostData = nullptr;
  fails(p, session->context, 1, "host data before it", {"ATB-HOST-DATA", "lengths (inTensors[2])"});

  struct Foreign : atb::Context {
    atb::Status SetExecuteStream(aclrtStream) override { return 0; }
    aclrtStream GetExecuteStream() const override { return nullptr; }
    atb::Status SetAsyncTilingCopyStatus(bool) override { return 0; }
    bool GetAsyncTilingCopyStatus() const override { return false; }
    atb::Status SetExecuteStreams(const std::vector<aclrtStream> &) override { return 0; }
    std::vector<aclrtStream> GetExecuteStreams() override { return {}; }
    atb::Status SetExecuteType(atb::ExecuteType) override { return 0; }
    atb::ExecuteType GetExecuteType() override { return atb::EXECUTE_NORMAL; }
    atb::Status SetLaunchMode(atb::LaunchMode) override { return 0; }
    atb::LaunchMode GetLaunchMode() override { return atb::KERNEL_LAUNCH_MODE; }
  } foreign;
  fails(p, &foreign, 1, "a context of another class before it", {"ATB-CONTEXT-OWN"});
  for (atb::Tensor *tensor : {&p.inTensors[0], &p.inTensors[1], &p.outTensors[0]}) {
    tensor->desc.shape.dims[2] = 65;
  }
  fails(p, &foreign, 8, "an own rule of Setup before it", {"MEAN-WIDTH"});
  p.inTensors[1].desc.shape.dimNum = 2;
  fails(p, &foreign, 16, "one of InferShape before it", {"MEAN-RANK"});
  p.outTensors[0].desc.dtype = ACL_BF16;
  fails(p, &foreign, 13, "13 of an output before it",
        {"ATB-DTYPE-FORMAT", "q (outTensors[0]): BFLOAT16 ND"});
  p.outTensors[0].desc.shape.dims[0] = 0;
  fails(p, &foreign, 9, "9 of an output before it", {"ATB-TENSOR-SIZE", "q (outTensors[0])"});
  p.outTensors.clear();
  fails(p, &foreign, 5, "S2: 5 of the outputs before it", {"ATB-OUT-COUNT"});
  p.inTensors.clear();
  fails(p, &foreign, 5, "5 of the inputs before it", {"ATB-IN-COUNT"});
  fails(p, nullptr, 1, "S1: no context before all",
        {"MeanOperation::Setup: context", "ATB-CONTEXT"});
  const std::string text = explanation();
  tap::ok(holds(text, {"\"step\": \"Setup\"", "\"rule\": \"ATB-CONTEXT\"", "\"code\": 5",
                       "\"unevaluated\"", "MEAN-RANK"}),
          "  all of it explained", "%s", text.c_str());

  p = t.pack;
  t.lengths[0] = 2;
  p.inTensors[1].desc.shape.dims[1] = 3;
  fails(p, session->context, 27, "an exception", {"ATB-EXCEPTION", "bad_alloc"});

  // A restriction that is only documented.
  Tensors odd({2, 5}, 12);
  tap::equal(op->Setup(odd.pack, size, session->context), 0, "a documented restriction");
  tap::ok(holds(explanation(), {"\"code\": 0", "MEAN-ODD", "\"index\": 1"}), "  explained");
  atb::DestroyOperation(op);
}

void execute() {
  atb::Operation *op = make(kind(0));
  Tensors t({2, 5});
  uint64_t size = 0;
  atb::Context *context = session->context;
  refused(op->Execute(t.pack, nullptr, 0, nullptr), 1, "no context",
          {"MeanOperation::Execute: context", "ATB-CONTEXT"});
  refused(op->Execute(t.pack, nullptr, 0, context), 1, "X1: before Setup", {"ATB-SETUP"});
  op->Setup(t.pack, size, context);
  void *memory = nullptr;
  aclrtMalloc(&memory, size + 512, ACL_MEM_MALLOC_HUGE_FIRST);
  auto *workspace = static_cast<uint8_t *>(memory);
  tap::ok(size != 0, "this one has a workspace");

  // From the last check to the first.
  atb::VariantPack p = t.pack;
  Tensors other({2, 5});
  p.outTensors[0].deviceData = other.pack.outTensors[0].deviceData;
  refused(op->Execute(p, workspace, size, context), 1, "an output in other memory",
          {"ATB-IN-PLACE", "q (outTensors[0])"});
  p.inTensors[1].deviceData = nullptr;
  refused(op->Execute(p, workspace, size, context), 1, "X7: both pointers null",
          {"ATB-DATA-NULL", "x (inTensors[1])"});
  p.inTensors[2].dataSize = 4;
  refused(op->Execute(p, workspace, size, context), 1, "X6: another dataSize",
          {"ATB-DATA-SIZE", "lengths (inTensors[2]): dataSize 4, must be 8"});
  p.inTensors.push_back(p.inTensors[0]);
  refused(op->Execute(p, workspace, size, context), 1, "another number of tensors",
          {"ATB-PACK-COUNT"});
  refused(op->Execute(p, nullptr, size, context), 1, "X5: no workspace", {"ATB-WORKSPACE,"});
  refused(op->Execute(p, nullptr, size - 1, context), 1, "X4: a workspace too small",
          {"ATB-WORKSPACE-SIZE"});
  atb::Context *second = nullptr;
  atb::CreateContext(&second);
  second->SetExecuteStream(session->stream);
  refused(op->Execute(p, nullptr, size - 1, second), 1, "X3: another context",
          {"ATB-CONTEXT-SAME"});
  second->SetExecuteStream(nullptr);
  refused(op->Execute(p, nullptr, size - 1, second), 1, "X2: no stream", {"ATB-STREAM"});
  tap::equal(aclrtSynchronizeStream(session->stream), 0, "nothing has run");
  tap::equal(t.result(0), 0.0f, "  nor written");

  tap::equal(op->Execute(t.pack, workspace, size + 512, context), 0, "Execute");
  tap::equal(aclrtSynchronizeStream(session->stream), 0, "  to its end");
  tap::ok(t.right(), "  its numbers");
  Tensors again({2, 5});
  tap::equal(op->Execute(again.pack, workspace, size, context), 0, "once more, with other memory");
  aclrtSynchronizeStream(session->stream);
  tap::ok(again.right(), "  its numbers");
  Tensors kept({3, 4});
  op->Setup(kept.pack, size, context);
  kept.lengths[0] = 1;  // read at Setup
  tap::equal(op->Execute(atb::VariantPack(), workspace, size, context), 0, "X8: an empty pack");
  aclrtSynchronizeStream(session->stream);
  tap::ok(kept.result(0) == 1 && kept.result(1) == 6.5f, "  its numbers", "%g %g",
          static_cast<double>(kept.result(0)), static_cast<double>(kept.result(1)));

  // A Setup that fails takes back the one before.
  Tensors bad({-1, 1});
  op->Setup(bad.pack, size, context);
  message();
  refused(op->Execute(kept.pack, workspace, size, context), 1, "after a Setup that failed",
          {"ATB-SETUP"});
  // What only the plan finds.
  Tensors too_long({6, 1});
  tap::equal(op->Setup(too_long.pack, size, context), 0, "the plan's rule: Setup succeeds");
  refused(op->Execute(too_long.pack, workspace, size, context), 1, "  Execute refuses",
          {"MeanOperation::Execute: lengths (inTensors[2]): 6, must be at most 5", "MEAN-LONG"});
  Tensors fits({5, 1});
  tap::equal(session->run(op, fits.pack), 0, "just inside");
  tap::ok(fits.right(), "  its numbers");

  // Faults found on the stream: a tensor without device memory, of which Execute sees hostData.
  op->Setup(fits.pack, size, context);
  atb::VariantPack host = fits.pack;
  host.inTensors[1].hostData = host.inTensors[1].deviceData;
  host.inTensors[1].deviceData = nullptr;
  tap::equal(op->Execute(host, workspace, size, context), 0, "no device memory: Execute succeeds");
  refused(aclrtSynchronizeStream(session->stream), 507015, "  the synchronisation does not",
          {"MeanOperation: x: deviceData is a null pointer"});
  tap::equal(session->run(op, fits.pack), 0, "the stream works on");

  // A stream that is gone.
  aclrtStream gone = nullptr;
  aclrtCreateStream(&gone);
  second->SetExecuteStream(gone);
  aclrtDestroyStream(gone);
  op->Setup(fits.pack, size, second);
  refused(op->Execute(fits.pack, workspace, size, second), 4, "a stream that is gone",
          {"ATB-SUBMIT"});
  atb::DestroyContext(second);

  // The operation may go, or be set up again, while its work waits.
  pyaclnnSetStreamMode("lazy");
  Tensors first({2, 5}), next({1, 3});
  op->Setup(first.pack, size, context);
  op->Execute(first.pack, workspace, size, context);
  op->Setup(next.pack, size, context);
  op->Execute(next.pack, workspace, size, context);
  tap::ok(first.result(0) == 0, "nothing has run yet");
  atb::DestroyOperation(op);
  tap::equal(aclrtSynchronizeStream(session->stream), 0, "work outlives its operation");
  tap::ok(first.right() && next.right(), "  its numbers");
  pyaclnnSetStreamMode("auto");
  aclrtFree(memory);
}

void contexts() {
  atb::Context *context = nullptr;
  refused(atb::CreateContext(nullptr), 1, "no place for a context", {"ATB-CONTEXT"});
  refused(atb::CreateContext(&context, 127, 32), 1, "127 host blocks",
          {"hostTilingBlockNum: 127", "128 .. 1024"});
  refused(atb::CreateContext(&context, 1025, 32), 1, "1025 host blocks", {"1025"});
  refused(atb::CreateContext(&context, 128, 31), 1, "31 device blocks",
          {"deviceTilingBlockNum: 31"});
  refused(atb::CreateContext(&context, 128, 1025), 1, "1025 device blocks", {"1025"});
  const std::function<void *(size_t)> alloc = [](size_t) { return nullptr; };
  const std::function<void(void *)> dealloc = [](void *) {};
  refused(atb::CreateContext(&context, alloc, nullptr), 1, "alloc alone", {"dealloc"});
  refused(atb::CreateContext(&context, nullptr, dealloc), 1, "dealloc alone", {"alloc"});
  tap::ok(context == nullptr, "none was made");
  for (int way = 0; way < 4; ++way) {
    const int status = way == 0   ? atb::CreateContext(&context, 128, 32)
                       : way == 1 ? atb::CreateContext(&context, 1024, 1024)
                       : way == 2 ? atb::CreateContext(&context, alloc, dealloc)
                                  : atb::CreateContext(&context, nullptr, nullptr);
    tap::equal(status, 0, "a context");
    tap::equal(atb::DestroyContext(context), 0, "  and its end");
  }
  tap::equal(atb::DestroyContext(nullptr), 0, "DestroyContext of nothing");
  tap::equal(atb::DestroyOperation(nullptr), 0, "DestroyOperation of nothing");
  atb::Context *ended = nullptr;
  tap::equal(atb::CreateContext(&ended), 0, "a context");
  tap::equal(atb::DestroyContext(ended), 0, "  destroyed once");
  tap::equal(atb::DestroyContext(ended), 1, "  and no second time");
  atb::Operation *gone = make(kind(1));
  tap::equal(atb::DestroyOperation(gone), 0, "  destroyed once");
  tap::equal(atb::DestroyOperation(gone), 1, "  and no second time");

  atb::CreateContext(&context);
  tap::ok(context->GetExecuteStream() == nullptr && context->GetExecuteStreams().size() == 1 &&
              context->GetExecuteType() == atb::EXECUTE_NORMAL &&
              context->GetLaunchMode() == atb::KERNEL_LAUNCH_MODE &&
              !context->GetAsyncTilingCopyStatus(),
          "what a context has at first");
  refused(context->SetExecuteStreams({}), 1, "no streams", {"ATB-STREAMS"});
  refused(context->SetExecuteType(static_cast<atb::ExecuteType>(3)), 1, "execute type 3",
          {"ATB-EXECUTE-TYPE", "0 .. 2"});
  refused(context->SetExecuteType(static_cast<atb::ExecuteType>(-1)), 1, "execute type -1", {"-1"});
  refused(context->SetLaunchMode(static_cast<atb::LaunchMode>(2)), 1, "launch mode 2",
          {"ATB-LAUNCH-MODE"});
  context->SetAsyncTilingCopyStatus(true);
  tap::ok(context->GetAsyncTilingCopyStatus(), "SetAsyncTilingCopyStatus");

  // The operation's number chooses among the streams.
  aclrtStream extra = nullptr;
  aclrtCreateStream(&extra);
  tap::equal(context->SetExecuteStreams({session->stream, extra}), 0, "two streams");
  tap::ok(context->GetExecuteStreams()[1] == extra, "  as given");
  atb::Operation *op = make(kind(0));
  tap::equal(atb::GetExecuteStreamId(op), 0u, "stream 0 at first");
  refused(atb::SetExecuteStreamId(nullptr, 1), 1, "SetExecuteStreamId of nothing",
          {"SetExecuteStreamId"});
  tap::equal(atb::GetExecuteStreamId(nullptr), 0u, "GetExecuteStreamId of nothing");
  tap::equal(atb::SetExecuteStreamId(op, 1), 0, "SetExecuteStreamId");
  tap::equal(atb::GetExecuteStreamId(op), 1u, "  as set");
  pyaclnnSetStreamMode("lazy");
  Tensors t({2, 5});
  uint64_t size = 0;
  op->Setup(t.pack, size, context);
  std::vector<uint8_t> workspace(size);
  op->Execute(t.pack, workspace.data(), size, context);
  tap::equal(pyaclnnStreamIdle(session->stream), 1, "  not the first stream");
  tap::equal(pyaclnnStreamIdle(extra), 0, "  but the second one");
  aclrtSynchronizeStream(extra);
  tap::ok(t.right(), "  its numbers");
  pyaclnnSetStreamMode("auto");
  atb::SetExecuteStreamId(op, 2);
  refused(op->Execute(t.pack, workspace.data(), size, context), 1, "a stream that was not set",
          {"ATB-STREAM"});
  atb::SetExecuteStreamId(op, 0);

  // Prelaunch and launch.
  Tensors two({2, 5});
  op->Setup(two.pack, size, context);
  context->SetExecuteType(atb::EXECUTE_LAUNCH);
  refused(op->Execute(two.pack, workspace.data(), size, context), 1, "launch before prelaunch",
          {"ATB-PRELAUNCH"});
  context->SetExecuteType(atb::EXECUTE_PRELAUNCH);
  tap::equal(op->Execute(two.pack, workspace.data(), size, context), 0, "prelaunch");
  aclrtSynchronizeStream(session->stream);
  tap::ok(two.result(0) == 0, "  runs nothing");
  context->SetExecuteType(atb::EXECUTE_LAUNCH);
  tap::equal(op->Execute(two.pack, workspace.data(), size, context), 0, "launch");
  aclrtSynchronizeStream(session->stream);
  tap::ok(two.right(), "  its numbers");
  refused(op->Execute(two.pack, workspace.data(), size, context), 1, "launch once more",
          {"ATB-PRELAUNCH"});
  context->SetExecuteType(atb::EXECUTE_PRELAUNCH);
  op->Execute(two.pack, workspace.data(), size, context);  // and left
  context->SetExecuteType(atb::EXECUTE_NORMAL);

  // In graph mode the first execution fixes the shapes.
  context->SetLaunchMode(atb::GRAPH_LAUNCH_MODE);
  Tensors wide({2, 5}, 32);
  tap::equal(op->Setup(wide.pack, size, context), 0,
             "graph mode: other shapes before an execution");
  tap::equal(session->context->GetLaunchMode(), atb::KERNEL_LAUNCH_MODE, "  only of this context");
  tap::equal(op->Setup(two.pack, size, context), 0, "  and back");
  op->Execute(two.pack, workspace.data(), size, context);
  aclrtSynchronizeStream(session->stream);
  tap::equal(op->Setup(two.pack, size, context), 0, "the same shapes after it");
  refused(op->Setup(wide.pack, size, context), 8, "other shapes after it",
          {"ATB-GRAPH-DESCS", "q (inTensors[0])"});
  atb::DestroyOperation(op);
  atb::DestroyContext(context);
  aclrtDestroyStream(extra);
}

// Rules look at broken calls, so what is not there must be -1.
void accessors() {
  using pyaclnn::atb::Facts;
  const atb::TensorDesc d = desc(ACL_FLOAT, {2, 5});
  tap::equal(Facts::dim_of(&d, 1), 5, "the last dimension");
  tap::equal(Facts::dim_of(&d, 2), -1, "one behind it");
  tap::equal(Facts::dim_of(&d, static_cast<size_t>(-2)), -1, "one counted down below the first");
  tap::equal(Facts::dim_of(nullptr, static_cast<size_t>(-2)), -1, "of no tensor");
}

void rules() {
  std::string json(pyaclnnRulesJson("MeanOperation", nullptr, 0), '\0');
  pyaclnnRulesJson("MeanOperation", &json[0], json.size() + 1);
  std::printf("# rules %s\n", json.c_str());
}

}  // namespace

int main(int count, char **) {
  if (count > 1) {  // with an environment that names no product
    refused(created(kind(0)), 12, "an unknown product", {"ATB-INSTALLATION", "PYACLNN_PRODUCT"});
    return tap::done();
  }
  Session s;
  session = &s;
  create();
  infer();
  setup();
  execute();
  contexts();
  accessors();
  rules();
  return tap::done();
}
