// Attributes of operators of the interface before aclnn. None of those operators can run here; what
// was asked for is kept as the text that its refusal shows.
#include "acl/op_attr.hpp"

#include <concepts>
#include <cstdint>
#include <cstring>
#include <mutex>

#include "acl/handle.hpp"
#include "acl/refuse.hpp"

namespace pyaclnn {
namespace {

struct OpAttr {
  static constexpr Kind kKind = Kind::OpAttr;
  char text[512];
  size_t size;
};

// One for all: nothing here is on a path that has to be fast.
constinit std::mutex g_mutex;

OpAttr *find_attr(const char *function, const aclopAttr *attr) {
  if (attr == nullptr) {
    refuse_null(function, "attr");
    return nullptr;
  }
  auto *found = find_handle<OpAttr>(attr);
  if (found == nullptr) {
    fail(ACL_ERROR_INVALID_PARAM, "EE1017",
         Text() << function
                << ": attr: is no live list of attributes (destroyed, of another kind, or never "
                   "made), a live one is required");
  }
  return found;
}

// Appends "name = value"; what does not fit is cut off, as in any text of a refusal.
template <std::invocable<Text &> Say>
int32_t set_attribute(const char *function, aclopAttr *attr, const char *name, const Say &say) {
  OpAttr *found = find_attr(function, attr);
  if (found == nullptr) return ACL_ERROR_INVALID_PARAM;
  if (name == nullptr) return refuse_null(function, "attrName");
  Text text;
  std::lock_guard lock(g_mutex);
  text << (found->size != 0 ? ", " : "") << name << " = ";
  say(text);
  const size_t room = sizeof found->text - found->size;
  const size_t bytes = text.size() < room ? text.size() : room;
  std::memcpy(found->text + found->size, text.c_str(), bytes);
  found->size += bytes;
  return ACL_SUCCESS;
}

template <class Value>
int32_t set_value(const char *function, aclopAttr *attr, const char *name, Value value) {
  return set_attribute(function, attr, name, [value](Text &text) { text << value; });
}

template <class Value>
void say_list(int count, const Value *values, Text &text) {
  text << '[';
  for (int i = 0; i < count; ++i) text << (i != 0 ? ", " : "") << values[i];
  text << ']';
}

template <class Value>
int32_t check_list(const char *function, const char *parameter, int count, const Value *values) {
  if (count < 0) return refuse_value(ACL_ERROR_INVALID_PARAM, function, parameter, count, "0 up");
  return count != 0 && values == nullptr ? refuse_null(function, "values") : ACL_SUCCESS;
}

template <class Value>
int32_t set_list(const char *function, aclopAttr *attr, const char *name, int count,
                 const Value *values) {
  if (const int32_t code = check_list(function, "numValues", count, values); code != 0) return code;
  return set_attribute(function, attr, name,
                       [count, values](Text &text) { say_list(count, values, text); });
}

}  // namespace

void say_attributes(const aclopAttr *attr, Text &text) noexcept {
  const auto *found = find_handle<OpAttr>(attr);
  if (found == nullptr) return;
  std::lock_guard lock(g_mutex);
  if (found->size != 0) text << " (" << std::string_view(found->text, found->size) << ')';
}

}  // namespace pyaclnn

using namespace pyaclnn;

aclopAttr *aclopCreateAttr(void) {
  void *handle = nullptr;
  auto *attr = create_handle<OpAttr>(&handle);
  if (attr == nullptr) {
    refuse_memory(ACL_ERROR_BAD_ALLOC, "aclopCreateAttr", "attributes", sizeof(OpAttr));
    return nullptr;
  }
  std::lock_guard lock(g_mutex);
  attr->size = 0;
  return static_cast<aclopAttr *>(handle);
}

void aclopDestroyAttr(const aclopAttr *attr) {
  if (attr == nullptr) return;
  if (claim_handle<OpAttr>(attr) != nullptr) {
    recycle_handle<OpAttr>(attr);
  } else {
    find_attr("aclopDestroyAttr", attr);
  }
}

aclError aclopSetAttrBool(aclopAttr *attr, const char *attrName, uint8_t attrValue) {
  return set_value("aclopSetAttrBool", attr, attrName, attrValue != 0);
}

aclError aclopSetAttrInt(aclopAttr *attr, const char *attrName, int64_t attrValue) {
  return set_value("aclopSetAttrInt", attr, attrName, attrValue);
}

aclError aclopSetAttrFloat(aclopAttr *attr, const char *attrName, float attrValue) {
  return set_value("aclopSetAttrFloat", attr, attrName, static_cast<double>(attrValue));
}

aclError aclopSetAttrString(aclopAttr *attr, const char *attrName, const char *attrValue) {
  if (attrValue == nullptr) return refuse_null("aclopSetAttrString", "attrValue");
  return set_value("aclopSetAttrString", attr, attrName, attrValue);
}

aclError aclopSetAttrDataType(aclopAttr *attr, const char *attrName, aclDataType attrValue) {
  return set_value("aclopSetAttrDataType", attr, attrName, static_cast<int32_t>(attrValue));
}

aclError aclopSetAttrListBool(aclopAttr *attr, const char *attrName, int numValues,
                              const uint8_t *values) {
  return set_list("aclopSetAttrListBool", attr, attrName, numValues, values);
}

aclError aclopSetAttrListInt(aclopAttr *attr, const char *attrName, int numValues,
                             const int64_t *values) {
  return set_list("aclopSetAttrListInt", attr, attrName, numValues, values);
}

aclError aclopSetAttrListFloat(aclopAttr *attr, const char *attrName, int numValues,
                               const float *values) {
  return set_list("aclopSetAttrListFloat", attr, attrName, numValues, values);
}

aclError aclopSetAttrListListInt(aclopAttr *attr, const char *attrName, int numLists,
                                 const int *numValues, const int64_t *const values[]) {
  const char *function = "aclopSetAttrListListInt";
  if (const int32_t code = check_list(function, "numLists", numLists, values); code != 0) {
    return code;
  }
  if (numLists != 0 && numValues == nullptr) return refuse_null(function, "numValues");
  for (int i = 0; i < numLists; ++i) {
    const int32_t code = check_list(function, "numValues", numValues[i], values[i]);
    if (code != 0) return code;
  }
  return set_attribute(function, attr, attrName, [=](Text &text) {
    text << '[';
    for (int i = 0; i < numLists; ++i) {
      if (i != 0) text << ", ";
      say_list(numValues[i], values[i], text);
    }
    text << ']';
  });
}
