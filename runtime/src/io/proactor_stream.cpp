#include "flux/io/proactor_stream.hpp"

#include "flux/io/send_file.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <new>
#include <poll.h>
#include <sys/socket.h>

namespace flux {

std::unique_ptr<proactor_stream> proactor_stream::make(proactor_shared &through, descriptor socket) noexcept
{
    std::unique_ptr<intake> input(new (std::nothrow) intake(through, std::move(socket)));
    std::unique_ptr<proactor_outbox> output(
        input == nullptr ? nullptr
                         : new (std::nothrow) proactor_outbox(through.outboxes, through.ring, input->socket()));
    return std::unique_ptr<proactor_stream>(
        output == nullptr ? nullptr : new (std::nothrow) proactor_stream(std::move(input), std::move(output)));
}

proactor_stream::~proactor_stream()
{
    ring &through = input_->through().ring;
    if (output_->let_go()) {
        // The socket is about to be closed, and its number may be another's before the kernel looks.
        through.flush();
        through.release(std::move(output_));
    }
    through.abandon(std::move(input_));
}

io_result<void> proactor_stream::do_send(std::span<iovec> parts, moment deadline) noexcept
{
    assert_on_its_loop();
    if (const int error = output_->take_error(); error != 0) {
        return unexpected(error);
    }
    if (output_->put(parts)) {
        return {};
    }
    const io_result<void> flushed = flush(deadline);
    return flushed.has_value() ? send_now(parts, deadline) : flushed;
}

io_result<void> proactor_stream::flush(moment deadline) noexcept
{
    assert_on_its_loop();
    const int error = output_->flush(deadline);
    return error == 0 ? io_result<void>() : unexpected(error);
}

io_result<void> proactor_stream::send_now(std::span<iovec> parts, moment deadline) noexcept
{
    // There is room nearly always. Then a call costs less than an operation, which the flow has to park for.
    bool has_room = true;
    while (has_room) {
        const std::size_t beyond_one_call = parts.size() - std::min(parts.size(), most_parts);
        const io_result<std::size_t> sent = try_send(input_->socket(), parts);
        if (!sent.has_value() && sent.error() != EAGAIN) {
            return unexpected(sent.error());
        }
        parts = drop_first(parts, sent.has_value() ? *sent : 0);
        has_room = sent.has_value() && !parts.empty() && parts.size() <= beyond_one_call;
        if (const int error = has_room ? refill_io_budget(deadline) : 0; error != 0) {
            return unexpected(error);
        }
    }
    while (!parts.empty()) {
        msghdr message{};
        message.msg_iov = parts.data();
        message.msg_iovlen = std::min(parts.size(), most_parts);
        operation sending;
        const int sent = sending.run(input_->through().ring, park_reason::write, deadline, [&](io_uring_sqe &entry) {
            io_uring_prep_sendmsg(&entry, input_->socket().get(), &message, MSG_NOSIGNAL | MSG_WAITALL);
        });
        parts = drop_first(parts, static_cast<std::size_t>(std::max(sent, 0)));
        const int error = sending.error() != 0 ? sending.error() : -std::min(sent, 0);
        if (!parts.empty() && error != 0 && error != EINTR) {
            return unexpected(error);
        }
    }
    return {};
}

std::size_t proactor_stream::send_at_once(std::string_view bytes) noexcept
{
    assert_on_its_loop();
    return output_->put_or_send(input_->socket(), bytes);
}

void proactor_stream::cut() noexcept
{
    assert_on_its_loop();
    shutdown(input_->socket().get(), SHUT_RDWR);
}

// The ring has no operation for this: it would be done on a thread of the kernel's.
io_result<void> proactor_stream::do_send_file(std::string_view before, file_part part, moment deadline) noexcept
{
    assert_on_its_loop();
    if (const io_result<void> flushed = flush(deadline); !flushed.has_value()) {
        return flushed;
    }
    return send_with_file(input_->socket(), before, part, deadline, [&] {
        operation waiting;
        const int ready = waiting.run(input_->through().ring, park_reason::write, deadline, [&](io_uring_sqe &entry) {
            io_uring_prep_poll_add(&entry, input_->socket().get(), POLLOUT);
        });
        const int error = waiting.error() != 0 ? waiting.error() : -std::min(ready, 0);
        return error == EINTR ? 0 : error;
    });
}

int proactor_stream::copy_idle() noexcept
{
    assert_on_its_loop();
    const bool is_idle = output_->is_quiet() && input_->stop_untouched();
    return is_idle ? fcntl(input_->socket().get(), F_DUPFD_CLOEXEC, 0) : -1;
}

void proactor_stream::end_output() noexcept
{
    assert_on_its_loop();
    output_->end_output();
}

} // namespace flux
