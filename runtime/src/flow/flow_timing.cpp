#include "flux/flow/flow_timing.hpp"

#include "flux/io.hpp"

#include <algorithm>
#include <utility>

namespace flux {

moment flow_timing::now() noexcept
{
    return running_io().now();
}

void flow_timing::begin(flow_times &to) noexcept
{
    to_ = &to;
    since_ = now();
    of_node_ = of_flow_ = {};
    waited_for_next_ = {};
    is_back_ = false;
}

void flow_timing::begin_branch(const flow_timing &parent) noexcept
{
    if (parent.is_on()) {
        begin(*parent.to_);
    } else {
        end();
    }
}

void flow_timing::runs() noexcept
{
    const moment current = now();
    of_flow_[time_kind::queued] += current - since_;
    since_ = current;
}

void flow_timing::called(node_number before) noexcept
{
    const moment current = now();
    const std::chrono::nanoseconds waited_for_node = std::exchange(of_node_[time_kind::waited], waited_for_next_);
    // What was waited for the next node's constraints is in the time since then, what was for this one's was before.
    of_node_[time_kind::ran] = current - since_ - of_node_.whole();
    since_ = current;
    for (std::size_t kind = 0; kind < time_kind_count; ++kind) {
        of_flow_.of[kind] += of_node_.of[kind];
    }
    if (before != no_node && !std::exchange(is_back_, false)) {
        of_node_[time_kind::waited] = waited_for_node;
        to_->add_node(before, of_node_);
    }
    of_node_ = {};
    of_node_[time_kind::waited] = std::exchange(waited_for_next_, {});
}

void flow_timing::add(time_kind kind, std::chrono::nanoseconds time) noexcept
{
    (kind == time_kind::waited ? waited_for_next_ : of_node_[kind]) += time;
}

void flow_timing::branched() noexcept
{
    const moment current = now();
    of_flow_[time_kind::branched] += current - since_;
    since_ = current;
    is_back_ = true;
}

void flow_timing::ended(node_number last) noexcept
{
    called(last);
    end();
}

void flow_timing::ended(node_number last, std::size_t source) noexcept
{
    called(last);
    to_->add_flow(source, of_flow_);
    end();
}

void timed_flows::advance() noexcept
{
    if (--left_ == 0) {
        one_in_ = std::min(2 * one_in_, rarest);
        left_ = timed_alike;
    }
    untimed_ = one_in_;
}

} // namespace flux
