#include "flux/insight/live_experiment.hpp"

#include "flux/insight/formatted_text.hpp"
#include "flux/insight/json_text.hpp"
#include "flux/moment.hpp"
#include "flux/processor_use.hpp"

#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <cmath>
#include <pthread.h>
#include <signal.h>

namespace flux {
namespace {

constexpr std::size_t most_kept = 1024;
constexpr unsigned most_percent = 90;

// Of the node, 1 to 90; 0 where it is none.
unsigned percent_in(std::string_view text) noexcept
{
    unsigned percent = 0;
    const std::string_view number = text.substr(0, text.size() - (text.ends_with('%') ? 1 : 0));
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), percent);
    const bool is_right = error == std::errc() && end == number.data() + number.size() && percent <= most_percent;
    return is_right ? percent : 0;
}

} // namespace

std::optional<experiment_plan> parse_experiment(std::string_view text, const program &of)
{
    experiment_plan plan;
    const std::size_t equals = text.rfind('=');
    if (equals != text.npos) {
        plan.percent = percent_in(text.substr(equals + 1));
    }
    const auto found = std::ranges::find(of.nodes, text.substr(0, equals), &node_info::name);
    if (found == of.nodes.end() || plan.percent == 0) {
        return std::nullopt;
    }
    plan.node = static_cast<node_number>(found - of.nodes.begin());
    return plan;
}

namespace {

// Flows a second, in the time that the faster server would have needed.
double rate_of(const experiment_slice &slice) noexcept
{
    const auto time = static_cast<double>((slice.time - slice.delays).count());
    return time > 0 ? 1e9 * static_cast<double>(slice.flows) / time : 0;
}

} // namespace

live_experiment::gain live_experiment::throughput() const
{
    gain found;
    double squares = 0;
    const std::vector<experiment_slice> all = slices();
    for (std::size_t number = 0; number + 1 < all.size(); number += 2) {
        const bool is_first_faster = all[number].percent != 0;
        const double before = rate_of(all[number + (is_first_faster ? 1 : 0)]);
        const double then = rate_of(all[number + (is_first_faster ? 0 : 1)]);
        if (before > 0) {
            const double part = then / before - 1;
            ++found.pairs;
            const double off = part - found.mean;
            found.mean += off / static_cast<double>(found.pairs);
            squares += off * (part - found.mean);
        }
    }
    const auto pairs = static_cast<double>(found.pairs);
    found.error = found.pairs > 1 ? std::sqrt(squares / (pairs - 1) / pairs) : 0;
    return found;
}

struct live_experiment::reading {
    moment at;
    std::chrono::nanoseconds delays;
    std::uint64_t flows;
    virtual_speed_up::lives lives;
    std::chrono::nanoseconds used;
};

live_experiment::reading live_experiment::read() noexcept
{
    virtual_speed_up &by = on_.speed_up();
    return {clock::now(), by.read().all, on_.flows_ended(), by.lived(), processor_use::of_process().time};
}

void live_experiment::begin(const experiment_plan &plan)
{
    end();
    {
        const std::lock_guard alone(lock_);
        plan_ = plan;
        slices_.clear();
        is_running_ = true;
        is_to_end_ = false;
    }
    // Signals are for the main thread.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        thread_ = std::thread([this, plan] { run(plan); });
    } catch (...) {
        is_running_ = false;
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        throw;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void live_experiment::end()
{
    {
        const std::lock_guard alone(lock_);
        is_to_end_ = true;
    }
    ended_.notify_all();
    if (thread_.joinable()) {
        thread_.join();
    }
}

// True where it is to end before.
bool live_experiment::wait_for(std::chrono::milliseconds time)
{
    std::unique_lock alone(lock_);
    return ended_.wait_for(alone, time, [this] { return is_to_end_; });
}

void live_experiment::begin_slice(const experiment_plan &plan, bool is_changed) noexcept
{
    if (plan.is_of_profile) {
        on_.times().leave_out(is_changed);
    } else {
        on_.speed_up().set_part(is_changed ? plan.percent / 100.0 : 0);
    }
}

void live_experiment::run(const experiment_plan &plan)
{
    pthread_setname_np(pthread_self(), "flux-experiment");
    virtual_speed_up &by = on_.speed_up();
    if (!plan.is_of_profile) {
        by.begin(plan.node);
        on_.follow_all(true);
    }
    // Until nearly all flows are followed.
    bool is_to_end = wait_for(plan.slice);
    reading before = read();
    for (std::size_t number = 0; !is_to_end && (plan.slices == 0 || number < plan.slices); ++number) {
        // With and without, without and with: so a load that grows favours neither.
        const bool is_changed = number % 4 == 1 || number % 4 == 2;
        const unsigned percent = is_changed && !plan.is_of_profile ? plan.percent : 0;
        begin_slice(plan, is_changed);
        is_to_end = wait_for(plan.slice);
        const reading after = read();
        const experiment_slice slice{percent, after.at - before.at, after.delays - before.delays,
                                     after.flows - before.flows,
                                     {after.lives.flows - before.lives.flows,
                                      after.lives.together - before.lives.together},
                                     after.used - before.used, !plan.is_of_profile || !is_changed};
        before = after;
        const std::lock_guard alone(lock_);
        if (slices_.size() == most_kept) {
            slices_.erase(slices_.begin(), slices_.begin() + 2);
        }
        if (!is_to_end) {
            slices_.push_back(slice);
        }
    }
    begin_slice(plan, false);
    on_.follow_all(false);
    by.end();
    const std::lock_guard alone(lock_);
    is_running_ = false;
}

std::vector<experiment_slice> live_experiment::slices() const
{
    const std::lock_guard alone(lock_);
    return slices_;
}

// One object: the node and what it takes less, of the experiment that goes on (`is_running`) or was the last (`node` is
// null where there was none), how many slices are to come (null where it has no end), and those that were.
std::string live_experiment::json() const
{
    const std::lock_guard alone(lock_);
    const program &of = on_.of();
    const bool is_some = plan_.node < of.nodes.size();
    formatted_text text;
    text.add("{\n  \"node\": %s, \"percent\": %u, \"slice_ms\": %" PRId64 ", \"is_running\": %s, ",
             is_some ? quoted(of.nodes[plan_.node].name).c_str() : "null", plan_.percent,
             static_cast<std::int64_t>(plan_.slice.count()), is_running_ ? "true" : "false");
    if (plan_.slices == 0) {
        text.all += "\"left\": null,\n";
    } else {
        text.add("\"left\": %zu,\n", plan_.slices - std::min(plan_.slices, slices_.size()));
    }
    add_list(text, "slices", slices_, "", [&](const experiment_slice &each) {
        text.add("\"percent\": %u, \"ns\": %" PRId64 ", \"delays_ns\": %" PRId64 ", \"flows\": %" PRIu64
                 ", \"followed\": %" PRIu64 ", \"followed_ns\": %" PRId64 ", \"cpu_ns\": %" PRId64 ", \"timed\": %s",
                 each.percent, static_cast<std::int64_t>(each.time.count()),
                 static_cast<std::int64_t>(each.delays.count()), each.flows, each.lives.flows,
                 static_cast<std::int64_t>(each.lives.together.count()), static_cast<std::int64_t>(each.used.count()),
                 each.is_timed ? "true" : "false");
    });
    return text.all + "}\n";
}

} // namespace flux
