#include "flux/io/accept_policy.hpp"

#include "../support/seeds.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using policy = flux::accept_policy;

/// Loops that accept from one listener in a world of its own: what runs when, who is notified and how long a node holds
/// its loop is drawn. Loops do what `loop_arrivals` does.
class loops
{
  public:
    struct loop {
        policy::member number = 0;
        /// How many flows its source may start yet.
        int room = 0;
        /// A node holds it until then: it does nothing, and sees nothing.
        flux::moment held_until = flux::moment::min();
        /// Its source waits, until then at most; else it is at its bound.
        bool waits = false;
        flux::moment asks_at = flux::never;
        bool was_woken = false;
        bool stopped = false;
        bool idle = false;
        bool watches = true;
        /// Its source gathers, and has so many.
        bool gathers = false;
        std::size_t gathered = 0;
    };

    /// Where there are groups of more than one, a flow is one of a group.
    loops(std::size_t count, std::uint64_t seed, int room = 1'000'000, std::size_t group = 1)
        : dice_(seed), group_(group), all_(count)
    {
        for (loop &each : all_) {
            each.number = policy_.join();
            each.room = room;
        }
        settle();
    }

    std::size_t draw(std::size_t bound) { return std::uniform_int_distribution<std::size_t>(0, bound - 1)(dice_); }
    flux::moment now() const { return now_; }
    loop &at(std::size_t number) { return all_[number]; }
    std::size_t size() const { return all_.size(); }
    int backlog() const { return backlog_; }
    std::size_t connections(std::size_t of) const { return policy_.connections(of); }
    bool is_held(const loop &which) const { return which.held_until > now_; }

    /// Somebody comes: the kernel notifies one of those that wait for events; all where none does. Where nobody watches
    /// the next server is notified.
    void connect()
    {
        ++backlog_;
        std::vector<loop *> asleep;
        std::vector<loop *> watching;
        for (loop &each : all_) {
            if (each.watches) {
                watching.push_back(&each);
                if (!is_held(each) && each.idle) {
                    asleep.push_back(&each);
                }
            }
        }
        if (watching.empty()) {
            ++of_next_server_;
        } else if (asleep.empty()) {
            notified_.insert(notified_.end(), watching.begin(), watching.end());
        } else {
            notified_.push_back(asleep[draw(asleep.size())]);
        }
    }

    void close(std::size_t of)
    {
        policy_.closed(of);
        all_[of].room += 1;
        all_[of].was_woken = true; // its source goes on, where it was at its bound
    }

    void hold(std::size_t which, flux::clock::duration time) { all_[which].held_until = now_ + time; }

    /// The source gives up what it gathers, and begins anew.
    void give_up(std::size_t of)
    {
        loop &own = all_[of];
        takers_.resize(takers_.size() - own.gathered);
        own.gathered = 0;
        end_gathering(own);
        own.was_woken = true;
    }

    /// Who has accepted each peer, in order; without those of groups that were given up.
    const std::vector<std::size_t> &takers() const { return takers_; }

    /// How many have come of whom no loop here was notified.
    int of_next_server() const { return of_next_server_; }

    /// One that can does what it has to; false where none has to.
    bool step()
    {
        std::vector<loop *> ready;
        for (loop &each : all_) {
            if (!is_held(each) && has_work(each)) {
                ready.push_back(&each);
            }
        }
        if (!ready.empty()) {
            turn(*ready[draw(ready.size())]);
        }
        return !ready.empty();
    }

    void drain()
    {
        drains_ = true;
        policy_.drain();
        wake_all();
    }

    /// What the watchdog does while it sees a loop held.
    void look()
    {
        policy_.notify();
        wake_all();
    }

    void pass(flux::clock::duration time)
    {
        const flux::moment end = now_ + time;
        while (true) {
            settle();
            flux::moment next = end;
            for (const loop &each : all_) {
                next = std::min({next, std::max(each.waits ? each.asks_at : flux::never, each.held_until),
                                 is_held(each) ? each.held_until : flux::never});
            }
            if (next >= end || next <= now_) {
                now_ = end;
                settle();
                return;
            }
            now_ = next;
        }
    }

    /// Each that can does what it has to, in any order, until none has.
    void settle()
    {
        for (int turns = 0; turns < 10'000; ++turns) {
            if (!step()) {
                return;
            }
        }
        ADD_FAILURE() << "they never come to rest";
    }

  private:
    bool has_work(const loop &of) const
    {
        const bool is_notified = std::ranges::find(notified_, &of) != notified_.end();
        return is_notified || of.was_woken || !of.idle || (of.waits && of.asks_at <= now_);
    }

    void turn(loop &own)
    {
        own.idle = false;
        const bool is_notified = std::erase(notified_, &own) != 0;
        if (is_notified) {
            policy_.notify();
        }
        const bool is_to_ask = own.was_woken || is_notified || own.asks_at <= now_ || !own.waits;
        if (std::exchange(own.was_woken, false) && drains_) {
            watch_no_more(own);
        }
        if (own.room == 0 || own.stopped) {
            own.waits = false;
            ring(policy_.full(own.number, now_));
            own.idle = true;
            return;
        }
        if (!is_to_ask) {
            own.idle = true;
            return;
        }
        if (group_ != 1 && !std::exchange(own.gathers, true)) {
            policy_.gather(own.number, true);
        }
        const policy::decision made = policy_.ask(own.number, now_);
        ring(made.rings);
        own.waits = made.what == policy::verdict::wait;
        own.asks_at = made.until;
        own.idle = own.waits;
        own.stopped = made.what == policy::verdict::stopped;
        if (made.drains) {
            watch_no_more(own);
        }
        if (made.what == policy::verdict::accept) {
            try_to_accept(own);
        }
    }

    void watch_no_more(loop &own)
    {
        if (std::exchange(own.watches, false)) {
            std::erase(notified_, &own);
            wake_all_if(policy_.unwatched(own.number));
        }
    }

    void try_to_accept(loop &own)
    {
        ASSERT_GT(own.room, 0) << "nobody is accepted at the bound";
        if (backlog_ == 0) {
            wake_all_if(policy_.found_none(own.number));
            return;
        }
        --backlog_;
        policy_.accepted(own.number);
        takers_.push_back(own.number);
        if (++own.gathered < group_) {
            return;
        }
        own.gathered = 0;
        --own.room;
        end_gathering(own);
        if (hold_after_accepting > 0 && draw(100) < hold_after_accepting) {
            hold(own.number, std::chrono::milliseconds(1 + draw(50)));
        }
    }

    void end_gathering(loop &own)
    {
        if (std::exchange(own.gathers, false)) {
            wake_all_if(policy_.gather(own.number, false));
        }
    }

    void wake_all()
    {
        for (loop &each : all_) {
            each.was_woken = true;
        }
    }

    void wake_all_if(bool are_rung)
    {
        if (are_rung) {
            wake_all();
        }
    }

    void ring(std::optional<policy::member> whom)
    {
        if (whom) {
            all_[*whom].was_woken = true;
        }
    }

  public:
    /// How often, of a hundred, a flow that begins holds its loop.
    std::size_t hold_after_accepting = 0;

  private:
    std::mt19937_64 dice_;
    policy policy_;
    flux::moment now_ = flux::moment() + 1h;
    int backlog_ = 0;
    int of_next_server_ = 0;
    bool drains_ = false;
    const std::size_t group_;
    std::vector<std::size_t> takers_;
    std::vector<loop> all_;
    std::vector<loop *> notified_;
};

constexpr std::uint64_t seeds = 300;

/// The most and the fewest connections of a loop differ by so many.
std::size_t spread(const loops &of)
{
    std::size_t fewest = of.connections(0);
    std::size_t most = fewest;
    for (std::size_t each = 1; each < of.size(); ++each) {
        fewest = std::min(fewest, of.connections(each));
        most = std::max(most, of.connections(each));
    }
    return most - fewest;
}

TEST(AcceptPolicy, WhoeverComesOneByOneIsSpreadEvenly)
{
    for (const std::uint64_t seed : each_seed(seeds)) {
        loops world(1 + seed % 8, seed);
        for (int number = 0; number < 40; ++number) {
            world.connect();
            world.settle();
            ASSERT_EQ(world.backlog(), 0);
            ASSERT_LE(spread(world), 1u);
        }
    }
}

TEST(AcceptPolicy, NewPeersFillUpWhereOthersHaveGone)
{
    for (const std::uint64_t seed : each_seed(seeds)) {
        loops world(4, seed);
        for (int number = 0; number < 40; ++number) {
            world.connect();
            world.settle();
        }
        const std::size_t emptied = world.draw(4);
        for (int number = 0; number < 10; ++number) {
            world.close(emptied);
        }
        for (int number = 0; number < 10; ++number) {
            world.connect();
            world.settle();
        }
        ASSERT_EQ(spread(world), 0u);
    }
}

TEST(AcceptPolicy, ACrowdThatComesAtOnceIsSpreadToo)
{
    for (const std::uint64_t seed : each_seed(seeds)) {
        loops world(4, seed);
        for (int number = 0; number < 40; ++number) {
            world.connect();
        }
        world.settle();
        ASSERT_EQ(world.backlog(), 0);
        ASSERT_LE(spread(world), 1u);
    }
}

/// Nobody waits at the listener while a loop that has room is idle, though flows hold loops for long, loops come to
/// their bound, and the kernel notifies those that cannot accept. Where a loop is held it may take a moment.
TEST(AcceptPolicy, NobodyWaitsWhileALoopThatHasRoomIsIdle)
{
    for (const std::uint64_t seed : each_seed(seeds)) {
        loops world(2 + seed % 4, seed, 1 + static_cast<int>(seed % 5));
        world.hold_after_accepting = seed % 3 == 0 ? 30 : 0;
        for (int step = 0; step < 100; ++step) {
            switch (world.draw(5)) {
            case 0:
            case 1:
                world.connect();
                break;
            case 2: {
                const std::size_t of = world.draw(world.size());
                if (world.connections(of) != 0 && !world.is_held(world.at(of))) {
                    world.close(of);
                }
                break;
            }
            case 3:
                world.hold(world.draw(world.size()), std::chrono::milliseconds(world.draw(30)));
                break;
            default:
                world.pass(std::chrono::milliseconds(world.draw(5)));
            }
            // The watchdog looks again and again while a loop is held; then a moment is enough for each who waits.
            const auto enough = policy::patience * static_cast<int>(world.size() + 1);
            for (int look = world.backlog(); look >= 0; --look) {
                world.look();
                world.pass(enough);
            }
            for (std::size_t each = 0; each < world.size(); ++each) {
                const bool may = world.at(each).held_until + enough <= world.now() && world.at(each).room > 0;
                ASSERT_FALSE(may && world.backlog() > 0) << "step " << step;
            }
        }
    }
}

/// Without the watchdog: whoever is notified while no node holds a loop.
TEST(AcceptPolicy, NobodyNeedsTheWatchdogWhileNoLoopIsHeld)
{
    for (const std::uint64_t seed : each_seed(seeds)) {
        loops world(2 + seed % 4, seed, 1 + static_cast<int>(seed % 3));
        for (int step = 0; step < 200; ++step) {
            const std::size_t of = world.draw(world.size());
            if (world.draw(2) == 0) {
                world.connect();
            } else if (world.connections(of) != 0) {
                world.close(of);
            }
            if (world.draw(3) == 0) {
                world.settle();
                for (std::size_t each = 0; each < world.size(); ++each) {
                    ASSERT_FALSE(world.at(each).room > 0 && world.backlog() > 0);
                }
            }
        }
    }
}

TEST(AcceptPolicy, OneThatIsHeldIsWaitedForAMomentAndNoLonger)
{
    loops world(2, 1);
    world.hold(1, 10s);
    for (int number = 0; number < 5; ++number) {
        world.connect();
        world.pass(2 * policy::patience);
        EXPECT_EQ(world.backlog(), 0);
    }
    EXPECT_EQ(world.connections(0), 5u);
    world.pass(10s);
    for (int number = 0; number < 5; ++number) {
        world.connect();
        world.settle();
    }
    EXPECT_EQ(world.connections(1), 5u) << "it has room again";
}

TEST(AcceptPolicy, ADrainTakesThoseWhoWaitAndNobodyLater)
{
    for (const std::uint64_t seed : each_seed(seeds)) {
        loops world(1 + seed % 4, seed);
        const std::size_t waiting = world.draw(10);
        for (std::size_t number = 0; number < waiting; ++number) {
            world.connect();
        }
        world.drain();
        world.settle();
        ASSERT_EQ(world.backlog(), 0);
        for (std::size_t each = 0; each < world.size(); ++each) {
            ASSERT_TRUE(world.at(each).stopped);
        }
        world.connect();
        world.look();
        world.pass(1s);
        ASSERT_EQ(world.backlog(), 1) << "that one waits for the next server";
    }
}

/// A loop at its bound may have been notified of a peer and then stop watching: another that has room takes that one,
/// as nobody will be notified again.
TEST(AcceptPolicy, InADrainALoopWithRoomTakesThoseOfWhomAFullOneWasNotified)
{
    int full = 0;
    for (const std::uint64_t seed : each_seed(10 * seeds)) {
        loops world(2 + seed % 3, seed, 1 + static_cast<int>(seed % 4));
        const std::size_t before = world.draw(8);
        for (std::size_t number = 0; number < before; ++number) {
            world.connect();
            world.settle();
        }
        world.drain();
        for (bool goes_on = true; goes_on;) {
            if (world.draw(3) == 0) {
                world.connect();
            }
            goes_on = world.step();
        }
        bool any_has_room = false;
        for (std::size_t each = 0; each < world.size(); ++each) {
            any_has_room = any_has_room || world.at(each).room > 0;
            full += world.at(each).room == 0 ? 1 : 0;
            ASSERT_FALSE(world.at(each).watches);
        }
        ASSERT_FALSE(any_has_room && world.backlog() > world.of_next_server());
    }
    EXPECT_GT(full, 100) << "else it has tried nothing";
}

/// Whether each so many, one after the other, are of one loop.
bool are_of_groups(const std::vector<std::size_t> &takers, std::size_t group)
{
    for (std::size_t each = 0; each < takers.size(); ++each) {
        if (takers[each] != takers[each - each % group]) {
            return false;
        }
    }
    return true;
}

/// Whatever is held, at its bound or given up in the middle, nobody else accepts in a turn; and all turns end.
TEST(AcceptPolicy, WhoGathersAcceptsAloneUntilItsGroupIsWhole)
{
    std::size_t accepted = 0;
    each_seed all(seeds);
    for (const std::uint64_t seed : all) {
        const std::size_t group = 2 + seed % 5;
        loops world(1 + seed % 5, seed, 1 + static_cast<int>(seed % 7), group);
        world.hold_after_accepting = seed % 3 == 0 ? 30 : 0;
        for (int step = 0; step < 150; ++step) {
            const std::size_t of = world.draw(world.size());
            switch (world.draw(8)) {
            case 0:
                world.hold(of, std::chrono::milliseconds(world.draw(30)));
                break;
            case 1:
                if (world.at(of).gathered != 0 && !world.is_held(world.at(of))) {
                    world.give_up(of);
                }
                break;
            case 2:
                if (world.connections(of) > world.at(of).gathered && !world.is_held(world.at(of))) {
                    world.close(of);
                }
                break;
            case 3:
                world.pass(std::chrono::milliseconds(world.draw(5)));
                break;
            default:
                world.connect();
                if (world.draw(2) == 0) {
                    world.step();
                }
            }
        }
        world.pass(1s);
        std::size_t room = 0;
        for (std::size_t each = 0; each < world.size(); ++each) {
            room += world.at(each).room > 0 ? 1 : 0;
        }
        ASSERT_FALSE(room > 0 && world.backlog() > 0);
        ASSERT_TRUE(are_of_groups(world.takers(), group));
        accepted += world.takers().size();
    }
    EXPECT_GT(accepted, 20 * all.count()) << "else it has tried nothing";
}

TEST(AcceptPolicy, GroupsAreSpreadEvenly)
{
    for (const std::uint64_t seed : each_seed(seeds)) {
        loops world(4, seed, 1'000'000, 5);
        for (int number = 0; number < 40; ++number) {
            world.connect();
            if (seed % 2 == 0) {
                world.settle();
            }
        }
        world.settle();
        ASSERT_EQ(world.backlog(), 0);
        ASSERT_EQ(spread(world), 0u);
    }
}

/// It may only wait for a processor, and has the whole group to itself then.
TEST(AcceptPolicy, OneThatGathersIsWaitedForLonger)
{
    loops world(2, 1, 1'000'000, 2);
    world.connect();
    world.settle();
    world.connect();
    world.settle();
    const std::size_t other = world.connections(0) == 0 ? 0 : 1;
    world.hold(other, policy::patience_to_gather / 2);
    world.connect();
    world.connect();
    world.pass(policy::patience_to_gather);
    EXPECT_EQ(world.connections(other), 2u);
    world.close(other);
    world.close(other);
    world.hold(other, 10s);
    world.connect();
    world.pass(2 * policy::patience_to_gather);
    EXPECT_EQ(world.backlog(), 0) << "and no longer";
}

/// Who was gathering may have a part of a group then, and nobody else has.
TEST(AcceptPolicy, ADrainEndsTurnsAndTakesThoseWhoWait)
{
    for (const std::uint64_t seed : each_seed(10 * seeds)) {
        const std::size_t group = 2 + seed % 4;
        loops world(1 + seed % 4, seed, 1'000'000, group);
        const std::size_t before = world.draw(10);
        for (std::size_t number = 0; number < before; ++number) {
            world.connect();
            world.draw(2) == 0 ? world.settle() : static_cast<void>(world.step());
        }
        world.drain();
        world.settle();
        ASSERT_EQ(world.backlog(), 0);
        ASSERT_TRUE(are_of_groups(world.takers(), group));
        for (std::size_t each = 0; each < world.size(); ++each) {
            ASSERT_TRUE(world.at(each).stopped) << "loop " << each;
            ASSERT_FALSE(world.at(each).watches);
        }
        world.connect();
        world.look();
        world.pass(1s);
        ASSERT_EQ(world.backlog(), 1) << "that one waits for the next server";
    }
}

TEST(AcceptPolicy, WhereNobodyCanBeAcceptedAllWaitTheSameTime)
{
    policy own;
    const policy::member one = own.join();
    const policy::member two = own.join();
    const flux::moment now = flux::moment() + 1h;
    own.notify();
    ASSERT_EQ(own.ask(one, now).what, policy::verdict::accept);
    own.failed(now);
    EXPECT_EQ(own.ask(one, now).until, now + policy::backoff);
    EXPECT_EQ(own.ask(two, now + 1ms).until, now + policy::backoff);
    EXPECT_EQ(own.ask(two, now + policy::backoff).what, policy::verdict::accept);
    EXPECT_EQ(own.full(one, now), std::nullopt) << "the other one is at it";
    own.notify();
    EXPECT_EQ(own.full(one, now), two);
    EXPECT_EQ(own.leave(two, now), std::nullopt) << "nobody has room";
}

TEST(AcceptPolicy, OneAtItsBoundHandsOnToTheOneWithTheFewest)
{
    policy tested;
    for (policy::member number = 0; number < 4; ++number) {
        EXPECT_EQ(tested.join(), number);
        for (policy::member times = 0; times < 4 - number; ++times) {
            tested.accepted(number);
        }
        tested.ask(number, flux::moment());
    }
    tested.notify();
    EXPECT_EQ(tested.full(3, flux::moment()), 2u);
    EXPECT_EQ(tested.full(0, flux::moment()), 1u) << "who was rung will look, but may be late";
    EXPECT_EQ(tested.full(1, flux::moment()), std::nullopt);
}

TEST(AcceptPolicy, OneThatGoesHandsOnWhatItWasNotifiedOf)
{
    policy tested;
    const policy::member goes = tested.join();
    const policy::member stays = tested.join();
    tested.ask(goes, flux::moment());
    tested.ask(stays, flux::moment());
    tested.notify();
    EXPECT_EQ(tested.leave(goes, flux::moment()), stays);
    EXPECT_EQ(tested.ask(stays, flux::moment()).what, policy::verdict::accept);
}

} // namespace
