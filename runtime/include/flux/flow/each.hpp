/// \file
/// The instances of an each step: a function is called once for each element of a list, several at once.
///
/// It is a parallel step (`branch.hpp`) whose branches are slots: as many as may run at once, and no more than there
/// are elements. A slot takes the next element that nobody has, in the order of the list, runs the instance for it, and
/// goes on until there is none. When it begins, and elements are left, it offers the next slot to the strategy; when it
/// has ended, it takes back what nobody has begun. So instances begin in the order of the list; one that cannot begin
/// yet waits for earlier ones alone; and of the slots that no thread has begun one at most was offered. Every instance
/// runs, whatever became of the others.
///
/// An instance has the flow of its slot. Its path is counted by itself. Of the instances that fail, the first in the
/// order of the list has the error of the step.
#pragma once

#include "flux/flow/branch.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

namespace flux {

/// How many instances run at once, as an option says it: these are the numbers that it may be.
struct each_width {
    static constexpr std::int64_t least = 1;
    static constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
};

/// Instances without the types of their values: what slots take them from.
class instances
{
  public:
    /// For so many elements; `number` is the function's in the table of path functions.
    instances(function_number number, std::size_t count) noexcept : number_(number), count_(count) {}
    instances(const instances &) = delete;
    instances &operator=(const instances &) = delete;

    function_number number() const noexcept { return number_; }
    std::size_t count() const noexcept { return count_; }

    /// The place of the next element that nobody has; `count` or more where there is none. Any thread asks.
    std::size_t take() noexcept { return next_.fetch_add(1, std::memory_order_relaxed); }

    /// Whether there is an element that nobody has. It may be taken at once.
    bool some_are_left() const noexcept { return next_.load(std::memory_order_relaxed) < count_; }

    /// Runs the instance for the element at this place.
    virtual outcome call(flow &own, std::size_t place) noexcept = 0;

  protected:
    ~instances() = default;

  private:
    const function_number number_;
    const std::size_t count_;
    std::atomic<std::size_t> next_{0};
};

/// Runs all instances, at most `width` at once, fewer than one being one, and returns when all have ended: failed, with
/// the error of the first in the list that failed; else ended, if one did; else done. Throws std::bad_alloc before any
/// has begun.
outcome run_all(flow &parent, instances &all, std::int64_t width);

/// Calls `function(flow, values of each list...)` for the values at each place of the lists, which are equally long.
template <class... Values, class... Lists>
outcome each(flow &parent, function_number number, std::int64_t width, outcome (*function)(flow &, Values &...),
             std::size_t count, Lists &...lists)
{
    class typed final : public instances
    {
      public:
        typed(function_number of, std::size_t places, outcome (*called)(flow &, Values &...), Lists &...of_values)
            : instances(of, places), function_(called), lists_(of_values...)
        {
        }

        outcome call(flow &own, std::size_t place) noexcept override
        {
            return std::apply([&](Lists &...all) { return function_(own, all[place]...); }, lists_);
        }

      private:
        outcome (*const function_)(flow &, Values &...);
        const std::tuple<Lists &...> lists_;
    };
    typed all(number, count, function, lists...);
    return run_all(parent, all, width);
}

/// The list of one member of what all instances gave.
template <class Out, class Value>
std::vector<Value> gathered(std::vector<Out> &outputs, Value Out::*member)
{
    std::vector<Value> list;
    list.reserve(outputs.size());
    for (Out &output : outputs) {
        list.push_back(std::move(output.*member));
    }
    return list;
}

} // namespace flux
