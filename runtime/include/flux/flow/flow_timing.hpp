/// \file
/// What the time of a flow goes to, for those flows that are timed.
///
/// Reading the clock at each node would cost some servers more than the nodes, so one flow in some is timed: the first
/// ones all, so that also a server with few flows has times, and then fewer and fewer, to one in 251, or one in 1009
/// of fast flows (`timed_flows`). Each counts for those that are not, so that a flow of the first minute weighs no more
/// than one of the last. Flows
/// that are not timed pay nothing: a node that is called looks anyway whether somebody waits for its thread, and for a
/// timed flow somebody always does, as for one that is traced.
///
/// A flow is away (`time_away`) while it waits, and else it runs: on a processor, as its thread's own clock has it.
/// What that lacks of the time is queued, as the processors ran others, or, where the thread slept in the kernel in a
/// call that Flux does not see, parked. The clock of a thread takes a system call, so a stretch of less than 30 µs all
/// ran.
///
/// A node's time lasts until the next node of the flow is called, or the flow ends. Constraints are taken before the
/// node is called that needs them, so what is waited for them counts as the next node's.
#pragma once

#include "flux/flow/beside_use.hpp"
#include "flux/flow/flow_times.hpp"
#include "flux/flow/virtual_speed_up.hpp"
#include "flux/moment.hpp"
#include "flux/processor_use.hpp"
#include "flux/waiting/node_number.hpp"

#include <cstddef>
#include <cstdint>

namespace flux {

/// The times of one flow or branch.
class flow_timing
{
  public:
    /// Whether it is timed.
    bool is_on() const noexcept { return to_ != nullptr; }

    /// The flow is made, and waits until it runs. What it takes goes to `to`, which outlives it, for so many flows,
    /// itself among them.
    void begin(flow_times &to, std::uint32_t flows) noexcept;
    /// A branch of a flow begins to run; it is timed if that is.
    void begin_branch(const flow_timing &parent) noexcept;
    /// It is followed for a virtual speed-up from here on, if it is not yet; where it is not timed, what it takes goes
    /// nowhere.
    void follow(virtual_speed_up &by, flow_times &to) noexcept;
    /// It is not timed any more.
    void end() noexcept
    {
        to_ = nullptr;
        owed_.end();
    }

    // Of a flow that is timed. Where it stops and where it goes on may be different threads.

    /// It runs for the first time.
    void runs() noexcept;
    /// It has been at `before` (`no_node` where it was at none), and calls the next node now.
    void called(node_number before, node_number next = no_node) noexcept;
    /// The node that it called last was given values of so many bytes, from there (`edge_sizes.hpp`).
    void given(edge_origin from, node_number to, std::size_t bytes) noexcept;
    /// The node that it was at last and has left; `no_node` where there is none.
    node_number left() const noexcept { return left_; }
    /// It lets go of what others may wait for. Where it is followed, its debts of the time until now are paid before,
    /// as they owe nothing of that; and so is what its node has worked added, of which they had nothing.
    void lets_go() noexcept
    {
        if (owed_.is_on()) [[unlikely]] {
            stops();
        }
    }
    /// It does not run until it goes on; the time between was of this kind, or it was parked for this.
    void stops() noexcept;
    void goes_on(time_kind away) noexcept;
    void goes_on(park_reason parked) noexcept;
    /// What it was parked for had come at this time, and since then it has waited for its loop. It runs again, and has
    /// not gone on yet.
    void was_ready_at(moment then) noexcept { ready_at_ = then; }
    /// It has gone on after a park for a call that was made beside its loop, and has done nothing since.
    void made_beside(const beside_use &call) noexcept;
    /// Since it called that node last its branches ran.
    void branched() noexcept;
    /// It was at `last`, and has come to its end. A branch is no flow of its source: it has its nodes alone.
    void ended(node_number last) noexcept;
    void ended(node_number last, const flow_end &how) noexcept;

  private:
    std::chrono::nanoseconds lap() noexcept;
    std::chrono::nanoseconds lap_away() noexcept;
    processor_use read_use() noexcept;
    void pay(owed_delay::owed owed) noexcept;
    template <class Wait>
    void pay_parked(std::chrono::nanoseconds owed, Wait wait) noexcept;
    void park_longer(std::chrono::nanoseconds time) noexcept;
    void leave_node(node_number node) noexcept;

    flow_times *to_ = nullptr;
    std::uint32_t flows_ = 1;
    // Whether the node that it is at has had its time, as it is back there from a parallel step.
    bool is_back_ = false;
    node_number left_ = no_node;
    moment since_;
    // When its thread's clock was read last, and what that said.
    moment read_at_;
    processor_use used_;
    moment ready_at_ = never;
    // The last park, if it was for a call: since when, and how long.
    moment parked_since_;
    std::chrono::nanoseconds parked_{0};
    // Of the node that it is at, of the one to be called, of the whole flow; where it is timed.
    divided_time of_node_;
    std::chrono::nanoseconds waited_for_next_;
    divided_time of_flow_;
    // For a virtual speed-up, and since when it is followed.
    owed_delay owed_;
    moment followed_since_;
};

/// Counts the time from here to the end of the block as time in which a flow did not run, if the flow is timed: of a
/// kind (`time_kind`), or it was parked for something (`park_reason`).
template <class Away>
class time_away
{
  public:
    time_away(flow_timing &of, Away away) noexcept : time_away(&of, away) {}
    /// Of no flow, where `of` is null.
    time_away(flow_timing *of, Away away) noexcept
        : timing_(of != nullptr && of->is_on() ? of : nullptr), away_(away)
    {
        if (timing_ != nullptr) [[unlikely]] {
            timing_->stops();
        }
    }
    ~time_away()
    {
        if (timing_ != nullptr) [[unlikely]] {
            timing_->goes_on(away_);
        }
    }
    time_away(const time_away &) = delete;
    time_away &operator=(const time_away &) = delete;

  private:
    // Null where the flow is not timed.
    flow_timing *const timing_;
    const Away away_;
};

/// Which flows of a source are timed.
class timed_flows
{
  public:
    /// In the end one in so many, where nothing else is said; prime, so that flows that come in turns all have theirs.
    static constexpr std::uint32_t rarest = 251;
    /// And one in so many, prime, too, where more than one a `rest` would be timed: a timed flow takes some
    /// microseconds, which is to be less than a hundredth of what all take, however fast flows are.
    static constexpr std::uint32_t rarest_of_fast = 1009;
    /// So many flows are timed before there are fewer.
    static constexpr std::uint32_t timed_alike = 64;

    /// In the end one in so many is timed; all are, where that is 1. Where nothing else is said there are fewer of fast
    /// flows.
    explicit timed_flows(std::uint32_t one_in = rarest,
                         std::chrono::nanoseconds rest = std::chrono::milliseconds(1)) noexcept
        : in_the_end_(one_in), rest_(one_in == rarest ? rest : std::chrono::nanoseconds(0))
    {
    }

    /// 0 where the next flow is not timed; else how many it stands for: itself and those since the one before.
    std::uint32_t next() noexcept
    {
        if (--untimed_ != 0) [[likely]] {
            return 0;
        }
        return advance();
    }

  private:
    std::uint32_t advance() noexcept;

    std::uint32_t in_the_end_;
    std::chrono::nanoseconds rest_;
    // When the last flow was timed.
    moment last_;
    std::uint32_t untimed_ = 1;
    std::uint32_t one_in_ = 1;
    std::uint32_t left_ = timed_alike;
};

} // namespace flux
