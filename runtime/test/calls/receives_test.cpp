#include "flux/calls/receives.hpp"

#include "../support/calling_world.hpp"

namespace {

using namespace std::chrono_literals;

template <class World>
class Receives : public testing::Test
{
  public:
    calling_world<World> world;
};

using loops = testing::Types<reactor_world, proactor_world>;
TYPED_TEST_SUITE(Receives, loops);

TYPED_TEST(Receives, InEachWay)
{
    const two_ends ends = two_ends::of_sockets(SOCK_DGRAM);
    char bytes[4] = {};
    iovec whole{bytes, sizeof bytes};
    msghdr message{};
    message.msg_iov = &whole;
    message.msg_iovlen = 1;
    mmsghdr one{message, 0};
    const std::function<ssize_t()> ways[] = {
        [&] { return recv(ends[0], bytes, sizeof bytes, 0); },
        [&] { return recvfrom(ends[0], bytes, sizeof bytes, 0, nullptr, nullptr); },
        [&] { return recvmsg(ends[0], &message, 0); },
        [&]() -> ssize_t { return recvmmsg(ends[0], &one, 1, 0, nullptr) == 1 ? one.msg_len : -1; },
        [&] { return recv(ends[0], bytes, sizeof bytes, MSG_WAITALL); },
    };
    int done = 0;
    this->world.start([&](flux::flow &) {
        for (const auto &way : ways) {
            EXPECT_EQ(way(), 2);
            EXPECT_EQ(std::string(bytes, 2), "ab");
            ++done;
        }
        EXPECT_EQ(recv(ends[0], bytes, sizeof bytes, MSG_DONTWAIT), -1);
        EXPECT_EQ(errno, EAGAIN);
    });
    this->world.start([&](flux::flow &) {
        for (int number = 0; number < 5; ++number) {
            while (done < number) {
                let_others_run();
            }
            let_others_run();
            EXPECT_EQ(done, number);
            send(ends[1], "ab", 2, 0);
        }
    });
    this->world.run();
    EXPECT_EQ(done, 5);
}

TYPED_TEST(Receives, AllThatWasAskedFor)
{
    two_ends ends = two_ends::of_sockets();
    this->world.start([&](flux::flow &) {
        char bytes[7] = {};
        iovec parts[] = {{bytes, 2}, {bytes + 2, 3}};
        msghdr message{};
        message.msg_iov = parts;
        message.msg_iovlen = 2;
        EXPECT_EQ(recvmsg(ends[0], &message, MSG_WAITALL), 5);
        EXPECT_STREQ(bytes, "abcde");
        EXPECT_EQ(recv(ends[0], bytes, 6, MSG_WAITALL), 3) << "as much as there is before the end";
    });
    this->world.start([&](flux::flow &) {
        for (const char *part : {"a", "bcd", "efgh"}) {
            let_others_run();
            write_text(ends[1], part);
        }
        let_others_run();
        ends.close_end(1);
    });
    this->world.run();
}

TYPED_TEST(Receives, ManyMessages)
{
    const two_ends ends = two_ends::of_sockets(SOCK_DGRAM);
    char bytes[3] = {};
    this->world.start([&](flux::flow &) {
        iovec parts[3];
        mmsghdr messages[3] = {};
        for (int number = 0; number < 3; ++number) {
            parts[number] = {bytes + number, 1};
            messages[number].msg_hdr.msg_iov = &parts[number];
            messages[number].msg_hdr.msg_iovlen = 1;
        }
        EXPECT_EQ(recvmmsg(ends[0], messages, 3, 0, nullptr), 3);
        EXPECT_EQ(std::string(bytes, 3), "abc");
        EXPECT_EQ(recvmmsg(ends[0], messages, 3, MSG_WAITFORONE, nullptr), 1);
        timespec longest{0, 3'000'000};
        write_text(ends[1], "e");
        EXPECT_EQ(recvmmsg(ends[0], messages, 3, 0, &longest), 1) << "until the time is over";
        EXPECT_EQ(recvmmsg(ends[0], messages, 3, 0, &longest), -1);
        EXPECT_EQ(errno, EAGAIN);
    });
    this->world.start([&](flux::flow &) {
        for (const char *one : {"a", "b", "c", "d"}) {
            let_others_run();
            write_text(ends[1], one);
        }
    });
    this->world.run();
}

} // namespace
