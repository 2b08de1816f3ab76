#include "flux/io/interest.hpp"

#include "../support/io_peers.hpp"
#include "../support/lack_of_memory.hpp"

#include <array>
#include <gtest/gtest.h>
#include <memory>
#include <sys/socket.h>
#include <unistd.h>

namespace {

class counting final : public flux::watched
{
  public:
    void came(std::uint32_t) noexcept override { ++times; }

    int times = 0;
};

struct pair {
    pair()
    {
        std::array<int, 2> ends{};
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
        near = flux::descriptor(ends[0]);
        far = flux::descriptor(ends[1]);
    }

    void send() const { EXPECT_EQ(write(far.get(), "x", 1), 1); }

    flux::descriptor near;
    flux::descriptor far;
};

void look(flux::interest &of)
{
    of.fetch(flux::moment::min());
    of.deliver();
}

TEST(Interest, WhatAChildHoldsOfOneWhoHasGoneIsNobodys)
{
    flux::interest all;
    pair first;
    auto gone = std::make_unique<counting>();
    EXPECT_TRUE(all.add(first.near, EPOLLIN | EPOLLET, *gone).has_value());
    const child_with_all holds;
    gone.reset();
    first.near = flux::descriptor(); // and the kernel watches it yet, as the child has it
    first.send();
    look(all); // nobody has the place
    const pair second;
    counting stranger;
    EXPECT_TRUE(all.add(second.near, EPOLLIN | EPOLLET, stranger).has_value());
    first.send();
    look(all);
    EXPECT_EQ(stranger.times, 0) << "it has the place of the one who has gone";
    second.send();
    look(all);
    EXPECT_EQ(stranger.times, 1);
}

TEST(Interest, AnEventThatWasFetchedBeforeIsNotDeliveredToTheNextOne)
{
    flux::interest all;
    pair first;
    auto gone = std::make_unique<counting>();
    EXPECT_TRUE(all.add(first.near, EPOLLIN | EPOLLET, *gone).has_value());
    first.send();
    all.fetch(flux::moment::min());
    all.remove(first.near, *gone);
    const pair second;
    counting next;
    EXPECT_TRUE(all.add(second.near, EPOLLIN | EPOLLET, next).has_value());
    all.deliver();
    EXPECT_EQ(gone->times, 0);
    EXPECT_EQ(next.times, 0);
}

TEST(Interest, APlaceIsUsedAgainWithoutMemory)
{
    flux::interest all;
    const pair ends;
    counting one;
    counting two;
    EXPECT_TRUE(all.add(ends.near, EPOLLIN, one).has_value());
    EXPECT_TRUE(all.add(ends.far, EPOLLIN, two).has_value());
    bool added = true;
    {
        const lack_of_memory here;
        for (int times = 0; times < 100; ++times) {
            all.remove(ends.near, one);
            all.remove(ends.far, two);
            added = added && all.add(ends.near, EPOLLIN, one).has_value();
            added = added && all.add(ends.far, EPOLLIN, two).has_value();
        }
    }
    EXPECT_TRUE(added);
}

} // namespace
