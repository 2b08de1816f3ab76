/// \file
/// The strategy `pool`: a number of threads behind a bounded queue, first in, first out. A queue that is full holds the
/// sources back.
///
/// A node may hold its thread for long: it waits for a client that is slow, or for another flow. When all threads wait
/// and somebody stands in the queue, the pool grows, twice as many threads at a time, up to a bound, and says so. It
/// asks the kernel whether its threads sleep: one that computes would not be helped by another. Only when nobody has
/// left the queue for a tenth of a second is it looked at, so a pool whose flows end pays nothing for this.
#pragma once

#include "flux/strategy/strategy.hpp"

#include <cstddef>
#include <memory>

namespace flux {

class runners;

/// A pool does not grow beyond so many threads, or those that it begins with where they are more.
inline constexpr std::size_t most_pool_threads = 256;

/// So many threads (fewer where no more are to be had), and up to `most` of them when all wait, behind a queue for so
/// many flows. Throws `std::system_error` where there is not one thread.
std::unique_ptr<strategy> make_pool_strategy(runners &all, std::size_t workers, std::size_t queue_capacity,
                                             std::size_t most = most_pool_threads);

} // namespace flux
