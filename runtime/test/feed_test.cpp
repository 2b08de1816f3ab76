#include "flux/feed.hpp"

#include "flux/sleep.hpp"
#include "support/running_source.hpp"
#include "support/patience.hpp"

#include <atomic>
#include <cerrno>
#include <gtest/gtest.h>
#include <mutex>
#include <string>

namespace {

using namespace std::chrono_literals;
using flux::strategy_kind;

/// A client that takes so many bytes each time it is tried.
class client final : public flux::stream
{
  public:
    explicit client(std::size_t takes) : takes_(takes) {}

    std::size_t send_at_once(std::string_view bytes) noexcept override
    {
        const std::lock_guard alone(lock_);
        const std::size_t count = has_taken_ ? 0 : std::min(bytes.size(), takes_);
        has_taken_ = count != 0;
        heard_.append(bytes, 0, count);
        return count;
    }
    void cut() noexcept override { is_cut_ = true; }
    void end_output() noexcept override {}

    /// Returns when it has heard just this.
    void await_heard(std::string_view wanted) noexcept
    {
        await_parked([&] { return heard() == wanted; });
    }
    void await_cut() noexcept
    {
        await_parked([&] { return is_cut_.load(); });
    }

  private:
    flux::io_result<std::size_t> do_receive(std::span<std::byte>, flux::moment) noexcept override
    {
        return std::size_t{0};
    }
    flux::io_result<void> do_send(std::span<iovec>, flux::moment) noexcept override { return {}; }

    std::string heard()
    {
        const std::lock_guard alone(lock_);
        return heard_;
    }

    const std::size_t takes_;
    std::mutex lock_;
    std::string heard_;
    // After some bytes it takes no more in the same breath.
    bool has_taken_ = false;
    std::atomic<bool> is_cut_{false};
};

/// Runs `publish` in a flow while another one delivers; that is cancelled when `publish` is done.
void while_delivered(strategy_kind kind, const std::function<void(flux::feeds &)> &publish)
{
    std::atomic<flux::flow *> delivers = nullptr;
    std::atomic<int> ended_with = 0;
    sample::work = [&](const sample::Listen_out &) {
        if (flux::running_flow->position() != sample::node_Begin) {
            return;
        }
        if (flux::running_flow->id() == 1) {
            delivers = flux::running_flow;
            ended_with = flux::feeds::of_running_io().deliver();
        } else {
            await_parked([&] { return delivers != nullptr; });
            publish(flux::feeds::of_running_io());
            delivers.load()->cancel();
        }
    };
    sample::listen = sample::flows(2, [](int) { return sample::Listen_out{2, 2, -1}; });
    const std::size_t workers = kind == strategy_kind::event ? 1 : 2;
    sample::running_source running(sample::program, sample::source_Listen, kind, 2, workers);
    running.await_finished(2);
    EXPECT_EQ(ended_with, ECANCELED);
}

class FeedByStrategy : public testing::TestWithParam<strategy_kind>
{
};

TEST_P(FeedByStrategy, WhatIsPutComesInOrder)
{
    while_delivered(GetParam(), [](flux::feeds &by) {
        client to(1000);
        const auto one = std::make_shared<flux::feed>(by, to, 100);
        EXPECT_TRUE(one->put("some"));
        EXPECT_TRUE(one->put(" news"));
        to.await_heard("some news");
    });
}

TEST_P(FeedByStrategy, WhoIsSlowIsTriedAgainAndHoldsUpNobody)
{
    while_delivered(GetParam(), [](flux::feeds &by) {
        client slow(3);
        client fast(1000);
        const auto first = std::make_shared<flux::feed>(by, slow, 100);
        const auto second = std::make_shared<flux::feed>(by, fast, 100);
        EXPECT_TRUE(first->put("some news"));
        EXPECT_TRUE(second->put("others"));
        fast.await_heard("others");
        slow.await_heard("some news");
    });
}

TEST_P(FeedByStrategy, WhoIsTooFarBehindIsCutOff)
{
    while_delivered(GetParam(), [](flux::feeds &by) {
        client deaf(0);
        const auto one = std::make_shared<flux::feed>(by, deaf, 10);
        EXPECT_TRUE(one->put("123456789"));
        EXPECT_FALSE(one->put("ab"));
        EXPECT_FALSE(one->is_open());
        EXPECT_FALSE(one->put("a"));
        deaf.await_cut();
    });
}

INSTANTIATE_TEST_SUITE_P(Feed, FeedByStrategy,
                         testing::Values(strategy_kind::thread, strategy_kind::pool, strategy_kind::event),
                         [](const auto &kind) { return std::string(flux::strategy_name(kind.param)); });

} // namespace
