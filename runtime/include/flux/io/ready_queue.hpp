/// \file
/// The idle streams of a source that have input, first in first out: linked through themselves, so that to be in it
/// takes no memory. Each request passes it once, and only the first ever leaves it: so it is linked one way, and no
/// `intrusive_list`, whose links back would be written for nobody.
#pragma once

#include "flux/io/direction.hpp"

#include <utility>

namespace flux {

/// A stream as it is in a queue.
class ready_entry
{
  public:
    /// What the source knows it by.
    void *owner = nullptr;

  private:
    friend class ready_queue;

    ready_entry *next_ = nullptr;
};

/// On one loop.
class ready_queue
{
  public:
    /// Who waits for streams waits for this direction, which is set by the first.
    explicit ready_queue(direction &awaited) noexcept : awaited_(awaited) {}
    ready_queue(const ready_queue &) = delete;
    ready_queue &operator=(const ready_queue &) = delete;

    bool empty() const noexcept { return first_ == nullptr; }

    void push(ready_entry &last) noexcept
    {
        last.next_ = nullptr;
        const bool is_first = empty();
        (is_first ? first_ : last_->next_) = &last;
        last_ = &last;
        // Who waits for it has found it empty.
        if (is_first) {
            awaited_.set();
        }
    }

    /// Null where it is empty.
    ready_entry *pop() noexcept { return empty() ? nullptr : std::exchange(first_, first_->next_); }

  private:
    direction &awaited_;
    ready_entry *first_ = nullptr;
    ready_entry *last_ = nullptr;
};

} // namespace flux
