// What is judged when the work runs: device data is not known before.
#pragma once

#include "attention/geometry.hpp"

namespace pyaclnn::attention {

// Reads and judges all device data of a run, and that needed addresses are not null. In the order
// in which the device would come across a mistake; the first one counts.
Outcome check_device_data(const Problem &p, Addresses addresses);

}  // namespace pyaclnn::attention
