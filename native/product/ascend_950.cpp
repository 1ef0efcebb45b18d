#include "product/rows.hpp"

namespace pyaclnn {

// Ascend 950PR and 950DT.
constexpr Product kAscend950{
    .id = ProductId::Ascend950,
    .key = "ascend-950",
    .title = "Ascend 950",
    .soc = "Ascend950PR_9599",
    .ai_cores = 32,
    .cube_cores = 32,
    .vector_cores = 64,
    .l2_bytes = 134217728,
    .bf16 = true,
};

}  // namespace pyaclnn
