#include "flux/io/interest.hpp"

#include <cerrno>
#include <new>
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
    if (const io_result<void> taken = take_place(notified); !taken.has_value()) {
        return taken;
    }
    epoll_event event{};
    event.events = events;
    event.data.u64 = (std::uint64_t{places_[notified.place_].generation} << 32) | notified.place_;
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, of.get(), &event) != 0) {
        const int error = errno;
        give_back_place(notified);
        return unexpected(error);
    }
    return {};
}

void interest::remove(const descriptor &of, watched &notified) noexcept
{
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, of.get(), nullptr);
    give_back_place(notified);
}

void interest::fetch(moment until) noexcept
{
    const int came = wait_for_events(epoll_, events_, until);
    count_ = came < 0 ? 0 : static_cast<std::size_t>(came); // a signal interrupts it, say
}

void interest::deliver() noexcept
{
    for (std::size_t each = 0; each < count_; ++each) {
        const std::uint64_t data = events_[each].data.u64;
        const place &of = places_[static_cast<std::uint32_t>(data)];
        if (of.notified != nullptr && of.generation == data >> 32) {
            of.notified->came(events_[each].events);
        }
    }
    count_ = 0;
}

io_result<void> interest::take_place(watched &notified) noexcept
{
    if (first_free_ == places_.size()) {
        try {
            places_.push_back({nullptr, 0, first_free_ + 1});
        } catch (const std::bad_alloc &) {
            return unexpected(ENOMEM);
        }
    }
    notified.by_ = this;
    notified.place_ = first_free_;
    place &taken = places_[first_free_];
    taken.notified = &notified;
    first_free_ = taken.next_free;
    return {};
}

void interest::give_back_place(watched &notified) noexcept
{
    place &own = places_[notified.place_];
    own.notified = nullptr;
    ++own.generation;
    own.next_free = first_free_;
    first_free_ = notified.place_;
    notified.by_ = nullptr;
}

} // namespace flux
