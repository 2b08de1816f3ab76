/// \file
/// One object of each type that is asked for: what nodes keep with something of the runtime, such as a source or a
/// connection, which knows none of these types.
#pragma once

#include <memory>
#include <utility>
#include <vector>

namespace flux {

/// The objects. There are a few at most, so they are looked for one after the other.
class by_type
{
  public:
    /// The object of this type, which the first call makes. Throws what the constructor throws, and `std::bad_alloc`.
    template <class Object>
    Object &get()
    {
        for (const auto &[type, kept] : all_) {
            if (type == &mark<Object>) {
                return *static_cast<Object *>(kept.get());
            }
        }
        return make<Object>();
    }

    /// Destroys all of them, and their memory.
    void clear() noexcept { std::vector<std::pair<const void *, std::shared_ptr<void>>>().swap(all_); }

  private:
    // Its address stands for the type.
    template <class Object>
    static constexpr char mark = 0;

    // Once: out of the way of all later calls.
    template <class Object>
    [[gnu::noinline]] Object &make()
    {
        return *static_cast<Object *>(all_.emplace_back(&mark<Object>, std::make_shared<Object>()).second.get());
    }

    std::vector<std::pair<const void *, std::shared_ptr<void>>> all_;
};

} // namespace flux
