#include "flux/event/blocking_pool.hpp"

#include "flux/flow/flow.hpp"
#include "flux/log.hpp"
#include "flux/strategy/runner.hpp"

#include <algorithm>
#include <cassert>
#include <pthread.h>
#include <utility>

namespace flux {

blocking_pool::~blocking_pool()
{
    assert(threads_.empty());
}

void blocking_pool::run(flow &by, blocking_call call)
{
    runner &home = by.on();
    const node_number node = by.position();
    job own{{}, by, by.place(), call};
    if (!push(own)) {
        return call.run();
    }
    own.place.wait();
    // It ran on the thread of the pool meanwhile.
    by.run_on(home);
    by.move_to(node);
    if (own.thrown) {
        std::rethrow_exception(std::move(own.thrown));
    }
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
    log_rarely("no further thread for nodes that block");
}

void blocking_pool::work(runner &on) noexcept
{
    pthread_setname_np(pthread_self(), "flux-blocking");
    {
        const on_runner here(on);
        std::unique_lock guard(lock_);
        ++idle_;
        while (job *const taken = next(guard)) {
            guard.unlock();
            flow &by = taken->by;
            const node_number node = by.position();
            running_flow = &by;
            by.run_on(on);
            by.move_to(node);
            try {
                taken->call.run();
            } catch (...) {
                taken->thrown = std::current_exception();
            }
            by.move_to(no_node);
            running_flow = nullptr;
            guard.lock();
            ++idle_; // so that what the flow calls next needs no other thread
            guard.unlock();
            taken->place.wake(); // and it may be gone
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

std::size_t blocking_pool::most_threads() const noexcept
{
    const std::lock_guard alone(lock_);
    return most_threads_;
}

} // namespace flux
