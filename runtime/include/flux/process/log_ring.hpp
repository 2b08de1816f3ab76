/// \file
/// The log ring: lines that one thread has logged and that are not written yet.
///
/// A circular buffer of bytes between one who puts lines in and one who takes them out (Lamport, "Specifying Concurrent
/// Program Modules", TOPLAS 5(2), 1983): each moves an end of its own, so neither ever waits for the other. A line for
/// which there is no room is left out and counted. What stands behind the count is said with the next line that finds
/// room, so it is known exactly where lines are missing.
///
/// Lines of many threads are put in order by the turns that they take, from a counter that all rings share: a line that
/// was logged before another, and that the other thread could know of, has the lower turn.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace flux {

/// The lines of one thread at a time.
class log_ring
{
  public:
    /// How many bytes it has, each line taking 16 besides its own.
    static constexpr std::size_t capacity = 64 * 1024;
    /// The longest text that is put in at once.
    static constexpr std::size_t longest = 3968;

    /// The line that stands first.
    struct front {
        /// Its turn.
        std::uint64_t turn;
        std::uint32_t size;
        /// How many lines were left out before it, since the ring was made; modulo 2^32.
        std::uint32_t left_out;
    };

    // For the thread that logs.

    /// Whether there is room for a text of this size.
    bool has_room(std::size_t size) const noexcept
    {
        return capacity - (end_.load(std::memory_order_relaxed) - begin_.load(std::memory_order_acquire)) >=
               sizeof(front) + size;
    }

    /// Whether half of it is taken.
    bool is_half_full() const noexcept { return !has_room(capacity / 2); }

    /// Puts the text behind the others, with the next turn. Where there is no room it is left out.
    void push(std::string_view text, std::atomic<std::uint64_t> &turns) noexcept;

    // For the one who writes.

    /// Whether there is anything to be written or to be said.
    bool has_news() const noexcept;

    /// The first line that has not been taken; false where there is none.
    bool peek(front &first) const noexcept;

    /// Takes that line: copies it.
    void take(const front &first, char *into) noexcept;

    /// What was taken has been written: there is room for other lines.
    void release() noexcept { begin_.store(taken_, std::memory_order_release); }

    /// How many lines are known to be left out by now, and were not when it was last asked: before `first`.
    std::uint32_t left_out_before(const front &first) noexcept { return tell(first.left_out); }

    /// As above, but behind the last line, where all have been taken.
    std::uint32_t left_out_behind() noexcept
    {
        // In this order: so none of them was left out behind a line that has come meanwhile.
        const std::uint32_t left_out = left_out_.load();
        return end_.load() == taken_ ? tell(left_out) : 0;
    }

    // For any thread.

    /// How much was ever put in, and how much of that has been written, in bytes.
    std::uint64_t end() const noexcept { return end_.load(std::memory_order_acquire); }
    std::uint64_t begin() const noexcept { return begin_.load(std::memory_order_acquire); }

    /// Who has it, has it alone, until it is given back, with what is still in it; whether the caller has it now.
    bool borrow() noexcept { return !borrowed_.load(std::memory_order_relaxed) && !borrowed_.exchange(true); }
    void give_back() noexcept { borrowed_.store(false); }

    /// The ring that was made before it, in the list of all.
    log_ring *made_before = nullptr;

  private:
    std::uint32_t tell(std::uint32_t left_out) noexcept
    {
        const std::uint32_t untold = left_out - told_;
        told_ = left_out;
        return untold;
    }

    void copy_in(std::uint64_t at, const void *from, std::size_t size) noexcept;
    void copy_out(std::uint64_t at, void *into, std::size_t size) const noexcept;

    // Those of the thread that logs, of the one who writes, and the bytes between them: no two share a cache line.
    alignas(64) std::atomic<std::uint64_t> end_{0};
    std::atomic<std::uint32_t> left_out_{0};
    std::atomic<bool> borrowed_{false};
    alignas(64) std::atomic<std::uint64_t> begin_{0};
    std::uint64_t taken_ = 0;
    std::uint32_t told_ = 0;
    alignas(64) std::array<char, capacity> bytes_;
};

} // namespace flux
