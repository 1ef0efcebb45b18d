// Executors and the two phases, shown with an operator that lives in this program: int32 vectors,
// out[i] = source[i] + sum over the list's members + sum of a host array.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "acl/handle.hpp"
#include "aclnn/acl_meta.h"
#include "nnopbase/executor.hpp"
#include "nnopbase/rule.hpp"
#include "nnopbase/tensor.hpp"
#include "pyaclnn/debug.h"
#include "tap.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
// Counts what the libraries allocate, so that a steady state without malloc can be shown.
namespace {
std::atomic<int64_t> allocations{0};
}
extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void *malloc(size_t n) {
  ++allocations;
  return __libc_malloc(n);
}
void *calloc(size_t n, size_t size) {
  ++allocations;
  return __libc_calloc(n, size);
}
void *realloc(void *p, size_t n) {
  ++allocations;
  return __libc_realloc(p, n);
}
void *aligned_alloc(size_t alignment, size_t n) {
  ++allocations;
  return __libc_memalign(alignment, n);
}
int posix_memalign(void **p, size_t alignment, size_t n) {
  ++allocations;
  *p = __libc_memalign(alignment, n);
  return *p != nullptr ? 0 : 12;
}
}
#endif

using namespace pyaclnn;
using tap::equal;
using tap::ok;

namespace {

// ---- the operator
// ---------------------------------------------------------------------------------

struct SumPlan {
  int64_t count;
  int32_t members, out;
  int64_t extras;
  const int64_t *extra;
  bool needs_workspace;
};

std::atomic<int> runs{0};
std::atomic<bool> gate{true};  // closed: a run waits

int32_t run_sum(const void *memory, std::byte *const *addresses, std::byte *workspace, Text &why) {
  const auto *plan = static_cast<const SumPlan *>(memory);
  while (!gate.load()) std::this_thread::yield();
  ++runs;
  const auto *source = reinterpret_cast<const int32_t *>(addresses[0]);
  auto *out = reinterpret_cast<int32_t *>(addresses[plan->out]);
  if (source == nullptr || out == nullptr) {
    why << "the data address is NULL";
    return 507015;
  }
  if (plan->needs_workspace) std::memset(workspace, 0xee, 16);
  for (int64_t i = 0; i < plan->count; ++i) {
    int32_t sum = source[i];
    for (int32_t m = 0; m < plan->members; ++m) {
      const auto *member = reinterpret_cast<const int32_t *>(addresses[1 + m]);
      if (member != nullptr) sum += member[i];
    }
    for (int64_t e = 0; e < plan->extras; ++e) sum += static_cast<int32_t>(plan->extra[e]);
    out[i] = sum;
  }
  return 0;
}

Operator sum_operator{"testSum", run_sum, [](const void *) { return true; }, nullptr};
Operator slow_operator{"testSlowSum", run_sum, nullptr, nullptr};
RegisterOperator register_sum(&sum_operator), register_slow(&slow_operator);

struct SumCall {
  const Tensor *source, *out;
  std::string_view label;
};

constexpr Rule<SumCall> kSource{"SUM-PTR-SOURCE", "source", nullptr,
                                [](const SumCall &c) { return c.source != nullptr; },
                                [](const SumCall &, Saying &s) {
                                  s.value << "NULL";
                                  s.limit << "a tensor";
                                }};
constexpr Rule<SumCall> kOut{"SUM-PTR-OUT", "out", nullptr,
                             [](const SumCall &c) { return c.out != nullptr; },
                             [](const SumCall &, Saying &s) {
                               s.value << "NULL";
                               s.limit << "a tensor";
                             }};
constexpr Rule<SumCall> kType{
    "SUM-DTYPE", "source", [](const SumCall &c) { return c.source && c.out; },
    [](const SumCall &c) { return c.source->dtype == ACL_INT32 && c.out->dtype == ACL_INT32; },
    [](const SumCall &c, Saying &s) {
      s.value << "dtype " << static_cast<int32_t>(c.source->dtype);
      s.limit << "INT32";
    }};
constexpr Rule<SumCall> kShape{
    "SUM-SHAPE", "out", [](const SumCall &c) { return c.source && c.out; },
    [](const SumCall &c) { return std::ranges::equal(c.source->shape(), c.out->shape()); },
    [](const SumCall &c, Saying &s) {
      s.value << "shape " << c.out->shape();
      s.limit << "that of source " << c.source->shape();
    }};
constexpr Rule<SumCall> kLabel{"SUM-LABEL", "label", nullptr,
                               [](const SumCall &c) { return c.label.empty(); },
                               [](const SumCall &c, Saying &s) {
                                 s.value << c.label;
                                 s.limit << "no \"label\"";
                               }};
constexpr Rule<SumCall> kRankAdvice{"SUM-RANK", "source",
                                    [](const SumCall &c) { return c.source != nullptr; },
                                    [](const SumCall &c) { return c.source->rank < 3; },
                                    [](const SumCall &c, Saying &s) {
                                      s.value << "rank " << c.source->rank;
                                      s.limit << "documented up to 2";
                                    }};
bool empty_output(const SumCall &c) {
  if (c.out == nullptr) return false;
  return std::ranges::any_of(c.out->shape(), [](int64_t d) { return d == 0; });
}
constexpr Check<SumCall> kChecks[] = {
    {&kSource, 161001}, {&kOut, 161001},   {&kType, 161002},  {nullptr, 0, empty_output},
    {&kShape, 561002},  {&kLabel, 561002}, {&kRankAdvice, 0},
};

aclnnStatus first_phase(const Operator &op, const char *function, const aclTensor *source,
                        const aclTensorList *list, const aclIntArray *extras, const aclTensor *out,
                        uint64_t workspace_bytes, const char *label, uint64_t *workspaceSize,
                        aclOpExecutor **executor) {
  if (workspaceSize == nullptr || executor == nullptr) {
    Saying saying;
    saying.value << "NULL";
    saying.limit << "where to store";
    return refuse(function, "SUM-PTR-RESULT", "workspaceSize or executor", 161001, saying);
  }
  SumCall call{source ? find_handle<Tensor>(source) : nullptr,
               out ? find_handle<Tensor>(out) : nullptr, label};
  int32_t code = 0;
  Verdict verdict = judge<SumCall>(function, current_product(), call, kChecks, &code);
  if (verdict == Verdict::Refused) return code;
  ExecutorBuilder builder(op);
  if (verdict == Verdict::Done) {
    builder.commit(nullptr, 0, workspaceSize, executor);
    return 0;
  }
  auto *plan = static_cast<SumPlan *>(builder.allocate(sizeof(SumPlan)));
  if (plan == nullptr) return 561101;
  *plan = {1, 0, 0, 0, nullptr, workspace_bytes != 0};
  for (int64_t d : call.source->shape()) plan->count *= d;
  builder.add_tensor(source, false);
  if (list != nullptr) {
    auto members = find_handle<TensorList>(list)->elements();
    plan->members = static_cast<int32_t>(members.size());
    builder.add_list(members.data(), members.size(), false);
  }
  plan->out = builder.add_tensor(out, true);
  if (extras != nullptr) {
    auto numbers = find_handle<IntArray>(extras)->elements();
    auto *copy = static_cast<int64_t *>(builder.allocate(numbers.size_bytes()));
    if (copy == nullptr) return 561101;
    std::copy(numbers.begin(), numbers.end(), copy);
    plan->extra = copy;
    plan->extras = static_cast<int64_t>(numbers.size());
  }
  if (!builder.ok()) return 561101;
  builder.commit(plan, workspace_bytes, workspaceSize, executor);
  return 0;
}

aclnnStatus sum_size(const aclTensor *source, const aclTensorList *list, const aclIntArray *extras,
                     const aclTensor *out, uint64_t workspace_bytes, uint64_t *workspaceSize,
                     aclOpExecutor **executor) {
  return first_phase(sum_operator, "testSumGetWorkspaceSize", source, list, extras, out,
                     workspace_bytes, "", workspaceSize, executor);
}
aclnnStatus sum(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor,
                aclrtStream stream) {
  return second_phase(sum_operator, "testSum", workspace, workspaceSize, executor, stream);
}
aclnnStatus slow_size(const aclTensor *source, const aclTensor *out, uint64_t *workspaceSize,
                      aclOpExecutor **executor) {
  return first_phase(slow_operator, "testSlowSumGetWorkspaceSize", source, nullptr, nullptr, out, 0,
                     "", workspaceSize, executor);
}
aclnnStatus slow(aclOpExecutor *executor, aclrtStream stream) {
  return second_phase(slow_operator, "testSlowSum", nullptr, 0, executor, stream);
}

// ---- small things
// ---------------------------------------------------------------------------------

std::string recent() {
  const char *text = aclGetRecentErrMsg();
  return text != nullptr ? text : "";
}

void said(const char *name, const char *item, std::initializer_list<const char *> words) {
  std::string text = recent();
  bool all = text.find(item) != std::string::npos;
  for (const char *word : words) all = all && text.find(word) != std::string::npos;
  ok(all, name, "text is \"%s\"", text.c_str());
}

using Numbers = std::vector<int32_t>;

aclTensor *tensor_of(std::vector<int64_t> shape, void *data, int64_t offset = 0,
                     aclDataType dtype = ACL_INT32) {
  return aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, offset, ACL_FORMAT_ND,
                         shape.data(), shape.size(), data);
}
aclTensor *tensor_of(Numbers &numbers) {
  return tensor_of({static_cast<int64_t>(numbers.size())}, numbers.data());
}

aclrtStream stream = nullptr;

void set_mode(const char *mode) {
  aclrtSynchronizeDevice();
  pyaclnnSetStreamMode(mode);
}

// One call from tensors to the result of the synchronise.
struct Call {
  Numbers source{1, 2, 3, 4}, out{0, 0, 0, 0};
  aclTensor *s = tensor_of(source), *o = tensor_of(out);
  uint64_t size = 7;
  aclOpExecutor *ex = nullptr;
  explicit Call(uint64_t workspace = 0) { sum_size(s, nullptr, nullptr, o, workspace, &size, &ex); }
  ~Call() {
    aclDestroyTensor(s);
    aclDestroyTensor(o);
  }
  bool done() {
    aclrtSynchronizeStream(stream);
    return out == source;
  }
};

// ---- the rows
// ---------------------------------------------------------------------------------------

void first_phase_rows() {
  Numbers source{1, 2, 3}, out{0, 0, 0};
  aclTensor *s = tensor_of(source), *o = tensor_of(out);
  aclTensor *wrong = tensor_of({3}, source.data(), 0, ACL_FLOAT16);
  uint64_t size = 7;
  auto *untouched = reinterpret_cast<aclOpExecutor *>(1);
  aclOpExecutor *ex = untouched;
  equal(sum_size(s, nullptr, nullptr, o, 0, nullptr, &ex), 161001, "P1 workspaceSize NULL");
  equal(sum_size(s, nullptr, nullptr, o, 0, &size, nullptr), 161001, "P1 executor NULL");
  recent();
  equal(sum_size(wrong, nullptr, nullptr, o, 0, &size, &ex), 161002, "P2 wrong dtype");
  said("P2 text", "EZ1001",
       {"testSumGetWorkspaceSize: source: dtype 1, INT32 [rule SUM-DTYPE, product Atlas A2]"});
  equal(sum_size(nullptr, nullptr, nullptr, o, 0, &size, &ex), 161001, "P3 source NULL");
  said("X2 text of P3", "EZ1001", {"source", "NULL", "SUM-PTR-SOURCE"});
  aclTensor *longer = tensor_of({4}, source.data());
  equal(sum_size(longer, nullptr, nullptr, o, 0, &size, &ex), 561002, "P3 wrong shape");
  said("P3 text of an inner refusal", "EZ9999", {"out", "(3)", "(4)"});
  ok(ex == untouched && size == 7, "P2 a refused phase 1 leaves both results alone");
  equal(pyaclnnLiveCount("executor"), 0, "P2 and no executor behind");

  // The explanation: all failing rules, those that could not be asked, escapes.
  const char *label = "a\"b\\c\n\x01 \xc3\xa4 \xff|";
  equal(first_phase(sum_operator, "testSumGetWorkspaceSize", nullptr, nullptr, nullptr, nullptr, 0,
                    label, &size, &ex),
        161001, "R1 two rules fail");
  recent();
  size_t length = pyaclnnExplain(nullptr, 0);
  std::vector<char> json(length + 1);
  equal(pyaclnnExplain(json.data(), json.size()), length, "R1 the explanation is kept");
  std::printf("# explain %s\n", json.data());

  // A long value must not push the rule's name out of the text.
  std::string endless(5000, 'x');
  equal(first_phase(sum_operator, "testSumGetWorkspaceSize", s, nullptr, nullptr, o, 0,
                    endless.c_str(), &size, &ex),
        561002, "R2 a value that fills the text");
  said("R2 text", "EZ9999", {"label: xxx", "no \"label\" [rule SUM-LABEL, product Atlas A2]"});

  // Documented only: accepted.
  aclTensor *deep = tensor_of({1, 1, 3}, source.data()),
            *deep_out = tensor_of({1, 1, 3}, out.data());
  equal(sum_size(deep, nullptr, nullptr, deep_out, 0, &size, &ex), 0, "R3 advice does not refuse");
  equal(aclDestroyAclOpExecutor(ex), 0, "R3 executor destroyed");

  bool found = false, other = false;
  for (const Operator *op = first_operator(); op != nullptr; op = op->next) {
    found = found || op == &sum_operator;
    other = other || op == &slow_operator;
  }
  ok(found && other, "R4 operators are in the registry");
  for (aclTensor *t : {s, o, wrong, longer, deep, deep_out}) aclDestroyTensor(t);
}

void second_phase_rows() {
  recent();
  equal(sum(nullptr, 0, nullptr, stream), 161001, "P4 executor NULL");
  said("P4 text", "EZ1001", {"testSum", "executor", "NULL"});
  {
    Call call(32);
    std::vector<unsigned char> workspace(64);
    ok(call.ex != nullptr && call.size == 32, "P5 phase 1");
    equal(sum(nullptr, 32, call.ex, stream), 161001, "P5 workspace NULL with a size");
    said("P5 text", "EZ1001", {"workspace", "workspaceSize = 32"});
    equal(sum(workspace.data(), 31, call.ex, stream), 161002, "P5 size too small");
    said("P5 text of the size", "EZ1001", {"workspaceSize", "31", "32"});
    equal(sum(nullptr, 0, call.ex, stream), 161002, "P5 no workspace at all");
    equal(second_phase(slow_operator, "testSlowSum", workspace.data(), 32, call.ex, stream), 161002,
          "P5 another operator's executor");
    said("P5 text of the operator", "EZ1001", {"testSlowSum", "an executor of testSum"});
    equal(sum(workspace.data(), 64, call.ex, stream), 0, "P5 none of these consumed it");
    ok(call.done(), "P5 numbers");
  }
  {
    Call call;
    equal(sum(nullptr, 0, call.ex, stream), 0, "P6 first run");
    recent();
    equal(sum(nullptr, 0, call.ex, stream), 161002, "P6 second run");
    said("P6 text", "EZ1001", {"testSum", "executor", "spent or destroyed"});
    ok(call.done(), "P6 numbers");
    equal(aclDestroyAclOpExecutor(call.ex), 561000, "P6 destroying a spent executor");
    said("P6 text of the destroy", "EZ9999", {"aclDestroyAclOpExecutor", "executor"});
    equal(aclSetAclOpExecutorRepeatable(call.ex), 561000, "P6 repeating a spent executor");
    equal(aclSetTensorAddr(call.ex, 0, call.s, call.source.data()), 161002,
          "P6 an address for a spent executor");
  }
  for (const char *mode : {"auto", "async", "lazy", "blocking"}) {
    set_mode(mode);
    Numbers source{1, 2, 3}, member{10, 20, 30}, out{0, 0, 0};
    int64_t extra[2] = {100, 1000};
    aclTensor *s = tensor_of(source), *o = tensor_of(out);
    const aclTensor *members[3] = {tensor_of(member), nullptr, tensor_of(member)};
    aclTensorList *list = aclCreateTensorList(members, 3);
    aclIntArray *extras = aclCreateIntArray(extra, 2);
    extra[0] = 0;
    uint64_t size = 7;
    aclOpExecutor *ex = nullptr;
    equal(sum_size(s, list, extras, o, 0, &size, &ex), 0, "P7 phase 1");
    aclDestroyIntArray(extras);
    equal(sum(nullptr, size, ex, stream), 0, "P7 phase 2");
    aclDestroyTensor(s);
    aclDestroyTensor(o);
    aclDestroyTensorList(list);
    equal(aclrtSynchronizeStream(stream), 0, "P7 synchronise");
    ok(out == Numbers{1121, 1142, 1163}, "P7 handles destroyed right after phase 2", "mode %s",
       mode);
  }
  set_mode("auto");
  {
    Call call;
    aclrtContext context = nullptr;
    aclrtGetCurrentContext(&context);
    aclnnStatus status = -1, without = -1;
    std::string text;
    std::thread([&] {
      without = sum(nullptr, 0, call.ex, nullptr);
      text = recent();
      aclrtSetDevice(0);
      status = sum(nullptr, 0, call.ex, stream);
      aclrtResetDevice(0);
    }).join();
    equal(without, 361001, "P8 a thread without a context");
    ok(text.find("EZ9903") != std::string::npos &&
           text.find("testSum: stream") != std::string::npos,
       "P8 its text", "text is \"%s\"", text.c_str());
    equal(status, 0, "P8 that did not consume it: phase 2 on another thread");
    ok(call.done(), "P8 numbers");
  }
  {
    Call call;
    equal(sum(nullptr, 0, call.ex, reinterpret_cast<aclrtStream>(call.s)), 361001,
          "P8 a stream that is none");
    equal(sum(nullptr, 0, call.ex, nullptr), 0, "P8 the default stream");
    equal(aclrtSynchronizeStream(nullptr), 0, "P8 synchronise it");
    ok(call.out == call.source, "P8 numbers of the default stream");
  }
  {
    Call call;
    Numbers second{5, 6, 7, 8}, third{9, 9, 9, 9};
    equal(aclSetAclOpExecutorRepeatable(call.ex), 0, "P9 repeatable");
    equal(sum(nullptr, 0, call.ex, stream), 0, "P9 run 1");
    ok(call.done(), "P9 numbers 1");
    equal(aclSetTensorAddr(call.ex, 0, call.s, second.data()), 0, "P10 another input");
    void *base = nullptr;
    aclGetRawTensorAddr(call.s, &base);
    ok(base == second.data(), "P10 the tensor's own address follows");
    equal(sum(nullptr, 0, call.ex, stream), 0, "P10 run 2");
    aclrtSynchronizeStream(stream);
    ok(call.out == second, "P10 numbers from the second buffer");
    equal(AclSetOutputTensorAddr(call.ex, 0, call.o, third.data()), 0, "P10 another output");
    equal(AclSetInputTensorAddr(call.ex, 0, call.s, call.source.data()), 0, "P10 the first input");
    equal(sum(nullptr, 0, call.ex, stream), 0, "P9 run 3");
    aclrtSynchronizeStream(stream);
    ok(third == call.source && call.out == second, "P10 numbers in the other output");
    equal(aclSetOutputTensorAddr(call.ex, 9, call.s, call.source.data()), 0,
          "P10 the handle decides, not the index and not the direction");
    aclTensor *stranger = tensor_of(second);
    recent();
    equal(aclSetInputTensorAddr(call.ex, 0, stranger, second.data()), 161002,
          "P10 a tensor that phase 1 did not get");
    said("P10 text", "EZ1001", {"aclSetInputTensorAddr", "tensor", "testSum"});
    equal(aclSetTensorAddr(nullptr, 0, stranger, call.source.data()), 561103, "P10 executor NULL");
    aclGetRawTensorAddr(stranger, &base);
    ok(base == call.source.data(), "P10 which changes the tensor's own address all the same");
    aclDestroyTensor(stranger);
    equal(aclSetTensorAddr(call.ex, 0, stranger, nullptr), 161002, "P10 a dead tensor");
    equal(aclSetTensorAddr(call.ex, 0, nullptr, nullptr), 561103, "P10 tensor NULL");
    equal(AclSetTensorAddr(call.ex, 0, call.s, nullptr), 0, "P10 a NULL address is accepted");
    equal(sum(nullptr, 0, call.ex, stream), 0, "P10 and submitted");
    equal(aclrtSynchronizeStream(stream), 507015, "P10 the operator finds it when it runs");
    said("P10 text of the run", "EZ9999", {"the data address is NULL"});
    equal(aclrtSynchronizeStream(stream), 0, "P10 which is told once");
    Numbers fifth{1, 1, 2, 3}, sixth{0, 0, 0, 0};
    aclTensor *both[] = {call.s, call.o};
    void *moved[] = {fifth.data(), sixth.data()};
    equal(pyaclnnSetTensorAddrs(call.ex, 2, both, moved), 0, "all addresses in one call");
    equal(sum(nullptr, 0, call.ex, stream), 0, "run with them");
    aclrtSynchronizeStream(stream);
    ok(sixth == fifth, "numbers from and in the new memory");
    equal(pyaclnnSetTensorAddrs(call.ex, 0, nullptr, nullptr), 0, "no address");
    equal(pyaclnnSetTensorAddrs(call.ex, 2, both, nullptr), 561103, "addresses NULL");
    equal(pyaclnnSetTensorAddrs(call.ex, 2, nullptr, moved), 561103, "tensors NULL");
    aclTensor *half[] = {call.s, nullptr};
    recent();
    equal(pyaclnnSetTensorAddrs(call.ex, 2, half, moved), 561103, "a tensor NULL");
    said("text of it", "EZ9999", {"pyaclnnSetTensorAddrs", "tensors[i]"});
    equal(aclDestroyAclOpExecutor(call.ex), 0, "P9 destroy");
    recent();
    equal(aclDestroyAclOpExecutor(call.ex), 561000, "P9 destroy twice");
    equal(sum(nullptr, 0, call.ex, stream), 161002, "P9 run after destroy");
  }
  recent();
  equal(aclSetAclOpExecutorRepeatable(nullptr), 561103, "P11 repeatable NULL");
  said("P11 text", "EZ9999", {"aclSetAclOpExecutorRepeatable", "executor"});
  equal(aclDestroyAclOpExecutor(nullptr), 561103, "P11 destroy NULL");
  {
    Numbers source{1, 2}, a{10, 20}, b{100, 200}, other{3000, 4000}, out{0, 0};
    aclTensor *s = tensor_of(source), *o = tensor_of(out);
    const aclTensor *members[3] = {tensor_of(a), tensor_of(b), nullptr};
    aclTensorList *list = aclCreateTensorList(members, 3);
    uint64_t size = 0;
    aclOpExecutor *ex = nullptr;
    sum_size(s, list, nullptr, o, 0, &size, &ex);
    aclSetAclOpExecutorRepeatable(ex);
    recent();
    equal(aclSetDynamicInputTensorAddr(ex, 0, 5, list, a.data()), 161002,
          "P12 member out of range");
    said("P12 text", "EZ1001", {"aclSetDynamicInputTensorAddr", "relativeIndex", "5", "3"});
    equal(AclSetDynamicInputTensorAddr(ex, 0, 3, list, a.data()), 161002, "P12 just out of range");
    equal(aclSetDynamicTensorAddr(ex, 0, 2, list, a.data()), 561103, "P12 member NULL");
    equal(aclSetDynamicTensorAddr(ex, 0, 0, nullptr, a.data()), 561103, "P12 list NULL");
    equal(aclSetDynamicTensorAddr(nullptr, 0, 0, list, a.data()), 561103, "P12 executor NULL");
    equal(aclSetDynamicOutputTensorAddr(nullptr, 0, 9, list, a.data()), 161002,
          "P12 the index is judged before the executor");
    equal(aclSetDynamicInputTensorAddr(ex, 1, 1, list, other.data()), 0, "P12 another buffer");
    equal(sum(nullptr, 0, ex, stream), 0, "P12 run");
    aclrtSynchronizeStream(stream);
    ok(out == Numbers{3011, 4022}, "P12 numbers");
    ok(AclSetDynamicOutputTensorAddr(ex, 1, 1, list, b.data()) == 0 &&
           AclSetDynamicTensorAddr(ex, 1, 0, list, other.data()) == 0 &&
           sum(nullptr, 0, ex, stream) == 0 && aclrtSynchronizeStream(stream) == 0 &&
           out == Numbers{3101, 4202},
       "P12 the other names");
    aclDestroyAclOpExecutor(ex);
    aclDestroyTensorList(list);
    recent();
    equal(aclSetDynamicTensorAddr(ex, 0, 0, list, a.data()), 161002, "P12 a dead list");
    aclDestroyTensor(s);
    aclDestroyTensor(o);
  }
  {
    Call call;
    equal(aclDestroyAclOpExecutor(call.ex), 0, "P13 destroying an executor that never ran");
    equal(sum(nullptr, 0, call.ex, stream), 161002, "P13 running it then");
  }
  {
    aclTensor *s = tensor_of({0, 3}, nullptr), *o = tensor_of({0, 3}, nullptr);
    uint64_t size = 7;
    aclOpExecutor *ex = nullptr;
    int before = runs.load();
    equal(sum_size(s, nullptr, nullptr, o, 99, &size, &ex), 0, "P14 empty tensors");
    equal(size, 0, "P14 no workspace");
    equal(sum(nullptr, 0, ex, stream), 0, "P14 phase 2");
    equal(aclrtSynchronizeStream(stream), 0, "P14 synchronise");
    equal(runs.load(), before, "P14 nothing ran");
    aclDestroyTensor(s);
    aclDestroyTensor(o);
  }
  {
    Numbers source{1, 2, 3, 4, 5, 6}, moved{7, 8, 9, 10, 11, 12}, out(6);
    aclTensor *s = tensor_of({2}, source.data(), 3), *o = tensor_of({2}, out.data(), 1);
    uint64_t size = 0;
    aclOpExecutor *ex = nullptr;
    sum_size(s, nullptr, nullptr, o, 0, &size, &ex);
    aclSetAclOpExecutorRepeatable(ex);
    sum(nullptr, 0, ex, stream);
    aclrtSynchronizeStream(stream);
    ok(out == Numbers{0, 4, 5, 0, 0, 0}, "P15 offsets count elements");
    aclSetTensorAddr(ex, 0, s, moved.data());
    sum(nullptr, 0, ex, stream);
    aclrtSynchronizeStream(stream);
    ok(out == Numbers{0, 10, 11, 0, 0, 0}, "P15 a new base keeps the offset");
    aclDestroyAclOpExecutor(ex);
    aclDestroyTensor(s);
    aclDestroyTensor(o);
  }
  {
    // One handle as input and output: a new address moves both.
    Numbers first{1, 2}, second{5, 6};
    aclTensor *t = tensor_of(first);
    uint64_t size = 0;
    aclOpExecutor *ex = nullptr;
    int64_t ten = 10;
    aclIntArray *extras = aclCreateIntArray(&ten, 1);
    sum_size(t, nullptr, extras, t, 0, &size, &ex);
    aclDestroyIntArray(extras);
    aclSetAclOpExecutorRepeatable(ex);
    sum(nullptr, 0, ex, stream);
    aclrtSynchronizeStream(stream);
    aclSetInputTensorAddr(ex, 0, t, second.data());
    sum(nullptr, 0, ex, stream);
    aclrtSynchronizeStream(stream);
    ok(first == Numbers{11, 12} && second == Numbers{15, 16}, "P16 in place");
    aclDestroyAclOpExecutor(ex);
    aclDestroyTensor(t);
  }
  recent();
}

void lifetime() {
  // Foreign and invented handles.
  Numbers numbers{1};
  aclTensor *t = tensor_of(numbers);
  bool all = true;
  for (void *bad : {static_cast<void *>(t), static_cast<void *>(&numbers),
                    reinterpret_cast<void *>(1), reinterpret_cast<void *>(0x0000010000000c0cull),
                    reinterpret_cast<void *>(~uintptr_t{0}), stream}) {
    auto *ex = static_cast<aclOpExecutor *>(bad);
    all = all && sum(nullptr, 0, ex, stream) == 161002 && aclDestroyAclOpExecutor(ex) == 561000 &&
          aclSetAclOpExecutorRepeatable(ex) == 561000 &&
          aclSetTensorAddr(ex, 0, t, numbers.data()) == 161002 && !recent().empty();
  }
  ok(all, "L1 handles that are no executors");
  aclDestroyTensor(t);

  // Queued work of a repeatable executor keeps its addresses and outlives the executor.
  for (const char *mode : {"lazy", "async", "auto"}) {
    set_mode(mode);
    bool closed = std::strcmp(mode, "async") == 0;
    if (closed) gate.store(false);
    std::vector<Numbers> inputs, outputs;
    for (int32_t i = 0; i < 50; ++i) {
      inputs.push_back({i, 2 * i});
      outputs.push_back({-1, -1});
    }
    aclTensor *s = tensor_of(inputs[0]), *o = tensor_of(outputs[0]);
    uint64_t size = 0;
    aclOpExecutor *ex = nullptr;
    slow_size(s, o, &size, &ex);
    aclSetAclOpExecutorRepeatable(ex);
    int accepted = 0;
    for (size_t i = 0; i < inputs.size(); ++i) {
      aclSetTensorAddr(ex, 0, s, inputs[i].data());
      aclSetTensorAddr(ex, 1, o, outputs[i].data());
      accepted += slow(ex, stream) == 0;
    }
    equal(accepted, 50, "L2 fifty runs of one executor are queued");
    if (std::strcmp(mode, "lazy") == 0) {
      ok(outputs[0][0] == -1 && outputs[49][1] == -1, "L2 nothing has run yet");
    }
    equal(aclDestroyAclOpExecutor(ex), 0, "L2 destroyed while work is queued");
    // The slot must not be taken by somebody else meanwhile.
    std::vector<Call *> others;
    for (int i = 0; i < 70; ++i) others.push_back(new Call());
    gate.store(true);
    equal(aclrtSynchronizeStream(stream), 0, "L2 synchronise");
    ok(inputs == outputs, "L2 every run used its own addresses", "mode %s", mode);
    for (Call *c : others) {
      aclDestroyAclOpExecutor(c->ex);
      delete c;
    }
    aclDestroyTensor(s);
    aclDestroyTensor(o);
    equal(pyaclnnLiveCount("executor"), 0, "L2 no executor is left");
  }
  set_mode("auto");

  // Large and many-tensor executors: overflow memory of the slot.
  for (size_t members : {1, 31, 32, 200, 256}) {
    for (size_t extras : {10, 1000, 100000}) {
      Numbers source{1}, out{0};
      std::vector<Numbers> values(members, Numbers{2});
      std::vector<const aclTensor *> handles;
      for (Numbers &v : values) handles.push_back(tensor_of(v));
      aclTensorList *list = aclCreateTensorList(handles.data(), members);
      std::vector<int64_t> extra(extras, 3);
      aclIntArray *array = aclCreateIntArray(extra.data(), extras);
      aclTensor *s = tensor_of(source), *o = tensor_of(out);
      bool right = true;
      for (int repeat = 0; repeat < 3; ++repeat) {
        uint64_t size = 0;
        aclOpExecutor *ex = nullptr;
        out[0] = 0;
        right = right && sum_size(s, list, array, o, 0, &size, &ex) == 0 &&
                sum(nullptr, 0, ex, stream) == 0 && aclrtSynchronizeStream(stream) == 0 &&
                out[0] == static_cast<int32_t>(1 + 2 * members + 3 * extras);
      }
      ok(right, "L3 overflow memory", "%zu members, %zu extras", members, extras);
      aclDestroyTensorList(list);
      aclDestroyIntArray(array);
      aclDestroyTensor(s);
      aclDestroyTensor(o);
    }
  }
  recent();

  // A builder that is given up leaves nothing.
  {
    ExecutorBuilder builder(sum_operator);
    ok(builder.allocate(SIZE_MAX) == nullptr && builder.allocate(SIZE_MAX / 2) == nullptr,
       "L4 more than memory holds");
    auto at = [&](size_t bytes) { return reinterpret_cast<uintptr_t>(builder.allocate(bytes)); };
    uintptr_t first = at(1), second = at(2900), third = at(1000), fourth = at(0);
    ok(first % 64 == 0 && second == first + 64 && third % 64 == 0 && fourth != 0,
       "L4 memory of a builder is aligned");
  }
  equal(pyaclnnLiveCount("executor"), 0, "L4 a builder without commit");
}

void threads() {
  constexpr int kThreads = 4, kRounds = 300;
  // Each thread plans, its neighbour runs and destroys.
  struct Job {
    Numbers source, out;
    aclTensor *s, *o;
    aclOpExecutor *ex;
  };
  std::atomic<Job *> mailbox[kThreads] = {};
  std::atomic<int> bad{0}, finished{0};
  auto work = [&](int self) {
    aclrtSetDevice(0);
    aclrtStream mine = nullptr;
    aclrtCreateStream(&mine);
    auto consume = [&](Job *job) {
      if (sum(nullptr, 0, job->ex, mine) != 0) ++bad;
      aclDestroyTensor(job->s);
      aclDestroyTensor(job->o);
      if (aclrtSynchronizeStream(mine) != 0 || job->out != job->source) ++bad;
      if (sum(nullptr, 0, job->ex, mine) != 161002) ++bad;
      delete job;
    };
    for (int i = 0; i < kRounds; ++i) {
      Job *job = new Job{{self, i, 7}, {0, 0, 0}, nullptr, nullptr, nullptr};
      job->s = tensor_of(job->source);
      job->o = tensor_of(job->out);
      uint64_t size = 0;
      if (sum_size(job->s, nullptr, nullptr, job->o, 0, &size, &job->ex) != 0) ++bad;
      if (Job *previous = mailbox[(self + 1) % kThreads].exchange(job)) consume(previous);
      if (Job *received = mailbox[self].exchange(nullptr)) consume(received);
    }
    ++finished;
    while (finished.load() < kThreads) std::this_thread::yield();
    if (Job *received = mailbox[self].exchange(nullptr)) consume(received);
    aclrtDestroyStream(mine);
    aclrtResetDevice(0);
  };
  std::vector<std::thread> all;
  for (int i = 0; i < kThreads; ++i) all.emplace_back(work, i);
  for (std::thread &t : all) t.join();
  equal(bad.load(), 0, "N1 plan here, run and destroy there");

  // Bugs of the caller: several threads run and destroy one executor. Exactly one run of a one-shot
  // executor; a repeatable one just ends; slots are reused all the time.
  std::atomic<aclOpExecutor *> shared{nullptr};
  std::atomic<int> arrived{0}, ran{0}, destroyed{0}, strange{0};
  constexpr int kRaces = 200;
  Numbers source{1}, outs[kThreads];
  for (Numbers &o : outs) o = {0};
  aclTensor *s = tensor_of(source), *o = tensor_of(outs[0]);
  auto race = [&](int self) {
    aclrtSetDevice(0);
    for (int i = 1; i <= kRaces; ++i) {
      bool repeatable = i % 2 == 0;
      if (self == 0) {
        uint64_t size = 0;
        aclOpExecutor *ex = nullptr;
        sum_size(s, nullptr, nullptr, o, 0, &size, &ex);
        if (repeatable) aclSetAclOpExecutorRepeatable(ex);
        shared.store(ex);
      }
      arrived.fetch_add(1);
      while (arrived.load() < kThreads * (2 * i - 1)) std::this_thread::yield();
      aclOpExecutor *ex = shared.load();
      if (repeatable && self == 1) {
        if (aclDestroyAclOpExecutor(ex) == 0) ++destroyed;
      } else {
        aclnnStatus status = sum(nullptr, 0, ex, stream);
        if (!repeatable) ran += status == 0;
        if (status != 0 && status != 161002) ++strange;
      }
      Numbers local{1}, local_out{0};  // takes the slot over as soon as it is free
      aclTensor *ls = tensor_of(local), *lo = tensor_of(local_out);
      uint64_t size = 0;
      aclOpExecutor *other = nullptr;
      sum_size(ls, nullptr, nullptr, lo, 0, &size, &other);
      if (aclDestroyAclOpExecutor(other) != 0) ++strange;
      aclDestroyTensor(ls);
      aclDestroyTensor(lo);
      aclrtSynchronizeStream(stream);
      recent();
      arrived.fetch_add(1);
      while (arrived.load() < kThreads * 2 * i) std::this_thread::yield();
    }
    aclrtResetDevice(0);
  };
  all.clear();
  for (int i = 0; i < kThreads; ++i) all.emplace_back(race, i);
  for (std::thread &t : all) t.join();
  equal(ran.load(), kRaces / 2, "N2 a one-shot executor runs once, whoever tries");
  equal(destroyed.load(), kRaces / 2, "N2 a repeatable one is destroyed under its runs");
  equal(strange.load(), 0, "N2 everybody else gets 161002");
  aclDestroyTensor(s);
  aclDestroyTensor(o);
  recent();
}

void steady_state() {
  Numbers source{1, 2, 3}, member{1, 1, 1}, out{0, 0, 0};
  int64_t lengths[8] = {};
  auto everything = [&](const char *mode) {
    aclTensor *s = tensor_of({3}, source.data()), *o = tensor_of({3}, out.data());
    const aclTensor *members[1] = {tensor_of({3}, member.data())};
    aclTensorList *list = aclCreateTensorList(members, 1);
    aclIntArray *array = aclCreateIntArray(lengths, 8);
    uint64_t size = 0;
    aclOpExecutor *ex = nullptr;
    bool fine = sum_size(s, list, array, o, 0, &size, &ex) == 0 && sum(nullptr, 0, ex, stream) == 0;
    aclDestroyIntArray(array);
    aclDestroyTensorList(list);
    aclDestroyTensor(s);
    aclDestroyTensor(o);
    if (std::strcmp(mode, "auto") != 0) aclrtSynchronizeStream(stream);
    return fine;
  };
#if !SANITIZED
  for (const char *mode : {"auto", "lazy"}) {
    set_mode(mode);
    for (int i = 0; i < 300; ++i) everything(mode);
    aclrtSynchronizeStream(stream);
    int64_t before = allocations.load();

    for (int i = 0; i < 100; ++i) everything(mode);
    int64_t made = allocations.load() - before;
    aclrtSynchronizeStream(stream);
    ok(made <= 300, "M1 no malloc in the steady state",
       "%lld in mode %s, 300 of them the test's own", static_cast<long long>(made), mode);
  }
  set_mode("auto");
  // Both phases of a call without work.
  aclTensor *s = tensor_of({0}, nullptr), *o = tensor_of({0}, nullptr);
  double best = 1e9;
  for (int batch = 0; batch < 40; ++batch) {
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 1000; ++i) {
      uint64_t size = 0;
      aclOpExecutor *ex = nullptr;
      sum_size(s, nullptr, nullptr, o, 0, &size, &ex);
      sum(nullptr, 0, ex, stream);
    }
    std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count() / 1000);
  }
  std::printf("# both phases: %.0f ns\n", best);
  ok(best < 1000, "M2 both phases of a call without work take less than 1 us", "%.0f ns", best);
  aclDestroyTensor(s);
  aclDestroyTensor(o);
#else
  ok(everything("auto"), "M1 steady state");
  aclrtSynchronizeStream(stream);
#endif
}

// What plug-ins with a queue do: phase 1 on one thread; phase 2, and the end of everything the call
// was made of, on another one.
void queue_between_phases() {
  constexpr int kCalls = 2000, kRoom = 16;
  struct Queued {
    aclTensor *s, *o;
    aclOpExecutor *ex;
  };
  for (const char *mode : {"auto", "async", "lazy", "blocking"}) {
    set_mode(mode);
    std::vector<Numbers> sources(kCalls, Numbers{1, 2, 3, 4}), outs(kCalls, Numbers(4, 0));
    std::vector<Queued> queue(kRoom);
    std::atomic<int> produced{0}, consumed{0}, strange{0};
    std::thread consumer([&] {
      aclrtSetDevice(0);
      for (int i = 0; i < kCalls; ++i) {
        while (produced.load() <= i) std::this_thread::yield();
        const Queued call = queue[i % kRoom];
        if (sum(nullptr, 0, call.ex, stream) != 0) ++strange;
        if (aclDestroyTensor(call.s) != 0 || aclDestroyTensor(call.o) != 0) ++strange;
        consumed.store(i + 1);
      }
      aclrtResetDevice(0);
    });
    for (int i = 0; i < kCalls; ++i) {
      sources[i][0] = i;
      while (i - consumed.load() >= kRoom) std::this_thread::yield();
      Queued &call = queue[i % kRoom];
      call = {tensor_of(sources[i]), tensor_of(outs[i]), nullptr};
      uint64_t size = 0;
      if (sum_size(call.s, nullptr, nullptr, call.o, 0, &size, &call.ex) != 0) ++strange;
      produced.store(i + 1);
    }
    consumer.join();
    equal(aclrtSynchronizeStream(stream), 0, "Q1 synchronise");
    equal(strange.load(), 0, "Q1 every step of every call");
    ok(sources == outs, "Q1 numbers", "mode %s", mode);
  }
  set_mode("auto");
}

}  // namespace

int main() {
  aclInit(nullptr);
  // Phase 1 needs no device.
  first_phase_rows();
  aclrtSetDevice(0);
  aclrtCreateStream(&stream);
  second_phase_rows();
  lifetime();
  threads();
  queue_between_phases();
  steady_state();
  aclrtDestroyStream(stream);
  for (const char *kind : {"tensor", "scalar", "intarray", "floatarray", "boolarray", "tensorlist",
                           "scalarlist", "executor"}) {
    equal(pyaclnnLiveCount(kind), 0, kind);
  }
  aclrtResetDevice(0);
  aclFinalize();
  return tap::done();
}
