// Memory of operations and contexts. ATB's interface hands out plain pointers; so that a second
// destruction is answered, as those of handles are, their memory is used again for objects of the
// same kind only, the longest dead first.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pyaclnn::atb {

// For the operators new and delete of their classes.
void *take_object(size_t bytes);
void return_object(void *object) noexcept;

enum class Ending : uint8_t {
  Now,      // the caller, and nobody else, destroys it
  Before,   // it is destroyed, or being destroyed
  Foreign,  // of a class of the program's own
};
Ending end_object(const void *object) noexcept;

}  // namespace pyaclnn::atb
