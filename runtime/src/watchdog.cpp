#include "flux/watchdog.hpp"

#include "flux/log.hpp"
#include "flux/loop.hpp"
#include "flux/program.hpp"

#include <algorithm>
#include <iterator>
#include <pthread.h>

namespace flux {
namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

/// How long a node may hold a loop, and how soon it looks again at one that runs something.
constexpr auto period = 1ms;
/// How often it looks so: to be woken costs a busy loop as much as some requests.
constexpr auto stride = 20ms;
/// After so many looks that found every loop at rest it rests too, but looks now and then, as a loop that begins just
/// then may not see it.
constexpr unsigned looks_until_rest = 5;
constexpr auto longest_rest = 100ms;

} // namespace

watchdog::watchdog(const program &of) : program_(of)
{
    for (node_number node = 0; node < of.nodes.size(); ++node) {
        holds_.push_back({node, 0, 0ns});
    }
}

void watchdog::start(std::span<const std::unique_ptr<loop>> loops)
{
    seen_.resize(loops.size());
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
        const bool resting = quiet_looks >= looks_until_rest;
        bool was_rung = false;
        {
            std::unique_lock guard(lock_);
            rests_.store(resting);
            was_rung = bell_.wait_for(guard, resting ? longest_rest : closely ? period : stride,
                                      [&] { return finished_ || rests_.load() != resting; });
            rests_.store(false);
            if (finished_) {
                return;
            }
        }
        const activity seen = look(loops);
        closely = seen == activity::same || (seen == activity::some && !closely);
        // Who was rung for is seldom still at it, and has not to ring again for its next flow.
        quiet_looks = seen != activity::none || was_rung ? 0 : quiet_looks + 1;
    }
}

watchdog::activity watchdog::look(std::span<const std::unique_ptr<loop>> loops) noexcept
{
    const clock::time_point now = clock::now();
    activity found = activity::none;
    for (std::size_t number = 0; number < loops.size(); ++number) {
        const loop_turn turn = loops[number]->turn();
        // A flow may have come to its end meanwhile, but its memory stays as long as its source.
        const node_number node = turn.running == nullptr ? no_node : turn.running->position();
        sight &last = seen_[number];
        if (turn.running != nullptr) {
            found = std::max(found, activity::some);
        }
        if (turn.number != last.turn || node != last.node) {
            last = {turn.number, node, now, false};
        } else if (node < holds_.size()) {
            found = activity::same;
            if (now - last.since >= period) {
                held(node, now - last.since, last.counted);
                last.counted = true;
            }
        }
    }
    return found;
}

void watchdog::held(node_number node, std::chrono::nanoseconds time, bool counted) noexcept
{
    const std::lock_guard alone(lock_);
    loop_hold &found = holds_[node];
    if (found.times == 0) {
        const node_info &info = program_.nodes[node];
        log_line("%s (%s:%u) holds its event loop for more than a millisecond: other flows wait", info.name, info.file,
                 info.line);
    }
    found.times += counted ? 0 : 1;
    found.longest = std::max(found.longest, time);
}

void watchdog::ring(bool for_the_last_time) noexcept
{
    {
        const std::lock_guard alone(lock_);
        rests_.store(false);
        finished_ = finished_ || for_the_last_time;
    }
    bell_.notify_one();
}

} // namespace flux
