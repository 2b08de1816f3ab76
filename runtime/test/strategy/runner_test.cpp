#include "flux/strategy/runner.hpp"

#include "flux/flow/flow.hpp"
#include "../support/sample_program.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>

namespace {

/// Flows start on the first runner and end on the last, as those of a source and a pool do. Between them are many.
class runners_in_use
{
  public:
    runners_in_use()
    {
        for (int other = 0; other < 500; ++other) {
            all.borrow();
        }
        ending_ = all.borrow();
    }

    void run_one() noexcept
    {
        starting_.counts().started(0);
        const flux::flow ended{};
        ending_->counts().finished(0, ended, flux::outcome::done);
    }

    flux::runners all{sample::program};

  private:
    flux::runner &starting_ = *all.borrow();
    flux::runner *ending_ = nullptr;
};

TEST(Runner, NoMoreFlowsHaveEndedThanHaveStarted)
{
    runners_in_use runners;
    std::atomic<bool> is_over{false};
    std::thread flows([&] {
        for (int flow = 0; flow < 50'000; ++flow) {
            runners.run_one();
        }
        is_over = true;
    });
    for (int look = 0; !is_over; ++look) {
        const flux::source_counts counts = runners.all.total().of_source(0);
        EXPECT_LE(counts.all_finished(), counts.started) << "look " << look;
        EXPECT_LE(runners.all.flows_in_progress(), 50'000u) << "look " << look;
    }
    flows.join();
    EXPECT_EQ(runners.all.flows_in_progress(), 0u);
}

TEST(Runner, IsUsedAgainAndKeepsItsCounts)
{
    flux::runners all(sample::program);
    flux::runner *const first = all.borrow();
    first->counts().started(0);
    all.give_back(*first);
    EXPECT_EQ(all.borrow(), first);
    EXPECT_NE(all.borrow(), first);
    EXPECT_EQ(all.total().of_source(0).started, 1u);
}

/// Where somebody who comes to wait can come in while the thread looks whether anybody does: before it looks, before
/// and after what each of its looks finds, and later.
constexpr int places = 6;

TEST(Runner, WhoComesToWaitBetweenTwoLooksIsSeen)
{
    for (const bool was_crowded : {false, true}) {
        for (int comes_at = 0; comes_at < places; ++comes_at) {
            for (int says_so_at = comes_at; says_so_at < places; ++says_so_at) {
                flux::runner own(sample::program);
                bool somebody = false;
                const auto other_at = [&](int place) {
                    somebody = somebody || place == comes_at;
                    if (place == says_so_at) {
                        own.set_crowded();
                    }
                };
                if (was_crowded) {
                    own.set_crowded();
                }
                int next = 0;
                const auto other_goes_on_to = [&](int last) {
                    while (next <= last) {
                        other_at(next++);
                    }
                };
                other_goes_on_to(0);
                own.update_crowded([&] {
                    other_goes_on_to(next);
                    const bool found = somebody;
                    other_goes_on_to(next);
                    return found;
                });
                other_goes_on_to(places - 1);
                EXPECT_TRUE(own.crowded()) << "comes at " << comes_at << ", says so at " << says_so_at;
            }
        }
    }
}

TEST(Runner, IsCrowdedAsLongAsOthersWait)
{
    flux::runner own(sample::program);
    EXPECT_FALSE(own.crowded());
    own.update_crowded([] { return true; });
    EXPECT_TRUE(own.crowded());
    own.update_crowded([] { return true; });
    EXPECT_TRUE(own.crowded());
    own.update_crowded([] { return false; });
    EXPECT_FALSE(own.crowded());
}

} // namespace
