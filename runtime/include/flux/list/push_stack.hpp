/// \file
/// A stack that many threads push on and that one thread takes as a whole. So it has no ABA problem, and a push costs
/// one atomic operation. (R. K. Treiber, "Systems programming: coping with parallelism", IBM RJ 5118, 1986, has the
/// stack.)
///
/// The thread that takes may wait for the next push. The thread that pushes next then learns that, and wakes it.
#pragma once

#include <atomic>

namespace flux {

/// Of elements that have a `next` for it.
template <class Type>
class push_stack
{
  public:
    push_stack() noexcept = default;
    push_stack(const push_stack &) = delete;
    push_stack &operator=(const push_stack &) = delete;

    /// Puts the element on top. True where the next push was awaited: it is not any more. Any thread calls this.
    bool push(Type &last) noexcept
    {
        Type *top = top_.load();
        do {
            last.next = top == awaited() ? nullptr : top;
        } while (!top_.compare_exchange_weak(top, &last));
        return top == awaited();
    }

    /// Whether there is nothing. Any thread may ask.
    bool empty() const noexcept
    {
        const Type *const top = top_.load();
        return top == nullptr || top == awaited();
    }

    // For the one that takes.

    /// The next push is awaited; false where there is something already.
    bool await() noexcept
    {
        Type *none = nullptr;
        return top_.compare_exchange_strong(none, awaited());
    }

    /// Whether the next push is awaited.
    bool is_awaited() const noexcept { return top_.load(std::memory_order_relaxed) == awaited(); }

    /// Takes all, linked by `next`, the last first. The next push is not awaited.
    Type *take() noexcept
    {
        Type *const top = top_.exchange(nullptr);
        return top == awaited() ? nullptr : top;
    }

    /// As `take`, the first first.
    Type *take_in_order() noexcept
    {
        Type *ordered = nullptr;
        for (Type *each = take(); each != nullptr;) {
            Type *const before = each->next;
            each->next = ordered;
            ordered = each;
            each = before;
        }
        return ordered;
    }

  private:
    // Stands for: nothing, and the next push is awaited. Never followed.
    Type *awaited() const noexcept { return reinterpret_cast<Type *>(const_cast<push_stack *>(this)); }

    std::atomic<Type *> top_{nullptr};
};

} // namespace flux
