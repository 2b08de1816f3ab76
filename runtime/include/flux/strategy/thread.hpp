/// \file
/// The strategy `thread`: a new thread for every flow. Its source's bound of flows in progress bounds the threads.
/// Where no thread can be had, the source's own runs the flow: that holds the source back, and nothing is lost.
#pragma once

#include "flux/strategy/strategy.hpp"

#include <memory>

namespace flux {

class runners;

/// A thread for each flow.
std::unique_ptr<strategy> make_thread_strategy(runners &all);

} // namespace flux
