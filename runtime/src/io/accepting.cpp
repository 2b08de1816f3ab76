#include "flux/io/accepting.hpp"

#include <atomic>
#include <fcntl.h>
#include <sys/eventfd.h>

namespace flux {
namespace {

std::atomic<std::size_t> open_entrances{0};
std::atomic<bool> has_ended{false};
std::atomic<bool> some_listen{false};

const descriptor &the_bell() noexcept
{
    static const descriptor rung(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    return rung;
}

} // namespace

void end_accepting() noexcept
{
    has_ended.store(true);
    look_at_listeners();
}

bool accepting_has_ended() noexcept
{
    return has_ended.load();
}

void look_at_listeners() noexcept
{
    if (some_listen.load()) {
        eventfd_write(the_bell().get(), 1);
    }
}

descriptor bell_of_listeners() noexcept
{
    some_listen.store(true);
    // In this order: who has said so before, and has seen that nobody listens, is seen here.
    if (has_ended.load()) {
        eventfd_write(the_bell().get(), 1);
    }
    return descriptor(fcntl(the_bell().get(), F_DUPFD_CLOEXEC, 0));
}

entrance::entrance() noexcept
{
    open_entrances.fetch_add(1);
}

void entrance::close() noexcept
{
    if (std::exchange(open_, false)) {
        open_entrances.fetch_sub(1);
    }
}

bool entrance::any_open() noexcept
{
    return open_entrances.load() != 0;
}

} // namespace flux
