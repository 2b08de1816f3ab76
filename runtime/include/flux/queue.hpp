/// \file
/// The queue between the sources and the threads of a pool: first in, first out, and bounded, so that a server under
/// more load than it can bear holds its sources back and with them, through the kernel's backlog, its clients.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace flux {

class flow;

/// A bounded queue of flows, linked through the flows themselves: it allocates nothing.
class queue
{
  public:
    /// For at most `capacity` flows, at least 1.
    explicit queue(std::size_t capacity) noexcept : capacity_(capacity) {}

    /// Appends the flow, waiting while the queue is full.
    void push(flow &started) noexcept;

    /// Takes the first flow, waiting while there is none; null when the queue is closed and empty.
    flow *pop() noexcept;

    /// Nothing will be pushed any more.
    void close() noexcept;

  private:
    const std::size_t capacity_;
    std::mutex lock_;
    std::condition_variable not_full_;
    std::condition_variable not_empty_;
    std::size_t size_ = 0;
    std::size_t idle_ = 0;
    bool closed_ = false;
    flow *first_ = nullptr;
    flow *last_ = nullptr;
};

} // namespace flux
