/// \file
/// A node that is faster, virtually: whenever it has worked for a time, all else is delayed by a part of that, so that
/// the node is faster in comparison. What a second server whose node truly was so much faster did in a second, this one
/// does in a second and all delays (Curtsinger and Berger, "Coz: Finding Code that Counts with Causal Profiling", SOSP
/// 2015, section 3).
///
/// Coz samples; here a node begins and ends where the flow calls the next, so nothing is missed. Who owes a delay is
/// decided for each stretch of a flow by what it did while the delay was added:
///
/// - It ran on another processor: it owes the delay, and its thread pays by spinning, as if it were slower. Who runs on
///   the processor that the node ran on cannot have run at the same time, and owes nothing: so two loops that share a
///   processor are right, too.
/// - It was parked for the world, a peer or a time: it owes, and its park lasts longer. Its loop goes on.
/// - It waited for a constraint, a lock, another flow, its branches, its loop or a processor: who let it go on has
/// paid,
///   so it owes nothing.
///
/// Sources owe nothing: their clients are taken to ask again as soon as they are answered.
#pragma once

#include "flux/flow/park_reason.hpp"
#include "flux/waiting/node_number.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace flux {

/// The delays of one server.
class virtual_speed_up
{
  public:
    /// What was added so far, in all and while its thread's processor ran the node.
    struct reading {
        std::chrono::nanoseconds all{0};
        std::chrono::nanoseconds here{0};
        std::size_t processor = 0;
    };

    /// So many flows have ended that were followed, and took so long without delays, each from its first node on.
    struct lives {
        std::uint64_t flows = 0;
        std::chrono::nanoseconds together{0};
    };

    /// Flows are followed from their next node on, and work of this node counts. Until the first `set_part` it is as
    /// fast as it is.
    void begin(node_number node) noexcept
    {
        part_.store(0);
        overpaid_.store(0);
        node_.store(node);
    }
    /// Flows are followed no more.
    void end() noexcept
    {
        node_.store(no_node);
        part_.store(0);
    }
    /// It takes this part less: 0.25 is a quarter.
    void set_part(double part) noexcept { part_.store(part); }

    /// Whether flows are followed, and which node is faster.
    bool is_on() const noexcept { return node() != no_node; }
    node_number node() const noexcept { return node_.load(std::memory_order_relaxed); }

    /// The node has worked for so long, on a processor or, where that is null, parked. Gives what that adds.
    std::chrono::nanoseconds worked(std::chrono::nanoseconds time, const std::size_t *processor) noexcept;

    /// As its thread sees it now.
    reading read() const noexcept;

    /// Parks end when the kernel wakes a thread, so a millisecond late on a loop: what was paid too much so, others
    /// need not pay. Takes of that, at most so much.
    void overpaid(std::chrono::nanoseconds time) noexcept;
    std::chrono::nanoseconds take_overpaid(std::chrono::nanoseconds most) noexcept;

    /// A flow that was followed has ended.
    void took(std::chrono::nanoseconds life) noexcept
    {
        flows_.fetch_add(1, std::memory_order_relaxed);
        lives_.fetch_add(life.count(), std::memory_order_relaxed);
    }
    lives lived() const noexcept
    {
        return {flows_.load(std::memory_order_relaxed),
                std::chrono::nanoseconds(lives_.load(std::memory_order_relaxed))};
    }

  private:
    // Processors of higher numbers share.
    static constexpr std::size_t told_apart = 64;
    struct alignas(64) of_processor {
        std::atomic<std::int64_t> added{0};
    };

    std::atomic<node_number> node_{no_node};
    std::atomic<double> part_{0};
    alignas(64) std::atomic<std::int64_t> all_{0};
    std::array<of_processor, told_apart> by_processor_;
    alignas(64) std::atomic<std::int64_t> overpaid_{0};
    std::atomic<std::uint64_t> flows_{0};
    std::atomic<std::int64_t> lives_{0};
};

/// What one flow owes.
class owed_delay
{
  public:
    /// What is to be paid by the thread, and by a park.
    struct owed {
        std::chrono::nanoseconds by_thread{0};
        std::chrono::nanoseconds by_park{0};
    };

    bool is_on() const noexcept { return by_ != nullptr; }
    /// It is followed from here on, or not.
    void begin(virtual_speed_up &by) noexcept;
    void end() noexcept { by_ = nullptr; }

    // Of a flow that is followed.

    /// It calls this node next.
    void calls(node_number node) noexcept { is_there_ = node == by_->node(); }
    /// It ran for `time`, but for `missing`: then other threads had the processor, or its own slept in the kernel.
    owed ran(std::chrono::nanoseconds time, std::chrono::nanoseconds missing, bool slept) noexcept;
    /// It was parked for this. Gives how much longer it is to be.
    std::chrono::nanoseconds parked(std::chrono::nanoseconds time, park_reason reason) noexcept;
    /// While it ran or paid: what others have added, on other processors or anywhere.
    std::chrono::nanoseconds added_meanwhile() noexcept;
    std::chrono::nanoseconds added_in_all() noexcept;
    /// A park lasted longer by so much than it was to.
    void overpaid(std::chrono::nanoseconds time) noexcept { by_->overpaid(time); }
    /// What is left of a debt, after what was paid too much before.
    std::chrono::nanoseconds without_overpaid(std::chrono::nanoseconds debt) noexcept
    {
        return debt - by_->take_overpaid(debt);
    }
    /// It was let go on by who has paid, or has paid itself.
    void goes_on() noexcept { since_ = by_->read(); }
    /// It has come to its end; `life` is with all delays.
    void ended(std::chrono::nanoseconds life) noexcept;

  private:
    virtual_speed_up *by_ = nullptr;
    virtual_speed_up::reading since_;
    std::chrono::nanoseconds added_when_begun_{0};
    bool is_there_ = false;
};

} // namespace flux
