#include "flux/process/signals.hpp"

#include "../support/network_sockets.hpp"
#include "../support/patience.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <sys/syscall.h>
#include <thread>
#include <ucontext.h>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;

constexpr int storm_signal = SIGUSR1;

std::atomic<std::uint64_t> interrupted_calls{0};

/// Whether the thread was in a system call that the signal has ended: its result is there before the handler runs.
bool was_in_a_call(const ucontext_t &at) noexcept
{
#if defined(__x86_64__)
    return at.uc_mcontext.gregs[REG_RAX] == -EINTR;
#elif defined(__aarch64__)
    return at.uc_mcontext.regs[0] == static_cast<unsigned long long>(-EINTR);
#else
    return true;
#endif
}

void on_storm(int, siginfo_t *, void *context)
{
    if (was_in_a_call(*static_cast<const ucontext_t *>(context))) {
        interrupted_calls.fetch_add(1, std::memory_order_relaxed);
    }
}

/// Sends a signal to every thread of the process that has not blocked it, again and again.
class storm
{
  public:
    storm() : blowing_([this] { blow(); }) {}
    ~storm()
    {
        over_ = true;
        blowing_.join();
    }

  private:
    void blow() const
    {
        while (!over_) {
            for (const auto &thread : std::filesystem::directory_iterator("/proc/self/task")) {
                // One may be gone meanwhile.
                syscall(SYS_tgkill, getpid(), std::stoi(thread.path().filename()), storm_signal);
            }
            dawdle(50us);
        }
    }

    std::atomic<bool> over_{false};
    std::thread blowing_;
};

/// No call of the calling thread, and of threads that it starts from now on, is interrupted.
class sheltered
{
  public:
    sheltered()
    {
        sigset_t blocked;
        sigemptyset(&blocked);
        sigaddset(&blocked, storm_signal);
        pthread_sigmask(SIG_BLOCK, &blocked, &before_);
    }
    ~sheltered() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  private:
    sigset_t before_;
};

TEST(Signals, NothingIsLostWithTheCallsThatTheyInterrupt)
{
    struct sigaction action = {};
    action.sa_sigaction = on_storm;
    action.sa_flags = SA_SIGINFO; // and not SA_RESTART
    sigaction(storm_signal, &action, nullptr);
    constexpr std::uint64_t enough = 50;
    for (const network::way &way : network::all_ways()) {
        SCOPED_TRACE(way.name);
        network::answering answering(1ms, 1h);
        network::first = flux::first_given::with_input;
        network::serve = std::ref(answering);
        network::served_at = flux::loopback_address(0);
        network::running_server server(way.make);
        network::await_listening();
        interrupted_calls = 0;
        std::uint64_t answers = 0;
        {
            const sheltered here;
            const storm blowing;
            for (int round = 0; round == 0 || interrupted_calls < enough; ++round) {
                network::all_seen all;
                network::run_clients([&](network::socket_peer &self, std::size_t client) {
                    const std::string name = std::to_string(round) + network::name_of(client);
                    ask(self, network::habits_of(client), name, 3, all[client]);
                });
                for (const network::seen &each : all) {
                    EXPECT_FALSE(each.cut_short);
                    answers += each.answers.size();
                }
            }
        }
        const flux::source_counts counts = server.end();
        EXPECT_EQ(answering.answered.size(), answers);
        EXPECT_TRUE(std::ranges::all_of(answering.answered, [](const auto &each) { return each.second == 1; }));
        EXPECT_EQ(counts.finished[flux::index_of(flux::outcome::done)], counts.started);
    }
    std::signal(storm_signal, SIG_DFL);
}

/// What the process does on it.
struct sigaction action_on(int signal)
{
    struct sigaction now = {};
    sigaction(signal, nullptr, &now);
    return now;
}

bool is_caught(int signal)
{
    return action_on(signal).sa_handler != SIG_DFL && action_on(signal).sa_handler != SIG_IGN;
}

/// The signals do what they do in a process that nobody has prepared: tests in the background begin with SIGINT
/// ignored.
class EndSignals : public testing::Test
{
  protected:
    EndSignals() { std::signal(SIGINT, SIG_DFL); }

    ~EndSignals() override
    {
        std::signal(SIGINT, at_first_.sa_handler);
        std::signal(SIGTERM, SIG_DFL);
    }

  private:
    const struct sigaction at_first_ = action_on(SIGINT);
};

TEST_F(EndSignals, AreCaughtAsLongAsAnyServerNeedsThem)
{
    auto first = std::make_unique<flux::end_signals>();
    {
        const flux::end_signals second;
        std::raise(SIGPIPE);
        EXPECT_EQ(first->wait(-1, in(0s)), 0) << "nobody has asked";
        first = nullptr;
        EXPECT_TRUE(is_caught(SIGTERM));
        std::raise(SIGTERM);
        EXPECT_EQ(second.wait(), SIGTERM);
        const flux::end_signals third;
        EXPECT_EQ(third.wait(), SIGTERM) << "it is the process that is to end";
        EXPECT_EQ(second.wait(), SIGTERM);
    }
    for (const int signal : {SIGTERM, SIGINT, SIGPIPE}) {
        EXPECT_FALSE(is_caught(signal)) << signal;
    }
    const flux::end_signals anew;
    EXPECT_EQ(anew.wait(-1, in(0s)), 0);
    std::raise(SIGINT);
    EXPECT_EQ(anew.wait(), SIGINT);
}

TEST_F(EndSignals, StayWhatTheProgramSaysItself)
{
    std::signal(SIGINT, SIG_IGN);
    {
        const flux::end_signals here;
        EXPECT_EQ(action_on(SIGINT).sa_handler, SIG_IGN) << "as for a job in the background";
        std::signal(SIGTERM, [](int) {});
    }
    EXPECT_EQ(action_on(SIGINT).sa_handler, SIG_IGN);
    EXPECT_TRUE(is_caught(SIGTERM));
}

TEST(Signals, InterruptsAreTakenBackByTheLast)
{
    {
        const flux::interrupts first;
        {
            const flux::interrupts second;
        }
        EXPECT_TRUE(is_caught(SIGURG));
        // It would wait forever, until it is interrupted.
        std::atomic<int> interrupted{0};
        std::thread sleeping([&] { interrupted = pause() != 0 ? errno : -1; });
        await([&] {
            first.interrupt(sleeping.native_handle());
            return interrupted != 0;
        });
        sleeping.join();
        EXPECT_EQ(interrupted, EINTR);
    }
    EXPECT_FALSE(is_caught(SIGURG));
}

TEST(Signals, NoneComesToAThreadThatIsMadeWhileTheyAreBlocked)
{
    const auto blocks_all = [] {
        sigset_t blocked;
        pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
        return sigismember(&blocked, SIGINT) == 1 && sigismember(&blocked, SIGURG) == 1;
    };
    bool made_blocks_all = false;
    {
        const flux::signals_blocked blocked;
        std::thread([&] { made_blocks_all = blocks_all(); }).join();
    }
    EXPECT_TRUE(made_blocks_all);
    EXPECT_FALSE(blocks_all());
}

} // namespace
