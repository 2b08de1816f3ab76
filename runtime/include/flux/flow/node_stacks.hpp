/// \file
/// Stacks of nodes that ask for one (`stack 8M`): a function that needs more than a fiber or a thread has runs on a stack
/// of its own, whatever runs its flow, and a flow that never comes to that node has none.
///
/// The stack is changed around the call alone, by Boost.Context's `jump_fcontext`, as for fibers. A fiber that parks
/// meanwhile does so from there. What the function throws is carried over the border.
///
/// A stack is a mapping of its own, with a guard of 64 KiB below it. It is kept for the next call of its node, with what
/// memory it has: so the kernel knows how much each node has used at most.
#pragma once

#include "flux/flow/blocking_call.hpp"
#include "flux/waiting/node_number.hpp"
#include "flux/waiting/spin_lock.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace flux {

/// One of them: `size` bytes from `bottom` up.
class node_stack
{
  public:
    /// How much below it is the guard.
    static constexpr std::size_t guard = std::size_t{64} << 10;

    /// For this node, of so many bytes, rounded up to pages. Throws `std::bad_alloc`.
    node_stack(node_number of, std::size_t bytes);
    ~node_stack();
    node_stack(const node_stack &) = delete;
    node_stack &operator=(const node_stack &) = delete;

    /// Runs the call there. Throws what it throws.
    void run(blocking_call call);

    node_number node() const noexcept { return node_; }
    std::size_t size() const noexcept { return size_; }

    /// Whether who touched this address had run out of this stack.
    bool overflows_at(const void *address) const noexcept;

    /// The most bytes that were ever in use, in whole pages; as the kernel says it, so not cheap.
    std::size_t high_water_mark() const;

  private:
    const node_number node_;
    const std::size_t size_;
    std::byte *bottom_;
};

/// What a node has used of the stack that it asks for.
struct node_stack_mark {
    node_number node;
    std::size_t size;
    /// At most, in whole pages.
    std::size_t used;
};

/// Those that the flows of one runner have. Any thread calls it.
class node_stacks
{
  public:
    /// One for this node, of so many bytes. Throws `std::bad_alloc`.
    std::unique_ptr<node_stack> take(node_number node, std::size_t bytes);

    /// Gives back what `take` gave.
    void give_back(std::unique_ptr<node_stack> unused) noexcept;

    /// Adds what is known of each node that has come here. Those in use are left out. Throws `std::bad_alloc`.
    void add_marks(std::vector<node_stack_mark> &to);

  private:
    spin_lock lock_;
    std::vector<std::unique_ptr<node_stack>> unused_;
    // So many there are; `unused_` has room for all.
    std::size_t made_ = 0;
};

} // namespace flux
