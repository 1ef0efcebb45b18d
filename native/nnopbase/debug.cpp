#include "pyaclnn/debug.h"

void pyaclnnFreeDims(int64_t *dims) { delete[] dims; }
