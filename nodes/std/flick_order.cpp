#include "flick_order.h"

#include "flux/error.hpp"

#include <algorithm>
#include <functional>

namespace flick {

void wake_all(flux::intrusive_list<waiting_flow> &waiting) noexcept
{
    for (waiting_flow *each = waiting.first(); each != nullptr;) {
        waiting_flow *const after = flux::intrusive_list<waiting_flow>::next(*each);
        if (each->wait.end(flux::park_end::completed)) {
            waiting.remove(*each);
        }
        each = after;
    }
}

int wait_in(flux::intrusive_list<waiting_flow> &waiting, flux::moment until) noexcept
{
    waiting_flow own;
    waiting.push_back(own);
    const flux::park_end how = own.wait.wait(until);
    if (how != flux::park_end::completed) {
        waiting.remove(own);
    }
    return flux::error_of(how);
}

reply_order::iterator reply_order::find_first_of(place at) const noexcept
{
    const auto begin = all_.begin() + static_cast<std::ptrdiff_t>(first_);
    return std::find_if(begin, all_.end(), [&](const expected &each) { return each.at == at; });
}

void reply_order::expect(place at, std::size_t replies, bool is_part)
{
    for (std::size_t each = 0; each != replies && !is_given_up_; ++each) {
        all_.push_back({at, is_part});
    }
}

bool reply_order::has_turn(place at) const noexcept
{
    return is_next(at) || find_first_of(at) == all_.end();
}

int reply_order::await(place at) noexcept
{
    while (true) {
        if (has_turn(at)) {
            return 0;
        }
        waiting own(at);
        waiting_.push_back(own);
        const flux::park_end how = own.wait.wait();
        if (how != flux::park_end::completed) {
            waiting_.remove(own);
            return flux::error_of(how);
        }
    }
}

// Those whose turn it is, and no others: there may be many.
void reply_order::wake_next() noexcept
{
    for (waiting *each = waiting_.first(); each != nullptr;) {
        waiting *const after = flux::intrusive_list<waiting>::next(*each);
        if (has_turn(each->at) && each->wait.end(flux::park_end::completed)) {
            waiting_.remove(*each);
        }
        each = after;
    }
    if (waiting_for_all_.first() != nullptr && next() == nullptr) [[unlikely]] {
        wake_all(waiting_for_all_);
    }
}

int reply_order::await_all() noexcept
{
    int error = 0;
    while (error == 0 && next() != nullptr) {
        error = wait_in(waiting_for_all_);
    }
    return error;
}

bool reply_order::is_part(place at) const noexcept
{
    const iterator own = first_of(at);
    return own != all_.end() && own->is_part;
}

void reply_order::answered(place at) noexcept
{
    const iterator own = first_of(at);
    if (own == all_.end()) {
        return;
    }
    if (static_cast<std::size_t>(own - all_.begin()) != first_) {
        all_.erase(own);
        return;
    }
    // What is behind moves when that is little beside what has gone.
    if (++first_ * 2 >= all_.size()) {
        all_.erase(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(first_));
        first_ = 0;
    }
    wake_next();
}

void reply_order::forget(place at, std::size_t but_first) noexcept
{
    all_.erase(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
    const auto is_gone = [&](const expected &each) {
        const bool is_its_own = each.at == at;
        const bool stays = is_its_own && but_first != 0;
        but_first -= stays ? 1 : 0;
        return is_its_own && !stays;
    };
    all_.erase(std::remove_if(all_.begin(), all_.end(), std::ref(is_gone)), all_.end());
    wake_next();
}

bool reply_order::replace(place at, std::size_t but_first, place by) noexcept
{
    for (std::size_t each = first_; each != all_.size(); ++each) {
        if (all_[each].at == at && but_first-- == 0) {
            all_[each] = {by, false};
            return true;
        }
    }
    return false;
}

void reply_order::give_up() noexcept
{
    is_given_up_ = true;
    all_.clear();
    first_ = 0;
    wake_next();
}

} // namespace flick
