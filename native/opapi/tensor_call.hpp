// Elementwise operators and their relatives, whose arguments are tensors, scalars and numbers:
// their description (Page), and a call before its rules are checked (Call).
#pragma once

#include <cstdint>
#include <span>

#include "elementwise/engine.hpp"
#include "nnopbase/executor.hpp"
#include "nnopbase/rule.hpp"
#include "nnopbase/tensor.hpp"
#include "product/product.hpp"

namespace pyaclnn::tensors {

using elementwise::Op;
using elementwise::Type;
using elementwise::Types;
using elementwise::View;

inline constexpr int kMostParameters = 8;  // of an operator, before workspaceSize and executor

enum class Kind : uint8_t {
  In,
  Ref,  // read and written
  Out,
  List,    // of input tensors
  Holes,   // likewise, and members may be NULL
  Scalar,  // an operand
  MaybeScalar,
  Factor,  // a scalar by which an operand is multiplied
  Ints,    // aclIntArray
  MaybeInts,
  Integer,  // int64_t, bool
  Real,     // double
  Dtype
};
constexpr bool is_tensor(Kind kind) { return kind <= Kind::Out; }
constexpr bool is_input(Kind kind) { return kind <= Kind::Ref; }
constexpr bool is_output(Kind kind) { return kind == Kind::Ref || kind == Kind::Out; }
constexpr bool is_list(Kind kind) { return kind == Kind::List || kind == Kind::Holes; }
constexpr bool is_scalar(Kind kind) { return kind >= Kind::Scalar && kind <= Kind::Factor; }
constexpr bool is_pointer(Kind kind) { return kind < Kind::Integer; }
constexpr bool is_required(Kind kind) {
  return is_pointer(kind) && kind != Kind::MaybeScalar && kind != Kind::MaybeInts;
}

struct Parameter {
  const char *name;
  Kind kind;
};

// One argument of a call, of whatever C type.
struct Word {
  const void *pointer = nullptr;
  int64_t integer = 0;
  double real = 0;
  Word() = default;
  Word(const void *p) : pointer(p) {}
  Word(int64_t i) : integer(i) {}
  Word(bool b) : integer(b) {}
  Word(double d) : real(d) {}
  Word(aclDataType d) : integer(d) {}
};

struct Call;

// An operator: static data.
struct Page {
  std::span<const Parameter> parameters = {};
  std::span<const Check<Call>> checks = {};
  // The plan, whose memory comes from the builder; nullptr when memory is exhausted.
  const void *(*lower)(const Call &call, ExecutorBuilder &builder) = nullptr;
  int32_t (*run)(const void *plan, std::byte *const *addresses, std::byte *workspace,
                 Text &why) = nullptr;
  bool (*small)(const void *plan) = nullptr;

  Types inputs = elementwise::kAll;   // dtypes of input tensors ...
  Types outputs = elementwise::kAll;  // ... and of output tensors
  // Elementwise operators.
  Op op = Op::Move;
  Types common = elementwise::kAll;  // what may be computed in
  bool floats = false;               // integers are computed in float32
  bool any_cast = false;             // the output's dtype need not hold the result's kind
  bool keep_self = false;            // computed in the dtype of the tensor that is written
  bool exact_scalars = true;         // scalars are not rounded to the common dtype first
  int8_t order[3] = {-1, -1, -1};    // parameters that are the operands; -1: as they stand
};

struct Call {
  const Page *page = nullptr;
  const Product *product = nullptr;
  const char *function = nullptr;
  Word words[kMostParameters];
  bool workspaceSize = false, executor = false;  // given
  // By parameter; nullptr: not of that kind, absent, or dead.
  const Tensor *tensors[kMostParameters] = {};
  const Scalar *scalars[kMostParameters] = {};
  const TensorList *lists[kMostParameters] = {};
  const IntArray *ints[kMostParameters] = {};

  // Derived, of elementwise operators.
  int operands[3] = {-1, -1, -1};  // parameters, in the order of the operation
  int output = -1;                 // the parameter that is written, the first of them
  Type common = Type::none;        // what is computed in; none: the inputs have nothing in common
  bool broadcasts = false;         // the inputs do, to:
  uint32_t rank = 0;
  int64_t dims[elementwise::kMostDims] = {};

  const Parameter &parameter(int i) const { return page->parameters[static_cast<size_t>(i)]; }
  int count() const { return static_cast<int>(page->parameters.size()); }
  std::span<const int64_t> shape() const { return {dims, rank}; }
  std::span<const int64_t> values(int i) const {
    return ints[i] != nullptr ? ints[i]->elements() : std::span<const int64_t>{};
  }
};

Type type_of(aclDataType dtype);  // none: not supported
aclDataType dtype_of(Type type);
Type type_of(const Tensor &tensor);

// Whether a dtype can hold values of another's kind (float to integer and complex to real it
// cannot, nor anything but bool be bool).
bool holds_kind(Type from, Type to);

// A tensor as a view of a shape that it broadcasts to.
View view_of(const Tensor &tensor, std::span<const int64_t> shape);
inline View view_of(const Tensor &tensor) { return view_of(tensor, tensor.shape()); }

Call read_call(const Page &page, const Product &product, const char *function,
               std::span<const Word> words, bool workspaceSize, bool executor);

// The value of a scalar in the compute type of `type`; `exact`: without rounding it to `type`
// first. `value` has room for 16 bytes.
void scalar_value(const Scalar &scalar, Type type, bool exact, std::byte *value);

}  // namespace pyaclnn::tensors
