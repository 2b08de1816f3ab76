/// \file
/// Goes along the bytes of a message for the code that is generated of its declaration: one function for each message,
/// which goes through the fields in order and calls this class for each.
///
/// There are two kinds of readings, and the same function is compiled for each. A `message_reader` goes on where bytes
/// were missing, and says what is missing or wrong. A `quick_reading` is for what most messages are, there as a whole
/// and right, and says no more than that; what it refuses is read by the other.
///
/// A function has its cursor by value and gives the byte after its message. All here is inline, and what is rare is a
/// function of the reading, which is given the place: nobody has the address of a cursor, so it is in registers.
/// Whatever is false, or gives null, has ended the reading.
#pragma once

#include "flux/message.hpp"
#include "flux/message/byte_set.hpp"
#include "flux/message/fault.hpp"
#include "flux/message/places.hpp"
#include "flux/message/stream_ahead.hpp"
#include "flux/message/wire.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

namespace flux {

/// A class of messages, or of elements of a list, as an argument.
template <class Unit>
struct kind {
};

/// The next byte that is to be read of a message.
template <class Reading>
class cursor_of
{
  public:
    /// Of a reading, at this byte.
    cursor_of(Reading &of, const char *next) noexcept : reading_(&of), next_(next) {}

    /// The first byte of the outermost message.
    const char *bytes() const noexcept { return reading_->bytes_; }

    /// The next byte to be read. A function that has read its message gives it.
    const char *next() const noexcept { return next_; }

    /// Its offset.
    std::uint32_t position() const noexcept { return static_cast<std::uint32_t>(next_ - reading_->bytes_); }

    /// Whether the next `count` bytes have come, and belong to what is read.
    [[gnu::always_inline]] bool has(std::uint64_t count) const noexcept { return count <= left(); }

    /// The same where `all_here` says it of these bytes and of some behind them.
    [[gnu::always_inline]] bool has(std::uint64_t count, bool all_here) const noexcept
    {
        return all_here || (Reading::tells && has(count));
    }

    /// Goes over bytes that it has.
    void skip(std::size_t count) noexcept { next_ += count; }

    /// Ends the reading where it has not `count` bytes, for the field of this name.
    [[gnu::always_inline]] const char *missing(std::uint64_t count, const char *field) noexcept
    {
        reading_->end_missing(next_, count, field);
        return nullptr;
    }

    /// The same for fields that follow each other.
    template <std::size_t Count>
    [[gnu::always_inline]] const char *missing(const field_size (&fields)[Count]) noexcept
    {
        reading_->end_missing(next_, fields);
        return nullptr;
    }

    /// Ends the reading: the field of this name, which begins `ahead` bytes from here, is not as it must be.
    [[gnu::always_inline]] const char *wrong(const char *field, const char *text, std::size_t ahead = 0) noexcept
    {
        reading_->end_wrong(position() + ahead, field, text);
        return nullptr;
    }

    /// The same, of a field that has been read and begins at this offset.
    [[gnu::always_inline]] const char *wrong_at(std::size_t offset, const char *field, const char *text) noexcept
    {
        reading_->end_wrong(offset, field, text);
        return nullptr;
    }

    /// The texts of `wrong`.
    static constexpr const char *not_required = "this is not what is required";
    static constexpr const char *does_not_fit = "this value does not fit its type";
    static constexpr const char *no_case = "there is no case for this value";
    static constexpr const char *no_beginning = "no case begins with this";
    static constexpr const char *too_many = message_fault::too_many;

    /// The text of a part.
    std::string_view view(const message_part &part) const noexcept
    {
        return {reading_->bytes_ + part.begin, part.end - part.begin};
    }

    /// Where the element begins that has been read last, while its list is asked about it.
    static std::uint32_t element_begin(const message_parts &list) noexcept
    {
        return list.count == 0 ? list.begin : list.next;
    }

    /// The byte that decides a choice, or `at_end` where the data ends, or `not_here` where it has not come.
    [[gnu::always_inline]] int peek() const noexcept
    {
        return next_ < reading_->end_ ? static_cast<unsigned char>(*next_) : reading_->peek_beyond(next_);
    }
    /// Waits for the byte that decides a choice, which may be the first behind the message.
    [[gnu::always_inline]] const char *undecided() noexcept
    {
        reading_->end_undecided(next_);
        return nullptr;
    }
    static constexpr int at_end = no_byte::at_end;
    static constexpr int not_here = no_byte::not_here;

    /// Takes a way of a choice, in which these have places from now on.
    template <class... Places>
    [[gnu::always_inline]] void take(std::uint16_t &choice, std::uint16_t way, Places &...own) const noexcept
    {
        if (!reading_->resumes_ || choice != way) {
            choice = way;
            (static_cast<void>(new (static_cast<void *>(&own)) Places), ...);
        }
    }

    /// Just these bytes.
    template <std::size_t Size>
    [[gnu::always_inline]] bool literal(const char (&wanted)[Size], const char *field = "") noexcept
    {
        return literal(std::string_view(wanted, Size - 1), field);
    }
    [[gnu::always_inline]] bool literal(std::string_view wanted, const char *field = "") noexcept
    {
        if (has(wanted.size()) && std::memcmp(next_, wanted.data(), wanted.size()) == 0) [[likely]] {
            next_ += wanted.size();
            return true;
        }
        reading_->end_literal(next_, wanted, field);
        return false;
    }

    /// The same of one byte, which `peek` has given: it may be beyond the end of what the message may have.
    [[gnu::always_inline]] bool passes(const char (&known)[2]) noexcept
    {
        if (next_ < reading_->end_) [[likely]] {
            ++next_;
            return true;
        }
        reading_->end_literal(next_, {known, 1}, "");
        return false;
    }

    /// So many bytes, of which there are at most `most`. What has been read before is found again by its size.
    [[gnu::always_inline]] bool text(message_part &part, std::uint64_t size, const char *field,
                                     std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) noexcept
    {
        if (size > most) [[unlikely]] {
            return ends_wrong(field, message_fault::too_long);
        }
        if (!has(size)) [[unlikely]] {
            reading_->end_missing(next_, size, field);
            return false;
        }
        const char *const begin = std::exchange(next_, next_ + size);
        part = part_from(begin);
        return true;
    }

    /// The same where what is read later changes the size that is given.
    [[gnu::always_inline]] bool
    text_as_at_first(message_part &part, std::uint64_t size, const char *field,
                     std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) noexcept
    {
        return is_passed(part) || text(part, size, field, most);
    }

    /// Bytes up to these, which are no part of it.
    [[gnu::always_inline]] bool until(message_part &part, std::string_view terminator, std::uint64_t most,
                                      const char *field) noexcept
    {
        return goes_on(reading_->until(next_, part, terminator, most, field));
    }

    /// Bytes up to the end of what they are in.
    [[gnu::always_inline]] bool rest(message_part &part, std::uint64_t most, const char *field) noexcept
    {
        return goes_on(reading_->rest(next_, part, most, field));
    }

    /// So many bytes that go along: to this reader they are none.
    [[gnu::always_inline]] bool stream(message_part &part, std::uint64_t size, const char *field,
                std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) noexcept
    {
        return reading_->keeps_streams() ? text_as_at_first(part, size, field, most)
                                        : goes_on(reading_->stream(next_, part, size, field, most));
    }

    /// Bytes that go along up to the end of what the peer sends.
    [[gnu::always_inline]] bool stream_rest(message_part &part, std::uint64_t most, const char *field) noexcept
    {
        return goes_on(reading_->stream_rest(next_, part, most, field));
    }

    /// Where a run of this set would end that begins here: given to a `run` that begins later, behind bytes that are
    /// all in the set, it is what that would find. So one end is looked for beside others, and not after them. Null
    /// where the run is to look for it.
    template <class Set>
    [[gnu::always_inline]] const char *run_end(Set) const noexcept
    {
        return reading_->resumes_ ? nullptr : Set::skip(reading_->bytes_, next_, reading_->end_);
    }

    /// As many bytes of this set as come, at least `least`. `end` is what `run_end` gave, or null.
    template <class Set>
    [[gnu::always_inline]] bool run(message_part &part, Set, std::size_t least, std::uint64_t most, const char *field,
                                    const char *end = nullptr) noexcept
    {
        if (is_passed(part)) {
            return true;
        }
        const char *const begin = next_;
        next_ = end != nullptr ? end : Set::skip(reading_->bytes_, scan_begin(begin), reading_->end_);
        const auto size = static_cast<std::size_t>(next_ - begin);
        if (next_ == reading_->end_ || size - least > most - least) [[unlikely]] {
            return goes_on(reading_->run_ends(part, begin, next_, {Set::contains, least, most}, field));
        }
        part = part_from(begin);
        return true;
    }

    /// One byte of this set.
    template <class Set>
    [[gnu::always_inline]] bool one(message_part &part, Set, const char *field) noexcept
    {
        if (next_ >= reading_->end_ || !Set::contains(*next_)) [[unlikely]] {
            return goes_on(reading_->run_ends(part, next_, next_, {Set::contains, 1, 1}, field));
        }
        const char *const begin = next_++;
        part = part_from(begin);
        return true;
    }

    /// The longest text of an automaton: `next(state, byte)` is the state after one more byte, or -1; the first is 0.
    template <class Automaton>
    [[gnu::always_inline]] bool token(message_part &part, Automaton, std::uint64_t most, const char *field) noexcept
    {
        if (is_passed(part)) {
            return true;
        }
        // One that may be empty, and is.
        if (Automaton::accepts(0) && next_ < reading_->end_ &&
            Automaton::next(0, static_cast<unsigned char>(*next_)) < 0) {
            part = part_from(next_);
            return true;
        }
        return goes_on(token_from<Automaton>(*reading_, next_, part, most, field));
    }

    /// An integer as digits, in base 10 or 16.
    template <class Integer>
    [[gnu::always_inline]] bool digits(Integer &value, unsigned base, const char *field) noexcept
    {
        using limits = std::numeric_limits<Integer>;
        // What most numbers are: some digits, and the byte after them is there.
        const std::size_t most_digits = base == 10 ? limits::digits10 : limits::digits / 4;
        std::uint64_t so_far = 0;
        for (const char *from = next_; from != reading_->end_; ++from) {
            const unsigned digit = digit_of(*from, base);
            if (digit < base) {
                so_far = base * so_far + digit;
                continue;
            }
            // With none of them one is below zero, which is too many.
            if (static_cast<std::size_t>(from - next_) - 1 < most_digits) [[likely]] {
                value = static_cast<Integer>(so_far);
                next_ = from;
                return true;
            }
            break;
        }
        return goes_on(digits_from(*reading_, next_, value, base, field));
    }

    /// Another message.
    template <class Unit>
    [[gnu::always_inline]] bool unit(places_of<Unit> &at, const char *field)
    {
        return is_passed(at.whole) || parse<Unit>(static_cast<typename Unit::places &>(at)) || within(field);
    }

    /// Another message, of so many bytes.
    template <class Unit>
    [[gnu::always_inline]] bool sized(places_of<Unit> &at, std::uint64_t size, const char *field)
    {
        if (is_passed(at.whole)) {
            return true;
        }
        const auto outer = reading_->here();
        return reading_->enter(next_, size, field) &&
               (parse<Unit>(static_cast<typename Unit::places &>(at)) || within(field)) &&
               reading_->leave(next_, outer, field);
    }

    /// The same of one that always has `always` bytes, and of which nothing is asked: any of them are one.
    template <class Unit>
    [[gnu::always_inline]] bool sized(places_of<Unit> &at, std::uint64_t size, std::size_t always, const char *field)
    {
        if (size != always || !has(always)) [[unlikely]] {
            return Reading::tells && end_sized<Unit>(*this, at, size, field);
        }
        const char *const begin = std::exchange(next_, next_ + always);
        at.whole = part_from(begin);
        return true;
    }

    /// Another message, which is at an earlier offset: before `floor`, or before where the last such look led.
    template <class Unit>
    [[gnu::always_inline]] bool look_back(places_of<Unit> &at, std::uint64_t offset, std::size_t floor,
                                          const char *field)
    {
        if (reading_->resumes_ && at.whole.is_read()) {
            return true;
        }
        const std::size_t before = std::min<std::size_t>(floor, reading_->floor_);
        if (offset >= before) {
            return ends_wrong(field, "this does not look back");
        }
        const auto outer = reading_->here();
        const std::uint32_t outer_floor = std::exchange(reading_->floor_, static_cast<std::uint32_t>(offset));
        reading_->enter_back(position());
        cursor_of in(*reading_, reading_->bytes_ + offset);
        if (!in.template parse<Unit>(static_cast<typename Unit::places &>(at))) {
            return within(field);
        }
        reading_->floor_ = outer_floor;
        return reading_->restore(outer);
    }

    /// The places that elements begin with where nothing is known of them, and what a list does after each of its
    /// elements where that is nothing.
    struct nothing {
    };
    static constexpr nothing no_more = {};

    /// So many elements. `each` is asked after each of them, and gives null where it has ended the reading. `first` are
    /// the places that they begin with, which have their parameters.
    template <class Element, class Each = nothing, class First = nothing>
    [[gnu::always_inline]] bool times(message_parts &list, kind<Element>, std::uint64_t count, const char *field,
                                      Each each = {}, const First &first = {})
    {
        if (!begin(list)) {
            return true;
        }
        // How many these are is known from the beginning, whatever changes while they are read.
        constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
        if (!reading_->resumes_ || list.count == 0) {
            list.end = static_cast<std::uint32_t>(std::min(count, most));
        }
        while (list.count < list.end) {
            if (!element<Element>(list, field, each, first)) {
                return false;
            }
        }
        return end(list);
    }

    /// Elements up to these bytes, which are no part of the list.
    template <class Element, class Each = nothing, class First = nothing>
    [[gnu::always_inline]] bool list_until(message_parts &list, kind<Element>, std::string_view terminator,
                                           std::uint64_t most, const char *field, Each each = {},
                                           const First &first = {})
    {
        if (!begin(list)) {
            return true;
        }
        for (;;) {
            const int byte = peek();
            if (byte == not_here) {
                return missing(1, field) != nullptr;
            }
            if (byte == static_cast<unsigned char>(terminator[0])) {
                list.end = position();
                return literal(terminator, field) && end_after(list);
            }
            if (list.count == most) {
                return ends_wrong(field, too_many);
            }
            if (!element<Element>(list, field, each, first)) {
                return false;
            }
        }
    }

    /// Elements up to the first after which `each` says that it is the last, by its second argument.
    template <class Element, class Each, class First = nothing>
    [[gnu::always_inline]] bool list_until_last(message_parts &list, kind<Element>, std::uint64_t most,
                                                const char *field, Each each, const First &first = {})
    {
        if (!begin(list)) {
            return true;
        }
        bool is_last = false;
        const auto and_last = [&](const auto &at) { return each(at, is_last); };
        while (!is_last) {
            if (list.count == most) {
                return ends_wrong(field, too_many);
            }
            if (!element<Element>(list, field, and_last, first)) {
                return false;
            }
        }
        return end(list);
    }

    /// Elements up to the end of what they are in.
    template <class Element, class Each = nothing, class First = nothing>
    [[gnu::always_inline]] bool list_rest(message_parts &list, kind<Element>, std::uint64_t most, const char *field,
                                          Each each = {}, const First &first = {})
    {
        if (!begin(list)) {
            return true;
        }
        for (;;) {
            const int byte = peek();
            if (byte == not_here) {
                return missing(1, field) != nullptr;
            }
            if (byte == at_end) {
                return end(list);
            }
            if (list.count == most) {
                return ends_wrong(field, too_many);
            }
            if (!element<Element>(list, field, each, first)) {
                return false;
            }
        }
    }

    /// How many bytes a list has: as it was said when it began, whatever its elements have changed since.
    [[gnu::always_inline]] std::uint64_t size_at_first(message_parts &list, std::uint64_t size) const noexcept
    {
        if (reading_->resumes_ && (list.is_read || list.count > 0)) [[unlikely]] {
            return list.end - list.begin;
        }
        const std::uint64_t most = std::numeric_limits<std::uint32_t>::max() - position();
        list.end = position() + static_cast<std::uint32_t>(std::min(size, most));
        return size;
    }

    /// What has so many bytes, and uses all of them: `read` reads it.
    template <class Read>
    [[gnu::always_inline]] bool within_size(std::uint64_t size, const char *field, Read read)
    {
        const auto outer = reading_->here();
        return reading_->enter(next_, size, field) && read() && reading_->leave(next_, outer, field);
    }

    /// What may be in itself at most `most` times, of the field with this number: `read` reads it.
    template <class Read>
    [[gnu::always_inline]] bool within_depth(std::size_t number, unsigned most, const char *field, Read read)
    {
        if (reading_->depths_[number]++ >= most) {
            return ends_wrong(field, "it is in itself more often than it may be");
        }
        const bool is_read = read();
        --reading_->depths_[number];
        return is_read;
    }

    /// A message in this one whose places nobody keeps, as it may have itself in it.
    template <class Unit, class First = nothing>
    [[gnu::always_inline]] bool passed(message_part &part, kind<Unit>, const char *field, const First &first = {})
    {
        if (is_passed(part)) {
            return true;
        }
        typename Unit::places at;
        begin_with(at, first);
        if (!parse<Unit>(at)) {
            reading_->keep(at);
            return within(field);
        }
        part = static_cast<message_places &>(at).whole;
        return true;
    }

  private:
    // How many messages may be in each other: each is a call of a function.
    static constexpr unsigned most_units = 200;

    // By byte, what it is as a hexadecimal digit; 16 where it is none.
    static constexpr std::array<std::uint8_t, 256> hexadecimal_digits = [] {
        std::array<std::uint8_t, 256> found{};
        for (unsigned byte = 0; byte < found.size(); ++byte) {
            const unsigned letter = (byte | 0x20U) - unsigned{'a'};
            const bool is_digit = byte >= '0' && byte <= '9';
            found[byte] = static_cast<std::uint8_t>(is_digit ? byte - unsigned{'0'} : letter < 6 ? letter + 10 : 16);
        }
        return found;
    }();

    // What a byte is as a digit; at least `base` where it is none.
    [[gnu::always_inline]] static unsigned digit_of(char of, unsigned base) noexcept
    {
        const auto byte = static_cast<unsigned char>(of);
        return base == 16 ? hexadecimal_digits[byte] : byte - unsigned{'0'};
    }

    std::size_t left() const noexcept { return static_cast<std::size_t>(reading_->end_ - next_); }

    [[gnu::always_inline]] message_part part_from(const char *begin) const noexcept
    {
        return {static_cast<std::uint32_t>(begin - reading_->bytes_), position()};
    }

    // Null where a function of the reader has ended the reading.
    [[gnu::always_inline]] bool goes_on(const char *after) noexcept
    {
        if (after == nullptr) [[unlikely]] {
            return false;
        }
        next_ = after;
        return true;
    }

    [[gnu::always_inline]] bool ends_wrong(const char *field, const char *text) noexcept
    {
        reading_->end_wrong(position(), field, text);
        return false;
    }

    // Says of a reading that has ended in which field that was.
    [[gnu::always_inline]] bool within(const char *field) noexcept
    {
        reading_->end_within(field, message_fault::no_index);
        return false;
    }

    template <class Unit>
    [[gnu::always_inline]] bool parse(typename Unit::places &at)
    {
        // The others are in each other as often as there are kinds of them.
        constexpr bool is_counted = is_in_itself<Unit>();
        if (is_counted && ++reading_->depth_ >= most_units) [[unlikely]] {
            return ends_wrong("", "too many messages are in each other");
        }
        const char *const begin = next_;
        if constexpr (is_bounded_inside<Unit>()) {
            const auto outer = reading_->here();
            const bool is_bounded = reading_->enter_bounded(begin, Unit::facts.max_size);
            if (!goes_on(Unit::parse(cursor_of(*reading_, next_), at))) {
                return false;
            }
            if (is_bounded) {
                reading_->restore(outer);
            }
        } else if (!goes_on(Unit::parse(cursor_of(*reading_, next_), at))) {
            return false;
        }
        static_cast<message_places &>(at).whole = part_from(begin);
        if constexpr (is_counted) {
            --reading_->depth_;
        }
        return true;
    }

    // Ends the reading, as there is no such message.
    template <class Unit>
    [[gnu::cold, gnu::noinline]] static bool end_sized(cursor_of in, places_of<Unit> &at, std::uint64_t size,
                                                       const char *field)
    {
        // It has no value yet.
        at.whole = {};
        static_cast<void>(in.sized(at, size, field));
        return false;
    }

    template <class Unit>
    static constexpr bool is_bounded_inside()
    {
        if constexpr (requires { Unit::facts.is_bounded_inside; }) {
            return Unit::facts.is_bounded_inside;
        } else {
            return false;
        }
    }

    template <class Unit>
    static constexpr bool is_in_itself()
    {
        if constexpr (requires { Unit::facts.is_in_itself; }) {
            return Unit::facts.is_in_itself;
        } else {
            return false;
        }
    }

    // Goes over what an earlier reading has found.
    [[gnu::always_inline]] bool is_passed(const message_part &part) noexcept
    {
        if (!reading_->resumes_ || !part.is_read()) [[likely]] {
            return false;
        }
        next_ = reading_->bytes_ + part.end;
        return true;
    }

    // Where the scan of what begins here goes on: where the last reading left it, if that was in the middle.
    [[gnu::always_inline]] const char *scan_begin(const char *begin) const noexcept
    {
        return reading_->resumes_ ? reading_->scan_begin(begin) : begin;
    }

    // Whether there is anything left to read of the list.
    [[gnu::always_inline]] bool begin(message_parts &list) noexcept
    {
        if (!reading_->resumes_ || (!list.is_read && list.count == 0)) [[likely]] {
            list.begin = position();
            return true;
        }
        next_ = reading_->bytes_ + list.next;
        return !list.is_read;
    }
    [[gnu::always_inline]] bool end(message_parts &list) noexcept
    {
        list.end = position();
        return end_after(list);
    }
    [[gnu::always_inline]] bool end_after(message_parts &list) noexcept
    {
        list.next = position();
        list.is_read = true;
        return true;
    }

    template <class Places, class First>
    [[gnu::always_inline]] void begin_with(Places &at, const First &first)
    {
        if constexpr (std::is_same_v<Places, First>) {
            at = first;
        }
        if (reading_->resumes_) [[unlikely]] {
            reading_->take(at);
        }
    }

    template <class Places, class Each>
    [[gnu::always_inline]] static bool goes_on_after(const Places &at, Each &each)
    {
        if constexpr (std::is_same_v<Each, const nothing> || std::is_same_v<Each, nothing>) {
            return true;
        } else {
            return each(at) != nullptr;
        }
    }

    template <class Element, class Each, class First>
    [[gnu::always_inline]] bool element(message_parts &list, const char *field, Each &each, const First &first)
    {
        // Without braces, as all of them would be set to zero before they are set to what they are.
        typename Element::places at;
        begin_with(at, first);
        if (!parse<Element>(at) || !goes_on_after(at, each)) [[unlikely]] {
            reading_->keep(at);
            reading_->end_within(field, list.count);
            return false;
        }
        ++list.count;
        if constexpr (has_streams<Element>()) {
            if (reading_->removes_elements()) [[unlikely]] {
                next_ = reading_->remove_from(list.begin, next_);
            }
        }
        list.next = position();
        return true;
    }

    // As `token`, for any number of bytes; gives the byte after them.
    template <class Automaton>
    static const char *token_from(Reading &in, const char *next, message_part &part, std::uint64_t most,
                                  const char *field) noexcept
    {
        const char *const begin = next;
        int state = in.resumes_ ? in.token_state(begin, next) : 0;
        while (!Automaton::is_last(state)) {
            const int byte = next < in.end_ ? static_cast<unsigned char>(*next) : in.peek_beyond(next);
            if (byte == not_here) {
                in.end_in_token(begin, next, state, field);
                return nullptr;
            }
            const int after = byte == at_end ? -1 : Automaton::next(state, byte);
            if (after < 0) {
                break;
            }
            state = after;
            ++next;
            const bool is_over = in.is_over(next);
            if (is_over || static_cast<std::uint64_t>(next - begin) > most) [[unlikely]] {
                in.end_wrong(in.offset_of(is_over ? next : begin), field,
                             is_over ? message_fault::too_large : message_fault::too_long);
                return nullptr;
            }
        }
        if (!Automaton::accepts(state)) [[unlikely]] {
            in.end_with(next, field);
            return nullptr;
        }
        part = {in.offset_of(begin), in.offset_of(next)};
        return next;
    }

    // As `digits`, for any number of them, and with a sign.
    template <class Integer>
    [[gnu::noinline]] static const char *digits_from(Reading &in, const char *next, Integer &value, unsigned base,
                                                     const char *field) noexcept
    {
        constexpr std::size_t most_digits = 64;
        const char *const begin = next;
        bool is_negative = false;
        std::uint64_t most = static_cast<std::uint64_t>(std::numeric_limits<Integer>::max());
        std::uint64_t magnitude = 0;
        std::size_t count = 0;
        for (;;) {
            const int byte = next < in.end_ ? static_cast<unsigned char>(*next) : in.peek_beyond(next);
            if (byte == not_here) {
                in.end_in_digits(begin, field);
                return nullptr;
            }
            const unsigned digit = byte < 0 ? base : digit_of(static_cast<char>(byte), base);
            if (digit < base) {
                ++count;
                if (__builtin_mul_overflow(magnitude, std::uint64_t{base}, &magnitude) ||
                    __builtin_add_overflow(magnitude, std::uint64_t{digit}, &magnitude) || magnitude > most ||
                    count > most_digits) [[unlikely]] {
                    in.end_wrong(in.offset_of(begin), field, does_not_fit);
                    return nullptr;
                }
            } else if (std::is_signed_v<Integer> && next == begin && (byte == '-' || byte == '+')) {
                is_negative = byte == '-';
                most += is_negative ? 1 : 0;
            } else {
                break;
            }
            ++next;
            if (in.is_over(next)) [[unlikely]] {
                in.end_wrong(in.offset_of(next), field, message_fault::too_large);
                return nullptr;
            }
        }
        if (count == 0) [[unlikely]] {
            in.end_wrong(in.offset_of(next), field, "a digit is wanted");
            return nullptr;
        }
        value = static_cast<Integer>(is_negative ? 0 - magnitude : magnitude);
        return next;
    }

    Reading *reading_;
    const char *next_;
};

} // namespace flux
