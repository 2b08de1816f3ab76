#include "flux/event/event.hpp"

#include "flux/event/blocking_pool.hpp"
#include "flux/flow/branch.hpp"
#include "flux/flow/flow.hpp"
#include "flux/log.hpp"
#include "flux/event/loop.hpp"
#include "flux/strategy/runner.hpp"
#include "flux/strategy/sources.hpp"
#include "flux/event/watchdog.hpp"
#include "flux/waiting/wait_table.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <new>
#include <system_error>

namespace flux {
namespace {

class event final : public strategy
{
  public:
    event(runners &all, const program &of, std::size_t workers, const make_loop_io &make_io,
          const event_bounds &bounds)
        : watchdog_(of, all.io()->entrances), blocking_(all, bounds.blocking),
          calls_(all, std::min(bounds.blocking, most_call_threads), blocking_pool::longest_idle, "flux-calls"),
          waits_(all, bounds.blocking == 0 ? 0 : most_wait_threads, blocking_pool::longest_idle, "flux-waits")
    {
        loops_.reserve(workers);
        for (std::size_t number = 0; number < workers; ++number) {
            std::size_t sources = 0;
            for (source_number source = 0; source < of.sources.size(); ++source) {
                sources += runs_on_loop(of, source, number, workers) ? 1 : 0;
            }
            runner *const own = all.borrow();
            if (own == nullptr) {
                throw std::bad_alloc();
            }
            loops_.push_back(std::make_unique<loop>(loops_, *own, make_io(), bounds.fibers, sources));
        }
        try {
            start_threads();
        } catch (...) {
            finish();
            throw;
        }
    }

    void start(flow &made, runner &) noexcept override
    {
        loop &chosen = least_loaded();
        chosen.push(made);
        // Another that is idle by now may take it.
        if (!chosen.wake()) {
            wake_one_for(chosen);
        }
    }

    void offer(branch_base &unstarted) noexcept override { loop::running()->offer(unstarted); }

    bool take_back(branch_base &offered) noexcept override { return loop::running()->take_back(offered); }

    // A source on a thread of its own holds up nobody.
    void run_blocking(flow &running, blocking_call call) override
    {
        return loop::running() != nullptr ? blocking_.run(running, call) : call.run();
    }

    blocking_pool *pool_for_calls(bool wait_for_others) noexcept override
    {
        return loop::running() == nullptr ? nullptr : wait_for_others ? &waits_ : &calls_;
    }

    void finish() noexcept override
    {
        for (std::size_t number = 0; number < started_; ++number) {
            loops_[number]->close();
        }
        for (std::size_t number = 0; number < started_; ++number) {
            loops_[number]->join();
        }
        started_ = 0;
        waiting_fibers.settle([] { std::this_thread::yield(); });
        blocking_.finish();
        calls_.finish();
        waits_.finish();
        watchdog_.finish();
    }

    std::span<const std::unique_ptr<loop>> homes() const noexcept override { return loops_; }

    loop_facts facts(facts_wanted wanted) override
    {
        loop_facts known{watchdog_.holds()};
        known.blocking_threads = blocking_.most_threads();
        known.call_threads = calls_.most_threads();
        known.wait_threads = waits_.most_threads();
        for (const auto &each : loops_) {
            if (wanted == facts_wanted::all) {
                known.stack_bytes = std::max(known.stack_bytes, each->high_water_mark());
            }
            const loop_sleeps slept = each->sleeps();
            known.sleeps.times += slept.times;
            known.sleeps.measured += slept.measured;
            known.sleeps.worked += slept.worked;
            known.flows.push_back(each->flows());
            known.accepted.push_back(each->accepted());
            known.stacks += each->stacks();
            known.queues.push_back({"loop " + std::to_string(known.queues.size()), each->waiting()});
        }
        known.queues.push_back({"threads for nodes that block", blocking_.waiting()});
        known.queues.push_back({"threads for calls of files and names", calls_.waiting()});
        known.queues.push_back({"threads for calls that wait for others", waits_.waiting()});
        return known;
    }

  private:
    // Loops take turns, so that flows which wait for the world first do not come together at one of them.
    loop &least_loaded() noexcept
    {
        const std::size_t turn = turn_.fetch_add(1, std::memory_order_relaxed);
        loop *least = nullptr;
        std::size_t least_load = std::numeric_limits<std::size_t>::max();
        for (std::size_t passed = 0; passed < loops_.size() && least_load != 0; ++passed) {
            loop &each = *loops_[(turn + passed) % loops_.size()];
            if (const std::size_t load = each.load(); load < least_load) {
                least = &each;
                least_load = load;
            }
        }
        return *least;
    }

    void wake_one_for(const loop &chosen) noexcept
    {
        std::any_of(loops_.begin(), loops_.end(),
                    [&](const auto &each) { return each->may_steal_from(chosen) && each->wake(); });
    }

    void start_threads()
    {
        watchdog_.start(loops_);
        for (const auto &each : loops_) {
            each->start(watchdog_);
            ++started_;
        }
    }

    watchdog watchdog_;
    // For nodes, for calls that end by themselves, and for calls that wait for others.
    blocking_pool blocking_;
    blocking_pool calls_;
    blocking_pool waits_;
    loop_list loops_;
    // Whose thread runs: so many, from the first.
    std::size_t started_ = 0;
    std::atomic<std::size_t> turn_{0};
};

} // namespace

std::unique_ptr<strategy> make_event_strategy(runners &all, const program &of, std::size_t workers,
                                              const make_loop_io &make_io, const event_bounds &bounds)
{
    return std::make_unique<event>(all, of, workers, make_io, bounds);
}

} // namespace flux
