#include "opapi/tensor_call.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "elementwise/convert.hpp"

namespace pyaclnn::tensors {

using namespace elementwise;

namespace {

constexpr aclDataType kDtypes[] = {
    ACL_FLOAT16, ACL_BF16,   ACL_FLOAT, ACL_DOUBLE,    ACL_INT8,
    ACL_INT16,   ACL_INT32,  ACL_INT64, ACL_UINT8,     ACL_UINT16,
    ACL_UINT32,  ACL_UINT64, ACL_BOOL,  ACL_COMPLEX64, ACL_COMPLEX128,
};
static_assert(std::size(kDtypes) == kTypes);

// The type that two categories of operands have in common: the lower one matters where its kind is
// above that of the higher one.
Type combined(Type higher, Type lower) {
  if (higher == Type::none) return lower;
  if (lower == Type::none || is_complex(higher)) return higher;
  if (is_float(higher)) {
    if (!is_complex(lower)) return higher;
    return higher == Type::f64 ? Type::c128 : Type::c64;
  }
  if (higher == Type::b8 || is_float(lower) || is_complex(lower)) return promote(higher, lower);
  return higher;
}

// What a bare number counts as: its kind in the default width.
Type default_of(Type type) {
  if (is_complex(type)) return Type::c64;
  if (is_float(type)) return Type::f32;
  return is_integer(type) ? Type::i64 : Type::b8;
}

// Tensors with dimensions come before tensors without, these before numbers.
class Promotion {
 public:
  void add(Type type, int category) {
    Type &place = categories_[category];
    failed_ |= type == Type::none;
    place = place == Type::none ? type : promote(place, type);
    failed_ |= place == Type::none;
  }
  Type result() const {
    if (failed_) return Type::none;
    return combined(categories_[0], combined(categories_[1], categories_[2]));
  }

 private:
  Type categories_[3] = {Type::none, Type::none, Type::none};
  bool failed_ = false;
};

bool fits(const Scalar &scalar, Type type) {
  const Type own = type_of(scalar.dtype);
  if (!is_integer(own) || !is_integer(type)) return true;
  std::byte there[8], back[8];
  convert_run(scalar.value, own, there, type, 1);
  convert_run(there, type, back, own, 1);
  return std::memcmp(back, scalar.value, size_of(own)) == 0;
}

void find_common(Call &c) {
  const Page &page = *c.page;
  if (page.keep_self) {
    if (c.tensors[c.output] != nullptr) c.common = type_of(*c.tensors[c.output]);
    return;
  }
  Promotion promotion;
  bool fitting = true;
  for (int i = page.op == Op::Where ? 1 : 0; i < inputs_of(page.op); ++i) {
    const int p = c.operands[i];
    if (const Tensor *t = c.tensors[p]) promotion.add(type_of(*t), t->rank == 0 ? 1 : 0);
    if (const Scalar *s = c.scalars[p]) {
      const Type type = type_of(s->dtype);
      promotion.add(type == Type::none ? type : default_of(type), 2);
    }
  }
  c.common = promotion.result();
  if (c.common == Type::none) return;
  if (page.floats && !is_float(c.common) && !is_complex(c.common)) c.common = Type::f32;
  // A comparison with a number beyond the dtype is still one of values.
  for (int p : c.operands) {
    if (p >= 0 && c.scalars[p] != nullptr) fitting &= fits(*c.scalars[p], c.common);
  }
  if (is_predicate(page.op) && !fitting && !has(kWideUnsigned, c.common)) c.common = Type::i64;
}

void find_shape(Call &c) {
  c.broadcasts = true;
  for (int i = 0; i < inputs_of(c.page->op); ++i) {
    const Tensor *t = c.tensors[c.operands[i]];
    if (t == nullptr) continue;
    if (t->rank > kMostDims) {
      c.broadcasts = false;
      return;
    }
    if (t->rank > c.rank) {
      std::move_backward(c.dims, c.dims + c.rank, c.dims + t->rank);
      std::fill_n(c.dims, t->rank - c.rank, 1);
      c.rank = t->rank;
    }
    for (uint32_t k = 0; k < t->rank; ++k) {
      int64_t &dim = c.dims[c.rank - t->rank + k];
      if (dim == 1) {
        dim = t->dims[k];
      } else if (t->dims[k] != 1 && t->dims[k] != dim) {
        c.broadcasts = false;
      }
    }
  }
}

}  // namespace

Type type_of(aclDataType dtype) {
  const auto *found = std::find(std::begin(kDtypes), std::end(kDtypes), dtype);
  return static_cast<Type>(found - std::begin(kDtypes));
}
aclDataType dtype_of(Type type) {
  return type == Type::none ? ACL_DT_UNDEFINED : kDtypes[static_cast<size_t>(type)];
}
Type type_of(const Tensor &tensor) { return type_of(tensor.dtype); }

bool holds_kind(Type from, Type to) {
  if (is_complex(from) && !is_complex(to)) return false;
  if (is_float(from) && (is_integer(to) || to == Type::b8)) return false;
  return from == Type::b8 || to != Type::b8;
}

View view_of(const Tensor &tensor, std::span<const int64_t> shape) {
  View view{.rank = static_cast<uint32_t>(shape.size())};
  const uint32_t missing = view.rank - tensor.rank;
  for (uint32_t i = 0; i < view.rank; ++i) {
    view.dims[i] = shape[i];
    const bool repeats = i < missing || tensor.dims[i - missing] == 1;
    view.strides[i] = repeats ? 0 : tensor.stride[i - missing];
  }
  return view;
}

Call read_call(const Page &page, const Product &product, const char *function,
               std::span<const Word> words, bool workspaceSize, bool executor) {
  Call c;
  c.page = &page;
  c.product = &product;
  c.function = function;
  c.workspaceSize = workspaceSize;
  c.executor = executor;
  int operands = 0;
  for (int i = 0; i < c.count(); ++i) {
    const Kind kind = c.parameter(i).kind;
    const Word &word = c.words[i] = words[static_cast<size_t>(i)];
    if (is_output(kind) && c.output < 0) c.output = i;
    if ((is_input(kind) || kind == Kind::Scalar || kind == Kind::MaybeScalar) && operands < 3) {
      c.operands[operands++] = i;
    }
    if (!is_pointer(kind) || word.pointer == nullptr) continue;
    if (is_tensor(kind)) c.tensors[i] = find_handle<Tensor>(word.pointer);
    if (is_scalar(kind)) c.scalars[i] = find_handle<Scalar>(word.pointer);
    if (is_list(kind)) c.lists[i] = find_handle<TensorList>(word.pointer);
    if (kind == Kind::Ints || kind == Kind::MaybeInts) {
      c.ints[i] = find_handle<IntArray>(word.pointer);
    }
  }
  if (page.order[0] >= 0) std::copy(page.order, page.order + 3, c.operands);
  for (int i = 0; i < inputs_of(page.op); ++i) {
    if (c.operands[i] < 0) return c;  // not elementwise
  }
  find_shape(c);
  find_common(c);
  return c;
}

void scalar_value(const Scalar &scalar, Type type, bool exact, std::byte *value) {
  const Type own = type_of(scalar.dtype);
  if (exact) return convert_run(scalar.value, own, value, native_type(compute_of(type)), 1);
  std::byte rounded[16];
  convert_run(scalar.value, own, rounded, type, 1);
  load_of(type)(rounded, value, 1);
}

}  // namespace pyaclnn::tensors
