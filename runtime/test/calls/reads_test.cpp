#include "flux/calls/reads.hpp"

#include "../support/calling_world.hpp"

#include <cstdlib>
#include <sys/eventfd.h>

namespace {

using namespace std::chrono_literals;

template <class World>
class Reads : public testing::Test
{
  public:
    calling_world<World> world;
};

using loops = testing::Types<reactor_world, proactor_world>;
TYPED_TEST_SUITE(Reads, loops);

TYPED_TEST(Reads, WaitForAPipeASocketAndACounter)
{
    const two_ends ends[] = {two_ends::of_pipe(), two_ends::of_sockets()};
    const int counter = eventfd(0, EFD_CLOEXEC);
    std::string order;
    for (const two_ends &each : ends) {
        this->world.start([&](flux::flow &flow) {
            errno = ENOTTY;
            EXPECT_EQ(read_text(each[0]), "abc");
            EXPECT_EQ(errno, ENOTTY) << "a call that succeeds leaves it";
            EXPECT_EQ(flow.counted().parks, 1U);
            order += "r";
        });
    }
    this->world.start([&](flux::flow &) {
        eventfd_t value = 0;
        EXPECT_EQ(eventfd_read(counter, &value), 0);
        EXPECT_EQ(value, 7U);
        order += "r";
    });
    this->world.start([&](flux::flow &) {
        let_others_run();
        order += "w";
        EXPECT_EQ(write_text(ends[0][1], "abc"), 3);
        EXPECT_EQ(write_text(ends[1][1], "abc"), 3);
        eventfd_write(counter, 7);
    });
    this->world.run();
    EXPECT_EQ(order, "wrrr");
    close(counter);
}

TYPED_TEST(Reads, GiveWhatIsThereWithoutAPark)
{
    const two_ends ends[] = {two_ends::of_pipe(), two_ends::of_sockets()};
    this->world.start([&](flux::flow &flow) {
        for (const two_ends &each : ends) {
            for (int time = 0; time < 3; ++time) {
                EXPECT_EQ(write_text(each[1], "abc"), 3);
                EXPECT_EQ(read_text(each[0], 2), "ab");
                char last = 0;
                const iovec parts[] = {{nullptr, 0}, {&last, 1}};
                EXPECT_EQ(readv(each[0], parts, 2), 1);
                EXPECT_EQ(last, 'c');
                EXPECT_EQ(read(each[0], nullptr, 0), 0);
            }
        }
        EXPECT_EQ(flow.counted().parks, 0U);
    });
    this->world.run();
}

TYPED_TEST(Reads, OfTwoOnOneEndEachHasOne)
{
    for (const two_ends &ends : {two_ends::of_pipe(), two_ends::of_sockets(SOCK_DGRAM)}) {
        std::string got;
        for (int reader = 0; reader < 2; ++reader) {
            this->world.start([&](flux::flow &) { got += read_text(ends[0], 1); });
        }
        this->world.start([&](flux::flow &) {
            let_others_run();
            write_text(ends[1], "a");
            let_others_run();
            EXPECT_EQ(got, "a");
            write_text(ends[1], "b");
        });
        this->world.run();
        EXPECT_EQ(got, "ab");
    }
}

TYPED_TEST(Reads, DoNotWaitWhereTheProgramDoesNotWantTo)
{
    const two_ends ends[] = {two_ends::of_pipe(), two_ends::of_sockets()};
    this->world.start([&](flux::flow &flow) {
        for (const two_ends &each : ends) {
            fcntl(each[0], F_SETFL, O_NONBLOCK);
            EXPECT_EQ(read_text(each[0]), "error " + std::to_string(EAGAIN));
            EXPECT_EQ(fcntl(each[0], F_GETFL) & O_NONBLOCK, O_NONBLOCK);
        }
        EXPECT_EQ(flow.counted().parks, 0U);
    });
    this->world.run();
}

TYPED_TEST(Reads, EndWithTheFlowsTimeAndItsCancellation)
{
    const two_ends ends[] = {two_ends::of_pipe(), two_ends::of_sockets()};
    flux::flow *waiting = nullptr;
    this->world.start([&](flux::flow &flow) {
        for (const two_ends &each : ends) {
            flow.set_deadline(this->world.io().now() + 5ms);
            EXPECT_EQ(read_text(each[0]), "error " + std::to_string(ETIMEDOUT));
        }
        flow.set_deadline(flux::never);
        waiting = &flow;
        EXPECT_EQ(read_text(ends[0][0]), "error " + std::to_string(ECANCELED));
        EXPECT_EQ(read_text(ends[1][0]), "error " + std::to_string(ECANCELED));
        EXPECT_EQ(write_text(ends[1][1], "x"), 1) << "what need not wait goes on";
    });
    this->world.start([&](flux::flow &) {
        while (waiting == nullptr) {
            let_others_run();
        }
        waiting->cancel();
    });
    this->world.run();
}

TYPED_TEST(Reads, ThatNeverWaitEndWithTheBudgetOfAFlowThatIsCancelled)
{
    const two_ends ends[] = {two_ends::of_pipe(), two_ends::of_sockets()};
    this->world.start([&](flux::flow &flow) {
        flow.cancel();
        for (const two_ends &each : ends) {
            std::uint64_t times = 0;
            while (write_text(each[1], "x") == 1 && read_text(each[0]) == "x" && times < 10 * flux::io_budget) {
                ++times;
            }
            EXPECT_EQ(errno, ECANCELED);
            EXPECT_LE(times, flux::io_budget);
        }
        EXPECT_EQ(flow.counted().parks, 0U);
    });
    this->world.run();
}

TYPED_TEST(Reads, EndWithTheTimeOfTheSocket)
{
    const two_ends ends = two_ends::of_sockets();
    set_timeout(ends[0], SO_RCVTIMEO, 5ms);
    this->world.start([&](flux::flow &) {
        const flux::moment begin = this->world.io().now();
        EXPECT_EQ(read_text(ends[0]), "error " + std::to_string(EAGAIN));
        EXPECT_GE(this->world.io().now(), begin + 5ms);
    });
    this->world.run();
}

TYPED_TEST(Reads, ComeToTheEnd)
{
    two_ends ends[] = {two_ends::of_pipe(), two_ends::of_sockets(), two_ends::of_sockets()};
    for (const two_ends &each : ends) {
        this->world.start([&](flux::flow &) { EXPECT_EQ(read_text(each[0]), ""); });
    }
    this->world.start([&](flux::flow &) {
        let_others_run();
        ends[0].close_end(1);
        ends[1].close_end(1);
        shutdown(ends[2][0], SHUT_RD); // its own, which waits
    });
    this->world.run();
}

TYPED_TEST(Reads, FilesOnDisks)
{
    char path[] = "/tmp/flux-reads-XXXXXX";
    const int file = mkstemp(path);
    unlink(path);
    this->world.start([&](flux::flow &) {
        EXPECT_EQ(write_text(file, "0123456789"), 10);
        char some[8] = {};
        EXPECT_EQ(pread(file, some, sizeof some, 4), 6);
        EXPECT_STREQ(some, "456789");
        EXPECT_EQ(lseek(file, 2, SEEK_SET), 2);
        EXPECT_EQ(read_text(file, 3), "234");
        EXPECT_EQ(read_text(file), "56789");
        EXPECT_EQ(read_text(file), "");
        EXPECT_EQ(pwrite(file, "x", 1, 0), 1);
        EXPECT_EQ(pread(file, some, 1, -1), -1);
        EXPECT_EQ(errno, EINVAL);
        EXPECT_EQ(read_text(-1), "error " + std::to_string(EBADF));
    });
    this->world.run();
    close(file);
}

TYPED_TEST(Reads, ANumberIsAnotherFileWhenItIsOpenedAnew)
{
    this->world.start([&](flux::flow &) {
        two_ends pipe = two_ends::of_pipe();
        write_text(pipe[1], "p");
        EXPECT_EQ(read_text(pipe[0]), "p"); // known as a stream from now on
        const two_ends sockets = two_ends::of_sockets();
        EXPECT_EQ(dup2(sockets[0], pipe[0]), pipe[0]);
        write_text(sockets[1], "s");
        EXPECT_EQ(read_text(pipe[0]), "s");
        set_timeout(sockets[0], SO_RCVTIMEO, 2ms);
        EXPECT_EQ(read_text(pipe[0]), "error " + std::to_string(EAGAIN));
    });
    this->world.run();
}

} // namespace
