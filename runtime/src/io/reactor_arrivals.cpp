#include "flux/io/reactor_arrivals.hpp"

#include "flux/error.hpp"
#include "flux/log.hpp"

#include <algorithm>
#include <cerrno>
#include <new>

namespace flux {

reactor_arrivals::reactor_arrivals(interest &of, arrivals_row &all) : interest_(of), all_(all)
{
    all_.push_back(this);
}

reactor_arrivals::~reactor_arrivals()
{
    std::erase(all_, this);
    if (listener_ != nullptr) {
        interest_.remove(listener_->socket());
        interest_.remove(bell_);
    }
}

io_result<void> reactor_arrivals::watch(listener &from) noexcept
{
    listener_ = &static_cast<reactor_listener &>(from);
    bell_ = bell_of_listeners();
    interest_.add(bell_, EPOLLIN | EPOLLET, told_by_bell_);
    // Of the loops that wait for it one is told of each new peer.
    return interest_.add(listener_->socket(), EPOLLIN | EPOLLET | EPOLLEXCLUSIVE, *this);
}

io_result<void> reactor_arrivals::watch(stream &idle, void *owner, bool soon) noexcept
{
    static_cast<reactor_stream &>(idle).queue_in(ready_, owner, soon);
    return {};
}

bool reactor_arrivals::forget(stream &idle) noexcept
{
    return static_cast<reactor_stream &>(idle).leave_queue();
}

void *reactor_arrivals::next_told() noexcept
{
    reactor_stream *const first = ready_.pop();
    return first == nullptr ? nullptr : first->owner;
}

io_result<arrivals::arrival> reactor_arrivals::next(moment deadline) noexcept
{
    while (true) {
        // In turns, so that neither kind keeps the other waiting.
        turn_of_new_ = !turn_of_new_;
        if (!ready_.empty() && !(turn_of_new_ && accepting_)) {
            return arrival{nullptr, {}, next_told()};
        }
        if (accepting_) {
            io_result<arrival> accepted = accept();
            if (accepted.has_value()) {
                return accepted;
            }
            accepting_ = false;
            if (accepted.error() == EAGAIN) {
                if (std::exchange(leaving_, false)) {
                    return arrival{};
                }
            } else {
                log_rarely("connections wait, as none can be accepted: %s",
                           describe_error(accepted.error()).c_str());
                try_again_ = clock::now() + accept_rest;
            }
            continue;
        }
        some_.open = false;
        const int error = some_.wait(std::min(deadline, try_again_));
        if (error == ETIMEDOUT && clock::now() >= try_again_) {
            accepting_ = true;
            try_again_ = never;
        } else if (error != 0) {
            return unexpected(error);
        }
    }
}

void reactor_arrivals::came(std::uint32_t) noexcept
{
    told_by_listener_ = true;
    look();
}

void reactor_arrivals::pass_on() noexcept
{
    if (std::exchange(told_by_listener_, false) && accepting_ && !some_.awaited()) {
        look_at_listeners();
    }
}

// There may be somebody; or it is for the last time.
void reactor_arrivals::look() noexcept
{
    if (left_) {
        return;
    }
    if (accepting_has_ended()) {
        left_ = true;
        leaving_ = true;
        interest_.remove(listener_->socket());
    }
    accepting_ = true;
    some_.set();
}

io_result<arrivals::arrival> reactor_arrivals::accept() noexcept
{
    arrival somebody;
    io_result<descriptor> accepted = try_accept(listener_->socket(), somebody.from);
    if (!accepted.has_value()) {
        return unexpected(accepted.error());
    }
    std::unique_ptr<reactor_stream> made(
        new (std::nothrow) reactor_stream(std::move(*std::move(accepted)), somebody.from));
    if (made == nullptr) {
        return unexpected(ENOMEM);
    }
    if (const io_result<void> joined = made->join(interest_); !joined.has_value()) {
        return unexpected(joined.error());
    }
    somebody.accepted = std::move(made);
    return somebody;
}

} // namespace flux
