#include "product/rows.hpp"

namespace pyaclnn {

// Atlas A3 training and inference products: one die.
constexpr Product kAtlasA3{
    .id = ProductId::AtlasA3,
    .key = "atlas-a3",
    .title = "Atlas A3",
    .soc = "Ascend910_9391",
    .ai_cores = 24,
    .cube_cores = 24,
    .vector_cores = 48,
    .l2_bytes = 201326592,
    .bf16 = true,
};

}  // namespace pyaclnn
