// TransdataOperation: between ND and the fractal format NZ.
#include <algorithm>
#include <cstring>

#include "acl/acl_base.h"
#include "atb/fractal.hpp"
#include "atb/infer_op_params.h"
#include "atb/operation.hpp"
#include "support/pool.hpp"

namespace pyaclnn::atb {
namespace {

using Param = infer::TransdataParam;

struct Limits : Row {};
constexpr Limits kLimits[] = {
    {{ProductId::AtlasA2}},   {{ProductId::AtlasA3}},  {{ProductId::Ascend950, false}},
    {{ProductId::Atlas310P}}, {{ProductId::Atlas910}},
};

using Call = OperationCall<Param, Limits>;
using Rule = pyaclnn::Rule<Call>;

enum : size_t { kX };
enum : size_t { kOut };

bool to_nz(const Call &c) { return c.param.transdataType == Param::ND_TO_FRACTAL_NZ; }
bool to_nd(const Call &c) { return c.param.transdataType == Param::FRACTAL_NZ_TO_ND; }

constexpr Slot<Call> kInputs[] = {{"x"}};
constexpr Slot<Call> kOutputs[] = {{"out"}};
constexpr Signature kToNz[] = {"h > hZ", "i8 > i8Z", "b > bZ"};
constexpr Signature kToNd[] = {"hZ > h", "bZ > b"};
constexpr SignatureGroup<Call> kSignatures[] = {{to_nz, kToNz}, {to_nd, kToNd}};

constexpr Check<Call> kCreate[] = {
    {&kReserved<Call>, ::atb::ERROR_INVALID_PARAM},
    {&kOffered<Call>, ::atb::ERROR_CANN_ERROR},
};

// Columns of a group.
int64_t columns(const Call &c) { return c.desc(kX)->dtype == ACL_INT8 ? 32 : kFractal; }

bool rank_fits(const Call &c) {
  return to_nz(c) ? c.rank(kX) == 2 || c.rank(kX) == 3 : c.rank(kX) == 4;
}
bool nz_ranked(const Call &c) { return sound(c) && c.rank(kX) == 4; }
bool cropped(const Call &c) { return nz_ranked(c) && c.param.outCrops.size() == 2; }
bool crop_fits(int64_t crop, int64_t extent) {
  const int64_t padded = round_up(extent, kFractal);
  return crop > padded - kFractal && crop <= padded;
}
// What the input holds, padding included: rows and columns.
int64_t nz_rows(const Call &c) { return c.dim(kX, 2); }
int64_t nz_columns(const Call &c) { return c.dim(kX, 1) * c.dim(kX, 3); }

constexpr Rule kType{"TRANSDATA-TYPE", "transdataType", nullptr,
                     [](const Call &c) { return to_nz(c) || to_nd(c); },
                     [](const Call &c, Saying &s) {
                       s.value << static_cast<int>(c.param.transdataType);
                       s.limit << "must be 1 (FRACTAL_NZ_TO_ND) or 2 (ND_TO_FRACTAL_NZ)";
                     }};
constexpr Rule kRank{"TRANSDATA-RANK", "x", sound, rank_fits, [](const Call &c, Saying &s) {
                       say_shape(c.desc(kX), s.value);
                       s.limit << "must have " << (to_nz(c) ? "2 or 3" : "4") << " dimensions";
                     }};
constexpr Rule kCropCount{"TRANSDATA-CROP-COUNT",
                          "outCrops",
                          nullptr,
                          [](const Call &c) { return c.param.outCrops.size() == 2; },
                          [](const Call &c, Saying &s) {
                            s.value << c.param.outCrops.size() << " numbers";
                            s.limit << "must be 2";
                          },
                          to_nd};
constexpr Rule kCrops{"TRANSDATA-CROPS",
                      "outCrops",
                      cropped,
                      [](const Call &c) {
                        return crop_fits(c.param.outCrops[0], nz_rows(c)) &&
                               crop_fits(c.param.outCrops[1], nz_columns(c));
                      },
                      [](const Call &c, Saying &s) {
                        s.value << c.param.outCrops[0] << " and " << c.param.outCrops[1];
                        const int64_t rows = round_up(nz_rows(c), kFractal);
                        const int64_t width = round_up(nz_columns(c), kFractal);
                        s.limit << "must be " << rows - kFractal + 1 << " .. " << rows << " and "
                                << width - kFractal + 1 << " .. " << width
                                << ", from the shape of x";
                      },
                      to_nd};
constexpr Check<Call> kInfer[] = {
    {&kType, ::atb::ERROR_INVALID_PARAM},
    {&kRank, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kCropCount, ::atb::ERROR_INVALID_PARAM},
    {&kCrops, ::atb::ERROR_INVALID_PARAM},
};

void describe(const Call &c, SVector<TensorDesc> &outputs) {
  const TensorDesc &x = *c.desc(kX);
  TensorDesc out = x;
  if (to_nz(c)) {
    const size_t rank = static_cast<size_t>(x.shape.dimNum);
    out.format = ACL_FORMAT_FRACTAL_NZ;
    out.shape.dimNum = 4;
    out.shape.dims[0] = rank == 3 ? x.shape.dims[0] : 1;
    out.shape.dims[1] = (x.shape.dims[rank - 1] + columns(c) - 1) / columns(c);
    out.shape.dims[2] = round_up(x.shape.dims[rank - 2], kFractal);
    out.shape.dims[3] = columns(c);
  } else {
    out.format = ACL_FORMAT_ND;
    out.shape.dimNum = 3;
    out.shape.dims[1] = c.param.outCrops[0];
    out.shape.dims[2] = c.param.outCrops[1];
  }
  outputs[kOut] = out;
}

bool described(const Call &c) {
  return sound(c) && (to_nz(c) || to_nd(c)) && rank_fits(c) &&
         (to_nz(c) || c.param.outCrops.size() == 2);
}
constexpr Rule kOutRank{
    "TRANSDATA-OUT-RANK", "out", sound,
    [](const Call &c) { return Facts::rank_of(c.out_desc(kOut)) == (to_nz(c) ? 4 : 3); },
    [](const Call &c, Saying &s) {
      say_shape(c.out_desc(kOut), s.value);
      s.limit << "must have " << (to_nz(c) ? 4 : 3) << " dimensions";
    }};
constexpr Check<Call> kOutCheck[] = {{&kOutRank, ::atb::ERROR_INVALID_TENSOR_DIM}};
constexpr auto kSetup = joined<Call>(kInfer, kOutCheck);
// Not looked at by the device, which would read and write behind the end: crops go up to a multiple
// of 16, whatever the input holds.
constexpr Rule kExtent{"TRANSDATA-EXTENT",
                       "outCrops",
                       cropped,
                       [](const Call &c) {
                         return c.param.outCrops[0] <= nz_rows(c) &&
                                c.param.outCrops[1] <= nz_columns(c);
                       },
                       [](const Call &c, Saying &s) {
                         s.value << c.param.outCrops[0] << " and " << c.param.outCrops[1];
                         s.limit << "must be at most the rows and columns of x, " << nz_rows(c)
                                 << " and " << nz_columns(c);
                       },
                       to_nd};
constexpr Rule kOutShape{"TRANSDATA-OUT-SHAPE", "out", described,
                         [](const Call &c) {
                           const TensorDesc wanted = first_output(c, describe);
                           return same_desc(wanted, *c.out_desc(kOut));
                         },
                         [](const Call &c, Saying &s) {
                           const TensorDesc wanted = first_output(c, describe);
                           say_shape(c.out_desc(kOut), s.value);
                           s.limit << "must be as InferShape says: ";
                           say_shape(&wanted, s.limit);
                         }};
constexpr Check<Call> kKernelChecks[] = {
    {&kExtent, ::atb::ERROR_INVALID_TENSOR_DIM},
    {&kOutShape, ::atb::ERROR_INVALID_TENSOR_DIM},
};

// ---- the work

struct TransdataPlan final : Plan {
  bool to_fractal = false;
  int64_t batch = 0, rows = 0, columns = 0;       // of the ND side
  int64_t groups = 0, group_rows = 0, width = 0;  // of the NZ side
  int64_t element = 0;                            // bytes

  int32_t run(std::span<std::byte *const> addresses, std::byte *, Text &why) const override {
    for (size_t i = 0; i < 2; ++i) {
      if (addresses[i] == nullptr) return null_data(i == 0 ? "x" : "out", why);
    }
    struct Work {
      const TransdataPlan *plan;
      std::span<std::byte *const> addresses;
    } work{this, addresses};
    auto one = [](void *context, int64_t item) {
      const Work &w = *static_cast<const Work *>(context);
      w.plan->move_group(w.addresses[0], w.addresses[1], item / w.plan->groups,
                         item % w.plan->groups);
    };
    if (small) {
      for (int64_t i = 0; i < batch * groups; ++i) one(&work, i);
    } else {
      pool_run(batch * groups, one, &work);
    }
    return 0;
  }

  // A group of columns of all rows.
  void move_group(const std::byte *from, std::byte *to, int64_t b, int64_t g) const {
    const int64_t used = std::clamp<int64_t>(columns - g * width, 0, width) * element;
    const int64_t nz = ((b * groups + g) * group_rows) * width * element;
    const int64_t nd = (b * rows * columns + g * width) * element;
    for (int64_t r = 0; r < (to_fractal ? group_rows : rows); ++r) {
      const int64_t in_nz = nz + r * width * element, in_nd = nd + r * columns * element;
      if (!to_fractal) {
        std::memcpy(to + in_nd, from + in_nz, static_cast<size_t>(used));
        continue;
      }
      const int64_t filled = r < rows ? used : 0;
      if (filled != 0) std::memcpy(to + in_nz, from + in_nd, static_cast<size_t>(filled));
      std::memset(to + in_nz + filled, 0, static_cast<size_t>(width * element - filled));
    }
  }
};

std::unique_ptr<Plan> lower(const Call &c) {
  auto plan = std::make_unique<TransdataPlan>();
  const TensorDesc &x = *c.desc(kX), &out = *c.out_desc(kOut);
  const TensorDesc &nz = to_nz(c) ? out : x, &nd = to_nz(c) ? x : out;
  const size_t rank = static_cast<size_t>(nd.shape.dimNum);
  plan->to_fractal = to_nz(c);
  plan->batch = nz.shape.dims[0];
  plan->rows = nd.shape.dims[rank - 2];
  plan->columns = nd.shape.dims[rank - 1];
  plan->groups = nz.shape.dims[1];
  plan->group_rows = nz.shape.dims[2];
  plan->width = nz.shape.dims[3];
  plan->element = static_cast<int64_t>(aclDataTypeSize(x.dtype));
  plan->small = static_cast<int64_t>(bytes_of(nz)) <= kInlineBytes;
  return plan;
}

constexpr Definition<Call> kDefinition{
    .name = "TransdataOperation",
    .limits = kLimits,
    .inputs = kInputs,
    .outputs = kOutputs,
    .signatures = kSignatures,
    .create = kCreatePath<Call, kCreate>,
    .infer = kInferPath<Call, kInfer>,
    .setup = kSetupPath<Call, kSetup, kKernelChecks>,
    .describe = describe,
    .lower = lower,
};
Registration<kDefinition> g_registration;

}  // namespace
}  // namespace pyaclnn::atb

template <>
ACL_FUNC_VISIBILITY atb::Status atb::CreateOperation(const infer::TransdataParam &opParam,
                                                     Operation **operation) {
  return pyaclnn::atb::create(pyaclnn::atb::kDefinition, opParam, operation);
}
