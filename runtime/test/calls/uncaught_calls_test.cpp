#include "flux/calls/uncaught_calls.hpp"

#include "../support/running_source.hpp"
#include "../support/patience.hpp"

#include <aio.h>
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <string>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <thread>
#include <threads.h>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;
using sample::running_source;

/// How long each call waits: longer than the watchdog needs to see it.
constexpr auto time_of_call = 40ms;
constexpr std::timespec time_of_call_timespec{0, std::chrono::nanoseconds(time_of_call).count()};

/// One flow makes the call, again and again until the watchdog has found its node; what is said.
std::string said_of(const std::function<void()> &call)
{
    std::atomic<running_source *> watched{nullptr};
    const auto found = [&] {
        running_source *const running = watched.load();
        return running != nullptr && std::ranges::any_of(running->facts().holds, [](const flux::loop_hold &each) {
                   return each.node == sample::node_Begin;
               });
    };
    sample::work = [&](const sample::Listen_out &) {
        const hang_limit limit;
        while (flux::running_flow->position() == sample::node_Begin && !found()) {
            call();
            limit.check(); // without a pause, which would be found as well
        }
    };
    sample::listen = sample::flows(1, [](int) { return sample::Listen_out{2, 2, -1}; });
    testing::internal::CaptureStderr();
    {
        running_source running(sample::program, sample::source_Listen, flux::strategy_kind::event, 1, 1);
        watched = &running;
        running.await_finished(1);
    }
    return testing::internal::GetCapturedStderr();
}

void expect_named(const char *name, const std::function<void()> &call)
{
    SCOPED_TRACE(name);
    const std::string said = said_of(call);
    EXPECT_NE(said.find("flux: Begin (sample.flux:2) holds its event loop for more than a millisecond"),
              std::string::npos)
        << said;
}

/// Another thread, which does this when the call has waited.
std::jthread later(std::function<void()> action)
{
    return std::jthread([action = std::move(action)] {
        dawdle(time_of_call);
        action();
    });
}

/// Sends the calling thread a signal when its call has waited.
class signal_later
{
  public:
    signal_later()
    {
        std::signal(SIGUSR2, [](int) {});
        sigevent notified{};
        notified.sigev_notify = SIGEV_THREAD_ID;
        notified.sigev_signo = SIGUSR2;
        notified._sigev_un._tid = gettid();
        timer_create(CLOCK_MONOTONIC, &notified, &timer_);
        const itimerspec time{{0, 1'000'000}, time_of_call_timespec}; // again, as the first may come before the call
        timer_settime(timer_, 0, &time, nullptr);
    }
    ~signal_later() { timer_delete(timer_); }

  private:
    timer_t timer_{};
};

TEST(UncaughtCalls, OfThreadsAreNamedByTheWatchdog)
{
    expect_named("thrd_sleep", [] { thrd_sleep(&time_of_call_timespec, nullptr); });
    mtx_t lock;
    ASSERT_EQ(mtx_init(&lock, mtx_timed), thrd_success);
    expect_named("mtx_lock", [&] {
        mtx_lock(&lock);
        std::jthread other([&] { EXPECT_EQ(mtx_lock(&lock), thrd_success); });
        dawdle(1ms);
        mtx_unlock(&lock);
        other.join();
        const std::jthread opens = later([&] { mtx_unlock(&lock); }); // a plain one may be opened by anybody
        mtx_lock(&lock);
        mtx_unlock(&lock);
    });
    cnd_t signalled;
    ASSERT_EQ(cnd_init(&signalled), thrd_success);
    expect_named("cnd_wait", [&] {
        std::atomic<bool> is_time{false}; // GCC's thread sanitizer does not know these locks
        const std::jthread signals = later([&] {
            mtx_lock(&lock);
            is_time = true;
            mtx_unlock(&lock);
            cnd_signal(&signalled);
        });
        mtx_lock(&lock);
        while (!is_time) {
            cnd_wait(&signalled, &lock);
        }
        mtx_unlock(&lock);
    });
    pthread_spinlock_t spun;
    pthread_spin_init(&spun, PTHREAD_PROCESS_PRIVATE);
    expect_named("pthread_spin_lock", [&] {
        std::atomic<bool> is_taken{false};
        const std::jthread takes([&] {
            pthread_spin_lock(&spun);
            is_taken = true;
            dawdle(time_of_call);
            pthread_spin_unlock(&spun);
        });
        while (!is_taken) {
            std::this_thread::yield();
        }
        pthread_spin_lock(&spun);
        pthread_spin_unlock(&spun);
    });
}

TEST(UncaughtCalls, OfSignalsAreNamedByTheWatchdog)
{
    expect_named("pause", [] {
        const signal_later timer;
        pause();
    });
    expect_named("sigsuspend", [] {
        const signal_later timer;
        sigset_t none;
        sigemptyset(&none);
        sigsuspend(&none);
    });
}

TEST(UncaughtCalls, OfOtherProcessesAreNamedByTheWatchdog)
{
    const int semaphores = semget(IPC_PRIVATE, 1, 0600);
    const int messages = msgget(IPC_PRIVATE, 0600);
    if (semaphores < 0 || messages < 0) {
        GTEST_SKIP() << "the system has no queues of messages for processes";
    }
    expect_named("semtimedop", [&] {
        sembuf take{0, -1, 0};
        semtimedop(semaphores, &take, 1, &time_of_call_timespec);
    });
    struct message {
        long kind = 1;
        char text = 'a';
    };
    expect_named("msgrcv", [&] {
        const std::jthread sends = later([&] {
            const message sent;
            msgsnd(messages, &sent, 1, 0);
        });
        message got;
        EXPECT_EQ(msgrcv(messages, &got, 1, 0, 0), 1);
    });
    semctl(semaphores, 0, IPC_RMID);
    msgctl(messages, IPC_RMID, nullptr);
}

TEST(UncaughtCalls, OfStreamsAreNamedByTheWatchdog)
{
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
    std::FILE *const in = fdopen(ends[0], "r");
    expect_named("fscanf", [&] {
        const std::jthread writes = later([&] { EXPECT_EQ(write(ends[1], "7\n", 2), 2); });
        int number = 0;
        EXPECT_EQ(fscanf(in, "%d", &number), 1);
        EXPECT_EQ(number, 7);
    });
    const std::string much(100'000, 'x'); // more than a pipe takes
    expect_named("dprintf", [&] {
        const std::jthread reads = later([&] {
            std::string all(much.size(), '\0');
            EXPECT_EQ(std::fread(all.data(), 1, all.size(), in), all.size());
        });
        EXPECT_EQ(dprintf(ends[1], "%s", much.c_str()), static_cast<int>(much.size()));
    });
    expect_named("aio_suspend", [&] {
        char byte = 0;
        aiocb reading{};
        reading.aio_fildes = ends[0];
        reading.aio_buf = &byte;
        reading.aio_nbytes = 1;
        ASSERT_EQ(aio_read(&reading), 0);
        const std::jthread writes = later([&] { EXPECT_EQ(write(ends[1], "a", 1), 1); });
        const aiocb *const all[] = {&reading};
        EXPECT_EQ(aio_suspend(all, 1, nullptr), 0);
        EXPECT_EQ(aio_return(&reading), 1);
    });
    std::fclose(in);
    close(ends[1]);
}

} // namespace
