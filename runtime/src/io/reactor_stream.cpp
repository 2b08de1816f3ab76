#include "flux/io/reactor_stream.hpp"

#include "flux/io/send_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/socket.h>

namespace flux {

io_result<std::size_t> reactor_stream::do_receive(std::span<std::byte> into, moment deadline) noexcept
{
    assert_on_its_loop();
    while (true) {
        if (const int error = input_.wait(park_reason::read, deadline); error != 0) {
            return unexpected(error);
        }
        const io_result<std::size_t> count = try_receive(socket_, into);
        if (count.has_value() || count.error() != EAGAIN) {
            // Less than there is room for is all there was, so nobody has to ask; but the end is an edge only once.
            input_.open = ended_ || may_stop_short_ || !count.has_value() || *count == into.size();
            return count;
        }
        input_.open = false;
    }
}

reactor_stream::~reactor_stream()
{
    // A flow that ends a connection has waited for this, so it is seldom anything.
    if (!outbox::empty()) {
        send_soon();
    }
}

int reactor_stream::copy_idle() noexcept
{
    const bool is_idle = outbox::idle() && !ended_ && !ends_output_;
    return is_idle ? fcntl(socket_.get(), F_DUPFD_CLOEXEC, 0) : -1;
}

io_result<void> reactor_stream::do_send(std::span<iovec> parts, moment deadline) noexcept
{
    assert_on_its_loop();
    if (outbox::idle()) {
        return send_now(parts, deadline);
    }
    // One call for all where there is room.
    const bool together = !outbox::empty() && outbox::put(parts);
    const io_result<void> flushed = flush(deadline);
    return together || !flushed.has_value() ? flushed : send_now(parts, deadline);
}

io_result<void> reactor_stream::flush(moment deadline) noexcept
{
    assert_on_its_loop();
    while (!outbox::empty()) {
        if (const int error = output_.wait(park_reason::write, deadline); error != 0) {
            return unexpected(error);
        }
        send_soon();
        if (const int error = outbox::empty() ? 0 : refill_io_budget(deadline); error != 0) {
            return unexpected(error);
        }
    }
    const int error = take_error();
    return error == 0 ? io_result<void>() : unexpected(error);
}

// As much as the kernel takes. It notifies when it takes the rest.
void reactor_stream::send_soon() noexcept
{
    if (!outbox::empty()) {
        try_to_send(socket_);
        output_.open = outbox::empty();
    }
    if (outbox::empty() && ends_output_) {
        shutdown(socket_.get(), SHUT_WR);
    }
}

io_result<void> reactor_stream::send_now(std::span<iovec> parts, moment deadline) noexcept
{
    while (!parts.empty()) {
        if (const int error = output_.wait(park_reason::write, deadline); error != 0) {
            return unexpected(error);
        }
        const io_result<std::size_t> sent = try_send(socket_, parts);
        if (!sent.has_value() && sent.error() != EAGAIN) {
            return unexpected(sent.error());
        }
        parts = drop_first(parts, sent.has_value() ? *sent : 0);
        output_.open = sent.has_value();
        if (const int error = parts.empty() ? 0 : refill_io_budget(deadline); error != 0) {
            return unexpected(error);
        }
    }
    return {};
}

io_result<void> reactor_stream::do_send_file(std::string_view before, file_part part, moment deadline) noexcept
{
    assert_on_its_loop();
    if (const io_result<void> flushed = flush(deadline); !flushed.has_value()) {
        return flushed;
    }
    return send_with_file(socket_, before, part, deadline, [&] {
        output_.open = false;
        return output_.wait(park_reason::write, deadline);
    });
}

void reactor_stream::end_output() noexcept
{
    assert_on_its_loop();
    ends_output_ = true;
    send_soon();
}

bool reactor_stream::can_close_now() noexcept
{
    assert_on_its_loop();
    send_soon();
    return outbox::idle();
}

std::size_t reactor_stream::send_at_once(std::string_view bytes) noexcept
{
    assert_on_its_loop();
    if (!outbox::empty() && bytes.size() > outbox_row::room) {
        send_soon();
    }
    return put_or_send(socket_, bytes);
}

void reactor_stream::cut() noexcept
{
    assert_on_its_loop();
    shutdown(socket_.get(), SHUT_RDWR);
}

bool reactor_stream::has_input() noexcept
{
    assert_on_its_loop();
    // What the mark was set for, a flow may have received since.
    input_.open = socket_has_input(socket_);
    return input_.open;
}

void reactor_stream::queue_in(ready_queue &to, void *whom, bool at_once) noexcept
{
    owner = whom;
    // What the mark was set for, a flow may have received since; but not the end.
    input_.open = input_.open && (at_once || ended_ || socket_has_input(socket_));
    if (at_once || input_.open) {
        to.push(*this);
    } else {
        queue_ = &to;
    }
}

void reactor_stream::came(std::uint32_t events) noexcept
{
    ended_ = ended_ || (events & end_events) != 0;
    may_stop_short_ = may_stop_short_ || (events & EPOLLPRI) != 0;
    if ((events & (EPOLLIN | end_events)) != 0) {
        input_.set();
        if (ready_queue *const to = std::exchange(queue_, nullptr)) {
            to->push(*this);
        }
    }
    if ((events & (EPOLLOUT | end_events)) != 0) {
        output_.set();
        if (!outbox::empty()) {
            list();
        }
    }
}

} // namespace flux
