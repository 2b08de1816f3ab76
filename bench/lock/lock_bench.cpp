/// \file
/// One measurement of one lock: lock_bench LOCK THREADS READERS HELD ACQUISITIONS. Of ten acquisitions READERS are a
/// reader's, the rest a writer's; each is held for HELD rounds of an empty loop, and as many rounds lie between two.
/// The threads divide ACQUISITIONS among them as they get on, so that all run to the end: were each given its share,
/// those whom an unfair lock prefers would be done early, and the others go on without contention.
///
/// Prints nanoseconds for each acquisition, with its release: of time, and of processor time.

#include "flux/constraint/lock.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <pthread.h>
#include <shared_mutex>
#include <string_view>
#include <thread>
#include <vector>

namespace {

struct flux_lock {
    void read(flux::waiter &place) { lock.acquire(flux::mode::read, place); }
    void end_read() { lock.release(flux::mode::read); }
    void write(flux::waiter &place) { lock.acquire(flux::mode::write, place); }
    void end_write() { lock.release(flux::mode::write); }

    flux::lock lock;
};

struct standard_lock {
    void read(flux::waiter &) { lock.lock_shared(); }
    void end_read() { lock.unlock_shared(); }
    void write(flux::waiter &) { lock.lock(); }
    void end_write() { lock.unlock(); }

    std::shared_mutex lock;
};

struct pthread_lock {
    void read(flux::waiter &) { pthread_rwlock_rdlock(&lock); }
    void end_read() { pthread_rwlock_unlock(&lock); }
    void write(flux::waiter &) { pthread_rwlock_wrlock(&lock); }
    void end_write() { pthread_rwlock_unlock(&lock); }

    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
};

struct measurement {
    int threads;
    int readers;
    int held;
    long acquisitions;
};

/// What the threads share: the lock on cache lines of its own, what it guards, and how many acquisitions are left.
template <class Lock>
struct contest {
    alignas(128) Lock lock;
    alignas(128) long guarded = 0;
    alignas(128) std::atomic<long> left;
};

/// Acquisitions that a thread takes on at once, so that counting them is no contention.
constexpr long portion = 1000;

void work(int rounds)
{
    for (int round = 0; round < rounds; ++round) {
        asm volatile("" : : "r"(round));
    }
}

template <class Lock>
void acquire_all(contest<Lock> &shared, const measurement &what)
{
    flux::thread_waiter place;
    while (true) {
        const long count = std::min(portion, shared.left.fetch_sub(portion));
        if (count <= 0) {
            return;
        }
        int turn = 0;
        for (long done = 0; done < count; ++done) {
            if (turn < what.readers) {
                shared.lock.read(place);
                asm volatile("" : : "r"(shared.guarded));
                work(what.held);
                shared.lock.end_read();
            } else {
                shared.lock.write(place);
                ++shared.guarded;
                work(what.held);
                shared.lock.end_write();
            }
            turn = turn == 9 ? 0 : turn + 1;
            work(what.held);
        }
    }
}

double nanoseconds(clockid_t clock)
{
    timespec now{};
    clock_gettime(clock, &now);
    return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

template <class Lock>
void measure(const measurement &what)
{
    contest<Lock> shared{.lock = {}, .left = what.acquisitions};
    const double start = nanoseconds(CLOCK_MONOTONIC);
    const double processor_start = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
    if (what.threads == 1) {
        acquire_all(shared, what);
    } else {
        std::vector<std::jthread> threads;
        for (int thread = 0; thread < what.threads; ++thread) {
            threads.emplace_back([&] { acquire_all(shared, what); });
        }
    }
    const double took = nanoseconds(CLOCK_MONOTONIC) - start;
    const double processor = nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - processor_start;
    // One exclusion lost would be one increment lost, and a figure of no worth.
    if (what.readers == 0 && shared.guarded != what.acquisitions) {
        std::fprintf(stderr, "lock_bench: two writers were inside at once\n");
        std::exit(1);
    }
    const auto count = static_cast<double>(what.acquisitions);
    std::printf("%.3f %.3f\n", took / count, processor / count);
}

bool number(const char *word, auto &into)
{
    const char *const end = word + std::strlen(word);
    return std::from_chars(word, end, into).ptr == end && into >= 0;
}

} // namespace

int main(int count, char **words)
{
    measurement what{};
    const bool understood = count == 6 && number(words[2], what.threads) && number(words[3], what.readers) &&
                            number(words[4], what.held) && number(words[5], what.acquisitions);
    const std::string_view lock = understood ? words[1] : "";
    if (lock == "flux") {
        measure<flux_lock>(what);
    } else if (lock == "standard") {
        measure<standard_lock>(what);
    } else if (lock == "pthread") {
        measure<pthread_lock>(what);
    } else {
        std::fprintf(stderr, "lock_bench flux|standard|pthread THREADS READERS HELD ACQUISITIONS\n");
        return 2;
    }
}
