/// \file
/// The watchdog of the event loops: names the nodes that hold a loop for more than a millisecond, as all other flows of
/// that loop wait for them.
///
/// A loop pays nothing for it but the processor that it may share with it: so the watchdog looks at every loop now and
/// then, fifty times in a second, and at what it has seen run once more a millisecond later. What is in the same node
/// then is suspected, and looked at until it goes on: from then on the watchdog asks the kernel what the loop's thread
/// does (`thread_usage.hpp`). The node holds its loop when it has computed or slept for a millisecond; not when its
/// thread could run and others had the processor. So a node that holds its loop for longer than 25 milliseconds is
/// always found, while it does, if there is a processor for the watchdog; one that does so for less is found the sooner
/// the more often it does. As long as one is suspected, the other loops accept who waits for it
/// (`accepting.hpp`). When all loops have been idle for a while the watchdog is too.
#pragma once

#include "flux/strategy/loop_facts.hpp"
#include "flux/moment.hpp"
#include "flux/waiting/node_number.hpp"
#include "flux/waiting/thread_usage.hpp"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

namespace flux {

class accepting;
class loop;
struct program;

/// Watches the loops of a server.
class watchdog
{
  public:
    /// For the nodes of this program, and for who comes in there. Throws `std::bad_alloc`.
    watchdog(const program &of, accepting &entrances);

    /// Starts its thread. Throws `std::system_error` and `std::bad_alloc`.
    void start(std::span<const std::unique_ptr<loop>> loops);

    /// A loop has something to do.
    void watch() noexcept
    {
        if (idle_.load(std::memory_order_relaxed)) {
            ring(false);
        }
    }

    /// Ends its thread, if there is one, and returns when it is gone.
    void finish() noexcept;

    /// What it has found so far, the longest first. Throws `std::bad_alloc`.
    std::vector<loop_hold> holds();

  private:
    /// What runs on a loop.
    struct sight {
        std::uint64_t turn = 0;
        node_number node = no_node;
        bool busy = false;

        bool operator==(const sight &other) const noexcept = default;
    };

    /// What it knows of a loop.
    struct knowledge {
        sight seen;
        moment since;
        bool suspected = false;
        own_time own;
        bool counted = false;
    };

    /// What it saw: whether a loop runs something, and whether that is the same as before.
    enum class activity : unsigned char { none, some, same };

    void work(std::span<const std::unique_ptr<loop>> loops) noexcept;
    activity look(std::span<const std::unique_ptr<loop>> loops) noexcept;
    static sight look_at(const loop &on) noexcept;
    void suspect(const loop &of, knowledge &known, moment now) noexcept;
    void held(node_number node, const own_time &own, bool counted) noexcept;
    void ring(bool for_the_last_time) noexcept;

    const program &program_;
    accepting &entrances_;
    std::vector<knowledge> known_;
    std::mutex lock_;
    // By the nodes' numbers; under the lock.
    std::vector<loop_hold> holds_;
    std::condition_variable bell_;
    std::atomic<bool> idle_{false};
    bool finished_ = false;
    std::thread thread_;
};

} // namespace flux
