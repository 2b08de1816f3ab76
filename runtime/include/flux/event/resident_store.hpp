/// \file
/// The residents of a loop, with the memory of their stacks. They are made when they are needed, up to a bound, and
/// used again. If there is no memory for another one, flows wait to start until one that has started ends; the loop
/// tries again now and then whether there is memory.
#pragma once

#include "flux/event/loop_load.hpp"
#include "flux/event/resident.hpp"
#include "flux/event/stack.hpp"
#include "flux/list/intrusive_list.hpp"
#include "flux/moment.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

namespace flux {

/// For the thread of their loop.
class resident_store
{
  public:
    /// How soon it is looked for memory again.
    static constexpr std::chrono::milliseconds memory_pause{10};

    /// For at most so many residents of this loop.
    resident_store(loop &of, std::size_t most) noexcept : loop_(of), most_(most) {}
    ~resident_store();
    resident_store(const resident_store &) = delete;
    resident_store &operator=(const resident_store &) = delete;

    /// Makes one, for the time before the loop runs. Throws `std::bad_alloc`.
    resident &make_first();

    /// One that nobody uses, the one that came back last; null where there are as many as there may be, or no memory
    /// for another.
    resident *take() noexcept;

    /// Whether `take` would give one.
    bool has_one() noexcept;

    /// It runs nothing.
    void give_back(resident &unused) noexcept;

    /// Whether none can be had until one comes back or it is time to look for memory again.
    bool exhausted() const noexcept { return exhausted_; }

    /// When to look for memory again; `never` where it is not lacking.
    moment memory_again() const noexcept { return exhausted_ ? memory_again_ : never; }

    /// It is this time.
    void look(moment now) noexcept { exhausted_ = exhausted_ && now < memory_again_; }

    /// The most bytes of stack that any has needed so far. Any thread may ask.
    std::size_t high_water_mark() const noexcept { return stacks_.high_water_mark(); }

    /// How many run something that does not wait for the world. Any thread may ask; the loop's counts those who wait.
    loop_load &load() noexcept { return load_; }
    const loop_load &load() const noexcept { return load_; }

    /// How many stacks were made for them. Any thread may ask.
    std::size_t stacks() const noexcept { return stacks_.made(); }

  private:
    resident *make() noexcept;

    loop &loop_;
    const std::size_t most_;
    stack_store stacks_;
    std::vector<std::unique_ptr<resident>> all_;
    intrusive_list<resident> unused_;
    loop_load load_;
    bool exhausted_ = false;
    moment memory_again_ = never;
};

} // namespace flux
