#include "flux/waiting/waiter.hpp"

#include "../support/known_thread.hpp"

#include <gtest/gtest.h>
#include <thread>

namespace {

using namespace std::chrono_literals;

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
    known_thread other([&] {
        place.wait();
        gone_on = true;
    });
    other.await_asleep();
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

TEST(Waiter, WaitsNoLongerThanUntilItsDeadline)
{
    flux::thread_waiter place;
    const flux::moment deadline = in(20ms);
    EXPECT_FALSE(place.wait_until(deadline));
    EXPECT_TRUE(has_come(deadline));
    for (const flux::moment past : {deadline, flux::moment(), flux::moment::min()}) {
        EXPECT_FALSE(place.wait_until(past));
    }
    place.wake();
    EXPECT_TRUE(place.wait_until(deadline)) << "a wake that came first, though the deadline has passed";
    EXPECT_FALSE(place.wait_until(deadline)) << "it was for one wait";
}

TEST(Waiter, ADeadlineDoesNotKeepAWakeAway)
{
    flux::thread_waiter place;
    std::thread other([&, waits = gettid()] {
        await([&] { return is_asleep(getpid(), waits); });
        place.wake();
    });
    EXPECT_TRUE(place.wait_until(in(1h))) << "it hangs if the wake does not end it";
    other.join();
}

// Each wake is for exactly one wait: that of the round, or where its deadline came first, the next.
TEST(Waiter, AWakeThatRacesWithTheDeadlineIsNeverLost)
{
    constexpr int rounds = 5'000;
    flux::thread_waiter place;
    std::atomic<flux::moment> deadline{flux::moment()};
    std::thread other([&] {
        flux::moment before;
        for (int seen = 0; seen < rounds; ++seen) {
            while (deadline.load() == before) {
                std::this_thread::yield();
            }
            before = deadline.load();
            // A little later: the kernel has ended the wait, and the thread that waited has not gone on yet.
            spin_until(before + std::chrono::microseconds(seen % 200));
            place.wake();
        }
    });
    int late = 0;
    for (int number = 0; number < rounds; ++number) {
        const flux::moment until = in(50us);
        deadline = until;
        if (!place.wait_until(until)) {
            ++late;
            place.wait(); // returns, or the test hangs
        }
    }
    other.join();
    EXPECT_GT(late, 0);
}

} // namespace
