#include "flux/flow/flow_store.hpp"

#include "../support/sample_program.hpp"
#include "../support/counted_waiter.hpp"
#include "../support/patience.hpp"

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <set>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

TEST(FlowStore, UsesFlowsAgain)
{
    flux::thread_waiter place;
    flux::flow_store store(sample::sources[0], 10);
    flux::flow &one = store.take(place);
    flux::flow &two = store.take(place);
    EXPECT_NE(&one, &two);
    store.give_back(two);
    EXPECT_EQ(&store.take(place), &two);
    store.put_back(two);
    store.give_back(one);
    EXPECT_EQ(&store.take(place), &two);
    EXPECT_EQ(&store.take(place), &one);
    store.give_back(one);
    store.give_back(two);
}

TEST(FlowStore, AFlowThatIsPutBackLeavesTheOthersWhereTheyAre)
{
    flux::thread_waiter place;
    flux::flow_store store(sample::sources[0], 2);
    flux::flow &one = store.take(place);
    flux::flow &two = store.take(place);
    store.put_back(one);
    store.put_back(two);
    EXPECT_EQ(&store.take(place), &two);
    EXPECT_EQ(&store.take(place), &one); // hangs where that is lost
    store.give_back(one);
    store.give_back(two);
}

TEST(FlowStore, CancelsAllFlowsWhetherTheyAreInUseOrNot)
{
    flux::thread_waiter place;
    flux::flow_store store(sample::sources[0], 10);
    flux::flow &used = store.take(place);
    flux::flow &unused = store.take(place);
    store.put_back(unused);
    store.cancel_all();
    EXPECT_TRUE(used.cancelled());
    EXPECT_TRUE(unused.cancelled());
    store.give_back(used);
}

TEST(FlowStore, MakesTheSourceWaitAtTheBound)
{
    flux::thread_waiter place;
    flux::flow_store store(sample::sources[0], 2);
    flux::flow &one = store.take(place);
    flux::flow &two = store.take(place);
    std::atomic<int> waits{0};
    counted_waiter counted(place, waits);
    std::thread other([&] {
        await([&] { return waits > 0; });
        store.give_back(two);
    });
    EXPECT_EQ(&store.take(counted), &two);
    other.join();
    store.give_back(one);
    store.give_back(two);
}

int creations_left = 0;

flux::flow *create_some() noexcept
{
    return creations_left-- > 0 ? sample::sources[0].create() : nullptr;
}

TEST(FlowStore, ALackOfMemoryMakesTheSourceWaitToo)
{
    flux::source_info source = sample::sources[0];
    source.create = create_some;
    creations_left = 2;
    flux::thread_waiter place;
    flux::flow_store store(source, 10);
    flux::flow &one = store.take(place);
    flux::flow &two = store.take(place);
    std::atomic<int> waits{0};
    counted_waiter counted(place, waits);
    std::thread other([&] {
        await([&] { return waits > 0; });
        store.give_back(one);
    });
    EXPECT_EQ(&store.take(counted), &one);
    other.join();
    store.give_back(one);
    store.give_back(two);
}

// Those in progress may wait for what the next would do.
TEST(FlowStore, AFlowIsMadeAsSoonAsThereIsMemoryAgain)
{
    flux::source_info source = sample::sources[0];
    static int tries = 0;
    source.create = []() noexcept -> flux::flow * { return ++tries == 2 ? nullptr : sample::sources[0].create(); };
    flux::thread_waiter place;
    flux::flow_store store(source, 10);
    flux::flow &one = store.take(place);
    flux::flow &two = store.take(place); // hangs where it waits for the first
    EXPECT_EQ(tries, 3);
    store.give_back(one);
    store.give_back(two);
}

TEST(FlowStore, ALiftedBoundIsNone)
{
    flux::thread_waiter place;
    flux::flow_store store(sample::sources[0], 1);
    store.lift_bound();
    flux::flow &one = store.take(place);
    flux::flow &two = store.take(place);
    store.give_back(one);
    store.give_back(two);
}

TEST(FlowStore, CannotBeMadeWithoutMemoryForOneFlow)
{
    flux::source_info source = sample::sources[0];
    source.create = create_some;
    creations_left = 0;
    EXPECT_THROW(flux::flow_store(source, 10), std::bad_alloc);
}

TEST(FlowStore, NeverHandsOutAFlowThatIsInUse)
{
    constexpr std::size_t limit = 5;
    constexpr int rounds = 5'000;
    flux::thread_waiter place;
    flux::flow_store store(sample::sources[0], limit);
    std::atomic<flux::flow *> handed[3] = {};
    std::atomic<bool> over{false};
    std::vector<std::thread> others;
    for (std::atomic<flux::flow *> &slot : handed) {
        others.emplace_back([&] {
            while (!over || slot.load() != nullptr) {
                if (flux::flow *const flow = slot.exchange(nullptr)) {
                    flow->call(0); // in use: the thread sanitizer sees two at it
                    store.give_back(*flow);
                } else {
                    std::this_thread::yield();
                }
            }
        });
    }
    std::set<flux::flow *> seen;
    for (int round = 0; round < rounds; ++round) {
        flux::flow &taken = store.take(place);
        taken.call(0);
        seen.insert(&taken);
        std::atomic<flux::flow *> &slot = handed[round % 3];
        flux::flow *none = nullptr;
        while (!slot.compare_exchange_weak(none, &taken)) {
            none = nullptr;
            std::this_thread::yield();
        }
    }
    over = true;
    for (std::thread &other : others) {
        other.join();
    }
    EXPECT_LE(seen.size(), limit);
}

} // namespace
