/// \file
/// Whole servers: started, asked to end, made to crash.

#include "../support/known_thread.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <regex>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using namespace std::chrono_literals;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
constexpr bool sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool sanitized = false;
#endif

/// The folder of the servers: that of this test.
std::string folder()
{
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    const std::string self(path, static_cast<std::size_t>(length));
    return self.substr(0, self.rfind('/') + 1);
}

/// A server in a process of its own, with what it says.
class server
{
  public:
    explicit server(std::vector<std::string> arguments, const char *name = "sample_server", bool ignore_sigint = false,
                    int standard_error = -1)
    {
        int ends[2];
        EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
        arguments.insert(arguments.begin(), folder() + name);
        for (const std::string &each : arguments) {
            called_ += each + ' ';
        }
        std::vector<char *> pointers;
        for (std::string &argument : arguments) {
            pointers.push_back(argument.data());
        }
        pointers.push_back(nullptr);
        process_ = fork();
        if (process_ == 0) {
            dup2(ends[1], STDOUT_FILENO);
            dup2(standard_error >= 0 ? standard_error : ends[1], STDERR_FILENO);
            std::signal(SIGINT, ignore_sigint ? SIG_IGN : SIG_DFL);
            alarm(60); // whatever goes wrong, nothing stays
            execv(pointers[0], pointers.data());
            _exit(127);
        }
        close(ends[1]);
        output_ = ends[0];
    }

    ~server()
    {
        if (testing::Test::HasFailure()) {
            std::fprintf(stderr, "the server %s said:\n%s\n", called_.c_str(), said.c_str());
        }
        if (!ended_) {
            kill(process_, SIGKILL);
            await_end();
        }
        close(output_);
    }

    /// Returns when it has said this; false where it ends without.
    bool await_said(const std::string &text)
    {
        while (said.find(text) == std::string::npos) {
            if (!read_more()) {
                return false;
            }
        }
        return true;
    }

    void send(int signal) const
    {
        // Under the thread sanitizer a signal is lost now and then that comes while the main thread still starts.
        await([this] { return is_asleep(process_, process_); });
        kill(process_, signal);
    }

    /// Sends the signal again and again, because two that come together are one.
    void send_until_the_end(int signal) const
    {
        await([&] {
            kill(process_, signal);
            siginfo_t found{};
            waitid(P_PID, static_cast<id_t>(process_), &found, WEXITED | WNOHANG | WNOWAIT);
            return found.si_pid == process_;
        });
    }

    /// Returns when all of its threads sleep.
    void await_waiting() const
    {
        await([this] {
            const std::filesystem::directory_iterator all("/proc/" + std::to_string(process_) + "/task");
            return std::all_of(begin(all), end(all), [this](const auto &thread) {
                return is_asleep(process_, std::stoi(thread.path().filename()));
            });
        });
    }

    /// Waits for its end: its exit status, or minus the signal that killed it.
    int await_end()
    {
        while (read_more()) {
        }
        int status = 0;
        EXPECT_EQ(waitpid(process_, &status, 0), process_);
        ended_ = true;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }

    bool has_said(const std::string &text) const { return said.find(text) != std::string::npos; }

    std::string said;

  private:
    bool read_more()
    {
        char buffer[4096];
        const ssize_t length = read(output_, buffer, sizeof buffer);
        said.append(buffer, length > 0 ? static_cast<std::size_t>(length) : 0);
        return length > 0;
    }

    std::string called_;
    pid_t process_ = -1;
    int output_ = -1;
    bool ended_ = false;
};

class EachRuntime : public testing::TestWithParam<const char *>
{
  protected:
    static std::vector<std::string> with_runtime(std::vector<std::string> arguments)
    {
        const std::string how = GetParam();
        const bool by_io_uring = how == "proactor";
        arguments.push_back("--flux-runtime=" + (by_io_uring ? "event" : how));
        if (by_io_uring) {
            arguments.push_back("--flux-io=proactor");
        }
        arguments.push_back("--flux-report");
        return arguments;
    }
};

TEST_P(EachRuntime, LetsItsFlowsEndWhenItIsToldTo)
{
    for (const int signal : {SIGTERM, SIGINT}) {
        server server(with_runtime({"flows=5", "node=sleep"}));
        ASSERT_TRUE(server.await_said("all flows are made"));
        server.send(signal);
        EXPECT_EQ(server.await_end(), 0) << server.said;
        EXPECT_TRUE(server.has_said("5 flows: 5 done, 0 failed")) << server.said;
        EXPECT_TRUE(server.has_said("5  100.00%  Listen -> Begin -> Choose:[one] -> One -> Choose:[two] -> End\n"))
            << server.said;
    }
}

TEST_P(EachRuntime, WakesASourceThatWaitsForAConnection)
{
    server server(with_runtime({"flows=1"}));
    ASSERT_TRUE(server.await_said("all flows are made"));
    server.await_waiting();
    server.send(SIGTERM);
    EXPECT_EQ(server.await_end(), 0) << server.said;
    EXPECT_FALSE(server.has_said("abandoned")) << server.said;
    EXPECT_TRUE(server.has_said("0 times a source had nothing")) << server.said;
}

TEST_P(EachRuntime, AbandonsASourceThatCannotBeWoken)
{
    server server(with_runtime({"flows=2", "source=stubborn"}));
    ASSERT_TRUE(server.await_said("all flows are made"));
    server.send(SIGTERM);
    EXPECT_EQ(server.await_end(), 0) << server.said;
    EXPECT_TRUE(server.has_said("2 flows: 2 done")) << server.said;
    EXPECT_TRUE(server.has_said("flux: source Listen (sample.flux:8) is abandoned where it waits, as no signal wakes "
                                "it\n"))
        << server.said;
}

TEST_P(EachRuntime, CancelsFlowsThatDoNotEndInTime)
{
    server server(with_runtime({"flows=1", "node=hang", "--flux-drain=0.2"}));
    ASSERT_TRUE(server.await_said("all flows are made"));
    server.send(SIGTERM);
    EXPECT_EQ(server.await_end(), 1) << server.said;
    EXPECT_TRUE(server.has_said("flux: flows cancelled, as they have not ended: 1\n")) << server.said;
    EXPECT_TRUE(server.has_said("flux: of these, abandoned where they are: 1\n")) << server.said;
    EXPECT_TRUE(server.has_said("flux:   1 flow of Listen (sample.flux:8) in One (sample.flux:4), for "))
        << server.said;
    EXPECT_TRUE(server.has_said("      1 flow of Listen (sample.flux:8) in One (sample.flux:4), for ")) << server.said;
    EXPECT_TRUE(server.has_said("0 ended by an error handler, 1 cancelled\n")) << server.said;
}

TEST_P(EachRuntime, FlowsThatAreCancelledWhereTheyWaitComeToTheirEnd)
{
    server server(with_runtime({"flows=5", "node=doze", "--flux-drain=0.2"}));
    ASSERT_TRUE(server.await_said("all flows are made"));
    server.await_waiting();
    server.send(SIGTERM);
    EXPECT_EQ(server.await_end(), 1) << server.said;
    EXPECT_TRUE(server.has_said("flux: flows cancelled, as they have not ended: 5\n")) << server.said;
    EXPECT_TRUE(server.has_said("woken: Operation canceled\n")) << server.said;
    EXPECT_FALSE(server.has_said("abandoned")) << server.said;
    EXPECT_TRUE(server.has_said("0 done, 0 failed, 0 ended by an error handler, 5 cancelled\n")) << server.said;
    EXPECT_TRUE(server.has_said("5  100.00%  Listen -> Begin -> Choose:[one] -> One -> ERROR  -- failed\n"))
        << server.said;
}

TEST_P(EachRuntime, FlowsWaitNoLongerThanUntilTheirDeadline)
{
    server server(with_runtime({"flows=5", "node=doze", "--flux-deadline=0.1"}));
    ASSERT_TRUE(server.await_said("woken: Connection timed out\n")) << server.said;
    ASSERT_TRUE(server.await_said("all flows are made"));
    server.send(SIGTERM);
    EXPECT_EQ(server.await_end(), 0) << server.said;
    EXPECT_TRUE(server.has_said("0 done, 5 failed, 0 ended by an error handler, 0 cancelled\n")) << server.said;
    EXPECT_TRUE(server.has_said("flux: One (sample.flux:4) failed with exception_thrown, which no handler takes: that "
                                "ended flow "))
        << server.said;
    EXPECT_TRUE(server.has_said("       times     unhandled  error\n"
                                "           5             5  One (sample.flux:4): exception_thrown\n"
                                "\n"))
        << server.said;
}

TEST_P(EachRuntime, TracesFlowsAsTheyGo)
{
    server server(with_runtime({"flows=3", "--flux-trace=2"}));
    ASSERT_TRUE(server.await_said("all flows are made"));
    server.send(SIGTERM);
    EXPECT_EQ(server.await_end(), 0) << server.said;
    for (const char *const flow : {"1", "3"}) {
        const std::string of = std::string("flux: trace of Listen ") + flow + ": ";
        const auto expect_line = [&](const std::string &line) {
            EXPECT_TRUE(std::regex_search(server.said, std::regex(of + line + "\n"))) << line << "\n" << server.said;
        };
        expect_line("begins");
        expect_line("Main, [0-9.]+ us after its start");
        expect_line("Begin, [0-9.]+ us after its start: Main took [0-9.]+ us");
        expect_line("End, [0-9.]+ us after its start: Choose took [0-9.]+ us");
        expect_line("done, [0-9.]+ us after its start");
    }
    EXPECT_FALSE(server.has_said("trace of Listen 2")) << server.said;
}

TEST_P(EachRuntime, ATraceSaysWhatFailed)
{
    server server(with_runtime({"flows=1", "node=throw", "--flux-trace"}));
    ASSERT_TRUE(server.await_said("all flows are made"));
    server.send(SIGTERM);
    EXPECT_EQ(server.await_end(), 0) << server.said;
    EXPECT_TRUE(server.has_said("flux: trace of Listen 1: One failed with exception_thrown after ")) << server.said;
    EXPECT_TRUE(server.has_said("flux: trace of Listen 1: failed, ")) << server.said;
}

TEST_P(EachRuntime, WhatAForkedProcessLogsIsWrittenAndItReportsNothing)
{
    // What only the other threads refer to looks leaked in a process that has none of them.
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
    server server(with_runtime({"flows=1", "node=fork"}));
    unsetenv("ASAN_OPTIONS");
    ASSERT_TRUE(server.await_said("all flows are made"));
    ASSERT_TRUE(server.await_said("the other has ended with 7")) << server.said;
    server.send(SIGTERM);
    EXPECT_EQ(server.await_end(), 0) << server.said;
    EXPECT_TRUE(server.has_said("One: from the other process\n")) << server.said;
    const std::size_t first = server.said.find("flux: sample: 1 flows");
    EXPECT_NE(first, server.said.npos) << server.said;
    EXPECT_EQ(server.said.find("flux: sample: 1 flows", first + 1), server.said.npos) << server.said;
}

TEST_P(EachRuntime, EndsAtOnceWhenItIsToldTwice)
{
    server server(with_runtime({"flows=1", "node=hang"}));
    ASSERT_TRUE(server.await_said("all flows are made"));
    server.send(SIGTERM);
    ASSERT_TRUE(server.await_said("SIGTERM: sources stop, flows have 30 s to end"));
    server.send(SIGTERM);
    EXPECT_EQ(server.await_end(), 128 + SIGTERM) << server.said;
    EXPECT_TRUE(server.has_said("asked to end a second time")) << server.said;
}

TEST_P(EachRuntime, SurvivesAWriteToAClosedPipe)
{
    server server(with_runtime({"flows=2", "node=pipe"}));
    ASSERT_TRUE(server.await_said("written: -1, Broken pipe\n")) << server.said;
    ASSERT_TRUE(server.await_said("all flows are made"));
    server.send(SIGTERM);
    EXPECT_EQ(server.await_end(), 0) << server.said;
    EXPECT_TRUE(server.has_said("2 flows: 2 done")) << server.said;
}

TEST_P(EachRuntime, ReportsWhenTheProgramExits)
{
    // The program's own action on the signal calls `exit`, as programs of 2006 do. That is not safe, and none of ours.
    const char *const set = std::getenv("TSAN_OPTIONS");
    const std::string before = set == nullptr ? "" : set;
    setenv("TSAN_OPTIONS", (before + " report_signal_unsafe=0").c_str(), 1);
    {
        server server(with_runtime({"flows=5", "exits"}));
        ASSERT_TRUE(server.await_said("all flows are made"));
        server.send(SIGINT);
        EXPECT_EQ(server.await_end(), 3) << server.said;
        EXPECT_TRUE(server.has_said("flux: sample: 5 flows: ")) << server.said;
    }
    setenv("TSAN_OPTIONS", before.c_str(), 1);
    server server(with_runtime({"flows=1", "node=exit"}));
    EXPECT_EQ(server.await_end(), 3) << server.said;
    EXPECT_TRUE(server.has_said("1 flows: 0 done, 0 failed, 0 ended by an error handler, 1 cancelled")) << server.said;
}

TEST_P(EachRuntime, AnExceptionIsTheErrorOfItsNode)
{
    server server(with_runtime({"flows=2", "node=throw"}));
    ASSERT_TRUE(server.await_said("flux: One threw std::runtime_error: no such picture\n")) << server.said;
    ASSERT_TRUE(server.await_said("all flows are made"));
    server.send(SIGTERM);
    EXPECT_EQ(server.await_end(), 0) << server.said;
    EXPECT_TRUE(server.has_said("2 flows: 0 done, 2 failed")) << server.said;
}

TEST_P(EachRuntime, NamesTheNodeThatCrashes)
{
    struct {
        const char *node;
        int signal;
        const char *name;
    } const crashes[] = {{"fault", SIGSEGV, "SIGSEGV"},
                         {"overflow", SIGSEGV, "SIGSEGV"},
                         {"frame", SIGSEGV, "SIGSEGV"},
                         {"abort", SIGABRT, "SIGABRT"},
                         {"divide", SIGFPE, "SIGFPE"}};
    for (const auto &crash : crashes) {
        server server(with_runtime({"flows=1", std::string("node=") + crash.node}));
        const int status = server.await_end();
        const bool as_expected = status == -crash.signal || (sanitized && status > 0);
        EXPECT_TRUE(as_expected) << crash.node << ": " << status << ", " << server.said;
        // Only of a fiber is it known that its stack has overflowed.
        const std::string how = GetParam();
        const bool overflow = (how == "event" || how == "proactor") &&
                              (crash.node == std::string("overflow") || crash.node == std::string("frame"));
        const std::string expected = std::string("flux: ") + crash.name +
                                     " in One (sample.flux:4), flow 1 of Listen (sample.flux:8), path register 0" +
                                     (overflow ? ": the stack of its fiber, 960 KiB, has overflowed; give the node "
                                                 "one for itself: `stack 8M`\n"
                                               : "\n");
        EXPECT_TRUE(server.has_said(expected)) << crash.node << ": " << server.said;
    }
}

/// What the node One has logged, among what was said; and what it does when it logs so many lines in flow 1.
std::string lines_of_one(const std::string &said)
{
    std::string all;
    std::istringstream in(said);
    for (std::string line; std::getline(in, line);) {
        all += line.starts_with("One: ") ? line + "\n" : "";
    }
    return all;
}
std::string lines_of_one(int lines)
{
    std::string all;
    for (int line = 1; line <= lines; ++line) {
        all += "One: line " + std::to_string(line) + " of flow 1\n";
    }
    return all;
}

TEST_P(EachRuntime, WhatNodesLogIsWrittenWhenItEnds)
{
    server server(with_runtime({"flows=1", "say=400"}));
    ASSERT_TRUE(server.await_said("all flows are made"));
    server.send(SIGTERM);
    EXPECT_EQ(server.await_end(), 0) << server.said;
    EXPECT_EQ(lines_of_one(server.said), lines_of_one(400));
    EXPECT_LT(server.said.find("line 400"), server.said.find("1 flows: 1 done")) << "the report comes first";
}

TEST_P(EachRuntime, WhatNodesLogIsWrittenWhenItExitsOrCrashes)
{
    for (const char *const node : {"exit", "fault", "abort"}) {
        server server(with_runtime({"flows=1", "say=400", std::string("node=") + node}));
        EXPECT_NE(server.await_end(), 0);
        EXPECT_EQ(lines_of_one(server.said), lines_of_one(400)) << node;
        const std::size_t last_words = server.said.find(" in One (sample.flux:4), flow 1 of Listen");
        EXPECT_EQ(last_words == std::string::npos, node == std::string("exit")) << node << ": " << server.said;
        EXPECT_LT(server.said.find("line 400"), last_words) << node << ": " << server.said;
    }
}

TEST_P(EachRuntime, GoesOnAndEndsWhereNobodyReadsWhatItSays)
{
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    while (write(ends[1], "x", 1) == 1) {
    }
    fcntl(ends[1], F_SETFL, 0);
    const auto arguments = [&](const char *node) { return with_runtime({"flows=20", "say=2000", node}); };
    // A sanitizer has something to say too when these end, and waits until somebody reads it.
    const bool may_end_so = !sanitized;
    server drains(arguments("node=ok"), "sample_server", false, ends[1]);
    server is_told_twice(arguments("node=hang"), "sample_server", false, ends[1]);
    server crashes(arguments("node=fault"), "sample_server", false, ends[1]);
    ASSERT_TRUE(drains.await_said("all flows are made"));
    drains.send(SIGTERM);
    ASSERT_TRUE(is_told_twice.await_said("all flows are made"));
    if (may_end_so) {
        is_told_twice.send_until_the_end(SIGTERM);
    }
    EXPECT_EQ(drains.await_end(), 0);
    if (may_end_so) {
        EXPECT_EQ(is_told_twice.await_end(), 128 + SIGTERM);
        EXPECT_EQ(crashes.await_end(), -SIGSEGV);
    }
    close(ends[0]);
    close(ends[1]);
}

INSTANTIATE_TEST_SUITE_P(Server, EachRuntime, testing::Values("thread", "pool", "event", "proactor"),
                         [](const auto &tested) { return std::string(tested.param); });

TEST(Server, RunsFlowsOnTheSourceWhereNoThreadCanBeHad)
{
    if (sanitized) {
        GTEST_SKIP() << "sanitizers need more address space than this leaves";
    }
    server server({"flows=5", "no-threads", "--flux-runtime=thread", "--flux-report"});
    ASSERT_TRUE(server.await_said("no thread for a flow (Resource temporarily unavailable): its source runs it"))
        << server.said;
    ASSERT_TRUE(server.await_said("all flows are made"));
    server.send(SIGTERM);
    EXPECT_EQ(server.await_end(), 0) << server.said;
    EXPECT_TRUE(server.has_said("5 flows: 5 done")) << server.said;
}

TEST(Server, SaysByWhatItsLoopsWait)
{
    const std::string refused = ", by epoll, as io_uring is refused: io_uring_setup: Operation not permitted\n";
    for (const bool allowed : {true, false}) {
        server server({"flows=5", allowed ? "" : "no-io-uring", "--flux-runtime=event", "--flux-workers=2",
                       "--flux-io=proactor", "--flux-report"});
        ASSERT_TRUE(server.await_said("all flows are made")) << server.said;
        server.send(SIGTERM);
        EXPECT_EQ(server.await_end(), 0) << server.said;
        EXPECT_TRUE(server.has_said("on 2 event loops" + (allowed ? ", by io_uring\n" : refused))) << server.said;
        EXPECT_TRUE(server.has_said("5 flows: 5 done")) << server.said;
    }
}

TEST(Server, GivesInitTheArgumentsThatAreNotFluxs)
{
    server server({"print", "--flux-workers", "2", "--port", "80", "--flux-report=text", "--", "--help", "--flux-x"});
    ASSERT_TRUE(server.await_said("on a pool of 2 threads")) << server.said;
    server.send(SIGTERM);
    EXPECT_EQ(server.await_end(), 0);
    const std::string expected = "argument: print\nargument: --port\nargument: 80\nargument: --\nargument: --help\n"
                                 "argument: --flux-x\n";
    EXPECT_EQ(server.said.substr(0, expected.size()), expected);
}

TEST(Server, RefusesWrongOptions)
{
    server server({"--flux-worker=2"});
    EXPECT_EQ(server.await_end(), 2);
    EXPECT_EQ(server.said,
              "flux: there is no option --flux-worker; did you mean --flux-workers? (--flux-help lists them)\n");
}

TEST(Server, RefusesMoreFlowsThanALockCanCount)
{
    server server({"--flux-max-flows=200000"}, "plain_server");
    EXPECT_EQ(server.await_end(), 1);
    EXPECT_TRUE(server.has_said("flux: sample cannot start: its sources may have 262143 flows in progress together"))
        << server.said;
}

TEST(Server, ShowsHelpAndVersion)
{
    server help({"--help"}, "plain_server");
    EXPECT_EQ(help.await_end(), 0);
    EXPECT_TRUE(help.has_said("--flux-max-flows N")) << help.said;
    server version({"--flux-version"});
    EXPECT_EQ(version.await_end(), 0);
    EXPECT_EQ(version.said, "flux 0.1.0\n");
}

TEST(Server, KeepsIgnoringASignalThatWasIgnoredBefore)
{
    server server({"flows=1", "--flux-report"}, "sample_server", true);
    ASSERT_TRUE(server.await_said("all flows are made"));
    server.send(SIGINT); // which comes first: of two signals the kernel takes the smaller number
    server.send(SIGTERM);
    EXPECT_EQ(server.await_end(), 0) << server.said;
    EXPECT_TRUE(server.has_said("SIGTERM: sources stop")) << server.said;
    EXPECT_FALSE(server.has_said("SIGINT")) << server.said;
}

TEST(Server, NamesASourceThatKeepsFailing)
{
    server server({"source=fails"});
    ASSERT_TRUE(server.await_said("source Listen (sample.flux:8) fails again and again")) << server.said;
    server.send(SIGTERM);
    EXPECT_EQ(server.await_end(), 0);
}

} // namespace
