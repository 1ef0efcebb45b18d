// Visibility of what one of our libraries exports to another. Everything else is hidden.
#pragma once

#define PYACLNN_API __attribute__((visibility("default")))
