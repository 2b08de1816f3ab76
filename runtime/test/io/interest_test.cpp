#include "flux/io/interest.hpp"

#include "../support/io_peers.hpp"
#include "../support/io_world.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <memory>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;

/// A child that has all descriptors which are open now, until this ends.
class child
{
  public:
    child()
    {
        std::array<int, 2> ends{};
        EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
        held_from_ = flux::descriptor(ends[0]);
        ends_it_ = flux::descriptor(ends[1]);
        number_ = fork();
        if (number_ == 0) {
            close(ends[1]);
            char none;
            [[maybe_unused]] const ssize_t count = read(ends[0], &none, 1); // until the parent closes its end
            _exit(0);
        }
        EXPECT_GT(number_, 0);
    }
    child(const child &) = delete;
    child &operator=(const child &) = delete;

    ~child()
    {
        ends_it_ = flux::descriptor();
        EXPECT_EQ(waitpid(number_, nullptr, 0), number_);
    }

  private:
    flux::descriptor held_from_;
    flux::descriptor ends_it_;
    pid_t number_ = -1;
};

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
    const child holds;
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

template <class World>
class InterestOfLoops : public testing::Test
{
};

using worlds = testing::Types<reactor_world, proactor_world>;
TYPED_TEST_SUITE(InterestOfLoops, worlds);

TYPED_TEST(InterestOfLoops, AStreamIsNotNotifiedOfOneThatWasClosedAndIsHeldByAChild)
{
    TypeParam world;
    world.start([&](flux::flow &) {
        place server(world.io());
        const plain_peer one(server.listener->local());
        auto closed = server.accept();
        EXPECT_EQ(receive(*closed, 1, flux::moment::min()), "error ETIMEDOUT");
        const child holds;
        closed.reset();
        const plain_peer two(server.listener->local());
        const auto stranger = server.accept();
        int owner = 0;
        EXPECT_TRUE(server.arrivals->watch(*stranger, &owner).has_value());
        one.send("to whom?");
        EXPECT_EQ(server.arrivals->next(in(10ms)).error(), ETIMEDOUT) << "a stranger is notified";
        two.send("mine");
        EXPECT_EQ((*server.arrivals->next()).owner, &owner);
        EXPECT_EQ(receive(*stranger), "mine");
    });
    world.run();
}

} // namespace
