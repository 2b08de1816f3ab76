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

void message_reader::end_missing(const char *next, std::uint64_t count, const char *field) noexcept
{
    const std::size_t at = offset_of(next);
    if (count > limit_ - at) {
        end_wrong(at, field, in_region_ ? "it has more bytes than belong to what it is in" : too_large);
    } else {
        end_waiting(next, 0, count, field);
    }
}

void message_reader::end_missing(const char *next, std::span<const field_size> fields) noexcept
{
    std::size_t whole = 0;
    for (const field_size &one : fields) {
        whole += one.size;
    }
    // The first that has not come is told of.
    for (const field_size &one : fields) {
        const bool has_come = one.size <= end_ - next;
        if (!has_come && (is_end_ || one.size > limit_ - offset_of(next))) {
            return end_missing(next, one.size, one.field);
        }
        if (!has_come) {
            break;
        }
        next += one.size;
        whole -= one.size;
    }
    end_missing(next, std::min(whole, limit_ - offset_of(next)), "");
}

// Waits for the next `count` bytes, of which those before `scanned` need not be looked at again.
void message_reader::end_waiting(const char *next, std::size_t scanned, std::uint64_t count,
                                 const char *field) noexcept
{
    at_ = offset_of(next);
    if (is_end_) {
        return end_wrong(at_, field, ends_early);
    }
    result_ = reading::unfinished;
    const std::size_t end = at_ + static_cast<std::size_t>(count);
    wanted_ = end > available_ ? end - available_ : 1;
    unfinished_->scanned_ = scanned;
}

const char *message_reader::until(const char *next, message_part &part, std::string_view terminator, std::uint64_t most,
                                  const char *field) noexcept
{
    if (resumes_ && part.is_read()) {
        return bytes_ + part.end + terminator.size();
    }
    const std::uint64_t left = static_cast<std::uint64_t>(end_ - next);
    const char *const stop = left < most + terminator.size() ? end_ : next + most + terminator.size();
    const char *from = resumes_ ? scan_begin(next) : next;
    while ((from = find_byte(bytes_, from, stop, terminator[0])) != stop) {
        if (static_cast<std::size_t>(stop - from) < terminator.size()) {
            break;
        }
        if (std::memcmp(from, terminator.data(), terminator.size()) == 0) [[likely]] {
            part = {offset_of(next), offset_of(from)};
            return from + terminator.size();
        }
        ++from;
    }
    end_unterminated(next, from, terminator, most, field);
    return nullptr;
}

const char *message_reader::stream(const char *next, message_part &part, std::uint64_t size, const char *field,
                                   std::uint64_t most) noexcept
{
    if (resumes_ && part.is_read()) {
        return bytes_ + part.end;
    }
    if (size > most) {
        end_wrong(offset_of(next), field, too_long);
        return nullptr;
    }
    return passes(next, part, {size, size}, field);
}

const char *message_reader::stream_rest(const char *next, message_part &part, std::uint64_t most,
                                        const char *field) noexcept
{
    if (keeps_streams()) {
        return rest(next, part, most, field);
    }
    return resumes_ && part.is_read() ? bytes_ + part.end
                                      : passes(next, part, {stream_ahead::to_the_end, most}, field);
}

const char *message_reader::remove_from(std::size_t begin, const char *next) noexcept
{
    char *const window = unfinished_->window_;
    const std::size_t at = offset_of(next);
    std::memmove(window + begin, window + at, available_ - at);
    available_ -= at - begin;
    end_ = bytes_ + std::min(available_, limit_);
    return bytes_ + begin;
}

// A stream is next: it has gone along, or the reading stops here.
const char *message_reader::passes(const char *next, message_part &part, const stream_ahead &stream,
                                   const char *field) noexcept
{
    if (stream.size == 0 || std::exchange(unfinished_->stream_passed_, false)) {
        part = {offset_of(next), offset_of(next)};
        return next;
    }
    if (stream.size == stream_ahead::to_the_end && in_region_) {
        end_wrong(offset_of(next), field, "a stream has no end here");
        return nullptr;
    }
    at_ = offset_of(next);
    result_ = reading::unfinished;
    wanted_ = 1;
    unfinished_->scanned_ = 0;
    stops_ = true;
    ahead_ = stream;
    return nullptr;
}

int message_reader::peek_beyond(const char *next) const noexcept
{
    const std::size_t at = offset_of(next);
    if (in_region_ && at >= limit_) {
        return at_end;
    }
    if (at < available_) {
        return static_cast<unsigned char>(*next);
    }
    return is_end_ ? at_end : not_here;
}

void message_reader::end_in_token(const char *begin, const char *next, int state, const char *field) noexcept
{
    unfinished_->state_ = static_cast<std::uint32_t>(state);
    end_waiting(begin, offset_of(next), 1, field);
}

void message_reader::end_in_digits(const char *begin, const char *field) noexcept
{
    end_waiting(begin, 0, available_ - offset_of(begin) + 1, field);
}

// The next byte is none that can come there, or there is none.
void message_reader::end_with(const char *next, const char *field) noexcept
{
    end_wrong(offset_of(next), field, offset_of(next) < available_ ? "this byte cannot come here" : ends_early);
}

// Which byte is not as wanted, or not there: one of them is.
void message_reader::end_literal(const char *next, std::string_view wanted, const char *field) noexcept
{
    const char *const begin = next;
    for (const char one : wanted) {
        const int byte = peek_beyond(next);
        if (byte == not_here) {
            return end_waiting(begin, 0, wanted.size(), field);
        }
        if (byte == at_end) {
            return end_wrong(offset_of(next), field, ends_early);
        }
        if (static_cast<char>(byte) != one) {
            return end_wrong(offset_of(next), field, "these are not the bytes that are wanted");
        }
        ++next;
        if (offset_of(next) > limit_) {
            return end_wrong(offset_of(next), field, too_large);
        }
    }
}

void message_reader::end_unterminated(const char *next, const char *scanned, std::string_view terminator,
                                      std::uint64_t most, const char *field) noexcept
{
    const std::size_t at = offset_of(next);
    if (static_cast<std::size_t>(end_ - next) >= most + terminator.size()) {
        return end_wrong(at, field, too_long);
    }
    if (end_ == bytes_ + limit_ && (in_region_ || available_ > limit_)) {
        return end_wrong(in_region_ ? limit_ : limit_ + 1, field, in_region_ ? ends_early : too_large);
    }
    if (is_end_) {
        return end_wrong(available_, field, ends_early);
    }
    // The last of them may be the beginning of what ends it.
    end_waiting(next, offset_of(scanned), available_ - at + 1, field);
}

const char *message_reader::rest(const char *next, message_part &part, std::uint64_t most, const char *field) noexcept
{
    const std::size_t at = offset_of(next);
    std::size_t end = in_region_ ? limit_ : available_;
    if (std::min(end, available_) - at > most) {
        end_wrong(at, field, too_long);
        return nullptr;
    }
    if (!in_region_ && available_ > limit_) {
        end_wrong(limit_ + 1, field, too_large);
        return nullptr;
    }
    if (end > available_ && is_end_) {
        // Bytes of what it is in are left over then.
        end = available_;
    } else if (end > available_ || (!in_region_ && !is_end_)) {
        end_waiting(next, 0, std::max(end, available_ + 1) - at, field);
        return nullptr;
    }
    part = {offset_of(next), static_cast<std::uint32_t>(end)};
    return bytes_ + end;
}

const char *message_reader::run_ends(message_part &part, const char *begin, const char *end, const run_facts &run,
                                     const char *field) noexcept
{
    const auto size = static_cast<std::size_t>(end - begin);
    const int byte = size > run.most ? at_end : peek_beyond(end);
    if (size > run.most) {
        end_wrong(offset_of(begin), field, too_long);
    } else if (byte == not_here) {
        end_waiting(begin, offset_of(end), size + 1, field);
    } else if (byte >= 0 && run.contains(static_cast<char>(byte))) {
        end_wrong(offset_of(end) + std::size_t{1}, field, too_large);
    } else if (size < run.least) {
        end_wrong(offset_of(end), field, byte < 0 ? ends_early : "this byte cannot come here");
    } else {
        part = {offset_of(begin), offset_of(end)};
        return end;
    }
    return nullptr;
}

bool message_reader::enter(const char *next, std::uint64_t size, const char *field) noexcept
{
    const std::size_t at = offset_of(next);
    if (size > limit_ - at) {
        end_wrong(at, field, in_region_ ? "it has more bytes than belong to what it is in" : too_large);
        return false;
    }
    limit_ = at + static_cast<std::size_t>(size);
    end_ = bytes_ + std::min(available_, limit_);
    in_region_ = true;
    return true;
}

} // namespace flux
