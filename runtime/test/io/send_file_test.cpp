#include "flux/io/send_file.hpp"

#include "../support/io_peers.hpp"
#include "../support/io_world.hpp"

#include <cerrno>
#include <csignal>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <sys/mman.h>

namespace {

using namespace std::chrono_literals;

template <class World>
class SendFile : public testing::Test
{
  protected:
    // As a server's: the kernel has no way to send a file without this signal.
    SendFile() { std::signal(SIGPIPE, SIG_IGN); }

    /// Runs one flow, and those that it starts, to their end.
    void run(std::function<void()> function)
    {
        world.start([&](flux::flow &) { function(); });
        world.run();
    }

    World world;
    flux::io &io = world.io();
};

struct name_of_world {
    template <class World>
    static std::string GetName(int)
    {
        return World().io().name();
    }
};

using worlds = testing::Types<blocking_world, reactor_world, proactor_world>;
TYPED_TEST_SUITE(SendFile, worlds, name_of_world);

/// A file in memory with this content.
flux::descriptor file_of(const std::string &content)
{
    flux::descriptor made(memfd_create("content", MFD_CLOEXEC));
    EXPECT_EQ(::pwrite(made.get(), content.data(), content.size(), 0), static_cast<ssize_t>(content.size()));
    return made;
}

TYPED_TEST(SendFile, SendsBytesAndThenThePart)
{
    this->run([this] {
        connected both(this->io);
        const flux::descriptor file = file_of("0123456789");
        EXPECT_EQ(send(*both.near, "before, "), 0);
        EXPECT_TRUE(both.near->send_file("head: ", {file.get(), 2, 5}).has_value());
        EXPECT_TRUE(both.near->send_file("nothing of it, ", {file.get(), 2, 0}).has_value());
        EXPECT_TRUE(both.near->send_file({}, {file.get(), 0, 10}).has_value());
        EXPECT_TRUE(both.near->send_file({}, {file.get(), 0, 0}).has_value());
        both.near->end_output();
        EXPECT_EQ(receive_all(*both.far), "before, head: 23456nothing of it, 0123456789");
    });
}

TYPED_TEST(SendFile, GoesBehindWhatIsSentLater)
{
    this->run([this] {
        connected both(this->io);
        const flux::descriptor file = file_of("file");
        std::string first = "later, ";
        const iovec part{first.data(), first.size()};
        if (!both.near->send_later({&part, 1})) {
            EXPECT_EQ(send(*both.near, first), 0);
        }
        EXPECT_TRUE(both.near->send_file("then the ", {file.get(), 0, 4}).has_value());
        both.near->end_output();
        EXPECT_EQ(receive_all(*both.far), "later, then the file");
    });
}

TYPED_TEST(SendFile, WaitsForAPeerThatIsSlow)
{
    const std::string content = pattern(std::size_t{20} << 20);
    const flux::descriptor file = file_of(content);
    this->run([&] {
        connected both(this->io);
        this->world.start([&, from = both.far.get()](flux::flow &) {
            EXPECT_TRUE(receive_all(*from, 5 + content.size()) == "head " + content);
            EXPECT_EQ(send(*from, "all"), 0);
        });
        EXPECT_TRUE(both.near->send_file("head ", {file.get(), 0, content.size()}).has_value());
        EXPECT_EQ(receive_all(*both.near, 3), "all");
    });
}

TYPED_TEST(SendFile, FailsWhereTheFileHasBecomeShorter)
{
    this->run([this] {
        connected both(this->io);
        const flux::descriptor file = file_of("short");
        const auto sent = both.near->send_file("head: ", {file.get(), 0, 6});
        EXPECT_EQ(sent.has_value() ? 0 : sent.error(), ENODATA);
        both.near->end_output();
        EXPECT_EQ(receive_all(*both.far), "head: short");
    });
}

TYPED_TEST(SendFile, FailsAtItsDeadlineWhereThePeerTakesNothing)
{
    const std::string content = pattern(std::size_t{20} << 20);
    const flux::descriptor file = file_of(content);
    this->run([&] {
        connected both(this->io);
        const auto sent = both.near->send_file("head: ", {file.get(), 0, content.size()}, this->io.now() + 20ms);
        EXPECT_EQ(sent.has_value() ? 0 : sent.error(), ETIMEDOUT);
    });
}

TYPED_TEST(SendFile, FailsWhereThePeerIsGone)
{
    const std::string content = pattern(std::size_t{20} << 20);
    const flux::descriptor file = file_of(content);
    this->run([&] {
        connected both(this->io);
        both.far.reset();
        const auto sent = both.near->send_file("head: ", {file.get(), 0, content.size()});
        ASSERT_FALSE(sent.has_value());
        EXPECT_TRUE(sent.error() == EPIPE || sent.error() == ECONNRESET) << sent.error();
    });
}

} // namespace
