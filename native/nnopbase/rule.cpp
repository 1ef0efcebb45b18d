#include "nnopbase/rule.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

#include "support/log.hpp"
#include "support/record.hpp"

namespace pyaclnn {
namespace {

// JSON in a growing buffer. When memory runs out the text is dropped whole: half a document would
// be worse than none.
class Json {
 public:
  Json() = default;
  ~Json() { std::free(data_); }
  Json(const Json &) = delete;
  Json &operator=(const Json &) = delete;

  void raw(std::string_view s) {
    if (s.empty() || !reserve(s.size())) return;
    std::memcpy(data_ + size_, s.data(), s.size());
    size_ += s.size();
  }
  void number(int32_t v) {
    char digits[16];
    int n = std::snprintf(digits, sizeof digits, "%" PRId32, v);
    raw({digits, static_cast<size_t>(n)});
  }
  void string(std::string_view s) {
    raw("\"");
    size_t plain = 0;  // start of the stretch that needs no escape
    for (size_t i = 0; i < s.size();) {
      size_t length = utf8_length(s, i);
      unsigned char c = static_cast<unsigned char>(s[i]);
      if (length != 0 && c >= 0x20 && c != '"' && c != '\\') {
        i += length;
        continue;
      }
      raw(s.substr(plain, i - plain));
      char escape[8];
      if (length == 0) {
        raw("\\ufffd");  // bytes of the caller that are not UTF-8
      } else if (c < 0x20) {
        std::snprintf(escape, sizeof escape, "\\u%04x", c);
        raw(escape);
      } else {
        escape[0] = '\\';
        escape[1] = static_cast<char>(c);
        raw({escape, 2});
      }
      plain = ++i;
    }
    raw(s.substr(plain));
    raw("\"");
  }
  void member(const char *key, std::string_view value) {
    raw("\"");
    raw(key);
    raw("\": ");
    string(value);
  }
  std::string_view view() const {
    return failed_ ? std::string_view{} : std::string_view{data_, size_};
  }

 private:
  // Length of the UTF-8 sequence at `i`, 0 when there is none.
  static size_t utf8_length(std::string_view s, size_t i) {
    auto at = [&](size_t k) {
      return k < s.size() ? static_cast<unsigned char>(s[k]) : static_cast<unsigned char>(0);
    };
    auto tail = [&](size_t k) { return (at(k) & 0xc0u) == 0x80u; };
    unsigned char c = at(i);
    if (c < 0x80) return 1;
    if (c >= 0xc2 && c <= 0xdf) return tail(i + 1) ? 2 : 0;
    if (c >= 0xe0 && c <= 0xef) {
      if (!tail(i + 1) || !tail(i + 2)) return 0;
      if (c == 0xe0 && at(i + 1) < 0xa0) return 0;
      if (c == 0xed && at(i + 1) > 0x9f) return 0;  // surrogates
      return 3;
    }
    if (c >= 0xf0 && c <= 0xf4) {
      if (!tail(i + 1) || !tail(i + 2) || !tail(i + 3)) return 0;
      if (c == 0xf0 && at(i + 1) < 0x90) return 0;
      if (c == 0xf4 && at(i + 1) > 0x8f) return 0;
      return 4;
    }
    return 0;
  }
  bool reserve(size_t more) {
    if (failed_) return false;
    if (size_ + more <= capacity_) return true;
    size_t wanted = 2 * (size_ + more) + 512;
    char *grown = static_cast<char *>(std::realloc(data_, wanted));
    if (grown == nullptr) {
      failed_ = true;
      return false;
    }
    data_ = grown;
    capacity_ = wanted;
    return true;
  }

  char *data_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
  bool failed_ = false;
};

// "<function>: <parameter>: <value>, <limit> [rule ID, product TITLE]"; the tail always survives.
// With a step "<function>::<step>", with a place "<parameter> (<list>[<index>])".
Text finding_text(const char *function, const char *step, const char *rule, const char *parameter,
                  const Saying &saying, const Product *product) {
  Text tail;
  tail << " [rule " << rule;
  if (product != nullptr) tail << ", product " << product->title;
  tail << ']';
  Text text;
  text << function;
  if (step != nullptr) text << "::" << step;
  text << ": " << parameter;
  if (saying.list != nullptr) text << " (" << saying.list << '[' << saying.index << "])";
  text << ": ";
  size_t used = text.size() + 2 + tail.size();
  size_t room = used < Text::kCapacity - 1 ? Text::kCapacity - 1 - used : 0;
  // Long values lose their end, so that limit and tail still fit.
  std::string_view limit = saying.limit.view().substr(0, room / 2);
  text << saying.value.view().substr(0, room - limit.size()) << ", " << limit << tail.view();
  return text;
}

void append_finding(Json &json, const char *rule, int32_t code, const char *parameter,
                    const Text &text, const Saying &saying) {
  json.raw("{");
  json.member("rule", rule);
  json.raw(", \"code\": ");
  json.number(code);
  json.raw(", ");
  json.member("parameter", parameter);
  if (saying.list != nullptr) {
    json.raw(", ");
    json.member("list", saying.list);
    json.raw(", \"index\": ");
    json.number(saying.index);
  }
  json.raw(", ");
  json.member("text", text.view());
  json.raw(", ");
  json.member("value", saying.value.view());
  json.raw(", ");
  json.member("limit", saying.limit.view());
  json.raw("}");
}

// Rules that have been mentioned in the log: ids are literals, but one rule may be compiled into
// several places, so they are compared as text. Entries are only ever appended.
constexpr size_t kMostAdvice = 256;
std::atomic<const char *> advice[kMostAdvice];

// Whether the rule has been mentioned before this call (or the table is full: then silence is
// better than a flood).
bool mentioned(const char *rule) {
  for (std::atomic<const char *> &entry : advice) {
    const char *seen = entry.load(std::memory_order_acquire);
    if (seen == nullptr && entry.compare_exchange_strong(seen, rule, std::memory_order_acq_rel)) {
      return false;
    }
    if (seen == rule || std::strcmp(seen, rule) == 0) return true;
  }
  return true;
}

}  // namespace

void advise(const char *function, const Product *product, const char *rule, const char *parameter,
            const Saying &saying, const char *step, LogLevel level) noexcept {
  if (mentioned(rule)) return;
  Text text = finding_text(function, step, rule, parameter, saying, product);
  log(level, text);
}

struct Findings::State {
  const char *function;
  const Product *product;
  const char *step;
  const char *rule = "";  // of the first finding
  Text text;              // of the first finding
  Json findings, unevaluated;
};

Findings::Findings(const char *function, const Product *product, const char *step) noexcept
    : state_(new (std::nothrow) State{}) {
  if (state_ == nullptr) return;
  state_->function = function;
  state_->product = product;
  state_->step = step;
}

Findings::~Findings() { delete state_; }

void Findings::add(const char *rule, int32_t code, const char *parameter,
                   const Saying &saying) noexcept {
  if (code_ == 0) code_ = code;
  if (state_ == nullptr) return;
  bool first = state_->findings.view().empty();
  Text text =
      finding_text(state_->function, state_->step, rule, parameter, saying, state_->product);
  if (first) {
    state_->rule = rule;
    state_->text = text;
  } else {
    state_->findings.raw(", ");
  }
  append_finding(state_->findings, rule, code, parameter, text, saying);
}

void Findings::unevaluated(const char *rule, const char *parameter) noexcept {
  if (state_ == nullptr) return;
  Json &json = state_->unevaluated;
  if (!json.view().empty()) json.raw(", ");
  json.raw("{");
  json.member("rule", rule);
  json.raw(", ");
  json.member("parameter", parameter);
  json.raw(", ");
  json.member("why", "it needs a fact that a failed rule leaves unknown");
  json.raw("}");
}

int32_t Findings::refuse() noexcept {
  if (state_ == nullptr) {
    Text text;
    text << "an operator call was refused; no host memory is left to say why";
    queue_error(item_code_of_status(code_), text);
    return code_;
  }
  accept();
  queue_error(item_code_of_status(code_), state_->text);
  return code_;
}

void Findings::accept() noexcept {
  if (state_ == nullptr) return;
  Json json;
  json.raw("{");
  json.member("function", state_->function);
  if (state_->step != nullptr) {
    json.raw(", ");
    json.member("step", state_->step);
  }
  json.raw(", \"product\": ");
  const Product *product = state_->product != nullptr ? state_->product : current_product();
  if (product != nullptr) {
    json.string(product->key);
  } else {
    json.raw("null");
  }
  json.raw(", \"code\": ");
  json.number(code_);
  json.raw(", ");
  json.member("rule", state_->rule);
  json.raw(", \"findings\": [");
  json.raw(state_->findings.view());
  json.raw("], \"unevaluated\": [");
  json.raw(state_->unevaluated.view());
  json.raw("]}");
  std::string_view whole = json.view();
  record_explanation(whole.data(), whole.size());
}

int32_t refuse(const char *function, const char *rule, const char *parameter, int32_t code,
               const Saying &saying, const char *step, const Product *product) noexcept {
  Findings findings(function, product, step);
  findings.add(rule, code, parameter, saying);
  return findings.refuse();
}

}  // namespace pyaclnn
