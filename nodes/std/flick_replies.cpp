#include "flick_replies.h"

#include "flick_end.h"
#include "flick_run.h"

#include "flux/error.hpp"

#include <algorithm>
#include <utility>

namespace flick {

namespace {

/// A run has so many requests at one server at a time; and where their replies are large, as many as come to these
/// bytes if each is as large as the largest so far.
constexpr std::size_t most_at_once = 128;
constexpr std::size_t most_bytes = std::size_t{1} << 20;

} // namespace

reply::reply(std::shared_ptr<end> of, std::shared_ptr<run> by, bool is_last) noexcept
    : of_(std::move(of)), by_(std::move(by)), among_(of_->coming()), is_last_(is_last),
      is_ordered_(of_->is_ordered())
{
    among_->add(*this);
}

reply_order::place reply::place() const noexcept
{
    return {of_->channel(), of_->element()};
}

bool reply::has_turn() const noexcept
{
    return among_->all_.first() == this && (!is_ordered_ || by_->order().has_turn(place()));
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
    return is_ordered_ ? by_->order().await(place()) : 0;
}

bool reply::is_of_part() const noexcept
{
    return is_ordered_ && is_last_ && by_->order().is_part(place());
}

void reply::settle(bool is_passed_on) noexcept
{
    if (std::exchange(is_settled_, true)) {
        return;
    }
    among_->remove(*this);
    if (is_ordered_ && is_last_) {
        by_->order().answered(place());
    }
    if (!is_passed_on) {
        by_->finish_all();
    }
    if (among_->empty()) {
        by_->passed_on();
    }
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

void replies::add(reply &one) noexcept
{
    all_.push_back(one);
    ++count_;
    answered_ += one.is_last() ? 1 : 0;
}

void replies::remove(reply &one) noexcept
{
    const bool was_first = one.has_turn();
    all_.remove(one);
    --count_;
    answered_ -= one.is_last() ? 1 : 0;
    if (reply *const next = was_first ? all_.first() : nullptr; next != nullptr && next->waits_ != nullptr) {
        next->waits_->end(flux::park_end::completed);
    }
    changed();
}

} // namespace flick
