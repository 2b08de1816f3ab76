#include "flux/message/reader.hpp"

namespace flux {

std::string message_fault::field() const
{
    std::string all;
    for (std::size_t at = count_; at > 0; --at) {
        const step &one = steps_[at - 1];
        if (*one.name == '\0' && one.index == no_index) {
            continue;
        }
        if (!all.empty() && *one.name != '\0') {
            all += '.';
        }
        all += one.name;
        if (one.index != no_index) {
            all += ".[" + std::to_string(one.index) + "]";
        }
    }
    return all;
}

void message_fault::within(const char *name, std::size_t index) noexcept
{
    if (count_ < most_steps) {
        steps_[count_] = {name, index};
        ++count_;
    }
}

bool message_reader::wrong(const char *field, const char *text, std::size_t ahead) noexcept
{
    result_ = reading::wrong;
    fault_ = message_fault();
    fault_.offset = at_ + ahead;
    fault_.text = text;
    return within(field);
}

bool message_reader::wrong_at(std::size_t offset, const char *field, const char *text) noexcept
{
    at_ = offset;
    return wrong(field, text);
}

bool message_reader::within(const char *field) noexcept
{
    if (result_ == reading::wrong) {
        fault_.within(field, message_fault::no_index);
    }
    return false;
}

bool message_reader::within_element(const char *field, std::size_t index) noexcept
{
    if (result_ == reading::wrong) {
        fault_.within(field, index);
    }
    return false;
}

bool message_reader::missing(std::uint64_t count, const char *field) noexcept
{
    if (count > limit_ - at_) {
        return wrong(field, in_region_ ? "it has more bytes than belong to what it is in" : too_large);
    }
    return wait_from(0, count, field);
}

bool message_reader::missing(std::initializer_list<fixed> fields) noexcept
{
    std::size_t whole = 0;
    for (const fixed &one : fields) {
        whole += one.size;
    }
    // The first that has not come is told of.
    for (const fixed &one : fields) {
        if (!has(one.size) && (is_end_ || one.size > limit_ - at_)) {
            return missing(one.size, one.field);
        }
        if (!has(one.size)) {
            break;
        }
        at_ += one.size;
        whole -= one.size;
    }
    return missing(std::min(whole, limit_ - at_), "");
}

// Waits for the next `count` bytes, of which those before `scanned` need not be looked at again.
bool message_reader::wait_from(std::size_t scanned, std::uint64_t count, const char *field) noexcept
{
    if (is_end_) {
        return wrong(field, "the data ends too early");
    }
    result_ = reading::unfinished;
    const std::size_t end = at_ + static_cast<std::size_t>(count);
    wanted_ = end > available_ ? end - available_ : 1;
    unfinished_->scanned_ = scanned;
    return false;
}

bool message_reader::ends_early(std::size_t offset, const char *field) noexcept
{
    at_ = offset;
    return wrong(field, "the data ends too early");
}

int message_reader::peek_beyond() const noexcept
{
    if (in_region_ && at_ >= limit_) {
        return at_end;
    }
    if (at_ < available_) {
        return static_cast<unsigned char>(bytes_[at_]);
    }
    return is_end_ ? at_end : not_here;
}

bool message_reader::part_of_literal(std::string_view wanted, const char *field) noexcept
{
    const std::size_t begin = at_;
    for (const char one : wanted) {
        const int byte = peek();
        if (byte == not_here) {
            at_ = begin;
            return wait_from(0, wanted.size(), field);
        }
        if (byte == at_end) {
            return ends_early(at_, field);
        }
        if (static_cast<char>(byte) != one) {
            return wrong(field, "these are not the bytes that are wanted");
        }
        ++at_;
        if (at_ > limit_) {
            return wrong(field, too_large);
        }
    }
    return true;
}

bool message_reader::no_terminator(std::size_t scanned, std::string_view terminator, std::uint64_t most,
                                   const char *field) noexcept
{
    if (end_ - at_ >= most + terminator.size()) {
        return wrong(field, too_long);
    }
    if (end_ == limit_ && (in_region_ || available_ > limit_)) {
        at_ = in_region_ ? limit_ : limit_ + 1;
        return wrong(field, in_region_ ? "the data ends too early" : too_large);
    }
    if (is_end_) {
        return ends_early(available_, field);
    }
    // The last of them may be the beginning of what ends it.
    return wait_from(scanned, available_ - at_ + 1, field);
}

bool message_reader::rest(message_part &part, std::uint64_t most, const char *field) noexcept
{
    const std::size_t end = in_region_ ? limit_ : available_;
    if (std::min(end, available_) - at_ > most) {
        return wrong(field, too_long);
    }
    if (!in_region_ && available_ > limit_) {
        at_ = limit_ + 1;
        return wrong(field, too_large);
    }
    if (end > available_ && is_end_) {
        // Bytes of what it is in are left over then.
        part = {position(), static_cast<std::uint32_t>(available_)};
        at_ = available_;
        return true;
    }
    if (end > available_ || (!in_region_ && !is_end_)) {
        return wait_from(0, std::max(end, available_ + 1) - at_, field);
    }
    part = {position(), static_cast<std::uint32_t>(end)};
    at_ = end;
    return true;
}

bool message_reader::run_ends(std::size_t begin, const byte_set &set, bool is_enough, const char *field) noexcept
{
    const int byte = peek();
    if (byte == not_here) {
        const std::size_t scanned = std::exchange(at_, begin);
        return wait_from(scanned, scanned - begin + 1, field);
    }
    if (byte >= 0 && set.contains(static_cast<char>(byte))) {
        ++at_;
        return wrong(field, too_large);
    }
    return is_enough || wrong(field, byte < 0 ? "the data ends too early" : "this byte cannot come here");
}

bool message_reader::enter(std::uint64_t size, const char *field) noexcept
{
    if (size > limit_ - at_) {
        return wrong(field, in_region_ ? "it has more bytes than belong to what it is in" : too_large);
    }
    limit_ = at_ + static_cast<std::size_t>(size);
    end_ = std::min(available_, limit_);
    in_region_ = true;
    return true;
}

} // namespace flux
