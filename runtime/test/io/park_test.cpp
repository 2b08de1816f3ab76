#include "flux/io/park.hpp"

#include "../support/running_source.hpp"
#include "../support/patience.hpp"

#include <cerrno>
#include <gtest/gtest.h>
#include <list>
#include <random>
#include <vector>

namespace {

using namespace std::chrono_literals;
using flux::park;
using flux::park_end;
using flux::park_reason;
using flux::strategy_kind;
using sample::running_source;

TEST(Park, HasAnErrorForEachEnd)
{
    EXPECT_EQ(flux::error_of(park_end::completed), 0);
    EXPECT_EQ(flux::error_of(park_end::timed_out), ETIMEDOUT);
    EXPECT_EQ(flux::error_of(park_end::cancelled), ECANCELED);
}

class EachRuntimesPark : public testing::TestWithParam<strategy_kind>
{
  protected:
    /// Runs so many flows that each do this, up to `in_progress` at a time.
    static void in_flows(int count, std::size_t in_progress, std::function<void(flux::flow &)> action)
    {
        sample::work = [=](const sample::Listen_out &) {
            if (flux::running_flow->position() == sample::node_Begin) {
                action(*flux::running_flow);
            }
        };
        sample::listen = sample::flows(count, [](int) { return sample::Listen_out{2, 2, -1}; });
        running_source running(sample::program, sample::source_Listen, GetParam(), in_progress, 4);
        running.await_finished(static_cast<std::uint64_t>(count));
    }

    /// Does this in one flow.
    static void in_a_flow(std::function<void(flux::flow &)> action) { in_flows(1, 1, std::move(action)); }
};

/// Does this on another thread, a little later.
std::thread soon(std::function<void()> action)
{
    return std::thread([=] {
        dawdle(10ms);
        action();
    });
}

TEST_P(EachRuntimesPark, EndsAsTheFirstSays)
{
    in_a_flow([](flux::flow &flow) {
        park ended_before(flow, park_reason::flow);
        EXPECT_TRUE(ended_before.end(park_end::completed));
        EXPECT_FALSE(ended_before.end(park_end::timed_out));
        EXPECT_EQ(ended_before.wait(), park_end::completed);
        for (const park_end how : {park_end::completed, park_end::timed_out, park_end::cancelled}) {
            park ended_later(flow, park_reason::flow);
            std::thread other = soon([&] { EXPECT_TRUE(ended_later.end(how)); });
            EXPECT_EQ(ended_later.wait(in(await_limit)), how);
            EXPECT_FALSE(ended_later.end(park_end::completed));
            other.join();
        }
        EXPECT_FALSE(flow.cancelled()) << "one park was, not the flow";
    });
}

TEST_P(EachRuntimesPark, EndsAtItsDeadlineOrThatOfItsFlow)
{
    in_a_flow([](flux::flow &flow) {
        const flux::moment first = in(10ms);
        EXPECT_EQ(park(flow, park_reason::flow).wait(first), park_end::timed_out);
        EXPECT_TRUE(has_come(first));
        const flux::moment second = in(10ms);
        flow.set_deadline(second);
        EXPECT_EQ(park(flow, park_reason::flow).wait(second + 1h), park_end::timed_out);
        EXPECT_TRUE(has_come(second));
        EXPECT_EQ(park(flow, park_reason::flow).wait(), park_end::timed_out);
    });
}

TEST_P(EachRuntimesPark, EndsWhenItsFlowIsCancelledAndIsTheLast)
{
    in_a_flow([](flux::flow &flow) {
        std::thread other = soon([&] { flow.cancel(); });
        EXPECT_EQ(park(flow, park_reason::flow).wait(), park_end::cancelled);
        other.join();
        EXPECT_TRUE(flow.cancelled());
        EXPECT_EQ(park(flow, park_reason::flow).wait(), park_end::cancelled);
        flow.cancel();
        park completed(flow, park_reason::flow);
        EXPECT_TRUE(completed.end(park_end::completed));
        EXPECT_EQ(completed.wait(), park_end::completed) << "it had ended before it began";
    });
}

TEST_P(EachRuntimesPark, AFlowThatBeginsIsNotCancelled)
{
    in_flows(3, 1, [](flux::flow &flow) {
        EXPECT_FALSE(flow.cancelled());
        EXPECT_EQ(flow.deadline(), flux::never);
        flow.set_deadline(in(0ms));
        flow.cancel();
    });
}

/// Parks that somebody else may end. What is in here has not gone on.
class parks
{
  public:
    struct one {
        park *waiting;
        bool completed = false;
    };

    std::list<one>::iterator add(park &waiting)
    {
        const std::lock_guard alone(lock_);
        return open_.insert(open_.end(), {&waiting});
    }

    /// Whether it was completed.
    bool remove(std::list<one>::iterator which)
    {
        const std::lock_guard alone(lock_);
        const bool completed = which->completed;
        open_.erase(which);
        return completed;
    }

    /// Completes one, if it has not ended.
    void complete_one(std::size_t which)
    {
        const std::lock_guard alone(lock_);
        if (!open_.empty()) {
            one &chosen = *std::next(open_.begin(), static_cast<std::ptrdiff_t>(which % open_.size()));
            chosen.completed = chosen.waiting->end(park_end::completed) || chosen.completed;
        }
    }

  private:
    std::mutex lock_;
    std::list<one> open_;
};

/// The flows that were seen. They exist as long as their source, and are used again and again.
class seen_flows
{
  public:
    void add(flux::flow &flow)
    {
        const std::lock_guard alone(lock_);
        all_.push_back(&flow);
    }

    void cancel_one(std::size_t which)
    {
        const std::lock_guard alone(lock_);
        if (!all_.empty()) {
            all_[which % all_.size()]->cancel();
        }
    }

    void clear()
    {
        const std::lock_guard alone(lock_);
        all_.clear();
    }

  private:
    std::mutex lock_;
    std::vector<flux::flow *> all_;
};

/// Does this over and over on a thread, with random numbers.
class restless
{
  public:
    explicit restless(std::function<void(std::size_t)> does)
        : thread_([this, does] {
              std::mt19937 random(1);
              while (!ended_) {
                  does(random());
                  dawdle(std::chrono::microseconds(random() % 100));
              }
          })
    {
    }
    ~restless()
    {
        ended_ = true;
        thread_.join();
    }

  private:
    std::atomic<bool> ended_{false};
    std::thread thread_;
};

TEST_P(EachRuntimesPark, OneOfThoseThatRaceToEndItDoes)
{
    constexpr int flows = 1500;
    parks open;
    seen_flows seen;
    std::array<std::atomic<int>, 3> ends{};
    {
        const restless completer([&](std::size_t random) { open.complete_one(random); });
        const restless canceller([&](std::size_t random) { seen.cancel_one(random); });
        in_flows(flows, 32, [&](flux::flow &flow) {
            if (flow.id() <= 32) {
                seen.add(flow);
            }
            // Some times are over at once, and some never are: so there are ends of every kind on any machine.
            const auto tenth = flow.id() % 10;
            const flux::moment deadline = tenth > 7 ? flux::never : in(std::chrono::microseconds(tenth * 300));
            park waiting(flow, park_reason::flow);
            const auto entry = open.add(waiting);
            const park_end end = waiting.wait(deadline);
            EXPECT_EQ(open.remove(entry), end == park_end::completed);
            EXPECT_TRUE(end != park_end::cancelled || flow.cancelled());
            EXPECT_TRUE(end != park_end::timed_out || has_come(deadline));
            EXPECT_FALSE(flow.place().wait_until(flux::moment())) << "it was woken twice";
            ++ends[static_cast<std::size_t>(end)];
            if (flow.id() > flows - 32) {
                seen.clear(); // the source ends soon
            }
        });
    }
    for (const std::atomic<int> &count : ends) {
        EXPECT_GT(count, 0);
    }
}

std::string name_of(const testing::TestParamInfo<strategy_kind> &tested)
{
    return flux::strategy_name(tested.param);
}

INSTANTIATE_TEST_SUITE_P(Park, EachRuntimesPark,
                         testing::Values(strategy_kind::thread, strategy_kind::pool, strategy_kind::event), name_of);

} // namespace
