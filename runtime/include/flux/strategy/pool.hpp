/// \file
/// The strategy `pool`: a fixed number of threads behind a bounded queue, first in, first out. A queue that is full
/// holds the sources back.
#pragma once

#include "flux/strategy/strategy.hpp"

#include <cstddef>
#include <memory>

namespace flux {

class runners;

/// So many threads (fewer where no more are to be had) behind a queue for so many flows. Throws `std::system_error`
/// where there is not one thread.
std::unique_ptr<strategy> make_pool_strategy(runners &all, std::size_t workers, std::size_t queue_capacity);

} // namespace flux
