#include "flux/io/socket.hpp"
#include "../support/patience.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <iterator>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <span>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;

/// As `wait_for_events`, until it is not interrupted: a ring that another test has closed does that, too.
int events_of(const flux::descriptor &epoll, std::span<epoll_event> into, flux::moment until)
{
    int came = 0;
    do {
        came = flux::wait_for_events(epoll, into, until);
    } while (came < 0 && errno == EINTR);
    return came;
}

/// Whether an epoll instance is waited for as it is to be: not too short, and no longer than until there is something.
bool waits_well()
{
    const flux::descriptor epoll(epoll_create1(EPOLL_CLOEXEC));
    const flux::descriptor counter(eventfd(0, EFD_CLOEXEC));
    epoll_event wanted{EPOLLIN, {}};
    epoll_event events[4];
    epoll_ctl(epoll.get(), EPOLL_CTL_ADD, counter.get(), &wanted);
    const flux::moment soon = in(2500us);
    bool well = events_of(epoll, events, soon) == 0;
    well = well && has_come(soon);
    for (const flux::moment past : {flux::moment::min(), soon}) {
        well = well && events_of(epoll, events, past) == 0;
    }
    eventfd_write(counter.get(), 1);
    for (const flux::moment until : {flux::moment::min(), in(1000h), flux::never}) {
        well = well && events_of(epoll, events, until) == 1;
    }
    return well;
}

/// From now on this call of the system fails with this error in this process.
void refuse(unsigned call, unsigned error)
{
    sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog whole{static_cast<unsigned short>(std::size(program)), program};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole) != 0) {
        std::_Exit(0); // a sandbox that has no filters has nothing to show
    }
}

void waits_well_without_the_newer_call(unsigned error)
{
    refuse(SYS_epoll_pwait2, error);
    std::_Exit(waits_well() ? 0 : 1);
}

/// A socket for messages as another server has one for one of its loops.
flux::descriptor of_another_server(const flux::address &at)
{
    flux::descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const int on = 1;
    setsockopt(socket.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    EXPECT_EQ(bind(socket.get(), at.get(), at.size), 0);
    return socket;
}

TEST(Socket, ThoseOfAllLoopsShareAnAddressAndNoOtherServerDoes)
{
    const flux::address any = flux::loopback_address(0);
    const auto of_loop = [](const flux::address &at) { return open_datagram_socket(at, flux::sharing::of_loops); };
    {
        const auto first = of_loop(any);
        const flux::address at = flux::local_address(*first);
        EXPECT_TRUE(of_loop(at).has_value());
        EXPECT_TRUE(of_loop(at).has_value());
        EXPECT_EQ(open_datagram_socket(at, flux::sharing::none).error(), EADDRINUSE);
    }
    const flux::descriptor theirs = of_another_server(any);
    EXPECT_EQ(of_loop(flux::local_address(theirs)).error(), EADDRINUSE);
}

TEST(Socket, EventsAreWaitedForUntilAMoment)
{
    EXPECT_TRUE(waits_well());
}

TEST(Socket, EventsAreWaitedForWhereTheKernelOrAContainerRefusesTheNewerCall)
{
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(waits_well_without_the_newer_call(ENOSYS), testing::ExitedWithCode(0), "");
    EXPECT_EXIT(waits_well_without_the_newer_call(EPERM), testing::ExitedWithCode(0), "");
}

/// The address of a Unix socket in a folder that ends with the test.
class UnixSocket : public testing::Test
{
  protected:
    UnixSocket() { EXPECT_NE(mkdtemp(folder_), nullptr); }
    ~UnixSocket() override
    {
        unlink(path().c_str());
        rmdir(folder_);
    }

    std::string path() const { return std::string(folder_) + "/socket"; }
    flux::io_result<flux::public_socket> open() const
    {
        return flux::open_listener(*flux::parse_address("unix:" + path()));
    }

  private:
    char folder_[32] = "/tmp/flux_socket_test_XXXXXX";
};

TEST_F(UnixSocket, TakesThePlaceOfOneThatIsLeftBehind)
{
    {
        const auto first = open();
        ASSERT_TRUE(first.has_value());
        const auto second = open();
        EXPECT_EQ(second.has_value() ? 0 : second.error(), EADDRINUSE) << "somebody listens";
    }
    EXPECT_EQ(access(path().c_str(), F_OK), 0) << "the file is still there";
    EXPECT_TRUE(open().has_value());
}

TEST_F(UnixSocket, TakesThePlaceOfNoFile)
{
    const flux::descriptor file(::open(path().c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
    const auto opened = open();
    EXPECT_EQ(opened.has_value() ? 0 : opened.error(), EADDRINUSE);
    EXPECT_EQ(access(path().c_str(), F_OK), 0);
}

TEST_F(UnixSocket, IsItsOwnersAlone)
{
    const mode_t before = umask(0);
    const auto opened = open();
    umask(before);
    struct stat file;
    ASSERT_EQ(lstat(path().c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 0777u, 0600u);
}

} // namespace
