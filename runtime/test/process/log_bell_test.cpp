#include "flux/process/log_bell.hpp"

#include <gtest/gtest.h>

namespace {

/// Where one who logs can come in while the thread that writes comes to rest: before it sets the bell, before and after
/// it looks once more, and when it waits.
constexpr int places = 4;

TEST(LogBell, NoLineIsLeftWhereTheThreadRests)
{
    for (int puts_at = 0; puts_at < places; ++puts_at) {
        for (int looks_at = puts_at; looks_at < places; ++looks_at) {
            flux::log_bell bell;
            bool line = false;
            bool woken = false;
            const auto other_at = [&](int place) {
                line = line || place == puts_at;
                if (place == looks_at && bell.rings([] { return false; })) {
                    woken = bell.take();
                }
            };
            other_at(0);
            const bool waits = bell.set_for_any([&] {
                other_at(1);
                const bool found = line;
                other_at(2);
                return found;
            });
            other_at(3);
            EXPECT_EQ(waits, woken) << "put at " << puts_at << ", looked at " << looks_at;
        }
    }
}

TEST(LogBell, RingsForManyWhereThereAreManyAndForAnyAlways)
{
    const auto few = [] { return false; };
    const auto many = [] { return true; };
    flux::log_bell bell;
    EXPECT_FALSE(bell.rings(many));
    EXPECT_FALSE(bell.take());
    bell.set_for_many();
    EXPECT_FALSE(bell.rings(few));
    EXPECT_TRUE(bell.rings(many));
    EXPECT_TRUE(bell.take());
    EXPECT_FALSE(bell.take());
    EXPECT_TRUE(bell.set_for_any(few));
    EXPECT_TRUE(bell.rings(few));
    EXPECT_TRUE(bell.take());
    EXPECT_FALSE(bell.set_for_any(many));
    EXPECT_FALSE(bell.rings(many));
}

} // namespace
