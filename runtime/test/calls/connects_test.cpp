#include "flux/calls/connects.hpp"

#include "../support/calling_world.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

namespace {

using namespace std::chrono_literals;

template <class World>
class Connects : public testing::Test
{
  public:
    calling_world<World> world;
};

using loops = testing::Types<reactor_world, proactor_world>;
TYPED_TEST_SUITE(Connects, loops);

/// A socket that listens on a free port of 127.0.0.1, and blocks.
struct listening {
    int number = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};

    explicit listening(int backlog = 16)
    {
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof at;
        EXPECT_EQ(bind(number, where(), size), 0);
        EXPECT_EQ(listen(number, backlog), 0);
        EXPECT_EQ(getsockname(number, where(), &size), 0);
    }
    ~listening()
    {
        if (number >= 0) {
            close(number);
        }
    }
    listening(const listening &) = delete;

    sockaddr *where() { return reinterpret_cast<sockaddr *>(&at); }
};

TYPED_TEST(Connects, TwoFibersToEachOther)
{
    listening at;
    this->world.start([&](flux::flow &flow) {
        sockaddr_in peer{};
        socklen_t size = sizeof peer;
        const int accepted = accept4(at.number, reinterpret_cast<sockaddr *>(&peer), &size, SOCK_CLOEXEC);
        EXPECT_GE(accepted, 0);
        EXPECT_EQ(peer.sin_family, AF_INET);
        EXPECT_EQ(flow.counted().parks, 1U);
        EXPECT_EQ(read_text(accepted), "hello");
        close(accepted);
    });
    this->world.start([&](flux::flow &) {
        let_others_run();
        const int connected = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        EXPECT_EQ(connect(connected, at.where(), sizeof at.at), 0);
        EXPECT_EQ(fcntl(connected, F_GETFL) & O_NONBLOCK, 0);
        write_text(connected, "hello");
        EXPECT_EQ(read_text(connected), "");
        close(connected);
    });
    this->world.run();
}

TYPED_TEST(Connects, ToNobody)
{
    listening at;
    const sockaddr_in was = at.at;
    close(std::exchange(at.number, -1));
    this->world.start([&](flux::flow &) {
        const int refused = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        EXPECT_EQ(connect(refused, reinterpret_cast<const sockaddr *>(&was), sizeof was), -1);
        EXPECT_EQ(errno, ECONNREFUSED);
        close(refused);
    });
    this->world.run();
}

TYPED_TEST(Connects, EndWithTheTime)
{
    if (this->world.io().operations() == nullptr) {
        GTEST_SKIP() << "there is no io_uring, and so a thread waits";
    }
    // As many as fit into the backlog, so that one more waits.
    listening at(1);
    std::vector<int> made;
    this->world.start([&](flux::flow &flow) {
        int error = 0;
        while (error == 0 && made.size() < 10) {
            made.push_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
            set_timeout(made.back(), SO_SNDTIMEO, 20ms);
            error = connect(made.back(), at.where(), sizeof at.at) == 0 ? 0 : errno;
        }
        EXPECT_EQ(error, EINPROGRESS);
        made.push_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        flow.set_deadline(this->world.io().now() + 5ms);
        EXPECT_EQ(connect(made.back(), at.where(), sizeof at.at), -1);
        EXPECT_EQ(errno, ETIMEDOUT);
    });
    this->world.run();
    for (const int each : made) {
        close(each);
    }
}

TYPED_TEST(Connects, AcceptsOfManyEachHaveOne)
{
    listening at;
    int accepted = 0;
    for (int number = 0; number < 5; ++number) {
        this->world.start([&](flux::flow &) {
            const int own = accept(at.number, nullptr, nullptr);
            EXPECT_GE(own, 0);
            ++accepted;
            close(own);
        });
    }
    this->world.start([&](flux::flow &) {
        for (int number = 0; number < 5; ++number) {
            EXPECT_EQ(accepted, number);
            const int connected = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
            EXPECT_EQ(connect(connected, at.where(), sizeof at.at), 0);
            EXPECT_EQ(read_text(connected), "");
            close(connected);
        }
    });
    this->world.run();
}

TYPED_TEST(Connects, AcceptEndsWithTheTimeAndWithTheListener)
{
    listening at;
    bool has_timed_out = false;
    set_timeout(at.number, SO_RCVTIMEO, 3ms);
    this->world.start([&](flux::flow &) {
        EXPECT_EQ(accept(at.number, nullptr, nullptr), -1);
        EXPECT_EQ(errno, EAGAIN);
        has_timed_out = true;
        set_timeout(at.number, SO_RCVTIMEO, 0ms);
        EXPECT_EQ(accept(at.number, nullptr, nullptr), -1);
        EXPECT_EQ(errno, EINVAL) << "it is shut down";
    });
    this->world.start([&](flux::flow &) {
        while (!has_timed_out) {
            let_others_run();
        }
        let_others_run();
        EXPECT_EQ(shutdown(at.number, SHUT_RD), 0);
    });
    this->world.run();
}

} // namespace
