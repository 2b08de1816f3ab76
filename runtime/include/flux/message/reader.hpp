/// \file
/// Reads a message: goes along its bytes, says where its fields are, and stops where bytes are missing or wrong.
///
/// The code that is generated of a message's declaration calls this class, one function for each message, which goes
/// through the fields in order. What has a size of its own is found by one comparison. When bytes are missing the
/// function returns, and begins anew when more have come: what may be long has been noted in `places`, and is passed
/// over; the rest is of bounded size and is looked at again. So the code has no states, and an arrival costs a bounded
/// number of steps beside those for its bytes.
///
/// All offsets count from the first byte of the outermost message. Nothing is copied, and nothing is allocated but for
/// what `unfinished_message` remembers.
#pragma once

#include "flux/message.hpp"
#include "flux/message/byte_set.hpp"
#include "flux/message/places.hpp"
#include "flux/message/stream_ahead.hpp"
#include "flux/message/unfinished.hpp"
#include "flux/message/wire.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace flux {

/// What comes of reading a message.
enum class reading : std::uint8_t {
    /// It is there.
    whole,
    /// More bytes are needed.
    unfinished,
    /// The bytes are no such message.
    wrong,
};

/// Why bytes are no message.
struct message_fault {
    /// The byte at which it was found.
    std::size_t offset = 0;
    /// What is wrong there.
    const char *text = "";

    /// The message and the fields on the way, joined by points. Throws `std::bad_alloc`.
    std::string field() const;

  private:
    friend class message_reader;

    struct step {
        const char *name;
        std::size_t index;
    };
    static constexpr std::size_t no_index = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t most_steps = 24;

    void within(const char *name, std::size_t index) noexcept;

    // The innermost first. Of more the outermost are left out.
    std::array<step, most_steps> steps_;
    std::size_t count_ = 0;
};

/// One reading of a message, as far as its bytes have come.
class message_reader
{
  public:
    /// A reader of the bytes that have come so far, from the first byte of the message on. `is_end` says that no more
    /// will come. `unfinished` is what earlier readings of the same message left, with fewer bytes.
    message_reader(std::string_view so_far, bool is_end, unfinished_message &unfinished) noexcept
        : bytes_(so_far.data()), available_(std::min(so_far.size(), most_bytes)), is_end_(is_end),
          resumes_(unfinished.is_open_), unfinished_(&unfinished)
    {
    }
    message_reader(const message_reader &) = delete;
    message_reader &operator=(const message_reader &) = delete;

    /// Reads a message, whose `places` are as the last reading left them.
    template <class Message>
    reading read(typename Message::places &at) noexcept
    {
        limit_ = std::min(Message::facts.max_size, most_bytes);
        end_ = std::min(available_, limit_);
        if (Message::parse(*this, at)) [[likely]] {
            static_cast<message_places &>(at).whole = {0, position()};
            unfinished_->is_open_ = false;
            return reading::whole;
        }
        end_within(Message::facts.name, message_fault::no_index);
        unfinished_->is_open_ = result_ == reading::unfinished;
        return result_;
    }

    /// Of a message that is whole, how many bytes it has.
    std::size_t size() const noexcept { return at_; }

    /// Of a message that is unfinished, how many bytes more are needed at least.
    std::size_t wanted() const noexcept { return wanted_; }

    /// Of a message that is unfinished, the stream before which the reading has stopped: it goes on when that has gone
    /// along (`unfinished_message::pass_stream`). Null where it is bytes that are missing.
    const stream_ahead *ahead() const noexcept
    {
        return stops_ && result_ == reading::unfinished ? &ahead_ : nullptr;
    }

    /// How many of the bytes that were given are there still: without elements that were removed.
    std::size_t available() const noexcept { return available_; }

    /// Of bytes that are no message, why.
    const message_fault &fault() const noexcept { return fault_; }

    // What follows is for generated code. What gives a truth value is false where the reading has ended. What ends it
    // calls a function that is never inline and gives `false` itself: so the compiler knows that nothing follows.

    /// The first byte of the outermost message.
    const char *bytes() const noexcept { return bytes_; }

    /// The next byte to be read.
    const char *next() const noexcept { return bytes_ + at_; }

    /// Its offset.
    std::uint32_t position() const noexcept { return static_cast<std::uint32_t>(at_); }

    /// Whether the next `count` bytes have come, and belong to what is read.
    bool has(std::uint64_t count) const noexcept { return count <= end_ - at_; }

    /// Goes over bytes that it has.
    void skip(std::size_t count) noexcept { at_ += count; }

    /// Ends the reading where it has not `count` bytes, for the field of this name.
    bool missing(std::uint64_t count, const char *field) noexcept
    {
        end_missing(count, field);
        return false;
    }

    /// A field of a fixed size.
    struct fixed {
        std::uint32_t size;
        const char *field;
    };

    /// The same for fields that follow each other.
    bool missing(std::initializer_list<fixed> fields) noexcept
    {
        end_missing(fields);
        return false;
    }

    /// Ends the reading: the field of this name, which begins `ahead` bytes from here, is not as it must be.
    bool wrong(const char *field, const char *text, std::size_t ahead = 0) noexcept
    {
        end_wrong(at_ + ahead, field, text);
        return false;
    }

    /// The same, of a field that has been read and begins at this offset.
    bool wrong_at(std::size_t offset, const char *field, const char *text) noexcept
    {
        end_wrong(offset, field, text);
        return false;
    }

    /// The text of a part.
    std::string_view view(const message_part &part) const noexcept
    {
        return {bytes_ + part.begin, part.end - part.begin};
    }

    /// Where the element begins that has been read last, while its list is asked about it.
    static std::uint32_t element_begin(const message_parts &list) noexcept
    {
        return list.count == 0 ? list.begin : list.next;
    }

    /// Finds the places in a message that was read before, as a part of the message that `bytes` are, from `begin` on;
    /// gives where it ends.
    template <class Unit>
    static std::size_t found(std::string_view bytes, std::size_t begin, typename Unit::places &at) noexcept
    {
        message_reader in(bytes);
        in.at_ = begin;
        in.parse<Unit>(at);
        return in.at_;
    }

    /// The texts of `wrong`.
    static constexpr const char *not_required = "this is not what is required";
    static constexpr const char *does_not_fit = "this value does not fit its type";
    static constexpr const char *no_case = "there is no case for this value";
    static constexpr const char *no_beginning = "no case begins with this";
    static constexpr const char *ends_early = "the data ends too early";
    static constexpr const char *too_large = "the message would be larger than it may be";
    static constexpr const char *too_long = "it has more bytes than it may have";
    static constexpr const char *too_many = "there are more elements than there may be";

    /// Says of a reading that has ended in which field that was.
    bool within(const char *field) noexcept
    {
        end_within(field, message_fault::no_index);
        return false;
    }

    /// The byte that decides a choice, or `at_end` where the data ends, or `not_here` where it has not come.
    int peek() const noexcept { return at_ < end_ ? static_cast<unsigned char>(bytes_[at_]) : peek_beyond(); }
    static constexpr int at_end = -1;
    static constexpr int not_here = -2;

    /// Just these bytes.
    template <std::size_t Size>
    [[gnu::always_inline]] bool literal(const char (&wanted)[Size], const char *field = "") noexcept
    {
        return literal(std::string_view(wanted, Size - 1), field);
    }
    [[gnu::always_inline]] bool literal(std::string_view wanted, const char *field = "") noexcept
    {
        if (has(wanted.size()) && std::memcmp(next(), wanted.data(), wanted.size()) == 0) [[likely]] {
            at_ += wanted.size();
            return true;
        }
        end_literal(wanted, field);
        return false;
    }

    /// So many bytes, of which there are at most `most`.
    bool text(message_part &part, std::uint64_t size, const char *field,
              std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) noexcept
    {
        if (size > most) [[unlikely]] {
            return wrong(field, too_long);
        }
        if (!has(size)) [[unlikely]] {
            return missing(size, field);
        }
        const std::uint32_t begin = position();
        at_ += size;
        part = {begin, position()};
        return true;
    }

    /// Bytes up to these, which are no part of it.
    bool until(message_part &part, std::string_view terminator, std::uint64_t most, const char *field) noexcept
    {
        if (is_passed(part)) {
            at_ += terminator.size();
            return true;
        }
        const std::size_t begin = at_;
        const std::size_t window = end_ - begin < most + terminator.size() ? end_ : begin + most + terminator.size();
        const char *const stop = bytes_ + window;
        const char *from = bytes_ + scan_begin(begin);
        while ((from = find_byte(bytes_, from, stop, terminator[0])) != stop) {
            if (static_cast<std::size_t>(stop - from) < terminator.size()) {
                break;
            }
            if (std::memcmp(from, terminator.data(), terminator.size()) == 0) [[likely]] {
                part = {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(from - bytes_)};
                at_ = part.end + terminator.size();
                return true;
            }
            ++from;
        }
        end_unterminated(static_cast<std::size_t>(from - bytes_), terminator, most, field);
        return false;
    }

    /// Bytes up to the end of what they are in.
    bool rest(message_part &part, std::uint64_t most, const char *field) noexcept;

    /// So many bytes that go along: to this reader they are none.
    bool stream(message_part &part, std::uint64_t size, const char *field,
                std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) noexcept;

    /// Bytes that go along up to the end of what the peer sends.
    bool stream_rest(message_part &part, std::uint64_t most, const char *field) noexcept;

    /// As many bytes of this set as come, at least `Least`.
    template <class Set, std::size_t Least>
    [[gnu::always_inline]] bool run(message_part &part, std::uint64_t most, const char *field) noexcept
    {
        if (is_passed(part)) {
            return true;
        }
        const std::size_t begin = at_;
        const char *const first_other = Set::skip(bytes_, bytes_ + scan_begin(begin), bytes_ + end_);
        at_ = static_cast<std::size_t>(first_other - bytes_);
        const std::size_t size = at_ - begin;
        if (at_ == end_ || size - Least > most - Least) [[unlikely]] {
            return run_ends(part, begin, {Set::contains, Least, most}, field);
        }
        part = {static_cast<std::uint32_t>(begin), position()};
        return true;
    }

    /// The longest text of an automaton: `next(state, byte)` is the state after one more byte, or -1; the first is 0.
    template <class Automaton>
    bool token(message_part &part, std::uint64_t most, const char *field) noexcept
    {
        if (is_passed(part)) {
            return true;
        }
        const std::size_t begin = at_;
        int state = 0;
        if (resumes_ && unfinished_->scanned_ > begin) [[unlikely]] {
            state = static_cast<int>(unfinished_->state_);
            at_ = scan_begin(begin);
        }
        while (!Automaton::is_last(state)) {
            const int byte = peek();
            if (byte == not_here) {
                unfinished_->state_ = static_cast<std::uint32_t>(state);
                const std::size_t scanned = at_;
                at_ = begin;
                return wait_from(scanned, 1, field);
            }
            const int after = byte == at_end ? -1 : Automaton::next(state, byte);
            if (after < 0) {
                break;
            }
            state = after;
            ++at_;
            if (at_ > limit_) [[unlikely]] {
                return wrong(field, too_large);
            }
            if (at_ - begin > most) [[unlikely]] {
                at_ = begin;
                return wrong(field, too_long);
            }
        }
        if (!Automaton::accepts(state)) [[unlikely]] {
            return wrong(field, at_ < available_ ? "this byte cannot come here" : ends_early);
        }
        part = {static_cast<std::uint32_t>(begin), position()};
        return true;
    }

    /// An integer as digits.
    template <class Integer, unsigned Base>
    bool digits(Integer &value, const char *field) noexcept
    {
        if constexpr (Base == 10) {
            // What most numbers are: some digits, and the byte after them is there.
            const char *const first = next();
            const char *const stop = first + std::min<std::size_t>(end_ - at_, std::numeric_limits<Integer>::digits10);
            std::uint64_t so_far = 0;
            for (const char *from = first; from != stop; ++from) {
                const unsigned digit = static_cast<unsigned char>(*from) - unsigned{'0'};
                if (digit > 9) {
                    if (from == first) {
                        break;
                    }
                    value = static_cast<Integer>(so_far);
                    at_ = static_cast<std::size_t>(from - bytes_);
                    return true;
                }
                so_far = 10 * so_far + digit;
            }
        }
        return any_digits<Integer, Base>(value, field);
    }

    /// Another message.
    template <class Unit>
    bool unit(typename Unit::places &at, const char *field) noexcept
    {
        return is_passed(whole(at)) || parse<Unit>(at) || within(field);
    }

    /// Another message, of so many bytes.
    template <class Unit>
    bool sized(typename Unit::places &at, std::uint64_t size, const char *field) noexcept
    {
        if (is_passed(whole(at))) {
            return true;
        }
        const region outer = {limit_, in_region_};
        return enter(size, field) && (parse<Unit>(at) || within(field)) && leave(outer, field);
    }

    /// Another message, which is at an earlier offset: before `floor`, or before where the last such look led.
    template <class Unit>
    bool look_back(typename Unit::places &at, std::uint64_t offset, std::size_t floor, const char *field) noexcept
    {
        const std::size_t before = std::min(floor, floor_);
        if (offset >= before) {
            return wrong(field, "this does not look back");
        }
        const region outer = {limit_, in_region_};
        const std::size_t position = at_;
        const std::size_t outer_floor = std::exchange(floor_, static_cast<std::size_t>(offset));
        limit_ = end_ = position;
        in_region_ = true;
        at_ = static_cast<std::size_t>(offset);
        if (!parse<Unit>(at)) {
            return within(field);
        }
        floor_ = outer_floor;
        at_ = position;
        return restore(outer);
    }

    /// What a list has to do after each of its elements, where that is nothing.
    struct nothing_more {
        template <class Places>
        bool operator()(const Places &) const noexcept
        {
            return true;
        }
    };

    /// So many elements. `each` is asked after each of them, and false where it has ended the reading.
    template <class Element, class Each = nothing_more>
    bool times(message_parts &list, std::uint64_t count, const char *field,
               const typename Element::places &first = {}, Each each = {}) noexcept
    {
        if (!begin(list)) {
            return true;
        }
        while (list.count < count) {
            if (!element<Element>(list, field, first, each)) {
                return false;
            }
        }
        return end(list);
    }

    /// Elements up to these bytes, which are no part of the list.
    template <class Element, class Each = nothing_more>
    bool list_until(message_parts &list, std::string_view terminator, std::uint64_t most, const char *field,
                    const typename Element::places &first = {}, Each each = {}) noexcept
    {
        if (!begin(list)) {
            return true;
        }
        for (;;) {
            const int byte = peek();
            if (byte == not_here) {
                return missing(1, field);
            }
            if (byte == static_cast<unsigned char>(terminator[0])) {
                list.end = position();
                return literal(terminator, field) && end_after(list);
            }
            if (list.count == most) {
                return wrong(field, too_many);
            }
            if (!element<Element>(list, field, first, each)) {
                return false;
            }
        }
    }

    /// Elements up to the first after which `each` says that it is the last: it gives whether the reading goes on, and
    /// sets its second argument.
    template <class Element, class Each>
    bool list_until_last(message_parts &list, std::uint64_t most, const char *field,
                         const typename Element::places &first, Each each) noexcept
    {
        if (!begin(list)) {
            return true;
        }
        bool is_last = false;
        while (!is_last) {
            if (list.count == most) {
                return wrong(field, too_many);
            }
            if (!element<Element>(list, field, first, [&](const auto &at) { return each(at, is_last); })) {
                return false;
            }
        }
        return end(list);
    }

    /// Elements up to the end of what they are in.
    template <class Element, class Each = nothing_more>
    bool list_rest(message_parts &list, std::uint64_t most, const char *field,
                   const typename Element::places &first = {}, Each each = {}) noexcept
    {
        if (!begin(list)) {
            return true;
        }
        for (;;) {
            const int byte = peek();
            if (byte == not_here) {
                return missing(1, field);
            }
            if (byte == at_end) {
                return end(list);
            }
            if (list.count == most) {
                return wrong(field, too_many);
            }
            if (!element<Element>(list, field, first, each)) {
                return false;
            }
        }
    }

    /// What has so many bytes, and uses all of them: `read` reads it.
    template <class Read>
    bool within_size(std::uint64_t size, const char *field, Read read) noexcept
    {
        const region outer = {limit_, in_region_};
        return enter(size, field) && read() && leave(outer, field);
    }

    /// What may be in itself at most `most` times, of the field with this number: `read` reads it.
    template <class Read>
    bool within_depth(std::size_t number, unsigned most, const char *field, Read read) noexcept
    {
        for (; depths_known_ <= number; ++depths_known_) {
            depths_[depths_known_] = 0;
        }
        if (++depths_[number] > most) {
            return wrong(field, "it is in itself more often than it may be");
        }
        const bool is_read = read();
        --depths_[number];
        return is_read;
    }

    /// How many fields with a bound of their depth a program may have.
    static constexpr std::size_t most_depths = 64;

    /// A message in this one whose places nobody keeps, as it may have itself in it.
    template <class Unit>
    bool passed(message_part &part, const char *field, const typename Unit::places &first = {}) noexcept
    {
        if (is_passed(part)) {
            return true;
        }
        typename Unit::places at = first;
        take(at);
        if (!parse<Unit>(at)) {
            keep(at);
            return within(field);
        }
        part = whole(at);
        return true;
    }

  private:
    // Of bytes that have been read before.
    explicit message_reader(std::string_view all) noexcept
        : bytes_(all.data()), end_(all.size()), limit_(all.size()), available_(all.size()), in_region_(true),
          is_end_(true), resumes_(false), unfinished_(nullptr)
    {
    }

    /// Offsets have 32 bits.
    static constexpr std::size_t most_bytes = std::numeric_limits<std::uint32_t>::max();
    /// How many messages may be in each other: each is a call of a function.
    static constexpr unsigned most_units = 200;

    /// What bounds what is read: its end, and whether that is of a field or of the message as a whole.
    struct region {
        std::size_t limit;
        bool is_field;
    };

    bool enter(std::uint64_t size, const char *field) noexcept;
    bool leave(region outer, const char *field) noexcept
    {
        // Where what is around it ends there too, that is told of.
        const bool is_all = at_ == limit_ || (outer.is_field && limit_ == outer.limit);
        return is_all ? restore(outer) : wrong(field, "bytes are left over");
    }
    bool restore(region outer) noexcept
    {
        limit_ = outer.limit;
        in_region_ = outer.is_field;
        end_ = std::min(available_, limit_);
        return true;
    }

    template <class Unit>
    bool parse(typename Unit::places &at) noexcept
    {
        if (++depth_ >= most_units) [[unlikely]] {
            return wrong("", "too many messages are in each other");
        }
        const std::uint32_t begin = position();
        if (!Unit::parse(*this, at)) [[unlikely]] {
            return false;
        }
        static_cast<message_places &>(at).whole = {begin, position()};
        --depth_;
        return true;
    }

    // Where the message is of which these are the places.
    static const message_part &whole(const message_places &at) noexcept { return at.whole; }

    // Goes over what an earlier reading has found.
    bool is_passed(const message_part &part) noexcept
    {
        if (!resumes_ || !part.is_read()) [[likely]] {
            return false;
        }
        at_ = part.end;
        return true;
    }

    // Whether there is anything left to read of the list.
    bool begin(message_parts &list) noexcept
    {
        if (resumes_ && list.is_read) [[unlikely]] {
            at_ = list.next;
            return false;
        }
        if (list.count == 0) [[likely]] {
            list.begin = position();
        } else {
            at_ = list.next;
        }
        return true;
    }
    bool end(message_parts &list) noexcept
    {
        list.end = position();
        return end_after(list);
    }
    bool end_after(message_parts &list) noexcept
    {
        list.next = position();
        list.is_read = true;
        return true;
    }

    template <class Element, class Each>
    bool element(message_parts &list, const char *field, const typename Element::places &first, Each &&each) noexcept
    {
        typename Element::places at = first;
        take(at);
        if (!parse<Element>(at) || !each(std::as_const(at))) [[unlikely]] {
            keep(at);
            end_within(field, list.count);
            return false;
        }
        ++list.count;
        if constexpr (has_streams<Element>()) {
            remove_from(list.begin);
        }
        list.next = position();
        return true;
    }

    void remove_from(std::size_t begin) noexcept;

    // The places of what was open when the last reading ended.
    template <class Places>
    void take(Places &at) noexcept
    {
        if (resumes_ && !unfinished_->open_.empty()) [[unlikely]] {
            unfinished_->take(at);
        }
    }

    template <class Places>
    [[gnu::cold]] void keep(const Places &at) noexcept
    {
        if (result_ != reading::unfinished) {
            return;
        }
        try {
            unfinished_->keep(at);
        } catch (const std::bad_alloc &) {
            wrong("", "there is no memory to go on later");
        }
    }

    // Where the scan of what begins here goes on: where the last reading left it, if that was in the middle.
    std::size_t scan_begin(std::size_t begin) noexcept
    {
        return resumes_ ? std::max(begin, std::exchange(unfinished_->scanned_, 0)) : begin;
    }

    // What is to be said of a run that does not end with a byte which is not in its set, or is too short or too long.
    struct run_facts {
        bool (*contains)(char);
        std::size_t least;
        std::uint64_t most;
    };

    template <class Integer, unsigned Base>
    [[gnu::noinline]] bool any_digits(Integer &value, const char *field) noexcept;
    int peek_beyond() const noexcept;
    bool passes(message_part &part, const stream_ahead &stream, const char *field) noexcept;
    bool wait_from(std::size_t scanned, std::uint64_t count, const char *field) noexcept
    {
        end_waiting(scanned, count, field);
        return false;
    }
    [[gnu::cold]] void end_missing(std::uint64_t count, const char *field) noexcept;
    [[gnu::cold]] void end_missing(std::initializer_list<fixed> fields) noexcept;
    [[gnu::cold]] void end_wrong(std::size_t offset, const char *field, const char *text) noexcept;
    [[gnu::cold]] void end_within(const char *field, std::size_t index) noexcept;
    [[gnu::cold]] void end_waiting(std::size_t scanned, std::uint64_t count, const char *field) noexcept;
    [[gnu::cold]] void end_literal(std::string_view wanted, const char *field) noexcept;
    [[gnu::cold]] void end_unterminated(std::size_t scanned, std::string_view terminator, std::uint64_t most,
                                        const char *field) noexcept;
    [[gnu::cold]] bool run_ends(message_part &part, std::size_t begin, const run_facts &run,
                                const char *field) noexcept;

    const char *bytes_;
    std::size_t at_ = 0;
    // After the last byte that has come and belongs to what is read.
    std::size_t end_ = 0;
    std::size_t limit_ = 0;
    std::size_t available_;
    // Whether `limit_` is the end of a field; else it is how large the message may be.
    bool in_region_ = false;
    bool is_end_;
    // Whether an earlier reading of the same message has noted anything.
    bool resumes_;
    // Whether it has stopped before a stream.
    bool stops_ = false;
    reading result_ = reading::whole;
    unsigned depth_ = 0;
    unfinished_message *unfinished_;
    std::size_t floor_ = std::numeric_limits<std::size_t>::max();
    // This has a value where the reading is unfinished, and `fault_` where the bytes are wrong.
    std::size_t wanted_;
    stream_ahead ahead_;
    // Only so many of them have a value.
    std::size_t depths_known_ = 0;
    std::array<std::uint8_t, most_depths> depths_;
    union {
        message_fault fault_;
    };
};

template <class Integer, unsigned Base>
bool message_reader::any_digits(Integer &value, const char *field) noexcept
{
    using limits = std::numeric_limits<Integer>;
    constexpr std::size_t most_digits = 64;
    const std::size_t begin = at_;
    bool is_negative = false;
    std::uint64_t most = static_cast<std::uint64_t>(limits::max());
    std::uint64_t magnitude = 0;
    std::size_t count = 0;
    for (;;) {
        const int byte = peek();
        if (byte == not_here) {
            at_ = begin;
            return wait_from(0, available_ - begin + 1, field);
        }
        unsigned digit = static_cast<unsigned>(byte - '0');
        if constexpr (Base == 16) {
            if (digit > 9) {
                const unsigned letter = static_cast<unsigned>((byte | 0x20) - 'a');
                digit = byte >= 'A' && letter < 6 ? letter + 10 : Base;
            }
        }
        if (digit >= Base) {
            if (std::is_signed_v<Integer> && at_ == begin && (byte == '-' || byte == '+')) {
                is_negative = byte == '-';
                most += is_negative ? 1 : 0;
            } else {
                break;
            }
        } else {
            ++count;
            if (__builtin_mul_overflow(magnitude, std::uint64_t{Base}, &magnitude) ||
                __builtin_add_overflow(magnitude, std::uint64_t{digit}, &magnitude) || magnitude > most ||
                count > most_digits) [[unlikely]] {
                at_ = begin;
                return wrong(field, does_not_fit);
            }
        }
        ++at_;
        if (at_ > limit_) [[unlikely]] {
            return wrong(field, too_large);
        }
    }
    if (count == 0) [[unlikely]] {
        return wrong(field, "a digit is wanted");
    }
    value = static_cast<Integer>(is_negative ? 0 - magnitude : magnitude);
    return true;
}

} // namespace flux
