// pyaclnn's own windows into the operators (include/pyaclnn/debug.h).
#include <cstring>

#include "nnopbase/executor.hpp"
#include "pyaclnn/debug.h"

extern "C" size_t pyaclnnRulesJson(const char *op, char *buffer, size_t capacity) {
  if (op == nullptr) return 0;
  for (const pyaclnn::Operator *o = pyaclnn::first_operator(); o != nullptr; o = o->next) {
    if (std::strcmp(o->name, op) == 0 && o->rules_json != nullptr) {
      return o->rules_json(buffer, capacity);
    }
  }
  return 0;
}
