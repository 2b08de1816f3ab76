/// \file
/// One direction of a socket on a loop: a mark that says whether a call is worth trying, and the flows that wait for
/// it.
#pragma once

#include "flux/flow/flow.hpp"
#include "flux/moment.hpp"
#include "flux/io/park.hpp"

namespace flux {

/// For the flows of one loop.
class direction
{
  public:
    /// Whether a call is worth a try at first.
    explicit direction(bool is_open = false) noexcept : open(is_open) {}

    /// The mark.
    bool open;

    /// Waits until the mark is set: 0, or the error that the wait ended with.
    int wait(moment deadline) noexcept
    {
        if (open) {
            return 0;
        }
        waiting own{park(*running_flow), first_};
        first_ = &own;
        const park_end end = own.wait.wait(deadline);
        waiting **link = &first_;
        while (*link != &own) {
            link = &(*link)->next;
        }
        *link = own.next;
        return error_of(end);
    }

    /// Whether some wait.
    bool awaited() const noexcept { return first_ != nullptr; }

    /// Sets the mark.
    void set() noexcept
    {
        open = true;
        for (waiting *each = first_; each != nullptr; each = each->next) {
            each->wait.end(park_end::completed);
        }
    }

  private:
    /// Of a stream one waits at most; many may send messages through one socket.
    struct waiting {
        park wait;
        waiting *next;
    };

    waiting *first_ = nullptr;
};

} // namespace flux
