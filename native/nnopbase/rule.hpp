// Rules and checks: an operator path is an ordered span of checks, each a rule with the code it
// answers on that path. Rules are constexpr data; the first failing one decides the status, all of
// them together make the explanation.
#pragma once

#include <cstdint>
#include <iterator>
#include <span>
#include <utility>

#include "product/product.hpp"
#include "support/api.hpp"
#include "support/log.hpp"
#include "support/text.hpp"

namespace pyaclnn {

// What a failing rule says: `value` (what was found) and `limit` (what is accepted). A rule that
// looks at several parameters names the one at fault here.
struct Saying {
  const char *parameter = nullptr;
  // Where a tensor stands when the interface numbers its tensors: "inTensors", 3.
  const char *list = nullptr;
  int32_t index = 0;
  Text value, limit;
};

template <class Call>
struct Rule {
  const char *id;         // "ATTN-HEADS-RATIO": stable, tested, searchable
  const char *parameter;  // the header's spelling
  // false: a fact it needs is missing, because an earlier rule failed; nullptr: always.
  bool (*can)(const Call &);
  bool (*ok)(const Call &);
  void (*say)(const Call &, Saying &);
  // false: the rule is about something this call does not have (no mask, no paging); nullptr:
  // always.
  bool (*applies)(const Call &) = nullptr;

  bool evaluable(const Call &call) const { return can == nullptr || can(call); }
  bool applicable(const Call &call) const { return applies == nullptr || applies(call); }
};

template <class Call>
struct Check {
  const Rule<Call> *rule;
  int32_t code;  // 0: documented by the device but not enforced; accepted with one line in the log
  // Set instead of `rule`: when it answers true here, the call is complete and later checks do not
  // apply (an empty output, for example).
  bool (*done)(const Call &) = nullptr;
};

// Collects what is wrong with a call, for the error text and the explanation. Exported by
// libnnopbase; one on the stack of a call with findings.
class PYACLNN_API Findings {
 public:
  // `step`: which step of an interface whose operators have several, or nullptr.
  Findings(const char *function, const Product *product, const char *step = nullptr) noexcept;
  ~Findings();
  Findings(const Findings &) = delete;
  Findings &operator=(const Findings &) = delete;
  void add(const char *rule, int32_t code, const char *parameter, const Saying &saying) noexcept;
  void unevaluated(const char *rule, const char *parameter) noexcept;
  // Queues the text of the first finding, records the explanation, returns the first finding's
  // code.
  int32_t refuse() noexcept;
  // Records the explanation of a call that was accepted with documented-only findings.
  void accept() noexcept;

 private:
  struct State;
  State *state_;  // nullptr when memory is exhausted: then only the code survives
  int32_t code_ = 0;
};

// Logs a documented-only finding, once per process and rule; `level`: Error where the result is
// wrong.
PYACLNN_API void advise(const char *function, const Product *product, const char *rule,
                        const char *parameter, const Saying &saying, const char *step = nullptr,
                        LogLevel level = LogLevel::Warning) noexcept;

enum class Verdict : uint8_t { Pass, Done, Refused };

// What a failing rule says, with the parameter at fault. A call that numbers its tensors says where
// that one stands.
template <class Call>
Saying said(const Rule<Call> &rule, const Call &call) {
  Saying saying;
  rule.say(call, saying);
  if (saying.parameter == nullptr) saying.parameter = rule.parameter;
  if constexpr (requires { call.locate(saying); }) call.locate(saying);
  return saying;
}

// For a call that breaks only documented-only rules (code 0): logs each rule once and records the
// explanation.
template <class Call>
void accept_with_advice(const char *function, const Product *product, const Call &call,
                        std::span<const Check<Call>> checks, const char *step) {
  Findings findings(function, product, step);
  for (const Check<Call> &check : checks) {
    if (check.rule == nullptr || check.code != 0) continue;
    const Rule<Call> &rule = *check.rule;
    if (!rule.applicable(call) || !rule.evaluable(call) || rule.ok(call)) continue;
    Saying saying = said(rule, call);
    findings.add(rule.id, 0, saying.parameter, saying);
    advise(function, product, rule.id, saying.parameter, saying, step);
  }
  findings.accept();
}

template <class Call>
[[gnu::always_inline]] inline bool passes(const Call &call, const Check<Call> &check) {
  if (check.done != nullptr) return !check.done(call);
  const Rule<Call> &rule = *check.rule;
  return (rule.applies != nullptr && !rule.applies(call)) ||
         (rule.can != nullptr && !rule.can(call)) || rule.ok(call);
}

// Whether every check of a path passes, which is the common case: the walk of judge, unrolled at
// compile time. Otherwise judge has the verdict.
template <const auto &kChecks, class Call>
bool all_pass(const Call &call) {
  return [&call]<size_t... kAt>(std::index_sequence<kAt...>) {
    return (passes(call, kChecks[kAt]) && ...);
  }
  (std::make_index_sequence<std::size(kChecks)>());
}

// The first check of a path that refuses; nullptr when none does. For steps that refuse later.
template <class Call>
const Check<Call> *first_failure(const Call &call, std::span<const Check<Call>> checks) {
  for (const Check<Call> &check : checks) {
    if (check.done != nullptr && check.done(call)) return nullptr;
    if (check.code != 0 && !passes(call, check)) return &check;
  }
  return nullptr;
}

// Runs the path. Refused: `*code` is the status and everything has been reported.
template <class Call>
Verdict judge(const char *function, const Product *product, const Call &call,
              std::span<const Check<Call>> checks, int32_t *code, const char *step = nullptr) {
  bool advice = false;
  for (size_t i = 0; i < checks.size(); ++i) {
    const Check<Call> &check = checks[i];
    if (check.done != nullptr) {
      if (check.done(call)) return Verdict::Done;
      continue;
    }
    const Rule<Call> &rule = *check.rule;
    if (!rule.applicable(call) || !rule.evaluable(call) || rule.ok(call)) continue;
    if (check.code == 0) {
      advice = true;
      continue;
    }
    Findings findings(function, product, step);
    for (size_t j = i; j < checks.size(); ++j) {
      const Check<Call> &later = checks[j];
      if (later.done != nullptr) {
        if (later.done(call)) break;
        continue;
      }
      const Rule<Call> &r = *later.rule;
      if (!r.applicable(call)) continue;
      if (!r.evaluable(call)) {
        findings.unevaluated(r.id, r.parameter);
      } else if (!r.ok(call)) {
        Saying saying = said(r, call);
        findings.add(r.id, later.code, saying.parameter, saying);
      }
    }
    *code = findings.refuse();
    return Verdict::Refused;
  }
  if (advice) accept_with_advice(function, product, call, checks, step);
  return Verdict::Pass;
}

// A refusal outside an operator's rule table (executor functions, phase 2): same text form
// "<function>: <parameter>: <found>, <accepted>", same record; returns `code`. `product`: nullptr
// leaves it out of the text.
PYACLNN_API int32_t refuse(const char *function, const char *rule, const char *parameter,
                           int32_t code, const Saying &saying, const char *step = nullptr,
                           const Product *product = nullptr) noexcept;

// The rules of an operator in their order, as JSON; the buffer protocol of pyaclnnExplain.
class RulesJson {
 public:
  RulesJson(const char *name, char *buffer, size_t capacity)
      : buffer_(buffer), capacity_(capacity) {
    put("{\"operator\": \"");
    put(name);
    put("\", \"rules\": [");
  }
  // The checks of a path; `step` as for judge.
  template <class Call>
  void add(std::span<const Check<Call>> checks, const char *step = nullptr) {
    for (const Check<Call> &check : checks) {
      if (check.rule == nullptr) continue;
      Text code;
      code << check.code;
      put(separator_);
      put("{\"rule\": \"");
      put(check.rule->id);
      put("\", \"code\": ");
      put(code.view());
      put(", \"parameter\": \"");
      put(check.rule->parameter);
      if (step != nullptr) {
        put("\", \"step\": \"");
        put(step);
      }
      put("\"}");
      separator_ = ", ";
    }
  }
  // The length of the whole text.
  size_t finish() {
    put("]}");
    if (capacity_ != 0) buffer_[size_ < capacity_ ? size_ : capacity_ - 1] = '\0';
    return size_;
  }

 private:
  void put(std::string_view s) {
    for (char c : s) {
      if (size_ + 1 < capacity_) buffer_[size_] = c;
      ++size_;
    }
  }
  char *buffer_;
  size_t capacity_, size_ = 0;
  const char *separator_ = "";
};

// The same for an operator of one path.
template <class Call>
size_t rules_json(const char *name, std::span<const Check<Call>> checks, char *buffer,
                  size_t capacity) {
  RulesJson json(name, buffer, capacity);
  json.add(checks);
  return json.finish();
}

}  // namespace pyaclnn
