#include "flux/io/loop_arrivals.hpp"

#include "flux/error.hpp"
#include "flux/io/server_io.hpp"
#include "flux/log.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

namespace flux {

void arrivals_row::go_idle() noexcept
{
    for (loop_arrivals *const each : all_) {
        const bool at_bound = !each->some_.awaited() && (each->has_room_ || each->was_notified_);
        if (at_bound && each->group_ != nullptr) {
            each->has_room_ = false;
            each->was_notified_ = false;
            each->group_->full(each->member_, loop.now());
        }
    }
}

void arrivals_row::collect_rings() noexcept
{
    for (loop_arrivals *const each : all_) {
        if (each->was_rung_.load(std::memory_order_relaxed) && each->was_rung_.exchange(false)) {
            each->is_to_ask_ = true;
            each->was_notified_ = true;
            if (each->group_->drains()) {
                // At once, whether its source asks soon or not: the next server is notified instead.
                each->watch_no_more();
            }
            each->some_.set();
        }
    }
}

loop_arrivals::loop_arrivals(arrivals_row &row) : row_(row)
{
    row_.all_.push_back(this);
}

loop_arrivals::~loop_arrivals()
{
    if (group_ != nullptr) {
        group_->leave(member_, row_.loop.now());
    }
    std::erase(row_.all_, this);
}

io_result<void> loop_arrivals::join(std::shared_ptr<accept_group> group) noexcept
{
    try {
        member_ = group->join(*this);
    } catch (const std::bad_alloc &) {
        return unexpected(ENOMEM);
    }
    group_ = std::move(group);
    return {};
}

void loop_arrivals::notified() noexcept
{
    was_notified_ = true;
    group_->notify();
    some_.set();
}

void loop_arrivals::watch_no_more() noexcept
{
    if (std::exchange(watches_, false)) {
        stop_watching();
        group_->unwatched(member_);
    }
}

void loop_arrivals::ring() noexcept
{
    was_rung_.store(true);
    row_.loop.interrupt();
}

void *loop_arrivals::next_ready() noexcept
{
    ready_entry *const first = ready_.pop();
    return first == nullptr ? nullptr : first->owner;
}

void loop_arrivals::gather(bool begins) noexcept
{
    if (group_ != nullptr) {
        group_->gather(member_, begins);
    }
}

io_result<arrivals::arrival> loop_arrivals::next(moment deadline) noexcept
{
    if (!ready_.empty() && nobody_is_new()) [[likely]] {
        return arrival{nullptr, next_ready()};
    }
    return next_in_turns(deadline);
}

io_result<arrivals::arrival> loop_arrivals::next_in_turns(moment deadline) noexcept
{
    while (true) {
        turn_of_new_ = !turn_of_new_;
        moment until = never;
        if (group_ != nullptr && (turn_of_new_ || ready_.empty())) {
            const accept_policy::decision made = decide();
            if (made.drains) {
                watch_no_more();
            }
            if (made.what == accept_policy::verdict::stopped) {
                return arrival{};
            }
            if (made.what == accept_policy::verdict::accept) {
                if (std::unique_ptr<newcomer> somebody = try_to_accept()) {
                    return arrival{std::move(somebody)};
                }
                until = moment::min(); // to be decided anew
            } else {
                until = made.until;
            }
        }
        if (!ready_.empty()) {
            return arrival{nullptr, next_ready()};
        }
        if (until == moment::min()) {
            continue;
        }
        some_.open = false;
        if (until == never) {
            begin_waiting();
        }
        const int error = some_.wait(park_reason::read, std::min(deadline, until));
        if (error != 0 && !(error == ETIMEDOUT && row_.loop.now() >= until)) {
            return unexpected(error);
        }
        is_to_ask_ = is_to_ask_ || error != 0;
    }
}

// Whether it is known that nobody waits to be accepted: nearly always, and without a lock.
bool loop_arrivals::nobody_is_new() const noexcept
{
    return group_ == nullptr || (has_room_ && !is_to_ask_ && group_->quiet());
}

// The source can take a connection.
accept_policy::decision loop_arrivals::decide() noexcept
{
    if (nobody_is_new()) {
        return {accept_policy::verdict::wait};
    }
    has_room_ = true;
    was_notified_ = false;
    is_to_ask_ = false;
    return group_->ask(member_, row_.loop.now());
}

// Null where there is nobody, or nobody can be accepted.
std::unique_ptr<arrivals::newcomer> loop_arrivals::try_to_accept() noexcept
{
    if (server_io::current()->memory.is_over() && !group_->drains()) {
        log_rarely("connections wait, as there is more memory in use than there may be");
        group_->failed(row_.loop.now());
        return nullptr;
    }
    if (!group_->take_place()) {
        log_rarely("connections wait, as there are as many as there may be");
        group_->failed(row_.loop.now());
        return nullptr;
    }
    std::unique_ptr<newcomer> somebody(new (std::nothrow) newcomer);
    const int error = somebody == nullptr ? ENOMEM : accept(*somebody);
    if (error == 0) {
        group_->accepted(member_);
        somebody->seat = accept_seat(group_, member_);
        row_.accepted_.add(1);
        return somebody;
    }
    group_->leave_place();
    if (error == EAGAIN) {
        group_->found_none(member_);
    } else {
        failed(error);
    }
    return nullptr;
}

void loop_arrivals::failed(int error) noexcept
{
    log_rarely("connections wait, as none can be accepted: %s", describe_error(error).c_str());
    group_->failed(row_.loop.now());
    some_.set();
}

} // namespace flux
