#include "atb/operation.hpp"

#include "acl/build_guard.hpp"  // in one file of each library: compares builds when it is loaded
#include "acl/stream.hpp"
#include "atb/context.hpp"
#include "support/log.hpp"

namespace pyaclnn::atb {

// What a queued run needs; its addresses follow.
struct Run {
  std::shared_ptr<const Plan> plan;
  const char *name;
  std::byte *workspace;
  size_t count;
  std::byte **addresses() { return reinterpret_cast<std::byte **>(this + 1); }
};

namespace {

Run *run_of(Task *task) { return reinterpret_cast<Run *>(task->payload()); }

int32_t run_task(Task *task, Text &why) {
  Run &run = *run_of(task);
  try {
    why << run.name << ": ";
    return run.plan->run({run.addresses(), run.count}, run.workspace, why);
  } catch (const std::exception &error) {
    why << error.what();
    return ACL_ERROR_RT_AICORE_EXCEPTION;
  }
}

void release_task(Task *task) { run_of(task)->~Run(); }

// ---- the rules of Execute

struct Execution {
  const Layout &layout;
  bool set_up;
  Context *context, *context_of_setup;
  aclrtStream stream;
  const void *workspace;
  uint64_t size, needed;
  const VariantPack &pack;
  std::span<const Tensor> setup;  // the tensors of Setup, inputs then outputs

  bool empty() const { return pack.inTensors.empty() && pack.outTensors.empty(); }
  bool counts_fit() const {
    return pack.inTensors.size() == layout.input_count &&
           pack.outTensors.size() == layout.output_count;
  }
  bool comparable() const { return set_up && counts_fit(); }
  // By the place in `setup`.
  const Tensor &tensor(size_t i) const {
    return i < layout.input_count ? pack.inTensors[i] : pack.outTensors[i - layout.input_count];
  }
  // The first tensor for which wrong(tensor, place in `setup`) holds; -1: none.
  template <class Wrong>
  int first(Wrong wrong) const {
    for (size_t i = 0; i < setup.size(); ++i) {
      if (wrong(tensor(i), i)) return static_cast<int>(i);
    }
    return -1;
  }
  void blame(int at, Saying &s) const {
    const auto i = static_cast<size_t>(at);
    const bool output = i >= layout.input_count;
    layout.blame(output, output ? i - layout.input_count : i, s);
  }
};

int wrong_size(const Execution &e) {
  return e.first(
      [&](const Tensor &t, size_t i) { return t.dataSize != bytes_of(e.setup[i].desc); });
}
int without_data(const Execution &e) {
  return e.first(
      [](const Tensor &t, size_t) { return t.deviceData == nullptr && t.hostData == nullptr; });
}
int moved(const Execution &e) {
  return e.first([&](const Tensor &t, size_t i) {
    if (i < e.layout.input_count) return false;
    const int8_t input = e.layout.outputs[i - e.layout.input_count].in_place;
    return input >= 0 && t.deviceData != e.pack.inTensors[static_cast<size_t>(input)].deviceData;
  });
}
bool pack_given(const Execution &e) { return !e.empty(); }
bool comparable(const Execution &e) { return e.comparable(); }

constexpr Rule<Execution> kContextGiven{"ATB-CONTEXT", "context", nullptr,
                                        [](const Execution &e) { return e.context != nullptr; },
                                        [](const Execution &, Saying &s) { say_null(s); }};
constexpr Rule<Execution> kSetUp{"ATB-SETUP", "Setup", nullptr,
                                 [](const Execution &e) { return e.set_up; },
                                 [](const Execution &, Saying &s) {
                                   s.value << "was not called, or its last call was refused";
                                   s.limit << "it must succeed before Execute";
                                 }};
constexpr Rule<Execution> kStream{
    "ATB-STREAM", "context", [](const Execution &e) { return e.context != nullptr; },
    [](const Execution &e) { return e.stream != nullptr; },
    [](const Execution &, Saying &s) {
      s.value << "has no stream for this operation";
      s.limit << "SetExecuteStream must be called with a stream of aclrtCreateStream";
    }};
constexpr Rule<Execution> kContextSame{
    "ATB-CONTEXT-SAME", "context", [](const Execution &e) { return e.set_up; },
    [](const Execution &e) { return e.context == e.context_of_setup; },
    [](const Execution &, Saying &s) {
      s.value << "is not that of Setup";
      s.limit << "must be the one that Setup was given";
    }};
constexpr Rule<Execution> kWorkspaceSize{
    "ATB-WORKSPACE-SIZE", "workspaceSize", [](const Execution &e) { return e.set_up; },
    [](const Execution &e) { return e.size >= e.needed; },
    [](const Execution &e, Saying &s) {
      s.value << e.size;
      s.limit << "must be at least the " << e.needed << " bytes that Setup asked for";
    }};
constexpr Rule<Execution> kWorkspace{
    "ATB-WORKSPACE", "workspace", [](const Execution &e) { return e.set_up; },
    [](const Execution &e) { return e.needed == 0 || e.workspace != nullptr; },
    [](const Execution &e, Saying &s) {
      s.value << "is a null pointer";
      s.limit << "must be device memory of " << e.needed << " bytes";
    }};
constexpr Rule<Execution> kPackCount{"ATB-PACK-COUNT",
                                     "variantPack",
                                     nullptr,
                                     [](const Execution &e) { return e.counts_fit(); },
                                     [](const Execution &e, Saying &s) {
                                       s.value << e.pack.inTensors.size() << " inputs and "
                                               << e.pack.outTensors.size() << " outputs";
                                       s.limit << "must be " << e.layout.input_count << " and "
                                               << e.layout.output_count
                                               << ", or none at all for those of Setup";
                                     },
                                     pack_given};
constexpr Rule<Execution> kDataSize{"ATB-DATA-SIZE",
                                    "variantPack",
                                    comparable,
                                    [](const Execution &e) { return wrong_size(e) < 0; },
                                    [](const Execution &e, Saying &s) {
                                      const int at = wrong_size(e);
                                      const auto i = static_cast<size_t>(at);
                                      e.blame(at, s);
                                      s.value << "dataSize " << e.tensor(i).dataSize;
                                      s.limit << "must be " << bytes_of(e.setup[i].desc)
                                              << ", the size of its description at Setup";
                                    },
                                    pack_given};
constexpr Rule<Execution> kDataNull{"ATB-DATA-NULL",
                                    "variantPack",
                                    comparable,
                                    [](const Execution &e) { return without_data(e) < 0; },
                                    [](const Execution &e, Saying &s) {
                                      e.blame(without_data(e), s);
                                      s.value << "deviceData and hostData are null pointers";
                                      s.limit << "one of them must point to the tensor's data";
                                    },
                                    pack_given};
constexpr Rule<Execution> kMoved{"ATB-IN-PLACE",
                                 "variantPack",
                                 comparable,
                                 [](const Execution &e) { return moved(e) < 0; },
                                 [](const Execution &e, Saying &s) {
                                   e.blame(moved(e), s);
                                   s.value << "deviceData is other memory than the input's";
                                   s.limit << "the operation writes in place, so it must be the "
                                              "same";
                                 },
                                 pack_given};

constexpr Check<Execution> kExecute[] = {
    {&kContextGiven, ::atb::ERROR_INVALID_PARAM},  {&kSetUp, ::atb::ERROR_INVALID_PARAM},
    {&kStream, ::atb::ERROR_INVALID_PARAM},        {&kContextSame, ::atb::ERROR_INVALID_PARAM},
    {&kWorkspaceSize, ::atb::ERROR_INVALID_PARAM}, {&kWorkspace, ::atb::ERROR_INVALID_PARAM},
    {&kPackCount, ::atb::ERROR_INVALID_PARAM},     {&kDataSize, ::atb::ERROR_INVALID_PARAM},
    {&kDataNull, ::atb::ERROR_INVALID_PARAM},      {&kMoved, ::atb::ERROR_INVALID_PARAM},
};

aclrtStream stream_of(Context *context, uint32_t id) {
  if (context == nullptr) return nullptr;
  const ContextImpl *own = context_of(context);
  return own != nullptr ? own->stream(id) : context->GetExecuteStream();
}

}  // namespace

OperationBase::~OperationBase() { drop_pending(); }

void OperationBase::drop_pending() {
  if (pending_ == nullptr) return;
  release_task(pending_);
  task_free(pending_);
  pending_ = nullptr;
}

Status OperationBase::InferShape(const SVector<TensorDesc> &inTensorDescs,
                                 SVector<TensorDesc> &outTensorDescs) const {
  try {
    Facts facts(layout_, product_);
    facts.descs = &inTensorDescs;
    return infer(facts, outTensorDescs);
  } catch (const std::exception &error) {
    return refuse_exception(name_, kInferStep, product_, error);
  }
}

Status OperationBase::Setup(const VariantPack &variantPack, uint64_t &workspaceSize,
                            Context *context) {
  set_up_ = false;
  drop_pending();
  prepared_ = {};
  try {
    Facts facts(layout_, product_);
    facts.pack = &variantPack;
    facts.context = context;
    if (fixed_) facts.fixed = given_;
    const Status status = setup(facts, prepared_);
    if (status != ::atb::NO_ERROR) return status;
    given_.assign(variantPack.inTensors.begin(), variantPack.inTensors.end());
    given_.insert(given_.end(), variantPack.outTensors.begin(), variantPack.outTensors.end());
  } catch (const std::exception &error) {
    return refuse_exception(name_, kSetupStep, product_, error);
  }
  constexpr uint64_t kMultiple = 512;  // as on the device
  const uint64_t needed = prepared_.plan != nullptr ? prepared_.plan->workspace : 0;
  workspace_ = (needed + kMultiple - 1) / kMultiple * kMultiple;
  workspaceSize = workspace_;
  context_ = context;
  set_up_ = true;
  return ::atb::NO_ERROR;
}

Status OperationBase::Execute(const VariantPack &variantPack, uint8_t *workspace,
                              uint64_t workspaceSize, Context *context) {
  try {
    return execute(variantPack, workspace, workspaceSize, context);
  } catch (const std::exception &error) {
    return refuse_exception(name_, kExecuteStep, product_, error, ::atb::ERROR_RT_FAIL);
  }
}

Status OperationBase::execute(const VariantPack &pack, uint8_t *workspace, uint64_t size,
                              Context *context) {
  aclrtStream stream = stream_of(context, stream_id);
  const Execution execution{layout_,   set_up_, context,    context_, stream,
                            workspace, size,    workspace_, pack,     given_};
  int32_t code = 0;
  if (judge<Execution>(name_, &product_, execution, kExecute, &code, kExecuteStep) ==
      Verdict::Refused) {
    return code;
  }
  if (prepared_.late != nullptr) {
    const DeferredRefusal &late = *prepared_.late;
    return refuse(name_, late.rule, late.saying.parameter, late.code, late.saying, kExecuteStep,
                  &product_);
  }
  const ::atb::ExecuteType type = context->GetExecuteType();
  if (type != ::atb::EXECUTE_LAUNCH) {
    drop_pending();
    Given given{{pack.inTensors.data(), pack.inTensors.size()},
                {pack.outTensors.data(), pack.outTensors.size()}};
    if (execution.empty()) {
      const std::span<const Tensor> all(given_);
      given = {all.first(layout_.input_count), all.subspan(layout_.input_count)};
    }
    const size_t count = prepared_.plan->address_count(given);
    Task *task = task_new(sizeof(Run) + count * sizeof(std::byte *));
    if (task == nullptr) throw std::bad_alloc();
    Run *run = new (task->payload())
        Run{prepared_.plan, name_, reinterpret_cast<std::byte *>(workspace), count};
    prepared_.plan->collect(given, run->addresses());
    task->run = run_task;
    task->release = release_task;
    task->small = prepared_.plan->small;
    pending_ = task;
  }
  if (type == ::atb::EXECUTE_PRELAUNCH) return ::atb::NO_ERROR;
  if (pending_ == nullptr) {
    Saying saying;
    saying.value << "EXECUTE_LAUNCH without EXECUTE_PRELAUNCH before";
    saying.limit << "what is launched must have been prepared since the last Setup and launch";
    return refuse(name_, "ATB-PRELAUNCH", "executeType", ::atb::ERROR_INVALID_PARAM, saying,
                  kExecuteStep, &product_);
  }
  Task *task = pending_;
  pending_ = nullptr;
  if (int32_t error = stream_submit(stream, task); error != 0) {
    Saying saying;
    saying.value << "the runtime refused the work with " << error;
    saying.limit << "its stream must be a live one of this thread's current aclrtContext";
    return refuse(name_, "ATB-SUBMIT", "context", ::atb::ERROR_RT_FAIL, saying, kExecuteStep,
                  &product_);
  }
  if (context->GetLaunchMode() == ::atb::GRAPH_LAUNCH_MODE) fixed_ = true;
  return ::atb::NO_ERROR;
}

void log_late(const char *name, const Product &product, const DeferredRefusal &late) {
  Text text;
  text << name << "::" << kSetupStep << ": " << late.saying.parameter << ": "
       << late.saying.value.view() << ", " << late.saying.limit.view()
       << "; Execute will refuse [rule " << late.rule << ", product " << product.title << ']';
  log(LogLevel::Error, text);
}

const Product *product_of(const char *name) noexcept {
  const Product *product = current_product();
  if (product != nullptr && !build_mixture()) return product;
  Saying saying;
  if (product == nullptr) {
    saying.value << product_error();
    saying.limit << "set it to one of them";
  } else {
    saying.value << "libraries of different builds are loaded together";
    saying.limit << "one installation must be the only one on the library search path";
  }
  refuse(name, "ATB-INSTALLATION", "product", ::atb::ERROR_CANN_ERROR, saying, kCreateStep);
  return nullptr;
}

Status refuse_product(const char *name, const Product &product) noexcept {
  Saying saying;
  saying.value << product.title;
  saying.limit << kNotOffered;
  return refuse(name, "ATB-PRODUCT", "product", ::atb::ERROR_CANN_ERROR, saying, kCreateStep,
                &product);
}

Status refuse_exception(const char *name, const char *step, const Product &product,
                        const std::exception &error, int32_t code) noexcept {
  Saying saying;
  saying.value << "it threw \"" << error.what() << '"';
  saying.limit << "there must be host memory, and no SVector may be left behind its end";
  return refuse(name, "ATB-EXCEPTION", "operation", code, saying, step, &product);
}

void add_execute_rules(RulesJson &json) {
  json.add(std::span<const Check<Execution>>(kExecute), kExecuteStep);
}

}  // namespace pyaclnn::atb

namespace atb {

Status DestroyOperation(Operation *operation) {
  using namespace pyaclnn::atb;
  if (end_object(operation) == Ending::Before) {
    pyaclnn::Saying saying;
    saying.value << "is destroyed already";
    saying.limit << "must be a live operation of CreateOperation";
    return pyaclnn::refuse("DestroyOperation", "ATB-OPERATION", "operation", ERROR_INVALID_PARAM,
                           saying);
  }
  delete operation;
  return NO_ERROR;
}

Status SetExecuteStreamId(Operation *operation, uint32_t streamId) {
  auto *own = dynamic_cast<pyaclnn::atb::OperationBase *>(operation);
  if (own == nullptr) {
    pyaclnn::Saying saying;
    saying.value << (operation == nullptr ? "is a null pointer" : "is of another class");
    saying.limit << "must be an operation of CreateOperation";
    return pyaclnn::refuse("SetExecuteStreamId", "ATB-OPERATION", "operation", ERROR_INVALID_PARAM,
                           saying);
  }
  own->stream_id = streamId;
  return NO_ERROR;
}

uint32_t GetExecuteStreamId(Operation *operation) {
  const auto *own = dynamic_cast<const pyaclnn::atb::OperationBase *>(operation);
  return own != nullptr ? own->stream_id : 0;
}

}  // namespace atb
