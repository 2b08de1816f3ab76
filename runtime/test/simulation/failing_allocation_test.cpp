#include "flux/simulation/failing_allocation.hpp"

#include "../support/lack_of_memory.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <memory>
#include <new>
#include <thread>

namespace {

struct alignas(64) line {
    int first = 0;
};

/// Whether an allocation throws that it has failed.
template <class Type>
bool fails()
{
    try {
        return std::make_unique<Type>() == nullptr;
    } catch (const std::bad_alloc &) {
        return true;
    }
}

TEST(FailingAllocation, FailsForOneThreadAndForAsLongAsItIsToldTo)
{
    bool here = false;
    bool aligned = false;
    bool without_exception = false;
    bool elsewhere = true;
    std::thread other;
    {
        std::atomic<bool> goes{false};
        other = std::thread([&] {
            goes.wait(false);
            elsewhere = fails<int>();
        });
        const lack_of_memory lacks;
        here = fails<int>();
        aligned = fails<line>();
        without_exception = std::unique_ptr<int>(new (std::nothrow) int) == nullptr;
        goes = true;
        goes.notify_one();
        other.join();
    }
    EXPECT_TRUE(here);
    EXPECT_TRUE(aligned);
    EXPECT_TRUE(without_exception);
    EXPECT_FALSE(elsewhere);
    EXPECT_FALSE(fails<int>());
}

} // namespace
