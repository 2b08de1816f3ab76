#include "flux/io/reactor_arrivals.hpp"

#include "flux/io/reactor_stream.hpp"

#include <cerrno>
#include <new>
#include <utility>

namespace flux {

reactor_arrivals::~reactor_arrivals()
{
    stop_watching();
}

io_result<void> reactor_arrivals::watch(listener &from) noexcept
{
    auto &chosen = static_cast<socket_listener &>(from);
    if (const io_result<void> joined = join(chosen.group()); !joined.has_value()) {
        return joined;
    }
    // Of the loops that wait for events one is notified of each new peer.
    const auto added = interest_.add(chosen.socket(), EPOLLIN | EPOLLET | EPOLLEXCLUSIVE, *this);
    listener_ = &chosen;
    watches_ = added.has_value();
    return added;
}

io_result<void> reactor_arrivals::watch(stream &idle, void *owner, bool soon) noexcept
{
    static_cast<reactor_stream &>(idle).queue_in(ready(), owner, soon);
    return {};
}

bool reactor_arrivals::forget(stream &idle) noexcept
{
    return static_cast<reactor_stream &>(idle).leave_queue();
}

int reactor_arrivals::accept(newcomer &into) noexcept
{
    io_result<descriptor> accepted = try_accept(listener_->socket(), into.from);
    if (!accepted.has_value()) {
        return accepted.error();
    }
    std::unique_ptr<reactor_stream> made(
        new (std::nothrow) reactor_stream(outboxes_, std::move(*std::move(accepted)), into.from));
    if (made == nullptr) {
        return ENOMEM;
    }
    if (const io_result<void> joined = made->join(interest_); !joined.has_value()) {
        return joined.error();
    }
    into.accepted = std::move(made);
    return 0;
}

void reactor_arrivals::stop_watching() noexcept
{
    if (std::exchange(watches_, false)) {
        interest_.remove(listener_->socket(), *this);
    }
}

void reactor_arrivals::came(std::uint32_t) noexcept
{
    notified();
}

} // namespace flux
