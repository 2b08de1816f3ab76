#include "flux/event/scheduler.hpp"

#include "../support/seeds.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <vector>

namespace {

using flux::work;

constexpr std::array all_classes{work::woken, work::branch, work::made, work::started, work::gave_way};

/// Every set of classes.
std::vector<flux::work_set> all_sets()
{
    std::vector<flux::work_set> sets;
    for (unsigned bits = 0; bits < 1U << all_classes.size(); ++bits) {
        flux::work_set &set = sets.emplace_back();
        for (const work each : all_classes) {
            set.add(each, (bits >> static_cast<unsigned>(each)) % 2 != 0);
        }
    }
    return sets;
}

/// Every state that a scheduler can come into, whatever can run at each turn.
std::vector<flux::scheduler> all_states()
{
    std::vector<flux::scheduler> states(1);
    for (std::size_t known = 0; known < states.size(); ++known) {
        for (const flux::work_set set : all_sets()) {
            flux::scheduler after = states[known];
            after.next(set);
            if (std::ranges::find(states, after) == states.end()) {
                states.push_back(after);
            }
        }
    }
    return states;
}

/// The most turns until `waiting` has its own, from any state, where it can run at each turn, and whatever else can.
unsigned longest_wait(work waiting)
{
    std::vector<flux::scheduler> states = all_states(); // those in which it may still wait
    unsigned turns = 0;
    while (!states.empty() && turns <= 100) {
        ++turns;
        std::vector<flux::scheduler> without;
        for (const flux::scheduler &each : states) {
            for (const flux::work_set set : all_sets()) {
                flux::scheduler after = each;
                const bool waits = set.has(waiting) && after.next(set) != waiting;
                if (waits && std::ranges::find(without, after) == without.end()) {
                    without.push_back(after);
                }
            }
        }
        states = without;
    }
    return turns;
}

TEST(Scheduler, EveryClassThatCanRunHasItsTurnSoonWhateverElseCan)
{
    EXPECT_EQ(all_states().size(), 8u);
    EXPECT_EQ(longest_wait(work::woken), 2u);
    for (const work each : {work::branch, work::made, work::started, work::gave_way}) {
        EXPECT_EQ(longest_wait(each), flux::scheduler::longest_wait);
    }
}

TEST(Scheduler, NoClassThatCannotRunIsChosenAndAlwaysOneThatCan)
{
    for (const flux::scheduler &each : all_states()) {
        for (const flux::work_set set : all_sets()) {
            flux::scheduler after = each;
            const work chosen = after.next(set);
            EXPECT_EQ(chosen == work::nothing, set.empty());
            EXPECT_TRUE(chosen == work::nothing || set.has(chosen));
        }
    }
}

TEST(Scheduler, ClassesThatCanAlwaysRunHaveTheirShares)
{
    flux::work_set all;
    std::ranges::for_each(all_classes, [&](work each) { all.add(each); });
    flux::scheduler order;
    std::map<work, int> turns;
    for (int turn = 0; turn < 800; ++turn) {
        ++turns[order.next(all)];
    }
    EXPECT_EQ(turns, (std::map<work, int>{{work::woken, 400},
                                          {work::branch, 100},
                                          {work::made, 100},
                                          {work::started, 100},
                                          {work::gave_way, 100}}));
}

/// A loop without fibers: flows are numbers, which come, run a turn, and end or give way.
class model
{
  public:
    explicit model(std::uint64_t seed) : draw_(static_cast<unsigned>(seed)) {}

    /// Something comes, and something runs.
    void turn()
    {
        for (auto &[which, queue] : queues_) {
            if (which != work::gave_way && draw_() % 4 == 0) {
                push(which, {flows_++, turn_ + flux::scheduler::longest_wait * (queue.size() + 1), {}, {}});
            }
        }
        flux::work_set can_run;
        for (const auto &[which, queue] : queues_) {
            can_run.add(which, which != work::gave_way && !queue.empty());
        }
        std::deque<one> &yielded = queues_[work::gave_way];
        const bool due = !yielded.empty() && yielded.front().place.is_due(counts_[work::started], counts_[work::made]);
        can_run.add(work::gave_way, due || (!yielded.empty() && can_run.empty()));
        run(order_.next(can_run));
        ++turn_;
    }

  private:
    struct one {
        int number;
        // It has its turn before this one.
        std::size_t latest;
        flux::ticket place;
        // Those that waited to start when it gave way.
        std::vector<int> waited;
    };

    void push(work which, one last)
    {
        queues_[which].push_back(std::move(last));
        ++counts_[which].pushed;
    }

    void run(work which)
    {
        if (which == work::nothing) {
            return;
        }
        ASSERT_FALSE(queues_[which].empty());
        one next = queues_[which].front();
        queues_[which].pop_front();
        ++counts_[which].taken;
        if (which != work::gave_way) {
            EXPECT_LT(turn_, next.latest);
        } else {
            for (const int each : next.waited) {
                EXPECT_TRUE(has_started(each)) << next.number << " goes on before " << each;
            }
        }
        if (draw_() % 3 == 0) {
            give_way(std::move(next));
        }
    }

    void give_way(one next)
    {
        next.waited.clear();
        for (const work which : {work::started, work::made}) {
            for (const one &each : queues_[which]) {
                next.waited.push_back(each.number);
            }
        }
        next.place = flux::ticket(counts_[work::started], counts_[work::made]);
        push(work::gave_way, std::move(next));
    }

    bool has_started(int number)
    {
        const auto is_it = [number](const one &each) { return each.number == number; };
        return std::ranges::none_of(queues_[work::started], is_it) && std::ranges::none_of(queues_[work::made], is_it);
    }

    std::mt19937 draw_;
    flux::scheduler order_;
    std::map<work, std::deque<one>> queues_{
        {work::woken, {}}, {work::branch, {}}, {work::made, {}}, {work::started, {}}, {work::gave_way, {}}};
    std::map<work, flux::queue_counts> counts_;
    int flows_ = 0;
    std::size_t turn_ = 0;
};

TEST(Scheduler, EachHasItsTurnInOrderAndWhoGivesWayWhenThoseHaveStartedThatWaited)
{
    for (const std::uint64_t seed : each_seed(50)) {
        model loop(seed);
        for (int turn = 0; turn < 500; ++turn) {
            loop.turn();
        }
    }
}

TEST(Scheduler, ATicketIsDueWhenThoseHaveBeenTakenThatWaited)
{
    const flux::ticket none;
    EXPECT_TRUE(none.is_due({}, {}));
    const flux::ticket one({5, 3}, {2, 2});
    EXPECT_FALSE(one.is_due({5, 3}, {2, 2}));
    EXPECT_FALSE(one.is_due({9, 4}, {2, 2}));
    EXPECT_TRUE(one.is_due({9, 5}, {2, 2}));
    EXPECT_FALSE(flux::ticket({0, 0}, {3, 1}).is_due({4, 4}, {3, 2}));
    EXPECT_TRUE(flux::ticket({0, 0}, {3, 1}).is_due({4, 0}, {4, 3}));
}

} // namespace
