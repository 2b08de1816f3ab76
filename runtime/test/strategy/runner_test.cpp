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
        const flux::flow ended;
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

} // namespace
