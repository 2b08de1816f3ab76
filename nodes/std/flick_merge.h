// The merge of sorted channels, which `foldt` is.
#pragma once

#include "flick_end.h"

#include "flux/error.hpp"
#include "flux/log.hpp"
#include "flux/message/typed_parse.hpp"
#include "flux/reading.hpp"

#include <cerrno>
#include <string>
#include <vector>

namespace flick {

/// What comes of a client that sends elements in the order of their keys.
template <class Message, auto key>
class sorted_input
{
  public:
    using key_type = decltype(key(std::declval<const Message &>()));

    explicit sorted_input(flux::connection &from) noexcept : from_(from) {}

    /// The next element, if there is one. Fails with EBADMSG where that is not sorted, and as receiving does.
    flux::io_result<bool> next()
    {
        flux::typed_parse<Message> parse;
        if (const flux::io_result<void> read = from_.receive_message(parse); !read.has_value()) {
            if (read.error() == flux::end_of_input) {
                return false;
            }
            if (read.error() == EBADMSG) {
                flux::log_wrong_message(from_.peer(), parse);
            }
            return flux::unexpected(read.error());
        }
        element = parse.message();
        key_type after = key(element);
        if (has_begun_ && after < at) {
            flux::log_line("what %s sends is not sorted", from_.peer().text().c_str());
            return flux::unexpected(EBADMSG);
        }
        has_begun_ = true;
        at = std::move(after);
        return true;
    }

    /// Whether the next element is here already, or a part of it.
    bool has_more() const noexcept { return from_.has_unread(); }

    Message element;
    key_type at{};

  private:
    flux::connection &from_;
    bool has_begun_ = false;
};

/// Sends bytes together.
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
        const flux::io_result<void> sent = bytes_.empty() ? flux::io_result<void>() : to_.send(bytes_);
        bytes_.clear();
        return sent;
    }

  private:
    static constexpr std::size_t most = std::size_t{64} << 10;

    end &to_;
    std::string bytes_;
};

/// Merges sorted inputs. Those that have an element are in a heap by its key, and then by their number, so that
/// elements of one key are joined in the order of the inputs. (D. E. Knuth, The Art of Computer Programming 3, 5.4.1.)
template <class Message, auto key, auto combine>
flux::io_result<void> merge(std::vector<sorted_input<Message, key>> &inputs, gathered_output &out, Message &last)
{
    std::vector<std::size_t> heap;
    const auto is_later = [&](std::size_t one, std::size_t other) {
        return inputs[other].at < inputs[one].at || (!(inputs[one].at < inputs[other].at) && other < one);
    };
    const auto advance = [&](std::size_t one) -> flux::io_result<void> {
        if (!inputs[one].has_more()) {
            // It may be long until it goes on.
            if (const flux::io_result<void> sent = out.flush(); !sent.has_value()) {
                return sent;
            }
        }
        const flux::io_result<bool> there = inputs[one].next();
        if (!there.has_value()) {
            return flux::unexpected(there.error());
        }
        if (*there) {
            heap.push_back(one);
            std::push_heap(heap.begin(), heap.end(), is_later);
        }
        return {};
    };
    for (std::size_t each = 0; each != inputs.size(); ++each) {
        if (const flux::io_result<void> begun = advance(each); !begun.has_value()) {
            return begun;
        }
    }
    while (!heap.empty()) {
        const std::size_t first = heap.front();
        const auto at = inputs[first].at;
        Message made = std::move(inputs[first].element);
        std::size_t taken = first;
        while (true) {
            std::pop_heap(heap.begin(), heap.end(), is_later);
            heap.pop_back();
            if (const flux::io_result<void> advanced = advance(taken); !advanced.has_value()) {
                return advanced;
            }
            if (heap.empty() || at < inputs[heap.front()].at) {
                break;
            }
            taken = heap.front();
            made = combine(made, inputs[taken].element, at);
        }
        last = std::move(made);
        if (const flux::io_result<void> added = out.add(last.wire()); !added.has_value()) {
            return added;
        }
    }
    return out.flush();
}

/// The node of that name.
template <class Message, auto key, auto combine>
int Merge(std::size_t, std::size_t to, long connect_ms, const char *servers, const instance &self, Message &last)
{
    const auto there = self.of().reach(to, 0, milliseconds(connect_ms), servers);
    if (!there.has_value() || *there == nullptr) {
        return there.has_value() ? ECONNRESET : there.error();
    }
    std::vector<sorted_input<Message, key>> inputs;
    for (flux::connection *const each : self.of().joined()) {
        inputs.emplace_back(*each);
    }
    gathered_output out(**there);
    const flux::io_result<void> merged = merge<Message, key, combine>(inputs, out, last);
    (*there)->finish();
    return flux::take(merged);
}

} // namespace flick
