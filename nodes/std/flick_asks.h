// What the replies that are to come on one connection depend on: what their requests ask for.
#pragma once

#include <cstdint>
#include <deque>
#include <new>
#include <utility>

namespace flick {

/// Of the requests of one connection, in their order (`flux/message/exchange.hpp`).
class awaited_asks
{
  public:
    /// So many are remembered that depend on anything; who asks for more is not answered.
    static constexpr std::size_t most = 4096;

    /// A request is sent that has so many replies, which depend on this; 0 is nothing. Throws `std::bad_alloc`, also
    /// where there are too many; then it is not noted.
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

    /// The last reply to one of them has come, if one was to come.
    void answered() noexcept
    {
        answered_ += is_all_answered() ? 0 : 1;
        while (!special_.empty() && special_.front().first < answered_) {
            special_.pop_front();
        }
    }

    /// What the reply that comes next depends on.
    std::uint8_t next() const noexcept
    {
        return special_.empty() || special_.front().first != answered_ ? std::uint8_t{0} : special_.front().second;
    }

    /// Nobody sees which replies come.
    void clear() noexcept { *this = {}; }

    /// Whether nothing was asked there yet; and whether nothing is to come.
    bool is_new() const noexcept { return noted_ == 0; }
    bool is_all_answered() const noexcept { return answered_ == noted_; }

  private:
    // How many replies were asked for, and how many have come.
    std::uint64_t noted_ = 0;
    std::uint64_t answered_ = 0;
    // Those that depend on anything: how many come before.
    std::deque<std::pair<std::uint64_t, std::uint8_t>> special_;
};

} // namespace flick
