#include "flux/io/proactor_arrivals.hpp"

#include "flux/io/proactor_stream.hpp"

#include <cerrno>
#include <new>
#include <sys/epoll.h>
#include <utility>

namespace flux {

void listener_poll::begin(ring &through, const descriptor &listener) noexcept
{
    if (!in_flight()) {
        through.submit(*this, [&](io_uring_sqe &entry) {
            // Of the loops that wait one is notified of each new peer.
            io_uring_prep_poll_multishot(&entry, listener.get(), EPOLLIN | EPOLLEXCLUSIVE);
        });
    }
}

// Its last result may be that the queue of results has overflown: whoever came since is found by the next poll, which
// the source begins when it waits again.
void listener_poll::came(int result, std::uint32_t) noexcept
{
    if (notified_ == nullptr) {
        return;
    }
    if (result < 0 && result != -ECANCELED) {
        notified_->failed(-result);
    } else {
        notified_->notified();
    }
}

proactor_arrivals::~proactor_arrivals()
{
    stop_watching();
}

io_result<void> proactor_arrivals::watch(listener &from) noexcept
{
    auto &watched = static_cast<socket_listener &>(from);
    poll_.reset(new (std::nothrow) listener_poll(*this));
    if (poll_ == nullptr) {
        return unexpected(ENOMEM);
    }
    if (const io_result<void> joined = join(watched.group()); !joined.has_value()) {
        poll_ = nullptr;
        return joined;
    }
    listener_ = &watched;
    begin_waiting();
    return {};
}

io_result<void> proactor_arrivals::watch(stream &idle, void *owner, bool soon) noexcept
{
    static_cast<proactor_stream &>(idle).input().queue_in(ready(), owner, soon);
    return {};
}

bool proactor_arrivals::forget(stream &watched) noexcept
{
    return static_cast<proactor_stream &>(watched).input().leave_queue();
}

int proactor_arrivals::accept(newcomer &into) noexcept
{
    io_result<descriptor> accepted = try_accept(listener_->socket(), into.from);
    if (!accepted.has_value()) {
        return accepted.error();
    }
    into.accepted = proactor_stream::make(shared_, *std::move(accepted));
    return into.accepted == nullptr ? ENOMEM : 0;
}

void proactor_arrivals::begin_waiting() noexcept
{
    if (poll_ != nullptr) {
        poll_->begin(shared_.ring, listener_->socket());
    }
}

void proactor_arrivals::stop_watching() noexcept
{
    if (poll_ != nullptr) {
        poll_->stop();
        shared_.ring.abandon(std::move(poll_));
        // The listener may be closed now, and its number be another's.
        shared_.ring.flush();
    }
}

} // namespace flux
