#include "flux/strategy/pool.hpp"

#include "../support/running_source.hpp"
#include "../support/known_thread.hpp"
#include "../support/standard_error.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <mutex>
#include <regex>
#include <set>
#include <string>
#include <thread>
#include <vector>

/// After so many threads, those that the test asks for cannot be had; below 0 all can.
static std::atomic<int> threads_to_be_had{-1};

using create_function = int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

// Comes before the C library's, for the whole process.
extern "C" int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*what)(void *), void *argument)
{
    static const auto real = reinterpret_cast<create_function>(dlsym(RTLD_NEXT, "pthread_create"));
    if (threads_to_be_had == 0) {
        return EAGAIN;
    }
    threads_to_be_had -= threads_to_be_had > 0 ? 1 : 0;
    return real(thread, how, what, argument);
}

namespace {

using namespace std::chrono_literals;
using flux::strategy_kind;
using sample::running_source;

/// Flows that all wait until so many have come, or it is opened.
class gate
{
  public:
    explicit gate(std::size_t opens_at) : opens_at_(opens_at) {}

    void pass()
    {
        std::unique_lock guard(lock_);
        open_ = open_ || ++waiting_ == opens_at_;
        changed_.notify_all();
        changed_.wait(guard, [this] { return open_; });
    }

    void open()
    {
        const std::lock_guard guard(lock_);
        open_ = true;
        changed_.notify_all();
    }

  private:
    const std::size_t opens_at_;
    std::mutex lock_;
    std::condition_variable changed_;
    std::size_t waiting_ = 0;
    bool open_ = false;
};

TEST(Pool, RunsFlowsOnSoManyThreadsInTheOrderTheyStarted)
{
    std::mutex guard;
    std::set<std::thread::id> threads;
    std::vector<std::uint64_t> order;
    sample::work = [&](const sample::Listen_out &) {
        const std::lock_guard alone(guard);
        threads.insert(std::this_thread::get_id());
        order.push_back(flux::running_flow->id());
    };
    sample::listen = sample::flows(200, [](int) { return sample::Listen_out{2, 2, sample::node_Begin}; });
    {
        running_source running(sample::program, sample::source_Listen, strategy_kind::pool, 50, 1);
        running.await_finished(200);
    }
    EXPECT_EQ(threads.size(), 1u);
    EXPECT_EQ(order.size(), 200u);
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(Pool, AFullQueueHoldsTheSourceBack)
{
    std::atomic<bool> open{false};
    std::atomic<int> made{0};
    std::atomic<int> ended{0};
    sample::work = [&](const sample::Listen_out &) {
        open.wait(false);
        ++ended;
    };
    sample::listen = sample::flows(20, [&](int) {
        // Two run, three wait in the queue, one waits with the source for a place there.
        EXPECT_LE(++made, ended + 6);
        return sample::Listen_out{2, 2, sample::node_Begin};
    });
    {
        running_source running(sample::program, sample::source_Listen, strategy_kind::pool, 100, 2, 3);
        await([&] { return made == 6; });
        open = true;
        open.notify_all();
        running.await_finished(20);
    }
    EXPECT_EQ(made, 20);
}

TEST(Pool, GrowsWhileAllItsThreadsWait)
{
    gate together(7); // hangs where fewer threads come
    sample::work = [&](const sample::Listen_out &) { together.pass(); };
    sample::listen = sample::flows(7, [](int) { return sample::Listen_out{2, 2, sample::node_Begin}; });
    testing::internal::CaptureStderr();
    {
        running_source running(sample::program, sample::source_Listen, strategy_kind::pool, 100, 2, 100, 8);
        running.await_finished(7);
    }
    const std::string said = testing::internal::GetCapturedStderr();
    // The source may have made only some of them by then.
    const std::regex grows("flux: all 2 threads of the pool wait, 2 of them in Begin \\(sample.flux:2\\), and [1-5] "
                           "flows or branches wait for a thread: the pool grows to [34] threads, of at most 8\n");
    EXPECT_TRUE(std::regex_search(said, grows, std::regex_constants::match_continuous)) << said;
}

TEST(Pool, GrowsToItsBoundAndSaysSo)
{
    gate never(100);
    std::mutex guard;
    std::set<std::thread::id> threads;
    sample::work = [&](const sample::Listen_out &) {
        {
            const std::lock_guard alone(guard);
            threads.insert(std::this_thread::get_id());
        }
        never.pass();
    };
    sample::listen = sample::flows(6, [](int) { return sample::Listen_out{2, 2, sample::node_Begin}; });
    {
        const captured_standard_error standard_error;
        running_source running(sample::program, sample::source_Listen, strategy_kind::pool, 100, 2, 100, 3);
        await([&] { return standard_error.has_said("have waited for a second"); });
        const std::regex waits("flux: all 3 threads of the pool have waited for a second, 3 of them in Begin "
                               "\\(sample.flux:2\\), and [1-3] flows or branches wait for a thread: under "
                               "--flux-runtime=event a flow that waits through the runtime holds none\n");
        EXPECT_TRUE(std::regex_search(standard_error.said(), waits)) << standard_error.said();
        never.open();
        running.await_finished(6);
    }
    EXPECT_EQ(threads.size(), 3u);
}

TEST(Pool, DoesNotGrowForFlowsThatCompute)
{
    std::atomic<bool> open{false};
    std::mutex guard;
    std::set<std::thread::id> threads;
    sample::work = [&](const sample::Listen_out &) {
        {
            const std::lock_guard alone(guard);
            threads.insert(std::this_thread::get_id());
        }
        while (!open) {
        }
    };
    sample::listen = sample::flows(4, [](int) { return sample::Listen_out{2, 2, sample::node_Begin}; });
    testing::internal::CaptureStderr();
    {
        running_source running(sample::program, sample::source_Listen, strategy_kind::pool, 100, 1, 100, 8);
        await([] { return times_asleep("flux-pool-watch") >= 4; }); // and looked each time that there is a backlog
        open = true;
        running.await_finished(4);
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    EXPECT_EQ(threads.size(), 1u);
}

TEST(Pool, AThreadThatCannotBeHadLeavesItsRunnerToOthers)
{
    flux::runners all(sample::program);
    std::array<flux::runner *, 3> in_order{all.borrow(), all.borrow(), all.borrow()};
    for (std::size_t number = in_order.size(); number != 0; --number) {
        all.give_back(*in_order[number - 1]);
    }
    testing::internal::CaptureStderr();
    threads_to_be_had = 2;
    const auto pool = flux::make_pool_strategy(all, 3, 4, 3);
    threads_to_be_had = -1;
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "flux: the pool has 2 threads: there are no more to be had\n");
    EXPECT_EQ(all.borrow(), in_order[2]);
    const std::set<flux::runner *> in_use(in_order.begin(), in_order.end());
    EXPECT_FALSE(in_use.contains(all.borrow()));
    pool->finish();
}

TEST(Pool, ThatHasNoThreadAtAllIsNone)
{
    flux::runners all(sample::program);
    threads_to_be_had = 0;
    EXPECT_THROW(flux::make_pool_strategy(all, 3, 4), std::system_error);
    threads_to_be_had = -1;
}

} // namespace
