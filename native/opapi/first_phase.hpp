// What the first phase of every operator begins and ends with.
#pragma once

#include <cstdint>

#include "nnopbase/rule.hpp"
#include "product/product.hpp"

namespace pyaclnn {

// The product whose rules judge this call; nullptr, with a text, when the libraries are a mixture
// of builds or the environment names no known product (the call answers 561000).
const Product *product_for_call(const char *function) noexcept;

// Queues a text and returns 561101.
int32_t out_of_memory(const char *function) noexcept;

}  // namespace pyaclnn
