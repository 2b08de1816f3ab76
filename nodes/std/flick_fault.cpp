#include "flick_fault.h"

#include "flick_end.h"
#include "flick_run.h"

#include "flux/error.hpp"
#include "flux/flow/flow.hpp"
#include "flux/io/park.hpp"
#include "flux/message/parse.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <new>
#include <utility>

namespace flick {

event event_of(std::string_view name) noexcept
{
    constexpr std::string_view names[event_count] = {"broken", "malformed", "unreachable", "failed"};
    return static_cast<event>(std::find(std::begin(names), std::end(names), name) - std::begin(names));
}

event event_of(int error) noexcept
{
    return error == EBADMSG ? event::malformed : event::broken;
}

std::string told_of(int error, const flux::message_parse &wanted) noexcept
{
    try {
        return error == EBADMSG ? std::string("no ") + wanted.facts().name + ": " + wanted.fault()
                                : flux::describe_error(error).c_str();
    } catch (const std::bad_alloc &) {
        return {};
    }
}

fault::fault(std::shared_ptr<run> of, bool ends_run, reply_order::place answer, std::shared_ptr<end> last,
             std::string what) noexcept
    : of_(std::move(of)), ends_run_(ends_run), answer_(answer), last_(std::move(last)), what_(std::move(what))
{
}

int fault::await_turn() noexcept
{
    return of_->order().await(answer_);
}

void fault::leave_order() noexcept
{
    of_->order().answered(answer_);
    of_->pass_next_held();
}

void fault::forget() noexcept
{
    is_settled_ = true;
    leave_order();
}

void fault::settle(bool is_answered) noexcept
{
    if (std::exchange(is_settled_, true)) {
        return;
    }
    leave_order();
    if (!is_answered || ends_run_) {
        of_->finish_all();
    }
    if (last_ != nullptr) {
        last_->end_behind_rule();
    }
    of_->settled();
}

void faults::add(trouble one)
{
    all_.push_back(std::move(one));
    if (flux::park *const waits = std::exchange(source_, nullptr)) {
        waits->end(flux::park_end::completed);
    }
}

int faults::next(trouble &given) noexcept
{
    while (all_.empty()) {
        flux::park own(*flux::running_flow, flux::park_reason::flow);
        source_ = &own;
        const flux::park_end how = own.wait();
        source_ = nullptr;
        if (how != flux::park_end::completed) {
            return flux::error_of(how);
        }
    }
    given = std::move(all_.front());
    all_.pop_front();
    return 0;
}

void faults::stop() noexcept
{
    is_stopped_ = true;
    all_.clear();
}

} // namespace flick
