#include "flux/thread.hpp"

#include "flux/flow.hpp"
#include "flux/log.hpp"
#include "flux/runner.hpp"
#include "flux/source.hpp"

#include <atomic>
#include <cstring>
#include <pthread.h>
#include <system_error>

namespace flux {
namespace {

class thread_for_each final : public strategy
{
  public:
    explicit thread_for_each(runners &all) : all_(all)
    {
        if (const int error = pthread_attr_init(&detached_)) {
            throw std::system_error(error, std::generic_category(), "pthread_attr_init");
        }
        pthread_attr_setdetachstate(&detached_, PTHREAD_CREATE_DETACHED);
    }

    ~thread_for_each() override { pthread_attr_destroy(&detached_); }

    void start(flow &made, runner &of_source) noexcept override
    {
        runner *const own = all_.borrow();
        if (own == nullptr) {
            return made.from().run(made, of_source);
        }
        made.run_on(*own);
        threads_.fetch_add(1, std::memory_order_relaxed);
        pthread_t thread;
        if (const int error = pthread_create(&thread, &detached_, run, &made)) {
            threads_.fetch_sub(1, std::memory_order_relaxed);
            all_.give_back(*own);
            log_rarely("no thread for a flow (%s): its source runs it", strerrordesc_np(error));
            made.from().run(made, of_source);
        }
    }

    void finish() noexcept override
    {
        while (const std::size_t threads = threads_.load(std::memory_order_acquire)) {
            threads_.wait(threads, std::memory_order_acquire);
        }
    }

  private:
    // A thread says that it is gone after all its other thread-local objects are: this one is the first to be made, so
    // the last to be destroyed. Then the server may end, and destroy what those objects may refer to.
    struct departure {
        ~departure()
        {
            threads_.fetch_sub(1, std::memory_order_release);
            threads_.notify_one();
        }
    };

    static void *run(void *argument) noexcept
    {
        flow &started = *static_cast<flow *>(argument);
        const thread_local departure last;
        runner &on = started.on();
        runners &all = static_cast<thread_for_each &>(started.from().started_by()).all_;
        {
            const on_signal_stack here(on.stack());
            started.from().run(started, on);
        }
        all.give_back(on);
        return nullptr;
    }

    runners &all_;
    pthread_attr_t detached_;
    // Of the process: a thread still names it when the strategy may be gone.
    static inline std::atomic<std::size_t> threads_{0};
};

} // namespace

std::unique_ptr<strategy> make_thread_strategy(runners &all)
{
    return std::make_unique<thread_for_each>(all);
}

} // namespace flux
