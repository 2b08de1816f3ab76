/// \file
/// The I/O of an event loop: what its flows call, and what the loop itself does with it between two flows.
#pragma once

#include "flux/waiting/cycle_clock.hpp"
#include "flux/io.hpp"

#include <cstdint>

namespace flux {

/// The I/O of one loop. All but `interrupt` is called on the loop's thread.
class loop_io : public io
{
  public:
    /// Hands to the kernel what flows have asked for, and waits until something has come, until `until`, or until it is
    /// interrupted; at `moment::min()` it only looks. No flow goes on before `deliver`.
    virtual void wait(moment until) noexcept = 0;

    /// Ends the parks of all that has come.
    virtual void deliver() noexcept = 0;

    /// The loop ends: gives the kernel what is to be sent yet.
    virtual void finish() noexcept {}

    /// Ends a wait, this one or the next. Any thread calls this.
    virtual void interrupt() noexcept = 0;

    /// How many peers it has accepted. Any thread calls this.
    virtual std::uint64_t accepted() const noexcept { return 0; }

    moment last_look() const noexcept final { return last_look_; }
    /// The loop has asked what has come, at this time.
    void looked(moment at) noexcept { last_look_ = at; }

    /// What slices of work are measured by: the `cycle_clock`, or what a simulation makes of it.
    virtual std::uint64_t cycles() noexcept { return cycle_clock::now(); }

  private:
    moment last_look_;
};

/// The calling thread's is this one from now on; null where it blocks.
void run_on_io(loop_io *of_loop) noexcept;

} // namespace flux
