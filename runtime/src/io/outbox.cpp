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
    if (bytes > std::min(outbox_row::largest, outbox_row::room - end_) || !has_buffer()) {
        return false;
    }
    for (const iovec &each : parts) {
        append({static_cast<const char *>(each.iov_base), each.iov_len});
    }
    list();
    return true;
}

std::size_t outbox::put_or_send(const descriptor &through, std::string_view bytes) noexcept
{
    const std::size_t whole = bytes.size();
    if (whole > outbox_row::largest && empty()) {
        const iovec part{const_cast<char *>(bytes.data()), whole};
        const io_result<std::size_t> count = try_send(through, {&part, 1});
        if (!count.has_value() && count.error() != EAGAIN) {
            return whole;
        }
        bytes.remove_prefix(count.has_value() ? *count : 0);
    }
    const std::string_view first = bytes.substr(0, outbox_row::room - end_);
    if (first.empty() || !has_buffer()) {
        return whole - bytes.size();
    }
    append(first);
    list();
    return whole - bytes.size() + first.size();
}

bool outbox::has_buffer() noexcept
{
    return bytes_ != nullptr || (bytes_ = row_.take_buffer()) != nullptr;
}

void outbox::append(std::string_view bytes) noexcept
{
    bytes.copy(reinterpret_cast<char *>(bytes_->data() + end_), bytes.size());
    end_ += bytes.size();
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
