#include "flux/event/resident_store.hpp"

#include "flux/event/loop.hpp"
#include "flux/io/reactor.hpp"
#include "../support/lack_of_memory.hpp"
#include "../support/sample_program.hpp"
#include "../support/patience.hpp"

#include <gtest/gtest.h>

namespace {

class ResidentStore : public testing::Test
{
  protected:
    flux::runner runner{sample::program};
    flux::loop_list none;
    flux::loop of{none, runner, flux::make_reactor(), 1, 0};
};

TEST_F(ResidentStore, IsExhaustedAtItsBoundUntilOneComesBack)
{
    flux::resident_store store(of, 2);
    EXPECT_TRUE(store.has_one());
    flux::resident *const one = store.take();
    flux::resident *const two = store.take();
    EXPECT_TRUE(one != nullptr && two != nullptr && one != two);
    EXPECT_FALSE(store.exhausted()) << "nobody has asked for more yet";
    EXPECT_FALSE(store.has_one());
    EXPECT_EQ(store.take(), nullptr);
    EXPECT_TRUE(store.exhausted());
    EXPECT_EQ(store.memory_again(), flux::never) << "it is the bound and not memory";
    store.look(in(std::chrono::hours(1)));
    EXPECT_TRUE(store.exhausted()) << "time changes nothing about a bound";
    store.give_back(*one);
    EXPECT_FALSE(store.exhausted()) << "or else a flow that comes now would not be noticed";
    store.give_back(*two);
    EXPECT_EQ(store.take(), two) << "the one that came back last";
    EXPECT_EQ(store.take(), one);
}

TEST_F(ResidentStore, WithoutMemoryItIsLookedForAgain)
{
    flux::resident_store store(of, 2);
    {
        const lack_of_memory here;
        store.take();
    }
    EXPECT_TRUE(store.exhausted());
    const flux::moment again = store.memory_again();
    EXPECT_LE(again, in(flux::resident_store::memory_pause));
    store.look(again - std::chrono::nanoseconds(1));
    EXPECT_TRUE(store.exhausted());
    store.look(again);
    EXPECT_FALSE(store.exhausted());
    EXPECT_NE(store.take(), nullptr);
}

} // namespace
