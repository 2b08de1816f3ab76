#include "flux/calls/copies.hpp"

#include "../support/calling_world.hpp"

#include <cstdlib>
#include <sys/sendfile.h>

namespace {

using namespace std::chrono_literals;

template <class World>
class Copies : public testing::Test
{
  public:
    calling_world<World> world;
};

using loops = testing::Types<reactor_world, proactor_world>;
TYPED_TEST_SUITE(Copies, loops);

/// More than a socket takes at once.
constexpr std::size_t much = 1'000'000;

/// A file on a disk with so many bytes, and without a name.
class sample_file
{
  public:
    sample_file()
    {
        char path[] = "/tmp/flux-copies-XXXXXX";
        number_ = mkstemp(path);
        unlink(path);
        for (std::size_t each = 0; each < much; ++each) {
            bytes_.push_back(static_cast<char>(each % 251));
        }
        EXPECT_EQ(pwrite(number_, bytes_.data(), much, 0), static_cast<ssize_t>(much));
    }
    ~sample_file() { close(number_); }
    sample_file(const sample_file &) = delete;

    int number() const { return number_; }
    const std::string &bytes() const { return bytes_; }

  private:
    int number_;
    std::string bytes_;
};

std::string read_to_the_end(int from)
{
    std::string all;
    for (std::string some = read_text(from, 30'000); !some.empty(); some = read_text(from, 30'000)) {
        all += some;
    }
    return all;
}

TYPED_TEST(Copies, AllOfAFileIsSentToASocketThatBlocks)
{
    const sample_file file;
    two_ends sockets = two_ends::of_sockets();
    this->world.start([&](flux::flow &flow) {
        off_t at = 10;
        EXPECT_EQ(sendfile(sockets[1], file.number(), &at, much - 10), static_cast<ssize_t>(much - 10));
        EXPECT_EQ(at, static_cast<off_t>(much));
        EXPECT_GT(flow.counted().parks, 0U) << "it holds no loop";
        // By the position of the file, and no further than its end.
        EXPECT_EQ(lseek(file.number(), static_cast<off_t>(much) - 3, SEEK_SET), static_cast<off_t>(much) - 3);
        EXPECT_EQ(sendfile(sockets[1], file.number(), nullptr, 10), 3);
        EXPECT_EQ(lseek(file.number(), 0, SEEK_CUR), static_cast<off_t>(much));
        EXPECT_EQ(sendfile(sockets[1], file.number(), nullptr, 10), 0);
        EXPECT_EQ(sendfile(sockets[1], -1, nullptr, 10), -1);
        EXPECT_EQ(errno, EBADF);
        sockets.close_end(1);
    });
    this->world.start([&](flux::flow &) {
        const std::string tail = file.bytes().substr(much - 3);
        EXPECT_TRUE(read_to_the_end(sockets[0]) == file.bytes().substr(10) + tail);
    });
    this->world.run();
}

TYPED_TEST(Copies, ASocketThatDoesNotWantToWaitTakesWhatFits)
{
    const sample_file file;
    const two_ends sockets = two_ends::of_sockets();
    fcntl(sockets[1], F_SETFL, O_NONBLOCK);
    this->world.start([&](flux::flow &flow) {
        off_t at = 0;
        const ssize_t sent = sendfile(sockets[1], file.number(), &at, much);
        EXPECT_GT(sent, 0);
        EXPECT_LT(sent, static_cast<ssize_t>(much));
        EXPECT_EQ(sendfile(sockets[1], file.number(), &at, much), -1);
        EXPECT_EQ(errno, EAGAIN);
        EXPECT_EQ(flow.counted().parks, 0U);
    });
    this->world.run();
}

TYPED_TEST(Copies, APeerThatGoesEndsTheCopy)
{
    const sample_file file;
    two_ends sockets = two_ends::of_sockets();
    signal(SIGPIPE, SIG_IGN); // as a server has it
    this->world.start([&](flux::flow &) {
        off_t at = 0;
        const ssize_t sent = sendfile(sockets[1], file.number(), &at, much);
        EXPECT_GT(sent, 0) << "what was sent counts";
        EXPECT_EQ(at, sent);
        EXPECT_EQ(sendfile(sockets[1], file.number(), &at, much), -1);
        EXPECT_EQ(errno, EPIPE);
    });
    this->world.start([&](flux::flow &) {
        let_others_run();
        sockets.close_end(0);
    });
    this->world.run();
}

TYPED_TEST(Copies, SpliceWaitsForBytesAndForRoom)
{
    two_ends sockets = two_ends::of_sockets();
    two_ends pipe = two_ends::of_pipe();
    std::string order;
    this->world.start([&](flux::flow &flow) {
        EXPECT_EQ(splice(sockets[0], nullptr, pipe[1], nullptr, 100, 0), 3);
        order += "s";
        EXPECT_GT(flow.counted().parks, 0U);
        EXPECT_EQ(splice(sockets[0], nullptr, pipe[1], nullptr, 100, 0), 0) << "the end";
        pipe.close_end(1);
    });
    this->world.start([&](flux::flow &) {
        let_others_run();
        order += "w";
        EXPECT_EQ(write_text(sockets[1], "abc"), 3);
        sockets.close_end(1);
        EXPECT_EQ(read_to_the_end(pipe[0]), "abc");
    });
    this->world.run();
    EXPECT_EQ(order, "ws");
}

TYPED_TEST(Copies, TeeWaitsForBytesAndLeavesThem)
{
    const two_ends from = two_ends::of_pipe();
    const two_ends to = two_ends::of_pipe();
    this->world.start([&](flux::flow &) {
        EXPECT_EQ(tee(from[0], to[1], 100, 0), 3);
        EXPECT_EQ(read_text(from[0]), "abc");
        EXPECT_EQ(read_text(to[0]), "abc");
        EXPECT_EQ(tee(from[0], to[1], 100, SPLICE_F_NONBLOCK), -1);
        EXPECT_EQ(errno, EAGAIN);
    });
    this->world.start([&](flux::flow &) {
        let_others_run();
        write_text(from[1], "abc");
    });
    this->world.run();
}

TYPED_TEST(Copies, SpliceEndsWithTheFlowsTime)
{
    const two_ends sockets = two_ends::of_sockets();
    const two_ends pipe = two_ends::of_pipe();
    this->world.start([&](flux::flow &flow) {
        flow.set_deadline(this->world.io().now() + 5ms);
        EXPECT_EQ(splice(sockets[0], nullptr, pipe[1], nullptr, 100, 0), -1);
        EXPECT_EQ(errno, ETIMEDOUT);
    });
    this->world.run();
}

} // namespace
