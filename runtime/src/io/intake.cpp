#include "flux/io/intake.hpp"

#include <cerrno>
#include <poll.h>

namespace flux {
namespace {

/// With so many unread buffers a stream is not received for; it may be a few more when that is noticed.
constexpr std::size_t most_unread = 8;

} // namespace

io_result<std::size_t> intake::receive(std::span<std::byte> into, moment deadline) noexcept
{
    while (true) {
        if (!unread_.empty()) {
            return unread_.read(shared_.buffers, into);
        }
        if (error_ != 0) {
            return unexpected(std::exchange(error_, 0));
        }
        if (ended_) {
            return std::size_t{0};
        }
        if (std::exchange(readable_, false)) {
            const io_result<std::size_t> count = try_receive(socket_, into);
            if (count.has_value() || count.error() != EAGAIN) {
                return count;
            }
        }
        begin();
        something_.open = false;
        if (const int error = something_.wait(park_reason::read, deadline); error != 0) {
            return unexpected(error);
        }
    }
}

bool intake::look() noexcept
{
    readable_ = readable_ || (!in_flight() && socket_has_input(socket_));
    return has_something();
}

// There is input, or it will be notified when there is.
void intake::begin() noexcept
{
    if (in_flight()) {
        return;
    }
    polls_ = !shared_.buffers.any_free();
    shared_.ring.submit(*this, [this](io_uring_sqe &entry) {
        if (polls_) {
            io_uring_prep_poll_add(&entry, socket_.get(), POLLIN | POLLRDHUP);
        } else {
            io_uring_prep_recv_multishot(&entry, socket_.get(), nullptr, 0, 0);
            io_uring_sqe_set_flags(&entry, IOSQE_BUFFER_SELECT);
            entry.buf_group = receive_buffers::group;
        }
    });
}

void intake::received(int result, std::uint32_t flags) noexcept
{
    if ((flags & IORING_CQE_F_BUFFER) != 0) {
        const auto number = static_cast<std::uint16_t>(flags >> IORING_CQE_BUFFER_SHIFT);
        shared_.buffers.take();
        if (result > 0) {
            unread_.append(shared_.buffers, number, static_cast<std::size_t>(result));
        } else {
            shared_.buffers.give_back(number);
        }
    }
    ended_ = result == 0;
    // Without a buffer, or cancelled, it has come to an end, and its socket has not.
    if (result < 0 && result != -ENOBUFS && result != -ECANCELED && result != -EINTR) {
        error_ = -result;
    }
    if (unread_.count() == most_unread && in_flight()) {
        shared_.ring.cancel(*this);
    }
}

void intake::queue_in(ready_queue &to, void *whom, bool at_once) noexcept
{
    owner = whom;
    if (at_once || has_something()) {
        to.push(*this);
    } else {
        queue_ = &to;
        begin();
    }
}

// The kernel answers a cancellation in the same call: either bytes have come before, or none are taken.
bool intake::stop_untouched() noexcept
{
    if (in_flight()) {
        shared_.ring.cancel(*this);
        shared_.ring.wait(moment::min());
        shared_.ring.deliver();
    }
    return !in_flight() && !has_something();
}

void intake::came(int result, std::uint32_t flags) noexcept
{
    if (polls_) {
        readable_ = true;
    } else {
        received(result, flags);
    }
    something_.set();
    if (queue_ == nullptr) {
        return;
    }
    if (has_something()) {
        std::exchange(queue_, nullptr)->push(*this);
    } else {
        begin();
    }
}

} // namespace flux
