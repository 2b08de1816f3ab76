#include "flux/log.hpp"

#include "flux/process/log_tail.hpp"
#include "support/running_source.hpp"
#include "support/patience.hpp"
#include "support/standard_error.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <latch>
#include <malloc.h>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using flux::strategy_kind;
using sample::running_source;

/// While it exists, standard error is a pipe that holds a page, and nobody reads it until somebody is told to.
class unread_pipe
{
  public:
    unread_pipe() : standard_error_(dup(STDERR_FILENO))
    {
        EXPECT_EQ(pipe2(ends_, O_CLOEXEC), 0);
        fcntl(ends_[1], F_SETPIPE_SZ, 4096);
        dup2(ends_[1], STDERR_FILENO);
        close(ends_[1]);
    }

    ~unread_pipe() { restore(); }

    /// Nothing more can be put into it.
    void stuff()
    {
        const int flags = fcntl(STDERR_FILENO, F_GETFL);
        fcntl(STDERR_FILENO, F_SETFL, flags | O_NONBLOCK);
        while (write(STDERR_FILENO, "\n", 1) == 1) {
        }
        fcntl(STDERR_FILENO, F_SETFL, flags);
    }

    void start_reading()
    {
        reader_ = std::thread([this] {
            char buffer[4096];
            for (ssize_t size = 0; (size = read(ends_[0], buffer, sizeof buffer)) > 0;) {
                said_.append(buffer, static_cast<std::size_t>(size));
            }
        });
    }

    /// Standard error is again what it was; what has been read.
    std::string restore()
    {
        if (standard_error_ >= 0) {
            dup2(standard_error_, STDERR_FILENO);
            close(standard_error_);
            standard_error_ = -1;
        }
        if (reader_.joinable()) {
            reader_.join();
            close(ends_[0]);
        }
        return said_;
    }

  private:
    int standard_error_;
    int ends_[2] = {};
    std::thread reader_;
    std::string said_;
};

/// What many threads have logged, each line `thread T line N`, N going up from 1.
struct whole_lines {
    explicit whole_lines(const std::string &said)
    {
        static const std::regex line_form("flux: thread (\\d+) line (\\d+)\\.*");
        static const std::regex note_form("flux: lines left out here, as they came too fast: (\\d+)");
        std::istringstream in(said);
        for (std::string line; std::getline(in, line);) {
            std::smatch found;
            if (std::regex_match(line, found, line_form)) {
                int &last = last_of[std::stoi(found[1])];
                EXPECT_GT(std::stoi(found[2]), last) << line;
                last = std::stoi(found[2]);
                ++written;
            } else if (std::regex_match(line, found, note_form)) {
                left_out += std::stoi(found[1]);
                ++notes;
            } else {
                EXPECT_EQ(line, "");
            }
        }
    }

    std::map<int, int> last_of;
    int written = 0;
    int left_out = 0;
    int notes = 0;
};

/// So many threads log so many lines each, of many lengths, all at once: each has a ring to itself.
void log_in_threads(int threads, int lines)
{
    std::vector<std::thread> all;
    std::latch have_rings(threads);
    for (int thread = 0; thread < threads; ++thread) {
        all.emplace_back([=, &have_rings] {
            for (int line = 1; line <= lines; ++line) {
                flux::log_line("thread %d line %d%s", thread, line,
                               std::string(static_cast<std::size_t>(line) % 150, '.').c_str());
                if (line == 1) {
                    have_rings.arrive_and_wait();
                }
            }
        });
    }
    for (std::thread &each : all) {
        each.join();
    }
}

TEST(Log, MarksItsLines)
{
    testing::internal::CaptureStderr();
    flux::log_line("%d %s", 3, "flows");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "flux: 3 flows\n");
}

TEST(Log, CutsWhatIsTooLong)
{
    testing::internal::CaptureStderr();
    flux::log_line("%s", std::string(5000, 'x').c_str());
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(said.size(), 1024u);
    EXPECT_EQ(said.back(), '\n');
}

TEST(Log, SaysRarelyWhatCouldBeSaidAgainAndAgain)
{
    const captured_standard_error standard_error;
    const auto is_said = [&](const char *line) {
        flux::log_rarely("%s", line);
        return standard_error.has_said(line);
    };
    await([&] { return is_said("another's"); }); // tests before this one may have left lines out
    const std::size_t before = standard_error.said().size();
    const stopwatch since_first;
    for (int i = 0; i < 100; ++i) {
        flux::log_rarely("number %d", i);
    }
    int calls = 100;
    await([&] {
        ++calls;
        return is_said("the last");
    });
    const std::string said = standard_error.said().substr(before);
    std::istringstream in(said);
    int lines = 0;
    int left_out = 0;
    for (std::string line; std::getline(in, line);) {
        const std::size_t note = line.find("(and ");
        left_out += note != std::string::npos ? std::atoi(line.c_str() + note + 5) : 0;
        ++lines;
    }
    EXPECT_EQ(lines + left_out, calls) << said;
    EXPECT_NE(said.find("flux: the last (and "), std::string::npos) << said;
    EXPECT_TRUE(since_first.has_passed((lines - 1) * std::chrono::milliseconds(999))) << said;
}

TEST(Log, NamesTheNodeThatSaysSomething)
{
    sample::work = [](const sample::Listen_out &) {
        if (flux::running_flow->position() == sample::node_Begin) {
            flux::log("flow %d", static_cast<int>(flux::running_flow->id()));
        }
    };
    sample::listen = sample::flows(1, [](int) { return sample::Listen_out{2, 2, -1}; });
    testing::internal::CaptureStderr();
    flux::log("outside of %s", "flows");
    {
        running_source running(sample::program, sample::source_Listen, strategy_kind::event, 1, 1);
        running.await_finished(1);
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "outside of flows\nBegin: flow 1\n");
}

TEST(Log, LeavesTheErrorAsItIs)
{
    testing::internal::CaptureStderr();
    flux::start_log();
    errno = EMFILE;
    flux::log("cannot open it");
    EXPECT_EQ(errno, EMFILE);
    flux::finish_log();
    errno = EMFILE;
    flux::log("nor this");
    EXPECT_EQ(errno, EMFILE);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "cannot open it\nnor this\n");
}

TEST(Log, AtTheEndAllIsWritten)
{
    std::string expected;
    testing::internal::CaptureStderr();
    for (int round = 0; round < 3; ++round) {
        flux::log_line("before %d", round);
        expected += "flux: before " + std::to_string(round) + "\n";
        flux::start_log();
        for (int line = 0; line < 500; ++line) { // so many fit, whenever they are written
            flux::log_line("line %d", line);
            expected += "flux: line " + std::to_string(line) + "\n";
        }
        flux::finish_log();
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), expected);
}

TEST(Log, WhatAnotherThreadCouldKnowOfComesFirst)
{
    constexpr int turns = 400;
    std::string expected;
    testing::internal::CaptureStderr();
    flux::start_log();
    std::atomic<int> turn{0};
    std::vector<std::thread> players;
    for (int player = 0; player < 2; ++player) {
        players.emplace_back([&turn, player] {
            for (int mine = player; mine < turns; mine += 2) {
                for (int seen = turn; seen != mine; seen = turn) {
                    turn.wait(seen);
                }
                flux::log_line("turn %d", mine);
                ++turn;
                turn.notify_all();
            }
        });
    }
    for (std::thread &each : players) {
        each.join();
    }
    flux::finish_log();
    for (int each = 0; each < turns; ++each) {
        expected += "flux: turn " + std::to_string(each) + "\n";
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), expected);
}

TEST(Log, WritesWholeLinesOfManyThreads)
{
    testing::internal::CaptureStderr();
    flux::start_log();
    log_in_threads(8, 2000);
    flux::finish_log();
    const whole_lines all(testing::internal::GetCapturedStderr());
    EXPECT_EQ(all.written + all.left_out, 8 * 2000);
    EXPECT_EQ(all.last_of.size(), 8u);
}

TEST(Log, WhoeverSaysSomethingWritesItWhereNoServerRuns)
{
    testing::internal::CaptureStderr();
    log_in_threads(4, 500);
    const whole_lines all(testing::internal::GetCapturedStderr());
    EXPECT_EQ(all.written, 4 * 500);
    EXPECT_EQ(all.left_out, 0);
}

TEST(Log, WaitsForNobodyAndCountsWhatItLeavesOut)
{
    unread_pipe pipe;
    pipe.stuff();
    flux::start_log();
    log_in_threads(4, 3000); // some 300 kB each, and comes back although nobody reads
    pipe.start_reading();
    flux::finish_log();
    const whole_lines all(pipe.restore());
    EXPECT_EQ(all.written + all.left_out, 4 * 3000);
    EXPECT_GT(all.left_out, 0);
    EXPECT_GE(all.notes, 4);
}

TEST(Log, ItsTailIsReadWhileStandardErrorAcceptsNothing)
{
    unread_pipe pipe;
    pipe.stuff();
    flux::start_log();
    flux::log_line("the one that is looked for");
    await([] { return flux::tail_of_log().last().text.ends_with("flux: the one that is looked for\n"); });
    pipe.start_reading();
    flux::finish_log();
    EXPECT_TRUE(pipe.restore().ends_with("flux: the one that is looked for\n"));
}

TEST(Log, ATextIsWrittenHoweverLongItIs)
{
    std::string text;
    for (int line = 0; line < 20'000; ++line) {
        text += "line " + std::to_string(line) + "\n";
    }
    text += std::string(100'000, 'x');
    text += "\nthe end\n";
    testing::internal::CaptureStderr();
    flux::start_log();
    flux::log_line("before");
    flux::log_text(text);
    flux::finish_log();
    flux::log_text(text);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "flux: before\n" + text + text);
}

/// Says something at the very end of its thread.
struct talkative {
    explicit talkative(int which) : number(which) {}
    ~talkative() { flux::log_line("end %d", number); }
    int number;
};

TEST(Log, ThreadsThatEndLeaveNothingButTheirLines)
{
    constexpr int threads = 100;
    std::string expected;
    testing::internal::CaptureStderr();
    flux::start_log();
    flux::log_line("begin");
    const std::size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    for (int number = 0; number < threads; ++number) {
        std::thread([number] { const thread_local talkative at_the_end(number); }).join();
        expected += "flux: end " + std::to_string(number) + "\n";
    }
    const std::size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
    flux::finish_log();
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "flux: begin\n" + expected);
    EXPECT_LT(after, before + 4 * 1024 * 1024) << "each has left its ring behind";
}

} // namespace
