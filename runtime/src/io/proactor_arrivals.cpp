#include "flux/io/proactor_arrivals.hpp"

#include "flux/io/proactor_stream.hpp"

#include <algorithm>
#include <cerrno>
#include <new>

namespace flux {

proactor_arrivals::~proactor_arrivals()
{
    if (acceptor_ != nullptr) {
        bell_->tell_nobody();
        shared_.ring.abandon(std::move(bell_));
        acceptor_->tell_nobody();
        shared_.ring.abandon(std::move(acceptor_));
        // The listener may be closed now, and its number be another's.
        shared_.ring.flush();
    }
}

io_result<void> proactor_arrivals::watch(listener &from) noexcept
{
    const descriptor &socket = static_cast<proactor_listener &>(from).socket();
    std::unique_ptr<acceptor> made(new (std::nothrow) acceptor(shared_.ring, socket, some_));
    bell_.reset(made == nullptr ? nullptr : new (std::nothrow) bell_of_acceptor(*made));
    if (bell_ == nullptr) {
        return unexpected(ENOMEM);
    }
    acceptor_ = std::move(made);
    acceptor_->begin();
    bell_->begin(shared_.ring);
    return {};
}

io_result<void> proactor_arrivals::watch(stream &idle, void *owner, bool soon) noexcept
{
    static_cast<proactor_stream &>(idle).input().queue_in(ready_, owner, soon);
    return {};
}

bool proactor_arrivals::forget(stream &watched) noexcept
{
    return static_cast<proactor_stream &>(watched).input().leave_queue();
}

void *proactor_arrivals::next_told() noexcept
{
    intake *const first = ready_.pop();
    return first == nullptr ? nullptr : first->owner;
}

io_result<arrivals::arrival> proactor_arrivals::next(moment deadline) noexcept
{
    while (true) {
        // In turns, so that neither kind keeps the other waiting.
        turn_of_new_ = !turn_of_new_;
        const bool some_new = acceptor_ != nullptr && acceptor_->some();
        if (!ready_.empty() && !(turn_of_new_ && some_new)) {
            return arrival{nullptr, {}, next_told()};
        }
        if (some_new) {
            if (io_result<arrival> accepted = accept(); accepted.has_value()) {
                return accepted;
            }
            continue;
        }
        if (acceptor_ != nullptr && acceptor_->has_left()) {
            return arrival{};
        }
        some_.open = false;
        if (const int error = wait(deadline); error != 0) {
            return unexpected(error);
        }
    }
}

io_result<arrivals::arrival> proactor_arrivals::accept() noexcept
{
    arrival somebody;
    io_result<descriptor> accepted = acceptor_->next(somebody.from);
    if (!accepted.has_value()) {
        return unexpected(accepted.error());
    }
    std::unique_ptr<intake> input(new (std::nothrow) intake(shared_, *std::move(accepted)));
    somebody.accepted.reset(input == nullptr ? nullptr : new (std::nothrow) proactor_stream(std::move(input)));
    if (somebody.accepted == nullptr) {
        acceptor_->rest(ENOMEM);
        return unexpected(ENOMEM);
    }
    return somebody;
}

// Until there is somebody, or nobody has been accepted for long enough.
int proactor_arrivals::wait(moment deadline) noexcept
{
    if (acceptor_ == nullptr) {
        return some_.wait(deadline);
    }
    acceptor_->begin();
    const moment try_again = acceptor_->try_again();
    const int error = some_.wait(std::min(deadline, try_again));
    if (error == ETIMEDOUT && clock::now() >= try_again) {
        acceptor_->stop_resting();
        return 0;
    }
    return error;
}

} // namespace flux
