#include "flux/flow/state_changes.hpp"

#include "flux/flow/flow.hpp"

#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>

namespace {

using flux::outcome;
using flux::state_changes;

std::string undone;

/// A change that has a letter.
class change final : public flux::state_change
{
  public:
    explicit change(char letter) : letter_(letter) {}
    void undo() noexcept override { undone += letter_; }

  private:
    const char letter_;
};

void note(flux::flow &of, const std::string &letters)
{
    for (const char letter : letters) {
        ASSERT_NE(of.changes(), nullptr);
        of.changes()->add(std::make_unique<change>(letter));
    }
}

class StateChanges : public testing::Test
{
  protected:
    void SetUp() override { undone.clear(); }

    flux::flow flow;
};

TEST_F(StateChanges, AreUndoneFromTheLastWhereTheNodeDoesNotEndAsDone)
{
    for (const outcome exit : {outcome::failed, outcome::ended}) {
        undone.clear();
        {
            const state_changes changes(flow, exit);
            note(flow, "abc");
        }
        EXPECT_EQ(undone, "cba");
        EXPECT_EQ(flow.changes(), nullptr);
    }
}

TEST_F(StateChanges, StayWhereTheNodeIsDone)
{
    {
        const outcome exit = outcome::done;
        const state_changes changes(flow, exit);
        note(flow, "abc");
    }
    EXPECT_EQ(undone, "");
}

TEST_F(StateChanges, OfANodeInsideAreUndoneWithTheNodeAround)
{
    outcome outer = outcome::failed;
    {
        const state_changes around(flow, outer);
        note(flow, "a");
        {
            const outcome inner = outcome::done;
            const state_changes inside(flow, inner);
            note(flow, "bc");
        }
        EXPECT_EQ(undone, "");
        {
            const outcome inner = outcome::failed;
            const state_changes inside(flow, inner);
            note(flow, "de");
        }
        EXPECT_EQ(undone, "ed") << "those of the node that failed alone";
        {
            const outcome inner = outcome::done;
            const state_changes inside(flow, inner);
        }
        note(flow, "f");
    }
    EXPECT_EQ(undone, "edfcba");
}

TEST_F(StateChanges, AreNotedByBranchesOnManyThreads)
{
    constexpr int threads = 4;
    constexpr int rounds = 2000;
    {
        const outcome exit = outcome::failed;
        state_changes changes(flow, exit);
        std::vector<std::thread> all;
        for (int thread = 0; thread < threads; ++thread) {
            all.emplace_back([&, thread] {
                for (int round = 0; round < rounds; ++round) {
                    changes.add(std::make_unique<change>(static_cast<char>('a' + thread)));
                }
            });
        }
        for (std::thread &thread : all) {
            thread.join();
        }
    }
    EXPECT_EQ(undone.size(), static_cast<std::size_t>(threads) * rounds);
}

TEST_F(StateChanges, AreAsManyAsTheyAre)
{
    {
        const outcome exit = outcome::done;
        const state_changes changes(flow, exit);
        note(flow, std::string(200'000, 'a'));
    }
    EXPECT_EQ(undone, "") << "and the end of so long a list is no deep recursion";
}

} // namespace
