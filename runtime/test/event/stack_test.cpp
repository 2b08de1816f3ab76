#include "flux/event/stack.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <set>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace {

using flux::stack_store;

TEST(Stack, StacksAreApartAndCanBeWrittenWhole)
{
    stack_store stacks;
    std::set<std::byte *> tops;
    for (int number = 0; number < 200; ++number) { // more than a slab
        const flux::stack one = *stacks.take();
        EXPECT_EQ(one.size, stack_store::space - stack_store::guard);
        *one.bottom = std::byte{1};
        *(one.top() - 1) = std::byte{1};
        tops.insert(one.top());
    }
    EXPECT_EQ(tops.size(), 200u);
    EXPECT_GE(static_cast<std::size_t>(*tops.rbegin() - *tops.begin()), 199 * stack_store::space);
}

TEST(Stack, TheOneThatCameBackLastIsUsedNext)
{
    stack_store stacks;
    const flux::stack one = *stacks.take();
    const flux::stack two = *stacks.take();
    stacks.give_back(two);
    stacks.give_back(one);
    EXPECT_EQ(stacks.take()->bottom, one.bottom);
    EXPECT_EQ(stacks.take()->bottom, two.bottom);
    EXPECT_EQ(stacks.made(), 2u);
}

TEST(Stack, TheHighWaterMarkIsThatOfTheDeepest)
{
    stack_store stacks;
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    EXPECT_EQ(stacks.high_water_mark(), 0u);
    const flux::stack shallow = *stacks.take();
    const flux::stack deep = *stacks.take();
    *(shallow.top() - 1) = std::byte{1};
    EXPECT_EQ(stacks.high_water_mark(), page);
    *(deep.top() - 5 * page) = std::byte{1};
    EXPECT_EQ(stacks.high_water_mark(), 5 * page);
    stacks.give_back(deep);
    EXPECT_EQ(stacks.high_water_mark(), 5 * page);
}

TEST(Stack, AnOverflowIsWithinTheGuard)
{
    stack_store stacks;
    const flux::stack one = *stacks.take();
    EXPECT_TRUE(one.overflows_at(one.bottom - 1));
    EXPECT_TRUE(one.overflows_at(one.bottom - stack_store::guard));
    EXPECT_FALSE(one.overflows_at(one.bottom));
    EXPECT_FALSE(one.overflows_at(one.bottom - stack_store::guard - 1));
    EXPECT_FALSE(one.overflows_at(nullptr));
}

TEST(StackDeathTest, TheGuardCannotBeTouched)
{
    stack_store stacks;
    stacks.take();
    const flux::stack one = *stacks.take();
    EXPECT_DEATH(*(one.bottom - 1) = std::byte{1}, "");
    EXPECT_DEATH(*(one.bottom - stack_store::guard) = std::byte{1}, "");
}

TEST(Stack, ThereIsNoneWhereThereIsNoMemory)
{
    rlimit before;
    ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
    const rlimit none = {1, before.rlim_max};
    stack_store stacks;
    std::vector<flux::stack> taken;
    taken.push_back(*stacks.take());
    ASSERT_EQ(setrlimit(RLIMIT_AS, &none), 0);
    std::size_t more = 0;
    while (stacks.take()) {
        ++more;
    }
    ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
    EXPECT_EQ(more, 63u); // the rest of the slab
    EXPECT_TRUE(stacks.take());
}

} // namespace
