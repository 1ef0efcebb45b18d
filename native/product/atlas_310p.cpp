#include "product/rows.hpp"

namespace pyaclnn {

// Atlas inference products with the 310P chip: float16 only.
constexpr Product kAtlas310P{
    .id = ProductId::Atlas310P,
    .key = "atlas-310p",
    .title = "Atlas 310P",
    .soc = "Ascend310P3",
    .ai_cores = 8,
    .cube_cores = 8,
    .vector_cores = 7,
    .l2_bytes = 16777216,
    .bf16 = false,
};

}  // namespace pyaclnn
