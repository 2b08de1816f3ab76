/// \file
/// The idle streams of a source that have input, first in first out: linked through themselves, so that to be in it
/// takes no memory.
#pragma once

#include "flux/io/direction.hpp"

#include <utility>

namespace flux {

/// Of streams that have a `next` for it alone, on one loop.
template <class Stream>
class ready_queue
{
  public:
    /// Who waits for streams waits for this direction, which is set by each.
    explicit ready_queue(direction &awaited) noexcept : awaited_(awaited) {}
    ready_queue(const ready_queue &) = delete;
    ready_queue &operator=(const ready_queue &) = delete;

    bool empty() const noexcept { return first_ == nullptr; }

    void push(Stream &last) noexcept
    {
        last.next = nullptr;
        (empty() ? first_ : last_->next) = &last;
        last_ = &last;
        awaited_.set();
    }

    /// Null where it is empty.
    Stream *pop() noexcept { return empty() ? nullptr : std::exchange(first_, first_->next); }

  private:
    direction &awaited_;
    Stream *first_ = nullptr;
    Stream *last_ = nullptr;
};

} // namespace flux
