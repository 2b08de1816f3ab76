#include "flux/calls/file_calls.hpp"

#include "../support/running_source.hpp"

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <grp.h>
#include <gtest/gtest.h>
#include <mutex>
#include <netdb.h>
#include <pwd.h>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;
using flux::strategy_kind;
using sample::running_source;

/// What node code calls, on each runtime: it is not to notice where. On the event loop a second flow goes on meanwhile.
class FileCalls : public testing::TestWithParam<strategy_kind>
{
  protected:
    FileCalls()
    {
        char name[] = "/tmp/flux-calls-XXXXXX";
        folder = mkdtemp(name);
    }
    ~FileCalls() override { std::system(("rm -rf " + folder).c_str()); }

    /// Flow 1 calls this in a node; the others only go on.
    void run(std::function<void()> in_node, int others = 0, std::function<void()> in_others = [] {},
             std::chrono::milliseconds time = 0ms)
    {
        sample::work = [=](const sample::Listen_out &) {
            if (flux::running_flow->position() == sample::node_Begin) {
                flux::running_flow->id() == 1 ? in_node() : in_others();
            }
        };
        sample::listen = sample::flows(1 + others, [](int) { return sample::Listen_out{2, 2, -1}; });
        running_source running(sample::program, sample::source_Listen, GetParam(), 10,
                               GetParam() == strategy_kind::event ? 1 : 2, 4, 0, time);
        running.await_finished(static_cast<std::uint64_t>(1 + others));
        facts = running.facts();
    }

    bool on_loop() const { return GetParam() == strategy_kind::event; }
    std::string path(const char *name) const { return folder + "/" + name; }

    std::string folder;
    flux::loop_facts facts;
};

TEST_P(FileCalls, AFileIsWrittenReadAndAskedFor)
{
    run([&] {
        std::ofstream(path("new")) << "one\ntwo\n" << std::flush;
        std::ifstream in(path("new"));
        std::string first;
        std::string second;
        in >> first >> second;
        EXPECT_EQ(first + second, "onetwo");
        struct stat found = {};
        EXPECT_EQ(stat(path("new").c_str(), &found), 0);
        EXPECT_EQ(found.st_size, 8);
        EXPECT_EQ(stat(path("none").c_str(), &found), -1);
        EXPECT_EQ(errno, ENOENT);
        const int file = open(path("new").c_str(), O_RDWR | O_CREAT, 0600);
        EXPECT_GE(file, 0);
        EXPECT_EQ(fsync(file), 0);
        close(file);
        EXPECT_EQ(rename(path("new").c_str(), path("old").c_str()), 0);
        EXPECT_EQ(open(path("new").c_str(), O_RDONLY), -1);
        EXPECT_EQ(errno, ENOENT);
        EXPECT_EQ(unlink(path("old").c_str()), 0);
    });
    EXPECT_EQ(facts.call_threads, on_loop() ? 1u : 0u);
}

TEST_P(FileCalls, AStreamIsWrittenAndReadAndItsBufferServesMost)
{
    run([&] {
        std::FILE *const out = std::fopen(path("lines").c_str(), "w");
        ASSERT_NE(out, nullptr);
        EXPECT_EQ(std::fprintf(out, "%d %s\n", 7, "seven"), 8);
        EXPECT_GT(std::fputs("eight\n", out), -1);
        EXPECT_EQ(std::fwrite("nine\n", 1, 5, out), 5u);
        EXPECT_EQ(std::fputc('x', out), 'x');
        EXPECT_EQ(std::fclose(out), 0);
        std::FILE *const in = std::fopen(path("lines").c_str(), "r");
        char line[32];
        EXPECT_STREQ(std::fgets(line, sizeof line, in), "7 seven\n");
        char *text = nullptr;
        std::size_t size = 0;
        EXPECT_EQ(getline(&text, &size, in), 6);
        EXPECT_STREQ(text, "eight\n");
        std::free(text);
        EXPECT_EQ(std::fread(line, 1, 5, in), 5u);
        EXPECT_EQ(std::fgetc(in), 'x');
        EXPECT_EQ(std::fgetc(in), EOF);
        EXPECT_NE(std::feof(in), 0);
        flockfile(in);
        EXPECT_EQ(std::fgetc(in), EOF) << "who has locked it goes on with it";
        funlockfile(in);
        std::fclose(in);
        EXPECT_EQ(std::fopen(path("none").c_str(), "r"), nullptr);
        EXPECT_EQ(errno, ENOENT);
    });
}

TEST_P(FileCalls, ACommandIsRunAndItsOutputIsRead)
{
    std::atomic<int> others{0};
    const std::string gate = path("gate");
    ASSERT_EQ(mkfifo(gate.c_str(), 0600), 0);
    run(
        [&] {
            // It goes on when another flow has: so no loop waits for it.
            std::FILE *const output = popen(("read line < " + gate + "; echo $line; exit 3").c_str(), "r");
            ASSERT_NE(output, nullptr);
            char line[32] = "";
            EXPECT_STREQ(std::fgets(line, sizeof line, output), "go\n");
            const int status = pclose(output);
            EXPECT_EQ(WEXITSTATUS(status), 3);
            EXPECT_EQ(WEXITSTATUS(std::system("exit 4")), 4);
        },
        1,
        [&] {
            ++others;
            std::ofstream(gate) << "go\n" << std::flush;
        });
    EXPECT_EQ(others, 1);
    EXPECT_GE(facts.wait_threads, on_loop() ? 1u : 0u);
}

TEST_P(FileCalls, AChildIsWaitedForAndTheFlowsTimeBoundsThat)
{
    const pid_t child = fork();
    if (child == 0) {
        while (true) {
            pause();
        }
    }
    int status = 0;
    run(
        [&] {
            if (on_loop()) {
                EXPECT_EQ(waitpid(child, nullptr, WNOHANG), 0);
                EXPECT_EQ(waitpid(child, &status, 0), -1);
                EXPECT_EQ(errno, ETIMEDOUT);
            }
            kill(child, SIGKILL);
        },
        0, [] {}, 20ms);
    run([&] { EXPECT_EQ(waitpid(child, &status, 0), child); });
    EXPECT_TRUE(WIFSIGNALED(status));
    run([&] {
        EXPECT_EQ(waitpid(child, &status, 0), -1);
        EXPECT_EQ(errno, ECHILD);
    });
}

TEST_P(FileCalls, AFileThatIsLockedIsWaitedForBesideTheLoop)
{
    const int held = open(path("lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_EQ(flock(held, LOCK_EX), 0);
    std::mutex alone;
    std::condition_variable changed;
    bool refused = false;
    run(
        [&] {
            const int file = open(path("lock").c_str(), O_RDWR | O_CLOEXEC);
            EXPECT_EQ(flock(file, LOCK_EX | LOCK_NB), -1);
            {
                const std::lock_guard lock(alone);
                refused = true;
            }
            changed.notify_one();
            EXPECT_EQ(flock(file, LOCK_EX), 0);
            struct flock whole = {};
            whole.l_type = F_WRLCK;
            EXPECT_EQ(fcntl(file, F_SETLKW, &whole), 0);
            EXPECT_EQ(fcntl(file, F_GETFD), FD_CLOEXEC);
            close(file);
        },
        1,
        [&] {
            // The other flow may be in a call that a thread makes: it goes on if this wait holds no loop.
            std::unique_lock lock(alone);
            changed.wait(lock, [&] { return refused; });
            flock(held, LOCK_UN);
        });
    close(held);
    EXPECT_EQ(facts.wait_threads <= 1, true);
}

TEST_P(FileCalls, NamesOfHostsAndUsersAreFound)
{
    run([&] {
        addrinfo hints{};
        hints.ai_family = AF_INET;
        hints.ai_socktype = SOCK_STREAM;
        addrinfo *found = nullptr;
        EXPECT_EQ(getaddrinfo("127.0.0.1", "80", &hints, &found), 0);
        char host[NI_MAXHOST];
        EXPECT_EQ(getnameinfo(found->ai_addr, found->ai_addrlen, host, sizeof host, nullptr, 0, NI_NUMERICHOST), 0);
        EXPECT_STREQ(host, "127.0.0.1");
        freeaddrinfo(found);
        EXPECT_EQ(getaddrinfo("localhost", nullptr, &hints, &found), 0);
        freeaddrinfo(found);
        const passwd *const root = getpwuid(0);
        ASSERT_NE(root, nullptr);
        EXPECT_STREQ(root->pw_name, "root");
        EXPECT_NE(getgrgid(0), nullptr);
        EXPECT_EQ(getpwnam("nobody-of-this-name"), nullptr);
    });
}

INSTANTIATE_TEST_SUITE_P(EveryRuntime, FileCalls,
                         testing::Values(strategy_kind::thread, strategy_kind::pool, strategy_kind::event));

} // namespace
