#include "flux/io/unfinished_input.hpp"

#include <algorithm>
#include <cstring>

namespace flux {

unfinished_input::unfinished_input(message_parse &by, std::span<const std::byte> first)
    : parse_(by.keep()), filled_(first.size())
{
    bytes_ = message_bytes::allocate(first.size() + believed());
    std::memcpy(bytes_.data(), first.data(), first.size());
}

// How much of what is missing there is to be room for.
std::size_t unfinished_input::believed() const noexcept
{
    return std::min(parse_->wanted(), std::max(much, 3 * filled_));
}

std::span<std::byte> unfinished_input::room()
{
    const std::size_t missing = parse_->wanted();
    if (missing < much) {
        return {};
    }
    if (filled_ == bytes_.size()) {
        bytes_.resize(filled_ + believed());
    }
    // Nothing of what comes behind the message.
    return {bytes_.data() + filled_, std::min(missing, bytes_.size() - filled_)};
}

void unfinished_input::append(std::span<const std::byte> more)
{
    const std::size_t size = filled_ + more.size();
    if (size > bytes_.size()) {
        // A quarter more, so that what comes byte by byte is moved seldom.
        bytes_.resize(std::max(size, bytes_.size() + bytes_.size() / 4));
    }
    std::memcpy(bytes_.data() + filled_, more.data(), more.size());
    filled_ = size;
}

message_parse::state unfinished_input::read(bool is_end) noexcept
{
    return parse_->read(bytes_.view().substr(0, filled_), is_end);
}

void unfinished_input::give_to(message_parse &into)
{
    const std::size_t size = parse_->size();
    if (size < bytes_.size() / 2) {
        bytes_ = message_bytes::copy_of({bytes_.data(), size});
    } else {
        bytes_.resize(size);
    }
    into.take_over(*parse_);
    into.bytes = std::move(bytes_);
}

} // namespace flux
