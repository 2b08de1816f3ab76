// Time, by the clock of whatever runs the flow.

#include "timer.flux.h"

#include "flux/sleep.hpp"

#include <chrono>

namespace timer {

int Wait(Wait_in *in)
{
    return flux::sleep_for(std::chrono::milliseconds(in->time_ms));
}

} // namespace timer
