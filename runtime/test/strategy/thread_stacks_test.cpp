#include "flux/strategy/thread_stacks.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <memory>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace {

using flux::thread_stacks;

// Threads that are all there until they are let go.
struct crowd {
    thread_stacks stacks;
    std::atomic<bool> may_go{false};
    std::atomic<int> here{0};
    std::atomic<int> gone{0};

    static void *stay(void *in)
    {
        crowd &all = *static_cast<crowd *>(in);
        ++all.here;
        all.may_go.wait(false);
        all.stacks.leave();
        ++all.gone;
        return nullptr;
    }

    void come(int count)
    {
        for (int number = 0; number < count; ++number) {
            ASSERT_EQ(stacks.start(stay, this), 0);
        }
        while (here < count) {
            std::this_thread::yield();
        }
    }

    void go(int count)
    {
        may_go = true;
        may_go.notify_all();
        while (gone < count) {
            std::this_thread::yield();
        }
    }
};

// The stack of the calling thread: from where, and how large.
std::pair<const void *, std::size_t> own_stack()
{
    pthread_attr_t attributes;
    pthread_getattr_np(pthread_self(), &attributes);
    void *bottom = nullptr;
    std::size_t size = 0;
    pthread_attr_getstack(&attributes, &bottom, &size);
    pthread_attr_destroy(&attributes);
    return {bottom, size};
}

TEST(ThreadStacks, ThreadsThatComeOneAfterTheOtherHaveTheSameFew)
{
    struct one {
        thread_stacks stacks;
        std::atomic<const void *> stack{nullptr};
    } all;
    std::set<const void *> seen;
    constexpr int threads = 200;
    for (int number = 0; number < threads; ++number) {
        all.stack = nullptr;
        const auto say_stack = [](void *to) -> void * {
            one &of = *static_cast<one *>(to);
            const void *const bottom = own_stack().first;
            of.stacks.leave();
            of.stack = bottom;
            of.stack.notify_one();
            return nullptr;
        };
        ASSERT_EQ(all.stacks.start(say_stack, &all), 0);
        all.stack.wait(nullptr);
        seen.insert(all.stack);
    }
    EXPECT_LT(seen.size(), threads / 4) << "most have the stack of one that has ended";
}

TEST(ThreadStacks, OfManyThreadsSoManyAreKept)
{
    crowd all;
    constexpr int threads = static_cast<int>(thread_stacks::most_kept) + 50;
    all.come(threads);
    EXPECT_EQ(all.stacks.kept(), 0U);
    all.go(threads);
    EXPECT_EQ(all.stacks.kept(), thread_stacks::most_kept);
    all.stacks.join();
    EXPECT_EQ(all.stacks.kept(), 0U);
}

TEST(ThreadStacks, WhoLeavesAfterAllWereLetGoIsNotKept)
{
    crowd all;
    all.come(3);
    all.stacks.let_go();
    all.go(3);
    EXPECT_EQ(all.stacks.kept(), 0U);
}

TEST(ThreadStacks, AreAsLargeAsThreadsHaveThemByDefault)
{
    pthread_attr_t usual;
    std::size_t expected = 0;
    pthread_attr_init(&usual);
    pthread_attr_getstacksize(&usual, &expected);
    pthread_attr_destroy(&usual);
    struct one {
        thread_stacks stacks;
        std::atomic<std::size_t> size{0};
    } all;
    const auto say_size = [](void *to) -> void * {
        one &of = *static_cast<one *>(to);
        const std::size_t size = own_stack().second;
        of.stacks.leave();
        of.size = size;
        of.size.notify_one();
        return nullptr;
    };
    ASSERT_EQ(all.stacks.start(say_size, &all), 0);
    all.size.wait(0);
    EXPECT_EQ(all.size, expected);
}

TEST(ThreadStacks, TheChildOfAForkLeavesNone)
{
    struct one {
        thread_stacks stacks;
        std::atomic<int> status{-1};
    } all;
    const auto fork_and_leave = [](void *to) -> void * {
        one &of = *static_cast<one *>(to);
        const pid_t child = fork();
        if (child == 0) {
            of.stacks.leave();
            _exit(of.stacks.kept() == 0 ? 0 : 1);
        }
        int status = 1;
        waitpid(child, &status, 0);
        of.stacks.leave();
        of.status = status;
        of.status.notify_one();
        return nullptr;
    };
    ASSERT_EQ(all.stacks.start(fork_and_leave, &all), 0);
    all.status.wait(-1);
    EXPECT_EQ(all.status, 0);
    EXPECT_EQ(all.stacks.kept(), 1U);
}

// A server that abandons what does not end leaves the rest to the last thread.
TEST(ThreadStacks, TheLastThreadMayEndThem)
{
    struct one {
        std::shared_ptr<thread_stacks> stacks;
        std::atomic<bool> &ended;
    };
    std::atomic<bool> ended{false};
    auto stacks = std::make_shared<thread_stacks>();
    auto *const handed = new one{stacks, ended};
    const auto let_go = [](void *of) -> void * {
        const std::unique_ptr<one> mine(static_cast<one *>(of));
        std::atomic<bool> &over = mine->ended;
        while (mine->stacks.use_count() > 1) {
            std::this_thread::yield();
        }
        mine->stacks->leave();
        mine->stacks.reset();
        over = true;
        over.notify_one();
        return nullptr;
    };
    ASSERT_EQ(stacks->start(let_go, handed), 0);
    stacks.reset();
    ended.wait(false);
}

} // namespace
