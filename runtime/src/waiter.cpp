#include "flux/waiter.hpp"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace flux {
namespace {

// As the kernel wants it, which knows no time before the clock's beginning.
std::timespec since_epoch(moment when) noexcept
{
    const auto time = std::max(when, moment()).time_since_epoch();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
    return {seconds.count(), (time - seconds).count()};
}

} // namespace

bool thread_waiter::wait_until(moment deadline) noexcept
{
    std::uint32_t expected = nobody;
    if (state_.compare_exchange_strong(expected, asleep, std::memory_order_acquire)) {
        const std::timespec due = since_epoch(deadline);
        do {
            // Comes back at once if it is not asleep any more, and by any signal. Where both come at once, the wake has
            // changed the state first, or else is for the next wait.
            const bool late = syscall(SYS_futex, &state_, FUTEX_WAIT_BITSET_PRIVATE, asleep,
                                      deadline == never ? nullptr : &due, nullptr, FUTEX_BITSET_MATCH_ANY) != 0 &&
                              errno == ETIMEDOUT;
            expected = asleep;
            if (late && state_.compare_exchange_strong(expected, nobody, std::memory_order_acquire)) {
                return false;
            }
        } while (state_.load(std::memory_order_acquire) != woken);
    }
    state_.store(nobody, std::memory_order_relaxed);
    return true;
}

void thread_waiter::wake() noexcept
{
    // After the exchange the other may be gone, and this object with it: the kernel takes the address for a number.
    std::atomic<std::uint32_t> *const address = &state_;
    if (state_.exchange(woken, std::memory_order_release) == asleep) {
        syscall(SYS_futex, address, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    }
}

} // namespace flux
