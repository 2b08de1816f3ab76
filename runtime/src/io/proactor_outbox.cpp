#include "flux/io/proactor_outbox.hpp"

#include <cerrno>
#include <sys/socket.h>

namespace flux {

// The ring waits for room where there is none, and goes on until all is sent.
void proactor_outbox::send_soon() noexcept
{
    if (empty() || in_flight()) {
        return;
    }
    landed_.open = false;
    ring_.submit(*this, [this](io_uring_sqe &entry) {
        const std::span<std::byte> whole = unsent();
        io_uring_prep_send(&entry, socket_.get(), whole.data(), whole.size(), MSG_NOSIGNAL | MSG_WAITALL);
    });
}

// Without the ring.
void proactor_outbox::send_at_once() noexcept
{
    try_to_send(socket_);
    end_where_empty();
}

int proactor_outbox::flush(moment deadline) noexcept
{
    while (!empty()) {
        if (!in_flight()) {
            send_at_once();
            send_soon();
        }
        if (const int error = landed_.wait(park_reason::write, deadline); error != 0) {
            return error;
        }
    }
    return take_error();
}

void proactor_outbox::end_output() noexcept
{
    ends_output_ = true;
    end_where_empty();
}

void proactor_outbox::end_where_empty() noexcept
{
    if (empty() && ends_output_) {
        shutdown(socket_.get(), SHUT_WR);
    }
}

bool proactor_outbox::let_go() noexcept
{
    ends_output_ = false; // its socket ends with the stream
    if (!empty() && !in_flight()) {
        send_at_once();
        send_soon();
    }
    unlist();
    return in_flight();
}

void proactor_outbox::came(int result, std::uint32_t) noexcept
{
    if (result >= 0) {
        sent(static_cast<std::size_t>(result));
    } else if (result != -EINTR && result != -EAGAIN) {
        failed(-result);
    }
    if (!empty()) {
        list();
    }
    end_where_empty();
    landed_.set();
}

} // namespace flux
