/// \file
/// The ring of a loop: the two queues of io_uring, in memory that the loop shares with the kernel. Operations go into
/// one, many with a single system call; their results come out of the other. (J. Axboe, "Efficient IO with io_uring",
/// 2019; the flags are explained in io_uring_setup(2).)
///
/// The kernel does the work only when the loop asks for results (DEFER_TASKRUN), so completions come in batches and
/// never interrupt a flow. All that is used here is in Linux 6.1; an older kernel is refused.
///
/// From its submission until its last result an operation belongs to the kernel, and so does all memory that it refers
/// to. A cancellation is only a request; that last result answers it.
#pragma once

#include "flux/flow/park_reason.hpp"
#include "flux/moment.hpp"

#include <cstdint>
#include <liburing.h>
#include <memory>
#include <thread>

namespace flux {

class park;
class ring;
class waiter;

/// An operation, and what its results are for. While it is in flight it stays where it is.
class submission
{
  public:
    virtual ~submission() = default;
    submission(const submission &) = delete;
    submission &operator=(const submission &) = delete;

    /// Whether there are results to come.
    bool in_flight() const noexcept { return in_flight_; }

    /// A result has come: what the system call would have given, or the number of its error, negative; and the flags of
    /// the completion. No flow runs meanwhile.
    virtual void came(int result, std::uint32_t flags) noexcept = 0;

  protected:
    submission() noexcept = default;

  private:
    friend class ring;

    bool in_flight_ = false;
    bool orphan_ = false;
    bool released_ = false;
    // Its neighbours in the row of orphans.
    submission *previous_ = nullptr;
    submission *next_ = nullptr;
};

/// The queues of one loop.
class ring
{
  public:
    /// Any thread may make it; the first that waits there is the one that it belongs to from then on. Throws
    /// `std::system_error` where the kernel refuses.
    ring();
    /// Nothing is in flight: it has been closed.
    ~ring();
    ring(const ring &) = delete;
    ring &operator=(const ring &) = delete;

    /// The place where to say what the operation is, with one of liburing's `io_uring_prep` functions and nothing else.
    /// It is submitted with the next `wait`.
    template <class Prepare>
    void submit(submission &of, Prepare prepare) noexcept
    {
        io_uring_sqe &entry = next_entry();
        prepare(entry);
        io_uring_sqe_set_data(&entry, &of);
        of.in_flight_ = true;
        ++in_flight_;
    }

    /// Asks the kernel to be done with it soon, where that is still in flight.
    void cancel(submission &of) noexcept;

    /// Cancels it and frees it after its last result: nobody waits for it any more.
    void abandon(std::unique_ptr<submission> orphan) noexcept;

    /// Frees it after its last result, and lets it go on until then: `finish` waits for it.
    void release(std::unique_ptr<submission> orphan) noexcept;

    /// Waits for what was released, for a second at most.
    void finish() noexcept;

    /// Submits, and waits for a result, but at most until `until`; at `moment::min()` it only looks.
    void wait(moment until) noexcept;

    /// Submits without looking for results: the kernel knows the files meant from then on, whatever becomes of their
    /// descriptors.
    void flush() noexcept;

    /// Hands out the results that have come.
    void deliver() noexcept;

    /// Ends all that is in flight. Called at the end, by its thread or after that.
    void close() noexcept;

    /// Its descriptor: it can be read when there are results.
    int number() const noexcept { return ring_.ring_fd; }

    /// For what else is registered with it.
    io_uring &system() noexcept { return ring_; }

  private:
    void begin() noexcept;
    io_uring_sqe &next_entry() noexcept;
    void adopt(std::unique_ptr<submission> orphan) noexcept;
    void free_orphan(submission &orphan) noexcept;

    io_uring ring_{};
    // Its thread, once that has begun.
    std::thread::id owner_;
    std::size_t in_flight_ = 0;
    submission *orphans_ = nullptr;
    // Of these, those that nobody has cancelled.
    std::size_t released_ = 0;
};

/// One operation that a flow waits for.
class operation final : public submission
{
  public:
    /// Does it, and gives its result: a count of 0 or more, or the number of an error, negative. A wait that ends
    /// before it, at `deadline` or by a cancellation of the flow, cancels the operation; it may still succeed.
    template <class Prepare>
    int run(ring &through, park_reason reason, moment deadline, Prepare prepare) noexcept
    {
        through.submit(*this, prepare);
        return wait(through, reason, deadline);
    }

    /// The error that the wait ended with; 0 where it was the operation that ended it.
    int error() const noexcept { return error_; }

    void came(int result, std::uint32_t flags) noexcept override;

  private:
    int wait(ring &through, park_reason reason, moment deadline) noexcept;

    int result_ = 0;
    int error_ = 0;
    // Where the flow waits for it: at first in a park; then, where it is cancelled, until the kernel is done with it.
    park *park_ = nullptr;
    waiter *last_ = nullptr;
};

} // namespace flux
