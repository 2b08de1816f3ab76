/// \file
/// What a source on an event loop waits for: new peers of its listener, and its own idle streams that have input. Both
/// are taken in turns, so that neither keeps the other waiting. The loops decide together which of them accepts a new
/// peer (`accept_policy.hpp`). How the listener is watched and a peer is accepted depends on the loop's kind of I/O.
#pragma once

#include "flux/flow/tally.hpp"
#include "flux/io/accept_group.hpp"
#include "flux/io/direction.hpp"
#include "flux/io/loop_io.hpp"
#include "flux/io/ready_queue.hpp"

#include <atomic>
#include <memory>
#include <vector>

namespace flux {

class loop_arrivals;

/// All arrivals of a loop.
class arrivals_row
{
  public:
    explicit arrivals_row(loop_io &on) noexcept : loop(on) {}
    arrivals_row(const arrivals_row &) = delete;
    arrivals_row &operator=(const arrivals_row &) = delete;

    /// The loop goes idle: those whose sources do not wait are at their bound.
    void go_idle() noexcept;

    /// Wakes the sources that were rung.
    void collect_rings() noexcept;

    /// How many peers the loop has accepted. Any thread calls this.
    std::uint64_t accepted() const noexcept { return accepted_.value(); }

    loop_io &loop;

  private:
    friend class loop_arrivals;

    std::vector<loop_arrivals *> all_;
    tally accepted_;
};

/// Of one source, on one loop.
class loop_arrivals : public arrivals, private accept_member
{
  public:
    /// Throws `std::bad_alloc`.
    explicit loop_arrivals(arrivals_row &row);
    ~loop_arrivals() override;

    void *next_ready() noexcept final;
    io_result<arrival> next(moment deadline) noexcept final;
    void gather(bool begins) noexcept final;

    /// There may be somebody at the listener.
    void notified() noexcept;

    /// Nobody can be accepted before the backoff has passed, as something is used up.
    void failed(int error) noexcept;

  protected:
    /// From now on it is a member of the group that accepts there; the derived class watches the listener.
    io_result<void> join(std::shared_ptr<accept_group> group) noexcept;

    /// Accepts somebody: 0 or an error, EAGAIN where nobody is there.
    virtual int accept(newcomer &into) noexcept = 0;

    /// The source comes to wait for new peers, without being about to look for some by itself.
    virtual void begin_waiting() noexcept {}

    /// There is no word of new peers any more, once this has returned. `accept` may be called yet.
    virtual void stop_watching() noexcept = 0;

    /// Streams with input.
    ready_queue &ready() noexcept { return ready_; }

  private:
    friend class arrivals_row;

    void ring() noexcept override;
    io_result<arrival> next_in_turns(moment deadline) noexcept;
    bool nobody_is_new() const noexcept;
    accept_policy::decision decide() noexcept;
    void watch_no_more() noexcept;
    std::unique_ptr<newcomer> try_to_accept() noexcept;

    arrivals_row &row_;
    std::shared_ptr<accept_group> group_;
    accept_policy::member member_ = 0;
    // It was rung, by any thread, and its source has not been woken for it; then, the source has not asked.
    std::atomic<bool> was_rung_{false};
    bool is_to_ask_ = false;
    // The group counts on it; and there is what its source has to ask for, or else another's.
    bool has_room_ = false;
    bool was_notified_ = false;
    bool turn_of_new_ = false;
    // Until the drain.
    bool watches_ = true;
    // Open where there may be something of either kind.
    direction some_;
    ready_queue ready_{some_};
};

} // namespace flux
