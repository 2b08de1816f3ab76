#include "flux/io/accept_group.hpp"

#include "flux/io/accept_seat.hpp"
#include "../support/patience.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <memory>
#include <thread>
#include <vector>

namespace {

using flux::accept_policy;

class member final : public flux::accept_member
{
  public:
    void ring() noexcept override { ++rings; }

    std::atomic<int> rings{0};
};

const flux::moment now = flux::moment() + std::chrono::hours(1);

TEST(AcceptGroup, RingsTheOneWithTheFewest)
{
    const auto group = std::make_shared<flux::accept_group>(nullptr);
    member first;
    member second;
    const accept_policy::member one = group->join(first);
    const accept_policy::member two = group->join(second);
    EXPECT_TRUE(group->quiet());
    group->ask(one, now);
    group->ask(two, now);
    group->notify();
    EXPECT_FALSE(group->quiet());
    EXPECT_EQ(group->ask(one, now).what, accept_policy::verdict::accept);
    EXPECT_TRUE(group->quiet());
    group->accepted(one);
    {
        const flux::accept_seat seat(group, one);
        EXPECT_EQ(group->ask(one, now).what, accept_policy::verdict::wait);
        EXPECT_EQ(second.rings, 1);
    }
    EXPECT_EQ(group->ask(one, now).what, accept_policy::verdict::accept) << "its connection has ended";
    group->leave(one, now);
}

TEST(AcceptGroup, NobodyIsRungWhoHasLeft)
{
    const auto own = std::make_shared<flux::accepting>();
    flux::accept_group group(own);
    const auto gone = std::make_unique<member>();
    member stays;
    const accept_policy::member one = group.join(*gone);
    group.join(stays);
    group.leave(one, now);
    own->look();
    own->drain();
    EXPECT_EQ(gone->rings, 0);
    EXPECT_EQ(stays.rings, 2);
}

TEST(AcceptGroup, MayBeUsedByManyThreads)
{
    const auto group = std::make_shared<flux::accept_group>(nullptr);
    constexpr int rounds = 2'000;
    std::atomic<int> accepted{0};
    std::vector<std::thread> threads;
    for (int number = 0; number < 4; ++number) {
        threads.emplace_back([&] {
            member self;
            const accept_policy::member own = group->join(self);
            for (int round = 0; round < rounds; ++round) {
                group->notify();
                if (group->ask(own, in(std::chrono::seconds(0))).what == accept_policy::verdict::accept) {
                    group->accepted(own);
                    const flux::accept_seat seat(group, own);
                    ++accepted;
                }
            }
            group->leave(own, now);
        });
    }
    for (std::thread &each : threads) {
        each.join();
    }
    EXPECT_GT(accepted, 0);
}

TEST(AcceptGroup, AllAreRungToLook)
{
    const auto own = std::make_shared<flux::accepting>();
    flux::accept_group group(own);
    std::vector<member> all(3);
    for (member &each : all) {
        group.join(each);
    }
    own->look();
    for (const member &each : all) {
        EXPECT_EQ(each.rings, 1);
    }
}

} // namespace
