#include "flux/constraint/constraint.hpp"

#include "flux/strategy/runner.hpp"
#include "../support/counted_waiter.hpp"
#include "../support/patience.hpp"

#include <array>
#include <atomic>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using namespace std::chrono_literals;

constexpr flux::constraint_info constraints[] = {{"account", flux::scope::keyed}, {"basket", flux::scope::session}};
constexpr flux::program with_constraints{"keys", {}, constraints, {}, {}, {}, {}};

enum class colour { red, green };

/// A flow on a runner of its own, and how often it has waited.
struct running {
    running()
    {
        on.wait_at(place);
        flow.run_on(on);
    }

    void await_waiting() const
    {
        await([this] { return waits > 0; });
    }

    flux::thread_waiter own;
    std::atomic<int> waits{0};
    counted_waiter place{own, waits};
    flux::runner on{with_constraints};
    flux::flow flow;
};

constexpr std::size_t one_mebibyte = 1024 * 1024;

/// What of this process is in memory now.
std::size_t resident_bytes()
{
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages >> pages;
    return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

TEST(Key, IsTheValueOrIsMadeOfItsContent)
{
    EXPECT_EQ(flux::key_of(7), 7u);
    EXPECT_EQ(flux::key_of(-1), flux::key_of(-1L));
    EXPECT_EQ(flux::key_of(colour::green), 1u);
    char text[8] = "abc";
    const char *const pointer = text;
    EXPECT_EQ(flux::key_of(std::string("abc")), flux::key_of(pointer));
    EXPECT_EQ(flux::key_of(text), flux::key_of(pointer));
    EXPECT_NE(flux::key_of(std::string("abc")), flux::key_of(std::string("abd")));
    EXPECT_EQ(flux::key_of(static_cast<const char *>(nullptr)), 0u);
    EXPECT_NE(flux::key_of(1, 2), flux::key_of(2, 1));
    EXPECT_EQ(flux::key_of(1, std::string("a")), flux::key_of(std::tuple(1, "a")));
    EXPECT_EQ(flux::key_of(std::pair(1, 2)), flux::key_of(1, 2));
}

TEST(Key, HasOneOfTheAllowedTypes)
{
    EXPECT_TRUE((flux::keyable<std::tuple<int, std::string>> && flux::keyable<char[4]> && flux::keyable<colour>));
    EXPECT_FALSE((flux::keyable<double> || flux::keyable<int *> || flux::keyable<std::tuple<int, float>>));
}

TEST(Key, IsOfOneTypeWhereverItIsTaken)
{
    EXPECT_TRUE((flux::same_key<int, const int>));
    EXPECT_TRUE((flux::same_key<std::string, char *> && flux::same_key<char[4], char[8]>));
    EXPECT_FALSE((flux::same_key<int, long> || flux::same_key<int, unsigned> || flux::same_key<colour, int>));
}

TEST(KeyTable, ForgetsFreeKeys)
{
    flux::key_table table;
    flux::thread_waiter place;
    // What a sanitizer remembers of each chain it remembers once.
    constexpr flux::key_number warm = 50'000;
    std::size_t before = 0;
    for (flux::key_number key = 0; key < 2'000'000; ++key) {
        before = key == warm ? resident_bytes() : before;
        flux::key_table::entry &first = table.find(key, place);
        flux::key_table::entry &second = table.find(~key, place);
        table.forget(first, place);
        table.forget(second, place);
    }
    EXPECT_LE(table.size(), 2u * 64);
    EXPECT_LE(resident_bytes(), before + one_mebibyte);
}

TEST(HoldKeys, AMillionKeysOverTimeCostNoMemory)
{
    running one;
    flux::keyed_lock lock{0};
    std::size_t after_some = 0;
    for (int key = 0; key < 1'000'000; ++key) {
        const flux::hold_keys both(one.flow, lock, flux::key(flux::mode::write, key, "one"),
                                   flux::key(flux::mode::read, key, "other"));
        if (key == 50'000) {
            after_some = resident_bytes();
        }
    }
    EXPECT_EQ(one.on.constraint_counts()[0].totals().taken, 2'000'000u);
    EXPECT_LE(resident_bytes(), after_some + one_mebibyte);
}

TEST(KeyTable, HasOneLockForAKeyInUse)
{
    flux::key_table table;
    flux::thread_waiter place;
    flux::key_table::entry &first = table.find(5, place);
    flux::key_table::entry &other = table.find(6, place);
    flux::key_table::entry &again = table.find(5, place);
    EXPECT_EQ(&first, &again);
    EXPECT_NE(&first, &other);
    table.forget(first, place);
    EXPECT_EQ(&table.find(5, place), &again);
    table.forget(again, place);
    table.forget(other, place);
    // One user is left, so no other key has its lock.
    for (flux::key_number key = 100; key < 1100; ++key) {
        flux::key_table::entry &fresh = table.find(key, place);
        EXPECT_NE(&fresh, &again);
        table.forget(fresh, place);
    }
    table.forget(again, place);
}

TEST(KeyTable, ThoseWhoRaceForAFreshKeyHaveOneLockForIt)
{
    // In a table of its own, so that no entry is idle: each makes one while the other may bring the key.
    constexpr std::size_t rounds = 500;
    constexpr std::size_t keys = 64;
    std::vector<flux::key_table> tables(rounds);
    std::array<std::array<flux::key_table::entry *, keys>, 2> found{};
    std::atomic<std::size_t> arrived{0};
    const auto meet = [&](std::size_t meeting) {
        ++arrived;
        for (unsigned looks = 1; arrived < 2 * meeting; ++looks) {
            if (looks % 1000 == 0) {
                std::this_thread::yield(); // the other may need the processor
            }
        }
    };
    std::size_t different = 0;
    const auto race = [&](std::size_t who) {
        flux::thread_waiter place;
        for (std::size_t round = 0; round < rounds; ++round) {
            meet(3 * round + 1);
            for (flux::key_number key = 0; key < keys; ++key) {
                found[who][key] = &tables[round].find(key, place);
            }
            meet(3 * round + 2);
            if (who == 0 && found[0] != found[1]) {
                ++different;
            }
            for (flux::key_table::entry *const each : found[who]) {
                tables[round].forget(*each, place);
            }
            meet(3 * round + 3);
        }
    };
    std::thread other(race, 1);
    race(0);
    other.join();
    EXPECT_EQ(different, 0u);
}

/// So many keys, as `scatter` has them, whose chain is that of the first.
template <std::size_t count>
std::array<flux::key_number, count> keys_of_one_chain()
{
    std::array<flux::key_number, count> keys{};
    for (flux::key_number number = 0; number < count; ++number) {
        keys[number] = number << 32 | 5;
    }
    return keys;
}

TEST(KeyTable, HoldsAFreeKeyWithoutALockAndWithReadersToo)
{
    flux::key_table table;
    const auto [one, other] = keys_of_one_chain<2>();
    EXPECT_TRUE(table.try_hold(one, flux::mode::read));
    EXPECT_TRUE(table.try_hold(one, flux::mode::read));
    EXPECT_FALSE(table.try_hold(one, flux::mode::write));
    EXPECT_FALSE(table.try_hold(other, flux::mode::read)) << "the word is that of one key";
    EXPECT_TRUE(table.try_release(one, flux::mode::read));
    EXPECT_FALSE(table.try_hold(one, flux::mode::write)) << "a reader is left";
    EXPECT_TRUE(table.try_release(one, flux::mode::read));
    EXPECT_TRUE(table.try_hold(other, flux::mode::write));
    EXPECT_FALSE(table.try_hold(other, flux::mode::read));
    EXPECT_TRUE(table.try_release(other, flux::mode::write));
    EXPECT_EQ(table.size(), 0u);
}

TEST(KeyTable, WhoHoldsAKeyByItsWordHoldsItByTheLockThatItIsGiven)
{
    flux::key_table table;
    flux::thread_waiter place;
    const auto [one, other] = keys_of_one_chain<2>();
    for (const flux::mode how : {flux::mode::read, flux::mode::write}) {
        ASSERT_TRUE(table.try_hold(one, how));
        flux::key_table::entry &fresh = table.find(other, place);
        EXPECT_FALSE(table.try_hold(other, flux::mode::read)) << "its chain has locks";
        EXPECT_TRUE(flux::key_table::lock_of(fresh).try_acquire(flux::mode::write));
        flux::key_table::entry &same = table.find(one, place);
        EXPECT_EQ(flux::key_table::lock_of(same).try_acquire(flux::mode::read), how == flux::mode::read);
        if (how == flux::mode::read) {
            flux::key_table::lock_of(same).release(flux::mode::read);
        }
        table.forget(same, place);
        EXPECT_FALSE(table.try_release(one, how));
        EXPECT_EQ(&table.find_held(one, place), &same);
        flux::key_table::lock_of(same).release(how);
        table.forget(same, place);
        flux::key_table::lock_of(fresh).release(flux::mode::write);
        table.forget(fresh, place);
    }
    EXPECT_TRUE(table.try_hold(other, flux::mode::write)) << "nobody is at the chain any more";
    EXPECT_TRUE(table.try_release(other, flux::mode::write));
}

TEST(KeyTable, MoreReadersThanAWordCountsHoldTheLock)
{
    flux::key_table table;
    flux::thread_waiter place;
    for (std::uint64_t reader = 0; reader < flux::key_table::most_readers; ++reader) {
        ASSERT_TRUE(table.try_hold(7, flux::mode::read));
    }
    EXPECT_FALSE(table.try_hold(7, flux::mode::read));
    flux::key_table::entry &own = table.find(7, place);
    for (std::uint64_t reader = 0; reader < flux::key_table::most_readers; ++reader) {
        EXPECT_FALSE(flux::key_table::lock_of(own).try_acquire(flux::mode::write));
        ASSERT_FALSE(table.try_release(7, flux::mode::read));
        flux::key_table::lock_of(table.find_held(7, place)).release(flux::mode::read);
        table.forget(own, place);
    }
    EXPECT_TRUE(flux::key_table::lock_of(own).try_acquire(flux::mode::write));
    flux::key_table::lock_of(own).release(flux::mode::write);
    table.forget(own, place);
    EXPECT_TRUE(table.try_hold(7, flux::mode::write));
}

TEST(HoldKeys, TakesEqualKeysOnceAndInTheStrongerMode)
{
    running one;
    running two;
    flux::keyed_lock lock{0};
    std::atomic<bool> entered{false};
    std::thread reader;
    {
        const flux::hold_keys both(one.flow, lock, flux::key(flux::mode::read, 3), flux::key(flux::mode::write, 3));
        EXPECT_EQ(one.on.constraint_counts()[0].totals().taken, 1u);
        reader = std::thread([&] {
            const flux::hold_keys own(two.flow, lock, flux::key(flux::mode::read, 3));
            entered = true;
        });
        two.await_waiting();
        dawdle(2ms);
        EXPECT_FALSE(entered) << "it is held by a writer";
    }
    reader.join();
    EXPECT_TRUE(entered);
    const flux::constraint_totals waited = two.on.constraint_counts()[0].totals();
    EXPECT_EQ(waited.waited, 1u);
    EXPECT_GT(waited.waited_ns, 1'000'000u);
    EXPECT_EQ(one.flow.counted().acquisitions, 1u);
}

TEST(Hold, OfReadersThereAreNeverMoreThanOfAllWhileTheyAreCounted)
{
    running one;
    flux::program_lock lock{0};
    std::atomic<bool> ended{false};
    std::thread reads([&] {
        while (!ended) {
            const flux::hold own(one.flow, lock, flux::mode::read);
        }
    });
    int more = 0;
    for (int look = 0; look < 1'000'000; ++look) {
        const flux::constraint_totals totals = one.on.constraint_counts()[0].totals();
        more += totals.taken_to_read > totals.taken ? 1 : 0;
    }
    ended = true;
    reads.join();
    EXPECT_EQ(more, 0);
}

TEST(HoldKeys, CountsReadersBesideWritersAndTheKeysThatAreWaitedFor)
{
    std::array<flux::constraint_times, 1> times;
    running one;
    running two;
    flux::constraint_count &first = one.on.constraint_counts()[0];
    flux::constraint_count &second = two.on.constraint_counts()[0];
    first.add_times_to(times[0]);
    second.add_times_to(times[0]);
    flux::keyed_lock lock{0};
    for (const flux::mode how : {flux::mode::read, flux::mode::write}) {
        std::thread waits;
        {
            const flux::hold_keys held(one.flow, lock, flux::key(flux::mode::write, 3));
            waits = std::thread([&] { const flux::hold_keys own(two.flow, lock, flux::key(how, 3)); });
            while (times[0].counts().keys.empty()) {
                std::this_thread::yield();
            }
            dawdle(5ms);
        }
        waits.join();
    }
    EXPECT_EQ(first.totals().taken, 2u);
    EXPECT_EQ(first.totals().taken_to_read, 0u);
    EXPECT_EQ(second.totals().taken, 2u);
    EXPECT_EQ(second.totals().taken_to_read, 1u);
    EXPECT_EQ(second.totals().waited_to_read, 1u);
    const flux::constraint_time_counts counts = times[0].counts();
    EXPECT_EQ(counts.readers.waits.times(), 1u);
    EXPECT_GE(counts.readers.waits.sum(), 4'000'000u);
    EXPECT_EQ(counts.readers.waits.sum(), second.totals().waited_ns_to_read);
    EXPECT_EQ(counts.writers.waits.times(), second.totals().waited - 1);
    EXPECT_EQ(counts.readers.holds.times() + counts.writers.holds.times(), 2u) << "the first of each thread";
    ASSERT_EQ(counts.keys.size(), 1u);
    EXPECT_EQ(counts.keys[0].key, flux::key_of(3));
    EXPECT_EQ(counts.keys[0].text.shown(), "3");
    EXPECT_EQ(counts.keys[0].times, second.totals().waited);
    EXPECT_EQ(counts.distinct_keys, 1u);
    {
        const flux::hold_keys others(one.flow, lock, flux::key(flux::mode::read, 4), flux::key(flux::mode::read, 5));
    }
    EXPECT_EQ(times[0].counts().distinct_keys, 3u) << "also keys that nobody waits for";
}

TEST(HoldKeys, RemembersNoKeysWhereTheyAreLeftOut)
{
    flux::constraint_times times;
    times.leave_out_keys();
    times.waited_for(3, flux::shown_as(3));
    times.took(flux::scatter(3));
    EXPECT_TRUE(times.counts().keys.empty());
    EXPECT_EQ(times.counts().distinct_keys, 1u) << "how many there are is no secret";
}

TEST(Hold, TellsWhatAFlowHoldsUntilItLetsGo)
{
    running own;
    flux::keyed_lock accounts(0);
    flux::program_lock basket(1);
    {
        const flux::hold outer(own.flow, basket, flux::mode::write);
        EXPECT_EQ(own.flow.holds(), flux::set_of(1));
        {
            const flux::hold_keys two(own.flow, accounts, flux::key(flux::mode::write, 1),
                                      flux::key(flux::mode::read, 2));
            EXPECT_EQ(own.flow.holds(), flux::set_of(0) | flux::set_of(1));
        }
        EXPECT_EQ(own.flow.holds(), flux::set_of(1));
    }
    EXPECT_EQ(own.flow.holds(), 0u);
}

TEST(Hold, TimesTheFirstHoldAndThenOneOfMany)
{
    running one;
    flux::program_lock lock{0};
    const auto totals = [&] { return one.on.constraint_counts()[0].totals(); };
    {
        const flux::hold first(one.flow, lock, flux::mode::write);
        dawdle(3ms);
    }
    EXPECT_EQ(totals().timed, 1u);
    EXPECT_GE(totals().held_ns, 2'000'000u);
    for (unsigned again = 1; again < 2 * flux::constraint_count::holds_for_each_timed; ++again) {
        const flux::hold next(one.flow, lock, flux::mode::read);
    }
    EXPECT_EQ(totals().timed, 2u);
    EXPECT_EQ(totals().taken, 2 * flux::constraint_count::holds_for_each_timed);
}

TEST(Hold, TimesStandForThoseSinceTheOneBeforeSoTheFirstOfAThreadWeighsNoMoreThanItself)
{
    std::array<flux::constraint_times, 1> times;
    running one;
    one.on.constraint_counts()[0].add_times_to(times[0]);
    flux::program_lock lock{0};
    {
        const flux::hold first(one.flow, lock, flux::mode::write);
        dawdle(3ms);
    }
    for (unsigned again = 0; again < 2 * flux::constraint_count::holds_for_each_timed; ++again) {
        const flux::hold next(one.flow, lock, flux::mode::read);
    }
    const flux::constraint_time_counts counts = times[0].counts();
    EXPECT_EQ(counts.writers.holds.times(), 1u);
    EXPECT_EQ(counts.readers.holds.times(), 2 * flux::constraint_count::holds_for_each_timed);
    EXPECT_EQ(counts.readers.holds.measured(), 2u);
}

TEST(HoldKeys, TimesKeysToo)
{
    running one;
    flux::keyed_lock lock{0};
    {
        const flux::hold_keys both(one.flow, lock, flux::key(flux::mode::read, 3), flux::key(flux::mode::write, 4));
        dawdle(3ms);
    }
    const flux::constraint_totals totals = one.on.constraint_counts()[0].totals();
    EXPECT_EQ(totals.taken, 2u);
    EXPECT_EQ(totals.timed, 1u);
    EXPECT_GE(totals.held_ns, 2'000'000u);
}

// Transfers over accounts in both directions, and audits of two accounts, neither of which may see half a transfer.
TEST(HoldKeys, TransfersInAnyDirectionNeitherMixNorDeadlock)
{
    constexpr int accounts = 4;
    constexpr int rounds = 20'000;
    flux::keyed_lock lock{0};
    std::array<long, accounts> balances{};
    std::atomic<int> mixed{0};
    std::vector<std::thread> threads;
    for (unsigned number = 0; number < 4; ++number) {
        threads.emplace_back([&, number] {
            running own;
            for (unsigned round = 0; round < rounds; ++round) {
                const unsigned from = (round + number) % accounts;
                const unsigned to = (round / 7 + number * 3) % accounts;
                if (round % 4 == 0) {
                    const flux::hold_keys both(own.flow, lock, flux::key(flux::mode::read, 0),
                                               flux::key(flux::mode::read, 1), flux::key(flux::mode::read, 2),
                                               flux::key(flux::mode::read, 3));
                    mixed += balances[0] + balances[1] + balances[2] + balances[3] != 0;
                } else {
                    const flux::hold_keys both(own.flow, lock, flux::key(flux::mode::write, from),
                                               flux::key(flux::mode::write, to));
                    balances[from] -= 1;
                    balances[to] += 1;
                }
            }
        });
    }
    for (std::thread &each : threads) {
        each.join();
    }
    EXPECT_EQ(mixed, 0);
}

// Threads that hold keys of one chain and of others, so that the chain has locks again and again.
TEST(HoldKeys, KeepFlowsApartWhereTheirChainHasLocksAndWhereItHasNone)
{
    constexpr int rounds = 20'000;
    std::vector<int> keys;
    for (int key = 0; keys.size() < 3; ++key) {
        if (flux::scatter(static_cast<flux::key_number>(key)) % 4096 == flux::scatter(0) % 4096) {
            keys.push_back(key);
        }
    }
    flux::keyed_lock lock{0};
    std::array<long, 3> written{};
    std::array<std::atomic<int>, 3> readers{};
    std::atomic<int> mixed{0};
    std::vector<std::thread> threads;
    for (unsigned number = 0; number < 4; ++number) {
        threads.emplace_back([&, number] {
            running own;
            for (unsigned round = 0; round < rounds; ++round) {
                const unsigned at = (round / 3 + number) % 3;
                if (round % 3 == 0) {
                    const flux::hold_keys held(own.flow, lock, flux::key(flux::mode::write, keys[at]));
                    mixed += readers[at].load(std::memory_order_relaxed) != 0;
                    written[at] += 1;
                } else {
                    const flux::hold_keys held(own.flow, lock, flux::key(flux::mode::read, keys[at]));
                    readers[at].fetch_add(1, std::memory_order_relaxed);
                    mixed += written[at] < 0;
                    readers[at].fetch_sub(1, std::memory_order_relaxed);
                }
            }
        });
    }
    for (std::thread &each : threads) {
        each.join();
    }
    EXPECT_EQ(mixed, 0);
    EXPECT_EQ(written[0] + written[1] + written[2], 4L * ((rounds + 2) / 3));
}

TEST(HoldSession, KeepsTheFlowsOfOneSessionApartAndNoOthers)
{
    running one;
    running two;
    running three;
    one.flow.set_session(1);
    two.flow.set_session(2);
    three.flow.set_session(1);
    flux::session_lock lock{1};
    std::atomic<bool> entered{false};
    std::thread same;
    {
        const flux::hold_session first(one.flow, lock, flux::mode::write);
        const flux::hold_session other(two.flow, lock, flux::mode::write);
        same = std::thread([&] {
            const flux::hold_session own(three.flow, lock, flux::mode::write);
            entered = true;
        });
        three.await_waiting();
        EXPECT_FALSE(entered);
    }
    same.join();
    EXPECT_TRUE(entered);
}

} // namespace
