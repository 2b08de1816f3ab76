/// \file
/// A list that is linked through its elements: to be in it takes no memory, and to leave it no search. Who keeps the
/// list guards it.
#pragma once

namespace flux {

/// What can be in a list: a `Type` derives from this, and is in one list at a time.
template <class Type>
struct listed {
    Type *next = nullptr;
    Type *previous = nullptr;
};

/// Elements in an order. It owns none of them.
template <class Type>
class intrusive_list
{
  public:
    intrusive_list() noexcept = default;
    intrusive_list(const intrusive_list &) = delete;
    intrusive_list &operator=(const intrusive_list &) = delete;

    bool empty() const noexcept { return first_ == nullptr; }

    /// Null where it is empty.
    Type *first() const noexcept { return first_; }

    void push_back(Type &last) noexcept
    {
        last.next = nullptr;
        last.previous = last_;
        (last_ == nullptr ? first_ : last_->next) = &last;
        last_ = &last;
    }

    void push_front(Type &first) noexcept
    {
        first.previous = nullptr;
        first.next = first_;
        (first_ == nullptr ? last_ : first_->previous) = &first;
        first_ = &first;
    }

    /// Takes the first; null where it is empty.
    Type *pop_front() noexcept
    {
        Type *const taken = first_;
        if (taken != nullptr) {
            remove(*taken);
        }
        return taken;
    }

    /// Takes out what is in this list.
    void remove(Type &taken) noexcept
    {
        (taken.previous == nullptr ? first_ : taken.previous->next) = taken.next;
        (taken.next == nullptr ? last_ : taken.next->previous) = taken.previous;
    }

  private:
    Type *first_ = nullptr;
    Type *last_ = nullptr;
};

} // namespace flux
