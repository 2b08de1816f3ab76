#include "flux/waiting/timer_wheel.hpp"

#include "../support/seeds.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <vector>

namespace {

using namespace std::chrono_literals;
using flux::moment;
using flux::timer_wheel;

/// A time of the clock, a whole number of ticks.
constexpr moment start{1'234'567'891ms};

TEST(TimerWheel, TakesWhatIsDueAndNothingElse)
{
    timer_wheel wheel(start);
    timer_wheel::entry first;
    timer_wheel::entry second;
    EXPECT_TRUE(wheel.empty());
    EXPECT_EQ(wheel.next(), flux::never);
    wheel.set(second, start + 30ms);
    wheel.set(first, start + 10ms);
    EXPECT_FALSE(wheel.empty());
    EXPECT_EQ(wheel.next(), start + 10ms);
    EXPECT_EQ(wheel.take_due(start + 9ms), nullptr);
    EXPECT_EQ(wheel.take_due(start + 10ms), &first);
    EXPECT_EQ(wheel.take_due(start + 10ms), nullptr);
    EXPECT_EQ(wheel.next(), start + 30ms);
    EXPECT_EQ(wheel.take_due(start + 24h), &second);
    EXPECT_TRUE(wheel.empty());
}

TEST(TimerWheel, IsNeverEarlyAndAtMostATickLate)
{
    timer_wheel wheel(start + 300us);
    timer_wheel::entry entry;
    wheel.set(entry, start + 5ms + 1ns);
    EXPECT_EQ(wheel.next(), start + 6ms);
    EXPECT_EQ(wheel.take_due(start + 6ms - 1ns), nullptr);
    EXPECT_EQ(wheel.take_due(start + 6ms), &entry);
}

TEST(TimerWheel, WhatIsInThePastIsDueAtOnce)
{
    timer_wheel wheel(start);
    timer_wheel::entry entry;
    for (const moment past : {start, start - 1ms, moment(), moment(-1s), moment::min()}) {
        wheel.set(entry, past);
        EXPECT_EQ(wheel.next(), start);
        EXPECT_EQ(wheel.take_due(start), &entry);
    }
}

TEST(TimerWheel, KnowsAllTimesOfTheClock)
{
    timer_wheel wheel(start);
    timer_wheel::entry last;
    timer_wheel::entry tomorrow;
    wheel.set(last, flux::never);
    wheel.set(tomorrow, start + 24h);
    EXPECT_EQ(wheel.take_due(start + 24h - 1ms), nullptr);
    EXPECT_EQ(wheel.take_due(start + 24h), &tomorrow);
    EXPECT_EQ(wheel.take_due(flux::never - 2ms), nullptr);
    EXPECT_EQ(wheel.take_due(flux::never), &last);
}

TEST(TimerWheel, CancelsAlsoWhatIsNotSet)
{
    timer_wheel wheel(start);
    timer_wheel::entry entry;
    wheel.cancel(entry);
    wheel.set(entry, start + 1h);
    wheel.cancel(entry);
    wheel.cancel(entry);
    EXPECT_TRUE(wheel.empty());
    EXPECT_EQ(wheel.take_due(start + 2h), nullptr);
}

/// Entries and when they are due, in the simplest way.
class model
{
  public:
    explicit model(std::uint64_t seed) : random_(seed), wheel_(now_), entries_(50) {}

    void step()
    {
        timer_wheel::entry &entry = entries_[random_() % entries_.size()];
        const auto set = find(&entry);
        if (set != due_.end()) {
            wheel_.cancel(entry);
            due_.erase(set);
        } else {
            const moment due = now_ + some_time() - 20ms;
            wheel_.set(entry, due);
            due_.emplace(std::max<moment>(std::chrono::ceil<std::chrono::milliseconds>(due), now_tick()), &entry);
        }
        if (random_() % 4 == 0) {
            now_ += some_time();
            take_all();
        }
        check_next();
    }

  private:
    using deadlines = std::multimap<moment, timer_wheel::entry *>;

    deadlines::iterator find(const timer_wheel::entry *wanted)
    {
        return std::find_if(due_.begin(), due_.end(), [=](const auto &each) { return each.second == wanted; });
    }

    // Of any magnitude, from microseconds to years.
    std::chrono::nanoseconds some_time()
    {
        const std::uint64_t magnitude = random_() % 56;
        return std::chrono::nanoseconds(random_() % (std::uint64_t{1} << magnitude));
    }

    moment now_tick() const { return std::chrono::floor<std::chrono::milliseconds>(now_); }

    void take_all()
    {
        moment last = moment::min();
        while (timer_wheel::entry *const taken = wheel_.take_due(now_)) {
            const auto found = find(taken);
            ASSERT_NE(found, due_.end());
            EXPECT_EQ(found->first, due_.begin()->first) << "an earlier one is left";
            EXPECT_GE(found->first, last);
            EXPECT_LE(found->first, now_);
            last = found->first;
            due_.erase(found);
        }
        EXPECT_TRUE(due_.empty() || due_.begin()->first > now_) << "one that is due is left";
    }

    void check_next()
    {
        ASSERT_EQ(wheel_.empty(), due_.empty());
        if (due_.empty()) {
            return;
        }
        const moment first = due_.begin()->first;
        EXPECT_LE(wheel_.next(), first);
        EXPECT_GE(wheel_.next(), now_tick());
    }

    std::mt19937_64 random_;
    moment now_ = start;
    timer_wheel wheel_;
    std::vector<timer_wheel::entry> entries_;
    deadlines due_;
};

TEST(TimerWheel, DoesWhatASortedMapDoes)
{
    for (const std::uint64_t seed : each_seed(200)) {
        model both(seed);
        for (int step = 0; step < 2000 && !testing::Test::HasFailure(); ++step) {
            both.step();
        }
    }
}

// What waits for `next` and looks then comes to a deadline in a few looks, however far it is.
TEST(TimerWheel, ComesToAFarDeadlineInAFewLooks)
{
    timer_wheel wheel(start);
    timer_wheel::entry entry;
    wheel.set(entry, start + 24h * 365);
    moment now = start;
    int looks = 0;
    while (wheel.take_due(now) == nullptr) {
        ASSERT_GT(wheel.next(), now);
        now = wheel.next();
        ++looks;
    }
    EXPECT_EQ(now, start + 24h * 365);
    EXPECT_LE(looks, 8);
}

} // namespace
