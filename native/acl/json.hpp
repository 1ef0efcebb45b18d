// A small strict JSON reader for the file of aclInit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pyaclnn {

struct Json {
  enum class Type { Null, Bool, Number, String, Array, Object };
  Type type = Type::Null;
  bool boolean = false;
  double number = 0;
  std::string text;               // of a string, or of a number as written
  std::vector<Json> items;        // of an array or an object
  std::vector<std::string> keys;  // of an object; its values are the items

  const Json *find(std::string_view key) const;  // of an object; nullptr when absent
};

// False with a reason (static text) and the offset where reading stopped. May throw std::bad_alloc.
bool json_read(std::string_view source, Json *value, const char **why, size_t *where);

}  // namespace pyaclnn
