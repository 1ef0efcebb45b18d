#include "nnopbase/room.hpp"

#include "acl/memory_state.hpp"
#include "nnopbase/names.hpp"
#include "support/log.hpp"

namespace pyaclnn {
namespace {

// From the first element of the view to behind its last one.
int64_t reach(const Tensor &tensor, bool output) {
  if (output) return tensor.count;
  int64_t last = 0;
  for (uint32_t i = 0; i < tensor.rank; ++i) {
    if (tensor.stride[i] > 0) last += (tensor.dims[i] - 1) * tensor.stride[i];
  }
  return last + 1;
}

void tell(Text &text, uint64_t needed, size_t left) {
  text << " needs " << needed << " bytes, but its block of aclrtMalloc has only " << left
       << " from its address on: what is behind is read or written all the same";
  log(LogLevel::Error, text);
}

}  // namespace

void look_for_room(const char *op, const Tensor &tensor, const std::byte *address,
                   bool output) noexcept {
  if (address == nullptr || tensor.count <= 0 || !tensor.inside) return;
  const int64_t needed = bytes_of_elements(reach(tensor, output), tensor.dtype);
  const size_t left = block_at(address).left;
  if (static_cast<uint64_t>(needed) <= left) return;
  Text text;
  text << op << ": a tensor of shape " << tensor.shape() << ' ' << dtype_name(tensor.dtype);
  tell(text, needed, left);
}

void look_for_room(const char *op, const void *workspace, uint64_t bytes) noexcept {
  if (workspace == nullptr) return;
  const size_t left = block_at(workspace).left;
  if (bytes <= left) return;
  Text text;
  text << op << ": workspace";
  tell(text, bytes, left);
}

}  // namespace pyaclnn
