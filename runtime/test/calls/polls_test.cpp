#include "flux/calls/polls.hpp"

#include "../support/calling_world.hpp"

#include <sys/epoll.h>
#include <sys/select.h>

namespace {

using namespace std::chrono_literals;

template <class World>
class Polls : public testing::Test
{
  public:
    calling_world<World> world;
};

using loops = testing::Types<reactor_world, proactor_world>;
TYPED_TEST_SUITE(Polls, loops);

/// Whether `number` has input, by each of these calls; they wait so long, or for ever.
using way = std::function<int(int number, std::chrono::milliseconds longest)>;

int by_poll(int number, std::chrono::milliseconds longest)
{
    pollfd on[] = {{-1, POLLIN, 0}, {number, POLLIN, 0}};
    const int found = poll(on, 2, static_cast<int>(longest.count()));
    EXPECT_EQ(on[1].revents, found > 0 ? POLLIN : 0);
    return found;
}

int by_ppoll(int number, std::chrono::milliseconds longest)
{
    pollfd on{number, POLLIN, 0};
    const timespec time = flux::timespec_of(longest < 0ms ? 0ms : longest);
    return ppoll(&on, 1, longest < 0ms ? nullptr : &time, nullptr);
}

int by_select(int number, std::chrono::milliseconds longest)
{
    fd_set read;
    FD_ZERO(&read);
    FD_SET(number, &read);
    timeval time{0, longest.count() * 1'000};
    const int found = select(number + 1, &read, nullptr, nullptr, longest < 0ms ? nullptr : &time);
    EXPECT_EQ(FD_ISSET(number, &read), found > 0);
    return found;
}

int by_pselect(int number, std::chrono::milliseconds longest)
{
    fd_set read;
    FD_ZERO(&read);
    FD_SET(number, &read);
    const timespec time = flux::timespec_of(longest < 0ms ? 0ms : longest);
    return pselect(number + 1, &read, nullptr, nullptr, longest < 0ms ? nullptr : &time, nullptr);
}

int by_epoll(int number, std::chrono::milliseconds longest)
{
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    epoll_event event{EPOLLIN, {.u64 = 5}};
    EXPECT_EQ(epoll_ctl(epoll, EPOLL_CTL_ADD, number, &event), 0);
    event.data.u64 = 0;
    const int found = epoll_wait(epoll, &event, 1, static_cast<int>(longest.count()));
    EXPECT_EQ(std::uint64_t{event.data.u64}, found > 0 ? 5U : 0U); // a copy, as the struct is packed
    close(epoll);
    return found;
}

const way ways[] = {by_poll, by_ppoll, by_select, by_pselect, by_epoll};

TYPED_TEST(Polls, WaitForInput)
{
    for (const way &each : ways) {
        const two_ends ends = two_ends::of_pipe();
        this->world.start([&](flux::flow &flow) {
            EXPECT_EQ(each(ends[0], 0ms), 0);
            EXPECT_EQ(each(ends[0], -1ms), 1);
            EXPECT_EQ(each(ends[0], -1ms), 1) << "it has not been read";
            EXPECT_EQ(flow.counted().parks, 1U);
        });
        this->world.start([&](flux::flow &) {
            let_others_run();
            write_text(ends[1], "a");
        });
        this->world.run();
    }
}

TYPED_TEST(Polls, WaitSoLong)
{
    for (const way &each : ways) {
        const two_ends ends = two_ends::of_pipe();
        this->world.start([&](flux::flow &flow) {
            const flux::moment begin = this->world.io().now();
            errno = ENOTTY;
            EXPECT_EQ(each(ends[0], 5ms), 0);
            EXPECT_EQ(errno, ENOTTY);
            EXPECT_GE(this->world.io().now(), begin + 5ms);
            flow.set_deadline(this->world.io().now() + 2ms);
            EXPECT_EQ(each(ends[0], 1h), -1);
            EXPECT_EQ(errno, ETIMEDOUT);
            flow.set_deadline(flux::never);
            flow.cancel();
            EXPECT_EQ(each(ends[0], 5ms), -1);
            EXPECT_EQ(errno, ECANCELED);
        });
        this->world.run();
    }
}

TYPED_TEST(Polls, OfNothingSleep)
{
    this->world.start([&](flux::flow &) {
        const flux::moment begin = this->world.io().now();
        EXPECT_EQ(poll(nullptr, 0, 3), 0);
        timeval time{0, 3'000};
        EXPECT_EQ(select(0, nullptr, nullptr, nullptr, &time), 0);
        EXPECT_GE(this->world.io().now(), begin + 6ms);
    });
    this->world.run();
}

TYPED_TEST(Polls, FindThatADescriptorIsClosedMeanwhile)
{
    two_ends ends = two_ends::of_pipe();
    this->world.start([&](flux::flow &) {
        pollfd on{ends[0], POLLIN, 0};
        EXPECT_EQ(poll(&on, 1, -1), 1);
        EXPECT_EQ(on.revents, POLLNVAL);
    });
    this->world.start([&](flux::flow &) {
        let_others_run();
        ends.close_end(0);
    });
    this->world.run();
}

TYPED_TEST(Polls, OfAFileOnADiskDoNotWait)
{
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    this->world.start([&](flux::flow &flow) {
        EXPECT_EQ(by_poll(file, -1ms), 1);
        EXPECT_EQ(by_select(file, -1ms), 1);
        EXPECT_EQ(flow.counted().parks, 0U);
    });
    this->world.run();
    close(file);
}

TYPED_TEST(Polls, OfManyDescriptorsFindTheOneThatHasSomething)
{
    std::vector<two_ends> many;
    for (int number = 0; number < 50; ++number) {
        many.push_back(two_ends::of_sockets());
    }
    this->world.start([&](flux::flow &) {
        std::vector<pollfd> on;
        for (const two_ends &each : many) {
            on.push_back({each[0], POLLIN | POLLPRI, 0});
        }
        EXPECT_EQ(poll(on.data(), on.size(), -1), 1);
        EXPECT_EQ(on[33].revents, POLLIN);
    });
    this->world.start([&](flux::flow &) {
        let_others_run();
        write_text(many[33][1], "a");
    });
    this->world.run();
}

} // namespace
