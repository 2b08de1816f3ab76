// The values of `asks` that the pending replies on one connection depend on.
#pragma once

#include <cstdint>
#include <deque>
#include <new>
#include <utility>

namespace flick {

/// The values of `asks` of one connection's requests, in their order (`flux/message/exchange.hpp`).
class awaited_asks
{
  public:
    /// The limit of pending replies with an `asks` other than 0. A request beyond the limit gets no reply.
    static constexpr std::size_t most = 4096;

    /// Notes the replies to a request that is sent. They depend on `asks`, or on nothing if it is 0. Throws
    /// `std::bad_alloc` if memory is short or `most` is exceeded, and then notes nothing.
    void note(std::uint64_t replies, std::uint8_t asks)
    {
        const std::size_t before = special_.size();
        if (asks != 0 && replies > most - before) {
            throw std::bad_alloc();
        }
        try {
            for (std::uint64_t each = 0; asks != 0 && each != replies; ++each) {
                special_.emplace_back(noted_ + each, asks);
            }
        } catch (...) {
            special_.resize(before);
            throw;
        }
        noted_ += replies;
    }

    /// Notes that a final reply has arrived. Does nothing if no reply is pending.
    void answered() noexcept
    {
        answered_ += is_all_answered() ? 0 : 1;
        while (!special_.empty() && special_.front().first < answered_) {
            special_.pop_front();
        }
    }

    /// The `asks` that the next reply depends on.
    std::uint8_t next() const noexcept
    {
        return special_.empty() || special_.front().first != answered_ ? std::uint8_t{0} : special_.front().second;
    }

    /// Forgets all requests, because no flow counts their replies any more.
    void clear() noexcept { *this = {}; }

    /// Whether no request has asked for a reply yet.
    bool is_new() const noexcept { return noted_ == 0; }
    /// Whether no reply is pending.
    bool is_all_answered() const noexcept { return answered_ == noted_; }

  private:
    // The number of replies that requests asked for, and the number that have arrived.
    std::uint64_t noted_ = 0;
    std::uint64_t answered_ = 0;
    // Pending replies with an `asks` other than 0: the number of replies before each, and its `asks`.
    std::deque<std::pair<std::uint64_t, std::uint8_t>> special_;
};

} // namespace flick
