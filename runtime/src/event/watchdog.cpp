#include "flux/event/watchdog.hpp"

#include "flux/io/accepting.hpp"
#include "flux/log.hpp"
#include "flux/event/loop.hpp"
#include "flux/flow/program.hpp"

#include <algorithm>
#include <iterator>
#include <pthread.h>

namespace flux {
namespace {

using namespace std::chrono_literals;

/// How long a node may hold a loop, and how soon it looks again at one that runs something.
constexpr auto period = 1ms;
/// How often it looks so: to be woken costs a busy loop as much as some requests.
constexpr auto stride = 20ms;
/// After so many looks that found every loop idle it is idle too, but looks now and then, as a loop that begins just
/// then may not see it.
constexpr unsigned looks_until_idle = 5;
constexpr auto longest_idle = 100ms;

} // namespace

watchdog::watchdog(const program &of, accepting &entrances) : program_(of), entrances_(entrances)
{
    for (node_number node = 0; node < of.nodes.size(); ++node) {
        holds_.push_back({node, 0, 0ns});
    }
}

void watchdog::start(std::span<const std::unique_ptr<loop>> loops)
{
    known_.resize(loops.size());
    thread_ = std::thread([this, loops] { work(loops); });
}

void watchdog::finish() noexcept
{
    ring(true);
    if (thread_.joinable()) {
        thread_.join();
    }
}

std::vector<loop_hold> watchdog::holds()
{
    std::vector<loop_hold> found;
    {
        const std::lock_guard alone(lock_);
        std::copy_if(holds_.begin(), holds_.end(), std::back_inserter(found),
                     [](const loop_hold &each) { return each.times != 0; });
    }
    std::sort(found.begin(), found.end(),
              [](const loop_hold &left, const loop_hold &right) { return left.longest > right.longest; });
    return found;
}

void watchdog::work(std::span<const std::unique_ptr<loop>> loops) noexcept
{
    pthread_setname_np(pthread_self(), "flux-watchdog");
    unsigned quiet_looks = 0;
    bool closely = false;
    while (true) {
        const bool idle = quiet_looks >= looks_until_idle;
        bool was_rung = false;
        {
            std::unique_lock guard(lock_);
            idle_.store(idle);
            was_rung = bell_.wait_for(guard, idle ? longest_idle : closely ? period : stride,
                                      [&] { return finished_ || idle_.load() != idle; });
            idle_.store(false);
            if (finished_) {
                return;
            }
        }
        const activity seen = look(loops);
        if (seen == activity::same) {
            entrances_.look(); // who waits there for a loop that is held
        }
        closely = seen == activity::same || (seen == activity::some && !closely);
        // Who was rung for is seldom still at it, and has not to ring again for its next flow.
        quiet_looks = seen != activity::none || was_rung ? 0 : quiet_looks + 1;
    }
}

watchdog::activity watchdog::look(std::span<const std::unique_ptr<loop>> loops) noexcept
{
    const moment now = clock::now();
    activity found = activity::none;
    for (std::size_t number = 0; number < loops.size(); ++number) {
        const sight seen = look_at(*loops[number]);
        knowledge &known = known_[number];
        found = std::max(found, seen.busy ? activity::some : activity::none);
        if (seen != known.seen) {
            known = {seen, now, false, {}, false};
        } else if (seen.node < holds_.size()) {
            found = activity::same;
            if (now - known.since >= period) {
                suspect(*loops[number], known, now);
            }
        }
    }
    return found;
}

watchdog::sight watchdog::look_at(const loop &on) noexcept
{
    const loop_turn turn = on.turn();
    // The turn may be over meanwhile, but the place stays as long as the loop.
    const node_number node = turn.running == nullptr ? no_node : turn.running->position.load(std::memory_order_relaxed);
    return {turn.number, node, turn.running != nullptr};
}

// The node may hold the loop, or others have the processor.
void watchdog::suspect(const loop &of, knowledge &known, moment now) noexcept
{
    const thread_usage usage = of.thread().usage();
    if (look_at(of) != known.seen) {
        return; // so some of that is another node's
    }
    if (!known.suspected) {
        known.suspected = true;
        known.own.begin(usage, clock::now());
        return;
    }
    known.own.add(usage, now);
    if (known.own.computed() + known.own.slept() >= period) {
        held(known.seen.node, known.own, known.counted);
        known.counted = true;
    }
}

void watchdog::held(node_number node, const own_time &own, bool counted) noexcept
{
    const std::lock_guard alone(lock_);
    loop_hold &found = holds_[node];
    if (found.times == 0) {
        const node_info &info = program_.nodes[node];
        log_line("%s (%s:%u) holds its event loop for more than a millisecond: it %s, and other flows wait", info.name,
                 info.file, info.line, own.slept() > own.computed() ? "waits in a system call" : "computes");
    }
    found.times += counted ? 0 : 1;
    found.longest = std::max(found.longest, own.slept() + own.computed());
}

void watchdog::ring(bool for_the_last_time) noexcept
{
    {
        const std::lock_guard alone(lock_);
        idle_.store(false);
        finished_ = finished_ || for_the_last_time;
    }
    bell_.notify_one();
}

} // namespace flux
