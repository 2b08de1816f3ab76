#include "flux/calls/sends.hpp"

#include "../support/calling_world.hpp"

namespace {

using namespace std::chrono_literals;

template <class World>
class Sends : public testing::Test
{
  public:
    calling_world<World> world;
};

using loops = testing::Types<reactor_world, proactor_world>;
TYPED_TEST_SUITE(Sends, loops);

/// More than a socket or a pipe takes at once.
constexpr std::size_t much = 1'000'000;

std::string sample_bytes()
{
    std::string made(much, '\0');
    for (std::size_t each = 0; each < much; ++each) {
        made[each] = static_cast<char>(each % 251);
    }
    return made;
}

std::string read_all(int from)
{
    std::string all;
    while (all.size() < much) {
        const std::string some = read_text(from, 30'000);
        if (some.empty()) {
            break;
        }
        all += some;
    }
    return all;
}

TYPED_TEST(Sends, AllOfIt)
{
    const std::string bytes = sample_bytes();
    const std::function<ssize_t(int)> ways[] = {
        [&](int to) { return write(to, bytes.data(), much); },
        [&](int to) {
            const iovec parts[] = {{const_cast<char *>(bytes.data()), 1'000},
                                   {const_cast<char *>(bytes.data()) + 1'000, much - 1'000}};
            return writev(to, parts, 2);
        },
        [&](int to) { return send(to, bytes.data(), much, 0); },
        [&](int to) { return sendto(to, bytes.data(), much, 0, nullptr, 0); },
        [&](int to) -> ssize_t {
            iovec parts[] = {{const_cast<char *>(bytes.data()), 500'000},
                             {const_cast<char *>(bytes.data()) + 500'000, 499'999},
                             {const_cast<char *>(bytes.data()) + 999'999, 1}};
            mmsghdr messages[2] = {};
            messages[0].msg_hdr.msg_iov = parts;
            messages[0].msg_hdr.msg_iovlen = 2;
            messages[1].msg_hdr.msg_iov = parts + 2;
            messages[1].msg_hdr.msg_iovlen = 1;
            EXPECT_EQ(sendmmsg(to, messages, 2, 0), 2);
            return messages[0].msg_len + messages[1].msg_len;
        },
    };
    int number = 0;
    for (const auto &way : ways) {
        for (const bool is_pipe : {false, true}) {
            if (is_pipe && number > 1) {
                continue;
            }
            const two_ends ends = is_pipe ? two_ends::of_pipe() : two_ends::of_sockets();
            this->world.start([&](flux::flow &flow) {
                EXPECT_EQ(way(ends[1]), static_cast<ssize_t>(much));
                EXPECT_GT(flow.counted().parks, 0U);
            });
            this->world.start([&](flux::flow &) { EXPECT_EQ(read_all(ends[0]) == bytes, true); });
            this->world.run();
        }
        ++number;
    }
}

TYPED_TEST(Sends, WhatFitsWhereTheProgramDoesNotWait)
{
    const std::string bytes = sample_bytes();
    for (const two_ends &ends : {two_ends::of_sockets(), two_ends::of_pipe()}) {
        fcntl(ends[1], F_SETFL, O_NONBLOCK);
        this->world.start([&](flux::flow &flow) {
            const ssize_t sent = write(ends[1], bytes.data(), much);
            EXPECT_GT(sent, 0);
            EXPECT_LT(sent, static_cast<ssize_t>(much));
            EXPECT_EQ(write(ends[1], bytes.data(), much), -1);
            EXPECT_EQ(errno, EAGAIN);
            EXPECT_EQ(flow.counted().parks, 0U);
        });
        this->world.run();
    }
}

TYPED_TEST(Sends, WhatWasSentWhenTheTimeIsOver)
{
    const std::string bytes = sample_bytes();
    const two_ends ends = two_ends::of_sockets();
    set_timeout(ends[1], SO_SNDTIMEO, 5ms);
    this->world.start([&](flux::flow &flow) {
        EXPECT_GT(write(ends[1], bytes.data(), much), 0);
        EXPECT_EQ(write(ends[1], bytes.data(), much), -1);
        EXPECT_EQ(errno, EAGAIN);
        set_timeout(ends[1], SO_SNDTIMEO, 0ms);
        flow.set_deadline(this->world.io().now() + 2ms);
        EXPECT_EQ(write(ends[1], bytes.data(), much), -1);
        EXPECT_EQ(errno, ETIMEDOUT);
    });
    this->world.run();
}

TYPED_TEST(Sends, ToAPeerThatGoes)
{
    const std::string bytes = sample_bytes();
    two_ends ends = two_ends::of_sockets();
    this->world.start([&](flux::flow &) {
        EXPECT_GT(send(ends[1], bytes.data(), much, MSG_NOSIGNAL), 0) << "a part, and no signal for the rest";
        EXPECT_EQ(send(ends[1], bytes.data(), 1, MSG_NOSIGNAL), -1);
        EXPECT_EQ(errno, EPIPE);
    });
    this->world.start([&](flux::flow &) {
        let_others_run();
        ends.close_end(0);
    });
    this->world.run();
}

TYPED_TEST(Sends, AReaderAndAWriterOfOneEnd)
{
    const std::string bytes = sample_bytes();
    const two_ends ends = two_ends::of_sockets();
    std::string order;
    this->world.start([&](flux::flow &) {
        EXPECT_EQ(read_text(ends[0]), "abc");
        order += "r";
    });
    this->world.start([&](flux::flow &) {
        EXPECT_EQ(write(ends[0], bytes.data(), much), static_cast<ssize_t>(much));
        order += "w";
    });
    this->world.start([&](flux::flow &) {
        let_others_run();
        write_text(ends[1], "abc");
        let_others_run();
        EXPECT_EQ(order, "r");
        EXPECT_EQ(read_all(ends[1]).size(), much);
    });
    this->world.run();
    EXPECT_EQ(order, "rw");
}

} // namespace
