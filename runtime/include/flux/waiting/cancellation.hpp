/// \file
/// Cancellation: how a flow is asked, by any thread and at any time, to come to its end, wherever it waits.
///
/// One word of the flow says whether it is cancelled and what it waits for: for the world, in a park (`park.hpp`), or
/// for the branches of a parallel step (`branch.hpp`). All who have a say in how a wait ends change this word, so one
/// of them is the first. A flow that never waits so has its word set to zero when it begins, and that is all it pays.
///
/// Who cancels reaches into a flow that waits on another thread, and that must not go on and be gone meanwhile. It
/// does not:
///
/// - A park is ended by the one who changes the word from _open_ to the end. That one owes the flow a wake, and the
///   flow does not go on without it. So until then the flow is there, with its place to wait and the word. Who comes
///   later finds the park ended, and touches nothing but the word.
/// - A flow waits for its branches as long as the word counts somebody who is awaited. Who cancels the flow while
///   branches are awaited is counted with them, by the very change that cancels it. So until it says that it is done
///   all branches of the step exist, and it can cancel each of them, and theirs.
///
/// The word itself exists as long as its flow. A source's flows are there as long as the source, whether they are in
/// use or not; a branch's flow, as has been said.
#pragma once

#include <atomic>
#include <cstdint>

namespace flux {

/// How a park ended.
enum class park_end : unsigned char { completed, timed_out, cancelled };

/// What a flow that was cancelled waited for just then: whoever cancelled it has this to do.
enum class interrupted : unsigned char {
    /// Nothing.
    nothing,
    /// In a park, which has ended so: the flow is to be woken.
    park,
    /// For its branches: they are to be cancelled, and then the one who did that is not awaited any more.
    branches,
};

/// The word.
class cancellation
{
  public:
    /// The flow starts anew.
    void begin() noexcept { word_.store(0, std::memory_order_relaxed); }

    /// Whether the flow is cancelled.
    bool cancelled() const noexcept { return (word_.load(std::memory_order_relaxed) & cancelled_bit) != 0; }

    /// Cancels the flow; nothing more where it has been already. Any thread calls this.
    interrupted cancel() noexcept;

    /// The flow begins a park.
    void open_park() noexcept;

    /// Ends it; false where it has ended already. Any thread calls this, while the park exists.
    bool end_park(park_end how) noexcept;

    /// How the last park ended.
    park_end ended() const noexcept;

    /// The flow awaits so many others, itself one of them; whether it was cancelled before.
    bool await(std::uint32_t others) noexcept;

    /// One of them is not awaited any more; whether it was the last.
    bool arrived() noexcept
    {
        return (word_.fetch_sub(one_awaited, std::memory_order_acq_rel) & awaited) == one_awaited;
    }

  private:
    static constexpr std::uint32_t cancelled_bit = 1;
    // The park: none yet, open, or how it ended.
    static constexpr std::uint32_t park = 0b1110;
    static constexpr std::uint32_t open = 1 << 1;
    // So many are awaited.
    static constexpr std::uint32_t one_awaited = 1 << 4;
    static constexpr std::uint32_t awaited = ~(one_awaited - 1);

    static constexpr std::uint32_t ended_by(park_end how) noexcept
    {
        return (2 + static_cast<std::uint32_t>(how)) << 1;
    }

    std::atomic<std::uint32_t> word_{0};
};

} // namespace flux
