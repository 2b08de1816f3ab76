/// \file
/// Variables of the process that outlive all of its threads.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace flux {

/// Holds a variable of the process that is never destroyed, as threads may use it while the process exits. It is not
/// allocated either, which could fail.
template <class Type>
class everlasting {
  public:
    template <class... From>
    explicit everlasting(From &&...from)
    {
        new (room_) Type(std::forward<From>(from)...);
    }
    everlasting(const everlasting &) = delete;
    everlasting &operator=(const everlasting &) = delete;

    Type &operator*() noexcept { return *std::launder(reinterpret_cast<Type *>(room_)); }

  private:
    alignas(Type) std::byte room_[sizeof(Type)];
};

} // namespace flux
