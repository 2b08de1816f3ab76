#include "flux/calls/closes.hpp"

#include "../support/calling_world.hpp"

#include <cstdio>
#include <sys/syscall.h>

namespace {

using namespace std::chrono_literals;

template <class World>
class Closes : public testing::Test
{
  public:
    calling_world<World> world;
};

using loops = testing::Types<reactor_world, proactor_world>;
TYPED_TEST_SUITE(Closes, loops);

const std::string is_closed = "error " + std::to_string(EBADF);

TYPED_TEST(Closes, WakeThoseThatWait)
{
    const std::function<void(two_ends &)> ways[] = {
        [](two_ends &of) { of.close_end(0); },
        [](two_ends &of) { dup2(of[1], of[0]); },
        [](two_ends &of) { dup3(of[1], of[0], O_CLOEXEC); },
        [](two_ends &of) {
            const auto own = static_cast<unsigned int>(of[0]);
            EXPECT_EQ(close_range(own, own, 0), 0);
            of.ends[0] = -1;
        },
        [](two_ends &of) { std::thread([&] { of.close_end(0); }).join(); },
    };
    for (const auto &way : ways) {
        for (two_ends ends[] = {two_ends::of_sockets(), two_ends::of_pipe()}; two_ends & each : ends) {
            // Somebody else has it as well, so its file stays open.
            const int other = dup(each[0]);
            for (int reader = 0; reader < 2; ++reader) {
                this->world.start([&](flux::flow &) { EXPECT_EQ(read_text(each[0]), is_closed); });
            }
            this->world.start([&](flux::flow &) {
                let_others_run();
                way(each);
            });
            this->world.run();
            close(other);
        }
    }
}

TYPED_TEST(Closes, OfAStreamWakesThoseThatWaitForItsDescriptor)
{
    two_ends pipe = two_ends::of_pipe();
    const int number = std::exchange(pipe.ends[0], -1);
    const int other = dup(number);
    std::FILE *const stream = fdopen(number, "r");
    this->world.start([&](flux::flow &) { EXPECT_EQ(read_text(number), is_closed); });
    this->world.start([&](flux::flow &) {
        let_others_run();
        EXPECT_EQ(std::fclose(stream), 0);
    });
    this->world.run();
    close(other);
}

TYPED_TEST(Closes, OfWhateverKindForgetWhatTheNumberWas)
{
    const std::function<void(int)> ways[] = {
        [](int number) { close(number); },
        [](int number) { syscall(SYS_close, number); },
        [](int number) { std::fclose(fdopen(number, "r")); },
        // Closed by a call that is not caught, and opened by one that is.
        [](int number) {
            std::fclose(freopen("/dev/null", "r", fdopen(number, "r")));
            const int opened = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
            EXPECT_EQ(opened, number);
            close(opened);
        },
    };
    this->world.start([&](flux::flow &) {
        for (const auto &way : ways) {
            two_ends pipe = two_ends::of_pipe();
            write_text(pipe[1], "p");
            EXPECT_EQ(read_text(pipe[0]), "p");
            EXPECT_TRUE(flux::calls::stream_guess::is_stream(pipe[0]));
            const int number = std::exchange(pipe.ends[0], -1);
            way(number);
            EXPECT_FALSE(flux::calls::stream_guess::is_stream(number));
        }
    });
    this->world.run();
}

TYPED_TEST(Closes, TheNextFileOfThatNumberIsNotRead)
{
    two_ends before = two_ends::of_sockets();
    const int number = before[0];
    two_ends after;
    this->world.start([&](flux::flow &) { EXPECT_EQ(read_text(number), is_closed); });
    this->world.start([&](flux::flow &) {
        let_others_run();
        before.close_end(0);
        after = two_ends::of_sockets();
        EXPECT_EQ(after[0], number) << "the smallest that is free";
        write_text(after[1], "for others");
        let_others_run();
        EXPECT_EQ(read_text(number), "for others");
    });
    this->world.run();
}

TYPED_TEST(Closes, WakeNobodyWhoWaitsElsewhere)
{
    const two_ends stays = two_ends::of_sockets();
    two_ends goes = two_ends::of_sockets();
    this->world.start([&](flux::flow &flow) {
        EXPECT_EQ(read_text(stays[0]), "a");
        EXPECT_EQ(flow.counted().parks, 1U);
    });
    this->world.start([&](flux::flow &) {
        let_others_run();
        goes.close_end(0);
        dup2(stays[0], stays[0]); // closes nothing
        let_others_run();
        write_text(stays[1], "a");
    });
    this->world.run();
}

} // namespace
