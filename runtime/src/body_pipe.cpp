#include "flux/body_pipe.hpp"

#include "flux/flow/flow.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace flux {

body_pipe::body_pipe(std::size_t window_bytes) : window_(std::max<std::size_t>(window_bytes, 1)) {}

io_result<void> body_pipe::push(std::string_view bytes, moment deadline) noexcept
{
    if (const int error = within_io_budget(); error != 0) {
        return unexpected(error);
    }
    spend_io_budget(bytes.size());
    const locked alone(alone_, mode::write, running_flow->place());
    while (!bytes.empty()) {
        if (abandoned_) {
            return unexpected(EPIPE);
        }
        if (const std::size_t count = put(bytes); count != 0) {
            bytes.remove_prefix(count);
            pulls_.wake();
        } else if (const int error = wait_at(pushes_, deadline); error != 0) {
            return unexpected(error);
        }
    }
    return {};
}

void body_pipe::end(int error) noexcept
{
    const locked alone(alone_, mode::write, running_flow->place());
    ended_ = true;
    error_ = error;
    pulls_.wake();
}

io_result<std::size_t> body_pipe::pull(std::span<std::byte> into, moment deadline) noexcept
{
    if (const int error = within_io_budget(); error != 0) {
        return unexpected(error);
    }
    const locked alone(alone_, mode::write, running_flow->place());
    while (true) {
        if (error_ != 0) {
            return unexpected(error_);
        }
        if (const std::size_t count = take(into); count != 0 || ended_) {
            pushes_.wake();
            spend_io_budget(count);
            return count;
        }
        if (const int error = wait_at(pulls_, deadline); error != 0) {
            return unexpected(error);
        }
    }
}

void body_pipe::abandon() noexcept
{
    const locked alone(alone_, mode::write, running_flow->place());
    abandoned_ = true;
    pushes_.wake();
}

// Without the lock meanwhile. Whoever ends the park has the lock, so the park exists as long as it is touched.
int body_pipe::wait_at(side &own, moment deadline) noexcept
{
    park waiting(*running_flow);
    own.waits = &waiting;
    alone_.release(mode::write);
    const park_end end = waiting.wait(deadline);
    alone_.acquire(mode::write, running_flow->place());
    own.waits = nullptr;
    return error_of(end);
}

std::size_t body_pipe::take(std::span<std::byte> into) noexcept
{
    std::size_t taken = 0;
    // Twice where the ring comes round.
    while (taken < into.size() && size_ != 0) {
        const std::size_t count = std::min({into.size() - taken, size_, window_.size() - begin_});
        std::memcpy(into.data() + taken, window_.data() + begin_, count);
        begin_ = (begin_ + count) % window_.size();
        size_ -= count;
        taken += count;
    }
    return taken;
}

std::size_t body_pipe::put(std::string_view bytes) noexcept
{
    std::size_t put = 0;
    while (put < bytes.size() && size_ != window_.size()) {
        const std::size_t end = (begin_ + size_) % window_.size();
        const std::size_t room = end < begin_ ? begin_ - end : window_.size() - end;
        const std::size_t count = std::min(bytes.size() - put, room);
        std::memcpy(window_.data() + end, bytes.data() + put, count);
        size_ += count;
        put += count;
    }
    return put;
}

void body_pipe::side::wake() noexcept
{
    if (waits != nullptr) {
        waits->end(park_end::completed);
    }
}

} // namespace flux
