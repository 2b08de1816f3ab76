#include "flux/constraint/lock.hpp"
#include "../support/patience.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

namespace {

using flux::mode;
using namespace std::chrono_literals;

/// Waits as a thread does, and lets the test see and hold up what happens: how many waits have begun, and whether one
/// that was woken may go on.
class watched_waiter final : public flux::waiter
{
  public:
    bool wait_until(flux::moment deadline) noexcept override
    {
        begun_.fetch_add(1);
        begun_.notify_all();
        const bool was_woken = inner_.wait_until(deadline);
        if (held_up_.exchange(false)) {
            may_go_on_.acquire();
        }
        return was_woken;
    }

    void wake() noexcept override
    {
        woken_.fetch_add(1);
        inner_.wake();
    }

    /// Returns when so many waits have begun.
    void await(int waits)
    {
        for (int begun = begun_; begun < waits; begun = begun_) {
            begun_.wait(begun);
        }
    }

    int woken() const { return woken_; }

    /// The next wake takes effect only after `let_go_on`: as with a thread that the kernel takes its time to run.
    void hold_up() { held_up_ = true; }
    void let_go_on() { may_go_on_.release(); }

  private:
    flux::thread_waiter inner_;
    std::atomic<int> begun_{0};
    std::atomic<int> woken_{0};
    std::atomic<bool> held_up_{false};
    std::counting_semaphore<100> may_go_on_{0};
};

/// A thread that takes the lock, notes that it has it, and gives it back when told.
class holder
{
  public:
    holder(flux::lock &what, mode how) : thread_([this, &what, how] { run(what, how); }) {}
    ~holder() { thread_.join(); }

    void await_waiting(int waits = 1) { place.await(waits); }

    bool has_it() const { return has_it_; }

    void await_holding() { has_it_.wait(false); }

    void let_go() { done_.release(); }

    watched_waiter place;

  private:
    void run(flux::lock &what, mode how)
    {
        what.acquire(how, place);
        has_it_ = true;
        has_it_.notify_all();
        done_.acquire();
        what.release(how);
    }

    std::atomic<bool> has_it_{false};
    std::binary_semaphore done_{0};
    std::thread thread_;
};

TEST(Lock, IsOneAtomicWordAndAPointer)
{
    EXPECT_EQ(sizeof(flux::lock), 16u);
}

TEST(Lock, AWriterIsAlone)
{
    constexpr int threads = 4;
    constexpr int rounds = 20'000;
    flux::lock shared;
    long counter = 0;
    std::vector<std::thread> all;
    for (int thread = 0; thread < threads; ++thread) {
        all.emplace_back([&] {
            flux::thread_waiter place;
            for (int round = 0; round < rounds; ++round) {
                const flux::locked held(shared, mode::write, place);
                ++counter;
            }
        });
    }
    for (std::thread &thread : all) {
        thread.join();
    }
    EXPECT_EQ(counter, threads * rounds);
}

TEST(Lock, ReadersAreTogether)
{
    flux::lock shared;
    holder one(shared, mode::read);
    holder two(shared, mode::read);
    one.await_holding();
    two.await_holding(); // hangs if readers exclude each other
    EXPECT_TRUE(one.has_it() && two.has_it());
    one.let_go();
    two.let_go();
}

TEST(Lock, ThoseWhoHoldRowsAreTogether)
{
    flux::lock table;
    holder one(table, mode::intent);
    holder two(table, mode::intent);
    one.await_holding();
    two.await_holding(); // hangs if they exclude each other
    one.let_go();
    two.let_go();
}

TEST(Lock, WhoReadsATableWaitsForThoseWhoHoldRowsAndTheyForIt)
{
    for (const mode first : {mode::read, mode::intent}) {
        const mode other = first == mode::read ? mode::intent : mode::read;
        flux::lock table;
        flux::thread_waiter place;
        ASSERT_TRUE(table.try_acquire(first));
        ASSERT_TRUE(table.try_acquire(first));
        EXPECT_FALSE(table.try_acquire(other));
        EXPECT_FALSE(table.try_acquire(mode::write));
        table.release(first);
        EXPECT_FALSE(table.try_acquire(other)) << "one of them holds it still";
        EXPECT_TRUE(table.try_acquire(first));
        table.release(first);
        table.release(first);
        EXPECT_TRUE(table.try_acquire(other));
        table.release(other);
        EXPECT_TRUE(table.try_acquire(mode::write));
        table.release(mode::write);
    }
}

TEST(Lock, ThoseWhoWaitNextToEachOtherInOneModeGoInTogether)
{
    flux::lock table;
    holder writer(table, mode::write);
    writer.await_holding();
    holder one(table, mode::intent);
    one.await_waiting();
    holder two(table, mode::intent);
    two.await_waiting();
    holder reader(table, mode::read);
    reader.await_waiting();
    writer.let_go();
    one.await_holding();
    two.await_holding();
    EXPECT_FALSE(reader.has_it());
    one.let_go();
    EXPECT_FALSE(reader.has_it());
    two.let_go();
    reader.await_holding();
    reader.let_go();
}

TEST(Lock, AReaderThatComesAfterAWaitingWriterWaitsBehindIt)
{
    flux::lock shared;
    holder reader(shared, mode::read);
    reader.await_holding();
    holder writer(shared, mode::write);
    writer.await_waiting();
    holder late(shared, mode::read);
    late.await_waiting();
    EXPECT_FALSE(writer.has_it());
    EXPECT_FALSE(late.has_it());
    reader.let_go();
    writer.await_holding();
    EXPECT_FALSE(late.has_it());
    writer.let_go();
    late.await_holding();
    late.let_go();
}

TEST(Lock, ServesThoseWhoWaitInTheOrderOfTheirArrival)
{
    // w: a writer, r: a reader. Readers that stand next to each other go in together.
    for (const std::string arrivals : {"wwww", "rwrw", "wrrwr", "rrrwwrrr", "wrwrwrwr"}) {
        flux::lock shared;
        flux::thread_waiter place;
        shared.acquire(mode::write, place);
        std::vector<std::unique_ptr<holder>> waiting;
        for (const char kind : arrivals) {
            waiting.push_back(std::make_unique<holder>(shared, kind == 'w' ? mode::write : mode::read));
            waiting.back()->await_waiting();
        }
        shared.release(mode::write);
        for (std::size_t next = 0; next < arrivals.size();) {
            std::size_t end = next + 1;
            while (arrivals[next] == 'r' && end < arrivals.size() && arrivals[end] == 'r') {
                ++end;
            }
            for (std::size_t i = next; i < end; ++i) {
                waiting[i]->await_holding();
            }
            for (std::size_t i = end; i < arrivals.size(); ++i) {
                EXPECT_FALSE(waiting[i]->has_it()) << arrivals << ": " << i << " before its turn";
            }
            for (std::size_t i = next; i < end; ++i) {
                waiting[i]->let_go();
            }
            next = end;
        }
    }
}

TEST(Lock, IsFreeForOthersWhileTheFirstWaiterWakesUp)
{
    flux::lock shared;
    flux::thread_waiter place;
    shared.acquire(mode::write, place);
    holder first(shared, mode::write);
    first.await_waiting();
    first.place.hold_up();
    shared.release(mode::write);
    EXPECT_EQ(first.place.woken(), 1);
    // It does not run yet, so this must not wait for it.
    for (int round = 0; round < 3; ++round) {
        shared.acquire(mode::write, place);
        EXPECT_FALSE(first.has_it());
        shared.release(mode::write);
    }
    EXPECT_EQ(first.place.woken(), 1) << "it is woken once, not by each release";
    first.place.let_go_on();
    first.await_holding();
    first.let_go();
}

TEST(Lock, NobodyPassesAWaiterThatHasWokenUpOnce)
{
    flux::lock shared;
    flux::thread_waiter place;
    shared.acquire(mode::write, place);
    holder first(shared, mode::write);
    first.await_waiting();
    first.place.hold_up();
    shared.release(mode::write);
    shared.acquire(mode::write, place); // passes it while it wakes up
    first.place.let_go_on();
    first.await_waiting(2); // it has had its say
    first.place.hold_up();
    holder second(shared, mode::write);
    second.await_waiting();
    EXPECT_FALSE(first.has_it());
    shared.release(mode::write);
    // The release has handed the lock over, though the first wakes up slowly again: who comes now waits.
    holder third(shared, mode::read);
    third.await_waiting();
    EXPECT_FALSE(second.has_it());
    EXPECT_FALSE(third.has_it());
    first.place.let_go_on();
    first.await_holding();
    first.let_go();
    second.await_holding();
    second.let_go();
    third.await_holding();
    third.let_go();
}

TEST(Lock, AReaderThatWakesUpTakesTheReadersBehindItAlong)
{
    flux::lock shared;
    flux::thread_waiter place;
    shared.acquire(mode::write, place);
    holder one(shared, mode::read);
    one.await_waiting();
    holder two(shared, mode::read);
    two.await_waiting();
    holder writer(shared, mode::write);
    writer.await_waiting();
    holder three(shared, mode::read);
    three.await_waiting();
    shared.release(mode::write);
    one.await_holding();
    two.await_holding();
    EXPECT_FALSE(writer.has_it());
    EXPECT_FALSE(three.has_it());
    one.let_go();
    EXPECT_FALSE(writer.has_it());
    two.let_go();
    writer.await_holding();
    writer.let_go();
    three.await_holding();
    three.let_go();
}

/// Takes the lock over and over in several threads until one other has had it so often.
void contend(mode crowd, mode lonely, int times)
{
    flux::lock shared;
    std::atomic<bool> enough{false};
    std::vector<std::thread> others;
    for (int thread = 0; thread < 4; ++thread) {
        others.emplace_back([&] {
            flux::thread_waiter place;
            while (!enough) {
                const flux::locked held(shared, crowd, place);
                dawdle(50us);
            }
        });
    }
    flux::thread_waiter place;
    for (int time = 0; time < times; ++time) {
        const flux::locked held(shared, lonely, place);
    }
    enough = true;
    for (std::thread &thread : others) {
        thread.join();
    }
}

TEST(Lock, ReadersThatOverlapForEverDoNotStarveAWriter)
{
    contend(mode::read, mode::write, 200); // hangs if they do
    SUCCEED();
}

TEST(Lock, WritersDoNotStarveAReader)
{
    contend(mode::write, mode::read, 200);
    SUCCEED();
}

TEST(Lock, ReadersDoNotStarveOneThatHoldsRows)
{
    contend(mode::read, mode::intent, 200);
    contend(mode::intent, mode::read, 200);
    SUCCEED();
}

TEST(Lock, KeepsReadersOfATableFromThoseWhoChangeRowsUnderStress)
{
    constexpr int threads = 6;
    constexpr int rounds = 5'000;
    flux::lock table;
    // Each has a row of its own, which it changes in two steps; plain, so that the thread sanitizer sees who reads it
    // meanwhile.
    struct alignas(64) row {
        long first = 0;
        long second = 0;
    };
    std::vector<row> rows(threads);
    std::atomic<long> torn{0};
    std::vector<std::thread> all;
    for (int thread = 0; thread < threads; ++thread) {
        all.emplace_back([&, thread] {
            flux::thread_waiter place;
            row &own = rows[static_cast<std::size_t>(thread)];
            unsigned random = static_cast<unsigned>(thread) + 1;
            for (int round = 0; round < rounds; ++round) {
                random = random * 1664525 + 1013904223;
                if (random >> 30 != 0) {
                    const flux::locked held(table, mode::intent, place);
                    ++own.first;
                    if ((random >> 24) % 8 == 0) {
                        std::this_thread::yield();
                    }
                    ++own.second;
                } else {
                    const flux::locked held(table, mode::read, place);
                    for (const row &each : rows) {
                        torn += each.first != each.second;
                    }
                }
            }
        });
    }
    for (std::thread &thread : all) {
        thread.join();
    }
    EXPECT_EQ(torn, 0);
}

TEST(Lock, KeepsWritersAndReadersApartUnderStress)
{
    constexpr int threads = 6;
    constexpr int rounds = 5'000;
    flux::lock shared;
    long first = 0; // plain, so that the thread sanitizer sees a lack of exclusion too
    long second = 0;
    std::atomic<long> torn{0};
    std::atomic<long> writes{0};
    std::vector<std::thread> all;
    for (int thread = 0; thread < threads; ++thread) {
        all.emplace_back([&, thread] {
            flux::thread_waiter place;
            unsigned random = static_cast<unsigned>(thread) + 1;
            for (int round = 0; round < rounds; ++round) {
                random = random * 1664525 + 1013904223;
                if (random >> 30 == 0) {
                    const flux::locked held(shared, mode::write, place);
                    ++first;
                    if ((random >> 24) % 8 == 0) {
                        std::this_thread::yield();
                    }
                    ++second;
                    ++writes;
                } else {
                    const flux::locked held(shared, mode::read, place);
                    torn += first != second;
                }
            }
        });
    }
    for (std::thread &thread : all) {
        thread.join();
    }
    EXPECT_EQ(torn, 0);
    EXPECT_EQ(first, writes);
    EXPECT_EQ(second, writes);
    EXPECT_GT(first, 0);
}

} // namespace
