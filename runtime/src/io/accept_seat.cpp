#include "flux/io/accept_seat.hpp"

#include "flux/io/accept_group.hpp"

namespace flux {

accept_seat::~accept_seat()
{
    if (of_ != nullptr) {
        of_->closed(member_);
    }
}

} // namespace flux
