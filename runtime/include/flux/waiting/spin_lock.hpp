/// \file
/// A lock that is held for a few instructions, never across a wait of a flow: who finds it taken tries again, and lets
/// others have the processor in between. It calls nothing of the C library that the room `calls` has wait, so code that
/// runs below a caught call may use it.
#pragma once

#include <atomic>
#include <sys/syscall.h>
#include <unistd.h>

namespace flux {

/// For `std::lock_guard`.
class spin_lock
{
  public:
    constexpr spin_lock() noexcept = default;
    spin_lock(const spin_lock &) = delete;
    spin_lock &operator=(const spin_lock &) = delete;

    void lock() noexcept
    {
        while (taken_.test_and_set(std::memory_order_acquire)) {
            syscall(SYS_sched_yield); // sched_yield is caught: on a fiber it lets others of the loop go first
        }
    }

    void unlock() noexcept { taken_.clear(std::memory_order_release); }

  private:
    std::atomic_flag taken_;
};

} // namespace flux
