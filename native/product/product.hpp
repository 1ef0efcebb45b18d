// Products are rows: code asks a row for a capability or a limit, never which product it is.
#pragma once

#include <cstdint>

#include "support/api.hpp"

namespace pyaclnn {

enum class ProductId : uint8_t { AtlasA2, AtlasA3, Ascend950, Atlas310P, Atlas910 };

struct Product {
  ProductId id;
  const char *key;    // "atlas-a2": the value of PYACLNN_PRODUCT
  const char *title;  // "Atlas A2", for texts
  const char *soc;    // default SoC name, "Ascend910B3"
  int64_t ai_cores, cube_cores, vector_cores, l2_bytes;
  bool bf16;  // aclGetCannAttribute(ACL_CANN_ATTR_BF16)
};

// The row in force: pyaclnnSetProduct, else PYACLNN_PRODUCT (a key or a SoC name), else Atlas A2.
// nullptr when the environment names no known product.
PYACLNN_API const Product *current_product() noexcept;

// The SoC name in force: the one that was asked for by name, else the row's default.
PYACLNN_API const char *current_soc() noexcept;

// Accepts a key or a SoC name; false, and no change, when it is unknown.
PYACLNN_API bool set_product(const char *name) noexcept;

// A sentence about a PYACLNN_PRODUCT that names no known product and is in force; nullptr when all
// is well.
PYACLNN_API const char *product_error() noexcept;

// "atlas-a2, atlas-a3, ..." for texts.
PYACLNN_API const char *product_names() noexcept;

}  // namespace pyaclnn
