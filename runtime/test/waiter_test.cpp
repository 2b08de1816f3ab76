#include "flux/waiter.hpp"

#include <gtest/gtest.h>
#include <thread>

namespace {

TEST(Waiter, AWakeThatComesFirstIsNotLost)
{
    flux::thread_waiter place;
    place.wake();
    place.wait(); // returns, or the test hangs
    SUCCEED();
}

TEST(Waiter, WaitsUntilItIsWoken)
{
    flux::thread_waiter place;
    std::atomic<bool> gone_on{false};
    std::thread other([&] {
        place.wait();
        gone_on = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(gone_on);
    place.wake();
    other.join();
    EXPECT_TRUE(gone_on);
}

TEST(Waiter, EveryWaitIsAnsweredByOneWakeAndSeesWhatWasWrittenBefore)
{
    constexpr int rounds = 20'000;
    flux::thread_waiter here;
    flux::thread_waiter there;
    int ball = 0; // plain: the thread sanitizer sees whether waiting orders the accesses
    std::thread other([&] {
        for (int round = 0; round < rounds; ++round) {
            there.wait();
            EXPECT_EQ(ball, 2 * round + 1);
            ++ball;
            here.wake();
        }
    });
    for (int round = 0; round < rounds; ++round) {
        ++ball;
        there.wake();
        here.wait();
        EXPECT_EQ(ball, 2 * round + 2);
    }
    other.join();
}

} // namespace
