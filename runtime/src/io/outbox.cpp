#include "flux/io/outbox.hpp"

#include <algorithm>
#include <cerrno>
#include <new>

namespace flux {

void outbox_row::send_all() noexcept
{
    while (outbox *const each = to_send_.pop_front()) {
        each->is_listed_ = false;
        each->send_soon();
    }
}

// Null where there is no memory, or enough of it is in use.
std::unique_ptr<outbox_row::buffer> outbox_row::take_buffer() noexcept
{
    if (!unused_.empty()) {
        std::unique_ptr<buffer> last = std::move(unused_.back());
        unused_.pop_back();
        return last;
    }
    if (made_ == most) {
        return nullptr;
    }
    try {
        unused_.reserve(made_ + 1); // so that all that were made can come back
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
    std::unique_ptr<buffer> made(new (std::nothrow) buffer);
    made_ += made == nullptr ? 0 : 1;
    return made;
}

void outbox_row::give_back(std::unique_ptr<buffer> unused) noexcept
{
    unused_.push_back(std::move(unused));
}

outbox::~outbox()
{
    clear();
}

bool outbox::put(std::span<const iovec> parts) noexcept
{
    std::size_t bytes = 0;
    for (const iovec &each : parts) {
        bytes += each.iov_len;
    }
    if (bytes > outbox_row::room - end_) {
        return false;
    }
    if (bytes_ == nullptr && (bytes_ = row_.take_buffer()) == nullptr) {
        return false;
    }
    for (const iovec &each : parts) {
        std::copy_n(static_cast<const std::byte *>(each.iov_base), each.iov_len, bytes_->data() + end_);
        end_ += each.iov_len;
    }
    list();
    return true;
}

std::size_t outbox::put_or_send(const descriptor &through, std::string_view bytes) noexcept
{
    std::size_t sent = 0;
    if (bytes.size() > outbox_row::room - end_ && empty()) {
        const iovec whole{const_cast<char *>(bytes.data()), bytes.size()};
        const io_result<std::size_t> count = try_send(through, {&whole, 1});
        if (!count.has_value() && count.error() != EAGAIN) {
            return bytes.size();
        }
        sent = count.has_value() ? *count : 0;
    }
    const std::size_t count = std::min(bytes.size() - sent, outbox_row::room - end_);
    const iovec part{const_cast<char *>(bytes.data() + sent), count};
    return sent + (count != 0 && put({&part, 1}) ? count : 0);
}

std::span<std::byte> outbox::unsent() const noexcept
{
    return std::span(*bytes_).subspan(begin_, end_ - begin_);
}

void outbox::try_to_send(const descriptor &through) noexcept
{
    const std::span<std::byte> whole = unsent();
    const iovec part{whole.data(), whole.size()};
    const io_result<std::size_t> count = try_send(through, {&part, 1});
    if (count.has_value()) {
        sent(*count);
    } else if (count.error() != EAGAIN) {
        failed(count.error());
    }
}

void outbox::sent(std::size_t count) noexcept
{
    begin_ += count;
    if (begin_ == end_) {
        clear();
    }
}

void outbox::failed(int error) noexcept
{
    error_ = error;
    clear();
}

void outbox::list() noexcept
{
    if (!std::exchange(is_listed_, true)) {
        row_.to_send_.push_back(*this);
    }
}

void outbox::unlist() noexcept
{
    if (std::exchange(is_listed_, false)) {
        row_.to_send_.remove(*this);
    }
}

void outbox::clear() noexcept
{
    unlist();
    begin_ = 0;
    end_ = 0;
    if (bytes_ != nullptr) {
        row_.give_back(std::move(bytes_));
    }
}

} // namespace flux
