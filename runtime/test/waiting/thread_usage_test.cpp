#include "flux/waiting/thread_usage.hpp"

#include "../support/patience.hpp"

#include <atomic>
#include <ctime>
#include <gtest/gtest.h>
#include <semaphore>
#include <thread>

namespace {

using namespace std::chrono_literals;

constexpr flux::moment start{};

TEST(OwnTime, IsWhatWasComputed)
{
    flux::own_time own;
    own.begin({5ms, 3ms, false}, start + 10ms);
    own.add({6ms, 3ms, false}, start + 11ms);
    own.add({6ms + 700us, 3ms, false}, start + 12ms);
    EXPECT_EQ(own.computed(), 1700us);
    EXPECT_EQ(own.slept(), 0ms);
}

TEST(OwnTime, IsNotWhatOthersHadTheProcessor)
{
    flux::own_time own;
    own.begin({5ms, 3ms, false}, start + 10ms);
    own.add({5ms + 10us, 3ms, false}, start + 60ms); // it waits, which is not counted yet
    own.add({5ms + 20us, 123ms, false}, start + 130ms);
    own.add({5ms + 30us, 193ms, true}, start + 200ms); // it slept after it had waited
    EXPECT_EQ(own.computed(), 30us);
    EXPECT_EQ(own.slept(), 0ms);
}

TEST(OwnTime, IsThatItSlept)
{
    flux::own_time own;
    own.begin({5ms, 3ms, true}, start + 10ms);
    own.add({5ms, 3ms, true}, start + 11ms);
    EXPECT_EQ(own.slept(), 1ms);
    own.add({5ms + 100us, 3ms + 300us, true}, start + 12ms);
    EXPECT_EQ(own.slept(), 1600us);
    EXPECT_EQ(own.computed(), 100us);
    own.add({5ms + 200us, 3ms + 300us, false}, start + 20ms);
    EXPECT_EQ(own.slept(), 1600us) << "whether it slept is not known before it is seen asleep";
}

TEST(OwnTime, BeginsAnew)
{
    flux::own_time own;
    own.begin({5ms, 3ms, true}, start);
    own.add({7ms, 3ms, true}, start + 5ms);
    own.begin({7ms, 3ms, true}, start + 5ms);
    EXPECT_EQ(own.computed() + own.slept(), 0ms);
}

TEST(WatchedThread, SleepsOrComputes)
{
    std::atomic<flux::watched_thread *> known{nullptr};
    std::atomic<bool> computes{false};
    std::atomic<bool> ends{false};
    std::binary_semaphore go_on{0};
    std::thread other([&] {
        flux::watched_thread self = flux::watched_thread::calling();
        known = &self;
        go_on.acquire();
        while (!ends) {
            computes = true;
        }
    });
    await([&] { return known != nullptr; });
    const flux::watched_thread watched = *known;
    // A signal that stops the process and lets it go on wakes the thread, too.
    flux::thread_usage after;
    await([&] {
        const flux::thread_usage before = watched.usage();
        dawdle(20ms);
        after = watched.usage();
        return before.asleep && after.asleep && after.computed == before.computed;
    });
    go_on.release();
    await([&] { return watched.usage().computed >= after.computed + 5ms; });
    EXPECT_TRUE(computes);
    EXPECT_FALSE(watched.usage().asleep);
    ends = true;
    other.join();
}

} // namespace
