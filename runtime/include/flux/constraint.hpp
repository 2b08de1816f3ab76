/// \file
/// Atomicity constraints at run time: the locks that generated code takes around a node, in the one order that the
/// compiler has fixed, and gives back in reverse whatever way the node ends.
#pragma once

#include "flux/flow.hpp"
#include "flux/lock.hpp"

namespace flux {

/// The lock of a constraint that all flows of the program share, on a cache line of its own.
class alignas(64) program_lock
{
  public:
    /// The constraint's name, which must outlive the lock: a debugger shows it.
    explicit constexpr program_lock(const char *name) noexcept : name_(name) {}

    /// What the author calls it.
    const char *name() const noexcept { return name_; }

  private:
    friend class hold;

    const char *name_;
    lock lock_;
};

/// Holds a constraint for a flow from here to the end of the block.
class hold
{
  public:
    /// Waits, as the flow, until it holds `what`; counts the acquisition.
    hold(flow &by, program_lock &what, mode how) noexcept : held_(what.lock_, how, by.acquiring()) {}
    hold(const hold &) = delete;
    hold &operator=(const hold &) = delete;

  private:
    locked held_;
};

} // namespace flux
