/// \file
/// The watchdog of the event loops: names the nodes that hold a loop for more than a millisecond, as all other flows of
/// that loop wait for them.
///
/// It looks at every loop once in a millisecond, and a loop pays nothing for it: one that is in the same node as at the
/// look before is held. So a node that holds its loop for two milliseconds is always found, also while it does; but not
/// in a branch of a parallel step, whose flow is gone when it ends. When all loops have rested for a while the watchdog
/// does too.
#pragma once

#include "flux/loop_facts.hpp"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

namespace flux {

class loop;
struct program;

/// Watches the loops of a server.
class watchdog
{
  public:
    /// For the nodes of this program. Throws `std::bad_alloc`.
    explicit watchdog(const program &of);

    /// Starts its thread. Throws `std::system_error` and `std::bad_alloc`.
    void start(std::span<const std::unique_ptr<loop>> loops);

    /// A loop has something to do.
    void watch() noexcept
    {
        if (rests_.load(std::memory_order_relaxed)) {
            ring(false);
        }
    }

    /// Ends its thread, if there is one, and returns when it is gone.
    void finish() noexcept;

    /// What it has found so far, the longest first. Throws `std::bad_alloc`.
    std::vector<loop_hold> holds();

  private:
    /// What it saw of a loop.
    struct sight {
        std::uint64_t turn = 0;
        node_number node = no_node;
        std::chrono::steady_clock::time_point since;
        bool counted = false;
    };

    void work(std::span<const std::unique_ptr<loop>> loops) noexcept;
    bool look(std::span<const std::unique_ptr<loop>> loops) noexcept;
    void held(node_number node, std::chrono::nanoseconds time, bool counted) noexcept;
    void ring(bool for_the_last_time) noexcept;

    const program &program_;
    std::vector<sight> seen_;
    std::mutex lock_;
    // By the nodes' numbers; under the lock.
    std::vector<loop_hold> holds_;
    std::condition_variable bell_;
    std::atomic<bool> rests_{false};
    bool finished_ = false;
    std::thread thread_;
};

} // namespace flux
