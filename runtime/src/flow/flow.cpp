#include "flux/flow/flow.hpp"

#include "flux/flow/branch.hpp"
#include "flux/flow/compute.hpp"
#include "flux/error.hpp"
#include "flux/log.hpp"
#include "flux/strategy/runner.hpp"
#include "flux/strategy/source.hpp"

#include <cstdlib>
#include <cxxabi.h>
#include <exception>
#include <new>
#include <typeinfo>
#include <utility>

namespace flux {
namespace {

void log_exception(const flow &of, const char *text) noexcept
{
    const std::type_info *type = abi::__cxa_current_exception_type();
    int status = 0;
    char *readable = type == nullptr ? nullptr : abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
    const char *name = readable != nullptr ? readable : "an exception";
    const char *separator = text[0] == '\0' ? "" : ": ";
    log_rarely("%s threw %s%s%s", of.from().node_name(of.position()), name, separator, text);
    std::free(readable);
}

} // namespace

int flow::caught() noexcept
{
    try {
        throw;
    } catch (const compute::failure &failed) {
        return failed.code;
    } catch (const std::bad_alloc &) {
        log_exception(*this, "");
        return out_of_memory;
    } catch (const std::exception &thrown) {
        log_exception(*this, thrown.what());
    } catch (...) {
        log_exception(*this, "");
    }
    return exception_thrown;
}

void flow::run_blocking(blocking_call call)
{
    source_->started_by().run_blocking(*this, call);
}

void flow::run_on_stack(std::size_t bytes, blocking_call call)
{
    node_stacks &all = runner_->stacks();
    std::unique_ptr<node_stack> own = all.take(position(), bytes);
    const node_stack *const before = std::exchange(stack_, own.get());
    const auto leave = [&] {
        stack_ = before;
        all.give_back(std::move(own));
    };
    try {
        own->run(call);
    } catch (...) {
        leave();
        throw;
    }
    leave();
}

void flow::cut_path(path_number before, function_number callee, outcome exit) noexcept
{
    runner_->counts().took(callee, exit, path_);
    path_ = before;
}

void flow::cancel() noexcept
{
    switch (cancellation_.cancel()) {
    case interrupted::nothing:
        break;
    case interrupted::park:
        place_->wake();
        break;
    case interrupted::branches:
        cancel_branches(0);
        arrived();
        break;
    }
}

void flow::cancel_branches(std::size_t from) noexcept
{
    const std::size_t count = branch_count_.load(std::memory_order_acquire);
    for (std::size_t number = from; number < count; ++number) {
        branches_[number]->of().cancel();
    }
}

void flow::fork(std::span<branch_base *const> branches, std::uint32_t awaited) noexcept
{
    branches_ = branches.data();
    branch_count_.store(branches.size(), std::memory_order_relaxed);
    if (cancellation_.await(awaited)) {
        cancel_branches(0);
    }
}

void flow::fork_next() noexcept
{
    // Counted first: who cancels the flow from here on finds it, and of who did before, `await` tells.
    const std::size_t number = branch_count_.load(std::memory_order_relaxed);
    branch_count_.store(number + 1, std::memory_order_release);
    if (cancellation_.await(1)) {
        cancel_branches(number);
    }
}

void flow::join() noexcept
{
    if (!cancellation_.arrived()) {
        place_->wait();
    }
}

void flow::arrived() noexcept
{
    // Who is the last is waited for, so the flow is still there.
    if (cancellation_.arrived()) {
        place_->wake();
    }
}

void flow::run_on(runner &on) noexcept
{
    runner_ = &on;
    place_ = &on.place();
    position_.store(&place_->position, std::memory_order_relaxed);
    move_to(no_node);
    constraint_counts_ = on.constraint_counts();
    crowded_ = trace_.is_on() || timing_.is_on() || spans_.is_on() ? &somebody_waits : &on.looked_at();
}

void flow::tell_and_give_way(node_number called) noexcept
{
    if (crowded_ == &somebody_waits) {
        tell(called);
    }
    give_way();
}

void flow::give_way() noexcept
{
    if (held_ == 0 && runner_->crowded().load(std::memory_order_relaxed)) {
        let_others_go_on();
    }
}

// To who wants to know of all its nodes.
void flow::tell(node_number called) noexcept
{
    if (trace_.is_on()) {
        trace_.called(*this, called);
    }
    // A source that makes values is not followed.
    if (runner_->speed_up().is_on() && stage_.load(std::memory_order_relaxed) == stage::running) {
        timing_.follow(runner_->speed_up(), source_->times());
    }
    if (timing_.is_on()) {
        timing_.called(position(), called);
    }
    if (spans_.is_on()) {
        spans_.called(position());
    }
}

void flow::tell_and_give_way(node_number called, std::size_t given_bytes) noexcept
{
    tell(called);
    if (timing_.is_on()) {
        timing_.given(came_from(), called, given_bytes);
    }
    give_way();
}

// The node that it has left. Of one that is at none yet: that which the flow was at that it is a branch of, or at last
// its source.
edge_origin flow::came_from() const noexcept
{
    for (const flow *each = this; each != nullptr; each = each->parent_) {
        if (const node_number left = each->timing_.left(); left != no_node) {
            return left;
        }
    }
    return source_->as_origin();
}

void flow::count_failure(int error) noexcept
{
    runner_->failures().failed(position(), error);
}

void flow::failed_in(node_number node, int error) noexcept
{
    failed_node_ = node;
    error_ = error;
    if (error != end_of_input) {
        ++counters_.failures;
        // What a source fails with it counts itself: that it was interrupted is no failure.
        if (stage_.load(std::memory_order_relaxed) == stage::running) {
            runner_->failures().failed(node, error);
        }
    }
    if (trace_.is_on()) {
        trace_.failed(*this, node, error);
    }
    if (spans_.is_on()) {
        spans_.failed(error);
    }
}

} // namespace flux
