#include "flux/list/push_stack.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace {

struct element {
    element *next = nullptr;
    std::size_t thread = 0;
    int number = 0;
};

TEST(PushStack, IsTakenAsAWhole)
{
    flux::push_stack<element> stack;
    std::array<element, 3> all;
    EXPECT_TRUE(stack.empty());
    EXPECT_EQ(stack.take(), nullptr);
    for (element &each : all) {
        EXPECT_FALSE(stack.push(each));
    }
    EXPECT_FALSE(stack.empty());
    EXPECT_EQ(stack.take(), &all[2]);
    EXPECT_EQ(all[2].next, &all[1]);
    EXPECT_EQ(all[1].next, &all[0]);
    EXPECT_EQ(all[0].next, nullptr);
    EXPECT_TRUE(stack.empty());
}

TEST(PushStack, GivesWhatWasPushedFirstFirst)
{
    flux::push_stack<element> stack;
    std::array<element, 3> all;
    EXPECT_EQ(stack.take_in_order(), nullptr);
    for (element &each : all) {
        stack.push(each);
    }
    EXPECT_EQ(stack.take_in_order(), &all[0]);
    EXPECT_EQ(all[0].next, &all[1]);
    EXPECT_EQ(all[1].next, &all[2]);
    EXPECT_EQ(all[2].next, nullptr);
}

TEST(PushStack, TellsOnePushThatItWasAwaited)
{
    flux::push_stack<element> stack;
    std::array<element, 2> all;
    EXPECT_FALSE(stack.is_awaited());
    EXPECT_TRUE(stack.await());
    EXPECT_TRUE(stack.is_awaited());
    EXPECT_TRUE(stack.empty());
    EXPECT_TRUE(stack.push(all[0]));
    EXPECT_FALSE(stack.is_awaited());
    EXPECT_FALSE(stack.push(all[1]));
    EXPECT_FALSE(stack.await()) << "there is something";
    EXPECT_EQ(stack.take(), &all[1]);
    EXPECT_EQ(all[1].next, &all[0]);
    EXPECT_EQ(all[0].next, nullptr) << "who awaits is no element";
    EXPECT_TRUE(stack.await());
    EXPECT_EQ(stack.take_in_order(), stack.take());
}

TEST(PushStack, LosesNothingBetweenThreadsAndKeepsTheOrderOfEach)
{
    constexpr std::size_t threads = 3;
    constexpr int many = 20'000;
    flux::push_stack<element> stack;
    std::array<std::vector<element>, threads> all;
    std::vector<std::thread> pushing;
    std::atomic<int> wakes{0};
    for (std::size_t thread = 0; thread < threads; ++thread) {
        all[thread].resize(many);
        pushing.emplace_back([&, thread] {
            for (int number = 0; number < many; ++number) {
                element &each = all[thread][static_cast<std::size_t>(number)];
                each.thread = thread;
                each.number = number;
                wakes += stack.push(each) ? 1 : 0;
                wakes.notify_one();
            }
        });
    }
    std::array<int, threads> next{};
    int taken_wakes = 0;
    for (std::size_t taken = 0; taken < threads * many;) {
        if (stack.await()) {
            wakes.wait(taken_wakes++);
        }
        for (const element *each = stack.take_in_order(); each != nullptr; each = each->next) {
            ASSERT_EQ(each->number, next[each->thread]++);
            ++taken;
        }
    }
    for (std::thread &each : pushing) {
        each.join();
    }
    EXPECT_EQ(next, (std::array<int, threads>{many, many, many}));
    EXPECT_EQ(wakes, taken_wakes) << "each wait is answered once";
}

} // namespace
