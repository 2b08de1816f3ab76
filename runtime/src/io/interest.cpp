#include "flux/io/interest.hpp"

#include <cerrno>
#include <system_error>

namespace flux {

interest::interest() : epoll_(epoll_create1(EPOLL_CLOEXEC))
{
    if (epoll_.get() < 0) {
        throw std::system_error(errno, std::generic_category(), "epoll_create1");
    }
}

io_result<void> interest::add(const descriptor &of, std::uint32_t events, watched &notified) noexcept
{
    epoll_event event{};
    event.events = events;
    event.data.ptr = &notified;
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, of.get(), &event) != 0) {
        return unexpected(errno);
    }
    return {};
}

void interest::remove(const descriptor &of) noexcept
{
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, of.get(), nullptr);
}

void interest::fetch(moment until) noexcept
{
    const int came = wait_for_events(epoll_, events_, until);
    count_ = came < 0 ? 0 : static_cast<std::size_t>(came); // a signal interrupts it, say
}

void interest::deliver() noexcept
{
    // No flow runs meanwhile, so nobody who is notified here is destroyed before it.
    for (std::size_t each = 0; each < count_; ++each) {
        static_cast<watched *>(events_[each].data.ptr)->came(events_[each].events);
    }
    count_ = 0;
}

} // namespace flux
