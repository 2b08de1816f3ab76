/// \file
/// Stacks for fibers: one mebibyte of address space each, of which only the touched part takes memory.
///
/// Stacks are cut from slabs, which are mappings of many stacks each, because the kernel bounds the number of mappings
/// of a process (`vm.max_map_count`, 65,530). Below each stack is a guard of 64 KiB; touching it is a fault, so a flow
/// that overflows its stack harms no other. On kernels that support it (Linux 6.13, MADV_GUARD_INSTALL) a guard is a
/// mark in the page tables, and the slab stays one mapping. On older ones a guard is a mapping of its own, which limits
/// a process to about 32,000 stacks. Slabs do not use huge pages, which would take two megabytes for the few kilobytes
/// that a flow uses.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

namespace flux {

/// What one fiber runs on: `size` bytes from `bottom` up. Stacks grow down, towards the bottom and the guard below it.
struct stack {
    std::byte *bottom;
    std::size_t size;

    /// Where it begins.
    std::byte *top() const noexcept { return bottom + size; }

    /// Whether who touched this address had run out of stack.
    bool overflows_at(const void *address) const noexcept;
};

/// The stacks of one thread's fibers. They are kept for the next fiber, with what memory they have.
class stack_store
{
  public:
    /// The address space of one stack, guard included.
    static constexpr std::size_t space = std::size_t{1} << 20;
    /// How much of that is the guard.
    static constexpr std::size_t guard = std::size_t{64} << 10;

    stack_store() noexcept = default;
    /// All stacks are back.
    ~stack_store();
    stack_store(const stack_store &) = delete;
    stack_store &operator=(const stack_store &) = delete;

    /// A stack that nobody uses, the one that came back last; nothing where there is no memory for another.
    std::optional<stack> take() noexcept;

    /// Gives back what `take` gave.
    void give_back(stack unused) noexcept;

    /// The most bytes that any of the stacks ever had in use, in whole pages; as the kernel says it, so not cheap. Any
    /// thread may ask.
    std::size_t high_water_mark() const noexcept;

  private:
    static constexpr std::size_t stacks_in_slab = 64;

    bool add_slab() noexcept;

    // Grows under the lock, which others hold while they read.
    std::vector<std::byte *> slabs_;
    mutable std::mutex growing_;
    // How many stacks of the last slab were given out.
    std::size_t cut_ = stacks_in_slab;
    // Has room for all stacks.
    std::vector<std::byte *> unused_;
};

} // namespace flux
