#include "flick_turns.h"

#include "flux/error.hpp"

namespace flick {

flux::io_result<void> turns::await() noexcept
{
    if (is_taken_) {
        waiting_flow own;
        line_.push_back(own);
        if (const flux::park_end how = own.wait.wait(); how != flux::park_end::completed) {
            line_.remove(own);
            return flux::unexpected(error_of(how));
        }
    }
    is_taken_ = true;
    return {};
}

// One whose time is over leaves the line by itself.
void turns::pass() noexcept
{
    is_taken_ = false;
    for (waiting_flow *each = line_.first(); each != nullptr; each = flux::intrusive_list<waiting_flow>::next(*each)) {
        if (each->wait.end(flux::park_end::completed)) {
            is_taken_ = true;
            line_.remove(*each);
            return;
        }
    }
}

} // namespace flick
