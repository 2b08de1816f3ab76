/// \file
/// What loops of bodies go through: the elements of a list or a map, in turns with other flows.
///
/// A body always ends, but a loop over a million elements would hold up its event loop. So a loop spends its flow's
/// budget for I/O (`io/budget.hpp`): a unit for each turn. A turn is as many elements as take about the time of a
/// system call; of a loop with others in it, one element. Where the time of the flow is up, or the flow is cancelled,
/// the loop fails the node, as a call of I/O does.
///
/// Between turns a loop over a list costs what it costs by hand: the end of the turn takes the place of the end of the
/// list. A loop over fewer elements than a turn never looks.
#pragma once

#include "flux/flow/compute.hpp"
#include "flux/io/budget.hpp"

#include <cstdint>
#include <iterator>

namespace flux::compute {

/// How many elements are a turn where little is done with each.
inline constexpr std::int64_t elements_of_turn = 256;

/// Spends a unit; fails with ETIMEDOUT or ECANCELED.
inline void take_turn()
{
    if (const int error = within_io_budget(); error != 0) [[unlikely]] {
        fail(error);
    }
    spend_io_budget(0);
}

/// A list or a map on its way through a loop, `count` elements a turn. What it is made of has to stay.
template <class Elements, std::int64_t count>
class turns
{
    using position = typename Elements::const_iterator;
    static constexpr bool can_jump = std::random_access_iterator<position>;

  public:
    explicit turns(const Elements &elements) noexcept : elements_(elements) {}

    /// Where a loop is.
    class iterator
    {
      public:
        explicit iterator(const Elements &elements) noexcept : at_(elements.begin()), end_(elements.end())
        {
            begin_turn();
        }

        decltype(auto) operator*() const noexcept { return *at_; }

        iterator &operator++() noexcept
        {
            ++at_;
            if constexpr (!can_jump) {
                --left_;
            }
            return *this;
        }

        /// Whether there is another element; at the end of a turn others come first.
        bool operator!=(std::default_sentinel_t)
        {
            if constexpr (can_jump) {
                return at_ != stop_ || is_next();
            } else {
                return at_ != end_ && (left_ != 0 || is_next());
            }
        }

      private:
        void begin_turn() noexcept
        {
            if constexpr (can_jump) {
                stop_ = end_ - at_ > count ? at_ + count : end_;
            } else {
                left_ = count;
            }
        }

        bool is_next()
        {
            if (at_ == end_) {
                return false;
            }
            take_turn();
            begin_turn();
            return true;
        }

        position at_;
        position end_;
        position stop_{};
        std::int64_t left_ = 0;
    };

    iterator begin() const noexcept { return iterator(elements_); }
    std::default_sentinel_t end() const noexcept { return {}; }

  private:
    const Elements &elements_;
};

/// `for (const hit &h : in_turns(hits))`
template <std::int64_t count = elements_of_turn, class Elements>
turns<Elements, count> in_turns(const Elements &elements) noexcept
{
    return turns<Elements, count>(elements);
}

} // namespace flux::compute
