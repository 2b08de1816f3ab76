#include "flux/calls/fiber_locks.hpp"

#include "../support/running_source.hpp"
#include "../support/patience.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <cerrno>
#include <condition_variable>
#include <future>
#include <gtest/gtest.h>
#include <latch>
#include <mutex>
#include <pthread.h>
#include <semaphore.h>
#include <semaphore>
#include <shared_mutex>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;
using flux::strategy_kind;
using sample::running_source;

/// Flows that call this in their first node; each with its number, from 1. What they use is the C++ library's alone.
class FiberLocks : public testing::TestWithParam<int>
{
  protected:
    void run(int flows, std::function<void(int)> in_node, strategy_kind kind = strategy_kind::event)
    {
        sample::work = [in_node](const sample::Listen_out &) {
            if (flux::running_flow->position() == sample::node_Begin) {
                in_node(static_cast<int>(flux::running_flow->id()));
            }
        };
        sample::listen = sample::flows(flows, [](int) { return sample::Listen_out{2, 2, -1}; });
        const auto loops = static_cast<std::size_t>(GetParam());
        running_source running(sample::program, sample::source_Listen, kind, static_cast<std::size_t>(flows), loops);
        running.await_finished(static_cast<std::uint64_t>(flows));
        EXPECT_EQ(running.counts().finished[flux::index_of(flux::outcome::done)], static_cast<std::uint64_t>(flows));
        EXPECT_FALSE(flux::waiting_fibers.any());
    }

    /// Lets others run: the fiber parks.
    static void park() { EXPECT_EQ(flux::sleep_for(1ms), 0); }

    /// Each flow is in what this locks, parks there, and nobody else is in it.
    template <class Lock, class Unlock>
    void expect_alone(Lock lock, Unlock unlock)
    {
        std::atomic<int> inside{0};
        std::atomic<int> times{0};
        run(20, [&](int) {
            lock();
            EXPECT_EQ(++inside, 1);
            park();
            --inside;
            ++times;
            unlock();
        });
        EXPECT_EQ(times, 20);
    }
};

TEST_P(FiberLocks, OneFiberAloneHasAMutex)
{
    std::mutex lock;
    expect_alone([&] { lock.lock(); }, [&] { lock.unlock(); });
}

TEST_P(FiberLocks, OneFiberAloneHasARecursiveMutexAndTakesItAgain)
{
    std::recursive_mutex lock;
    expect_alone(
        [&] {
            lock.lock();
            lock.lock();
        },
        [&] {
            lock.unlock();
            park();
            EXPECT_EQ(pthread_mutex_trylock(lock.native_handle()), 0) << "it still has it";
            lock.unlock();
            lock.unlock();
        });
}

TEST_P(FiberLocks, ATimedMutexIsHadOrTheTimePasses)
{
    std::timed_mutex lock;
    std::recursive_timed_mutex recursive;
    std::atomic<int> had{0};
    run(3, [&](int) {
        if (lock.try_lock_for(5ms)) {
            ++had;
            EXPECT_TRUE(recursive.try_lock_until(in_by_calendar(await_limit)));
            EXPECT_EQ(flux::sleep_for(50ms), 0);
            recursive.unlock();
            lock.unlock();
        }
    });
    EXPECT_GE(had, 1);
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
}

TEST_P(FiberLocks, AMutexThatChecksKnowsTheFiber)
{
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_t lock;
    pthread_mutex_init(&lock, &kind);
    std::atomic<bool> is_locked{false};
    std::atomic<bool> is_asked{false};
    run(2, [&](int number) {
        if (number == 1) {
            EXPECT_EQ(pthread_mutex_lock(&lock), 0);
            EXPECT_EQ(pthread_mutex_lock(&lock), EDEADLK);
            EXPECT_EQ(pthread_mutex_trylock(&lock), EBUSY);
            is_locked = true;
            while (!is_asked) {
                park();
            }
            EXPECT_EQ(pthread_mutex_unlock(&lock), 0);
            EXPECT_EQ(pthread_mutex_unlock(&lock), EPERM);
            return;
        }
        while (!is_locked) {
            park();
        }
        EXPECT_EQ(pthread_mutex_trylock(&lock), EBUSY);
        EXPECT_EQ(pthread_mutex_unlock(&lock), EPERM) << "it is another fiber's";
        is_asked = true;
        EXPECT_EQ(pthread_mutex_lock(&lock), 0);
        EXPECT_EQ(pthread_mutex_unlock(&lock), 0);
    });
    pthread_mutex_destroy(&lock);
}

TEST_P(FiberLocks, FibersAndThreadsExcludeEachOther)
{
    std::mutex lock;
    int count = 0;
    std::vector<std::thread> threads;
    for (int number = 0; number < 2; ++number) {
        threads.emplace_back([&] {
            for (int turn = 0; turn < 200; ++turn) {
                const std::lock_guard alone(lock);
                ++count;
                std::this_thread::yield();
            }
        });
    }
    run(20, [&](int) {
        for (int turn = 0; turn < 20; ++turn) {
            const std::lock_guard alone(lock);
            const int before = count;
            if (turn == 10) {
                park();
            }
            count = before + 1;
        }
    });
    for (std::thread &each : threads) {
        each.join();
    }
    EXPECT_EQ(count, 2 * 200 + 20 * 20);
}

TEST_P(FiberLocks, ReadersAreTogetherAndAWriterAlone)
{
    std::shared_mutex lock;
    std::atomic<int> readers{0};
    std::atomic<int> most_readers{0};
    std::atomic<int> writers{0};
    run(20, [&](int number) {
        if (number % 5 == 0) {
            const std::lock_guard alone(lock);
            EXPECT_EQ(++writers, 1);
            EXPECT_EQ(readers, 0);
            park();
            --writers;
        } else {
            const std::shared_lock together(lock);
            const int now = ++readers;
            most_readers = std::max(most_readers.load(), now);
            EXPECT_EQ(writers, 0);
            EXPECT_EQ(flux::sleep_for(5ms), 0);
            --readers;
        }
    });
    EXPECT_GT(most_readers, 1);
}

TEST_P(FiberLocks, AConditionIsSignalledAndItsTimePasses)
{
    std::mutex lock;
    std::condition_variable changed;
    int turn = 0;
    run(10, [&](int number) {
        std::unique_lock guard(lock);
        EXPECT_FALSE(changed.wait_for(guard, 2ms, [] { return false; }));
        changed.wait(guard, [&] { return turn == number - 1; });
        EXPECT_TRUE(changed.wait_until(guard, in_by_calendar(await_limit), [] { return true; }));
        ++turn;
        changed.notify_all();
    });
    EXPECT_EQ(turn, 10);
}

TEST_P(FiberLocks, AThreadSignalsAFiberAndAFiberAThread)
{
    std::mutex lock;
    std::condition_variable changed;
    int turn = 0;
    const auto pass = [&](int own) {
        for (int round = 0; round < 50; ++round) {
            std::unique_lock guard(lock);
            changed.wait(guard, [&] { return turn % 2 == own; });
            ++turn;
            changed.notify_one();
        }
    };
    std::thread other([&] { pass(1); });
    run(1, [&](int) { pass(0); });
    other.join();
    EXPECT_EQ(turn, 100);
}

TEST_P(FiberLocks, AThreadThatWaitsForASignalIsSeenToLetGoOfItsLock)
{
    std::mutex lock;
    std::condition_variable changed;
    std::atomic<bool> is_held{false};
    bool was_had = false;
    std::thread other([&] {
        std::unique_lock guard(lock);
        is_held = true;
        while (!flux::waiting_fibers.any()) {
            std::this_thread::yield();
        }
        EXPECT_TRUE(changed.wait_for(guard, await_limit, [&] { return was_had; }));
    });
    run(1, [&](int) {
        while (!is_held) {
            park();
        }
        const std::lock_guard guard(lock);
        was_had = true;
        changed.notify_one();
    });
    other.join();
}

TEST(ThreadLocks, AThreadThatIsCancelledInAWaitHasItsLock)
{
    struct {
        pthread_mutex_t lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
        pthread_cond_t signalled = PTHREAD_COND_INITIALIZER;
        std::atomic<bool> is_held{false};
        int unlocked = -1;
    } shared;
    using of = decltype(shared);
    pthread_t thread;
    const auto waits = [](void *argument) -> void * {
        of &all = *static_cast<of *>(argument);
        pthread_mutex_lock(&all.lock);
        all.is_held = true;
        const auto clean_up = [](void *left) {
            static_cast<of *>(left)->unlocked = pthread_mutex_unlock(&static_cast<of *>(left)->lock);
        };
        pthread_cleanup_push(clean_up, argument);
        while (true) {
            pthread_cond_wait(&all.signalled, &all.lock);
        }
        pthread_cleanup_pop(0);
        return nullptr;
    };
    ASSERT_EQ(pthread_create(&thread, nullptr, waits, &shared), 0);
    while (!shared.is_held) {
        std::this_thread::yield();
    }
    // Had only where the other waits.
    ASSERT_EQ(pthread_mutex_lock(&shared.lock), 0);
    pthread_cancel(thread);
    ASSERT_EQ(pthread_mutex_unlock(&shared.lock), 0);
    void *ended_with = nullptr;
    ASSERT_EQ(pthread_join(thread, &ended_with), 0);
    EXPECT_EQ(ended_with, PTHREAD_CANCELED);
    EXPECT_EQ(shared.unlocked, 0);
}

TEST(ThreadLocks, AChildOfAForkSignalsWhateverThreadsDidMeanwhile)
{
    if (flux::thread_sanitizer) {
        GTEST_SKIP() << "the sanitizer has locks of its own, which a fork may leave taken";
    }
    // Those that threads use the C library may have left half changed: the child has others.
    std::array<pthread_cond_t, 64> all;
    std::array<pthread_cond_t, 64> of_child;
    all.fill(PTHREAD_COND_INITIALIZER);
    of_child.fill(PTHREAD_COND_INITIALIZER);
    std::atomic<bool> is_over{false};
    const auto waits = [&] {
        std::mutex lock;
        while (!is_over) {
            for (pthread_cond_t &each : all) {
                const std::lock_guard guard(lock);
                const std::timespec past{};
                pthread_cond_timedwait(&each, lock.native_handle(), &past);
            }
        }
    };
    std::array<std::thread, 4> others;
    std::generate(others.begin(), others.end(), [&] { return std::thread(waits); });
    bool has_ended = true;
    for (int times = 0; has_ended && times < 300; ++times) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(static_cast<unsigned>(await_limit.count()));
            for (pthread_cond_t &each : of_child) {
                pthread_cond_signal(&each);
            }
            _exit(0);
        }
        int status = 0;
        has_ended = waitpid(child, &status, 0) == child && WIFEXITED(status);
        EXPECT_TRUE(has_ended) << "fork " << times;
    }
    is_over = true;
    std::for_each(others.begin(), others.end(), [](std::thread &each) { each.join(); });
}

TEST(ThreadLocks, WhoDoesNotHaveTheLockIsToldSoAtOnce)
{
    if (flux::thread_sanitizer) {
        GTEST_SKIP() << "it is a fault of the program, which the sanitizer reports";
    }
    pthread_mutex_t lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    pthread_cond_t signalled = PTHREAD_COND_INITIALIZER;
    EXPECT_EQ(pthread_cond_wait(&signalled, &lock), EPERM);
    EXPECT_EQ(pthread_mutex_trylock(&lock), 0);
    EXPECT_EQ(pthread_mutex_unlock(&lock), 0);
}

TEST_P(FiberLocks, SemaphoresOfBothLibrariesLetSoManyIn)
{
    std::counting_semaphore<3> places(3);
    sem_t one;
    sem_init(&one, 0, 1);
    std::atomic<int> inside{0};
    std::atomic<int> alone{0};
    run(20, [&](int) {
        places.acquire();
        EXPECT_LE(++inside, 3);
        EXPECT_EQ(sem_wait(&one), 0);
        EXPECT_EQ(++alone, 1);
        park();
        --alone;
        sem_post(&one);
        --inside;
        places.release();
    });
    sem_destroy(&one);
}

TEST_P(FiberLocks, ASemaphoreThatProcessesShareIsWaitedForBesideTheLoop)
{
    sem_t shared;
    sem_init(&shared, 1, 0);
    run(2, [&](int number) {
        if (number == 1) {
            EXPECT_EQ(sem_wait(&shared), 0);
        } else {
            park();
            sem_post(&shared);
        }
    });
    sem_destroy(&shared);
}

TEST_P(FiberLocks, AnAtomicIsWaitedFor)
{
    std::atomic<int> turn{1};
    run(10, [&](int number) {
        for (int seen = turn; seen != number; seen = turn) {
            turn.wait(seen);
        }
        ++turn;
        turn.notify_all();
    });
    EXPECT_EQ(turn, 11);
}

TEST_P(FiberLocks, AFutureIsWaitedFor)
{
    std::promise<int> promise;
    std::shared_future<int> future(promise.get_future());
    std::promise<void> failing;
    std::shared_future<void> failed(failing.get_future());
    run(10, [&](int number) {
        if (number == 10) {
            EXPECT_EQ(future.wait_for(0s), std::future_status::timeout);
            promise.set_value(7);
            failing.set_exception(std::make_exception_ptr(std::runtime_error("none")));
            return;
        }
        EXPECT_EQ(future.get(), 7);
        EXPECT_THROW(failed.get(), std::runtime_error);
    });
}

TEST_P(FiberLocks, AThreadIsJoinedAndWhatItGivesIsHad)
{
    run(4, [&](int) {
        int given = 0;
        std::thread other([&] {
            dawdle(2ms);
            given = 5;
        });
        other.join();
        EXPECT_EQ(given, 5);
        EXPECT_EQ(std::async(std::launch::async, [] { return 6; }).get(), 6);
    });
}

TEST_P(FiberLocks, WhatIsToHappenOnceHappensOnce)
{
    // The thread sanitizer's own pthread_once waits for ever for a function that has thrown.
    constexpr bool throws = !flux::thread_sanitizer;
    std::once_flag flag;
    std::atomic<int> times{0};
    std::atomic<int> thrown{0};
    run(10, [&](int) {
        try {
            std::call_once(flag, [&] {
                park();
                if (++times == 1 && throws) {
                    throw std::runtime_error("not yet");
                }
                park();
            });
        } catch (const std::runtime_error &) {
            ++thrown;
        }
        EXPECT_GE(times, 1);
    });
    EXPECT_EQ(times, throws ? 2 : 1);
    EXPECT_EQ(thrown, throws ? 1 : 0);
}

/// Made anew for each test of it: static variables are initialised once in a process.
template <int tag>
int initialise_once(std::atomic<int> &times)
{
    static const int value = [&] {
        EXPECT_EQ(flux::sleep_for(1ms), 0);
        if (++times == 1) {
            throw std::runtime_error("not yet");
        }
        EXPECT_EQ(flux::sleep_for(1ms), 0);
        return tag;
    }();
    return value;
}

TEST_P(FiberLocks, AStaticVariableIsInitialisedOnce)
{
#ifdef __clang__
    if (flux::thread_sanitizer) {
        GTEST_SKIP() << "the sanitizer has the guards of static variables, and blocks the thread";
    }
#endif
    std::atomic<int> times{0};
    std::atomic<int> thrown{0};
    run(10, [&](int) {
        try {
            EXPECT_EQ(GetParam() == 1 ? initialise_once<1>(times) : initialise_once<2>(times), GetParam());
        } catch (const std::runtime_error &) {
            ++thrown;
        }
    });
    EXPECT_EQ(times, 2);
    EXPECT_EQ(thrown, 1);
}

TEST_P(FiberLocks, FibersAndAThreadMeetAtBarriers)
{
    constexpr int fibers = 4;
    constexpr int rounds = 5;
    pthread_barrier_t meeting;
    pthread_barrier_init(&meeting, nullptr, fibers + 1);
    std::barrier all(fibers + 1);
    std::atomic<int> arrived{0};
    std::atomic<int> serial{0};
    const auto meet = [&] {
        for (int round = 1; round <= rounds; ++round) {
            ++arrived;
            serial += pthread_barrier_wait(&meeting) == PTHREAD_BARRIER_SERIAL_THREAD ? 1 : 0;
            EXPECT_GE(arrived, round * (fibers + 1));
            all.arrive_and_wait();
        }
    };
    std::thread other(meet);
    run(fibers, [&](int) { meet(); });
    other.join();
    EXPECT_EQ(serial, rounds);
    EXPECT_EQ(pthread_barrier_destroy(&meeting), 0);
}

INSTANTIATE_TEST_SUITE_P(Loops, FiberLocks, testing::Values(1, 2));

} // namespace
