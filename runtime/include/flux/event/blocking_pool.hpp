/// \file
/// The threads beside the event loops that run `blocking` nodes.
///
/// Threads are started as needed, up to a bound; a thread that has been idle for a while ends. If no thread is free,
/// calls wait in a queue, first in, first out. They wait only for other nodes to end: a node takes its constraints
/// before its call comes here, and nothing that runs here waits for a constraint or for another call here. So every
/// call gets its turn, because nodes end.
#pragma once

#include "flux/flow/blocking_call.hpp"
#include "flux/list/intrusive_list.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <list>
#include <mutex>
#include <thread>

namespace flux {

class flow;
class runner;
class runners;
class waiter;

/// Runs calls on threads of its own.
class blocking_pool
{
  public:
    /// How long a thread waits for the next call before it ends.
    static constexpr std::chrono::seconds longest_idle{10};

    /// Of at most so many threads, which use runners of these.
    blocking_pool(runners &all, std::size_t most, std::chrono::milliseconds idle = longest_idle) noexcept
        : runners_(all), most_(most), idle_limit_(idle)
    {
    }
    /// It has been finished.
    ~blocking_pool();
    blocking_pool(const blocking_pool &) = delete;
    blocking_pool &operator=(const blocking_pool &) = delete;

    /// Runs the call for this flow, which waits at its place meanwhile. Throws what the call throws. Where there may be
    /// no threads, or none can be had, it runs here.
    void run(flow &by, blocking_call call);

    /// Nobody will call `run`, and nothing is under way: returns when all threads are gone.
    void finish() noexcept;

    /// How many threads there are. Any thread may ask.
    std::size_t threads() const noexcept;

    /// The most threads there ever were at once. Any thread may ask.
    std::size_t most_threads() const noexcept;

  private:
    /// What waits for a thread, or has one, on the stack of the flow that waits for it.
    struct job : listed<job> {
        flow &by;
        waiter &place;
        const blocking_call call;
        std::exception_ptr thrown = {};
    };

    bool push(job &last) noexcept;
    void add_thread() noexcept;
    void work(runner &on) noexcept;
    job *next(std::unique_lock<std::mutex> &guard) noexcept;
    void end_thread(std::unique_lock<std::mutex> &guard) noexcept;

    runners &runners_;
    const std::size_t most_;
    const std::chrono::milliseconds idle_limit_;
    mutable std::mutex lock_;
    std::condition_variable bell_;
    intrusive_list<job> jobs_;
    // How many jobs wait, and how many threads wait for one.
    std::size_t waiting_ = 0;
    std::size_t idle_ = 0;
    bool finished_ = false;
    std::list<std::thread> threads_;
    // The one that has ended last: whoever ends next joins it.
    std::thread ended_;
    std::size_t most_threads_ = 0;
};

} // namespace flux
