#include "flux/strategy/thread.hpp"

#include "flux/flow/branch.hpp"
#include "flux/flow/flow.hpp"
#include "flux/log.hpp"
#include "flux/strategy/runner.hpp"
#include "flux/strategy/source.hpp"
#include "flux/strategy/thread_stacks.hpp"

#include <atomic>
#include <cstring>

namespace flux {
namespace {

class thread_for_each final : public strategy
{
  public:
    explicit thread_for_each(runners &all) : all_(all) {}

    void start(flow &made, runner &of_source) noexcept override
    {
        runner *const own = all_.borrow();
        if (own == nullptr) {
            return made.from().run(made, of_source);
        }
        made.run_on(*own);
        if (const int error = start_thread(*own, run_flow, &made)) {
            log_rarely("no thread for a flow (%s): its source runs it", strerrordesc_np(error));
            made.from().run(made, of_source);
        }
    }

    void offer(branch_base &unstarted) noexcept override
    {
        // One that finds no thread is the parent's to run.
        if (runner *const own = all_.borrow()) {
            unstarted.of().run_on(*own);
            unstarted.begun = start_thread(*own, run_branch, &unstarted) == 0;
        }
    }

    bool take_back(branch_base &offered) noexcept override { return !offered.begun; }

    void finish() noexcept override
    {
        while (const std::size_t threads = threads_->count.load(std::memory_order_acquire)) {
            threads_->count.wait(threads, std::memory_order_acquire);
        }
        threads_->stacks.join();
    }

  private:
    struct all_threads {
        std::atomic<std::size_t> count{0};
        thread_stacks stacks;
    };

    // A thread says that it is gone after all its other thread-local objects are: this one is the first to be made, so
    // the last to be destroyed. Then the server may end, and destroy what those objects may refer to.
    struct departure {
        const std::shared_ptr<all_threads> threads;

        ~departure()
        {
            threads->stacks.leave();
            threads->count.fetch_sub(1, std::memory_order_release);
            threads->count.notify_one();
        }
    };

    // Starts a thread for what runs on `own`, which is given back where there is none to be had; gives the error. With
    // branches there may be more threads than flows, but no more than can hold a lock.
    int start_thread(runner &own, void *(*what)(void *), void *argument) noexcept
    {
        const std::size_t before = threads_->count.fetch_add(1, std::memory_order_relaxed);
        const int error = before < lock::max_holders ? threads_->stacks.start(what, argument) : EAGAIN;
        if (error != 0) {
            threads_->count.fetch_sub(1, std::memory_order_relaxed);
            all_.give_back(own);
        }
        return error;
    }

    static void *run_flow(void *argument) noexcept
    {
        flow &started = *static_cast<flow *>(argument);
        run(started, [&started](runner &on) { started.from().run(started, on); });
        return nullptr;
    }

    static void *run_branch(void *argument) noexcept
    {
        branch_base &begun = *static_cast<branch_base *>(argument);
        run(begun.of(), [&begun](runner &on) { begun.run(on); });
        return nullptr;
    }

    // What `action` runs may be gone after it.
    template <class Action>
    static void run(flow &started, Action action) noexcept
    {
        auto &by = static_cast<thread_for_each &>(started.from().started_by());
        const thread_local departure last{by.threads_};
        runner &on = started.on();
        runners &all = by.all_;
        {
            const on_runner here(on);
            action(on);
        }
        all.give_back(on);
    }

    runners &all_;
    // A thread still names them when the strategy may be gone.
    const std::shared_ptr<all_threads> threads_ = std::make_shared<all_threads>();
};

} // namespace

std::unique_ptr<strategy> make_thread_strategy(runners &all)
{
    return std::make_unique<thread_for_each>(all);
}

} // namespace flux
