#include "flux/event/fiber.hpp"

#include "flux/process/crash.hpp"
#include "../support/sample_program.hpp"

#include <cerrno>
#include <deque>
#include <exception>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

/// A fiber that runs a function object, with a stack of its own.
class running
{
  public:
    explicit running(std::function<void()> function) : function_(std::move(function)), fiber_(*stacks.take())
    {
        fiber_.prepare([](void *self) { static_cast<running *>(self)->function_(); }, this);
    }

    ~running() { stacks.give_back(fiber_.on()); }

    bool resume() { return fiber_.resume(); }

    static inline flux::stack_store stacks;

  private:
    std::function<void()> function_;
    flux::fiber fiber_;
};

void park()
{
    flux::fiber::running()->park();
}

TEST(Fiber, GoesOnWhereItParked)
{
    std::string trace;
    running fiber([&] {
        trace += "a";
        park();
        trace += "b";
        park();
        trace += "c";
    });
    EXPECT_EQ(trace, "");
    EXPECT_FALSE(fiber.resume());
    trace += "1";
    EXPECT_FALSE(fiber.resume());
    trace += "2";
    EXPECT_TRUE(fiber.resume());
    EXPECT_EQ(trace, "a1b2c");
    EXPECT_EQ(flux::fiber::running(), nullptr);
}

TEST(Fiber, RunsOneFunctionAfterTheOther)
{
    flux::stack_store stacks;
    const flux::stack on = *stacks.take();
    flux::fiber fiber(on);
    int sum = 0;
    for (int round = 0; round < 1000; ++round) {
        fiber.prepare([](void *counted) { ++*static_cast<int *>(counted); }, &sum);
        EXPECT_TRUE(fiber.resume());
    }
    EXPECT_EQ(sum, 1000);
    stacks.give_back(on);
}

TEST(Fiber, ThrowsAgainWhatItCaughtAfterOthersThrewToo)
{
    std::vector<std::string> caught;
    const auto throw_park_throw = [&](const char *what) {
        try {
            try {
                throw std::runtime_error(what);
            } catch (const std::runtime_error &) {
                park();
                throw;
            }
        } catch (const std::runtime_error &again) {
            caught.emplace_back(again.what());
        }
    };
    running one([&] { throw_park_throw("one"); });
    running two([&] { throw_park_throw("two"); });
    try {
        throw std::runtime_error("outside");
    } catch (const std::runtime_error &) {
        EXPECT_FALSE(one.resume());
        EXPECT_FALSE(two.resume());
        EXPECT_TRUE(one.resume());
        EXPECT_TRUE(two.resume());
        try {
            throw;
        } catch (const std::runtime_error &own) {
            caught.emplace_back(own.what());
        }
    }
    EXPECT_EQ(caught, (std::vector<std::string>{"one", "two", "outside"}));
}

TEST(Fiber, ParksWhileItUnwindsForNestedExceptions)
{
    struct parks_at_end {
        ~parks_at_end()
        {
            EXPECT_EQ(std::uncaught_exceptions(), 1);
            try {
                throw std::string("inner");
            } catch (const std::string &) {
                park();
                EXPECT_EQ(std::uncaught_exceptions(), 1);
            }
        }
    };
    std::string caught;
    running fiber([&] {
        try {
            const parks_at_end here;
            throw std::string("outer");
        } catch (const std::string &outer) {
            caught = outer;
        }
    });
    EXPECT_FALSE(fiber.resume());
    EXPECT_EQ(std::uncaught_exceptions(), 0);
    EXPECT_EQ(std::current_exception(), nullptr);
    EXPECT_TRUE(fiber.resume());
    EXPECT_EQ(caught, "outer");
}

TEST(Fiber, KeepsErrno)
{
    int seen = 0;
    running fiber([&] {
        EXPECT_EQ(errno, 0);
        errno = ENOENT;
        park();
        seen = errno;
    });
    errno = EAGAIN;
    fiber.resume();
    EXPECT_EQ(errno, EAGAIN);
    errno = EINTR;
    fiber.resume();
    EXPECT_EQ(errno, EINTR);
    EXPECT_EQ(seen, ENOENT);
}

TEST(Fiber, ThousandsRestAtOnce)
{
    constexpr int many = flux::thread_sanitizer ? 100 : 5000;
    std::deque<running> fibers;
    std::vector<int> locals;
    for (int number = 0; number < many; ++number) {
        fibers.emplace_back([&locals, number] {
            const int own = number;
            park();
            locals.push_back(own);
        });
        EXPECT_FALSE(fibers.back().resume());
    }
    for (running &each : fibers) {
        EXPECT_TRUE(each.resume());
    }
    ASSERT_EQ(locals.size(), std::size_t{many});
    for (int number = 0; number < many; ++number) {
        EXPECT_EQ(locals[static_cast<std::size_t>(number)], number);
    }
}

__attribute__((noinline)) int overflow(int depth)
{
    volatile char here[4096];
    here[0] = 1;
    return depth == 0 ? 0 : overflow(depth - 1) + here[0];
}

void die_on_a_fiber(void (*overflowing)())
{
    flux::install_crash_message();
    flux::signal_stack memory;
    const flux::on_signal_stack here(memory);
    running fiber(overflowing);
    fiber.resume();
}

constexpr const char *overflowed = "SIGSEGV outside of any flow: the stack of its fiber, 960 KiB, has overflowed";

TEST(FiberDeathTest, AnOverflowIsNamed)
{
    EXPECT_DEATH(die_on_a_fiber([] { overflow(1'000'000); }), overflowed);
}

// As a function of an author's does, where the compiler has added probes.
__attribute__((noinline)) int write_below_a_large_frame()
{
    volatile char here[4 << 20];
    here[0] = 1;
    return here[0];
}

TEST(FiberDeathTest, AFrameLargerThanTheGuardMeetsIt)
{
    EXPECT_DEATH(die_on_a_fiber([] { write_below_a_large_frame(); }), overflowed);
}

} // namespace
