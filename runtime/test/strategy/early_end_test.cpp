#include "flux/strategy/early_end.hpp"
#include "../support/patience.hpp"

#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <thread>
#include <utility>

namespace {

using namespace std::chrono_literals;

/// A place that does something instead of waiting, and says how often it was woken.
class scripted_place final : public flux::waiter
{
  public:
    bool wait_until(flux::moment) noexcept override
    {
        ++waits;
        if (during) {
            during();
        }
        return std::exchange(woken_, false) && !late;
    }
    void wake() noexcept override { woken_ = true; ++wakes; }

    std::function<void()> during;
    bool late = false;
    int waits = 0;
    int wakes = 0;

  private:
    bool woken_ = false;
};

TEST(EarlyEnd, ATimeThatPassesIsNoEarlyEnd)
{
    flux::early_end end;
    scripted_place place;
    end.watch();
    EXPECT_FALSE(end.wait(place, flux::moment()));
    EXPECT_FALSE(end.wait(place, flux::moment()));
    EXPECT_EQ(place.waits, 2);
}

TEST(EarlyEnd, WhatHappensEndsTheWaitByOneWake)
{
    flux::early_end end;
    scripted_place place;
    place.during = [&] {
        end.happened();
        end.happened();
    };
    end.watch();
    EXPECT_TRUE(end.wait(place, flux::never));
    EXPECT_EQ(place.wakes, 1);
    place.during = nullptr;
    EXPECT_FALSE(end.wait(place, flux::moment())) << "it happened once";
}

TEST(EarlyEnd, WhatHappensBeforeTheWaitIsRemembered)
{
    flux::early_end end;
    scripted_place place;
    end.watch();
    end.happened();
    end.watch();
    EXPECT_TRUE(end.wait(place, flux::never));
    EXPECT_EQ(place.waits, 0);
    EXPECT_EQ(place.wakes, 0);
    EXPECT_FALSE(end.wait(place, flux::moment()));
}

TEST(EarlyEnd, WhatHappensAsTheTimeIsOverIsWaitedFor)
{
    flux::early_end end;
    scripted_place place;
    place.late = true; // the time is over, and then it happens, before the one who waited has said that it goes on
    place.during = [&] { end.happened(); };
    end.watch();
    EXPECT_TRUE(end.wait(place, flux::never));
    EXPECT_EQ(place.waits, 2) << "the wake that is owed is taken";
}

TEST(EarlyEnd, WhatNobodyWatchesIsForgotten)
{
    flux::early_end end;
    scripted_place place;
    end.happened();
    end.watch();
    EXPECT_FALSE(end.wait(place, flux::moment()));
    end.happened();
    end.ignore();
    end.watch();
    EXPECT_FALSE(end.wait(place, flux::moment()));
}

// Hangs where a wake is lost, and is the thread sanitizer's to look at.
TEST(EarlyEnd, NoneIsMissedBetweenThreads)
{
    constexpr int rounds = 20'000;
    flux::early_end end;
    std::atomic<int> made{0};
    std::atomic<int> seen{0};
    end.watch();
    std::thread other([&] {
        for (int round = 1; round <= rounds; ++round) {
            made = round;
            end.happened();
            while (seen < round) {
                std::this_thread::yield();
            }
        }
    });
    flux::thread_waiter place;
    while (seen < rounds) {
        const int now = made;
        if (now == seen) {
            // Times that are over at once, and such that never are.
            end.wait(place, now % 2 == 0 ? flux::never : in(0ms));
        }
        seen = made.load();
    }
    other.join();
    EXPECT_EQ(seen, rounds);
}

} // namespace
