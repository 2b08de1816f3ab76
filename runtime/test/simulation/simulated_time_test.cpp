#include "flux/simulation/simulated_time.hpp"

#include <gtest/gtest.h>
#include <set>
#include <string>

namespace {

using namespace std::chrono_literals;
using flux::simulated_time;

/// What some events leave in the trace.
std::string trace_of(std::uint64_t seed)
{
    simulated_time time(seed);
    for (int number = 0; number < 20; ++number) {
        time.soon(5ms, [&time, number] {
            time.note("event " + std::to_string(number));
            if (number % 4 == 0) {
                time.soon(1ms, [&time] { time.note("comes of it"); });
            }
        });
    }
    while (time.advance(flux::never)) {
        time.happen();
    }
    return time.trace();
}

TEST(SimulatedTime, OneSeedIsOneOrder)
{
    std::set<std::string> all;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const std::string trace = trace_of(seed);
        EXPECT_EQ(trace, trace_of(seed));
        all.insert(trace);
    }
    EXPECT_EQ(all.size(), 50u);
}

TEST(SimulatedTime, GoesOnToTheNextEventAndNoFurther)
{
    simulated_time time(1);
    time.after(2s, [] {});
    time.after(1h, [] {});
    ASSERT_TRUE(time.advance(flux::never));
    EXPECT_EQ(time.now(), simulated_time::start + 2s);
    time.happen();
    ASSERT_TRUE(time.advance(simulated_time::start + 3s));
    EXPECT_EQ(time.now(), simulated_time::start + 3s);
    ASSERT_TRUE(time.advance(flux::never));
    EXPECT_EQ(time.now(), simulated_time::start + 1h);
    time.happen();
    EXPECT_FALSE(time.advance(flux::never));
}

TEST(SimulatedTime, WorkTakesALittleTime)
{
    simulated_time time(1);
    for (int look = 0; look < 100; ++look) {
        const flux::moment before = time.now();
        ASSERT_TRUE(time.advance(flux::moment::min()));
        EXPECT_GE(time.now(), before);
        EXPECT_LT(time.now(), before + 1ms);
    }
    EXPECT_GT(time.now(), simulated_time::start);
}

TEST(SimulatedTime, AnEventAndADeadlineOfOneInstantComeInEitherOrder)
{
    std::set<bool> event_was_first;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        simulated_time time(seed);
        bool happened = false;
        time.after(1ms, [&happened] { happened = true; });
        ASSERT_TRUE(time.advance(simulated_time::start + 1ms));
        time.happen();
        event_was_first.insert(happened);
    }
    EXPECT_EQ(event_was_first.size(), 2u);
}

TEST(SimulatedTime, ForgetsWhatWouldHaveHappened)
{
    simulated_time time(1);
    const auto witness = std::make_shared<int>(0);
    time.after(1ms, [witness] { ++*witness; });
    time.forget();
    EXPECT_FALSE(time.advance(flux::never));
    EXPECT_EQ(witness.use_count(), 1);
    EXPECT_EQ(*witness, 0);
}

} // namespace
