/// \file
/// A list that is linked through its elements: to be in it takes no memory, and to leave it no search. Who keeps the
/// list guards it.
#pragma once

namespace flux {

/// What can be in a list: a `Type` derives from this, and is in one list of its kind at a time. It may be in lists of
/// another kind, that of a base, besides.
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

    /// The one behind this, which is in the list; null where it is the last.
    static Type *next(const Type &of) noexcept { return link(of).next; }

    void push_back(Type &last) noexcept
    {
        link(last).next = nullptr;
        link(last).previous = last_;
        (last_ == nullptr ? first_ : link(*last_).next) = &last;
        last_ = &last;
    }

    void push_front(Type &first) noexcept
    {
        link(first).previous = nullptr;
        link(first).next = first_;
        (first_ == nullptr ? last_ : link(*first_).previous) = &first;
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
        listed<Type> &own = link(taken);
        (own.previous == nullptr ? first_ : link(*own.previous).next) = own.next;
        (own.next == nullptr ? last_ : link(*own.next).previous) = own.previous;
    }

  private:
    static listed<Type> &link(Type &of) noexcept { return of; }
    static const listed<Type> &link(const Type &of) noexcept { return of; }

    Type *first_ = nullptr;
    Type *last_ = nullptr;
};

} // namespace flux
