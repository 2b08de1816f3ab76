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

void message_reader::end_wrong(std::size_t offset, const char *field, const char *text) noexcept
{
    at_ = offset;
    result_ = reading::wrong;
    fault_ = message_fault();
    fault_.offset = offset;
    fault_.text = text;
    end_within(field, message_fault::no_index);
}

void message_reader::end_within(const char *field, std::size_t index) noexcept
{
    if (result_ == reading::wrong) {
        fault_.within(field, index);
    }
}

void message_reader::end_missing(std::uint64_t count, const char *field) noexcept
{
    if (count > limit_ - at_) {
        end_wrong(at_, field, in_region_ ? "it has more bytes than belong to what it is in" : too_large);
    } else {
        end_waiting(0, count, field);
    }
}

void message_reader::end_missing(std::initializer_list<fixed> fields) noexcept
{
    std::size_t whole = 0;
    for (const fixed &one : fields) {
        whole += one.size;
    }
    // The first that has not come is told of.
    for (const fixed &one : fields) {
        if (!has(one.size) && (is_end_ || one.size > limit_ - at_)) {
            return end_missing(one.size, one.field);
        }
        if (!has(one.size)) {
            break;
        }
        at_ += one.size;
        whole -= one.size;
    }
    end_missing(std::min(whole, limit_ - at_), "");
}

// Waits for the next `count` bytes, of which those before `scanned` need not be looked at again.
void message_reader::end_waiting(std::size_t scanned, std::uint64_t count, const char *field) noexcept
{
    if (is_end_) {
        return end_wrong(at_, field, ends_early);
    }
    result_ = reading::unfinished;
    const std::size_t end = at_ + static_cast<std::size_t>(count);
    wanted_ = end > available_ ? end - available_ : 1;
    unfinished_->scanned_ = scanned;
}

bool message_reader::stream(message_part &part, std::uint64_t size, const char *field, std::uint64_t most) noexcept
{
    if (unfinished_ == nullptr || unfinished_->keeps_streams_) {
        return text(part, size, field, most);
    }
    if (is_passed(part)) {
        return true;
    }
    return size > most ? wrong(field, too_long) : passes(part, {size, size}, field);
}

bool message_reader::stream_rest(message_part &part, std::uint64_t most, const char *field) noexcept
{
    if (unfinished_ == nullptr || unfinished_->keeps_streams_) {
        return rest(part, most, field);
    }
    return is_passed(part) || passes(part, {stream_ahead::to_the_end, most}, field);
}

// Where streams have begun to go along, what is read of a list whose elements have some is of no more use.
void message_reader::remove_from(std::size_t begin) noexcept
{
    char *const window = unfinished_ == nullptr ? nullptr : unfinished_->window_;
    if (window != nullptr) {
        std::memmove(window + begin, window + at_, available_ - at_);
        available_ -= at_ - begin;
        end_ = std::min(available_, limit_);
        at_ = begin;
    }
}

// A stream is next: it has gone along, or the reading stops here.
bool message_reader::passes(message_part &part, const stream_ahead &stream, const char *field) noexcept
{
    if (stream.size == 0 || std::exchange(unfinished_->stream_passed_, false)) {
        part = {position(), position()};
        return true;
    }
    if (stream.size == stream_ahead::to_the_end && in_region_) {
        return wrong(field, "a stream has no end here");
    }
    result_ = reading::unfinished;
    wanted_ = 1;
    unfinished_->scanned_ = 0;
    stops_ = true;
    ahead_ = stream;
    return false;
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

// Which byte is not as wanted, or not there: one of them is.
void message_reader::end_literal(std::string_view wanted, const char *field) noexcept
{
    const std::size_t begin = at_;
    for (const char one : wanted) {
        const int byte = peek();
        if (byte == not_here) {
            at_ = begin;
            return end_waiting(0, wanted.size(), field);
        }
        if (byte == at_end) {
            return end_wrong(at_, field, ends_early);
        }
        if (static_cast<char>(byte) != one) {
            return end_wrong(at_, field, "these are not the bytes that are wanted");
        }
        ++at_;
        if (at_ > limit_) {
            return end_wrong(at_, field, too_large);
        }
    }
}

void message_reader::end_unterminated(std::size_t scanned, std::string_view terminator, std::uint64_t most,
                                      const char *field) noexcept
{
    if (end_ - at_ >= most + terminator.size()) {
        return end_wrong(at_, field, too_long);
    }
    if (end_ == limit_ && (in_region_ || available_ > limit_)) {
        return end_wrong(in_region_ ? limit_ : limit_ + 1, field, in_region_ ? ends_early : too_large);
    }
    if (is_end_) {
        return end_wrong(available_, field, ends_early);
    }
    // The last of them may be the beginning of what ends it.
    end_waiting(scanned, available_ - at_ + 1, field);
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

bool message_reader::run_ends(message_part &part, std::size_t begin, const run_facts &run, const char *field) noexcept
{
    const std::size_t end = at_;
    if (end - begin > run.most) {
        at_ = begin;
        return wrong(field, too_long);
    }
    const int byte = peek();
    if (byte == not_here) {
        at_ = begin;
        return wait_from(end, end - begin + 1, field);
    }
    if (byte >= 0 && run.contains(static_cast<char>(byte))) {
        ++at_;
        return wrong(field, too_large);
    }
    if (end - begin < run.least) {
        return wrong(field, byte < 0 ? ends_early : "this byte cannot come here");
    }
    part = {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
    return true;
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
