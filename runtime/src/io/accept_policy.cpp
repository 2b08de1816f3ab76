#include "flux/io/accept_policy.hpp"

#include <algorithm>
#include <utility>

namespace flux {

accept_policy::member accept_policy::join()
{
    members_.emplace_back();
    return members_.size() - 1;
}

std::optional<accept_policy::member> accept_policy::leave(member of, moment now) noexcept
{
    return full(of, now);
}

accept_policy::decision accept_policy::ask(member by, moment now) noexcept
{
    state &own = members_[by];
    own.has_room = true;
    own.is_rung = false;
    own.is_late = false;
    if (own.is_drained) {
        const bool is_first = !own.was_stopped;
        own.was_stopped = true;
        return {is_first ? verdict::stopped : verdict::wait};
    }
    const bool stops_watching = draining_ && own.watches;
    if (!pending_ && !stops_watching) {
        return {verdict::wait};
    }
    if (turn_ && *turn_ != by) {
        return await_turn(by, now, stops_watching);
    }
    if (now < not_before_) {
        return {verdict::wait, not_before_};
    }
    if (draining_) {
        own.tries_last = !any_watches();
        // Before the last look as without a drain: what comes while it tries is notified again.
        pending_ = own.tries_last;
        begin_turn(by);
        return {verdict::accept, never, std::nullopt, stops_watching};
    }
    mark_late(now);
    const member best = turn_ ? by : best_beside(by);
    if (best == by) {
        // In this order: what comes while it tries is notified again.
        pending_ = false;
        begin_turn(by);
        return {verdict::accept};
    }
    state &fewest = members_[best];
    if (fewest.is_rung) {
        return {verdict::wait, fewest.rung_at + patience};
    }
    fewest.is_rung = true;
    fewest.rung_at = now;
    return {verdict::wait, now + patience, best};
}

// That with the fewest connections which has room and is not late.
accept_policy::member accept_policy::best_beside(member by) const noexcept
{
    member best = by;
    for (member each = 0; each < members_.size(); ++each) {
        const state &other = members_[each];
        if (other.has_room && !other.is_late && other.connections < members_[best].connections) {
            best = each;
        }
    }
    return best;
}

// There may be somebody, for another, whose turn it is.
accept_policy::decision accept_policy::await_turn(member by, moment now, bool stops_watching) noexcept
{
    return {verdict::wait, never, pending_ ? ring_gatherer(by, now) : std::nullopt, stops_watching};
}

std::optional<accept_policy::member> accept_policy::ring_gatherer(member by, moment now) noexcept
{
    state &own = members_[*turn_];
    if (*turn_ == by || own.is_rung) {
        return std::nullopt;
    }
    own.is_rung = true;
    own.rung_at = now;
    return turn_;
}

void accept_policy::begin_turn(member by) noexcept
{
    if (!turn_ && members_[by].gathers) {
        turn_ = by;
        has_gathered_ = false;
    }
}

// Whether all are to be rung: there may be somebody for another, or each is to look for the last time.
bool accept_policy::end_turn(member by) noexcept
{
    if (turn_ != by) {
        return false;
    }
    turn_.reset();
    return pending_ || draining_;
}

bool accept_policy::gather(member by, bool begins) noexcept
{
    members_[by].gathers = begins;
    return !begins && end_turn(by);
}

void accept_policy::accepted(member by) noexcept
{
    ++members_[by].connections;
    pending_ = true;
    has_gathered_ = has_gathered_ || turn_ == by;
}

bool accept_policy::found_none(member by) noexcept
{
    members_[by].is_drained = members_[by].tries_last;
    return (!has_gathered_ || members_[by].is_drained) && end_turn(by);
}

void accept_policy::failed(moment now) noexcept
{
    pending_ = true;
    not_before_ = now + backoff;
}

std::optional<accept_policy::member> accept_policy::full(member of, moment now) noexcept
{
    state &own = members_[of];
    own.has_room = false;
    own.is_rung = false;
    own.is_late = false;
    // In a drain each looks for itself.
    if (!pending_ || draining_) {
        return std::nullopt;
    }
    return hand_on(of, now);
}

void accept_policy::drain() noexcept
{
    draining_ = true;
    pending_ = true;
}

bool accept_policy::unwatched(member of) noexcept
{
    const bool is_last = std::exchange(members_[of].watches, false) && !any_watches();
    pending_ = pending_ || (is_last && draining_);
    return is_last && draining_;
}

bool accept_policy::any_watches() const noexcept
{
    return std::ranges::any_of(members_, &state::watches);
}

// Somebody else is to look after those who wait. Who was rung already will; one more may be needed to notice where it
// is late.
std::optional<accept_policy::member> accept_policy::hand_on(member of, moment now) noexcept
{
    if (turn_) {
        return ring_gatherer(of, now);
    }
    std::optional<member> best;
    for (member each = 0; each < members_.size(); ++each) {
        const state &other = members_[each];
        const bool may = each != of && other.has_room && !other.is_rung;
        if (may && (!best || other.connections < members_[*best].connections)) {
            best = each;
        }
    }
    if (best) {
        members_[*best].is_rung = true;
        members_[*best].rung_at = now;
    }
    return best;
}

void accept_policy::mark_late(moment now) noexcept
{
    for (state &each : members_) {
        each.is_late = each.is_late || (each.is_rung && now >= each.rung_at + patience);
    }
}

} // namespace flux
