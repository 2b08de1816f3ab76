#include "flux/flow/flow_timing.hpp"

#include "flux/flow/flow.hpp"
#include "flux/io.hpp"

#include <algorithm>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace flux {

namespace {

// A stretch that is shorter all ran: the clock of the thread is not read.
constexpr std::chrono::microseconds seen_whole{30};
// So much is missing of any: interrupts, and the clocks themselves.
constexpr std::chrono::microseconds unseen{5};
// No more of a delay is paid at once.
constexpr std::chrono::milliseconds most_paid{100};

// That of the I/O that runs here, so in a simulation one run is as the next.
moment now() noexcept
{
    return running_io().now();
}

} // namespace

void flow_timing::begin(flow_times &to, std::uint32_t flows) noexcept
{
    to_ = &to;
    flows_ = flows;
    since_ = now();
    of_node_ = of_flow_ = {};
    waited_for_next_ = {};
    is_back_ = false;
    left_ = no_node;
    owed_.end();
    ready_at_ = never;
}

void flow_timing::begin_branch(const flow_timing &parent) noexcept
{
    if (parent.is_on()) {
        begin(*parent.to_, parent.flows_);
        owed_ = parent.owed_;
    } else {
        end();
    }
}

void flow_timing::follow(virtual_speed_up &by, flow_times &to) noexcept
{
    if (!is_on()) {
        begin(to, 0);
        lap_away();
    }
    if (!owed_.is_on()) {
        owed_.begin(by);
        followed_since_ = since_;
    }
}

// The time since the last lap.
std::chrono::nanoseconds flow_timing::lap() noexcept
{
    const moment before = std::exchange(since_, now());
    return since_ - before;
}

processor_use flow_timing::read_use() noexcept
{
    to_->count_reading();
    return running_io().used();
}

// The same where it goes on now. That the clock of its thread is read is no time of a node.
std::chrono::nanoseconds flow_timing::lap_away() noexcept
{
    used_ = read_use();
    const std::chrono::nanoseconds away = lap();
    read_at_ = since_;
    return away;
}

void flow_timing::runs() noexcept
{
    of_flow_[time_kind::queued] += lap_away();
    if (owed_.is_on()) {
        owed_.goes_on();
    }
}

void flow_timing::stops() noexcept
{
    const std::chrono::nanoseconds time = lap();
    std::chrono::nanoseconds missing{0};
    bool slept = false;
    if (time > seen_whole) {
        const processor_use before = std::exchange(used_, read_use());
        const moment read_before = std::exchange(read_at_, since_);
        missing = std::clamp(since_ - read_before - (used_.time - before.time), std::chrono::nanoseconds(0), time);
        if (missing > unseen) {
            slept = used_.sleeps != before.sleeps;
            if (slept) {
                of_node_.add_parked(park_reason::kernel, missing);
            } else {
                of_node_[time_kind::queued] += missing;
            }
        } else {
            missing = {};
        }
    }
    of_node_[time_kind::ran] += time - missing;
    if (owed_.is_on()) [[unlikely]] {
        pay(owed_.ran(time, missing, slept));
    }
}

// The thread is slower, and so is what it slept for. That is no time of a node. What is added meanwhile is owed, too.
void flow_timing::pay(owed_delay::owed owed) noexcept
{
    const moment begin = now();
    const moment latest = begin + most_paid;
    moment paid = begin;
    while (owed.by_thread.count() > 0 && paid < latest) {
        const moment until = std::min(paid + owed.by_thread, latest);
        while (now() < until) {
        }
        paid = until;
        owed.by_thread = owed_.added_meanwhile();
    }
    pay_parked(owed.by_park, [](moment until) {
        const std::timespec time = timespec_of(std::max(until - now(), std::chrono::nanoseconds(0)));
        syscall(SYS_nanosleep, &time, nullptr); // that of the library is caught
        return true;
    });
    if (paid != begin || owed.by_park.count() > 0) {
        lap_away();
    }
}

// Waits by `wait(until)`, which gives false where it is not to be called again.
template <class Wait>
void flow_timing::pay_parked(std::chrono::nanoseconds owed, Wait wait) noexcept
{
    const moment latest = now() + most_paid;
    owed = owed_.without_overpaid(owed);
    while (owed.count() > 0) {
        const moment begin = now();
        const bool goes_on = wait(std::min(begin + owed, latest));
        const moment end = now();
        owed_.overpaid(end - begin - owed);
        owed = owed_.without_overpaid(owed_.added_in_all());
        if (!goes_on || end >= latest) {
            break;
        }
    }
}

void flow_timing::goes_on(time_kind away) noexcept
{
    ready_at_ = never;
    (away == time_kind::waited ? waited_for_next_ : of_node_[away]) += lap_away();
    if (owed_.is_on()) [[unlikely]] {
        owed_.goes_on();
    }
}

void flow_timing::goes_on(park_reason parked) noexcept
{
    const moment stopped = since_;
    const std::chrono::nanoseconds time = lap_away();
    const moment ready = std::exchange(ready_at_, never);
    const std::chrono::nanoseconds late = ready > stopped && ready < since_ ? since_ - ready : moment::duration(0);
    of_node_[time_kind::queued] += late;
    of_node_.add_parked(parked, time - late);
    if (owed_.is_on()) [[unlikely]] {
        park_longer(owed_.parked(time, parked));
    }
}

// Meanwhile the loop goes on.
void flow_timing::park_longer(std::chrono::nanoseconds time) noexcept
{
    if (time.count() <= 0 || running_flow == nullptr) {
        return;
    }
    pay_parked(time, [&place = running_flow->place()](moment until) {
        const bool was_woken = place.wait_until(until);
        if (was_woken) {
            place.wake(); // that was for a later wait
        }
        return !was_woken;
    });
    ready_at_ = never;
    lap_away();
}

// What was waited for its own constraints the flow has had since then; what was for the next one's it has now.
void flow_timing::leave_node(node_number node) noexcept
{
    if (node != no_node) {
        left_ = node;
        if (!std::exchange(is_back_, false) && flows_ != 0) {
            to_->add_node(node, of_node_, flows_);
        }
    }
    of_node_[time_kind::waited] = waited_for_next_;
    of_flow_.add(of_node_);
    of_node_ = {};
    of_node_[time_kind::waited] = std::exchange(waited_for_next_, {});
}

void flow_timing::called(node_number before, node_number next) noexcept
{
    stops();
    leave_node(before);
    if (owed_.is_on()) [[unlikely]] {
        owed_.calls(next);
    }
}

void flow_timing::given(edge_origin from, node_number to, std::size_t bytes) noexcept
{
    if (flows_ != 0) {
        to_->add_given(from, to, bytes, flows_);
    }
}

void flow_timing::branched() noexcept
{
    of_flow_[time_kind::branched] += lap_away();
    is_back_ = true;
    if (owed_.is_on()) [[unlikely]] {
        owed_.goes_on();
    }
}

void flow_timing::ended(node_number last) noexcept
{
    called(last);
    end();
}

void flow_timing::ended(node_number last, const flow_end &how) noexcept
{
    called(last);
    if (flows_ != 0) {
        to_->add_flow(how, of_flow_, flows_);
    }
    if (owed_.is_on()) [[unlikely]] {
        owed_.ended(since_ - followed_since_);
    }
    end();
}

std::uint32_t timed_flows::advance() noexcept
{
    const std::uint32_t flows = one_in_;
    if (one_in_ >= in_the_end_ && rest_.count() > 0) {
        const moment before = std::exchange(last_, now());
        // How long it takes until as many have come as one is timed of in the end. Between the two limits all stays as
        // it is, so that it does not go to and fro.
        const std::chrono::nanoseconds usual = (last_ - before) / one_in_ * in_the_end_;
        one_in_ = usual < rest_ ? rarest_of_fast : usual > 2 * rest_ ? in_the_end_ : one_in_;
    } else if (--left_ == 0) {
        one_in_ = std::min(2 * one_in_, in_the_end_);
        left_ = timed_alike;
    }
    untimed_ = one_in_;
    return flows;
}

} // namespace flux
