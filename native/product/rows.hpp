// The product rows. Adding a product: one file with its row, one line here, one in lookup.cpp.
#pragma once

#include "product/product.hpp"

namespace pyaclnn {

extern const Product kAtlasA2;
extern const Product kAtlasA3;
extern const Product kAscend950;
extern const Product kAtlas310P;
extern const Product kAtlas910;

}  // namespace pyaclnn
