/// \file
/// Threads that end soon, on stacks that are kept for the next ones.
///
/// The C library keeps stacks, too, but no more than 40 MiB of them, which are five of the usual size. Where threads
/// come and go by the dozen most stacks are new, so each thread pays for a mapping, a guard, pages, and for the end of
/// it all, where each other processor is interrupted; and the pages of a stack that is kept are given back each time.
/// On two processors that is a tenth of what a flow of 0.7 ms takes. Here a stack keeps what memory it has, as those of
/// a pool's threads and of fibers do.
///
/// A thread says that it ends by `leave`; it still runs on its stack then. So who takes that joins it first, and does
/// not wait for it: of those that have left one is taken that is gone, or else there is a new stack.
#pragma once

#include "flux/list/intrusive_list.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <pthread.h>

namespace flux {

class thread_stacks
{
  public:
    /// How many are kept, each of the size that threads have by default (`ulimit -s`).
    static constexpr std::size_t most_kept = 64;

    thread_stacks() noexcept;
    /// The stacks of those that have not left stay mapped.
    ~thread_stacks();
    thread_stacks(const thread_stacks &) = delete;
    thread_stacks &operator=(const thread_stacks &) = delete;

    /// Starts a thread that runs `what(argument)` and calls `leave`; gives an error of pthread_create(3), EAGAIN also
    /// if there is no memory for a stack.
    int start(void *(*what)(void *), void *argument) noexcept;

    /// The calling thread, which `start` has made, ends: it does little more. That takes no memory. In the child of a
    /// fork(2) it does nothing: others may have had the lock, and none of them is there.
    void leave() noexcept;

    /// Waits until those are gone that have left, the calling thread aside, and gives back their stacks.
    void join() noexcept;

    /// The process ends while others may run: joins those that have left, as `join` does, and those that leave from now
    /// on are nobody's to join.
    void let_go() noexcept;

    /// How many have left whose stacks are here.
    std::size_t kept() const noexcept;

  private:
    struct place;

    std::unique_ptr<place> take() noexcept;
    std::unique_ptr<place> taken_out(place *one) noexcept;
    void join_all() noexcept;

    const std::size_t size_;
    mutable std::mutex lock_;
    // Who has left for longest comes first.
    intrusive_list<place> left_;
    std::size_t kept_ = 0;
    bool let_go_ = false;
};

} // namespace flux
