#include "product/rows.hpp"

namespace pyaclnn {

// Atlas training products with the first 910 chip: float16 only.
constexpr Product kAtlas910{
    .id = ProductId::Atlas910,
    .key = "atlas-910",
    .title = "Atlas 910",
    .soc = "Ascend910A",
    .ai_cores = 32,
    .cube_cores = 32,
    .vector_cores = 32,
    .l2_bytes = 33554432,
    .bf16 = false,
};

}  // namespace pyaclnn
