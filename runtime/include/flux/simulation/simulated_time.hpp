/// \file
/// Simulated time: a clock that stands still until something happens, and then shows when that was.
///
/// What will happen is a list of events. A seed decides how long each takes to come and which of two comes first that
/// are due at one instant, and nothing else decides anything: the same seed gives the same events in the same order,
/// at the same times. What happened is written down in a trace, so that two runs can be compared byte by byte. (The
/// idea is that of FoundationDB's simulator: Zhou et al., "FoundationDB: A Distributed Unbundled Transactional Key
/// Value Store", SIGMOD 2021, section 4.)
///
/// Times often fall on whole milliseconds, as the deadlines of a loop do: so an event and a timeout come at the same
/// instant again and again, in either order.
#pragma once

#include "flux/moment.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flux {

/// A clock, what will happen, and the dice. It belongs to one thread.
class simulated_time
{
  public:
    /// What happens at a time.
    using event = std::function<void()>;

    /// When the clock starts.
    static constexpr moment start = moment() + std::chrono::hours(1);

    explicit simulated_time(std::uint64_t seed) noexcept : state_(seed) {}
    simulated_time(const simulated_time &) = delete;
    simulated_time &operator=(const simulated_time &) = delete;

    /// What the clock shows.
    moment now() const noexcept { return now_; }

    /// A number from 0 to less than `bound`, which is not 0. (SplitMix64: Steele, Lea and Flood, "Fast Splittable
    /// Pseudorandom Number Generators", OOPSLA 2014.)
    std::uint64_t draw(std::uint64_t bound) noexcept;

    /// True so many times in a thousand.
    bool chance(unsigned per_mille) noexcept { return draw(1000) < per_mille; }

    /// It will happen after so much time.
    void after(std::chrono::nanoseconds time, event happens);

    /// It will happen after a time that the dice say, at most `longest`; often at a whole millisecond.
    void soon(std::chrono::nanoseconds longest, event happens);

    /// The clock goes on to the next events, but at most to `until`; it goes on a little where that has passed. False
    /// where there are none and `until` is `never`: time has come to its end.
    bool advance(moment until);

    /// Lets those events happen. What comes of them happens later.
    void happen();

    /// Whether anything will happen.
    bool pending() const noexcept { return !events_.empty() || !next_.empty(); }

    /// Nothing of what would have happened does.
    void forget();

    /// Writes a line into the trace, with the time.
    void note(std::string_view what);

    /// All lines so far: microseconds since the start, and what happened.
    const std::string &trace() const noexcept { return trace_; }

  private:
    std::uint64_t state_;
    moment now_ = start;
    // In their order: at one instant the dice have said.
    std::multimap<std::pair<moment, std::uint64_t>, event> events_;
    std::vector<event> next_;
    std::string trace_;
};

} // namespace flux
