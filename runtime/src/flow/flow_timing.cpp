#include "flux/flow/flow_timing.hpp"

#include "flux/io.hpp"

#include <algorithm>
#include <utility>

namespace flux {

namespace {

// A stretch that is shorter all ran: the clock of the thread is not read.
constexpr std::chrono::microseconds seen_whole{30};
// So much is missing of any: interrupts, and the clocks themselves.
constexpr std::chrono::microseconds unseen{5};

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
}

void flow_timing::begin_branch(const flow_timing &parent) noexcept
{
    if (parent.is_on()) {
        begin(*parent.to_, parent.flows_);
    } else {
        end();
    }
}

// The time since the last lap.
std::chrono::nanoseconds flow_timing::lap() noexcept
{
    const moment before = std::exchange(since_, now());
    return since_ - before;
}

// The same where it goes on now. That the clock of its thread is read is no time of a node.
std::chrono::nanoseconds flow_timing::lap_away() noexcept
{
    used_ = running_io().used();
    const std::chrono::nanoseconds away = lap();
    read_at_ = since_;
    return away;
}

void flow_timing::runs() noexcept
{
    of_flow_[time_kind::queued] += lap_away();
}

void flow_timing::stops() noexcept
{
    const std::chrono::nanoseconds time = lap();
    std::chrono::nanoseconds missing{0};
    if (time > seen_whole) {
        const processor_use before = std::exchange(used_, running_io().used());
        const moment read_before = std::exchange(read_at_, since_);
        missing = std::clamp(since_ - read_before - (used_.time - before.time), std::chrono::nanoseconds(0), time);
        if (missing > unseen) {
            if (used_.sleeps == before.sleeps) {
                of_node_[time_kind::queued] += missing;
            } else {
                of_node_.add_parked(park_reason::kernel, missing);
            }
        } else {
            missing = {};
        }
    }
    of_node_[time_kind::ran] += time - missing;
}

void flow_timing::goes_on(time_kind away) noexcept
{
    (away == time_kind::waited ? waited_for_next_ : of_node_[away]) += lap_away();
}

void flow_timing::goes_on(park_reason parked) noexcept
{
    of_node_.add_parked(parked, lap_away());
}

// What was waited for its own constraints the flow has had since then; what was for the next one's it has now.
void flow_timing::leave_node(node_number node) noexcept
{
    if (node != no_node && !std::exchange(is_back_, false)) {
        to_->add_node(node, of_node_, flows_);
    }
    of_node_[time_kind::waited] = waited_for_next_;
    of_flow_.add(of_node_);
    of_node_ = {};
    of_node_[time_kind::waited] = std::exchange(waited_for_next_, {});
}

void flow_timing::called(node_number before) noexcept
{
    stops();
    leave_node(before);
}

void flow_timing::branched() noexcept
{
    of_flow_[time_kind::branched] += lap_away();
    is_back_ = true;
}

void flow_timing::ended(node_number last) noexcept
{
    called(last);
    end();
}

void flow_timing::ended(node_number last, const flow_end &how) noexcept
{
    called(last);
    to_->add_flow(how, of_flow_, flows_);
    end();
}

std::uint32_t timed_flows::advance() noexcept
{
    const std::uint32_t flows = one_in_;
    if (--left_ == 0) {
        one_in_ = std::min(2 * one_in_, rarest);
        left_ = timed_alike;
    }
    untimed_ = one_in_;
    return flows;
}

} // namespace flux
