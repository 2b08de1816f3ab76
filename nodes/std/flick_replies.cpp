#include "flick_replies.h"

#include "flick_end.h"
#include "flick_process.h"
#include "flick_run.h"
#include "flick_watch.h"

#include "flux/error.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace flick {

namespace {

/// A run has so many requests at one server at a time; and where their replies are large, as many as come to these
/// bytes if each is as large as the largest so far.
constexpr std::size_t most_at_once = 128;
constexpr std::size_t most_bytes = std::size_t{1} << 20;

} // namespace

reply::reply(std::shared_ptr<end> of, std::shared_ptr<run> by, bool is_last) noexcept
    : of_(std::move(of)), by_(std::move(by)), among_(of_->coming()), is_last_(is_last), is_ordered_(of_->is_ordered())
{
    among_->add(*this);
}

reply::reply(std::shared_ptr<run> by, std::shared_ptr<replies> among, bool is_last) noexcept
    : by_(std::move(by)), among_(std::move(among)), is_last_(is_last), is_ordered_(among_->is_ordered_)
{
    among_->add(*this);
}

bool reply::has_turn() const noexcept
{
    return among_->all_.first() == this && (!is_ordered_ || by_->order().has_turn(among_->at_));
}

int reply::await_turn() noexcept
{
    if (among_->all_.first() != this) [[unlikely]] {
        flux::park own(*flux::running_flow, flux::park_reason::flow);
        waits_ = &own;
        const flux::park_end how = own.wait();
        waits_ = nullptr;
        if (how != flux::park_end::completed) {
            return flux::error_of(how);
        }
    }
    return is_ordered_ ? by_->order().await(among_->at_) : 0;
}

bool reply::is_nobodys() const noexcept
{
    return is_unfinished_ || (is_ordered_ && is_last_ && by_->order().is_part(among_->at_));
}

void reply::settle(bool is_passed_on) noexcept
{
    if (std::exchange(is_settled_, true)) {
        return;
    }
    among_->remove(*this);
    if (is_ordered_ && is_last_) {
        by_->order().answered(among_->at_);
    }
    if (!is_passed_on) {
        by_->finish_all();
    }
    if (among_->empty()) {
        by_->passed_on();
    }
    by_->pass_held(*among_);
}

bool replies::has_room(std::size_t awaited) const noexcept
{
    const std::size_t all = awaited + count_;
    return all == 0 || (all < most_at_once && (all + 1) * largest_ <= most_bytes);
}

void replies::has_come(std::size_t size) noexcept
{
    largest_ = std::max(largest_, size);
}

bool replies::hold(held_reply one) noexcept
{
    try {
        held_.push_back(std::move(one));
        return true;
    } catch (const std::bad_alloc &) {
        has_gone(one.is_last);
        return false;
    }
}

held_reply replies::take_held() noexcept
{
    held_reply one = std::move(held_[first_held_]);
    // Its place goes with those before it, when all have gone or these are many.
    if (++first_held_ == held_.size()) {
        held_.clear();
        first_held_ = 0;
    } else if (first_held_ * 2 >= held_.size()) {
        held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(first_held_));
        first_held_ = 0;
    }
    has_gone(one.is_last);
    return one;
}

bool replies::has_held_turn(const run &by) const noexcept
{
    return first_held_ != held_.size() && all_.empty() && (!is_ordered_ || by.order().has_turn(at_));
}

bool replies::pass_held(run &by) noexcept
{
    bool were_any = false;
    while (has_held_turn(by)) {
        pass_on(by, take_held());
        were_any = true;
    }
    return were_any;
}

// Without waiting, if that is possible. What is for a client that has left is nobody's; what only ends a part of what
// it has asked it does not get.
bool replies::send_on(run &by, std::size_t to, const flux::message &what, bool is_last) const noexcept
{
    end *const there = by.at(to, 0);
    const bool is_nobodys = by.is_over() || (there == nullptr && !by.of().at(to).to.connects);
    const bool is_of_part = is_ordered_ && is_last && by.order().is_part(at_);
    return is_nobodys || is_of_part || (there != nullptr && there->send_now(what));
}

bool replies::pass_on_now(run &by, std::size_t to, const flux::message &what, bool is_last) noexcept
{
    const bool has_turn = count_ == 1 && (!is_ordered_ || by.order().has_turn(at_));
    if (!has_turn || !send_on(by, to, what, is_last)) {
        return false;
    }
    has_gone(is_last);
    passed_on(by, is_last);
    return true;
}

// Where its client is slow to take it, a flow waits for that.
void replies::pass_on(run &by, held_reply one) noexcept
{
    if (send_on(by, one.to, one.what, one.is_last)) {
        return passed_on(by, one.is_last);
    }
    try {
        auto late = std::make_shared<reply>(by.shared_from_this(), shared_from_this(), one.is_last);
        watch::of_loop().pass_on({std::move(late), one.to, std::move(one.what), one.until});
    } catch (const std::bad_alloc &) {
        by.finish_all();
    }
}

void replies::passed_on(run &by, bool is_last) noexcept
{
    if (is_ordered_ && is_last) {
        by.order().answered(at_);
    }
    changed();
    if (empty()) {
        by.passed_on();
    }
}

void replies::drop_held() noexcept
{
    while (first_held_ != held_.size()) {
        take_held();
    }
    changed();
}

// Unless its end has come, and is about to be among these.
void replies::drop_unfinished() noexcept
{
    std::size_t ends = 0;
    reply *unfinished = nullptr;
    for (reply *each = all_.first(); each != nullptr; each = all_.next(*each)) {
        ends += each->is_last_ ? 1 : 0;
        unfinished = each->is_last_ ? nullptr : unfinished != nullptr ? unfinished : each;
    }
    const auto first_held = held_.begin() + static_cast<std::ptrdiff_t>(first_held_);
    const auto held_ends = std::count_if(first_held, held_.end(), [](const held_reply &one) { return one.is_last; });
    if (ends + static_cast<std::size_t>(held_ends) != answered_) {
        return;
    }
    for (; held_ends == 0 && unfinished != nullptr; unfinished = all_.next(*unfinished)) {
        unfinished->is_unfinished_ = true;
    }
    while (first_held_ != held_.size() && !held_.back().is_last) {
        held_.pop_back();
        has_gone(false);
    }
    changed();
}

void replies::add(reply &one) noexcept
{
    all_.push_back(one);
    arrived(one.is_last());
}

void replies::remove(reply &one) noexcept
{
    const bool was_first = all_.first() == &one;
    all_.remove(one);
    has_gone(one.is_last());
    if (reply *const next = was_first ? all_.first() : nullptr; next != nullptr && next->waits_ != nullptr) {
        next->waits_->end(flux::park_end::completed);
    }
    changed();
}

} // namespace flick
