#include "flux/waiting/cancellation.hpp"

#include <gtest/gtest.h>

namespace {

using flux::cancellation;
using flux::interrupted;
using flux::park_end;

TEST(Cancellation, IsOnceAndUntilTheFlowBeginsAnew)
{
    cancellation word;
    EXPECT_FALSE(word.cancelled());
    EXPECT_EQ(word.cancel(), interrupted::nothing);
    EXPECT_TRUE(word.cancelled());
    word.open_park();
    EXPECT_EQ(word.cancel(), interrupted::nothing) << "only the first interrupts";
    EXPECT_TRUE(word.end_park(park_end::completed));
    word.begin();
    EXPECT_FALSE(word.cancelled());
}

TEST(Cancellation, TheFirstEndsAPark)
{
    cancellation word;
    EXPECT_FALSE(word.end_park(park_end::completed)) << "there is none";
    for (const park_end how : {park_end::completed, park_end::timed_out, park_end::cancelled}) {
        word.open_park();
        EXPECT_TRUE(word.end_park(how));
        EXPECT_FALSE(word.end_park(park_end::completed));
        EXPECT_EQ(word.ended(), how);
    }
    EXPECT_FALSE(word.cancelled());
}

TEST(Cancellation, EndsTheParkThatIsOpen)
{
    cancellation word;
    word.open_park();
    EXPECT_EQ(word.cancel(), interrupted::park);
    EXPECT_FALSE(word.end_park(park_end::completed));
    EXPECT_EQ(word.ended(), park_end::cancelled);
}

TEST(Cancellation, WhoCancelsIsAwaitedWithTheBranches)
{
    cancellation word;
    EXPECT_FALSE(word.await(3));
    EXPECT_FALSE(word.arrived());
    EXPECT_EQ(word.cancel(), interrupted::branches);
    EXPECT_EQ(word.cancel(), interrupted::nothing) << "the second is not counted";
    EXPECT_FALSE(word.arrived());
    EXPECT_FALSE(word.arrived());
    EXPECT_TRUE(word.arrived());
    EXPECT_TRUE(word.await(2)) << "it is known that these are to be cancelled";
    EXPECT_FALSE(word.arrived());
    EXPECT_TRUE(word.arrived());
}

} // namespace
