#include "product/rows.hpp"

namespace pyaclnn {

// Atlas A2 training and inference products: the default row.
constexpr Product kAtlasA2{
    .id = ProductId::AtlasA2,
    .key = "atlas-a2",
    .title = "Atlas A2",
    .soc = "Ascend910B3",
    .ai_cores = 20,
    .cube_cores = 20,
    .vector_cores = 40,
    .l2_bytes = 201326592,
    .bf16 = true,
};

}  // namespace pyaclnn
