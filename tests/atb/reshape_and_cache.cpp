// ReshapeAndCacheOperation: its numbers, and every check with the case just inside.
#include <numeric>

#include "atb_call.hpp"

using namespace atbtest;
using Param = atb::infer::ReshapeAndCacheParam;

namespace {

Session *session;

Param param(int config, int compress = 0) {
  Param p;
  p.kvCacheCfg = static_cast<Param::KvCacheCfg>(config);
  p.compressType = static_cast<Param::CompressType>(compress);
  return p;
}

template <class T>
std::vector<T> filled(int64_t count, T value) {
  return std::vector<T>(static_cast<size_t>(count), value);
}
template <class T>
std::vector<T> counting(int64_t count, T first) {
  std::vector<T> v(static_cast<size_t>(count));
  std::iota(v.begin(), v.end(), first);
  return v;
}

atb::Tensor slots(const std::vector<int32_t> &values) {
  return device(desc(ACL_INT32, {static_cast<int64_t>(values.size())}), values);
}

atb::VariantPack pack(std::initializer_list<atb::Tensor> in, std::initializer_list<size_t> caches) {
  atb::VariantPack p;
  for (const atb::Tensor &t : in) p.inTensors.push_back(t);
  for (size_t i : caches) p.outTensors.push_back(p.inTensors[i]);
  return p;
}

// ---- numbers; 16-bit values are copied, so any bits will do

void c1() {
  std::vector<uint16_t> keys(3 * 2 * 4), values_(3 * 2 * 6);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<uint16_t>(100 + i);
  for (size_t i = 0; i < values_.size(); ++i) values_[i] = static_cast<uint16_t>(500 + i);
  auto p = pack(
      {device(desc(ACL_FLOAT16, {3, 2, 4}), keys), device(desc(ACL_FLOAT16, {3, 2, 6}), values_),
       device(desc(ACL_FLOAT16, {2, 2, 2, 4}), filled<uint16_t>(32, 9)),
       device(desc(ACL_FLOAT16, {2, 2, 2, 6}), filled<uint16_t>(48, 9)), slots({3, -1, 0})},
      {2, 3});
  atb::Operation *op = make(param(0));
  uint64_t workspace = 1;
  tap::equal(session->run(op, p, &workspace), 0, "C1 runs");
  tap::equal(workspace % 512, 0u, "C1 workspace is a multiple of 512");
  auto wanted = [&](const std::vector<uint16_t> &rows, size_t row) {
    std::vector<uint16_t> cache(4 * row, 9);
    std::copy(rows.begin(), rows.begin() + static_cast<long>(row),
              cache.begin() + static_cast<long>(3 * row));
    std::copy(rows.begin() + static_cast<long>(2 * row), rows.begin() + static_cast<long>(3 * row),
              cache.begin());
    return cache;
  };
  tap::ok(values<uint16_t>(p.inTensors[2]) == wanted(keys, 8), "C1 keys");
  tap::ok(values<uint16_t>(p.inTensors[3]) == wanted(values_, 12),
          "C1 values, of another head size");
  atb::DestroyOperation(op);
}

}  // namespace

int main() {
  Session s;
  session = &s;
  c1();
  return tap::done();
}
