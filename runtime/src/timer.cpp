#include "flux/timer.hpp"

namespace flux {

void timer::given(moment now) noexcept
{
    next_ += period_;
    if (next_ <= now) {
        next_ += (now - next_) / period_ * period_ + period_;
    }
}

} // namespace flux
