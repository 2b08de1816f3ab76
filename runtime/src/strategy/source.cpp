#include "flux/strategy/source.hpp"

#include "flux/error.hpp"
#include "flux/io.hpp"
#include "flux/log.hpp"
#include "flux/event/loop.hpp"
#include "flux/io/park.hpp"
#include "flux/processor_use.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <pthread.h>
#include <sys/prctl.h>

namespace flux {

source::source(const program &of, source_number number, const flow_settings &flows, strategy &by, runner &own,
               flow_times &times, instance which)
    : program_(of), info_(of.sources[number]), number_(number), paths_(paths_of(of, info_)), strategy_(by), own_(own),
      settings_(flows), instance_(which), home_(info_.replicable ? which.runs_on : nullptr),
      timed_(flows.timed_one_in), times_(times),
      flows_(info_, flows.most),
      timer_(std::chrono::milliseconds(info_.period_ms), moment()), next_id_(which.number + 1)
{
}

void source::start()
{
    if (instance_.runs_on != nullptr) {
        instance_.runs_on->begin(*this);
    } else {
        thread_ = std::thread([this] { run_thread(); });
        if (pthread_getcpuclockid(thread_.native_handle(), &cpu_clock_) != 0) {
            cpu_clock_ = {};
        }
    }
}

std::chrono::nanoseconds source::cpu_time() const noexcept
{
    timespec used{};
    if (instance_.runs_on != nullptr) {
        return {};
    }
    // The clock goes with the thread, so what there was at the end is looked for behind it.
    const bool is_known = cpu_clock_ != clockid_t{} && clock_gettime(cpu_clock_, &used) == 0;
    const std::int64_t at_end = cpu_time_at_end_ns_.load();
    if (at_end >= 0) {
        return std::chrono::nanoseconds(at_end);
    }
    return is_known ? std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec)
                    : std::chrono::nanoseconds(0);
}

void source::join()
{
    if (thread_.joinable()) {
        thread_.join();
    }
}

void source::stop() noexcept
{
    stopping_.store(true);
    flow_ended_.happened();
    if (instance_.runs_on == nullptr && !interrupts_) {
        interrupts_.emplace();
    }
    flow *const making = making_.load();
    if (flow *seen = making; making != nullptr && making_.compare_exchange_strong(seen, nullptr)) {
        making->cancel();
        if (instance_.runs_on == nullptr) {
            interrupts_->interrupt(thread_.native_handle());
        }
        making_.store(making);
    }
}

const char *source::node_name(node_number node) const noexcept
{
    return node < program_.nodes.size() ? program_.nodes[node].name : info_.node.name;
}

void source::continue_trace(flow &making, std::string_view traceparent) const noexcept
{
    if (const std::optional<trace_parent> parent = parse_trace_parent(traceparent);
        keeps_spans() && parent && parent->is_sampled) {
        making.begin_spans(parent);
    }
}

void source::run(flow &started, runner &on) noexcept
{
    running_flow = &started;
    if (home_ == nullptr) {
        started.run_on(on);
    } else {
        started.move_to(no_node); // it runs where it was made
    }
    started.set_running();
    if (started.timing().is_on()) [[unlikely]] {
        started.timing().runs();
    }
    const path_number made = started.begin_path();
    const outcome exit = info_.run(started);
    started.end_path(made, paths_.radix[index_of(exit)]);
    started.end_owned(exit);
    started.end_trace(exit);
    if (started.timing().is_on()) [[unlikely]] {
        const bool is_input_end = exit == outcome::failed && started.error() == end_of_input;
        started.timing().ended(started.position(), {number_, exit, is_input_end, started.path()});
    }
    if (started.spans().is_on()) [[unlikely]] {
        started.spans().ended(started, exit, *settings_.spans.to);
    }
    if (exit == outcome::failed) [[unlikely]] {
        count_unhandled(started, on);
    }
    on.counts().finished(number_, started, exit);
    started.set_ended();
    running_flow = nullptr;
    home_ == nullptr ? flows_.give_back(started) : flows_.give_back_here(started);
    flow_ended_.happened();
}

void source::run_thread() noexcept
{
    char thread_name[16]; // the kernel's limit
    std::snprintf(thread_name, sizeof thread_name, "%s", info_.node.name);
    pthread_setname_np(pthread_self(), thread_name);
    prctl(PR_SET_TIMERSLACK, 1); // nanosecond: the kernel's 50 µs would double the shortest pause
    const on_runner here(own_);
    make_flows();
    cpu_time_at_end_ns_.store(processor_use::of_thread().time.count());
}

void source::make_flows() noexcept
{
    if (info_.period_ms != 0) {
        timer_ = timer(std::chrono::milliseconds(info_.period_ms), running_io().now());
    }
    while (!stopping_.load()) {
        flow &next = flows_.take(own_.place());
        next.begin(*this, next_id_);
        next.run_on(own_);
        if (produce(next)) {
            next_id_ += instance_.of;
            own_.counts().started(number_);
            next.set_queued();
            if (settings_.time.count() != 0) {
                // The source may have set an earlier one.
                next.set_deadline(std::min(next.deadline(), running_io().now() + settings_.time));
            }
            if (settings_.trace_one_in != 0 && (next.id() - 1) % settings_.trace_one_in == 0) {
                next.begin_trace();
            }
            if (keeps_spans() && --until_spans_ == 0) [[unlikely]] {
                until_spans_ = settings_.spans.one_in;
                if (!next.spans().is_on()) {
                    next.begin_spans(std::nullopt);
                }
            }
            if (const std::uint32_t flows = timed_.next(); flows != 0 && !times_.leaves_out()) [[unlikely]] {
                next.begin_timing(times_, flows);
            }
            if (home_ == nullptr) {
                strategy_.start(next, own_);
            } else if (!home_->run_pinned(next)) {
                return;
            }
        } else {
            next.spans().drop();
            flows_.put_back(next);
        }
    }
    let_go();
    states_.clear();
    ended_.store(true, std::memory_order_release);
}

// In a flow, as all that it does, but in one that waits for nothing any more.
void source::let_go() noexcept
{
    if (when_stopped_.empty()) {
        return;
    }
    flow last;
    last.begin(*this, next_id_);
    last.run_on(own_);
    last.cancel();
    running_flow = &last;
    for (const std::function<void()> &each : std::exchange(when_stopped_, {})) {
        each();
    }
    last.end_owned(outcome::failed);
    running_flow = nullptr;
}

// True where there are values, and the flow is to start.
bool source::produce(flow &into) noexcept
{
    running_flow = &into;
    const bool on_thread = instance_.runs_on == nullptr;
    if (on_thread) {
        begin_wait(into);
    }
    const bool made = !stopping_.load() && (info_.period_ms != 0 ? wait_for_beat(into) : make_values(into));
    if (on_thread) {
        end_wait(into);
    }
    if (made) {
        into.cancelling().begin(); // the source was to be stopped, not the flow
    }
    running_flow = nullptr;
    return made;
}

void source::begin_wait(flow &making) noexcept
{
    making_.store(&making);
    // Who stops the source after this sees what it makes, and cancels that.
    if (stopping_.load()) {
        making.cancel();
    }
}

void source::end_wait(flow &making) noexcept
{
    for (flow *seen = &making; !making_.compare_exchange_weak(seen, nullptr); seen = &making) {
        std::this_thread::yield(); // somebody is just at it
    }
}

bool source::wait_for_beat(flow &into) noexcept
{
    park until_beat(into, park_reason::sleep);
    if (until_beat.wait(timer_.next()) != park_end::timed_out) {
        return false;
    }
    timer_.given(running_io().now());
    return true;
}

bool source::make_values(flow &into) noexcept
{
    const moment tried_at = backoff_.watching() ? running_io().now() : moment();
    outcome made = outcome::failed;
    bool on_a_path = true;
    try {
        made = info_.produce(into);
    } catch (...) {
        // The values could not even be constructed: that is before the path begins.
        into.failed_in(no_node, into.caught());
        on_a_path = false;
    }
    if (made != outcome::done) {
        into.end_owned(outcome::failed);
    }
    if (made != outcome::done && stopping_.load()) {
        return false; // it was interrupted, which is no failure of the source
    }
    if (on_a_path && (made != outcome::done || paths_.cut)) {
        own_.counts().took(info_.produce_function, made, into.begin_path());
    }
    if (made != outcome::done) {
        own_.counts().had_nothing(number_, into);
        own_.failures().failed(into.failed_node(), into.error());
        pause(into.error(), tried_at);
        return false;
    }
    backoff_.succeeded();
    flow_ended_.ignore();
    return true;
}

// A flow has failed: without this nobody would know why.
void source::count_unhandled(const flow &failed, runner &on) const noexcept
{
    if (failed.error() == end_of_input || failed.cancelled()) {
        return;
    }
    on.failures().unhandled(failed.failed_node(), failed.error());
    const node_number node = failed.failed_node();
    const node_info &info = node < program_.nodes.size() ? program_.nodes[node] : info_.node;
    log_rarely_each(failure_counts::key_of(node, failed.error()),
                    "%s (%s:%u) failed with %s, which no handler takes: that ended flow %" PRIu64 " of %s", info.name,
                    info.file, info.line, describe_error(failed.error()).c_str(), failed.id(), info_.node.name);
}

// After a failure, where the source did not wait by itself.
void source::pause(int error, moment tried_at) noexcept
{
    flow_ended_.watch();
    const moment now = running_io().now();
    const backoff::pause length = backoff_.failed(now, now - tried_at);
    if (backoff_.to_be_named()) {
        log_line("source %s (%s:%u) fails again and again without waiting for anything, with %s: it is tried every "
                 "%d ms, or when one of its flows ends",
                 info_.node.name, info_.node.file, info_.node.line, describe_error(error).c_str(),
                 static_cast<int>(backoff::longest_pause.count()));
    }
    if (length.at_most.count() == 0) {
        return;
    }
    waiter &place = own_.place();
    place.wait_until(now + length.at_least);
    const bool goes_on = length.at_most > length.at_least && !stopping_.load();
    if (goes_on && flow_ended_.wait(place, now + length.at_most)) {
        backoff_.flow_ended(running_io().now());
    }
}

} // namespace flux
