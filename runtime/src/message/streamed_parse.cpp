#include "flux/message/streamed_parse.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace flux {
namespace {

/// So many bytes are looked at to find where framing ends: of HTTP's chunks it is some ten bytes.
constexpr std::size_t first_look = 64;

} // namespace

streamed_parse::streamed_parse(message_parse &by, std::span<const std::byte> head)
    : parse_(by.keep()), window_(head.size() + first_look), filled_(head.size())
{
    std::memcpy(window_.data(), head.data(), head.size());
    begin_stream();
}

void streamed_parse::begin_stream() noexcept
{
    const stream_ahead &ahead = *parse_->ahead();
    in_stream_ = true;
    is_known_ = ahead.size != stream_ahead::to_the_end;
    left_ = is_known_ ? ahead.size : ahead.most;
}

// The message may end with it, so this awaits nothing.
void streamed_parse::end_stream(bool is_end)
{
    in_stream_ = false;
    read_on(is_end);
}

// Reads what there is. Gives how many bytes of it are no framing.
std::size_t streamed_parse::read_on(bool is_end)
{
    switch (parse_->read_on(window_, filled_, is_end)) {
    case message_parse::state::unfinished:
        return 0;
    case message_parse::state::wrong:
        is_wrong_ = true;
        return 0;
    case message_parse::state::no_memory:
        throw std::bad_alloc();
    case message_parse::state::whole:
        break;
    }
    const std::size_t behind = filled_ - parse_->size();
    filled_ = parse_->size();
    if (parse_->ahead() != nullptr) {
        begin_stream();
    } else {
        has_ended_ = true;
    }
    return behind;
}

streamed_parse::piece streamed_parse::next(std::span<const std::byte> come)
{
    if (is_wrong_) {
        return {kind::wrong, 0};
    }
    if (has_ended_) {
        return {kind::ended, 0};
    }
    return in_stream_ ? content(come) : framing(come);
}

streamed_parse::piece streamed_parse::content(std::span<const std::byte> come)
{
    if (come.empty()) {
        if (is_known_) {
            return {kind::broken_off, 0};
        }
        end_stream(true);
        return {kind::framing, 0};
    }
    if (left_ == 0) {
        is_wrong_ = true; // it has more than it may have
        return {kind::wrong, 0};
    }
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, come.size()));
    is_known_ ? passed(size) : void(left_ -= size);
    return {kind::content, size};
}

streamed_parse::piece streamed_parse::framing(std::span<const std::byte> come)
{
    if (window_.size() < filled_ + first_look) {
        window_.resize(2 * filled_ + first_look);
    }
    const std::size_t shown = std::min(come.size(), window_.size() - filled_);
    if (shown != 0) {
        std::memcpy(window_.data() + filled_, come.data(), shown);
    }
    behind_.append(reinterpret_cast<const char *>(come.data()), shown);
    filled_ += shown;
    const std::size_t behind = read_on(come.empty());
    // What comes before the next stream is behind none.
    behind_.resize(in_stream_ ? 0 : behind_.size() - behind);
    if (is_wrong_ || (come.empty() && !has_ended_ && !in_stream_)) {
        return {come.empty() ? kind::broken_off : kind::wrong, 0};
    }
    return {kind::framing, shown - behind};
}

} // namespace flux
