#include "flux/insight/thread_cost.hpp"

#include "flux/processor_use.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <thread>

namespace {

using namespace std::chrono_literals;

TEST(ThreadCost, IsMeasuredOnOneProcessorAndBesideAnother)
{
    const auto before = flux::processor_use::of_process().time;
    const auto cost = flux::thread_cost::measured();
    EXPECT_GT(cost.alone, 1us);
    EXPECT_LT(cost.alone, flux::processor_use::of_process().time - before);
    EXPECT_EQ(cost.beside > 0ns, std::thread::hardware_concurrency() > 1);
}

TEST(ThreadCost, HasNoneBesideAnotherOnOneProcessor)
{
    std::thread([] {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
        ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
        const auto cost = flux::thread_cost::measured();
        EXPECT_GT(cost.alone, 0ns);
        EXPECT_EQ(cost.beside, 0ns);
    }).join();
}

} // namespace
