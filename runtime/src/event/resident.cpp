#include "flux/event/resident.hpp"

#include "flux/event/loop.hpp"
#include "flux/flow/branch.hpp"
#include "flux/flow/flow.hpp"
#include "flux/strategy/source.hpp"

#include <utility>

namespace flux {

resident *resident::running() noexcept
{
    loop *const here = fiber::running() != nullptr && running_flow != nullptr ? loop::running() : nullptr;
    return here != nullptr ? here->running_resident_ : nullptr;
}

bool resident::wait_at(which_place place, moment deadline) noexcept
{
    source *const making = making_values();
    if (making == nullptr) {
        return sleep_until(place, deadline);
    }
    flow &made = *running_flow;
    making->begin_wait(made);
    const bool was_woken = sleep_until(place, deadline);
    making->end_wait(made);
    return was_woken;
}

void resident::wait_for_constraint() noexcept
{
    is_for_constraint_ = true;
    wait();
    is_for_constraint_ = false;
}

// The source that it runs, if that makes values now.
source *resident::making_values() const noexcept
{
    source *const *const running = std::get_if<source *>(&begun_);
    return running != nullptr && source_ == nullptr && running_flow != nullptr ? *running : nullptr;
}

bool resident::sleep_until(which_place place, moment deadline) noexcept
{
    state expected = nobody;
    std::atomic<state> &here = states_[place];
    sleeps_at_ = place;
    is_timed_ = running_flow != nullptr && running_flow->timing().is_on();
    deadline_ = deadline;
    if (here.compare_exchange_strong(expected, asleep, std::memory_order_acq_rel)) {
        if (deadline != never) {
            loop_.timers_.set(*this, deadline);
        }
        if (is_for_constraint_) {
            park();
        } else {
            loop_.residents_.load().less();
            park();
            loop_.residents_.load().more();
        }
        loop_.timers_.cancel(*this);
        if (is_timed_) [[unlikely]] {
            running_flow->timing().was_ready_at(ready_at_);
        }
    }
    // One that was woken is not woken again before it waits again.
    const bool was_woken = here.load(std::memory_order_acquire) == woken;
    if (was_woken) {
        here.store(nobody, std::memory_order_relaxed);
    }
    return was_woken;
}

bool resident::come_due(moment now, moment idle_since) noexcept
{
    state expected = asleep;
    if (!states_[sleeps_at_].compare_exchange_strong(expected, nobody, std::memory_order_acq_rel)) {
        return false;
    }
    // Its time is the tick that it was rounded up to, however late the loop sees that; but an idle loop is late by
    // itself, as the kernel wakes it no sooner.
    const moment tick(std::chrono::ceil<std::chrono::milliseconds>(deadline_.time_since_epoch()));
    ready_at_ = tick > idle_since ? now : tick;
    return true;
}

void resident::wake_at(which_place place) noexcept
{
    // Whoever sleeps goes on only when it is woken below, however long that takes.
    if (states_[place].exchange(woken, std::memory_order_acq_rel) == asleep) {
        if (is_timed_) [[unlikely]] {
            ready_at_ = loop_.now();
        }
        loop_.wake_up(*this);
    }
}

void resident::give_way() noexcept
{
    if (loop_.io_->cycles() - resumed_at_ < loop_.slice_) {
        return;
    }
    ticket_ = ticket(loop_.inbox_.counts(), loop_.made_counts_);
    loop_.gave_way_.push_back(*this);
    park();
}

bool resident::run_made(flow &made) noexcept
{
    const std::uint64_t now = loop_.io_->cycles();
    if (loop_.may_begin_at(now)) {
        resumed_at_ = now;
        loop_.begin_turn(*this);
    } else {
        loop_.made_.push_back(*this);
        ++loop_.made_counts_.pushed;
        park();
    }
    source_ = std::get<source *>(begun_);
    loop_.flows_.add(1);
    made.from().run(made, loop_.runner_);
    return std::exchange(source_, nullptr) != nullptr;
}

void resident::begin(what begun) noexcept
{
    begun_ = begun;
    fiber_.prepare([](void *self) { static_cast<resident *>(self)->run(); }, this);
}

bool resident::resume() noexcept
{
    resumed_at_ = loop_.io_->cycles();
    return fiber_.resume();
}

void resident::run() noexcept
{
    if (flow *const *const started = std::get_if<flow *>(&begun_)) {
        loop_.flows_.add(1);
        (*started)->from().run(**started, loop_.runner_);
    } else if (branch_base *const *const offered = std::get_if<branch_base *>(&begun_)) {
        (*offered)->run(loop_.runner_);
    } else {
        loop_.residents_.load().more();
        std::get<source *>(begun_)->make_flows();
    }
}

void resident::park() noexcept
{
    flow *const here = running_flow;
    if (source *const making = std::exchange(source_, nullptr)) {
        begun_ = here; // this fiber is the flow's from now on
        loop_.go_on_elsewhere(*making);
    }
    fiber_.park();
    running_flow = here;
}

} // namespace flux
