// The order of the replies of a run, where its requests say that their replies come in their order (`in_order`).
//
// Requests of a client go to several servers, whose replies come as they come. Each request is noted before it is sent,
// with where it goes; the reply of a server is passed on when all are answered that were asked before, and until then
// nothing more is read of its connection. What was asked first waits for its server alone, so there is always one that
// goes on.
//
// Where a request went on as several, these are its parts: of their replies only the last part's ends the whole one.
//
// Where replies are lost, and the program has a rule for that, what it answers has the place of the first of them.
#pragma once

#include "flick_waiting.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace flick {

/// Of one run.
class reply_order
{
  public:
    /// Where something was asked: which element of which channel.
    struct place {
        std::size_t channel;
        std::size_t element;

        bool operator==(const place &) const = default;
    };

    /// That of what a rule answers, by a number of its own.
    static place of_rule(std::size_t number) noexcept { return {of_no_channel, number}; }

    /// Something is asked there, which has so many replies; where it `is_part` of a request the next part follows.
    /// Throws `std::bad_alloc`.
    void expect(place at, std::size_t replies, bool is_part);

    /// Waits until all is answered that was asked before what that place answers. Gives 0, or the error of the wait.
    int await(place at) noexcept;
    /// Whether what it answers is a part of a request that others follow.
    bool is_part(place at) const noexcept;
    /// It has answered.
    void answered(place at) noexcept;

    /// Whether all is answered that was asked before what that place answers.
    bool has_turn(place at) const noexcept;

    /// Where what comes next is passed on, which may be by a rule; null where nothing is to come.
    const place *next() const noexcept { return first_ == all_.size() ? nullptr : &all_[first_].at; }

    /// Waits until all is answered that was asked, whoever answers it. Gives 0, or the error of the wait.
    int await_all() noexcept;
    /// Whether it is not known any more what answers what.
    bool is_given_up() const noexcept { return is_given_up_; }

    /// Nothing more comes from there than so many that have come already.
    void forget(place at, std::size_t but_first = 0) noexcept;
    /// What comes from there behind so many has another place; false where nothing is to come.
    bool replace(place at, std::size_t but_first, place by) noexcept;
    /// It is not known any more what answers what: all goes on as it comes.
    void give_up() noexcept;

  private:
    static constexpr std::size_t of_no_channel = SIZE_MAX;

    struct expected {
        place at;
        bool is_part;
    };
    // A flow that waits for the turn of its place.
    struct waiting : flux::listed<waiting> {
        explicit waiting(place at) noexcept : at(at) {}

        const place at;
        flux::park wait{*flux::running_flow, flux::park_reason::flow};
    };
    using iterator = std::vector<expected>::const_iterator;

    // Where most of what comes belongs.
    bool is_next(place at) const noexcept { return first_ != all_.size() && all_[first_].at == at; }
    iterator first_of(place at) const noexcept
    {
        return is_next(at) ? all_.begin() + static_cast<std::ptrdiff_t>(first_) : find_first_of(at);
    }
    iterator find_first_of(place at) const noexcept;
    void wake_next() noexcept;

    // From the first that is not answered, in order.
    std::vector<expected> all_;
    std::size_t first_ = 0;
    bool is_given_up_ = false;
    flux::intrusive_list<waiting> waiting_;
    // Those that wait for all.
    flux::intrusive_list<waiting_flow> waiting_for_all_;
};

} // namespace flick
