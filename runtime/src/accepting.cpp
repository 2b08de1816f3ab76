#include "flux/accepting.hpp"

#include <atomic>
#include <fcntl.h>
#include <sys/eventfd.h>

namespace flux {
namespace {

std::atomic<std::size_t> open_entrances{0};
std::atomic<bool> has_ended{false};

const descriptor &the_end() noexcept
{
    static const descriptor told(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    return told;
}

} // namespace

void end_accepting() noexcept
{
    has_ended.store(true);
    eventfd_write(the_end().get(), 1);
}

bool accepting_has_ended() noexcept
{
    return has_ended.load();
}

descriptor end_of_accepting() noexcept
{
    return descriptor(fcntl(the_end().get(), F_DUPFD_CLOEXEC, 0));
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
