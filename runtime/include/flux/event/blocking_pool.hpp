/// \file
/// Threads beside the event loops: they run `blocking` nodes, and calls of other nodes that would hold up a loop
/// (`handed_over.hpp`).
///
/// Threads are started as needed, up to a bound; a thread that has been idle for a while ends. If no thread is free,
/// jobs wait in a queue, first in, first out. A thread that finds none waits at a place of its own, and the one that has
/// waited least is called: the others can end. A condition variable would do the same, but with that of glibc 2.36 a
/// loop that calls waits itself until those it has called before have run.
///
/// Jobs wait only for other jobs to end, so what may wait for each other is in different pools: an event strategy has
/// one for nodes, one for calls that end by themselves, and one for calls that wait for others. A node takes its
/// constraints before it comes here, and nothing that runs in the first two waits for a constraint or for another job
/// there.
#pragma once

#include "flux/flow/beside_use.hpp"
#include "flux/flow/blocking_call.hpp"
#include "flux/list/intrusive_list.hpp"
#include "flux/waiting/waiter.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <thread>

namespace flux {

class flow;
class park;
class runner;
class runners;
enum class park_end : unsigned char;

/// A call that goes on by itself if the flow that waits for it does not any more. It owns all that it uses.
class abandonable_call
{
  public:
    virtual ~abandonable_call() = default;
    /// On a thread of the pool, at most once.
    virtual void run() noexcept = 0;

  private:
    friend class blocking_pool;

    std::mutex lock_;
    // Of the flow that waits, as long as it does.
    park *awaited_by_ = nullptr;
    beside_use use_{false};
};

/// Runs calls on threads of its own.
class blocking_pool
{
  public:
    /// How long a thread waits for the next call before it ends.
    static constexpr std::chrono::seconds longest_idle{10};

    /// Of at most so many threads, which use runners of these; `name` is what the system shows of each.
    blocking_pool(runners &all, std::size_t most, std::chrono::milliseconds idle = longest_idle,
                  const char *name = "flux-blocking") noexcept
        : runners_(all), most_(most), idle_limit_(idle), name_(name)
    {
    }
    /// It has been finished.
    ~blocking_pool();
    blocking_pool(const blocking_pool &) = delete;
    blocking_pool &operator=(const blocking_pool &) = delete;

    /// Runs the call for this flow, which waits at its place meanwhile and runs there. Throws what the call throws.
    /// Where there may be no threads, or none can be had, it runs here.
    void run(flow &by, blocking_call call);

    /// Runs the call, which throws nothing, for who waits at this place until it has ended. False where there are no
    /// threads: it has not run then.
    bool hand_over(waiter &place, blocking_call call) noexcept;

    /// As `hand_over`, for a flow that may be cancelled, and whose time may be up: then the call is interrupted by a
    /// signal until it ends. How the wait ended; the call has ended with it.
    bool hand_over_interruptible(flow &by, waiter &place, blocking_call call, park_end &how) noexcept;

    /// Runs the call for this flow until that is cancelled or has no time left; the call then goes on alone.
    bool hand_over_abandonable(flow &by, const std::shared_ptr<abandonable_call> &call, park_end &how) noexcept;

    /// Nobody will call `run`, and no flow waits for anything here: returns when all threads are gone. Who was
    /// abandoned is waited for.
    void finish() noexcept;

    /// How many threads there are. Any thread may ask.
    std::size_t threads() const noexcept;

    /// The most threads there ever were at once. Any thread may ask.
    std::size_t most_threads() const noexcept;

    /// How many calls wait for a thread. Any thread may ask.
    std::size_t waiting() const noexcept;

  private:
    struct job;
    struct node_job;
    struct call_job;
    struct interruptible_job;
    struct abandonable_job;

    /// A thread that waits for a job.
    struct resting : listed<resting> {
        thread_waiter place;
        bool is_called = false;
    };

    bool push(job &last) noexcept;
    resting *call_last() noexcept;
    void add_thread() noexcept;
    void work(runner &on) noexcept;
    job *next(std::unique_lock<std::mutex> &guard) noexcept;
    bool await_call(std::unique_lock<std::mutex> &guard) noexcept;
    void end_thread(std::unique_lock<std::mutex> &guard) noexcept;

    runners &runners_;
    const std::size_t most_;
    const std::chrono::milliseconds idle_limit_;
    const char *const name_;
    mutable std::mutex lock_;
    std::condition_variable all_ended_;
    intrusive_list<job> jobs_;
    // Who rests, the last first; and how many were called and have not come yet.
    intrusive_list<resting> resting_;
    std::size_t called_ = 0;
    // How many jobs wait, and how many threads rest, or look for a job next.
    std::size_t waiting_ = 0;
    std::size_t idle_ = 0;
    bool finished_ = false;
    std::list<std::thread> threads_;
    // The one that has ended last: whoever ends next joins it.
    std::thread ended_;
    std::size_t most_threads_ = 0;
};

} // namespace flux
