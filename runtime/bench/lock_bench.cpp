/// \file
/// The lock beside those of the C++ and C libraries: uncontended, by as many threads as the machine has processors, and
/// by more; held for nothing, and for a microsecond or so; by writers, by readers, and by nine readers to a writer.

#include "flux/lock.hpp"

#include <benchmark/benchmark.h>
#include <pthread.h>
#include <shared_mutex>

namespace {

struct flux_lock {
    void read() { lock.acquire(flux::mode::read, place); }
    void end_read() { lock.release(flux::mode::read); }
    void write() { lock.acquire(flux::mode::write, place); }
    void end_write() { lock.release(flux::mode::write); }

    flux::lock lock;
    static inline thread_local flux::thread_waiter place;
};

struct standard_lock {
    void read() { lock.lock_shared(); }
    void end_read() { lock.unlock_shared(); }
    void write() { lock.lock(); }
    void end_write() { lock.unlock(); }

    std::shared_mutex lock;
};

struct pthread_lock {
    void read() { pthread_rwlock_rdlock(&lock); }
    void end_read() { pthread_rwlock_unlock(&lock); }
    void write() { pthread_rwlock_wrlock(&lock); }
    void end_write() { pthread_rwlock_unlock(&lock); }

    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
};

void work(int rounds)
{
    for (int round = 0; round < rounds; ++round) {
        benchmark::DoNotOptimize(round);
    }
}

/// Of ten acquisitions `readers` are a reader's, the rest a writer's. Each is held for `held` rounds of work, and as
/// many rounds are between two.
template <class Lock>
void hold(benchmark::State &state)
{
    static Lock lock;
    static long shared = 0;
    const auto readers = static_cast<unsigned>(state.range(0));
    const auto held = static_cast<int>(state.range(1));
    unsigned turn = 0;
    for (auto unused : state) {
        static_cast<void>(unused);
        if (turn++ % 10 < readers) {
            lock.read();
            benchmark::DoNotOptimize(shared);
            work(held);
            lock.end_read();
        } else {
            lock.write();
            benchmark::DoNotOptimize(++shared);
            work(held);
            lock.end_write();
        }
        work(held);
    }
    state.SetItemsProcessed(state.iterations());
}

void cases(benchmark::internal::Benchmark *of)
{
    for (const int threads : {1, 2, 4, 16}) {
        of->Threads(threads);
    }
    of->ArgNames({"readers", "held"})->ArgsProduct({{0, 9, 10}, {0, 1000, 10'000}})->UseRealTime();
}

BENCHMARK_TEMPLATE(hold, flux_lock)->Apply(cases);
BENCHMARK_TEMPLATE(hold, standard_lock)->Apply(cases);
BENCHMARK_TEMPLATE(hold, pthread_lock)->Apply(cases);

} // namespace

BENCHMARK_MAIN();
