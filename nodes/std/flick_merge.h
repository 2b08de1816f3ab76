// The merge of sorted channels, which `foldt` is.
#pragma once

#include "flick_checksum.h"
#include "flick_end.h"
#include "flick_sorted.h"

#include "flux/error.hpp"

#include <array>
#include <cerrno>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace flick {

/// Sends bytes together; has their checksum where that is asked for.
template <bool is_summed>
class gathered_output
{
  public:
    explicit gathered_output(end &to) : to_(to) { bytes_.reserve(most); }

    flux::io_result<void> add(std::string_view bytes)
    {
        bytes_ += bytes;
        return bytes_.size() < most ? flux::io_result<void>() : flush();
    }

    flux::io_result<void> flush()
    {
        if constexpr (is_summed) {
            sum_.add(bytes_);
        }
        const flux::io_result<void> sent = bytes_.empty() ? flux::io_result<void>() : to_.send(bytes_);
        bytes_.clear();
        return sent;
    }

    /// Of all that was flushed.
    const checksum &sum() const noexcept { return sum_; }

  private:
    static constexpr std::size_t most = std::size_t{64} << 10;

    end &to_;
    std::string bytes_;
    checksum sum_;
};

/// Which of sorted inputs has the first element, of those with one key the first input: so elements of one key are
/// joined in the order of the inputs. A tree of losers (D. E. Knuth, The Art of Computer Programming 3, 5.4.1): when
/// the first has its next element, that is compared with as many others as the tree is high.
template <class Input>
class tournament
{
  public:
    /// All have their first elements, or have none.
    explicit tournament(const std::vector<Input> &inputs) : inputs_(inputs), losers_(inputs.size())
    {
        const std::size_t count = inputs.size();
        std::vector<entry> winners(2 * count);
        for (std::size_t node = 2 * count - 1; node != 0; --node) {
            if (node >= count) {
                winners[node] = entry_of(node - count);
                continue;
            }
            const auto [one, other] = std::pair(winners[2 * node], winners[2 * node + 1]);
            const bool wins = is_before(one, other);
            winners[node] = wins ? one : other;
            losers_[node] = wins ? other : one;
        }
        first_ = winners[1];
    }

    std::size_t first() const noexcept { return first_.input; }

    /// The key of its element; null where there is none.
    const typename Input::key_type *key() const noexcept { return first_.key; }

    /// The first has another element now, or none.
    void replay() noexcept
    {
        entry first = entry_of(first_.input);
        for (std::size_t node = (losers_.size() + first.input) / 2; node != 0; node /= 2) {
            if (is_before(losers_[node], first)) {
                std::swap(losers_[node], first);
            }
        }
        first_ = first;
    }

  private:
    // An input, with what decides of most: keys are further away.
    struct entry {
        std::uint64_t prefix;
        const typename Input::key_type *key;
        std::size_t input;
    };

    entry entry_of(std::size_t input) const noexcept
    {
        const auto *const key = inputs_[input].there() ? &inputs_[input].at() : nullptr;
        return {key == nullptr ? std::numeric_limits<std::uint64_t>::max() : key->prefix, key, input};
    }

    static bool is_before(const entry &one, const entry &other) noexcept
    {
        if (one.prefix != other.prefix) {
            return one.prefix < other.prefix;
        }
        if (one.key == nullptr || other.key == nullptr) [[unlikely]] {
            return one.key != nullptr;
        }
        const std::strong_ordering order = one.key->behind_prefix(*other.key);
        return order == 0 ? one.input < other.input : order < 0;
    }

    const std::vector<Input> &inputs_;
    std::vector<entry> losers_;
    entry first_{};
};

/// What is made of elements of one key, the last and the one before, of which that is made. They are made in their
/// places: a copy of what has just been written has to wait for it.
template <class Message, auto combine>
class joined
{
  public:
    template <class Key>
    void begin(const Message &one, const Message &other, const Key &key)
    {
        put(one, other, key);
    }

    template <class Key>
    void add(const Message &other, const Key &key)
    {
        put(made_[last_], other, key);
    }

    template <class Key>
    const Message &end(const Key &) const noexcept
    {
        return made_[last_];
    }

  private:
    template <class Key>
    void put(const Message &one, const Message &other, const Key &key)
    {
        const std::size_t next = 1 - last_;
        Message *const place = &made_[next];
        std::destroy_at(place);
        try {
            ::new (static_cast<void *>(place)) Message(combine(one, other, key));
        } catch (...) {
            std::construct_at(place);
            throw;
        }
        last_ = next;
    }

    std::array<Message, 2> made_;
    std::size_t last_ = 0;
};

/// The same where one number of each element counts: what `combine` makes of two. `make` makes the message of the last.
template <class Message, auto number, auto combine, auto make>
class joined_numbers
{
  public:
    template <class Key>
    void begin(const Message &one, const Message &other, const Key &key)
    {
        last_ = combine(number(one), number(other), key);
    }

    template <class Key>
    void add(const Message &other, const Key &key)
    {
        last_ = combine(last_, number(other), key);
    }

    template <class Key>
    const Message &end(const Key &key)
    {
        return made_ = make(last_, key);
    }

  private:
    decltype(number(std::declval<const Message &>())) last_{};
    Message made_;
};

/// Merges sorted inputs, of which there is one at least.
template <class Joined, class Message, class Input, class Output>
flux::io_result<void> merge(std::vector<Input> &inputs, Output &out, Message &last)
{
    // It may be long until an input goes on.
    const auto flush = [&] { return out.flush(); };
    for (Input &each : inputs) {
        if (const flux::io_result<void> begun = each.next(flush); !begun.has_value()) {
            return begun;
        }
    }
    tournament<Input> order(inputs);
    typename Input::key_type::own_type key;
    Joined all;
    while (const typename Input::key_type *const at = order.key()) {
        const Message &first = inputs[order.first()].element();
        const auto advance = [&] {
            const flux::io_result<void> advanced = inputs[order.first()].next(flush);
            order.replay();
            return advanced;
        };
        const auto is_joined = [&](const typename Input::key_type &with) {
            return order.key() != nullptr && order.key()->beside(with) == 0;
        };
        flux::io_result<void> advanced = advance();
        if (!advanced.has_value()) {
            return advanced;
        }
        if (!is_joined(*at)) {
            // It is the last but one of its input, so it is there still.
            const flux::io_result<void> added = out.add(first.wire());
            if (!added.has_value()) {
                return added;
            }
            if (order.key() == nullptr) {
                last = first;
            }
            continue;
        }
        key = at->value;
        const typename Input::key_type own(key);
        all.begin(first, inputs[order.first()].element(), key);
        advanced = advance();
        while (advanced.has_value() && is_joined(own)) {
            all.add(inputs[order.first()].element(), key);
            advanced = advance();
        }
        if (!advanced.has_value()) {
            return advanced;
        }
        const Message &made = all.end(key);
        const flux::io_result<void> added = out.add(made.wire());
        if (!added.has_value()) {
            return added;
        }
        if (order.key() == nullptr) {
            last = made;
        }
    }
    return out.flush();
}

/// Sends the message that ends a stream, whose checksum is of all that was sent.
template <auto make, class Output>
flux::io_result<void> send_end(Output &out)
{
    checksum sum = out.sum();
    const auto without = make(0);
    sum.add(without.wire().substr(0, without.wire().size() - checksum_size));
    const auto whole = make(sum.value());
    const flux::io_result<void> added = out.add(whole.wire());
    return added.has_value() ? out.flush() : added;
}

/// Whatever becomes of a merge, also where a function throws: who gets the elements is not to wait for more.
class finished_at_end
{
  public:
    explicit finished_at_end(end &one) noexcept : one_(one) {}
    finished_at_end(const finished_at_end &) = delete;
    finished_at_end &operator=(const finished_at_end &) = delete;
    ~finished_at_end() { one_.finish(); }

  private:
    end &one_;
};

/// Merges what comes of the clients of a run, and sends it to the channel `to`. Throws what the functions do.
template <class Joined, class Message, auto key, auto... ends>
int merge_clients(std::size_t to, long connect_ms, const char *servers, const instance &self, Message &last)
{
    const auto there = self.of().reach(to, 0, milliseconds(connect_ms), servers);
    if (!there.has_value() || *there == nullptr) {
        return there.has_value() ? ECONNRESET : there.error();
    }
    const finished_at_end to_its_end(**there);
    using input = sorted_input<Message, key, ends...>;
    flux::io_result<void> merged;
    try {
        std::vector<input> inputs;
        for (flux::connection *const each : self.of().joined()) {
            inputs.emplace_back(*each);
        }
        gathered_output<input::has_end> out(**there);
        merged = merge<Joined>(inputs, out, last);
        if constexpr (input::has_end) {
            if (merged.has_value()) {
                merged = send_end<std::get<1>(std::tuple(ends...))>(out);
            }
        }
    } catch (const std::bad_alloc &) {
        merged = flux::unexpected(ENOMEM);
    }
    return flux::take(merged);
}

/// The node of that name.
template <class Message, auto key, auto combine, auto... ends>
int Merge(std::size_t, std::size_t to, long connect_ms, const char *servers, const instance &self, Message &last)
{
    return merge_clients<joined<Message, combine>, Message, key, ends...>(to, connect_ms, servers, self, last);
}

/// The node of that name.
template <class Message, auto key, auto number, auto combine, auto make, auto... ends>
int MergeNumbers(std::size_t, std::size_t to, long connect_ms, const char *servers, const instance &self, Message &last)
{
    using each = joined_numbers<Message, number, combine, make>;
    return merge_clients<each, Message, key, ends...>(to, connect_ms, servers, self, last);
}

} // namespace flick
