#include "flux/waiting/owned_counter.hpp"

#include <gtest/gtest.h>
#include <thread>

namespace {

TEST(OwnedCounter, CountsWhileOthersRead)
{
    constexpr std::uint64_t many = 10'000;
    flux::owned_counter counter;
    EXPECT_EQ(counter.value(), 0u);
    std::thread reading([&] {
        for (std::uint64_t last = 0; last < many;) {
            const std::uint64_t now = counter.value();
            EXPECT_GE(now, last);
            last = now;
        }
    });
    for (std::uint64_t each = 0; each < many; ++each) {
        counter.add();
    }
    reading.join();
    EXPECT_EQ(counter.value(), many);
}

} // namespace
