#include "flux/event/blocking_pool.hpp"

#include "flux/flow/flow.hpp"
#include "flux/io/park.hpp"
#include "flux/log.hpp"
#include "flux/process/signals.hpp"
#include "flux/strategy/runner.hpp"

#include <algorithm>
#include <cassert>
#include <new>
#include <pthread.h>
#include <utility>

namespace flux {

blocking_pool::~blocking_pool()
{
    assert(threads_.empty());
}

/// What waits for a thread, or has one.
struct blocking_pool::job : listed<job> {
    virtual ~job() = default;
    virtual void perform(runner &on) noexcept = 0;
    /// The thread is free again. The job may be gone when this returns.
    virtual void finish() noexcept = 0;
};

/// On the stack of the flow that waits for it.
struct blocking_pool::node_job final : job {
    node_job(flow &waiting, blocking_call to_run) noexcept : by(waiting), place(waiting.place()), call(to_run) {}

    void perform(runner &on) noexcept override
    {
        const node_number node = by.position();
        running_flow = &by;
        by.run_on(on);
        by.move_to(node);
        if (by.timing().is_on()) [[unlikely]] {
            by.timing().goes_on(time_kind::queued);
        }
        try {
            call.run();
        } catch (...) {
            thrown = std::current_exception();
        }
        if (by.timing().is_on()) [[unlikely]] {
            by.timing().stops();
        }
        by.move_to(no_node);
        running_flow = nullptr;
    }

    void finish() noexcept override { place.wake(); }

    flow &by;
    waiter &place;
    const blocking_call call;
    std::exception_ptr thrown = {};
};

/// On the stack of who waits for it.
struct blocking_pool::call_job final : job {
    call_job(waiter &at, blocking_call to_run, bool is_timed) noexcept : place(at), call(to_run), use(is_timed) {}

    void perform(runner &) noexcept override
    {
        use.begins();
        call.run();
        use.ends();
    }
    void finish() noexcept override { place.wake(); }

    waiter &place;
    const blocking_call call;
    beside_use use;
};

/// As the one before. It is the flow's park that it ends; where that has ended before, who waits does so at the place.
struct blocking_pool::interruptible_job final : job {
    interruptible_job(park &ended, waiter &at, blocking_call to_run, bool is_timed) noexcept
        : awaited(ended), place(at), call(to_run), use(is_timed)
    {
    }

    void perform(runner &) noexcept override
    {
        thread = pthread_self();
        has_begun.store(true, std::memory_order_release);
        use.begins();
        call.run();
        use.ends();
    }

    void finish() noexcept override
    {
        if (!awaited.end(park_end::completed)) {
            place.wake();
        }
    }

    park &awaited;
    waiter &place;
    const blocking_call call;
    beside_use use;
    pthread_t thread = {};
    std::atomic<bool> has_begun{false};
};

/// It owns itself.
struct blocking_pool::abandonable_job final : job {
    explicit abandonable_job(std::shared_ptr<abandonable_call> to_run) noexcept : call(std::move(to_run)) {}

    void perform(runner &) noexcept override
    {
        call->use_.begins();
        call->run();
        call->use_.ends();
    }

    void finish() noexcept override
    {
        {
            const std::lock_guard alone(call->lock_);
            if (call->awaited_by_ != nullptr) {
                call->awaited_by_->end(park_end::completed);
            }
        }
        delete this;
    }

    const std::shared_ptr<abandonable_call> call;
};

void blocking_pool::run(flow &by, blocking_call call)
{
    runner &home = by.on();
    const node_number node = by.position();
    node_job own(by, call);
    bool pushed = false;
    {
        // But for the time in which it runs on the thread of the pool.
        const time_away queues(by.timing(), time_kind::queued);
        pushed = push(own);
        if (pushed) {
            own.place.wait();
        }
    }
    if (!pushed) {
        return call.run();
    }
    by.run_on(home);
    by.move_to(node);
    if (own.thrown) {
        std::rethrow_exception(std::move(own.thrown));
    }
}

bool blocking_pool::hand_over(waiter &place, blocking_call call) noexcept
{
    flow_timing &timing = running_flow->timing();
    call_job own(place, call, timing.is_on());
    if (!push(own)) {
        return false;
    }
    {
        const time_away parked(timing, park_reason::call);
        place.wait();
    }
    timing.made_beside(own.use);
    return true;
}

bool blocking_pool::hand_over_interruptible(flow &by, waiter &place, blocking_call call, park_end &how) noexcept
{
    park awaited(by, park_reason::call);
    interruptible_job own(awaited, place, call, by.timing().is_on());
    if (!push(own)) {
        return false;
    }
    how = awaited.wait();
    if (how == park_end::completed) {
        by.timing().made_beside(own.use);
        return true;
    }
    // The signal may come before the call waits for anything, so it comes until the call has ended.
    constexpr std::chrono::milliseconds pause{2};
    const interrupts allowed;
    const time_away parked(by.timing(), park_reason::call);
    while (!place.wait_until(clock::now() + pause)) {
        if (own.has_begun.load(std::memory_order_acquire)) {
            allowed.interrupt(own.thread);
        }
    }
    return true;
}

bool blocking_pool::hand_over_abandonable(flow &by, const std::shared_ptr<abandonable_call> &call,
                                          park_end &how) noexcept
{
    auto *const own = new (std::nothrow) abandonable_job(call);
    if (own == nullptr) {
        return false;
    }
    park awaited(by, park_reason::call);
    call->awaited_by_ = &awaited;
    call->use_ = beside_use(by.timing().is_on());
    if (!push(*own)) {
        delete own;
        return false;
    }
    how = awaited.wait();
    if (how == park_end::completed) {
        by.timing().made_beside(call->use_); // before the lock, which may be waited for
    }
    const std::lock_guard alone(call->lock_);
    call->awaited_by_ = nullptr;
    return true;
}

// False where there is no thread for it and will be none.
bool blocking_pool::push(job &last) noexcept
{
    const std::lock_guard alone(lock_);
    if (idle_ <= waiting_ && threads_.size() < most_) {
        add_thread();
    }
    if (threads_.empty()) {
        return false;
    }
    jobs_.push_back(last);
    ++waiting_;
    bell_.notify_one();
    return true;
}

// Under the lock.
void blocking_pool::add_thread() noexcept
{
    runner *const own = runners_.borrow();
    try {
        if (own != nullptr) {
            threads_.emplace_back([this, own] { work(*own); });
            most_threads_ = std::max(most_threads_, threads_.size());
            return;
        }
    } catch (const std::exception &) {
        runners_.give_back(*own);
    }
    log_rarely("no further thread for what blocks");
}

void blocking_pool::work(runner &on) noexcept
{
    pthread_setname_np(pthread_self(), name_);
    {
        const on_runner here(on);
        std::unique_lock guard(lock_);
        ++idle_;
        while (job *const taken = next(guard)) {
            guard.unlock();
            taken->perform(on);
            guard.lock();
            ++idle_; // so that what comes next from there needs no other thread
            guard.unlock();
            taken->finish();
            guard.lock();
        }
        end_thread(guard);
    }
    runners_.give_back(on);
}

// The first that waits; null where this thread is to end.
blocking_pool::job *blocking_pool::next(std::unique_lock<std::mutex> &guard) noexcept
{
    bell_.wait_for(guard, idle_limit_, [this] { return waiting_ != 0 || finished_; });
    --idle_;
    job *const taken = jobs_.pop_front();
    waiting_ -= taken != nullptr ? 1 : 0;
    return taken;
}

// Whoever comes now finds one thread less.
void blocking_pool::end_thread(std::unique_lock<std::mutex> &guard) noexcept
{
    const auto own = std::ranges::find(threads_, std::this_thread::get_id(), &std::thread::get_id);
    std::thread before = std::exchange(ended_, std::move(*own));
    threads_.erase(own);
    bell_.notify_all(); // somebody may wait for the last
    guard.unlock();
    if (before.joinable()) {
        before.join();
    }
}

void blocking_pool::finish() noexcept
{
    std::unique_lock guard(lock_);
    finished_ = true;
    bell_.notify_all();
    bell_.wait(guard, [this] { return threads_.empty(); });
    if (ended_.joinable()) {
        ended_.join();
    }
}

std::size_t blocking_pool::threads() const noexcept
{
    const std::lock_guard alone(lock_);
    return threads_.size();
}

std::size_t blocking_pool::waiting() const noexcept
{
    const std::lock_guard alone(lock_);
    return waiting_;
}

std::size_t blocking_pool::most_threads() const noexcept
{
    const std::lock_guard alone(lock_);
    return most_threads_;
}

} // namespace flux
