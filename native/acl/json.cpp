#include "acl/json.hpp"

#include <cstdlib>
#include <cstring>

namespace pyaclnn {
namespace {

constexpr int kMaxDepth = 32;

class Reader {
 public:
  explicit Reader(std::string_view source) : source_(source) {}

  bool document(Json *value) {
    if (!this->value(value, 0)) return false;
    space();
    return at_ == source_.size() || stop("something follows the value");
  }
  const char *why() const { return why_; }
  size_t where() const { return at_; }

 private:
  bool stop(const char *why) {
    if (why_ == nullptr) why_ = why;
    return false;
  }
  void space() {
    while (at_ < source_.size() && std::strchr(" \t\r\n", source_[at_]) != nullptr &&
           source_[at_] != '\0') {
      ++at_;
    }
  }
  char peek() const { return at_ < source_.size() ? source_[at_] : '\0'; }
  bool take(char c) {
    space();
    if (peek() != c || at_ >= source_.size()) return false;
    ++at_;
    return true;
  }
  bool word(std::string_view expected) {
    if (source_.substr(at_, expected.size()) != expected) return stop("an unknown word");
    at_ += expected.size();
    return true;
  }

  bool value(Json *out, int depth) {
    if (depth > kMaxDepth) return stop("nested too deeply");
    space();
    switch (peek()) {
      case '{': return object(out, depth);
      case '[': return array(out, depth);
      case '"': out->type = Json::Type::String; return string(&out->text);
      case 't':
        out->type = Json::Type::Bool;
        out->boolean = true;
        return word("true");
      case 'f':
        out->type = Json::Type::Bool;
        out->boolean = false;
        return word("false");
      case 'n': out->type = Json::Type::Null; return word("null");
      default: return number(out);
    }
  }

  bool object(Json *out, int depth) {
    out->type = Json::Type::Object;
    take('{');
    if (take('}')) return true;
    do {
      space();
      std::string key;
      if (peek() != '"') return stop("a key in quotes is missing");
      if (!string(&key)) return false;
      if (out->find(key) != nullptr) return stop("a key is there twice");
      if (!take(':')) return stop("a colon is missing");
      out->keys.push_back(std::move(key));
      out->items.emplace_back();
      if (!value(&out->items.back(), depth + 1)) return false;
    } while (take(','));
    return take('}') || stop("a comma or a closing brace is missing");
  }

  bool array(Json *out, int depth) {
    out->type = Json::Type::Array;
    take('[');
    if (take(']')) return true;
    do {
      out->items.emplace_back();
      if (!value(&out->items.back(), depth + 1)) return false;
    } while (take(','));
    return take(']') || stop("a comma or a closing bracket is missing");
  }

  bool number(Json *out) {
    out->type = Json::Type::Number;
    const size_t begin = at_;
    auto digits = [this] {
      const size_t first = at_;
      while (peek() >= '0' && peek() <= '9') ++at_;
      return at_ - first;
    };
    if (peek() == '-') ++at_;
    const bool zero = peek() == '0';
    const size_t whole = digits();
    if (whole == 0 || (zero && whole > 1)) return stop("a value is missing or malformed");
    if (peek() == '.') {
      ++at_;
      if (digits() == 0) return stop("a digit is missing");
    }
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      if (digits() == 0) return stop("a digit is missing");
    }
    out->text = std::string(source_.substr(begin, at_ - begin));
    out->number = std::strtod(out->text.c_str(), nullptr);
    return true;
  }

  bool hex4(uint32_t *code) {
    *code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = peek();
      uint32_t digit = 0;
      if (c >= '0' && c <= '9')
        digit = static_cast<uint32_t>(c - '0');
      else if (c >= 'a' && c <= 'f')
        digit = static_cast<uint32_t>(c - 'a' + 10);
      else if (c >= 'A' && c <= 'F')
        digit = static_cast<uint32_t>(c - 'A' + 10);
      else
        return stop("a hexadecimal digit is missing");
      *code = *code << 4 | digit;
    }
    return true;
  }

  bool string(std::string *out) {
    ++at_;  // the quote
    for (;;) {
      if (at_ >= source_.size()) return stop("a closing quote is missing");
      const auto c = static_cast<unsigned char>(source_[at_++]);
      if (c == '"') return true;
      if (c < 0x20) return stop("a control character in a string");
      if (c != '\\') {
        out->push_back(static_cast<char>(c));
        continue;
      }
      const char escape = peek();
      ++at_;
      switch (escape) {
        case '"':
        case '\\':
        case '/': out->push_back(escape); break;
        case 'b': out->push_back('\b'); break;
        case 'f': out->push_back('\f'); break;
        case 'n': out->push_back('\n'); break;
        case 'r': out->push_back('\r'); break;
        case 't': out->push_back('\t'); break;
        case 'u': {
          uint32_t code = 0, low = 0;
          if (!hex4(&code)) return false;
          if (code >= 0xd800 && code < 0xdc00) {
            if (!word("\\u") || !hex4(&low)) return false;
            if (low < 0xdc00 || low > 0xdfff) return stop("half of a surrogate pair");
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
          } else if (code >= 0xdc00 && code <= 0xdfff) {
            return stop("half of a surrogate pair");
          }
          utf8(out, code);
          break;
        }
        default: return stop("an unknown escape");
      }
    }
  }

  static void utf8(std::string *out, uint32_t code) {
    auto byte = [out](uint32_t b) { out->push_back(static_cast<char>(b)); };
    if (code < 0x80) {
      byte(code);
    } else if (code < 0x800) {
      byte(0xc0 | code >> 6);
      byte(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
      byte(0xe0 | code >> 12);
      byte(0x80 | (code >> 6 & 0x3f));
      byte(0x80 | (code & 0x3f));
    } else {
      byte(0xf0 | code >> 18);
      byte(0x80 | (code >> 12 & 0x3f));
      byte(0x80 | (code >> 6 & 0x3f));
      byte(0x80 | (code & 0x3f));
    }
  }

  std::string_view source_;
  size_t at_ = 0;
  const char *why_ = nullptr;
};

}  // namespace

const Json *Json::find(std::string_view key) const {
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == key) return &items[i];
  }
  return nullptr;
}

bool json_read(std::string_view source, Json *value, const char **why, size_t *where) {
  Reader reader(source);
  if (reader.document(value)) return true;
  *why = reader.why() != nullptr ? reader.why() : "malformed";
  *where = reader.where();
  return false;
}

}  // namespace pyaclnn
