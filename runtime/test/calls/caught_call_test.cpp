#include "flux/calls/caught_call.hpp"

#include "../support/running_source.hpp"
#include "../support/patience.hpp"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace {

#ifdef FLUX_THREAD_SANITIZER

int shared = 0;

/// A thread writes what a node writes later on a fiber, and nothing orders the two.
void race_on_a_fiber()
{
    std::thread([] { shared = 1; }).detach();
    sleep_uncaught(std::chrono::milliseconds(200)); // orders nothing
    sample::work = [](const sample::Listen_out &) { shared = 2; };
    sample::listen = sample::flows(1, [](int) { return sample::Listen_out{2, 2, -1}; });
    {
        sample::running_source running(sample::program, sample::source_Listen, flux::strategy_kind::event, 10, 1);
        running.await_finished(1);
    }
    std::exit(0);
}

TEST(CaughtCall, OfASanitizerThatReportsARaceOnAFiberIsMadeAtOnce)
{
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_EXIT(race_on_a_fiber(), testing::ExitedWithCode(66), "data race");
}

#endif

} // namespace
