// The binary interface as a program sees it: sizes, offsets, defaults, the order of virtual
// functions, and SVector, which programs compile into themselves. C++11 to C++20.
#include <cstddef>
#include <type_traits>

#include "atb/atb_acl.h"
#include "atb/atb_infer.h"
#include "tap.hpp"

using namespace atb;
using namespace atb::infer;

#define AT(type, field, where) \
  static_assert(offsetof(type, field) == where, #type "::" #field " is elsewhere")
#define SIZE(type, bytes) static_assert(sizeof(type) == bytes, #type " has another size")

SIZE(Dims, 72);
AT(Dims, dimNum, 64);
SIZE(TensorDesc, 80);
AT(TensorDesc, dtype, 0);
AT(TensorDesc, format, 4);
AT(TensorDesc, shape, 8);
SIZE(Tensor, 104);
AT(Tensor, desc, 0);
AT(Tensor, deviceData, 80);
AT(Tensor, hostData, 88);
AT(Tensor, dataSize, 96);
SIZE(SVector<Tensor>, 6784);
SIZE(SVector<TensorDesc>, 5224);
SIZE(SVector<int64_t>, 544);
SIZE(VariantPack, 13568);
AT(VariantPack, outTensors, 6784);
SIZE(Operation, 8);
SIZE(Context, 8);
SIZE(ExecuteType, 4);
SIZE(LaunchMode, 4);
SIZE(LogLevel, 4);
SIZE(ErrorType, 4);
static_assert(std::is_same<Status, int32_t>::value, "Status");
static_assert(MAX_DIM == 8, "MAX_DIM");
static_assert(ERROR_INVALID_PARAM == 1 && ERROR_INVALID_TENSOR_DIM == 8 &&
                  ERROR_INVALID_TENSOR_INI_MATCH == 13 && ERROR_INVALID_TENSOR_DIM_NUM == 16 &&
                  ERROR_INVALID_OPERATION_ADDR == 24 && ERROR_OUT_OF_HOST_MEMORY == 27 &&
                  ERROR_COPY_HOST_MEMORY_FAIL == 29,
              "ErrorType");

SIZE(SelfAttentionParam, 144);
static_assert(alignof(SelfAttentionParam) == 4, "SelfAttentionParam");
AT(SelfAttentionParam, quantType, 0);
AT(SelfAttentionParam, outDataType, 4);
AT(SelfAttentionParam, headNum, 8);
AT(SelfAttentionParam, kvHeadNum, 12);
AT(SelfAttentionParam, qScale, 16);
AT(SelfAttentionParam, qkScale, 20);
AT(SelfAttentionParam, batchRunStatusEnable, 24);
AT(SelfAttentionParam, isTriuMask, 28);
AT(SelfAttentionParam, calcType, 32);
AT(SelfAttentionParam, kernelType, 36);
AT(SelfAttentionParam, clampType, 40);
AT(SelfAttentionParam, clampMin, 44);
AT(SelfAttentionParam, clampMax, 48);
AT(SelfAttentionParam, maskType, 52);
AT(SelfAttentionParam, kvcacheCfg, 56);
AT(SelfAttentionParam, scaleType, 60);
AT(SelfAttentionParam, inputLayout, 64);
AT(SelfAttentionParam, mlaVHeadSize, 68);
AT(SelfAttentionParam, cacheType, 72);
AT(SelfAttentionParam, windowSize, 76);
AT(SelfAttentionParam, rsv, 80);
SIZE(SelfAttentionParam::CacheType, 1);

SIZE(PagedAttentionParam, 120);
static_assert(alignof(PagedAttentionParam) == 4, "PagedAttentionParam");
AT(PagedAttentionParam, headNum, 0);
AT(PagedAttentionParam, qkScale, 4);
AT(PagedAttentionParam, kvHeadNum, 8);
AT(PagedAttentionParam, maskType, 12);
AT(PagedAttentionParam, batchRunStatusEnable, 16);
AT(PagedAttentionParam, quantType, 20);
AT(PagedAttentionParam, outDataType, 24);
AT(PagedAttentionParam, hasQuantOffset, 28);
AT(PagedAttentionParam, compressType, 32);
AT(PagedAttentionParam, calcType, 36);
AT(PagedAttentionParam, scaleType, 40);
AT(PagedAttentionParam, inputLayout, 44);
AT(PagedAttentionParam, mlaVHeadSize, 48);
AT(PagedAttentionParam, qScale, 52);
AT(PagedAttentionParam, rsv, 56);

SIZE(ReshapeAndCacheParam, 24);
AT(ReshapeAndCacheParam, compressType, 0);
AT(ReshapeAndCacheParam, kvCacheCfg, 4);
AT(ReshapeAndCacheParam, rsv, 8);

SIZE(ElewiseParam, 64);
SIZE(ElewiseParam::QuantParam, 32);
SIZE(ElewiseParam::MulsParam, 16);
AT(ElewiseParam, elewiseType, 0);
AT(ElewiseParam, quantParam, 4);
AT(ElewiseParam, mulsParam, 36);
AT(ElewiseParam, outTensorType, 52);
AT(ElewiseParam, rsv, 56);
static_assert(ElewiseParam::ELEWISE_TANH == 20 && ElewiseParam::ELEWISE_SUB == 15, "ElewiseType");

SIZE(TransdataParam, 560);
AT(TransdataParam, transdataType, 0);
AT(TransdataParam, outCrops, 8);
AT(TransdataParam, rsv, 552);

SIZE(RopeParam, 16);
AT(RopeParam, cosFormat, 4);
SIZE(LinearParam, 32);
AT(LinearParam, transposeB, 1);
AT(LinearParam, hasBias, 2);
AT(LinearParam, outDataType, 4);
AT(LinearParam, enAccum, 8);
AT(LinearParam, matmulType, 9);
AT(LinearParam, quantMode, 10);
AT(LinearParam, rsv, 11);
SIZE(RmsNormParam, 144);
AT(RmsNormParam, normParam, 8);
AT(RmsNormParam, preNormParam, 72);
AT(RmsNormParam, postNormParam, 104);
AT(RmsNormParam, rsv, 136);
SIZE(GroupTopkParam, 24);
AT(GroupTopkParam, k, 4);
AT(GroupTopkParam, groupMultiFlag, 8);
AT(GroupTopkParam, n, 10);
AT(GroupTopkParam, rsv, 12);

namespace {

void defaults() {
  const SelfAttentionParam s;
  tap::ok(s.outDataType == ACL_DT_UNDEFINED && s.headNum == 0 && s.qScale == 1 && s.qkScale == 1 &&
              s.calcType == SelfAttentionParam::UNDEFINED && s.rsv[63] == 0,
          "defaults of SelfAttentionParam");
  const PagedAttentionParam p;
  tap::ok(p.qkScale == 1 && p.qScale == 0 && p.outDataType == ACL_DT_UNDEFINED && p.rsv[63] == 0,
          "defaults of PagedAttentionParam");
  const TransdataParam t;
  tap::ok(t.outCrops.size() == 2 && t.outCrops[0] == 0 && t.outCrops[1] == 0,
          "defaults of TransdataParam");
  const TensorDesc d;
  tap::ok(d.dtype == ACL_DT_UNDEFINED && d.format == ACL_FORMAT_UNDEFINED && d.shape.dimNum == 0,
          "defaults of TensorDesc");
}

#if defined(__x86_64__)
// The place of a virtual function, from the pointer to it (Itanium C++ ABI).
template <class Function>
long place(Function function) {
  long bits = 0;
  static_assert(sizeof(function) >= sizeof(bits), "pointers to members");
  __builtin_memcpy(&bits, &function, sizeof(bits));
  return (bits - 1) / 8;
}
void virtual_functions() {
  // The destructor takes places 0 and 1.
  tap::ok(place(&Operation::GetName) == 2 && place(&Operation::InferShape) == 3 &&
              place(&Operation::GetInputNum) == 4 && place(&Operation::GetOutputNum) == 5 &&
              place(&Operation::Setup) == 6 && place(&Operation::Execute) == 7,
          "order of Operation's virtual functions");
  tap::ok(place(&Context::SetExecuteStream) == 2 && place(&Context::GetExecuteStream) == 3 &&
              place(&Context::SetAsyncTilingCopyStatus) == 4 &&
              place(&Context::GetAsyncTilingCopyStatus) == 5 &&
              place(&Context::SetExecuteStreams) == 6 && place(&Context::GetExecuteStreams) == 7 &&
              place(&Context::SetExecuteType) == 8 && place(&Context::GetExecuteType) == 9 &&
              place(&Context::SetLaunchMode) == 10 && place(&Context::GetLaunchMode) == 11,
          "order of Context's virtual functions");
}
#else
void virtual_functions() {}
#endif

using Numbers = SVector<int64_t>;

Numbers numbers(int64_t count) {
  Numbers v;
  for (int64_t i = 0; i < count; ++i) v.push_back(i);
  return v;
}
bool counts_up(const Numbers &v, int64_t count) {
  if (v.size() != static_cast<size_t>(count)) return false;
  for (int64_t i = 0; i < count; ++i) {
    if (v[static_cast<size_t>(i)] != i) return false;
  }
  return true;
}
bool inside(const Numbers &v) {
  const char *begin = reinterpret_cast<const char *>(&v),
             *at = reinterpret_cast<const char *>(v.data());
  return at >= begin && at < begin + sizeof(v);
}
template <class Exception, class Function>
bool throws(Function function) {
  try {
    function();
  } catch (const Exception &) {
    return true;
  }
  return false;
}

void vectors() {
  Numbers v{3, 1, 2};
  tap::ok(v.size() == 3 && v[0] == 3 && v.at(2) == 2 && *v.begin() == 3 && *(v.end() - 1) == 2,
          "a list");
  tap::ok(Numbers(5).size() == 5 && Numbers(5)[4] == 0 && Numbers(2, 7)[1] == 7, "a size");
  v.insert(1, 9);
  v.insert(4, 8);
  tap::ok(v == Numbers({3, 9, 1, 2, 8}), "insert");
  v.insert(0, v[1]);
  tap::ok(v[0] == 9 && v[1] == 3 && v.size() == 6, "insert one of its own");
  tap::ok(throws<std::out_of_range>([&] { v.insert(7, 0); }), "insert behind the end");
  tap::ok(throws<std::out_of_range>([&] { v[6] = 0; }) &&
              throws<std::out_of_range>([&] { v.at(6) = 0; }),
          "an index behind the end");
  v.clear();
  tap::ok(v.empty() && v.size() == 0, "clear");

  Numbers full = numbers(64);
  tap::ok(counts_up(full, 64) && inside(full), "64 elements are inside");
  full.push_back(64);
  tap::ok(counts_up(full, 65) && !inside(full), "the 65th moves them out");
  const Numbers most = numbers(256);
  tap::ok(counts_up(most, 256), "256 elements");
  Numbers more(most);
  tap::ok(throws<MaxSizeExceeded>([&] { more.push_back(0); }) && counts_up(more, 256),
          "no 257th element");
  tap::ok(throws<MaxSizeExceeded>([&] { more.resize(257); }) &&
              throws<MaxSizeExceeded>([&] { more.reserve(257); }) &&
              throws<MaxSizeExceeded>([] { Numbers(257); }),
          "no size of 257");

  Numbers other;
  other = most;
  tap::ok(counts_up(other, 256) && counts_up(most, 256) && other.data() != most.data(),
          "assignment copies");
  other = numbers(3);
  tap::ok(counts_up(other, 3) && inside(other), "assignment of a short one");

  Numbers outside;
  outside.reserve(65);
  for (int64_t i = 0; i < 3; ++i) outside.push_back(i);
  tap::ok(!inside(outside) && counts_up(outside, 3), "reserve before filling");
  tap::ok(!(outside == numbers(3)) && numbers(3) == outside && outside == Numbers(outside),
          "== looks at where the left one's elements are");
  outside.reserve(100);
  tap::ok(outside.size() == 3 && outside[0] == 0 && outside[2] == 0, "reserve loses the elements");

  Numbers sized = numbers(3);
  sized.resize(2);
  sized.resize(3);
  tap::ok(counts_up(sized, 3), "resize keeps what was there");
  sized.resize(100);
  tap::ok(sized[2] == 2 && sized.size() == 100 && !inside(sized), "resize to 100");
  const Numbers ignored{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  tap::ok(ignored.empty(), "a list of 65 is not taken");

  SVector<Tensor> tensors;
  for (int i = 0; i < 100; ++i) {
    Tensor t;
    t.dataSize = static_cast<uint64_t>(i);
    tensors.push_back(t);
  }
  tap::ok(tensors[99].dataSize == 99 && tensors[63].dataSize == 63, "tensors");
}

void helpers() {
  Tensor t;
  tap::ok(Utils::GetTensorSize(t) == 0 && Utils::GetTensorNumel(t) == 0, "no dimensions: 0");
  t.desc.dtype = ACL_FLOAT16;
  t.desc.shape.dimNum = 2;
  t.desc.shape.dims[0] = 3;
  t.desc.shape.dims[1] = 5;
  tap::ok(Utils::GetTensorSize(t) == 30 && Utils::GetTensorNumel(t.desc) == 15, "3 x 5 halves");
  t.desc.dtype = ACL_DT_UNDEFINED;
  tap::equal(Utils::GetTensorSize(t.desc), 15, "an undefined dtype counts 1");
  t.desc.dtype = static_cast<aclDataType>(99);
  tap::equal(Utils::GetTensorSize(t), 0, "an unknown dtype");
  t.desc.dtype = ACL_INT64;
  t.desc.shape.dims[0] = int64_t(1) << 62;
  tap::equal(Utils::GetTensorSize(t), 0, "more than 64 bits");
  t.desc.shape.dims[0] = -3;
  tap::equal(Utils::GetTensorNumel(t), 0, "a negative dimension");
  t.desc.shape.dimNum = 9;
  tap::equal(Utils::GetTensorNumel(t), 0, "9 dimensions");

  const float scales[] = {1.0f, -2.0f};
  uint64_t bits[] = {~uint64_t(0), ~uint64_t(0), 7};
  Utils::QuantParamConvert(scales, bits, 2);
  tap::ok(bits[0] == 0x3f800000u && bits[1] == 0xc0000000u && bits[2] == 7, "QuantParamConvert");
  tap::ok(!Utils::GetAtbVersion().empty(), "GetAtbVersion");
  tap::equal(Utils::SetLogLevel(static_cast<LogLevel>(5)), ERROR_INVALID_PARAM, "log level 5");
  tap::equal(Utils::SetLogLevel(LogLevel::INFO), NO_ERROR, "log level INFO");
  aclAppLog(ACL_INFO, "f", "file", 1, "%s at level INFO", "written");
  tap::equal(Utils::SetLogLevel(LogLevel::NONE), NO_ERROR, "log level NONE");
  aclAppLog(ACL_ERROR, "f", "file", 2, "not written at level NONE");
  tap::equal(Utils::ResetLogLevel(), NO_ERROR, "ResetLogLevel");
}

}  // namespace

int main() {
  defaults();
  virtual_functions();
  vectors();
  helpers();
  return tap::done();
}
