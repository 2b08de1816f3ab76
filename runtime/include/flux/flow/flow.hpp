/// \file
/// A flow: one request on its way through the graph, from the values that its source made to its end.
///
/// Every generated function takes its flow as the first argument. It contains what every flow needs everywhere: its id,
/// the last error, its path, its place in the graph, its counters. The members that generated code calls are a few
/// instructions each. The values are not here: a source makes its flows as a `flow` followed by the values
/// (`program.hpp`), and uses them again for later flows, so a flow allocates nothing.
///
/// A flow runs on one thread at a time, so nothing here needs a lock. Its current node is stored at its place
/// (`waiter.hpp`), which others may read. Each branch of a parallel step runs as a flow of its own, and the parent flow
/// waits for it (`branch.hpp`).
#pragma once

#include "flux/flow/belongings.hpp"
#include "flux/flow/blocking_call.hpp"
#include "flux/waiting/cancellation.hpp"
#include "flux/flow/constraint_counts.hpp"
#include "flux/flow/counters.hpp"
#include "flux/flow/flow_spans.hpp"
#include "flux/flow/flow_timing.hpp"
#include "flux/flow/flow_trace.hpp"
#include "flux/flow/value_size.hpp"
#include "flux/list/intrusive_list.hpp"
#include "flux/moment.hpp"
#include "flux/waiting/node_number.hpp"
#include "flux/flow/outcome.hpp"
#include "flux/waiting/waiter.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace flux {

class branch_base;
class runner;
class source;
class state_changes;
class node_stack;

/// The number of a generated function in the table of path functions.
using function_number = std::uint32_t;
/// The number of a path through a function, or what is added to one.
using path_number = std::uint64_t;

/// What a flow sees that has nobody to give way to.
inline constinit const std::atomic<bool> nobody_waits{false};
/// What a flow sees that is to look up at each of its nodes.
inline constinit const std::atomic<bool> somebody_waits{true};

/// Where a flow says that it is which runs on nothing.
inline constinit std::atomic<node_number> nowhere{no_node};

/// The header of a flow. It is in one list at a time, of those that nobody uses or that wait to start.
class flow : public listed<flow>
{
  public:
    flow() noexcept = default;
    flow(const flow &) = delete;
    flow &operator=(const flow &) = delete;

    // What generated code says.

    /// The node is called next, and given these values. Inline, although it is called for each node: it is a few
    /// instructions.
    template <class... Values>
    [[gnu::always_inline]] void call(node_number node, const Values &...values) noexcept
    {
        if (crowded_->load(std::memory_order_relaxed)) [[unlikely]] {
            look_up(node, values...);
        }
        move_to(node);
        ++counters_.calls;
    }

    /// Runs `node_call()`, which calls the node that was called last and is `blocking`, where that holds up no other
    /// flow. Throws what that throws.
    template <class Call>
    void beside_loops(Call node_call)
    {
        run_blocking({[](void *the) { (*static_cast<Call *>(the))(); }, &node_call});
    }

    /// Runs `node_call()`, which calls the node that was called last, on a stack of so many bytes (`node_stacks.hpp`).
    /// Throws what that throws, and `std::bad_alloc`.
    template <class Call>
    void on_stack(std::size_t bytes, Call node_call)
    {
        run_on_stack(bytes, {[](void *the) { (*static_cast<Call *>(the))(); }, &node_call});
    }

    /// The stack that its node has asked for, while it is there; else null. The crash message reads it.
    const node_stack *stack() const noexcept { return stack_; }

    /// The node chooses among its lines next.
    void dispatch(node_number node) noexcept
    {
        move_to(node);
        ++counters_.dispatches;
    }

    /// In a `catch` block: the code of the exception in flight, never 0. Says on standard error what was thrown.
    int caught() noexcept;

    /// The node failed with this error, which is now the one in hand.
    void failed_in(node_number node, int error) noexcept;

    /// The error in hand.
    int error() const noexcept { return error_; }

    /// Leaves a function, adding to the path register.
    outcome done(path_number offset = 0) noexcept
    {
        path_ += offset;
        return outcome::done;
    }

    /// As `done`, with the error in hand.
    outcome failed(path_number offset = 0) noexcept
    {
        path_ += offset;
        return outcome::failed;
    }

    /// As `done`, after an error handler.
    outcome ended(path_number offset = 0) noexcept
    {
        path_ += offset;
        return outcome::ended;
    }

    /// Something outside a node threw: leaves the function on the path of this number.
    outcome fault(path_number number) noexcept
    {
        path_ = number;
        return outcome::failed;
    }

    /// Sets the session: flows with equal ones share the constraints of scope session.
    void set_session(int session) noexcept { session_ = session; }

    /// A fallback joins the way of success.
    void add_path(path_number offset) noexcept { path_ += offset; }

    /// Before a call whose callee numbers its own paths from 0: gives the register and zeroes it.
    path_number begin_path() noexcept
    {
        const path_number before = path_;
        path_ = 0;
        return before;
    }

    /// After it: `before` is what `begin_path` gave, `radix` how many paths lead to the exit that was taken.
    void end_path(path_number before, path_number radix) noexcept { path_ = before * radix + path_; }

    /// Instead of `end_path`, where the product would not fit: counts the register as a path of `callee` to that exit,
    /// by itself, and goes on with `before`.
    void cut_path(path_number before, function_number callee, outcome exit) noexcept;

    // What the runtime says and asks.

    /// Starts anew as flow `id` of the source.
    void begin(source &from, std::uint64_t id) noexcept
    {
        source_ = &from;
        id_.store(id, std::memory_order_relaxed);
        session_ = 0;
        path_ = 0;
        error_ = 0;
        failed_node_ = no_node;
        counters_ = {};
        deadline_ = never;
        io_spent = 0;
        cancellation_.begin();
    }

    /// Starts anew as a branch of the flow: with its id, its session, its deadline, and nothing else done.
    void begin_branch(flow &parent) noexcept
    {
        begin(*parent.source_, parent.id());
        trace_ = parent.trace_;
        timing_.begin_branch(parent.timing_);
        spans_.begin_branch(parent.spans_);
        stage_.store(stage::running, std::memory_order_relaxed);
        session_ = parent.session_;
        deadline_ = parent.deadline_;
        parent_ = &parent;
        held_ = parent.held_;
        changes_ = parent.changes_;
    }

    /// A branch has ended: what it did, the flow did.
    void add_counters(const flow &branch) noexcept { counters_ += branch.counters_; }

    /// A branch has failed: its error is now the one in hand.
    void fail_as(node_number failed_node, int error) noexcept
    {
        failed_node_ = failed_node;
        error_ = error;
    }

    /// From now on the flow runs on this, and is before its first node.
    void run_on(runner &on) noexcept;

    /// It has its values and is to run, it runs, it has come to its end: for others to see.
    void set_queued() noexcept { stage_.store(stage::queued, std::memory_order_release); }
    void set_running() noexcept { stage_.store(stage::running, std::memory_order_release); }
    void set_ended() noexcept { stage_.store(stage::ended, std::memory_order_release); }

    /// Whether it is between the first and the last of these. Any thread may ask.
    bool in_progress() const noexcept { return stage_.load(std::memory_order_acquire) != stage::ended; }

    /// The node that it is at, as `position`; `no_node` where it does not run. Any thread may ask.
    node_number seen_at() const noexcept
    {
        return stage_.load(std::memory_order_acquire) == stage::running ? position() : no_node;
    }

    /// From now on what happens to it is said (`flow_trace.hpp`); before it runs.
    void begin_trace() noexcept
    {
        trace_.begin(*this);
        crowded_ = &somebody_waits;
    }
    /// It has come to its end by this exit; said where that is traced.
    void end_trace(outcome exit) noexcept
    {
        if (trace_.is_on()) [[unlikely]] {
            trace_.ended(*this, exit);
        }
    }

    /// From now on it is timed (`flow_timing.hpp`), for so many flows, itself among them; before it runs.
    void begin_timing(flow_times &to, std::uint32_t flows) noexcept
    {
        timing_.begin(to, flows);
        crowded_ = &somebody_waits;
    }
    /// What its time goes to, if it is timed.
    flow_timing &timing() noexcept { return timing_; }

    /// From now on its spans are kept (`flow_spans.hpp`), in the trace of this caller or one of its own; before it
    /// runs.
    void begin_spans(const std::optional<trace_parent> &parent) noexcept
    {
        spans_.begin(parent);
        crowded_ = &somebody_waits;
    }
    /// Its spans, if they are kept.
    flow_spans &spans() noexcept { return spans_; }

    /// Counts an acquisition; what its thread counts of the constraint.
    constraint_count &acquiring(constraint_number constraint) noexcept
    {
        ++counters_.acquisitions;
        return constraint_counts_[constraint];
    }

    /// Counts a failure of the node that it is at, with this error, although the node does not fail: a source that has
    /// sent a client away goes on with the next.
    void count_failure(int error) noexcept;

    /// Counts a park.
    void count_park() noexcept { ++counters_.parks; }

    /// A constraint is held from now on, or not any more. Who holds one does not give way.
    void hold_one() noexcept { ++held_; }
    void release_one() noexcept { --held_; }

    /// Where it notes what it changes in tables that Flux keeps (`state_changes.hpp`); null outside of atomic nodes.
    state_changes *changes() const noexcept { return changes_; }
    void set_changes(state_changes *to) noexcept { changes_ = to; }

    /// It is at this node, whoever calls it.
    void move_to(node_number node) noexcept
    {
        position_.load(std::memory_order_relaxed)->store(node, std::memory_order_relaxed);
    }

    /// Where it waits.
    waiter &place() const noexcept { return *place_; }

    /// In the middle of a node, lets others of its loop go on first that have waited. Meanwhile it is queued.
    void let_others_go_on() noexcept
    {
        const time_away queues(timing_, time_kind::queued);
        place_->give_way();
    }

    /// When it is to have ended: no park of it goes on for longer. `never` where it has all the time.
    moment deadline() const noexcept { return deadline_; }
    void set_deadline(moment deadline) noexcept { deadline_ = deadline; }

    /// Has it come to its end through its error handlers: the park that it waits in ends, and so does each that it
    /// begins later; the same goes for its branches. What else it does goes on. Any thread calls this, while the flow
    /// exists.
    void cancel() noexcept;
    /// Whether that has been called.
    bool cancelled() const noexcept { return cancellation_.cancelled(); }
    /// For its parks.
    cancellation &cancelling() noexcept { return cancellation_; }

    /// It is at a parallel step with these branches, and awaits so many, counting itself: each but itself says when it
    /// has `arrived`. They are cancelled if the flow is.
    void fork(std::span<branch_base *const> branches, std::uint32_t awaited) noexcept;
    /// The step has one branch more, behind the others in their array: it is awaited, too, and cancelled if the flow
    /// is. Called by a branch that is awaited, one at a time.
    void fork_next() noexcept;
    /// Waits until all others have arrived.
    void join() noexcept;
    /// One of those that the flow awaits has come to the end. Any thread calls this; the flow may go on then.
    void arrived() noexcept;

    /// This belongs to it from now on, or to the flow that it is a branch of.
    void own(belonging &more) noexcept
    {
        parent_ == nullptr ? owned_.add(more) : root().owned_.add_by_branch(more);
    }
    /// It does not any more.
    void disown(belonging &own) noexcept
    {
        parent_ == nullptr ? owned_.remove(own) : root().owned_.remove_by_branch(own);
    }
    /// It has come to its end by this exit, and what it still has ends with it. One that has failed has not forgotten
    /// it: the node that lets go of it was never called.
    void end_owned(outcome exit) noexcept
    {
        if (!owned_.empty()) {
            const std::size_t forgotten = owned_.end();
            counters_.forgotten += exit == outcome::failed ? 0 : forgotten;
        }
    }
    /// The flow that it is a branch of, or a branch of a branch; itself where it is none.
    flow &root() noexcept
    {
        flow *whole = this;
        while (whole->parent_ != nullptr) {
            whole = whole->parent_;
        }
        return *whole;
    }

    /// Its number among the flows of its source, from 1.
    std::uint64_t id() const noexcept { return id_.load(std::memory_order_relaxed); }
    /// The flow that it is a branch of; null where it is none.
    flow *parent() const noexcept { return parent_; }
    /// Where it comes from.
    source &from() const noexcept { return *source_; }
    /// What it runs on.
    runner &on() const noexcept { return *runner_; }
    /// Its session; 0 where its source has none.
    int session() const noexcept { return session_; }
    /// The path register.
    path_number path() const noexcept { return path_; }
    /// The node whose error is in hand.
    node_number failed_node() const noexcept { return failed_node_; }
    /// The node that was called or asked to dispatch last.
    node_number position() const noexcept
    {
        return position_.load(std::memory_order_relaxed)->load(std::memory_order_relaxed);
    }
    /// What the flow has done so far.
    const counters &counted() const noexcept { return counters_; }

    /// What it has spent of its budget for I/O (`io/budget.hpp`).
    std::uint64_t io_spent = 0;
    /// The one that its store made before it; null for the first.
    flow *made_before = nullptr;

  private:
    enum class stage : unsigned char { ended, queued, running };

    void cancel_branches(std::size_t from) noexcept;
    void run_blocking(blocking_call call);
    void run_on_stack(std::size_t bytes, blocking_call call);
    // The sizes of values are asked for only where somebody may want to know. There is one call on each way, so that
    // who calls this needs no more registers for what hardly ever happens.
    template <class... Values>
    [[gnu::always_inline]] void look_up(node_number called, const Values &...given) noexcept
    {
        if constexpr ((has_fixed_size<Values> && ...)) {
            tell_and_give_way(called);
        } else {
            if (crowded_ == &somebody_waits) [[unlikely]] {
                tell_and_give_way(called, size_of_values(given...));
            } else {
                give_way();
            }
        }
    }
    void tell_and_give_way(node_number called) noexcept;
    void give_way() noexcept;
    [[gnu::cold]] void tell_and_give_way(node_number called, std::size_t given_bytes) noexcept;
    void tell(node_number called) noexcept;
    edge_origin came_from() const noexcept;

    path_number path_ = 0;
    counters counters_;
    // At its place. Others read it, while its source exists.
    std::atomic<std::atomic<node_number> *> position_{&nowhere};
    int error_ = 0;
    node_number failed_node_ = no_node;
    std::atomic<std::uint64_t> id_{0};
    std::atomic<stage> stage_{stage::ended};
    int session_ = 0;
    source *source_ = nullptr;
    flow *parent_ = nullptr;
    state_changes *changes_ = nullptr;
    runner *runner_ = nullptr;
    waiter *place_ = nullptr;
    constraint_count *constraint_counts_ = nullptr;
    const std::atomic<bool> *crowded_ = &nobody_waits;
    std::uint32_t held_ = 0;
    belongings owned_;
    cancellation cancellation_;
    moment deadline_ = never;
    // Those of the parallel step that it is at, and how many they are so far.
    branch_base *const *branches_ = nullptr;
    std::atomic<std::size_t> branch_count_{0};
    flow_trace trace_;
    flow_timing timing_;
    flow_spans spans_;
    const node_stack *stack_ = nullptr;
};

/// The flow that the calling thread runs, or the one it makes values for; null outside. The crash message reads it.
inline thread_local constinit flow *running_flow = nullptr;

} // namespace flux
