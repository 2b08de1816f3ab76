#include "flux/flow/node_stacks.hpp"

#include "../support/running_source.hpp"

#include <flux/process/crash.hpp>

#include <algorithm>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;
using flux::strategy_kind;
using sample::running_source;

constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// Uses so many bytes of stack.
__attribute__((noinline)) std::size_t use(std::size_t bytes)
{
    volatile char here[4096];
    here[0] = 1;
    return bytes < 2 * sizeof here ? 1 : use(bytes - sizeof here) + static_cast<std::size_t>(here[0]);
}

/// Flows that each do this in a node, whatever runs them.
class NodeStacks : public testing::TestWithParam<strategy_kind>
{
  protected:
    void run(std::uint64_t flows, std::function<void(flux::flow &)> in_node)
    {
        sample::work = [=](const sample::Listen_out &) {
            if (flux::running_flow->position() == sample::node_Begin) {
                in_node(*flux::running_flow);
            }
        };
        sample::listen = sample::flows(static_cast<int>(flows), [](int) { return sample::Listen_out{2, 2, -1}; });
        running_source running(sample::program, sample::source_Listen, GetParam(), 10, 1);
        running.await_finished(flows);
        marks = running.all.marks_of_stacks();
    }

    std::vector<flux::node_stack_mark> marks;
};

TEST_P(NodeStacks, HaveRoomForWhatNeedsMuch)
{
    run(3, [](flux::flow &flow) {
        EXPECT_EQ(flow.stack(), nullptr);
        flow.on_stack(16 * mebibyte, [&] {
            EXPECT_NE(flow.stack(), nullptr);
            EXPECT_GT(use(12 * mebibyte), std::size_t{1000});
        });
        EXPECT_EQ(flow.stack(), nullptr);
    });
    ASSERT_EQ(marks.size(), std::size_t{1});
    EXPECT_EQ(marks.front().node, sample::node_Begin);
    EXPECT_EQ(marks.front().size, 16 * mebibyte);
    EXPECT_GE(marks.front().used, 12 * mebibyte);
    EXPECT_LT(marks.front().used, (flux::address_sanitizer || flux::thread_sanitizer ? 16 : 13) * mebibyte);
}

TEST_P(NodeStacks, AreWaitedOnAndEachFlowHasItsOwn)
{
    std::atomic<int> there{0};
    std::atomic<int> most{0};
    const int at_once = GetParam() == strategy_kind::pool ? 1 : 2;
    run(4, [&, at_once](flux::flow &flow) {
        for (int time = 0; time < 20; ++time) {
            int own = time;
            flow.on_stack(mebibyte, [&] {
                volatile char here[1000];
                std::fill_n(here, sizeof here, static_cast<char>(flow.id()));
                most = std::max(most.load(), ++there);
                do { // hangs if no other has its stack meanwhile
                    EXPECT_EQ(flux::sleep_for(1ms), 0);
                } while (most < at_once);
                --there;
                EXPECT_TRUE(std::all_of(here, here + sizeof here, [&](char each) {
                    return each == static_cast<char>(flow.id());
                }));
                ++own;
            });
            EXPECT_EQ(own, time + 1);
        }
    });
    EXPECT_GE(most, at_once);
}

TEST_P(NodeStacks, AreLeftByWhatIsThrown)
{
    run(2, [](flux::flow &flow) {
        for (int time = 0; time < 100; ++time) {
            try {
                flow.on_stack(mebibyte, [&] {
                    try {
                        throw std::runtime_error("inside");
                    } catch (const std::exception &) {
                        EXPECT_EQ(flux::sleep_for(10us), 0);
                        throw;
                    }
                });
                ADD_FAILURE() << "nothing was thrown";
            } catch (const std::exception &error) {
                EXPECT_STREQ(error.what(), "inside");
            }
            EXPECT_EQ(flow.stack(), nullptr);
        }
    });
}

TEST_P(NodeStacks, ThatCannotBeHadAreAnError)
{
    run(1, [](flux::flow &flow) {
        EXPECT_THROW(flow.on_stack(std::size_t{1} << 60, [] { ADD_FAILURE() << "it runs"; }), std::bad_alloc);
        EXPECT_EQ(flow.stack(), nullptr);
    });
}

TEST_P(NodeStacks, ThatOverflowNameTheNode)
{
    if (flux::address_sanitizer || flux::thread_sanitizer) {
        GTEST_SKIP() << "the sanitizer says it in its own way";
    }
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    const auto overflow = [&] {
        flux::install_crash_message();
        run(1, [](flux::flow &flow) { flow.on_stack(mebibyte, [] { use(4 * mebibyte); }); });
    };
    EXPECT_DEATH(overflow(), "SIGSEGV in Begin \\(sample.flux:2\\), flow 1 of Listen .*: its stack of 1024 KiB has "
                             "overflowed; give it more: `stack 2M`");
}

INSTANTIATE_TEST_SUITE_P(EveryRuntime, NodeStacks,
                         testing::Values(strategy_kind::thread, strategy_kind::pool, strategy_kind::event));

} // namespace
