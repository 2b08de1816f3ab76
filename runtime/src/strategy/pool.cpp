#include "flux/strategy/pool.hpp"

#include "flux/flow/branch.hpp"
#include "flux/flow/flow.hpp"
#include "flux/log.hpp"
#include "flux/strategy/queue.hpp"
#include "flux/strategy/runner.hpp"
#include "flux/strategy/source.hpp"
#include "flux/waiting/thread_usage.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <new>
#include <pthread.h>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace flux {
namespace {

/// When nobody has come for what stands in the queue for so long, it is asked why.
constexpr std::chrono::milliseconds patience{100};
/// A pool that cannot grow says that after so many times as long.
constexpr int patience_at_bound = 10;

/// A thread of a pool, for the one who watches it.
struct worker {
    runner *on;
    // Set by the thread when it begins.
    std::atomic<watched_thread> watched{};
    std::thread thread{};
};

class pool final : public strategy
{
  public:
    pool(runners &all, std::size_t workers, std::size_t queue_capacity, std::size_t most)
        : all_(all), most_(std::max(workers, most)), queue_(queue_capacity)
    {
        add_threads(workers);
        if (workers_.empty()) {
            throw std::system_error(EAGAIN, std::generic_category(), "no thread for the pool");
        }
        if (workers_.size() < workers) {
            log_line("the pool has %zu threads: there are no more to be had", workers_.size());
        } else if (workers < most_) {
            watcher_ = std::thread([this] { watch(); });
        }
    }

    void start(flow &made, runner &) noexcept override { queue_.push(made); }

    void offer(branch_base &unstarted) noexcept override { queue_.offer(unstarted); }

    bool take_back(branch_base &offered) noexcept override { return queue_.take_back(offered); }

    void finish() noexcept override
    {
        queue_.close();
        if (watcher_.joinable()) {
            watcher_.join();
        }
        for (const auto &each : workers_) {
            each->thread.join();
        }
        workers_.clear();
    }

  private:
    // As many of these as can be had.
    void add_threads(std::size_t count) noexcept
    {
        while (count-- != 0 && add_thread()) {
        }
    }

    bool add_thread() noexcept
    {
        runner *const on = all_.borrow();
        if (on == nullptr) {
            return false;
        }
        try {
            workers_.push_back(std::make_unique<worker>(on));
        } catch (const std::bad_alloc &) {
            all_.give_back(*on);
            return false;
        }
        try {
            workers_.back()->thread = std::thread([this, &self = *workers_.back()] { work(self); });
            return true;
        } catch (const std::exception &) {
            workers_.pop_back();
            all_.give_back(*on);
            return false;
        }
    }

    void work(worker &self) noexcept
    {
        pthread_setname_np(pthread_self(), "flux-pool");
        self.watched.store(watched_thread::calling());
        runner &on = *self.on;
        const on_runner here(on);
        while (true) {
            const queued next = queue_.pop();
            if (next.offered != nullptr) {
                next.offered->run(on);
            } else if (next.started != nullptr) {
                next.started->from().run(*next.started, on);
            } else {
                return;
            }
        }
    }

    // On a thread of its own, which alone looks at the workers and adds to them until it ends.
    void watch() noexcept
    {
        pthread_setname_np(pthread_self(), "flux-pool-watch");
        int times_at_bound = 0;
        while (queue_.await_backlog()) {
            const std::size_t queued = queue_.stands_still_for(patience);
            if (queued == 0 || !all_sleep()) {
                times_at_bound = 0;
            } else if (workers_.size() < most_) {
                grow(queued);
            } else if (++times_at_bound == patience_at_bound) {
                log_line("all %zu threads of the pool have waited for a second, %s, and %zu flows or branches wait "
                         "for a thread: under --flux-runtime=event a flow that waits through the runtime holds none",
                         workers_.size(), where_most_wait().c_str(), queued);
            }
        }
    }

    bool all_sleep() const noexcept
    {
        return std::all_of(workers_.begin(), workers_.end(),
                           [](const auto &each) { return each->watched.load().usage().asleep; });
    }

    void grow(std::size_t queued) noexcept
    {
        const std::size_t before = workers_.size();
        const std::string where = where_most_wait();
        add_threads(std::min({queued, before, most_ - before}));
        if (workers_.size() == before) {
            log_rarely("all %zu threads of the pool wait, %s, and there are no more to be had", before, where.c_str());
        } else {
            log_line("all %zu threads of the pool wait, %s, and %zu flows or branches wait for a thread: the pool "
                     "grows to %zu threads, of at most %zu",
                     before, where.c_str(), queued, workers_.size(), most_);
        }
    }

    // As "3 of them in Ask (agg.flux:7)".
    std::string where_most_wait() const
    {
        std::map<node_number, std::size_t> waiting;
        for (const auto &each : workers_) {
            ++waiting[each->on->place().position.load(std::memory_order_relaxed)];
        }
        const auto fewer = [](const auto &left, const auto &right) { return left.second < right.second; };
        const auto [node, count] = *std::max_element(waiting.begin(), waiting.end(), fewer);
        const std::string of_them = std::to_string(count) + " of them ";
        if (node >= all_.of().nodes.size()) {
            return of_them + "before the first node";
        }
        const node_info &info = all_.of().nodes[node];
        return of_them + "in " + info.name + " (" + info.file + ":" + std::to_string(info.line) + ")";
    }

    runners &all_;
    const std::size_t most_;
    queue queue_;
    std::vector<std::unique_ptr<worker>> workers_;
    std::thread watcher_;
};

} // namespace

std::unique_ptr<strategy> make_pool_strategy(runners &all, std::size_t workers, std::size_t queue_capacity,
                                             std::size_t most)
{
    return std::make_unique<pool>(all, workers, queue_capacity, most);
}

} // namespace flux
