#include "flux/strategy/pool.hpp"

#include "flux/flow/branch.hpp"
#include "flux/flow/flow.hpp"
#include "flux/log.hpp"
#include "flux/strategy/queue.hpp"
#include "flux/strategy/runner.hpp"
#include "flux/strategy/source.hpp"

#include <pthread.h>
#include <system_error>
#include <thread>
#include <vector>

namespace flux {
namespace {

class pool final : public strategy
{
  public:
    pool(runners &all, std::size_t workers, std::size_t queue_capacity) : queue_(queue_capacity)
    {
        threads_.reserve(workers);
        while (threads_.size() < workers && add_thread(all)) {
        }
        if (threads_.empty()) {
            throw std::system_error(EAGAIN, std::generic_category(), "no thread for the pool");
        }
        if (threads_.size() < workers) {
            log_line("the pool has %zu threads: there are no more to be had", threads_.size());
        }
    }

    void start(flow &made, runner &) noexcept override { queue_.push(made); }

    void offer(branch_base &unstarted) noexcept override { queue_.offer(unstarted); }

    bool take_back(branch_base &offered) noexcept override { return queue_.take_back(offered); }

    void finish() noexcept override
    {
        queue_.close();
        for (std::thread &thread : threads_) {
            thread.join();
        }
        threads_.clear();
    }

  private:
    bool add_thread(runners &all)
    {
        runner *const on = all.borrow();
        if (on == nullptr) {
            return false;
        }
        try {
            threads_.emplace_back([this, on] { work(*on); });
            return true;
        } catch (const std::system_error &) {
            all.give_back(*on);
            return false;
        }
    }

    void work(runner &on) noexcept
    {
        pthread_setname_np(pthread_self(), "flux-pool");
        const on_signal_stack here(on.stack());
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

    queue queue_;
    std::vector<std::thread> threads_;
};

} // namespace

std::unique_ptr<strategy> make_pool_strategy(runners &all, std::size_t workers, std::size_t queue_capacity)
{
    return std::make_unique<pool>(all, workers, queue_capacity);
}

} // namespace flux
